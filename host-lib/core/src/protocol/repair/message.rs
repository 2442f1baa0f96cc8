//! What ranks tell one another about repairs, on the control channel, and its limits.

use optireduce_contract::limits::LANES;
use thiserror::Error;

use super::{BeatRange, WindowKey};

/// Most ranges of a request.
pub const RANGES_MAX: usize = 256;
/// Most beats of an answer: 64 KiB.
pub const ANSWER_BEATS_MAX: usize = 1024;

/// A message about a window's shard.
#[derive(Clone, Debug, PartialEq)]
pub enum RepairMessage {
    /// To the owner: these beats did not come. 1 to [`RANGES_MAX`] ranges, in order, apart from one another.
    Request {
        /// The window.
        key: WindowKey,
        /// Beats of the window.
        ranges: Vec<BeatRange>,
    },
    /// From the owner: 1 to [`ANSWER_BEATS_MAX`] whole beats, as they were sent.
    Answer {
        /// The window.
        key: WindowKey,
        /// First beat.
        first: u16,
        /// 16 values a beat.
        values: Vec<f32>,
    },
    /// From the owner: it does not have what was asked for, or not any more.
    Gone {
        /// The window.
        key: WindowKey,
    },
    /// From the owner: nobody's contribution to these beats came in time, not even its own. Their mean is zero, on all ranks.
    Nobody {
        /// The window.
        key: WindowKey,
        /// The beats.
        beats: BeatRange,
    },
}

/// A message that breaks a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("repair message: {what} is {found}, expected {expected}")]
pub struct BadRepairMessage {
    /// What is wrong.
    pub what: &'static str,
    /// What there is.
    pub found: usize,
    /// What there should be, or the most that is allowed.
    pub expected: usize,
}

impl RepairMessage {
    /// The window that it is about.
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
    /// [`BadRepairMessage`] names the limit that is broken.
    pub fn check(&self) -> Result<(), BadRepairMessage> {
        let window_beats_max = usize::from(u16::MAX);
        match self {
            Self::Request { ranges, .. } => {
                within("number of ranges", ranges.len(), RANGES_MAX)?;
                let mut free = 0;
                for beats in ranges.iter().map(BeatRange::beats) {
                    // At least one beat apart, or they were one range.
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

/// 1 to `most`.
fn within(what: &'static str, found: usize, most: usize) -> Result<(), BadRepairMessage> {
    if (1..=most).contains(&found) { Ok(()) } else { Err(BadRepairMessage { what, found, expected: most }) }
}
