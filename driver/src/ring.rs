//! Indices of both rings.
//!
//! Indices count modulo 65536 and rings hold at most 32768 entries, so a full ring and an empty one
//! differ. The phase bit of a completion is 1 on the first turn of its ring and flips every turn.

use optireduce_contract::queue::{ENTRY_BYTES, OP_ARM, OP_BROADCAST, OP_CONTRIBUTE, Submission};

use crate::arena::DmaBuffer;

/// Progress of a queue pair: submissions written, announced and consumed, completions written by
/// the card and taken by the driver, all modulo 65536. `entries` is the size of each ring.
#[allow(missing_docs)] // described above
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Rings {
    pub queue: usize,
    pub entries: u32,
    pub written: u16,
    pub announced: u16,
    pub consumed: u16,
    /// Oldest submissions not consumed, at most [`Rings::COMMANDS_MAX`].
    pub waiting: Vec<Command>,
    pub completed: u32,
    pub taken: u16,
}

/// Summary of a submission. `step`, `bucket` and `beats` are 0 except in ARM.
#[allow(missing_docs)] // described above
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Command {
    /// ARM, CONTRIBUTE, BROADCAST, or a number.
    pub opcode: String,
    pub slot: u8,
    pub step: u16,
    pub bucket: u16,
    pub beats: u16,
    pub cookie: u32,
}

impl Rings {
    /// Maximum length of `waiting`.
    pub const COMMANDS_MAX: usize = 16;
}

