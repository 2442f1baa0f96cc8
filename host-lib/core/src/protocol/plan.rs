//! How a bucket is cut into windows.
//!
//! Why: a card holds windows of limited size; a bucket is a sequence of them, pipelined.
//! Plain: windows of the largest size, the last one short. Hadamard: blocks of the largest size allowed (a smaller power
//! of four if the whole bucket fits in one), cut into windows of K blocks, K a power of two, largest first; the last block is padded
//! with zeros. Windows tile the bucket in order, without gaps or overlap.
//! Limits: a bucket of 4 GiB (32-bit offsets on the wire) and 65536 windows (16 bits of the cookie).

use optireduce_contract::limits::{BEAT_BYTES, HADAMARD_LOG2_MIN, LANES};
use optireduce_contract::rules;
use optireduce_contract::shard::ShardMap;
use optireduce_contract::signs::window_key;
use thiserror::Error;

use super::params::JobParams;
use super::types::{BUCKETS_MAX, Kind, Stage};

/// Windows that a cookie can name.
const WINDOWS_MAX: usize = 1 << 16;
/// Bytes that a packet's offset can reach.
const BUCKET_BYTES_MAX: u64 = 1 << 32;

/// One window of a collective: everything but the gradient that a data plane must know to move it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowPlan {
    /// What is done with the bucket.
    pub kind: Kind,
    /// Number of the window in the bucket.
    pub index: u16,
    /// Collective number.
    pub op: u32,
    /// Collective number on the wire: the low 16 bits of `op`, see [`op_of_step`].
    pub step: u16,
    /// Bucket id on the wire, see [`Kind::wire_bucket`].
    pub bucket: u16,
    /// Name of the window among those in flight: `step << 16 | index`.
    pub cookie: u32,
    /// First element of the window in the bucket.
    pub first_element: usize,
    /// Elements of the bucket in this window, without padding.
    pub elements: usize,
    /// Beats of the window, padding included.
    pub beats: usize,
    /// Byte offset of the window in the padded bucket; a multiple of 64.
    pub base_bytes: u32,
    /// The cut among the ranks.
    pub shards: ShardMap,
    /// Whether the window travels Hadamard-encoded.
    pub hadamard: bool,
    /// log2 of the Hadamard block in elements; 0 without.
    pub log2_n: u32,
    /// log2 of the Hadamard blocks in the window; 0 without.
    pub log2_blocks: u32,
    /// Key of the Hadamard signs; 0 without.
    pub sign_key: u64,
    /// Whether the window travels as bf16.
    pub bf16: bool,
}

impl WindowPlan {
    /// Beats that hold the window's elements in host memory; the rest of `beats` is padding.
    pub const fn host_beats(&self) -> usize {
        self.elements.div_ceil(LANES)
    }

    /// Beats that `rank` expects from rank `from` in a stage. Contribute: `rank`'s shard, from every rank including
    /// itself. Broadcast: the shard of `from`, nothing from itself. In the stage that a partial collective leaves out: nothing
    /// from peers.
    pub fn expected_beats(&self, stage: Stage, rank: usize, from: usize) -> usize {
        match stage {
            _ if from != rank && !self.kind.sends(stage) => 0,
            Stage::Contribute => self.shards.range_of(rank).len(),
            Stage::Broadcast if from == rank => 0,
            Stage::Broadcast => self.shards.range_of(from).len(),
        }
    }

    /// Bytes that `rank` expects in a stage from all ranks together, itself included.
    pub fn expected_bytes(&self, stage: Stage, rank: usize) -> u64 {
        (0..self.shards.ranks).map(|from| (self.expected_beats(stage, rank, from) * BEAT_BYTES) as u64).sum()
    }

    /// What the contract's rules must know of the window.
    pub fn shape(&self) -> rules::Window {
        rules::Window {
            bucket: self.bucket,
            step: self.step,
            base_bytes: self.base_bytes,
            beats: self.beats,
            shards: self.shards,
            hadamard: self.hadamard,
            bf16: self.bf16,
            sends: [self.kind.sends(Stage::Contribute), self.kind.sends(Stage::Broadcast)],
        }
    }

