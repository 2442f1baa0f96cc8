//! One window slot of the functional card: accumulator, gather memory, the two stage gates.

use std::ops::Range;

use optireduce_contract::limits::{BEAT_BYTES, LANES, RANKS_MAX};
use optireduce_contract::packet::{self, STAGE_BROADCAST, STAGE_CONTRIBUTE};
use optireduce_contract::queue::{
    CLOSED_COMPLETE, CLOSED_DEADLINE, CLOSED_EARLY, FLAG_AUTO_BROADCAST, FLAG_BF16, FLAG_EARLY, FLAG_HADAMARD,
    STAGE_REPORT_BYTES, Submission,
};
use optireduce_contract::shard::{ShardMap, interleaved};
use optireduce_hw::bf16;
use optireduce_hw::fp_add_model::fp_add;
use optireduce_hw::fp_mul_model::fp_mul;
use optireduce_hw::hadamard::model::transform_block;
use optireduce_hw::recip_rom::recip;

use crate::card::Accept;

/// One beat: sixteen fp32 lanes as bits.
pub type Lanes = [u32; LANES];

/// -0.0: the identity of IEEE-754 addition.
const ACC_START: u32 = 0x8000_0000;
const ONE: u32 = 0x3f80_0000;

/// An armed window.
pub struct Window {
    /// The command that armed it.
    pub arm: Submission,
    /// The queue pair that armed it.
    pub queue: usize,
    /// How it is cut.
    pub shards: ShardMap,
    rank: usize,
    /// The shard this rank aggregates.
    pub own: Range<usize>,
    acc: Vec<Lanes>,
    arrived: Vec<u64>,
    gather: Vec<Option<Lanes>>,
    /// Contribute and broadcast gate.
    pub gates: [Gate; 2],
    received: [[u16; RANKS_MAX]; 2],
    /// A gradient read is under way.
    pub reading: bool,
    /// The own contribution was commanded: it may be only once.
    pub contributed: bool,
    /// The mean goes out as soon as the contribute gate has closed.
    pub broadcast_wanted: bool,
    /// The final completion is under way.
    pub finishing: bool,
    /// An access to host memory for this window failed.
    pub dma_failed: bool,
    /// When its last frame so far has left.
    pub sent_ns: u64,
}

/// The receiving side of one stage: what is expected, what came, when it closes.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// Beats that peers are to send.
    pub expected: u32,
    /// Beats that peers sent.
    pub received: u32,
    /// Own beats to come.
    own_missing: u32,
    /// Ranks heard.
    pub heard: u64,
    marked: u64,
    /// Peers that have something to send in this stage.
    senders: u64,
    entered: bool,
    /// Start of the clock.
    pub clock_ns: Option<u64>,
    last_packet_ns: u64,
    /// When the gate closed, and `CLOSED_*`.
    pub closed: Option<(u64, u8)>,
}

impl Gate {
    /// This rank enters the stage.
    pub fn enter(&mut self, now_ns: u64) {
        self.entered = true;
        self.clock_ns.get_or_insert(now_ns);
    }

    /// When the gate closes if nothing more comes, and by which rule; `None` while it waits for its clock or after.
    pub fn due(&self, arm: &Submission, now_ns: u64) -> Option<(u64, u8)> {
        let clock_ns = self.clock_ns.filter(|_| self.closed.is_none())?;
        if self.expected == self.received && self.own_missing == 0 {
            return Some((now_ns, CLOSED_COMPLETE));
        }
        let deadline = (clock_ns + u64::from(arm.bound_ns), CLOSED_DEADLINE);
        let all_marked = self.entered && self.own_missing == 0 && self.senders & !self.marked == 0;
        if arm.flags & FLAG_EARLY != 0 && all_marked {
            return Some(deadline.min((self.last_packet_ns + u64::from(arm.grace_ns), CLOSED_EARLY)));
        }
        Some(deadline)
    }
}

/// A packet on its way to a gate.
pub struct Packet<'a> {
    /// 0 contribute, 1 broadcast.
    pub stage: usize,
    /// Rank that sent it.
    pub sender: usize,
    /// Whether it carries the last-percentile mark.
    pub marked: bool,
    /// Its first beat of the window.
    pub first: usize,
    /// Its beats.
    pub beats: &'a [Lanes],
}

/// What became of a packet's beats at its gate.
#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    /// The gate had closed.
    Late,
    /// The gate was open; this many beats had come before.
    Open {
        /// Beats that had come before.
        duplicates: u32,
    },
}

