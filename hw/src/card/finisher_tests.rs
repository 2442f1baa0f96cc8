//! The finisher between a gather memory and a host memory: results, reports and completions against the window model
//! and the contract's codec.

use super::finisher::Finisher;
use super::stimulus::{EAGER, context_of, float_beat};
use super::testing::{Pace, at_every_pace, linear, random_beat};
use super::types::{GateReport, GatherWord, JobWords, Refusal, SlotContext};
use super::window_model::{Code, result};
use crate::cosim::Bench;
use crate::prelude::*;
use crate::random::Random;
use optireduce_contract::queue::{Completion, DONE_BROADCAST, DONE_CONTRIBUTE, DONE_REFUSED, STATUS_DMA_ERROR};
use std::collections::{HashMap, VecDeque};

const RANKS: usize = 37;
const RANK: usize = 11;
const CQ_BASE: u64 = 0x7_0000_0000;

/// What a slot has come to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Free,
    Armed,
    /// Scaled; the contribute stage is to be reported.
    Scaled,
    /// Reported; the mean is being sent, or the broadcast stage is open.
    Reported,
    /// Broadcast closed and sent; the result is to be written.
    Closed,
}

struct Slot {
    stage: Stage,
    context: SlotContext,
    gathered: Vec<Option<Beat>>,
    gates: [GateReport; 2],
}

struct Burst {
    address: u64,
    beats: u64,
    left: u64,
}

/// The surroundings of the finisher.
struct World {
    slots: Vec<Slot>,
    refusals: VecDeque<Refusal>,
    memory: HashMap<u64, Beat>,
    /// Bursts taken since the last completion, the newest last.
    bursts: Vec<Burst>,
    /// Bursts wholly written and not yet acknowledged.
    unacknowledged: u64,
    offered_aw: Option<(u64, u64)>,
    offered_w: Option<Beat>,
    word: Option<GatherWord>,
    cq_mask: u64,
    cq_tail: u64,
    cq_head: u64,
    /// A completion is on its way: submissions consumed when its place was asked for; then the slot to free.
    completing: Option<u16>,
    settling: Option<Option<u64>>,
    status: u8,
    done: usize,
    written: Vec<u64>,
    cycle: u64,
}

fn count_of(slot: u64, rank: u64, epoch: u64, broadcast: bool) -> u64 {
    Random::new(slot << 32 | rank << 16 | epoch << 1 | u64::from(broadcast)).next() & 0xffff
}

impl World {
    fn new(cq_mask: u64) -> Self {
        let slot = |_| Slot {
            stage: Stage::Free,
            context: SlotContext::default(),
            gathered: Vec::new(),
            gates: Default::default(),
        };
        World {
            slots: (0..8).map(slot).collect(),
            refusals: VecDeque::new(),
            memory: HashMap::new(),
            bursts: Vec::new(),
            unacknowledged: 0,
            offered_aw: None,
            offered_w: None,
            word: None,
            cq_mask,
            cq_tail: 0,
            cq_head: 0,
            completing: None,
            settling: None,
            status: 0,
            done: 0,
            written: Vec::new(),
            cycle: 0,
        }
    }

    fn mask(&self, is: impl Fn(&Slot) -> bool) -> u64 {
        self.slots.iter().enumerate().map(|(at, slot)| u64::from(is(slot)) << at).sum()
    }

