//! Division of a bucket into windows, which tile it in order, without gaps or overlap.
//!
//! Plain: windows of the largest size; the last may be shorter. Hadamard: blocks of the largest
//! size allowed (a smaller power of four if the whole bucket fits in one); the last is padded with
//! zeros. A window has a power of two of blocks, largest windows first.
//!
//! Limits: 4 GiB per bucket (32-bit offsets on the wire) and 65536 windows (16 bits of the cookie).

use optireduce_contract::limits::{BEAT_BYTES, HADAMARD_LOG2_MIN, LANES};
use optireduce_contract::rules;
use optireduce_contract::shard::ShardMap;
use optireduce_contract::signs::window_key;
use thiserror::Error;

use super::params::JobParams;
use super::types::{BUCKETS_MAX, Kind, Stage};

const WINDOWS_MAX: usize = 1 << 16;
const BUCKET_BYTES_MAX: u64 = 1 << 32;

/// One window of a collective. Without the Hadamard transform, `log2_n`, `log2_blocks` and
/// `sign_key` are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct WindowPlan {
    pub kind: Kind,
    pub index: u16,
    pub op: u32,
    /// Collective number on the wire, see [`op_of_step`].
    pub step: u16,
    /// Bucket id on the wire, see [`Kind::wire_bucket`].
    pub bucket: u16,
    /// Identifier among the windows in flight: `step << 16 | index`.
    pub cookie: u32,
    pub first_element: usize,
    /// Elements of the bucket in this window, without padding.
    pub elements: usize,
    /// Beats of the window, padding included.
    pub beats: usize,
    /// Byte offset of the window in the padded bucket.
    pub base_bytes: u32,
    pub shards: ShardMap,
    pub hadamard: bool,
    /// log2 of the Hadamard block in elements.
    pub log2_n: u32,
    /// log2 of the number of Hadamard blocks in the window.
    pub log2_blocks: u32,
    pub sign_key: u64,
    pub bf16: bool,
}

impl WindowPlan {
    /// Beats of the window's elements, without padding.
    pub const fn host_beats(&self) -> usize {
        self.elements.div_ceil(LANES)
    }

    /// Beats that `rank` expects from rank `from` in a stage. Contribute: `rank`'s shard, also from
    /// itself. Broadcast: the shard of `from`, nothing from itself.
    pub fn expected_beats(&self, stage: Stage, rank: usize, from: usize) -> usize {
        match stage {
            _ if from != rank && !self.kind.sends(stage) => 0,
            Stage::Contribute => self.shards.range_of(rank).len(),
            Stage::Broadcast if from == rank => 0,
            Stage::Broadcast => self.shards.range_of(from).len(),
        }
    }

    /// Bytes that `rank` expects in a stage from all ranks, itself included.
    pub fn expected_bytes(&self, stage: Stage, rank: usize) -> u64 {
        (0..self.shards.ranks).map(|from| (self.expected_beats(stage, rank, from) * BEAT_BYTES) as u64).sum()
    }

    /// The window as in the contract's rules.
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

    /// Number of peers with data to send to `rank` in a stage.
    pub fn senders(&self, stage: Stage, rank: usize) -> usize {
        (0..self.shards.ranks).filter(|&peer| peer != rank && self.expected_beats(stage, rank, peer) > 0).count()
    }
}

/// Returns the collective with the wire number `step` that is nearest to `newest`, if it can exist.
///
/// `newest` is this rank's newest collective of any bucket, since a bucket may be idle while steps
/// wrap around. Ranks are never half the range apart.
pub fn op_of_step(step: u16, newest: u32) -> Option<u32> {
    newest.checked_add_signed(step.wrapping_sub(newest as u16).cast_signed().into())
}

