//! The whole-stack tests, in one program: the card is linked once, and the long tests of one file run beside those of another.

mod card_rules;
mod collectives;
mod figures;
mod formats;
mod numerics;
mod payloads;
mod verilator;
