//! Repair of broadcast losses for one rank: [`protocol::repair`](crate::protocol::repair) with the
//! decoding of windows.
//!
//! Call order: [`keep`](Repairs::keep) when a window has closed, [`begin`](Repairs::begin) when all
//! windows have, [`finish`](Repairs::finish) when the output is returned, [`fold`](Repairs::fold)
//! if it is applied. Owners answer even if their trainer has not called the collective.
//!
//! Limits: means of the last [`OPS`] collectives and incomplete skipped updates, within the
//! capacities below, which grow with the declared buckets and with calls without a stream.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use optireduce_contract::limits::LANES;

use crate::data_plane::Incomplete;
use crate::decode::decode_window;
use crate::levels::union;
use crate::protocol::repair::{
    BeatRange, CorrectionError, Corrections, Folded, RepairLedger, RepairMessage, RepairReport, ShardStore,
    UnexpectedAnswer, WindowKey, missing_ranges,
};
use crate::protocol::{Parts, StreamId, View, WindowPlan};

/// Collectives whose means are kept and requested.
const OPS: u32 = 1024;
/// Minimum capacity for means, in bytes.
const STORE_BYTES: usize = 8 << 20;
/// Minimum capacity for skipped updates, in bytes.
const HELD_BYTES: usize = 64 << 20;
/// Largest capacity for means of calls without a stream, in bytes.
const NO_STREAM_BYTES: usize = 64 << 20;
/// Calls per declared bucket whose means are kept.
const CALLS: usize = 2;
/// Calls per declared bucket that may be skipped and incomplete.
const HELD_CALLS: usize = 4;
/// Shards with outstanding requests.
const SHARDS_MAX: usize = 4096;
/// Requests that wait for this rank to finish a collective.
const PENDING_MAX: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Apply,
    /// Skipped on this rank; the repaired output becomes a correction.
    Skip,
    /// Skipped on all ranks.
    Cancel,
}

/// A collective with outstanding repairs, or a skipped update to be completed.
#[derive(Clone, Debug)]
struct OpenOp {
    /// `None`: a one-off call, or an all-gather.
    stream: Option<StreamId>,
    returned: Returned,
    windows: BTreeMap<u16, OpenWindow>,
    /// Elements that no rank has.
    lost: Vec<Range<usize>>,
    /// Partition of an all-gather, whose windows have another layout than its bucket.
    parts: Option<Parts>,
}

#[derive(Clone, Debug)]
enum Returned {
    NotYet,
    Applied,
    /// Elements received so far.
    Skipped(Vec<f32>),
}

#[derive(Clone, Debug)]
struct OpenWindow {
    plan: WindowPlan,
    /// In wire order, if encoded.
    gathered: Vec<f32>,
    /// Beats at the end of the broadcast stage, and beats received so far.
    present_then: Vec<u64>,
    present: Vec<u64>,
    /// Repaired beats of a plain window that are not in the output yet.
    patches: Vec<(BeatRange, Vec<f32>)>,
    /// Returned values of a plain window where beats were missing.
    old: Vec<(BeatRange, Vec<f32>)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Repairs {
    ledger: RepairLedger,
    store: ShardStore,
    corrections: Corrections,
    open: BTreeMap<u32, OpenOp>,
    streams: BTreeMap<u16, StreamId>,
    held_bytes_max: usize,
    /// Requests for windows that have not closed on this rank.
    pending: Vec<(usize, RepairMessage)>,
    /// First collective not returned, and later collectives whose windows have all closed.
    unfinished_op: u32,
    closed: BTreeSet<u32>,
    /// First collective that each rank can be asked about. `u32::MAX`: none.
    asked_from: BTreeMap<usize, u32>,
    outgoing: VecDeque<(usize, RepairMessage)>,
}

impl Repairs {
    pub fn new(next_op: u32) -> Self {
        Self {
            ledger: RepairLedger::new(OPS, SHARDS_MAX),
            store: ShardStore::new(OPS, STORE_BYTES),
            corrections: Corrections::default(),
            open: BTreeMap::new(),
            streams: BTreeMap::new(),
            held_bytes_max: HELD_BYTES,
            pending: Vec::new(),
            unfinished_op: next_op,
            closed: BTreeSet::new(),
            asked_from: BTreeMap::new(),
            outgoing: VecDeque::new(),
        }
    }

