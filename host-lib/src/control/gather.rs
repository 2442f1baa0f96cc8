//! Rank 0's side of the bootstrap.
//!
//! Connections are served concurrently, so that strangers delay no rank. A rank belongs to the
//! first process that claims it, while its connection lasts.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Waker};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet, yield_now};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use super::bootstrap::{
    Answer, BootstrapError, Connected, GREETING, Greeting, Hello, Job, Links, Meeting, Member, PacketKey, Refusal,
    VERSION, io_error, random,
};
use super::frame::GREETING_BYTES_MAX;
use super::launch::Launch;
use super::link::{self, Common, End, Link, Reader};
use super::terms::{Mismatch, Terms, printable};
use crate::rarely::Rarely;

/// Time during which a refusal is reported to late ranks.
const LINGER: Duration = Duration::from_secs(1);
/// Lead of the report of missing ranks before a rank's deadline.
const NOTICE_MAX: Duration = Duration::from_millis(500);
/// Connections without a greeting, beyond the world size, above which the oldest is closed.
const HEARD_MAX: usize = 256;
/// After a failed `accept`, for example with too many open files.
const RETRY: Duration = Duration::from_millis(20);
const REMARKS_MAX: usize = 3;

pub(super) static STRANGERS: Rarely = Rarely::new(
    "closed a connection that is not from a rank of this job",
    "if it should be one, give it the same job id and secret; otherwise keep strangers from this port",
);
static SILENT: Rarely =
    Rarely::new("closed a connection without a greeting", "keep strangers from this port, port scanners included");
static REFUSED: Rarely = Rarely::new("refused a process", "start each rank once, with the settings of this job");
pub(super) static UNACCEPTED: Rarely =
    Rarely::new("a connection was not accepted", "raise the limit of open files (ulimit -n)");

pub(super) struct Greeted {
    pub link: Link,
    pub from: SocketAddr,
    pub hello: Result<Hello, Refusal>,
}

enum Judgement {
    Placed,
    /// The bootstrap continues.
    Refused(Link, Refusal),
    /// The bootstrap has failed.
    Ended(Link, Refusal),
}

pub(super) struct Gathering<'a> {
    meeting: &'a Meeting,
    listener: TcpListener,
    settings: Terms,
    members: BTreeMap<usize, Member>,
    links: Links,
    heard: JoinSet<Option<Greeted>>,
    oldest: VecDeque<AbortHandle>,
    /// Earliest deadline of a rank; `timeout_ms`: of that rank.
    deadline: Instant,
    timeout_ms: u64,
    refused: Vec<String>,
}

pub(super) async fn gather(
    meeting: &Meeting,
    member: Member,
    settings: Terms,
) -> Result<(Job, Links, TcpListener), BootstrapError> {
    let mut gathering = Gathering::start(meeting, member, settings)?;
    let members = gathering.gather().await?;
    let packet_key = meeting.secret.as_ref().map(|_| PacketKey::random()).transpose()?;
    let job = Job { tag: random()?, seed: random()?, members, packet_key };
    match gathering.connect(&job).await {
        Ok(()) => Ok((job, gathering.links, gathering.listener)),
        Err(refusal) => Err(gathering.refuse(refusal, None).await),
    }
}

/// Reports to all ranks that rank 0 cannot take part.
pub(super) async fn decline(
    meeting: &Meeting,
    member: Member,
    settings: Terms,
    reason: String,
) -> Result<(), BootstrapError> {
    let mut gathering = Gathering::start(meeting, member, settings)?;
    let until = gathering.deadline;
    gathering.tell_all(&Refusal::Unable { rank: 0, reason }, None, until).await;
    Ok(())
}

