//! The block's fixed point to fp32, 16 lanes.
//!
//! What: flips the signs asked for and turns every lane from excess 2^31 on the block's scale into fp32, rounded to
//! nearest even (`model::to_float`). Below the smallest normal number: +0. Too large: infinity. A special block: NaN.
//! Latency: 5 cycles (magnitude, coarse and fine normalisation, round, compose); one beat a cycle; no back-pressure;
//! state is data, so no reset.
//! Limits: magnitudes below 2^31, which the engine's growth bound guarantees.
//! Words between the stages, per lane: sign 31, magnitude 30..0; the same and, beside it, the zeros counted so far;
//! sign 31, mantissa 30..7, guard 6, sticky 5, zeros 4..0; sign 31, zeros 29..25, rounded mantissa 24..0.

use super::flow::{FlowDelay, Tag, evaluate_stage};
use crate::prelude::*;

/// Fixed point to fp32. See the module for what and why.
#[derive(LogicBlock, Default)]
pub struct ToFloat {
    /// The clock.
    pub clock: Signal<In, Clock>,
    /// Tag of the beat.
    pub tag: Signal<In, Tag>,
    /// Sixteen numbers in excess 2^31.
    pub beat: Signal<In, Beat>,
    /// Bit i negates lane i; sampled with the beat.
    pub signs: Signal<In, W<16>>,
    number: [Wire<W<32>>; 16],
    magnitude: [Wire<W<32>>; 16],
    split: FlowDelay,
    whole: [Wire<W<32>>; 16],
    by0: [Wire<W<32>>; 16],
    by16: [Wire<W<32>>; 16],
    by8: [Wire<W<32>>; 16],
    coarse_zeros: [Wire<W<32>>; 16],
    coarse: FlowDelay,
    counted: FlowDelay,
    half: [Wire<W<32>>; 16],
    mid: [Wire<W<32>>; 16],
    by4: [Wire<W<32>>; 16],
    by2: [Wire<W<32>>; 16],
    by1: [Wire<W<32>>; 16],
    zeros: [Wire<W<32>>; 16],
    sticky: [Wire<W<32>>; 16],
    fine: FlowDelay,
    normal: [Wire<W<32>>; 16],
    up: [Wire<W<32>>; 16],
    mantissa: [Wire<W<32>>; 16],
    rounded: FlowDelay,
    top: Wire<W<32>>,
    parts: [Wire<W<32>>; 16],
    exponent: [Wire<W<32>>; 16],
    composed: FlowDelay,
    /// Tag of the result.
    pub out_tag: Signal<Out, Tag>,
    /// Sixteen fp32 values.
    pub out_beat: Signal<Out, Beat>,
    _evaluated: bool,
}

