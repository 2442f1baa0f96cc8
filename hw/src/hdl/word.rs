//! Machine-word signal types for rust-hdl: [`W<N>`] (up to 64 bits) and [`Beat`] (512 bits).
//!
//! rust-hdl's `Bits<N>` stores more than 32 bits as an array of `bool` and shifts through big
//! integers, which dominates the simulation of a 512-bit datapath. The emitted Verilog is the same.
//! Limits: arithmetic wraps at N bits. The result of `+ - ! <<` must be assigned to a signal of its
//! exact width before it is compared, sliced or cast (see `hw/README.md`, "Writing a block").

use rust_hdl_core::ast::VerilogLiteral;
use rust_hdl_core::bits::{Bits, bits};
use rust_hdl_core::synth::{Synth, VCDValue};
use rust_hdl_core::type_descriptor::{TypeDescriptor, TypeField, TypeKind};
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Shl, Shr, Sub};

/// Unsigned word of `N` bits, 1 to 64.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct W<const N: usize>(u64);

/// One beat of the datapath: 512 bits in sixteen 32-bit lanes, lane 0 in the low bits.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Beat(pub [u32; 16]);

/// Constant of `N` bits, without the excess bits of `x`. Emitted as a masked literal.
#[inline(always)]
pub const fn bits_w<const N: usize>(x: u64) -> W<N> {
    W(x & W::<N>::MASK)
}

/// Constant beat with `x` in its low 64 bits. Emitted as a literal.
#[inline(always)]
pub const fn bits_beat(x: u64) -> Beat {
    let mut lanes = [0; 16];
    lanes[0] = x as u32;
    lanes[1] = (x >> 32) as u32;
    Beat(lanes)
}

/// Resizes a word: zero-extends or drops high bits.
///
/// Emitted as a mask, so the argument must be a plain signal.
#[inline(always)]
pub const fn bit_cast_w<const M: usize, const N: usize>(x: W<N>) -> W<M> {
    bits_w(x.0)
}

impl<const N: usize> W<N> {
    const MASK: u64 = {
        assert!(N >= 1 && N <= 64, "W<N> holds 1 to 64 bits");
        if N == 64 { u64::MAX } else { (1 << N) - 1 }
    };

    #[inline(always)]
    pub const fn raw(self) -> u64 {
        self.0
    }

    /// `index` must be below `N`.
    #[inline(always)]
    pub fn get_bit(&self, index: usize) -> bool {
        debug_assert!(index < N, "bit {index} of a {N}-bit word");
        self.0 >> index & 1 == 1
    }

    /// Returns `M` bits from bit `offset` upwards. Emitted as a part select.
    #[inline(always)]
    pub fn get_bits<const M: usize>(&self, offset: usize) -> W<M> {
        debug_assert!(offset + M <= N, "bits {offset}..{} of a {N}-bit word", offset + M);
        bits_w(self.0 >> offset)
    }

    #[inline(always)]
    pub fn replace_bit(&self, index: usize, value: bool) -> Self {
        debug_assert!(index < N, "bit {index} of a {N}-bit word");
        W(self.0 & !(1 << index) | (value as u64) << index)
    }

    #[inline(always)]
    pub fn any(&self) -> bool {
        self.0 != 0
    }

    #[inline(always)]
    pub fn all(&self) -> bool {
        self.0 == Self::MASK
    }

    #[inline(always)]
    pub fn index(&self) -> usize {
        self.0 as usize
    }
}

impl<const N: usize> std::fmt::Debug for W<N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{N}'h{:x}", self.0)
    }
}

impl<const N: usize> From<u64> for W<N> {
    /// # Panics
    /// If the value does not fit, since truncating a literal would hide a design error.
    #[inline(always)]
    fn from(x: u64) -> Self {
        assert!(x <= Self::MASK, "{x:#x} does not fit in {N} bits");
        W(x)
    }
}

