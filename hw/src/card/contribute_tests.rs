use super::contribute::Contribute;
use super::stimulus::{EAGER, context_of, float_beat};
use super::testing::{Pace, at_every_pace, random_beat};
use super::types::{ContributeOrder, JobWords, SendOrder, SlotBeat, SlotContext, WindowBeat};
use super::window_model::{Code, sent};
use crate::arith::bf16::round;
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use std::collections::{HashMap, VecDeque};

const RANK: u64 = 41;

struct Window {
    order: ContributeOrder,
    context: SlotContext,
    beats: Vec<Beat>,
    own_left: usize,
    is_sent: bool,
}

#[derive(Default)]
struct World {
    memory: HashMap<u64, Beat>,
    coming: VecDeque<u64>,
    /// Address and beats.
    offered: Option<(u64, u64)>,
    wanted: VecDeque<u64>,
    own: VecDeque<WindowBeat>,
    windows: VecDeque<Window>,
    sending: VecDeque<Sending>,
    /// Beats read before their bank was full.
    early: usize,
    read: Option<Beat>,
    handed: usize,
    held: u64,
    bursts: Vec<u64>,
}

/// A window at the sender, with beats in filling order. `wanted` are sent after `wait` cycles.
struct Sending {
    bank: bool,
    beats: Vec<(u64, Beat)>,
    wanted: usize,
    at: usize,
    wait: u64,
    held: u64,
}

fn filling(context: &SlotContext) -> Vec<u64> {
    let (beats, end) = (context.beats.raw(), context.own_start.raw() + context.own_beats.raw());
    let from = if context.hadamard { 0 } else { end % beats };
    (from..beats).chain(0..from).collect()
}

#[derive(Clone, Copy)]
struct Sizes {
    beats: u64,
    log2_n: [u32; 2],
    log2_blocks: u64,
}

fn any_window(random: &mut Random, world: &mut World, slot: u64, sizes: Sizes) -> (ContributeOrder, SlotContext) {
    let hadamard = random.one_in(2);
    let log2_n = sizes.log2_n[random.below(2) as usize];
    let log2_blocks = random.below(sizes.log2_blocks + 1) as u32;
    let beats = if hadamard { 1 << (log2_n - 4 + log2_blocks) } else { 1 + random.below(sizes.beats) as usize };
    let host_beats = if random.one_in(2) { beats as u64 } else { random.below(beats as u64 + 1) };
    let ranks = 42 + random.below(23) as usize * usize::from(random.one_in(2));
    let context = SlotContext {
        hadamard,
        bf16: random.one_in(2),
        log2_n: bits_w(log2_n.into()),
        log2_blocks: bits_w(log2_blocks.into()),
        sign_key: bits_w(random.next()),
        epoch: bits_w(1 + random.below(255)),
        ..context_of(beats, ranks, RANK as usize, random.next() as u32)
    };
    let order = ContributeOrder {
        slot: bits_w(slot),
        host_address: bits_w(random.next() >> 2 & !63),
        host_beats: bits_w(host_beats),
    };
    let gradient: Vec<Beat> = (0..host_beats)
        .map(|_| {
            if random.one_in(50) {
                float_beat(random)
            } else {
                Beat([(); 16].map(|_| (random.below(2000) as f32 - 1000.0).to_bits()))
            }
        })
        .collect();
    for at in filling(&context).into_iter().filter(|at| *at < host_beats) {
        let address = order.host_address.raw() + at * 64;
        world.memory.insert(address, gradient[at as usize]);
        world.wanted.push_back(address);
    }
    let code = Code { log2_n, log2_blocks, key: context.sign_key.raw() };
    let mut beats = sent(&gradient, beats, hadamard.then_some(code));
    if context.bf16 {
        beats.iter_mut().for_each(|beat| beat.0 = beat.0.map(round));
    }
    let own = context.own_start.index()..context.own_start.index() + context.own_beats.index();
    for (relative, position) in own.clone().enumerate() {
        world.own.push_back(WindowBeat {
            slot: order.slot,
            position: bits_w(position as u64),
            relative: bits_w(relative as u64),
            sender: bits_w(RANK),
            epoch: context.epoch,
            data: beats[position],
        });
    }
    world.windows.push_back(Window { order, context, beats, own_left: own.len(), is_sent: false });
    (order, context)
}

