//! The OptiReduce SmartNIC card in rust-hdl.
//!
//! * [`card`]: the card, one block a file, [`card::smartnic::SmartNic`] on top; [`card::simulated`] for simulators.
//! * [`hadamard`], [`fp_add`], [`fp_mul`], [`fp_to_int`], [`int_to_fp`], [`bf16`], [`recip_rom`]: arithmetic, each with a
//!   bit-exact plain-Rust model beside it.
//! * [`ram`], [`fifo`], [`block_fifo`], [`pack`], [`word`], [`signal`], [`engine`], [`kernel`]: memories, queues, wires, signal types,
//!   and a faster engine.
//! * [`cosim`]: runs a block in the rust-hdl engine and demands the same of its Verilog in Verilator.
//!
//! What reads, checks, proves and builds the Verilog is in `tools/`, the crate `optireduce-hdl`.
//! `README.md` in this folder says how to write a block and which traps to avoid.
#![allow(
    missing_docs,
    reason = "rust-hdl's derives make undocumented accessors for every field of a signal type; the fields are documented"
)]

// The macros of `optireduce_hw_derive` name this crate from the outside.
extern crate self as optireduce_hw;

pub mod bf16;
pub mod block_fifo;
pub mod card;
pub mod cosim;
pub mod engine;
pub mod fifo;
pub mod fp_add;
pub mod fp_add_model;
pub mod fp_mul;
pub mod fp_mul_model;
pub mod fp_to_int;
pub mod fp_to_int_model;
pub mod hadamard;
pub mod int_to_fp;
pub mod int_to_fp_model;
pub mod kernel;
pub mod pack;
pub mod ports;
pub mod prelude;
pub mod ram;
pub mod random;
pub mod recip_rom;
pub mod signal;
pub mod stack;
pub mod word;
