//! Repair of broadcast losses outside the deadline, so that replicas do not diverge.
//!
//! Why: a mean that arrives at some ranks only would make replicas differ forever. The owner of a
//! shard keeps the mean as sent ([`ShardStore`]). A rank that missed beats requests them on the
//! control channel ([`RepairLedger`], [`RepairMessage`]). It adds the difference to the next output
//! of the same declared bucket ([`Corrections`]). For a rank that skipped the update, the whole
//! repaired update is the difference. By default, only one-off collectives wait for repairs.
//!
//! Guarantee: take the outputs that a rank applied, summed without rounding, plus its pending
//! [`Corrections`]. Once no repair is outstanding, this sum is the same on all ranks, except for
//! reported drift. Per element, at most half a unit in the last place of an output is then pending.
//!
//! A trainer that adds outputs to fp32 parameters rounds them itself, in a different order after a
//! correction. Optimisers that are not linear in the gradient (Adam) or that keep state (momentum)
//! see a corrected update later than on other ranks.
//!
//! Limits: a mean that its owner has discarded, or lost in a crash, is reported as drift.
//! Source: ours. The paper does not repair; its code keeps the local gradient.

mod corrections;
mod ledger;
mod message;
mod store;

pub use corrections::{CorrectionError, Corrections, Folded};
pub use ledger::{Received, RepairLedger, RepairReport, UnexpectedAnswer};
pub use message::{ANSWER_BEATS_MAX, BadRepairMessage, RANGES_MAX, RepairMessage};
pub use store::ShardStore;

use core::ops::Range;

use optireduce_contract::limits::BEAT_BYTES;

/// A window of a collective. Ordered by collective first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // fields explain themselves
pub struct WindowKey {
    pub op: u32,
    /// Bucket number on the wire.
    pub bucket: u16,
    pub window: u16,
}

/// Consecutive beats of a window, in wire order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct BeatRange {
    pub first: u16,
    pub count: u16,
}

impl BeatRange {
    /// Positions of the beats in the window.
    pub fn beats(&self) -> Range<usize> {
        let first = usize::from(self.first);
        first..first + usize::from(self.count)
    }

    /// Number of fp32 bytes in the beats.
    pub fn bytes(&self) -> u64 {
        (usize::from(self.count) * BEAT_BYTES) as u64
    }
}

/// Missing beats of `owned`, in order and as few ranges as possible.
///
/// `present`: bit b % 64 of word b / 64 is set if beat b arrived. Beats beyond its end are missing.
/// Beats from 65535 on are ignored.
pub fn missing_ranges(owned: Range<usize>, present: &[u64]) -> Vec<BeatRange> {
    let came = |beat: usize| present.get(beat / 64).is_some_and(|word| word >> (beat % 64) & 1 == 1);
    let mut ranges: Vec<BeatRange> = Vec::new();
    for beat in (owned.start..owned.end.min(usize::from(u16::MAX))).filter(|beat| !came(*beat)) {
        match ranges.last_mut() {
            Some(last) if last.beats().end == beat => last.count += 1,
            _ => ranges.push(BeatRange { first: beat as u16, count: 1 }),
        }
    }
    ranges
}

#[cfg(test)]
mod tests;
