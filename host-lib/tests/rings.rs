//! Rings and sleep of ranks that share memory, under loom: all orders in which C11 lets two
//! processes see each other's accesses. On x86, which orders stores and loads, other tests cannot
//! detect a missing fence.
//!
//! The code is the library's own, compiled with loom's atomics. The test weakens each ordering in
//! turn, and loom must find a lost wake-up or wrong content. Every ordering in the code must occur
//! in a model.
//!
//! Limits: loom runs loads in program order. It cannot test the orderings between loads and later
//! stores, which [`NOT_SHOWN`] lists. Memory of the caller that is read in place is modelled as
//! atomics.

#[path = "../src/local/ring.rs"]
#[allow(dead_code)] // the layout of whole segments
mod ring;
#[path = "../src/local/sleep.rs"]
mod sleep;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use loom::thread;
use optireduce_contract::packet::UBT_BYTES;

use regions::Opened;
use ring::{Datagram, LINE_WORDS, Place, Receiver, Sender};
use segment::Peeked;
use sync::{AtomicU64, Ordering};

/// Orderings between loads and later stores.
const NOT_SHOWN: [&str; 2] =
    ["ring.rs: handle_read: fence(Ordering::Acquire);", "ring.rs: publish: count.store(self.read, Ordering::Release);"];

mod sync {
    use std::panic::Location;

    pub use loom::sync::atomic::Ordering;

    use super::{SITES, Site, WEAKENED};

    #[derive(Debug)]
    pub struct AtomicU64(loom::sync::atomic::AtomicU64);

    impl AtomicU64 {
        pub fn new(value: u64) -> Self {
            Self(loom::sync::atomic::AtomicU64::new(value))
        }

        #[track_caller]
        pub fn load(&self, ordering: Ordering) -> u64 {
            self.0.load(weaken(ordering))
        }

        #[track_caller]
        pub fn store(&self, value: u64, ordering: Ordering) {
            self.0.store(value, weaken(ordering));
        }
    }

    #[track_caller]
    pub fn fence(ordering: Ordering) {
        match weaken(ordering) {
            Ordering::Relaxed => {}
            ordering => loom::sync::atomic::fence(ordering),
        }
    }

    /// Returns `Relaxed` in place of the ordering under test.
    #[track_caller]
    fn weaken(ordering: Ordering) -> Ordering {
        if ordering == Ordering::Relaxed {
            return ordering;
        }
        let at = Location::caller();
        let name = if at.file().ends_with("ring.rs") { "ring.rs" } else { "sleep.rs" };
        let site = Site { file: name, line: at.line() as usize };
        SITES.with_borrow_mut(|sites| sites.insert(site));
        if WEAKENED.get() == Some(site) { Ordering::Relaxed } else { ordering }
    }
}

mod segment {
    use super::sync::{AtomicU64, Ordering};

    /// As the library's, without string instructions.
    #[derive(Clone, Copy, Debug)]
    pub struct Peeked<'a>(pub &'a [AtomicU64]);

    impl Peeked<'_> {
        pub fn slice(self, range: std::ops::Range<usize>) -> Self {
            Self(&self.0[range])
        }

        pub fn len(self) -> usize {
            self.0.len()
        }

        pub fn load(self, at: usize) -> u64 {
            self.0[at].load(Ordering::Relaxed)
        }

        pub fn read(self, bytes: &mut [u8]) {
            for (bytes, word) in bytes.chunks_mut(8).zip(self.0) {
                bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes()[..bytes.len()]);
            }
        }
    }

    pub fn store(words: &[AtomicU64], bytes: &[u8]) {
        for (word, bytes) in words.iter().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(whole), Ordering::Relaxed);
        }
    }
}

mod regions {
    use super::segment::Peeked;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
    #[error("no region")]
    pub struct Unreadable;

    /// The only region.
    pub struct Opened<'a>(pub Peeked<'a>);

    impl Opened<'_> {
        pub fn read(&mut self, _region: u64, word: u64, payload: &mut [u8]) -> Result<(), Unreadable> {
            self.0.slice(word as usize..self.0.len()).read(payload);
            Ok(())
        }

        pub fn free(&mut self, _region: u64) {}
    }
}

