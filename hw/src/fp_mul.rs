//! IEEE-754 binary32 multiplication: [`FpMul`] one lane, [`FpMul16`] a beat by one factor.
//!
//! Round to nearest, ties to even; subnormals in and out; every NaN result is `0x7fc00000`. The same function in plain
//! Rust is [`fp_mul`](crate::fp_mul_model::fp_mul).
//! Latency: [`LATENCY`] cycles, one multiplication a cycle, free running: no back-pressure, no valid bit, no reset (the
//! registers hold zeros at power-on).
//! Stages: unpack; multiply; product register, so that the product's registers can move into the multipliers; count
//! leading zeros, or shift a product below the lowest exponent down; normalise; round.

use crate::pack::Pack16;
use crate::prelude::*;

/// Cycles from operands to product.
pub const LATENCY: usize = 6;

/// Both operands unpacked.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Operands {
    sign: bool,
    a_mantissa: W<24>,
    b_mantissa: W<24>,
    /// Sum of both biased exponents.
    exponents: W<9>,
    zero: bool,
    infinite: bool,
    nan: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Multiplied {
    sign: bool,
    product: W<48>,
    /// Biased exponent less one, in two's complement, if bit 47 is the leading one.
    exponent: W<10>,
    zero: bool,
    infinite: bool,
    nan: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Product {
    sign: bool,
    product: W<48>,
    /// The product with a one where the shift to the left must stop, as the exponent is the lowest there.
    stop: W<48>,
    /// As before; zero where it was negative.
    exponent: W<9>,
    /// How far to shift to the right, up to the lowest exponent.
    right: W<7>,
    zero: bool,
    infinite: bool,
    nan: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Counted {
    sign: bool,
    product: W<48>,
    sticky: bool,
    exponent: W<9>,
    left: W<6>,
    infinite: bool,
    nan: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Normal {
    sign: bool,
    /// One too low where the hidden bit is set: adding it puts that right.
    exponent: W<9>,
    mantissa: W<24>,
    round_up: bool,
    infinite: bool,
    nan: bool,
}

/// Multiplies two floats.
#[derive(LogicBlock, Default, Ports)]
pub struct FpMul {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// One operand.
    pub a: Signal<In, W<32>>,
    /// The other.
    pub b: Signal<In, W<32>>,
    /// `a * b`, [`LATENCY`] cycles later.
    pub product: Signal<Out, W<32>>,
    operands: DFF<Operands>,
    multiplied: DFF<Multiplied>,
    registered: DFF<Product>,
    counted: DFF<Counted>,
    normal: DFF<Normal>,
    result: DFF<W<32>>,
    a_exponent: Wire<W<8>>,
    b_exponent: Wire<W<8>>,
    a_mantissa: Wire<W<24>>,
    b_mantissa: Wire<W<24>>,
    a_top: Wire<bool>,
    b_top: Wire<bool>,
    a_fraction: Wire<bool>,
    b_fraction: Wire<bool>,
    a_zero: Wire<bool>,
    b_zero: Wire<bool>,
    exponents: Wire<W<9>>,
    full: Wire<W<48>>,
    unbiased: Wire<W<10>>,
    signed_exponent: Wire<W<10>>,
    negated: Wire<W<10>>,
    marker: Wire<W<48>>,
    above: Wire<W<48>>,
    lost: Wire<W<48>>,
    stop: Wire<W<48>>,
    scan32: Wire<W<32>>,
    scan16: Wire<W<16>>,
    scan8: Wire<W<8>>,
    scan4: Wire<W<4>>,
    scan2: Wire<W<2>>,
    left: Wire<W<6>>,
    shifted: Wire<W<48>>,
    exponent: Wire<W<9>>,
    mantissa: Wire<W<24>>,
    truncated: Wire<W<32>>,
    increment: Wire<W<32>>,
    rounded: Wire<W<32>>,
    magnitude: Wire<W<32>>,
    _evaluated: bool,
}

impl FpMul {
    #[hdl_gen]
    fn evaluate(&mut self) {
        dff_setup!(self, clock, operands, multiplied, registered, counted, normal, result);

        // 1: a subnormal has exponent 1 and no hidden bit.
        self.a_exponent.next = self.a.val().get_bits::<8>(23);
        self.b_exponent.next = self.b.val().get_bits::<8>(23);
        self.a_mantissa.next = self.a.val().get_bits::<24>(0) | 0x80_0000;
        self.b_mantissa.next = self.b.val().get_bits::<24>(0) | 0x80_0000;
        if self.a_exponent.val() == 0 {
            self.a_exponent.next = bits_w::<8>(1);
            self.a_mantissa.next = self.a.val().get_bits::<24>(0);
        }
        if self.b_exponent.val() == 0 {
            self.b_exponent.next = bits_w::<8>(1);
            self.b_mantissa.next = self.b.val().get_bits::<24>(0);
        }
        self.exponents.next = bit_cast_w::<9, 8>(self.a_exponent.val()) + bit_cast_w::<9, 8>(self.b_exponent.val());
        self.a_top.next = self.a_exponent.val() == 255;
        self.b_top.next = self.b_exponent.val() == 255;
        self.a_fraction.next = self.a.val().get_bits::<23>(0) != 0;
        self.b_fraction.next = self.b.val().get_bits::<23>(0) != 0;
        self.a_zero.next = self.a_mantissa.val() == 0;
        self.b_zero.next = self.b_mantissa.val() == 0;
        self.operands.d.next.sign = self.a.val().get_bit(31) != self.b.val().get_bit(31);
        self.operands.d.next.a_mantissa = self.a_mantissa.val();
        self.operands.d.next.b_mantissa = self.b_mantissa.val();
        self.operands.d.next.exponents = self.exponents.val();
        self.operands.d.next.zero = self.a_zero.val() || self.b_zero.val();
        self.operands.d.next.infinite = self.a_top.val() || self.b_top.val();
        self.operands.d.next.nan = (self.a_top.val() && (self.a_fraction.val() || self.b_zero.val()))
            || (self.b_top.val() && (self.b_fraction.val() || self.a_zero.val()));

        // 2: the product of two normal numbers has its leading one at bit 47 or 46.
        self.full.next = self.operands.q.val().a_mantissa * self.operands.q.val().b_mantissa;
        self.unbiased.next = bit_cast_w::<10, 9>(self.operands.q.val().exponents) - 127;
        self.multiplied.d.next.sign = self.operands.q.val().sign;
        self.multiplied.d.next.product = self.full.val();
        self.multiplied.d.next.exponent = self.unbiased.val();
        self.multiplied.d.next.zero = self.operands.q.val().zero;
        self.multiplied.d.next.infinite = self.operands.q.val().infinite;
        self.multiplied.d.next.nan = self.operands.q.val().nan;

        // 3: a negative exponent goes up to the lowest by a shift to the right, and there is none to the left then.
        self.signed_exponent.next = self.multiplied.q.val().exponent;
        self.negated.next = bits_w::<10>(0) - self.signed_exponent.val();
        self.marker.next = bits_w::<48>(0x8000_0000_0000u64) >> self.signed_exponent.val();
        self.registered.d.next.exponent = self.signed_exponent.val().get_bits::<9>(0);
        self.registered.d.next.right = bits_w::<7>(0);
        if self.signed_exponent.val().get_bit(9) {
            self.marker.next = bits_w::<48>(0x8000_0000_0000u64);
            self.registered.d.next.exponent = bits_w::<9>(0);
            self.registered.d.next.right = self.negated.val().get_bits::<7>(0);
        }
        self.registered.d.next.sign = self.multiplied.q.val().sign;
        self.registered.d.next.product = self.multiplied.q.val().product;
        self.registered.d.next.stop = self.multiplied.q.val().product | self.marker.val();
        self.registered.d.next.zero = self.multiplied.q.val().zero;
        self.registered.d.next.infinite = self.multiplied.q.val().infinite;
        self.registered.d.next.nan = self.multiplied.q.val().nan;

        // 4: leading zeros by halves.
        self.stop.next = self.registered.q.val().stop;
        self.left.next = bits_w::<6>(0);
        self.scan32.next = self.stop.val().get_bits::<32>(16);
        if self.scan32.val() == 0 {
            self.left.next = bits_w::<6>(32);
            self.scan32.next = bit_cast_w::<32, 48>(self.stop.val()) << 16;
        }
        self.scan16.next = self.scan32.val().get_bits::<16>(16);
        if self.scan16.val() == 0 {
            self.left.next = self.left.val() | 16;
            self.scan16.next = self.scan32.val().get_bits::<16>(0);
        }
        self.scan8.next = self.scan16.val().get_bits::<8>(8);
        if self.scan8.val() == 0 {
            self.left.next = self.left.val() | 8;
            self.scan8.next = self.scan16.val().get_bits::<8>(0);
        }
        self.scan4.next = self.scan8.val().get_bits::<4>(4);
        if self.scan4.val() == 0 {
            self.left.next = self.left.val() | 4;
            self.scan4.next = self.scan8.val().get_bits::<4>(0);
        }
        self.scan2.next = self.scan4.val().get_bits::<2>(2);
        if self.scan2.val() == 0 {
            self.left.next = self.left.val() | 2;
            self.scan2.next = self.scan4.val().get_bits::<2>(0);
        }
        if !self.scan2.val().get_bit(1) {
            self.left.next = self.left.val() | 1;
        }
        self.above.next = bits_w::<48>(0xffff_ffff_ffffu64) << self.registered.q.val().right;
        self.lost.next = !self.above.val();
        self.counted.d.next.sign = self.registered.q.val().sign;
        self.counted.d.next.product = self.registered.q.val().product >> self.registered.q.val().right;
        self.counted.d.next.sticky = (self.registered.q.val().product & self.lost.val()) != 0;
        self.counted.d.next.exponent = self.registered.q.val().exponent;
        self.counted.d.next.left = self.left.val();
        if self.registered.q.val().zero {
            self.counted.d.next.exponent = bits_w::<9>(0);
            self.counted.d.next.left = bits_w::<6>(0);
        }
        self.counted.d.next.infinite = self.registered.q.val().infinite;
        self.counted.d.next.nan = self.registered.q.val().nan;

        // 5: 24 bits are left below the mantissa.
        self.shifted.next = self.counted.q.val().product << self.counted.q.val().left;
        self.exponent.next = self.counted.q.val().exponent - bit_cast_w::<9, 6>(self.counted.q.val().left);
        self.normal.d.next.sign = self.counted.q.val().sign;
        self.normal.d.next.exponent = self.exponent.val();
        self.normal.d.next.mantissa = self.shifted.val().get_bits::<24>(24);
        self.normal.d.next.round_up = self.shifted.val().get_bit(23)
            && ((self.shifted.val().get_bits::<23>(0) != 0)
                || self.counted.q.val().sticky
                || self.shifted.val().get_bit(24));
        self.normal.d.next.infinite = self.counted.q.val().infinite;
        self.normal.d.next.nan = self.counted.q.val().nan;

        // 6: the hidden bit and a carry out of the rounding both raise the exponent.
        self.mantissa.next = self.normal.q.val().mantissa;
        self.truncated.next = bit_cast_w::<32, 9>(self.normal.q.val().exponent) << 23;
        self.truncated.next = self.truncated.val() | (bit_cast_w::<32, 24>(self.mantissa.val()) & 0x7f_ffff);
        self.increment.next = bits_w::<32>(0);
        if self.mantissa.val().get_bit(23) {
            self.increment.next = bits_w::<32>(0x80_0000);
        }
        if self.normal.q.val().round_up {
            self.increment.next = self.increment.val() | 1;
        }
        self.rounded.next = self.truncated.val() + self.increment.val();
        self.magnitude.next = self.rounded.val();
        if self.normal.q.val().infinite || (self.rounded.val() >= 0x7f80_0000) {
            self.magnitude.next = bits_w::<32>(0x7f80_0000);
        }
        self.result.d.next = self.magnitude.val();
        if self.normal.q.val().sign {
            self.result.d.next = self.magnitude.val() | 0x8000_0000u64;
        }
        if self.normal.q.val().nan {
            self.result.d.next = bits_w::<32>(0x7fc0_0000);
        }
        self.product.next = self.result.q.val();
    }
}

evaluate_on_change!(FpMul, inputs: a, b; registers: operands, multiplied, registered, counted, normal, result);

/// Multiplies a beat by one factor.
#[derive(LogicBlock, Default)]
pub struct FpMul16 {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The lanes.
    pub a: Signal<In, Beat>,
    /// What to multiply all of them by, taken in the same cycle.
    pub factor: Signal<In, W<32>>,
    /// `a * factor`, [`LATENCY`] cycles later.
    pub product: Signal<Out, Beat>,
    lane: [FpMul; 16],
    pack: Pack16,
}

impl Logic for FpMul16 {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..16 {
            self.lane[i].clock.next = self.clock.val();
            self.lane[i].a.next = self.a.val().get_bits::<32>(i * 32);
            self.lane[i].b.next = self.factor.val();
            self.pack.lane[i].next = self.lane[i].product.val();
        }
        self.product.next = self.pack.beat.val();
    }
}

clocked!(FpMul, FpMul16);
