//! The streaming randomised Hadamard engine.
//!
//! A block of n = 2^log2n fp32, n/16 beats, becomes y = H diag(s) x / sqrt(n) (encode) or
//! x = diag(s) H y / sqrt(n) (decode). Each window chooses a log2n of 8, 10, 12 or 14, at most the
//! size that the engine is built for (12 on the card). The signs are `signs16(key, beat)`.
//! Beats pass `gather` (block buffers, scale), `to_fixed` (signs when encoding), four butterfly
//! stages inside the beat, one stage per distance of 1, 2, 4, ... beats, and `to_float` (signs when
//! decoding).
//! Block floating point makes a butterfly an integer adder of one LUT per bit, far smaller than an
//! fp32 adder. [`model`] describes the numerics, the bound, and special values.
//! Latency: [`latency_cycles`] from a block's last beat in to its first beat out. Throughput: one
//! beat a cycle, blocks without gaps, in order.
//! Back-pressure: `in_ready` at the input, `go` per block at the output, none inside a burst.
//! Reset: `start`, only while `start_ready`. `clear` leads to `idle` from any state.
//! A window of the same size and direction may start when the last block of the previous one has
//! begun to burst, with at most two windows inside. The gap is then 6 cycles. Any other window, and
//! the first after `clear`, waits for `idle`.
//! Limits: windows of whole blocks. A lost beat counts as zeros, and the user of `out_received`
//! rescales by n/received.
//! Source: OptiReduce (NSDI'25) 3.3. Differs: fixed power-of-four blocks instead of one transform
//! over the bucket.

pub mod across;
pub mod butterflies;
mod flow;
pub mod gather;
pub mod in_beat;
pub mod model;
pub mod signs;
pub mod to_fixed;
pub mod to_float;
pub mod value_by_value;

#[cfg(test)]
mod engine_tests;
#[cfg(test)]
mod stage_tests;
#[cfg(test)]
pub mod testing;

use crate::hdl::prelude::*;
use butterflies::Butterflies;
use flow::Tag;
use gather::Gather;
use optireduce_contract::limits::HADAMARD_LOG2_MAX;
use signs::Signs;
use to_fixed::ToFixed;
use to_float::ToFloat;

/// Cycles from accepting a block's last beat to its first result, with `go` high and no burst in
/// progress.
///
/// n/16 - 1 in the delay memories, one per butterfly stage, 13 in other registers.
pub const fn latency_cycles(log2n: u32) -> u64 {
    (1 << log2n) / 16 + log2n as u64 + 12
}

#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Window {
    log2n: W<4>,
    decode: bool,
    /// Selects the window's sign source.
    odd: bool,
    /// The previous window is inside, until this one's first block leaves.
    overlaps: bool,
    /// Abandoned by `clear`.
    abandoned: bool,
    bursting: W<4>,
    out_position: W<10>,
}

#[derive(LogicBlock)]
pub struct Hadamard {
    pub clock: Signal<In, Clock>,
    /// Abandons the window. `idle` follows once all blocks have left, which requires `go`.
    pub clear: Signal<In, bool>,
    /// Starts a window with the next three inputs, with `start_ready` and without `in_valid`.
    pub start: Signal<In, bool>,
    /// Any value other than 8, 10, 12 or 14, or above the engine's size, disables the input until
    /// the next `start`.
    pub log2n: Signal<In, W<4>>,
    pub decode: Signal<In, bool>,
    pub key: Signal<In, W<64>>,
    /// A window with this `log2n` and `decode` may start.
    pub start_ready: Signal<Out, bool>,
    pub in_valid: Signal<In, bool>,
    pub in_ready: Signal<Out, bool>,
    pub in_data: Signal<In, Beat>,
    /// False for a lost beat, replaced by zeros.
    pub in_received: Signal<In, bool>,
    /// Downstream has room for one more whole block, sampled before each burst.
    pub go: Signal<In, bool>,
    /// A block has been committed to leave.
    pub burst: Signal<Out, bool>,
    gather: Gather,
    sign_source: [Signs; 2],
    to_fixed: ToFixed,
    butterflies: Butterflies,
    to_float: ToFloat,
    window: DFF<Window>,
    signs: Wire<W<16>>,
    take: Wire<bool>,
    take_odd: Wire<bool>,
    leaving: Wire<Tag>,
    alike: Wire<bool>,
    pub out_valid: Signal<Out, bool>,
    pub out_data: Signal<Out, Beat>,
    /// Number of received beats of this block, constant during its burst.
    pub out_received: Signal<Out, W<11>>,
    pub idle: Signal<Out, bool>,
}

impl Default for Hadamard {
    /// Engine of the card.
    fn default() -> Self {
        Hadamard::new(HADAMARD_LOG2_MAX)
    }
}

impl Hadamard {
    /// # Panics
    /// If `log2n_max` is not 8, 10, 12 or 14.
    pub fn new(log2n_max: u32) -> Self {
        assert!(matches!(log2n_max, 8 | 10 | 12 | 14), "log2n_max is {log2n_max}, not 8, 10, 12 or 14");
        Hadamard {
            clock: Default::default(),
            clear: Default::default(),
            start: Default::default(),
            log2n: Default::default(),
            decode: Default::default(),
            key: Default::default(),
            start_ready: Default::default(),
            in_valid: Default::default(),
            in_ready: Default::default(),
            in_data: Default::default(),
            in_received: Default::default(),
            go: Default::default(),
            burst: Default::default(),
            gather: Gather::new(log2n_max),
            sign_source: Default::default(),
            to_fixed: Default::default(),
            butterflies: Butterflies::new(log2n_max),
            to_float: Default::default(),
            window: Default::default(),
            signs: Default::default(),
            take: Default::default(),
            take_odd: Default::default(),
            leaving: Default::default(),
            alike: Default::default(),
            out_valid: Default::default(),
            out_data: Default::default(),
            out_received: Default::default(),
            idle: Default::default(),
        }
    }
}

