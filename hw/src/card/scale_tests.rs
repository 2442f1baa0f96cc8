use super::reciprocal::Reciprocal;
use super::scale::Scale;
use super::stimulus::float_beat;
use super::testing::{Pace, at_every_pace, linear, random_beat};
use super::types::{AccWord, SlotContext};
use crate::arith::bf16::round;
use crate::arith::fp_mul_model::fp_mul;
use crate::arith::recip_rom::recip;
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use std::collections::{HashMap, VecDeque};

fn context(own_start: u64, own_beats: u64, epoch: u64, auto_broadcast: bool, bf16: bool) -> SlotContext {
    SlotContext {
        own_start: bits_w(own_start),
        own_beats: bits_w(own_beats),
        epoch: bits_w(epoch),
        auto_broadcast,
        bf16,
        ..Default::default()
    }
}

fn mean(word: &AccWord, bf16: bool) -> Beat {
    let mean = |lane| fp_mul(lane, recip(word.count.raw() as u32));
    Beat(word.data.0.map(|lane| if bf16 { round(mean(lane)) } else { mean(lane) }))
}

struct Window {
    context: SlotContext,
    means: VecDeque<(u64, Beat)>,
}

fn run(bench: &mut Bench<Scale>, random: &mut Random, pace: Pace, windows: usize) {
    let mut memory: HashMap<u64, AccWord> = HashMap::new();
    let mut slots: [Option<Window>; 8] = Default::default();
    let [mut scaled, mut closed] = [0u64; 2];
    let (mut armed, mut finished, mut broadcasts, mut missing) = (0, 0, 0, 0);
    let mut words = VecDeque::from([None; 2]);
    let mut cycle = 0u64;
    while finished < windows {
        cycle += 1;
        assert!(cycle < 400 * windows as u64, "stuck: {finished} of {windows} windows");
        let block = &mut bench.block;
        block.arm.next = bits_w(0);
        let slot = random.below(8) as usize;
        if armed < windows && slots[slot].is_none() && random.one_in(3) {
            let own_beats = [0, 1, 3, 20, 40][random.below(5) as usize];
            let context = context(
                random.below(1024 - own_beats),
                own_beats,
                1 + random.below(255),
                random.one_in(2),
                random.one_in(2),
            );
            let mut means = VecDeque::new();
            for beat in 0..own_beats {
                let here = !random.one_in(4);
                let epoch = if here { context.epoch.raw() } else { context.epoch.raw() ^ 1 };
                let (data, count) = (float_beat(random), 1 + random.below(64));
                let fresh = AccWord { data, count: bits_w(count), epoch: bits_w(epoch), ..Default::default() };
                memory.insert((slot as u64) << 10 | beat, fresh);
                if here {
                    means.push_back((context.own_start.raw() + beat, mean(&fresh, context.bf16)));
                } else {
                    missing += 1;
                }
            }
            block.arm.next = bits_w(1 << slot);
            block.arm_slot.next = bits_w(slot as u64);
            block.arm_context.next = context;
            slots[slot] = Some(Window { context, means });
            armed += 1;
        }
        let arm = block.arm.next.raw();
        block.closed.next = bits_w(closed);
        block.read_ready.next = pace.takes(random);
        // Long stalls of the gather memory fill the outbox.
        block.ready.next = pace.takes(random) && !(pace.stall && cycle / 64 % 2 == 1);
        let noise = AccWord { data: random_beat(random), count: bits_w(1), ..Default::default() };
        block.word.next = words.pop_front().flatten().unwrap_or(noise);
        bench.settle();
        let block = &bench.block;
        assert_eq!(block.scaled.val().raw(), scaled, "cycle {cycle}: scaled slots");
        assert!(block.working.val() || closed & !scaled == 0, "cycle {cycle}: asleep with work to do");
        bench.block.read_ready.next = bench.block.read_ready.next && bench.block.read_valid.val();
        bench.settle();
        let block = &bench.block;
        let read = block.read_valid.val() && block.read_ready.val();
        words.push_back(read.then(|| memory[&linear(block.read_address.val())]));
        if block.valid.val() && block.ready.val() {
            let found = block.mean.val();
            let window = slots[found.slot.index()].as_mut().expect("a mean of an armed slot");
            let expected = window.means.pop_front().expect("no more means than beats");
            assert_eq!((found.position.raw(), found.data), expected, "cycle {cycle}");
            assert_eq!(found.epoch, window.context.epoch);
        }
        // `broadcast` is high in the cycle before `scaled` rises.
        let before = scaled;
        let broadcast = block.broadcast.val().then(|| block.broadcast_slot.val().index());
        bench.tick();
        scaled = bench.block.scaled.val().raw();
        assert_eq!(scaled & arm, 0, "cycle {cycle}: an armed slot counts as scaled");
        let risen = scaled & !before;
        assert_eq!(before & !arm & !scaled, 0, "cycle {cycle}: a scaled slot was forgotten");
        assert!(risen.count_ones() <= 1 && risen & !closed == 0, "cycle {cycle}");
        assert!(broadcast.is_none_or(|slot| risen == 1 << slot), "cycle {cycle}: broadcast of slot {broadcast:?}");
        if risen != 0 {
            let slot = risen.trailing_zeros() as usize;
            let window = slots[slot].take().expect("armed");
            assert!(window.means.is_empty(), "cycle {cycle}: {} means were not stored", window.means.len());
            assert_eq!(broadcast.is_some(), window.context.auto_broadcast);
            finished += 1;
            broadcasts += usize::from(broadcast.is_some());
            closed &= !risen;
        }
        let slot = random.below(8);
        if slots[slot as usize].is_some() && random.one_in(if pace.idle { 40 } else { 4 }) {
            closed |= 1 << slot;
        }
    }
    assert!(broadcasts > 0 && broadcasts < windows && missing > 0, "the stimulus missed a case");
}

