//! Connections that the network breaks while both processes live, as a firewall or NAT table does.

#[path = "exact/random.rs"]
mod random;
mod ranks;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use optireduce::{BucketOptions, ExactOp};
use random::Random;
use ranks::{builder, free_root};

const RANKS: usize = 3;
const ROUNDS: usize = 40;
const BREAKS_MIN: usize = 10;
/// More than a rank buffers, so that it is sent only on request.
const LARGE: usize = 9 << 20;

/// Way to rank 0 that can be broken.
#[derive(Clone)]
struct Path {
    address: SocketAddr,
    /// Sockets towards the other rank, and towards rank 0.
    connections: Arc<Mutex<Vec<[TcpStream; 2]>>>,
}

impl Path {
    fn to(root: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let path = Self { address: listener.local_addr().unwrap(), connections: Arc::default() };
        let (root, connections) = (root.to_owned(), path.connections.clone());
        thread::spawn(move || {
            for there in listener.incoming() {
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
    let seed = Random::seed();
    let root = free_root();
    let path = Path::to(&root);
    let over = Arc::new(AtomicUsize::new(0));
    let rank = |number: usize| {
        let (root, over) = (if number == 1 { path.address.to_string() } else { root.clone() }, over.clone());
        thread::spawn(move || {
            let mut communicator = builder(number, RANKS, &root).connect().unwrap();
            let mut bucket = communicator.bucket(5000, BucketOptions::new()).unwrap();
            // All ranks draw the same lengths.
            let mut random = Random::new(seed, 1);
            for round in 0..ROUNDS {
                let what = format!("rank {number}, round {round}");
                let mut sum = vec![(number + round) as i64; 1 + random.below(200_000) as usize];
                communicator.all_reduce_exact(&mut sum, ExactOp::Sum).unwrap();
                assert!(sum.iter().all(|sum| *sum == (3 + 3 * round) as i64), "{what}: a wrong sum");
                let lengths = [0, 1, 70_000, 1_000_000, LARGE];
                let sent: Vec<Vec<u8>> = lengths.map(|length| vec![round as u8; length]).into();
                for peer in (0..RANKS).filter(|peer| *peer != number) {
                    let sends: Vec<_> =
                        sent.iter().map(|bytes| communicator.start_send(peer, 1, bytes.clone())).collect();
                    for expected in &sent {
                        let found = communicator.recv_bytes(peer, 1).unwrap();
                        assert!(found == *expected, "{what}: {} bytes from rank {peer}", found.len());
                    }
                    sends.into_iter().for_each(|send| drop(send.wait().unwrap()));
                }
                let report = bucket.all_reduce(&mut vec![1.0; 5000]).unwrap();
                assert_eq!(report.live_ranks(), [0, 1, 2], "{what}");
                communicator.barrier().unwrap();
            }
            communicator.barrier().unwrap();
            over.fetch_add(1, Ordering::SeqCst);
            while over.load(Ordering::SeqCst) <= RANKS {
                thread::sleep(Duration::from_millis(1));
            }
            communicator.close().unwrap();
        })
    };
    let jobs: Vec<_> = (0..RANKS).map(rank).collect();
    let (mut random, mut breaks) = (Random::new(seed, 2), 0);
    while over.load(Ordering::SeqCst) < RANKS && !jobs.iter().any(|job| job.is_finished()) {
        thread::sleep(Duration::from_millis(20 + random.below(100)));
        let is_connected = !path.connections.lock().unwrap().is_empty();
        let ends: [&[usize]; 3] = [&[0, 1], &[0], &[1]];
        breaks += if is_connected { path.break_at(ends[random.below(3) as usize]) } else { 0 };
    }
    // The ranks close over a whole connection.
    over.fetch_add(1, Ordering::SeqCst);
    jobs.into_iter().for_each(|job| job.join().unwrap());
    assert!(breaks >= BREAKS_MIN, "seed {seed}: {breaks} breaks");
}
