//! Software ranks on a virtual network, over many seeds, judged independently.

use std::collections::{HashMap, HashSet};

use optireduce_contract::limits::{BEAT_BYTES, LANES};
use optireduce_contract::packet::{STAGE_CONTRIBUTE, UbtHeader};
use optireduce_core::protocol::membership::Settings;
use optireduce_core::protocol::{ClosedBy, EarlyRule, JobParams, Ranks, Stage, View, WindowPlan, plan_windows};
use optireduce_core::software::{Batch, Software, SoftwareJob};
use optireduce_core::{DataPlane, Memory, PlaneEvent, PlaneLimits, Role};

use crate::seeds;
use crate::virtual_network::{Impairments, JOB_TAG, Link, Network, Outcome, Random, bucket_of};

const PATIENT_NS: u64 = 1_000_000_000;

struct Case {
    seed: u64,
    random: Random,
    ranks: usize,
    payload_beats: usize,
    elements: usize,
    bf16: bool,
    hadamard: bool,
    window_beats_max: usize,
    incast: usize,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed << 20);
        let elements_max = [40, 3000, 30_000][random.below(3) as usize];
        Self {
            ranks: 2 + random.below(5) as usize,
            payload_beats: 1 + random.below(20) as usize,
            elements: random.below(elements_max) as usize,
            bf16: random.chance(0.3),
            hadamard: random.chance(0.3),
            window_beats_max: 16 + random.below(500) as usize,
            incast: 1 + random.below(4) as usize,
            seed,
            random,
        }
    }

    fn network(&self, impairments: Impairments, bound_ns: u64, early: Option<EarlyRule>) -> Network {
        let Self { ranks, payload_beats, bf16, window_beats_max, incast, .. } = *self;
        Network::new(ranks, payload_beats, impairments, self.seed, |rank, plane| {
            let defaults = JobParams::new(rank, ranks, payload_beats, bound_ns, &plane.limits());
            JobParams { bf16, window_beats_max, incast, early, job_seed: self.seed, ..defaults }
        })
    }

    fn gradients(&mut self) -> Vec<Vec<f32>> {
        (0..self.ranks).map(|_| self.random.gradient(self.elements)).collect()
    }
}

fn exact_mean(gradients: &[Vec<f32>], of: impl Fn(usize) -> bool, element: usize) -> f64 {
    let taken: Vec<f64> =
        (0..gradients.len()).filter(|rank| of(*rank)).map(|rank| gradients[rank][element].into()).collect();
    taken.iter().sum::<f64>() / taken.len() as f64
}

/// Largest error of a mean: fp32 sums of values up to 1, two roundings to bf16, fixed-point
/// transform.
fn tolerance(case: &Case) -> f64 {
    if case.bf16 { if case.hadamard { 0.25 } else { 1.0 / 128.0 } } else { 1e-5 }
}

#[test]
fn without_loss_all_ranks_have_the_same_bits_and_the_mean() {
    let mut preposted = 0;
    for seed in seeds(0..600) {
        let mut case = Case::new(seed);
        let impairments = Impairments { duplicate: 0.1, delay_ns: 1000..50_000, ..Impairments::default() };
        let mut network = case.network(impairments, PATIENT_NS, None);
        for _ in 0..3 {
            let gradients = case.gradients();
            let starts: Vec<_> = (0..case.ranks).map(|_| Some(case.random.below(100_000))).collect();
            let outcomes = network.all_reduce(7, &gradients, case.hadamard, &starts);
            let results: Vec<&Outcome> = outcomes.iter().map(|outcome| outcome.as_ref().unwrap()).collect();
            for (rank, Outcome { report, result, .. }) in results.iter().enumerate() {
                assert_eq!((report.lost_bytes, report.local_contribution), (0, true), "seed {seed}, rank {rank}");
                assert!(
                    result.iter().zip(&results[0].result).all(|(a, b)| a.to_bits() == b.to_bits()),
                    "seed {seed}, rank {rank}"
                );
            }
            for (element, mean) in results[0].result.iter().enumerate() {
                let exact = exact_mean(&gradients, |_| true, element);
                assert!(
                    (f64::from(*mean) - exact).abs() <= tolerance(&case),
                    "seed {seed}, element {element}: {mean}, exact {exact}"
                );
            }
        }
        for rank in &network.ranks {
            let counters = rank.plane().counters();
            let wrong =
                counters.drop_malformed + counters.drop_flags + counters.drop_out_of_shard + counters.drop_unexpected;
            let wrong = wrong + counters.drop_source + counters.drop_too_long;
            assert_eq!(wrong, 0, "seed {seed}: {counters:?}");
        }
        assert_eq!(network.copied_bytes, 0, "seed {seed}");
        preposted += network.preposted;
    }
    assert!(preposted > 100, "{preposted} calls");
}

