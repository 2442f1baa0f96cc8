//! 32-bit integer to binary32: [`IntToFp`] by IEEE-754, [`ScaledIntToFp`] from power-of-two units.
//!
//! Round to nearest, ties to even. Results of `ScaledIntToFp` below the smallest normal number
//! become +0, too large ones infinity. The Hadamard engine uses it for block floating point.
//! Model: [`int_to_fp_model`](crate::arith::int_to_fp_model).
//! Latency: [`LATENCY`] cycles. Throughput: one conversion a cycle. No back-pressure, valid bit or
//! reset; registers power up as zeros.
//!
//! Stages: scan the top bits, normalise by 16 and 8, by 4 and 2, by 1 with complement and rounding,
//! exponent. Each shift is decided a stage ahead, so that two shifts form one four-way multiplexer
//! of one LUT6 per bit.
//! A negative number is its complement plus one. The left shifts fill with zeros and precede the
//! complement, so the one belongs to the lowest bit, where the rounding adds it.

use crate::hdl::prelude::*;

pub const LATENCY: usize = 5;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Stages {
    sign0: bool,
    whole: W<31>,
    /// The upper 16 bits equal the sign.
    by16: bool,
    /// After the shift by 16, the upper 8 bits equal the sign.
    by8: bool,
    sign1: bool,
    zeros1: W<5>,
    coarse: W<31>,
    by4: bool,
    by2: bool,
    sign2: bool,
    zeros2: W<5>,
    fine: W<31>,
    by1: bool,
    sign3: bool,
    /// Scale minus leading zeros; may be negative.
    lowered: W<10>,
    /// Carry, hidden bit and fraction.
    rounded: W<25>,
    float: W<32>,
}

#[derive(LogicBlock, Default)]
pub struct ScaledIntToFp {
    pub clock: Signal<In, Clock>,
    pub a: Signal<In, W<32>>,
    /// Exponent field of 2^30 units, for the integer from three cycles earlier.
    pub scale: Signal<In, W<9>>,
    /// Negates the integer from four cycles earlier.
    pub negate: Signal<In, bool>,
    /// Replaces the integer from four cycles earlier by a NaN.
    pub special: Signal<In, bool>,
    pub result: Signal<Out, W<32>>,
    st: DFF<Stages>,
    flipped: Wire<W<31>>,
    top8: Wire<bool>,
    whole: Wire<W<31>>,
    coarse: Wire<W<31>>,
    unlike: Wire<W<31>>,
    mid: Wire<W<31>>,
    fine: Wire<W<31>>,
    last: Wire<W<31>>,
    by1: Wire<W<31>>,
    zeros1: Wire<W<5>>,
    zeros2: Wire<W<5>>,
    zeros3: Wire<W<5>>,
    rest: Wire<W<6>>,
    ones: Wire<bool>,
    carry: Wire<bool>,
    up: Wire<bool>,
    mantissa: Wire<W<24>>,
    addend: Wire<W<26>>,
    sum: Wire<W<26>>,
    rounded: Wire<W<25>>,
    exponent: Wire<W<10>>,
    zero: Wire<bool>,
    fraction: Wire<W<32>>,
    field: Wire<W<32>>,
    _evaluated: bool,
}

