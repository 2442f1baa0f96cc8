//! Report of a collective, for the caller.

mod two_level;

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use optireduce_core::protocol;
use optireduce_core::protocol::repair::RepairReport;
use optireduce_core::protocol::{ClosedBy, Kind, Stage, StageSummary, UpdateAction};
use serde::Serialize;

pub(super) use self::two_level::Numbers;
pub use self::two_level::TwoLevelReport;

/// Outcome of a collective on this rank.
///
/// Bytes count values as fp32. "In time" means before the stage closed. `Display` prints one line
/// for a log.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[must_use = "it shows losses, whether the update was applied, and a rank that needs the model"]
pub struct Report {
    #[serde(flatten)]
    collective: protocol::Report,
    /// Repairs of all buckets when this collective finished.
    job_repair: RepairReport,
    #[serde(flatten)]
    bound: BoundStatus,
    joined_rank: Option<usize>,
    copied_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct BoundStatus {
    /// The ranks are still measuring the bound.
    pub measuring_bound: bool,
    /// The previous collective had a different bound.
    pub bound_changed: bool,
}

impl Report {
    pub(super) fn new(
        collective: protocol::Report,
        job_repair: RepairReport,
        bound: BoundStatus,
        joined_rank: Option<usize>,
        copied_bytes: u64,
    ) -> Self {
        Self { collective, job_repair, bound, joined_rank, copied_bytes }
    }

    #[doc(hidden)]
    pub fn add_copied(&mut self, values: &[f32]) {
        self.copied_bytes += size_of_val(values) as u64;
    }

    /// Bytes copied between the caller, the engine and a card. All-reduces of declared buckets
    /// only.
    pub fn copied_bytes(&self) -> u64 {
        self.copied_bytes
    }

    /// Rank that rejoins with this collective; the same on all ranks.
    ///
    /// It needs the model: wait for collectives in progress, settle the buckets, then
    /// [`broadcast`](crate::Exact::broadcast) from a rank that stayed.
    pub fn joined_rank(&self) -> Option<usize> {
        self.joined_rank
    }

    /// Kind of collective.
    pub fn kind(&self) -> Kind {
        self.collective.kind
    }

    /// Number of the collective, the same on all ranks.
    pub fn op(&self) -> u32 {
        self.collective.op
    }

    /// Id of the bucket.
    pub fn bucket(&self) -> u16 {
        self.collective.bucket
    }

    /// Number of elements in the bucket.
    pub fn elements(&self) -> usize {
        self.collective.elements
    }

    /// Packets that a rank with the largest shards expects from its peers; the same number on all
    /// ranks.
    pub fn packets(&self) -> u64 {
        self.collective.packets
    }

    /// Returns whether the values travelled Hadamard-encoded.
    pub fn is_hadamard(&self) -> bool {
        self.collective.hadamard
    }

    /// Returns whether the result contains the update; always true for an all-gather.
    ///
    /// A reduction that lost more than 10 % of the expected bytes is skipped: its result is zeros,
    /// the neutral update. Repairs add the update to a later result of the bucket, unless all ranks
    /// agreed to skip it. The last of too many skips in a row is [`Error::Halted`].
    ///
    /// Contributions of late ranks count as lost only if most peers are late. A one-off reduction
    /// is also skipped if anything is missing after its repairs, and never halts. Ranks may differ
    /// unless they [agree](crate::Settings::agree).
    ///
    /// [`Error::Halted`]: crate::Error::Halted
    pub fn is_applied(&self) -> bool {
        self.action() == UpdateAction::Apply || self.kind() == Kind::AllGather
    }

    pub(super) fn action(&self) -> UpdateAction {
        self.collective.action
    }

    #[cfg(test)]
    pub(super) fn halting(mut self) -> Self {
        self.collective.action = UpdateAction::Halt;
        self
    }

    /// Returns whether all ranks that take part have agreed on [`is_applied`](Self::is_applied).
    pub fn is_agreed(&self) -> bool {
        self.collective.agreed
    }

    /// Ranks that took part, in ascending order.
    pub fn live_ranks(&self) -> &[usize] {
        &self.collective.live
    }

    /// Ranks less than half of whose contribution (in an all-gather: shard) arrived in time. With
    /// one packet per shard, a single loss looks the same.
    pub fn late_ranks(&self) -> &[usize] {
        &self.collective.late_peers
    }

    /// Returns whether this rank was late: in some window, the contribute stage of its shard closed
    /// before its gradient was added, so the mean of that shard excludes the gradient.
    pub fn is_late(&self) -> bool {
        !self.collective.local_contribution
    }

    /// Bytes expected from peers.
    pub fn expected_bytes(&self) -> u64 {
        self.collective.stages.iter().map(|stage| stage.expected_bytes).sum()
    }

    /// Bytes received from peers in time.
    pub fn received_bytes(&self) -> u64 {
        self.collective.stages.iter().map(|stage| stage.received_bytes).sum()
    }

