use super::planner::Planner;
use super::planner_model::{Packet, Sending, rounds};
use super::stimulus::context_of;
use super::testing::{Pace, at_every_pace, linear};
use super::types::{Advert, GatherWord, JobWords, PacketOrder, SendOrder, SlotContext};
use crate::cosim::Bench;
use crate::hdl::prelude::*;
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

fn enter(bench: &mut Bench<Planner>, slot: u64, advert: Advert) {
    bench.block.enter.next = bits_w(1 << slot);
    bench.block.arm_slot.next = bits_w(slot);
    bench.block.advert.next = advert;
    bench.tick();
    bench.block.enter.next = bits_w(0);
}

fn any_advert(random: &mut Random) -> Advert {
    Advert { timeout: bits_w(random.next()), incast: bits_w(random.next()) }
}

fn order(send: &SendOrder, context: &SlotContext, advert: &Advert, packet: &Packet) -> PacketOrder {
    PacketOrder {
        slot: send.slot,
        broadcast: send.broadcast,
        bank: send.bank,
        peer: bits_w(packet.peer as u64),
        position: bits_w(packet.position as u64),
        beats: bits_w(packet.beats.div_ceil(if context.bf16 { 2 } else { 1 }) as u64),
        half: context.bf16 && packet.beats % 2 == 1,
        mark: packet.mark,
        last: false,
        timeout: advert.timeout,
        incast: advert.incast,
        step: context.step,
        bucket: context.bucket,
        beat: bits_w(context.base_beat.raw() + packet.position as u64),
        hadamard: context.hadamard,
        bf16: context.bf16,
    }
}

fn sending(job: JobWords, context: &SlotContext, broadcast: bool) -> Sending {
    Sending {
        rank: job.rank.index(),
        packet_beats: job.payload_beats.index() << usize::from(context.bf16),
        mark_packets: context.mark_packets.index(),
        incast: context.send_incast.index(),
        broadcast,
    }
}

/// Beats of the window in the order in which its bank is filled.
fn filling(context: &SlotContext) -> Vec<u64> {
    let (beats, end) = (context.beats.raw(), context.own_start.raw() + context.own_beats.raw());
    let from = if context.hadamard { 0 } else { end % beats };
    (from..beats).chain(0..from).collect()
}

struct Window {
    send: SendOrder,
    packets: VecDeque<PacketOrder>,
}

