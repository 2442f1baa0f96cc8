//! Errors about cards that do not meet the contract, and about cards that leave.

mod card;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use card::{TestCard, arm, job};
use optireduce_contract::registers::{self as regs, Access, Register};
use optireduce_driver::{BusEvent, DriverError, FaultBus, Limits, Nic, TraceBus};

const MIB: usize = 1 << 20;

#[test]
fn good_card_is_identified_and_only_scratch_is_written() {
    let (_card, bus) = TestCard::new(MIB);
    let (sender, events) = std::sync::mpsc::channel();
    let nic = Nic::open(TraceBus::new(bus, move |event| sender.send(event).unwrap())).unwrap();
    let expected = Limits {
        slots: 8,
        window_beats_max: 1024,
        hadamard_log2_max: 12,
        ranks_max: 64,
        payload_beats_max: 139,
        queues: 4,
        build: 1,
    };
    assert_eq!(nic.limits(), expected);
    let mut scratch = Vec::new();
    for event in events.try_iter() {
        match event {
            BusEvent::Write { register: "SCRATCH", value } => scratch.push(value),
            BusEvent::Read { .. } | BusEvent::Flush => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(scratch.len(), 2);
    assert_eq!(scratch[0], !scratch[1]);
}

#[test]
fn each_wrong_register_is_named_with_what_was_found_and_expected() {
    let cases: [(&Register, u32, &str); 11] = [
        (&regs::MAGIC, 0, "sim0: MAGIC is 0x00000000, expected 0x4f524e43.\n"),
        (&regs::MAGIC, 0x4f52_4e44, "sim0: MAGIC is 0x4f524e44, expected 0x4f524e43.\n"),
        (&regs::MAGIC, u32::MAX, "sim0: the card is gone: its MAGIC register reads all ones, twice.\n"),
        (&regs::CONTRACT, 1, "sim0: the card speaks contract version 1, this driver version 2.\n"),
        (&regs::SLOTS, 0, "sim0: SLOTS is 0, expected 1 to 256.\n"),
        (&regs::SLOTS, u32::MAX, "sim0: SLOTS is 4294967295, expected 1 to 256.\n"),
        (&regs::WINDOW_BEATS_MAX, 0x1_0000, "sim0: WINDOW_BEATS_MAX is 65536, expected 1 to 65535.\n"),
        (&regs::HADAMARD_LOG2_MAX, 15, "sim0: HADAMARD_LOG2_MAX is 15, expected 8 to 14.\n"),
        (&regs::RANKS_MAX, 65, "sim0: RANKS_MAX is 65, expected 2 to 64.\n"),
        (&regs::PAYLOAD_BEATS_MAX, 140, "sim0: PAYLOAD_BEATS_MAX is 140, expected 1 to 139.\n"),
        (&regs::QUEUES, 5, "sim0: QUEUES is 5, expected 1 to 4.\n"),
    ];
    for (register, value, message) in cases {
        let (card, bus) = TestCard::new(MIB);
        card.set(register, value);
        let error = Nic::open(bus).err().unwrap().to_string();
        assert!(error.starts_with(message), "{} = {value:#x}: {error}", register.name);
        assert!(error.len() > message.len(), "no advice: {error}");
    }
}

#[test]
fn card_that_hears_no_writes_is_given_up_in_bounded_time() {
    let (card, bus) = TestCard::new(MIB);
    card.make_deaf();
    let start = Instant::now();
    let error = Nic::open(bus).err().unwrap();
    assert!(start.elapsed() < Duration::from_secs(2));
    assert!(
        matches!(error, DriverError::NoEcho { wrote, expected, found: u32::MAX, .. } if expected == !wrote),
        "{error}"
    );
}

#[test]
fn echo_of_a_stuck_bit_is_found_by_the_complement() {
    for stuck in 0..32 {
        for high in [false, true] {
            let (_card, bus) = TestCard::new(MIB);
            let bus = FaultBus::new(bus).on_read(move |register, value| match register.name {
                "SCRATCH_ECHO" if high => value | 1 << stuck,
                "SCRATCH_ECHO" => value & !(1 << stuck),
                _ => value,
            });
            assert!(matches!(Nic::open(bus), Err(DriverError::NoEcho { .. })), "bit {stuck} stuck at {high}");
        }
    }
}

#[test]
fn removed_card_fails_every_call_at_once_and_for_good() {
    let (_card, bus) = TestCard::new(MIB);
    let gone = Arc::new(AtomicBool::new(false));
    let switch = gone.clone();
    let bus = FaultBus::new(bus).on_read(move |_, value| if switch.load(Ordering::Relaxed) { u32::MAX } else { value });
    let mut nic = Nic::open(bus).unwrap();
    let buffer = nic.alloc(64, 64).unwrap();
    nic.configure(&job(4)).unwrap();
    nic.check_alive().unwrap();
    gone.store(true, Ordering::Relaxed);
    assert!(matches!(nic.counters(), Err(DriverError::DeviceGone { .. })));
    gone.store(false, Ordering::Relaxed);
    let start = Instant::now();
    let results = [
        nic.check_alive(),
        nic.counters().map(drop),
        nic.submit(&arm(0)),
        nic.ring_doorbell(),
        nic.poll_completion().map(drop),
        nic.wait_completion(Duration::from_secs(60)).map(drop),
        nic.alloc(64, 64).map(drop),
        nic.write_f32(buffer, 0, &[1.0]),
        nic.read_bytes(buffer, 0, &mut [0]),
        nic.configure(&job(4)),
        nic.disable(),
    ];
    for (call, result) in results.into_iter().enumerate() {
        assert!(matches!(result, Err(DriverError::DeviceGone { .. })), "call {call}: {result:?}");
    }
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_card_that_leaves_while_it_is_identified_is_gone() {
    for reads in 0..11 {
        let (_card, bus) = TestCard::new(MIB);
        let left = AtomicU32::new(reads);
        let bus = FaultBus::new(bus).on_read(move |_, value| {
            let is_here = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
            if is_here { value } else { u32::MAX }
        });
        let error = Nic::open(bus).err().unwrap();
        assert!(matches!(error, DriverError::DeviceGone { .. }), "after {reads} reads: {error}");
    }
}

#[test]
fn one_read_of_all_ones_is_not_a_removal() {
    let (card, bus) = TestCard::new(MIB);
    let glitches = Arc::new(AtomicU32::new(0));
    let left = glitches.clone();
    let bus = FaultBus::new(bus).on_read(move |register, value| {
        let glitch = register.name == "MAGIC"
            && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        if glitch { u32::MAX } else { value }
    });
    let nic = Nic::open(bus).unwrap();
    glitches.store(1, Ordering::Relaxed);
    nic.check_alive().unwrap();
    card.set(&regs::RX_PACKETS, u32::MAX);
    assert_eq!(nic.counters().unwrap().rx_packets, u32::MAX, "a counter may be all ones");
    glitches.store(2, Ordering::Relaxed);
    assert!(matches!(nic.check_alive(), Err(DriverError::DeviceGone { .. })));
}

#[test]
fn silence_of_a_removed_card_is_no_timeout() {
    let (_card, bus) = TestCard::new(MIB);
    let gone = Arc::new(AtomicBool::new(false));
    let switch = gone.clone();
    let bus = FaultBus::new(bus).on_read(move |_, value| if switch.load(Ordering::Relaxed) { u32::MAX } else { value });
    let mut nic = Nic::open(bus).unwrap();
    nic.configure(&job(4)).unwrap();
    gone.store(true, Ordering::Relaxed);
    let error = nic.wait_completion(Duration::from_millis(5)).err().unwrap();
    assert!(matches!(error, DriverError::DeviceGone { .. }), "{error}");
}

#[test]
fn a_wait_ends_long_before_its_timeout_once_the_card_does_not_work() {
    type Is = fn(&DriverError) -> bool;
    let stopped = regs::status_stopped(0);
    let was_reset: Is = |error| matches!(error, DriverError::WasReset { found: 0, expected: 1, .. });
    let cases: [(Option<&Register>, u32, Is); 5] = [
        (Some(&regs::MAGIC), u32::MAX, |error| matches!(error, DriverError::DeviceGone { .. })),
        (Some(&regs::MAGIC), 0, |error| matches!(error, DriverError::NotACard { found: 0, .. })),
        (Some(&regs::CONTROL), 0, was_reset),
        // All registers, in the middle of a reset.
        (None, 0, was_reset),
        (Some(&regs::STATUS), stopped, |error| matches!(error, DriverError::QueueStopped { queue: 0, .. })),
    ];
    for (register, value, is_expected) in cases {
        let (_card, bus) = TestCard::new(MIB);
        let broken = Arc::new(AtomicBool::new(false));
        let switch = broken.clone();
        let fault = move |read: &Register, found| match switch.load(Ordering::Relaxed)
            && register.is_none_or(|register| read == register)
        {
            true => value,
            false => found,
        };
        let mut nic = Nic::open(FaultBus::new(bus).on_read(fault)).unwrap();
        nic.configure(&job(4)).unwrap();
        nic.check_working().unwrap();
        broken.store(true, Ordering::Relaxed);
        let error = nic.wait_completion(Duration::from_secs(24 * 3600)).err().unwrap();
        assert!(is_expected(&error), "{:?}: {error}", register.map(|register| register.name));
    }
}

#[test]
fn all_ones_in_a_ring_index_mean_removal_not_a_bad_index() {
    type Call = fn(&mut Nic<FaultBus<optireduce_driver::InProcessBus>>) -> Result<(), DriverError>;
    let calls: [Call; 3] = [|nic| nic.submit(&arm(4)), |nic| nic.disable(), |nic| nic.configure(&job(2))];
    for (call, go) in calls.into_iter().enumerate() {
        let (_card, bus) = TestCard::new(MIB);
        let gone = Arc::new(AtomicBool::new(false));
        let switch = gone.clone();
        let bus =
            FaultBus::new(bus).on_read(move |_, value| if switch.load(Ordering::Relaxed) { u32::MAX } else { value });
        let mut nic = Nic::open(bus).unwrap();
        nic.configure(&job(2)).unwrap();
        for cookie in 0..4 {
            nic.submit(&arm(cookie)).unwrap();
        }
        gone.store(true, Ordering::Relaxed);
        let result = go(&mut nic);
        assert!(matches!(result, Err(DriverError::DeviceGone { .. })), "call {call}: {result:?}");
    }
}

#[test]
fn counters_hold_every_counting_register_under_its_name() {
    let (_card, bus) = TestCard::new(MIB);
    let counting =
        |register: &Register| register.access == Access::ReadOnly && register.offset >= regs::RX_PACKETS.offset;
    let bus = FaultBus::new(bus)
        .on_read(move |register, value| if counting(register) { register.offset as u32 } else { value });
    let counters = serde_json::to_value(Nic::open(bus).unwrap().counters().unwrap()).unwrap();
    let mut expected = serde_json::json!({ "dma_error": false, "queue_stopped": false, "completions_rejected": 0 });
    for register in regs::REGISTERS.iter().filter(|register| counting(register)) {
        expected[register.name.to_lowercase()] = register.offset.into();
    }
    assert_eq!(counters, expected);
}

#[test]
fn failed_dma_of_the_card_is_reported() {
    let (card, bus) = TestCard::new(MIB);
    let nic = Nic::open(bus).unwrap();
    assert!(!nic.counters().unwrap().dma_error);
    card.set(&regs::STATUS, regs::STATUS_DMA_ERROR);
    assert!(nic.counters().unwrap().dma_error);
    assert!(!nic.counters().unwrap().queue_stopped);
    card.set(&regs::STATUS, regs::status_stopped(0));
    assert_eq!((nic.counters().unwrap().dma_error, nic.counters().unwrap().queue_stopped), (false, true));
}
