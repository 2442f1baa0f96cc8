//! [`SlotBeat`]: how the card's window memories are addressed.

use crate::hdl::prelude::*;

/// Address in a memory that holds a range of beats for each slot (or bank).
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct SlotBeat {
    /// Window slot, or bank.
    pub slot: W<3>,
    /// Beat within the range.
    pub beat: W<14>,
}

impl SlotBeat {
    /// The address of `beat` in the range of `slot`.
    pub const fn at(slot: u64, beat: u64) -> Self {
        Self { slot: bits_w(slot), beat: bits_w(beat) }
    }
}
