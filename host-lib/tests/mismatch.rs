//! Ranks that make different calls: every rank returns the same error, and none a wrong mean.

mod ranks;

use std::fmt::Debug;
use std::thread;
use std::time::Duration;

use optireduce::binding::{self, Destination};
use optireduce::{
    Bucket, BucketOptions, Buffer, Communicator, Error, ErrorKind, HadamardMode, Memory, ReduceOp, Repair, Report,
    Request,
};
use ranks::{builder, check_mean, gradient, job};

const ELEMENTS: usize = 30_000;

/// Later calls succeed.
fn differs<T: Debug + 'static>(expected: &'static str, call: fn(usize, &mut Communicator) -> Request<T>) {
    let errors = job(3, move |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 3, &root)).wait().unwrap();
        let error = call(rank, &mut communicator).wait().unwrap_err();
        assert!(error.kind() == ErrorKind::Mismatch && !error.is_fatal(), "rank {rank}: {error}");
        let mut data = gradient(rank, ELEMENTS);
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        let report = bucket.all_reduce(&mut data).unwrap();
        assert_eq!((report.bucket, report.lost_bytes), (0, 0));
        communicator.barrier().wait().unwrap();
        error.to_string()
    });
    assert!(errors[0].starts_with(expected), "{errors:?}, expected {expected}");
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
}

#[test]
fn ranks_that_call_different_things_all_get_the_same_error_and_go_on() {
    thread::scope(|scope| {
        scope.spawn(|| {
            differs("the ranks differ: elements is 11 on rank 1, but 10 on rank 0;", |rank, communicator| {
                communicator.bucket(if rank == 1 { 11 } else { 10 }, BucketOptions::new())
            });
            differs("the ranks differ: reduce_op is Avg on rank 1, but Sum on rank 0;", |rank, communicator| {
                let reduce_op = if rank == 0 { ReduceOp::Sum } else { ReduceOp::Avg };
                communicator.bucket(10, BucketOptions::new().reduce_op(reduce_op))
            });
        });
        scope.spawn(|| {
            let expected = "the ranks differ: hadamard is on on rank 2, but auto on rank 0;";
            differs(expected, |rank, communicator| {
                let hadamard = (rank == 2).then_some(HadamardMode::On);
                communicator.bucket(10, BucketOptions::new().hadamard(hadamard))
            });
            let expected = "the ranks differ: the call is exact gather on rank 2, but exact all_gather on rank 0;";
            differs(expected, |rank, communicator| match rank {
                2 => communicator.exact().gather(0, vec![1]),
                _ => communicator.exact().all_gather(vec![1]),
            });
        });
        scope.spawn(|| {
            differs("the ranks differ: elements is 8 on rank 1, but 7 on rank 0;", |rank, communicator| {
                communicator.exact().broadcast(0, vec![1.0; 7 + rank])
            });
            differs("the ranks differ: the root is 1 on rank 1, but 0 on rank 0;", |rank, communicator| {
                communicator.exact().broadcast(rank, vec![1.0; 7])
            });
        });
    });
}

#[test]
fn settings_of_a_bucket_that_differ_are_an_error_on_every_rank_even_without_a_majority() {
    type Odd = fn(BucketOptions) -> BucketOptions;
    // Options of the odd ranks: rank 2, or ranks 1 and 3, which is half of the four.
    let odds: [(&str, Odd, &str, &str); 4] = [
        ("bf16", |options| options.bf16(true), "true", "false"),
        ("repair", |options| options.repair(Repair::ThisUpdate), "this_update", "next_update"),
        ("hadamard", |options| options.hadamard(HadamardMode::Off), "off", "auto"),
        ("reduce_op", |options| options.reduce_op(ReduceOp::Sum), "Sum", "Avg"),
    ];
    for odd_ranks in [&[2][..], &[1, 3]] {
        let errors = job(4, move |rank, root| {
            let mut communicator = Communicator::connect(builder(rank, 4, &root)).wait().unwrap();
            let errors = odds.map(|(_, odd, ..)| {
                let options = BucketOptions::new();
                let options = if odd_ranks.contains(&rank) { odd(options) } else { options };
                communicator.bucket(100, options).wait().unwrap_err().to_string()
            });
            // An option equal to the communicator's setting equals no option.
            let repair = (rank == 2).then_some(Repair::NextUpdate);
            let options = BucketOptions::new().bf16((rank == 1).then_some(false)).repair(repair);
            let bucket = communicator.bucket(100, options).wait().unwrap();
            assert_eq!((bucket.options().bf16, bucket.options().repair), (Some(false), Some(Repair::NextUpdate)));
            communicator.close().wait().unwrap();
            errors
        });
        for (case, (name, _, found, expected)) in odds.into_iter().enumerate() {
            let rank = odd_ranks[0];
            let expected = format!("the ranks differ: {name} is {found} on rank {rank}, but {expected} on rank 0;");
            for errors in &errors {
                assert!(errors[case].starts_with(&expected), "{errors:?}, expected {expected}");
            }
        }
    }
}

