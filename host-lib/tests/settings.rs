//! Ranks with different settings: every rank returns the same error, with the rank, the setting and
//! both values.

mod ranks;

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use optireduce::tuning::Tuning;
use optireduce::{Communicator, ErrorKind, SETTINGS, Scope, Settings};
use ranks::{builder, free_root, job};

const RANKS: usize = 3;

fn errors(odd_rank: usize, odd: impl Fn(Settings) -> Settings + Clone + Send + 'static) -> Vec<String> {
    job(RANKS, move |rank, root| {
        let builder = builder(rank, RANKS, &root);
        let builder = if rank == odd_rank { odd(builder) } else { builder };
        Communicator::connect(builder).wait().map_or_else(|error| error.to_string(), |_| "no error".into())
    })
}

/// Every row of the table, and the parameters beside it.
#[test]
fn a_setting_of_the_job_that_differs_is_an_error_on_every_rank() {
    let mut checked = 0;
    let rows = SETTINGS.iter().filter(|row| row.scope == Scope::Job && !["world_size", "job_id"].contains(&row.name));
    for (index, row) in rows.enumerate() {
        let usual = builder(0, RANKS, "").get(row.name).unwrap();
        // The sample, or the default where the other ranks have the sample.
        let odd = if usual == row.sample { row.default } else { row.sample };
        differs(index % RANKS, row.name, odd, &usual, |mut to| {
            to.set(row.name, odd).unwrap();
            to
        });
        checked += 1;
    }
    assert!(checked >= 11, "{checked} rows");
    differs(1, "incast", "2", "not set", |to| to.incast(2));
    differs(2, "window_bytes", "4096", "not set", |to| to.window_bytes(4096));
    differs(1, "rate_control", "on", "not set", |to| to.rate_control(true));
    differs(2, "grace_ms", "0.05", "not set", |to| to.grace(Duration::from_micros(50)));
    differs(1, "mine", "1", "not set", |to| to.compare("mine", 1));
}

fn differs(
    odd_rank: usize,
    setting: &str,
    odd_value: &str,
    usual: &str,
    odd: impl Fn(Settings) -> Settings + Clone + Send + 'static,
) {
    // Rank 0 compares: if it is the odd one, another rank is named.
    let (rank, found, expected) = match odd_rank {
        0 => (1, usual, odd_value),
        _ => (odd_rank, odd_value, usual),
    };
    let errors = errors(odd_rank, odd);
    let message = format!("the ranks differ: {setting} is {found} on rank ");
    assert!(errors[0].starts_with(&message), "{errors:?}, expected {message}");
    assert!(errors[0].contains(&format!(", but {expected} on rank 0; ")), "{errors:?}, expected {expected}");
    assert!(odd_rank == 0 || errors[0].contains(&format!(" on rank {rank}, but")), "{errors:?}, expected rank {rank}");
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
}

#[test]
fn a_setting_of_a_rank_may_differ() {
    let mut checked = 0;
    for row in SETTINGS.iter().filter(|row| row.scope == Scope::Rank) {
        let value = match row.name {
            // The place of the rank, which `builder` has given.
            "rank" => continue,
            // The same place, in another spelling.
            "root" => "localhost:",
            // Cards and secrets of one rank alone make no job.
            "card" | "secret_file" => continue,
            _ => row.sample,
        };
        let results = job(RANKS, move |rank, root| {
            let mut settings = builder(rank, RANKS, &root);
            if rank == 1 {
                let value = if row.name == "root" { root.replace("127.0.0.1:", value) } else { value.into() };
                settings.set(row.name, &value).unwrap();
            }
            let mut communicator = Communicator::connect(settings).wait().map_err(|error| error.to_string())?;
            communicator.barrier().wait().map_err(|error| error.to_string())
        });
        assert_eq!(results, [const { Ok(()) }; RANKS], "{}", row.name);
        checked += 1;
    }
    assert!(checked >= 5, "{checked} rows");
}

