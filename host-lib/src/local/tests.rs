mod rings;

use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, recv};

use super::regions::Unreadable;
use super::ring::Broken;
use super::*;
use crate::buffer::Buffer;

const TAG: u64 = 0x0123_4567_89ab_cdef;

fn listeners(ranks: usize) -> (Vec<Listener>, Vec<Address>) {
    let listeners: Vec<Listener> = (0..ranks).map(|_| Listener::bind().unwrap()).collect();
    let addresses = listeners.iter().map(|listener| listener.address().clone()).collect();
    (listeners, addresses)
}

fn in_time(seconds: u64) -> Instant {
    Instant::now() + Duration::from_secs(seconds)
}

fn met(ranks: usize) -> Vec<Local> {
    meet_at(listeners(ranks))
}

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

/// Returns whether there was a wake-up within half a second.
fn sleep(local: &mut Local) -> bool {
    let timeout = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
    let mut rung = false;
    if local.doze() {
        let bells = local.bells();
        let mut fds = [PollFd::new(&*bells, PollFlags::IN)];
        rung = poll(&mut fds, Some(&timeout)).unwrap() > 0;
        local.rouse();
    }
    local.answer();
    rung
}

fn datagram(number: u32) -> ([u8; UBT_BYTES], Vec<u8>) {
    let mut header = [0xa5; UBT_BYTES];
    header[..4].copy_from_slice(&number.to_le_bytes());
    let bytes = number.wrapping_mul(0x9e37_79b9) as usize % 8897 / 8 * 8;
    (header, (0..bytes).map(|at| (at as u32 ^ number) as u8).collect())
}

fn receive_all(local: &mut Local, mut take: impl FnMut(usize, &[u8])) -> bool {
    local.receive(|from, bytes| {
        take(from, bytes);
        ControlFlow::Continue(())
    })
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
                    busy |= receive_all(&mut local, |from, bytes| {
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

/// The strangers send nothing or garbage, and fill the backlog.
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
                _ => stream.shutdown(std::net::Shutdown::Both).unwrap(),
            }
            stream
        })
        .collect();
    for (rank, local) in meet_at((listeners, addresses)).iter().enumerate() {
        assert!(local.ranks().eq((0..RANKS).filter(|other| *other != rank)), "rank {rank}");
    }
    drop(strangers);
}

/// A wake-up only after the last read would make sender and reader take turns, which on a busy host
/// costs enough time for a stage to miss its bound.
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
        assert!(receive_all(&mut ranks[1], |_, bytes| {
            assert_eq!(bytes[..4], u32::to_le_bytes(received));
            (received, lines) = (received + 1, lines + 1 + (bytes.len() - UBT_BYTES).div_ceil(LINE_BYTES));
        }));
        assert_eq!(rung(&ranks[0]), lines >= half, "{lines} of {all_lines} lines read, half are free from {half} on");
        if lines >= half {
            break;
        }
    }
    assert!(received < sent, "the reader is not done");
    assert!(sleep_rings(&mut ranks[0]) && !ranks[0].doze(), "there is room again");
    assert!(ranks[0].has_room(1) && ranks[0].doze());
    while receive_all(&mut ranks[1], |_, _| received += 1) {}
    assert_eq!(received, sent);
    assert!(!rung(&ranks[0]), "no datagram is waiting");
}

