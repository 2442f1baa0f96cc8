//! The OptiReduce SmartNIC card in rust-hdl.
//!
//! * [`card`]: the card, one block a file, [`card::smartnic::SmartNic`] on top.
//! * [`hadamard`], [`fp_add`], [`fp_mul`], [`fp_to_int`], [`int_to_fp`], [`bf16`], [`recip_rom`]: arithmetic, each with a
//!   bit-exact plain-Rust model beside it.
//! * [`ram`], [`fifo`], [`block_fifo`], [`pack`], [`word`], [`engine`]: memories, queues, wires, signal types,
//!   and a faster engine.
//! * [`cosim`]: runs a block in the rust-hdl engine and demands the same of its Verilog in Verilator.
//! * [`prove`]: proofs about the Verilog for all inputs; [`report`]: what the card costs on an FPGA; both by [`eda`].
//! * [`share`]: equal modules of the emitted Verilog become one; `split`: a block for each signal; `unused`: what nobody
//!   reads, by name.
//! * [`rtl`], [`fold`], [`bitstream`]: the card for use without Rust, the card with shared lanes, its ECP5 bitstream.
//! * [`emit`], [`reference`], [`check`], [`lint`]: Verilog by name, the contract as Markdown, arithmetic against files of
//!   vectors, and a lint of the sources: the command is `optireduce-hdl`.
//!
//! `README.md` in this folder says how to write a block and which traps to avoid.
#![allow(
    missing_docs,
    reason = "rust-hdl's derives make undocumented accessors for every field of a signal type; the fields are documented"
)]

// `#[derive(Ports)]` names this crate from the outside.
extern crate self as optireduce_hw;

pub mod bf16;
pub mod bitstream;
pub mod block_fifo;
pub mod card;
pub mod check;
pub mod cosim;
pub mod eda;
pub mod emit;
pub mod engine;
pub mod fifo;
pub mod fold;
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
pub mod lint;
pub mod pack;
pub mod ports;
pub mod prelude;
pub mod prove;
pub mod ram;
pub mod random;
pub mod recip_rom;
pub mod reference;
mod replay;
pub mod report;
pub mod rtl;
pub mod share;
pub mod signal;
mod split;
mod stack;
mod unused;
mod verilated;
pub mod word;
