//! Bootstrap of all ranks but 0: a rank connects to the ranks below its own, and accepts the ranks
//! above.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::bootstrap::{
    Answer, BootstrapError, Connected, GREETING, Hello, Job, Links, Meeting, Member, PeerHello, Refusal, Running,
    VERSION, io_error,
};
use super::gather::{self, STRANGERS, UNACCEPTED};
use super::link::{Common, End, Link, connect};
use super::terms::Terms;

const RETRY: Duration = Duration::from_millis(50);
/// Longer, because rank 0 logs each closed connection.
const RETRY_CLOSED: Duration = Duration::from_millis(500);
/// A new attempt sends a SYN sooner than the kernel's backoff.
const CONNECT: Duration = Duration::from_secs(3);
/// Connections without a greeting, beyond the world size, above which all have to retry.
const HEARD_MAX: usize = 256;

pub(super) async fn join(
    meeting: &Meeting,
    member: Member,
    settings: Terms,
    listener: &TcpListener,
) -> Result<(Job, Links, Option<Running>), BootstrapError> {
    let (deadline, root) = (Instant::from_std(meeting.deadline), &meeting.launch.root);
    let rank = meeting.launch.rank;
    let (mut link, answer) = reach_root(meeting, &member, &settings).await?;
    let (job, running, left_ms) = match answer {
        Answer::Welcome { job, left_ms } => (job, None, left_ms),
        Answer::Running(running) => {
            let left = deadline.saturating_duration_since(Instant::now());
            (running.job.clone(), Some(*running), left.as_millis() as u64)
        }
        _ => return Err(io_error(format!("rank 0 at {root}"))(io::Error::other("it sent no job"))),
    };
    // Leaves rank 0 time to report a failure to the others.
    let until = deadline.min(Instant::now() + Duration::from_millis(left_ms) * 3 / 4);
    let connected = match &running {
        None => connect_all(meeting, &job, listener, until).await,
        Some(running) => connect_again(meeting, running, until).await,
    };
    let failure = connected.as_ref().err().cloned();
    let answer = async {
        link.writer.write_json(&Connected { failure }).await?;
        link.reader.read_json::<Answer>().await
    };
    let talk = io_error(format!("rank {rank} waits for rank 0 at {root} to let the job begin"));
    match timeout_at(deadline, answer).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
        Ok(Answer::Refused(refusal)) => return Err(refusal.into()),
        Ok(Answer::Begin) => {}
        Ok(Answer::Welcome { .. } | Answer::Running(_) | Answer::Groups(_) | Answer::Again { .. }) => {
            return Err(talk(io::Error::other("it sent a second job")));
        }
        Err(error) => return Err(talk(connected.err().map_or(error, io::Error::other))),
    }
    let mut links = connected.map_err(|reason| talk(io::Error::other(reason)))?;
    links[0] = Some(link);
    Ok((job, links, running))
}

/// Reports to rank 0 until it sends a job or groups.
pub(super) async fn reach_root(
    meeting: &Meeting,
    member: &Member,
    settings: &Terms,
) -> Result<(Link, Answer), BootstrapError> {
    let (deadline, root) = (Instant::from_std(meeting.deadline), &meeting.launch.root);
    let rank = meeting.launch.rank;
    let mut last = io::Error::new(io::ErrorKind::TimedOut, "no answer");
    let mut was_closed = false;
    loop {
        match timeout_at(deadline, report(meeting, member, settings, None)).await {
            Ok(Ok((link, answer @ (Answer::Welcome { .. } | Answer::Groups(_))))) => return Ok((link, answer)),
            Ok(Ok((link, answer @ Answer::Running(_)))) if meeting.launch.rejoin => return Ok((link, answer)),
            // The previous process of this rank may be ending.
            Ok(Ok((_, Answer::Refused(refusal @ Refusal::Twice { .. })))) if meeting.launch.rejoin => {
                last = io::Error::other(refusal);
            }
            // Perhaps a previous job, which is about to end.
            Ok(Ok((_, Answer::Refused(refusal @ (Refusal::Runs { .. } | Refusal::Cards { .. }))))) => {
                last = io::Error::other(refusal);
            }
            Ok(Ok((_, Answer::Refused(refusal)))) => return Err(refusal.into()),
            Ok(Ok((_, Answer::Begin | Answer::Running(_) | Answer::Again { .. }))) => {
                last = io::Error::other("its answer does not fit the greeting");
            }
            // Rank 0 may end first; the reason for its missing answer is more useful.
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused && was_closed => {}
            Ok(Err(error)) => {
                was_closed |= matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset);
                last = error;
            }
            // The error of the previous attempt is more useful.
            Err(_) => {}
        }
        let retry = if was_closed { RETRY_CLOSED } else { RETRY };
        if Instant::now() + retry >= deadline {
            return Err(BootstrapError::NoRoot { root: root.clone(), timeout: meeting.timeout, source: last });
        }
        tracing::debug!(rank, error = %last, "rank 0 is not ready yet");
        sleep(retry).await;
    }
}

