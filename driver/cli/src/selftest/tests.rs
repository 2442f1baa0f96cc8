//! The self-test passes on a card without faults and finds each planted fault.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use optireduce_contract::queue::{CLOSED_COMPLETE, CLOSED_EARLY, STATUS_DMA_ERROR};
use optireduce_contract::registers::Register;
use optireduce_driver::FaultBus;

use super::report::Outcome;
use super::testing::{TestBus, Written, card, good_card};
use super::*;

const SEED: u64 = 7;

/// Returns the failed step and its problem. Requires that earlier steps pass and later ones are
/// skipped.
fn failure(report: &Report) -> (&'static str, String) {
    let failed = report.steps.iter().position(|step| step.outcome == Outcome::Failed).expect("a step fails");
    assert!(report.steps[..failed].iter().all(|step| step.outcome == Outcome::Passed), "{}", report.describe());
    let later = report.steps[failed + 1..].iter().filter(|step| step.name != "idle");
    assert!(later.into_iter().all(|step| step.outcome == Outcome::Skipped), "{}", report.describe());
    let problem = report.problem().unwrap();
    assert!(problem.contains("expected") && problem.ends_with("selftest --seed 7"), "{problem}");
    (report.steps[failed].name, problem)
}

fn test<B: Bus>(bus: B, id: Option<PciId>, seed: u64, reset: impl Fn(&B) -> Result<(), DriverError>) -> Report {
    test_with(bus, id, &Settings { seed, bound_ns: 3_000_000, loopback: false }, reset)
}

fn test_card(bus: TestBus) -> Report {
    test(bus, None, SEED, TestBus::reset)
}

fn with(fault: impl Fn(&mut Written) + Send + Sync + 'static) -> (&'static str, String) {
    failure(&test_card(card(usize::MAX, fault)))
}

fn with_bus(fault: impl FnOnce(FaultBus<TestBus>) -> FaultBus<TestBus>) -> (&'static str, String) {
    let bus = fault(FaultBus::new(good_card()));
    // No reset, since the card behind the faults is not reachable from here.
    failure(&test(bus, None, SEED, |_| Ok(())))
}

#[test]
fn a_card_without_faults_passes_with_every_seed() {
    for seed in 0..5 {
        let report = test(good_card(), None, seed, TestBus::reset);
        assert!(report.problem().is_none(), "{}{}", report.describe(), report.problem().unwrap_or_default());
        assert!(report.describe().ends_with("passed\n"));
    }
}

#[test]
fn without_a_loopback_no_packet_comes_back() {
    let settings = Settings { seed: SEED, bound_ns: 3_000_000, loopback: true };
    let (step, problem) = failure(&test_with(good_card(), None, &settings, TestBus::reset));
    assert!(step == "windows" && problem.contains("came back whole") && problem.contains("found 0"), "{problem}");
}

#[test]
fn the_same_seed_is_the_same_test() {
    let figures = |seed| {
        let report = test(good_card(), None, seed, TestBus::reset);
        report.steps.iter().find(|step| step.name == "windows").unwrap().figures.clone()
    };
    assert_eq!(figures(1), figures(1));
    assert_ne!(figures(1), figures(2));
}

#[test]
fn one_wrong_bit_of_a_result_is_found_and_named() {
    let (step, problem) = with(|written| {
        if written.arm.cookie == 11 {
            written.result[4 * 5 + 3] ^= 0x40;
        }
    });
    assert_eq!(step, "windows");
    assert!(problem.contains("window 11") && problem.contains("beat 0 lane 5 of the result"), "{problem}");
}

#[test]
fn wrong_numbers_are_found() {
    type Fault = fn(&mut Written);
    let of_lanes = |change: fn(u32) -> u32| {
        move |written: &mut Written| {
            for lane in written.result.chunks_exact_mut(4) {
                let bits = u32::from_le_bytes([lane[0], lane[1], lane[2], lane[3]]);
                lane.copy_from_slice(&change(bits).to_le_bytes());
            }
        }
    };
    // Another NaN, subnormals flushed, -0.0 lost, infinities as the largest finite number.
    let changes: [fn(u32) -> u32; 4] = [
        |bits| if bits == 0x7fc0_0000 { 0xffc0_0000 } else { bits },
        |bits| if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits },
        |bits| if bits == 0x8000_0000 { 0 } else { bits },
        |bits| if bits & 0x7fff_ffff == 0x7f80_0000 { bits - 1 } else { bits },
    ];
    for change in changes {
        let (step, problem) = with(of_lanes(change));
        assert!(step == "windows" && problem.contains("in this rank's shard"), "{problem}");
    }
    let faults: [(Fault, &str); 2] = [
        (|written| written.result.iter_mut().for_each(|byte| *byte = byte.wrapping_mul(2)), "in this rank's shard"),
        (|written| written.result[written.arm.beats as usize * 32 + 64..].fill(0xa5), "in the absent rank's shard"),
    ];
    for (fault, part) in faults {
        let (step, problem) = with(move |written| {
            if written.arm.beats > 2 && written.arm.rotation == 0 {
                fault(written);
            }
        });
        assert!(step == "windows" && problem.contains(part), "{part}: {problem}");
    }
}

