//! Loss and timing of a job, per peer and stage, as observed by one rank. Averages are exponential.

use serde::Serialize;

use super::report::{Report, fraction};
use super::types::{ClosedBy, Stage, UpdateAction};

const EWMA_WEIGHT: f64 = 1.0 / 16.0;

/// Data received from one peer in one stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PeerMetrics {
    /// Bytes that the peer had to send.
    pub expected_bytes: u64,
    /// Bytes that arrived in time.
    pub received_bytes: u64,
    /// Smoothed loss, 0 to 1, over the collectives counted here.
    pub loss_ewma: f64,
    /// Collectives in which the peer had data to send and none arrived in time.
    pub silent: u64,
    #[serde(skip)]
    seen: bool,
}

/// Outcomes of one stage: collectives by the worst reason for closing of their windows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
#[allow(missing_docs)] // described above
pub struct StageMetrics {
    pub complete: u64,
    pub early: u64,
    pub deadline: u64,
    /// Longest stage, in ns.
    pub elapsed_ns_max: u64,
    /// Per sending rank; all zero for this rank.
    pub peers: Vec<PeerMetrics>,
}

/// Metrics of one rank so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
#[allow(missing_docs)] // described above
pub struct Metrics {
    pub collectives: u64,
    pub hadamard: u64,
    /// Collectives without this rank's gradient, because the rank was late.
    pub local_late: u64,
    /// Skipped updates, including a halt.
    pub skipped: u64,
    /// Bytes of peers not received in time, both stages together.
    pub lost_bytes: u64,
    /// Infinities and NaNs in results.
    pub not_finite: u64,
    /// Contribute and broadcast stage.
    pub stages: [StageMetrics; 2],
}

impl Metrics {
    /// Adds a finished collective. The world size may grow.
    pub fn observe(&mut self, report: &Report) {
        self.collectives += 1;
        self.hadamard += u64::from(report.hadamard);
        self.local_late += u64::from(!report.local_contribution);
        self.skipped += u64::from(report.action != UpdateAction::Apply);
        self.lost_bytes += report.lost_bytes;
        self.not_finite += report.not_finite;
        for (metrics, stage) in self.stages.iter_mut().zip(&report.stages) {
            match stage.closed_by {
                ClosedBy::Complete => metrics.complete += 1,
                ClosedBy::Early => metrics.early += 1,
                ClosedBy::Deadline => metrics.deadline += 1,
            }
            metrics.elapsed_ns_max = metrics.elapsed_ns_max.max(stage.elapsed_ns_max);
            let ranks = stage.expected_bytes_per_rank.len().max(metrics.peers.len());
            metrics.peers.resize_with(ranks, PeerMetrics::default);
            let bytes = stage.expected_bytes_per_rank.iter().zip(&stage.received_bytes_per_rank);
            for (peer, (&expected, &received)) in metrics.peers.iter_mut().zip(bytes) {
                peer.observe(expected, received);
            }
        }
    }

    /// Returns the loss of `peer` in a stage over all collectives, 0 to 1; 0 for unknown peers.
    pub fn loss_of(&self, peer: usize, stage: Stage) -> f64 {
        let peer = self.stages[stage.index()].peers.get(peer);
        peer.map_or(0.0, |peer| 1.0 - fraction(peer.received_bytes, peer.expected_bytes))
    }
}

