//! `optireduce run`: one rank.
//!
//! Measured as others do: a barrier before every call, then the straggler sleeps, then each rank times its own call. A
//! row's times are over calls, of each call the slowest rank.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::{Duration, Instant};

use optireduce::{
    Bound, Bucket, BucketOptions, Builder, Communicator, Early, Kind, Launch, Report, Stage, TwoLevel, TwoLevelBucket,
    UpdateAction,
};
use optireduce_core::protocol::{LOSS_SKIP, SKIPS_HALT};
use serde::{Deserialize, Serialize};

use crate::args::{EngineKind, JobArgs, RunArgs};
use crate::file;
use crate::outcome::{Failure, print};
use crate::times::{Row, bus_factor, gb_per_s, percentile, size_text};

/// Calls between two decisions whether to go on.
const CALLS_A_ROUND: usize = 5;
/// Fewest calls of a size.
const CALLS_MIN: usize = 20;
/// Most calls of a size.
const CALLS_MAX: usize = 20_000;

/// What one rank saw of a size.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Seen {
    pub ms: Vec<f64>,
    pub expected_bytes: u64,
    pub received_bytes: u64,
    /// Collectives of which not all means came.
    pub missing_means: u64,
    /// Ranks that did not come in time, at least once.
    pub late_ranks: BTreeSet<usize>,
    /// Too much was lost, at least once.
    pub skipped: bool,
    pub halted: bool,
    hadamard: bool,
    cpu_s: f64,
    memory_mb: f64,
}

impl Seen {
    /// `number`: of a rank in the job, from that in the report.
    fn add(&mut self, report: &Report, number: impl Fn(usize) -> usize) {
        self.expected_bytes += report.expected_bytes();
        self.received_bytes += report.received_bytes();
        let incomplete = report.action() != UpdateAction::Apply || !report.missing_from(Stage::Broadcast).is_empty();
        self.missing_means += u64::from(incomplete);
        self.hadamard |= report.is_hadamard();
        self.skipped |= report.action() != UpdateAction::Apply;
        self.halted |= report.action() == UpdateAction::Halt;
        self.late_ranks.extend(report.late_ranks().iter().map(|rank| number(*rank)));
    }
}

/// Where a rank runs.
#[derive(Debug, Serialize, Deserialize)]
struct Host {
    name: String,
    cores: usize,
}

impl Host {
    fn this() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { name: rustix::system::uname().nodename().to_string_lossy().into_owned(), cores }
    }
}

/// The host with most ranks for its cores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Crowd {
    host: String,
    ranks: usize,
    cores: usize,
}

impl Crowd {
    fn of(hosts: &[Host]) -> Self {
        let mut crowds: BTreeMap<&str, Self> = BTreeMap::new();
        for Host { name, cores } in hosts {
            let new = || Self { host: name.clone(), ranks: 0, cores: *cores };
            crowds.entry(name).or_insert_with(new).ranks += 1;
        }
        let share = |crowd: &Self| crowd.ranks as f64 / crowd.cores.max(1) as f64;
        crowds.into_values().max_by(|a, b| share(a).total_cmp(&share(b))).unwrap_or_default()
    }

    fn has_more_ranks_than_cores(&self) -> bool {
        self.ranks > self.cores
    }

    /// What somebody who reads the figures should know.
    fn note(&self) -> Option<String> {
        let Self { host, ranks, cores } = self;
        let text = format!(
            "optireduce: note: {ranks} ranks share {cores} core(s) of host {host}; ranks that wait for a core are late, so times \
             and losses below are the host's rather than the network's; use at most {cores} rank(s) there"
        );
        self.has_more_ranks_than_cores().then_some(text)
    }
}

/// A communicator, and what goes through it.
pub struct Engine {
    pub communicator: Communicator,
    way: Way,
}

enum Way {
    /// OptiReduce; the buckets that were declared, by elements.
    Udp(BTreeMap<usize, Bucket>),
    TwoLevel(Box<TwoLevel>, BTreeMap<usize, TwoLevelBucket>),
    Tcp,
}