    /// Peers that have something to send to `rank` in a stage.
    pub fn senders(&self, stage: Stage, rank: usize) -> usize {
        (0..self.shards.ranks).filter(|&peer| peer != rank && self.expected_beats(stage, rank, peer) > 0).count()
    }
}

/// The collective that `step` on the wire means, to a rank whose newest one is `newest`: the nearest of that number. `None`: it
/// would come before the first one, or after the last that can be.
///
/// Ranks are never half the range apart ([`UbtHeader::step`](optireduce_contract::packet::UbtHeader::step)), but a bucket may
/// rest for longer: so steps are compared as collectives, and widened by the newest of the job, not by that of their bucket.
pub fn op_of_step(step: u16, newest: u32) -> Option<u32> {
    newest.checked_add_signed(step.wrapping_sub(newest as u16).cast_signed().into())
}

/// A bucket that cannot be cut into windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Offsets on the wire or window numbers would overflow.
    #[error(
        "a bucket of {elements} elements needs {bytes} bytes in {windows} windows, expected at most \
         {BUCKET_BYTES_MAX} bytes in {WINDOWS_MAX} windows; split the bucket"
    )]
    TooLarge {
        /// Elements of the bucket.
        elements: usize,
        /// Bytes with padding.
        bytes: u64,
        /// Windows it would need.
        windows: u64,
    },
    /// The windows of the data plane hold not even the smallest Hadamard block, or it has no transform.
    #[error(
        "a Hadamard block has at least 256 elements (16 beats); the limits are 2^{log2_max} elements and \
         {window_beats_max} beats"
    )]
    NoHadamard {
        /// log2 of the largest block in elements.
        log2_max: u32,
        /// Largest window in beats.
        window_beats_max: usize,
    },
    /// A bucket's number is too high.
    #[error("bucket {found}: expected 0 to {}", BUCKETS_MAX - 1)]
    Bucket {
        /// The bucket.
        found: u16,
    },
    /// Windows are too small to hold something of each rank.
    #[error("a window of {window_beats_max} beats does not hold a beat for each of {ranks} ranks; use larger windows")]
    Parts {
        /// Ranks of the job.
        ranks: usize,
        /// Largest window in beats.
        window_beats_max: usize,
    },
    /// The job's parameters were not checked.
    #[error("rank {rank} of {ranks} with windows of {window_beats_max} beats cannot be planned; check the parameters")]
    Params {
        /// This rank.
        rank: usize,
        /// Ranks of the job.
        ranks: usize,
        /// Largest window in beats.
        window_beats_max: usize,
    },
}

/// Cuts a bucket of `elements` into the windows of collective number `op`, in order. No elements: no windows.
///
/// Uses `ranks`, `window_beats_max`, `hadamard_log2_max`, `bf16` and `job_seed` of the parameters; all ranks get the same plan.
///
/// # Errors
/// See [`PlanError`].
pub fn plan_windows(
    params: &JobParams,
    op: u32,
    bucket: u16,
    elements: usize,
    hadamard: bool,
) -> Result<Vec<WindowPlan>, PlanError> {
    let &JobParams { rank, ranks, window_beats_max, .. } = params;
    if rank >= ranks || window_beats_max == 0 || window_beats_max > usize::from(u16::MAX) {
        return Err(PlanError::Params { rank, ranks, window_beats_max });
    }
    // The bucket is a whole number of units (blocks, or beats); a window holds a number of them.
    let log2_n = if hadamard { block_log2(params, elements)? } else { 0 };
    let unit_beats = if hadamard { (1 << log2_n) / LANES } else { 1 };
    let unit_elements = unit_beats * LANES;
    let units = elements.div_ceil(unit_elements);
    let window_units_max = window_beats_max / unit_beats;
    let most = if hadamard { floor_power_of_two(window_units_max) } else { window_units_max };
    let (bytes, windows) = ((units as u64).saturating_mul((unit_beats * BEAT_BYTES) as u64), (units / most) as u64);
    // The tail of a Hadamard bucket takes one window for each bit of its length.
    let tail = units % most;
    let windows = windows + if hadamard { u64::from(tail.count_ones()) } else { u64::from(tail > 0) };
    if bytes > BUCKET_BYTES_MAX || windows > WINDOWS_MAX as u64 {
        return Err(PlanError::TooLarge { elements, bytes, windows });
    }

    let mut plans = Vec::with_capacity(windows as usize);
    let mut at = 0;
    while at < units {
        let left = (units - at).min(most);
        let window_units = if hadamard { floor_power_of_two(left) } else { left };
        let (index, step, beats) = (plans.len() as u16, op as u16, window_units * unit_beats);
        let first_element = at * unit_elements;
        plans.push(WindowPlan {
            kind: Kind::AllReduce,
            index,
            op,
            step,
            bucket,
            cookie: u32::from(step) << 16 | u32::from(index),
            first_element,
            elements: (elements - first_element).min(beats * LANES),
            beats,
            base_bytes: (at * unit_beats * BEAT_BYTES) as u32,
            shards: ShardMap::new(beats, ranks, op),
            hadamard,
            log2_n,
            log2_blocks: if hadamard { window_units.ilog2() } else { 0 },
            sign_key: if hadamard { window_key(params.job_seed, step, bucket, index) } else { 0 },
            bf16: params.bf16,
        });
        at += window_units;
    }
    Ok(plans)
}