#[test]
fn reported_loss_is_injected_loss_and_means_are_over_what_came() {
    let mut prompt_cases = 0;
    for seed in seeds(0..400) {
        let mut case = Case::new(seed);
        let impairments = Impairments { loss: 0.05, duplicate: 0.1, delay_ns: 1000..50_000, ..Impairments::default() };
        let early = Some(EarlyRule { grace_ns: 1_000_000 });
        let mut network = case.network(impairments, PATIENT_NS, early);
        let gradients = case.gradients();
        let outcomes = network.all_reduce(0, &gradients, case.hadamard, &vec![Some(0); case.ranks]);
        let plans =
            plan_windows(network.ranks[0].params(), 0, bucket_of(0, case.hadamard), case.elements, case.hadamard)
                .unwrap();
        let (mut arrived, mut lost) = (HashSet::new(), HashMap::new());
        for sent in &network.sent {
            let route = (sent.header.stage == STAGE_CONTRIBUTE, sent.from, sent.to);
            let first = sent.header.offset as usize / BEAT_BYTES;
            let plan = plans.iter().find(|plan| plan.shape().holds(&sent.header)).unwrap();
            let owner = if route.0 { sent.to } else { sent.from };
            let shard_end = plan.base_bytes as usize / BEAT_BYTES + plan.shards.range_of(owner).end;
            // Half of an odd shard's last bf16 beat is padding.
            let end = shard_end.min(first + sent.payload_bytes * (1 + usize::from(case.bf16)) / BEAT_BYTES);
            match sent.arrived {
                0 => *lost.entry(route).or_insert(0) += ((end - first) * BEAT_BYTES) as u64,
                _ => arrived.extend((first..end).map(|beat| (route, beat))),
            }
        }
        // An owner that waits until its bound broadcasts too late for peers that did not wait.
        let waited = |outcome: &Option<Outcome>| outcome.as_ref().unwrap().report.closed_by[0] == ClosedBy::Deadline;
        let prompt = !outcomes.iter().any(waited);
        prompt_cases += u32::from(prompt);
        for (rank, outcome) in outcomes.iter().enumerate() {
            let Outcome { report, result, partial, .. } = outcome.as_ref().unwrap();
            let result = partial.as_ref().unwrap_or(result);
            for (stage, from) in (0..2).flat_map(|stage| (0..case.ranks).map(move |from| (stage, from))) {
                let summary = &report.stages[stage];
                let reported = summary.expected_bytes_per_rank[from] - summary.received_bytes_per_rank[from];
                let injected = lost.get(&(stage == 0, from, rank)).copied().unwrap_or(0);
                let what = format!("seed {seed}, rank {rank}, stage {stage}, from {from}");
                if stage == 0 || prompt {
                    assert_eq!(reported, injected, "{what}");
                } else {
                    assert!(reported >= injected, "{what}: {reported}, injected {injected}");
                }
            }
            if case.hadamard || !prompt {
                continue;
            }
            for (element, mean) in result.iter().enumerate() {
                let beat = element / LANES;
                let plan = plans.iter().rfind(|plan| plan.first_element <= element).unwrap();
                let position = beat - plan.base_bytes as usize / BEAT_BYTES;
                let owner = (0..case.ranks).find(|owner| plan.shards.range_of(*owner).contains(&position)).unwrap();
                let has_contributed = |from| from == owner || arrived.contains(&((true, from, owner), beat));
                let came = owner == rank || arrived.contains(&((false, owner, rank), beat));
                let expected = if came { exact_mean(&gradients, has_contributed, element) } else { 0.0 };
                let error = (f64::from(*mean) - expected).abs();
                assert!(
                    error <= tolerance(&case),
                    "seed {seed}, rank {rank}, element {element}: {mean}, expected {expected}"
                );
            }
        }
    }
    assert!(prompt_cases > 120 || std::env::var("SEEDS").is_ok(), "only {prompt_cases} cases say anything");
}

