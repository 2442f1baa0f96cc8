//! Figures of the cycle-level card: exact cycles of its paths, and how fast the simulation itself runs.
//!
//! Cycles are properties of the hardware description and the same on every machine; tests assert them. Simulation
//! speed is a measurement of this machine, printed and never asserted.

use std::time::Instant;

use optireduce::protocol::HadamardMode;
use optireduce_contract::limits::{CYCLE_NS, PAYLOAD_BEATS_DEFAULT};
use optireduce_contract::packet::{STAGE_BROADCAST, STAGE_CONTRIBUTE, UbtHeader};
use optireduce_contract::queue::DONE_BROADCAST;
use optireduce_contract::shard::ShardMap;
use serde::Serialize;

use crate::card_bench::{CardBench, JOB_TAG};
use crate::cluster::{Cluster, ClusterConfig};
use crate::engine::Engine;
use crate::error::SimError;
use crate::input::Gradients;

/// What `optireduce-sim bench card` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CardFigures {
    /// Receive and reduce: cycles per payload beat, 1408-byte payloads of three senders, back to back.
    pub receive_cycles_per_beat: f64,
    /// Payload beats of that run.
    pub receive_beats: u64,
    /// From the doorbell of CONTRIBUTE to the last completion in host memory, 4 KiB window, two ranks, the peer's
    /// packets already in: cycles, host memory included ([`crate::rtl::READ_NS`], [`crate::rtl::ACK_NS`]).
    pub doorbell_to_completion_4kib_cycles: u64,
    /// The same with the Hadamard transform of 1024 elements.
    pub doorbell_to_completion_4kib_hadamard_cycles: u64,
    /// Speed of the simulation of whole cards, one engine after the other in one run.
    pub simulation_speed: Vec<SimulationSpeed>,
}

/// How fast an engine simulates whole cards on this machine: four of them, a thread each, with drivers, host libraries
/// and network, all-reduce the gradients, Hadamard-encoded. Not counted: building the cards and the engine's model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulationSpeed {
    /// The engine.
    pub engine: Engine,
    /// Why it could not be measured, if so; the numbers are 0 then.
    pub missing: Option<String>,
    /// Cycles simulated, over all cards.
    pub cycles: u64,
    /// Wall-clock time of that, in seconds.
    pub wall_s: f64,
    /// Simulated cycles per second, over all cards.
    pub cycles_per_s: f64,
}

/// Measures everything.
///
/// # Errors
/// What the card or the cluster says; a card that does not finish.
pub fn card_figures(gradients: &Gradients) -> Result<CardFigures, SimError> {
    let (receive_cycles, receive_beats) = receive_cycles()?;
    Ok(CardFigures {
        receive_cycles_per_beat: receive_cycles as f64 / receive_beats as f64,
        receive_beats,
        doorbell_to_completion_4kib_cycles: doorbell_to_completion_cycles(false)?,
        doorbell_to_completion_4kib_hadamard_cycles: doorbell_to_completion_cycles(true)?,
        simulation_speed: vec![
            simulation_speed(Engine::Rtl, gradients)?,
            simulation_speed(Engine::Verilator, gradients)?,
        ],
    })
}

/// Cycles from the first payload beat summed to the last, headers included, and how many beats that were: a window of
/// 1024 beats on four ranks, the contributions of the three peers interleaved packet by packet, without a gap.
///
/// # Errors
/// What the card says.
pub fn receive_cycles() -> Result<(u64, u64), SimError> {
    let (ranks, beats) = (4, 1024);
    let mut bench = CardBench::with_payload(Engine::Rtl, ranks, PAYLOAD_BEATS_DEFAULT)?;
    bench.submit(&[bench.arm(beats)]).map_err(SimError::Check)?;
    let own = ShardMap::new(beats, ranks, 0).range_of(0);
    let header = UbtHeader { stage: STAGE_CONTRIBUTE, job_tag: JOB_TAG, ..UbtHeader::default() };
    let mut frames = Vec::new();
    for first in own.clone().step_by(PAYLOAD_BEATS_DEFAULT) {
        let length = PAYLOAD_BEATS_DEFAULT.min(own.end - first);
        frames.extend((1..ranks).map(|sender| bench.packet(header, sender, first, length, sender as f32)));
    }
    bench.burst(frames);
    bench.run_us(10);
    let accepted = bench.accepted();
    let (Some(first), Some(last)) = (accepted.first(), accepted.last()) else {
        return Err(SimError::Check("the card accepted nothing".into()));
    };
    Ok(((last.at_ns - first.at_ns) / CYCLE_NS + 1, accepted.len() as u64))
}

