//! Ranks that lose parts of means, skip updates and repair, with messages of any latency.

use super::*;
use crate::levels::union;
use crate::protocol::membership::Settings;
use crate::protocol::{JobParams, PlaneLimits, Ranks, plan_windows};
use optireduce_contract::signs::splitmix64;

const RANKS: usize = 3;
const LIMITS: PlaneLimits =
    PlaneLimits { slots: 8, window_beats_max: 64, hadamard_log2_max: 10, ranks_max: 64, payload_beats_max: 139 };

struct Draw(u64, u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.1 += 1;
        splitmix64(self.0 << 24 | self.1) % end
    }

    /// A multiple of 2^-10 up to 1, so that sums in f64 are exact.
    fn value(&mut self) -> f32 {
        (self.below(2049) as f32 - 1024.0) / 1024.0
    }
}

fn view() -> View {
    View::first(Ranks::all(RANKS), Settings::first(1))
}

struct Op {
    op: u32,
    plans: Vec<WindowPlan>,
    wire: Vec<Vec<f32>>,
}

impl Op {
    fn new(draw: &mut Draw, op: u32, bucket: u16, elements: usize, hadamard: bool) -> Self {
        let params = JobParams { job_seed: 5, ..JobParams::new(0, RANKS, 4, 1, &LIMITS) };
        let plans = plan_windows(&params, op, bucket, elements, hadamard).unwrap();
        // The padding of the last beat is zero.
        let value = |plan: &WindowPlan, index: usize, draw: &mut Draw| {
            if plan.hadamard || index < plan.elements { draw.value() } else { 0.0 }
        };
        let window =
            |plan: &WindowPlan, draw: &mut Draw| (0..plan.beats * LANES).map(|at| value(plan, at, draw)).collect();
        let wire = plans.iter().map(|plan| window(plan, draw)).collect();
        Self { op, plans, wire }
    }

    fn output(&self, present: &[Vec<u64>]) -> Vec<f32> {
        let mut output = vec![0.0; self.plans.iter().map(|plan| plan.elements).sum()];
        for ((plan, wire), present) in self.plans.iter().zip(&self.wire).zip(present) {
            decode_window(plan, wire, present, &mut output[plan.first_element..][..plan.elements]);
        }
        output
    }

    fn whole(&self) -> Vec<Vec<u64>> {
        self.plans.iter().map(|plan| vec![u64::MAX; plan.beats.div_ceil(64)]).collect()
    }

    /// Closes all windows at a rank with these beats. Returns its output before repairs.
    fn close(&self, repairs: &mut Repairs, rank: usize, stream: Option<StreamId>, present: &[Vec<u64>]) -> Vec<f32> {
        let mut incomplete = Vec::new();
        for ((plan, wire), present) in self.plans.iter().zip(&self.wire).zip(present) {
            let shard = plan.shards.range_of(rank);
            repairs.keep(self.op, rank, plan, &wire[shard.start * LANES..shard.end * LANES], Some(present));
            if (0..plan.beats).any(|beat| present[beat / 64] >> (beat % 64) & 1 == 0) {
                let mut gathered = if plan.hadamard { wire.clone() } else { Vec::new() };
                let missing = |beat: usize| present[beat / 64] >> (beat % 64) & 1 == 0;
                gathered
                    .chunks_mut(LANES)
                    .enumerate()
                    .filter(|(beat, _)| missing(*beat))
                    .for_each(|(_, beat)| beat.fill(9.0));
                incomplete.push((plan.clone(), Incomplete { gathered, present: present.clone() }));
            }
        }
        repairs.begin(self.op, &view(), rank, stream, incomplete);
        self.output(present)
    }
}

fn losses(draw: &mut Draw, plans: &[WindowPlan], rank: usize) -> Vec<Vec<u64>> {
    let mut window = |plan: &WindowPlan| {
        let own = plan.shards.range_of(rank);
        let mut present = vec![0; plan.beats.div_ceil(64)];
        (0..plan.beats).filter(|beat| own.contains(beat) || draw.below(8) > 0).for_each(|beat| set(&mut present, beat));
        present
    };
    plans.iter().map(&mut window).collect()
}

