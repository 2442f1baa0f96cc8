//! One armed window of the software data plane: sum, mean, gathered shards, the two gates.

use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;

use optireduce_contract::limits::{BEAT_BYTES, LANES};
use optireduce_contract::ranks::{RankSet, words_for};
use optireduce_contract::rules;
use optireduce_contract::rules::accept::Place;
use optireduce_contract::rules::gate::{Gate, Rules};

use super::views::ViewEntry;
use crate::data_plane::{Incomplete, RepairData};
use crate::decode::{code, decode_window, scale_canonical};
use crate::hadamard;
use crate::protocol::{ClosedBy, JobParams, PeerHints, Ranks, Stage, StageReport, WindowPlan};

/// Bytes of a beat in a bf16 payload.
const BF16_BEAT_BYTES: usize = BEAT_BYTES / 2;

#[derive(Debug)]
pub(super) struct Window {
    pub plan: WindowPlan,
    /// What the contract's rules know of it.
    pub shape: rules::Window,
    pub rules: Rules,
    pub gates: [Gate<Vec<u64>>; 2],
    /// Packets at the end of a shard that carry the mark.
    pub mark_packets: usize,
    /// Peers that are sent to at a time.
    pub incast: usize,
    /// The shard that this rank aggregates.
    pub own: Range<usize>,
    /// The view that it belongs to.
    pub view: Arc<ViewEntry>,
    /// In wire order: the local shard's sum, later its mean, and the peers' means. Beats that are not `present` mean nothing.
    gathered: Buffer,
    /// This rank's encoded gradient in wire order; empty before it was contributed and after it was sent.
    contribution: Buffer,
    /// For each own beat the set of ranks that it came from, one after the other.
    arrived: Vec<u64>,
    /// A bit for each beat of the result.
    present: Vec<u64>,
    received_beats: [Vec<u32>; 2],
    /// When the last packet of each rank came, for each stage.
    last_ns: [Vec<u64>; 2],
    /// What peers' headers say, for each stage.
    pub hints: [Vec<PeerHints>; 2],
    /// What this rank's headers say of each stage.
    pub own_hints: [PeerHints; 2],
    pub contributed: bool,
    /// Stages reported so far.
    reported: usize,
    /// The result was fetched: the window only waits for its packets to leave.
    pub taken: bool,
}

/// Values that begin on a cache line: the transform streams its results then.
#[derive(Debug, Default)]
struct Buffer {
    room: Vec<f32>,
    begin: usize,
}

impl Buffer {
    /// As long as `elements` that hold anything.
    fn resize(&mut self, elements: usize) {
        self.room.resize(elements + LANES, 0.0);
        self.begin = self.room.as_ptr().align_offset(BEAT_BYTES).min(LANES);
        self.room.truncate(self.begin + elements);
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.room[self.begin..]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.room[self.begin..]
    }
}

/// Memory of windows that are done, for those to come: fresh pages cost more than the sums.
#[derive(Debug, Default)]
pub(super) struct Buffers(Vec<Buffer>);

impl Buffers {
    fn get(&mut self, elements: usize) -> Buffer {
        let mut buffer = self.0.pop().unwrap_or_default();
        buffer.resize(elements);
        buffer
    }

    fn put(&mut self, buffer: Buffer) {
        if !buffer.room.is_empty() {
            self.0.push(buffer);
        }
    }
}

impl Window {
    pub fn new(
        plan: &WindowPlan,
        params: &JobParams,
        view: &Arc<ViewEntry>,
        own_hints: [PeerHints; 2],
        buffers: &mut Buffers,
    ) -> Self {
        let (rank, ranks) = (view.rank, view.peers.len());
        let own = plan.shards.range_of(rank);
        let shape = plan.shape();
        let gate = |stage| Gate::of(stage, &shape, rank, Ranks::none(ranks));
        Self {
            rules: Rules {
                bound_ns: params.bound_ns,
                grace_ns: params.early.map(|rule| rule.grace_ns.into()),
                start_peers: params.start_peers_of(plan),
            },
            shape,
            gates: Stage::ALL.map(gate),
            mark_packets: params.mark_packets_of(plan),
            incast: params.incast,
            view: view.clone(),
            gathered: buffers.get(plan.beats * LANES),
            contribution: Buffer::default(),
            arrived: vec![0; own.len() * words_for(ranks)],
            present: vec![0; plan.beats.div_ceil(64)],
            received_beats: [vec![0; ranks], vec![0; ranks]],
            last_ns: [vec![0; ranks], vec![0; ranks]],
            hints: [vec![PeerHints::default(); ranks], vec![PeerHints::default(); ranks]],
            own_hints,
            contributed: false,
            reported: 0,
            taken: false,
            own,
            plan: plan.clone(),
        }
    }

