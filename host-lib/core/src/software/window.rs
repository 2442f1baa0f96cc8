//! Armed window of the software data plane: sum, mean, gathered shards, and the gates of both
//! stages.
//!
//! A plain window of whole beats works in lent memory. An encoded window, or one with a partial
//! last beat, uses separate buffers.

use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;

use optireduce_contract::limits::{BEAT_BYTES, LANES};
use optireduce_contract::rules;
use optireduce_contract::rules::accept::Place;
use optireduce_contract::rules::gate::{Gate, Rules};
use zerocopy::IntoBytes;

use super::arrivals::Arrivals;
use super::bits;
use super::lanes;
use super::views::ViewEntry;
use crate::data_plane::{Incomplete, LentMemory, RepairData, Role, WindowError, WindowOutput};
use crate::decode::{code, decode_window, scale_canonical};
use crate::hadamard;
use crate::protocol::{ClosedBy, JobParams, Kind, PeerHints, Ranks, Stage, StageReport, WindowPlan};

const BF16_BEAT_BYTES: usize = BEAT_BYTES / 2;

#[derive(Debug)]
pub(super) struct Window {
    pub plan: WindowPlan,
    pub shape: rules::Window,
    pub rules: Rules,
    carries_over: bool,
    pub gates: [Gate<Vec<u64>>; 2],
    pub ended: [Ranks; 2],
    pub mark_packets: usize,
    pub repeats_ends: bool,
    pub incast: usize,
    pub own: Range<usize>,
    pub view: Arc<ViewEntry>,
    /// Local sum (later mean) and the peers' means in wire order, unless they are in the lent
    /// result. Unspecified where not `present`.
    gathered: Option<Buffer>,
    /// Contribution in wire order, unless it is sent from the lent gradient.
    contribution: Option<Buffer>,
    /// By stage: data that was unsent when the lent memory was reclaimed, with its first beat.
    unsent: [Option<(usize, Buffer)>; 2],
    arrived: Arrivals,
    /// Bitmap of the beats in the result. In this rank's shard, any contribution counts.
    present: Vec<u64>,
    not_finite: u64,
    received_beats: [Vec<u32>; 2],
    last_ns: [Vec<u64>; 2],
    pub hints: [Vec<PeerHints>; 2],
    pub own_hints: [PeerHints; 2],
    pub contributed: bool,
    reported: usize,
    /// The result was taken, and only unsent packets keep the window.
    pub taken: bool,
}

/// Values that start on a cache line, so that the transform can use streaming stores.
#[derive(Debug, Default)]
struct Buffer {
    room: Vec<f32>,
    begin: usize,
}

impl Buffer {
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

/// Memory of finished windows for reuse, because fresh pages cost more than the sums.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    values: Vec<Buffer>,
    words: Vec<Vec<u64>>,
}

impl Buffers {
    fn get(&mut self, elements: usize) -> Buffer {
        let mut buffer = self.values.pop().unwrap_or_default();
        buffer.resize(elements);
        buffer
    }

