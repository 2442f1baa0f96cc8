//! A rank without a card on the simulated network: the host library's software data plane.
//!
//! It implements both [`Card`] and [`DataPlane`], so ranks with and without cards share a cluster.
//!
//! Model: the host's computing takes no time. The rank acts when a frame arrives, and its frames
//! leave at 100 Gb/s.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{
    Endpoint, HEADER_BYTES, STAGE_FEEDBACK, UBT_BYTES, UDP_PORT_DEFAULT, UbtHeader, frame, read_frame,
    udp_checksum_holds, write_header, write_udp_checksum,
};
use optireduce_contract::rules::accept::Cause;
use optireduce_contract::rules::filter::Filter;
use optireduce_core::protocol::{JobParams, Ranks, View, WindowPlan};
use optireduce_core::software::{Batch, Datagram, Software, SoftwareError, SoftwareJob};
use optireduce_core::{Capabilities, DataPlane, Memory, PlaneEvent, PlaneLimits, Values, WindowOutput};
use optireduce_driver::Counters;

use crate::card::{Accept, Card};
use crate::wire::wire_ps;
use crate::wire::{Arrival, Departure};

/// Clones share the state.
#[derive(Clone)]
pub struct SoftwareRank(Arc<Mutex<State>>);

struct State {
    software: Software,
    now_ns: u64,
    mac_free_ps: u64,
    /// Frames that a real kernel would drop.
    dropped: HashMap<Cause, u32>,
}

impl SoftwareRank {
    /// `rate_bytes_per_us`: rate to each peer in bytes on the wire; 0 means line rate.
    ///
    /// # Errors
    /// If the job's parameters are invalid.
    pub fn new(job: SoftwareJob, rate_bytes_per_us: u32) -> Result<Self, SoftwareError> {
        let ranks = job.ranks;
        let mut software = Software::new(job)?;
        (0..ranks).try_for_each(|peer| software.set_rate(peer, rate_bytes_per_us))?;
        // Enables recording of accepted beats.
        software.take_trace();
        let state = State { software, now_ns: 0, mac_free_ps: 0, dropped: HashMap::new() };
        Ok(Self(Arc::new(Mutex::new(state))))
    }

    pub fn keep_unannounced(&self, bytes_max: usize) {
        self.lock().software.keep_unannounced(bytes_max);
    }

