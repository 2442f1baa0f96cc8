//! Rules of a card that a well-behaved cluster never exercises, for any engine.
//!
//! [`PACKET_RULES`] and [`CARD_RULES`] list them, and [`check`] runs them. The checks see
//! completions, counters, host memory, frames, and the list of accepted beats.

mod answers;
mod checksum;
mod filter;
mod payload;
mod queues;
mod reset;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use optireduce_contract::packet::{
    FLAG_HADAMARD, FLAG_LAST_PERCENTILE, HEADER_BYTES, STAGE_BROADCAST, STAGE_CONTRIBUTE, UDP_PORT_DEFAULT, UbtHeader,
    frame, read_header,
};
use optireduce_contract::queue::{
    CLOSED_COMPLETE, CLOSED_DEADLINE, CLOSED_EARLY, Completion, DONE_BROADCAST, DONE_CONTRIBUTE, DONE_REFUSED,
    FLAG_EARLY, OP_BROADCAST, STATUS_BAD_COMMAND, STATUS_DMA_ERROR, STATUS_OK, STATUS_SLOT_BUSY, STATUS_STALE,
    Submission,
};

use crate::card::engine::Engine;
use crate::check::card_bench::{CardBench, JOB_TAG, PAYLOAD_BEATS};
use crate::wire::wire_ps;

/// A check of one engine.
pub type Rule = fn(Engine) -> Result<(), String>;

/// Rules of packets, for cards and software.
pub const PACKET_RULES: &[(&str, Rule)] = &[
    ("each kind of bad frame has its counter", bad_frames),
    ("duplicate and late beats are counted and change nothing", duplicates_and_late_beats),
    ("peers start the clock of a sleeping host, and the mean goes out without it", sleeping_host),
    ("the early rule waits for all marks and for the grace time", early_rule),
    ("silence before the local entry does not count for the early rule", silence_before_the_entry),
    ("a frame with several faults is dropped for the first of them", several_faults),
    ("bf16 contributions are rounded and packed two beats in one", payload::bf16_sent),
    ("bf16 packets are widened, their padding is left out, and means are rounded", payload::bf16_received),
    ("a round goes to as many peers as commanded, packet by packet", payload::rounds),
    ("a frame with a wrong UDP checksum changes nothing and is counted", checksum::received),
    ("every frame leaves with the right UDP checksum", checksum::sent),
    (
        "frames to others, with a wrong IPv4 checksum, not from their sender or too long have counters",
        filter::addresses,
    ),
];

/// Rules of commands, queues, host memory, reset and pacing, for cards only.
pub const CARD_RULES: &[(&str, Rule)] = &[
    ("commands outside the limits are refused", commands_outside_the_limits),
    ("commands for missing windows are refused", commands_for_other_windows),
    ("a contribution goes out peer by peer, paced, its last packets marked", packets_of_a_contribution),
    ("a contribution that comes while its window ends leaves nothing behind", contribution_at_the_end),
    ("without the automatic broadcast the mean waits for the command", commanded_broadcast),
    ("a gradient outside of host memory is an error of that window", dma_error),
    ("completions wait while the ring is full, and the phase flips with every turn", full_ring),
    ("frames of both stages advertise the values of their window's contribution", payload::advertised),
    ("a paced peer receives at its rate in every interval", payload::paced),
    // Software compares with the job's newest collective instead: `optireduce-core`,
    // tests/serial_numbers.rs.
    ("a packet of an earlier step is stale, and every drop has one cause", payload::stale),
    ("each queue receives completions of its own windows only", queues::own_windows),
    ("a queue whose completion ring is full holds up no other", queues::full_ring_of_one),
    ("an error of host memory only affects its window or queue", queues::contained_errors),
    ("a queue with inaccessible rings stops, and the others continue", queues::stopped_queues),
    ("frames of other kinds, of any length, are no overflow of the receive buffer", filter::other_kinds),
    ("only ARP requests and pings for the card are answered", answers::requests),
    ("answers go out between the frames of a job and disturb none", answers::beside_a_job),
    ("a card disabled at any moment is in its power-on state afterwards", reset::no_trace),
];

