use super::pacer::Pacer;
use super::types::JobWords;
use crate::cosim::Bench;
use crate::hdl::prelude::*;
use crate::random::Random;

const PAYLOAD: u64 = 22;

/// The deficit is in thousandths of a byte.
#[derive(Clone, Copy, Default)]
struct Bucket {
    debt: u128,
    seen_ns: u128,
}

/// Bytes on the wire.
fn frame_bytes(beats: u64) -> u64 {
    24 + 64 + 64 * beats
}

/// In thousandths of a byte.
fn depth(rate: u64) -> u128 {
    u128::from(frame_bytes(PAYLOAD)) * 1000 + u128::from(rate) * 512
}

impl Bucket {
    fn grant(&mut self, rate: u64, now_ns: u64, beats: u64) -> bool {
        let flowed = (u128::from(now_ns) - self.seen_ns) * u128::from(rate);
        let owed = self.debt.min(depth(rate)).saturating_sub(flowed) + u128::from(frame_bytes(beats)) * 1000;
        let granted = owed <= depth(rate);
        if granted {
            *self = Bucket { debt: owed, seen_ns: now_ns.into() };
        }
        granted
    }
}

fn new(record: bool) -> Bench<Pacer> {
    let mut bench = if record { Bench::recording(Pacer::default()) } else { Bench::new(Pacer::default()) };
    bench.block.job.next = JobWords { payload_beats: bits_w(PAYLOAD), ..Default::default() };
    bench
}

fn write(bench: &mut Bench<Pacer>, peer: u64, word: u64, data: u64) {
    bench.block.peer_write.next = true;
    bench.block.peer_word.next = bits_w(peer * 4 + word);
    bench.block.peer_data.next = bits_w(data);
    bench.tick();
    bench.block.peer_write.next = false;
}

/// Asks at `now_ns`, which advances while the pacer works.
fn ask(bench: &mut Bench<Pacer>, now_ns: &mut u64, peer: u64, beats: u64) -> bool {
    bench.block.peer.next = bits_w(peer);
    bench.block.beats.next = bits_w(beats);
    bench.block.ask.next = true;
    for cycle in 0..4 {
        bench.block.now_ns.next = bits_w(*now_ns);
        bench.settle();
        assert_eq!(bench.block.answer.val(), cycle == 3, "an answer after three cycles");
        assert!(bench.block.answer.val() || !bench.block.granted.val());
        let granted = bench.block.granted.val();
        bench.tick();
        *now_ns += 4;
        if cycle == 3 {
            bench.block.ask.next = false;
            return granted;
        }
    }
    unreachable!("the fourth cycle answers")
}

fn run(bench: &mut Bench<Pacer>, random: &mut Random, questions: usize) {
    let mut rates = [0; 64];
    let mut buckets = [Bucket::default(); 64];
    let (mut now_ns, mut answers) = (random.below(1 << 47), [0, 0]);
    for _ in 0..questions {
        let peer = if random.one_in(2) { random.below(64) } else { 5 };
        if random.one_in(8) || rates[peer as usize] == 0 {
            let rate = [1, 1 + random.below(100), 1 + random.below(12_500), 65_535][random.below(4) as usize];
            rates[peer as usize] = rate;
            write(bench, peer, 3, rate);
            write(bench, peer, random.below(3), random.next());
            now_ns += 8;
        }
        let beats = 1 + random.below(PAYLOAD);
        let expected = buckets[peer as usize].grant(rates[peer as usize], now_ns, beats);
        let found = ask(bench, &mut now_ns, peer, beats);
        assert_eq!(found, expected, "peer {peer} at {} bytes/us, {beats} beats", rates[peer as usize]);
        answers[usize::from(found)] += 1;
        now_ns += match random.below(20) {
            0 => 1_000_000 * random.below(40),
            1..4 => random.below(3000),
            _ => 4 * random.below(3),
        };
    }
    assert!(answers.iter().all(|count| *count > questions / 10), "{answers:?} refused and granted");
}

#[test]
fn every_answer_is_that_of_exact_arithmetic() {
    for seed in 1..=4 {
        run(&mut new(false), &mut Random::new(seed), 20_000);
    }
}

#[test]
fn the_verilog_paces_alike() {
    let mut bench = new(true);
    run(&mut bench, &mut Random::new(9), 600);
    bench.verify_with_verilator("pacer");
}

#[test]
fn a_peer_without_a_rate_is_not_paced() {
    let mut bench = new(false);
    write(&mut bench, 7, 3, 100);
    for (peer, paced) in [(7, true), (6, false)] {
        bench.block.peer.next = bits_w(peer);
        bench.settle();
        assert_eq!(bench.block.paced.val(), paced);
    }
}

struct Granted {
    at_ns: u64,
    /// Time of its last refusal.
    refused_ns: Option<u64>,
    bytes: u64,
}

/// Frames of a permanent backlog that asks at random times at most 180 ns apart.
fn backlog(rate: u64, frames: usize, largest_only: bool) -> Vec<Granted> {
    let (mut bench, mut random) = (new(false), Random::new(rate));
    write(&mut bench, 3, 3, rate);
    let mut now_ns = 1 << 30;
    let mut out = Vec::new();
    while out.len() < frames {
        let beats = if largest_only { PAYLOAD } else { 1 + random.below(PAYLOAD) };
        let (mut at_ns, mut refused_ns) = (now_ns, None);
        while !ask(&mut bench, &mut now_ns, 3, beats) {
            refused_ns = Some(at_ns);
            now_ns += 4 * random.below(40);
            at_ns = now_ns;
        }
        out.push(Granted { at_ns, refused_ns, bytes: frame_bytes(beats) });
    }
    out
}

#[test]
fn over_any_interval_a_peer_gets_its_rate_within_a_bucket_and_a_frame() {
    for rate in [1, 37, 400, 1250, 6250] {
        for largest_only in [true, false] {
            let granted = backlog(rate, 150, largest_only);
            for (first, from) in granted.iter().enumerate() {
                let mut millibytes = 0;
                for to in &granted[first..] {
                    let flowed = |ns: u64| u128::from(ns.saturating_sub(from.at_ns)) * u128::from(rate);
                    // Lower bound: the rate up to this frame's last refusal, less one frame.
                    let frame = u128::from(frame_bytes(PAYLOAD)) * 1000;
                    let least = flowed(to.refused_ns.unwrap_or(to.at_ns));
                    assert!(millibytes + frame >= least, "rate {rate}: {millibytes} of {least}");
                    millibytes += u128::from(to.bytes) * 1000;
                    let most = depth(rate) + flowed(to.at_ns);
                    assert!(millibytes <= most, "rate {rate}: {millibytes} of {most}");
                }
            }
        }
    }
}

#[test]
fn clear_drops_the_question() {
    let mut bench = new(false);
    write(&mut bench, 3, 3, 10);
    bench.block.peer.next = bits_w(3);
    bench.block.beats.next = bits_w(PAYLOAD);
    bench.block.ask.next = true;
    bench.tick();
    bench.tick();
    bench.block.ask.next = false;
    bench.block.clear.next = true;
    bench.tick();
    bench.block.clear.next = false;
    for _ in 0..8 {
        bench.settle();
        assert!(!bench.block.answer.val());
        bench.tick();
    }
    assert!(ask(&mut bench, &mut 0, 3, PAYLOAD), "the bucket is still full");
}
