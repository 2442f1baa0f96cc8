//! Repair of what the broadcast stage lost: outside the deadline, so that replicas do not drift apart.
//!
//! Why: a mean that came to some ranks and not to others is applied by some replicas only, and the difference stays for
//! ever. The owner of a shard keeps the mean as it was sent ([`ShardStore`]); a rank that missed beats of it asks for them
//! over the control channel ([`RepairLedger`], [`RepairMessage`]), computes the window's full output, and adds what
//! differs to the next output of the same declared bucket ([`Corrections`]). A rank that skipped an update, because too much
//! of it was lost, applied nothing: to it the whole repaired update is the difference. Nobody waits.
//!
//! What is equal: the outputs that a rank applied, added up without rounding, plus what is pending in its [`Corrections`].
//! That is the same on all ranks once nothing is outstanding, but for what is reported as drift. Pending is then at most half
//! a unit in the last place of an output for each element. A trainer that adds outputs to fp32 parameters rounds them
//! itself, by half a unit in the last place of the *parameter* each time, and in another order where a correction came later:
//! its replicas agree to that. Optimisers that are not linear in the gradient (Adam) or have a memory (momentum) see an update
//! later than others do.
//! Limits: updates are repaired from their owners only. What an owner does not have any more, or took with it when it
//! crashed, stays as drift, and is reported. All sizes are bounded.
//! Source: ours. The paper leaves the hole; its code keeps the local gradient.

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
pub struct WindowKey {
    /// Collective number.
    pub op: u32,
    /// Bucket id.
    pub bucket: u16,
    /// Number of the window in the bucket.
    pub window: u16,
}

/// Consecutive beats of a window, in wire order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeatRange {
    /// First beat.
    pub first: u16,
    /// Number of beats.
    pub count: u16,
}

impl BeatRange {
    /// The beats as positions in the window.
    pub fn beats(&self) -> Range<usize> {
        let first = usize::from(self.first);
        first..first + usize::from(self.count)
    }

    /// Bytes of fp32 that the beats hold.
    pub fn bytes(&self) -> u64 {
        (usize::from(self.count) * BEAT_BYTES) as u64
    }
}

/// The beats of `owned` that did not come, in order and as few ranges as possible. `present`: bit b % 64 of word b / 64 is
/// set if beat b of the window came; beats beyond it did not. Beats from 65535 on are no beats of a window.
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
