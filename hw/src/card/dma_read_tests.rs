//! The read channel arbiter against a queue of owners.

use super::dma_read::DmaRead;
use super::testing::{Pace, at_every_pace};
use crate::cosim::Bench;
use crate::prelude::*;
use crate::random::Random;
use std::collections::VecDeque;

/// One requester offers bursts at random, the host takes and answers them at random, in order.
fn run(bench: &mut Bench<DmaRead>, random: &mut Random, pace: Pace, cycles: u64) {
    // Bursts outstanding: of the contribute engine?, beats left.
    let mut outstanding: VecDeque<(bool, u64)> = VecDeque::new();
    let mut submit = None::<u64>;
    let mut contribute = None::<(u64, u64)>;
    let mut offered = None::<(bool, u64, u64)>;
    let mut answering = false;
    let [mut full, mut both, mut kept, mut beats] = [0u32; 4];
    for cycle in 0..cycles {
        // Phases in which the host answers nothing fill the queue.
        let slow = cycle / 100 % 2 == 0;
        submit = submit.or_else(|| (pace.comes(random) && random.one_in(3)).then(|| random.next()));
        contribute = contribute.or_else(|| pace.comes(random).then(|| (random.next(), 1 + random.below(64))));
        answering = !outstanding.is_empty() && (answering || !slow && pace.comes(random));
        let block = &mut bench.block;
        block.submit_valid.next = submit.is_some();
        block.submit_address.next = bits_w(submit.unwrap_or(random.next()));
        block.contribute_valid.next = contribute.is_some();
        block.contribute_address.next = bits_w(contribute.map_or(random.next(), |(address, _)| address));
        block.contribute_beats.next = bits_w(contribute.map_or(random.next(), |(_, beats)| beats));
        block.contribute_take.next = pace.takes(random);
        block.ar_ready.next = pace.takes(random);
        block.r_valid.next = answering;
        block.r_last.next = outstanding.front().is_some_and(|(_, left)| *left == 1);
        bench.settle();

        let block = &bench.block;
        let room = outstanding.len() < 8;
        let wanted = submit.is_some() || contribute.is_some();
        assert_eq!(block.ar_valid.val(), room && wanted, "cycle {cycle}: {} outstanding", outstanding.len());
        full += u32::from(!room);
        both += u32::from(submit.is_some() && contribute.is_some());
        let mut taken = None;
        if block.ar_valid.val() {
            // The submission unit first, but a burst that was offered stands until it is taken.
            let stands = offered.is_some_and(|(of_contribute, ..)| of_contribute);
            let of_contribute = submit.is_none() || stands;
            kept += u32::from(stands && submit.is_some());
            let (address, beats) = if of_contribute { contribute } else { submit.map(|at| (at, 1)) }.expect("offered");
            assert_eq!((block.ar_address.val().raw(), block.ar_beats.val().raw()), (address, beats), "cycle {cycle}");
            if let Some(before) = offered {
                assert_eq!(before, (of_contribute, address, beats), "cycle {cycle}: an offer changed");
            }
            offered = Some((of_contribute, address, beats));
            taken = offered.filter(|_| block.ar_ready.val());
        }
        let (for_submit, for_contribute) = (taken.is_some_and(|t| !t.0), taken.is_some_and(|t| t.0));
        assert_eq!(submit.is_some() && block.submit_ready.val(), for_submit, "cycle {cycle}");
        assert_eq!(contribute.is_some() && block.contribute_ready.val(), for_contribute, "cycle {cycle}");
        let of_contribute = outstanding.front().is_some_and(|(owner, _)| *owner);
        assert_eq!(block.submit_beat.val(), answering && !of_contribute, "cycle {cycle}");
        assert_eq!(block.contribute_beat.val(), answering && of_contribute, "cycle {cycle}");
        if answering {
            assert_eq!(block.r_ready.val(), !of_contribute || block.contribute_take.val(), "cycle {cycle}");
            if block.r_ready.val() {
                beats += 1;
                answering = false;
                let front = outstanding.front_mut().expect("answering");
                front.1 -= 1;
                if front.1 == 0 {
                    outstanding.pop_front();
                }
            }
        }
        if let Some((of_contribute, _, beats)) = taken {
            outstanding.push_back((of_contribute, beats));
            offered = None;
            if of_contribute {
                contribute = None;
            } else {
                submit = None;
            }
        }
        bench.tick();
    }
    let seen = [full, both, beats, if pace.stall { kept } else { 1 }];
    assert!(seen.iter().all(|count| *count > 0), "the stimulus missed a case: {seen:?}");
}

#[test]
fn bursts_are_shared_and_answers_find_their_owner() {
    at_every_pace(4, |random, pace| run(&mut Bench::new(DmaRead::default()), random, pace, 5000));
}

#[test]
fn the_verilog_shares_alike() {
    let mut bench = Bench::recording(DmaRead::default());
    run(&mut bench, &mut Random::new(1), Pace::RANDOM, 3000);
    bench.verify_with_verilator("dma_read");
}

#[test]
fn clear_forgets_outstanding_bursts() {
    let mut bench = Bench::new(DmaRead::default());
    bench.block.contribute_valid.next = true;
    bench.block.ar_ready.next = true;
    (0..8).for_each(|_| bench.tick());
    assert!(!bench.block.ar_valid.val(), "eight are outstanding");
    bench.block.clear.next = true;
    bench.tick();
    bench.block.clear.next = false;
    bench.block.contribute_valid.next = false;
    bench.block.submit_valid.next = true;
    bench.settle();
    assert!(bench.block.ar_valid.val());
    bench.tick();
    bench.block.submit_valid.next = false;
    bench.block.r_valid.next = true;
    bench.block.r_last.next = true;
    bench.settle();
    assert!(bench.block.submit_beat.val() && bench.block.r_ready.val());
}
