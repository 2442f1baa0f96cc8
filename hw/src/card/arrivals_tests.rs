use super::arrivals::{Arrivals, LATENCY};
use super::testing::{Pace, at_every_pace};
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use std::collections::VecDeque;

/// Counts beats on few addresses, against the model of [`LATENCY`] cycles earlier.
fn run(bench: &mut Bench<Arrivals>, random: &mut Random, pace: Pace, cycles: u64) {
    let mut model = [(0u64, 0u64); 512]; // epoch and count of each counter
    let bases: [u64; 8] = std::array::from_fn(|_| random.below(512));
    let mut history = VecDeque::new();
    let mut asked = 0;
    let (mut old_reads, mut scrubs) = (0, 0);
    for cycle in 0..cycles {
        let address = bases[random.below(8) as usize];
        let read_address = if random.one_in(3) { address } else { bases[random.below(8) as usize] };
        let (epoch, read_epoch) = (255 - random.below(2), 255 - random.below(3));
        let accept = pace.comes(random);
        let scrub = random.one_in(30);
        bench.block.address.next = bits_w(address);
        bench.block.epoch.next = bits_w(epoch);
        bench.block.accept.next = accept && !scrub;
        bench.block.scrub.next = scrub;
        bench.block.read_address.next = bits_w(read_address);
        bench.block.read_epoch.next = bits_w(read_epoch);
        bench.settle();
        assert_eq!(bench.block.count.val().raw(), asked, "cycle {cycle}");
        history.push_back(model);
        history.drain(..history.len().saturating_sub(LATENCY));
        let (counted_for, count) = history[0][read_address as usize];
        asked = if counted_for == read_epoch { count } else { 0 };
        old_reads += (asked > 0 && (counted_for, count) != model[read_address as usize]) as u32;
        if scrub {
            scrubs += (model[address as usize].1 > 0) as u32;
            model[address as usize] = (0, 0);
        } else if accept {
            let counter = &mut model[address as usize];
            *counter = if counter.0 == epoch { (epoch, counter.1 + 1) } else { (epoch, 1) };
        }
        bench.tick();
    }
    assert!(old_reads > 0 && scrubs > 0, "the stimulus missed a case: {old_reads} {scrubs}");
}

#[test]
fn beats_are_counted_by_slot_and_rank_for_one_epoch() {
    at_every_pace(10, |random, pace| run(&mut Bench::new(Arrivals::default()), random, pace, 3000));
}

#[test]
fn verilog_counts_the_same_beats() {
    let mut bench = Bench::recording(Arrivals::default());
    run(&mut bench, &mut Random::new(1), Pace::RANDOM, 3000);
    bench.verify_with_verilator("arrivals");
}

#[test]
fn every_counter_is_its_own_and_counts_a_whole_window() {
    let mut bench = Bench::new(Arrivals::default());
    bench.block.epoch.next = bits_w(1);
    bench.block.read_epoch.next = bits_w(1);
    let count = |bench: &mut Bench<Arrivals>, address: u64, times: u64| {
        bench.block.accept.next = true;
        bench.block.address.next = bits_w(address);
        (0..times).for_each(|_| bench.tick());
        bench.block.accept.next = false;
        bench.block.read_address.next = bits_w(address);
        (0..LATENCY).for_each(|_| bench.tick());
        bench.block.count.val().raw()
    };
    for turn in 1..=2 {
        for address in 0..512 {
            assert_eq!(count(&mut bench, address, 1 + address % 3), turn * (1 + address % 3), "counter {address}");
        }
    }
    bench.block.epoch.next = bits_w(2);
    bench.block.read_epoch.next = bits_w(2);
    assert_eq!(count(&mut bench, 511, 1024), 1024);
}