/// Mixes contributions and broadcasts. Counts packets sent, packets skipped, packets sent before
/// their bank was full, and interrupted contributions.
fn run(bench: &mut Bench<Planner>, random: &mut Random, pace: Pace, windows: usize, beats_max: u64) -> [usize; 4] {
    let ranks_more = if random.one_in(3) { 63 } else { 7 };
    let ranks = 2 + random.below(ranks_more) as usize;
    let rank = random.below(ranks as u64) as usize;
    let payload = [1, 2, 7, 22, 139][random.below(5) as usize];
    let job = job(rank, ranks, payload);
    bench.block.job.next = job;
    let (mut contexts, mut adverts) = ([SlotContext::default(); 8], [Advert::default(); 8]);
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
            bf16: random.one_in(2),
            send_incast: bits_w([0, 1, 2, 3, 4, 15][random.below(6) as usize]),
            mark_packets: bits_w(1 + random.below(4) * random.below(60)),
            epoch: bits_w(1 + random.below(255)),
            ..context_of(beats, ranks, rank, op)
        };
        gathered.extend((0..beats as u64).filter(|_| !random.one_in(4)).map(|beat| slot << 10 | beat));
        adverts[slot as usize] = any_advert(random);
        bench.block.advert.next = adverts[slot as usize];
        arm(bench, slot, contexts[slot as usize]);
    }
    for slot in (0..8).filter(|_| random.one_in(2)).collect::<Vec<_>>() {
        adverts[slot] = any_advert(random);
        enter(bench, slot as u64, adverts[slot]);
    }
    bench.block.advert.next = any_advert(random);
    // Queues of contributions and broadcasts; the first of each is under way.
    let mut waiting: [VecDeque<Window>; 2] = Default::default();
    let mut broadcasting = false;
    let mut filled = [0, 0];
    let mut next_bank = false;
    let (mut given, mut done, mut answer, mut sent, mut skipped, mut waited) = (0, 0, None, 0, 0, 0);
    // Contribution packets sent while a broadcast waits, and interrupted contributions.
    let (mut overtaken, mut interrupted, mut contributing) = (0, 0, false);
    let mut cycle = 0;
    while done < windows {
        cycle += 1;
        assert!(cycle < 2_000_000, "stuck: {done} of {windows} windows");
        let mut fresh = None;
        if given < windows && pace.comes(random) {
            let slot = random.below(8);
            let send = SendOrder { slot: bits_w(slot), broadcast: random.one_in(2), bank: next_bank };
            // The card has at most one broadcast per slot and one contribution per bank to send.
            fresh = Some(send).filter(|send| {
                let free = !waiting[0].iter().any(|window| window.send.bank == next_bank);
                if send.broadcast { waiting[1].len() < 7 && random.one_in(64) } else { free }
            });
        }
        for (bank, filled) in filled.iter_mut().enumerate() {
            let now = waiting[0].iter().find(|window| usize::from(window.send.bank) == bank);
            let most = now.map_or(0, |window| contexts[window.send.slot.index()].beats.raw());
            *filled = (*filled + random.below(if pace.idle { 2 } else { 32 })).min(most);
        }
        let noise = SendOrder { slot: bits_w(random.next()), bank: true, ..Default::default() };
        let block = &mut bench.block;
        block.contribute_valid.next = fresh.is_some_and(|send| !send.broadcast);
        block.contribute.next = fresh.unwrap_or(noise);
        block.broadcast_valid.next = fresh.is_some_and(|send| send.broadcast);
        block.broadcast.next = fresh.unwrap_or(noise);
        block.filled_low.next = bits_w(filled[0]);
        block.filled_high.next = bits_w(filled[1]);
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
            let kind = usize::from(found.broadcast);
            assert!(found.broadcast || !broadcasting, "a contribution's packet inside a broadcast");
            let window = waiting[kind].front_mut().expect("a window that was ordered");
            if let Some(expected) = window.packets.pop_front() {
                assert_eq!(found, expected, "rank {rank} of {ranks}, {payload} beats a packet");
                sent += 1;
                if !found.broadcast {
                    let context = &contexts[found.slot.index()];
                    let beats = found.beats.raw() << u64::from(found.bf16);
                    let end = found.position.raw() + beats - u64::from(found.half);
                    let held = &filling(context)[..filled[usize::from(found.bank)] as usize];
                    assert!((found.position.raw()..end).all(|beat| held.contains(&beat)), "not yet in the bank");
                    waited += usize::from(held.len() < context.beats.index());
                    overtaken += usize::from(!waiting[1].is_empty());
                    assert!(overtaken <= 1, "a broadcast waits for a second packet of a contribution");
                }
                interrupted += usize::from(found.broadcast && !broadcasting && contributing);
                contributing = !found.broadcast || contributing;
            } else {
                let end = (found.slot, found.broadcast, found.bank, found.beats.raw(), found.last);
                let send = window.send;
                assert_eq!(end, (send.slot, send.broadcast, send.bank, 0, true), "end of a window");
                waiting[kind].pop_front();
                done += 1;
                contributing &= found.broadcast;
            }
            broadcasting = found.broadcast && !found.last;
        }
        if waiting[1].is_empty() {
            overtaken = 0;
        }
        if let Some(send) = fresh.filter(|send| send.broadcast || block.contribute_ready.val()) {
            let slot = send.slot.index();
            let present = |position: usize| gathered.contains(&((slot as u64) << 10 | position as u64));
            let context = &contexts[slot];
            let how = sending(job, context, send.broadcast);
            let all = rounds(&maps[slot], &how, |_| true).concat().len();
            let list = rounds(&maps[slot], &how, present).concat();
            skipped += all - list.len();
            let packets = list.iter().map(|packet| order(&send, context, &adverts[slot], packet)).collect();
            waiting[usize::from(send.broadcast)].push_back(Window { send, packets });
            if !send.broadcast {
                filled[usize::from(send.bank)] = 0;
                next_bank = !next_bank;
            }
            given += 1;
        }
        let busy = waiting.iter().any(|queue| !queue.is_empty());
        bench.tick();
        assert_eq!(bench.block.working.val(), busy, "working");
    }
    [sent, skipped, waited, interrupted]
}

