//! The UDP data plane: [`Software`] on a socket and this machine's clock.
//!
//! [`DataPlane::poll`] does the work: it takes what has come and sends what may go, a bounded amount at a time.
//! Trust: only datagrams from the addresses that the ranks gave at bootstrap count, and the sender's rank must be that of
//! the address.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use thiserror::Error;

use super::mtu::{self, IP_UDP_BYTES, PathError};
use super::socket::{Sent, Socket};
use super::unsent::Unsent;
use crate::control::{ControlChannel, Job};
use crate::secret::{SEAL_BYTES, SealDrops, Seals, Secret};
use optireduce_core::RepairData;
use optireduce_core::protocol::{JobParams, Ranks, View, WindowPlan};
use optireduce_core::software::{Batch, Counters, Software, SoftwareError, SoftwareJob, Transmit};
use optireduce_core::{Capabilities, DataPlane, PlaneEvent, PlaneLimits};

/// Largest batch of datagrams: what IPv4 can carry in one.
const BATCH_BYTES_MAX: usize = 65_535 - IP_UDP_BYTES;
/// Receive and send turns in one poll.
const TURNS: usize = 8;
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
    peers: Vec<SocketAddr>,
    ranks: HashMap<SocketAddr, usize>,
    epoch: Instant,
    /// Keys of the packets, if the job has a secret.
    seals: Option<Seals>,
    /// Packets to be sealed.
    plain: Vec<u8>,
    /// Datagrams that the socket did not take yet.
    out: Vec<u8>,
    pending: Option<Transmit>,
    unsent: Unsent,
    /// Whether the last look at the socket had any result.
    busy: bool,
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
        let what = || format!("a UDP socket at {local}");
        let socket = Socket::bind(local);
        socket
            .map(|socket| Unconnected { socket, seals: None })
            .map_err(|source| UdpError::Socket { what: what(), source })
    }
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

    /// Payload in beats of the job's packets: the smallest that a rank was given, or, if one was given none, the largest
    /// that gets through between all ranks. All ranks must call this at the same point. `left`: the time until its end.
    ///
    /// # Errors
    /// See [`PathError`].
    pub fn payload_beats(
        &mut self,
        channel: &mut ControlChannel,
        left: impl Fn() -> Duration,
    ) -> Result<usize, PathError> {
        let members = &channel.job().members;
        if mtu::is_open(members) {
            return mtu::discover(&mut self.socket, &mut self.seals, channel, left);
        }
        Ok(members.iter().map(|member| member.payload_beats).min().unwrap_or(1))
    }

    /// This rank's data plane of a job whose packets carry `payload_beats`.
    ///
    /// # Errors
    /// If the job cannot be.
    pub fn join(self, rank: usize, job: &Job, payload_beats: usize) -> Result<Udp, UdpError> {
        let ranks = job.members.len();
        // All peers may send at once.
        let share = |member: &crate::control::Member| {
            member.receive_buffer_bytes / COUNTED_BYTES_PER_BYTE / (ranks as u64 - 1).max(1)
        };
        let in_flight_bytes_max =
            job.members.iter().map(|member| share(member).clamp(1, IN_FLIGHT_BYTES_MAX)).collect();
        let software = SoftwareJob { in_flight_bytes_max, ..SoftwareJob::new(rank, ranks, job.tag, payload_beats) };
        let peers: Vec<_> = job.members.iter().map(|member| member.udp).collect();
        Ok(Udp {
            software: Software::new(software)?,
            socket: self.socket,
            seals: self.seals,
            plain: Vec::new(),
            ranks: peers.iter().enumerate().map(|(rank, address)| (*address, rank)).collect(),
            peers,
            epoch: Instant::now(),
            out: Vec::with_capacity(BATCH_BYTES_MAX),
            pending: None,
            unsent: Unsent::default(),
            busy: false,
        })
    }
}

impl Udp {
    /// The time that the protocol is to be told, in ns.
    pub fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    /// What came and what was dropped so far.
    pub fn counters(&self) -> &Counters {
        self.software.counters()
    }

    /// Datagrams that the kernel refused to send.
    pub fn unsent(&self) -> &Unsent {
        &self.unsent
    }