impl<const N: usize> From<W<N>> for Bits<N> {
    fn from(x: W<N>) -> Self {
        bits::<N>(x.0)
    }
}

macro_rules! binary_operator {
    ($trait:ident, $method:ident, $f:expr) => {
        impl<const N: usize> $trait for W<N> {
            type Output = W<N>;
            #[inline(always)]
            fn $method(self, rhs: W<N>) -> W<N> {
                let f: fn(u64, u64) -> u64 = $f;
                bits_w(f(self.0, rhs.0))
            }
        }
        impl<const N: usize> $trait<u64> for W<N> {
            type Output = W<N>;
            #[inline(always)]
            fn $method(self, rhs: u64) -> W<N> {
                let f: fn(u64, u64) -> u64 = $f;
                bits_w(f(self.0, rhs))
            }
        }
    };
}
binary_operator!(Add, add, u64::wrapping_add);
binary_operator!(Sub, sub, u64::wrapping_sub);
binary_operator!(BitAnd, bitand, |a, b| a & b);
binary_operator!(BitOr, bitor, |a, b| a | b);
binary_operator!(BitXor, bitxor, |a, b| a ^ b);

impl<const N: usize> Not for W<N> {
    type Output = W<N>;
    #[inline(always)]
    fn not(self) -> W<N> {
        bits_w(!self.0)
    }
}

macro_rules! shift_operator {
    ($trait:ident, $method:ident, $checked:ident) => {
        impl<const N: usize, const M: usize> $trait<W<M>> for W<N> {
            type Output = W<N>;
            #[inline(always)]
            fn $method(self, rhs: W<M>) -> W<N> {
                self.$method(rhs.0)
            }
        }
        impl<const N: usize> $trait<u64> for W<N> {
            type Output = W<N>;
            #[inline(always)]
            fn $method(self, rhs: u64) -> W<N> {
                bits_w(u32::try_from(rhs).ok().and_then(|by| self.0.$checked(by)).unwrap_or(0))
            }
        }
    };
}
shift_operator!(Shl, shl, checked_shl);
shift_operator!(Shr, shr, checked_shr);

macro_rules! full_product {
    ($($n:literal x $m:literal => $p:literal),*) => {$(
        impl Mul<W<$m>> for W<$n> {
            type Output = W<$p>;
            #[inline(always)]
            fn mul(self, rhs: W<$m>) -> W<$p> {
                bits_w(self.0 * rhs.0)
            }
        }
    )*};
}
// Assign a product directly to a signal of the result's width: Verilog takes the width from the
// target.
full_product!(24 x 17 => 41, 24 x 7 => 31, 16 x 16 => 32, 15 x 7 => 22, 8 x 8 => 16, 24 x 24 => 48);

impl<const N: usize> PartialEq<u64> for W<N> {
    #[inline(always)]
    fn eq(&self, other: &u64) -> bool {
        self.0 == *other
    }
}

impl<const N: usize> PartialOrd<u64> for W<N> {
    #[inline(always)]
    fn partial_cmp(&self, other: &u64) -> Option<std::cmp::Ordering> {
        self.0.partial_cmp(other)
    }
}

impl<const N: usize> Synth for W<N> {
    const BITS: usize = N;
    fn descriptor() -> TypeDescriptor {
        TypeDescriptor { name: format!("W::<{N}>"), kind: TypeKind::Bits(N) }
    }
    fn vcd(self) -> VCDValue {
        Bits::from(self).into()
    }
    fn verilog(self) -> VerilogLiteral {
        Bits::from(self).into()
    }
}

impl Beat {
    /// `index` must be below 512.
    #[inline(always)]
    pub fn get_bit(&self, index: usize) -> bool {
        debug_assert!(index < 512, "bit {index} of a beat");
        self.0[index / 32] >> (index % 32) & 1 == 1
    }

