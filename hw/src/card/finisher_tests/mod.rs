mod rig;

use super::finisher::Finisher;
use super::stimulus::{EAGER, context_of};
use super::testing::{Pace, at_every_pace};
use super::types::SlotContext;
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use rig::{RANK, RANKS, World, refuse, start};

#[derive(Clone, Copy)]
struct Sizes {
    beats: u64,
    log2_n: [u32; 2],
    log2_blocks: u64,
}

const SMALL: Sizes = Sizes { beats: 90, log2_n: [8, 8], log2_blocks: 2 };

fn any_context(random: &mut Random, sizes: Sizes, at: u64) -> SlotContext {
    let hadamard = random.one_in(2);
    let log2_n = sizes.log2_n[random.below(2) as usize];
    let log2_blocks = random.below(sizes.log2_blocks + 1) as u32;
    let beats = if hadamard { 1 << (log2_n - 4 + log2_blocks) } else { 1 + random.below(sizes.beats) as usize };
    let host_beats = if random.one_in(2) { beats as u64 } else { random.below(beats as u64 + 1) };
    SlotContext {
        cookie: bits_w(random.next()),
        queue: bits_w(random.below(4)),
        hadamard,
        log2_n: bits_w(log2_n.into()),
        log2_blocks: bits_w(log2_blocks.into()),
        host_beats: bits_w(host_beats),
        epoch: bits_w(1 + random.below(255)),
        host_address: bits_w((random.next() >> 8 | 1 << 56) & !63),
        report_address: bits_w(1 << 40 | at << 32 | random.below(1 << 24) << 8),
        sign_key: bits_w(random.next()),
        ..context_of(beats, RANKS, RANK, random.next() as u32)
    }
}

/// The host reads completions late.
fn run(bench: &mut Bench<Finisher>, random: &mut Random, pace: Pace, windows: usize, sizes: Sizes, fails: u64) {
    let masks = [(); 4].map(|_| [0, 1, 3][random.below(3) as usize]);
    let mut world = start(bench, masks);
    world.fails_one_in = fails;
    let (mut armed, mut refused, mut full) = (0, 0, 0);
    while world.done < 2 * windows + refused || armed < windows {
        assert!(world.cycle < windows as u64 * 20_000, "stuck after {} completions", world.done);
        let at = random.below(8) as usize;
        let slot = &mut world.slots[at];
        if !slot.armed && armed < windows {
            let context = any_context(random, sizes, at as u64);
            world.arm(bench, random, at, context);
            armed += 1;
        } else if random.one_in(if pace.idle { 20 } else { 3 }) {
            // A stage may close before the previous one is reported.
            slot.closed |= slot.scaled;
            slot.scaled = true;
        }
        if random.one_in(100) && refused < windows {
            let queue = random.below(4) as usize;
            refused += refuse(bench, &mut world, random, queue);
        }
        for ring in &mut world.rings {
            full += u64::from(ring.issued - ring.head > ring.mask);
            if ring.head < ring.tail && (!pace.stall || random.one_in(300)) {
                ring.head += 1;
            }
        }
        world.step(bench, random, pace);
    }
    assert!(full > 0 || !pace.stall, "no completion ring was ever full");
    assert!(refused > 0, "nothing was refused");
    assert_eq!(world.errors > 0, fails > 0, "errors");
    (0..10).for_each(|_| world.step(bench, random, EAGER));
    world.assert_at_rest(bench);
}

#[test]
fn results_reports_and_completions_are_as_in_the_model() {
    at_every_pace(3, |random, pace| run(&mut Bench::new(Finisher::default()), random, pace, 30, SMALL, 0));
}

#[test]
fn a_failed_write_marks_its_window_and_no_other() {
    at_every_pace(3, |random, pace| run(&mut Bench::new(Finisher::default()), random, pace, 30, SMALL, 12));
}

#[test]
fn large_windows_and_blocks_too() {
    let sizes = Sizes { beats: 1024, log2_n: [10, 12], log2_blocks: 2 };
    for pace in [EAGER, Pace { idle: false, stall: true }, Pace::RANDOM] {
        run(&mut Bench::new(Finisher::default()), &mut Random::new(8), pace, 8, sizes, 0);
    }
}

