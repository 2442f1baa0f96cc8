//! fp32 to fixed point, 16 lanes.
//!
//! Applies the requested signs and converts every lane to excess 2^31 on the block's scale.
//! Latency: 3 cycles. Throughput: one beat a cycle. No back-pressure or reset.
//! Limits: the tag's scale must be at least every lane's exponent field. Blocks with infinities or
//! NaNs produce arbitrary numbers, which `to_float` replaces.

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

#[derive(LogicBlock, Default)]
pub struct ToFixed {
    pub clock: Signal<In, Clock>,
    pub tag: Signal<In, Tag>,
    pub beat: Signal<In, Beat>,
    /// Bit i negates lane i.
    pub signs: Signal<In, W<16>>,
    lane: [FpToScaledInt; 16],
    pack: Pack16,
    tags: DFF<Tags>,
    pub out_tag: Signal<Out, Tag>,
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
