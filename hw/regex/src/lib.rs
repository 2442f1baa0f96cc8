//! `regex-lite` under the name of `regex`. Both accept rust-hdl's expressions.
pub use regex_lite::*;
