//! What repairs change in outputs that were returned already.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::protocol::StreamId;

/// Elements that are kept together: some packets' worth, and few enough look-ups for a bucket of which all was corrected.
const CHUNK: usize = 1024;

/// Differences to be added to the next output of each stream.
///
/// Kept as f64, with what the rounding of earlier additions left: at any time the outputs of a stream plus what is pending
/// for it are what the outputs would be without loss, to 2^-53. What rounding left is at most half a unit in the last place
/// of the output that took the correction, and is added again as soon as an output is small enough to hold it; other
/// outputs keep their bits.
///
/// Limits: 8 bytes for each element that was ever corrected.
#[derive(Clone, Debug, Default)]
pub struct Corrections {
    /// By stream and index of the first element.
    pending: BTreeMap<(StreamId, usize), Box<[f64; CHUNK]>>,
    /// Streams with more than what rounding left.
    fresh: BTreeSet<StreamId>,
}

/// A correction that does not fit its stream. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "bucket {}: {what} of {found} elements from {first_element} on, expected {expected}; the bucket has {}",
    stream.bucket, stream.elements
)]
pub struct CorrectionError {
    /// The stream.
    pub stream: StreamId,
    /// What does not fit.
    pub what: &'static str,
    /// First element in the bucket.
    pub first_element: usize,
    /// Elements given.
    pub found: usize,
    /// Elements expected.
    pub expected: usize,
}

/// What was added to an output.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Folded {
    /// Whether the output contains a repair that no output before it had.
    pub corrected: bool,
    /// Largest magnitude that is still pending: what rounding left, or an output that is not finite could not take.
    pub pending_max: f64,
}

impl Corrections {
    /// Notes that elements of a stream from `first_element` on, returned as `old` (`None`: the update was skipped, nothing
    /// was applied), should have been `repaired`. Returns how many elements no sum can correct, because the difference is
    /// not finite: they stay as they are.
    ///
    /// # Errors
    /// [`CorrectionError`].
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
        // A whole model may come at once: one look-up a chunk, not one an element.
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

    /// Whether outputs of a stream lack anything that is known.
    pub fn has(&self, stream: StreamId) -> bool {
        self.fresh.contains(&stream) || self.pending.range((stream, 0)..=(stream, usize::MAX)).next().is_some()
    }

    /// Adds what is pending for a stream to its next output, once. Elements without a correction keep their bits.
    ///
    /// # Errors
    /// [`CorrectionError`]; what is pending stays.
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

    /// Drops what rounding left for a stream, so that its next outputs are those of a rank that lost nothing. What no `f32`
    /// holds stays.
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

    /// Whether any stream has more pending than what rounding left.
    pub fn is_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Forgets the streams that `is_gone`; returns how many elements of them were still to be corrected.
    pub fn forget(&mut self, is_gone: impl Fn(&StreamId) -> bool) -> usize {
        let gone: Vec<_> = self.pending.extract_if(.., |(stream, _), _| is_gone(stream)).collect();
        let fresh: Vec<_> = self.fresh.extract_if(.., |stream| is_gone(stream)).collect();
        let lost = gone.iter().filter(|((stream, _), _)| fresh.contains(stream));
        lost.flat_map(|(_, chunk)| chunk.iter()).filter(|pending| **pending != 0.0).count()
    }
}

/// Adds what is pending to as many elements; the largest magnitude that is still pending.
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
