//! Feeds arbitrary bytes to the readers of TCP messages.

use std::io::Cursor;
use std::net::SocketAddr;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::bootstrap::{Answer, Connected, PeerHello, Running};
use super::frame::{self, FRAME_BYTES, GREETING_BYTES_MAX, MESSAGE_BYTES_MAX};
use super::gather::understand;
use super::launch::Launch;
use super::mailbox::hostile;
use super::terms::Terms;
use crate::secret::{Handshake, Secret};

#[cfg(test)]
#[path = "../../../tests/fuzz/play/corpus.rs"]
mod corpus;

const RANKS: usize = 3;
const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// Reads `data` as the message that its first byte selects.
pub fn play(data: &[u8]) {
    let Some((what, bytes)) = data.split_first() else { return };
    if *what == 6 {
        return hostile::play(bytes);
    }
    match what % 6 {
        0 => frames(bytes),
        1 => greeting(bytes),
        2 => {
            if let Ok(answer) = serde_json::from_slice::<Answer>(bytes) {
                show(&answer);
            }
        }
        3 => {
            let _ = serde_json::from_slice::<PeerHello>(bytes)
                .map(|hello| hello.member.map(|member| member.is_at(from().ip())));
            let _ = serde_json::from_slice::<Connected>(bytes);
        }
        4 => {
            let (Ok(terms), own) =
                (serde_json::from_slice::<Terms>(bytes), Terms::default().with("the call", "barrier"))
            else {
                return;
            };
            let differs = own.compare(0, 1, &terms).map_err(|differs| differs.to_string());
            assert_eq!(differs.is_ok(), terms.compare(1, 0, &own).is_ok(), "{differs:?}");
        }
        _ => handshake(bytes),
    }
}

fn from() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 1))
}

fn frames(bytes: &[u8]) {
    for bytes_max in [GREETING_BYTES_MAX, MESSAGE_BYTES_MAX] {
        let mut from = Cursor::new(bytes);
        let mut read = 0;
        loop {
            // The cursor has all bytes, so reading never waits.
            let polled = pin!(frame::read(&mut from, bytes_max)).poll(&mut Context::from_waker(Waker::noop()));
            let Poll::Ready(Ok((_, message))) = polled else {
                assert!(polled.is_ready(), "reading waits at the end of the bytes");
                break;
            };
            read += FRAME_BYTES + message.len();
            assert!(message.len() <= bytes_max && read <= bytes.len(), "{} of {} bytes", message.len(), bytes.len());
        }
    }
}

fn greeting(bytes: &[u8]) {
    let place = Launch::new(0, RANKS, "127.0.0.1:1").expect("a place");
    let launch = Launch { job_id: "job".into(), ..place };
    match understand(bytes, from(), &launch) {
        Ok(Ok(hello)) => {
            assert!(hello.member.rank < RANKS && hello.world_size == RANKS && hello.job_id == "job", "{hello:?}");
            let _ = hello.member.is_at(from().ip()).map_err(|refusal| refusal.to_string());
            let _ = hello.settings.compare(1, 0, &Terms::default()).map_err(|differs| differs.to_string());
        }
        Ok(Err(refusal)) => assert!(!refusal.to_string().is_empty()),
        Err(stranger) => assert!(!stranger.is_empty()),
    }
}

fn show(answer: &Answer) {
    match answer {
        Answer::Welcome { job, .. } => drop(format!("{job:?}")),
        Answer::Running(running) => {
            let Running { job, buckets, .. } = &**running;
            buckets.iter().for_each(|bucket| drop(bucket.compare(0, 1, &Terms::default())));
            drop(format!("{job:?}"));
        }
        Answer::Refused(refusal) => assert!(!refusal.to_string().is_empty()),
        Answer::Groups(groups) => drop(format!("{groups:?}")),
        Answer::Begin | Answer::Again { .. } => {}
    }
}

fn handshake(bytes: &[u8]) {
    let Ok(secret) = Secret::new(SECRET) else { return };
    for connects in [false, true] {
        let Ok(mut handshake) = Handshake::new(&secret, "job", connects) else { return };
        if connects && handshake.write().is_err() {
            return;
        }
        assert!(handshake.read(bytes).is_err(), "accepted without the secret: {bytes:?}");
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_rank_survives_whatever_came_over_tcp() {
        super::corpus::replay("control", super::play);
    }
}
