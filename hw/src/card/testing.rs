//! Helpers for the tests of the card's blocks: replayable seeds and the pace of a stream.

use super::types::SlotBeat;
use crate::random::Random;

#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Input arrives with random gaps; otherwise whenever the block accepts it.
    pub idle: bool,
    /// Output is accepted at random; otherwise always.
    pub stall: bool,
}

impl Pace {
    pub const RANDOM: Self = Pace { idle: true, stall: true };

    pub fn comes(self, random: &mut Random) -> bool {
        !self.idle || !random.one_in(3)
    }

    pub fn takes(self, random: &mut Random) -> bool {
        !self.stall || !random.one_in(3)
    }
}

/// Prints how to replay a seed when the test that runs it panics.
struct Replay(u64, Pace);

impl Drop for Replay {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let test = std::thread::current().name().unwrap_or_default().to_string();
            let Replay(seed, pace) = *self;
            eprintln!("{pace:?}, replay: OPTIREDUCE_SEED={seed} cargo test -p optireduce-hw --lib -- --exact {test}");
        }
    }
}

/// Runs `test` with seeds 1 to `seeds`, or the one in `OPTIREDUCE_SEED`, each at all four paces.
pub fn at_every_pace(seeds: u64, mut test: impl FnMut(&mut Random, Pace)) {
    let wanted = std::env::var("OPTIREDUCE_SEED").ok().map(|seed| seed.parse().expect("OPTIREDUCE_SEED is a number"));
    for seed in wanted.map_or(1..=seeds, |seed: u64| seed..=seed) {
        for (idle, stall) in [(false, false), (true, false), (false, true), (true, true)] {
            let replay = Replay(seed, Pace { idle, stall });
            test(&mut Random::new(seed), replay.1);
        }
    }
}

/// slot * 1024 + beat.
pub fn linear(place: SlotBeat) -> u64 {
    place.slot.raw() << 10 | place.beat.raw()
}

pub fn random_beat(random: &mut Random) -> crate::hdl::word::Beat {
    crate::hdl::word::Beat(std::array::from_fn(|_| random.next() as u32))
}
