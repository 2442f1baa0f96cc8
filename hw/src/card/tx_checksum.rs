//! UDP checksums on the way to the MAC: a frame waits until it is complete and summed, then leaves
//! with its checksum.
//!
//! The checksum is in the first beat and covers the last, so frames are buffered. Every frame is
//! IPv4/UDP with a checksum of zero; a sum of zero leaves as 0xffff (RFC 768). A frame that was cut
//! by a reset keeps the error mark of its last beat.
//! Latency: a frame's first beat leaves [`LATENCY`] cycles after its last arrived. Throughput: one
//! beat a cycle, without gaps inside a frame or between frames of one length. Back-pressure:
//! `ready`.
//! Limits: frames of 256 beats. A frame is accepted while fewer than three are inside, or at most
//! 32 beats. That keeps the wire busy without queueing a broadcast behind many frames.
//! Reset: `reset` discards everything.

use super::entry::{HeaderWord, bit_cast_header, bit_cast_header_beat};
use super::frame_sum::{self, FrameSum};
use super::types::FrameBeat;
use crate::hdl::prelude::*;
use crate::mem::block_fifo::BlockFifo;
use crate::mem::fifo::Fifo;

/// From a frame's last beat to its first beat at the MAC.
pub const LATENCY: usize = frame_sum::LATENCY + 1;

/// Stored outside block RAM.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Ends {
    last: bool,
    error: bool,
}

#[derive(LogicBlock, Default)]
pub struct TxChecksum {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, bool>,
    pub valid: Signal<In, bool>,
    pub beat: Signal<In, FrameBeat>,
    /// The frame was cut by a reset.
    pub error: Signal<In, bool>,
    pub ready: Signal<Out, bool>,
    pub tx_valid: Signal<Out, bool>,
    pub tx_data: Signal<Out, Beat>,
    pub tx_last: Signal<Out, bool>,
    pub tx_error: Signal<Out, bool>,
    pub tx_ready: Signal<In, bool>,
    pub busy: Signal<Out, bool>,
    sum: FrameSum,
    beats: BlockFifo<Beat, 8>,
    ends: Fifo<Ends, 8>,
    sums: Fifo<W<16>, 8>,
    in_frame: DFF<bool>,
    leaving: DFF<bool>,
    frames: DFF<W<9>>,
    takes: Wire<bool>,
    opens: Wire<bool>,
    leaves: Wire<bool>,
    taken: Wire<bool>,
    closes: Wire<bool>,
    frames_more: Wire<W<9>>,
    frames_less: Wire<W<9>>,
    checksum: Wire<W<16>>,
    h: Wire<HeaderWord>,
    out: Wire<Beat>,
    e: Wire<Ends>,
}

impl Logic for TxChecksum {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, in_frame, leaving, frames);
        self.sum.clock.next = self.clock.val();
        self.sum.reset.next = self.reset.val();
        self.beats.clock.next = self.clock.val();
        self.beats.clear.next = self.reset.val();
        self.ends.clock.next = self.clock.val();
        self.ends.clear.next = self.reset.val();
        self.sums.clock.next = self.clock.val();
        self.sums.clear.next = self.reset.val();

        // In: a frame under way is accepted while there is room, a new one only if few are inside.
        self.ready.next = (self.beats.room.val() != 0)
            && (self.in_frame.q.val() || (self.frames.q.val() < 3) || (self.beats.room.val() >= 224));
        self.takes.next = self.valid.val() && self.ready.val();
        self.opens.next = self.takes.val() && !self.in_frame.q.val();
        if self.takes.val() {
            self.in_frame.d.next = !self.beat.val().last;
        }
        self.beats.push.next = self.takes.val();
        self.beats.push_data.next = self.beat.val().data;
        self.ends.push.next = self.takes.val();
        self.ends.push_data.next.last = self.beat.val().last;
        self.ends.push_data.next.error = self.error.val();
        self.sum.valid.next = self.takes.val();
        self.sum.data.next = self.beat.val().data;
        self.sum.last.next = self.beat.val().last;
        self.checksum.next = self.sum.total.val() ^ 0xffff;
        self.sums.push.next = self.sum.done.val();
        self.sums.push_data.next = self.checksum.val();
        if self.checksum.val() == 0 {
            self.sums.push_data.next = bits_w::<16>(0xffff);
        }

        // Out: a stored sum means that its frame is inside as a whole.
        self.leaves.next = !self.sums.empty.val();
        self.e.next = self.ends.pop_data.val();
        self.taken.next = self.leaves.val() && self.tx_ready.val();
        self.closes.next = self.taken.val() && self.e.val().last;
        self.beats.pop.next = self.taken.val();
        self.ends.pop.next = self.taken.val();
        self.sums.pop.next = self.closes.val();
        if self.taken.val() {
            self.leaving.d.next = !self.e.val().last;
        }
        self.h.next = bit_cast_header(self.beats.pop_data.val());
        self.h.next.udp_checksum = self.sums.pop_data.val();
        self.out.next = self.beats.pop_data.val();
        if !self.leaving.q.val() {
            self.out.next = bit_cast_header_beat(self.h.val());
        }
        self.tx_valid.next = self.leaves.val();
        self.tx_data.next = self.out.val();
        self.tx_last.next = self.e.val().last;
        self.tx_error.next = self.e.val().error;

        self.frames_more.next = self.frames.q.val() + 1;
        self.frames_less.next = self.frames.q.val() - 1;
        if self.opens.val() && !self.closes.val() {
            self.frames.d.next = self.frames_more.val();
        } else if self.closes.val() && !self.opens.val() {
            self.frames.d.next = self.frames_less.val();
        }
        self.busy.next = self.frames.q.val() != 0;
        if self.reset.val() {
            self.in_frame.d.next = false;
            self.leaving.d.next = false;
            self.frames.d.next = bits_w::<9>(0);
        }
    }
}

clocked!(TxChecksum);
