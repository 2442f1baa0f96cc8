//! Start of collectives in a job with cards.
//!
//! A card drops packets of windows that are not armed. A rank with a card therefore notifies all
//! others when the first windows of a collective are armed, and the others wait for this. Later
//! windows need no message: no rank has more than
//! [`JobParams::in_flight`](super::JobParams::in_flight) of them in progress, half the slots of the
//! smallest card. The caller must bound the wait.

use std::collections::VecDeque;

use super::types::Ranks;

/// Message from a rank with a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArmingMessage {
    /// The first windows of this collective and of all earlier ones are armed.
    Armed {
        /// Collective number.
        op: u32,
    },
}

/// Tracks the collectives for which the cards of a job are ready.
#[derive(Clone, Debug)]
pub struct Arming {
    rank: usize,
    cards: Ranks,
    /// Per rank: first collective not reported as armed.
    next_op: Vec<u32>,
    outgoing: VecDeque<(usize, ArmingMessage)>,
}

impl Arming {
    /// Creates the state of `rank`. `cards`: ranks with a card.
    pub fn new(rank: usize, ranks: usize, cards: Ranks) -> Self {
        Self { rank, cards, next_op: vec![0; ranks], outgoing: VecDeque::new() }
    }

    /// Records that this rank has armed all collectives up to `op`, and notifies `peers`.
    pub fn armed(&mut self, op: u32, peers: impl IntoIterator<Item = usize>) {
        if !self.cards.contains(self.rank) || op < self.next_op[self.rank] {
            return;
        }
        self.next_op[self.rank] = op.saturating_add(1);
        let others = peers.into_iter().filter(|peer| *peer != self.rank);
        self.outgoing.extend(others.map(|peer| (peer, ArmingMessage::Armed { op })));
    }

    /// Handles a message from rank `from`.
    pub fn handle(&mut self, from: usize, message: ArmingMessage) {
        let ArmingMessage::Armed { op } = message;
        if let Some(next_op) = self.next_op.get_mut(from).filter(|_| self.cards.contains(from)) {
            *next_op = (*next_op).max(op.saturating_add(1));
        }
    }

    /// Returns the next message to send and its destination.
    pub fn poll(&mut self) -> Option<(usize, ArmingMessage)> {
        self.outgoing.pop_front()
    }

    /// Returns the first other rank with a card that may not have armed collective `op`.
    pub fn not_armed(&self, op: u32, ranks: impl IntoIterator<Item = usize>) -> Option<usize> {
        let mut waited = ranks.into_iter().filter(|rank| *rank != self.rank && self.cards.contains(*rank));
        waited.find(|rank| self.next_op.get(*rank).is_none_or(|next_op| *next_op <= op))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arming(rank: usize) -> Arming {
        Arming::new(rank, 4, Ranks::none(4).with([0, 2]))
    }

    #[test]
    fn a_rank_with_a_card_tells_each_other_once_and_one_without_says_nothing() {
        let mut card = arming(2);
        card.armed(5, 0..4);
        card.armed(5, 0..4);
        card.armed(4, 0..4);
        let told: Vec<_> = std::iter::from_fn(|| card.poll()).collect();
        assert_eq!(told, [0, 1, 3].map(|to| (to, ArmingMessage::Armed { op: 5 })));
        let mut software = arming(1);
        software.armed(5, 0..4);
        assert_eq!(software.poll(), None);
    }

    #[test]
    fn a_collective_waits_for_every_other_card_and_nobody_else() {
        let mut software = arming(1);
        assert_eq!(software.not_armed(0, 0..4), Some(0));
        software.handle(0, ArmingMessage::Armed { op: 3 });
        assert_eq!((software.not_armed(3, 0..4), software.not_armed(4, 0..4)), (Some(2), Some(0)));
        assert_eq!(software.not_armed(3, [0, 1, 3]), None);
        software.handle(0, ArmingMessage::Armed { op: 1 });
        software.handle(3, ArmingMessage::Armed { op: 9 });
        software.handle(9, ArmingMessage::Armed { op: 9 });
        software.handle(2, ArmingMessage::Armed { op: u32::MAX });
        assert_eq!(software.not_armed(3, 0..4), None);
        let card = arming(0);
        assert_eq!((card.not_armed(0, 0..4), card.not_armed(0, [0, 1])), (Some(2), None));
    }
}
