use super::stage_gates::StageGates;
use super::stage_gates_model::{Cycle, Gates, Rules, Stage};
use super::testing::{Pace, at_every_pace};
use super::types::{GateReport, GateRules};
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use std::collections::BTreeMap;

fn words(rules: Rules) -> GateRules {
    GateRules {
        bound_ns: bits_w(rules.bound_ns),
        grace_ns: bits_w(rules.grace_ns),
        start_peers: bits_w(rules.start_peers as u64),
        early: rules.early,
        senders: bits_w(rules.senders),
        expected: bits_w(rules.expected),
        own: bits_w(rules.own),
    }
}

fn drive(bench: &mut Bench<StageGates>, cycle: Cycle) {
    let block = &mut bench.block;
    let (packet_slot, sender, mark) = cycle.packet.unwrap_or((5, 0, true));
    let (beat_slot, own) = cycle.beat.unwrap_or((5, true));
    block.now_ns.next = bits_w(cycle.now_ns);
    block.quiet.next = cycle.quiet;
    block.enter.next = bits_w(cycle.enter.into());
    block.packet.next = cycle.packet.is_some();
    block.packet_slot.next = bits_w(packet_slot as u64);
    block.sender.next = bits_w(1 << sender);
    block.mark.next = mark;
    block.beat.next = cycle.beat.is_some();
    block.beat_slot.next = bits_w(beat_slot as u64);
    block.own.next = own;
    block.arm.next = bits_w(cycle.arm.map_or(0, |(slot, _)| 1 << slot));
    block.arm_slot.next = bits_w(cycle.arm.map_or(3, |(slot, _)| slot as u64));
    block.rules.next = words(cycle.arm.map_or(Rules { expected: 1, ..Rules::default() }, |(_, rules)| rules));
    block.free.next = bits_w(cycle.free.into());
}

fn random_rules(random: &mut Random) -> Rules {
    let few = [63, 4, 4, 4][random.below(4) as usize];
    let ranks = 2 + random.below(few);
    let rules = Rules {
        bound_ns: if random.one_in(8) { random.next() >> 32 } else { random.below(3000) },
        grace_ns: random.below(150),
        start_peers: random.below(ranks) as u32,
        early: random.one_in(2),
        senders: random.next() & random.next() & (u64::MAX >> (64 - ranks)),
        expected: if random.one_in(8) { 0 } else { random.below(30) },
        own: 0,
    };
    Rules { own: random.below(rules.expected.min(6) + 1), ..rules }
}

