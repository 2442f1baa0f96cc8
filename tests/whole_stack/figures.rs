//! Cycle counts in `hw/README.md`, exact, so that any change must be explained.

use optireduce_sim::Engine;
use optireduce_sim::bench::all_reduce::all_reduce;
use optireduce_sim::bench::latency::latencies;
use optireduce_sim::bench::simulation_speed;
use optireduce_sim::bench::throughput::{Flow, throughput};
use optireduce_sim::input::{Gradients, SHIPPED, SHIPPED_NAME};

#[test]
fn the_receive_path_sums_a_beat_a_cycle_but_for_headers() {
    let row = throughput(22, 1).unwrap();
    // 3 windows of 2048 beats from the peer, in 94 packets each: a header before every packet but
    // the first.
    let expected = Flow { cycles: 6144 + 281, payload_beats: 6144, header_beats: 281 };
    assert_eq!(row.receive, expected);
    assert_eq!(row.both_receive, expected, "sending takes nothing from receiving");
}

#[test]
fn latencies_are_those_of_the_readme() {
    let latency = latencies().unwrap();
    assert_eq!((latency.parser, latency.adder, latency.window_close), (19, 6, 3));
    assert_eq!((latency.doorbell_to_first_frame, latency.last_frame_to_completion), (444, 255));
    assert_eq!((latency.doorbell_to_completion, latency.doorbell_to_completion_hadamard), (820, 1148));
}

#[test]
fn an_all_reduce_of_a_mebibyte_takes_as_long_as_the_readme_says() {
    let found = [2, 8].map(|ranks| all_reduce(Engine::Verilator, ranks).unwrap());
    let figures = found.map(|figure| (figure.cycles, figure.bound_cycles, figure.memory_bound_cycles));
    assert_eq!(figures, [(33500, 22282, 24576), (41500, 38993, 30720)]);
}

#[test]
fn the_speeds_of_the_engines_are_those_of_the_same_cycles() {
    let gradients = Gradients::from_bytes(SHIPPED_NAME, SHIPPED, None).unwrap();
    let [rtl, verilator] = [Engine::Rtl, Engine::Verilator].map(|engine| simulation_speed(engine, &gradients).unwrap());
    assert_eq!((rtl.cycles, &verilator.missing), (verilator.cycles, &None));
    assert!(rtl.cycles > 50_000 && verilator.cycles_per_s > 0.0, "{rtl:?} {verilator:?}");
}
