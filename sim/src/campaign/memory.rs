//! How much a rank's engine holds: the length of all that it is, written out.
//!
//! Why: every queue, map and buffer of the protocol and of the software data plane is in what `Debug` writes, also those that are added
//! later, and no code of theirs takes part in the counting. A number takes a few bytes, a byte of a packet up to five.
//! What a job may hold follows from its settings, not from how long it runs.

use std::fmt::{self, Write as _};

use optireduce_core::Collectives;

use super::plan::JobPlan;
use super::rank::Plane;
use super::values::LANES;

/// Characters of an element, and of a byte.
const ELEMENT: usize = 12;
const BYTE: usize = 5;
/// Characters of all that is kept once, and once for each rank.
const FIXED: usize = 60_000;
const FIXED_PER_RANK: usize = 6_000;
/// Results and repair data that are kept for a bucket, at most.
const HELD_PER_BUCKET: usize = 40;

/// Counts what is written.
struct Length(usize);

impl fmt::Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

/// The length of what an engine holds, in characters.
pub(super) fn footprint(engine: &Collectives<Plane>) -> usize {
    let mut length = Length(0);
    let _ = write!(length, "{engine:?}");
    length.0
}

/// The most that an engine may hold, in characters, however long its job runs: the windows of the data plane, results and
/// repair data of each bucket, packets that came early, and what does not depend on any of these.
pub(super) fn footprint_max(plan: &JobPlan) -> usize {
    let set = &plan.settings;
    let largest = plan.calls.iter().map(|call| call.elements).max().unwrap_or(0).next_multiple_of(LANES) + LANES;
    let mut buckets: Vec<u16> = plan.calls.iter().map(|call| call.bucket).collect();
    buckets.sort_unstable();
    buckets.dedup();
    let windows = 2 * set.slots * (set.window_beats * LANES).min(largest);
    let elements = 2 * windows + HELD_PER_BUCKET * buckets.len() * largest;
    FIXED + plan.ranks * FIXED_PER_RANK + ELEMENT * elements + BYTE * set.unexpected_bytes
}
