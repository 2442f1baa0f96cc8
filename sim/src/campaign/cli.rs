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

const COLLECTIVES: u64 = 10_000;
const PROGRESS: Duration = Duration::from_secs(5);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

const EXAMPLES: &str = "Exit codes:
  0  no judge objects
  1  a judge objects; prints the smallest failing job and its command
  2  could not run: bad arguments

Examples:
  optireduce-sim campaign                               # 10000 collectives
  optireduce-sim campaign --collectives 1000000 --json  # overnight
  optireduce-sim campaign --seconds 60 --from 5000      # seeds from 5000 on
  optireduce-sim campaign --seconds 600 --search        # looks for rare states
  optireduce-sim campaign --seed 48                     # one job
  optireduce-sim campaign --seed 48 --ranks 3 --calls 9 --only 0,2 --explain
  optireduce-sim campaign --seed 48 --svg job.svg       # ranks over time";

/// Arguments of `campaign`.
#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub struct CampaignArgs {
    /// Run only the job of this seed
    #[arg(long, value_name = "S", conflicts_with_all = ["collectives", "seconds", "from", "jobs", "failures"])]
    seed: Option<u64>,
    /// Print the job's settings and its timeline
    #[arg(long, requires = "seed")]
    explain: bool,
    /// Draw the job as an SVG: calls, faults and views of each rank over time
    #[arg(long, value_name = "FILE", requires = "seed")]
    svg: Option<PathBuf>,
    /// Keep only these faults of the job, by number, or none
    #[arg(long, value_name = "N,...|none", requires = "seed", value_parser = numbers)]
    only: Option<Numbers>,
    /// Use this number of ranks, 2 to 64, instead of the seed's
    #[arg(long, value_name = "N", requires = "seed", value_parser = clap::value_parser!(u64).range(2..=64))]
    ranks: Option<u64>,
    /// Make only the first N calls of the job
    #[arg(long, value_name = "N", requires = "seed")]
    calls: Option<u32>,
    /// Make only all-reduces with repair, without Hadamard encoding and bf16
    ///
    /// No reduce-scatter, all-gather or unrepaired bucket.
    #[arg(long, requires = "seed")]
    plain: bool,
    /// Move the times of the job's faults by these numbers, as printed by --search
    #[arg(long, value_name = "N,...", requires = "seed", value_delimiter = ',')]
    shift: Vec<u64>,
    /// Run jobs until this number of collectives [default: 10000]
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    collectives: Option<u64>,
    /// Run jobs for this number of seconds
    #[arg(long, value_name = "S")]
    seconds: Option<u64>,
    /// First seed
    #[arg(long, value_name = "S", default_value_t = 0)]
    from: u64,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Spend half of the jobs on variants of jobs that reached new states
    ///
    /// Variants move the times of the faults.
    #[arg(long, conflicts_with = "seed")]
    search: bool,
    /// Stop after N jobs with an objection
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    failures: u32,
    /// Print the report as JSON
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
        number.parse().map_err(|_| format!("{number:?} is not a number; expected for example 0,2 or none"))
    });
    all.collect::<Result<_, _>>().map(Numbers)
}

/// Returns the text for stdout and the exit code.
///
/// # Errors
/// If an argument is invalid.
pub fn command(args: &CampaignArgs) -> Result<(String, u8), SimError> {
    // The judge of panics reports them.
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
    // The first interrupt ends the campaign with a report, the second one the program.
    let interrupt = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    if let Err(error) = ctrlc::set_handler(interrupt) {
        tracing::warn!(%error, "an interrupt will end the campaign without a report");
    }
    let (mut told, mut failures) = (Instant::now(), 0);
    let report = campaign(args.from, until, threads, args.search, |report| {
        // Standard error may be closed.
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
engines held up to {} % of their memory limit; {} packets, {} control messages
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
