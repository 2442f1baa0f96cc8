//! The API over real sockets on loopback: declared buckets, requests, async calls, ranks that end.

mod ranks;

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use optireduce::binding::{self, Destination};
use optireduce::{
    Bucket, BucketOptions, Communicator, Error, ErrorKind, HadamardMode, Message, ReduceOp, Repair, Report, Request,
    Stage,
};
use ranks::{builder, check_mean, free_root, gradient, job, report_of};

const ELEMENTS: usize = 30_000;

async fn two_tasks() -> [Vec<f32>; 2] {
    let root = free_root();
    let rank = async |rank: usize| -> Result<Vec<f32>, Error> {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).await?;
        communicator.barrier().await?;
        assert_eq!(communicator.exact().broadcast(1, vec![rank as f32 + 1.0; 1000]).await?, [2.0; 1000]);
        let gathered = communicator.exact().all_gather(vec![rank as u8; 3]).await?;
        assert_eq!(gathered, [Some(vec![0; 3]), Some(vec![1; 3])]);
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).await?;
        let (data, report) = bucket.start_all_reduce(gradient(rank, ELEMENTS)).await?;
        assert_eq!(report.lost_bytes, 0);
        let (again, report) = bucket.start_all_reduce(gradient(rank, ELEMENTS)).await?;
        assert_eq!((report.number, again == data), (1, true));
        let (scattered, _) = bucket.reduce_scatter(gradient(rank, ELEMENTS)).await?;
        let own = bucket.shard_range();
        assert_eq!(scattered[own.clone()], data[own]);
        assert_eq!(bucket.all_gather(scattered).await?.0, data);
        let (exact, _) = binding::start_reliable_mean(&mut communicator, gradient(rank, ELEMENTS)).await?;
        assert_eq!(exact, data);
        assert!(bucket.settle(None).await?.is_settled);
        assert_eq!(communicator.metrics().await?.collectives.collectives, 4);
        communicator.close().await?;
        Ok(data)
    };
    let (one, two) = tokio::join!(rank(0), rank(1));
    [one.unwrap(), two.unwrap()]
}

#[test]
fn ranks_that_share_one_thread_of_an_async_runtime_do_not_hold_up_one_another() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    check_mean(2, &runtime.block_on(two_tasks()), 1e-6);
}

#[test]
fn async_calls_work_in_a_runtime_of_several_threads() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    check_mean(2, &runtime.block_on(two_tasks()), 1e-6);
}

#[test]
fn blocking_calls_inside_an_async_runtime_do_not_panic() {
    let results = job(2, |rank, root| {
        let runtime = match rank {
            0 => tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
            _ => tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap(),
        };
        runtime.block_on(async {
            let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
            communicator.barrier().wait().unwrap();
            let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
            let mut data = gradient(rank, ELEMENTS);
            let _report = bucket.all_reduce(&mut data).unwrap();
            let (again, _) = bucket.start_all_reduce(gradient(rank, ELEMENTS)).wait().unwrap();
            assert_eq!(again, data);
            data = communicator.exact().broadcast(0, data).wait().unwrap();
            communicator.metrics().wait().unwrap();
            communicator.barrier().wait().unwrap();
            data
        })
    });
    check_mean(2, &results, 1e-6);
}

#[test]
fn handles_and_futures_may_move_between_threads() {
    fn is_send<T: Send + 'static>() {}
    fn is_send_and_sync<T: Send + Sync + 'static>() {}
    is_send_and_sync::<Communicator>();
    is_send_and_sync::<Bucket>();
    is_send_and_sync::<Error>();
    is_send::<Request<Communicator>>();
    is_send::<Request<(Vec<f32>, Report)>>();
    is_send::<Request<Message>>();
}