    pub fn recycle(self, buffers: &mut Buffers) {
        buffers.put(self.gathered);
        buffers.put(self.contribution);
    }

    fn beat_bytes(&self) -> usize {
        if self.plan.bf16 { BF16_BEAT_BYTES } else { BEAT_BYTES }
    }

    /// Takes the beats of a peer's packet into an open stage; tells which are new, and returns how many had come before.
    pub fn take_packet(
        &mut self,
        now_ns: u64,
        place: &Place,
        payload: &[u8],
        mut is_fresh: impl FnMut(usize),
    ) -> usize {
        let &Place { stage, sender, ref beats, .. } = place;
        let (mut fresh, count) = (0, beats.len());
        let (bf16, words) = (self.plan.bf16, words_for(self.plan.shards.ranks));
        for (position, bytes) in beats.clone().zip(payload.chunks_exact(self.beat_bytes())) {
            let lanes = &mut self.gathered[position * LANES..][..LANES];
            let is_new = match stage {
                Stage::Contribute => {
                    let row = (position - self.own.start) * words;
                    let mut arrived = RankSet::of_words(&mut self.arrived[row..row + words]);
                    let is_first = arrived.is_empty();
                    let is_new = arrived.insert(sender);
                    match (is_new, is_first) {
                        (true, true) => read_lanes(lanes, bytes, bf16, |_, value| value),
                        (true, false) => read_lanes(lanes, bytes, bf16, |sum, value| sum + value),
                        _ => {}
                    }
                    is_new
                }
                Stage::Broadcast => {
                    let (word, bit) = (&mut self.present[position / 64], position % 64);
                    let is_new = *word >> bit & 1 == 0;
                    if is_new {
                        *word |= 1 << bit;
                        read_lanes(lanes, bytes, bf16, |_, value| value);
                    }
                    is_new
                }
            };
            if is_new {
                fresh += 1;
                is_fresh(position);
            }
        }
        self.received_beats[stage.index()][sender] += fresh as u32;
        if fresh > 0 {
            self.last_ns[stage.index()][sender] = now_ns;
        }
        self.gates[stage.index()].take(fresh);
        count - fresh
    }

    /// This rank's gradient: encodes it for the peers and sums the local shard; returns the beats summed, none if it is late.
    pub fn contribute(&mut self, now_ns: u64, gradient: &[f32], buffers: &mut Buffers) -> Range<usize> {
        self.contributed = true;
        self.contribution = buffers.get(self.plan.beats * LANES);
        if self.plan.hadamard {
            hadamard::encode(code(&self.plan), gradient, &mut self.contribution);
        } else {
            self.contribution[..gradient.len()].copy_from_slice(gradient);
            self.contribution[gradient.len()..].fill(0.0);
        }
        if self.plan.bf16 {
            hadamard::round_to_bf16(&mut self.contribution);
        }
        let gate = &mut self.gates[Stage::Contribute.index()];
        gate.enter(now_ns);
        if !gate.is_open() {
            return 0..0;
        }
        gate.take_own(self.own.len());
        let own = self.own.start * LANES..self.own.end * LANES;
        let beats = self.gathered[own.clone()].chunks_exact_mut(LANES).zip(self.contribution[own].chunks_exact(LANES));
        let rows = self.arrived.chunks_exact_mut(words_for(self.plan.shards.ranks)).map(RankSet::of_words);
        for ((sum, value), mut arrived) in beats.zip(rows) {
            if arrived.is_empty() {
                sum.copy_from_slice(value);
            } else {
                sum.iter_mut().zip(value).for_each(|(sum, value)| *sum += value);
            }
            arrived.insert(self.view.rank);
        }
        self.received_beats[Stage::Contribute.index()][self.view.rank] = self.own.len() as u32;
        self.own.clone()
    }

    /// Closes a stage. The contribute stage leaves the mean over what came and enters the broadcast stage.
    pub fn close(&mut self, stage: Stage, now_ns: u64, by: ClosedBy) {
        self.gates[stage.index()].close(now_ns, by);
        if stage == Stage::Contribute {
            self.average();
            self.gates[Stage::Broadcast.index()].enter(now_ns);
        }
    }