#[test]
fn every_stage_ends_by_its_deadline_whatever_the_network_and_the_peers_do() {
    for seed in seeds(0..600) {
        let mut case = Case::new(seed);
        let bound_ns = 20_000 + case.random.below(200_000);
        let outage = case.random.chance(0.3).then(|| {
            let begin = case.random.below(300_000);
            (case.random.below(case.ranks as u64) as usize, begin..begin + case.random.below(500_000))
        });
        let impairments = Impairments {
            loss: [0.0, 0.02, 0.3][case.random.below(3) as usize],
            duplicate: 0.05,
            delay_ns: 1000..2000 + case.random.below(100_000),
            outage,
            lose: None,
            link: None,
        };
        let early = case.random.chance(0.5).then(|| EarlyRule { grace_ns: case.random.below(bound_ns) as u32 });
        let mut network = case.network(impairments, bound_ns, early);
        let crashed = case.random.chance(0.2).then(|| case.random.below(case.ranks as u64) as usize);
        for op in 0..3 {
            let gradients = case.gradients();
            let start = |rank: usize, random: &mut Random| {
                let late_ns = if random.chance(0.2) { random.below(3 * bound_ns) } else { random.below(1000) };
                (crashed != Some(rank) || op == 0).then_some(late_ns)
            };
            let starts: Vec<_> = (0..case.ranks).map(|rank| start(rank, &mut case.random)).collect();
            let windows_max =
                2 + case.elements.div_ceil(LANES * case.window_beats_max.next_power_of_two() / 4).max(1) as u64 * 8;
            for (rank, outcome) in network.all_reduce(0, &gradients, case.hadamard, &starts).iter().enumerate() {
                let Some(Outcome { report, result, took_ns, .. }) = outcome else { continue };
                let what = format!("seed {seed}, collective {op}, rank {rank}");
                assert_eq!(result.len(), case.elements, "{what}");
                assert!(result.iter().all(|value| value.is_finite() && value.abs() < 40.0), "{what}");
                assert!(*took_ns <= windows_max * 2 * bound_ns, "{what}: {took_ns} ns, bound {bound_ns} ns");
                for (bounds, stage) in (1..).zip(&report.stages) {
                    assert!(stage.elapsed_ns_max <= bounds * bound_ns, "{what}: {stage:?}, bound {bound_ns}");
                    assert!(stage.received_bytes <= stage.expected_bytes, "{what}: {stage:?}");
                    let complete = stage.closed_by == ClosedBy::Complete;
                    assert!(!complete || stage.received_bytes == stage.expected_bytes, "{what}: {stage:?}");
                }
            }
        }
    }
}

fn grace_after_many_ns(impairments: Impairments, seed: u64) -> u32 {
    const FLOOR_NS: u32 = 10;
    // One window with 14 packets per shard, so that a lost mark is not the only one.
    let sizes = Case { ranks: 4, elements: 20_000, payload_beats: 22, window_beats_max: 2000, ..Case::new(seed) };
    let case = Case { incast: 1, hadamard: false, bf16: false, ..sizes };
    let mut network = case.network(impairments, 10_000_000, Some(EarlyRule { grace_ns: 1_000_000 }));
    network.ranks.iter_mut().for_each(|rank| rank.follow_stage_times(FLOOR_NS));
    let gradients = vec![vec![1.0; case.elements]; case.ranks];
    for _ in 0..60 {
        network.all_reduce(0, &gradients, false, &[Some(0); 4]);
    }
    network.ranks[0].grace_ns(0).unwrap()
}

#[test]
fn grace_grows_with_what_comes_too_late_and_not_with_what_is_lost() {
    for seed in seeds(0..10) {
        let lossy = Impairments { loss: 0.02, delay_ns: 100_000..101_000, ..Impairments::default() };
        let lossy_ns = grace_after_many_ns(lossy, seed);
        let spread = Impairments { delay_ns: 1000..1_000_000, ..Impairments::default() };
        let spread_ns = grace_after_many_ns(spread, seed);
        // 1 % of about 100 us, compared with up to 50 % of up to 1 ms.
        assert!(lossy_ns < 10_000 && spread_ns > 20 * lossy_ns, "seed {seed}: grace {lossy_ns} and {spread_ns} ns");
    }
}

/// Runs 25 collectives that settle the rates, then 15 more, on 10 Gb/s links with short queues.
/// Ranks send at up to 100 Gb/s, to three peers at a time. Returns lost and expected bytes of the
/// last 15, and the final rates in bytes per us.
fn on_narrow_links(seed: u64, rate_control: bool, bound_ns: u64) -> (u64, u64, Vec<f64>) {
    let mut random = Random(seed << 20);
    let (ranks, elements, payload_beats) = (4, 60_000 + random.below(60_000) as usize, 22);
    let link = Link { bytes_per_us: 1250, queue_bytes: 60_000 + random.below(100_000) };
    let impairments = Impairments { delay_ns: 4000..6000, link: Some(link), ..Impairments::default() };
    let in_flight_bytes_max = vec![1 << 40; ranks];
    let job = |rank| SoftwareJob {
        in_flight_bytes_max: in_flight_bytes_max.clone(),
        ..SoftwareJob::new(rank, ranks, JOB_TAG, payload_beats)
    };
    let mut network = Network::with_jobs(ranks, impairments, seed, job, |rank, plane| JobParams {
        incast: 3,
        early: Some(EarlyRule { grace_ns: 100_000 }),
        ..JobParams::new(rank, ranks, payload_beats, bound_ns, &plane.limits())
    });
    for rank in &mut network.ranks {
        (0..ranks).for_each(|peer| rank.plane_mut().set_rate(peer, 12_500).unwrap());
        if rate_control {
            rank.follow_round_trips(12_500).unwrap();
        }
    }
    let (mut lost, mut expected) = (0, 0);
    for op in 0..40 {
        let gradients: Vec<_> = (0..ranks).map(|_| random.gradient(elements)).collect();
        let outcomes = network.all_reduce(0, &gradients, false, &vec![Some(0); ranks]);
        for outcome in outcomes.iter().flatten().filter(|_| op >= 25) {
            lost += outcome.report.lost_bytes;
            expected += outcome.report.stages.iter().map(|stage| stage.expected_bytes).sum::<u64>();
        }
    }
    let routes = (0..ranks).flat_map(|rank| (0..ranks).map(move |peer| (rank, peer))).filter(|(a, b)| a != b);
    let rates = routes.filter_map(|(rank, peer)| network.ranks[rank].rate_bytes_per_us(peer)).collect();
    (lost, expected, rates)
}

