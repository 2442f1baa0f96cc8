//! Conversion of reports to the structs of the header.

use std::ops::Range;

use optireduce::{ClosedBy, Kind, PeerReport, Report, Stage};

use crate::raw::ReportPlace;
use crate::status::Failure;
use crate::types::optr_closed_by_t::{OPTR_COMPLETE, OPTR_DEADLINE, OPTR_EARLY};
use crate::types::optr_kind_t::{OPTR_ALL_GATHER, OPTR_ALL_REDUCE, OPTR_REDUCE_SCATTER};
use crate::types::{
    optr_partial_member_t, optr_partial_report_t, optr_peer_report_t, optr_repairs_t, optr_report_t,
    optr_stage_report_t,
};

/// Writes the report of a collective, halted or not.
pub fn write(place: &mut ReportPlace, done: Result<Report, Failure>) -> Result<(), Failure> {
    let written = match &done {
        Ok(report) => Some(report),
        Err(failure) => failure.report.as_deref(),
    };
    if let Some((report, peers)) = written.map(for_c) {
        place.write(&report, &peers);
    }
    done.map(drop)
}

/// Returns the report and a row for each rank. Fields that the caller sets have their defaults.
fn for_c(report: &Report) -> (optr_report_t, Vec<optr_peer_report_t>) {
    let stages = Stage::ALL.map(|stage| report.stage(stage));
    let of_peer = |rank: usize| {
        let of = |bytes: fn(&PeerReport) -> u64| {
            stages.map(|stage| stage.and_then(|stage| stage.peers.get(rank)).map_or(0, bytes))
        };
        let (expected_bytes, received_bytes) = (of(|peer| peer.expected_bytes), of(|peer| peer.received_bytes));
        let fraction = |stage: usize| match expected_bytes[stage] {
            0 => 1.0,
            expected => received_bytes[stage] as f64 / expected as f64,
        };
        optr_peer_report_t {
            received_fraction: [0, 1].map(fraction),
            expected_bytes,
            received_bytes,
            rank: rank as u32,
            is_live: report.ranks.contains(&rank).into(),
            is_late: report.late_ranks.contains(&rank).into(),
            reserved: 0,
        }
    };
    let ranks = report.stages.first().map_or(0, |stage| stage.peers.len());
    let peers: Vec<_> = (0..ranks).map(of_peer).collect();
    let repairs = report.repairs;
    let report = optr_report_t {
        size: size_of::<optr_report_t>(),
        peer_size: size_of::<optr_peer_report_t>(),
        peers: std::ptr::null_mut(),
        peer_capacity: 0,
        peer_count: ranks as u32,
        kind: match report.kind {
            Kind::AllReduce => OPTR_ALL_REDUCE,
            Kind::ReduceScatter => OPTR_REDUCE_SCATTER,
            Kind::AllGather => OPTR_ALL_GATHER,
        } as u32,
        number: report.number,
        bucket: report.bucket.into(),
        is_applied: report.is_applied.into(),
        is_agreed: report.is_agreed.into(),
        ranks: report.ranks.len() as u32,
        late_ranks: report.late_ranks.len() as u32,
        is_late: report.is_late.into(),
        joined_rank: report.joined_rank.map_or(-1, |rank| rank as i32),
        is_hadamard: report.is_hadamard.into(),
        is_corrected: report.is_corrected.into(),
        is_bound_measured: report.is_bound_measured.into(),
        bound_changed: report.bound_changed.into(),
        reserved: 0,
        elements: report.elements as u64,
        expected_bytes: report.expected_bytes,
        lost_bytes: report.lost_bytes,
        missing_elements: elements(&report.missing),
        not_finite: report.not_finite,
        copied_bytes: report.copied_bytes,
        packets: report.packets,
        repairs: optr_repairs_t {
            missing_bytes: repairs.missing_bytes,
            repaired_bytes: repairs.repaired_bytes,
            outstanding_bytes: repairs.outstanding_bytes,
            drift_bytes: repairs.drift_bytes,
        },
        outstanding_bytes: report.outstanding_bytes,
        drift_bytes: report.drift_bytes,
        bound_ns: report.bound.as_nanos() as u64,
        stages: stages.map(|stage| optr_stage_report_t {
            expected_bytes: stage.map_or(0, |stage| stage.expected_bytes),
            received_bytes: stage.map_or(0, |stage| stage.received_bytes),
            received_fraction: stage.map_or(1.0, |stage| stage.received_fraction),
            time_ns: stage.map_or(0, |stage| stage.time.as_nanos() as u64),
            closed_by: match stage.map_or(ClosedBy::Complete, |stage| stage.closed_by) {
                ClosedBy::Complete => OPTR_COMPLETE,
                ClosedBy::Early => OPTR_EARLY,
                ClosedBy::Deadline => OPTR_DEADLINE,
            } as u32,
            reserved: 0,
        }),
    };
    (report, peers)
}

/// Like [`for_c`], for the average of a group, with a row for each member.
pub fn of_group(report: &Report) -> (optr_partial_report_t, Vec<optr_partial_member_t>) {
    let group = report.group.as_ref().expect("an average has a group");
    let of_member = |(rank, weight): (&usize, &f64)| optr_partial_member_t {
        weight: *weight,
        rank: *rank as u32,
        is_uncounted: group.uncounted_ranks.contains(rank).into(),
    };
    let members: Vec<_> = report.ranks.iter().zip(&group.weights).map(of_member).collect();
    let report = optr_partial_report_t {
        size: size_of::<optr_partial_report_t>(),
        member_size: size_of::<optr_partial_member_t>(),
        members: std::ptr::null_mut(),
        member_capacity: 0,
        member_count: members.len() as u32,
        number: report.number,
        is_full: group.is_full.into(),
        iteration: group.iteration,
        waited_us: group.waited.as_micros() as u64,
        took_us: group.took.as_micros() as u64,
        lost_bytes: report.lost_bytes,
        repaired_bytes: group.repaired_bytes,
        uncounted_bytes: group.uncounted_bytes,
        missing_elements: elements(&report.missing),
    };
    (report, members)
}

fn elements(ranges: &[Range<usize>]) -> u64 {
    ranges.iter().map(|range| range.len() as u64).sum()
}
