//! UDP data plane: [`Software`] on a socket and this machine's clock.
//!
//! Ranks of this host receive the same datagrams through shared memory ([`local`](crate::local)).
//!
//! Trust: a datagram counts only if it arrives from an address of the bootstrap and its rank
//! matches.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::mtu::{self, IP_UDP_BYTES, PathError, Prober};
use super::sender::{Outcome, Sender};
use super::shared::Shared;
use super::socket::{Received, Sent, Socket};
use super::unsent::Unsent;
use crate::control::{ControlChannel, Job, Member};
use crate::local::{BATCH_BYTES, BATCH_DATAGRAMS, Local};
use crate::secret::{SealDrops, Seals, Secret};
use crate::wait::{Source, Sources, Wait};
use optireduce_core::protocol::{JobParams, Ranks, View, WindowPlan};
use optireduce_core::software::{Batch, Counters, Software, SoftwareError, SoftwareJob, Transmit};
use optireduce_core::{Capabilities, DataPlane, Memory, PlaneEvent, PlaneLimits, Values, WindowOutput};

/// Largest IPv4 payload.
const BATCH_BYTES_MAX: usize = 65_535 - IP_UDP_BYTES;
const _: () = assert!(BATCH_BYTES_MAX <= BATCH_BYTES);
const TURNS: usize = 8;
/// Turns between reads of a socket that is not used for sending and has not signalled input.
const TURNS_WITHOUT_SOCKET: u32 = 64;
const BATCHES_A_TURN: usize = 4;

#[allow(missing_docs)] // described by the messages
#[derive(Debug, Error)]
pub enum UdpError {
    #[error(transparent)]
    Software(#[from] SoftwareError),
    #[error("{what}: {source}")]
    Socket { what: String, source: io::Error },
    #[error("the path to rank {to} takes no datagrams of {bytes} bytes; give a smaller MTU")]
    Mtu {
        to: usize,
        /// Size of the IP packet.
        bytes: usize,
    },
}

/// UDP data plane. Ranks exchange ports between [`bind`](Self::bind) and
/// [`join`](Unconnected::join).
pub struct Udp {
    software: Software,
    socket: Socket,
    sender: Option<Sender>,
    peers: Vec<SocketAddr>,
    ranks: HashMap<SocketAddr, usize>,
    epoch: Instant,
    seals: Option<Seals>,
    /// Contiguous datagrams, sealed or refused by the socket once.
    out: Vec<u8>,
    pending: Option<Pending>,
    unsent: Unsent,
    shared: Option<Shared>,
    dozed: Cell<bool>,
    /// Turns since the last read of the socket.
    turns: u32,
    breaks: usize,
    busy: bool,
}

/// Datagrams for a rank, all of `segment_bytes` but the last.
#[derive(Clone, Copy)]
struct Pending {
    to: usize,
    segment_bytes: usize,
}

enum Next {
    Nothing,
    Sent,
    /// The datagrams are in [`Udp::out`].
    Copied(Pending),
}

pub struct Unconnected {
    socket: Socket,
    seals: Option<Seals>,
}

impl Udp {
    pub fn bind(local: IpAddr) -> Result<Unconnected, UdpError> {
        bind((local, 0).into()).map(|socket| Unconnected { socket, seals: None })
    }
}

fn bind(address: SocketAddr) -> Result<Socket, UdpError> {
    Socket::bind(address).map_err(|source| {
        let what = match address.port() {
            0 => format!("a UDP socket at {}", address.ip()),
            _ => format!(
                "a UDP socket at {address}, where a job with cards receives (does another rank have this address?)"
            ),
        };
        UdpError::Socket { what, source }
    })
}

fn uses_socket(shared: Option<&Shared>, ranks: usize) -> bool {
    shared.is_none_or(|shared| shared.ranks().count() + 1 < ranks)
}

/// Socket buffer charged by the kernel for each byte of a datagram: 2 for full pages, 4 slightly
/// above a page. Doubled for datagrams sent before a slow receiver answers.
const COUNTED_BYTES_PER_BYTE: u64 = 8;
/// Largest congestion window: the bandwidth-delay product of 100 Gb/s and 80 us.
const IN_FLIGHT_BYTES_MAX: u64 = 1 << 20;

impl Unconnected {
    pub fn local_addr(&self) -> Result<SocketAddr, UdpError> {
        self.socket.local_addr().map_err(|source| UdpError::Socket { what: "the socket's address".into(), source })
    }

