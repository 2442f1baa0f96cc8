//! Path MTU discovery between all ranks.
//!
//! The first size tried fits the narrowest interface, by the kernel's routing tables. Smaller
//! common sizes follow. Each rank sends datagrams that must not be fragmented to the others,
//! several times, since senders may together overflow a buffer.
//!
//! Limits: a rank probes at most [`PEERS_MAX`] evenly spread peers, to bound the traffic. If
//! another path is narrower, its packets are lost, which reports show. Cards answer no probes:
//! their paths are assumed to be as wide as the interface and as the paths between the other ranks.
//!
//! Source: RFC 8899, with answers over the job's control channel.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use optireduce_contract::limits::BEAT_BYTES;
use optireduce_contract::packet::UBT_BYTES;
use optireduce_contract::ranks::RankSet;
use optireduce_core::protocol::Ranks;
use thiserror::Error;

use super::socket::{Received, Socket};
use crate::control::{ControlChannel, ControlError, Member};
use crate::secret::{SEAL_BYTES, Seals};

/// MTUs tried after the interface's: cloud jumbo frames, Ethernet, overlays and tunnels, IPv6
/// minimum.
const MTUS: [usize; 5] = [8500, 4000, 1500, 1400, 1280];
/// MTU of an interface that does not report one.
const MTU_DEFAULT: usize = 1500;
const PEERS_MAX: usize = 64;
/// Most probes of a size to each peer. A later attempt follows only if a rank lacks a probe.
const PROBES: u32 = ATTEMPTS * PROBES_OF_ATTEMPT;
const ATTEMPTS: u32 = 4;
const PROBES_OF_ATTEMPT: u32 = 2;
const PROBE_EVERY: Duration = Duration::from_millis(2);
/// Timeout of an attempt, plus [`PATIENCE_OF_RANK`] for each rank: ranks of a host share its CPUs.
const PATIENCE: Duration = Duration::from_millis(250);
const PATIENCE_OF_RANK: Duration = Duration::from_millis(4);
pub(super) const IP_UDP_BYTES: usize = 28;
/// First byte of a probe. It is no packet version, so late probes are dropped.
const PROBE: u8 = 0xff;

/// Payload in beats that fits an MTU (bytes of the IP packet), in plain or sealed packets.
pub fn payload_beats_of(mtu: usize, sealed: bool) -> usize {
    let beats = mtu.saturating_sub(IP_UDP_BYTES + UBT_BYTES + seal_bytes(sealed)) / BEAT_BYTES;
    beats.min(optireduce_contract::limits::PAYLOAD_BEATS_MAX)
}

pub(super) fn seal_bytes(sealed: bool) -> usize {
    if sealed { SEAL_BYTES } else { 0 }
}

