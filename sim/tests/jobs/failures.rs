//! Failures during a job: a card's process is killed, a rank leaves, a card's host is late.

use std::ops::Range;

use optireduce::{Bucket, Communicator, ErrorKind, Repair};

use super::*;
use crate::served::{befall, free_path};

pub const RANKS: usize = 4;
pub const ELEMENTS: usize = 5000;
/// Collectives before and after a failure. The first ones after it wait for the failed rank.
pub const BEFORE: Range<usize> = 0..10;
pub const AFTER: Range<usize> = 10..60;
/// Minimum of complete results afterwards.
const WHOLE_MIN: usize = 5;
/// Long enough for a collective, short enough to wait for an absent rank.
pub const SHORT: Duration = Duration::from_millis(300);

fn connect(job: &Job, rank: usize) -> (Communicator, Bucket) {
    let builder = job.builder(rank, RANKS).bound(SHORT).drop_silent_after(Some(2));
    let mut communicator = Communicator::connect(builder).wait().unwrap();
    let bucket = declare(&mut communicator);
    (communicator, bucket)
}

/// Without repair, later sums contain no earlier losses.
pub fn declare(communicator: &mut Communicator) -> Bucket {
    communicator.bucket(ELEMENTS, exact().repair(Repair::Off)).wait().unwrap()
}

/// Some all-reduces must be complete among `live` alone, with exact results.
fn go_on_among(bucket: &mut Bucket, rank: usize, live: &[usize], steps: Range<usize>) {
    let (mut whole, mut last) = (0, None);
    for step in steps {
        let mut data = gradient(rank, step, ELEMENTS);
        let report =
            report_of(bucket.all_reduce(&mut data)).unwrap_or_else(|error| panic!("rank {rank}, step {step}: {error}"));
        if report.ranks == live && is_whole(&report) {
            check(&data, &sum(live, step, ELEMENTS), &format!("rank {rank}, step {step}: {report}"));
            whole += 1;
        }
        last = Some(report);
    }
    assert!(whole >= WHOLE_MIN, "rank {rank}: {whole} whole among ranks {live:?}; the last: {last:?}");
}

#[test]
fn a_card_that_is_killed_ends_its_rank_at_once_and_the_others_go_on() {
    let job = Job::new(2);
    on_ranks(RANKS, |rank| {
        let (communicator, mut bucket) = connect(&job, rank);
        go_on_among(&mut bucket, rank, &[0, 1, 2, 3], BEFORE);
        if rank != 1 {
            return go_on_among(&mut bucket, rank, &[0, 2, 3], AFTER);
        }
        job.cards[1].end();
        let errors = AFTER.filter_map(|_| bucket.all_reduce(&mut [1.0; ELEMENTS]).err());
        // Without rank 1 it may halt first.
        let mut errors = errors.filter(|error| error.kind() != ErrorKind::Halted);
        let error = errors.next().expect("an error");
        drop(errors);
        let text = error.to_string();
        assert!(error.kind() == ErrorKind::System, "{error:?}");
        assert!(text.contains("the card is gone") && text.contains(job.cards[1].socket.to_str().unwrap()), "{text}");
        assert_eq!(bucket.all_reduce(&mut [1.0; ELEMENTS]).unwrap_err().to_string(), text);
        assert_eq!(communicator.failure().unwrap().to_string(), text);
        assert_eq!(communicator.metrics().wait().unwrap().counters, Default::default());
    });
}

