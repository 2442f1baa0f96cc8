//! Reset: a card disabled in any state and enabled again is in its power-on state.

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::{self, STAGE_BROADCAST, STAGE_CONTRIBUTE, UbtHeader};
use optireduce_contract::queue::{self, Completion, OP_BROADCAST, REPORT_BYTES, Submission};
use optireduce_contract::signs::splitmix64;
use optireduce_driver::{Counters, JobConfig};

use super::{equal, header};
use crate::card::Accept;
use crate::card::engine::Engine;
use crate::check::card_bench::{CardBench, PAYLOAD_BEATS, bench_job};

/// Rank 2 is paced, so that frames queue.
const RANKS: usize = 3;
/// One Hadamard block of 256 elements.
const BEATS: usize = 16;
/// Periodic units may be at another phase.
const SLACK_NS: u64 = 64;

/// Observations without times.
#[derive(Debug, PartialEq)]
struct Outcome {
    frames: Vec<Vec<u8>>,
    completions: Vec<Completion>,
    accepted: Vec<Accept>,
    counters: Counters,
    result: Vec<u8>,
    reports: Vec<u8>,
}

pub fn no_trace(engine: Engine) -> Result<(), String> {
    let fresh = &mut start(engine)?;
    let (expected, expected_ns) = known_job(fresh)?;
    for seed in 0..8 {
        let mut bench = start(engine)?;
        let what = disturb(&mut bench, seed)?;
        bench.restart()?;
        let (found, found_ns) = known_job(&mut bench)?;
        for (name, same) in [
            ("frames", found.frames == expected.frames),
            ("accepted beats", found.accepted == expected.accepted),
            ("results", found.result == expected.result),
            ("reports", found.reports == expected.reports),
        ] {
            equal(&format!("seed {seed}, {what}: same {name} as after power-on"), same, true)?;
        }
        equal(&format!("seed {seed}, {what}: completions"), found.completions, expected.completions.clone())?;
        equal(&format!("seed {seed}, {what}: counters"), found.counters, expected.counters)?;
        for (at, (found, expected)) in found_ns.iter().zip(&expected_ns).enumerate() {
            let near = found.abs_diff(*expected) <= SLACK_NS;
            equal(&format!("seed {seed}, {what}: time {at} is {found} ns, expected {expected}"), near, true)?;
        }
    }
    Ok(())
}

fn start(engine: Engine) -> Result<CardBench, String> {
    let job = JobConfig { rates_bytes_per_us: vec![0, 0, 50], ..bench_job(RANKS, PAYLOAD_BEATS) };
    let mut bench = CardBench::with_job(engine, job).map_err(|error| error.to_string())?;
    let gradient: Vec<f32> = (0..8 * BEATS * 16).map(|at| (at as f32 * 0.37).sin()).collect();
    bench.nic.write_f32(bench.gradient, 0, &gradient).map_err(|error| error.to_string())?;
    bench.run_us(50);
    Ok(bench)
}

/// Encoded in odd slots, bf16 in slots 2, 3, 6, 7.
fn window(bench: &CardBench, slot: u8) -> [Submission; 2] {
    let (cookie, base) = (u32::from(slot) + 1, u32::from(slot) * 4096);
    let hadamard = if slot & 1 == 1 { queue::FLAG_HADAMARD } else { 0 };
    let bf16 = if slot & 2 == 2 { queue::FLAG_BF16 } else { 0 };
    let arm = bench.arm(BEATS);
    let arm = Submission {
        slot,
        cookie,
        base,
        flags: arm.flags | hadamard | bf16,
        log2_n: 8,
        start_peers: 1,
        bound_ns: 60_000,
        send_incast: 1 + slot % 3,
        sign_key: splitmix64(slot.into()),
        host_address: bench.result.iova + u64::from(slot) * 4096,
        report_address: bench.reports.iova + u64::from(slot) * REPORT_BYTES as u64,
        ..arm
    };
    let gradient = bench.gradient.iova + (usize::from(slot) * BEATS * BEAT_BYTES) as u64;
    [arm, Submission { slot, cookie, host_address: gradient, ..bench.contribute(BEATS) }]
}

/// A whole contribution or mean.
fn packet(bench: &CardBench, slot: u8, stage: u8, sender: usize, value: f32) -> Vec<u8> {
    let shards = optireduce_contract::shard::ShardMap::new(BEATS, RANKS, 0);
    let shard = shards.range_of(if stage == STAGE_CONTRIBUTE { 0 } else { sender });
    let hadamard = if slot & 1 == 1 { packet::FLAG_HADAMARD } else { 0 };
    let bf16 = if slot & 2 == 2 { packet::FLAG_BF16 } else { 0 };
    let ubt = UbtHeader { flags: hadamard | bf16, ..header(stage) };
    let beats = if bf16 == 0 { shard.len() } else { shard.len().div_ceil(2) };
    bench.packet(ubt, sender, usize::from(slot) * 64 + shard.start, beats, value)
}

