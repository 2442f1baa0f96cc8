//! Communicator of a rank: OptiReduce over UDP or cards, on one or two levels, or the TCP baseline.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::ops::Range;
use std::time::Duration;

use optireduce::binding::Launch;
use optireduce::binding::{self, Back, Destination, Values};
use optireduce::{
    Bucket, BucketOptions, Buffer, ClosedBy, Communicator, Error, ErrorKind, Metrics, Origin, Repair, Report, Secret,
    Settings, Stage,
};
use serde::{Deserialize, Serialize};

use crate::args::{EngineKind, RunArgs};

/// Gradient and mean of a call, which returns them even if it halts.
pub struct Memory {
    buffers: Option<(Buffer, Buffer)>,
    lent: Option<(Back<Buffer>, Back<Buffer>)>,
}

/// Internal error: a call returns its buffers even if it fails.
const NOT_LENT: &str = "a buffer is still lent after its call has returned";

impl Memory {
    pub fn fill(&mut self, pattern: &[f32]) -> Result<(), String> {
        let (gradient, _) = self.buffers()?;
        gradient.chunks_mut(pattern.len()).for_each(|part| part.copy_from_slice(&pattern[..part.len()]));
        Ok(())
    }

    fn buffers(&mut self) -> Result<&mut (Buffer, Buffer), String> {
        if let Some((gradient, mean)) = self.lent.take() {
            self.buffers = gradient.take().zip(mean.take());
        }
        self.buffers.as_mut().ok_or_else(|| NOT_LENT.into())
    }

    fn lend(&mut self) -> Result<(usize, (Values, Destination)), String> {
        let elements = self.buffers()?.0.len();
        let (gradient, mean) = self.buffers.take().ok_or(NOT_LENT)?;
        let ((gradient, from), (mean, to)) = (binding::lend(gradient), binding::lend(mean));
        self.lent = Some((from, to));
        Ok((elements, (gradient, Destination::Here(mean))))
    }
}

/// Observations of one rank, over all calls of a size.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Seen {
    pub ms: Vec<f64>,
    pub expected_bytes: u64,
    pub received_bytes: u64,
    pub unsent_packets: u64,
    pub forged_packets: u64,
    pub replayed_packets: u64,
    /// Bytes of lost or late contributions; their means are over fewer ranks.
    pub lost_contribution_bytes: u64,
    /// Stages of windows: all, closed early with data missing, and closed at their bound.
    pub stages: u64,
    pub stages_early: u64,
    pub stages_at_bound: u64,
    pub not_finite: u64,
    pub late_ranks: BTreeSet<usize>,
    pub skipped: bool,
    pub halted: bool,
    pub measuring_bound: bool,
    pub hadamard: bool,
    pub cpu_s: f64,
    pub memory_mb: f64,
}

impl Seen {
    /// Adds an all-reduce. A measurement continues after a halt.
    fn add(&mut self, done: Result<Report, Error>) -> Result<Report, Error> {
        self.halted |= done.as_ref().is_err_and(|error| error.kind() == ErrorKind::Halted);
        let report = done.or_else(|error| error.report().cloned().ok_or(error))?;
        let all = std::slice::from_ref(&report);
        if report.parts.is_empty() { all } else { &report.parts }.iter().for_each(|part| self.add_part(part));
        self.skipped |= !report.is_applied;
        Ok(report)
    }

    fn add_part(&mut self, report: &Report) {
        self.expected_bytes += report.expected_bytes;
        for stage in &report.stages {
            self.received_bytes += stage.received_bytes;
            if stage.stage == Stage::Contribute {
                self.lost_contribution_bytes += stage.expected_bytes - stage.received_bytes;
            }
            for closed_by in &stage.closed_by_window {
                self.stages += 1;
                self.stages_early += u64::from(*closed_by == ClosedBy::Early);
                self.stages_at_bound += u64::from(*closed_by == ClosedBy::Deadline);
            }
        }
        self.not_finite += report.not_finite;
        self.hadamard |= report.is_hadamard;
        self.measuring_bound = report.is_bound_measured;
        self.late_ranks.extend(&report.late_ranks);
    }
}

pub enum Engine {
    /// Buckets are keyed by their elements, or by index if several are in flight.
    Udp(Box<Communicator>, BTreeMap<usize, Bucket>),
    Tcp(Box<Communicator>),
}