/// Runs one cycle. Returns whether the order, offered if `next`, was accepted.
fn step(bench: &mut Bench<Contribute>, random: &mut Random, pace: Pace, world: &mut World, next: bool) -> bool {
    let answer = world.coming.front().filter(|_| pace.comes(random));
    let reading = world.sending.front().is_some_and(|now| now.wait == 0 && now.at < now.held as usize);
    let reading = reading && pace.comes(random);
    let order = world.windows.back().filter(|_| next).map_or_else(Default::default, |window| window.order);
    let block = &mut bench.block;
    block.order_valid.next = next;
    block.order.next = order;
    block.ar_ready.next = pace.takes(random);
    block.r_valid.next = answer.is_some();
    block.r_data.next = answer.map_or_else(|| random_beat(random), |address| world.memory[address]);
    block.send_ready.next = pace.takes(random);
    block.own_ready.next = false;
    block.read_valid.next = false;
    block.read_address.next = SlotBeat::at(random.next(), random.next());
    block.sent.next = bits_w(0);
    let mut sent_now = false;
    if let Some(now) = world.sending.front_mut() {
        if now.wait > 0 {
            now.wait -= 1;
        } else if now.at == now.wanted {
            block.sent.next = bits_w(if now.bank { 2 } else { 1 });
            sent_now = true;
        } else if reading {
            block.read_valid.next = true;
            block.read_address.next = SlotBeat::at(u64::from(now.bank), now.beats[now.at].0);
        }
    }
    bench.settle();
    // A busy wire can delay the accumulator long after the sender.
    let own_waits = pace.stall && (bench.cycles() / 512).is_multiple_of(2);
    bench.block.own_ready.next = bench.block.own_valid.val() && pace.takes(random) && !own_waits;
    bench.settle();

    let block = &bench.block;
    assert_eq!(block.held.val().raw(), world.held, "held slots");
    assert!(block.working.val() || world.held == 0, "asleep while a slot is held");
    if let Some(expected) = world.read.take() {
        assert_eq!(block.read_data.val(), expected, "a beat of the transmit buffer");
    }
    if block.read_valid.val() {
        let now = world.sending.front_mut().expect("reading");
        world.read = Some(now.beats[now.at].1);
        now.at += 1;
        world.early += usize::from(now.held < now.beats.len() as u64);
    }
    for now in &mut world.sending {
        let filled = if now.bank { block.filled_high.val() } else { block.filled_low.val() }.raw();
        assert!((now.held..=now.beats.len() as u64).contains(&filled), "filled {filled} after {}", now.held);
        now.held = filled;
    }
    assert!(block.r_ready.val(), "host memory must not wait");
    if block.ar_valid.val() {
        let (address, beats) = (block.ar_address.val().raw(), block.ar_beats.val().raw());
        assert!((1..=64).contains(&beats) && address % 4096 + beats * 64 <= 4096, "burst of {beats} at {address:#x}");
        assert!(world.offered.is_none_or(|before| before == (address, beats)), "an offered burst changed");
        world.offered = (!block.ar_ready.val()).then_some((address, beats));
        if block.ar_ready.val() {
            world.bursts.push(beats);
            let slot = world.windows.iter().find(|window| {
                let from = window.order.host_address.raw();
                (from..from + window.order.host_beats.raw() * 64).contains(&address)
            });
            assert_eq!(Some(block.ar_slot.val()), slot.map(|window| window.order.slot), "slot of a burst");
            for at in 0..beats {
                assert_eq!(world.wanted.pop_front(), Some(address + at * 64), "beats are asked for in order");
                world.coming.push_back(address + at * 64);
            }
        }
    } else {
        assert!(world.offered.is_none(), "an offered burst was withdrawn");
    }
    if block.r_valid.val() && block.r_ready.val() {
        world.coming.pop_front();
    }
    if block.send_valid.val() && block.send_ready.val() {
        let window = &world.windows[world.handed];
        let bank = block.send.val().bank;
        let expected = SendOrder { slot: window.order.slot, broadcast: false, bank };
        assert_eq!(block.send.val(), expected);
        assert!(world.sending.iter().all(|other| other.bank != bank), "bank {bank} is still being sent");
        let wait = if pace.stall && random.one_in(2) { random.below(200) } else { 0 };
        let places = filling(&window.context);
        let beats: Vec<_> = places.into_iter().map(|place| (place, window.beats[place as usize])).collect();
        // The sender skips the local shard, except that the test reads encoded windows completely.
        let own = if window.context.hadamard { 0 } else { window.context.own_beats.index() };
        let wanted = beats.len() - own;
        world.sending.push_back(Sending { bank, beats, wanted, at: 0, wait, held: 0 });
        world.handed += 1;
    }
    if block.own_valid.val() && block.own_ready.val() {
        let expected = world.own.pop_front().expect("no more own beats than the shard has");
        assert_eq!(block.own.val(), expected);
        let window = world.windows.iter_mut().find(|window| window.own_left > 0).expect("its window");
        assert_eq!(window.order.slot, expected.slot);
        window.own_left -= 1;
    }
    let accepted = next && block.order_ready.val();
    let before = block.held.val().raw();
    bench.tick();
    if accepted {
        world.held |= 1 << order.slot.raw();
    }
    if sent_now {
        let at = world.windows.iter().position(|window| !window.is_sent).expect("it was being sent");
        world.windows[at].is_sent = true;
        world.sending.pop_front();
    }
    let held = bench.block.held.val().raw();
    assert_eq!(held & !world.held, 0);
    for slot in (0..8).filter(|slot| (world.held & !held) >> slot & 1 == 1) {
        let at = world.windows.iter().position(|window| window.order.slot.raw() == slot).expect("held");
        let window = world.windows.remove(at).expect("found");
        assert!(window.is_sent && window.own_left == 0, "slot {slot} is released too early: {:?}", window.context);
        world.handed -= 1;
        assert_ne!(before & 1 << slot, 0);
    }
    world.held = held;
    accepted
}

