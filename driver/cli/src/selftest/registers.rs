//! Registers: host registers keep their values, card registers ignore writes, and all other
//! addresses read as zero.

use optireduce_contract::limits::{QUEUES, RANKS_MAX};
use optireduce_contract::registers::{
    self as reg, Access, BAR_BYTES, PEER_BYTES, PEER_TABLE, QUEUE_BASE, QUEUE_BYTES, Register,
};
use optireduce_driver::{Bus, DriverError};

use crate::registers::all;

use super::problem::{Problem, equal};
use super::report::Figures;

/// Maximum reads of SCRATCH_ECHO until it must follow SCRATCH.
const POLLS_MAX: usize = 1000;
const BAD_BIT: &str =
    "A bit is stuck, or two addresses select the same register. Check the card's timing, or program it again.";

pub fn check(bus: &impl Bus, queues: usize, figures: &mut Figures) -> Result<(), Problem> {
    check_scratch(bus)?;
    let host: Vec<Register> = host_written(queues).collect();
    let before: Vec<u32> = host.iter().map(|register| bus.read(register)).collect();
    let checked = check_host_written(bus, &host);
    host.iter().zip(&before).for_each(|(register, value)| bus.write(register, *value));
    checked?;
    let card: Vec<Register> = all(queues).filter(|register| register.access == Access::ReadOnly).collect();
    check_card_written(bus, &card)?;
    let undefined: Vec<Register> = undefined().collect();
    check_undefined(bus, &undefined)?;
    figures.push(("host_written", host.len() as u64));
    figures.push(("card_written", card.len() as u64));
    figures.push(("undefined", undefined.len() as u64));
    Ok(())
}

fn host_written(queues: usize) -> impl Iterator<Item = Register> {
    all(queues).filter(|register| register.access == Access::ReadWrite && *register != reg::CONTROL)
}

pub fn name(register: &Register) -> String {
    match register.offset.checked_sub(QUEUE_BASE) {
        Some(at) => format!("{} of queue {} at {:#05x}", register.name, at / QUEUE_BYTES, register.offset),
        None => format!("{} at {:#05x}", register.name, register.offset),
    }
}

fn undefined() -> impl Iterator<Item = Register> {
    let defined: Vec<usize> = all(QUEUES).map(|register| register.offset).collect();
    let peers = PEER_TABLE..PEER_TABLE + RANKS_MAX * PEER_BYTES;
    let is_free = move |offset: &usize| !defined.contains(offset) && !peers.contains(offset);
    let word = |offset| Register {
        name: "an address without a register",
        offset,
        access: Access::ReadOnly,
        reset: 0,
        unit: "",
        doc: "",
    };
    (0..BAR_BYTES).step_by(4).filter(is_free).map(word)
}

/// Checks that walking ones and zeros read back, and inverted from SCRATCH_ECHO.
fn check_scratch(bus: &impl Bus) -> Result<(), Problem> {
    let walking = (0..32).map(|bit| 1u32 << bit);
    for value in walking.flat_map(|one| [one, !one]).chain([0, u32::MAX, 0x5555_5555, 0xaaaa_aaaa]) {
        bus.write(&reg::SCRATCH, value);
        let mut echo = 0;
        for _ in 0..POLLS_MAX {
            bus.flush()?;
            echo = bus.read(&reg::SCRATCH_ECHO);
            if echo == !value {
                break;
            }
            bus.relax();
        }
        equal(format!("SCRATCH_ECHO for SCRATCH {value:#x}"), echo, !value, BAD_BIT)?;
        equal("SCRATCH", bus.read(&reg::SCRATCH), value, BAD_BIT)?;
    }
    Ok(check_here(bus)?)
}

/// Checks that each register keeps all its bits and changes no other register.
fn check_host_written(bus: &impl Bus, registers: &[Register]) -> Result<(), Problem> {
    registers.iter().for_each(|register| bus.write(register, 0));
    for register in registers {
        let kept = u32::MAX >> (32 - register.kept_bits());
        let ones = (0..register.kept_bits()).map(|bit| 1 << bit);
        for value in ones.chain([kept]) {
            bus.write(register, value);
            bus.flush()?;
            equal(name(register), bus.read(register) & kept, value, BAD_BIT)?;
        }
        for other in registers.iter().filter(|other| *other != register) {
            let object = || format!("{} after {} was written", name(other), name(register));
            equal(object(), bus.read(other), 0, BAD_BIT)?;
        }
        bus.write(register, 0);
        bus.flush()?;
        equal(name(register), bus.read(register), 0, BAD_BIT)?;
    }
    Ok(check_here(bus)?)
}

fn check_card_written(bus: &impl Bus, registers: &[Register]) -> Result<(), Problem> {
    const ADVICE: &str = "Only the card may write this register: compare the card's build with hw/contract.";
    bus.flush()?;
    for register in registers {
        let object = || format!("{} after it was written", name(register));
        // CARD_TIME advances: bits to write, and its largest advance until it is read.
        let (written, most) = match *register {
            reg::CARD_TIME_LO => (1 << 31, 1 << 30),
            reg::CARD_TIME_HI => (1 << 15, 1),
            _ => (u32::MAX, 0),
        };
        let write = || {
            let before = bus.read(register);
            bus.write(register, before ^ written);
            bus.flush()?;
            let found = bus.read(register);
            Ok::<_, Problem>((before, found, found.wrapping_sub(before) <= most))
        };
        let (mut before, mut found, mut kept) = write()?;
        // Repeated in case this process was off the CPU for a second.
        for _ in 0..if most > 0 { 2 } else { 0 } {
            if !kept {
                (before, found, kept) = write()?;
            }
        }
        if most == 0 {
            equal(object(), found, before, ADVICE)?;
        } else if !kept {
            let expected = format!("{before:#x}, and at most {most:#x} more");
            return Err(Problem::Wrong { object: object(), found: format!("{found:#x}"), expected, advice: ADVICE });
        }
    }
    Ok(check_here(bus)?)
}

fn check_undefined(bus: &impl Bus, words: &[Register]) -> Result<(), Problem> {
    for word in words {
        for _ in 0..2 {
            let advice = "Every address must answer, with zero if it has no register: compare the card's build with hw/contract.";
            equal(name(word), bus.read(word), 0, advice)?;
            bus.write(word, u32::MAX);
            bus.flush()?;
        }
    }
    Ok(check_here(bus)?)
}

fn check_here(bus: &impl Bus) -> Result<(), DriverError> {
    if bus.is_gone() { Err(DriverError::DeviceGone { device: bus.name().to_owned() }) } else { Ok(()) }
}
