//! Sixteen lanes into one beat: wiring that the kernel language cannot express. No clock, no latency.

use crate::hdl::prelude::*;

/// Packs lanes, lane 0 in the low bits.
#[derive(LogicBlock, Default)]
pub struct Pack16 {
    /// The lanes.
    pub lane: [Signal<In, W<32>>; 16],
    /// All of them.
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
