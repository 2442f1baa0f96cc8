//! Packs sixteen lanes into a beat, which the kernel language cannot express.

use crate::hdl::prelude::*;

/// Lane 0 goes to the low bits. No clock, no latency.
#[derive(LogicBlock, Default)]
pub struct Pack16 {
    pub lane: [Signal<In, W<32>>; 16],
    pub beat: Signal<Out, Beat>,
}

impl Logic for Pack16 {
    fn update(&mut self) {
        self.beat.next = Beat(std::array::from_fn(|i| self.lane[i].val().raw() as u32));
    }

    fn connect(&mut self) {
        self.beat.connect();
    }

    fn hdl(&self) -> Verilog {
        let lanes: Vec<String> = (0..16).rev().map(|i| format!("lane${i}")).collect();
        Verilog::Custom(format!("always @(*) beat = {{{}}};", lanes.join(", ")))
    }
}
