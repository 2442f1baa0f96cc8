mod rig;

use super::submission::Submit;
use super::submission_model::{Effect, Interpreter};
use super::testing::{Pace, at_every_pace};
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::queue::*;
use optireduce_contract::shard::ShardMap;
use rig::{Rig, Seen, seen};
use std::collections::{BTreeMap, VecDeque};

fn random_arm(random: &mut Random, ranks: usize) -> Submission {
    let hadamard = random.one_in(3);
    let log2_n = [8, 10, 12][random.below(3) as usize];
    let log2_blocks = random.below(11 - (log2_n - 4)) as u8;
    let few = [1024, 100, 4][random.below(3) as usize];
    let beats = if hadamard { 1 << (log2_n - 4 + log2_blocks as u64) } else { 1 + random.below(few) as u16 };
    let op = random.next() as u32;
    let shards = ShardMap::new(beats as usize, ranks, op);
    Submission {
        opcode: OP_ARM,
        slot: random.below(8) as u8,
        step: random.below(2) as u16 * 0x8001,
        cookie: random.below(2) as u32 * 0x8000_0001,
        bucket: random.next() as u16,
        flags: hadamard as u8 * FLAG_HADAMARD + random.below(8) as u8 * FLAG_AUTO_BROADCAST,
        log2_n: log2_n as u8,
        base: random.next() as u32 & !63,
        beats,
        shard_quotient: shards.quotient as u16,
        shard_remainder: shards.remainder as u8,
        rotation: shards.rotation as u8,
        start_peers: random.below(ranks as u64) as u8,
        log2_blocks,
        bound_ns: random.next() as u32,
        grace_ns: random.next() as u32,
        host_beats: random.below(beats as u64 + 1) as u16,
        timeout_16us: random.next() as u16,
        incast: random.below(16) as u8,
        mark_packets: random.next() as u8,
        send_incast: random.below(16) as u8,
        host_address: random.next() & !63,
        report_address: random.next() & !255,
        sign_key: random.next(),
    }
}

/// Sets one field at or over its limit, or flips one bit.
fn damage(random: &mut Random, command: &mut Submission) {
    match random.below(17) {
        0 => command.slot = [8, 9, 128, 255][random.below(4) as usize],
        1 => command.beats = [0, 1024, 1025, 0x8001][random.below(4) as usize],
        2 => command.host_beats = command.beats.wrapping_add(random.below(2) as u16),
        3 => command.shard_quotient ^= 1 << random.below(16),
        4 => command.shard_remainder ^= 1 << random.below(8),
        5 => command.rotation ^= 1 << random.below(8),
        6 => command.log2_n = random.below(16) as u8,
        7 => command.log2_blocks = random.below(16) as u8,
        8 => command.flags ^= FLAG_HADAMARD,
        9 => command.opcode = [0, 4, 0x81, 255][random.below(4) as usize],
        11 => command.start_peers = command.start_peers.wrapping_add(1 << random.below(8)),
        12 => command.send_incast = [15, 16, 17, 0x81][random.below(4) as usize],
        13 => command.host_address ^= 1 << random.below(10),
        14 => command.report_address ^= 1 << random.below(12),
        15 => command.base ^= 1 << random.below(10),
        10 => command.cookie ^= 1 << random.below(32),
        _ => command.step ^= 1 << random.below(16),
    }
}

