//! Partial collectives: reduce-scatter and all-gather, the two stages of Transpose AllReduce on
//! their own, as used by trainers with sharded weights (ZeRO, FSDP).
//!
//! A trainer's parts are contiguous, but the shards of a window are not. On the wire, each window
//! therefore holds a piece of every part, padded to whole beats, in the shard of the part's owner.
//! Limits: never Hadamard-encoded, since a part cannot be decoded alone.

use std::ops::Range;

use super::params::JobParams;
use super::plan::{PlanError, WindowPlan, plan_windows};
use super::types::Kind;
use optireduce_contract::limits::LANES;

/// Partition of a bucket into one contiguous part per rank, as in `torch.chunk`: the last parts may
/// be shorter or empty. It does not change when ranks are dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    elements: usize,
    ranks: usize,
    live: Vec<usize>,
}

impl Parts {
    /// Partitions a bucket among all ranks of the job.
    pub fn new(elements: usize, ranks: usize) -> Self {
        Self::among((0..ranks).collect(), elements, ranks)
    }

    /// Likewise, if only the ranks in `live` take part.
    pub fn among(live: Vec<usize>, elements: usize, ranks: usize) -> Self {
        Self { elements, ranks, live }
    }

    /// Number of elements of the bucket.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Elements owned by each rank in `live`.
    pub fn live(&self) -> impl Iterator<Item = Range<usize>> {
        self.live.iter().map(|rank| self.of(*rank))
    }

    /// Elements owned by each rank that does not take part.
    pub fn dropped(&self) -> impl Iterator<Item = Range<usize>> {
        (0..self.ranks).filter(|rank| !self.live.contains(rank)).map(|rank| self.of(rank))
    }

    /// Elements owned by `rank`.
    pub fn of(&self, rank: usize) -> Range<usize> {
        let length = self.elements.div_ceil(self.ranks);
        let start = (rank * length).min(self.elements);
        start..(start + length).min(self.elements)
    }

    /// Number of elements on the wire: each live part is padded to the first, in whole beats.
    pub fn wire_elements(&self) -> usize {
        self.elements.div_ceil(self.ranks).next_multiple_of(LANES) * self.live.len()
    }

    /// Elements of the bucket in these beats of one part's shard, without the padding.
    pub(crate) fn elements_of(&self, plan: &WindowPlan, beats: &Range<usize>) -> Range<usize> {
        let is_in = |index: &usize| plan.shards.range_of(*index).contains(&beats.start);
        let Some(index) = (0..self.live.len()).find(is_in) else { return 0..0 };
        let (shard, part) = (plan.shards.range_of(index), self.of(self.live[index]));
        let (_, piece) = self.piece(plan, index);
        let within = |beat: usize| part.start + (piece.start + (beat - shard.start) * LANES).min(piece.end);
        within(beats.start)..within(beats.end)
    }

    fn piece(&self, plan: &WindowPlan, index: usize) -> (usize, Range<usize>) {
        let shard = plan.shards.range_of(index);
        let (start, end) = (plan.first_element / self.live.len(), self.of(self.live[index]).len());
        let piece = start.min(end)..(start + shard.len() * LANES).min(end);
        (plan.first_element + shard.start * LANES, piece)
    }

    pub(super) fn scatter<'a>(
        &self,
        plans: impl Iterator<Item = &'a WindowPlan>,
        index: usize,
        part: &[f32],
        wire: &mut [f32],
    ) {
        for plan in plans {
            let (at, piece) = self.piece(plan, index);
            let (padding, end) = (at + piece.len(), at + plan.shards.range_of(index).len() * LANES);
            wire[at..padding].copy_from_slice(&part[piece]);
            wire[padding..end].fill(0.0);
        }
    }

    /// Copies a live part out of `wire`.
    pub(super) fn gather<'a>(
        &self,
        plans: impl Iterator<Item = &'a WindowPlan>,
        index: usize,
        wire: &[f32],
        part: &mut [f32],
    ) {
        for plan in plans {
            let (at, piece) = self.piece(plan, index);
            part[piece.clone()].copy_from_slice(&wire[at..at + piece.len()]);
        }
    }
}

