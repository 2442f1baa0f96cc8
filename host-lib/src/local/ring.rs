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
use std::sync::atomic::{AtomicU64, Ordering, fence};

use optireduce_contract::limits::{BEAT_BYTES, PAYLOAD_BEATS_MAX};
use optireduce_contract::packet::UBT_BYTES;
use thiserror::Error;

use super::regions::{Opened, Unreadable};
use super::segment::{Peeked, store};

pub(super) const LINE_BYTES: usize = 64;
const LINE_WORDS: usize = LINE_BYTES / 8;
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
const RING_BYTES_MIN: usize = 128 << 10;
const RING_BYTES_MAX: usize = 512 << 10;

impl Layout {
    pub fn new(processes: usize) -> Self {
        let share = RINGS_BYTES / (processes - 1).max(1);
        Self { processes, lines: share.clamp(RING_BYTES_MIN, RING_BYTES_MAX) / LINE_BYTES }
    }

    pub fn words(self) -> usize {
        self.ring(0, self.processes - 1).end
    }

    /// Sleep word of the owner: odd while it sleeps. It only grows, so each sleep has another
    /// value.
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
    /// nothing if there is no room. The caller then publishes [`written`](Self::written).
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

    /// Copies the payload of the unread datagram at `line` into the ring. The caller must fence
    /// before it changes the original.
    pub fn settle(&self, ring: &[AtomicU64], line: u64, payload: &[AtomicU64]) {
        let begin = self.begin(line);
        let room = ring[(begin + LINE_WORDS) % ring.len()..].iter().chain(ring);
        for (to, from) in room.zip(payload) {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        ring[begin + REGION].store(0, Ordering::Release);
    }

    pub fn read(&self) -> u64 {
        self.read
    }

    fn begin(&self, line: u64) -> usize {
        (line % self.lines) as usize * LINE_WORDS
    }

    /// Write count to publish with [`Ordering::Release`].
    pub fn written(&self) -> u64 {
        self.written
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
    /// caller then publishes [`read`](Self::read).
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

    /// Read count to publish with [`Ordering::Release`].
    pub fn read(&self) -> u64 {
        self.read
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

const PAYLOAD_BYTES_MAX: usize = PAYLOAD_BEATS_MAX * BEAT_BYTES;

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

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use super::super::regions::Regions;
    use super::*;

    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ mixed >> 31) % end
        }
    }

    struct Nothing(Regions, OwnedFd);

    impl Nothing {
        fn new() -> Self {
            Self(Regions::default(), std::os::unix::net::UnixStream::pair().unwrap().0.into())
        }

