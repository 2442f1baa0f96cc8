//! The cycle-level card alone, against every rule of the card: the same rules that the functional card obeys.

use optireduce_sim::card_rules::RULES;
use optireduce_sim::engine::Engine;

#[test]
fn the_cycle_level_card_obeys_every_rule() {
    let broken: Vec<String> =
        RULES.iter().filter_map(|(name, rule)| rule(Engine::Rtl).err().map(|what| format!("{name}: {what}"))).collect();
    assert!(broken.is_empty(), "{} of {} rules are broken:\n{}", broken.len(), RULES.len(), broken.join("\n"));
}
