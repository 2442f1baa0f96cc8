//! Exchange of segments between ranks of one host.
//!
//! Bootstrap publishes each rank's host and Unix socket. Higher ranks of a host connect to lower
//! ones, and both send their segments. If this fails, the pair uses UDP.
//!
//! Trust: the kernel must report the same user for both, and the peer must send the job's tag.
//! Ranks are on the same host if they share kernel boot, network namespace and user, so hosts that
//! are simulated by namespaces stay apart.
//!
//! Limits: abstract socket names (no file), at most [`PROCESSES_MAX`] ranks of a host.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerCredentials;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen, recvmsg, sendmsg,
    socket_with,
};
use serde::{Deserialize, Serialize};

use super::ring::Layout;
use super::segment::{PeerSegment, Segment};

/// Most ranks of a host that share memory, since memory for rings grows with the square.
pub(super) const PROCESSES_MAX: usize = 64;
const PATIENCE: Duration = Duration::from_secs(5);
/// Timeout for an accepted connection to identify itself.
const GREETING: Duration = Duration::from_secs(1);
/// Version of these messages and of the rings.
const MAGIC: u64 = u64::from_le_bytes(*b"optired3");
const BACKLOG: i32 = 2 * PROCESSES_MAX as i32;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Address {
    /// Host and user; equal for ranks that may share memory.
    host: String,
    socket: String,
}

#[derive(Debug)]
pub(crate) struct Listener {
    socket: OwnedFd,
    address: Address,
}

impl Listener {
    pub fn bind() -> io::Result<Self> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        let network = std::fs::metadata("/proc/self/ns/net")?;
        let host = format!("{} {}:{} {}", boot.trim(), network.dev(), network.ino(), own_uid());
        let mut random = [0; 16];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        let name = format!("optireduce-{:032x}", u128::from_ne_bytes(random));
        let socket = stream()?;
        bind(&socket, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
        listen(&socket, BACKLOG)?;
        Ok(Self { socket, address: Address { host, socket: name } })
    }

    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Ranks of this host, including this one; `None` unless 2 to [`PROCESSES_MAX`].
    pub(super) fn group<'a>(&self, ranks: impl Iterator<Item = Option<&'a Address>>) -> Option<Vec<usize>> {
        let is_here = |address: Option<&Address>| address.is_some_and(|address| address.host == self.address.host);
        let group: Vec<usize> =
            ranks.enumerate().filter(|(_, address)| is_here(*address)).map(|(rank, _)| rank).collect();
        (2..=PROCESSES_MAX).contains(&group.len()).then_some(group)
    }
}

#[derive(Debug)]
pub(super) struct Met {
    pub rank: usize,
    pub segment: PeerSegment,
    pub socket: OwnedFd,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Party<'a> {
    pub rank: usize,
    pub group: &'a [usize],
    pub layout: Layout,
    pub tag: u64,
}