/// Such cards answer register reads.
#[test]
fn a_card_that_is_reset_or_hangs_ends_its_rank_with_a_sentence() {
    for (fault, expected) in [
        ("--reset-when", "the card has been reset or disabled by somebody else: CONTROL is 0x0, expected 0x1."),
        ("--hang-when", ": no completion in "),
    ] {
        let (mut job, file) = (Job::new(0), free_path());
        job.cards.push(Served::start_with(job.address(100), job.port, &[fault, file.to_str().unwrap()]));
        on_ranks(2, |rank| {
            let builder = job.builder(rank, 2).bound(SHORT).drop_silent_after(None);
            let mut communicator = Communicator::connect(builder).wait().unwrap();
            let mut bucket = declare(&mut communicator);
            go_on_among(&mut bucket, rank, &[0, 1], BEFORE);
            if rank == 1 {
                return;
            }
            befall(&file);
            let errors = AFTER.filter_map(|_| bucket.all_reduce(&mut [1.0; ELEMENTS]).err());
            // Without rank 1 it may halt first.
            let mut errors = errors.filter(|error| error.kind() != ErrorKind::Halted);
            let said = errors.next().expect("an error").to_string();
            assert!(said.contains(expected), "{fault}: {said}");
        });
    }
}

#[test]
fn a_card_that_is_killed_between_calls_is_noticed() {
    let job = Job::new(1);
    let communicators = on_ranks(2, |rank| job.connect(rank, 2));
    job.cards[0].end();
    let failure = std::iter::repeat_with(|| {
        std::thread::sleep(Duration::from_millis(10));
        communicators[0].failure()
    });
    let failure = failure.take(1000).flatten().next().expect("a failure");
    assert!(failure.to_string().contains("the card is gone"), "{failure}");
    assert!(communicators[1].failure().is_none());
}

#[test]
fn cards_go_on_without_a_software_rank_that_leaves() {
    let job = Job::new(2);
    on_ranks(RANKS, |rank| {
        let (_communicator, mut bucket) = connect(&job, rank);
        go_on_among(&mut bucket, rank, &[0, 1, 2, 3], BEFORE);
        if rank != 3 {
            go_on_among(&mut bucket, rank, &[0, 1, 2], AFTER);
        }
    });
}

/// The calls take far longer than the bound and reuse each slot of a card many times. No wait may
/// time out while earlier collectives run.
#[test]
fn many_collectives_at_once_do_not_outrun_a_card() {
    const CALLS: usize = 300;
    const LARGE: usize = 60_001;
    // A fraction of the time that all calls take. On a busy machine a window takes 300 ms.
    const BOUND: Duration = Duration::from_secs(1);
    let job = Job::new(1);
    on_ranks(2, |rank| {
        let builder = job.builder(rank, 2).bound(BOUND).window_bytes(4096);
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let mut bucket = communicator.bucket(LARGE, exact()).wait().unwrap();
        let requests: Vec<_> = (0..CALLS).map(|step| bucket.start_all_reduce(gradient(rank, step, LARGE))).collect();
        for (step, request) in requests.into_iter().enumerate() {
            let (data, report) = request.wait().unwrap();
            assert!(is_whole(&report), "rank {rank}, request {step}: {report}");
            check(&data, &sum(&[0, 1], step, LARGE), &format!("rank {rank}, request {step}"));
        }
        communicator.close().wait().unwrap();
    });
}

/// The late gradient is in the next mean.
#[test]
fn a_host_that_is_late_with_its_card_holds_up_nobody_beyond_the_bound() {
    let job = Job::new(1);
    let late = on_ranks(RANKS, |rank| {
        let builder = job.builder(rank, RANKS).bound(SHORT).drop_silent_after(None);
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let mut bucket = declare(&mut communicator);
        let _report = bucket.all_reduce(&mut gradient(rank, 0, ELEMENTS)).unwrap();
        if rank == 0 {
            std::thread::sleep(6 * SHORT);
        }
        let report = bucket.all_reduce(&mut gradient(rank, 1, ELEMENTS)).unwrap();
        // After this no rank is ahead of the late one.
        communicator.barrier().wait().unwrap();
        go_on_among(&mut bucket, rank, &[0, 1, 2, 3], BEFORE);
        report.late_ranks.to_vec()
    });
    assert!(late[1..].iter().all(|late| late.contains(&0)), "{late:?}");
}