impl Engine {
    pub fn connect(args: &RunArgs, launch: &Launch) -> Result<Self, String> {
        if args.job.engine == EngineKind::Tcp {
            return connect_control(args, launch, args.job.timeout()?);
        }
        let settings = settings(args, launch)?;
        // Ranks write a file together or not at all, so they must agree on skipped updates.
        let settings = if args.file.is_some() { settings.agree(true) } else { settings };
        // Calls over the control channel must not wait for dead ranks either.
        let is_set = settings.find("skip_gone").is_ok_and(|(_, origin)| origin != Origin::Default);
        let settings = if is_set { settings } else { settings.skip_gone(true) };
        Ok(Self::Udp(Communicator::connect(settings).wait().map_err(text)?.into(), BTreeMap::new()))
    }

    pub fn communicator(&self) -> &Communicator {
        match self {
            Self::Udp(communicator, _) | Self::Tcp(communicator) => communicator,
        }
    }

    pub fn communicator_mut(&mut self) -> &mut Communicator {
        match self {
            Self::Udp(communicator, _) | Self::Tcp(communicator) => communicator,
        }
    }

    pub fn rank(&self) -> usize {
        self.communicator().rank()
    }

    pub fn barrier(&mut self) -> Result<(), String> {
        self.communicator_mut().barrier().wait().map_err(text)
    }

    /// Returns the bytes by rank; empty for ranks that are gone.
    pub fn all_gather_bytes(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        let gathered = self.communicator_mut().exact().all_gather(bytes.to_vec()).wait().map_err(text)?;
        Ok(gathered.into_iter().map(Option::unwrap_or_default).collect())
    }

    pub fn metrics(&self) -> Result<Metrics, String> {
        self.communicator().metrics().wait().map_err(text)
    }

    /// Declares a bucket, which its first use would declare otherwise.
    pub fn declare(&mut self, elements: usize) -> Result<(), Error> {
        if let Self::Udp(communicator, buckets) = self {
            buckets.insert(elements, communicator.bucket(elements, BucketOptions::new()).wait()?);
        }
        Ok(())
    }

    pub fn memory(&self, elements: usize) -> Result<Memory, String> {
        let alloc = || self.communicator().alloc(elements).map_err(text);
        Ok(Memory { buffers: Some((alloc()?, alloc()?)), lent: None })
    }

    /// All-reduces a gradient, without copies on one level. Returns the rank that joined, if any.
    pub fn all_reduce(&mut self, memory: &mut Memory, seen: &mut Seen) -> Result<Option<usize>, String> {
        let Self::Udp(communicator, buckets) = self else {
            let (gradient, mean) = memory.buffers()?;
            mean.copy_from_slice(gradient);
            return self.all_reduce_once(mean, seen).map(|_| None);
        };
        let (elements, (gradient, mean)) = memory.lend()?;
        let call = || {
            let bucket = match buckets.entry(elements) {
                Entry::Occupied(declared) => declared.into_mut(),
                Entry::Vacant(vacant) => vacant.insert(communicator.bucket(elements, BucketOptions::new()).wait()?),
            };
            seen.add(binding::all_reduce(bucket, gradient, mean).map(|(_, report)| report))
        };
        Ok(call().map_err(text)?.joined_rank)
    }

    /// All-reduces several buckets concurrently, as DDP does. Returns the rank that joined, if any.
    pub fn all_reduce_at_once(&mut self, memory: &mut [Memory], seen: &mut Seen) -> Result<Option<usize>, String> {
        let Self::Udp(communicator, buckets) = self else {
            return Err("several buckets in flight need UDP or shared memory".into());
        };
        let mut requests = Vec::new();
        for (number, memory) in memory.iter_mut().enumerate() {
            let (elements, (gradient, mean)) = memory.lend()?;
            let bucket = match buckets.entry(number) {
                Entry::Occupied(declared) => declared.into_mut(),
                Entry::Vacant(vacant) => {
                    vacant.insert(communicator.bucket(elements, BucketOptions::new()).wait().map_err(text)?)
                }
            };
            requests.push(binding::start_all_reduce(bucket, gradient, mean));
        }
        let mut joined = None;
        for request in requests {
            let report = seen.add(request.wait().map(|(_, report)| report)).map_err(text)?;
            joined = joined.or(report.joined_rank);
        }
        Ok(joined)
    }

