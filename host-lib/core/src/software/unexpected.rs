//! Unexpected queue: packets that arrive before their window is armed, so that a slightly late host
//! loses nothing.
//!
//! Limits: bounded in bytes. Packets of old collectives are dropped when the bucket or the job
//! moves on.

use std::collections::HashMap;

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::UbtHeader;

use crate::protocol::{WindowPlan, op_of_step};

/// Collectives before the newest whose packets are kept, in other buckets: after a cancelled
/// prepost, another call has the same number.
const PAST_OPS: u32 = 64;

/// State of the window of a packet that no armed window takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// Not armed yet.
    Unexpected,
    /// Armed before and closed.
    Closed,
    /// Older than the current collective of its bucket.
    Stale,
}

#[derive(Debug)]
pub(super) struct UnexpectedQueue {
    bytes_max: usize,
    bytes: usize,
    /// Newest armed collective of the job.
    newest: u32,
    /// By bucket: the last armed collective, and the end of its armed windows in bytes.
    armed: HashMap<u16, (u32, u64)>,
    kept: HashMap<(u16, u32), Vec<Kept>>,
}

pub(super) type Kept = (UbtHeader, Box<[u8]>);

impl UnexpectedQueue {
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, bytes: 0, newest: 0, armed: HashMap::new(), kept: HashMap::new() }
    }

    pub fn join(&mut self, first_op: u32) {
        self.newest = first_op;
        self.forget(|_, op| op < first_op);
    }

    pub fn age(&self, header: &UbtHeader) -> Age {
        let Some(op) = op_of_step(header.step, self.newest) else { return Age::Stale };
        let (armed_op, end) = self.armed.get(&header.bucket).copied().unwrap_or_default();
        if op < armed_op || op.saturating_add(PAST_OPS) < self.newest {
            Age::Stale
        } else if op == armed_op && u64::from(header.offset) < end {
            Age::Closed
        } else {
            Age::Unexpected
        }
    }

    /// Keeps a packet. Returns whether it is its collective's first, `None` without room.
    pub fn keep(&mut self, header: &UbtHeader, payload: &[u8]) -> Option<bool> {
        let op = op_of_step(header.step, self.newest)?;
        if self.bytes + payload.len() > self.bytes_max {
            return None;
        }
        self.bytes += payload.len();
        let kept = self.kept.entry((header.bucket, op)).or_default();
        kept.push((*header, payload.into()));
        Some(kept.len() == 1)
    }

    pub fn has(&self, tag: u64) -> bool {
        self.kept.values().flatten().any(|(header, _)| header.job_tag == tag)
    }

    /// Makes packets of a window's collective and of later ones unexpected again.
    pub fn disarm(&mut self, plan: &WindowPlan) {
        if let Some(armed) = self.armed.get_mut(&plan.bucket).filter(|(op, _)| *op == plan.op) {
            *armed = plan.op.checked_sub(1).map_or((0, 0), |before| (before, u64::MAX));
        }
    }

    pub fn arm(&mut self, plan: &WindowPlan) -> Vec<Kept> {
        let end = u64::from(plan.base_bytes) + (plan.beats * BEAT_BYTES) as u64;
        self.armed.insert(plan.bucket, (plan.op, end));
        if plan.op != self.newest {
            self.newest = plan.op;
            let past = plan.op.saturating_sub(PAST_OPS);
            self.forget(|bucket, op| op < past || bucket == plan.bucket && op < plan.op);
        }
        let Some(kept) = self.kept.get_mut(&(plan.bucket, plan.op)) else { return Vec::new() };
        let shape = plan.shape();
        let taken: Vec<Kept> = kept.extract_if(.., |(header, _)| shape.holds(header)).collect();
        self.bytes -= taken.iter().map(|(_, payload)| payload.len()).sum::<usize>();
        if kept.is_empty() {
            self.kept.remove(&(plan.bucket, plan.op));
        }
        taken
    }

    fn forget(&mut self, is_past: impl Fn(u16, u32) -> bool) {
        let bytes = &mut self.bytes;
        self.kept.retain(|(bucket, op), kept| {
            let is_past = is_past(*bucket, *op);
            *bytes -= if is_past { kept.iter().map(|(_, payload)| payload.len()).sum() } else { 0 };
            !is_past
        });
    }
}
