use super::super::submission::Submit;
use super::super::submission_model::{Armed, Effect};
use super::super::testing::Pace;
use super::super::types::{Advert, ContributeOrder, GateRules, JobWords, Refusal, SendOrder, SlotContext};
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::limits::{HADAMARD_LOG2_MAX, WINDOW_BEATS};
use optireduce_contract::queue::*;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // few exist at a time
pub(super) enum Seen {
    Scrub(u64),
    Arm { slot: u64, context: SlotContext, rules: [GateRules; 2], advert: Advert },
    Contribute { enter: u64, order: ContributeOrder, slot: u64, advert: Advert },
    Broadcast(SendOrder),
    Refuse(Refusal),
}

fn context(armed: &Armed) -> SlotContext {
    let it = &armed.command;
    SlotContext {
        cookie: bits_w(it.cookie as u64),
        step: bits_w(it.step as u64),
        bucket: bits_w(it.bucket as u64),
        base_beat: bits_w(it.base as u64 / 64),
        beats: bits_w(it.beats as u64),
        quotient: bits_w(it.shard_quotient as u64),
        remainder: bits_w(it.shard_remainder as u64),
        rotation: bits_w(it.rotation as u64),
        hadamard: it.flags & FLAG_HADAMARD != 0,
        bf16: it.flags & FLAG_BF16 != 0,
        auto_broadcast: it.flags & FLAG_AUTO_BROADCAST != 0,
        early: it.flags & FLAG_EARLY != 0,
        log2_n: bits_w(it.log2_n as u64),
        log2_blocks: bits_w(it.log2_blocks as u64),
        host_beats: bits_w(it.host_beats as u64),
        mark_packets: bits_w(it.mark_packets as u64),
        send_incast: bits_w(it.send_incast as u64),
        queue: bits_w(armed.queue as u64),
        own_start: bits_w(armed.own.0 as u64),
        own_beats: bits_w(armed.own.1 as u64),
        epoch: bits_w(armed.epoch as u64),
        host_address: bits_w(it.host_address),
        report_address: bits_w(it.report_address),
        sign_key: bits_w(it.sign_key),
    }
}

pub(super) fn seen(effect: Effect) -> Seen {
    match effect {
        Effect::Scrub(slot) => Seen::Scrub(slot as u64),
        Effect::Arm(armed) => {
            let it = armed.command;
            let rules = [0, 1].map(|stage| GateRules {
                bound_ns: bits_w(it.bound_ns as u64),
                grace_ns: bits_w(it.grace_ns as u64),
                start_peers: bits_w(it.start_peers as u64),
                early: it.flags & FLAG_EARLY != 0,
                senders: bits_w(armed.senders[stage]),
                expected: bits_w(armed.expected[stage] as u64),
                own: bits_w(if stage == 0 { armed.own.1 as u64 } else { 0 }),
            });
            Seen::Arm { slot: it.slot as u64, context: context(&armed), rules, advert: Advert::default() }
        }
        Effect::Contribute(it) => Seen::Contribute {
            enter: 1 << it.slot,
            order: ContributeOrder {
                slot: bits_w(it.slot as u64),
                host_address: bits_w(it.host_address),
                host_beats: bits_w(it.host_beats as u64),
            },
            slot: it.slot as u64,
            advert: Advert { timeout: bits_w(it.timeout_16us as u64), incast: bits_w(it.incast as u64) },
        },
        Effect::Broadcast(it) => {
            Seen::Broadcast(SendOrder { slot: bits_w(it.slot as u64), broadcast: true, bank: false })
        }
        Effect::Refuse { queue, slot, cookie, status } => Seen::Refuse(Refusal {
            queue: bits_w(queue as u64),
            slot: bits_w(slot as u64),
            cookie: bits_w(cookie as u64),
            status: bits_w(status as u64),
        }),
    }
}

#[derive(Clone)]
pub(super) struct Ring {
    pub(super) base: u64,
    log2: u32,
    pub(super) entries: Vec<[u8; 64]>,
    pub(super) tail: u16,
}

pub(super) struct Rig {
    pub(super) bench: Bench<Submit>,
    pub(super) rings: [Ring; 4],
    pub(super) usable: u64,
    pub(super) refusable: u64,
    /// Read under way: queue, entry, and cycles until it arrives.
    pub(super) reading: Option<(usize, usize, u64)>,
    scrubbing: u64,
    pub(super) out: VecDeque<Seen>,
}

impl Rig {
    pub(super) fn new(mut bench: Bench<Submit>, random: &mut Random, rank: usize, ranks: usize) -> Self {
        let block = &mut bench.block;
        block.job.next = JobWords {
            rank: bits_w(rank as u64),
            ranks: bits_w(ranks as u64),
            window_beats: bits_w(WINDOW_BEATS as u64),
            log2_n_max: bits_w(HADAMARD_LOG2_MAX.into()),
            ..JobWords::default()
        };
        let rings = [(); 4].map(|_| {
            let (base, log2) = (random.next() & !4095 | 1 << 40, 1 + random.below(4) as u32);
            Ring { base, log2, entries: vec![[0xa5; 64]; 1 << log2], tail: 0 }
        });
        Rig { bench, rings, usable: 0xf, refusable: 0xf, reading: None, scrubbing: 0, out: VecDeque::new() }
    }

