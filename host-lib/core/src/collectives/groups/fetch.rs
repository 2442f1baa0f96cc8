//! What a member of a group lacks of other members, and asks them for, a little at a time.
//!
//! Limits: asks a rank for at most [`ASKED_ELEMENTS_MAX`] elements at a time; gives up when nothing has come for the timeout.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::protocol::partial_reduce::{ANSWER_ELEMENTS_MAX, ElementRange, PartialMessage, RANGES_MAX};

/// 256 KiB on their way.
const ASKED_ELEMENTS_MAX: usize = 1 << 16;

/// What is missing of one collective.
#[derive(Debug)]
pub(super) struct Fetch {
    op: u32,
    timeout_ns: u64,
    /// When to give up.
    until_ns: u64,
    /// By rank.
    missing: BTreeMap<usize, Missing>,
}

/// Elements that are missing of a rank.
#[derive(Debug, Default)]
struct Missing {
    /// It was not asked for these yet.
    wanted: VecDeque<Range<usize>>,
    asked: Vec<Range<usize>>,
}

impl Fetch {
    pub fn new(op: u32, now_ns: u64, timeout_ns: u64) -> Self {
        Self { op, timeout_ns, until_ns: now_ns.saturating_add(timeout_ns), missing: BTreeMap::new() }
    }

    /// The collective.
    pub fn op(&self) -> u32 {
        self.op
    }

    /// These elements of a rank are missing. At most [`ANSWER_ELEMENTS_MAX`] of them.
    pub fn want(&mut self, rank: usize, elements: Range<usize>) {
        self.missing.entry(rank).or_default().wanted.push_back(elements);
    }

    /// Nothing more is to be expected of a rank.
    pub fn give_up(&mut self, rank: usize) {
        self.missing.remove(&rank);
    }

    /// The next question.
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

    /// A rank has answered: the elements, if it was asked for them.
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

    /// Whether nothing more will come.
    pub fn is_over(&self, now_ns: u64) -> bool {
        self.missing.is_empty() || now_ns >= self.until_ns
    }

    /// When it gives up, unless something comes.
    pub fn until_ns(&self) -> u64 {
        self.until_ns
    }
}

/// Elements in pieces that fit into an answer.
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
