//! Processes of a job, watched until all have ended.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

const LOOK: Duration = Duration::from_millis(20);
const LINES_SHOWN: usize = 12;

/// Set when the user interrupts the program.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

struct Process {
    child: Child,
    output: JoinHandle<Vec<String>>,
    errors: JoinHandle<Vec<String>>,
    ended: Option<ExitStatus>,
}

///
/// Runs processes to their end, and returns the standard output of the first.
///
/// # Errors
/// If one exits with a code outside `accepted`, `most` has passed, or the user interrupts. All are
/// killed then.
pub fn run(commands: Vec<Command>, most: Duration, accepted: &[i32]) -> Result<Vec<String>, String> {
    let begin = Instant::now();
    let mut processes = Vec::new();
    let mut failed = None;
    for (rank, mut command) in commands.into_iter().enumerate() {
        // A process group, so that its children are killed with it.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        match command.spawn() {
            Ok(mut child) => {
                let (output, errors) = (lines(child.stdout.take()), lines(child.stderr.take()));
                processes.push(Process { child, output, errors, ended: None });
            }
            Err(error) => {
                failed = Some(format!("rank {rank}: {}: {error}", command.get_program().display()));
                break;
            }
        }
    }
    let mut culprit = None;
    while failed.is_none() && culprit.is_none() {
        for (rank, process) in processes.iter_mut().enumerate().filter(|(_, process)| process.ended.is_none()) {
            process.ended = process.child.try_wait().map_err(|error| format!("rank {rank}: {error}"))?;
            if process.ended.is_some_and(|ended| ended.code().is_none_or(|code| !accepted.contains(&code))) {
                culprit.get_or_insert(rank);
            }
        }
        if processes.iter().all(|process| process.ended.is_some()) {
            break;
        }
        if INTERRUPTED.load(Ordering::Relaxed) {
            failed = Some("interrupted".into());
        } else if begin.elapsed() > most {
            failed = Some(format!("not done after {} s", most.as_secs()));
        }
        std::thread::sleep(LOOK);
    }
    let mut printed = None;
    for (rank, mut process) in processes.into_iter().enumerate() {
        let _ = kill_process_group(Pid::from_child(&process.child), Signal::KILL);
        let _ = process.child.wait();
        let (output, errors) = (process.output.join().unwrap_or_default(), process.errors.join().unwrap_or_default());
        if culprit == Some(rank) {
            let status = process.ended.map(|ended| ended.to_string()).unwrap_or_default();
            let last = &errors[errors.len().saturating_sub(LINES_SHOWN)..];
            failed = Some(format!("rank {rank}: {status}: {}", last.join("\n  ")));
        }
        printed.get_or_insert(output);
    }
    match failed {
        Some(failed) => Err(failed),
        None => Ok(printed.unwrap_or_default()),
    }
}

fn lines(from: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<String>> {
    std::thread::spawn(move || {
        let Some(from) = from else { return Vec::new() };
        BufReader::new(from).lines().map_while(Result::ok).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_first_ranks_lines_are_the_jobs() {
        let printed = run(vec![shell("echo one; echo two"), shell("echo other")], Duration::from_secs(60), &[0]);
        assert_eq!(printed, Ok(vec!["one".to_string(), "two".to_string()]));
    }

    #[test]
    fn a_failed_rank_ends_the_job_and_is_named_with_what_it_said() {
        let error =
            run(vec![shell("sleep 600; true"), shell("echo no route >&2; exit 3")], Duration::from_secs(60), &[0]);
        let error = error.expect_err("rank 1 failed");
        assert!(error.contains("rank 1") && error.contains("exit status: 3") && error.contains("no route"), "{error}");
    }

    #[test]
    fn an_exit_code_that_is_accepted_is_no_failure() {
        let printed = run(vec![shell("echo row; exit 3")], Duration::from_secs(60), &[0, 3]);
        assert_eq!(printed, Ok(vec!["row".to_string()]));
        // Killed by a signal: no exit code.
        let killed = run(vec![shell("kill -9 $$")], Duration::from_secs(60), &[0, 3]);
        assert!(killed.is_err_and(|error| error.contains("signal: 9")));
    }

    #[test]
    fn a_job_that_hangs_is_ended() {
        let error = run(vec![shell("sleep 600; true")], Duration::from_millis(50), &[0]).expect_err("too long");
        assert!(error.contains("not done"), "{error}");
    }
}
