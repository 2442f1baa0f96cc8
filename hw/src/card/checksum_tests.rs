//! The UDP checksum blocks against the contract's `udp_checksum_holds` and `write_udp_checksum`.

use super::frame_sum::{self, FrameSum};
use super::rx_checksum::RxChecksum;
use super::stimulus::EAGER;
use super::testing::{Pace, at_every_pace, random_beat};
use super::tx_checksum::{self, TxChecksum};
use super::types::FrameBeat;
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::packet::{Endpoint, UbtHeader, frame, udp_checksum_holds, write_header, write_udp_checksum};
use std::collections::{BTreeMap, VecDeque};

fn packet(random: &mut Random, payload: usize) -> Vec<u8> {
    let ubt = UbtHeader { offset: random.next() as u32, step: random.next() as u16, ..UbtHeader::default() };
    let mut header = [0; 64];
    let ends = [Endpoint::of_rank(random.below(60) as usize), Endpoint::of_rank(random.below(60) as usize)];
    write_header(&mut header, ends[0], ends[1], random.next() as u16, &ubt, 64 * payload);
    let beats = (0..payload).map(|_| match random.below(8) {
        0 => Beat([u32::MAX; 16]),
        1 => Beat::default(),
        _ => random_beat(random),
    });
    let payload: Vec<u8> = beats.flat_map(Beat::to_bytes).collect();
    [&header[..], &payload].concat()
}

fn beats_of(frame: &[u8]) -> Vec<Beat> {
    frame.as_chunks().0.iter().map(Beat::from_bytes).collect()
}

fn size(random: &mut Random) -> usize {
    if random.one_in(20) { 139 } else { random.below(9) as usize }
}

fn received(random: &mut Random) -> (Vec<u8>, &'static str) {
    let beats = size(random);
    let mut bytes = packet(random, beats);
    let last = bytes.len() as u64 - 1;
    match random.below(10) {
        0 => return (bytes, "none"),
        1 => {
            let any = (0..bytes.len()).map(|_| random.next() as u8).collect();
            return (any, "noise");
        }
        _ => write_udp_checksum(&mut bytes),
    }
    let kind = random.below(8);
    let mut flip = |from: u64, to: u64| {
        let at = (from + random.below(to - from + 1)) as usize;
        bytes[at] ^= 1 << random.below(8);
    };
    let what = match kind {
        0 => {
            flip(0, 25);
            "flipped before"
        }
        1 => {
            flip(26, 63.min(last));
            "flipped header"
        }
        2 => {
            flip(64.min(last), last);
            "flipped payload"
        }
        3 => {
            flip(40, last);
            flip(40, last);
            "flipped twice"
        }
        4 => {
            let at = (random.below(last / 2 - 22) + 22) as usize * 2;
            bytes.copy_within(at..at + 2, 40);
            "checksum overwritten"
        }
        5 => {
            bytes[frame::IP_FRAGMENT.offset] |= 0x20;
            "fragment"
        }
        _ => "right",
    };
    (bytes, what)
}