fn listen(meeting: &Meeting) -> Result<TcpListener, BootstrapError> {
    if let Some(listener) = &meeting.listener {
        let listener = listener.try_clone().and_then(|listener| {
            listener.set_nonblocking(true)?;
            TcpListener::from_std(listener)
        });
        return listener.map_err(io_error(format!("rank 0 listens at {}", meeting.launch.root)));
    }
    let mut last = io::Error::other("the name has no address");
    for address in &meeting.root {
        match link::listen(*address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    let hint = match last.kind() {
        io::ErrorKind::AddrInUse => "another process uses the port: choose another root",
        io::ErrorKind::AddrNotAvailable => "the root must be an address of the host that runs rank 0",
        _ => "is that an address of the host that runs rank 0?",
    };
    Err(io_error(format!("rank 0 listens at {} ({hint})", meeting.launch.root))(last))
}

impl<'a> Gathering<'a> {
    pub fn start(meeting: &'a Meeting, member: Member, settings: Terms) -> Result<Self, BootstrapError> {
        Ok(Self {
            meeting,
            listener: listen(meeting)?,
            settings,
            members: BTreeMap::from([(0, member)]),
            links: (0..meeting.launch.world_size).map(|_| None).collect(),
            heard: JoinSet::new(),
            oldest: VecDeque::new(),
            deadline: Instant::from_std(meeting.deadline),
            timeout_ms: meeting.timeout.as_millis() as u64,
            refused: Vec::new(),
        })
    }

    /// Waits until all ranks have connected, and returns them in order.
    ///
    /// # Errors
    /// Reason why they cannot form a job, as reported to them.
    pub async fn gather(&mut self) -> Result<Vec<Member>, BootstrapError> {
        let world_size = self.meeting.launch.world_size;
        while !self.all_are_there().await {
            let Some(greeted) = self.next().await else {
                self.forget_those_gone();
                let missing = (0..world_size).filter(|rank| !self.members.contains_key(rank)).collect();
                let (timeout_ms, root) = (self.timeout_ms, self.meeting.launch.root.clone());
                let refused = std::mem::take(&mut self.refused);
                let refusal = Refusal::Missing { missing, world_size, timeout_ms, root, refused };
                return Err(self.refuse(refusal, None).await);
            };
            match self.judge(greeted) {
                Judgement::Placed => {}
                Judgement::Ended(link, refusal) => return Err(self.refuse(refusal, Some(link)).await),
                Judgement::Refused(link, refusal) => {
                    REFUSED.warn(&refusal);
                    let text = refusal.to_string();
                    if self.refused.len() < REMARKS_MAX && !self.refused.contains(&text) {
                        self.refused.push(text);
                    }
                    tokio::spawn(tell(link, refusal));
                }
            }
        }
        Ok(std::mem::take(&mut self.members).into_values().collect())
    }

    /// Returns `None` at the deadline.
    async fn next(&mut self) -> Option<Greeted> {
        loop {
            tokio::select! {
                () = sleep_until(self.deadline) => return None,
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, from)) => self.hear(stream, from),
                    Err(error) => {
                        UNACCEPTED.warn(error);
                        sleep(RETRY).await;
                    }
                },
                Some(greeted) = self.heard.join_next() => {
                    if let Ok(Some(greeted)) = greeted {
                        return Some(greeted);
                    }
                }
            }
        }
    }

    async fn all_are_there(&mut self) -> bool {
        let world_size = self.meeting.launch.world_size;
        if self.members.len() == world_size {
            // Lets the runtime notice ended connections.
            yield_now().await;
            self.forget_those_gone();
        }
        self.members.len() == world_size
    }

    /// Frees ranks whose connections have ended or received unexpected data.
    fn forget_those_gone(&mut self) {
        for (rank, link) in self.links.iter_mut().enumerate() {
            if link.as_mut().is_some_and(|link| !is_quiet(link)) {
                tracing::warn!(rank, "a rank disconnected before the job began");
                *link = None;
                self.members.remove(&rank);
            }
        }
    }

    fn hear(&mut self, stream: TcpStream, from: SocketAddr) {
        self.oldest.retain(|heard| !heard.is_finished());
        if self.oldest.len() >= HEARD_MAX + self.meeting.launch.world_size
            && let Some(oldest) = self.oldest.pop_front()
        {
            oldest.abort();
        }
        let (launch, common) = (self.meeting.launch.clone(), self.meeting.common());
        let greet = async move {
            let greeted = timeout(GREETING, greet(stream, from, &launch, &common)).await;
            greeted.unwrap_or_else(|_| {
                SILENT.warn(from);
                None
            })
        };
        self.oldest.push_back(self.heard.spawn(greet));
    }

    fn judge(&mut self, greeted: Greeted) -> Judgement {
        let Greeted { link, from, hello } = greeted;
        let hello = match hello {
            Ok(hello) => hello,
            Err(refusal) => return Judgement::Ended(link, refusal),
        };
        let (rank, second) = (hello.member.rank, hello.member.udp);
        if let Err(refusal) = hello.member.is_at(from.ip()) {
            return Judgement::Refused(link, refusal);
        }
        if let Err(differs) = self.settings.compare(0, rank, &hello.settings) {
            return Judgement::Ended(link, differs.into());
        }
        if let Some(first) = self.members.get(&rank).map(|member| member.udp) {
            // The first process may have been restarted.
            if rank == 0 || self.links[rank].as_mut().is_none_or(is_quiet) {
                return Judgement::Refused(link, Refusal::Twice { rank, first, second });
            }
        }
        if let Some(reason) = hello.unable {
            return Judgement::Ended(link, Refusal::Unable { rank, reason: printable(reason) });
        }
        let left = Duration::from_millis(hello.left_ms);
        let gives_up = Instant::now() + left.min(self.meeting.timeout) - NOTICE_MAX.min(left / 4);
        if left < self.meeting.timeout && gives_up < self.deadline {
            (self.deadline, self.timeout_ms) = (gives_up, hello.timeout_ms);
        }
        self.members.insert(rank, hello.member);
        self.links[rank] = Some(link);
        Judgement::Placed
    }

    async fn connect(&mut self, job: &Job) -> Result<(), Refusal> {
        let left_ms = self.deadline.saturating_duration_since(Instant::now()).as_millis() as u64;
        let mut connecting: JoinSet<(usize, Reader, io::Result<Connected>)> = JoinSet::new();
        let mut writers: Vec<_> = (0..self.links.len()).map(|_| None).collect();
        for (rank, link) in self.links.iter_mut().enumerate() {
            let Some(Link { mut reader, writer }) = link.take() else { continue };
            let writer = writers[rank].insert(writer);
            // Fits into any socket buffer, so a stopped rank delays no other.
            let _ = timeout_at(self.deadline, writer.write_json(&Answer::Welcome { job: job.clone(), left_ms })).await;
            connecting.spawn(async move {
                let connected = reader.read_json().await;
                (rank, reader, connected)
            });
        }
        let failed = |rank, reason: &str| Refusal::NotConnected { rank, reason: printable(reason.to_owned()) };
        let mut refusal = None;
        let mut missing: Vec<usize> = (1..job.members.len()).collect();
        let mut readers: Vec<Option<Reader>> = writers.iter().map(|_| None).collect();
        while refusal.is_none()
            && let Some(first) = missing.first()
        {
            match timeout_at(self.deadline, connecting.join_next()).await {
                Ok(Some(Ok((rank, reader, connected)))) => {
                    missing.retain(|other| *other != rank);
                    readers[rank] = Some(reader);
                    refusal = match connected {
                        Ok(Connected { failure: None }) => None,
                        Ok(Connected { failure: Some(reason) }) => Some(failed(rank, &reason)),
                        Err(_) => Some(failed(rank, "its connection to rank 0 has ended; see its error")),
                    };
                }
                _ => refusal = Some(failed(*first, "it was welcomed, but did not report to rank 0 after that")),
            }
        }
        connecting.abort_all();
        let answer = refusal.clone().map_or(Answer::Begin, Answer::Refused);
        for writer in writers.iter_mut().flatten() {
            let _ = timeout(LINGER, writer.write_json(&answer)).await;
        }
        let links = readers.into_iter().zip(writers);
        self.links = links.map(|(reader, writer)| Some(Link { reader: reader?, writer: writer? })).collect();
        refusal.map_or(Ok(()), Err)
    }

    pub async fn answer_each(&mut self, answer: impl Fn(usize) -> Answer) {
        for (rank, link) in self.links.iter_mut().enumerate() {
            if let Some(mut link) = link.take() {
                // Fits into any socket buffer.
                let _ = timeout_at(self.deadline, link.writer.write_json(&answer(rank))).await;
            }
        }
    }

    /// Reports to all ranks and to `last` why there is no job.
    pub async fn refuse(&mut self, refusal: Refusal, last: Option<Link>) -> BootstrapError {
        self.tell_all(&refusal, last, Instant::now() + LINGER).await;
        refusal.into()
    }

    /// Reports a refusal to connected ranks, and to late ones until `linger`.
    async fn tell_all(&mut self, refusal: &Refusal, last: Option<Link>, linger: Instant) {
        let mut told = JoinSet::new();
        let there: Vec<Link> = self.links.iter_mut().filter_map(Option::take).chain(last).collect();
        let mut missing = (self.meeting.launch.world_size - 1).saturating_sub(there.len());
        there.into_iter().for_each(|link| drop(told.spawn(tell(link, refusal.clone()))));
        // After the deadline no rank is waiting.
        self.deadline = self.deadline.min(linger);
        if !matches!(refusal, Refusal::NotConnected { .. }) {
            while missing > 0
                && let Some(greeted) = self.next().await
            {
                told.spawn(tell(greeted.link, refusal.clone()));
                missing -= 1;
            }
        }
        while let Ok(Some(_)) = timeout_at(linger, told.join_next()).await {}
    }
}

