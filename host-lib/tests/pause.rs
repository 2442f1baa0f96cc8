//! A trainer that pauses, for example to save a checkpoint, costs its job no update, and itself a
//! `rejoin` if the pause was long.

mod ranks;

use std::time::{Duration, Instant};

use optireduce::{BucketOptions, Communicator, ErrorKind, Settings, SharedMemory};
use ranks::job;

const RANKS: usize = 4;
const ELEMENTS: usize = 100_000;

/// Defaults, but a bound that a busy machine keeps.
fn connect(rank: usize, root: &str, shared_memory: SharedMemory) -> Communicator {
    let place = Settings::new().rank(rank).world_size(RANKS).root(root).shared_memory(shared_memory);
    Communicator::connect(place.bound(Duration::from_millis(50)).timeout(Duration::from_secs(30))).wait().unwrap()
}

fn one_rank_pauses(shared_memory: SharedMemory) {
    job(RANKS, move |rank, root| {
        let mut communicator = connect(rank, &root, shared_memory);
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        let mut values = vec![1.0; ELEMENTS];
        for _ in 0..30 {
            let _ = bucket.all_reduce(&mut values).unwrap();
        }
        if rank == 0 {
            std::thread::sleep(Duration::from_secs(2));
            let error = loop {
                if let Err(error) = bucket.all_reduce(&mut values) {
                    break error;
                }
            };
            assert_eq!(error.kind(), ErrorKind::Dropped, "{error}");
            let first = communicator.rejoin().wait().unwrap();
            let report = bucket.all_reduce(&mut values).unwrap();
            assert_eq!((report.number, report.joined_rank, report.ranks.len()), (first, Some(0), RANKS), "{report}");
        }
        // All ranks make as many calls after the first with rank 0 again.
        let mut left = if rank == 0 { Some(49) } else { None };
        while left != Some(0) {
            let report = bucket.all_reduce(&mut values).unwrap();
            left = left.or((report.joined_rank == Some(0)).then_some(50)).map(|left| left - 1);
        }
        let _settled = bucket.settle(None).wait().unwrap();
        communicator.close().wait().unwrap();
    });
}

#[test]
fn a_pause_halts_no_job_over_udp() {
    one_rank_pauses(SharedMemory::Off);
}

#[test]
fn a_pause_halts_no_job_over_shared_memory() {
    one_rank_pauses(SharedMemory::Auto);
}

#[test]
fn a_rank_whose_peers_have_all_ended_has_an_error_soon() {
    job(RANKS, move |rank, root| {
        let mut communicator = connect(rank, &root, SharedMemory::Off);
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        let mut values = vec![1.0; ELEMENTS];
        for _ in 0..30 {
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
        println!("{:?}: {error}", begin.elapsed());
        assert_eq!(error.kind(), ErrorKind::Peer, "{error}");
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}: {error}", begin.elapsed());
    });
}
