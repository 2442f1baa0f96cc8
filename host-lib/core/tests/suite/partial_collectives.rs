//! Reduce-scatter and all-gather of software ranks on a virtual network, judged independently.

use std::collections::HashMap;

use optireduce_contract::packet::{STAGE_BROADCAST, STAGE_CONTRIBUTE, STAGE_FEEDBACK, UbtHeader};
use optireduce_core::protocol::{
    ClosedBy, EarlyRule, HadamardMode, JobParams, Kind, MembershipParams, Parts, Stage, UpdateAction, plan_partial,
};
use optireduce_core::software::{Software, SoftwareJob};
use optireduce_core::{Call, DataPlane, Memory, Repair, Role};

use crate::seeds;
use crate::virtual_network::{Impairments, JOB_TAG, Network, Outcome, Random};

const PATIENT_NS: u64 = 1_000_000_000;

struct Case {
    random: Random,
    ranks: usize,
    elements: usize,
    bf16: bool,
    network: Network,
}

impl Case {
    fn new(seed: u64, impairments: Impairments, bound_ns: u64, early: Option<EarlyRule>) -> Self {
        let mut random = Random(seed << 20 | 0x4a1f);
        let elements_max = [40, 3000, 30_000][random.below(3) as usize];
        let (ranks, payload_beats) = (2 + random.below(5) as usize, 1 + random.below(20) as usize);
        let (bf16, window_beats_max) = (random.chance(0.3), 16 + random.below(500) as usize);
        let incast = 1 + random.below(4) as usize;
        let network = Network::new(ranks, payload_beats, impairments, seed, |rank, plane| {
            let defaults = JobParams::new(rank, ranks, payload_beats, bound_ns, &plane.limits());
            JobParams { bf16, window_beats_max, incast, early, ..defaults }
        });
        Self { elements: random.below(elements_max) as usize, random, ranks, bf16, network }
    }

    fn parts(&self) -> Parts {
        Parts::new(self.elements, self.ranks)
    }

    fn call(&self, kind: Kind) -> Call {
        Call::declared(kind, 5, self.elements, 0)
    }

    fn starts(&mut self) -> Vec<Option<u64>> {
        (0..self.ranks).map(|_| Some(self.random.below(100_000))).collect()
    }

    fn reduce_scatter(&mut self) -> (Vec<Vec<f32>>, Vec<Outcome>) {
        let gradients: Vec<_> = (0..self.ranks).map(|_| self.random.gradient(self.elements)).collect();
        let starts = self.starts();
        let outcomes = self.network.collective(self.call(Kind::ReduceScatter), &gradients, &starts);
        (gradients, outcomes.into_iter().flatten().collect())
    }

    fn all_gather(&mut self, parts: &[Vec<f32>], repair: Repair) -> Vec<Outcome> {
        let (starts, call) = (self.starts(), Call { repair, ..self.call(Kind::AllGather) });
        self.network.collective(call, parts, &starts).into_iter().flatten().collect()
    }
}

#[test]
fn without_loss_the_halves_one_after_the_other_are_an_all_reduce() {
    for seed in seeds(0..400) {
        let impairments = Impairments { duplicate: 0.1, delay_ns: 1000..50_000, ..Impairments::default() };
        let mut case = Case::new(seed, impairments, PATIENT_NS, None);
        for round in 0..3 {
            let what = format!("seed {seed}, round {round}, {} ranks, {} elements", case.ranks, case.elements);
            let (gradients, scattered) = case.reduce_scatter();
            let parts: Vec<_> = scattered.iter().map(|one| one.result.clone()).collect();
            let gathered = case.all_gather(&parts, Repair::NextUpdate);
            for rank in 0..case.ranks {
                let (one, other) = (&scattered[rank].report, &gathered[rank].report);
                assert_eq!((one.kind, other.kind), (Kind::ReduceScatter, Kind::AllGather), "{what}");
                assert_eq!((one.bucket, other.bucket, other.op), (5, 5, one.op + 1), "{what}");
                for report in [one, other] {
                    assert_eq!((report.lost_bytes, report.local_contribution), (0, true), "{what}: {report:?}");
                }
                let bytes = [&one.stages[1], &other.stages[0]].map(|stage| stage.expected_bytes);
                assert_eq!(bytes, [0, 0], "{what}");
                assert_eq!(parts[rank].len(), case.parts().of(rank).len(), "{what}");
                let whole: Vec<u32> = gathered[rank].result.iter().map(|value| value.to_bits()).collect();
                assert_eq!(whole, parts.concat().iter().map(|value| value.to_bits()).collect::<Vec<_>>(), "{what}");
            }
            let tolerance = if case.bf16 { 1.0 / 128.0 } else { 1e-5 };
            for (element, mean) in gathered[0].result.iter().enumerate() {
                let sum: f64 = gradients.iter().map(|gradient| f64::from(gradient[element])).sum();
                let exact = sum / case.ranks as f64;
                assert!((f64::from(*mean) - exact).abs() <= tolerance, "{what}, element {element}: {mean}, {exact}");
            }
        }
        for sent in &case.network.sent {
            let (kind, stage) = (sent.header.bucket >> 14, sent.header.stage);
            assert!(
                stage == STAGE_FEEDBACK
                    || (kind, stage) == (1, STAGE_CONTRIBUTE)
                    || (kind, stage) == (2, STAGE_BROADCAST),
                "seed {seed}: {:?}",
                sent.header
            );
        }
    }
}