impl ToFloat {
    #[hdl_gen]
    fn evaluate(&mut self) {
        self.split.clock.next = self.clock.val();
        self.coarse.clock.next = self.clock.val();
        self.counted.clock.next = self.clock.val();
        self.fine.clock.next = self.clock.val();
        self.rounded.clock.next = self.clock.val();
        self.composed.clock.next = self.clock.val();

        // Sign and magnitude.
        self.split.tag.next = self.tag.val();
        for i in 0..16 {
            self.number[i].next = self.beat.val().get_bits::<32>(i * 32);
        }
        for i in 0..16 {
            if self.number[i].val().get_bit(31) {
                self.magnitude[i].next = self.number[i].val() & 0x7fff_ffff;
            } else {
                self.magnitude[i].next = bits_w::<32>(0x8000_0000u64) - self.number[i].val();
            }
            self.split.lane[i].next = self.magnitude[i].val();
            if self.number[i].val().get_bit(31) == self.signs.val().get_bit(i) {
                self.split.lane[i].next = self.magnitude[i].val() | 0x8000_0000u64;
            }
        }

        // Coarse normalisation: by 16 and by 8, towards bit 30.
        self.coarse.tag.next = self.split.out_tag.val();
        self.counted.tag.next = self.split.out_tag.val();
        for i in 0..16 {
            self.whole[i].next = self.split.out_beat.val().get_bits::<32>(i * 32);
        }
        for i in 0..16 {
            self.by0[i].next = self.whole[i].val() & 0x7fff_ffff;
            self.by16[i].next = self.by0[i].val();
            self.coarse_zeros[i].next = bits_w::<32>(0);
            if self.by0[i].val().get_bits::<16>(15) == 0 {
                self.by16[i].next = self.by0[i].val() << 16;
                self.coarse_zeros[i].next = bits_w::<32>(16);
            }
            self.by8[i].next = self.by16[i].val();
            self.counted.lane[i].next = self.coarse_zeros[i].val();
            if self.by16[i].val().get_bits::<8>(23) == 0 {
                self.by8[i].next = self.by16[i].val() << 8;
                self.counted.lane[i].next = self.coarse_zeros[i].val() | 8;
            }
            self.coarse.lane[i].next = (self.whole[i].val() & 0x8000_0000u64) | self.by8[i].val();
        }

        // Fine normalisation: by 4, 2 and 1; the six bits below the guard become one.
        self.fine.tag.next = self.coarse.out_tag.val();
        for i in 0..16 {
            self.half[i].next = self.coarse.out_beat.val().get_bits::<32>(i * 32);
            self.zeros[i].next = self.counted.out_beat.val().get_bits::<32>(i * 32);
        }
        for i in 0..16 {
            self.mid[i].next = self.half[i].val() & 0x7fff_ffff;
            self.by4[i].next = self.mid[i].val();
            if self.mid[i].val().get_bits::<4>(27) == 0 {
                self.by4[i].next = self.mid[i].val() << 4;
                self.zeros[i].next = self.zeros[i].val() | 4;
            }
            self.by2[i].next = self.by4[i].val();
            if self.by4[i].val().get_bits::<2>(29) == 0 {
                self.by2[i].next = self.by4[i].val() << 2;
                self.zeros[i].next = self.zeros[i].val() | 2;
            }
            self.by1[i].next = self.by2[i].val();
            if !self.by2[i].val().get_bit(30) {
                self.by1[i].next = self.by2[i].val() << 1;
                self.zeros[i].next = self.zeros[i].val() | 1;
            }
            self.sticky[i].next = bits_w::<32>(0);
            if self.by1[i].val().get_bits::<6>(0) != 0 {
                self.sticky[i].next = bits_w::<32>(32);
            }
            self.fine.lane[i].next = (self.half[i].val() & 0x8000_0000u64)
                | (self.by1[i].val() & 0x7fff_ffc0)
                | self.sticky[i].val()
                | self.zeros[i].val();
        }

        // Round to nearest even.
        self.rounded.tag.next = self.fine.out_tag.val();
        for i in 0..16 {
            self.normal[i].next = self.fine.out_beat.val().get_bits::<32>(i * 32);
        }
        for i in 0..16 {
            self.up[i].next = bits_w::<32>(0);
            if self.normal[i].val().get_bit(6) && (self.normal[i].val().get_bit(5) || self.normal[i].val().get_bit(7)) {
                self.up[i].next = bits_w::<32>(1);
            }
            self.mantissa[i].next = ((self.normal[i].val() >> 7) & 0xff_ffff) + self.up[i].val();
            self.rounded.lane[i].next = (self.normal[i].val() & 0x8000_0000u64)
                | ((self.normal[i].val() & 0x1f) << 25)
                | self.mantissa[i].val();
        }

        // Compose: exponent = scale + 5 - zeros + carry, as a 32-bit number that may be negative.
        self.composed.tag.next = self.rounded.out_tag.val();
        self.top.next = bit_cast_w::<32, 9>(self.rounded.out_tag.val().scale);
        for i in 0..16 {
            self.parts[i].next = self.rounded.out_beat.val().get_bits::<32>(i * 32);
        }
        for i in 0..16 {
            self.exponent[i].next =
                self.top.val() + 5 - ((self.parts[i].val() >> 25) & 0x1f) + ((self.parts[i].val() >> 24) & 1);
            if self.rounded.out_tag.val().special {
                self.composed.lane[i].next = bits_w::<32>(0x7fc0_0000);
            } else if (self.parts[i].val().get_bits::<2>(23) == 0)
                || (self.exponent[i].val() == 0)
                || self.exponent[i].val().get_bit(31)
            {
                self.composed.lane[i].next = bits_w::<32>(0);
            } else if self.exponent[i].val() > 254 {
                self.composed.lane[i].next = (self.parts[i].val() & 0x8000_0000u64) | 0x7f80_0000;
            } else {
                self.composed.lane[i].next = (self.parts[i].val() & 0x807f_ffffu64) | (self.exponent[i].val() << 23);
            }
        }
        self.out_tag.next = self.composed.out_tag.val();
        self.out_beat.next = self.composed.out_beat.val();
    }
}

evaluate_stage!(
    ToFloat,
    inputs: tag, beat, signs;
    delays: split, coarse, counted, fine, rounded, composed;
    registers:
);
clocked!(ToFloat);