    /// Whether packets have come of a collective of the newest view that has not begun here.
    pub fn is_awaited(&self) -> bool {
        self.software.is_awaited()
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

    /// Sleeps until something comes, `waker` is readable, a timer is due or `at_most` has passed.
    ///
    /// # Errors
    /// If the kernel's poll fails.
    pub fn wait(&self, waker: BorrowedFd<'_>, at_most: Duration) -> Result<(), UdpError> {
        let mut flags = PollFlags::IN;
        flags.set(PollFlags::OUT, self.pending.is_some());
        let timer_ns = self.software.next_timeout().map(|at_ns| at_ns.saturating_sub(self.now_ns()));
        let wait = at_most.min(timer_ns.map_or(at_most, Duration::from_nanos));
        let timeout = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
        let mut fds = [PollFd::new(&self.socket, flags), PollFd::from_borrowed_fd(waker, PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(UdpError::Socket { what: "waiting for datagrams".into(), source: error.into() }),
        }
    }

    /// Takes what has come and sends what may go; returns whether there was anything.
    fn work(&mut self) -> Result<bool, UdpError> {
        let mut worked = false;
        for _ in 0..TURNS {
            self.software.advance(self.epoch.elapsed().as_nanos() as u64);
            let Self { socket, software, ranks, seals, .. } = self;
            let take = |from: SocketAddr, datagram: &mut [u8]| {
                let from = ranks.get(&from).copied();
                let packet = match seals {
                    None => Some(&*datagram),
                    Some(seals) => seals.open(from, datagram),
                };
                if let Some(packet) = packet {
                    software.handle_datagram(from, packet);
                }
            };
            let received = socket.receive(take);
            let received = received.map_err(|source| UdpError::Socket { what: "receiving".into(), source })?;
            let sent = self.send()?;
            worked |= received | sent;
            if !received && !sent {
                break;
            }
        }
        Ok(worked)
    }

    /// The next datagrams, in `out`.
    fn next_batch(&mut self) -> Option<Transmit> {
        let (segments_max, bytes_max) = (self.socket.segments_max(), BATCH_BYTES_MAX);
        let Some(seals) = &mut self.seals else {
            return self.software.poll_transmit(Batch { segments_max, bytes_max }, &mut self.out);
        };
        // One packet fits in any case: its payload leaves room for its seal.
        let batch = Batch { segments_max, bytes_max: bytes_max - segments_max * SEAL_BYTES };
        let mut transmit = self.software.poll_transmit(batch, &mut self.plain)?;
        seals.seal(transmit.to, &self.plain, transmit.segment_bytes, &mut self.out);
        transmit.segment_bytes += SEAL_BYTES;
        Some(transmit)
    }

    fn send(&mut self) -> Result<bool, UdpError> {
        for turn in 0..BATCHES_A_TURN {
            let next = self.pending.take().or_else(|| self.next_batch());
            let Some(transmit) = next else { return Ok(turn > 0) };
            let Transmit { to, segment_bytes, .. } = transmit;
            match self.socket.send(self.peers[to], &self.out, segment_bytes) {
                Ok(Sent::All) => {}
                Ok(Sent::Refused { refusal, datagrams }) => self.unsent.count(refusal, datagrams, to),
                Ok(Sent::NotYet) => {
                    self.pending = Some(transmit);
                    return Ok(turn > 0);
                }
                Err(error) if error.raw_os_error() == Some(rustix::io::Errno::MSGSIZE.raw_os_error()) => {
                    return Err(UdpError::Mtu { to, bytes: segment_bytes + IP_UDP_BYTES });
                }
                Err(source) => return Err(UdpError::Socket { what: format!("sending to rank {to}"), source }),
            }
        }
        Ok(true)
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

    fn arm(&mut self, plan: &WindowPlan, params: &JobParams) -> Result<(), UdpError> {
        Ok(self.software.arm(plan, params)?)
    }

    fn contribute(&mut self, plan: &WindowPlan, elements: &[f32]) -> Result<(), UdpError> {
        self.software.advance(self.now_ns());
        self.software.contribute(plan, elements)?;
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

    fn take_result(&mut self, plan: &WindowPlan, out: &mut [f32]) -> Result<(), UdpError> {
        Ok(self.software.take_result(plan, out)?)
    }

    fn set_rate(&mut self, peer: usize, rate_bytes_per_us: u32) -> Result<(), UdpError> {
        Ok(self.software.set_rate(peer, rate_bytes_per_us)?)
    }

    fn repair_data(&mut self, plan: &WindowPlan) -> Option<RepairData> {
        self.software.repair_data(plan)
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
}