#[derive(Default)]
struct Channels(BTreeMap<(usize, usize), VecDeque<RepairMessage>>, bool);

impl Channels {
    fn collect(&mut self, ranks: &mut [Repairs]) {
        for (from, rank) in ranks.iter_mut().enumerate() {
            while let Some((to, message)) = rank.poll() {
                assert_ne!(from, to);
                self.0.entry((from, to)).or_default().push_back(message);
            }
        }
    }

    fn deliver(&mut self, draw: &mut Draw, ranks: &mut [Repairs], what: &str) -> bool {
        self.collect(ranks);
        let waiting: Vec<_> = self.0.iter().filter(|(_, queue)| !queue.is_empty()).map(|(pair, _)| *pair).collect();
        let Some(&(from, to)) = waiting.get(draw.below(waiting.len().max(1) as u64) as usize) else { return false };
        let message = self.0.get_mut(&(from, to)).and_then(VecDeque::pop_front).unwrap();
        // A cancelled update needs no repair: answers already sent are then unexpected.
        let result = ranks[to].handle(from, message);
        assert!(result.is_ok() || self.1, "{what}: {result:?}");
        true
    }
}

#[test]
fn outputs_and_corrections_add_up_to_the_means_whatever_was_lost_skipped_or_late() {
    let (mut corrected, mut skipped, mut outstanding) = (0, 0, 0);
    for seed in 0..300 {
        let draw = &mut Draw(seed, 0);
        let (elements, hadamard) = (1 + draw.below(3000) as usize, draw.below(2) == 0);
        let what = format!("seed {seed}: {elements} elements, hadamard {hadamard}");
        let stream = StreamId { bucket: 4, generation: 0, elements };
        let mut ranks: Vec<Repairs> = (0..RANKS).map(|_| Repairs::new(0)).collect();
        let (mut channels, mut sums) = (Channels(BTreeMap::new(), true), vec![vec![0.0f64; elements]; RANKS]);
        let mut means = vec![0.0f64; elements];
        let add = |sum: &mut Vec<f64>, values: &[f32]| {
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += f64::from(*value));
        };
        let count = 1 + draw.below(8) as u32;
        let ops: Vec<Op> = (0..count).map(|op| Op::new(draw, op, stream.bucket, elements, hadamard)).collect();
        let cancelled: Vec<bool> = ops.iter().map(|_| draw.below(6) == 0).collect();
        for (op, _) in ops.iter().zip(&cancelled).filter(|(_, cancelled)| !**cancelled) {
            add(&mut means, &op.output(&op.whole()));
        }
        // Ranks progress independently.
        let mut done = [0; RANKS];
        while done.iter().any(|done| *done < ops.len()) {
            let rank = draw.below(RANKS as u64) as usize;
            let Some(op) = ops.get(done[rank]) else { continue };
            let present = losses(draw, &op.plans, rank);
            let repairs = &mut ranks[rank];
            let mut output = op.close(repairs, rank, Some(stream), &present);
            for _ in 0..draw.below(6) {
                channels.deliver(draw, &mut ranks, &what);
            }
            let outcome = match draw.below(4) {
                _ if cancelled[done[rank]] => Outcome::Cancel,
                0 => Outcome::Skip,
                _ => Outcome::Apply,
            };
            let before = ranks[rank].outstanding_elements(stream);
            let missing = ranks[rank].finish(op.op, outcome, Some(stream), &mut output);
            if outcome == Outcome::Apply {
                let all = union([before, missing.clone()].concat());
                assert_eq!(ranks[rank].outstanding_elements(stream), all, "{what}");
                outstanding += u32::from(!missing.is_empty());
            }
            let is_missing = |at: &usize| missing.iter().any(|range| range.contains(at));
            let whole = op.output(&op.whole());
            for at in (0..elements).filter(|at| !is_missing(at)) {
                assert!((output[at] - whole[at]).abs() < 1e-4, "{what}: element {at} is not missing, and wrong");
            }
            if outcome == Outcome::Apply {
                corrected += u32::from(ranks[rank].fold(stream, &mut output).corrected);
                add(&mut sums[rank], &output);
            }
            skipped += u32::from(outcome == Outcome::Skip);
            done[rank] += 1;
        }
        while channels.deliver(draw, &mut ranks, &what) {}
        for (rank, repairs) in ranks.iter_mut().enumerate() {
            let report = repairs.report();
            assert_eq!((report.outstanding_bytes, report.drift_bytes), (0, 0), "{what}, rank {rank}: {report:?}");
            let lacks = repairs.outstanding_elements(stream);
            assert!(repairs.is_repaired(stream) && lacks.is_empty(), "{what}, rank {rank}: {lacks:?}");
            if let Some(correction) = repairs.take_correction(stream) {
                add(&mut sums[rank], &correction);
            }
            assert!(repairs.is_settled(), "{what}, rank {rank}");
            let apart = sums[rank].iter().zip(&means).fold(0.0, |max, (a, b)| (a - b).abs().max(max));
            // Encoded values are rounded; plain values are exact.
            assert!(apart <= if hadamard { 1e-3 } else { 0.0 }, "{what}, rank {rank}: {apart} apart");
        }
    }
    assert!(corrected > 100 && skipped > 100, "{corrected} outputs corrected, {skipped} updates skipped");
    assert!(outstanding > 100, "{outstanding} outputs with outstanding elements");
}

