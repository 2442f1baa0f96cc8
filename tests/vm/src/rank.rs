//! A rank of a job, in a machine with a card or on this side without one: it all-reduces gradients step by step, and writes a line about each
//! step for the judge, with every bit of its result.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use optireduce::{
    Bound, BucketOptions, Communicator, Destination, HadamardMode, Launch, Report, Stage, StageSummary, Values,
};
use serde::{Deserialize, Serialize};

use crate::{text, values_of};

/// Arguments of a rank.
#[derive(Clone, Debug, clap::Args)]
pub struct RankArgs {
    #[arg(long)]
    pub rank: usize,
    #[arg(long)]
    pub ranks: usize,
    /// Where rank 0 listens
    #[arg(long)]
    pub root: String,
    /// Its card
    #[arg(long, default_value = "")]
    pub card: String,
    /// Its address, if it has no card
    #[arg(long)]
    pub interface: Option<String>,
    /// Its gradient: little-endian fp32
    #[arg(long)]
    pub gradient: PathBuf,
    #[arg(long)]
    pub steps: usize,
    #[arg(long)]
    pub bound_ms: u64,
    /// Between two steps, as long as a backward pass takes
    #[arg(long, default_value_t = 5)]
    pub pause_ms: u64,
    /// Fetch what broadcasts lost, and wait for it, four bounds at most
    #[arg(long)]
    pub repair: bool,
}

/// What a rank says of itself and its steps, a line each.
#[derive(Debug, Serialize, Deserialize)]
pub enum Line {
    /// The job has begun.
    Begun,
    Step(Step),
    /// It cannot go on.
    Failed {
        error: String,
        after_ms: f64,
    },
    /// All steps are done.
    Done,
}

/// One step of a rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    pub step: usize,
    /// From the call to the result.
    pub ms: f64,
    pub lost_bytes: u64,
    /// Between its memory and the card's.
    pub copied_bytes: u64,
    pub action: String,
    /// Of each stage, why it closed.
    pub closed_by: [String; 2],
    /// Of each stage, the peers of which nothing came.
    pub silent: [Vec<usize>; 2],
    /// Elements whose mean did not come.
    pub missing: Vec<(usize, usize)>,
    pub live: Vec<usize>,
    /// The result.
    pub bits: Vec<u32>,
}

/// The gradient of a step: another one each time, of the same values.
pub fn gradient_of(values: &[f32], step: usize) -> Vec<f32> {
    let at = step * 131 % values.len();
    [&values[at..], &values[..at]].concat()
}

/// Takes part in the job.
///
/// # Errors
/// If its gradient cannot be read, or nobody reads what it says. What happens in the job is a line.
pub fn run(args: &RankArgs) -> Result<(), String> {
    let bytes = std::fs::read(&args.gradient).map_err(|error| format!("{}: {error}", args.gradient.display()))?;
    let values = values_of(&bytes);
    let mut begin = Instant::now();
    let outcome = steps(args, &values, &mut begin);
    let after_ms = begin.elapsed().as_secs_f64() * 1000.0;
    say(&outcome.map_or_else(|error| Line::Failed { error: error.to_string(), after_ms }, |()| Line::Done))
}

fn steps(args: &RankArgs, values: &[f32], begin: &mut Instant) -> Result<(), Box<dyn std::error::Error>> {
    let bound = Bound::Fixed(Duration::from_millis(args.bound_ms));
    let builder = Communicator::builder().launch(Launch::new(args.rank, args.ranks, args.root.clone())?);
    // The order of sums is then all that may differ, and the judge knows all orders.
    let builder = builder.bound(bound).hadamard(HadamardMode::Off).card(args.card.clone());
    let builder = builder.repair(args.repair).wait_for_repairs(args.repair);
    let builder = match &args.interface {
        Some(interface) => builder.interface(interface.clone()),
        None => builder,
    };
    let mut communicator = builder.connect()?;
    communicator.skip_gone_ranks()?;
    let mut bucket = communicator.bucket(values.len(), BucketOptions::new())?;
    let mut memory = [communicator.alloc(values.len())?, communicator.alloc(values.len())?];
    say(&Line::Begun)?;
    for step in 0..args.steps {
        let [gradient, mean] = &mut memory;
        gradient.values().ok_or("a gradient that is lent")?.copy_from_slice(&gradient_of(values, step));
        *begin = Instant::now();
        let lent = [gradient.lend(), mean.lend()].map(|lent| lent.map(Values::lent));
        let [Some(given), Some(place)] = lent else { return Err("memory that is lent already".into()) };
        let (back, report) = bucket.all_reduce_lent(given, Destination::Here(place))?;
        let ms = begin.elapsed().as_secs_f64() * 1000.0;
        say(&Line::Step(told(step, ms, &report, &back)))?;
        drop(back);
        std::thread::sleep(Duration::from_millis(args.pause_ms));
    }
    drop(bucket);
    communicator.close()?;
    Ok(())
}

fn told(step: usize, ms: f64, report: &Report, data: &[f32]) -> Step {
    Step {
        step,
        ms,
        lost_bytes: report.lost_bytes(),
        copied_bytes: report.copied_bytes(),
        action: format!("{:?}", report.action()),
        closed_by: Stage::ALL.map(|stage| format!("{:?}", report.closed_by(stage))),
        silent: Stage::ALL.map(|stage| silent(report.stage(stage))),
        missing: report.missing_ranges().iter().map(|range| (range.start, range.end)).collect(),
        live: report.live_ranks().to_vec(),
        bits: data.iter().map(|value| value.to_bits()).collect(),
    }
}

fn silent(stage: &StageSummary) -> Vec<usize> {
    let nothing = |rank: &usize| stage.expected_bytes_per_rank[*rank] > 0 && stage.received_bytes_per_rank[*rank] == 0;
    (0..stage.expected_bytes_per_rank.len()).filter(nothing).collect()
}

fn say(line: &Line) -> Result<(), String> {
    let mut text = serde_json::to_string(line).map_err(text)?;
    text.push('\n');
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| format!("nobody reads: {error}"))
}
