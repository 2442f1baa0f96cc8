//! Which packets a window is sent as, in plain Rust, from the contract's cut. Leaves out: cycles, queues.

use optireduce_contract::shard::ShardMap;

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Destination.
    pub peer: usize,
    /// First beat in the window.
    pub position: usize,
    /// Beats of the window.
    pub beats: usize,
    /// Among the last `mark_packets` of its shard.
    pub mark: bool,
}

/// How a window is sent.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// The sender.
    pub rank: usize,
    /// Beats of the window that a full packet covers.
    pub packet_beats: usize,
    /// Last packets to a peer that carry the mark.
    pub mark_packets: usize,
    /// Peers of a round; 0 counts as 1.
    pub incast: usize,
    /// The mean of the own shard; else each peer's.
    pub broadcast: bool,
}

/// The packets of a window, a list per round, the peers of a round in turn. A broadcast goes without the packets whose
/// first beat is not `present`.
pub fn rounds(map: &ShardMap, sending: &Sending, present: impl Fn(usize) -> bool) -> Vec<Vec<Packet>> {
    let Sending { rank, packet_beats, mark_packets, incast, broadcast } = *sending;
    let peers: Vec<usize> = (1..map.ranks).map(|k| (rank + k) % map.ranks).collect();
    let round = |peers: &[usize]| {
        let mut out = Vec::new();
        for index in 0..map.shard(0).len().div_ceil(packet_beats) {
            for peer in peers {
                let range = map.range_of(if broadcast { rank } else { *peer });
                let count = range.len().div_ceil(packet_beats);
                let position = range.start + index * packet_beats;
                if index < count && (!broadcast || present(position)) {
                    let beats = packet_beats.min(range.end - position);
                    out.push(Packet { peer: *peer, position, beats, mark: index + mark_packets >= count });
                }
            }
        }
        out
    };
    peers.chunks(incast.max(1)).map(round).collect()
}
