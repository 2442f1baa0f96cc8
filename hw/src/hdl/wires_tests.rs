//! `Wires` adds the clock that a bench needs.

use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::hdl::wires::{OrNegativeZero, PackHalves, ShiftIn, Widen};
use crate::random::Random;

#[derive(LogicBlock, Default)]
struct Wires {
    clock: Signal<In, Clock>,
    fresh: Signal<In, bool>,
    data: Signal<In, Beat>,
    word: Signal<In, W<16>>,
    sum: Signal<Out, Beat>,
    shifted: Signal<Out, Beat>,
    bf16: Signal<In, bool>,
    high: Signal<In, bool>,
    widened: Signal<Out, Beat>,
    or_negative_zero: OrNegativeZero,
    packs: Signal<Out, Beat>,
    shift_in: ShiftIn,
    widen: Widen,
    pack_halves: PackHalves,
}

impl Logic for Wires {
    #[hdl_gen]
    fn update(&mut self) {
        self.or_negative_zero.fresh.next = self.fresh.val();
        self.or_negative_zero.data.next = self.data.val();
        self.sum.next = self.or_negative_zero.sum.val();
        self.shift_in.data.next = self.data.val();
        self.shift_in.word.next = self.word.val();
        self.shifted.next = self.shift_in.shifted.val();
        self.widen.data.next = self.data.val();
        self.widen.bf16.next = self.bf16.val();
        self.widen.high.next = self.high.val();
        self.widened.next = self.widen.beat.val();
        self.pack_halves.low.next = self.data.val();
        self.pack_halves.high.next = self.sum.val();
        self.packs.next = self.pack_halves.packs.val();
    }
}
clocked!(Wires);

#[test]
fn wires_do_what_their_one_line_says_also_in_verilog() {
    let mut bench = Bench::recording(Wires::default());
    let mut random = Random::new(1);
    for cycle in 0..500 {
        let data = Beat(std::array::from_fn(|_| random.next() as u32));
        let (fresh, word) = (random.one_in(2), random.next() as u16);
        bench.block.data.next = data;
        bench.block.fresh.next = fresh;
        bench.block.word.next = bits_w(word as u64);
        let (bf16, high) = (!random.one_in(3), random.one_in(2));
        bench.block.bf16.next = bf16;
        bench.block.high.next = high;
        bench.settle();
        let value = |lane| (data.get_bits::<16>(16 * (lane + 16 * high as usize)).raw() as u32) << 16;
        let widened = if bf16 { Beat(std::array::from_fn(value)) } else { data };
        assert_eq!(bench.block.widened.val(), widened, "cycle {cycle}");
        let sum = if fresh { data } else { Beat([(-0.0f32).to_bits(); 16]) };
        assert_eq!(bench.block.sum.val(), sum, "cycle {cycle}");
        let mut bytes = data.to_bytes();
        bytes.rotate_left(2);
        bytes[62..].copy_from_slice(&word.to_le_bytes());
        assert_eq!(bench.block.shifted.val(), Beat::from_bytes(&bytes), "cycle {cycle}");
        let lanes = data.0.iter().chain(&sum.0);
        let packed: Vec<u8> = lanes.flat_map(|lane| lane.to_le_bytes()[2..].to_vec()).collect();
        assert_eq!(bench.block.packs.val().to_bytes().to_vec(), packed, "cycle {cycle}");
        bench.tick();
    }
    bench.verify_with_verilator("wires");
}

#[test]
fn after_32_words_the_first_is_in_the_low_bits() {
    let mut bench = Bench::new(Wires::default());
    for i in 0..32 {
        bench.block.word.next = bits_w(i * 2049);
        bench.settle();
        bench.block.data.next = bench.block.shifted.val();
    }
    let beat = bench.block.shifted.val();
    (0..32).for_each(|i| assert_eq!(beat.get_bits::<16>(16 * i).raw(), i as u64 * 2049));
}
