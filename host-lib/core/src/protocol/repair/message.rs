//! Messages about repairs on the control channel, and their limits.

use optireduce_contract::limits::LANES;
use thiserror::Error;

use super::{BeatRange, WindowKey};

/// Maximum number of ranges in a request.
pub const RANGES_MAX: usize = 256;
/// Maximum number of beats in an answer: 64 KiB.
pub const ANSWER_BEATS_MAX: usize = 1024;

/// Message about one shard of window `key`.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // fields described with the variants
pub enum RepairMessage {
    /// To the owner: missing beats. 1 to [`RANGES_MAX`] ranges, in order and not adjacent.
    Request { key: WindowKey, ranges: Vec<BeatRange> },
    /// From the owner: 1 to [`ANSWER_BEATS_MAX`] whole beats as sent.
    Answer { key: WindowKey, first: u16, values: Vec<f32> },
    /// From the owner: it does not have the beats.
    Gone { key: WindowKey },
    /// From the owner: no contribution to these beats arrived in time, so their mean is zero.
    Nobody { key: WindowKey, beats: BeatRange },
}

/// A message that breaks a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("repair message: {what} is {found}, expected {expected}")]
#[allow(missing_docs)] // described above
pub struct BadRepairMessage {
    pub what: &'static str,
    pub found: usize,
    pub expected: usize,
}

impl RepairMessage {
    /// Window of the message.
    pub fn key(&self) -> WindowKey {
        match self {
            Self::Request { key, .. } | Self::Answer { key, .. } | Self::Gone { key } | Self::Nobody { key, .. } => {
                *key
            }
        }
    }

    /// Checks the limits.
    ///
    /// # Errors
    /// [`BadRepairMessage`] names the broken limit.
    pub fn check(&self) -> Result<(), BadRepairMessage> {
        let window_beats_max = usize::from(u16::MAX);
        match self {
            Self::Request { ranges, .. } => {
                within("number of ranges", ranges.len(), RANGES_MAX)?;
                let mut free = 0;
                for beats in ranges.iter().map(BeatRange::beats) {
                    if beats.start < free {
                        return Err(BadRepairMessage { what: "first beat", found: beats.start, expected: free });
                    }
                    within("beats of a range", beats.len(), window_beats_max)?;
                    within("end of a range", beats.end, window_beats_max)?;
                    free = beats.end + 1;
                }
                Ok(())
            }
            Self::Answer { first, values, .. } => {
                expect("values beyond whole beats", values.len() % LANES, 0)?;
                let beats = values.len() / LANES;
                within("number of beats", beats, ANSWER_BEATS_MAX)?;
                within("end of the answer", usize::from(*first) + beats, window_beats_max)
            }
            Self::Gone { .. } => Ok(()),
            Self::Nobody { beats, .. } => {
                within("beats of a range", beats.beats().len(), window_beats_max)?;
                within("end of a range", beats.beats().end, window_beats_max)
            }
        }
    }
}

fn expect(what: &'static str, found: usize, expected: usize) -> Result<(), BadRepairMessage> {
    if found == expected { Ok(()) } else { Err(BadRepairMessage { what, found, expected }) }
}

fn within(what: &'static str, found: usize, most: usize) -> Result<(), BadRepairMessage> {
    if (1..=most).contains(&found) { Ok(()) } else { Err(BadRepairMessage { what, found, expected: most }) }
}
