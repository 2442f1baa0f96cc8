//! One window of a software rank against a model that stores every beat of every rank. Packets
//! arrive in any order, cut anywhere, twice or not at all.

use std::ops::Range;

use optireduce_contract::limits::{BEAT_BYTES, LANES};
use optireduce_contract::packet::UbtHeader;
use optireduce_core::hadamard::{from_bf16, to_bf16};
use optireduce_core::protocol::{JobParams, Kind, Parts, Ranks, Stage, WindowPlan, plan_partial, plan_windows};
use optireduce_core::software::{Software, SoftwareJob};
use optireduce_core::{DataPlane, Incomplete, Memory, PlaneEvent, PlaneLimits, Role, WindowOutput};

use crate::seeds;
use crate::virtual_network::{JOB_TAG, Random, bucket_of};

const BOUND_NS: u64 = 1000;

struct Case {
    random: Random,
    ranks: usize,
    rank: usize,
    payload_beats: usize,
    params: JobParams,
    plan: WindowPlan,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed << 20 | 0x0e11);
        let ranks =
            if random.chance(0.1) { [64, 66, 130][random.below(3) as usize] } else { 2 + random.below(5) as usize };
        let (rank, payload_beats) = (random.below(ranks as u64) as usize, 1 + random.below(30) as usize);
        let plane = Software::new(SoftwareJob::new(rank, ranks, JOB_TAG, payload_beats)).unwrap();
        let params = JobParams {
            bf16: random.chance(0.3),
            start_peers: 0,
            early: None,
            ..JobParams::new(rank, ranks, payload_beats, BOUND_NS, &plane.limits())
        };
        let kind = [Kind::AllReduce, Kind::AllReduce, Kind::ReduceScatter, Kind::AllGather][random.below(4) as usize];
        let beats_max = [10, 300, 1000][random.below(3) as usize];
        let beats = 1 + random.below(beats_max) as usize;
        let elements = beats * LANES - if random.chance(0.3) { random.below(LANES as u64) as usize } else { 0 };
        let bucket = random.below(100) as u16;
        let mut plans = match kind {
            Kind::AllReduce => plan_windows(&params, 3, bucket, elements, false).unwrap(),
            _ => plan_partial(&params, 3, kind, bucket, &Parts::new(elements, ranks)).unwrap(),
        };
        Self { plan: plans.pop().unwrap(), random, ranks, rank, payload_beats, params }
    }

    fn values(&mut self, beats: usize) -> Vec<f32> {
        let special = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e-42, -0.0];
        let rare = [0.0, 0.001, 0.3][self.random.below(3) as usize];
        let mut value = || match self.random.chance(rare) {
            true => special[self.random.below(8) as usize],
            false => self.random.below(2001) as f32 - 1000.0,
        };
        (0..beats * LANES).map(|_| value()).map(|value| self.plan.travels(value)).collect()
    }

    /// Packets of all peers: stage, sender, first beat in the window, values.
    fn packets(&mut self) -> Vec<(Stage, usize, usize, Vec<f32>)> {
        let shape = self.plan.shape();
        let loss = [0.0, 0.02, 0.3, 1.0][self.random.below(4) as usize];
        let mut ranges = Vec::new();
        for (stage, sender) in Stage::ALL.into_iter().flat_map(|stage| (0..self.ranks).map(move |rank| (stage, rank))) {
            let shard = shape.allowed(stage, self.rank, sender);
            if sender == self.rank || shard.is_empty() {
                continue;
            }
            let whole = shape.packet_beats(self.payload_beats);
            for begin in shard.clone().step_by(whole).filter(|_| !self.random.chance(loss)).collect::<Vec<_>>() {
                ranges.push((stage, sender, begin..(begin + whole).min(shard.end)));
                // A duplicate, or a packet of any other place, as long or shorter.
                if self.random.chance(0.3) {
                    let begin = if self.random.chance(0.5) {
                        begin
                    } else {
                        shard.start + self.random.below(shard.len() as u64) as usize
                    };
                    let beats = shape.packet_beats(1 + self.random.below(self.payload_beats as u64) as usize);
                    ranges.push((stage, sender, begin..(begin + beats).min(shard.end)));
                }
            }
        }
        for at in (1..ranges.len()).rev() {
            ranges.swap(at, self.random.below(at as u64 + 1) as usize);
        }
        let packet =
            |(stage, sender, beats): (_, _, Range<usize>)| (stage, sender, beats.start, self.values(beats.len()));
        ranges.into_iter().map(packet).collect()
    }

    fn datagram(&self, stage: Stage, sender: usize, first: usize, values: &[f32]) -> Vec<u8> {
        let shape = self.plan.shape();
        let header = UbtHeader {
            bucket: self.plan.bucket,
            offset: self.plan.base_bytes + (first * BEAT_BYTES) as u32,
            stage: stage.on_wire(),
            sender: sender as u16,
            step: self.plan.step,
            flags: shape.packet_flags(),
            job_tag: JOB_TAG,
            ..UbtHeader::default()
        };
        let mut payload: Vec<u8> = match self.plan.bf16 {
            true => values.iter().flat_map(|value| to_bf16(*value).to_le_bytes()).collect(),
            false => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        };
        payload.resize(shape.payload_beats(values.len() / LANES) * BEAT_BYTES, 0);
        [&header.to_bytes()[..], &payload].concat()
    }
}

