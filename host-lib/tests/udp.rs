//! Ranks over real sockets on loopback: threads of this process, each with its own communicator.

use std::net::TcpListener;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use optireduce::bootstrap::Launch;
use optireduce::protocol::{HadamardMode, Report};
use optireduce::{BOUND_MIN, Bound, Builder, Communicator, Early, Finished};

const PATIENCE: Duration = Duration::from_secs(20);

fn root() -> String {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    format!("127.0.0.1:{port}")
}

fn builder(rank: usize, ranks: usize, root: &str) -> Builder {
    let launch = Launch::new(rank, ranks, root.to_owned()).unwrap();
    // Long enough for a machine that is busy with other tests.
    Communicator::builder()
        .launch(launch)
        .timeout(PATIENCE)
        .bound(Bound::Fixed(Duration::from_secs(3)))
        .early(Early::Off)
}

/// Runs one thread for each rank; their results, by rank.
fn job<T: Send + 'static>(ranks: usize, rank: impl Fn(usize, String) -> T + Clone + Send + 'static) -> Vec<T> {
    let root = root();
    let start = |number| {
        let (rank, root) = (rank.clone(), root.clone());
        thread::spawn(move || rank(number, root))
    };
    let threads: Vec<JoinHandle<T>> = (0..ranks).map(start).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

fn gradient(rank: usize, elements: usize) -> Vec<f32> {
    (0..elements).map(|i| ((i * 31 + rank * 17) % 1009) as f32 * 1e-3 - 0.5).collect()
}

fn check_mean(ranks: usize, results: &[Vec<f32>], tolerance: f64) {
    let gradients: Vec<_> = (0..ranks).map(|rank| gradient(rank, results[0].len())).collect();
    for (rank, result) in results.iter().enumerate() {
        assert!(result.iter().zip(&results[0]).all(|(a, b)| a.to_bits() == b.to_bits()), "rank {rank} has other bits");
    }
    for (i, found) in results[0].iter().enumerate() {
        let mean = gradients.iter().map(|gradient| f64::from(gradient[i])).sum::<f64>() / ranks as f64;
        assert!((f64::from(*found) - mean).abs() <= tolerance, "element {i} is {found}, expected {mean}");
    }
}

#[test]
fn all_ranks_get_the_mean_with_the_same_bits() {
    for (ranks, elements, hadamard, bf16, mtu) in [
        (2, 1, HadamardMode::Off, false, 1500),
        (4, 100_003, HadamardMode::Off, false, 1500),
        (4, 100_003, HadamardMode::On, false, 9000),
        (3, 600_000, HadamardMode::Off, true, 65_000),
    ] {
        let results = job(ranks, move |rank, root| {
            let builder = builder(rank, ranks, &root).hadamard(hadamard).bf16(bf16).mtu(mtu).incast(Some(2));
            let mut communicator = builder.connect().unwrap();
            communicator.barrier().unwrap();
            let mut data = gradient(rank, elements);
            let report: Report = communicator.all_reduce(0, &mut data).unwrap();
            assert_eq!((report.lost_bytes, report.own_contribution), (0, true), "rank {rank}");
            communicator.barrier().unwrap();
            data
        });
        check_mean(ranks, &results, if bf16 { 0.01 } else { 1e-5 });
    }
}

#[test]
fn several_buckets_are_in_flight_and_come_back_in_order() {
    let results = job(3, |rank, root| {
        let mut communicator = builder(rank, 3, &root).connect().unwrap();
        let started: Vec<_> = (0..5).map(|bucket| communicator.start(bucket, gradient(rank, 5000)).unwrap()).collect();
        let finished: Vec<Finished> = started.into_iter().map(|pending| pending.wait().unwrap()).collect();
        assert!(
            finished.iter().zip(0..).all(|(one, bucket)| (one.report.bucket, one.report.op) == (bucket, bucket.into()))
        );
        communicator.barrier().unwrap();
        finished.into_iter().map(|one| one.result).collect::<Vec<_>>()
    });
    for bucket in 0..5 {
        let of_bucket: Vec<_> = results.iter().map(|results| results[bucket].clone()).collect();
        check_mean(3, &of_bucket, 1e-6);
    }
}

#[test]
fn a_late_rank_costs_its_peers_the_bound_and_gets_their_result() {
    const BOUND: Duration = Duration::from_millis(100);
    let results = job(3, |rank, root| {
        let mut communicator = builder(rank, 3, &root).bound(Bound::Fixed(BOUND)).connect().unwrap();
        // The bucket is known after the first time.
        for late in [false, true] {
            communicator.barrier().unwrap();
            if late && rank == 2 {
                thread::sleep(Duration::from_secs(1));
            }
            let begin = Instant::now();
            let mut data = gradient(rank, 50_000);
            let report = communicator.all_reduce(0, &mut data).unwrap();
            if late {
                communicator.barrier().unwrap();
                return (report, data, begin.elapsed());
            }
        }
        unreachable!()
    });
    let own_contribution: Vec<bool> = results.iter().map(|(report, ..)| report.own_contribution).collect();
    assert_eq!(own_contribution, [true, true, false]);
    assert_eq!((&results[0].0.late_peers, &results[1].0.late_peers), (&vec![2], &vec![2]));
    // The means over two ranks; all have the shards of all, also that of the rank that slept.
    let mean = |i: usize| (gradient(0, 50_000)[i] + gradient(1, 50_000)[i]) / 2.0;
    let expected: Vec<f32> = (0..50_000).step_by(997).map(mean).collect();
    for (_, data, _) in &results[..2] {
        let found = data.iter().step_by(997);
        assert!(found.zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-5));
    }
}

