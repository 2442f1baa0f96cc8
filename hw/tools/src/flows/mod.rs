//! Runs of open EDA tools on the emitted Verilog.

pub mod bitstream;
pub mod eda;
pub mod passed;
pub mod prove;
pub mod report;