    /// Arms a slot with a random window: the arm bus for the next cycle.
    fn arm(&mut self, bench: &mut Bench<Finisher>, random: &mut Random, at: usize, context: SlotContext) {
        let beats = context.beats.index();
        let loss = [0, 3, 100][random.below(3) as usize];
        let here = |random: &mut Random| random.below(100) >= loss;
        let value = |random: &mut Random| (random.below(2000) as f32 - 1000.0).to_bits();
        let beat = |random: &mut Random| {
            if context.hadamard { Beat([(); 16].map(|_| value(random))) } else { float_beat(random) }
        };
        let slot = &mut self.slots[at];
        slot.gathered = (0..beats).map(|_| here(random).then(|| beat(random))).collect();
        slot.gates = [(); 2].map(|_| {
            let start = random.next() >> 20;
            GateReport {
                closed_by: bits_w(random.below(3)),
                received: bits_w(random.next()),
                own: bits_w(random.below(513)),
                heard: bits_w(random.next()),
                start_ns: bits_w(start),
                closed_ns: bits_w(start + (random.next() >> 30)),
            }
        });
        (slot.stage, slot.context) = (Stage::Armed, context);
        bench.block.arm.next = bits_w(1 << at);
        bench.block.arm_slot.next = bits_w(at as u64);
        bench.block.arm_context.next = context;
    }

    /// Takes the places `range` out of memory and compares them.
    fn expect_at(&mut self, address: u64, beats: &[Beat], what: &str) {
        for (at, beat) in (0..).zip(beats) {
            let found = self.memory.remove(&(address + at * 64));
            assert_eq!(found, Some(*beat), "{what}, beat {at} of {}", beats.len());
        }
    }

    /// Judges a completion and all that was written for it.
    fn complete(&mut self, beat: Beat, sq_head: u16) -> Option<u64> {
        let found = Completion::from_bytes(&beat.to_bytes());
        let phase = (self.cq_tail / (self.cq_mask + 1)).is_multiple_of(2);
        let mut expected = Completion { opcode: found.opcode, slot: found.slot, sq_head, phase, ..Default::default() };
        let mut freed = None;
        if found.opcode == DONE_REFUSED {
            let refusal = self.refusals.pop_front().expect("a refusal that was given");
            expected.slot = refusal.slot.raw() as u8;
            expected.cookie = refusal.cookie.raw() as u32;
            expected.status = refusal.status.raw() as u8;
            assert!(self.bursts.is_empty(), "a refusal writes nothing else");
        } else {
            let broadcast = found.opcode == DONE_BROADCAST;
            assert!(broadcast || found.opcode == DONE_CONTRIBUTE, "{found:?}");
            let at = usize::from(found.slot);
            let due = if broadcast { Stage::Closed } else { Stage::Scaled };
            assert_eq!(self.slots[at].stage, due, "slot {at}: {found:?}");
            let Slot { context, gathered, gates, .. } = &self.slots[at];
            let (context, gate) = (*context, gates[usize::from(broadcast)]);
            let own = context.own_beats.raw() as u32;
            expected.closed_by = gate.closed_by.raw() as u8;
            expected.status = self.status;
            expected.cookie = context.cookie.raw() as u32;
            expected.received_beats = gate.received.raw() as u32;
            expected.expected_beats =
                if broadcast { context.beats.raw() as u32 - own } else { own * (RANKS as u32 - 1) };
            expected.elapsed_ns = gate.closed_ns.raw() - gate.start_ns.raw();
            expected.heard = gate.heard.raw();
            expected.closed_ns = gate.closed_ns.raw();
            expected.own_beats = gate.own.raw() as u16;
            let epoch = context.epoch.raw();
            let counts: Vec<u64> = (0..64).map(|rank| count_of(at as u64, rank, epoch, broadcast)).collect();
            let lane = |lane: usize| (counts[2 * lane] | counts[2 * lane + 1] << 16) as u32;
            let report = [0, 16].map(|first| Beat(std::array::from_fn(|at| lane(first + at))));
            let report_address = context.report_address.raw() + if broadcast { 128 } else { 0 };
            let code = Code {
                log2_n: context.log2_n.raw() as u32,
                log2_blocks: context.log2_blocks.raw() as u32,
                key: context.sign_key.raw(),
            };
            let host_beats = if broadcast { context.host_beats.raw() } else { 0 };
            let beats = result(gathered, host_beats as usize, context.hadamard.then_some(code));
            // Bursts: the result from its first byte to its last, then the report.
            let last = self.bursts.pop().expect("the report's burst");
            assert_eq!((last.address, last.beats), (report_address, 2));
            let mut to = context.host_address.raw();
            for burst in self.bursts.drain(..) {
                assert_eq!(burst.address, to, "the result's bursts are contiguous");
                to += burst.beats * 64;
            }
            assert_eq!(to, context.host_address.raw() + host_beats * 64, "all of the result and no more");
            self.expect_at(context.host_address.raw(), &beats, "result");
            self.expect_at(report_address, &report, "report");
            if broadcast {
                freed = Some(1 << at);
            } else {
                self.slots[at].stage = Stage::Reported;
            }
        }
        assert!(self.memory.is_empty(), "something else was written");
        assert_eq!(beat.to_bytes(), expected.to_bytes(), "{found:?}\nexpected {expected:?}");
        freed
    }