/// Fewest packets of a shard that carry the last-percentile mark where packets are lost, if it has as many.
pub const MARK_PACKETS_LOSSY: usize = 3;

impl JobParams {
    /// Peers that start a stage's clock in this window: `start_peers`, but no more than can be heard in either stage.
    /// A stage in which no peer has anything to send does not count: its clock starts at this rank's entry alone.
    pub fn start_peers_of(&self, plan: &WindowPlan) -> usize {
        let senders = Stage::ALL.map(|stage| plan.senders(stage, self.rank));
        let reachable = senders.into_iter().filter(|count| *count > 0).min().unwrap_or(0);
        self.start_peers.min(reachable)
    }

    /// Packets at the end of a shard that carry the last-percentile mark.
    ///
    /// The early rule takes a stage for finished once it has a mark of every peer. With the last packet alone marked, a
    /// network that loses nothing never has a stage closed early: what a peer has sent is there before its mark, however
    /// slowly it sends. Where packets are lost ([`expect_loss`](Self::expect_loss)), a lost mark would cost the whole
    /// bound, so the last 1 % carry it, at least three of them.
    ///
    /// Source: OptiReduce 3.2.1 (last 1 %). That it depends on loss, and the least, are ours.
    pub fn mark_packets_of(&self, plan: &WindowPlan) -> usize {
        let shard_beats = plan.shards.quotient + usize::from(plan.shards.remainder > 0);
        let packets = shard_beats.div_ceil(plan.shape().packet_beats(self.payload_beats.max(1)));
        if self.expect_loss { packets.div_ceil(100).max(MARK_PACKETS_LOSSY).min(packets).max(1) } else { 1 }
    }
}

/// log2 of the Hadamard block for a bucket: the smallest power of four that holds it, at most what the parameters and
/// a window allow.
fn block_log2(params: &JobParams, elements: usize) -> Result<u32, PlanError> {
    let fits = |log2: u32| (1 << log2) / LANES <= params.window_beats_max;
    let sizes = (HADAMARD_LOG2_MIN..=params.hadamard_log2_max).step_by(2).filter(|log2| fits(*log2));
    let largest = sizes.clone().last().ok_or(PlanError::NoHadamard {
        log2_max: params.hadamard_log2_max,
        window_beats_max: params.window_beats_max,
    })?;
    Ok(sizes.into_iter().find(|log2| elements <= 1 << log2).unwrap_or(largest))
}

