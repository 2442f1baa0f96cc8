//! One butterfly stage inside a beat.
//!
//! Computes a + b and b - a (see `across`) on neighbouring lanes (2i, 2i + 1), with results in
//! lanes i and i + 8. This shuffle moves the transformed index bit to the top, so four equal stages
//! are the 16-point Walsh-Hadamard transform in natural order.
//! Lanes are in excess 2^31. `halve` halves both operands first. a rounds down, b up for the sum
//! and down for the difference. An odd b only sets the carry of the sum, so 32 bits are enough.
//! Latency: 1 cycle. Throughput: one beat a cycle. No back-pressure or reset.

use super::flow::{FlowDelay, Tag, evaluate_stage};
use crate::hdl::prelude::*;

#[derive(LogicBlock)]
pub struct InBeat {
    pub clock: Signal<In, Clock>,
    pub tag: Signal<In, Tag>,
    pub beat: Signal<In, Beat>,
    halve: Constant<bool>,
    a: [Wire<W<32>>; 8],
    b: [Wire<W<32>>; 8],
    sum: [Wire<W<32>>; 8],
    result: FlowDelay,
    pub out_tag: Signal<Out, Tag>,
    pub out_beat: Signal<Out, Beat>,
    _evaluated: bool,
}

impl InBeat {
    pub fn new(halve: bool) -> Self {
        InBeat {
            clock: Default::default(),
            tag: Default::default(),
            beat: Default::default(),
            halve: Constant::new(halve),
            a: Default::default(),
            b: Default::default(),
            sum: Default::default(),
            result: Default::default(),
            out_tag: Default::default(),
            out_beat: Default::default(),
            _evaluated: false,
        }
    }
}

impl InBeat {
    #[hdl_gen]
    fn evaluate(&mut self) {
        self.result.clock.next = self.clock.val();
        self.result.tag.next = self.tag.val();
        for i in 0..8 {
            self.a[i].next = self.beat.val().get_bits::<32>(i * 64);
            self.b[i].next = self.beat.val().get_bits::<32>(i * 64 + 32);
        }
        for i in 0..8 {
            if self.halve.val() {
                self.sum[i].next = (self.a[i].val() >> 1) + (self.b[i].val() >> 1) + (self.b[i].val() & 1);
                self.a[i].next = self.a[i].val() >> 1;
                self.b[i].next = self.b[i].val() >> 1;
            } else {
                self.sum[i].next = self.a[i].val() + (self.b[i].val() ^ 0x8000_0000u64);
            }
            self.result.lane[i].next = self.sum[i].val();
            self.result.lane[i + 8].next = (self.b[i].val() ^ 0x8000_0000u64) - self.a[i].val();
        }
        self.out_tag.next = self.result.out_tag.val();
        self.out_beat.next = self.result.out_beat.val();
    }
}

evaluate_stage!(InBeat, inputs: tag, beat; delays: result; registers: );
clocked!(InBeat);
