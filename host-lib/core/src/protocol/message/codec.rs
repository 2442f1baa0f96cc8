//! Encoding of values. Each value has exactly one encoding; all others are refused.

use optireduce_contract::ranks::words_for;

use super::super::types::Ranks;
use super::Malformed;

pub(super) trait Wire: Sized {
    fn write(&self, out: &mut Vec<u8>);

    /// `field`: name in errors.
    fn read(input: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed>;
}

pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    ranks: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8], ranks: usize) -> Self {
        Self { bytes, ranks }
    }

    pub fn take<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Malformed> {
        let missing = Malformed::Truncated { field, needed: N, left: self.bytes.len() };
        let (taken, rest) = self.bytes.split_first_chunk().ok_or(missing)?;
        self.bytes = rest;
        Ok(*taken)
    }

    pub fn left(&self) -> usize {
        self.bytes.len()
    }
}

macro_rules! integers {
    ($($integer:ty),*) => {
        $(impl Wire for $integer {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend(self.to_be_bytes());
            }

            fn read(input: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
                input.take(field).map(Self::from_be_bytes)
            }
        })*
    };
}

integers!(u8, u16, u32, u64);

impl Wire for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.push((*self).into());
    }

    fn read(input: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        match u8::read(input, field)? {
            0 => Ok(false),
            1 => Ok(true),
            found => Err(Malformed::Flag { field, found }),
        }
    }
}

/// The number of words (2 bytes), then the words. Ranks outside the job are refused.
impl Wire for Ranks {
    fn write(&self, out: &mut Vec<u8>) {
        (self.words().len() as u16).write(out);
        self.words().iter().for_each(|word| word.write(out));
    }

    fn read(input: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let ranks = input.ranks;
        let (found, expected) = (usize::from(u16::read(input, field)?), words_for(ranks));
        if found != expected {
            return Err(Malformed::RankWords { field, found, expected, ranks });
        }
        let words: Result<_, _> = (0..found).map(|_| u64::read(input, field)).collect();
        let set = Self::of_words(words?);
        let outside = set.iter().find(|rank| *rank >= ranks);
        outside.map_or(Ok(set), |rank| Err(Malformed::Rank { field, rank, ranks }))
    }
}

impl Wire for f32 {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }

    fn read(input: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        input.take(field).map(Self::from_le_bytes)
    }
}

impl Wire for f64 {
    fn write(&self, out: &mut Vec<u8>) {
        self.to_bits().write(out);
    }

    fn read(input: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        u64::read(input, field).map(Self::from_bits)
    }
}

/// The presence as a flag, then the value.
impl<T: Wire> Wire for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        self.iter().for_each(|value| value.write(out));
    }

    fn read(input: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        Ok(if bool::read(input, field)? { Some(T::read(input, field)?) } else { None })
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }

    fn read(input: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        Ok((A::read(input, field)?, B::read(input, field)?))
    }
}

/// The length (4 bytes), then the values.
impl<T: Wire> Wire for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u32).write(out);
        self.iter().for_each(|value| value.write(out));
    }

    fn read(input: &mut Reader<'_>, field: &'static str) -> Result<Self, Malformed> {
        let length = u32::read(input, field)? as usize;
        // A false length must not cause a large allocation; each value has at least one byte.
        if length > input.left() {
            return Err(Malformed::Truncated { field, needed: length, left: input.left() });
        }
        (0..length).map(|_| T::read(input, field)).collect()
    }
}

/// Encodes a struct as its fields in this order. Omitted fields do not compile.
macro_rules! wire_struct {
    ($name:ty { $($field:ident),* $(,)? }) => {
        impl Wire for $name {
            fn write(&self, out: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $($field.write(out);)*
            }

            fn read(input: &mut Reader<'_>, _: &'static str) -> Result<Self, Malformed> {
                Ok(Self { $($field: Wire::read(input, stringify!($field))?),* })
            }
        }
    };
}
pub(super) use wire_struct;

/// Encodes an enum as the tag of its variant (1 byte) and the fields in this order. Omitted
/// variants and fields do not compile.
macro_rules! wire_enum {
    ($name:ty { $($tag:literal => $variant:ident { $($field:ident),* $(,)? }),* $(,)? }) => {
        impl Tagged for $name {
            const TAGS: &'static [u8] = &[$($tag),*];

            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant { $($field),* } => {
                        out.push($tag);
                        $($field.write(out);)*
                    })*
                }
            }

            fn read(tag: u8, input: &mut Reader<'_>) -> Result<Self, Malformed> {
                match tag {
                    $($tag => Ok(Self::$variant { $($field: Wire::read(input, stringify!($field))?),* }),)*
                    found => Err(Malformed::Tag { found }),
                }
            }
        }
    };
}
pub(super) use wire_enum;

pub(super) trait Tagged: Sized {
    const TAGS: &'static [u8];

    fn write(&self, out: &mut Vec<u8>);

    fn read(tag: u8, input: &mut Reader<'_>) -> Result<Self, Malformed>;
}
