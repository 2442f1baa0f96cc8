//! `optireduce bench`: starts the ranks on this machine.

use std::net::TcpListener;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use optireduce_core::hadamard::{Direction, Speed, measure};

use crate::args::{BenchAllReduceArgs, BenchCommand, BenchHadamardArgs};
use crate::outcome::{Failure, print};

/// Whether this process was told to end: SIGINT, SIGTERM or SIGHUP.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// How long the other ranks have to end by themselves once one could not go on.
const GRACE: Duration = Duration::from_secs(5);
/// How often the ranks are looked at.
const POLL: Duration = Duration::from_millis(10);

/// `log_filter`: what the ranks log, if given.
pub fn bench(command: &BenchCommand, log_filter: Option<&str>) -> Result<(), Failure> {
    match command {
        BenchCommand::Allreduce(args) => allreduce(args, log_filter),
        BenchCommand::Hadamard(args) => Ok(hadamard(args)?),
    }
}

/// Every rank is a process: `optireduce run` with this command's own arguments.
fn allreduce(args: &BenchAllReduceArgs, log_filter: Option<&str>) -> Result<(), Failure> {
    args.check()?;
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed)).map_err(|error| error.to_string())?;
    let program = std::env::current_exe().map_err(|error| format!("this program's path: {error}"))?;
    let arguments: Vec<String> = std::env::args().skip_while(|argument| argument != "allreduce").skip(1).collect();
    for ranks in &args.ranks {
        let port = free_port().map_err(|error| format!("looking for a free port: {error}"))?;
        let mut processes = Processes(Vec::new());
        for rank in 0..*ranks {
            let place = ["--rank".into(), rank.to_string(), "--world-size".into(), ranks.to_string()];
            let mut command = Command::new(&program);
            command.arg("run").args(place).args(["--root", &format!("127.0.0.1:{port}")]);
            command.args(["--job-id", &format!("bench.{}.{ranks}", std::process::id())]);
            command.args(without_ranks(&arguments));
            command.stdin(Stdio::null()).envs(log_filter.map(|filter| ("OPTIREDUCE_LOG", filter)));
            let process = command.spawn().map_err(|error| format!("starting rank {rank}: {error}"))?;
            processes.0.push(process);
        }
        if let Some((rank, status)) = processes.wait()? {
            // The rank itself has said on stderr why.
            let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(Failure::COULD_NOT_RUN);
            return Err(Failure { code, text: format!("rank {rank} of {ranks}: {status}") });
        }
    }
    Ok(())
}

/// Ranks that were started; those that still run when this is dropped are killed.
struct Processes(Vec<Child>);

impl Processes {
    /// Waits until all have ended; the first that failed, if any did. The others have [`GRACE`] then to say why they end.
    ///
    /// # Errors
    /// If this process is told to end.
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
                return Err("interrupted; the ranks are ended".into());
            }
            // Ranks that ran and saw too much lost end no others.
            let over = failed.as_ref().is_some_and(|(_, status, at)| could_not_run(status) && at.elapsed() > GRACE);
            if running == 0 || over {
                return Ok(failed.map(|(rank, status, _)| (rank, status)));
            }
            std::thread::sleep(POLL);
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|process| drop(process.kill()));
        self.0.iter_mut().for_each(|process| drop(process.wait()));
    }
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// The arguments that `run` takes as well.
fn without_ranks(all: &[String]) -> Vec<&String> {
    let mut kept = Vec::new();
    let mut arguments = all.iter();
    while let Some(argument) = arguments.next() {
        if argument == "--ranks" {
            arguments.next();
        } else if !argument.starts_with("--ranks=") {
            kept.push(argument);
        }
    }
    kept
}

fn hadamard(args: &BenchHadamardArgs) -> Result<(), String> {
    let rows = measure(args.megabytes.into(), args.rounds.into());
    if !args.json {
        print(&format!(
            "{} MiB in windows of 1 MiB, {} rounds in each of which all kernels take turns.\n\
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