#[test]
fn a_request_is_tested_waited_for_and_kept_when_it_takes_longer() {
    job(2, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        if rank == 1 {
            communicator.barrier().wait().unwrap();
        }
        let mut request = bucket.start_all_reduce(gradient(rank, ELEMENTS));
        if rank == 0 {
            assert!(!request.is_finished() && !request.wait_timeout(Duration::from_millis(50)));
            communicator.barrier().wait().unwrap();
        }
        while !request.wait_timeout(Duration::from_millis(100)) {}
        assert!(request.is_finished());
        let (mean, report) = request.wait().unwrap();
        assert_eq!((mean.len(), report.lost_bytes), (ELEMENTS, 0));
        drop(bucket.start_all_reduce(gradient(rank, ELEMENTS)));
        let (_, report) = bucket.start_all_reduce(gradient(rank, ELEMENTS)).wait().unwrap();
        assert_eq!((report.number, report.lost_bytes), (2, 0));
        communicator.barrier().wait().unwrap();
    });
}

#[test]
fn sums_are_means_times_the_ranks_on_every_way() {
    let results = job(4, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 4, &root)).wait().unwrap();
        let [mut sums, mut means] = [ReduceOp::Sum, ReduceOp::Avg]
            .map(|reduce_op| communicator.bucket(ELEMENTS, BucketOptions::new().reduce_op(reduce_op)).wait().unwrap());
        let (mut sum, mut mean) = (gradient(rank, ELEMENTS), gradient(rank, ELEMENTS));
        let _report = sums.all_reduce(&mut sum).unwrap();
        let _report = means.all_reduce(&mut mean).unwrap();
        let (scattered, _) = sums.reduce_scatter(gradient(rank, ELEMENTS)).wait().unwrap();
        let shard = scattered[sums.shard_range()].to_vec();
        let is_near =
            |sum: &[f32], mean: &[f32]| sum.iter().zip(mean).all(|(sum, mean)| (sum - 4.0 * mean).abs() < 1e-5);
        assert!(is_near(&sum, &mean) && is_near(&shard, &mean[sums.shard_range()]), "rank {rank}");
        let (whole, _) = sums.all_gather(scattered).wait().unwrap();
        assert!(is_near(&whole, &mean) && whole[sums.shard_range()] == shard, "rank {rank}");
        communicator.barrier().wait().unwrap();
        mean
    });
    check_mean(4, &results, 1e-6);
}

#[test]
fn a_bucket_may_be_encoded_while_others_are_not() {
    let results = job(2, |rank, root| {
        let mut communicator =
            Communicator::connect(builder(rank, 2, &root).hadamard(HadamardMode::Off)).wait().unwrap();
        let mut modes = [HadamardMode::On, HadamardMode::Off, HadamardMode::Auto].map(|mode| {
            let bucket = communicator.bucket(ELEMENTS, BucketOptions::new().hadamard(mode)).wait().unwrap();
            (bucket, gradient(rank, ELEMENTS))
        });
        let encoded = modes.each_mut().map(|(bucket, data)| bucket.all_reduce(data).unwrap().is_hadamard);
        assert_eq!(encoded, [true, false, false]);
        communicator.barrier().wait().unwrap();
        modes.map(|(_, data)| data)
    });
    for bucket in 0..3 {
        check_mean(2, &results.iter().map(|data| data[bucket].clone()).collect::<Vec<_>>(), 1e-5);
    }
}

#[test]
fn buckets_of_one_job_travel_as_bf16_and_as_fp32_at_once() {
    let results = job(3, |rank, root| {
        let mut communicator =
            Communicator::connect(builder(rank, 3, &root).bf16(true).hadamard(HadamardMode::Off)).wait().unwrap();
        let options = [BucketOptions::new(), BucketOptions::new().bf16(false).repair(Repair::Off)];
        let mut buckets = options.map(|options| communicator.bucket(ELEMENTS, options).wait().unwrap());
        let mut results = Vec::new();
        for _ in 0..3 {
            let begin = |bucket: &mut Bucket| bucket.start_all_reduce(gradient(rank, ELEMENTS));
            results = buckets.each_mut().map(begin).map(|request| request.wait().unwrap()).into();
        }
        communicator.close().wait().unwrap();
        results.into_iter().map(|(mean, report): (Vec<f32>, Report)| (mean, report.lost_bytes)).collect::<Vec<_>>()
    });
    assert!(results.iter().flatten().all(|(_, lost_bytes)| *lost_bytes == 0));
    let is_bf16 = |values: &[f32]| values.iter().all(|value| value.to_bits() & 0xffff == 0);
    for (bucket, (bf16, tolerance)) in [(true, 1.0 / 256.0), (false, 1e-6)].into_iter().enumerate() {
        let means: Vec<_> = results.iter().map(|result| result[bucket].0.clone()).collect();
        assert_eq!(is_bf16(&means[0]), bf16, "bucket {bucket}");
        check_mean(3, &means, tolerance);
    }
}

