//! Rules of packet contents and timing: bf16, rounds, rates, and packets of earlier steps.

use optireduce_contract::limits::CYCLE_NS;
use optireduce_contract::packet::{
    FLAG_BF16, FLAG_HADAMARD, FLAG_LAST_PERCENTILE, STAGE_BROADCAST, STAGE_CONTRIBUTE, UbtHeader,
};
use optireduce_contract::queue::{
    self, CLOSED_COMPLETE, DONE_BROADCAST, DONE_CONTRIBUTE, OP_BROADCAST, STATUS_OK, Submission,
};
use optireduce_driver::JobConfig;
use optireduce_hw::arith::bf16;

use super::{bench, destination, equal, header, outcomes, ubt_of};
use crate::card::engine::Engine;
use crate::check::card_bench::{CardBench, PAYLOAD_BEATS, bench_job};
use crate::wire::WIRE_OVERHEAD_BYTES;

/// Capacity of a token bucket beyond one frame, as time at the peer's rate.
const BUCKET_NS: u64 = 512;
/// Queueing between the pacer and the wire.
const JITTER_NS: u64 = 1000;

fn arm_bf16(bench: &CardBench, beats: usize) -> Submission {
    let arm = bench.arm(beats);
    Submission { flags: arm.flags | queue::FLAG_BF16, ..arm }
}

fn widened(payload: &[u8]) -> Vec<u32> {
    payload.chunks_exact(2).map(|half| u32::from(u16::from_le_bytes([half[0], half[1]])) << 16).collect()
}

/// The values must not need rounding.
fn narrowed(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(|x| ((x.to_bits() >> 16) as u16).to_le_bytes()).collect()
}

pub fn bf16_sent(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 3)?;
    // 31 beats on three ranks are shards of 11, 10 and 10. Each packet holds up to 8 window beats
    // in 4 payload beats.
    let bits = |at: usize| 0x3f80_0000 + (at as u32).wrapping_mul(0x9e37_79b9) % 0x0100_0000;
    let gradient: Vec<f32> = (0..31 * 16).map(|at| f32::from_bits(bits(at))).collect();
    bench.nic.write_f32(bench.gradient, 0, &gradient).map_err(|error| error.to_string())?;
    bench.submit(&[arm_bf16(&bench, 31), bench.contribute(31)])?;
    let mut found = Vec::new();
    for departure in &bench.sent {
        let (ubt, payload) = ubt_of(&departure.frame)?;
        let first = ubt.offset as usize / 64 * 16;
        let values = widened(payload);
        for (lane, value) in values.iter().enumerate() {
            equal(&format!("value {lane} at offset {}", ubt.offset), *value, bf16::round(bits(first + lane)))?;
        }
        found.push((destination(&departure.frame), ubt.offset / 64, payload.len() / 64, ubt.flags));
    }
    let (bf16, last) = (FLAG_BF16, FLAG_BF16 | FLAG_LAST_PERCENTILE);
    let expected = vec![(1, 11, 4, bf16), (1, 19, 1, last), (2, 21, 4, bf16), (2, 29, 1, last)];
    equal("peer, first beat, beats of payload, flags", found, expected)?;

    // Odd shards of 3 beats: half of the last payload beat is zero.
    bench.restart()?;
    bench.submit(&[arm_bf16(&bench, 9), bench.contribute(9)])?;
    for departure in &bench.sent {
        let (ubt, payload) = ubt_of(&departure.frame)?;
        equal("beats of payload", payload.len(), 128)?;
        equal("the half beat behind the shard", widened(&payload[96..]), vec![0; 16])?;
        let first = ubt.offset as usize / 64 * 16;
        equal("the last value of the shard", widened(payload)[47], bf16::round(bits(first + 47)))?;
    }
    equal("frames", bench.sent.len(), 2)
}

