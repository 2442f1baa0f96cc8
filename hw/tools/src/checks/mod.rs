//! Checks that need no EDA tool: arithmetic against vectors, and what rust-hdl would print as something else.

pub mod lint;
pub mod testfloat;
