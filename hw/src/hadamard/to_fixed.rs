//! fp32 to the block's fixed point, 16 lanes.
//!
//! What: flips the signs asked for and places every lane's mantissa on the block's scale (`model::to_fixed`), rounded
//! to nearest even; the result is in excess 2^31.
//! Latency: 3 cycles (align, shift, round); one beat a cycle; no back-pressure; state is data, so no reset.
//! Limits: the tag's scale must be at least every lane's exponent field; a block with infinities or NaNs gives
//! numbers of no meaning, which `to_float` replaces.
//! Words between the stages, per lane: sign 31, shift 28..24, mantissa 23..0; then sign 31, round up 30, whole 25..0.

use super::flow::{FlowDelay, Tag, evaluate_stage};
use crate::prelude::*;

/// fp32 to fixed point. See the module for what and why.
#[derive(LogicBlock, Default)]
pub struct ToFixed {
    /// The clock.
    pub clock: Signal<In, Clock>,
    /// Tag of the beat.
    pub tag: Signal<In, Tag>,
    /// Sixteen fp32 values.
    pub beat: Signal<In, Beat>,
    /// Bit i negates lane i; sampled with the beat.
    pub signs: Signal<In, W<16>>,
    scale: Wire<W<32>>,
    float: [Wire<W<32>>; 16],
    exponent: [Wire<W<32>>; 16],
    distance: [Wire<W<32>>; 16],
    hidden: [Wire<W<32>>; 16],
    flip: [Wire<W<32>>; 16],
    aligned: FlowDelay,
    parts: [Wire<W<32>>; 16],
    mantissa: [Wire<W<32>>; 16],
    shifted: [Wire<W<32>>; 16],
    kept: [Wire<W<32>>; 16],
    up: [Wire<W<32>>; 16],
    placed: FlowDelay,
    unrounded: [Wire<W<32>>; 16],
    magnitude: [Wire<W<32>>; 16],
    rounded: FlowDelay,
    /// Tag of the result.
    pub out_tag: Signal<Out, Tag>,
    /// Sixteen fixed-point numbers in excess 2^31.
    pub out_beat: Signal<Out, Beat>,
    _evaluated: bool,
}

impl ToFixed {
    #[hdl_gen]
    fn evaluate(&mut self) {
        self.aligned.clock.next = self.clock.val();
        self.placed.clock.next = self.clock.val();
        self.rounded.clock.next = self.clock.val();

        // Align: how far right of the block's scale is this lane?
        self.aligned.tag.next = self.tag.val();
        self.scale.next = bit_cast_w::<32, 9>(self.tag.val().scale);
        for i in 0..16 {
            self.float[i].next = self.beat.val().get_bits::<32>(i * 32);
        }
        for i in 0..16 {
            self.exponent[i].next = (self.float[i].val() >> 23) & 0xff;
            if self.exponent[i].val() == 0 {
                self.distance[i].next = self.scale.val() - 1;
                self.hidden[i].next = bits_w::<32>(0);
            } else {
                self.distance[i].next = self.scale.val() - self.exponent[i].val();
                self.hidden[i].next = bits_w::<32>(0x80_0000);
            }
            if self.distance[i].val() > 31 {
                self.distance[i].next = bits_w::<32>(31);
            }
            self.flip[i].next = bits_w::<32>(0);
            if self.signs.val().get_bit(i) {
                self.flip[i].next = bits_w::<32>(0x8000_0000u64);
            }
            self.aligned.lane[i].next = ((self.float[i].val() & 0x807f_ffffu64) ^ self.flip[i].val())
                | self.hidden[i].val()
                | (self.distance[i].val() << 24);
        }

        // Shift: 26 whole bits from bit 6 up; bit 5, the bits below it and those shifted out decide the rounding.
        self.placed.tag.next = self.aligned.out_tag.val();
        for i in 0..16 {
            self.parts[i].next = self.aligned.out_beat.val().get_bits::<32>(i * 32);
        }
        for i in 0..16 {
            self.mantissa[i].next = self.parts[i].val() << 8;
            self.shifted[i].next = self.mantissa[i].val() >> self.parts[i].val().get_bits::<5>(24);
            self.kept[i].next = bits_w::<32>(0xffff_ffffu64) << self.parts[i].val().get_bits::<5>(24);
            self.kept[i].next = self.kept[i].val() & self.mantissa[i].val();
            self.up[i].next = bits_w::<32>(0);
            if self.shifted[i].val().get_bit(5)
                && (self.shifted[i].val().get_bit(6)
                    || (self.shifted[i].val().get_bits::<5>(0) != 0)
                    || (self.kept[i].val() != self.mantissa[i].val()))
            {
                self.up[i].next = bits_w::<32>(0x4000_0000);
            }
            self.placed.lane[i].next =
                (self.parts[i].val() & 0x8000_0000u64) | self.up[i].val() | (self.shifted[i].val() >> 6);
        }

        // Round, and move to excess 2^31.
        self.rounded.tag.next = self.placed.out_tag.val();
        for i in 0..16 {
            self.unrounded[i].next = self.placed.out_beat.val().get_bits::<32>(i * 32);
        }
        for i in 0..16 {
            self.magnitude[i].next = (self.unrounded[i].val() & 0x3fff_ffff) + ((self.unrounded[i].val() >> 30) & 1);
            if self.unrounded[i].val().get_bit(31) {
                self.rounded.lane[i].next = bits_w::<32>(0x8000_0000u64) - self.magnitude[i].val();
            } else {
                self.rounded.lane[i].next = bits_w::<32>(0x8000_0000u64) + self.magnitude[i].val();
            }
        }
        self.out_tag.next = self.rounded.out_tag.val();
        self.out_beat.next = self.rounded.out_beat.val();
    }
}

evaluate_stage!(ToFixed, inputs: tag, beat, signs; delays: aligned, placed, rounded; registers: );
clocked!(ToFixed);
