//! IEEE-754 binary32 addition: [`FpAdd`] one lane, [`FpAdd16`] a beat.
//!
//! Round to nearest, ties to even. Subnormals are supported. Every NaN result is `0x7fc00000`.
//! Limits: no exception flags. Model: [`fp_add`](crate::arith::fp_add_model::fp_add).
//! Latency: [`LATENCY`] cycles. Throughput: one addition a cycle. No back-pressure, valid bit or
//! reset; registers power up as zeros.
//! Stages: order by magnitude, align, add, count leading zeros, normalise, round.

use crate::hdl::pack::Pack16;
use crate::hdl::prelude::*;

pub const LATENCY: usize = 6;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Ordered {
    /// Sign of the larger operand.
    sign: bool,
    subtract: bool,
    large_exponent: W<8>,
    large_fraction: W<23>,
    large_subnormal: bool,
    lesser_exponent: W<8>,
    lesser_fraction: W<23>,
    lesser_subnormal: bool,
}

/// Larger operand, and the value to add to its mantissa or subtract from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Aligned {
    sign: bool,
    subtract: bool,
    exponent: W<8>,
    mantissa: W<24>,
    /// Mantissa, guard and round bit of the smaller operand.
    lesser: W<26>,
    sticky: bool,
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
    /// The upper 16 bits of `sum` are zero.
    low: bool,
    infinite: bool,
    nan: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Counted {
    sign: bool,
    /// One too low if the leading one ends up at the top: adding that bit corrects it.
    exponent: W<8>,
    sum: W<28>,
    /// Distance to shift left, limited by the lowest exponent.
    up: W<5>,
    infinite: bool,
    nan: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Normal {
    sign: bool,
    exponent: W<8>,
    mantissa: W<24>,
    round_up: bool,
    infinite: bool,
    nan: bool,
}

#[derive(LogicBlock, Default, Ports)]
pub struct FpAdd {
    pub clock: Signal<In, Clock>,
    pub a: Signal<In, W<32>>,
    pub b: Signal<In, W<32>>,
    pub sum: Signal<Out, W<32>>,
    ordered: DFF<Ordered>,
    aligned: DFF<Aligned>,
    added: DFF<Sum>,
    counted: DFF<Counted>,
    normal: DFF<Normal>,
    result: DFF<W<32>>,
    a_exponent: Wire<W<8>>,
    b_exponent: Wire<W<8>>,
    large_exponent: Wire<W<8>>,
    lesser_exponent: Wire<W<8>>,
    larger: Wire<W<24>>,
    lesser: Wire<W<24>>,
    distance: Wire<W<8>>,
    wide: Wire<W<26>>,
    sixteens: Wire<W<26>>,
    fours: Wire<W<26>>,
    ones: Wire<W<26>>,
    lost_sixteens: Wire<bool>,
    lost_fours: Wire<bool>,
    lost_ones: Wire<bool>,
    addend: Wire<W<29>>,
    minuend: Wire<W<29>>,
    total: Wire<W<29>>,
    whole: Wire<W<28>>,
    scan16: Wire<W<16>>,
    scan8: Wire<W<8>>,
    scan4: Wire<W<4>>,
    scan2: Wire<W<2>>,
    zeros: Wire<W<5>>,
    lowered: Wire<W<9>>,
    up: Wire<W<5>>,
    up16: Wire<W<28>>,
    up4: Wire<W<28>>,
    up1: Wire<W<28>>,
    mantissa: Wire<W<24>>,
    truncated: Wire<W<31>>,
    increment: Wire<W<31>>,
    rounded: Wire<W<31>>,
    magnitude: Wire<W<32>>,
    _evaluated: bool,
}

#[sections]
impl FpAdd {
    #[hdl_gen]
    fn evaluate(&mut self) {
        dff_setup!(self, clock, ordered, aligned, added, counted, normal, result);

        self.order();
        self.align();
        self.add();
        self.count_zeros();
        self.normalize();
        self.round();
    }

    /// 1: orders the operands by magnitude.
    fn order(&mut self) {
        self.a_exponent.next = self.a.val().get_bits::<8>(23);
        self.b_exponent.next = self.b.val().get_bits::<8>(23);
        self.ordered.d.next.subtract = self.a.val().get_bit(31) != self.b.val().get_bit(31);
        if self.a.val().get_bits::<31>(0) < self.b.val().get_bits::<31>(0) {
            self.ordered.d.next.sign = self.b.val().get_bit(31);
            self.ordered.d.next.large_exponent = self.b_exponent.val();
            self.ordered.d.next.large_fraction = self.b.val().get_bits::<23>(0);
            self.ordered.d.next.large_subnormal = self.b_exponent.val() == 0;
            self.ordered.d.next.lesser_exponent = self.a_exponent.val();
            self.ordered.d.next.lesser_fraction = self.a.val().get_bits::<23>(0);
            self.ordered.d.next.lesser_subnormal = self.a_exponent.val() == 0;
        } else {
            self.ordered.d.next.sign = self.a.val().get_bit(31);
            self.ordered.d.next.large_exponent = self.a_exponent.val();
            self.ordered.d.next.large_fraction = self.a.val().get_bits::<23>(0);
            self.ordered.d.next.large_subnormal = self.a_exponent.val() == 0;
            self.ordered.d.next.lesser_exponent = self.b_exponent.val();
            self.ordered.d.next.lesser_fraction = self.b.val().get_bits::<23>(0);
            self.ordered.d.next.lesser_subnormal = self.b_exponent.val() == 0;
        }
    }

    /// 2: shifts the smaller mantissa right and collects lost bits in the sticky bit.
    ///
    /// A subnormal has exponent 1 and no hidden bit.
    fn align(&mut self) {
        self.large_exponent.next = self.ordered.q.val().large_exponent;
        self.larger.next = bit_cast_w::<24, 23>(self.ordered.q.val().large_fraction) | 0x80_0000;
        if self.ordered.q.val().large_subnormal {
            self.large_exponent.next = self.ordered.q.val().large_exponent | 1;
            self.larger.next = bit_cast_w::<24, 23>(self.ordered.q.val().large_fraction);
        }
        self.lesser_exponent.next = self.ordered.q.val().lesser_exponent;
        self.lesser.next = bit_cast_w::<24, 23>(self.ordered.q.val().lesser_fraction) | 0x80_0000;
        if self.ordered.q.val().lesser_subnormal {
            self.lesser_exponent.next = self.ordered.q.val().lesser_exponent | 1;
            self.lesser.next = bit_cast_w::<24, 23>(self.ordered.q.val().lesser_fraction);
        }
        self.distance.next = self.large_exponent.val() - self.lesser_exponent.val();
        self.wide.next = bit_cast_w::<26, 24>(self.lesser.val()) << 2;
        if self.distance.val().get_bits::<3>(5) != 0 {
            self.sixteens.next = bits_w::<26>(0);
            self.lost_sixteens.next = false; // far below half a unit in the last place
        } else if self.distance.val().get_bit(4) {
            self.sixteens.next = self.wide.val() >> 16;
            self.lost_sixteens.next = self.wide.val().get_bits::<16>(0) != 0;
        } else {
            self.sixteens.next = self.wide.val();
            self.lost_sixteens.next = false;
        }
        if self.distance.val().get_bit(3) && self.distance.val().get_bit(2) {
            self.fours.next = self.sixteens.val() >> 12;
            self.lost_fours.next = self.sixteens.val().get_bits::<12>(0) != 0;
        } else if self.distance.val().get_bit(3) {
            self.fours.next = self.sixteens.val() >> 8;
            self.lost_fours.next = self.sixteens.val().get_bits::<8>(0) != 0;
        } else if self.distance.val().get_bit(2) {
            self.fours.next = self.sixteens.val() >> 4;
            self.lost_fours.next = self.sixteens.val().get_bits::<4>(0) != 0;
        } else {
            self.fours.next = self.sixteens.val();
            self.lost_fours.next = false;
        }
        if self.distance.val().get_bit(1) && self.distance.val().get_bit(0) {
            self.ones.next = self.fours.val() >> 3;
            self.lost_ones.next = self.fours.val().get_bits::<3>(0) != 0;
        } else if self.distance.val().get_bit(1) {
            self.ones.next = self.fours.val() >> 2;
            self.lost_ones.next = self.fours.val().get_bits::<2>(0) != 0;
        } else if self.distance.val().get_bit(0) {
            self.ones.next = self.fours.val() >> 1;
            self.lost_ones.next = self.fours.val().get_bit(0);
        } else {
            self.ones.next = self.fours.val();
            self.lost_ones.next = false;
        }
        self.aligned.d.next.sign = self.ordered.q.val().sign;
        self.aligned.d.next.subtract = self.ordered.q.val().subtract;
        self.aligned.d.next.exponent = self.large_exponent.val();
        self.aligned.d.next.mantissa = self.larger.val();
        self.aligned.d.next.lesser = self.ones.val();
        self.aligned.d.next.sticky = self.lost_sixteens.val() || self.lost_fours.val() || self.lost_ones.val();
        // If the smaller operand is a NaN, so is the larger.
        self.aligned.d.next.infinite = self.ordered.q.val().large_exponent == 255;
        self.aligned.d.next.nan = (self.ordered.q.val().large_exponent == 255)
            && ((self.ordered.q.val().large_fraction != 0)
                || ((self.ordered.q.val().lesser_exponent == 255) && self.ordered.q.val().subtract));
    }

    /// 3: adds. The lowest bits of both operands make the carry of the two's complement.
    fn add(&mut self) {
        self.minuend.next = bit_cast_w::<29, 24>(self.aligned.q.val().mantissa) << 4;
        self.minuend.next = self.minuend.val() | 1;
        self.addend.next = bit_cast_w::<29, 26>(self.aligned.q.val().lesser) << 2;
        if self.aligned.q.val().sticky {
            self.addend.next = self.addend.val() | 2;
        }
        if self.aligned.q.val().subtract {
            self.addend.next = self.addend.val() ^ 0x1fff_ffff;
        }
        self.total.next = self.minuend.val() + self.addend.val();
        self.added.d.next.sign = self.aligned.q.val().sign;
        self.added.d.next.subtract = self.aligned.q.val().subtract;
        self.added.d.next.exponent = self.aligned.q.val().exponent;
        self.added.d.next.sum = self.total.val().get_bits::<28>(1);
        self.added.d.next.low = self.total.val().get_bits::<16>(13) == 0;
        self.added.d.next.infinite = self.aligned.q.val().infinite;
        self.added.d.next.nan = self.aligned.q.val().nan;
    }

    /// 4: counts leading zeros by halves.
    fn count_zeros(&mut self) {
        self.whole.next = self.added.q.val().sum;
        self.zeros.next = bits_w::<5>(0);
        self.scan16.next = self.whole.val().get_bits::<16>(12);
        if self.added.q.val().low {
            self.zeros.next = bits_w::<5>(16);
            self.scan16.next = bit_cast_w::<16, 28>(self.whole.val()) << 4;
        }
        self.scan8.next = self.scan16.val().get_bits::<8>(8);
        if self.scan16.val().get_bits::<8>(8) == 0 {
            self.zeros.next = self.zeros.val() | 8;
            self.scan8.next = self.scan16.val().get_bits::<8>(0);
        }
        self.scan4.next = self.scan8.val().get_bits::<4>(4);
        if self.scan8.val().get_bits::<4>(4) == 0 {
            self.zeros.next = self.zeros.val() | 4;
            self.scan4.next = self.scan8.val().get_bits::<4>(0);
        }
        self.scan2.next = self.scan4.val().get_bits::<2>(2);
        if self.scan4.val().get_bits::<2>(2) == 0 {
            self.zeros.next = self.zeros.val() | 2;
            self.scan2.next = self.scan4.val().get_bits::<2>(0);
        }
        if !self.scan2.val().get_bit(1) {
            self.zeros.next = self.zeros.val() | 1;
        }
        self.lowered.next = bit_cast_w::<9, 8>(self.added.q.val().exponent) - bit_cast_w::<9, 5>(self.zeros.val());
        self.counted.d.next.sign = self.added.q.val().sign;
        self.counted.d.next.exponent = self.lowered.val().get_bits::<8>(0);
        self.counted.d.next.up = self.zeros.val();
        if self.lowered.val().get_bit(8) {
            self.counted.d.next.exponent = bits_w::<8>(0);
            self.counted.d.next.up = bit_cast_w::<5, 8>(self.added.q.val().exponent);
        }
        if self.scan2.val() == 0 {
            // x - x is +0, but -0 + -0 is -0.
            self.counted.d.next.sign = self.added.q.val().sign && !self.added.q.val().subtract;
            self.counted.d.next.exponent = bits_w::<8>(0);
        }
        self.counted.d.next.sum = self.whole.val();
        self.counted.d.next.infinite = self.added.q.val().infinite;
        self.counted.d.next.nan = self.added.q.val().nan;
    }

    /// 5: shifts the sum left, which leaves four bits below the mantissa.
    fn normalize(&mut self) {
        self.up.next = self.counted.q.val().up;
        self.up16.next = self.counted.q.val().sum;
        if self.up.val().get_bit(4) {
            self.up16.next = self.counted.q.val().sum << 16;
        }
        if self.up.val().get_bit(3) && self.up.val().get_bit(2) {
            self.up4.next = self.up16.val() << 12;
        } else if self.up.val().get_bit(3) {
            self.up4.next = self.up16.val() << 8;
        } else if self.up.val().get_bit(2) {
            self.up4.next = self.up16.val() << 4;
        } else {
            self.up4.next = self.up16.val();
        }
        if self.up.val().get_bit(1) && self.up.val().get_bit(0) {
            self.up1.next = self.up4.val() << 3;
        } else if self.up.val().get_bit(1) {
            self.up1.next = self.up4.val() << 2;
        } else if self.up.val().get_bit(0) {
            self.up1.next = self.up4.val() << 1;
        } else {
            self.up1.next = self.up4.val();
        }
        self.normal.d.next.sign = self.counted.q.val().sign;
        self.normal.d.next.exponent = self.counted.q.val().exponent;
        self.normal.d.next.mantissa = self.up1.val().get_bits::<24>(4);
        self.normal.d.next.round_up =
            self.up1.val().get_bit(3) && ((self.up1.val().get_bits::<3>(0) != 0) || self.up1.val().get_bit(4));
        self.normal.d.next.infinite = self.counted.q.val().infinite;
        self.normal.d.next.nan = self.counted.q.val().nan;
    }

    /// 6: rounds. A leading one and a carry out of the rounding each raise the exponent.
    fn round(&mut self) {
        self.mantissa.next = self.normal.q.val().mantissa;
        self.truncated.next = (bit_cast_w::<31, 8>(self.normal.q.val().exponent) << 23)
            | (bit_cast_w::<31, 24>(self.mantissa.val()) & 0x7f_ffff);
        self.increment.next = bits_w::<31>(0);
        if self.mantissa.val().get_bit(23) {
            self.increment.next = bits_w::<31>(0x80_0000);
        }
        if self.normal.q.val().round_up {
            self.increment.next = self.increment.val() | 1;
        }
        self.rounded.next = self.truncated.val() + self.increment.val();
        self.magnitude.next = bit_cast_w::<32, 31>(self.rounded.val());
        if self.normal.q.val().infinite || (self.rounded.val().get_bits::<8>(23) == 255) {
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

evaluate_on_change!(FpAdd, inputs: a, b; registers: ordered, aligned, added, counted, normal, result);

#[derive(LogicBlock, Default)]
pub struct FpAdd16 {
    pub clock: Signal<In, Clock>,
    pub a: Signal<In, Beat>,
    pub b: Signal<In, Beat>,
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
