//! Two-level all-reduces, and jobs whose ranks are not fully connected.

mod ranks;

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use optireduce::binding::Launch;
use optireduce::tuning::BOUND_MIN;
use optireduce::{
    Bucket, BucketOptions, Communicator, Error, ErrorKind, ExactOp, Groups, HadamardMode, Kind, PartialOptions, Report,
    Settings, SharedMemory, Stage,
};
use ranks::{TIMEOUT, builder, check_mean, free_root, gradient, job};

const ELEMENTS: usize = 10_007;

/// Loopback address of this process alone, so that its connections differ from other tests'.
fn host(number: u8) -> Ipv4Addr {
    let [_, _, high, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, 64 + high % 64, low, number)
}

/// Like [`job`], with a rank at each of these addresses.
fn job_at<T: Send>(hosts: &[Ipv4Addr], rank: impl Fn(usize, Settings) -> T + Sync) -> Vec<T> {
    let (root, _reserved) = Launch::reserve_root(hosts[0].into()).unwrap();
    thread::scope(|threads| {
        let start = |(number, host): (usize, &Ipv4Addr)| {
            let builder = builder(number, hosts.len(), &root.to_string()).interface(host.to_string());
            let rank = &rank;
            threads.spawn(move || rank(number, builder))
        };
        let threads: Vec<_> = hosts.iter().enumerate().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn connections_at(host: Ipv4Addr) -> usize {
    const ESTABLISHED: &str = "01";
    let host = format!("{:08X}:", u32::from_le_bytes(host.octets()));
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap();
    let fields = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let both = |fields: &Vec<&str>| fields[3] == ESTABLISHED && fields[1].starts_with(&host);
    // The kernel lists each end separately.
    fields.filter(both).count() / 2
}

/// Options of a bucket on two levels, in a job on one.
fn in_groups(groups: usize) -> BucketOptions {
    BucketOptions::new().groups(Groups::Number(groups))
}

/// Ranks of this rank's group, and its equals.
fn inside_and_across(report: &Report) -> (&[usize], &[usize]) {
    (&report.parts[0].ranks, &report.parts[1].ranks)
}

fn use_all(communicator: &mut Communicator, ranks: usize) -> (Vec<f32>, Report) {
    let rank = communicator.rank();
    let all = communicator.exact().all_gather(vec![rank as u8; rank]).wait().unwrap();
    let expected: Vec<Option<Vec<u8>>> = (0..ranks).map(|rank| Some(vec![rank as u8; rank])).collect();
    assert_eq!(all, expected, "rank {rank}");
    for root in 0..ranks {
        let data = communicator.exact().broadcast(root, vec![rank as f64, 0.5]).wait().unwrap();
        assert_eq!(data, [root as f64, 0.5], "rank {rank}");
    }
    let no_rank = communicator.exact().broadcast(ranks, vec![0.0_f32]).wait().unwrap_err().to_string();
    assert!(no_rank.contains(&format!("the root is {ranks}, expected a rank from 0 to {}", ranks - 1)), "{no_rank}");
    let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
    let mut data = gradient(rank, ELEMENTS);
    let report = bucket.all_reduce(&mut data).unwrap();
    assert_eq!(report.lost_bytes, 0, "rank {rank}: {report}");
    (data, report)
}

#[test]
fn ranks_connect_to_their_groups_only_and_get_the_mean() {
    const RANKS: usize = 12;
    let results = job_at(&[host(1); RANKS], |rank, builder| {
        let mut communicator = Communicator::connect(builder.groups(Groups::Auto)).wait().unwrap();
        assert_eq!((communicator.rank(), communicator.world_size()), (rank, RANKS));
        assert_eq!(communicator.settings().get("groups").unwrap(), "auto");
        let (result, report) = use_all(&mut communicator, RANKS);
        let (first, place) = (rank - rank % 4, rank % 4);
        let (group, equals) = ([first, first + 1, first + 2, first + 3], [place, place + 4, place + 8]);
        assert_eq!(inside_and_across(&report), (&group[..], &equals[..]));
        communicator.barrier().wait().unwrap();
        if rank == 0 {
            // Pairs in 3 groups of 4, twice, and pairs of 4 ranks across 3 groups. A full mesh has
            // 66. Abandoned attempts on a busy machine end soon.
            let (expected, until) = (2 * 3 * 6 + 4 * 3, Instant::now() + TIMEOUT);
            while connections_at(host(1)) != expected && Instant::now() < until {
                thread::sleep(Duration::from_millis(10));
            }
            assert_eq!(connections_at(host(1)), expected);
        }
        communicator.barrier().wait().unwrap();
        communicator.close().wait().unwrap();
        result
    });
    check_mean(RANKS, &results, 1e-5);
}

#[test]
fn ranks_of_a_host_are_a_group_wherever_they_stand() {
    let [a, b] = [host(2), host(3)];
    let results = job_at(&[a, b, b, a, a, b], |rank, builder| {
        let mut communicator = Communicator::connect(builder.groups(Groups::Hosts)).wait().unwrap();
        let (result, report) = use_all(&mut communicator, 6);
        let group: &[usize] = if [0, 3, 4].contains(&rank) { &[0, 3, 4] } else { &[1, 2, 5] };
        assert_eq!(inside_and_across(&report), (group, &[[0, 1], [2, 3], [4, 5]][rank / 2][..]));
        communicator.close().wait().unwrap();
        result
    });
    check_mean(6, &results, 1e-5);
}

/// A short bound loses parts of every step, on any machine. Ranks apply what each step lets them
/// apply, and settle.
#[test]
fn sums_of_applied_updates_are_equal_on_all_ranks_after_losses_and_skips() {
    const RANKS: usize = 4;
    for (seed, overlap) in [(1, 1), (2, 3)] {
        let found = job(RANKS, move |rank, root| {
            let builder = builder(rank, RANKS, &root).shared_memory(SharedMemory::Off).hadamard(HadamardMode::Off);
            let builder = builder.bound(Duration::from_micros(80));
            let mut communicator = Communicator::connect(builder.groups(Groups::Number(2))).wait().unwrap();
            let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
            let (mut sum, mut skipped, mut missing) = (vec![0.0_f64; ELEMENTS], 0, 0);
            let mut add = |data: &[f32]| sum.iter_mut().zip(data).for_each(|(sum, value)| *sum += f64::from(*value));
            for step in (0..60).step_by(overlap) {
                let given = |step: usize| vec![(10_usize.pow(rank as u32) + step + seed) as f32; ELEMENTS];
                let requests: Vec<_> =
                    (step..step + overlap).map(|step| bucket.start_all_reduce(given(step))).collect();
                for request in requests {
                    let (mean, report) = match request.wait() {
                        Err(error) => (vec![0.0; ELEMENTS], error.report().unwrap().clone()),
                        Ok(done) => done,
                    };
                    missing += report.missing.len();
                    skipped += usize::from(!report.is_applied);
                    add(&mean);
                }
            }
            let settled = bucket.settle(TIMEOUT).wait().unwrap();
            settled.correction.iter().for_each(|correction| add(correction));
            communicator.barrier().wait().unwrap();
            communicator.close().wait().unwrap();
            (sum, settled.is_settled, settled.repairs.drift_bytes, skipped, missing)
        });
        let lost: usize = found.iter().map(|(.., skipped, missing)| skipped + missing).sum();
        assert!(lost > 0, "nothing was lost");
        for (rank, (sum, is_settled, drift_bytes, skipped, missing)) in found.iter().enumerate() {
            let case = format!("seed {seed}, rank {rank}: {skipped} skipped, {missing} missing ranges");
            assert_eq!((*is_settled, *drift_bytes), (true, 0), "{case}");
            for (at, (value, expected)) in sum.iter().zip(&found[0].0).enumerate() {
                let differs = (value - expected).abs() > 1e-4 * expected.abs();
                assert!(!differs, "{case}: element {at} adds up to {value}, on rank 0 to {expected}");
            }
        }
    }
}

/// The error must be the same on all ranks.
fn same_error(ranks: usize, connect: impl Fn(usize, Settings) -> Result<(), Error> + Clone + Send + 'static) -> String {
    let errors = job(ranks, move |rank, root| connect(rank, builder(rank, ranks, &root)).unwrap_err().to_string());
    assert_eq!(errors.iter().collect::<BTreeSet<_>>().len(), 1, "{errors:?}");
    errors.into_iter().next().unwrap()
}

#[test]
fn ranks_that_differ_and_groups_that_cannot_be_are_the_same_error_on_all() {
    let error = same_error(4, |rank, builder| {
        Communicator::connect(builder.groups(if rank == 2 { Groups::Number(2) } else { Groups::Auto })).wait().map(drop)
    });
    assert!(error.starts_with("the ranks differ: groups is 2 on rank 2, but auto on rank 0;"), "{error}");
    let error = same_error(4, |rank, builder| {
        Communicator::connect(builder.bf16(rank == 3).groups(Groups::Auto)).wait().map(drop)
    });
    assert!(error.starts_with("the ranks differ: bf16 is on on rank 3, but off on rank 0;"), "{error}");
    for odd in [1, 0] {
        let differs = move |rank: usize, builder: Settings| {
            Communicator::connect(builder.groups((rank != odd).then_some(Groups::Auto))).wait().map(drop)
        };
        let error = same_error(4, differs);
        let expected =
            if odd == 0 { ("auto on rank ", "but none on rank 0;") } else { ("none on rank 1", "but auto on rank 0;") };
        let begins = error.starts_with(&format!("the ranks differ: groups is {}", expected.0));
        assert!(begins && error.contains(expected.1), "{odd}: {error}");
    }
    let error = same_error(3, |_, builder| Communicator::connect(builder.groups(Groups::Auto)).wait().map(drop));
    assert!(error.starts_with("3 ranks cannot be divided into equal groups of 2 to 64 ranks;"), "{error}");
    let error = same_error(3, |_, builder| Communicator::connect(builder.groups(Groups::Number(2))).wait().map(drop));
    assert!(error.starts_with("3 ranks in 2 groups: expected at least two groups, of equal size"), "{error}");
    let error = same_error(4, |_, builder| Communicator::connect(builder.groups(Groups::Hosts)).wait().map(drop));
    assert!(error.starts_with("two levels by host: 127.0.0.1 has ranks 0, 1, 2, 3; expected at least two"), "{error}");
}

#[test]
fn a_rank_that_does_not_come_is_named_on_all() {
    const RANKS: usize = 6;
    let errors = job(RANKS, |rank, root| {
        let builder = builder(rank, RANKS, &root).timeout(Duration::from_secs(5));
        (rank != 4).then(|| Communicator::connect(builder.groups(Groups::Number(3))).wait().unwrap_err().to_string())
    });
    for (rank, error) in errors.iter().enumerate().filter_map(|(rank, error)| Some((rank, error.as_ref()?))) {
        assert!(error.starts_with("1 of 6 ranks did not connect within"), "rank {rank}: {error}");
        assert!(error.contains(" s: rank 4; is it running"), "rank {rank}: {error}");
    }
}

#[test]
fn a_second_process_of_a_rank_is_refused_and_the_job_goes_on() {
    const RANKS: usize = 4;
    let root = free_root();
    let connect = |rank| Communicator::connect(builder(rank, RANKS, &root).groups(Groups::Auto));
    let (refused, told) = channel();
    thread::scope(|threads| {
        for rank in [0, 2, 2, 3] {
            let refused = refused.clone();
            threads.spawn(move || match connect(rank).wait() {
                Ok(communicator) => communicator.close().wait().unwrap(),
                Err(error) => refused.send((rank, error.to_string())).unwrap(),
            });
        }
        let (rank, error) = told.recv().unwrap();
        assert!(rank == 2 && error.starts_with("rank 2 is already taken: the process"), "rank {rank}: {error}");
        connect(1).wait().unwrap().close().wait().unwrap();
    });
}

#[test]
fn calls_name_the_ranks_of_the_group_in_which_they_fail() {
    let errors = job(4, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 4, &root).groups(Groups::Number(2))).wait().unwrap();
        if rank == 3 {
            return None;
        }
        let error = communicator.barrier().wait().unwrap_err();
        let lost = if rank == 0 { 2 } else { 3 };
        assert_eq!((error.kind(), error.rank()), (ErrorKind::Peer, Some(lost)), "rank {rank}: {error:?}");
        Some(error.to_string())
    });
    let begins = |rank: usize, text: &str| {
        assert!(errors[rank].as_ref().unwrap().starts_with(text), "rank {rank}: {:?}", errors[rank]);
    };
    begins(2, "in the group of job ranks 2, 3 (numbered from 0 inside the group): the connection to rank 1 has ended");
    begins(1, "in the group of job ranks 1, 3 (numbered from 0 inside the group): the connection to rank 1 has ended");
    begins(0, "in the group of job ranks 0, 2 (numbered from 0 inside the group): the connection to rank 1 has ended");
}

