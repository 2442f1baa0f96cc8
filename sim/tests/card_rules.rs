//! Engines against the rules of cards and packets, and buses against the rules of a bus.

#[cfg(feature = "serve")]
mod bus;
#[cfg(feature = "serve")]
mod served;

use optireduce_sim::Engine;
use optireduce_sim::check::card_rules::{CARD_RULES, PACKET_RULES, check};

#[test]
fn the_functional_card_obeys_every_rule() {
    check(Engine::Functional, &[PACKET_RULES, CARD_RULES]).unwrap_or_else(|broken| panic!("{broken}"));
}

#[test]
fn the_software_plane_obeys_every_rule_of_packets() {
    check(Engine::Software, &[PACKET_RULES]).unwrap_or_else(|broken| panic!("{broken}"));
}
