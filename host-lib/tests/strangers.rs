//! Bootstrap with strangers at its port, missing ranks, and networks that drop all packets.

mod namespace;
mod ranks;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use namespace::{ip, is_outside};
use optireduce::{BucketOptions, Communicator, Error, Settings};
use ranks::{builder, free_root, gradient};

type Ended = JoinHandle<Result<(), String>>;

fn start(builder: Settings) -> Ended {
    let run = move || {
        let mut communicator = Communicator::connect(builder).wait()?;
        let mut bucket = communicator.bucket(1000, BucketOptions::new()).wait()?;
        let report = bucket.all_reduce(&mut gradient(0, 1000))?;
        assert_eq!(report.lost_bytes, 0, "{report}");
        communicator.close().wait()
    };
    thread::spawn(move || run().map_err(|error: Error| error.to_string()))
}

fn reach(root: &str) -> TcpStream {
    let address: SocketAddr = root.parse().unwrap();
    loop {
        match TcpStream::connect(address) {
            Ok(stream) => return stream,
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    }
}

fn frame(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], &[0], text.as_bytes()].concat()
}

fn hello(job_id: &str, world_size: usize, rank: usize, udp: &str, control: &str) -> String {
    let settings = r#"[["shared_memory","off"],["card_fallback","off"],["groups","none"],["bound_ms","3000"],["bound_max_ms","1000"],["early","off"],
        ["hadamard","auto"],["bf16","off"],["repair","next_update"],["drop_silent_after","3"],["agree","off"],["skip_gone","off"]]"#;
    format!(
        r#"{{"version":11,"job_id":"{job_id}","world_size":{world_size},"member":{{"rank":{rank},"udp":"{udp}","control":"{control}",
        "receive_buffer_bytes":100000,"payload_beats":0}},"settings":{settings},"timeout_ms":60000,"left_ms":60000}}"#
    )
}