fn arm(bench: &mut Bench<Contribute>, slot: u64, context: SlotContext) {
    bench.block.arm.next = bits_w(1 << slot);
    bench.block.arm_slot.next = bits_w(slot);
    bench.block.arm_context.next = context;
}

fn run(bench: &mut Bench<Contribute>, random: &mut Random, pace: Pace, windows: usize, sizes: Sizes) {
    bench.block.job.next = JobWords { rank: bits_w(RANK), ..Default::default() };
    let mut world = World::default();
    let (mut ordered, mut offering, mut cycle, mut crowd) = (0, false, 0, 0);
    while ordered < windows || !world.windows.is_empty() || offering {
        cycle += 1;
        assert!(cycle < windows * 20_000, "stuck after {ordered} of {windows} windows");
        let free = (0..8u64).find(|slot| world.windows.iter().all(|window| window.order.slot.raw() != *slot));
        let mut arms = false;
        if let Some(slot) = free.filter(|_| !offering && ordered < windows && pace.comes(random)) {
            let (_, context) = any_window(random, &mut world, slot, sizes);
            arm(bench, slot, context);
            (arms, offering) = (true, true);
            ordered += 1;
        }
        offering &= !step(bench, random, pace, &mut world, offering && !arms);
        bench.block.arm.next = bits_w(0);
        crowd = crowd.max(world.windows.len());
    }
    assert!(world.own.is_empty() && world.wanted.is_empty() && world.coming.is_empty());
    assert!(!bench.block.working.val(), "working after the last window");
    assert!(crowd > 2, "at most {crowd} windows were in flight");
    assert!(world.early > 0, "no beat was read before its bank was full");
}

const SMALL: Sizes = Sizes { beats: 100, log2_n: [8, 8], log2_blocks: 2 };

#[test]
fn every_gradient_reaches_sender_and_accumulator_as_in_the_model() {
    at_every_pace(3, |random, pace| run(&mut Bench::new(Contribute::default()), random, pace, 30, SMALL));
}

#[test]
fn large_windows_and_blocks_too() {
    let sizes = Sizes { beats: 1024, log2_n: [10, 12], log2_blocks: 2 };
    for pace in [EAGER, Pace::RANDOM] {
        run(&mut Bench::new(Contribute::default()), &mut Random::new(12), pace, 8, sizes);
    }
}

#[test]
fn the_verilog_contributes_alike() {
    let mut bench = Bench::recording(Contribute::default());
    run(&mut bench, &mut Random::new(3), Pace { idle: false, stall: true }, 9, SMALL);
    assert!(bench.cycles() < 3000, "{} cycles", bench.cycles());
    bench.verify_with_verilator("contribute");
}