pub fn bf16_received(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    // Shards of three beats. 1 + 2^-8 rounds to 1 (even), 1 + 3 * 2^-8 to 1 + 2^-6.
    let local = |at: usize| 1.0 + (1 + 2 * (at % 2)) as f32 / 256.0;
    let gradient: Vec<f32> = (0..6 * 16).map(local).collect();
    bench.nic.write_f32(bench.gradient, 0, &gradient).map_err(|error| error.to_string())?;
    bench.submit(&[arm_bf16(&bench, 6)])?;
    let packet = |stage, first: u32, values: &[f32]| {
        let ubt = UbtHeader { sender: 1, offset: 64 * first, flags: FLAG_BF16, ..header(stage) };
        let mut frame = bench.frame(ubt, 1, values.len() * 2, 0.0);
        let at = frame.len() - values.len() * 2;
        frame[at..].copy_from_slice(&narrowed(values.iter().copied()));
        frame
    };
    // Three beats, and padding that is not zero and must be ignored.
    let contribution: Vec<f32> = (0..4 * 16).map(|at| if at < 48 { (1 + at) as f32 } else { 99.0 }).collect();
    let plain = bench.packet(header(STAGE_CONTRIBUTE), 1, 0, 3, 5.0);
    let hadamard = UbtHeader { flags: FLAG_BF16 | FLAG_HADAMARD, ..header(STAGE_CONTRIBUTE) };
    let encoded = bench.packet(hadamard, 1, 0, 1, 5.0);
    let too_long = packet(STAGE_CONTRIBUTE, 1, &contribution);
    let beyond = packet(STAGE_CONTRIBUTE, 3, &contribution[..32]);
    let good = packet(STAGE_CONTRIBUTE, 0, &contribution);
    let mean = packet(STAGE_BROADCAST, 3, &[vec![7.5; 48], vec![99.0; 16]].concat());
    bench.inject([plain, encoded, too_long, beyond]);
    let counters = bench.counters()?;
    equal("dropped by flags and shard", (counters.drop_flags, counters.drop_out_of_shard), (2, 2))?;
    equal("beats accepted", bench.accepted().len(), 0)?;
    bench.inject([good.clone(), good]);
    equal("beats accepted", bench.accepted().len(), 3)?;
    equal("duplicate beats", bench.counters()?.drop_duplicate_beats, 3)?;
    bench.inject([mean]);
    bench.submit(&[bench.contribute(6)])?;
    let done = bench.completions()?;
    equal("completions", outcomes(&done), vec![(DONE_CONTRIBUTE, 1, STATUS_OK), (DONE_BROADCAST, 1, STATUS_OK)])?;
    equal("closed by", [done[0].closed_by, done[1].closed_by], [CLOSED_COMPLETE; 2])?;
    equal("beats received", [done[0].received_beats, done[1].received_beats], [3, 3])?;
    let mut result = vec![0.0; 6 * 16];
    bench.nic.read_f32(bench.result, 0, &mut result).map_err(|error| error.to_string())?;
    let rounded = |at: usize| if at.is_multiple_of(2) { 1.0 } else { 1.0 + 1.0 / 64.0 };
    let expected = |at: usize| {
        let mean = (rounded(at) + (1 + at) as f32) / 2.0;
        if at < 48 { f32::from_bits(bf16::round(mean.to_bits())) } else { 7.5 }
    };
    equal("result", result.clone(), (0..6 * 16).map(expected).collect())?;
    // The sent mean has the same bits. It may overtake the contribution.
    let sent = bench.sent.iter().map(|departure| ubt_of(&departure.frame)).collect::<Result<Vec<_>, _>>()?;
    let mean = sent.iter().find(|(ubt, _)| ubt.stage == STAGE_BROADCAST);
    let &(ubt, payload) = mean.ok_or(format!("{} frames sent, none of them a mean", sent.len()))?;
    equal("frames sent, and the flags of the mean", (sent.len(), ubt.flags), (2, FLAG_BF16 | FLAG_LAST_PERCENTILE))?;
    let sent: Vec<u32> = widened(payload);
    equal("mean on the wire", &sent[..48], &result[..48].iter().map(|x| x.to_bits()).collect::<Vec<_>>()[..])
}

pub fn rounds(engine: Engine) -> Result<(), String> {
    // On 8 ranks, 60 beats are shards of 8 and 7 in two packets each, 12 beats shards of 2 and 1 in
    // one packet. With 5 beats three shards are empty.
    for (incast, beats) in [(0, 60), (1, 60), (2, 60), (3, 60), (4, 60), (15, 60), (2, 12), (4, 5)] {
        let mut bench = bench(engine, 8)?;
        let arm = Submission { send_incast: incast, ..bench.arm(beats) };
        bench.submit(&[arm, Submission { incast: 9, ..bench.contribute(beats) }])?;
        let shards = optireduce_contract::shard::ShardMap::new(beats, 8, 0);
        let mut expected = Vec::new();
        for round in (1..8).collect::<Vec<usize>>().chunks(usize::from(incast.max(1))) {
            for first in [0, PAYLOAD_BEATS] {
                for peer in round.iter().filter(|peer| shards.range_of(**peer).len() > first) {
                    expected.push((*peer, shards.range_of(*peer).start + first));
                }
            }
        }
        let mut found = Vec::new();
        for departure in &bench.sent {
            let (ubt, _) = ubt_of(&departure.frame)?;
            equal("advertised incast", ubt.incast, 9)?;
            found.push((destination(&departure.frame), ubt.offset as usize / 64));
        }
        equal(&format!("peers and first beats of {beats} beats, incast {incast}"), found, expected)?;
    }
    Ok(())
}

