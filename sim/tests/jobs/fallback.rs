//! Jobs with a failed card continue over UDP with all ranks.

use std::ops::Range;

use optireduce::{Bucket, CardFallback, Communicator};
use optireduce_contract::signs::splitmix64;
use rustix::process::{Pid, Signal, kill_process};

use super::failures::{AFTER, BEFORE, ELEMENTS, RANKS, SHORT, declare};
use super::*;
use crate::served::{befall, free_path};

/// Maximum of collectives with losses after a failure.
pub const LOSSY: usize = 10;
const LIVE: [usize; RANKS] = [0, 1, 2, 3];
/// Longer than a busy machine delays a rank.
pub const BOUND: Duration = Duration::from_secs(1);

fn builder(job: &Job, rank: usize) -> Settings {
    job.builder(rank, RANKS).bound(BOUND).card_fallback(CardFallback::Udp)
}

/// All-reduces keep all ranks, and are complete and exact except for the first `lossy`.
fn go_on(bucket: &mut Bucket, rank: usize, steps: Range<usize>, lossy: usize) {
    for step in steps.clone() {
        let mut data = gradient(rank, step, ELEMENTS);
        let done = report_of(bucket.all_reduce(&mut data));
        let report = done.unwrap_or_else(|error| panic!("rank {rank}, step {step}: {error}"));
        let what = format!("rank {rank}, step {step}: {report}");
        assert_eq!(report.ranks, LIVE, "{what}");
        if step >= steps.start + lossy {
            assert!(is_whole(&report), "{what}");
            check(&data, &sum(&LIVE, step, ELEMENTS), &what);
        }
    }
}

/// Checks the fallback, and that only `failed` ranks report a failed card. Returns the first
/// collective over UDP and the reported text.
fn assert_fallen_back(communicator: &Communicator, failed: bool) -> (u32, String) {
    let metrics = communicator.metrics().wait().unwrap();
    let over_udp = metrics.over_udp.expect("metrics of what goes over UDP");
    assert!(over_udp.counters.rx_packets > 0, "{over_udp:?}");
    assert_eq!(metrics.card_failure.is_some(), failed, "{:?}", metrics.card_failure);
    assert!(communicator.failure().is_none());
    (metrics.fallback_from.expect("a collective"), metrics.card_failure.unwrap_or_default())
}

#[test]
fn a_card_that_fails_costs_its_job_a_few_collectives_and_no_rank() {
    for (fault, expected) in [
        ("killed", "the card is gone"),
        ("stopped", "the card is gone"),
        ("--reset-when", "CONTROL is 0x0"),
        ("--hang-when", ": no completion in "),
    ] {
        let (mut job, file) = (Job::new(1), free_path());
        let options = [fault, file.to_str().unwrap()];
        let faults: &[&str] = if fault.starts_with("--") { &options } else { &[] };
        job.cards.push(Served::start_with(job.address(101), job.port, faults));
        let from = on_ranks(RANKS, |rank| {
            let mut communicator = Communicator::connect(builder(&job, rank)).wait().unwrap();
            let mut bucket = declare(&mut communicator);
            go_on(&mut bucket, rank, BEFORE, 0);
            // Unsent data of the card now belongs to the last collective.
            communicator.barrier().wait().unwrap();
            if rank == 1 {
                match fault {
                    "killed" => job.cards[1].end(),
                    "stopped" => kill_process(Pid::from_raw(job.cards[1].pid() as i32).unwrap(), Signal::STOP).unwrap(),
                    _ => befall(&file),
                }
            }
            // No rank continues before the failure.
            communicator.barrier().wait().unwrap();
            go_on(&mut bucket, rank, AFTER, LOSSY);
            communicator.barrier().wait().unwrap();
            let mut late = communicator.bucket(500, exact()).wait().unwrap();
            let mut data = gradient(rank, 1, 500);
            assert!(is_whole(&late.all_reduce(&mut data).unwrap()));
            check(&data, &sum(&LIVE, 1, 500), "a bucket that was declared late");
            let (from, said) = assert_fallen_back(&communicator, rank == 1);
            assert!(rank != 1 || said.contains(expected), "{fault}: {said}");
            assert!((BEFORE.end..BEFORE.end + LOSSY).contains(&(from as usize)), "{fault}: from {from}");
            drop((bucket, late));
            communicator.close().wait().unwrap_or_else(|error| panic!("{fault}: rank {rank}: {error}"));
            from
        });
        assert!(from.iter().all(|one| *one == from[0]), "{fault}: {from:?}");
    }
}

