//! Messages between ranks on the control channel, and their encoding.
//!
//! A message is a version (1 byte), a tag (1 byte), and its fields in the order of the tables
//! below. Integers and `f64` are in network byte order, `f32` is little-endian as in packets. A
//! list starts with its length (4 bytes). A set of ranks starts with its number of 64-bit words (2
//! bytes), which must match the world size. A [`Kind`] is its index (1 byte), a [`Stream`] an
//! optional generation.
//!
//! | tag | message |
//! |---|---|
//! | 0x01-0x0a | [`MembershipMessage`] |
//! | 0x10, 0x11 | [`VoteMessage`] |
//! | 0x20-0x23 | [`RepairMessage`] |
//! | 0x30, 0x31 | [`CallMessage`] |
//! | 0x40-0x47 | [`PartialMessage`] |
//! | 0x50 | [`ArmingMessage`] |
//!
//! To add a message, add a variant to one of these enums or to [`Message`], and its tag below. Tags
//! are never reused. All ranks of a job run the same release, so only one version is valid;
//! [`VERSION`] increases with every change.

mod codec;

use thiserror::Error;

use self::codec::{Reader, Tagged, Wire, wire_enum, wire_struct};
use super::arming::ArmingMessage;
use super::calls::{CallInfo, CallMessage};
use super::membership::{Ballot, MembershipMessage, Request, Settings, View};
use super::partial_reduce::{BadPartialMessage, ElementRange, GroupMember, GroupPlan, PartialMessage};
use super::repair::{BadRepairMessage, BeatRange, RepairMessage, WindowKey};
use super::stream::Stream;
use super::types::Kind;
use super::votes::VoteMessage;

/// First byte of every message.
pub const VERSION: u8 = 7;
/// Maximum length of a message in bytes.
pub const MESSAGE_BYTES_MAX: usize = 1 << 17;

/// Message from one rank to another.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)] // described above
pub enum Message {
    Membership(MembershipMessage),
    Vote(VoteMessage),
    Repair(RepairMessage),
    Call(CallMessage),
    Partial(PartialMessage),
    Arming(ArmingMessage),
}

/// A message of `bytes` bytes from rank `from` that cannot be decoded. It had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("message of {bytes} bytes from rank {from}: {what}; check that all ranks run the same release")]
#[allow(missing_docs)] // described above
pub struct MalformedMessage {
    pub from: usize,
    pub bytes: usize,
    #[source]
    pub what: Malformed,
}