#[test]
fn a_flat_job_of_too_many_ranks_names_the_limit_and_what_to_do() {
    let place = |ranks| Settings::new().rank(0).world_size(ranks).root(free_root()).timeout(Duration::from_millis(500));
    let error = Communicator::connect(place(1025).groups(None)).wait().unwrap_err().to_string();
    assert_eq!(error, "world_size is 1025 ranks, expected 1 to 1024 on one level; the setting groups takes more");
    let error = Communicator::connect(place(1025)).wait().unwrap_err().to_string();
    assert!(error.starts_with("1024 of 1025 ranks did not connect"), "auto by default: {error}");
    let error = Communicator::connect(place(65_537).groups(Groups::Auto)).wait().unwrap_err().to_string();
    assert_eq!(error, "world_size is 65537, expected 1 to 65536 ranks");
}

#[test]
fn two_levels_give_all_ranks_the_mean_with_the_same_bits() {
    for (ranks, groups, elements) in [(4, 2, 50_001), (6, 3, 7), (6, 2, 300_000)] {
        let results = job(ranks, move |rank, root| {
            let mut communicator = Communicator::connect(builder(rank, ranks, &root)).wait().unwrap();
            let mut bucket = communicator.bucket(elements, in_groups(groups)).wait().unwrap();
            assert_eq!(bucket.options().groups, Some(Groups::Number(groups)));
            let mut data = Vec::new();
            for _ in 0..2 {
                data = gradient(rank, elements);
                let report = bucket.all_reduce(&mut data).unwrap();
                assert_eq!((report.lost_bytes, &report.missing[..]), (0, &[][..]), "rank {rank}");
                assert_eq!(report.ranks, (0..ranks).collect::<Vec<_>>());
                let kinds: Vec<Kind> = report.parts.iter().map(|part| part.kind).collect();
                assert_eq!(kinds, [Kind::ReduceScatter, Kind::AllReduce, Kind::AllGather]);
                let (members, (inside, across)) = (ranks / groups, inside_and_across(&report));
                assert_eq!((inside.len(), across.len(), across[rank / members]), (members, groups, rank));
                assert!(across.iter().all(|other| other % members == rank % members), "rank {rank}: {across:?}");
            }
            communicator.barrier().wait().unwrap();
            data
        });
        check_mean(ranks, &results, 1e-5);
    }
}

