//! The software data plane loses no data that the network delivers: packets wait in a socket, and
//! senders lose the CPU in the middle of a shard.

use crate::seeds;
use crate::virtual_network::{self, Impairments, Link, Network};
use optireduce_contract::limits::{BEAT_BYTES, LANES};
use optireduce_contract::packet::{FLAG_LAST_PERCENTILE, UbtHeader};
use optireduce_core::protocol::{ClosedBy, EarlyRule, JobParams, Stage, StageReport, WindowPlan, plan_windows};
use optireduce_core::software::{Batch, Software, SoftwareJob};
use optireduce_core::{DataPlane, Memory, PlaneEvent, PlaneLimits, Role};

const JOB_TAG: u64 = 7;
const RANKS: usize = 3;
const BOUND_NS: u64 = 80_000_000;
const GRACE_NS: u32 = 50_000;
const PACKETS: usize = 5;

fn params() -> JobParams {
    let early = Some(EarlyRule { grace_ns: GRACE_NS });
    JobParams { early, ..JobParams::new(0, RANKS, 1, BOUND_NS, &PlaneLimits::CARD) }
}

/// Rank 0 of three, with a window armed and contributed at time 0.
fn contributed(job: SoftwareJob, params: &JobParams) -> (Software, WindowPlan) {
    let mut plane = Software::new(job).unwrap();
    let elements = RANKS * PACKETS * LANES;
    let plan = plan_windows(params, 0, 0, elements, false).unwrap().remove(0);
    plane.lend(Memory { op: 0, role: Role::Result, first_element: 0 }, vec![0.0; elements].into());
    plane.arm(&plan, params).unwrap();
    plane.lend(Memory { op: 0, role: Role::Gradient, first_element: 0 }, vec![1.0; elements].into());
    plane.contribute(&plan).unwrap();
    (plane, plan)
}

fn job() -> SoftwareJob {
    SoftwareJob::new(0, RANKS, JOB_TAG, 1)
}

/// Delivers packet `index` of `sender`'s contribution to rank 0; the last three are marked.
fn arrive(plane: &mut Software, plan: &WindowPlan, sender: usize, index: usize, now_ns: u64) {
    let offset = ((plan.shards.range_of(0).start + index) * BEAT_BYTES) as u32;
    let flags = if index + 3 >= PACKETS { FLAG_LAST_PERCENTILE } else { 0 };
    let header = UbtHeader { offset, flags, sender: sender as u16, job_tag: JOB_TAG, ..UbtHeader::default() };
    plane.set_now(now_ns);
    plane.handle_datagram(Some(sender), &[&header.to_bytes()[..], &[0; BEAT_BYTES]].concat());
}

fn closed(plane: &mut Software) -> Option<StageReport> {
    match plane.poll().unwrap() {
        Some(PlaneEvent::Stage(report)) if report.stage == Stage::Contribute => Some(report),
        _ => None,
    }
}

/// The thread was off the CPU for three bounds.
#[test]
fn what_waited_in_the_socket_past_the_deadline_is_taken() {
    let (mut plane, plan) = contributed(job(), &params());
    for index in 0..PACKETS {
        (1..RANKS).for_each(|sender| arrive(&mut plane, &plan, sender, index, 3 * BOUND_NS));
    }
    plane.advance(3 * BOUND_NS);
    assert_eq!(closed(&mut plane).unwrap().closed_by, ClosedBy::Complete);
    assert_eq!(plane.counters().drop_late_beats, 0);
    let (mut plane, plan) = contributed(job(), &params());
    arrive(&mut plane, &plan, 1, 0, 3 * BOUND_NS);
    plane.advance(3 * BOUND_NS);
    assert_eq!(closed(&mut plane).unwrap().closed_by, ClosedBy::Deadline);
}

/// This rank's contribute stage is complete early. An owner that waits for a lost contribution
/// sends its mean a bound after its start.
#[test]
fn the_mean_of_an_owner_that_waits_until_the_bound_is_in_time() {
    for (carry_over, ends_ns) in [(true, 2 * BOUND_NS), (false, 1000 + BOUND_NS)] {
        let (mut plane, plan) = contributed(SoftwareJob { carry_over, ..job() }, &params());
        for index in 0..PACKETS {
            (1..RANKS).for_each(|sender| arrive(&mut plane, &plan, sender, index, 1000));
        }
        assert_eq!(closed(&mut plane).unwrap().closed_by, ClosedBy::Complete);
        sent(&mut plane);
        assert_eq!(plane.next_timeout(), Some(ends_ns), "carry over: {carry_over}");
        let mean = |sender: usize, beat: usize| UbtHeader {
            offset: ((plan.shards.range_of(sender).start + beat) * BEAT_BYTES) as u32,
            stage: Stage::Broadcast.on_wire(),
            sender: sender as u16,
            job_tag: JOB_TAG,
            ..UbtHeader::default()
        };
        plane.set_now(ends_ns - 1);
        for (sender, beat) in (1..RANKS).flat_map(|sender| (0..PACKETS).map(move |beat| (sender, beat))) {
            plane.handle_datagram(Some(sender), &[&mean(sender, beat).to_bytes()[..], &[0; BEAT_BYTES]].concat());
        }
        plane.advance(ends_ns - 1);
        let broadcast = std::iter::from_fn(|| plane.poll().unwrap()).find_map(|event| match event {
            PlaneEvent::Stage(report) => Some(report),
            _ => None,
        });
        assert_eq!(broadcast.unwrap().closed_by, ClosedBy::Complete);
    }
}