    /// Bytes of peers that did not arrive in time.
    pub fn lost_bytes(&self) -> u64 {
        self.collective.lost_bytes
    }

    /// Lost fraction of [`expected_bytes`](Self::expected_bytes), 0 to 1.
    pub fn loss(&self) -> f64 {
        self.collective.loss()
    }

    /// Details of a stage.
    pub fn stage(&self, stage: Stage) -> &StageSummary {
        &self.collective.stages[stage.index()]
    }

    /// Worst reason for closing a stage over all windows.
    pub fn closed_by(&self, stage: Stage) -> ClosedBy {
        self.stage(stage).closed_by
    }

    /// Longest time from the start of a stage to its close in one window, not of the whole call.
    pub fn stage_time(&self, stage: Stage) -> Duration {
        Duration::from_nanos(self.stage(stage).elapsed_ns_max)
    }

    /// Ranks with missing bytes in a stage, dropped ranks included. In an all-gather,
    /// [`Stage::Broadcast`] lists the ranks whose shards have zeros, unless they were repaired.
    pub fn missing_from(&self, stage: Stage) -> Vec<usize> {
        self.collective.missing_from(stage)
    }

    /// Bound t_B in this collective.
    pub fn stage_deadline(&self) -> Duration {
        Duration::from_nanos(self.collective.bound_ns)
    }

    /// Returns whether this collective used the longest t_B, while the ranks
    /// [measured](crate::Settings::bound) it.
    pub fn is_measuring_stage_deadline(&self) -> bool {
        self.bound.measuring_bound
    }

    /// Returns whether this collective is the first with a new t_B.
    pub fn stage_deadline_changed(&self) -> bool {
        self.bound.bound_changed
    }

    /// Elements missing in the result, in order: zeros, or Hadamard blocks with a missing part.
    ///
    /// With repairs, the elements of a declared bucket's all-reduce are added to a later result.
    /// Empty if such an all-reduce was skipped.
    pub fn missing_ranges(&self) -> &[Range<usize>] {
        self.collective.missing_ranges()
    }

    /// Number of infinities and NaNs in the result, complete or not.
    pub fn not_finite(&self) -> u64 {
        self.collective.not_finite
    }

    /// Returns whether the result includes repairs of earlier results of the bucket.
    pub fn is_corrected(&self) -> bool {
        self.collective.repair.corrected
    }

    /// Repairs of the bucket so far.
    pub fn repairs(&self) -> &RepairReport {
        &self.collective.repair.bytes
    }

    /// Bytes of means with outstanding repairs, in all buckets: replica divergence for now.
    pub fn outstanding_bytes(&self) -> u64 {
        self.job_repair.outstanding_bytes
    }

    /// Bytes of means whose repair was given up since the job began, in all buckets: permanent
    /// replica divergence.
    pub fn drift_bytes(&self) -> u64 {
        self.job_repair.drift_bytes
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = self.action();
        let (op, kind, bucket, elements) = (self.op(), self.kind(), self.bucket(), self.elements());
        write!(
            f,
            "op {op}: {kind} of bucket {bucket}, {elements} elements, {} ranks: {action}",
            self.live_ranks().len()
        )?;
        for stage in Stage::ALL.into_iter().filter(|stage| self.kind().sends(*stage)) {
            let name = match stage {
                Stage::Contribute => "contribute",
                Stage::Broadcast => "broadcast",
            };
            let closed = match self.closed_by(stage) {
                ClosedBy::Complete => "complete",
                ClosedBy::Early => "early",
                ClosedBy::Deadline => "deadline",
            };
            let ms = self.stage_time(stage).as_secs_f64() * 1e3;
            let percent = self.stage(stage).received_fraction * 100.0;
            write!(f, "; {name} {percent:.3} % in {ms:.3} ms ({closed})")?;
        }
        if !self.late_ranks().is_empty() {
            write!(f, "; late: {:?}", self.late_ranks())?;
        }
        if self.is_late() {
            f.write_str("; this rank was late")?;
        }
        for (bytes, what) in
            [(self.lost_bytes(), "lost"), (self.outstanding_bytes(), "outstanding"), (self.drift_bytes(), "drift")]
        {
            if bytes > 0 {
                write!(f, "; {what} {bytes} B")?;
            }
        }
        if self.not_finite() > 0 {
            write!(f, "; {} values are not finite", self.not_finite())?;
        }
        if self.is_corrected() {
            f.write_str("; corrects earlier results")?;
        }
        let deadline_ms = self.stage_deadline().as_secs_f64() * 1e3;
        if self.is_measuring_stage_deadline() {
            write!(f, "; the stage deadline is being measured, {deadline_ms:.3} ms until then")?;
        } else if self.stage_deadline_changed() {
            write!(f, "; the stage deadline is {deadline_ms:.3} ms from now on")?;
        }
        Ok(())
    }
}
