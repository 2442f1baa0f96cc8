//! Packets that a rank sends, and their order.
//!
//! A stage of a window is sent in rounds of `incast` peers, beginning with the next rank
//! (OptiReduce 3.2.2). The peers of a round take turns, packet by packet. The last `mark_packets`
//! to each peer carry the last-percentile mark. A packet of means is not sent if no rank
//! contributed to its first beat. Pacing, and passing over paced peers, is up to the sender.

use core::ops::Range;

/// Iterates over the peers of `rank` in the order of sending.
pub fn peers(rank: usize, ranks: usize) -> impl Iterator<Item = usize> + Clone {
    (1..ranks).map(move |k| (rank + k) % ranks)
}

/// Returns the rounds of a stage. An incast of 0 counts as 1.
pub const fn rounds(ranks: usize, incast: usize) -> usize {
    let incast = if incast == 0 { 1 } else { incast };
    ranks.saturating_sub(1).div_ceil(incast)
}

/// Iterates over the peers of a round, numbered from 0. Empty after the last round.
pub fn peers_in_round(rank: usize, ranks: usize, incast: usize, round: usize) -> impl Iterator<Item = usize> + Clone {
    let incast = incast.max(1);
    // Computed, since skipping would cost N^2 steps in a stage of N rounds.
    let first = round.saturating_mul(incast).saturating_add(1);
    (first..first.saturating_add(incast).min(ranks)).map(move |k| (rank + k) % ranks)
}

/// Division of shards into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Beats of a full packet, at least 1. The last packet of a shard may be shorter.
    pub packet_beats: usize,
    /// Number of last packets to a peer that are marked.
    pub mark_packets: usize,
}

impl Cut {
    /// Returns the number of packets for `beats`.
    pub const fn packets(&self, beats: usize) -> usize {
        beats.div_ceil(self.packet_beats)
    }
}

/// One packet: beats of the window, and whether it carries the last-percentile mark.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Packet {
    pub beats: Range<usize>,
    pub marked: bool,
}

/// Iterator over the packets of one shard for one peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packets {
    left: Range<usize>,
    cut: Cut,
}

impl Packets {
    /// Cuts `shard`, in beats of the window, into packets.
    pub const fn new(shard: Range<usize>, cut: Cut) -> Self {
        Self { left: shard, cut }
    }

    /// Returns whether no packets are left.
    pub fn is_done(&self) -> bool {
        self.left.is_empty()
    }

    /// Returns the beats of the remaining packets.
    pub const fn left(&self) -> &Range<usize> {
        &self.left
    }

    /// Returns the next packet without consuming it.
    pub fn peek(&self) -> Option<Packet> {
        self.clone().next()
    }
}

impl Iterator for Packets {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        if self.left.is_empty() {
            return None;
        }
        let marked = self.cut.packets(self.left.len()) <= self.cut.mark_packets;
        let end = self.left.end.min(self.left.start + self.cut.packet_beats);
        let beats = self.left.start..end;
        self.left.start = end;
        Some(Packet { beats, marked })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    #[test]
    fn rounds_take_the_next_ranks_first_and_meet_every_peer_once() {
        let of_rank = |incast| {
            let round = |round| peers_in_round(6, 8, incast, round).collect::<Vec<_>>();
            (0..rounds(8, incast) + 1).map(round).collect::<Vec<_>>()
        };
        assert_eq!(of_rank(3), [[7, 0, 1].to_vec(), [2, 3, 4].to_vec(), [5].to_vec(), [].to_vec()]);
        assert_eq!(of_rank(0), of_rank(1));
        assert_eq!(of_rank(usize::MAX), [[7, 0, 1, 2, 3, 4, 5].to_vec(), [].to_vec()]);
        assert_eq!([rounds(8, 1), rounds(8, 2), rounds(8, 4), rounds(1, 1), rounds(0, 1)], [7, 4, 2, 0, 0]);
    }

    #[test]
    fn a_shard_is_cut_into_full_packets_and_a_rest_and_the_last_are_marked() {
        let packets = |shard, mark_packets| {
            let cut = Cut { packet_beats: 4, mark_packets };
            Packets::new(shard, cut).map(|packet| (packet.beats, packet.marked)).collect::<Vec<_>>()
        };
        assert_eq!(packets(11..21, 2), [(11..15, false), (15..19, true), (19..21, true)]);
        assert_eq!(packets(11..21, 3), [(11..15, true), (15..19, true), (19..21, true)]);
        assert_eq!(packets(0..8, 1), [(0..4, false), (4..8, true)]);
        assert_eq!(packets(0..8, 0), [(0..4, false), (4..8, false)]);
        assert_eq!(packets(3..3, 1), []);
    }

    #[test]
    fn a_look_at_the_next_packet_takes_nothing() {
        let mut packets = Packets::new(0..5, Cut { packet_beats: 4, mark_packets: 1 });
        assert_eq!(packets.peek(), packets.next());
        assert!(!packets.is_done());
        assert_eq!(packets.next(), Some(Packet { beats: 4..5, marked: true }));
        assert!(packets.is_done() && packets.peek().is_none());
    }
}
