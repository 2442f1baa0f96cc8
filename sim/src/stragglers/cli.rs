//! The command `optireduce-sim stragglers`.

use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;
use std::time::Instant;

use clap::Args;
use optireduce_contract::limits::RANKS_MAX;
use serde::Serialize;

use super::summary::{SEEDS_MAX, name, tables};
use super::{Condition, Contender, Run, Setup, Summary};
use crate::error::SimError;
use crate::network::Impairments;

const EXAMPLES: &str = "Exit codes:
  0  done
  1  a worker gave up
  2  could not run: bad arguments

Examples:
  optireduce-sim stragglers
  optireduce-sim stragglers --conditions slow4 --own 0 --json
  optireduce-sim stragglers --conditions slow4 --workers 8 --loss 0.01
  optireduce-sim stragglers --conditions halves --contenders partial-unguarded";

/// Arguments of `stragglers`.
#[derive(Clone, Debug, PartialEq, Args)]
#[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
pub struct StragglersArgs {
    /// Slow workers [default: all conditions, in turn]
    #[arg(long, value_enum, value_name = "CONDITION,...", value_delimiter = ',', help_heading = "Job")]
    conditions: Vec<Condition>,
    /// Methods of combining the workers' results [default: all methods, in turn]
    #[arg(long, value_enum, value_name = "CONTENDER,...", value_delimiter = ',', help_heading = "Job")]
    contenders: Vec<Contender>,
    /// Number of workers, 2 to 64
    #[arg(long, value_name = "N", default_value_t = 4, help_heading = "Job")]
    workers: usize,
    /// Number of workers in a group, 2 to all [default: half of them, rounded up]
    #[arg(long, value_name = "P", help_heading = "Job")]
    group_size: Option<usize>,
    /// Fraction of a worker's images that show its own digits, in %, 0 (equal shards) to 100
    #[arg(long, value_name = "PERCENT", default_value_t = 80.0, allow_negative_numbers = true, help_heading = "Job")]
    own: f64,
    /// Virtual duration of training, in seconds, 0.1 to 1000
    #[arg(long, value_name = "S", default_value_t = 8.0, allow_negative_numbers = true, help_heading = "Job")]
    seconds: f64,
    /// Duration of a training step, in ms, 0.1 to 1000
    #[arg(long, value_name = "MS", default_value_t = 20.0, allow_negative_numbers = true, help_heading = "Job")]
    step_ms: f64,
    /// Additional duration of a stalled step, in ms, 0 to 10000
    #[arg(long, value_name = "MS", default_value_t = 200.0, allow_negative_numbers = true, help_heading = "Job")]
    stall_ms: f64,
    /// Bound on each stage for bounded-fixed, in ms, 0.1 to 4000 [default: 1.25 times a step]
    #[arg(long, value_name = "MS", allow_negative_numbers = true, help_heading = "Job")]
    deadline_ms: Option<f64>,
    /// Test accuracy whose time is reported, in %, 0 to 100
    #[arg(long, value_name = "PERCENT", default_value_t = 92.0, allow_negative_numbers = true, help_heading = "Job")]
    target: f64,
    /// Number of runs, each with the next seed, 1 to 30
    #[arg(long, value_name = "K", default_value_t = 10, help_heading = "Job")]
    seeds: usize,
    /// First seed: determines images, paces, losses and delays
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Job")]
    seed: u64,
    /// Probability that a packet is lost: at least 0, less than 1
    #[arg(long, value_name = "P", default_value_t = 0.0, allow_negative_numbers = true, help_heading = "Network")]
    loss: f64,
    /// Median one-way delay, in us, 1 to 1000000
    #[arg(
        long,
        value_name = "MEDIAN",
        default_value_t = 100.0,
        allow_negative_numbers = true,
        help_heading = "Network"
    )]
    delay_us: f64,
    /// Ratio of the delay's P99 to its median, 1 to 1000
    #[arg(long, value_name = "R", default_value_t = 1.5, allow_negative_numbers = true, help_heading = "Network")]
    tail_ratio: f64,
    /// Print JSON instead of tables
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    workers: usize,
    group_size: usize,
    own: f64,
    seconds: f64,
    step_ms: f64,
    stall_ms: f64,
    deadline_ms: f64,
    target: f64,
    seed: u64,
    summaries: Vec<Summary>,
    wall_s: f64,
}

