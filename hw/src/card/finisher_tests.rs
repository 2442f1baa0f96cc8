//! The finisher between a gather memory and a host memory: results, reports and completions against the window model
//! and the contract's codec; AXI rules of the write channel; queues, errors, throughput, reset.

use super::finisher::Finisher;
use super::stimulus::{EAGER, context_of, float_beat};
use super::testing::{Pace, at_every_pace, linear, random_beat};
use super::types::{GateReport, GatherWord, JobWords, Refusal, SlotContext};
use super::window_model::{Code, result};
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::queue::{Completion, DONE_BROADCAST, DONE_CONTRIBUTE, DONE_REFUSED, STATUS_DMA_ERROR};
use std::collections::{HashMap, VecDeque};

const RANKS: usize = 37;
const RANK: usize = 11;
const CQ_BASE: u64 = 0x7_0000_0000;
/// Cycles from the last beat of a burst to its acknowledgement, at full pace: 100 ns.
const ACK_CYCLES: u64 = 25;

/// What a slot's window has come to.
#[derive(Default)]
struct Slot {
    armed: bool,
    scaled: bool,
    /// The broadcast stage is closed and the mean sent.
    closed: bool,
    /// The completion of the contribute stage is acknowledged.
    reported: bool,
    /// When the report of the stage was acknowledged.
    settled: u64,
    /// Writes that failed and were acknowledged: to the report of the contribute stage, and any.
    report_failed: bool,
    failed: bool,
    context: SlotContext,
    gathered: Vec<Option<Beat>>,
    gates: [GateReport; 2],
}

#[derive(Default)]
struct Ring {
    mask: u64,
    /// Completions asked for, acknowledged, and read by the host.
    issued: u64,
    tail: u64,
    head: u64,
    /// Refusals given, and when.
    refusals: VecDeque<(Refusal, u64)>,
    /// When each completion under way was asked for.
    asked: VecDeque<u64>,
    /// `tail` as it was before the last cycle's acknowledgement.
    before: u64,
    untold: bool,
}

/// The surroundings of the finisher.
#[derive(Default)]
struct World {
    slots: [Slot; 8],
    rings: [Ring; 4],
    memory: HashMap<u64, Beat>,
    /// Bursts whose addresses were taken, and those whose data was.
    addresses: VecDeque<(u64, u64)>,
    data: VecDeque<Vec<Beat>>,
    filling: Vec<Beat>,
    /// Written: address, beats, failed, when it may be acknowledged.
    acks: VecDeque<(u64, u64, bool, u64)>,
    offered_aw: Option<(u64, u64)>,
    offered_w: Option<Beat>,
    word: Option<GatherWord>,
    /// The counter asked for in the cycle before, and its epoch.
    counter: (u64, u64),
    /// Slots to be freed and queues to be stopped in the next cycle.
    freed: u64,
    stopped: u64,
    fails_one_in: u64,
    done: usize,
    errors: usize,
    written: Vec<u64>,
    cycle: u64,
}

fn count_of(slot: u64, rank: u64, epoch: u64, broadcast: bool) -> u64 {
    Random::new(slot << 32 | rank << 16 | epoch << 1 | u64::from(broadcast)).next() & 0xffff
}

/// Submissions consumed of a queue at a cycle; tests are too short for it to wrap.
fn sq_head_at(queue: usize, cycle: u64) -> u64 {
    queue as u64 * 5000 + cycle / 16
}

