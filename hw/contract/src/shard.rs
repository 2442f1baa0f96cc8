//! Division of a window: shards of whole beats, their owners, and the Hadamard interleave.
//!
//! A window of B beats is cut into N shards, one per rank. Rank r owns shard (r + rotation) mod N,
//! where rotation is the collective number mod N (OptiReduce 3.1, fig. 4).
//! A Hadamard-encoded window holds K blocks, K a power of two. Beat b of block k travels at
//! position b * K + k.

use core::ops::Range;

/// Division of one window: the first `remainder` shards have `quotient + 1` beats, the others
/// `quotient`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct ShardMap {
    pub quotient: usize,
    pub remainder: usize,
    pub ranks: usize,
    pub rotation: usize,
}

impl ShardMap {
    /// Divides `beats` for collective number `op`.
    ///
    /// # Panics
    /// If `ranks` is 0.
    pub const fn new(beats: usize, ranks: usize, op: u32) -> Self {
        Self { quotient: beats / ranks, remainder: beats % ranks, ranks, rotation: op as usize % ranks }
    }

    /// Returns the beats of shard `shard` in the window.
    pub const fn shard(&self, shard: usize) -> Range<usize> {
        let extra = if shard < self.remainder { shard } else { self.remainder };
        let start = shard * self.quotient + extra;
        start..start + self.quotient + (shard < self.remainder) as usize
    }

    /// Returns the number of the shard that `rank` aggregates.
    pub const fn owned_by(&self, rank: usize) -> usize {
        (rank + self.rotation) % self.ranks
    }

    /// Returns the beats that `rank` aggregates.
    pub const fn range_of(&self, rank: usize) -> Range<usize> {
        self.shard(self.owned_by(rank))
    }
}

/// Returns the position of beat `beat` of block `block` in a window of `blocks`.
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
