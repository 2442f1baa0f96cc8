//! Reduce-scatters and all-gathers in jobs with cards, which use the kernel's UDP.

use optireduce::{Error, Kind};

use super::*;

/// Shards of whole beats, of partial beats, and no shard for the last rank.
const SIZES: [usize; 4] = [3, 1000, 5 * 16 * 3, 40_001];

/// One card, two software ranks, declared and one-off halves.
#[test]
fn halves_and_all_reduces_take_turns_and_are_exact() {
    const RANKS: usize = 3;
    let job = Job::new(1);
    on_ranks(RANKS, |rank| {
        let mut communicator = job.builder(rank, RANKS).rate_control(true).connect().unwrap();
        assert_eq!(communicator.cards(), [0]);
        let mut buckets = SIZES.map(|elements| communicator.bucket(elements, exact()).unwrap());
        let ids: Vec<u16> = buckets.iter().map(|bucket| bucket.id()).collect();
        for step in 0..4 {
            for ((bucket, elements), id) in buckets.iter_mut().zip(SIZES).zip(&ids) {
                let what = format!("rank {rank}, step {step}, {elements} elements");
                let (own, given) = (bucket.shard_range(), gradient(rank, step, elements));
                let (shard, report) = bucket.reduce_scatter(&given).unwrap();
                assert!(is_whole(&report), "{what}: {report}");
                assert_eq!((report.kind(), report.bucket(), report.elements()), (Kind::ReduceScatter, *id, elements));
                check(&shard, &sum(&[0, 1, 2], step, elements)[own.clone()], &what);
                let (whole, report) = bucket.all_gather(&shard).unwrap();
                assert!(is_whole(&report) && report.kind() == Kind::AllGather, "{what}: {report}");
                check(&whole, &sum(&[0, 1, 2], step, elements), &what);
                let mut data = given;
                let report = bucket.all_reduce(&mut data).unwrap();
                assert!(is_whole(&report) && report.kind() == Kind::AllReduce, "{what}: {report}");
                check(&data, &sum(&[0, 1, 2], step, elements), &what);
            }
        }
        // Started together and awaited in another order.
        let [_, small, _, large] = &mut buckets;
        let reduced = large.start_all_reduce(gradient(rank, 9, 40_001));
        let scattered = small.start_reduce_scatter(gradient(rank, 5, 1000));
        let again = large.start_reduce_scatter(gradient(rank, 6, 40_001));
        let (shard, _) = again.wait().unwrap();
        check(&shard, &sum(&[0, 1, 2], 6, 40_001)[large.shard_range()], "the last");
        let (shard, _) = scattered.wait().unwrap();
        check(&shard, &sum(&[0, 1, 2], 5, 1000)[small.shard_range()], "the second");
        check(&reduced.wait().unwrap().0, &sum(&[0, 1, 2], 9, 40_001), "the first");
        let (shard, report) = communicator.reduce_scatter(&gradient(rank, 2, 500)).unwrap();
        assert!(is_whole(&report), "{report}");
        check(&shard, &mean(&[0, 1, 2], 2, 500)[communicator.shard_range(500)], "once");
        let (whole, _) = communicator.all_gather(500, &shard).unwrap();
        check(&whole, &mean(&[0, 1, 2], 2, 500), "once");
        communicator.close().unwrap();
    });
}

/// A surplus call on one rank is reported at the end of the job.
#[test]
fn wrong_halves_are_errors_on_all_ranks() {
    let job = Job::new(1);
    on_ranks(2, |rank| {
        let mut communicator = job.connect(rank, 2);
        let mut bucket = communicator.bucket(64, exact()).unwrap();
        let error = communicator.reduce_scatter(&vec![1.0; 64 + rank]).unwrap_err().to_string();
        assert!(error.contains("64") && error.contains("65"), "{error}");
        // Ends only the job over UDP; the cards continue.
        let error = bucket.all_gather(&vec![1.0; 32 - rank]).unwrap_err();
        assert!(matches!(error, Error::Mismatch(_)), "{error:?}");
        let mut data = gradient(rank, 7, 64);
        assert!(is_whole(&bucket.all_reduce(&mut data).unwrap()));
        check(&data, &sum(&[0, 1], 7, 64), &format!("rank {rank}"));
    });
    let job = Job::new(1);
    let errors = on_ranks(2, |rank| {
        let mut communicator = job.builder(rank, 2).bound(Duration::from_millis(50)).connect().unwrap();
        let mut bucket = communicator.bucket(64, exact()).unwrap();
        (0..2 + rank).for_each(|_| drop(bucket.reduce_scatter(&[1.0; 64]).unwrap()));
        communicator.close().unwrap_err().to_string()
    });
    assert!(errors.iter().all(|error| error.contains("reduce-scatter") && *error == errors[0]), "{errors:?}");
}

#[test]
fn a_rank_that_leaves_is_dropped_from_halves_too() {
    const RANKS: usize = 4;
    let job = Job::new(1);
    let short = Duration::from_millis(300);
    on_ranks(RANKS, |rank| {
        let builder = job.builder(rank, RANKS).bound(short).drop_silent_after(Some(2));
        let mut communicator = builder.connect().unwrap();
        communicator.skip_gone_ranks().unwrap();
        let mut bucket = communicator.bucket(4000, exact()).unwrap();
        drop(bucket.reduce_scatter(&gradient(rank, 0, 4000)).unwrap());
        if rank == 2 {
            return;
        }
        let own = bucket.shard_range();
        let mut whole = 0;
        for step in 0..60 {
            let (shard, report) = bucket.reduce_scatter(&gradient(rank, step, 4000)).unwrap();
            if report.live_ranks() == [0, 1, 3] && is_whole(&report) {
                check(&shard, &sum(&[0, 1, 3], step, 4000)[own.clone()], &format!("rank {rank}, step {step}"));
                whole += 1;
            }
        }
        assert!(whole >= 5, "rank {rank}: {whole} whole");
        communicator.barrier().unwrap();
        let (shard, report) = communicator.reduce_scatter(&gradient(rank, 1, 4000)).unwrap();
        assert_eq!((shard.len(), report.live_ranks()), (own.len(), &[0, 1, 3][..]));
        let mut later = communicator.bucket(100, exact()).unwrap();
        let (shard, report) = later.reduce_scatter(&gradient(rank, 3, 100)).unwrap();
        assert_eq!((shard.len(), report.live_ranks()), (later.shard_range().len(), &[0, 1, 3][..]));
        communicator.barrier().unwrap();
    });
}
