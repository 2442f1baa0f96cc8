//! Plan: the three reasons and their priority, both starts of the clock, marks, grace, `quiet`, counts, report, timer,
//! `free` and `clear`: [`run`] compares every output with the model in every cycle. Latencies, the priority and the wrap
//! of the clock are also shown alone.

use super::stage_gate::StageGate;
use super::stage_gate_model::{Instant, Rules, Stage};
use super::testing::{Pace, at_every_pace};
use super::types::{GateReport, GateRules};
use crate::cosim::Bench;
use crate::prelude::*;
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

fn drive(bench: &mut Bench<StageGate>, instant: Instant) {
    let (sender, mark) = instant.packet.unwrap_or((0, true));
    bench.block.now_ns.next = bits_w(instant.now_ns);
    bench.block.quiet.next = instant.quiet;
    bench.block.enter.next = instant.enter;
    bench.block.packet.next = instant.packet.is_some();
    bench.block.sender.next = bits_w(1 << sender);
    bench.block.mark.next = mark;
    bench.block.beat.next = instant.beat.is_some();
    bench.block.own.next = instant.beat.unwrap_or(true);
}

/// Stages with random rules and events; counts the ways in which they ended.
fn run(bench: &mut Bench<StageGate>, random: &mut Random, pace: Pace, cycles: u64, seen: &mut BTreeMap<String, u32>) {
    let mut stage: Option<Stage> = None;
    let mut now_ns = random.below(1 << 40);
    let mut linger = 0;
    for cycle in 0..cycles {
        now_ns += if random.one_in(6) { random.below(200) } else { 4 };
        let arm = stage.is_none() && random.one_in(3);
        let few = [63, 4, 4, 4][random.below(4) as usize];
        let ranks = 2 + random.below(few);
        let rules = Rules {
            bound_ns: if random.one_in(8) { random.next() >> 32 } else { random.below(1500) },
            grace_ns: random.below(150),
            start_peers: random.below(ranks) as u32,
            early: random.one_in(2),
            senders: random.next() & random.next() & (u64::MAX >> (64 - ranks)),
            expected: if random.one_in(8) { 0 } else { random.below(60) },
            own: 0,
        };
        let rules = Rules { own: random.below(rules.expected.min(6) + 1), ..rules };
        let open = stage.as_ref().is_some_and(|stage| stage.closed.is_none());
        let left = stage.as_ref().map_or(0, Stage::left);
        let own_left = stage.as_ref().map_or(0, Stage::own_left);
        let from = [64, 4, 4][random.below(3) as usize];
        let instant = Instant {
            now_ns,
            quiet: pace.comes(random),
            enter: random.one_in(40),
            packet: (pace.comes(random) && random.one_in(4)).then(|| (random.below(from) as u32, !random.one_in(3))),
            // Like the units that feed it: beats come only while the gate is open, and never more than expected.
            beat: (open && left > 0 && random.one_in(3))
                .then(|| own_left > 0 && (own_left == left || random.one_in(3))),
        };
        let ends = if stage.is_some() && !open {
            linger += 1;
            linger > 5
        } else {
            random.one_in(400)
        };
        drive(bench, instant);
        bench.block.arm.next = arm;
        bench.block.rules.next = words(rules);
        bench.block.free.next = ends && cycle % 2 == 0;
        bench.block.clear.next = ends && cycle % 2 == 1;
        bench.settle();

        assert_eq!(bench.block.open.val(), open, "cycle {cycle}");
        let closed = stage.as_ref().and_then(|stage| stage.closed);
        assert_eq!(bench.block.closed.val(), closed.is_some(), "cycle {cycle}: {stage:?}");
        let timer = stage.as_ref().and_then(Stage::timer_ns).unwrap_or((1 << 48) - 1);
        assert_eq!(bench.block.timer_ns.val().raw(), timer, "cycle {cycle}: {stage:?}");
        if let (Some(stage), Some((reason, closed_ns))) = (&stage, closed) {
            let report = GateReport {
                closed_by: bits_w(reason),
                received: bits_w(stage.received[0]),
                own: bits_w(stage.received[1]),
                heard: bits_w(stage.heard),
                start_ns: bits_w(stage.start_ns.expect("only a running clock closes a stage")),
                closed_ns: bits_w(closed_ns),
            };
            assert_eq!(bench.block.report.val(), report, "cycle {cycle}: {stage:?}");
        }
        if let Some(stage) = &mut stage {
            stage.handle(instant);
        }
        if ends && !arm {
            if stage.is_some() {
                *seen.entry(format!("{:?}", closed.map(|(reason, _)| reason))).or_default() += 1;
            }
            stage = None;
        } else if arm {
            stage = (!ends).then(|| Stage::new(rules));
            linger = 0;
        }
        bench.tick();
    }
}

