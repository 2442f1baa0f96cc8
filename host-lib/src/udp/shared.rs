//! What goes to ranks of this host: how much may, and what becomes of it when one does not read.
//!
//! A rank whose ring is full is held back, and nothing else is. One that reads nothing for [`PATIENCE_NS`] counts as a network that
//! loses everything: what is meant for it is dropped until it reads again, so that it costs this rank no memory and no windows.

use std::ops::{ControlFlow, Range};
use std::os::fd::{AsFd, BorrowedFd};

use optireduce_core::software::{Software, Transmit};

use crate::local::Local;

/// How long a rank may read nothing: the longest bound of a stage, unless a longer one is given.
const PATIENCE_NS: u64 = 1_000_000_000;

/// Ranks of this host, and how they are sent to.
pub(super) struct Shared {
    local: Local,
    peers: Vec<Peer>,
}

struct Peer {
    rank: usize,
    /// It is held back until then.
    held_until_ns: Option<u64>,
    /// What may be on its way to it if it is sent to by UDP.
    in_flight_bytes_max: u64,
}

impl Shared {
    /// `in_flight_bytes_max`: by rank.
    pub fn new(local: Local, in_flight_bytes_max: &[u64]) -> Self {
        let peer = |rank: usize| Peer { rank, held_until_ns: None, in_flight_bytes_max: in_flight_bytes_max[rank] };
        Self { peers: local.ranks().map(peer).collect(), local }
    }

    /// The ranks that are reached.
    pub fn ranks(&self) -> impl Iterator<Item = usize> {
        self.peers.iter().map(|peer| peer.rank)
    }

    pub fn reaches(&self, rank: usize) -> bool {
        self.local.reaches(rank)
    }

    /// Sends datagrams to a rank; returns how many were dropped.
    pub fn send(&mut self, transmit: &Transmit<'_>) -> u64 {
        let datagrams = transmit.datagrams().map(|datagram| (datagram.header, datagram.payload));
        (transmit.segments() - self.local.send(transmit.to, datagrams)) as u64
    }

    /// Hands over what has come, until windows are to be armed for it. Once a turn, so it also tells which memory was freed.
    pub fn receive(&mut self, software: &mut Software) -> bool {
        self.local.free();
        self.local.receive(|from, datagram| {
            software.handle_datagram(Some(from), datagram);
            if software.is_ahead() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }

    /// Holds back what is meant for ranks whose rings are full, and lets go what has room again. Ranks that are not reached any
    /// more are sent to by UDP from now on.
    pub fn pace(&mut self, software: &mut Software, now_ns: u64) {
        let Self { local, peers } = self;
        peers.retain_mut(|peer| {
            let rank = peer.rank;
            let has_room = local.has_room(rank);
            if !local.reaches(rank) {
                software.set_in_flight_bytes_max(rank, peer.in_flight_bytes_max);
                software.set_lossless(rank, false);
                return false;
            }
            match (has_room, peer.held_until_ns) {
                (false, None) => {
                    let until_ns = now_ns + PATIENCE_NS;
                    peer.held_until_ns = Some(until_ns);
                    software.hold(rank, until_ns);
                }
                (true, Some(_)) => {
                    peer.held_until_ns = None;
                    software.hold(rank, 0);
                }
                _ => {}
            }
            true
        });
    }

    /// Memory is given back to its owner, who may change it.
    pub fn settle(&mut self, addresses: &Range<usize>) {
        self.local.settle(addresses);
    }

    /// Another process has this rank now.
    pub fn forget(&mut self, rank: usize) {
        self.local.forget(rank);
    }

    /// Whether this process may sleep until this is readable.
    pub fn doze(&self) -> bool {
        self.local.doze()
    }

    /// It does not sleep any more.
    pub fn rouse(&self) {
        self.local.rouse();
    }

    /// Takes the bells that have rung.
    pub fn answer(&mut self) {
        self.local.answer();
    }
}

impl AsFd for Shared {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.local.as_fd()
    }
}