#[test]
fn packets_of_a_stage_in_which_nobody_sends_are_dropped_and_counted() {
    for (kind, stage, wrong) in
        [(Kind::ReduceScatter, STAGE_CONTRIBUTE, STAGE_BROADCAST), (Kind::AllGather, STAGE_BROADCAST, STAGE_CONTRIBUTE)]
    {
        let mut software = Software::new(SoftwareJob::new(0, 2, JOB_TAG, 1)).unwrap();
        let params = JobParams::new(0, 2, 1, 1_000_000, &software.limits());
        let plan = &plan_partial(&params, 0, kind, 3, &Parts::new(32, 2)).unwrap()[0];
        software.lend(Memory { op: 0, role: Role::Result, first_element: 0 }, vec![0.0; plan.elements].into());
        software.arm(plan, &params).unwrap();
        let mut send = |stage, first: usize| {
            let header = UbtHeader {
                bucket: plan.bucket,
                offset: first as u32 * 64,
                stage,
                sender: 1,
                step: plan.step,
                job_tag: JOB_TAG,
                ..UbtHeader::default()
            };
            software.handle_datagram(Some(1), &[&header.to_bytes()[..], &[0; 64]].concat());
            software.counters().drop_out_of_shard
        };
        let place = |stage| plan.shards.range_of(usize::from(stage == STAGE_BROADCAST)).start;
        assert_eq!(send(wrong, place(wrong)), 1, "{kind}");
        assert_eq!(send(stage, place(stage)), 1, "{kind}");
    }
}

#[test]
fn missing_parts_are_zeros_reported_by_rank_and_the_rest_is_right() {
    let (mut lost_parts, mut kept_parts) = (0, 0);
    for seed in seeds(0..600) {
        let impairments = Impairments { loss: 0.05, duplicate: 0.05, delay_ns: 1000..50_000, ..Impairments::default() };
        let mut case = Case::new(seed, impairments, PATIENT_NS, Some(EarlyRule { grace_ns: 1_000_000 }));
        let whole: Vec<f32> = case.random.gradient(case.elements).iter().map(|value| value.signum() * 0.5).collect();
        let given: Vec<_> = (0..case.ranks).map(|rank| whole[case.parts().of(rank)].to_vec()).collect();
        let outcomes = case.all_gather(&given, Repair::NextUpdate);
        let mut injected = HashMap::new();
        for sent in case.network.sent.iter().filter(|sent| sent.header.stage == STAGE_BROADCAST && sent.arrived == 0) {
            *injected.entry((sent.from, sent.to)).or_insert(0) += sent.payload_bytes as u64;
        }
        for (rank, Outcome { report, result, .. }) in outcomes.iter().enumerate() {
            let what = format!("seed {seed}, rank {rank}");
            let missing = report.missing_from(Stage::Broadcast);
            assert!(!missing.contains(&rank), "{what}: the local part is there");
            assert_eq!(report.missing_from(Stage::Contribute), [0; 0], "{what}");
            for from in 0..case.ranks {
                let part = case.parts().of(from);
                let zeros = result[part.clone()].iter().filter(|value| **value == 0.0).count();
                let wrong = result[part.clone()].iter().zip(&whole[part.clone()]).any(|(a, b)| *a != 0.0 && a != b);
                assert!(!wrong, "{what}: part of rank {from}");
                // The missing bytes may be padding only.
                assert!(zeros == 0 || missing.contains(&from), "{what}: {zeros} zeros of rank {from}, {missing:?}");
                let bytes =
                    report.stages[1].expected_bytes_per_rank[from] - report.stages[1].received_bytes_per_rank[from];
                // Half of an odd shard's last bf16 beat is padding.
                let lost = injected.get(&(from, rank)).copied().unwrap_or(0);
                let is_lost = if case.bf16 { (lost..=2 * lost).contains(&bytes) } else { bytes == lost };
                assert!(is_lost, "{what}: {bytes} bytes of rank {from} reported, {lost} of the wire lost");
                assert!(zeros as u64 * 4 <= bytes, "{what}: {zeros} zeros of rank {from}, {bytes} bytes reported");
                *(if zeros > 0 { &mut lost_parts } else { &mut kept_parts }) += usize::from(!part.is_empty());
            }
        }
    }
    assert!(lost_parts > 100 && kept_parts > 100 || std::env::var("SEEDS").is_ok(), "{lost_parts}, {kept_parts}");
}

