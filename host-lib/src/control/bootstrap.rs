//! The bootstrap: how the ranks of a job find one another.
//!
//! Every rank but 0 connects to rank 0 and says who it is and what its settings are ([`join`](super::join)); when all are there,
//! rank 0 ([`gather`](super::gather)) answers with the job: its tag, its seed and everybody's addresses. Then every pair of ranks
//! connects, all report to rank 0 whether they could, and rank 0 lets the job begin. A job that cannot be (settings that differ,
//! a rank that does not come, a path that is blocked) ends on every rank with the same reason, by the first rank's deadline.
//! Limits: without a secret, whoever knows the job's id can make the job fail, or be one of its ranks.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::launch::Launch;
use super::link::{Common, Link};
use super::terms::{Mismatch, Terms};
use crate::local;
use crate::secret::Secret;

/// Version of the messages of bootstrap and control channel.
pub(super) const VERSION: u32 = 10;
/// How long a rank may take for its greeting, once it has connected; it may try again.
pub(super) const GREETING: Duration = Duration::from_secs(10);

/// What a rank says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    /// Its number.
    pub rank: usize,
    /// Where its data plane receives.
    pub udp: SocketAddr,
    /// Where it takes connections of other ranks.
    pub control: SocketAddr,
    /// Where its groups meet if it is the lowest of them: a place for each of them, if the ranks only ask for their
    /// [groups](super::directory).
    #[serde(default)]
    pub places: Vec<SocketAddr>,
    /// Bytes that its socket buffers.
    pub receive_buffer_bytes: u64,
    /// Largest payload it was given, in beats of 64 bytes; 0: what gets through.
    pub payload_beats: usize,
    /// Tells this process from those that had its rank before: 0 for the first, the time
    /// of day in ns when it began for others.
    #[serde(default)]
    pub session: u64,
    /// Where ranks of its host can ask for its memory, if it shares any.
    #[serde(default)]
    pub local: Option<local::Address>,
    /// What its card can do, if it has one; `udp` is then the card's address.
    #[serde(default)]
    pub card: Option<CardLimits>,
    /// The MAC address that has the IP address of `udp`, if one has: of its card, or of an interface. Cards send to it.
    #[serde(default)]
    pub mac: Option<[u8; 6]>,
}

/// What a card can do, as far as all ranks of its job must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CardLimits {
    /// Windows that may be armed at once.
    pub slots: usize,
    /// Beats of the largest window.
    pub window_beats_max: usize,
    /// log2 of the largest Hadamard block in elements.
    pub hadamard_log2_max: u32,
    /// Most ranks of a job.
    pub ranks_max: usize,
    /// Largest payload of a packet in beats.
    pub payload_beats_max: usize,
}

impl Member {
    /// A rank at an address, of which nothing else is said.
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

    /// Whether its addresses are the one that its connection comes from. A card has an address of its own, which may be any.
    pub(super) fn is_at(&self, from: IpAddr) -> Result<(), Refusal> {
        let udp = Some(self.udp).filter(|_| self.card.is_none());
        let mut addresses = udp.into_iter().chain([self.control]).chain(self.places.iter().copied());
        let other = addresses.find(|address| address.ip() != from);
        other.map_or(Ok(()), |found| Err(Refusal::Address { rank: self.rank, found, from }))
    }
}

/// What all ranks of a job know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Random: tells this job's packets from others.
    pub tag: u64,
    /// Random: seed of the Hadamard signs.
    pub seed: u64,
    /// All ranks, in order.
    pub members: Vec<Member>,
    /// The key of the job's packets, if the job has a secret.
    pub packet_key: Option<PacketKey>,
}

/// Random; from it the keys of a job's packets follow. It travels on encrypted connections only.
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

/// How a rank meets the others.
#[derive(Clone, Debug)]
pub(crate) struct Meeting {
    /// This rank's place.
    pub launch: Launch,
    /// Where rank 0 listens, resolved.
    pub root: Vec<SocketAddr>,
    /// Where rank 0 listens, if it does already.
    pub listener: Option<Arc<std::net::TcpListener>>,
    /// The address of this host that the job uses.
    pub local: IpAddr,
    /// What only ranks of the job have, if it has one.
    pub secret: Option<Secret>,
    /// How long the bootstrap may take, and until when.
    pub timeout: Duration,
    /// When the bootstrap ends.
    pub deadline: Instant,
}

