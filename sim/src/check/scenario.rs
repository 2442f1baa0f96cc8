//! Scenarios with checks, for any engine.
//!
//! [`Scenario::run`] checks the invariants of every step; a test adds what its impairments imply.
//! The checks rely on independent records: the oracle, the network's fate of each packet, and the
//! cards' lists of accepted beats.

use std::collections::{HashMap, HashSet};

use optireduce_contract::limits::{BEAT_BYTES, CYCLE_NS};
use optireduce_contract::packet::{STAGE_BROADCAST, STAGE_CONTRIBUTE};
use optireduce_contract::signs::splitmix64;
use optireduce_core::protocol::{ClosedBy, HadamardMode, Stage};

use crate::card::engine::Engine;
use crate::check::oracle;
use crate::cluster::{Cluster, ClusterConfig, RankRecord, StepRecord};
use crate::network::Fate;

/// Cycle in which the card sees the time.
const CLOSE_SLACK_NS: u64 = CYCLE_NS;

/// A job: cluster, elements of its bucket, and number of collectives.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // described above
pub struct Scenario {
    pub config: ClusterConfig,
    pub elements: usize,
    pub steps: usize,
}

impl Scenario {
    /// Returns a scenario of one step on a perfect network.
    pub fn new(engine: Engine, ranks: usize, elements: usize) -> Self {
        Self { config: ClusterConfig::new(engine, ranks), elements, steps: 1 }
    }