fn run(
    bench: Bench<Submit>,
    random: &mut Random,
    pace: Pace,
    cycles: u64,
    counts: &mut BTreeMap<String, u32>,
) -> Bench<Submit> {
    let ranks = [2, 3, 8, 63, 64, 2 + random.below(20) as usize][random.below(6) as usize];
    let rank = random.below(ranks as u64) as usize;
    let mut model = Interpreter { rank, ranks, slots: [None; 8], epochs: [0; 8], scaled: 0 };
    let mut last = 0;
    let mut rig = Rig::new(bench, random, rank, ranks);
    let start = rig.bench.cycles();
    while rig.bench.cycles() - start < cycles {
        model.scaled = random.next() as u8 | random.next() as u8;
        rig.bench.block.scaled.next = bits_w(model.scaled as u64);
        // Queues without rings, or without room for a refusal, must wait.
        rig.usable = random.next() & 0xf | random.next() & 0xf;
        rig.refusable = random.next() & 0xf | random.next() & 0xf;
        let mut named = 0u8;
        let mut expected = VecDeque::new();
        let mut batch: [VecDeque<Submission>; 4] = Default::default();
        for (queue, commands) in batch.iter_mut().enumerate() {
            let head = rig.bench.block.sq_head[queue].val().raw() as u16;
            for at in 0..rig.rings[queue].tail.wrapping_sub(head) {
                let index = head.wrapping_add(at) as usize % rig.rings[queue].entries.len();
                commands.push_back(Submission::from_bytes(&rig.rings[queue].entries[index]));
            }
        }
        for _ in 0..1 + random.below(24) {
            let mut command = random_arm(random, ranks);
            let mut queue = random.below(4) as usize;
            if let (Some((armed, _, owner)), true) = (model.slots[command.slot as usize], !random.one_in(4)) {
                (command.step, command.cookie) = (armed.step, armed.cookie);
                queue = if random.one_in(4) { queue } else { owner };
            }
            command.opcode = [OP_ARM, OP_CONTRIBUTE, OP_BROADCAST][random.below(3) as usize];
            if random.one_in(4) {
                damage(random, &mut command);
            }
            if rig.submit_to(queue, &command) {
                batch[queue].push_back(command);
            }
        }
        let served = rig.usable & rig.refusable;
        while let Some(queue) =
            (1..=4).map(|on| (last + on) % 4).find(|&queue| served >> queue & 1 == 1 && !batch[queue].is_empty())
        {
            last = queue;
            let command = batch[queue].pop_front().expect("it is not empty");
            named |= 1u8.checked_shl(command.slot as u32).unwrap_or(0);
            for effect in model.execute(queue, command) {
                let name = match effect {
                    Effect::Refuse { status, .. } => format!("Refuse {status}"),
                    _ => format!("{effect:?}").split('(').next().unwrap_or_default().to_string(),
                };
                *counts.entry(name).or_default() += 1;
                expected.push_back(seen(effect));
            }
        }
        let mut others = random.next() as u8 & !named;
        let mut patience = 3000;
        while rig.rung() & served != 0 || rig.out.len() < expected.len() {
            let freed = if random.one_in(4) { others & random.next() as u8 } else { 0 };
            others &= !freed;
            (0..8).filter(|slot| freed >> slot & 1 == 1).for_each(|slot| model.slots[slot] = None);
            rig.cycle(random, pace, freed as u64);
            patience -= 1;
            assert!(patience > 0, "the unit hangs; so far {:?}, expected {expected:?}", rig.out);
        }
        assert_eq!(rig.out, expected, "rank {rank} of {ranks}");
        rig.cycle(random, pace, 0);
        assert_eq!(rig.bench.block.working.val(), rig.rung() & rig.usable != 0);
        rig.out.clear();
        let freed = random.next() as u8 & random.next() as u8 & random.next() as u8;
        (0..8).filter(|slot| freed >> slot & 1 == 1).for_each(|slot| model.slots[slot] = None);
        rig.cycle(random, pace, freed as u64);
        if random.one_in(20) {
            rig.rings.iter_mut().for_each(|ring| ring.tail = 0);
            (model.slots, last) = ([None; 8], 0);
            rig.bench.block.clear.next = true;
            rig.cycle(random, pace, 0);
            rig.bench.block.clear.next = false;
        }
    }
    rig.bench
}

#[test]
fn commands_do_in_order_what_the_contract_says_or_are_refused() {
    let mut counts = BTreeMap::new();
    at_every_pace(12, |random, pace| drop(run(Bench::new(Submit::default()), random, pace, 8000, &mut counts)));
    if std::env::var_os("OPTIREDUCE_SEED").is_none() {
        let kinds: Vec<_> = counts.keys().map(String::as_str).collect();
        assert_eq!(kinds, ["Arm", "Broadcast", "Contribute", "Refuse 2", "Refuse 3", "Refuse 4"], "{counts:?}");
        assert!(counts.values().all(|&count| count > 100), "{counts:?}");
    }
}

