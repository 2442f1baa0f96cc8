//! The card's hardware description, simulated cycle by cycle.
//!
//! The rest of the board is modelled: host memory ([`READ_NS`], [`ACK_NS`]; one beat per cycle, in
//! order), a store-and-forward 100 Gb/s MAC, and the register bus. The card receives a frame at one
//! beat per cycle, after its last byte on the wire.
//!
//! After [`STILL_CYCLES`] consecutive cycles without activity, time jumps to the next arrival,
//! register write or timer. Only simulated cycles are counted.
//!
//! In real time ([`Card::run_beside`]) the clock is read before every cycle. Deadlines hold, but
//! more time passes between two cycles than on a board.

use std::collections::VecDeque;

use optireduce_contract::limits::{BEAT_BYTES, CYCLE_NS, QUEUES};
use optireduce_contract::packet::{STAGE_BROADCAST, STAGE_CONTRIBUTE};
use optireduce_contract::registers::{Access, BAR_BYTES, CONTROL, PEER_TABLE, QUEUE_BASE, REGISTERS, Register};
use optireduce_driver::CardEnd;
use optireduce_hw::card::build::Build;
use optireduce_hw::card::simulated::{Inputs, NO_TIMER, Outputs, SimulatedCard};
use optireduce_hw::hdl::word::Beat;

use crate::card::waves::Waves;
use crate::card::{Accept, Card, SignalChange, SignalDef};
use crate::wire::wire_ps;
use crate::wire::{Arrival, Departure};

/// Time from a read request to its first beat, as over PCIe 3.0 x16.
pub const READ_NS: u64 = 700;
/// Time from the last beat of a write burst to its acknowledgement.
pub const ACK_NS: u64 = 100;
/// Inactive cycles before time may jump: more than any pipeline and two turns of the timer scan.
pub const STILL_CYCLES: u32 = 48;
/// Cycles from the last beat of a write to its effect on registers, rounded up, if the
/// acknowledgement takes one cycle as in real time.
const SETTLE_CYCLES: usize = 16;
/// Frames queued for the card in real time.
const INCOMING_MAX: usize = 64;
/// Lead of the MAC's buffer over the wire: at least a largest frame, so that the wire does not
/// idle.
const MAC_AHEAD_NS: u64 = 750;

struct Burst {
    ready_ns: u64,
    address: u64,
    beats: u64,
    failed: bool,
}

impl Burst {
    /// Returns whether this was the last beat.
    fn advance(&mut self) -> bool {
        self.address += BEAT_BYTES as u64;
        self.beats -= 1;
        self.beats == 0
    }
}

/// A cycle-level card; see the module.
pub struct RtlCard {
    card: SimulatedCard,
    inputs: Inputs,
    end: CardEnd,
    clock_ns: u64,
    until_ns: u64,
    /// Words of BAR 0 written by the host, in the order of transfer.
    host_words: Vec<usize>,
    card_words: Vec<usize>,
    /// Last transferred value of each word of BAR 0.
    given: Vec<u32>,
    reads: VecDeque<Burst>,
    writes: VecDeque<Burst>,
    acks: VecDeque<(u64, bool)>,
    incoming: VecDeque<Vec<u8>>,
    incoming_at: usize,
    outgoing: Vec<u8>,
    /// Frames sent during register accesses.
    late_departures: Vec<Departure>,
    wire_free_ps: u64,
    wire_limits: bool,
    still: u32,
    timer_ns: Option<u64>,
    cookies: [u32; 8],
    trace: Vec<Accept>,
    rang: bool,
    waves: Option<Waves>,
}

impl RtlCard {
    /// Creates a card at power-on, simulated by rust-hdl.
    pub fn new(end: CardEnd) -> Self {
        Self::on(end, SimulatedCard::new(Build::default()))
    }

    /// As [`new`](Self::new), with another size and a MAC of one beat per cycle (128 Gb/s), faster
    /// than the wire.
    pub fn unlimited(end: CardEnd, build: Build) -> Self {
        Self { wire_limits: false, ..Self::on(end, SimulatedCard::new(build)) }
    }

    /// As [`new`](Self::new), but simulated by Verilator.
    ///
    /// # Errors
    /// If Verilator is not installed or rejects the Verilog.
    pub fn verilated(end: CardEnd) -> Result<Self, String> {
        Ok(Self::on(end, SimulatedCard::verilated()?))
    }