/// Checks an engine against rules, in parallel and each on its own card.
///
/// # Errors
/// A list of the broken rules.
pub fn check(engine: Engine, rules: &[&[(&str, Rule)]]) -> Result<(), String> {
    let rules = rules.concat();
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((name, rule)) = rules.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = rule(engine).map_err(|what| format!("{name}: {what}"));
            results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
        }
    };
    thread::scope(|scope| {
        (0..thread::available_parallelism().map_or(1, usize::from)).for_each(|_| drop(scope.spawn(work)))
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut broken: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    broken.sort();
    let (count, all) = (broken.len(), rules.len());
    if count == 0 { Ok(()) } else { Err(format!("{count} of {all} rules are broken:\n{}", broken.join("\n"))) }
}

/// With two ranks, beats 0..4 are rank 0's.
const BEATS: usize = 8;

fn bench(engine: Engine, ranks: usize) -> Result<CardBench, String> {
    CardBench::new(engine, ranks).map_err(|error| error.to_string())
}

fn ubt_of(frame: &[u8]) -> Result<(UbtHeader, &[u8]), String> {
    let head = frame.first_chunk().ok_or("a frame shorter than its header")?;
    let (ubt, _) = read_header(head, frame.len(), UDP_PORT_DEFAULT, JOB_TAG).map_err(|error| error.to_string())?;
    Ok((ubt, &frame[HEADER_BYTES..]))
}

fn destination(frame: &[u8]) -> usize {
    usize::from(frame[frame::IP_DST.end() - 1]) - 1
}

fn header(stage: u8) -> UbtHeader {
    UbtHeader { stage, job_tag: JOB_TAG, ..UbtHeader::default() }
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: found {found:?}, expected {expected:?}")) }
}

/// Opcode, cookie and status.
fn outcomes(completions: &[Completion]) -> Vec<(u8, u32, u8)> {
    completions.iter().map(|done| (done.opcode, done.cookie, done.status)).collect()
}

fn commands_outside_the_limits(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    let good = bench.arm(BEATS);
    let empty = Submission { beats: 0, shard_quotient: 0, shard_remainder: 0, host_beats: 0, ..good };
    let hadamard = Submission { flags: good.flags | 1, log2_n: 8, log2_blocks: 0, ..bench.arm(16) };
    let bad = [
        Submission { opcode: 0, ..good },
        Submission { opcode: 4, ..good },
        Submission { slot: 8, ..good },
        empty,
        bench.arm(1025),
        Submission { host_beats: good.beats + 1, ..good },
        Submission { rotation: 2, ..good },
        Submission { start_peers: 2, ..good },
        Submission { start_peers: 130, ..good },
        Submission { send_incast: 16, ..good },
        Submission { log2_n: 7, ..hadamard },
        Submission { log2_n: 14, ..hadamard },
        Submission { log2_blocks: 1, ..hadamard },
    ];
    for command in bad {
        bench.submit(&[command])?;
        let found = outcomes(&bench.completions()?);
        equal(&format!("{command:?}"), found, vec![(DONE_REFUSED, 1, STATUS_BAD_COMMAND)])?;
    }
    // Values that the driver would reject.
    let misplaced = [
        Submission { host_address: good.host_address + 32, ..good },
        Submission { report_address: good.report_address + 64, ..good },
        Submission { base: 32, ..good },
    ];
    for command in misplaced {
        bench.submit_unchecked(&command)?;
        let found = outcomes(&bench.completions()?);
        equal(&format!("{command:?}"), found, vec![(DONE_REFUSED, 1, STATUS_BAD_COMMAND)])?;
    }
    bench.submit(&[hadamard])?;
    equal("a good window", outcomes(&bench.completions()?), vec![])?;
    let contribute = bench.contribute(16);
    bench.submit_unchecked(&Submission { host_address: contribute.host_address + 4, ..contribute })?;
    equal("a misplaced gradient", outcomes(&bench.completions()?), vec![(DONE_REFUSED, 1, STATUS_BAD_COMMAND)])
}

fn commands_for_other_windows(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    let (arm, contribute) = (bench.arm(BEATS), bench.contribute(BEATS));
    let other = |status| vec![(DONE_REFUSED, 1, status)];
    bench.submit(&[contribute])?;
    equal("contribute to a free slot", outcomes(&bench.completions()?), other(STATUS_STALE))?;
    bench.submit(&[arm, arm])?;
    equal("arm of a slot in use", outcomes(&bench.completions()?), other(STATUS_SLOT_BUSY))?;
    bench.submit(&[Submission { step: 1, ..contribute }])?;
    equal("contribute of another step", outcomes(&bench.completions()?), other(STATUS_STALE))?;
    bench.submit(&[Submission { cookie: 9, ..contribute }])?;
    let found = outcomes(&bench.completions()?);
    equal("contribute with another cookie", found, vec![(DONE_REFUSED, 9, STATUS_STALE)])?;
    bench.submit(&[Submission { opcode: OP_BROADCAST, cookie: 9, ..Submission::default() }])?;
    let found = outcomes(&bench.completions()?);
    equal("broadcast with another cookie", found, vec![(DONE_REFUSED, 9, STATUS_STALE)])?;
    let broadcast = Submission { opcode: OP_BROADCAST, cookie: 1, ..Submission::default() };
    bench.submit(&[broadcast])?;
    equal("broadcast before the mean", outcomes(&bench.completions()?), other(STATUS_STALE))?;
    equal("frames sent", bench.sent.len(), 0)?;
    bench.submit(&[contribute])?;
    equal("the contribution itself", outcomes(&bench.completions()?), vec![])?;
    bench.submit(&[contribute])?;
    equal("contribute a second time", outcomes(&bench.completions()?), other(STATUS_STALE))?;
    equal("frames sent", bench.sent.len(), 1)?;
    bench.inject([bench.packet(header(STAGE_CONTRIBUTE), 1, 0, 4, 1.0)]);
    equal("the mean", outcomes(&bench.completions()?), vec![(DONE_CONTRIBUTE, 1, STATUS_OK)])?;
    bench.submit(&[broadcast])?;
    equal("broadcast of an automatic window", outcomes(&bench.completions()?), other(STATUS_BAD_COMMAND))
}

fn bad_frames(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    bench.submit(&[bench.arm(BEATS)])?;
    let contribute = header(STAGE_CONTRIBUTE);
    let good = bench.packet(contribute, 1, 0, 4, 1.0);
    let damaged = |offset: usize, byte: u8| {
        let mut frame = good.clone();
        frame[offset] ^= byte;
        frame
    };
    let cut = good[..good.len() - 64].to_vec();
    let groups: [(&str, Vec<Vec<u8>>); 7] = [
        (
            "foreign",
            vec![
                damaged(frame::ETH_TYPE.offset, 0x40),
                damaged(frame::IP_PROTOCOL.offset, 1),
                damaged(frame::UDP_DST.offset, 1),
            ],
        ),
        (
            "malformed",
            vec![
                cut,
                damaged(frame::UDP_LENGTH.offset + 1, 1),
                bench.packet(contribute, 0, 0, 4, 1.0), // from ourselves
                bench.frame(UbtHeader { sender: 2, ..contribute }, 1, 256, 1.0),
                bench.packet(header(1), 1, 0, 4, 1.0),
                bench.frame(UbtHeader { sender: 1, offset: 32, ..contribute }, 1, 64, 1.0),
            ],
        ),
        ("version", vec![damaged(frame::VERSION_STAGE.offset, 0x30)]),
        ("job", vec![damaged(frame::JOB_TAG.offset + 7, 1)]),
        (
            "no window",
            vec![
                bench.packet(UbtHeader { bucket: 1, ..contribute }, 1, 0, 4, 1.0),
                bench.packet(UbtHeader { step: 1, ..contribute }, 1, 0, 4, 1.0),
                bench.packet(contribute, 1, BEATS, 1, 1.0),
            ],
        ),
        ("flags", vec![bench.packet(UbtHeader { flags: FLAG_HADAMARD, ..contribute }, 1, 0, 4, 1.0)]),
        (
            "out of shard",
            vec![
                bench.packet(contribute, 1, 4, 4, 1.0),
                bench.packet(contribute, 1, 2, 4, 1.0),
                bench.packet(header(STAGE_BROADCAST), 1, 0, 4, 1.0),
                bench.packet(header(STAGE_BROADCAST), 1, 6, 4, 1.0),
            ],
        ),
    ];
    let count = |bench: &CardBench| {
        bench.counters().map(|c| {
            [
                c.drop_foreign,
                c.drop_malformed,
                c.drop_version,
                c.drop_job,
                c.drop_no_window,
                c.drop_flags,
                c.drop_out_of_shard,
            ]
        })
    };
    let mut expected = [0; 7];
    for (group, (name, frames)) in groups.into_iter().enumerate() {
        for (number, frame) in frames.into_iter().enumerate() {
            bench.inject([frame]);
            expected[group] += 1;
            equal(&format!("counters after frame {number} that is {name}"), count(&bench)?, expected)?;
        }
    }
    let total: u32 = expected.iter().sum();
    equal("frames received", bench.counters()?.rx_packets, total)?;
    equal("beats accepted", bench.accepted().len(), 0)?;
    bench.inject([good]);
    equal("beats of the good frame", bench.accepted().len(), 4)?;
    equal("counters after the good frame", count(&bench)?, expected)
}

fn packets_of_a_contribution(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 3)?;
    // 31 beats on three ranks are shards of 11, 10 and 10: packets of 4, 4 and 2 beats to each
    // peer. Lanes hold the number of their beat.
    let gradient: Vec<f32> = (0..31 * 16).map(|at| (at / 16) as f32).collect();
    bench.nic.write_f32(bench.gradient, 0, &gradient).map_err(|error| error.to_string())?;
    let arm = Submission { mark_packets: 2, base: 640, ..bench.arm(31) };
    bench.submit(&[arm, Submission { timeout_16us: 77, incast: 5, ..bench.contribute(31) }])?;
    let mut found = Vec::new();
    for departure in &bench.sent {
        let bytes = &departure.frame;
        let head = bytes.first_chunk().ok_or("a frame shorter than its header")?;
        let (ubt, payload) =
            read_header(head, bytes.len(), UDP_PORT_DEFAULT, JOB_TAG).map_err(|error| error.to_string())?;
        let fixed = (ubt.stage, ubt.sender, ubt.step, ubt.bucket, ubt.timeout_16us, ubt.incast);
        equal("stage, sender, step, bucket, timeout, incast", fixed, (STAGE_CONTRIBUTE, 0, 0, 0, 77, 5))?;
        let lane = f32::from_le_bytes([bytes[64], bytes[65], bytes[66], bytes[67]]);
        equal("first beat", lane, (ubt.offset / 64 - 10) as f32)?;
        found.push((bytes[frame::IP_DST.end() - 1], ubt.offset, payload, ubt.flags));
    }
    let to_peer = |address: u8, first: u32| {
        [(0, 256, 0), (4, 256, FLAG_LAST_PERCENTILE), (8, 128, FLAG_LAST_PERCENTILE)]
            .map(|(beat, payload, flags)| (address, (10 + first + beat) * 64, payload, flags))
    };
    equal("address, offset, payload, flags", found, [to_peer(2, 11), to_peer(3, 21)].concat())?;
    for pair in bench.sent.windows(2) {
        let (apart_ns, wire_ns) = (pair[1].at_ns - pair[0].at_ns, wire_ps(pair[1].frame.len()) / 1000);
        equal("frames leave no faster than the wire takes them, to 4 ns", apart_ns + 4 >= wire_ns, true)?;
    }
    Ok(())
}