#[test]
fn writes_beside_the_result_are_found() {
    type Stray = fn(&Written) -> u64;
    let strays: [(Stray, &str); 6] = [
        (|written| written.arm.host_address - 1, "memory around the result"),
        (|written| written.arm.host_address + written.result.len() as u64, "memory around the result"),
        (|written| written.arm.host_address + written.result.len() as u64 + 4095, "memory around the result"),
        (|written| written.arm.report_address - 1, "memory around the stage reports"),
        (|written| written.arm.report_address + 256, "memory around the stage reports"),
        // First page of the gradient's buffer, allocated directly after the rings.
        (|_| 0x8_0000_2000, "memory around the gradient"),
    ];
    for (stray, part) in strays {
        let (step, problem) = with(move |written| written.strays.push((stray(written), 0x5a)));
        assert!(step == "windows" && problem.contains(part), "{part}: {problem}");
    }
}

#[test]
fn wrong_reports_and_completions_are_found() {
    type Fault = fn(&mut Written);
    let faults: [(Fault, &str); 13] = [
        (|written| written.reports[0] ^= 1, "contribute stage, stage report: beats of rank 0"),
        (|written| written.reports[2] = 1, "contribute stage, stage report: beats of rank 1"),
        (|written| written.reports[127] = 1, "contribute stage, stage report: beats of rank 63"),
        (|written| written.reports[128] = 1, "broadcast stage, stage report: beats of rank 0"),
        (|written| written.completions[0].own_beats ^= 1, "contribute stage: OWN_BEATS"),
        (|written| written.completions[1].heard = 2, "broadcast stage: HEARD"),
        (|written| written.completions[1].slot = 7, "broadcast stage: SLOT"),
        (|written| written.completions[0].cookie += 1, "contribute stage: COOKIE"),
        (|written| written.completions[0].status = STATUS_DMA_ERROR, "contribute stage: STATUS"),
        (|written| written.completions[0].closed_by = CLOSED_EARLY, "contribute stage: CLOSED_BY"),
        (|written| written.completions[0].closed_by = CLOSED_COMPLETE, "contribute stage: CLOSED_BY"),
        (|written| written.completions[0].elapsed_ns -= 1, "contribute stage: ELAPSED_NS"),
        (|written| written.completions.swap(0, 1), "contribute stage: OPCODE"),
    ];
    for (fault, part) in faults {
        let (step, problem) = with(move |written| {
            // In the first window of which both stages wait.
            if written.arm.beats > 1 {
                fault(written);
            }
        });
        assert!(step == "windows" && problem.contains(part), "{part}: {problem}");
    }
    let (_, problem) = with(|written| written.completions[1].elapsed_ns += 10_000_000_000);
    assert!(problem.contains("ELAPSED_NS"), "{problem}");
    let (_, problem) = with(|written| written.packets += 1);
    assert!(problem.contains("TX_PACKETS"), "{problem}");
}

#[test]
fn faulty_registers_are_found() {
    let is = |register: &Register, offset: usize| register.offset == offset;
    let rotation = reg::CQ_BASE_HI.of_queue(3).offset;
    let (step, problem) =
        with_bus(|bus| bus.on_read(move |register, value| if is(register, rotation) { value & !0x10 } else { value }));
    assert!(step == "registers" && problem.contains("CQ_BASE_HI of queue 3"), "{problem}");

    let two_in_one = |register: &Register, value: u32| (register.name != "JOB_TAG_HI").then_some(value);
    let (step, problem) = with_bus(|bus| bus.on_write(two_in_one));
    assert!(step == "registers" && problem.contains("JOB_TAG_HI"), "{problem}");

    // One register at two addresses.
    static LAST: AtomicU32 = AtomicU32::new(0);
    let (step, problem) = with_bus(|bus| {
        let written = |register: &Register, value: u32| {
            if register.name == "RANK" {
                LAST.store(value, Ordering::Relaxed);
            }
            Some(value)
        };
        let read = |register: &Register, value| {
            if register.name == "RANKS" { value | LAST.load(Ordering::Relaxed) } else { value }
        };
        bus.on_write(written).on_read(read)
    });
    assert!(step == "registers" && problem.contains("RANKS at 0x10c after RANK at 0x108 was written"), "{problem}");

    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let (step, problem) = with_bus(|bus| {
        let written = |register: &Register, value: u32| {
            if register.name == "DROP_STALE" {
                COUNTER.store(value, Ordering::Relaxed);
            }
            Some(value)
        };
        let read = |register: &Register, value| {
            if register.name == "DROP_STALE" { COUNTER.load(Ordering::Relaxed) } else { value }
        };
        bus.on_write(written).on_read(read)
    });
    assert!(step == "registers" && problem.contains("DROP_STALE at 0x0b0 after it was written"), "{problem}");

    let (step, problem) =
        with_bus(|bus| bus.on_read(|register, value| if register.offset == 0xc00 { 1 } else { value }));
    assert!(step == "registers" && problem.contains("an address without a register"), "{problem}");

    let (step, problem) =
        with_bus(|bus| bus.on_read(|register, value| if register.name == "MAGIC" { 1 } else { value }));
    assert!(step == "identity" && problem.contains("MAGIC"), "{problem}");
}

