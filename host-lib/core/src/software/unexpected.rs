//! The unexpected queue: packets that arrive before their window is armed here, kept until it is.
//!
//! Why: without them a rank whose host is a little late would lose what came meanwhile.
//! Limits: bounded in bytes; what does not fit is dropped and counted. Packets of collectives that the bucket has passed
//! are forgotten.

use std::collections::HashMap;

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::UbtHeader;
use optireduce_contract::rules::accept::is_before;

use crate::protocol::WindowPlan;

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
    /// By bucket: the last collective armed, and where its armed windows end.
    armed: HashMap<u16, (u16, u64)>,
    /// By bucket and collective.
    kept: HashMap<(u16, u16), Vec<Kept>>,
}

/// Header and payload.
pub(super) type Kept = (UbtHeader, Box<[u8]>);

impl UnexpectedQueue {
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, bytes: 0, armed: HashMap::new(), kept: HashMap::new() }
    }

    pub fn age(&self, header: &UbtHeader) -> Age {
        let Some((step, end)) = self.armed.get(&header.bucket) else { return Age::Unexpected };
        if is_before(header.step, *step) {
            Age::Stale
        } else if header.step == *step && u64::from(header.offset) < *end {
            Age::Closed
        } else {
            Age::Unexpected
        }
    }

    /// Keeps an unexpected packet; `None` without room, else whether it is the first of its collective.
    pub fn keep(&mut self, header: &UbtHeader, payload: &[u8]) -> Option<bool> {
        if self.bytes + payload.len() > self.bytes_max {
            return None;
        }
        self.bytes += payload.len();
        let kept = self.kept.entry((header.bucket, header.step)).or_default();
        kept.push((*header, payload.into()));
        Some(kept.len() == 1)
    }

    /// The window is not armed after all: packets of its collective and of later ones are ahead again.
    pub fn disarm(&mut self, plan: &WindowPlan) {
        if self.armed.get(&plan.bucket).is_some_and(|(step, _)| *step == plan.step) {
            self.armed.insert(plan.bucket, (plan.step.wrapping_sub(1), u64::MAX));
        }
    }

    /// The window is armed from now on: its packets, in order of arrival.
    pub fn arm(&mut self, plan: &WindowPlan) -> Vec<Kept> {
        let end = u64::from(plan.base_bytes) + (plan.beats * BEAT_BYTES) as u64;
        self.armed.insert(plan.bucket, (plan.step, end));
        let bytes = &mut self.bytes;
        self.kept.retain(|(bucket, step), kept| {
            let is_past = *bucket == plan.bucket && is_before(*step, plan.step);
            *bytes -= if is_past { kept.iter().map(|(_, payload)| payload.len()).sum() } else { 0 };
            !is_past
        });
        let Some(kept) = self.kept.get_mut(&(plan.bucket, plan.step)) else { return Vec::new() };
        let shape = plan.shape();
        let taken: Vec<Kept> = kept.extract_if(.., |(header, _)| shape.holds(header)).collect();
        self.bytes -= taken.iter().map(|(_, payload)| payload.len()).sum::<usize>();
        if kept.is_empty() {
            self.kept.remove(&(plan.bucket, plan.step));
        }
        taken
    }
}
