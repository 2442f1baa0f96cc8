//! Counters and state of a rank.

use serde::Serialize;

use crate::secret::SealDrops;
use crate::udp::Unsent;
use optireduce_core::protocol;
use optireduce_core::protocol::repair::RepairReport;
use optireduce_core::software::Counters;

/// Counters and state of a rank since it connected.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Metrics {
    /// Datagrams and drops of the data plane.
    pub counters: Counters,
    /// Dropped forged or replayed packets; zero without a secret.
    pub seal_drops: SealDrops,
    /// Datagrams that this host refused to send, by cause.
    pub unsent: Unsent,
    /// Ranks with a card, in ascending order; see [`Settings::card`](crate::Settings::card).
    pub cards: Vec<usize>,
    /// Bytes of gradient in a full packet, a multiple of 64.
    pub payload_bytes: usize,
    /// Ranks reached through shared memory.
    pub shared: Vec<usize>,
    /// Loss and timing, per peer and stage.
    pub collectives: protocol::Metrics,
    /// First collective since which [`HadamardMode::Auto`](crate::HadamardMode::Auto) encodes;
    /// `None` while it does not.
    pub hadamard_from: Option<u32>,
    /// Smoothed round-trip time to each rank in microseconds; `None` if unmeasured.
    pub rtt_us: Vec<Option<f64>>,
    /// Present bound t_B of a stage in ns.
    pub bound_ns: u64,
    /// Ranks of the newest view.
    pub live: Vec<usize>,
    /// Bytes of means lost in broadcasts of repaired buckets, by state of the repair.
    pub repair: RepairReport,
    /// Ranks found silent, in order of detection.
    pub silent: Vec<usize>,
    /// Send rate to each rank in bytes per microsecond; empty without rate control.
    pub rate_bytes_per_us: Vec<f64>,
    /// Cause of the failure of this rank's card, before a
    /// [fallback](crate::Settings::card_fallback).
    pub card_failure: Option<String>,
    /// First collective over UDP after a card failed.
    pub fallback_from: Option<u32>,
    /// In a job with cards: metrics of the collectives over the kernel's UDP.
    pub over_udp: Option<Box<Metrics>>,
    /// Levels of [`groups`](crate::Settings::groups): the reduce-scatter in the group, the
    /// all-reduce among equals, and the all-gather in the group. Each numbers its own ranks from 0,
    /// in ascending order.
    ///
    /// If the whole job is on two levels, the metrics around them are their sums (`counters`,
    /// `seal_drops`, `unsent`, `repair`), the least `payload_bytes` and the longest `bound_ns`;
    /// other fields are empty. In a job on one level, each value of the option
    /// [`groups`](crate::BucketOptions::groups) adds three, once connected.
    pub parts: Vec<Metrics>,
}

impl Metrics {
    /// `parts`: at least one.
    pub(super) fn of_levels(parts: Vec<Self>) -> Self {
        let mut all = Self { payload_bytes: usize::MAX, ..Self::default() };
        for Self { counters, seal_drops, unsent, payload_bytes, bound_ns, repair, .. } in &parts {
            all.counters = all.counters.and(*counters);
            all.seal_drops.forged += seal_drops.forged;
            all.seal_drops.replayed += seal_drops.replayed;
            all.unsent = all.unsent.and(*unsent);
            all.payload_bytes = all.payload_bytes.min(*payload_bytes);
            all.bound_ns = all.bound_ns.max(*bound_ns);
            all.repair = all.repair.and(*repair);
        }
        Self { parts, ..all }
    }
}