    pub fn expect_without_stream(&mut self, bytes: usize) {
        self.store.grow(bytes.min(NO_STREAM_BYTES));
    }

    /// Keeps the mean of this rank's shard of a closed window. `index`: this rank in the view.
    /// `present`: beats that arrived, if not all; in this rank's shard, beats with a contribution.
    pub fn keep(&mut self, op: u32, index: usize, plan: &WindowPlan, own: &[f32], present: Option<&[u64]>) {
        let (shard, key) = (plan.shards.range_of(index), key(op, plan));
        let nobody = present.map_or(Vec::new(), |present| missing_ranges(shard.clone(), present));
        if own.len() == shard.len() * LANES && !own.is_empty() && self.store.keep(key, shard.start as u16, own, nobody)
        {
            self.answer_pending(|of| of == key);
        }
    }

    pub fn begin(
        &mut self,
        op: u32,
        view: &View,
        rank: usize,
        stream: Option<StreamId>,
        incomplete: Vec<(WindowPlan, Incomplete)>,
    ) {
        self.closed.insert(op);
        self.answer_pending(|key| key.op == op);
        if let Some(stream) = stream {
            self.declare(stream, view.live().count());
        }
        let (mut windows, mut lost) = (BTreeMap::new(), Vec::new());
        for (plan, Incomplete { gathered, present: present_then }) in incomplete {
            if plan.hadamard && gathered.is_empty() {
                // Without the gathered beats, the blocks cannot be decoded again.
                let beats = missing_ranges(0..plan.beats, &present_then);
                self.ledger.lose(plan.bucket, beats.iter().map(BeatRange::bytes).sum());
                lost.extend(missing_elements(&plan, &present_then));
                continue;
            }
            let mut present = present_then.clone();
            for (index, owner) in view.live().enumerate() {
                let shard = plan.shards.range_of(index);
                let ranges = missing_ranges(shard, &present_then);
                if owner == rank {
                    // No rank contributed, so the mean is zero on all ranks.
                    ranges.iter().flat_map(BeatRange::beats).for_each(|beat| set(&mut present, beat));
                    lost.extend(elements_of(&plan, &ranges));
                    continue;
                }
                if !ranges.is_empty() {
                    let requests = self.ledger.miss(key(op, &plan), owner, &ranges);
                    if self.asked_from.get(&owner).is_some_and(|from_op| op < *from_op) {
                        self.ledger.owner_dropped(owner);
                    } else {
                        self.outgoing.extend(requests.into_iter().map(|request| (owner, request)));
                    }
                }
            }
            let window = OpenWindow { plan, gathered, present_then, present, patches: Vec::new(), old: Vec::new() };
            windows.insert(window.plan.index, window);
        }
        if !windows.is_empty() || !lost.is_empty() {
            self.open.insert(op, OpenOp { stream, returned: Returned::NotYet, windows, lost, parts: None });
        }
    }

    /// Sets the partition of an all-gather.
    pub fn lay_out(&mut self, op: u32, parts: &Parts) {
        if let Some(one) = self.open.get_mut(&op) {
            one.parts = Some(parts.clone());
        }
    }

    pub fn is_fetched(&self, op: u32) -> bool {
        let Some(one) = self.open.get(&op) else { return true };
        one.windows.values().all(|window| self.ledger.is_done(key(op, &window.plan)))
    }

    /// Bytes of means missing from the output of collective `op`.
    pub fn missing_bytes(&self, op: u32) -> u64 {
        let Some(one) = self.open.get(&op) else { return 0 };
        let of = |window: &OpenWindow| missing_ranges(0..window.plan.beats, &window.present);
        let beats: u64 = one.windows.values().flat_map(of).map(|range| range.bytes()).sum();
        let elements: usize = one.lost.iter().map(Range::len).sum();
        beats + (elements * size_of::<f32>()) as u64
    }

