//! The control channel: reliable messages between ranks.
//!
//! Model: a message takes as long as a packet that is never lost, and messages between two ranks
//! stay in order. As a simplification they occupy no time on the wire.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::network::{Impairments, PacketId};

/// Stage of a message; packets never have it.
const STAGE_MESSAGE: u8 = 0xff;

/// Arrival time, number, sender, receiver, bytes.
type Flight = (u64, u64, usize, usize, Vec<u8>);

#[derive(Debug)]
pub(crate) struct ControlChannel {
    impairments: Impairments,
    ranks: usize,
    in_flight: BinaryHeap<Reverse<Flight>>,
    sent: u64,
    /// Arrival of the last message by pair (sender * ranks + receiver).
    last_ns: Vec<u64>,
}

impl ControlChannel {
    pub(crate) fn new(ranks: usize, impairments: Impairments) -> Self {
        Self { impairments, ranks, in_flight: BinaryHeap::new(), sent: 0, last_ns: vec![0; ranks * ranks] }
    }

    pub(crate) fn send(&mut self, now_ns: u64, from: usize, to: usize, message: Vec<u8>) {
        let (src, dst, number) = (from as u8, to as u8, self.sent);
        let id =
            PacketId { src, dst, step: 0, stage: STAGE_MESSAGE, bucket: (number >> 32) as u16, offset: number as u32 };
        let last_ns = &mut self.last_ns[from * self.ranks + to];
        *last_ns = (*last_ns).max(now_ns + self.impairments.delay_ns(&id, 0));
        self.in_flight.push(Reverse((*last_ns, number, from, to, message)));
        self.sent += 1;
    }

    /// Returns sender, receiver and bytes of the next message that has arrived.
    pub(crate) fn receive(&mut self, now_ns: u64) -> Option<(usize, usize, Vec<u8>)> {
        self.next_ns().filter(|at_ns| *at_ns <= now_ns)?;
        self.in_flight.pop().map(|Reverse((_, _, from, to, message))| (from, to, message))
    }

    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.in_flight.peek().map(|Reverse((at_ns, ..))| *at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_take_the_networks_delay_are_never_lost_and_keep_their_order() {
        let impairments = Impairments { loss: 0.5, tail_ratio: 5.0, ..Impairments::default() };
        let mut channel = ControlChannel::new(3, impairments);
        for number in 0..1000u64 {
            channel.send(number * 100, 0, 2, number.to_le_bytes().to_vec());
            channel.send(number * 100, 1, 2, number.to_le_bytes().to_vec());
        }
        assert!(channel.next_ns().is_some_and(|at_ns| at_ns >= 1000) && channel.receive(999).is_none());
        let mut next = [0u64; 2];
        while let Some((from, to, message)) = channel.receive(u64::MAX) {
            assert_eq!((to, message), (2, next[from].to_le_bytes().to_vec()));
            next[from] += 1;
        }
        assert_eq!((next, channel.next_ns()), ([1000; 2], None));
    }
}
