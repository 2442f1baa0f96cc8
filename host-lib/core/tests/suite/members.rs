//! Software ranks that agree on members and shared settings over a virtual network, with crashes,
//! outages, losses and unsuitable bounds.

use std::collections::{BTreeMap, BTreeSet};

use optireduce_core::protocol::repair::RepairReport;
use optireduce_core::protocol::{
    BoundParams, CLEAN_OPS, ClosedBy, EarlyRule, HadamardMode, JobParams, MembershipParams, UpdateAction, VoteParams,
};
use optireduce_core::software::Software;
use optireduce_core::{Collectives, DataPlane, MembershipEvent};

use crate::seeds;
use crate::virtual_network::{Impairments, Network, Outcome, Random};

const BOUND_NS: u64 = 1_000_000;
const SILENT_OPS: u32 = 5;
const LEAD_OPS: u32 = 4;

fn network(seed: u64, ranks: usize, impairments: Impairments, with_members: bool) -> Network {
    let mut network = without_members(seed, ranks, impairments, BOUND_NS);
    if with_members {
        network.ranks.iter_mut().for_each(|rank| rank.agree_on_views(members(ranks), HadamardMode::Off).unwrap());
    }
    network
}

fn without_members(seed: u64, ranks: usize, impairments: Impairments, bound_ns: u64) -> Network {
    Network::new(ranks, 4, impairments, seed, |rank, plane| JobParams {
        window_beats_max: 40,
        ..JobParams::new(rank, ranks, 4, bound_ns, &plane.limits())
    })
}

fn members(ranks: usize) -> MembershipParams {
    MembershipParams {
        silent_ops: Some(SILENT_OPS),
        silent_ns: BOUND_NS,
        lead_ops: LEAD_OPS,
        retry_ns: 1_000_000,
        ..MembershipParams::new(ranks)
    }
}

fn check_means(what: &str, outcomes: &[Option<Outcome>], gradients: &[Vec<f32>], live: &[usize]) {
    let results: Vec<&Vec<f32>> = live.iter().map(|rank| &outcomes[*rank].as_ref().expect(what).result).collect();
    for (element, first) in results[0].iter().enumerate() {
        assert!(results.iter().all(|result| result[element].to_bits() == first.to_bits()), "{what}: other bits");
        let sum: f64 = live.iter().map(|rank| f64::from(gradients[*rank][element])).sum();
        let mean = sum / live.len() as f64;
        assert!((f64::from(*first) - mean).abs() < 1e-5, "{what}: element {element} is {first}, expected {mean}");
    }
}

#[test]
fn a_crashed_rank_is_dropped_and_the_others_stop_paying_the_bound() {
    for seed in seeds(0..20) {
        let mut random = Random(seed << 20);
        let ranks = 2 + random.below(5) as usize;
        let elements = 16 * ranks + random.below(3000) as usize;
        let crash_op = 2 + random.below(10) as u32;
        // Of two ranks, only the lower one can continue alone.
        let crashed = if ranks == 2 { 1 } else { random.below(ranks as u64) as usize };
        for with_members in [true, false] {
            let impairments = Impairments { delay_ns: 1000..30_000, ..Impairments::default() };
            let mut network = network(seed, ranks, impairments, with_members);
            let live: Vec<usize> = (0..ranks).filter(|rank| *rank != crashed).collect();
            let mut paid = 0;
            for op in 0..crash_op + 30 {
                network.dead[crashed] = op >= crash_op;
                let gradients: Vec<_> = (0..ranks).map(|_| random.gradient(elements)).collect();
                let starts: Vec<_> =
                    (0..ranks).map(|rank| (!network.dead[rank]).then(|| random.below(20_000))).collect();
                let outcomes = network.all_reduce(0, &gradients, op % 3 == 0, &starts);
                let what = format!("seed {seed}, collective {op}, {ranks} ranks, {crashed} crashed at {crash_op}");
                let reports = live.iter().map(|rank| &outcomes[*rank].as_ref().expect(&what).report);
                let hit = reports.clone().any(|report| report.closed_by.contains(&ClosedBy::Deadline));
                paid += u32::from(hit);
                assert!(reports.clone().all(|report| report.live == outcomes[live[0]].as_ref().unwrap().report.live));
                let agreed = op > crash_op + SILENT_OPS;
                if agreed && with_members {
                    assert!(reports.clone().all(|report| report.live == live && report.lost_bytes == 0), "{what}");
                    assert!(!hit, "{what}: still pays the bound");
                    if op % 3 > 0 {
                        check_means(&what, &outcomes, &gradients, &live);
                    }
                }
            }
            let told =
                |events: &MembershipEvent| live.iter().all(|rank| network.events.contains(&(*rank, events.clone())));
            assert_eq!(
                told(&MembershipEvent::Silent { rank: crashed }),
                with_members,
                "seed {seed}: {:?}",
                network.events
            );
            assert!(with_members == (paid <= SILENT_OPS + 1), "seed {seed}: the bound was paid {paid} times");
        }
    }
}

