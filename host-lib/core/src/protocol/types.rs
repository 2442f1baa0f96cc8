//! The vocabulary of the protocol: what its parts, the data planes and the callers all name. It uses nothing else of this
//! crate.

use optireduce_contract::limits;
use optireduce_contract::ranks::RankSet;
use serde::Serialize;

pub use optireduce_contract::rules::{ClosedBy, Stage};

/// A set of ranks, sized to the job.
pub type Ranks = RankSet<Vec<u64>>;
/// Most ranks of a job, on any data plane; a card takes [`optireduce_contract::limits::RANKS_MAX`].
pub const RANKS_MAX: usize = 1024;

/// Buckets have numbers below this.
pub const BUCKETS_MAX: u16 = 1 << KIND_SHIFT;
const KIND_SHIFT: u32 = 14;

/// What a collective does with its bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// All ranks get the mean.
    #[default]
    AllReduce,
    /// Each rank gets its own part of the mean.
    ReduceScatter,
    /// All ranks get the parts of all.
    AllGather,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::AllReduce, Self::ReduceScatter, Self::AllGather];

    /// Whether ranks send one another anything in a stage.
    pub const fn sends(self, stage: Stage) -> bool {
        !matches!((self, stage), (Self::ReduceScatter, Stage::Broadcast) | (Self::AllGather, Stage::Contribute))
    }

    /// Whether what comes in a stage comes only when its owners' contribute stages are over, which after a loss they are late, or at the
    /// bound.
    pub const fn waits_for_owners(self, stage: Stage) -> bool {
        matches!(stage, Stage::Broadcast) && self.sends(Stage::Contribute)
    }

    /// A bucket's number on the wire; `None` if it is not below [`BUCKETS_MAX`].
    pub const fn wire_bucket(self, bucket: u16) -> Option<u16> {
        if bucket < BUCKETS_MAX { Some(bucket | (self as u16) << KIND_SHIFT) } else { None }
    }

    /// What a bucket on the wire is; `None` if it is nothing.
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

/// What a data plane can do at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneLimits {
    /// Windows that may be armed at once.
    pub slots: usize,
    /// Largest window in beats of 64 bytes.
    pub window_beats_max: usize,
    /// log2 of the largest Hadamard block in elements.
    pub hadamard_log2_max: u32,
    /// Most ranks of a job.
    pub ranks_max: usize,
    /// Largest payload of a packet in beats of 64 bytes.
    pub payload_beats_max: usize,
}

impl PlaneLimits {
    /// A card built as `hw/contract` describes it. A real one is asked instead.
    pub const CARD: Self = Self {
        slots: limits::SLOTS,
        window_beats_max: limits::WINDOW_BEATS,
        hadamard_log2_max: limits::HADAMARD_LOG2_MAX,
        ranks_max: limits::RANKS_MAX,
        payload_beats_max: limits::PAYLOAD_BEATS_MAX,
    };
}

/// Why a data plane refused a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedStatus {
    /// The window had closed before the contribution came: this rank is late.
    Stale,
    /// The slot of an arm command was in use: host and card disagree.
    SlotBusy,
    /// A field of the command is outside the card's limits: host and card disagree.
    BadCommand,
}

/// What a rank says about itself in its packets' headers. 0: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerHints {
    /// How long this stage of this bucket took it the last time, in units of 16 us.
    pub timeout_16us: u16,
    /// The incast it can take: how many peers may send to it at a time.
    pub incast: u8,
}

/// What to do with the update that a collective returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UpdateAction {
    /// Use it.
    Apply,
    /// Too much was lost: drop it and go on.
    Skip,
    /// Too much was lost too often: stop the job.
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
