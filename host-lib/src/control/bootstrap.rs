//! Bootstrap: rendezvous of the ranks of a job at rank 0.
//!
//! Every other rank connects to rank 0 and reports its settings ([`join`](super::join)). Once all
//! have reported, rank 0 ([`gather`](super::gather)) sends the job's tag, seed and addresses. Then
//! every pair of ranks connects, and rank 0 starts the job. If this fails, every rank receives the
//! same reason, by the earliest deadline of a rank.
//! Limits: without a secret, any process that knows the job id can join the job or make it fail.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::host::{host_and_port, is_loopback};
use super::launch::Launch;
use super::link::{Common, Link};
use super::terms::{Mismatch, Terms, printable, read_printable};
use crate::local;
use crate::secret::Secret;

pub(super) const VERSION: u32 = 11;
/// Time limit of a greeting; the rank may try again.
pub(super) const GREETING: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    pub rank: usize,
    /// Address of its data plane; the card's if it has one.
    pub udp: SocketAddr,
    /// Address of its listener for other ranks.
    pub control: SocketAddr,
    /// Listeners of its groups, one for each kind, in case this is the group's lowest rank.
    #[serde(default)]
    pub places: Vec<SocketAddr>,
    pub receive_buffer_bytes: u64,
    /// Configured largest payload in beats; 0: the path's.
    pub payload_beats: usize,
    /// Distinguishes processes of this rank: 0 for the first. Rank 0 numbers the processes that
    /// rejoin, since clocks of hosts differ and may be set back.
    #[serde(default)]
    pub session: u64,
    /// Address for ranks that map its shared memory.
    #[serde(default)]
    pub local: Option<local::Address>,
    #[serde(default)]
    pub card: Option<CardLimits>,
    /// MAC address of `udp`, for cards.
    #[serde(default)]
    pub mac: Option<[u8; 6]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CardLimits {
    pub slots: usize,
    pub window_beats_max: usize,
    /// Largest Hadamard block in elements.
    pub hadamard_log2_max: u32,
    pub ranks_max: usize,
    pub payload_beats_max: usize,
}

impl Member {
    pub fn at(rank: usize, address: SocketAddr) -> Self {
        Self {
            rank,
            udp: address,
            control: address,
            places: Vec::new(),
            receive_buffer_bytes: 0,
            payload_beats: 0,
            session: 0,
            local: None,
            card: None,
            mac: None,
        }
    }

