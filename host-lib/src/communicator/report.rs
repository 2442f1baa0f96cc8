//! How a collective went, for the caller.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use optireduce_core::protocol;
use optireduce_core::protocol::repair::RepairReport;
use optireduce_core::protocol::{ClosedBy, Kind, Stage, StageSummary, UpdateAction};
use serde::Serialize;

/// How a collective went, as this rank saw it: who was late, what was lost, and what to do with the update.
///
/// Bytes are bytes of fp32, whatever travelled. `Display` gives one line for a log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    #[serde(flatten)]
    collective: protocol::Report,
    /// Of the job, as of this collective.
    job_repair: RepairReport,
    #[serde(flatten)]
    bound: BoundStatus,
    joined_rank: Option<usize>,
    copied_bytes: u64,
}

/// What is known of the bound beside its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct BoundStatus {
    /// The ranks still measure it, over the job's collectives.
    pub measuring_bound: bool,
    /// The collective before had another one.
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

    /// Of a binding: these values were copied, too.
    #[doc(hidden)]
    pub fn add_copied(&mut self, values: &[f32]) {
        self.copied_bytes += size_of_val(values) as u64;
    }

    /// Of an all-reduce of a declared bucket: bytes that were copied between the caller's memory and the engine's, and between that and a card's, of the gradient
    /// and of the result. Other calls always copy, and do not count it.
    pub fn copied_bytes(&self) -> u64 {
        self.copied_bytes
    }

    /// The rank that takes part again from this collective on, the same on all ranks: it was dropped before, or its process was
    /// started again. It needs the model: settle the buckets, then [`broadcast`](crate::Communicator::broadcast) it from a rank
    /// that stayed. Calls over TCP include it from now on; wait for all collectives that run before the next such call.
    pub fn joined_rank(&self) -> Option<usize> {
        self.joined_rank
    }

    /// What was done.
    pub fn kind(&self) -> Kind {
        self.collective.kind
    }

    /// Number of the collective, counted alike on all ranks.
    pub fn op(&self) -> u32 {
        self.collective.op
    }

    /// Id of the bucket.
    pub fn bucket(&self) -> u16 {
        self.collective.bucket
    }

    /// Elements of the bucket.
    pub fn elements(&self) -> usize {
        self.collective.elements
    }

    /// Packets that come to a rank from its peers if none is lost, both stages together: the same number for all ranks, that of the rank with the
    /// largest shards. Skips in a row halt the job once their collectives had [`PACKETS_HALT`](crate::PACKETS_HALT) of them.
    pub fn packets(&self) -> u64 {
        self.collective.packets
    }

    /// Whether it travelled Hadamard-encoded.
    pub fn is_hadamard(&self) -> bool {
        self.collective.hadamard
    }

    /// What to do with the update: apply it, skip it, or halt the job.
    pub fn action(&self) -> UpdateAction {
        self.collective.action
    }

    /// Whether all ranks that take part have agreed on [`action`](Self::action).
    pub fn is_agreed(&self) -> bool {
        self.collective.agreed
    }

    /// Ranks that took part.
    pub fn live_ranks(&self) -> &[usize] {
        &self.collective.live
    }

    /// Ranks that were late: of their contribution (all-gather: of their shard) less than half came in time. With one packet
    /// a shard a single loss looks the same.
    pub fn late_ranks(&self) -> &[usize] {
        &self.collective.late_peers
    }

    /// Whether this rank was late: its own gradient is not in its shard of every window.
    pub fn is_late(&self) -> bool {
        !self.collective.local_contribution
    }

    /// Bytes that peers were to send, both stages together.
    pub fn expected_bytes(&self) -> u64 {
        self.collective.stages.iter().map(|stage| stage.expected_bytes).sum()
    }

    /// Bytes of peers that came in time, both stages together.
    pub fn received_bytes(&self) -> u64 {
        self.collective.stages.iter().map(|stage| stage.received_bytes).sum()
    }

    /// Bytes of peers that did not come in time, both stages together.
    pub fn lost_bytes(&self) -> u64 {
        self.collective.lost_bytes
    }

    /// Lost fraction of the bytes that peers were to send, both stages together, 0 to 1.
    pub fn loss(&self) -> f64 {
        self.collective.loss()
    }

    /// One stage in detail: bytes by rank, why and when it closed.
    pub fn stage(&self, stage: Stage) -> &StageSummary {
        &self.collective.stages[stage.index()]
    }

    /// Why a stage closed, worst over its windows.
    pub fn closed_by(&self, stage: Stage) -> ClosedBy {
        self.stage(stage).closed_by
    }

    /// Longest time from the start of a stage to its close, over its windows.
    pub fn stage_time(&self, stage: Stage) -> Duration {
        Duration::from_nanos(self.stage(stage).elapsed_ns_max)
    }

    /// Ranks of which something is missing in a stage, those included that take no part any more. After an all-gather,
    /// [`Stage::Broadcast`] gives the ranks whose shards have zeros, unless they were [repaired](Self::missing_ranges).
    pub fn missing_from(&self, stage: Stage) -> Vec<usize> {
        self.collective.missing_from(stage)
    }

    /// The deadline of each stage (t_B) in this collective.
    pub fn stage_deadline(&self) -> Duration {
        Duration::from_nanos(self.collective.bound_ns)
    }

    /// Whether the ranks were still measuring the stage deadline, so that this collective had the longest one; see
    /// [`Bound::Measured`](crate::Bound::Measured).
    pub fn is_measuring_stage_deadline(&self) -> bool {
        self.bound.measuring_bound
    }

    /// Whether this collective is the first with a new stage deadline.
    pub fn stage_deadline_changed(&self) -> bool {
        self.bound.bound_changed
    }

    /// Whether this rank left the update out: too much was lost, and its values are as they were. With repairs, the update
    /// comes whole with a later output of the same bucket.
    pub fn is_skipped(&self) -> bool {
        self.collective.is_skipped()
    }

    /// Elements that the result lacks, in order: zeros, or whole Hadamard blocks of which a part is missing. Of a declared
    /// bucket they come with a later output, if repairs are on; of a one-off collective they never come. None if the update was
    /// skipped: then nothing of it is in the values.
    pub fn missing_ranges(&self) -> &[Range<usize>] {
        self.collective.missing_ranges()
    }

    /// Values of the result, or of what came of an update that was skipped, that are infinities or NaNs: a rank gave them, a
    /// sum was too large, or a packet was damaged where no checksum reaches.
    pub fn not_finite(&self) -> u64 {
        self.collective.not_finite
    }

    /// Whether the result contains what earlier results of the bucket lacked.
    pub fn is_corrected(&self) -> bool {
        self.collective.repair.corrected
    }

    /// Repairs of the bucket so far: what was missing, was fetched since, is outstanding, or was given up.
    pub fn repairs(&self) -> &RepairReport {
        &self.collective.repair.bytes
    }

    /// Bytes of means of all buckets that this rank has still asked for: as long, its replica differs from others.
    pub fn outstanding_bytes(&self) -> u64 {
        self.job_repair.outstanding_bytes
    }

    /// Bytes of means of all buckets that were given up since the job began: there this replica differs from others for good.
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