/// Place of an ordering in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Site {
    file: &'static str,
    line: usize,
}

impl Site {
    const CODE: [(&str, &str); 2] =
        [("ring.rs", include_str!("../src/local/ring.rs")), ("sleep.rs", include_str!("../src/local/sleep.rs"))];

    /// All lines with an ordering, which must not have two.
    fn all() -> Vec<Self> {
        let of_file = |(file, code): (&'static str, &str)| {
            let lines = code.lines().enumerate();
            let strong = lines.filter(|(_, line)| line.replace("Ordering::Relaxed", "").contains("Ordering::"));
            strong.map(|(at, _)| Self { file, line: at + 1 }).collect::<Vec<_>>()
        };
        Self::CODE.into_iter().flat_map(of_file).collect()
    }

    /// File, function and text.
    fn name(self) -> String {
        let (file, code) = Self::CODE.into_iter().find(|(file, _)| *file == self.file).unwrap();
        let lines: Vec<&str> = code.lines().take(self.line).collect();
        let function = lines.iter().rev().find_map(|line| line.split_once("fn ")?.1.split(['(', '<']).next()).unwrap();
        format!("{file}: {function}: {}", lines[self.line - 1].trim())
    }
}

std::thread_local! {
    static SITES: RefCell<BTreeSet<Site>> = const { RefCell::new(BTreeSet::new()) };
    static WEAKENED: Cell<Option<Site>> = const { Cell::new(None) };
    /// Datagrams received in one run, the most of all runs.
    static RECEIVED_MAX: Cell<u8> = const { Cell::new(0) };
}

/// Lines of a ring with room for one datagram of one payload line.
const LINES: usize = 2;
/// Polls of each side, limited to bound the models.
const LOOKS: usize = 2;

/// Memory of two processes, of which one sends.
struct Shared {
    ring: Vec<AtomicU64>,
    written: AtomicU64,
    waits_for: AtomicU64,
    sender_sleeps: [AtomicU64; 1],
    /// Memory of the caller, read in place.
    region: Vec<AtomicU64>,
    read: AtomicU64,
    receiver_sleeps: [AtomicU64; 1],
}

impl Shared {
    fn new() -> Self {
        let word = || AtomicU64::new(0);
        Self {
            ring: (0..LINES * LINE_WORDS).map(|_| word()).collect(),
            written: word(),
            waits_for: word(),
            sender_sleeps: [word()],
            region: vec![AtomicU64::new(1)],
            read: word(),
            receiver_sleeps: [word()],
        }
    }

    /// Sends a datagram in which all bytes are `content`. Returns whether there was room, and
    /// whether the receiver was woken.
    fn send(&self, sender: &mut Sender, content: u8, place: Option<Place>) -> (bool, bool) {
        let is_sent = sender.push(&self.ring, &[content; UBT_BYTES], &[content; 8], place);
        sender.publish(&self.written);
        (is_sent, sleep::sleeps(Peeked(&self.receiver_sleeps), 0).is_some())
    }

    /// Returns the content of the next datagram, if there is one, and whether the sender was woken.
    fn receive(&self, receiver: &mut Receiver, out: &mut Datagram) -> Option<(u8, bool)> {
        receiver.handle_written(self.written.load(Ordering::Relaxed)).unwrap();
        let length = receiver.pop(Peeked(&self.ring), &mut Opened(Peeked(&self.region)), out).unwrap()?;
        let bytes = out.bytes(length);
        assert!(bytes.len() == UBT_BYTES + 8, "a datagram of {length} bytes");
        let waits = receiver.publish(&self.read, || self.waits_for.load(Ordering::Relaxed));
        let wakes = waits && sleep::sleeps(Peeked(&self.sender_sleeps), 0).is_some();
        let content = bytes[UBT_BYTES];
        assert!(bytes[..UBT_BYTES].iter().all(|byte| *byte == bytes[0]), "a header of two datagrams");
        assert_eq!(bytes[UBT_BYTES..], [bytes[0]; 8], "a payload that is another's");
        Some((content, wakes))
    }
}