impl World {
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
        let gathered = (0..beats).map(|_| here(random).then(|| beat(random))).collect();
        let gates = [(); 2].map(|_| {
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
        self.slots[at] = Slot { armed: true, context, gathered, gates, ..Slot::default() };
        let unread = bench.block.unread.val().raw() & !(1 << at);
        bench.block.unread.next = bits_w(unread | u64::from(self.fails_one_in > 0 && random.one_in(5)) << at);
        bench.block.arm.next = bits_w(1 << at);
        bench.block.arm_slot.next = bits_w(at as u64);
        bench.block.arm_context.next = context;
    }

    /// Takes `beats` at `address` out of memory and compares them.
    fn expect_at(&mut self, address: u64, beats: &[Beat], what: &str) {
        for (at, beat) in (0..).zip(beats) {
            let found = self.memory.remove(&(address + at * 64));
            assert_eq!(found, Some(*beat), "{what}, beat {at} of {}", beats.len());
        }
    }

    /// The queue whose completion ring holds `address`.
    fn queue_at(address: u64) -> Option<usize> {
        (0..4).find(|queue| address >> 32 == (CQ_BASE >> 32) + *queue as u64)
    }

    /// A completion is acknowledged: judges it, and all that was written for it.
    fn complete(&mut self, queue: usize, beat: Beat, unread: u64) {
        let found = Completion::from_bytes(&beat.to_bytes());
        let ring = &mut self.rings[queue];
        let phase = (ring.tail / (ring.mask + 1)).is_multiple_of(2);
        let asked = ring.asked.pop_front().expect("it was asked for");
        (ring.tail, ring.untold) = (ring.tail + 1, true);
        let sq_head = found.sq_head;
        let mut expected = Completion { opcode: found.opcode, slot: found.slot, sq_head, phase, ..Default::default() };
        let known;
        self.done += 1;
        if found.opcode == DONE_REFUSED {
            let (refusal, given) = ring.refusals.pop_front().expect("a refusal that was given");
            known = given;
            expected.slot = refusal.slot.raw() as u8;
            expected.cookie = refusal.cookie.raw() as u32;
            expected.status = refusal.status.raw() as u8;
        } else {
            let broadcast = found.opcode == DONE_BROADCAST;
            assert!(broadcast || found.opcode == DONE_CONTRIBUTE, "{found:?}");
            let at = usize::from(found.slot);
            let Slot { armed, scaled, closed, reported, context, gates, .. } = self.slots[at];
            let due = armed && scaled && (if broadcast { closed && reported } else { !reported });
            assert!(due, "slot {at}: {found:?}");
            assert_eq!(context.queue.index(), queue, "slot {at} belongs to another queue");
            known = self.slots[at].settled;
            let gate = gates[usize::from(broadcast)];
            let own = context.own_beats.raw() as u32;
            let must = unread >> at & 1 == 1 || self.slots[at].report_failed || broadcast && self.slots[at].failed;
            let may = must || self.slots[at].failed;
            let status = found.status == STATUS_DMA_ERROR;
            assert!(status && may || !status && !must, "slot {at}: {found:?}");
            self.errors += usize::from(status);
            expected.closed_by = gate.closed_by.raw() as u8;
            expected.status = found.status;
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
            self.expect_at(report_address, &report, "report");
            if broadcast {
                let code = Code {
                    log2_n: context.log2_n.raw() as u32,
                    log2_blocks: context.log2_blocks.raw() as u32,
                    key: context.sign_key.raw(),
                };
                let gathered = std::mem::take(&mut self.slots[at].gathered);
                let beats = result(&gathered, context.host_beats.index(), context.hadamard.then_some(code));
                self.expect_at(context.host_address.raw(), &beats, "result");
                self.freed = 1 << at;
            } else {
                self.slots[at].reported = true;
            }
        }
        assert_eq!(beat.to_bytes(), expected.to_bytes(), "{found:?}\nexpected {expected:?}");
        // It was filled in after its cause was known and before it was asked for.
        let heads = [known, asked].map(|cycle| sq_head_at(queue, cycle));
        assert!((heads[0]..=heads[1]).contains(&u64::from(sq_head)), "{sq_head} is not in {heads:?}");
    }

    /// A burst is acknowledged.
    fn acknowledge(&mut self, address: u64, failed: bool, unread: u64) {
        if let Some(queue) = Self::queue_at(address) {
            let entry = self.memory.remove(&address).expect("it was written");
            let found = Completion::from_bytes(&entry.to_bytes());
            self.complete(queue, entry, unread);
            self.stopped = u64::from(failed) << queue;
            if failed && found.opcode == DONE_CONTRIBUTE {
                self.slots[usize::from(found.slot)].failed = true;
            }
            return;
        }
        let slot = self.slots.iter_mut().find(|slot| {
            let (result, report) = (slot.context.host_address.raw(), slot.context.report_address.raw());
            slot.armed && (address & !255 == report || (result..result + (1 << 16)).contains(&address))
        });
        let slot = slot.expect("a burst of a window");
        let report = address == slot.context.report_address.raw();
        if address & !255 == slot.context.report_address.raw() {
            slot.settled = self.cycle;
        }
        slot.failed |= failed;
        slot.report_failed |= failed && report;
    }

    /// One cycle of the surroundings.
    fn step(&mut self, bench: &mut Bench<Finisher>, random: &mut Random, pace: Pace) {
        self.cycle += 1;
        let block = &mut bench.block;
        let scaled = self.mask(|slot| slot.armed && slot.scaled);
        let closed = self.mask(|slot| slot.armed && slot.closed);
        // Before its turn a slot is closed and still sending, or sent and still open.
        let open = random.one_in(2);
        block.scaled.next = bits_w(scaled);
        block.sending.next = bits_w(if open { 0 } else { scaled & !closed });
        block.broadcast_closed.next = bits_w(if open { closed } else { closed | scaled });
        for (queue, ring) in self.rings.iter().enumerate() {
            block.cq_head[queue].next = bits_w(ring.head);
            block.cq_mask[queue].next = bits_w(ring.mask);
            block.sq_head[queue].next = bits_w(sq_head_at(queue, self.cycle));
        }
        block.aw_ready.next = pace.takes(random);
        block.msix_ready.next = pace.takes(random);
        // A host that stalls for long lets the outbox fill up.
        block.w_ready.next = pace.takes(random) && !(pace.stall && self.cycle / 1024 % 2 == 1);
        let ack = self.acks.front().copied().filter(|ack| ack.3 <= self.cycle && pace.takes(random));
        block.b_valid.next = ack.is_some();
        block.b_error.next = ack.map_or(random.one_in(2), |ack| ack.2);
        let noise = GatherWord { data: random_beat(random), epoch: bits_w(random.next()) };
        block.word.next = self.word.take().unwrap_or(noise);
        bench.settle();
        let block = &mut bench.block;
        let (slot, broadcast) = (block.slot.val(), block.broadcast.val());
        block.gate.next = self.slots[slot.index()].gates[usize::from(broadcast)];
        let asked = (block.count_address.val().raw(), block.count_epoch.val().raw());
        let (count, epoch) = std::mem::replace(&mut self.counter, asked);
        block.contribute_count.next = bits_w(count_of(count >> 6, count & 63, epoch, false));
        block.broadcast_count.next = bits_w(count_of(count >> 6, count & 63, epoch, true));
        block.read_ready.next = block.read_valid.val() && pace.comes(random);
        block.cq_base.next = bits_w(CQ_BASE + (block.cq_queue.val().raw() << 32));
        bench.settle();

        let block = &bench.block;
        if block.read_ready.val() {
            let address = linear(block.read_address.val());
            let slot = &self.slots[(address >> 10) as usize];
            let here = slot.gathered[(address & 1023) as usize];
            let epoch = slot.context.epoch.raw() ^ u64::from(here.is_none());
            self.word = Some(GatherWord { data: here.unwrap_or(random_beat(random)), epoch: bits_w(epoch) });
        }
        // What was acknowledged in the last cycle shows.
        let freed = std::mem::take(&mut self.freed);
        assert_eq!(block.freed.val().raw(), freed, "freed slots");
        assert_eq!(block.stop.val().raw(), std::mem::take(&mut self.stopped), "stopped queues");
        for (queue, ring) in self.rings.iter_mut().enumerate() {
            let told = block.msix_valid.val() && block.msix_vector.val().index() == queue;
            ring.untold &= !told;
            assert_eq!(block.cq_tail[queue].val().raw(), ring.before & 0xffff, "cq_tail of queue {queue}");
            ring.before = ring.tail;
        }
        if let Some((address, _, failed, _)) = ack {
            self.acks.pop_front();
            self.acknowledge(address, failed, block.unread.val().raw());
        }
        if block.w_valid.val() {
            let data = block.w_data.val();
            assert!(self.offered_w.is_none_or(|before| before == data), "an offered beat changed");
            self.offered_w = (!block.w_ready.val()).then_some(data);
            if block.w_ready.val() {
                self.filling.push(data);
                self.written.push(self.cycle);
                if block.w_last.val() {
                    self.data.push_back(std::mem::take(&mut self.filling));
                }
            }
        } else {
            assert!(self.offered_w.is_none(), "an offered beat was withdrawn");
        }
        if block.aw_valid.val() {
            let offer = (block.aw_address.val().raw(), block.aw_beats.val().raw());
            let (address, beats) = offer;
            assert!(
                (1..=64).contains(&beats) && address % 4096 + beats * 64 <= 4096,
                "burst of {beats} at {address:#x}"
            );
            let new = self.offered_aw.is_none();
            assert!(new || self.offered_aw == Some(offer), "an offered burst changed");
            self.offered_aw = (!block.aw_ready.val()).then_some(offer);
            if let Some(queue) = Self::queue_at(address).filter(|_| new) {
                let ring = &mut self.rings[queue];
                assert_eq!(address & 0xffff_ffff, (ring.issued & ring.mask) * 64, "queue {queue}");
                assert!(ring.issued - ring.head <= ring.mask, "completion ring {queue} overflows");
                ring.issued += 1;
                ring.asked.push_back(self.cycle);
            }
            if block.aw_ready.val() {
                self.addresses.push_back(offer);
            }
        } else {
            assert!(self.offered_aw.is_none(), "an offered burst was withdrawn");
        }
        let due = self.mask(|slot| slot.armed && slot.scaled && (!slot.reported || slot.closed)) != 0
            || self.rings.iter().any(|ring| !ring.refusals.is_empty());
        let arming = block.arm.val().raw() != 0 || block.refuse.val();
        assert!(block.working.val() || !due || arming, "asleep with work to do");
        while let (Some((address, beats)), Some(data)) = (self.addresses.front().copied(), self.data.front()) {
            assert_eq!(data.len() as u64, beats, "beats of the burst at {address:#x}");
            self.memory.extend((0..).map(|at| address + at * 64).zip(data.iter().copied()));
            let failed = self.fails_one_in > 0 && random.one_in(self.fails_one_in);
            let wait = if pace.stall { random.below(60) } else { ACK_CYCLES };
            self.acks.push_back((address, beats, failed, self.cycle + wait));
            self.addresses.pop_front();
            self.data.pop_front();
        }
        bench.tick();
        bench.block.arm.next = bits_w(0);
        bench.block.refuse.next = false;
        for (at, slot) in self.slots.iter_mut().enumerate() {
            slot.armed &= freed >> at & 1 == 0;
        }
    }

    /// The card owes nothing and nobody waits for anything.
    fn assert_at_rest(&self, bench: &Bench<Finisher>) {
        assert!(!bench.block.working.val() && !bench.block.busy.val(), "at work when all is reported");
        assert!(self.memory.is_empty(), "{} beats of nobody were written", self.memory.len());
        assert!(self.rings.iter().all(|ring| !ring.untold), "a completion nobody was told of");
    }
}

fn start(bench: &mut Bench<Finisher>, masks: [u64; 4]) -> World {
    bench.block.job.next = JobWords { rank: bits_w(RANK as u64), ranks: bits_w(RANKS as u64), ..Default::default() };
    bench.block.unread.next = bits_w(0);
    World { rings: masks.map(|mask| Ring { mask, ..Ring::default() }), ..World::default() }
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

fn refusal_of(random: &mut Random, queue: u64) -> Refusal {
    Refusal {
        queue: bits_w(queue),
        slot: bits_w(random.next()),
        cookie: bits_w(random.next()),
        status: bits_w(2 + random.below(3)),
    }
}

/// Refuses something of `queue` in the next cycle, if there is room.
fn refuse(bench: &mut Bench<Finisher>, world: &mut World, random: &mut Random, queue: usize) -> usize {
    bench.settle();
    if !bench.block.refuse_ready.val().get_bit(queue) {
        return 0;
    }
    let refusal = refusal_of(random, queue as u64);
    bench.block.refuse.next = true;
    bench.block.refusal.next = refusal;
    world.rings[queue].refusals.push_back((refusal, world.cycle + 1));
    1
}

/// Plays random windows through random slots, with refusals in between and a host that reads completions late.
fn run(bench: &mut Bench<Finisher>, random: &mut Random, pace: Pace, windows: usize, sizes: Sizes, fails: u64) {
    let masks = [(); 4].map(|_| [0, 1, 3][random.below(3) as usize]);
    let mut world = World { fails_one_in: fails, ..start(bench, masks) };
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
            // A stage may close before the one before it is reported.
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

/// Takes one window in slot `at` through both stages.
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
        // Two beats of the first report and its completion, then the result.
        let result = &world.written[3..3 + 1024];
        assert_eq!(result[1023] - result[0], 1023, "log2_n {log2_n}");
    }
}

/// Windows closed long ago follow each other: reports, completions and acknowledgements are hidden behind results.
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
        // Result, two reports of two beats and two completions are 1030 beats.
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
    // Queue 0 has one place, and nobody reads it; each of its slots waits in turn.
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
fn a_slot_armed_in_any_cycle_of_anothers_report_is_reported_itself() {
    let mut random = Random::new(6);
    for offset in 0..120 {
        let mut bench = Bench::new(Finisher::default());
        let mut world = start(&mut bench, [63; 4]);
        let small = |random: &mut Random, at| any_context(random, Sizes { beats: 3, ..SMALL }, at);
        let context = SlotContext { hadamard: false, ..small(&mut random, 2) };
        // Slot 2 has been used once; its report of then must not count for its next window.
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

/// Disables in any cycle: the bus gets what it is owed, its rules hold, and what follows is as after power-on.
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

/// Clears until the bus is owed nothing; from here on the bus is only a bus, and nobody is told of anything.
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
    assert!(bus.is_quiet(), "quiet while the bus is owed something");
    bench.block.clear.next = false;
    bench.block.b_valid.next = false;
}

/// A block reserves its places in the outbox before it comes: those of blocks that are cut off are free again.
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
        // The first block comes after some 550 cycles, the last after 1400.
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

/// A host memory that takes and acknowledges, taken over in the middle of things.
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
