//! The transport inside a host: datagrams between its ranks through shared memory.
//!
//! It carries the same datagrams as the sockets do, so stages, losses and repairs are the same. A sender writes into a ring of its own
//! memory, the receiver reads it there: one system call only if the receiver sleeps. A ring that is full holds back what is
//! sent to that rank, and nothing else. What lies in memory from [`Communicator::alloc`](crate::Communicator::alloc) is read where it lies ([`lending`], [`regions`]).
//! Wakes: who is about to sleep says so in its memory, looks once more, and sleeps; who has written looks whether the
//! receiver sleeps, and then sends it a byte. The same socket tells when a process has ended.
//! Trust: a rank of this host may write anything into its own memory, and into no other. What cannot be ends its rings, and it is sent
//! to by UDP from then on; see [`ring`] and [`segment`].

mod lending;
mod meet;
mod regions;
mod ring;
mod segment;
#[cfg(test)]
mod tests;

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::ops::{ControlFlow, Range};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::Instant;

use rustix::event::epoll;
use rustix::net::{SendAncillaryBuffer, Shutdown, sendmsg, shutdown};

pub(crate) use self::meet::{Address, Listener};

use self::lending::{Lending, Readable};
use self::meet::{Met, Party, meet, send_flags};
use self::regions::{Opened, Regions};
use self::ring::{Datagram, LINE_BYTES, Layout, Line, Receiver, Sender};
use self::segment::{PeerSegment, Segment};
use optireduce_contract::packet::UBT_BYTES;

/// Most bytes and datagrams that are sent at once.
pub(crate) const BATCH_BYTES: usize = 1 << 16;
pub(crate) const BATCH_DATAGRAMS: usize = 64;
/// Their lines: each datagram has one for its header, and may end with one that is not full.
const BATCH_LINES: u64 = (BATCH_BYTES / LINE_BYTES + 2 * BATCH_DATAGRAMS) as u64;
/// Datagrams of a rank that are read before it is told so, and before the next rank's: a quarter of the largest ring.
const DATAGRAMS_A_TURN: usize = 16;

/// Rings with the ranks of this host.
#[derive(Debug)]
pub(crate) struct Local {
    own: Segment,
    layout: Layout,
    /// This rank among those of the host.
    index: usize,
    peers: Vec<Peer>,
    /// By rank of the job: index in `peers`.
    by_rank: Vec<Option<usize>>,
    /// Readable if a peer has rung, or has ended.
    bells: OwnedFd,
    datagram: Datagram,
}

#[derive(Debug)]
struct Peer {
    /// Of the job.
    rank: usize,
    /// Among those of the host.
    index: usize,
    segment: PeerSegment,
    socket: OwnedFd,
    sender: Sender,
    receiver: Receiver,
    /// Memory of this rank that it reads, and memory of it that this rank reads.
    lending: Lending,
    regions: Regions,
    /// Datagrams for it wait for room until it has read so many lines in all; 0: none wait.
    waits_for: u64,
    /// The sleep of the peer that it was last woken from.
    rung: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Up,
    /// Its process has ended, or its connection: what it has written is read, and nothing more is sent to it here.
    Ended,
    /// It says what cannot be: nothing of it is read.
    Broken,
}

impl Local {
    /// Meets the other ranks of this host; `None` if there are none, or none that shares memory. All ranks must call this at
    /// the same point. `addresses`: of all ranks of the job.
    pub fn meet(
        listener: Listener,
        rank: usize,
        addresses: &[Option<&Address>],
        tag: u64,
        deadline: Instant,
    ) -> Option<Self> {
        let group = listener.group(addresses.iter().copied())?;
        let layout = Layout::new(group.len());
        let own = Segment::new(layout.words());
        if let Err(error) = &own {
            tracing::warn!(%error, "no shared memory; ranks of this host are sent to by UDP");
        }
        let own = own.ok();
        if let Some(own) = &own {
            // Asleep until it polls.
            own.words()[layout.asleep()].store(1, Ordering::SeqCst);
        }
        let party = Party { rank, group: &group, layout, tag };
        let met = meet(listener, own.as_ref(), party, |rank| addresses[rank], deadline);
        let own = own.filter(|_| !met.is_empty())?;
        match Self::new(own, party, met, addresses.len()) {
            Ok(local) => Some(local),
            Err(error) => {
                tracing::warn!(%error, "no shared memory; ranks of this host are sent to by UDP");
                None
            }
        }
    }