/// Rank 0 has closed both stages without rank 1, which is three bounds late, and fetches its part
/// before it returns.
#[test]
fn two_levels_wait_for_the_part_of_a_late_rank() {
    const BOUND: Duration = Duration::from_millis(400);
    let results = job(4, |rank, root| {
        let builder = builder(rank, 4, &root).bound(BOUND);
        let mut communicator = Communicator::connect(builder.groups(Groups::Number(2))).wait().unwrap();
        let mut bucket = communicator.bucket(1000, BucketOptions::new()).wait().unwrap();
        communicator.barrier().wait().unwrap();
        if rank == 1 {
            thread::sleep(3 * BOUND);
        }
        let report = bucket.all_reduce(&mut gradient(rank, 1000)).unwrap();
        communicator.barrier().wait().unwrap();
        report
    });
    for (rank, report) in results.iter().enumerate() {
        assert_eq!((report.is_applied, &report.missing[..]), (true, &[][..]), "rank {rank}: {report}");
    }
    let gathered = results[0].parts.last().unwrap();
    assert!(gathered.missing_from(Stage::Broadcast) == [1], "rank 1 was not late: {gathered}");
    assert_eq!(results[0].late_ranks, [1], "{}", results[0]);
}

/// Each rank waits for the buckets in another order, with a blocking call in between.
#[test]
fn two_levels_take_several_buckets_at_once() {
    const LENGTHS: [usize; 4] = [70_001, 3, 1000, 300_000];
    let results = job(6, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 6, &root)).wait().unwrap();
        let mut buckets = LENGTHS.map(|elements| communicator.bucket(elements, in_groups(2)).wait().unwrap());
        let mut sums = vec![0.0; LENGTHS.iter().sum()];
        for round in 0..5 {
            let given = |bucket: usize| -> Vec<f32> {
                let scale = (round * 10 + bucket + 1) as f32;
                gradient(rank, LENGTHS[bucket]).into_iter().map(|value| value * scale).collect()
            };
            let mut begun: Vec<_> = buckets
                .iter_mut()
                .enumerate()
                .map(|(number, bucket)| {
                    thread::sleep(Duration::from_micros((rank * 300 * (number % 2)) as u64));
                    Some(bucket.start_all_reduce(given(number)))
                })
                .collect();
            let mut blocking = given(2);
            assert!(buckets[2].all_reduce(&mut blocking).unwrap().is_applied);
            let mut means = vec![Vec::new(); 4];
            for number in (0..4).map(|number| (number + rank) % 4) {
                let mut request = begun[number].take().unwrap();
                assert!(request.wait_timeout(TIMEOUT) && request.is_finished());
                let (mean, report) = request.wait().unwrap();
                assert_eq!((report.is_applied, report.lost_bytes, mean.len()), (true, 0, LENGTHS[number]));
                means[number] = mean;
            }
            // Sums are in order of arrival, so results differ slightly.
            assert!(means[2].iter().zip(&blocking).all(|(one, other)| (one - other).abs() < 1e-4));
            sums.iter_mut().zip(means.concat()).for_each(|(sum, mean)| *sum += mean);
        }
        communicator.barrier().wait().unwrap();
        sums
    });
    let gradients: Vec<f32> = LENGTHS
        .iter()
        .enumerate()
        .flat_map(|(bucket, elements)| {
            let scale: f32 = (0..5).map(|round| (round * 10 + bucket + 1) as f32).sum();
            let of = (0..6).map(|rank| gradient(rank, *elements)).collect::<Vec<_>>();
            (0..*elements).map(move |at| of.iter().map(|of| of[at]).sum::<f32>() / 6.0 * scale).collect::<Vec<_>>()
        })
        .collect();
    for (rank, sums) in results.iter().enumerate() {
        assert!(sums == &results[0], "rank {rank} has other bits than rank 0");
    }
    let worst = results[0].iter().zip(&gradients).map(|(found, expected)| (found - expected).abs()).fold(0.0, f32::max);
    assert!(worst < 1e-2, "{worst}");
}

