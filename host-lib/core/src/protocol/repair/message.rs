//! What ranks say to one another about repairs, on the reliable channel.
//!
//! Layout, in network byte order: version and kind (1 byte, high and low 4 bits), a zero byte, collective (4), bucket (2),
//! window (2), first beat (2), count (2); then `count` ranges of first beat (2) and beats (2), or `count` beats of 64 bytes
//! of fp32 in little-endian order as in packets.

use optireduce_contract::limits::{BEAT_BYTES, LANES};
use thiserror::Error;

use super::{BeatRange, WindowKey};

/// Most ranges of a request.
pub const RANGES_MAX: usize = 256;
/// Most beats of an answer: 64 KiB.
pub const ANSWER_BEATS_MAX: usize = 1024;

const VERSION: u8 = 1;
const HEADER_BYTES: usize = 14;
const RANGE_BYTES: usize = 4;

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
}

/// A message that cannot be encoded, or bytes that are none.
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
            Self::Request { key, .. } | Self::Answer { key, .. } | Self::Gone { key } => *key,
        }
    }

    /// Encodes the message.
    ///
    /// # Errors
    /// [`BadRepairMessage`] if it breaks a limit.
    pub fn to_bytes(&self) -> Result<Vec<u8>, BadRepairMessage> {
        self.check()?;
        let (kind, first, count) = match self {
            Self::Request { ranges, .. } => (0, 0, ranges.len()),
            Self::Answer { first, values, .. } => (1, *first, values.len() / LANES),
            Self::Gone { .. } => (2, 0, 0),
        };
        let key = self.key();
        let mut out = vec![VERSION << 4 | kind, 0];
        out.extend(key.op.to_be_bytes());
        for word in [key.bucket, key.window, first, count as u16] {
            out.extend(word.to_be_bytes());
        }
        match self {
            Self::Request { ranges, .. } => {
                out.extend(ranges.iter().flat_map(|range| [range.first, range.count]).flat_map(u16::to_be_bytes));
            }
            Self::Answer { values, .. } => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Self::Gone { .. } => {}
        }
        Ok(out)
    }

    /// Whether the bytes begin as a message does; never those of JSON.
    pub fn is_one(bytes: &[u8]) -> bool {
        bytes.first().is_some_and(|first| first >> 4 == VERSION)
    }

    /// Decodes a message. Whatever [`to_bytes`](Self::to_bytes) would not have written is an error.
    ///
    /// # Errors
    /// [`BadRepairMessage`] says what is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadRepairMessage> {
        let short = BadRepairMessage { what: "length in bytes", found: bytes.len(), expected: HEADER_BYTES };
        let (header, body) = bytes.split_at_checked(HEADER_BYTES).ok_or(short)?;
        let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        expect("version", (header[0] >> 4).into(), VERSION.into())?;
        expect("reserved byte", header[1].into(), 0)?;
        let op = u32::from(word(2)) << 16 | u32::from(word(4));
        let key = WindowKey { op, bucket: word(6), window: word(8) };
        let (first, count) = (word(10), usize::from(word(12)));
        let body_bytes = |unit: usize| expect("length in bytes", bytes.len(), HEADER_BYTES + count * unit);
        let message = match header[0] & 0xf {
            0 => {
                expect("first beat of a request", first.into(), 0)?;
                body_bytes(RANGE_BYTES)?;
                let pair = |range: &[u8]| BeatRange {
                    first: u16::from_be_bytes([range[0], range[1]]),
                    count: u16::from_be_bytes([range[2], range[3]]),
                };
                Self::Request { key, ranges: body.chunks_exact(RANGE_BYTES).map(pair).collect() }
            }
            1 => {
                body_bytes(BEAT_BYTES)?;
                let value = |value: &[u8]| f32::from_le_bytes([value[0], value[1], value[2], value[3]]);
                Self::Answer { key, first, values: body.chunks_exact(4).map(value).collect() }
            }
            2 => {
                expect("first beat of a refusal", first.into(), 0)?;
                expect("count of a refusal", count, 0)?;
                body_bytes(0)?;
                Self::Gone { key }
            }
            kind => return Err(BadRepairMessage { what: "kind", found: kind.into(), expected: 2 }),
        };
        message.check()?;
        Ok(message)
    }

    /// Checks the limits.
    pub(super) fn check(&self) -> Result<(), BadRepairMessage> {
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
