//! `optireduce run`: one rank.
//!
//! Measured as others do: a barrier before every call, then the straggler sleeps, then each rank times its own call. A
//! row's times are over calls, of each call the slowest rank.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use optireduce::bootstrap::{Launch, Member, Mesh, local_address};
use optireduce::protocol::{Report, UpdateAction};
use optireduce::{Bound, Communicator, Early, TwoLevel, reliable};
use optireduce_contract::limits::BEAT_BYTES;
use serde::{Deserialize, Serialize};

use crate::args::{EngineKind, JobArgs, RunArgs};
use crate::file;
use crate::times::{Row, percentile};

/// Calls between two decisions whether to go on.
const CALLS_A_ROUND: usize = 5;
/// Fewest calls of a size.
const CALLS_MIN: usize = 20;
/// Most calls of a size.
const CALLS_MAX: usize = 20_000;
const BUCKET: u16 = 0;

/// What one rank saw of a size.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Seen {
    pub ms: Vec<f64>,
    pub expected_bytes: u64,
    pub received_bytes: u64,
    /// Ranks that did not come in time, at least once.
    pub late_ranks: BTreeSet<usize>,
    /// Too much was lost, at least once.
    pub skipped: bool,
    hadamard: bool,
    halted: bool,
    cpu_s: f64,
    memory_mb: f64,
}

impl Seen {
    /// `number`: of a rank in the job, from that in the report.
    fn add(&mut self, report: &Report, number: impl Fn(usize) -> usize) {
        self.expected_bytes += report.stages.iter().map(|stage| stage.expected_bytes).sum::<u64>();
        self.received_bytes += report.stages.iter().map(|stage| stage.received_bytes).sum::<u64>();
        self.hadamard |= report.hadamard;
        self.skipped |= report.action != UpdateAction::Apply;
        self.halted |= report.action == UpdateAction::Halt;
        self.late_ranks.extend(report.late_peers.iter().map(|peer| number(*peer)));
    }
}

pub enum Engine {
    Udp(Box<Communicator>),
    TwoLevel(Box<(Communicator, TwoLevel)>),
    Tcp { mesh: Box<Mesh>, op: u32, timeout: Duration },
}

impl Engine {
    pub fn connect(args: &RunArgs, launch: &Launch, bytes: usize) -> Result<Self, String> {
        let JobArgs {
            bound_ms, grace_us, mtu, hadamard, bf16, incast, rate_control, drop_silent_after, no_repair, ..
        } = args.job;
        let timeout = args.job.timeout();
        if args.job.engine == EngineKind::Tcp {
            let mesh = Box::new(connect_mesh(args, launch)?);
            return Ok(Self::Tcp { mesh, op: 0, timeout });
        }
        let bound = if bound_ms > 0.0 {
            Bound::Fixed(Duration::from_secs_f64(bound_ms / 1000.0))
        } else {
            Bound::Measured { elements: bytes / 4 }
        };
        let builder = Communicator::builder().launch(launch.clone()).bound(bound).mtu(mtu).timeout(timeout);
        let builder = builder.early(match grace_us {
            None => Early::Adaptive,
            Some(0) => Early::Off,
            Some(us) => Early::Grace(Duration::from_micros(us)),
        });
        let builder = builder.hadamard(hadamard.into()).bf16(bf16).incast(incast).rate_control(rate_control);
        let silent_ops = (drop_silent_after > 0).then_some(drop_silent_after);
        let builder = builder.agree(args.job.agree).drop_silent_after(silent_ops).repair(!no_repair);
        let builder = match &args.interface {
            Some(interface) => builder.interface(interface),
            None => builder,
        };
        let mut communicator = builder.connect().map_err(|error| error.to_string())?;
        // As the collectives do: ranks that die do not stop the others.
        communicator.mesh().leave_out_gone();
        if let Some(groups) = args.job.groups {
            let levels = communicator.two_level(groups).map_err(|error| error.to_string())?;
            return Ok(Self::TwoLevel(Box::new((communicator, levels))));
        }
        Ok(Self::Udp(Box::new(communicator)))
    }

    pub fn mesh(&mut self) -> &mut Mesh {
        match self {
            Self::Udp(communicator) => communicator.mesh(),
            Self::TwoLevel(both) => both.0.mesh(),
            Self::Tcp { mesh, .. } => mesh,
        }
    }

    pub fn all_reduce(&mut self, data: &mut [f32], seen: &mut Seen) -> Result<(), String> {
        match self {
            Self::Udp(communicator) => {
                let report = communicator.all_reduce(BUCKET, data).map_err(|error| error.to_string())?;
                seen.add(&report, |peer| peer);
            }
            Self::TwoLevel(both) => {
                let (communicator, levels) = both.as_mut();
                let (rank, members) = (communicator.params().rank, levels.inside().params().ranks);
                let [scattered, across, gathered] =
                    levels.all_reduce(BUCKET, data).map_err(|error| error.to_string())?;
                [scattered, gathered].iter().for_each(|report| seen.add(report, |peer| rank - rank % members + peer));
                seen.add(&across, |peer| peer * members + rank % members);
            }
            Self::Tcp { mesh, op, timeout } => {
                reliable::all_reduce(mesh, *op, data, *timeout).map_err(|error| error.to_string())?;
                *op = op.wrapping_add(1);
                let bytes = (2 * data.len() * 4) as u64;
                seen.expected_bytes += bytes;
                seen.received_bytes += bytes;
            }
        }
        Ok(())
    }

