//! Stages of a report.

use std::fmt;
use std::time::Duration;

use optireduce_core::protocol::{ClosedBy, Stage, StageSummary};
use serde::Serialize;

use super::ms;

/// One stage of a collective, over all its windows. Bytes count the data of peers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StageReport {
    /// Contribute, then broadcast.
    pub stage: Stage,
    /// Reason of the close; the worst of the windows.
    pub closed_by: ClosedBy,
    /// Reason of the close of each window.
    pub closed_by_window: Vec<ClosedBy>,
    /// Longest time of a window from its start to its close, not of the whole call.
    #[serde(rename = "time_ms", serialize_with = "ms")]
    pub time: Duration,
    /// Bytes expected from peers.
    pub expected_bytes: u64,
    /// Bytes that arrived in time.
    pub received_bytes: u64,
    /// `received_bytes / expected_bytes`; 1 if nothing was expected.
    pub received_fraction: f64,
    /// Data by rank, in ascending order. Entries of this rank and of dropped ranks are 0 bytes.
    pub peers: Vec<PeerReport>,
}

/// Data of one rank in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PeerReport {
    /// Sender of the data.
    pub rank: usize,
    /// Bytes expected from the rank.
    pub expected_bytes: u64,
    /// Bytes that arrived in time.
    pub received_bytes: u64,
}

impl StageReport {
    pub(in super::super) fn new(stage: Stage, summary: StageSummary) -> Self {
        let bytes = summary.expected_bytes_per_rank.iter().zip(&summary.received_bytes_per_rank).enumerate();
        let peer = |(rank, (expected, received)): (usize, (&u64, &u64))| PeerReport {
            rank,
            expected_bytes: *expected,
            received_bytes: *received,
        };
        Self {
            stage,
            closed_by: summary.closed_by,
            closed_by_window: summary.closed_by_window,
            time: Duration::from_nanos(summary.elapsed_ns_max),
            expected_bytes: summary.expected_bytes,
            received_bytes: summary.received_bytes,
            received_fraction: summary.received_fraction,
            peers: bytes.map(peer).collect(),
        }
    }
}

impl fmt::Display for StageReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stage, closed_by, .. } = self;
        let (percent, ms) = (self.received_fraction * 100.0, self.time.as_secs_f64() * 1e3);
        write!(f, "{stage} {percent:.3} % in {ms:.3} ms ({closed_by})")
    }
}