trait Travels {
    fn travels(&self, value: f32) -> f32;
}

impl Travels for WindowPlan {
    fn travels(&self, value: f32) -> f32 {
        if self.bf16 { from_bf16(to_bf16(value)) } else { value }
    }
}

/// Senders of each beat (`came`), and its sum or mean.
struct Model {
    came: Vec<Vec<usize>>,
    values: Vec<[f32; LANES]>,
    beats_per_rank: [Vec<u64>; 2],
    duplicates: u64,
}

impl Model {
    fn take(&mut self, stage: Stage, sender: usize, first: usize, values: &[f32]) {
        for (beat, values) in (first..).zip(values.as_chunks::<LANES>().0) {
            if self.came[beat].contains(&sender) {
                self.duplicates += 1;
                continue;
            }
            let is_first = self.came[beat].is_empty();
            for (sum, value) in self.values[beat].iter_mut().zip(values) {
                *sum = if is_first { *value } else { *sum + value };
            }
            self.came[beat].push(sender);
            self.beats_per_rank[stage.index()][sender] += 1;
        }
    }

    /// Runs of beats with missing ranks, and the ranks that did arrive.
    fn short(&self, case: &Case) -> Vec<(Range<usize>, Ranks)> {
        let mut short: Vec<(Range<usize>, Ranks)> = Vec::new();
        let own = case.plan.shards.range_of(case.rank);
        let own = if case.plan.kind == Kind::ReduceScatter { own } else { 0..0 };
        for beat in own.filter(|beat| self.came[*beat].len() < case.ranks) {
            let ranks = Ranks::none(case.ranks).with(self.came[beat].iter().copied());
            match short.last_mut() {
                Some((beats, same)) if beats.end == beat && *same == ranks => beats.end += 1,
                _ => short.push((beat..beat + 1, ranks)),
            }
        }
        short
    }
}