/// In a bucket of few beats, most ranks own no shard and send only to the owners.
#[test]
fn ranks_that_have_nothing_to_send_are_not_taken_for_silent() {
    for elements in [0, 1, 40] {
        let (ranks, died, dies_op) = (8, 6, 40);
        let impairments = Impairments { delay_ns: 1000..30_000, ..Impairments::default() };
        let mut network = network(0, ranks, impairments, true);
        let mut dropped = None;
        for op in 0..dies_op + 60 {
            network.dead[died] = op >= dies_op;
            let gradients = vec![vec![1.0; elements]; ranks];
            let starts: Vec<_> = network.dead.iter().map(|dead| (!dead).then_some(0)).collect();
            let outcomes = network.all_reduce(0, &gradients, false, &starts);
            let live = &outcomes[0].as_ref().unwrap().report.live;
            if op < dies_op {
                assert_eq!(live.len(), ranks, "{elements} elements, collective {op}: {live:?}");
            } else if live.len() < ranks {
                assert_eq!(live, &[0, 1, 2, 3, 4, 5, 7], "{elements} elements, collective {op}");
                dropped.get_or_insert(op);
            }
        }
        // Each rank owns a beat in turn and then receives from all.
        assert_eq!(dropped.is_some(), elements > 0, "{elements} elements");
    }
}

/// More ranks than bits in a word of a set.
#[test]
fn seventy_ranks_vote_and_drop_one_that_dies() {
    let (ranks, elements, died, dies_op) = (70, 70 * 16, 68, 2);
    // Equal delays keep the test short.
    let impairments = Impairments { delay_ns: 10_000..10_001, ..Impairments::default() };
    let mut network =
        Network::new(ranks, 4, impairments, 0, |rank, plane| JobParams::new(rank, ranks, 4, BOUND_NS, &plane.limits()));
    network.ranks.iter_mut().for_each(|rank| rank.agree_on_views(members(ranks), HadamardMode::Off).unwrap());
    let votes = VoteParams { leader_ns: BOUND_NS, others_ns: 10 * BOUND_NS };
    network.ranks.iter_mut().for_each(|rank| rank.agree_on_updates(votes));
    let mut random = Random(0);
    let live: Vec<usize> = (0..ranks).filter(|rank| *rank != died).collect();
    let mut last = None;
    for op in 0..dies_op + 10 {
        network.dead[died] = op >= dies_op;
        let gradients: Vec<_> = (0..ranks).map(|_| random.gradient(elements)).collect();
        let starts: Vec<_> = network.dead.iter().map(|dead| (!dead).then_some(0)).collect();
        let outcomes = network.all_reduce(0, &gradients, false, &starts);
        let reports: Vec<_> = outcomes.iter().flatten().map(|outcome| &outcome.report).collect();
        assert!(reports.iter().all(|report| report.agreed), "collective {op}");
        assert!(reports.iter().all(|report| report.live == reports[0].live), "collective {op}");
        if op < dies_op {
            check_means("all are there", &outcomes, &gradients, &(0..ranks).collect::<Vec<_>>());
        }
        if reports[0].live == live {
            check_means("one was dropped", &outcomes, &gradients, &live);
            last = Some(op);
        }
    }
    assert_eq!(last, Some(dies_op + 9), "rank {died} was not dropped: {:?}", network.ranks[0].newest());
    assert!(live.iter().all(|rank| network.events.contains(&(*rank, MembershipEvent::Silent { rank: died }))));
}