/// Two datagrams, in the same lines.
fn datagrams_are_whole_and_in_order() {
    let shared = Arc::new(Shared::new());
    let other = shared.clone();
    let receiving = thread::spawn(move || {
        let (mut receiver, mut out, mut expected) = (Receiver::new(LINES), Datagram::new(), 1);
        for _ in 0..LOOKS {
            match other.receive(&mut receiver, &mut out) {
                Some((content, _)) => {
                    assert_eq!(content, expected);
                    RECEIVED_MAX.set(RECEIVED_MAX.get().max(content));
                    expected += 1;
                }
                None => thread::yield_now(),
            }
        }
    });
    let (mut sender, mut content) = (Sender::new(LINES), 1);
    for _ in 0..LOOKS {
        sender.handle_read(shared.read.load(Ordering::Relaxed)).unwrap();
        content += u8::from(shared.send(&mut sender, content, None).0);
    }
    receiving.join().unwrap();
}

/// The sender reuses memory that the receiver reads in place.
fn a_payload_is_as_it_was_sent_after_its_memory_changed() {
    let shared = Arc::new(Shared::new());
    let other = shared.clone();
    let receiving = thread::spawn(move || {
        let received = other.receive(&mut Receiver::new(LINES), &mut Datagram::new());
        assert!(received.is_none_or(|(content, _)| content == 1));
    });
    let mut sender = Sender::new(LINES);
    shared.region[0].store(u64::from_ne_bytes([1; 8]), Ordering::Relaxed);
    shared.send(&mut sender, 1, Some(Place { region: 0, word: 0 }));
    sender.settle(&shared.ring, [(0, &shared.region[..])].into_iter());
    shared.region[0].store(u64::from_ne_bytes([9; 8]), Ordering::Relaxed);
    receiving.join().unwrap();
}

fn a_receiver_that_sleeps_is_woken() {
    let shared = Arc::new(Shared::new());
    let other = shared.clone();
    let receiving =
        thread::spawn(move || sleep::doze(&other.receiver_sleeps[0], || other.written.load(Ordering::Relaxed) == 0));
    let (_, is_woken) = shared.send(&mut Sender::new(LINES), 1, None);
    assert!(!receiving.join().unwrap() || is_woken, "a lost wake-up of the receiver");
}

fn a_sender_that_waits_for_room_is_woken() {
    let shared = Arc::new(Shared::new());
    let mut sender = Sender::new(LINES);
    shared.send(&mut sender, 1, None);
    let other = shared.clone();
    let sending = thread::spawn(move || {
        other.waits_for.store(LINES as u64, Ordering::Relaxed);
        sleep::doze(&other.sender_sleeps[0], || other.read.load(Ordering::Relaxed) < LINES as u64)
    });
    let (_, wakes) = shared.receive(&mut Receiver::new(LINES), &mut Datagram::new()).unwrap();
    assert!(!sending.join().unwrap() || wakes, "a lost wake-up of the sender");
}

const MODELS: [fn(); 4] = [
    datagrams_are_whole_and_in_order,
    a_payload_is_as_it_was_sent_after_its_memory_changed,
    a_receiver_that_sleeps_is_woken,
    a_sender_that_waits_for_room_is_woken,
];

fn goes_wrong(model: fn(), weakened: Option<Site>) -> bool {
    WEAKENED.set(weakened);
    catch_unwind(AssertUnwindSafe(|| loom::model(model))).is_err()
}

#[test]
fn every_order_is_right_and_a_weaker_one_is_found() {
    let mut missed: BTreeMap<Site, bool> = BTreeMap::new();
    for model in MODELS {
        SITES.with_borrow_mut(BTreeSet::clear);
        assert!(!goes_wrong(model, None), "a model fails with all orderings");
        for site in SITES.with_borrow(BTreeSet::clone) {
            *missed.entry(site).or_insert(true) &= !goes_wrong(model, Some(site));
        }
    }
    assert_eq!(RECEIVED_MAX.get(), 2, "no run used the ring's lines twice");
    let names = |sites: Vec<Site>| sites.into_iter().map(Site::name).collect::<Vec<_>>();
    assert_eq!(names(missed.keys().copied().collect()), names(Site::all()), "orderings in a model, and in the code");
    assert_eq!(names(missed.into_iter().filter(|(_, missed)| *missed).map(|(site, _)| site).collect()), NOT_SHOWN);
}