#[test]
fn a_world_size_that_differs_is_an_error_on_every_rank() {
    let errors = job(RANKS, |rank, root| {
        let world_size = if rank == 1 { 4 } else { RANKS };
        Communicator::connect(builder(rank, world_size, &root)).wait().unwrap_err().to_string()
    });
    let expected = "the ranks differ: world_size is 4 on rank 1, but 3 on rank 0;";
    assert!(errors.iter().all(|error| error.starts_with(expected)), "{errors:?}");
}

#[test]
fn the_second_process_of_a_rank_is_refused_and_the_others_are_told_why_a_rank_is_missing() {
    let results = job(RANKS, |process, root| {
        let builder = builder(process.min(1), RANKS, &root).timeout(Duration::from_secs(3));
        Communicator::connect(builder).wait().unwrap_err()
    });
    let (twice, missing): (Vec<_>, Vec<_>) = results.iter().partition(|error| error.kind() == ErrorKind::Argument);
    assert_eq!((twice.len(), missing.len()), (1, 2), "{results:?}");
    let refused = twice[0].to_string();
    assert!(refused.starts_with("rank 1 is already taken: the process at "), "{refused}");
    for error in missing {
        let text = error.to_string();
        assert_eq!((error.kind(), error.rank()), (ErrorKind::Peer, Some(2)), "{text}");
        assert!(
            text.contains("did not connect") && text.ends_with(&format!(" Refused meanwhile: {refused}")),
            "{text}"
        );
    }
}

#[test]
fn another_version_is_an_error_on_every_rank_and_strangers_are_passed_over() {
    let root = free_root();
    let address: SocketAddr = root.parse().unwrap();
    let connect = |rank: usize| {
        let root = root.clone();
        std::thread::spawn(move || {
            Communicator::connect(builder(rank, RANKS, &root)).wait().map(drop).map_err(|error| error.to_string())
        })
    };
    let ranks = [connect(0), connect(1)];
    let frame = |text: &str| {
        let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
        bytes.push(0);
        bytes.extend(text.as_bytes());
        bytes
    };
    // A scanner, a browser, a length of 4 GiB, JSON that is no greeting, half a greeting, one
    // without a rank; then a rank of another release.
    let old = frame(r#"{"version":1,"world_size":3,"member":{"rank":2}}"#);
    let half = frame(r#"{"version":11,"world_size":3,"member":{"rank":2}}"#);
    let nobody = frame(r#"{"version":1,"world_size":3}"#);
    let strangers = [&[][..], b"GET / HTTP/1.1\r\n\r\n", &[0xff; 16], &frame("[1, 2]"), &frame("{}"), &half, &nobody];
    for bytes in strangers.into_iter().chain([old.as_slice()]) {
        let mut stream = loop {
            match TcpStream::connect(address) {
                Ok(stream) => break stream,
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let _ = std::io::Write::write_all(&mut stream, bytes);
        if bytes == old {
            std::thread::sleep(Duration::from_millis(500));
        }
    }
    for rank in ranks {
        let error = rank.join().unwrap().unwrap_err();
        assert!(error.starts_with("the ranks differ: the protocol version ("), "{error}");
        assert!(error.contains(") is 1 on rank 2, but 11 on rank 0;"), "{error}");
    }
}

#[test]
fn parameters_out_of_range_are_refused_at_once() {
    let root = free_root();
    let error = |set: fn(Settings) -> Settings| {
        Communicator::connect(set(builder(1, 2, &root))).wait().unwrap_err().to_string()
    };
    type Case = (fn(Settings) -> Settings, &'static str);
    let cases: [Case; 5] = [
        (|to| to.incast(0), "incast is 0, expected 1 to 15"),
        (|to| to.incast(16), "incast is 16, expected 1 to 15"),
        (|to| to.window_bytes(100), "window_bytes is 100, expected a multiple of 64 up to 1048576"),
        (|to| to.window_bytes(1 << 21), "window_bytes is 2097152, expected a multiple of 64 up to 1048576"),
        (|to| to.rank(9), r#"rank is "9", expected 0 to 1"#),
    ];
    for (set, expected) in cases {
        assert_eq!(error(set), expected);
    }
}
