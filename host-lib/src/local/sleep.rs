//! Sleep of a process, and the decision of its peers to wake it.
//!
//! A process announces its sleep and then looks for work. A peer publishes work and then looks for
//! sleep. The fences in between ensure that at least one of them sees the other.

use super::segment::Peeked;
use super::sync::{AtomicU64, Ordering, fence};

/// Returns whether this process may sleep; peers send wake-ups until [`rouse`]. `asleep`: its sleep
/// word, odd while it sleeps. The word only grows, so each sleep has another value.
pub(super) fn doze(asleep: &AtomicU64, is_quiet: impl FnOnce() -> bool) -> bool {
    asleep.store((asleep.load(Ordering::Relaxed) | 1) + 2, Ordering::Relaxed);
    // Either the peer sees that this process sleeps, or this process sees the peer's write.
    fence(Ordering::SeqCst);
    let quiet = is_quiet();
    if !quiet {
        rouse(asleep);
    }
    quiet
}

pub(super) fn rouse(asleep: &AtomicU64) {
    asleep.store(asleep.load(Ordering::Relaxed).next_multiple_of(2), Ordering::Relaxed);
}

/// Returns the value of a peer's sleep word, at `at`, if the peer sleeps. Call after publishing
/// work for it.
pub(super) fn sleeps(peer: Peeked<'_>, at: usize) -> Option<u64> {
    // Pairs with the fence of `doze`.
    fence(Ordering::SeqCst);
    Some(peer.load(at)).filter(|asleep| !asleep.is_multiple_of(2))
}
