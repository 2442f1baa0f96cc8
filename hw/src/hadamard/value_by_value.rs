//! Butterflies of an engine for blocks of 256, one value per cycle: for a card with 16-cycle steps.
//!
//! One beat in 16 cycles needs one pair of adders per stage instead of sixteen, and narrow delay
//! memories. Eight stages of distance 1, 2, ... 128 values work like `across.rs`, in natural order.
//! Latency: 23 steps, like `Butterflies` (four inside the beat, 1 + 2 + 4 + 8 in delays across
//! beats, four after). Reset: none.
//! Limits: blocks arrive whole, as in `across.rs`, and `last` must then be 15.

use super::flow::Tag;
use crate::hdl::prelude::*;
use crate::hdl::wires::{PickLane, ShiftInLane};
use crate::mem::ram::Delay;

/// Steps from `tag` to `tap_tag`.
const LATENCY: usize = 23;

/// Value in excess 2^31.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
struct Entry {
    valid: bool,
    value: W<32>,
}

/// Butterfly between values at distance 2^k, see `across.rs`. Latency: 2^k + 1 cycles.
#[derive(LogicBlock)]
struct ValueStage {
    pub clock: Signal<In, Clock>,
    pub entry: Signal<In, Entry>,
    pub result: Signal<Out, Entry>,
    halve: Constant<bool>,
    distance: Constant<W<8>>,
    position: DFF<W<8>>,
    delay: Delay<Entry>,
    shown: DFF<Entry>,
    phase: Wire<W<8>>,
    mask: Wire<W<32>>,
    value: Wire<W<32>>,
    a: Wire<W<32>>,
    less: Wire<W<32>>,
    more: Wire<W<32>>,
    up: Wire<W<32>>,
}

impl ValueStage {
    fn new(k: usize) -> Self {
        ValueStage {
            clock: Default::default(),
            entry: Default::default(),
            result: Default::default(),
            halve: Constant::new(k % 2 == 1),
            distance: Constant::new(bits_w(1 << k)),
            position: Default::default(),
            delay: Delay::new(1 << k),
            shown: Default::default(),
            phase: Default::default(),
            mask: Default::default(),
            value: Default::default(),
            a: Default::default(),
            less: Default::default(),
            more: Default::default(),
            up: Default::default(),
        }
    }
}

impl Logic for ValueStage {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, position, shown);
        self.delay.clock.next = self.clock.val();
        self.delay.enable.next = true;
        self.value.next = self.entry.val().value;
        self.a.next = self.delay.delayed.val().value;

        self.phase.next = self.position.q.val() & self.distance.val();
        self.mask.next = bits_w::<32>(0);
        if self.entry.val().valid {
            self.position.d.next = self.position.q.val() + 1;
            if self.phase.val() != 0 {
                self.mask.next = bits_w::<32>(0xffff_ffffu64);
            }
        }

        self.less.next = (self.a.val() ^ 0x8000_0000u64) & self.mask.val();
        self.delay.data.next = self.entry.val();
        if self.halve.val() {
            self.more.next = (self.value.val() >> 1) & self.mask.val();
            self.up.next = self.value.val() & self.mask.val() & 1;
            self.delay.data.next.value = (self.value.val() >> 1) - self.less.val();
        } else {
            self.more.next = (self.value.val() ^ 0x8000_0000u64) & self.mask.val();
            self.up.next = bits_w::<32>(0);
            self.delay.data.next.value = self.value.val() - self.less.val();
        }
        self.shown.d.next.valid = self.delay.delayed.val().valid;
        self.shown.d.next.value = self.a.val() + self.more.val() + self.up.val();
        self.result.next = self.shown.q.val();
    }
}

/// Replacement for [`Butterflies`](super::butterflies::Butterflies).
///
/// `last`, `tag` and `beat` are held for 16 cycles, and the first tap, the only one used, changes
/// when `tick` is high.
#[derive(LogicBlock)]
pub struct ValueByValue {
    /// Last cycle of a step.
    pub tick: Signal<In, bool>,
    pub clock: Signal<In, Clock>,
    pub last: Signal<In, W<10>>,
    pub tag: Signal<In, Tag>,
    pub beat: Signal<In, Beat>,
    pub tap_tag: [Signal<Out, Tag>; 4],
    pub tap_beat: [Signal<Out, Beat>; 4],
    lane: DFF<W<4>>,
    pick: PickLane,
    stages: [ValueStage; 8],
    late: Delay<W<32>>,
    lanes: DFF<Beat>,
    shift: ShiftInLane,
    out_beat: DFF<Beat>,
    tags: Delay<Tag>,
    number: DFF<W<4>>,
    out_tag: DFF<Tag>,
    odd: Wire<bool>,
    entry: Wire<Entry>,
    exit: Wire<Entry>,
    silent: Constant<Tag>,
    unused_last: Wire<W<10>>,
    unused_valid: Wire<bool>,
}