/// Word by word with end-around carry, unlike the block's tree.
fn sum_of(frame: &[Beat]) -> u16 {
    let bytes: Vec<u8> = frame.iter().flat_map(|beat| beat.to_bytes()).collect();
    let pseudo = [0, 17, bytes[38], bytes[39]];
    let words = [&pseudo[..], &bytes[26..]].concat();
    words.as_chunks().0.iter().map(|pair| u16::from_le_bytes(*pair)).fold(0, |sum: u16, word| {
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}

fn sums(bench: &mut Bench<FrameSum>, random: &mut Random, pace: Pace, cycles: u64) {
    let mut expected: VecDeque<(u64, u16)> = VecDeque::new();
    let (mut frame, mut left, mut found, mut full) = (Vec::new(), 0, 0, false);
    for cycle in 0..cycles {
        if left == 0 {
            left = 1 + if random.one_in(30) { 511 } else { random.below(6) };
            full = random.one_in(4);
        }
        let valid = pace.comes(random);
        let reset = random.one_in(400);
        let data = if full { Beat([u32::MAX; 16]) } else { random_beat(random) };
        bench.block.valid.next = valid;
        bench.block.data.next = data;
        bench.block.last.next = left == 1;
        bench.block.reset.next = reset;
        bench.settle();
        let due = expected.pop_front_if(|(at, _)| *at == cycle);
        assert_eq!(bench.block.done.val(), due.is_some(), "cycle {cycle}");
        if let Some((_, sum)) = due {
            assert_eq!(bench.block.total.val().raw(), u64::from(sum), "cycle {cycle}");
            found += 1;
        }
        if valid {
            frame.push(data);
            left -= 1;
            if left == 0 {
                expected.push_back((cycle + frame_sum::LATENCY as u64, sum_of(&frame)));
                frame.clear();
            }
        }
        if reset {
            (left, frame) = (0, Vec::new());
            expected.clear();
        }
        bench.tick();
    }
    assert!(found > cycles / 60, "{found} sums");
}

#[test]
fn the_sum_of_any_beats_comes_six_cycles_after_the_last() {
    at_every_pace(4, |random, pace| sums(&mut Bench::new(FrameSum::default()), random, pace, 6000));
}

#[test]
fn the_verilog_sums_alike() {
    let mut bench = Bench::recording(FrameSum::default());
    sums(&mut bench, &mut Random::new(1), Pace::RANDOM, 2500);
    bench.verify_with_verilator("frame_sum");
}

fn receive(
    bench: &mut Bench<RxChecksum>,
    random: &mut Random,
    pace: Pace,
    cycles: u64,
    seen: &mut BTreeMap<String, u32>,
) {
    let mut line: VecDeque<Option<(Beat, bool, bool, bool)>> = vec![None; frame_sum::LATENCY].into();
    let mut coming: VecDeque<(Beat, bool, bool, bool, bool)> = VecDeque::new();
    for cycle in 0..cycles {
        if coming.is_empty() {
            let (bytes, what) = received(random);
            let (partial, spoilt) = (random.one_in(8), random.one_in(8));
            // A frame with a partial beat has no meaningful sum.
            let good = udp_checksum_holds(&bytes) || partial;
            *seen.entry(format!("{what}: {}", udp_checksum_holds(&bytes))).or_default() += 1;
            if partial {
                *seen.entry(format!("partial: {}", udp_checksum_holds(&bytes))).or_default() += 1;
            }
            let beats = beats_of(&bytes);
            let last = beats.len() - 1;
            let error = |at| if at == last { spoilt } else { random.one_in(5) };
            let errors: Vec<bool> = (0..=last).map(error).collect();
            coming.extend((0..=last).map(|at| (beats[at], at == last, errors[at], partial, !good || spoilt)));
        }
        let next = pace.comes(random).then(|| coming.pop_front()).flatten();
        let reset = random.one_in(700);
        let (data, last, error, partial, bad) =
            next.unwrap_or((random_beat(random), random.one_in(2), true, true, true));
        bench.block.rx_valid.next = next.is_some();
        bench.block.rx_data.next = data;
        bench.block.rx_last.next = last;
        bench.block.rx_error.next = error;
        bench.block.rx_partial.next = partial;
        bench.block.reset.next = reset;
        bench.settle();
        let out = line.pop_front().flatten();
        let block = &bench.block;
        assert_eq!(block.valid.val(), out.is_some(), "cycle {cycle}");
        assert_eq!(block.busy.val(), out.is_some() || line.iter().any(Option::is_some), "cycle {cycle}");
        if let Some((data, last, partial, bad)) = out {
            assert_eq!((block.data.val(), block.last.val()), (data, last), "cycle {cycle}");
            assert!(!last || block.partial.val() == partial, "cycle {cycle}: partial {partial}");
            assert!(!last || block.error.val() == bad, "cycle {cycle}: bad {bad}, found {}", block.error.val());
        }
        line.push_back(next.map(|_| (data, last, partial, bad)));
        if reset {
            line.iter_mut().for_each(|place| *place = None);
            coming.clear();
        }
        bench.tick();
    }
}

const MET: [&str; 12] = [
    "checksum overwritten: false",
    "flipped before: true",
    "flipped header: false",
    "flipped payload: false",
    "flipped twice: false",
    "flipped twice: true",
    "fragment: true",
    "noise: true",
    "none: true",
    "partial: false",
    "partial: true",
    "right: true",
];

#[test]
fn a_frame_with_a_wrong_checksum_is_bad_and_no_other() {
    let mut seen = BTreeMap::new();
    at_every_pace(8, |random, pace| receive(&mut Bench::new(RxChecksum::default()), random, pace, 6000, &mut seen));
    if std::env::var_os("OPTIREDUCE_SEED").is_none() {
        assert!(MET.iter().all(|kind| seen.contains_key(*kind)), "{seen:?}");
    }
}

#[test]
fn the_verilog_finds_the_same_frames_bad() {
    let mut bench = Bench::recording(RxChecksum::default());
    let mut seen = BTreeMap::new();
    receive(&mut bench, &mut Random::new(2), Pace::RANDOM, 3000, &mut seen);
    assert!(seen.len() >= 9, "the stimulus missed a case: {seen:?}");
    bench.verify_with_verilator("rx_checksum");
}

fn send(bench: &mut Bench<TxChecksum>, random: &mut Random, pace: Pace, cycles: u64) {
    let mut coming: VecDeque<(FrameBeat, bool)> = VecDeque::new();
    let mut expected: VecDeque<(Beat, bool, bool)> = VecDeque::new();
    let (mut frame, mut next, mut inside, mut whole, mut cut) = (Vec::new(), None, false, 0, 0);
    let mut stalled = None;
    for cycle in 0..cycles {
        if coming.is_empty() {
            let beats = 1 + size(random).min(138);
            let mut bytes = packet(random, beats);
            if random.one_in(40) {
                // The first word of the payload makes the sum zero.
                let mut first = bytes.clone();
                first[64..66].fill(0);
                write_udp_checksum(&mut first);
                bytes[64..66].copy_from_slice(&first[40..42]);
            }
            let mut beats = beats_of(&bytes);
            let error = random.one_in(10);
            if error {
                beats.truncate(1 + random.below(beats.len() as u64 - 1) as usize);
                beats.push(Beat::default());
            }
            let last = beats.len() - 1;
            coming.extend(
                beats
                    .iter()
                    .enumerate()
                    .map(|(at, data)| (FrameBeat { data: *data, last: at == last }, error && at == last)),
            );
        }
        next = next.or_else(|| pace.comes(random).then(|| coming.pop_front()).flatten());
        let reset = random.one_in(1500);
        bench.block.valid.next = next.is_some();
        bench.block.beat.next = next.map_or_else(Default::default, |(beat, _)| beat);
        bench.block.error.next = next.is_some_and(|(_, error)| error);
        bench.block.tx_ready.next = pace.takes(random);
        bench.block.reset.next = reset;
        bench.settle();
        let block = &bench.block;
        let offer = block.tx_valid.val().then(|| (block.tx_data.val(), block.tx_last.val(), block.tx_error.val()));
        assert!(!inside || offer.is_some(), "cycle {cycle}: a gap inside a frame");
        assert!(stalled.is_none() || offer == stalled, "cycle {cycle}: an offer changed");
        stalled = offer.filter(|_| !block.tx_ready.val());
        if let Some((data, last, error)) = offer.filter(|_| block.tx_ready.val()) {
            let wanted = expected.pop_front().expect("a frame leaves once it is whole");
            assert_eq!((data, last), (wanted.0, wanted.1), "cycle {cycle}");
            assert!(!last || error == wanted.2, "cycle {cycle}");
            inside = !last;
            whole += u32::from(last && !error);
            cut += u32::from(last && error);
        }
        if block.valid.val() && block.ready.val() {
            let (beat, error): (FrameBeat, bool) = next.take().expect("it was offered");
            frame.push(beat.data);
            if beat.last {
                let mut bytes: Vec<u8> = frame.drain(..).flat_map(Beat::to_bytes).collect();
                write_udp_checksum(&mut bytes);
                let beats = beats_of(&bytes);
                let last = beats.len() - 1;
                expected.extend(beats.iter().enumerate().map(|(at, data)| (*data, at == last, error)));
            }
        }
        if reset {
            coming.clear();
            expected.clear();
            frame.clear();
            (next, inside, stalled) = (None, false, None);
        }
        bench.tick();
    }
    assert!(whole > 40 && cut > 3, "{whole} whole, {cut} cut");
}

#[test]
fn a_frame_leaves_whole_with_the_contracts_checksum() {
    at_every_pace(6, |random, pace| send(&mut Bench::new(TxChecksum::default()), random, pace, 6000));
}

#[test]
fn the_verilog_sends_alike() {
    let mut bench = Bench::recording(TxChecksum::default());
    send(&mut bench, &mut Random::new(3), Pace::RANDOM, 3000);
    bench.verify_with_verilator("tx_checksum");
}

/// Returns the cycles in which beats enter and leave, with a MAC ready from cycle `ready_at`.
fn passing(frames: &[usize], ready_at: u64) -> (Vec<u64>, Vec<u64>) {
    let mut bench = Bench::new(TxChecksum::default());
    let mut coming: VecDeque<bool> = frames.iter().flat_map(|beats| (1..=*beats).map(move |at| at == *beats)).collect();
    let (mut came, mut left) = (Vec::new(), Vec::new());
    for cycle in 0..2000 {
        bench.block.valid.next = !coming.is_empty();
        bench.block.beat.next = FrameBeat { data: Beat::default(), last: coming.front() == Some(&true) };
        bench.block.tx_ready.next = cycle >= ready_at;
        bench.settle();
        if bench.block.tx_valid.val() && bench.block.tx_ready.val() {
            left.push(cycle);
        }
        if bench.block.valid.val() && bench.block.ready.val() {
            coming.pop_front();
            came.push(cycle);
        }
        bench.tick();
    }
    assert!(!bench.block.busy.val(), "busy after the last frame");
    (came, left)
}

#[test]
fn a_frame_leaves_seven_cycles_after_its_last_beat_and_waiting_frames_follow_without_a_bubble() {
    for beats in [2, 3, 23, 140] {
        let (came, left) = passing(&[beats; 9], 0);
        let first = (beats - 1 + tx_checksum::LATENCY) as u64;
        assert_eq!(came, (0..9 * beats as u64).collect::<Vec<_>>(), "frames of {beats} beats");
        assert_eq!(left, (first..first + 9 * beats as u64).collect::<Vec<_>>(), "frames of {beats} beats");
    }
}

#[test]
fn no_more_wait_than_the_wire_needs() {
    // Frames of 23 beats: three. Smaller frames: those that begin within 33 beats. Largest frames:
    // limited by the buffer.
    for (beats, waiting) in [(2, 34), (11, 33), (12, 36), (23, 69), (140, 256)] {
        let (came, left) = passing(&vec![beats; 5 + 100 / beats], 800);
        let before = came.iter().filter(|cycle| **cycle < 800).count();
        assert_eq!(before, waiting, "frames of {beats} beats");
        assert_eq!(left.len(), came.len());
        assert_eq!(left[0], 800);
    }
}

#[test]
fn the_slowest_pace_takes_every_beat() {
    send(&mut Bench::new(TxChecksum::default()), &mut Random::new(9), EAGER, 4000);
}
