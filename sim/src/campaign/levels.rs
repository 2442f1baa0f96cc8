//! Jobs on two levels: each rank drives the three communicators of
//! [`optireduce_core::levels`] over a lossy network.
//!
//! The judge adds up what each rank applies, settles, and compares the sums of all ranks. They may
//! differ only in as many bytes as are reported as drift.
//!
//! Limits: no cards and no crashes, since the end of a rank ends such a job.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use optireduce_core::levels::{Deferred, ShardState, Shards, action, settled};
use optireduce_core::protocol::{EarlyRule, JobParams, Kind, Report, UpdateAction};
use optireduce_core::software::{Batch, Software, SoftwareJob, Transmit};
use optireduce_core::{Call, Collectives, CollectivesError, DataPlane, Finished, Repair};

use super::judge::{JudgeKind, Violation};
use super::tally::Tally;
use super::values::LANES;
use crate::random::Random;

/// Communicators of a rank, in the order of the steps.
const STEPS: usize = 3;
const SETTLE_NS: u64 = 5_000_000_000;
const JOB_NS: u64 = 60_000_000_000;
/// Sums of at most 40 updates in fp32.
const ROUNDING: f64 = 1e-4;

type Engine = Collectives<Software>;
type EngineError = CollectivesError<<Software as DataPlane>::Error>;

/// Part of the outcome that a test leaves out, so that the judge must object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code, reason = "planted by tests"))]
pub(super) enum Omitted {
    Deferred,
    Averages,
    Gathered,
}

struct Plan {
    members: usize,
    groups: usize,
    elements: usize,
    calls: u32,
    bound_ns: u64,
    loss: f64,
    delay_ns: (u64, u64),
    control_ns: (u64, u64),
    pause_ns: u64,
    /// Time during which a rank does nothing.
    frozen: Option<(usize, Range<u64>)>,
}

impl Plan {
    fn draw(random: &mut Random) -> Self {
        let (members, groups) = (random.between(2, 4) as usize, random.between(2, 3) as usize);
        let (bound_ns, calls) = (random.one_of(&[300_000, 1_000_000, 5_000_000]), random.between(5, 40) as u32);
        let begin = random.below(u64::from(calls) * bound_ns);
        let lasts_ns = random.between(1, 10 * bound_ns);
        let frozen =
            random.chance(0.4).then(|| (random.below((members * groups) as u64) as usize, begin..begin + lasts_ns));
        Self {
            members,
            groups,
            elements: random.between(1, 3000) as usize,
            calls,
            bound_ns,
            loss: random.one_of(&[0.0, 0.01, 0.05, 0.1, 0.3]),
            delay_ns: random.one_of(&[(1000, 30_000), (1000, 150_000)]),
            // Repairs arrive before the waits of a step end, or long after.
            control_ns: random.one_of(&[(20_000, 200_000), (bound_ns, 30 * bound_ns)]),
            pause_ns: random.one_of(&[20_000, 1_000_000]),
            frozen,
        }
    }

    fn ranks(&self) -> usize {
        self.members * self.groups
    }

    /// Ranks of the communicator of a step, and this rank's place in it.
    fn place(&self, rank: usize, step: usize) -> (Vec<usize>, usize) {
        let (group, member) = (rank / self.members, rank % self.members);
        if step == 1 {
            return ((0..self.groups).map(|group| group * self.members + member).collect(), group);
        }
        ((0..self.members).map(|member| group * self.members + member).collect(), member)
    }

    fn is_frozen(&self, rank: usize, at_ns: u64) -> bool {
        self.frozen.as_ref().is_some_and(|(of, during)| *of == rank && during.contains(&at_ns))
    }
}

struct Rank {
    engines: Vec<Engine>,
    deferred: Deferred,
    sums: Vec<f64>,
    /// Call and step that run; `STEPS` if the next call is due at `next_ns`.
    call: u32,
    step: usize,
    next_ns: u64,
    halts: bool,
    arrived: VecDeque<Arrival>,
}

