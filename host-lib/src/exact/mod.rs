//! Element types, operations and arithmetic of exact reductions.
//!
//! Why: parameters, counters and losses that control a decision must be bitwise equal on all ranks,
//! and not all of them are fp32.
//! How: one rank folds each shard, in the order of ranks. fp16 and bf16 are folded in fp32 and
//! rounded once, to nearest even.
//! Differs: `torch.distributed` over Gloo rounds fp16 after every addition.

mod fold;

use std::fmt;

pub(crate) use self::fold::{Fold, fold};

/// Element type of an exact reduction: IEEE 754 numbers, bf16, and integers. Little-endian on the
/// wire and in byte buffers. Booleans are `U8`, as 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)] // described above
pub enum ElementType {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl ElementType {
    /// All element types.
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

    /// Size in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    /// Returns whether this is a floating-point type.
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

/// Operation of an exact reduction. Sums and products of integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)] // described by their names
pub enum ExactOp {
    Sum,
    /// Sum divided by the number of participating ranks, also if the sum itself would overflow.
    /// Floating-point only.
    Avg,
    Product,
    /// NaN if any value is NaN.
    Min,
    /// NaN if any value is NaN.
    Max,
    /// Bitwise, integers only.
    And,
    /// Bitwise, integers only.
    Or,
    /// Bitwise, integers only.
    Xor,
}

impl ExactOp {
    /// All operations.
    pub const ALL: [Self; 8] =
        [Self::Sum, Self::Avg, Self::Product, Self::Min, Self::Max, Self::And, Self::Or, Self::Xor];

    /// Returns whether this operation supports this element type.
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
    pub trait Bytes: Copy + Send + 'static {
        fn to_bytes(values: &[Self]) -> Vec<u8>;
        fn put(bytes: &[u8], values: &mut [Self]);
    }
}

/// Rust type that exact calls support. fp16 and bf16 are passed as [`Typed`].
pub trait Element: sealed::Bytes + Default {
    /// Corresponding element type.
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

/// Values of a type that is known at run time, fp16 and bf16 included. Little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Typed {
    pub element: ElementType,
    pub bytes: Vec<u8>,
}

/// Values of an exact call: `Vec` of an [`Element`], or [`Typed`].
pub trait ExactData: Send + 'static {
    #[doc(hidden)]
    fn into_typed(self) -> Typed;
    #[doc(hidden)]
    fn from_typed(typed: Typed) -> Self;
}

impl<T: Element> ExactData for Vec<T> {
    fn into_typed(self) -> Typed {
        Typed { element: T::TYPE, bytes: T::to_bytes(&self) }
    }

    fn from_typed(typed: Typed) -> Self {
        let mut values = vec![T::default(); typed.bytes.len() / T::TYPE.bytes()];
        T::put(&typed.bytes, &mut values);
        values
    }
}

impl ExactData for Typed {
    fn into_typed(self) -> Typed {
        self
    }

    fn from_typed(typed: Typed) -> Self {
        typed
    }
}
