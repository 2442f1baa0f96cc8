//! Every wait ends, although the other rank lives and makes no call.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use optireduce::{Bucket, BucketOptions, Communicator, ExactOp, PartialOptions, Request, binding};

use super::ranks::{builder, job};

const TIMEOUT: Duration = Duration::from_secs(3);
const BOUND: Duration = Duration::from_millis(500);
/// On a busy machine. A wait without an end would outlast the whole test.
const LATEST: Duration = Duration::from_secs(20);
/// Jobs at a time.
const JOBS: usize = 24;
/// More than a rank buffers.
const LARGE: usize = 9 << 20;
/// Bounded calls end without an error.
const BOUNDED: &str = "a bounded call";

type Ended = Result<(), String>;
type Call = fn(&mut Communicator, &mut Bucket, Way) -> Ended;

/// Way to wait for a request.
#[derive(Clone, Copy, Debug)]
enum Way {
    Wait,
    Await,
    /// As a program does that also looks at something else.
    Slices,
    OneSlice,
}

impl Way {
    const ALL: [Self; 4] = [Self::Wait, Self::Await, Self::Slices, Self::OneSlice];

    fn end<T>(self, mut request: Request<T>) -> Ended {
        let result = match self {
            Self::Wait => request.wait(),
            Self::Await => tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(request),
            Self::Slices => {
                while !request.wait_timeout(Duration::from_millis(30)) {}
                request.wait()
            }
            Self::OneSlice => {
                assert!(request.wait_timeout(10 * LATEST), "not ended by the communicator's timeout");
                request.wait()
            }
        };
        result.map(drop).map_err(|error| error.to_string())
    }

    fn end_bounded<T>(self, request: Request<T>) -> Ended {
        self.end(request).and(Err(BOUNDED.into()))
    }
}

const CALLS: &[(&str, Call)] = &[
    ("recv", |c, _, way| way.end(c.recv(1, 0))),
    ("recv of any rank", |c, _, way| way.end(c.recv(None, 0))),
    ("send", |c, _, way| way.end(c.send(1, 0, vec![0; LARGE]))),
    ("send to itself", |c, _, way| way.end(c.send(0, 0, vec![0; LARGE]))),
    ("barrier", |c, _, way| way.end(c.barrier())),
    ("bucket", |c, _, way| way.end(c.bucket(1000, BucketOptions::new()))),
    ("split", |c, _, way| way.end(c.split(Some(0)))),
    ("split without a color", |c, _, way| way.end(c.split(None))),
    ("partial_reduce", |c, _, way| way.end(c.partial_reduce(1000, PartialOptions::new()))),
    ("exact all_reduce", |c, _, way| way.end(c.exact().all_reduce(vec![0.0_f32], ExactOp::Sum))),
    ("exact reduce_scatter", |c, _, way| way.end(c.exact().reduce_scatter(vec![0.0_f32; 2], ExactOp::Sum))),
    ("exact broadcast", |c, _, way| way.end(c.exact().broadcast(1, vec![0.0_f32]))),
    ("exact broadcast from this rank", |c, _, way| way.end(c.exact().broadcast(0, vec![0_u8; LARGE]))),
    ("exact all_gather", |c, _, way| way.end(c.exact().all_gather(vec![0]))),
    ("exact gather", |c, _, way| way.end(c.exact().gather(0, vec![0]))),
    ("exact scatter", |c, _, way| way.end(c.exact().scatter(1, vec![]))),
    ("exact all_to_all", |c, _, way| way.end(c.exact().all_to_all(vec![vec![0]; 2]))),
    ("reliable mean", |c, _, way| way.end(binding::start_reliable_mean(c, vec![0.0]))),
    ("start_all_reduce", |_, bucket, way| way.end_bounded(bucket.start_all_reduce(vec![0.0; 1000]))),
    ("reduce_scatter", |_, bucket, way| way.end_bounded(bucket.reduce_scatter(vec![0.0; 1000]))),
    ("all_gather", |_, bucket, way| way.end_bounded(bucket.all_gather(vec![0.0; 1000]))),
    ("settle", |_, bucket, way| way.end_bounded(bucket.settle(None))),
    ("all_reduce", |_, bucket, _| {
        bucket.all_reduce(&mut [0.0; 1000]).map_err(|error| error.to_string()).and(Err(BOUNDED.into()))
    }),
];

#[test]
fn every_wait_for_a_rank_that_makes_no_call_ends_by_its_timeout() {
    let waits: Vec<_> = CALLS.iter().flat_map(|call| Way::ALL.map(|way| (call, way))).collect();
    for waits in waits.chunks(JOBS) {
        let start = |(call, way): &(&'static (&str, Call), Way)| {
            let ((name, call), way) = (**call, *way);
            (format!("{name}, {way:?}"), thread::spawn(move || first_rank(call, way)))
        };
        let jobs: Vec<_> = waits.iter().map(start).collect();
        for (name, ended) in jobs {
            let (found, took) = ended.join().unwrap();
            let Err(error) = found else { panic!("{name}: no error") };
            assert!(took < LATEST, "{name}: ended after {took:?}: {error}");
            let names = error.contains("rank 1") || error.contains("any rank") || error == BOUNDED;
            let to_itself = name.contains("to itself") && error.contains("rank 0 did not receive");
            assert!(names || to_itself, "{name}: the error names no rank: {error}");
        }
    }
}

/// Returns the outcome of rank 0, and its duration.
fn first_rank(call: Call, way: Way) -> (Ended, Duration) {
    let over = Arc::new(Barrier::new(2));
    let rank = move |rank, root: String| {
        let builder = builder(rank, 2, &root).bound(BOUND).timeout(TIMEOUT);
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let mut bucket = communicator.bucket(1000, BucketOptions::new()).wait().unwrap();
        communicator.barrier().wait().unwrap();
        let begin = Instant::now();
        let found = if rank == 0 { call(&mut communicator, &mut bucket, way) } else { Err(String::new()) };
        let took = begin.elapsed();
        over.wait();
        (found, took)
    };
    job(2, rank).remove(0)
}

/// A wait that ended in time leaves the transfer as it was.
#[test]
fn only_time_spent_waiting_counts_and_progress_restarts_it() {
    job(2, |rank, root| {
        let mut communicator =
            Communicator::connect(builder(rank, 2, &root).timeout(Duration::from_secs(4))).wait().unwrap();
        let mut receive = communicator.recv(Some(1 - rank), 5);
        for _ in 0..3 {
            // 3 s of 4 s.
            assert!(!receive.wait_timeout(Duration::from_secs(1)), "it stays outstanding");
            thread::sleep(Duration::from_secs(1));
            assert!(!receive.is_finished());
        }
        communicator.barrier().wait().unwrap();
        communicator.send(1 - rank, 5, vec![7]).wait().unwrap();
        assert_eq!(receive.wait().unwrap().bytes, [7]);
        communicator.close().wait().unwrap();
    });
}
