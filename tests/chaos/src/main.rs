//! `optireduce-chaos`: runs jobs of real processes with faults, each from a seed.

use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Parser;
use optireduce_badnet::{print, say};
use optireduce_chaos::{Fault, INTERRUPTED, Programs, Scenario, Subject, run};

const HELP_END: &str = "Exit codes:
  0  no judge objects
  1  a judge objects; the command that repeats the job is printed
  2  could not run: bad arguments, no root, missing programs

Examples:
  cargo build --release -p optireduce-cli -p optireduce-chaos
  target/release/optireduce-chaos --minutes 10 --seed 1
  target/release/optireduce-chaos --jobs 20 --subject train --fault stop --json
  target/release/optireduce-chaos --jobs 1 --seed 17  # repeats one job";

/// Runs jobs of real processes with faults drawn from seeds, and judges their results
///
/// Needs Linux, root, /dev/net/tun and iproute2.
#[derive(Parser)]
#[command(version, after_help = HELP_END)]
struct Args {
    /// Time after which no job starts, in minutes [default: 10 minutes]
    #[arg(long, default_value_t = 10.0, value_parser = minutes, hide_default_value = true)]
    minutes: f64,
    /// Maximum number of jobs [default: unlimited]
    #[arg(long)]
    jobs: Option<u64>,
    /// Seed of the first job; each later job has the next seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run only this kind of job [default: drawn from the seed]
    #[arg(long, value_enum)]
    subject: Option<Subject>,
    /// Use only this fault [default: drawn from the seed]
    #[arg(long, value_enum)]
    fault: Option<Fault>,
    /// Print one line of JSON per job; keys contain units
    #[arg(long)]
    json: bool,
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes: &f64| *minutes > 0.0 && *minutes <= 10_000.0);
    minutes.ok_or_else(|| "expected more than 0 and at most 10000 minutes".into())
}

fn main() -> ExitCode {
    match chaos(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            say(&format!("optireduce-chaos: {error}"));
            ExitCode::from(2)
        }
    }
}

fn chaos(args: &Args) -> Result<bool, String> {
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed)).map_err(|error| error.to_string())?;
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let programs = Programs::in_folder(own.parent().unwrap_or(&own))?;
    let until = Instant::now() + Duration::from_secs_f64(args.minutes * 60.0);
    let (mut jobs, mut bad, mut compared) = (0, 0, 0);
    while Instant::now() < until && args.jobs.is_none_or(|most| jobs < most) {
        let scenario = Scenario::new(args.seed + jobs, args.subject, args.fault);
        let outcome = run(&scenario, &programs)?;
        if INTERRUPTED.load(Ordering::Relaxed) {
            say("optireduce-chaos: interrupted");
            break;
        }
        jobs += 1;
        compared += outcome.compared;
        bad += u64::from(!outcome.findings.is_empty());
        let codes: Vec<String> = outcome.codes.iter().map(i32::to_string).collect();
        say(&format!("{}: {:.1} s, exit codes {}", scenario.line(), outcome.seconds, codes.join(" ")));
        for finding in &outcome.findings {
            say(&format!("    {finding}"));
        }
        if !outcome.findings.is_empty() {
            say(&format!("    again: {}", scenario.command()));
        }
        if args.json {
            let line = serde_json::to_string(&outcome).map_err(|error| error.to_string())?;
            print(&format!("{line}\n"))?;
        }
    }
    say(&format!("{jobs} jobs, {compared} results compared, findings in {bad}"));
    Ok(bad == 0)
}
