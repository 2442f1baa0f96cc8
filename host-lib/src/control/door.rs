//! Connections to a running job: of restarted processes, and of ranks whose connection broke
//! ([`again`](super::again)).
//!
//! A restarted process replaces an ended process of the same rank.
//! The process reports to rank 0 as in the bootstrap, receives the state of the job, and connects
//! to all ranks that are not gone. A rank accepts it only after the connection to its predecessor
//! has ended, so that callers and engine see the end first. The views decide when it takes part in
//! collectives.
//! Limits: rank 0 cannot be replaced, and jobs with cards cannot be rejoined. The ranks of a
//! vanished host stay taken until their connections end.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::again::{Line, Returned, Way};
use super::bootstrap::{Answer, Connected, GREETING, Job, Meeting, Member, PeerHello, Refusal, Running};
use super::gather::{Greeted, UNACCEPTED, greeted, hear, tell};
use super::link::Link;
use super::outgoing::{Queue, WeakOutgoing};
use super::terms::Terms;
use crate::rarely::Rarely;

/// Connections without a greeting above which all are closed and have to retry.
const HEARD_MAX: usize = 256;
const RETRY: Duration = Duration::from_millis(20);

static REFUSED: Rarely = Rarely::new(
    "refused a process that tried to join the running job",
    "to start another job, set another job id; to replace a rank, see OPTIREDUCE_REJOIN",
);

#[derive(Clone, Debug)]
pub(super) struct Status {
    running: Arc<Mutex<Running>>,
    /// Processes that asked rank 0 to rejoin.
    sessions: Arc<AtomicU64>,
}

impl Status {
    pub fn new(job: Job) -> Self {
        let running = Running { job, gone: Vec::new(), payload_beats: 0, skip_gone: false, buckets: Vec::new() };
        Self { running: Arc::new(Mutex::new(running)), sessions: Arc::default() }
    }

