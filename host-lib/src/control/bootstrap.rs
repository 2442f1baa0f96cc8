//! The bootstrap: how the ranks of a job find one another.
//!
//! Every rank but 0 connects to rank 0 and says who it is and what its settings are; when all are there, rank 0 answers with
//! the job: its tag, its seed and everybody's addresses. Then every pair of ranks has one TCP connection, for what must not
//! be lost. A job that cannot be (settings that differ, a rank that is there twice, or not at all) ends on every rank with
//! the same reason, at once.
//! Limits: no authentication; whoever reaches rank 0's port can make the job fail.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::time::{Instant, sleep, timeout_at};

use super::frame;
use super::launch::Launch;
use super::terms::{Mismatch, Terms};

/// Version of the messages of bootstrap and control channel.
const VERSION: u32 = 2;
/// Between two attempts to reach rank 0.
const RETRY: Duration = Duration::from_millis(50);
/// How long rank 0 waits for the greeting of somebody who has connected.
const GREETING: Duration = Duration::from_secs(2);
/// How long rank 0 stays to tell ranks that come late why there is no job.
const LINGER: Duration = Duration::from_secs(5);

/// What a rank says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
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
pub(crate) struct Job {
    /// Random: tells this job's packets from others.
    pub tag: u64,
    /// Random: seed of the Hadamard signs.
    pub seed: u64,
    /// All ranks, in order.
    pub members: Vec<Member>,
}

/// The part of a greeting that every version has.
#[derive(Debug, Deserialize)]
struct Greeting {
    version: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct Hello {
    version: u32,
    world_size: usize,
    member: Member,
    settings: Terms,
}

#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Welcome(Job),
    Refused(Refusal),
}

/// Why there is no job: the same on every rank.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Refusal {
    /// A setting is not the same on all ranks.
    #[error(transparent)]
    Settings(#[from] Mismatch),
    /// Two processes have the same rank.
    #[error("rank {rank} was started twice, at {first} and at {second}; give each process a rank of its own")]
    Twice {
        /// The rank.
        rank: usize,
        /// Where the first process receives.
        first: SocketAddr,
        /// Where the second one does.
        second: SocketAddr,
    },
    /// A rank is not one of the job.
    #[error("a process was started as rank {rank} in a job of {world_size} ranks; expected 0 to {}", world_size - 1)]
    NoSuchRank {
        /// The rank.
        rank: usize,
        /// Ranks of the job.
        world_size: usize,
    },
    /// Ranks that did not come in time.
    #[error(
        "{} of {world_size} ranks did not come within {} s: rank {}; is it running, and does it reach {root}?",
        missing.len(), *timeout_ms as f64 / 1e3, list(missing)
    )]
    Missing {
        /// Their numbers.
        missing: Vec<usize>,
        /// Ranks of the job.
        world_size: usize,
        /// How long rank 0 waited, in milliseconds.
        timeout_ms: u64,
        /// Where rank 0 listens.
        root: String,
    },
}

