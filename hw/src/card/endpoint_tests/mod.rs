mod rig;

use self::rig::*;
use super::stimulus::EAGER;
use super::testing::{Pace, at_every_pace};
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::packet::{STAGE_BROADCAST, STAGE_CONTRIBUTE};
use optireduce_contract::queue::*;
use optireduce_contract::registers::{self as reg, CONTROL_ENABLE};

#[test]
fn a_job_of_two_ranks_is_as_computed_at_every_pace() {
    with_stack(|| {
        at_every_pace(1, |random, pace| {
            let mut rig = Rig::new(false);
            rig.configure(random);
            rig.pace = pace;
            rig.set(random, reg::CONTROL, CONTROL_ENABLE);
            known_job(&mut rig, random);
            assert_eq!(rig.log.iter().filter(|(_, seen)| *seen == Seen::Msix(2)).count(), 2, "two interrupts");
            assert_eq!(rig.get(random, reg::RX_PACKETS), 4);
            assert_eq!(rig.get(random, reg::CQ_TAIL.of_queue(2)), 2);
            assert_eq!(rig.get(random, reg::STATUS), 0);
        });
    });
}

#[test]
fn the_verilog_of_the_whole_card_does_the_same() {
    with_stack(|| {
        let mut random = Random::new(1);
        let mut rig = Rig::new(true);
        rig.configure(&mut random);
        rig.pace = Pace::RANDOM;
        rig.set(&mut random, reg::CONTROL, CONTROL_ENABLE);
        known_job(&mut rig, &mut random);
        rig.set(&mut random, reg::CONTROL, 0);
        wait_quiet(&mut rig, &mut random);
        rig.bench.verify_with_verilator("endpoint");
    });
}

fn enabled_job(rig: &mut Rig, random: &mut Random) -> Run {
    rig.set(random, reg::CONTROL, CONTROL_ENABLE);
    let from = rig.cycle;
    let told = known_job(rig, random);
    relative(rig, from, &told)
}

fn assert_same(turn: u32, found: &Run, expected: &Run) {
    assert_eq!(found.1, expected.1, "turn {turn}");
    let differs = found.0.iter().zip(&expected.0).position(|(found, expected)| found != expected);
    let around = differs.map(|at| (&found.0[at], &expected.0[at]));
    assert!(found.0 == expected.0, "turn {turn}, {differs:?}: {around:x?}");
}

#[test]
fn disabled_in_any_cycle_the_card_is_as_after_power_on() {
    with_stack(|| {
        let mut random = Random::new(5);
        let mut fresh = Rig::new(false);
        fresh.configure(&mut random);
        let expected = enabled_job(&mut fresh, &mut random);

        let mut rig = Rig::new(false);
        let [mut reading, mut writing, mut framing, mut receiving] = [0; 4];
        for turn in 0..24u32 {
            rig.pace = if turn % 2 == 0 { Pace::RANDOM } else { EAGER };
            rig.fails_one_in = if turn % 3 == 0 { 100 } else { 0 };
            rig.configure(&mut random);
            rig.set(&mut random, reg::CONTROL, CONTROL_ENABLE);
            play_everything(&mut rig, &mut random, turn);
            (0..random.below(1500)).for_each(|_| rig.step(&mut random));
            reading += u32::from(!rig.reads.is_empty());
            writing += u32::from(!rig.filling.is_empty());
            framing += u32::from(!rig.sending.is_empty());
            rig.set(&mut random, reg::CONTROL, 0);
            wait_quiet(&mut rig, &mut random);
            // Frames keep arriving. One may be partly received when the card is enabled again.
            let rest = rig.rx.iter().position(|(_, last)| *last).map_or(0, |last| last + 1);
            rig.rx.truncate(rest);
            (rig.pace, rig.fails_one_in) = (EAGER, 0);
            rig.memory.clear();
            if turn % 2 == 0 {
                rig.rx.clear();
                rig.rx.extend((0..200).map(|at| (Beat::default(), at == 199)));
            }
            rig.configure(&mut random);
            receiving += u32::from(!rig.rx.is_empty());
            assert_same(turn, &enabled_job(&mut rig, &mut random), &expected);
            assert_eq!(rig.get(&mut random, reg::RX_PACKETS), 4, "turn {turn}");
            rig.set(&mut random, reg::CONTROL, 0);
            wait_quiet(&mut rig, &mut random);
        }
        let seen = [reading, writing, framing, receiving];
        assert!(seen.iter().all(|count| *count > 0), "never disabled in the middle of {seen:?}");
    });
}

