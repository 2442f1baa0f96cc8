use super::arrivals;
use super::reduce::Reduce;
use super::reduce_model::{Accumulator, Verdict};
use super::stimulus::float_beat;
use super::testing::{Pace, at_every_pace};
use super::types::{SlotBeat, WindowBeat};
use crate::arith::fp_add_model::fp_add;
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use std::collections::VecDeque;

const OWN: u64 = 9;
const SLOTS: [u8; 3] = [0, 5, 7];

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Open,
    Late,
    Silent,
    Scrub,
}

fn beat(slot: u8, relative: u64, sender: u64, epoch: u8, data: Beat) -> WindowBeat {
    WindowBeat {
        slot: bits_w(slot.into()),
        position: bits_w(relative + 17),
        relative: bits_w(relative),
        sender: bits_w(sender),
        epoch: bits_w(epoch.into()),
        data,
    }
}

fn address(beat: &WindowBeat) -> u64 {
    beat.slot.raw() << 9 | beat.relative.raw()
}

/// Drives few addresses, so that hazards and duplicates are frequent.
fn run(bench: &mut Bench<Reduce>, random: &mut Random, pace: Pace, cycles: u64) {
    let mut model = Accumulator::default();
    let mut phases = [(Phase::Open, 100u64); 8];
    let mut epochs = [1u8; 8];
    let (mut rx, mut own) = (None::<WindowBeat>, None::<WindowBeat>);
    let mut taken = VecDeque::from([None::<(WindowBeat, bool)>; 2]);
    let mut reads = VecDeque::from([None::<(u8, u16)>; 2]);
    let mut counts = VecDeque::new();
    let mut asked = None::<((u8, u8), u64)>;
    let mut scrubbed_at = 0;
    let mut flights: Vec<(u64, u64, bool)> = Vec::new(); // cycle taken, address, accepted
    let [mut accepted, mut late, mut duplicates, mut hazards, mut words, mut scrubs] = [0u32; 6];
    bench.block.window_beats.next = bits_w(1024);
    for cycle in 0..cycles {
        for slot in SLOTS.map(usize::from) {
            let (phase, left) = phases[slot];
            phases[slot] = match (phase, left) {
                (Phase::Open, 0) => (Phase::Late, random.below(30)),
                (Phase::Late, 0) => (Phase::Silent, 12),
                (Phase::Silent, 0) if scrubs == 0 && slot == 5 && !bench.block.scrub_busy.val() => {
                    bench.block.scrub.next = true;
                    bench.block.scrub_slot.next = bits_w(slot as u64);
                    scrubs += 1;
                    (Phase::Scrub, 2)
                }
                (Phase::Scrub, 0) if bench.block.scrub_busy.val() => (Phase::Scrub, 0),
                // After a scrub the epoch repeats, and everything must be empty.
                (Phase::Scrub, 0) => {
                    model.scrub(slot as u8);
                    scrubbed_at = cycle;
                    (Phase::Open, 60 + random.below(100))
                }
                (Phase::Silent, 0) => {
                    epochs[slot] += 1;
                    (Phase::Open, 60 + random.below(100))
                }
                (phase, left) => (phase, left - 1),
            };
        }
        let pick = |random: &mut Random, sender: Option<u64>| {
            let slot = SLOTS[random.below(3) as usize];
            let relative = [0, 1, 2, 511][random.below(4) as usize];
            let sender = sender.unwrap_or([0, 1, 31, 62, 63][random.below(5) as usize]);
            let speaks = matches!(phases[slot as usize].0, Phase::Open | Phase::Late);
            speaks.then(|| beat(slot, relative, sender, epochs[slot as usize], float_beat(random)))
        };
        if rx.is_none() && pace.comes(random) {
            rx = pick(random, None);
        }
        if own.is_none() && pace.stall && random.one_in(2) {
            own = pick(random, Some(OWN));
        }
        let open = SLOTS.iter().filter(|slot| phases[**slot as usize].0 == Phase::Open).map(|slot| 1 << slot).sum();
        let scale = (pace.stall && random.one_in(2))
            .then(|| (SLOTS[random.below(3) as usize], [0, 1, 2, 511][random.below(4) as usize]));
        let counted = (SLOTS[random.below(3) as usize], [0, 1, 31, 62, 63, OWN as u8][random.below(6) as usize]);
        let block = &mut bench.block;
        block.open.next = bits_w(open);
        block.rx_valid.next = rx.is_some();
        block.rx.next = rx.unwrap_or(beat(0, 0, 3, 1, float_beat(random)));
        block.own_valid.next = own.is_some();
        block.own.next = own.unwrap_or(beat(0, 0, OWN, 1, float_beat(random)));
        block.scale_valid.next = scale.is_some();
        block.scale_address.next =
            scale.map_or(SlotBeat::default(), |(slot, at): (u8, u16)| SlotBeat::at(slot.into(), at.into()));
        block.count_address.next = bits_w(u64::from(counted.0) << 6 | u64::from(counted.1));
        block.count_epoch.next = bits_w(epochs[counted.0 as usize].into());
        bench.settle();

        let block = &bench.block;
        if let Some((counted, expected)) = asked {
            assert_eq!(block.count.val().raw(), expected, "cycle {cycle}: count of {counted:?}");
        }
        counts.push_back(model.counts.clone());
        counts.drain(..counts.len().saturating_sub(arrivals::LATENCY));
        let scrubbed = counted.0 == 5 && scrubs > 0 && cycle < scrubbed_at + arrivals::LATENCY as u64;
        asked = (!scrubbed && phases[counted.0 as usize].0 != Phase::Scrub)
            .then(|| (counted, counts[0].of(counted.0, counted.1, epochs[counted.0 as usize]).into()));
        if let Some((slot, relative)) = reads.pop_front().flatten() {
            let found = block.scale_word.val();
            if let Some(word) = model.word(slot, relative).filter(|word| word.epoch != 0) {
                assert_eq!((found.data, found.arrived.raw()), (Beat(word.sum), word.arrived), "cycle {cycle}");
                assert_eq!((found.count.raw(), found.epoch.raw()), (word.count.into(), word.epoch.into()));
                words += 1;
            } else {
                assert_eq!(found.epoch.raw(), 0, "cycle {cycle}: slot {slot} beat {relative} should be empty");
            }
        }
        let verdict = taken.pop_front().flatten().map(|(beat, of_own)| {
            let (slot, relative) = (beat.slot.raw() as u8, beat.relative.raw() as u16);
            let open = open >> slot & 1 == 1;
            let (sender, epoch) = (beat.sender.raw() as u8, beat.epoch.raw() as u8);
            (beat, of_own, model.add(open, slot, relative, sender, epoch, beat.data.0))
        });
        let [is_accepted, is_late, is_duplicate] = [Verdict::Accepted, Verdict::Late, Verdict::Duplicate]
            .map(|kind| verdict.as_ref().is_some_and(|(_, _, verdict)| *verdict == kind));
        let of_own = verdict.as_ref().is_some_and(|(_, of_own, _)| *of_own);
        assert_eq!(block.accepted.val(), is_accepted, "cycle {cycle}: {verdict:?}");
        assert_eq!(block.drop_late.val(), is_late && !of_own, "cycle {cycle}: {verdict:?}");
        assert_eq!(block.drop_duplicate.val(), is_duplicate && !of_own, "cycle {cycle}: {verdict:?}");
        if let Some((beat, of_own, _)) = verdict {
            assert_eq!((block.accepted_own.val(), block.decided.val()), (of_own, beat), "cycle {cycle}");
            let flight = flights.iter_mut().find(|(at, ..)| at + 2 == cycle);
            flight.expect("it was taken").2 = is_accepted;
        }
        // A beat waits for an earlier one at its address for two cycles, or nine if that was added.
        let hazard = |beat: &WindowBeat| {
            let near = |age: u64, accepted: bool| age <= 2 || accepted && age <= 9;
            flights.iter().any(|(at, to, accepted)| *to == address(beat) && near(cycle - at, *accepted))
        };
        let rx_hazard = rx.as_ref().is_some_and(hazard);
        let own_hazard = own.as_ref().is_some_and(hazard);
        accepted += u32::from(is_accepted);
        late += u32::from(is_late);
        duplicates += u32::from(is_duplicate);

        let take_rx = rx.is_some() && !rx_hazard;
        let take_own = own.is_some() && !own_hazard && rx.is_none() && scale.is_none();
        if rx.is_some() {
            assert_eq!(block.rx_ready.val(), take_rx, "cycle {cycle}: {rx:?}");
        }
        assert_eq!(block.own_ready.val(), take_own, "cycle {cycle}");
        assert_eq!(block.scale_ready.val(), scale.is_some() && rx.is_none(), "cycle {cycle}");
        hazards += u32::from(rx_hazard) + u32::from(own_hazard);
        flights.retain(|(at, ..)| cycle - at < 10);
        let in_flight = |place: (u8, u16)| {
            let of_read = u64::from(place.0) << 9 | u64::from(place.1);
            flights.iter().any(|(_, to, _)| *to == of_read) || phases[place.0 as usize].0 == Phase::Scrub
        };
        reads.push_back(scale.filter(|place| block.scale_ready.val() && !in_flight(*place)));
        let now = if take_rx { rx.take().map(|beat| (beat, false)) } else { None };
        let now = now.or_else(|| if take_own { own.take().map(|beat| (beat, true)) } else { None });
        flights.extend(now.iter().map(|(beat, _)| (cycle, address(beat), false)));
        taken.push_back(now);
        bench.tick();
        bench.block.scrub.next = false;
    }
    let seen = [accepted, late, duplicates, hazards, scrubs];
    assert!(seen.iter().all(|count| *count > 0), "the stimulus missed a case: {seen:?}");
    assert!(!pace.stall || words > 0, "nothing was read");
}