/// Cycles from the doorbell of a contribution of 4 KiB to its last completion; see [`CardFigures`].
///
/// # Errors
/// What the card says; a completion that does not come within 100 us.
pub fn doorbell_to_completion_cycles(hadamard: bool) -> Result<u64, SimError> {
    let beats = 64;
    let mut bench = CardBench::with_payload(Engine::Rtl, 2, PAYLOAD_BEATS_DEFAULT)?;
    let mut arm = bench.arm(beats);
    if hadamard {
        arm.flags |= optireduce_contract::queue::FLAG_HADAMARD;
        (arm.log2_n, arm.log2_blocks) = (10, 0);
    }
    bench.submit(&[arm]).map_err(SimError::Check)?;
    let shards = ShardMap::new(beats, 2, 0);
    let flags = if hadamard { optireduce_contract::packet::FLAG_HADAMARD } else { 0 };
    for (stage, range) in [(STAGE_CONTRIBUTE, shards.range_of(0)), (STAGE_BROADCAST, shards.range_of(1))] {
        let header = UbtHeader { stage, flags, job_tag: JOB_TAG, ..UbtHeader::default() };
        let packets: Vec<_> = range
            .clone()
            .step_by(PAYLOAD_BEATS_DEFAULT)
            .map(|first| bench.packet(header, 1, first, PAYLOAD_BEATS_DEFAULT.min(range.end - first), 1.0))
            .collect();
        bench.inject(packets);
    }
    bench.run_us(1);
    let contribute = bench.contribute(beats);
    let driver = |error: optireduce_driver::DriverError| SimError::Check(error.to_string());
    bench.nic.submit(&contribute).map_err(driver)?;
    bench.nic.ring_doorbell().map_err(driver)?;
    let begin_ns = bench.now_ns();
    while bench.now_ns() < begin_ns + 100_000 {
        bench.run_ns(CYCLE_NS);
        if bench.completions().map_err(SimError::Check)?.iter().any(|done| done.opcode == DONE_BROADCAST) {
            return Ok((bench.now_ns() - begin_ns) / CYCLE_NS);
        }
    }
    Err(SimError::Check("no completion within 100 us of the doorbell".into()))
}

/// Measures one engine; see [`SimulationSpeed`].
///
/// # Errors
/// What the cluster says. An engine that cannot run here is none.
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

/// The figures as text, with what each of them means.
pub fn text(figures: &CardFigures) -> String {
    let us = |cycles: u64| (cycles * CYCLE_NS) as f64 / 1000.0;
    let mut text = format!(
        "receive and reduce        {:.3} cycles per payload beat ({} beats, 1408-byte payloads, 3 senders, no gaps)\n\
         doorbell to completion    {} cycles = {:.2} us (4 KiB, 2 ranks, peer's packets there, host memory {} ns)\n\
         .. Hadamard-encoded       {} cycles = {:.2} us (n = 1024)\n\
         simulation speed          whole cards: 4, a thread each, with drivers, host libraries and network, all-reduce\n",
        figures.receive_cycles_per_beat,
        figures.receive_beats,
        figures.doorbell_to_completion_4kib_cycles,
        us(figures.doorbell_to_completion_4kib_cycles),
        crate::rtl::READ_NS,
        figures.doorbell_to_completion_4kib_hadamard_cycles,
        us(figures.doorbell_to_completion_4kib_hadamard_cycles),
    );
    for SimulationSpeed { engine, missing, cycles, wall_s, cycles_per_s } in &figures.simulation_speed {
        let name = if *engine == Engine::Rtl { "rust-hdl engine" } else { "Verilator" };
        text += &match missing {
            Some(problem) => format!(".. {name:<22} not measured: {problem}\n"),
            None => format!(".. {name:<22} {cycles_per_s:.0} cycles/s ({cycles} cycles in {wall_s:.2} s)\n"),
        };
    }
    text
}
