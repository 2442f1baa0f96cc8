//! The functional card: the behaviour of the card packet by packet, without clock cycles.
//!
//! Registers, queues, packets, window rules and arithmetic match the hardware bit for bit. Timing
//! is simplified:
//!
//! * A DMA access takes [`DMA_NS`], and data moves at one beat per [`CYCLE_NS`].
//! * A received packet is processed when it arrives.
//! * Frames leave in order of command, at 100 Gb/s or paced per peer.
//!
//! Uses: many seeds, many ranks, large buckets, and a second implementation to check the hardware.
//!
//! Not modelled:
//!
//! * Back-pressure, and overflow of the receive buffer (`DROP_FIFO_FULL` stays 0).
//! * Gates that close within a packet, and means that overtake contributions at the MAC.
//! * The lower rate of bf16, 64 Gb/s in the hardware.
//! * The duration of a reset (`STATUS_BUSY` stays 0).

mod commands;
pub(crate) mod faults;
pub(crate) mod job;
mod pacer;
mod queue;
mod receive;
mod send;
mod waves;
mod window;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use optireduce_contract::limits::{CYCLE_NS, QUEUES, SLOTS};
use optireduce_contract::pci::{DEVICE_ID, VENDOR_ID};
use optireduce_contract::queue::{
    Completion, DONE_BROADCAST, DONE_CONTRIBUTE, STAGE_REPORT_BYTES, STATUS_DMA_ERROR, STATUS_OK,
};
use optireduce_contract::registers::{self as reg, Register};
use optireduce_driver::CardEnd;
use optireduce_hw::card::build::Build;

use self::faults::Faults;
use self::job::Job;
use self::pacer::Pacer;
use self::queue::Queue;
use self::window::Window;
use crate::card::waves::Waves;
use crate::card::{Accept, Card, SignalChange, SignalDef};
use crate::wire::{Arrival, Departure};

/// Latency of DMA, without the transfer.
pub const DMA_NS: u64 = 1000;

/// A card simulated packet by packet; see the module.
pub struct FunctionalCard {
    end: CardEnd,
    build: Build,
    now_ns: u64,
    /// `None` while the card is disabled.
    job: Option<Arc<Job>>,
    slots: Vec<Option<Window>>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    sequence: u64,
    queues: [Queue; QUEUES],
    counters: [u32; COUNTERS],
    dma_error: bool,
    reader_free_ns: u64,
    mac_free_ps: u64,
    pacer: Pacer,
    outbox: VecDeque<Departure>,
    trace: Vec<Accept>,
    waves: Option<Waves>,
    faults: Faults,
}

/// Operations that complete at a known time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// Submissions up to this index were read.
    Fetched { queue: usize, tail: u16 },
    /// The gradient was read.
    Gradient { slot: u8, address: u64, beats: u16 },
    /// The contribute stage's report was written.
    Contributed { slot: u8 },
    /// Result and report were written.
    Finished { slot: u8 },
}

const COUNTERS: usize = reg::PING_REPLIES.word() - reg::RX_PACKETS.word() + 1;

impl FunctionalCard {
    /// Creates a card at power-on.
    pub fn new(end: CardEnd) -> Self {
        Self::with_build(end, Build::default())
    }

    /// Creates a card of another size.
    ///
    /// # Panics
    /// If the parameters of `build` are inconsistent.
    pub fn with_build(end: CardEnd, build: Build) -> Self {
        let mut card = Self {
            end,
            build: build.checked(),
            now_ns: 0,
            job: None,
            slots: Vec::new(),
            events: BinaryHeap::new(),
            sequence: 0,
            queues: Default::default(),
            counters: [0; COUNTERS],
            dma_error: false,
            reader_free_ns: 0,
            mac_free_ps: 0,
            pacer: Pacer::default(),
            outbox: VecDeque::new(),
            trace: Vec::new(),
            waves: None,
            faults: Faults::default(),
        };
        card.reset();
        card.sync_registers();
        card
    }

    pub(crate) fn faults_mut(&mut self) -> &mut Faults {
        &mut self.faults
    }

    fn reset(&mut self) {
        self.slots = (0..SLOTS).map(|_| None).collect();
        self.events.clear();
        self.queues = Default::default();
        self.counters = [0; COUNTERS];
        self.dma_error = false;
        (self.reader_free_ns, self.mac_free_ps) = (0, 0);
        self.outbox.clear();
    }

    fn at(&mut self, at_ns: u64, event: Event) {
        self.events.push(Reverse((at_ns, self.sequence, event)));
        self.sequence += 1;
    }

