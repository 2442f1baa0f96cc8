//! Runs of open EDA tools on the emitted Verilog. All of them go through [`eda`], which keeps results.

pub mod bitstream;
pub mod eda;
pub mod prove;
pub mod report;
