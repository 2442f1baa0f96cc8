//! A rank whose process is killed and restarted. It rejoins the running job, fetches the model, and
//! all ranks end with the same bits. Each rank is a process of this program.

mod root;
mod weights;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use optireduce::{BucketOptions, Communicator, Early, ErrorKind, ExactOp, PartialOptions, Repair, Settings};
use root::free_root;
use weights::{add, assert_equal, print, settle};

const RANKS: usize = 4;
const KILLED: usize = 1;
const ELEMENTS: usize = 5000;
const UDP: (&str, &str) = ("OPTIREDUCE_SHARED_MEMORY", "off");
const OPS_BACK: u32 = 20;

/// Process of one rank: trains until a rank has rejoined `returns` times, and a little longer.
fn rank(root: &str, returns: u32) {
    let settings = Settings::new().root(root).timeout(Duration::from_secs(20)).early(Early::Off);
    let launch = settings.launch().unwrap();
    let (rank, is_back) = (launch.rank, launch.rejoin);
    let builder = settings.repair(Repair::NextUpdate).skip_gone(true);
    let mut communicator = Communicator::connect(builder.bound(Duration::from_millis(100))).wait().unwrap();
    if is_back {
        let error = communicator.barrier().wait().unwrap_err().to_string();
        assert!(error.starts_with("this process was restarted,"), "{error}");
        let error = communicator.bucket(ELEMENTS + 1, BucketOptions::new()).wait().unwrap_err().to_string();
        assert!(error.contains("elements is 5001 on rank 1, but 5000 on rank 0"), "{error}");
        let error = communicator.partial_reduce(8, PartialOptions::new()).wait().unwrap_err().to_string();
        assert!(error.contains("takes no part in groups that were declared before; call `rejoin`"), "{error}");
    }
    // A restarted process shares no memory, since segments are exchanged during bootstrap only.
    let is_local = std::env::var(UDP.0).as_deref() != Ok(UDP.1);
    let shares = |peer: usize| is_local && !is_back && peer != rank;
    assert_eq!(
        communicator.metrics().wait().unwrap().shared,
        (0..RANKS).filter(|peer| shares(*peer)).collect::<Vec<_>>()
    );
    if is_back {
        // Point-to-point messages work before it rejoins, since they are not collective.
        communicator.send(0, 1, b"what is new?".to_vec()).wait().unwrap();
        assert_eq!(communicator.recv(0, 2).wait().unwrap().bytes, b"wait until you have joined");
    }
    let mut news = communicator.recv(None, 1);
    let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).wait().unwrap();
    // Calls without the killed rank's rejoin.
    let mut others = 0;
    let (mut returned, mut back) = (0, 0);
    let mut weights = vec![0.0; ELEMENTS];
    while back < OPS_BACK {
        if rank == 0 && news.is_finished() {
            let asked = std::mem::replace(&mut news, communicator.recv(None, 1)).wait().unwrap();
            communicator.send(asked.rank, 2, b"wait until you have joined".to_vec()).wait().unwrap();
        }
        let mut data = vec![(4 * rank * rank) as f32; ELEMENTS];
        match bucket.all_reduce(&mut data) {
            Ok(report) => {
                println!("{} {:?} {} {}", report.number, report.ranks, report.lost_bytes, data[4321]);
                add(&mut weights, &data);
                if let Some(joined) = report.joined_rank {
                    println!("joined {joined}");
                    settle(&mut bucket, &mut weights);
                    weights = communicator.exact().broadcast(0, weights).wait().unwrap();
                    // Also synchronizes the number of rejoins.
                    let all = communicator.exact().all_gather(vec![returned as u8 + 1]).wait().unwrap();
                    returned = u32::from(*all.iter().flatten().flatten().max().unwrap());
                    let ranks = communicator.exact().all_reduce(vec![1i64 << rank], ExactOp::Sum).wait().unwrap();
                    assert_eq!(ranks, [0b1111], "all ranks take part again");
                } else if report.number % 8 == 0 {
                    communicator.barrier().wait().unwrap();
                    others += 1;
                }
                back += u32::from(returned == returns);
            }
            Err(error) if error.kind() == ErrorKind::Dropped => {
                println!("dropped");
                communicator.rejoin().wait().unwrap();
            }
            Err(error) => panic!("rank {rank}: {error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    settle(&mut bucket, &mut weights);
    let still_shares = |peer: usize| shares(peer) && peer != KILLED;
    assert_eq!(
        communicator.metrics().wait().unwrap().shared,
        (0..RANKS).filter(|peer| still_shares(*peer)).collect::<Vec<_>>()
    );
    let mut more = communicator.bucket(7, BucketOptions::new()).wait().unwrap();
    let report = more.all_reduce(&mut [1.0; 7]).unwrap();
    assert_eq!((report.bucket, others > 0), (1, true), "all ranks are in step, and declare another bucket");
    settle(&mut more, &mut [0.0; 7]);
    let mut partial = communicator.partial_reduce(8, PartialOptions::new()).wait().unwrap();
    let mut iteration = 0;
    for _ in 0..3 {
        let (_, report) = partial.average(vec![rank as f32; 8], iteration + 1).wait().unwrap();
        let group = report.group.as_ref().unwrap();
        assert!(group.uncounted_ranks.is_empty() && report.missing.is_empty(), "{report}");
        iteration = group.iteration;
    }
    partial.close().wait().unwrap();
    communicator.close().wait().unwrap();
    print(&weights);
}

/// The time of day of a process that loads this library is `CLOCK_BACK_S` behind.
const CLOCK: &str = r#"
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    long result = syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME) time->tv_sec -= atoi(getenv("CLOCK_BACK_S"));
    return (int)result;
}
"#;

