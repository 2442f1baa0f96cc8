use super::lookup::Lookup;
use super::lookup_model::{Window, find, judge};
use super::testing::{Pace, at_every_pace, random_beat};
use super::types::{JobWords, RxHeader, SlotContext};
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::packet::{FLAG_BF16, FLAG_HADAMARD, FLAG_LAST_PERCENTILE, STAGE_BROADCAST, UbtHeader};
use optireduce_contract::rules;
use optireduce_contract::rules::accept::Cause;
use optireduce_contract::shard::ShardMap;
use std::collections::BTreeMap;

#[derive(Clone, Copy)]
struct Packet {
    ubt: UbtHeader,
    payload_beats: usize,
    verdict: Result<(usize, usize), Cause>,
    window: Option<Window>,
}

/// Packet, index of the beat (0 for the header), and beat.
type Inside = Option<(Packet, usize, Beat)>;

fn random_window(random: &mut Random, slot: usize, ranks: usize) -> Window {
    let beats = [1 + random.below(1024), 1 + random.below(2 * ranks as u64), 1024][random.below(3) as usize] as usize;
    let few = [0, 1, 8190][random.below(3) as usize]; // the last lies at the end of a bucket of 4 GiB
    let shape = rules::Window {
        bucket: random.below(2) as u16 * 0x8001,
        step: [0, 0x0180, 0x8001, 0xfff0][random.below(4) as usize],
        base_bytes: (64 * ((few * 8 + slot) * 1024 + (1024 - beats) * random.below(2) as usize)) as u32,
        beats,
        shards: ShardMap::new(beats, ranks, random.next() as u32),
        hadamard: random.one_in(2),
        bf16: random.one_in(2),
        sends: [true; 2],
    };
    Window { shape, epoch: random.next() as u8 }
}

fn base_beat(window: &Window) -> usize {
    window.shape.base_bytes as usize / 64
}

fn context(window: &Window, rank: usize) -> SlotContext {
    let own = window.shape.shards.range_of(rank);
    SlotContext {
        bucket: bits_w(window.shape.bucket as u64),
        step: bits_w(window.shape.step as u64),
        base_beat: bits_w(base_beat(window) as u64),
        beats: bits_w(window.shape.beats as u64),
        quotient: bits_w(window.shape.shards.quotient as u64),
        remainder: bits_w(window.shape.shards.remainder as u64),
        rotation: bits_w(window.shape.shards.rotation as u64),
        hadamard: window.shape.hadamard,
        bf16: window.shape.bf16,
        own_start: bits_w(own.start as u64),
        own_beats: bits_w(own.len() as u64),
        epoch: bits_w(window.epoch as u64),
        ..SlotContext::default()
    }
}

fn random_packet(random: &mut Random, windows: &[Window], rank: usize, ranks: usize) -> (UbtHeader, usize) {
    let window = windows[random.below(windows.len() as u64) as usize];
    let mut ubt = UbtHeader {
        bucket: window.shape.bucket,
        step: window.shape.step,
        flags: random.below(2) as u8 * FLAG_LAST_PERCENTILE
            + window.shape.hadamard as u8 * FLAG_HADAMARD
            + window.shape.bf16 as u8 * FLAG_BF16,
        stage: random.below(2) as u8 * STAGE_BROADCAST,
        sender: ((rank as u64 + 1 + random.below(ranks as u64 - 1)) % ranks as u64) as u16,
        ..UbtHeader::default()
    };
    let owner = if ubt.stage == STAGE_BROADCAST { ubt.sender as usize } else { rank };
    let shard = window.shape.shards.range_of(owner);
    let inside = shard.start + random.below(shard.len().max(1) as u64) as usize;
    let room = (shard.end.max(inside + 1) - inside).div_ceil(1 + window.shape.bf16 as usize);
    let mut payload_beats = 1 + random.below(room.min(12) as u64) as usize;
    let mut beat = base_beat(&window) + inside;
    match random.below(16) {
        0 => beat = (base_beat(&window) + shard.start).saturating_sub(1),
        1 => payload_beats = room + 1,
        9 => payload_beats = room,
        10 => ubt.flags ^= FLAG_BF16,
        2 => beat = base_beat(&window).saturating_sub(random.below(2) as usize),
        3 => beat = base_beat(&window) + window.shape.beats - random.below(2) as usize,
        4 => ubt.bucket ^= 1 << random.below(16),
        5 => ubt.step ^= 1 << random.below(16),
        6 => ubt.flags ^= FLAG_HADAMARD,
        7 => beat ^= 1 << random.below(26),
        8 => beat = base_beat(&window) + random.below(window.shape.beats as u64) as usize,
        _ => {}
    }
    ubt.offset = (beat % (1 << 26)) as u32 * 64;
    (ubt, payload_beats.min(140))
}

