//! A card shared by the driver, through the bus's hook, and the simulator.

use std::sync::{Mutex, PoisonError};

use optireduce_driver::CardHook;

use crate::card::Card;

/// Empty until the card is built, since the card needs the bus.
#[derive(Default)]
pub(crate) struct CardPort(Mutex<Option<Box<dyn Card>>>);

impl CardPort {
    pub(crate) fn plug(&self, card: Box<dyn Card>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(card);
    }

    pub(crate) fn try_with<T>(&self, act: impl FnOnce(&mut dyn Card) -> T) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map(|card| act(card.as_mut()))
    }

    /// Returns the default value without a card.
    pub(crate) fn with<T: Default>(&self, act: impl FnOnce(&mut dyn Card) -> T) -> T {
        self.try_with(act).unwrap_or_default()
    }
}

impl CardHook for CardPort {
    fn flush(&self) {
        self.with(|card| {
            card.sync_registers();
            card.publish_registers();
        });
    }

    fn relax(&self) {
        self.flush();
    }
}
