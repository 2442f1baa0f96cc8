//! Corrections that are left after the last results of a bucket.
//!
//! Why: repairs are added to the next result of a bucket. After the last one, the caller must add
//! them to the model, or replicas end with different weights.

use std::collections::BTreeMap;
use std::ops::Range;

use optireduce_core::levels::union;
use optireduce_core::protocol::repair::RepairReport;

/// Bytes of results that no caller has, by bucket.
pub(super) type Unsettled = BTreeMap<u16, u64>;

/// Outcome of [`Bucket::settle`](super::Bucket::settle).
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "replicas differ until its correction is applied"]
#[non_exhaustive]
pub struct Settled {
    /// Values that no result includes yet, if any: repaired means, and updates that this rank
    /// skipped. In the unit of the results (mean or sum), rounded to `f32`.
    ///
    /// Apply it to the model as one more update; it is not added to later results. Once all ranks
    /// have settled, a result without losses has the same bits on all ranks.
    pub correction: Option<Vec<f32>>,
    /// Elements that `correction` covers: the whole bucket.
    pub range: Range<usize>,
    /// Elements that results and `correction` lack, in order, since their repairs were outstanding
    /// at the timeout.
    pub missing: Vec<Range<usize>>,
    /// Whether the bucket settled before the timeout: no bytes are outstanding, and all ranks have
    /// confirmed the same calls.
    pub is_settled: bool,
    /// Repairs of the bucket so far.
    pub repairs: RepairReport,
}

impl Settled {
    pub(super) fn after(self, before: Settled) -> Self {
        let correction = together(self.correction, before.correction);
        let is_settled = self.is_settled && before.is_settled;
        let missing = union([before.missing, self.missing].concat());
        Self { correction, range: self.range, missing, is_settled, repairs: self.repairs.and(before.repairs) }
    }
}

pub(super) fn together(one: Option<Vec<f32>>, other: Option<Vec<f32>>) -> Option<Vec<f32>> {
    match (one, other) {
        (Some(mut one), Some(other)) => {
            add(&mut one, &other);
            Some(one)
        }
        (one, other) => one.or(other),
    }
}

pub(super) fn add_bytes(unsettled: &mut Unsettled, more: impl IntoIterator<Item = (u16, u64)>) {
    more.into_iter().filter(|(_, bytes)| *bytes > 0).for_each(|(bucket, bytes)| {
        *unsettled.entry(bucket).or_default() += bytes;
    });
}

pub(super) fn add(values: &mut [f32], more: &[f32]) {
    values.iter_mut().zip(more).for_each(|(value, more)| *value += more);
}
