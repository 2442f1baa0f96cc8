//! Receive parser: checks headers, and passes the payload on together with the fields of its
//! header.
//!
//! Checks follow the order of the contract (foreign, malformed, version, job). A frame that fails
//! pulses the drop output of its cause, and its payload is discarded.
//! Latency: 2 cycles from buffer to output. Throughput: one beat a cycle. Back-pressure: `stall`
//! freezes the whole block.
//! Limits: frames arrive without gaps, as the receive buffer delivers them. A gap inside a frame
//! means that the buffer was emptied: the frame ends there, and the next beat is a header.
//! Reset: at power-on, and by such a gap.

use super::entry::{HeaderWord, bit_cast_header};
use super::types::{FrameBeat, JobWords, RxHeader};
use crate::hdl::prelude::*;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Raw {
    valid: bool,
    head: bool,
    data: Beat,
    last: bool,
    frame_beats: W<10>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Parsed {
    valid: bool,
    head: bool,
    data: Beat,
    good: bool,
}

#[derive(LogicBlock, Default)]
pub struct RxParser {
    pub clock: Signal<In, Clock>,
    pub job: Signal<In, JobWords>,
    /// Beat in the buffer, with the length of its frame; `pop` removes it.
    pub in_valid: Signal<In, bool>,
    pub in_data: Signal<In, FrameBeat>,
    pub frame_beats: Signal<In, W<10>>,
    pub pop: Signal<Out, bool>,
    pub stall: Signal<In, bool>,
    pub valid: Signal<Out, bool>,
    /// The beat is the header: `header` is new, and `data` is not payload.
    pub head: Signal<Out, bool>,
    pub header: Signal<Out, RxHeader>,
    pub data: Signal<Out, Beat>,
    pub empty: Signal<Out, bool>,
    pub drop_foreign: Signal<Out, bool>,
    pub drop_malformed: Signal<Out, bool>,
    pub drop_version: Signal<Out, bool>,
    pub drop_job: Signal<Out, bool>,
    raw: DFF<Raw>,
    parsed: DFF<Parsed>,
    fields: DFF<RxHeader>,
    in_frame: DFF<bool>,
    h: Wire<HeaderWord>,
    fragment: Wire<W<16>>,
    total: Wire<W<16>>,
    udp_length: Wire<W<16>>,
    udp_expected: Wire<W<16>>,
    payload: Wire<W<16>>,
    payload_beats: Wire<W<10>>,
    frame_expected: Wire<W<10>>,
    offset: Wire<W<32>>,
    sender: Wire<W<16>>,
    stage: Wire<W<4>>,
    version: Wire<W<4>>,
    foreign: Wire<bool>,
    malformed: Wire<bool>,
    wrong_version: Wire<bool>,
    wrong_job: Wire<bool>,
    flags: Wire<W<8>>,
    version_stage: Wire<W<8>>,
}

impl Logic for RxParser {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, raw, parsed, fields, in_frame);
        self.pop.next = !self.stall.val();

        // Stage 1: the beat, and whether it begins a frame.
        if !self.stall.val() {
            self.raw.d.next.valid = self.in_valid.val();
            self.raw.d.next.head = !self.in_frame.q.val();
            self.raw.d.next.data = self.in_data.val().data;
            self.raw.d.next.last = self.in_data.val().last;
            self.raw.d.next.frame_beats = self.frame_beats.val();
            self.in_frame.d.next = self.in_valid.val() && !self.in_data.val().last;
        }

        // Stage 2: header checks.
        self.h.next = bit_cast_header(self.raw.q.val().data);
        // Constants are byte-swapped because the header is loaded little-endian from the wire. The
        // mask ignores the reserved and the don't-fragment bit.
        self.fragment.next = self.h.val().ip_fragment & 0xff3f;
        self.total.next = (bit_cast_w::<16, 8>(self.h.val().ip_total_length_b0) << 8)
            | bit_cast_w::<16, 8>(self.h.val().ip_total_length_b1);
        self.udp_length.next =
            (bit_cast_w::<16, 8>(self.h.val().udp_length_b0) << 8) | bit_cast_w::<16, 8>(self.h.val().udp_length_b1);
        self.udp_expected.next = self.total.val() - 20;
        self.payload.next = self.total.val() - 50;
        self.payload_beats.next = self.payload.val().get_bits::<10>(6);
        self.frame_expected.next = self.payload_beats.val() + 1;
        self.offset.next = (bit_cast_w::<32, 8>(self.h.val().offset_b0) << 24)
            | (bit_cast_w::<32, 8>(self.h.val().offset_b1) << 16)
            | (bit_cast_w::<32, 8>(self.h.val().offset_b2) << 8)
            | bit_cast_w::<32, 8>(self.h.val().offset_b3);
        self.sender.next =
            (bit_cast_w::<16, 8>(self.h.val().sender_b0) << 8) | bit_cast_w::<16, 8>(self.h.val().sender_b1);
        self.flags.next = self.h.val().incast_flags;
        self.version_stage.next = self.h.val().version_stage;
        self.stage.next = self.version_stage.val().get_bits::<4>(0);
        self.version.next = self.version_stage.val().get_bits::<4>(4);
        self.foreign.next = (self.h.val().eth_type != 0x0008)
            || (self.h.val().ip_version_ihl != 0x45)
            || (self.fragment.val() != 0)
            || (self.h.val().ip_protocol != 17)
            || (self.h.val().udp_dst != self.job.val().udp_port);
        self.malformed.next = (self.total.val() < 114)
            || (self.udp_length.val() != self.udp_expected.val())
            || (self.payload.val().get_bits::<6>(0) != 0)
            || (self.raw.q.val().frame_beats != self.frame_expected.val())
            || (self.sender.val() >= bit_cast_w::<16, 7>(self.job.val().ranks))
            || (self.sender.val() == bit_cast_w::<16, 6>(self.job.val().rank))
            || ((self.stage.val() != 0) && (self.stage.val() != 2))
            || (self.offset.val().get_bits::<6>(0) != 0);
        self.wrong_version.next = self.version.val() != 1;
        self.wrong_job.next = self.h.val().job_tag != self.job.val().job_tag;

        self.drop_foreign.next = false;
        self.drop_malformed.next = false;
        self.drop_version.next = false;
        self.drop_job.next = false;
        if !self.stall.val() {
            self.parsed.d.next.valid = self.raw.q.val().valid;
            self.parsed.d.next.head = self.raw.q.val().head;
            self.parsed.d.next.data = self.raw.q.val().data;
            if self.raw.q.val().valid && self.raw.q.val().head {
                self.parsed.d.next.good = false;
                if self.foreign.val() {
                    self.drop_foreign.next = true;
                } else if self.malformed.val() {
                    self.drop_malformed.next = true;
                } else if self.wrong_version.val() {
                    self.drop_version.next = true;
                } else if self.wrong_job.val() {
                    self.drop_job.next = true;
                } else {
                    self.parsed.d.next.good = true;
                }
                self.fields.d.next.bucket =
                    (bit_cast_w::<16, 8>(self.h.val().bucket_b0) << 8) | bit_cast_w::<16, 8>(self.h.val().bucket_b1);
                self.fields.d.next.step =
                    (bit_cast_w::<16, 8>(self.h.val().step_b0) << 8) | bit_cast_w::<16, 8>(self.h.val().step_b1);
                self.fields.d.next.beat = self.offset.val().get_bits::<26>(6);
                self.fields.d.next.beats = self.payload_beats.val();
                self.fields.d.next.sender = self.sender.val().get_bits::<6>(0);
                self.fields.d.next.broadcast = self.stage.val() == 2;
                self.fields.d.next.mark = self.flags.val().get_bit(0);
                self.fields.d.next.hadamard = self.flags.val().get_bit(1);
                self.fields.d.next.bf16 = self.flags.val().get_bit(2);
            }
        }

        self.valid.next = self.parsed.q.val().valid && self.parsed.q.val().good;
        self.head.next = self.parsed.q.val().head;
        self.header.next = self.fields.q.val();
        self.data.next = self.parsed.q.val().data;
        self.empty.next = !self.raw.q.val().valid && !self.parsed.q.val().valid;
    }
}

clocked!(RxParser);
