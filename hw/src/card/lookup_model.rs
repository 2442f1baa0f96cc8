//! Window lookup in plain Rust: the contract's rules over the slots of a card.

use optireduce_contract::packet::UbtHeader;
use optireduce_contract::rules;
use optireduce_contract::rules::accept::{self, Cause};

#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub shape: rules::Window,
    pub epoch: u8,
}

/// Returns the slot whose window contains the packet's start.
pub fn find(slots: &[Option<Window>; 8], ubt: &UbtHeader) -> Result<usize, Cause> {
    let armed = slots.iter().enumerate().filter_map(|(slot, window)| Some((slot, &window.as_ref()?.shape)));
    accept::find(armed, ubt).map(|(slot, _)| slot)
}

/// Checks a packet of `payload_beats` at `rank`. Returns its slot and its first window beat.
///
/// # Errors
/// The cause of the drop.
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