    /// One cycle of the surroundings.
    fn step(&mut self, bench: &mut Bench<Finisher>, random: &mut Random, pace: Pace) {
        self.cycle += 1;
        let sq_head = random.next() as u16;
        let block = &mut bench.block;
        let scaled = self.mask(|slot| !matches!(slot.stage, Stage::Armed | Stage::Free));
        block.scaled.next = bits_w(scaled);
        block.broadcast_closed.next = bits_w(self.mask(|slot| slot.stage == Stage::Closed));
        // Before its turn a slot is closed and still sending, or sent and still open.
        let open = random.one_in(2);
        let waiting = self.mask(|slot| matches!(slot.stage, Stage::Scaled | Stage::Reported));
        block.sending.next = bits_w(if open { 0 } else { waiting });
        if !open {
            block.broadcast_closed.next = bits_w(block.broadcast_closed.next.raw() | waiting);
        }
        block.cq_head.next = bits_w(self.cq_head);
        block.sq_head.next = bits_w(sq_head.into());
        block.aw_ready.next = pace.takes(random);
        // A host that stalls for long lets the outbox fill up.
        block.w_ready.next = pace.takes(random) && !(pace.stall && self.cycle / 1024 % 2 == 1);
        block.b_valid.next = self.unacknowledged > 0 && pace.takes(random);
        let noise = GatherWord { data: random_beat(random), epoch: bits_w(random.next()) };
        block.word.next = self.word.take().unwrap_or(noise);
        bench.settle();
        let block = &mut bench.block;
        let (slot, broadcast) = (block.slot.val(), block.broadcast.val());
        block.gate.next = self.slots[slot.index()].gates[usize::from(broadcast)];
        let (count, epoch) = (block.count_address.val().raw(), block.count_epoch.val().raw());
        block.contribute_count.next = bits_w(count_of(count >> 6, count & 63, epoch, false));
        block.broadcast_count.next = bits_w(count_of(count >> 6, count & 63, epoch, true));
        block.read_ready.next = block.read_valid.val() && pace.comes(random);
        bench.settle();

        let block = &bench.block;
        if block.b_valid.val() {
            self.unacknowledged -= 1;
        }
        if block.read_ready.val() {
            let address = linear(block.read_address.val());
            let slot = &self.slots[(address >> 10) as usize];
            let here = slot.gathered[(address & 1023) as usize];
            let epoch = slot.context.epoch.raw() ^ u64::from(here.is_none());
            self.word = Some(GatherWord { data: here.unwrap_or(random_beat(random)), epoch: bits_w(epoch) });
        }
        let in_burst = self.bursts.last().is_some_and(|burst| burst.left > 0);
        if block.w_valid.val() {
            let data = block.w_data.val();
            assert!(in_burst || self.completing.is_some(), "a beat that belongs to no burst");
            assert!(self.offered_w.is_none_or(|before| before == data), "an offered beat changed");
            self.offered_w = (!block.w_ready.val()).then_some(data);
            if block.w_ready.val() {
                if let Some(sq_head) = self.completing.take() {
                    assert!(block.w_last.val());
                    self.settling = Some(self.complete(data, sq_head));
                    self.cq_tail += 1;
                    self.unacknowledged += 1;
                } else {
                    let burst = self.bursts.last_mut().expect("in a burst");
                    self.memory.insert(burst.address + (burst.beats - burst.left) * 64, data);
                    burst.left -= 1;
                    assert_eq!(block.w_last.val(), burst.left == 0);
                    self.unacknowledged += u64::from(burst.left == 0);
                    self.written.push(self.cycle);
                }
            }
        } else {
            assert!(self.offered_w.is_none(), "an offered beat was withdrawn");
        }
        if block.aw_valid.val() {
            let (address, beats) = (block.aw_address.val().raw(), block.aw_beats.val().raw());
            assert!(
                (1..=64).contains(&beats) && address % 4096 + beats * 64 <= 4096,
                "burst of {beats} at {address:#x}"
            );
            assert!(self.offered_aw.is_none_or(|before| before == (address, beats)), "an offered burst changed");
            self.offered_aw = (!block.aw_ready.val()).then_some((address, beats));
            assert!(!in_burst, "two bursts at once");
            let entry = CQ_BASE + (self.cq_tail & self.cq_mask) * 64;
            if address == entry {
                let acknowledged = self.unacknowledged + u64::from(block.b_valid.val()) == 0;
                assert!(acknowledged, "the completion overtakes what it reports");
                assert!(self.cq_tail - self.cq_head <= self.cq_mask, "the completion ring overflows");
            }
            if block.aw_ready.val() && address == entry {
                assert_eq!(beats, 1);
                self.completing = Some(sq_head);
            } else if block.aw_ready.val() {
                self.bursts.push(Burst { address, beats, left: beats });
            }
        } else {
            assert!(self.offered_aw.is_none(), "an offered burst was withdrawn");
        }
        let (freed, request) = (block.freed.val().raw(), block.msix_request.val());
        if request {
            assert_eq!(self.unacknowledged + u64::from(block.b_valid.val()), 0, "before the completion is visible");
            let slot = self.settling.take().expect("one request for one completion");
            assert_eq!(freed, slot.unwrap_or(0), "freed slots");
            self.done += 1;
        } else {
            assert_eq!(freed, 0);
        }
        let due = !self.refusals.is_empty() || self.mask(|s| matches!(s.stage, Stage::Scaled | Stage::Closed)) != 0;
        let arming = block.arm.val().raw() != 0 || block.refuse.val();
        assert!(block.working.val() || !due || arming, "asleep with work to do");
        bench.tick();
        bench.block.arm.next = bits_w(0);
        bench.block.refuse.next = false;
        assert_eq!(bench.block.cq_tail.val().raw(), self.cq_tail & 0xffff);
        for (at, slot) in self.slots.iter_mut().enumerate() {
            if freed >> at & 1 == 1 {
                slot.stage = Stage::Free;
            }
        }
    }
}