#[test]
fn a_one_off_collective_says_exactly_what_it_lacks_and_leaves_no_correction() {
    let (mut whole, mut short) = (0, 0);
    for seed in 0..300 {
        let draw = &mut Draw(seed, 1 << 20);
        let (elements, hadamard) = (1 + draw.below(2000) as usize, draw.below(2) == 0);
        let what = format!("seed {seed}: {elements} elements, hadamard {hadamard}");
        let mut ranks: Vec<Repairs> = (0..RANKS).map(|_| Repairs::new(0)).collect();
        let op = Op::new(draw, 0, 4, elements, hadamard);
        let mut channels = Channels::default();
        let mut outputs: Vec<Vec<f32>> = Vec::new();
        for (rank, repairs) in ranks.iter_mut().enumerate() {
            let present = losses(draw, &op.plans, rank);
            outputs.push(op.close(repairs, rank, None, &present));
        }
        let impatient = draw.below(2) == 0;
        for _ in 0..if impatient { draw.below(4) } else { u64::MAX } {
            if !channels.deliver(draw, &mut ranks, &what) {
                break;
            }
        }
        let expected = op.output(&op.whole());
        for (rank, (repairs, output)) in ranks.iter_mut().zip(&mut outputs).enumerate() {
            let is_fetched = repairs.is_fetched(0);
            assert!(is_fetched || impatient, "{what}, rank {rank}");
            let missing = repairs.finish(0, Outcome::Apply, None, output);
            assert_eq!(missing.iter().all(Range::is_empty), is_fetched, "{what}, rank {rank}: {missing:?}");
            for at in (0..elements).filter(|at| !missing.iter().any(|range| range.contains(at))) {
                assert!((output[at] - expected[at]).abs() < 1e-4, "{what}, rank {rank}: element {at}");
            }
            let report = repairs.report();
            assert_eq!((report.outstanding_bytes, report.drift_bytes == 0), (0, is_fetched), "{what}: {report:?}");
            assert!(repairs.is_settled(), "{what}, rank {rank}: it goes into no other output");
            *(if is_fetched { &mut whole } else { &mut short }) += 1;
        }
    }
    assert!(whole > 300 && short > 50, "{whole} whole, {short} short");
}

