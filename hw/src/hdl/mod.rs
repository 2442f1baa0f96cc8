//! What blocks are written with: rust-hdl's kernel language, on our own signal types and engine.
//!
//! [`prelude`] is what a block imports.

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
