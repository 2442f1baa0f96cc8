//! Wiring that the kernel language cannot express: hand-written Verilog with its Rust equivalent.
//!
//! These blocks have no clock and no latency.

use crate::hdl::prelude::*;

/// Operand for adding a contribution: `data` if `fresh`, else -0.0, the identity of IEEE addition.
#[derive(LogicBlock, Default)]
pub struct OrNegativeZero {
    pub fresh: Signal<In, bool>,
    pub data: Signal<In, Beat>,
    pub sum: Signal<Out, Beat>,
}

impl Logic for OrNegativeZero {
    fn update(&mut self) {
        self.sum.next = if self.fresh.val() { self.data.val() } else { Beat([0x8000_0000; 16]) };
    }
    fn connect(&mut self) {
        self.sum.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom("always @(*) sum = fresh ? data : {16{32'h80000000}};".into())
    }
}

/// Shifts 16 bits into the top of a beat. After 32 words the first one is in the low bits.
#[derive(LogicBlock, Default)]
pub struct ShiftIn {
    pub data: Signal<In, Beat>,
    pub word: Signal<In, W<16>>,
    pub shifted: Signal<Out, Beat>,
}

impl Logic for ShiftIn {
    fn update(&mut self) {
        let data = self.data.val();
        let mut out = Beat(std::array::from_fn(|i| data.0[i] >> 16 | data.0.get(i + 1).map_or(0, |high| high << 16)));
        out.0[15] |= (self.word.val().raw() as u32) << 16;
        self.shifted.next = out;
    }
    fn connect(&mut self) {
        self.shifted.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom("always @(*) shifted = {word, data[511:16]};\nwire unused = &data[15:0];".into())
    }
}

/// Converts half a beat of bf16 to a beat of fp32; passes a beat of fp32 unchanged.
#[derive(LogicBlock, Default)]
pub struct Widen {
    pub data: Signal<In, Beat>,
    pub bf16: Signal<In, bool>,
    /// Selects values 16 to 31 instead of 0 to 15.
    pub high: Signal<In, bool>,
    pub beat: Signal<Out, Beat>,
}

impl Logic for Widen {
    fn update(&mut self) {
        let data = self.data.val();
        let first = 8 * usize::from(self.high.val());
        let widened = |lane: usize| (data.0[first + lane / 2] >> (16 * (lane % 2))) << 16;
        self.beat.next = if self.bf16.val() { Beat(std::array::from_fn(widened)) } else { data };
    }
    fn connect(&mut self) {
        self.beat.connect();
    }
    fn hdl(&self) -> Verilog {
        let half = |first: usize| {
            let lanes: Vec<_> = (0..16).rev().map(|lane| format!("data[{} +: 16], 16'd0", first + 16 * lane)).collect();
            lanes.join(", ")
        };
        Verilog::Custom(format!("always @(*) beat = bf16 ? (high ? {{{}}} : {{{}}}) : data;", half(256), half(0)))
    }
}

/// Packs two beats of fp32 that hold bf16 values into one beat of bf16, `low` in the lower half.
#[derive(LogicBlock, Default)]
pub struct PackHalves {
    pub low: Signal<In, Beat>,
    pub high: Signal<In, Beat>,
    pub packs: Signal<Out, Beat>,
}

impl Logic for PackHalves {
    fn update(&mut self) {
        let (low, high) = (self.low.val(), self.high.val());
        let half = |value: usize| if value < 16 { low.0[value] >> 16 } else { high.0[value - 16] >> 16 };
        self.packs.next = Beat(std::array::from_fn(|lane| half(2 * lane) | half(2 * lane + 1) << 16));
    }
    fn connect(&mut self) {
        self.packs.connect();
    }
    fn hdl(&self) -> Verilog {
        let halves = |first: usize| {
            let of = |beat: &str| (0..16).rev().map(|lane| format!("{beat}[{} +: 16]", lane * 32 + first)).collect();
            let halves: [Vec<String>; 2] = [of("high"), of("low")];
            halves.concat().join(", ")
        };
        Verilog::Custom(format!("always @(*) packs = {{{}}};\nwire unused = &{{{}}};", halves(16), halves(0)))
    }
}

#[derive(LogicBlock, Default)]
pub struct PickLane {
    pub beat: Signal<In, Beat>,
    pub lane: Signal<In, W<4>>,
    pub value: Signal<Out, W<32>>,
}

impl Logic for PickLane {
    fn update(&mut self) {
        self.value.next = bits_w(self.beat.val().0[self.lane.val().index()].into());
    }
    fn connect(&mut self) {
        self.value.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom("always @(*) value = beat[lane * 32 +: 32];".into())
    }
}

/// Shifts a lane into the top of a beat. After 16 lanes the first one is lane 0.
#[derive(LogicBlock, Default)]
pub struct ShiftInLane {
    pub data: Signal<In, Beat>,
    pub word: Signal<In, W<32>>,
    pub shifted: Signal<Out, Beat>,
}

impl Logic for ShiftInLane {
    fn update(&mut self) {
        let (data, word) = (self.data.val(), self.word.val().raw() as u32);
        self.shifted.next = Beat(std::array::from_fn(|i| data.0.get(i + 1).copied().unwrap_or(word)));
    }
    fn connect(&mut self) {
        self.shifted.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom("always @(*) shifted = {word, data[511:32]};\nwire unused = &data[31:0];".into())
    }
}
