//! The UDP data plane: [`Software`] on a socket and this machine's clock.
//!
//! Ranks of this host are sent to through shared memory ([`local`](crate::local)), if the job has it; they are the same datagrams.
//! [`DataPlane::poll`] does the work: it takes what has come and sends what may go, a bounded amount at a time.
//! Trust: only datagrams from the addresses that the ranks gave at bootstrap count, and the sender's rank must be that of
//! the address.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
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
use crate::wait::{Sources, Wait};
use optireduce_core::protocol::{JobParams, Ranks, View, WindowPlan};
use optireduce_core::software::{Batch, Counters, Software, SoftwareError, SoftwareJob, Transmit};
use optireduce_core::{Capabilities, DataPlane, Memory, PlaneEvent, PlaneLimits, Values, WindowOutput};

/// Largest batch of datagrams: what IPv4 can carry in one.
const BATCH_BYTES_MAX: usize = 65_535 - IP_UDP_BYTES;
const _: () = assert!(BATCH_BYTES_MAX <= BATCH_BYTES);
/// Receive and send turns in one poll.
const TURNS: usize = 8;
/// Turns between two looks at the socket, if it has not woken this rank and no rank is sent to by it.
const TURNS_WITHOUT_SOCKET: u32 = 64;
/// Batches sent between two looks at what has come.
const BATCHES_A_TURN: usize = 4;