/// A collective, or a later one, fails with the same mismatch on every rank.
fn mismatch(expected: &'static str, call: fn(usize, &mut [Bucket; 2]) -> Result<(), Error>) {
    let errors = job(3, move |rank, root| {
        let builder = builder(rank, 3, &root).bound(Duration::from_millis(200));
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let mut buckets = [0, 1].map(|_| communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap());
        assert!(communicator.failure().is_none());
        let error = call(rank, &mut buckets).unwrap_err();
        assert!(error.kind() == ErrorKind::Mismatch && error.is_fatal(), "rank {rank}: {error}");
        assert_eq!(communicator.failure().unwrap().to_string(), error.to_string(), "rank {rank}");
        let again = buckets[0].all_reduce(&mut vec![0.0; ELEMENTS]).unwrap_err();
        assert_eq!(again.to_string(), error.to_string(), "rank {rank}");
        thread::sleep(Duration::from_millis(500));
        error.to_string()
    });
    assert!(errors[0].contains(expected), "{errors:?}, expected {expected}");
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
}

#[test]
fn after_an_engine_has_given_up_another_communicator_can_be_made_in_the_same_process() {
    let results = job(2, |rank, root| {
        let connect = || Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut communicator = connect();
        let mut buckets = [0, 1].map(|_| communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap());
        let error = buckets[rank].all_reduce(&mut vec![0.0; ELEMENTS]).unwrap_err();
        assert!(error.kind() == ErrorKind::Mismatch && error.is_fatal(), "rank {rank}: {error}");
        thread::sleep(Duration::from_millis(300 * (1 - rank) as u64));
        drop((communicator, buckets));
        let mut communicator = connect();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        let mut data = gradient(rank, ELEMENTS);
        let _ = bucket.all_reduce(&mut data).unwrap();
        communicator.close().wait().unwrap();
        let mut communicator = connect();
        communicator.barrier().wait().unwrap();
        data
    });
    check_mean(2, &results, 1e-6);
}

#[test]
fn buckets_in_another_order_and_collectives_of_another_kind_are_an_error_on_every_rank() {
    thread::scope(|scope| {
        scope.spawn(|| {
            mismatch("bucket is 1 on rank 1, but 0 on ranks 0, 2, the majority;", |rank, [first, second]| {
                let (one, two) = if rank == 1 { (second, first) } else { (first, second) };
                let mut data = vec![rank as f32; ELEMENTS];
                let _ = one.all_reduce(&mut data)?;
                let _ = two.all_reduce(&mut data)?;
                Ok(())
            });
        });
        scope.spawn(|| {
            mismatch(
                "kind is reduce-scatter on rank 2, but all-reduce on ranks 0, 1, the majority;",
                |rank, [first, _]| {
                    let mut data = vec![rank as f32; ELEMENTS];
                    if rank == 2 {
                        let _ = first.reduce_scatter(data.clone()).wait()?;
                    }
                    for _ in 0..3 {
                        let _ = first.all_reduce(&mut data)?;
                    }
                    Ok(())
                },
            );
        });
    });
}

