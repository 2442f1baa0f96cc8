//! Conversion of reports to the structs of the header.

use optireduce::{ClosedBy, PartialReport, Report, Stage};

use crate::types::optr_closed_by_t::{OPTR_COMPLETE, OPTR_DEADLINE, OPTR_EARLY};
use crate::types::{optr_partial_member_t, optr_partial_report_t, optr_peer_report_t, optr_report_t};

/// Returns the report and a row for each rank. Fields that the caller sets have their defaults.
pub fn for_c(report: &Report) -> (optr_report_t, Vec<optr_peer_report_t>) {
    let stages = Stage::ALL.map(|stage| report.stage(stage));
    let of_peer = |rank: usize| optr_peer_report_t {
        received_fraction: stages.map(|stage| of(&stage.received_fraction_per_rank, rank)),
        expected_bytes: stages.map(|stage| of(&stage.expected_bytes_per_rank, rank)),
        received_bytes: stages.map(|stage| of(&stage.received_bytes_per_rank, rank)),
        rank: rank as u32,
        is_live: report.live_ranks().contains(&rank).into(),
        is_late: report.late_ranks().contains(&rank).into(),
        reserved: 0,
    };
    let ranks = stages[0].expected_bytes_per_rank.len();
    let peers: Vec<_> = (0..ranks).map(of_peer).collect();
    let report = optr_report_t {
        size: size_of::<optr_report_t>(),
        peer_size: size_of::<optr_peer_report_t>(),
        peers: std::ptr::null_mut(),
        peer_capacity: 0,
        peer_count: ranks as u32,
        is_applied: report.is_applied().into(),
        op_number: report.op(),
        bucket_id: report.bucket().into(),
        live_ranks: report.live_ranks().len() as u32,
        late_ranks: report.late_ranks().len() as u32,
        joined_rank: report.joined_rank().map_or(-1, |rank| rank as i32),
        elements: report.elements() as u64,
        expected_bytes: stages.map(|stage| stage.expected_bytes),
        received_bytes: stages.map(|stage| stage.received_bytes),
        received_fraction: stages.map(|stage| stage.received_fraction),
        stage_time_ns: stages.map(|stage| stage.elapsed_ns_max),
        stage_deadline_ns: report.stage_deadline().as_nanos() as u64,
        closed_by: stages.map(|stage| match stage.closed_by {
            ClosedBy::Complete => OPTR_COMPLETE,
            ClosedBy::Early => OPTR_EARLY,
            ClosedBy::Deadline => OPTR_DEADLINE,
        } as u32),
        missing_elements: report.missing_ranges().iter().map(|range| range.len() as u64).sum(),
        not_finite: report.not_finite(),
        outstanding_bytes: report.outstanding_bytes(),
        drift_bytes: report.drift_bytes(),
        is_late: report.is_late().into(),
        is_hadamard: report.is_hadamard().into(),
        is_agreed: report.is_agreed().into(),
        is_corrected: report.is_corrected().into(),
        is_measuring_deadline: report.is_measuring_stage_deadline().into(),
        deadline_changed: report.stage_deadline_changed().into(),
        copied_bytes: report.copied_bytes(),
    };
    (report, peers)
}

/// Like [`for_c`], with a row for each member.
pub fn of_group(report: &PartialReport) -> (optr_partial_report_t, Vec<optr_partial_member_t>) {
    let of_member = |(rank, weight): (&usize, &f64)| optr_partial_member_t {
        weight: *weight,
        rank: *rank as u32,
        is_uncounted: report.uncounted_ranks().contains(rank).into(),
    };
    let members: Vec<_> = report.group().iter().zip(report.weights()).map(of_member).collect();
    let report = optr_partial_report_t {
        size: size_of::<optr_partial_report_t>(),
        member_size: size_of::<optr_partial_member_t>(),
        members: std::ptr::null_mut(),
        member_capacity: 0,
        member_count: members.len() as u32,
        number: report.number(),
        is_full: report.is_full().into(),
        iteration: report.iteration(),
        waited_us: report.waited().as_micros() as u64,
        took_us: report.took().as_micros() as u64,
        lost_bytes: report.lost_bytes(),
        repaired_bytes: report.repaired_bytes(),
        uncounted_bytes: report.uncounted_bytes(),
        missing_elements: report.missing_ranges().iter().map(|range| range.len() as u64).sum(),
    };
    (report, members)
}

fn of<T: Copy + Default>(values: &[T], rank: usize) -> T {
    values.get(rank).copied().unwrap_or_default()
}