fn duplicates_and_late_beats(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    let local: Vec<f32> = (0..BEATS * 16).map(|at| at as f32).collect();
    bench.nic.write_f32(bench.gradient, 0, &local).map_err(|error| error.to_string())?;
    bench.submit(&[bench.arm(BEATS)])?;
    let peers = bench.packet(header(STAGE_CONTRIBUTE), 1, 0, 2, 1.0);
    let overlapping = bench.packet(header(STAGE_CONTRIBUTE), 1, 1, 3, 1.0);
    bench.inject([peers.clone(), peers.clone(), overlapping]);
    equal("duplicate beats", bench.counters()?.drop_duplicate_beats, 3)?;
    bench.submit(&[bench.contribute(BEATS)])?;
    let mean = bench.packet(header(STAGE_BROADCAST), 1, 4, 4, 7.0);
    bench.inject([peers, mean.clone(), mean]);
    bench.run_us(20);
    let counters = bench.counters()?;
    let done = bench.completions()?;
    equal("completions", outcomes(&done), vec![(DONE_CONTRIBUTE, 1, STATUS_OK), (DONE_BROADCAST, 1, STATUS_OK)])?;
    equal("closed by", [done[0].closed_by, done[1].closed_by], [CLOSED_COMPLETE; 2])?;
    equal("beats received", [done[0].received_beats, done[1].received_beats], [4, 4])?;
    equal("local beats", done[0].own_beats, 4)?;
    // Two late beats of the contribution. The second mean arrives after its gate closed or its
    // window was freed.
    let late_means = counters.drop_late_beats - 2 + 4 * counters.drop_no_window;
    equal("late beats of the mean", late_means, 4)?;
    let mut result = vec![0.0; BEATS * 16];
    bench.nic.read_f32(bench.result, 0, &mut result).map_err(|error| error.to_string())?;
    let expected = |at: usize| if at < 64 { (at as f32 + 1.0) / 2.0 } else { 7.0 };
    equal("result", result, (0..BEATS * 16).map(expected).collect())?;
    equal("frames sent", bench.sent.len(), 2)
}