#[test]
fn verilog_executes_the_same_commands() {
    let mut counts = BTreeMap::new();
    let bench = Bench::recording(Submit::default());
    let mut bench = run(bench, &mut Random::new(1), Pace::RANDOM, 2800, &mut counts);
    assert_eq!(counts.len(), 6, "the stimulus missed a case: {counts:?}");
    bench.verify_with_verilator("submission");
}

/// Returns a command's effects, and the cycles from its entry to them and to the next idle.
fn alone(rig: &mut Rig, command: &Submission) -> (Vec<Seen>, u64, u64) {
    let (mut random, pace) = (Random::new(0), Pace { idle: false, stall: false });
    assert!(rig.submit(command));
    rig.bench.block.sq_tail[0].next = bits_w(rig.rings[0].tail as u64);
    rig.bench.block.usable.next = bits_w(rig.usable);
    rig.bench.settle();
    let (mut entry_at, mut shows_at) = (0, 0);
    while rig.bench.block.working.val() {
        rig.cycle(&mut random, pace, 0);
        if rig.bench.block.r_valid.val() {
            entry_at = rig.bench.cycles();
        }
        if shows_at == 0 && !rig.out.is_empty() {
            shows_at = rig.bench.cycles();
        }
    }
    (rig.out.drain(..).collect(), shows_at - entry_at, rig.bench.cycles() - entry_at)
}

#[test]
fn latencies_are_as_published() {
    for ranks in [2, 17, 64] {
        let mut rig = Rig::new(Bench::new(Submit::default()), &mut Random::new(1), 0, ranks);
        let mut command = Submission { flags: 0, ..random_arm(&mut Random::new(1), ranks) };
        rig.bench.block.scaled.next = bits_w(0xff);
        for (opcode, shows) in [(OP_ARM, 3 + ranks as u64), (OP_CONTRIBUTE, 2), (OP_BROADCAST, 2), (0, 2)] {
            command.opcode = opcode;
            let (out, shows_after, idle_after) = alone(&mut rig, &command);
            assert_eq!((out.len(), shows_after, idle_after), (1, shows, shows + 1), "opcode {opcode}, {ranks} ranks");
        }
    }
}

#[test]
fn every_refusal_has_its_cause() {
    let (rank, ranks) = (1, 3);
    let mut rig = Rig::new(Bench::new(Submit::default()), &mut Random::new(1), rank, ranks);
    let good = Submission {
        opcode: OP_ARM,
        slot: 2,
        step: 7,
        cookie: 9,
        beats: 64,
        shard_quotient: 21,
        shard_remainder: 1,
        host_beats: 60,
        log2_n: 10,
        flags: FLAG_HADAMARD,
        start_peers: 2,
        send_incast: 15,
        ..Submission::default()
    };
    let plain = Submission { flags: 0, ..good };
    let contribute = Submission { opcode: OP_CONTRIBUTE, ..good };
    let broadcast = Submission { opcode: OP_BROADCAST, ..good };
    let (ok, bad, busy, stale) = (STATUS_OK, STATUS_BAD_COMMAND, STATUS_SLOT_BUSY, STATUS_STALE);
    let steps = [
        (Submission { slot: 8, ..good }, bad),
        (Submission { beats: 0, shard_quotient: 0, shard_remainder: 0, host_beats: 0, ..plain }, bad),
        (Submission { beats: 1025, shard_quotient: 341, shard_remainder: 2, ..plain }, bad),
        (Submission { host_beats: 65, ..good }, bad),
        (Submission { shard_quotient: 20, ..good }, bad),
        (Submission { shard_quotient: 20, shard_remainder: 4, ..good }, bad), // the sum agrees
        (Submission { rotation: 3, ..good }, bad),
        (Submission { log2_n: 9, log2_blocks: 1, ..good }, bad), // no power of four
        (Submission { log2_n: 6, log2_blocks: 4, ..good }, bad), // too small
        (Submission { log2_n: 10, log2_blocks: 1, ..good }, bad),
        (Submission { opcode: 0, ..good }, bad),
        (Submission { start_peers: 3, ..good }, bad),
        (Submission { start_peers: 130, ..good }, bad),
        (Submission { send_incast: 16, ..good }, bad),
        (Submission { host_address: 0x1020, ..good }, bad),
        (Submission { report_address: 0x1080, ..good }, bad),
        (Submission { base: 0x1020, ..good }, bad),
        (contribute, stale),
        (good, ok),
        (good, busy),
        (Submission { slot: 10, ..contribute }, bad),
        (Submission { step: 8, ..contribute }, stale),
        (Submission { cookie: 8, ..contribute }, stale),
        (Submission { slot: 3, ..contribute }, stale),
        (Submission { host_beats: 65, ..contribute }, bad),
        (Submission { host_address: 0x1001, ..contribute }, bad),
        (Submission { report_address: 0x1001, base: 1, ..contribute }, ok), // it has neither
        (contribute, stale),                                                // already contributed
        (broadcast, stale),                                                 // no mean yet
    ];
    for (i, (command, status)) in steps.into_iter().enumerate() {
        let (out, ..) = alone(&mut rig, &command);
        match (status, &out[..]) {
            (STATUS_OK, [Seen::Arm { .. } | Seen::Contribute { .. }]) => {}
            (_, [Seen::Refuse(refusal)]) => assert_eq!(refusal.status.raw(), status as u64, "step {i}: {command:?}"),
            _ => panic!("step {i}: {command:?} did {out:?}"),
        }
    }
    rig.bench.block.scaled.next = bits_w(1 << 2);
    assert!(matches!(alone(&mut rig, &broadcast).0[..], [Seen::Broadcast(_)]));
}

