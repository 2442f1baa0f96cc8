//! Report of a collective, for the caller.

mod group;
mod levels;
mod stage;

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use optireduce_core::protocol;
use optireduce_core::protocol::repair::RepairReport;
use optireduce_core::protocol::{Kind, Stage, UpdateAction};
use serde::{Serialize, Serializer};

pub use self::group::GroupReport;
pub(super) use self::levels::Numbers;
pub use self::stage::{PeerReport, StageReport};

/// Outcome of a collective on this rank.
///
/// Ranks are ranks of the communicator, on two levels of the job. Bytes count values as fp32. "In
/// time" means before the stage closed. `Display` prints one line for a log. Serialized durations
/// are in milliseconds: `bound_ms`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[must_use = "it shows losses, whether the update was applied, and a rank that needs the model"]
#[non_exhaustive]
pub struct Report {
    /// Kind of collective; an all-reduce for an average of a group.
    pub kind: Kind,
    /// Number of the collective, or of the group. The same on all ranks that take part.
    pub number: u32,
    /// Id of the bucket; 0 for an average of a group.
    pub bucket: u16,
    /// Number of elements in the bucket, or in the model.
    pub elements: usize,
    /// Whether the result contains the update; always true for an all-gather.
    ///
    /// A reduction that lost more than 10 % of the expected bytes is skipped: its result is zeros,
    /// the neutral update. Repairs add the update to a later result of the bucket, unless all ranks
    /// agreed to skip it. The last of too many skips in a row is an
    /// [error](crate::ErrorKind::Halted).
    ///
    /// Contributions of late ranks count as lost only if most peers are late. A one-off reduction
    /// is also skipped if anything is missing after its repairs, and never halts. Ranks may differ
    /// unless they [agree](crate::Settings::agree).
    ///
    /// On two levels, the share of [missing](Self::missing) elements decides. Losses of the
    /// reduce-scatter do not count, since the mean is the same on all ranks.
    pub is_applied: bool,
    /// Whether all ranks that take part have agreed on `is_applied`.
    pub is_agreed: bool,
    /// Ranks that took part, in ascending order. On two levels, as far as this rank knows.
    pub ranks: Vec<usize>,
    /// Ranks less than half of whose contribution (in an all-gather: shard) arrived in time. With
    /// one packet per shard, a single loss looks the same.
    pub late_ranks: Vec<usize>,
    /// Whether this rank was late: in some window, the contribute stage of its shard closed before
    /// its gradient was added, so the mean of that shard excludes the gradient.
    pub is_late: bool,
    /// Rank that rejoins with this collective; the same on all ranks.
    ///
    /// It needs the model: wait for collectives in progress, settle the buckets, then
    /// [`broadcast`](crate::Exact::broadcast) from a rank that stayed.
    pub joined_rank: Option<usize>,
    /// Bytes expected from peers.
    pub expected_bytes: u64,
    /// Bytes of peers that did not arrive in time.
    pub lost_bytes: u64,
    /// Elements missing in the result, in order: zeros, or Hadamard blocks with a missing part. In
    /// the average of a group, this rank keeps its own values there.
    ///
    /// With repairs, the elements of a declared bucket's all-reduce are added to a later result.
    /// Empty if such an all-reduce was skipped, except on two levels.
    pub missing: Vec<Range<usize>>,
    /// Number of infinities and NaNs in the result, complete or not.
    pub not_finite: u64,
    /// Whether the values travelled Hadamard-encoded.
    pub is_hadamard: bool,
    /// Whether the result includes repairs of earlier results of the bucket.
    pub is_corrected: bool,
    /// Bytes copied between the caller, the engine and a card. All-reduces of declared buckets
    /// only.
    pub copied_bytes: u64,
    /// Packets that a rank with the largest shards expects from its peers; the same number on all
    /// ranks.
    pub packets: u64,
    /// Repairs of the bucket so far.
    pub repairs: RepairReport,
    /// Bytes of means with outstanding repairs, in all buckets: replica divergence for now.
    pub outstanding_bytes: u64,
    /// Bytes of means whose repair was given up since the job began, in all buckets: permanent
    /// replica divergence. On two levels, [`settle`](crate::Bucket::settle) adds the losses
    /// of the rank's group.
    pub drift_bytes: u64,
    /// Bound t_B of each stage of each window.
    #[serde(rename = "bound_ms", serialize_with = "ms")]
    pub bound: Duration,
    /// Whether the ranks were [measuring](crate::Settings::bound) the bound, with the longest one
    /// until then.
    pub is_bound_measured: bool,
    /// Whether this collective is the first with a new bound.
    pub bound_changed: bool,
    /// Stages in which ranks exchanged data, in order. Empty on two levels, whose `parts` have
    /// stages, and in a group of one rank.
    pub stages: Vec<StageReport>,
    /// On two levels, the reduce-scatter in the group, the all-reduce among equals (omitted if this
    /// rank's shard is empty), and the all-gather in the group. Otherwise empty.
    pub parts: Vec<Report>,
    /// Group of a [partial reduce](crate::PartialReduce).
    pub group: Option<GroupReport>,
    #[serde(skip)]
    pub(super) action: UpdateAction,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct BoundStatus {
    /// The ranks are still measuring the bound.
    pub is_measured: bool,
    /// The previous collective had a different bound.
    pub changed: bool,
}

impl Report {
    /// Report without losses and repairs.
    fn blank(kind: Kind, number: u32, bucket: u16, elements: usize, action: UpdateAction) -> Self {
        Self {
            kind,
            number,
            bucket,
            elements,
            is_applied: action == UpdateAction::Apply || kind == Kind::AllGather,
            is_agreed: false,
            ranks: Vec::new(),
            late_ranks: Vec::new(),
            is_late: false,
            joined_rank: None,
            expected_bytes: 0,
            lost_bytes: 0,
            missing: Vec::new(),
            not_finite: 0,
            is_hadamard: false,
            is_corrected: false,
            copied_bytes: 0,
            packets: 0,
            repairs: RepairReport::default(),
            outstanding_bytes: 0,
            drift_bytes: 0,
            bound: Duration::ZERO,
            is_bound_measured: false,
            bound_changed: false,
            stages: Vec::new(),
            parts: Vec::new(),
            group: None,
            action,
        }
    }