    pub fn with<T>(&self, act: impl FnOnce(&mut Running) -> T) -> T {
        act(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(super) struct Door {
    pub meeting: Meeting,
    pub settings: Terms,
    pub listener: TcpListener,
    pub status: Status,
    pub outgoing: WeakOutgoing,
}

pub(super) enum Arrival {
    /// A restarted process.
    New { member: Box<Member>, link: Link, queue: Queue },
    /// A rank whose connection broke.
    Again { peer: usize, returned: Returned },
}

enum Caller {
    Root(Greeted),
    Peer(Link, Member),
    Again(usize, Returned),
}

impl Door {
    /// Returns the way to a peer, and the sender of its [returns](Line::returns).
    pub fn line(&self, peer: usize) -> (Line, UnboundedSender<Returned>) {
        let (sender, returns) = unbounded_channel();
        let Meeting { launch, root, local, mtu, .. } = &self.meeting;
        let own = launch.rank;
        let (tag, session, control) = self.status.with(|running| {
            let members = &running.job.members;
            (running.job.tag, members[own].session, members[peer].control)
        });
        let addresses = if peer == 0 { root.clone() } else { vec![control] };
        let (local, mtu, common) = (*local, *mtu, self.meeting.common());
        (Line { way: Way { own, peer, local, mtu, addresses, tag, session, common }, returns }, sender)
    }

    /// Returns the next process that connects, or waits forever.
    pub async fn next(&self, heard: &mut JoinSet<Option<Heard>>) -> Arrival {
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, from)) => self.hear(stream, from, heard),
                    Err(error) => {
                        UNACCEPTED.warn(error);
                        sleep(RETRY).await;
                    }
                },
                Some(caller) = heard.join_next() => {
                    if let Ok(Some(Heard(caller))) = caller
                        && let Some(arrival) = self.admit(caller).await
                    {
                        return arrival;
                    }
                }
            }
        }
    }

    fn hear(&self, stream: TcpStream, from: SocketAddr, heard: &mut JoinSet<Option<Heard>>) {
        if heard.len() >= HEARD_MAX {
            heard.abort_all();
        }
        let (launch, common) = (self.meeting.launch.clone(), self.meeting.common());
        let status = self.status.clone();
        heard.spawn(async move {
            let hear = async {
                let heard = hear(stream, &common).await;
                let hello = heard.as_ref().ok().and_then(|(_, message)| serde_json::from_slice(message).ok());
                let Some(PeerHello { tag, rank, member, again }) = hello else {
                    let heard = heard.map_err(|error| error.to_string());
                    return (launch.rank == 0).then(|| greeted(heard, from, &launch)).flatten().map(Caller::Root);
                };
                let (link, _) = heard.ok()?;
                let (of_job, known) = status.with(|running| (running.job.tag, running.job.members.get(rank).cloned()));
                if tag != of_job || rank == launch.rank {
                    return None;
                }
                if let Some(again) = again {
                    known.filter(|known| known.control.ip() == from.ip() && known.session == again.session)?;
                    return Some(Caller::Again(rank, again.received.map(|received| (link, received))));
                }
                let member = member.filter(|member| member.rank == rank && member.is_at(from.ip()).is_ok())?;
                Some(Caller::Peer(link, member)).filter(|_| launch.rank > 0)
            };
            timeout(GREETING, hear).await.ok().flatten().map(Heard)
        });
    }

    async fn admit(&self, caller: Caller) -> Option<Arrival> {
        match caller {
            Caller::Root(greeted) => self.admit_to_job(greeted).await,
            Caller::Peer(mut link, member) => {
                let queue = self.queue(&member)?;
                link.writer.write_json(&Answer::Begin).await.ok()?;
                Some(Arrival::New { member: member.into(), link, queue })
            }
            Caller::Again(peer, returned) => Some(Arrival::Again { peer, returned }),
        }
    }

    async fn admit_to_job(&self, greeted: Greeted) -> Option<Arrival> {
        let Greeted { mut link, from, hello } = greeted;
        if self.status.with(|running| running.payload_beats) == 0 {
            // The job has not begun, or is ending. The process retries.
            return None;
        }
        let checked = hello.and_then(|hello| {
            let rank = hello.member.rank;
            hello.member.is_at(from.ip())?;
            self.settings.compare(0, rank, &hello.settings)?;
            let members = self.status.with(|running| running.job.members.clone());
            if let Some(card) = members.iter().position(|member| member.card.is_some()) {
                return Err(Refusal::Cards { card });
            }
            let first = members[rank].udp;
            if !hello.rejoin {
                return Err(Refusal::Runs { rank });
            }
            if rank == 0 || self.outgoing.upgrade().is_none_or(|outgoing| outgoing.connection(rank).1) {
                return Err(Refusal::Twice { rank, first, second: hello.member.udp });
            }
            Ok(hello)
        });
        let mut hello = match checked {
            Ok(hello) => hello,
            Err(refusal) => {
                REFUSED.warn(&refusal);
                tell(link, refusal).await;
                return None;
            }
        };
        let mut running = self.status.with(|running| running.clone());
        let outgoing = self.outgoing.upgrade()?;
        let rank = hello.member.rank;
        hello.member.session = self.status.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        let others = (1..running.job.members.len()).filter(|other| *other != rank);
        running.gone = others.filter(|other| !outgoing.connection(*other).1).collect();
        running.job.members[rank] = hello.member.clone();
        drop(outgoing);
        let report = async {
            link.writer.write_json(&Answer::Running(Box::new(running))).await?;
            link.reader.read_json::<Connected>().await
        };
        let left = Duration::from_millis(hello.left_ms).min(self.meeting.timeout);
        match timeout(left, report).await {
            Ok(Ok(Connected { failure: None })) => {}
            Ok(Ok(Connected { failure: Some(reason) })) => {
                tell(link, Refusal::NotConnected { rank, reason }).await;
                return None;
            }
            _ => return None,
        }
        let queue = self.queue(&hello.member)?;
        link.writer.write_json(&Answer::Begin).await.ok()?;
        Some(Arrival::New { member: hello.member.into(), link, queue })
    }

    /// Opens the queue to a process, if the connection to its predecessor has ended.
    fn queue(&self, member: &Member) -> Option<Queue> {
        let outgoing = self.outgoing.upgrade()?;
        let known = self.status.with(|running| member.rank < running.job.members.len());
        if !known || member.rank == self.meeting.launch.rank || outgoing.connection(member.rank).1 {
            return None;
        }
        self.status.with(|running| running.job.members[member.rank] = member.clone());
        Some(outgoing.open(member.rank))
    }
}

pub(super) struct Heard(Caller);