fn sleeping_host(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 3)?;
    let shards = [3, 3, 2]; // beats 0..3, 3..6, 6..8
    bench.submit(&[Submission { start_peers: 2, ..bench.arm(BEATS) }])?;
    bench.inject([bench.packet(header(STAGE_CONTRIBUTE), 1, 0, 3, 2.0)]);
    bench.run_us(300);
    equal("completions after one of two peers", bench.completions()?, vec![])?;
    bench.inject([bench.packet(header(STAGE_CONTRIBUTE), 2, 0, 2, 4.0)]);
    let heard_ns = bench.now_ns();
    bench.run_us(320);
    let done = bench.completions()?;
    equal("completions", outcomes(&done), vec![(DONE_CONTRIBUTE, 1, STATUS_OK), (DONE_BROADCAST, 1, STATUS_OK)])?;
    equal("closed by", [done[0].closed_by, done[1].closed_by], [CLOSED_DEADLINE; 2])?;
    equal("local beats", done[0].own_beats, 0)?;
    equal("beats received and expected", (done[0].received_beats, done[0].expected_beats), (5, 6))?;
    equal("ranks heard", done[0].heard, 0b110)?;
    let bound_ns = 100_000;
    let late_ns = done[0].closed_ns.abs_diff(heard_ns + bound_ns);
    equal("the close is one bound after the second peer, to 5 us", late_ns < 5000, true)?;
    equal("time of the stage, to 100 ns", done[0].elapsed_ns.abs_diff(bound_ns) < 100, true)?;
    // Beats 0 and 1 have mean 3, beat 2 with one contribution has 2.
    equal("frames sent", bench.sent.len(), 2)?;
    for (frame, dst) in bench.sent.iter().zip([1, 2]) {
        let head = frame.frame.first_chunk().ok_or("a frame shorter than its header")?;
        let (ubt, payload) =
            read_header(head, frame.frame.len(), UDP_PORT_DEFAULT, JOB_TAG).map_err(|error| error.to_string())?;
        equal("stage, offset, flags", (ubt.stage, ubt.offset, ubt.flags), (STAGE_BROADCAST, 0, FLAG_LAST_PERCENTILE))?;
        equal("payload", payload, shards[0] * 64)?;
        equal("destination", frame.frame[frame::IP_DST.end() - 1], dst + 1)?;
        let lane = |at: usize| f32::from_le_bytes([0, 1, 2, 3].map(|byte| frame.frame[64 + 4 * at + byte]));
        equal("mean", [lane(0), lane(31), lane(32), lane(47)], [3.0, 3.0, 2.0, 2.0])?;
    }
    bench.submit(&[bench.contribute(BEATS)])?;
    equal("contribution after the close", outcomes(&bench.completions()?), vec![(DONE_REFUSED, 1, STATUS_STALE)])
}

