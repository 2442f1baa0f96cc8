//! Cycles per payload beat of one card: receiving, sending, and both concurrently.
//!
//! Method: one cycle-level card with a MAC that moves one beat per cycle each way (128 Gb/s, faster
//! than a 100 Gb/s port). Frames of all peers arrive without gaps, interleaved packet by packet.
//! The card sends data read from host memory, Hadamard-encoded with n = 4096.
//!
//! * Receive: from the first accepted payload beat to the last.
//! * Send: from the last frame of the first window to the last frame of the last window. All beats
//!   of the later windows count, including the local shard, which is read and encoded but not sent.

use optireduce_contract::limits::{BEAT_BYTES, CYCLE_NS};
use optireduce_contract::packet::frame::OFFSET;
use optireduce_contract::packet::{FLAG_HADAMARD as PACKET_HADAMARD, STAGE_CONTRIBUTE, UbtHeader};
use optireduce_contract::queue::{FLAG_HADAMARD, Submission};
use optireduce_contract::shard::ShardMap;
use optireduce_hw::card::build::Build;
use serde::Serialize;

use crate::check::card_bench::{CardBench, JOB_TAG};
use crate::error::SimError;

/// Payloads of a full packet in beats: 1408 bytes (MTU 1500), 4032, 8896 (MTU 9000).
pub const PAYLOADS_BEATS: [usize; 3] = [22, 63, 139];
/// Numbers of peers.
pub const PEERS: [usize; 3] = [1, 4, 15];
/// Windows, and their beats: 256 KiB, so that a shard of 16 ranks holds a full packet.
const WINDOWS: usize = 3;
const WINDOW_BEATS: usize = 4096;
const LOG2_N: u8 = 12;

/// Payload beats in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)] // described above
pub struct Flow {
    /// From the first beat to the last, headers included.
    pub cycles: u64,
    pub payload_beats: u64,
    /// Header beats among `cycles`.
    pub header_beats: u64,
}

impl Flow {
    /// Cycles per payload beat, headers included.
    pub fn cycles_per_beat(&self) -> f64 {
        self.cycles as f64 / self.payload_beats as f64
    }

    /// Payload beats per cycle not spent on headers; 1 without bubbles.
    pub fn beats_per_payload_cycle(&self) -> f64 {
        self.payload_beats as f64 / (self.cycles - self.header_beats) as f64
    }
}

/// Cycles of receiving and sending, alone and concurrently.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)] // described above
pub struct Throughput {
    pub payload_bytes: usize,
    pub peers: usize,
    pub receive: Flow,
    pub send: Flow,
    pub both_receive: Flow,
    pub both_send: Flow,
}

/// Measures one row.
///
/// # Errors
/// An error of the card, or beats that were dropped or not received.
pub fn throughput(payload_beats: usize, peers: usize) -> Result<Throughput, SimError> {
    let measure = |receives, sends| Run::new(payload_beats, peers)?.flows(receives, sends);
    let (both_receive, both_send) = measure(true, true)?;
    Ok(Throughput {
        payload_bytes: payload_beats * BEAT_BYTES,
        peers,
        receive: measure(true, false)?.0,
        send: measure(false, true)?.1,
        both_receive,
        both_send,
    })
}

struct Run {
    bench: CardBench,
    payload_beats: usize,
    ranks: usize,
}

impl Run {
    fn new(payload_beats: usize, peers: usize) -> Result<Self, SimError> {
        let ranks = peers + 1;
        Ok(Self { bench: CardBench::unlimited(Build::BOARD, ranks, payload_beats)?, payload_beats, ranks })
    }

    fn flows(mut self, receives: bool, sends: bool) -> Result<(Flow, Flow), SimError> {
        let check = SimError::Check;
        let arms: Vec<_> = (0..WINDOWS).map(|window| self.arm(window)).collect();
        self.bench.submit(&arms).map_err(check)?;
        self.bench.accepted();
        let frames = if receives { self.contributions() } else { Vec::new() };
        let expected = frames.len() as u64;
        if sends {
            for window in 0..WINDOWS {
                let contribute =
                    Submission { slot: window as u8, cookie: window as u32 + 1, ..self.bench.contribute(WINDOW_BEATS) };
                self.bench.nic.submit(&contribute).map_err(|error| check(error.to_string()))?;
            }
            self.bench.nic.ring_doorbell().map_err(|error| check(error.to_string()))?;
        }
        self.bench.burst(frames);
        self.bench.run_us(200);

        let local = 0;
        let accepted: Vec<_> = self.bench.accepted().into_iter().filter(|beat| beat.sender != local).collect();
        let receive = Flow {
            cycles: accepted.first().zip(accepted.last()).map_or(0, |(a, b)| (b.at_ns - a.at_ns) / CYCLE_NS + 1),
            payload_beats: accepted.len() as u64,
            header_beats: expected.saturating_sub(1),
        };
        let ends = self.window_ends();
        let windows = ends.len().saturating_sub(1) as u64;
        let send = Flow {
            cycles: ends.first().zip(ends.last()).map_or(0, |(a, b)| (b.0 - a.0) / CYCLE_NS),
            payload_beats: windows * WINDOW_BEATS as u64,
            header_beats: ends.iter().skip(1).map(|end| end.1).sum(),
        };
        let per_peer = WINDOWS * ShardMap::new(WINDOW_BEATS, self.ranks, 0).range_of(0).len();
        let complete = receive.payload_beats as usize == if receives { per_peer * (self.ranks - 1) } else { 0 };
        if !complete || ends.len() != if sends { WINDOWS } else { 0 } {
            let counters = self.bench.counters().map_err(check)?;
            return Err(check(format!("beats are missing: {receive:?}, {send:?}, {counters:?}")));
        }
        Ok((receive, send))
    }

    /// Time of the last frame, and number of frames, by window.
    fn window_ends(&self) -> Vec<(u64, u64)> {
        let mut ends = Vec::new();
        for departure in &self.bench.sent {
            let offset =
                departure.frame[OFFSET.offset..OFFSET.end()].iter().fold(0, |all, byte| all << 8 | *byte as usize);
            let window = offset / (WINDOW_BEATS * BEAT_BYTES);
            ends.resize(ends.len().max(window + 1), (0, 0));
            ends[window] = (departure.at_ns, ends[window].1 + 1);
        }
        ends
    }

    fn arm(&self, window: usize) -> Submission {
        let arm = self.bench.arm(WINDOW_BEATS);
        Submission {
            slot: window as u8,
            cookie: window as u32 + 1,
            base: (window * WINDOW_BEATS * BEAT_BYTES) as u32,
            flags: FLAG_HADAMARD,
            log2_n: LOG2_N,
            log2_blocks: (WINDOW_BEATS * 16).ilog2() as u8 - LOG2_N,
            bound_ns: 1_000_000,
            ..arm
        }
    }

    /// Contributions of the peers, interleaved packet by packet.
    fn contributions(&self) -> Vec<Vec<u8>> {
        let header =
            UbtHeader { stage: STAGE_CONTRIBUTE, flags: PACKET_HADAMARD, job_tag: JOB_TAG, ..UbtHeader::default() };
        let local = ShardMap::new(WINDOW_BEATS, self.ranks, 0).range_of(0);
        let mut frames = Vec::new();
        for window in 0..WINDOWS {
            for first in local.clone().step_by(self.payload_beats) {
                let (at, length) = (window * WINDOW_BEATS + first, self.payload_beats.min(local.end - first));
                frames
                    .extend((1..self.ranks).map(|sender| self.bench.packet(header, sender, at, length, sender as f32)));
            }
        }
        frames
    }
}
