//! All-reduces on two levels: content of their last step, and updates that a rank skips.
//!
//! Each group reduce-scatters, equal members of the groups all-reduce their shards, and each group
//! gathers the means by an all-gather that [adds up](crate::Call::adds_up). Losses and skips of the
//! second step return in its next result, which all members gather. Losses of the third step return
//! in its own next result. So results of all ranks have the same sum once all have
//! settled: see [`settled`].

use std::ops::Range;

use optireduce_contract::limits::LANES;

use crate::protocol::repair::Corrections;
use crate::protocol::{LOSS_SKIP, Parts, StreamId, UpdateAction};

/// Condition of a member's shard of the mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // names
pub enum ShardState {
    Whole,
    /// Elements are missing.
    InPart,
    /// The member skipped the shard, which reads as zeros.
    Skipped,
}

impl ShardState {
    /// State after the second step, by its report.
    pub fn of(action: UpdateAction, missing: &[Range<usize>]) -> Self {
        match action {
            UpdateAction::Apply if missing.is_empty() => Self::Whole,
            UpdateAction::Apply => Self::InPart,
            _ => Self::Skipped,
        }
    }
}

/// Layout of the all-gather: the shard of each member and a beat with its state.
///
/// Why: a member without its shard of the mean must not pass on its group's mean instead, and the
/// others must know the elements concerned.
///
/// A whole shard has the state zero, so the repair of its lost state changes no later state. Other
/// states that were lost once mark the shard in a later result as well.
#[derive(Clone, Debug)]
pub struct Shards {
    elements: usize,
    shards: Vec<Range<usize>>,
    /// Elements of each member in the all-gather: the longest shard in whole beats, and the state's
    /// beat.
    stride: usize,
}

impl Shards {
    /// Layout of a bucket of `elements` values in groups of `members` ranks.
    pub fn new(elements: usize, members: usize) -> Self {
        let parts = Parts::new(elements, members);
        let shards: Vec<_> = (0..members).map(|member| parts.of(member)).collect();
        let longest = shards.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        let padded = longest.checked_next_multiple_of(LANES).unwrap_or(usize::MAX);
        Self { elements, shards, stride: padded.saturating_add(LANES) }
    }

    /// Number of elements of the bucket.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Number of elements of the all-gather.
    pub fn gathered_elements(&self) -> usize {
        self.shards.len().saturating_mul(self.stride)
    }

    /// Elements of a member's shard.
    pub fn shard_of(&self, member: usize) -> Range<usize> {
        self.shards[member].clone()
    }

    /// Part of a member in the all-gather.
    pub fn pack(&self, shard: &[f32], state: ShardState) -> Vec<f32> {
        let mut packed = vec![0.0; self.stride];
        if state != ShardState::Skipped {
            packed[..shard.len()].copy_from_slice(shard);
        }
        packed[self.stride - LANES..].fill(f32::from(state as u8));
        packed
    }

    /// Copies the shards out of the result of the all-gather, or out of its correction.
    pub fn unpack(&self, gathered: &[f32], into: &mut [f32]) {
        let parts = self.shards.iter().zip(gathered.chunks(self.stride));
        parts.for_each(|(shard, part)| into[shard.clone()].copy_from_slice(&part[..shard.len()]));
    }

    /// Elements of the bucket in parts of the all-gather, in order.
    pub fn unpacked(&self, parts: &[Range<usize>]) -> Vec<Range<usize>> {
        let of_shard = |member: usize, part: &Range<usize>| {
            let (shard, begin) = (&self.shards[member], member * self.stride);
            let within = |at: usize| shard.start + at.clamp(begin, begin + shard.len()) - begin;
            within(part.start)..within(part.end)
        };
        union(parts.iter().flat_map(|part| (0..self.shards.len()).map(move |member| of_shard(member, part))).collect())
    }