impl Engine {
    pub fn connect(args: &RunArgs, launch: &Launch, bytes: usize) -> Result<Self, String> {
        let JobArgs { bound_ms, grace_us, mtu, hadamard, bf16, incast, rate_control, .. } = args.job;
        let JobArgs { drop_silent_after, no_repair, groups, agree, .. } = args.job;
        if args.job.engine == EngineKind::Tcp {
            return Ok(Self { communicator: connect_control(args, launch)?, way: Way::Tcp });
        }
        let bound = if bound_ms > 0.0 {
            Bound::Fixed(Duration::from_secs_f64(bound_ms / 1000.0))
        } else {
            Bound::Measured { elements: bytes / 4 }
        };
        let builder = builder(args, launch).bound(bound).mtu(mtu).early(match grace_us {
            None => Early::Adaptive,
            Some(0) => Early::Off,
            Some(us) => Early::Grace(Duration::from_micros(us)),
        });
        let builder = builder.hadamard(hadamard.into()).bf16(bf16).incast(incast).rate_control(rate_control);
        let silent_ops = (drop_silent_after > 0).then_some(drop_silent_after);
        // A file that one rank would refuse is written by none.
        let builder = builder.agree(agree || args.file.is_some()).drop_silent_after(silent_ops).repair(!no_repair);
        let mut communicator = builder.connect().map_err(|error| error.to_string())?;
        let way = match groups {
            Some(groups) => {
                let levels = communicator.two_level(groups).map_err(|error| error.to_string())?;
                Way::TwoLevel(Box::new(levels), BTreeMap::new())
            }
            None => Way::Udp(BTreeMap::new()),
        };
        // As the collectives do: ranks that die do not stop the others.
        communicator.skip_gone_ranks().map_err(|error| error.to_string())?;
        Ok(Self { communicator, way })
    }

    /// All-reduces `data`; its bucket is declared the first time.
    pub fn all_reduce(&mut self, data: &mut [f32], seen: &mut Seen) -> Result<(), String> {
        self.try_all_reduce(data, seen).map_err(|error| error.to_string())
    }

    fn try_all_reduce(&mut self, data: &mut [f32], seen: &mut Seen) -> Result<(), optireduce::Error> {
        let Self { communicator, way } = self;
        let (elements, options) = (data.len(), BucketOptions::new());
        match way {
            Way::Udp(buckets) => {
                let bucket = match buckets.entry(elements) {
                    Entry::Occupied(declared) => declared.into_mut(),
                    Entry::Vacant(vacant) => vacant.insert(communicator.bucket(elements, options)?),
                };
                seen.add(&bucket.all_reduce(data)?, |rank| rank);
            }
            Way::TwoLevel(levels, buckets) => {
                let (rank, members) = (communicator.rank(), levels.inside().world_size());
                let bucket = match buckets.entry(elements) {
                    Entry::Occupied(declared) => declared.into_mut(),
                    Entry::Vacant(vacant) => vacant.insert(levels.bucket(elements, options)?),
                };
                for report in bucket.all_reduce(data)? {
                    let across = report.kind() == Kind::AllReduce;
                    seen.add(&report, |peer| {
                        if across { peer * members + rank % members } else { rank - rank % members + peer }
                    });
                }
            }
            Way::Tcp => {
                communicator.all_reduce_reliable(data)?;
                let bytes = (2 * size_of_val(data)) as u64;
                seen.expected_bytes += bytes;
                seen.received_bytes += bytes;
            }
        }
        Ok(())
    }

    /// All-reduces `data` once, waits for its repairs, and returns the elements that the result still lacks. Two levels repair
    /// nothing in time: if a mean was lost there, that is all of them.
    pub fn all_reduce_once(&mut self, data: &mut [f32], seen: &mut Seen) -> Result<Vec<Range<usize>>, String> {
        let whole = std::iter::once(0..data.len());
        if let Way::Udp(_) = self.way {
            let report = self.communicator.all_reduce(data).map_err(|error| error.to_string())?;
            seen.add(&report, |rank| rank);
            let applied = report.action() == UpdateAction::Apply;
            return Ok(if applied { report.missing_ranges().to_vec() } else { whole.collect() });
        }
        if let Way::TwoLevel(_, buckets) = &mut self.way {
            // A bucket of its own, so that it takes no repairs of others.
            buckets.clear();
        }
        let before = seen.missing_means;
        self.all_reduce(data, seen)?;
        Ok(whole.filter(|_| seen.missing_means > before).collect())
    }

