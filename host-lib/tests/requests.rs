//! Requests and their memory: when calls begin, in which order callers wait for them, what comes
//! back, and what happens without a caller.

mod ranks;

use std::sync::{Arc, Barrier};
use std::time::Duration;

use optireduce::{
    Bucket, BucketOptions, Buffer, Communicator, Error, ErrorKind, ExactOp, Groups, Memory, PartialOptions, Request,
    SharedMemory,
};
use ranks::{TIMEOUT, builder, free_root, gradient, job};

const ELEMENTS: usize = 30_000;

trait Kind: Memory {
    /// Whether an all-reduce copies its result.
    const COPIES: bool;

    fn new(communicator: &Communicator, values: &[f32]) -> Self;
    fn result(&self) -> &[f32];
    /// Values that must not change.
    fn read_only(&self) -> Option<&[f32]>;
    /// Addresses of buffers, which must come back.
    fn buffers(&self) -> Vec<*const f32>;
}

fn buffer(communicator: &Communicator, values: &[f32]) -> Buffer {
    let mut buffer = communicator.alloc(values.len()).unwrap();
    buffer.copy_from_slice(values);
    buffer
}

impl Kind for Vec<f32> {
    const COPIES: bool = false;

    fn new(_: &Communicator, values: &[f32]) -> Self {
        values.to_vec()
    }

    fn result(&self) -> &[f32] {
        self
    }

    fn read_only(&self) -> Option<&[f32]> {
        None
    }

    fn buffers(&self) -> Vec<*const f32> {
        Vec::new()
    }
}

impl Kind for Buffer {
    const COPIES: bool = true;

    fn new(communicator: &Communicator, values: &[f32]) -> Self {
        buffer(communicator, values)
    }

    fn result(&self) -> &[f32] {
        self
    }

    fn read_only(&self) -> Option<&[f32]> {
        None
    }

    fn buffers(&self) -> Vec<*const f32> {
        vec![self.as_ptr()]
    }
}

impl Kind for (Buffer, Buffer) {
    const COPIES: bool = false;

    fn new(communicator: &Communicator, values: &[f32]) -> Self {
        (buffer(communicator, values), buffer(communicator, &vec![-7.0; values.len()]))
    }

    fn result(&self) -> &[f32] {
        &self.1
    }

    fn read_only(&self) -> Option<&[f32]> {
        Some(&self.0)
    }

    fn buffers(&self) -> Vec<*const f32> {
        vec![self.0.as_ptr(), self.1.as_ptr()]
    }
}

/// Makes all calls with a kind of memory. `mean`: of the gradients of both ranks.
fn use_memory<M: Kind>(communicator: &Communicator, bucket: &mut Bucket, mean: &[f32]) {
    let (own, gradient) = (bucket.shard_range(), gradient(communicator.rank(), ELEMENTS));
    let mut shard = vec![f32::NAN; ELEMENTS];
    shard[own.clone()].copy_from_slice(&mean[own.clone()]);
    for _ in 0..3 {
        let all_reduce: fn(&mut Bucket, M) -> Request<(M, _)> = Bucket::start_all_reduce;
        for (call, given) in
            [(all_reduce, &gradient), (Bucket::reduce_scatter, &gradient), (Bucket::all_gather, &shard)]
        {
            let memory = M::new(communicator, given);
            let buffers = memory.buffers();
            let (memory, report) = call(bucket, memory).wait().unwrap();
            let (kind, result) = (report.kind, memory.result());
            let is_whole = kind != optireduce::Kind::ReduceScatter;
            let found = if is_whole { result } else { &result[own.clone()] };
            assert!(found == if is_whole { mean } else { &mean[own.clone()] }, "{report}");
            assert_eq!((result.len(), memory.buffers()), (ELEMENTS, buffers), "{report}");
            let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert!(memory.read_only().is_none_or(|read| bits(read) == bits(given)), "{report}");
            if kind == optireduce::Kind::AllReduce {
                assert_eq!(report.copied_bytes, if M::COPIES { 4 * ELEMENTS as u64 } else { 0 }, "{report}");
            }
        }
    }
}

#[test]
fn memory_of_every_kind_comes_back_with_the_result_of_every_call() {
    for local in [SharedMemory::Off, SharedMemory::Auto] {
        job(2, move |rank, root| {
            let mut communicator = Communicator::connect(builder(rank, 2, &root).shared_memory(local)).wait().unwrap();
            let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
            let mut mean = gradient(rank, ELEMENTS);
            let report = bucket.all_reduce(&mut mean).unwrap();
            assert_eq!((report.lost_bytes, report.copied_bytes), (0, 2 * 4 * ELEMENTS as u64));
            use_memory::<Vec<f32>>(&communicator, &mut bucket, &mean);
            use_memory::<Buffer>(&communicator, &mut bucket, &mean);
            use_memory::<(Buffer, Buffer)>(&communicator, &mut bucket, &mean);
            communicator.close().wait().unwrap();
        });
    }
}