    pub fn receive_buffer_bytes(&self) -> u64 {
        self.socket.receive_buffer_bytes() as u64
    }

    /// Seals packets from now on, if the job has a secret. Call once for each job.
    pub fn seal(&mut self, secret: Option<&Secret>, rank: usize, job: &Job) {
        let keys = secret.zip(job.packet_key.as_ref());
        let sessions: Vec<u64> = job.members.iter().map(|member| member.session).collect();
        self.seals = keys.map(|(secret, key)| Seals::new(secret, key.bytes(), rank, &sessions));
    }

    /// Receives at `address` from now on, instead of the bound port.
    pub fn move_to(&mut self, address: SocketAddr) -> Result<(), UdpError> {
        self.socket = bind(address)?;
        Ok(())
    }

    /// `payload_beats`: beats of a packet. `local`: shared memory with ranks of this host.
    /// `sends_beside`: send large batches by a second thread, unless all ranks are on this host.
    pub fn join(
        self,
        rank: usize,
        job: &Job,
        payload_beats: usize,
        local: Option<Local>,
        sends_beside: bool,
    ) -> Result<Udp, UdpError> {
        let ranks = job.members.len();
        // All peers may send at the same time.
        let share = |member: &Member| match member.card {
            // A card gives no feedback.
            Some(_) => 0,
            None => {
                let share = member.receive_buffer_bytes / COUNTED_BYTES_PER_BYTE / (ranks as u64 - 1).max(1);
                share.clamp(1, IN_FLIGHT_BYTES_MAX)
            }
        };
        let mut in_flight_bytes_max: Vec<u64> = job.members.iter().map(share).collect();
        let shared = local.map(|local| Shared::new(local, &in_flight_bytes_max));
        // A ring limits itself.
        shared.iter().flat_map(Shared::ranks).for_each(|peer| in_flight_bytes_max[peer] = 0);
        let software = SoftwareJob { in_flight_bytes_max, ..SoftwareJob::new(rank, ranks, job.tag, payload_beats) };
        let peers: Vec<_> = job.members.iter().map(|member| member.udp).collect();
        let mut software = Software::new(software)?;
        shared.iter().flat_map(Shared::ranks).for_each(|peer| software.set_lossless(peer, true));
        let is_used = uses_socket(shared.as_ref(), ranks);
        let sender = (sends_beside && is_used).then(|| Sender::start(self.socket.outlet().clone(), ranks));
        let sender =
            sender.transpose().map_err(|source| UdpError::Socket { what: "the sending thread".into(), source })?;
        Ok(Udp {
            software,
            socket: self.socket,
            sender,
            seals: self.seals,
            ranks: peers.iter().enumerate().map(|(rank, address)| (*address, rank)).collect(),
            peers,
            epoch: Instant::now(),
            out: Vec::with_capacity(BATCH_BYTES_MAX),
            pending: None,
            unsent: Unsent::default(),
            shared,
            dozed: Cell::default(),
            turns: 0,
            breaks: 0,
            busy: false,
        })
    }
}

/// Beats of the job's packets: the smallest payload configured on any rank and the cards' limit. If
/// some rank has none configured, at most the largest that passes between ranks without a card.
/// Call at the same point on all ranks. `socket`: `None` on ranks with a card. `left`: returns the
/// time left.
pub fn payload_beats(
    socket: Option<&mut Unconnected>,
    members: &[Member],
    channel: &mut ControlChannel,
    left: impl Fn() -> Duration,
) -> Result<usize, PathError> {
    if mtu::is_open(members) {
        let prober = socket.map(|Unconnected { socket, seals }| Prober { socket, seals });
        return mtu::discover(prober, members, channel, left);
    }
    let of_cards = members.iter().filter_map(|member| Some(member.card?.payload_beats_max));
    Ok(members.iter().map(|member| member.payload_beats).chain(of_cards).min().unwrap_or(1))
}

impl Udp {
    pub fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    pub fn counters(&self) -> Counters {
        *self.software.counters()
    }

