//! Ranks of one host that share memory: same results as over UDP, and no harm from a stopped or
//! killed rank.

mod ranks;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use optireduce::binding::{self, Destination};
use optireduce::{BucketOptions, Communicator, Early, Repair, Settings, SharedMemory};
use ranks::{builder, check_mean, free_root, gradient, job, report_of};

#[test]
fn ranks_of_a_host_share_memory_and_have_the_same_mean() {
    for (ranks, elements) in [(2, 1), (3, 70_001), (4, 2_000_000)] {
        let results = job(ranks, move |rank, root| {
            let mut communicator =
                Communicator::connect(builder(rank, ranks, &root).shared_memory(SharedMemory::Auto)).wait().unwrap();
            let mut bucket = communicator.bucket(elements, BucketOptions::new()).wait().unwrap();
            let mut data = Vec::new();
            for _ in 0..3 {
                data = gradient(rank, elements);
                let report = bucket.all_reduce(&mut data).unwrap();
                assert_eq!((report.lost_bytes, report.is_applied), (0, true), "rank {rank}");
            }
            let metrics = communicator.metrics().wait().unwrap();
            assert_eq!(metrics.shared, (0..ranks).filter(|peer| *peer != rank).collect::<Vec<_>>());
            assert_eq!(metrics.unsent.total(), 0);
            communicator.close().wait().unwrap();
            data
        });
        check_mean(ranks, &results, 1e-6);
    }
}

#[test]
fn two_ranks_have_the_same_bits_with_shared_memory_and_over_udp() {
    let [shared, udp] = [SharedMemory::Auto, SharedMemory::Off].map(|local| {
        job(2, move |rank, root| {
            let communicator = Communicator::connect(builder(rank, 2, &root).shared_memory(local).bf16(true));
            let mut communicator = communicator.wait().unwrap();
            let mut bucket = communicator.bucket(300_007, BucketOptions::new()).wait().unwrap();
            let mut data = gradient(rank, 300_007);
            let report = bucket.all_reduce(&mut data).unwrap();
            assert_eq!(report.lost_bytes, 0);
            assert_eq!(communicator.metrics().wait().unwrap().shared.len(), usize::from(local == SharedMemory::Auto));
            communicator.close().wait().unwrap();
            data.iter().map(|value| value.to_bits()).collect::<Vec<_>>()
        })
    });
    assert!(shared == udp);
}

const RANKS: usize = 4;
const STOPPED: usize = 2;
const ELEMENTS: usize = 1 << 20;

/// Process of one rank.
fn rank(number: usize, root: &str) {
    let place = Settings::new().rank(number).world_size(RANKS).root(root);
    let builder = place.timeout(Duration::from_secs(20)).early(Early::Off).repair(Repair::NextUpdate);
    let builder = builder.bound(Duration::from_millis(1500)).drop_silent_after(None).shared_memory(SharedMemory::Auto);
    let mut communicator = Communicator::connect(builder).wait().unwrap();
    assert_eq!(communicator.metrics().wait().unwrap().shared.len(), RANKS - 1);
    let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new().repair(Repair::Off)).wait().unwrap();
    for _ in std::io::stdin().lines() {
        let mut data = gradient(number, ELEMENTS);
        let report = report_of(bucket.all_reduce(&mut data));
        let late = report.late_ranks;
        println!("reduced, lost {} bytes, late {late:?}", report.lost_bytes);
    }
}

/// Applies `what` to one of the processes between collectives. Returns the lines of the others for
/// each later collective.
fn others_after(test: &str, collectives: usize, what: impl FnOnce(&mut Child)) -> Option<Vec<Vec<String>>> {
    if let (Ok(number), Ok(root)) = (std::env::var("LOCAL_RANK_OF_TEST"), std::env::var("LOCAL_ROOT_OF_TEST")) {
        rank(number.parse().unwrap(), &root);
        return None;
    }
    let root = free_root();
    let start = |rank: usize| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.env("LOCAL_RANK_OF_TEST", rank.to_string()).env("LOCAL_ROOT_OF_TEST", &root);
        command.spawn().unwrap()
    };
    let mut ranks: Vec<Child> = (0..RANKS).map(start).collect();
    let mut said: Vec<_> = ranks
        .iter_mut()
        .map(|rank| {
            let lines = BufReader::new(rank.stdout.take().unwrap()).lines().map(Result::unwrap);
            lines.filter_map(|line| line.find("reduced").map(|at| line[at..].to_owned()))
        })
        .collect();
    // A killed process has no input.
    let tell = |rank: &mut Child| rank.stdin.as_mut().map(|input| writeln!(input, "reduce").unwrap());
    ranks.iter_mut().for_each(|rank| tell(rank).unwrap());
    for (rank, said) in said.iter_mut().enumerate() {
        assert_eq!(said.next().unwrap(), "reduced, lost 0 bytes, late []", "rank {rank}");
    }
    what(&mut ranks[STOPPED]);
    let mut results = vec![Vec::new(); RANKS];
    for _ in 0..collectives {
        for rank in &mut ranks {
            tell(rank);
        }
        for rank in (0..RANKS).filter(|rank| *rank != STOPPED) {
            results[rank].push(said[rank].next().unwrap());
        }
    }
    for rank in &mut ranks {
        rank.kill().unwrap();
        rank.wait().unwrap();
    }
    results.remove(STOPPED);
    Some(results)
}

/// Each rank misses two shards: the stopped rank's contribution to its own shard, and its mean.
fn check(results: &[Vec<String>]) {
    let shard = ELEMENTS * 4 / RANKS;
    for (rank, lines) in results.iter().enumerate() {
        for line in lines {
            assert_eq!(*line, format!("reduced, lost {} bytes, late [{STOPPED}]", 2 * shard), "rank {rank}: {lines:?}");
        }
    }
}

