//! The card's Verilog as text: the list of blocks, and transformations of their modules.

pub mod emit;
pub mod fold;
pub mod rtl;