    pub fn unsent(&self) -> &Unsent {
        &self.unsent
    }

    pub fn is_awaited(&self) -> bool {
        self.software.is_awaited()
    }

    pub fn keep_unannounced(&mut self, bytes_max: usize) {
        self.software.keep_unannounced(bytes_max);
    }

    pub fn shared(&self) -> Vec<usize> {
        let mut ranks: Vec<usize> = self.shared.iter().flat_map(Shared::ranks).collect();
        ranks.sort_unstable();
        ranks
    }

    pub fn seal_drops(&self) -> SealDrops {
        self.seals.as_ref().map_or(SealDrops::default(), |seals| *seals.drops())
    }

    pub fn replace(&mut self, peer: usize, address: SocketAddr, session: u64) {
        self.ranks.remove(&self.peers[peer]);
        self.peers[peer] = address;
        self.ranks.insert(address, peer);
        if let Some(shared) = &mut self.shared {
            shared.forget(peer);
        }
        if let Some(seals) = &mut self.seals {
            seals.renew(peer, session);
        }
        // Sealed for the previous process.
        self.pending.take_if(|pending| pending.to == peer);
    }

    pub fn rtt_ns(&self, peer: usize) -> Option<u64> {
        self.software.rtt_ns(peer)
    }

    pub fn was_busy(&self) -> bool {
        self.busy
    }

    pub fn is_sending(&self) -> bool {
        self.pending.is_some() || self.software.is_sending()
    }

    pub fn sources(&self) -> io::Result<Sources> {
        let bells = self.shared.as_ref().map(|shared| -> Source { shared.bells() });
        Ok(Sources::new(self.socket.outlet().clone(), bells))
    }

    /// Asks for wake-ups until the next [`poll`](DataPlane::poll). Returns `false` if there is work
    /// already.
    pub fn doze(&self) -> bool {
        let Some(shared) = &self.shared else { return true };
        self.dozed.set(true);
        shared.doze()
    }

    /// Waits for input, room in the socket, the next timer, or `at_most`.
    pub fn wait(&self, at_most: Duration) -> Wait {
        let timer_ns = self.software.next_timeout().map(|at_ns| at_ns.saturating_sub(self.now_ns()));
        let at_most = at_most.min(timer_ns.map_or(at_most, Duration::from_nanos));
        let is_full = self.sender.as_ref().is_some_and(Sender::is_full);
        Wait::new(self.pending.is_some() || is_full, at_most)
    }

    /// Receives and sends, a bounded amount; returns whether there was work. Stages close by the
    /// clock only when the socket is empty or the turns are used up, so packets that arrived while
    /// this thread was off the CPU are in time.
    fn work(&mut self) -> Result<bool, UdpError> {
        let (mut worked, mut waiting) = (false, self.is_socket_due());
        for _ in 0..TURNS {
            self.software.set_now(self.now_ns());
            let shared = self.receive_shared();
            let received = if waiting { self.receive()? } else { Received::Nothing };
            let sent = self.send()?;
            worked |= received != Received::Nothing || shared || sent;
            waiting = received == Received::Full;
            if !waiting && !shared && !sent {
                break;
            }
            // Windows armed now receive the following packets without another copy. `breaks` is
            // limited, so that peers cannot keep this rank from closing its stages.
            if self.software.is_ahead() && self.breaks < TURNS {
                self.breaks += 1;
                return Ok(true);
            }
        }
        self.breaks = 0;
        self.software.advance(self.now_ns());
        Ok(self.send()? || worked)
    }

    fn receive(&mut self) -> Result<Received, UdpError> {
        let Self { socket, software, ranks, seals, .. } = self;
        if software.wants_marks() {
            socket.read_marks();
        }
        let take = |from: SocketAddr, datagram: &mut [u8], is_marked: bool| {
            let from = ranks.get(&from).copied();
            let packet = match seals {
                None => Some(&*datagram),
                Some(seals) => seals.open(from, datagram),
            };
            if let Some(packet) = packet {
                software.handle_marked_datagram(from, packet, is_marked);
            }
        };
        socket.receive(take).map_err(|source| UdpError::Socket { what: "receiving".into(), source })
    }

