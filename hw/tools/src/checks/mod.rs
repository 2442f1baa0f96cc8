//! Checks that need no EDA tool: arithmetic against vectors, and expressions that rust-hdl would print with another meaning.

pub mod lint;
pub mod testfloat;
