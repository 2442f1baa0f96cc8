//! Packets of a window by the contract's rules, in the order of an unpaced round.

use optireduce_contract::rules::send::{self, Cut, Packets};
use optireduce_contract::shard::ShardMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub peer: usize,
    pub position: usize,
    /// Beats of the window.
    pub beats: usize,
    pub mark: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Sending {
    pub rank: usize,
    /// Beats of the window that a full packet covers.
    pub packet_beats: usize,
    /// Last packets to a peer that carry the mark.
    pub mark_packets: usize,
    /// Peers per round; 0 counts as 1.
    pub incast: usize,
    /// Sends the mean of the local shard instead of each peer's shard.
    pub broadcast: bool,
}

/// Returns the packets of each round. A broadcast omits packets whose first beat is not `present`.
pub fn rounds(map: &ShardMap, sending: &Sending, present: impl Fn(usize) -> bool) -> Vec<Vec<Packet>> {
    let Sending { rank, packet_beats, mark_packets, incast, broadcast } = *sending;
    let of_peer = |peer| {
        let shard = map.range_of(if broadcast { rank } else { peer });
        (peer, Packets::new(shard, Cut { packet_beats, mark_packets }))
    };
    let in_round = |round| {
        let mut flows: Vec<_> = send::peers_in_round(rank, map.ranks, incast, round).map(of_peer).collect();
        let mut out = Vec::new();
        while flows.iter().any(|(_, packets)| !packets.is_done()) {
            for (peer, packets) in &mut flows {
                let packet = packets.next().filter(|packet| !broadcast || present(packet.beats.start));
                out.extend(packet.map(|send::Packet { beats, marked }| Packet {
                    peer: *peer,
                    position: beats.start,
                    beats: beats.len(),
                    mark: marked,
                }));
            }
        }
        out
    };
    (0..send::rounds(map.ranks, incast)).map(in_round).collect()
}
