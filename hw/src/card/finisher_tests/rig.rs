use super::super::finisher::Finisher;
use super::super::stimulus::float_beat;
use super::super::testing::{Pace, linear, random_beat};
use super::super::types::{GateReport, GatherWord, JobWords, Refusal, SlotContext};
use super::super::window_model::{Code, result};
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::queue::{Completion, DONE_BROADCAST, DONE_CONTRIBUTE, DONE_REFUSED, STATUS_DMA_ERROR};
use std::collections::{HashMap, VecDeque};

pub(super) const RANKS: usize = 37;
pub(super) const RANK: usize = 11;
const CQ_BASE: u64 = 0x7_0000_0000;
/// From a burst's last beat to its acknowledgement, at full pace (100 ns).
const ACK_CYCLES: u64 = 25;

#[derive(Default)]
pub(super) struct Slot {
    pub(super) armed: bool,
    pub(super) scaled: bool,
    /// Broadcast is closed and the mean sent.
    pub(super) closed: bool,
    pub(super) reported: bool,
    /// Cycle of the report's acknowledgement.
    settled: u64,
    /// An acknowledged write failed: the contribute report, or any.
    report_failed: bool,
    failed: bool,
    pub(super) context: SlotContext,
    gathered: Vec<Option<Beat>>,
    gates: [GateReport; 2],
}

#[derive(Default)]
pub(super) struct Ring {
    pub(super) mask: u64,
    /// Completions requested, acknowledged, and read by the host.
    pub(super) issued: u64,
    pub(super) tail: u64,
    pub(super) head: u64,
    /// With their cycle.
    pub(super) refusals: VecDeque<(Refusal, u64)>,
    /// Cycle of each outstanding request.
    asked: VecDeque<u64>,
    /// `tail` before the last acknowledgement.
    pub(super) before: u64,
    untold: bool,
}

#[derive(Default)]
pub(super) struct World {
    pub(super) slots: [Slot; 8],
    pub(super) rings: [Ring; 4],
    pub(super) memory: HashMap<u64, Beat>,
    pub(super) addresses: VecDeque<(u64, u64)>,
    pub(super) data: VecDeque<Vec<Beat>>,
    pub(super) filling: Vec<Beat>,
    /// Address, beats, failed, earliest cycle of acknowledgement.
    pub(super) acks: VecDeque<(u64, u64, bool, u64)>,
    pub(super) offered_aw: Option<(u64, u64)>,
    pub(super) offered_w: Option<Beat>,
    word: Option<GatherWord>,
    /// Counter and epoch requested in the previous cycle.
    counter: (u64, u64),
    /// Slots and queues to be freed and stopped in the next cycle.
    pub(super) freed: u64,
    stopped: u64,
    pub(super) fails_one_in: u64,
    pub(super) done: usize,
    pub(super) errors: usize,
    pub(super) written: Vec<u64>,
    pub(super) cycle: u64,
}

fn count_of(slot: u64, rank: u64, epoch: u64, broadcast: bool) -> u64 {
    Random::new(slot << 32 | rank << 16 | epoch << 1 | u64::from(broadcast)).next() & 0xffff
}

/// Tests are too short for a wrap.
fn sq_head_at(queue: usize, cycle: u64) -> u64 {
    queue as u64 * 5000 + cycle / 16
}

impl World {
    pub(super) fn mask(&self, is: impl Fn(&Slot) -> bool) -> u64 {
        self.slots.iter().enumerate().map(|(at, slot)| u64::from(is(slot)) << at).sum()
    }

    pub(super) fn arm(&mut self, bench: &mut Bench<Finisher>, random: &mut Random, at: usize, context: SlotContext) {
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

    fn expect_at(&mut self, address: u64, beats: &[Beat], what: &str) {
        for (at, beat) in (0..).zip(beats) {
            let found = self.memory.remove(&(address + at * 64));
            assert_eq!(found, Some(*beat), "{what}, beat {at} of {}", beats.len());
        }
    }

    fn queue_at(address: u64) -> Option<usize> {
        (0..4).find(|queue| address >> 32 == (CQ_BASE >> 32) + *queue as u64)
    }

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
            let (refusal, given) = ring.refusals.pop_front().expect("a pending refusal");
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
        // `sq_head` was sampled after the cause of the completion and before its request.
        let heads = [known, asked].map(|cycle| sq_head_at(queue, cycle));
        assert!((heads[0]..=heads[1]).contains(&u64::from(sq_head)), "{sq_head} is not in {heads:?}");
    }

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

    pub(super) fn step(&mut self, bench: &mut Bench<Finisher>, random: &mut Random, pace: Pace) {
        self.cycle += 1;
        let block = &mut bench.block;
        let scaled = self.mask(|slot| slot.armed && slot.scaled);
        let closed = self.mask(|slot| slot.armed && slot.closed);
        // Before its result a slot is either closed and still sending, or sent and still open.
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
        // A long stall of the host fills the outbox.
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

    pub(super) fn assert_at_rest(&self, bench: &Bench<Finisher>) {
        assert!(!bench.block.working.val() && !bench.block.busy.val(), "working when all is reported");
        assert!(self.memory.is_empty(), "{} unexpected beats were written", self.memory.len());
        assert!(self.rings.iter().all(|ring| !ring.untold), "a completion without an interrupt");
    }
}

pub(super) fn start(bench: &mut Bench<Finisher>, masks: [u64; 4]) -> World {
    bench.block.job.next = JobWords { rank: bits_w(RANK as u64), ranks: bits_w(RANKS as u64), ..Default::default() };
    bench.block.unread.next = bits_w(0);
    World { rings: masks.map(|mask| Ring { mask, ..Ring::default() }), ..World::default() }
}

fn refusal_of(random: &mut Random, queue: u64) -> Refusal {
    Refusal {
        queue: bits_w(queue),
        slot: bits_w(random.next()),
        cookie: bits_w(random.next()),
        status: bits_w(2 + random.below(3)),
    }
}

/// Returns the number of refusals, 0 without room.
pub(super) fn refuse(bench: &mut Bench<Finisher>, world: &mut World, random: &mut Random, queue: usize) -> usize {
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
