//! The card's Verilog as text.

pub mod emit;
pub mod fold;
pub mod rtl;