#[test]
fn every_mean_is_stored_once_at_its_place_as_in_the_model() {
    at_every_pace(3, |random, pace| run(&mut Bench::new(Scale::default()), random, pace, 60));
}

#[test]
fn the_verilog_scales_alike() {
    let mut bench = Bench::recording(Scale::default());
    run(&mut bench, &mut Random::new(9), Pace::RANDOM, 25);
    assert!(bench.cycles() < 3000, "{} cycles", bench.cycles());
    bench.verify_with_verilator("scale");
}

#[test]
fn a_slot_armed_in_any_cycle_of_another_slots_scaling_is_not_scaled() {
    for offset in 0..60 {
        let mut bench = Bench::new(Scale::default());
        let arm = |bench: &mut Bench<Scale>, slot: u64, beats: u64| {
            bench.block.arm.next = bits_w(1 << slot);
            bench.block.arm_slot.next = bits_w(slot);
            bench.block.arm_context.next = context(0, beats, 1, false, false);
            bench.tick();
            bench.block.arm.next = bits_w(0);
        };
        bench.block.read_ready.next = true;
        bench.block.ready.next = true;
        arm(&mut bench, 2, 0);
        bench.block.closed.next = bits_w(1 << 2);
        (0..60).for_each(|_| bench.tick());
        assert_eq!(bench.block.scaled.val().raw(), 1 << 2);
        arm(&mut bench, 5, 0);
        bench.block.closed.next = bits_w(1 << 5);
        (0..offset).for_each(|_| bench.tick());
        arm(&mut bench, 2, 0);
        (0..60).for_each(|_| bench.tick());
        assert_eq!(bench.block.scaled.val().raw(), 1 << 5, "armed {offset} cycles after the other closed");
    }
}

#[test]
fn reading_starts_after_sixteen_cycles_and_goes_one_beat_a_cycle() {
    let mut bench = Bench::new(Scale::default());
    bench.block.arm.next = bits_w(1);
    bench.block.arm_context.next = context(0, 100, 1, false, false);
    bench.block.word.next =
        AccWord { data: Beat([3.0f32.to_bits(); 16]), count: bits_w(4), epoch: bits_w(1), ..Default::default() };
    bench.block.read_ready.next = true;
    bench.block.ready.next = true;
    (0..8).for_each(|_| {
        bench.tick();
        bench.block.arm.next = bits_w(0);
    });
    bench.block.closed.next = bits_w(1);
    let (mut reads, mut means) = (Vec::new(), Vec::new());
    for cycle in 0..160 {
        bench.block.read_ready.next = false;
        bench.settle();
        bench.block.read_ready.next = bench.block.read_valid.val();
        bench.settle();
        if bench.block.read_valid.val() {
            reads.push(cycle);
        }
        if bench.block.valid.val() {
            assert_eq!(bench.block.mean.val().data, Beat([0.75f32.to_bits(); 16]));
            means.push(cycle);
        }
        bench.tick();
    }
    assert_eq!(reads, (17..117).collect::<Vec<_>>(), "1 cycle to see it, 16 to drain");
    assert_eq!(means, (27..127).collect::<Vec<_>>(), "10 cycles from a word's read to its mean");
}