#[test]
fn a_rank_that_dies_does_not_stop_the_others() {
    let reports = job(4, |rank, root| {
        let bound = Bound::Fixed(Duration::from_millis(50));
        let mut communicator = builder(rank, 4, &root).bound(bound).connect().unwrap();
        communicator.barrier().unwrap();
        let mut data = gradient(rank, 10_000);
        communicator.all_reduce(0, &mut data).unwrap();
        if rank == 3 {
            return None;
        }
        thread::sleep(Duration::from_millis(200));
        let report = communicator.all_reduce(0, &mut data).unwrap();
        thread::sleep(Duration::from_millis(200));
        Some(report)
    });
    for report in &reports[..3] {
        assert_eq!(report.as_ref().unwrap().late_peers, [3]);
    }
}

#[test]
fn a_rank_that_does_not_come_is_named() {
    let root = root();
    let short = Duration::from_millis(300);
    let join = |rank: usize| {
        let root = root.clone();
        thread::spawn(move || builder(rank, 4, &root).timeout(short).connect().unwrap_err().to_string())
    };
    let (zero, one) = (join(0), join(1));
    let error = zero.join().unwrap();
    assert!(error.starts_with("2 of 4 ranks did not come within 0.3 s: rank 2, 3;"), "{error}");
    assert!(one.join().unwrap().contains("rank 1 introduces itself to rank 0"));

    let nobody = builder(1, 2, &self::root()).timeout(short).connect().unwrap_err().to_string();
    assert!(nobody.contains("was not reached within 0.3 s"), "{nobody}");
}

#[test]
fn ranks_that_do_not_fit_are_refused_with_the_reason() {
    let root = root();
    let join = |rank: usize, ranks: usize| {
        let root = root.clone();
        thread::spawn(move || builder(rank, ranks, &root).connect().map(drop).map_err(|error| error.to_string()))
    };
    let zero = join(0, 2);
    let wrong = join(2, 3).join().unwrap().unwrap_err();
    assert_eq!(wrong, "rank 0 refused rank 2: it expects 3 ranks, rank 0 expects 2");
    let one = join(1, 2);
    assert_eq!((zero.join().unwrap(), one.join().unwrap()), (Ok(()), Ok(())));
}

#[test]
fn the_bound_is_measured_and_the_same_on_all_ranks() {
    let bounds = job(3, |rank, root| {
        let communicator = builder(rank, 3, &root).bound(Bound::Measured { elements: 10_000 }).connect().unwrap();
        communicator.params().bound_ns
    });
    assert!(bounds[0] >= BOUND_MIN.as_nanos() as u64 && bounds.iter().all(|bound| *bound == bounds[0]), "{bounds:?}");
}
