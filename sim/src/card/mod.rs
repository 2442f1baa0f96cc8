//! Interface between the cluster and a simulated card.
//!
//! All engines sit at the card's end of the driver's in-process bus, so the same driver and host
//! library run on each, and send real frames on the simulated wire.
//!
//! Time is virtual, in nanoseconds. The caller calls [`Card::run`] with the end of an interval and
//! all arrivals in it, and may skip intervals in which the card is idle ([`Card::next_wake_ns`]). A
//! card depends only on its arrivals, its registers as of the last [`Card::sync_registers`] and
//! host memory, so runs are repeatable.

pub mod engine;
pub mod functional;
pub(crate) mod port;
pub mod rtl;
mod software_card;
pub(crate) mod software_rank;
pub mod vcd;
pub mod waves;

use std::collections::VecDeque;

use crate::wire::{Arrival, Departure};

/// An accepted beat, for independent checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accept {
    /// Card time.
    pub at_ns: u64,
    /// Host's identifier of the window.
    pub cookie: u32,
    /// `STAGE_CONTRIBUTE` or `STAGE_BROADCAST`.
    pub stage: u8,
    /// Beat within the window.
    pub position: u16,
    /// Sending rank, including the card's own.
    pub sender: u8,
}

/// A named signal for waveforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalDef {
    /// Name within the card, such as `slot0.contribute`.
    pub name: String,
    /// Width in bits, 1 to 64.
    pub bits: u32,
}

/// A change of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct SignalChange {
    pub at_ns: u64,
    /// Index into [`Card::signals`].
    pub signal: u32,
    pub value: u64,
}

/// A simulated card.
pub trait Card: Send {
    /// Runs the card from [`now_ns`](Card::now_ns) to `until_ns`. Takes earlier arrivals from `rx`,
    /// which is sorted by time, and appends sent frames to `tx` in order of departure.
    fn run(&mut self, until_ns: u64, rx: &mut VecDeque<Arrival>, tx: &mut Vec<Departure>);

    /// Runs the card in real time while it has work, for at most `slice_ns`. `clock` returns
    /// nanoseconds and must not decrease. Cycle-level cards simulate as fast as possible, others
    /// jump to the current time.
    fn run_beside(
        &mut self,
        clock: &dyn Fn() -> u64,
        _slice_ns: u64,
        rx: &mut VecDeque<Arrival>,
        tx: &mut Vec<Departure>,
    ) {
        self.run(clock(), rx, tx);
    }

    /// End of the last interval.
    fn now_ns(&self) -> u64;

    /// Earliest time of an action without a new arrival or register write: `now_ns` if busy, `None`
    /// without a timer.
    fn next_wake_ns(&self) -> Option<u64>;

    /// Simulated clock cycles; 0 for a card without a clock.
    fn cycles(&self) -> u64;

    /// Reads the host's register writes.
    fn sync_registers(&mut self);

    /// Publishes registers to the host, for a flush of the bus.
    fn publish_registers(&mut self) {}

    /// As [`Card::publish_registers`], possibly limited to these words of BAR 0, since a
    /// cycle-level card needs a cycle per word.
    fn publish_words(&mut self, _words: &[usize]) {
        self.publish_registers();
    }

    /// Advances the card by the duration of a register read, so that registers read after a
    /// completion in memory reflect it.
    fn settle(&mut self) {}

    /// Returns whether the card may have raised an interrupt since the last call.
    fn take_rang(&mut self) -> bool {
        true
    }

    /// Returns the beats accepted since the last call, in order.
    fn take_trace(&mut self) -> Vec<Accept>;

    /// Returns the signals for waveforms.
    fn signals(&self) -> Vec<SignalDef> {
        Vec::new()
    }

    /// Starts recording signal changes, beginning with the current values.
    fn record_signals(&mut self) {}

    /// Returns the changes since the last call, sorted by time.
    fn take_changes(&mut self) -> Vec<SignalChange> {
        Vec::new()
    }
}