    /// Checks that the rank's addresses are the source of its connection, except a card's.
    pub(super) fn is_at(&self, from: IpAddr) -> Result<(), Refusal> {
        let udp = Some(self.udp).filter(|_| self.card.is_none());
        let mut addresses = udp.into_iter().chain([self.control]).chain(self.places.iter().copied());
        let other = addresses.find(|address| address.ip() != from);
        other.map_or(Ok(()), |found| Err(Refusal::Address { rank: self.rank, found, from }))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Random; in every packet of this job.
    pub tag: u64,
    /// Seed of the Hadamard signs.
    pub seed: u64,
    pub members: Vec<Member>,
    /// With a secret only.
    pub packet_key: Option<PacketKey>,
}

/// Random key from which packet keys are derived. Sent over encrypted connections only.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PacketKey([u8; 32]);

impl PacketKey {
    pub fn random() -> Result<Self, BootstrapError> {
        let mut bytes = [0; 32];
        for word in bytes.as_chunks_mut().0 {
            *word = random()?.to_ne_bytes();
        }
        Ok(Self(bytes))
    }

    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl std::fmt::Debug for PacketKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PacketKey(..)")
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Meeting {
    pub launch: Launch,
    pub root: Vec<SocketAddr>,
    pub listener: Option<Arc<std::net::TcpListener>>,
    pub local: IpAddr,
    /// Largest IP packet, if the caller sets it.
    pub mtu: Option<usize>,
    pub secret: Option<Secret>,
    pub timeout: Duration,
    pub deadline: Instant,
}

impl Meeting {
    pub(super) fn common(&self) -> Common {
        Common::new(&self.launch, self.secret.as_ref())
    }
}

/// Part of [`Hello`] that all protocol versions share.
#[derive(Debug, Deserialize)]
pub(super) struct Greeting {
    pub version: u32,
    #[serde(default)]
    pub job_id: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Hello {
    pub version: u32,
    pub job_id: String,
    pub world_size: usize,
    pub member: Member,
    pub settings: Terms,
    #[serde(default)]
    pub rejoin: bool,
    #[serde(default)]
    pub unable: Option<String>,
    pub timeout_ms: u64,
    pub left_ms: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// Connect to each other.
    Welcome {
        job: Job,
        /// Remaining time of rank 0.
        left_ms: u64,
    },
    /// Result of a group rendezvous.
    Groups(Vec<Group>),
    /// All ranks are connected.
    Begin,
    /// Connect to all ranks that are not gone.
    Running(Box<Running>),
    /// The connection continues another one, over which this many messages were received.
    Again {
        received: u64,
    },
    Refused(Refusal),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Group {
    /// Kind of group; `number` counts the groups of this kind.
    pub name: String,
    pub number: usize,
    /// Job ranks, in the order of their ranks in the group.
    pub ranks: Vec<usize>,
    /// Listener of the lowest member.
    pub root: SocketAddr,
    /// Job ranks at this rank's address.
    pub ranks_here: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Running {
    pub job: Job,
    pub gone: Vec<usize>,
    pub payload_beats: usize,
    pub skip_gone: bool,
    pub buckets: Vec<Terms>,
}

/// Report to rank 0 after a welcome.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Connected {
    pub failure: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PeerHello {
    pub tag: u64,
    pub rank: usize,
    #[serde(default)]
    pub member: Option<Member>,
    /// After a connection broke.
    #[serde(default)]
    pub again: Option<Again>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Again {
    /// As in [`Member`].
    pub session: u64,
    /// Number of received messages; `None` asks the other end to connect.
    pub received: Option<u64>,
}

/// Reason why there is no job.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum Refusal {
    /// A setting is not the same on all ranks.
    #[error(transparent)]
    Settings(#[from] Mismatch),
    /// Another process has this rank. Only the later one fails.
    #[error(
        "rank {rank} is already taken: the process at {first} has it, another one at {second} was refused; start each process \
         with a different rank"
    )]
    Twice { rank: usize, first: SocketAddr, second: SocketAddr },
    /// The job began without this process.
    #[error(
        "the job is already running; to replace its rank {rank} after a restart, set OPTIREDUCE_REJOIN=1; to start another job, \
         set another job id"
    )]
    Runs { rank: usize },
    /// The job began without this process, and cannot be rejoined.
    #[error(
        "the job is already running, and rank {card} has a card: a job with cards cannot be rejoined; restart all its ranks, \
         or set another job id to start another job"
    )]
    Cards { card: usize },
    /// A rank's address is not the source of its connection. Only that rank fails.
    #[error(
        "rank {rank} reports that it receives at {found}, but connects from {from}; its address must not be translated on the way: \
         select the interface that leads to rank 0"
    )]
    Address { rank: usize, found: SocketAddr, from: IpAddr },
    /// The rank is outside the job.
    #[error("a process was started as rank {rank} in a job of {world_size} ranks; expected 0 to {}", world_size.saturating_sub(1))]
    NoSuchRank { rank: usize, world_size: usize },
    /// A rank cannot take part.
    #[error("rank {rank} cannot take part: {reason}")]
    Unable {
        rank: usize,
        #[serde(deserialize_with = "read_printable")]
        reason: String,
    },
    /// Ranks did not connect in time.
    #[error(
        "{} of {world_size} ranks did not connect within {} s: rank {}; is it running, and does it reach {root}?{}",
        missing.len(), *timeout_ms as f64 / 1e3, list(missing), remarks(refused)
    )]
    Missing {
        missing: Vec<usize>,
        world_size: usize,
        /// Timeout of the rank that gave up first.
        timeout_ms: u64,
        #[serde(deserialize_with = "read_printable")]
        root: String,
        /// Refusals meanwhile.
        refused: Vec<String>,
    },
    /// The ranks cannot be divided into the configured groups.
    #[error("{reason}")]
    Groups {
        #[serde(deserialize_with = "read_printable")]
        reason: String,
    },
    /// A rank could not connect to another.
    #[error("rank {rank} could not connect to all other ranks: {reason}")]
    NotConnected {
        rank: usize,
        #[serde(deserialize_with = "read_printable")]
        reason: String,
    },
}

/// The bootstrap failed.
#[derive(Debug, Error)]
pub enum BootstrapError {
    /// The ranks that connected cannot form a job.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Rank 0's name was not resolved.
    #[error("the address of rank 0, {root}, was not found within {} s: {source}", seconds(*waited))]
    NoAddress { root: String, waited: Duration, source: io::Error },
    /// Rank 0 was not reached.
    #[error(
        "rank 0 was not reached at {root} within {} s ({source}); is it running, and is that its address?{}",
        timeout.as_secs_f64(), if_loopback(root)
    )]
    NoRoot { root: String, timeout: Duration, source: io::Error },
    /// The hard limit of open files is too low.
    #[error(
        "a job of {ranks} ranks needs {expected} open files in this process, whose hard limit is {found}; raise the hard \
         limit (ulimit -Hn, or LimitNOFILE of the service) and restart the process; `ulimit -n` shows the current soft limit"
    )]
    Files { ranks: usize, found: u64, expected: u64 },
    /// A network operation failed.
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
}