const WAYS: usize = 11;
/// The last ways return the memory of the result even after an error.
const OWNED: usize = 8;

/// Reduces ones in one of the ways. Returns the result, empty if an error freed its memory.
fn reduce(communicator: &Communicator, bucket: &mut Bucket, way: usize) -> (Vec<f32>, Result<Report, Error>) {
    let own = bucket.shard_range();
    let mut given = vec![1.0; bucket.elements()];
    let buffer = || {
        let mut buffer = communicator.alloc(given.len()).unwrap();
        buffer.copy_from_slice(&given);
        buffer
    };
    fn split<M>(
        done: Result<(M, Report), Error>,
        result: impl FnOnce(M) -> Vec<f32>,
    ) -> (Vec<f32>, Result<Report, Error>) {
        match done {
            Ok((memory, report)) => (result(memory), Ok(report)),
            Err(error) => (Vec::new(), Err(error)),
        }
    }
    match way {
        0 => split(bucket.start_all_reduce(given).wait(), |mean| mean),
        1 => {
            let request = bucket.start_all_reduce(given);
            split(tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(request), |mean| mean)
        }
        2 => {
            let mut request = bucket.start_all_reduce(given);
            while !request.wait_timeout(Duration::from_millis(1)) {}
            split(request.wait(), |mean| mean)
        }
        3 => split(bucket.start_all_reduce(buffer()).wait(), |mean| mean.to_vec()),
        4 => split(bucket.start_all_reduce((buffer(), buffer())).wait(), |(read, mean)| {
            assert_eq!(read[..], given, "read only");
            mean.to_vec()
        }),
        5 => split(bucket.reduce_scatter(given).wait(), |shard| shard[own].to_vec()),
        6 => split(bucket.reduce_scatter(buffer()).wait(), |shard| shard[own].to_vec()),
        7 => split(bucket.reduce_scatter((buffer(), buffer())).wait(), |(_, shard)| shard[own].to_vec()),
        8 => {
            let done = bucket.all_reduce(&mut given);
            (given, done)
        }
        _ => {
            let ((from, from_back), (to, to_back)) = (binding::lend(buffer()), binding::lend(buffer()));
            let done = match way {
                9 => binding::all_reduce(bucket, from, Destination::Here(to)),
                _ => binding::start_all_reduce(bucket, from, Destination::Here(to)).wait(),
            };
            let done = done.map(|(_, report)| report);
            assert_eq!(from_back.take().unwrap()[..], given, "read only");
            (to_back.take().unwrap().to_vec(), done)
        }
    }
}

/// Rank 0 reduces in every way, after `before` other calls, and before the others call anything.
/// Returns its results. The ranks stay in step.
fn alone(elements: usize, before: usize) -> Vec<(Vec<f32>, Result<Report, Error>)> {
    let mut results = job(3, move |rank, root| {
        let builder = builder(rank, 3, &root).bound(Duration::from_millis(20)).mtu(1500);
        let mut communicator =
            Communicator::connect(builder.drop_silent_after(None).repair(Repair::Off)).wait().unwrap();
        let mut bucket = communicator.bucket(elements, BucketOptions::new()).wait().unwrap();
        if rank > 0 {
            communicator.barrier().wait().unwrap();
        }
        let ways = std::iter::repeat_n(0, before).chain(0..WAYS);
        let results: Vec<_> = ways.map(|way| reduce(&communicator, &mut bucket, way)).collect();
        if rank == 0 {
            communicator.barrier().wait().unwrap();
        }
        let (_, last) = reduce(&communicator, &mut bucket, 0);
        assert_eq!(report_of(last).number as usize, before + WAYS, "rank {rank}");
        // It compares the numbers of the calls.
        communicator.close().wait().unwrap();
        results
    });
    results.swap_remove(0)
}

