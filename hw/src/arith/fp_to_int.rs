//! binary32 to 32-bit integer: [`FpToInt`] by IEEE-754, [`FpToScaledInt`] to power-of-two units.
//!
//! Round to nearest, ties to even. Values without a nearest 32-bit integer become 0x80000000.
//! `FpToScaledInt`, which the Hadamard engine uses for block floating point, treats infinities and
//! NaNs as numbers of exponent field 255.
//! Model: [`fp_to_int_model`](crate::arith::fp_to_int_model).
//! Latency: [`LATENCY`] cycles. Throughput: one conversion a cycle. No back-pressure, valid bit or
//! reset; registers power up as zeros.
//! Stages: subtract exponents, shift down by even distances, shift the last bit with rounding and
//! negation.

use crate::hdl::prelude::*;

pub const LATENCY: usize = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Stages {
    sign: bool,
    invalid: bool,
    shift: W<5>,
    mantissa: W<24>,
    shifted_sign: bool,
    shifted_invalid: bool,
    once_more: bool,
    sticky: bool,
    /// 31 whole bits above the guard bit.
    shifted: W<32>,
    integer: W<32>,
}

#[derive(LogicBlock, Default)]
pub struct FpToScaledInt {
    pub clock: Signal<In, Clock>,
    pub a: Signal<In, W<32>>,
    /// Exponent field of 2^30 units, sampled with `a`.
    pub scale: Signal<In, W<9>>,
    pub result: Signal<Out, W<32>>,
    st: DFF<Stages>,
    exponent: Wire<W<8>>,
    distance: Wire<W<10>>,
    by0: Wire<W<32>>,
    by16: Wire<W<32>>,
    by8: Wire<W<32>>,
    by4: Wire<W<32>>,
    by2: Wire<W<32>>,
    lost16: Wire<bool>,
    lost8: Wire<bool>,
    lost4: Wire<bool>,
    lost2: Wire<bool>,
    by1: Wire<W<32>>,
    sticky: Wire<bool>,
    up: Wire<bool>,
    whole: Wire<W<32>>,
    sum: Wire<W<33>>,
    addend: Wire<W<33>>,
    _evaluated: bool,
}

impl FpToScaledInt {
    #[hdl_gen]
    fn evaluate(&mut self) {
        dff_setup!(self, clock, st);

        // 1: a subnormal has exponent 1 and no hidden bit. A distance of 32 or more leaves nothing.
        self.exponent.next = self.a.val().get_bits::<8>(23);
        self.st.d.next.mantissa = self.a.val().get_bits::<24>(0) | 0x80_0000;
        if self.a.val().get_bits::<8>(23) == 0 {
            self.exponent.next = bits_w::<8>(1);
            self.st.d.next.mantissa = bit_cast_w::<24, 32>(self.a.val()) & 0x7f_ffff;
        }
        self.distance.next = bit_cast_w::<10, 9>(self.scale.val()) - bit_cast_w::<10, 8>(self.exponent.val());
        self.st.d.next.shift = self.distance.val().get_bits::<5>(0);
        self.st.d.next.sign = self.a.val().get_bit(31);
        self.st.d.next.invalid = self.distance.val().get_bit(9);
        if self.distance.val().get_bits::<5>(5) != 0 {
            self.st.d.next.mantissa = bits_w::<24>(0);
        }

        // 2: the guard bit is bit 0.
        self.by0.next = bit_cast_w::<32, 24>(self.st.q.val().mantissa) << 8;
        self.by16.next = self.by0.val();
        self.lost16.next = false;
        if (self.st.q.val().shift & 16) != 0 {
            self.by16.next = self.by0.val() >> 16;
            self.lost16.next = self.by0.val().get_bits::<16>(0) != 0;
        }
        self.by8.next = self.by16.val();
        self.lost8.next = false;
        if (self.st.q.val().shift & 8) != 0 {
            self.by8.next = self.by16.val() >> 8;
            self.lost8.next = self.by16.val().get_bits::<8>(0) != 0;
        }
        self.by4.next = self.by8.val();
        self.lost4.next = false;
        if (self.st.q.val().shift & 4) != 0 {
            self.by4.next = self.by8.val() >> 4;
            self.lost4.next = self.by8.val().get_bits::<4>(0) != 0;
        }
        self.by2.next = self.by4.val();
        self.lost2.next = false;
        if (self.st.q.val().shift & 2) != 0 {
            self.by2.next = self.by4.val() >> 2;
            self.lost2.next = self.by4.val().get_bits::<2>(0) != 0;
        }
        self.st.d.next.shifted = self.by2.val();
        self.st.d.next.sticky = self.lost16.val() || self.lost8.val() || self.lost4.val() || self.lost2.val();
        self.st.d.next.once_more = (self.st.q.val().shift & 1) != 0;
        self.st.d.next.shifted_sign = self.st.q.val().sign;
        self.st.d.next.shifted_invalid = self.st.q.val().invalid;

        // 3: a negative number is the complement plus one, and rounding up cancels that one.
        self.by1.next = self.st.q.val().shifted;
        self.sticky.next = self.st.q.val().sticky;
        if self.st.q.val().once_more {
            self.by1.next = self.st.q.val().shifted >> 1;
            self.sticky.next = self.st.q.val().sticky || ((self.st.q.val().shifted & 1) != 0);
        }
        self.up.next = self.by1.val().get_bit(0) && (self.sticky.val() || self.by1.val().get_bit(1));
        self.whole.next = self.by1.val() >> 1;
        if self.st.q.val().shifted_sign {
            self.whole.next = self.whole.val() ^ 0xffff_ffffu64;
        }
        if self.st.q.val().shifted_invalid {
            self.whole.next = self.whole.val() ^ 0x8000_0000u64;
        }
        self.addend.next = bit_cast_w::<33, 32>(self.whole.val()) << 1;
        if self.up.val() != self.st.q.val().shifted_sign {
            self.addend.next = self.addend.val() | 1;
        }
        self.sum.next = self.addend.val() + 1;
        self.st.d.next.integer = self.sum.val().get_bits::<32>(1);
        self.result.next = self.st.q.val().integer;
    }
}

evaluate_on_change!(FpToScaledInt, inputs: a, scale; registers: st);

#[derive(LogicBlock, Default, Ports)]
pub struct FpToInt {
    pub clock: Signal<In, Clock>,
    pub a: Signal<In, W<32>>,
    pub result: Signal<Out, W<32>>,
    scaled: FpToScaledInt,
}

impl Logic for FpToInt {
    #[hdl_gen]
    fn update(&mut self) {
        self.scaled.clock.next = self.clock.val();
        self.scaled.a.next = self.a.val();
        self.scaled.scale.next = bits_w::<9>(157);
        self.result.next = self.scaled.result.val();
    }
}

clocked!(FpToScaledInt, FpToInt);
