//! The sign generator: sixteen signs for every beat of a window.
//!
//! What: `signs16(key, beat)` of the contract crate for beat 0, 1, 2, ... of the window.
//! How: a pipeline of seven 32-bit words, one line of the hash each, that fills after `start` and then moves on
//! whenever its head is taken, so the signs wait for the data and not the data for the signs.
//! Latency: the signs of beat 0 are valid 8 cycles after `start`, those of the next beat in the cycle after `take`.
//! Limits: `take` in the first 8 cycles is ignored; the engine's first beat comes later, as a block has 16 beats or
//! more. Beat numbers wrap at 2^32.

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

/// Generates the signs of a window. See the module for what and why.
#[derive(LogicBlock, Default)]
pub struct Signs {
    /// The clock.
    pub clock: Signal<In, Clock>,
    /// Begin again at beat 0 with `key`.
    pub start: Signal<In, bool>,
    /// Key of the window, sampled with `start`.
    pub key: Signal<In, W<64>>,
    /// The signs shown were used: show the next beat's.
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