/// Bounds are measured in the groups only, since the job's own communicator reduces nothing.
#[test]
fn two_levels_measure_the_deadline_of_each_step() {
    const LONGEST: Duration = Duration::from_secs(4);
    job(4, |rank, root| {
        let builder = builder(rank, 4, &root).bound(None).bound_max(LONGEST);
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let mut bucket = communicator.bucket(1000, in_groups(2)).wait().unwrap();
        let mut report = bucket.all_reduce(&mut gradient(rank, 1000)).unwrap();
        for _ in 0..500 {
            report = bucket.all_reduce(&mut gradient(rank, 1000)).unwrap();
        }
        assert!(report.parts.iter().all(|step| !step.is_bound_measured), "rank {rank}: {report}");
        let deadlines: Vec<_> = report.parts.iter().map(|part| part.bound).collect();
        // All ranks share this host's cores, even those that are not in a step.
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let least = BOUND_MIN * 4_usize.div_ceil(cores) as u32;
        assert!(
            deadlines.iter().all(|deadline| (least..LONGEST).contains(deadline)),
            "rank {rank}: {deadlines:?}, from {least:?}"
        );
        communicator.barrier().wait().unwrap();
    });
}

/// Rank 3 ends. Rank 1, in the same position of the other group, lacks the mean of half of its
/// shard, and must not pass on its group's mean instead.
#[test]
fn on_two_levels_a_shard_that_is_not_the_mean_is_not_handed_on() {
    let has_ended = Arc::new(Barrier::new(4));
    let results = job(4, move |rank, root| {
        let builder = builder(rank, 4, &root).bound(Duration::from_millis(100));
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let mut bucket = communicator.bucket(4000, in_groups(2)).wait().unwrap();
        let mut data = vec![rank as f32; 4000];
        assert!(bucket.all_reduce(&mut data).unwrap().is_applied);
        assert!(data.iter().all(|mean| *mean == 1.5));
        communicator.barrier().wait().unwrap();
        if rank == 3 {
            // Otherwise its engine would keep sending means without its caller.
            drop((bucket, communicator));
            has_ended.wait();
            return None;
        }
        has_ended.wait();
        let report = bucket.all_reduce(&mut data).unwrap();
        let (again, later) = bucket.start_all_reduce(vec![1.0; 4000]).wait().unwrap();
        assert!(!later.is_applied && again.iter().all(|value| *value == 0.0), "rank {rank}: {later}");
        Some((report, data, bucket.shard_range()))
    });
    let shards: Vec<_> = results.iter().flatten().map(|result| result.2.clone()).collect();
    // Rank 3 passes on nothing to rank 2.
    for (rank, missing) in [(0, &shards[1]), (1, &shards[1]), (2, &shards[1])] {
        let (report, data, _) = results[rank].as_ref().unwrap();
        let lacks = report.missing.iter().any(|range| range.start <= missing.start && missing.end <= range.end);
        assert!(lacks && !report.is_applied, "rank {rank} does not lack {missing:?}: {report}");
        assert!(data.iter().all(|value| *value == 0.0), "rank {rank}");
    }
}