impl Logic for Hadamard {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, window);
        self.gather.clock.next = self.clock.val();
        self.sign_source[0].clock.next = self.clock.val();
        self.sign_source[1].clock.next = self.clock.val();
        self.to_fixed.clock.next = self.clock.val();
        self.to_float.clock.next = self.clock.val();

        self.gather.clear.next = self.clear.val();
        self.gather.start.next = self.start.val();
        self.gather.log2n.next = self.log2n.val();
        self.gather.odd.next = self.window.q.val().odd;
        self.gather.in_valid.next = self.in_valid.val();
        self.gather.in_data.next = self.in_data.val();
        self.gather.in_received.next = self.in_received.val();
        self.gather.go.next = self.go.val();
        self.in_ready.next = self.gather.in_ready.val();
        self.burst.next = self.gather.burst.val();

        // Signs come from the source of the beat's window, before the transform when encoding.
        self.to_fixed.tag.next = self.gather.out_tag.val();
        self.take.next = self.to_fixed.tag.val().valid;
        self.take_odd.next = self.to_fixed.tag.val().odd;
        if self.window.q.val().decode {
            self.take.next = self.to_float.take.val();
            self.take_odd.next = self.to_float.take_odd.val();
        }
        self.sign_source[0].start.next = self.start.val() && self.window.q.val().odd;
        self.sign_source[0].key.next = self.key.val();
        self.sign_source[0].take.next = self.take.val() && !self.take_odd.val();
        self.sign_source[1].start.next = self.start.val() && !self.window.q.val().odd;
        self.sign_source[1].key.next = self.key.val();
        self.sign_source[1].take.next = self.take.val() && self.take_odd.val();
        self.signs.next = self.sign_source[0].signs.val();
        if self.take_odd.val() {
            self.signs.next = self.sign_source[1].signs.val();
        }
        self.to_fixed.signs.next = self.signs.val();
        self.to_float.signs.next = bits_w::<16>(0);
        if self.window.q.val().decode {
            self.to_fixed.signs.next = bits_w::<16>(0);
            self.to_float.signs.next = self.signs.val();
        }

        self.to_fixed.beat.next = self.gather.out_beat.val();
        self.butterflies.clock.next = self.clock.val();
        self.butterflies.last.next = self.gather.last.val();
        self.butterflies.tag.next = self.to_fixed.out_tag.val();
        self.butterflies.beat.next = self.to_fixed.out_beat.val();
        // A block leaves after the last stage for its size.
        self.to_float.tag.next = self.butterflies.tap_tag[0].val();
        self.to_float.beat.next = self.butterflies.tap_beat[0].val();
        if self.gather.last.val().get_bit(5) {
            self.to_float.tag.next = self.butterflies.tap_tag[1].val();
            self.to_float.beat.next = self.butterflies.tap_beat[1].val();
        }
        if self.gather.last.val().get_bit(7) {
            self.to_float.tag.next = self.butterflies.tap_tag[2].val();
            self.to_float.beat.next = self.butterflies.tap_beat[2].val();
        }
        if self.gather.last.val().get_bit(9) {
            self.to_float.tag.next = self.butterflies.tap_tag[3].val();
            self.to_float.beat.next = self.butterflies.tap_beat[3].val();
        }
        self.leaving.next = self.to_float.out_tag.val();
        self.out_valid.next = self.leaving.val().valid;
        self.out_data.next = self.to_float.out_beat.val();
        self.out_received.next = self.leaving.val().received;

        // Blocks committed and not yet out.
        if self.gather.burst.val() {
            self.window.d.next.bursting = self.window.q.val().bursting + 1;
        }
        if self.leaving.val().valid {
            self.window.d.next.out_position = self.window.q.val().out_position + 1;
            if self.window.q.val().out_position == self.gather.last.val() {
                self.window.d.next.out_position = bits_w::<10>(0);
                if !self.gather.burst.val() {
                    self.window.d.next.bursting = self.window.q.val().bursting - 1;
                } else {
                    self.window.d.next.bursting = self.window.q.val().bursting;
                }
            }
        }
        self.idle.next = self.gather.idle.val() && (self.window.q.val().bursting == 0);

        // A window may start while the previous one is inside. It takes over the sign source of the
        // window before, which has left once the previous window begins to leave.
        if self.leaving.val().valid
            && ((self.leaving.val().odd && self.window.q.val().odd)
                || (!self.leaving.val().odd && !self.window.q.val().odd))
        {
            self.window.d.next.overlaps = false;
        }
        self.alike.next = (self.log2n.val() == self.window.q.val().log2n)
            && ((self.decode.val() && self.window.q.val().decode)
                || (!self.decode.val() && !self.window.q.val().decode));
        self.start_ready.next = self.idle.val()
            || (self.gather.idle.val()
                && self.alike.val()
                && !self.window.q.val().overlaps
                && !self.window.q.val().abandoned);
        if self.start.val() {
            self.window.d.next.log2n = self.log2n.val();
            self.window.d.next.decode = self.decode.val();
            self.window.d.next.odd = !self.window.q.val().odd;
            self.window.d.next.overlaps = !self.idle.val();
            self.window.d.next.abandoned = false;
        }
        if self.clear.val() {
            self.window.d.next.abandoned = true;
        }
    }
}

clocked!(Hadamard);