#[test]
fn a_rank_that_was_not_heard_for_a_while_is_dropped_and_comes_back() {
    for seed in seeds(0..20) {
        let mut random = Random(seed << 20);
        let (ranks, elements) = (3 + random.below(4) as usize, 1 + random.below(3000) as usize);
        let away = random.below(ranks as u64) as usize;
        let outage = Some((away, 3_000_000..25_000_000));
        let impairments = Impairments { delay_ns: 1000..30_000, outage, ..Impairments::default() };
        let mut network = network(seed, ranks, impairments, true);
        let (mut op, mut joined_op, mut used) = (0, None, BTreeMap::new());
        while joined_op.is_none_or(|joined| op < joined + 10) {
            assert!(op < 3000, "seed {seed}: rank {away} does not come back: {:?}", network.events);
            let away_rank = &mut network.ranks[away];
            if !away_rank.is_member() && network.now_ns > 27_000_000 && joined_op.is_none() {
                joined_op = away_rank.join(network.now_ns, 1).map(|()| u32::MAX - 10).ok();
            }
            let other = (away + 1) % ranks;
            op = network.ranks[other].next_op();
            let starts = (0..ranks).map(|rank| (network.ranks[rank].next_op() == op).then(|| random.below(20_000)));
            let starts: Vec<_> = starts.collect();
            let gradients: Vec<_> = (0..ranks).map(|_| random.gradient(elements)).collect();
            let outcomes = network.all_reduce(0, &gradients, false, &starts);
            for (rank, outcome) in outcomes.iter().enumerate() {
                let Some(Outcome { report, .. }) = outcome else { continue };
                let live = used.entry(report.op).or_insert_with(|| report.live.clone());
                assert_eq!(live, &report.live, "seed {seed}, collective {}, rank {rank}", report.op);
            }
            let joins =
                |view: &optireduce_core::protocol::View| view.joined.is_some_and(|(rank, _)| usize::from(rank) == away);
            let joined = network.events.iter().find_map(|(rank, events)| match events {
                MembershipEvent::View(view) if *rank == away && joins(view) => Some(view.first_op),
                _ => None,
            });
            joined_op = joined.or(joined_op);
            if joined.is_some_and(|joined| op > joined) {
                let what = format!("seed {seed}, collective {op}, {ranks} ranks, {away} is back");
                check_means(&what, &outcomes, &gradients, &(0..ranks).collect::<Vec<_>>());
            }
        }
        assert!(network.events.contains(&(away, MembershipEvent::Dropped)), "seed {seed}");
        assert!(used.values().any(|live| live.len() == ranks - 1), "seed {seed}");
    }
}

#[test]
fn ranks_that_crash_one_after_the_other_are_each_dropped() {
    for seed in seeds(0..20) {
        let mut random = Random(seed << 20);
        let (ranks, elements) = (5 + random.below(3) as usize, 500 + random.below(2000) as usize);
        // After the first drop, places of later ranks differ from their numbers.
        let first = random.below(ranks as u64 - 2) as usize;
        let second = first + 1 + random.below((ranks - first - 1) as u64) as usize;
        let impairments = Impairments { delay_ns: 1000..30_000, ..Impairments::default() };
        let mut network = network(seed, ranks, impairments, true);
        let mut reports = Vec::new();
        for op in 0..60 {
            network.dead[first] = op >= 5;
            network.dead[second] = op >= 30;
            let gradients: Vec<_> = (0..ranks).map(|_| random.gradient(elements)).collect();
            let starts: Vec<_> = network.dead.iter().map(|dead| (!dead).then_some(0)).collect();
            let outcomes = network.all_reduce(0, &gradients, false, &starts);
            reports = outcomes.into_iter().flatten().map(|outcome| outcome.report).collect();
        }
        let live: Vec<usize> = (0..ranks).filter(|rank| ![first, second].contains(rank)).collect();
        for report in reports {
            let what = format!("seed {seed}, {first} and then {second} of {ranks} crashed");
            assert_eq!((&report.live, report.lost_bytes), (&live, 0), "{what}");
        }
    }
}