#[test]
fn what_a_rank_that_is_gone_owned_is_drift_and_waits_for_nobody() {
    for seed in 0..50 {
        let draw = &mut Draw(seed, 2 << 20);
        let elements = 500 + draw.below(2000) as usize;
        let stream = StreamId { bucket: 4, generation: 0, elements };
        let mut repairs = Repairs::new(0);
        let early = draw.below(2) == 0;
        if early {
            repairs.drop_rank(2);
        }
        let op = Op::new(draw, 0, stream.bucket, elements, false);
        let mut present = op.whole();
        let mut lost = 0;
        for (plan, present) in op.plans.iter().zip(&mut present) {
            for beat in plan.shards.range_of(2) {
                present[beat / 64] &= !(1 << (beat % 64));
                lost += 64;
            }
        }
        let mut output = op.close(&mut repairs, 0, Some(stream), &present);
        repairs.finish(0, Outcome::Apply, Some(stream), &mut output);
        if !early {
            assert_eq!((repairs.is_repaired(stream), repairs.report().outstanding_bytes), (false, lost), "seed {seed}");
            repairs.drop_rank(2);
        }
        let report = repairs.report();
        assert_eq!(
            (report.missing_bytes, report.drift_bytes, report.outstanding_bytes),
            (lost, lost, 0),
            "seed {seed}"
        );
        assert!(repairs.is_repaired(stream) && repairs.is_settled(), "seed {seed}");
    }
}

/// A rank whose request is answered before its output is returned must report the elements as
/// missing.
#[test]
fn a_mean_that_nobody_contributed_to_is_missing_wherever_it_is_asked_for() {
    for early in [true, false] {
        let draw = &mut Draw(2, 4 << 20);
        let stream = StreamId { bucket: 4, generation: 0, elements: 900 };
        let mut op = Op::new(draw, 0, stream.bucket, stream.elements, false);
        let plan = op.plans[0].clone();
        let beat = plan.shards.range_of(1).start;
        op.wire[0][beat * LANES..(beat + 1) * LANES].fill(0.0);
        let mut present = op.whole();
        present[0][beat / 64] &= !(1 << (beat % 64));
        let mut ranks: Vec<Repairs> = (0..2).map(|_| Repairs::new(0)).collect();
        let mut outputs: Vec<_> = (0..2).map(|rank| op.close(&mut ranks[rank], rank, Some(stream), &present)).collect();
        let element = plan.first_element + beat * LANES;
        let missing: Vec<_> = std::iter::once(element..element + LANES).collect();
        if !early {
            assert_eq!(ranks[0].finish(0, Outcome::Apply, Some(stream), &mut outputs[0]), missing);
        }
        let (to, request) = ranks[0].poll().unwrap();
        ranks[to].handle(0, request).unwrap();
        let (_, answer) = ranks[to].poll().unwrap();
        ranks[0].handle(to, answer).unwrap();
        for rank in usize::from(!early)..2 {
            let found = ranks[rank].finish(0, Outcome::Apply, Some(stream), &mut outputs[rank]);
            assert_eq!(found, missing, "rank {rank}, answered early: {early}");
        }
        assert_eq!((outputs[0] == outputs[1], ranks[0].report()), (true, RepairReport::default()));
        assert!(ranks.iter().all(Repairs::is_settled) && ranks[0].take_correction(stream).is_none());
    }
}

#[test]
fn a_collective_that_was_armed_in_vain_answers_nobody() {
    let draw = &mut Draw(1, 3 << 20);
    let stream = StreamId { bucket: 4, generation: 0, elements: 900 };
    let op = Op::new(draw, 0, stream.bucket, stream.elements, false);
    let mut repairs = Repairs::new(0);
    let mut present = op.whole();
    let theirs = op.plans[0].shards.range_of(1).start;
    present[0][theirs / 64] &= !(1 << (theirs % 64));
    op.close(&mut repairs, 0, Some(stream), &present);
    assert!(matches!(repairs.poll(), Some((1, RepairMessage::Request { .. }))));
    repairs.forget(0);
    assert_eq!((repairs.report().outstanding_bytes, repairs.is_repaired(stream)), (0, true));
    let first = op.plans[0].shards.range_of(0).start as u16;
    let key = WindowKey { op: 0, bucket: op.plans[0].bucket, window: 0 };
    repairs.handle(1, RepairMessage::Request { key, ranges: vec![BeatRange { first, count: 1 }] }).unwrap();
    assert_eq!(repairs.poll(), None);
    op.close(&mut repairs, 0, Some(stream), &op.whole());
    assert!(matches!(repairs.poll(), Some((1, RepairMessage::Answer { .. }))));
}

