//! Collectives over real sockets on loopback.

mod ranks;

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use ranks::{TIMEOUT, builder, check_mean, free_root, gradient, job, report_of};

use optireduce::tuning::BOUND_MIN;
use optireduce::tuning::{SendThread, Tuning};
use optireduce::{Bucket, BucketOptions, ClosedBy, Communicator, Groups, HadamardMode, Repair, Report, Stage};

#[test]
fn all_ranks_get_the_mean_with_the_same_bits() {
    for (ranks, elements, hadamard, bf16, mtu) in [
        (2, 1, HadamardMode::Off, false, 1500),
        (4, 100_003, HadamardMode::Off, false, 1500),
        (4, 100_003, HadamardMode::On, false, 9000),
        (3, 600_000, HadamardMode::Off, true, 65_000),
    ] {
        let results = job(ranks, move |rank, root| {
            let builder = builder(rank, ranks, &root).hadamard(hadamard).bf16(bf16).mtu(mtu).incast(2);
            let mut communicator = Communicator::connect(builder).wait().unwrap();
            let mut bucket = communicator.bucket(elements, BucketOptions::new()).wait().unwrap();
            let mut data = gradient(rank, elements);
            let report: Report = bucket.all_reduce(&mut data).unwrap();
            assert_eq!((report.lost_bytes, report.is_late), (0, false), "rank {rank}");
            communicator.barrier().wait().unwrap();
            data
        });
        check_mean(ranks, &results, if bf16 { 0.01 } else { 1e-5 });
    }
}

/// A caller may overwrite its memory once a call has returned, even if packets are still pending.
#[test]
fn a_thread_of_its_own_sends_from_memory_that_the_caller_gets_back() {
    const RANKS: usize = 3;
    let threads = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok);
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
        names.filter(|name| name.trim() == "optireduce-send").count()
    };
    for (elements, hadamard, bf16, mtu) in [
        (600_000, HadamardMode::Off, false, 65_000),
        (600_001, HadamardMode::Off, false, 1500),
        (300_000, HadamardMode::On, false, 9000),
        (300_000, HadamardMode::Off, true, 9000),
    ] {
        let results = job(RANKS, move |rank, root| {
            let builder = builder(rank, RANKS, &root).hadamard(hadamard).bf16(bf16).mtu(mtu);
            let mut communicator = Communicator::connect(builder.send_thread(SendThread::On)).wait().unwrap();
            let mut bucket = communicator.bucket(elements, BucketOptions::new()).wait().unwrap();
            let mut results = Vec::new();
            for call in 0..20 {
                let mut data = gradient(rank, elements);
                let report = bucket.all_reduce(&mut data).unwrap();
                assert_eq!((report.lost_bytes, report.is_late), (0, false), "rank {rank}, call {call}");
                results.push(data);
                let (mut data, report) = bucket.start_all_reduce(gradient(rank, elements)).wait().unwrap();
                assert_eq!((report.lost_bytes, report.is_late), (0, false), "rank {rank}, call {call}");
                results.push(data.clone());
                data.fill(f32::NAN);
            }
            assert!(threads() >= 1, "no thread sends");
            communicator.barrier().wait().unwrap();
            results
        });
        for call in 0..results[0].len() {
            let of_call: Vec<_> = results.iter().map(|results| results[call].clone()).collect();
            check_mean(RANKS, &of_call, if bf16 { 0.01 } else { 1e-5 });
        }
    }
}

