//! Cycle counts of the card that the README gives: exact, so a change in either direction is a change to explain.

use optireduce_sim::bench::{doorbell_to_completion_cycles, receive_cycles, simulation_speed};
use optireduce_sim::engine::Engine;
use optireduce_sim::input::{Gradients, SHIPPED, SHIPPED_NAME};

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

#[test]
fn the_speeds_of_the_engines_are_those_of_the_same_cycles() {
    let gradients = Gradients::from_bytes(SHIPPED_NAME, SHIPPED, None).unwrap();
    let [rtl, verilator] = [Engine::Rtl, Engine::Verilator].map(|engine| simulation_speed(engine, &gradients).unwrap());
    assert_eq!((rtl.cycles, &verilator.missing), (verilator.cycles, &None));
    assert!(rtl.cycles > 50_000 && verilator.cycles_per_s > 0.0, "{rtl:?} {verilator:?}");
}