#[test]
fn a_skipped_reduction_is_zeros_in_the_callers_own_memory() {
    // Too few packets for a halt.
    for (way, (result, done)) in alone(3000, 0).into_iter().enumerate() {
        let report = done.unwrap();
        assert!(!report.is_applied && report.loss() > 0.1, "way {way}: {report}");
        assert!(!result.is_empty() && result.iter().all(|value| *value == 0.0), "way {way}: {report}");
    }
}

#[test]
fn a_halt_is_an_error_with_zeros_and_the_job_can_go_on() {
    let mut results = alone(100_000, 2);
    for (_, done) in results.drain(..2) {
        assert!(!done.unwrap().is_applied);
    }
    for (way, (result, done)) in results.into_iter().enumerate() {
        let error = done.unwrap_err();
        assert!(error.kind() == ErrorKind::Halted && error.to_string().contains("stop the job"), "way {way}: {error}");
        let report = report_of(Err(error));
        assert!(!report.is_applied && report.loss() > 0.1, "way {way}: {report}");
        assert_eq!(report.number as usize, way + 2, "way {way}");
        assert_eq!(result.is_empty(), way < OWNED, "way {way}");
        assert!(result.iter().all(|value| *value == 0.0), "way {way}: {report}");
    }
}

/// In three of four steps one rank returns before the others call, so it skips the update.
#[test]
fn a_trainer_that_ignores_its_reports_ends_with_the_replica_of_one_that_reads_them() {
    const ELEMENTS: usize = 3000;
    let results = job(3, |rank, root| {
        let builder = builder(rank, 3, &root).bound(Duration::from_millis(20));
        let mut communicator = Communicator::connect(builder.drop_silent_after(None)).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        let (mut careless, mut careful, mut skips) = (vec![0.0_f64; ELEMENTS], vec![0.0_f64; ELEMENTS], 0);
        let add = |model: &mut [f64], update: &[f32]| {
            model.iter_mut().zip(update).for_each(|(value, update)| *value += f64::from(*update));
        };
        for step in 0..16 {
            let (is_alone, may_be_late) = (step % 4 == rank + 1, step % 4 > 0);
            if may_be_late && !is_alone {
                communicator.barrier().wait().unwrap();
            }
            let mut data = vec![((1 << (4 * rank)) + step) as f32; ELEMENTS];
            let report = report_of(bucket.all_reduce(&mut data));
            if is_alone {
                communicator.barrier().wait().unwrap();
            }
            add(&mut careless, &data);
            if report.is_applied {
                add(&mut careful, &data);
            } else {
                skips += 1;
            }
        }
        let settled = bucket.settle(None).wait().unwrap();
        assert_eq!((settled.is_settled, settled.repairs.drift_bytes), (true, 0), "rank {rank}");
        for model in [&mut careless, &mut careful] {
            settled.correction.iter().for_each(|correction| add(model, correction));
        }
        communicator.close().wait().unwrap();
        (careless, careful, skips)
    });
    let skips: Vec<_> = results.iter().map(|(.., skips)| skips).collect();
    assert!(results.iter().any(|(.., skips)| *skips > 1), "{skips:?} skips");
    for (rank, (careless, careful, skips)) in results.iter().enumerate() {
        assert_eq!(careless, careful, "rank {rank}, {skips} skips");
        let differs = careless.iter().zip(&results[0].0).position(|(one, other)| (one - other).abs() > 1e-3);
        assert_eq!(differs.map(|at| (at, careless[at], results[0].0[at])), None, "rank {rank}, {skips} skips");
        assert!(careless[0] > 1.0, "rank {rank}: {}", careless[0]);
    }
}

