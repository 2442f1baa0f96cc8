//! A short outage that takes whole shards with their ends costs its own duration, not the bound.

use crate::seeds;
use crate::virtual_network::{self, Impairments, Network};
use optireduce_contract::limits::{BEAT_BYTES, LANES};
use optireduce_contract::packet::{FLAG_LAST_PERCENTILE, STAGE_FEEDBACK, UbtHeader};
use optireduce_core::protocol::{EarlyRule, JobParams, PlaneLimits, Stage, WindowPlan, plan_windows};
use optireduce_core::software::{Batch, Software, SoftwareJob};
use optireduce_core::{DataPlane, Memory, Role};

const JOB_TAG: u64 = 7;
const RANKS: usize = 3;
const MS: u64 = 1_000_000;
const BOUND_NS: u64 = 1000 * MS;
const PACKETS: usize = 3;
/// Timeout for an answer while no RTT is known.
const PATIENCE_NS: u64 = 2 * MS;
const CALM_NS: u64 = 10 * MS;

fn params(rank: usize, ranks: usize, bf16: bool) -> JobParams {
    let early = Some(EarlyRule { grace_ns: 50_000 });
    JobParams { early, bf16, ..JobParams::new(rank, ranks, 2, BOUND_NS, &PlaneLimits::CARD) }
}

fn sent(plane: &mut Software) -> Vec<(u8, usize, u32, usize, UbtHeader)> {
    let mut all = Vec::new();
    while let Some(transmit) = plane.poll_transmit(Batch { segments_max: 4, bytes_max: 65_000 }) {
        for datagram in transmit.datagrams() {
            let header = UbtHeader::from_bytes(datagram.header, JOB_TAG).unwrap();
            all.push((header.stage, transmit.to, header.offset / BEAT_BYTES as u32, datagram.payload.len(), header));
        }
    }
    all
}

fn contributed(bf16: bool, feedback: bool) -> (Software, WindowPlan) {
    let in_flight_bytes_max = if feedback { vec![1 << 20; RANKS] } else { Vec::new() };
    let job = SoftwareJob { in_flight_bytes_max, ..SoftwareJob::new(0, RANKS, JOB_TAG, 2) };
    let (mut plane, params) = (Software::new(job).unwrap(), params(0, RANKS, bf16));
    let beats_of_packet = if bf16 { 4 } else { 2 };
    let elements = RANKS * (beats_of_packet * (PACKETS - 1) + 1) * LANES;
    let plan = plan_windows(&params, 0, 0, elements, false).unwrap().remove(0);
    plane.lend(Memory { op: 0, role: Role::Result, first_element: 0 }, vec![0.0; elements].into());
    plane.arm(&plan, &params).unwrap();
    plane.lend(Memory { op: 0, role: Role::Gradient, first_element: 0 }, vec![1.5; elements].into());
    plane.contribute(&plan).unwrap();
    assert_eq!(sent(&mut plane).len(), (RANKS - 1) * PACKETS);
    (plane, plan)
}

fn come(plane: &mut Software, sender: usize, stage: Stage, beat: usize) {
    let (offset, stage) = ((beat * BEAT_BYTES) as u32, stage.on_wire());
    let header = UbtHeader { offset, stage, sender: sender as u16, job_tag: JOB_TAG, ..UbtHeader::default() };
    plane.handle_datagram(Some(sender), &[&header.to_bytes()[..], &[0; BEAT_BYTES]].concat());
}

/// Delivers the answer of `peer` to the packet with `header`, after `came` packets in total.
fn answer(plane: &mut Software, peer: usize, header: &UbtHeader, payload_bytes: usize, came: u16) {
    let scale = 1 + u32::from(header.flags & optireduce_contract::packet::FLAG_BF16 != 0);
    let offset = header.offset + payload_bytes as u32 * scale;
    let feedback = UbtHeader {
        stage: STAGE_FEEDBACK,
        flags: header.stage,
        sender: peer as u16,
        timeout_16us: came,
        offset,
        ..*header
    };
    plane.handle_datagram(Some(peer), &feedback.to_bytes());
}

#[test]
fn a_rank_that_only_answers_is_not_heard() {
    let (mut plane, _) = contributed(false, true);
    plane.advance(PATIENCE_NS);
    let again = sent(&mut plane);
    let (_, to, _, bytes, header) = &again[0];
    answer(&mut plane, *to, header, *bytes, 1);
    assert!(plane.take_heard().is_empty());
    come(&mut plane, *to, Stage::Contribute, 0);
    assert_eq!(plane.take_heard().iter().collect::<Vec<_>>(), [*to]);
}

