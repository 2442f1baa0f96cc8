//! The fences of the rings, under loom: every order in which two threads may see one another's accesses, by the rules of C11's memory.
//!
//! x86 orders stores and loads by itself, so no test that runs the driver there can miss a fence. This is a model of it, with the accesses that
//! `dma.rs`, `bar.rs` and `nic.rs` make: entries are words that are stored and loaded one by one, a doorbell is a volatile store, which
//! orders nothing else and so is a relaxed one here, and the load of a phase bit is an acquire load.
//! Each fence is taken out in turn. Where loom then finds a wrong order, the test demands that it does; where it cannot, the test demands that
//! too, so that what is written about it stays true:
//! * the fence after the phase bit is one too many for other processors, since the load of the bit acquires. It is there for devices,
//!   which are in another domain of shareability on aarch64 (`dmb oshld`), and for who makes that load a relaxed one;
//! * the fence before CQ_HEAD orders our loads of an entry before the store that gives it back. Loom runs loads in program order, so it
//!   never sees them late.
//!
//! The card here is another processor. What a PCIe device may see besides, only a board can show.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use loom::sync::atomic::{AtomicU32, Ordering, fence};
use loom::thread;

/// What is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    Nothing,
    /// `fence_before_doorbell` in `ring_doorbell` and `configure`.
    BeforeDoorbell,
    /// `fence_after_phase`.
    AfterPhase,
    /// That, and the acquire of the load of the phase bit.
    AfterPhaseAndAcquire,
    /// `fence_before_doorbell` in `publish`.
    BeforeHead,
}

/// What card and driver share: a submission and a completion of two words each, and three registers.
#[derive(Default)]
struct Shared {
    submission: [AtomicU32; 2],
    tail: AtomicU32,
    payload: AtomicU32,
    /// With the phase bit, and written last.
    phase: AtomicU32,
    head: AtomicU32,
}

/// Looks so often, so that there is an end; a run in which nothing came by then shows nothing.
const LOOKS: usize = 2;

/// A completion's content on the first turn of the ring, and on the second, when the card uses the entry again.
const FIRST: u32 = 7;
const SECOND: u32 = 8;

fn card(shared: &Shared) {
    for _ in 0..LOOKS {
        if shared.tail.load(Ordering::Relaxed) == 1 {
            // The card's own order is not the driver's to keep.
            fence(Ordering::Acquire);
            let entry = [0, 1].map(|word| shared.submission[word].load(Ordering::Relaxed));
            assert_eq!(entry, [1, 2], "the card reads a submission before it is written");
            shared.payload.store(FIRST, Ordering::Relaxed);
            shared.phase.store(1, Ordering::Release);
            if shared.head.load(Ordering::Relaxed) == 1 {
                fence(Ordering::Acquire);
                shared.payload.store(SECOND, Ordering::Relaxed);
            }
            return;
        }
        thread::yield_now();
    }
}

fn driver(shared: &Shared, without: Without) {
    // `DmaMap::write` releases each word, which orders nothing that is stored after it.
    shared.submission[0].store(1, Ordering::Release);
    shared.submission[1].store(2, Ordering::Release);
    if without != Without::BeforeDoorbell {
        fence(Ordering::Release);
    }
    shared.tail.store(1, Ordering::Relaxed);
    let acquires = without != Without::AfterPhaseAndAcquire;
    for _ in 0..LOOKS {
        let phase = shared.phase.load(if acquires { Ordering::Acquire } else { Ordering::Relaxed });
        if phase == 1 {
            if !matches!(without, Without::AfterPhase | Without::AfterPhaseAndAcquire) {
                fence(Ordering::Acquire);
            }
            assert_eq!(
                shared.payload.load(Ordering::Relaxed),
                FIRST,
                "the driver reads a completion that is another's"
            );
            if without != Without::BeforeHead {
                fence(Ordering::Release);
            }
            shared.head.store(1, Ordering::Relaxed);
            return;
        }
        thread::yield_now();
    }
}

/// Whether some order goes wrong.
fn goes_wrong(without: Without) -> bool {
    let explore = || {
        loom::model(move || {
            let shared = Arc::new(Shared::default());
            let other = shared.clone();
            let running = thread::spawn(move || card(&other));
            driver(&shared, without);
            running.join().unwrap();
        });
    };
    catch_unwind(AssertUnwindSafe(explore)).is_err()
}

#[test]
fn with_all_fences_every_order_is_right() {
    assert!(!goes_wrong(Without::Nothing));
}

#[test]
fn without_the_fence_before_the_doorbell_the_card_reads_what_was_there_before() {
    assert!(goes_wrong(Without::BeforeDoorbell));
}

#[test]
fn without_an_acquire_after_the_phase_the_driver_reads_what_was_there_before() {
    assert!(goes_wrong(Without::AfterPhaseAndAcquire));
}

#[test]
fn what_this_model_cannot_show_is_not_claimed() {
    assert!(!goes_wrong(Without::AfterPhase), "the load of the phase bit acquires");
    assert!(!goes_wrong(Without::BeforeHead), "loom runs loads in program order");
}
