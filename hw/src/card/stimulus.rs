//! Stimulus for the units around the window memories: beats and window contexts.

use super::testing::{Pace, random_beat};
use super::types::SlotContext;
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::shard::ShardMap;

pub const EAGER: Pace = Pace { idle: false, stall: false };

/// Floats that exercise adders and multipliers; see [`Random::float_pair`].
pub fn float_beat(random: &mut Random) -> Beat {
    Beat(std::array::from_fn(|lane| random.float_pair()[lane & 1]))
}

/// Returns the beat at `address` of a test's memory, different for each `seed`.
pub fn beat_of(address: u64, seed: u64) -> Beat {
    random_beat(&mut Random::new(address ^ seed.rotate_left(32)))
}

/// Returns the context at `rank` of a window of `beats` in collective `op`.
pub fn context_of(beats: usize, ranks: usize, rank: usize, op: u32) -> SlotContext {
    let map = ShardMap::new(beats, ranks, op);
    let own = map.range_of(rank);
    SlotContext {
        beats: bits_w(beats as u64),
        host_beats: bits_w(beats as u64),
        quotient: bits_w(map.quotient as u64),
        remainder: bits_w(map.remainder as u64),
        rotation: bits_w(map.rotation as u64),
        own_start: bits_w(own.start as u64),
        own_beats: bits_w(own.len() as u64),
        epoch: bits_w(1),
        ..Default::default()
    }
}