#[test]
fn the_end_of_a_shard_that_is_not_answered_is_sent_again_at_growing_intervals() {
    for bf16 in [false, true] {
        let (mut plane, plan) = contributed(bf16, true);
        let mut now_ns = 0;
        for turn in 0..4 {
            now_ns += PATIENCE_NS << turn;
            assert_eq!(plane.next_timeout(), Some(now_ns), "turn {turn}");
            plane.advance(now_ns - 1);
            assert_eq!(sent(&mut plane), []);
            plane.advance(now_ns);
            let again = sent(&mut plane);
            assert_eq!(again.len(), RANKS - 1);
            for (stage, to, beat, bytes, header) in again {
                let last = plan.shards.range_of(to).end as u32 - 1;
                assert_eq!((stage, beat, bytes), (Stage::Contribute.on_wire(), last, BEAT_BYTES), "to rank {to}");
                assert_eq!(header.flags & FLAG_LAST_PERCENTILE, FLAG_LAST_PERCENTILE);
            }
        }
        let turns = std::iter::from_fn(|| {
            let at_ns = plane.next_timeout()?;
            plane.advance(at_ns);
            let sends = sent(&mut plane).iter().any(|(stage, ..)| *stage == Stage::Contribute.on_wire());
            Some(if sends { at_ns } else { 0 })
        });
        let last_ns = turns.take(100).max().unwrap();
        assert!((BOUND_NS..2 * BOUND_NS).contains(&last_ns), "{last_ns} ns");
    }
}

#[test]
fn an_end_that_was_answered_is_not_sent_again_and_one_of_which_packets_are_missing_is() {
    let ends = |plane: &mut Software| -> Vec<UbtHeader> {
        let at_ns = plane.next_timeout().unwrap();
        plane.advance(at_ns);
        sent(plane).into_iter().map(|(.., header)| header).collect()
    };
    let header = |plan: &WindowPlan, to: usize, beats_before_end: u32| UbtHeader {
        offset: (plan.shards.range_of(to).end as u32 - beats_before_end) * BEAT_BYTES as u32,
        job_tag: JOB_TAG,
        ..UbtHeader::default()
    };
    // Rank 1 answers the end, rank 2 the packets before it.
    let (mut plane, plan) = contributed(false, true);
    plane.set_now(1000);
    answer(&mut plane, 1, &header(&plan, 1, 1), BEAT_BYTES, PACKETS as u16);
    answer(&mut plane, 2, &header(&plan, 2, 3), 2 * BEAT_BYTES, PACKETS as u16 - 1);
    let to_2 = ends(&mut plane);
    assert_eq!(to_2.iter().map(|end| end.offset).collect::<Vec<_>>(), [header(&plan, 2, 1).offset]);
    come(&mut plane, 2, Stage::Broadcast, plan.shards.range_of(2).start);
    let left = |plane: &mut Software| sent(plane).iter().filter(|(stage, ..)| *stage != STAGE_FEEDBACK).count();
    plane.advance(BOUND_NS / 2);
    assert_eq!(left(&mut plane), 0);
    // Peers with a card do not answer.
    let (mut plane, _) = contributed(false, false);
    plane.advance(BOUND_NS / 2);
    assert_eq!(left(&mut plane), 0);
}

/// Delivers all contributions 1 us later. Returns payload bytes and headers of the mean to rank 2.
fn means_to_2(plane: &mut Software, plan: &WindowPlan) -> Vec<(usize, UbtHeader)> {
    plane.set_now(1000);
    for (sender, beat) in (1..RANKS).flat_map(|sender| plan.shards.range_of(0).map(move |beat| (sender, beat))) {
        come(plane, sender, Stage::Contribute, beat);
    }
    let means = sent(plane).into_iter().filter(|(stage, to, ..)| (*stage, *to) == (Stage::Broadcast.on_wire(), 2));
    means.map(|(.., bytes, header)| (bytes, header)).collect()
}

/// The peer must count as many packets as were sent.
#[test]
fn an_answer_to_something_later_answers_an_end_only_if_nothing_is_missing() {
    for missing in [0, 1] {
        let (mut plane, plan) = contributed(false, true);
        let (bytes, header) = means_to_2(&mut plane, &plan).pop().unwrap();
        answer(&mut plane, 2, &header, bytes, 2 * PACKETS as u16 - missing);
        plane.advance(1000 + PATIENCE_NS);
        let again = sent(&mut plane).into_iter().filter(|(stage, to, ..)| *to == 2 && *stage != STAGE_FEEDBACK);
        let again: Vec<u8> = again.map(|(stage, ..)| stage).collect();
        let expected = vec![Stage::Contribute.on_wire(); usize::from(missing)];
        assert_eq!(again, expected, "{missing} packets are missing");
    }
}

/// After a peer has reported missing packets, answers to later packets do not answer the end.
#[test]
fn an_end_that_was_lost_is_sent_again_whatever_has_come_since() {
    let (mut plane, plan) = contributed(false, true);
    for (came, (bytes, header)) in (1..).zip(&means_to_2(&mut plane, &plan)) {
        answer(&mut plane, 2, header, *bytes, came);
    }
    plane.advance(1000 + PATIENCE_NS);
    let again = sent(&mut plane).into_iter().filter(|(stage, to, ..)| *to == 2 && *stage != STAGE_FEEDBACK);
    assert_eq!(again.map(|(stage, ..)| stage).collect::<Vec<_>>(), [Stage::Contribute.on_wire()]);
}

