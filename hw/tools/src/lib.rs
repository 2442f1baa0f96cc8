//! Tools around the Verilog of the OptiReduce card; the command is `optireduce-hdl`.
//!
//! * [`verilog`]: the blocks by name, the card for use without Rust, the card with shared lanes.
//! * [`flows`]: runs of yosys, nextpnr and solvers: what the card costs, what is proved about it, its ECP5 bitstream.
//! * [`checks`]: arithmetic against files of vectors, and a lint of the sources.
//! * [`mod@reference`]: the contract between card and software as Markdown, C, SystemRDL, and for Wireshark.
//!
//! The card itself and its co-simulation are in `optireduce_hw`, which needs none of the crates that this one pulls in.
#![allow(
    missing_docs,
    reason = "rust-hdl's derives make undocumented accessors for every field of a signal type; the fields are documented"
)]

pub mod checks;
pub mod flows;
pub mod reference;
pub mod verilog;