fn hadamard_of(what: &str, outcomes: &[Option<Outcome>]) -> bool {
    let encoded: BTreeSet<bool> = outcomes.iter().flatten().map(|outcome| outcome.report.hadamard).collect();
    assert_eq!(encoded.len(), 1, "{what}: some ranks encode and others do not");
    encoded.contains(&true)
}

#[test]
fn under_loss_all_ranks_switch_to_hadamard_at_the_same_collective_even_if_one_crashes() {
    for seed in seeds(0..20) {
        let mut random = Random(seed << 20);
        let (ranks, elements) = (3 + random.below(4) as usize, 2000 + random.below(2000) as usize);
        let impairments = Impairments { delay_ns: 1000..30_000, ..Impairments::default() };
        let mut network = without_members(seed, ranks, impairments, BOUND_NS);
        let is_fixed = random.chance(0.5);
        let silent_ops = (!is_fixed).then_some(SILENT_OPS);
        for rank in &mut network.ranks {
            let params = MembershipParams { silent_ops, ..members(ranks) };
            rank.agree_on_views(params, HadamardMode::Auto).unwrap();
        }
        network.letters_ns = 1000..1001 + random.below(1_000_000);
        let (lossy_op, mut crashed, mut first_on) = (2 + random.below(3), None, None);
        let crashes = random.chance(0.5);
        for op in 0..lossy_op + 60 {
            network.impairments.loss = if op >= lossy_op { 0.06 } else { 0.0 };
            if crashes && op == lossy_op + 1 {
                crashed = Some(random.below(ranks as u64) as usize);
            }
            crashed.into_iter().for_each(|rank: usize| network.dead[rank] = true);
            let gradients: Vec<_> = (0..ranks).map(|_| random.gradient(elements)).collect();
            let starts: Vec<_> = network.dead.iter().map(|dead| (!dead).then(|| random.below(20_000))).collect();
            let outcomes = network.all_reduce(0, &gradients, HadamardMode::Auto, &starts);
            let what = format!("seed {seed}, collective {op} of {ranks} ranks, {crashed:?} crashed, fixed: {is_fixed}");
            let on = hadamard_of(&what, &outcomes);
            assert!(!on || op > lossy_op, "{what}: encoded without loss");
            assert!(on || first_on.is_none(), "{what}: not encoded any more");
            first_on = first_on.or(on.then_some(op));
        }
        // Within four lossy collectives, one loses more than 2 % on some rank. An agreement
        // follows, possibly without the crashed rank.
        assert!(first_on.is_some_and(|op| op < lossy_op + 30), "seed {seed}: encoded from {first_on:?} on");
        let is_odd = |rank: &Collectives<Software>| rank.plane().counters().drop_flags > 0;
        assert!(!network.ranks.iter().any(is_odd), "seed {seed}: packets of the other kind came");
        let ranks_now = network.ranks[(crashed.unwrap_or(0) + 1) % ranks].newest().ranks.len();
        assert_eq!(ranks_now, ranks - usize::from(crashed.is_some() && !is_fixed), "seed {seed}");
    }
}