/// Rank 0 has skipped an update, and ends the job. Returns its error.
fn ends(settles: bool, drops: bool) -> Result<(), String> {
    let mut results = job(2, move |rank, root| {
        let builder = builder(rank, 2, &root).bound(Duration::from_millis(50));
        let mut communicator = Communicator::connect(builder.drop_silent_after(None)).wait().unwrap();
        let _other = communicator.bucket(10, BucketOptions::new()).wait().unwrap();
        let mut bucket = communicator.bucket(3000, BucketOptions::new()).wait().unwrap();
        if rank == 1 {
            communicator.barrier().wait().unwrap();
        }
        let report = bucket.all_reduce(&mut [1.0; 3000]).unwrap();
        if rank == 0 {
            assert!(!report.is_applied, "{report}");
            communicator.barrier().wait().unwrap();
        }
        if settles || rank == 1 {
            assert!(bucket.settle(None).wait().unwrap().is_settled, "rank {rank}");
        }
        let bucket = (!drops).then_some(bucket);
        let closed = communicator.close();
        drop(bucket);
        closed.wait().map_err(|error| match error.kind() {
            ErrorKind::Unsettled => error.to_string(),
            _ => panic!("rank {rank}: {error}"),
        })
    });
    assert_eq!(results[1], Ok(()), "a rank that has settled");
    results.swap_remove(0)
}

#[test]
fn a_job_ends_with_an_error_if_a_bucket_with_repairs_was_not_settled() {
    assert_eq!(ends(true, false), Ok(()));
    for drops in [false, true] {
        let error = ends(false, drops).unwrap_err();
        let expected = "lacks 12000 bytes of repairs of buckets [1];";
        assert!(error.contains(expected), "the bucket is dropped: {drops}: {error}");
    }
}

#[test]
fn an_error_of_main_is_its_text() {
    let error = Communicator::connect(builder(0, 2, "127.0.0.1:1").bound(Duration::ZERO)).wait().unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[test]
fn a_bucket_that_is_dropped_on_one_rank_alone_harms_nobody() {
    let results = job(3, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 3, &root)).wait().unwrap();
        let mut keep = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        let mut gone = communicator.bucket(77, BucketOptions::new()).wait().unwrap();
        let _ = gone.all_reduce(&mut [1.0; 77]).unwrap();
        if rank == 1 {
            drop(gone);
        }
        let mut data = gradient(rank, ELEMENTS);
        assert_eq!(keep.all_reduce(&mut data).unwrap().lost_bytes, 0);
        let mut later = communicator.bucket(5, BucketOptions::new()).wait().unwrap();
        let report = later.all_reduce(&mut [1.0; 5]).unwrap();
        assert_eq!((report.bucket, report.lost_bytes), (2, 0));
        communicator.barrier().wait().unwrap();
        data
    });
    check_mean(3, &results, 1e-6);
}

#[test]
fn what_is_dropped_while_a_collective_runs_takes_nothing_with_it_and_nothing_hangs() {
    let results = job(2, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        drop(bucket.start_all_reduce(gradient(rank, ELEMENTS)));
        let request = bucket.start_all_reduce(gradient(rank, ELEMENTS));
        drop(bucket);
        let (mean, report) = request.wait().unwrap();
        assert_eq!((report.number, report.lost_bytes), (1, 0));
        // More than the wire format can address.
        let error = communicator.bucket(1 << 31, BucketOptions::new()).wait().unwrap_err().to_string();
        assert!(
            error.starts_with("invalid argument: the number of elements of a bucket is 2147483648, expected"),
            "{error}"
        );
        let mut bucket = communicator.bucket(10, BucketOptions::new()).wait().unwrap();
        communicator.barrier().wait().unwrap();
        if rank == 0 {
            let request = bucket.start_all_reduce(vec![0.0; 10]);
            drop(communicator);
            assert_eq!(request.wait().unwrap_err().kind(), ErrorKind::Closed);
        }
        mean
    });
    check_mean(2, &results, 1e-6);
}

#[test]
fn calls_after_the_communicator_was_dropped_say_so() {
    job(2, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut bucket = communicator.bucket(10, BucketOptions::new()).wait().unwrap();
        communicator.barrier().wait().unwrap();
        drop(communicator);
        let error = bucket.all_reduce(&mut [0.0; 10]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    });
}

