//! Ranks that crash or cannot be heard for a while: software ranks that agree, over a virtual network, on who takes part.
//!
//! `SEEDS=from..to cargo test -p optireduce --test members` tries others; a failure names its seed.

mod virtual_network;

use std::collections::BTreeMap;

use optireduce::protocol::{ClosedBy, JobParams, MembershipParams};
use optireduce::{DataPlane, News};
use virtual_network::{Network, Outcome, Random, Weather};

const BOUND_NS: u64 = 1_000_000;
const SILENT_OPS: u32 = 3;
const LEAD_OPS: u32 = 4;

fn seeds(default: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("SEEDS") else { return default };
    let (from, to) = text.split_once("..").expect("SEEDS=from..to");
    from.parse().expect("from")..to.parse().expect("to")
}

fn network(seed: u64, ranks: usize, weather: Weather, with_members: bool) -> Network {
    let mut network = Network::new(ranks, 4, weather, seed, |rank, plane| JobParams {
        window_beats_max: 40,
        ..JobParams::new(rank, ranks, 4, BOUND_NS, &plane.limits())
    });
    let params = MembershipParams {
        silent_ops: SILENT_OPS,
        silent_ns: BOUND_NS,
        lead_ops: LEAD_OPS,
        retry_ns: 1_000_000,
        ..MembershipParams::new(ranks)
    };
    if with_members {
        network.ranks.iter_mut().for_each(|rank| rank.follow_members(params, false).unwrap());
    }
    network
}

/// All ranks have the same bits, and the mean over `live`.
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
    for seed in seeds(0..60) {
        let mut random = Random(seed << 20);
        let (ranks, elements) = (2 + random.below(5) as usize, 1 + random.below(3000) as usize);
        let crash_op = 2 + random.below(10) as u32;
        // Of two ranks only the lower one goes on alone.
        let crashed = if ranks == 2 { 1 } else { random.below(ranks as u64) as usize };
        for with_members in [true, false] {
            let weather = Weather { delay_ns: 1000..30_000, ..Weather::default() };
            let mut network = network(seed, ranks, weather, with_members);
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
                // K collectives, and one that begins while the ranks agree.
                let agreed = op > crash_op + SILENT_OPS;
                if agreed && with_members {
                    assert!(reports.clone().all(|report| report.live == live && report.lost_bytes == 0), "{what}");
                    assert!(!hit, "{what}: still pays the bound");
                    if op % 3 > 0 {
                        check_means(&what, &outcomes, &gradients, &live);
                    }
                }
            }
            let told = |news: &News| live.iter().all(|rank| network.news.contains(&(*rank, news.clone())));
            assert_eq!(told(&News::Silent { rank: crashed }), with_members, "seed {seed}: {:?}", network.news);
            assert!(with_members == (paid <= SILENT_OPS + 1), "seed {seed}: the bound was paid {paid} times");
        }
    }
}

#[test]
fn a_rank_that_was_not_heard_for_a_while_is_dropped_and_comes_back() {
    for seed in seeds(0..60) {
        let mut random = Random(seed << 20);
        let (ranks, elements) = (3 + random.below(4) as usize, 1 + random.below(3000) as usize);
        let away = random.below(ranks as u64) as usize;
        let outage = Some((away, 3_000_000..12_000_000));
        let weather = Weather { delay_ns: 1000..30_000, outage, ..Weather::default() };
        let mut network = network(seed, ranks, weather, true);
        let (mut op, mut joined_op, mut used) = (0, None, BTreeMap::new());
        while joined_op.is_none_or(|joined| op < joined + 10) {
            assert!(op < 3000, "seed {seed}: rank {away} does not come back: {:?}", network.news);
            let away_rank = &mut network.ranks[away];
            if !away_rank.is_member() && network.now_ns > 15_000_000 && joined_op.is_none() {
                // Repeated: it only asks anew.
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
                |view: &optireduce::protocol::View| view.joined.is_some_and(|(rank, _)| usize::from(rank) == away);
            let joined = network.news.iter().find_map(|(rank, news)| match news {
                News::View(view) if *rank == away && joins(view) => Some(view.first_op),
                _ => None,
            });
            joined_op = joined.or(joined_op);
            if joined.is_some_and(|joined| op > joined) {
                let what = format!("seed {seed}, collective {op}, {ranks} ranks, {away} is back");
                check_means(&what, &outcomes, &gradients, &(0..ranks).collect::<Vec<_>>());
            }
        }
        assert!(network.news.contains(&(away, News::Dropped)), "seed {seed}");
        assert!(used.values().any(|live| live.len() == ranks - 1), "seed {seed}");
    }
}
