//! Figures of the cycle-level card: exact cycles of its paths, and the speed of the simulation.
//!
//! Cycles are properties of the hardware description, equal on every machine. Simulation speed
//! depends on the machine.

pub mod all_reduce;
pub mod doorbell;
pub mod latency;
pub mod throughput;

use std::fmt::Write as _;
use std::time::Instant;

use optireduce_contract::limits::CYCLE_NS;
use optireduce_core::protocol::HadamardMode;
use serde::Serialize;

use crate::card::engine::Engine;
use crate::cluster::{Cluster, ClusterConfig};
use crate::error::SimError;
use crate::input::Gradients;
use all_reduce::AllReduce;
use latency::Latencies;
use throughput::{Flow, Throughput};

/// Output of `optireduce-sim bench card`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)] // described above
pub struct CardFigures {
    pub throughput: Vec<Throughput>,
    pub latency_cycles: Latencies,
    pub all_reduce: Vec<AllReduce>,
    pub simulation_speed: Vec<SimulationSpeed>,
}

/// Speed of an engine: four cards with drivers, host libraries and network all-reduce
/// Hadamard-encoded gradients. Building the cards is excluded.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)] // described above
pub struct SimulationSpeed {
    pub engine: Engine,
    /// Reason if the engine could not be measured; all numbers are 0 then.
    pub missing: Option<String>,
    /// All cards together.
    pub cycles: u64,
    pub wall_s: f64,
    pub cycles_per_s: f64,
}

/// Measures everything. `progress` receives the name of each measurement.
///
/// # Errors
/// An error of the card or the cluster, or a timeout.
pub fn card_figures(gradients: &Gradients, mut progress: impl FnMut(&str)) -> Result<CardFigures, SimError> {
    let mut throughput = Vec::new();
    for payload_beats in throughput::PAYLOADS_BEATS {
        for peers in throughput::PEERS {
            progress(&format!("throughput, {} bytes, {peers} peers", payload_beats * 64));
            throughput.push(throughput::throughput(payload_beats, peers)?);
        }
    }
    progress("latencies");
    let latency_cycles = latency::latencies()?;
    let mut all_reduce = Vec::new();
    for ranks in [2, 4, 8] {
        progress(&format!("all-reduce of 1 MiB, {ranks} ranks"));
        all_reduce.push(all_reduce::all_reduce(Engine::Rtl, ranks)?);
    }
    let mut speed = |engine| {
        progress(&format!("simulation speed, {engine}"));
        simulation_speed(engine, gradients)
    };
    let simulation_speed = vec![speed(Engine::Rtl)?, speed(Engine::Verilator)?];
    Ok(CardFigures { throughput, latency_cycles, all_reduce, simulation_speed })
}

/// Measures one engine; [`SimulationSpeed::missing`] if it is unavailable.
///
/// # Errors
/// An error of the cluster.
pub fn simulation_speed(engine: Engine, gradients: &Gradients) -> Result<SimulationSpeed, SimError> {
    let nothing = SimulationSpeed { engine, missing: None, cycles: 0, wall_s: 0.0, cycles_per_s: 0.0 };
    let mut config = ClusterConfig::new(engine, gradients.ranks());
    config.hadamard = HadamardMode::On;
    let mut cluster = match Cluster::new(config) {
        Err(SimError::Engine { problem, .. }) => return Ok(SimulationSpeed { missing: Some(problem), ..nothing }),
        cluster => cluster?,
    };
    let (started, mut cycles) = (Instant::now(), 0);
    for step in &gradients.steps {
        cycles += cluster.step(step, |_| ())?.cycles;
    }
    let wall_s = started.elapsed().as_secs_f64();
    Ok(SimulationSpeed { cycles, wall_s, cycles_per_s: cycles as f64 / wall_s, ..nothing })
}

/// Formats the figures.
pub fn text(figures: &CardFigures) -> String {
    let mut text = String::from(
        "Cycles per payload beat, headers included (goal: at most 1.30), and in brackets payload beats per cycle that\n\
         no header takes (goal: 1.00). The card alone, its MAC moves a beat a cycle; encoded with n = 4096.\n\n\
         payload  peers   receive+reduce     encode+send   both: receive      both: send\n",
    );
    let flow = |flow: &Flow| format!("{:.3} ({:.3})", flow.cycles_per_beat(), flow.beats_per_payload_cycle());
    for row in &figures.throughput {
        let flows = [&row.receive, &row.send, &row.both_receive, &row.both_send].map(flow);
        let [receive, send, both_receive, both_send] = flows;
        let (bytes, peers) = (row.payload_bytes, row.peers);
        let _ = writeln!(text, "{bytes:>5} B {peers:>6} {receive:>16}{send:>16}{both_receive:>16}{both_send:>16}");
    }
    let latency = &figures.latency_cycles;
    let (read_ns, ack_ns) = (crate::card::rtl::READ_NS, crate::card::rtl::ACK_NS);
    let _ =
        writeln!(text, "\nLatency, 4 KiB window, 2 ranks, host memory reads {read_ns} ns, acknowledges {ack_ns} ns\n");
    let mut line = |name: &str, cycles: u64| {
        let _ = writeln!(text, "{name:<56}{cycles:>6} cycles {:>7.3} us", (cycles * CYCLE_NS) as f64 / 1000.0);
    };
    line("parser: last beat of a frame in to first beat summed", latency.parser);
    line("fp32 adder", latency.adder);
    line("window close: last beat summed to stage closed", latency.window_close);
    for (log2n, cycles) in &latency.hadamard {
        line(&format!("Hadamard engine, n = {}: last beat in to first out", 1 << log2n), *cycles);
    }
    line("doorbell to first frame out", latency.doorbell_to_first_frame);
    line("last frame in to completion", latency.last_frame_to_completion);
    line("doorbell to completion, peer's packets already in", latency.doorbell_to_completion);
    line(".. Hadamard-encoded, n = 1024", latency.doorbell_to_completion_hadamard);
    text += "\nAll-reduce of 1 MiB, 100 Gb/s wire, 1408-byte payloads, delay 1 us, against 2(N-1)/N bytes / goodput (goal: 1.10x)\n\n";
    for row in &figures.all_reduce {
        let AllReduce { ranks, cycles, bound_cycles: wire, memory_bound_cycles: memory, .. } = *row;
        let ratio = row.ratio();
        let _ =
            writeln!(text, "{ranks} ranks {cycles:>8} cycles, bound {wire:>6}: {ratio:.2}x; gather memory's {memory}");
    }
    text +=
        "\nSimulation speed: 4 whole cards, a thread each, with drivers, host libraries and network, all-reduce\n\n";
    for SimulationSpeed { engine, missing, cycles, wall_s, cycles_per_s } in &figures.simulation_speed {
        let name = if *engine == Engine::Rtl { "rust-hdl engine" } else { "Verilator" };
        let _ = match missing {
            Some(problem) => writeln!(text, "{name:<16} not measured: {problem}"),
            None => writeln!(text, "{name:<16}{cycles_per_s:>10.0} cycles/s ({cycles} cycles in {wall_s:.2} s)"),
        };
    }
    text
}