    /// Returns `M` bits (at most 64) from bit `offset` upwards. Emitted as a part select.
    #[inline(always)]
    pub fn get_bits<const M: usize>(&self, offset: usize) -> W<M> {
        debug_assert!(offset + M <= 512, "bits {offset}..{} of a beat", offset + M);
        let lane = offset / 32;
        let word = |i: usize| self.0.get(i).copied().unwrap_or(0) as u128;
        let wide = word(lane) | word(lane + 1) << 32 | word(lane + 2) << 64;
        bits_w((wide >> (offset % 32)) as u64)
    }

    /// Replaces `M` bits from `offset` upwards.
    pub fn put_bits<const M: usize>(&mut self, offset: usize, word: W<M>) {
        debug_assert!(offset + M <= 512, "bits {offset}..{} of a beat", offset + M);
        let mask = (1_u128 << M) - 1;
        for lane in offset / 32..(offset + M).div_ceil(32) {
            // Bits of the word below this lane, and bits of the lane below the word.
            let (below, above) = ((32 * lane).saturating_sub(offset), offset.saturating_sub(32 * lane));
            let bits = |word: u128| (word >> below << above) as u32;
            self.0[lane] = self.0[lane] & !bits(mask) | bits(word.raw().into());
        }
    }

    /// Byte i holds bits 8i to 8i + 7.
    pub fn to_bytes(self) -> [u8; 64] {
        let mut out = [0; 64];
        for (chunk, lane) in out.chunks_exact_mut(4).zip(self.0) {
            chunk.copy_from_slice(&lane.to_le_bytes());
        }
        out
    }

    /// Inverse of [`to_bytes`](Beat::to_bytes).
    pub fn from_bytes(bytes: &[u8; 64]) -> Self {
        Beat(std::array::from_fn(|i| {
            u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]])
        }))
    }
}

impl std::fmt::Debug for Beat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("512'h")?;
        self.0.iter().rev().try_for_each(|lane| write!(f, "{lane:08x}"))
    }
}

impl From<Beat> for Bits<512> {
    fn from(x: Beat) -> Self {
        let mut wide = [false; 512];
        for (i, bit) in wide.iter_mut().enumerate() {
            *bit = x.0[i / 32] >> (i % 32) & 1 == 1;
        }
        Bits::Long(wide.into())
    }
}

impl Synth for Beat {
    const BITS: usize = 512;
    fn descriptor() -> TypeDescriptor {
        TypeDescriptor { name: "Beat".into(), kind: TypeKind::Bits(512) }
    }
    fn vcd(self) -> VCDValue {
        Bits::from(self).into()
    }
    fn verilog(self) -> VerilogLiteral {
        Bits::from(self).into()
    }
}