#[test]
fn a_rank_that_ends_is_named_and_later_calls_give_the_first_reason() {
    let all_done = Arc::new(Barrier::new(2));
    job(3, move |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 3, &root)).wait().unwrap();
        communicator.barrier().wait().unwrap();
        if rank == 2 {
            return;
        }
        let error = communicator.bucket(10, BucketOptions::new()).wait().unwrap_err().to_string();
        assert!(error.starts_with("the connection to rank 2 has ended"), "{error}");
        let error = communicator.barrier().wait().unwrap_err().to_string();
        assert!(error.starts_with("the ranks are out of step since an earlier call failed (the connection"), "{error}");
        all_done.wait();
    });
}

#[test]
fn ranks_that_skip_those_that_ended_go_on() {
    let results = job(3, |rank, root| {
        let builder = builder(rank, 3, &root).bound(Duration::from_millis(200)).skip_gone(true);
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        if rank == 1 {
            return None;
        }
        communicator.barrier().wait().unwrap();
        let mut bucket = communicator.bucket(10, BucketOptions::new()).wait().unwrap();
        // Rank 1's third is missing, so the update may be skipped.
        let mut data = vec![rank as f32 * 4.0; 10];
        let _report = bucket.all_reduce(&mut data).unwrap();
        data = communicator.exact().broadcast(2, data).wait().unwrap();
        let given = communicator.exact().all_gather(vec![7]).wait().unwrap();
        assert_eq!(given, [Some(vec![7]), None, Some(vec![7])]);
        Some(data)
    });
    assert!(results[0] == results[2] && results[0].is_some(), "{results:?}");
}

#[test]
fn a_communicator_that_is_dropped_during_a_call_does_not_wait_for_it() {
    let is_gone = Arc::new(Barrier::new(2));
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    job(2, move |rank, root| {
        // Longer than any test waits for a call that ends when it is dropped.
        let mut communicator =
            Communicator::connect(builder(rank, 2, &root).timeout(Duration::from_secs(600))).wait().unwrap();
        communicator.barrier().wait().unwrap();
        if rank == 0 {
            runtime().block_on(async {
                let barrier = communicator.barrier();
                assert!(tokio::time::timeout(Duration::from_millis(50), barrier).await.is_err());
            });
            drop(communicator);
            is_gone.wait();
        } else {
            is_gone.wait();
            // Rank 0 took part in the first barrier, and never calls the second.
            let _ = communicator.barrier().wait();
            let error = communicator.barrier().wait().unwrap_err().to_string();
            assert!(error.contains("the connection to rank 0 has ended"), "{error}");
        }
    });
}

#[test]
fn buckets_may_be_used_from_threads_of_their_own() {
    let results = job(2, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        let worker = thread::spawn(move || {
            let mut data = gradient(rank, ELEMENTS);
            bucket.all_reduce(&mut data).map(|_| data)
        });
        communicator.barrier().wait().unwrap();
        let data = worker.join().unwrap().unwrap();
        communicator.barrier().wait().unwrap();
        data
    });
    check_mean(2, &results, 1e-6);
}

#[test]
fn a_report_says_by_stage_what_happened_and_prints_in_one_line() {
    let reports: Vec<Report> = job(2, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        let report = bucket.all_reduce(&mut gradient(rank, ELEMENTS)).unwrap();
        communicator.barrier().wait().unwrap();
        report
    });
    for (rank, report) in reports.iter().enumerate() {
        let line = report.to_string();
        let begin = "collective 0: all-reduce of bucket 0, 30000 elements, 2 ranks: apply; contribute 100.000 % in ";
        assert!(line.starts_with(begin) && line.contains("(complete); broadcast 100.000 % in "), "{line}");
        assert!(!line.contains('\n') && !line.contains("lost"), "{line}");
        assert_eq!((&report.ranks[..], &report.late_ranks[..], report.is_applied), (&[0, 1][..], &[][..], true));
        assert_eq!((report.loss(), report.outstanding_bytes, report.drift_bytes), (0.0, 0, 0));
        assert_eq!(report.bound, Duration::from_secs(3));
        assert!(!report.is_bound_measured && !report.bound_changed);
        let received: u64 = report.stages.iter().map(|stage| stage.received_bytes).sum();
        assert_eq!(report.expected_bytes, received);
        let of_peer = |stage| report.stage(stage).unwrap().peers[1 - rank].received_bytes;
        assert!(of_peer(Stage::Contribute) > 0 && of_peer(Stage::Broadcast) > 0);
        assert_eq!(report.missing_from(Stage::Broadcast), [0; 0]);
    }
}