#[test]
fn a_stage_closes_when_and_as_its_rules_say() {
    let mut seen = BTreeMap::new();
    at_every_pace(20, |random, pace| run(&mut Bench::new(StageGate::default()), random, pace, 8000, &mut seen));
    if std::env::var_os("OPTIREDUCE_SEED").is_none() {
        assert_eq!(seen.len(), 4, "complete, early, deadline, freed before: {seen:?}");
        assert!(seen.values().all(|&count| count > 100), "{seen:?}");
    }
}

#[test]
fn verilog_closes_the_same_stages_at_the_same_cycle() {
    let mut bench = Bench::recording(StageGate::default());
    let mut seen = BTreeMap::new();
    run(&mut bench, &mut Random::new(5), Pace::RANDOM, 3000, &mut seen);
    assert!(seen.len() >= 3, "the stimulus missed a case: {seen:?}");
    bench.verify_with_verilator("stage_gate");
}

/// A gate armed with `rules` and entered at `enter_ns`.
fn entered(rules: Rules, enter_ns: u64) -> Bench<StageGate> {
    let mut bench = Bench::new(StageGate::default());
    bench.block.rules.next = words(rules);
    bench.block.arm.next = true;
    bench.tick();
    bench.block.arm.next = false;
    drive(&mut bench, Instant { now_ns: enter_ns, enter: true, ..Instant::default() });
    bench.tick();
    drive(&mut bench, Instant { now_ns: enter_ns, ..Instant::default() });
    bench
}

/// Cycles until the gate is closed, with the inputs as they are.
fn cycles_to_close(bench: &mut Bench<StageGate>) -> u64 {
    bench.settle();
    (0..10)
        .find(|_| {
            bench.block.closed.val() || {
                bench.tick();
                false
            }
        })
        .expect("it closes within 10 cycles")
}

#[test]
fn the_last_beat_closes_in_two_cycles_and_the_clock_in_one() {
    let mut bench = entered(Rules { bound_ns: 1000, expected: 1, ..Rules::default() }, 100);
    bench.block.beat.next = true;
    bench.tick();
    bench.block.beat.next = false;
    assert_eq!(1 + cycles_to_close(&mut bench), 2);
    assert_eq!(bench.block.report.val().closed_by.raw(), 0);

    let mut bench = entered(Rules { bound_ns: 1000, expected: 1, ..Rules::default() }, 100);
    bench.block.now_ns.next = bits_w(1099);
    bench.tick();
    bench.tick();
    assert!(!bench.block.closed.val(), "one nanosecond before its deadline");
    bench.block.now_ns.next = bits_w(1100);
    assert_eq!(cycles_to_close(&mut bench), 1);
    assert_eq!(bench.block.report.val().closed_by.raw(), 2);
}

#[test]
fn complete_wins_over_early_and_early_over_the_deadline() {
    for (expected, early, reason) in [(0, true, 0), (1, true, 1), (1, false, 2)] {
        let rules = Rules { early, expected, bound_ns: 0, grace_ns: 0, ..Rules::default() };
        let mut bench = Bench::new(StageGate::default());
        bench.block.rules.next = words(rules);
        bench.block.arm.next = true;
        bench.block.quiet.next = true;
        bench.tick();
        bench.block.arm.next = false;
        bench.block.enter.next = true;
        bench.tick();
        assert_eq!(cycles_to_close(&mut bench), 1);
        assert_eq!(bench.block.report.val().closed_by.raw(), reason, "expected {expected}, early {early}");
    }
}

#[test]
fn a_stage_that_spans_the_wrap_of_the_clock_keeps_its_bound_and_its_grace() {
    let start = (1 << 48) - 100;
    for (early, limit, reason) in [(false, 1000, 2), (true, 300, 1)] {
        let mut bench = entered(Rules { bound_ns: 1000, grace_ns: 300, early, expected: 1, ..Rules::default() }, start);
        bench.block.quiet.next = true;
        for after in [50, 99, 100, limit - 1] {
            bench.block.now_ns.next = bits_w((start + after) % (1 << 48));
            bench.tick();
            bench.tick();
            assert!(!bench.block.closed.val(), "{after} ns after its start");
        }
        bench.block.now_ns.next = bits_w((start + limit) % (1 << 48));
        assert_eq!(cycles_to_close(&mut bench), 1);
        assert_eq!(bench.block.report.val().closed_by.raw(), reason);
    }
}
