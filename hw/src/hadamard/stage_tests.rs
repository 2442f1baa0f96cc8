use super::across::Across;
use super::flow::Tag;
use super::in_beat::InBeat;
use super::model;
use super::signs::Signs;
use super::testing::{KINDS, Random};
use super::to_fixed::ToFixed;
use super::to_float::ToFloat;
use crate::arith::fp_to_int_model::fp_to_scaled_int;
use crate::arith::int_to_fp_model::scaled_int_to_fp;
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use optireduce_contract::signs::signs16;
use std::collections::VecDeque;

fn excess(v: i32) -> u32 {
    v as u32 ^ 1 << 31
}

/// Number in the engine's range, with a uniform number of bits.
fn number(random: &mut Random) -> i32 {
    let magnitude = (random.next_u32() >> 1 | 1 << 30) >> random.below(32);
    let v = (magnitude & 0x7fff_ffff) as i32;
    if random.percent(50) { -v } else { v }
}

fn tag(scale: u32, special: bool) -> Tag {
    Tag { valid: true, special, negated: false, odd: scale % 2 == 1, scale: bits_w(scale as u64), received: bits_w(7) }
}

#[test]
fn to_fixed_agrees_with_model() {
    const LATENCY: usize = 3;
    let mut random = Random::new(40);
    let mut bench = Bench::recording(ToFixed::default());
    let (mut expected, mut held) = (Vec::new(), None);
    for cycle in 0..4000 {
        let kind = KINDS[cycle % KINDS.len()];
        let mut lanes: [u32; 16] = std::array::from_fn(|i| kind.value(&mut random, i));
        for lane in &mut lanes {
            // Ties: mantissas that end in 10...0.
            if random.percent(30) {
                let zeros = random.below(23);
                *lane = *lane >> zeros << zeros | 1 << zeros;
            }
        }
        let largest = lanes.iter().map(|v| v >> 23 & 0xff).max().unwrap_or(0).max(1);
        let mut scale = largest + 4 + random.below(5);
        if random.percent(20) {
            (lanes, scale) = held.unwrap_or((lanes, scale));
        }
        held = Some((lanes, scale));
        let signs = random.next_u32() as u16;
        bench.block.tag.next = tag(scale, false);
        bench.block.beat.next = Beat(lanes);
        bench.block.signs.next = bits_w(signs as u64);
        let fixed = |i: usize| fp_to_scaled_int(lanes[i] ^ (signs as u32 >> i & 1) << 31, scale);
        expected.push((Beat(std::array::from_fn(|i| excess(fixed(i)))), tag(scale, false)));
        bench.tick();
        if cycle + 1 >= LATENCY {
            let (beat, tag) = expected[cycle + 1 - LATENCY];
            assert_eq!((bench.block.out_beat.val(), bench.block.out_tag.val()), (beat, tag), "cycle {cycle}");
        }
    }
    bench.verify_with_verilator("hadamard-to-fixed");
}

#[test]
fn to_float_agrees_with_model() {
    const LATENCY: usize = 5;
    let mut random = Random::new(41);
    let mut bench = Bench::recording(ToFloat::default());
    let (mut expected, mut held) = (Vec::<(Beat, Tag)>::new(), None);
    let mut taken = VecDeque::from([0; LATENCY - 1]);
    for cycle in 0..6000usize {
        let mut lanes: [i32; 16] = std::array::from_fn(|_| number(&mut random));
        for lane in &mut lanes {
            // Ties, carries into the exponent and the ends of the range.
            match random.below(8) {
                0 => *lane = *lane >> 6 << 6,
                1 => *lane |= 0x3f_ffff,
                2 => {
                    *lane = [0, 1, -1, i32::MAX, -i32::MAX, 0x00ff_ffff, 0x01ff_ffff, 1 << 30][random.below(8) as usize]
                }
                _ => {}
            }
        }
        // Any scale, and more often scales at which results overflow or vanish.
        let mut scale = [1 + random.below(40), 1 + random.below(257), 220 + random.below(38)][random.below(3) as usize];
        let mut special = random.percent(5);
        if random.percent(20) {
            (lanes, scale, special) = held.unwrap_or((lanes, scale, special));
        }
        held = Some((lanes, scale, special));
        let (signs, negated) = (random.next_u32() as u16, random.percent(50));
        let tag = Tag { valid: random.percent(80), negated, ..tag(scale, special) };
        bench.block.tag.next = tag;
        bench.block.beat.next = Beat(lanes.map(excess));
        // The signs of a beat are sampled four cycles after it.
        if let Some((_, tag)) = (cycle + 1).checked_sub(LATENCY).map(|at| expected[at]) {
            assert_eq!(bench.block.take.val(), tag.valid, "cycle {cycle}");
            assert_eq!(bench.block.take_odd.val(), tag.odd, "cycle {cycle}");
        }
        bench.block.signs.next = bits_w(taken.pop_front().unwrap_or_default());
        taken.push_back(signs as u64);
        let odd = |i: usize| (i.count_ones() % 2 == 1) != negated;
        let signed = |i: usize| if (signs >> i & 1 == 1) != odd(i) { -lanes[i] } else { lanes[i] };
        let float = |i: usize| if special { model::NAN } else { scaled_int_to_fp(signed(i), scale) };
        expected.push((Beat(std::array::from_fn(float)), tag));
        bench.tick();
        if cycle + 1 >= LATENCY {
            let (beat, tag) = expected[cycle + 1 - LATENCY];
            assert_eq!((bench.block.out_beat.val(), bench.block.out_tag.val()), (beat, tag), "cycle {cycle}");
        }
    }
    bench.verify_with_verilator("hadamard-to-float");
}