#[test]
fn calls_begin_before_anybody_polls_them() {
    const RANKS: usize = 4;
    let others_have_ended = Arc::new(Barrier::new(RANKS));
    job(RANKS, move |rank, root| {
        // Rank 0 does not poll until the calls of all other ranks have returned.
        fn end<T>(request: Request<T>, rank: usize, others_have_ended: &Barrier) -> T {
            if rank == 0 {
                others_have_ended.wait();
                return request.wait().unwrap();
            }
            let result = request.wait().unwrap();
            others_have_ended.wait();
            result
        }
        macro_rules! end {
            ($request:expr) => {
                end($request, rank, &others_have_ended)
            };
        }
        let mut communicator = end!(Communicator::connect(builder(rank, RANKS, &root)));
        end!(communicator.barrier());
        assert_eq!(end!(communicator.exact().all_reduce(vec![rank as i64], ExactOp::Sum)), [6]);
        let mut bucket = end!(communicator.bucket(ELEMENTS, BucketOptions::new()));
        let (mean, report) = end!(bucket.start_all_reduce(vec![rank as f32; ELEMENTS]));
        assert_eq!((mean, report.lost_bytes), (vec![1.5; ELEMENTS], 0), "rank {rank}: {report}");
        let (shard, report) = end!(bucket.reduce_scatter(vec![rank as f32; ELEMENTS]));
        assert_eq!(report.lost_bytes, 0, "rank {rank}: {report}");
        let (whole, report) = end!(bucket.all_gather(shard));
        assert_eq!((whole, report.lost_bytes), (vec![1.5; ELEMENTS], 0), "rank {rank}: {report}");
        assert!(end!(bucket.settle(None)).is_settled);
        let mut levels = end!(communicator.bucket(ELEMENTS, BucketOptions::new().groups(Groups::Number(2))));
        let (mean, report) = end!(levels.start_all_reduce(vec![rank as f32; ELEMENTS]));
        assert_eq!((mean, report.lost_bytes), (vec![1.5; ELEMENTS], 0), "rank {rank}: {report}");
        assert!(end!(levels.settle(None)).is_settled);
        let group = end!(communicator.split(Some(0)));
        end!(group.unwrap().close());
        let partial = end!(communicator.partial_reduce(8, PartialOptions::new()));
        end!(partial.close());
        end!(communicator.close());
    });
}

#[test]
fn ranks_that_wait_in_opposite_order_agree() {
    const LENGTHS: [usize; 5] = [70_001, 3, 1000, 300_000, 20_000];
    job(2, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut buckets = LENGTHS.map(|elements| communicator.bucket(elements, BucketOptions::new()).wait().unwrap());
        for round in 0..5 {
            let begin = |bucket: &mut Bucket| {
                let mean = (rank + round) as f32;
                Some((bucket.elements(), bucket.start_all_reduce(vec![mean; bucket.elements()])))
            };
            let mut reductions: Vec<_> = buckets.iter_mut().map(begin).collect();
            let mut sums: Vec<_> = (0..5)
                .map(|call| Some(communicator.exact().all_reduce(vec![rank as u64 + call], ExactOp::Sum)))
                .collect();
            let mut messages: Vec<_> = (0..5).map(|tag| Some(communicator.recv(1 - rank, tag))).collect();
            let sends: Vec<_> = (0..5).map(|tag| communicator.send(1 - rank, tag, vec![tag as u8])).collect();
            for place in 0..5 {
                let call = if rank == 0 { place } else { 4 - place };
                let (elements, reduction) = reductions[call].take().unwrap();
                let (mean, report) = reduction.wait().unwrap();
                assert_eq!((mean, report.lost_bytes), (vec![round as f32 + 0.5; elements], 0), "rank {rank}: {report}");
                assert_eq!(sums[call].take().unwrap().wait().unwrap(), [1 + 2 * call as u64], "rank {rank}");
                assert_eq!(messages[call].take().unwrap().wait().unwrap().bytes, [call as u8], "rank {rank}");
            }
            sends.into_iter().for_each(|send| send.wait().unwrap());
        }
        communicator.close().wait().unwrap();
    });
}