#[test]
fn the_verilog_finishes_alike() {
    let mut bench = Bench::recording(Finisher::default());
    run(&mut bench, &mut Random::new(3), EAGER, 8, SMALL, 12);
    assert!(bench.cycles() < 3000, "{} cycles", bench.cycles());
    bench.verify_with_verilator("finisher");
}

fn play(bench: &mut Bench<Finisher>, world: &mut World, random: &mut Random, at: usize, context: SlotContext) {
    world.arm(bench, random, at, context);
    let done = world.done;
    for cycle in 0..6000 {
        let slot = &mut world.slots[at];
        slot.scaled |= cycle > 3;
        slot.closed |= slot.reported;
        world.step(bench, random, EAGER);
        world.rings.iter_mut().for_each(|ring| ring.head = ring.tail);
        if world.done == done + 2 && !world.slots[at].armed {
            return;
        }
    }
    panic!("{} completions", world.done - done);
}

fn plain(beats: usize) -> SlotContext {
    SlotContext { host_address: bits_w(1 << 56), report_address: bits_w(1 << 40), ..context_of(beats, RANKS, RANK, 0) }
}

#[test]
fn a_result_leaves_at_the_documented_pace() {
    let mut random = Random::new(2);
    for (hadamard, log2_n) in [(false, 0), (true, 8), (true, 12)] {
        let mut bench = Bench::new(Finisher::default());
        let mut world = start(&mut bench, [63; 4]);
        let log2_blocks = bits_w(14 - log2_n.max(8));
        let context = SlotContext { hadamard, log2_n: bits_w(log2_n), log2_blocks, ..plain(1024) };
        play(&mut bench, &mut world, &mut random, 0, context);
        let result = &world.written[3..3 + 1024];
        assert_eq!(result[1023] - result[0], 1023, "log2_n {log2_n}");
    }
}

#[test]
fn windows_follow_at_the_documented_pace() {
    let paces = [(false, 0), (true, 8), (true, 10), (true, 12)].map(|(hadamard, log2_n)| {
        let mut random = Random::new(4);
        let mut bench = Bench::new(Finisher::default());
        let mut world = start(&mut bench, [63; 4]);
        let log2_blocks = bits_w(14 - log2_n.max(8));
        for at in 0..8 {
            let context = SlotContext {
                hadamard,
                log2_n: bits_w(log2_n),
                log2_blocks,
                host_address: bits_w((1 << 56) + (at as u64) * 65536),
                report_address: bits_w((1 << 40) + (at as u64) * 256),
                ..plain(1024)
            };
            world.arm(&mut bench, &mut random, at, context);
            world.step(&mut bench, &mut random, EAGER);
        }
        world.slots.iter_mut().for_each(|slot| (slot.scaled, slot.closed) = (true, true));
        let mut freed = Vec::new();
        while freed.len() < 8 {
            world.step(&mut bench, &mut random, EAGER);
            world.rings.iter_mut().for_each(|ring| ring.head = ring.tail);
            let free = world.slots.iter().filter(|slot| !slot.armed).count();
            if free > freed.len() {
                freed.push(world.cycle);
            }
            assert!(world.cycle < 20_000, "stuck");
        }
        // A result, two reports of two beats and two completions are 1030 beats.
        let (from, to) = (freed[1], freed[6]);
        let written = world.written.iter().filter(|cycle| (from..to).contains(*cycle)).count() as u64;
        (to - from) * 1030 / written
    });
    assert_eq!(paces, [1038, 1034, 1034, 1034], "cycles a window: plain, blocks of 256, 1024 and 4096 values");
}

