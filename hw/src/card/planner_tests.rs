//! The planner against its model: every field of every order, the order of windows, and its pace.

use super::planner::Planner;
use super::planner_model::{Packet, packets};
use super::stimulus::context_of;
use super::testing::{Pace, at_every_pace, linear};
use super::types::{GatherWord, JobWords, PacketOrder, SendOrder, SlotContext};
use crate::cosim::Bench;
use crate::prelude::*;
use crate::random::Random;
use optireduce_contract::shard::ShardMap;
use std::collections::{HashSet, VecDeque};

fn job(rank: usize, ranks: usize, payload_beats: usize) -> JobWords {
    JobWords {
        rank: bits_w(rank as u64),
        ranks: bits_w(ranks as u64),
        payload_beats: bits_w(payload_beats as u64),
        ..Default::default()
    }
}

fn arm(bench: &mut Bench<Planner>, slot: u64, context: SlotContext) {
    bench.block.arm.next = bits_w(1 << slot);
    bench.block.arm_slot.next = bits_w(slot);
    bench.block.arm_context.next = context;
    bench.tick();
    bench.block.arm.next = bits_w(0);
}

fn order(send: &SendOrder, context: &SlotContext, packet: &Packet) -> PacketOrder {
    PacketOrder {
        slot: send.slot,
        broadcast: send.broadcast,
        bank: send.bank,
        peer: bits_w(packet.peer as u64),
        position: bits_w(packet.position as u64),
        beats: bits_w(packet.beats as u64),
        mark: packet.mark,
        last: false,
        timeout: send.timeout,
        incast: send.incast,
        step: context.step,
        bucket: context.bucket,
        beat: bits_w(context.base_beat.raw() + packet.position as u64),
        hadamard: context.hadamard,
        bf16: context.bf16,
    }
}