/// Odd ranks make a call only after the others have skipped it.
#[test]
fn on_two_levels_a_job_ends_with_an_error_if_a_bucket_with_repairs_was_not_settled() {
    for (settles, of_job) in [(false, true), (true, true), (false, false), (true, false)] {
        let closed = job(4, move |rank, root| {
            let builder = builder(rank, 4, &root).bound(Duration::from_millis(50)).drop_silent_after(None);
            let builder = builder.groups(of_job.then_some(Groups::Number(2)));
            let mut communicator = Communicator::connect(builder).wait().unwrap();
            let flat = (!of_job).then(|| communicator.bucket(10, BucketOptions::new()).wait().unwrap());
            let mut bucket = communicator.bucket(4000, in_groups(2)).wait().unwrap();
            if rank % 2 == 1 {
                communicator.barrier().wait().unwrap();
            }
            let report = bucket.all_reduce(&mut [1.0; 4000]).unwrap();
            assert_eq!(report.bucket, u16::from(!of_job), "rank {rank}: {report}");
            if rank % 2 == 0 {
                assert!(!report.is_applied, "rank {rank}: {report}");
                communicator.barrier().wait().unwrap();
            }
            if settles {
                assert!(bucket.settle(None).wait().unwrap().is_settled, "rank {rank}");
            }
            drop((bucket, flat));
            communicator.close().wait()
        });
        for (rank, closed) in closed.into_iter().enumerate() {
            match closed {
                Ok(()) => assert!(settles || rank % 2 == 1, "rank {rank}"),
                Err(error) => {
                    let buckets = format!(" of buckets [{}];", u16::from(!of_job));
                    let is_short = error.kind() == ErrorKind::Unsettled && error.to_string().contains(&buckets);
                    assert!(!settles && is_short, "rank {rank}: {error}");
                }
            }
        }
    }
}

/// Ranks of one group differ, or groups do. Nobody waits for a bound.
#[test]
fn a_mismatch_in_one_group_ends_all_groups_at_once_and_names_its_rank() {
    let errors = |call: fn(usize, &mut [Bucket; 2]) -> Result<(), Error>| {
        job(6, move |rank, root| {
            let mut communicator =
                Communicator::connect(builder(rank, 6, &root).groups(Groups::Number(3))).wait().unwrap();
            let mut buckets =
                [1, 2].map(|times| communicator.bucket(times * ELEMENTS, BucketOptions::new()).wait().unwrap());
            let begin = Instant::now();
            let error = call(rank, &mut buckets).unwrap_err();
            assert!(error.kind() == ErrorKind::Mismatch, "rank {rank}: {error:?}");
            // The bound.
            assert!(begin.elapsed() < Duration::from_secs(3), "rank {rank}: {:?}, {error}", begin.elapsed());
            let later = call(rank, &mut buckets).unwrap_err();
            assert_eq!(later.to_string(), error.to_string(), "rank {rank}");
            assert_eq!(communicator.failure().unwrap().to_string(), error.to_string(), "rank {rank}");
            error.to_string()
        })
    };
    const LENGTHS: [usize; 6] = [ELEMENTS, ELEMENTS, ELEMENTS, ELEMENTS - 1, ELEMENTS, ELEMENTS];
    let waits = errors(|rank, [bucket, _]| bucket.all_reduce(&mut vec![1.0; LENGTHS[rank]]).map(drop));
    let starts = errors(|rank, [bucket, _]| bucket.start_all_reduce(vec![1.0; LENGTHS[rank]]).wait().map(drop));
    for errors in [waits, starts] {
        let expected = "passed to a reduce-scatter is 10006 on rank 3, expected 10007";
        assert!(errors[0].contains(expected), "{}", errors[0]);
        assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
    }
    let order = errors(|rank, [first, second]| {
        let bucket = if rank / 2 == 1 { second } else { first };
        bucket.all_reduce(&mut vec![1.0; bucket.elements()]).map(drop)
    });
    // Equals of both members of the odd group find it.
    let found = ["bucket is 1 on rank 2, but 0 on ranks 0, 4", "bucket is 1 on rank 3, but 0 on ranks 1, 5"];
    for error in order {
        assert!(found.iter().any(|found| error.contains(found)), "{error}");
    }
}

#[test]
fn a_dropped_request_of_two_levels_is_drift_in_later_reports() {
    const BYTES: u64 = 4 * ELEMENTS as u64;
    job(4, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 4, &root).groups(Groups::Number(2))).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        for step in 0..3 {
            // Dropped before its last step has begun, and after.
            let mut request = bucket.start_all_reduce(gradient(rank, ELEMENTS));
            if step == 1 {
                assert!(request.wait_timeout(TIMEOUT), "rank {rank}");
            }
            match rank {
                1 if step < 2 => drop(request),
                _ => drop(request.wait().unwrap()),
            }
        }
        let lost = if rank == 1 { 2 * BYTES } else { 0 };
        assert_eq!(bucket.all_reduce(&mut gradient(rank, ELEMENTS)).unwrap().drift_bytes, lost, "rank {rank}");
        let settled = bucket.settle(TIMEOUT).wait().unwrap();
        assert_eq!((settled.is_settled, settled.repairs.drift_bytes), (true, lost), "rank {rank}");
        communicator.close().wait().unwrap();
    });
}

const AGREED: &str = "all ranks must make the same calls with the same arguments and settings";