    /// Discards collective `op`, whose windows were armed for a different call.
    pub fn forget(&mut self, op: u32) {
        self.open.remove(&op);
        self.closed.remove(&op);
        self.store.forget_op(op);
        self.ledger.cancel_op(op);
    }

    /// Copies repairs into the output of collective `op`. Returns the missing elements. Later
    /// repairs go into the next output of the stream; without a stream they are given up.
    pub fn finish(
        &mut self,
        op: u32,
        outcome: Outcome,
        stream: Option<StreamId>,
        output: &mut [f32],
    ) -> Vec<Range<usize>> {
        let mut missing = Vec::new();
        let mut one = self.open.remove(&op);
        if let Some(one) = &mut one {
            missing.append(&mut one.lost);
            for window in one.windows.values_mut() {
                let is_done = self.ledger.is_done(key(op, &window.plan));
                window.patch(output, is_done);
                missing.extend(missing_elements(&window.plan, window.had(is_done)));
            }
            one.windows.retain(|_, window| !self.ledger.is_done(key(op, &window.plan)));
        }
        match (outcome, stream) {
            (Outcome::Cancel, _) => self.ledger.cancel_op(op),
            (_, None) => drop(self.ledger.give_up_op(op)),
            (Outcome::Apply, Some(_)) => {
                if let Some(mut one) = one.filter(|one| !one.windows.is_empty()) {
                    one.windows.values_mut().for_each(|window| window.note_old(output));
                    self.open.insert(op, OpenOp { returned: Returned::Applied, ..one });
                }
            }
            (Outcome::Skip, Some(stream)) => {
                let windows = one.map(|one| one.windows).unwrap_or_default();
                let returned = Returned::Skipped(output.to_vec());
                self.open.insert(op, OpenOp { stream: Some(stream), returned, windows, lost: Vec::new(), parts: None });
                self.settle(op);
                self.limit_held();
            }
        }
        self.unfinished_op = op.saturating_add(1);
        self.closed = self.closed.split_off(&self.unfinished_op);
        self.answer_pending(|key| key.op <= op);
        self.ledger.expire(op).into_iter().for_each(|key| self.close(key));
        missing
    }

    pub fn fold(&mut self, stream: StreamId, output: &mut [f32]) -> Folded {
        self.corrections.fold(stream, output).unwrap_or_else(|error| {
            tracing::error!(%error, "a correction does not fit its own stream");
            Folded::default()
        })
    }

    pub fn drop_rank(&mut self, rank: usize) {
        self.add_rank(rank, u32::MAX);
    }

    /// Records that a rank rejoins at collective `first_op`, without earlier means. Requests of its
    /// previous process are discarded.
    pub fn add_rank(&mut self, rank: usize, first_op: u32) {
        self.asked_from.insert(rank, first_op);
        self.pending.retain(|(from, request)| *from != rank || request.key().op >= first_op);
        self.ledger.owner_dropped(rank).into_iter().for_each(|key| self.close(key));
    }

    /// Joins at collective `first_op`. Requests for earlier ones are refused.
    pub fn joined(&mut self, first_op: u32) {
        self.unfinished_op = first_op;
        self.answer_pending(|key| key.op < first_op);
    }

    pub fn handle(&mut self, from: usize, message: RepairMessage) -> Result<(), UnexpectedAnswer> {
        if let RepairMessage::Request { key, .. } = &message {
            let has_closed = key.op < self.unfinished_op || self.closed.contains(&key.op);
            if has_closed || self.store.contains(*key) || self.pending.len() >= PENDING_MAX {
                self.outgoing.extend(self.store.answer(&message).into_iter().map(|answer| (from, answer)));
            } else {
                tracing::debug!(from, key = ?key, "repair request deferred until its window closes");
                self.pending.push((from, message));
            }
            return Ok(());
        }
        let received = self.ledger.receive(from, &message)?;
        match (received.beats, &message) {
            (Some(beats), RepairMessage::Answer { values, .. }) => self.take(received.key, beats, values),
            (Some(beats), RepairMessage::Nobody { .. }) => {
                self.take(received.key, beats, &vec![0.0; beats.beats().len() * LANES]);
                self.lose(received.key, beats);
            }
            _ => {}
        }
        if received.window_done {
            self.close(received.key);
        }
        Ok(())
    }

