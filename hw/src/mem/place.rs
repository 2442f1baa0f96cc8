//! [`SlotBeat`]: how the card's window memories are addressed.

use crate::hdl::prelude::*;

/// Place in a memory that holds a stretch of beats for each slot (or bank).
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct SlotBeat {
    /// Window slot, or bank.
    pub slot: W<3>,
    /// Beat of the stretch.
    pub beat: W<14>,
}

impl SlotBeat {
    /// The place of `beat` in the stretch of `slot`.
    pub const fn at(slot: u64, beat: u64) -> Self {
        Self { slot: bits_w(slot), beat: bits_w(beat) }
    }
}