#[test]
fn a_call_left_out_among_equal_ones_is_an_error_at_the_next_call_of_another_bucket() {
    fn left_out(rank: usize, [first, second]: &mut [Bucket; 2], pause: Duration) -> Result<(), Error> {
        let mut data = vec![rank as f32; ELEMENTS];
        for _ in 0..2 {
            let _ = first.all_reduce(&mut data).expect("equal to the calls of the others");
        }
        if rank == 1 {
            thread::sleep(pause);
        } else {
            let _ = first.all_reduce(&mut data)?;
        }
        let _ = second.all_reduce(&mut data)?;
        // Each call without rank 1 takes one or two bounds, until rank 1 catches up.
        (0..20).try_for_each(|_| first.all_reduce(&mut data).map(drop))
    }
    let expected = "bucket is 1 on rank 1, but 0 on ranks 0, 2, the majority;";
    thread::scope(|scope| {
        scope.spawn(|| mismatch(expected, |rank, buckets| left_out(rank, buckets, Duration::ZERO)));
        scope.spawn(|| mismatch(expected, |rank, buckets| left_out(rank, buckets, Duration::from_secs(1))));
    });
}

/// Odd ranks pass memory of a wrong length, and ignore the error. Returns the errors of the ranks.
fn errors_of_length(
    odd: fn(usize) -> bool,
    call: impl Fn(&Communicator, &mut Bucket, bool) -> Result<(), Error> + Copy + Send + 'static,
) -> Vec<String> {
    job(4, move |rank, root| {
        let builder = builder(rank, 4, &root).bound(Duration::from_millis(300));
        let mut communicator = Communicator::connect(builder.timeout(Duration::from_secs(5))).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        let _ = bucket.all_reduce(&mut gradient(rank, ELEMENTS)).unwrap();
        let first = match call(&communicator, &mut bucket, odd(rank)) {
            // A rank may have finished without the odd one.
            Ok(()) if !odd(rank) => call(&communicator, &mut bucket, false).unwrap_err(),
            Ok(()) => panic!("rank {rank} passed a wrong length without an error"),
            Err(error) => error,
        };
        assert!(first.kind() == ErrorKind::Mismatch, "rank {rank}: {first:?}");
        let later = communicator.close().wait().unwrap_err().to_string();
        assert_eq!(first.to_string(), later, "rank {rank}: no job with a wrong length ends well");
        later
    })
}

/// Errors of an all-reduce, a reduce-scatter and an all-gather of this memory.
fn errors_of_memory<M: Memory>(odd: fn(usize) -> bool, memory: fn(&Communicator, bool) -> M) -> [Vec<String>; 3] {
    type Call<M> = fn(&mut Bucket, M) -> Request<(M, Report)>;
    let calls: [Call<M>; 3] = [Bucket::start_all_reduce, Bucket::reduce_scatter, Bucket::all_gather];
    calls.map(|call| {
        errors_of_length(odd, move |communicator, bucket, is_odd| {
            call(bucket, memory(communicator, is_odd)).wait().map(drop)
        })
    })
}

