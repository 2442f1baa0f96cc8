//! The OptiReduce SmartNIC card in rust-hdl.
//!
//! From the bottom up; no module uses one below it in this list, except in tests:
//!
//! * [`hdl`]: what blocks are written with: signal types, registers, kernels kept as data.
//! * [`mem`], [`arith`]: memories and queues; fp32 and bf16 arithmetic, each with a bit-exact plain-Rust model.
//! * [`hadamard`]: the streaming transform.
//! * [`cosim`]: runs a block in the rust-hdl engine and checks that its Verilog does the same in Verilator.
//! * [`card`]: the card, one block per file, [`card::smartnic::SmartNic`] at the top; [`card::simulated`] for simulators.
//!
//! The crate `optireduce-hdl` in `tools/` checks, proves and builds the Verilog.
//! `README.md` in this folder says how to write a block and which traps to avoid.
#![allow(
    missing_docs,
    reason = "rust-hdl's derives make undocumented accessors for every field of a signal type; the fields are documented"
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