/// Step, sender's place, and bytes.
enum Arrival {
    Datagram(usize, usize, Vec<u8>),
    Control(usize, usize, Vec<u8>),
}

/// Runs the job of a seed and returns the objection of the judge.
pub(super) fn run(seed: u64, omitted: Option<Omitted>, tally: &mut Tally) -> Option<Violation> {
    let mut random = Random::new(seed, 20);
    let plan = Plan::draw(&mut random);
    let violation = |judge, rank, at_ns, text: String| {
        let text = format!("two levels of {} groups of {}: {text}", plan.groups, plan.members);
        Some(Violation { judge, rank, at_ns, text })
    };
    let mut job = match Job::new(seed, &plan, random) {
        Ok(job) => job,
        Err(error) => return violation(JudgeKind::Sound, None, 0, error.to_string()),
    };
    let ended = job.run();
    tally.collectives += u64::from(plan.calls);
    tally.results += job.results;
    tally.lossy += job.lossy;
    tally.skipped += job.skipped;
    if let Err((judge, rank, text)) = ended.and_then(|()| job.judge(omitted)) {
        return violation(judge, rank, job.now_ns, text);
    }
    None
}

type Objection = (JudgeKind, Option<usize>, String);

struct Job<'a> {
    plan: &'a Plan,
    seed: u64,
    random: Random,
    shards: Shards,
    now_ns: u64,
    ranks: Vec<Rank>,
    /// Arrivals by time and number.
    flights: BTreeMap<(u64, u64), (usize, Arrival)>,
    sent: u64,
    results: u64,
    lossy: u64,
    skipped: u64,
}

impl<'a> Job<'a> {
    fn new(seed: u64, plan: &'a Plan, mut random: Random) -> Result<Self, EngineError> {
        let shards = Shards::new(plan.elements, plan.members);
        let early = random.chance(0.5).then_some(EarlyRule { grace_ns: 20_000 });
        let mut ranks = Vec::new();
        for rank in 0..plan.ranks() {
            let engines = (0..STEPS).map(|step| {
                let (ranks, own) = plan.place(rank, step);
                let tag = seed << 8 | (step * plan.ranks() + ranks[0]) as u64 | 1 << 63;
                let job = SoftwareJob { slots: 8, ..SoftwareJob::new(own, ranks.len(), tag, 8) };
                let plane = Software::new(job).map_err(CollectivesError::Plane)?;
                let limits = plane.limits();
                let params = JobParams {
                    window_beats_max: 64,
                    early,
                    stage_slack_ns: 10_000_000_000,
                    ..JobParams::new(own, ranks.len(), 8, plan.bound_ns, &limits)
                };
                let mut engine = Collectives::new(plane, params)?;
                engine.repair();
                engine.compare_calls(plan.bound_ns);
                Ok(engine)
            });
            ranks.push(Rank {
                engines: engines.collect::<Result<_, EngineError>>()?,
                deferred: Deferred::new(plan.elements),
                sums: vec![0.0; plan.elements],
                call: 0,
                step: STEPS,
                next_ns: random.below(plan.pause_ns),
                halts: false,
                arrived: VecDeque::new(),
            });
        }
        let (flights, sent) = (BTreeMap::new(), 0);
        Ok(Self { plan, seed, random, shards, now_ns: 0, ranks, flights, sent, results: 0, lossy: 0, skipped: 0 })
    }

    fn gradient(&self, rank: usize, call: u32) -> Vec<f32> {
        let mut random = Random::new(self.seed ^ u64::from(call) << 32, 21 + rank as u64);
        (0..self.plan.elements).map(|_| random.below(1 << 12) as f32 + 1.0).collect()
    }

    fn call_of(&self, step: usize, elements: usize) -> Call {
        let kind = [Kind::ReduceScatter, Kind::AllReduce, Kind::AllGather][step];
        Call { adds_up: step == 2, repair: Repair::ThisUpdate, ..Call::declared(kind, 0, elements, 0) }
    }

