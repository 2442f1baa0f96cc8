//! Virtual time of all-reduces on one level, on two, and with the paper's exchange between groups.
//! Source of the decision on two levels in ARCHITECTURE.md.

use optireduce_core::protocol::{JobParams, Kind};
use optireduce_core::{Call, DataPlane};

use crate::virtual_network::{Impairments, Link, Network, Random};

const RANKS: usize = 64;
const GROUPS: usize = 16;
const MEMBERS: usize = RANKS / GROUPS;
const BOUND_NS: u64 = 1_000_000_000;
const BYTES_PER_US: u64 = 1250;

/// Slowest rank's time of one collective without loss, if all start together.
fn takes_ns(ranks: usize, kind: Kind, elements: usize) -> u64 {
    let link = Some(Link { bytes_per_us: BYTES_PER_US, queue_bytes: 1 << 30 });
    let impairments = Impairments { delay_ns: 50_000..50_001, link, ..Impairments::default() };
    let mut network = Network::new(ranks, 64, impairments, 0, |rank, plane| {
        JobParams::new(rank, ranks, 64, BOUND_NS, &plane.limits())
    });
    network.keeps_sent = false;
    let given = if kind == Kind::AllGather { elements / ranks } else { elements };
    let given: Vec<_> = (0..ranks).map(|rank| Random(rank as u64).gradient(given)).collect();
    let outcomes = network.collective(Call::declared(kind, 0, elements, 0), &given, &vec![Some(0); ranks]);
    let outcomes: Vec<_> = outcomes.into_iter().map(Option::unwrap).collect();
    assert!(outcomes.iter().all(|outcome| outcome.report.lost_bytes == 0));
    outcomes.iter().map(|outcome| outcome.took_ns).max().unwrap()
}

/// Times of an all-reduce on one level, on two, and with the paper's exchange, in which each rank
/// sends its group's whole shard to its counterparts, as in an all-gather.
fn compare(elements: usize) -> [u64; 3] {
    let shard = elements / MEMBERS;
    let inside = takes_ns(MEMBERS, Kind::ReduceScatter, elements) + takes_ns(MEMBERS, Kind::AllGather, elements);
    let across = takes_ns(GROUPS, Kind::AllReduce, shard);
    let exchange = takes_ns(GROUPS, Kind::AllGather, GROUPS * shard);
    let took = [takes_ns(RANKS, Kind::AllReduce, elements), inside + across, inside + exchange].map(|ns| ns / 1000);
    println!(
        "{:6} KiB: flat {} us, two levels {} us, with an exchange {} us",
        elements >> 8,
        took[0],
        took[1],
        took[2]
    );
    took
}

#[test]
fn an_exchange_between_groups_saves_one_latency_of_four_and_sends_eight_times_as_much() {
    // One beat per rank: latency only.
    let [flat, two_levels, exchange] = compare(1 << 10);
    assert_eq!([flat / 50, two_levels / 50, exchange / 50], [2, 4, 3], "{flat}, {two_levels}, {exchange} us");
    let [flat, two_levels, exchange] = compare(1 << 18);
    assert!(two_levels < exchange && flat < two_levels, "{flat}, {two_levels}, {exchange} us");
    let [flat, two_levels, exchange] = compare(1 << 20);
    assert!(2 * two_levels < exchange && flat < two_levels, "{flat}, {two_levels}, {exchange} us");
}