#[test]
fn the_outbox_takes_every_mean_that_was_asked_for_however_long_nobody_takes_them() {
    let mut bench = Bench::new(Scale::default());
    bench.block.arm.next = bits_w(1);
    bench.block.arm_context.next = context(5, 40, 1, false, false);
    bench.tick();
    bench.block.arm.next = bits_w(0);
    bench.block.closed.next = bits_w(1);
    let mut asked = VecDeque::from([None; 2]);
    let mut taken = Vec::new();
    for cycle in 0..200 {
        let data = Beat([(asked.pop_front().flatten().unwrap_or(99) as f32).to_bits(); 16]);
        bench.block.word.next = AccWord { data, count: bits_w(1), epoch: bits_w(1), ..Default::default() };
        bench.block.ready.next = cycle >= 100;
        bench.block.read_ready.next = false;
        bench.settle();
        bench.block.read_ready.next = bench.block.read_valid.val();
        bench.settle();
        asked.push_back(bench.block.read_valid.val().then(|| bench.block.read_address.val().beat.raw()));
        if bench.block.valid.val() && bench.block.ready.val() {
            let mean = bench.block.mean.val();
            taken.push((mean.position.raw(), f32::from_bits(mean.data.0[0])));
        }
        bench.tick();
    }
    assert_eq!(taken, (0..40).map(|beat| (5 + beat, beat as f32)).collect::<Vec<_>>());
    assert_eq!(bench.block.scaled.val().raw(), 1);
}

#[test]
fn clear_leaves_no_trace() {
    let step = |bench: &mut Bench<Scale>, cycle: u64, clear: bool| {
        let block = &mut bench.block;
        block.clear.next = clear;
        block.arm.next = bits_w(if clear { 0 } else { [1, 1 << 3][(cycle % 2) as usize] * (cycle < 2) as u64 });
        block.arm_slot.next = bits_w([0, 3][(cycle % 2) as usize]);
        block.arm_context.next = context(7, 20, 1, true, false);
        block.closed.next = bits_w(if clear || cycle < 2 { 0 } else { 0b1001 });
        let data = Beat([(cycle as f32).to_bits(); 16]);
        block.word.next = AccWord { data, count: bits_w(3), epoch: bits_w(1), ..Default::default() };
        block.ready.next = !cycle.is_multiple_of(3);
        block.read_ready.next = false;
        bench.settle();
        bench.block.read_ready.next = bench.block.read_valid.val();
        bench.settle();
        let block = &bench.block;
        let mean = block.valid.val().then(|| block.mean.val());
        let out = (mean, block.read_valid.val(), block.scaled.val(), block.broadcast.val(), block.working.val());
        bench.tick();
        out
    };
    let mut fresh = Bench::new(Scale::default());
    let expected: Vec<_> = (0..160).map(|cycle| step(&mut fresh, cycle, false)).collect();
    assert_eq!(expected.last().map(|last| last.2.raw()), Some(0b1001), "both slots were scaled");
    for reset_at in 0..110 {
        let mut bench = Bench::new(Scale::default());
        (0..reset_at).for_each(|cycle| _ = step(&mut bench, cycle, false));
        (0..11).for_each(|cycle| _ = step(&mut bench, cycle, true));
        for (cycle, expected) in expected.iter().enumerate() {
            let found = step(&mut bench, cycle as u64, false);
            assert_eq!(&found, expected, "cycle {cycle} after a reset at {reset_at}");
        }
    }
}

#[test]
fn every_reciprocal_comes_one_cycle_later() {
    let mut bench = Bench::recording(Reciprocal::default());
    for count in (0..=1024).rev() {
        bench.block.count.next = bits_w(count);
        bench.tick();
        assert_eq!(bench.block.factor.val().raw(), u64::from(recip(count.max(1) as u32)), "1 / {count}");
    }
    bench.verify_with_verilator("reciprocal");
}