fn contribution_at_the_end(engine: Engine) -> Result<(), String> {
    for late_us in 0..30 {
        let mut bench = bench(engine, 2)?;
        bench.submit(&[Submission { start_peers: 1, ..bench.arm(BEATS) }])?;
        let frames = |bench: &CardBench, value| {
            let mean = bench.packet(header(STAGE_BROADCAST), 1, 4, 4, value);
            [bench.packet(header(STAGE_CONTRIBUTE), 1, 0, 4, value), mean]
        };
        bench.inject(frames(&bench, 1.0));
        // The contribute gate closes about 100 us after the first frame. Reading the command and
        // ending the window take a few microseconds each.
        bench.run_us(70 + late_us);
        bench.submit(&[bench.contribute(BEATS)])?;
        bench.run_us(150);
        let done = outcomes(&bench.completions()?);
        let closed = vec![(DONE_CONTRIBUTE, 1, STATUS_OK), (DONE_BROADCAST, 1, STATUS_OK)];
        let kept: Vec<_> = done.iter().copied().filter(|one| *one != (DONE_REFUSED, 1, STATUS_STALE)).collect();
        equal(&format!("completions, contribution {late_us} us later"), kept, closed)?;
        // An accepted contribution is sent, as is the mean.
        let refusals = done.len() - 2;
        equal(&format!("frames sent, contribution {late_us} us later"), bench.sent.len(), 2 - refusals)?;
        let next = Submission { cookie: 2, ..bench.arm(BEATS) };
        bench.accepted();
        bench.submit(&[next, Submission { cookie: 2, ..bench.contribute(BEATS) }])?;
        bench.inject(frames(&bench, 3.0));
        bench.run_us(30);
        let closed = vec![(DONE_CONTRIBUTE, 2, STATUS_OK), (DONE_BROADCAST, 2, STATUS_OK)];
        equal(&format!("completions after that, {late_us} us"), outcomes(&bench.completions()?), closed)?;
        let accepted = bench.accepted();
        equal("beats accepted after that", (accepted.len(), accepted.iter().all(|beat| beat.cookie == 2)), (12, true))?;
    }
    Ok(())
}