#[doc(hidden)]
pub type FieldDescriptor = (&'static str, fn() -> TypeDescriptor);

#[doc(hidden)]
pub fn struct_descriptor(name: &str, fields: &[FieldDescriptor]) -> TypeDescriptor {
    let field = |(name, kind): &FieldDescriptor| Box::new(TypeField { fieldname: (*name).into(), kind: kind() });
    TypeDescriptor { name: name.into(), kind: TypeKind::Composite(fields.iter().map(field).collect()) }
}

#[doc(hidden)]
pub fn struct_literal<const N: usize>(fields: &[(usize, VerilogLiteral)]) -> VerilogLiteral {
    let mut bits = [false; N];
    set_fields(&mut bits, fields);
    Bits::<N>::Long(bits.into()).into()
}

// rust-hdl exposes the value of a literal only as hexadecimal text.
fn set_fields(bits: &mut [bool], fields: &[(usize, VerilogLiteral)]) {
    let mut rest = bits;
    for (width, literal) in fields {
        let (field, above) = rest.split_at_mut(*width);
        rest = above;
        let text = format!("{literal:x}");
        let digits = text.split_once("'h").expect("a literal has a base").1.bytes().rev();
        for (four, digit) in field.chunks_mut(4).zip(digits) {
            let digit = (digit as char).to_digit(16).expect("a hexadecimal digit");
            four.iter_mut().enumerate().for_each(|(i, bit)| *bit = digit >> i & 1 == 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wrap_at_their_width() {
        assert_eq!(bits_w::<8>(200) + bits_w::<8>(100), bits_w::<8>(44));
        assert_eq!(bits_w::<8>(0) - bits_w::<8>(1), bits_w::<8>(255));
        assert_eq!(!bits_w::<3>(5), bits_w::<3>(2));
        assert_eq!(bits_w::<64>(1) << bits_w::<7>(64), bits_w::<64>(0));
    }

    #[test]
    fn beats_slice_across_lanes_and_keep_their_bytes() {
        let bytes: [u8; 64] = std::array::from_fn(|i| i as u8);
        let beat = Beat::from_bytes(&bytes);
        assert_eq!(beat.to_bytes(), bytes);
        assert_eq!(beat.get_bits::<16>(24), bits_w::<16>(0x0403));
        assert_eq!(beat.get_bits::<48>(8 * 42), bits_w::<48>(0x2f2e_2d2c_2b2a));
        let mut put = Beat([0xaaaa_5555; 16]);
        put.put_bits(3, bits_w::<64>(0x0123_4567_89ab_cdef));
        put.put_bits(32 * 15, bits_w::<32>(7));
        assert_eq!(put.get_bits::<64>(3), bits_w::<64>(0x0123_4567_89ab_cdef));
        assert_eq!((put.get_bits::<3>(0), put.get_bits::<29>(67)), (bits_w::<3>(5), bits_w::<29>(0xaaaa_5555 >> 3)));
        assert_eq!(put.0[3..], [[0xaaaa_5555; 12].as_slice(), &[7]].concat());
        let literal = format!("{:x}", beat.verilog());
        assert!(literal.starts_with("512'h3f3e3d") && literal.ends_with("03020100"), "{literal}");
    }

    mod original {
        use crate::hdl::prelude::{Beat, W, bits_w};
        use rust_hdl_core::prelude::*;

        #[derive(Clone, Copy, Debug, PartialEq, LogicState)]
        pub enum State {
            Idle,
            Busy,
            Done,
        }

        #[derive(Clone, Copy, Debug, Default, PartialEq, rust_hdl_core::prelude::LogicStruct)]
        pub struct Word {
            pub flag: bool,
            pub count: W<13>,
            pub state: State,
            pub beat: Beat,
            pub key: W<64>,
        }

        pub fn word(random: &mut impl FnMut() -> u64) -> Word {
            let state = [State::Idle, State::Busy, State::Done][random() as usize % 3];
            let beat = Beat(std::array::from_fn(|_| random() as u32));
            Word { flag: random() % 2 == 1, count: bits_w(random()), state, beat, key: bits_w(random()) }
        }
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq, optireduce_hw_derive::LogicStruct)]
    struct Ours {
        flag: bool,
        count: W<13>,
        state: original::State,
        beat: Beat,
        key: W<64>,
    }

    #[test]
    fn a_struct_is_the_same_word_as_with_rust_hdls_derive() {
        let mut random = crate::random::Random::new(3);
        for _ in 0..100 {
            let word = original::word(&mut || random.next());
            let ours = Ours { flag: word.flag, count: word.count, state: word.state, beat: word.beat, key: word.key };
            assert_eq!(format!("{:x}", ours.verilog()), format!("{:x}", word.verilog()));
            assert_eq!((Ours::BITS, ours.get_my_offset_key()), (original::Word::BITS, word.get_my_offset_key()));
            assert_eq!(ours.get_my_width_count(), word.get_my_width_count());
        }
        let names = |descriptor: TypeDescriptor| match descriptor.kind {
            TypeKind::Composite(fields) => fields.into_iter().map(|field| field.fieldname).collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        assert_eq!(names(Ours::descriptor()), names(original::Word::descriptor()));
    }
}
