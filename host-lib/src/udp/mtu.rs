//! The largest packets that get through to every peer.
//!
//! Why: smaller packets cost time, larger ones never arrive.
//! How: the narrowest interface on any rank's way, as the kernel knows it, is tried with datagrams that may not be cut,
//! from every rank to every other; then common smaller sizes. What is lost, as where all ranks send to one at a time and its buffer is
//! small, is sent again.
//! Limits: in a job of many ranks each tries the ways to [`PEERS_MAX`] others, evenly spread, or they would take as many datagrams as
//! there are pairs of ranks, each the largest; a way that is narrower than those loses its packets, which reports show. A card answers no probes; the way to it is taken for as wide as the interface, and as the ways among the others.
//! Source: RFC 8899, with the job's reliable channel for the answers.

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

/// MTUs to try below that of the interfaces: of jumbo frames in clouds, Ethernet, overlays and tunnels, IPv6's least.
const MTUS: [usize; 5] = [8500, 4000, 1500, 1400, 1280];
/// What an interface is taken for that does not say.
const MTU_DEFAULT: usize = 1500;
/// Peers that a rank sends probes to, at most.
const PEERS_MAX: usize = 64;
/// Datagrams of a size to each peer: as many are hardly all lost. They go in attempts, of which the later are made only where some rank
/// has not heard another.
const PROBES: u32 = ATTEMPTS * PROBES_OF_ATTEMPT;
const ATTEMPTS: u32 = 4;
const PROBES_OF_ATTEMPT: u32 = 2;
const PROBE_EVERY: Duration = Duration::from_millis(2);
/// How long the probes of an attempt are waited for; a rank may be off the CPU, for longer if there are many on its host.
const PATIENCE: Duration = Duration::from_millis(250);
const PATIENCE_OF_RANK: Duration = Duration::from_millis(4);
/// Headers of IPv4 and UDP.
pub(super) const IP_UDP_BYTES: usize = 28;
/// First byte of a probe: no version of a packet, so a late one is dropped.
const PROBE: u8 = 0xff;

/// Payload in beats of 64 bytes that fits the MTU (bytes of the IP packet), in packets that are sealed or not.
pub fn payload_beats_of(mtu: usize, sealed: bool) -> usize {
    let beats = mtu.saturating_sub(IP_UDP_BYTES + UBT_BYTES + seal_bytes(sealed)) / BEAT_BYTES;
    beats.min(optireduce_contract::limits::PAYLOAD_BEATS_MAX)
}

/// Bytes that sealing adds to a packet.
pub(super) fn seal_bytes(sealed: bool) -> usize {
    if sealed { SEAL_BYTES } else { 0 }
}

/// The way to a peer takes nothing, or a rank is gone.
#[derive(Debug, Error)]
pub enum PathError {
    /// No size gets through.
    #[error(
        "of {PROBES} datagrams with {bytes} bytes from rank {from} none reached rank {to}; UDP must pass between all ranks, \
         on ports that the kernel chooses"
    )]
    Blocked {
        /// Rank that sent.
        from: usize,
        /// Rank that waited.
        to: usize,
        /// Bytes of the IP packet.
        bytes: usize,
    },
    /// A rank cannot be reached any more.
    #[error("looking for the path's MTU: {0}")]
    Control(#[from] ControlError),
    /// The socket failed.
    #[error("looking for the path's MTU: {0}")]
    Socket(#[from] io::Error),
}

/// Payload in beats of the largest packets that every rank gets from every other. All ranks must call this at the same
/// point; they get the same answer. `left`: the time until its end.
///
/// # Errors
/// See [`PathError`].
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
    let mut blocked = None;
    for (number_of_size, beats) in sizes.iter().enumerate() {
        // Cards send no probes.
        let mut heard = cards.clone();
        let (mut from, mut to) = (rank, rank);
        for _attempt in 0..ATTEMPTS {
            // All ranks have come here: they have the answer of rank 0 to what all of them said.
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
            // 0: all heard all that sent to them. Else the ranks of a path that takes none.
            let outcome = missing.map_or(0, |(from, to)| 1 << 32 | (from as u64) << 16 | to as u64);
            let outcome = number(&channel.broadcast(&outcome.to_le_bytes(), left())?);
            if outcome == 0 {
                tracing::debug!(rank, payload_beats = *beats, "largest packets that get through");
                return Ok(*beats);
            }
            (from, to) = ((outcome >> 16 & 0xffff) as usize, (outcome & 0xffff) as usize);
        }
        tracing::debug!(rank, payload_beats = *beats, from, to, "packets of this size do not get through");
        let bytes = beats * BEAT_BYTES + UBT_BYTES + seal_bytes(sealed) + IP_UDP_BYTES;
        blocked = Some(PathError::Blocked { from, to, bytes });
    }
    Err(blocked.unwrap_or(PathError::Blocked { from: rank, to: rank, bytes: 0 }))
}

/// What the kernel takes for the MTU of the way.
fn interface_mtu(local: SocketAddr, peer: SocketAddr) -> usize {
    let ask = || -> io::Result<u32> {
        let socket = UdpSocket::bind((local.ip(), 0))?;
        socket.connect(peer)?;
        Ok(rustix::net::sockopt::ip_mtu(&socket)?)
    };
    ask().map_or(MTU_DEFAULT, |mtu| mtu as usize)
}

/// What sends probes and hears those of others.
pub(super) struct Prober<'a> {
    pub socket: &'a mut Socket,
    pub seals: &'a mut Option<Seals>,
}

impl Prober<'_> {
    /// Sends probes to peers without a card, and adds those whose probes came to `heard`.
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
        // In this order no two ranks send to the same one at a time.
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
                    // What the interface does not take is as good as lost.
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

/// The peers that a rank sends probes to: all, or so many at distances that are the same for all ranks.
fn probed(rank: usize, ranks: usize) -> impl Iterator<Item = usize> {
    distances(ranks).map(move |distance| (rank + distance) % ranks)
}

/// The peers that send probes to a rank.
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

/// Whether the ranks must look for the size: one of them was given none.
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
