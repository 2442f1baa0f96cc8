//! What exact reductions reduce: element types, operations, and the arithmetic of both.
//!
//! Why: what must be the same on all ranks to the bit (parameters, counters, losses that decide something) is not for bounded
//! stages, and not all of it is fp32.
//! How: values are folded in the order of ranks, by one rank for each shard, so that all ranks get the same bits. Integers wrap;
//! fp16 and bf16 are folded in fp32 and rounded once, to nearest even; NaN of any rank stays in minimum and maximum.
//! Differs: `torch.distributed` over Gloo rounds fp16 after every addition.

mod fold;

use std::fmt;

pub(crate) use self::fold::{Fold, fold};

/// Element type of an exact reduction. On the wire, and in calls that take bytes, values are little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ElementType {
    /// IEEE 754 half precision.
    F16,
    /// The upper half of a single-precision number.
    Bf16,
    /// IEEE 754 single precision.
    F32,
    /// IEEE 754 double precision.
    F64,
    /// 8 bits with a sign.
    I8,
    /// 8 bits without a sign; truth values as 0 and 1.
    U8,
    /// 16 bits with a sign.
    I16,
    /// 16 bits without a sign.
    U16,
    /// 32 bits with a sign.
    I32,
    /// 32 bits without a sign.
    U32,
    /// 64 bits with a sign.
    I64,
    /// 64 bits without a sign.
    U64,
}

impl ElementType {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::F64,
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
    ];

    /// Bytes of a value.
    pub const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
        })
    }
}

/// What an exact reduction makes of the ranks' values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExactOp {
    /// Their sum; integers wrap.
    Sum,
    /// Their mean: the sum, times the reciprocal of the ranks that take part. Floating-point types only.
    Avg,
    /// Their product; integers wrap.
    Product,
    /// The least of them; NaN if one is.
    Min,
    /// The greatest of them; NaN if one is.
    Max,
    /// The bits that all have. Integers only.
    And,
    /// The bits that any has. Integers only.
    Or,
    /// The bits that an odd number of them has. Integers only.
    Xor,
}

impl ExactOp {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::Sum, Self::Avg, Self::Product, Self::Min, Self::Max, Self::And, Self::Or, Self::Xor];

    /// Whether there is such a reduction of this type.
    pub const fn is_for(self, element: ElementType) -> bool {
        match self {
            Self::Sum | Self::Product | Self::Min | Self::Max => true,
            Self::Avg => element.is_float(),
            Self::And | Self::Or | Self::Xor => !element.is_float(),
        }
    }
}

impl fmt::Display for ExactOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Product => "product",
            Self::Min => "min",
            Self::Max => "max",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
        })
    }
}

mod sealed {
    /// What only this crate knows of an element type.
    pub trait Bytes: Copy + Send + 'static {
        /// The bytes of values.
        fn to_bytes(values: &[Self]) -> Vec<u8>;
        /// The values of as many bytes.
        fn put(bytes: &[u8], values: &mut [Self]);
    }
}

pub(crate) use sealed::Bytes;

/// A type of Rust whose values exact reductions take; fp16 and bf16 go as bytes.
pub trait Element: sealed::Bytes + Default {
    /// Its name in calls that take bytes.
    const TYPE: ElementType;
}

macro_rules! elements {
    ($($rust:ident $name:ident),*) => {$(
        impl sealed::Bytes for $rust {
            fn to_bytes(values: &[Self]) -> Vec<u8> {
                let mut bytes = vec![0; size_of_val(values)];
                bytes.as_chunks_mut().0.iter_mut().zip(values).for_each(|(bytes, value)| *bytes = value.to_le_bytes());
                bytes
            }

            fn put(bytes: &[u8], values: &mut [Self]) {
                values.iter_mut().zip(bytes.as_chunks().0).for_each(|(value, bytes)| *value = Self::from_le_bytes(*bytes));
            }
        }

        impl Element for $rust {
            const TYPE: ElementType = ElementType::$name;
        }
    )*};
}

elements!(f32 F32, f64 F64, i8 I8, u8 U8, i16 I16, u16 U16, i32 I32, u32 U32, i64 I64, u64 U64);