/// What ends a UDP data plane.
#[derive(Debug, Error)]
pub enum UdpError {
    /// A command that cannot be done.
    #[error(transparent)]
    Software(#[from] SoftwareError),
    /// The socket failed.
    #[error("{what}: {source}")]
    Socket {
        /// What was done.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
    /// The path takes no datagrams of this size.
    #[error("the path to rank {to} takes no datagrams of {bytes} bytes; give a smaller MTU")]
    Mtu {
        /// Rank sent to.
        to: usize,
        /// Bytes of the IP packet.
        bytes: usize,
    },
}

/// A data plane over UDP. Made in two steps, since the ranks must know each other's ports: [`bind`](Self::bind), then
/// [`join`](Unconnected::join).
pub struct Udp {
    software: Software,
    socket: Socket,
    /// Sends large batches, if a core is free for it.
    sender: Option<Sender>,
    peers: Vec<SocketAddr>,
    ranks: HashMap<SocketAddr, usize>,
    epoch: Instant,
    /// Keys of the packets, if the job has a secret.
    seals: Option<Seals>,
    /// Datagrams one after the other: sealed, or refused once by the socket.
    out: Vec<u8>,
    /// Those in `out`, if the socket did not take them yet.
    pending: Option<Pending>,
    unsent: Unsent,
    /// Ranks of this host.
    shared: Option<Shared>,
    /// Ranks of this host were told to ring.
    dozed: Cell<bool>,
    /// Turns since the socket was looked at.
    turns: u32,
    /// How often in a row work was interrupted to arm windows.
    breaks: usize,
    /// Whether the last look at the socket had any result.
    busy: bool,
}

/// Datagrams for a rank, all of `segment_bytes` but the last.
#[derive(Clone, Copy)]
struct Pending {
    to: usize,
    segment_bytes: usize,
}

/// What has become of the next datagrams.
enum Next {
    Nothing,
    Sent,
    /// They are in `out`.
    Copied(Pending),
}

/// A socket whose job is not known yet.
pub struct Unconnected {
    socket: Socket,
    seals: Option<Seals>,
}

impl Udp {
    /// Binds a free port of `local`.
    ///
    /// # Errors
    /// If that cannot be.
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

/// Whether any of so many ranks is sent to by the socket.
fn uses_socket(shared: Option<&Shared>, ranks: usize) -> bool {
    shared.is_none_or(|shared| shared.ranks().count() + 1 < ranks)
}

/// What the kernel counts for each byte of a datagram in a socket's buffer: twice as much for full pages, four times for
/// datagrams a little larger than one; and as much again for what is sent while a slow receiver's answers are awaited.
const COUNTED_BYTES_PER_BYTE: u64 = 8;
/// Most bytes on their way to a peer: what a path of 100 Gb/s and 80 us holds. More would wait in queues on the way.
const IN_FLIGHT_BYTES_MAX: u64 = 1 << 20;

impl Unconnected {
    /// Where it receives.
    ///
    /// # Errors
    /// If the kernel does not say.
    pub fn local_addr(&self) -> Result<SocketAddr, UdpError> {
        self.socket.local_addr().map_err(|source| UdpError::Socket { what: "the socket's address".into(), source })
    }

    /// Bytes that the kernel buffers for it.
    pub fn receive_buffer_bytes(&self) -> u64 {
        self.socket.receive_buffer_bytes() as u64
    }

    /// From now on packets are sealed, if the job has a secret. Once for each job.
    pub fn seal(&mut self, secret: Option<&Secret>, rank: usize, job: &Job) {
        let keys = secret.zip(job.packet_key.as_ref());
        let sessions: Vec<u64> = job.members.iter().map(|member| member.session).collect();
        self.seals = keys.map(|(secret, key)| Seals::new(secret, key.bytes(), rank, &sessions));
    }

    /// Receives at `address` from now on, and nowhere else.
    ///
    /// # Errors
    /// If another process does.
    pub fn move_to(&mut self, address: SocketAddr) -> Result<(), UdpError> {
        self.socket = bind(address)?;
        Ok(())
    }

    /// This rank's data plane of a job whose packets carry `payload_beats`. `local`: shared memory with ranks of this host, if there is any.
    /// `sends_beside`: large batches are sent by a thread of their own, if any rank is sent to over UDP.
    ///
    /// # Errors
    /// If the job cannot be.
    pub fn join(
        self,
        rank: usize,
        job: &Job,
        payload_beats: usize,
        local: Option<Local>,
        sends_beside: bool,
    ) -> Result<Udp, UdpError> {
        let ranks = job.members.len();
        // All peers may send at once.
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
        // A ring is its own limit.
        shared.iter().flat_map(Shared::ranks).for_each(|peer| in_flight_bytes_max[peer] = 0);
        let software = SoftwareJob { in_flight_bytes_max, ..SoftwareJob::new(rank, ranks, job.tag, payload_beats) };
        let peers: Vec<_> = job.members.iter().map(|member| member.udp).collect();
        let mut software = Software::new(software)?;
        shared.iter().flat_map(Shared::ranks).for_each(|peer| software.set_lossless(peer, true));
        let is_used = uses_socket(shared.as_ref(), ranks);
        let sender = (sends_beside && is_used).then(|| Sender::start(self.socket.outlet().clone(), ranks));
        let sender =
            sender.transpose().map_err(|source| UdpError::Socket { what: "the thread that sends".into(), source })?;
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

/// Payload in beats of the job's packets: the smallest that a rank was given, or, if one was given none, the largest that gets through
/// between all ranks without a card; never more than the cards take. All ranks must call this at the same point; one with a card
/// has no socket. `members`: where they receive. `left`: the time until its end.
///
/// # Errors
/// See [`PathError`].
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
    /// The time that the protocol is to be told, in ns.
    pub fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    /// What came and what was dropped so far.
    pub fn counters(&self) -> Counters {
        *self.software.counters()
    }

    /// Datagrams that this host did not take.
    pub fn unsent(&self) -> &Unsent {
        &self.unsent
    }

    /// Whether packets have come of a collective of the newest view that has not begun here.
    pub fn is_awaited(&self) -> bool {
        self.software.is_awaited()
    }

    /// Keeps up to so many bytes of packets of views that are not announced yet.
    pub fn keep_unannounced(&mut self, bytes_max: usize) {
        self.software.keep_unannounced(bytes_max);
    }

    /// Ranks that are sent to through shared memory.
    pub fn shared(&self) -> Vec<usize> {
        let mut ranks: Vec<usize> = self.shared.iter().flat_map(Shared::ranks).collect();
        ranks.sort_unstable();
        ranks
    }

    /// Packets that were dropped because of their seal.
    pub fn seal_drops(&self) -> SealDrops {
        self.seals.as_ref().map_or(SealDrops::default(), |seals| *seals.drops())
    }

    /// Another process has this rank now.
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
        // Sealed for the process before.
        self.pending.take_if(|pending| pending.to == peer);
    }

    /// Smoothed round-trip time to a peer, in ns.
    pub fn rtt_ns(&self, peer: usize) -> Option<u64> {
        self.software.rtt_ns(peer)
    }

    /// Whether the last [`poll`](DataPlane::poll) moved datagrams.
    pub fn was_busy(&self) -> bool {
        self.busy
    }

    /// Whether there are datagrams that have not left yet.
    pub fn is_sending(&self) -> bool {
        self.pending.is_some() || self.software.is_sending()
    }

    /// Where what is for it comes in.
    ///
    /// # Errors
    /// If the kernel has no more file descriptors.
    pub fn sources(&self) -> io::Result<Sources> {
        let bells = self.shared.as_ref().map(|shared| shared.as_fd().try_clone_to_owned()).transpose()?;
        Ok(Sources::new(self.socket.outlet().as_fd().try_clone_to_owned()?, bells))
    }

    /// Tells ranks of this host to ring until the next [`poll`](DataPlane::poll); `false`: there is something to do at once.
    pub fn doze(&self) -> bool {
        let Some(shared) = &self.shared else { return true };
        self.dozed.set(true);
        shared.doze()
    }

    /// What to wait for when there is nothing to do: something comes, may be sent again, a timer is due or `at_most` has passed.
    pub fn wait(&self, at_most: Duration) -> Wait {
        let timer_ns = self.software.next_timeout().map(|at_ns| at_ns.saturating_sub(self.now_ns()));
        let at_most = at_most.min(timer_ns.map_or(at_most, Duration::from_nanos));
        let is_full = self.sender.as_ref().is_some_and(Sender::is_full);
        Wait::new(self.pending.is_some() || is_full, at_most)
    }

    /// Takes what has come and sends what may go; returns whether there was anything. Stages close by the clock only once the
    /// socket is empty, or the turns are over: what came while this thread was off the CPU has come in time.
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
            // What follows goes into its windows, if these are armed first: it need not be kept, and copied once more. Peers cannot keep this
            // rank from closing its stages so.
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

    /// Takes what ranks of this host have written; returns whether there was anything.
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

    /// Whether the socket is to be looked at: not in every turn if all ranks are of this host.
    fn is_socket_due(&mut self) -> bool {
        let is_used = uses_socket(self.shared.as_ref(), self.peers.len());
        self.turns += 1;
        let is_due = is_used || self.dozed.get() || self.turns >= TURNS_WITHOUT_SOCKET;
        if is_due {
            self.turns = 0;
        }
        is_due
    }

    /// Sends the next datagrams from where they lie, unless they are to be sealed. Those that are sealed, and those that the kernel
    /// does not take like that, are copied to `out`, to be sent from there. Ranks of this host get them in shared memory.
    fn send_next(&mut self) -> Next {
        let Self { socket, sender, software, seals, out, peers, shared, unsent, .. } = self;
        if sender.as_ref().is_some_and(Sender::is_full) {
            return Next::Nothing;
        }
        let outlet = socket.outlet();
        let (segments_max, bytes_max) = (outlet.segments_max().min(BATCH_DATAGRAMS), BATCH_BYTES_MAX);
        // One packet fits in any case: its payload leaves room for its seal.
        let seal_bytes = mtu::seal_bytes(seals.is_some());
        let batch = Batch { segments_max, bytes_max: bytes_max - segments_max * seal_bytes };
        let Some(transmit) = software.poll_transmit(batch) else { return Next::Nothing };
        let Transmit { to, segment_bytes, .. } = transmit;
        if let Some(shared) = shared.as_mut().filter(|shared| shared.reaches(to)) {
            // Not sealed: the kernel has said whose process reads it.
            unsent.count_not_read(shared.send(&transmit), to);
            shared.pace(software, self.epoch.elapsed().as_nanos() as u64);
            return Next::Sent;
        }
        let bytes = transmit.segments() * segment_bytes;
        if let Some(sender) = sender.as_mut().filter(|sender| sender.takes(to, bytes)) {
            let mut pieces = sender.pieces();
            match seals {
                Some(seals) => pieces.set(|out| seals.seal(to, transmit.slices(), segment_bytes, out)),
                // SAFETY: lent memory is given back by `reclaim`, `relocate` and `drop`, after `settle`.
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

    /// Memory that was lent is given back: nobody reads it any more.
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

    /// Sends what is in `out`; `false`: not yet.
    fn send_copied(&mut self, pending: Pending) -> Result<bool, UdpError> {
        let Self { socket, peers, out, .. } = self;
        let Pending { to, segment_bytes } = pending;
        let sent = socket.outlet().send(peers[to], out, segment_bytes);
        self.count(Outcome { to, segment_bytes, sent })
    }

    /// Learns what has become of the batches that the other thread sent.
    fn take_outcomes(&mut self) -> Result<(), UdpError> {
        while let Some(sender) = &mut self.sender {
            let outcome = sender.outcome().map_err(|source| UdpError::Socket { what: "sending".into(), source })?;
            let Some(outcome) = outcome else { break };
            self.count(outcome)?;
        }
        Ok(())
    }

    /// Counts what the kernel refused; `false`: it may be sent again.
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
    /// Lent memory is given back then.
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