#[test]
fn a_sender_that_stops_between_its_marks_is_waited_for_and_one_that_has_ended_is_not() {
    let after_stop = |silence_ns_min: u64, end: bool| {
        let (mut plane, plan) = contributed(SoftwareJob { silence_ns_min, ..job() }, &params());
        (0..PACKETS).for_each(|index| arrive(&mut plane, &plan, 1, index, 1000));
        // Its second packet is lost, and it stops before the last one unless `end`.
        [0, 2, 3].into_iter().for_each(|index| arrive(&mut plane, &plan, 2, index, 2000));
        if end {
            arrive(&mut plane, &plan, 2, PACKETS - 1, 2000);
        }
        (plane, plan)
    };
    let (patience_ns, grace_ns) = (BOUND_NS / 8, u64::from(GRACE_NS));
    for (silence_ns_min, end, expected_ns) in [
        (3_000_000, true, 2000 + grace_ns),
        (3_000_000, false, 2000 + patience_ns),
        (20_000_000, false, 2000 + 20_000_000),
        // The rule of cards.
        (0, false, 2000 + grace_ns),
    ] {
        let (mut plane, _) = after_stop(silence_ns_min, end);
        assert_eq!(plane.next_timeout(), Some(2000), "what it has to send");
        while plane.poll_transmit(Batch { segments_max: 1, bytes_max: 1500 }).is_some() {}
        assert_eq!(plane.next_timeout(), Some(expected_ns), "at least {silence_ns_min} ns, end {end}");
        plane.advance(expected_ns - 1);
        assert_eq!(closed(&mut plane), None);
        plane.advance(expected_ns);
        assert_eq!(closed(&mut plane).unwrap().closed_by, ClosedBy::Early);
    }
    // A packet for a window that is not armed here shows that the sender is alive.
    let (mut plane, plan) = after_stop(3_000_000, false);
    plane.set_now(5_000_000);
    let header = UbtHeader { step: 1, sender: 2, job_tag: JOB_TAG, ..UbtHeader::default() };
    plane.handle_datagram(Some(2), &[&header.to_bytes()[..], &[0; BEAT_BYTES]].concat());
    plane.advance(2000 + patience_ns);
    let reports = std::iter::from_fn(|| plane.poll().unwrap()).filter(|event| matches!(event, PlaneEvent::Stage(_)));
    assert_eq!(reports.count(), 0);
    [1, 4].into_iter().for_each(|index| arrive(&mut plane, &plan, 2, index, 3000 + patience_ns));
    assert_eq!(closed(&mut plane).unwrap().closed_by, ClosedBy::Complete);
}

fn sent(plane: &mut Software) -> Vec<(u8, usize, u32)> {
    let mut all = Vec::new();
    while let Some(transmit) = plane.poll_transmit(Batch { segments_max: 2, bytes_max: 65_000 }) {
        for datagram in transmit.datagrams() {
            let header = UbtHeader::from_bytes(datagram.header, JOB_TAG).unwrap();
            all.push((header.stage, transmit.to, header.offset / BEAT_BYTES as u32));
        }
    }
    all
}

#[test]
fn where_losses_are_expected_the_last_packet_of_a_shard_leaves_twice() {
    for expect_loss in [false, true] {
        let (mut plane, plan) = contributed(job(), &JobParams { expect_loss, ..params() });
        let sent = sent(&mut plane);
        for to in 1..RANKS {
            let shard = plan.shards.range_of(to);
            let mut expected: Vec<u32> = shard.clone().map(|beat| beat as u32).collect();
            expected.extend(expect_loss.then_some(shard.end as u32 - 1));
            let beats: Vec<u32> = sent.iter().filter(|(_, peer, _)| *peer == to).map(|(.., beat)| *beat).collect();
            assert_eq!(beats, expected, "to rank {to}, losses expected: {expect_loss}");
        }
    }
}

#[test]
fn what_is_left_of_a_contribution_leaves_before_means() {
    let (mut plane, plan) = contributed(job(), &params());
    let first = plane.poll_transmit(Batch { segments_max: 2, bytes_max: 65_000 }).unwrap().to;
    for index in 0..PACKETS {
        (1..RANKS).for_each(|sender| arrive(&mut plane, &plan, sender, index, 1000));
    }
    assert_eq!(closed(&mut plane).unwrap().closed_by, ClosedBy::Complete);
    let order: Vec<(u8, usize)> = sent(&mut plane).into_iter().map(|(stage, to, _)| (stage, to)).collect();
    let (means, begun, other) = (Stage::Broadcast.on_wire(), first, RANKS - first);
    let stage = Stage::Contribute.on_wire();
    assert_eq!(order[..PACKETS - 2], [(stage, begun); PACKETS - 2], "the rest of what has begun");
    assert_eq!(order[order.len() - PACKETS..], [(stage, other); PACKETS], "what has not begun comes last");
    assert!(order[PACKETS - 2..order.len() - PACKETS].iter().all(|(stage, _)| *stage == means), "{order:?}");
}