#[test]
fn reset_in_any_cycle_the_card_is_as_after_power_on() {
    with_stack(|| {
        let mut random = Random::new(6);
        let mut fresh = Rig::new(false);
        fresh.configure(&mut random);
        let expected = enabled_job(&mut fresh, &mut random);

        let mut rig = Rig::new(false);
        let [mut reading, mut writing, mut framing, mut receiving, mut asking] = [0; 5];
        for turn in 0..16u32 {
            rig.pace = if turn % 2 == 0 { Pace::RANDOM } else { EAGER };
            rig.configure(&mut random);
            rig.set(&mut random, reg::CONTROL, CONTROL_ENABLE);
            play_everything(&mut rig, &mut random, turn);
            if turn % 3 == 0 {
                // The reset may hit the middle of the bad last frame.
                rig.keeps.extend(vec![u64::MAX >> 8; rig.rx.len()]);
            }
            (0..random.below([300, 700, 1500, 3000][turn as usize % 4])).for_each(|_| rig.step(&mut random));
            if turn % 4 == 2 {
                let mut waited = 0;
                while rig.filling.is_empty() && waited < 8000 {
                    rig.step(&mut random);
                    waited += 1;
                }
            }
            if turn % 2 == 0 {
                rig.bench.block.s_axil_rready.next = false;
                rig.bench.block.s_axil_arvalid.next = true;
                rig.step(&mut random);
                rig.bench.block.s_axil_arvalid.next = false;
                (0..3).for_each(|_| rig.step(&mut random));
                asking += u32::from(rig.bench.block.s_axil_rvalid.val());
            }
            reading += u32::from(!rig.reads.is_empty());
            writing += u32::from(!rig.filling.is_empty());
            framing += u32::from(!rig.sending.is_empty());
            receiving += u32::from(!rig.rx.is_empty());
            rig.reset();
            rig.pace = EAGER;
            assert_eq!(rig.get(&mut random, reg::CONTROL), 0, "turn {turn}");
            assert_eq!(rig.get(&mut random, reg::RANKS), 2, "turn {turn}: registers are kept");
            rig.configure(&mut random);
            assert_same(turn, &enabled_job(&mut rig, &mut random), &expected);
            assert_eq!(rig.get(&mut random, reg::RX_PACKETS), 4, "turn {turn}");
            assert_eq!(rig.get(&mut random, reg::DROP_FIFO_FULL), 0, "turn {turn}");
            assert_eq!(rig.get(&mut random, reg::RX_BAD), 0, "turn {turn}");
            rig.set(&mut random, reg::CONTROL, 0);
            wait_quiet(&mut rig, &mut random);
        }
        let seen = [reading, writing, framing, receiving, asking];
        assert!(seen.iter().all(|count| *count > 0), "never reset in the middle of {seen:?}");
    });
}

#[test]
fn a_frame_with_a_beat_that_is_not_whole_is_dropped_and_the_next_one_is_not() {
    with_stack(|| {
        let mut random = Random::new(7);
        let mut rig = Rig::new(false);
        rig.configure(&mut random);
        rig.pace = Pace::RANDOM;
        rig.set(&mut random, reg::CONTROL, CONTROL_ENABLE);
        // Other contents for the window of the known job. All must be dropped.
        let mut other = Window::new(&mut Random::new(99), 3, 6, 64);
        other.peers.iter_mut().for_each(|beat| *beat = Beat([0x4000_0000; 16]));
        other.load(&mut rig);
        let partial = [u64::MAX >> 1, 1, 0, u64::MAX >> 32, !1];
        for keep in partial {
            for at in [PAYLOAD, 0, 5] {
                rig.receive(&other, STAGE_CONTRIBUTE, 0, &other.peers[..PAYLOAD]);
                rig.keeps.extend((0..=PAYLOAD).map(|beat| if beat == at { keep } else { u64::MAX }));
            }
        }
        // No window is armed for this whole frame yet.
        rig.receive(&other, STAGE_CONTRIBUTE, 0, &other.peers[..PAYLOAD]);
        while !rig.rx.is_empty() {
            rig.step(&mut random);
        }
        (0..100).for_each(|_| rig.step(&mut random));
        let registers = [reg::RX_BAD, reg::DROP_NO_WINDOW, reg::DROP_FIFO_FULL];
        assert_eq!(registers.map(|register| rig.get(&mut random, register)), [3 * partial.len() as u32, 1, 0]);
        known_job(&mut rig, &mut random);
        assert_eq!(registers.map(|register| rig.get(&mut random, register)), [3 * partial.len() as u32, 1, 0]);
    });
}

/// bf16 frames arrive twice as fast as the card processes them. Every fifth is bad.
#[test]
fn a_bad_frame_is_bad_with_room_or_without_and_only_good_ones_have_no_room() {
    with_stack(|| {
        let mut random = Random::new(8);
        let mut rig = Rig::new(false);
        rig.configure(&mut random);
        rig.set(&mut random, reg::CONTROL, CONTROL_ENABLE);
        let mut window = Window::new(&mut random, 1, 6, 200);
        window.arm.flags |= FLAG_BF16;
        rig.submit(&mut random, 0, &[window.arm]);
        (0..100).for_each(|_| rig.step(&mut random));
        let frames = 150;
        for frame in 0..frames {
            rig.receive(&window, STAGE_CONTRIBUTE, 0, &window.peers[..PAYLOAD]);
            rig.keeps.extend([u64::MAX; PAYLOAD]);
            rig.keeps.push_back(if frame % 5 == 4 { 1 } else { u64::MAX });
        }
        (0..5000).for_each(|_| rig.step(&mut random));
        let mut get = |register| rig.get(&mut random, register);
        let [full, duplicate] = [reg::DROP_FIFO_FULL, reg::DROP_DUPLICATE_BEATS].map(&mut get);
        // Every frame carries the same beats.
        let taken = 1 + duplicate / (2 * PAYLOAD as u32);
        assert!(full > 5 && taken > 5, "{full} had no room, {taken} were taken");
        assert_eq!([reg::RX_PACKETS, reg::RX_BAD].map(&mut get), [frames, frames / 5]);
        assert_eq!(full + taken, frames - frames / 5, "each counted once");
    });
}

