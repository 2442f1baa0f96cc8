//! Point-to-point messages.

use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use optireduce::{Communicator, ErrorKind, ExactOp, Message, Request};

use super::random::Random;
use super::ranks::{builder, job};

/// Bytes that a rank buffers from each peer before a receive is posted.
const KEPT: usize = 8 << 20;

fn pair<T: Send + 'static>(rank: impl Fn(usize, Communicator) -> T + Clone + Send + 'static) -> Vec<T> {
    job(2, move |number, root| rank(number, Communicator::connect(builder(number, 2, &root)).wait().unwrap()))
}

#[test]
fn messages_of_a_rank_with_the_same_tag_come_in_order_whatever_their_sizes() {
    pair(|rank, communicator| {
        // Longer than the buffer, empty, and both kinds in a row.
        let lengths = [5, KEPT + 7, 0, 700_000, KEPT, 1];
        if rank == 0 {
            let sends = lengths.map(|length| communicator.send(1, 3, vec![length as u8; length]));
            communicator.send(1, 4, b"another tag".to_vec()).wait().unwrap();
            sends.into_iter().for_each(|send| send.wait().unwrap());
        } else {
            assert_eq!(communicator.recv(0, 4).wait().unwrap().bytes, b"another tag");
            for length in lengths {
                assert!(communicator.recv(0, 3).wait().unwrap().bytes == vec![length as u8; length], "{length} bytes");
            }
        }
        communicator.close().wait().unwrap();
    });
}

#[test]
fn receives_that_are_outstanding_hold_up_no_collective_and_collectives_no_receive() {
    pair(|rank, mut communicator| {
        let peer = 1 - rank;
        let mut early = communicator.recv(Some(peer), 9);
        let large = communicator.recv(Some(peer), 10);
        assert_eq!(communicator.exact().all_reduce(vec![1i64], ExactOp::Sum).wait().unwrap(), [2]);
        communicator.barrier().wait().unwrap();
        assert!(!early.is_finished() && !early.wait_timeout(Duration::from_millis(20)));
        communicator.barrier().wait().unwrap();
        // A call that waits for the other rank, which waits for this message first.
        let barrier = if rank == 0 { None } else { Some(communicator.barrier()) };
        communicator.send(peer, 9, vec![rank as u8]).wait().unwrap();
        assert_eq!(early.wait().unwrap().bytes, [peer as u8]);
        let send = communicator.send(peer, 10, vec![rank as u8; 3 * KEPT]);
        let received = large.wait().unwrap();
        assert!(received.rank == peer && received.bytes == vec![peer as u8; 3 * KEPT]);
        send.wait().unwrap();
        barrier.unwrap_or_else(|| communicator.barrier()).wait().unwrap();
        communicator.close().wait().unwrap();
    });
}

#[test]
fn two_ranks_that_both_send_before_they_receive_do_not_wait_for_one_another() {
    pair(|rank, communicator| {
        let peer = 1 - rank;
        communicator.send(peer, 0, vec![rank as u8; 5 << 20]).wait().unwrap();
        let send = communicator.send(peer, 0, vec![rank as u8; 5 * KEPT]);
        assert!(communicator.recv(peer, 0).wait().unwrap().bytes == vec![peer as u8; 5 << 20]);
        assert!(communicator.recv(peer, 0).wait().unwrap().bytes == vec![peer as u8; 5 * KEPT]);
        send.wait().unwrap();
        communicator.close().wait().unwrap();
    });
}

#[test]
fn a_rank_may_send_to_itself_and_receive_from_any_rank() {
    pair(|rank, mut communicator| {
        let own = communicator.recv(Some(rank), 1);
        communicator.send(rank, 1, b"note".to_vec()).wait().unwrap();
        assert_eq!(own.wait().unwrap().bytes, b"note");
        let long = communicator.send(rank, 1, vec![5; 2 * KEPT]);
        assert!(communicator.recv(rank, 1).wait().unwrap().bytes == vec![5; 2 * KEPT]);
        long.wait().unwrap();
        communicator.send(0, u32::MAX, vec![rank as u8]).wait().unwrap();
        if rank == 0 {
            let mut from = [(); 2].map(|()| {
                let message = communicator.recv(None, u32::MAX).wait().unwrap();
                assert_eq!(message.bytes, [message.rank as u8]);
                message.rank
            });
            from.sort_unstable();
            assert_eq!(from, [0, 1]);
        }
        communicator.barrier().wait().unwrap();
    });
}

enum Begun {
    Send(Request<()>),
    /// With the number of the message.
    Receive(usize, Request<Message>),
}

