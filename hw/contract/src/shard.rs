//! How a window is divided: shards of whole beats, their owners, and the Hadamard interleave.
//!
//! A window of B beats is cut into N shards, one for each rank: the first B mod N shards have one beat more than the
//! rest. Rank r owns shard (r + rotation) mod N, rotation being the collective number mod N (OptiReduce 3.1, fig. 4).
//! With the Hadamard transform a window holds K blocks, K a power of two; beat b of block k travels at position b*K + k.

use core::ops::Range;

/// The cut of one window among the ranks of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardMap {
    /// Beats every shard has.
    pub quotient: usize,
    /// How many of the first shards have one beat more.
    pub remainder: usize,
    /// Ranks of the job.
    pub ranks: usize,
    /// Collective number mod `ranks`.
    pub rotation: usize,
}

impl ShardMap {
    /// Cuts `beats` among `ranks` for collective number `op`.
    ///
    /// # Panics
    /// With no ranks: a job has at least two.
    pub const fn new(beats: usize, ranks: usize, op: u32) -> Self {
        Self { quotient: beats / ranks, remainder: beats % ranks, ranks, rotation: op as usize % ranks }
    }

    /// Beats of shard `shard`, as positions in the window.
    pub const fn shard(&self, shard: usize) -> Range<usize> {
        let extra = if shard < self.remainder { shard } else { self.remainder };
        let start = shard * self.quotient + extra;
        start..start + self.quotient + (shard < self.remainder) as usize
    }

    /// The shard that `rank` aggregates.
    pub const fn owned_by(&self, rank: usize) -> usize {
        (rank + self.rotation) % self.ranks
    }

    /// Beats that `rank` aggregates, as positions in the window.
    pub const fn range_of(&self, rank: usize) -> Range<usize> {
        self.shard(self.owned_by(rank))
    }
}

/// Position in the window of beat `beat` of block `block`, with `blocks` blocks in the window.
pub const fn interleaved(block: usize, beat: usize, blocks: usize) -> usize {
    beat * blocks + block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_tile_the_window_and_owners_rotate() {
        for beats in [0, 1, 2, 5, 63, 64, 1024] {
            for ranks in 2..=64 {
                let first = ShardMap::new(beats, ranks, 0);
                let mut at = 0;
                for shard in 0..ranks {
                    assert_eq!(first.shard(shard).start, at, "{beats} beats, {ranks} ranks, shard {shard}");
                    at = first.shard(shard).end;
                }
                assert_eq!(at, beats);
                let next = ShardMap::new(beats, ranks, 1);
                for rank in 0..ranks {
                    assert_eq!(next.owned_by(rank), (first.owned_by(rank) + 1) % ranks);
                }
            }
        }
    }
}
