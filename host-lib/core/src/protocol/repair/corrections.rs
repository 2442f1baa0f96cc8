//! Changes by repairs to outputs that were already returned.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::protocol::StreamId;

/// Elements per map entry, so that a fully corrected bucket needs few look-ups.
const CHUNK: usize = 1024;

/// Differences to add to the next output of each stream, as f64.
///
/// The outputs of a stream plus its pending differences equal the outputs without loss, to 2^-53. A
/// rounding error stays pending until an output is small enough to hold it.
///
/// Limits: 8 bytes per element of every chunk of 1024 in which a difference is pending.
#[derive(Clone, Debug, Default)]
pub struct Corrections {
    /// By stream and index of the chunk.
    pending: BTreeMap<(StreamId, usize), Box<[f64; CHUNK]>>,
    /// Streams with more pending than rounding errors.
    fresh: BTreeSet<StreamId>,
}

/// A correction that does not fit its stream. No state was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "bucket {}: {what} of {found} elements from {first_element} on, expected {expected}; the bucket has {}",
    stream.bucket, stream.elements
)]
#[allow(missing_docs)] // fields explain themselves
pub struct CorrectionError {
    pub stream: StreamId,
    pub what: &'static str,
    pub first_element: usize,
    pub found: usize,
    pub expected: usize,
}

/// Result of [`Corrections::fold`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Folded {
    /// Whether the output contains a repair for the first time.
    pub corrected: bool,
    /// Largest magnitude still pending.
    pub pending_max: f64,
}

impl Corrections {
    /// Records that elements from `first_element` on were returned as `old` (`None`: skipped) but
    /// should have been `repaired`. Returns the number of elements whose difference is not finite,
    /// and which cannot be corrected.
    ///
    /// # Errors
    /// [`CorrectionError`] if the lengths do not match.
    pub fn add(
        &mut self,
        stream: StreamId,
        first_element: usize,
        old: Option<&[f32]>,
        repaired: &[f32],
    ) -> Result<usize, CorrectionError> {
        let (found, room) = (repaired.len(), stream.elements.saturating_sub(first_element));
        let error = |what, found, expected| CorrectionError { stream, what, first_element, found, expected };
        if found > room {
            return Err(error("a repaired output", found, room));
        }
        if let Some(old) = old.filter(|old| old.len() != found) {
            return Err(error("an old output", old.len(), found));
        }
        let (mut hopeless, mut begin) = (0, 0);
        // One look-up per chunk, not per element: the call may cover a whole model.
        while begin < found {
            let index = first_element + begin;
            let end = found.min(begin + CHUNK - index % CHUNK);
            let mut differences = [0.0; CHUNK];
            let of_chunk = differences.iter_mut().zip(&repaired[begin..end]);
            match old {
                Some(old) => of_chunk.zip(&old[begin..end]).for_each(|((difference, repaired), old)| {
                    let is_same = old.to_bits() == repaired.to_bits();
                    *difference = if is_same { 0.0 } else { f64::from(*repaired) - f64::from(*old) };
                }),
                None => of_chunk.for_each(|(difference, repaired)| *difference = f64::from(*repaired)),
            }
            let differences = &mut differences[..end - begin];
            hopeless += differences.iter().filter(|difference| !difference.is_finite()).count();
            if differences.iter().any(|difference| difference.is_finite() && *difference != 0.0) {
                let chunk = self.pending.entry((stream, index / CHUNK)).or_insert_with(|| Box::new([0.0; CHUNK]));
                for (pending, difference) in chunk[index % CHUNK..].iter_mut().zip(differences) {
                    *pending += if difference.is_finite() { *difference } else { 0.0 };
                }
                self.fresh.insert(stream);
            }
            begin = end;
        }
        Ok(hopeless)
    }

    /// Returns whether any difference is pending for a stream.
    pub fn has(&self, stream: StreamId) -> bool {
        self.fresh.contains(&stream) || self.pending.range((stream, 0)..=(stream, usize::MAX)).next().is_some()
    }

    /// Adds the pending differences of a stream to an output. Other elements keep their bits.
    ///
    /// # Errors
    /// [`CorrectionError`] if the output has the wrong length.
    pub fn fold(&mut self, stream: StreamId, output: &mut [f32]) -> Result<Folded, CorrectionError> {
        let (found, expected) = (output.len(), stream.elements);
        if found != expected {
            return Err(CorrectionError { stream, what: "an output", first_element: 0, found, expected });
        }
        let mut pending_max = 0.0f64;
        let all = (stream, 0)..=(stream, usize::MAX);
        self.pending
            .extract_if(all, |(_, index), chunk| {
                let left = fold_chunk(chunk, &mut output[*index * CHUNK..]);
                pending_max = pending_max.max(left);
                left == 0.0
            })
            .for_each(drop);
        Ok(Folded { corrected: self.fresh.remove(&stream), pending_max })
    }

    /// Discards rounding errors, so that the next outputs have the bits of a rank without loss.
    /// Keeps differences too large for an `f32`, and corrections that no output has.
    pub fn forget_rounding(&mut self, stream: StreamId) {
        if self.fresh.contains(&stream) {
            return;
        }
        let all = (stream, 0)..=(stream, usize::MAX);
        self.pending
            .extract_if(all, |_, chunk| {
                chunk.iter_mut().filter(|pending| (**pending as f32).is_finite()).for_each(|pending| *pending = 0.0);
                chunk.iter().all(|pending| *pending == 0.0)
            })
            .for_each(drop);
    }

    /// Returns whether any stream has more pending than rounding errors.
    pub fn is_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Bytes of the values that no output has, by stream. Rounding errors do not count.
    pub fn fresh_bytes(&self) -> impl Iterator<Item = (StreamId, u64)> {
        self.fresh.iter().map(|stream| {
            let chunks = self.pending.range((*stream, 0)..=(*stream, usize::MAX));
            let pending = chunks.flat_map(|(_, chunk)| chunk.iter()).filter(|pending| **pending != 0.0);
            (*stream, (pending.count() * size_of::<f32>()) as u64)
        })
    }

    /// Discards streams for which `is_gone`. Returns the number of uncorrected elements.
    pub fn forget(&mut self, is_gone: impl Fn(&StreamId) -> bool) -> usize {
        let gone: Vec<_> = self.pending.extract_if(.., |(stream, _), _| is_gone(stream)).collect();
        let fresh: Vec<_> = self.fresh.extract_if(.., |stream| is_gone(stream)).collect();
        let lost = gone.iter().filter(|((stream, _), _)| fresh.contains(stream));
        lost.flat_map(|(_, chunk)| chunk.iter()).filter(|pending| **pending != 0.0).count()
    }
}

/// Returns the largest magnitude still pending.
fn fold_chunk(pending: &mut [f64; CHUNK], output: &mut [f32]) -> f64 {
    let mut left = 0.0;
    for (pending, output) in pending.iter_mut().zip(output) {
        let sum = f64::from(*output) + *pending;
        let rounded = sum as f32;
        if *pending != 0.0 && rounded.is_finite() {
            *output = rounded;
            *pending = sum - f64::from(rounded);
        }
        left = f64::max(left, pending.abs());
    }
    left
}