/// Each rank draws all ranks' messages from the seed, and so can check them. It begins its sends
/// and receives in its own order while collectives run.
#[test]
fn storms_of_messages_in_random_order_come_whole_once_and_in_order() {
    const RANKS: usize = 4;
    const MESSAGES: usize = 150;
    let seed = Random::seed();
    job(RANKS, move |rank, root| {
        let mut communicator = Communicator::connect(builder(rank, RANKS, &root)).wait().unwrap();
        let mut random = Random::new(seed, 1);
        let lengths = [0, 10, 3000, 600_000, 1 << 20];
        let messages: Vec<(usize, usize, u32, usize)> = (0..RANKS * MESSAGES)
            .map(|_| {
                let [from, to] = [(); 2].map(|()| random.below(RANKS as u64) as usize);
                let length = lengths[random.below(lengths.len() as u64) as usize];
                (from, to, random.below(3) as u32, length + random.below(9) as usize)
            })
            .collect();
        let content = |index: usize, length: usize| Random::new(seed, 1000 + index as u64).bytes(length);
        let mut random = Random::new(seed, 2 + rank as u64);
        let mut sends = (0..messages.len()).filter(|index| messages[*index].0 == rank).peekable();
        let mut receives = (0..messages.len()).filter(|index| messages[*index].1 == rank).peekable();
        let mut begun: Vec<Begun> = Vec::new();
        let mut pending = Vec::new();
        while sends.peek().is_some() || receives.peek().is_some() {
            if random.below(2) == 0
                && let Some(index) = sends.next()
            {
                let (_, to, tag, length) = messages[index];
                begun.push(Begun::Send(communicator.send(to, tag, content(index, length))));
            } else if let Some(index) = receives.next() {
                let (from, _, tag, _) = messages[index];
                begun.push(Begun::Receive(index, communicator.recv(from, tag)));
            }
            if random.below(20) == 0 {
                let at = random.below(begun.len() as u64) as usize;
                let _ = match &mut begun[at] {
                    Begun::Send(send) => send.is_finished(),
                    Begun::Receive(_, receive) => receive.is_finished(),
                };
            }
            if begun.len().is_multiple_of(40) && pending.len() < 4 {
                pending.push(communicator.barrier());
            }
        }
        while pending.len() < 4 {
            pending.push(communicator.barrier());
        }
        while !begun.is_empty() {
            match begun.swap_remove(random.below(begun.len() as u64) as usize) {
                Begun::Send(send) => send.wait().unwrap(),
                Begun::Receive(index, receive) => {
                    let Message { rank: peer, bytes, .. } = receive.wait().unwrap();
                    let (from, to, tag, length) = messages[index];
                    let what = format!("message {index} of {from} to {to} with tag {tag}, {length} bytes");
                    assert!(peer == from && bytes == content(index, length), "{what}: {} bytes", bytes.len());
                }
            }
        }
        pending.into_iter().for_each(|barrier| barrier.wait().unwrap());
        communicator.close().wait().unwrap();
    });
}

#[test]
fn transfers_may_be_used_on_several_threads_beside_collectives() {
    pair(|rank, mut communicator| {
        let peer = 1 - rank;
        let all: Vec<_> = (0..4).map(|tag| communicator.recv(Some(peer), tag)).collect();
        thread::scope(|scope| {
            let communicator = &communicator;
            for tag in 0..4 {
                scope.spawn(move || communicator.send(peer, tag, vec![tag as u8; 1000]).wait().unwrap());
            }
        });
        let waiting = all.into_iter().map(|transfer| thread::spawn(|| transfer.wait().unwrap().bytes));
        let waiting: Vec<_> = waiting.collect();
        communicator.barrier().wait().unwrap();
        for (tag, bytes) in waiting.into_iter().enumerate() {
            assert_eq!(bytes.join().unwrap(), [tag as u8; 1000]);
        }
        communicator.close().wait().unwrap();
    });
}

#[test]
fn a_receive_that_is_dropped_takes_nothing_and_a_send_that_is_dropped_does_not_come() {
    pair(|rank, mut communicator| {
        if rank == 0 {
            drop(communicator.send(1, 5, vec![1; 2 * KEPT]));
            communicator.barrier().wait().unwrap();
            communicator.send(1, 5, b"after it".to_vec()).wait().unwrap();
        } else {
            drop(communicator.recv(Some(0), 5));
            drop(communicator.recv(None, 5));
            communicator.barrier().wait().unwrap();
            assert_eq!(communicator.recv(0, 5).wait().unwrap().bytes, b"after it");
        }
        communicator.close().wait().unwrap();
    });
}

