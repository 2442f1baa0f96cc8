//! When a collective may begin in a job with cards.
//!
//! Why: a card keeps no packets of windows that are not armed, as the software data plane does. Whoever begins before a card's
//! host has called the same collective loses what it sends to that card.
//! How: a rank with a card tells all others, over the reliable channel, once the first windows of a collective are armed; the
//! others begin then. Later windows of the same collective need no message: no rank has more than
//! [`JobParams::in_flight`](super::JobParams::in_flight) of them under way, half the slots of the smallest card.
//! Limits: the wait must be bounded by the caller, since a card's host may be late, or dead. A rank that is lied to begins too early,
//! or waits until its bound.
//! Source: ours.

use std::collections::VecDeque;

use super::types::Ranks;

/// What a rank with a card tells the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArmingMessage {
    /// The first windows of this collective, and of all before it, are armed.
    Armed {
        /// Collective number.
        op: u32,
    },
}

/// Which collectives the cards of a job are ready for.
#[derive(Clone, Debug)]
pub struct Arming {
    rank: usize,
    cards: Ranks,
    /// By rank: the first collective that it has not said to be armed.
    next_op: Vec<u32>,
    outgoing: VecDeque<(usize, ArmingMessage)>,
}

impl Arming {
    /// `cards`: the ranks with a card, of a job of `ranks`.
    pub fn new(rank: usize, ranks: usize, cards: Ranks) -> Self {
        Self { rank, cards, next_op: vec![0; ranks], outgoing: VecDeque::new() }
    }

    /// The windows of collective `op` are armed here, and those of all before it: tells `peers`, once, if this rank has a card.
    pub fn armed(&mut self, op: u32, peers: impl IntoIterator<Item = usize>) {
        if !self.cards.contains(self.rank) || op < self.next_op[self.rank] {
            return;
        }
        self.next_op[self.rank] = op.saturating_add(1);
        let others = peers.into_iter().filter(|peer| *peer != self.rank);
        self.outgoing.extend(others.map(|peer| (peer, ArmingMessage::Armed { op })));
    }

    /// Takes a message of rank `from`. Ranks without a card have nothing to say.
    pub fn handle(&mut self, from: usize, message: ArmingMessage) {
        let ArmingMessage::Armed { op } = message;
        if let Some(next_op) = self.next_op.get_mut(from).filter(|_| self.cards.contains(from)) {
            *next_op = (*next_op).max(op.saturating_add(1));
        }
    }

    /// The next message to send, and to whom.
    pub fn poll(&mut self) -> Option<(usize, ArmingMessage)> {
        self.outgoing.pop_front()
    }

    /// The first of `ranks` with a card that is not known to have armed collective `op`. This rank itself is never waited for.
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
        // Rank 2 was dropped.
        assert_eq!(software.not_armed(3, [0, 1, 3]), None);
        // Nothing is taken back, and nothing is heard of ranks that have no card, or are none.
        software.handle(0, ArmingMessage::Armed { op: 1 });
        software.handle(3, ArmingMessage::Armed { op: 9 });
        software.handle(9, ArmingMessage::Armed { op: 9 });
        software.handle(2, ArmingMessage::Armed { op: u32::MAX });
        assert_eq!(software.not_armed(3, 0..4), None);
        let card = arming(0);
        assert_eq!((card.not_armed(0, 0..4), card.not_armed(0, [0, 1])), (Some(2), None));
    }
}
