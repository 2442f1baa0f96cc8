//! What the last collectives of a bucket lacked.
//!
//! Why: repairs are added to the next output of a bucket. After the last one there is none, so the caller fetches the
//! correction and adds it to the model itself; otherwise replicas would end with different weights.

use optireduce_core::protocol::repair::RepairReport;

/// What [`Bucket::settle`](super::Bucket::settle) found.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Settled {
    /// What the results of the bucket so far lack, to be applied to the model as one more update, in the units of the results
    /// (mean or sum), rounded to `f32`; `None` if they lack nothing that could be fetched. Later results contain none of it, and
    /// nothing that was rounded away: once all ranks have settled, a result that every rank received whole has the same bits on all.
    pub correction: Option<Vec<f32>>,
    /// Whether nothing was outstanding any more before the timeout. If not, [`repairs`](Self::repairs) says how many bytes are,
    /// or some rank has not said yet that it called the same collectives.
    pub is_settled: bool,
    /// Repairs of the bucket so far: `outstanding_bytes` may still come, `drift_bytes` were given up.
    pub repairs: RepairReport,
}

impl Settled {
    /// With what was found elsewhere for the same bucket before.
    pub(super) fn after(self, before: Settled) -> Self {
        let correction = together(self.correction, before.correction);
        let is_settled = self.is_settled && before.is_settled;
        Self { correction, is_settled, repairs: self.repairs.and(before.repairs) }
    }
}

/// Two corrections of the same bucket as one.
pub(super) fn together(one: Option<Vec<f32>>, other: Option<Vec<f32>>) -> Option<Vec<f32>> {
    match (one, other) {
        (Some(mut one), Some(other)) => {
            add(&mut one, &other);
            Some(one)
        }
        (one, other) => one.or(other),
    }
}

/// Adds `more` to `values`, element by element.
pub(super) fn add(values: &mut [f32], more: &[f32]) {
    values.iter_mut().zip(more).for_each(|(value, more)| *value += more);
}
