//! All registers of a card, those of its queue pairs as often as it has some.

use optireduce_contract::registers::{QUEUE_BASE, REGISTERS, Register};

/// The registers of a card with this many queue pairs; the copies of one register follow one another.
pub fn all(queues: usize) -> impl Iterator<Item = Register> {
    let copies = move |register: &Register| if register.offset < QUEUE_BASE { 1 } else { queues };
    REGISTERS.iter().flat_map(move |register| (0..copies(register)).map(|queue| register.of_queue(queue)))
}
