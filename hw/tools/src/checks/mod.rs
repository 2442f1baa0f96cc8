//! Checks without EDA tools: arithmetic against vectors, and a lint of the sources.

pub mod lint;
pub mod testfloat;
