//! Transport between ranks of one host: datagrams through shared memory.
//!
//! Stages, losses and repairs are the same as over UDP. A sender writes into a ring in its own
//! memory, and the receiver reads it there. Only wake-ups and shared files need a system call. A
//! full ring holds back its own peer only. Payloads in memory from
//! [`Communicator::alloc`](crate::Communicator::alloc) are not copied ([`lending`], [`regions`]).
//!
//! Wake-ups: a process sets a flag in its memory, checks its rings again and then sleeps. A sender
//! checks the flag after each write and sends a byte over a Unix socket if it is set. The same
//! socket shows that a process has ended.
//!
//! Trust: a rank can write only into its own memory, where anything may appear. An impossible value
//! ends the peer's rings, and UDP replaces them (see [`ring`], [`segment`]).

mod lending;
mod meet;
mod regions;
mod ring;
mod segment;
mod sleep;
mod sync;
#[cfg(test)]
mod tests;

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::ops::{ControlFlow, Range};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use rustix::event::epoll;
use rustix::net::{SendAncillaryBuffer, Shutdown, sendmsg, shutdown};

pub(crate) use self::meet::{Address, Listener};

use self::lending::{Lending, Readable};
use self::meet::{Met, Party, meet, send_flags};
use self::regions::{Opened, Regions};
use self::ring::{Datagram, LINE_BYTES, Layout, Line, Receiver, Sender};
use self::segment::{PeerSegment, Segment};
use self::sync::{AtomicU64, Ordering};
use optireduce_contract::packet::UBT_BYTES;

pub(crate) const BATCH_BYTES: usize = 1 << 16;
pub(crate) const BATCH_DATAGRAMS: usize = 64;
/// Each datagram needs a header line and may end in a partial line.
const BATCH_LINES: u64 = (BATCH_BYTES / LINE_BYTES + 2 * BATCH_DATAGRAMS) as u64;
/// Datagrams read from a peer in one turn.
const DATAGRAMS_A_TURN: usize = 16;

#[derive(Debug)]
pub(crate) struct Local {
    own: Segment,
    layout: Layout,
    /// Index of this rank on the host.
    index: usize,
    peers: Vec<Peer>,
    /// Index in `peers`, by rank of the job.
    by_rank: Vec<Option<usize>>,
    /// Epoll descriptor, readable if a peer has sent a wake-up or a file, or has ended.
    bells: Arc<OwnedFd>,
    datagram: Datagram,
}

#[derive(Debug)]
struct Peer {
    /// In the job; `index`: on the host.
    rank: usize,
    index: usize,
    segment: PeerSegment,
    socket: OwnedFd,
    sender: Sender,
    receiver: Receiver,
    /// Memory that the peer reads; `regions`: memory of the peer.
    lending: Lending,
    regions: Regions,
    /// Read count of the peer at which it has room for waiting datagrams; 0 if none wait.
    waits_for: u64,
    rung: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Up,
    /// Its process or connection has ended. Remaining datagrams are still read.
    Ended,
    /// It has published an impossible value. Nothing more is read.
    Broken,
}

