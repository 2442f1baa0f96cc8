use super::rx_buffer::RxBuffer;
use super::rx_buffer_model::{Fate, RxBufferModel};
use super::testing::{Pace, at_every_pace, random_beat};
use crate::cosim::Bench;
use crate::random::Random;
use std::collections::{BTreeMap, VecDeque};

/// From the last beat in to the first beat out.
const LATENCY: u64 = 2;

fn run(bench: &mut Bench<RxBuffer>, random: &mut Random, pace: Pace, cycles: u64, fates: &mut BTreeMap<String, u32>) {
    let mut model = RxBufferModel::default();
    let mut stored_at = VecDeque::new();
    let mut left = 0;
    let (mut sizes, mut pop_of_16) = (1, 16);
    for cycle in 0..cycles {
        if cycle % 700 == 0 {
            (sizes, pop_of_16) = [(4, 0), (30, 16), (140, 2), (600, 0), (3, 1), (24, 12)][random.below(6) as usize];
        }
        let valid = pace.comes(random);
        if left == 0 {
            left = 1 + random.below(sizes);
        }
        let (beat, last, error) = (random_beat(random), left == 1, random.one_in(8));
        let pop = pace.takes(random) && (pop_of_16 == 16 || random.below(16) < pop_of_16);
        let clear = random.one_in(900);
        bench.block.rx_valid.next = valid;
        bench.block.rx_data.next = beat;
        bench.block.rx_last.next = last;
        bench.block.rx_error.next = error;
        bench.block.pop.next = pop;
        bench.block.clear.next = clear;
        bench.settle();

        let fate = if valid { model.push(beat, last, error) } else { None };
        left -= valid as u64;
        let fate = fate.filter(|_| !clear);
        assert_eq!(bench.block.stored.val(), fate == Some(Fate::Stored), "cycle {cycle}: {fate:?}");
        assert_eq!(bench.block.bad.val(), fate == Some(Fate::Bad), "cycle {cycle}: {fate:?}");
        let is_full = matches!(fate, Some(Fate::NoBeats | Fate::NoFrames));
        assert_eq!(bench.block.full.val(), is_full, "cycle {cycle}: {fate:?}");
        let waits = stored_at.front().is_some_and(|stored| cycle >= stored + LATENCY);
        assert_eq!(bench.block.valid.val(), waits, "cycle {cycle}");
        if let (true, Some((beat, last, length))) = (waits, model.front()) {
            assert_eq!(bench.block.data.val().data, beat, "cycle {cycle}");
            assert_eq!(bench.block.data.val().last, last, "cycle {cycle}");
            assert_eq!(bench.block.frame_beats.val().raw(), length as u64, "cycle {cycle}");
            if pop && model.pop() {
                stored_at.pop_front();
            }
        }
        if let Some(fate) = fate {
            *fates.entry(format!("{fate:?}")).or_default() += 1;
            if fate == Fate::Stored {
                stored_at.push_back(cycle);
            }
        }
        if clear {
            model.clear();
            stored_at.clear();
        }
        bench.tick();
    }
}

#[test]
fn whole_good_frames_come_out_in_order_and_others_leave_no_trace() {
    let mut fates = BTreeMap::new();
    at_every_pace(6, |random, pace| run(&mut Bench::new(RxBuffer::default()), random, pace, 8000, &mut fates));
    if std::env::var_os("OPTIREDUCE_SEED").is_none() {
        assert_eq!(fates.keys().collect::<Vec<_>>(), ["Bad", "NoBeats", "NoFrames", "Stored"], "{fates:?}");
    }
}

#[test]
fn verilog_stores_and_drops_the_same_frames() {
    let mut bench = Bench::recording(RxBuffer::default());
    let mut fates = BTreeMap::new();
    run(&mut bench, &mut Random::new(7), Pace::RANDOM, 2800, &mut fates);
    assert!(fates.len() >= 3, "the stimulus missed a case: {fates:?}");
    bench.verify_with_verilator("rx_buffer");
}

/// Returns whether the frame was stored.
fn send(bench: &mut Bench<RxBuffer>, beats: usize) -> bool {
    let mut stored = false;
    bench.block.rx_valid.next = true;
    for i in 0..beats {
        bench.block.rx_last.next = i + 1 == beats;
        bench.settle();
        stored = bench.block.stored.val();
        bench.tick();
    }
    bench.block.rx_valid.next = false;
    bench.settle();
    stored
}

#[test]
fn exactly_512_beats_and_64_frames_fit() {
    let mut bench = Bench::new(RxBuffer::default());
    assert!(send(&mut bench, 512) && !send(&mut bench, 1));
    bench.block.clear.next = true;
    bench.tick();
    bench.block.clear.next = false;
    assert!(!send(&mut bench, 513), "a frame longer than the buffer");
    assert!((0..64).all(|_| send(&mut bench, 8)), "the longer frame left no trace");
    assert!(!send(&mut bench, 1));
    bench.block.clear.next = true;
    bench.tick();
    bench.block.clear.next = false;
    assert!((0..64).all(|_| send(&mut bench, 1)));
    assert!(!send(&mut bench, 1), "the 65th frame");
}

#[test]
fn a_frame_shows_two_cycles_after_its_last_beat_and_flows_without_a_gap() {
    let mut bench = Bench::new(RxBuffer::default());
    for beats in [1, 2, 23] {
        // `send` returns one cycle after the last beat was at the input.
        assert!(send(&mut bench, beats));
        assert!(!bench.block.valid.val(), "{beats} beats");
        bench.tick();
        assert!(bench.block.valid.val(), "{beats} beats");
        assert!(send(&mut bench, 5) && send(&mut bench, 1));
        bench.tick();
        bench.block.pop.next = true;
        for i in 0..beats + 6 {
            assert!(bench.block.valid.val(), "a gap before beat {i} of {beats} + 5 + 1");
            bench.tick();
        }
        assert!(!bench.block.valid.val());
        bench.block.pop.next = false;
    }
}
