//! Rows of the results table, and figures in them.

use serde::Serialize;

/// Results for one size. Times are per call, of the slowest rank.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub size_bytes: usize,
    pub iters: usize,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
    /// Algorithm bandwidth as in nccl-tests, in 10^9 bytes/s: buffer bytes over median time.
    pub algbw_gb_per_s: f64,
    /// Bus bandwidth as in nccl-tests, in 10^9 bytes/s; see [`bus_factor`].
    pub busbw_gb_per_s: f64,
    /// Received fraction of the bytes that peers sent, over all calls and ranks.
    pub received_fraction: f64,
    pub unsent_packets: u64,
    /// Packets dropped as forged, or from outside the job; 0 without a secret.
    pub forged_packets: u64,
    /// Packets dropped as replayed; 0 without a secret.
    pub replayed_packets: u64,
    /// Infinities and NaNs in results, over all calls, at the rank with most.
    pub not_finite: u64,
    /// Of all windows, calls and ranks; 0 over TCP.
    pub stages: u64,
    /// Closed early with data missing.
    pub stages_early: u64,
    /// Closed at their bound with data missing.
    pub stages_at_bound: u64,
    pub halted: bool,
    /// Bound on each stage; 0 over TCP.
    pub bound_ms: f64,
    pub engine: &'static str,
    pub ranks: usize,
    /// Ranks and cores of the host with the most ranks per core.
    pub ranks_on_host: usize,
    pub cores_on_host: usize,
    /// Times and losses are then the host's, not the network's.
    pub more_ranks_than_cores: bool,
    /// Gradient bytes of a full packet; 0 over TCP.
    pub payload_bytes: usize,
    pub hadamard: bool,
    /// CPU time of all ranks per GB (10^9 bytes) that each rank reduced.
    pub cpu_s_per_gb: f64,
    /// Peak memory of the largest rank, in MB (10^6 bytes).
    pub memory_mb: f64,
}

impl Row {
    pub const HEADER: &'static str = "                                                                         algbw   busbw\n\
        engine ranks       size  iters    p50 ms    p90 ms    p99 ms    max ms    GB/s    GB/s  received  bound ms  cpu s/GB  mem MB";

    /// Lines for non-zero counts without a column.
    pub fn remark(&self) -> Option<String> {
        let Self { unsent_packets, forged_packets, replayed_packets, .. } = self;
        let counts = [
            (unsent_packets, "that this host could not send"),
            (forged_packets, "dropped as forged"),
            (replayed_packets, "dropped as replayed"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| **count > 0);
        let text: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        let packets = (!text.is_empty()).then(|| format!("       packets: {}", text.join(", ")));
        let values = (self.not_finite > 0).then(|| format!("       values: {} not finite", self.not_finite));
        let Self { stages, stages_early, stages_at_bound, .. } = self;
        let short = (stages_early + stages_at_bound > 0).then(|| {
            format!("       stages: {stages_early} of {stages} closed early with data missing, {stages_at_bound} at their bound")
        });
        let remarks: Vec<String> = packets.into_iter().chain(values).chain(short).collect();
        (!remarks.is_empty()).then(|| remarks.join("\n"))
    }

    pub fn line(&self) -> String {
        format!(
            "{:6} {:5} {:>10} {:6} {:9.3} {:9.3} {:9.3} {:9.3} {:7.3} {:7.3} {:8.3}% {:9.3} {:9.2} {:7.0}",
            self.engine,
            self.ranks,
            size_text(self.size_bytes),
            self.iters,
            self.p50_ms,
            self.p90_ms,
            self.p99_ms,
            self.max_ms,
            self.algbw_gb_per_s,
            self.busbw_gb_per_s,
            self.received_fraction * 100.0,
            self.bound_ms,
            self.cpu_s_per_gb,
            self.memory_mb,
        )
    }
}

/// `bytes` per `ms` in 10^9 bytes/s; 0 if `ms` is 0.
pub fn gb_per_s(bytes: usize, ms: f64) -> f64 {
    if ms > 0.0 { bytes as f64 / ms / 1e6 } else { 0.0 }
}

/// Ratio of bus bandwidth to algorithm bandwidth for an all-reduce of `n` ranks, 2 (n - 1) / n: the
/// bytes a rank must send and receive, over the buffer's. Source: nccl-tests, doc/PERFORMANCE.md.
pub fn bus_factor(n: usize) -> f64 {
    if n == 0 { 0.0 } else { 2.0 * (n - 1) as f64 / n as f64 }
}

/// Part of a whole; all of nothing, since one rank has no peers.
pub fn fraction(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 1.0 }
}

pub fn size_text(bytes: usize) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

/// Nearest-rank percentile of `sorted`; `part` is 0 to 1.
pub fn percentile(sorted: &[f64], part: f64) -> f64 {
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_are_those_of_nccl_tests() {
        assert!((gb_per_s(1 << 30, 100.0) - 10.737_418_24).abs() < 1e-12);
        assert_eq!(gb_per_s(4, 0.0), 0.0);
        assert_eq!([2, 4, 8].map(bus_factor), [1.0, 1.5, 1.75]);
    }

    #[test]
    fn the_tables_columns_stand_below_their_heads() {
        let row = Row {
            size_bytes: 25 << 20,
            iters: 20_000,
            p50_ms: 1.5,
            p90_ms: 2.5,
            p99_ms: 3.5,
            max_ms: 4.5,
            algbw_gb_per_s: 1.25,
            busbw_gb_per_s: 2.5,
            received_fraction: 1.0,
            unsent_packets: 0,
            forged_packets: 0,
            replayed_packets: 0,
            not_finite: 0,
            stages: 0,
            stages_early: 0,
            stages_at_bound: 0,
            halted: false,
            bound_ms: 5.0,
            engine: "udp",
            ranks: 4,
            ranks_on_host: 4,
            cores_on_host: 4,
            more_ranks_than_cores: false,
            payload_bytes: 8896,
            hadamard: false,
            cpu_s_per_gb: 1.0,
            memory_mb: 100.0,
        };
        let [above, head] = Row::HEADER.split('\n').collect::<Vec<_>>()[..] else { panic!("two lines") };
        assert_eq!(head.len(), row.line().len());
        assert_eq!(row.remark(), None);
        let row = Row { unsent_packets: 3, replayed_packets: 1, ..row };
        let remark = "       packets: 3 that this host could not send, 1 dropped as replayed";
        assert_eq!(row.remark().as_deref(), Some(remark));
        for (name, unit) in [("algbw", 0), ("busbw", 1)] {
            let end = above.find(name).expect("a column") + name.len();
            let column = head.match_indices("GB/s").filter(|(at, _)| !head[..*at].ends_with("s/")).nth(unit);
            assert_eq!(column.map(|(at, text)| at + text.len()), Some(end), "{name}");
        }
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let times: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!([0.5, 0.9, 0.99, 1.0].map(|part| percentile(&times, part)), [50.0, 90.0, 99.0, 100.0]);
        assert_eq!((percentile(&times[..1], 0.5), percentile(&[], 0.5)), (1.0, 0.0));
    }
}
