//! A rank, in a machine with a card or on the host without one: all-reduces gradients, and writes a
//! line with all bits about each step.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use optireduce::{
    BucketOptions, ClosedBy, Communicator, Error, ErrorKind, HadamardMode, Repair, Report, Settings, Stage, StageReport,
};
use serde::{Deserialize, Serialize};

use crate::{text, values_of};

#[derive(Clone, Debug, clap::Args)]
pub struct RankArgs {
    #[arg(long)]
    pub rank: usize,
    #[arg(long)]
    pub ranks: usize,
    /// Address of rank 0
    #[arg(long)]
    pub root: String,
    /// PCI address of the card
    #[arg(long, default_value = "")]
    pub card: String,
    /// IP address of a rank without a card
    #[arg(long)]
    pub interface: Option<String>,
    /// File of the gradient: little-endian fp32
    #[arg(long)]
    pub gradient: PathBuf,
    #[arg(long)]
    pub steps: usize,
    #[arg(long)]
    pub bound_ms: u64,
    /// Pause between steps in milliseconds, in place of a backward pass
    #[arg(long, default_value_t = 5)]
    pub pause_ms: u64,
    /// Repair losses of broadcasts, and wait up to four bounds for the repairs
    #[arg(long)]
    pub repair: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub enum Line {
    Begun,
    Step(Step),
    /// The rank failed, `after_ms` after its last call began.
    Failed {
        error: String,
        after_ms: f64,
    },
    Done,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    pub step: usize,
    /// Duration of the call.
    pub ms: f64,
    pub lost_bytes: u64,
    /// Bytes copied between the caller's memory and the card's.
    pub copied_bytes: u64,
    pub is_applied: bool,
    /// Reason for the end of each stage.
    pub closed_by: [String; 2],
    /// Peers without any received byte, for each stage.
    pub silent: [Vec<usize>; 2],
    pub missing: Vec<(usize, usize)>,
    pub live: Vec<usize>,
    pub bits: Vec<u32>,
}

/// Rotates `values` by a distance that depends on the step.
pub fn gradient_of(values: &[f32], step: usize) -> Vec<f32> {
    let at = step * 131 % values.len();
    [&values[at..], &values[..at]].concat()
}

/// Takes part in the job. Its failure is a [`Line`].
///
/// # Errors
/// If the gradient cannot be read, or the output is closed.
pub fn run(args: &RankArgs) -> Result<(), String> {
    let bytes = std::fs::read(&args.gradient).map_err(|error| format!("{}: {error}", args.gradient.display()))?;
    let values = values_of(&bytes);
    let mut begin = Instant::now();
    let outcome = steps(args, &values, &mut begin);
    let after_ms = begin.elapsed().as_secs_f64() * 1000.0;
    say(&outcome.map_or_else(|error| Line::Failed { error: error.to_string(), after_ms }, |()| Line::Done))
}

fn steps(args: &RankArgs, values: &[f32], begin: &mut Instant) -> Result<(), Box<dyn std::error::Error>> {
    let bound = Duration::from_millis(args.bound_ms);
    let place = Settings::new().rank(args.rank).world_size(args.ranks).root(args.root.clone());
    // Without the transform only the order of sums may differ, and the judge tries all orders.
    let settings = place.bound(bound).hadamard(HadamardMode::Off).card(args.card.clone());
    let settings = settings.repair(if args.repair { Repair::ThisUpdate } else { Repair::Off });
    let settings = settings.interface(args.interface.clone().unwrap_or_default()).skip_gone(true);
    let mut communicator = Communicator::connect(settings).wait()?;
    let mut bucket = communicator.bucket(values.len(), BucketOptions::new()).wait()?;
    let alloc = || Ok::<_, Error>((communicator.alloc(values.len())?, communicator.alloc(values.len())?));
    let mut memory = alloc()?;
    say(&Line::Begun)?;
    for step in 0..args.steps {
        memory.0.copy_from_slice(&gradient_of(values, step));
        *begin = Instant::now();
        let done = bucket.start_all_reduce(memory).wait();
        let ms = begin.elapsed().as_secs_f64() * 1000.0;
        // Here a job goes on after a halt.
        let report;
        (memory, report) = match done {
            Err(error) => (alloc()?, error.report().cloned().ok_or(error)?),
            Ok((memory, report)) => (memory, report),
        };
        say(&Line::Step(told(step, ms, &report, &memory.1)))?;
        std::thread::sleep(Duration::from_millis(args.pause_ms));
    }
    drop(bucket);
    match communicator.close().wait() {
        // There is no replica.
        Err(error) if error.kind() == ErrorKind::Unsettled => Ok(()),
        closed => Ok(closed?),
    }
}

fn told(step: usize, ms: f64, report: &Report, data: &[f32]) -> Step {
    let stages = Stage::ALL.map(|stage| report.stage(stage));
    Step {
        step,
        ms,
        lost_bytes: report.lost_bytes,
        copied_bytes: report.copied_bytes,
        is_applied: report.is_applied,
        closed_by: stages.map(|stage| format!("{:?}", stage.map_or(ClosedBy::Complete, |stage| stage.closed_by))),
        silent: stages.map(silent),
        missing: report.missing.iter().map(|range| (range.start, range.end)).collect(),
        live: report.ranks.clone(),
        bits: data.iter().map(|value| value.to_bits()).collect(),
    }
}

fn silent(stage: Option<&StageReport>) -> Vec<usize> {
    let peers = stage.into_iter().flat_map(|stage| &stage.peers);
    peers.filter(|peer| peer.expected_bytes > 0 && peer.received_bytes == 0).map(|peer| peer.rank).collect()
}

fn say(line: &Line) -> Result<(), String> {
    let mut text = serde_json::to_string(line).map_err(text)?;
    text.push('\n');
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| format!("writing to stdout: {error}"))
}