/// A window is armed in slot 1.
fn armed_rig() -> (Rig, Submission) {
    let mut rig = Rig::new(Bench::new(Submit::default()), &mut Random::new(1), 0, 2);
    let arm = Submission { slot: 1, flags: 0, ..random_arm(&mut Random::new(3), 2) };
    assert!(matches!(alone(&mut rig, &arm).0[..], [Seen::Arm { .. }]));
    rig.bench.block.scaled.next = bits_w(0xff);
    (rig, arm)
}

fn is_refused(out: &[Seen], with: u8) -> bool {
    matches!(out, [Seen::Refuse(refusal)] if refusal.status.raw() == with as u64)
}

#[test]
fn a_window_that_is_being_finished_takes_no_orders() {
    for opcode in [OP_CONTRIBUTE, OP_BROADCAST] {
        let (mut rig, arm) = armed_rig();
        let order = Submission { opcode, ..arm };
        rig.bench.block.finishing.next = bits_w(1 << 1);
        assert!(is_refused(&alone(&mut rig, &order).0, STATUS_STALE));
        rig.bench.block.finishing.next = bits_w(0xfd);
        assert!(!is_refused(&alone(&mut rig, &order).0, STATUS_STALE), "other slots do not matter");
    }
}

/// The window begins to be finished after the order was decoded.
#[test]
fn an_order_that_waits_announces_its_slot_and_is_refused_once_that_is_being_finished() {
    let never = Pace { idle: false, stall: true };
    for opcode in [OP_CONTRIBUTE, OP_BROADCAST] {
        let (mut rig, arm) = armed_rig();
        assert!(rig.submit(&Submission { opcode, ..arm }));
        let mut waited = 0;
        for cycle in 0.. {
            let mut random = Random::new(cycle);
            let block = &mut rig.bench.block;
            let waits = block.order_valid.val() || block.send_valid.val();
            if waits {
                waited += 1;
                assert_eq!(block.ordering.val().raw(), 1 << 1);
            }
            block.finishing.next = bits_w(if waited > 3 { 1 << 1 } else { 0 });
            rig.cycle_with(&mut random, never, 0, false);
            if !rig.out.is_empty() {
                break;
            }
            assert!(cycle < 200, "neither taken nor refused");
        }
        assert!(waited > 3 && is_refused(rig.out.make_contiguous(), STATUS_STALE), "{:?}", rig.out);
    }
}