#[test]
fn reduce_scattered_means_are_over_what_came() {
    let mut partial = 0;
    for seed in seeds(0..600) {
        let impairments = Impairments { loss: 0.1, delay_ns: 1000..50_000, ..Impairments::default() };
        let mut case = Case::new(seed, impairments, PATIENT_NS, Some(EarlyRule { grace_ns: 1_000_000 }));
        // Values are distinct powers of two, so a mean identifies its ranks.
        let given: Vec<_> = (0..case.ranks).map(|rank| vec![(1 << rank) as f32; case.elements]).collect();
        let starts = case.starts();
        let outcomes = case.network.collective(case.call(Kind::ReduceScatter), &given, &starts);
        let subsets: Vec<f32> = (1u32..1 << case.ranks).map(|mask| mask as f32 / mask.count_ones() as f32).collect();
        for (rank, outcome) in outcomes.iter().flatten().enumerate() {
            let Outcome { report, result, .. } = outcome;
            let what = format!("seed {seed}, rank {rank}");
            let close = |a: f32, b: f32| (a - b).abs() <= b / 200.0;
            for mean in result {
                let of = (1u32..).zip(&subsets).find(|(mask, subset)| mask >> rank & 1 == 1 && close(*mean, **subset));
                assert!(of.is_some(), "{what}: {mean} is no mean with this rank's own values");
                partial += usize::from(!close(*mean, subsets[subsets.len() - 1]));
            }
            let complete = result.iter().all(|mean| close(*mean, subsets[subsets.len() - 1]));
            assert!(complete || report.lost_bytes > 0, "{what}: partial means without reported loss");
            assert!(complete || report.closed_by[0] != ClosedBy::Complete, "{what}");
            assert_eq!(report.closed_by[1], ClosedBy::Complete, "{what}: there is no broadcast to wait for");
        }
    }
    assert!(partial > 100 || std::env::var("SEEDS").is_ok(), "only {partial} partial means");
}

#[test]
fn an_all_gather_that_waits_for_repairs_is_whole_on_all_ranks() {
    for repair in [Repair::NextUpdate, Repair::ThisUpdate] {
        let waits = repair == Repair::ThisUpdate;
        let (mut lossy, mut short) = (0, 0);
        for seed in seeds(0..200) {
            let impairments = Impairments { loss: 0.1, delay_ns: 1000..50_000, ..Impairments::default() };
            let mut case = Case::new(seed, impairments, 2_000_000, None);
            for rank in &mut case.network.ranks {
                rank.repair();
            }
            for round in 0..3 {
                let (_, scattered) = case.reduce_scatter();
                let parts: Vec<_> = scattered.into_iter().map(|one| one.result).collect();
                let whole: Vec<u32> = parts.concat().iter().map(|value| value.to_bits()).collect();
                for (rank, Outcome { report, result, .. }) in case.all_gather(&parts, repair).iter().enumerate() {
                    let what = format!("seed {seed}, round {round}, rank {rank} of {}, waits: {waits}", case.ranks);
                    let is_missing = |at| report.missing_ranges().iter().any(|range| range.contains(&at));
                    let expected = |at| if is_missing(at) { 0 } else { whole[at] };
                    assert!((0..case.elements).all(|at| result[at].to_bits() == expected(at)), "{what}");
                    assert!(!waits || report.action == UpdateAction::Apply, "{what}: {report:?}");
                    assert!(report.lost_bytes > 0 || report.missing_ranges().is_empty(), "{what}: {report:?}");
                    lossy += u32::from(report.lost_bytes > 0);
                    short += u32::from(!report.missing_ranges().is_empty());
                }
            }
            for rank in &case.network.ranks {
                let repairs = rank.repaired().unwrap();
                assert_eq!((repairs.outstanding_bytes, repairs.drift_bytes), (0, 0), "seed {seed}, waits: {waits}");
                assert!(rank.is_settled(), "seed {seed}, waits: {waits}");
            }
        }
        let is_some = lossy > 100 || std::env::var("SEEDS").is_ok();
        assert!(is_some && (short > 0) != waits, "waits: {waits}: {lossy} calls with losses, {short} not whole");
    }
}

