//! Numbers of collectives have 16 bits on the wire. Half of that range, and all of it, pass between
//! two calls of a bucket, or while a rank is away. No valid packet may be dropped, and no old one
//! accepted.

use optireduce_contract::packet::UbtHeader;
use optireduce_core::protocol::{HadamardMode, JobParams, MembershipParams, UpdateAction};
use optireduce_core::software::Software;
use optireduce_core::{DataPlane, MembershipEvent};

use crate::virtual_network::{Impairments, JOB_TAG, Network, Outcome};

const BOUND_NS: u64 = 1_000_000;
const ELEMENTS: usize = 32;
const WRAP: u32 = 1 << 16;

fn network(ranks: usize) -> Network {
    let impairments = Impairments { delay_ns: 1000..2000, ..Impairments::default() };
    let params =
        |rank, plane: &Software| JobParams { early: None, ..JobParams::new(rank, ranks, 4, BOUND_NS, &plane.limits()) };
    Network::new(ranks, 4, impairments, 0, params)
}

fn given(ranks: usize, op: u32) -> Vec<Vec<f32>> {
    (0..ranks).map(|rank| vec![(op % 1000) as f32 + rank as f32; ELEMENTS]).collect()
}

fn call(network: &mut Network, op: u32, bucket: u16, start_ns: &[Option<u64>]) -> Vec<Option<Outcome>> {
    network.sent.clear();
    let ranks = start_ns.len();
    network.all_reduce(bucket, &given(ranks, op), HadamardMode::Off, start_ns)
}

fn check_whole(op: u32, outcomes: &[Option<Outcome>]) {
    for (rank, outcome) in outcomes.iter().enumerate() {
        let Outcome { report, result, .. } = outcome.as_ref().expect("it has ended");
        assert_eq!((report.op, report.lost_bytes), (op, 0), "collective {op}, rank {rank}: {report:?}");
        assert_eq!(*result, vec![(op % 1000) as f32 + 0.5; ELEMENTS], "collective {op}, rank {rank}");
    }
}

#[test]
fn a_bucket_may_rest_for_any_number_of_collectives() {
    const RESTS: [u32; 8] = [32_766, 32_767, 32_768, 32_769, 65_534, 65_535, 65_536, 65_537];
    let mut network = network(2);
    // Bucket 1 + i is called as collective 10 * i, and again after its rest. The second rank is
    // late then, so that packets arrive before its window is armed.
    let again = |index: usize| 10 * index as u32 + RESTS[index] + 1;
    let first = |op: u32| (0..RESTS.len()).find(|index| 10 * *index as u32 == op);
    let second = |op: u32| (0..RESTS.len()).find(|index| again(*index) == op);
    for op in 0..=again(RESTS.len() - 1) {
        let bucket = first(op).or(second(op)).map_or(0, |index| 1 + index as u16);
        let late_ns = if second(op).is_some() { 20_000 } else { 0 };
        let outcomes = call(&mut network, op, bucket, &[Some(0), Some(late_ns)]);
        check_whole(op, &outcomes);
    }
    for rank in &network.ranks {
        let counters = rank.plane().counters();
        assert_eq!((counters.drop_stale, counters.drop_no_window, counters.drop_late_beats), (0, 0, 0), "{counters:?}");
    }
}

/// A stray packet waits for a window of a collective that never runs.
#[test]
fn what_waits_for_no_window_is_gone_when_its_number_comes_round() {
    const OP: u32 = 5;
    let mut network = network(2);
    let header = UbtHeader { bucket: 9, step: OP as u16, sender: 0, job_tag: JOB_TAG, ..UbtHeader::default() };
    // For the shard of rank 1, which is the first one in an odd collective.
    let payload: Vec<u8> = [777.0f32; 16].into_iter().flat_map(f32::to_le_bytes).collect();
    let packet = [&header.to_bytes()[..], &payload].concat();
    for op in 0..=OP + WRAP {
        if op == OP - 2 {
            network.ranks[1].plane_mut().handle_datagram(Some(0), &packet);
        }
        let outcomes = call(&mut network, op, if op == OP + WRAP { 9 } else { 0 }, &[Some(0), Some(0)]);
        check_whole(op, &outcomes);
    }
    assert_eq!(network.ranks[1].plane().counters().drop_duplicate_beats, 0);
}

/// Rank 2 dies twice: it is away for more than half of the range, and across the wrap, with
/// repairs.
#[test]
fn ranks_come_and_go_and_repair_across_the_wrap() {
    let ranks = 3;
    let mut network = network(ranks);
    let members = MembershipParams {
        silent_ops: Some(3),
        silent_ns: BOUND_NS,
        lead_ops: 4,
        retry_ns: 1_000_000,
        ..MembershipParams::new(ranks)
    };
    for rank in &mut network.ranks {
        rank.agree_on_views(members, HadamardMode::Off).unwrap();
        rank.repair();
    }
    let is_away = |op: u32| (20..50_000).contains(&op) || (WRAP - 20..WRAP + 20).contains(&op);
    network.letters_ns = 1000..2000;
    let (mut sums, mut op) = (vec![0.0f64; ranks], 0);
    let mut whole_after_join = 0;
    while op < WRAP + 300 {
        op = network.ranks[0].next_op().min(network.ranks[1].next_op());
        network.dead[2] = is_away(op);
        network.impairments.loss = if (WRAP - 30..WRAP + 30).contains(&op) { 0.2 } else { 0.0 };
        let away = &mut network.ranks[2];
        if !network.dead[2] && away.next_op() < op {
            away.may_prepare(network.now_ns);
        }
        if !network.dead[2] && !away.is_member() {
            let _ = away.join(network.now_ns, if op < WRAP { 1 } else { 2 });
        }
        let starts: Vec<_> =
            (0..ranks).map(|rank| (!network.dead[rank] && network.ranks[rank].next_op() == op).then_some(0)).collect();
        let outcomes = call(&mut network, op, (op % 2) as u16, &starts);
        for (rank, outcome) in outcomes.iter().enumerate() {
            let Some(Outcome { report, result, .. }) = outcome else { continue };
            if report.action == UpdateAction::Apply {
                sums[rank] += f64::from(result[0]);
            }
            let lossless = !is_away(op) && network.impairments.loss == 0.0;
            if rank == 2 && report.live.len() == ranks && lossless {
                assert_eq!(report.lost_bytes, 0, "collective {op}: {report:?}");
                whole_after_join += u32::from(op > 50_000);
            }
        }
    }
    let joined = |(rank, event): &(usize, MembershipEvent)| matches!(event, MembershipEvent::View(view) if *rank == 2 && view.joined.is_some());
    assert_eq!(network.events.iter().filter(|event| joined(event)).count(), 2, "{:?}", network.events);
    assert!(whole_after_join > 15_000, "{whole_after_join} collectives were whole after rank 2 came back");
    let report = network.ranks[0].repaired().unwrap();
    assert!(report.repaired_bytes > 0 && report.outstanding_bytes == 0, "{report:?}");
    assert!((sums[0] - sums[1]).abs() < 1e-6 * sums[0], "replicas differ: {sums:?}");
}
