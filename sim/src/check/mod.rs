//! Independent checks of the cards and the host library.
//!
//! * [`oracle`]: computes expected results.
//! * [`scenario`]: runs whole jobs against the oracle.
//! * [`card_rules`]: runs one card alone on [`card_bench`].
//! * [`bus`]: rules of a bus, for every kind of card.

pub mod bus;
pub mod card_bench;
pub mod card_rules;
pub mod oracle;
pub mod scenario;
