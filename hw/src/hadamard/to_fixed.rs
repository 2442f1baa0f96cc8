//! fp32 to the block's fixed point, 16 lanes.
//!
//! What: flips the requested signs and converts every lane to the block's scale, rounded to nearest even; the result is in
//! excess 2^31. A lane is a [`FpToScaledInt`]: the IEEE conversion, in units of the block.
//! Latency: that of the lanes, 3 cycles; one beat a cycle; no back-pressure; state is data, so no reset.
//! Limits: the tag's scale must be at least every lane's exponent field; a block with infinities or NaNs gives
//! meaningless numbers, which `to_float` replaces.

use super::flow::Tag;
use crate::arith::fp_to_int::FpToScaledInt;
use crate::hdl::pack::Pack16;
use crate::hdl::prelude::*;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Tags {
    aligned: Tag,
    shifted: Tag,
    rounded: Tag,
}

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
    lane: [FpToScaledInt; 16],
    pack: Pack16,
    tags: DFF<Tags>,
    /// Tag of the result.
    pub out_tag: Signal<Out, Tag>,
    /// Sixteen fixed-point numbers in excess 2^31.
    pub out_beat: Signal<Out, Beat>,
}

impl Logic for ToFixed {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, tags);
        for i in 0..16 {
            self.lane[i].clock.next = self.clock.val();
            self.lane[i].a.next = self.beat.val().get_bits::<32>(i * 32);
            if self.signs.val().get_bit(i) {
                self.lane[i].a.next = self.beat.val().get_bits::<32>(i * 32) ^ 0x8000_0000u64;
            }
            self.lane[i].scale.next = self.tag.val().scale;
            self.pack.lane[i].next = self.lane[i].result.val() ^ 0x8000_0000u64;
        }
        self.tags.d.next.aligned = self.tag.val();
        self.tags.d.next.shifted = self.tags.q.val().aligned;
        self.tags.d.next.rounded = self.tags.q.val().shifted;
        self.out_tag.next = self.tags.q.val().rounded;
        self.out_beat.next = self.pack.beat.val();
    }
}

clocked!(ToFixed);