    pub fn poll(&mut self) -> Option<(usize, RepairMessage)> {
        self.outgoing.pop_front()
    }

    pub fn report(&self) -> RepairReport {
        self.ledger.report()
    }

    pub fn report_of(&self, bucket: u16) -> RepairReport {
        self.ledger.report_of(bucket)
    }

    /// Returns whether all losses of streams were repaired or given up, and all corrections
    /// applied.
    pub fn is_settled(&self) -> bool {
        self.open.values().all(|one| one.stream.is_none()) && !self.corrections.is_fresh()
    }

    /// Bytes of results that no output of a stream has, by bucket on the wire: outstanding, or
    /// repaired since the last output.
    pub fn unsettled_bytes(&self) -> BTreeMap<u16, u64> {
        let mut bytes = BTreeMap::new();
        for (op, OpenOp { stream, returned, .. }) in &self.open {
            let Some(stream) = stream else { continue };
            *bytes.entry(stream.bucket).or_default() += match returned {
                Returned::Skipped(update) => size_of_val(update.as_slice()) as u64,
                Returned::NotYet | Returned::Applied => self.missing_bytes(*op),
            };
        }
        for (stream, fresh) in self.corrections.fresh_bytes() {
            *bytes.entry(stream.bucket).or_default() += fresh;
        }
        bytes
    }

    /// Elements of outputs of a stream with outstanding repairs, in order.
    pub fn outstanding_elements(&self, stream: StreamId) -> Vec<Range<usize>> {
        let mut elements = Vec::new();
        for one in self.open.values().filter(|one| one.stream == Some(stream)) {
            if let Returned::Skipped(update) = &one.returned {
                elements.push(0..update.len());
                continue;
            }
            for OpenWindow { plan, present, .. } in one.windows.values() {
                let beats = missing_ranges(0..plan.beats, present);
                match &one.parts {
                    Some(parts) => elements.extend(beats.iter().map(|beats| parts.elements_of(plan, &beats.beats()))),
                    None => elements.extend(elements_of(plan, &beats)),
                }
            }
        }
        union(elements)
    }

    pub fn is_repaired(&self, stream: StreamId) -> bool {
        self.open.values().all(|one| one.stream != Some(stream))
    }

    pub fn take_correction(&mut self, stream: StreamId) -> Option<Vec<f32>> {
        if !self.corrections.has(stream) {
            return None;
        }
        let mut correction = vec![0.0; stream.elements];
        self.fold(stream, &mut correction);
        correction.iter().any(|element| *element != 0.0).then_some(correction)
    }

    pub fn forget_rounding(&mut self, stream: StreamId) {
        self.corrections.forget_rounding(stream);
    }

    pub fn held_max(&self, stream: StreamId) -> f64 {
        let held = self.open.values().filter(|one| one.stream == Some(stream)).filter_map(|one| match &one.returned {
            Returned::Skipped(update) => Some(update),
            _ => None,
        });
        held.flatten().fold(0.0, |max, value| f64::from(value.abs()).max(max))
    }

    /// Records the stream of a bucket. Corrections of an earlier declaration become drift.
    fn declare(&mut self, stream: StreamId, ranks: usize) {
        let old = self.streams.insert(stream.bucket, stream);
        if old == Some(stream) {
            return;
        }
        let is_gone = |one: &StreamId| one.bucket == stream.bucket && one.generation < stream.generation;
        let elements = self.corrections.forget(is_gone);
        self.ledger.lose(stream.bucket, (elements * size_of::<f32>()) as u64);
        let bytes: usize = self.streams.values().map(|stream| stream.elements * size_of::<f32>()).sum();
        self.store.grow(CALLS * bytes.div_ceil(ranks.max(1)));
        self.held_bytes_max = self.held_bytes_max.max(HELD_CALLS * bytes);
    }