#[test]
fn a_bucket_used_with_a_wrong_length_is_an_error_on_every_rank_and_never_a_wrong_mean() {
    const SHORT: usize = ELEMENTS - 1;
    fn buffer(communicator: &Communicator, elements: usize) -> Buffer {
        communicator.alloc(elements).unwrap()
    }
    let slice = || {
        errors_of_length(
            |rank| rank == 2,
            |_, bucket, is_odd| {
                let mut data = vec![1.0; if is_odd { SHORT } else { ELEMENTS }];
                bucket.all_reduce(&mut data).map(|report| assert!(data.iter().all(|value| *value == 1.0), "{report}"))
            },
        )
    };
    let vec = || errors_of_memory(|rank| rank % 2 == 1, |_, is_odd| vec![1.0; if is_odd { SHORT } else { ELEMENTS }]);
    let empty =
        || errors_of_memory(|_| true, |communicator, is_odd| buffer(communicator, if is_odd { 0 } else { ELEMENTS }));
    let read = || {
        errors_of_memory(
            |rank| rank == 3,
            |communicator, is_odd| {
                (buffer(communicator, if is_odd { SHORT } else { ELEMENTS }), buffer(communicator, ELEMENTS))
            },
        )
    };
    let written = || {
        errors_of_memory(
            |rank| rank == 3,
            |communicator, is_odd| {
                (buffer(communicator, ELEMENTS), buffer(communicator, if is_odd { SHORT } else { ELEMENTS }))
            },
        )
    };
    let destination = || {
        errors_of_length(
            |rank| rank == 1,
            |_, bucket, is_odd| {
                let to = vec![1.0; if is_odd { SHORT } else { ELEMENTS }];
                binding::all_reduce(bucket, vec![1.0; ELEMENTS].into(), Destination::Here(to.into())).map(drop)
            },
        )
    };
    let (of_slices, of_memory) = thread::scope(|scope| {
        let of_slices = [scope.spawn(slice), scope.spawn(destination)];
        let of_memory = [scope.spawn(vec), scope.spawn(empty), scope.spawn(read), scope.spawn(written)];
        (of_slices.map(|errors| errors.join().unwrap()), of_memory.map(|errors| errors.join().unwrap()))
    });
    let check = |errors: &[String], kind: &str, found: &str| {
        let expected = format!("in collective 1, the number of elements passed to {kind} is {found}, expected ");
        let is_it = |error: &String| {
            error.starts_with(&expected) && error.contains(" 30000") && error.contains(", as bucket 0 has;")
        };
        assert!(errors.iter().all(is_it), "{errors:?}, expected {expected}");
    };
    check(&of_slices[0], "an all-reduce", "29999 on rank 2");
    check(&of_slices[1], "an all-reduce", "29999 on rank 1");
    let found = ["29999 on rank 1", "0 on rank 0", "29999 on rank 3", "29999 on rank 3"];
    for (errors, found) in of_memory.iter().zip(found) {
        for (errors, kind) in errors.iter().zip(["an all-reduce", "a reduce-scatter", "an all-gather"]) {
            check(errors, kind, found);
        }
    }
}

#[test]
fn close_finds_a_rank_that_called_one_collective_fewer_or_more() {
    type Last = fn(usize, &mut Communicator, &mut Bucket);
    let close = |last: Last| {
        job(3, move |rank, root| {
            let builder = builder(rank, 3, &root).bound(Duration::from_millis(200));
            let mut communicator = Communicator::connect(builder).wait().unwrap();
            let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
            let mut data = gradient(rank, ELEMENTS);
            (0..2).for_each(|_| drop(bucket.all_reduce(&mut data).unwrap()));
            last(rank, &mut communicator, &mut bucket);
            let closed = communicator.close().wait();
            let after = bucket.all_reduce(&mut data).unwrap_err();
            assert!(after.kind() == ErrorKind::Closed, "rank {rank}: {after}");
            closed.map_err(|error| {
                assert!(error.kind() == ErrorKind::Mismatch && !error.is_fatal(), "rank {rank}: {error}");
                error.to_string()
            })
        })
    };
    // A request without a waiter counts as well.
    let alike = close(|rank, _, bucket| drop(bucket.start_all_reduce(gradient(rank, ELEMENTS))));
    assert_eq!(alike, [Ok(()), Ok(()), Ok(())]);
    let fewer = close(|rank, _, bucket| {
        if rank != 1 {
            let _ = bucket.all_reduce(&mut gradient(rank, ELEMENTS)).unwrap();
        }
    });
    let expected = "the ranks differ: the number of all-reduces is 2 on rank 1, but 3 on rank 0;";
    assert!(fewer.iter().all(|closed| closed.as_ref().is_err_and(|error| error.starts_with(expected))), "{fewer:?}");
    let more = close(|rank, _, bucket| {
        if rank == 2 {
            let _ = bucket.reduce_scatter(gradient(rank, ELEMENTS)).wait().unwrap();
        }
    });
    let expected = "the ranks differ: the number of reduce-scatters is 1 on rank 2, but 0 on rank 0;";
    assert!(more.iter().all(|closed| closed.as_ref().is_err_and(|error| error.starts_with(expected))), "{more:?}");
}
