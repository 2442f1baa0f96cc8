//! A thousand ranks in virtual time: small buckets, deaths of ranks, and counts of packets.

use std::collections::BTreeSet;

use optireduce_core::protocol::{HadamardMode, JobParams, MembershipParams, UpdateAction};
use optireduce_core::{DataPlane, MembershipEvent};

use crate::virtual_network::{Impairments, Network, Outcome, Random};

const RANKS: usize = 1000;
const LANES: usize = 16;
const BOUND_NS: u64 = 5_000_000;
const SILENT_OPS: u32 = 3;

fn network() -> Network {
    let impairments = Impairments { delay_ns: 10_000..10_001, ..Impairments::default() };
    let mut network =
        Network::new(RANKS, 4, impairments, 0, |rank, plane| JobParams::new(rank, RANKS, 4, BOUND_NS, &plane.limits()));
    network.keeps_sent = false;
    network.letters_ns = 50_000..50_001;
    for rank in &mut network.ranks {
        let params = MembershipParams {
            silent_ops: Some(SILENT_OPS),
            silent_ns: BOUND_NS,
            retry_ns: 5_000_000,
            ..MembershipParams::new(RANKS)
        };
        rank.agree_on_views(params, HadamardMode::Off).unwrap();
    }
    network
}

fn check_means(what: &str, outcomes: &[Option<Outcome>], gradients: &[Vec<f32>], live: &[usize]) {
    let first = outcomes[live[0]].as_ref().expect(what);
    for rank in live {
        let Outcome { report, result, .. } = outcomes[*rank].as_ref().expect(what);
        assert_eq!(
            (&report.live[..], report.lost_bytes, report.action),
            (live, 0, UpdateAction::Apply),
            "{what}, {rank}"
        );
        assert!(
            result.iter().zip(&first.result).all(|(a, b)| a.to_bits() == b.to_bits()),
            "{what}, {rank}: other bits"
        );
    }
    for (element, found) in first.result.iter().enumerate() {
        let sum: f64 = live.iter().map(|rank| f64::from(gradients[*rank][element])).sum();
        let mean = sum / live.len() as f64;
        assert!((f64::from(*found) - mean).abs() < 1e-5, "{what}: element {element} is {found}, expected {mean}");
    }
}

/// The coordinator and its successor are among the dead. With beats for only 64 owners, no quorum
/// misses a dead rank's data, so the end of its channel must count.
#[test]
fn a_thousand_ranks_drop_those_that_die_within_a_few_collectives() {
    let (beats, dies_op, died) = (64, 1, BTreeSet::from([0, 1, 500, 999]));
    let mut network = network();
    let mut random = Random(0);
    let live: Vec<usize> = (0..RANKS).filter(|rank| !died.contains(rank)).collect();
    let all: Vec<usize> = (0..RANKS).collect();
    let mut agreed = None;
    for op in 0..dies_op + SILENT_OPS + 3 {
        if op == dies_op {
            for dead in &died {
                network.dead[*dead] = true;
                live.iter().for_each(|rank| network.ranks[*rank].handle_gone(*dead));
            }
        }
        let gradients: Vec<_> = (0..RANKS).map(|_| random.gradient(beats * LANES)).collect();
        let starts: Vec<_> = network.dead.iter().map(|dead| (!dead).then_some(0)).collect();
        let (packets, letters) = (network.sent_count, network.letters_sent());
        let outcomes = network.all_reduce(0, &gradients, false, &starts);
        let packets = network.sent_count - packets;
        println!("collective {op}: {packets} packets, {} messages", network.letters_sent() - letters);
        let members = outcomes[live[0]].as_ref().unwrap().report.live.len();
        if op < dies_op {
            // Each owner receives a packet from every other rank and sends one to each.
            assert_eq!(packets, 2 * beats * (RANKS - 1), "collective {op}");
            check_means("all are there", &outcomes, &gradients, &all);
        } else if members == live.len() {
            agreed.get_or_insert(op);
            check_means("four were dropped", &outcomes, &gradients, &live);
        }
        assert!(outcomes.iter().flatten().all(|outcome| outcome.report.live.len() == members), "collective {op}");
    }
    assert_eq!(agreed, Some(dies_op + SILENT_OPS + 1), "{:?}", network.ranks[live[0]].newest());
    for rank in &live {
        let silent = |dead: &usize| network.events.contains(&(*rank, MembershipEvent::Silent { rank: *dead }));
        assert!(*rank % 97 > 0 || died.iter().all(silent), "rank {rank}");
    }
    // Each rank reports its suspects once to each other; other messages involve the coordinator.
    let letters = network.letters_sent();
    let at_least = live.len() * (RANKS - 1);
    assert!((at_least..at_least + 20 * RANKS).contains(&letters), "{letters} messages");
}