#[test]
fn a_process_that_comes_into_a_running_job_uninvited_is_told_so_at_its_timeout() {
    let root = free_root();
    let (told, is_told) = std::sync::mpsc::channel();
    let zero = {
        let root = root.clone();
        thread::spawn(move || {
            let mut communicator = Communicator::connect(builder(0, 2, &root)).wait().unwrap();
            communicator.barrier().wait().unwrap();
            is_told.recv().unwrap();
        })
    };
    let mut communicator = Communicator::connect(builder(1, 2, &root)).wait().unwrap();
    communicator.barrier().wait().unwrap();
    drop(communicator);
    let error =
        Communicator::connect(builder(1, 2, &root).timeout(Duration::from_secs(1))).wait().unwrap_err().to_string();
    assert!(error.contains("the job is already running; to replace its rank 1 after a restart"), "{error}");
    told.send(()).unwrap();
    zero.join().unwrap();
}

#[test]
fn a_future_that_is_dropped_does_not_take_its_call_back() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    job(2, move |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut first = communicator.bucket(100, BucketOptions::new()).wait().unwrap();
        if rank == 0 {
            // Both calls begin before rank 1 makes its own, and no rank waits for them.
            runtime().block_on(async {
                let brief = Duration::from_millis(20);
                let bucket = communicator.bucket(5, BucketOptions::new());
                assert!(tokio::time::timeout(brief, bucket).await.is_err());
                let reduced = first.start_all_reduce(vec![1.0; 100]);
                assert!(tokio::time::timeout(brief, reduced).await.is_err());
            });
        } else {
            thread::sleep(Duration::from_millis(200));
            communicator.bucket(5, BucketOptions::new()).wait().unwrap();
            let (mean, report) = first.start_all_reduce(vec![3.0; 100]).wait().unwrap();
            assert_eq!((mean, report.lost_bytes), (vec![2.0; 100], 0));
        }
        let mut bucket = communicator.bucket(7, BucketOptions::new()).wait().unwrap();
        let report = bucket.all_reduce(&mut [1.0; 7]).unwrap();
        assert_eq!((report.bucket, report.number, report.lost_bytes), (2, 1, 0));
        communicator.barrier().wait().unwrap();
    });
}

/// Models of two ranks after an all-reduce that rank 1 calls only after rank 0 has returned, and
/// after settling. Also returns whether settling corrected the model.
fn late_update(reduce_op: ReduceOp) -> Vec<(Vec<f32>, bool)> {
    job(2, move |rank, root| {
        let builder = builder(rank, 2, &root).bound(Duration::from_millis(50));
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new().reduce_op(reduce_op)).wait().unwrap();
        let none = bucket.settle(None).wait().unwrap();
        assert_eq!((none.correction, none.is_settled, none.repairs.missing_bytes), (None, true, 0));
        let mut data = gradient(rank, ELEMENTS);
        if rank == 1 {
            communicator.barrier().wait().unwrap();
        }
        let _report = bucket.all_reduce(&mut data).unwrap();
        // Zeros after a skip.
        let mut model = data;
        if rank == 0 {
            let early = bucket.settle(Duration::ZERO).wait().unwrap();
            // Rank 1 has no mean yet.
            assert_eq!((early.correction, early.is_settled), (None, false));
            assert!(early.repairs.outstanding_bytes > 0, "{:?}", early.repairs);
            communicator.barrier().wait().unwrap();
        }
        let settled = bucket.settle(None).wait().unwrap();
        assert!(settled.is_settled, "rank {rank}: {:?}", settled.repairs);
        assert_eq!((settled.repairs.outstanding_bytes, settled.repairs.drift_bytes), (0, 0));
        for (value, correction) in model.iter_mut().zip(settled.correction.iter().flatten()) {
            *value += correction;
        }
        assert_eq!(bucket.settle(None).wait().unwrap().correction, None);
        communicator.close().wait().unwrap();
        (model, settled.correction.is_some())
    })
}

