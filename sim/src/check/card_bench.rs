//! Test bench of one card: a driver on its bus and injected frames on its wire, for commands and
//! frames that never occur in a well-behaved cluster. The card is rank 0 of a job.

use std::collections::VecDeque;
use std::sync::Arc;

use optireduce_contract::limits::{BEAT_BYTES, CYCLE_NS, SLOTS, WINDOW_BEATS};
use optireduce_contract::packet::{Endpoint, HEADER_BYTES, UDP_PORT_DEFAULT, UbtHeader, write_header};
use optireduce_contract::queue::{
    Completion, ENTRY_BYTES, FLAG_AUTO_BROADCAST, OP_ARM, OP_CONTRIBUTE, REPORT_BYTES, Submission,
};
use optireduce_contract::registers::{self as reg, Register};
use optireduce_contract::shard::ShardMap;
use optireduce_driver::{Bus, CardEnd, Counters, DmaBuffer, DriverError, InProcessBus, JobConfig, Nic, in_process};

use crate::card::engine::Engine;
use crate::card::port::CardPort;
use crate::card::rtl::RtlCard;
use crate::card::{Accept, Card};
use crate::error::SimError;
use crate::wire::{Arrival, Departure};
use optireduce_hw::card::build::Build;

/// Job tag of the bench's job.
pub const JOB_TAG: u64 = 0x0123_4567_89ab_cdef;
/// Payload of a full packet in beats.
pub const PAYLOAD_BEATS: usize = 4;

/// A card with its driver and wire. Methods return driver errors as text.
#[allow(missing_docs)] // described above
pub struct CardBench {
    pub nic: Nic<InProcessBus>,
    card: Arc<CardPort>,
    rx: VecDeque<Arrival>,
    /// Frames sent by the card.
    pub sent: Vec<Departure>,
    pub gradient: DmaBuffer,
    pub result: DmaBuffer,
    pub reports: DmaBuffer,
    job: JobConfig,
    now_ns: u64,
}

/// Returns a job: rank 0 of `ranks`, packets of `payload_beats`, rings of 16 entries.
pub fn bench_job(ranks: usize, payload_beats: usize) -> JobConfig {
    JobConfig {
        rank: 0,
        ranks,
        job_tag: JOB_TAG,
        payload_beats,
        udp_port: UDP_PORT_DEFAULT,
        endpoints: (0..ranks).map(Endpoint::of_rank).collect(),
        rates_bytes_per_us: Vec::new(),
        queue: 0,
        ring_log2: 4,
    }
}

impl CardBench {
    /// Creates rank 0 of `ranks` with small packets.
    ///
    /// # Errors
    /// If the engine is unavailable or the driver fails.
    pub fn new(engine: Engine, ranks: usize) -> Result<Self, SimError> {
        Self::with_payload(engine, ranks, PAYLOAD_BEATS)
    }

    /// As [`new`](CardBench::new), with full packets of `payload_beats`.
    ///
    /// # Errors
    /// As [`new`](CardBench::new).
    pub fn with_payload(engine: Engine, ranks: usize, payload_beats: usize) -> Result<Self, SimError> {
        Self::with_job(engine, bench_job(ranks, payload_beats))
    }

    /// As [`new`](CardBench::new), for any job.
    ///
    /// # Errors
    /// As [`new`](CardBench::new).
    pub fn with_job(engine: Engine, job: JobConfig) -> Result<Self, SimError> {
        Self::shared(engine, job, 0).map(|(bench, _)| bench)
    }

    /// As [`with_job`](CardBench::with_job), with `others` additional drivers without a queue.
    ///
    /// # Errors
    /// As [`new`](CardBench::new).
    pub fn shared(engine: Engine, job: JobConfig, others: usize) -> Result<(Self, Vec<Nic<InProcessBus>>), SimError> {
        Self::on(|end| engine.build(end), WINDOW_BEATS, job, others)
    }

