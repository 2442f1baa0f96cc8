//! How ranks find one another, and the reliable channel between them.
//!
//! Every rank but 0 connects to rank 0 and says who it is; when all are there, rank 0 answers with the job: its tag, its
//! seed and everybody's addresses. Then every pair of ranks has one TCP connection, for what must not be lost.
//! Bounded: a rank that does not come is named once the time is up; a rank that does not fit is refused with the reason.

mod frame;
mod launch;
mod mesh;

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::time::{Instant, sleep, timeout_at};

pub use self::launch::{Launch, LaunchError, ROOT_PORT_DEFAULT, TORCH_PORT_OFFSET};
pub use self::mesh::{Mesh, MeshError, Notice, Notices};

pub(crate) use self::mesh::CHUNK_BYTES;

/// Version of the messages of bootstrap and reliable channel.
const VERSION: u32 = 1;
/// Between two attempts to reach rank 0.
const RETRY: Duration = Duration::from_millis(50);

/// What a rank says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its number.
    pub rank: usize,
    /// Where its data plane receives.
    pub udp: SocketAddr,
    /// Where it takes connections of other ranks.
    pub control: SocketAddr,
    /// Bytes that its socket buffers.
    pub receive_buffer_bytes: u64,
    /// Largest payload it was given, in beats of 64 bytes; 0: what gets through.
    pub payload_beats: usize,
}

/// What all ranks of a job know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Random: tells this job's packets from others.
    pub tag: u64,
    /// Random: seed of the Hadamard signs.
    pub seed: u64,
    /// All ranks, in order.
    pub members: Vec<Member>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Hello {
    version: u32,
    world_size: usize,
    member: Member,
}

#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Welcome(Job),
    Refused(String),
}