/// Compiles [`CLOCK`].
fn clock(test: &str) -> PathBuf {
    let source = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}.c"));
    let library = source.with_extension("so");
    std::fs::write(&source, CLOCK).unwrap();
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(compiled.unwrap().success(), "cc cannot compile {}", source.display());
    library
}

fn check(test: &str, returns: u32, variables: &[(&str, &str)]) {
    if let Ok(root) = std::env::var("RESTART_ROOT") {
        return rank(&root, returns);
    }
    let root = free_root();
    let clock = clock(test);
    // Each process of the killed rank finds an earlier time of day than the one before.
    let start = |rank: usize, restarts: u32| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]).stdout(Stdio::piped());
        command.env("OPTIREDUCE_RANK", rank.to_string()).env("OPTIREDUCE_WORLD_SIZE", RANKS.to_string());
        command.env("RESTART_ROOT", &root).envs(variables.iter().copied());
        if restarts > 0 {
            command.env("OPTIREDUCE_REJOIN", "1").env("LD_PRELOAD", &clock);
            command.env("CLOCK_BACK_S", (1000 * restarts).to_string());
        }
        command.spawn().unwrap()
    };
    let lines = |process: &mut Child| BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut ranks: Vec<Child> = (0..RANKS).map(|rank| start(rank, 0)).collect();
    let mut logs: Vec<_> = ranks.iter_mut().map(lines).collect();
    let mut said: Vec<Vec<String>> = vec![Vec::new(); RANKS];
    for time in 0..returns {
        // Later restarts may be too quick for the others to notice.
        assert!(logs[0].by_ref().filter(|line| line.contains(']')).nth(20).is_some());
        ranks[KILLED].kill().unwrap();
        ranks[KILLED].wait().unwrap();
        if time == 0 {
            assert!(logs[0].by_ref().any(|line| line.contains("[0, 2, 3] 0 ")), "the others go on");
        }
        ranks[KILLED] = start(KILLED, time + 1);
        logs[KILLED] = lines(&mut ranks[KILLED]);
        let mut until = logs[0].by_ref().inspect(|line| said[0].push(line.clone()));
        assert!(until.any(|line| line == format!("joined {KILLED}")), "it comes back, time {time}: {:?}", said[0]);
    }
    for (rank, log) in logs.into_iter().enumerate() {
        said[rank].extend(log);
    }
    for (rank, process) in ranks.iter_mut().enumerate() {
        assert!(process.wait().unwrap().success(), "rank {rank}: {said:#?}");
    }
    assert_equal(&said);
    // Complete collectives: the mean of 0, 4, 16 and 36 is 14.
    let whole = said[KILLED].iter().filter(|line| line.ends_with("[0, 1, 2, 3] 0 14")).count();
    assert!(whole > OPS_BACK as usize / 2, "{:?}", said[KILLED]);
}

#[test]
fn a_killed_rank_comes_back_twice_and_the_others_go_on() {
    check("a_killed_rank_comes_back_twice_and_the_others_go_on", 2, &[UDP]);
}

#[test]
fn a_killed_rank_comes_back_by_udp_to_ranks_that_share_memory() {
    check("a_killed_rank_comes_back_by_udp_to_ranks_that_share_memory", 1, &[]);
}

#[cfg(feature = "secret")]
#[test]
fn a_killed_rank_comes_back_into_a_job_with_a_secret() {
    let secret = [("OPTIREDUCE_SECRET", "0123456789abcdef0123456789abcdef")];
    check("a_killed_rank_comes_back_into_a_job_with_a_secret", 1, &secret);
}