#[test]
fn on_narrow_links_little_is_lost_with_and_without_rates_that_follow_round_trips() {
    // A stage's 180 to 360 KB per rank take 144 to 288 us on a link.
    let bound_ns = 2_000_000;
    for seed in seeds(0..8) {
        let (lost, expected, rates) = on_narrow_links(seed, true, bound_ns);
        // Congestion windows alone, without rates, lose at most a third.
        let (lost_without, ..) = on_narrow_links(seed, false, bound_ns);
        assert!(lost_without * 3 < expected, "seed {seed}: {lost_without} of {expected} bytes lost without rates");
        assert!(lost * 50 < expected, "seed {seed}: {lost} of {expected} bytes lost with control");
        // A third of a link is 417 bytes per us.
        assert!(rates.iter().all(|rate| (200.0..1250.0).contains(rate)), "seed {seed}: rates {rates:?}");
    }
}

#[test]
fn ranks_that_agree_take_the_same_action_whatever_each_has_lost() {
    use optireduce_core::protocol::{PACKETS_HALT, UpdateAction, VoteParams};
    let (mut disagreements, mut skips, mut halts) = (0, 0, 0);
    for seed in seeds(0..60) {
        for agree in [false, true] {
            let mut case = Case::new(seed);
            case.elements += 500;
            let impairments = Impairments { loss: 0.1, delay_ns: 1000..50_000, ..Impairments::default() };
            let mut network = case.network(impairments, 10_000_000, Some(EarlyRule { grace_ns: 100_000 }));
            let params = VoteParams { leader_ns: PATIENT_NS, others_ns: 2 * PATIENT_NS };
            if agree {
                network.ranks.iter_mut().for_each(|rank| rank.agree_on_updates(params));
            }
            let (mut skipped_before, mut packets) = (0, 0);
            for op in 0..6 {
                let gradients = case.gradients();
                let starts: Vec<_> = (0..case.ranks).map(|_| Some(case.random.below(100_000))).collect();
                let outcomes = network.all_reduce(0, &gradients, case.hadamard, &starts);
                let reports: Vec<_> = outcomes.iter().map(|outcome| &outcome.as_ref().unwrap().report).collect();
                let too_much = |rank: usize| reports[rank].network_loss() > 0.1;
                let same = reports.iter().all(|report| report.action == reports[0].action);
                let what = format!("seed {seed}, collective {op}, {} ranks", case.ranks);
                assert!(reports.iter().all(|report| report.agreed == agree), "{what}");
                if !agree {
                    disagreements += usize::from(!same);
                    continue;
                }
                let skip = (0..case.ranks).any(too_much);
                (skipped_before, packets) =
                    if skip { (skipped_before + 1, packets + reports[0].packets) } else { (0, 0) };
                assert!(reports.iter().all(|report| report.packets == reports[0].packets), "{what}");
                skips += usize::from(skip);
                let expected = match skipped_before {
                    0 => UpdateAction::Apply,
                    3.. if packets >= PACKETS_HALT => UpdateAction::Halt,
                    _ => UpdateAction::Skip,
                };
                halts += usize::from(expected == UpdateAction::Halt);
                assert!(same && reports[0].action == expected, "{what}: {:?}, {expected:?}", reports[0].action);
            }
        }
    }
    let enough = disagreements > 20 && skips > 20 && halts > 0;
    assert!(enough || std::env::var("SEEDS").is_ok(), "{disagreements}, {skips}, {halts}");
}

#[test]
fn however_long_round_trips_are_a_shard_gets_through_in_half_the_bound() {
    let (ranks, elements, bound_ns) = (4, 100_000, 2_000_000);
    let impairments = Impairments { delay_ns: 700_000..700_001, ..Impairments::default() };
    let job =
        |rank| SoftwareJob { in_flight_bytes_max: vec![1 << 40; 4], ..SoftwareJob::new(rank, ranks, JOB_TAG, 22) };
    let mut network = Network::with_jobs(ranks, impairments, 1, job, |rank, plane| {
        JobParams::new(rank, ranks, 22, bound_ns, &plane.limits())
    });
    network.ranks.iter_mut().for_each(|rank| rank.follow_round_trips(12_500).unwrap());
    let mut random = Random(1);
    for _ in 0..30 {
        let gradients: Vec<_> = (0..ranks).map(|_| random.gradient(elements)).collect();
        network.all_reduce(0, &gradients, false, &vec![Some(0); ranks]);
    }
    // 25 000 elements of 4 bytes in 1000 us.
    let rate = network.ranks[0].rate_bytes_per_us(1).unwrap();
    assert!((100.0..110.0).contains(&rate), "{rate}");
}

