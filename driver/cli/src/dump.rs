//! `dump`: all registers of a card, by name, with decoded values.

use std::net::Ipv4Addr;

use optireduce_contract::limits::QUEUES;
use optireduce_contract::registers::{
    Access, CONTROL_ENABLE, QUEUE_BASE, QUEUE_BYTES, Register, STATUS_BUSY, STATUS_DMA_ERROR, status_stopped,
};
use optireduce_driver::{Bus, DriverError, Link};
use serde::Serialize;

use crate::args::CardArgs;
use crate::card::{LITTLE_BYTES, open};
use crate::outcome::{Failure, print, table};
use crate::registers::all;

#[derive(Debug, Serialize)]
struct Dump<'a> {
    card: &'a str,
    registers: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    /// `None` for a register of the whole card.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<usize>,
    offset: usize,
    access: &'static str,
    value: u32,
    unit: &'static str,
    meaning: String,
}

/// Prints all registers, also of devices that are not cards, to find out why.
pub fn run(args: &CardArgs) -> Result<(), Failure> {
    let bus = open(args.card.as_deref(), LITTLE_BYTES)?;
    let registers = read(&bus)?;
    let dump = Dump { card: bus.name(), registers };
    print(args.json, &dump, || describe(&dump.registers))
}

/// Reads all registers, in order of offset.
fn read(bus: &impl Bus) -> Result<Vec<Row>, DriverError> {
    bus.flush()?;
    let mut rows: Vec<Row> = all(QUEUES).map(|register| Row::of(&register, bus.read(&register))).collect();
    rows.sort_by_key(|row| row.offset);
    if bus.is_gone() { Err(DriverError::DeviceGone { device: bus.name().to_owned() }) } else { Ok(rows) }
}

impl Row {
    fn of(register: &Register, value: u32) -> Self {
        Self {
            name: register.name,
            queue: register.offset.checked_sub(QUEUE_BASE).map(|at| at / QUEUE_BYTES),
            offset: register.offset,
            access: match register.access {
                Access::ReadOnly => "ro",
                Access::ReadWrite => "rw",
            },
            value,
            unit: register.unit,
            meaning: meaning(register, value),
        }
    }
}

/// Decodes a value; empty if the digits suffice.
fn meaning(register: &Register, value: u32) -> String {
    let bytes = value.to_le_bytes();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":");
    match register.name {
        "MAGIC" if value == register.reset => "an OptiReduce card".to_owned(),
        "MAGIC" => format!("not an OptiReduce card, expected {:#010x}", register.reset),
        "STATUS" => status(value),
        "LINK" => link(Link::of(value)).to_owned(),
        "PCI_ID" | "BUILD_ID" if value == 0 => "not reported".to_owned(),
        "PCI_ID" => format!("{:04x}:{:04x}", value & 0xffff, value >> 16),
        "CONTROL" if value & CONTROL_ENABLE != 0 => "enabled".to_owned(),
        "CONTROL" => "disabled".to_owned(),
        "LOCAL_IP" => Ipv4Addr::from(bytes).to_string(),
        "UDP_PORT" => format!("port {}", u16::from_be_bytes([bytes[0], bytes[1]])),
        "LOCAL_MAC_LO" => format!("{}:..", hex(&bytes)),
        "LOCAL_MAC_HI" => format!("..:{}", hex(&bytes[..2])),
        "HADAMARD_LOG2_MAX" => 1u64.checked_shl(value).map_or(String::new(), |elements| format!("{elements} elements")),
        "SQ_LOG2" | "CQ_LOG2" if value == 0 => "no ring".to_owned(),
        "SQ_LOG2" | "CQ_LOG2" => 1u64.checked_shl(value).map_or(String::new(), |entries| format!("{entries} entries")),
        "CONTRACT" | "BUILD" | "SLOTS" | "RANKS_MAX" | "QUEUES" | "RANK" | "RANKS" => value.to_string(),
        _ if !register.unit.is_empty() => format!("{value} {}", register.unit),
        _ => String::new(),
    }
}

