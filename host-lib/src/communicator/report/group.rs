//! Report of an average of a group.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use optireduce_core::Averaged;
use optireduce_core::protocol::{Kind, Stage, UpdateAction};
use serde::Serialize;

use super::{Report, StageReport, ms};

/// Group of an average of models. The [`Report`] has its number and ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupReport {
    /// Weight of each member's model, by [`Report::ranks`]; their sum is 1.
    pub weights: Vec<f64>,
    /// Newest iteration of the members; all continue with it.
    pub iteration: u64,
    /// Whether the group has the full size, or all remaining workers.
    pub is_full: bool,
    /// Wait for the group.
    #[serde(rename = "waited_ms", serialize_with = "ms")]
    pub waited: Duration,
    /// Duration of the average after that wait.
    #[serde(rename = "took_ms", serialize_with = "ms")]
    pub took: Duration,
    /// Part of [`Report::lost_bytes`] that was repaired before use.
    pub repaired_bytes: u64,
    /// Members whose models are incomplete in this rank's part of the mean.
    pub uncounted_ranks: Vec<usize>,
    /// Bytes of their models that are missing there.
    pub uncounted_bytes: u64,
}

impl Report {
    /// Report of the average of a group, which is always applied. `workers`: job rank of each
    /// worker.
    pub(in super::super) fn of_group(
        averaged: Averaged,
        workers: &[usize],
        waited: Duration,
        took: Duration,
    ) -> (Vec<f32>, Self) {
        let Averaged { plan, model, reports, repaired_bytes, uncounted_bytes, uncounted, missing, .. } = averaged;
        let of_job = |worker: usize| workers[worker];
        let ranks: Vec<usize> = plan.ranks().map(of_job).collect();
        // Its reduce-scatter and its all-gather are the stages of an all-reduce.
        let stage = |(stage, report): (Stage, &optireduce_core::protocol::Report)| {
            let mut stage = StageReport::new(stage, report.stages[stage.index()].clone());
            stage.peers.iter_mut().for_each(|peer| peer.rank = of_job(peer.rank));
            stage.peers.retain(|peer| ranks.contains(&peer.rank));
            stage
        };
        let stages: Vec<_> = Stage::ALL.into_iter().zip(&reports).map(stage).collect();
        let mut late_ranks: Vec<usize> =
            reports.iter().flat_map(|report| report.late_peers.iter().map(|worker| of_job(*worker))).collect();
        late_ranks.sort_unstable();
        late_ranks.dedup();
        let report = Self {
            ranks,
            late_ranks,
            is_late: reports.iter().any(|report| !report.local_contribution),
            expected_bytes: stages.iter().map(|stage| stage.expected_bytes).sum(),
            lost_bytes: reports.iter().map(|report| report.lost_bytes).sum(),
            missing,
            not_finite: reports.last().map_or(0, |report| report.not_finite),
            is_hadamard: reports.iter().any(|report| report.hadamard),
            packets: reports.iter().map(|report| report.packets).sum(),
            bound: reports.iter().map(|report| Duration::from_nanos(report.bound_ns)).max().unwrap_or_default(),
            stages,
            group: Some(GroupReport {
                weights: plan.members.iter().map(|member| member.weight).collect(),
                iteration: plan.iteration,
                is_full: plan.is_full,
                waited,
                took,
                repaired_bytes,
                uncounted_ranks: uncounted.into_iter().map(of_job).collect(),
                uncounted_bytes,
            }),
            ..Self::blank(Kind::AllReduce, plan.number, 0, model.len(), UpdateAction::Apply)
        };
        (model, report)
    }
}

impl GroupReport {
    /// Prints the line of `report`, which has this group.
    pub(super) fn fmt(&self, report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        write!(
            f,
            "group {}: ranks {:?}, weights {:.3?}, iteration {}; waited {:.3} ms, averaged in {:.3} ms",
            report.number,
            report.ranks,
            self.weights,
            self.iteration,
            ms(self.waited),
            ms(self.took)
        )?;
        if report.lost_bytes > 0 {
            write!(f, "; lost {} B, repaired {} B", report.lost_bytes, self.repaired_bytes)?;
        }
        if !self.uncounted_ranks.is_empty() {
            write!(f, "; without {} B of ranks {:?}", self.uncounted_bytes, self.uncounted_ranks)?;
        }
        if !report.missing.is_empty() {
            let elements: usize = report.missing.iter().map(Range::len).sum();
            write!(f, "; {elements} elements unchanged")?;
        }
        Ok(())
    }
}
