//! Tools for the Verilog of the OptiReduce card. The command is `optireduce-hdl`.
//!
//! * [`verilog`]: emission of blocks and cards, and the card with shared lanes.
//! * [`flows`]: resource reports, proofs and the ECP5 bitstream, by open EDA tools.
//! * [`checks`]: arithmetic against test vectors, and a lint of the sources.
//! * [`mod@reference`]: the contract as Markdown, C header, SystemRDL and Wireshark dissector.
#![allow(
    missing_docs,
    reason = "rust-hdl's derives make undocumented accessors for every field of a signal type; the fields are documented"
)]

pub mod checks;
pub mod flows;
pub mod reference;
pub mod verilog;