#[test]
fn an_entry_that_cannot_be_read_stops_its_queue_and_is_not_executed() {
    let (mut rig, arm) = armed_rig();
    let (mut random, pace) = (Random::new(1), Pace { idle: false, stall: false });
    let contribute = Submission { opcode: OP_CONTRIBUTE, ..arm };
    assert!(rig.submit(&contribute) && rig.submit_to(2, &Submission { slot: 2, ..arm }));
    let head = rig.bench.block.sq_head[0].val().raw();
    for _ in 0..60 {
        rig.bench.block.r_error.next = rig.reading.is_some_and(|(queue, ..)| queue == 0);
        rig.cycle(&mut random, pace, 0);
    }
    assert_eq!(rig.usable, 0xe, "queue 0 has stopped");
    assert!(matches!(rig.out.make_contiguous(), [Seen::Arm { slot: 2, .. }]), "queue 2 continues: {:?}", rig.out);
    assert_eq!(rig.bench.block.sq_head[0].val().raw(), head, "it is not consumed");
}

#[test]
fn another_queues_orders_are_stale() {
    for opcode in [OP_CONTRIBUTE, OP_BROADCAST] {
        let (mut rig, arm) = armed_rig();
        let order = Submission { opcode, flags: 0, ..arm };
        assert!(rig.submit_to(3, &order));
        let mut random = Random::new(1);
        (0..40).for_each(|_| rig.cycle(&mut random, Pace { idle: false, stall: false }, 0));
        assert!(is_refused(rig.out.make_contiguous(), STATUS_STALE), "{:?}", rig.out);
        assert!(matches!(rig.out[0], Seen::Refuse(refusal) if refusal.queue.raw() == 3));
        rig.out.clear();
        assert!(!is_refused(&alone(&mut rig, &order).0, STATUS_STALE), "its own is not");
    }
}

#[test]
fn the_epoch_of_a_slot_wraps_past_zero_and_empties_its_memory_first() {
    let mut rig = Rig::new(Bench::new(Submit::default()), &mut Random::new(1), 0, 2);
    let mut random = Random::new(4);
    for turn in 0..600u64 {
        let command = Submission { slot: 5, ..random_arm(&mut random, 2) };
        let (out, ..) = alone(&mut rig, &command);
        let wraps = turn > 0 && turn % 255 == 0;
        assert_eq!(out[0] == Seen::Scrub(5), wraps, "turn {turn}");
        match out[wraps as usize..] {
            [Seen::Arm { context, .. }] => assert_eq!(context.epoch.raw(), 1 + turn % 255, "turn {turn}"),
            _ => panic!("turn {turn}: {out:?}"),
        }
        rig.cycle(&mut random, Pace::RANDOM, 1 << 5);
    }
    let other = Submission { slot: 4, ..random_arm(&mut random, 2) };
    assert!(matches!(alone(&mut rig, &other).0[..], [Seen::Arm { context, .. }] if context.epoch.raw() == 1));
}

#[test]
fn a_reset_at_any_cycle_forgets_the_command_and_the_next_one_works() {
    let command = Submission { slot: 1, ..random_arm(&mut Random::new(1), 4) };
    let mut random = Random::new(1);
    for after in 0..14 {
        let mut rig = Rig::new(Bench::new(Submit::default()), &mut Random::new(1), 0, 4);
        assert!(rig.submit(&command));
        (0..after).for_each(|_| rig.cycle(&mut random, Pace { idle: false, stall: false }, 0));
        rig.bench.block.clear.next = true;
        rig.rings[0].tail = 0;
        (0..3).for_each(|_| rig.cycle(&mut random, Pace { idle: false, stall: false }, 0));
        rig.bench.block.clear.next = false;
        rig.out.clear();
        rig.cycle(&mut random, Pace::RANDOM, 0);
        assert!(!rig.bench.block.working.val() && rig.out.is_empty(), "reset after {after} cycles");
        assert!(matches!(alone(&mut rig, &command).0[..], [Seen::Arm { .. }]), "reset after {after} cycles");
    }
}
