//! [`super::gather`] in plain Rust, without cycles and ports.

use super::reduce_model::{Counts, Verdict};
use std::collections::HashMap;

#[derive(Default)]
pub struct GatherMemory {
    words: HashMap<(u8, u16), ([u32; 16], u8)>,
    pub counts: Counts,
}

impl GatherMemory {
    pub fn receive(&mut self, open: bool, slot: u8, position: u16, sender: u8, epoch: u8, data: [u32; 16]) -> Verdict {
        if !open {
            return Verdict::Late;
        }
        if self.word(slot, position).is_some_and(|(_, of)| of == epoch) {
            return Verdict::Duplicate;
        }
        self.store(slot, position, epoch, data);
        self.counts.add(slot, sender, epoch);
        Verdict::Accepted
    }

    pub fn store(&mut self, slot: u8, position: u16, epoch: u8, data: [u32; 16]) {
        self.words.insert((slot, position), (data, epoch));
    }

    /// Returns a word and its epoch, 0 if emptied.
    pub fn word(&self, slot: u8, position: u16) -> Option<([u32; 16], u8)> {
        self.words.get(&(slot, position)).copied()
    }

    pub fn scrub(&mut self, slot: u8) {
        self.words.iter_mut().filter(|(at, _)| at.0 == slot).for_each(|(_, word)| word.1 = 0);
        self.counts.scrub(slot);
    }
}