    fn receive_shared(&mut self) -> bool {
        let Some(shared) = &mut self.shared else { return false };
        if self.dozed.take() {
            shared.rouse();
            shared.answer();
        }
        let received = shared.receive(&mut self.software);
        shared.pace(&mut self.software, self.epoch.elapsed().as_nanos() as u64);
        received
    }

    /// True in every turn, unless all ranks are on this host.
    fn is_socket_due(&mut self) -> bool {
        let is_used = uses_socket(self.shared.as_ref(), self.peers.len());
        self.turns += 1;
        let is_due = is_used || self.dozed.get() || self.turns >= TURNS_WITHOUT_SOCKET;
        if is_due {
            self.turns = 0;
        }
        is_due
    }

    /// Sends the next datagrams, in place if possible. Sealed or refused datagrams are copied to
    /// `out` for another attempt.
    fn send_next(&mut self) -> Next {
        let Self { socket, sender, software, seals, out, peers, shared, unsent, .. } = self;
        if sender.as_ref().is_some_and(Sender::is_full) {
            return Next::Nothing;
        }
        let outlet = socket.outlet();
        let (segments_max, bytes_max) = (outlet.segments_max().min(BATCH_DATAGRAMS), BATCH_BYTES_MAX);
        // One packet always fits, since its payload leaves room for its seal.
        let seal_bytes = mtu::seal_bytes(seals.is_some());
        let batch = Batch { segments_max, bytes_max: bytes_max - segments_max * seal_bytes };
        let Some(transmit) = software.poll_transmit(batch) else { return Next::Nothing };
        let Transmit { to, segment_bytes, .. } = transmit;
        if let Some(shared) = shared.as_mut().filter(|shared| shared.reaches(to)) {
            // Not sealed: the kernel has authenticated the reader's user.
            unsent.count_not_read(shared.send(&transmit), to);
            shared.pace(software, self.epoch.elapsed().as_nanos() as u64);
            return Next::Sent;
        }
        let bytes = transmit.segments() * segment_bytes;
        if let Some(sender) = sender.as_mut().filter(|sender| sender.takes(to, bytes)) {
            let mut pieces = sender.pieces();
            match seals {
                Some(seals) => pieces.set(|out| seals.seal(to, transmit.slices(), segment_bytes, out)),
                // SAFETY: `reclaim`, `relocate` and `drop` return lent memory only after `settle`.
                #[allow(unsafe_code)]
                None => unsafe { pieces.push_datagrams(&transmit) },
            }
            sender.send(to, peers[to], segment_bytes + seal_bytes, pieces);
            return Next::Sent;
        }
        if let Some(seals) = seals {
            seals.seal(to, transmit.slices(), segment_bytes, out);
        } else if outlet.send_slices(peers[to], transmit.slices(), segment_bytes, transmit.segments()) {
            return Next::Sent;
        } else {
            transmit.copy_to(out);
        }
        Next::Copied(Pending { to, segment_bytes: segment_bytes + seal_bytes })
    }

    /// Ends all reads of lent memory that returns to its owner.
    fn settle(&mut self, values: &Values) {
        let begin = values.as_ptr().addr();
        let addresses = begin..begin + size_of_val(&**values);
        if let Some(shared) = &mut self.shared {
            shared.settle(&addresses);
        }
        if let Some(sender) = &mut self.sender {
            sender.settle(&addresses);
        }
    }

    fn send(&mut self) -> Result<bool, UdpError> {
        self.take_outcomes()?;
        for turn in 0..BATCHES_A_TURN {
            let next = match self.pending.take() {
                Some(pending) => Next::Copied(pending),
                None => self.send_next(),
            };
            let pending = match next {
                Next::Nothing => return Ok(turn > 0),
                Next::Sent => continue,
                Next::Copied(pending) => pending,
            };
            if !self.send_copied(pending)? {
                self.pending = Some(pending);
                return Ok(turn > 0);
            }
        }
        Ok(true)
    }