fn run(bench: &mut Bench<StageGates>, random: &mut Random, pace: Pace, cycles: u64, seen: &mut BTreeMap<String, u32>) {
    let mut gates = Gates::default();
    let mut now_ns = random.below(1 << 40);
    let slots = [1, 3, 8][random.below(3) as usize];
    let mut closed_before = 0;
    let (mut freed_at, mut packet_at) = ([None::<u64>; 8], None);
    for at in 0..cycles {
        now_ns += if random.one_in(6) { random.below(200) } else { 4 };
        let mut slot = || random.below(slots) as usize;
        let (armed, packet_slot, beat_slot, freed) = (slot(), slot(), slot(), slot());
        let open = |slot: usize| gates.open() >> slot & 1 == 1;
        // Beats arrive only while the gate is open, and never more than expected.
        let pending = |own: bool| gates.beat.is_some_and(|beat| beat == (beat_slot, own)) as u64;
        let (left, own_left) = gates.stages[beat_slot]
            .as_ref()
            .map_or((0, 0), |stage| (stage.left() - pending(false) - pending(true), stage.own_left() - pending(true)));
        let from = [64, 4, 4][random.below(3) as usize];
        let clear = random.one_in(4000);
        let cycle = Cycle {
            now_ns,
            quiet: pace.comes(random),
            enter: if random.one_in(40) { random.next() as u8 & random.next() as u8 } else { 0 },
            packet: (pace.comes(random) && random.one_in(3) && packet_at.is_none_or(|last| last + 2 <= at))
                .then(|| (packet_slot, random.below(from) as u32, !random.one_in(3))),
            beat: (open(beat_slot) && left > 0 && !random.one_in(3))
                .then(|| (beat_slot, own_left > 0 && (own_left == left || random.one_in(3)))),
            arm: (gates.stages[armed].is_none()
                && freed_at[armed].is_none_or(|last| last + 2 <= at)
                && random.one_in(3))
            .then(|| (armed, random_rules(random))),
            free: if gates.closed() >> freed & 1 == 1 && random.one_in(8) || random.one_in(400) {
                1 << freed
            } else {
                0
            },
        };
        let looked = random.below(8) as usize;
        drive(bench, cycle);
        bench.block.clear.next = clear;
        bench.block.report_slot.next = bits_w(looked as u64);
        bench.block.timer_slot.next = bits_w(looked as u64);
        bench.settle();

        assert_eq!(bench.block.open.val().raw(), u64::from(gates.open()), "cycle {at}");
        assert_eq!(bench.block.closed.val().raw(), u64::from(gates.closed()), "cycle {at}: {gates:?}");
        let stage = gates.stages[looked].as_ref();
        let timer = stage.and_then(Stage::timer_ns).unwrap_or((1 << 48) - 1);
        assert_eq!(bench.block.timer_ns.val().raw(), timer, "cycle {at}: {stage:?}");
        if let Some(stage) = stage
            && let Some((reason, closed_ns)) = stage.closed()
            && closed_before >> looked & 1 == 1
        {
            let report = GateReport {
                closed_by: bits_w(reason),
                received: bits_w(stage.received[0]),
                own: bits_w(stage.received[1]),
                heard: bits_w(stage.heard()),
                start_ns: bits_w(stage.start_ns().expect("only a running clock closes a stage")),
                closed_ns: bits_w(closed_ns),
            };
            assert_eq!(bench.block.report.val(), report, "cycle {at}: {stage:?}");
        }
        if cycle.free >> freed & 1 == 1
            && let Some(stage) = &gates.stages[freed]
        {
            *seen.entry(format!("{:?}", stage.closed().map(|(reason, _)| reason))).or_default() += 1;
        }
        closed_before = gates.closed();
        gates.step(cycle);
        packet_at = cycle.packet.map(|_| at).or(packet_at);
        (0..8).filter(|slot| cycle.free >> slot & 1 == 1).for_each(|slot| freed_at[slot] = Some(at));
        if clear {
            gates = Gates::default();
        }
        bench.tick();
    }
}

#[test]
fn a_stage_closes_when_and_as_its_rules_say() {
    let mut seen = BTreeMap::new();
    at_every_pace(16, |random, pace| run(&mut Bench::new(StageGates::default()), random, pace, 8000, &mut seen));
    if std::env::var_os("OPTIREDUCE_SEED").is_none() {
        assert_eq!(seen.len(), 4, "complete, early, deadline, freed before: {seen:?}");
        assert!(seen.values().all(|&count| count > 100), "{seen:?}");
    }
}

#[test]
fn verilog_closes_the_same_stages_at_the_same_cycle() {
    let mut bench = Bench::recording(StageGates::default());
    let mut seen = BTreeMap::new();
    for seed in 5..8 {
        run(&mut bench, &mut Random::new(seed), Pace::RANDOM, 1500, &mut seen);
        bench.block.clear.next = true;
        bench.tick();
    }
    assert!(seen.len() >= 3, "the stimulus missed a case: {seen:?}");
    bench.verify_with_verilator("stage_gates");
}