    fn get_words(&mut self, words: usize) -> Vec<u64> {
        let mut zeros = self.words.pop().unwrap_or_default();
        zeros.clear();
        zeros.resize(words, 0);
        zeros
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// First beat at its position.
    Put,
    Add,
    /// Duplicate.
    Drop,
}

impl Window {
    pub fn new(
        plan: &WindowPlan,
        params: &JobParams,
        view: &Arc<ViewEntry>,
        own_hints: [PeerHints; 2],
        carry_over: bool,
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
            carries_over: carry_over && plan.kind.waits_for_owners(Stage::Broadcast),
            shape,
            gates: Stage::ALL.map(gate),
            ended: [Ranks::none(ranks), Ranks::none(ranks)],
            mark_packets: params.mark_packets_of(plan),
            repeats_ends: params.expect_loss,
            incast: params.incast,
            view: view.clone(),
            gathered: (!lies_in_lent_memory(plan)).then(|| buffers.get(plan.beats * LANES)),
            contribution: None,
            unsent: [None, None],
            arrived: Arrivals::none(own.len(), ranks, buffers.get_words(Arrivals::words_for(own.len(), ranks))),
            present: buffers.get_words(plan.beats.div_ceil(64)),
            not_finite: 0,
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

    pub fn is_open(&self) -> bool {
        self.gates.iter().all(Gate::is_open)
    }

    pub fn copy_present(&self, first_element: usize, from: &[f32], to: &mut [f32]) {
        if self.gathered.is_some() {
            return;
        }
        let (mut at, begin) = (0, self.plan.first_element - first_element);
        while at < self.plan.beats {
            let (is_there, end) = bits::run(&self.present, at..self.plan.beats);
            let elements = begin + at * LANES..begin + end * LANES;
            if is_there && let (Some(from), Some(to)) = (from.get(elements.clone()), to.get_mut(elements)) {
                to.copy_from_slice(from);
            }
            at = end;
        }
    }

    pub fn excuse(&mut self, peers: &Ranks) {
        let excused = self.view.peers.iter().enumerate().filter(|(_, peer)| peers.contains(**peer));
        let gates = &mut self.gates;
        excused.for_each(|(index, _)| gates.iter_mut().for_each(|gate| gate.excuse(index)));
    }

    pub fn recycle(self, buffers: &mut Buffers) {
        let unsent = self.unsent.into_iter().flatten().map(|(_, buffer)| buffer);
        buffers.values.extend(self.gathered.into_iter().chain(self.contribution).chain(unsent));
        buffers.words.extend([self.arrived.into_words(), self.present]);
    }

    /// Bound of a stage, from the start of its clock.
    ///
    /// An owner that waits for a lost contribution sends its mean a whole bound after the start, so
    /// both stages together have two bounds. Otherwise a rank without losses would run a bound
    /// ahead of that owner, and miss its later data as well.
    pub fn bound_ns(&self, stage: Stage) -> u64 {
        let bound_ns = self.rules.bound_ns;
        let [contribute, broadcast] = self.gates.each_ref().map(Gate::clock_ns);
        let Some(begun_ns) = contribute.filter(|_| self.carries_over && stage == Stage::Broadcast) else {
            return bound_ns;
        };
        let spent_ns = broadcast.map_or(0, |clock_ns| clock_ns.saturating_sub(begun_ns));
        bound_ns + bound_ns.saturating_sub(spent_ns)
    }

    pub fn is_late(&self, stage: Stage, now_ns: u64, part: u64) -> bool {
        let clock_ns = self.gates[stage.index()].clock_ns();
        clock_ns.is_some_and(|clock_ns| now_ns.saturating_sub(clock_ns) >= self.rules.bound_ns / part)
    }

    fn beat_bytes(&self) -> usize {
        if self.plan.bf16 { BF16_BEAT_BYTES } else { BEAT_BYTES }
    }

    pub fn take_packet(
        &mut self,
        now_ns: u64,
        place: &Place,
        payload: &[u8],
        lent: &mut LentMemory,
        mut is_fresh: impl FnMut(Range<usize>),
    ) -> usize {
        let &Place { stage, sender, ref beats, .. } = place;
        let (mut fresh, mut at) = (0, beats.start);
        while at < beats.end {
            // Usually one run is the whole packet.
            let (fate, run) = self.fate(stage, sender, at..beats.end);
            at = run.end;
            if fate == Fate::Drop {
                continue;
            }
            let bytes = (run.start - beats.start) * self.beat_bytes()..(run.end - beats.start) * self.beat_bytes();
            let Some(bytes) = payload.get(bytes) else { break };
            let values = gathered(&mut self.gathered, lent, &self.plan);
            let Some(values) = values.get_mut(run.start * LANES..run.end * LANES) else { break };
            match (stage, fate) {
                (Stage::Broadcast, _) => self.not_finite += lanes::put_canonical(values, bytes, self.plan.bf16),
                (Stage::Contribute, Fate::Add) => lanes::add(values, bytes, self.plan.bf16),
                (Stage::Contribute, _) => lanes::put(values, bytes, self.plan.bf16),
            }
            self.mark(stage, sender, run.clone());
            fresh += run.len();
            is_fresh(run);
        }
        self.received_beats[stage.index()][sender] += fresh as u32;
        if fresh > 0 {
            self.last_ns[stage.index()][sender] = now_ns;
        }
        self.gates[stage.index()].take(fresh);
        beats.len() - fresh
    }

    pub fn missing_beats(&self, place: &Place) -> usize {
        let (mut missing, mut left) = (0, place.beats.clone());
        while !left.is_empty() {
            let (fate, run) = self.fate(place.stage, place.sender, left.clone());
            missing += if fate == Fate::Drop { 0 } else { run.len() };
            left.start = run.end;
        }
        missing
    }

    fn fate(&self, stage: Stage, sender: usize, beats: Range<usize>) -> (Fate, Range<usize>) {
        let (is_there, end) = bits::run(&self.present, beats.clone());
        let beats = beats.start..end;
        if stage == Stage::Broadcast {
            return (if is_there { Fate::Drop } else { Fate::Put }, beats);
        }
        let (has_come, end) = self.arrived.run(sender, self.in_own(&beats));
        let fate = match (has_come, is_there) {
            (true, _) => Fate::Drop,
            (false, true) => Fate::Add,
            (false, false) => Fate::Put,
        };
        (fate, beats.start..self.own.start + end)
    }

    fn mark(&mut self, stage: Stage, sender: usize, beats: Range<usize>) {
        if stage == Stage::Contribute {
            self.arrived.insert(sender, self.in_own(&beats));
        }
        bits::set(&mut self.present, beats);
    }

    fn in_own(&self, beats: &Range<usize>) -> Range<usize> {
        beats.start - self.own.start..beats.end - self.own.start
    }

    /// Returns the beats of the local shard that were added to the sum, none if this rank is late.
    pub fn contribute(
        &mut self,
        now_ns: u64,
        lent: &mut LentMemory,
        buffers: &mut Buffers,
    ) -> Result<Range<usize>, WindowError> {
        let gradient = lent.window(&self.plan, Role::Gradient)?;
        self.contributed = true;
        if !lies_in_lent_memory(&self.plan) {
            let contribution = self.contribution.insert(buffers.get(self.plan.beats * LANES));
            if self.plan.hadamard {
                hadamard::encode(code(&self.plan), gradient, contribution);
            } else {
                contribution[..gradient.len()].copy_from_slice(gradient);
                contribution[gradient.len()..].fill(0.0);
            }
        }
        let gate = &mut self.gates[Stage::Contribute.index()];
        gate.enter(now_ns);
        if !gate.is_open() {
            return Ok(0..0);
        }
        gate.take_own(self.own.len());
        self.add_own(lent);
        let rank = self.view.rank;
        self.mark(Stage::Contribute, rank, self.own.clone());
        self.received_beats[Stage::Contribute.index()][rank] = self.own.len() as u32;
        Ok(self.own.clone())
    }

    fn add_own(&mut self, lent: &mut LentMemory) {
        let mut at = self.own.start;
        while at < self.own.end {
            let (fate, run) = self.fate(Stage::Contribute, self.view.rank, at..self.own.end);
            at = run.end;
            let elements = run.start * LANES..run.end * LANES;
            let (sums, own) = match (&mut self.gathered, &self.contribution) {
                (Some(sums), Some(own)) => (&mut sums[elements.clone()], &own[elements]),
                _ => {
                    let Some((result, gradient)) = lent.result_and_gradient(&self.plan) else { return };
                    (&mut result[elements.clone()], &gradient[elements])
                }
            };
            match fate {
                Fate::Add => lanes::add_own(sums, own, self.plan.bf16),
                _ => lanes::put_own(sums, own, self.plan.bf16),
            }
        }
    }

    pub fn close(&mut self, stage: Stage, now_ns: u64, by: ClosedBy, lent: &mut LentMemory) {
        self.gates[stage.index()].close(now_ns, by);
        if stage == Stage::Contribute {
            self.average(lent);
            self.gates[Stage::Broadcast.index()].enter(now_ns);
        }
    }

    /// Returns the report of the next closed stage, once. The broadcast stage is reported last.
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

    fn average(&mut self, lent: &mut LentMemory) {
        let values = gathered(&mut self.gathered, lent, &self.plan);
        let own = values.get_mut(self.own.start * LANES..self.own.end * LANES).unwrap_or_default();
        for beats in self.arrived.alike() {
            let Some(sums) = own.get_mut(beats.start * LANES..beats.end * LANES) else { break };
            match self.arrived.ranks_of(beats.start).count() {
                0 => sums.fill(0.0),
                count => self.not_finite += scale_canonical(sums, 1.0 / count as f32),
            }
        }
        // Rounding creates no infinities: a mean over several ranks is at most half the largest
        // float, and a single contribution is bf16 already.
        if self.plan.bf16 {
            hadamard::round_to_bf16(own);
        }
    }

    /// Leading run of these beats that is present and that one packet can carry.
    pub fn present_from(&self, beats: Range<usize>) -> Range<usize> {
        let missing = bits::first(&self.present, beats.clone(), false);
        if missing == beats.end {
            return beats;
        }
        // Beats of bf16 travel in pairs.
        let count = missing - beats.start;
        beats.start..missing - if self.plan.bf16 { count % 2 } else { 0 }
    }

    pub fn is_sent_as_it_lies(&self) -> bool {
        !self.plan.bf16 && cfg!(target_endian = "little")
    }

    pub fn sends_from_lent_memory(&self, stage: Stage) -> bool {
        lies_in_lent_memory(&self.plan) && self.unsent[stage.index()].is_none()
    }

    fn outgoing<'a>(&'a self, stage: Stage, beats: Range<usize>, lent: &'a LentMemory) -> &'a [f32] {
        let (first, values) = match (stage, &self.unsent[stage.index()]) {
            (_, Some((first, values))) => (*first, &values[..]),
            (Stage::Contribute, None) => (0, self.in_memory(&self.contribution, Role::Gradient, lent)),
            (Stage::Broadcast, None) => (0, self.in_memory(&self.gathered, Role::Result, lent)),
        };
        values.get((beats.start - first) * LANES..(beats.end - first) * LANES).unwrap_or_default()
    }

    fn in_memory<'a>(&self, own: &'a Option<Buffer>, role: Role, lent: &'a LentMemory) -> &'a [f32] {
        own.as_deref().unwrap_or_else(|| lent.window(&self.plan, role).unwrap_or_default())
    }

    pub fn keep_unsent(&mut self, stage: Stage, beats: Range<usize>, lent: &LentMemory, buffers: &mut Buffers) {
        if self.sends_from_lent_memory(stage) {
            let values = self.outgoing(stage, beats.clone(), lent);
            let mut buffer = buffers.get(values.len());
            buffer.copy_from_slice(values);
            self.unsent[stage.index()] = Some((beats.start, buffer));
        }
    }

    pub fn payload<'a>(&'a self, stage: Stage, beats: Range<usize>, lent: &'a LentMemory) -> &'a [u8] {
        self.outgoing(stage, beats, lent).as_bytes()
    }

    /// Appends the payload of a packet to `out`, padded to whole beats on the wire.
    pub fn write_payload(&self, stage: Stage, beats: Range<usize>, lent: &LentMemory, out: &mut Vec<u8>) {
        let begin = out.len();
        out.resize(begin + self.shape.payload_beats(beats.len()) * BEAT_BYTES, 0);
        self.put_payload(stage, beats, lent, &mut out[begin..]);
    }

    pub fn beat_payload(&self, stage: Stage, beat: usize, lent: &LentMemory) -> [u8; BEAT_BYTES] {
        let mut payload = [0; BEAT_BYTES];
        self.put_payload(stage, beat..beat + 1, lent, &mut payload);
        payload
    }

    fn put_payload(&self, stage: Stage, beats: Range<usize>, lent: &LentMemory, payload: &mut [u8]) {
        let values = self.outgoing(stage, beats, lent);
        if self.plan.bf16 {
            let halves = payload.as_chunks_mut().0.iter_mut().zip(values);
            halves.for_each(|(bytes, value)| *bytes = hadamard::to_bf16(*value).to_le_bytes());
        } else {
            let words = payload.as_chunks_mut().0.iter_mut().zip(values);
            words.for_each(|(bytes, value)| *bytes = value.to_le_bytes());
        }
    }

    pub fn finish(&mut self, lent: &mut LentMemory, look: &mut dyn FnMut(WindowOutput<'_>)) -> Result<(), WindowError> {
        let out = lent.window_mut(&self.plan, Role::Result)?;
        self.taken = true;
        match &self.gathered {
            Some(gathered) => decode_window(&self.plan, gathered, &self.present, out),
            None => clear_missing(&self.present, out),
        }
        let own = self.own.start * LANES..self.own.end * LANES;
        let own = self.gathered.as_ref().map_or(&*out, |gathered| gathered).get(own).unwrap_or_default();
        let repair = Some(RepairData { own, incomplete: self.incomplete(), arrived: self.short_of() });
        // The means were counted; they are the result only if gathered in it.
        let not_finite = self.gathered.is_none().then_some(self.not_finite);
        look(WindowOutput { elements: out, not_finite, repair });
        Ok(())
    }

    fn short_of(&self) -> Vec<(Range<usize>, Ranks)> {
        let ranks = self.plan.shards.ranks;
        let mut short: Vec<(Range<usize>, Ranks)> = Vec::new();
        if self.plan.kind != Kind::ReduceScatter {
            return short;
        }
        for run in self.arrived.alike() {
            let count = self.arrived.ranks_of(run.start).count();
            if count == ranks {
                continue;
            }
            let arrived = Ranks::none(ranks).with(self.arrived.ranks_of(run.start));
            let run = run.start + self.own.start..run.end + self.own.start;
            match short.last_mut() {
                Some((beats, same)) if beats.end == run.start && *same == arrived => beats.end = run.end,
                _ => short.push((run, arrived)),
            }
        }
        short
    }

    fn incomplete(&self) -> Option<Incomplete> {
        let beats: usize = self.present.iter().map(|word| word.count_ones() as usize).sum();
        let encoded = self.gathered.as_ref().filter(|_| self.plan.hadamard);
        let gathered = || encoded.map_or(Vec::new(), |gathered| gathered.to_vec());
        (beats < self.plan.beats).then(|| Incomplete { gathered: gathered(), present: self.present.clone() })
    }
}

fn lies_in_lent_memory(plan: &WindowPlan) -> bool {
    !plan.hadamard && plan.elements == plan.beats * LANES
}

fn gathered<'a>(own: &'a mut Option<Buffer>, lent: &'a mut LentMemory, plan: &WindowPlan) -> &'a mut [f32] {
    match own {
        Some(buffer) => buffer,
        None => lent.window_mut(plan, Role::Result).unwrap_or_default(),
    }
}

fn clear_missing(present: &[u64], out: &mut [f32]) {
    for (word, beats) in present.iter().zip(out.chunks_mut(64 * LANES)) {
        if *word != u64::MAX {
            let missing = beats.chunks_mut(LANES).enumerate().filter(|(beat, _)| word >> beat & 1 == 0);
            missing.for_each(|(_, beat)| beat.fill(0.0));
        }
    }
}