/// A path is blocked or a rank has failed.
#[allow(missing_docs)] // described by the messages
#[derive(Debug, Error)]
pub enum PathError {
    #[error(
        "none of {PROBES} datagrams with {bytes} bytes from rank {from} reached rank {to}; UDP must pass between all ranks, \
         on ports that the kernel chooses"
    )]
    Blocked {
        from: usize,
        to: usize,
        /// Size of the IP packet.
        bytes: usize,
    },
    #[error("probing the path MTU: {0}")]
    Control(#[from] ControlError),
    #[error("probing the path MTU: {0}")]
    Socket(#[from] io::Error),
}

/// Payload in beats of the largest packets that pass between all ranks. Call at the same point on
/// all ranks, which return the same value. `left`: returns the time left.
pub(super) fn discover(
    mut prober: Option<Prober<'_>>,
    members: &[Member],
    channel: &mut ControlChannel,
    left: impl Fn() -> Duration,
) -> Result<usize, PathError> {
    let rank = channel.rank();
    let peers: Vec<SocketAddr> = members.iter().map(|member| member.udp).collect();
    let narrowest = (0..peers.len()).filter(|peer| *peer != rank).map(|peer| interface_mtu(peers[rank], peers[peer]));
    let of_cards = members.iter().filter_map(|member| Some(member.card?.payload_beats_max));
    let given = members.iter().map(|member| member.payload_beats).filter(|beats| *beats > 0).chain(of_cards);
    let cards = members.iter().enumerate().filter(|(_, member)| member.card.is_some()).map(|(rank, _)| rank);
    let cards = Ranks::none(peers.len()).with(cards);
    let sealed = prober.as_ref().is_some_and(|prober| prober.seals.is_some());
    let own = payload_beats_of(narrowest.min().unwrap_or(MTU_DEFAULT), sealed).min(given.min().unwrap_or(usize::MAX));
    let all = channel.gather(&(own as u64).to_le_bytes(), left())?;
    let least = all.iter().map(|beats| number(beats)).min().unwrap_or(0);
    let first = number(&channel.broadcast(&least.to_le_bytes(), left())?) as usize;
    let smaller = MTUS.map(|mtu| payload_beats_of(mtu, sealed)).into_iter().filter(|beats| *beats < first);
    let sizes: Vec<usize> = std::iter::once(first).chain(smaller).collect();
    let bytes_of = |beats: usize| beats * BEAT_BYTES + UBT_BYTES + seal_bytes(sealed) + IP_UDP_BYTES;
    let mut blocked = None;
    for (number_of_size, beats) in sizes.iter().enumerate() {
        // Cards send no probes.
        let mut heard = cards.clone();
        let (mut from, mut to) = (rank, rank);
        for _attempt in 0..ATTEMPTS {
            // All ranks are at this point: each has received the broadcast that follows the gather.
            match &mut prober {
                Some(prober) => prober.probe(&peers, &cards, rank, number_of_size as u8, *beats, &mut heard)?,
                None => heard = Ranks::all(peers.len()),
            }
            let told: Vec<u8> = heard.words().iter().flat_map(|word| word.to_le_bytes()).collect();
            let all = channel.gather(&told, left())?;
            let missing = all.iter().enumerate().find_map(|(to, heard)| {
                let heard: Vec<u64> = heard.chunks(8).map(number).collect();
                let heard = RankSet::of_words(heard);
                probed_by(to, peers.len()).find(|from| !heard.contains(*from)).map(|from| (from, to))
            });
            // 0: every rank heard every prober. Otherwise the ends of a path that lost all probes.
            let outcome = missing.map_or(0, |(from, to)| 1 << 32 | (from as u64) << 16 | to as u64);
            let outcome = number(&channel.broadcast(&outcome.to_le_bytes(), left())?);
            if outcome == 0 {
                tracing::debug!(rank, payload_beats = *beats, "largest packets that pass");
                if let Some(PathError::Blocked { from, to, bytes }) = blocked
                    && [0, from, to].contains(&rank)
                {
                    tracing::warn!(
                        "packets of {bytes} bytes from rank {from} do not reach rank {to}, though the MTU of their interfaces allows them; \
                         the job uses packets of {}: raise the MTU of the switch, or lower that of the interfaces",
                        bytes_of(*beats)
                    );
                }
                return Ok(*beats);
            }
            (from, to) = ((outcome >> 16 & 0xffff) as usize, (outcome & 0xffff) as usize);
        }
        tracing::debug!(rank, payload_beats = *beats, from, to, "packets of this size do not pass");
        blocked = Some(PathError::Blocked { from, to, bytes: bytes_of(*beats) });
    }
    Err(blocked.unwrap_or(PathError::Blocked { from: rank, to: rank, bytes: 0 }))
}

fn interface_mtu(local: SocketAddr, peer: SocketAddr) -> usize {
    let ask = || -> io::Result<u32> {
        let socket = UdpSocket::bind((local.ip(), 0))?;
        socket.connect(peer)?;
        Ok(rustix::net::sockopt::ip_mtu(&socket)?)
    };
    ask().map_or(MTU_DEFAULT, |mtu| mtu as usize)
}

pub(super) struct Prober<'a> {
    pub socket: &'a mut Socket,
    pub seals: &'a mut Option<Seals>,
}

