//! The OptiReduce SmartNIC card in rust-hdl.
//!
//! From the bottom up; none looks up but in its tests:
//!
//! * [`hdl`]: what blocks are written in: signal types, registers, kernels kept as data.
//! * [`mem`], [`arith`]: memories and queues; fp32 and bf16 arithmetic, each with a bit-exact plain-Rust model.
//! * [`hadamard`]: the streaming transform.
//! * [`cosim`]: runs a block in the rust-hdl engine and demands the same of its Verilog in Verilator.
//! * [`card`]: the card, one block a file, [`card::smartnic::SmartNic`] on top; [`card::simulated`] for simulators.
//!
//! What checks, proves and builds the Verilog is in `tools/`, the crate `optireduce-hdl`.
//! `README.md` in this folder says how to write a block and which traps to avoid.
#![allow(
    missing_docs,
    reason = "rust-hdl's derives make undocumented accessors for every field of a signal type; the fields are documented"
)]

// The macros of `optireduce_hw_derive` name this crate from the outside.
extern crate self as optireduce_hw;

pub mod arith;
pub mod card;
pub mod cosim;
pub mod hadamard;
pub mod hdl;
pub mod mem;
pub mod random;