    pub(super) fn new(
        collective: protocol::Report,
        job: RepairReport,
        bound: BoundStatus,
        joined_rank: Option<usize>,
        copied_bytes: u64,
    ) -> Self {
        let protocol::Report { kind, action, stages, repair, .. } = collective;
        let stages = Stage::ALL.into_iter().zip(stages).filter(|(stage, _)| kind.sends(*stage));
        let stages: Vec<_> = stages.map(|(stage, summary)| StageReport::new(stage, summary)).collect();
        Self {
            is_agreed: collective.agreed,
            ranks: collective.live,
            late_ranks: collective.late_peers,
            is_late: !collective.local_contribution,
            joined_rank,
            expected_bytes: stages.iter().map(|stage| stage.expected_bytes).sum(),
            lost_bytes: collective.lost_bytes,
            missing: collective.missing,
            not_finite: collective.not_finite,
            is_hadamard: collective.hadamard,
            is_corrected: repair.corrected,
            copied_bytes,
            packets: collective.packets,
            repairs: repair.bytes,
            outstanding_bytes: job.outstanding_bytes,
            drift_bytes: job.drift_bytes,
            bound: Duration::from_nanos(collective.bound_ns),
            is_bound_measured: bound.is_measured,
            bound_changed: bound.changed,
            stages,
            ..Self::blank(kind, collective.op, collective.bucket, collective.elements, action)
        }
    }