    /// Elements of each step's bucket; no second step for an empty shard.
    fn elements(&self, rank: usize, step: usize) -> usize {
        match step {
            0 => self.plan.elements,
            1 => self.shards.shard_of(rank % self.plan.members).len(),
            _ => self.shards.gathered_elements(),
        }
    }

    fn run(&mut self) -> Result<(), Objection> {
        let (mut done_ns, mut wakes) = (None, vec![0; self.plan.ranks()]);
        loop {
            for (rank, wake_ns) in wakes.iter_mut().enumerate() {
                if self.now_ns >= *wake_ns && !self.plan.is_frozen(rank, self.now_ns) {
                    self.serve(rank)?;
                }
                *wake_ns = self.wake_ns(rank);
            }
            let is_done = self.ranks.iter().all(|one| one.call == self.plan.calls);
            if is_done {
                let since_ns = *done_ns.get_or_insert(self.now_ns);
                if self.is_repaired() || self.now_ns > since_ns + SETTLE_NS {
                    return Ok(());
                }
            }
            let arrival_ns = self.flights.first_key_value().map(|((at_ns, _), _)| *at_ns);
            let next_ns = wakes.iter().copied().chain(arrival_ns).min().unwrap_or(u64::MAX);
            if next_ns > JOB_NS {
                let steps: Vec<_> = self.ranks.iter().map(|one| (one.call, one.step)).collect();
                return Err((
                    JudgeKind::Returns,
                    None,
                    format!("the job does not end; calls and steps of the ranks: {steps:?}"),
                ));
            }
            self.now_ns = next_ns.max(self.now_ns + 1);
            while let Some(first) = self.flights.first_entry().filter(|first| first.key().0 <= self.now_ns) {
                let (to, arrival) = first.remove();
                self.ranks[to].arrived.push_back(arrival);
                wakes[to] = self.now_ns;
            }
        }
    }

    fn wake_ns(&self, rank: usize) -> u64 {
        let one = &self.ranks[rank];
        let planes = one.engines.iter().filter_map(|engine| engine.plane().next_timeout());
        let timers = one.engines.iter().filter_map(Engine::next_timeout).chain(planes);
        let due = (one.step == STEPS && one.call < self.plan.calls).then_some(one.next_ns);
        let at_ns = timers.chain(due).min().unwrap_or(u64::MAX).max(self.now_ns + 1);
        match &self.plan.frozen {
            Some((of, during)) if *of == rank && during.contains(&at_ns) => during.end,
            _ => at_ns,
        }
    }

    fn is_repaired(&self) -> bool {
        let streams =
            |rank: usize| [1, 2].map(|step| (step, self.call_of(step, self.elements(rank, step)).stream_id()));
        let engines = self.ranks.iter().enumerate().flat_map(|(rank, one)| streams(rank).map(|of| (one, of)));
        engines
            .into_iter()
            .all(|(one, (step, stream))| stream.is_none_or(|stream| one.engines[step].is_repaired(stream)))
    }

    fn serve(&mut self, rank: usize) -> Result<(), Objection> {
        let (now_ns, failed) = (self.now_ns, |error: EngineError| (JudgeKind::Sound, Some(rank), error.to_string()));
        for arrival in std::mem::take(&mut self.ranks[rank].arrived) {
            match arrival {
                Arrival::Datagram(step, from, datagram) => {
                    let plane = self.ranks[rank].engines[step].plane_mut();
                    plane.set_now(now_ns);
                    plane.handle_datagram(Some(from), &datagram);
                }
                // May answer a repair abandoned in the meantime.
                Arrival::Control(step, from, message) => {
                    let _ = self.ranks[rank].engines[step].handle_message(now_ns, from, &message);
                }
            }
        }
        loop {
            if self.ranks[rank].step == STEPS
                && self.ranks[rank].call < self.plan.calls
                && now_ns >= self.ranks[rank].next_ns
            {
                self.ranks[rank].step = 0;
                self.begin(rank, self.gradient(rank, self.ranks[rank].call)).map_err(failed)?;
            }
            let mut has_finished = false;
            for step in 0..STEPS {
                let engine = &mut self.ranks[rank].engines[step];
                engine.plane_mut().advance(now_ns);
                engine.handle_timeout(now_ns);
                if let Some(finished) = engine.poll(now_ns).map_err(failed)? {
                    has_finished = true;
                    self.finished(rank, step, finished).map_err(failed)?;
                }
                self.send(rank, step);
            }
            if !has_finished {
                return Ok(());
            }
        }
    }

