//! Invalid completions are typed errors, counted and consumed, and never a panic.

mod card;

use std::sync::{Arc, Mutex};

use card::{TestCard, arm, job};
use optireduce_contract::queue::*;
use optireduce_driver::{DriverError, FaultBus, Nic};

type Damage = fn(&mut Completion);

/// Field named by the error if `damage` is applied to the first completion.
fn rejected_field(damage: impl Fn(&mut [u8; ENTRY_BYTES]) + Send + 'static) -> Option<&'static str> {
    let (card, bus) = TestCard::new(1 << 20);
    let once = Mutex::new(Some(damage));
    let bus = FaultBus::new(bus).on_completion(move |entry| {
        if let Some(damage) = once.lock().unwrap().take() {
            damage(entry);
        }
    });
    let mut nic = Nic::open(bus).unwrap();
    nic.configure(&job(4)).unwrap();
    for cookie in 0..2 {
        nic.submit(&arm(cookie)).unwrap();
    }
    nic.ring_doorbell().unwrap();
    card.step();
    let field = match nic.poll_completion() {
        Ok(completion) => {
            completion.expect("there is one");
            None
        }
        Err(DriverError::BadCompletion { index: 0, field, .. }) => Some(field),
        Err(error) => panic!("{error}"),
    };
    assert_eq!(nic.poll_completion().unwrap().unwrap().cookie, 1, "the next one is fine");
    assert_eq!(nic.poll_completion().unwrap(), None);
    assert_eq!(nic.counters().unwrap().completions_rejected, u64::from(field.is_some()));
    field
}

#[test]
fn each_damaged_field_is_named() {
    let cases: [(&str, Damage); 15] = [
        ("OPCODE", |entry| entry.opcode = 0),
        ("OPCODE", |entry| entry.opcode = 4),
        ("CLOSED_BY", |entry| entry.closed_by = 3),
        ("STATUS of a stage", |entry| entry.status = STATUS_BAD_COMMAND),
        ("STATUS of a stage", |entry| entry.status = 200),
        ("STATUS of a refusal", |entry| (entry.opcode, entry.status) = (DONE_REFUSED, STATUS_OK)),
        ("STATUS of a refusal", |entry| (entry.opcode, entry.status) = (DONE_REFUSED, 5)),
        ("SLOT", |entry| entry.slot = 8),
        ("SLOT", |entry| entry.slot = 255),
        ("RECEIVED_BEATS", |entry| (entry.received_beats, entry.expected_beats) = (11, 10)),
        ("EXPECTED_BEATS", |entry| entry.expected_beats = 3 * 1024 + 1),
        ("OWN_BEATS", |entry| entry.own_beats = 1025),
        ("HEARD", |entry| entry.heard = 1 << 4),
        ("SQ_HEAD", |entry| entry.sq_head = 3),
        ("SQ_HEAD", |entry| entry.sq_head = u16::MAX),
    ];
    for (field, damage) in cases {
        let found = rejected_field(move |bytes| {
            let mut entry = Completion::from_bytes(bytes);
            damage(&mut entry);
            *bytes = entry.to_bytes();
        });
        assert_eq!(found, Some(field));
    }
}

#[test]
fn every_reserved_bit_must_be_zero_and_the_phase_as_it_was_seen() {
    for byte in 44..64 {
        for bit in 0..8 {
            let field = if (byte, bit) == (63, 0) { "PHASE" } else { "a reserved byte" };
            assert_eq!(rejected_field(move |bytes| bytes[byte] ^= 1 << bit), Some(field), "byte {byte} bit {bit}");
        }
    }
}

#[test]
fn largest_sensible_values_are_accepted() {
    let cases: [Damage; 3] = [
        |entry| {
            (entry.slot, entry.closed_by, entry.status) = (7, CLOSED_DEADLINE, STATUS_DMA_ERROR);
            (entry.received_beats, entry.expected_beats, entry.own_beats) = (3072, 3072, 1024);
            (entry.heard, entry.elapsed_ns, entry.closed_ns) = (0xf, u64::MAX, u64::MAX);
        },
        |entry| (entry.opcode, entry.status, entry.slot) = (DONE_REFUSED, STATUS_STALE, 255),
        |entry| (entry.opcode, entry.sq_head) = (DONE_BROADCAST, 0),
    ];
    for damage in cases {
        let found = rejected_field(move |bytes| {
            let mut entry = Completion::from_bytes(bytes);
            damage(&mut entry);
            *bytes = entry.to_bytes();
        });
        assert_eq!(found, None);
    }
}

#[test]
fn random_completions_never_panic_and_never_stall_the_ring() {
    let (card, bus) = TestCard::new(1 << 20);
    let state = Arc::new(Mutex::new(0u64));
    let bus = FaultBus::new(bus).on_completion(move |entry| {
        for byte in entry {
            let state = &mut *state.lock().unwrap();
            *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); // Knuth's LCG
            // Small values often, so that some damage passes the first checks.
            *byte = if *state >> 63 == 0 { (*state >> 40) as u8 & 3 } else { (*state >> 40) as u8 };
        }
    });
    let mut nic = Nic::open(bus).unwrap();
    nic.configure(&job(3)).unwrap();
    for _ in 0..30_000 {
        nic.submit(&arm(0)).unwrap();
        nic.ring_doorbell().unwrap();
        card.step();
        assert!(matches!(nic.poll_completion(), Ok(Some(_)) | Err(DriverError::BadCompletion { .. })));
    }
    assert_eq!(nic.poll_completion().unwrap(), None);
    assert!(nic.counters().unwrap().completions_rejected > 29_000);
}

#[test]
fn message_names_device_entry_found_expected_and_what_to_do() {
    let (card, bus) = TestCard::new(1 << 20);
    let mut nic = Nic::open(FaultBus::new(bus).on_completion(|entry| entry[1] = 9)).unwrap();
    nic.configure(&job(4)).unwrap();
    nic.submit(&arm(0)).unwrap();
    nic.ring_doorbell().unwrap();
    card.step();
    assert_eq!(
        nic.poll_completion().err().unwrap().to_string(),
        "sim0: completion 0: SLOT is 0x9, expected 0x0 to 0x7.\n\
         Device and driver disagree on the layout, or host memory is damaged. Its window is lost: \
         disable the card, and reset it if this happens again."
    );
}
