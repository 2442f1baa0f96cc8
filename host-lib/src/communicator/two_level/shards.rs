//! Content of the all-gather of an all-reduce on two levels.
//!
//! Why: a member without its shard of the mean must not pass on its group's mean instead, and the
//! others must know the elements concerned. So a beat with the state follows each shard. It may be
//! lost like any other.

use std::ops::Range;
use std::sync::Arc;

use optireduce_contract::limits::LANES;
use optireduce_core::protocol::{Parts, UpdateAction};

use super::super::{Error, Report};
use super::report::{Numbers, TwoLevelReport};

/// States of a shard. A missing shard reads as zero, as do lost values.
const WHOLE: f32 = 1.0;
const IN_PART: f32 = 0.5;

#[derive(Debug)]
pub(super) struct Plan {
    pub elements: usize,
    pub numbers: Arc<Numbers>,
    pub shards: Shards,
}

impl Plan {
    /// `reports`: of the previous steps.
    pub fn report(&self, gathered: &[f32], mut reports: Vec<Report>, last: Report) -> TwoLevelReport {
        let all = 0..gathered.len();
        // A skipped step reports no missing ranges, but has no usable values.
        let lost = match last.action() {
            UpdateAction::Apply => last.missing_ranges(),
            _ => std::slice::from_ref(&all),
        };
        let missing = self.shards.missing(gathered, lost);
        reports.push(last);
        TwoLevelReport::new(self.numbers.clone(), reports, self.elements, missing)
    }

    pub fn mean(&self, gathered: &[f32]) -> Vec<f32> {
        let mut mean = vec![0.0; self.elements];
        self.shards.unpack(gathered, &mut mean);
        mean
    }

    pub fn apply(&self, gathered: &[f32], report: &TwoLevelReport, data: &mut [f32]) -> Result<(), Error> {
        let (found, expected) = (data.len(), self.elements);
        if found != expected {
            let name = "the number of elements of the destination";
            return Err(Error::Argument { name, found, expected: expected.to_string() });
        }
        if report.action() == UpdateAction::Apply {
            self.shards.unpack(gathered, data);
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct Shards {
    shards: Vec<Range<usize>>,
    /// Elements of each member in the all-gather: the longest shard in whole beats, and the state's
    /// beat.
    stride: usize,
    own: usize,
}

impl Shards {
    pub fn new(elements: usize, members: usize, own: usize) -> Self {
        let parts = Parts::new(elements, members);
        let shards: Vec<_> = (0..members).map(|member| parts.of(member)).collect();
        let longest = shards.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        Self { shards, stride: longest.next_multiple_of(LANES) + LANES, own }
    }

    pub fn gathered_elements(&self) -> usize {
        self.shards.len() * self.stride
    }

    /// `average`: report of the shard's all-reduce; `None` for an empty shard.
    pub fn pack(&self, shard: &[f32], average: Option<&Report>) -> Vec<f32> {
        let has = match average {
            Some(report) if report.action() != UpdateAction::Apply => 0.0,
            Some(report) if !report.missing_ranges().is_empty() => IN_PART,
            _ => WHOLE,
        };
        let mut packed = vec![0.0; self.stride];
        if has > 0.0 {
            packed[..shard.len()].copy_from_slice(shard);
        }
        packed[self.stride - LANES..].fill(has);
        debug_assert_eq!(shard.len(), self.shards[self.own].len());
        packed
    }

    fn parts<'a>(&'a self, gathered: &'a [f32]) -> impl Iterator<Item = (&'a Range<usize>, &'a [f32])> {
        self.shards.iter().zip(gathered.chunks(self.stride))
    }

    pub fn unpack(&self, gathered: &[f32], into: &mut [f32]) {
        self.parts(gathered).for_each(|(shard, part)| into[shard.clone()].copy_from_slice(&part[..shard.len()]));
    }

    /// `lost`: lost elements of the all-gather.
    pub fn missing(&self, gathered: &[f32], lost: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut missing: Vec<Range<usize>> = Vec::new();
        let mut add = |range: Range<usize>| match missing.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if last.end == range.start => last.end = range.end,
            _ => missing.push(range),
        };
        for (member, (shard, part)) in self.parts(gathered).enumerate() {
            if part[self.stride - 1] != WHOLE {
                add(shard.clone());
                continue;
            }
            let begin = member * self.stride;
            let of_shard = |at: usize| shard.start + at.clamp(begin, begin + shard.len()) - begin;
            lost.iter().for_each(|lost| add(of_shard(lost.start)..of_shard(lost.end)));
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pairs = Vec<(usize, usize)>;

    fn gathered(members: &[f32; 3], lost: &[(usize, usize)]) -> (Vec<f32>, Pairs) {
        let mut carried = Vec::new();
        for (own, has) in members.iter().enumerate() {
            let shards = Shards::new(40, 3, own);
            let values: Vec<f32> = shards.shards[own].clone().map(|element| element as f32 + 1.0).collect();
            let mut packed = shards.pack(&values, None);
            packed[shards.stride - LANES..].fill(*has);
            carried.extend(packed);
        }
        let shards = Shards::new(40, 3, 0);
        assert_eq!((carried.len(), shards.stride), (shards.gathered_elements(), 32));
        let lost: Vec<_> = lost.iter().map(|(start, end)| *start..*end).collect();
        lost.iter().for_each(|lost| carried[lost.clone()].fill(0.0));
        let mut into = vec![f32::NAN; 40];
        shards.unpack(&carried, &mut into);
        (into, shards.missing(&carried, &lost).iter().map(|range| (range.start, range.end)).collect())
    }

    #[test]
    fn shards_come_together_and_what_is_missing_is_known() {
        let whole: Vec<f32> = (1..=40).map(|value| value as f32).collect();
        assert_eq!(gathered(&[WHOLE; 3], &[]), (whole.clone(), vec![]));
        // A part of a shard; its padding; across two shards with the padding between them; all.
        let of = |lost| gathered(&[WHOLE; 3], &[lost]).1;
        assert_eq!(
            [of((4, 9)), of((14, 16)), of((12, 34)), of((0, 96))],
            [vec![(4, 9)], vec![], vec![(0, 16)], vec![(0, 40)]]
        );
        let (values, missing) = gathered(&[WHOLE, IN_PART, 0.0], &[(3, 4)]);
        assert_eq!((missing, values[3], &values[4..]), (vec![(3, 4), (14, 40)], 0.0, &whole[4..]));
    }
}
