//! What a data plane says about a stage, and what a collective says about itself.
//!
//! Loss is counted in bytes that peers were to send and that did not arrive in time, over both stages. This rank's own
//! shard never counts. What a late rank did not contribute is loss ([`Report::loss`]) but not the network's
//! ([`Report::network_loss`]): the mean is then one over the other ranks, and as good as theirs.

use std::ops::Range;

use serde::Serialize;

use super::repair::RepairReport;
use super::types::{ClosedBy, Kind, PeerHints, Ranks, Stage, UpdateAction};
use optireduce_contract::packet::TIMEOUT_UNIT_NS;

/// What happened in one stage of one window, as seen by one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageReport {
    /// Cookie of the window.
    pub cookie: u32,
    /// The stage.
    pub stage: Stage,
    /// Why it closed.
    pub closed_by: ClosedBy,
    /// Bytes received from each rank, each byte counted once; length `ranks`. In the contribute stage the entry of this
    /// rank is what was summed of its own gradient.
    pub received_bytes_per_rank: Vec<u64>,
    /// Time from the start of the stage's clock to its close, in ns.
    pub elapsed_ns: u64,
    /// Ranks of which something came.
    pub heard: Ranks,
    /// When the last packet of each rank came, in ns since the start of the stage's clock; 0 if none did. Empty if the data
    /// plane does not say (a card).
    pub last_ns_per_rank: Vec<u64>,
    /// The hints in each rank's headers, by rank; all zero for this rank and for ranks that were not heard. Empty if the data plane
    /// does not read them (a card).
    pub hints: Vec<PeerHints>,
}

impl StageReport {
    /// The stage time sample for the header's timeout field, in units of 16 us, rounded up, saturating.
    ///
    /// Complete: the elapsed time. Otherwise the time until the last packet, scaled to what would have been complete; the bound if
    /// nothing came. Of a data plane that does not say when packets came: the elapsed time scaled if it closed early, the bound at the
    /// deadline.
    /// `expected_bytes`: what was expected from all ranks. Source: OptiReduce 3.2.1. Ours: until the last packet. The grace time
    /// follows from samples, and a stage that closes early or at its deadline has waited for it: with that in the samples it grows with
    /// itself, under loss until windows that follow one another take ten times as long.
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

/// One stage of a collective, over all its windows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StageSummary {
    /// Bytes that peers were to send.
    pub expected_bytes: u64,
    /// Bytes that came from peers in time.
    pub received_bytes: u64,
    /// `received_bytes / expected_bytes`; 1 if nothing was expected.
    pub received_fraction: f64,
    /// Bytes that each rank was to send; 0 for this rank itself.
    pub expected_bytes_per_rank: Vec<u64>,
    /// Bytes that came from each rank in time; 0 for this rank itself.
    pub received_bytes_per_rank: Vec<u64>,
    /// `received_fraction` of each rank's bytes; 1 for this rank itself.
    pub received_fraction_per_rank: Vec<f64>,
    /// Why the stage closed, worst over the windows.
    pub closed_by: ClosedBy,
    /// Why the stage closed, for each window.
    pub closed_by_window: Vec<ClosedBy>,
    /// Longest time from the start of a window's clock to the close, in ns.
    pub elapsed_ns_max: u64,
    /// How long the network took, in ns: from the start of a window's clock until the last packets of the peers came, the longest of
    /// the windows. A peer that is far behind all others does not lengthen it. `None` if that is not known: on a card in the
    /// contribute stage, elsewhere in the broadcast stage of an all-reduce.
    pub transfer_ns: Option<u64>,
    /// For each rank the longest time of a window that it says the stage took, in units of 16 us, this rank's own included;
    /// 0 if it was not heard or says nothing.
    pub samples_16us: Vec<u16>,
}

/// What repairs have to do with a collective of a declared bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RepairStatus {
    /// Whether this output contains what outputs before it lacked.
    pub corrected: bool,
    /// Bytes of the bucket since the beginning of the job: what was missing, and what has become of it. `drift_bytes` are
    /// lost for good: this replica differs from others there.
    #[serde(flatten)]
    pub bytes: RepairReport,
    /// Largest magnitude that is known to be missing in the sum of all outputs so far: updates that were skipped and are
    /// not whole yet, and what rounding left. What is outstanding of other updates is not known.
    pub pending_max: f64,
}