#[test]
fn several_buckets_are_in_flight_and_come_back_in_order() {
    let results = job(3, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 3, &root)).wait().unwrap();
        let buckets = (0..5).map(|_| communicator.bucket(5000, BucketOptions::new()).wait().unwrap());
        let mut buckets: Vec<Bucket> = buckets.collect();
        let started = buckets.iter_mut().map(|bucket| bucket.start_all_reduce(gradient(rank, 5000)));
        let started: Vec<_> = started.collect();
        let finished: Vec<_> = started.into_iter().map(|request| request.wait().unwrap()).collect();
        let ids = finished.iter().map(|(_, report)| (u32::from(report.bucket), report.number));
        assert!(ids.eq((0..5).map(|index| (index, index))));
        communicator.barrier().wait().unwrap();
        finished.into_iter().map(|(result, _)| result).collect::<Vec<_>>()
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
        let mut communicator = Communicator::connect(builder(rank, 3, &root).bound(BOUND)).wait().unwrap();
        let mut bucket = communicator.bucket(50_000, BucketOptions::new()).wait().unwrap();
        for late in [false, true] {
            communicator.barrier().wait().unwrap();
            if late && rank == 2 {
                thread::sleep(Duration::from_secs(1));
            }
            let begin = Instant::now();
            let mut data = gradient(rank, 50_000);
            let report = report_of(bucket.all_reduce(&mut data));
            if late {
                communicator.barrier().wait().unwrap();
                return (report, data, begin.elapsed());
            }
        }
        unreachable!()
    });
    let late: Vec<bool> = results.iter().map(|(report, ..)| report.is_late).collect();
    assert_eq!(late, [false, false, true]);
    assert_eq!([0, 1].map(|rank: usize| &results[rank].0.late_ranks[..]), [[2], [2]]);
    // All ranks have all shards, including the late rank's.
    let mean = |i: usize| (gradient(0, 50_000)[i] + gradient(1, 50_000)[i]) / 2.0;
    let expected: Vec<f32> = (0..50_000).step_by(997).map(mean).collect();
    for (_, data, _) in &results[..2] {
        let found = data.iter().step_by(997);
        assert!(found.zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-5));
    }
}

#[test]
fn a_rank_that_dies_does_not_stop_the_others() {
    let together = Arc::new(Barrier::new(3));
    let reports = job(4, move |rank, root| {
        let bound = Duration::from_millis(200);
        let mut communicator = Communicator::connect(builder(rank, 4, &root).bound(bound)).wait().unwrap();
        let mut bucket = communicator.bucket(10_000, BucketOptions::new()).wait().unwrap();
        let mut data = gradient(rank, 10_000);
        let _report = report_of(bucket.all_reduce(&mut data));
        if rank == 3 {
            return None;
        }
        thread::sleep(Duration::from_millis(200));
        together.wait();
        let report = report_of(bucket.all_reduce(&mut data));
        together.wait();
        Some(report)
    });
    for report in &reports[..3] {
        assert_eq!(report.as_ref().unwrap().late_ranks, [3]);
    }
}

#[test]
fn reduce_scatter_gives_each_rank_its_shard_and_all_gather_all_ranks_the_whole() {
    for (ranks, elements) in [(2, 5), (4, 100_003), (3, 900_000)] {
        let results = job(ranks, move |rank, root| {
            let mut communicator = Communicator::connect(builder(rank, ranks, &root)).wait().unwrap();
            let mut bucket = communicator.bucket(elements, BucketOptions::new()).wait().unwrap();
            for round in 0..3 {
                let what = format!("{ranks} ranks, {elements} elements, rank {rank}, round {round}");
                let (scattered, report) = bucket.reduce_scatter(gradient(rank, elements)).wait().unwrap();
                assert_eq!((report.lost_bytes, scattered.len()), (0, elements), "{what}");
                let (own, shard) = (communicator.shard_range(elements), scattered[bucket.shard_range()].to_vec());
                let (gathered, report) = bucket.all_gather(scattered).wait().unwrap();
                assert_eq!((report.lost_bytes, gathered.len()), (0, elements), "{what}");
                assert_eq!(gathered[own], shard, "{what}");
                let mut whole = gradient(rank, elements);
                let _report = bucket.all_reduce(&mut whole).unwrap();
                if round == 2 {
                    communicator.barrier().wait().unwrap();
                    return gathered;
                }
            }
            unreachable!()
        });
        check_mean(ranks, &results, 1e-5);
    }
}