    /// The report of the next stage, if it has closed and was not reported yet. The broadcast stage may close first, when
    /// this rank is late; it is reported last.
    pub fn next_report(&mut self) -> Option<StageReport> {
        let stage = *Stage::ALL.get(self.reported)?;
        let gate = &self.gates[stage.index()];
        if gate.is_open() {
            return None;
        }
        self.reported += 1;
        let (closed_ns, closed_by) = gate.closed()?;
        let (elapsed_ns, heard) = (gate.elapsed_ns(), gate.heard().clone());
        let received = self.received_beats[stage.index()].iter();
        let received_bytes_per_rank = received.map(|beats| u64::from(*beats) * BEAT_BYTES as u64).collect();
        let hints = std::mem::take(&mut self.hints[stage.index()]);
        let since_ns = closed_ns.saturating_sub(elapsed_ns);
        let mut last_ns_per_rank = std::mem::take(&mut self.last_ns[stage.index()]);
        last_ns_per_rank.iter_mut().for_each(|ns| *ns = ns.saturating_sub(since_ns));
        Some(StageReport {
            cookie: self.plan.cookie,
            stage,
            closed_by,
            received_bytes_per_rank,
            elapsed_ns,
            heard,
            last_ns_per_rank,
            hints,
        })
    }

    fn average(&mut self) {
        let own = self.own.start * LANES..self.own.end * LANES;
        let rows = self.arrived.chunks_exact(words_for(self.plan.shards.ranks)).map(RankSet::of_words);
        let beats = self.own.clone().zip(self.gathered[own.clone()].chunks_exact_mut(LANES));
        for ((position, lanes), arrived) in beats.zip(rows) {
            match arrived.len() {
                0 => lanes.fill(0.0),
                count => {
                    self.present[position / 64] |= 1 << (position % 64);
                    let reciprocal = 1.0 / count as f32;
                    scale_canonical(lanes, reciprocal);
                }
            }
        }
        if self.plan.bf16 {
            hadamard::round_to_bf16(&mut self.gathered[own]);
        }
    }

    /// The first of these beats that the result has, one after the other: as many as a packet can carry without another.
    pub fn present_from(&self, beats: Range<usize>) -> Range<usize> {
        let is_missing = |position: &usize| self.present[position / 64] >> (position % 64) & 1 == 0;
        let Some(missing) = beats.clone().find(is_missing) else { return beats };
        // Beats of bf16 travel in pairs.
        let count = missing - beats.start;
        beats.start..missing - if self.plan.bf16 { count % 2 } else { 0 }
    }

    /// Adds the payload of a packet of a stage to `out`: window beats `beats`, padded to whole beats of the wire.
    pub fn write_payload(&self, stage: Stage, beats: Range<usize>, out: &mut Vec<u8>) {
        let source = if stage == Stage::Contribute { &self.contribution } else { &self.gathered };
        let values = &source[beats.start * LANES..beats.end * LANES];
        let end = out.len() + self.shape.payload_beats(beats.len()) * BEAT_BYTES;
        if self.plan.bf16 {
            out.extend(values.iter().flat_map(|value| ((value.to_bits() >> 16) as u16).to_le_bytes()));
        } else {
            out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        out.resize(end, 0);
    }

    /// What the broadcast stage left, for repairs. Where nobody contributed the local mean is zero.
    pub fn repair_data(&self) -> RepairData {
        let own = self.gathered[self.own.start * LANES..self.own.end * LANES].to_vec();
        let beats: usize = self.present.iter().map(|word| word.count_ones() as usize).sum();
        let gathered = if self.plan.hadamard { &self.gathered[..] } else { &[] };
        let incomplete = || Incomplete { gathered: gathered.to_vec(), present: self.present.clone() };
        RepairData { own, incomplete: (beats < self.plan.beats).then(incomplete) }
    }

    /// The window's result. Not to be asked again.
    pub fn result(&mut self, out: &mut [f32]) {
        self.taken = true;
        decode_window(&self.plan, &self.gathered, &self.present, out);
    }
}

/// Combines the lanes of a beat with those of its bytes.
#[inline(always)]
fn read_lanes(lanes: &mut [f32], bytes: &[u8], bf16: bool, combine: impl Fn(f32, f32) -> f32) {
    if bf16 {
        for (lane, bytes) in lanes.iter_mut().zip(bytes.as_chunks::<2>().0) {
            *lane = combine(*lane, f32::from_bits(u32::from(u16::from_le_bytes(*bytes)) << 16));
        }
    } else {
        for (lane, bytes) in lanes.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *lane = combine(*lane, f32::from_le_bytes(*bytes));
        }
    }
}