/// The rank with the failed card must not run ahead of the other one, which waits for both bounds.
#[test]
fn the_first_collective_over_udp_is_whole() {
    let job = Job::new(1);
    on_ranks(2, |rank| {
        let builder = job.builder(rank, 2).bound(BOUND).card_fallback(CardFallback::Udp);
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let mut bucket = declare(&mut communicator);
        let mut lossy = Vec::new();
        for step in 0..20 {
            let mut data = gradient(rank, step, ELEMENTS);
            let report = bucket.all_reduce(&mut data).unwrap();
            match is_whole(&report) {
                true => check(&data, &sum(&[0, 1], step, ELEMENTS), &format!("rank {rank}, step {step}: {report}")),
                false => lossy.push(step as u32),
            }
            if step == 9 {
                communicator.barrier().wait().unwrap();
                if rank == 0 {
                    job.cards[0].end();
                }
            }
        }
        // Empty if the ranks agreed before the next collective started.
        let from = assert_fallen_back(&communicator, rank == 0).0;
        assert_eq!(lossy, (10..from).collect::<Vec<_>>(), "rank {rank}");
    });
}

#[test]
fn calls_that_are_under_way_when_cards_fail_are_answered_in_order() {
    let job = Job::new(2);
    on_ranks(RANKS, |rank| {
        let mut communicator = Communicator::connect(builder(&job, rank)).wait().unwrap();
        let mut buckets = [0, 1].map(|_| declare(&mut communicator));
        for step in 0..40 {
            if step == 5 || step == 15 {
                // A failed card loses unsent data, even of calls that are done on its rank.
                communicator.barrier().wait().unwrap();
            }
            let first = buckets[0].start_all_reduce(gradient(rank, step, ELEMENTS));
            let half = buckets[0].reduce_scatter(gradient(rank, step + 2, ELEMENTS));
            let second = buckets[1].start_all_reduce(gradient(rank, step + 1, ELEMENTS));
            if step == 5 + 10 * rank && rank < 2 {
                job.cards[rank].end();
            }
            let shard = buckets[0].shard_range();
            for (request, of, range) in
                [(second, step + 1, 0..ELEMENTS), (half, step + 2, shard), (first, step, 0..ELEMENTS)]
            {
                let (values, report) = request.wait().unwrap();
                let what = format!("rank {rank}, step {step}, numbers {of}: {report}");
                assert_eq!(report.ranks, LIVE, "{what}");
                if !(5..=15 + LOSSY).contains(&step) {
                    assert!(is_whole(&report), "{what}");
                    check(&values[range.clone()], &sum(&LIVE, of, ELEMENTS)[range], &what);
                }
            }
        }
        assert_fallen_back(&communicator, rank < 2);
        let mut late = communicator.bucket(1000, exact()).wait().unwrap();
        let mut data = gradient(rank, 7, 1000);
        assert!(is_whole(&late.all_reduce(&mut data).unwrap()));
        check(&data, &sum(&LIVE, 7, 1000), "a bucket that was declared late");
        drop((buckets, late));
        end(communicator);
    });
}

/// After `settle`, applied updates and corrections have the same sum on all ranks.
#[test]
fn replicas_agree_again_after_a_card_has_failed() {
    let job = Job::new(2);
    let models = on_ranks(RANKS, |rank| {
        let mut communicator = Communicator::connect(builder(&job, rank)).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, exact()).wait().unwrap();
        let mut model = vec![0.0; ELEMENTS];
        let apply =
            |model: &mut [f32], values: &[f32]| model.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        for step in 0..30 {
            if step == 10 && rank == 1 {
                job.cards[1].end();
            }
            let mut data = gradient(rank, step, ELEMENTS);
            // Zeros after a skip.
            let _report = report_of(bucket.all_reduce(&mut data)).unwrap();
            apply(&mut model, &data);
        }
        let settled = bucket.settle(None).wait().unwrap();
        assert!(settled.is_settled && settled.repairs.drift_bytes == 0, "rank {rank}: {settled:?}");
        settled.correction.iter().for_each(|correction| apply(&mut model, correction));
        assert_fallen_back(&communicator, rank == 1);
        drop(bucket);
        communicator.close().wait().unwrap();
        model
    });
    for (rank, model) in models.iter().enumerate().skip(1) {
        let differs = model.iter().zip(&models[0]).position(|(one, other)| (one - other).abs() > 1e-6 * other.abs());
        let differs = differs.map(|at| (at, model[at], models[0][at]));
        assert_eq!(differs, None, "rank {rank}: element, found, expected");
    }
}