#[test]
fn the_end_of_one_window_does_not_answer_that_of_another() {
    let job = SoftwareJob { in_flight_bytes_max: vec![1 << 20; RANKS], ..SoftwareJob::new(0, RANKS, JOB_TAG, 2) };
    let mut plane = Software::new(job).unwrap();
    let params = JobParams { window_beats_max: 6, ..params(0, RANKS, false) };
    let elements = 12 * LANES;
    let plans = plan_windows(&params, 0, 0, elements, false).unwrap();
    assert_eq!(plans.len(), 2);
    for role in [Role::Result, Role::Gradient] {
        plane.lend(Memory { op: 0, role, first_element: 0 }, vec![0.0; elements].into());
    }
    plans.iter().for_each(|plan| plane.arm(plan, &params).unwrap());
    plans.iter().for_each(|plan| plane.contribute(plan).unwrap());
    let beats_to = |sent: &[(u8, usize, u32, usize, UbtHeader)], peer: usize| -> Vec<u32> {
        sent.iter().filter(|(_, to, ..)| *to == peer).map(|(_, _, beat, ..)| *beat).collect()
    };
    let first = sent(&mut plane);
    for (peer, last_beats) in [(1, 3), (2, 5)] {
        assert_eq!(beats_to(&first, peer), [last_beats - 1, last_beats + 5], "to rank {peer}");
        let (.., bytes, header) = first.iter().rfind(|(_, to, ..)| *to == peer).unwrap();
        answer(&mut plane, peer, header, *bytes, 1);
    }
    let first_beat = plans[1].shape().base_bytes as usize / BEAT_BYTES;
    come(&mut plane, 2, Stage::Broadcast, first_beat + plans[1].shards.range_of(2).start);
    plane.advance(PATIENCE_NS);
    let again: Vec<_> = sent(&mut plane).into_iter().filter(|(stage, ..)| *stage != STAGE_FEEDBACK).collect();
    assert_eq!([1, 2].map(|peer| beats_to(&again, peer)), [[3], [5]]);
}

/// For 5 ms all packets of one rank are lost. The job still measures its bound.
#[test]
fn an_outage_costs_what_it_took_and_not_the_bound() {
    const RANKS: usize = 4;
    const OUT_NS: u64 = 5 * MS;
    for seed in seeds(0..6) {
        for begin_ns in [0, 50_000, 150_000] {
            let job = |rank| SoftwareJob {
                in_flight_bytes_max: vec![1 << 17; RANKS],
                ..SoftwareJob::new(rank, RANKS, virtual_network::JOB_TAG, 2)
            };
            let impairments = Impairments {
                delay_ns: 20_000..60_000,
                outage: Some((2, begin_ns..begin_ns + OUT_NS)),
                ..Impairments::default()
            };
            let mut network =
                Network::with_jobs(RANKS, impairments, seed, job, |rank, _| params(rank, RANKS, seed % 2 == 1));
            let gradients = vec![vec![1.0; 100 * LANES]; RANKS];
            let outcomes = network.all_reduce(0, &gradients, false, &[Some(0); RANKS]);
            let took_ns: Vec<u64> = outcomes.iter().flatten().map(|outcome| outcome.took_ns).collect();
            assert_eq!(took_ns.len(), RANKS);
            let most_ns = took_ns.iter().max().unwrap();
            assert!(*most_ns < 2 * OUT_NS + CALM_NS, "seed {seed}, from {begin_ns} ns: {took_ns:?} ns");
        }
    }
}

/// Closed connections tell the others; also with shared memory.
#[test]
fn a_rank_whose_process_has_ended_is_not_waited_for() {
    const RANKS: usize = 4;
    for (told, lossless) in [(true, false), (true, true), (false, false)] {
        let impairments = Impairments { delay_ns: 20_000..60_000, ..Impairments::default() };
        let mut network = Network::new(RANKS, 2, impairments, 1, |rank, _| params(rank, RANKS, false));
        network.dead[3] = true;
        for rank in &mut network.ranks {
            rank.plane_mut().set_lossless(3, lossless);
            if told {
                rank.handle_gone(3);
            }
        }
        let gradients = vec![vec![1.0; 100 * LANES]; RANKS];
        let starts = [0, 1, 2, 3].map(|rank| (rank != 3).then_some(0));
        let outcomes = network.all_reduce(0, &gradients, false, &starts);
        let most_ns = outcomes.iter().flatten().map(|outcome| outcome.took_ns).max().unwrap();
        let expected = if told { 0..CALM_NS } else { BOUND_NS..3 * BOUND_NS };
        assert!(expected.contains(&most_ns), "told {told}, lossless {lossless}: {most_ns} ns");
    }
    let impairments = Impairments { delay_ns: 20_000..60_000, ..Impairments::default() };
    let mut network = Network::new(RANKS, 2, impairments, 1, |rank, _| params(rank, RANKS, false));
    for rank in &mut network.ranks {
        rank.handle_gone(3);
        rank.handle_back(3);
    }
    let outcomes = network.all_reduce(0, &vec![vec![1.0; 100 * LANES]; RANKS], false, &[0, 0, 0, 50 * MS].map(Some));
    assert!(outcomes.iter().flatten().all(|outcome| outcome.report.lost_bytes == 0));
}