pub fn link(link: Option<Link>) -> &'static str {
    match link {
        None => "not reported",
        Some(Link { up: false, .. }) => "down",
        Some(Link { rsfec: true, .. }) => "up, RS-FEC aligned",
        Some(Link { rsfec: false, .. }) => "up, RS-FEC not aligned",
    }
}

fn status(value: u32) -> String {
    let mut bits = Vec::new();
    if value & STATUS_DMA_ERROR != 0 {
        bits.push("DMA error".to_owned());
    }
    if value & STATUS_BUSY != 0 {
        bits.push("reset in progress".to_owned());
    }
    let stopped = (0..QUEUES).filter(|queue| value & status_stopped(*queue) != 0);
    bits.extend(stopped.map(|queue| format!("queue {queue} stopped")));
    if bits.is_empty() { "no error".to_owned() } else { bits.join(", ") }
}

fn describe(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let name = row.queue.map_or(row.name.to_owned(), |queue| format!("{}[{queue}]", row.name));
        [
            format!("{:#05x}", row.offset),
            row.access.to_owned(),
            name,
            format!("{:#010x}", row.value),
            row.meaning.clone(),
        ]
    };
    table(&rows.iter().map(line).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use optireduce_contract::registers::{self as reg, REGISTERS};

    use super::*;

    #[test]
    fn every_register_of_the_contract_has_one_row_in_order() {
        let (bus, _end) = optireduce_driver::in_process("sim0", 4096, 0, std::sync::Arc::new(Still)).unwrap();
        let rows = read(&bus).unwrap();
        assert!(rows.windows(2).all(|pair| pair[0].offset < pair[1].offset));
        for register in REGISTERS {
            let found = rows.iter().filter(|row| row.name == register.name).count();
            assert_eq!(found, if register.offset < QUEUE_BASE { 1 } else { QUEUES }, "{}", register.name);
        }
    }

    struct Still;

    impl optireduce_driver::CardHook for Still {
        fn flush(&self) {}
        fn relax(&self) {}
    }

    #[test]
    fn values_are_told_in_words() {
        for (register, value, expected) in [
            (&reg::MAGIC, reg::MAGIC.reset, "an OptiReduce card"),
            (&reg::MAGIC, 0, "not an OptiReduce card, expected 0x4f524e43"),
            (&reg::STATUS, 0, "no error"),
            (&reg::STATUS, 0x803, "DMA error, reset in progress, queue 3 stopped"),
            (&reg::LINK, 0, "not reported"),
            (&reg::LINK, 3, "not reported"),
            (&reg::LINK, 0x8000_0000, "down"),
            (&reg::LINK, 0x8000_0001, "up, RS-FEC not aligned"),
            (&reg::LINK, 0x8000_0003, "up, RS-FEC aligned"),
            (&reg::PCI_ID, 0x903f_10ee, "10ee:903f"),
            (&reg::BUILD_ID, 0, "not reported"),
            (&reg::CONTROL, 1, "enabled"),
            (&reg::CONTROL, 0, "disabled"),
            (&reg::LOCAL_IP, u32::from_le_bytes([127, 0, 0, 2]), "127.0.0.2"),
            (&reg::UDP_PORT, u32::from_le_bytes([0x16, 0x9f, 0, 0]), "port 5791"),
            (&reg::LOCAL_MAC_LO, 0x007f_4f02, "02:4f:7f:00:.."),
            (&reg::LOCAL_MAC_HI, 0x0200, "..:00:02"),
            (&reg::HADAMARD_LOG2_MAX, 12, "4096 elements"),
            (&reg::HADAMARD_LOG2_MAX, 64, ""),
            (&reg::CQ_LOG2.of_queue(2), 4, "16 entries"),
            (&reg::SQ_LOG2, 0, "no ring"),
            (&reg::RX_PACKETS, 3, "3 packets"),
            (&reg::SQ_BASE_LO, 0x1000, ""),
        ] {
            assert_eq!(meaning(register, value), expected, "{} {value:#x}", register.name);
        }
    }
}
