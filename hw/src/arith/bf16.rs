//! bf16 on the wire: [`Bf16Round`] rounds the lanes of a beat to bf16, kept as fp32.
//!
//! Round to nearest, ties to even. Values that round past the largest bf16 become infinity. A NaN
//! stays a quiet NaN of the same sign, with its payload cut to the upper half. Model: [`round`].
//! Latency: none, no clock.

use crate::hdl::pack::Pack16;
use crate::hdl::prelude::*;

/// Rounds an fp32 to bf16, both as fp32 bits.
pub fn round(x: u32) -> u32 {
    if x & 0x7fff_ffff > 0x7f80_0000 {
        return x & 0xffff_0000 | 0x40_0000;
    }
    // A carry out of the fraction raises the exponent.
    x.wrapping_add(0x7fff + (x >> 16 & 1)) & 0xffff_0000
}

#[derive(LogicBlock, Default)]
pub struct Bf16Lane {
    pub data: Signal<In, W<32>>,
    pub rounded: Signal<Out, W<32>>,
    high: Wire<W<16>>,
    low: Wire<W<16>>,
    up: Wire<bool>,
    one: Wire<W<16>>,
    sum: Wire<W<16>>,
    quiet: Wire<W<16>>,
    nan: Wire<bool>,
}

impl Logic for Bf16Lane {
    #[hdl_gen]
    fn update(&mut self) {
        self.high.next = self.data.val().get_bits::<16>(16);
        self.low.next = self.data.val().get_bits::<16>(0);
        self.up.next =
            self.low.val().get_bit(15) && ((self.low.val().get_bits::<15>(0) != 0) || self.high.val().get_bit(0));
        self.one.next = bits_w::<16>(0);
        if self.up.val() {
            self.one.next = bits_w::<16>(1);
        }
        self.sum.next = self.high.val() + self.one.val();
        self.nan.next = (self.high.val().get_bits::<8>(7) == 0xff)
            && ((self.high.val().get_bits::<7>(0) != 0) || (self.low.val() != 0));
        self.quiet.next = self.high.val() | 0x40;
        self.rounded.next = bit_cast_w::<32, 16>(self.sum.val()) << 16;
        if self.nan.val() {
            self.rounded.next = bit_cast_w::<32, 16>(self.quiet.val()) << 16;
        }
    }
}

#[derive(LogicBlock, Default)]
pub struct Bf16Round {
    pub data: Signal<In, Beat>,
    pub rounded: Signal<Out, Beat>,
    lane: [Bf16Lane; 16],
    pack: Pack16,
}

impl Logic for Bf16Round {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..16 {
            self.lane[i].data.next = self.data.val().get_bits::<32>(i * 32);
            self.pack.lane[i].next = self.lane[i].rounded.val();
        }
        self.rounded.next = self.pack.beat.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::Bench;
    use crate::random::{Random, edge_floats};

    #[derive(LogicBlock, Default)]
    struct Rounding {
        clock: Signal<In, Clock>,
        data: Signal<In, Beat>,
        rounded: Signal<Out, Beat>,
        round: Bf16Round,
    }

    impl Logic for Rounding {
        #[hdl_gen]
        fn update(&mut self) {
            self.round.data.next = self.data.val();
            self.rounded.next = self.round.rounded.val();
        }
    }
    clocked!(Rounding);

    fn nearest(x: f32) -> u32 {
        let down = x.to_bits() & 0xffff_0000;
        if x.is_infinite() || f32::from_bits(down) == x {
            return x.to_bits();
        }
        let step = 0x1_0000;
        // The neighbour above the largest bf16 counts as 2^128 for rounding.
        let value = |bits: u32| match f32::from_bits(bits) {
            x if x.is_infinite() => 2f64.powi(128).copysign(x.into()),
            x => f64::from(x),
        };
        let (below, above) = (f64::from(x) - value(down), value(down + step) - f64::from(x));
        match below.abs().total_cmp(&above.abs()) {
            std::cmp::Ordering::Less => down,
            std::cmp::Ordering::Greater => down + step,
            std::cmp::Ordering::Equal => {
                if down & step == 0 {
                    down
                } else {
                    down + step
                }
            }
        }
    }

    /// Every upper half with the lower halves at which the rounding direction changes.
    fn all_turns() -> impl Iterator<Item = u32> {
        (0..=0xffffu32).flat_map(|high| [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff].map(|low| high << 16 | low))
    }

    #[test]
    fn the_model_rounds_to_the_nearest_even_bf16() {
        let mut random = Random::new(0xbf16);
        let drawn = std::iter::repeat_with(|| random.next() as u32).take(2_000_000);
        for x in all_turns().chain(edge_floats()).chain(drawn) {
            let found = round(x);
            assert!(round(found) == found && found & 0xffff == 0, "{x:08x} -> {found:08x}");
            if f32::from_bits(x).is_nan() {
                assert!(f32::from_bits(found).is_nan() && (found ^ x) >> 31 == 0, "{x:08x} -> {found:08x}");
            } else {
                assert_eq!(found, nearest(f32::from_bits(x)), "{x:08x}");
            }
        }
    }

    #[test]
    fn every_lane_rounds_as_its_model_and_so_does_its_verilog() {
        let mut random = Random::new(16);
        let drawn = std::iter::repeat_with(|| random.next() as u32).take(16_000);
        let values: Vec<u32> = all_turns().chain(edge_floats()).chain(drawn).collect();
        let mut bench = Bench::recording(Rounding::default());
        for (turn, chunk) in values.chunks_exact(16).enumerate() {
            // Rotated, so that every lane gets every kind of rounding.
            let beat = Beat(std::array::from_fn(|lane| chunk[(lane + turn) % 16]));
            bench.block.data.next = beat;
            bench.settle();
            assert_eq!(bench.block.rounded.val(), Beat(beat.0.map(round)), "{beat:?}");
            bench.tick();
        }
        bench.verify_with_verilator("bf16_round");
    }
}
