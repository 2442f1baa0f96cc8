//! One butterfly stage across beats: single-path delay feedback.
//!
//! What: a + b and a - b, lane by lane, of the beats at position p and p + D of a block. D = 2^k.
//! How: while bit k of the position is 0 the beat goes into a delay memory of D beats; when its partner arrives the
//! sum leaves at once and the difference takes its place in the memory, to leave D cycles later. The memory moves
//! every cycle, so a block flushes itself while the next one, or nothing, enters; the tag stored with each beat says
//! whether it is a finished difference.
//! Latency: D + 1 cycles, 1 when bypassed; one beat a cycle; no back-pressure.
//! Limits: the 2D beats of a group must come without bubbles; bursts are whole blocks. `bypass` may change only
//! while nothing is inside. The position returns to 0 by itself after every whole block, so there is no reset.
//! Lanes are in excess 2^31; `halve` as in `in_beat`.

use super::flow::{FlowDelay, Tag, evaluate_stage};
use crate::prelude::*;

/// A butterfly between beats that are D apart.
#[derive(LogicBlock)]
pub struct Across {
    /// The clock.
    pub clock: Signal<In, Clock>,
    /// Pass beats through: the block is too small for this distance.
    pub bypass: Signal<In, bool>,
    /// Tag of the beat.
    pub tag: Signal<In, Tag>,
    /// Sixteen numbers in excess 2^31.
    pub beat: Signal<In, Beat>,
    halve: Constant<bool>,
    distance: Constant<W<10>>,
    position: DFF<W<10>>,
    phase: Wire<W<10>>,
    butterfly: Wire<bool>,
    a: [Wire<W<32>>; 16],
    b: [Wire<W<32>>; 16],
    delay: FlowDelay,
    result: FlowDelay,
    /// Tag of the result.
    pub out_tag: Signal<Out, Tag>,
    /// The result.
    pub out_beat: Signal<Out, Beat>,
    _evaluated: bool,
}

impl Across {
    /// The stage of distance `2^k` beats; it halves its results when `k` is odd.
    ///
    /// # Panics
    /// When `k` is above 9: a design error.
    pub fn new(k: usize) -> Self {
        assert!(k < 10, "positions have 10 bits, distance 2^{k}");
        Across {
            clock: Default::default(),
            bypass: Default::default(),
            tag: Default::default(),
            beat: Default::default(),
            halve: Constant::new(k % 2 == 1),
            distance: Constant::new(bits_w(1 << k)),
            position: Default::default(),
            phase: Default::default(),
            butterfly: Default::default(),
            a: Default::default(),
            b: Default::default(),
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
        self.butterfly.next = self.tag.val().valid && !self.bypass.val() && (self.phase.val() != 0);
        if self.tag.val().valid && !self.bypass.val() {
            self.position.d.next = self.position.q.val() + 1;
        }

        self.delay.tag.next = self.tag.val();
        self.result.tag.next = self.tag.val();
        if !self.butterfly.val() {
            self.delay.tag.next.valid = false;
            if !self.bypass.val() {
                self.result.tag.next = self.delay.out_tag.val();
            }
        }
        for i in 0..16 {
            self.a[i].next = self.delay.out_beat.val().get_bits::<32>(i * 32);
            self.b[i].next = self.beat.val().get_bits::<32>(i * 32);
        }
        for i in 0..16 {
            if self.butterfly.val() {
                if self.halve.val() {
                    self.result.lane[i].next =
                        (self.a[i].val() >> 1) + (self.b[i].val() >> 1) + ((self.a[i].val() | self.b[i].val()) & 1);
                    self.delay.lane[i].next = (self.a[i].val() >> 1) - (self.b[i].val() >> 1)
                        + (self.a[i].val() & (self.b[i].val() ^ 1) & 1)
                        + 0x8000_0000u64;
                } else {
                    self.result.lane[i].next = self.a[i].val() + self.b[i].val() + 0x8000_0000u64;
                    self.delay.lane[i].next = self.a[i].val() - self.b[i].val() + 0x8000_0000u64;
                }
            } else {
                self.delay.lane[i].next = self.b[i].val();
                if self.bypass.val() {
                    self.result.lane[i].next = self.b[i].val();
                } else {
                    self.result.lane[i].next = self.a[i].val();
                }
            }
        }
        self.out_tag.next = self.result.out_tag.val();
        self.out_beat.next = self.result.out_beat.val();
    }
}

evaluate_stage!(Across, inputs: bypass, tag, beat; delays: delay, result; registers: position);
clocked!(Across);
