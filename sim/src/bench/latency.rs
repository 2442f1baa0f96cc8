//! Latencies of the card's paths in cycles.
//!
//! Method: one cycle-level card, rank 0 of two, with a window of 4 KiB in packets of 1408 bytes.
//! Host memory answers reads after [`crate::card::rtl::READ_NS`] and acknowledges writes after
//! [`crate::card::rtl::ACK_NS`]. A frame arrives with its last byte on the wire; the card then
//! reads one beat per cycle.

use optireduce_contract::limits::{CYCLE_NS, PAYLOAD_BEATS_DEFAULT};
use optireduce_contract::packet::{STAGE_BROADCAST, STAGE_CONTRIBUTE, UbtHeader};
use optireduce_contract::queue::{DONE_BROADCAST, DONE_CONTRIBUTE, FLAG_HADAMARD};
use optireduce_contract::shard::ShardMap;
use optireduce_hw::arith::fp_add;
use optireduce_hw::hadamard;
use serde::Serialize;

use crate::card::engine::Engine;
use crate::check::card_bench::{CardBench, JOB_TAG};
use crate::error::SimError;

const BEATS: usize = 64;

/// Latencies in cycles; see the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Latencies {
    /// From a frame's last beat at the card to its first payload beat summed.
    pub parser: u64,
    /// fp32 adder.
    pub adder: u64,
    /// From the last contribution summed to the close of the stage.
    pub window_close: u64,
    /// From a block's last beat in to its first beat out: (log2 of the elements, cycles).
    pub hadamard: Vec<(u32, u64)>,
    /// From the doorbell of CONTRIBUTE to the last beat of the first frame, with two reads of host
    /// memory.
    pub doorbell_to_first_frame: u64,
    /// From the last beat received to the completion in host memory.
    pub last_frame_to_completion: u64,
    /// From the doorbell of CONTRIBUTE to the last completion, after the peer's packets.
    pub doorbell_to_completion: u64,
    /// The same with a Hadamard transform of 1024 elements.
    pub doorbell_to_completion_hadamard: u64,
}

/// Measures all latencies.
///
/// # Errors
/// An error of the card, or a timeout of 100 us.
pub fn latencies() -> Result<Latencies, SimError> {
    let (parser, window_close) = parser_and_close()?;
    Ok(Latencies {
        parser,
        adder: fp_add::LATENCY as u64,
        window_close,
        hadamard: [8, 10, 12, 14].map(|log2n| (log2n, hadamard::latency_cycles(log2n))).to_vec(),
        doorbell_to_first_frame: doorbell_to_first_frame()?,
        last_frame_to_completion: last_frame_to_completion()?,
        doorbell_to_completion: doorbell_to_completion(false)?,
        doorbell_to_completion_hadamard: doorbell_to_completion(true)?,
    })
}

fn armed(hadamard: bool) -> Result<CardBench, SimError> {
    let mut bench = CardBench::with_payload(Engine::Rtl, 2, PAYLOAD_BEATS_DEFAULT)?;
    let mut arm = bench.arm(BEATS);
    if hadamard {
        arm.flags |= FLAG_HADAMARD;
        (arm.log2_n, arm.log2_blocks) = (10, 0);
    }
    bench.submit(&[arm]).map_err(SimError::Check)?;
    Ok(bench)
}

fn packets(bench: &CardBench, stage: u8, hadamard: bool) -> Vec<Vec<u8>> {
    let flags = if hadamard { optireduce_contract::packet::FLAG_HADAMARD } else { 0 };
    let header = UbtHeader { stage, flags, job_tag: JOB_TAG, ..UbtHeader::default() };
    let range = ShardMap::new(BEATS, 2, 0).range_of(if stage == STAGE_CONTRIBUTE { 0 } else { 1 });
    let length = |first: usize| PAYLOAD_BEATS_DEFAULT.min(range.end - first);
    let starts = range.clone().step_by(PAYLOAD_BEATS_DEFAULT);
    starts.map(|first| bench.packet(header, 1, first, length(first), 1.0)).collect()
}

fn contribute(bench: &mut CardBench) -> Result<(), SimError> {
    let driver = |error: optireduce_driver::DriverError| SimError::Check(error.to_string());
    let command = bench.contribute(BEATS);
    bench.nic.submit(&command).map_err(driver)?;
    bench.nic.ring_doorbell().map_err(driver)
}

const LIMIT_CYCLES: u64 = 25_000;

fn parser_and_close() -> Result<(u64, u64), SimError> {
    let mut bench = armed(false)?;
    contribute(&mut bench)?;
    bench.run_us(10);
    bench.accepted();
    let packets = packets(&bench, STAGE_CONTRIBUTE, false);
    let last_beat_ns = bench.now_ns() + CYCLE_NS * (packets[0].len() as u64 / 64 - 1);
    bench.burst(packets);
    let mut closed_ns = 0;
    bench
        .cycles_until(LIMIT_CYCLES, |_, done| {
            let close = done.iter().find(|done| done.opcode == DONE_CONTRIBUTE);
            closed_ns = close.map_or(0, |done| done.closed_ns);
            close.is_some()
        })
        .map_err(SimError::Check)?;
    let accepted = bench.accepted();
    let (Some(first), Some(last)) = (accepted.first(), accepted.last()) else {
        return Err(SimError::Check("the card accepted no beat".into()));
    };
    Ok(((first.at_ns - last_beat_ns) / CYCLE_NS, (closed_ns - last.at_ns) / CYCLE_NS))
}

fn doorbell_to_first_frame() -> Result<u64, SimError> {
    let mut bench = armed(false)?;
    contribute(&mut bench)?;
    bench.cycles_until(LIMIT_CYCLES, |bench, _| !bench.sent.is_empty()).map_err(SimError::Check)
}

fn last_frame_to_completion() -> Result<u64, SimError> {
    let mut bench = armed(false)?;
    contribute(&mut bench)?;
    bench.inject(packets(&bench, STAGE_CONTRIBUTE, false));
    bench.run_us(10);
    let mut means = packets(&bench, STAGE_BROADCAST, false);
    let last = means.pop();
    bench.inject(means);
    bench.completions().map_err(SimError::Check)?;
    let beats = last.as_ref().map_or(0, |frame| frame.len() as u64 / 64);
    bench.burst(last);
    let cycles = bench.cycles_until(LIMIT_CYCLES, |_, done| done.iter().any(|done| done.opcode == DONE_BROADCAST));
    Ok(cycles.map_err(SimError::Check)? - beats)
}

/// Returns the cycles from a doorbell to the last completion; see [`Latencies`].
///
/// # Errors
/// An error of the card, or a timeout of 100 us.
pub fn doorbell_to_completion(hadamard: bool) -> Result<u64, SimError> {
    let mut bench = armed(hadamard)?;
    for stage in [STAGE_CONTRIBUTE, STAGE_BROADCAST] {
        bench.inject(packets(&bench, stage, hadamard));
    }
    bench.run_us(1);
    contribute(&mut bench)?;
    let done = |_: &CardBench, done: &[optireduce_contract::queue::Completion]| {
        done.iter().any(|done| done.opcode == DONE_BROADCAST)
    };
    bench.cycles_until(LIMIT_CYCLES, done).map_err(SimError::Check)
}
