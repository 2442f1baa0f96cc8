//! What every block uses: rust-hdl's kernel language, its flip-flop, and this project's word types.
pub use crate::engine::{DFF, Wire};
pub use crate::ports::Ports;
pub use crate::word::{Beat, W, bit_cast_w, bits_beat, bits_w};
pub use crate::{clocked, evaluate_on_change};
pub use rust_hdl::core::prelude::*;
pub use rust_hdl::widgets::dff_setup;