/// What a collective says about itself, as seen by one rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// What was done.
    pub kind: Kind,
    /// Collective number.
    pub op: u32,
    /// t_B, the bound on each of its stages, in ns.
    pub bound_ns: u64,
    /// Bucket id.
    pub bucket: u16,
    /// Elements of the bucket.
    pub elements: usize,
    /// Packets that come to a rank from its peers if none is lost, both stages together: the same number for all ranks, that of
    /// the rank with the largest shards.
    pub packets: u64,
    /// Whether it travelled Hadamard-encoded.
    pub hadamard: bool,
    /// Ranks that took part: those of the view.
    pub live: Vec<usize>,
    /// Fraction of the peers' bytes received: contribute, broadcast.
    pub received_fraction: [f64; 2],
    /// Bytes of peers that did not come in time, padding included, both stages together.
    pub lost_bytes: u64,
    /// Why the stages closed, worst over the windows: contribute, broadcast.
    pub closed_by: [ClosedBy; 2],
    /// Peers of whose contribution (all-gather: of whose part) less than half came in time. With one packet per shard a
    /// single loss looks the same.
    pub late_peers: Vec<usize>,
    /// Whether this rank's own gradient is in its own shard of every window. `false`: this rank was late.
    pub local_contribution: bool,
    /// What to do with the update.
    pub action: UpdateAction,
    /// Whether that is what all ranks do that take part: they have agreed on it.
    pub agreed: bool,
    /// Values of the result, or of what is there of it if the update was skipped, that are infinities or NaNs: a rank gave
    /// them, a sum was too large, or a packet was damaged where no checksum reaches.
    pub not_finite: u64,
    /// Elements of the bucket that the result lacks, see [`missing_ranges`](Self::missing_ranges).
    pub missing: Vec<Range<usize>>,
    /// Repairs of the bucket so far.
    pub repair: RepairStatus,
    /// The stages in detail: contribute, broadcast.
    pub stages: [StageSummary; 2],
}

impl Report {
    /// Elements of the bucket that did not come by the time of the return, in order: zeros in the result, or whole Hadamard
    /// blocks of which a part is missing. Of a declared bucket they are outstanding, and come with a later output; of a
    /// one-off collective they never come. Empty if the update was skipped: then none of it is in the result.
    /// Data planes that cannot tell them (a card) give whole shards.
    pub fn missing_ranges(&self) -> &[Range<usize>] {
        &self.missing
    }

    /// Whether this rank did not apply the update: what it gave is unchanged. With repairs the update comes whole with a later
    /// output of the same bucket.
    pub fn is_skipped(&self) -> bool {
        self.action != UpdateAction::Apply
    }

    /// Ranks of which not everything came in time in a stage, also because they take no part any more. After an all-gather,
    /// [`Stage::Broadcast`] gives the ranks whose parts have zeros where something is missing, unless it was
    /// [repaired](Self::missing_ranges).
    pub fn missing_from(&self, stage: Stage) -> Vec<usize> {
        let StageSummary { expected_bytes_per_rank, received_bytes_per_rank, .. } = &self.stages[stage.index()];
        let counts = expected_bytes_per_rank.iter().zip(received_bytes_per_rank).enumerate();
        let own_data = if self.kind == Kind::AllGather { Stage::Broadcast } else { Stage::Contribute };
        let is_out = |rank: &usize| stage == own_data && !self.live.contains(rank);
        let missing = counts.filter(|(rank, (expected, received))| received < expected || is_out(rank));
        missing.map(|(rank, _)| rank).collect()
    }

    /// The report by the job's numbers of its ranks, if it has indices into a view: `live` has the numbers. Ranks outside
    /// the view were to send nothing.
    pub(crate) fn renumbered(mut self, live: &[usize], ranks: usize) -> Self {
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

    /// Lost fraction of the bytes that peers were to send, both stages together, 0 to 1.
    pub fn loss(&self) -> f64 {
        let expected: u64 = self.stages.iter().map(|stage| stage.expected_bytes).sum();
        1.0 - fraction(expected - self.lost_bytes.min(expected), expected)
    }

    /// Lost fraction of what peers that are not late were to contribute, 0 to 1; of everything if most are late.
    pub fn contribute_loss(&self) -> f64 {
        let stage = &self.stages[0];
        let most_are_late = 2 * self.late_peers.len() > self.live.len().saturating_sub(1);
        let late: &[usize] = if most_are_late { &[] } else { &self.late_peers };
        let without = |all: u64, bytes: &[u64]| all - late.iter().filter_map(|peer| bytes.get(*peer)).sum::<u64>();
        let expected = without(stage.expected_bytes, &stage.expected_bytes_per_rank);
        1.0 - fraction(without(stage.received_bytes, &stage.received_bytes_per_rank), expected)
    }

    /// As [`loss`](Self::loss), without what late peers were to contribute: what safeguard and Hadamard switch go by.
    /// If more than half of the peers are late, the mean says too little, and everything counts.
    pub fn network_loss(&self) -> f64 {
        let broadcast = &self.stages[1];
        self.loss_with_means(broadcast.expected_bytes.saturating_sub(broadcast.received_bytes))
    }

    /// As [`network_loss`](Self::network_loss), if so many bytes of the peers' means are missing.
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

/// `part / whole`, and 1 if there is no whole.
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
        // What was waited for after the last packet does not count.
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