    fn on(end: CardEnd, card: SimulatedCard) -> Self {
        let mut card = Self {
            card,
            inputs: Inputs::default(),
            end,
            clock_ns: 0,
            until_ns: 0,
            host_words: host_words(),
            card_words: card_words(),
            given: vec![0; BAR_BYTES / 4],
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            acks: VecDeque::new(),
            incoming: VecDeque::new(),
            incoming_at: 0,
            outgoing: Vec::new(),
            late_departures: Vec::new(),
            wire_free_ps: 0,
            wire_limits: true,
            still: 0,
            timer_ns: None,
            cookies: [0; 8],
            trace: Vec::new(),
            rang: false,
            waves: None,
        };
        card.publish_registers();
        card
    }

    fn cycle(&mut self, tx: &mut Vec<Departure>) {
        let now_ns = self.clock_ns;
        let inputs = &mut self.inputs;
        inputs.now_ns = now_ns;

        let frame = self.incoming.front();
        inputs.rx_valid = frame.is_some();
        inputs.rx_last = false;
        inputs.rx_error = false;
        inputs.rx_partial = false;
        if let Some(frame) = frame {
            let rest = &frame[self.incoming_at..];
            let mut beat = [0; BEAT_BYTES];
            let take = rest.len().min(BEAT_BYTES);
            beat[..take].copy_from_slice(&rest[..take]);
            inputs.rx_data = Beat::from_bytes(&beat);
            inputs.rx_last = rest.len() <= BEAT_BYTES;
            inputs.rx_partial = rest.len() < BEAT_BYTES;
        }

        let read = self.reads.front().filter(|read| read.ready_ns <= now_ns);
        inputs.axi_r_valid = read.is_some();
        if let Some(read) = read {
            let mut beat = [0; BEAT_BYTES];
            inputs.axi_r_error = self.end.dma_read(read.address, &mut beat).is_err();
            inputs.axi_r_data = Beat::from_bytes(&beat);
            inputs.axi_r_last = read.beats == 1;
        }
        let ack = self.acks.front().filter(|ack| ack.0 <= now_ns);
        inputs.axi_b_valid = ack.is_some();
        inputs.axi_b_error = ack.is_some_and(|ack| ack.1);
        inputs.tx_ready = !self.outgoing.is_empty() || self.wire_free_ps / 1000 <= now_ns + MAC_AHEAD_NS;

        let outputs = self.card.cycle(inputs);
        if inputs.rx_valid {
            self.incoming_at += BEAT_BYTES;
            if inputs.rx_last {
                self.incoming.pop_front();
                self.incoming_at = 0;
            }
        }
        let read = self.reads.front_mut().filter(|_| inputs.axi_r_valid && outputs.axi_r_ready);
        if read.is_some_and(Burst::advance) {
            self.reads.pop_front();
        }
        if inputs.axi_b_valid {
            self.acks.pop_front();
        }
        if outputs.axi_ar_valid {
            self.reads.push_back(Burst {
                ready_ns: now_ns + READ_NS,
                address: outputs.axi_ar_address,
                beats: outputs.axi_ar_beats,
                failed: false,
            });
        }
        if outputs.axi_aw_valid {
            self.writes.push_back(Burst {
                ready_ns: now_ns,
                address: outputs.axi_aw_address,
                beats: outputs.axi_aw_beats,
                failed: false,
            });
        }
        if let Some(write) = self.writes.front_mut().filter(|_| outputs.axi_w_valid) {
            write.failed |= self.end.dma_write(write.address, &outputs.axi_w_data.to_bytes()).is_err();
            if write.advance() {
                self.acks.push_back((now_ns + ACK_NS, write.failed));
                self.writes.pop_front();
            }
        }
        if outputs.tx_valid && inputs.tx_ready {
            self.outgoing.extend_from_slice(&outputs.tx_data.to_bytes());
            if outputs.tx_last {
                let frame = std::mem::take(&mut self.outgoing);
                self.wire_free_ps = self.wire_free_ps.max(now_ns * 1000);
                if self.wire_limits {
                    self.wire_free_ps += wire_ps(frame.len());
                }
                // A frame cut short by a reset has a bad checksum, so no receiver accepts it.
                if !outputs.tx_error {
                    tx.push(Departure { at_ns: self.wire_free_ps.div_ceil(1000), frame });
                }
            }
        }
        for slot in 0..self.cookies.len() {
            if outputs.trace_arm >> slot & 1 == 1 {
                self.cookies[slot] = outputs.trace_cookie;
            }
        }
        let accepts = [
            (outputs.trace_sum, outputs.trace_sum_place, STAGE_CONTRIBUTE),
            (outputs.trace_mean, outputs.trace_mean_place, STAGE_BROADCAST),
        ];
        for (valid, place, stage) in accepts {
            if valid {
                let (slot, position, sender) = (place >> 20, place >> 6 & 0x3fff, place & 63);
                let cookie = self.cookies[slot as usize];
                self.trace.push(Accept {
                    at_ns: now_ns,
                    cookie,
                    stage,
                    position: position as u16,
                    sender: sender as u8,
                });
            }
        }
        let still = outputs.asleep
            && self.reads.is_empty()
            && self.writes.is_empty()
            && self.acks.is_empty()
            && self.incoming.is_empty();
        self.still = if still { self.still + 1 } else { 0 };
        self.timer_ns = (outputs.timer_ns != NO_TIMER).then_some(outputs.timer_ns);
        self.rang |= outputs.msix_valid;
        if let Some(waves) = &mut self.waves {
            record(waves, now_ns, inputs, &outputs);
        }
        self.clock_ns += CYCLE_NS;
    }