/// The ranks did not come together.
#[derive(Debug, Error)]
pub enum BootstrapError {
    /// Ranks that did not come in time.
    #[error("{} of {world_size} ranks did not come within {} s: rank {}; is it running, and does it reach {root}?", missing.len(), timeout.as_secs_f64(), list(missing))]
    Missing {
        /// Their numbers.
        missing: Vec<usize>,
        /// Ranks of the job.
        world_size: usize,
        /// How long was waited.
        timeout: Duration,
        /// Where rank 0 listens.
        root: String,
    },
    /// Rank 0 was not reached.
    #[error("rank 0 at {root} was not reached within {} s: {source}", timeout.as_secs_f64())]
    NoRoot {
        /// Where it should listen.
        root: String,
        /// How long was tried.
        timeout: Duration,
        /// The last attempt's error.
        source: io::Error,
    },
    /// Rank 0 refused this rank.
    #[error("rank 0 refused rank {rank}: {reason}")]
    Refused {
        /// This rank.
        rank: usize,
        /// Why.
        reason: String,
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

fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> BootstrapError {
    |source| BootstrapError::Io { what: what.into(), source }
}

/// The address that this host has on the way to `root`, or that of `interface` (a name or an address).
///
/// # Errors
/// If there is no such interface, or no way to the root.
pub fn local_address(interface: Option<&str>, launch: &Launch) -> Result<IpAddr, BootstrapError> {
    if let Some(interface) = interface {
        if let Ok(address) = interface.parse() {
            return Ok(address);
        }
        let what = || format!("addresses of interface {interface}");
        let all = if_addrs::get_if_addrs().map_err(io_error(what()))?;
        let mut addresses: Vec<_> = all.iter().filter(|one| one.name == interface).map(|one| one.ip()).collect();
        addresses.sort_by_key(IpAddr::is_ipv6);
        let mut names: Vec<_> = all.iter().map(|one| one.name.as_str()).collect();
        names.dedup();
        let none = || io::Error::other(format!("none found; there are {}", names.join(", ")));
        return addresses.first().copied().ok_or_else(|| io_error(what())(none()));
    }
    // No packet is sent: the kernel only looks the route up.
    let route = || {
        let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
        socket.connect(&launch.root)?;
        socket.local_addr().map(|address| address.ip())
    };
    route().map_err(io_error(format!("the way to rank 0 at {}", launch.root)))
}

/// Brings the ranks of a job together. `member`: this rank, `listener` at `member.control`.
pub(crate) async fn meet(
    launch: &Launch,
    member: Member,
    listener: TcpListener,
    timeout: Duration,
) -> Result<(Job, Vec<Option<TcpStream>>), BootstrapError> {
    let deadline = Instant::now() + timeout;
    if launch.rank == 0 {
        gather(launch, member, timeout, deadline).await
    } else {
        join(launch, member, listener, timeout, deadline).await
    }
}

/// Rank 0: waits for all, then welcomes them.
async fn gather(
    launch: &Launch,
    member: Member,
    timeout: Duration,
    deadline: Instant,
) -> Result<(Job, Vec<Option<TcpStream>>), BootstrapError> {
    let Launch { world_size, root, .. } = launch;
    let port = root.rsplit_once(':').map_or("0", |(_, port)| port);
    let address = format!("0.0.0.0:{port}");
    let listener = TcpListener::bind(&address).await.map_err(io_error(format!("rank 0 listens at {address}")))?;
    let mut members = BTreeMap::from([(0, member)]);
    let mut streams: Vec<Option<TcpStream>> = (0..*world_size).map(|_| None).collect();
    while members.len() < *world_size {
        let Ok(accepted) = timeout_at(deadline, listener.accept()).await else {
            let missing = (0..*world_size).filter(|rank| !members.contains_key(rank)).collect();
            return Err(BootstrapError::Missing { missing, world_size: *world_size, timeout, root: root.clone() });
        };
        let (mut stream, from) = accepted.map_err(io_error("rank 0 takes a connection"))?;
        // Somebody who connects and says nothing must not hold up the others for long.
        let patience = deadline.min(Instant::now() + Duration::from_secs(2));
        let hello = match timeout_at(patience, frame::read_json::<Hello>(&mut stream)).await {
            Ok(Ok(hello)) => hello,
            Ok(Err(error)) => {
                tracing::warn!(%from, %error, "not a rank of this job");
                continue;
            }
            Err(_) => continue,
        };
        let rank = hello.member.rank;
        let refusal = if hello.version != VERSION {
            Some(format!("it speaks version {}, rank 0 speaks {VERSION}; use the same release", hello.version))
        } else if hello.world_size != *world_size {
            Some(format!("it expects {} ranks, rank 0 expects {world_size}", hello.world_size))
        } else if rank >= *world_size {
            Some(format!("its rank is {rank}, expected 1 to {}", world_size - 1))
        } else {
            members.get(&rank).map(|other| format!("rank {rank} is already there, at {}", other.udp))
        };
        if let Some(reason) = refusal {
            tracing::warn!(%from, reason, "refused");
            let _ = frame::write_json(&mut stream, &Answer::Refused(reason)).await;
            continue;
        }
        members.insert(rank, hello.member);
        streams[rank] = Some(stream);
    }
    let random = || -> Result<u64, BootstrapError> {
        let mut bytes = [0; 8];
        let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
        filled.map_err(|error| io_error("random numbers")(error.into()))?;
        Ok(u64::from_ne_bytes(bytes))
    };
    let job = Job { tag: random()?, seed: random()?, members: members.into_values().collect() };
    for (rank, stream) in streams.iter_mut().enumerate() {
        if let Some(stream) = stream {
            let welcome = Answer::Welcome(job.clone());
            frame::write_json(stream, &welcome).await.map_err(io_error(format!("rank 0 welcomes rank {rank}")))?;
        }
    }
    Ok((job, streams))
}

/// Another rank: connects to rank 0, then to the ranks below its own; those above connect to it.
async fn join(
    launch: &Launch,
    member: Member,
    listener: TcpListener,
    timeout: Duration,
    deadline: Instant,
) -> Result<(Job, Vec<Option<TcpStream>>), BootstrapError> {
    let Launch { rank, world_size, root } = launch;
    let mut stream = loop {
        let error = match connect(root).await {
            Ok(stream) => break stream,
            Err(error) => error,
        };
        if Instant::now() + RETRY > deadline {
            return Err(BootstrapError::NoRoot { root: root.clone(), timeout, source: error });
        }
        sleep(RETRY).await;
    };
    let talk = io_error(format!("rank {rank} introduces itself to rank 0 at {root}"));
    let hello = Hello { version: VERSION, world_size: *world_size, member };
    let answer = async {
        frame::write_json(&mut stream, &hello).await?;
        frame::read_json::<Answer>(&mut stream).await
    };
    // Rank 0's own time may have begun later.
    let answer = match timeout_at(deadline + timeout, answer).await {
        Ok(answer) => answer.map_err(talk)?,
        Err(_) => return Err(talk(io::Error::from(io::ErrorKind::TimedOut))),
    };
    let job = match answer {
        Answer::Welcome(job) if job.members.len() == *world_size => job,
        Answer::Welcome(job) => {
            let reason = format!("a job of {} ranks, expected {world_size}", job.members.len());
            return Err(BootstrapError::Refused { rank: *rank, reason });
        }
        Answer::Refused(reason) => return Err(BootstrapError::Refused { rank: *rank, reason }),
    };
    let mut streams: Vec<Option<TcpStream>> = (0..*world_size).map(|_| None).collect();
    streams[0] = Some(stream);
    for (peer, place) in streams.iter_mut().enumerate().take(*rank).skip(1) {
        let address = job.members[peer].control;
        let what = || format!("rank {rank} connects to rank {peer} at {address}");
        let mut stream = TcpStream::connect(address).await.map_err(io_error(what()))?;
        frame::write_json(&mut stream, &(job.tag, *rank)).await.map_err(io_error(what()))?;
        *place = Some(stream);
    }
    while streams.iter().skip(rank + 1).any(Option::is_none) {
        let Ok(accepted) = timeout_at(deadline + timeout, listener.accept()).await else {
            let missing = (rank + 1..*world_size).filter(|peer| streams[*peer].is_none()).collect();
            return Err(BootstrapError::Missing { missing, world_size: *world_size, timeout, root: root.clone() });
        };
        let (mut stream, _) = accepted.map_err(io_error(format!("rank {rank} takes a connection")))?;
        let patience = Instant::now() + Duration::from_secs(2);
        match timeout_at(patience, frame::read_json::<(u64, usize)>(&mut stream)).await {
            Ok(Ok((tag, peer))) if tag == job.tag && peer > *rank && peer < *world_size && streams[peer].is_none() => {
                streams[peer] = Some(stream);
            }
            _ => tracing::warn!("a connection that is not of this job was closed"),
        }
    }
    Ok((job, streams))
}

async fn connect(root: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::other(format!("{root} has no address"));
    for address in lookup_host(root).await? {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}
