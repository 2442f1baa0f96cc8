//! The result of a run as readable text.

use std::fmt::Write;

use optireduce_core::protocol::UpdateAction;

use crate::cluster::{ClusterConfig, Early, StepRecord};
use crate::network::reliable::ReliableRun;
use crate::report::StepReport;

/// Footnote of the tables.
pub const MODEL: &str = "\
Reliable all-reduce: a model of the same shards over a reliable transport, same network, same losses. It waits for the
slowest rank; a lost packet costs a round trip if later ones get through, else a timeout of 5 ms; a stage costs 20 us
of host time.";

/// Returns the lines above the tables.
pub fn header(config: &ClusterConfig, name: &str) -> String {
    let impairments = &config.impairments;
    let mut line = format!(
        "{name}: {} ranks, {} cards, {} % loss, delay {} us (P99/P50 {})\nbound t_B {:.0} us, early rule {}",
        config.ranks,
        config.engine,
        impairments.loss * 100.0,
        impairments.delay_us_median,
        impairments.tail_ratio,
        config.bound_ns as f64 / 1000.0,
        if config.early == Early::Off { "off" } else { "on" },
    );
    if impairments.corrupt > 0.0 {
        let _ = write!(line, ", {} % of packets with a flipped bit", impairments.corrupt * 100.0);
    }
    if !config.software_ranks.is_empty() {
        let ranks = config.software_ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let _ = write!(line, ", software instead of a card on rank {ranks}");
    }
    if config.bf16 {
        line += ", bf16";
    }
    if config.incast > 1 {
        let _ = write!(line, ", incast {}", config.incast);
    }
    if config.rate_bytes_per_us > 0 {
        let _ = write!(line, ", {} Gb/s to each peer", f64::from(config.rate_bytes_per_us) / 125.0);
    }
    for straggler in &config.stragglers {
        let _ = write!(line, ", rank {} is {} us late", straggler.rank, straggler.delay_ns / 1000);
    }
    line
}

/// Returns the table of one step.
pub fn step(record: &StepRecord, report: &StepReport, reliable: &ReliableRun) -> String {
    let mut out = String::new();
    let encoded = if record.hadamard { ", Hadamard-encoded" } else { "" };
    let _ = writeln!(
        out,
        "step {}: {} elements in {}{encoded}",
        record.op,
        report.elements,
        count(record.plans.len(), "window")
    );
    let _ = writeln!(out, "  rank  contribute received  broadcast received      lost     done at  update");
    for (rank, record) in report.ranks.iter().zip(&record.ranks) {
        let stage = |stage: usize| {
            let percent = rank.received_fraction[stage] * 100.0;
            format!("{percent:>6.2} % {:<10}", rank.closed_by[stage].to_string())
        };
        let done_us = record.done_ns as f64 / 1000.0;
        let _ = write!(
            out,
            "  {:>4}  {}   {} {:>7} B {:>8.0} us  {}",
            rank.rank,
            stage(0),
            stage(1),
            rank.lost_bytes,
            done_us,
            action(rank.action)
        );
        if !record.report.local_contribution {
            let _ = write!(out, "; was late itself");
        } else if !rank.late_peers.is_empty() {
            let _ = write!(out, "; late: rank {}", join(&rank.late_peers));
        }
        out.push('\n');
    }
    let on_time = record.ranks.iter().filter(|rank| rank.report.local_contribution).map(|rank| rank.done_ns).max();
    let done_us = on_time.unwrap_or(record.virtual_ns) as f64 / 1000.0;
    let cycles = if report.cycles > 0 { format!(" ({} card cycles)", report.cycles) } else { String::new() };
    let _ = writeln!(
        out,
        "  error against the exact mean: NMSE {:.2e}, largest {:.2e} (worst rank)",
        report.nmse, report.max_abs_error
    );
    let _ = writeln!(
        out,
        "  ranks on time were done after {done_us:.0} us{cycles}\n  \
         a reliable all-reduce would have taken {:.0} us, {} retransmitted",
        reliable.total_ns as f64 / 1000.0,
        count(reliable.retransmissions as usize, "packet")
    );
    out
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn action(action: UpdateAction) -> &'static str {
    match action {
        UpdateAction::Apply => "apply",
        UpdateAction::Skip => "skip (> 10 % lost)",
        UpdateAction::Halt => "HALT",
    }
}

fn join(ranks: &[usize]) -> String {
    ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
