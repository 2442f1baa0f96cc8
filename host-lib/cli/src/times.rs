//! Times of calls, and the rows that they make.

use serde::Serialize;

/// What one size took: of each call the slowest rank.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub size: usize,
    pub iters: usize,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
    /// Of the bytes that peers were to send, over all calls and ranks.
    pub received_fraction: f64,
    /// Bound on each stage; 0 for engines without.
    pub bound_ms: f64,
    pub engine: &'static str,
    pub ranks: usize,
    /// Of a full packet, 0 for engines over TCP.
    pub payload_bytes: usize,
    pub hadamard: bool,
    /// CPU time of all ranks for each GB (10^9 bytes) that a rank had reduced.
    pub cpu_s_per_gb: f64,
    /// Largest memory of a rank.
    pub memory_mb: f64,
}

impl Row {
    pub const HEADER: &'static str =
        "engine ranks       size  iters    p50 ms    p90 ms    p99 ms    max ms  received  bound ms  cpu s/GB  mem MB";

    pub fn line(&self) -> String {
        format!(
            "{:6} {:5} {:>10} {:6} {:9.3} {:9.3} {:9.3} {:9.3} {:8.3}% {:9.3} {:9.2} {:7.0}",
            self.engine,
            self.ranks,
            size_text(self.size),
            self.iters,
            self.p50_ms,
            self.p90_ms,
            self.p99_ms,
            self.max_ms,
            self.received_fraction * 100.0,
            self.bound_ms,
            self.cpu_s_per_gb,
            self.memory_mb,
        )
    }
}

/// A size as people write it.
pub fn size_text(bytes: usize) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

/// The value below which the fraction `part` of `sorted` lies (nearest rank).
pub fn percentile(sorted: &[f64], part: f64) -> f64 {
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let times: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!([0.5, 0.9, 0.99, 1.0].map(|part| percentile(&times, part)), [50.0, 90.0, 99.0, 100.0]);
        assert_eq!((percentile(&times[..1], 0.5), percentile(&[], 0.5)), (1.0, 0.0));
    }
}