#[test]
fn whatever_comes_of_a_window_each_beat_counts_once_and_is_reported() {
    let (mut short_runs, mut incomplete_windows, mut not_finite_values) = (0, 0, 0);
    for seed in seeds(0..3000) {
        let mut case = Case::new(seed);
        let plan = case.plan.clone();
        let what = format!("seed {seed}: {} ranks, rank {}, {plan:?}", case.ranks, case.rank);
        let mut plane = Software::new(SoftwareJob::new(case.rank, case.ranks, JOB_TAG, case.payload_beats)).unwrap();
        let memory = |role| Memory { op: plan.op, role, first_element: plan.first_element };
        plane.lend(memory(Role::Result), vec![f32::NAN; plan.elements].into());
        plane.arm(&plan, &case.params).unwrap();
        let mut gradient = case.values(plan.beats);
        gradient[plan.elements..].fill(0.0);
        plane.lend(memory(Role::Gradient), gradient[..plan.elements].to_vec().into());

        let own = plan.shards.range_of(case.rank);
        let mut model = Model {
            came: vec![Vec::new(); plan.beats],
            values: vec![[0.0; LANES]; plan.beats],
            beats_per_rank: [vec![0; case.ranks], vec![0; case.ranks]],
            duplicates: 0,
        };
        let packets = case.packets();
        let contributes_at = case.random.below(packets.len() as u64 + 1) as usize;
        for at in 0..=packets.len() {
            if at == contributes_at {
                plane.contribute(&plan).unwrap();
                model.take(Stage::Contribute, case.rank, own.start, &gradient[own.start * LANES..own.end * LANES]);
            }
            if let Some((stage, sender, first, values)) = packets.get(at) {
                plane.handle_datagram(Some(*sender), &case.datagram(*stage, *sender, *first, values));
                model.take(*stage, *sender, *first, values);
            }
        }
        (1..5).for_each(|bounds| plane.advance(bounds * (BOUND_NS + 1)));

        for beat in 0..plan.beats {
            let factor = if own.contains(&beat) { 1.0 / model.came[beat].len().max(1) as f32 } else { 1.0 };
            model.values[beat] = model.values[beat].map(|sum| plan.travels(sum * factor));
        }
        for stage in Stage::ALL {
            let Some(PlaneEvent::Stage(report)) = plane.poll().unwrap() else { panic!("{what}: no report") };
            let bytes = model.beats_per_rank[stage.index()].iter().map(|beats| beats * BEAT_BYTES as u64);
            assert_eq!(report.received_bytes_per_rank, bytes.collect::<Vec<_>>(), "{what}, {stage}");
        }
        // A duplicate counts as late if the stage has closed.
        let counters = plane.counters();
        assert_eq!(counters.drop_duplicate_beats + counters.drop_late_beats, model.duplicates, "{what}: {counters:?}");
        assert_eq!(plane.late_bytes(), Some(0), "{what}");

        let same =
            |found: f32, expected: f32| found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        let look = &mut |output: WindowOutput<'_>| {
            let elements = model.values.as_flattened().iter().zip(output.elements);
            assert_eq!(output.elements.len(), plan.elements, "{what}");
            for (element, (expected, found)) in elements.enumerate() {
                assert!(same(*found, *expected), "{what}: element {element} is {found}, expected {expected}");
            }
            let repair = output.repair.unwrap();
            let means = model.values[own.clone()].as_flattened();
            assert_eq!(repair.own.len(), means.len(), "{what}");
            assert!(repair.own.iter().zip(means).all(|(found, mean)| same(*found, *mean)), "{what}");
            assert_eq!(repair.arrived, model.short(&case), "{what}");
            let mut present = vec![0; plan.beats.div_ceil(64)];
            let there = (0..plan.beats).filter(|beat| !model.came[*beat].is_empty());
            there.clone().for_each(|beat| present[beat / 64] |= 1_u64 << (beat % 64));
            let is_incomplete = there.count() < plan.beats;
            let expected = is_incomplete.then(|| Incomplete { gathered: Vec::new(), present });
            assert_eq!(repair.incomplete, expected, "{what}");
            short_runs += repair.arrived.len();
            incomplete_windows += usize::from(is_incomplete);
            // The plane counts while it writes, if all values belong to means.
            let not_finite = output.elements.iter().filter(|value| !value.is_finite()).count() as u64;
            let is_whole = plan.elements == plan.beats * LANES;
            assert_eq!(output.not_finite, is_whole.then_some(not_finite), "{what}");
            not_finite_values += not_finite;
        };
        plane.take_result(&plan, look).unwrap();
    }
    let enough = short_runs > 500 && incomplete_windows > 1000 && not_finite_values > 100_000;
    let counts = format!("{short_runs} runs, {incomplete_windows} windows, {not_finite_values} values");
    assert!(enough || std::env::var("SEEDS").is_ok(), "{counts}");
}

/// The control plane counts the values after decoding.
#[test]
fn means_of_an_encoded_window_are_not_counted() {
    let params = JobParams { start_peers: 0, ..JobParams::new(0, 2, 4, BOUND_NS, &PlaneLimits::CARD) };
    let mut plane = Software::new(SoftwareJob::new(0, 2, JOB_TAG, 4)).unwrap();
    let plan = plan_windows(&params, 0, bucket_of(0, true), 64 * LANES, true).unwrap().remove(0);
    assert!(plan.hadamard && plan.elements == plan.beats * LANES, "{plan:?}");
    for role in [Role::Result, Role::Gradient] {
        plane.lend(Memory { op: 0, role, first_element: 0 }, vec![1.0; plan.elements].into());
    }
    plane.arm(&plan, &params).unwrap();
    plane.contribute(&plan).unwrap();
    (1..5).for_each(|bounds| plane.advance(bounds * (BOUND_NS + 1)));
    plane.take_result(&plan, &mut |output| assert_eq!(output.not_finite, None)).unwrap();
}
