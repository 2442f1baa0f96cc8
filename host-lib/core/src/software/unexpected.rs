//! The unexpected queue: packets that arrive before their window is armed here, kept until it is.
//!
//! Why: without them a rank whose host is a little late would lose what came meanwhile.
//! Limits: bounded in bytes; what does not fit is dropped and counted. Packets of collectives that the bucket, or the job, has
//! passed are forgotten.

use std::collections::HashMap;

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::UbtHeader;

use crate::protocol::{WindowPlan, op_of_step};

/// Collectives of other buckets before the newest for which packets are kept: what was preposted may be given up for another
/// call, and its number is used again.
const PAST_OPS: u32 = 64;

/// Where a packet without a window belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// Its window was not armed yet.
    Unexpected,
    /// Its window was armed and has closed.
    Closed,
    /// Its bucket is at a later collective.
    Stale,
}

/// What is kept for windows to come.
#[derive(Debug)]
pub(super) struct UnexpectedQueue {
    bytes_max: usize,
    bytes: usize,
    /// The newest collective of the job that was armed, or before which this rank takes no part.
    newest: u32,
    /// By bucket: the last collective armed, and where its armed windows end.
    armed: HashMap<u16, (u32, u64)>,
    /// By bucket and collective.
    kept: HashMap<(u16, u32), Vec<Kept>>,
}

/// Header and payload.
pub(super) type Kept = (UbtHeader, Box<[u8]>);

impl UnexpectedQueue {
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, bytes: 0, newest: 0, armed: HashMap::new(), kept: HashMap::new() }
    }

    /// This rank takes part from collective `first_op` on: what comes is numbered from there.
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

    /// Keeps an unexpected packet; `None` without room, else whether it is the first of its collective.
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

    /// Whether a packet with this tag is kept.
    pub fn has(&self, tag: u64) -> bool {
        self.kept.values().flatten().any(|(header, _)| header.job_tag == tag)
    }

    /// The window is not armed after all: packets of its collective and of later ones are unexpected again.
    pub fn disarm(&mut self, plan: &WindowPlan) {
        if let Some(armed) = self.armed.get_mut(&plan.bucket).filter(|(op, _)| *op == plan.op) {
            *armed = plan.op.checked_sub(1).map_or((0, 0), |before| (before, u64::MAX));
        }
    }

    /// The window is armed from now on: its packets, in order of arrival.
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
