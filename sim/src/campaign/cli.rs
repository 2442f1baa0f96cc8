//! The command `optireduce-sim campaign`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;

use super::plan::JobPlan;
use super::runner::{Report, Until, campaign, minimised};
use super::{Edits, run};
use crate::error::SimError;

/// Collectives, if nothing else is said.
const COLLECTIVES: u64 = 10_000;
/// Between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(5);

/// Somebody wants the campaign to end.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

const EXAMPLES: &str = "Exit codes:
  0  no judge objects
  1  a judge objects: the smallest job that still fails is printed, with the command that replays it
  2  it could not run: arguments

Examples:
  optireduce-sim campaign                                       10000 collectives, on all cores
  optireduce-sim campaign --collectives 1000000 --json          a night
  optireduce-sim campaign --seconds 60 --from 5000              seeds from 5000 on, for a minute
  optireduce-sim campaign --seconds 600 --search                ten minutes, on the way to what is rare
  optireduce-sim campaign --seed 48                             one job
  optireduce-sim campaign --seed 48 --ranks 3 --calls 9 --only 0,2 --explain
  optireduce-sim campaign --seed 48 --svg job.svg               its ranks over time";

/// Arguments of `campaign`.
#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub struct CampaignArgs {
    /// Run the job of this seed, and no other
    #[arg(long, value_name = "S", conflicts_with_all = ["collectives", "seconds", "from", "jobs", "failures"])]
    seed: Option<u64>,
    /// Print what the job is and all that happens in it
    #[arg(long, requires = "seed")]
    explain: bool,
    /// Write a picture of the job there: its ranks over time, calls, faults and views
    #[arg(long, value_name = "FILE", requires = "seed")]
    svg: Option<PathBuf>,
    /// Only these of the job's faults, by number, or none
    #[arg(long, value_name = "N,...|none", requires = "seed", value_parser = numbers)]
    only: Option<Numbers>,
    /// With so many ranks, 2 to 64, instead of those that the seed draws
    #[arg(long, value_name = "N", requires = "seed", value_parser = clap::value_parser!(u64).range(2..=64))]
    ranks: Option<u64>,
    /// Only the first calls of the job's program
    #[arg(long, value_name = "N", requires = "seed")]
    calls: Option<u32>,
    /// Without what is encoded, bf16, declared not to be repaired, scattered or gathered
    #[arg(long, requires = "seed")]
    plain: bool,
    /// With the moments of its faults moved, as `--search` found
    #[arg(long, value_name = "N,...", requires = "seed", value_delimiter = ',')]
    shift: Vec<u64>,
    /// Run jobs until there were so many collectives [default: 10000]
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    collectives: Option<u64>,
    /// Run jobs for so many seconds
    #[arg(long, value_name = "S")]
    seconds: Option<u64>,
    /// The first seed
    #[arg(long, value_name = "S", default_value_t = 0)]
    from: u64,
    /// Threads; what is run does not depend on them [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Half of the jobs: those that came to something new, with the moments of their faults moved
    #[arg(long, conflicts_with = "seed")]
    search: bool,
    /// Stop after so many jobs in which a judge objects
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    failures: u32,
    /// The report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Numbers(Vec<usize>);

fn numbers(text: &str) -> Result<Numbers, String> {
    if text == "none" {
        return Ok(Numbers(Vec::new()));
    }
    let all = text.split(',').map(|number| {
        number.parse().map_err(|_| format!("{number:?} is no number; expected for instance 0,2 or none"))
    });
    all.collect::<Result<_, _>>().map(Numbers)
}

