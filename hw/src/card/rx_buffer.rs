//! Receive buffer: store and forward, so that a frame found bad at its end leaves no trace.
//!
//! A MAC reports a bad checksum with the last beat, when a cut-through datapath would already have
//! summed the first. The buffer accepts a beat every cycle and never back-pressures. A frame that
//! does not fit, or that the MAC marks as bad, is rolled back whole and counted (as bad if both
//! apply).
//! Latency: 2 cycles from last beat in to first beat out. Throughput: one beat a cycle in and out.
//! Limits: 512 beats, including the frame being received, and 64 frames. Reset: `clear` empties it;
//! the rest of a frame being received is ignored and not counted.

use super::types::FrameBeat;
use crate::hdl::prelude::*;
use crate::mem::fifo::Fifo;
use crate::mem::ram::Ram;

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct State {
    write: W<10>,
    start: W<10>,
    committed: W<10>,
    visible: W<10>,
    read: W<10>,
    /// A beat of the frame being received found no room.
    full: bool,
    /// The next beat does not begin a frame.
    inside: bool,
    /// The current frame began before the last `clear` ended.
    ignore: bool,
}

#[derive(LogicBlock, Default)]
pub struct RxBuffer {
    pub clock: Signal<In, Clock>,
    pub clear: Signal<In, bool>,
    /// Only together with `clear`: the next beat begins a frame.
    pub reset: Signal<In, bool>,
    pub rx_valid: Signal<In, bool>,
    pub rx_data: Signal<In, Beat>,
    pub rx_last: Signal<In, bool>,
    pub rx_error: Signal<In, bool>,
    /// Complete frames; `pop` removes a beat.
    pub valid: Signal<Out, bool>,
    pub data: Signal<Out, FrameBeat>,
    /// Length of the frame.
    pub frame_beats: Signal<Out, W<10>>,
    pub pop: Signal<In, bool>,
    pub stored: Signal<Out, bool>,
    pub bad: Signal<Out, bool>,
    /// Good frame dropped for lack of room.
    pub full: Signal<Out, bool>,
    ram: Ram<FrameBeat, 9>,
    lengths: Fifo<W<10>, 6>,
    st: DFF<State>,
    used: Wire<W<10>>,
    write_next: Wire<W<10>>,
    read_next: Wire<W<10>>,
    length: Wire<W<10>>,
    no_room: Wire<bool>,
    has_beat: Wire<bool>,
    take: Wire<bool>,
    comes: Wire<bool>,
    word: Wire<FrameBeat>,
}

impl Logic for RxBuffer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, st);
        self.ram.clock.next = self.clock.val();
        self.lengths.clock.next = self.clock.val();
        self.lengths.clear.next = self.clear.val();

        // In: the last beat commits the frame or rolls back to its start.
        self.used.next = self.st.q.val().write - self.st.q.val().read;
        self.write_next.next = self.st.q.val().write + 1;
        self.length.next = self.write_next.val() - self.st.q.val().start;
        self.no_room.next = self.st.q.val().full || (self.used.val() == 512) || self.lengths.full.val();
        self.word.next.data = self.rx_data.val();
        self.word.next.last = self.rx_last.val();
        self.ram.write_address.next = bit_cast_w::<9, 10>(self.st.q.val().write);
        self.ram.write_data.next = self.word.val();
        self.comes.next = self.rx_valid.val() && !self.st.q.val().ignore;
        self.ram.write_enable.next = self.comes.val() && !self.no_room.val();
        self.lengths.push.next = false;
        self.lengths.push_data.next = self.length.val();
        self.stored.next = false;
        self.bad.next = false;
        self.full.next = false;
        if self.rx_valid.val() {
            self.st.d.next.inside = !self.rx_last.val();
            if self.rx_last.val() {
                self.st.d.next.ignore = false;
            }
        }
        if self.comes.val() {
            if self.rx_last.val() {
                self.st.d.next.full = false;
                if self.no_room.val() || self.rx_error.val() {
                    self.st.d.next.write = self.st.q.val().start;
                    self.bad.next = self.rx_error.val();
                    self.full.next = !self.rx_error.val();
                } else {
                    self.st.d.next.write = self.write_next.val();
                    self.st.d.next.start = self.write_next.val();
                    self.st.d.next.committed = self.write_next.val();
                    self.lengths.push.next = true;
                    self.stored.next = true;
                }
            } else {
                self.st.d.next.full = self.no_room.val();
                if !self.no_room.val() {
                    self.st.d.next.write = self.write_next.val();
                }
            }
        }

        // Out: read one address ahead. A frame becomes visible one cycle after its commit, so that
        // a read issued in between sees its last beat.
        self.st.d.next.visible = self.st.q.val().committed;
        self.has_beat.next = self.st.q.val().read != self.st.q.val().visible;
        self.take.next = self.has_beat.val() && self.pop.val();
        self.read_next.next = self.st.q.val().read + 1;
        self.ram.read_address.next = bit_cast_w::<9, 10>(self.st.q.val().read);
        if self.take.val() {
            self.ram.read_address.next = self.read_next.val().get_bits::<9>(0);
            self.st.d.next.read = self.read_next.val();
        }
        self.valid.next = self.has_beat.val();
        self.data.next = self.ram.read_data.val();
        self.frame_beats.next = self.lengths.pop_data.val();
        self.lengths.pop.next = self.take.val() && self.ram.read_data.val().last;

        if self.clear.val() {
            self.st.d.next.write = bits_w::<10>(0);
            self.st.d.next.start = bits_w::<10>(0);
            self.st.d.next.committed = bits_w::<10>(0);
            self.st.d.next.visible = bits_w::<10>(0);
            self.st.d.next.read = bits_w::<10>(0);
            self.st.d.next.full = false;
            self.st.d.next.ignore = self.st.q.val().inside;
            if self.rx_valid.val() {
                self.st.d.next.ignore = !self.rx_last.val();
            }
            self.stored.next = false;
            self.bad.next = false;
            self.full.next = false;
        }
        if self.reset.val() {
            self.st.d.next.inside = false;
            self.st.d.next.ignore = false;
        }
    }
}

clocked!(RxBuffer);