/// Rank 1 is two bounds late.
#[test]
fn an_all_gather_waits_for_the_part_of_a_late_rank_if_it_waits_for_repairs() {
    const BOUND: Duration = Duration::from_millis(200);
    for waits in [false, true] {
        let results = job(2, move |rank, root| {
            let builder = builder(rank, 2, &root).bound(BOUND).repair(if waits {
                Repair::ThisUpdate
            } else {
                Repair::NextUpdate
            });
            let mut communicator = Communicator::connect(builder).wait().unwrap();
            let mut bucket = communicator.bucket(1000, BucketOptions::new()).wait().unwrap();
            communicator.barrier().wait().unwrap();
            if rank == 1 {
                thread::sleep(2 * BOUND);
            }
            let (whole, report) = bucket.all_gather(vec![rank as f32 + 1.0; 1000]).wait().unwrap();
            communicator.barrier().wait().unwrap();
            (whole, report.missing_from(Stage::Broadcast), report.missing)
        });
        let theirs = results[1].0.iter().position(|value| *value == 2.0).unwrap();
        let (whole, late, missing) = &results[0];
        assert_eq!((&late[..], results[1].0[0]), (&[1][..], 1.0), "waits: {waits}");
        assert!(whole[..theirs].iter().all(|value| *value == 1.0), "waits: {waits}");
        if waits {
            assert_eq!((whole, &missing[..]), (&results[1].0, &[][..]));
        } else {
            assert!(whole[theirs..].iter().all(|value| *value == 0.0));
            assert_eq!(missing.iter().map(ExactSizeIterator::len).sum::<usize>(), 1000 - theirs, "{missing:?}");
        }
    }
}

/// Three buckets of one job. Rank 1 is two bounds late in the first call of each.
#[test]
fn a_lost_mean_arrives_never_with_the_next_result_or_before_the_call_ends_as_its_bucket_says() {
    const BOUND: Duration = Duration::from_millis(200);
    const ELEMENTS: usize = 1000;
    let results = job(2, |rank, root| {
        let mut communicator =
            Communicator::connect(builder(rank, 2, &root).bound(BOUND).drop_silent_after(None).repair(Repair::Off))
                .wait()
                .unwrap();
        Repair::ALL.map(|repair| {
            let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new().repair(repair)).wait().unwrap();
            let calls = [0, 1].map(|call| {
                communicator.barrier().wait().unwrap();
                if rank == 1 && call == 0 {
                    thread::sleep(2 * BOUND);
                }
                let mut data = vec![(1 + rank + 8 * call) as f32; ELEMENTS];
                let begun = Instant::now();
                let report = bucket.all_reduce(&mut data).unwrap();
                (data, report, begun.elapsed())
            });
            communicator.barrier().wait().unwrap();
            let settled = bucket.settle(None).wait().unwrap();
            assert!(settled.is_settled && settled.correction.is_none(), "{repair}: {settled:?}");
            calls
        })
    });
    for (at, repair) in Repair::ALL.into_iter().enumerate() {
        let [[(first, report, time), (second, next, _)], [(theirs, ..), _]] =
            [&results[0][at], &results[1][at]].map(|calls| calls);
        assert!(report.late_ranks == [1] && *time < 7 * BOUND, "{repair}: {report}, {time:?}");
        let later: Vec<f32> = match repair {
            Repair::ThisUpdate => {
                // Its own shard has the values of rank 0 alone. Rank 1 fetched that mean, too.
                assert!(report.is_applied && report.missing.is_empty() && *time > BOUND, "{repair}: {report}");
                assert!(first[0] == 1.0 && first.iter().all(|value| *value > 0.0), "{repair}: {first:?}");
                assert_eq!(first, theirs, "{repair}");
                vec![0.0; ELEMENTS]
            }
            _ => {
                assert!(!report.is_applied && first.iter().all(|value| *value == 0.0), "{repair}: {report}");
                if repair == Repair::Off { vec![0.0; ELEMENTS] } else { theirs.clone() }
            }
        };
        assert_eq!(next.is_corrected, repair == Repair::NextUpdate, "{repair}: {next}");
        let expected: Vec<f32> = later.iter().map(|value| 9.5 + value).collect();
        assert_eq!(*second, expected, "{repair}");
    }
}

#[test]
fn groups_that_cannot_be_are_refused() {
    job(2, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        for groups in [0, 1, 2, 3] {
            let error = communicator
                .bucket(9, BucketOptions::new().groups(Groups::Number(groups)))
                .wait()
                .map(drop)
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(&format!("2 ranks in {groups} groups: expected at least two")), "{error}");
        }
        // Each rank tries alone.
        let alone = communicator.split(Some(rank)).wait().unwrap().unwrap();
        assert_eq!((alone.rank(), alone.world_size()), (0, 1));
        alone.close().wait().unwrap();
        communicator.barrier().wait().unwrap();
    });
}

