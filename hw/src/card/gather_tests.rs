use super::arrivals;
use super::gather::Gather;
use super::gather_model::GatherMemory;
use super::reduce_model::Verdict;
use super::testing::{Pace, at_every_pace, random_beat};
use super::types::{SlotBeat, WindowBeat};
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use std::collections::VecDeque;

const SLOTS: [u8; 3] = [0, 3, 7];
const POSITIONS: [u64; 6] = [0, 1, 2, 511, 512, 1023];
const RANKS: [u64; 4] = [0, 1, 62, 63];

fn beat(slot: u8, position: u64, sender: u64, epoch: u8, data: Beat) -> WindowBeat {
    WindowBeat {
        slot: bits_w(slot.into()),
        position: bits_w(position),
        relative: bits_w(0),
        sender: bits_w(sender),
        epoch: bits_w(epoch.into()),
        data,
    }
}

/// Traffic on all ports (on the wire only without `pace.stall`). Every 200 cycles a slot closes and
/// reopens with the next epoch. Slot 3 is scrubbed once and keeps its epoch.
fn run(bench: &mut Bench<Gather>, random: &mut Random, pace: Pace, cycles: u64) {
    let mut model = GatherMemory::default();
    let mut epochs = [1u8; 8];
    let mut scaled = None::<WindowBeat>;
    let mut taken = VecDeque::from([None::<WindowBeat>; 2]);
    let mut before = None::<(u8, u64)>;
    let mut counts = VecDeque::new();
    let mut asked = None::<((u8, u8), u64)>;
    let mut read = None::<(u8, u16)>;
    let mut scrubbed = None::<u64>; // cycle at which the scrubber was done
    let [mut accepted, mut late, mut duplicates, mut words, mut stored] = [0u32; 5];
    bench.block.window_beats.next = bits_w(1024);
    for cycle in 0..cycles {
        let scrub = cycle == 300;
        let scrubbing = cycle >= 300 && scrubbed.is_none();
        if cycle % 200 == 199 {
            epochs[SLOTS[(cycle / 200 % 2 * 2) as usize] as usize] += 1;
        }
        let closing = |slot: u8| cycle % 200 >= 140 && slot == SLOTS[(cycle / 200 % 2 * 2) as usize];
        let silent = |slot: u8| closing(slot) && cycle % 200 >= 180 || slot == 3 && (cycle > 290 && scrubbed.is_none());
        let open = SLOTS.iter().filter(|slot| !closing(**slot) && !silent(**slot)).map(|slot| 1u64 << slot).sum();
        let pick = |random: &mut Random| {
            let (slot, position) = (SLOTS[random.below(3) as usize], POSITIONS[random.below(6) as usize]);
            let sender = RANKS[random.below(4) as usize];
            (!silent(slot)).then(|| beat(slot, position, sender, epochs[slot as usize], random_beat(random)))
        };
        let rx = pace.comes(random).then(|| pick(random)).flatten();
        let rx = rx.filter(|beat| before != Some((beat.slot.raw() as u8, beat.position.raw())));
        // Position 77 is written by the scaler only.
        if scaled.is_none() && pace.stall && random.one_in(2) {
            scaled = pick(random).map(|beat| WindowBeat { position: bits_w(77), ..beat });
        }
        let place = |random: &mut Random| {
            let position = [0, 1, 2, 77, 511, 512, 1023][random.below(7) as usize];
            (pace.stall && random.one_in(2)).then(|| (SLOTS[random.below(3) as usize], position))
        };
        let (send, finish) = (place(random), place(random));
        let at = |place: Option<(u8, u16)>| {
            place.map_or(SlotBeat::default(), |(slot, at)| SlotBeat::at(slot.into(), at.into()))
        };
        let counted = (SLOTS[random.below(3) as usize], RANKS[random.below(4) as usize] as u8);
        let block = &mut bench.block;
        block.open.next = bits_w(open);
        block.rx_valid.next = rx.is_some();
        block.rx.next = rx.unwrap_or(beat(0, 0, 0, 1, random_beat(random)));
        block.scaled_valid.next = scaled.is_some();
        block.scaled.next = scaled.unwrap_or(beat(0, 0, 0, 1, random_beat(random)));
        block.send_valid.next = send.is_some();
        block.send_address.next = at(send);
        block.finish_valid.next = finish.is_some();
        block.finish_address.next = at(finish);
        block.scrub.next = scrub;
        block.scrub_slot.next = bits_w(3);
        block.count_address.next = bits_w(u64::from(counted.0) << 6 | u64::from(counted.1));
        block.count_epoch.next = bits_w(epochs[counted.0 as usize].into());
        bench.settle();

        let block = &bench.block;
        if let Some((counted, expected)) = asked {
            assert_eq!(block.count.val().raw(), expected, "cycle {cycle}: count of {counted:?}");
        }
        counts.push_back(model.counts.clone());
        counts.drain(..counts.len().saturating_sub(arrivals::LATENCY));
        // The model does not track a slot's counters during a scrub and shortly after.
        let cleared = scrubbed.is_none_or(|at| cycle > at + arrivals::LATENCY as u64);
        asked = (counted.0 != 3 || cycle < 300 || cleared && !scrubbing)
            .then(|| (counted, counts[0].of(counted.0, counted.1, epochs[counted.0 as usize]).into()));
        if let Some((slot, position)) = read.take() {
            let found = block.word.val();
            if let Some((data, epoch)) = model.word(slot, position).filter(|(_, epoch)| *epoch != 0) {
                assert_eq!((found.data, found.epoch.raw()), (Beat(data), epoch.into()), "cycle {cycle}");
                words += 1;
            } else {
                assert_eq!(found.epoch.raw(), 0, "cycle {cycle}: slot {slot} beat {position} should be empty");
            }
        }
        assert_eq!(block.finish_ready.val(), finish.is_some() && send.is_none(), "cycle {cycle}");
        let wanted = send.or(finish).filter(|(slot, _)| *slot != 3 || !scrubbing);
        let written = |place: &(u8, u16)| model.word(place.0, place.1);
        let old = wanted.map(|place| (place, written(&place)));
        let verdict = taken.pop_front().flatten().map(|beat| {
            let (slot, sender) = (beat.slot.raw() as u8, beat.sender.raw() as u8);
            let (position, epoch) = (beat.position.raw() as u16, beat.epoch.raw() as u8);
            (beat, model.receive(open >> slot & 1 == 1, slot, position, sender, epoch, beat.data.0))
        });
        let is = |kind: Verdict| verdict.as_ref().is_some_and(|(_, verdict)| *verdict == kind);
        assert_eq!(block.accepted.val(), is(Verdict::Accepted), "cycle {cycle}: {verdict:?}");
        assert_eq!(block.drop_late.val(), is(Verdict::Late), "cycle {cycle}: {verdict:?}");
        assert_eq!(block.drop_duplicate.val(), is(Verdict::Duplicate), "cycle {cycle}: {verdict:?}");
        if let Some((beat, _)) = &verdict {
            assert_eq!(block.decided.val(), *beat, "cycle {cycle}");
        }
        accepted += u32::from(is(Verdict::Accepted));
        late += u32::from(is(Verdict::Late));
        duplicates += u32::from(is(Verdict::Duplicate));
        assert_eq!(block.scaled_ready.val(), scaled.is_some() && verdict.is_none(), "cycle {cycle}");
        if block.scaled_ready.val() {
            let beat = scaled.take().expect("it was offered");
            model.store(beat.slot.raw() as u8, 77, beat.epoch.raw() as u8, beat.data.0);
            stored += 1;
        }
        // The model has lost the old value of a word written in the cycle of its read.
        read = old.filter(|(place, old)| model.word(place.0, place.1) == *old).map(|(place, _)| place);
        taken.push_back(rx);
        before = rx.map(|beat| (beat.slot.raw() as u8, beat.position.raw()));
        if scrubbing && !scrub && !block.scrub_busy.val() {
            scrubbed = Some(cycle);
            model.scrub(3);
        }
        bench.tick();
    }
    let seen = [accepted, late, duplicates, u32::from(scrubbed.is_some())];
    assert!(seen.iter().all(|count| *count > 0), "the stimulus missed a case: {seen:?}");
    assert!(!pace.stall || words.min(stored) > 0, "nothing was read or scaled");
}

