//! What the last step of an all-reduce on two levels carries: each member's shard of the mean, and whether it is one.
//!
//! Why: a member that did not get its shard of the mean must not hand on its group's instead, and the others must know which elements that
//! concerns. So each shard is followed by a beat that says what it is, and is lost like any other.

use std::ops::Range;
use std::sync::Arc;

use optireduce_contract::limits::LANES;
use optireduce_core::protocol::{Parts, UpdateAction};

use super::super::{Error, Report};
use super::report::{Numbers, TwoLevelReport};

/// What a member has of its shard of the mean. Nothing reads as zero, as does what was lost.
const WHOLE: f32 = 1.0;
const IN_PART: f32 = 0.5;

/// A bucket's all-reduces.
#[derive(Debug)]
pub(super) struct Plan {
    pub elements: usize,
    pub numbers: Arc<Numbers>,
    pub shards: Shards,
}

impl Plan {
    /// How the all-reduce went, from what its last step has brought. `reports`: of the steps before.
    pub fn report(&self, gathered: &[f32], mut reports: Vec<Report>, last: Report) -> TwoLevelReport {
        let all = 0..gathered.len();
        // What was skipped has no ranges that are missing: none of it counts.
        let lost = match last.action() {
            UpdateAction::Apply => last.missing_ranges(),
            _ => std::slice::from_ref(&all),
        };
        let missing = self.shards.missing(gathered, lost);
        reports.push(last);
        TwoLevelReport::new(self.numbers.clone(), reports, self.elements, missing)
    }

    /// The mean.
    pub fn mean(&self, gathered: &[f32]) -> Vec<f32> {
        let mut mean = vec![0.0; self.elements];
        self.shards.unpack(gathered, &mut mean);
        mean
    }

    /// Puts the mean into `data`, if it is to be applied.
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

/// The shards of a group's members, and where they are in what the all-gather carries.
#[derive(Debug)]
pub(super) struct Shards {
    shards: Vec<Range<usize>>,
    /// Elements that each member hands over: the longest shard, whole beats of it, and the beat that says what it is.
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

    /// Elements of the all-gather.
    pub fn gathered_elements(&self) -> usize {
        self.shards.len() * self.stride
    }

    /// What this member hands over. `average`: how its shard became the mean, if it is not empty.
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

    /// Each member's shard, and what the all-gather brought of that member.
    fn parts<'a>(&'a self, gathered: &'a [f32]) -> impl Iterator<Item = (&'a Range<usize>, &'a [f32])> {
        self.shards.iter().zip(gathered.chunks(self.stride))
    }

    /// Puts the members' shards where they belong.
    pub fn unpack(&self, gathered: &[f32], into: &mut [f32]) {
        self.parts(gathered).for_each(|(shard, part)| into[shard.clone()].copy_from_slice(&part[..shard.len()]));
    }

    /// The elements that are missing, in order. `lost`: what the all-gather lost of what it carries.
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

    /// Three members' shards of 40 elements: 14, 14 and 12 of them, as far as the all-gather brought them, and what is missing.
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
        // A part of a shard; its padding; the end of one and the beginning of the next, with what is between them; all.
        let of = |lost| gathered(&[WHOLE; 3], &[lost]).1;
        assert_eq!(
            [of((4, 9)), of((14, 16)), of((12, 34)), of((0, 96))],
            [vec![(4, 9)], vec![], vec![(0, 16)], vec![(0, 40)]]
        );
        let (values, missing) = gathered(&[WHOLE, IN_PART, 0.0], &[(3, 4)]);
        assert_eq!((missing, values[3], &values[4..]), (vec![(3, 4), (14, 40)], 0.0, &whole[4..]));
    }
}
