//! The sum that UDP's checksum is made of, over the beats of a frame as they pass (RFC 768, RFC 1071).
//!
//! What: pseudo-header (addresses, protocol, UDP length), UDP header with its checksum, and everything after it, as sixteen-bit
//! words in ones' complement. A frame that was received whole has a sum of 0xffff; one whose checksum field is zero is sent
//! with the complement of its sum. Words are taken little-endian, as lanes are: the sum only changes its byte order (RFC
//! 1071), and so does the field.
//! How: the first 26 bytes of a frame do not count; their places in the first beat take protocol and UDP length. Then 32 words
//! are added in pairs, pairs in fours, fours in one, and beats in 32 bits; the carries are folded back once, at the end.
//! Latency: [`LATENCY`] cycles from the last beat of a frame to `total`. Throughput: one beat a cycle. There is no back-pressure.
//! Limits: frames of 2^11 beats; longer ones give any sum. Reset: `reset` forgets the frame under way.

use crate::hdl::prelude::*;

/// Cycles from the last beat of a frame to its sum.
pub const LATENCY: usize = 6;

/// What a beat is, beside the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Passing {
    valid: bool,
    first: bool,
    last: bool,
    checked: bool,
}

/// Sum of a frame, see the module.
#[derive(LogicBlock, Default)]
pub struct FrameSum {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The next beat opens a frame.
    pub reset: Signal<In, bool>,
    /// A beat passes.
    pub valid: Signal<In, bool>,
    /// The beat.
    pub data: Signal<In, Beat>,
    /// It is the last of its frame.
    pub last: Signal<In, bool>,
    /// The frame whose last beat passed [`LATENCY`] cycles ago is summed (one cycle).
    pub done: Signal<Out, bool>,
    /// Its sum.
    pub total: Signal<Out, W<16>>,
    /// It is IPv4/UDP, no fragment, and its checksum is not zero: 0xffff is expected.
    pub checked: Signal<Out, bool>,
    /// A beat is inside.
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

    /// Which words of the beat count, and what the first beat says of the frame.
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

    /// Words to a beat, beats to a frame, and the carries back.
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