    fn answer_pending(&mut self, is_ready: impl Fn(WindowKey) -> bool) {
        for (from, request) in self.pending.extract_if(.., |(_, request)| is_ready(request.key())) {
            self.outgoing.extend(self.store.answer(&request).into_iter().map(|answer| (from, answer)));
        }
    }

    fn take(&mut self, key: WindowKey, beats: BeatRange, values: &[f32]) {
        let Some(one) = self.open.get_mut(&key.op) else { return };
        let Some(window) = one.windows.get_mut(&key.window) else { return };
        beats.beats().for_each(|beat| set(&mut window.present, beat));
        let lanes = beats.beats().start * LANES..beats.beats().end * LANES;
        if window.plan.hadamard {
            window.gathered[lanes].copy_from_slice(values);
            return;
        }
        // The last beat may extend beyond the window.
        let new = &values[..values.len().min(window.plan.elements.saturating_sub(lanes.start))];
        let first = window.plan.first_element + lanes.start;
        match (&mut one.returned, one.stream) {
            (Returned::NotYet, _) => window.patches.push((beats, new.to_vec())),
            (Returned::Skipped(update), _) => update[first..first + new.len()].copy_from_slice(new),
            (Returned::Applied, Some(stream)) => {
                let of_parts = one.parts.as_ref().map(|parts| parts.elements_of(&window.plan, &beats.beats()));
                let Range { start: first, end } = of_parts.unwrap_or(first..first + new.len());
                let (old, new) = (window.old_of(beats, end - first), &new[..end - first]);
                note(&mut self.corrections, &mut self.ledger, &self.streams, stream, first, old, new);
            }
            (Returned::Applied, None) => {}
        }
    }

    fn lose(&mut self, key: WindowKey, beats: BeatRange) {
        let Some(one) = self.open.get_mut(&key.op).filter(|one| matches!(one.returned, Returned::NotYet)) else {
            return;
        };
        if let Some(window) = one.windows.get(&key.window) {
            one.lost.extend(elements_of(&window.plan, &[beats]));
        }
    }

    fn close(&mut self, key: WindowKey) {
        let Some(one) = self.open.get_mut(&key.op) else { return };
        if matches!(one.returned, Returned::NotYet) {
            return;
        }
        let Some(OpenWindow { plan, gathered, present_then, present, .. }) = one.windows.remove(&key.window) else {
            return;
        };
        if plan.hadamard {
            let mut repaired = vec![0.0; plan.elements];
            decode_window(&plan, &gathered, &present, &mut repaired);
            match (&mut one.returned, one.stream) {
                (Returned::Skipped(update), _) => {
                    update[plan.first_element..][..plan.elements].copy_from_slice(&repaired)
                }
                (Returned::Applied, Some(stream)) => {
                    let mut old = vec![0.0; plan.elements];
                    decode_window(&plan, &gathered, &present_then, &mut old);
                    let first = plan.first_element;
                    note(&mut self.corrections, &mut self.ledger, &self.streams, stream, first, Some(&old), &repaired);
                }
                _ => {}
            }
        }
        self.settle(key.op);
    }

    /// Closes a collective without open windows.
    fn settle(&mut self, op: u32) {
        let Some(one) = self.open.remove(&op) else { return };
        if !one.windows.is_empty() {
            self.open.insert(op, one);
        } else if let (Returned::Skipped(update), Some(stream)) = (one.returned, one.stream) {
            note(&mut self.corrections, &mut self.ledger, &self.streams, stream, 0, None, &update);
        }
    }

    fn limit_held(&mut self) {
        let bytes = |one: &OpenOp| match &one.returned {
            Returned::Skipped(update) => size_of_val(update.as_slice()),
            _ => 0,
        };
        while self.open.values().map(bytes).sum::<usize>() > self.held_bytes_max {
            let Some((op, _)) = self.open.iter().find(|(_, one)| bytes(one) > 0) else { return };
            let op = *op;
            self.ledger.give_up_op(op).into_iter().for_each(|key| self.close(key));
            if self.open.remove(&op).is_some() {
                tracing::error!(op, "skipped update without outstanding repairs was not applied");
            }
        }
    }
}

impl OpenWindow {
    fn patch(&mut self, output: &mut [f32], is_done: bool) {
        let WindowPlan { first_element, elements, hadamard, .. } = self.plan;
        if hadamard && is_done {
            decode_window(&self.plan, &self.gathered, &self.present, &mut output[first_element..][..elements]);
        }
        for (beats, values) in self.patches.drain(..) {
            output[first_element + beats.beats().start * LANES..][..values.len()].copy_from_slice(&values);
        }
    }

