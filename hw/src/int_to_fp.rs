//! 32-bit integer to binary32: [`IntToFp`] as IEEE-754 has it, [`ScaledIntToFp`] from units of any power of two.
//!
//! Round to nearest, ties to even. The same functions in plain Rust are in
//! [`int_to_fp_model`](crate::int_to_fp_model).
//! Why two: the Hadamard engine's block floating point is the conversion with the block's own unit.
//! Latency: [`LATENCY`] cycles, one conversion a cycle, free running: no back-pressure, no valid bit, no reset (the
//! registers hold zeros at power-on).
//! Stages: complement a negative number; normalise by 16 and 8; by 4 and 2; by 1, and round; exponent.
//! How the one gets in that a negative number's complement lacks: the shifts to the left fill up with the sign, so
//! that it is still missing at the lowest bit, and the rounding adds it.

use crate::prelude::*;

/// Cycles from integer to float.
pub const LATENCY: usize = 5;

/// The registers of all five stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Stages {
    sign0: bool,
    whole: W<31>,
    sign1: bool,
    zeros1: W<5>,
    coarse: W<31>,
    sign2: bool,
    zeros2: W<5>,
    fine: W<31>,
    sign3: bool,
    zeros3: W<5>,
    /// Carry, hidden bit and fraction.
    rounded: W<25>,
    float: W<32>,
}

/// Converts an integer of a given unit to a float.
#[derive(LogicBlock, Default)]
pub struct ScaledIntToFp {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The integer.
    pub a: Signal<In, W<32>>,
    /// The exponent field of a float that is 2^30 units, for the integer of four cycles ago.
    pub scale: Signal<In, W<9>>,
    /// Negates the integer of four cycles ago.
    pub negate: Signal<In, bool>,
    /// The integer of four cycles ago shall become NaN.
    pub special: Signal<In, bool>,
    /// The float, [`LATENCY`] cycles after its integer.
    pub result: Signal<Out, W<32>>,
    st: DFF<Stages>,
    by0: Wire<W<31>>,
    by16: Wire<W<31>>,
    by8: Wire<W<31>>,
    zeros1: Wire<W<5>>,
    mid: Wire<W<31>>,
    by4: Wire<W<31>>,
    by2: Wire<W<31>>,
    zeros2: Wire<W<5>>,
    last: Wire<W<31>>,
    by1: Wire<W<31>>,
    zeros3: Wire<W<5>>,
    rest: Wire<W<6>>,
    ones: Wire<bool>,
    carry: Wire<bool>,
    up: Wire<bool>,
    mantissa: Wire<W<24>>,
    addend: Wire<W<26>>,
    sum: Wire<W<26>>,
    rounded: Wire<W<25>>,
    base: Wire<W<10>>,
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

        // 1: sign and complement.
        self.st.d.next.sign0 = self.a.val().get_bit(31);
        self.st.d.next.whole = self.a.val().get_bits::<31>(0);
        if self.a.val().get_bit(31) {
            self.st.d.next.whole = self.a.val().get_bits::<31>(0) ^ 0x7fff_ffff;
        }

        // 2: towards bit 30.
        self.by0.next = self.st.q.val().whole;
        self.by16.next = self.by0.val();
        self.zeros1.next = bits_w::<5>(0);
        if self.by0.val().get_bits::<16>(15) == 0 {
            self.by16.next = self.by0.val() << 16;
            if self.st.q.val().sign0 {
                self.by16.next = self.by16.val() | 0xffff;
            }
            self.zeros1.next = bits_w::<5>(16);
        }
        self.by8.next = self.by16.val();
        if self.by16.val().get_bits::<8>(23) == 0 {
            self.by8.next = self.by16.val() << 8;
            if self.st.q.val().sign0 {
                self.by8.next = self.by8.val() | 0xff;
            }
            self.zeros1.next = self.zeros1.val() | 8;
        }
        self.st.d.next.sign1 = self.st.q.val().sign0;
        self.st.d.next.zeros1 = self.zeros1.val();
        self.st.d.next.coarse = self.by8.val();

        // 3.
        self.mid.next = self.st.q.val().coarse;
        self.by4.next = self.mid.val();
        self.zeros2.next = self.st.q.val().zeros1;
        if self.mid.val().get_bits::<4>(27) == 0 {
            self.by4.next = self.mid.val() << 4;
            if self.st.q.val().sign1 {
                self.by4.next = self.by4.val() | 0xf;
            }
            self.zeros2.next = self.zeros2.val() | 4;
        }
        self.by2.next = self.by4.val();
        if self.by4.val().get_bits::<2>(29) == 0 {
            self.by2.next = self.by4.val() << 2;
            if self.st.q.val().sign1 {
                self.by2.next = self.by2.val() | 3;
            }
            self.zeros2.next = self.zeros2.val() | 2;
        }
        self.st.d.next.sign2 = self.st.q.val().sign1;
        self.st.d.next.zeros2 = self.zeros2.val();
        self.st.d.next.fine = self.by2.val();

        // 4: 24 bits of mantissa, the guard bit and six bits below it. The missing one of a negative number reaches the
        // guard bit if these six are ones, and the mantissa if the guard bit is one too.
        self.last.next = self.st.q.val().fine;
        self.by1.next = self.last.val();
        self.zeros3.next = self.st.q.val().zeros2;
        if !self.last.val().get_bit(30) {
            self.by1.next = self.last.val() << 1;
            if self.st.q.val().sign2 {
                self.by1.next = self.by1.val() | 1;
            }
            self.zeros3.next = self.zeros3.val() | 1;
        }
        self.rest.next = self.by1.val().get_bits::<6>(0);
        self.ones.next = self.st.q.val().sign2 && (self.rest.val() == 63);
        self.carry.next = self.ones.val() && self.by1.val().get_bit(6);
        self.up.next =
            self.by1.val().get_bit(6) && (self.st.q.val().sign2 || (self.rest.val() != 0) || self.by1.val().get_bit(7));
        if self.ones.val() {
            // The guard bit flips, and nothing is below it.
            self.up.next = !self.by1.val().get_bit(6) && self.by1.val().get_bit(7);
        }
        self.mantissa.next = self.by1.val().get_bits::<24>(7);
        self.addend.next = bit_cast_w::<26, 24>(self.mantissa.val()) << 1;
        if self.carry.val() || self.up.val() {
            self.addend.next = self.addend.val() | 1;
        }
        self.sum.next = self.addend.val() + 1;
        self.st.d.next.sign3 = self.st.q.val().sign2;
        self.st.d.next.zeros3 = self.zeros3.val();
        self.st.d.next.rounded = self.sum.val().get_bits::<25>(1);

        // 5: exponent = scale - zeros + carry, which may be negative.
        self.rounded.next = self.st.q.val().rounded;
        self.base.next = bit_cast_w::<10, 9>(self.scale.val());
        if self.rounded.val().get_bit(24) {
            self.base.next = self.base.val() + 1;
        }
        self.exponent.next = self.base.val() - bit_cast_w::<10, 5>(self.st.q.val().zeros3);
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

/// Converts an integer to a float.
#[derive(LogicBlock, Default)]
pub struct IntToFp {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The integer.
    pub a: Signal<In, W<32>>,
    /// The float, [`LATENCY`] cycles later.
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