    fn payload_bytes(&self) -> usize {
        match self {
            Self::Udp(communicator) => communicator.params().payload_beats * BEAT_BYTES,
            Self::TwoLevel(both) => both.0.params().payload_beats * BEAT_BYTES,
            Self::Tcp { .. } => 0,
        }
    }

    pub fn bound_ms(&self) -> f64 {
        match self {
            Self::Udp(communicator) => communicator.params().bound_ns as f64 / 1e6,
            Self::TwoLevel(both) => both.0.params().bound_ns as f64 / 1e6,
            Self::Tcp { .. } => 0.0,
        }
    }
}

/// The reliable channel alone.
pub fn connect_mesh(args: &RunArgs, launch: &Launch) -> Result<Mesh, String> {
    let local = local_address(args.interface.as_deref(), launch).map_err(|error| error.to_string())?;
    let udp = std::net::SocketAddr::new(local, 0);
    let describe = |control| Member { rank: launch.rank, udp, control, receive_buffer_bytes: 0, payload_beats: 0 };
    Mesh::connect(launch, local, args.job.timeout(), describe, || ()).map_err(|error| error.to_string())
}

pub fn run(args: &RunArgs) -> Result<(), String> {
    let launch = args.launch()?;
    if let Some(path) = &args.file {
        return file::run(args, &launch, path);
    }
    if launch.rank == 0 && !args.job.json {
        println!("{}", Row::HEADER);
    }
    for bytes in &args.job.bench {
        let mut engine = Engine::connect(args, &launch, *bytes)?;
        let seen = measure(&mut engine, &args.job, &launch, *bytes)?;
        let own = serde_json::to_vec(&seen).map_err(|error| error.to_string())?;
        let all = engine.mesh().gather(&own, args.job.timeout()).map_err(|error| error.to_string())?;
        if launch.rank == 0 {
            let row = row(&args.job, &engine, *bytes, &all)?;
            if args.job.json {
                println!("{}", serde_json::to_string(&row).map_err(|error| error.to_string())?);
            } else {
                println!("{}", row.line());
            }
        }
    }
    Ok(())
}

fn measure(engine: &mut Engine, args: &JobArgs, launch: &Launch, bytes: usize) -> Result<Seen, String> {
    let timeout = args.timeout();
    let sleep = args.straggler(launch.world_size).filter(|rank| *rank == launch.rank);
    let gradient: Vec<f32> = (0..bytes / 4).map(|i| ((i * 31 + launch.rank * 7) % 1000) as f32 * 1e-3 - 0.5).collect();
    let mut data = gradient.clone();
    // The first call is not timed: pages and paths are new.
    engine.all_reduce(&mut data, &mut Seen::default())?;
    let mut seen = Seen::default();
    let (cpu_s, begin) = (cpu_s(), Instant::now());
    loop {
        for _ in 0..CALLS_A_ROUND {
            data.copy_from_slice(&gradient);
            engine.mesh().barrier(timeout).map_err(|error| error.to_string())?;
            if sleep.is_some() {
                std::thread::sleep(Duration::from_secs_f64(args.straggler_ms / 1000.0));
            }
            let call = Instant::now();
            engine.all_reduce(&mut data, &mut seen)?;
            seen.ms.push(call.elapsed().as_secs_f64() * 1000.0);
        }
        let secs = begin.elapsed().as_secs_f64();
        let enough =
            seen.ms.len() >= CALLS_MIN && secs >= args.secs || seen.ms.len() >= CALLS_MAX || secs >= 4.0 * args.secs;
        let stop = engine.mesh().broadcast(&[u8::from(enough)], timeout).map_err(|error| error.to_string())?;
        if stop == [1] {
            break;
        }
    }
    seen.cpu_s = self::cpu_s() - cpu_s;
    seen.memory_mb = memory_mb();
    Ok(seen)
}

fn row(args: &JobArgs, engine: &Engine, size: usize, all: &[Vec<u8>]) -> Result<Row, String> {
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
    Ok(Row {
        size,
        iters,
        p50_ms: percentile(&ms, 0.5),
        p90_ms: percentile(&ms, 0.9),
        p99_ms: percentile(&ms, 0.99),
        max_ms: percentile(&ms, 1.0),
        received_fraction: sum(|seen| seen.received_bytes) / sum(|seen| seen.expected_bytes).max(1.0),
        bound_ms: engine.bound_ms(),
        engine: if args.engine == EngineKind::Udp { "udp" } else { "tcp" },
        ranks: ranks.len(),
        payload_bytes: engine.payload_bytes(),
        hadamard: ranks.iter().any(|seen| seen.hadamard),
        cpu_s_per_gb: ranks.iter().map(|seen| seen.cpu_s).sum::<f64>() / (iters * size) as f64 * 1e9,
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
