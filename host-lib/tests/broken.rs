//! Connections that the network breaks while both processes live, as a firewall or NAT table does.

#[path = "exact/random.rs"]
mod random;
mod ranks;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use optireduce::{BucketOptions, Communicator, Error, ErrorKind, ExactOp, Settings};
use random::Random;
use ranks::{builder, free_root};

const RANKS: usize = 3;
/// More than a rank buffers, so that it is sent only on request.
const LARGE: usize = 9 << 20;

/// Way to rank 0 that can be broken.
#[derive(Clone)]
struct Path {
    address: SocketAddr,
    /// Sockets towards the other rank, and towards rank 0.
    connections: Arc<Mutex<Vec<[TcpStream; 2]>>>,
    /// New connections are accepted, and nothing passes.
    blocks: Arc<AtomicBool>,
}

impl Path {
    fn to(root: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let path = Self { address, connections: Arc::default(), blocks: Arc::default() };
        let (root, connections, blocks) = (root.to_owned(), path.connections.clone(), path.blocks.clone());
        thread::spawn(move || {
            let mut blocked = Vec::new();
            for there in listener.incoming() {
                if blocks.load(Ordering::SeqCst) {
                    blocked.push(there);
                    continue;
                }
                // Until rank 0 listens, and after it has ended.
                let Ok((there, root)) = there.and_then(|there| Ok((there, TcpStream::connect(&root)?))) else {
                    continue;
                };
                let ends = [there, root];
                let [a, b] = [0, 1].map(|end| ends.each_ref()[end].try_clone().unwrap());
                let [c, d] = [0, 1].map(|end| ends.each_ref()[end].try_clone().unwrap());
                connections.lock().unwrap().push(ends);
                thread::spawn(|| pass_on(a, b));
                thread::spawn(|| pass_on(d, c));
            }
        });
        path
    }

    /// Ends the connections at some of their ends. The other ends notice nothing.
    fn break_at(&self, ends: &[usize]) -> usize {
        let mut connections = self.connections.lock().unwrap();
        let broken = connections.iter().filter(|connection| {
            // Sockets that ended before cannot be shut down again.
            ends.iter().filter(|end| connection[**end].shutdown(Shutdown::Both).is_ok()).count() > 0
        });
        let count = broken.count();
        // The silent ends stay open.
        if connections.len() > 1000 {
            connections.drain(..500);
        }
        count
    }
}

/// Closes neither connection at the end, so the other end sees silence.
fn pass_on(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
}

#[test]
fn a_connection_that_breaks_between_live_ranks_is_made_again_and_nothing_is_lost_or_repeated() {
    break_often(40, 10, 20, |builder| builder);
}

#[cfg(feature = "secret")]
#[test]
fn a_connection_with_a_secret_is_made_again_too() {
    // A handshake takes longer than the shortest pause.
    break_often(10, 2, 300, |builder| builder.secret(optireduce::Secret::new([7; 32]).unwrap()));
}