    fn had(&self, is_done: bool) -> &[u64] {
        if self.plan.hadamard && !is_done { &self.present_then } else { &self.present }
    }

    /// Saves output values where beats of a plain window are missing.
    fn note_old(&mut self, output: &[f32]) {
        if self.plan.hadamard {
            return;
        }
        let window = &output[self.plan.first_element..][..self.plan.elements];
        for range in missing_ranges(0..self.plan.beats, &self.present) {
            let lanes = (range.beats().start * LANES).min(window.len())..(range.beats().end * LANES).min(window.len());
            self.old.push((range, window[lanes].to_vec()));
        }
    }

    fn old_of(&self, beats: BeatRange, elements: usize) -> Option<&[f32]> {
        let beats = beats.beats();
        let holds = |of: &Range<usize>| of.start <= beats.start && beats.end <= of.end;
        let (of, values) = self.old.iter().find(|(of, _)| holds(&of.beats()))?;
        values.get((beats.start - of.beats().start) * LANES..)?.get(..elements)
    }
}

pub(crate) fn missing_elements(plan: &WindowPlan, present: &[u64]) -> Vec<Range<usize>> {
    elements_of(plan, &missing_ranges(0..plan.beats, present))
}

/// Elements of the bucket in these beats, or in their blocks if encoded.
fn elements_of(plan: &WindowPlan, ranges: &[BeatRange]) -> Vec<Range<usize>> {
    let WindowPlan { first_element, elements, hadamard, log2_n, log2_blocks, .. } = *plan;
    let within =
        |range: Range<usize>| first_element + range.start.min(elements)..first_element + range.end.min(elements);
    let blocks = || {
        let beats = ranges.iter().flat_map(BeatRange::beats).map(|beat| beat % (1 << log2_blocks));
        let blocks: BTreeSet<usize> = beats.collect();
        blocks.into_iter().map(|block| within(block << log2_n..(block + 1) << log2_n)).collect::<Vec<_>>()
    };
    let plain = || ranges.iter().map(|range| within(range.beats().start * LANES..range.beats().end * LANES)).collect();
    let all: Vec<_> = if hadamard { blocks() } else { plain() };
    all.into_iter().filter(|range| !range.is_empty()).collect()
}

/// Records the difference that a repair makes. Elements that cannot be corrected become drift.
fn note(
    corrections: &mut Corrections,
    ledger: &mut RepairLedger,
    streams: &BTreeMap<u16, StreamId>,
    stream: StreamId,
    first: usize,
    old: Option<&[f32]>,
    repaired: &[f32],
) {
    let is_old = streams.get(&stream.bucket).is_some_and(|newest| newest.generation > stream.generation);
    let added = if is_old { Ok(repaired.len()) } else { corrections.add(stream, first, old, repaired) };
    match added {
        Ok(0) => {}
        Ok(elements) => {
            tracing::warn!(elements, bucket = stream.bucket, is_old, "repaired elements cannot be corrected");
            ledger.lose(stream.bucket, (elements * size_of::<f32>()) as u64);
        }
        Err(CorrectionError { .. }) => ledger.lose(stream.bucket, size_of_val(repaired) as u64),
    }
}

fn set(bits: &mut [u64], beat: usize) {
    if let Some(word) = bits.get_mut(beat / 64) {
        *word |= 1 << (beat % 64);
    }
}

fn key(op: u32, plan: &WindowPlan) -> WindowKey {
    WindowKey { op, bucket: plan.bucket, window: plan.index }
}

#[cfg(test)]
mod tests;