#[test]
fn packets_of_another_view_are_not_taken_into_a_window_of_the_same_collective() {
    let mut plane = Software::new(SoftwareJob::new(0, 3, JOB_TAG, 4)).unwrap();
    let first = JobParams::new(0, 3, 4, PATIENT_NS, &plane.limits());
    let settings = Settings::first(PATIENT_NS);
    let view = View { number: 1, first_op: 9, epoch: 1, ..View::first(Ranks::none(3).with([0, 2]), settings) };
    assert!(plane.enter(&view).unwrap());
    let params = first.of_view(&view);
    let plan = plan_windows(&params, 9, 0, 8 * LANES, false).unwrap().remove(0);
    lend(&mut plane, &plan, Role::Result);
    plane.arm(&plan, &params).unwrap();
    let own = plan.shards.range_of(0);
    let packet = |sender: u16, job_tag: u64| {
        let offset = (own.start * BEAT_BYTES) as u32;
        let header = UbtHeader { offset, sender, step: plan.step, job_tag, ..UbtHeader::default() };
        [&header.to_bytes()[..], &[0; 4 * BEAT_BYTES]].concat()
    };
    for (from, sender, tag) in
        [(2, 2, JOB_TAG), (1, 1, JOB_TAG), (1, 1, view.job_tag(JOB_TAG)), (2, 2, view.job_tag(JOB_TAG))]
    {
        plane.handle_datagram(Some(from), &packet(sender, tag));
    }
    plane.take_trace();
    let counters = *plane.counters();
    let malformed_and_source = (counters.drop_malformed, counters.drop_source);
    assert_eq!((counters.drop_no_window, malformed_and_source), (2, (1, 1)), "{counters:?}");
    plane.handle_datagram(Some(2), &packet(1, view.job_tag(JOB_TAG)));
    assert!(plane.take_trace().iter().all(|one| one.sender == 1));
    let mut expected = counters;
    expected.rx_packets = 5;
    assert_eq!((*plane.counters(), plane.take_heard()), (expected, Ranks::none(3).with([1, 2])));
}

#[test]
fn a_peer_that_is_held_keeps_nothing_from_others_however_much_waits_for_it() {
    let mut plane = Software::new(SoftwareJob { slots: 200, ..SoftwareJob::new(0, 3, JOB_TAG, 4) }).unwrap();
    let params = JobParams::new(0, 3, 4, PATIENT_NS, &plane.limits());
    let windows: Vec<_> = (0..150)
        .map(|bucket| plan_windows(&params, bucket.into(), bucket, 6 * LANES, false).unwrap().remove(0))
        .inspect(|plan| {
            lend(&mut plane, plan, Role::Result);
            plane.arm(plan, &params).unwrap();
            lend(&mut plane, plan, Role::Gradient);
            plane.contribute(plan).unwrap();
        })
        .collect();
    let drain = |plane: &mut Software| {
        let mut sent = [0; 3];
        while let Some(transmit) = plane.poll_transmit(Batch { segments_max: 1, bytes_max: 1 << 16 }) {
            sent[transmit.to] += 1;
        }
        sent
    };
    let release_ns = 5_000_000;
    plane.hold(1, release_ns);
    assert_eq!(drain(&mut plane), [0, 0, windows.len()]);
    assert_eq!(plane.next_timeout(), Some(release_ns), "and it is not asked for before");
    plane.hold(1, 0);
    assert_eq!(plane.next_timeout(), Some(0));
    plane.hold(1, release_ns);
    plane.advance(release_ns);
    assert_eq!(drain(&mut plane), [0, windows.len(), 0]);
}

fn lend(plane: &mut Software, plan: &WindowPlan, role: Role) {
    plane.lend(Memory { op: plan.op, role, first_element: 0 }, vec![1.0; plan.elements].into());
}

/// Rank 0 of `ranks`, traced, with a window of ones that is armed and contributed.
fn contributed(ranks: usize, params: &JobParams, beats: usize, step: u16) -> (Software, WindowPlan) {
    let mut plane = Software::new(SoftwareJob::new(0, ranks, JOB_TAG, 4)).unwrap();
    let plan = plan_windows(params, step.into(), 0, beats * LANES, false).unwrap().remove(0);
    plane.take_trace();
    lend(&mut plane, &plan, Role::Result);
    plane.arm(&plan, params).unwrap();
    lend(&mut plane, &plan, Role::Gradient);
    plane.contribute(&plan).unwrap();
    (plane, plan)
}