    fn count(&mut self, counter: Register, by: u32) {
        let place = &mut self.counters[counter.word() - reg::RX_PACKETS.word()];
        *place = place.wrapping_add(by);
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        let ok = !self.faults.takes_dma() && self.end.dma_read(address, bytes).is_ok();
        self.dma_error |= !ok;
        ok
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        let ok = !self.faults.takes_dma() && self.end.dma_write(address, bytes).is_ok();
        self.dma_error |= !ok;
        ok
    }
}

impl Card for FunctionalCard {
    fn run(&mut self, until_ns: u64, rx: &mut VecDeque<Arrival>, tx: &mut Vec<Departure>) {
        loop {
            let arrival = rx.front().map(|arrival| arrival.at_ns);
            let Some(next) = [arrival, self.next_act_ns()].into_iter().flatten().min().filter(|at| *at < until_ns)
            else {
                break;
            };
            self.now_ns = self.now_ns.max(next);
            // Order within an instant: arrivals, then finished operations, then gates.
            if arrival.is_some_and(|at| at <= self.now_ns) {
                if let Some(arrival) = rx.pop_front() {
                    self.receive(&arrival.frame);
                }
            } else if let Some(event) = self.pop_event() {
                self.handle(event);
            } else {
                self.close_due_gates();
            }
            self.record_changes();
        }
        self.now_ns = self.now_ns.max(until_ns);
        while let Some(departure) = self.outbox.pop_front_if(|departure| departure.at_ns < until_ns) {
            self.count(reg::TX_PACKETS, 1);
            tx.push(departure);
        }
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn next_wake_ns(&self) -> Option<u64> {
        let departure = self.outbox.front().map(|departure| departure.at_ns.max(self.now_ns));
        [departure, self.next_act_ns()].into_iter().flatten().min()
    }

    fn cycles(&self) -> u64 {
        0
    }

    fn sync_registers(&mut self) {
        let enable = self.end.read_register(reg::CONTROL.word()) & reg::CONTROL_ENABLE != 0;
        if !enable {
            self.job = None;
            self.reset();
        } else if self.job.is_none() {
            let job = Job::from_registers(&self.end);
            self.pacer = Pacer::new(&job.rates, job.payload_beats, self.now_ns * 1000);
            self.job = Some(Arc::new(job));
        }
        if self.job.is_some() {
            for queue in 0..QUEUES {
                self.queues[queue].sync(&self.end, queue);
                self.write_completions(queue);
                self.start_fetch(queue);
            }
        }
        self.publish_registers();
    }

    fn take_trace(&mut self) -> Vec<Accept> {
        std::mem::take(&mut self.trace)
    }

    fn signals(&self) -> Vec<SignalDef> {
        waves::signals()
    }

    fn record_signals(&mut self) {
        self.waves = Some(Waves::default());
        self.record_changes();
    }

    fn take_changes(&mut self) -> Vec<SignalChange> {
        self.waves.as_mut().map(Waves::take).unwrap_or_default()
    }
}

impl FunctionalCard {
    fn next_act_ns(&self) -> Option<u64> {
        let event = self.events.peek().map(|Reverse((at_ns, ..))| *at_ns);
        let timers = self.slots.iter().flatten().flat_map(|window| {
            window.gates.iter().filter_map(|gate| gate.due(self.now_ns, &window.rules).map(|(at_ns, _)| at_ns))
        });
        event.into_iter().chain(timers).min().map(|at_ns| at_ns.max(self.now_ns))
    }

    fn pop_event(&mut self) -> Option<Event> {
        self.events.peek().filter(|Reverse((at_ns, ..))| *at_ns <= self.now_ns)?;
        self.events.pop().map(|Reverse((_, _, event))| event)
    }

    fn handle(&mut self, event: Event) {
        let Some(job) = self.job.clone() else { return };
        match event {
            Event::Fetched { queue, tail } => self.fetched(&job, queue, tail),
            Event::Gradient { slot, address, beats } => self.gradient(&job, slot, address, beats),
            Event::Contributed { slot } => self.report(slot, 0),
            Event::Finished { slot } => self.finish(slot),
        }
    }

    fn close_due_gates(&mut self) {
        let Some(job) = self.job.clone() else { return };
        for slot in 0..SLOTS {
            for stage in 0..2 {
                let Some(window) = &mut self.slots[slot] else { continue };
                let due =
                    window.gates[stage].due(self.now_ns, &window.rules).filter(|(at_ns, _)| *at_ns <= self.now_ns);
                let Some((_, by)) = due else { continue };
                window.close(stage, self.now_ns, by);
                if stage == 0 {
                    window.reported_ns = self.now_ns + self.faults.dma_ns;
                    let reported_ns = window.reported_ns;
                    self.at(reported_ns, Event::Contributed { slot: slot as u8 });
                    self.broadcast(&job, slot);
                }
            }
            self.start_finish(slot);
        }
    }