impl Command {
    pub(crate) fn of(entry: &Submission) -> Self {
        let opcode = match entry.opcode {
            OP_ARM => "ARM".to_owned(),
            OP_CONTRIBUTE => "CONTRIBUTE".to_owned(),
            OP_BROADCAST => "BROADCAST".to_owned(),
            other => other.to_string(),
        };
        let Submission { slot, step, bucket, beats, cookie, .. } = *entry;
        Self { opcode, slot, step, bucket, beats, cookie }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RingMemory {
    pub buffer: DmaBuffer,
    pub log2: u32,
}

impl RingMemory {
    pub fn entries(&self) -> u32 {
        1 << self.log2
    }

    fn entry(&self, index: u16) -> u64 {
        self.buffer.iova + (u64::from(index) & u64::from(self.entries() - 1)) * ENTRY_BYTES as u64
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadIndex {
    pub first: u16,
    pub last: u16,
}

#[derive(Debug)]
pub(crate) struct SubmissionRing {
    memory: RingMemory,
    // Entries written, announced, and known to be consumed.
    tail: u16,
    rung: u16,
    head: u16,
    /// `SQ_HEAD` of the last completion. Later ones never precede it, but may precede `head`.
    completed: u16,
}

impl SubmissionRing {
    pub fn new(memory: RingMemory) -> Self {
        Self { memory, tail: 0, rung: 0, head: 0, completed: 0 }
    }

    pub fn memory(&self) -> RingMemory {
        self.memory
    }

    pub fn is_full(&self) -> bool {
        u32::from(self.tail.wrapping_sub(self.head)) >= self.memory.entries()
    }

    pub fn tail_entry(&self) -> u64 {
        self.memory.entry(self.tail)
    }

    pub fn push(&mut self) {
        self.tail = self.tail.wrapping_add(1);
    }

    pub fn counts(&self) -> [u16; 3] {
        [self.tail, self.rung, self.head]
    }

    /// IOVAs of the entries not known to be consumed, oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = u64> {
        let (memory, head) = (self.memory, self.head);
        (0..self.tail.wrapping_sub(head)).map(move |at| memory.entry(head.wrapping_add(at)))
    }

    pub fn unrung(&self) -> u16 {
        self.tail.wrapping_sub(self.rung)
    }

    pub fn outstanding(&self) -> u16 {
        self.rung.wrapping_sub(self.head)
    }

    /// Value for the doorbell, if needed.
    pub fn ring(&mut self) -> Option<u16> {
        let news = self.unrung() != 0;
        self.rung = self.tail;
        news.then_some(self.tail)
    }

    pub fn learn_from_register(&mut self, head: u32) -> Result<(), BadIndex> {
        self.head = self.checked(head, self.head)?;
        Ok(())
    }

    pub fn learn_from_completion(&mut self, head: u16) -> Result<(), BadIndex> {
        self.completed = self.checked(head.into(), self.completed)?;
        if self.rung.wrapping_sub(head) < self.outstanding() {
            self.head = head;
        }
        Ok(())
    }

    fn checked(&self, found: u32, first: u16) -> Result<u16, BadIndex> {
        let bad = BadIndex { first, last: self.rung };
        let head = u16::try_from(found).map_err(|_| bad)?;
        if head.wrapping_sub(first) <= self.rung.wrapping_sub(first) { Ok(head) } else { Err(bad) }
    }
}

#[derive(Debug)]
pub(crate) struct CompletionRing {
    memory: RingMemory,
    /// Entries consumed.
    head: u16,
    /// Entries published to the card as consumed.
    published: u16,
}

impl CompletionRing {
    pub fn new(memory: RingMemory) -> Self {
        Self { memory, head: 0, published: 0 }
    }

    pub fn memory(&self) -> RingMemory {
        self.memory
    }

    pub fn head(&self) -> u16 {
        self.head
    }

    pub fn head_entry(&self) -> u64 {
        self.memory.entry(self.head)
    }

    /// Phase bit that the card writes in the next entry.
    pub fn phase(&self) -> bool {
        (self.head >> self.memory.log2) & 1 == 0
    }

    pub fn pop(&mut self) {
        self.head = self.head.wrapping_add(1);
    }

    /// Value for `CQ_HEAD`, once a quarter of the ring is unpublished.
    pub fn publish(&mut self) -> Option<u16> {
        let unpublished = u32::from(self.head.wrapping_sub(self.published));
        (unpublished >= self.memory.entries() / 4).then(|| {
            self.published = self.head;
            self.head
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(log2: u32) -> RingMemory {
        RingMemory { buffer: DmaBuffer { iova: 0x1000, len: 64 << log2 }, log2 }
    }

    #[test]
    fn phase_flips_every_turn_and_the_turns_fit_the_index() {
        for log2 in [2, 5, 15] {
            let mut ring = CompletionRing::new(memory(log2));
            for index in 0..200_000u32 {
                assert_eq!(ring.phase(), (index >> log2) % 2 == 0, "log2 {log2}, entry {index}");
                assert_eq!(ring.head_entry(), 0x1000 + u64::from(index % (1 << log2)) * 64);
                ring.pop();
            }
        }
    }

    #[test]
    fn largest_ring_fills_and_drains_across_the_wrap() {
        let mut ring = SubmissionRing::new(memory(15));
        for turn in 0..5u32 {
            for _ in 0..1 << 15 {
                assert!(!ring.is_full());
                ring.push();
            }
            assert!(ring.is_full());
            assert_eq!(ring.outstanding(), 0);
            ring.ring();
            assert_eq!(ring.outstanding(), 1 << 15);
            ring.learn_from_register((turn + 1) % 2 * (1 << 15)).unwrap();
            assert_eq!(ring.outstanding(), 0);
        }
    }

    #[test]
    fn indices_beyond_the_doorbell_or_before_the_past_are_refused() {
        let mut ring = SubmissionRing::new(memory(4));
        for _ in 0..8 {
            ring.push();
        }
        assert_eq!(ring.learn_from_register(1), Err(BadIndex { first: 0, last: 0 }), "nothing was announced");
        ring.ring();
        assert_eq!(ring.learn_from_register(0x1_0003), Err(BadIndex { first: 0, last: 8 }));
        ring.learn_from_register(6).unwrap();
        ring.learn_from_completion(3).unwrap();
        assert_eq!(ring.outstanding(), 2, "an older completion takes nothing back");
        assert_eq!(ring.learn_from_completion(2), Err(BadIndex { first: 3, last: 8 }));
        assert_eq!(ring.learn_from_register(5), Err(BadIndex { first: 6, last: 8 }));
        assert_eq!(ring.learn_from_completion(9), Err(BadIndex { first: 3, last: 8 }));
        ring.learn_from_completion(8).unwrap();
        assert_eq!(ring.outstanding(), 0);
    }

    #[test]
    fn consumed_entries_are_published_by_the_quarter() {
        let mut ring = CompletionRing::new(memory(4));
        let mut published = Vec::new();
        for _ in 0..9 {
            ring.pop();
            published.extend(ring.publish());
        }
        assert_eq!(published, [4, 8]);
    }
}
