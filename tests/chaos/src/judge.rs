//! Judges exit codes and messages of the ranks.

use std::time::Duration;

use crate::process::Process;
use crate::scenario::{Fault, Scenario, Subject};

/// Time for which a benchmark must outlast the restart of a rank.
const BACK: Duration = Duration::from_secs(5);

pub fn ends(scenario: &Scenario, processes: &mut [Process], had_connected: bool) -> Vec<String> {
    let mut findings = Vec::new();
    let comes_back = must_come_back(scenario, processes, had_connected);
    for (number, process) in processes.iter_mut().enumerate() {
        let said = process.said();
        let Some(code) = process.code() else { continue };
        // Restarted processes follow all others.
        let (rank, is_again) = if number < scenario.ranks { (number, false) } else { (scenario.victim, true) };
        let again = if is_again { ", restarted," } else { "" };
        let stays_out = is_again && comes_back && !matches!(code, 0 | 3);
        let stays_out = stays_out.then(|| "it could have rejoined the running job".into());
        if let Some(wrong) = end(scenario, rank, is_again, had_connected, code, &said).or(stays_out) {
            findings.push(format!("rank {rank}{again} ended with {code}: {wrong}; stderr: {said}"));
        }
    }
    findings
}

/// Returns whether a restarted rank must end well.
fn must_come_back(scenario: &Scenario, processes: &mut [Process], had_connected: bool) -> bool {
    let &Scenario { ranks, subject, victim, .. } = scenario;
    let (others, [again]) = processes.split_at_mut(ranks) else { return false };
    let went_on = matches!(others[0].code(), Some(0 | 3));
    went_on
        && match subject {
            // The rendezvous is at rank 0, and a mean over files has the ranks of its start only.
            _ if victim == 0 => false,
            Subject::File => false,
            Subject::Bench => others[0].outlived(again, BACK),
            // Trainers end only after all ranks are back.
            Subject::Train => had_connected,
        }
}

/// Returns the violation of one rank, if any.
fn end(scenario: &Scenario, rank: usize, is_again: bool, had_connected: bool, code: i32, said: &str) -> Option<String> {
    let &Scenario { subject, fault, victim, bound_ms, .. } = scenario;
    if said.contains("panicked") {
        return Some("a panic".into());
    }
    let is_victim = rank == victim;
    if is_victim && fault.kills() && !is_again {
        // It may have finished before.
        return (code != -9 && code != 0).then(|| "it should have been killed".into());
    }
    if code < 0 {
        return Some("a signal that nobody sent".into());
    }
    if code != 0 && !said.lines().any(|line| line.starts_with("optireduce: ") || line.starts_with("chaos-trainer: ")) {
        return Some("no message says why".into());
    }
    let goes_on: &[i32] = match subject {
        // Exit code 3: too much loss for a training job.
        Subject::Bench => &[0, 3],
        Subject::Train => &[0],
        // Exit code 1: loss, or so much loss that no mean was written.
        Subject::File if fault.is_harmless() && fault != Fault::Loss && bound_ms == 3000 => &[0],
        Subject::File => &[0, 1],
    };
    // If one rank cannot write the mean, no rank does.
    if fault == Fault::DiskFull && (is_victim || subject == Subject::File) && code != 2 {
        return Some("an output had no room".into());
    }
    if goes_on.contains(&code) {
        return None;
    }
    let names_victim = said.contains(&format!("rank {victim}"));
    match fault {
        // A job goes on only after all ranks have connected, which only trainers report.
        Fault::Kill | Fault::Restart if is_again => None,
        Fault::Kill | Fault::Restart if subject == Subject::Train && had_connected => {
            Some("the others could go on".into())
        }
        Fault::Kill | Fault::Restart => (!names_victim).then(|| format!("rank {victim} is not named")),
        Fault::DiskFull if is_victim => {
            (!said.contains("No space left on device")).then(|| "the full disk is not named".into())
        }
        Fault::DiskFull => (!names_victim).then(|| format!("rank {victim} is not named")),
        // The others go on without the victim, which reports that.
        _ if is_victim && !fault.is_harmless() && said.contains("dropped") && subject != Subject::Train => None,
        _ => Some("it could go on".into()),
    }
}

/// Returns the violation in a benchmark's row, if any.
pub fn row(process: &Process, ranks: usize) -> Option<String> {
    let printed = process.printed();
    let row = printed.first()?;
    let Ok(row) = serde_json::from_str::<serde_json::Value>(row) else { return Some(format!("no row: {row}")) };
    let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
    let fits = [
        (2.0..=ranks as f64).contains(&number("ranks")),
        number("iters") >= 1.0,
        (0.0..=1.0).contains(&number("received_fraction")),
        number("p50_ms") > 0.0 && number("p50_ms") <= number("p99_ms") && number("p99_ms") <= number("max_ms"),
    ];
    (fits != [true; 4]).then(|| format!("an impossible row: {row}"))
}

/// Returns whether a file job reports no loss.
pub fn has_received_all(process: &Process) -> bool {
    let row = process.printed().first().and_then(|row| serde_json::from_str::<serde_json::Value>(row).ok());
    row.is_some_and(|row| row["received_fraction"].as_f64() == Some(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_that_should_not_be_are_found() {
        let job = |subject, fault| Scenario {
            ranks: 3,
            victim: 1,
            bound_ms: 3000,
            ..Scenario::new(1, Some(subject), Some(fault))
        };
        let found = |subject, fault, rank, code, said: &str| {
            end(&job(subject, fault), rank, false, true, code, said).unwrap_or_default()
        };
        assert_eq!(found(Subject::Train, Fault::Kill, 1, -9, ""), "");
        assert_eq!(found(Subject::Train, Fault::Kill, 0, 2, "chaos-trainer: rank 1 is gone"), "the others could go on");
        assert_eq!(found(Subject::Bench, Fault::Kill, 0, 2, "optireduce: rank 1 is gone"), "");
        assert_eq!(found(Subject::Bench, Fault::Kill, 0, 2, "optireduce: end of file"), "rank 1 is not named");
        assert_eq!(found(Subject::Bench, Fault::Replay, 0, 2, "thread panicked"), "a panic");
        assert_eq!(found(Subject::Bench, Fault::Replay, 0, 2, ""), "no message says why");
        assert_eq!(found(Subject::Bench, Fault::Replay, 0, -11, ""), "a signal that nobody sent");
        assert_eq!(found(Subject::File, Fault::Replay, 0, 1, "optireduce: x"), "it could go on");
        assert_eq!(found(Subject::Bench, Fault::Stop, 1, 2, "optireduce: this rank was dropped"), "");
        assert_eq!(found(Subject::Bench, Fault::Stop, 0, 2, "optireduce: this rank was dropped"), "it could go on");
        assert_eq!(found(Subject::File, Fault::DiskFull, 0, 0, ""), "an output had no room");
        assert_eq!(found(Subject::File, Fault::DiskFull, 1, 2, "optireduce: no"), "the full disk is not named");
    }
}
