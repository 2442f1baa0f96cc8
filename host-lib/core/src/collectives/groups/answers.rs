//! Contributions that a member keeps to answer the requests of other members of its groups.
//!
//! Limits: the last [`KEPT_MAX`] groups besides the current one, each until all its members have
//! their model. Up to [`ASKS_MAX`] requests about data that does not exist yet are deferred.

use std::collections::VecDeque;
use std::ops::Range;

use crate::protocol::Ranks;
use crate::protocol::partial_reduce::{ElementRange, PartialMessage};

const KEPT_MAX: usize = 2;
const ASKS_MAX: usize = 256;

#[derive(Debug)]
pub(super) struct Held {
    pub number: u32,
    /// Members that do not have their model yet.
    pub pending: Ranks,
    /// This rank's inputs to the two collectives, in wire layout, once they are over.
    pub given: [Option<Vec<f32>>; 2],
}

#[derive(Debug, Default)]
pub(super) struct Answers {
    held: VecDeque<Held>,
    asks: VecDeque<(usize, u32, ElementRange)>,
    answers: VecDeque<(usize, PartialMessage)>,
}

impl Answers {
    pub fn begin(&mut self, number: u32, members: Ranks) {
        self.held.push_back(Held { number, pending: members, given: [None, None] });
        self.forget();
    }

    pub fn give(&mut self, op: u32, values: Vec<f32>) {
        if let Some(held) = self.held.iter_mut().find(|held| held.number == op / 2) {
            held.given[(op % 2) as usize] = Some(values);
        }
        let asks = std::mem::take(&mut self.asks);
        asks.into_iter().for_each(|(from, op, range)| self.ask(from, op, range));
    }

    pub fn given(&self, op: u32) -> Option<&[f32]> {
        let held = self.held.iter().find(|held| held.number == op / 2)?;
        held.given[(op % 2) as usize].as_deref()
    }

    pub fn ask(&mut self, from: usize, op: u32, range: ElementRange) {
        let held = self.held.iter().find(|held| held.number == op / 2);
        let is_to_come = self.held.back().is_none_or(|newest| newest.number < op / 2);
        let answer = match held {
            Some(held) if held.pending.contains(from) => match &held.given[(op % 2) as usize] {
                Some(values) => {
                    let first = usize::try_from(range.first).unwrap_or(usize::MAX);
                    let elements: Range<usize> = first..first.saturating_add(range.count as usize);
                    let values = values.get(elements).map(<[f32]>::to_vec);
                    values.map(|values| PartialMessage::Answer { op, first: range.first, values })
                }
                None => return self.defer(from, op, range),
            },
            None if is_to_come => return self.defer(from, op, range),
            _ => None,
        };
        self.answers.push_back((from, answer.unwrap_or(PartialMessage::Gone { op })));
    }

    fn defer(&mut self, from: usize, op: u32, range: ElementRange) {
        if self.asks.len() == ASKS_MAX
            && let Some((from, op, _)) = self.asks.pop_front()
        {
            self.answers.push_back((from, PartialMessage::Gone { op }));
        }
        self.asks.push_back((from, op, range));
    }

    pub fn done(&mut self, number: u32, from: usize) {
        if let Some(held) = self.held.iter_mut().find(|held| held.number == number) {
            held.pending.remove(from);
        }
        self.forget();
    }

    pub fn gone(&mut self, rank: usize) {
        self.held.iter_mut().for_each(|held| {
            held.pending.remove(rank);
        });
        self.asks.retain(|(from, ..)| *from != rank);
        self.forget();
    }

    pub fn are_awaited(&self) -> bool {
        !self.answers.is_empty() || self.held.iter().any(|held| !held.pending.is_empty())
    }

    pub fn poll(&mut self) -> Option<(usize, PartialMessage)> {
        self.answers.pop_front()
    }

    fn forget(&mut self) {
        let newest = self.held.back().map(|newest| newest.number);
        self.held.retain(|held| Some(held.number) == newest || !held.pending.is_empty());
        while self.held.len() > KEPT_MAX + 1 {
            self.held.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: u64, count: u32) -> ElementRange {
        ElementRange { first, count }
    }

    #[test]
    fn questions_wait_for_what_is_to_come_and_are_refused_for_what_is_not() {
        let mut answers = Answers::default();
        answers.ask(1, 6, range(0, 2));
        assert_eq!(answers.poll(), None, "group 3 may come");
        answers.begin(3, Ranks::none(4).with([1, 2]));
        answers.ask(2, 4, range(0, 2));
        assert_eq!(answers.poll(), Some((2, PartialMessage::Gone { op: 4 })), "group 2 was none of this rank's");
        answers.give(6, vec![5.0, 6.0, 7.0]);
        assert_eq!(answers.poll(), Some((1, PartialMessage::Answer { op: 6, first: 0, values: vec![5.0, 6.0] })));
        for (from, range) in [(3, range(0, 1)), (1, range(2, 2)), (1, range(u64::MAX, u32::MAX))] {
            answers.ask(from, 6, range);
            assert_eq!(answers.poll(), Some((from, PartialMessage::Gone { op: 6 })), "{range:?}");
        }
        answers.ask(2, 7, range(0, 1));
        answers.done(3, 1);
        assert!(answers.poll().is_none() && answers.are_awaited());
        answers.gone(2);
        answers.give(7, vec![1.0]);
        assert!(answers.poll().is_none() && !answers.are_awaited(), "nobody is left who asks");
    }

    #[test]
    fn only_the_last_groups_are_kept() {
        let mut answers = Answers::default();
        for number in 0..10 {
            answers.begin(number, Ranks::none(2).with([1]));
            answers.give(2 * number, vec![1.0]);
        }
        assert_eq!((0..10).filter(|number| answers.given(2 * number).is_some()).count(), KEPT_MAX + 1);
        (0..ASKS_MAX + 3).for_each(|_| answers.ask(1, 30, range(0, 1)));
        assert_eq!(std::iter::from_fn(|| answers.poll()).count(), 3, "the oldest questions give way");
    }
}
