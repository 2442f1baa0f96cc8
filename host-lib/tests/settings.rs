//! Ranks with different settings: every rank returns the same error, with the rank, the setting and
//! both values.

mod ranks;

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use optireduce::{
    BootstrapError, Bound, Builder, CardFallback, ConnectError, Early, HadamardMode, Launch, Local, Refusal,
};
use ranks::{builder, free_root, job};

const RANKS: usize = 3;

fn errors(odd_rank: usize, odd: fn(Builder) -> Builder) -> Vec<String> {
    job(RANKS, move |rank, root| {
        let builder = builder(rank, RANKS, &root);
        let builder = if rank == odd_rank { odd(builder) } else { builder };
        builder.connect().map_or_else(|error| error.to_string(), |_| "no error".into())
    })
}

#[test]
fn a_setting_that_differs_is_an_error_on_every_rank() {
    // The odd rank's setting, its name, and the values of the odd rank and of the others.
    type Case = (fn(Builder) -> Builder, &'static str, &'static str, &'static str);
    let cases: [Case; 15] = [
        (|to| to.bound(Bound::Fixed(Duration::from_millis(7))), "bound", "fixed at 7 ms", "fixed at 3000 ms"),
        (
            |to| to.bound(Bound::Measured { max: Duration::from_millis(77) }),
            "bound",
            "measured, at most 77 ms",
            "fixed at 3000 ms",
        ),
        (|to| to.early(Early::Adaptive), "early", "adaptive", "off"),
        (|to| to.early(Early::Grace(Duration::from_micros(50))), "early", "after 0.05 ms of silence", "off"),
        (|to| to.local(Local::Auto), "local", "auto", "off"),
        (|to| to.hadamard(HadamardMode::On), "hadamard", "on", "auto"),
        (|to| to.bf16(true), "bf16", "true", "false"),
        (|to| to.incast(Some(2)), "incast", "2", "adaptive"),
        (|to| to.window_bytes(4096), "window_bytes", "4096", "1048576"),
        (|to| to.rate_control(true), "rate_control", "true", "false"),
        (|to| to.card_fallback(CardFallback::Udp), "card_fallback", "udp", "off"),
        (|to| to.drop_silent_after(Some(5)), "drop_silent_after", "5 collectives", "3 collectives"),
        (|to| to.drop_silent_after(None), "drop_silent_after", "never", "3 collectives"),
        (|to| to.repair(false), "repair", "false", "true"),
        (|to| to.agree(true), "agree", "true", "false"),
    ];
    for (index, (odd, setting, found, expected)) in cases.into_iter().enumerate() {
        // Rank 0 compares: if it is the odd one, another rank is named.
        let odd_rank = index % RANKS;
        let (rank, found, expected) = if odd_rank == 0 { (1, expected, found) } else { (odd_rank, found, expected) };
        let errors = errors(odd_rank, odd);
        let message = format!("the ranks differ: {setting} is {found} on rank ");
        assert!(errors[0].starts_with(&message), "{errors:?}, expected {message}");
        assert!(errors[0].contains(&format!(", but {expected} on rank 0; ")), "{errors:?}, expected {expected}");
        assert!(
            odd_rank == 0 || errors[0].contains(&format!(" on rank {rank}, but")),
            "{errors:?}, expected rank {rank}"
        );
        assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
    }
}

#[test]
fn a_world_size_that_differs_is_an_error_on_every_rank() {
    let errors = job(RANKS, |rank, root| {
        let world_size = if rank == 1 { 4 } else { RANKS };
        builder(rank, world_size, &root).connect().unwrap_err().to_string()
    });
    let expected = "the ranks differ: the world size is 4 on rank 1, but 3 on rank 0;";
    assert!(errors.iter().all(|error| error.starts_with(expected)), "{errors:?}");
}

#[test]
fn the_second_process_of_a_rank_is_refused_and_the_others_are_told_why_a_rank_is_missing() {
    let results = job(RANKS, |process, root| {
        let builder = builder(process.min(1), RANKS, &root).timeout(Duration::from_secs(3));
        let ConnectError::Bootstrap(BootstrapError::Refused(refusal)) = builder.connect().unwrap_err() else {
            panic!("not refused");
        };
        refusal
    });
    let twice =
        |refusal: &&Refusal| matches!(refusal, Refusal::Twice { rank: 1, first, second, .. } if first != second);
    let (twice, missing): (Vec<_>, Vec<_>) = results.iter().partition(twice);
    assert_eq!((twice.len(), missing.len()), (1, 2), "{results:?}");
    for refusal in missing {
        let Refusal::Missing { missing, refused, .. } = refusal else { panic!("{refusal}") };
        assert_eq!((missing.as_slice(), refused.as_slice()), (&[2][..], &[twice[0].to_string()][..]));
    }
}

#[test]
fn another_version_is_an_error_on_every_rank_and_strangers_are_passed_over() {
    let root = free_root();
    let address: SocketAddr = root.parse().unwrap();
    let connect = |rank: usize| {
        let root = root.clone();
        std::thread::spawn(move || builder(rank, RANKS, &root).connect().map(drop).map_err(|error| error.to_string()))
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
fn settings_out_of_range_are_refused_at_once() {
    let root = free_root();
    let error = |set: fn(Builder) -> Builder| set(builder(1, 2, &root)).connect().unwrap_err().to_string();
    type Case = (fn(Builder) -> Builder, &'static str);
    let cases: [Case; 12] = [
        (|to| to.mtu(113), "mtu is 113, expected at least 114 bytes, which hold one beat of payload"),
        (|to| to.mtu(0), "mtu is 0, expected at least 114 bytes, which hold one beat of payload"),
        (|to| to.timeout(Duration::ZERO), "timeout is 0ns, expected 1 ms to a day"),
        (|to| to.timeout(Duration::MAX), "timeout is 18446744073709551615.999999999s, expected 1 ms to a day"),
        (|to| to.bound(Bound::Fixed(Duration::ZERO)), "bound is 0ns, expected 1 us to 4.29 s"),
        (|to| to.bound(Bound::Fixed(Duration::from_secs(5))), "bound is 5s, expected 1 us to 4.29 s"),
        (
            |to| to.bound(Bound::Measured { max: Duration::from_millis(4) }),
            "the longest bound is 4ms, expected 5ms to 4.29 s",
        ),
        (|to| to.incast(Some(0)), "incast is 0, expected 1 to 15"),
        (|to| to.incast(Some(16)), "incast is 16, expected 1 to 15"),
        (|to| to.window_bytes(100), "window_bytes is 100, expected a multiple of 64 up to 1048576"),
        (|to| to.window_bytes(1 << 21), "window_bytes is 2097152, expected a multiple of 64 up to 1048576"),
        (
            |to| to.drop_silent_after(Some(0)),
            "drop_silent_after is 0 collectives, expected at least 1 collective, or None",
        ),
    ];
    for (set, expected) in cases {
        assert_eq!(error(set), expected);
    }
    let mut launch = Launch::new(0, 2, root.clone()).unwrap();
    launch.rank = 9;
    let error = builder(1, 2, &root).launch(launch).connect().unwrap_err().to_string();
    assert_eq!(error, r#"rank is "9", expected 0 to 1"#);
}