/// Defect of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)] // described above
pub enum Malformed {
    #[error("too long, expected at most {MESSAGE_BYTES_MAX} bytes")]
    TooLong,
    #[error("version {found}, expected {VERSION}")]
    Version { found: u8 },
    #[error("unknown tag {found:#04x}")]
    Tag { found: u8 },
    #[error("ends within `{field}`: {needed} bytes needed, {left} left")]
    Truncated { field: &'static str, needed: usize, left: usize },
    #[error("{bytes} bytes after the last field")]
    Trailing { bytes: usize },
    #[error("`{field}` is {found}, expected 0 or 1")]
    Flag { field: &'static str, found: u8 },
    #[error("`{field}` is {found}, expected 0 to {max}")]
    Choice { field: &'static str, found: u8, max: u8 },
    #[error("`{field}` has {found} words of 64 ranks, expected {expected} for a job of {ranks} ranks")]
    RankWords { field: &'static str, found: usize, expected: usize, ranks: usize },
    #[error("`{field}` holds rank {rank}, expected ranks below {ranks}")]
    Rank { field: &'static str, rank: usize, ranks: usize },
    #[error(transparent)]
    Repair(#[from] BadRepairMessage),
    #[error(transparent)]
    Partial(#[from] BadPartialMessage),
}

impl Message {
    /// Encodes the message. Receivers refuse repair messages that fail [`RepairMessage::check`].
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        match self {
            Self::Membership(message) => message.write(&mut out),
            Self::Vote(message) => message.write(&mut out),
            Self::Repair(message) => message.write(&mut out),
            Self::Call(message) => message.write(&mut out),
            Self::Partial(message) => message.write(&mut out),
            Self::Arming(message) => message.write(&mut out),
        }
        out
    }

    /// Decodes a message from rank `from`. Accepts only the output of [`encode`](Self::encode).
    ///
    /// # Errors
    /// [`MalformedMessage`] names the sender, the defect and the expected value.
    pub fn decode(from: usize, ranks: usize, bytes: &[u8]) -> Result<Self, MalformedMessage> {
        read(bytes, ranks).map_err(|what| MalformedMessage { from, bytes: bytes.len(), what })
    }
}

fn read(bytes: &[u8], ranks: usize) -> Result<Message, Malformed> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(Malformed::TooLong);
    }
    let mut input = Reader::new(bytes, ranks);
    match u8::read(&mut input, "version")? {
        VERSION => {}
        found => return Err(Malformed::Version { found }),
    }
    let tag = u8::read(&mut input, "tag")?;
    let message = match tag {
        tag if MembershipMessage::TAGS.contains(&tag) => Message::Membership(Tagged::read(tag, &mut input)?),
        tag if VoteMessage::TAGS.contains(&tag) => Message::Vote(Tagged::read(tag, &mut input)?),
        tag if CallMessage::TAGS.contains(&tag) => Message::Call(Tagged::read(tag, &mut input)?),
        tag if RepairMessage::TAGS.contains(&tag) => {
            let message: RepairMessage = Tagged::read(tag, &mut input)?;
            message.check()?;
            Message::Repair(message)
        }
        tag if PartialMessage::TAGS.contains(&tag) => {
            let message: PartialMessage = Tagged::read(tag, &mut input)?;
            message.check(ranks)?;
            Message::Partial(message)
        }
        tag if ArmingMessage::TAGS.contains(&tag) => Message::Arming(Tagged::read(tag, &mut input)?),
        found => return Err(Malformed::Tag { found }),
    };
    match input.left() {
        0 => Ok(message),
        bytes => Err(Malformed::Trailing { bytes }),
    }
}

wire_enum!(MembershipMessage {
    0x01 => Progress { number, next_op },
    0x02 => Suspect { number, suspects },
    0x03 => Request { number, request },
    0x04 => Join { incarnation },
    0x05 => Prepare { number, ballot },
    0x06 => Promise { number, ballot, next_op, accepted },
    0x07 => Accept { ballot, view },
    0x08 => Accepted { number, ballot },
    0x09 => Views { views },
    0x0a => Waits { number },
    0x0b => Behind { number, next_op },
});
wire_struct!(Ballot { attempt, rank });
wire_struct!(View { number, ranks, first_op, joined, epoch, settings });
wire_struct!(Settings { hadamard, bound_ns, fallback });
wire_struct!(Request { hadamard, bound_ns, fallback });

wire_enum!(VoteMessage {
    0x10 => Vote { op, live, skip, left_ns },
    0x11 => Decision { op, skip },
});

wire_enum!(RepairMessage {
    0x20 => Request { key, ranges },
    0x21 => Answer { key, first, values },
    0x22 => Gone { key },
    0x23 => Nobody { key, beats },
});
wire_enum!(CallMessage {
    0x30 => Ask { op, call },
    0x31 => Tell { op, call },
});
wire_struct!(CallInfo { kind, bucket, elements, hadamard, bf16, stream, misfit });

impl Wire for Kind {
    fn write(&self, out: &mut Vec<u8>) {
        (*self as u8).write(out);
    }

    fn read(input: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let (found, max) = (u8::read(input, field)?, Self::ALL.len() as u8 - 1);
        Self::ALL.get(usize::from(found)).copied().ok_or(Malformed::Choice { field, found, max })
    }
}

impl Wire for Stream {
    fn write(&self, out: &mut Vec<u8>) {
        let generation = match self {
            Self::OneOff => None,
            Self::Declared { generation } => Some(*generation),
        };
        generation.write(out);
    }

    fn read(input: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let generation = Option::read(input, field)?;
        Ok(generation.map_or(Self::OneOff, |generation| Self::Declared { generation }))
    }
}
wire_enum!(PartialMessage {
    0x40 => Ready { view, iteration, number },
    0x41 => Alive { view },
    0x42 => Group { group },
    0x43 => Leave {},
    0x44 => Ask { op, ranges },
    0x45 => Answer { op, first, values },
    0x46 => Gone { op },
    0x47 => Done { number },
});
wire_struct!(GroupPlan { number, iteration, is_full, members });
wire_struct!(GroupMember { rank, iteration, weight });
wire_struct!(ElementRange { first, count });
wire_struct!(WindowKey { op, bucket, window });
wire_struct!(BeatRange { first, count });
wire_enum!(ArmingMessage {
    0x50 => Armed { op },
});

#[cfg(test)]
mod tests;