impl Default for ValueByValue {
    fn default() -> Self {
        // Lane 0 leaves the stages after 263 cycles. It must be shifted in in the first cycle of
        // the step at whose end the beat is complete: 22 steps after it entered.
        let through = (0..8).map(|k| (1 << k) + 1).sum::<usize>();
        ValueByValue {
            tick: Default::default(),
            clock: Default::default(),
            last: Default::default(),
            tag: Default::default(),
            beat: Default::default(),
            tap_tag: Default::default(),
            tap_beat: Default::default(),
            lane: Default::default(),
            pick: Default::default(),
            stages: std::array::from_fn(ValueStage::new),
            late: Delay::new(16 * (LATENCY - 1) - through),
            lanes: Default::default(),
            shift: Default::default(),
            out_beat: Default::default(),
            tags: Delay::new(LATENCY - 1),
            number: Default::default(),
            out_tag: Default::default(),
            odd: Default::default(),
            entry: Default::default(),
            exit: Default::default(),
            silent: Constant::new(Tag::default()),
            unused_last: Default::default(),
            unused_valid: Default::default(),
        }
    }
}

impl Logic for ValueByValue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, lane, lanes, out_beat, number, out_tag);
        for i in 0..8 {
            self.stages[i].clock.next = self.clock.val();
        }
        self.late.clock.next = self.clock.val();
        self.tags.clock.next = self.clock.val();

        self.lane.d.next = self.lane.q.val() + 1;
        if self.tick.val() {
            self.lane.d.next = bits_w::<4>(0);
        }
        self.pick.beat.next = self.beat.val();
        self.pick.lane.next = self.lane.q.val();
        self.entry.next.valid = self.tag.val().valid;
        self.entry.next.value = self.pick.value.val();
        self.stages[0].entry.next = self.entry.val();
        for i in 0..7 {
            self.stages[i + 1].entry.next = self.stages[i].result.val();
        }

        // Assembles the beat, which is visible from the next step on.
        self.late.enable.next = true;
        self.exit.next = self.stages[7].result.val();
        self.late.data.next = self.exit.val().value;
        self.shift.data.next = self.lanes.q.val();
        self.shift.word.next = self.late.delayed.val();
        self.lanes.d.next = self.shift.shifted.val();

        // Beats whose number in the block has an odd number of ones are negated.
        self.tags.enable.next = self.tick.val();
        self.tags.data.next = self.tag.val();
        self.odd.next = self.number.q.val().get_bit(0)
            ^ self.number.q.val().get_bit(1)
            ^ self.number.q.val().get_bit(2)
            ^ self.number.q.val().get_bit(3);
        if self.tick.val() {
            self.out_beat.d.next = self.shift.shifted.val();
            self.out_tag.d.next = self.tags.delayed.val();
            if self.odd.val() {
                self.out_tag.d.next.negated = !self.tags.delayed.val().negated;
            }
            if self.tags.delayed.val().valid {
                self.number.d.next = self.number.q.val() + 1;
            }
        }

        self.tap_tag[0].next = self.out_tag.q.val();
        self.tap_beat[0].next = self.out_beat.q.val();
        // Taps for larger blocks.
        for i in 1..4 {
            self.tap_tag[i].next = self.silent.val();
            self.tap_beat[i].next = bits_beat(0);
        }
        self.unused_last.next = self.last.val();
        self.unused_valid.next = self.exit.val().valid;
    }
}

clocked!(ValueByValue);

#[cfg(test)]
mod tests {
    use super::super::butterflies::Butterflies;
    use super::*;
    use crate::cosim::Bench;
    use crate::random::Random;

    #[test]
    fn a_value_a_cycle_is_a_beat_a_step() {
        let mut random = Random::new(81);
        let mut beats = Bench::new(Butterflies::new(8));
        let mut values = Bench::recording(ValueByValue::default());
        let (mut left, mut seen, mut tag) = (0, 0, Tag::default());
        for step in 0..300 {
            // Every beat of a block has the block's tag.
            if left == 0 {
                left = if random.one_in(3) { 16 } else { 0 };
                tag = Tag {
                    valid: left > 0,
                    special: random.one_in(2),
                    negated: random.one_in(2),
                    odd: random.one_in(2),
                    scale: bits_w(random.below(512)),
                    received: bits_w(random.below(2048)),
                };
            }
            let beat = Beat(std::array::from_fn(|_| random.next() as u32));
            left -= i32::from(left > 0);
            beats.block.last.next = bits_w(15);
            (beats.block.tag.next, beats.block.beat.next) = (tag, beat);
            values.block.last.next = bits_w(15);
            (values.block.tag.next, values.block.beat.next) = (tag, beat);
            beats.settle();
            for cycle in 0..16 {
                values.block.tick.next = cycle == 15;
                values.settle();
                let (found, expected) = (values.block.tap_tag[0].val(), beats.block.tap_tag[0].val());
                assert_eq!(found.valid, expected.valid, "step {step}, cycle {cycle}");
                if expected.valid {
                    assert_eq!(found, expected, "step {step}, cycle {cycle}");
                    assert_eq!(values.block.tap_beat[0].val(), beats.block.tap_beat[0].val(), "step {step}");
                    seen += 1;
                }
                values.tick();
            }
            beats.tick();
        }
        assert!(seen > 1600, "{seen}");
        values.verify_with_verilator("value_by_value");
    }
}