    fn begin(&mut self, rank: usize, given: Vec<f32>) -> Result<(), EngineError> {
        let step = self.ranks[rank].step;
        let call = self.call_of(step, self.elements(rank, step));
        let engine = &mut self.ranks[rank].engines[step];
        let op = engine.prepare_call(self.now_ns, call)?;
        engine.start(self.now_ns, op, given)
    }

    fn finished(&mut self, rank: usize, step: usize, finished: Finished) -> Result<(), EngineError> {
        let Finished { report, result, .. } = finished;
        let one = &mut self.ranks[rank];
        one.halts = one.halts && step > 0 || report.action == UpdateAction::Halt;
        let has_shard = !self.shards.shard_of(rank % self.plan.members).is_empty();
        match step {
            0 if has_shard => {
                one.step = 1;
                self.begin(rank, result.into_vec())
            }
            0 | 1 => {
                one.step = 2;
                let (shard, state) = match step {
                    0 => (Vec::new(), ShardState::Whole),
                    _ => (result.into_vec(), ShardState::of(report.action, report.missing_ranges())),
                };
                let given = self.shards.pack(&shard, state);
                self.begin(rank, given)
            }
            _ => {
                self.apply(rank, &result, &report);
                Ok(())
            }
        }
    }

    fn apply(&mut self, rank: usize, gathered: &[f32], report: &Report) {
        let missing = self.shards.missing(gathered, report.missing_ranges());
        let one = &mut self.ranks[rank];
        let mut update = vec![0.0; self.plan.elements];
        self.shards.unpack(gathered, &mut update);
        self.results += 1;
        self.lossy += u64::from(!missing.is_empty());
        if action(self.plan.elements, &missing, one.halts) == UpdateAction::Apply {
            one.deferred.fold(&mut update);
            one.sums.iter_mut().zip(&update).for_each(|(sum, value)| *sum += f64::from(*value));
        } else {
            self.skipped += 1;
            one.deferred.defer(&update);
        }
        (one.step, one.call) = (STEPS, one.call + 1);
        one.next_ns = self.now_ns + self.random.below(self.plan.pause_ns);
    }

    fn send(&mut self, rank: usize, step: usize) {
        let (ranks, own) = self.plan.place(rank, step);
        let mut out = Vec::new();
        let engine = &mut self.ranks[rank].engines[step];
        let mut sent = Vec::new();
        while let Some(transmit) = engine.plane_mut().poll_transmit(Batch { segments_max: 4, bytes_max: 65_000 }) {
            transmit.copy_to(&mut out);
            let Transmit { to, segment_bytes, .. } = transmit;
            sent.extend(
                out.chunks(segment_bytes).map(|datagram| (to, Arrival::Datagram(step, own, datagram.to_vec()))),
            );
        }
        while let Some((to, message)) = engine.poll_message() {
            sent.push((to, Arrival::Control(step, own, message)));
        }
        for (to, arrival) in sent {
            let is_datagram = matches!(arrival, Arrival::Datagram(..));
            if is_datagram && self.random.chance(self.plan.loss) {
                continue;
            }
            let (from_ns, to_ns) = if is_datagram { self.plan.delay_ns } else { self.plan.control_ns };
            let at_ns = self.now_ns + self.random.between(from_ns, to_ns);
            self.sent += 1;
            self.flights.insert((at_ns, self.sent), (ranks[to], arrival));
        }
    }

