//! Which packets a window is sent as, in plain Rust, from the contract's cut. Leaves out: cycles, queues.

use optireduce_contract::shard::ShardMap;

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Destination.
    pub peer: usize,
    /// First beat in the window.
    pub position: usize,
    /// Beats.
    pub beats: usize,
    /// Among the last `mark_packets` of its shard.
    pub mark: bool,
}

/// The packets of a window in order: round k goes to rank + k. A broadcast sends the own shard, without the packets
/// whose first beat is not `present`; a contribution sends each peer the shard that it owns.
pub fn packets(
    map: &ShardMap,
    rank: usize,
    payload_beats: usize,
    mark_packets: usize,
    broadcast: bool,
    present: impl Fn(usize) -> bool,
) -> Vec<Packet> {
    let mut out = Vec::new();
    for round in 1..map.ranks {
        let peer = (rank + round) % map.ranks;
        let range = map.range_of(if broadcast { rank } else { peer });
        let count = range.len().div_ceil(payload_beats);
        for index in 0..count {
            let position = range.start + index * payload_beats;
            if !broadcast || present(position) {
                let beats = payload_beats.min(range.end - position);
                out.push(Packet { peer, position, beats, mark: index + mark_packets >= count });
            }
        }
    }
    out
}