    /// Elements that are missing in the result, or were at their owner. `lost`: elements of the
    /// all-gather that did not arrive.
    pub fn missing(&self, gathered: &[f32], lost: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut missing: Vec<Range<usize>> = Vec::new();
        let mut add = |range: Range<usize>| match missing.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if last.end == range.start => last.end = range.end,
            _ => missing.push(range),
        };
        for (member, (shard, part)) in self.shards.iter().zip(gathered.chunks(self.stride)).enumerate() {
            let (begin, state) = (member * self.stride, (member + 1) * self.stride - LANES);
            let has_no_state = lost.iter().any(|lost| lost.start < state + LANES && lost.end > state);
            if has_no_state || part[self.stride - 1] != 0.0 {
                add(shard.clone());
                continue;
            }
            let of_shard = |at: usize| shard.start + at.clamp(begin, begin + shard.len()) - begin;
            lost.iter().for_each(|lost| add(of_shard(lost.start)..of_shard(lost.end)));
        }
        missing
    }
}

/// Union of ranges, in order.
pub fn union(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let joins = next.start <= last.end;
        last.end = if joins { last.end.max(next.end) } else { last.end };
        joins
    });
    ranges
}

/// Action of an all-reduce of `elements` values. `halts`: a step halts.
pub fn action(elements: usize, missing: &[Range<usize>], halts: bool) -> UpdateAction {
    let missing: usize = missing.iter().map(ExactSizeIterator::len).sum();
    match missing as f64 > LOSS_SKIP * elements as f64 {
        _ if halts => UpdateAction::Halt,
        true => UpdateAction::Skip,
        false => UpdateAction::Apply,
    }
}

/// Updates of a bucket that this rank has not applied. A later update includes them.
#[derive(Clone, Debug)]
pub struct Deferred {
    stream: StreamId,
    corrections: Corrections,
    drift_bytes: u64,
}

impl Deferred {
    /// Nothing deferred, for a bucket of `elements` values.
    pub fn new(elements: usize) -> Self {
        let stream = StreamId { bucket: 0, generation: 0, elements };
        Self { stream, corrections: Corrections::default(), drift_bytes: 0 }
    }

    /// Defers an update. Returns the bytes that are lost for ever, since their values are not
    /// finite.
    pub fn defer(&mut self, update: &[f32]) -> u64 {
        let hopeless = self.corrections.add(self.stream, 0, None, update).unwrap_or(update.len());
        self.lose(hopeless)
    }

    /// Records elements that no later update includes, and returns their bytes.
    pub fn lose(&mut self, elements: usize) -> u64 {
        let bytes = (elements * size_of::<f32>()) as u64;
        self.drift_bytes += bytes;
        bytes
    }

    /// Adds the deferred updates to `update`. Returns whether there were any.
    pub fn fold(&mut self, update: &mut [f32]) -> bool {
        self.corrections.fold(self.stream, update).is_ok_and(|folded| folded.corrected)
    }

    /// Takes the deferred updates.
    pub fn take(&mut self) -> Option<Vec<f32>> {
        let mut update = vec![0.0; self.stream.elements];
        let has = self.corrections.has(self.stream);
        self.fold(&mut update);
        self.corrections.forget_rounding(self.stream);
        has.then_some(update).filter(|update| update.iter().any(|value| *value != 0.0))
    }

    /// Bytes of deferred updates.
    pub fn bytes(&self) -> u64 {
        self.corrections.fresh_bytes().map(|(_, bytes)| bytes).sum()
    }

    /// Bytes that no update of this rank includes.
    pub fn drift_bytes(&self) -> u64 {
        self.drift_bytes
    }
}