#[test]
fn a_gradient_that_cannot_be_read_is_not_sent_and_hurts_no_other_window() {
    with_stack(|| {
        let mut random = Random::new(3);
        let mut rig = Rig::new(false);
        rig.configure(&mut random);
        rig.set(&mut random, reg::CONTROL, CONTROL_ENABLE);
        let bad = Window::new(&mut random, 1, 10, 64);
        let contribute = Submission { host_address: NOWHERE, ..bad.contribute };
        rig.submit(&mut random, 1, &[bad.arm, contribute]);
        (0..400).for_each(|_| rig.step(&mut random));
        assert!(rig.sent.is_empty(), "{} packets of garbage", rig.sent.len());
        known_job(&mut rig, &mut random);
        (0..8000).for_each(|_| rig.step(&mut random));
        let kind = |done: &Completion| (done.opcode, done.status, done.closed_by, done.own_beats);
        let told: Vec<_> = rig.completions(1).iter().map(kind).collect();
        let (error, deadline) = (STATUS_DMA_ERROR, CLOSED_DEADLINE);
        assert_eq!(told, [(DONE_CONTRIBUTE, error, deadline, 0), (DONE_BROADCAST, error, deadline, 0)]);
        assert_eq!(rig.sent.len(), 4, "only the other window's packets");
        assert_eq!(rig.get(&mut random, reg::STATUS), reg::STATUS_DMA_ERROR);
    });
}

#[test]
fn a_gradient_that_fails_late_is_told_and_what_was_sent_of_it_is_true() {
    with_stack(|| {
        let mut random = Random::new(8);
        let mut rig = Rig::new(false);
        rig.configure(&mut random);
        rig.set(&mut random, reg::CONTROL, CONTROL_ENABLE);
        // The last beats of the gradient are outside host memory, after whole packets.
        let mut window = Window::new(&mut random, 1, 10, 512);
        window.contribute.host_address = NOWHERE - 64 * 448;
        window.load(&mut rig);
        window.play_peer(&mut rig, STAGE_BROADCAST);
        rig.submit(&mut random, 1, &[window.arm, window.contribute]);
        (0..200).for_each(|_| rig.step(&mut random));
        window.play_peer(&mut rig, STAGE_CONTRIBUTE);
        (0..9000).for_each(|_| rig.step(&mut random));
        let told: Vec<_> = rig.completions(1).iter().map(|done| (done.opcode, done.status)).collect();
        assert_eq!(told, [(DONE_CONTRIBUTE, STATUS_DMA_ERROR), (DONE_BROADCAST, STATUS_DMA_ERROR)]);
        assert_eq!(rig.get(&mut random, reg::STATUS), reg::STATUS_DMA_ERROR);
        let packet = |frame: &Vec<Beat>| {
            let header = frame[0].to_bytes();
            let field = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|byte| header[42 + at + byte]));
            (header[42 + 9] & 0xf, ((field(2) - window.arm.base) / 64) as usize)
        };
        let contributions: Vec<_> = rig.sent.iter().filter(|frame| packet(frame).0 == STAGE_CONTRIBUTE).collect();
        assert!(!contributions.is_empty(), "nothing was sent before the failure");
        for frame in &contributions {
            let first = packet(frame).1;
            assert_eq!(&frame[1..], &window.gradient[first..first + frame.len() - 1], "packet at beat {first}");
        }
        known_job(&mut rig, &mut random);
    });
}

#[test]
fn a_ring_that_cannot_be_read_stops_its_queue_only() {
    with_stack(|| {
        let mut random = Random::new(4);
        let mut rig = Rig::new(false);
        rig.configure(&mut random);
        rig.set(&mut random, reg::SQ_BASE_HI.of_queue(3), (NOWHERE >> 32) as u32);
        rig.set(&mut random, reg::CONTROL, CONTROL_ENABLE);
        rig.submit(&mut random, 3, &[Submission::default()]);
        known_job(&mut rig, &mut random);
        assert_eq!(rig.get(&mut random, reg::STATUS), reg::STATUS_DMA_ERROR | reg::status_stopped(3));
        assert_eq!(rig.get(&mut random, reg::SQ_HEAD.of_queue(3)), 0);
        rig.set(&mut random, reg::CONTROL, 0);
        wait_quiet(&mut rig, &mut random);
        assert_eq!(rig.get(&mut random, reg::STATUS), 0, "a reset clears it");
    });
}