impl Window {
    /// Opens both gates of the window that `arm` describes.
    pub fn new(arm: Submission, queue: usize, rank: usize, ranks: usize) -> Self {
        let shards = ShardMap {
            quotient: usize::from(arm.shard_quotient),
            remainder: usize::from(arm.shard_remainder),
            ranks,
            rotation: usize::from(arm.rotation),
        };
        let own = shards.range_of(rank);
        let peers = (0..ranks).filter(|peer| *peer != rank);
        let sending = |stage: u8, peer: usize| match stage {
            STAGE_CONTRIBUTE => !own.is_empty(),
            _ => !shards.range_of(peer).is_empty(),
        };
        let gate = |stage, expected: usize, own_missing: usize| Gate {
            expected: expected as u32,
            own_missing: own_missing as u32,
            senders: peers.clone().filter(|peer| sending(stage, *peer)).fold(0, |mask, peer| mask | 1 << peer),
            ..Gate::default()
        };
        let beats = usize::from(arm.beats);
        let gates =
            [gate(STAGE_CONTRIBUTE, (ranks - 1) * own.len(), own.len()), gate(STAGE_BROADCAST, beats - own.len(), 0)];
        Self {
            arm,
            queue,
            shards,
            rank,
            acc: vec![[ACC_START; LANES]; own.len()],
            arrived: vec![0; own.len()],
            own,
            gather: vec![None; beats],
            gates,
            received: [[0; RANKS_MAX]; 2],
            contributed: false,
            reading: false,
            broadcast_wanted: arm.flags & FLAG_AUTO_BROADCAST != 0,
            finishing: false,
            dma_failed: false,
            sent_ns: 0,
        }
    }

    /// Whether packets of this window are Hadamard-encoded.
    pub fn hadamard(&self) -> bool {
        self.arm.flags & FLAG_HADAMARD != 0
    }

    /// Whether packets of this window are bf16.
    pub fn bf16(&self) -> bool {
        self.arm.flags & FLAG_BF16 != 0
    }

    /// The flags of this window's packets, but for the mark.
    pub fn packet_flags(&self) -> u8 {
        (u8::from(self.hadamard()) * packet::FLAG_HADAMARD) | (u8::from(self.bf16()) * packet::FLAG_BF16)
    }

    /// The beats that `sender` may send in a stage (0 contribute, 1 broadcast).
    pub fn allowed(&self, stage: usize, sender: usize) -> Range<usize> {
        if stage == 0 { self.own.clone() } else { self.shards.range_of(sender) }
    }

    /// A peer's packet of whole beats, inside [`allowed`](Window::allowed), comes to the gate of its stage.
    pub fn take_packet(&mut self, now_ns: u64, packet: &Packet<'_>, trace: &mut Vec<Accept>) -> Taken {
        let &Packet { stage, sender, marked, first, beats } = packet;
        let gate = &mut self.gates[stage];
        if gate.closed.is_some() {
            return Taken::Late;
        }
        gate.heard |= 1 << sender;
        gate.marked |= u64::from(marked) << sender;
        gate.last_packet_ns = now_ns;
        if self.arm.start_peers > 0 && gate.heard.count_ones() >= u32::from(self.arm.start_peers) {
            gate.clock_ns.get_or_insert(now_ns);
        }
        let mut duplicates = 0;
        for (position, lanes) in (first..).zip(beats) {
            let fresh = if stage == 0 {
                self.add(position, sender, lanes)
            } else {
                let place = &mut self.gather[position];
                place.is_none() && place.replace(*lanes).is_none()
            };
            if fresh {
                self.gates[stage].received += 1;
                self.received[stage][sender] += 1;
                trace.push(self.accept(now_ns, stage, position, sender));
            } else {
                duplicates += 1;
            }
        }
        Taken::Open { duplicates }
    }

    /// This rank's own contribution (the whole window, encoded) reaches the accumulator.
    pub fn take_own(&mut self, now_ns: u64, contribution: &[Lanes], trace: &mut Vec<Accept>) {
        if self.gates[0].closed.is_some() {
            return;
        }
        for position in self.own.clone() {
            if self.add(position, self.rank, &contribution[position]) {
                self.received[0][self.rank] += 1;
                self.gates[0].own_missing -= 1;
                trace.push(self.accept(now_ns, 0, position, self.rank));
            }
        }
    }

    /// Closes a gate. The contribute gate's mean becomes part of the result, and the broadcast stage is entered.
    pub fn close(&mut self, stage: usize, now_ns: u64, by: u8) {
        self.gates[stage].closed = Some((now_ns, by));
        if stage == 0 {
            for (index, position) in self.own.clone().enumerate() {
                let count = self.arrived[index].count_ones();
                if count > 0 {
                    let mean = self.acc[index].map(|sum| fp_mul(sum, recip(count)));
                    self.gather[position] = Some(self.for_the_wire(mean));
                }
            }
            self.gates[1].enter(now_ns);
        }
    }

    /// The mean of an own beat, once the contribute gate has closed; `None` if no contribution to it came.
    pub fn mean(&self, position: usize) -> Option<&Lanes> {
        self.gather[position].as_ref()
    }

