//! A window of the functional card: accumulator, gather memory and both gates.

use std::ops::Range;

use optireduce_contract::limits::{BEAT_BYTES, LANES, RANKS_MAX};
use optireduce_contract::packet::{STAGE_BROADCAST, STAGE_CONTRIBUTE};
use optireduce_contract::queue::{FLAG_AUTO_BROADCAST, STAGE_REPORT_BYTES, Submission};
use optireduce_contract::ranks::CardRanks;
use optireduce_contract::rules::accept::Place;
use optireduce_contract::rules::command::Armed;
use optireduce_contract::rules::gate::{self, Gate};
use optireduce_contract::rules::{self, ClosedBy, Stage};
use optireduce_contract::shard::interleaved;
use optireduce_hw::arith::bf16;
use optireduce_hw::arith::fp_add_model::fp_add;
use optireduce_hw::arith::fp_mul_model::fp_mul;
use optireduce_hw::arith::recip_rom::recip;
use optireduce_hw::hadamard::model::transform_block;

use crate::card::Accept;

/// Sixteen fp32 lanes as bits.
pub type Lanes = [u32; LANES];

/// -0.0: the identity of IEEE-754 addition.
const ACC_START: u32 = 0x8000_0000;
const ONE: u32 = 0x3f80_0000;

pub struct Window {
    pub arm: Submission,
    pub queue: usize,
    pub shape: rules::Window,
    pub rules: gate::Rules,
    rank: usize,
    /// Shard that this rank aggregates.
    pub local: Range<usize>,
    acc: Vec<Lanes>,
    arrived: Vec<CardRanks>,
    gather: Vec<Option<Lanes>>,
    /// Indexed by stage.
    pub gates: [Gate<[u64; 1]>; 2],
    received: [[u16; RANKS_MAX]; 2],
    pub reading: bool,
    /// The contribute command is accepted only once.
    pub contributed: bool,
    /// Advertised timeout, from the contribute command; 0 before it.
    pub timeout_16us: u16,
    /// Advertised incast, as `timeout_16us`.
    pub incast: u8,
    /// Set if the mean is sent once the contribute gate has closed.
    pub broadcast_wanted: bool,
    pub finishing: bool,
    pub dma_failed: bool,
    /// Departure of the last frame so far.
    pub sent_ns: u64,
    /// Time when the contribute stage's report is in host memory.
    pub reported_ns: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Taken {
    Late,
    Open { duplicates: u32 },
}

impl Window {
    pub fn new(arm: Submission, queue: usize, rank: usize, ranks: usize) -> Self {
        let shape = rules::Window::of(&arm, ranks);
        let local = shape.shards.range_of(rank);
        let gates = Stage::ALL.map(|stage| Gate::of(stage, &shape, rank, CardRanks::default()));
        Self {
            arm,
            queue,
            rules: gate::Rules::of(&arm),
            rank,
            acc: vec![[ACC_START; LANES]; local.len()],
            arrived: vec![CardRanks::default(); local.len()],
            local,
            gather: vec![None; shape.beats],
            shape,
            gates,
            received: [[0; RANKS_MAX]; 2],
            contributed: false,
            timeout_16us: 0,
            incast: 0,
            reading: false,
            broadcast_wanted: arm.flags & FLAG_AUTO_BROADCAST != 0,
            finishing: false,
            dma_failed: false,
            sent_ns: 0,
            reported_ns: 0,
        }
    }

    pub fn as_armed(&self) -> Armed<'_> {
        Armed {
            arm: &self.arm,
            queue: self.queue,
            contributed: self.contributed,
            has_mean: !self.gates[0].is_open(),
            finishing: self.finishing,
        }
    }

    pub fn take_packet(&mut self, now_ns: u64, place: &Place, beats: &[Lanes], trace: &mut Vec<Accept>) -> Taken {
        let (stage, sender) = (place.stage.index(), place.sender);
        if !self.gates[stage].is_open() {
            return Taken::Late;
        }
        self.gates[stage].hear(now_ns, sender, place.marked, &self.rules);
        let mut duplicates = 0;
        for (position, lanes) in place.beats.clone().zip(beats) {
            let fresh = if stage == 0 {
                self.add(position, sender, lanes)
            } else {
                let place = &mut self.gather[position];
                place.is_none() && place.replace(*lanes).is_none()
            };
            if fresh {
                self.gates[stage].take(1);
                self.received[stage][sender] += 1;
                trace.push(self.accept(now_ns, stage, position, sender));
            } else {
                duplicates += 1;
            }
        }
        Taken::Open { duplicates }
    }

    pub fn take_own(&mut self, now_ns: u64, contribution: &[Lanes], trace: &mut Vec<Accept>) {
        if !self.gates[0].is_open() {
            return;
        }
        for position in self.local.clone() {
            if self.add(position, self.rank, &contribution[position]) {
                self.received[0][self.rank] += 1;
                self.gates[0].take_own(1);
                trace.push(self.accept(now_ns, 0, position, self.rank));
            }
        }
    }

    /// Closing the contribute gate computes the mean and enters the broadcast stage.
    pub fn close(&mut self, stage: usize, now_ns: u64, by: ClosedBy) {
        self.gates[stage].close(now_ns, by);
        if stage == 0 {
            for (index, position) in self.local.clone().enumerate() {
                let count = self.arrived[index].len() as u32;
                if count > 0 {
                    let mean = self.acc[index].map(|sum| fp_mul(sum, recip(count)));
                    self.gather[position] = Some(self.for_the_wire(mean));
                }
            }
            self.gates[1].enter(now_ns);
        }
    }

    /// Mean of a local beat; `None` without contributions.
    pub fn mean(&self, position: usize) -> Option<&Lanes> {
        self.gather[position].as_ref()
    }

    pub fn own_beats(&self) -> u16 {
        self.received[0][self.rank]
    }

    pub fn report(&self, stage: usize) -> [u8; STAGE_REPORT_BYTES] {
        let mut out = [0; STAGE_REPORT_BYTES];
        for (field, beats) in out.chunks_exact_mut(2).zip(self.received[stage]) {
            field.copy_from_slice(&beats.to_le_bytes());
        }
        out
    }

    /// In a bf16 window all ranks hold the rounded bits.
    fn for_the_wire(&self, lanes: Lanes) -> Lanes {
        if self.shape.bf16 { lanes.map(bf16::round) } else { lanes }
    }

    /// Returns this rank's contribution: padded, encoded, interleaved, rounded if bf16.
    pub fn encode(&self, gradient: &[u8]) -> Vec<Lanes> {
        self.encoded(gradient).into_iter().map(|lanes| self.for_the_wire(lanes)).collect()
    }

    fn encoded(&self, gradient: &[u8]) -> Vec<Lanes> {
        let mut beats = vec![[0; LANES]; self.gather.len()];
        for (beat, bytes) in beats.iter_mut().zip(gradient.chunks_exact(BEAT_BYTES)) {
            *beat = lanes_of(bytes);
        }
        if !self.shape.hadamard {
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

    /// Returns `host_beats` decoded and rescaled beats; missing ones are zero.
    pub fn result(&self) -> Vec<u8> {
        let mut beats = if self.shape.hadamard { self.decode() } else { self.plain() };
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

    /// Sums a contribution unless it is a duplicate.
    fn add(&mut self, position: usize, sender: usize, lanes: &Lanes) -> bool {
        let index = position - self.local.start;
        if !self.arrived[index].insert(sender) {
            return false;
        }
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

pub fn lanes_of(bytes: &[u8]) -> Lanes {
    std::array::from_fn(|i| u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]))
}
