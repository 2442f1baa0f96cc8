//! Runs one job and judges its results.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use optireduce_badnet::{Conditions, Hosts, Tcp, address};
use tempfile::TempDir;

use crate::faults::Stage;
use crate::files::{self, Small};
use crate::judge;
use crate::process::{Process, left, wait};
use crate::record::Log;
use crate::scenario::{Fault, Scenario, Subject};
use crate::{Outcome, training};

/// Timeout of ranks for one another, in seconds.
pub const TIMEOUT_S: u64 = 10;
const SECS: &str = "2";
/// Duration with a restarted rank, in seconds: longer than a rejoin.
const SECS_RESTART: &str = "10";
/// Limit for a job on a busy machine: several times [`TIMEOUT_S`].
const LIMIT: Duration = Duration::from_secs(120);
/// Limit for a rejoin on a busy machine.
const BACK: Duration = Duration::from_secs(20);
/// Collectives after the fault. No rank may run them all before it reads the end.
const OPS_AFTER: u32 = 300;

/// Paths of `optireduce` and `chaos-trainer`.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // described above
pub struct Programs {
    pub optireduce: PathBuf,
    pub trainer: PathBuf,
}

impl Programs {
    /// Finds the programs in a folder.
    ///
    /// # Errors
    /// If one is missing.
    pub fn in_folder(folder: &Path) -> Result<Self, String> {
        let program = |name: &str| {
            let path = folder.join(name);
            let missing = || {
                format!(
                    "{} is not there; run cargo build --release -p optireduce-cli -p optireduce-chaos",
                    path.display()
                )
            };
            if path.is_file() { Ok(path) } else { Err(missing()) }
        };
        Ok(Self { optireduce: program("optireduce")?, trainer: program("chaos-trainer")? })
    }
}

struct Job<'a> {
    scenario: &'a Scenario,
    programs: &'a Programs,
    folder: TempDir,
    mark: String,
    hosts: Hosts,
}

/// Runs the job of a scenario.
///
/// # Errors
/// If hosts, processes or files cannot be created.
pub fn run(scenario: &Scenario, programs: &Programs) -> Result<Outcome, String> {
    static JOBS: AtomicU64 = AtomicU64::new(0);
    let begin = Instant::now();
    let mark = format!("{}-{}", std::process::id(), JOBS.fetch_add(1, Ordering::Relaxed));
    let folder = TempDir::with_prefix("optireduce-chaos-").map_err(|error| format!("a temporary folder: {error}"))?;
    // One more host, for strangers.
    let hosts = Hosts::new(scenario.ranks + 1, scenario.mtu)?;
    hosts.tcp(Tcp::AsItComes, 0)?;
    let job = Job { scenario, programs, folder, mark, hosts };
    let mut outcome = job.run()?;
    outcome.seconds = begin.elapsed().as_secs_f64();
    Ok(outcome)
}

