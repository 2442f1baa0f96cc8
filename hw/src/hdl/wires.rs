//! Wiring that the kernel language cannot express, as hand-written Verilog with its equivalent in Rust.

use crate::hdl::prelude::*;

/// `data` if `fresh`, else sixteen lanes of -0.0, the identity of IEEE addition, to which a first contribution is
/// added. No clock, no latency.
#[derive(LogicBlock, Default)]
pub struct OrNegativeZero {
    /// Take `data`.
    pub fresh: Signal<In, bool>,
    /// The sum so far.
    pub data: Signal<In, Beat>,
    /// The sum to add to.
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

/// Shifts 16 bits into a beat from above: after 32 of them the first is in the low bits. No clock, no latency.
#[derive(LogicBlock, Default)]
pub struct ShiftIn {
    /// The beat so far.
    pub data: Signal<In, Beat>,
    /// The next 16 bits.
    pub word: Signal<In, W<16>>,
    /// The beat with them.
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

/// A beat of fp32 as it is, or 16 of the 32 values of a beat of bf16 as fp32. No clock, no latency.
#[derive(LogicBlock, Default)]
pub struct Widen {
    /// The beat; value 0 in the low bits.
    pub data: Signal<In, Beat>,
    /// It holds bf16.
    pub bf16: Signal<In, bool>,
    /// Take values 16 to 31; else 0 to 15.
    pub high: Signal<In, bool>,
    /// 16 fp32.
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

/// Packs two beats of fp32 that hold bf16 values into one beat of bf16, `low` in the lower half. No clock, no latency.
#[derive(LogicBlock, Default)]
pub struct PackHalves {
    /// Values 0 to 15.
    pub low: Signal<In, Beat>,
    /// Values 16 to 31.
    pub high: Signal<In, Beat>,
    /// All of them.
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

/// One lane of a beat. No clock, no latency.
#[derive(LogicBlock, Default)]
pub struct PickLane {
    /// The beat.
    pub beat: Signal<In, Beat>,
    /// Which lane.
    pub lane: Signal<In, W<4>>,
    /// Its value.
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

/// Shifts a lane into a beat from above: after 16 of them the first is lane 0. No clock, no latency.
#[derive(LogicBlock, Default)]
pub struct ShiftInLane {
    /// The beat so far.
    pub data: Signal<In, Beat>,
    /// The next lane.
    pub word: Signal<In, W<32>>,
    /// The beat with it.
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