fn early_rule(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 3)?;
    let arm = bench.arm(24); // 8 beats each, two packets
    bench.submit(&[Submission { flags: arm.flags | FLAG_EARLY, grace_ns: 10_000, ..arm }, bench.contribute(24)])?;
    let marked = UbtHeader { flags: FLAG_LAST_PERCENTILE, ..header(STAGE_CONTRIBUTE) };
    bench.inject([bench.packet(marked, 1, 4, 4, 1.0)]);
    bench.run_us(30);
    equal("completions with one mark of two", bench.completions()?, vec![])?;
    // A mark counts even on a duplicate packet.
    bench.inject([bench.packet(header(STAGE_CONTRIBUTE), 2, 4, 4, 1.0), bench.packet(marked, 2, 4, 4, 1.0)]);
    bench.run_us(4);
    equal("completions within the grace time", bench.completions()?, vec![])?;
    bench.inject([bench.packet(header(STAGE_CONTRIBUTE), 1, 0, 4, 1.0)]);
    bench.run_us(5);
    equal("completions within the grace time of a later packet", bench.completions()?, vec![])?;
    bench.run_us(10);
    let done = bench.completions()?;
    equal("completions", outcomes(&done), vec![(DONE_CONTRIBUTE, 1, STATUS_OK)])?;
    equal("closed by", done[0].closed_by, CLOSED_EARLY)?;
    equal("beats received and expected", (done[0].received_beats, done[0].expected_beats), (12, 16))
}