/// The error of a call that ranks make with different arguments, on each rank.
fn errors_of(ranks: usize, of_job: bool, call: fn(usize, &mut Communicator) -> Result<(), Error>) -> Vec<String> {
    job(ranks, move |rank, root| {
        let builder = builder(rank, ranks, &root).groups(of_job.then_some(Groups::Number(2)));
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        let begin = Instant::now();
        let error = call(rank, &mut communicator).unwrap_err();
        assert!(begin.elapsed() < TIMEOUT / 2, "rank {rank}: {:?}, {error}", begin.elapsed());
        // The ranks are in step.
        communicator.barrier().wait().unwrap();
        let mut bucket = communicator.bucket(100, in_groups(2)).wait().unwrap();
        assert_eq!(bucket.all_reduce(&mut [1.0; 100]).unwrap().lost_bytes, 0, "rank {rank}");
        communicator.close().wait().unwrap();
        error.to_string()
    })
}

#[test]
fn different_groups_of_a_bucket_are_named_on_all_ranks() {
    for of_job in [false, true] {
        let of_one = |rank: usize, communicator: &mut Communicator| {
            communicator.bucket(ELEMENTS, in_groups(if rank == 4 { 3 } else { 2 })).wait().map(drop)
        };
        for error in errors_of(6, of_job, of_one) {
            assert!(error.contains("the ranks differ: groups is 3 on rank ") && error.contains(AGREED), "{error}");
        }
    }
    let of_one = |rank: usize, communicator: &mut Communicator| {
        communicator.bucket(ELEMENTS, if rank == 0 { in_groups(2) } else { BucketOptions::new() }).wait().map(drop)
    };
    for error in errors_of(6, false, of_one) {
        assert!(error.starts_with("the ranks differ: groups is none on rank 1, but 2 on rank 0;"), "{error}");
    }
    for error in errors_of(6, true, |_, communicator| communicator.bucket(ELEMENTS, in_groups(3)).wait().map(drop)) {
        assert_eq!(error, "groups of a bucket is 3, expected 2 as in the job, or unset");
    }
    for (groups, expected) in [(4, "6 ranks in 4 groups: expected at least two groups"), (1, "6 ranks in 1 groups:")] {
        let errors = if groups == 4 {
            errors_of(6, false, |_, communicator| communicator.bucket(ELEMENTS, in_groups(4)).wait().map(drop))
        } else {
            errors_of(6, false, |_, communicator| communicator.bucket(ELEMENTS, in_groups(1)).wait().map(drop))
        };
        errors.iter().for_each(|error| assert!(error.starts_with(expected), "{error}"));
    }
}

#[test]
fn different_calls_and_arguments_are_named_on_all_ranks() {
    let lengths = |rank: usize, communicator: &mut Communicator| {
        communicator.bucket(if rank == 3 { 7 } else { 8 }, BucketOptions::new()).wait().map(drop)
    };
    for error in errors_of(4, true, lengths) {
        assert!(error.contains("elements is 7 on rank 1, but 8 on rank 0;"), "{error}");
    }
    let roots = |rank: usize, communicator: &mut Communicator| {
        communicator.exact().broadcast(rank / 3, vec![1.0]).wait().map(drop)
    };
    for error in errors_of(4, true, roots) {
        assert!(error.contains("the root is 1 on rank 1, but 0 on rank 0;"), "{error}");
    }
    let calls = |rank: usize, communicator: &mut Communicator| match rank {
        2 => communicator.barrier().wait(),
        _ => communicator.exact().all_gather(vec![1]).wait().map(drop),
    };
    for error in errors_of(4, true, calls) {
        let names = ["the call is ", "exact all_gather on rank ", "barrier on rank ", AGREED];
        assert!(names.iter().all(|name| error.contains(name)), "{error}");
    }
}

#[test]
fn buckets_of_one_job_share_levels_whatever_the_order_in_which_they_are_waited_for() {
    const LENGTHS: [usize; 3] = [5000, 70_001, 300];
    let results = job(6, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 6, &root)).wait().unwrap();
        let groups = [2, 3, 2];
        let mut requests: Vec<_> = LENGTHS
            .iter()
            .zip(groups)
            .map(|(length, groups)| Some(communicator.bucket(*length, in_groups(groups))))
            .collect();
        let mut flat = communicator.bucket(10, BucketOptions::new());
        // Each call begins after the earlier ones, which nobody has waited for.
        let (barrier, given) = (communicator.barrier(), [1.0; 10]);
        let order = if rank % 2 == 0 { [0, 1, 2] } else { [2, 1, 0] };
        if rank % 2 == 1 {
            assert!(flat.wait_timeout(TIMEOUT) && barrier.wait().is_ok());
        }
        let mut buckets = [None, None, None];
        order.iter().for_each(|number| buckets[*number] = Some(requests[*number].take().unwrap().wait().unwrap()));
        let reductions: Vec<_> = buckets
            .iter_mut()
            .flatten()
            .map(|bucket| {
                let given = gradient(rank, bucket.elements());
                Some(bucket.start_all_reduce(given))
            })
            .collect();
        let mut reductions: Vec<_> = reductions.into_iter().collect();
        let mut means = vec![Vec::new(); 3];
        for number in order {
            let (mean, report) = reductions[number].take().unwrap().wait().unwrap();
            assert_eq!((report.lost_bytes, report.bucket as usize), (0, number), "rank {rank}: {report}");
            assert_eq!(report.parts[1].ranks.len(), groups[number], "rank {rank}: {report}");
            means[number] = mean;
        }
        assert_eq!(flat.wait().unwrap().all_reduce(&mut given.clone()).unwrap().bucket, 3, "rank {rank}");
        // Two levels of three communicators each.
        assert_eq!(communicator.metrics().wait().unwrap().parts.len(), 6);
        for bucket in buckets.iter_mut().flatten() {
            assert!(bucket.settle(None).wait().unwrap().is_settled, "rank {rank}");
        }
        communicator.close().wait().unwrap();
        means
    });
    for number in 0..3 {
        check_mean(6, &results.iter().map(|means| means[number].clone()).collect::<Vec<_>>(), 1e-5);
    }
}