/// Sends random windows of a random job, contributions and broadcasts mixed.
fn run(bench: &mut Bench<Planner>, random: &mut Random, pace: Pace, windows: usize, beats_max: u64) {
    let ranks_more = if random.one_in(3) { 63 } else { 5 };
    let ranks = 2 + random.below(ranks_more) as usize;
    let rank = random.below(ranks as u64) as usize;
    let payload = [1, 2, 7, 22, 139][random.below(5) as usize];
    bench.block.job.next = job(rank, ranks, payload);
    let mut contexts = [SlotContext::default(); 8];
    let mut maps = [ShardMap::new(0, 2, 0); 8];
    let mut gathered: HashSet<u64> = HashSet::new(); // slot * 1024 + beat
    for slot in 0..8u64 {
        let beats = 1 + random.below(beats_max) as usize;
        let op = random.next() as u32;
        maps[slot as usize] = ShardMap::new(beats, ranks, op);
        contexts[slot as usize] = SlotContext {
            step: bits_w(random.next()),
            bucket: bits_w(random.next()),
            base_beat: bits_w(random.below(1 << 25)),
            hadamard: random.one_in(2),
            mark_packets: bits_w(1 + random.below(4) * random.below(60)),
            epoch: bits_w(1 + random.below(255)),
            ..context_of(beats, ranks, rank, op)
        };
        gathered.extend((0..beats as u64).filter(|_| !random.one_in(4)).map(|beat| slot << 10 | beat));
        arm(bench, slot, contexts[slot as usize]);
    }
    let mut waiting: [VecDeque<(SendOrder, VecDeque<PacketOrder>)>; 2] = Default::default();
    let mut now: Option<(SendOrder, VecDeque<PacketOrder>)> = None;
    let (mut given, mut done, mut answer, mut sent, mut skipped) = (0, 0, None, 0, 0);
    let mut cycle = 0;
    while done < windows {
        cycle += 1;
        assert!(cycle < 2_000_000, "stuck: {done} of {windows} windows");
        let mut fresh = None;
        if given < windows && pace.comes(random) {
            let slot = random.below(8);
            let send = SendOrder {
                slot: bits_w(slot),
                broadcast: random.one_in(2),
                bank: random.one_in(2),
                timeout: bits_w(random.next()),
                incast: bits_w(random.next()),
            };
            // The card never has more than eight broadcasts to send: one a slot.
            fresh = Some(send).filter(|send| !send.broadcast || waiting[1].len() < 7);
        }
        let noise = SendOrder { slot: bits_w(random.next()), bank: true, ..Default::default() };
        let block = &mut bench.block;
        block.contribute_valid.next = fresh.is_some_and(|send| !send.broadcast);
        block.contribute.next = fresh.unwrap_or(noise);
        block.broadcast_valid.next = fresh.is_some_and(|send| send.broadcast);
        block.broadcast.next = fresh.unwrap_or(noise);
        block.ready.next = pace.takes(random);
        block.ask_ready.next = pace.takes(random);
        block.word.next = GatherWord { epoch: bits_w(random.next()), ..Default::default() };
        if let Some(address) = answer.take() {
            let epoch = contexts[(address >> 10) as usize].epoch.raw();
            block.word.next.epoch = bits_w(if gathered.contains(&address) { epoch } else { epoch ^ 0x40 });
        }
        bench.settle();
        let block = &bench.block;
        if block.ask_valid.val() && block.ask_ready.val() {
            answer = Some(linear(block.ask_address.val()));
        }
        if block.valid.val() && block.ready.val() {
            let found = block.order.val();
            // A new window: a broadcast if one has been waiting.
            let (send, rest) = now.get_or_insert_with(|| {
                waiting[usize::from(found.broadcast)].pop_front().expect("a window that was ordered")
            });
            if let Some(expected) = rest.pop_front() {
                assert_eq!(found, expected, "rank {rank} of {ranks}, {payload} beats a packet");
                sent += 1;
            } else {
                let end = (found.slot, found.broadcast, found.bank, found.beats.raw(), found.last);
                assert_eq!(end, (send.slot, send.broadcast, send.bank, 0, true), "end of a window");
                now = None;
                done += 1;
            }
        }
        if let Some(send) = fresh.filter(|send| send.broadcast || block.contribute_ready.val()) {
            let slot = send.slot.index();
            let present = |position: usize| gathered.contains(&((slot as u64) << 10 | position as u64));
            let context = &contexts[slot];
            let marks = context.mark_packets.raw() as usize;
            let all = packets(&maps[slot], rank, payload, marks, send.broadcast, |_| true).len();
            let list = packets(&maps[slot], rank, payload, marks, send.broadcast, present);
            skipped += all - list.len();
            waiting[usize::from(send.broadcast)]
                .push_back((send, list.iter().map(|packet| order(&send, context, packet)).collect()));
            given += 1;
        }
        let busy = now.is_some() || waiting.iter().any(|queue| !queue.is_empty());
        bench.tick();
        assert_eq!(bench.block.working.val(), busy, "working");
    }
    assert!(sent > 0 && skipped > 0, "the stimulus missed a case: {sent} sent, {skipped} left out");
}

#[test]
fn every_window_is_sent_as_the_models_packets() {
    at_every_pace(8, |random, pace| run(&mut Bench::new(Planner::default()), random, pace, 40, 1024));
}

#[test]
fn the_verilog_plans_alike() {
    let mut bench = Bench::recording(Planner::default());
    run(&mut bench, &mut Random::new(2), Pace::RANDOM, 12, 60);
    assert!(bench.cycles() < 3000, "{} cycles", bench.cycles());
    bench.verify_with_verilator("planner");
}

/// Plays one window to an eager builder: the cycle and the order of each packet and of the end.
fn play(context: SlotContext, job: JobWords, broadcast: bool) -> Vec<(u64, PacketOrder)> {
    let mut bench = Bench::new(Planner::default());
    bench.block.job.next = job;
    arm(&mut bench, 0, context);
    bench.block.ready.next = true;
    bench.block.ask_ready.next = true;
    bench.block.word.next = GatherWord { epoch: context.epoch, ..Default::default() };
    bench.block.contribute_valid.next = !broadcast;
    bench.block.broadcast_valid.next = broadcast;
    bench.block.broadcast.next = SendOrder { broadcast, ..Default::default() };
    let mut out = Vec::new();
    for cycle in 0..1000 {
        bench.settle();
        if bench.block.valid.val() {
            out.push((cycle, bench.block.order.val()));
            if bench.block.order.val().last {
                return out;
            }
        }
        bench.tick();
        bench.block.contribute_valid.next = false;
        bench.block.broadcast_valid.next = false;
    }
    panic!("the window has no end");
}