/// Parts have another layout on the wire, which changes with each collective.
#[test]
fn all_gathers_that_add_up_have_the_same_sums_on_all_ranks_whatever_was_lost() {
    let mut corrected = 0;
    for seed in seeds(0..80) {
        let impairments = Impairments { loss: 0.1, delay_ns: 1000..50_000, ..Impairments::default() };
        let mut case = Case::new(seed, impairments, 2_000_000, None);
        case.network.ranks.iter_mut().for_each(|rank| rank.repair());
        let call = Call { adds_up: true, ..case.call(Kind::AllGather) };
        let mut sums = vec![vec![0.0; case.elements]; case.ranks + 1];
        let add =
            |sum: &mut Vec<f32>, values: &[f32]| sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        let stream = call.stream_id().unwrap();
        for round in 0.. {
            if round == 5 {
                case.network.impairments.loss = 0.0;
            }
            if round > 5 && case.network.ranks.iter().all(|rank| rank.is_repaired(stream)) {
                break;
            }
            assert!(round < 100, "seed {seed}: repairs do not end");
            // Exact in bf16.
            let whole: Vec<f32> = (0..case.elements).map(|_| case.random.below(100) as f32).collect();
            let parts: Vec<_> = (0..case.ranks).map(|rank| whole[case.parts().of(rank)].to_vec()).collect();
            let starts = case.starts();
            let outcomes = case.network.collective(call, &parts, &starts);
            for (rank, outcome) in outcomes.into_iter().enumerate() {
                let Outcome { report, result, .. } = outcome.unwrap();
                corrected += u32::from(report.repair.corrected);
                add(&mut sums[rank], &result);
            }
            add(&mut sums[case.ranks], &whole);
        }
        for (sum, rank) in sums.iter_mut().zip(&mut case.network.ranks) {
            rank.take_correction(stream).iter().for_each(|correction| add(sum, correction));
        }
        for (rank, sum) in sums[..case.ranks].iter().enumerate() {
            assert_eq!(
                sum, &sums[case.ranks],
                "seed {seed}, rank {rank} of {}, {} elements",
                case.ranks, case.elements
            );
        }
    }
    assert!(corrected > 100 || std::env::var("SEEDS").is_ok(), "{corrected} results with corrections");
}

#[test]
fn every_half_ends_by_its_deadline_whatever_the_network_and_the_peers_do() {
    for seed in seeds(0..600) {
        let mut random = Random(seed ^ 0xdead);
        let bound_ns = 20_000 + random.below(200_000);
        let impairments = Impairments {
            loss: [0.0, 0.02, 0.3][random.below(3) as usize],
            duplicate: 0.05,
            delay_ns: 1000..2000 + random.below(100_000),
            ..Impairments::default()
        };
        let early = random.chance(0.5).then(|| EarlyRule { grace_ns: random.below(bound_ns) as u32 });
        let mut case = Case::new(seed, impairments, bound_ns, early);
        let crashed = random.chance(0.3).then(|| random.below(case.ranks as u64) as usize);
        for round in 0..6 {
            let kind = [Kind::ReduceScatter, Kind::AllGather, Kind::AllReduce][random.below(3) as usize];
            let length = |rank| if kind == Kind::AllGather { case.parts().of(rank).len() } else { case.elements };
            let given: Vec<Vec<f32>> = (0..case.ranks).map(|rank| vec![1.0; length(rank)]).collect();
            let mut late = || if random.chance(0.2) { random.below(3 * bound_ns) } else { random.below(1000) };
            let starts: Vec<_> =
                (0..case.ranks).map(|rank| (crashed != Some(rank) || round == 0).then(&mut late)).collect();
            let outcomes = case.network.collective(case.call(kind), &given, &starts);
            let windows_max = 4 + case.parts().wire_elements() as u64 / 16;
            for (rank, outcome) in outcomes.iter().enumerate() {
                let Some(Outcome { report, result, took_ns, .. }) = outcome else { continue };
                let what = format!("seed {seed}, round {round}, {kind}, rank {rank}");
                let length = if kind == Kind::ReduceScatter { case.parts().of(rank).len() } else { case.elements };
                assert_eq!(result.len(), length, "{what}");
                assert!(result.iter().all(|value| *value == 0.0 || (*value - 1.0).abs() < 1e-5), "{what}");
                assert!(*took_ns <= windows_max * 2 * bound_ns, "{what}: {took_ns} ns, bound {bound_ns} ns");
                for (at, stage) in Stage::ALL.into_iter().zip(&report.stages) {
                    let bounds = if kind.waits_for_owners(at) { 2 } else { 1 };
                    assert!(stage.elapsed_ns_max <= bounds * bound_ns, "{what}: {stage:?}, bound {bound_ns}");
                    assert!(stage.received_bytes <= stage.expected_bytes, "{what}: {stage:?}");
                }
            }
        }
    }
}