#[test]
fn what_is_not_finite_is_counted_whatever_was_lost_repaired_or_skipped() {
    let (mut counted, mut corrected, mut skipped) = (0, 0, 0);
    for seed in seeds(0..40) {
        let mut case = Case::new(seed);
        let impairments = Impairments { loss: 0.08, delay_ns: 1000..50_000, ..Impairments::default() };
        let mut network = case.network(impairments, 1_000_000, Some(EarlyRule { grace_ns: 100_000 }));
        network.ranks.iter_mut().for_each(|rank| rank.repair());
        for _ in 0..10 {
            let mut gradients = case.gradients();
            for _ in 0..case.random.below(3) {
                let (rank, at) = (case.random.below(case.ranks as u64), case.random.below(case.elements as u64));
                gradients[rank as usize][at as usize] = f32::INFINITY;
            }
            let starts: Vec<_> = (0..case.ranks).map(|_| Some(case.random.below(100_000))).collect();
            for outcome in network.all_reduce(0, &gradients, case.hadamard, &starts).into_iter().flatten() {
                let Outcome { report, result, partial, .. } = outcome;
                let values = partial.as_ref().unwrap_or(&result);
                let expected = values.iter().filter(|value| !value.is_finite()).count() as u64;
                assert_eq!(report.not_finite, expected, "seed {seed}: {report:?}");
                counted += expected;
                corrected += u64::from(report.repair.corrected);
                skipped += u64::from(partial.is_some());
            }
        }
    }
    let all = counted > 100 && corrected > 100 && skipped > 20;
    assert!(all || std::env::var("SEEDS").is_ok(), "{counted} values, {corrected} corrected, {skipped} skipped");
}

/// A contribution was truncated on its way and this rank is late, so the rest of that packet has no
/// contributor. A peer would accept its mean as zeros.
#[test]
fn a_packet_of_means_ends_where_nobody_contributed() {
    // Received beats of the packet (in bf16 they travel in pairs), and beats of means sent.
    for (bf16, came, sent) in [(false, 3, 3), (true, 4, 4), (false, 4, 4), (false, 0, 0)] {
        let params = JobParams {
            bf16,
            start_peers: 1,
            window_beats_max: 16,
            ..JobParams::new(0, 2, 4, 1000, &PlaneLimits::CARD)
        };
        let mut plane = Software::new(SoftwareJob::new(0, 2, JOB_TAG, 4)).unwrap();
        let plan = plan_windows(&params, 0, 0, 16 * LANES, false).unwrap().remove(0);
        lend(&mut plane, &plan, Role::Result);
        plane.arm(&plan, &params).unwrap();
        let own = plan.shards.range_of(0);
        let packet_beats = plan.shape().packet_beats(4);
        for (first, beats) in [(own.start, came), (own.start + packet_beats, own.len().saturating_sub(packet_beats))] {
            let offset = (first * BEAT_BYTES) as u32;
            let flags = plan.shape().packet_flags();
            let header = UbtHeader { offset, sender: 1, flags, job_tag: JOB_TAG, ..UbtHeader::default() };
            let payload = vec![1; plan.shape().payload_beats(beats) * BEAT_BYTES];
            if beats > 0 {
                plane.handle_datagram(Some(1), &[&header.to_bytes()[..], &payload].concat());
            }
        }
        plane.advance(1001);
        let mut means = 0;
        while let Some(transmit) = plane.poll_transmit(Batch { segments_max: 4, bytes_max: 65_000 }) {
            let packets = transmit.datagrams().map(|one| plan.shape().packet_beats(one.payload.len() / BEAT_BYTES));
            means += packets.sum::<usize>();
        }
        let expected = sent + own.len().saturating_sub(packet_beats);
        assert_eq!(means, expected, "bf16 {bf16}, {came} beats of the first packet came");
    }
}

/// Packets to a peer leave in one train if only the last datagram is shorter. Under loss they do
/// not, since each shard is answered separately.
#[test]
fn packets_of_several_buckets_leave_in_one_train() {
    let quiet = JobParams { start_peers: 0, ..JobParams::new(0, 3, 4, 1000, &PlaneLimits::CARD) };
    let lossy = JobParams { expect_loss: true, ..quiet.clone() };
    // `beats`: this rank's contribution to each peer, by bucket.
    let trains_of = |params: &JobParams, beats: &[usize], batch: Batch| {
        let mut plane = Software::new(SoftwareJob::new(0, 3, JOB_TAG, 4)).unwrap();
        for (op, beats) in beats.iter().enumerate() {
            let plan = plan_windows(params, op as u32, op as u16, 3 * beats * LANES, false).unwrap().remove(0);
            lend(&mut plane, &plan, Role::Gradient);
            lend(&mut plane, &plan, Role::Result);
            plane.arm(&plan, params).unwrap();
            plane.contribute(&plan).unwrap();
        }
        let mut trains: [Vec<Vec<usize>>; 3] = Default::default();
        while let Some(transmit) = plane.poll_transmit(batch) {
            let (bytes, mut whole) = (transmit.segment_bytes, Vec::new());
            transmit.copy_to(&mut whole);
            let cut = whole
                .chunks(bytes)
                .map(|one| UbtHeader::from_bytes(one.first_chunk().unwrap(), JOB_TAG).unwrap().bucket);
            let said = transmit.datagrams().map(|one| u16::from_be_bytes([one.header[0], one.header[1]]));
            assert!(cut.eq(said), "the kernel cuts datagrams elsewhere: {beats:?}");
            trains[transmit.to].push(transmit.datagrams().map(|one| one.payload.len() / BEAT_BYTES).collect());
        }
        let [own, first, second] = trains;
        assert!(own.is_empty() && first == second, "{beats:?}: {first:?}, {second:?}");
        first
    };
    let trains = |beats: &[usize], batch| trains_of(&quiet, beats, batch);
    let all = Batch { segments_max: 64, bytes_max: 65_000 };

    assert_eq!(trains(&[1; 20], all), [vec![1; 20]], "small buckets");
    assert_eq!(trains(&[2, 2, 1, 2, 2], all), [vec![2, 2, 1], vec![2, 2]], "a shorter one ends a train");
    assert_eq!(trains(&[1, 2, 1], all), [vec![1, 1], vec![2]], "a longer one waits");
    assert_eq!(trains(&[8, 8, 3], all), [vec![4, 4, 4, 4, 3]], "several packets of a bucket");
    assert_eq!(trains(&[5, 5], all), [vec![4, 1], vec![4, 1]], "packets that are not full end their buckets");
    assert_eq!(trains(&[1; 7], Batch { segments_max: 3, ..all }), [vec![1; 3], vec![1; 3], vec![1]]);
    assert_eq!(trains_of(&lossy, &[1; 2], all), [vec![1], vec![1], vec![1], vec![1]], "and each end once more");
    let bytes_max = 3 * (BEAT_BYTES + 22) + 1;
    assert_eq!(trains(&[1; 7], Batch { bytes_max, ..all }), [vec![1; 3], vec![1; 3], vec![1]]);
}

