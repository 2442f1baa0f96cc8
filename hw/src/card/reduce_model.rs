//! What [`super::reduce`] does, beat by beat, in plain Rust. Leaves out: cycles, hazards, the adder's pipeline.

use crate::arith::fp_add_model::fp_add;
use std::collections::HashMap;

/// What happened to a beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Added, or stored.
    Accepted,
    /// The stage had closed.
    Late,
    /// It had been added or stored before.
    Duplicate,
}

/// One word of the accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Sum in order of arrival, from -0.0.
    pub sum: [u32; 16],
    /// Ranks in it.
    pub arrived: u64,
    /// How many.
    pub count: u32,
    /// Epoch it was written in; 0: emptied.
    pub epoch: u8,
}

/// What [`super::arrivals`] counts.
#[derive(Clone, Default)]
pub struct Counts(HashMap<(u8, u8), (u16, u8)>);

impl Counts {
    /// One more beat of `rank` in this epoch.
    pub fn add(&mut self, slot: u8, rank: u8, epoch: u8) {
        let count = self.of(slot, rank, epoch) + 1;
        self.0.insert((slot, rank), (count, epoch));
    }

    /// Beats of `rank` in this epoch.
    pub fn of(&self, slot: u8, rank: u8, epoch: u8) -> u16 {
        self.0.get(&(slot, rank)).filter(|(_, of)| *of == epoch).map_or(0, |(count, _)| *count)
    }

    /// Empties one slot.
    pub fn scrub(&mut self, slot: u8) {
        self.0.retain(|at, _| at.0 != slot);
    }
}

/// The accumulator memory and its arrival counters.
#[derive(Default)]
pub struct Accumulator {
    words: HashMap<(u8, u16), Word>,
    /// The counters.
    pub counts: Counts,
}

impl Accumulator {
    /// A beat of `sender` for beat `relative` of the local shard of `slot`.
    pub fn add(&mut self, open: bool, slot: u8, relative: u16, sender: u8, epoch: u8, data: [u32; 16]) -> Verdict {
        if !open {
            return Verdict::Late;
        }
        let empty = Word { sum: [0x8000_0000; 16], arrived: 0, count: 0, epoch };
        let mut word = self.word(slot, relative).filter(|word| word.epoch == epoch).unwrap_or(empty);
        if word.arrived >> sender & 1 == 1 {
            return Verdict::Duplicate;
        }
        word.sum = std::array::from_fn(|lane| fp_add(word.sum[lane], data[lane]));
        word.arrived |= 1 << sender;
        word.count += 1;
        self.words.insert((slot, relative), word);
        self.counts.add(slot, sender, epoch);
        Verdict::Accepted
    }

    /// The word, if it was ever written.
    pub fn word(&self, slot: u8, relative: u16) -> Option<Word> {
        self.words.get(&(slot, relative)).copied()
    }

    /// Empties one slot.
    pub fn scrub(&mut self, slot: u8) {
        self.words.iter_mut().filter(|(at, _)| at.0 == slot).for_each(|(_, word)| word.epoch = 0);
        self.counts.scrub(slot);
    }
}
