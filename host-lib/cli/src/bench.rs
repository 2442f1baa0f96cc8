//! `optireduce bench`: measurements on this machine.

use std::net::Ipv4Addr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use optireduce::binding::Launch;

use crate::args::{BenchAllReduceArgs, BenchCommand, BenchHadamardArgs};
use crate::compare::Rows;
use crate::hadamard::{Direction, Speed, measure};
use crate::log::say;
use crate::outcome::{Failure, print};

/// Set by SIGINT, SIGTERM and SIGHUP.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Time for the other ranks to end after one could not run.
const GRACE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(10);

/// `log_filter`: passed to the ranks.
pub fn bench(command: &BenchCommand, log_filter: Option<&str>) -> Result<(), Failure> {
    match command {
        BenchCommand::Allreduce(args) => allreduce(args, log_filter),
        BenchCommand::Hadamard(args) => Ok(hadamard(args)?),
    }
}

/// Runs every rank as a process: `optireduce run` with the arguments of this command.
fn allreduce(args: &BenchAllReduceArgs, log_filter: Option<&str>) -> Result<(), Failure> {
    args.check()?;
    let baseline = args.compare.as_deref().map(Rows::read).transpose()?;
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed)).map_err(|error| error.to_string())?;
    let mut rows = String::new();
    for (round, ranks) in (1..=args.rounds).flat_map(|round| args.ranks.iter().map(move |ranks| (round, ranks))) {
        if baseline.is_some() {
            say(&format!("round {round} of {}, {ranks} ranks", args.rounds));
        }
        measure_ranks(*ranks, baseline.is_some().then_some(&mut rows), log_filter)?;
    }
    match baseline {
        Some(baseline) => Ok(print(&Rows::parse("this run", &rows)?.compare(&baseline).join("\n"))?),
        None => Ok(()),
    }
}

/// Runs one job. `rows`: destination of its rows; `None` for stdout.
fn measure_ranks(ranks: usize, rows: Option<&mut String>, log_filter: Option<&str>) -> Result<(), Failure> {
    let program = std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
    let arguments: Vec<String> = std::env::args().skip_while(|argument| argument != "allreduce").skip(1).collect();
    let reserved = Launch::reserve_root(Ipv4Addr::LOCALHOST.into());
    let (root, _reserved) = reserved.map_err(|error| format!("an address of loopback for rank 0: {error}"))?;
    let mut processes = Processes(Vec::new());
    for rank in 0..ranks {
        let place = ["--rank".into(), rank.to_string(), "--world-size".into(), ranks.to_string()];
        let mut command = Command::new(&program);
        command.arg("run").args(place).args(["--root", &root.to_string()]);
        command.args(["--job-id", &format!("bench.{}.{ranks}", std::process::id())]);
        command.args(arguments_of_run(&arguments));
        // The ranks cannot share one card.
        command.env_remove("OPTIREDUCE_CARD");
        command.stdin(Stdio::null()).envs(log_filter.map(|filter| ("OPTIREDUCE_LOG", filter)));
        if rows.is_some() {
            command.arg("--json").stdout(if rank == 0 { Stdio::piped() } else { Stdio::null() });
        }
        processes.0.push(command.spawn().map_err(|error| format!("starting rank {rank}: {error}"))?);
    }
    let printed = processes.0[0].stdout.take().map(|out| thread::spawn(move || std::io::read_to_string(out)));
    let failed = processes.wait()?;
    drop(processes);
    if let (Some(rows), Some(printed)) = (rows, printed) {
        let printed = printed.join().map_err(|_| "the thread that reads the rows panicked".to_string())?;
        rows.push_str(&printed.map_err(|error| format!("reading the rows of {ranks} ranks: {error}"))?);
    }
    let Some((rank, status)) = failed else { return Ok(()) };
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(Failure::COULD_NOT_RUN);
    Err(Failure { code, text: format!("rank {rank} of {ranks}: {status}") })
}

/// Processes of the ranks, killed on drop.
struct Processes(Vec<Child>);

impl Processes {
    /// Returns the first failure once all processes have ended. If a rank could not run, the others
    /// have [`GRACE`] to print their reasons. Fails if this process is interrupted.
    fn wait(&mut self) -> Result<Option<(usize, ExitStatus)>, String> {
        let mut failed: Option<(usize, ExitStatus, Instant)> = None;
        loop {
            let mut running = 0;
            for (rank, process) in self.0.iter_mut().enumerate() {
                match process.try_wait().map_err(|error| format!("rank {rank}: {error}"))? {
                    None => running += 1,
                    Some(status) if status.success() => {}
                    Some(status) => drop(failed.get_or_insert((rank, status, Instant::now()))),
                }
            }
            let could_not_run = |status: &ExitStatus| status.code() == Some(Failure::COULD_NOT_RUN.into());
            if INTERRUPTED.load(Ordering::Relaxed) {
                return Err("interrupted; all ranks were ended".into());
            }
            // A rank that ran but lost too much does not end the others.
            let over = failed.as_ref().is_some_and(|(_, status, at)| could_not_run(status) && at.elapsed() > GRACE);
            if running == 0 || over {
                return Ok(failed.map(|(rank, status, _)| (rank, status)));
            }
            thread::sleep(POLL);
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|process| drop(process.kill()));
        self.0.iter_mut().for_each(|process| drop(process.wait()));
    }
}

fn arguments_of_run(all: &[String]) -> Vec<&String> {
    let own = ["--ranks", "--rounds", "--compare"];
    let mut kept = Vec::new();
    let mut arguments = all.iter();
    while let Some(argument) = arguments.next() {
        let name = argument.split('=').next().unwrap_or_default();
        if !own.contains(&name) {
            kept.push(argument);
        } else if name == argument {
            arguments.next();
        }
    }
    kept
}

fn hadamard(args: &BenchHadamardArgs) -> Result<(), String> {
    let rows = measure(args.megabytes.into(), args.rounds.into());
    if !args.json {
        print(&format!(
            "{} MiB in windows of 1 MiB, {} rounds with one run of every kernel.\n\
             Time relative to a copy of the same bytes: median [p10, p90]; relative to a plain loop: median.\n\
             \x20    n  kernel    way        us    GB/s  over a copy           over a plain loop",
            args.megabytes, args.rounds
        ))?;
    }
    for Speed {
        n, kernel, direction, time_us, gigabytes_per_s, over_copy: [median, low, high], over_plain_loop, ..
    } in rows
    {
        let (kernel, way) = (kernel.name(), if direction == Direction::Encode { "encode" } else { "decode" });
        if args.json {
            let row = serde_json::json!({
                "n": n, "kernel": kernel, "direction": way, "time_us": time_us, "gigabytes_per_s": gigabytes_per_s,
                "over_copy": median, "over_copy_p10": low, "over_copy_p90": high, "over_plain_loop": over_plain_loop,
            });
            print(&row.to_string())?;
        } else {
            print(&format!(
                "{n:6}  {kernel:8}  {way} {time_us:8.0} {gigabytes_per_s:7.2}  {median:4.2} [{low:4.2}, {high:5.2}]  {over_plain_loop:18.2}"
            ))?;
        }
    }
    Ok(())
}
