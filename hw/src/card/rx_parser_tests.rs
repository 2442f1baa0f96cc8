use super::rx_parser::RxParser;
use super::testing::{Pace, at_every_pace, random_beat};
use super::types::{FrameBeat, JobWords, RxHeader};
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;
use optireduce_contract::packet::{self, Endpoint, UbtHeader, frame};
use optireduce_contract::rules::accept::{Cause, Receiver, frame_header};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy)]
struct Job {
    rank: u16,
    ranks: u16,
    port: u16,
    tag: u64,
}

#[derive(Clone, Copy, Default)]
struct Inside {
    /// Verdict on the frame; `None` for a bubble.
    of: Option<Result<UbtHeader, Cause>>,
    payload_beats: usize,
    head: bool,
    data: Beat,
}

fn random_header(random: &mut Random, job: &Job, payload_beats: usize) -> [u8; 64] {
    let mut bytes = [0xa5; 64];
    let peer = (job.rank + 1 + random.below(job.ranks as u64 - 1) as u16) % job.ranks;
    let ubt = UbtHeader {
        bucket: random.next() as u16,
        offset: (random.next() as u32) & !63,
        timeout_16us: random.next() as u16,
        incast: random.next() as u8 & 0xf,
        flags: random.next() as u8 & 0xf,
        stage: 2 * random.below(2) as u8,
        sender: peer,
        step: random.next() as u16,
        job_tag: job.tag,
    };
    let (from, to) = (Endpoint::of_rank(peer as usize), Endpoint::of_rank(job.rank as usize));
    packet::write_header(&mut bytes, from, to, job.port, &ubt, 64 * payload_beats);
    let mut put = |field: optireduce_contract::field::Field, value: u64| {
        bytes[field.offset..field.end()].copy_from_slice(&value.to_be_bytes()[8 - field.bytes..]);
    };
    let be_sender = [job.rank, job.ranks, job.ranks + 1, 64 + peer, 0x100 + peer, 0xffff][random.below(6) as usize];
    match random.below(24) {
        0 => put(frame::SENDER, be_sender as u64),
        1 => put(frame::VERSION_STAGE, random.next() & 0xff),
        2 => put(frame::VERSION_STAGE, 0x10 | random.below(16)),
        3 => put(frame::OFFSET, random.next() & 0xffff_ffff),
        4 => put(frame::JOB_TAG, job.tag ^ 1 << random.below(64)),
        5 => put(frame::UDP_DST, job.port as u64 ^ 1 << random.below(16)),
        6 => put(frame::UDP_LENGTH, (30 + 64 * payload_beats as u64) ^ 1 << random.below(16)),
        7 => {
            // Lengths that agree with each other, but not with the frame or the beat.
            let total = [50, 113, 114, 114 + 64, 50 + 64 * payload_beats as u64 + random.below(130)];
            let total = total[random.below(5) as usize];
            put(frame::IP_TOTAL_LENGTH, total);
            put(frame::UDP_LENGTH, total - 20);
        }
        8 => {
            put(frame::IP_TOTAL_LENGTH, random.below(60));
            put(frame::UDP_LENGTH, random.next() & 0xffff);
        }
        9 => put(frame::IP_FRAGMENT, 1 << random.below(16)),
        10..=12 => {
            let bit = random.below(512) as usize;
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        13 => {
            // Two faults, so that the order of the checks decides.
            for _ in 0..2 {
                let field = frame::ALL[2 + random.below(frame::ALL.len() as u64 - 2) as usize];
                bytes[field.offset + random.below(field.bytes as u64) as usize] ^= 1 << random.below(8);
            }
        }
        _ => {}
    }
    bytes
}

fn fields(ubt: &UbtHeader, payload_beats: usize) -> RxHeader {
    RxHeader {
        bucket: bits_w(ubt.bucket as u64),
        step: bits_w(ubt.step as u64),
        beat: bits_w(ubt.offset as u64 / 64),
        beats: bits_w(payload_beats as u64),
        sender: bits_w(ubt.sender as u64),
        broadcast: ubt.stage == packet::STAGE_BROADCAST,
        mark: ubt.flags & packet::FLAG_LAST_PERCENTILE != 0,
        hadamard: ubt.flags & packet::FLAG_HADAMARD != 0,
        bf16: ubt.flags & packet::FLAG_BF16 != 0,
    }
}

/// Drives frames, some cut off as by a reset of the receive buffer.
fn run(bench: &mut Bench<RxParser>, random: &mut Random, pace: Pace, cycles: u64, seen: &mut BTreeMap<String, u32>) {
    let ranks = 2 + random.below(63) as u16;
    let job = Job { rank: random.below(ranks as u64) as u16, ranks, port: random.next() as u16, tag: random.next() };
    bench.block.job.next = JobWords {
        rank: bits_w(job.rank as u64),
        ranks: bits_w(ranks as u64),
        job_tag: bits_w(job.tag.swap_bytes()),
        udp_port: bits_w(job.port.swap_bytes() as u64),
        ..JobWords::default()
    };
    let (rank, ranks) = (usize::from(job.rank), usize::from(ranks));
    let receiver = Receiver { rank, ranks, job_tag: job.tag, takes_feedback: false };
    let mut pipeline = [Inside::default(); 2]; // output stage first
    let mut waiting: VecDeque<(Inside, bool, usize)> = VecDeque::new();
    let mut in_frame = false;
    for cycle in 0..cycles {
        if waiting.is_empty() {
            in_frame = false;
            let payload = if random.one_in(20) { 139 } else { random.below(5) as usize };
            let frame_beats = 1 + payload;
            let header = random_header(random, &job, payload);
            let verdict = frame_header(&header, 64 * frame_beats, job.port, &receiver);
            let name = verdict.map_or_else(|cause| format!("{cause:?}"), |_| "Good".into());
            *seen.entry(name).or_default() += 1;
            let cut = random.one_in(16) && payload > 0;
            for i in 0..frame_beats - cut as usize {
                let data = if i == 0 { Beat::from_bytes(&header) } else { random_beat(random) };
                let inside = Inside { of: Some(verdict), payload_beats: payload, head: i == 0, data };
                waiting.push_back((inside, i + 1 == frame_beats, frame_beats));
            }
            if cut {
                waiting.push_back((Inside::default(), false, 0)); // a cycle without a beat
            }
        }
        let next = if in_frame || pace.comes(random) { waiting.front().copied() } else { None };
        let (input, last, frame_beats) = next.unwrap_or_default();
        let stall = !pace.takes(random);
        bench.block.stall.next = stall;
        bench.block.in_valid.next = input.of.is_some();
        bench.block.in_data.next = FrameBeat { data: input.data, last };
        bench.block.frame_beats.next = bits_w(frame_beats as u64);
        bench.settle();

        assert_eq!(bench.block.pop.val(), !stall, "cycle {cycle}");
        let [out, raw] = pipeline;
        assert_eq!(bench.block.empty.val(), out.of.is_none() && raw.of.is_none(), "cycle {cycle}");
        assert_eq!(bench.block.valid.val(), matches!(out.of, Some(Ok(_))), "cycle {cycle}: {:?}", out.of);
        if let Some(Ok(ubt)) = out.of {
            assert_eq!(bench.block.head.val(), out.head, "cycle {cycle}");
            assert_eq!(bench.block.data.val(), out.data, "cycle {cycle}");
            assert_eq!(bench.block.header.val(), fields(&ubt, out.payload_beats), "cycle {cycle}");
        }
        let fault = if raw.head && !stall { raw.of.and_then(Result::err) } else { None };
        let drops = [
            bench.block.drop_foreign.val(),
            bench.block.drop_malformed.val(),
            bench.block.drop_version.val(),
            bench.block.drop_job.val(),
        ];
        let causes = [Cause::Foreign, Cause::Malformed, Cause::Version, Cause::Job];
        let expected = causes.map(|cause| fault == Some(cause));
        assert_eq!(drops, expected, "cycle {cycle}: foreign, malformed, version, job of {fault:?}");
        if !stall {
            pipeline = [raw, input];
            if next.is_some() {
                in_frame = true;
                waiting.pop_front();
            }
        }
        bench.tick();
    }
}

#[test]
fn frames_are_judged_as_the_contract_says_and_good_payload_follows_its_header() {
    let mut seen = BTreeMap::new();
    at_every_pace(10, |random, pace| run(&mut Bench::new(RxParser::default()), random, pace, 4000, &mut seen));
    if std::env::var_os("OPTIREDUCE_SEED").is_none() {
        assert_eq!(seen.keys().collect::<Vec<_>>(), ["Foreign", "Good", "Job", "Malformed", "Version"], "{seen:?}");
    }
}

#[test]
fn verilog_judges_the_same_frames_the_same() {
    let mut bench = Bench::recording(RxParser::default());
    let mut seen = BTreeMap::new();
    run(&mut bench, &mut Random::new(3), Pace::RANDOM, 2500, &mut seen);
    assert_eq!(seen.len(), 5, "the stimulus missed a case: {seen:?}");
    bench.verify_with_verilator("rx_parser");
}
