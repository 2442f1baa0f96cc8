//! Gathers beats into whole blocks, finds each block's scale, and bursts the blocks out.
//!
//! Beats fill one of two block buffers while the other one bursts. Lost beats are stored as zeros.
//! Block floating point needs the block's largest exponent before the first value, and the stages
//! across beats need blocks without bubbles.
//! Latency: 5 cycles from a block's last beat to its first beat out, with `go` high and no burst in
//! progress. Throughput: one beat a cycle, without gaps between blocks.
//! Back-pressure: `in_ready`, low before the first `start` and while both buffers are taken.
//! Reset: `start`, only while `idle`. A new size requires that the last block has left the engine.
//! `clear` leads to `idle` from any state: it completes a partial block with lost beats, and all
//! blocks leave as usual.
//! Limits: `log2n` 8, 10, 12 or 14, up to the size of the buffers. Any other value keeps `in_ready`
//! low until the next `start`.

use super::flow::Tag;
use crate::hdl::prelude::*;
use crate::mem::place::SlotBeat;
use crate::mem::ram::WindowRam;

/// The buffers are called zero and one.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct State {
    started: bool,
    last: W<10>,
    extra: W<4>,
    // Input side.
    fill: W<10>,
    fill_one: bool,
    flushing: bool,
    taken_zero: bool,
    taken_one: bool,
    // Largest exponents of four lanes, of the beat, and of the block.
    quarter0: W<8>,
    quarter1: W<8>,
    quarter2: W<8>,
    quarter3: W<8>,
    quarter_valid: bool,
    quarter_received: bool,
    quarter_last: bool,
    quarter_odd: bool,
    beat: W<8>,
    beat_valid: bool,
    beat_received: bool,
    beat_last: bool,
    beat_odd: bool,
    exponent: W<8>,
    received: W<11>,
    whole_into_one: bool,
    // Whole blocks, valid until their burst begins.
    whole_zero: Tag,
    whole_one: Tag,
    // Output side.
    turn_one: bool,
    reading: bool,
    read: W<10>,
    read_one: bool,
    burst: bool,
    current: Tag,
    shown: Tag,
}

#[derive(LogicBlock)]
pub struct Gather {
    pub clock: Signal<In, Clock>,
    /// Stops accepting beats; see the module.
    pub clear: Signal<In, bool>,
    /// Blocks have 2^`log2n` values.
    pub start: Signal<In, bool>,
    pub log2n: Signal<In, W<4>>,
    /// Window parity, copied to the block's tag.
    pub odd: Signal<In, bool>,
    pub in_valid: Signal<In, bool>,
    pub in_ready: Signal<Out, bool>,
    pub in_data: Signal<In, Beat>,
    /// False for a lost beat, whose `in_data` is undefined.
    pub in_received: Signal<In, bool>,
    /// Downstream has room for a whole block, sampled before each burst.
    pub go: Signal<In, bool>,
    /// A block has been committed to leave.
    pub burst: Signal<Out, bool>,
    /// Beats of a block minus one, which masks a beat's position.
    pub last: Signal<Out, W<10>>,
    /// Empty, except for blocks announced by `burst`.
    pub idle: Signal<Out, bool>,
    free: Wire<bool>,
    given: Wire<bool>,
    accept: Wire<bool>,
    pair: [Wire<W<8>>; 8],
    quarter: [Wire<W<8>>; 4],
    low: Wire<W<8>>,
    high: Wire<W<8>>,
    exponent: Wire<W<8>>,
    field: Wire<W<8>>,
    received: Wire<W<11>>,
    scale: Wire<W<9>>,
    whole: Wire<Tag>,
    candidate: Wire<Tag>,
    spent: Wire<Tag>,
    commit: Wire<bool>,
    leaving: Wire<Tag>,
    write_place: Wire<SlotBeat>,
    read_place: Wire<SlotBeat>,
    log2n_max: Constant<W<4>>,
    known: Wire<bool>,
    size: Wire<W<10>>,
    extra: Wire<W<4>>,
    st: DFF<State>,
    buffers: WindowRam<Beat>,
    pub out_tag: Signal<Out, Tag>,
    pub out_beat: Signal<Out, Beat>,
}

impl Gather {
    pub fn new(log2n_max: u32) -> Self {
        Gather {
            log2n_max: Constant::new(bits_w(log2n_max.into())),
            buffers: WindowRam::new(1, log2n_max - 4),
            clock: Default::default(),
            clear: Default::default(),
            start: Default::default(),
            log2n: Default::default(),
            odd: Default::default(),
            in_valid: Default::default(),
            in_ready: Default::default(),
            in_data: Default::default(),
            in_received: Default::default(),
            go: Default::default(),
            burst: Default::default(),
            last: Default::default(),
            idle: Default::default(),
            free: Default::default(),
            given: Default::default(),
            accept: Default::default(),
            pair: Default::default(),
            quarter: Default::default(),
            low: Default::default(),
            high: Default::default(),
            exponent: Default::default(),
            field: Default::default(),
            received: Default::default(),
            scale: Default::default(),
            whole: Default::default(),
            candidate: Default::default(),
            spent: Default::default(),
            commit: Default::default(),
            leaving: Default::default(),
            write_place: Default::default(),
            read_place: Default::default(),
            known: Default::default(),
            size: Default::default(),
            extra: Default::default(),
            st: Default::default(),
            out_tag: Default::default(),
            out_beat: Default::default(),
        }
    }
}

