//! The card behind a bus: the driver reaches it through the bus's hook, the simulator between two intervals.

use std::sync::{Mutex, PoisonError};

use optireduce_driver::CardHook;

use crate::card::Card;

/// The place of a card on its bus; empty until the card is built, which needs the bus.
#[derive(Default)]
pub(crate) struct CardPort(Mutex<Option<Box<dyn Card>>>);

impl CardPort {
    /// Puts the card in.
    pub(crate) fn plug(&self, card: Box<dyn Card>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(card);
    }

    /// Does something with the card, if it is there.
    pub(crate) fn try_with<T>(&self, act: impl FnOnce(&mut dyn Card) -> T) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map(|card| act(card.as_mut()))
    }

    /// Does something with the card; without one, nothing.
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