#[test]
fn once_nothing_is_lost_any_more_all_ranks_switch_back_at_the_same_collective() {
    for seed in seeds(0..10) {
        let mut random = Random(seed << 20);
        let (ranks, elements) = (2 + random.below(4) as usize, 2000 + random.below(2000) as usize);
        let impairments = Impairments { delay_ns: 1000..30_000, ..Impairments::default() };
        let mut network = without_members(seed, ranks, impairments, BOUND_NS);
        for rank in &mut network.ranks {
            rank.agree_on_views(members(ranks), HadamardMode::Auto).unwrap();
        }
        let lossy_ops = 40 + random.below(20) as u32;
        let mut encoded = vec![];
        for op in 0..lossy_ops + CLEAN_OPS + 40 {
            network.impairments.loss = if op < lossy_ops { 0.06 } else { 0.0 };
            let gradients: Vec<_> = (0..ranks).map(|_| random.gradient(elements)).collect();
            let starts: Vec<_> = (0..ranks).map(|_| Some(random.below(20_000))).collect();
            let outcomes = network.all_reduce(0, &gradients, HadamardMode::Auto, &starts);
            encoded.push(hadamard_of(&format!("seed {seed}, collective {op} of {ranks} ranks"), &outcomes));
        }
        let clean = &encoded[lossy_ops as usize..];
        let back = clean.iter().position(|on| !on).unwrap_or(clean.len());
        assert!(back >= CLEAN_OPS as usize, "seed {seed}: plain {back} collectives after the last loss");
        assert!(!clean[back..].is_empty() && !clean[back..].contains(&true), "seed {seed}: {encoded:?}");
        let is_odd = |rank: &Collectives<Software>| rank.plane().counters().drop_flags > 0;
        assert!(!network.ranks.iter().any(is_odd), "seed {seed}: packets of the other kind came");
    }
}

#[test]
fn a_rank_that_comes_back_takes_transform_and_bound_from_its_view() {
    for seed in seeds(0..8) {
        let mut random = Random(seed << 20);
        let (ranks, elements) = (3 + random.below(4) as usize, 2000 + random.below(2000) as usize);
        let away = random.below(ranks as u64) as usize;
        let outage = Some((away, 3_000_000..25_000_000));
        let impairments = Impairments { delay_ns: 1000..30_000, outage, ..Impairments::default() };
        let mut network = without_members(seed, ranks, impairments, BOUND_NS);
        let bound = Some(BoundParams { min_ns: 1000, max_ns: BOUND_NS });
        for rank in &mut network.ranks {
            rank.agree_on_views(MembershipParams { bound, ..members(ranks) }, HadamardMode::Auto).unwrap();
        }
        let (mut used, mut op, mut has_joined, mut back) = (BTreeMap::new(), 0, false, 0);
        while back < 3 {
            assert!(op < 3000, "seed {seed}: rank {away} does not come back: {:?}", network.events);
            if !network.ranks[away].is_member() && network.now_ns > 27_000_000 {
                let _ = network.ranks[away].join(network.now_ns, 1);
            }
            network.impairments.loss = if (10_000_000..27_000_000).contains(&network.now_ns) { 0.06 } else { 0.0 };
            let other = (away + 1) % ranks;
            op = network.ranks[other].next_op();
            let starts = (0..ranks).map(|rank| (network.ranks[rank].next_op() == op).then(|| random.below(20_000)));
            let starts: Vec<_> = starts.collect();
            let gradients: Vec<_> = (0..ranks).map(|_| random.gradient(elements)).collect();
            let outcomes = network.all_reduce(0, &gradients, HadamardMode::Auto, &starts);
            // A rank that is being dropped may still call a collective, alone, in the old view.
            let is_dropped = !network.ranks[other].newest().has(away);
            for (rank, outcome) in outcomes.iter().enumerate().filter(|(rank, _)| !(is_dropped && *rank == away)) {
                let Some(Outcome { report, .. }) = outcome else { continue };
                let found = (report.live.clone(), report.hadamard, report.bound_ns);
                let expected = used.entry(report.op).or_insert_with(|| found.clone());
                assert_eq!(&found, expected, "seed {seed}, collective {}, rank {rank}", report.op);
            }
            let comer = &network.ranks[away];
            has_joined = comer.is_member() && (has_joined || comer.newest().joined.is_some());
            back += u32::from(has_joined && outcomes[away].is_some());
        }
        let (live, hadamard, bound_ns) = &used[used.keys().last().unwrap()];
        assert_eq!((live.len(), *hadamard), (ranks, true), "seed {seed}");
        assert!(*bound_ns < BOUND_NS, "seed {seed}: {bound_ns} ns");
    }
}

fn add_outputs(sums: &mut [Vec<f64>], outcomes: &[Option<Outcome>]) {
    for (sum, outcome) in sums.iter_mut().zip(outcomes) {
        let Outcome { report, result, .. } = outcome.as_ref().expect("all ranks take part");
        if report.action == UpdateAction::Apply {
            sum.iter_mut().zip(result).for_each(|(sum, value)| *sum += f64::from(*value));
        }
    }
}

