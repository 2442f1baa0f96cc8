//! Plain-Rust model of [`super::reduce`], beat by beat.

use crate::arith::fp_add_model::fp_add;
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    Late,
    /// Already added or stored.
    Duplicate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Sum in order of arrival, from -0.0.
    pub sum: [u32; 16],
    /// Bit r: rank r's contribution is in.
    pub arrived: u64,
    pub count: u32,
    /// Epoch of the last write; 0 after a scrub.
    pub epoch: u8,
}

#[derive(Clone, Default)]
pub struct Counts(HashMap<(u8, u8), (u16, u8)>);

impl Counts {
    pub fn add(&mut self, slot: u8, rank: u8, epoch: u8) {
        let count = self.of(slot, rank, epoch) + 1;
        self.0.insert((slot, rank), (count, epoch));
    }

    pub fn of(&self, slot: u8, rank: u8, epoch: u8) -> u16 {
        self.0.get(&(slot, rank)).filter(|(_, of)| *of == epoch).map_or(0, |(count, _)| *count)
    }

    pub fn scrub(&mut self, slot: u8) {
        self.0.retain(|at, _| at.0 != slot);
    }
}

#[derive(Default)]
pub struct Accumulator {
    words: HashMap<(u8, u16), Word>,
    pub counts: Counts,
}

impl Accumulator {
    /// Adds `data` to beat `relative` of the local shard.
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

    pub fn word(&self, slot: u8, relative: u16) -> Option<Word> {
        self.words.get(&(slot, relative)).copied()
    }

    pub fn scrub(&mut self, slot: u8) {
        self.words.iter_mut().filter(|(at, _)| at.0 == slot).for_each(|(_, word)| word.epoch = 0);
        self.counts.scrub(slot);
    }
}
