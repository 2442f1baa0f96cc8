//! Ring of datagrams from one process to another, in the sender's memory.
//!
//! Each process writes only its own segment: as sender datagrams and a write count, as receiver a
//! read count. Both count lines of 64 bytes from 0. A datagram is one line with length and header,
//! followed by its payload. If the receiver can map the payload's memory
//! ([`regions`](super::regions)), the line holds the payload's location and the payload's lines
//! stay empty. Before that memory changes, the sender copies unread payloads into the ring and
//! clears the location. The receiver checks the location again after reading (seqlock): if
//! unchanged, the payload is valid.
//!
//! Trust: the peer's words may hold anything. An impossible count or length breaks the ring. Data
//! are copied before they are validated.
//!
//! Limits: one sender and one receiver.

use std::ops::Range;

use optireduce_contract::limits::{BEAT_BYTES, PAYLOAD_BEATS_MAX};
use optireduce_contract::packet::UBT_BYTES;
use thiserror::Error;

use super::regions::{Opened, Unreadable};
use super::segment::{Peeked, store};
use super::sync::{AtomicU64, Ordering, fence};

pub(super) const LINE_BYTES: usize = 64;
pub(super) const LINE_WORDS: usize = LINE_BYTES / 8;
const HEADER_WORDS: usize = UBT_BYTES.div_ceil(8);
/// Word with the payload's region, counted from 1; 0 if the payload follows in the ring. The next
/// word is the payload's first word in the region.
const REGION: usize = LINE_WORDS - 2;
/// Length of a notice that the sender has freed the region.
const FREED: u64 = 1 << 63;
const _: () = assert!(HEADER_WORDS < REGION);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub region: u64,
    pub word: usize,
}

/// Layout of a segment in words, equal in all processes of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub processes: usize,
    pub lines: usize,
}

/// Upper limit for all rings of a segment. [`RING_BYTES_MIN`] takes precedence.
const RINGS_BYTES: usize = 2 << 20;
pub(super) const RING_BYTES_MIN: usize = 128 << 10;
const RING_BYTES_MAX: usize = 512 << 10;

impl Layout {
    pub fn new(processes: usize) -> Self {
        let share = RINGS_BYTES / (processes - 1).max(1);
        Self { processes, lines: share.clamp(RING_BYTES_MIN, RING_BYTES_MAX) / LINE_BYTES }
    }

    pub fn words(self) -> usize {
        self.ring(0, self.processes - 1).end
    }

    /// Sleep word of the owner (see [`sleep`](super::sleep)).
    pub fn asleep(self) -> usize {
        0
    }

    /// Words that the owner publishes for process `to` (see [`Line`]).
    pub fn line(self, to: usize) -> usize {
        (1 + to) * LINE_WORDS
    }

    pub fn ring(self, owner: usize, to: usize) -> Range<usize> {
        let index = to - usize::from(to > owner);
        let (begin, words) = ((1 + self.processes) * LINE_WORDS, self.lines * LINE_WORDS);
        begin + index * words..begin + (index + 1) * words
    }
}

/// Word in a process's line for a peer. Counts are cumulative, in lines.
#[derive(Clone, Copy, Debug)]
pub(super) enum Line {
    Written,
    Read,
    /// Read count of the peer that would make room for this process; 0 if there is room.
    WaitsFor,
}

/// Impossible value in the peer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum Broken {
    #[error("the peer reports {found} lines read, expected {read} to {written}")]
    Read { found: u64, read: u64, written: u64 },
    #[error("the peer reports {found} lines written, expected {read} to {max}")]
    Written { found: u64, read: u64, max: u64 },
    #[error("a datagram has a payload of {found} bytes, expected at most {max}")]
    Length { found: u64, max: u64 },
    #[error(transparent)]
    Region(#[from] Unreadable),
}

#[derive(Debug)]
pub(super) struct Sender {
    lines: u64,
    written: u64,
    read: u64,
}

impl Sender {
    pub fn new(lines: usize) -> Self {
        Self { lines: lines as u64, written: 0, read: 0 }
    }

    pub fn handle_read(&mut self, found: u64) -> Result<(), Broken> {
        let Self { read, written, .. } = *self;
        if !(read..=written).contains(&found) {
            return Err(Broken::Read { found, read, written });
        }
        // Orders the receiver's loads of these lines before the stores that follow here.
        fence(Ordering::Acquire);
        self.read = found;
        Ok(())
    }

    pub fn room(&self) -> u64 {
        self.lines - (self.written - self.read)
    }

    /// Appends a datagram with its payload or the payload's `place`. Returns `false` and changes
    /// nothing if there is no room. The caller then calls [`publish`](Self::publish).
    pub fn push(&mut self, ring: &[AtomicU64], header: &[u8; UBT_BYTES], payload: &[u8], place: Option<Place>) -> bool {
        let lines = 1 + payload.len().div_ceil(LINE_BYTES) as u64;
        if lines > self.room() {
            return false;
        }
        let begin = self.begin(self.written);
        ring[begin].store(payload.len() as u64, Ordering::Relaxed);
        store(&ring[begin + 1..begin + 1 + HEADER_WORDS], header);
        let (region, word) = place.map_or((0, 0), |place| (place.region + 1, place.word as u64));
        ring[begin + REGION].store(region, Ordering::Relaxed);
        ring[begin + REGION + 1].store(word, Ordering::Relaxed);
        if place.is_none() {
            let begin = (begin + LINE_WORDS) % ring.len();
            let (first, second) = payload.split_at(payload.len().min((ring.len() - begin) * 8));
            store(&ring[begin..], first);
            store(ring, second);
        }
        self.written += lines;
        true
    }