fn apart(sums: &[Vec<f64>]) -> f64 {
    let differences = sums.iter().flat_map(|sum| sum.iter().zip(&sums[0]).map(|(a, b)| (a - b).abs()));
    differences.fold(0.0, f64::max)
}

#[test]
fn after_repair_replicas_agree_again() {
    let (mut counted, mut repaired, mut agreed, mut apart_without) = (0, 0, 0, 0);
    for seed in seeds(0..30) {
        let mut random = Random(seed << 20);
        let (ranks, elements) = (2 + random.below(5) as usize, 1 + random.below(4000) as usize);
        let (bf16, incast, letters_max) =
            (random.chance(0.3), 1 + random.below(3) as usize, 1 + random.below(3_000_000));
        for with_repair in [true, false] {
            let mut random = random.clone();
            let impairments =
                Impairments { loss: 0.02, duplicate: 0.05, delay_ns: 1000..30_000, ..Impairments::default() };
            let mut network = Network::new(ranks, 4, impairments, seed, |rank, plane| JobParams {
                window_beats_max: 40,
                bf16,
                incast,
                early: Some(EarlyRule { grace_ns: 50_000 }),
                ..JobParams::new(rank, ranks, 4, BOUND_NS, &plane.limits())
            });
            network.letters_ns = 1000..1001 + letters_max;
            if with_repair {
                network.ranks.iter_mut().for_each(|rank| rank.repair());
            }
            let mut sums = vec![vec![0.0; elements]; ranks];
            let (mut op, mut skipped, mut missing) = (0, false, 0);
            let open = |network: &Network| {
                network.ranks.iter().any(|rank| rank.repaired().is_some_and(|report| report.outstanding_bytes > 0))
            };
            // Twelve lossy collectives, then more until repairs settle.
            let mut calm = 0;
            while op < 12 || calm < 3 {
                if op == 12 {
                    network.impairments.loss = 0.0;
                }
                calm = if op >= 12 && !open(&network) { calm + 1 } else { 0 };
                assert!(op < 200, "seed {seed}: repairs do not end");
                let gradients: Vec<_> = (0..ranks).map(|_| random.gradient(elements)).collect();
                let starts: Vec<_> = (0..ranks).map(|_| Some(random.below(50_000))).collect();
                let outcomes = network.all_reduce(0, &gradients, op % 3 == 1, &starts);
                skipped |= outcomes.iter().flatten().any(|outcome| outcome.report.action != UpdateAction::Apply);
                let lost = |outcome: &Outcome| {
                    outcome.report.stages[1].expected_bytes - outcome.report.stages[1].received_bytes
                };
                missing += outcomes.iter().flatten().map(lost).sum::<u64>();
                add_outputs(&mut sums, &outcomes);
                op += 1;
            }
            if skipped {
                continue; // skipped updates differ among ranks
            }
            let apart = apart(&sums);
            if !with_repair {
                apart_without += u32::from(apart > 0.01);
                continue;
            }
            let reports: Vec<_> = network.ranks.iter().map(|rank| rank.repaired().unwrap()).collect();
            let sum = |of: fn(&RepairReport) -> u64| reports.iter().map(of).sum::<u64>();
            assert_eq!(sum(|report| report.missing_bytes), missing, "seed {seed}: {reports:?}");
            assert_eq!(sum(|report| report.outstanding_bytes), 0, "seed {seed}: {reports:?}");
            if sum(|report| report.drift_bytes) == 0 {
                agreed += 1;
                assert!(apart < 1e-4, "seed {seed}: sums of {op} outputs are {apart} apart, {reports:?}");
            }
            counted += 1;
            repaired += u32::from(sum(|report| report.repaired_bytes) > 0);
        }
    }
    println!("{repaired} seeds with repairs, {agreed} without drift, {apart_without} apart if nothing is repaired");
    assert!(agreed * 20 > counted * 19, "{agreed} of {counted}: owners give what they have");
    assert!(repaired > 14 && agreed > 14 && apart_without > 14 || std::env::var("SEEDS").is_ok());
}
