//! Windows of the self-test.

use std::fmt;
use std::ops::Range;

use optireduce_contract::limits::{BEAT_BYTES, LANES};
use optireduce_contract::queue::{FLAG_AUTO_BROADCAST, OP_ARM, OP_CONTRIBUTE, Submission};
use optireduce_contract::shard::ShardMap;

use super::super::random::Random;

/// Page size, and the boundary that no bus burst may cross.
pub const PAGE_BYTES: usize = 4096;
const PAGE: usize = PAGE_BYTES / BEAT_BYTES;
const RANKS: usize = 2;
const RANDOM: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    pub beats: usize,
    /// Beats in host memory; the rest is padding.
    pub host_beats: usize,
    /// Elements of the gradient; the rest of the last beat is zero.
    pub elements: usize,
    /// Offsets in their pages, in beats.
    pub gradient_at: usize,
    pub result_at: usize,
    /// Selects which shard is the card's own.
    pub rotation: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Places {
    pub gradient: u64,
    pub result: u64,
    pub reports: u64,
}

/// Windows at page boundaries, then at random places, up to `window_beats_max` beats.
pub fn all(window_beats_max: usize, random: &mut Random) -> Vec<Case> {
    let last = PAGE - 1;
    let mut cases = vec![Case { elements: 1, ..Case::whole(1, 0, 0) }];
    // On both sides of a page boundary, across it, and up to it.
    for (beats, gradient_at, result_at) in [
        (1, 0, 0),
        (1, last, last),
        (2, last, last),
        (3, last - 1, 1),
        (last, 1, 0),
        (PAGE, 0, 0),
        (PAGE, 1, last),
        (PAGE + 1, 0, last),
        (PAGE + 1, last, 0),
        (2 * PAGE - 1, 1, 1),
        (2 * PAGE + 1, last, last),
    ] {
        cases.push(Case::whole(beats, gradient_at, result_at));
    }
    cases.push(Case { host_beats: 40, elements: 40 * LANES - 3, ..Case::whole(PAGE, last, last) });
    for _ in 0..RANDOM {
        let beats = 1 + random.below(4 * PAGE);
        cases.push(Case::whole(beats, random.below(PAGE), random.below(PAGE)));
    }
    cases.push(Case::whole(window_beats_max, 0, 0));
    cases.push(Case::whole(window_beats_max, last, 1));
    cases.retain(|case| case.beats <= window_beats_max);
    cases
}

impl Case {
    pub fn whole(beats: usize, gradient_at: usize, result_at: usize) -> Self {
        Self { beats, host_beats: beats, elements: beats * LANES, gradient_at, result_at, rotation: 0 }
    }

    fn shards(&self) -> ShardMap {
        ShardMap::new(self.beats, RANKS, self.rotation)
    }

    pub fn own(&self) -> Range<usize> {
        self.shards().range_of(0)
    }

    /// Beats expected from the absent rank in stage 0 or 1.
    pub fn expected_beats(&self, stage: usize) -> usize {
        self.shards().range_of(stage).len()
    }

    /// Packets that the card sends: the other shard, then its own mean.
    pub fn packets(&self, payload_beats: usize) -> usize {
        (0..RANKS).map(|rank| self.shards().range_of(rank).len().div_ceil(payload_beats)).sum()
    }

    pub fn commands(&self, places: Places, slot: usize, number: usize, bound_ns: u32) -> [Submission; 2] {
        let shards = self.shards();
        let common = Submission {
            slot: slot as u8,
            step: number as u16,
            cookie: number as u32,
            host_beats: self.host_beats as u16,
            ..Submission::default()
        };
        let arm = Submission {
            opcode: OP_ARM,
            flags: FLAG_AUTO_BROADCAST,
            beats: self.beats as u16,
            shard_quotient: shards.quotient as u16,
            shard_remainder: shards.remainder as u8,
            rotation: shards.rotation as u8,
            bound_ns,
            mark_packets: 1,
            host_address: places.result,
            report_address: places.reports,
            ..common
        };
        [arm, Submission { opcode: OP_CONTRIBUTE, host_address: places.gradient, ..common }]
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { beats, elements, rotation, .. } = self;
        let [gradient, result] = [self.gradient_at, self.result_at].map(|at| at * BEAT_BYTES);
        write!(
            f,
            "(beats {beats}, numbers {elements}, gradient at byte {gradient} of a page, result at byte {result}, rotation {rotation})"
        )
    }
}
