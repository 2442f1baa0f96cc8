//! Repair of what broadcasts lost, for the collectives of one rank: what to keep, whom to ask, what to add to the next output.
//!
//! Why: see [`protocol::repair`](crate::protocol::repair), whose parts are put together here with the windows' decoding.
//! Call order: [`keep`](Repairs::keep) and [`miss`](Repairs::miss) for the windows of a collective when it is finished, then
//! [`finish`](Repairs::finish), then [`fold`](Repairs::fold) into its output; [`handle`](Repairs::handle) for messages;
//! [`poll`](Repairs::poll) after each.
//! Limits: the means of the last [`OPS`] collectives, at most [`STORE_BYTES`]. Outputs that are not applied are not repaired.

use std::collections::{BTreeMap, VecDeque};

use optireduce_contract::limits::LANES;

use crate::decode::decode_window;
use crate::protocol::repair::{
    Corrections, RepairLedger, RepairMessage, RepairReport, ShardStore, UnexpectedAnswer, WindowKey, missing_ranges,
};
use crate::protocol::{View, WindowPlan};

/// Collectives for which means are kept and asked for.
const OPS: u32 = 64;
/// Bytes of means that are kept.
const STORE_BYTES: usize = 64 << 20;
/// Shards that are asked for at a time.
const SHARDS_MAX: usize = 4096;
/// Requests that wait for this rank to finish a collective.
const PENDING_MAX: usize = 1024;

/// A window of which beats are asked for.
#[derive(Clone, Debug)]
struct Open {
    plan: WindowPlan,
    /// In wire order, if it is encoded: then a beat changes a whole block of the output, else only itself.
    gathered: Vec<f32>,
    /// What it had when its output was given out, and has now.
    present_then: Vec<u64>,
    present: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Repairs {
    ledger: RepairLedger,
    store: ShardStore,
    corrections: Corrections,
    open: BTreeMap<WindowKey, Open>,
    /// Requests for collectives that this rank has not finished.
    pending: Vec<(usize, RepairMessage)>,
    /// The first collective that this rank has not finished.
    unfinished_op: u32,
    outgoing: VecDeque<(usize, RepairMessage)>,
}

impl Repairs {
    /// Repairs from collective `next_op` on.
    pub fn new(next_op: u32) -> Self {
        Self {
            ledger: RepairLedger::new(OPS, SHARDS_MAX),
            store: ShardStore::new(OPS, STORE_BYTES),
            corrections: Corrections::default(),
            open: BTreeMap::new(),
            pending: Vec::new(),
            unfinished_op: next_op,
            outgoing: VecDeque::new(),
        }
    }

    /// The mean of this rank's shard of a window, at `place` in the view, for those who missed some of it.
    pub fn keep(&mut self, op: u32, place: usize, plan: &WindowPlan, own: Vec<f32>) {
        let shard = plan.shards.range_of(place);
        if own.len() == shard.len() * LANES && !own.is_empty() {
            self.store.keep(key(op, plan), shard.start as u16, own);
        }
    }

    /// A window of which beats are missing, as it was given out: asks their owners.
    pub fn miss(&mut self, op: u32, view: &View, plan: WindowPlan, gathered: Vec<f32>, present: Vec<u64>, rank: usize) {
        let key = key(op, &plan);
        for (place, owner) in view.live().enumerate().filter(|(_, owner)| *owner != rank) {
            let ranges = missing_ranges(plan.shards.range_of(place), &present);
            if !ranges.is_empty() {
                let requests = self.ledger.miss(key, owner, &ranges);
                self.outgoing.extend(requests.into_iter().map(|request| (owner, request)));
            }
        }
        if !self.ledger.is_done(key) {
            self.open.insert(key, Open { plan, gathered, present_then: present.clone(), present });
        }
    }

    /// Collective `op` is finished: answers who asked for it before, and gives up what is too old.
    pub fn finish(&mut self, op: u32) {
        self.unfinished_op = op.saturating_add(1);
        let ready = self.pending.extract_if(.., |(_, request)| request.key().op <= op);
        for (from, request) in ready {
            self.outgoing.extend(self.store.answer(&request).into_iter().map(|answer| (from, answer)));
        }
        self.ledger.expire(op).into_iter().for_each(|key| self.close(key));
    }

    /// A rank was dropped: what it owned is given up.
    pub fn drop_rank(&mut self, rank: usize) {
        self.pending.retain(|(from, _)| *from != rank);
        self.ledger.owner_dropped(rank).into_iter().for_each(|key| self.close(key));
    }

    /// Takes a message of rank `from`.
    pub fn handle(&mut self, from: usize, message: RepairMessage) -> Result<(), UnexpectedAnswer> {
        if let RepairMessage::Request { key, .. } = &message {
            if key.op < self.unfinished_op || self.pending.len() >= PENDING_MAX {
                self.outgoing.extend(self.store.answer(&message).into_iter().map(|answer| (from, answer)));
            } else {
                self.pending.push((from, message));
            }
            return Ok(());
        }
        let received = self.ledger.receive(from, &message)?;
        if let (Some(open), Some(beats), RepairMessage::Answer { values, .. }) =
            (self.open.get_mut(&received.key), received.beats, &message)
        {
            let beats = beats.beats();
            if open.plan.hadamard {
                open.gathered[beats.start * LANES..beats.end * LANES].copy_from_slice(values);
                beats.for_each(|beat| open.present[beat / 64] |= 1 << (beat % 64));
            } else {
                // They were zeros. The last beat may be longer than the window.
                let new = &values[..values.len().min(open.plan.elements - beats.start * LANES)];
                let first = open.plan.first_element + beats.start * LANES;
                note(&mut self.corrections, open.plan.bucket, first, &vec![0.0; new.len()], new);
            }
        }
        if received.window_done {
            self.close(received.key);
        }
        Ok(())
    }

    /// Adds what was repaired so far to an output of the bucket that will be applied.
    pub fn fold(&mut self, bucket: u16, output: &mut [f32]) {
        if let Err(error) = self.corrections.fold(bucket, output) {
            tracing::debug!(%error, "a correction waits for a longer output");
        }
    }

    /// The next message, and to whom.
    pub fn poll(&mut self) -> Option<(usize, RepairMessage)> {
        self.outgoing.pop_front()
    }

    /// What was missing and what has become of it.
    pub fn report(&self) -> RepairReport {
        self.ledger.report()
    }

    /// Nothing more of the window will come: notes what differs from what was given out.
    fn close(&mut self, key: WindowKey) {
        let open = self.open.remove(&key).filter(|open| open.plan.hadamard);
        let Some(Open { plan, gathered, present_then, present }) = open else { return };
        let (mut old, mut repaired) = (vec![0.0; plan.elements], vec![0.0; plan.elements]);
        decode_window(&plan, &gathered, &present_then, &mut old);
        decode_window(&plan, &gathered, &present, &mut repaired);
        note(&mut self.corrections, plan.bucket, plan.first_element, &old, &repaired);
    }
}

/// What a repair changes in an output from element `first` on.
fn note(corrections: &mut Corrections, bucket: u16, first: usize, old: &[f32], repaired: &[f32]) {
    match corrections.add(bucket, first, old, repaired) {
        Ok(0) => {}
        Ok(elements) => tracing::warn!(elements, bucket, "differences that are not finite stay"),
        Err(error) => tracing::warn!(%error, "a correction was dropped"),
    }
}

fn key(op: u32, plan: &WindowPlan) -> WindowKey {
    WindowKey { op, bucket: plan.bucket, window: plan.index }
}
