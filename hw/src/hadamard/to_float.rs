//! Fixed point to fp32, 16 lanes.
//!
//! Applies the requested signs and those missing from the butterflies, and converts every lane from
//! excess 2^31 on the block's scale to fp32. Lanes of a special block become NaN.
//! Latency: 5 cycles. Throughput: one beat a cycle. No back-pressure or reset.

use super::flow::Tag;
use crate::arith::int_to_fp::ScaledIntToFp;
use crate::hdl::pack::Pack16;
use crate::hdl::prelude::*;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Tags {
    whole: Tag,
    coarse: Tag,
    fine: Tag,
    rounded: Tag,
    composed: Tag,
}

#[derive(LogicBlock, Default)]
pub struct ToFloat {
    pub clock: Signal<In, Clock>,
    pub tag: Signal<In, Tag>,
    pub beat: Signal<In, Beat>,
    /// Bit i negates lane i of the beat from four cycles earlier.
    pub signs: Signal<In, W<16>>,
    /// The beat from four cycles earlier is valid and uses `signs` now.
    pub take: Signal<Out, bool>,
    pub take_odd: Signal<Out, bool>,
    lane: [ScaledIntToFp; 16],
    pack: Pack16,
    tags: DFF<Tags>,
    earlier: Wire<Tag>,
    now: Wire<Tag>,
    latest: Wire<Tag>,
    flips: Wire<W<16>>,
    pub out_tag: Signal<Out, Tag>,
    pub out_beat: Signal<Out, Beat>,
}

impl Logic for ToFloat {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, tags);
        self.tags.d.next.whole = self.tag.val();
        self.tags.d.next.coarse = self.tags.q.val().whole;
        self.tags.d.next.fine = self.tags.q.val().coarse;
        self.tags.d.next.rounded = self.tags.q.val().fine;
        self.tags.d.next.composed = self.tags.q.val().rounded;
        self.earlier.next = self.tags.q.val().fine;
        self.now.next = self.tags.q.val().rounded;
        self.latest.next = self.tags.q.val().composed;
        self.take.next = self.now.val().valid;
        self.take_odd.next = self.now.val().odd;

        // The butterflies inside the beat negate lanes whose number has an odd number of ones.
        self.flips.next = self.signs.val() ^ 0x6996;
        if self.now.val().negated {
            self.flips.next = self.flips.val() ^ 0xffff;
        }
        for i in 0..16 {
            self.lane[i].clock.next = self.clock.val();
            self.lane[i].a.next = self.beat.val().get_bits::<32>(i * 32) ^ 0x8000_0000u64;
            self.lane[i].scale.next = self.earlier.val().scale;
            self.lane[i].special.next = self.now.val().special;
            self.lane[i].negate.next = self.flips.val().get_bit(i);
            self.pack.lane[i].next = self.lane[i].result.val();
        }
        self.out_tag.next = self.latest.val();
        self.out_beat.next = self.pack.beat.val();
    }
}

clocked!(ToFloat);