/// Like [`plan_windows`], for a partial collective. All shards of a window have the same size.
///
/// # Errors
/// See [`PlanError`].
pub fn plan_partial(
    params: &JobParams,
    op: u32,
    kind: Kind,
    bucket: u16,
    parts: &Parts,
) -> Result<Vec<WindowPlan>, PlanError> {
    let &JobParams { ranks, window_beats_max, .. } = params;
    let wire_bucket = kind.wire_bucket(bucket).ok_or(PlanError::Bucket { found: bucket })?;
    if window_beats_max < ranks {
        return Err(PlanError::Parts { ranks, window_beats_max });
    }
    let params = JobParams { window_beats_max: window_beats_max - window_beats_max % ranks.max(1), ..params.clone() };
    let plans = plan_windows(&params, op, wire_bucket, parts.wire_elements(), false)?;
    Ok(plans.into_iter().map(|plan| WindowPlan { kind, ..plan }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{BUCKETS_MAX, PlaneLimits};
    use crate::protocol::{JobParams, PlanError, plan_partial};

    fn params(ranks: usize, window_beats_max: usize) -> JobParams {
        JobParams { window_beats_max, ..JobParams::new(0, ranks, 22, 1_000_000, &PlaneLimits::CARD) }
    }

    #[test]
    fn parts_are_cut_as_torch_chunk_does() {
        let parts = |elements, ranks| {
            let parts = Parts::new(elements, ranks);
            (0..ranks).map(|rank| parts.of(rank)).collect::<Vec<_>>()
        };
        assert_eq!(parts(12, 3), [0..4, 4..8, 8..12]);
        assert_eq!(parts(10, 4), [0..3, 3..6, 6..9, 9..10]);
        assert_eq!(parts(5, 4), [0..2, 2..4, 4..5, 5..5]);
        assert_eq!(parts(0, 2), [0..0, 0..0]);
    }

    #[test]
    fn every_element_has_one_place_on_the_wire_in_its_owners_shard() {
        for (elements, ranks, window_beats_max, op) in
            [(1, 2, 64, 0), (1000, 3, 64, 1), (5000, 4, 13, 7), (1 << 16, 7, 1024, 5), (99, 8, 8, 3)]
        {
            let case = format!("{elements} elements, {ranks} ranks, windows of {window_beats_max} beats");
            let params = params(ranks, window_beats_max);
            let plans = plan_partial(&params, op, Kind::ReduceScatter, 9, &Parts::new(elements, ranks)).unwrap();
            let parts = Parts::new(elements, ranks);
            let whole: Vec<f32> = (1..=elements).map(|element| element as f32).collect();
            let mut wire = vec![f32::NAN; parts.wire_elements()];
            (0..ranks).for_each(|rank| parts.scatter(plans.iter(), rank, &whole[parts.of(rank)], &mut wire));
            assert!(wire.iter().all(|value| *value >= 0.0), "{case}: padding is not zero");
            let mut found: Vec<f32> = wire.iter().copied().filter(|value| *value > 0.0).collect();
            found.sort_by(f32::total_cmp);
            assert_eq!(found, whole, "{case}: an element is missing, or there twice");
            for rank in 0..ranks {
                let mut part = vec![0.0; parts.of(rank).len()];
                parts.gather(plans.iter(), rank, &wire, &mut part);
                assert_eq!(part, whole[parts.of(rank)], "{case}, rank {rank}");
            }
            let mut at = 0;
            for plan in &plans {
                assert!(plan.beats <= window_beats_max && plan.first_element == at, "{case}");
                assert_eq!((plan.shards.remainder, plan.kind), (0, Kind::ReduceScatter), "{case}: shards differ");
                at += plan.beats * LANES;
            }
            assert_eq!(at, wire.len(), "{case}");
        }
    }

    #[test]
    fn a_window_must_hold_a_beat_for_each_rank() {
        let error = plan_partial(&params(8, 7), 0, Kind::AllGather, 0, &Parts::new(100, 8)).unwrap_err();
        assert_eq!(error, PlanError::Parts { ranks: 8, window_beats_max: 7 });
        assert_eq!(
            plan_partial(&params(8, 64), 0, Kind::AllGather, BUCKETS_MAX, &Parts::new(100, 8)).unwrap_err(),
            PlanError::Bucket { found: BUCKETS_MAX }
        );
    }
}