    /// Changes settings of the cluster.
    pub fn with(mut self, change: impl FnOnce(&mut ClusterConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// Sets the seed of gradients, network and signs.
    pub fn seed(self, seed: u64) -> Self {
        self.with(|config| config.impairments.seed = seed)
    }

    /// Enables bf16 payloads.
    pub fn bf16(self) -> Self {
        self.with(|config| config.bf16 = true)
    }

    /// Encodes all collectives or none.
    pub fn hadamard(self, on: bool) -> Self {
        self.with(|config| config.hadamard = if on { HadamardMode::On } else { HadamardMode::Off })
    }

    /// Approximately normal gradients, with some negative zeros.
    pub fn gradients(&self, step: usize) -> Vec<Vec<f32>> {
        let value = |rank: usize, at: usize| {
            let place = (step as u64) << 56 | (rank as u64) << 48 | at as u64;
            let hash = splitmix64(splitmix64(self.config.impairments.seed) ^ place);
            let uniform = |shift: u64| (hash >> shift & 0xffff) as f32 / 65536.0 - 0.5;
            if hash.is_multiple_of(97) { -0.0 } else { uniform(0) + uniform(16) + uniform(32) + uniform(48) }
        };
        let of_rank = |rank| (0..self.elements).map(|at| value(rank, at)).collect();
        (0..self.config.ranks).map(of_rank).collect()
    }

    /// Runs and checks all steps.
    ///
    /// # Errors
    /// A message that names scenario and seed.
    pub fn run(&self) -> Result<Vec<StepRecord>, String> {
        let gradients: Vec<_> = (0..self.steps).map(|step| self.gradients(step)).collect();
        self.run_with(&gradients)
    }

    /// Runs one step for each of `gradients`.
    ///
    /// # Errors
    /// As [`run`](Scenario::run).
    pub fn run_with(&self, gradients: &[Vec<Vec<f32>>]) -> Result<Vec<StepRecord>, String> {
        let named = |what: String| format!("{what}\n  in {self:?}");
        let mut cluster = Cluster::new(self.config.clone()).map_err(|error| named(error.to_string()))?;
        let mut records: Vec<StepRecord> = Vec::new();
        for step in gradients {
            let record = cluster.step(step, |_| ()).map_err(|error| named(error.to_string()))?;
            check_step(&record, step, &self.config).map_err(|what| named(format!("step {}: {what}", record.op)))?;
            records.push(record);
        }
        check_counters(&mut cluster, &records).map_err(named)?;
        Ok(records)
    }
}

fn check_step(record: &StepRecord, gradients: &[Vec<f32>], config: &ClusterConfig) -> Result<(), String> {
    let traces: Vec<_> = record.ranks.iter().map(|rank| rank.trace.clone()).collect();
    let expected = oracle::outputs(&record.plans, gradients, &traces)?;
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    for (rank, (one, expected)) in record.ranks.iter().zip(&expected).enumerate() {
        if one.report.hadamard != record.hadamard {
            return Err(format!("rank {rank}: encoded is {}, on rank 0 {}", one.report.hadamard, record.hadamard));
        }
        let (found, expected) = (bits(&one.output), bits(expected));
        if let Some(at) = (0..expected.len()).find(|at| found.get(*at) != Some(&expected[*at])) {
            return Err(format!("rank {rank}: element {at} is {:x?}, expected {:x}", found.get(at), expected[at]));
        }
        check_reported_bytes(record, rank, one)?;
        check_bounds(record, rank, one, config)?;
        check_times(record, rank, one, config.delay_ns(rank))?;
        check_accepted_was_delivered(record, rank, one)?;
    }
    Ok(())
}

fn check_reported_bytes(record: &StepRecord, rank: usize, one: &RankRecord) -> Result<(), String> {
    for stage in Stage::ALL {
        let contribute = stage == Stage::Contribute;
        let from_peers = one
            .trace
            .iter()
            .filter(|accept| (accept.stage == STAGE_CONTRIBUTE) == contribute && usize::from(accept.sender) != rank)
            .count();
        let summary = &one.report.stages[stage.index()];
        let expected: usize = record
            .plans
            .iter()
            .map(|plan| {
                let local = plan.shards.range_of(rank).len();
                if contribute { local * (record.ranks.len() - 1) } else { plan.beats - local }
            })
            .sum();
        let bytes = |beats: usize| (beats * BEAT_BYTES) as u64;
        let counts = (summary.received_bytes, summary.expected_bytes);
        if counts != (bytes(from_peers), bytes(expected)) {
            return Err(format!("rank {rank} {stage}: reported {counts:?}, accepted {from_peers} of {expected} beats"));
        }
        let all_complete = summary.closed_by_window.iter().all(|by| *by == ClosedBy::Complete);
        if all_complete && counts.0 != counts.1 {
            return Err(format!("rank {rank} {stage}: closed complete with {counts:?} bytes"));
        }
    }
    Ok(())
}

/// Ranks without a card have two bounds for both stages together.
fn check_bounds(record: &StepRecord, rank: usize, one: &RankRecord, config: &ClusterConfig) -> Result<(), String> {
    let has_card = !config.software_ranks.contains(&rank);
    for (stage, summary) in Stage::ALL.into_iter().zip(&one.report.stages) {
        let bounds = if has_card || stage == Stage::Contribute { 1 } else { 2 };
        let bound_ns = bounds * config.bound_ns;
        if summary.elapsed_ns_max > bound_ns + CLOSE_SLACK_NS {
            return Err(format!("rank {rank} {stage}: took {} ns, bound {bound_ns} ns", summary.elapsed_ns_max));
        }
        if summary.closed_by_window.len() != record.plans.len() {
            return Err(format!("rank {rank} {stage}: {} windows reported", summary.closed_by_window.len()));
        }
    }
    Ok(())
}

/// Beats are accepted in order within the step, own beats only after the host woke.
fn check_times(record: &StepRecord, rank: usize, one: &RankRecord, delay_ns: u64) -> Result<(), String> {
    let mut earliest_ns = record.begin_ns;
    for accept in &one.trace {
        let woken_ns = record.begin_ns + if usize::from(accept.sender) == rank { delay_ns } else { 0 };
        let (least_ns, most_ns) = (earliest_ns.max(woken_ns), record.begin_ns + record.virtual_ns);
        if !(least_ns..=most_ns).contains(&accept.at_ns) {
            return Err(format!("rank {rank}: {accept:?}: expected between {least_ns} and {most_ns} ns"));
        }
        earliest_ns = accept.at_ns;
    }
    Ok(())
}

/// Bytes of a packet, as fp32, within its window.
fn window_bytes(record: &StepRecord, fate: &Fate) -> u64 {
    let packet = &fate.packet;
    let Some(plan) = record.plans.iter().rfind(|plan| plan.base_bytes <= packet.offset) else { return 0 };
    let first = (packet.offset - plan.base_bytes) as usize / BEAT_BYTES;
    let shard =
        plan.shards.range_of(usize::from(if packet.stage == STAGE_CONTRIBUTE { packet.dst } else { packet.src }));
    // With bf16, the last half beat of an odd shard pads.
    let beats =
        plan.shape().packet_beats(fate.payload_bytes as usize / BEAT_BYTES).min(shard.end.saturating_sub(first));
    (beats * BEAT_BYTES) as u64
}

fn check_accepted_was_delivered(record: &StepRecord, rank: usize, one: &RankRecord) -> Result<(), String> {
    let delivered: HashSet<(u8, u8, u32)> = record
        .fates
        .iter()
        .filter(|fate| fate.delivered > 0 && usize::from(fate.packet.dst) == rank)
        .flat_map(|fate| {
            let packet = fate.packet;
            let bytes = window_bytes(record, fate) as u32;
            (0..bytes).step_by(BEAT_BYTES).map(move |at| (packet.src, packet.stage, packet.offset + at))
        })
        .collect();
    let bases: HashMap<u32, u32> = record.plans.iter().map(|plan| (plan.cookie, plan.base_bytes)).collect();
    for accept in one.trace.iter().filter(|accept| usize::from(accept.sender) != rank) {
        let base = bases.get(&accept.cookie).ok_or_else(|| format!("rank {rank}: {accept:?}: unknown window"))?;
        let offset = base + u32::from(accept.position) * BEAT_BYTES as u32;
        if !delivered.contains(&(accept.sender, accept.stage, offset)) {
            return Err(format!("rank {rank}: {accept:?}: was never delivered"));
        }
    }
    Ok(())
}

/// Packets are malformed or foreign only if the network corrupted bytes outside the UDP checksum.
fn check_counters(cluster: &mut Cluster, records: &[StepRecord]) -> Result<(), String> {
    let fates = || records.iter().flat_map(|record| &record.fates);
    for (rank, counters) in cluster.counters().map_err(|error| error.to_string())?.into_iter().enumerate() {
        let sent = fates().filter(|fate| usize::from(fate.packet.src) == rank).count();
        if counters.tx_packets as usize != sent {
            return Err(format!("rank {rank}: counted {} packets sent, the network saw {sent}", counters.tx_packets));
        }
        let to_rank = fates().filter(|fate| usize::from(fate.packet.dst) == rank);
        let corrupted: u32 = to_rank.map(|fate| u32::from(fate.corrupted)).sum();
        let outside = counters.drop_foreign + counters.drop_malformed + counters.drop_mac + counters.drop_ip_checksum;
        let covered = counters.drop_version + counters.drop_job + counters.drop_flags + counters.drop_out_of_shard;
        let covered = covered + counters.drop_ip + counters.drop_source + counters.drop_too_long;
        let is_wrong = outside > corrupted || covered > 0;
        if is_wrong || counters.dma_error || counters.completions_rejected > 0 {
            return Err(format!("rank {rank}: unexpected drops or errors: {counters:?}"));
        }
    }
    Ok(())
}

/// Bytes, as fp32, of packets to `rank` lost completely by the network.
pub fn bytes_lost_by_network(record: &StepRecord, rank: usize) -> u64 {
    let to_rank = record.fates.iter().filter(|fate| usize::from(fate.packet.dst) == rank && fate.delivered == 0);
    to_rank.map(|fate| window_bytes(record, fate)).sum()
}

/// Checks that reported losses equal the network's. Requires a bound far above every delay, and no
/// late rank.
///
/// A peer whose contribute stage reached its deadline sends its means one bound late. Faster ranks
/// may have closed their broadcast stage, so such means may be lost additionally.
///
/// # Errors
/// A message that names step, stage and ranks.
pub fn check_losses_are_reported(record: &StepRecord) -> Result<(), String> {
    for (rank, one) in record.ranks.iter().enumerate() {
        for (sender, peer) in record.ranks.iter().enumerate().filter(|(sender, _)| *sender != rank) {
            for (stage, number) in Stage::ALL.into_iter().zip([STAGE_CONTRIBUTE, STAGE_BROADCAST]) {
                let of_flow = |fate: &&Fate| {
                    let packet = fate.packet;
                    (usize::from(packet.src), usize::from(packet.dst), packet.stage) == (sender, rank, number)
                };
                let fates = || record.fates.iter().filter(of_flow);
                let delivered: u64 =
                    fates().filter(|fate| fate.delivered > 0).map(|fate| window_bytes(record, fate)).sum();
                let accepted = one
                    .trace
                    .iter()
                    .filter(|accept| accept.stage == number && usize::from(accept.sender) == sender)
                    .count();
                let accepted = (accepted * BEAT_BYTES) as u64;
                let sent_late = stage == Stage::Broadcast && peer.report.closed_by[0] == ClosedBy::Deadline;
                if accepted > delivered || (accepted < delivered && !sent_late) {
                    return Err(format!(
                        "step {} rank {rank} {stage}: {accepted} bytes of rank {sender} accepted, {delivered} delivered",
                        record.op
                    ));
                }
            }
        }
        let (found, least) = (one.report.lost_bytes, bytes_lost_by_network(record, rank));
        let is_exact = record.ranks.iter().all(|peer| peer.report.closed_by[0] != ClosedBy::Deadline);
        if found < least || (is_exact && found != least) {
            return Err(format!(
                "step {} rank {rank}: reports {found} bytes lost, the network lost {least}",
                record.op
            ));
        }
    }
    Ok(())
}
