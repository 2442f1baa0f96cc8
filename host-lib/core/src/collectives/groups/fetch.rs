//! Data of a group that a member fetches from other members.
//!
//! Limits: a rank is sent further requests only while fewer than [`ASKED_ELEMENTS_MAX`] elements
//! are outstanding. The fetch is abandoned when no answer arrives within the timeout.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::protocol::partial_reduce::{ANSWER_ELEMENTS_MAX, ElementRange, PartialMessage, RANGES_MAX};

const ASKED_ELEMENTS_MAX: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct Fetch {
    op: u32,
    timeout_ns: u64,
    until_ns: u64,
    missing: BTreeMap<usize, Missing>,
}

#[derive(Debug, Default)]
struct Missing {
    wanted: VecDeque<Range<usize>>,
    asked: Vec<Range<usize>>,
}

impl Fetch {
    pub fn new(op: u32, now_ns: u64, timeout_ns: u64) -> Self {
        Self { op, timeout_ns, until_ns: now_ns.saturating_add(timeout_ns), missing: BTreeMap::new() }
    }

    pub fn op(&self) -> u32 {
        self.op
    }

    /// Adds at most [`ANSWER_ELEMENTS_MAX`] elements to be fetched from a rank.
    pub fn want(&mut self, rank: usize, elements: Range<usize>) {
        self.missing.entry(rank).or_default().wanted.push_back(elements);
    }

    pub fn give_up(&mut self, rank: usize) {
        self.missing.remove(&rank);
    }

    pub fn poll(&mut self) -> Option<(usize, PartialMessage)> {
        for (rank, Missing { wanted, asked }) in &mut self.missing {
            let mut elements: usize = asked.iter().map(Range::len).sum();
            let mut ranges = Vec::new();
            while elements < ASKED_ELEMENTS_MAX
                && ranges.len() < RANGES_MAX
                && let Some(next) = wanted.pop_front()
            {
                elements += next.len();
                ranges.push(ElementRange { first: next.start as u64, count: next.len() as u32 });
                asked.push(next);
            }
            if !ranges.is_empty() {
                return Some((*rank, PartialMessage::Ask { op: self.op, ranges }));
            }
        }
        None
    }

    pub fn take(&mut self, now_ns: u64, from: usize, first: u64, count: usize) -> Option<Range<usize>> {
        let Missing { wanted, asked } = self.missing.get_mut(&from)?;
        let is_it = |range: &Range<usize>| range.start as u64 == first && range.len() == count;
        let found = asked.swap_remove(asked.iter().position(is_it)?);
        if wanted.is_empty() && asked.is_empty() {
            self.missing.remove(&from);
        }
        self.until_ns = now_ns.saturating_add(self.timeout_ns);
        Some(found)
    }

    pub fn is_over(&self, now_ns: u64) -> bool {
        self.missing.is_empty() || now_ns >= self.until_ns
    }

    pub fn until_ns(&self) -> u64 {
        self.until_ns
    }
}

pub(super) fn pieces(elements: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = elements.end;
    elements.step_by(ANSWER_ELEMENTS_MAX).map(move |first| first..(first + ANSWER_ELEMENTS_MAX).min(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_asked_for_a_little_at_a_time_and_only_answers_to_questions_count() {
        let mut fetch = Fetch::new(7, 100, 50);
        assert!(fetch.is_over(0));
        pieces(10..10 + 6 * ANSWER_ELEMENTS_MAX + 5).for_each(|piece| fetch.want(3, piece));
        fetch.want(1, 0..16);
        let Some((1, PartialMessage::Ask { op: 7, ranges })) = fetch.poll() else { panic!() };
        assert_eq!(ranges, [ElementRange { first: 0, count: 16 }]);
        let Some((3, PartialMessage::Ask { ranges, .. })) = fetch.poll() else { panic!() };
        assert_eq!((ranges.len(), fetch.poll()), (4, None), "64 Ki elements");
        assert_eq!(fetch.take(120, 3, 10, 16), None, "another length");
        assert_eq!(fetch.take(120, 1, 10, ANSWER_ELEMENTS_MAX), None, "another rank");
        assert_eq!(fetch.take(120, 3, 10, ANSWER_ELEMENTS_MAX), Some(10..10 + ANSWER_ELEMENTS_MAX));
        assert_eq!(fetch.take(120, 3, 10, ANSWER_ELEMENTS_MAX), None, "twice");
        assert!(fetch.poll().is_some() && !fetch.is_over(169) && fetch.is_over(170));
        fetch.give_up(3);
        assert_eq!(fetch.take(130, 1, 0, 16), Some(0..16));
        assert!(fetch.is_over(0) && fetch.poll().is_none());
    }
}
