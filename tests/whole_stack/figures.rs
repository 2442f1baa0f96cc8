//! Cycle counts of the card that the README gives: exact, so a change in either direction is a change to explain.

use optireduce_sim::bench::{doorbell_to_completion_cycles, receive_cycles};

#[test]
fn the_receive_path_sums_a_beat_a_cycle_but_for_headers() {
    // 768 payload beats in 36 packets: 35 more headers between the first payload beat and the last.
    assert_eq!(receive_cycles().unwrap(), (768 + 35, 768));
}

#[test]
fn doorbell_to_completion_takes_as_long_as_the_readme_says() {
    assert_eq!(doorbell_to_completion_cycles(false).unwrap(), 864);
    assert_eq!(doorbell_to_completion_cycles(true).unwrap(), 1167);
}
