//! `chaos-trainer`: a rank that trains a linear model with the library and logs for the judge.
//!
//! Collectives alternate between two buckets. Gradients are multiples of a quantum whose sums are
//! exact, so that the judge can tell which gradients are in a mean. A dropped rank rejoins and
//! fetches the model. Exit codes: 0 done, 2 failed.
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use optireduce::{Bucket, BucketOptions, Communicator, ErrorKind, HadamardMode, Repair, Report, Settings, Stage};
use optireduce_chaos::{End, Entry, Got, Log};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

type Failed = Box<dyn std::error::Error>;

const BUCKETS: [Range<usize>; 2] = [0..1500, 1500..2000];
const WEIGHTS: usize = BUCKETS[1].end;
/// Samples per rank and step.
const SAMPLES: usize = 4;
const GRID: f64 = 1.0 / 65536.0;
/// Pause between steps, in place of a larger model's backward pass.
const PAUSE: Duration = Duration::from_millis(3);

/// One rank of a job that trains a small model; started by optireduce-chaos
#[derive(Parser)]
struct Args {
    /// File to log gradients and results to
    #[arg(long)]
    log: PathBuf,
    /// File that will hold the number of the collective before which all ranks end
    #[arg(long)]
    end: PathBuf,
    /// Seed of the samples
    #[arg(long)]
    seed: u64,
    /// Bound on a stage, as of the setting
    #[arg(long)]
    bound_ms: String,
    /// Encode collectives after losses
    #[arg(long)]
    hadamard: bool,
    /// Timeout for other ranks, in seconds
    #[arg(long)]
    timeout_s: u64,
}

struct Trainer {
    args: Args,
    communicator: Communicator,
    buckets: Vec<Bucket>,
    log: Log,
    weights: Vec<f32>,
    wanted: Vec<f32>,
    op: u32,
    live: Vec<usize>,
    rejoined: u32,
    has_rejoined: bool,
    /// Drift at the last settle, in bytes.
    drift_bytes: u64,
}

fn main() -> ExitCode {
    match Trainer::connect(Args::parse()).and_then(Trainer::train) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("chaos-trainer: {error}");
            ExitCode::from(2)
        }
    }
}

impl Trainer {
    fn connect(args: Args) -> Result<Self, Failed> {
        let log = Log::create(&args.log)?;
        let hadamard = if args.hadamard { HadamardMode::Auto } else { HadamardMode::Off };
        let settings = Settings::new().bound_max(Duration::from_millis(400)).hadamard(hadamard);
        let mut settings = settings.repair(Repair::NextUpdate).skip_gone(true);
        settings.set("bound_ms", &args.bound_ms)?;
        let mut communicator = Communicator::connect(settings.timeout(Duration::from_secs(args.timeout_s))).wait()?;
        let mut buckets = Vec::new();
        for range in BUCKETS {
            buckets.push(communicator.bucket(range.len(), BucketOptions::new()).wait()?);
        }
        println!("connected");
        let mut random = StdRng::seed_from_u64(args.seed);
        let wanted = (0..WEIGHTS).map(|_| random.random_range(-1.0..1.0)).collect();
        let live = (0..communicator.world_size()).collect();
        let (weights, op, rejoined, has_rejoined, drift_bytes) = (vec![0.0; WEIGHTS], 0, 0, false, 0);
        Ok(Self { args, communicator, buckets, log, weights, wanted, op, live, rejoined, has_rejoined, drift_bytes })
    }

    fn train(mut self) -> Result<(), Failed> {
        let first = self.error();
        while !self.is_last() {
            self.step()?;
            std::thread::sleep(PAUSE);
        }
        let is_whole = self.settle()?;
        let end = End { is_whole, rejoined: self.rejoined, errors: [first, self.error()] };
        self.log.add(Entry::End(end), &self.weights)?;
        drop(self.buckets);
        Ok(self.communicator.close().wait()?)
    }

    fn error(&self) -> f64 {
        let pairs = self.weights.iter().zip(&self.wanted);
        pairs.map(|(weight, wanted)| f64::from(weight - wanted).powi(2)).sum::<f64>() / WEIGHTS as f64
    }

    fn is_last(&self) -> bool {
        let end = std::fs::read_to_string(&self.args.end).ok().and_then(|text| text.parse().ok());
        end.is_some_and(|end: u32| self.op >= end)
    }