fn list(ranks: &[usize]) -> String {
    ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn remarks(refused: &[String]) -> String {
    refused.iter().map(|reason| format!(" Refused meanwhile: {}", printable(reason.clone()))).collect()
}

fn seconds(duration: Duration) -> f64 {
    duration.as_millis() as f64 / 1e3
}

fn if_loopback(root: &str) -> &'static str {
    match host_and_port(root).is_some_and(|(host, _)| is_loopback(host)) {
        true => {
            " A loopback address reaches only the host of rank 0: from another host, set the root to an address or name of that host"
        }
        false => "",
    }
}

pub(super) fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> BootstrapError {
    |source| BootstrapError::Io { what: what.into(), source }
}

pub(super) fn random() -> Result<u64, BootstrapError> {
    let mut bytes = [0; 8];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    filled.map_err(|error| io_error("random numbers")(error.into()))?;
    Ok(u64::from_ne_bytes(bytes))
}

pub(super) type Links = Vec<Option<Link>>;

#[cfg(test)]
mod tests {
    use super::*;

    /// Truncated or changed bytes are an error, or a message that can be shown.
    fn check<T: Serialize + serde::de::DeserializeOwned + std::fmt::Debug>(message: &T, show: impl Fn(&T)) {
        let bytes = serde_json::to_vec(message).unwrap();
        let read = |bytes: &[u8]| {
            if let Ok(message) = serde_json::from_slice::<T>(bytes) {
                show(&message);
            }
        };
        read(&bytes);
        (0..bytes.len()).for_each(|length| assert!(serde_json::from_slice::<T>(&bytes[..length]).is_err()));
        for at in 0..bytes.len() {
            for byte in [0, b'0', b'9', b'-', b'e', b'"', b'{', b'[', b'\\', 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = byte;
                read(&changed);
            }
        }
    }

    #[test]
    fn changed_messages_are_errors_or_other_messages() {
        let address = SocketAddr::from(([127, 0, 0, 1], 1));
        let member = Member {
            rank: 1,
            udp: address,
            control: address,
            places: vec![address; 2],
            receive_buffer_bytes: 9,
            payload_beats: 2,
            session: 3,
            local: local::Listener::bind().ok().map(|listener| listener.address().clone()),
            card: Some(CardLimits {
                slots: 8,
                window_beats_max: 16_384,
                hadamard_log2_max: 14,
                ranks_max: 64,
                payload_beats_max: 139,
            }),
            mac: Some([2, 0, 0, 0, 0, 1]),
        };
        let settings = Terms::default().with("bf16", true);
        let job = Job { tag: 1, seed: 2, members: vec![member.clone(); 2], packet_key: None };
        let (payload_beats, buckets) = (1, vec![settings.clone()]);
        let running = Running { job: job.clone(), gone: vec![1], payload_beats, skip_gone: true, buckets };
        let hello = Hello {
            version: VERSION,
            job_id: "job".into(),
            world_size: 2,
            member: member.clone(),
            settings,
            rejoin: true,
            unable: Some("no card".into()),
            timeout_ms: 1,
            left_ms: 1,
        };
        check(&hello, |hello| drop(hello.member.is_at(address.ip()).map_err(|refusal| refusal.to_string())));
        let again = Some(Again { session: 1, received: Some(2) });
        check(&PeerHello { tag: 1, rank: 1, member: Some(member), again }, |_| ());
        check(&Answer::Again { received: 7 }, |_| ());
        check(&Connected { failure: Some("no".into()) }, |_| ());
        let show = |answer: &Answer| {
            if let Answer::Refused(refusal) = answer {
                assert!(!refusal.to_string().is_empty());
            }
        };
        check(&Answer::Welcome { job, left_ms: 5 }, show);
        check(&Answer::Running(Box::new(running)), show);
        let group = Group { name: "inside".into(), number: 1, ranks: vec![2, 3], root: address, ranks_here: 4 };
        check(&Answer::Groups(vec![group]), show);
        for refusal in [
            Refusal::NoSuchRank { rank: 7, world_size: 2 },
            Refusal::Runs { rank: 1 },
            Refusal::Cards { card: 1 },
            Refusal::Unable { rank: 1, reason: "no card".into() },
            Refusal::Groups { reason: "one host".into() },
            Refusal::Twice { rank: 1, first: address, second: address },
            Refusal::Missing { missing: vec![1], world_size: 2, timeout_ms: 5, root: "h:1".into(), refused: vec![] },
        ] {
            check(&Answer::Refused(refusal), show);
        }
    }
}