/// Base in beats, stage, timeout and incast of new frames. Sorted, since a mean may overtake a
/// contribution.
fn adverts(bench: &mut CardBench, window_beats: usize) -> Result<Vec<(usize, u8, u16, u8)>, String> {
    let mut found = Vec::new();
    for departure in std::mem::take(&mut bench.sent) {
        let (ubt, _) = ubt_of(&departure.frame)?;
        let beat = ubt.offset as usize / 64;
        found.push((beat - beat % window_beats, ubt.stage, ubt.timeout_16us, ubt.incast));
    }
    found.sort_unstable();
    Ok(found)
}

pub fn advertised(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    let window = |command: Submission, slot: u8, cookie: u32| Submission { slot, cookie, ..command };
    let says = |timeout_16us: u16, incast: u8, command: Submission| Submission { timeout_16us, incast, ..command };
    let (arm, contribute) = (bench.arm(8), bench.contribute(8));
    let arm = Submission { start_peers: 1, bound_ns: 200_000, ..arm };
    let peers =
        |bench: &CardBench, stage, base: usize| bench.packet(header(stage), 1, base + usize::from(stage) * 2, 4, 1.0);
    let (to_owner, to_all) = (STAGE_CONTRIBUTE, STAGE_BROADCAST);

    // Two concurrent windows, with peer contributions in the opposite order.
    let second = Submission { base: 512, ..window(arm, 5, 2) };
    bench.submit(&[arm, second, says(0xfedc, 5, contribute), says(0x0102, 15, window(contribute, 5, 2))])?;
    bench.inject([peers(&bench, to_owner, 8), peers(&bench, to_owner, 0)]);
    bench.run_us(10);
    let expected =
        vec![(0, to_owner, 0xfedc, 5), (0, to_all, 0xfedc, 5), (8, to_owner, 0x0102, 15), (8, to_all, 0x0102, 15)];
    equal("base, stage, timeout, incast", adverts(&mut bench, 8)?, expected)?;
    bench.inject([peers(&bench, to_all, 0), peers(&bench, to_all, 8)]);
    bench.run_us(20);
    equal("completions of two windows", bench.completions()?.len(), 4)?;

    // A window advertises nothing before its own contribution, here sent after its mean.
    bench.submit(&[window(arm, 0, 3)])?;
    bench.inject([peers(&bench, to_owner, 0)]);
    bench.run_us(250);
    equal("frames of a window without a contribution", adverts(&mut bench, 8)?, vec![(0, to_all, 0, 0)])?;
    bench.submit(&[says(9, 3, window(contribute, 0, 3))])?;
    equal("frames of a late contribution", adverts(&mut bench, 8)?, vec![(0, to_owner, 9, 3)])?;
    bench.inject([peers(&bench, to_all, 0)]);
    bench.run_us(20);
    equal("completions of the third window", bench.completions()?.len(), 2)?;
    bench.submit(&[window(arm, 0, 4)])?;
    bench.inject([peers(&bench, to_owner, 0)]);
    bench.run_us(250);
    equal("frames of one more without a contribution", adverts(&mut bench, 8)?, vec![(0, to_all, 0, 0)])?;

    // A commanded mean advertises the values of the contribution, not of the command.
    let commanded = Submission { flags: 0, base: 512, ..window(arm, 5, 5) };
    bench.submit(&[commanded, says(12, 4, window(contribute, 5, 5))])?;
    bench.inject([peers(&bench, to_owner, 8)]);
    bench.run_us(10);
    bench.submit(&[says(99, 7, Submission { opcode: OP_BROADCAST, slot: 5, cookie: 5, ..Submission::default() })])?;
    let expected = vec![(8, to_owner, 12, 4), (8, to_all, 12, 4)];
    equal("frames of a commanded broadcast", adverts(&mut bench, 8)?, expected)
}