    /// Simulates a cycle outside of an interval, for a register access.
    fn register_cycle(&mut self) {
        let mut tx = Vec::new();
        self.cycle(&mut tx);
        self.late_departures.append(&mut tx);
    }

    fn publish(&mut self, word: usize) {
        self.inputs.reg_read_address = word;
        self.register_cycle();
        self.end.write_register(word, self.card.reg_read_data());
    }
}

impl Card for RtlCard {
    fn run(&mut self, until_ns: u64, rx: &mut VecDeque<Arrival>, tx: &mut Vec<Departure>) {
        tx.append(&mut self.late_departures);
        while self.clock_ns + CYCLE_NS <= until_ns {
            while rx.front().is_some_and(|arrival| arrival.at_ns <= self.clock_ns) {
                if let Some(arrival) = rx.pop_front() {
                    self.incoming.push_back(arrival.frame);
                    self.still = 0;
                }
            }
            if self.still >= STILL_CYCLES {
                let arrival_ns = rx.front().map_or(u64::MAX, |arrival| arrival.at_ns);
                let timer_ns = self.timer_ns.unwrap_or(u64::MAX);
                let next_ns = arrival_ns.min(timer_ns).min(until_ns);
                if next_ns > self.clock_ns {
                    // Round down at the end of the interval, up before an event.
                    let cycles = (next_ns - self.clock_ns) / CYCLE_NS;
                    let step = if next_ns == until_ns { cycles } else { (next_ns - self.clock_ns).div_ceil(CYCLE_NS) };
                    self.clock_ns += step * CYCLE_NS;
                    if next_ns < until_ns {
                        self.still = 0;
                    }
                    continue;
                }
                self.still = 0;
            }
            self.cycle(tx);
        }
        // Arrivals in the last fraction of a cycle are delivered in the next interval.
        while rx.front().is_some_and(|arrival| arrival.at_ns < until_ns) {
            if let Some(arrival) = rx.pop_front() {
                self.incoming.push_back(arrival.frame);
                self.still = 0;
            }
        }
        self.until_ns = until_ns;
    }

    fn run_beside(
        &mut self,
        clock: &dyn Fn() -> u64,
        slice_ns: u64,
        rx: &mut VecDeque<Arrival>,
        tx: &mut Vec<Departure>,
    ) {
        tx.append(&mut self.late_departures);
        let begin_ns = clock();
        let mut now_ns = begin_ns;
        while now_ns - begin_ns < slice_ns {
            // Further frames stay in `rx`, so the receive buffer never overflows.
            while self.incoming.len() < INCOMING_MAX
                && let Some(arrival) = rx.pop_front()
            {
                self.incoming.push_back(arrival.frame);
                self.still = 0;
            }
            if self.still >= STILL_CYCLES {
                if self.timer_ns.is_none_or(|timer_ns| timer_ns > now_ns) {
                    break;
                }
                self.still = 0;
            }
            self.clock_ns = self.clock_ns.max(now_ns / CYCLE_NS * CYCLE_NS);
            self.cycle(tx);
            now_ns = now_ns.max(clock());
        }
        self.clock_ns = self.clock_ns.max(now_ns / CYCLE_NS * CYCLE_NS);
        self.until_ns = self.clock_ns;
    }

    fn now_ns(&self) -> u64 {
        self.until_ns
    }

    fn next_wake_ns(&self) -> Option<u64> {
        if self.still < STILL_CYCLES || !self.late_departures.is_empty() {
            return Some(self.until_ns);
        }
        self.timer_ns.map(|timer_ns| timer_ns.max(self.until_ns))
    }

    fn cycles(&self) -> u64 {
        self.card.cycles()
    }

