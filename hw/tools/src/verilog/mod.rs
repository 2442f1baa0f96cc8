//! The card's Verilog as text: which blocks there are, and what is made of their modules.

pub mod emit;
pub mod fold;
pub mod rtl;