/// The job has the default bound and early rule, and large, encoded and agreed buckets.
#[test]
fn a_card_may_die_at_any_moment() {
    const LARGE: usize = 60_001;
    const STEPS: usize = 60;
    for seed in 0..6_u64 {
        let job = Job::new(2);
        let after = Duration::from_micros(splitmix64(seed) % 300_000);
        on_ranks(RANKS, |rank| {
            let builder = job.builder(rank, RANKS).bound(None).bound_max(SHORT).early(Early::Adaptive);
            // A delayed rank may miss a few collectives.
            let builder = builder.drop_silent_after(Some(20));
            let builder = builder.card_fallback(CardFallback::Udp).agree(seed % 2 == 0);
            let mut communicator = Communicator::connect(builder).wait().unwrap();
            let mut plain = communicator.bucket(LARGE, exact()).wait().unwrap();
            let encoded = BucketOptions::new().hadamard(HadamardMode::On);
            let mut encoded = communicator.bucket(ELEMENTS, encoded).wait().unwrap();
            communicator.barrier().wait().unwrap();
            std::thread::scope(|threads| {
                if rank == 1 {
                    threads.spawn(|| {
                        std::thread::sleep(after);
                        job.cards[1].end();
                    });
                }
                for step in 0..STEPS {
                    let what = format!("seed {seed}, rank {rank}, step {step}");
                    let begun = encoded.start_all_reduce(gradient(rank, step, ELEMENTS));
                    let (values, report) = plain.start_all_reduce(gradient(rank, step, LARGE)).wait().unwrap();
                    assert_eq!((&report.ranks[..], values.len()), (&LIVE[..], LARGE), "{what}: {report}");
                    let report = begun.wait().unwrap().1;
                    assert_eq!(report.ranks, LIVE, "{what}: {report}");
                }
            });
            let settled = plain.settle(None).wait().unwrap();
            assert!(settled.is_settled, "seed {seed}, rank {rank}: {settled:?}");
            // With a short bound, ranks may be late on a busy machine.
            let mut late = communicator.bucket(LARGE, exact()).wait().unwrap();
            let right = (0..20).filter(|step| {
                let mut data = gradient(rank, *step, LARGE);
                let report = late.all_reduce(&mut data).unwrap();
                assert_eq!(report.ranks, LIVE, "seed {seed}, rank {rank}: {report}");
                data == sum(&LIVE, *step, LARGE)
            });
            assert!(right.count() > 0, "seed {seed}, rank {rank}");
            assert_fallen_back(&communicator, rank == 1);
            drop((plain, encoded, late));
            end(communicator);
        });
    }
}

#[test]
fn a_card_that_is_killed_before_the_first_call_is_told_and_done_without() {
    let job = Job::new(1);
    let mut communicators = on_ranks(RANKS, |rank| Some(Communicator::connect(builder(&job, rank)).wait().unwrap()));
    job.cards[0].end();
    let told = std::iter::repeat_with(|| {
        std::thread::sleep(Duration::from_millis(10));
        communicators[0].as_ref().unwrap().metrics().wait().unwrap().card_failure
    });
    let told = told.take(1000).flatten().next().expect("a failure");
    assert!(told.contains("the card is gone"), "{told}");
    let communicators: Vec<_> = communicators.iter_mut().map(|one| std::sync::Mutex::new(one.take())).collect();
    on_ranks(RANKS, |rank| {
        let mut communicator = communicators[rank].lock().unwrap().take().unwrap();
        let mut bucket = declare(&mut communicator);
        go_on(&mut bucket, rank, AFTER, LOSSY);
        assert_fallen_back(&communicator, rank == 0);
        drop(bucket);
        communicator.close().wait().unwrap();
    });
}

#[test]
fn ranks_that_do_not_all_want_to_fall_back_are_told_so() {
    let job = Job::new(1);
    let errors = on_ranks(2, |rank| {
        let fallback = [CardFallback::Udp, CardFallback::Off][rank];
        Communicator::connect(job.builder(rank, 2).card_fallback(fallback)).wait().unwrap_err().to_string()
    });
    assert!(errors.iter().all(|error| error.contains("card_fallback") && error.contains("udp")), "{errors:?}");
}
