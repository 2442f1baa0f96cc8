//! Wire format of point-to-point messages: kind (1 byte), numbers (little-endian), bytes.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tag {
    pub space: Space,
    pub tag: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    Caller,
    Fault = 2,
}

/// `id`: the sender's number of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Note<'a> {
    /// Eager message with its first bytes, or announcement.
    Begin {
        id: u64,
        tag: Tag,
        bytes: u64,
        unasked: bool,
        data: &'a [u8],
    },
    Data {
        id: u64,
        data: &'a [u8],
    },
    /// From the receiver: request up to byte `up_to`.
    Ask {
        id: u64,
        up_to: u64,
    },
    /// From the receiver: eager messages of this cost were matched.
    Matched {
        cost: u64,
    },
    /// From the sender: the rest will not be sent.
    Withdrawn {
        id: u64,
    },
    /// From the receiver.
    Refused {
        id: u64,
        reason: &'a str,
    },
}

impl<'a> Note<'a> {
    pub fn encode(&self) -> Vec<u8> {
        let (id, data): (_, &[u8]) = match self {
            Self::Begin { id, data, .. } | Self::Data { id, data } => (*id, data),
            Self::Refused { id, reason } => (*id, reason.as_bytes()),
            Self::Ask { id, .. } | Self::Withdrawn { id } => (*id, &[]),
            Self::Matched { cost } => (*cost, &[]),
        };
        let mut note = Vec::with_capacity(HEAD_BYTES + data.len());
        note.push(match self {
            Self::Begin { unasked: false, .. } => 0,
            Self::Begin { unasked: true, .. } => 1,
            Self::Data { .. } => 2,
            Self::Ask { .. } => 3,
            Self::Matched { .. } => 4,
            Self::Withdrawn { .. } => 5,
            Self::Refused { .. } => 6,
        });
        note.extend(id.to_le_bytes());
        match self {
            Self::Begin { tag, bytes, .. } => {
                note.push(tag.space as u8);
                note.extend(tag.tag.to_le_bytes());
                note.extend(bytes.to_le_bytes());
            }
            Self::Ask { up_to, .. } => note.extend(up_to.to_le_bytes()),
            _ => {}
        }
        note.extend_from_slice(data);
        note
    }

    pub fn decode(note: &'a [u8]) -> Option<Self> {
        let (kind, rest) = note.split_first()?;
        let (id, rest) = rest.split_first_chunk()?;
        let id = u64::from_le_bytes(*id);
        Some(match kind {
            0 | 1 => {
                let (space, rest) = rest.split_first()?;
                let space = [Space::Caller, Space::Fault].into_iter().find(|known| *known as u8 == *space)?;
                let (tag, rest) = rest.split_first_chunk()?;
                let (bytes, data) = rest.split_first_chunk()?;
                let tag = Tag { space, tag: u32::from_le_bytes(*tag) };
                Self::Begin { id, tag, bytes: u64::from_le_bytes(*bytes), unasked: *kind == 1, data }
            }
            2 => Self::Data { id, data: rest },
            3 => Self::Ask { id, up_to: u64::from_le_bytes(*<&[u8; 8]>::try_from(rest).ok()?) },
            4 if rest.is_empty() => Self::Matched { cost: id },
            5 if rest.is_empty() => Self::Withdrawn { id },
            6 => Self::Refused { id, reason: str::from_utf8(rest).ok()? },
            _ => return None,
        })
    }
}

/// Without data.
const HEAD_BYTES: usize = 22;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_as_they_were_written_and_never_shorter() {
        let tag = Tag { space: Space::Fault, tag: 0x0807_0605 };
        let notes = [
            Note::Begin { id: 1, tag, bytes: 3, unasked: true, data: &[7, 8, 9] },
            Note::Begin {
                id: u64::MAX,
                tag: Tag { space: Space::Caller, tag: 0 },
                bytes: 9,
                unasked: false,
                data: &[],
            },
            Note::Data { id: 2, data: &[5] },
            Note::Ask { id: 3, up_to: 1 << 40 },
            Note::Matched { cost: 77 },
            Note::Withdrawn { id: 4 },
            Note::Refused { id: 5, reason: "no room" },
        ];
        for note in notes {
            let bytes = note.encode();
            assert!(bytes.len() <= HEAD_BYTES + 7, "{note:?}");
            assert_eq!(Note::decode(&bytes), Some(note));
            (0..bytes.len()).for_each(|length| assert_ne!(Note::decode(&bytes[..length]), Some(note)));
        }
        assert_eq!(Note::decode(&[7, 0, 0, 0, 0, 0, 0, 0, 0]), None, "no such kind");
        assert_eq!(
            Note::decode(&[0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            None,
            "no such space"
        );
    }
}