fn silence_before_the_entry(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 3)?;
    let arm = bench.arm(24); // 8 beats each, two packets
    let grace_ns = 50_000;
    bench.submit(&[Submission { flags: arm.flags | FLAG_EARLY, grace_ns, bound_ns: 300_000, ..arm }])?;
    // Both peers have sent their marks and lost a packet. The clock starts with the local entry.
    let marked = UbtHeader { flags: FLAG_LAST_PERCENTILE, ..header(STAGE_CONTRIBUTE) };
    bench.inject([1, 2].map(|peer| bench.packet(marked, peer, 4, 4, 1.0)));
    bench.run_us(200);
    equal("completions before the local entry", bench.completions()?, vec![])?;
    bench.submit(&[bench.contribute(24)])?;
    equal("completions within the grace time of the local entry", bench.completions()?, vec![])?;
    bench.run_us(60);
    let done = bench.completions()?;
    equal("completions", outcomes(&done), vec![(DONE_CONTRIBUTE, 1, STATUS_OK)])?;
    equal("closed by", done[0].closed_by, CLOSED_EARLY)?;
    let late_ns = done[0].elapsed_ns.abs_diff(grace_ns.into());
    equal("the stage took its grace time, to 100 ns", late_ns < 100, true)
}

fn several_faults(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    bench.submit(&[Submission { step: 5, ..bench.arm(BEATS) }])?;
    let contribute = UbtHeader { step: 5, ..header(STAGE_CONTRIBUTE) };
    let other_job = UbtHeader { job_tag: JOB_TAG ^ 1, ..contribute };
    let of_version = |mut frame: Vec<u8>| {
        frame[frame::VERSION_STAGE.offset] ^= 0x30;
        frame
    };
    let to_port = |mut frame: Vec<u8>| {
        frame[frame::UDP_DST.offset] ^= 1;
        frame
    };
    let stray = UbtHeader { sender: 2, ..other_job };
    let elsewhere = UbtHeader { bucket: 9, flags: FLAG_HADAMARD, ..contribute };
    let frames: [(&str, Vec<u8>); 11] = [
        ("foreign and malformed", to_port(bench.frame(UbtHeader { sender: 2, ..contribute }, 1, 256, 1.0))),
        (
            "malformed and of another version",
            of_version(bench.frame(UbtHeader { sender: 2, ..contribute }, 1, 256, 1.0)),
        ),
        ("malformed and of another job", bench.frame(stray, 1, 256, 1.0)),
        ("from ourselves and of another job", bench.packet(other_job, 0, 0, 4, 1.0)),
        ("of an unknown stage and of another job", bench.packet(UbtHeader { stage: 1, ..other_job }, 1, 0, 4, 1.0)),
        ("at an odd offset, of another version", {
            of_version(bench.frame(UbtHeader { sender: 1, offset: 32, ..contribute }, 1, 64, 1.0))
        }),
        ("of another version and job", of_version(bench.packet(other_job, 1, 0, 4, 1.0))),
        ("of another job, for no window", bench.packet(UbtHeader { bucket: 9, ..other_job }, 1, 0, 4, 1.0)),
        ("for no window, with other flags", bench.packet(elsewhere, 1, 4, 4, 1.0)),
        ("stale, with other flags", bench.packet(UbtHeader { step: 4, bucket: 0, ..elsewhere }, 1, 0, 4, 1.0)),
        ("with other flags, out of its shard", bench.packet(UbtHeader { bucket: 0, ..elsewhere }, 1, 4, 4, 1.0)),
    ];
    let count = |bench: &CardBench| {
        let c = bench.counters()?;
        let first = [c.drop_foreign, c.drop_malformed, c.drop_version, c.drop_job, c.drop_no_window];
        Ok::<_, String>([first.to_vec(), vec![c.drop_stale, c.drop_flags, c.drop_out_of_shard]].concat())
    };
    let mut expected = vec![0; 8];
    for ((name, frame), cause) in frames.into_iter().zip([0, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6]) {
        bench.inject([frame]);
        expected[cause] += 1;
        equal(&format!("counters after a frame {name}"), count(&bench)?, expected.clone())?;
    }
    Ok(())
}