impl StragglersArgs {
    fn setup(&self) -> Result<Setup, SimError> {
        let check = |ok: bool, name: &str, found: &dyn std::fmt::Display, expected: &str| {
            let error = || SimError::Argument(format!("--{name} is {found}, expected {expected}"));
            if ok { Ok(()) } else { Err(error()) }
        };
        let workers = self.workers;
        check((2..=RANKS_MAX).contains(&workers), "workers", &workers, &format!("2 to {RANKS_MAX}"))?;
        let group_size = self.group_size.unwrap_or(workers.div_ceil(2).max(2));
        let sizes = format!("2 to {workers}, the number of workers");
        check((2..=workers).contains(&group_size), "group-size", &group_size, &sizes)?;
        check((1..=SEEDS_MAX).contains(&self.seeds), "seeds", &self.seeds, &format!("1 to {SEEDS_MAX}"))?;
        let deadline_ms = self.deadline_ms.unwrap_or(1.25 * self.step_ms);
        for (name, found, least, most) in [
            ("own", self.own, 0.0, 100.0),
            ("seconds", self.seconds, 0.1, 1e3),
            ("step-ms", self.step_ms, 0.1, 1e3),
            ("stall-ms", self.stall_ms, 0.0, 1e4),
            ("deadline-ms", deadline_ms, 0.1, 4e3),
            ("target", self.target, 0.0, 100.0),
            ("delay-us", self.delay_us, 1.0, 1e6),
            ("tail-ratio", self.tail_ratio, 1.0, 1e3),
        ] {
            check((least..=most).contains(&found), name, &found, &format!("{least} to {most}"))?;
        }
        check((0.0..1.0).contains(&self.loss), "loss", &self.loss, "at least 0 and less than 1")?;
        let ns = |ms: f64| (ms * 1e6) as u64;
        Ok(Setup {
            workers,
            group_size,
            own: self.own / 100.0,
            train_ns: ns(self.seconds * 1e3),
            step_ns: ns(self.step_ms),
            stall_ns: ns(self.stall_ms),
            deadline_ns: ns(deadline_ms),
            impairments: Impairments {
                seed: self.seed,
                delay_us_median: self.delay_us,
                tail_ratio: self.tail_ratio,
                loss: self.loss,
                ..Impairments::default()
            },
            target: self.target / 100.0,
        })
    }
}

fn all_runs(
    setup: &Setup,
    condition: Condition,
    contender: Contender,
    seeds: impl Iterator<Item = u64>,
) -> Result<Vec<Run>, SimError> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = seeds.map(|seed| scope.spawn(move || setup.run(condition, contender, seed))).collect();
        let run = |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        threads.into_iter().map(run).collect()
    })
}

/// Returns the output. `progress` is called before each combination.
///
/// # Errors
/// If an argument is out of range, or a worker's protocol fails.
pub fn command(args: &StragglersArgs, mut progress: impl FnMut(&str)) -> Result<String, SimError> {
    use clap::ValueEnum as _;

    let (setup, started) = (args.setup()?, Instant::now());
    let or_all = |chosen: &[Condition]| if chosen.is_empty() { Condition::value_variants() } else { chosen }.to_vec();
    let conditions = super::distinct(or_all(&args.conditions));
    let all = Contender::value_variants().to_vec();
    let contenders = if args.contenders.is_empty() { all } else { super::distinct(args.contenders.iter().copied()) };
    let mut summaries = Vec::new();
    for condition in conditions {
        progress(&name(&condition));
        for contender in contenders.iter().copied() {
            let seeds = (0..args.seeds as u64).map(|nth| args.seed.wrapping_add(nth));
            summaries.push(Summary::new(
                condition,
                contender,
                all_runs(&setup, condition, contender, seeds)?,
                args.seconds,
            ));
        }
    }
    if !args.json {
        let (workers, group_size, seconds, step_ms) = (setup.workers, setup.group_size, args.seconds, args.step_ms);
        let seeds = if args.seeds == 1 { "1 seed".into() } else { format!("{} seeds", args.seeds) };
        let head = format!(
            "{workers} workers, {} % own digits, groups of {group_size}, steps of {step_ms} ms, {seconds} s, {seeds}; {} % loss, delay {} us (P99/P50 {})\n",
            args.own,
            100.0 * args.loss,
            args.delay_us,
            args.tail_ratio
        );
        return Ok(head + &tables(&summaries, setup.target));
    }
    let report = Report {
        workers: setup.workers,
        group_size: setup.group_size,
        own: setup.own,
        seconds: args.seconds,
        step_ms: args.step_ms,
        stall_ms: args.stall_ms,
        deadline_ms: setup.deadline_ns as f64 / 1e6,
        target: setup.target,
        seed: args.seed,
        summaries,
        wall_s: started.elapsed().as_secs_f64(),
    };
    let text = serde_json::to_string_pretty(&report).map_err(|error| SimError::Check(format!("report: {error}")))?;
    Ok(text + "\n")
}