#[test]
fn a_full_ring_holds_up_its_own_queue_only() {
    let mut random = Random::new(5);
    let mut bench = Bench::new(Finisher::default());
    let mut world = start(&mut bench, [0, 1, 1, 1]);
    let small = Sizes { beats: 3, ..SMALL };
    for at in 0..8usize {
        let queue = if at < 4 { 0 } else { at as u64 - 4 };
        let context = SlotContext { queue: bits_w(queue), ..any_context(&mut random, small, at as u64) };
        world.arm(&mut bench, &mut random, at, context);
        world.step(&mut bench, &mut random, EAGER);
    }
    world.slots.iter_mut().for_each(|slot| (slot.scaled, slot.closed) = (true, true));
    (0..4).for_each(|queue| {
        refuse(&mut bench, &mut world, &mut random, queue);
        world.step(&mut bench, &mut random, EAGER);
    });
    for _ in 0..3000 {
        world.step(&mut bench, &mut random, EAGER);
        world.rings[1..].iter_mut().for_each(|ring| ring.head = ring.tail);
    }
    assert_eq!(world.rings.each_ref().map(|ring| ring.tail), [1, 3, 3, 3]);
    assert!(world.slots[5..].iter().all(|slot| !slot.armed) && world.slots[..5].iter().all(|slot| slot.armed));
    for _ in 0..3000 {
        world.step(&mut bench, &mut random, EAGER);
        world.rings.iter_mut().for_each(|ring| ring.head = ring.tail);
    }
    assert_eq!(world.rings[0].tail, 11, "all is reported once the host reads");
    world.assert_at_rest(&bench);
}

#[test]
fn a_slot_armed_in_any_cycle_of_another_slots_report_is_reported_itself() {
    let mut random = Random::new(6);
    for offset in 0..120 {
        let mut bench = Bench::new(Finisher::default());
        let mut world = start(&mut bench, [63; 4]);
        let small = |random: &mut Random, at| any_context(random, Sizes { beats: 3, ..SMALL }, at);
        let context = SlotContext { hadamard: false, ..small(&mut random, 2) };
        // Slot 2 was used before. That report must not count for its next window.
        play(&mut bench, &mut world, &mut random, 2, context);
        let context = small(&mut random, 5);
        world.arm(&mut bench, &mut random, 5, context);
        world.step(&mut bench, &mut random, EAGER);
        world.slots[5].scaled = true;
        (0..offset).for_each(|_| world.step(&mut bench, &mut random, EAGER));
        let context = small(&mut random, 2);
        world.arm(&mut bench, &mut random, 2, context);
        world.step(&mut bench, &mut random, EAGER);
        world.slots[2].scaled = true;
        (0..400).for_each(|_| world.step(&mut bench, &mut random, EAGER));
        assert_eq!((world.slots[2].reported, world.done), (true, 4), "armed {offset} cycles later");
    }
}

#[test]
fn a_clear_at_any_time_owes_the_bus_nothing_and_leaves_nothing_behind() {
    let mut random = Random::new(7);
    let mut bench = Bench::new(Finisher::default());
    let mut mid_burst = 0;
    for turn in 0..60u64 {
        let pace = if turn % 2 == 0 { Pace::RANDOM } else { EAGER };
        let mut world = start(&mut bench, [63; 4]);
        for at in 0..4 {
            let context = any_context(&mut random, SMALL, at);
            world.arm(&mut bench, &mut random, at as usize, context);
            world.step(&mut bench, &mut random, pace);
        }
        world.slots[..4].iter_mut().for_each(|slot| (slot.scaled, slot.closed) = (true, true));
        for _ in 0..random.below(700) {
            world.step(&mut bench, &mut random, pace);
        }
        mid_burst += u32::from(!world.filling.is_empty());
        clear(&mut bench, world, &mut random, pace);
        let mut world = start(&mut bench, [63; 4]);
        let (hadamard, log2_n) = (turn % 3 == 0, bits_w(8));
        let context = SlotContext { hadamard, log2_n, log2_blocks: bits_w(1), ..plain(32) };
        play(&mut bench, &mut world, &mut Random::new(1), 3, context);
        let mut fresh = Bench::new(Finisher::default());
        let mut other = start(&mut fresh, [63; 4]);
        play(&mut fresh, &mut other, &mut Random::new(1), 3, context);
        assert_eq!((world.cycle, &world.written), (other.cycle, &other.written), "turn {turn}: not as after power-on");
        bench.block.clear.next = true;
        (0..16).for_each(|_| bench.tick());
        bench.block.clear.next = false;
    }
    assert!(mid_burst > 5, "{mid_burst} of 60 in the middle of a burst");
}