#[sections]
impl Logic for Gather {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, st);
        self.buffers.clock.next = self.clock.val();

        self.fill();
        self.prescan_lanes();
        self.prescan_beat();
        self.prescan_block();
        self.burst_out();
        self.flush();
        self.start_window();
        self.outputs();
    }

    /// Stores an incoming beat.
    fn fill(&mut self) {
        self.free.next = self.st.q.val().started
            && ((self.st.q.val().fill_one && !self.st.q.val().taken_one)
                || (!self.st.q.val().fill_one && !self.st.q.val().taken_zero));
        self.in_ready.next = self.free.val() && !self.st.q.val().flushing;
        self.given.next = self.in_received.val() && !self.st.q.val().flushing;
        self.accept.next = self.free.val()
            && ((self.in_valid.val() && !self.st.q.val().flushing)
                || (self.st.q.val().flushing && (self.st.q.val().fill != 0)));
        self.write_place.next.slot = bits_w::<3>(0);
        if self.st.q.val().fill_one {
            self.write_place.next.slot = bits_w::<3>(1);
        }
        self.write_place.next.beat = bit_cast_w::<14, 10>(self.st.q.val().fill);
        self.buffers.write_address.next = self.write_place.val();
        self.buffers.write_enable.next = self.accept.val();
        self.buffers.write_data.next = bits_beat(0);
        if self.given.val() {
            self.buffers.write_data.next = self.in_data.val();
        }
        if self.accept.val() {
            self.st.d.next.fill = self.st.q.val().fill + 1;
            if self.st.q.val().fill == self.st.q.val().last {
                self.st.d.next.fill = bits_w::<10>(0);
                self.st.d.next.fill_one = !self.st.q.val().fill_one;
                if self.st.q.val().fill_one {
                    self.st.d.next.taken_one = true;
                } else {
                    self.st.d.next.taken_zero = true;
                }
            }
        }
    }

    /// Prescan, cycle 1: the largest exponent field of every four lanes.
    fn prescan_lanes(&mut self) {
        for i in 0..8 {
            self.pair[i].next = self.in_data.val().get_bits::<8>(i * 64 + 23);
            if self.in_data.val().get_bits::<8>(i * 64 + 55) > self.in_data.val().get_bits::<8>(i * 64 + 23) {
                self.pair[i].next = self.in_data.val().get_bits::<8>(i * 64 + 55);
            }
        }
        for i in 0..4 {
            self.quarter[i].next = self.pair[i].val();
            if self.pair[i + 4].val() > self.pair[i].val() {
                self.quarter[i].next = self.pair[i + 4].val();
            }
        }
        self.st.d.next.quarter0 = self.quarter[0].val();
        self.st.d.next.quarter1 = self.quarter[1].val();
        self.st.d.next.quarter2 = self.quarter[2].val();
        self.st.d.next.quarter3 = self.quarter[3].val();
        self.st.d.next.quarter_valid = self.accept.val();
        self.st.d.next.quarter_received = self.given.val();
        self.st.d.next.quarter_last = self.st.q.val().fill == self.st.q.val().last;
        self.st.d.next.quarter_odd = self.odd.val();
    }

    /// Prescan, cycle 2: the largest exponent field of the beat, 0 if lost.
    fn prescan_beat(&mut self) {
        self.low.next = self.st.q.val().quarter0;
        if self.st.q.val().quarter1 > self.st.q.val().quarter0 {
            self.low.next = self.st.q.val().quarter1;
        }
        self.high.next = self.st.q.val().quarter2;
        if self.st.q.val().quarter3 > self.st.q.val().quarter2 {
            self.high.next = self.st.q.val().quarter3;
        }
        self.st.d.next.beat = self.low.val();
        if self.high.val() > self.low.val() {
            self.st.d.next.beat = self.high.val();
        }
        if !self.st.q.val().quarter_received {
            self.st.d.next.beat = bits_w::<8>(0);
        }
        self.st.d.next.beat_valid = self.st.q.val().quarter_valid;
        self.st.d.next.beat_received = self.st.q.val().quarter_received;
        self.st.d.next.beat_last = self.st.q.val().quarter_last;
        self.st.d.next.beat_odd = self.st.q.val().quarter_odd;
    }

    /// Prescan, cycle 3: the largest exponent field of the block, and with its last beat its tag.
    fn prescan_block(&mut self) {
        self.exponent.next = self.st.q.val().exponent;
        if self.st.q.val().beat > self.st.q.val().exponent {
            self.exponent.next = self.st.q.val().beat;
        }
        self.received.next = self.st.q.val().received;
        if self.st.q.val().beat_received {
            self.received.next = self.st.q.val().received + 1;
        }
        self.field.next = self.exponent.val();
        if self.exponent.val() == 0 {
            self.field.next = bits_w::<8>(1);
        }
        self.scale.next = bit_cast_w::<9, 8>(self.field.val()) + bit_cast_w::<9, 4>(self.st.q.val().extra);
        self.whole.next.valid = true;
        self.whole.next.negated = false;
        self.whole.next.odd = self.st.q.val().beat_odd;
        self.whole.next.special = self.exponent.val() == 255;
        self.whole.next.scale = self.scale.val();
        self.whole.next.received = self.received.val();
        if self.st.q.val().beat_valid {
            self.st.d.next.exponent = self.exponent.val();
            self.st.d.next.received = self.received.val();
            if self.st.q.val().beat_last {
                self.st.d.next.exponent = bits_w::<8>(0);
                self.st.d.next.received = bits_w::<11>(0);
                self.st.d.next.whole_into_one = !self.st.q.val().whole_into_one;
                if self.st.q.val().whole_into_one {
                    self.st.d.next.whole_one = self.whole.val();
                } else {
                    self.st.d.next.whole_zero = self.whole.val();
                }
            }
        }
    }

    /// Bursts a block out. The buffer is free when the burst begins, since reads stay ahead of
    /// writes.
    fn burst_out(&mut self) {
        self.candidate.next = self.st.q.val().whole_zero;
        if self.st.q.val().turn_one {
            self.candidate.next = self.st.q.val().whole_one;
        }
        self.spent.next = self.candidate.val();
        self.commit.next = self.candidate.val().valid
            && self.go.val()
            && (!self.st.q.val().reading || (self.st.q.val().read == self.st.q.val().last));
        self.leaving.next = self.st.q.val().current;
        self.leaving.next.valid = self.st.q.val().reading;
        self.st.d.next.shown = self.leaving.val();
        if self.st.q.val().reading {
            self.st.d.next.read = self.st.q.val().read + 1;
            if self.st.q.val().read == 0 {
                if self.st.q.val().read_one {
                    self.st.d.next.taken_one = false;
                } else {
                    self.st.d.next.taken_zero = false;
                }
            }
            if self.st.q.val().read == self.st.q.val().last {
                self.st.d.next.read = bits_w::<10>(0);
                self.st.d.next.reading = false;
            }
        }
        self.st.d.next.burst = self.commit.val();
        if self.commit.val() {
            self.st.d.next.reading = true;
            self.st.d.next.current = self.candidate.val();
            self.st.d.next.read_one = self.st.q.val().turn_one;
            self.st.d.next.turn_one = !self.st.q.val().turn_one;
            self.spent.next.valid = false;
            if self.st.q.val().turn_one {
                self.st.d.next.whole_one = self.spent.val();
            } else {
                self.st.d.next.whole_zero = self.spent.val();
            }
        }
        self.read_place.next.slot = bits_w::<3>(0);
        if self.st.q.val().read_one {
            self.read_place.next.slot = bits_w::<3>(1);
        }
        self.read_place.next.beat = bit_cast_w::<14, 10>(self.st.q.val().read);
        self.buffers.read_address.next = self.read_place.val();
    }

    /// After `clear`, stores zeros until no block is partly filled.
    fn flush(&mut self) {
        if self.st.q.val().fill == 0 {
            self.st.d.next.flushing = false;
        }
        if self.clear.val() {
            self.st.d.next.flushing = true;
        }
    }

    /// Starts a window.
    fn start_window(&mut self) {
        self.known.next = self.log2n.val() <= self.log2n_max.val();
        self.size.next = bits_w::<10>(0);
        self.extra.next = bits_w::<4>(0);
        match self.log2n.val().index() {
            8 => {
                self.size.next = bits_w::<10>(15);
                self.extra.next = bits_w::<4>(5);
            }
            10 => {
                self.size.next = bits_w::<10>(63);
                self.extra.next = bits_w::<4>(6);
            }
            12 => {
                self.size.next = bits_w::<10>(255);
                self.extra.next = bits_w::<4>(7);
            }
            14 => {
                self.size.next = bits_w::<10>(1023);
                self.extra.next = bits_w::<4>(8);
            }
            _ => self.known.next = false,
        }
        if self.start.val() {
            self.st.d.next.started = self.known.val();
            if self.known.val() {
                self.st.d.next.last = self.size.val();
                self.st.d.next.extra = self.extra.val();
            }
        }
    }

    /// Drives the outputs.
    fn outputs(&mut self) {
        self.burst.next = self.st.q.val().burst;
        self.last.next = self.st.q.val().last;
        self.idle.next = (self.st.q.val().fill == 0)
            && !self.st.q.val().flushing
            && !self.st.q.val().taken_zero
            && !self.st.q.val().taken_one;
        self.out_tag.next = self.st.q.val().shown;
        self.out_beat.next = self.buffers.read_data.val();
    }
}

clocked!(Gather);
