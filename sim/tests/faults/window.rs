//! One window of two ranks: a card that a driver brings into a state, and a peer that is a socket.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{Endpoint, STAGE_BROADCAST, STAGE_CONTRIBUTE, UbtHeader};
use optireduce_contract::queue::{
    CLOSED_COMPLETE, Completion, DONE_BROADCAST, DONE_CONTRIBUTE, FLAG_AUTO_BROADCAST, OP_ARM, OP_CONTRIBUTE,
    REPORT_BYTES, STATUS_DMA_ERROR, STATUS_OK, Submission,
};
use optireduce_contract::shard::ShardMap;
use optireduce_driver::{CardBus, DmaBuffer, DriverError, JobConfig, Nic};
use optireduce_sim::check::card_bench::{JOB_TAG, bench_job};

const BEATS: usize = 100;
const LANES: usize = BEAT_BYTES / 4;
const PAYLOAD_BEATS: usize = 4;
const DMA_BYTES: usize = 1 << 20;
/// Values of this rank and its peer, their mean, and the peer's mean for its own shard.
const OWN: f32 = 3.0;
const PEER: f32 = 5.0;
const MEAN: f32 = 4.0;
const OTHER_MEAN: f32 = 7.0;
/// Interval of the peer's retransmits, since packets before arming are dropped.
const AGAIN: Duration = Duration::from_millis(5);
/// Far longer than any wait.
pub const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Idle,
    Armed,
    Contributing,
    Broadcasting,
}

pub const STATES: [State; 4] = [State::Idle, State::Armed, State::Contributing, State::Broadcasting];

pub struct Window {
    pub nic: Nic<CardBus>,
    peer: Peer,
    arm: Submission,
    contribute: Submission,
    result: DmaBuffer,
    state: State,
}

impl Window {
    /// `port` is the card's UDP port.
    pub fn open(socket: &Path, port: u16) -> Result<Self, DriverError> {
        let mut nic = Nic::open(CardBus::open(socket.to_str().unwrap(), DMA_BYTES)?)?;
        // Cards drop packets from other addresses.
        let endpoints = vec![Endpoint::of_ip(Ipv4Addr::LOCALHOST.octets()); 2];
        let job = JobConfig { udp_port: port, endpoints, ..bench_job(2, PAYLOAD_BEATS) };
        nic.configure(&job)?;
        let [gradient, result] = [(); 2].map(|()| nic.alloc(BEATS * BEAT_BYTES, BEAT_BYTES).unwrap());
        let reports = nic.alloc(REPORT_BYTES, REPORT_BYTES).unwrap();
        nic.write_f32(gradient, 0, &[OWN; BEATS * LANES])?;
        nic.write_f32(result, 0, &[f32::NAN; BEATS * LANES])?;
        let shards = ShardMap::new(BEATS, 2, 0);
        let arm = Submission {
            opcode: OP_ARM,
            cookie: 1,
            flags: FLAG_AUTO_BROADCAST,
            beats: BEATS as u16,
            shard_quotient: shards.quotient as u16,
            shard_remainder: shards.remainder as u8,
            // 4 s: stages close because they are complete.
            bound_ns: u32::MAX,
            host_beats: BEATS as u16,
            mark_packets: 1,
            host_address: result.iova,
            report_address: reports.iova,
            ..Submission::default()
        };
        let (cookie, host_beats, host_address) = (1, BEATS as u16, gradient.iova);
        let contribute =
            Submission { opcode: OP_CONTRIBUTE, cookie, host_beats, host_address, ..Submission::default() };
        Ok(Self { nic, peer: Peer::new(port), arm, contribute, result, state: State::Idle })
    }

    /// Moves the next address used after `state` beyond the memory.
    pub fn misplace(&mut self, state: State) {
        let (iova, bytes) = (optireduce_driver::Bus::dma(self.nic.bus()).iova(), DMA_BYTES as u64);
        match state {
            State::Idle | State::Armed => self.contribute.host_address = iova + bytes,
            State::Contributing => self.arm.report_address = iova + bytes,
            State::Broadcasting => self.arm.host_address = iova + bytes,
        }
    }