#[test]
fn every_window_is_sent_as_the_models_packets() {
    let mut cases = [0; 4];
    at_every_pace(8, |random, pace| {
        let seen = run(&mut Bench::new(Planner::default()), random, pace, 40, 1024);
        cases.iter_mut().zip(seen).for_each(|(sum, seen)| *sum += seen);
    });
    assert!(cases.iter().all(|count| *count > 20), "the stimulus missed a case: {cases:?}");
}

#[test]
fn the_verilog_plans_alike() {
    let mut bench = Bench::recording(Planner::default());
    let cases = run(&mut bench, &mut Random::new(19), Pace::RANDOM, 12, 60);
    assert!(cases.iter().all(|count| *count > 0), "the stimulus missed a case: {cases:?}");
    assert!(bench.cycles() < 3000, "{} cycles", bench.cycles());
    bench.verify_with_verilator("planner");
}

/// Plays one window to an eager builder. Returns cycle and order of each packet and of the end.
fn play(context: SlotContext, job: JobWords, broadcast: bool) -> Vec<(u64, PacketOrder)> {
    play_at(&mut Bench::new(Planner::default()), context, job, broadcast)
}

fn play_at(
    bench: &mut Bench<Planner>,
    context: SlotContext,
    job: JobWords,
    broadcast: bool,
) -> Vec<(u64, PacketOrder)> {
    bench.block.job.next = job;
    arm(bench, 0, context);
    bench.block.filled_low.next = context.beats;
    bench.block.ready.next = true;
    bench.block.ask_ready.next = true;
    bench.block.word.next = GatherWord { epoch: context.epoch, ..Default::default() };
    bench.block.contribute_valid.next = !broadcast;
    bench.block.broadcast_valid.next = broadcast;
    bench.block.broadcast.next = SendOrder { broadcast, ..Default::default() };
    let mut out = Vec::new();
    for cycle in 0..20_000u64 {
        bench.block.now_ns.next = bits_w(cycle * 4);
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
    // Worked by hand. Shards of 10 beats: 0..3, 3..6, 6..8, 8..10. Collective 1: rank r owns shard
    // r + 1.
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
    bench.block.filled_low.next = bits_w(4);
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
    assert_eq!(ends, [true, false, false, false]);
}

#[test]
fn the_pace_is_as_documented() {
    let cycles = |broadcast| {
        let orders = play(context_of(132, 3, 0, 0), job(0, 3, 22), broadcast);
        orders.iter().map(|(cycle, _)| *cycle).collect::<Vec<_>>()
    };
    assert_eq!(cycles(false), [9, 14, 22, 27, 30]);
    assert_eq!(cycles(true), [10, 16, 25, 31, 34]);
    let cycles = |broadcast| {
        let context = SlotContext { send_incast: bits_w(2), ..context_of(198, 3, 0, 0) };
        let orders = play(context, job(0, 3, 22), broadcast);
        orders.iter().map(|(cycle, _)| *cycle).collect::<Vec<_>>()
    };
    assert_eq!(cycles(false), [9, 17, 22, 26, 30, 34, 37]);
    assert_eq!(cycles(true), [10, 19, 25, 30, 35, 40, 43]);
}

/// A round begins with a new peer once a peer has repeated.
fn rounds_of(orders: &[(u64, PacketOrder)]) -> usize {
    let (mut count, mut peers, mut again) = (0, HashSet::new(), true);
    for (_, order) in orders.iter().filter(|(_, order)| !order.last) {
        let fresh = !peers.contains(&order.peer.raw());
        if fresh && again {
            peers.clear();
            count += 1;
        }
        again = !fresh;
        peers.insert(order.peer.raw());
    }
    count
}

#[test]
fn eight_ranks_take_the_rounds_of_the_paper() {
    // OptiReduce 3.2.2: 2 * ceil((N - 1) / I) rounds for both stages: 14, 8 and 4.
    for (incast, rounds) in [(1, 7), (2, 4), (4, 2), (7, 1), (15, 1)] {
        let context = SlotContext { send_incast: bits_w(incast), mark_packets: bits_w(1), ..context_of(512, 8, 3, 0) };
        for broadcast in [false, true] {
            let orders = play(context, job(3, 8, 22), broadcast);
            assert_eq!(orders.len(), 7 * 3 + 1);
            assert_eq!(rounds_of(&orders), rounds, "incast {incast}, broadcast {broadcast}");
        }
    }
}

fn set_rate(bench: &mut Bench<Planner>, peer: u64, bytes_per_us: u64) {
    bench.block.peer_write.next = true;
    bench.block.peer_word.next = bits_w(peer * 4 + 3);
    bench.block.peer_data.next = bits_w(bytes_per_us);
    bench.tick();
    bench.block.peer_write.next = false;
}

#[test]
fn a_slow_peer_keeps_its_rate_and_does_not_hold_up_the_other_of_its_round() {
    for broadcast in [false, true] {
        let mut bench = Bench::new(Planner::default());
        // Shards of 220 beats, ten packets of 1496 bytes on the wire; peer 1 at 187 bytes/us takes
        // 8 us for each.
        let job = job(0, 3, 22);
        bench.block.job.next = job;
        set_rate(&mut bench, 1, 187);
        let context = SlotContext { send_incast: bits_w(2), mark_packets: bits_w(1), ..context_of(660, 3, 0, 0) };
        let orders = play_at(&mut bench, context, job, broadcast);
        let to = |peer: u64| -> Vec<(u64, u64)> {
            let orders = orders.iter().filter(|(_, order)| !order.last && order.peer.raw() == peer);
            orders.map(|(cycle, order)| (*cycle, order.position.raw())).collect()
        };
        let [slow, fast] = [to(1), to(2)];
        assert_eq!((slow.len(), fast.len()), (10, 10));
        assert!(fast[9].0 < 200, "the fast peer ends at {}", fast[9].0);
        for peer in [&slow, &fast] {
            assert!(peer.windows(2).all(|pair| pair[1].1 == pair[0].1 + 22), "packets of a peer stay in order");
        }
        // A full bucket holds a frame and 512 ns of the rate, so nine more frames take 9 * 8 us,
        // less 512 ns and one question.
        let cycles = slow[9].0 - slow[0].0;
        assert!((9 * 2000 - 128..9 * 2000).contains(&cycles), "nine frames in {cycles} cycles");
    }
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

#[test]
fn packets_advertise_what_contribute_has_said_by_their_order_and_nothing_of_an_earlier_window() {
    let mut bench = Bench::new(Planner::default());
    bench.block.job.next = job(0, 3, 22);
    let said = Advert { timeout: bits_w(0xfedc), incast: bits_w(9) };
    // The first window's CONTRIBUTE arrives while its mean is being sent. The second has none.
    for (window, says) in [true, false].into_iter().enumerate() {
        bench.block.advert.next = Advert::default();
        arm(&mut bench, 3, context_of(132, 3, 0, 0));
        enter(&mut bench, 2, Advert { timeout: bits_w(1), incast: bits_w(1) });
        bench.block.broadcast_valid.next = true;
        bench.block.broadcast.next = SendOrder { slot: bits_w(3), broadcast: true, ..Default::default() };
        bench.tick();
        bench.block.broadcast_valid.next = false;
        bench.block.ask_ready.next = true;
        bench.block.ready.next = true;
        bench.block.word.next = GatherWord { epoch: bits_w(1), ..Default::default() };
        let mut found = Vec::new();
        for cycle in 0..100 {
            bench.settle();
            let order = bench.block.order.val();
            if bench.block.valid.val() && !order.last {
                found.push(Advert { timeout: order.timeout, incast: order.incast });
            }
            bench.tick();
            if says && cycle == 18 {
                enter(&mut bench, 3, said);
            }
        }
        let nothing = Advert::default();
        let expected = if says { [nothing, nothing, said, said] } else { [nothing; 4] };
        assert_eq!(found, expected, "window {window}");
    }
}
