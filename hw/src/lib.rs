//! The OptiReduce SmartNIC card in rust-hdl.
//!
//! Modules, each of which uses only modules above it (tests aside):
//!
//! * [`hdl`]: signal types, registers and kernels that blocks are written with.
//! * [`mem`], [`arith`]: memories and queues; fp32 and bf16 arithmetic with bit-exact models.
//! * [`hadamard`]: the streaming transform.
//! * [`cosim`]: runs a block in the rust-hdl engine and checks its Verilog against the run.
//! * [`card`]: the card, one block per file, with [`card::smartnic::SmartNic`] at the top.
//!
//! `optireduce-hdl` (in `tools/`) checks, proves and builds the Verilog. `README.md` describes how
//! to write a block, and the traps of rust-hdl.
#![allow(
    missing_docs,
    reason = "rust-hdl's derives make undocumented accessors, and ports without a doc follow the conventions of card/mod.rs"
)]

// The macros of `optireduce_hw_derive` refer to this crate by its name.
extern crate self as optireduce_hw;

pub mod arith;
pub mod card;
pub mod cosim;
pub mod hadamard;
pub mod hdl;
pub mod mem;
pub mod random;