    /// `ranks`: new number of each rank.
    fn renumbered(mut self, ranks: &[usize]) -> Self {
        let peers = self.stages.iter_mut().flat_map(|stage| &mut stage.peers).map(|peer| &mut peer.rank);
        for rank in self.ranks.iter_mut().chain(&mut self.late_ranks).chain(&mut self.joined_rank).chain(peers) {
            *rank = ranks[*rank];
        }
        self.ranks.sort_unstable();
        self.late_ranks.sort_unstable();
        self.stages.iter_mut().for_each(|stage| stage.peers.sort_unstable_by_key(|peer| peer.rank));
        self
    }

    #[cfg(test)]
    pub(super) fn halting(self) -> Self {
        Self { action: UpdateAction::Halt, is_applied: false, ..self }
    }

    /// Lost fraction of `expected_bytes`, 0 to 1.
    pub fn loss(&self) -> f64 {
        self.lost_bytes.min(self.expected_bytes) as f64 / self.expected_bytes.max(1) as f64
    }

    /// Returns a stage, or `None` if the ranks did not exchange data in it, or on two levels.
    pub fn stage(&self, stage: Stage) -> Option<&StageReport> {
        self.stages.iter().find(|of| of.stage == stage)
    }

    /// Ranks with missing bytes in a stage, dropped ranks included. In an all-gather,
    /// [`Stage::Broadcast`] lists the ranks whose shards have zeros, unless they were repaired.
    pub fn missing_from(&self, stage: Stage) -> Vec<usize> {
        let of_parts = self.parts.iter().flat_map(|part| part.missing_from(stage));
        let own_data = if self.kind == Kind::AllGather { Stage::Broadcast } else { Stage::Contribute };
        let is_out = |rank: usize| stage == own_data && self.ranks.binary_search(&rank).is_err();
        let peers = self.stage(stage).into_iter().flat_map(|stage| &stage.peers);
        let lacking = peers.filter(|peer| peer.received_bytes < peer.expected_bytes || is_out(peer.rank));
        let mut ranks: Vec<usize> = lacking.map(|peer| peer.rank).chain(of_parts).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    fn fmt_levels(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { elements, ranks, late_ranks, action, .. } = self;
        let missing: usize = self.missing.iter().map(Range::len).sum();
        write!(f, "two levels, {elements} elements, {} ranks: {action}", ranks.len())?;
        if missing > 0 {
            write!(f, "; {missing} elements are missing")?;
        }
        if !late_ranks.is_empty() {
            write!(f, "; late: {late_ranks:?}")?;
        }
        self.parts.iter().try_for_each(|part| write!(f, " [{part}]"))
    }
}

fn ms<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64() * 1e3)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.group {
            Some(group) => return group.fmt(self, f),
            None if !self.parts.is_empty() => return self.fmt_levels(f),
            None => {}
        }
        let Self { kind, number, bucket, elements, ranks, late_ranks, action, .. } = self;
        write!(
            f,
            "collective {number}: {kind} of bucket {bucket}, {elements} elements, {} ranks: {action}",
            ranks.len()
        )?;
        self.stages.iter().try_for_each(|stage| write!(f, "; {stage}"))?;
        if !late_ranks.is_empty() {
            write!(f, "; late: {late_ranks:?}")?;
        }
        if self.is_late {
            f.write_str("; this rank was late")?;
        }
        for (bytes, what) in
            [(self.lost_bytes, "lost"), (self.outstanding_bytes, "outstanding"), (self.drift_bytes, "drift")]
        {
            if bytes > 0 {
                write!(f, "; {what} {bytes} B")?;
            }
        }
        if self.not_finite > 0 {
            write!(f, "; {} values are not finite", self.not_finite)?;
        }
        if self.is_corrected {
            f.write_str("; corrects earlier results")?;
        }
        let ms = self.bound.as_secs_f64() * 1e3;
        if self.is_bound_measured {
            write!(f, "; the bound is being measured, {ms:.3} ms until then")?;
        } else if self.bound_changed {
            write!(f, "; the bound is {ms:.3} ms from now on")?;
        }
        Ok(())
    }
}