#[test]
fn ranks_that_agree_do_so_whoever_is_late() {
    let results = job(3, |rank, root| {
        let builder = builder(rank, 3, &root).bound(Duration::from_millis(500)).agree(true);
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let mut bucket = communicator.bucket(50_000, BucketOptions::new()).wait().unwrap();
        let mut reports = Vec::new();
        for late in [None, Some(0), Some(1)] {
            communicator.barrier().wait().unwrap();
            if late == Some(rank) {
                thread::sleep(Duration::from_secs(2));
            }
            reports.push(bucket.all_reduce(&mut gradient(rank, 50_000)).unwrap());
        }
        communicator.barrier().wait().unwrap();
        reports
    });
    for (rank, reports) in results.iter().enumerate() {
        // A late rank's means are complete. The leader decides even while its own trainer is late.
        let found: Vec<_> = reports.iter().map(|report| (report.is_agreed, report.is_applied)).collect();
        assert_eq!(found, [(true, true); 3], "rank {rank}");
    }
}

#[test]
fn a_missing_part_is_zeros_and_reported_within_the_bound() {
    let results = job(3, |rank, root| {
        let bound = Duration::from_secs(1);
        let mut communicator = Communicator::connect(builder(rank, 3, &root).bound(bound)).wait().unwrap();
        let mut bucket = communicator.bucket(30_000, BucketOptions::new()).wait().unwrap();
        if rank == 1 {
            communicator.barrier().wait().unwrap();
            return None;
        }
        let (result, report) = bucket.all_gather(vec![1.0; 30_000]).wait().unwrap();
        communicator.barrier().wait().unwrap();
        Some((report, result))
    });
    for (report, result) in results.into_iter().flatten() {
        assert_eq!(report.missing_from(Stage::Broadcast), [1]);
        let closed_by = report.stage(Stage::Broadcast).unwrap().closed_by;
        assert_eq!((closed_by, &report.late_ranks[..]), (ClosedBy::Deadline, &[1][..]));
        let expected: Vec<f32> = (0..30_000).map(|i| if i / 10_000 == 1 { 0.0 } else { 1.0 }).collect();
        assert!(result == expected);
    }
}

#[test]
fn broadcasts_arrive_whole_from_any_root() {
    const ELEMENTS: usize = 3_000_001;
    let results = job(3, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 3, &root)).wait().unwrap();
        let mut sums = Vec::new();
        for (root, elements) in [(0, ELEMENTS), (2, ELEMENTS), (1, 1), (1, 0), (0, 1 << 20)] {
            let weights = communicator.exact().broadcast(root, gradient(rank, elements)).wait().unwrap();
            sums.push(weights == gradient(root, elements));
        }
        communicator.barrier().wait().unwrap();
        sums
    });
    assert_eq!(results, vec![vec![true; 5]; 3]);
}

#[test]
fn broadcasts_and_barriers_name_the_rank_that_is_missing_on_all_ranks() {
    let silent = "rank 2 did not make the same call within 5 s; is it slow, stopped, or in another call?";
    let check = |barrier: bool| {
        let all_done = Arc::new(Barrier::new(4));
        let errors = job(4, move |rank, root| {
            let mut communicator =
                Communicator::connect(builder(rank, 4, &root).timeout(Duration::from_secs(5))).wait().unwrap();
            communicator.barrier().wait().unwrap();
            let result = match (rank, barrier) {
                (2, _) => Ok(()),
                (_, true) => communicator.barrier().wait(),
                (_, false) => communicator.exact().broadcast(1, vec![0.0; 9]).wait().map(drop),
            };
            all_done.wait();
            result.map_err(|error| error.to_string()).err().unwrap_or_default()
        });
        assert_eq!(errors, [silent, silent, "", silent]);
    };
    thread::scope(|scope| [scope.spawn(|| check(true)), scope.spawn(|| check(false))].map(drop));
}

#[test]
fn invalid_arguments_are_refused_and_harm_nothing() {
    job(2, move |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 2, &root)).wait().unwrap();
        let mut bucket = communicator.bucket(10, BucketOptions::new()).wait().unwrap();
        let error = communicator.exact().broadcast(2, vec![0.0]).wait().unwrap_err().to_string();
        assert_eq!(error, "invalid argument: the root is 2, expected a rank from 0 to 1; nothing was changed");
        for elements in [0, usize::MAX, usize::MAX / 2, 1 << 40] {
            let error = communicator.bucket(elements, BucketOptions::new()).wait().unwrap_err().to_string();
            let expected = format!("invalid argument: the number of elements of a bucket is {elements}, expected ");
            assert!(error.starts_with(&expected), "{error}");
        }
        assert_eq!(bucket.all_gather(vec![1.0; 10]).wait().unwrap().0, [1.0; 10]);
        communicator.barrier().wait().unwrap();
    });
}