    fn step(&mut self) -> Result<(), Failed> {
        let which = self.op as usize % BUCKETS.len();
        let mut data = self.gradient(which);
        self.log.add(Entry::Given(self.op), &data)?;
        let begin = Instant::now();
        let report = match self.buckets[which].all_reduce(&mut data) {
            Ok(report) => report,
            Err(error) if error.kind() == ErrorKind::Dropped => {
                println!("dropped");
                self.op = self.communicator.rejoin().wait()?;
                println!("rejoined at {}", self.op);
                (self.rejoined, self.has_rejoined) = (self.rejoined + 1, true);
                return Ok(());
            }
            // After a halt, since faults last for longer than a trainer would wait.
            Err(error) => match error.report() {
                Some(report) => report.clone(),
                None => return Err(format!("collective {}: {error}", self.op).into()),
            },
        };
        let got = got(&report, begin.elapsed());
        self.log.add(Entry::Got(got), &data)?;
        if report.number != self.op {
            return Err(format!("collective {} was reported as {}", self.op, report.number).into());
        }
        self.op += 1;
        println!("op {} {:?}", report.number, report.ranks);
        if report.is_applied {
            self.apply(which, &data);
        }
        let live = report.ranks.clone();
        let has_grown = live.iter().any(|rank| !self.live.contains(rank));
        self.live = live;
        if std::mem::take(&mut self.has_rejoined) {
            self.fetch(false)?;
        } else if has_grown {
            self.fetch(true)?;
        }
        Ok(())
    }

    fn gradient(&self, which: usize) -> Vec<f32> {
        let range = BUCKETS[which].clone();
        let seed = self.args.seed
            ^ (u64::from(self.op) << 8 | self.communicator.rank() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = StdRng::seed_from_u64(seed);
        let mut gradient = vec![0.0; range.len()];
        let (weights, wanted) = (&self.weights[range.clone()], &self.wanted[range.clone()]);
        for _ in 0..SAMPLES {
            let sample: Vec<f64> = (0..range.len()).map(|_| if random.random() { 1.0 } else { -1.0 }).collect();
            let pairs = sample.iter().zip(weights.iter().zip(wanted));
            let error: f64 = pairs.map(|(x, (weight, wanted))| x * f64::from(weight - wanted)).sum();
            let scale = error / range.len() as f64;
            gradient.iter_mut().zip(&sample).for_each(|(gradient, x)| *gradient += scale * x);
        }
        gradient.iter().map(|value| ((value / GRID).round() * GRID) as f32).collect()
    }

    fn apply(&mut self, which: usize, mean: &[f32]) {
        self.weights[BUCKETS[which].clone()].iter_mut().zip(mean).for_each(|(weight, mean)| *weight -= mean);
    }

    /// Applies corrections. Returns whether none is outstanding and drift has not grown.
    fn settle(&mut self) -> Result<bool, Failed> {
        let (mut is_settled, mut drift_bytes) = (true, 0);
        for which in 0..BUCKETS.len() {
            let settled = self.buckets[which].settle(Some(Duration::from_secs(self.args.timeout_s))).wait()?;
            if let Some(correction) = settled.correction {
                self.apply(which, &correction);
            }
            is_settled &= settled.is_settled;
            drift_bytes += settled.repairs.drift_bytes;
        }
        let is_whole = is_settled && drift_bytes == self.drift_bytes;
        self.drift_bytes = drift_bytes;
        Ok(is_whole)
    }

    /// Broadcasts the model of the lowest rank that stayed.
    fn fetch(&mut self, has_stayed: bool) -> Result<(), Failed> {
        self.settle()?;
        let stayed = self.communicator.exact().all_gather(vec![u8::from(has_stayed)]).wait()?;
        let root = stayed.iter().position(|stayed| stayed.as_deref() == Some(&[1])).ok_or("no rank has stayed")?;
        let weights = std::mem::take(&mut self.weights);
        self.weights = self.communicator.exact().broadcast(root, weights).wait()?;
        println!("fetched from {root}");
        Ok(())
    }
}

fn got(report: &Report, waited: Duration) -> Got {
    let lost =
        Stage::ALL.map(|stage| report.stage(stage).map_or(0, |stage| stage.expected_bytes - stage.received_bytes));
    Got {
        op: report.number,
        live: report.ranks.clone(),
        applied: report.is_applied,
        corrected: report.is_corrected,
        hadamard: report.is_hadamard,
        missing: report.missing.clone(),
        lost,
        bound_ms: report.bound.as_secs_f64() * 1e3,
        ms: waited.as_secs_f64() * 1e3,
    }
}