#[test]
fn requests_outlive_their_bucket_and_their_communicator() {
    let both = Arc::new(Barrier::new(2));
    job(2, move |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        let values = vec![rank as f32; ELEMENTS];
        let memory = (buffer(&communicator, &values), buffer(&communicator, &values));
        let (mut finished, mut sum) =
            (bucket.start_all_reduce(memory), communicator.exact().all_reduce(vec![1], ExactOp::Sum));
        let mut message = communicator.recv(1 - rank, 1);
        communicator.send(1 - rank, 1, vec![5]).wait().unwrap();
        assert!(finished.wait_timeout(TIMEOUT) && sum.wait_timeout(TIMEOUT) && message.wait_timeout(TIMEOUT));
        both.wait();
        if rank == 0 {
            // Rank 1 makes none of these calls.
            let running = bucket.start_all_reduce(buffer(&communicator, &values));
            let (receive, barrier, split) =
                (communicator.recv(1, 2), communicator.barrier(), communicator.split(Some(0)));
            drop((bucket, communicator));
            assert_eq!(running.wait().unwrap_err().kind(), ErrorKind::Closed);
            assert!(receive.wait().is_err() && barrier.wait().is_err() && split.wait().is_err());
            both.wait();
        } else {
            both.wait();
            drop((bucket, communicator));
        }
        let ((mut read, mean), report) = finished.wait().unwrap();
        assert_eq!((&read[..], &mean[..], report.lost_bytes), (&values[..], &[0.5; ELEMENTS][..], 0));
        read.fill(7.0);
        assert_eq!((sum.wait().unwrap(), message.wait().unwrap().bytes), (vec![2], vec![5]));
    });
}

/// A forgotten request keeps its memory, and holds up nothing.
#[test]
fn forgotten_requests_hold_up_no_other_call() {
    job(2, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        for _ in 0..20 {
            std::mem::forget(bucket.start_all_reduce(buffer(&communicator, &gradient(rank, ELEMENTS))));
            std::mem::forget(communicator.barrier());
            std::mem::forget(communicator.recv(1 - rank, 1));
        }
        let mut data = vec![rank as f32; ELEMENTS];
        let report = bucket.all_reduce(&mut data).unwrap();
        assert_eq!((report.number, report.lost_bytes, data), (20, 0, vec![0.5; ELEMENTS]));
        assert!(bucket.settle(None).wait().unwrap().is_settled);
        communicator.close().wait().unwrap();
    });
}

/// A dropped call counts as made on this rank, whatever its kind.
#[test]
fn dropped_requests_leave_the_ranks_in_step() {
    job(2, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        if rank == 0 {
            drop(communicator.exact().all_reduce(vec![1_u8], ExactOp::Sum));
            drop(communicator.split(Some(0)));
            drop(communicator.bucket(7, BucketOptions::new()));
            drop(bucket.reduce_scatter(gradient(rank, ELEMENTS)));
            drop(bucket.settle(None));
        } else {
            std::thread::sleep(Duration::from_millis(100));
            assert_eq!(communicator.exact().all_reduce(vec![1_u8], ExactOp::Sum).wait().unwrap(), [2]);
            assert_eq!(communicator.split(Some(0)).wait().unwrap().unwrap().world_size(), 2);
            communicator.bucket(7, BucketOptions::new()).wait().unwrap();
            let (_, report) = bucket.reduce_scatter(gradient(rank, ELEMENTS)).wait().unwrap();
            assert_eq!(report.lost_bytes, 0, "{report}");
            assert!(bucket.settle(None).wait().unwrap().is_settled);
        }
        let mut last = communicator.bucket(9, BucketOptions::new()).wait().unwrap();
        let report = last.all_reduce(&mut [1.0; 9]).unwrap();
        assert_eq!((report.bucket, report.number, report.drift_bytes), (2, 1, 0), "rank {rank}");
        communicator.close().wait().unwrap();
    });
}

/// One rank blocks, and the other awaits, in a runtime without timers and I/O.
#[test]
fn a_rank_that_awaits_and_one_that_blocks_make_the_same_calls() {
    let root = free_root();
    let blocking = {
        let settings = builder(0, 2, &root);
        std::thread::spawn(move || -> Result<_, Error> {
            let mut communicator = Communicator::connect(settings).wait()?;
            let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait()?;
            let (mean, _) = bucket.start_all_reduce(gradient(0, ELEMENTS)).wait()?;
            let group = communicator.split(None).wait()?;
            communicator.send(1, 1, vec![9]).wait()?;
            communicator.close().wait()?;
            Ok((mean, group.is_none()))
        })
    };
    let awaiting = async {
        let mut communicator = Communicator::connect(builder(1, 2, &root)).await?;
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).await?;
        let (mean, _) = bucket.start_all_reduce(gradient(1, ELEMENTS)).await?;
        let group = communicator.split(None).await?;
        assert_eq!(communicator.recv(0, 1).await?.bytes, [9]);
        communicator.close().await?;
        Ok::<_, Error>((mean, group.is_none()))
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (one, two) = (runtime.block_on(awaiting).unwrap(), blocking.join().unwrap().unwrap());
    assert!(one == two && one.1);
}
