//! IEEE-754 binary32 addition: [`FpAdd`] one lane, [`FpAdd16`] a beat.
//!
//! Round to nearest, ties to even; subnormals in and out; every NaN result is `0x7fc00000`. The same function in plain
//! Rust is [`fp_add`](crate::fp_add_model::fp_add).
//! Latency: [`LATENCY`] cycles, one addition a cycle, free running: no back-pressure, no valid bit, no reset (the
//! registers hold zeros at power-on).
//! Stages: compare and subtract exponents; align; add; count leading zeros; normalise; round.

use crate::pack::Pack16;
use crate::prelude::*;

/// Cycles from operands to sum.
pub const LATENCY: usize = 6;

/// Both operands unpacked, and which is smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Unpacked {
    a_sign: bool,
    b_sign: bool,
    a_exponent: W<8>,
    b_exponent: W<8>,
    a_mantissa: W<24>,
    b_mantissa: W<24>,
    a_minus_b: W<8>,
    b_minus_a: W<8>,
    a_smaller: bool,
    infinite: bool,
    nan: bool,
}

/// The larger operand, and what to add to its mantissa.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Aligned {
    sign: bool,
    subtract: bool,
    exponent: W<8>,
    mantissa: W<24>,
    /// Mantissa, guard, round and sticky bit, complemented to subtract, and the carry to go with it.
    addend: W<29>,
    infinite: bool,
    nan: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Sum {
    sign: bool,
    subtract: bool,
    exponent: W<8>,
    /// Carry, mantissa, guard, round and sticky bit.
    sum: W<28>,
    /// The sum with a one where the shift to the left must stop, as the exponent is the lowest there.
    stop: W<28>,
    infinite: bool,
    nan: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Counted {
    sign: bool,
    exponent: W<8>,
    sum: W<28>,
    shift: W<5>,
    infinite: bool,
    nan: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Normal {
    sign: bool,
    /// One too low where the hidden bit is set: adding it puts that right.
    exponent: W<8>,
    mantissa: W<24>,
    round_up: bool,
    infinite: bool,
    nan: bool,
}

/// Adds two floats.
#[derive(LogicBlock, Default, Ports)]
pub struct FpAdd {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// One operand.
    pub a: Signal<In, W<32>>,
    /// The other.
    pub b: Signal<In, W<32>>,
    /// `a + b`, [`LATENCY`] cycles later.
    pub sum: Signal<Out, W<32>>,
    unpacked: DFF<Unpacked>,
    aligned: DFF<Aligned>,
    added: DFF<Sum>,
    counted: DFF<Counted>,
    normal: DFF<Normal>,
    result: DFF<W<32>>,
    a_exponent: Wire<W<8>>,
    b_exponent: Wire<W<8>>,
    a_top: Wire<bool>,
    b_top: Wire<bool>,
    a_nan: Wire<bool>,
    b_nan: Wire<bool>,
    lesser: Wire<W<24>>,
    distance: Wire<W<8>>,
    wide: Wire<W<26>>,
    kept: Wire<W<26>>,
    above: Wire<W<26>>,
    lost: Wire<W<26>>,
    addend: Wire<W<29>>,
    minuend: Wire<W<29>>,
    total: Wire<W<29>>,
    marker: Wire<W<28>>,
    stop: Wire<W<28>>,
    zero16: Wire<bool>,
    scan16: Wire<W<16>>,
    zero8: Wire<bool>,
    scan8: Wire<W<8>>,
    zero4: Wire<bool>,
    scan4: Wire<W<4>>,
    zero2: Wire<bool>,
    scan2: Wire<W<2>>,
    shift: Wire<W<5>>,
    shifted: Wire<W<28>>,
    exponent: Wire<W<8>>,
    mantissa: Wire<W<24>>,
    truncated: Wire<W<32>>,
    increment: Wire<W<32>>,
    rounded: Wire<W<32>>,
    magnitude: Wire<W<32>>,
    _evaluated: bool,
}

impl FpAdd {
    #[hdl_gen]
    fn evaluate(&mut self) {
        dff_setup!(self, clock, unpacked, aligned, added, counted, normal, result);

        // 1: a subnormal has exponent 1 and no hidden bit.
        self.a_exponent.next = self.a.val().get_bits::<8>(23);
        self.b_exponent.next = self.b.val().get_bits::<8>(23);
        self.unpacked.d.next.a_mantissa = self.a.val().get_bits::<24>(0) | 0x80_0000;
        self.unpacked.d.next.b_mantissa = self.b.val().get_bits::<24>(0) | 0x80_0000;
        if self.a_exponent.val() == 0 {
            self.a_exponent.next = bits_w::<8>(1);
            self.unpacked.d.next.a_mantissa = self.a.val().get_bits::<24>(0);
        }
        if self.b_exponent.val() == 0 {
            self.b_exponent.next = bits_w::<8>(1);
            self.unpacked.d.next.b_mantissa = self.b.val().get_bits::<24>(0);
        }
        self.a_top.next = self.a_exponent.val() == 255;
        self.b_top.next = self.b_exponent.val() == 255;
        self.a_nan.next = self.a_top.val() && (self.a.val().get_bits::<23>(0) != 0);
        self.b_nan.next = self.b_top.val() && (self.b.val().get_bits::<23>(0) != 0);
        self.unpacked.d.next.a_sign = self.a.val().get_bit(31);
        self.unpacked.d.next.b_sign = self.b.val().get_bit(31);
        self.unpacked.d.next.a_exponent = self.a_exponent.val();
        self.unpacked.d.next.b_exponent = self.b_exponent.val();
        self.unpacked.d.next.a_minus_b = self.a_exponent.val() - self.b_exponent.val();
        self.unpacked.d.next.b_minus_a = self.b_exponent.val() - self.a_exponent.val();
        self.unpacked.d.next.a_smaller = self.a.val().get_bits::<31>(0) < self.b.val().get_bits::<31>(0);
        self.unpacked.d.next.infinite = self.a_top.val() || self.b_top.val();
        self.unpacked.d.next.nan = self.a_nan.val()
            || self.b_nan.val()
            || (self.a_top.val() && self.b_top.val() && (self.a.val().get_bit(31) != self.b.val().get_bit(31)));

        // 2: the smaller mantissa moves down; what falls off the end is or-ed into the sticky bit.
        self.aligned.d.next.sign = self.unpacked.q.val().a_sign;
        self.aligned.d.next.exponent = self.unpacked.q.val().a_exponent;
        self.aligned.d.next.mantissa = self.unpacked.q.val().a_mantissa;
        self.lesser.next = self.unpacked.q.val().b_mantissa;
        self.distance.next = self.unpacked.q.val().a_minus_b;
        if self.unpacked.q.val().a_smaller {
            self.aligned.d.next.sign = self.unpacked.q.val().b_sign;
            self.aligned.d.next.exponent = self.unpacked.q.val().b_exponent;
            self.aligned.d.next.mantissa = self.unpacked.q.val().b_mantissa;
            self.lesser.next = self.unpacked.q.val().a_mantissa;
            self.distance.next = self.unpacked.q.val().b_minus_a;
        }
        self.wide.next = bit_cast_w::<26, 24>(self.lesser.val()) << 2;
        self.kept.next = self.wide.val() >> self.distance.val();
        self.above.next = bits_w::<26>(0x3ff_ffff) << self.distance.val();
        self.lost.next = !self.above.val();
        self.addend.next = bit_cast_w::<29, 26>(self.kept.val()) << 2;
        if (self.wide.val() & self.lost.val()) != 0 {
            self.addend.next = self.addend.val() | 2;
        }
        self.aligned.d.next.subtract = self.unpacked.q.val().a_sign != self.unpacked.q.val().b_sign;
        if self.unpacked.q.val().a_sign != self.unpacked.q.val().b_sign {
            self.addend.next = self.addend.val() ^ 0x1fff_ffff;
        }
        self.aligned.d.next.addend = self.addend.val();
        self.aligned.d.next.infinite = self.unpacked.q.val().infinite;
        self.aligned.d.next.nan = self.unpacked.q.val().nan;

        // 3: the lowest bits of both make the carry that completes the two's complement.
        self.minuend.next = bit_cast_w::<29, 24>(self.aligned.q.val().mantissa) << 4;
        self.minuend.next = self.minuend.val() | 1;
        self.total.next = self.minuend.val() + self.aligned.q.val().addend;
        self.marker.next = bits_w::<28>(0x800_0000) >> self.aligned.q.val().exponent;
        self.added.d.next.sign = self.aligned.q.val().sign;
        self.added.d.next.subtract = self.aligned.q.val().subtract;
        self.added.d.next.exponent = self.aligned.q.val().exponent;
        self.added.d.next.sum = self.total.val().get_bits::<28>(1);
        self.added.d.next.stop = self.total.val().get_bits::<28>(1) | self.marker.val();
        self.added.d.next.infinite = self.aligned.q.val().infinite;
        self.added.d.next.nan = self.aligned.q.val().nan;

        // 4: leading zeros by halves.
        self.stop.next = self.added.q.val().stop;
        self.zero16.next = self.stop.val().get_bits::<16>(12) == 0;
        self.scan16.next = self.stop.val().get_bits::<16>(12);
        if self.zero16.val() {
            self.scan16.next = bit_cast_w::<16, 28>(self.stop.val()) << 4;
        }
        self.zero8.next = self.scan16.val().get_bits::<8>(8) == 0;
        self.scan8.next = self.scan16.val().get_bits::<8>(8);
        if self.zero8.val() {
            self.scan8.next = self.scan16.val().get_bits::<8>(0);
        }
        self.zero4.next = self.scan8.val().get_bits::<4>(4) == 0;
        self.scan4.next = self.scan8.val().get_bits::<4>(4);
        if self.zero4.val() {
            self.scan4.next = self.scan8.val().get_bits::<4>(0);
        }
        self.zero2.next = self.scan4.val().get_bits::<2>(2) == 0;
        self.scan2.next = self.scan4.val().get_bits::<2>(2);
        if self.zero2.val() {
            self.scan2.next = self.scan4.val().get_bits::<2>(0);
        }
        self.shift.next = bits_w::<5>(0);
        if !self.scan2.val().get_bit(1) {
            self.shift.next = bits_w::<5>(1);
        }
        if self.zero2.val() {
            self.shift.next = self.shift.val() | 2;
        }
        if self.zero4.val() {
            self.shift.next = self.shift.val() | 4;
        }
        if self.zero8.val() {
            self.shift.next = self.shift.val() | 8;
        }
        if self.zero16.val() {
            self.shift.next = self.shift.val() | 16;
        }
        self.counted.d.next.sign = self.added.q.val().sign;
        self.counted.d.next.exponent = self.added.q.val().exponent;
        self.counted.d.next.sum = self.added.q.val().sum;
        self.counted.d.next.shift = self.shift.val();
        if self.added.q.val().sum == 0 {
            // x - x is +0, but -0 + -0 is -0.
            self.counted.d.next.sign = self.added.q.val().sign && !self.added.q.val().subtract;
            self.counted.d.next.exponent = bits_w::<8>(0);
            self.counted.d.next.shift = bits_w::<5>(0);
        }
        self.counted.d.next.infinite = self.added.q.val().infinite;
        self.counted.d.next.nan = self.added.q.val().nan;

        // 5: four bits are left below the mantissa.
        self.shifted.next = self.counted.q.val().sum << self.counted.q.val().shift;
        self.exponent.next = self.counted.q.val().exponent - bit_cast_w::<8, 5>(self.counted.q.val().shift);
        self.normal.d.next.sign = self.counted.q.val().sign;
        self.normal.d.next.exponent = self.exponent.val();
        self.normal.d.next.mantissa = self.shifted.val().get_bits::<24>(4);
        self.normal.d.next.round_up = self.shifted.val().get_bit(3)
            && ((self.shifted.val().get_bits::<3>(0) != 0) || self.shifted.val().get_bit(4));
        self.normal.d.next.infinite = self.counted.q.val().infinite;
        self.normal.d.next.nan = self.counted.q.val().nan;

        // 6: the hidden bit and a carry out of the rounding both raise the exponent.
        self.mantissa.next = self.normal.q.val().mantissa;
        self.truncated.next = bit_cast_w::<32, 8>(self.normal.q.val().exponent) << 23;
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
        self.sum.next = self.result.q.val();
    }
}

evaluate_on_change!(FpAdd, inputs: a, b; registers: unpacked, aligned, added, counted, normal, result);

/// Adds two beats, lane by lane.
#[derive(LogicBlock, Default)]
pub struct FpAdd16 {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// One operand.
    pub a: Signal<In, Beat>,
    /// The other.
    pub b: Signal<In, Beat>,
    /// `a + b`, [`LATENCY`] cycles later.
    pub sum: Signal<Out, Beat>,
    lane: [FpAdd; 16],
    pack: Pack16,
}

impl Logic for FpAdd16 {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..16 {
            self.lane[i].clock.next = self.clock.val();
            self.lane[i].a.next = self.a.val().get_bits::<32>(i * 32);
            self.lane[i].b.next = self.b.val().get_bits::<32>(i * 32);
            self.pack.lane[i].next = self.lane[i].sum.val();
        }
        self.sum.next = self.pack.beat.val();
    }
}

clocked!(FpAdd, FpAdd16);