#[test]
fn parts_stay_when_a_rank_is_dropped_and_its_own_is_reported_missing() {
    const BOUND_NS: u64 = 1_000_000;
    for seed in seeds(0..60) {
        let mut random = Random(seed << 20 | 0xd0);
        let (ranks, elements) = (3 + random.below(4) as usize, 1 + random.below(3000) as usize);
        let crashed = random.below(ranks as u64) as usize;
        let impairments = Impairments { delay_ns: 1000..30_000, ..Impairments::default() };
        let mut network = Network::new(ranks, 4, impairments, seed, |rank, plane| JobParams {
            window_beats_max: 40,
            ..JobParams::new(rank, ranks, 4, BOUND_NS, &plane.limits())
        });
        let members = MembershipParams {
            silent_ops: Some(3),
            silent_ns: BOUND_NS,
            lead_ops: 4,
            retry_ns: 1_000_000,
            ..MembershipParams::new(ranks)
        };
        network.ranks.iter_mut().for_each(|rank| rank.agree_on_views(members, HadamardMode::Off).unwrap());
        let parts = Parts::new(elements, ranks);
        for op in 0..30 {
            network.dead[crashed] = op >= 4;
            let kind = [Kind::ReduceScatter, Kind::AllGather][op % 2];
            let whole: Vec<f32> = (0..elements).map(|element| 1.0 + element as f32).collect();
            let given = |rank: usize| match kind {
                Kind::AllGather => whole[parts.of(rank)].to_vec(),
                _ => whole.iter().map(|value| value * (rank + 1) as f32).collect(),
            };
            let given: Vec<_> = (0..ranks).map(given).collect();
            let starts: Vec<_> = (0..ranks).map(|rank| (!network.dead[rank]).then(|| random.below(20_000))).collect();
            let call = Call::declared(kind, 0, elements, 0);
            let outcomes = network.collective(call, &given, &starts);
            for (rank, outcome) in outcomes.iter().enumerate() {
                let Some(Outcome { report, result, .. }) = outcome else { continue };
                let what = format!("seed {seed}, collective {op}, rank {rank} of {ranks}, {crashed} crashed");
                // Detection takes 3 collectives, and the agreed view starts 4 later.
                if op < 24 {
                    continue;
                }
                assert_eq!((report.lost_bytes, report.live.len()), (0, ranks - 1), "{what}");
                assert!(!report.closed_by.contains(&ClosedBy::Deadline), "{what}");
                if kind == Kind::AllGather {
                    assert_eq!(report.missing_from(Stage::Broadcast), [crashed], "{what}");
                    let expected = |element| if parts.of(crashed).contains(&element) { 0.0 } else { whole[element] };
                    assert!((0..elements).all(|element| result[element] == expected(element)), "{what}");
                } else {
                    assert_eq!(report.missing_from(Stage::Contribute), [crashed], "{what}");
                    let factors = (0..ranks).filter(|rank| *rank != crashed).map(|rank| rank as f32 + 1.0);
                    let factor = factors.sum::<f32>() / (ranks - 1) as f32;
                    let close = |(found, own): (&f32, &f32)| (found / own - factor).abs() < 1e-5;
                    assert_eq!(result.len(), parts.of(rank).len(), "{what}");
                    assert!(result.iter().zip(&whole[parts.of(rank)]).all(close), "{what}");
                }
            }
        }
    }
}