    fn send_copied(&mut self, pending: Pending) -> Result<bool, UdpError> {
        let Self { socket, peers, out, .. } = self;
        let Pending { to, segment_bytes } = pending;
        let sent = socket.outlet().send(peers[to], out, segment_bytes);
        self.count(Outcome { to, segment_bytes, sent })
    }

    fn take_outcomes(&mut self) -> Result<(), UdpError> {
        while let Some(sender) = &mut self.sender {
            let outcome = sender.outcome().map_err(|source| UdpError::Socket { what: "sending".into(), source })?;
            let Some(outcome) = outcome else { break };
            self.count(outcome)?;
        }
        Ok(())
    }

    /// Counts refused datagrams. Returns `false` if the caller must retry.
    fn count(&mut self, outcome: Outcome) -> Result<bool, UdpError> {
        let Outcome { to, segment_bytes, sent } = outcome;
        match sent {
            Ok(Sent::All) => Ok(true),
            Ok(Sent::Refused { refusal, datagrams }) => {
                self.unsent.count(refusal, datagrams, to);
                Ok(true)
            }
            Ok(Sent::NotYet) => Ok(false),
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::MSGSIZE.raw_os_error()) => {
                Err(UdpError::Mtu { to, bytes: segment_bytes + IP_UDP_BYTES })
            }
            Err(source) => Err(UdpError::Socket { what: format!("sending to rank {to}"), source }),
        }
    }
}

impl Drop for Udp {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(shared) = &mut self.shared {
            shared.settle(&(0..usize::MAX));
        }
    }
}

impl DataPlane for Udp {
    type Error = UdpError;

    fn late_bytes(&self) -> Option<u64> {
        self.software.late_bytes()
    }

    fn limits(&self) -> PlaneLimits {
        self.software.limits()
    }

    fn capabilities(&self) -> Capabilities {
        self.software.capabilities()
    }

    fn lend(&mut self, memory: Memory, values: Values) {
        self.software.lend(memory, values);
    }

    fn reclaim(&mut self, memory: Memory) -> Option<Values> {
        let values = self.software.reclaim(memory)?;
        self.settle(&values);
        Some(values)
    }

    fn relocate(&mut self, memory: Memory, values: Values) -> Result<Values, Values> {
        let values = self.software.relocate(memory, values)?;
        self.settle(&values);
        Ok(values)
    }

    fn arm(&mut self, plan: &WindowPlan, params: &JobParams) -> Result<(), UdpError> {
        Ok(self.software.arm(plan, params)?)
    }

    fn contribute(&mut self, plan: &WindowPlan) -> Result<(), UdpError> {
        self.software.set_now(self.now_ns());
        self.software.contribute(plan)?;
        // The first packets leave while the next window is encoded.
        self.send()?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), UdpError> {
        Ok(self.software.flush()?)
    }

    fn poll(&mut self) -> Result<Option<PlaneEvent>, UdpError> {
        if let Some(event) = self.software.poll()? {
            return Ok(Some(event));
        }
        self.busy = self.work()?;
        Ok(self.software.poll()?)
    }

    fn take_result(&mut self, plan: &WindowPlan, look: &mut dyn FnMut(WindowOutput<'_>)) -> Result<(), UdpError> {
        Ok(self.software.take_result(plan, look)?)
    }

    fn set_rate(&mut self, peer: usize, rate_bytes_per_us: u32) -> Result<(), UdpError> {
        Ok(self.software.set_rate(peer, rate_bytes_per_us)?)
    }

    fn cancel(&mut self, plan: &WindowPlan) -> Result<(), UdpError> {
        self.software.cancel(plan).map_err(UdpError::from)
    }

    fn announce(&mut self, view: &View) {
        self.software.announce(view);
    }

    fn enter(&mut self, view: &View) -> Result<bool, UdpError> {
        Ok(self.software.enter(view)?)
    }

    fn take_heard(&mut self) -> Ranks {
        self.software.take_heard()
    }

    fn set_gone(&mut self, rank: usize, is_gone: bool) {
        self.software.set_gone(rank, is_gone);
    }
}