#[test]
fn a_time_that_goes_on_passes_and_one_that_can_be_set_is_found() {
    let time = AtomicU32::new(u32::MAX - 5000);
    let bus = FaultBus::new(good_card()).on_read(move |register, value| match *register {
        reg::CARD_TIME_LO => time.fetch_add(1000, Ordering::Relaxed),
        _ => value,
    });
    let report = test(bus, None, SEED, |_| Ok(()));
    assert!(report.problem().is_none(), "{:?}", report.problem());
    for (set, name) in [(reg::CARD_TIME_LO, "CARD_TIME_LO at 0x048"), (reg::CARD_TIME_HI, "CARD_TIME_HI at 0x04c")] {
        let (step, problem) = with_bus(|bus| {
            let time = Arc::new(AtomicU32::new(0));
            let written = time.clone();
            bus.on_read(
                move |register, value| if *register == set { time.fetch_add(1, Ordering::Relaxed) } else { value },
            )
            .on_write(move |register, value| {
                if *register == set {
                    written.store(value, Ordering::Relaxed);
                }
                Some(value)
            })
        });
        assert!(step == "registers" && problem.contains(&format!("{name} after it was written")), "{problem}");
    }
}

#[test]
fn a_device_with_other_numbers_is_not_ours() {
    for id in [
        PciId { vendor: 0x8086, device: DEVICE_ID, class: CLASS },
        PciId { vendor: VENDOR_ID, device: 1, class: CLASS },
        PciId { vendor: VENDOR_ID, device: DEVICE_ID, class: 1 },
    ] {
        assert_eq!(failure(&test(good_card(), Some(id), SEED, TestBus::reset)).0, "identity");
    }
}

#[test]
fn a_card_without_interrupts_is_found() {
    let mut bus = good_card();
    bus.rings = false;
    let (step, problem) = failure(&test_card(bus));
    assert!(step == "queues" && problem.contains("queue 0: interrupts"), "{problem}");
}

#[test]
fn a_ring_that_stops_turning_is_found_in_bounded_time() {
    for (commands_max, step) in [(0, "queues"), (5, "queues"), (84 + 3, "windows")] {
        let begin = Instant::now();
        let report = test_card(card(commands_max, |_| ()));
        let failed = report.steps.iter().find(|step| step.outcome == Outcome::Failed).unwrap();
        assert_eq!(failed.name, step, "{commands_max}: {}", report.describe());
        assert!(failed.problem.as_deref().unwrap().contains("no completion in"), "{failed:?}");
        assert!(begin.elapsed() < Duration::from_secs(5));
    }
}

/// Returns a card that is gone after `reads` reads, and the number of reads so far.
fn leaving(reads: u32) -> (FaultBus<TestBus>, Arc<AtomicU32>) {
    let answered = Arc::new(AtomicU32::new(0));
    let count = answered.clone();
    let read = move |_: &Register, value| if count.fetch_add(1, Ordering::Relaxed) < reads { value } else { u32::MAX };
    (FaultBus::new(good_card()).on_read(read), answered)
}

#[test]
fn a_card_that_leaves_is_gone_wherever_the_test_is_and_nobody_waits_for_it() {
    let test = |bus| test(bus, None, SEED, |_| Ok(()));
    let (bus, answered) = leaving(u32::MAX);
    test(bus);
    let all = answered.load(Ordering::Relaxed);
    for reads in (0..all).step_by(all as usize / 200).chain(0..20) {
        let begin = Instant::now();
        let problem = test(leaving(reads).0).problem();
        let problem = problem.unwrap_or_else(|| panic!("after {reads} of {all} reads: it passes"));
        assert!(begin.elapsed() < Duration::from_secs(5));
        assert!(problem.contains("the card is gone"), "after {reads} of {all} reads: {problem}");
    }
}

#[test]
fn a_reset_that_leaves_something_is_found() {
    for name in ["STATUS", "TX_PACKETS", "SQ_HEAD", "CQ_TAIL", "CONTROL"] {
        let was_reset = Arc::new(AtomicBool::new(false));
        let after = was_reset.clone();
        let read = move |register: &Register, value| {
            if register.name == name && after.load(Ordering::Relaxed) { value | 1 } else { value }
        };
        let report = test(FaultBus::new(good_card()).on_read(read), None, SEED, |_| {
            was_reset.store(true, Ordering::Relaxed);
            Ok(())
        });
        let (step, problem) = failure(&report);
        assert!(step == "idle" && problem.contains(name), "{problem}");
    }
    let failing = |bus: &TestBus| Err(DriverError::DeviceGone { device: bus.name().to_owned() });
    assert!(test(good_card(), None, SEED, failing).problem().unwrap().starts_with("idle: sim0: the card is gone"));
}