    fn new(own: Segment, party: Party<'_>, met: Vec<Met>, ranks: usize) -> io::Result<Self> {
        let Party { rank, group, layout, .. } = party;
        let index_of = |rank: usize| group.iter().position(|one| *one == rank).unwrap_or(0);
        let (bells, mut by_rank, mut peers) =
            (epoll::create(epoll::CreateFlags::CLOEXEC)?, vec![None; ranks], Vec::new());
        for Met { rank, segment, socket } in met {
            by_rank[rank] = Some(peers.len());
            epoll::add(&bells, &socket, epoll::EventData::new_u64(peers.len() as u64), epoll::EventFlags::IN)?;
            let (sender, receiver) = (Sender::new(layout.lines), Receiver::new(layout.lines));
            peers.push(Peer {
                rank,
                index: index_of(rank),
                segment,
                socket,
                sender,
                receiver,
                lending: Lending::default(),
                regions: Regions::default(),
                waits_for: 0,
                rung: 0,
                state: State::Up,
            });
        }
        Ok(Self { own, layout, index: index_of(rank), peers, by_rank, bells, datagram: Datagram::new() })
    }

    /// Whether a rank is to be sent to here.
    pub fn reaches(&self, rank: usize) -> bool {
        self.peer(rank).is_some_and(|peer| peer.state == State::Up)
    }

    /// The ranks that are sent to here.
    pub fn ranks(&self) -> impl Iterator<Item = usize> {
        self.peers.iter().filter(|peer| peer.state == State::Up).map(|peer| peer.rank)
    }

    fn peer(&self, rank: usize) -> Option<&Peer> {
        let index = (*self.by_rank.get(rank)?)?;
        self.peers.get(index)
    }

    /// Whether a batch can be sent to a rank now ([`BATCH_DATAGRAMS`] of [`BATCH_BYTES`]). If not, there is room from when half of the ring
    /// is free, and the rank rings then: it reads one half while this rank fills the other.
    pub fn has_room(&mut self, rank: usize) -> bool {
        let Some(index) = self.by_rank[rank] else { return false };
        let Self { own, layout, peers, .. } = self;
        let peer = &mut peers[index];
        let half = (layout.lines as u64 / 2).max(BATCH_LINES);
        let needed = if peer.waits_for > 0 { half } else { BATCH_LINES };
        if peer.sender.room() < needed
            && let Err(broken) = peer.hear_read(*layout, self.index)
        {
            peer.end(State::Broken, &broken);
        }
        let has_room = peer.sender.room() >= needed;
        let waits_for = if has_room { 0 } else { peer.sender.written() + half - layout.lines as u64 };
        if waits_for != peer.waits_for {
            peer.waits_for = waits_for;
            own.words()[layout.line(peer.index) + Line::WaitsFor as usize].store(waits_for, Ordering::Relaxed);
        }
        has_room
    }