#[test]
fn every_contribution_is_judged_and_added_as_in_the_model() {
    at_every_pace(3, |random, pace| run(&mut Bench::new(Reduce::default()), random, pace, 4000));
}

#[test]
fn the_verilog_reduces_alike() {
    let mut bench = Bench::recording(Reduce::default());
    run(&mut bench, &mut Random::new(77), Pace::RANDOM, 2500);
    bench.verify_with_verilator("reduce");
}

#[test]
fn an_address_at_any_distance_is_added_once_in_order_and_waits_until_ten() {
    for distance in 1..=11 {
        let mut bench = Bench::new(Reduce::default());
        let mut random = Random::new(distance);
        bench.block.open.next = bits_w(1);
        // The sum of three addends with cancellation depends on their order.
        let data = [1.0e8f32, 1.25, -1.0e8].map(|value| Beat([value.to_bits(); 16]));
        let mut expected = [0x8000_0000u32; 16];
        for (sender, data) in data.into_iter().enumerate() {
            bench.block.rx_valid.next = true;
            bench.block.rx.next = beat(0, 3, sender as u64, 1, data);
            let mut waited = 0;
            loop {
                bench.settle();
                if bench.block.rx_ready.val() {
                    break;
                }
                bench.tick();
                waited += 1;
            }
            assert_eq!(waited, if sender == 0 { 0 } else { 10u64.saturating_sub(distance) }, "distance {distance}");
            bench.tick();
            for filler in 1..distance {
                bench.block.rx.next = beat(0, 100 + filler, sender as u64, 1, float_beat(&mut random));
                bench.settle();
                assert!(bench.block.rx_ready.val(), "another address must not wait");
                bench.tick();
            }
            expected = std::array::from_fn(|lane| fp_add(expected[lane], data.0[lane]));
        }
        bench.block.rx_valid.next = false;
        (0..10).for_each(|_| bench.tick());
        bench.block.scale_valid.next = true;
        bench.block.scale_address.next = SlotBeat::at(0, 3);
        (0..2).for_each(|_| bench.tick());
        let word = bench.block.scale_word.val();
        assert_eq!((word.data, word.arrived.raw(), word.count.raw()), (Beat(expected), 7, 3), "distance {distance}");
    }
}