/// Packets that leave after the caller has overwritten its memory must carry the original data: in
/// place, with a partial last beat, and in bf16.
#[test]
fn memory_may_be_reclaimed_before_all_of_it_was_sent() {
    for (elements, bf16) in [(16 * LANES, false), (16 * LANES - 5, false), (16 * LANES, true)] {
        let params = JobParams {
            bf16,
            start_peers: 0,
            window_beats_max: 16,
            ..JobParams::new(0, 3, 4, 1000, &PlaneLimits::CARD)
        };
        let sent = |reclaims: bool| {
            let mut plane = Software::new(SoftwareJob::new(0, 3, JOB_TAG, 4)).unwrap();
            let plan = plan_windows(&params, 0, 0, elements, false).unwrap().remove(0);
            lend(&mut plane, &plan, Role::Result);
            plane.arm(&plan, &params).unwrap();
            let gradient: Vec<f32> = (0..elements).map(|at| at as f32).collect();
            plane.lend(Memory { op: 0, role: Role::Gradient, first_element: 0 }, gradient.into());
            plane.contribute(&plan).unwrap();
            let mut datagrams = Vec::new();
            let one = Batch { segments_max: 1, bytes_max: 65_000 };
            let first = plane.poll_transmit(one).unwrap();
            datagrams.extend(first.datagrams().map(|one| (*one.header, one.payload.to_vec())));
            plane.advance(1001);
            plane.advance(2002);
            plane.take_result(&plan, &mut |_| {}).unwrap();
            let memories = [Role::Gradient, Role::Result].map(|role| Memory { op: 0, role, first_element: 0 });
            for memory in memories.into_iter().filter(|_| reclaims) {
                let mut values = plane.reclaim(memory).unwrap();
                values.fill(-7.0);
            }
            while let Some(transmit) = plane.poll_transmit(Batch { segments_max: 4, ..one }) {
                datagrams.extend(transmit.datagrams().map(|one| (*one.header, one.payload.to_vec())));
            }
            datagrams
        };
        let (kept, reclaimed) = (sent(false), sent(true));
        assert!(kept.iter().all(|(_, payload)| !payload.is_empty()) && kept.len() >= 4, "{} packets", kept.len());
        assert!(kept == reclaimed, "{elements} elements, bf16 {bf16}");
    }
}