impl PeerMetrics {
    fn observe(&mut self, expected_bytes: u64, received_bytes: u64) {
        if expected_bytes == 0 {
            return;
        }
        self.expected_bytes += expected_bytes;
        self.received_bytes += received_bytes;
        self.silent += u64::from(received_bytes == 0);
        let loss = 1.0 - fraction(received_bytes, expected_bytes);
        let weight = if self.seen { EWMA_WEIGHT } else { 1.0 };
        self.loss_ewma += weight * (loss - self.loss_ewma);
        self.seen = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::StageSummary;

    fn stage(expected: &[u64], received: &[u64], closed_by: ClosedBy) -> StageSummary {
        StageSummary {
            transfer_ns: None,
            expected_bytes: expected.iter().sum(),
            received_bytes: received.iter().sum(),
            received_fraction: 0.0,
            expected_bytes_per_rank: expected.to_vec(),
            received_bytes_per_rank: received.to_vec(),
            received_fraction_per_rank: vec![],
            closed_by,
            closed_by_window: vec![],
            elapsed_ns_max: 70 + closed_by as u64,
            samples_16us: vec![],
        }
    }

    fn report(stages: [StageSummary; 2]) -> Report {
        Report {
            bound_ns: 1,
            kind: super::super::Kind::AllReduce,
            op: 0,
            bucket: 0,
            elements: 0,
            packets: 0,
            hadamard: true,
            live: vec![0, 1, 2],
            received_fraction: [0.0; 2],
            agreed: false,
            not_finite: 3,
            missing: vec![],
            repair: super::super::RepairStatus::default(),
            lost_bytes: stages.iter().map(|stage| stage.expected_bytes - stage.received_bytes).sum(),
            closed_by: [ClosedBy::Complete; 2],
            late_peers: vec![],
            local_contribution: false,
            action: UpdateAction::Skip,
            stages,
        }
    }

    #[test]
    fn losses_are_counted_for_each_peer_and_stage() {
        let mut metrics = Metrics::default();
        metrics.observe(&report([
            stage(&[0, 100, 100], &[0, 100, 80], ClosedBy::Early),
            stage(&[0, 100, 0], &[0, 0, 0], ClosedBy::Deadline),
        ]));
        metrics.observe(&report([
            stage(&[0, 100, 100], &[0, 100, 100], ClosedBy::Complete),
            stage(&[0, 100, 100], &[0, 100, 90], ClosedBy::Deadline),
        ]));
        assert_eq!((metrics.collectives, metrics.hadamard, metrics.local_late, metrics.skipped), (2, 2, 2, 2));
        assert_eq!(metrics.lost_bytes, 20 + 100 + 10);
        let [contribute, broadcast] = &metrics.stages;
        assert_eq!((contribute.complete, contribute.early, contribute.deadline), (1, 1, 0));
        assert_eq!((broadcast.complete, broadcast.early, broadcast.deadline), (0, 0, 2));
        assert_eq!((contribute.elapsed_ns_max, broadcast.elapsed_ns_max), (71, 72));
        assert!((metrics.loss_of(2, Stage::Contribute) - 0.1).abs() < 1e-12);
        assert_eq!((metrics.loss_of(1, Stage::Contribute), metrics.loss_of(1, Stage::Broadcast)), (0.0, 0.5));
        assert_eq!((metrics.loss_of(0, Stage::Broadcast), metrics.loss_of(9, Stage::Broadcast)), (0.0, 0.0));
        assert!((contribute.peers[2].loss_ewma - 0.2 * 15.0 / 16.0).abs() < 1e-12);
        assert!((broadcast.peers[2].loss_ewma - 0.1).abs() < 1e-12);
        assert_eq!((broadcast.peers[1].silent, broadcast.peers[2].silent), (1, 0));
    }

    #[test]
    fn counts_over_random_collectives_are_the_sums_of_the_reports() {
        use optireduce_contract::signs::splitmix64;
        for seed in 0..50u64 {
            let (mut metrics, mut expected_sum, mut received_sum) = (Metrics::default(), [0; 2], [0; 2]);
            for turn in 0..100u64 {
                let ranks = 2 + splitmix64(seed << 32 | turn) as usize % 7;
                let one = |at: usize| {
                    let draw = |rank: usize, what: u64| {
                        splitmix64(seed << 48 | turn << 16 | (rank as u64) << 8 | what << 4 | at as u64)
                    };
                    let expected: Vec<_> = (0..ranks).map(|rank| draw(rank, 0) % 1000).collect();
                    let received: Vec<_> =
                        expected.iter().enumerate().map(|(rank, bytes)| draw(rank, 1) % (bytes + 1)).collect();
                    stage(&expected, &received, ClosedBy::Early)
                };
                let report = report([one(0), one(1)]);
                for at in 0..2 {
                    expected_sum[at] += report.stages[at].expected_bytes;
                    received_sum[at] += report.stages[at].received_bytes;
                }
                metrics.observe(&report);
            }
            for at in 0..2 {
                let peers = &metrics.stages[at].peers;
                assert_eq!(peers.iter().map(|peer| peer.expected_bytes).sum::<u64>(), expected_sum[at], "seed {seed}");
                assert_eq!(peers.iter().map(|peer| peer.received_bytes).sum::<u64>(), received_sum[at], "seed {seed}");
                assert!(peers.iter().all(|peer| (0.0..=1.0).contains(&peer.loss_ewma)), "seed {seed}");
            }
            let lost: u64 = expected_sum.iter().zip(received_sum).map(|(expected, received)| expected - received).sum();
            assert_eq!(metrics.lost_bytes, lost, "seed {seed}");
        }
    }

    #[test]
    fn metrics_serialise_with_units_in_their_keys() {
        let json = serde_json::to_value(Metrics::default()).unwrap();
        assert_eq!(json["stages"][1]["elapsed_ns_max"], 0);
        assert_eq!(json["lost_bytes"], 0);
    }
}