fn break_often(rounds: usize, breaks_min: usize, pause_ms: u64, set: fn(Settings) -> Settings) {
    let seed = Random::seed();
    let root = free_root();
    let path = Path::to(&root);
    // What breaks while ranks meet ends the job for all of them, so breaks begin after it.
    let (met, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let rank = |number: usize| {
        let root = if number == 1 { path.address.to_string() } else { root.clone() };
        let (met, over) = (met.clone(), over.clone());
        thread::spawn(move || {
            let mut communicator = Communicator::connect(set(builder(number, RANKS, &root))).wait().unwrap();
            met.fetch_add(1, Ordering::SeqCst);
            let mut bucket = communicator.bucket(5000, BucketOptions::new()).wait().unwrap();
            // All ranks draw the same lengths.
            let mut random = Random::new(seed, 1);
            for round in 0..rounds {
                let what = format!("rank {number}, round {round}");
                let given = vec![(number + round) as i64; 1 + random.below(200_000) as usize];
                let sum = communicator.exact().all_reduce(given, ExactOp::Sum).wait().unwrap();
                assert!(sum.iter().all(|sum| *sum == (3 + 3 * round) as i64), "{what}: a wrong sum");
                let lengths = [0, 1, 70_000, 1_000_000, LARGE];
                let sent: Vec<Vec<u8>> = lengths.map(|length| vec![round as u8; length]).into();
                for peer in (0..RANKS).filter(|peer| *peer != number) {
                    let sends: Vec<_> = sent.iter().map(|bytes| communicator.send(peer, 1, bytes.clone())).collect();
                    for expected in &sent {
                        let found = communicator.recv(peer, 1).wait().unwrap().bytes;
                        assert!(found == *expected, "{what}: {} bytes from rank {peer}", found.len());
                    }
                    sends.into_iter().for_each(|send| send.wait().unwrap());
                }
                let report = bucket.all_reduce(&mut vec![1.0; 5000]).unwrap();
                assert_eq!(report.ranks, [0, 1, 2], "{what}");
                communicator.barrier().wait().unwrap();
            }
            over.fetch_add(1, Ordering::SeqCst);
            while over.load(Ordering::SeqCst) <= RANKS {
                thread::sleep(Duration::from_millis(1));
            }
            // Nothing breaks any more, and the ranks close over a whole connection.
            communicator.barrier().wait().unwrap();
            communicator.close().wait().unwrap();
        })
    };
    let jobs: Vec<_> = (0..RANKS).map(rank).collect();
    let (mut random, mut breaks) = (Random::new(seed, 2), 0);
    while over.load(Ordering::SeqCst) < RANKS && !jobs.iter().any(|job| job.is_finished()) {
        thread::sleep(Duration::from_millis(pause_ms + random.below(100)));
        let ends: [&[usize]; 3] = [&[0, 1], &[0], &[1]];
        if met.load(Ordering::SeqCst) == RANKS {
            breaks += path.break_at(ends[random.below(3) as usize]);
        }
    }
    over.fetch_add(1, Ordering::SeqCst);
    jobs.into_iter().for_each(|job| job.join().unwrap());
    assert!(breaks >= breaks_min, "seed {seed}: {breaks} breaks");
}

/// Cuts the connection between ranks 0 and 1 until neither tries to connect again. Returns the
/// errors of the next exact call on all ranks, and of the receives of ranks 0 and 1.
fn errors_after_a_cut(skips_gone: bool) -> Vec<Vec<Error>> {
    let root = free_root();
    let path = Path::to(&root);
    let (cut, all_done) = (Arc::new(Barrier::new(RANKS + 1)), Arc::new(Barrier::new(RANKS)));
    let rank = |number: usize| {
        let root = if number == 1 { path.address.to_string() } else { root.clone() };
        let (cut, all_done) = (cut.clone(), all_done.clone());
        thread::spawn(move || {
            let mut communicator =
                Communicator::connect(builder(number, RANKS, &root).skip_gone(skips_gone)).wait().unwrap();
            communicator.barrier().wait().unwrap();
            cut.wait();
            cut.wait();
            let reduced = communicator.exact().all_reduce(vec![1.0_f32; 100], ExactOp::Sum).wait();
            let mut errors = vec![reduced.unwrap_err()];
            if number < 2 {
                errors.push(communicator.recv(1 - number, 7).wait().unwrap_err());
            }
            all_done.wait();
            errors
        })
    };
    let jobs: Vec<_> = (0..RANKS).map(rank).collect();
    cut.wait();
    path.blocks.store(true, Ordering::SeqCst);
    path.break_at(&[0, 1]);
    cut.wait();
    jobs.into_iter().map(|job| job.join().unwrap()).collect()
}

#[test]
fn two_live_ranks_without_a_connection_are_both_named_and_neither_is_called_dead() {
    for skips_gone in [false, true] {
        let errors = errors_after_a_cut(skips_gone);
        for (number, errors) in errors.iter().enumerate() {
            for error in errors {
                let text = error.to_string();
                let names = ["between ranks 0 and 1 broke", "between ranks 1 and 0 broke"];
                let is_named = names.iter().any(|name| text.contains(name));
                assert!(is_named && text.contains("both may still run"), "rank {number}, {skips_gone}: {text}");
            }
        }
        let cut = ["between ranks 0 and 1 broke", "between ranks 1 and 0 broke"];
        let own =
            |error: &Error| error.kind() == ErrorKind::Peer && cut.iter().any(|cut| error.to_string().contains(cut));
        assert!(errors[..2].iter().all(|errors| own(&errors[1])), "{errors:?}");
    }
}