/// The ranks did not come together.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BootstrapError {
    /// The ranks that came cannot form a job.
    #[error(transparent)]
    Refused(#[from] Refusal),
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

pub(super) fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> BootstrapError {
    |source| BootstrapError::Io { what: what.into(), source }
}

/// The address that this host has on the way to `root`, or that of `interface` (a name or an address).
///
/// # Errors
/// If there is no such interface, or no way to the root.
pub(crate) fn local_address(interface: Option<&str>, launch: &Launch) -> Result<IpAddr, BootstrapError> {
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
        let none = || io::Error::other(format!("none found; the interfaces of this host are {}", names.join(", ")));
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
pub(super) async fn meet(
    launch: &Launch,
    member: Member,
    settings: Terms,
    listener: TcpListener,
    timeout: Duration,
) -> Result<(Job, Vec<Option<TcpStream>>), BootstrapError> {
    let deadline = Instant::now() + timeout;
    if launch.rank == 0 {
        gather(launch, member, settings, timeout, deadline).await
    } else {
        join(launch, member, settings, listener, timeout, deadline).await
    }
}

/// Rank 0: waits for all, then welcomes them, or tells all of them why there is no job.
async fn gather(
    launch: &Launch,
    member: Member,
    settings: Terms,
    timeout: Duration,
    deadline: Instant,
) -> Result<(Job, Vec<Option<TcpStream>>), BootstrapError> {
    let Launch { world_size, root, .. } = launch;
    let port = root.rsplit_once(':').map_or("0", |(_, port)| port);
    let address = format!("0.0.0.0:{port}");
    let what = || format!("rank 0 listens at {address} (another process may have the port: give another root)");
    let listener = TcpListener::bind(&address).await.map_err(|error| io_error(what())(error))?;
    let mut members = BTreeMap::from([(0, member)]);
    let mut streams: Vec<Option<TcpStream>> = (0..*world_size).map(|_| None).collect();
    while members.len() < *world_size {
        let greeted = next_hello(&listener, deadline, *world_size).await?;
        let refusal = match greeted {
            None => {
                let missing = (0..*world_size).filter(|rank| !members.contains_key(rank)).collect();
                let timeout_ms = timeout.as_millis() as u64;
                let root = root.clone();
                Err((Refusal::Missing { missing, world_size: *world_size, timeout_ms, root }, None))
            }
            Some((stream, Err(refusal))) => Err((refusal, Some(stream))),
            Some((stream, Ok(hello))) => {
                let (rank, second) = (hello.member.rank, hello.member.udp);
                match (settings.compare(0, rank, &hello.settings), members.get(&rank).map(|other| other.udp)) {
                    (Err(differs), _) => Err((differs.into(), Some(stream))),
                    (_, Some(first)) => Err((Refusal::Twice { rank, first, second }, Some(stream))),
                    (Ok(()), None) => {
                        members.insert(rank, hello.member);
                        streams[rank] = Some(stream);
                        Ok(())
                    }
                }
            }
        };
        if let Err((refusal, stream)) = refusal {
            let told: Vec<TcpStream> = streams.into_iter().flatten().chain(stream).collect();
            refuse(&listener, told, &refusal, *world_size, deadline).await;
            return Err(refusal.into());
        }
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

/// The next rank that reports to rank 0, or what is wrong with it; `None` at the deadline. Who is no rank is passed over.
async fn next_hello(
    listener: &TcpListener,
    deadline: Instant,
    world_size: usize,
) -> Result<Option<(TcpStream, Result<Hello, Refusal>)>, BootstrapError> {
    loop {
        let Ok(accepted) = timeout_at(deadline, listener.accept()).await else { return Ok(None) };
        let (mut stream, from) = accepted.map_err(io_error("rank 0 takes a connection"))?;
        // Somebody who connects and says nothing must not hold up the others for long.
        let patience = deadline.min(Instant::now() + GREETING);
        let message = match timeout_at(patience, frame::read(&mut stream)).await {
            Ok(Ok((_, message))) => message,
            Ok(Err(error)) => {
                tracing::warn!(%from, %error, "a connection that is not a rank of this job was closed");
                continue;
            }
            Err(_) => {
                tracing::warn!(%from, "a connection that said nothing was closed");
                continue;
            }
        };
        let version = match serde_json::from_slice::<Greeting>(&message) {
            Ok(Greeting { version }) => version,
            Err(error) => {
                tracing::warn!(%from, %error, "a connection that is not a rank of this job was closed");
                continue;
            }
        };
        let differs = |name: &str, rank, found: String, expected: String| Mismatch {
            name: name.into(),
            rank,
            found,
            reference: 0,
            expected,
        };
        let hello = match serde_json::from_slice::<Hello>(&message) {
            Ok(hello) if version == VERSION => hello,
            // What its rank is another version says elsewhere.
            other => {
                let rank = other.map_or(world_size, |hello| hello.member.rank);
                let name = format!("the protocol version ({from})");
                let refusal = differs(&name, rank, version.to_string(), VERSION.to_string());
                return Ok(Some((stream, Err(refusal.into()))));
            }
        };
        let rank = hello.member.rank;
        if hello.world_size != world_size {
            let refusal = differs("the world size", rank, hello.world_size.to_string(), world_size.to_string());
            return Ok(Some((stream, Err(refusal.into()))));
        }
        if rank >= world_size {
            return Ok(Some((stream, Err(Refusal::NoSuchRank { rank, world_size }))));
        }
        return Ok(Some((stream, Ok(hello))));
    }
}

/// Tells all ranks why there is no job: those that are there at once, and until `deadline`, but not for long, those that come
/// late.
async fn refuse(
    listener: &TcpListener,
    streams: Vec<TcpStream>,
    refusal: &Refusal,
    world_size: usize,
    deadline: Instant,
) {
    let deadline = deadline.min(Instant::now() + LINGER);
    let answer = Answer::Refused(refusal.clone());
    let mut told = 0;
    for mut stream in streams {
        let _ = timeout_at(Instant::now() + GREETING, frame::write_json(&mut stream, &answer)).await;
        told += 1;
    }
    while told + 1 < world_size {
        let Ok(Some((mut stream, _))) = next_hello(listener, deadline, world_size).await else { return };
        let _ = timeout_at(Instant::now() + GREETING, frame::write_json(&mut stream, &answer)).await;
        told += 1;
    }
}

/// Another rank: connects to rank 0, then to the ranks below its own; those above connect to it.
async fn join(
    launch: &Launch,
    member: Member,
    settings: Terms,
    listener: TcpListener,
    timeout: Duration,
    deadline: Instant,
) -> Result<(Job, Vec<Option<TcpStream>>), BootstrapError> {
    let Launch { rank, world_size, root } = launch;
    let mut stream = loop {
        let error = match timeout_at(deadline, connect(root)).await {
            Ok(Ok(stream)) => break stream,
            Ok(Err(error)) => error,
            Err(_) => io::ErrorKind::TimedOut.into(),
        };
        if Instant::now() + RETRY > deadline {
            return Err(BootstrapError::NoRoot { root: root.clone(), timeout, source: error });
        }
        sleep(RETRY).await;
    };
    let talk = |source: io::Error| {
        let source = match source.kind() {
            io::ErrorKind::TimedOut => io::Error::other("no answer; is that rank 0 of this job?"),
            io::ErrorKind::UnexpectedEof => io::Error::other("it closed the connection; is that rank 0 of this job?"),
            _ => source,
        };
        io_error(format!("rank {rank} reports to rank 0 at {root}"))(source)
    };
    let hello = Hello { version: VERSION, world_size: *world_size, member, settings };
    let answer = async {
        frame::write_json(&mut stream, &hello).await?;
        frame::read_json::<Answer>(&mut stream).await
    };
    // Rank 0's own time may have begun later.
    let answer = match timeout_at(deadline + timeout, answer).await {
        Ok(answer) => answer.map_err(talk)?,
        Err(_) => return Err(talk(io::ErrorKind::TimedOut.into())),
    };
    let job = match answer {
        Answer::Welcome(job) if job.members.len() == *world_size => job,
        Answer::Welcome(job) => {
            let found = format!("a job of {} ranks, expected {world_size}", job.members.len());
            return Err(talk(io::Error::other(found)));
        }
        Answer::Refused(refusal) => return Err(refusal.into()),
    };
    let mut streams: Vec<Option<TcpStream>> = (0..*world_size).map(|_| None).collect();
    streams[0] = Some(stream);
    for (peer, place) in streams.iter_mut().enumerate().take(*rank).skip(1) {
        let address = job.members[peer].control;
        let what = || format!("rank {rank} connects to rank {peer} at {address}");
        let greet = async {
            let mut stream = TcpStream::connect(address).await?;
            frame::write_json(&mut stream, &(job.tag, *rank)).await?;
            Ok(stream)
        };
        let greeted = timeout_at(deadline + timeout, greet).await;
        *place = Some(greeted.unwrap_or(Err(io::ErrorKind::TimedOut.into())).map_err(io_error(what()))?);
    }
    while streams.iter().skip(rank + 1).any(Option::is_none) {
        let Ok(accepted) = timeout_at(deadline + timeout, listener.accept()).await else {
            let missing = (rank + 1..*world_size).filter(|peer| streams[*peer].is_none()).collect();
            let timeout_ms = timeout.as_millis() as u64;
            return Err(Refusal::Missing { missing, world_size: *world_size, timeout_ms, root: root.clone() }.into());
        };
        let (mut stream, _) = accepted.map_err(io_error(format!("rank {rank} takes a connection")))?;
        let patience = Instant::now() + GREETING;
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