    /// Settles all ranks and compares their sums.
    fn judge(&mut self, omitted: Option<Omitted>) -> Result<(), Objection> {
        if !self.is_repaired() {
            return Err((JudgeKind::Replicas, None, "repairs are still outstanding".into()));
        }
        let ranks = self.plan.ranks();
        let (mut averages, mut drift) = (Vec::new(), vec![0; ranks]);
        for (rank, drift) in drift.iter_mut().enumerate() {
            let stream = self.call_of(1, self.elements(rank, 1)).stream_id();
            let engine = &mut self.ranks[rank].engines[1];
            averages.push(stream.and_then(|stream| engine.take_correction(stream)));
            *drift = stream.and_then(|stream| engine.repaired_of(stream.bucket)).map_or(0, |report| report.drift_bytes);
        }
        if omitted == Some(Omitted::Averages) {
            averages.fill(None);
        }
        let mut drifts = Vec::new();
        for rank in 0..ranks {
            let (group, _) = self.plan.place(rank, 2);
            let averaged: Vec<_> = group.iter().map(|rank| averages[*rank].clone()).collect();
            let stream = self.call_of(2, self.elements(rank, 2)).stream_id();
            let one = &mut self.ranks[rank];
            let mut gathered = stream.and_then(|stream| one.engines[2].take_correction(stream));
            let mut deferred = one.deferred.take();
            match omitted {
                Some(Omitted::Gathered) => gathered = None,
                Some(Omitted::Deferred) => deferred = None,
                _ => {}
            }
            if let Some(correction) = settled(&self.shards, &averaged, gathered.as_deref(), deferred) {
                one.sums.iter_mut().zip(&correction).for_each(|(sum, value)| *sum += f64::from(*value));
            }
            let of_gather = stream.and_then(|stream| one.engines[2].repaired_of(stream.bucket));
            let of_group: u64 = group.iter().map(|rank| drift[*rank]).sum();
            drifts.push(of_group + of_gather.map_or(0, |report| report.drift_bytes) + one.deferred.drift_bytes());
        }
        for rank in 1..ranks {
            let pairs = self.ranks[rank].sums.iter().zip(&self.ranks[0].sums);
            let differ = pairs.clone().filter(|(sum, of_0)| (*sum - *of_0).abs() > ROUNDING * of_0.abs().max(1.0));
            let (lost, reported) = (4 * differ.count() as u64, drifts[rank] + drifts[0]);
            if lost > reported {
                let at = pairs.clone().position(|(sum, of_0)| (sum - of_0).abs() > ROUNDING * of_0.abs().max(1.0));
                let (sum, of_0) = at.and_then(|at| pairs.clone().nth(at)).unwrap_or((&0.0, &0.0));
                let text = format!(
                    "the sums of {lost} bytes differ from those of rank 0, {reported} bytes are reported as drift; beat {:?}: {sum}, \
                     on rank 0 {of_0}",
                    at.map(|at| at / LANES)
                );
                return Err((JudgeKind::Replicas, Some(rank), text));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOBS: u64 = 200;

    #[test]
    fn sums_of_all_ranks_are_equal_once_they_have_settled() {
        let mut tally = Tally::default();
        for seed in 0..JOBS {
            let violation = run(seed, None, &mut tally);
            assert_eq!(violation, None, "seed {seed}");
        }
        assert!(tally.lossy > 100 && tally.skipped > 100, "{tally:?}");
    }

    #[test]
    fn the_judge_objects_to_each_part_that_is_left_out() {
        for omitted in [Omitted::Deferred, Omitted::Averages, Omitted::Gathered] {
            let objects = |seed| {
                let violation = run(seed, Some(omitted), &mut Tally::default());
                violation.is_some_and(|violation| violation.judge == JudgeKind::Replicas)
            };
            assert!((0..JOBS).any(objects), "{omitted:?}");
        }
    }
}
