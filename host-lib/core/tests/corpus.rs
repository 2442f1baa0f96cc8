//! Replays the corpus of the fuzzers in `tests/fuzz`.

#[path = "../../../tests/fuzz/play/corpus.rs"]
mod corpus;
#[path = "../../../tests/fuzz/play/messages.rs"]
mod messages;
#[path = "../../../tests/fuzz/play/peers.rs"]
mod peers;

#[test]
fn a_rank_survives_whatever_the_fuzzer_found() {
    corpus::replay("peers", peers::play);
}

#[test]
fn the_membership_keeps_its_rules_whatever_its_peers_say() {
    corpus::replay("messages", messages::play);
}
