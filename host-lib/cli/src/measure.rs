//! Measurement of one size: warm-up calls, then timed calls, until the lowest rank decides to end.
//!
//! All ranks make the same calls in the same order, including calls over the control channel. The
//! other ranks send their [`Progress`] to a restarted process, which continues from there.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::args::JobArgs;
use crate::engine::{Engine, Memory, Seen};

const WARM_UP_CALLS_MAX: usize = 100;
/// Number of warm-up calls after which [`WARM_UP_MAX`] applies. A bound takes 20 or a few more.
const WARM_UP_CALLS: usize = 25;
const WARM_UP_MAX: Duration = Duration::from_secs(5);
/// Minimum number of calls between two decisions, for which all ranks wait for each other.
const CALLS_A_ROUND: usize = 5;
const CALLS_MIN: usize = 20;
const CALLS_MAX: usize = 20_000;

/// Position in the measurement, equal on all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub size: usize,
    is_timed: bool,
    calls: usize,
    /// Number of calls after which the ranks decide whether to continue.
    decides_at: usize,
}

impl Progress {
    pub fn at(size: usize) -> Self {
        // The first call may be so slow that there is no time for more.
        Self { size, decides_at: 1, ..Self::default() }
    }
}

pub struct Measurement<'a> {
    args: &'a JobArgs,
    is_late: bool,
    memory: Vec<Memory>,
    seen: Seen,
    /// Duration of the call with which a restarted process joined.
    joined_in: Option<Duration>,
    /// Start of the timed calls, and the CPU time used before.
    begin: Instant,
    cpu_s: f64,
}

impl<'a> Measurement<'a> {
    pub fn new(args: &'a JobArgs, engine: &mut Engine, is_late: bool, bytes: usize) -> Result<Self, String> {
        let rank = engine.rank();
        let pattern: Vec<f32> = (0..1000).map(|i| ((i * 31 + rank * 7) % 1000) as f32 * 1e-3 - 0.5).collect();
        let buckets = usize::from(args.in_flight);
        let mut memory =
            (0..buckets).map(|_| engine.memory(bytes / 4 / buckets)).collect::<Result<Vec<Memory>, String>>()?;
        memory.iter_mut().try_for_each(|memory| memory.fill(&pattern))?;
        let (seen, begin, cpu_s) = (Seen::default(), Instant::now(), cpu_s());
        Ok(Self { args, is_late, memory, seen, joined_in: None, begin, cpu_s })
    }

    /// Makes the call with which a restarted process joins. Returns the other ranks' progress.
    pub fn join(&mut self, engine: &mut Engine) -> Result<Progress, String> {
        let call = Instant::now();
        let joined = self.all_reduce(engine)?;
        if joined != Some(engine.rank()) {
            return Err("this rank did not join with its first collective".into());
        }
        self.joined_in = Some(call.elapsed());
        let progress = exchange(engine, None)?;
        // A call's time is the slowest rank's, so 0 leaves earlier calls to the other ranks.
        self.seen.ms.resize(if progress.is_timed { progress.calls } else { 0 }, 0.0);
        Ok(progress)
    }

    pub fn run(mut self, engine: &mut Engine, mut progress: Progress) -> Result<Seen, String> {
        let mut is_over = match self.joined_in.take() {
            Some(took) => self.account(engine, &mut progress, took)?,
            None => false,
        };
        while !is_over {
            is_over = self.step(engine, &mut progress)?;
        }
        self.finish(engine)
    }

    fn step(&mut self, engine: &mut Engine, progress: &mut Progress) -> Result<bool, String> {
        if progress.is_timed {
            if !self.args.back_to_back {
                engine.barrier()?;
            }
            if self.is_late {
                std::thread::sleep(Duration::from_secs_f64(self.args.straggler_ms / 1000.0));
            }
        }
        let call = Instant::now();
        let joined = self.all_reduce(engine)?;
        let took = call.elapsed();
        if joined.is_some() {
            exchange(engine, Some(*progress))?;
        }
        self.account(engine, progress, took)
    }

