//! Every wait ends, although the other rank lives and makes no call.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use optireduce::{Bucket, BucketOptions, Communicator, ExactOp, PartialOptions, Transfer};

use super::ranks::{builder, job};

const TIMEOUT: Duration = Duration::from_secs(3);
const BOUND: Duration = Duration::from_millis(500);
/// On a busy machine. A wait without an end would outlast the whole test.
const LATEST: Duration = Duration::from_secs(20);
/// Jobs at a time.
const JOBS: usize = 12;
/// More than a rank buffers.
const LARGE: usize = 9 << 20;
/// Bounded calls end without an error.
const BOUNDED: &str = "a bounded call";

type Wait = fn(&mut Communicator, &mut Bucket) -> Result<(), String>;

fn text<T, E: ToString>(result: Result<T, E>) -> Result<(), String> {
    result.map(drop).map_err(|error| error.to_string())
}

/// Waits in pieces, as a program does that also looks at something else.
fn in_pieces(mut transfer: Transfer) -> Result<(), String> {
    while !transfer.wait_timeout(Duration::from_millis(30)) {}
    text(transfer.wait())
}

fn in_one_piece(mut transfer: Transfer) -> Result<(), String> {
    assert!(transfer.wait_timeout(10 * LATEST), "not ended by the communicator's timeout");
    text(transfer.wait())
}

const WAITS: &[(&str, Wait)] = &[
    ("recv_bytes", |c, _| text(c.recv_bytes(1, 0))),
    ("send_bytes", |c, _| text(c.send_bytes(1, 0, &vec![0; LARGE]))),
    ("start_recv, wait", |c, _| text(c.start_recv(Some(1), 0).wait())),
    ("start_recv of any rank, wait", |c, _| text(c.start_recv(None, 0).wait())),
    ("start_recv, wait_timeout in pieces", |c, _| in_pieces(c.start_recv(Some(1), 0))),
    ("start_recv, wait_timeout", |c, _| in_one_piece(c.start_recv(None, 0))),
    ("start_send, wait", |c, _| text(c.start_send(1, 0, vec![0; LARGE]).wait())),
    ("start_send, wait_timeout in pieces", |c, _| in_pieces(c.start_send(1, 0, vec![0; LARGE]))),
    ("start_send, wait_timeout", |c, _| in_one_piece(c.start_send(1, 0, vec![0; LARGE]))),
    ("start_send to itself, wait_timeout", |c, _| in_pieces(c.start_send(0, 0, vec![0; LARGE]))),
    ("barrier", |c, _| text(c.barrier())),
    ("start_barrier, wait_timeout in pieces", |c, _| {
        let mut barrier = c.start_barrier();
        while !barrier.wait_timeout(Duration::from_millis(30)) {}
        text(barrier.wait())
    }),
    ("broadcast", |c, _| text(c.broadcast(1, &mut [0.0]))),
    ("broadcast from this rank", |c, _| text(c.broadcast(0, &mut vec![0.0; LARGE]))),
    ("broadcast_bytes", |c, _| text(c.broadcast_bytes(1, &mut [0]))),
    ("all_gather_bytes", |c, _| text(c.all_gather_bytes(&[0]))),
    ("gather_bytes", |c, _| text(c.gather_bytes(0, &[0]))),
    ("scatter_bytes", |c, _| text(c.scatter_bytes(1, &[]))),
    ("all_to_all_bytes", |c, _| text(c.all_to_all_bytes(&[&[0], &[0]]))),
    ("all_reduce_exact", |c, _| text(c.all_reduce_exact(&mut [0.0_f32], ExactOp::Sum))),
    ("reduce_scatter_exact", |c, _| text(c.reduce_scatter_exact(&[0.0_f32; 2], ExactOp::Sum))),
    ("bucket", |c, _| text(c.bucket(1000, BucketOptions::new()))),
    ("split", |c, _| text(c.split(0))),
    ("group", |c, _| text(c.group(&[0, 1]))),
    ("partial_reduce", |c, _| text(c.partial_reduce(1000, PartialOptions::new(2)))),
    ("all_reduce of no bucket", |c, _| text(c.all_reduce(&mut [0.0; 1000]))),
    ("all_reduce", |_, bucket| text(bucket.all_reduce(&mut [0.0; 1000])).and(Err(BOUNDED.into()))),
    ("start_all_reduce, wait_timeout in pieces", |_, bucket| {
        let mut request = bucket.start_all_reduce(vec![0.0; 1000]);
        while !request.wait_timeout(Duration::from_millis(30)) {}
        text(request.wait()).and(Err(BOUNDED.into()))
    }),
    ("reduce_scatter", |_, bucket| text(bucket.reduce_scatter(&[0.0; 1000])).and(Err(BOUNDED.into()))),
    ("all_gather", |_, bucket| text(bucket.all_gather(&[0.0; 500])).and(Err(BOUNDED.into()))),
    ("settle", |_, bucket| text(bucket.settle(None)).and(Err(BOUNDED.into()))),
];

#[test]
fn every_wait_for_a_rank_that_makes_no_call_ends_by_its_timeout() {
    for waits in WAITS.chunks(JOBS) {
        let jobs: Vec<_> = waits.iter().map(|(name, wait)| (*name, thread::spawn(|| first_rank(*wait)))).collect();
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
fn first_rank(wait: Wait) -> (Result<(), String>, Duration) {
    let over = Arc::new(Barrier::new(2));
    let rank = move |rank, root: String| {
        let builder = builder(rank, 2, &root).bound(BOUND).timeout(TIMEOUT);
        let mut communicator = builder.connect().unwrap();
        let mut bucket = communicator.bucket(1000, BucketOptions::new()).unwrap();
        communicator.barrier().unwrap();
        let begin = Instant::now();
        let found = if rank == 0 { wait(&mut communicator, &mut bucket) } else { Err(String::new()) };
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
        let mut communicator = builder(rank, 2, &root).timeout(Duration::from_secs(4)).connect().unwrap();
        let mut receive = communicator.start_recv(Some(1 - rank), 5);
        for _ in 0..3 {
            // 3 s of 4 s.
            assert!(!receive.wait_timeout(Duration::from_secs(1)), "it stays outstanding");
            thread::sleep(Duration::from_secs(1));
            assert!(!receive.test());
        }
        communicator.barrier().unwrap();
        communicator.send_bytes(1 - rank, 5, &[7]).unwrap();
        assert_eq!(receive.wait().unwrap().bytes, [7]);
        communicator.close().unwrap();
    });
}
