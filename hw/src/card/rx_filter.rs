//! Filter of received frames: drops frames that are not packets for this card, and counts them by
//! cause.
//!
//! `contract::rules::filter` defines the causes and their order. A dropped frame is removed whole,
//! but the last beat of a bad one passes, marked, so that the card counts it. A frame that passes
//! but is not whole beats is marked as bad.
//! The first beat of a frame is judged on entry, while the UDP checksum is summed. The verdict is
//! ready when the frame leaves [`RxChecksum`](super::rx_checksum::RxChecksum), so the block adds no
//! cycle.
//! Latency: [`LATENCY`] cycles from a first beat to its verdict; 1 cycle for reads of counters.
//! Throughput: one beat a cycle.
//! Counters: for RX_PACKETS and DROP_FOREIGN only the frames that the card does not see, to be
//! added to its values. The other causes are counted here in full.
//! Reset: while the job is disabled, counters are zero, and the rest of a frame under way is not
//! counted. `reset` also discards that frame.

use super::entry::{HeaderWord, bit_cast_header};
use super::frame_sum;
use super::job_copy::CopiedJob;
use crate::hdl::prelude::*;
use crate::mem::ram::LutRam;

/// From a first beat to its verdict.
pub const LATENCY: usize = frame_sum::LATENCY;