fn commanded_broadcast(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    bench.submit(&[Submission { flags: 0, ..bench.arm(BEATS) }, bench.contribute(BEATS)])?;
    bench.inject([bench.packet(header(STAGE_CONTRIBUTE), 1, 0, 4, 1.0)]);
    bench.run_us(20);
    equal("completions", outcomes(&bench.completions()?), vec![(DONE_CONTRIBUTE, 1, STATUS_OK)])?;
    let stages = |bench: &CardBench| {
        let stage = |frame: &Vec<u8>| frame[frame::VERSION_STAGE.offset] & 0xf;
        bench.sent.iter().map(|departure| stage(&departure.frame)).collect::<Vec<_>>()
    };
    equal("stages of the frames sent", stages(&bench), vec![STAGE_CONTRIBUTE])?;
    bench.submit(&[Submission { opcode: OP_BROADCAST, cookie: 1, ..Submission::default() }])?;
    equal("stages of the frames sent", stages(&bench), vec![STAGE_CONTRIBUTE, STAGE_BROADCAST])
}

fn dma_error(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    bench.submit(&[bench.arm(BEATS), Submission { host_address: 0x1000, ..bench.contribute(BEATS) }])?;
    bench.inject([bench.packet(header(STAGE_CONTRIBUTE), 1, 0, 4, 3.0)]);
    bench.inject([bench.packet(header(STAGE_BROADCAST), 1, 4, 4, 1.0)]);
    bench.run_us(150);
    let done = bench.completions()?;
    let expected = vec![(DONE_CONTRIBUTE, 1, STATUS_DMA_ERROR), (DONE_BROADCAST, 1, STATUS_DMA_ERROR)];
    equal("completions", outcomes(&done), expected)?;
    equal("local beats", done[0].own_beats, 0)?;
    equal("STATUS bit", bench.counters()?.dma_error, true)?;
    // Only the mean is sent, no invented contribution.
    let frames: Vec<_> =
        bench.sent.iter().map(|departure| departure.frame[frame::VERSION_STAGE.offset] & 0xf).collect();
    equal("stages of the frames sent", frames, vec![STAGE_BROADCAST])?;
    let lane = f32::from_le_bytes([64, 65, 66, 67].map(|byte| bench.sent[0].frame[byte]));
    equal("mean", lane, 3.0)
}

fn full_ring(engine: Engine) -> Result<(), String> {
    let mut bench = bench(engine, 2)?;
    // The ring has 16 entries. Each command gives a completion.
    let refused = |cookie| Submission { cookie, ..bench_stale() };
    let mut next = 0;
    for round in 0..5u32 {
        let cookies: Vec<u32> = (next..next + 12).collect();
        next += 12;
        bench.submit(&cookies.iter().map(|cookie| refused(*cookie)).collect::<Vec<_>>())?;
        bench.submit(&cookies.iter().map(|cookie| refused(100 + cookie)).collect::<Vec<_>>())?;
        bench.run_us(20);
        let tail = bench.counters()?.cq_tail;
        equal(&format!("round {round}: completions written with a full ring"), tail, round * 24 + 16)?;
        let mut found = Vec::new();
        for _ in 0..4 {
            found.extend(bench.completions()?.into_iter().map(|done| done.cookie));
            bench.run_us(20);
        }
        let expected = cookies.iter().copied().chain(cookies.iter().map(|cookie| 100 + cookie)).collect();
        equal(&format!("round {round}: cookies"), found, expected)?;
    }
    Ok(())
}

fn bench_stale() -> Submission {
    Submission { opcode: OP_BROADCAST, ..Submission::default() }
}

const _: () = assert!(PAYLOAD_BEATS == 4, "the rules count packets of four beats");
