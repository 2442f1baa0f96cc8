//! Flow control towards ranks of this host.
//!
//! A full ring holds back its own rank only. Datagrams to a rank that reads nothing for
//! [`PATIENCE_NS`] are dropped until it reads again, so they occupy no memory or windows.

use std::ops::{ControlFlow, Range};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use optireduce_core::software::{Software, Transmit};

use crate::local::Local;

/// Default upper bound of a stage.
const PATIENCE_NS: u64 = 1_000_000_000;

pub(super) struct Shared {
    local: Local,
    peers: Vec<Peer>,
}

struct Peer {
    rank: usize,
    held_until_ns: Option<u64>,
    /// Limit of the congestion window over UDP.
    in_flight_bytes_max: u64,
}

impl Shared {
    /// See [`Local::bells`].
    pub fn bells(&self) -> Arc<OwnedFd> {
        self.local.bells()
    }

    /// `in_flight_bytes_max`: by rank.
    pub fn new(local: Local, in_flight_bytes_max: &[u64]) -> Self {
        let peer = |rank: usize| Peer { rank, held_until_ns: None, in_flight_bytes_max: in_flight_bytes_max[rank] };
        Self { peers: local.ranks().map(peer).collect(), local }
    }

    pub fn ranks(&self) -> impl Iterator<Item = usize> {
        self.peers.iter().map(|peer| peer.rank)
    }

    pub fn reaches(&self, rank: usize) -> bool {
        self.local.reaches(rank)
    }

    /// Returns the number of dropped datagrams.
    pub fn send(&mut self, transmit: &Transmit<'_>) -> u64 {
        let datagrams = transmit.datagrams().map(|datagram| (datagram.header, datagram.payload));
        (transmit.segments() - self.local.send(transmit.to, datagrams)) as u64
    }

    /// Passes datagrams to `software` until it must arm windows for them. Announces freed memory.
    pub fn receive(&mut self, software: &mut Software) -> bool {
        self.local.free();
        self.local.receive(|from, datagram| {
            software.handle_datagram(Some(from), datagram);
            if software.is_ahead() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }

    /// Holds back ranks with full rings, resumes those with room, and switches others to UDP.
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

    pub fn settle(&mut self, addresses: &Range<usize>) {
        self.local.settle(addresses);
    }

    pub fn forget(&mut self, rank: usize) {
        self.local.forget(rank);
    }

    pub fn doze(&self) -> bool {
        self.local.doze()
    }

    pub fn rouse(&self) {
        self.local.rouse();
    }

    pub fn answer(&mut self) {
        self.local.answer();
    }
}
