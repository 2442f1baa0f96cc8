//! What is timed of a size: calls that warm up, then calls that count, until the lowest rank has seen enough.
//!
//! All ranks make the same calls in the same order, also those over the control channel: where a process that was started again
//! comes in, the others tell it where they are ([`Progress`]), and it goes on there.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::args::JobArgs;
use crate::engine::{Engine, Memory, Seen};

/// Most calls before those that are timed: a bound takes 20 or a few more, after which time may run out too.
const WARM_UP_CALLS_MAX: usize = 100;
const WARM_UP_CALLS: usize = 25;
const WARM_UP_MAX: Duration = Duration::from_secs(5);
/// Fewest calls between two decisions whether to go on, for which all ranks wait for one another.
const CALLS_A_ROUND: usize = 5;
/// Fewest calls of a size.
const CALLS_MIN: usize = 20;
/// Most calls of a size.
const CALLS_MAX: usize = 20_000;

/// How far the ranks are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Which of the sizes is measured.
    pub size: usize,
    /// Whether calls are timed yet.
    is_timed: bool,
    /// Calls made so far, of those that are timed or of those that are not.
    calls: usize,
    /// After how many it is decided whether to go on.
    decides_at: usize,
}

impl Progress {
    /// At the beginning of a size.
    pub fn at(size: usize) -> Self {
        // What the first one takes says whether there is time for more.
        Self { size, decides_at: 1, ..Self::default() }
    }
}

/// One size on one rank.
pub struct Measurement<'a> {
    args: &'a JobArgs,
    is_late: bool,
    /// Of the buckets that are in flight at once.
    memory: Vec<Memory>,
    seen: Seen,
    /// How long the call took in which this process joined, if it was started again.
    joined_in: Option<Duration>,
    /// When calls began to be timed, and the CPU time until then.
    begin: Instant,
    cpu_s: f64,
}

impl<'a> Measurement<'a> {
    /// # Errors
    /// If there is not so much memory.
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

    /// Of a process that was started again: makes the call in which it joins, with the others. How far they are.
    pub fn join(&mut self, engine: &mut Engine) -> Result<Progress, String> {
        let call = Instant::now();
        let joined = self.all_reduce(engine)?;
        if joined != Some(engine.rank()) {
            return Err("its first collective is not the one in which the others let it join".into());
        }
        self.joined_in = Some(call.elapsed());
        let progress = exchange(engine, None)?;
        // Calls without it took others as long as they say.
        self.seen.ms.resize(if progress.is_timed { progress.calls } else { 0 }, 0.0);
        Ok(progress)
    }

    /// Measures until the lowest rank has seen enough.
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

    /// Makes a call; whether it was the last one.
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

    /// Takes a call that was made; whether it was the last one.
    fn account(&mut self, engine: &mut Engine, progress: &mut Progress, took: Duration) -> Result<bool, String> {
        progress.calls += 1;
        if progress.is_timed {
            self.seen.ms.push(took.as_secs_f64() * 1000.0);
        }
        if progress.calls < progress.decides_at {
            return Ok(false);
        }
        if !progress.is_timed {
            // Pages and paths are new, and the bound may still be measured. The ranks of two levels measure several. What all ranks
            // tell one another takes long where there are many.
            progress.decides_at = progress.calls + CALLS_A_ROUND;
            // Where the longest bound is the one to have, it counts as being measured for good.
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
        // At most as many as have been made: the first ones may have been slow.
        let fit = (calls as f64 * (self.args.secs / secs - 1.0)) as usize;
        let more = if enough { 0 } else { fit.clamp(CALLS_A_ROUND, calls) };
        let all = engine.all_gather_bytes(&(more as u32).to_le_bytes())?;
        // The lowest rank that is still there decides.
        let told =
            all.iter().find_map(|told| told.first_chunk()).ok_or("no rank is left that says what is measured")?;
        let more = u32::from_le_bytes(*told) as usize;
        progress.decides_at += more;
        Ok(more == 0)
    }

    fn finish(mut self, engine: &mut Engine) -> Result<Seen, String> {
        self.seen.cpu_s = cpu_s() - self.cpu_s;
        self.seen.memory_mb = memory_mb();
        let mut failed = None;
        engine.each_communicator(|communicator| match communicator.metrics() {
            Ok(metrics) => {
                self.seen.unsent_packets += metrics.unsent.total();
                self.seen.forged_packets += metrics.seal_drops.forged;
                self.seen.replayed_packets += metrics.seal_drops.replayed;
            }
            Err(error) => failed = Some(error.to_string()),
        });
        failed.map_or(Ok(self.seen), Err)
    }
}

/// A rank has joined: the others say how far they are. `own`: of a rank that knows it.
fn exchange(engine: &mut Engine, own: Option<Progress>) -> Result<Progress, String> {
    let own = own.map_or(Ok(Vec::new()), |own| serde_json::to_vec(&own)).map_err(|error| error.to_string())?;
    let all = engine.all_gather_bytes(&own)?;
    let told = all.iter().find(|told| !told.is_empty()).ok_or("no rank is left that says what is measured")?;
    serde_json::from_slice(told).map_err(|error| format!("how far the others are: {error}"))
}

/// CPU time of this process so far, its threads and the kernel's work for them.
fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The most memory that this process has had. Of pages that several processes have, such as those that ranks of a host read of one another, its
/// share, as of now.
fn memory_mb() -> f64 {
    let field = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let kb = |line: &str| line.strip_prefix(name)?.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok();
        text.lines().find_map(kb).unwrap_or(0.0)
    };
    let [all, share] = ["Rss:", "Pss:"].map(|name| field("/proc/self/smaps_rollup", name));
    (field("/proc/self/status", "VmHWM:") - (all - share)) / 1000.0
}