#[test]
fn every_beat_is_judged_and_stored_as_in_the_model() {
    at_every_pace(3, |random, pace| {
        run(&mut Bench::new(Gather::default()), random, pace, 6000);
    });
}

#[test]
fn the_verilog_gathers_alike() {
    let mut bench = Bench::recording(Gather::default());
    run(&mut bench, &mut Random::new(5), Pace::RANDOM, 12_000);
    bench.verify_with_verilator("gather");
}

#[test]
fn the_wire_goes_in_one_a_cycle_and_is_read_three_cycles_later() {
    let mut bench = Bench::new(Gather::default());
    bench.block.open.next = bits_w(1 << 6);
    bench.block.rx_valid.next = true;
    bench.block.finish_valid.next = true;
    for position in 0..1024 {
        bench.block.rx.next = beat(6, position, 5, 9, Beat([position as u32; 16]));
        bench.block.finish_address.next = SlotBeat::at(6, position.saturating_sub(3));
        bench.tick();
        assert_eq!(bench.block.accepted.val(), position >= 1);
        if position >= 3 {
            let word = bench.block.word.val();
            assert_eq!((word.data.0[3], word.epoch.raw()), (position as u32 - 3, 9));
        }
    }
    bench.block.rx_valid.next = false;
    bench.block.count_address.next = bits_w(6 << 6 | 5);
    bench.block.count_epoch.next = bits_w(9);
    (0..2 + arrivals::LATENCY).for_each(|_| bench.tick());
    assert_eq!(bench.block.count.val().raw(), 1024);
}

#[test]
fn a_duplicate_two_cycles_later_is_seen() {
    let mut bench = Bench::new(Gather::default());
    bench.block.open.next = bits_w(1);
    bench.block.rx.next = beat(0, 3, 5, 1, Beat([7; 16]));
    for (cycle, valid) in [true, false, true, false, false].into_iter().enumerate() {
        bench.block.rx_valid.next = valid;
        bench.tick();
        let found = (bench.block.accepted.val(), bench.block.drop_duplicate.val());
        assert_eq!(found, (cycle == 1, cycle == 3), "cycle {cycle}");
    }
}