impl Local {
    /// Connects to the other ranks of this host. Call at the same point on all ranks. `addresses`:
    /// of all ranks of the job. Returns `None` if no other rank shares memory.
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
            tracing::warn!(%error, "no shared memory; ranks of this host use UDP");
        }
        let own = own.ok();
        if let Some(own) = &own {
            // Peers must send wake-ups until this rank polls for the first time.
            own.words()[layout.asleep()].store(1, Ordering::SeqCst);
        }
        let party = Party { rank, group: &group, layout, tag };
        let met = meet(listener, own.as_ref(), party, |rank| addresses[rank], deadline);
        let mut own = own.filter(|_| !met.is_empty())?;
        own.close_file();
        match Self::new(own, party, met, addresses.len()) {
            Ok(local) => Some(local),
            Err(error) => {
                tracing::warn!(%error, "no shared memory; ranks of this host use UDP");
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
        let (index, bells, datagram) = (index_of(rank), Arc::new(bells), Datagram::new());
        Ok(Self { own, layout, index, peers, by_rank, bells, datagram })
    }

    pub fn reaches(&self, rank: usize) -> bool {
        self.peer(rank).is_some_and(|peer| peer.state == State::Up)
    }

    pub fn ranks(&self) -> impl Iterator<Item = usize> {
        self.peers.iter().filter(|peer| peer.state == State::Up).map(|peer| peer.rank)
    }

    fn peer(&self, rank: usize) -> Option<&Peer> {
        let index = (*self.by_rank.get(rank)?)?;
        self.peers.get(index)
    }

    /// Returns whether a rank's ring has room for a full batch. If not, half of the ring must
    /// become free first, so that both ends can work on different halves. The reader then sends a
    /// wake-up.
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

    /// Returns the number of datagrams that fit and were sent.
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

    /// See [`Lending::settle`].
    pub fn settle(&mut self, addresses: &Range<usize>) {
        let Self { own, layout, index, peers, .. } = self;
        for peer in peers.iter_mut().filter(|peer| peer.lending.is_any_unread()) {
            // `has_room` detects an impossible count as well.
            let _ = peer.hear_read(*layout, *index);
            let ring = &own.words()[layout.ring(*index, peer.index)];
            peer.lending.settle(&peer.sender, ring, addresses);
        }
    }

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

    /// Passes received datagrams to `take`, a bounded number of each rank, until it breaks. Returns
    /// whether there were any.
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

    /// Returns whether this process may sleep until [`bells`](Self::bells) is readable. Peers send
    /// wake-ups until [`rouse`](Self::rouse).
    pub fn doze(&self) -> bool {
        let is_quiet = || self.peers.iter().all(|peer| peer.is_quiet(self.layout, self.index));
        sleep::doze(&self.own.words()[self.layout.asleep()], is_quiet)
    }

    pub fn rouse(&self) {
        sleep::rouse(&self.own.words()[self.layout.asleep()]);
    }

    /// Descriptor to wait for.
    pub fn bells(&self) -> Arc<OwnedFd> {
        self.bells.clone()
    }

    /// Consumes wake-ups and detects ended processes.
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
            // Otherwise the descriptor stays readable forever.
            let _ = epoll::delete(&self.bells, &peer.socket);
            peer.end(State::Ended, &why);
        }
    }

    /// Ends sharing with a rank that another process has taken over.
    pub fn forget(&mut self, rank: usize) {
        if let Some(index) = self.by_rank[rank].take() {
            let _ = epoll::delete(&self.bells, &self.peers[index].socket);
            self.peers[index].end(State::Broken, &"another process has its rank");
        }
    }
}

impl Peer {
    /// Loads a word that the peer publishes for the process at index `to`.
    fn say(&self, layout: Layout, to: usize, line: Line) -> u64 {
        self.segment.words().load(layout.line(to) + line as usize)
    }

    fn hear_read(&mut self, layout: Layout, index: usize) -> Result<(), ring::Broken> {
        self.sender.handle_read(self.say(layout, index, Line::Read))
    }

    fn publish(&self, own: &[AtomicU64], layout: Layout) {
        self.sender.publish(&own[layout.line(self.index) + Line::Written as usize]);
    }

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
        let read = &own[layout.line(self.index) + Line::Read as usize];
        if self.receiver.publish(read, || self.say(layout, index, Line::WaitsFor)) {
            self.wake(layout);
        }
        Ok(true)
    }

    fn is_quiet(&self, layout: Layout, index: usize) -> bool {
        match self.state {
            State::Broken => true,
            _ if !self.receiver.is_empty() => false,
            _ if self.say(layout, index, Line::Written) != self.receiver.read() => false,
            State::Up if self.waits_for > 0 => self.say(layout, index, Line::Read) < self.waits_for,
            _ => true,
        }
    }

    /// Sends one wake-up for each sleep of the peer.
    fn wake(&mut self, layout: Layout) {
        let Some(asleep) = sleep::sleeps(self.segment.words(), layout.asleep()) else { return };
        if asleep == self.rung || self.state != State::Up {
            return;
        }
        self.rung = asleep;
        // A full socket still holds earlier wake-ups. `answer` detects an ended connection.
        let _ = sendmsg(&self.socket, &[IoSlice::new(&[1])], &mut SendAncillaryBuffer::default(), send_flags());
    }

    fn end(&mut self, state: State, why: &dyn std::fmt::Display) {
        if self.state == State::Up {
            tracing::debug!(rank = self.rank, %why, "shared memory with a rank of this host ended; it uses UDP");
        }
        if self.state != State::Broken {
            self.state = state;
        }
        // The peer must use UDP too, or it would keep writing into a ring without a reader.
        let _ = shutdown(&self.socket, Shutdown::Both);
    }
}
