//! Jobs with a secret, over real sockets on loopback, and strangers without it.

mod environment;
mod ranks;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use environment::has_no_secret;
use optireduce::{BucketOptions, Communicator, ExactOp, Groups, Secret, Settings};
use ranks::{builder, check_mean, free_root, gradient, job};

fn secret(byte: u8) -> Secret {
    Secret::new([byte; 32]).unwrap()
}

#[test]
fn a_job_with_a_secret_gives_the_same_as_one_without() {
    // Packet lengths at the ends of their ranges, configured and discovered.
    for (ranks, elements, mtu) in [(2, 1, Some(138)), (3, 100_003, None), (4, 300_000, Some(65_535))] {
        let results = job(ranks, move |rank, root| {
            let mut communicator =
                Communicator::connect(builder(rank, ranks, &root).secret(secret(1)).mtu(mtu)).wait().unwrap();
            let mut bucket = communicator.bucket(elements, BucketOptions::new()).wait().unwrap();
            let mut data = gradient(rank, elements);
            for _ in 0..3 {
                data = gradient(rank, elements);
                let report = bucket.all_reduce(&mut data).unwrap();
                assert_eq!((report.lost_bytes, report.is_late), (0, false), "rank {rank}: {report}");
            }
            let mut weights = if rank == 1 { gradient(7, 400_000) } else { vec![0.0; 400_000] };
            weights = communicator.exact().broadcast(1, weights).wait().unwrap();
            assert_eq!(weights, gradient(7, 400_000));
            weights = communicator.exact().all_reduce(weights, ExactOp::Max).wait().unwrap();
            assert_eq!(weights, gradient(7, 400_000));
            let sent = communicator.send((rank + 1) % ranks, 1, vec![rank as u8; 9 << 20]);
            let before = (rank + ranks - 1) % ranks;
            assert!(communicator.recv(before, 1).wait().unwrap().bytes == vec![before as u8; 9 << 20]);
            sent.wait().unwrap();
            assert_eq!(communicator.metrics().wait().unwrap().seal_drops, Default::default());
            communicator.close().wait().unwrap();
            data
        });
        check_mean(ranks, &results, 1e-5);
    }
}

#[test]
fn a_secret_may_stand_in_the_environment() {
    if has_no_secret("a_secret_may_stand_in_the_environment") {
        assert!(Secret::from_env().unwrap().is_none());
        return;
    }
    let given = Secret::from_env().unwrap().unwrap();
    assert_eq!(given, Secret::new("0123456789abcdef").unwrap());
    job(2, move |rank, root| {
        let builder = builder(rank, 2, &root);
        let builder = if rank == 0 { builder } else { builder.secret(given.clone()) };
        Communicator::connect(builder).wait().unwrap().barrier().wait().unwrap();
    });
}

#[test]
fn groups_of_a_job_with_a_secret_have_it_too() {
    job(4, |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, 4, &root).secret(secret(1))).wait().unwrap();
        let mut bucket = communicator.bucket(5000, BucketOptions::new().groups(Groups::Number(2))).wait().unwrap();
        let report = bucket.all_reduce(&mut gradient(rank, 5000)).unwrap();
        assert_eq!(report.lost_bytes, 0, "{report}");
        let group = communicator.split((rank % 3 == 0).then_some(0)).wait().unwrap();
        group.into_iter().for_each(|mut group| group.barrier().wait().unwrap());
        communicator.barrier().wait().unwrap();
    });
}

#[test]
fn groups_of_ranks_that_never_connect_all_with_one_another_have_the_secret_too() {
    // Two beats, or one and a seal.
    const MTU: usize = 178;
    job(4, |rank, root| {
        let settings = builder(rank, 4, &root).secret(secret(1)).mtu(MTU).groups(Groups::Auto);
        let mut communicator = Communicator::connect(settings).wait().unwrap();
        let metrics = communicator.metrics().wait().unwrap();
        assert_eq!(metrics.parts.iter().map(|part| part.payload_bytes).collect::<Vec<_>>(), [64; 3]);
        let mut bucket = communicator.bucket(5000, BucketOptions::new()).wait().unwrap();
        let report = bucket.all_reduce(&mut gradient(rank, 5000)).unwrap();
        assert_eq!(report.lost_bytes, 0, "{report}");
        communicator.close().wait().unwrap();
    });
}