/// Returns the peers with which segments were exchanged, ascending. `own`: `None` if this rank has
/// no segment. Bounded by `deadline`, [`PATIENCE`] and [`GREETING`].
pub(super) fn meet<'a>(
    listener: Listener,
    own: Option<&Segment>,
    party: Party<'_>,
    address_of: impl Fn(usize) -> Option<&'a Address>,
    deadline: Instant,
) -> Vec<Met> {
    let left = deadline.saturating_duration_since(Instant::now());
    let until = Instant::now() + (left * 3 / 4).min(PATIENCE);
    // Exchanges that have begun by then may still finish.
    let deadline = deadline.min(until + GREETING);
    let lower = party.group.iter().copied().filter(|rank| *rank < party.rank);
    // No rank waits before it has made all its connections, so waits cannot form a cycle.
    let connected: Vec<(usize, io::Result<OwnedFd>)> = lower
        .map(|rank| (rank, address_of(rank).ok_or(io::ErrorKind::NotFound.into()).and_then(|to| call(to, own, party))))
        .collect();
    let accepted = accept_all(&listener, own, party, until);
    let mut met = Vec::new();
    for (rank, socket) in connected {
        let answered = socket.and_then(|socket| {
            let segment = receive_segment(&socket, party, rank, deadline)?;
            sendmsg(&socket, &[IoSlice::new(&[1])], &mut SendAncillaryBuffer::default(), send_flags())?;
            Ok(Met { rank, segment, socket })
        });
        keep(&mut met, rank, answered);
    }
    for one in accepted {
        let confirmed = await_readable(one.socket.as_fd(), deadline).and_then(|()| {
            let count = recvmsg(
                &one.socket,
                &mut [IoSliceMut::new(&mut [0])],
                &mut RecvAncillaryBuffer::default(),
                RecvFlags::DONTWAIT,
            )?;
            if count.bytes == 1 { Ok(one.rank) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        });
        keep(&mut met, one.rank, confirmed.map(|_| one));
    }
    met.sort_unstable_by_key(|one| one.rank);
    met
}

fn keep(met: &mut Vec<Met>, rank: usize, result: io::Result<Met>) {
    match result {
        Ok(one) => met.push(one),
        Err(error) => tracing::debug!(rank, %error, "no shared memory with a rank of this host; it uses UDP"),
    }
}

fn call(to: &Address, own: Option<&Segment>, party: Party<'_>) -> io::Result<OwnedFd> {
    let socket = stream()?;
    // Does not block: the backlog is full only if other processes fill it.
    connect(&socket, &SocketAddrUnix::new_abstract_name(to.socket.as_bytes())?)?;
    check_user(socket.as_fd())?;
    send_segment(&socket, own, party)?;
    Ok(socket)
}

fn accept_all(listener: &Listener, own: Option<&Segment>, party: Party<'_>, deadline: Instant) -> Vec<Met> {
    let mut awaited: Vec<usize> = party.group.iter().copied().filter(|rank| *rank > party.rank).collect();
    let mut accepted = Vec::new();
    while !awaited.is_empty() && await_readable(listener.socket.as_fd(), deadline).is_ok() {
        let Ok(socket) = accept_with(&listener.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) else { continue };
        let greeted = check_user(socket.as_fd())
            .and_then(|()| greet(&socket, own, party, deadline.min(Instant::now() + GREETING)));
        match greeted {
            Ok((rank, segment)) if awaited.contains(&rank) => {
                awaited.retain(|other| *other != rank);
                accepted.extend(segment.map(|segment| Met { rank, segment, socket }));
            }
            Ok((rank, _)) => tracing::debug!(rank, "a rank that is not expected asked for shared memory"),
            Err(error) => tracing::debug!(%error, "a process of this host asked for shared memory and was refused"),
        }
    }
    accepted
}

/// Exchanges segments with an accepted peer; returns its rank and segment, `None` if refused.
fn greet(
    socket: &OwnedFd,
    own: Option<&Segment>,
    party: Party<'_>,
    deadline: Instant,
) -> io::Result<(usize, Option<PeerSegment>)> {
    let (rank, file) = receive_hello(socket, party, deadline)?;
    if !party.group.contains(&rank) || rank <= party.rank {
        return Err(io::Error::other(format!("the peer claims to be rank {rank}")));
    }
    let segment = file.map(|file| PeerSegment::open(&file, party.layout.words())).transpose();
    let segment = segment.unwrap_or_else(|error| {
        tracing::debug!(rank, %error, "a segment was refused");
        None
    });
    // Only in return: a rank that receives a segment assumes that its own was accepted.
    send_segment(socket, own.filter(|_| segment.is_some()), party)?;
    Ok((rank, segment))
}

fn receive_segment(socket: &OwnedFd, party: Party<'_>, expected: usize, deadline: Instant) -> io::Result<PeerSegment> {
    let (rank, file) = receive_hello(socket, party, deadline)?;
    if rank != expected {
        return Err(io::Error::other(format!("the peer claims to be rank {rank}")));
    }
    let file = file.ok_or_else(|| io::Error::other("the peer has no segment"))?;
    PeerSegment::open(&file, party.layout.words())
}

/// First message of a connection: terms that must match, and the sender's rank.
fn hello(party: Party<'_>, rank: usize) -> [u8; 40] {
    let Party { layout, tag, .. } = party;
    let words = [MAGIC, tag, layout.processes as u64, layout.lines as u64, rank as u64];
    let mut bytes = [0; 40];
    bytes.as_chunks_mut().0.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
    bytes
}

fn send_segment(socket: &OwnedFd, own: Option<&Segment>, party: Party<'_>) -> io::Result<()> {
    let hello = hello(party, party.rank);
    let files: Vec<BorrowedFd<'_>> = own.and_then(Segment::file).into_iter().collect();
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut room);
    if !files.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&files));
    }
    match sendmsg(socket, &[IoSlice::new(&hello)], &mut control, send_flags())? {
        sent if sent == hello.len() => Ok(()),
        sent => Err(io::Error::other(format!("{sent} of {} bytes sent", hello.len()))),
    }
}

fn receive_hello(socket: &OwnedFd, party: Party<'_>, deadline: Instant) -> io::Result<(usize, Option<OwnedFd>)> {
    await_readable(socket.as_fd(), deadline)?;
    let mut bytes = [0; 40];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags)?;
    let mut file = None;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(files) = message {
            file = files.last();
        }
    }
    let rank = u64::from_le_bytes(*bytes.last_chunk().unwrap_or(&[0; 8]));
    let rank = usize::try_from(rank).unwrap_or(usize::MAX);
    if received.bytes != bytes.len() || bytes != hello(party, rank) {
        return Err(io::Error::other("the peer belongs to another job or version"));
    }
    Ok((rank, file))
}

fn stream() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?)
}

pub(super) fn send_flags() -> SendFlags {
    SendFlags::DONTWAIT | SendFlags::NOSIGNAL
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Checks that the peer's process belonged to this user when it connected or began to listen.
fn check_user(socket: BorrowedFd<'_>) -> io::Result<()> {
    // rustix cannot represent process id 0, which the kernel reports for other PID namespaces.
    let (found, expected) = (getsockopt(&socket, PeerCredentials)?.uid(), own_uid());
    if found == expected {
        return Ok(());
    }
    Err(io::Error::other(format!("the peer belongs to user {found}, expected {expected}")))
}

fn await_readable(fd: BorrowedFd<'_>, deadline: Instant) -> io::Result<()> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Err(rustix::io::Errno::INTR) => {}
            result => return Ok(result.map(drop)?),
        }
    }
}