    /// Creates rank 0 of `ranks` on a card of another size, with a MAC of one beat per cycle.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn unlimited(build: Build, ranks: usize, payload_beats: usize) -> Result<Self, SimError> {
        let card = |end| Ok(Box::new(RtlCard::unlimited(end, build)) as Box<dyn Card>);
        Self::on(card, 1 << build.window_log2, bench_job(ranks, payload_beats), 0).map(|(bench, _)| bench)
    }

    fn on(
        build: impl FnOnce(CardEnd) -> Result<Box<dyn Card>, SimError>,
        window_beats: usize,
        job: JobConfig,
        others: usize,
    ) -> Result<(Self, Vec<Nic<InProcessBus>>), SimError> {
        let failed = |error: DriverError| SimError::Rank { rank: 0, source: Box::new(error) };
        let card = Arc::new(CardPort::default());
        let drivers = 1 + others;
        let bytes = drivers * (2 * window_beats * BEAT_BYTES + (1 << 20));
        let (bus, end) = in_process("bench", bytes, 0x4000_0000, card.clone()).map_err(failed)?;
        card.plug(build(end)?);
        let nics: Result<Vec<_>, _> = bus.split(drivers).into_iter().map(Nic::open).collect();
        let mut nics = nics.map_err(failed)?;
        let mut nic = nics.remove(0);
        nic.configure(&job).map_err(failed)?;
        let gradient = nic.alloc(window_beats * BEAT_BYTES, BEAT_BYTES).map_err(failed)?;
        let result = nic.alloc(window_beats * BEAT_BYTES, BEAT_BYTES).map_err(failed)?;
        let reports = nic.alloc(SLOTS * REPORT_BYTES, REPORT_BYTES).map_err(failed)?;
        let (rx, sent) = (VecDeque::new(), Vec::new());
        Ok((Self { nic, card, rx, sent, gradient, result, reports, job, now_ns: 0 }, nics))
    }

    /// Disables the card, discards incoming frames and configures the job again. Runs 50 us longer,
    /// so that the bench's clock catches up with the card's.
    ///
    /// # Errors
    /// A frame sent more than a microsecond after the card was disabled.
    pub fn restart(&mut self) -> Result<(), String> {
        self.nic.disable().map_err(|error| error.to_string())?;
        self.rx.clear();
        self.run_us(1);
        let sent = self.sent.len();
        self.run_us(5);
        if self.sent.len() > sent {
            return Err(format!("{} frames left a disabled card, expected none", self.sent.len() - sent));
        }
        self.nic.configure(&self.job).map_err(|error| error.to_string())?;
        self.run_us(50);
        self.sent.clear();
        self.accepted();
        Ok(())
    }

    /// Arms a window of `beats` in slot 0: cookie 1, step, bucket and base 0, bound 100 us,
    /// automatic broadcast, no early close, started by the local contribution only.
    pub fn arm(&self, beats: usize) -> Submission {
        let shards = ShardMap::new(beats, self.job.ranks, 0);
        Submission {
            opcode: OP_ARM,
            cookie: 1,
            flags: FLAG_AUTO_BROADCAST,
            beats: beats as u16,
            shard_quotient: shards.quotient as u16,
            shard_remainder: shards.remainder as u8,
            bound_ns: 100_000,
            host_beats: beats as u16,
            mark_packets: 1,
            host_address: self.result.iova,
            report_address: self.reports.iova,
            ..Submission::default()
        }
    }

    /// Contributes to the window of [`arm`](CardBench::arm).
    pub fn contribute(&self, beats: usize) -> Submission {
        let host_address = self.gradient.iova;
        Submission { opcode: OP_CONTRIBUTE, cookie: 1, host_beats: beats as u16, host_address, ..Submission::default() }
    }

    /// Submits commands and runs the card for 20 us.
    ///
    /// # Errors
    /// An error of the driver.
    pub fn submit(&mut self, commands: &[Submission]) -> Result<(), String> {
        for command in commands {
            self.nic.submit(command).map_err(|error| error.to_string())?;
        }
        self.nic.ring_doorbell().map_err(|error| error.to_string())?;
        self.run_us(20);
        Ok(())
    }

    /// As [`submit`](CardBench::submit), without the driver's checks.
    ///
    /// # Errors
    /// An error of the driver or of host memory.
    pub fn submit_unchecked(&mut self, command: &Submission) -> Result<(), String> {
        self.nic.submit(&Submission::default()).map_err(|error| error.to_string())?;
        let read = |register: &Register| u64::from(self.nic.bus().read(&register.of_queue(0)));
        let index = read(&reg::SQ_TAIL) & ((1 << read(&reg::SQ_LOG2)) - 1);
        let entry = (read(&reg::SQ_BASE_HI) << 32 | read(&reg::SQ_BASE_LO)) + index * ENTRY_BYTES as u64;
        self.nic.bus().dma().write(entry, &command.to_bytes()).map_err(|error| error.to_string())?;
        self.submit(&[])
    }

    /// Returns a packet with `beats` beats from beat `first` on, every lane `value`.
    pub fn packet(&self, ubt: UbtHeader, sender: usize, first: usize, beats: usize, value: f32) -> Vec<u8> {
        let (offset, payload_bytes) = ((first * BEAT_BYTES) as u32, beats * BEAT_BYTES);
        let ubt = UbtHeader { sender: sender as u16, offset, ..ubt };
        self.frame(ubt, sender, payload_bytes, value)
    }

    /// Returns a frame with any header.
    pub fn frame(&self, ubt: UbtHeader, sender: usize, payload_bytes: usize, value: f32) -> Vec<u8> {
        let mut header = [0; HEADER_BYTES];
        let (from, to) = (Endpoint::of_rank(sender), Endpoint::of_rank(0));
        write_header(&mut header, from, to, UDP_PORT_DEFAULT, &ubt, payload_bytes);
        let payload = value.to_le_bytes().into_iter().cycle().take(payload_bytes);
        header.into_iter().chain(payload).collect()
    }

    /// Injects frames, one per microsecond, and runs the card.
    pub fn inject(&mut self, frames: impl IntoIterator<Item = Vec<u8>>) {
        for frame in frames {
            self.rx.push_back(Arrival { at_ns: self.now_ns + 500, frame });
            self.run_us(1);
        }
        self.run_us(2);
    }

    /// Injects frames without gaps.
    pub fn burst(&mut self, frames: impl IntoIterator<Item = Vec<u8>>) {
        let at_ns = self.now_ns;
        self.rx.extend(frames.into_iter().map(|frame| Arrival { at_ns, frame }));
    }

    /// Runs the card until `done` accepts a cycle's completions. Returns the number of cycles.
    ///
    /// # Errors
    /// A timeout of `limit` cycles.
    pub fn cycles_until(
        &mut self,
        limit: u64,
        mut done: impl FnMut(&Self, &[Completion]) -> bool,
    ) -> Result<u64, String> {
        for cycle in 1..=limit {
            self.run_ns(CYCLE_NS);
            let completions = self.completions()?;
            if done(self, &completions) {
                return Ok(cycle);
            }
        }
        Err(format!("timeout after {limit} cycles"))
    }

    /// Runs the card, microsecond by microsecond.
    pub fn run_us(&mut self, us: u64) {
        (0..us).for_each(|_| self.run_ns(1000));
    }

    /// Runs the card. The host's writes take effect at the start.
    pub fn run_ns(&mut self, ns: u64) {
        self.now_ns += ns;
        let (until_ns, rx, sent) = (self.now_ns, &mut self.rx, &mut self.sent);
        self.card.with(|card| {
            card.sync_registers();
            card.run(until_ns, rx, sent);
        });
    }

    /// Returns the completions since the last call.
    ///
    /// # Errors
    /// An error of the driver.
    pub fn completions(&mut self) -> Result<Vec<Completion>, String> {
        let mut all = Vec::new();
        while let Some(completion) = self.nic.poll_completion().map_err(|error| error.to_string())? {
            all.push(completion);
        }
        Ok(all)
    }

    /// Returns the counters.
    ///
    /// # Errors
    /// An error of the driver.
    pub fn counters(&self) -> Result<Counters, String> {
        self.nic.counters().map_err(|error| error.to_string())
    }

    /// Returns the beats accepted since the last call.
    pub fn accepted(&mut self) -> Vec<Accept> {
        self.card.with(|card| card.take_trace())
    }

    /// Time of the card.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }
}
