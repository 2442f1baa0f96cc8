//! Stage reports of a data plane, and reports of collectives.
//!
//! Lost bytes are bytes of peers that did not arrive in time. Missing contributions of late ranks
//! are loss ([`Report::loss`]) but not network loss ([`Report::network_loss`]), since the mean over
//! the other ranks is a sound update.

use std::ops::Range;

use serde::Serialize;

use super::repair::RepairReport;
use super::types::{ClosedBy, Kind, PeerHints, Ranks, Stage, UpdateAction};
use optireduce_contract::packet::TIMEOUT_UNIT_NS;

/// Outcome of one stage of one window, as observed by one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct StageReport {
    pub cookie: u32,
    pub stage: Stage,
    pub closed_by: ClosedBy,
    /// Bytes received from each rank without duplicates. In the contribute stage, this rank's entry
    /// is the summed part of its gradient.
    pub received_bytes_per_rank: Vec<u64>,
    /// Time from the start of the stage's clock to its close, in ns.
    pub elapsed_ns: u64,
    /// Ranks with at least one received packet.
    pub heard: Ranks,
    /// Arrival of each rank's last packet, in ns on the stage's clock; 0 without packets. Empty on
    /// a card.
    pub last_ns_per_rank: Vec<u64>,
    /// Hints in each rank's headers; zero for this and for silent ranks. Empty on a card.
    pub hints: Vec<PeerHints>,
}

impl StageReport {
    /// Stage time for the header's timeout field, in units of 16 us, rounded up, saturating.
    ///
    /// For a complete stage, the elapsed time. For an incomplete one, the time until the last
    /// packet (on a card, the elapsed time of an early close), scaled to `expected_bytes` from all
    /// ranks. Without either, the bound.
    ///
    /// Source: OptiReduce 3.2.1. Ours: the time ends with the last packet. With the grace time,
    /// which depends on these samples, both would grow under loss.
    pub fn timeout_16us(&self, bound_ns: u64, expected_bytes: u64) -> u16 {
        let received: u64 = self.received_bytes_per_rank.iter().sum();
        let scaled = |ns: u64| {
            let scaled = u128::from(ns) * u128::from(expected_bytes) / u128::from(received.max(1));
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        let ns = match (self.closed_by, self.last_ns_per_rank.iter().max()) {
            (ClosedBy::Complete, _) => self.elapsed_ns,
            (_, Some(0)) => bound_ns,
            _ if received == 0 => bound_ns,
            (_, Some(last_ns)) => scaled(*last_ns),
            (ClosedBy::Early, None) => scaled(self.elapsed_ns),
            (ClosedBy::Deadline, None) => bound_ns,
        };
        ns.div_ceil(TIMEOUT_UNIT_NS).try_into().unwrap_or(u16::MAX)
    }
}

/// One stage of a collective, over all windows.
///
/// Bytes and fractions count the data of the peers that arrived in time. Entries of this rank are
/// 0 bytes and fraction 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
#[allow(missing_docs)] // described above
pub struct StageSummary {
    pub expected_bytes: u64,
    pub received_bytes: u64,
    /// `received_bytes / expected_bytes`; 1 if nothing was expected.
    pub received_fraction: f64,
    pub expected_bytes_per_rank: Vec<u64>,
    pub received_bytes_per_rank: Vec<u64>,
    pub received_fraction_per_rank: Vec<f64>,
    /// Worst reason for closing over all windows.
    pub closed_by: ClosedBy,
    pub closed_by_window: Vec<ClosedBy>,
    /// Longest time from the start of a window's clock to its close, in ns.
    pub elapsed_ns_max: u64,
    /// Likewise, to the last packets of the peers; a peer far behind all others does not extend it.
    /// `None` if unknown, as on a card in the contribute stage, elsewhere in the broadcast stage of
    /// an all-reduce.
    pub transfer_ns: Option<u64>,
    /// Longest stage time of a window by each rank, in units of 16 us; 0 if unknown.
    pub samples_16us: Vec<u16>,
}

/// Repairs of a declared bucket, after one of its collectives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RepairStatus {
    /// Whether this output contains corrections of earlier outputs.
    pub corrected: bool,
    /// Totals of the bucket.
    #[serde(flatten)]
    pub bytes: RepairReport,
    /// Largest magnitude known to be missing in the sum of all outputs: skipped updates not yet
    /// complete, and rounding errors. Other outstanding repairs do not count.
    pub pending_max: f64,
}

