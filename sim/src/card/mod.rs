//! The seam between the cluster and a simulated card.
//!
//! Two cards stand behind it: [`crate::card::functional::FunctionalCard`], packet by packet and fast, and the card's own
//! hardware description run cycle by cycle. Both sit on the card's end of the driver's in-process bus, so that the
//! same driver and host library drive either; both put real frames on the simulated wire.
//!
//! Time is virtual and counts nanoseconds. Whoever drives a card owns the clock: it calls [`Card::run`] with the end
//! of an interval and everything that arrives in it, and may leave out intervals in which the card has nothing to do
//! ([`Card::next_wake_ns`] tells). A card acts on nothing but its arrivals, its registers as of the last
//! [`Card::sync_registers`], and host memory, so a run is repeatable.

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

/// One beat that a card took into a window: what an independent check needs to know to redo its arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accept {
    /// Card time.
    pub at_ns: u64,
    /// The window, by the host's name for it.
    pub cookie: u32,
    /// `STAGE_CONTRIBUTE` or `STAGE_BROADCAST` of the contract.
    pub stage: u8,
    /// Beat of the window.
    pub position: u16,
    /// Rank it came from; the card's own rank for its own contribution.
    pub sender: u8,
}

/// A named signal of a card, for waveforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalDef {
    /// Name inside the card, for instance `slot0.contribute`.
    pub name: String,
    /// Width in bits, 1 to 64.
    pub bits: u32,
}

/// A new value of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalChange {
    /// Card time of the change.
    pub at_ns: u64,
    /// Index into [`Card::signals`].
    pub signal: u32,
    /// The value from then on.
    pub value: u64,
}

/// A simulated card.
pub trait Card: Send {
    /// Lets time go from [`now_ns`](Card::now_ns) to `until_ns`.
    ///
    /// `rx`: what arrives, sorted by time; everything before `until_ns` is taken from the front, the rest stays.
    /// `tx`: what the card sends is added in order of departure.
    ///
    /// Idle time costs nothing: a card without work jumps to its next arrival or timer.
    fn run(&mut self, until_ns: u64, rx: &mut VecDeque<Arrival>, tx: &mut Vec<Departure>);

    /// Lets the card run beside a clock that waits for nobody, for `slice_ns` of it at most and only as long as it has something to do. Card
    /// time is what `clock` says, in nanoseconds, never less than the last time. A card that can jump in time is then at what the clock
    /// says now; one that is simulated cycle by cycle makes as many as it can, each at the time of the clock.
    fn run_beside(
        &mut self,
        clock: &dyn Fn() -> u64,
        _slice_ns: u64,
        rx: &mut VecDeque<Arrival>,
        tx: &mut Vec<Departure>,
    ) {
        self.run(clock(), rx, tx);
    }

    /// Card time: the end of the last interval that was run.
    fn now_ns(&self) -> u64;

    /// The earliest time at which the card would act without a new arrival or register write: `now_ns` if it is busy,
    /// its next timer, or `None` if it sleeps.
    fn next_wake_ns(&self) -> Option<u64>;

    /// Clock cycles simulated so far; 0 for a card that has no clock.
    fn cycles(&self) -> u64;

    /// Takes over what the host wrote to the registers.
    fn sync_registers(&mut self);

    /// Publishes what the card reports in its registers; the host asks for this by a flush of the bus.
    fn publish_registers(&mut self) {}

    /// As [`Card::publish_registers`], but perhaps only of these words of BAR 0: a card that is simulated cycle by cycle takes a cycle for each.
    fn publish_words(&mut self, _words: &[usize]) {
        self.publish_registers();
    }

    /// Lets the card get as far as it would while a read of a register is on its way over a bus: whoever sees a completion in memory reads
    /// registers that know of it.
    fn settle(&mut self) {}

    /// Whether the card may have raised an interrupt since the last call.
    fn take_rang(&mut self) -> bool {
        true
    }

    /// Hands over the beats accepted since the last call, in order of acceptance.
    fn take_trace(&mut self) -> Vec<Accept>;

    /// The signals that this card can show in a waveform.
    fn signals(&self) -> Vec<SignalDef> {
        Vec::new()
    }

    /// Switches the recording of signal changes on; the first changes give the present values.
    fn record_signals(&mut self) {}

    /// Hands over the changes since the last call, sorted by time.
    fn take_changes(&mut self) -> Vec<SignalChange> {
        Vec::new()
    }
}
