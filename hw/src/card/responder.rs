//! `Responder`: answers ARP requests and pings for the card's address, so that the kernel of a peer
//! can resolve it.
//!
//! `contract::answer` defines requests and answers. The block stores one answer: a request that
//! arrives before the last answer has left is ignored, and so is a ping of more than 16 beats.
//! Requests are recognised in their first beat on entry, in parallel with the filter, and turned
//! into answers as they leave the check of UDP checksums. A bad frame leaves no answer.
//! Latency: an answer is offered in the cycle after the last beat of its request has left that
//! check. Throughput: one beat a cycle, without a gap inside an answer. Back-pressure: `tx_ready`.
//! Reset: while the job is disabled no request is accepted, but an answer under way is completed.
//! `reset` discards it.

use super::entry::{ArpWord, HeaderWord, bit_cast_arp, bit_cast_arp_beat, bit_cast_header, bit_cast_header_beat};
use super::job_copy::CopiedJob;
use super::rx_filter;
use crate::hdl::prelude::*;
use crate::mem::ram::LutRam;

const _: () = assert!(rx_filter::LATENCY == 6, "there are six stages");

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Kind {
    first: bool,
    arp: bool,
    /// The IPv4 checksum is not checked yet.
    ping: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct State {
    /// The current frame is an accepted request.
    taking: bool,
    beats: W<5>,
    /// An answer waits or is being sent.
    ready: bool,
    sent: W<5>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Counters {
    all: W<32>,
    arp: W<32>,
    ping: W<32>,
}

#[derive(LogicBlock, Default)]
pub struct Responder {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, bool>,
    pub job: Signal<In, CopiedJob>,
    /// The value follows one cycle later and is added to the card's.
    pub read_address: Signal<In, W<10>>,
    pub read_data: Signal<Out, W<32>>,
    pub rx_valid: Signal<In, bool>,
    pub rx_data: Signal<In, Beat>,
    pub rx_last: Signal<In, bool>,
    /// Beat leaving the check of UDP checksums.
    pub in_valid: Signal<In, bool>,
    pub in_data: Signal<In, Beat>,
    pub in_last: Signal<In, bool>,
    /// MAC or checksum found the frame bad.
    pub in_error: Signal<In, bool>,
    /// With the first beat: wrong IPv4 header checksum.
    pub in_checksum: Signal<In, bool>,
    /// With the last beat: the frame is answered.
    pub answers: Signal<Out, bool>,
    pub tx_valid: Signal<Out, bool>,
    pub tx_data: Signal<Out, Beat>,
    pub tx_last: Signal<Out, bool>,
    pub tx_ready: Signal<In, bool>,
    pub busy: Signal<Out, bool>,
    store: LutRam<Beat, 4>,
    in_frame: DFF<bool>,
    kind: [DFF<Kind>; 6],
    st: DFF<State>,
    counters: DFF<Counters>,
    value: DFF<W<32>>,
    a: Wire<ArpWord>,
    h: Wire<HeaderWord>,
    fragment: Wire<W<16>>,
    k: Wire<Kind>,
    opens: Wire<bool>,
    takes: Wire<bool>,
    place: Wire<W<5>>,
    next_place: Wire<W<5>>,
    at: Wire<W<5>>,
    next_sent: Wire<W<5>>,
    request: Wire<ArpWord>,
    reply: Wire<ArpWord>,
    echo: Wire<HeaderWord>,
    sum: Wire<W<17>>,
    folded: Wire<W<16>>,
    done: Wire<bool>,
    is_last: Wire<bool>,
}

#[sections]
impl Logic for Responder {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, in_frame, st, counters, value);
        for i in 0..6 {
            self.kind[i].clock.next = self.clock.val();
        }
        self.recognise();
        self.turn_round();
        self.take();
        self.send();
        self.count();
        if self.reset.val() {
            self.in_frame.d.next = false;
            self.st.d.next.taking = false;
            self.st.d.next.ready = false;
        }
    }

    /// Classifies a first beat, and carries the result to the exit of the check.
    fn recognise(&mut self) {
        self.a.next = bit_cast_arp(self.rx_data.val());
        self.h.next = bit_cast_header(self.rx_data.val());
        // Constants are byte-swapped because the header is loaded little-endian from the wire. The
        // mask ignores the reserved and the don't-fragment bit.
        self.fragment.next = self.h.val().ip_fragment & 0xff3f;
        self.kind[0].d.next.first = self.rx_valid.val() && !self.in_frame.q.val();
        self.kind[0].d.next.arp = self.rx_last.val()
            && ((self.a.val().eth_dst == self.job.val().mac) || (self.a.val().eth_dst == 0xffff_ffff_ffffu64))
            && (self.a.val().eth_type == 0x0608)
            && (self.a.val().hardware == 0x0100)
            && (self.a.val().protocol == 0x0008)
            && (self.a.val().sizes == 0x0406)
            && (self.a.val().operation == 0x0100)
            && (self.a.val().target_ip == self.job.val().ip);
        self.kind[0].d.next.ping = (self.h.val().eth_dst == self.job.val().mac)
            && (self.h.val().eth_type == 0x0008)
            && (self.h.val().ip_version_ihl == 0x45)
            && (self.fragment.val() == 0)
            && (self.h.val().ip_protocol == 1)
            && (self.h.val().ip_dst == self.job.val().ip)
            && (self.h.val().udp_src == 0x0008);
        for i in 0..5 {
            self.kind[i + 1].d.next = self.kind[i].q.val();
        }
        if self.rx_valid.val() {
            self.in_frame.d.next = !self.rx_last.val();
        }
    }

    /// Composes the first beat of the answer. ICMP has type and checksum where UDP has its ports;
    /// sums do not depend on the byte order.
    fn turn_round(&mut self) {
        self.request.next = bit_cast_arp(self.in_data.val());
        self.reply.next.eth_dst = self.request.val().sender_mac;
        self.reply.next.eth_src = self.job.val().mac;
        self.reply.next.eth_type = self.request.val().eth_type;
        self.reply.next.hardware = self.request.val().hardware;
        self.reply.next.protocol = self.request.val().protocol;
        self.reply.next.sizes = self.request.val().sizes;
        self.reply.next.operation = bits_w::<16>(0x0200);
        self.reply.next.sender_mac = self.job.val().mac;
        self.reply.next.sender_ip = self.job.val().ip;
        self.reply.next.target_mac = self.request.val().sender_mac;
        self.reply.next.target_ip = self.request.val().sender_ip;
        self.reply.next.padding_lo = bits_w::<64>(0);
        self.reply.next.padding_mid = bits_w::<64>(0);
        self.reply.next.padding_hi = bits_w::<48>(0);
        self.echo.next = bit_cast_header(self.in_data.val());
        self.echo.next.eth_dst = self.request.val().eth_src;
        self.echo.next.eth_src = self.job.val().mac;
        self.echo.next.ip_src = self.job.val().ip;
        self.echo.next.ip_dst = self.in_data.val().get_bits::<32>(208);
        self.echo.next.udp_src = bits_w::<16>(0);
        self.sum.next = bit_cast_w::<17, 16>(self.in_data.val().get_bits::<16>(288)) + 8;
        self.folded.next = self.sum.val().get_bits::<16>(0) + bit_cast_w::<16, 1>(self.sum.val().get_bits::<1>(16));
        self.echo.next.udp_dst = self.folded.val();
    }

    /// Stores a request as its answer, if the store is free and the request is complete.
    fn take(&mut self) {
        self.store.clock.next = self.clock.val();
        self.k.next = self.kind[5].q.val();
        self.opens.next = self.in_valid.val()
            && self.k.val().first
            && (self.k.val().arp || (self.k.val().ping && !self.in_checksum.val()))
            && self.job.val().enable
            && !self.st.q.val().ready;
        self.place.next = self.st.q.val().beats;
        if self.opens.val() {
            self.place.next = bits_w::<5>(0);
        }
        self.next_place.next = self.place.val() + 1;
        self.takes.next =
            self.opens.val() || (self.in_valid.val() && self.st.q.val().taking && (self.st.q.val().beats != 16));
        self.store.write_enable.next = self.takes.val();
        self.store.write_address.next = self.place.val().get_bits::<4>(0);
        self.store.write_data.next = self.in_data.val();
        if self.k.val().first {
            self.store.write_data.next = bit_cast_header_beat(self.echo.val());
            if self.k.val().arp {
                self.store.write_data.next = bit_cast_arp_beat(self.reply.val());
            }
        }
        self.done.next = self.takes.val() && self.in_last.val() && !self.in_error.val() && self.job.val().enable;
        self.answers.next = self.done.val();
        if self.in_valid.val() {
            self.st.d.next.taking = self.takes.val() && !self.in_last.val();
        }
        if !self.job.val().enable {
            self.st.d.next.taking = false;
        }
        if self.takes.val() {
            self.st.d.next.beats = self.next_place.val();
        }
        if self.done.val() {
            self.st.d.next.ready = true;
            self.st.d.next.sent = bits_w::<5>(0);
        }
    }

    /// Offers the answer, beat by beat.
    fn send(&mut self) {
        self.at.next = self.st.q.val().sent;
        self.store.read_address.next = self.at.val().get_bits::<4>(0);
        self.next_sent.next = self.at.val() + 1;
        self.is_last.next = self.next_sent.val() == self.st.q.val().beats;
        self.tx_valid.next = self.st.q.val().ready;
        self.tx_data.next = self.store.read_data.val();
        self.tx_last.next = self.is_last.val();
        self.busy.next = self.st.q.val().ready;
        if self.st.q.val().ready && self.tx_ready.val() {
            self.st.d.next.sent = self.next_sent.val();
            if self.is_last.val() {
                self.st.d.next.ready = false;
            }
        }
    }

    /// Counts answers, and reads the counters.
    fn count(&mut self) {
        if self.done.val() {
            self.counters.d.next.all = self.counters.q.val().all + 1;
            if self.opens.val() && self.k.val().arp {
                self.counters.d.next.arp = self.counters.q.val().arp + 1;
            } else {
                self.counters.d.next.ping = self.counters.q.val().ping + 1;
            }
        }
        if !self.job.val().enable {
            self.counters.d.next.all = bits_w::<32>(0);
            self.counters.d.next.arp = bits_w::<32>(0);
            self.counters.d.next.ping = bits_w::<32>(0);
        }
        self.value.d.next = bits_w::<32>(0);
        if self.read_address.val() == 0x21 {
            self.value.d.next = self.counters.q.val().all;
        } else if self.read_address.val() == 0x33 {
            self.value.d.next = self.counters.q.val().arp;
        } else if self.read_address.val() == 0x34 {
            self.value.d.next = self.counters.q.val().ping;
        }
        self.read_data.next = self.value.q.val();
    }
}

clocked!(Responder);