pub fn paced(engine: Engine) -> Result<(), String> {
    // Rank 1 at a quarter of the wire, rank 2 unpaced, rank 3 at a tenth. 60 packets each.
    let (rates, beats, packets) = ([0, 3125, 0, 1250], 960, 60);
    for incast in [1, 3] {
        let job = JobConfig { rates_bytes_per_us: rates.to_vec(), ..bench_job(4, PAYLOAD_BEATS) };
        let mut bench = CardBench::with_job(engine, job).map_err(|error| error.to_string())?;
        let arm = Submission { send_incast: incast, bound_ns: 1_000_000, ..bench.arm(beats) };
        bench.submit(&[arm, bench.contribute(beats)])?;
        bench.run_us(30);
        equal("frames", bench.sent.len(), 3 * packets)?;
        for (peer, rate) in rates.into_iter().enumerate().filter(|(_, rate)| *rate > 0) {
            let to_peer = bench.sent.iter().filter(|departure| destination(&departure.frame) == peer);
            let frames: Vec<(u64, u64)> = to_peer
                .map(|departure| (departure.at_ns, departure.frame.len() as u64 + WIRE_OVERHEAD_BYTES))
                .collect();
            equal(&format!("frames to rank {peer}"), frames.len(), packets)?;
            let burst = frames[0].1;
            for (first, (from_ns, _)) in frames.iter().enumerate() {
                let mut bytes = 0;
                for (last, (to_ns, frame)) in frames.iter().enumerate().skip(first) {
                    bytes += frame;
                    let most = burst + u64::from(rate) * (to_ns - from_ns + BUCKET_NS + JITTER_NS) / 1000;
                    let what =
                        format!("rank {peer}, incast {incast}: bytes of frames {first} to {last}, at most {most}");
                    equal(&what, bytes.max(most), most)?;
                }
            }
            // A blocked peer is skipped, so peers do not delay each other. But a card that starts
            // before the whole gradient is read may wait for another peer's shard.
            let ns = frames[packets - 1].0 - frames[0].0;
            let read_ns = beats as u64 * CYCLE_NS;
            let most_ns = (packets as u64 - 1) * burst * 1000 / u64::from(rate) + read_ns + JITTER_NS;
            equal(&format!("rank {peer}, incast {incast}: {ns} ns, at most {most_ns}"), ns <= most_ns, true)?;
        }
    }
    Ok(())
}

pub fn stale(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    let arm = |slot: u8, step: u16, bucket: u16| Submission {
        slot,
        cookie: u32::from(slot) + 1,
        step,
        bucket,
        ..bench.arm(8)
    };
    // Bucket 3 expects step 2 (in another slot step 1 at another offset), bucket 4 step 0x8000.
    bench.submit(&[arm(0, 2, 3), Submission { base: 4096, ..arm(1, 1, 3) }, arm(2, 0x8000, 4)])?;
    let packet = |step, bucket, first| {
        let ubt = UbtHeader { step, bucket, ..header(STAGE_CONTRIBUTE) };
        bench.packet(ubt, 1, first, 4, 1.0)
    };
    // Step, bucket, first beat, and whether the packet is stale.
    let cases = [
        (1, 3, 0, true),
        (0, 3, 0, true),
        (0xffff, 3, 0, true),
        (0x8003, 3, 0, true), // 0x7fff before step 2
        (3, 3, 0, false),
        (2, 3, 8, false),
        (1, 3, 1000, true),
        (1, 5, 0, false),
        (0x7fff, 4, 0, true),
        (2, 4, 0, true),
        (0, 4, 0, true), // as far before as after
        (0x8001, 4, 0, false),
    ];
    let (mut stale, mut missing) = (0, 0);
    let frames: Vec<_> = cases.iter().map(|(step, bucket, first, _)| packet(*step, *bucket, *first)).collect();
    let good = [packet(2, 3, 0), packet(1, 3, 64), packet(0x8000, 4, 0)];
    for (frame, case) in frames.into_iter().zip(cases) {
        bench.inject([frame]);
        (stale, missing) = (stale + u32::from(case.3), missing + u32::from(!case.3));
        let counters = bench.counters()?;
        let found = (counters.drop_stale, counters.drop_no_window);
        equal(&format!("stale and without a window after {case:?}"), found, (stale, missing))?;
    }
    equal("beats accepted", bench.accepted().len(), 0)?;
    bench.inject(good);
    equal("beats accepted", bench.accepted().len(), 12)?;
    let c = bench.counters()?;
    let causes = c.drop_foreign + c.drop_malformed + c.drop_version + c.drop_job + c.drop_no_window + c.drop_stale;
    let causes = causes + c.drop_flags + c.drop_out_of_shard + c.drop_fifo_full + c.rx_bad;
    equal("packets received: dropped by one cause each, or taken", c.rx_packets, causes + 3)
}