fn run(bench: &mut Bench<Lookup>, random: &mut Random, pace: Pace, cycles: u64, seen: &mut BTreeMap<String, u32>) {
    let ranks = [2, 3, 4, 8, 63, 64, 2 + random.below(63) as usize][random.below(7) as usize];
    let rank = random.below(ranks as u64) as usize;
    bench.block.job.next = JobWords { rank: bits_w(rank as u64), ranks: bits_w(ranks as u64), ..JobWords::default() };
    let mut slots: [Option<Window>; 8] = [None; 8];
    let mut known: Vec<Window> = vec![random_window(random, 0, ranks)];
    let mut coming: Option<(Packet, usize)> = None; // and its next beat
    let mut padded = 0;
    let mut pipeline: [Inside; 6] = [None; 6]; // index 0 is at the output
    let [mut second_half, mut half_done] = [false; 2]; // of index 0, and of index 1
    for cycle in 0..cycles {
        // A slot is armed when it is free and no packet in the pipeline needs its old context.
        let slot = random.below(8) as usize;
        let needed = pipeline
            .iter()
            .flatten()
            .any(|(packet, ..)| packet.window.is_some_and(|w| base_beat(&w) / 1024 % 8 == slot));
        let arm = slots[slot].is_none() && !needed && random.one_in(6);
        let window = random_window(random, slot, ranks);
        let freed =
            if random.one_in(30) { random.next() as u8 & random.next() as u8 & !((arm as u8) << slot) } else { 0 };
        let clear = random.one_in(500) && !arm;
        bench.block.arm.next = bits_w((arm as u64) << slot);
        bench.block.arm_slot.next = bits_w(slot as u64);
        bench.block.arm_context.next = context(&window, rank);
        bench.block.freed.next = bits_w(freed as u64);
        bench.block.clear.next = clear;

        let stall = !pace.takes(random);
        if coming.is_none() && pace.comes(random) {
            let (ubt, payload_beats) = random_packet(random, &known, rank, ranks);
            coming = Some((Packet { ubt, payload_beats, verdict: Err(Cause::NoWindow), window: None }, 0));
        }
        if let Some((packet, 0)) = &mut coming {
            packet.verdict = judge(&slots, rank, &packet.ubt, packet.payload_beats);
            packet.window = find(&slots, &packet.ubt).ok().and_then(|slot| slots[slot]);
        }
        let input: Inside = if pace.comes(random) { coming.map(|(p, at)| (p, at, random_beat(random))) } else { None };
        bench.block.stall.next = stall;
        bench.block.in_valid.next = input.is_some();
        bench.block.in_head.next = input.is_some_and(|(_, at, _)| at == 0);
        bench.block.in_data.next = input.map_or(random_beat(random), |(.., data)| data);
        if let Some((Packet { ubt, payload_beats, .. }, ..)) = input {
            bench.block.in_header.next = RxHeader {
                bucket: bits_w(ubt.bucket as u64),
                step: bits_w(ubt.step as u64),
                beat: bits_w(ubt.offset as u64 / 64),
                beats: bits_w(payload_beats as u64),
                sender: bits_w(ubt.sender as u64),
                broadcast: ubt.stage == STAGE_BROADCAST,
                mark: ubt.flags & FLAG_LAST_PERCENTILE != 0,
                hadamard: ubt.flags & FLAG_HADAMARD != 0,
                bf16: ubt.flags & FLAG_BF16 != 0,
            };
        }
        bench.settle();

        let block = &bench.block;
        let is_accepted = |packet: &Packet| packet.verdict.is_ok();
        let splits = |(packet, at, _): (Packet, usize, Beat)| {
            at != 0 && is_accepted(&packet) && packet.ubt.flags & FLAG_BF16 != 0
        };
        let splitting = pipeline[1].is_some_and(splits) && !half_done;
        assert_eq!(block.busy.val(), stall || splitting, "cycle {cycle}");
        assert_eq!(block.empty.val(), pipeline.iter().all(Option::is_none), "cycle {cycle}");
        let accepted = pipeline[0].filter(|(packet, ..)| is_accepted(packet));
        let (head, payload) = (accepted.filter(|inside| inside.1 == 0), accepted.filter(|inside| inside.1 != 0));
        if payload.is_none() {
            assert!(!block.valid.val(), "cycle {cycle}");
        }
        assert_eq!(block.packet.val(), head.is_some() && !stall, "cycle {cycle}");
        if let Some((packet, at, data)) = accepted
            && let (Ok((slot, position)), Some(window)) = (packet.verdict, packet.window)
        {
            assert_eq!(block.broadcast.val(), packet.ubt.stage == STAGE_BROADCAST, "cycle {cycle}");
            let beat = block.beat.val();
            assert_eq!(beat.slot.raw(), slot as u64, "cycle {cycle}");
            assert_eq!(beat.sender.raw(), packet.ubt.sender as u64, "cycle {cycle}");
            if at == 0 {
                assert_eq!(block.mark.val(), packet.ubt.flags & FLAG_LAST_PERCENTILE != 0, "cycle {cycle}");
            } else {
                let place =
                    if window.shape.bf16 { position + 2 * (at - 1) + second_half as usize } else { position + at - 1 };
                let owner = if block.broadcast.val() { packet.ubt.sender as usize } else { rank };
                let padding = place == window.shape.shards.range_of(owner).end;
                assert_eq!(block.valid.val(), !padding, "cycle {cycle}: {:?} of {window:?}", packet.ubt);
                padded += padding as u32;
                assert_eq!(beat.position.raw(), place as u64, "cycle {cycle}: {:?} of {window:?}", packet.ubt);
                assert_eq!(beat.epoch.raw(), window.epoch as u64, "cycle {cycle}");
                let first = 16 * second_half as usize;
                let value = |lane: usize| (data.get_bits::<16>(16 * (first + lane)).raw() as u32) << 16;
                let expected = if window.shape.bf16 { Beat(std::array::from_fn(value)) } else { data };
                assert_eq!(beat.data, expected, "cycle {cycle}");
                if !block.broadcast.val() {
                    let relative = place - window.shape.shards.range_of(rank).start;
                    assert_eq!(beat.relative.raw(), relative as u64, "cycle {cycle}");
                }
            }
        }
        let judged = pipeline[1].filter(|inside| inside.1 == 0 && !stall && !clear).map(|(packet, ..)| packet);
        let drops =
            [block.drop_no_window.val(), block.drop_stale.val(), block.drop_flags.val(), block.drop_out_of_shard.val()];
        let causes = [Cause::NoWindow, Cause::Stale, Cause::Flags, Cause::OutOfShard];
        let expected = causes.map(|cause| judged.is_some_and(|packet| packet.verdict == Err(cause)));
        assert_eq!(drops, expected, "cycle {cycle}: {:?} in {slots:?}", judged.map(|packet| packet.ubt));
        if let Some(packet) = judged {
            let name = packet.verdict.map_or_else(|cause| format!("{cause:?}"), |_| "Accepted".into());
            *seen.entry(name).or_default() += 1;
        }

        if !stall {
            second_half = half_done;
            half_done = splitting;
        }
        if !stall && splitting {
            pipeline[0] = pipeline[1];
        } else if !stall {
            pipeline = [pipeline[1], pipeline[2], pipeline[3], pipeline[4], pipeline[5], input];
            if let (Some(_), Some((packet, at))) = (input, coming) {
                coming = (at < packet.payload_beats).then_some((packet, at + 1));
            }
        }
        if arm {
            slots[slot] = Some(window);
            known.push(window);
            known.drain(..known.len().saturating_sub(12));
        }
        if clear {
            (pipeline, half_done) = ([None; 6], false);
            if let Some((packet, 1..)) = &mut coming {
                packet.verdict = Err(Cause::NoWindow);
            }
        }
        for (i, slot) in slots.iter_mut().enumerate() {
            *slot = slot.filter(|_| freed >> i & 1 == 0 && !clear);
        }
        bench.tick();
    }
    *seen.entry("padding".into()).or_default() += padded;
}

#[test]
fn packets_find_their_window_and_stay_in_the_shard_their_sender_may_write() {
    let mut seen = BTreeMap::new();
    at_every_pace(16, |random, pace| run(&mut Bench::new(Lookup::default()), random, pace, 4000, &mut seen));
    if std::env::var_os("OPTIREDUCE_SEED").is_none() {
        assert_eq!(seen.len(), 6, "{seen:?}");
        assert!(seen.values().all(|&count| count > 300), "{seen:?}");
    }
}

#[test]
fn verilog_finds_the_same_windows() {
    let mut bench = Bench::recording(Lookup::default());
    let mut seen = BTreeMap::new();
    run(&mut bench, &mut Random::new(3), Pace::RANDOM, 2500, &mut seen);
    assert_eq!(seen.len(), 6, "the stimulus missed a case: {seen:?}");
    bench.verify_with_verilator("lookup");
}
