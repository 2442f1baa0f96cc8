//! Jobs over real sockets, with cards served by other processes.
#![cfg(feature = "serve")]

mod command;
mod engines;
mod failures;
mod fallback;
mod halves;
mod lent;
mod networks;
mod refusals;
#[path = "../../../host-lib/tests/root/mod.rs"]
mod root;
#[path = "../served/mod.rs"]
mod served;
mod stats;

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use optireduce::tuning::Tuning;
use optireduce::{
    BucketOptions, Communicator, Early, Error, ErrorKind, HadamardMode, ReduceOp, Repair, Report, Settings,
};

use root::free_root;
use served::{Served, free_port};

/// Far longer than any stage, even on a busy machine.
const BOUND: Duration = Duration::from_secs(3);
const TIMEOUT: Duration = Duration::from_secs(60);

/// Cards for the first ranks. Ranks and cards have different addresses.
struct Job {
    network: [u8; 3],
    port: u16,
    root: String,
    cards: Vec<Served>,
}

impl Job {
    fn new(cards: usize) -> Self {
        static NEXT: AtomicU8 = AtomicU8::new(0);
        let [low, high] = (std::process::id() as u16).to_le_bytes();
        // All of 127.0.0.0/8 belongs to this host.
        let network = [127, 1 + low % 250, high.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed))];
        let mut job = Self { network, port: free_port(), root: free_root(), cards: Vec::new() };
        job.cards = (0..cards).map(|rank| Served::start(job.address(100 + rank), job.port)).collect();
        job
    }

    fn address(&self, host: usize) -> Ipv4Addr {
        let [a, b, c] = self.network;
        Ipv4Addr::new(a, b, c, host as u8)
    }

    /// No early close, and a long bound.
    fn builder(&self, rank: usize, ranks: usize) -> Settings {
        let place = Settings::new().rank(rank).world_size(ranks).root(self.root.clone());
        let builder = place.timeout(TIMEOUT).bound(BOUND).early(Early::Off).repair(Repair::NextUpdate);
        match self.cards.get(rank) {
            Some(card) => builder.card(card.socket.to_str().unwrap()),
            None => builder.card("").interface(self.address(1 + rank).to_string()),
        }
    }

    fn connect(&self, rank: usize, ranks: usize) -> Communicator {
        Communicator::connect(self.builder(rank, ranks)).wait().unwrap()
    }
}