/// Correction of a whole bucket, for one more update.
///
/// `averaged`: by member, the correction of its all-reduce among equals. `gathered`: of this rank's
/// all-gather. `deferred`: of this rank.
pub fn settled(
    shards: &Shards,
    averaged: &[Option<Vec<f32>>],
    gathered: Option<&[f32]>,
    deferred: Option<Vec<f32>>,
) -> Option<Vec<f32>> {
    let mut correction = deferred;
    let mut add = |at: usize, values: &[f32]| {
        let whole = correction.get_or_insert_with(|| vec![0.0; shards.elements]);
        whole[at..].iter_mut().zip(values).for_each(|(value, more)| *value += more);
    };
    for (shard, values) in shards.shards.iter().zip(averaged) {
        values.iter().for_each(|values| add(shard.start, &values[..shard.len().min(values.len())]));
    }
    if let Some(gathered) = gathered {
        let mut values = vec![0.0; shards.elements];
        shards.unpack(gathered, &mut values);
        add(0, &values);
    }
    correction
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pairs = Vec<(usize, usize)>;

    fn gathered(members: &[ShardState; 3], lost: &[(usize, usize)]) -> (Vec<f32>, Pairs) {
        let shards = Shards::new(40, 3);
        let mut carried = Vec::new();
        for (own, state) in members.iter().enumerate() {
            let values: Vec<f32> = shards.shard_of(own).map(|element| element as f32 + 1.0).collect();
            carried.extend(shards.pack(&values, *state));
        }
        assert_eq!((carried.len(), shards.stride), (shards.gathered_elements(), 32));
        let lost: Vec<_> = lost.iter().map(|(start, end)| *start..*end).collect();
        lost.iter().for_each(|lost| carried[lost.clone()].fill(0.0));
        let mut into = vec![f32::NAN; 40];
        shards.unpack(&carried, &mut into);
        (into, shards.missing(&carried, &lost).iter().map(|range| (range.start, range.end)).collect())
    }

    #[test]
    fn shards_come_together_and_what_is_missing_is_known() {
        use ShardState::{InPart, Skipped, Whole};
        let whole: Vec<f32> = (1..=40).map(|value| value as f32).collect();
        assert_eq!(gathered(&[Whole; 3], &[]), (whole.clone(), vec![]));
        // A part of a shard; its padding; its state; two shards with the padding between them; all.
        let of = |lost| gathered(&[Whole; 3], &[lost]).1;
        assert_eq!(
            [of((4, 9)), of((14, 16)), of((16, 32)), of((12, 34)), of((0, 96))],
            [vec![(4, 9)], vec![], vec![(0, 14)], vec![(0, 16)], vec![(0, 40)]]
        );
        let (values, missing) = gathered(&[Whole, InPart, Skipped], &[(3, 4)]);
        assert_eq!((missing, values[3], &values[4..28]), (vec![(3, 4), (14, 40)], 0.0, &whole[4..28]));
        assert_eq!(values[28..], [0.0; 12], "a skipped shard");
        let of = |part: Range<usize>| {
            Shards::new(40, 3).unpacked(&[part]).iter().map(|range| (range.start, range.end)).collect::<Pairs>()
        };
        assert_eq!(
            [of(4..9), of(16..32), of(12..34), of(0..96)],
            [vec![(4, 9)], vec![], vec![(12, 16)], vec![(0, 40)]]
        );
    }

    #[test]
    fn a_union_has_each_element_once_in_order() {
        assert_eq!(union(vec![5..7, 0..0, 1..3, 3..4, 6..9, 2..3]), [1..4, 5..9]);
    }

    #[test]
    fn deferred_updates_return_once_and_values_that_are_not_finite_are_drift() {
        let mut deferred = Deferred::new(3);
        assert_eq!((deferred.take(), deferred.fold(&mut [0.0; 3])), (None, false));
        assert_eq!((deferred.defer(&[1.0, 2.0, f32::NAN]), deferred.defer(&[4.0, 0.0, 1.0])), (4, 0));
        let mut update = [10.0, 20.0, 30.0];
        assert!(deferred.fold(&mut update) && !deferred.fold(&mut update));
        assert_eq!((update, deferred.take(), deferred.drift_bytes()), ([15.0, 22.0, 31.0], None, 4));
        deferred.defer(&[0.5; 3]);
        let shards = Shards::new(3, 2);
        let of_gather = [vec![1.0; 32], vec![2.0; 32]].concat();
        let all = settled(&shards, &[None, Some(vec![8.0])], Some(&of_gather), deferred.take());
        assert_eq!(all, Some(vec![1.5, 1.5, 10.5]));
        assert_eq!(settled(&shards, &[None, None], None, None), None);
    }
}
