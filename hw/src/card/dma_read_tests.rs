use super::dma_read::DmaRead;
use super::testing::{Pace, at_every_pace};
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use std::collections::VecDeque;

/// A `slot` marks the contribute engine.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Burst {
    slot: Option<u64>,
    address: u64,
    beats: u64,
}

fn run(bench: &mut Bench<DmaRead>, random: &mut Random, pace: Pace, cycles: u64) {
    // Bursts not fully answered. The host has accepted the first `taken`.
    let mut under_way: VecDeque<Burst> = VecDeque::new();
    let mut taken = 0;
    let (mut submit, mut contribute) = (None::<Burst>, None::<Burst>);
    let mut offered = None;
    let mut answering = false;
    let mut clearing = 0u64;
    let [mut full, mut both, mut errors, mut dropped, mut beats] = [0u32; 5];
    for cycle in 0..cycles {
        // Phases in which the host answers nothing fill the queue.
        let slow = cycle / 100 % 2 == 0 && clearing == 0;
        clearing = if clearing > 0 {
            clearing - 1
        } else if random.one_in(500) {
            1500
        } else {
            0
        };
        let clear = clearing > 0;
        if clear && !bench.block.busy.val() {
            assert!(under_way.is_empty(), "cycle {cycle}: quiet with {} bursts under way", under_way.len());
            clearing = 0;
        }
        if clear {
            (submit, contribute) = (None, None);
        } else {
            submit = submit.or_else(|| {
                let burst = Burst { slot: None, address: random.next(), beats: 1 };
                (pace.comes(random) && random.one_in(3)).then_some(burst)
            });
            contribute = contribute.or_else(|| {
                let slot = Some(random.below(8));
                let burst = Burst { slot, address: random.next(), beats: 1 + random.below(64) };
                pace.comes(random).then_some(burst)
            });
        }
        answering = taken > 0 && (answering || !slow && pace.comes(random));
        let error = random.one_in(10);
        let block = &mut bench.block;
        block.clear.next = clear;
        block.submit_valid.next = submit.is_some();
        block.submit_address.next = bits_w(submit.map_or(random.next(), |burst| burst.address));
        block.contribute_valid.next = contribute.is_some();
        block.contribute_address.next = bits_w(contribute.map_or(random.next(), |burst| burst.address));
        block.contribute_beats.next = bits_w(contribute.map_or(random.next(), |burst| burst.beats));
        block.contribute_slot.next = bits_w(contribute.and_then(|burst| burst.slot).unwrap_or(random.next()));
        block.contribute_take.next = pace.takes(random);
        block.ar_ready.next = pace.takes(random);
        block.r_valid.next = answering;
        block.r_last.next = under_way.front().is_some_and(|burst| burst.beats == 1);
        block.r_error.next = error;
        bench.settle();

        let block = &bench.block;
        let offer = block.ar_valid.val().then(|| (block.ar_address.val().raw(), block.ar_beats.val().raw()));
        assert!(offered.is_none() || offer == offered, "cycle {cycle}: an offer changed");
        assert_eq!(offer, under_way.get(taken).map(|burst| (burst.address, burst.beats)), "cycle {cycle}");
        assert_eq!(block.busy.val(), !under_way.is_empty(), "cycle {cycle}");
        offered = offer.filter(|_| !block.ar_ready.val());

        let owner = under_way.front().copied();
        let mine = |of_contribute: bool| {
            answering && !clear && owner.is_some_and(|burst| burst.slot.is_some() == of_contribute)
        };
        assert_eq!(block.submit_beat.val(), mine(false), "cycle {cycle}");
        assert_eq!(block.contribute_beat.val(), mine(true), "cycle {cycle}");
        let slot = owner.and_then(|burst| burst.slot).filter(|_| mine(true) && error);
        assert_eq!(block.unread.val().raw(), slot.map_or(0, |slot| 1 << slot), "cycle {cycle}");
        errors += u32::from(slot.is_some());
        if answering {
            assert_eq!(block.r_ready.val(), !mine(true) || block.contribute_take.val(), "cycle {cycle}");
        }

        let free = !clear && under_way.len() < 16 && (offer.is_none() || block.ar_ready.val());
        full += u32::from(under_way.len() == 16);
        both += u32::from(submit.is_some() && contribute.is_some() && free);
        let chosen = submit.or(contribute).filter(|_| free);
        let (for_submit, for_contribute) =
            (chosen.is_some_and(|c| c.slot.is_none()), chosen.is_some_and(|c| c.slot.is_some()));
        assert_eq!(submit.is_some() && block.submit_ready.val(), for_submit, "cycle {cycle}");
        assert_eq!(contribute.is_some() && block.contribute_ready.val(), for_contribute, "cycle {cycle}");

        taken += usize::from(offer.is_some() && block.ar_ready.val());
        if answering && block.r_ready.val() {
            beats += 1;
            dropped += u32::from(clear);
            answering = false;
            let front = under_way.front_mut().expect("answering");
            front.beats -= 1;
            if front.beats == 0 {
                under_way.pop_front();
                taken -= 1;
            }
        }
        if let Some(burst) = chosen {
            under_way.push_back(burst);
            if for_submit {
                submit = None;
            } else {
                contribute = None;
            }
        }
        bench.tick();
    }
    let seen = [full, both, errors, dropped, beats];
    assert!(seen.iter().all(|count| *count > 0), "the stimulus missed a case: {seen:?}");
}

#[test]
fn bursts_are_shared_and_answers_find_their_owner() {
    at_every_pace(4, |random, pace| run(&mut Bench::new(DmaRead::default()), random, pace, 8000));
}

#[test]
fn the_verilog_shares_alike() {
    let mut bench = Bench::recording(DmaRead::default());
    run(&mut bench, &mut Random::new(1), Pace::RANDOM, 4000);
    bench.verify_with_verilator("dma_read");
}

#[test]
fn a_reset_of_the_bus_forgets_outstanding_bursts() {
    let mut bench = Bench::new(DmaRead::default());
    bench.block.contribute_valid.next = true;
    bench.block.ar_ready.next = true;
    (0..20).for_each(|_| bench.tick());
    assert!(!bench.block.ar_valid.val() && bench.block.busy.val(), "sixteen are outstanding");
    bench.block.contribute_valid.next = false;
    bench.block.clear.next = true;
    bench.block.reset.next = true;
    bench.tick();
    bench.block.reset.next = false;
    bench.settle();
    assert!(!bench.block.busy.val());
}
