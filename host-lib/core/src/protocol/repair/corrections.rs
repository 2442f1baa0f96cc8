//! What repairs change in outputs that were given out already.

use std::collections::BTreeMap;

use thiserror::Error;

/// Elements that a bucket can have at most: 4 GiB.
const ELEMENTS_MAX: usize = 1 << 30;

/// Differences to be added to the next output of each bucket.
#[derive(Clone, Debug, Default)]
pub struct Corrections {
    pending: BTreeMap<u16, Vec<f32>>,
}

/// A correction that does not fit its bucket. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CorrectionError {
    /// Old and repaired output differ in length, or end beyond the largest bucket.
    #[error(
        "bucket {bucket}: repaired output of {repaired} elements at {first_element} against an old one of {old}; expected \
         as many, ending at {ELEMENTS_MAX} at most"
    )]
    Length {
        /// Bucket id.
        bucket: u16,
        /// First element in the bucket.
        first_element: usize,
        /// Elements of the old output.
        old: usize,
        /// Elements of the repaired output.
        repaired: usize,
    },
    /// The next output of the bucket is shorter than what was corrected.
    #[error("bucket {bucket}: output of {found} elements, expected at least the {expected} that were corrected")]
    Shorter {
        /// Bucket id.
        bucket: u16,
        /// Elements of the output.
        found: usize,
        /// Elements up to the last one corrected.
        expected: usize,
    },
}

impl Corrections {
    /// Notes that elements of `bucket` from `first_element` on, given out as `old`, should have been `repaired`. Returns
    /// the elements that no sum can correct, because the difference is not finite: they stay as they are.
    ///
    /// # Errors
    /// [`CorrectionError::Length`].
    pub fn add(
        &mut self,
        bucket: u16,
        first_element: usize,
        old: &[f32],
        repaired: &[f32],
    ) -> Result<usize, CorrectionError> {
        let end = first_element.saturating_add(old.len());
        if old.len() != repaired.len() || end > ELEMENTS_MAX {
            let (old, repaired) = (old.len(), repaired.len());
            return Err(CorrectionError::Length { bucket, first_element, old, repaired });
        }
        let pending = self.pending.entry(bucket).or_default();
        if pending.len() < end {
            pending.resize(end, 0.0);
        }
        let mut hopeless = 0;
        for (pending, (old, repaired)) in pending[first_element..].iter_mut().zip(old.iter().zip(repaired)) {
            if old.to_bits() == repaired.to_bits() {
                continue;
            }
            let sum = *pending + (repaired - old);
            if sum.is_finite() {
                *pending = sum;
            } else {
                hopeless += 1;
            }
        }
        Ok(hopeless)
    }

    /// Adds what is pending for `bucket` to its next output, once. All of a bucket's outputs so far, added up, are then
    /// what they would be without loss. Elements without a correction keep their bits.
    ///
    /// # Errors
    /// [`CorrectionError::Shorter`]; what is pending stays.
    pub fn fold(&mut self, bucket: u16, output: &mut [f32]) -> Result<(), CorrectionError> {
        let expected = self.pending.get(&bucket).map_or(0, Vec::len);
        if expected > output.len() {
            return Err(CorrectionError::Shorter { bucket, found: output.len(), expected });
        }
        for (output, correction) in output.iter_mut().zip(self.pending.remove(&bucket).unwrap_or_default()) {
            if correction != 0.0 {
                *output += correction;
            }
        }
        Ok(())
    }
}