/// Reason why a bucket cannot be cut into windows. Beats have 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)] // described above
pub enum PlanError {
    #[error(
        "a bucket of {elements} elements needs {bytes} bytes in {windows} windows, expected at most \
         {BUCKET_BYTES_MAX} bytes in {WINDOWS_MAX} windows; split the bucket"
    )]
    TooLarge { elements: usize, bytes: u64, windows: u64 },
    #[error(
        "a Hadamard block has at least 256 elements (16 beats); the limits are 2^{log2_max} elements and \
         {window_beats_max} beats"
    )]
    NoHadamard { log2_max: u32, window_beats_max: usize },
    #[error("bucket {found}: expected 0 to {}", BUCKETS_MAX - 1)]
    Bucket { found: u16 },
    #[error("a window of {window_beats_max} beats does not hold a beat for each of {ranks} ranks; use larger windows")]
    Parts { ranks: usize, window_beats_max: usize },
    #[error("rank {rank} of {ranks} with windows of {window_beats_max} beats cannot be planned; check the parameters")]
    Params { rank: usize, ranks: usize, window_beats_max: usize },
}

/// Cuts a bucket into the windows of collective `op`, in order; none if it has no elements. Uses
/// `ranks`, `window_beats_max`, `hadamard_log2_max`, `bf16` and `job_seed` of the parameters.
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
    // The bucket and each window hold a whole number of units, which are blocks or beats.
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

/// Minimum number of marked packets of a longer shard under loss.
pub const MARK_PACKETS_LOSSY: usize = 3;

impl JobParams {
    /// Number of peers that start a stage's clock in this window: `start_peers`, limited to the
    /// senders of either stage that has any.
    pub fn start_peers_of(&self, plan: &WindowPlan) -> usize {
        let senders = Stage::ALL.map(|stage| plan.senders(stage, self.rank));
        let reachable = senders.into_iter().filter(|count| *count > 0).min().unwrap_or(0);
        self.start_peers.min(reachable)
    }

    /// Number of packets at the end of a shard that carry the last-percentile mark.
    ///
    /// Without loss, the last packet is enough, since all others arrive before it. Under loss
    /// ([`expect_loss`](Self::expect_loss)), a lost mark would cost the whole bound, so the last
    /// percent of the packets carry it, at least three.
    ///
    /// Source: OptiReduce 3.2.1 (last 1 %). The dependence on loss and the minimum are ours.
    pub fn mark_packets_of(&self, plan: &WindowPlan) -> usize {
        let shard_beats = plan.shards.quotient + usize::from(plan.shards.remainder > 0);
        let packets = shard_beats.div_ceil(plan.shape().packet_beats(self.payload_beats.max(1)));
        if self.expect_loss { packets.div_ceil(100).max(MARK_PACKETS_LOSSY).min(packets).max(1) } else { 1 }
    }
}

/// log2 of the smallest block that holds the bucket, else of the largest.
fn block_log2(params: &JobParams, elements: usize) -> Result<u32, PlanError> {
    let fits = |log2: u32| (1 << log2) / LANES <= params.window_beats_max;
    let sizes = (HADAMARD_LOG2_MIN..=params.hadamard_log2_max).step_by(2).filter(|log2| fits(*log2));
    let largest = sizes.clone().last().ok_or(PlanError::NoHadamard {
        log2_max: params.hadamard_log2_max,
        window_beats_max: params.window_beats_max,
    })?;
    Ok(sizes.into_iter().find(|log2| elements <= 1 << log2).unwrap_or(largest))
}

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
        // Shards of 3, 3, 2, 2 beats; in collective 3, rank r owns shard (r + 3) mod 4.
        let shard_of = |rank| plan.expected_beats(Stage::Contribute, rank, 0);
        assert_eq!([0, 1, 2, 3].map(shard_of), [2, 3, 3, 2]);
        assert_eq!([0, 1, 2, 3].map(|from| plan.expected_beats(Stage::Broadcast, 1, from)), [2, 0, 3, 2]);
        let short = &plan_windows(&params(4), 0, 0, 17, false).unwrap()[0];
        assert_eq!([0, 1, 2, 3].map(|rank| short.senders(Stage::Contribute, rank)), [3, 3, 0, 0]);
        assert_eq!([0, 1, 2, 3].map(|rank| short.senders(Stage::Broadcast, rank)), [1, 1, 2, 2]);
    }
}