    /// All-reduces `data` once, with repairs. Returns the elements that are still missing.
    pub fn all_reduce_once(&mut self, data: &mut [f32], seen: &mut Seen) -> Result<Vec<Range<usize>>, String> {
        match self {
            Self::Udp(communicator, _) => {
                let options = BucketOptions::new().repair(Repair::NextUpdate);
                let mut bucket = communicator.bucket(data.len(), options).wait().map_err(text)?;
                let report = seen.add(bucket.all_reduce(data)).map_err(text)?;
                let settled = bucket.settle(None).wait().map_err(text)?;
                if !report.is_applied {
                    return Ok(iter::once(0..data.len()).collect());
                }
                let correction = settled.correction.unwrap_or_default();
                data.iter_mut().zip(&correction).for_each(|(value, correction)| *value += correction);
                Ok(settled.missing)
            }
            Self::Tcp(communicator) => {
                let (mean, _) = binding::start_reliable_mean(communicator, data.to_vec()).wait().map_err(text)?;
                data.copy_from_slice(&mean);
                let bytes = (2 * size_of_val(data)) as u64;
                seen.expected_bytes += bytes;
                seen.received_bytes += bytes;
                Ok(Vec::new())
            }
        }
    }

    pub fn close(self) -> Result<(), String> {
        let (Self::Udp(communicator, _) | Self::Tcp(communicator)) = self;
        match communicator.close().wait() {
            // There is no replica.
            Err(error) if error.kind() == ErrorKind::Unsettled => Ok(()),
            closed => closed.map_err(text),
        }
    }

    /// Transport of the job if it has cards, otherwise from this rank to its peers.
    pub fn name(&mut self) -> &'static str {
        if matches!(self, Self::Tcp(_)) {
            return "tcp";
        }
        let metrics = self.metrics().unwrap_or_default();
        let parts = if metrics.parts.is_empty() { std::slice::from_ref(&metrics) } else { &metrics.parts };
        // Each level has a round-trip time for every rank.
        let peers: usize = parts.iter().map(|part| part.rtt_us.len().saturating_sub(1)).sum();
        match (parts.iter().map(|part| part.shared.len()).sum::<usize>(), metrics.cards.len()) {
            _ if metrics.fallback_from.is_some() => "udp",
            (0, 0) => "udp",
            (shared, 0) if shared == peers => "shm",
            (_, 0) => "hybrid",
            (_, cards) if cards == peers + 1 => "card",
            _ => "mixed",
        }
    }

    /// Gradient bytes of a full packet, on the level with smaller packets; 0 over TCP.
    pub fn payload_bytes(&self) -> usize {
        if matches!(self, Self::Tcp(_)) { 0 } else { self.metrics().map_or(0, |metrics| metrics.payload_bytes) }
    }

    /// Bound, on the level with the longest one; 0 over TCP.
    pub fn bound_ms(&self) -> f64 {
        if matches!(self, Self::Tcp(_)) { 0.0 } else { self.communicator().bound().as_secs_f64() * 1e3 }
    }
}

fn settings(args: &RunArgs, launch: &Launch) -> Result<Settings, String> {
    let engine = if args.job.engine == EngineKind::Udp { "udp" } else { "tcp" };
    let partial = args.partial.map_or("not given".into(), |group_size| group_size.to_string());
    // These options decide which other settings are compared.
    let settings = args.settings()?.job_id(launch.job_id.clone());
    let settings = if args.has_one_level() { settings.groups(None) } else { settings };
    let settings = settings.compare("--file", if args.file.is_some() { "given" } else { "not given" });
    let settings = settings.compare("--engine", engine).compare("--partial", partial);
    match args.place.get("secret_file").filter(|path| args.allow_readable_secret && *path != "none") {
        Some(path) => {
            let secret = Secret::from_file_within(path, args.job.timeout()?, true);
            Ok(settings.secret(secret.map_err(|error| format!("--secret-file: {error}"))?))
        }
        None => Ok(settings),
    }
}

/// Connects for the control channel only: no MTU probes, no measured bound, no card.
pub fn connect_control(args: &RunArgs, launch: &Launch, timeout: Duration) -> Result<Engine, String> {
    let settings = settings(args, launch)?.timeout(timeout).card("none").bound(Duration::from_secs(1)).mtu(1500);
    Ok(Engine::Tcp(Communicator::connect(settings).wait().map_err(text)?.into()))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