#[test]
fn who_has_another_secret_or_none_is_no_rank() {
    let root = free_root();
    let connect = |builder: Settings| {
        thread::spawn(move || {
            let communicator = Communicator::connect(builder).wait().map_err(|error| error.to_string())?;
            communicator.close().wait().map_err(|error| error.to_string())
        })
    };
    let short = Duration::from_secs(2);
    let first = connect(builder(0, 2, &root).secret(secret(1)));
    let strangers = [
        builder(1, 2, &root).secret(secret(2)).timeout(short),
        builder(1, 2, &root).timeout(short),
        builder(1, 2, &root).job_id("another").secret(secret(1)).timeout(short),
    ];
    for error in strangers.map(|stranger| connect(stranger).join().unwrap().unwrap_err()) {
        assert!(error.contains("with the same job id and secret?"), "{error}");
    }
    let second = connect(builder(1, 2, &root).secret(secret(1)));
    assert_eq!((first.join().unwrap(), second.join().unwrap()), (Ok(()), Ok(())));
    let root = free_root();
    let ranks = [builder(0, 2, &root), builder(1, 2, &root).secret(secret(1))];
    for error in ranks.map(|rank| connect(rank.timeout(short))).map(|rank| rank.join().unwrap().unwrap_err()) {
        assert!(error.contains("with the same job id and secret?") || error.contains("rank 1"), "{error}");
    }
}

/// Forwards a connection in both directions and records its bytes.
fn relay(from: TcpStream, to: SocketAddr, seen: Arc<Mutex<Vec<u8>>>) {
    let there = TcpStream::connect(to).unwrap();
    for (mut from, mut to) in [(from.try_clone().unwrap(), there.try_clone().unwrap()), (there, from)] {
        let seen = seen.clone();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(bytes @ 1..) = from.read(&mut buffer) {
                seen.lock().unwrap().extend(&buffer[..bytes]);
                if to.write_all(&buffer[..bytes]).is_err() {
                    return;
                }
            }
        });
    }
}

#[test]
fn who_records_the_bootstrap_reads_nothing_and_cannot_use_it_again() {
    let (root, seen) = (free_root(), Arc::new(Mutex::new(Vec::new())));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let relayed = listener.local_addr().unwrap().to_string();
    let (to, keep) = (root.parse().unwrap(), seen.clone());
    let address = root.clone();
    let first = thread::spawn(move || {
        let mut communicator = Communicator::connect(builder(0, 2, &address).secret(secret(1))).wait().unwrap();
        communicator.barrier().wait().unwrap();
    });
    thread::spawn(move || relay(listener.accept().unwrap().0, to, keep));
    let mut communicator = loop {
        if TcpStream::connect(&root).is_ok() {
            break Communicator::connect(builder(1, 2, &relayed).secret(secret(1))).wait().unwrap();
        }
    };
    communicator.barrier().wait().unwrap();
    first.join().unwrap();
    let recorded = seen.lock().unwrap().clone();
    let text = String::from_utf8_lossy(&recorded).into_owned();
    assert!(recorded.len() > 1000);
    for word in ["world_size", "tag", "127.0.0.1", "bound", "barrier"] {
        assert!(!text.contains(word), "{word} can be read");
    }
    // Replay to another job with the same secret: it answers the handshake only.
    let root = free_root();
    let address = root.clone();
    let short = Duration::from_secs(2);
    let first = thread::spawn(move || {
        Communicator::connect(builder(0, 2, &address).secret(secret(1)).timeout(short)).wait().map(drop)
    });
    let mut stranger = loop {
        match TcpStream::connect(&root) {
            Ok(stream) => break stream,
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    };
    stranger.write_all(&recorded).unwrap();
    let mut answer = Vec::new();
    let _ = stranger.read_to_end(&mut answer);
    assert!(answer.len() <= 5 + 48, "{} bytes", answer.len());
    assert!(first.join().unwrap().unwrap_err().to_string().contains("did not connect within 2 s: rank 1"));
}
