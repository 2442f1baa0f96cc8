//! The streaming randomised Hadamard engine.
//!
//! What: per block of n = 2^log2n fp32, n/16 beats, y = H diag(s) x / sqrt(n) (encode) or x = diag(s) H y / sqrt(n)
//! (decode); log2n 8, 10 or 12, chosen per window. The signs are those of `signs16(key, beat)`.
//! How: `gather` (two block buffers, scale, received beats) -> `to_fixed` (signs when encoding) -> four butterfly
//! stages inside the beat -> one stage across beats per distance 1, 2, 4, ... B/2 -> `to_float` (signs when decoding).
//! Why block floating point: an int32 butterfly costs 32 LUT a lane, an fp32 one 456. Every second stage halves, so
//! the scale is exactly 1/sqrt(n), and no number exceeds 2^30: `model` has the numerics and the bound, and says
//! what becomes of zeros, infinities and NaNs.
//! Latency: [`latency_cycles`] from a block's last beat in to its first beat out. One beat a cycle (initiation
//! interval 1), blocks without a gap between them; output beats come in order.
//! Back-pressure: `in_ready` before, `go` per block; none inside a burst. Reset: `start`, only while `start_ready`;
//! `clear` leads to `idle` from any state.
//! Windows follow within 6 cycles: the next one of the same size and direction may start when the last block of the
//! one before has begun to burst, with at most two windows inside. Every block's tag says which of the two it belongs
//! to, and thus which of two sign sources is used. Any other window, and the first after `clear`, waits for `idle`.
//! Limits: a window is a whole number of blocks; a lost beat counts as zeros, and rescaling by n/received is left
//! to the user of `out_received`. Blocks of 16384: `across` with ten stages here, and see `gather`.
//! Source: OptiReduce (NSDI'25) 3.3. Differs: fixed power-of-four blocks instead of one transform over the bucket.
//!
//! | feature | shown by |
//! |---|---|
//! | bit-exact results, order, sizes, signs, both directions | `engine_agrees_with_model_*`, `verilog_*` |
//! | bubbles, `go`, lost beats, `in_ready`, `burst`, `idle` | the same runs |
//! | windows close to each other, each with its signs; others wait | `windows_follow_*`, `verilog_of_windows_*` |
//! | latency, initiation interval 1 | `latency_is_as_published_and_blocks_follow_without_gap` |
//! | no overflow | `model`: `no_input_of_any_size_leaves_the_range`, `largest_inputs_with_adversarial_signs_stay_in_range` |
//! | unknown size refused | `unknown_size_accepts_nothing_until_the_next_start` |
//! | largest size chosen when built | the same runs, on engines for 256 and for 16384 |

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

/// Cycles from the one in which a block's last beat is accepted to the one in which its first result is on
/// `out_data`, when `go` is given and no burst is in the way: n/16 - 1 in the delay memories, one in every butterfly
/// stage, 13 in other registers. The same whatever the engine's largest size.
pub const fn latency_cycles(log2n: u32) -> u64 {
    (1 << log2n) / 16 + log2n as u64 + 12
}

/// What the engine keeps about its window and the blocks inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Window {
    log2n: W<4>,
    decode: bool,
    /// Which of the two windows it is.
    odd: bool,
    /// The previous window is inside, or was until the first block of this one came out.
    overlaps: bool,
    /// Abandoned by `clear`.
    abandoned: bool,
    bursting: W<4>,
    out_position: W<10>,
}

/// The engine. See the module for what and why.
#[derive(LogicBlock)]
pub struct Hadamard {
    /// The clock.
    pub clock: Signal<In, Clock>,
    /// Abandons the window; `idle` once everything inside has come out, which needs `go`.
    pub clear: Signal<In, bool>,
    /// One cycle, only with `start_ready` and without `in_valid`: begins a window with the next three inputs.
    pub start: Signal<In, bool>,
    /// 8, 10, 12 or 14, at most what the engine is built for; with any other value nothing is accepted until the next
    /// `start`.
    pub log2n: Signal<In, W<4>>,
    /// Decode instead of encode.
    pub decode: Signal<In, bool>,
    /// Key of the window's signs.
    pub key: Signal<In, W<64>>,
    /// A window of this `log2n` and `decode` may begin.
    pub start_ready: Signal<Out, bool>,
    /// The beat is valid.
    pub in_valid: Signal<In, bool>,
    /// The beat is accepted.
    pub in_ready: Signal<Out, bool>,
    /// Sixteen fp32 values, lane 0 in the low bits.
    pub in_data: Signal<In, Beat>,
    /// False: the beat was lost; zeros are taken instead, and it is not counted.
    pub in_received: Signal<In, bool>,
    /// Downstream has room for one more whole block; sampled when one is about to burst.
    pub go: Signal<In, bool>,
    /// One cycle: a block has been committed to come out.
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
    /// The result is valid.
    pub out_valid: Signal<Out, bool>,
    /// Sixteen fp32 results.
    pub out_data: Signal<Out, Beat>,
    /// How many beats of this block were received; constant throughout its burst.
    pub out_received: Signal<Out, W<11>>,
    /// The engine is empty.
    pub idle: Signal<Out, bool>,
}

impl Default for Hadamard {
    /// The engine of the card: blocks of up to 2^[`HADAMARD_LOG2_MAX`].
    fn default() -> Self {
        Hadamard::new(HADAMARD_LOG2_MAX)
    }
}

impl Hadamard {
    /// An engine for blocks of up to 2^`log2n_max` values.
    ///
    /// # Panics
    /// When `log2n_max` is not 8, 10, 12 or 14: a design error.
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

        // The signs of a beat, from the source of its window: before the transform when encoding, after it when decoding.
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

        // The pipeline.
        self.to_fixed.beat.next = self.gather.out_beat.val();
        self.butterflies.clock.next = self.clock.val();
        self.butterflies.last.next = self.gather.last.val();
        self.butterflies.tag.next = self.to_fixed.out_tag.val();
        self.butterflies.beat.next = self.to_fixed.out_beat.val();
        // A block leaves after the last stage that it is large enough for.
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

        // A window may start while the previous one is inside. It takes over the sign source of the window before that, which
        // has left once the previous one begins to come out.
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
