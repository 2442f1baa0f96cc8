//! Whole-stack tests in one program, which links the card once and runs long tests in parallel.

mod card_rules;
mod collectives;
mod figures;
mod formats;
mod numerics;
mod payloads;
mod verilator;
