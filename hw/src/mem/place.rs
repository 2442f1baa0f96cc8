//! [`SlotBeat`]: address of the card's window memories.

use crate::hdl::prelude::*;

/// Address in a memory with a range of beats for each slot or bank.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct SlotBeat {
    pub slot: W<3>,
    pub beat: W<14>,
}

impl SlotBeat {
    pub const fn at(slot: u64, beat: u64) -> Self {
        Self { slot: bits_w(slot), beat: bits_w(beat) }
    }
}
