//! One butterfly stage across beats: single-path delay feedback.
//!
//! Computes a + b and b - a by lane on the beats at positions p and p + D of a block, D = 2^k.
//! While bit k of the position is 0, beats enter a delay memory of D beats. When the partner
//! arrives, the sum leaves and the difference replaces `a` in the memory, to leave D cycles later.
//! The memory advances every cycle, so a block leaves with or without a successor. Tags mark which
//! stored beats are finished differences.
//! The output is `a` plus `b` or zero, and the memory stores `b` minus `a` or zero. Each is one
//! adder with one LUT per bit, whereas a - b would need a selector. The tag marks the difference as
//! negated, and `to_float` corrects it.
//! Lanes are in excess 2^31. `halve` works as in `in_beat`, and `a` is halved before it is stored.
//! Latency: D + 1 cycles. Throughput: one beat a cycle. No back-pressure.
//! Reset: none. The position returns to 0 after every whole block.
//! Limits: the 2D beats of a group must arrive without bubbles, in whole blocks. `enable` may
//! change only while the stage is empty. Beats that enter while it is low are dropped.

use super::flow::{FlowDelay, Tag, evaluate_stage};
use crate::hdl::prelude::*;

#[derive(LogicBlock)]
pub struct Across {
    pub clock: Signal<In, Clock>,
    /// Blocks are large enough for this distance.
    pub enable: Signal<In, bool>,
    pub tag: Signal<In, Tag>,
    pub beat: Signal<In, Beat>,
    halve: Constant<bool>,
    distance: Constant<W<10>>,
    position: DFF<W<10>>,
    phase: Wire<W<10>>,
    entering: Wire<bool>,
    butterfly: Wire<bool>,
    mask: Wire<W<32>>,
    a: Wire<W<32>>,
    b: Wire<W<32>>,
    more: Wire<W<32>>,
    less: Wire<W<32>>,
    minus: Wire<W<33>>,
    sum: Wire<W<33>>,
    delay: FlowDelay,
    result: FlowDelay,
    pub out_tag: Signal<Out, Tag>,
    pub out_beat: Signal<Out, Beat>,
    _evaluated: bool,
}

impl Across {
    /// Creates the stage of distance `2^k` beats. Odd `k` halves the operands.
    ///
    /// # Panics
    /// If `k` is above 9.
    pub fn new(k: usize) -> Self {
        assert!(k < 10, "positions have 10 bits, distance 2^{k}");
        Across {
            clock: Default::default(),
            enable: Default::default(),
            tag: Default::default(),
            beat: Default::default(),
            halve: Constant::new(k % 2 == 1),
            distance: Constant::new(bits_w(1 << k)),
            position: Default::default(),
            phase: Default::default(),
            entering: Default::default(),
            butterfly: Default::default(),
            mask: Default::default(),
            a: Default::default(),
            b: Default::default(),
            more: Default::default(),
            less: Default::default(),
            minus: Default::default(),
            sum: Default::default(),
            delay: FlowDelay::new(1 << k),
            result: Default::default(),
            out_tag: Default::default(),
            out_beat: Default::default(),
            _evaluated: false,
        }
    }
}

impl Across {
    #[hdl_gen]
    fn evaluate(&mut self) {
        dff_setup!(self, clock, position);
        self.delay.clock.next = self.clock.val();
        self.result.clock.next = self.clock.val();

        self.phase.next = self.position.q.val() & self.distance.val();
        self.entering.next = self.tag.val().valid && self.enable.val();
        self.butterfly.next = self.entering.val() && (self.phase.val() != 0);
        if self.entering.val() {
            self.position.d.next = self.position.q.val() + 1;
        }

        self.delay.tag.next = self.tag.val();
        self.delay.tag.next.negated = !self.tag.val().negated;
        self.result.tag.next = self.tag.val();
        self.mask.next = bits_w::<32>(0xffff_ffffu64);
        if !self.butterfly.val() {
            self.delay.tag.next.valid = false;
            self.result.tag.next = self.delay.out_tag.val();
            self.mask.next = bits_w::<32>(0);
        }

        // The value subtracted from `b` or added to `a` is zero unless both are present. The sum is
        // written as a difference with the complement, which makes yosys use one LUT per bit. An
        // extra bit at the bottom makes the carry of the complement, or of the rounding of `b`.
        for i in 0..16 {
            self.a.next = self.delay.out_beat.val().get_bits::<32>(i * 32);
            self.b.next = self.beat.val().get_bits::<32>(i * 32);
            self.less.next = (self.a.val() ^ 0x8000_0000u64) & self.mask.val();
            if self.halve.val() {
                self.more.next = self.b.val() & self.mask.val();
                self.delay.lane[i].next = (self.b.val() >> 1) - self.less.val();
                self.minus.next = bit_cast_w::<33, 32>(self.more.val()) ^ 0x1_ffff_ffffu64;
            } else {
                self.more.next = (self.b.val() ^ 0x8000_0000u64) & self.mask.val();
                self.delay.lane[i].next = self.b.val() - self.less.val();
                self.minus.next = (bit_cast_w::<33, 32>(self.more.val()) << 1) ^ 0x1_ffff_ffffu64;
            }
            self.sum.next = (bit_cast_w::<33, 32>(self.a.val()) << 1) - self.minus.val();
            self.result.lane[i].next = self.sum.val().get_bits::<32>(1);
        }
        self.out_tag.next = self.result.out_tag.val();
        self.out_beat.next = self.result.out_beat.val();
    }
}

evaluate_stage!(Across, inputs: enable, tag, beat; delays: delay, result; registers: position);
clocked!(Across);
