//! The cycle-level card alone, against the rules of the functional card.

use optireduce_sim::Engine;
use optireduce_sim::check::card_rules::{CARD_RULES, PACKET_RULES, check};

#[test]
fn the_cycle_level_card_obeys_every_rule() {
    check(Engine::Rtl, &[PACKET_RULES, CARD_RULES]).unwrap_or_else(|broken| panic!("{broken}"));
}