#[test]
fn other_calls_are_unsupported_on_two_levels_and_name_the_remedy() {
    job(4, |rank, root| {
        let mut of_job = Communicator::connect(builder(rank, 4, &root).groups(Groups::Number(2))).wait().unwrap();
        let check = |name: &str, remedy: &str, error: Error| {
            let expected = format!("{name} is not supported on two levels; {remedy}. Nothing was changed");
            assert_eq!((error.kind(), error.is_fatal()), (ErrorKind::Unsupported, false), "{error}");
            assert_eq!(error.to_string(), expected);
        };
        const ONE_LEVEL: &str = "connect without groups, and declare single buckets with groups";
        let parts = || vec![Vec::new(); 4];
        for (name, error) in [
            ("exact all_reduce", of_job.exact().all_reduce(vec![1], ExactOp::Sum).wait().unwrap_err()),
            ("exact reduce_scatter", of_job.exact().reduce_scatter(vec![1], ExactOp::Sum).wait().unwrap_err()),
            ("exact gather", of_job.exact().gather(0, Vec::new()).wait().unwrap_err()),
            ("exact scatter", of_job.exact().scatter(0, parts()).wait().unwrap_err()),
            ("exact all_to_all", of_job.exact().all_to_all(parts()).wait().unwrap_err()),
            ("send", of_job.send(0, 1, Vec::new()).wait().unwrap_err()),
            ("recv", of_job.recv(None, 1).wait().unwrap_err()),
            ("split", of_job.split(Some(0)).wait().map(drop).unwrap_err()),
            ("partial_reduce", of_job.partial_reduce(8, PartialOptions::new()).wait().map(drop).unwrap_err()),
        ] {
            check(name, ONE_LEVEL, error);
        }
        check("rejoin", "restart all ranks of the job", of_job.rejoin().wait().unwrap_err());
        assert!(!of_job.is_outside() && of_job.failure().is_none());
        assert_eq!(
            (of_job.bound(), of_job.shard_range(10)),
            (Duration::from_secs(3), [0..3, 3..6, 6..9, 9..10][rank].clone())
        );
        let halves = |bucket: &mut Bucket| {
            let remedy = "declare a bucket without groups, in a job on one level";
            check("reduce_scatter", remedy, bucket.reduce_scatter(vec![1.0; 9]).wait().map(drop).unwrap_err());
            check("all_gather", remedy, bucket.all_gather(vec![1.0; 9]).wait().map(drop).unwrap_err());
            assert_eq!(bucket.all_reduce(&mut [1.0; 9]).unwrap().lost_bytes, 0);
        };
        halves(&mut of_job.bucket(9, BucketOptions::new()).wait().unwrap());
        of_job.close().wait().unwrap();
    });
    job(4, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 4, &root)).wait().unwrap();
        let mut bucket = communicator.bucket(9, in_groups(2)).wait().unwrap();
        assert_eq!(bucket.reduce_scatter(vec![1.0; 9]).wait().map(drop).unwrap_err().kind(), ErrorKind::Unsupported);
        communicator.send((rank + 1) % 4, 1, vec![7]).wait().unwrap();
        assert_eq!(communicator.recv((rank + 3) % 4, 1).wait().unwrap().bytes, [7]);
        communicator.close().wait().unwrap();
    });
}

#[test]
fn metrics_add_up_both_levels() {
    job(4, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 4, &root).groups(Groups::Number(2))).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        assert_eq!(bucket.all_reduce(&mut gradient(rank, ELEMENTS)).unwrap().lost_bytes, 0);
        communicator.barrier().wait().unwrap();
        let metrics = communicator.metrics().wait().unwrap();
        let sum = |of: fn(&optireduce::Metrics) -> u64| metrics.parts.iter().map(of).sum::<u64>();
        assert_eq!((metrics.parts.len(), metrics.bound_ns), (3, 3_000_000_000), "rank {rank}");
        assert!(metrics.parts.iter().all(|part| part.counters.tx_packets > 0 && part.live == [0, 1]), "rank {rank}");
        assert_eq!(metrics.counters.tx_packets, sum(|part| part.counters.tx_packets), "rank {rank}");
        assert!(metrics.parts.iter().any(|part| part.payload_bytes == metrics.payload_bytes), "rank {rank}");
        communicator.close().wait().unwrap();
    });
}

