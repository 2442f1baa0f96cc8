//! Reduce-scatters and all-gathers in jobs with cards, which use the kernel's UDP.

use optireduce::{Communicator, ErrorKind, Kind};

use super::*;

/// Shards of whole beats, of partial beats, and no shard for the last rank.
const SIZES: [usize; 4] = [3, 1000, 5 * 16 * 3, 40_001];

/// One card, two software ranks.
#[test]
fn halves_and_all_reduces_take_turns_and_are_exact() {
    const RANKS: usize = 3;
    let job = Job::new(1);
    on_ranks(RANKS, |rank| {
        let mut communicator = Communicator::connect(job.builder(rank, RANKS).rate_control(true)).wait().unwrap();
        assert_eq!(communicator.metrics().wait().unwrap().cards, [0]);
        let mut buckets = SIZES.map(|elements| communicator.bucket(elements, exact()).wait().unwrap());
        for step in 0..4 {
            for (id, (bucket, elements)) in buckets.iter_mut().zip(SIZES).enumerate() {
                let what = format!("rank {rank}, step {step}, {elements} elements");
                let (own, given) = (bucket.shard_range(), gradient(rank, step, elements));
                let (shard, report) = bucket.reduce_scatter(given.clone()).wait().unwrap();
                assert!(is_whole(&report), "{what}: {report}");
                let found = (report.kind, report.bucket.into(), report.elements);
                assert_eq!(found, (Kind::ReduceScatter, id, elements));
                check(&shard[own.clone()], &sum(&[0, 1, 2], step, elements)[own], &what);
                let (whole, report) = bucket.all_gather(shard).wait().unwrap();
                assert!(is_whole(&report) && report.kind == Kind::AllGather, "{what}: {report}");
                check(&whole, &sum(&[0, 1, 2], step, elements), &what);
                let mut data = given;
                let report = bucket.all_reduce(&mut data).unwrap();
                assert!(is_whole(&report) && report.kind == Kind::AllReduce, "{what}: {report}");
                check(&data, &sum(&[0, 1, 2], step, elements), &what);
            }
        }
        // Started together and awaited in another order.
        let [_, small, _, large] = &mut buckets;
        let reduced = large.start_all_reduce(gradient(rank, 9, 40_001));
        let scattered = small.reduce_scatter(gradient(rank, 5, 1000));
        let again = large.reduce_scatter(gradient(rank, 6, 40_001));
        let (shard, _) = again.wait().unwrap();
        check(&shard[large.shard_range()], &sum(&[0, 1, 2], 6, 40_001)[large.shard_range()], "the last");
        let (shard, _) = scattered.wait().unwrap();
        check(&shard[small.shard_range()], &sum(&[0, 1, 2], 5, 1000)[small.shard_range()], "the second");
        check(&reduced.wait().unwrap().0, &sum(&[0, 1, 2], 9, 40_001), "the first");
        communicator.close().wait().unwrap();
    });
}

/// A surplus call on one rank is reported at the end of the job.
#[test]
fn wrong_halves_are_errors_on_all_ranks() {
    let job = Job::new(1);
    on_ranks(2, |rank| {
        let mut communicator = job.connect(rank, 2);
        let mut bucket = communicator.bucket(64, exact()).wait().unwrap();
        // Ends only the job over UDP; the cards continue.
        let error = bucket.all_gather(vec![1.0; 64 + rank]).wait().unwrap_err();
        assert!(error.kind() == ErrorKind::Mismatch, "{error:?}");
        assert!(error.to_string().contains("64") && error.to_string().contains("65"), "{error}");
        let mut data = gradient(rank, 7, 64);
        assert!(is_whole(&bucket.all_reduce(&mut data).unwrap()));
        check(&data, &sum(&[0, 1], 7, 64), &format!("rank {rank}"));
    });
    let job = Job::new(1);
    let errors = on_ranks(2, |rank| {
        let mut communicator =
            Communicator::connect(job.builder(rank, 2).bound(Duration::from_millis(50))).wait().unwrap();
        let mut bucket = communicator.bucket(64, exact()).wait().unwrap();
        (0..2 + rank).for_each(|_| drop(bucket.reduce_scatter(vec![1.0; 64]).wait().unwrap()));
        communicator.close().wait().unwrap_err().to_string()
    });
    assert!(errors.iter().all(|error| error.contains("reduce-scatter") && *error == errors[0]), "{errors:?}");
}

#[test]
fn a_rank_that_leaves_is_dropped_from_halves_too() {
    const RANKS: usize = 4;
    let job = Job::new(1);
    let short = Duration::from_millis(300);
    on_ranks(RANKS, |rank| {
        let builder = job.builder(rank, RANKS).bound(short).drop_silent_after(Some(2)).skip_gone(true);
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let mut bucket = communicator.bucket(4000, exact()).wait().unwrap();
        drop(bucket.reduce_scatter(gradient(rank, 0, 4000)).wait().unwrap());
        if rank == 2 {
            return;
        }
        let own = bucket.shard_range();
        let mut whole = 0;
        for step in 0..60 {
            let (shard, report) = bucket.reduce_scatter(gradient(rank, step, 4000)).wait().unwrap();
            if report.ranks == [0, 1, 3] && is_whole(&report) {
                check(
                    &shard[own.clone()],
                    &sum(&[0, 1, 3], step, 4000)[own.clone()],
                    &format!("rank {rank}, step {step}"),
                );
                whole += 1;
            }
        }
        assert!(whole >= 5, "rank {rank}: {whole} whole");
        communicator.barrier().wait().unwrap();
        let mut later = communicator.bucket(100, exact()).wait().unwrap();
        let (_, report) = later.reduce_scatter(gradient(rank, 3, 100)).wait().unwrap();
        assert_eq!(report.ranks, [0, 1, 3]);
        communicator.barrier().wait().unwrap();
    });
}