/// Runs the command: what goes to stdout, and the exit code.
///
/// # Errors
/// If an argument cannot be.
pub fn command(args: &CampaignArgs) -> Result<(String, u8), SimError> {
    // A panic is an objection like others; its place is in its text.
    std::panic::set_hook(Box::new(|_| ()));
    if let Some(seed) = args.seed {
        return one_job(seed, args);
    }
    let until = match (args.collectives, args.seconds) {
        (_, Some(seconds)) => Until::Elapsed(Duration::from_secs(seconds)),
        (collectives, None) => Until::Collectives(collectives.unwrap_or(COLLECTIVES)),
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = args.jobs.map_or(cores, usize::from);
    // What was found so far is printed once the jobs that run have ended; a second time ends the program.
    let interrupt = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    if let Err(error) = ctrlc::set_handler(interrupt) {
        tracing::warn!(%error, "an interrupt will end the campaign without its report");
    }
    let (mut told, mut failures) = (Instant::now(), 0);
    let report = campaign(args.from, until, threads, args.search, |report| {
        // Nobody has to read what goes to stderr.
        let mut stderr = std::io::stderr();
        for failure in &report.failures[failures..] {
            let _ = writeln!(stderr, "{failure}");
        }
        failures = report.failures.len();
        if told.elapsed() > PROGRESS {
            told = Instant::now();
            let _ = writeln!(
                stderr,
                "{} collectives in {} jobs, {:.0} a second, {} failed, {} of {} pairs of moment and fault, {} states in {} pairs with a fault",
                report.tally.collectives,
                report.jobs,
                report.collectives_per_s(),
                report.failures.len(),
                report.pairs_hit,
                report.pairs,
                report.states.len(),
                report.state_pairs
            );
        }
        let is_over = INTERRUPTED.load(Ordering::Relaxed) || failures >= args.failures as usize;
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let text = if args.json {
        serde_json::to_string_pretty(&report).map_err(|error| SimError::Check(format!("report: {error}")))? + "\n"
    } else {
        table(&report)
    };
    Ok((text, u8::from(!report.failures.is_empty())))
}

fn one_job(seed: u64, args: &CampaignArgs) -> Result<(String, u8), SimError> {
    let edits = Edits {
        only: args.only.clone().map(|numbers| numbers.0),
        ranks: args.ranks.map(|ranks| ranks as usize),
        calls: args.calls,
        plain: args.plain,
        shifts: args.shift.clone(),
    };
    let outcome = run(seed, &edits, args.explain || args.svg.is_some());
    if let Some(path) = &args.svg {
        std::fs::write(path, &outcome.picture).map_err(|source| SimError::File {
            path: path.clone(),
            action: "write",
            source,
        })?;
    }
    let mut text = String::new();
    if args.explain {
        text += &JobPlan::new(seed, &edits).to_string();
        text += "\n";
        text += &outcome.timeline;
    }
    let is_whole = edits == Edits::default();
    match outcome.violation {
        Some(violation) => {
            let _ = writeln!(text, "seed {seed}: {violation}");
            if is_whole {
                let failure = minimised(seed, edits, violation);
                let _ = writeln!(text, "smallest: {}\nreplay: {}", failure.smallest, failure.replay);
            }
            Ok((text, 1))
        }
        None => {
            let _ = writeln!(text, "seed {seed}: {} collectives, no judge objects", outcome.tally.collectives);
            Ok((text, 0))
        }
    }
}

fn table(report: &Report) -> String {
    let mut text = format!(
        "{} collectives in {} jobs, {:.0} a second
{} results: {} lost something, {} were skipped; {} ranks gave up without a majority, {} reported a fault of their card
engines held up to {} % of what they may; {} packets, {} control messages
",
        report.tally.collectives,
        report.jobs,
        report.collectives_per_s(),
        report.tally.results,
        report.tally.lossy,
        report.tally.skipped,
        report.tally.gave_up,
        report.tally.card_errors,
        report.tally.footprint_percent_max,
        report.packets,
        report.messages
    );
    let columns = [
        ("faults", &report.faults),
        ("moments at which faults are aimed", &report.transitions),
        ("states of the protocol", &report.states),
    ];
    for (name, counts) in columns {
        let _ = writeln!(text, "\n{name}");
        for one in counts {
            let _ = writeln!(text, "  {:>9}  {}", one.count, one.what);
        }
    }
    let _ = writeln!(text, "\n{} of {} pairs of moment and fault were hit", report.pairs_hit, report.pairs);
    if (1..=20).contains(&report.pairs_missed.len()) {
        let _ = writeln!(text, "  not: {}", report.pairs_missed.join("; "));
    }
    let _ = writeln!(text, "{} pairs of a state and the fault before it were seen", report.state_pairs);
    for failure in &report.failures {
        let _ = writeln!(text, "\n{failure}");
    }
    if report.failures.is_empty() {
        text += "no judge objects\n";
    }
    text
}
