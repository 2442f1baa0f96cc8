//! IEEE-754 binary32 multiplication: [`FpMul`] one lane, [`FpMul16`] a beat by one factor.
//!
//! Round to nearest, ties to even. Subnormals are supported. Every NaN result is `0x7fc00000`.
//! Limits: no exception flags. Model: [`fp_mul`](crate::arith::fp_mul_model::fp_mul).
//! Latency: [`LATENCY`] cycles. Throughput: one multiplication a cycle. No back-pressure, valid bit
//! or reset; registers power up as zeros.
//! Stages: split, find the leading one, multiply, add the two partial products, shift, round. The
//! first two are a separate block ([`Unpack`]), shared by all lanes for the factor of a beat.
//!
//! The operands determine the position of the product's leading one up to one bit, which the
//! rounding resolves. So a single right shift by 0 to 48 both normalises subnormal operands and
//! denormalises results below the lowest exponent.

use crate::hdl::pack::Pack16;
use crate::hdl::prelude::*;

pub const LATENCY: usize = 6;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Fields {
    sign: bool,
    exponent: W<8>,
    fraction: W<23>,
    subnormal: bool,
    top: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct Operand {
    sign: bool,
    /// Biased exponent, 1 for subnormals.
    exponent: W<8>,
    mantissa: W<24>,
    /// Bit number of the mantissa's leading one.
    place: W<5>,
    subnormal: bool,
    zero: bool,
    infinite: bool,
    nan: bool,
}

/// Latency: 2 cycles.
#[derive(LogicBlock, Default)]
pub struct Unpack {
    pub clock: Signal<In, Clock>,
    pub float: Signal<In, W<32>>,
    pub operand: Signal<Out, Operand>,
    fields: DFF<Fields>,
    unpacked: DFF<Operand>,
    fraction: Wire<W<23>>,
    upper: Wire<W<7>>,
    scan16: Wire<W<16>>,
    scan8: Wire<W<8>>,
    scan4: Wire<W<4>>,
    scan2: Wire<W<2>>,
    place: Wire<W<5>>,
    some: Wire<bool>,
    _evaluated: bool,
}

impl Unpack {
    #[hdl_gen]
    fn evaluate(&mut self) {
        dff_setup!(self, clock, fields, unpacked);
        self.fields.d.next.sign = self.float.val().get_bit(31);
        self.fields.d.next.exponent = self.float.val().get_bits::<8>(23);
        self.fields.d.next.fraction = self.float.val().get_bits::<23>(0);
        self.fields.d.next.subnormal = self.float.val().get_bits::<8>(23) == 0;
        self.fields.d.next.top = self.float.val().get_bits::<8>(23) == 255;

        // Binary search for the leading one.
        self.fraction.next = self.fields.q.val().fraction;
        self.upper.next = self.fraction.val().get_bits::<7>(16);
        self.place.next = bits_w::<5>(16);
        self.scan16.next = bit_cast_w::<16, 7>(self.upper.val());
        if self.upper.val() == 0 {
            self.place.next = bits_w::<5>(0);
            self.scan16.next = self.fraction.val().get_bits::<16>(0);
        }
        self.scan8.next = self.scan16.val().get_bits::<8>(0);
        if self.scan16.val().get_bits::<8>(8) != 0 {
            self.place.next = self.place.val() | 8;
            self.scan8.next = self.scan16.val().get_bits::<8>(8);
        }
        self.scan4.next = self.scan8.val().get_bits::<4>(0);
        if self.scan8.val().get_bits::<4>(4) != 0 {
            self.place.next = self.place.val() | 4;
            self.scan4.next = self.scan8.val().get_bits::<4>(4);
        }
        self.scan2.next = self.scan4.val().get_bits::<2>(0);
        if self.scan4.val().get_bits::<2>(2) != 0 {
            self.place.next = self.place.val() | 2;
            self.scan2.next = self.scan4.val().get_bits::<2>(2);
        }
        if self.scan2.val().get_bit(1) {
            self.place.next = self.place.val() | 1;
        }
        self.some.next = self.scan2.val() != 0;

        // A subnormal has exponent 1 and no hidden bit.
        self.unpacked.d.next.sign = self.fields.q.val().sign;
        self.unpacked.d.next.exponent = self.fields.q.val().exponent;
        self.unpacked.d.next.mantissa = bit_cast_w::<24, 23>(self.fraction.val()) | 0x80_0000;
        self.unpacked.d.next.place = bits_w::<5>(23);
        if self.fields.q.val().subnormal {
            self.unpacked.d.next.exponent = bits_w::<8>(1);
            self.unpacked.d.next.mantissa = bit_cast_w::<24, 23>(self.fraction.val());
            self.unpacked.d.next.place = self.place.val();
        }
        self.unpacked.d.next.subnormal = self.fields.q.val().subnormal;
        self.unpacked.d.next.zero = self.fields.q.val().subnormal && !self.some.val();
        self.unpacked.d.next.infinite = self.fields.q.val().top;
        self.unpacked.d.next.nan = self.fields.q.val().top && self.some.val();
        self.operand.next = self.unpacked.q.val();
    }
}

evaluate_on_change!(Unpack, inputs: float; registers: fields, unpacked);

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Multiplied {
    sign: bool,
    /// Products of one operand with the low 17 bits and with the upper bits of the other.
    low: W<41>,
    high: W<31>,
    /// Biased exponent of an unshifted product, in two's complement.
    exponent: W<10>,
    /// Right shift that moves the leading one to the top or one below it.
    place: W<5>,
    zero: bool,
    infinite: bool,
    nan: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Placed {
    sign: bool,
    product: W<48>,
    /// One too low if the leading one ends up at the top: adding that bit corrects it.
    exponent: W<9>,
    down: W<6>,
    infinite: bool,
    nan: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Shifted {
    sign: bool,
    exponent: W<8>,
    /// Mantissa and two bits below it.
    product: W<26>,
    /// Any bit below `product` is set.
    sticky: bool,
    lowest: bool,
    infinite: bool,
    nan: bool,
}

/// Multiplies unpacked floats. Latency: 4 cycles.
#[derive(LogicBlock, Default)]
pub struct Multiply {
    pub clock: Signal<In, Clock>,
    pub a: Signal<In, Operand>,
    pub b: Signal<In, Operand>,
    pub product: Signal<Out, W<32>>,
    multiplied: DFF<Multiplied>,
    placed: DFF<Placed>,
    shifted: DFF<Shifted>,
    result: DFF<W<32>>,
    b_mantissa: Wire<W<24>>,
    b_low: Wire<W<17>>,
    b_high: Wire<W<7>>,
    low: Wire<W<41>>,
    high: Wire<W<31>>,
    partial: Wire<W<41>>,
    low_high: Wire<W<24>>,
    carried: Wire<W<31>>,
    unbiased: Wire<W<10>>,
    exponent: Wire<W<10>>,
    raised: Wire<W<10>>,
    negated: Wire<W<10>>,
    down: Wire<W<6>>,
    places: Wire<W<6>>,
    wide: Wire<W<49>>,
    sixteens: Wire<W<49>>,
    lost_sixteens: Wire<bool>,
    fours: Wire<W<49>>,
    lost_fours: Wire<bool>,
    ones: Wire<W<49>>,
    lost_ones: Wire<bool>,
    rest: Wire<W<26>>,
    lower: Wire<bool>,
    fraction: Wire<W<23>>,
    up: Wire<bool>,
    truncated: Wire<W<31>>,
    increment: Wire<W<31>>,
    rounded: Wire<W<31>>,
    magnitude: Wire<W<32>>,
    _evaluated: bool,
}

impl Multiply {
    #[hdl_gen]
    fn evaluate(&mut self) {
        dff_setup!(self, clock, multiplied, placed, shifted, result);

        // 3: `place` does not matter for two subnormals: their product is below all floats.
        self.b_mantissa.next = self.b.val().mantissa;
        self.b_low.next = self.b_mantissa.val().get_bits::<17>(0);
        self.b_high.next = self.b_mantissa.val().get_bits::<7>(17);
        self.low.next = self.a.val().mantissa * self.b_low.val();
        self.high.next = self.a.val().mantissa * self.b_high.val();
        self.unbiased.next = bit_cast_w::<10, 8>(self.b.val().exponent) - 150;
        self.multiplied.d.next.sign = self.a.val().sign != self.b.val().sign;
        self.multiplied.d.next.low = self.low.val();
        self.multiplied.d.next.high = self.high.val();
        self.multiplied.d.next.exponent = bit_cast_w::<10, 8>(self.a.val().exponent) + self.unbiased.val();
        self.multiplied.d.next.place = self.b.val().place;
        if self.a.val().subnormal {
            self.multiplied.d.next.place = self.a.val().place;
        }
        self.multiplied.d.next.zero = self.a.val().zero || self.b.val().zero;
        self.multiplied.d.next.infinite = self.a.val().infinite || self.b.val().infinite;
        self.multiplied.d.next.nan = self.a.val().nan
            || self.b.val().nan
            || (self.a.val().infinite && self.b.val().zero)
            || (self.b.val().infinite && self.a.val().zero);

        // 4: shift right to the leading one, or further to the lowest exponent. 48 leaves nothing.
        self.exponent.next = self.multiplied.q.val().exponent;
        self.raised.next = self.exponent.val() + bit_cast_w::<10, 5>(self.multiplied.q.val().place);
        self.negated.next = bits_w::<10>(0) - self.exponent.val();
        self.down.next = bit_cast_w::<6, 5>(self.multiplied.q.val().place);
        self.placed.d.next.exponent = self.raised.val().get_bits::<9>(0);
        if self.raised.val().get_bit(9) {
            self.placed.d.next.exponent = bits_w::<9>(0);
            self.down.next = self.negated.val().get_bits::<6>(0);
            if self.negated.val().get_bits::<3>(6) != 0 {
                self.down.next = bits_w::<6>(48);
            }
        }
        if self.multiplied.q.val().zero {
            self.placed.d.next.exponent = bits_w::<9>(0);
        }
        self.placed.d.next.down = self.down.val();
        self.placed.d.next.sign = self.multiplied.q.val().sign;
        self.partial.next = self.multiplied.q.val().low;
        self.low_high.next = self.partial.val().get_bits::<24>(17);
        self.carried.next = self.multiplied.q.val().high + bit_cast_w::<31, 24>(self.low_high.val());
        self.placed.d.next.product =
            (bit_cast_w::<48, 31>(self.carried.val()) << 17) | (bit_cast_w::<48, 41>(self.partial.val()) & 0x1_ffff);
        self.placed.d.next.infinite = self.multiplied.q.val().infinite;
        self.placed.d.next.nan = self.multiplied.q.val().nan;

        // 5: shift by sixteens, fours and ones, with lost bits collected in the sticky bit.
        self.places.next = self.placed.q.val().down;
        self.wide.next = bit_cast_w::<49, 48>(self.placed.q.val().product) << 1;
        if self.places.val().get_bit(5) && self.places.val().get_bit(4) {
            self.sixteens.next = self.wide.val() >> 48;
            self.lost_sixteens.next = self.wide.val().get_bits::<48>(0) != 0;
        } else if self.places.val().get_bit(5) {
            self.sixteens.next = self.wide.val() >> 32;
            self.lost_sixteens.next = self.wide.val().get_bits::<32>(0) != 0;
        } else if self.places.val().get_bit(4) {
            self.sixteens.next = self.wide.val() >> 16;
            self.lost_sixteens.next = self.wide.val().get_bits::<16>(0) != 0;
        } else {
            self.sixteens.next = self.wide.val();
            self.lost_sixteens.next = false;
        }
        if self.places.val().get_bit(3) && self.places.val().get_bit(2) {
            self.fours.next = self.sixteens.val() >> 12;
            self.lost_fours.next = self.sixteens.val().get_bits::<12>(0) != 0;
        } else if self.places.val().get_bit(3) {
            self.fours.next = self.sixteens.val() >> 8;
            self.lost_fours.next = self.sixteens.val().get_bits::<8>(0) != 0;
        } else if self.places.val().get_bit(2) {
            self.fours.next = self.sixteens.val() >> 4;
            self.lost_fours.next = self.sixteens.val().get_bits::<4>(0) != 0;
        } else {
            self.fours.next = self.sixteens.val();
            self.lost_fours.next = false;
        }
        if self.places.val().get_bit(1) && self.places.val().get_bit(0) {
            self.ones.next = self.fours.val() >> 3;
            self.lost_ones.next = self.fours.val().get_bits::<3>(0) != 0;
        } else if self.places.val().get_bit(1) {
            self.ones.next = self.fours.val() >> 2;
            self.lost_ones.next = self.fours.val().get_bits::<2>(0) != 0;
        } else if self.places.val().get_bit(0) {
            self.ones.next = self.fours.val() >> 1;
            self.lost_ones.next = self.fours.val().get_bit(0);
        } else {
            self.ones.next = self.fours.val();
            self.lost_ones.next = false;
        }
        self.shifted.d.next.sign = self.placed.q.val().sign;
        self.shifted.d.next.exponent = bit_cast_w::<8, 9>(self.placed.q.val().exponent);
        self.shifted.d.next.product = self.ones.val().get_bits::<26>(0);
        self.shifted.d.next.sticky = self.lost_sixteens.val() || self.lost_fours.val() || self.lost_ones.val();
        self.shifted.d.next.lowest = self.placed.q.val().exponent == 0;
        self.shifted.d.next.infinite = self.placed.q.val().infinite || (self.placed.q.val().exponent >= 255);
        self.shifted.d.next.nan = self.placed.q.val().nan;

        // 6: a leading one and a carry out of the rounding each raise the exponent.
        self.rest.next = self.shifted.q.val().product;
        self.lower.next = !self.rest.val().get_bit(25) && !self.shifted.q.val().lowest;
        self.fraction.next = self.rest.val().get_bits::<23>(2);
        self.up.next = self.rest.val().get_bit(1)
            && (self.rest.val().get_bit(2) || self.rest.val().get_bit(0) || self.shifted.q.val().sticky);
        if self.lower.val() {
            self.fraction.next = self.rest.val().get_bits::<23>(1);
            self.up.next = self.rest.val().get_bit(0) && (self.rest.val().get_bit(1) || self.shifted.q.val().sticky);
        }
        self.truncated.next =
            (bit_cast_w::<31, 8>(self.shifted.q.val().exponent) << 23) | bit_cast_w::<31, 23>(self.fraction.val());
        self.increment.next = bits_w::<31>(0);
        if self.rest.val().get_bit(25) {
            self.increment.next = bits_w::<31>(0x80_0000);
        }
        if self.up.val() {
            self.increment.next = self.increment.val() | 1;
        }
        self.rounded.next = self.truncated.val() + self.increment.val();
        self.magnitude.next = bit_cast_w::<32, 31>(self.rounded.val());
        if self.shifted.q.val().infinite || (self.rounded.val().get_bits::<8>(23) == 255) {
            self.magnitude.next = bits_w::<32>(0x7f80_0000);
        }
        self.result.d.next = self.magnitude.val();
        if self.shifted.q.val().sign {
            self.result.d.next = self.magnitude.val() | 0x8000_0000u64;
        }
        if self.shifted.q.val().nan {
            self.result.d.next = bits_w::<32>(0x7fc0_0000);
        }
        self.product.next = self.result.q.val();
    }
}

evaluate_on_change!(Multiply, inputs: a, b; registers: multiplied, placed, shifted, result);

#[derive(LogicBlock, Default, Ports)]
pub struct FpMul {
    pub clock: Signal<In, Clock>,
    pub a: Signal<In, W<32>>,
    pub b: Signal<In, W<32>>,
    pub product: Signal<Out, W<32>>,
    unpack_a: Unpack,
    unpack_b: Unpack,
    multiply: Multiply,
}

impl Logic for FpMul {
    #[hdl_gen]
    fn update(&mut self) {
        self.unpack_a.clock.next = self.clock.val();
        self.unpack_b.clock.next = self.clock.val();
        self.multiply.clock.next = self.clock.val();
        self.unpack_a.float.next = self.a.val();
        self.unpack_b.float.next = self.b.val();
        self.multiply.a.next = self.unpack_a.operand.val();
        self.multiply.b.next = self.unpack_b.operand.val();
        self.product.next = self.multiply.product.val();
    }
}

#[derive(LogicBlock, Default)]
pub struct FpMul16 {
    pub clock: Signal<In, Clock>,
    pub a: Signal<In, Beat>,
    /// Sampled with `a`.
    pub factor: Signal<In, W<32>>,
    pub product: Signal<Out, Beat>,
    unpack: [Unpack; 16],
    unpack_factor: Unpack,
    lane: [Multiply; 16],
    pack: Pack16,
}

impl Logic for FpMul16 {
    #[hdl_gen]
    fn update(&mut self) {
        self.unpack_factor.clock.next = self.clock.val();
        self.unpack_factor.float.next = self.factor.val();
        for i in 0..16 {
            self.unpack[i].clock.next = self.clock.val();
            self.unpack[i].float.next = self.a.val().get_bits::<32>(i * 32);
            self.lane[i].clock.next = self.clock.val();
            self.lane[i].a.next = self.unpack[i].operand.val();
            self.lane[i].b.next = self.unpack_factor.operand.val();
            self.pack.lane[i].next = self.lane[i].product.val();
        }
        self.product.next = self.pack.beat.val();
    }
}

clocked!(FpMul, FpMul16);