    /// Sends datagrams to a rank, as many as there is room for; returns how many. They are not seen before [`flush`](Self::flush).
    pub fn send<'a>(&mut self, rank: usize, datagrams: impl Iterator<Item = (&'a [u8; UBT_BYTES], &'a [u8])>) -> usize {
        let Some(index) = self.by_rank[rank] else { return 0 };
        let peer = &mut self.peers[index];
        let ring = &self.own.words()[self.layout.ring(self.index, peer.index)];
        let mut last = None;
        let pushed = datagrams.take_while(|(header, payload)| peer.push(ring, header, payload, &mut last)).count();
        peer.publish(self.own.words(), self.layout);
        peer.wake(self.layout);
        pushed
    }

    /// Memory at these addresses is given back to its owner: ranks that have not read yet what was sent from there find it in their rings.
    pub fn settle(&mut self, addresses: &Range<usize>) {
        let Self { own, layout, index, peers, .. } = self;
        for peer in peers.iter_mut().filter(|peer| peer.lending.is_any_unread()) {
            // What it says that cannot be, `has_room` finds as well.
            let _ = peer.hear_read(*layout, *index);
            let ring = &own.words()[layout.ring(*index, peer.index)];
            peer.lending.settle(&peer.sender, ring, addresses);
        }
    }

    /// Tells ranks which memory of this one was freed, so that they do not keep it.
    pub fn free(&mut self) {
        let Self { own, layout, index, peers, .. } = self;
        for peer in peers.iter_mut() {
            if peer.lending.is_any_freed() {
                let _ = peer.hear_read(*layout, *index);
            }
            let (ring, before) = (&own.words()[layout.ring(*index, peer.index)], peer.sender.written());
            peer.lending.free(&mut peer.sender, ring);
            if peer.sender.written() > before {
                peer.publish(own.words(), *layout);
            }
        }
    }

    /// Hands over what has come, of each rank so many at most, until `take` wants no more for now; returns whether there was anything.
    pub fn receive(&mut self, mut take: impl FnMut(usize, &[u8]) -> ControlFlow<()>) -> bool {
        let Self { own, layout, index, peers, datagram, .. } = self;
        let (mut any, mut flow) = (false, ControlFlow::Continue(()));
        for peer in peers.iter_mut().filter(|peer| peer.state != State::Broken) {
            match peer.receive(own.words(), *layout, *index, datagram, &mut |rank, bytes| {
                flow = take(rank, bytes);
                flow
            }) {
                Ok(received) => any |= received,
                Err(broken) => peer.end(State::Broken, &broken),
            }
            if flow.is_break() {
                break;
            }
        }
        any
    }

    /// Whether this process may sleep until [`bells`](Self::as_fd) is readable: nothing has come that was not read, and no ring that was
    /// waited for has room. Then peers ring until [`rouse`](Self::rouse).
    pub fn doze(&self) -> bool {
        let asleep = &self.own.words()[self.layout.asleep()];
        asleep.store((asleep.load(Ordering::Relaxed) | 1) + 2, Ordering::SeqCst);
        // Either the peer sees that this process sleeps, or this process sees what the peer has written.
        fence(Ordering::SeqCst);
        let quiet = self.peers.iter().all(|peer| peer.is_quiet(self.layout, self.index));
        if !quiet {
            self.rouse();
        }
        quiet
    }

    /// This process does not sleep any more.
    pub fn rouse(&self) {
        let asleep = &self.own.words()[self.layout.asleep()];
        asleep.store(asleep.load(Ordering::Relaxed).next_multiple_of(2), Ordering::Relaxed);
    }

    /// Takes the bells that have rung, and sees which processes have ended.
    pub fn answer(&mut self) {
        let mut room = [MaybeUninit::uninit(); 16];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        let Ok((events, _)) = epoll::wait(&self.bells, &mut room, Some(&now)) else { return };
        for event in events {
            let Some(peer) = self.peers.get_mut(event.data.u64() as usize) else { continue };
            let why = match peer.regions.take(&peer.socket) {
                Ok(true) => continue,
                Ok(false) => io::Error::other("its connection has ended"),
                Err(error) => error,
            };
            // Else it would be readable for ever.
            let _ = epoll::delete(&self.bells, &peer.socket);
            peer.end(State::Ended, &why);
        }
    }

    /// A rank has another process now, with which nothing is shared.
    pub fn forget(&mut self, rank: usize) {
        if let Some(index) = self.by_rank[rank].take() {
            let _ = epoll::delete(&self.bells, &self.peers[index].socket);
            self.peers[index].end(State::Broken, &"another process has its rank");
        }
    }
}

impl AsFd for Local {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bells.as_fd()
    }
}