        fn opened(&mut self) -> Opened<'_> {
            Opened { regions: &mut self.0, socket: &self.1 }
        }
    }

    fn words(lines: usize) -> Vec<AtomicU64> {
        (0..lines * LINE_WORDS).map(|_| AtomicU64::new(0xa5a5_a5a5_a5a5_a5a5)).collect()
    }

    fn datagram(number: u64, bytes_max: u64) -> ([u8; UBT_BYTES], Vec<u8>) {
        let mut random = Random(number);
        let bytes = random.below(bytes_max + 1);
        let mut header = [0; UBT_BYTES];
        header.fill_with(|| random.below(256) as u8);
        (header, (0..bytes).map(|_| random.below(256) as u8).collect())
    }

    #[test]
    fn parts_of_a_segment_do_not_overlap() {
        for processes in 2..=64 {
            let layout = Layout::new(processes);
            assert!(layout.lines * LINE_BYTES >= RING_BYTES_MIN);
            for owner in 0..processes {
                let mut end = layout.line(processes - 1) + LINE_WORDS;
                for to in (0..processes).filter(|to| *to != owner) {
                    let ring = layout.ring(owner, to);
                    assert_eq!((ring.start, ring.len()), (end, layout.lines * LINE_WORDS));
                    end = ring.end;
                }
                assert_eq!(end, layout.words());
            }
        }
    }

    #[test]
    fn datagrams_come_whole_and_in_order_however_the_ring_turns() {
        const LINES: usize = 37;
        let (ring, mut none, mut out) = (words(LINES), Nothing::new(), Datagram::new());
        for seed in 0..20 {
            let (mut sender, mut receiver, mut random) = (Sender::new(LINES), Receiver::new(LINES), Random(seed));
            let (mut sent, mut received, mut refused) = (0, 0, 0);
            while received < 300 {
                if random.below(2) == 0 {
                    let (header, payload) = datagram(sent, 9 * 64);
                    match sender.push(&ring, &header, &payload, None) {
                        true => sent += 1,
                        false => refused += 1,
                    }
                    if random.below(3) > 0 {
                        receiver.handle_written(sender.written()).unwrap();
                    }
                } else {
                    if let Some(length) = receiver.pop(Peeked::of(&ring), &mut none.opened(), &mut out).unwrap() {
                        let (header, payload) = datagram(received, 9 * 64);
                        assert_eq!(
                            out.bytes(length),
                            [&header[..], &payload].concat(),
                            "seed {seed}, datagram {received}"
                        );
                        received += 1;
                    }
                    if random.below(3) > 0 {
                        sender.handle_read(receiver.read()).unwrap();
                    }
                }
            }
            assert!(refused > 0, "seed {seed}: the ring was never full");
        }
    }

    #[test]
    fn two_threads_pass_datagrams() {
        const LINES: usize = 64;
        let count = if cfg!(miri) { 200 } else { 200_000 };
        let (ring, written, read) = (words(LINES), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let (mut sender, mut number) = (Sender::new(LINES), 0);
                while number < count {
                    let (header, payload) = datagram(number, 200);
                    if sender.push(&ring, &header, &payload, None) {
                        written.store(sender.written(), Ordering::Release);
                        number += 1;
                    } else {
                        sender.handle_read(read.load(Ordering::Relaxed)).unwrap();
                        std::thread::yield_now();
                    }
                }
            });
            let (mut receiver, mut none, mut out, mut number) =
                (Receiver::new(LINES), Nothing::new(), Datagram::new(), 0);
            while number < count {
                receiver.handle_written(written.load(Ordering::Relaxed)).unwrap();
                let Some(length) = receiver.pop(Peeked::of(&ring), &mut none.opened(), &mut out).unwrap() else {
                    std::thread::yield_now();
                    continue;
                };
                let (header, payload) = datagram(number, 200);
                assert_eq!(out.bytes(length), [&header[..], &payload].concat(), "datagram {number}");
                read.store(receiver.read(), Ordering::Release);
                number += 1;
            }
        });
    }

    #[test]
    fn counts_and_lengths_that_cannot_be_end_the_ring() {
        let (ring, mut none, mut out) = (words(16), Nothing::new(), Datagram::new());
        let mut sender = Sender::new(16);
        assert!(sender.push(&ring, &[1; UBT_BYTES], &[2; 640], None));
        assert!(!sender.push(&ring, &[1; UBT_BYTES], &[2; 320], None), "11 of 16 lines are taken");
        assert_eq!(sender.handle_read(12), Err(Broken::Read { found: 12, read: 0, written: 11 }));
        sender.handle_read(11).unwrap();
        assert_eq!(sender.handle_read(10), Err(Broken::Read { found: 10, read: 11, written: 11 }));

        let mut receiver = Receiver::new(16);
        assert_eq!(receiver.handle_written(17), Err(Broken::Written { found: 17, read: 0, max: 16 }));
        receiver.handle_written(11).unwrap();
        assert_eq!(receiver.handle_written(10), Err(Broken::Written { found: 10, read: 11, max: 16 }));
        for (length, max) in [(641, 640), (u64::MAX, 640), (1 << 32, 640)] {
            ring[0].store(length, Ordering::Relaxed);
            assert_eq!(
                receiver.pop(Peeked::of(&ring), &mut none.opened(), &mut out),
                Err(Broken::Length { found: length, max })
            );
        }
        let mut receiver = Receiver::new(1 << 20);
        receiver.handle_written(1 << 20).unwrap();
        let max = PAYLOAD_BYTES_MAX as u64;
        ring[0].store(max + 1, Ordering::Relaxed);
        assert_eq!(
            receiver.pop(Peeked::of(&ring), &mut none.opened(), &mut out),
            Err(Broken::Length { found: max + 1, max })
        );
    }

    /// The reader must return datagrams or an error, whatever the peer writes.
    #[test]
    fn a_peer_that_scribbles_over_its_memory_cannot_break_the_reader() {
        const LINES: usize = 256;
        let enough = if cfg!(miri) { 2 } else { 2000 };
        let (ring, written, done) = (words(LINES), AtomicU64::new(0), std::sync::atomic::AtomicBool::new(false));
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let mut random = Random(7);
                while !done.load(Ordering::Relaxed) {
                    let value = [0, 64, 640, random.below(1 << 14), u64::MAX, random.0][random.below(6) as usize];
                    ring[random.below(ring.len() as u64) as usize].store(value, Ordering::Relaxed);
                    written.fetch_add(random.below(8), Ordering::Relaxed);
                    if random.below(64) == 0 {
                        written.store(random.0, Ordering::Relaxed);
                    }
                }
            });
            let (mut receiver, mut out, mut popped, mut broken) = (Receiver::new(LINES), Datagram::new(), 0, 0);
            let mut none = Nothing::new();
            for _ in 0..100_000_000 {
                if popped >= enough && broken >= enough {
                    break;
                }
                let found = written.load(Ordering::Relaxed);
                let result = receiver
                    .handle_written(found)
                    .and_then(|()| receiver.pop(Peeked::of(&ring), &mut none.opened(), &mut out));
                if !matches!(result, Ok(Some(_))) {
                    // On a busy host the other thread needs this core.
                    std::thread::yield_now();
                }
                match result {
                    Ok(length) => popped += usize::from(length.is_some_and(|length| !out.bytes(length).is_empty())),
                    Err(_) => {
                        broken += 1;
                        receiver = Receiver::new(LINES);
                        written.store(0, Ordering::Relaxed);
                    }
                }
            }
            done.store(true, Ordering::Relaxed);
            assert!(broken >= enough && popped >= enough, "{popped} datagrams, {broken} times broken");
        });
    }
}