fn place(orders: &[(u64, PacketOrder)]) -> Vec<(u64, u64, u64, bool)> {
    let packets = orders.iter().map(|(_, o)| (o.peer.raw(), o.position.raw(), o.beats.raw(), o.mark));
    packets.take(orders.len() - 1).collect()
}

#[test]
fn golden_window_of_ten_beats_at_rank_1_of_4() {
    // Worked by hand. Shards of 10 beats: 0..3, 3..6, 6..8, 8..10. Collective 1: rank r owns shard r + 1.
    let context = SlotContext { mark_packets: bits_w(1), ..context_of(10, 4, 1, 1) };
    let contribution = play(context, job(1, 4, 2), false);
    let expected = [(2, 8, 2, true), (3, 0, 2, false), (3, 2, 1, true), (0, 3, 2, false), (0, 5, 1, true)];
    assert_eq!(place(&contribution), expected);
    let broadcast = play(context, job(1, 4, 2), true);
    assert_eq!(place(&broadcast), [(2, 6, 2, true), (3, 6, 2, true), (0, 6, 2, true)]);
}

#[test]
fn ranks_without_a_shard_get_no_contribution_and_send_no_mean() {
    let context = SlotContext { mark_packets: bits_w(1), ..context_of(1, 3, 1, 0) };
    assert_eq!(place(&play(context, job(1, 3, 22), false)), [(0, 0, 1, true)]);
    assert_eq!(place(&play(context, job(1, 3, 22), true)), []);
}

#[test]
fn broadcasts_overtake_contributions_that_wait() {
    let mut bench = Bench::new(Planner::default());
    bench.block.job.next = job(0, 2, 22);
    arm(&mut bench, 0, context_of(4, 2, 0, 0));
    // Three contributions: one under way, two in the queue, and a fourth that must wait; then a broadcast.
    bench.block.contribute_valid.next = true;
    (0..6).for_each(|_| bench.tick());
    assert!(!bench.block.contribute_ready.val());
    bench.block.contribute_valid.next = false;
    bench.block.broadcast_valid.next = true;
    bench.block.broadcast.next = SendOrder { broadcast: true, ..Default::default() };
    bench.tick();
    bench.block.broadcast_valid.next = false;
    bench.block.ready.next = true;
    bench.block.ask_ready.next = true;
    bench.block.word.next = GatherWord { epoch: bits_w(1), ..Default::default() };
    let mut ends = Vec::new();
    for _ in 0..200 {
        bench.settle();
        if bench.block.valid.val() && bench.block.order.val().last {
            ends.push(bench.block.order.val().broadcast);
        }
        bench.tick();
    }
    assert_eq!(ends, [false, true, false, false]);
}

#[test]
fn the_pace_is_as_documented() {
    let cycles = |broadcast| {
        let orders = play(context_of(132, 3, 0, 0), job(0, 3, 22), broadcast);
        orders.iter().map(|(cycle, _)| *cycle).collect::<Vec<_>>()
    };
    // To each of two peers two packets, then the end.
    assert_eq!(cycles(false), [7, 9, 15, 17, 20]);
    assert_eq!(cycles(true), [9, 13, 21, 25, 28]);
}

#[test]
fn clear_forgets_what_was_ordered() {
    let mut bench = Bench::new(Planner::default());
    bench.block.job.next = job(0, 3, 22);
    arm(&mut bench, 0, context_of(200, 3, 0, 0));
    bench.block.contribute_valid.next = true;
    bench.block.broadcast_valid.next = true;
    (0..20).for_each(|_| bench.tick());
    bench.block.contribute_valid.next = false;
    bench.block.broadcast_valid.next = false;
    bench.block.clear.next = true;
    bench.tick();
    bench.block.clear.next = false;
    bench.block.ready.next = true;
    bench.block.ask_ready.next = true;
    for _ in 0..30 {
        bench.tick();
        assert!(!bench.block.working.val() && !bench.block.valid.val());
    }
}