/// The largest power of two that is at most `n`, which is not zero.
fn floor_power_of_two(n: usize) -> usize {
    1 << n.ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::PlaneLimits;
    use optireduce_contract::signs::splitmix64;

    fn params(ranks: usize) -> JobParams {
        let limits = PlaneLimits {
            slots: 8,
            window_beats_max: 1024,
            hadamard_log2_max: 12,
            ranks_max: 64,
            payload_beats_max: 139,
        };
        JobParams::new(0, ranks, 22, 1_000_000, &limits)
    }

    /// Checks everything that must hold for any plan; returns it.
    fn checked(params: &JobParams, elements: usize, hadamard: bool) -> Vec<WindowPlan> {
        let op = 0x0003_0007;
        let plans = plan_windows(params, op, 5, elements, hadamard).unwrap();
        let (mut element, mut base, mut beats_before) = (0, 0, usize::MAX);
        for (index, plan) in plans.iter().enumerate() {
            let case = format!("{elements} elements, hadamard {hadamard}, window {index}");
            assert_eq!(usize::from(plan.index), index, "{case}");
            assert_eq!((plan.step, plan.bucket, plan.cookie), (7, 5, 7 << 16 | index as u32), "{case}");
            assert_eq!((plan.first_element, plan.base_bytes as usize), (element, base), "{case}: gap or overlap");
            assert_eq!(plan.base_bytes % 64, 0, "{case}");
            assert!(plan.elements > 0 && plan.beats <= params.window_beats_max && plan.beats <= beats_before, "{case}");
            assert!(plan.host_beats() <= plan.beats && plan.elements <= plan.beats * 16, "{case}");
            assert!(index + 1 == plans.len() || plan.elements == plan.beats * 16, "{case}: padding inside the bucket");
            assert_eq!(plan.shards, ShardMap::new(plan.beats, params.ranks, op), "{case}");
            assert_eq!(plan.hadamard, hadamard, "{case}");
            if hadamard {
                assert_eq!(plan.beats * 16, 1 << (plan.log2_n + plan.log2_blocks), "{case}");
                assert!([8, 10, 12].contains(&plan.log2_n), "{case}");
                assert_eq!(plan.sign_key, window_key(params.job_seed, 7, 5, plan.index), "{case}");
            } else {
                assert_eq!(plan.beats, plan.host_beats(), "{case}");
                assert_eq!((plan.log2_n, plan.log2_blocks, plan.sign_key), (0, 0, 0), "{case}");
            }
            element += plan.elements;
            base += plan.beats * 64;
            beats_before = plan.beats;
        }
        assert_eq!(element, elements, "hadamard {hadamard}: the windows do not cover the bucket");
        let padding = base / 4 - elements;
        assert!(padding < if hadamard { 4096 } else { 16 }, "{elements} elements: {padding} elements of padding");
        plans
    }

    fn blocks(elements: usize) -> Vec<(u32, u32)> {
        checked(&params(4), elements, true).iter().map(|plan| (plan.log2_n, plan.log2_blocks)).collect()
    }

    #[test]
    fn hadamard_windows_hold_powers_of_two_blocks_largest_first() {
        assert_eq!(blocks(9610), [(12, 1), (12, 0)]); // three blocks: K = 2, 1
        assert_eq!(blocks(11 * 4096), [(12, 2), (12, 2), (12, 1), (12, 0)]); // a window holds 4 of them
        assert_eq!(blocks(4 * 4096), [(12, 2)]);
    }

    #[test]
    fn short_buckets_take_the_smallest_block_that_holds_them() {
        for (elements, log2_n) in [(1, 8), (256, 8), (257, 10), (1024, 10), (1025, 12), (4096, 12)] {
            assert_eq!(blocks(elements), [(log2_n, 0)], "{elements} elements");
        }
        assert_eq!(blocks(4097), [(12, 1)]);
    }

    #[test]
    fn blocks_shrink_to_what_the_card_can_do() {
        let small = JobParams { window_beats_max: 128, ..params(4) };
        assert!(checked(&small, 5000, true).iter().all(|plan| plan.log2_n == 10));
        let low = JobParams { hadamard_log2_max: 8, ..params(4) };
        assert!(checked(&low, 5000, true).iter().all(|plan| plan.log2_n == 8));
        let board = JobParams { window_beats_max: 16_384, hadamard_log2_max: 14, ..params(4) };
        let cut = |elements| {
            let plans = plan_windows(&board, 0, 0, elements, true).unwrap();
            plans.iter().map(|plan| (plan.beats, plan.log2_n, plan.log2_blocks)).collect::<Vec<_>>()
        };
        // 1 MiB of gradient is one window of 16 blocks of 16384; 4097 elements take one block.
        assert_eq!(cut(1 << 18), [(16_384, 14, 4)]);
        assert_eq!((cut(4096), cut(4097)), (vec![(256, 12, 0)], vec![(1024, 14, 0)]));
        assert_eq!(plan_windows(&board, 0, 0, 1 << 18, false).unwrap()[0].beats, 16_384);
        let none = JobParams { window_beats_max: 15, ..params(4) };
        let refused = PlanError::NoHadamard { log2_max: 12, window_beats_max: 15 };
        assert_eq!(plan_windows(&none, 0, 0, 1, true), Err(refused));
        assert_eq!(plan_windows(&none, 0, 0, 1, false).unwrap().len(), 1);
    }

    #[test]
    fn windows_tile_buckets_of_many_lengths() {
        for ranks in [2, 3, 4, 5, 8, 64] {
            for elements in [0, 1, 15, 16, 17, 255, 256, 257, 4096, 9610, 16_384, 16_385, 100_000] {
                checked(&params(ranks), elements, false);
                checked(&params(ranks), elements, true);
            }
        }
        assert_eq!(
            checked(&params(4), 100_000, false).iter().map(|p| p.beats).collect::<Vec<_>>(),
            [1024, 1024, 1024, 1024, 1024, 1024, 106]
        );
    }

    #[test]
    fn windows_tile_buckets_of_random_lengths_under_random_limits() {
        for seed in 0..500 {
            let draw = |what: u64| splitmix64(seed << 8 | what) as usize;
            let params = JobParams {
                window_beats_max: 16 + draw(0) % 2000,
                hadamard_log2_max: 8 + 2 * (draw(1) % 3) as u32,
                ..params(2 + draw(2) % 63)
            };
            let elements = draw(3) % [100, 5_000, 300_000][draw(4) % 3];
            checked(&params, elements, false);
            checked(&params, elements, true);
        }
    }

    #[test]
    fn buckets_beyond_the_wire_format_are_refused() {
        let bytes = (1u64 << 32) + 64;
        let error = plan_windows(&params(4), 0, 0, (1 << 30) + 1, false).unwrap_err();
        assert_eq!(error, PlanError::TooLarge { elements: (1 << 30) + 1, bytes, windows: 65537 });
        assert_eq!(plan_windows(&params(4), 0, 0, 1 << 30, false).unwrap().len(), 65536);
        assert!(plan_windows(&params(4), 0, 0, usize::MAX, true).is_err());
        let outside = JobParams { rank: 4, ..params(4) };
        assert!(matches!(plan_windows(&outside, 0, 0, 1, false), Err(PlanError::Params { rank: 4, ranks: 4, .. })));
    }

    #[test]
    fn expected_beats_of_the_stages_mirror_each_other() {
        let plan = &plan_windows(&params(4), 3, 0, 16 * 10, false).unwrap()[0];
        // 10 beats on 4 ranks: shards of 3, 3, 2, 2; collective 3 gives rank r the shard (r + 3) mod 4.
        let shard_of = |rank| plan.expected_beats(Stage::Contribute, rank, 0);
        assert_eq!([0, 1, 2, 3].map(shard_of), [2, 3, 3, 2]);
        assert_eq!([0, 1, 2, 3].map(|from| plan.expected_beats(Stage::Broadcast, 1, from)), [2, 0, 3, 2]);
        let short = &plan_windows(&params(4), 0, 0, 17, false).unwrap()[0];
        assert_eq!([0, 1, 2, 3].map(|rank| short.senders(Stage::Contribute, rank)), [3, 3, 0, 0]);
        assert_eq!([0, 1, 2, 3].map(|rank| short.senders(Stage::Broadcast, rank)), [1, 1, 2, 2]);
    }
}
