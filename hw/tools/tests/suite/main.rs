//! The tests of the tools and of what they print, in one program: the card is linked once, and the long tests of one file run
//! beside those of another.

mod boards;
mod command;
mod conversion_vectors;
mod elaborate;
mod fp_vectors;
mod lint;
mod rtl;
mod vivado;