impl Meeting {
    /// What the ends of the job's connections have in common.
    pub(super) fn common(&self) -> Common {
        Common::new(&self.launch, self.secret.as_ref())
    }
}

/// The part of a greeting that every version has.
#[derive(Debug, Deserialize)]
pub(super) struct Greeting {
    pub version: u32,
    #[serde(default)]
    pub job_id: String,
}

/// What a rank tells rank 0.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Hello {
    pub version: u32,
    pub job_id: String,
    pub world_size: usize,
    pub member: Member,
    pub settings: Terms,
    /// Whether it may come into a job that runs already.
    #[serde(default)]
    pub rejoin: bool,
    /// Why it cannot take part, if it cannot: it only says so.
    #[serde(default)]
    pub unable: Option<String>,
    /// How long it waits in all, and how much of that is left.
    pub timeout_ms: u64,
    pub left_ms: u64,
}

/// What rank 0 answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// All ranks are there: connect.
    Welcome {
        job: Job,
        /// How long rank 0 waits for their reports.
        left_ms: u64,
    },
    /// All ranks are there, and this one is in these groups.
    Groups(Vec<Group>),
    /// All ranks are connected: begin.
    Begin,
    /// The job runs already: connect to all that are there.
    Running(Box<Running>),
    Refused(Refusal),
}

/// One of the groups that a rank is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Group {
    /// What kind of group it is, and which of that kind.
    pub name: String,
    pub number: usize,
    /// Its ranks of the job, in the order of their ranks in the group.
    pub ranks: Vec<usize>,
    /// Where the lowest of them takes connections.
    pub root: SocketAddr,
    /// Ranks of the job at this rank's address.
    pub ranks_here: usize,
}

/// What a process that was started again must know of the job that runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Running {
    /// The job, with its members as they are now.
    pub job: Job,
    /// Ranks that are not there.
    pub gone: Vec<usize>,
    /// Payload of the job's packets in beats.
    pub payload_beats: usize,
    /// Whether calls leave out ranks that are gone.
    pub skip_gone: bool,
    /// The buckets declared so far, in order.
    pub buckets: Vec<Terms>,
}

/// What a rank reports to rank 0 after it was welcomed: why it could not connect to all others, if it could not.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Connected {
    pub failure: Option<String>,
}

/// The first message between two ranks other than 0.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PeerHello {
    pub tag: u64,
    pub rank: usize,
    /// Of a process that comes into a job that runs.
    #[serde(default)]
    pub member: Option<Member>,
}