fn start(bench: &mut Bench<Finisher>, cq_mask: u64) -> World {
    bench.block.job.next = JobWords { rank: bits_w(RANK as u64), ranks: bits_w(RANKS as u64), ..Default::default() };
    bench.block.cq_base.next = bits_w(CQ_BASE);
    bench.block.cq_mask.next = bits_w(cq_mask);
    World::new(cq_mask)
}

/// How large windows may be.
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

/// Plays random windows through random slots, with refusals in between and a host that reads completions late.
fn run(bench: &mut Bench<Finisher>, random: &mut Random, pace: Pace, windows: usize, sizes: Sizes) {
    let mut world = start(bench, [0, 1, 3][random.below(3) as usize]);
    let (mut armed, mut refused, mut full) = (0, 0, 0);
    while world.done < 2 * windows + refused || armed < windows {
        assert!(world.cycle < windows as u64 * 20_000, "stuck after {} completions", world.done);
        let at = random.below(8) as usize;
        let stage = world.slots[at].stage;
        if stage == Stage::Free && armed < windows {
            let context = any_context(random, sizes, at as u64);
            world.arm(bench, random, at, context);
            armed += 1;
        } else if random.one_in(if pace.idle { 20 } else { 3 }) {
            world.slots[at].stage = match stage {
                Stage::Armed => Stage::Scaled,
                // The slot's turn comes when its report is wholly written.
                Stage::Reported if world.settling.is_none() => Stage::Closed,
                other => other,
            };
        }
        if random.one_in(100) && world.refusals.len() < 10 && refused < windows {
            let refusal = Refusal {
                queue: bits_w(0),
                slot: bits_w(random.next()),
                cookie: bits_w(random.next()),
                status: bits_w(2 + random.below(3)),
            };
            bench.block.refuse.next = true;
            bench.block.refusal.next = refusal;
            world.refusals.push_back(refusal);
            refused += 1;
        }
        full += u64::from(world.cq_tail - world.cq_head > world.cq_mask);
        if world.cq_head < world.cq_tail && world.settling.is_none() && (!pace.stall || random.one_in(300)) {
            world.cq_head += 1;
        }
        world.step(bench, random, pace);
    }
    assert!(full > 0 || !pace.stall, "the completion ring was never full");
    assert!(refused > 0, "nothing was refused");
    world.step(bench, random, pace);
    assert!(!bench.block.working.val(), "asleep when all is reported");
}