    pub(super) fn submit(&mut self, command: &Submission) -> bool {
        self.submit_to(0, command)
    }

    /// Returns false if the ring is full.
    pub(super) fn submit_to(&mut self, queue: usize, command: &Submission) -> bool {
        let head = self.bench.block.sq_head[queue].val().raw() as u16;
        let ring = &mut self.rings[queue];
        if ring.tail.wrapping_sub(head) as usize == ring.entries.len() {
            return false;
        }
        let index = ring.tail as usize % ring.entries.len();
        ring.entries[index] = command.to_bytes();
        ring.tail = ring.tail.wrapping_add(1);
        true
    }

    /// `freed` has a bit for each slot freed in this cycle.
    pub(super) fn cycle(&mut self, random: &mut Random, pace: Pace, freed: u64) {
        self.cycle_with(random, pace, freed, true);
    }

    /// Without `takes_orders` neither engine nor planner accepts an order.
    pub(super) fn cycle_with(&mut self, random: &mut Random, pace: Pace, freed: u64, takes_orders: bool) {
        let block = &mut self.bench.block;
        for (queue, ring) in self.rings.iter().enumerate() {
            block.sq_tail[queue].next = bits_w(ring.tail as u64);
        }
        block.usable.next = bits_w(self.usable);
        block.refuse_ready.next = bits_w(self.refusable);
        block.freed.next = bits_w(freed);
        block.ar_ready.next = pace.takes(random);
        block.order_ready.next = pace.takes(random) && takes_orders;
        block.send_ready.next = pace.takes(random) && takes_orders;
        block.scrub_busy.next = self.scrubbing > 0;
        self.scrubbing = self.scrubbing.saturating_sub(1);
        let comes = self.reading.filter(|(_, _, wait)| *wait == 0);
        block.r_valid.next = comes.is_some();
        block.r_data.next =
            comes.map_or(Beat([!0; 16]), |(queue, index, _)| Beat::from_bytes(&self.rings[queue].entries[index]));
        self.reading = match self.reading {
            Some((queue, index, wait)) if wait > 0 => Some((queue, index, wait - 1)),
            _ => None,
        };
        self.bench.settle();
        let queue = self.bench.block.sq_queue.val().index();
        self.bench.block.sq_base.next = bits_w(self.rings[queue].base);
        self.bench.block.sq_mask.next = bits_w((1 << self.rings[queue].log2) - 1);
        self.bench.settle();
        let block = &self.bench.block;
        for (queue, ring) in self.rings.iter().enumerate() {
            let consumed = block.sq_head[queue].val().raw() as u16;
            let used = ring.tail.wrapping_sub(consumed) as usize;
            assert!(block.clear.val() || used <= ring.entries.len(), "head of queue {queue} passed the tail");
        }
        if block.ar_valid.val() && block.ar_ready.val() {
            let served = self.usable & self.refusable & self.rung();
            assert!(block.clear.val() || served >> queue & 1 == 1, "queue {queue} must not be served");
            let index = block.sq_head[queue].val().raw() as usize % self.rings[queue].entries.len();
            assert_eq!(block.ar_address.val().raw(), self.rings[queue].base + 64 * index as u64);
            assert!(self.reading.is_none() && comes.is_none(), "one read at a time");
            self.reading = Some((queue, index, if pace.idle { random.below(8) } else { 0 }));
        }
        // The registers remember stopped queues.
        self.usable &= !block.stop.val().raw();
        if block.scrub.val() {
            self.scrubbing = 20;
            self.out.push_back(Seen::Scrub(block.scrub_slot.val().raw()));
        }
        if block.arm.val() != 0 {
            assert_eq!(self.scrubbing, 0, "armed while its memory is being emptied");
            let slot = block.arm_slot.val().raw();
            assert_eq!(block.arm.val().raw(), 1 << slot);
            let rules = [block.contribute_rules.val(), block.broadcast_rules.val()];
            let (context, advert) = (block.arm_context.val(), block.advert.val());
            self.out.push_back(Seen::Arm { slot, context, rules, advert });
        }
        let taken = block.order_valid.val() && block.order_ready.val();
        assert_eq!(block.enter.val() != 0, taken, "the stage is entered when the order is accepted");
        if taken {
            let (enter, order) = (block.enter.val().raw(), block.order.val());
            let (slot, advert) = (block.arm_slot.val().raw(), block.advert.val());
            self.out.push_back(Seen::Contribute { enter, order, slot, advert });
        }
        if block.send_valid.val() && block.send_ready.val() {
            self.out.push_back(Seen::Broadcast(block.send.val()));
        }
        if block.refuse.val() {
            assert!(self.refusable >> block.refusal.val().queue.raw() & 1 == 1, "refused without room");
            self.out.push_back(Seen::Refuse(block.refusal.val()));
        }
        self.bench.tick();
    }

    pub(super) fn rung(&self) -> u64 {
        let heads = self.bench.block.sq_head.each_ref().map(|head| head.val().raw());
        (0..4).map(|queue| u64::from(heads[queue] != self.rings[queue].tail as u64) << queue).sum()
    }
}
