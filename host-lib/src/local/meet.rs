//! How ranks of one host find one another and hand over their segments.
//!
//! In the bootstrap each rank says which host it is on and at which Unix socket it listens. Ranks of the same host connect, the
//! higher to the lower, and each gives the other its segment to read. A pair for which any of that fails uses UDP.
//! Trust: the kernel says which user is at the other end; it must be this process's. The job's tag must be known there, too.
//! Same host: the same boot of a kernel and the same network namespace, so that hosts made of namespaces stay apart.
//! Limits: the sockets' names are abstract (no file), at most [`PROCESSES_MAX`] ranks of a host.

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

/// Most ranks of a host that share memory; with more they use UDP: each has a ring for each other.
pub(super) const PROCESSES_MAX: usize = 64;
/// How long the ranks of a host wait for one another here.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a connection may take to say what it is.
const GREETING: Duration = Duration::from_secs(1);
/// Of another version of these messages, or of the rings, nothing else is known.
const MAGIC: u64 = u64::from_le_bytes(*b"optired3");
/// Waits of connections that are not accepted yet.
const BACKLOG: i32 = 2 * PROCESSES_MAX as i32;

/// Where a rank's segment can be asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Address {
    /// The same for ranks that may share memory.
    host: String,
    /// Name of its socket, in the abstract namespace.
    socket: String,
}

/// A socket where ranks of this host may ask for this rank's segment.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: OwnedFd,
    address: Address,
}

impl Listener {
    /// A socket with a random name.
    ///
    /// # Errors
    /// If the kernel does not say which host this is, or gives no socket.
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

    /// The ranks that are on this host, this one among them, if it may share memory with others.
    pub(super) fn group<'a>(&self, ranks: impl Iterator<Item = Option<&'a Address>>) -> Option<Vec<usize>> {
        let is_here = |address: Option<&Address>| address.is_some_and(|address| address.host == self.address.host);
        let group: Vec<usize> =
            ranks.enumerate().filter(|(_, address)| is_here(*address)).map(|(rank, _)| rank).collect();
        (2..=PROCESSES_MAX).contains(&group.len()).then_some(group)
    }
}

/// A rank of this host whose segment was opened.
#[derive(Debug)]
pub(super) struct Met {
    pub rank: usize,
    pub segment: PeerSegment,
    pub socket: OwnedFd,
}

/// What the ranks of a group know.
#[derive(Clone, Copy, Debug)]
pub(super) struct Party<'a> {
    pub rank: usize,
    /// Ranks of this host, in order.
    pub group: &'a [usize],
    pub layout: Layout,
    pub tag: u64,
}

/// Exchanges segments with the ranks of this host; without a segment tells them that there is none. `address_of`: of a rank
/// of the group. Those that were met, in ascending order. Bounded by the deadline, and by [`PATIENCE`] and [`GREETING`].
pub(super) fn meet<'a>(
    listener: Listener,
    own: Option<&Segment>,
    party: Party<'_>,
    address_of: impl Fn(usize) -> Option<&'a Address>,
    deadline: Instant,
) -> Vec<Met> {
    let left = deadline.saturating_duration_since(Instant::now());
    let until = Instant::now() + (left * 3 / 4).min(PATIENCE);
    // What is under way then may still end well.
    let deadline = deadline.min(until + GREETING);
    let lower = party.group.iter().copied().filter(|rank| *rank < party.rank);
    // Nobody waits before all have connected, and nobody connects later: so none waits for another in a circle.
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
        Err(error) => tracing::debug!(rank, %error, "no shared memory with a rank of this host; it is sent to by UDP"),
    }
}

/// Connects to a lower rank and gives it the segment.
fn call(to: &Address, own: Option<&Segment>, party: Party<'_>) -> io::Result<OwnedFd> {
    let socket = stream()?;
    // Does not wait: a backlog that is full is somebody else's doing.
    connect(&socket, &SocketAddrUnix::new_abstract_name(to.socket.as_bytes())?)?;
    check_user(socket.as_fd())?;
    send_segment(&socket, own, party)?;
    Ok(socket)
}

/// Accepts the higher ranks, and gives each the segment in return for its own.
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
            Ok((rank, _)) => tracing::debug!(rank, "a rank that is not awaited asked for shared memory"),
            Err(error) => tracing::debug!(%error, "a process of this host asked for shared memory and got none"),
        }
    }
    accepted
}

/// The rank that has connected, and its segment if it could be opened; it then gets this rank's.
fn greet(
    socket: &OwnedFd,
    own: Option<&Segment>,
    party: Party<'_>,
    deadline: Instant,
) -> io::Result<(usize, Option<PeerSegment>)> {
    let (rank, file) = receive_hello(socket, party, deadline)?;
    if !party.group.contains(&rank) || rank <= party.rank {
        return Err(io::Error::other(format!("it says that it is rank {rank}")));
    }
    let segment = file.map(|file| PeerSegment::open(&file, party.layout.words())).transpose();
    let segment = segment.unwrap_or_else(|error| {
        tracing::debug!(rank, %error, "a segment is refused");
        None
    });
    // Only in return: a rank that got a segment would take it that its own was opened.
    send_segment(socket, own.filter(|_| segment.is_some()), party)?;
    Ok((rank, segment))
}

/// The segment of the rank that is at the other end.
fn receive_segment(socket: &OwnedFd, party: Party<'_>, expected: usize, deadline: Instant) -> io::Result<PeerSegment> {
    let (rank, file) = receive_hello(socket, party, deadline)?;
    if rank != expected {
        return Err(io::Error::other(format!("it says that it is rank {rank}")));
    }
    let file = file.ok_or_else(|| io::Error::other("it has no segment"))?;
    PeerSegment::open(&file, party.layout.words())
}

/// What two ranks say first: who they are, and what must be the same.
fn hello(party: Party<'_>, rank: usize) -> [u8; 40] {
    let Party { layout, tag, .. } = party;
    let words = [MAGIC, tag, layout.processes as u64, layout.lines as u64, rank as u64];
    let mut bytes = [0; 40];
    bytes.as_chunks_mut().0.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
    bytes
}

fn send_segment(socket: &OwnedFd, own: Option<&Segment>, party: Party<'_>) -> io::Result<()> {
    let hello = hello(party, party.rank);
    let files: Vec<BorrowedFd<'_>> = own.iter().map(|own| own.as_fd()).collect();
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

/// Who is at the other end, and the file that it gave.
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
        return Err(io::Error::other("it is of another job, or of another version"));
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

/// That the process at the other end is this user's, as of when it connected or began to listen.
fn check_user(socket: BorrowedFd<'_>) -> io::Result<()> {
    // Not by rustix: its type holds no process id of 0, which is that of processes in other namespaces.
    let (found, expected) = (getsockopt(&socket, PeerCredentials)?.uid(), own_uid());
    if found == expected {
        return Ok(());
    }
    Err(io::Error::other(format!("it is a process of user {found}, expected {expected}")))
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