    pub fn counters(&self) -> Counters {
        let state = self.lock();
        let found = state.software.counters();
        let dropped = |cause| state.dropped.get(&cause).copied().unwrap_or(0);
        Counters {
            rx_packets: found.rx_packets as u32 + state.dropped.values().sum::<u32>(),
            tx_packets: found.tx_packets as u32,
            rx_bad: dropped(Cause::Bad),
            drop_foreign: dropped(Cause::Foreign),
            drop_mac: dropped(Cause::Mac),
            drop_ip_checksum: dropped(Cause::IpChecksum),
            drop_ip: dropped(Cause::Ip),
            drop_source: found.drop_source as u32,
            drop_too_long: found.drop_too_long as u32,
            drop_malformed: found.drop_malformed as u32 + dropped(Cause::Malformed),
            drop_version: found.drop_version as u32,
            drop_job: found.drop_job as u32,
            drop_no_window: (found.drop_no_window + found.drop_unexpected) as u32,
            drop_flags: found.drop_flags as u32,
            drop_out_of_shard: found.drop_out_of_shard as u32,
            drop_late_beats: found.drop_late_beats as u32,
            drop_duplicate_beats: found.drop_duplicate_beats as u32,
            drop_stale: found.drop_stale as u32,
            ..Counters::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn receive(&mut self, frame: &[u8]) {
        let Some(header) = frame.first_chunk::<HEADER_BYTES>() else { return };
        // The kernel checks integrity, address and port; the data plane checks the rest.
        let local = Endpoint::of_rank(self.software.job().rank);
        let (udp_port, payload_beats) = (UDP_PORT_DEFAULT, usize::from(u16::MAX) / BEAT_BYTES);
        let filter = Filter { local, udp_port, job_tag: 0, payload_beats, peers: &[] };
        let judged = match udp_checksum_holds(frame) {
            true => filter.check_header(header),
            false => Err(Cause::Bad),
        };
        // To a kernel, feedback is an ordinary datagram without payload.
        let is_feedback = frame.len() == HEADER_BYTES && header[frame::VERSION_STAGE.offset] & 0xf == STAGE_FEEDBACK;
        let payload = || if is_feedback { Ok(0) } else { read_frame(header, frame.len(), UDP_PORT_DEFAULT) };
        let judged = judged.and_then(|()| Ok(payload()?));
        if let Err(cause) = judged {
            *self.dropped.entry(cause).or_default() += 1;
            return;
        }
        let source = frame::IP_SRC;
        let is_from = |rank: &usize| Endpoint::of_rank(*rank).ip == header[source.offset..source.end()];
        let from = (0..self.software.job().ranks).find(is_from);
        self.software.handle_datagram(from, &frame[HEADER_BYTES - UBT_BYTES..]);
    }

    fn transmit(&mut self, tx: &mut Vec<Departure>) {
        let rank = self.software.job().rank;
        let one = Batch { segments_max: 1, bytes_max: usize::MAX };
        while let Some(transmit) = self.software.poll_transmit(one) {
            let (from, to) = (Endpoint::of_rank(rank), Endpoint::of_rank(transmit.to));
            for Datagram { header, payload, .. } in transmit.datagrams() {
                let ubt = UbtHeader::of_any_job(header);
                let mut header = [0; HEADER_BYTES];
                write_header(&mut header, from, to, UDP_PORT_DEFAULT, &ubt, payload.len());
                let mut frame = [&header, payload].concat();
                write_udp_checksum(&mut frame);
                self.mac_free_ps = self.mac_free_ps.max(self.now_ns * 1000) + wire_ps(frame.len());
                tx.push(Departure { at_ns: self.mac_free_ps.div_ceil(1000), frame });
            }
        }
    }
}

impl Card for SoftwareRank {
    fn run(&mut self, until_ns: u64, rx: &mut VecDeque<Arrival>, tx: &mut Vec<Departure>) {
        let mut state = self.lock();
        loop {
            let arrival = rx.front().map(|arrival| arrival.at_ns);
            let next = [arrival, state.software.next_timeout()].into_iter().flatten().min();
            let Some(next_ns) = next.filter(|at_ns| *at_ns < until_ns) else { break };
            state.now_ns = state.now_ns.max(next_ns);
            let now_ns = state.now_ns;
            state.software.advance(now_ns);
            while let Some(arrival) = rx.pop_front_if(|arrival| arrival.at_ns <= now_ns) {
                state.receive(&arrival.frame);
            }
            state.transmit(tx);
        }
        state.now_ns = state.now_ns.max(until_ns);
    }

    fn now_ns(&self) -> u64 {
        self.lock().now_ns
    }

    fn next_wake_ns(&self) -> Option<u64> {
        let state = self.lock();
        state.software.next_timeout().map(|at_ns| at_ns.max(state.now_ns))
    }

    fn cycles(&self) -> u64 {
        0
    }

    fn sync_registers(&mut self) {}

    fn take_trace(&mut self) -> Vec<Accept> {
        let accept = |one: optireduce_core::software::Accepted| Accept {
            at_ns: one.at_ns,
            cookie: one.cookie,
            stage: one.stage.on_wire(),
            position: one.position as u16,
            sender: one.sender as u8,
        };
        self.lock().software.take_trace().into_iter().map(accept).collect()
    }
}

impl DataPlane for SoftwareRank {
    type Error = SoftwareError;

    fn limits(&self) -> PlaneLimits {
        self.lock().software.limits()
    }

    fn capabilities(&self) -> Capabilities {
        self.lock().software.capabilities()
    }

    fn late_bytes(&self) -> Option<u64> {
        self.lock().software.late_bytes()
    }

    fn set_rate(&mut self, peer: usize, rate_bytes_per_us: u32) -> Result<(), SoftwareError> {
        self.lock().software.set_rate(peer, rate_bytes_per_us)
    }

    fn announce(&mut self, view: &View) {
        let mut state = self.lock();
        let now_ns = state.now_ns;
        state.software.set_now(now_ns);
        state.software.announce(view);
    }

    fn enter(&mut self, view: &View) -> Result<bool, SoftwareError> {
        self.lock().software.enter(view)
    }

    fn take_heard(&mut self) -> Ranks {
        self.lock().software.take_heard()
    }

    fn set_gone(&mut self, rank: usize, is_gone: bool) {
        self.lock().software.set_gone(rank, is_gone);
    }

    fn lend(&mut self, memory: Memory, values: Values) {
        self.lock().software.lend(memory, values);
    }

    fn reclaim(&mut self, memory: Memory) -> Option<Values> {
        self.lock().software.reclaim(memory)
    }

    fn relocate(&mut self, memory: Memory, values: Values) -> Result<Values, Values> {
        self.lock().software.relocate(memory, values)
    }

    fn arm(&mut self, plan: &WindowPlan, params: &JobParams) -> Result<(), SoftwareError> {
        self.lock().software.arm(plan, params)
    }

    fn contribute(&mut self, plan: &WindowPlan) -> Result<(), SoftwareError> {
        let mut state = self.lock();
        let now_ns = state.now_ns;
        state.software.advance(now_ns);
        state.software.contribute(plan)
    }

    fn flush(&mut self) -> Result<(), SoftwareError> {
        self.lock().software.flush()
    }

    fn poll(&mut self) -> Result<Option<PlaneEvent>, SoftwareError> {
        self.lock().software.poll()
    }

    fn take_result(&mut self, plan: &WindowPlan, look: &mut dyn FnMut(WindowOutput<'_>)) -> Result<(), SoftwareError> {
        self.lock().software.take_result(plan, look)
    }

    fn cancel(&mut self, plan: &WindowPlan) -> Result<(), SoftwareError> {
        self.lock().software.cancel(plan)
    }
}