/// All peers' contributions have arrived at a late rank, so its means are due. Sent after them, its
/// own contributions would miss the shorter bound of the peers' stage.
#[test]
fn a_contribution_that_is_late_leaves_before_means() {
    for (now_ns, contributions_first) in [(BOUND_NS / 4 - 1, false), (BOUND_NS / 4, true)] {
        let (mut plane, plan) = contributed(job(), &params());
        for index in 0..PACKETS {
            (1..RANKS).for_each(|sender| arrive(&mut plane, &plan, sender, index, 1000));
        }
        assert_eq!(closed(&mut plane).unwrap().closed_by, ClosedBy::Complete);
        plane.advance(now_ns);
        let stages: Vec<u8> = sent(&mut plane).into_iter().map(|(stage, ..)| stage).collect();
        let means = Stage::Broadcast.on_wire();
        let is_first = |stage: u8| stages[..(RANKS - 1) * PACKETS].iter().all(|sent| *sent == stage);
        assert_eq!(stages.len(), 2 * (RANKS - 1) * PACKETS);
        assert!(is_first(if contributions_first { Stage::Contribute.on_wire() } else { means }), "{stages:?}");
    }
}

#[test]
fn a_peer_whose_mean_has_come_gets_no_more_of_the_contribution() {
    let (mut plane, plan) = contributed(job(), &params());
    let shard = plan.shards.range_of(1);
    let header = UbtHeader {
        offset: (shard.start * BEAT_BYTES) as u32,
        sender: 1,
        stage: Stage::Broadcast.on_wire(),
        job_tag: JOB_TAG,
        ..UbtHeader::default()
    };
    plane.set_now(1000);
    plane.handle_datagram(Some(1), &[&header.to_bytes()[..], &[0; BEAT_BYTES]].concat());
    let to: Vec<usize> = sent(&mut plane).into_iter().map(|(_, to, _)| to).collect();
    assert_eq!(to, [2; PACKETS]);
}

/// Shared memory loses no packets, so a sender that stops between its marks is off the CPU.
#[test]
fn silence_ends_no_stage_that_lacks_the_end_of_a_shard_sent_through_memory() {
    for (lossless, expected) in [(false, ClosedBy::Early), (true, ClosedBy::Deadline)] {
        let (mut plane, plan) = contributed(job(), &params());
        plane.set_lossless(2, lossless);
        (0..PACKETS).for_each(|index| arrive(&mut plane, &plan, 1, index, 1000));
        (0..PACKETS - 1).for_each(|index| arrive(&mut plane, &plan, 2, index, 1000));
        plane.advance(BOUND_NS - 1);
        let early = closed(&mut plane).map(|report| report.closed_by);
        assert_eq!(early, (!lossless).then_some(ClosedBy::Early));
        plane.advance(BOUND_NS);
        assert_eq!(early.or_else(|| closed(&mut plane).map(|report| report.closed_by)), Some(expected));
    }
    // A gone sender has no more data on the way.
    let (mut plane, plan) = contributed(job(), &params());
    plane.set_lossless(1, true);
    for sender in 1..RANKS {
        (1..PACKETS).for_each(|index| arrive(&mut plane, &plan, sender, index, 1000));
    }
    plane.advance(1000 + u64::from(GRACE_NS));
    assert_eq!(closed(&mut plane).unwrap().closed_by, ClosedBy::Early);
}

/// One of two ranks is late by a third of the bound. A stage's data takes 0.4 bounds on each link.
#[test]
fn a_rank_that_is_late_by_less_than_the_bound_costs_nothing_however_full_the_links_are() {
    const BOUND_NS: u64 = 2_000_000;
    let elements = 16 * 3072 * LANES;
    let link = Link { bytes_per_us: 2000, queue_bytes: 1 << 20 };
    for seed in seeds(0..4) {
        let impairments = Impairments { delay_ns: 4000..6000, link: Some(link), ..Impairments::default() };
        let job = |rank| SoftwareJob {
            in_flight_bytes_max: vec![1 << 17; 2],
            ..SoftwareJob::new(rank, 2, virtual_network::JOB_TAG, 130)
        };
        let mut network = Network::with_jobs(2, impairments, seed, job, |rank, plane| JobParams {
            window_beats_max: 3072,
            early: None,
            ..JobParams::new(rank, 2, 130, BOUND_NS, &plane.limits())
        });
        let gradients = vec![vec![1.0; elements]; 2];
        for late in [0, 1] {
            let starts = [0, 1].map(|rank| Some(if rank == late { BOUND_NS * 3 / 10 } else { 0 }));
            let outcomes = network.all_reduce(0, &gradients, false, &starts);
            let lost: Vec<u64> = outcomes.iter().flatten().map(|outcome| outcome.report.lost_bytes).collect();
            assert_eq!(lost, [0, 0], "seed {seed}, rank {late} is late");
        }
    }
}
