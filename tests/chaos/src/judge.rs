//! The judge of how ranks end: exit codes and messages.

use std::time::Duration;

use crate::process::Process;
use crate::scenario::{Fault, Scenario, Subject};

/// A measurement that goes on for so long after a rank was started again lets it in.
const BACK: Duration = Duration::from_secs(5);

/// What is wrong with the ends of the ranks.
pub fn ends(scenario: &Scenario, processes: &mut [Process], had_connected: bool) -> Vec<String> {
    let mut findings = Vec::new();
    let comes_back = must_come_back(scenario, processes, had_connected);
    for (number, process) in processes.iter_mut().enumerate() {
        let said = process.said();
        let Some(code) = process.code() else { continue };
        // A process that was started again comes after all others.
        let (rank, is_again) = if number < scenario.ranks { (number, false) } else { (scenario.victim, true) };
        let again = if is_again { ", started again," } else { "" };
        let stays_out = is_again && comes_back && !matches!(code, 0 | 3);
        let stays_out = stays_out.then(|| "it could have come into the job, which went on".into());
        if let Some(wrong) = end(scenario, rank, is_again, had_connected, code, &said).or(stays_out) {
            findings.push(format!("rank {rank}{again} ended with {code}: {wrong}; it said: {said}"));
        }
    }
    findings
}

/// Whether a rank that was started again has to end well: there was a job to come into, which went on for long enough.
fn must_come_back(scenario: &Scenario, processes: &mut [Process], had_connected: bool) -> bool {
    let &Scenario { ranks, subject, victim, .. } = scenario;
    let (others, [again]) = processes.split_at_mut(ranks) else { return false };
    let went_on = matches!(others[0].code(), Some(0 | 3));
    went_on
        && match subject {
            // The others come to rank 0, and a mean is of those who began it.
            _ if victim == 0 => false,
            Subject::File => false,
            Subject::Bench => others[0].outlived(again, BACK),
            // It ends once its ranks are back.
            Subject::Train => had_connected,
        }
}

/// What is wrong with the end of one rank.
fn end(scenario: &Scenario, rank: usize, is_again: bool, had_connected: bool, code: i32, said: &str) -> Option<String> {
    let &Scenario { subject, fault, victim, bound_ms, .. } = scenario;
    if said.contains("panicked") {
        return Some("a panic".into());
    }
    let is_victim = rank == victim;
    if is_victim && fault.kills() && !is_again {
        // It may have been done before.
        return (code != -9 && code != 0).then(|| "it was to be killed".into());
    }
    if code < 0 {
        return Some("a signal that nobody sent".into());
    }
    if code != 0 && !said.lines().any(|line| line.starts_with("optireduce: ") || line.starts_with("chaos-trainer: ")) {
        return Some("no message says why".into());
    }
    let goes_on: &[i32] = match subject {
        // 3: too much was lost for a job that trains.
        Subject::Bench => &[0, 3],
        Subject::Train => &[0],
        // 1: something was lost, or so much that no mean was written.
        Subject::File if fault.is_harmless() && fault != Fault::Loss && bound_ms == 3000 => &[0],
        Subject::File => &[0, 1],
    };
    // A mean that one rank cannot write is written by none.
    if fault == Fault::DiskFull && (is_victim || subject == Subject::File) && code != 2 {
        return Some("an output had no room".into());
    }
    if goes_on.contains(&code) {
        return None;
    }
    let names_victim = said.contains(&format!("rank {victim}"));
    match fault {
        // Before all are there, the job cannot go on; afterwards it does. Only trainers say when that is.
        Fault::Kill | Fault::Restart if is_again => None,
        Fault::Kill | Fault::Restart if subject == Subject::Train && had_connected => {
            Some("the others could go on".into())
        }
        Fault::Kill | Fault::Restart => (!names_victim).then(|| format!("rank {victim} is not named")),
        Fault::DiskFull if is_victim => {
            (!said.contains("No space left on device")).then(|| "the full disk is not named".into())
        }
        Fault::DiskFull => (!names_victim).then(|| format!("rank {victim} is not named")),
        // The others go on without it, and it says so.
        _ if is_victim && !fault.is_harmless() && said.contains("dropped") && subject != Subject::Train => None,
        _ => Some("it could go on".into()),
    }
}

/// What is wrong with what rank 0 of a bench printed.
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

/// Whether rank 0 of a job that averages files says that everything came. If it was killed before it said so, nobody knows.
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