#[test]
fn what_a_joining_rank_asks_early_is_answered_once_the_collective_is_done() {
    let params = JobParams { window_beats_max: 40, ..JobParams::new(0, 3, 4, 1_000_000, &PlaneLimits::CARD) };
    let plan = plan_windows(&params, 3, 1, 600, false).unwrap().remove(0);
    let ask = |repairs: &mut Repairs, op: u32| {
        let ranges = vec![BeatRange { first: 0, count: 1 }];
        repairs.handle(1, RepairMessage::Request { key: key(op, &plan), ranges }).unwrap();
    };
    let mut repairs = Repairs::new(3);
    (3..11).for_each(|op| ask(&mut repairs, op));
    repairs.add_rank(1, 9);
    repairs.joined(20);
    let answered: Vec<u32> = std::iter::from_fn(|| repairs.poll())
        .map(|(to, message)| match message {
            RepairMessage::Gone { key } if to == 1 => key.op,
            other => panic!("{other:?} to rank {to}"),
        })
        .collect();
    assert_eq!(answered, [9, 10], "not what the process before had asked for");
}

#[test]
fn a_rank_that_joins_is_not_asked_for_what_it_never_had() {
    let params = JobParams { window_beats_max: 40, ..JobParams::new(0, 3, 4, 1_000_000, &PlaneLimits::CARD) };
    let plan = plan_windows(&params, 3, 1, 600, false).unwrap().remove(0);
    let settings = Settings::first(1_000_000);
    let view = View::first(crate::protocol::Ranks::all(3), settings);
    let stream = Some(StreamId { bucket: 1, generation: 0, elements: 600 });
    let asked = |op: u32| {
        let mut repairs = Repairs::new(0);
        // Rank 1 rejoins at collective 9. This rank is still at 3.
        repairs.add_rank(1, 9);
        let nothing = Incomplete { gathered: Vec::new(), present: vec![0; 1] };
        repairs.begin(op, &view, 0, stream, vec![(plan.clone(), nothing)]);
        let mut to: Vec<_> = std::iter::from_fn(|| repairs.poll()).map(|(to, _)| to).collect();
        to.dedup();
        to
    };
    assert_eq!((asked(3), asked(9)), (vec![2], vec![1, 2]));
    let mut repairs = Repairs::new(0);
    let ranges = vec![BeatRange { first: 0, count: 1 }];
    let request = |op| RepairMessage::Request { key: key(op, &plan), ranges: ranges.clone() };
    [3, 9].into_iter().for_each(|op| repairs.handle(1, request(op)).unwrap());
    repairs.add_rank(1, 9);
    for op in [3, 9] {
        repairs.begin(op, &view, 0, stream, Vec::new());
    }
    let answers: Vec<_> = std::iter::from_fn(|| repairs.poll()).collect();
    assert_eq!(answers, [(1, RepairMessage::Gone { key: key(9, &plan) })]);
    let mut repairs = Repairs::new(0);
    let ranges = vec![BeatRange { first: 0, count: 1 }];
    repairs.handle(2, RepairMessage::Request { key: key(3, &plan), ranges }).unwrap();
    assert!(repairs.poll().is_none());
    repairs.joined(9);
    assert_eq!(repairs.poll(), Some((2, RepairMessage::Gone { key: key(3, &plan) })));
}