#[test]
fn a_rank_that_dies_is_dropped_and_the_others_go_on_without_paying_the_bound() {
    const BOUND: Duration = Duration::from_millis(100);
    const CALLS: usize = 300;
    let results = job(4, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 4, &root).bound(BOUND)).wait().unwrap();
        let mut bucket = communicator.bucket(10_000, BucketOptions::new()).wait().unwrap();
        let mut data = gradient(rank, 10_000);
        let _report = bucket.all_reduce(&mut data).unwrap();
        if rank == 2 {
            return None;
        }
        // The same number on each rank: a rank that stops earlier would be missing in the means.
        let (mut whole, mut most) = (0, 0);
        for _ in 0..CALLS {
            let mut values = gradient(rank, 10_000);
            let report = bucket.all_reduce(&mut values).unwrap();
            whole = if report.ranks == [0, 1, 3] && report.lost_bytes == 0 { whole + 1 } else { 0 };
            if whole > most {
                (most, data) = (whole, values);
            }
        }
        assert!(most >= 3, "rank {rank} still pays the bound after {CALLS} collectives");
        let metrics = communicator.metrics().wait().unwrap();
        assert_eq!(metrics.live, [0, 1, 3], "rank {rank}");
        thread::sleep(Duration::from_millis(500));
        Some((data, metrics.silent))
    });
    // A quorum found it silent. Others may have received the agreement first.
    let found = results.iter().flatten().filter(|(_, silent)| *silent == [2]).count();
    assert!(found >= 2 && results.iter().flatten().all(|(_, silent)| silent.iter().all(|rank| *rank == 2)), "{found}");
    let mean = |i: usize| [0, 1, 3].map(|rank| f64::from(gradient(rank, 10_000)[i])).iter().sum::<f64>() / 3.0;
    for (data, _) in results.iter().flatten() {
        let found = data.iter().enumerate().step_by(97);
        found.for_each(|(i, found)| assert!((f64::from(*found) - mean(i)).abs() < 1e-5, "element {i}"));
    }
    assert_eq!(results.iter().flatten().count(), 3);
}

#[test]
fn a_bound_that_has_become_too_short_is_measured_again() {
    let bounds = job(3, |rank, root| {
        let mut communicator =
            Communicator::connect(builder(rank, 3, &root).bound(None).bound_max(Duration::from_secs(1)))
                .wait()
                .unwrap();
        let mut data = gradient(rank, 4 << 20);
        let [small, mut large] =
            [16, 4 << 20].map(|elements| communicator.bucket(elements, BucketOptions::new()).wait().unwrap());
        // A tiny bucket measures the minimum; 16 MiB need more.
        let first = measured(&mut communicator, small, &mut data[..16]);
        let (mut has_grown, mut calls) = (false, 0);
        while !has_grown && calls < 300 {
            let report = report_of(large.all_reduce(&mut data));
            has_grown = report.bound > first;
            assert!(!has_grown || report.bound_changed, "rank {rank}: {report}");
            let of_root = communicator.exact().broadcast(0, vec![u8::from(has_grown)]).wait().unwrap();
            has_grown = of_root == [1];
            calls += 1;
        }
        assert!(has_grown, "rank {rank} after {calls} calls");
        communicator.barrier().wait().unwrap();
        (first, communicator.bound())
    });
    println!("bounds before and after: {bounds:?}");
    assert!(bounds.iter().all(|(begin, end)| *begin == bounds[0].0 && *end == bounds[0].1), "{bounds:?}");
    assert!(bounds[0].1 > bounds[0].0, "{bounds:?}");
}

