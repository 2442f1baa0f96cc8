//! What ranks tell one another outside packets, on the control channel, and its one encoding.
//!
//! A message is a version (1 byte), a tag that says what it is (1 byte), and the fields of that message, in the order of the
//! tables below: integers in network byte order, floats as in packets, lists with their length (4 bytes) first, sets of ranks
//! with their words of 64 ranks (2 bytes) first, as many as the ranks of the job take. The tags:
//!
//! | tag | message | fields |
//! |---|---|---|
//! | 0x01-0x0a | [`Message::Membership`] | those of [`MembershipMessage`]'s variants, in order |
//! | 0x10, 0x11 | [`Message::Vote`] | those of [`VoteMessage`]'s variants, in order |
//! | 0x20-0x23 | [`Message::Repair`] | those of [`RepairMessage`]'s variants, in order |
//! | 0x30, 0x31 | [`Message::Call`] | those of [`CallMessage`]'s variants, in order; the kind is its place in [`Kind`], the stream the generation if there is one |
//! | 0x40-0x47 | [`Message::Partial`] | those of [`PartialMessage`]'s variants, in order |
//! | 0x50 | [`Message::Arming`] | those of [`ArmingMessage`]'s variants, in order |
//!
//! To add a message: a variant of one of these enums, or of [`Message`], and its tag in the tables below; the compiler
//! finds what is missing. Tags are never used again for something else. All ranks of a job run the same release, so there is
//! one version, and [`VERSION`] goes up with every change.
//! Source: ours.

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

/// The first byte of every message.
pub const VERSION: u8 = 6;
/// Bytes of the longest message.
pub const MESSAGE_BYTES_MAX: usize = 1 << 17;

/// What a rank tells another.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// Which view comes next.
    Membership(MembershipMessage),
    /// Whether an update is skipped.
    Vote(VoteMessage),
    /// What a broadcast stage lost.
    Repair(RepairMessage),
    /// What a rank calls.
    Call(CallMessage),
    /// Who averages models with whom, and what a group has lost.
    Partial(PartialMessage),
    /// Which collective a card is ready for.
    Arming(ArmingMessage),
}

/// Bytes that are no message. Nothing of them was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("message of {bytes} bytes from rank {from}: {what}; check that all ranks run the same release")]
pub struct MalformedMessage {
    /// The sender.
    pub from: usize,
    /// Length of the message.
    pub bytes: usize,
    /// What is wrong with it.
    #[source]
    pub what: Malformed,
}

/// What is wrong with the bytes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Malformed {
    /// Longer than any message.
    #[error("too long, expected at most {MESSAGE_BYTES_MAX} bytes")]
    TooLong,
    /// Of another version.
    #[error("version {found}, expected {VERSION}")]
    Version {
        /// The first byte.
        found: u8,
    },
    /// No message has this tag.
    #[error("unknown tag {found:#04x}")]
    Tag {
        /// The second byte.
        found: u8,
    },
    /// The bytes end within a field.
    #[error("ends within `{field}`: {needed} bytes needed, {left} left")]
    Truncated {
        /// Name of the field.
        field: &'static str,
        /// Bytes that the field takes at least.
        needed: usize,
        /// Bytes there are.
        left: usize,
    },
    /// Bytes follow the last field.
    #[error("{bytes} bytes after the last field")]
    Trailing {
        /// How many.
        bytes: usize,
    },
    /// A field that is true or false is neither.
    #[error("`{field}` is {found}, expected 0 or 1")]
    Flag {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        found: u8,
    },
    /// A field names something by its number, and nothing has this one.
    #[error("`{field}` is {found}, expected 0 to {max}")]
    Choice {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        found: u8,
        /// Largest value allowed.
        max: u8,
    },
    /// A set of ranks is not of the size that the job takes.
    #[error("`{field}` has {found} words of 64 ranks, expected {expected} for a job of {ranks} ranks")]
    RankWords {
        /// Name of the field.
        field: &'static str,
        /// Words of the set.
        found: usize,
        /// Words that the ranks of the job take.
        expected: usize,
        /// Ranks of the job.
        ranks: usize,
    },
    /// A set of ranks holds one that the job does not have.
    #[error("`{field}` holds rank {rank}, expected ranks below {ranks}")]
    Rank {
        /// Name of the field.
        field: &'static str,
        /// The rank.
        rank: usize,
        /// Ranks of the job.
        ranks: usize,
    },
    /// A repair message breaks a limit.
    #[error(transparent)]
    Repair(#[from] BadRepairMessage),
    /// A partial-reduce message breaks a limit.
    #[error(transparent)]
    Partial(#[from] BadPartialMessage),
}

impl Message {
    /// The bytes of the message. Those of a repair message that breaks a limit ([`RepairMessage::check`]) are refused by the
    /// receiver.
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

    /// Reads a message of rank `from` in a job of `ranks`. Bytes that [`encode`](Self::encode) does not write are an error.
    ///
    /// # Errors
    /// [`MalformedMessage`] names the sender, what is wrong, and what was expected.
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
