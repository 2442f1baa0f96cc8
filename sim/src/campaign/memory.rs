//! Memory of a rank's engine, measured as the length of its `Debug` output.
//!
//! `Debug` covers the queues, maps and buffers of the protocol and the software data plane,
//! including future ones, without code in these parts. The limit depends on the job's settings, not
//! on its duration.

use std::fmt::{self, Write as _};

use optireduce_core::Collectives;

use super::plan::JobPlan;
use super::rank::Plane;
use super::values::LANES;

/// Characters of an element, and of a byte.
const ELEMENT: usize = 12;
const BYTE: usize = 5;
const FIXED: usize = 60_000;
const FIXED_PER_RANK: usize = 6_000;
/// Limit of results and repair data kept per bucket.
const HELD_PER_BUCKET: usize = 40;

struct Length(usize);

impl fmt::Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

pub(super) fn footprint(engine: &Collectives<Plane>) -> usize {
    let mut length = Length(0);
    let _ = write!(length, "{engine:?}");
    length.0
}

/// Limit of [`footprint`]: windows, results and repair data, early packets, and fixed state.
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