#[test]
fn in_beat_stage_is_a_butterfly_of_neighbours() {
    for halve in [false, true] {
        let mut random = Random::new(42);
        let mut bench = Bench::recording(InBeat::new(halve));
        for _ in 0..2000 {
            let lanes: [i32; 16] = std::array::from_fn(|_| number(&mut random));
            bench.block.tag.next = tag(9, false);
            bench.block.beat.next = Beat(lanes.map(excess));
            bench.tick();
            let mut expected = [0; 16];
            for i in 0..8 {
                (expected[i], expected[i + 8]) = model::butterfly(lanes[2 * i], lanes[2 * i + 1], halve);
            }
            assert_eq!(bench.block.out_beat.val(), Beat(expected.map(excess)));
            assert_eq!(bench.block.out_tag.val(), tag(9, false));
        }
        bench.verify_with_verilator(if halve { "hadamard-in-beat-halving" } else { "hadamard-in-beat" });
    }
}

#[test]
fn across_stage_is_a_butterfly_of_beats_that_far_apart() {
    // Bursts of whole groups of 2D beats with random gaps, sometimes with the stage disabled.
    for k in [0, 1, 2, 5, 9] {
        let distance = 1usize << k;
        let mut random = Random::new(43 + k as u64);
        let mut bench = Bench::recording(Across::new(k));
        for _ in 0..12 {
            let enable = random.percent(70);
            let mut cycles: Vec<Option<[i32; 16]>> = Vec::new();
            for _ in 0..1 + random.below(4) {
                cycles.extend((0..2 * distance).map(|_| Some(std::array::from_fn(|_| number(&mut random)))));
                cycles.extend((0..random.below(2) * random.below(3 * distance as u32)).map(|_| None));
            }
            let mut expected = vec![None; cycles.len()];
            let mut i = 0;
            while enable && i < cycles.len() {
                if cycles[i].is_none() {
                    i += 1;
                    continue;
                }
                for j in i..i + distance {
                    let (Some(a), Some(b)) = (cycles[j], cycles[j + distance]) else { panic!("a group is whole") };
                    let both: [_; 16] = std::array::from_fn(|l| model::butterfly(a[l], b[l], k % 2 == 1));
                    (expected[j], expected[j + distance]) =
                        (Some((both.map(|p| p.0), false)), Some((both.map(|p| p.1), true)));
                }
                i += 2 * distance;
            }
            let latency = distance + 1;
            bench.block.enable.next = enable;
            let started = random.percent(50);
            for cycle in 0..cycles.len() + latency {
                let entering = cycles.get(cycle).copied().flatten();
                let garbage = std::array::from_fn(|_| number(&mut random));
                bench.block.tag.next = Tag { valid: entering.is_some(), negated: started, ..tag(5, false) };
                bench.block.beat.next = Beat(entering.unwrap_or(garbage).map(excess));
                bench.tick();
                let leaving = (cycle + 1).checked_sub(latency).and_then(|at| expected.get(at).copied().flatten());
                assert_eq!(bench.block.out_tag.val().valid, leaving.is_some(), "distance {distance}, cycle {cycle}");
                if let Some((lanes, negated)) = leaving {
                    assert_eq!(bench.block.out_beat.val(), Beat(lanes.map(excess)), "distance {distance}");
                    assert_eq!(bench.block.out_tag.val(), Tag { negated: negated != started, ..tag(5, false) });
                }
            }
        }
        bench.verify_with_verilator(&format!("hadamard-across-{distance}"));
    }
}

#[test]
fn signs_are_those_of_the_contract_from_every_start() {
    let mut random = Random::new(44);
    let mut bench = Bench::recording(Signs::default());
    for window in 0..20 {
        let key = (random.next_u32() as u64) << 32 | random.next_u32() as u64;
        bench.block.start.next = true;
        bench.block.key.next = bits_w(key);
        bench.block.take.next = random.percent(50);
        bench.tick();
        bench.block.start.next = false;
        bench.block.key.next = bits_w(0);
        bench.block.take.next = false;
        for _ in 0..8 {
            bench.tick();
        }
        let mut beat = 0;
        for _ in 0..random.below(300) {
            assert_eq!(bench.block.signs.val().raw(), signs16(key, beat) as u64, "window {window}, beat {beat}");
            let take = random.percent(if window % 2 == 0 { 100 } else { 40 });
            bench.block.take.next = take;
            bench.tick();
            beat += take as u32;
        }
    }
    bench.verify_with_verilator("hadamard-signs");
}