fn plain_window(bench: &mut Bench<Contribute>, random: &mut Random, beats: usize, address: u64) -> World {
    let mut world = World::default();
    bench.block.job.next = JobWords { rank: bits_w(RANK), ..Default::default() };
    let context = context_of(beats, 42, RANK as usize, 0);
    let order =
        ContributeOrder { host_address: bits_w(address), host_beats: bits_w(beats as u64), ..Default::default() };
    let data: Vec<Beat> = (0..beats).map(|_| random_beat(random)).collect();
    assert_eq!(context.own_start.index() + context.own_beats.index(), beats, "read from beat 0 on");
    for (at, beat) in (0..).zip(&data) {
        world.memory.insert(address + at * 64, *beat);
        world.wanted.push_back(address + at * 64);
    }
    let own = context.own_start.index()..context.own_start.index() + context.own_beats.index();
    world.own.extend(own.clone().enumerate().map(|(relative, position)| WindowBeat {
        position: bits_w(position as u64),
        relative: bits_w(relative as u64),
        sender: bits_w(RANK),
        epoch: context.epoch,
        data: data[position],
        ..Default::default()
    }));
    world.windows.push_back(Window { order, context, beats: data, own_left: own.len(), is_sent: false });
    arm(bench, 0, context);
    step(bench, random, EAGER, &mut world, false);
    bench.block.arm.next = bits_w(0);
    assert!(step(bench, random, EAGER, &mut world, true));
    world
}

#[test]
fn bursts_end_at_pages_and_beats_flow_one_a_cycle() {
    let mut bench = Bench::new(Contribute::default());
    let mut random = Random::new(1);
    let mut world = plain_window(&mut bench, &mut random, 1024, 0x1_0000_0000 - 3 * 64);
    let mut taken = Vec::new();
    for cycle in 0..1100 {
        let before = world.coming.len() + world.bursts.iter().sum::<u64>() as usize;
        let asked = world.bursts.len();
        step(&mut bench, &mut random, EAGER, &mut world, false);
        let fresh: u64 = world.bursts[asked..].iter().sum();
        // True if one beat was accepted: a request raises both terms, an accepted beat lowers one.
        if world.coming.len() + world.bursts.iter().sum::<u64>() as usize + 1 == before + 2 * fresh as usize {
            taken.push(cycle);
        }
    }
    assert_eq!(world.bursts, [vec![3], vec![64; 15], vec![61]].concat());
    assert_eq!(taken.len(), 1024);
    assert_eq!(taken[1023] - taken[0], 1023, "a beat a cycle");
}

#[test]
fn clear_forgets_orders_and_lets_slots_go() {
    let mut bench = Bench::new(Contribute::default());
    let mut random = Random::new(1);
    plain_window(&mut bench, &mut random, 100, 4096);
    assert!(bench.block.working.val() && bench.block.held.val().raw() == 1);
    bench.block.order_valid.next = false;
    bench.block.ar_ready.next = false;
    bench.block.clear.next = true;
    (0..3).for_each(|_| bench.tick());
    bench.block.clear.next = false;
    (0..3).for_each(|_| bench.tick());
    assert!(!bench.block.working.val() && bench.block.held.val().raw() == 0 && !bench.block.ar_valid.val());
    run(&mut bench, &mut random, Pace::RANDOM, 5, SMALL);
}

#[test]
fn a_window_cleared_at_any_time_leaves_nothing_behind() {
    let mut random = Random::new(7);
    let mut bench = Bench::new(Contribute::default());
    for _ in 0..40 {
        bench.block.job.next = JobWords { rank: bits_w(RANK), ..Default::default() };
        let mut world = World::default();
        let (_, context) = any_window(&mut random, &mut world, 3, SMALL);
        arm(&mut bench, 3, context);
        step(&mut bench, &mut random, EAGER, &mut world, false);
        bench.block.arm.next = bits_w(0);
        let mut offering = true;
        for _ in 0..random.below(120) {
            offering &= !step(&mut bench, &mut random, EAGER, &mut world, offering);
        }
        bench.block.order_valid.next = false;
        bench.block.r_valid.next = false;
        bench.block.clear.next = true;
        bench.tick();
        bench.block.clear.next = false;
        run(&mut bench, &mut random, EAGER, 4, SMALL);
    }
}
