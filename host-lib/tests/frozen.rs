//! A stopped process with bytes on their way to it delays no rank beyond the timeout. Each rank is
//! a process of this program.

mod root;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use optireduce::{Communicator, Early, ExactOp, Repair, Settings, binding};

use root::free_root;

const RANKS: usize = 3;
const STOPPED: usize = 2;
const TIMEOUT: Duration = Duration::from_secs(4);
/// Call during which the rank is stopped. For other calls it is stopped before.
const IN_THE_MIDDLE: &str = "all_reduce";
/// More than sockets buffer for each rank.
const ELEMENTS: usize = 24 << 20;

/// Process of one rank: reports that it is ready, makes the call on request, and reports the error
/// and the times of call and end.
fn rank(call: &str, rank: usize, root: &str) {
    let place = Settings::new().rank(rank).world_size(RANKS).root(root);
    let builder = place.timeout(TIMEOUT).early(Early::Off).repair(Repair::NextUpdate);
    let mut communicator = Communicator::connect(builder.bound(Duration::from_millis(100)).mtu(1500)).wait().unwrap();
    communicator.barrier().wait().unwrap();
    let data = vec![1.0_f32; ELEMENTS];
    println!("ready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let begin = Instant::now();
    let error = match call {
        "barrier" => communicator.barrier().wait().unwrap_err(),
        "broadcast" => communicator.exact().broadcast(0, data).wait().unwrap_err(),
        "all_to_all" => communicator.exact().all_to_all(vec![vec![1; ELEMENTS]; RANKS]).wait().unwrap_err(),
        IN_THE_MIDDLE => loop {
            if let Err(error) = communicator.exact().all_reduce(data.clone(), ExactOp::Sum).wait() {
                break error;
            }
        },
        "send" => communicator.send(STOPPED, 1, vec![1; ELEMENTS]).wait().unwrap_err(),
        "recv" => communicator.recv(STOPPED, 1).wait().unwrap_err(),
        _ => binding::start_reliable_mean(&mut communicator, data).wait().unwrap_err(),
    };
    let called = begin.elapsed();
    drop(communicator);
    println!("call {called:?}, end {:?}: {error}", begin.elapsed() - called);
    println!("{}", begin.elapsed().as_secs_f64());
}

fn check(test: &str, call: &str) {
    if let (Ok(number), Ok(root)) = (std::env::var("FROZEN_RANK"), std::env::var("FROZEN_ROOT")) {
        return rank(call, number.parse().unwrap(), &root);
    }
    let root = free_root();
    let start = |rank: usize| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--nocapture"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.env("FROZEN_RANK", rank.to_string()).env("FROZEN_ROOT", &root);
        command.spawn().unwrap()
    };
    let mut ranks: Vec<Child> = (0..RANKS).map(start).collect();
    let mut said: Vec<_> =
        ranks.iter_mut().map(|rank| BufReader::new(rank.stdout.take().unwrap()).lines().map(Result::unwrap)).collect();
    for lines in &mut said {
        assert!(lines.any(|line| line.ends_with("ready")));
    }
    let stop = |rank: &Child| {
        let stop = Command::new("kill").args(["-STOP", &rank.id().to_string()]).status();
        assert!(stop.unwrap().success());
    };
    if call == IN_THE_MIDDLE {
        ranks.iter_mut().for_each(|rank| writeln!(rank.stdin.take().unwrap(), "go").unwrap());
        std::thread::sleep(Duration::from_millis(500));
        stop(&ranks[STOPPED]);
    } else {
        stop(&ranks[STOPPED]);
        ranks[..2].iter_mut().for_each(|rank| writeln!(rank.stdin.take().unwrap(), "go").unwrap());
    }
    let outcomes: Vec<Vec<String>> = said.drain(..2).map(|lines| lines.take(2).collect()).collect();
    for rank in &mut ranks {
        rank.kill().unwrap();
        rank.wait().unwrap();
    }
    println!("{call}: {outcomes:?}");
    for (rank, outcome) in outcomes.iter().enumerate() {
        let [text, seconds] = outcome.as_slice() else { panic!("rank {rank}: {outcome:?}") };
        // A rank may be ahead and wait for the peer that still waits for the stopped rank.
        let names_it = text.contains("rank 2");
        assert!(names_it || call == IN_THE_MIDDLE && text.contains("in another call"), "rank {rank}: {text}");
        let seconds: f64 = seconds.parse().unwrap();
        assert!(seconds < 4.0 * TIMEOUT.as_secs_f64(), "rank {rank} took {seconds} s");
    }
}

#[test]
fn a_barrier_and_the_end_after_it() {
    check("a_barrier_and_the_end_after_it", "barrier");
}

#[test]
fn a_broadcast_and_the_end_after_it() {
    check("a_broadcast_and_the_end_after_it", "broadcast");
}

#[test]
fn an_all_reduce_over_tcp_and_the_end_after_it() {
    check("an_all_reduce_over_tcp_and_the_end_after_it", "reliable_mean");
}

#[test]
fn bytes_from_all_to_all_and_the_end_after_it() {
    check("bytes_from_all_to_all_and_the_end_after_it", "all_to_all");
}

#[test]
fn a_send_and_the_end_after_it() {
    check("a_send_and_the_end_after_it", "send");
}

#[test]
fn a_receive_and_the_end_after_it() {
    check("a_receive_and_the_end_after_it", "recv");
}

#[test]
fn a_rank_that_is_stopped_in_the_middle_of_an_all_reduce() {
    check("a_rank_that_is_stopped_in_the_middle_of_an_all_reduce", IN_THE_MIDDLE);
}