fn signal(process: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &process.id().to_string()]).status().unwrap().success());
}

fn is_stopped(process: &Child) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", process.id())).unwrap();
    let stat =
        |thread: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(thread.unwrap().path().join("stat"));
    threads.map(stat).all(|stat| stat.is_ok_and(|stat| stat.contains(") T ")))
}

#[test]
fn a_rank_that_is_stopped_costs_its_own_data_and_nothing_else() {
    let stop = |process: &mut Child| {
        signal(process, "-STOP");
        // On a busy host the other threads stop later.
        while !is_stopped(process) {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    if let Some(results) = others_after("a_rank_that_is_stopped_costs_its_own_data_and_nothing_else", 4, stop) {
        check(&results);
    }
}

#[test]
fn a_rank_that_is_killed_costs_its_own_data_and_nothing_else() {
    let kill = |process: &mut Child| {
        process.kill().unwrap();
        process.wait().unwrap();
    };
    if let Some(results) = others_after("a_rank_that_is_killed_costs_its_own_data_and_nothing_else", 4, kill) {
        check(&results);
    }
}

/// Late ranks must still read payloads from memory that its owner may overwrite. Each result must
/// be the mean of some ranks' gradients of this call, or be reported as missing.
#[test]
fn lent_memory_may_be_written_at_once_when_it_is_given_back() {
    const ELEMENTS: usize = 200_000;
    const CALLS: usize = 60;
    let seed = 7_u64;
    let missed = job(RANKS, move |rank, root| {
        let builder =
            builder(rank, RANKS, &root).shared_memory(SharedMemory::Auto).early(Early::Off).repair(Repair::Off);
        let builder = builder.bound(Duration::from_millis(20)).drop_silent_after(None);
        let mut communicator = Communicator::connect(builder).wait().unwrap();
        assert_eq!(communicator.metrics().wait().unwrap().shared.len(), RANKS - 1);
        let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
        let (mut gradient, mut mean) = (communicator.alloc(ELEMENTS).unwrap(), communicator.alloc(ELEMENTS).unwrap());
        let (mut random, mut missed) = (seed + rank as u64, 0);
        for call in 0..CALLS {
            // Sums of any subset are whole numbers that identify it.
            gradient.fill(((call * 16 + 1) << rank) as f32);
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if random >> 60 == 0 {
                std::thread::sleep(Duration::from_millis(30));
            }
            // Its memory returns also after a halt.
            let ((from, from_back), (to, to_back)) = (binding::lend(gradient), binding::lend(mean));
            let done = binding::all_reduce(&mut bucket, from, Destination::Here(to));
            let report = report_of(done.map(|(_, report)| report));
            (gradient, mean) = (from_back.take().unwrap(), to_back.take().unwrap());
            gradient.fill(f32::NAN);
            if report.is_applied {
                let is_mean = |value: f32| {
                    let of = |set: usize| f64::from((call * 16 + 1) as u32 * set as u32) / f64::from(set.count_ones());
                    (1..1 << RANKS).any(|set| (of(set) - f64::from(value)).abs() <= 1e-6 * of(set))
                };
                let wrong = mean.iter().enumerate().find(|(_, value)| !is_mean(**value) && **value != 0.0);
                assert_eq!(wrong, None, "rank {rank}, call {call}, seed {seed}: {report}");
                let zeros = 4 * mean.iter().filter(|value| **value == 0.0).count() as u64;
                assert!(zeros <= report.lost_bytes, "rank {rank}, call {call}, seed {seed}: {report}");
            }
            missed += report.lost_bytes;
            mean.fill(f32::INFINITY);
        }
        missed
    });
    assert!(missed.iter().sum::<u64>() > 0, "no rank was late");
}

/// Mappings of peers' memory in this process, after two ranks have lent theirs.
fn mapped_for_peers() -> usize {
    let counts = job(2, |rank, root| {
        let mut communicator =
            Communicator::connect(builder(rank, 2, &root).shared_memory(SharedMemory::Auto)).wait().unwrap();
        let mut bucket = communicator.bucket(100_000, BucketOptions::new()).wait().unwrap();
        let [mut gradient, mean] = [(); 2].map(|()| communicator.alloc(100_000).unwrap());
        gradient.fill(rank as f32);
        let ((_gradient, mean), report) = bucket.start_all_reduce((gradient, mean)).wait().unwrap();
        assert_eq!((report.lost_bytes, mean[99_999]), (0, 0.5));
        assert_eq!(communicator.metrics().wait().unwrap().shared, [1 - rank]);
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let count = maps.lines().filter(|line| line.contains("optireduce-buffer") && line.contains(" r--s ")).count();
        communicator.close().wait().unwrap();
        count
    });
    counts[0].max(counts[1])
}

/// Peers' mappings would use up address space that was checked to suffice for a rank's own memory.
#[test]
fn memory_is_not_lent_where_address_space_is_limited() {
    if std::env::var_os("LIMITED_OF_TEST").is_some() {
        return assert_eq!(mapped_for_peers(), 0);
    }
    assert!(mapped_for_peers() > 0);
    let mut limited = Command::new("sh");
    limited.args(["-c", r#"ulimit -v 8000000 && exec "$@""#, "sh"]).arg(std::env::current_exe().unwrap());
    limited.args(["--exact", "memory_is_not_lent_where_address_space_is_limited", "--nocapture"]);
    assert!(limited.env("LIMITED_OF_TEST", "1").status().unwrap().success());
}
