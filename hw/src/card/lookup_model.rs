//! Window lookup as a function of a packet's header: the contract's rules over the slots of a card.

use optireduce_contract::packet::UbtHeader;
use optireduce_contract::rules;
use optireduce_contract::rules::accept::{self, Cause};

/// An armed window.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// What the rules know about it.
    pub shape: rules::Window,
    /// Generation of its slot.
    pub epoch: u8,
}

/// The slot whose window the packet begins in.
///
/// # Errors
/// Why there is no such slot.
pub fn find(slots: &[Option<Window>; 8], ubt: &UbtHeader) -> Result<usize, Cause> {
    let armed = slots.iter().enumerate().filter_map(|(slot, window)| Some((slot, &window.as_ref()?.shape)));
    accept::find(armed, ubt).map(|(slot, _)| slot)
}

/// Checks a packet of `payload_beats` at the card of `rank`; returns the slot of its window and the beat at which it begins.
///
/// # Errors
/// Why it is dropped.
pub fn judge(
    slots: &[Option<Window>; 8],
    rank: usize,
    ubt: &UbtHeader,
    payload_beats: usize,
) -> Result<(usize, usize), Cause> {
    let slot = find(slots, ubt)?;
    let window = slots[slot].ok_or(Cause::NoWindow)?;
    accept::place(&window.shape, rank, ubt, payload_beats).map(|place| (slot, place.beats.start))
}
