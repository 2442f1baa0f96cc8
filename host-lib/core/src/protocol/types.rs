//! Types shared by the protocol, the data planes and the callers.

use optireduce_contract::limits;
use optireduce_contract::ranks::RankSet;
use serde::Serialize;

pub use optireduce_contract::rules::{ClosedBy, Stage};

/// A set of ranks, sized to the job.
pub type Ranks = RankSet<Vec<u64>>;
/// Maximum world size; a card supports [`optireduce_contract::limits::RANKS_MAX`].
pub const RANKS_MAX: usize = 1024;

/// Exclusive upper limit of bucket ids.
pub const BUCKETS_MAX: u16 = 1 << KIND_SHIFT;
const KIND_SHIFT: u32 = 14;

/// Operation on a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// All ranks receive the mean.
    #[default]
    AllReduce,
    /// Each rank receives its own part of the mean.
    ReduceScatter,
    /// All ranks receive the parts of all ranks.
    AllGather,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::AllReduce, Self::ReduceScatter, Self::AllGather];

    /// Returns whether ranks exchange data in a stage.
    pub const fn sends(self, stage: Stage) -> bool {
        !matches!((self, stage), (Self::ReduceScatter, Stage::Broadcast) | (Self::AllGather, Stage::Contribute))
    }

    /// Returns whether senders wait for their contribute stage first, which may close late.
    pub const fn waits_for_owners(self, stage: Stage) -> bool {
        matches!(stage, Stage::Broadcast) && self.sends(Stage::Contribute)
    }

    /// Bucket id on the wire, with the kind in its two highest bits; `None` if `bucket` is not
    /// below [`BUCKETS_MAX`].
    pub const fn wire_bucket(self, bucket: u16) -> Option<u16> {
        if bucket < BUCKETS_MAX { Some(bucket | (self as u16) << KIND_SHIFT) } else { None }
    }

    /// Decodes a valid bucket id on the wire.
    pub fn of_wire(bucket: u16) -> Option<(Self, u16)> {
        let kind = Self::ALL.get(usize::from(bucket >> KIND_SHIFT))?;
        Some((*kind, bucket % BUCKETS_MAX))
    }
}

impl core::fmt::Display for Kind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::AllReduce => "all-reduce",
            Self::ReduceScatter => "reduce-scatter",
            Self::AllGather => "all-gather",
        })
    }
}

/// Limits of a data plane. Beats have 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct PlaneLimits {
    /// Maximum number of armed windows.
    pub slots: usize,
    pub window_beats_max: usize,
    /// log2 of the largest Hadamard block in elements.
    pub hadamard_log2_max: u32,
    pub ranks_max: usize,
    /// Largest payload of a packet.
    pub payload_beats_max: usize,
}

impl PlaneLimits {
    /// Limits of a card built with the values of `hw/contract`. A real card reports its own.
    pub const CARD: Self = Self {
        slots: limits::SLOTS,
        window_beats_max: limits::WINDOW_BEATS,
        hadamard_log2_max: limits::HADAMARD_LOG2_MAX,
        ranks_max: limits::RANKS_MAX,
        payload_beats_max: limits::PAYLOAD_BEATS_MAX,
    };
}

/// Reason why the data plane refused a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedStatus {
    /// The window closed before the contribution arrived: this rank is late.
    Stale,
    /// The slot of an arm command was in use: host and card disagree.
    SlotBusy,
    /// A field is outside the card's limits: host and card disagree.
    BadCommand,
}

/// Values in a rank's packet headers; 0 if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerHints {
    /// Last duration of this stage of this bucket, in units of 16 us.
    pub timeout_16us: u16,
    /// Number of peers that may send to the rank at a time.
    pub incast: u8,
}

/// Action for the update that a collective returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UpdateAction {
    /// Use the update.
    Apply,
    /// Too much was lost: discard the update and continue.
    Skip,
    /// Too much was lost too often: stop this rank.
    Halt,
}

impl core::fmt::Display for UpdateAction {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Apply => "apply",
            Self::Skip => "skip",
            Self::Halt => "halt",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_on_the_wire_says_what_is_done_with_it() {
        for kind in Kind::ALL {
            for bucket in [0, 7, BUCKETS_MAX - 1] {
                assert_eq!(kind.wire_bucket(bucket).and_then(Kind::of_wire), Some((kind, bucket)));
            }
            assert_eq!(kind.wire_bucket(BUCKETS_MAX), None);
        }
        assert_eq!((Kind::AllReduce.wire_bucket(5), Kind::of_wire(u16::MAX)), (Some(5), None));
    }
}