/// Reports to rank 0 that this rank cannot take part.
pub(super) async fn decline(meeting: &Meeting, member: Member, settings: Terms, reason: String) -> io::Result<()> {
    let mut last = io::Error::new(io::ErrorKind::TimedOut, "no answer");
    let deadline = Instant::from_std(meeting.deadline);
    loop {
        match timeout_at(deadline, report(meeting, &member, &settings, Some(reason.clone()))).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => last = error,
            Err(_) => return Err(last),
        }
        sleep(RETRY).await;
    }
}

/// Sends one greeting. `unable`: why this rank cannot take part.
async fn report(
    meeting: &Meeting,
    member: &Member,
    settings: &Terms,
    unable: Option<String>,
) -> io::Result<(Link, Answer)> {
    let mut last = io::Error::other("the name has no address");
    let mut stream = None;
    for address in &meeting.root {
        match timeout(CONNECT, connect(meeting.local, *address, meeting.mtu)).await {
            Ok(Ok(connected)) => {
                stream = Some(connected);
                break;
            }
            Ok(Err(error)) => last = error,
            Err(_) => last = io::ErrorKind::TimedOut.into(),
        }
    }
    let stream = stream.ok_or(last)?;
    let left = meeting.deadline.saturating_duration_since(std::time::Instant::now());
    let hello = Hello {
        version: VERSION,
        job_id: meeting.launch.job_id.clone(),
        world_size: meeting.launch.world_size,
        member: member.clone(),
        settings: settings.clone(),
        rejoin: meeting.launch.rejoin,
        unable,
        timeout_ms: meeting.timeout.as_millis() as u64,
        left_ms: left.as_millis() as u64,
    };
    let closed = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => io::Error::new(
            error.kind(),
            "it closed the connection without an answer; is it rank 0 of this job, with the same job id and secret?",
        ),
        _ => error,
    };
    let mut link = Link::new(stream, End::Connected, &meeting.common()).await.map_err(closed)?;
    link.writer.write_json(&hello).await.map_err(closed)?;
    let answer = link.reader.read_json().await.map_err(closed)?;
    let handed_out = match &answer {
        Answer::Welcome { job, .. } => Some(job),
        Answer::Running(running) => Some(&running.job),
        _ => None,
    };
    if let Some(job) = handed_out {
        let (found, expected) = (job.members.len(), meeting.launch.world_size);
        if found != expected {
            return Err(io::Error::other(format!("it sent a job of {found} ranks, expected {expected}")));
        }
        if job.packet_key.is_some() != meeting.secret.is_some() {
            let [found, expected] =
                [job.packet_key.is_some(), meeting.secret.is_some()].map(|is| if is { "a" } else { "no" });
            let what = format!("it sent a job with {found} packet key, expected {expected} packet key");
            return Err(io::Error::other(what));
        }
    }
    Ok((link, answer))
}

async fn connect_all(meeting: &Meeting, job: &Job, listener: &TcpListener, until: Instant) -> Result<Links, String> {
    let rank = meeting.launch.rank;
    let (mut links, mut connecting): (Links, _) = ((0..job.members.len()).map(|_| None).collect(), JoinSet::new());
    // The nearest first, so that not all ranks begin with rank 1.
    for (peer, member) in job.members.iter().enumerate().take(rank).skip(1).rev() {
        let (local, address) = (meeting.local, member.control);
        let hello = PeerHello { tag: job.tag, rank, member: None, again: None };
        connecting.spawn(reach(peer, (local, meeting.mtu), address, hello, meeting.common(), until));
    }
    let (mut hearing, heard_by): (JoinSet<Option<(usize, Link)>>, _) = (JoinSet::new(), Arc::new(job.clone()));
    loop {
        let missing: Vec<usize> = (1..links.len()).filter(|peer| *peer != rank && links[*peer].is_none()).collect();
        if missing.is_empty() {
            return Ok(links);
        }
        tokio::select! {
            () = tokio::time::sleep_until(until) => {
                let (first, others) = (missing[0], missing.len() - 1);
                return Err(match first < rank {
                    true => format!(
                        "rank {first} did not answer at {}, nor did {others} others",
                        job.members[first].control
                    ),
                    false => format!("rank {first} did not connect, nor did {others} others"),
                });
            }
            Some(Ok(reached)) = connecting.join_next() => {
                let (peer, link) = reached?;
                links[peer] = Some(link);
            }
            Some(heard) = hearing.join_next() => {
                if let Ok(Some((peer, link))) = heard {
                    // A rank that timed out has retried.
                    links[peer] = Some(link);
                }
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, from)) => {
                    if hearing.len() >= HEARD_MAX + job.members.len() {
                        hearing.abort_all();
                    }
                    let (job, above, common) = (heard_by.clone(), rank + 1..job.members.len(), meeting.common());
                    hearing.spawn(async move {
                        let hear = async {
                            let (peer, mut link) = hear(stream, from.ip(), &job, &common).await?;
                            link.writer.write_json(&Answer::Begin).await.ok()?;
                            Some((peer, link)).filter(|(peer, _)| above.contains(peer))
                        };
                        timeout(GREETING, hear).await.ok().flatten()
                    });
                }
                Err(error) => {
                    UNACCEPTED.warn(error);
                    sleep(RETRY).await;
                }
            },
        }
    }
}