pub(super) async fn tell(mut link: Link, refusal: Refusal) {
    let _ = timeout(LINGER, link.writer.write_json(&Answer::Refused(refusal))).await;
}

fn is_quiet(link: &mut Link) -> bool {
    link.reader.poll_disturbed(&mut Context::from_waker(Waker::noop())).is_pending()
}

/// Reads a greeting. Strangers receive no answer.
pub(super) async fn greet(stream: TcpStream, from: SocketAddr, launch: &Launch, common: &Common) -> Option<Greeted> {
    let heard = hear(stream, common).await.map_err(|error| error.to_string());
    greeted(heard, from, launch)
}

/// Reads the first message of a connection.
pub(super) async fn hear(stream: TcpStream, common: &Common) -> io::Result<(Link, Vec<u8>)> {
    let mut link = Link::new(stream, End::Accepted, common).await?;
    let (_, message) = link.reader.read(GREETING_BYTES_MAX).await?;
    Ok((link, message))
}

pub(super) fn greeted(heard: Result<(Link, Vec<u8>), String>, from: SocketAddr, launch: &Launch) -> Option<Greeted> {
    let understood = heard.and_then(|(link, message)| {
        let hello = understand(&message, from, launch)?;
        Ok(Greeted { link, from, hello })
    });
    let refuse = |error: &String| STRANGERS.warn(format_args!("{from}: {}", error.escape_debug()));
    understood.inspect_err(refuse).ok()
}