#[test]
fn what_nobody_sends_or_receives_is_an_error_at_the_timeout_and_the_ranks_go_on() {
    job(2, |rank, root| {
        let mut communicator =
            Communicator::connect(builder(rank, 2, &root).timeout(Duration::from_secs(5))).wait().unwrap();
        let peer = 1 - rank;
        let mut waiting = communicator.recv(Some(peer), 5);
        let receive = communicator.recv(Some(peer), 6);
        let send = communicator.send(peer, 7, vec![0; KEPT]);
        assert!(!waiting.wait_timeout(Duration::from_millis(50)), "it stays outstanding");
        let receiving = thread::spawn(|| receive.wait().unwrap_err().to_string());
        let sending = thread::spawn(|| send.wait().unwrap_err().to_string());
        let errors = [receiving, sending].map(|error| error.join().unwrap());
        let expected = format!("no message with tag 6 arrived from rank {peer} within 5 s; did it send to this rank, ");
        assert!(errors[0].starts_with(&expected), "{errors:?}");
        let expected = format!("rank {peer} did not receive 8388608 bytes with tag 7 within 5 s; it must post a");
        assert!(errors[1].starts_with(&expected), "{errors:?}");
        assert!(!waiting.is_finished(), "no rank waits for it, so it does not time out");
        communicator.barrier().wait().unwrap();
        (5..8).for_each(|tag| communicator.send(peer, tag, vec![tag as u8]).wait().unwrap());
        assert_eq!(waiting.wait().unwrap().bytes, [5]);
        (6..8).for_each(|tag| assert_eq!(communicator.recv(peer, tag).wait().unwrap().bytes, [tag as u8]));
        communicator.close().wait().unwrap();
    });
}

#[test]
fn a_rank_that_has_ended_fails_what_waits_for_it_at_once_and_what_it_sent_before_comes() {
    let begun = Arc::new(Barrier::new(3));
    job(3, move |rank, root| {
        let mut communicator =
            Communicator::connect(builder(rank, 3, &root).timeout(Duration::from_secs(600))).wait().unwrap();
        communicator.barrier().wait().unwrap();
        if rank == 2 {
            communicator.send(0, 1, b"the last words".to_vec()).wait().unwrap();
            communicator.send(1, 1, b"the last words".to_vec()).wait().unwrap();
            begun.wait();
            return;
        }
        let receives = [communicator.recv(2, 2), communicator.recv(None, 2)];
        let send = communicator.send(2, 2, vec![0; 2 * KEPT]);
        begun.wait();
        for error in receives.map(|receive| receive.wait().unwrap_err()).into_iter().chain([send.wait().unwrap_err()]) {
            assert_eq!((error.kind(), error.rank()), (ErrorKind::Peer, Some(2)), "{error}");
        }
        assert_eq!(communicator.recv(2, 1).wait().unwrap().bytes, b"the last words");
        let error = communicator.recv(2, 1).wait().unwrap_err().to_string();
        assert!(error.starts_with("the connection to rank 2 has ended"), "{error}");
        assert!(communicator.send(2, 1, vec![]).wait().is_err());
        let peer = 1 - rank;
        communicator.send(peer, 3, vec![rank as u8]).wait().unwrap();
        assert_eq!(communicator.recv(peer, 3).wait().unwrap().bytes, [peer as u8]);
    });
}

#[test]
fn what_may_be_outstanding_has_a_limit_that_is_named() {
    pair(|rank, mut communicator| {
        let full = communicator.send(1 - rank, 1, vec![0; KEPT - 256]);
        let sends: Vec<_> = (0..4096).map(|_| communicator.send(1 - rank, 2, vec![])).collect();
        let error = communicator.send(1 - rank, 2, vec![]).wait().unwrap_err().to_string();
        assert!(error.starts_with("too many sends to one rank are outstanding, expected at most 4096;"), "{error}");
        full.wait().unwrap();
        communicator.barrier().wait().unwrap();
        drop(sends);
        assert_eq!(communicator.recv(1 - rank, 1).wait().unwrap().bytes.len(), KEPT - 256);
        let receives: Vec<_> = (0..1 << 16).map(|_| communicator.recv(None, 3)).collect();
        let error = communicator.recv(1 - rank, 3).wait().unwrap_err().to_string();
        assert!(error.starts_with("too many receives are outstanding, expected at most 65536;"), "{error}");
        drop(receives);
        let error = communicator.recv(2, 3).wait().unwrap_err().to_string();
        assert_eq!(error, "there is no rank 2 in a job of 2 ranks; expected 0 to 1");
        assert!(communicator.send(2, 3, vec![]).wait().is_err());
        communicator.barrier().wait().unwrap();
        communicator.close().wait().unwrap();
    });
}

#[test]
fn what_waits_when_a_communicator_is_dropped_ends() {
    pair(|_, mut communicator| {
        let begin = Instant::now();
        communicator.barrier().wait().unwrap();
        let mut receive = communicator.recv(None, 1);
        let mut polled = std::pin::pin!(communicator.recv(None, 2));
        assert!(matches!(polled.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
        communicator.barrier().wait().unwrap();
        drop(communicator);
        while !receive.is_finished() {
            assert!(begin.elapsed() < Duration::from_secs(60));
        }
        assert!(receive.wait().is_err());
        assert!(matches!(polled.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Err(_))));
    });
}
