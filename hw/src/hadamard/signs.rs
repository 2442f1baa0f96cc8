//! Sign generator: `signs16(key, beat)` of the contract crate for beats 0, 1, 2, ... of a window.
//!
//! A pipeline of seven 32-bit words, one line of the hash each, advanced by `take`.
//! Latency: the signs of beat 0 are valid 8 cycles after `start`, the next ones in the cycle after
//! `take`.
//! Limits: `take` is ignored in the first 8 cycles, while the pipeline fills. The engine's first
//! beat arrives later, because a block has at least 16 beats. Beat numbers wrap at 2^32.

use crate::hdl::prelude::*;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Pipeline {
    low: W<32>,
    high: W<32>,
    beat: W<32>,
    valid0: bool,
    valid1: bool,
    valid2: bool,
    valid3: bool,
    valid4: bool,
    valid5: bool,
    valid6: bool,
    a0: W<32>,
    a1: W<32>,
    a2: W<32>,
    a3: W<32>,
    a4: W<32>,
    a5: W<32>,
    a6: W<32>,
}

#[derive(LogicBlock, Default)]
pub struct Signs {
    pub clock: Signal<In, Clock>,
    /// Restarts at beat 0 with `key`.
    pub start: Signal<In, bool>,
    pub key: Signal<In, W<64>>,
    pub take: Signal<In, bool>,
    /// Bit i set negates lane i.
    pub signs: Signal<Out, W<16>>,
    mixed: Wire<W<32>>,
    pipe: DFF<Pipeline>,
}

impl Logic for Signs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, pipe);
        self.mixed.next = self.pipe.q.val().beat ^ self.pipe.q.val().high;
        if self.take.val() || !self.pipe.q.val().valid6 {
            self.pipe.d.next.beat = self.pipe.q.val().beat + 1;
            self.pipe.d.next.a0 = self.mixed.val() + self.pipe.q.val().low;
            self.pipe.d.next.a1 = self.pipe.q.val().a0 + 0x7ed5_5d16 + (self.pipe.q.val().a0 << 12);
            self.pipe.d.next.a2 = self.pipe.q.val().a1 ^ 0xc761_c23cu64 ^ (self.pipe.q.val().a1 >> 19);
            self.pipe.d.next.a3 = self.pipe.q.val().a2 + 0x1656_67b1 + (self.pipe.q.val().a2 << 5);
            self.pipe.d.next.a4 = (self.pipe.q.val().a3 + 0xd3a2_646cu64) ^ (self.pipe.q.val().a3 << 9);
            self.pipe.d.next.a5 = self.pipe.q.val().a4 + 0xfd70_46c5u64 + (self.pipe.q.val().a4 << 3);
            self.pipe.d.next.a6 = self.pipe.q.val().a5 ^ 0xb55a_4f09u64 ^ (self.pipe.q.val().a5 >> 16);
            self.pipe.d.next.valid0 = true;
            self.pipe.d.next.valid1 = self.pipe.q.val().valid0;
            self.pipe.d.next.valid2 = self.pipe.q.val().valid1;
            self.pipe.d.next.valid3 = self.pipe.q.val().valid2;
            self.pipe.d.next.valid4 = self.pipe.q.val().valid3;
            self.pipe.d.next.valid5 = self.pipe.q.val().valid4;
            self.pipe.d.next.valid6 = self.pipe.q.val().valid5;
        }
        if self.start.val() {
            self.pipe.d.next.low = self.key.val().get_bits::<32>(0);
            self.pipe.d.next.high = self.key.val().get_bits::<32>(32);
            self.pipe.d.next.beat = bits_w::<32>(0);
            self.pipe.d.next.valid0 = false;
            self.pipe.d.next.valid1 = false;
            self.pipe.d.next.valid2 = false;
            self.pipe.d.next.valid3 = false;
            self.pipe.d.next.valid4 = false;
            self.pipe.d.next.valid5 = false;
            self.pipe.d.next.valid6 = false;
        }
        self.signs.next = bit_cast_w::<16, 32>(self.pipe.q.val().a6);
    }
}

clocked!(Signs);