/// Runs random windows, packets and commands until a random time.
fn disturb(bench: &mut CardBench, seed: u64) -> Result<String, String> {
    let mut draws = 0;
    let mut draw = |below: u64| {
        draws += 1;
        splitmix64(seed << 32 | draws) % below
    };
    let mut commands = Vec::new();
    for _ in 0..3 + draw(3) {
        let slot = draw(8) as u8;
        let [arm, contribute] = window(bench, slot);
        commands.push(arm);
        if draw(4) > 0 {
            commands.push(contribute);
        }
        if draw(4) == 0 {
            commands.push(Submission { opcode: OP_BROADCAST, slot, cookie: 1, ..Submission::default() });
        }
    }
    // Occasionally an inaccessible address.
    if draw(3) == 0 {
        commands[0].host_address = 0x1000;
    }
    for command in &commands {
        bench.nic.submit(command).map_err(|error| error.to_string())?;
    }
    bench.nic.ring_doorbell().map_err(|error| error.to_string())?;
    bench.run_ns(4 * draw(1500));
    let stages = [STAGE_CONTRIBUTE, STAGE_BROADCAST];
    let frames: Vec<_> = (0..draw(30))
        .map(|_| packet(bench, draw(8) as u8, stages[draw(2) as usize], 1 + draw(2) as usize, draw(9) as f32))
        .collect();
    bench.burst(frames);
    // From the first fetch until after the bounds.
    let most = [500, 3000, 30_000][draw(3) as usize];
    let ns = 4 * draw(most);
    bench.run_ns(ns);
    Ok(format!("{} commands, disabled after {ns} ns", commands.len()))
}

/// Runs windows of all formats with a duplicate, a stray packet and a reached bound.
fn known_job(bench: &mut CardBench) -> Result<(Outcome, Vec<u64>), String> {
    let begin_ns = bench.now_ns();
    let failed = |error: optireduce_driver::DriverError| error.to_string();
    bench.nic.write_bytes(bench.result, 0, &[0; 4 * 4096]).map_err(failed)?;
    bench.nic.write_bytes(bench.reports, 0, &[0; 4 * REPORT_BYTES]).map_err(failed)?;
    let commands: Vec<_> = (0..4).flat_map(|slot| window(bench, slot)).collect();
    bench.submit(&commands)?;
    for slot in 0..4 {
        // Rank 2's contribution to window 3 and its mean of window 0 are missing.
        let of = |stage, sender| packet(bench, slot, stage, sender, (1 + sender) as f32);
        let mut frames = vec![of(STAGE_CONTRIBUTE, 1), of(STAGE_BROADCAST, 1), of(STAGE_CONTRIBUTE, 1)];
        frames.extend((slot != 3).then(|| of(STAGE_CONTRIBUTE, 2)));
        frames.extend((slot != 0).then(|| of(STAGE_BROADCAST, 2)));
        bench.inject(frames);
    }
    bench.inject([bench.packet(header(STAGE_CONTRIBUTE), 1, 2000, 1, 1.0)]);
    bench.run_us(200);
    let sent = std::mem::take(&mut bench.sent);
    let mut times: Vec<u64> = sent.iter().map(|departure| departure.at_ns - begin_ns).collect();
    let mut completions = bench.completions()?;
    for done in &mut completions {
        times.extend([done.elapsed_ns, done.closed_ns - begin_ns]);
        (done.elapsed_ns, done.closed_ns) = (0, 0);
    }
    equal("completions of the known job", completions.len(), 8)?;
    let mut accepted = bench.accepted();
    for accept in &mut accepted {
        times.push(accept.at_ns - begin_ns);
        accept.at_ns = 0;
    }
    let (mut result, mut reports) = (vec![0; 4 * 4096], vec![0; 4 * REPORT_BYTES]);
    bench.nic.read_bytes(bench.result, 0, &mut result).map_err(failed)?;
    bench.nic.read_bytes(bench.reports, 0, &mut reports).map_err(failed)?;
    let frames = sent.into_iter().map(|departure| departure.frame).collect();
    Ok((Outcome { frames, completions, accepted, counters: bench.counters()?, result, reports }, times))
}