    /// Starts writing the result once both gates are closed and no read is in progress.
    fn start_finish(&mut self, slot: usize) {
        let Some(window) = &mut self.slots[slot] else { return };
        let done = window.gates.iter().all(|gate| !gate.is_open()) && !window.reading && !window.finishing;
        // Two accesses, the contribute stage's report first. The slot is in use until its last
        // frame has left.
        let at_ns = self.now_ns + 2 * self.faults.dma_ns + u64::from(window.arm.host_beats) * CYCLE_NS;
        let at_ns = at_ns.max(window.sent_ns).max(window.reported_ns);
        if done {
            window.finishing = true;
            self.at(at_ns, Event::Finished { slot: slot as u8 });
        }
    }

    fn finish(&mut self, slot: u8) {
        let Some(window) = &self.slots[usize::from(slot)] else { return };
        let (address, result) = (window.arm.host_address, window.result());
        let written = self.write(address, &result);
        if let Some(window) = &mut self.slots[usize::from(slot)] {
            window.dma_failed |= !written;
        }
        self.report(slot, 1);
        self.slots[usize::from(slot)] = None;
    }

    fn report(&mut self, slot: u8, stage: usize) {
        let Some(window) = &self.slots[usize::from(slot)] else { return };
        let address = window.arm.report_address + (stage * STAGE_REPORT_BYTES) as u64;
        let mut report = window.report(stage);
        self.faults.take_report(&mut report);
        let (gate, failed) = (window.gates[stage].clone(), window.dma_failed);
        let (queue, cookie, own_beats) = (window.queue, window.arm.cookie, window.own_beats());
        let written = self.write(address, &report);
        if let Some(window) = &mut self.slots[usize::from(slot)] {
            window.dma_failed |= !written;
        }
        let (closed_ns, closed_by) = gate.closed().unwrap_or_default();
        let completion = Completion {
            opcode: [DONE_CONTRIBUTE, DONE_BROADCAST][stage],
            slot,
            closed_by: closed_by as u8,
            status: if written && !failed { STATUS_OK } else { STATUS_DMA_ERROR },
            cookie,
            received_beats: gate.received_beats() as u32,
            expected_beats: gate.expected_beats() as u32,
            elapsed_ns: gate.elapsed_ns(),
            heard: gate.heard().bits(),
            closed_ns,
            own_beats: if stage == 0 { own_beats } else { 0 },
            ..Completion::default()
        };
        self.complete(queue, completion);
    }

    fn publish_registers(&mut self) {
        let scratch = self.end.read_register(reg::SCRATCH.word());
        for register in reg::REGISTERS.iter().filter(|register| register.access == reg::Access::ReadOnly) {
            self.end.write_register(register.word(), register.reset);
        }
        self.end.write_register(reg::SCRATCH_ECHO.word(), !scratch);
        self.end.write_register(reg::WINDOW_BEATS_MAX.word(), 1 << self.build.window_log2);
        self.end.write_register(reg::HADAMARD_LOG2_MAX.word(), self.build.hadamard_log2);
        self.end.write_register(reg::CARD_TIME_LO.word(), self.now_ns as u32);
        self.end.write_register(reg::CARD_TIME_HI.word(), (self.now_ns >> 32) as u32 & 0xffff);
        self.end.write_register(reg::LINK.word(), reg::LINK_KNOWN | reg::LINK_RSFEC | reg::LINK_UP);
        self.end.write_register(reg::PCI_ID.word(), u32::from(DEVICE_ID) << 16 | u32::from(VENDOR_ID));
        let mut status = u32::from(self.dma_error) * reg::STATUS_DMA_ERROR;
        for (number, queue) in self.queues.iter().enumerate() {
            status |= u32::from(queue.stopped) * reg::status_stopped(number);
            self.end.write_register(reg::SQ_HEAD.of_queue(number).word(), queue.sq_head.into());
            self.end.write_register(reg::CQ_TAIL.of_queue(number).word(), queue.cq_tail.into());
        }
        self.end.write_register(reg::STATUS.word(), status);
        for (counter, value) in self.counters.iter().enumerate() {
            self.end.write_register(reg::RX_PACKETS.word() + counter, *value);
        }
    }
}