impl Prober<'_> {
    /// Makes one attempt, and adds the peers whose probes arrive to `heard`.
    fn probe(
        &mut self,
        peers: &[SocketAddr],
        cards: &Ranks,
        rank: usize,
        size: u8,
        beats: usize,
        heard: &mut Ranks,
    ) -> io::Result<()> {
        let (socket, seals) = (&mut *self.socket, &mut *self.seals);
        let mut datagram = vec![0; UBT_BYTES + beats * BEAT_BYTES];
        datagram[..2].copy_from_slice(&[PROBE, size]);
        // In this order no two ranks send to the same peer at the same time.
        let others: Vec<usize> = probed(rank, peers.len()).filter(|peer| !cards.contains(*peer)).collect();
        let all = Ranks::none(peers.len()).with(probed_by(rank, peers.len()));
        let of: HashMap<SocketAddr, usize> = peers.iter().copied().zip(0..).collect();
        let (begin, mut sent) = (Instant::now(), 0);
        let patience = PATIENCE + PATIENCE_OF_RANK * peers.len() as u32;
        let mut sealed = Vec::new();
        loop {
            if sent < PROBES_OF_ATTEMPT && begin.elapsed() >= sent * PROBE_EVERY {
                for peer in others.iter().copied() {
                    let probe = match seals {
                        None => &datagram,
                        Some(seals) => {
                            seals.seal(peer, [&*datagram], datagram.len(), &mut sealed);
                            &sealed
                        }
                    };
                    // A refused datagram counts as lost.
                    let _ = socket.outlet().send(peers[peer], probe, probe.len());
                }
                sent += 1;
            }
            let came = socket.receive(|from, came, _| {
                let peer = of.get(&from).copied();
                let came = match seals {
                    None => Some(&*came),
                    Some(seals) => seals.open(peer, came),
                };
                if came.is_some_and(|came| came.len() == datagram.len() && came[..2] == datagram[..2])
                    && let Some(peer) = peer
                {
                    heard.insert(peer);
                }
            })?;
            if sent == PROBES_OF_ATTEMPT && heard.is_superset(&all) || begin.elapsed() >= patience {
                return Ok(());
            }
            if came == Received::Nothing {
                std::thread::sleep(PROBE_EVERY / 4);
            }
        }
    }
}

/// Peers that a rank probes: all, or [`PEERS_MAX`] at the same distances for all ranks.
fn probed(rank: usize, ranks: usize) -> impl Iterator<Item = usize> {
    distances(ranks).map(move |distance| (rank + distance) % ranks)
}

fn probed_by(rank: usize, ranks: usize) -> impl Iterator<Item = usize> {
    distances(ranks).map(move |distance| (rank + ranks - distance) % ranks)
}

fn distances(ranks: usize) -> impl Iterator<Item = usize> {
    let others = ranks - 1;
    let count = others.min(PEERS_MAX);
    (0..count).map(move |index| 1 + index * others / count)
}

fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

pub(super) fn is_open(members: &[Member]) -> bool {
    members.iter().any(|member| member.payload_beats == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_sends_to_as_many_as_send_to_it_and_none_to_itself_or_twice() {
        for ranks in (2..=140).chain([1000, 1024]) {
            let count = PEERS_MAX.min(ranks - 1);
            let mut pairs = std::collections::HashSet::new();
            for rank in 0..ranks {
                let to: std::collections::BTreeSet<usize> = probed(rank, ranks).collect();
                assert!(to.len() == count && !to.contains(&rank), "{ranks} ranks, {rank}: {to:?}");
                pairs.extend(to.into_iter().map(|to| (rank, to)));
            }
            for rank in 0..ranks {
                let from: Vec<usize> = probed_by(rank, ranks).collect();
                assert!(
                    from.len() == count && from.iter().all(|from| pairs.contains(&(*from, rank))),
                    "{ranks}, {rank}"
                );
            }
        }
    }
}