    /// Like [`push`](Self::push), for a notice that a region was freed.
    pub fn push_freed(&mut self, ring: &[AtomicU64], region: u64) -> bool {
        if self.room() == 0 {
            return false;
        }
        let begin = self.begin(self.written);
        ring[begin].store(FREED, Ordering::Relaxed);
        ring[begin + REGION].store(region + 1, Ordering::Relaxed);
        self.written += 1;
        true
    }

    /// Copies payloads of unread datagrams, by their lines, into the ring. The originals may change
    /// afterwards.
    pub fn settle<'a>(&self, ring: &[AtomicU64], unread: impl Iterator<Item = (u64, &'a [AtomicU64])>) {
        for (line, payload) in unread {
            let begin = self.begin(line);
            let room = ring[(begin + LINE_WORDS) % ring.len()..].iter().chain(ring);
            for (to, from) in room.zip(payload) {
                to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            ring[begin + REGION].store(0, Ordering::Release);
        }
        // A reader that sees a change of an original also sees its region cleared.
        fence(Ordering::SeqCst);
    }

    pub fn read(&self) -> u64 {
        self.read
    }

    fn begin(&self, line: u64) -> usize {
        (line % self.lines) as usize * LINE_WORDS
    }

    pub fn written(&self) -> u64 {
        self.written
    }

    /// Publishes the appended datagrams. `count`: this process's [`Line::Written`].
    pub fn publish(&self, count: &AtomicU64) {
        count.store(self.written, Ordering::Release);
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Receiver {
    lines: u64,
    written: u64,
    read: u64,
}

impl Receiver {
    pub fn new(lines: usize) -> Self {
        Self { lines: lines as u64, written: 0, read: 0 }
    }

    pub fn handle_written(&mut self, found: u64) -> Result<(), Broken> {
        let max = self.read + self.lines;
        if !(self.written..=max).contains(&found) {
            return Err(Broken::Written { found, read: self.written, max });
        }
        // Orders the sender's stores to these lines before the loads that follow here.
        fence(Ordering::Acquire);
        self.written = found;
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.read == self.written
    }

    /// Copies the next datagram into `out` and returns its length; `None` if the ring is empty. The
    /// caller then calls [`publish`](Self::publish).
    pub fn pop(
        &mut self,
        ring: Peeked<'_>,
        opened: &mut Opened<'_>,
        out: &mut Datagram,
    ) -> Result<Option<usize>, Broken> {
        while !self.is_empty() {
            let begin = (self.read % self.lines) as usize * LINE_WORDS;
            if ring.load(begin) != FREED {
                return self.pop_at(begin, ring, opened, out).map(Some);
            }
            opened.free(ring.load(begin + REGION).wrapping_sub(1));
            self.read += 1;
        }
        Ok(None)
    }

    fn pop_at(
        &mut self,
        begin: usize,
        ring: Peeked<'_>,
        opened: &mut Opened<'_>,
        out: &mut Datagram,
    ) -> Result<usize, Broken> {
        let found = ring.load(begin);
        let max = (PAYLOAD_BYTES_MAX as u64).min((self.written - self.read - 1) * LINE_BYTES as u64);
        if found > max {
            return Err(Broken::Length { found, max });
        }
        let bytes = found as usize;
        let (header, payload) = out.0.split_at_mut(UBT_BYTES);
        ring.slice(begin + 1..begin + 1 + HEADER_WORDS).read(header);
        if !read_elsewhere(ring.slice(begin..begin + LINE_WORDS), opened, &mut payload[..bytes])? {
            let begin = (begin + LINE_WORDS) % ring.len();
            let (first, second) = payload[..bytes].split_at_mut(bytes.min((ring.len() - begin) * 8));
            ring.slice(begin..ring.len()).read(first);
            ring.read(second);
        }
        self.read += 1 + bytes.div_ceil(LINE_BYTES) as u64;
        Ok(UBT_BYTES + bytes)
    }

    pub fn read(&self) -> u64 {
        self.read
    }

    /// Publishes the freed lines in `count`, this process's [`Line::Read`]. Returns whether the
    /// peer waits for these lines; `waits_for` loads its [`Line::WaitsFor`].
    pub fn publish(&self, count: &AtomicU64, waits_for: impl FnOnce() -> u64) -> bool {
        count.store(self.read, Ordering::Release);
        // Either this process sees the count that the peer waits for, or the peer sees `read`.
        fence(Ordering::SeqCst);
        (1..=self.read).contains(&waits_for())
    }
}

/// Reads a payload from its region. Returns `false` if it is in the ring.
fn read_elsewhere(line: Peeked<'_>, opened: &mut Opened<'_>, payload: &mut [u8]) -> Result<bool, Broken> {
    let region = line.load(REGION);
    if region != 0 {
        let word = line.load(REGION + 1);
        opened.read(region - 1, word, payload)?;
        // Seqlock: if the payload read above includes later writes, the load below sees 0.
        fence(Ordering::Acquire);
        if line.load(REGION) == region {
            return Ok(true);
        }
    }
    // Orders the sender's stores of the payload, made before it cleared the region, before its
    // loads.
    fence(Ordering::Acquire);
    Ok(false)
}

pub(super) const PAYLOAD_BYTES_MAX: usize = PAYLOAD_BEATS_MAX * BEAT_BYTES;

#[derive(Debug)]
pub(super) struct Datagram(Box<[u8; UBT_BYTES + PAYLOAD_BYTES_MAX]>);

impl Datagram {
    pub fn new() -> Self {
        Self(Box::new([0; UBT_BYTES + PAYLOAD_BYTES_MAX]))
    }

    pub fn bytes(&self, length: usize) -> &[u8] {
        &self.0[..length]
    }
}
