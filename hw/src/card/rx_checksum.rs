//! Check of UDP checksums on the way from the MAC: a frame whose checksum is wrong is marked bad with its last beat, as the
//! MAC marks one whose FCS is wrong, so that the receive buffer drops it whole.
//!
//! Which frames are checked, and how, says `contract::packet::udp_checksum_holds`; of frames that are not whole beats the sum says
//! nothing. Frames pass unchanged.
//! Latency: [`frame_sum::LATENCY`] cycles. Throughput: one beat a cycle, in and out. There is no back-pressure.
//! Reset: `reset` (of the MAC too) forgets what is inside.

use super::frame_sum::{self, FrameSum};
use crate::hdl::prelude::*;

const _: () = assert!(frame_sum::LATENCY == 6, "the line has six places");

/// A beat on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Incoming {
    valid: bool,
    data: Beat,
    last: bool,
    error: bool,
    partial: bool,
}

/// Check of received frames, see the module.
#[derive(LogicBlock, Default)]
pub struct RxChecksum {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The MAC is in reset.
    pub reset: Signal<In, bool>,
    /// A beat comes from the MAC.
    pub rx_valid: Signal<In, bool>,
    /// The beat.
    pub rx_data: Signal<In, Beat>,
    /// It is the last of its frame.
    pub rx_last: Signal<In, bool>,
    /// With the last beat: the frame is bad.
    pub rx_error: Signal<In, bool>,
    /// With the last beat: the frame is not whole beats.
    pub rx_partial: Signal<In, bool>,
    /// A beat goes on.
    pub valid: Signal<Out, bool>,
    /// The beat.
    pub data: Signal<Out, Beat>,
    /// It is the last of its frame.
    pub last: Signal<Out, bool>,
    /// With the last beat: the frame is bad, or its checksum is wrong.
    pub error: Signal<Out, bool>,
    /// With the last beat: the frame is not whole beats.
    pub partial: Signal<Out, bool>,
    /// A beat is inside.
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
