//! Check of UDP checksums: marks a frame with a wrong checksum as bad in its last beat.
//!
//! The MAC marks a wrong FCS in the same way, so the receive buffer drops the frame whole.
//! `contract::packet::udp_checksum_holds` defines the check. Frames that are not whole beats are
//! not checked.
//! Latency: [`frame_sum::LATENCY`] cycles. Throughput: one beat a cycle. Back-pressure: none.
//! Reset: `reset` discards the beats inside.

use super::frame_sum::{self, FrameSum};
use crate::hdl::prelude::*;

const _: () = assert!(frame_sum::LATENCY == 6, "the line has six places");

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Incoming {
    valid: bool,
    data: Beat,
    last: bool,
    error: bool,
    partial: bool,
}

#[derive(LogicBlock, Default)]
pub struct RxChecksum {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, bool>,
    pub rx_valid: Signal<In, bool>,
    pub rx_data: Signal<In, Beat>,
    pub rx_last: Signal<In, bool>,
    pub rx_error: Signal<In, bool>,
    pub rx_partial: Signal<In, bool>,
    /// [`frame_sum::LATENCY`] cycles later.
    pub valid: Signal<Out, bool>,
    pub data: Signal<Out, Beat>,
    pub last: Signal<Out, bool>,
    /// Bad, or wrong checksum.
    pub error: Signal<Out, bool>,
    pub partial: Signal<Out, bool>,
    pub busy: Signal<Out, bool>,
    sum: FrameSum,
    line: [DFF<Incoming>; 6],
    wrong: Wire<bool>,
}

impl Logic for RxChecksum {
    #[hdl_gen]
    fn update(&mut self) {
        self.sum.clock.next = self.clock.val();
        for i in 0..6 {
            self.line[i].clock.next = self.clock.val();
        }
        self.sum.reset.next = self.reset.val();
        self.sum.valid.next = self.rx_valid.val();
        self.sum.data.next = self.rx_data.val();
        self.sum.last.next = self.rx_last.val();
        self.line[0].d.next.valid = self.rx_valid.val();
        self.line[0].d.next.data = self.rx_data.val();
        self.line[0].d.next.last = self.rx_last.val();
        self.line[0].d.next.error = self.rx_error.val();
        self.line[0].d.next.partial = self.rx_partial.val();
        for i in 0..5 {
            self.line[i + 1].d.next = self.line[i].q.val();
        }
        self.wrong.next = self.sum.done.val()
            && self.sum.checked.val()
            && (self.sum.total.val() != 0xffff)
            && !self.line[5].q.val().partial;
        self.valid.next = self.line[5].q.val().valid;
        self.data.next = self.line[5].q.val().data;
        self.last.next = self.line[5].q.val().last;
        self.error.next = self.line[5].q.val().error || self.wrong.val();
        self.partial.next = self.line[5].q.val().partial;
        self.busy.next = self.sum.busy.val();
        if self.reset.val() {
            self.line[0].d.next.valid = false;
            self.line[1].d.next.valid = false;
            self.line[2].d.next.valid = false;
            self.line[3].d.next.valid = false;
            self.line[4].d.next.valid = false;
            self.line[5].d.next.valid = false;
        }
    }
}

clocked!(RxChecksum);