fn rung(local: &Local) -> bool {
    poll(&mut [PollFd::new(&*local.bells(), PollFlags::IN)], Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() > 0
}

fn sleep_rings(local: &mut Local) -> bool {
    let rung = rung(local);
    local.answer();
    rung
}

#[test]
fn who_sleeps_is_woken_once_and_who_does_not_is_left_alone() {
    let mut ranks = met(2);
    assert!(!sleep(&mut ranks[0]), "a wake-up without a reason");
    assert!(ranks[0].doze());
    assert!(send(&mut ranks[1], 0, 0) && send(&mut ranks[1], 0, 1));
    let mut bytes = [0; 8];
    let rung = recv(&ranks[0].peers[0].socket, &mut bytes, RecvFlags::DONTWAIT).unwrap().0;
    assert_eq!(rung, 1, "two datagrams, one byte");
    assert!(!ranks[0].doze(), "there are datagrams");
    ranks[0].rouse();
    assert!(receive_all(&mut ranks[0], |_, _| ()));
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
    assert!(receive_all(&mut ranks[0], |from, bytes| read.push((from, bytes[0]))));
    assert_eq!(read, [(1, 7)]);
    assert!(ranks[0].doze() && !sleep_rings(&mut ranks[0]), "an end is reported once");
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
    assert_eq!(meet_with(&|rank| (TAG, rank != 0)), [false, false], "the lower has no segment");
    assert_eq!(meet_with(&|rank| (TAG, rank != 1)), [false, false], "the higher has no segment");
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

/// The hostile rank must cause no panic, hang or access beyond its segment.
#[test]
fn a_rank_that_scribbles_over_its_memory_harms_only_itself() {
    let mut harmed = 0;
    for seed in 0..60_u64 {
        let mut ranks = met(3);
        let (mut third, mut hostile, mut victim) = (ranks.pop().unwrap(), ranks.pop().unwrap(), ranks.pop().unwrap());
        // With a lent region, random words may name a region that exists.
        let lent = Buffer::new(1 << 16).unwrap();
        assert!(send_from(&mut hostile, 0, 0, &lent, 0..1024));
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
                    // Counts are hit more often, but not always: an impossible count ends the ring.
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
                receive_all(&mut victim, |from, bytes| assert!(from == 1 && bytes.len() >= UBT_BYTES));
                receive_all(&mut third, |from, bytes| {
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
    assert!(harmed > 0, "{harmed} of 60 times the scribbling was detected");
}

fn send_from(local: &mut Local, to: usize, number: u32, buffer: &Buffer, elements: Range<usize>) -> bool {
    let (header, _) = datagram(number);
    let payload = zerocopy::IntoBytes::as_bytes(&buffer[elements]);
    local.send(to, std::iter::once((&header, payload))) == 1
}

fn addresses(buffer: &Buffer) -> Range<usize> {
    let begin = buffer.as_ptr().addr();
    begin..begin + size_of_val(&buffer[..])
}

fn filled(elements: usize, value: f32) -> Buffer {
    let mut buffer = Buffer::new(elements).unwrap();
    buffer.fill(value);
    buffer
}

/// Each datagram has a single value.
fn received(local: &mut Local) -> Vec<f32> {
    let mut values = Vec::new();
    receive_all(local, |_, bytes| {
        let payload: Vec<f32> =
            bytes[UBT_BYTES..].as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        assert!(payload.iter().all(|value| *value == payload[0]), "{:?} and others", payload[0]);
        values.push(payload[0]);
    });
    values
}

#[test]
fn lent_memory_is_read_where_it_lies_until_it_is_given_back() {
    let mut ranks = met(3);
    let mut buffer = filled(4096, 1.0);
    for to in [1, 2] {
        assert!(send_from(&mut ranks[0], to, 0, &buffer, 64..1088));
        assert!(send_from(&mut ranks[0], to, 0, &buffer, 1088..2048));
    }
    assert_eq!(received(&mut ranks[1]), [1.0, 1.0]);
    buffer.fill(2.0);
    assert_eq!(received(&mut ranks[2]), [2.0, 2.0]);
    for to in [1, 2] {
        assert!(send_from(&mut ranks[0], to, 0, &buffer, 0..1024));
    }
    assert_eq!(received(&mut ranks[1]), [2.0]);
    let given_back = addresses(&buffer);
    ranks[0].settle(&(given_back.start + 4096..given_back.end));
    buffer.fill(3.0);
    assert_eq!(received(&mut ranks[2]), [3.0], "another part was settled");
    assert!(send_from(&mut ranks[0], 2, 0, &buffer, 0..1024));
    ranks[0].settle(&given_back);
    buffer.fill(4.0);
    assert_eq!(received(&mut ranks[2]), [3.0]);
    // Unaligned and short payloads go through the ring.
    for elements in [1..1025, 0..64, 0..1025] {
        assert!(send_from(&mut ranks[0], 1, 0, &buffer, elements));
    }
    buffer.fill(5.0);
    assert_eq!(received(&mut ranks[1]), [4.0; 3]);
    assert_eq!(ranks[1].peers[0].regions.len(), 1);
}

#[test]
fn memory_that_is_freed_is_unmapped_by_those_that_could_read_it() {
    let mut ranks = met(2);
    for round in 0..200 {
        let buffer = filled(50_000, 1.0);
        assert!(send_from(&mut ranks[0], 1, 0, &buffer, 0..1024), "round {round}");
        drop(buffer);
        assert_eq!(received(&mut ranks[1]), [1.0], "memory outlives its owner until it is read");
        ranks[0].settle(&(0..usize::MAX));
        ranks[0].free();
        received(&mut ranks[1]);
        assert_eq!(ranks[1].peers[0].regions.len(), 0);
    }
}

/// The file of a new region may arrive before the notice that an old one was freed.
#[test]
fn regions_that_come_and_go_are_never_more_than_a_peer_takes() {
    let mut ranks = met(2);
    for round in 0..5 {
        let buffers: Vec<Buffer> = (0..64).map(|value| filled(1024, value as f32)).collect();
        for (value, buffer) in buffers.iter().enumerate() {
            assert!(send_from(&mut ranks[0], 1, 0, buffer, 0..1024));
            assert_eq!(received(&mut ranks[1]), [value as f32], "round {round}");
        }
        drop(buffers);
        ranks[0].settle(&(0..usize::MAX));
        ranks[0].free();
        let next = filled(1024, 7.0);
        assert!(send_from(&mut ranks[0], 1, 0, &next, 0..1024));
        // Reads the socket before the ring.
        ranks[1].answer();
        assert_eq!(received(&mut ranks[1]), [7.0], "round {round}");
        ranks[0].free();
    }
    assert!(ranks[0].reaches(1) && ranks[1].reaches(0));
}

#[test]
fn what_has_no_place_among_the_regions_goes_through_the_ring() {
    let mut ranks = met(2);
    let buffers: Vec<Buffer> = (0..70).map(|value| filled(1024, value as f32)).collect();
    for (value, buffer) in buffers.iter().enumerate() {
        assert!(send_from(&mut ranks[0], 1, 0, buffer, 0..1024));
        assert_eq!(received(&mut ranks[1]), [value as f32]);
    }
    assert_eq!(ranks[1].peers[0].regions.len(), 64);
    assert!(ranks[0].reaches(1) && ranks[1].reaches(0));
}

/// The owner overwrites settled memory while it may be read.
#[test]
fn a_payload_is_read_as_it_was_sent_while_its_memory_changes() {
    const DATAGRAMS: u32 = 30_000;
    let mut ranks = met(2);
    let (mut reader, mut owner) = (ranks.pop().unwrap(), ranks.pop().unwrap());
    let settled = std::thread::scope(|threads| {
        let writes = threads.spawn(move || {
            let (mut buffer, mut sent, mut settled) = (filled(2048, 0.0), 0, 0);
            let lies = addresses(&buffer);
            while sent < DATAGRAMS && owner.reaches(1) {
                if !owner.has_room(1) {
                    owner.answer();
                    std::thread::yield_now();
                    continue;
                }
                buffer.fill(sent as f32);
                assert!(send_from(&mut owner, 1, sent, &buffer, 0..2048));
                // Varies whether the reader is earlier, later or in the middle.
                (0..sent % 7 * 40).for_each(|_| std::hint::spin_loop());
                settled += owner.peers[0].lending.unread();
                owner.settle(&lies);
                sent += 1;
            }
            (settled, owner)
        });
        let reads = threads.spawn(move || {
            let mut next = 0;
            while next < DATAGRAMS {
                for value in received(&mut reader) {
                    assert_eq!(value, next as f32);
                    next += 1;
                }
                std::thread::yield_now();
            }
        });
        reads.join().unwrap();
        writes.join().unwrap().0
    });
    assert!(settled > 0);
}

#[test]
fn regions_that_cannot_be_read_end_the_rings_and_nothing_else() {
    let place = |region, word| Some(ring::Place { region, word });
    let (whole, outside) = (16384 / 8, |word, bytes| Unreadable::Outside { region: 0, word, bytes, words: 2048 });
    for (place, expected) in [
        (place(0, whole - 128), None),
        (place(0, whole - 127), Some(outside(1921, 1024))),
        (place(0, usize::MAX), Some(outside(u64::MAX, 1024))),
        (place(0, usize::MAX / 8), Some(outside(u64::MAX / 8, 1024))),
        (place(1, 0), Some(Unreadable::Unknown { region: 1 })),
        (place(u64::MAX - 1, 0), Some(Unreadable::Unknown { region: u64::MAX - 1 })),
    ] {
        let mut ranks = met(2);
        let buffer = filled(4096, 1.0);
        assert!(send_from(&mut ranks[0], 1, 0, &buffer, 0..1024));
        assert_eq!(received(&mut ranks[1]), [1.0]);
        let (header, payload) = (datagram(1).0, [0; 1024]);
        let Local { own, layout, peers, .. } = &mut ranks[0];
        assert!(peers[0].sender.push(&own.words()[layout.ring(0, 1)], &header, &payload, place));
        own.words()[layout.line(1) + Line::Written as usize].store(peers[0].sender.written(), Ordering::Release);
        let Local { own, layout, peers, datagram, .. } = &mut ranks[1];
        let (layout, receiver) = (*layout, peers[0].receiver);
        let result = peers[0].receive(own.words(), layout, 1, datagram, &mut |_, _| ControlFlow::Continue(()));
        assert_eq!(result, expected.map_or(Ok(true), |found| Err(Broken::Region(found))), "{place:?}");
        // Both ends must notice, or the sender would keep writing into a ring without a reader.
        ranks[1].peers[0].receiver = receiver;
        receive_all(&mut ranks[1], |_, _| ());
        ranks[0].answer();
        assert_eq!([ranks[0].reaches(1), ranks[1].reaches(0)], [expected.is_none(); 2], "{place:?}");
    }
}

#[test]
fn files_of_peers_that_could_vanish_are_not_mapped() {
    let mut ranks = met(2);
    let open = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::ALLOW_SEALING).unwrap();
    rustix::fs::ftruncate(&open, 1 << 16).unwrap();
    let files = [open, OwnedFd::from(std::fs::File::open("/proc/self/exe").unwrap())];
    for file in &files {
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        let files = [file.as_fd()];
        control.push(rustix::net::SendAncillaryMessage::ScmRights(&files));
        sendmsg(&ranks[0].peers[0].socket, &[IoSlice::new(&[1])], &mut control, send_flags()).unwrap();
    }
    ranks[1].answer();
    assert!(ranks[1].peers[0].regions.len() == 0 && ranks[1].reaches(0));
    // More files in one message than fit: some are lost, so region numbers become unknown.
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
    let mut control = SendAncillaryBuffer::new(&mut room);
    let files = [0, 1, 0, 1, 0, 1, 0, 1].map(|at: usize| files[at].as_fd());
    control.push(rustix::net::SendAncillaryMessage::ScmRights(&files));
    sendmsg(&ranks[0].peers[0].socket, &[IoSlice::new(&[1])], &mut control, send_flags()).unwrap();
    ranks[1].answer();
    assert!(!ranks[1].reaches(0));
}