/// Result of a collective on one rank. Arrays have an entry for the contribute and one for the
/// broadcast stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
#[allow(missing_docs)] // described above
pub struct Report {
    pub kind: Kind,
    pub op: u32,
    /// t_B, the bound on each stage, in ns.
    pub bound_ns: u64,
    pub bucket: u16,
    pub elements: usize,
    /// Packets that a rank receives without loss, both stages together. Computed for the largest
    /// shard, thus equal on all ranks.
    pub packets: u64,
    pub hadamard: bool,
    /// Participating ranks, as in the view.
    pub live: Vec<usize>,
    pub received_fraction: [f64; 2],
    /// Bytes not received in time, padding included, both stages together.
    pub lost_bytes: u64,
    pub closed_by: [ClosedBy; 2],
    /// Peers with less than half of their contribution (all-gather: of their part) received in
    /// time.
    pub late_peers: Vec<usize>,
    /// Whether this rank's gradient is in its own shard of every window.
    pub local_contribution: bool,
    pub action: UpdateAction,
    /// Whether the action was decided by vote. False if this rank judged alone.
    pub agreed: bool,
    /// Number of infinities and NaNs in the result, or in the received part of a skipped update.
    pub not_finite: u64,
    /// See [`missing_ranges`](Self::missing_ranges).
    pub missing: Vec<Range<usize>>,
    pub repair: RepairStatus,
    pub stages: [StageSummary; 2],
}

impl Report {
    /// Elements of the bucket missing in the result, in order: zeros, or whole Hadamard blocks with
    /// a missing part. A declared bucket adds them to a later output. Empty if the update was
    /// skipped. A card reports whole shards.
    pub fn missing_ranges(&self) -> &[Range<usize>] {
        &self.missing
    }

    /// Returns whether this rank did not apply the update. With repairs, a later output of the same
    /// bucket includes the whole update, unless all ranks skipped it.
    pub fn is_skipped(&self) -> bool {
        self.action != UpdateAction::Apply
    }

    /// Ranks with missing data in a stage, before [repairs](Self::missing_ranges). Includes dropped
    /// ranks in the stage that carries the ranks' own inputs.
    pub fn missing_from(&self, stage: Stage) -> Vec<usize> {
        let StageSummary { expected_bytes_per_rank, received_bytes_per_rank, .. } = &self.stages[stage.index()];
        let counts = expected_bytes_per_rank.iter().zip(received_bytes_per_rank).enumerate();
        let own_data = if self.kind == Kind::AllGather { Stage::Broadcast } else { Stage::Contribute };
        let is_out = |rank: &usize| stage == own_data && !self.live.contains(rank);
        let missing = counts.filter(|(rank, (expected, received))| received < expected || is_out(rank));
        missing.map(|(rank, _)| rank).collect()
    }

    /// Converts indices into the view `live` to ranks of the job.
    pub(crate) fn renumbered(mut self, live: &[usize], ranks: usize) -> Self {
        if live.iter().copied().eq(0..ranks) {
            return Self { live: live.to_vec(), ..self };
        }
        fn spread<T: Copy>(of: &[T], live: &[usize], ranks: usize, other: T) -> Vec<T> {
            let mut all = vec![other; ranks];
            live.iter().zip(of).for_each(|(rank, one)| all[*rank] = *one);
            all
        }
        for stage in &mut self.stages {
            stage.expected_bytes_per_rank = spread(&stage.expected_bytes_per_rank, live, ranks, 0);
            stage.received_bytes_per_rank = spread(&stage.received_bytes_per_rank, live, ranks, 0);
            stage.received_fraction_per_rank = spread(&stage.received_fraction_per_rank, live, ranks, 1.0);
            stage.samples_16us = spread(&stage.samples_16us, live, ranks, 0);
        }
        self.late_peers = self.late_peers.iter().map(|index| live[*index]).collect();
        self.live = live.to_vec();
        self
    }

    /// Loss of the peers' bytes, both stages together, 0 to 1.
    pub fn loss(&self) -> f64 {
        let expected: u64 = self.stages.iter().map(|stage| stage.expected_bytes).sum();
        1.0 - fraction(expected - self.lost_bytes.min(expected), expected)
    }

    /// Loss of the contributions of peers that are not late; of all peers if most are late.
    pub fn contribute_loss(&self) -> f64 {
        let stage = &self.stages[0];
        let most_are_late = 2 * self.late_peers.len() > self.live.len().saturating_sub(1);
        let late: &[usize] = if most_are_late { &[] } else { &self.late_peers };
        let without = |all: u64, bytes: &[u64]| all - late.iter().filter_map(|peer| bytes.get(*peer)).sum::<u64>();
        let expected = without(stage.expected_bytes, &stage.expected_bytes_per_rank);
        1.0 - fraction(without(stage.received_bytes, &stage.received_bytes_per_rank), expected)
    }

    /// Loss without the contributions of late peers, unless most peers are late. The safeguard
    /// judges by it.
    pub fn network_loss(&self) -> f64 {
        let broadcast = &self.stages[1];
        self.loss_with_means(broadcast.expected_bytes.saturating_sub(broadcast.received_bytes))
    }

