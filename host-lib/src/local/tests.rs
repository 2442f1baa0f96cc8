use std::io::Write as _;
use std::net::Shutdown;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::*;

const TAG: u64 = 0x0123_4567_89ab_cdef;

fn listeners(ranks: usize) -> (Vec<Listener>, Vec<Address>) {
    let listeners: Vec<Listener> = (0..ranks).map(|_| Listener::bind().unwrap()).collect();
    let addresses = listeners.iter().map(|listener| listener.address().clone()).collect();
    (listeners, addresses)
}

fn in_time(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

/// Ranks of one host that have met.
fn met(ranks: usize) -> Vec<Local> {
    meet_at(listeners(ranks))
}

/// All ranks meet, each at its listener.
fn meet_at((listeners, addresses): (Vec<Listener>, Vec<Address>)) -> Vec<Local> {
    let addresses: Vec<_> = addresses.iter().map(Some).collect();
    std::thread::scope(|threads| {
        let meet = |(rank, listener)| {
            let addresses = &addresses;
            threads.spawn(move || Local::meet(listener, rank, addresses, TAG, in_time(20)).unwrap())
        };
        let meeting: Vec<_> = listeners.into_iter().enumerate().map(meet).collect();
        meeting.into_iter().map(|local| local.join().unwrap()).collect()
    })
}

/// Sleeps until a bell rings, half a second at most; whether one did.
fn sleep(local: &mut Local) -> bool {
    let timeout = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
    let mut rung = false;
    if local.doze() {
        let mut fds = [PollFd::new(&*local, PollFlags::IN)];
        rung = poll(&mut fds, Some(&timeout)).unwrap() > 0;
        local.rouse();
    }
    local.answer();
    rung
}

/// A datagram of any length, and what is in it, by its number.
fn datagram(number: u32) -> ([u8; UBT_BYTES], Vec<u8>) {
    let mut header = [0xa5; UBT_BYTES];
    header[..4].copy_from_slice(&number.to_le_bytes());
    let bytes = number.wrapping_mul(0x9e37_79b9) as usize % 8897 / 8 * 8;
    (header, (0..bytes).map(|at| (at as u32 ^ number) as u8).collect())
}

fn send(local: &mut Local, to: usize, number: u32) -> bool {
    let (header, payload) = datagram(number);
    local.send(to, std::iter::once((&header, &payload[..]))) == 1
}

#[test]
fn all_ranks_of_a_host_pass_datagrams_whole_and_in_order_and_sleep_in_between() {
    const RANKS: usize = 3;
    const DATAGRAMS: u32 = 3000;
    let sleeps = std::thread::scope(|threads| {
        let run = |(rank, mut local): (usize, Local)| {
            threads.spawn(move || {
                assert_eq!(local.ranks().collect::<Vec<_>>(), (0..RANKS).filter(|to| *to != rank).collect::<Vec<_>>());
                let (mut sent, mut received, mut slept) = ([0; RANKS], [0; RANKS], 0);
                (sent[rank], received[rank]) = (DATAGRAMS, DATAGRAMS);
                while sent.iter().chain(&received).any(|count| *count < DATAGRAMS) {
                    let mut busy = false;
                    for to in (0..RANKS).filter(|to| *to != rank) {
                        if sent[to] < DATAGRAMS && local.has_room(to) {
                            assert!(send(&mut local, to, sent[to]));
                            sent[to] += 1;
                            busy = true;
                        }
                    }
                    busy |= local.receive(|from, bytes| {
                        let (header, payload) = datagram(received[from]);
                        assert_eq!(bytes, [&header[..], &payload].concat(), "{} of rank {from}", received[from]);
                        received[from] += 1;
                    });
                    if !busy {
                        slept += 1;
                        sleep(&mut local);
                    }
                }
                slept
            })
        };
        let running: Vec<_> = met(RANKS).into_iter().enumerate().map(run).collect();
        running.into_iter().map(|rank| rank.join().unwrap()).sum::<u32>()
    });
    assert!(sleeps > 0);
}

/// Processes of the same user that say nothing, or nonsense, at the sockets where ranks meet, and take up their backlog.
#[test]
fn strangers_at_the_door_keep_no_rank_from_meeting() {
    const RANKS: usize = 3;
    let (listeners, addresses) = listeners(RANKS);
    let strangers: Vec<UnixStream> = (0..4 * RANKS)
        .map(|stranger| {
            let address = serde_json::to_value(&addresses[stranger % RANKS]).unwrap();
            let name = address["socket"].as_str().unwrap().as_bytes();
            let mut stream = UnixStream::connect_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap();
            match stranger / RANKS {
                0 => {}
                1 => stream.write_all(b"GET / HTTP/1.1\r\n").unwrap(),
                2 => stream.write_all(&[0xa5; 4096]).unwrap(),
                _ => stream.shutdown(Shutdown::Both).unwrap(),
            }
            stream
        })
        .collect();
    for (rank, local) in meet_at((listeners, addresses)).iter().enumerate() {
        assert!(local.ranks().eq((0..RANKS).filter(|other| *other != rank)), "rank {rank}");
    }
    drop(strangers);
}

/// A reader that rings only once it has read all leaves the sender asleep meanwhile, and sleeps itself until the ring is filled again: the
/// two take turns, and what a scheduler makes of that on a busy host is a stage that misses its bound.
#[test]
fn a_full_ring_holds_back_its_rank_only_and_the_reader_wakes_the_sender_when_half_of_it_is_free() {
    let mut ranks = met(3);
    let (mut sent, mut received, mut lines) = (0, 0, 0);
    while ranks[0].has_room(1) {
        assert!(send(&mut ranks[0], 1, sent));
        sent += 1;
    }
    assert!(sent > 10 && ranks[0].has_room(2));
    while send(&mut ranks[0], 1, sent) {
        sent += 1;
    }
    assert!(!ranks[0].has_room(1) && ranks[0].doze());
    let all_lines = ranks[0].peers[0].sender.written() as usize;
    let half = all_lines - ranks[0].layout.lines / 2;
    loop {
        assert!(ranks[1].receive(|_, bytes| {
            assert_eq!(bytes[..4], u32::to_le_bytes(received));
            (received, lines) = (received + 1, lines + 1 + (bytes.len() - UBT_BYTES).div_ceil(LINE_BYTES));
        }));
        assert_eq!(rung(&ranks[0]), lines >= half, "{lines} of {all_lines} lines read, half are free from {half} on");
        if lines >= half {
            break;
        }
    }
    assert!(received < sent, "the reader is not through");
    assert!(sleep_rings(&mut ranks[0]) && !ranks[0].doze(), "there is room again");
    assert!(ranks[0].has_room(1) && ranks[0].doze());
    while ranks[1].receive(|_, _| received += 1) {}
    assert_eq!(received, sent);
    assert!(!rung(&ranks[0]), "nothing waits any more");
}

/// Whether a bell has rung, and was not answered.
fn rung(local: &Local) -> bool {
    poll(&mut [PollFd::new(local, PollFlags::IN)], Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() > 0
}

/// Whether a bell has rung.
fn sleep_rings(local: &mut Local) -> bool {
    let rung = rung(local);
    local.answer();
    rung
}

#[test]
fn who_sleeps_is_woken_once_and_who_does_not_is_left_alone() {
    let mut ranks = met(2);
    assert!(!sleep(&mut ranks[0]), "nobody rings without a reason");
    assert!(ranks[0].doze());
    assert!(send(&mut ranks[1], 0, 0) && send(&mut ranks[1], 0, 1));
    let mut bytes = [0; 8];
    let rung = recv(&ranks[0].peers[0].socket, &mut bytes, RecvFlags::DONTWAIT).unwrap().0;
    assert_eq!(rung, 1, "two datagrams, one byte");
    assert!(!ranks[0].doze(), "there are datagrams");
    ranks[0].rouse();
    assert!(ranks[0].receive(|_, _| ()));
    assert!(send(&mut ranks[1], 0, 2));
    assert!(!sleep_rings(&mut ranks[0]), "it does not sleep");
}

#[test]
fn what_a_process_has_written_before_its_end_is_read() {
    let mut ranks = met(2);
    let mut ends = ranks.pop().unwrap();
    assert!(send(&mut ends, 0, 7));
    drop(ends);
    while sleep_rings(&mut ranks[0]) {}
    assert!(!ranks[0].reaches(1) && ranks[0].ranks().count() == 0);
    let mut read = Vec::new();
    assert!(ranks[0].receive(|from, bytes| read.push((from, bytes[0]))));
    assert_eq!(read, [(1, 7)]);
    assert!(ranks[0].doze() && !sleep_rings(&mut ranks[0]), "an end is told once");
}

#[test]
fn ranks_that_cannot_share_memory_do_without_and_hold_up_nobody() {
    let meet_with = |alter: &(dyn Fn(usize) -> (u64, bool) + Sync)| {
        let (listeners, addresses) = listeners(2);
        let addresses: Vec<_> = addresses.iter().map(Some).collect();
        std::thread::scope(|threads| {
            let meet = |(rank, listener)| {
                let addresses = &addresses;
                threads.spawn(move || {
                    let (tag, has_memory) = alter(rank);
                    if has_memory {
                        return Local::meet(listener, rank, addresses, tag, in_time(4)).is_some();
                    }
                    let party = Party { rank, group: &[0, 1], layout: Layout::new(2), tag };
                    !super::meet(listener, None, party, |rank| addresses[rank], in_time(4)).is_empty()
                })
            };
            let meeting: Vec<_> = listeners.into_iter().enumerate().map(meet).collect();
            meeting.into_iter().map(|met| met.join().unwrap()).collect::<Vec<_>>()
        })
    };
    assert_eq!(meet_with(&|_| (TAG, true)), [true, true]);
    assert_eq!(meet_with(&|rank| (TAG + rank as u64, true)), [false, false], "of different jobs");
    assert_eq!(meet_with(&|rank| (TAG, rank != 0)), [false, false], "the lower has no segment to give");
    assert_eq!(meet_with(&|rank| (TAG, rank != 1)), [false, false], "the higher has none");
}

#[test]
fn a_rank_that_never_comes_is_waited_for_until_the_deadline() {
    let (mut listeners, addresses) = listeners(3);
    let addresses: Vec<_> = addresses.iter().map(Some).collect();
    listeners.truncate(2);
    std::thread::scope(|threads| {
        let meet = |(rank, listener)| {
            let addresses = &addresses;
            threads.spawn(move || Local::meet(listener, rank, addresses, TAG, in_time(1)).unwrap())
        };
        let meeting: Vec<_> = listeners.drain(..).enumerate().map(meet).collect();
        for (rank, local) in meeting.into_iter().map(|local| local.join().unwrap()).enumerate() {
            assert_eq!(local.ranks().collect::<Vec<_>>(), [1 - rank]);
        }
    });
}

#[test]
fn only_ranks_of_the_same_host_share_memory() {
    let (listeners, addresses) = listeners(3);
    let other: Address =
        serde_json::from_str(&serde_json::to_string(&addresses[1]).unwrap().replace(' ', " other ")).unwrap();
    let group = |addresses: &[Option<&Address>]| listeners[0].group(addresses.iter().copied());
    assert_eq!(group(&[Some(&addresses[0]), Some(&other), Some(&addresses[2])]), Some(vec![0, 2]));
    assert_eq!(group(&[Some(&addresses[0]), Some(&other), None]), None);
    assert_eq!(group(&[Some(&addresses[0]); 65]), None, "too many");
}

/// A peer that writes anything anywhere in its memory, at any time, in another thread: nothing of it is a panic, a hang, or an
/// access beyond its segment, and the third rank is served as ever.
#[test]
fn a_rank_that_scribbles_over_its_memory_harms_only_itself() {
    let mut harmed = 0;
    for seed in 0..60_u64 {
        let mut ranks = met(3);
        let (mut third, hostile, mut victim) = (ranks.pop().unwrap(), ranks.pop().unwrap(), ranks.pop().unwrap());
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let (words, mut state) = (hostile.own.words(), seed);
                let mut next = || {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    state >> 33
                };
                while !done.load(Ordering::Relaxed) {
                    let value =
                        [0, 1, next() % 100, next() % 10_000, u64::MAX - next(), next() << 32][next() as usize % 6];
                    // The counts more often than the rest; what cannot be at once ends it too soon.
                    let at = if next() % 4 == 0 { next() as usize % 32 } else { next() as usize % words.len() };
                    words[at].store(value, Ordering::Relaxed);
                }
            });
            let (mut sent, mut received) = (0, 0);
            while received < 500 {
                if victim.has_room(2) && sent < 500 {
                    assert!(send(&mut victim, 2, sent));
                    sent += 1;
                }
                if victim.reaches(1) && victim.has_room(1) {
                    send(&mut victim, 1, sent);
                }
                victim.receive(|from, bytes| assert!(from == 1 && bytes.len() >= UBT_BYTES));
                third.receive(|from, bytes| {
                    if from == 0 {
                        assert_eq!(bytes[..4], u32::to_le_bytes(received));
                        received += 1;
                    }
                });
                if victim.doze() {
                    victim.rouse();
                }
                victim.answer();
            }
            done.store(true, Ordering::Relaxed);
        });
        harmed += usize::from(!victim.reaches(1));
        assert!(victim.reaches(2) && third.reaches(0), "seed {seed}");
    }
    assert!(harmed > 0, "{harmed} of 60 times the scribbling was found out");
}