impl Peer {
    /// What the peer says to the process at `to`.
    fn say(&self, layout: Layout, to: usize, line: Line) -> u64 {
        self.segment.words().load(layout.line(to) + line as usize)
    }

    /// Takes how far it says that it has read.
    fn hear_read(&mut self, layout: Layout, index: usize) -> Result<(), ring::Broken> {
        self.sender.handle_read(self.say(layout, index, Line::Read))
    }

    /// Lets it see what was written into its ring.
    fn publish(&self, own: &[AtomicU64], layout: Layout) {
        own[layout.line(self.index) + Line::Written as usize].store(self.sender.written(), Ordering::Release);
    }

    /// Writes a datagram into its ring, or where its payload lies. `last`: where the one before lay.
    fn push(
        &mut self,
        ring: &[AtomicU64],
        header: &[u8; UBT_BYTES],
        payload: &[u8],
        last: &mut Option<Readable>,
    ) -> bool {
        let line = self.sender.written();
        let place = self.lending.place(&self.socket, payload, last);
        let is_written = self.sender.push(ring, header, payload, place);
        if let (true, Some(place), Some(Readable { pages, .. })) = (is_written, place, last) {
            self.lending.sent(line, place, payload.len(), pages);
        }
        is_written
    }

    fn receive(
        &mut self,
        own: &[AtomicU64],
        layout: Layout,
        index: usize,
        datagram: &mut Datagram,
        take: &mut impl FnMut(usize, &[u8]) -> ControlFlow<()>,
    ) -> Result<bool, ring::Broken> {
        if self.receiver.is_empty() {
            self.receiver.handle_written(self.say(layout, index, Line::Written))?;
            if self.receiver.is_empty() {
                return Ok(false);
            }
        }
        let ring = self.segment.words().slice(layout.ring(self.index, index));
        let mut opened = Opened { regions: &mut self.regions, socket: &self.socket };
        for _ in 0..DATAGRAMS_A_TURN {
            let Some(length) = self.receiver.pop(ring, &mut opened, datagram)? else { break };
            if take(self.rank, datagram.bytes(length)).is_break() {
                break;
            }
        }
        let read = self.receiver.read();
        own[layout.line(self.index) + Line::Read as usize].store(read, Ordering::Release);
        // Either this process sees what the peer waits for, or the peer sees what was read.
        fence(Ordering::SeqCst);
        if (1..=read).contains(&self.say(layout, index, Line::WaitsFor)) {
            self.wake(layout);
        }
        Ok(true)
    }

    /// Whether it has nothing for this process.
    fn is_quiet(&self, layout: Layout, index: usize) -> bool {
        match self.state {
            State::Broken => true,
            _ if !self.receiver.is_empty() => false,
            _ if self.say(layout, index, Line::Written) != self.receiver.read() => false,
            State::Up if self.waits_for > 0 => self.say(layout, index, Line::Read) < self.waits_for,
            _ => true,
        }
    }

    /// Wakes the peer if it sleeps, once for each time.
    fn wake(&mut self, layout: Layout) {
        fence(Ordering::SeqCst);
        let asleep = self.segment.words().load(layout.asleep());
        if asleep.is_multiple_of(2) || asleep == self.rung || self.state != State::Up {
            return;
        }
        self.rung = asleep;
        // If the socket is full, the peer has not heard earlier ones yet. Of an end the bells tell.
        let _ = sendmsg(&self.socket, &[IoSlice::new(&[1])], &mut SendAncillaryBuffer::default(), send_flags());
    }

    fn end(&mut self, state: State, why: &dyn std::fmt::Display) {
        if self.state == State::Up {
            tracing::debug!(rank = self.rank, %why, "no more shared memory with a rank of this host; it is sent to by UDP");
        }
        if self.state != State::Broken {
            self.state = state;
        }
        // It would go on writing for a rank that does not read: it sees the end, and sends by UDP.
        let _ = shutdown(&self.socket, Shutdown::Both);
    }
}