    /// Own beats that were summed.
    pub fn own_beats(&self) -> u16 {
        self.received[0][self.rank]
    }

    /// The stage report as it goes to host memory.
    pub fn report(&self, stage: usize) -> [u8; STAGE_REPORT_BYTES] {
        let mut out = [0; STAGE_REPORT_BYTES];
        for (field, beats) in out.chunks_exact_mut(2).zip(self.received[stage]) {
            field.copy_from_slice(&beats.to_le_bytes());
        }
        out
    }

    /// A beat as peers will see it: in a bf16 window rounded, so that all ranks hold the same bits.
    fn for_the_wire(&self, lanes: Lanes) -> Lanes {
        if self.bf16() { lanes.map(bf16::round) } else { lanes }
    }

    /// This rank's contribution from the bytes of its gradient: padded, encoded, interleaved, rounded if it is bf16.
    pub fn encode(&self, gradient: &[u8]) -> Vec<Lanes> {
        self.encoded(gradient).into_iter().map(|lanes| self.for_the_wire(lanes)).collect()
    }

    fn encoded(&self, gradient: &[u8]) -> Vec<Lanes> {
        let mut beats = vec![[0; LANES]; self.gather.len()];
        for (beat, bytes) in beats.iter_mut().zip(gradient.chunks_exact(BEAT_BYTES)) {
            *beat = lanes_of(bytes);
        }
        if !self.hadamard() {
            return beats;
        }
        let mut out = beats.clone();
        let blocks = 1 << self.arm.log2_blocks;
        for (block, source) in beats.chunks_exact(self.block_beats()).enumerate() {
            let encoded = self.transform(source, false, block);
            for (beat, lanes) in encoded.into_iter().enumerate() {
                out[interleaved(block, beat, blocks)] = lanes;
            }
        }
        out
    }

    /// The result as it goes to host memory: `host_beats` beats, missing ones zero, decoded and rescaled.
    pub fn result(&self) -> Vec<u8> {
        let mut beats = if self.hadamard() { self.decode() } else { self.plain() };
        beats.truncate(usize::from(self.arm.host_beats));
        beats.iter().flatten().flat_map(|lane| lane.to_le_bytes()).collect()
    }

    fn plain(&self) -> Vec<Lanes> {
        self.gather.iter().map(|beat| beat.map_or([0; LANES], |lanes| lanes.map(|lane| fp_mul(lane, ONE)))).collect()
    }

    fn decode(&self) -> Vec<Lanes> {
        let (blocks, block_beats) = (1 << self.arm.log2_blocks, self.block_beats());
        let mut out = Vec::with_capacity(self.gather.len());
        for block in 0..blocks {
            let came: Vec<_> = (0..block_beats).map(|beat| self.gather[interleaved(block, beat, blocks)]).collect();
            let received = came.iter().flatten().count() as u32;
            let source: Vec<_> = came.into_iter().map(|beat| beat.unwrap_or([0; LANES])).collect();
            if received == 0 {
                out.extend(source);
                continue;
            }
            let ratio = fp_mul((block_beats as f32).to_bits(), recip(received));
            let decoded = self.transform(&source, true, block);
            out.extend(decoded.into_iter().map(|lanes| lanes.map(|lane| fp_mul(lane, ratio))));
        }
        out
    }

    fn transform(&self, beats: &[Lanes], decode: bool, block: usize) -> Vec<Lanes> {
        let mut x: Vec<f32> = beats.iter().flatten().map(|lane| f32::from_bits(*lane)).collect();
        let first_beat = (block * self.block_beats()) as u32;
        transform_block(&mut x, u32::from(self.arm.log2_n), decode, self.arm.sign_key, first_beat);
        x.chunks_exact(LANES).map(|lanes| std::array::from_fn(|i| lanes[i].to_bits())).collect()
    }

    fn block_beats(&self) -> usize {
        (1 << self.arm.log2_n) / LANES
    }

    /// Sums a contribution unless this beat of this sender has come before.
    fn add(&mut self, position: usize, sender: usize, lanes: &Lanes) -> bool {
        let index = position - self.own.start;
        if self.arrived[index] >> sender & 1 == 1 {
            return false;
        }
        self.arrived[index] |= 1 << sender;
        for (sum, lane) in self.acc[index].iter_mut().zip(lanes) {
            *sum = fp_add(*sum, *lane);
        }
        true
    }

    fn accept(&self, at_ns: u64, stage: usize, position: usize, sender: usize) -> Accept {
        let stage = [STAGE_CONTRIBUTE, STAGE_BROADCAST][stage];
        Accept { at_ns, cookie: self.arm.cookie, stage, position: position as u16, sender: sender as u8 }
    }
}

/// Reads a beat from its 64 bytes.
pub fn lanes_of(bytes: &[u8]) -> Lanes {
    std::array::from_fn(|i| u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]))
}
