//! Registers of a card.

use optireduce_contract::registers::{QUEUE_BASE, REGISTERS, Register};

/// Returns all registers, with the copies of each queue register in a row.
pub fn all(queues: usize) -> impl Iterator<Item = Register> {
    let copies = move |register: &Register| if register.offset < QUEUE_BASE { 1 } else { queues };
    REGISTERS.iter().flat_map(move |register| (0..copies(register)).map(|queue| register.of_queue(queue)))
}