async fn reach(
    peer: usize,
    (local, mtu): (IpAddr, Option<usize>),
    address: SocketAddr,
    hello: PeerHello,
    common: Common,
    until: Instant,
) -> Result<(usize, Link), String> {
    let greet = async |stream| {
        let mut link = Link::new(stream, End::Connected, &common).await?;
        link.writer.write_json(&hello).await?;
        link.reader.read_json::<Answer>().await.map(|_| link)
    };
    let (mut is_reached, mut last) = (false, io::Error::from(io::ErrorKind::TimedOut));
    let attempts = async {
        loop {
            let connected = connect(local, address, mtu).await;
            is_reached = connected.is_ok();
            let error = match connected {
                Ok(stream) => match greet(stream).await {
                    Ok(link) => return Ok(link),
                    Err(error) => error,
                },
                Err(error) if is_of_the_network(&error) => error,
                Err(error) => return Err(error),
            };
            tracing::debug!(peer, %error, "connecting to a rank failed, retrying");
            last = error;
            sleep(RETRY).await;
        }
    };
    let error = match timeout_at(until, attempts).await {
        Ok(Ok(link)) => return Ok((peer, link)),
        Ok(Err(error)) => error,
        // More useful than the timeout.
        Err(_) => last,
    };
    let what = if is_reached { "did not answer" } else { "was not reached" };
    Err(format!("rank {peer} {what} at {address}: {error}"))
}

/// Returns whether a failure may be temporary. A refused connection is final, because a rank
/// listens before it announces its address.
fn is_of_the_network(error: &io::Error) -> bool {
    use io::ErrorKind::{HostUnreachable, NetworkDown, NetworkUnreachable, PermissionDenied, TimedOut};
    matches!(error.kind(), HostUnreachable | NetworkDown | NetworkUnreachable | PermissionDenied | TimedOut)
}

/// Connects a rejoining process to all ranks that are not gone, except rank 0. Its session is rank
/// 0's.
async fn connect_again(meeting: &Meeting, running: &Running, until: Instant) -> Result<Links, String> {
    let Running { job, gone, .. } = running;
    let (rank, mut connecting) = (meeting.launch.rank, JoinSet::new());
    for (peer, other) in job.members.iter().enumerate().skip(1) {
        if peer == rank || gone.contains(&peer) {
            continue;
        }
        let hello = PeerHello { tag: job.tag, rank, member: job.members.get(rank).cloned(), again: None };
        // It answers only after the connection to the previous process has ended.
        let from = (meeting.local, meeting.mtu);
        connecting.spawn(reach(peer, from, other.control, hello, meeting.common(), until));
    }
    let mut links: Links = (0..job.members.len()).map(|_| None).collect();
    while let Some(connected) = connecting.join_next().await {
        let (peer, link) = connected.map_err(|error| error.to_string())??;
        links[peer] = Some(link);
    }
    Ok(links)
}

/// Accepts a rank's connection. Strangers receive no answer.
async fn hear(stream: TcpStream, from: IpAddr, job: &Job, common: &Common) -> Option<(usize, Link)> {
    let (link, hello) = gather::hear(stream, common).await.ok()?;
    let PeerHello { tag, rank, .. } = serde_json::from_slice(&hello).ok()?;
    let is_of_the_job = tag == job.tag && job.members.get(rank).is_some_and(|member| member.control.ip() == from);
    if !is_of_the_job {
        STRANGERS.warn(from);
    }
    is_of_the_job.then_some((rank, link))
}
