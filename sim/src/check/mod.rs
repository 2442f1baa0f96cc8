//! Checks that lean on no code of what they check: an oracle, and rules that hold for every engine.
//!
//! [`oracle`] calculates what must come out, [`scenario`] runs whole jobs against it, [`card_rules`] runs one card alone on
//! [`card_bench`]; [`bus`] holds every way to a card to the rules of a bus.

pub mod bus;
pub mod card_bench;
pub mod card_rules;
pub mod oracle;
pub mod scenario;
