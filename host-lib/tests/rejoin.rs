//! A rank whose process is stopped for a while. The others continue without it. It rejoins, fetches
//! the model, and ends with the same bits. Each rank is a process of this program.

mod root;
mod weights;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use optireduce::{BucketOptions, Communicator, Early, ErrorKind, Repair, Settings};
use root::free_root;
use weights::{add, assert_equal, print, settle};

const RANKS: usize = 3;
const STOPPED: usize = 1;
const OPS_BACK: u32 = 20;

/// Process of one rank: prints number and live ranks of every collective, when it was dropped, and
/// the final weights.
fn rank(rank: usize, root: &str) {
    let place = Settings::new().rank(rank).world_size(RANKS).root(root);
    let builder = place.timeout(Duration::from_secs(20)).early(Early::Off).repair(Repair::NextUpdate);
    let mut communicator = Communicator::connect(builder.bound(Duration::from_millis(100))).wait().unwrap();
    let mut bucket = communicator.bucket(5000, BucketOptions::new()).wait().unwrap();
    let (mut was_dropped, mut back) = (false, 0);
    let mut weights = vec![0.0; 5000];
    while back < OPS_BACK {
        let mut data = vec![(3 * rank * rank) as f32; 5000];
        match bucket.all_reduce(&mut data) {
            Ok(report) => {
                let live = report.ranks;
                println!("{} {live:?} {} {}", report.number, report.lost_bytes, data[4321]);
                was_dropped |= live.len() < RANKS;
                add(&mut weights, &data);
                let is_back = was_dropped && live.len() == RANKS;
                if is_back && back == 0 {
                    settle(&mut bucket, &mut weights);
                    weights = communicator.exact().broadcast(0, weights).wait().unwrap();
                }
                back += u32::from(is_back);
            }
            Err(error) if error.kind() == ErrorKind::Dropped => {
                println!("dropped");
                was_dropped = true;
                communicator.rejoin().wait().unwrap();
            }
            Err(error) => panic!("rank {rank}: {error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    settle(&mut bucket, &mut weights);
    communicator.close().wait().unwrap();
    print(&weights);
}

fn signal(process: &Child, name: &str) {
    let pid = process.id().to_string();
    assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
}

#[test]
fn a_rank_that_was_stopped_for_a_while_comes_back() {
    if let (Ok(number), Ok(root)) = (std::env::var("REJOIN_RANK"), std::env::var("REJOIN_ROOT")) {
        return rank(number.parse().unwrap(), &root);
    }
    let root = free_root();
    let start = |rank: usize| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "a_rank_that_was_stopped_for_a_while_comes_back", "--nocapture"]);
        command.env("REJOIN_RANK", rank.to_string()).env("REJOIN_ROOT", &root);
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let mut ranks: Vec<Child> = (0..RANKS).map(start).collect();
    let mut logs = ranks.iter_mut().map(|rank| BufReader::new(rank.stdout.take().unwrap()).lines().map(Result::unwrap));
    let mut logs: Vec<_> = (0..RANKS).map(|_| logs.next().unwrap()).collect();
    let is_collective = |line: &String| line.contains(']');
    assert!(logs[0].by_ref().filter(is_collective).nth(20).is_some());
    signal(&ranks[STOPPED], "-STOP");
    let without = logs[0].by_ref().find(|line| line.ends_with("[0, 2] 0 6"));
    signal(&ranks[STOPPED], "-CONT");
    assert!(without.is_some(), "the others continue");
    let rest: Vec<Vec<String>> = logs.into_iter().map(Iterator::collect).collect();
    for (rank, process) in ranks.iter_mut().enumerate() {
        assert!(process.wait().unwrap().success(), "rank {rank}: {:?}", rest[rank]);
        // Complete collectives: the mean of 0, 3 and 12 is 5, the mean of 0 and 12 is 6.
        let whole = rest[rank].iter().rev().filter(|line| line.contains(']')).take(OPS_BACK as usize);
        assert!(
            whole.clone().filter(|line| line.ends_with("[0, 1, 2] 0 5")).count() > OPS_BACK as usize / 2,
            "{rest:?}"
        );
    }
    assert_equal(&rest);
    assert!(rest[STOPPED].iter().any(|line| line.contains("dropped")), "{:?}", rest[STOPPED]);
}
