//! Jobs of cards simulated by clock cycles, and their recordings.

use optireduce::Communicator;
use std::collections::BTreeMap;
use std::path::PathBuf;

use optireduce_contract::signs::splitmix64;
use optireduce_core::protocol::{JobParams, PlaneLimits, plan_windows};
use optireduce_sim::card::Accept;
use optireduce_sim::check::oracle;

use super::*;

/// Nearly the longest possible bound: cycles are slow, and bounds use the wall clock.
const SLOW: Duration = Duration::from_secs(4);
const STEPS: usize = 3;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("served-{name}-{}", std::process::id()))
}

/// Values of any magnitude, so that the bits of a sum depend on its order.
fn uneven(seed: u64, rank: usize, step: usize, elements: usize) -> Vec<f32> {
    let bits = |at| splitmix64(splitmix64(seed ^ (rank << 8 | step) as u64) ^ at as u64);
    let value = |bits: u64| (bits as i32 as f32) * 2f32.powi((bits >> 32) as i32 % 20 - 30);
    (0..elements).map(|at| value(bits(at))).collect()
}

/// Beats accepted by the cards of a process, by collective and card.
fn accepted(path: &PathBuf, cards: usize) -> BTreeMap<u32, Vec<Vec<Accept>>> {
    let mut all = BTreeMap::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let number = |name: &str| line[name].as_u64().unwrap();
        let accept = Accept {
            at_ns: number("at_ns"),
            cookie: number("cookie") as u32,
            stage: number("stage") as u8,
            position: number("position") as u16,
            sender: number("sender") as u8,
        };
        let of_step = all.entry(accept.cookie >> 16).or_insert_with(|| vec![Vec::new(); cards]);
        of_step[number("card") as usize].push(accept);
    }
    all
}

/// Checks every bit of every result against the gradients and the recorded order of beats.
fn a_job_of_cards_is_that_of_the_oracle(engine: &str, ranks: usize, elements: usize) {
    let seed = 7;
    let [trace, vcd, pcap] = ["jsonl", "vcd", "pcap"].map(|kind| file(&format!("{engine}.{kind}")));
    let hub = served::free_path();
    let paths = [&trace, &vcd, &pcap].map(|path| path.to_str().unwrap());
    let count = ranks.to_string();
    let options = ["--engine", engine, "--cards", &count, "--trace", paths[0], "--vcd", paths[1], "--pcap", paths[2]];
    let cards = Served::on(&format!("hub:{}", hub.display()), &options);
    let root = free_root();
    let outputs = on_ranks(ranks, |rank| {
        let place = Settings::new().rank(rank).world_size(ranks).root(root.clone());
        let builder = place.timeout(TIMEOUT).bound(SLOW).repair(Repair::NextUpdate);
        let builder = builder.early(Early::Off).card(cards.socket_of(rank));
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let mut bucket =
            communicator.bucket(elements, BucketOptions::new().hadamard(HadamardMode::Off)).wait().unwrap();
        let outputs: Vec<Vec<f32>> = (0..STEPS)
            .map(|step| {
                let mut data = uneven(seed, rank, step, elements);
                let report = bucket.all_reduce(&mut data).unwrap();
                assert!(is_whole(&report), "{engine}, rank {rank}, step {step}: {report}");
                data
            })
            .collect();
        drop(bucket);
        communicator.close().wait().unwrap();
        outputs
    });
    let said = cards.finish();
    println!("{engine}, {elements} elements: {said}");

    let accepted = accepted(&trace, ranks);
    assert_eq!(accepted.len(), STEPS, "{:?}", accepted.keys());
    let limits =
        PlaneLimits { window_beats_max: if engine == "functional" { 1 << 14 } else { 1 << 10 }, ..PlaneLimits::CARD };
    for (step, (op, traces)) in accepted.into_iter().enumerate() {
        let params = JobParams::new(0, ranks, 1, 1, &limits);
        let plans = plan_windows(&params, op, 0, elements, false).unwrap();
        let gradients: Vec<_> = (0..ranks).map(|rank| uneven(seed, rank, step, elements)).collect();
        let expected = oracle::outputs(&plans, &gradients, &traces).unwrap();
        for rank in 0..ranks {
            check(&outputs[rank][step], &expected[rank], &format!("{engine}, seed {seed}, rank {rank}, step {step}"));
        }
    }
    assert_files(&vcd, &pcap, ranks);
    let _ = std::fs::remove_file(&hub);
    let _ = std::fs::remove_file(format!("{}.lock", hub.display()));
    [trace, vcd, pcap].iter().for_each(|path| std::fs::remove_file(path).unwrap());
}

fn assert_files(vcd: &PathBuf, pcap: &PathBuf, cards: usize) {
    let text = std::fs::read_to_string(vcd).unwrap();
    let (header, body) = text.split_once("$enddefinitions $end").unwrap();
    (0..cards).for_each(|card| assert!(header.contains(&format!("$scope module rank{card} $end")), "{header}"));
    let times: Vec<u64> = body.lines().filter_map(|line| line.strip_prefix('#')?.parse().ok()).collect();
    assert!(times.len() > 10 && times.is_sorted(), "{} times", times.len());

    let bytes = std::fs::read(pcap).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut at, mut senders, mut times) = (24, vec![0; cards], Vec::new());
    while at < bytes.len() {
        times.push((word(at), word(at + 4)));
        let frame = &bytes[at + 16..][..word(at + 8) as usize];
        assert!(frame.len() >= 128 && frame[12..14] == [8, 0] && frame[26..29] == [10, 79, 0], "{frame:?}");
        senders[usize::from(frame[29]) - 1] += 1;
        at += 16 + frame.len();
    }
    assert!(at == bytes.len() && times.is_sorted(), "a record is cut off, or out of order");
    assert!(senders.iter().all(|frames| *frames > 0), "{senders:?}");
}

#[test]
fn a_job_of_functional_cards_has_the_bits_of_the_oracle() {
    a_job_of_cards_is_that_of_the_oracle("functional", 3, 20_000);
}

#[test]
fn a_job_of_verilated_cards_has_the_bits_of_the_oracle() {
    a_job_of_cards_is_that_of_the_oracle("verilator", 3, 20_000);
}

#[test]
fn a_job_of_cards_in_rust_hdl_has_the_bits_of_the_oracle() {
    a_job_of_cards_is_that_of_the_oracle("rtl", 2, 500);
}

#[test]
fn cards_of_all_engines_share_a_job_with_a_rank_without() {
    let mut job = Job::new(0);
    job.cards = ["rtl", "verilator", "functional"]
        .into_iter()
        .enumerate()
        .map(|(rank, engine)| Served::start_with(job.address(100 + rank), job.port, &["--engine", engine]))
        .collect();
    on_ranks(4, |rank| {
        let mut communicator = Communicator::connect(job.builder(rank, 4).bound(SLOW)).wait().unwrap();
        let mut bucket = communicator.bucket(600, exact()).wait().unwrap();
        for step in 0..2 {
            let mut data = gradient(rank, step, 600);
            let report = bucket.all_reduce(&mut data).unwrap();
            assert!(is_whole(&report), "rank {rank}, step {step}: {report}");
            check(&data, &sum(&[0, 1, 2, 3], step, 600), &format!("rank {rank}, step {step}"));
        }
        drop(bucket);
        communicator.close().wait().unwrap();
    });
}