const _: () = assert!(LATENCY == 6, "there are six stages");

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Found {
    first: bool,
    foreign: bool,
    mac: bool,
    checksum: bool,
    ip: bool,
    /// The tag and the sender's rank are of this job, so the source must match.
    of_job: bool,
    source: bool,
    too_long: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Counters {
    swallowed: W<32>,
    foreign: W<32>,
    mac: W<32>,
    checksum: W<32>,
    ip: W<32>,
    source: W<32>,
    too_long: W<32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct State {
    /// The next beat does not begin a frame.
    inside: bool,
    /// The frame began before the card was enabled.
    ignore: bool,
}

#[derive(LogicBlock, Default)]
pub struct RxFilter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, bool>,
    pub job: Signal<In, CopiedJob>,
    /// Register writes, observed for the addresses in the peer table.
    pub write: Signal<In, bool>,
    pub write_address: Signal<In, W<10>>,
    pub write_data: Signal<In, W<32>>,
    /// The value follows one cycle later and is added to the card's.
    pub read_address: Signal<In, W<10>>,
    pub read_data: Signal<Out, W<32>>,
    pub rx_valid: Signal<In, bool>,
    pub rx_data: Signal<In, Beat>,
    pub rx_last: Signal<In, bool>,
    /// Beat leaving the check of UDP checksums, [`LATENCY`] cycles later.
    pub in_valid: Signal<In, bool>,
    pub in_last: Signal<In, bool>,
    /// MAC or checksum found the frame bad.
    pub in_error: Signal<In, bool>,
    pub in_partial: Signal<In, bool>,
    /// With the last beat: the [`Responder`](super::responder::Responder) answers the frame.
    pub answered: Signal<In, bool>,
    /// With each beat: its frame has a wrong IPv4 header checksum.
    pub checksum: Signal<Out, bool>,
    pub valid: Signal<Out, bool>,
    /// Bad or not whole beats.
    pub error: Signal<Out, bool>,
    peers: LutRam<W<32>, 6>,
    in_frame: DFF<bool>,
    found: [DFF<Found>; 6],
    held: DFF<Found>,
    sender: DFF<W<6>>,
    source: [DFF<W<32>>; 2],
    expected: DFF<W<32>>,
    pair: [DFF<W<17>>; 5],
    four: [DFF<W<18>>; 2],
    fifth: DFF<W<17>>,
    sum: DFF<W<20>>,
    carried: DFF<W<17>>,
    folded: DFF<W<16>>,
    st: DFF<State>,
    counters: DFF<Counters>,
    value: DFF<W<32>>,
    h: Wire<HeaderWord>,
    f: Wire<Found>,
    word: [Wire<W<16>>; 10],
    fragment: Wire<W<16>>,
    total: Wire<W<16>>,
    payload: Wire<W<16>>,
    longest: Wire<W<16>>,
    from: Wire<W<16>>,
    version_stage: Wire<W<8>>,
    version: Wire<W<4>>,
    v: Wire<Found>,
    drops: Wire<bool>,
    counts: Wire<bool>,
    ends: Wire<bool>,
    swallows: Wire<bool>,
}

#[sections]
impl Logic for RxFilter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, in_frame, held, sender, expected, fifth, sum, carried, folded, st, counters, value);
        for i in 0..6 {
            self.found[i].clock.next = self.clock.val();
        }
        for i in 0..5 {
            self.pair[i].clock.next = self.clock.val();
        }
        for i in 0..2 {
            self.source[i].clock.next = self.clock.val();
            self.four[i].clock.next = self.clock.val();
        }
        self.header();
        self.addresses();
        self.header_sum();
        self.verdict();
        self.count();
        self.reads();
        if self.reset.val() {
            self.in_frame.d.next = false;
            self.st.d.next.inside = false;
            self.st.d.next.ignore = false;
        }
    }

    /// Judges the fields of the first beat that need no lookup.
    fn header(&mut self) {
        self.h.next = bit_cast_header(self.rx_data.val());
        // Constants are byte-swapped because the header is loaded little-endian from the wire. The
        // mask ignores the reserved and the don't-fragment bit.
        self.fragment.next = self.h.val().ip_fragment & 0xff3f;
        self.total.next = (bit_cast_w::<16, 8>(self.h.val().ip_total_length_b0) << 8)
            | bit_cast_w::<16, 8>(self.h.val().ip_total_length_b1);
        self.payload.next = bit_cast_w::<16, 8>(self.job.val().payload_beats) << 6;
        self.longest.next = self.payload.val() + 50;
        self.from.next =
            (bit_cast_w::<16, 8>(self.h.val().sender_b0) << 8) | bit_cast_w::<16, 8>(self.h.val().sender_b1);
        self.version_stage.next = self.h.val().version_stage;
        self.version.next = self.version_stage.val().get_bits::<4>(4);
        self.f.next.first = self.rx_valid.val() && !self.in_frame.q.val();
        self.f.next.foreign = (self.h.val().eth_type != 0x0008)
            || (self.h.val().ip_version_ihl != 0x45)
            || (self.fragment.val() != 0)
            || (self.h.val().ip_protocol != 17)
            || (self.h.val().udp_dst != self.job.val().udp_port);
        self.f.next.mac = self.h.val().eth_dst != self.job.val().mac;
        self.f.next.checksum = false;
        self.f.next.ip = self.h.val().ip_dst != self.job.val().ip;
        self.f.next.of_job = (self.version.val() == 1)
            && (self.h.val().job_tag == self.job.val().job_tag)
            && (self.from.val() < bit_cast_w::<16, 7>(self.job.val().ranks));
        self.f.next.source = false;
        self.f.next.too_long = self.total.val() > self.longest.val();
        if self.rx_valid.val() {
            self.in_frame.d.next = !self.rx_last.val();
        }
    }

    /// Looks up the sender's address in a second copy of the peer table.
    fn addresses(&mut self) {
        self.peers.clock.next = self.clock.val();
        self.peers.write_enable.next = self.write.val()
            && (self.write_address.val().get_bits::<2>(8) == 1)
            && (self.write_address.val().get_bits::<2>(0) == 0);
        self.peers.write_address.next = self.write_address.val().get_bits::<6>(2);
        self.peers.write_data.next = self.write_data.val();
        self.sender.d.next = self.from.val().get_bits::<6>(0);
        self.peers.read_address.next = self.sender.q.val();
        self.expected.d.next = self.peers.read_data.val();
        self.source[0].d.next = self.h.val().ip_src;
        self.source[1].d.next = self.source[0].q.val();
    }

    /// Sums the IPv4 header in ones' complement; 0xffff is right.
    fn header_sum(&mut self) {
        for i in 0..10 {
            self.word[i].next = self.rx_data.val().get_bits::<16>(i * 16 + 112);
        }
        for i in 0..5 {
            self.pair[i].d.next =
                bit_cast_w::<17, 16>(self.word[2 * i].val()) + bit_cast_w::<17, 16>(self.word[2 * i + 1].val());
        }
        for i in 0..2 {
            self.four[i].d.next =
                bit_cast_w::<18, 17>(self.pair[2 * i].q.val()) + bit_cast_w::<18, 17>(self.pair[2 * i + 1].q.val());
        }
        self.fifth.d.next = self.pair[4].q.val();
        self.sum.d.next = (bit_cast_w::<20, 18>(self.four[0].q.val()) + bit_cast_w::<20, 18>(self.four[1].q.val()))
            + bit_cast_w::<20, 17>(self.fifth.q.val());
        self.carried.d.next = bit_cast_w::<17, 16>(self.sum.q.val().get_bits::<16>(0))
            + bit_cast_w::<17, 4>(self.sum.q.val().get_bits::<4>(16));
        self.folded.d.next =
            self.carried.q.val().get_bits::<16>(0) + bit_cast_w::<16, 1>(self.carried.q.val().get_bits::<1>(16));
    }

    /// Pipelines the findings, and decides whether the outgoing beat passes.
    fn verdict(&mut self) {
        self.found[0].d.next = self.f.val();
        for i in 0..5 {
            self.found[i + 1].d.next = self.found[i].q.val();
        }
        self.found[2].d.next.source = self.found[1].q.val().of_job && (self.expected.q.val() != self.source[1].q.val());
        self.found[5].d.next.checksum = self.folded.q.val() != 0xffff;
        self.v.next = self.held.q.val();
        if self.found[5].q.val().first {
            self.v.next = self.found[5].q.val();
        }
        self.held.d.next = self.v.val();
        self.checksum.next = self.v.val().checksum;
        self.drops.next = self.v.val().foreign
            || self.v.val().mac
            || self.v.val().checksum
            || self.v.val().ip
            || self.v.val().source
            || self.v.val().too_long;
        self.counts.next = self.job.val().enable && !self.st.q.val().ignore;
        self.ends.next = self.in_valid.val() && self.in_last.val();
        self.swallows.next = self.ends.val() && self.drops.val() && !self.in_error.val() && self.counts.val();
        self.valid.next = self.in_valid.val()
            && (!self.drops.val() || (self.in_last.val() && self.in_error.val() && self.counts.val()));
        self.error.next = self.in_error.val() || self.in_partial.val();
        if self.in_valid.val() {
            self.st.d.next.inside = !self.in_last.val();
            if self.in_last.val() {
                self.st.d.next.ignore = false;
            }
        }
        if !self.job.val().enable {
            self.st.d.next.ignore = self.st.q.val().inside;
            if self.in_valid.val() {
                self.st.d.next.ignore = !self.in_last.val();
            }
        }
    }

    /// Counts one cause for each frame.
    fn count(&mut self) {
        if self.swallows.val() {
            self.counters.d.next.swallowed = self.counters.q.val().swallowed + 1;
            if !self.answered.val() {
                if self.v.val().foreign {
                    self.counters.d.next.foreign = self.counters.q.val().foreign + 1;
                } else if self.v.val().mac {
                    self.counters.d.next.mac = self.counters.q.val().mac + 1;
                } else if self.v.val().checksum {
                    self.counters.d.next.checksum = self.counters.q.val().checksum + 1;
                } else if self.v.val().ip {
                    self.counters.d.next.ip = self.counters.q.val().ip + 1;
                } else if self.v.val().source {
                    self.counters.d.next.source = self.counters.q.val().source + 1;
                } else {
                    self.counters.d.next.too_long = self.counters.q.val().too_long + 1;
                }
            }
        }
        if !self.job.val().enable {
            self.counters.d.next.swallowed = bits_w::<32>(0);
            self.counters.d.next.foreign = bits_w::<32>(0);
            self.counters.d.next.mac = bits_w::<32>(0);
            self.counters.d.next.checksum = bits_w::<32>(0);
            self.counters.d.next.ip = bits_w::<32>(0);
            self.counters.d.next.source = bits_w::<32>(0);
            self.counters.d.next.too_long = bits_w::<32>(0);
        }
    }

    /// Reads a counter.
    fn reads(&mut self) {
        self.value.d.next = bits_w::<32>(0);
        if self.read_address.val() == 0x20 {
            self.value.d.next = self.counters.q.val().swallowed;
        } else if self.read_address.val() == 0x23 {
            self.value.d.next = self.counters.q.val().foreign;
        } else if self.read_address.val() == 0x2e {
            self.value.d.next = self.counters.q.val().mac;
        } else if self.read_address.val() == 0x2f {
            self.value.d.next = self.counters.q.val().checksum;
        } else if self.read_address.val() == 0x30 {
            self.value.d.next = self.counters.q.val().ip;
        } else if self.read_address.val() == 0x31 {
            self.value.d.next = self.counters.q.val().source;
        } else if self.read_address.val() == 0x32 {
            self.value.d.next = self.counters.q.val().too_long;
        }
        self.read_data.next = self.value.q.val();
    }
}

clocked!(RxFilter);