    fn payload_bytes(&self) -> usize {
        if matches!(self.way, Way::Tcp) { 0 } else { self.communicator.payload_bytes() }
    }

    pub fn bound_ms(&self) -> f64 {
        if matches!(self.way, Way::Tcp) { 0.0 } else { self.communicator.stage_deadline().as_secs_f64() * 1e3 }
    }
}

fn builder(args: &RunArgs, launch: &Launch) -> Builder {
    let builder = Communicator::builder().launch(launch.clone()).timeout(args.job.timeout());
    match &args.interface {
        Some(interface) => builder.interface(interface),
        None => builder,
    }
}

/// A communicator of which only the control channel is used: nothing is measured or tried.
pub fn connect_control(args: &RunArgs, launch: &Launch) -> Result<Communicator, String> {
    let builder = builder(args, launch).bound(Bound::Fixed(Duration::from_secs(1))).mtu(1500);
    builder.connect().map_err(|error| error.to_string())
}

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let launch = args.launch()?;
    let straggler = args.job.straggler(launch.world_size)?;
    if let Some(path) = &args.file {
        return file::run(args, &launch, path);
    }
    let (mut halted, mut crowd) = (Vec::new(), None);
    for bytes in &args.job.bench {
        let mut engine = Engine::connect(args, &launch, *bytes)?;
        if crowd.is_none() {
            let found = crowd.insert(find_crowd(&mut engine)?);
            if launch.rank == 0 {
                if let Some(note) = found.note() {
                    eprintln!("{note}");
                }
                if !args.job.json {
                    print(Row::HEADER)?;
                }
            }
        }
        let seen = measure(&mut engine, &args.job, straggler == Some(launch.rank), &launch, *bytes)?;
        if seen.halted {
            halted.push(size_text(*bytes));
        }
        let seen = serde_json::to_vec(&seen).map_err(|error| error.to_string())?;
        let all = engine.communicator.all_gather_bytes(&seen).map_err(|error| error.to_string())?;
        if launch.rank == 0 {
            let row = row(&args.job, &engine, *bytes, &all, crowd.as_ref().unwrap_or(&Crowd::default()))?;
            if args.job.json {
                print(&serde_json::to_string(&row).map_err(|error| error.to_string())?)?;
            } else {
                print(&row.line())?;
            }
        }
    }
    if halted.is_empty() {
        return Ok(());
    }
    Err(Failure::halted(format!(
        "rank {}: the safeguard would have halted a training job at {}: {SKIPS_HALT} collectives in a row lost more than {} % each; \
         give a longer --bound-ms, or fewer ranks per core",
        launch.rank,
        halted.join(", "),
        LOSS_SKIP * 100.0
    )))
}

fn find_crowd(engine: &mut Engine) -> Result<Crowd, String> {
    let host = serde_json::to_vec(&Host::this()).map_err(|error| error.to_string())?;
    let hosts = engine.communicator.all_gather_bytes(&host).map_err(|error| error.to_string())?;
    let hosts = hosts.iter().filter(|host| !host.is_empty()).map(|host| serde_json::from_slice(host));
    let hosts: Vec<Host> = hosts.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    Ok(Crowd::of(&hosts))
}