    fn all_reduce(&mut self, engine: &mut Engine) -> Result<Option<usize>, String> {
        match &mut self.memory[..] {
            [memory] => engine.all_reduce(memory, &mut self.seen),
            several => engine.all_reduce_at_once(several, &mut self.seen),
        }
    }

    /// Returns whether this call was the last one.
    fn account(&mut self, engine: &mut Engine, progress: &mut Progress, took: Duration) -> Result<bool, String> {
        progress.calls += 1;
        if progress.is_timed {
            self.seen.ms.push(took.as_secs_f64() * 1000.0);
        }
        if progress.calls < progress.decides_at {
            return Ok(false);
        }
        if !progress.is_timed {
            // Early calls touch new pages and paths, and may still measure bounds: one, or several
            // on two levels. A decision is slow with many ranks, so it does not follow every call.
            progress.decides_at = progress.calls + CALLS_A_ROUND;
            // A bound that needs its maximum counts as being measured for ever.
            let is_slow = progress.calls >= WARM_UP_CALLS && self.begin.elapsed() > WARM_UP_MAX;
            let measuring = self.seen.measuring_bound && !is_slow;
            let all = engine.all_gather_bytes(&[u8::from(measuring)])?;
            if !all.contains(&vec![1]) || progress.calls >= WARM_UP_CALLS_MAX {
                *progress = Progress { is_timed: true, decides_at: CALLS_A_ROUND, ..Progress::at(progress.size) };
                (self.seen, self.begin, self.cpu_s) = (Seen::default(), Instant::now(), cpu_s());
            }
            return Ok(false);
        }
        let (calls, secs) = (progress.calls, self.begin.elapsed().as_secs_f64());
        let enough = calls >= CALLS_MIN && secs >= self.args.secs || calls >= CALLS_MAX || secs >= 4.0 * self.args.secs;
        // At most double the number of calls, since the first ones may have been slow.
        let fit = (calls as f64 * (self.args.secs / secs - 1.0)) as usize;
        let more = if enough { 0 } else { fit.clamp(CALLS_A_ROUND, calls) };
        let all = engine.all_gather_bytes(&(more as u32).to_le_bytes())?;
        // The lowest remaining rank decides.
        let told =
            all.iter().find_map(|told| told.first_chunk()).ok_or("no rank is left to decide on the next call")?;
        let more = u32::from_le_bytes(*told) as usize;
        progress.decides_at += more;
        Ok(more == 0)
    }

    fn finish(mut self, engine: &mut Engine) -> Result<Seen, String> {
        self.seen.cpu_s = cpu_s() - self.cpu_s;
        self.seen.memory_mb = memory_mb();
        let metrics = engine.metrics()?;
        self.seen.unsent_packets += metrics.unsent.total();
        self.seen.forged_packets += metrics.seal_drops.forged;
        self.seen.replayed_packets += metrics.seal_drops.replayed;
        Ok(self.seen)
    }
}

/// Exchanges the progress after a rank has joined. `own`: `None` on that rank.
fn exchange(engine: &mut Engine, own: Option<Progress>) -> Result<Progress, String> {
    let own = own.map_or(Ok(Vec::new()), |own| serde_json::to_vec(&own)).map_err(|error| error.to_string())?;
    let all = engine.all_gather_bytes(&own)?;
    let told = all.iter().find(|told| !told.is_empty()).ok_or("no rank is left to report the progress")?;
    serde_json::from_slice(told).map_err(|error| format!("progress of the other ranks: {error}"))
}

/// CPU time of this process, user and kernel, of all threads.
fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Peak memory of this process in MB. Pages that local ranks share count in proportion.
fn memory_mb() -> f64 {
    let field = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let kb = |line: &str| line.strip_prefix(name)?.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok();
        text.lines().find_map(kb).unwrap_or(0.0)
    };
    let [all, share] = ["Rss:", "Pss:"].map(|name| field("/proc/self/smaps_rollup", name));
    (field("/proc/self/status", "VmHWM:") - (all - share)) / 1000.0
}