#[test]
fn results_reports_and_completions_are_as_in_the_model() {
    at_every_pace(3, |random, pace| run(&mut Bench::new(Finisher::default()), random, pace, 30, SMALL));
}

#[test]
fn large_windows_and_blocks_too() {
    let sizes = Sizes { beats: 1024, log2_n: [10, 12], log2_blocks: 2 };
    for pace in [EAGER, Pace { idle: false, stall: true }, Pace::RANDOM] {
        run(&mut Bench::new(Finisher::default()), &mut Random::new(8), pace, 8, sizes);
    }
}

#[test]
fn the_verilog_finishes_alike() {
    let mut bench = Bench::recording(Finisher::default());
    run(&mut bench, &mut Random::new(3), EAGER, 6, SMALL);
    assert!(bench.cycles() < 3000, "{} cycles", bench.cycles());
    bench.verify_with_verilator("finisher");
}

/// Takes one window in slot `at` through both stages.
fn play(bench: &mut Bench<Finisher>, world: &mut World, random: &mut Random, at: usize, context: SlotContext) {
    world.arm(bench, random, at, context);
    for (from, to) in [(Stage::Armed, Stage::Scaled), (Stage::Reported, Stage::Closed)] {
        for _ in 0..3000 {
            if world.slots[at].stage == from && world.settling.is_none() {
                world.slots[at].stage = to;
            }
            world.step(bench, random, EAGER);
        }
        world.cq_head = world.cq_tail;
    }
    assert_eq!(world.slots[at].stage, Stage::Free);
}

#[test]
fn a_result_leaves_at_the_documented_pace() {
    let mut random = Random::new(2);
    // 15 bursts begin within the result; the third and fourth block of 4096 values come 12 cycles late each.
    for (hadamard, log2_n, late) in [(false, 0, 0), (true, 8, 0), (true, 12, 24)] {
        let mut bench = Bench::new(Finisher::default());
        let mut world = start(&mut bench, 63);
        let context = SlotContext {
            hadamard,
            log2_n: bits_w(log2_n),
            log2_blocks: bits_w(14 - log2_n.max(8)),
            host_address: bits_w(1 << 56),
            report_address: bits_w(1 << 40),
            ..context_of(1024, RANKS, RANK, 0)
        };
        play(&mut bench, &mut world, &mut random, 0, context);
        // Two beats of the first report, then the result.
        let result = &world.written[2..2 + 1024];
        assert_eq!(result[1023] - result[0], 1023 + 15 + late, "log2_n {log2_n}");
    }
}