#[test]
fn the_last_update_of_a_bucket_is_the_same_on_all_ranks_once_they_have_settled() {
    for reduce_op in [ReduceOp::Avg, ReduceOp::Sum] {
        let results = late_update(reduce_op);
        assert!(results.iter().any(|(_, corrected)| *corrected), "nothing was corrected");
        let near = results[0].0.iter().zip(&results[1].0).all(|(one, two)| (one - two).abs() < 1e-5);
        assert!(near && results[0].0.iter().any(|value| *value != 0.0), "{reduce_op:?}");
    }
}

/// Rank 0 has returned from all-reduces of 1 and of 2^-40 before rank 1 calls the first. Their sum
/// exceeds the precision of an `f32` correction.
#[test]
fn settled_ranks_have_the_same_bits_of_what_comes_after() {
    let tiny = 2f32.powi(-40);
    let results = job(2, move |rank, root| {
        let builder = builder(rank, 2, &root).bound(Duration::from_millis(200));
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        if rank == 1 {
            communicator.barrier().wait().unwrap();
        }
        for value in [1.0, tiny] {
            let _ = bucket.all_reduce(&mut vec![value; ELEMENTS]).unwrap();
        }
        if rank == 0 {
            communicator.barrier().wait().unwrap();
        }
        let settled = bucket.settle(None).wait().unwrap();
        assert!(settled.is_settled, "rank {rank}: {:?}", settled.repairs);
        communicator.barrier().wait().unwrap();
        let mut next = vec![tiny; ELEMENTS];
        let report = bucket.all_reduce(&mut next).unwrap();
        assert!(report.is_applied, "rank {rank}: {report}");
        communicator.close().wait().unwrap();
        (settled.correction, next)
    });
    let took_both = |correction: &Option<Vec<f32>>| correction.iter().flatten().any(|value| *value == 1.0);
    assert!(results.iter().any(|(correction, _)| took_both(correction)), "rank 0 has skipped neither");
    assert_eq!(results[0].1, results[1].1);
    assert_eq!(results[0].1, vec![tiny; ELEMENTS]);
}

/// Only the other ranks apply the update, so the replicas differ.
#[test]
fn a_dropped_request_is_drift_in_later_reports() {
    const BYTES: u64 = 4 * ELEMENTS as u64;
    job(2, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        let buffer = || communicator.alloc(ELEMENTS).unwrap();
        // Dropped while it runs, once it has finished, and with its result at hand.
        let running = bucket.start_all_reduce(gradient(rank, ELEMENTS));
        let finished = bucket.start_all_reduce(buffer());
        let mut tested = bucket.start_all_reduce((buffer(), buffer()));
        drop(running);
        communicator.barrier().wait().unwrap();
        assert!(tested.wait_timeout(Duration::from_secs(20)));
        drop(finished);
        drop(tested);
        let report = bucket.all_reduce(&mut gradient(rank, ELEMENTS)).unwrap();
        assert_eq!(report.drift_bytes, 3 * BYTES, "rank {rank}");
        // Applied, reduced or gathered results are no drift.
        drop(bucket.start_all_reduce(gradient(rank, ELEMENTS)).wait().unwrap());
        drop(bucket.reduce_scatter(gradient(rank, ELEMENTS)));
        let settled = bucket.settle(None).wait().unwrap();
        assert_eq!((settled.is_settled, settled.repairs.drift_bytes), (true, 3 * BYTES), "rank {rank}");
        assert_eq!(communicator.metrics().wait().unwrap().repair.drift_bytes, 3 * BYTES, "rank {rank}");
        communicator.close().wait().unwrap();
    });
}