#[test]
fn a_job_of_more_ranks_than_a_word_has_bits_sums_and_reports_each() {
    let ranks = 150;
    let params = JobParams { start_peers: 0, ..JobParams::new(0, ranks, 4, PATIENT_NS, &PlaneLimits::CARD) };
    let (mut plane, plan) = contributed(ranks, &params, 2 * ranks, 0);
    let send = |plane: &mut Software, stage: Stage, sender: usize, value: f32| {
        let shard = plan.shards.range_of(if stage == Stage::Contribute { 0 } else { sender });
        let offset = (shard.start * BEAT_BYTES) as u32;
        let stage = stage.on_wire();
        let header = UbtHeader { stage, offset, sender: sender as u16, job_tag: JOB_TAG, ..UbtHeader::default() };
        let payload: Vec<u8> = vec![value; 2 * LANES].into_iter().flat_map(f32::to_le_bytes).collect();
        plane.handle_datagram(Some(sender), &[&header.to_bytes()[..], &payload].concat());
    };
    // Ranks 64 apart use the same bit of different words.
    for sender in (1..ranks).chain([65, 129]) {
        send(&mut plane, Stage::Contribute, sender, 4.0);
    }
    assert_eq!(plane.counters().drop_duplicate_beats, 0, "the stage is complete with the last of them");
    assert_eq!((plane.counters().drop_late_beats, plane.late_bytes()), (4, Some(0)), "late, and not missing");
    (1..ranks).for_each(|sender| send(&mut plane, Stage::Broadcast, sender, sender as f32));
    for stage in Stage::ALL {
        let Some(PlaneEvent::Stage(report)) = plane.poll().unwrap() else { panic!("no report of the {stage} stage") };
        assert_eq!((report.stage, report.closed_by), (stage, ClosedBy::Complete));
        assert!(report.heard.iter().eq(1..ranks), "{:?}", report.heard);
        let own_bytes = if stage == Stage::Contribute { 128 } else { 0 };
        assert_eq!(report.received_bytes_per_rank, [vec![own_bytes], vec![128; ranks - 1]].concat());
    }
    assert!(plane.take_heard().iter().eq(1..ranks));
    plane.take_result(&plan, &mut |_| {}).unwrap();
    let result = plane.reclaim(Memory { op: plan.op, role: Role::Result, first_element: 0 }).unwrap();
    let mean = (1.0 + 4.0 * (ranks - 1) as f32) * (1.0 / ranks as f32);
    for (rank, values) in result.chunks(2 * LANES).enumerate() {
        assert_eq!(values, [if rank == 0 { mean } else { rank as f32 }; 2 * LANES], "the shard of rank {rank}");
    }
}

/// Counters in the contract's order of checks.
fn causes(plane: &Software) -> [u64; 7] {
    let c = plane.counters();
    let of_window = [c.drop_no_window, c.drop_stale, c.drop_flags, c.drop_out_of_shard];
    [c.drop_malformed, c.drop_version, c.drop_job, of_window[0], of_window[1], of_window[2], of_window[3]]
}

#[test]
fn a_datagram_with_several_faults_is_dropped_for_the_first_of_them_as_on_a_card() {
    let params = JobParams::new(0, 3, 4, PATIENT_NS, &PlaneLimits::CARD);
    let (mut plane, plan) = contributed(3, &params, 9, 5);
    let good = UbtHeader { sender: 1, step: plan.step, job_tag: JOB_TAG, ..UbtHeader::default() };
    let other_job = UbtHeader { job_tag: JOB_TAG ^ 1, ..good };
    let version = |bytes: &mut Vec<u8>| bytes[9] ^= 0x30;
    type Damage<'a> = &'a dyn Fn(&mut Vec<u8>);
    let none: Damage<'_> = &|_| ();
    let cases: [(&str, UbtHeader, usize, Damage<'_>, usize); 12] = [
        ("sender, version", UbtHeader { sender: 3, ..good }, 64, &version, 0),
        ("sender, job", UbtHeader { sender: 3, ..other_job }, 64, none, 0),
        ("own, job", UbtHeader { sender: 0, ..other_job }, 64, none, 0),
        ("stage, job", UbtHeader { stage: 1, ..other_job }, 64, none, 0),
        ("offset, version", UbtHeader { offset: 32, ..good }, 64, &version, 0),
        ("no payload, job", other_job, 0, none, 0),
        ("half a beat, job", other_job, 32, none, 0),
        ("version, job", other_job, 64, &version, 1),
        ("job, bucket", UbtHeader { bucket: 9, ..other_job }, 64, none, 2),
        ("stale, flags", UbtHeader { step: 4, flags: 4, ..good }, 64, none, 4),
        ("flags, shard", UbtHeader { flags: 4, offset: 64 * 3, ..good }, 64, none, 5),
        ("shard", UbtHeader { offset: 64 * 3, ..good }, 64, none, 6),
    ];
    for (what, header, payload_bytes, damage, cause) in cases {
        let mut expected = causes(&plane);
        expected[cause] += 1;
        let mut bytes = [&header.to_bytes()[..], &vec![0; payload_bytes]].concat();
        damage(&mut bytes);
        plane.handle_datagram(Some(1), &bytes);
        assert_eq!(causes(&plane), expected, "{what}");
    }
    // Cards check address and length first, the software plane last.
    let lower = |plane: &Software| (plane.counters().drop_source, plane.counters().drop_too_long);
    let before = lower(&plane);
    for (what, from, header, beats, cause, found) in [
        ("job, source", 2, other_job, 1, Some(2), (0, 0)),
        ("source", 2, good, 1, None, (1, 0)),
        ("source, too long", 2, good, 5, None, (2, 0)),
        ("too long", 1, good, 5, None, (2, 1)),
    ] {
        let mut expected = causes(&plane);
        cause.into_iter().for_each(|cause: usize| expected[cause] += 1);
        plane.handle_datagram(Some(from), &[&header.to_bytes()[..], &vec![0; 64 * beats]].concat());
        assert_eq!(causes(&plane), expected, "{what}");
        assert_eq!(lower(&plane), (before.0 + found.0, before.1 + found.1), "{what}");
    }
}