/// Memory of every kind, blocking, sliced and awaited.
#[test]
fn requests_on_two_levels_take_any_memory_and_are_waited_for_in_any_way() {
    let results = job(4, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 4, &root).groups(Groups::Number(2))).wait().unwrap();
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        let given = gradient(rank, ELEMENTS);
        let buffer = |values: &[f32]| {
            let mut buffer = communicator.alloc(values.len()).unwrap();
            buffer.copy_from_slice(values);
            buffer
        };
        let mut slice = given.clone();
        assert_eq!(bucket.all_reduce(&mut slice).unwrap().lost_bytes, 0);
        let (own, _) = bucket.start_all_reduce(given.clone()).wait().unwrap();
        let (one, both) = (buffer(&given), (buffer(&given), buffer(&[9.0; ELEMENTS])));
        let places = (one.as_ptr(), both.0.as_ptr(), both.1.as_ptr());
        let mut requests = (bucket.start_all_reduce(one), bucket.start_all_reduce(both));
        while !requests.0.wait_timeout(Duration::from_millis(1)) {}
        assert!(requests.0.is_finished());
        let (one, _) = requests.0.wait().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let ((read, mean), report) = runtime.block_on(requests.1).unwrap();
        assert_eq!((one.as_ptr(), read.as_ptr(), mean.as_ptr()), places);
        assert_eq!(
            (&read[..], &mean[..], &own[..], &one[..]),
            (&given[..], &slice[..], &slice[..], &slice[..]),
            "{report}"
        );
        // One of the two buffers is short: an error on all ranks.
        let short = (buffer(&given), buffer(&given[..if rank == 1 { 7 } else { ELEMENTS }]));
        let error = bucket.start_all_reduce(short).wait().map(drop).unwrap_err();
        assert!(error.to_string().contains("is 7 on rank 1, expected 10007"), "rank {rank}: {error}");
        slice
    });
    check_mean(4, &results, 1e-5);
}

/// Nobody waits for requests that are in flight when all ranks close.
#[test]
fn close_waits_for_all_reduces_in_flight() {
    for of_job in [false, true] {
        job(4, move |rank, root| {
            let builder = builder(rank, 4, &root).groups(of_job.then_some(Groups::Number(2)));
            let mut communicator = Communicator::connect(builder).wait().unwrap();
            let mut bucket = communicator.bucket(ELEMENTS, in_groups(2)).wait().unwrap();
            let requests: Vec<_> = (0..5).map(|_| bucket.start_all_reduce(gradient(rank, ELEMENTS))).collect();
            thread::sleep(Duration::from_millis(30 * rank as u64));
            communicator.close().wait().unwrap();
            for request in requests {
                assert_eq!(request.wait().unwrap().1.lost_bytes, 0, "rank {rank}");
            }
            let later = bucket.all_reduce(&mut gradient(rank, ELEMENTS)).unwrap_err();
            assert_eq!(later.kind(), ErrorKind::Closed, "rank {rank}: {later}");
            assert_eq!(bucket.settle(None).wait().unwrap_err().kind(), ErrorKind::Closed, "rank {rank}");
        });
    }
}

/// A rank drops its communicator while the others are in every kind of call.
#[test]
fn a_rank_that_aborts_ends_every_wait_of_the_others() {
    const PATIENCE: Duration = Duration::from_secs(4);
    for of_job in [false, true] {
        let dropped = Arc::new(Barrier::new(4));
        job(4, move |rank, root| {
            let builder = builder(rank, 4, &root).groups(of_job.then_some(Groups::Number(2))).timeout(PATIENCE);
            let mut communicator = Communicator::connect(builder.bound(Duration::from_millis(100))).wait().unwrap();
            let mut bucket = communicator.bucket(ELEMENTS, in_groups(2)).wait().unwrap();
            assert_eq!(bucket.all_reduce(&mut gradient(rank, ELEMENTS)).unwrap().lost_bytes, 0);
            if rank == 3 {
                let request = bucket.start_all_reduce(gradient(rank, ELEMENTS));
                drop(communicator);
                assert!(bucket.all_reduce(&mut gradient(rank, ELEMENTS)).is_err());
                let _ = request.wait();
                dropped.wait();
                return;
            }
            dropped.wait();
            let begin = Instant::now();
            let (reduction, settled) = (bucket.start_all_reduce(gradient(rank, ELEMENTS)), bucket.settle(None));
            let (barrier, gathered) = (communicator.barrier(), communicator.exact().all_gather(vec![1]));
            let another = communicator.bucket(7, in_groups(2));
            let _ = reduction.wait().map(drop);
            assert!(settled.wait().is_err() && barrier.wait().is_err() && gathered.wait().is_err(), "rank {rank}");
            assert!(another.wait().is_err() && communicator.close().wait().is_err(), "rank {rank}");
            // All end by the first timeout, and a few bounds.
            assert!(begin.elapsed() < 2 * PATIENCE, "rank {rank}: {:?}", begin.elapsed());
        });
    }
}

#[test]
fn one_rank_has_one_level_whatever_its_groups() {
    for groups in [Groups::Auto, Groups::Hosts, Groups::Number(2)] {
        let mut communicator = Communicator::connect(Settings::new().world_size(1).groups(groups)).wait().unwrap();
        let mut bucket = communicator.bucket(5, BucketOptions::new().groups(groups)).wait().unwrap();
        let mut data = [3.0; 5];
        let report = bucket.all_reduce(&mut data).unwrap();
        assert!(report.parts.is_empty() && data == [3.0; 5] && bucket.options().groups.is_none(), "{report}");
        communicator.close().wait().unwrap();
    }
}

#[test]
fn a_card_in_a_job_on_two_levels_is_an_error_that_all_ranks_learn() {
    let connect = |rank: usize, root: String| {
        let builder = builder(rank, 4, &root).groups(Groups::Auto).timeout(Duration::from_secs(5));
        let builder = if rank == 2 { builder.card("/nowhere/card.sock") } else { builder };
        Communicator::connect(builder).wait().map(drop).unwrap_err().to_string()
    };
    for (rank, error) in job(4, connect).iter().enumerate() {
        let text = "card is /nowhere/card.sock, expected none in a job on two levels";
        assert!(
            error.contains(text) && (rank == 2 || error.starts_with("rank 2 cannot take part: ")),
            "{rank}: {error}"
        );
    }
}