    /// As [`network_loss`](Self::network_loss), with `missing_bytes` of the peers' means missing.
    pub fn loss_with_means(&self, missing_bytes: u64) -> f64 {
        let [contribute, broadcast] = &self.stages;
        let most_are_late = 2 * self.late_peers.len() > self.live.len().saturating_sub(1);
        let late: &[usize] = if most_are_late { &[] } else { &self.late_peers };
        let without = |all: u64, bytes: &[u64]| all - late.iter().filter_map(|peer| bytes.get(*peer)).sum::<u64>();
        let expected = without(contribute.expected_bytes, &contribute.expected_bytes_per_rank);
        let received = without(contribute.received_bytes, &contribute.received_bytes_per_rank);
        let means = broadcast.expected_bytes;
        1.0 - fraction(received + means.saturating_sub(missing_bytes), expected + means)
    }
}

pub(super) fn fraction(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worse_closes_are_greater() {
        assert!(ClosedBy::Deadline > ClosedBy::Early && ClosedBy::Early > ClosedBy::Complete);
    }

    #[test]
    fn time_samples_follow_the_way_the_stage_closed() {
        let sample_of = |closed_by, elapsed_ns, received, last_ns_per_rank| {
            let received_bytes_per_rank = vec![received, 0];
            StageReport {
                cookie: 0,
                stage: Stage::Contribute,
                closed_by,
                received_bytes_per_rank,
                elapsed_ns,
                heard: Ranks::default(),
                last_ns_per_rank,
                hints: Vec::new(),
            }
            .timeout_16us(1_600_000, 1000)
        };
        let sample = |closed_by, elapsed_ns, received| sample_of(closed_by, elapsed_ns, received, Vec::new());
        assert_eq!(sample(ClosedBy::Complete, 160_000, 1000), 10);
        assert_eq!(sample(ClosedBy::Complete, 160_001, 1000), 11);
        assert_eq!(sample(ClosedBy::Deadline, 1_600_004, 10), 100);
        assert_eq!(sample(ClosedBy::Early, 160_000, 500), 20);
        assert_eq!(sample(ClosedBy::Early, 160_000, 0), 100);
        assert_eq!(sample(ClosedBy::Complete, u64::MAX, 1000), u16::MAX);
        assert_eq!(sample(ClosedBy::Early, u64::MAX, 1), u16::MAX);
        let last = |closed_by, received, last_ns| sample_of(closed_by, 1_600_000, received, vec![0, last_ns]);
        assert_eq!(last(ClosedBy::Complete, 1000, 80_000), 100);
        assert_eq!([ClosedBy::Early, ClosedBy::Deadline].map(|by| last(by, 500, 80_000)), [10, 10]);
        assert_eq!([ClosedBy::Early, ClosedBy::Deadline].map(|by| last(by, 500, 0)), [100, 100], "nothing came");
    }

    #[test]
    fn when_most_peers_are_late_all_that_is_missing_counts() {
        let stage = |received: [u64; 4]| StageSummary {
            transfer_ns: None,
            expected_bytes: 300,
            received_bytes: received.iter().sum(),
            received_fraction: 0.0,
            received_fraction_per_rank: vec![1.0; 4],
            expected_bytes_per_rank: vec![0, 100, 100, 100],
            received_bytes_per_rank: received.to_vec(),
            closed_by: ClosedBy::Deadline,
            closed_by_window: vec![ClosedBy::Deadline],
            elapsed_ns_max: 0,
            samples_16us: Vec::new(),
        };
        let report = |received, late_peers: &[usize], lost_bytes| Report {
            bound_ns: 1,
            kind: Kind::AllReduce,
            op: 0,
            bucket: 0,
            elements: 0,
            packets: 0,
            hadamard: false,
            live: vec![0, 1, 2, 3],
            received_fraction: [0.0; 2],
            lost_bytes,
            closed_by: [ClosedBy::Deadline; 2],
            late_peers: late_peers.to_vec(),
            local_contribution: true,
            action: UpdateAction::Apply,
            agreed: false,
            not_finite: 0,
            missing: vec![],
            repair: RepairStatus::default(),
            stages: [stage(received), stage([0, 100, 100, 90])],
        };
        let one = report([0, 100, 100, 0], &[3], 110);
        assert!((one.network_loss() - 10.0 / 500.0).abs() < 1e-12, "{}", one.network_loss());
        let two = report([0, 100, 0, 0], &[2, 3], 210);
        assert!((two.network_loss() - 210.0 / 600.0).abs() < 1e-12, "{}", two.network_loss());
    }

    #[test]
    fn names_in_json_are_lower_case() {
        assert_eq!(serde_json::to_string(&ClosedBy::Deadline).unwrap(), r#""deadline""#);
        assert_eq!(serde_json::to_string(&UpdateAction::Halt).unwrap(), r#""halt""#);
    }
}