fn answer(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn strangers_who_are_silent_slow_or_many_hold_up_nobody() {
    let root = free_root();
    // Less than the time that a single stranger could take.
    let with = |rank| builder(rank, 2, &root).timeout(Duration::from_secs(8));
    let first = start(with(0));
    let mut silent: Vec<TcpStream> = (0..300).map(|_| reach(&root)).collect();
    let trickling: Vec<_> = (0..10)
        .map(|_| {
            let mut stream = reach(&root);
            thread::spawn(move || {
                for byte in frame(&hello("", 2, 1, "127.0.0.1:9", "127.0.0.1:9")) {
                    if stream.write_all(&[byte]).is_err() {
                        return;
                    }
                    thread::sleep(Duration::from_millis(500));
                }
            })
        })
        .collect();
    for (stream, bytes) in silent.iter_mut().zip([&[0xff; 16][..], b"GET / HTTP/1.1\r\n\r\n", &frame("{}")]) {
        stream.write_all(bytes).unwrap();
    }
    thread::sleep(Duration::from_millis(300));
    let second = start(with(1));
    assert_eq!((first.join().unwrap(), second.join().unwrap()), (Ok(()), Ok(())));
    drop(silent);
    trickling.into_iter().for_each(|stranger| stranger.join().unwrap());
}

#[test]
fn ranks_of_another_job_at_the_same_root_are_no_part_of_this_one() {
    let root = free_root();
    let of = |job_id: &str, rank, s| start(builder(rank, 2, &root).job_id(job_id).timeout(Duration::from_secs(s)));
    let first = of("a", 0, 20);
    let strangers = [of("b", 1, 2), of("", 1, 2)].map(|stranger| stranger.join().unwrap().unwrap_err());
    let second = of("a", 1, 20);
    assert_eq!((first.join().unwrap(), second.join().unwrap()), (Ok(()), Ok(())));
    for error in strangers {
        assert!(error.contains("with the same job id and secret?"), "{error}");
    }
}

#[test]
fn a_rank_without_a_secret_takes_no_key_for_packets() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let root = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let member = |rank| {
            format!(
                r#"{{"rank":{rank},"udp":"127.0.0.1:9","control":"127.0.0.1:9","receive_buffer_bytes":1,"payload_beats":0}}"#
            )
        };
        let (members, key) = ([member(0), member(1)].join(","), [7; 32]);
        let job = format!(r#"{{"tag":1,"seed":2,"members":[{members}],"packet_key":{key:?}}}"#);
        let welcome = frame(&format!(r#"{{"Welcome":{{"job":{job},"left_ms":1000}}}}"#));
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(&welcome);
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    let error = start(builder(1, 2, &root).timeout(Duration::from_secs(1))).join().unwrap().unwrap_err();
    assert!(error.contains("it sent a job with a packet key, expected no packet key"), "{error}");
}

#[test]
fn why_rank_0_did_not_answer_is_told_even_if_it_ended_before() {
    let root = free_root();
    let of = |job_id: &str, rank, s| start(builder(rank, 2, &root).job_id(job_id).timeout(Duration::from_secs(s)));
    let (first, stranger) = (of("a", 0, 1), of("b", 1, 4));
    let error = first.join().unwrap().unwrap_err();
    assert!(error.starts_with("1 of 2 ranks did not connect within 1 s: rank 1;"), "{error}");
    let error = stranger.join().unwrap().unwrap_err();
    assert!(error.contains("with the same job id and secret?"), "{error}");
}

#[test]
fn all_ranks_are_told_who_did_not_come() {
    let root = free_root();
    let ranks = [(0, 60), (1, 2)].map(|(rank, s)| start(builder(rank, 3, &root).timeout(Duration::from_secs(s))));
    for rank in ranks {
        let error = rank.join().unwrap().unwrap_err();
        let expected =
            format!("1 of 3 ranks did not connect within 2 s: rank 2; is it running, and does it reach {root}?");
        assert_eq!(error, expected);
    }
}

#[test]
fn rank_0_listens_at_the_address_given_and_nowhere_else() {
    let root = free_root();
    let first = start(builder(0, 2, &root));
    drop(reach(&root));
    let elsewhere = root.replace("127.0.0.1", "127.0.0.2");
    let refused = TcpStream::connect(elsewhere.as_str()).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    let second = start(builder(1, 2, &root));
    assert_eq!((first.join().unwrap(), second.join().unwrap()), (Ok(()), Ok(())));
}

#[test]
fn a_stranger_learns_nothing_and_takes_no_place() {
    let root = free_root();
    let first = start(builder(0, 3, &root));
    // Of another job, with a foreign address, or in place of rank 0.
    let mut stranger = reach(&root);
    stranger.write_all(&frame(&hello("another", 7, 1, "127.0.0.1:9", "127.0.0.1:9"))).unwrap();
    assert_eq!(answer(&mut stranger), "");
    for (udp, control) in [("10.9.9.9:9", "127.0.0.1:9"), ("127.0.0.1:9", "10.9.9.9:9")] {
        let mut stranger = reach(&root);
        stranger.write_all(&frame(&hello("", 3, 1, udp, control))).unwrap();
        let said = answer(&mut stranger);
        assert!(said.contains("Address") && said.contains("10.9.9.9") && !said.contains("tag"), "{said}");
    }
    let mut stranger = reach(&root);
    stranger.write_all(&frame(&hello("", 3, 0, "127.0.0.1:9", "127.0.0.1:9"))).unwrap();
    assert!(answer(&mut stranger).contains("Twice"));
    let mut gone = reach(&root);
    gone.write_all(&frame(&hello("", 3, 1, "127.0.0.1:9", "127.0.0.1:9"))).unwrap();
    drop(gone);
    let others = [1, 2].map(|rank| start(builder(rank, 3, &root)));
    assert_eq!((first.join().unwrap(), others.map(|rank| rank.join().unwrap())), (Ok(()), [Ok(()), Ok(())]));
}

/// Greets rank 0 as rank 1 of 3 and stays silent.
fn frozen(root: &str, control: &str) -> TcpStream {
    let mut stream = reach(root);
    stream.write_all(&frame(&hello("", 3, 1, "127.0.0.1:9", control))).unwrap();
    stream
}

#[test]
fn a_rank_that_is_frozen_or_out_of_reach_ends_the_bootstrap_on_time_with_its_reason() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let listening = TcpListener::bind("127.0.0.1:0").unwrap();
    let stopped = listening.local_addr().unwrap().to_string();
    let unreached = format!("rank 2 could not connect to all other ranks: rank 1 was not reached at {closed}: ");
    let silent = format!("rank 2 could not connect to all other ranks: rank 1 did not answer at {stopped}");
    for (control, expected) in [(closed, unreached.as_str()), (stopped, silent.as_str())] {
        let root = free_root();
        let ranks = [0, 2].map(|rank| start(builder(rank, 3, &root).timeout(Duration::from_secs(3))));
        let frozen = frozen(&root, &control);
        for rank in ranks {
            let error = rank.join().unwrap().unwrap_err();
            assert!(error.starts_with(expected), "{error}, expected {expected}");
        }
        drop(frozen);
    }
}

#[test]
fn where_syns_vanish_a_rank_gives_up_on_time() {
    if is_outside("where_syns_vanish_a_rank_gives_up_on_time") {
        return;
    }
    ip(&["link", "add", "v0", "type", "veth", "peer", "name", "v1"]);
    ip(&["address", "add", "10.77.1.1/24", "dev", "v0"]);
    ip(&["link", "set", "v0", "up"]);
    ip(&["link", "set", "v1", "up"]);
    ip(&["neighbour", "add", "10.77.1.2", "lladdr", "02:00:00:00:00:02", "dev", "v0"]);
    let error = start(builder(1, 2, "10.77.1.2:7000").timeout(Duration::from_secs(2))).join().unwrap().unwrap_err();
    assert!(error.starts_with("rank 0 was not reached at 10.77.1.2:7000 within 2 s"), "{error}");
}

#[test]
fn a_name_that_nobody_resolves_is_given_up_on_time() {
    if is_outside("a_name_that_nobody_resolves_is_given_up_on_time") {
        return;
    }
    let error = start(builder(1, 2, "root.invalid:7000").timeout(Duration::from_secs(1))).join().unwrap().unwrap_err();
    assert!(error.starts_with("the address of rank 0, root.invalid:7000, was not found within "), "{error}");
}