    /// The card stays in the state because the peer is silent.
    pub fn reach(&mut self, state: State) {
        if state >= State::Armed {
            self.command(self.arm).unwrap();
            self.until(|nic| nic.counters().unwrap().sq_head == 1);
        }
        if state >= State::Contributing {
            self.command(self.contribute).unwrap();
            // The gradient has been read once the peer's shard has left.
            self.until(|nic| nic.counters().unwrap().tx_packets >= 13);
        }
        if state >= State::Broadcasting {
            self.peer.send(STAGE_CONTRIBUTE);
            let done = self.nic.wait_completion(PATIENCE).unwrap();
            assert_eq!((done.opcode, done.closed_by), (DONE_CONTRIBUTE, CLOSED_COMPLETE), "{done:?}");
        }
        self.state = state;
    }

    /// `timeout` applies to each completion. A completion without success is an error.
    pub fn finish(&mut self, timeout: Duration) -> Result<(), String> {
        let (peer, over) = (self.peer.clone(), AtomicBool::new(false));
        let completions = std::thread::scope(|threads| {
            threads.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    peer.send(STAGE_CONTRIBUTE);
                    peer.send(STAGE_BROADCAST);
                    std::thread::sleep(AGAIN);
                }
            });
            let done = self.rest(timeout);
            over.store(true, Ordering::Relaxed);
            done
        })?;
        let mut means = vec![0.0; BEATS * LANES];
        self.nic.read_f32(self.result, 0, &mut means).map_err(|error| error.to_string())?;
        let own = ShardMap::new(BEATS, 2, 0).range_of(0).len() * LANES;
        let expected = |at: usize| if at < own { MEAN } else { OTHER_MEAN };
        let wrong = means.iter().enumerate().find(|(at, mean)| **mean != expected(*at));
        match completions.iter().find(|done| done.closed_by != CLOSED_COMPLETE) {
            None => wrong.map_or(Ok(()), |(at, mean)| Err(format!("element {at} of the result is {mean}"))),
            Some(done) => Err(format!("a stage that is not whole: {done:?}")),
        }
    }

    fn rest(&mut self, timeout: Duration) -> Result<Vec<Completion>, String> {
        let (commands, state) = ([(State::Armed, self.arm), (State::Contributing, self.contribute)], self.state);
        for (_, command) in commands.into_iter().filter(|(brings_to, _)| state < *brings_to) {
            self.command(command).map_err(|error| error.to_string())?;
        }
        let mut all = Vec::new();
        while all.last().is_none_or(|done: &Completion| done.opcode != DONE_BROADCAST) {
            let done = self.nic.wait_completion(timeout).map_err(|error| error.to_string())?;
            match done.status {
                STATUS_OK => all.push(done),
                STATUS_DMA_ERROR => return Err("a completion with status DMA_ERROR".to_owned()),
                other => return Err(format!("a completion with status {other}")),
            }
        }
        Ok(all)
    }

    fn command(&mut self, command: Submission) -> Result<(), DriverError> {
        self.nic.submit(&command)?;
        self.nic.ring_doorbell()
    }

    fn until(&self, is_so: impl Fn(&Nic<CardBus>) -> bool) {
        let begin = Instant::now();
        while !is_so(&self.nic) {
            assert!(begin.elapsed() < PATIENCE, "the state is not reached");
            std::thread::yield_now();
        }
    }
}

/// Rank 1.
#[derive(Clone)]
struct Peer {
    socket: std::sync::Arc<UdpSocket>,
    card: SocketAddr,
}

impl Peer {
    fn new(port: u16) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().into();
        Self { socket, card: (Ipv4Addr::LOCALHOST, port).into() }
    }

    /// Sends the peer's contribution to the card's shard, or its mean.
    fn send(&self, stage: u8) {
        let (shard, value) = if stage == STAGE_CONTRIBUTE { (0, PEER) } else { (1, OTHER_MEAN) };
        let beats: Vec<usize> = ShardMap::new(BEATS, 2, 0).range_of(shard).collect();
        for beats in beats.chunks(PAYLOAD_BEATS) {
            let offset = (beats[0] * BEAT_BYTES) as u32;
            let header = UbtHeader { stage, offset, sender: 1, job_tag: JOB_TAG, ..UbtHeader::default() };
            let payload = value.to_le_bytes().repeat(beats.len() * LANES);
            // Fails if the card's process has ended.
            let _ = self.socket.send_to(&[&header.to_bytes()[..], &payload].concat(), self.card);
        }
    }
}
