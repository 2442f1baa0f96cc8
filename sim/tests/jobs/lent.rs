//! Memory from `Communicator::alloc`, which cards access directly.

use std::process::Command;
use std::time::Instant;

use optireduce::{Buffer, CardFallback, Communicator};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use super::fallback::LOSSY;
use super::*;

const RANKS: usize = 3;
const ALL: [usize; RANKS] = [0, 1, 2];
const WINDOW: usize = 1024;

/// Gradient and result; `None` during a call.
struct Lent(Option<(Buffer, Buffer)>);

impl Lent {
    fn new(communicator: &Communicator, elements: usize) -> Self {
        Self(Some((communicator.alloc(elements).unwrap(), communicator.alloc(elements).unwrap())))
    }

    fn all_reduce(&mut self, bucket: &mut optireduce::Bucket, rank: usize, step: usize) -> Report {
        let (mut from, mut to) = self.0.take().unwrap();
        let elements = from.len();
        from.copy_from_slice(&gradient(rank, step, elements));
        to.fill(f32::NAN);
        let ((from, to), report) = bucket.start_all_reduce((from, to)).wait().unwrap();
        assert_eq!(*from, *gradient(rank, step, elements), "what is sent from is not written");
        self.0 = Some((from, to));
        report
    }

    fn result(&self) -> &[f32] {
        &self.0.as_ref().unwrap().1
    }
}

/// Caller-owned mappings in the process that serves a card.
fn mappings(card: &Served) -> usize {
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", card.pid())).unwrap();
    maps.lines().filter(|line| line.contains("memfd:optireduce-buffer")).count()
}

#[test]
fn what_lies_in_lent_memory_is_not_copied_and_leaves_the_card_when_it_is_freed() {
    let job = Job::new(2);
    on_ranks(RANKS, |rank| {
        let mut communicator = Communicator::connect(job.builder(rank, RANKS).window_bytes(4 * WINDOW)).wait().unwrap();
        for (number, elements) in [(0, 40 * WINDOW), (1, 16), (2, 3 * WINDOW + 65), (3, 7)] {
            let mut bucket = communicator.bucket(elements, exact()).wait().unwrap();
            let mut lent = Lent::new(&communicator, elements);
            for step in 0..4 {
                let report = lent.all_reduce(&mut bucket, rank, step);
                assert!(is_whole(&report), "rank {rank}, step {step}, {elements} elements: {report}");
                check(lent.result(), &sum(&ALL, step, elements), &format!("rank {rank}, step {step}"));
                if rank < 2 {
                    assert_eq!(report.copied_bytes, 0, "{elements} elements");
                    // A bucket's first collective removes earlier mappings.
                    assert_eq!(mappings(&job.cards[rank]), 2, "bucket {number}, step {step}");
                }
            }
            let mut data = gradient(rank, 9, elements);
            let report = bucket.all_reduce(&mut data).unwrap();
            check(&data, &sum(&ALL, 9, elements), "ordinary memory");
            assert!(report.copied_bytes >= 2 * 4 * elements as u64, "{report:?}");
        }
        communicator.close().wait().unwrap();
    });
    // The serving process must first notice the end of its driver.
    let deadline = Instant::now() + TIMEOUT;
    while job.cards.iter().any(|card| mappings(card) > 0) {
        assert!(Instant::now() < deadline, "memory of a driver that has gone stays mapped");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// An unfinished collective ends with the available data and returns its memory.
#[test]
fn a_card_that_fails_is_cut_off_from_lent_memory() {
    for hangs in [false, true] {
        let mut job = Job::new(1);
        let file = served::free_path();
        let faults: &[&str] = if hangs { &["--hang-when", file.to_str().unwrap()] } else { &[] };
        job.cards[0] = Served::start_with(job.address(120), job.port, faults);
        on_ranks(RANKS, |rank| {
            let builder = job.builder(rank, RANKS).bound(fallback::BOUND);
            let mut communicator = Communicator::connect(builder.card_fallback(CardFallback::Udp)).wait().unwrap();
            let elements = 40 * WINDOW;
            let mut bucket = communicator.bucket(elements, exact()).wait().unwrap();
            let mut lent = Lent::new(&communicator, elements);
            for step in 0..3 {
                assert!(is_whole(&lent.all_reduce(&mut bucket, rank, step)));
            }
            communicator.barrier().wait().unwrap();
            if rank == 0 && hangs {
                assert_eq!(mappings(&job.cards[0]), 2);
                served::befall(&file);
            } else if rank == 0 {
                job.cards[0].end();
            }
            communicator.barrier().wait().unwrap();
            for step in 3..30 {
                let report = lent.all_reduce(&mut bucket, rank, step);
                // The first results may be incomplete or corrected.
                if step >= 3 + LOSSY {
                    assert!(is_whole(&report), "rank {rank}, step {step}: {report}");
                    check(lent.result(), &sum(&ALL, step, elements), &format!("rank {rank}, step {step}"));
                }
            }
            assert!(communicator.metrics().wait().unwrap().fallback_from.is_some(), "rank {rank}");
            if rank == 0 && hangs {
                assert_eq!(mappings(&job.cards[0]), 0, "a card that has failed reaches nothing");
            }
            communicator.close().wait().unwrap();
        });
    }
}

/// One line is about the card and one about the job. A process has one log, so the test runs itself
/// in another process.
#[test]
fn a_card_that_dies_is_one_line_in_the_log_whatever_was_lent_to_it() {
    const VARIABLE: &str = "OPTIREDUCE_TEST_OF_THE_LOG";
    if std::env::var_os(VARIABLE).is_none() {
        let mut again = Command::new(std::env::current_exe().unwrap());
        let test = "lent::a_card_that_dies_is_one_line_in_the_log_whatever_was_lent_to_it";
        let output = again.args(["--exact", test, "--nocapture"]).env(VARIABLE, "1").output().unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{log}");
        let of_card: Vec<&str> = log.lines().filter(|line| line.contains("vfio-user:/")).collect();
        assert_eq!(of_card.len(), 2, "{log}");
        for part in ["ERROR optireduce_driver::bus::vfio_user: the card is gone", "the card of this rank has failed"] {
            assert!(of_card.iter().any(|line| line.contains(part)), "{log}");
        }
        return;
    }
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    tracing_subscriber::registry().with(lines.with_filter(LevelFilter::WARN)).init();
    let job = Job::new(1);
    on_ranks(2, |rank| {
        let mut communicator =
            Communicator::connect(job.builder(rank, 2).card_fallback(CardFallback::Udp)).wait().unwrap();
        let mut bucket = communicator.bucket(WINDOW, exact()).wait().unwrap();
        let mut lent = [(); 2].map(|()| Lent::new(&communicator, WINDOW));
        for lent in &mut lent {
            let _ = lent.all_reduce(&mut bucket, rank, 0);
        }
        communicator.barrier().wait().unwrap();
        if rank == 0 {
            assert_eq!(mappings(&job.cards[0]), 4);
            job.cards[0].end();
        }
        for step in 1..1 + LOSSY {
            let _ = lent[0].all_reduce(&mut bucket, rank, step);
        }
        assert!(communicator.metrics().wait().unwrap().fallback_from.is_some(), "rank {rank}");
        communicator.close().wait().unwrap();
    });
}