fn measure(engine: &mut Engine, args: &JobArgs, is_late: bool, launch: &Launch, bytes: usize) -> Result<Seen, String> {
    let gradient: Vec<f32> = (0..bytes / 4).map(|i| ((i * 31 + launch.rank * 7) % 1000) as f32 * 1e-3 - 0.5).collect();
    let mut data = gradient.clone();
    // The first call is not timed: pages and paths are new.
    engine.all_reduce(&mut data, &mut Seen::default())?;
    let mut seen = Seen::default();
    let (cpu_s, begin) = (cpu_s(), Instant::now());
    loop {
        for _ in 0..CALLS_A_ROUND {
            data.copy_from_slice(&gradient);
            engine.communicator.barrier().map_err(|error| error.to_string())?;
            if is_late {
                std::thread::sleep(Duration::from_secs_f64(args.straggler_ms / 1000.0));
            }
            let call = Instant::now();
            engine.all_reduce(&mut data, &mut seen)?;
            seen.ms.push(call.elapsed().as_secs_f64() * 1000.0);
        }
        let secs = begin.elapsed().as_secs_f64();
        let enough =
            seen.ms.len() >= CALLS_MIN && secs >= args.secs || seen.ms.len() >= CALLS_MAX || secs >= 4.0 * args.secs;
        let all = engine.communicator.all_gather_bytes(&[u8::from(enough)]).map_err(|error| error.to_string())?;
        // The lowest rank that is still there decides.
        if all.iter().flatten().next() == Some(&1) {
            break;
        }
    }
    seen.cpu_s = self::cpu_s() - cpu_s;
    seen.memory_mb = memory_mb();
    Ok(seen)
}

fn row(args: &JobArgs, engine: &Engine, size_bytes: usize, all: &[Vec<u8>], crowd: &Crowd) -> Result<Row, String> {
    let ranks: Vec<Seen> = all
        .iter()
        .filter(|seen| !seen.is_empty())
        .map(|seen| serde_json::from_slice(seen))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let iters = ranks.iter().map(|seen| seen.ms.len()).min().unwrap_or(0);
    let slowest = |call: usize| ranks.iter().map(|seen| seen.ms[call]).fold(0.0, f64::max);
    let mut ms: Vec<f64> = (0..iters).map(slowest).collect();
    ms.sort_by(f64::total_cmp);
    let sum = |of: fn(&Seen) -> u64| ranks.iter().map(of).sum::<u64>() as f64;
    let p50_ms = percentile(&ms, 0.5);
    let algbw_gb_per_s = gb_per_s(size_bytes, p50_ms);
    Ok(Row {
        size_bytes,
        iters,
        p50_ms,
        p90_ms: percentile(&ms, 0.9),
        p99_ms: percentile(&ms, 0.99),
        max_ms: percentile(&ms, 1.0),
        algbw_gb_per_s,
        busbw_gb_per_s: algbw_gb_per_s * bus_factor(ranks.len()),
        received_fraction: sum(|seen| seen.received_bytes) / sum(|seen| seen.expected_bytes).max(1.0),
        halted: ranks.iter().any(|seen| seen.halted),
        bound_ms: engine.bound_ms(),
        engine: if args.engine == EngineKind::Udp { "udp" } else { "tcp" },
        ranks: ranks.len(),
        ranks_on_host: crowd.ranks,
        cores_on_host: crowd.cores,
        more_ranks_than_cores: crowd.has_more_ranks_than_cores(),
        payload_bytes: engine.payload_bytes(),
        hadamard: ranks.iter().any(|seen| seen.hadamard),
        cpu_s_per_gb: ranks.iter().map(|seen| seen.cpu_s).sum::<f64>() / (iters * size_bytes) as f64 * 1e9,
        memory_mb: ranks.iter().map(|seen| seen.memory_mb).fold(0.0, f64::max),
    })
}

/// CPU time of this process so far, its threads and the kernel's work for them.
fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The most memory that this process has had.
fn memory_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    peak.unwrap_or(0.0) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_crowded_host_is_found_and_named() {
        let host = |name: &str, cores| Host { name: name.into(), cores };
        let hosts = [host("a", 8), host("b", 2), host("a", 8), host("b", 2), host("a", 8), host("b", 2)];
        let crowd = Crowd::of(&hosts);
        assert_eq!(crowd, Crowd { host: "b".into(), ranks: 3, cores: 2 });
        assert!(crowd.note().expect("3 ranks, 2 cores").contains("3 ranks share 2 core(s) of host b"));
        let roomy = Crowd::of(&hosts[..3]);
        assert_eq!((roomy.ranks, roomy.cores, roomy.note()), (1, 2, None));
    }
}