impl Job<'_> {
    fn run(&self) -> Result<Outcome, String> {
        let Scenario { subject, fault, ranks, victim, after_ms, .. } = *self.scenario;
        if subject == Subject::File {
            files::write(self.path(), ranks).map_err(|error| format!("{}: {error}", self.path().display()))?;
        }
        let small = (subject, fault) == (Subject::File, Fault::DiskFull);
        let small = small.then(|| Small::mount(self.path().join(format!("out.{victim}")))).transpose()?;
        let relay =
            self.hosts.join(Conditions { delay_p99_over_p50: 1.0, ..Conditions::default() }, self.scenario.seed);
        let mut processes = (0..ranks).map(|rank| self.start(rank, false)).collect::<Result<Vec<_>, _>>()?;
        let begin = Instant::now();
        wait(begin + Duration::from_millis(after_ms), || false);
        let had_connected = processes.iter().all(|process| process.printed().iter().any(|line| line == "connected"));
        let stage = Stage { scenario: self.scenario, hosts: &self.hosts, relay: &relay };
        stage.strike(&mut processes, || self.start(victim, true))?;
        if subject == Subject::Train {
            self.end_training(&mut processes)?;
        }
        let in_time = wait(begin + LIMIT, || processes.iter_mut().all(|process| process.has_ended().is_some()));
        let mut findings = Vec::new();
        if !in_time {
            let hung = processes
                .iter_mut()
                .enumerate()
                .filter_map(|(rank, process)| process.has_ended().is_none().then_some(rank));
            let hung: Vec<usize> = hung.collect();
            // No finding is shown if the user interrupted the wait.
            findings.push(format!("ranks {hung:?} had not ended after {} s", LIMIT.as_secs()));
            processes.iter_mut().for_each(|process| process.signal(rustix::process::Signal::KILL));
        }
        processes.iter_mut().for_each(Process::join);
        findings.extend(judge::ends(self.scenario, &mut processes, had_connected));
        let compared = self.judge_results(&mut processes, &mut findings)?;
        drop(small);
        self.judge_rest(&stage, &mut findings);
        let codes = processes.iter_mut().map(|process| process.code().unwrap_or(0)).collect();
        let said = processes.iter().map(Process::said).collect();
        Ok(Outcome { scenario: self.scenario.clone(), findings, codes, said, compared, seconds: 0.0 })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn log(&self, rank: usize, is_again: bool) -> PathBuf {
        self.path().join(format!("log.{rank}{}", if is_again { ".again" } else { "" }))
    }

    fn start(&self, rank: usize, is_again: bool) -> Result<Process, String> {
        let Scenario { seed, subject, fault, ranks, one_host, victim, secret, bound_ms, hadamard, .. } = *self.scenario;
        let program = match subject {
            Subject::Train => &self.programs.trainer,
            _ => &self.programs.optireduce,
        };
        let host = if one_host { 0 } else { rank };
        let mut command = self.hosts.command(host, &program.to_string_lossy());
        let bound_ms = if bound_ms == 0 { "measured".into() } else { bound_ms.to_string() };
        match subject {
            Subject::Bench if fault == Fault::Restart => {
                command.args(["run", "--bench", "64K", "--secs", SECS_RESTART, "--json"])
            }
            Subject::Bench => command.args(["run", "--bench", "64K", "--secs", SECS, "--json"]),
            Subject::File => {
                command.args(["run", "--json"]).arg("--file").arg(files::given(self.path(), rank));
                command.arg("--out").arg(files::mean(self.path(), rank))
            }
            Subject::Train => {
                command.arg("--log").arg(self.log(rank, is_again)).arg("--end").arg(self.path().join("end"));
                command.args(["--seed", &seed.to_string()]).args(hadamard.then_some("--hadamard"))
            }
        };
        command.args(["--timeout-s", &TIMEOUT_S.to_string(), "--bound-ms", &bound_ms]);
        command.envs([("RANK", rank.to_string()), ("WORLD_SIZE", ranks.to_string())]);
        command.env("OPTIREDUCE_ROOT", format!("{}:29517", address(0))).env("OPTIREDUCE_JOB_ID", &self.mark);
        if secret {
            command.env("OPTIREDUCE_SECRET", format!("chaos {} {seed} 0123456789abcdef", self.mark));
        }
        if is_again {
            command.env("OPTIREDUCE_REJOIN", "1");
        }
        let to_nowhere = (subject, fault) == (Subject::Bench, Fault::DiskFull) && rank == victim;
        Process::start(command, &self.mark, to_nowhere)
    }

    /// Waits until all live ranks make progress, then ends the training.
    fn end_training(&self, processes: &mut [Process]) -> Result<(), String> {
        let Scenario { fault, victim, ranks, .. } = *self.scenario;
        let newest = |processes: &[Process]| processes.iter().filter_map(Process::op).max().unwrap_or(0);
        let at = newest(processes);
        let all = |process: &mut Process| process.has_ended().is_some();
        wait(Instant::now() + BACK, || {
            let mut others =
                processes.iter_mut().take(ranks).enumerate().filter(|(rank, _)| *rank != victim || !fault.kills());
            others.all(|(_, process)| process.has_ended().is_some() || process.op() > Some(at + 20))
                && processes.iter_mut().skip(ranks).all(|again| again.has_ended().is_some() || again.op().is_some())
                || processes.iter_mut().all(all)
        });
        let end = newest(processes) + OPS_AFTER;
        let (new, path) = (self.path().join("end.new"), self.path().join("end"));
        std::fs::write(&new, end.to_string())
            .and_then(|()| std::fs::rename(&new, &path))
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Judges results. Returns the number compared.
    fn judge_results(&self, processes: &mut [Process], findings: &mut Vec<String>) -> Result<usize, String> {
        let Scenario { subject, ranks, victim, fault, .. } = *self.scenario;
        match subject {
            Subject::Bench => {
                findings.extend(judge::row(&processes[0], ranks));
                Ok(0)
            }
            Subject::File => {
                let is_whole = judge::has_received_all(&processes[0]);
                for (rank, process) in processes.iter_mut().take(ranks).enumerate() {
                    findings.extend(files::judge(self.path(), rank, ranks, process.code() == Some(0), is_whole));
                }
                Ok(0)
            }
            Subject::Train => {
                let read = |rank| {
                    let read = |log: PathBuf| Log::read(&log).map_err(|error| format!("{}: {error}", log.display()));
                    Ok::<_, String>([read(self.log(rank, false))?, read(self.log(rank, true))?].concat())
                };
                let logs = (0..ranks).map(read).collect::<Result<Vec<_>, _>>()?;
                let judgement = training::judge(&logs);
                findings.extend(judgement.findings);
                for (rank, end) in judgement.ends.iter().enumerate() {
                    let again = processes.get_mut(ranks).filter(|_| rank == victim).and_then(Process::code);
                    let ended_well = again.or_else(|| processes[rank].code()) == Some(0);
                    match end {
                        None if ended_well => findings.push(format!("rank {rank} ended with 0, but without weights")),
                        Some(end) if ended_well && end.errors[1] >= end.errors[0] => {
                            findings.push(format!("rank {rank} did not learn: the error is {:?}", end.errors));
                        }
                        // A killed rank's updates may be lost with it.
                        Some(end) if ended_well && !end.is_whole && !fault.kills() && rank != victim => {
                            findings.push(format!("rank {rank}: its replica still lacks updates at the end"));
                        }
                        _ => {}
                    }
                }
                Ok(judgement.compared)
            }
        }
    }

    fn judge_rest(&self, stage: &Stage<'_>, findings: &mut Vec<String>) {
        let left = left(&self.mark);
        if !left.is_empty() {
            findings.push(format!("processes {left:?} were left behind"));
        }
        for host in 0..self.scenario.ranks {
            let ports = stage.ports(host);
            if !ports.is_empty() {
                findings.push(format!("host {host} still listens at {ports:?}"));
            }
            if self.scenario.subject == Subject::File {
                let folder = self.path().join(format!("out.{host}"));
                let files = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|file| file.file_name());
                let others: Vec<_> = files.filter(|name| name != "mean.raw").collect();
                // A process that is killed while it writes leaves its temporary file.
                let was_killed = self.scenario.fault.kills() && host == self.scenario.victim;
                if !others.is_empty() && !was_killed {
                    findings.push(format!("rank {host} left {others:?} behind"));
                }
            }
        }
    }
}