/// Arms slots with `rules`, and enters all of them at `enter_ns`.
fn entered(rules: &[Rules], enter_ns: u64) -> Bench<StageGates> {
    let mut bench = Bench::new(StageGates::default());
    let quiet = Cycle { now_ns: enter_ns, quiet: true, ..Cycle::default() };
    for (slot, rules) in rules.iter().enumerate() {
        drive(&mut bench, Cycle { arm: Some((slot, *rules)), ..quiet });
        bench.tick();
    }
    drive(&mut bench, Cycle { enter: (1u16 << rules.len()).wrapping_sub(1) as u8, ..quiet });
    bench.tick();
    drive(&mut bench, quiet);
    (0..rules.len() + 1).for_each(|_| bench.tick());
    bench
}

/// Cycles until slot 0 is closed, with constant inputs.
fn cycles_to_close(bench: &mut Bench<StageGates>) -> u64 {
    bench.settle();
    (0..10)
        .find(|_| {
            bench.block.closed.val().get_bit(0) || {
                bench.tick();
                false
            }
        })
        .expect("it closes within 10 cycles")
}

#[test]
fn the_last_beat_closes_in_four_cycles_and_the_clock_in_one() {
    let rules = Rules { bound_ns: 1000, expected: 1, ..Rules::default() };
    let mut bench = entered(&[rules], 100);
    bench.block.beat.next = true;
    bench.block.beat_slot.next = bits_w(0);
    bench.tick();
    bench.block.beat.next = false;
    assert_eq!(1 + cycles_to_close(&mut bench), 4);
    bench.tick();
    assert_eq!(bench.block.report.val().closed_by.raw(), 0);

    let mut bench = entered(&[rules], 100);
    bench.block.now_ns.next = bits_w(1099);
    bench.tick();
    bench.tick();
    assert!(!bench.block.closed.val().get_bit(0), "one nanosecond before its deadline");
    bench.block.now_ns.next = bits_w(1100);
    assert_eq!(cycles_to_close(&mut bench), 1);
    bench.tick();
    assert_eq!(bench.block.report.val().closed_by.raw(), 2);
}

#[test]
fn complete_wins_over_early_and_early_over_the_deadline() {
    for (expected, early, reason) in [(0, true, 0), (1, true, 1), (1, false, 2)] {
        let mut bench = entered(&[Rules { early, expected, bound_ns: 8, grace_ns: 8, ..Rules::default() }], 100);
        assert!(!bench.block.closed.val().get_bit(0));
        bench.block.now_ns.next = bits_w(108);
        assert_eq!(cycles_to_close(&mut bench), 1);
        bench.tick();
        assert_eq!(bench.block.report.val().closed_by.raw(), reason, "expected {expected}, early {early}");
    }
}

#[test]
fn stages_that_are_over_at_once_close_one_a_cycle() {
    let mut bench = entered(&[Rules { bound_ns: 1000, expected: 1, ..Rules::default() }; 8], 100);
    bench.block.now_ns.next = bits_w(5000);
    for slot in 0..8 {
        assert_eq!(bench.block.closed.val().raw(), (1 << slot) - 1);
        bench.tick();
    }
    assert_eq!(bench.block.closed.val().raw(), 0xff);
}

#[test]
fn a_stage_that_spans_the_wrap_of_the_clock_keeps_its_bound_and_its_grace() {
    for wrap in [1u64 << 48, 1 << 34, 1 << 33] {
        let start = wrap - 100;
        for (early, limit, reason) in [(false, 1000, 2), (true, 300, 1)] {
            let rules = Rules { bound_ns: 1000, grace_ns: 300, early, expected: 1, ..Rules::default() };
            let mut bench = entered(&[rules], start);
            for after in [50, 99, 100, limit - 1] {
                bench.block.now_ns.next = bits_w(start + after);
                bench.tick();
                bench.tick();
                assert!(!bench.block.closed.val().get_bit(0), "{after} ns after its start");
            }
            bench.block.now_ns.next = bits_w(start + limit);
            assert_eq!(cycles_to_close(&mut bench), 1);
            bench.tick();
            assert_eq!(bench.block.report.val().closed_by.raw(), reason);
        }
    }
}