#[test]
fn a_beat_is_decided_after_two_cycles_and_in_memory_after_ten() {
    let mut bench = Bench::new(Reduce::default());
    bench.block.open.next = bits_w(1);
    bench.block.rx_valid.next = true;
    bench.block.rx.next = beat(0, 3, 5, 1, Beat([1.0f32.to_bits(); 16]));
    bench.tick();
    assert!(!bench.block.accepted.val());
    bench.block.rx_valid.next = false;
    bench.block.scale_valid.next = true;
    bench.block.scale_address.next = SlotBeat::at(0, 3);
    for cycle in 2..=12 {
        bench.tick();
        assert_eq!(bench.block.accepted.val(), cycle == 2, "cycle {cycle}");
        assert_eq!(bench.block.scale_word.val().count.raw(), u64::from(cycle == 12), "read in cycle {}", cycle - 2);
    }
}

#[test]
fn different_addresses_go_in_one_a_cycle() {
    let mut bench = Bench::new(Reduce::default());
    bench.block.open.next = bits_w(0x80);
    bench.block.rx_valid.next = true;
    for relative in 0..512 {
        bench.block.rx.next = beat(7, relative, 5, 1, Beat::default());
        bench.settle();
        assert!(bench.block.rx_ready.val());
        bench.tick();
        assert_eq!(bench.block.accepted.val(), relative > 0);
    }
    bench.block.count_address.next = bits_w(7 << 6 | 5);
    bench.block.count_epoch.next = bits_w(1);
    bench.block.rx_valid.next = false;
    (0..1 + arrivals::LATENCY).for_each(|_| bench.tick());
    assert_eq!(bench.block.count.val().raw(), 511, "the last beat is accepted in this cycle");
    bench.tick();
    assert_eq!(bench.block.count.val().raw(), 512);
}
