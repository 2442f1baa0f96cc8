//! Foundation of all blocks: rust-hdl's kernel language on this project's signal types and engine.
//!
//! Blocks import [`prelude`].

pub mod engine;
pub mod kernel;
pub mod pack;
pub mod ports;
pub mod prelude;
pub mod signal;
pub mod stack;
pub mod wires;
pub mod word;

#[cfg(test)]
mod wires_tests;