impl ScaledIntToFp {
    #[hdl_gen]
    fn evaluate(&mut self) {
        dff_setup!(self, clock, st);

        // 1: whether the top 16 and 8 bits equal the sign.
        self.st.d.next.sign0 = self.a.val().get_bit(31);
        self.st.d.next.whole = self.a.val().get_bits::<31>(0);
        self.flipped.next = self.a.val().get_bits::<31>(0);
        if self.a.val().get_bit(31) {
            self.flipped.next = self.a.val().get_bits::<31>(0) ^ 0x7fff_ffff;
        }
        self.top8.next = self.flipped.val().get_bits::<8>(23) == 0;
        self.st.d.next.by16 = self.top8.val() && (self.flipped.val().get_bits::<8>(15) == 0);
        self.st.d.next.by8 = self.top8.val();
        if self.top8.val() && (self.flipped.val().get_bits::<8>(15) == 0) {
            self.st.d.next.by8 = self.flipped.val().get_bits::<8>(7) == 0;
        }

        // 2: shift by 16 and 8 towards bit 30.
        self.whole.next = self.st.q.val().whole;
        self.coarse.next = self.whole.val();
        self.zeros1.next = bits_w::<5>(0);
        if self.st.q.val().by16 && self.st.q.val().by8 {
            self.coarse.next = self.whole.val() << 24;
            self.zeros1.next = bits_w::<5>(24);
        } else if self.st.q.val().by16 {
            self.coarse.next = self.whole.val() << 16;
            self.zeros1.next = bits_w::<5>(16);
        } else if self.st.q.val().by8 {
            self.coarse.next = self.whole.val() << 8;
            self.zeros1.next = bits_w::<5>(8);
        }
        self.unlike.next = self.coarse.val();
        if self.st.q.val().sign0 {
            self.unlike.next = self.coarse.val() ^ 0x7fff_ffff;
        }
        self.st.d.next.sign1 = self.st.q.val().sign0;
        self.st.d.next.zeros1 = self.zeros1.val();
        self.st.d.next.coarse = self.coarse.val();
        self.st.d.next.by4 = self.unlike.val().get_bits::<4>(27) == 0;
        self.st.d.next.by2 = self.unlike.val().get_bits::<2>(29) == 0;
        if self.unlike.val().get_bits::<4>(27) == 0 {
            self.st.d.next.by2 = self.unlike.val().get_bits::<2>(25) == 0;
        }

        // 3: shift by 4 and 2.
        self.mid.next = self.st.q.val().coarse;
        self.fine.next = self.mid.val();
        self.zeros2.next = self.st.q.val().zeros1;
        if self.st.q.val().by4 && self.st.q.val().by2 {
            self.fine.next = self.mid.val() << 6;
            self.zeros2.next = self.st.q.val().zeros1 | 6;
        } else if self.st.q.val().by4 {
            self.fine.next = self.mid.val() << 4;
            self.zeros2.next = self.st.q.val().zeros1 | 4;
        } else if self.st.q.val().by2 {
            self.fine.next = self.mid.val() << 2;
            self.zeros2.next = self.st.q.val().zeros1 | 2;
        }
        self.st.d.next.sign2 = self.st.q.val().sign1;
        self.st.d.next.zeros2 = self.zeros2.val();
        self.st.d.next.fine = self.fine.val();
        self.st.d.next.by1 = self.fine.val().get_bit(30) == self.st.q.val().sign1;

        // 4: 24 bits of mantissa, the guard bit and six bits below. A negative number lacks a one
        // at the bottom, which reaches the guard bit if the six are ones, and the mantissa if the
        // guard bit is too.
        self.last.next = self.st.q.val().fine;
        self.by1.next = self.last.val();
        self.zeros3.next = self.st.q.val().zeros2;
        if self.st.q.val().by1 {
            self.by1.next = self.last.val() << 1;
            self.zeros3.next = self.st.q.val().zeros2 | 1;
        }
        if self.st.q.val().sign2 {
            self.by1.next = self.by1.val() ^ 0x7fff_ffff;
        }
        self.rest.next = self.by1.val().get_bits::<6>(0);
        self.ones.next = self.st.q.val().sign2 && (self.rest.val() == 63);
        self.carry.next = self.ones.val() && self.by1.val().get_bit(6);
        self.up.next =
            self.by1.val().get_bit(6) && (self.st.q.val().sign2 || (self.rest.val() != 0) || self.by1.val().get_bit(7));
        if self.ones.val() {
            // The guard bit flips and the bits below become zeros.
            self.up.next = !self.by1.val().get_bit(6) && self.by1.val().get_bit(7);
        }
        self.mantissa.next = self.by1.val().get_bits::<24>(7);
        self.addend.next = bit_cast_w::<26, 24>(self.mantissa.val()) << 1;
        if self.carry.val() || self.up.val() {
            self.addend.next = self.addend.val() | 1;
        }
        self.sum.next = self.addend.val() + 1;
        self.st.d.next.sign3 = self.st.q.val().sign2;
        self.st.d.next.lowered = bit_cast_w::<10, 9>(self.scale.val()) - bit_cast_w::<10, 5>(self.zeros3.val());
        self.st.d.next.rounded = self.sum.val().get_bits::<25>(1);

        // 5: exponent = scale - zeros + carry.
        self.rounded.next = self.st.q.val().rounded;
        self.exponent.next = self.st.q.val().lowered;
        if self.rounded.val().get_bit(24) {
            self.exponent.next = self.st.q.val().lowered + 1;
        }
        self.zero.next =
            (self.rounded.val().get_bits::<2>(23) == 0) || self.exponent.val().get_bit(9) || (self.exponent.val() == 0);
        self.fraction.next = bit_cast_w::<32, 25>(self.rounded.val()) & 0x7f_ffff;
        self.field.next = bit_cast_w::<32, 10>(self.exponent.val()) << 23;
        if self.exponent.val() > 254 {
            self.fraction.next = bits_w::<32>(0);
            self.field.next = bits_w::<32>(0x7f80_0000);
        }
        if self.st.q.val().sign3 != self.negate.val() {
            self.field.next = self.field.val() | 0x8000_0000u64;
        }
        self.st.d.next.float = self.field.val() | self.fraction.val();
        if self.zero.val() {
            self.st.d.next.float = bits_w::<32>(0);
        }
        if self.special.val() {
            self.st.d.next.float = bits_w::<32>(0x7fc0_0000);
        }
        self.result.next = self.st.q.val().float;
    }
}

evaluate_on_change!(ScaledIntToFp, inputs: a, scale, negate, special; registers: st);

#[derive(LogicBlock, Default, Ports)]
pub struct IntToFp {
    pub clock: Signal<In, Clock>,
    pub a: Signal<In, W<32>>,
    pub result: Signal<Out, W<32>>,
    scaled: ScaledIntToFp,
}

impl Logic for IntToFp {
    #[hdl_gen]
    fn update(&mut self) {
        self.scaled.clock.next = self.clock.val();
        self.scaled.a.next = self.a.val();
        self.scaled.scale.next = bits_w::<9>(157);
        self.scaled.negate.next = false;
        self.scaled.special.next = false;
        self.result.next = self.scaled.result.val();
    }
}

clocked!(ScaledIntToFp, IntToFp);
