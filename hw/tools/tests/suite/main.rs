//! Tests of the tools, in one program so that the card is linked only once.

mod boards;
mod command;
mod conversion_vectors;
mod elaborate;
mod fp_vectors;
mod lint;
mod rtl;
mod vivado;
