//! Fences of the rings, in a model under loom: all orders in which C11 lets two threads see each
//! other's accesses. On x86, which orders stores and loads, other tests cannot detect a missing
//! fence.
//!
//! The model has the accesses of `dma.rs`, `bar.rs` and `nic.rs`. A doorbell is a volatile store,
//! which orders nothing else, so it is relaxed here.
//!
//! The tests remove each fence in turn, and loom must find a wrong order, except for two fences
//! that the model cannot test:
//! * The fence after the phase bit. Between processors the acquiring load of the bit suffices; the
//!   fence serves devices, which are in another shareability domain on aarch64.
//! * The fence before CQ_HEAD, which orders loads of an entry before the store that frees it. Loom
//!   runs loads in program order.
//!
//! The card is modelled as a processor. Only a board shows other effects of a PCIe device.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use loom::sync::atomic::{AtomicU32, Ordering, fence};
use loom::thread;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    Nothing,
    /// `fence_before_doorbell` in `ring_doorbell` and `configure`.
    BeforeDoorbell,
    /// `fence_after_phase`.
    AfterPhase,
    /// `fence_after_phase`, and the acquire of the phase bit's load.
    AfterPhaseAndAcquire,
    /// `fence_before_doorbell` in `publish`.
    BeforeHead,
}

#[derive(Default)]
struct Shared {
    submission: [AtomicU32; 2],
    tail: AtomicU32,
    payload: AtomicU32,
    /// Word with the phase bit, written last.
    phase: AtomicU32,
    head: AtomicU32,
}

/// Polls of each side, limited to bound the model.
const LOOKS: usize = 2;

/// Content of a completion in the first and the second turn of the ring.
const FIRST: u32 = 7;
const SECOND: u32 = 8;

fn card(shared: &Shared) {
    for _ in 0..LOOKS {
        if shared.tail.load(Ordering::Relaxed) == 1 {
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
    // `DmaMap::write` releases each word, which does not order later stores.
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
