//! Imports of every block: rust-hdl's kernel language and this project's types and macros.
pub use crate::hdl::engine::{DFF, Wire};
pub use crate::hdl::ports::Ports;
pub use crate::hdl::signal::Signal;
pub use crate::hdl::word::{Beat, W, bit_cast_w, bits_beat, bits_w};
pub use crate::{clocked, dff_setup, evaluate_on_change};
pub use optireduce_hw_derive::{LogicBlock, LogicStruct, hdl_gen, sections};
pub use rust_hdl_core::prelude::*;