/// Runs each rank on a thread. Returns the results by rank.
fn on_ranks<T: Send>(ranks: usize, rank: impl Fn(usize) -> T + Sync) -> Vec<T> {
    std::thread::scope(|threads| {
        let rank = &rank;
        let threads: Vec<_> = (0..ranks).map(|number| threads.spawn(move || rank(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Exact sums: no encoding.
fn exact() -> BucketOptions {
    BucketOptions::new().reduce_op(ReduceOp::Sum).hadamard(HadamardMode::Off)
}

/// Whole numbers: sums are exact in any order.
fn gradient(rank: usize, step: usize, elements: usize) -> Vec<f32> {
    (0..elements).map(|at| ((rank + 1) * (at % 1000) + step) as f32).collect()
}

/// The exact sum times the reciprocal.
fn mean(ranks: &[usize], step: usize, elements: usize) -> Vec<f32> {
    let factor: usize = ranks.iter().map(|rank| rank + 1).sum();
    let sum = |at: usize| (factor * (at % 1000) + ranks.len() * step) as f32;
    (0..elements).map(|at| sum(at) * (1.0 / ranks.len() as f32)).collect()
}

/// As the library computes it, from the mean.
fn sum(ranks: &[usize], step: usize, elements: usize) -> Vec<f32> {
    mean(ranks, step, elements).iter().map(|mean| mean * ranks.len() as f32).collect()
}

fn check(found: &[f32], expected: &[f32], what: &str) {
    let differs = found.iter().zip(expected).position(|(found, expected)| found.to_bits() != expected.to_bits());
    let differs = differs.map(|at| (at, found[at], expected[at]));
    assert_eq!((found.len(), differs), (expected.len(), None), "{what}: element, found, expected");
}

/// Report of an all-reduce, halted or not.
fn report_of(done: Result<Report, Error>) -> Result<Report, Error> {
    match done {
        Err(error) => error.report().cloned().ok_or(error),
        done => done,
    }
}

/// Ends a job whose results nobody applied.
fn end(communicator: Communicator) {
    match communicator.close().wait() {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::Unsettled => {}
        Err(error) => panic!("{error}"),
    }
}

fn is_whole(report: &Report) -> bool {
    report.lost_bytes == 0 && report.is_applied
}

/// Buckets have one window, as many as a card has slots, and more. Ranks are late in turn, without
/// loss because all wait until the cards are ready.
#[test]
fn cards_and_software_ranks_get_the_same_exact_sums() {
    const RANKS: usize = 4;
    let job = Job::new(2);
    let outputs = on_ranks(RANKS, |rank| {
        let mut communicator = Communicator::connect(job.builder(rank, RANKS).window_bytes(4096)).wait().unwrap();
        assert_eq!(communicator.metrics().wait().unwrap().cards, [0, 1]);
        let sizes = [1, 1000, 8 * 1024, 40_001];
        let mut buckets = sizes.map(|elements| communicator.bucket(elements, exact()).wait().unwrap());
        for step in 0..12 {
            for (bucket, elements) in buckets.iter_mut().zip(sizes) {
                if step % RANKS == rank {
                    std::thread::sleep(Duration::from_millis(10));
                }
                let mut data = gradient(rank, step, elements);
                let report = bucket.all_reduce(&mut data).unwrap();
                assert!(is_whole(&report), "rank {rank}, step {step}, {elements} elements: {report}");
                check(&data, &sum(&[0, 1, 2, 3], step, elements), &format!("rank {rank}, step {step}"));
            }
        }
        let requests: Vec<_> = (0..20).map(|step| buckets[1].start_all_reduce(gradient(rank, step, 1000))).collect();
        for (step, request) in requests.into_iter().enumerate() {
            let (data, report) = request.wait().unwrap();
            assert!(is_whole(&report), "rank {rank}, request {step}: {report}");
            check(&data, &sum(&[0, 1, 2, 3], step, 1000), &format!("rank {rank}, request {step}"));
        }
        // Encoded or rounded results are equal on all ranks.
        let encoded = communicator.bucket(10_000, BucketOptions::new().hadamard(HadamardMode::On)).wait().unwrap();
        let rounded =
            communicator.bucket(10_000, BucketOptions::new().hadamard(HadamardMode::Off).bf16(true)).wait().unwrap();
        let outputs: Vec<Vec<u32>> = [encoded, rounded]
            .into_iter()
            .map(|mut bucket| {
                let mut data = gradient(rank, 0, 10_000);
                let report = bucket.all_reduce(&mut data).unwrap();
                assert!(is_whole(&report), "rank {rank}: {report}");
                for (found, expected) in data.iter().zip(mean(&[0, 1, 2, 3], 0, 10_000)) {
                    assert!((found - expected).abs() <= 0.01 * expected.max(1.0), "{found} instead of {expected}");
                }
                data.iter().map(|value| value.to_bits()).collect()
            })
            .collect();
        let weights = communicator.exact().broadcast(3, vec![rank as f32; 100]).wait().unwrap();
        assert_eq!(weights, [3.0; 100]);
        let metrics = communicator.metrics().wait().unwrap();
        assert!(metrics.counters.rx_packets > 0 && metrics.counters.tx_packets > 0, "{metrics:?}");
        drop(buckets);
        communicator.close().wait().unwrap();
        outputs
    });
    assert!(outputs.iter().all(|output| *output == outputs[0]), "replicas differ");
}

#[test]
fn a_job_of_cards_alone_and_the_next_on_the_same_cards() {
    const RANKS: usize = 3;
    let job = Job::new(RANKS);
    for step in 0..2 {
        on_ranks(RANKS, |rank| {
            let mut communicator = job.connect(rank, RANKS);
            let mut bucket = communicator.bucket(3000, exact()).wait().unwrap();
            for _ in 0..3 {
                let mut data = gradient(rank, step, 3000);
                let report = bucket.all_reduce(&mut data).unwrap();
                assert!(is_whole(&report), "rank {rank}: {report}");
                check(&data, &sum(&[0, 1, 2], step, 3000), &format!("rank {rank}"));
            }
            communicator.close().wait().unwrap();
        });
    }
}

/// Groups and Partial Reduce use the kernel's UDP.
#[test]
fn groups_and_partial_reduce_work_beside_cards() {
    const RANKS: usize = 2;
    let job = Job::new(1);
    on_ranks(RANKS, |rank| {
        let mut communicator = job.connect(rank, RANKS);
        let mut pair = communicator.split(Some(0)).wait().unwrap().unwrap();
        assert!(pair.metrics().wait().unwrap().cards.is_empty());
        let mut bucket = pair.bucket(100, exact()).wait().unwrap();
        let mut data = gradient(rank, 2, 100);
        let report = bucket.all_reduce(&mut data).unwrap();
        assert!(is_whole(&report), "{report}");
        check(&data, &sum(&[0, 1], 2, 100), &format!("rank {rank}"));
        let mut workers =
            communicator.partial_reduce(50, optireduce::PartialOptions::new().group_size(RANKS)).wait().unwrap();
        let (model, _) = workers.average(vec![rank as f32; 50], 1).wait().unwrap();
        assert_eq!(model, [0.5; 50]);
        workers.close().wait().unwrap();
        let mut bucket = communicator.bucket(100, exact()).wait().unwrap();
        assert!(is_whole(&bucket.all_reduce(&mut gradient(rank, 3, 100)).unwrap()));
        communicator.close().wait().unwrap();
    });
}
