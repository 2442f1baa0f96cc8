//! The whole card, judged on the Verilog it emits: everything a card's ports saw in whole collectives, from power-on
//! through configuration to the last completion, is replayed on the Verilated card, every output of every cycle.

use optireduce::protocol::HadamardMode;
use optireduce_sim::cluster::{Cluster, ClusterConfig};
use optireduce_sim::engine::Engine::RtlRecorded;
use optireduce_sim::network::Weather;
use optireduce_sim::scenario::Scenario;

/// Two ranks, losses, duplicates and reordering, encoded and not: rank 0's card.
#[test]
fn the_emitted_card_does_cycle_by_cycle_what_the_engine_does() {
    let mut cycles = 0;
    for hadamard in [HadamardMode::Off, HadamardMode::On] {
        let mut config = ClusterConfig::new(RtlRecorded, 2);
        config.weather = Weather { seed: 5, loss: 0.05, duplicate: 0.1, hold: 0.1, ..Weather::default() };
        (config.hadamard, config.bound_ns, config.grace_ns) = (hadamard, 60_000, Some(5_000));
        let scenario = Scenario { config: config.clone(), elements: 3000, steps: 2 };
        let mut cluster = Cluster::new(config).unwrap();
        for step in 0..scenario.steps {
            cluster.step(&scenario.gradients(step), |_| ()).unwrap();
        }
        cycles += cluster.replay_on_verilator(0, "smartnic").unwrap();
    }
    assert!(cycles > 5000, "only {cycles} cycles were replayed");
}

#[test]
fn a_card_without_a_recording_says_so() {
    let mut cluster = Cluster::new(ClusterConfig::new(optireduce_sim::engine::Engine::Functional, 2)).unwrap();
    assert!(cluster.replay_on_verilator(0, "smartnic").unwrap_err().contains("no recording"));
}