/// # Errors
/// The outer error rejects a stranger, the inner one a process of this job.
pub(super) fn understand(message: &[u8], from: SocketAddr, launch: &Launch) -> Result<Result<Hello, Refusal>, String> {
    let Launch { world_size, job_id, .. } = launch;
    let world_size = *world_size;
    let greeting = match serde_json::from_slice::<Greeting>(message) {
        Ok(greeting) if greeting.job_id == *job_id => greeting,
        Ok(_) => return Err("it belongs to another job".into()),
        Err(_) => return Err("its first message is not a rank's greeting; does it use a secret?".into()),
    };
    let differs = |name: String, rank, found: String, expected: String| {
        Refusal::from(Mismatch { name, rank, found, reference: 0, expected })
    };
    if greeting.version != VERSION {
        let found = greeting.version;
        let rank = rank_of(message).filter(|rank| *rank < world_size).ok_or_else(|| {
            format!("it uses protocol version {found}, expected {VERSION}, and its rank is not one of this job")
        })?;
        let name = format!("the protocol version ({from})");
        return Ok(Err(differs(name, rank, found.to_string(), VERSION.to_string())));
    }
    let hello: Hello =
        serde_json::from_slice(message).map_err(|error| format!("its greeting cannot be read: {error}"))?;
    let rank = hello.member.rank;
    Ok(if hello.world_size != world_size {
        let (found, expected) = (hello.world_size.to_string(), world_size.to_string());
        Err(differs("world_size".into(), rank, found, expected))
    } else if rank >= world_size {
        Err(Refusal::NoSuchRank { rank, world_size })
    } else {
        Ok(hello)
    })
}

/// Returns the rank in a greeting of another version.
fn rank_of(greeting: &[u8]) -> Option<usize> {
    let greeting: serde_json::Value = serde_json::from_slice(greeting).ok()?;
    greeting["member"]["rank"].as_u64().and_then(|rank| rank.try_into().ok())
}