    fn sync_registers(&mut self) {
        for index in 0..self.host_words.len() {
            let word = self.host_words[index];
            let value = self.end.read_register(word);
            if self.given[word] != value {
                self.given[word] = value;
                self.inputs.reg_write = true;
                self.inputs.reg_write_address = word;
                self.inputs.reg_write_data = value;
                self.still = 0;
                self.register_cycle();
                self.inputs.reg_write = false;
            }
        }
    }

    fn publish_registers(&mut self) {
        for index in 0..self.card_words.len() {
            self.publish(self.card_words[index]);
        }
    }

    fn publish_words(&mut self, words: &[usize]) {
        for word in words {
            if self.card_words.contains(word) {
                self.publish(*word);
            }
        }
    }

    fn settle(&mut self) {
        for _ in 0..SETTLE_CYCLES {
            if self.still >= STILL_CYCLES {
                return;
            }
            self.register_cycle();
        }
    }

    fn take_rang(&mut self) -> bool {
        std::mem::take(&mut self.rang)
    }

    fn take_trace(&mut self) -> Vec<Accept> {
        std::mem::take(&mut self.trace)
    }

    fn signals(&self) -> Vec<SignalDef> {
        SIGNALS.iter().map(|(name, bits)| SignalDef { name: (*name).into(), bits: *bits }).collect()
    }

    fn record_signals(&mut self) {
        self.waves = Some(Waves::default());
    }

    fn take_changes(&mut self) -> Vec<SignalChange> {
        self.waves.as_mut().map(Waves::take).unwrap_or_default()
    }
}

/// CONTROL comes after the registers that it enables.
fn host_words() -> Vec<usize> {
    let registers = REGISTERS.iter().filter(|register| register.access == Access::ReadWrite && **register != CONTROL);
    registers.map(Register::word).chain(PEER_TABLE / 4..BAR_BYTES / 4).chain([CONTROL.word()]).collect()
}

fn card_words() -> Vec<usize> {
    let of_queue = |queue| REGISTERS.iter().map(move |register| register.of_queue(queue));
    let of_queues = (1..QUEUES).flat_map(of_queue).filter(|register| register.offset >= QUEUE_BASE);
    let all = REGISTERS.iter().copied().chain(of_queues);
    all.filter(|register| register.access == Access::ReadOnly).map(|register| register.word()).collect()
}

const SIGNALS: &[(&str, u32)] = &[
    ("rx.valid", 1),
    ("rx.last", 1),
    ("rx.lane0", 32),
    ("tx.valid", 1),
    ("tx.ready", 1),
    ("tx.last", 1),
    ("tx.lane0", 32),
    ("gates.contribute_open", 8),
    ("gates.broadcast_open", 8),
    ("gates.timer_ns", 48),
    ("reduce.accepted", 1),
    ("reduce.place", 23),
    ("gather.accepted", 1),
    ("gather.place", 23),
    ("host.ar_valid", 1),
    ("host.ar_address", 64),
    ("host.r_valid", 1),
    ("host.r_ready", 1),
    ("host.aw_valid", 1),
    ("host.aw_address", 64),
    ("host.w_valid", 1),
    ("host.w_last", 1),
    ("msix_valid", 1),
    ("asleep", 1),
];

fn record(waves: &mut Waves, now_ns: u64, inputs: &Inputs, outputs: &Outputs) {
    let lane0 = |valid: bool, beat: Beat| if valid { u64::from(beat.0[0]) } else { 0 };
    let values = [
        u64::from(inputs.rx_valid),
        u64::from(inputs.rx_valid && inputs.rx_last),
        lane0(inputs.rx_valid, inputs.rx_data),
        u64::from(outputs.tx_valid),
        u64::from(inputs.tx_ready),
        u64::from(outputs.tx_valid && outputs.tx_last),
        lane0(outputs.tx_valid, outputs.tx_data),
        outputs.trace_contribute_open,
        outputs.trace_broadcast_open,
        outputs.timer_ns,
        u64::from(outputs.trace_sum),
        outputs.trace_sum_place,
        u64::from(outputs.trace_mean),
        outputs.trace_mean_place,
        u64::from(outputs.axi_ar_valid),
        outputs.axi_ar_address,
        u64::from(inputs.axi_r_valid),
        u64::from(outputs.axi_r_ready),
        u64::from(outputs.axi_aw_valid),
        outputs.axi_aw_address,
        u64::from(outputs.axi_w_valid),
        u64::from(outputs.axi_w_valid && outputs.axi_w_last),
        u64::from(outputs.msix_valid),
        u64::from(outputs.asleep),
    ];
    for (signal, value) in values.into_iter().enumerate() {
        waves.set(now_ns, signal, value);
    }
}