#[test]
fn a_failed_dma_shows_in_every_completion_but_refusals() {
    let mut random = Random::new(2);
    let mut bench = Bench::new(Finisher::default());
    let mut world = start(&mut bench, 63);
    world.status = STATUS_DMA_ERROR;
    bench.block.dma_error.next = true;
    let context = any_context(&mut random, SMALL, 5);
    play(&mut bench, &mut world, &mut random, 5, context);
    let refusal = Refusal { queue: bits_w(0), slot: bits_w(200), cookie: bits_w(7), status: bits_w(4) };
    bench.block.refuse.next = true;
    bench.block.refusal.next = refusal;
    world.refusals.push_back(refusal);
    (0..100).for_each(|_| world.step(&mut bench, &mut random, EAGER));
    assert_eq!(world.done, 3);
}

#[test]
fn a_slot_armed_in_any_cycle_of_anothers_report_is_reported_itself() {
    let mut random = Random::new(6);
    for offset in 0..120 {
        let mut bench = Bench::new(Finisher::default());
        let mut world = start(&mut bench, 63);
        let small = |random: &mut Random, at| any_context(random, Sizes { beats: 3, ..SMALL }, at);
        let context = SlotContext { hadamard: false, ..small(&mut random, 2) };
        // Slot 2 has been used once; its report of then must not count for its next window.
        world.arm(&mut bench, &mut random, 2, context);
        for _ in 0..400 {
            world.slots[2].stage = match world.slots[2].stage {
                Stage::Armed => Stage::Scaled,
                Stage::Reported if world.settling.is_none() => Stage::Closed,
                other => other,
            };
            world.step(&mut bench, &mut random, EAGER);
        }
        assert_eq!((world.slots[2].stage, world.done), (Stage::Free, 2));
        let context = small(&mut random, 5);
        world.arm(&mut bench, &mut random, 5, context);
        world.step(&mut bench, &mut random, EAGER);
        world.slots[5].stage = Stage::Scaled;
        (0..offset).for_each(|_| world.step(&mut bench, &mut random, EAGER));
        let context = small(&mut random, 2);
        world.arm(&mut bench, &mut random, 2, context);
        world.step(&mut bench, &mut random, EAGER);
        world.slots[2].stage = Stage::Scaled;
        (0..400).for_each(|_| world.step(&mut bench, &mut random, EAGER));
        assert_eq!((world.slots[2].stage, world.done), (Stage::Reported, 4), "armed {offset} cycles later");
    }
}

/// Clears for one cycle; before anything is closed and scaled again, more cycles pass than the multiplier is deep.
fn clear(bench: &mut Bench<Finisher>) {
    bench.block.b_valid.next = false;
    bench.block.scaled.next = bits_w(0);
    bench.block.broadcast_closed.next = bits_w(0);
    bench.block.clear.next = true;
    bench.tick();
    bench.block.clear.next = false;
    (0..10).for_each(|_| bench.tick());
}

#[test]
fn a_result_cleared_at_any_time_leaves_nothing_behind() {
    let mut random = Random::new(7);
    let mut bench = Bench::new(Finisher::default());
    for _ in 0..40 {
        let mut world = start(&mut bench, 63);
        let context = SlotContext { hadamard: true, ..any_context(&mut random, SMALL, 3) };
        let context = SlotContext { beats: bits_w(32), host_beats: bits_w(32), ..context };
        let context = SlotContext { log2_n: bits_w(8), log2_blocks: bits_w(1), ..context };
        world.arm(&mut bench, &mut random, 3, context);
        // Up to the result's first beats, and some cycles on.
        while world.written.len() < 3 {
            world.slots[3].stage = match world.slots[3].stage {
                Stage::Armed => Stage::Scaled,
                Stage::Reported if world.settling.is_none() => Stage::Closed,
                other => other,
            };
            if bench.block.read_valid.val() && random.one_in(20) {
                break;
            }
            world.step(&mut bench, &mut random, Pace::RANDOM);
        }
        clear(&mut bench);
        world = start(&mut bench, 63);
        for _ in 0..2 {
            let context = any_context(&mut random, SMALL, 3);
            play(&mut bench, &mut world, &mut random, 3, context);
        }
        clear(&mut bench);
    }
}