/// Clears until no bus transaction is outstanding. No events may be reported.
fn clear(bench: &mut Bench<Finisher>, world: World, random: &mut Random, pace: Pace) {
    let mut bus = Bus::after(world);
    bench.block.clear.next = true;
    bench.block.scaled.next = bits_w(0);
    bench.block.broadcast_closed.next = bits_w(0);
    for cycle in 0.. {
        bus.step(bench, random, pace);
        if cycle >= 16 && !bench.block.busy.val() {
            break;
        }
        assert!(cycle < 3000, "never quiet");
    }
    assert!(bus.is_quiet(), "quiet with a bus transaction outstanding");
    bench.block.clear.next = false;
    bench.block.b_valid.next = false;
}

#[test]
fn blocks_cut_off_by_a_clear_keep_no_places() {
    let mut random = Random::new(8);
    let context = SlotContext { hadamard: true, log2_n: bits_w(12), log2_blocks: bits_w(2), ..plain(1024) };
    let mut bench = Bench::new(Finisher::default());
    let mut cut = 0;
    for _ in 0..12 {
        let mut world = start(&mut bench, [63; 4]);
        world.arm(&mut bench, &mut random, 3, context);
        world.slots[3].scaled = true;
        (0..10).for_each(|_| world.step(&mut bench, &mut random, EAGER));
        world.slots[3].closed = true;
        // The first block arrives after about 550 cycles, the last after 1400.
        (0..600 + random.below(700)).for_each(|_| world.step(&mut bench, &mut random, EAGER));
        cut += u32::from((1..1024).contains(&world.written.len()));
        clear(&mut bench, world, &mut random, EAGER);
    }
    assert!(cut > 8, "only {cut} of 12 windows cut off");
    let mut world = start(&mut bench, [63; 4]);
    play(&mut bench, &mut world, &mut Random::new(1), 3, context);
    let mut fresh = Bench::new(Finisher::default());
    let mut other = start(&mut fresh, [63; 4]);
    play(&mut fresh, &mut other, &mut Random::new(1), 3, context);
    assert_eq!((world.cycle, &world.written), (other.cycle, &other.written), "not as after power-on");
}

struct Bus {
    world: World,
}

impl Bus {
    fn after(world: World) -> Self {
        Bus { world }
    }

    fn is_quiet(&self) -> bool {
        let World { addresses, data, filling, acks, offered_aw, offered_w, .. } = &self.world;
        addresses.is_empty()
            && data.is_empty()
            && filling.is_empty()
            && acks.is_empty()
            && offered_aw.is_none()
            && offered_w.is_none()
    }

    fn step(&mut self, bench: &mut Bench<Finisher>, random: &mut Random, pace: Pace) {
        let world = &mut self.world;
        world.cycle += 1;
        let ack = world.acks.front().copied().filter(|ack| ack.3 <= world.cycle);
        bench.block.aw_ready.next = pace.takes(random);
        bench.block.w_ready.next = pace.takes(random);
        bench.block.b_valid.next = ack.is_some();
        bench.settle();
        let block = &bench.block;
        assert_eq!((block.freed.val().raw(), block.stop.val().raw()), (0, 0));
        if ack.is_some() {
            world.acks.pop_front();
        }
        let aw = block.aw_valid.val().then(|| (block.aw_address.val().raw(), block.aw_beats.val().raw()));
        assert!(world.offered_aw.is_none() || aw == world.offered_aw, "an offered burst changed");
        world.offered_aw = aw.filter(|_| !block.aw_ready.val());
        world.addresses.extend(aw.filter(|_| block.aw_ready.val()));
        let w = block.w_valid.val().then(|| block.w_data.val());
        assert!(world.offered_w.is_none() || w == world.offered_w, "an offered beat changed");
        world.offered_w = w.filter(|_| !block.w_ready.val());
        if block.w_ready.val() {
            world.filling.extend(w);
            if w.is_some() && block.w_last.val() {
                world.data.push_back(std::mem::take(&mut world.filling));
            }
        }
        while let (Some((address, beats)), Some(data)) = (world.addresses.front().copied(), world.data.front()) {
            assert_eq!(data.len() as u64, beats, "beats of the burst at {address:#x}");
            world.acks.push_back((address, beats, false, world.cycle + 1 + random.below(30)));
            world.addresses.pop_front();
            world.data.pop_front();
        }
        bench.tick();
    }
}