#[test]
fn what_a_late_owner_did_not_send_in_time_is_fetched_and_corrects_the_next_output() {
    const RANKS: usize = 8;
    let results = job(RANKS, |rank, root| {
        let bound = Duration::from_millis(200);
        let mut communicator = Communicator::connect(builder(rank, RANKS, &root).bound(bound)).wait().unwrap();
        let mut bucket = communicator.bucket(20_000, BucketOptions::new()).wait().unwrap();
        // The shard of a rank that has not called yet is not sent: 1/14 of all expected data.
        if rank == 5 {
            thread::sleep(Duration::from_millis(800));
        }
        let mut sum = vec![0.0; 20_000];
        let mut reports = Vec::new();
        for _ in 0..2 {
            let mut data = gradient(rank, 20_000);
            reports.push(bucket.all_reduce(&mut data).unwrap());
            sum.iter_mut().zip(&data).for_each(|(sum, value)| *sum += f64::from(*value));
            while communicator.metrics().wait().unwrap().repair.outstanding_bytes > 0 {
                thread::sleep(Duration::from_millis(5));
            }
            communicator.barrier().wait().unwrap();
        }
        (reports, communicator.metrics().wait().unwrap().repair, sum)
    });
    for (rank, (reports, repair, sum)) in results.iter().enumerate() {
        assert!(reports.iter().all(|report| report.is_applied), "rank {rank}: {reports:?}");
        assert_eq!((repair.repaired_bytes > 0, repair.drift_bytes), (rank != 5, 0), "rank {rank}: {repair:?}");
        let apart = sum.iter().zip(&results[0].2).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-5, "rank {rank} is {apart} apart, {repair:?}");
    }
}

#[test]
fn a_rank_that_does_not_come_is_named_on_all_that_came() {
    let root = free_root();
    let join = |rank: usize, timeout: Duration| {
        let root = root.clone();
        thread::spawn(move || {
            Communicator::connect(builder(rank, 4, &root).timeout(timeout)).wait().unwrap_err().to_string()
        })
    };
    let (zero, one) = (join(0, Duration::from_secs(2)), join(1, TIMEOUT));
    let error = zero.join().unwrap();
    assert!(error.starts_with("2 of 4 ranks did not connect within 2 s: rank 2, 3;"), "{error}");
    assert_eq!(one.join().unwrap(), error);

    let short = Duration::from_millis(300);
    let nobody = Communicator::connect(builder(1, 2, &free_root()).timeout(short)).wait().unwrap_err().to_string();
    assert!(nobody.starts_with("rank 0 was not reached at 127.0.0.1:"), "{nobody}");
    assert!(nobody.contains(" within 0.3 s (Connection refused"), "{nobody}");
}

#[test]
fn when_ranks_end_one_after_the_other_the_first_is_named() {
    let errors = job(3, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 3, &root)).wait().unwrap();
        match rank {
            // It fails because of rank 1, and is the first peer that rank 2 waits for.
            0 => communicator.barrier().wait().map_err(|error| error.to_string()),
            1 => {
                std::thread::sleep(Duration::from_millis(300));
                Ok(())
            }
            _ => {
                std::thread::sleep(Duration::from_secs(1));
                communicator.barrier().wait().map_err(|error| error.to_string())
            }
        }
    });
    for rank in [0, 2] {
        let error = errors[rank].clone().unwrap_err();
        assert!(error.starts_with("the connection to rank 1 has ended"), "rank {rank}: {error}");
    }
}

/// Calls until the bound is measured. All ranks make the same number of calls, since a collective
/// has the same bound on all of them.
fn measured(communicator: &mut Communicator, mut bucket: Bucket, data: &mut [f32]) -> Duration {
    assert_eq!(communicator.bound(), Duration::from_secs(1));
    for calls in 1..300 {
        let report = report_of(bucket.all_reduce(data));
        if !report.is_bound_measured {
            assert!(calls > 20 && report.bound_changed, "after {calls} calls: {report}");
            assert!(report.to_string().contains("; the bound is "), "{report}");
            return report.bound;
        }
        assert_eq!(report.bound, Duration::from_secs(1));
        assert!(report.to_string().contains("; the bound is being measured, 1000.000 ms until then"), "{report}");
    }
    panic!("no bound after 300 calls");
}

#[test]
fn the_bound_is_measured_and_the_same_on_all_ranks() {
    let bounds = job(3, |rank, root| {
        let mut communicator =
            Communicator::connect(builder(rank, 3, &root).bound(None).bound_max(Duration::from_secs(1)))
                .wait()
                .unwrap();
        let bucket = communicator.bucket(10_000, BucketOptions::new()).wait().unwrap();
        let bound = measured(&mut communicator, bucket, &mut gradient(rank, 10_000));
        communicator.barrier().wait().unwrap();
        bound
    });
    assert!(bounds[0] >= BOUND_MIN && bounds.iter().all(|bound| *bound == bounds[0]), "{bounds:?}");
}
