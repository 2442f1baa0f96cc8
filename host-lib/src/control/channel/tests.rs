//! Tests over real sockets.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpStream};

use super::super::launch::Launch;
use super::super::mailbox::{Space, Tag};
use super::exchange::kind;
use super::*;
use crate::root::free_root;

const TIMEOUT: Duration = Duration::from_millis(500);
/// For peers that must be on time on a busy machine.
const LONG: Duration = Duration::from_secs(3);

struct Fake(TcpStream);

impl Fake {
    fn say(&mut self, kind: u8, message: &[u8]) {
        let length = (message.len() as u32).to_le_bytes();
        self.0.write_all(&[&length[..], &[kind], message].concat()).unwrap();
    }

    fn say_in_step(&mut self, kind: u8, parts: &[&[u8]]) {
        self.say(frame::IN_STEP, &[&[kind], parts.concat().as_slice()].concat());
    }

    fn hear(&mut self) -> Vec<u8> {
        let mut head = [0; 5];
        self.0.read_exact(&mut head).unwrap();
        let mut message = vec![0; u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize];
        self.0.read_exact(&mut message).unwrap();
        message
    }
}

fn beside_a_fake() -> (ControlChannel, Fake) {
    with_timeout(TIMEOUT)
}

fn with_timeout(timeout: Duration) -> (ControlChannel, Fake) {
    let root = free_root();
    let launch = Launch::new(0, 2, root.clone()).unwrap();
    let at = root.clone();
    let peer = std::thread::spawn(move || {
        let stream = loop {
            match TcpStream::connect(&at) {
                Ok(stream) => break stream,
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut fake = Fake(stream);
        let member =
            r#"{"rank":1,"udp":"127.0.0.1:1","control":"127.0.0.1:1","receive_buffer_bytes":0,"payload_beats":0}"#;
        let hello = format!(
            r#"{{"version":11,"job_id":"","world_size":2,"member":{member},"settings":[],"timeout_ms":9000,"left_ms":9000}}"#
        );
        for text in [hello.as_str(), r#"{"failure":null}"#] {
            fake.say(frame::IN_STEP, text.as_bytes());
            fake.hear();
        }
        fake
    });
    let describe = |control| Member::at(0, control);
    let meeting = Meeting {
        launch,
        root: vec![root.parse().unwrap()],
        listener: None,
        local: IpAddr::from([127, 0, 0, 1]),
        mtu: None,
        secret: None,
        timeout,
        deadline: Instant::now() + Duration::from_secs(20),
    };
    let channel = ControlChannel::connect(&meeting, Terms::default(), describe, || ()).unwrap();
    (channel, peer.join().unwrap())
}

#[test]
fn a_frame_of_an_impossible_length_ends_the_connection_and_names_its_sender() {
    let (channel, mut fake) = beside_a_fake();
    let receive = channel.mailbox().receive(Some(1), Tag { space: Space::Caller, tag: 1 });
    fake.0.write_all(&[0xff; 5]).unwrap();
    let runtime = runtime::Builder::new_current_thread().build().unwrap();
    let what = "a message of 4294967295 bytes, expected at most 1048576; is the sender OptiReduce?".into();
    assert_eq!(runtime.block_on(receive), Err(ControlError::Broken { rank: 1, what }));
}

/// A stopped process keeps its connections, but reads nothing.
#[test]
fn a_peer_that_takes_nothing_does_not_hold_up_the_end() {
    let (mut channel, stopped) = beside_a_fake();
    // More than any socket buffers. Only the first message without room costs the timeout.
    (0..200).for_each(|_| channel.send(1, &vec![0; CHUNK_BYTES]));
    let silent = ControlError::Silent { rank: 1, waited: Duration::from_secs(600) };
    assert_eq!(channel.receive_from(1, Duration::from_secs(600)), Err(silent));
    // Peer messages never wait; the connection is closed above the limit.
    let peer_messages = channel.take_peer_messages().unwrap();
    (0..300).for_each(|_| peer_messages.send(1, &vec![0; CHUNK_BYTES]));
    let gone = loop {
        match peer_messages.try_receive() {
            Some(event) => break event,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    assert_eq!(gone, (1, PeerEvent::Gone(Parting::Ended)));
    let error = channel.receive_from(1, Duration::from_secs(600)).unwrap_err();
    assert!(matches!(error, ControlError::Overrun { rank: 1, bytes } if bytes > 100 << 20), "{error}");
    drop((peer_messages, channel));
    drop(stopped);
}

fn terms() -> Terms {
    Terms::default().with("the call", "all_gather_bytes")
}

/// Makes a call in which rank 1 acts as `begin`, and checks that the next call works.
fn beside(begin: impl FnOnce(&mut Fake)) -> ControlError {
    let (mut channel, mut fake) = beside_a_fake();
    fake.say_in_step(kind::TERMS, &[&serde_json::to_vec(&terms()).unwrap()]);
    begin(&mut fake);
    let called = channel.call(&terms(), TIMEOUT, |channel| channel.hand_over(|_| Some(&[1, 2]), false, TIMEOUT));
    // Rank 1 received the reason.
    while fake.hear().first() != Some(&kind::GIVEN_UP) {}
    fake.say_in_step(kind::TERMS, &[&serde_json::to_vec(&terms()).unwrap()]);
    channel.call(&terms(), TIMEOUT, |_| Ok(())).unwrap();
    called.unwrap_err()
}

#[test]
fn a_peer_that_stops_or_lies_in_the_middle_of_a_call_is_named_and_the_next_call_works() {
    let length = |bytes: u64| bytes.to_le_bytes();
    let silent = ControlError::Silent { rank: 1, waited: TIMEOUT };
    assert_eq!(beside(|_| ()), silent);
    // Only the first piece; no length; pieces of the wrong length.
    let long = CHUNK_BYTES as u64 + 5;
    let piece = |parts: &[&[u8]]| beside(|fake| fake.say_in_step(kind::PIECE, parts));
    assert_eq!(piece(&[&length(long), &vec![0; CHUNK_BYTES]]), silent);
    assert_eq!(piece(&[&[0; 7]]), ControlError::WrongLength { rank: 1, found: 8, expected: 9 });
    assert_eq!(piece(&[&length(5), &[0; 6]]), ControlError::WrongLength { rank: 1, found: 6, expected: 5 });
    assert_eq!(piece(&[&length(5)]), ControlError::WrongLength { rank: 1, found: 0, expected: 5 });
    let second = beside(|fake| {
        fake.say_in_step(kind::PIECE, &[&length(long), &vec![0; CHUNK_BYTES]]);
        fake.say_in_step(kind::PIECE, &[&[0; 4]]);
    });
    assert_eq!(second, ControlError::WrongLength { rank: 1, found: 4, expected: 5 });
    assert_eq!(beside(|fake| fake.say_in_step(kind::TAKEN, &[])), ControlError::WrongMessage { rank: 1 });
    assert_eq!(beside(|fake| fake.say_in_step(kind::GIVEN_UP, &[&[1]])), ControlError::WrongMessage { rank: 1 });
    assert_eq!(beside(|fake| fake.say(frame::IN_STEP, &[])), ControlError::WrongMessage { rank: 1 });
    let given_up = beside(|fake| fake.say_in_step(kind::GIVEN_UP, &[&length(1), b"it rains"]));
    assert_eq!(given_up.to_string(), "rank 1 gave up this call: it rains");
    // Refused before memory is allocated.
    let whole = vec![0; CHUNK_BYTES];
    for bytes in [1 << 60, u64::MAX] {
        let error = beside(|fake| fake.say_in_step(kind::PIECE, &[&length(bytes), &whole]));
        assert!(matches!(error, ControlError::Memory(_)), "{error}");
        assert!(error.to_string().starts_with("the data that this call receives needs "), "{error}");
    }
}

#[test]
fn a_silent_peer_that_says_for_whom_it_waits_is_not_the_one_to_name() {
    let reason = "rank 2 did not make the same call";
    let late = beside(|fake| {
        let mut fake = Fake(fake.0.try_clone().unwrap());
        std::thread::spawn(move || {
            // Later than the timeout, by less than a quarter.
            std::thread::sleep(TIMEOUT + TIMEOUT / 20);
            fake.say_in_step(kind::GIVEN_UP, &[&1u64.to_le_bytes(), reason.as_bytes()]);
        });
    });
    let given_up = ControlError::GivenUp { rank: 1, reason: reason.into() };
    // On a busy machine the reason may arrive too late.
    assert!(late == given_up || late == ControlError::Silent { rank: 1, waited: TIMEOUT }, "{late}");
}

#[test]
fn a_peer_that_breaks_the_rules_from_point_to_point_loses_its_connection_and_is_named() {
    let breaks: [(u8, &[u8], &str); 5] = [
        (frame::POINT, &[77], "a message that cannot be read"),
        (9, &[], "a message of kind 9"),
        (frame::POINT, &[4, 1, 0, 0, 0, 0, 0, 0, 0], "more taken than was sent"),
        (frame::RECEIVED, &[1, 0, 0, 0, 0, 0, 0, 0], "a confirmation of 1 messages, expected 0 to 0"),
        (frame::RECEIVED, &[1], "a confirmation of the wrong length"),
    ];
    for (kind, message, what) in breaks {
        let (mut channel, mut fake) = beside_a_fake();
        let receive = channel.mailbox().receive(Some(1), Tag { space: Space::Caller, tag: 1 });
        fake.say(kind, message);
        let runtime = runtime::Builder::new_current_thread().build().unwrap();
        let expected = ControlError::Broken { rank: 1, what: what.into() };
        assert_eq!(runtime.block_on(receive), Err(expected));
        // Calls report the rank as gone.
        assert_eq!(channel.barrier(TIMEOUT), Err(ControlError::Gone(1)));
    }
}

#[test]
fn a_peer_that_sends_calls_ahead_without_end_loses_its_connection() {
    let (mut channel, mut fake) = beside_a_fake();
    let piece = vec![kind::PIECE; CHUNK_BYTES];
    let length = (piece.len() as u32).to_le_bytes();
    let message = [&length[..], &[frame::IN_STEP], &piece].concat();
    let sent = (0..200).take_while(|_| fake.0.write_all(&message).is_ok()).count();
    assert!((127..200).contains(&sent), "{sent} messages of half a MiB were taken");
    assert_eq!(channel.barrier(TIMEOUT), Err(ControlError::Gone(1)));
    // Received messages do not count against the limit.
    let (mut channel, mut fake) = beside_a_fake();
    for _ in 0..200 {
        fake.0.write_all(&message).unwrap();
        assert_eq!(channel.receive_from(1, Duration::from_secs(20)).unwrap().len(), CHUNK_BYTES);
    }
}

#[test]
fn a_message_may_take_longer_than_the_timeout_so_long_as_something_of_it_comes() {
    const PARTS: usize = 8;
    let (channel, mut fake) = with_timeout(LONG);
    let receive = channel.mailbox().receive(Some(1), Tag { space: Space::Caller, tag: 1 });
    let peer = std::thread::spawn(move || {
        let number = |number: u64| number.to_le_bytes();
        let (id, tag) = (number(5), 1u32.to_le_bytes());
        fake.say(frame::POINT, &[&[0], &id[..], &[0], &tag, &number(PARTS as u64)].concat());
        assert_eq!(fake.hear(), [&[3], &id[..], &number(PARTS as u64)].concat(), "all bytes are requested");
        for part in 0..PARTS {
            std::thread::sleep(LONG / 6);
            fake.say(frame::POINT, &[&[2], &id[..], &[part as u8]].concat());
        }
        fake
    });
    let runtime = runtime::Builder::new_current_thread().build().unwrap();
    let received = runtime.block_on(receive).unwrap();
    assert_eq!((received.rank, received.bytes), (1, (0..PARTS as u8).collect()));
    drop(peer.join().unwrap());
}
