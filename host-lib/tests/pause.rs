//! A trainer that pauses, for example to save a checkpoint, does not end its job.

mod ranks;

use std::time::{Duration, Instant};

use optireduce::{Bucket, BucketOptions, Communicator, ErrorKind, Settings, SharedMemory};
use ranks::job;

const RANKS: usize = 4;
const ELEMENTS: usize = 100_000;
const CALLS: usize = 80;
/// Call before which rank 0 pauses.
const PAUSE: usize = 30;

/// Defaults, but a bound that a busy machine keeps.
fn connect(rank: usize, root: &str, shared_memory: SharedMemory, timeout_s: u64) -> (Communicator, Bucket) {
    let place = Settings::new().rank(rank).world_size(RANKS).root(root).shared_memory(shared_memory);
    let settings = place.bound(Duration::from_millis(50)).timeout(Duration::from_secs(timeout_s));
    let mut communicator = Communicator::connect(settings).wait().unwrap();
    let bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
    (communicator, bucket)
}

fn add(weights: &mut [f32], update: &[f32]) {
    weights.iter_mut().zip(update).for_each(|(weight, value)| *weight += value);
}

/// All ranks make as many calls, and ignore the reports.
fn one_rank_pauses(shared_memory: SharedMemory) {
    let all = job(RANKS, move |rank, root| {
        let (communicator, mut bucket) = connect(rank, &root, shared_memory, 30);
        let mut weights = vec![0.0; ELEMENTS];
        let mut waited = Duration::ZERO;
        for call in 0..CALLS {
            if (rank, call) == (0, PAUSE) {
                std::thread::sleep(Duration::from_secs(3));
            }
            let (begin, mut values) = (Instant::now(), vec![rank as f32; ELEMENTS]);
            let _ = bucket.all_reduce(&mut values).unwrap();
            waited = waited.max(begin.elapsed());
            add(&mut weights, &values);
        }
        let settled = bucket.settle(None).wait().unwrap();
        add(&mut weights, settled.correction.as_deref().unwrap_or_default());
        communicator.close().wait().unwrap();
        (weights, waited, settled.repairs.drift_bytes)
    });
    for (rank, (weights, _, drift_bytes)) in all.iter().enumerate() {
        let distance = weights.iter().zip(&all[0].0).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(distance < 1e-3 && *drift_bytes == 0, "replica {rank}: distance {distance}, drift {drift_bytes} B");
    }
    let longest = all[1..].iter().map(|(_, waited, _)| *waited).min().unwrap();
    assert!(longest > Duration::from_secs(1), "the others made their calls without rank 0: {longest:?}");
}

#[test]
fn the_others_wait_for_a_trainer_that_pauses_over_udp() {
    one_rank_pauses(SharedMemory::Off);
}

#[test]
fn the_others_wait_for_a_trainer_that_pauses_over_shared_memory() {
    one_rank_pauses(SharedMemory::Auto);
}

#[test]
fn a_trainer_that_pauses_longer_than_the_timeout_is_dropped_and_may_rejoin() {
    job(RANKS, |rank, root| {
        let (mut communicator, mut bucket) = connect(rank, &root, SharedMemory::Off, 4);
        let mut values = vec![1.0; ELEMENTS];
        for _ in 0..PAUSE {
            let _ = bucket.all_reduce(&mut values).unwrap();
        }
        let mut left = None;
        if rank == 0 {
            std::thread::sleep(Duration::from_secs(8));
            let error = loop {
                if let Err(error) = bucket.all_reduce(&mut values) {
                    break error;
                }
            };
            assert_eq!(error.kind(), ErrorKind::Dropped, "{error}");
            communicator.rejoin().wait().unwrap();
        }
        // As many calls on all ranks, from the first with rank 0 again.
        while left != Some(0) {
            let report = bucket.all_reduce(&mut values).unwrap();
            left = left.or((report.joined_rank == Some(0)).then_some(50)).map(|left| left - 1);
            std::thread::sleep(Duration::from_millis(2));
        }
        let _settled = bucket.settle(None).wait().unwrap();
        communicator.close().wait().unwrap();
    });
}

#[test]
fn a_rank_whose_peers_have_all_ended_has_an_error_soon() {
    job(RANKS, |rank, root| {
        let (_communicator, mut bucket) = connect(rank, &root, SharedMemory::Off, 30);
        let mut values = vec![1.0; ELEMENTS];
        for _ in 0..PAUSE {
            let _ = bucket.all_reduce(&mut values).unwrap();
        }
        if rank > 0 {
            return;
        }
        let begin = Instant::now();
        let error = loop {
            if let Err(error) = bucket.all_reduce(&mut values) {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::Peer, "{error}");
        assert!(begin.elapsed() < Duration::from_secs(15), "{:?}: {error}", begin.elapsed());
    });
}
