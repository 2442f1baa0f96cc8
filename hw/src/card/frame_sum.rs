//! Sum for the UDP checksum over the beats of a passing frame (RFC 768, RFC 1071).
//!
//! It covers pseudo-header, UDP header and payload as 16-bit words in ones' complement. A correctly
//! received frame has a sum of 0xffff. A frame with a zero checksum field is sent with the
//! complement of its sum. Words are little-endian like the lanes, which only swaps the bytes of sum
//! and field.
//! The first 26 bytes of a frame do not count, so their places carry protocol and UDP length.
//! Latency: [`LATENCY`] cycles from the last beat to `total`. Throughput: one beat a cycle. No
//! back-pressure.
//! Limits: frames of at most 2^11 beats; beyond, the sum is undefined. Reset: `reset` drops the
//! frame in progress.

use crate::hdl::prelude::*;

/// Cycles from a frame's last beat to its sum.
pub const LATENCY: usize = 6;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Passing {
    valid: bool,
    first: bool,
    last: bool,
    checked: bool,
}

#[derive(LogicBlock, Default)]
pub struct FrameSum {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, bool>,
    pub valid: Signal<In, bool>,
    pub data: Signal<In, Beat>,
    pub last: Signal<In, bool>,
    /// `total` is valid.
    pub done: Signal<Out, bool>,
    pub total: Signal<Out, W<16>>,
    /// The frame is unfragmented IPv4/UDP with a checksum, so `total` must be 0xffff.
    pub checked: Signal<Out, bool>,
    /// A beat is in the pipeline.
    pub busy: Signal<Out, bool>,
    in_frame: DFF<bool>,
    held: DFF<bool>,
    passing: [DFF<Passing>; 6],
    pair: [DFF<W<17>>; 16],
    four: [DFF<W<19>>; 4],
    beat: DFF<W<21>>,
    frame: DFF<W<32>>,
    carried: DFF<W<17>>,
    folded: DFF<W<16>>,
    low: [Wire<W<16>>; 16],
    high: [Wire<W<16>>; 16],
    fragment: Wire<W<16>>,
    checks: Wire<bool>,
    p: Wire<Passing>,
}

#[sections]
impl Logic for FrameSum {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, in_frame, held, beat, frame, carried, folded);
        for i in 0..6 {
            self.passing[i].clock.next = self.clock.val();
        }
        for i in 0..16 {
            self.pair[i].clock.next = self.clock.val();
        }
        for i in 0..4 {
            self.four[i].clock.next = self.clock.val();
        }
        self.header();
        self.sums();
        self.passing[0].d.next = self.p.val();
        for i in 0..5 {
            self.passing[i + 1].d.next = self.passing[i].q.val();
        }
        self.done.next = self.passing[5].q.val().valid && self.passing[5].q.val().last;
        self.checked.next = self.passing[5].q.val().checked;
        self.total.next = self.folded.q.val();
        self.busy.next = self.passing[0].q.val().valid
            || self.passing[1].q.val().valid
            || self.passing[2].q.val().valid
            || self.passing[3].q.val().valid
            || self.passing[4].q.val().valid
            || self.passing[5].q.val().valid;
        if self.reset.val() {
            self.in_frame.d.next = false;
            self.passing[0].d.next.valid = false;
            self.passing[1].d.next.valid = false;
            self.passing[2].d.next.valid = false;
            self.passing[3].d.next.valid = false;
            self.passing[4].d.next.valid = false;
            self.passing[5].d.next.valid = false;
        }
    }

    /// Selects the words that count, and classifies the frame.
    fn header(&mut self) {
        for i in 0..16 {
            self.low[i].next = self.data.val().get_bits::<16>(i * 32);
            self.high[i].next = self.data.val().get_bits::<16>(i * 32 + 16);
        }
        self.fragment.next = self.data.val().get_bits::<16>(160) & 0xff3f;
        self.checks.next = self.held.q.val();
        if !self.in_frame.q.val() {
            self.checks.next = (self.data.val().get_bits::<16>(96) == 0x0008)
                && (self.data.val().get_bits::<8>(112) == 0x45)
                && (self.fragment.val() == 0)
                && (self.data.val().get_bits::<8>(184) == 17)
                && (self.data.val().get_bits::<16>(320) != 0);
            self.low[0].next = bits_w::<16>(0x1100);
            self.high[0].next = self.data.val().get_bits::<16>(304);
            self.low[6].next = bits_w::<16>(0);
        }
        for i in 1..6 {
            if !self.in_frame.q.val() {
                self.low[i].next = bits_w::<16>(0);
                self.high[i].next = bits_w::<16>(0);
            }
        }
        self.p.next.valid = self.valid.val();
        self.p.next.first = !self.in_frame.q.val();
        self.p.next.last = self.last.val();
        self.p.next.checked = self.checks.val();
        if self.valid.val() {
            self.in_frame.d.next = !self.last.val();
            self.held.d.next = self.checks.val();
        }
    }

    /// Sums beats and frames, then folds the carries.
    fn sums(&mut self) {
        for i in 0..16 {
            self.pair[i].d.next = bit_cast_w::<17, 16>(self.low[i].val()) + bit_cast_w::<17, 16>(self.high[i].val());
        }
        for i in 0..4 {
            self.four[i].d.next = (bit_cast_w::<19, 17>(self.pair[4 * i].q.val())
                + bit_cast_w::<19, 17>(self.pair[4 * i + 1].q.val()))
                + (bit_cast_w::<19, 17>(self.pair[4 * i + 2].q.val())
                    + bit_cast_w::<19, 17>(self.pair[4 * i + 3].q.val()));
        }
        self.beat.d.next = (bit_cast_w::<21, 19>(self.four[0].q.val()) + bit_cast_w::<21, 19>(self.four[1].q.val()))
            + (bit_cast_w::<21, 19>(self.four[2].q.val()) + bit_cast_w::<21, 19>(self.four[3].q.val()));
        if self.passing[2].q.val().valid {
            if self.passing[2].q.val().first {
                self.frame.d.next = bit_cast_w::<32, 21>(self.beat.q.val());
            } else {
                self.frame.d.next = self.frame.q.val() + bit_cast_w::<32, 21>(self.beat.q.val());
            }
        }
        self.carried.d.next = bit_cast_w::<17, 16>(self.frame.q.val().get_bits::<16>(0))
            + bit_cast_w::<17, 16>(self.frame.q.val().get_bits::<16>(16));
        self.folded.d.next =
            self.carried.q.val().get_bits::<16>(0) + bit_cast_w::<16, 1>(self.carried.q.val().get_bits::<1>(16));
    }
}

clocked!(FrameSum);