/// Why there is no job: the same on every rank.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Refusal {
    /// A setting is not the same on all ranks.
    #[error(transparent)]
    Settings(#[from] Mismatch),
    /// Another process has this rank. Only the later one gets this; the job goes on with the first.
    #[error(
        "rank {rank} is there already: a process that receives at {first} has it, another at {second} was refused; give each \
         process a rank of its own"
    )]
    Twice {
        /// The rank.
        rank: usize,
        /// Where the first process receives.
        first: SocketAddr,
        /// Where the second one does.
        second: SocketAddr,
    },
    /// The job has begun without this process.
    #[error(
        "the job runs already; a process that was started again as rank {rank} may come into it if it says so: set \
         OPTIREDUCE_REJOIN=1, or give another job id to begin another job"
    )]
    Runs {
        /// The rank.
        rank: usize,
    },
    /// The job has begun without this process, and cannot be entered.
    #[error(
        "the job runs already, and rank {card} has a card: nobody can come into a job with cards; start all its ranks again, or \
         give another job id to begin another job"
    )]
    Cards {
        /// The first rank with a card.
        card: usize,
    },
    /// A rank says that it receives at an address which its connection does not come from. Only that rank gets this.
    #[error(
        "rank {rank} says that it receives at {found}, but connects from {from}; its address must not be translated on the way: \
         give it the interface on the way to rank 0"
    )]
    Address {
        /// The rank.
        rank: usize,
        /// The address it names.
        found: SocketAddr,
        /// Where its connection comes from.
        from: IpAddr,
    },
    /// A rank is not one of the job.
    #[error("a process was started as rank {rank} in a job of {world_size} ranks; expected 0 to {}", world_size.saturating_sub(1))]
    NoSuchRank {
        /// The rank.
        rank: usize,
        /// Ranks of the job.
        world_size: usize,
    },
    /// A rank cannot take part in any job.
    #[error("rank {rank} cannot take part: {reason}")]
    Unable {
        /// The rank.
        rank: usize,
        /// What it says.
        reason: String,
    },
    /// Ranks that did not come in time.
    #[error(
        "{} of {world_size} ranks did not come within {} s: rank {}; is it running, and does it reach {root}?{}",
        missing.len(), *timeout_ms as f64 / 1e3, list(missing), remarks(refused)
    )]
    Missing {
        /// Their numbers.
        missing: Vec<usize>,
        /// Ranks of the job.
        world_size: usize,
        /// How long the first rank to give up waited, in milliseconds.
        timeout_ms: u64,
        /// Where rank 0 listens.
        root: String,
        /// Why processes that claimed to be ranks of the job were refused meanwhile.
        refused: Vec<String>,
    },
    /// The ranks that came cannot be cut into groups as they were to be.
    #[error("{reason}")]
    Groups {
        /// Why not.
        reason: String,
    },
    /// A rank could not connect to another.
    #[error("rank {rank} could not connect to all other ranks: {reason}")]
    NotConnected {
        /// The rank.
        rank: usize,
        /// What it, or rank 0, says.
        reason: String,
    },
}

/// The ranks did not come together.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BootstrapError {
    /// The ranks that came cannot form a job.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Rank 0's name was not resolved.
    #[error("the address of rank 0, {root}, was not found within {} s: {source}", seconds(*waited))]
    NoAddress {
        /// Where it should listen.
        root: String,
        /// How long was tried.
        waited: Duration,
        /// The last attempt's error.
        source: io::Error,
    },
    /// Rank 0 was not reached.
    #[error(
        "rank 0 was not reached at {root} within {} s ({source}); is it running, and is that its address?",
        timeout.as_secs_f64()
    )]
    NoRoot {
        /// Where it should listen.
        root: String,
        /// How long was tried.
        timeout: Duration,
        /// The last attempt's error.
        source: io::Error,
    },
    /// This process may not open as many files as the job takes.
    #[error(
        "a job of {ranks} ranks takes {expected} open files of this process, which may have {found} at most; raise the hard \
         limit (ulimit -Hn, or LimitNOFILE of the service), then start it again; `ulimit -n` shows what is allowed now"
    )]
    Files {
        /// Ranks of the job.
        ranks: usize,
        /// The hard limit of this process.
        found: u64,
        /// Files that it takes: one for each rank, and some others.
        expected: u64,
    },
    /// An operation of the network failed.
    #[error("{what}: {source}")]
    Io {
        /// What was done.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
}

fn list(ranks: &[usize]) -> String {
    ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn remarks(refused: &[String]) -> String {
    refused.iter().map(|reason| format!(" Refused meanwhile: {reason}")).collect()
}

/// For messages, to the millisecond.
fn seconds(duration: Duration) -> f64 {
    duration.as_millis() as f64 / 1e3
}

pub(super) fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> BootstrapError {
    |source| BootstrapError::Io { what: what.into(), source }
}

/// A random number from the kernel.
pub(super) fn random() -> Result<u64, BootstrapError> {
    let mut bytes = [0; 8];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    filled.map_err(|error| io_error("random numbers")(error.into()))?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Connections to all other ranks, by rank.
pub(super) type Links = Vec<Option<Link>>;

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a message becomes on its way, or a stranger makes of it: an error or another message, which can be shown.
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
        check(&PeerHello { tag: 1, rank: 1, member: Some(member) }, |_| ());
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
