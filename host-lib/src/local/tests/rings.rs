//! Tests of the rings, in one process.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use optireduce_contract::packet::UBT_BYTES;

use super::super::regions::{Opened, Regions};
use super::super::ring::*;
use super::super::segment::Peeked;

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
                    assert_eq!(out.bytes(length), [&header[..], &payload].concat(), "seed {seed}, datagram {received}");
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
                    sender.publish(&written);
                    number += 1;
                } else {
                    sender.handle_read(read.load(Ordering::Relaxed)).unwrap();
                    std::thread::yield_now();
                }
            }
        });
        let (mut receiver, mut none, mut out, mut number) = (Receiver::new(LINES), Nothing::new(), Datagram::new(), 0);
        while number < count {
            receiver.handle_written(written.load(Ordering::Relaxed)).unwrap();
            let Some(length) = receiver.pop(Peeked::of(&ring), &mut none.opened(), &mut out).unwrap() else {
                std::thread::yield_now();
                continue;
            };
            let (header, payload) = datagram(number, 200);
            assert_eq!(out.bytes(length), [&header[..], &payload].concat(), "datagram {number}");
            receiver.publish(&read, || 0);
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
