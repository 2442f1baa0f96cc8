//! The control channel: one TCP connection for each pair of ranks, served by a thread of its own.
//!
//! Messages arrive in the order in which a peer sent them. Two kinds share a connection: those of calls that all ranks make
//! together ([`ControlChannel`]), and peer messages, which may come at any time ([`PeerMessages`]). What is sent to a peer whose connection has ended is dropped.
//! Every call of all ranks begins with an exchange of what is called: ranks that call different things, or with different
//! arguments, all get the same [`Mismatch`], and go on. After any other failure the ranks are out of step, and later calls
//! fail with the first reason.

mod calls;
mod error;
mod exchange;

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::runtime;
use tokio::sync::oneshot;

use super::bootstrap::Running;
use super::bootstrap::{BootstrapError, Job, Meeting, Member, io_error};
use super::door::{Door, Status};
use super::mailbox::Mailbox;
use super::meet::{Met, meet};
use super::outgoing::{Outgoing, Shutter};
use super::serve::{Held, Inbox, PeerEvent, serve};
use super::terms::Terms;
use super::{files, frame, link};

pub use self::error::ControlError;
pub(crate) use self::exchange::{Folding, Place};

/// Messages of longer data are so long.
pub(crate) const CHUNK_BYTES: usize = frame::MESSAGE_BYTES_MAX / 2;
/// Connections to all other ranks.
#[derive(Debug)]
pub(crate) struct ControlChannel {
    rank: usize,
    job: Job,
    timeout: Duration,
    outgoing: Outgoing,
    /// Ranks that took nothing of a call's messages for the timeout.
    stalled: Vec<bool>,
    incoming: Receiver<(usize, PeerEvent)>,
    closer: Option<Closer>,
    peer_messages: Option<Receiver<(usize, PeerEvent)>>,
    mailbox: Arc<Mailbox>,
    skip_gone: bool,
    /// This rank wants no more.
    closed: bool,
    /// Messages that came while another rank's was waited for, by rank.
    waiting: Vec<VecDeque<Vec<u8>>>,
    held: Held,
    gone: Vec<bool>,
    /// The ranks that are gone, in order.
    went: Vec<usize>,
    /// Ranks that are gone, and have a connection to another process, which does not take part in calls yet.
    back: Vec<bool>,
    /// Numbers of the connections to processes that take part in calls.
    connections: Vec<u32>,
    /// What processes that are started again are told.
    status: Status,
    /// What this process was told, if it was.
    running: Option<Running>,
    /// Whether this process has not taken part in a collective yet, in a job that ran already.
    outside: Arc<AtomicBool>,
    /// Ranks with a new process that has taken part in a collective; see [`welcome`](Self::welcome).
    returned: Arc<Mutex<Vec<usize>>>,
    /// Ranks that made the present call.
    present: Vec<usize>,
    failed: Option<Arc<ControlError>>,
    /// Dropped when this rank ends.
    alive: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Ends a call that waits, from another thread.
#[derive(Clone, Debug)]
pub(crate) struct Closer {
    in_step: Sender<(usize, PeerEvent)>,
    outgoing: Shutter,
}

impl Closer {
    /// The call that waits, and all later ones, end with [`ControlError::Closed`].
    pub fn close(&self) {
        self.outgoing.shut();
        let _ = self.in_step.send((0, PeerEvent::Closed));
    }
}

impl ControlChannel {
    /// Brings the ranks of a job together and connects them. Blocks; may be called inside an async runtime, since the
    /// connections have a thread with a runtime of their own. `describe`: this rank, from the address where it takes
    /// connections. `settings`: what must be the same on all ranks. `wake` is called after a peer message has come, from another
    /// thread.
    ///
    /// # Errors
    /// See [`BootstrapError`].
    pub fn connect(
        meeting: &Meeting,
        settings: Terms,
        describe: impl FnOnce(SocketAddr) -> Member + Send + 'static,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, BootstrapError> {
        files::make_room(meeting.launch.world_size)?;
        let ((in_step, incoming), (peer_message, peer_messages)) = (channel(), channel());
        let closer = in_step.clone();
        let (rank, ranks, meeting) = (meeting.launch.rank, meeting.launch.world_size, meeting.clone());
        let mailbox = Arc::new(Mailbox::new(rank, ranks, meeting.timeout));
        let held = Held::new(ranks);
        let inbox = Inbox { in_step, held: held.clone(), peer_message, mailbox: mailbox.clone(), wake: Arc::new(wake) };
        let (met, outcome) = channel();
        let (alive, ending) = oneshot::channel();
        let (timeout, mine) = (meeting.timeout, settings.clone());
        let serve = move || {
            let meet = async {
                let what = format!("rank {rank} listens at {}", meeting.local);
                let listener = link::listen((meeting.local, 0).into()).map_err(io_error(what))?;
                let control = listener.local_addr().map_err(io_error("its own address"))?;
                meet(&meeting, describe(control), settings, listener).await
            };
            let runtime = runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(io_error("tokio's runtime"));
            let (found, runtime) = match runtime.and_then(|runtime| Ok((runtime.block_on(meet)?, runtime))) {
                Ok(found) => found,
                Err(error) => return drop(met.send(Err(error))),
            };
            let Met { job, links, door: listener, running } = found;
            let (outgoing, status) = (Outgoing::new(ranks), Status::new(job.clone()));
            let links = links.into_iter().enumerate();
            let links = links.filter_map(|(peer, link)| Some((peer, link?, outgoing.open(peer)))).collect();
            let weak = outgoing.downgrade();
            let gone: &[usize] = running.as_ref().map_or(&[], |running| &running.gone);
            inbox.mailbox.open(runtime.handle(), weak.clone(), gone);
            let door = Door { meeting, settings: mine, listener, status: status.clone(), outgoing: weak };
            if met.send(Ok((job, outgoing, status, running))).is_ok() {
                runtime.block_on(self::serve(links, door, inbox, ending));
            }
        };
        let thread = std::thread::Builder::new().name("optireduce-control".into()).spawn(serve);
        let thread = thread.map_err(io_error("the control thread"))?;
        let ended = |_| Err(io_error("the control thread")(io::Error::other("it has ended without an answer")));
        let (job, outgoing, status, running) = outcome.recv().unwrap_or_else(ended)?;
        let absent = |peer| running.as_ref().is_some_and(|running| running.gone.contains(&peer));
        if let Some(Running { payload_beats, skip_gone, buckets, .. }) = &running {
            let of_the_job = (*payload_beats, *skip_gone, buckets.clone());
            status.with(|status| (status.payload_beats, status.skip_gone, status.buckets) = of_the_job);
        }
        if running.as_ref().is_some_and(|running| running.skip_gone) {
            mailbox.skip_gone();
        }
        let closer = Some(Closer { in_step: closer, outgoing: outgoing.shutter() });
        Ok(Self {
            rank,
            job,
            timeout,
            outgoing,
            stalled: vec![false; ranks],
            closed: false,
            incoming,
            closer,
            peer_messages: Some(peer_messages),
            mailbox,
            skip_gone: running.as_ref().is_some_and(|running| running.skip_gone),
            waiting: vec![Default::default(); ranks],
            held,
            went: Vec::new(),
            gone: (0..ranks).map(absent).collect(),
            back: vec![false; ranks],
            connections: vec![1; ranks],
            status,
            outside: Arc::new(AtomicBool::new(running.is_some())),
            running,
            returned: Arc::default(),
            present: Vec::new(),
            failed: None,
            alive: Some(alive),
            thread: Some(thread),
        })
    }

    /// What ends its calls from another thread; `None` the second time.
    pub fn take_closer(&mut self) -> Option<Closer> {
        self.closer.take()
    }

    /// The peer messages, for whoever handles them; `None` the second time.
    pub fn take_peer_messages(&mut self) -> Option<PeerMessages> {
        let incoming = self.peer_messages.take()?;
        Some(PeerMessages { outgoing: self.outgoing.clone(), incoming })
    }

    /// Messages from point to point.
    pub fn mailbox(&self) -> Arc<Mailbox> {
        self.mailbox.clone()
    }

    /// From now on calls leave out ranks whose connection has ended; [`gather`](Self::gather) has nothing of them.
    pub fn skip_gone(&mut self) {
        self.skip_gone = true;
        self.mailbox.skip_gone();
        self.status.with(|status| status.skip_gone = true);
    }

    /// The job that ran when this process came into it, if it was started again.
    pub fn running(&self) -> Option<&Running> {
        self.running.as_ref()
    }

    /// Whether this process was started again, and has not taken part in a collective yet. Until somebody clears it, it makes no
    /// calls.
    pub fn outside(&self) -> Arc<AtomicBool> {
        self.outside.clone()
    }

    /// Ranks for [`welcome`](Self::welcome): somebody else's to set, and to read when a call is made.
    pub fn returned(&self) -> Arc<Mutex<Vec<usize>>> {
        self.returned.clone()
    }

    /// From now on processes that are started again may come: packets carry so many beats. 0: none may come any more.
    pub fn begun(&self, payload_beats: usize) {
        self.status.with(|status| status.payload_beats = payload_beats);
    }

    /// What the others declared as their bucket `number`, and one of them, if this process was started again after that.
    pub fn declared_before(&self, number: usize) -> Option<(usize, Terms)> {
        let running = self.running.as_ref().filter(|_| self.outside.load(Ordering::Acquire))?;
        Some((0, running.buckets.get(number)?.clone()))
    }

    /// Bucket `number` was declared.
    pub fn declared(&self, number: usize, bucket: &Terms) {
        self.status.with(|status| {
            if number == status.buckets.len() {
                status.buckets.push(bucket.clone());
            }
        });
    }

    /// From now on these ranks take part in calls again: a collective was finished in which they did, so that all ranks know.
    pub fn welcome(&mut self, ranks: &[usize]) {
        while let Ok((peer, event)) = self.incoming.try_recv() {
            self.take(peer, event);
        }
        for rank in ranks.iter().copied() {
            if std::mem::take(&mut self.back[rank]) {
                self.gone[rank] = false;
                self.went.retain(|went| *went != rank);
                self.stalled[rank] = false;
                self.connections[rank] = self.outgoing.connection(rank).0;
            }
        }
    }

    /// Takes what has come of a peer; `false`: this rank wants no more.
    fn take(&mut self, peer: usize, event: PeerEvent) -> bool {
        match event {
            PeerEvent::Message(message) => self.waiting[peer].push_back(message),
            PeerEvent::Gone => {
                (self.gone[peer], self.back[peer]) = (true, false);
                self.went.push(peer);
            }
            PeerEvent::Back(_) => {
                self.back[peer] = true;
                let Self { waiting, held, .. } = self;
                waiting[peer].drain(..).for_each(|message| held.remove(peer, &message));
            }
            PeerEvent::Closed => {
                self.closed = true;
                return false;
            }
        }
        true
    }

    /// What all ranks know.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Ranks that it connects: those of the job.
    pub fn ranks(&self) -> usize {
        self.gone.len()
    }

    /// Sends a peer message, shorter than a MiB. To a peer that is gone: nothing. If more than a few MiB wait for the peer, and it
    /// takes nothing of them for the timeout, it counts as silent, and nothing is sent.
    pub fn send(&mut self, to: usize, message: &[u8]) {
        self.send_message(to, message.to_vec());
    }

    fn send_message(&mut self, to: usize, message: Vec<u8>) {
        // One timeout for all that are stopped.
        let timeout = if self.stalled.contains(&true) { Duration::ZERO } else { self.timeout };
        let connection = self.connections.get(to).copied().unwrap_or(0);
        if self.outgoing.in_step(to, connection, message, timeout).is_err() {
            self.stalled[to] = true;
        }
    }

    /// The next message of one peer; those of others are kept.
    ///
    /// # Errors
    /// If it is gone, or silent for longer than `timeout`, or no peer.
    pub fn receive_from(&mut self, from: usize, timeout: Duration) -> Result<Vec<u8>, ControlError> {
        self.receive_by(from, Instant::now() + timeout, timeout)
    }

    /// As [`receive_from`](Self::receive_from) until `deadline`, which is `waited` after the call began.
    fn receive_by(&mut self, from: usize, deadline: Instant, waited: Duration) -> Result<Vec<u8>, ControlError> {
        if from == self.rank || from >= self.ranks() {
            return Err(ControlError::NoSuchRank { rank: from, ranks: self.ranks() });
        }
        loop {
            if self.closed {
                return Err(ControlError::Closed);
            }
            if !self.back[from]
                && let Some(message) = self.waiting[from].pop_front()
            {
                self.held.remove(from, &message);
                return Ok(message);
            }
            if self.gone[from] {
                let overrun = self.outgoing.overrun(from).map(|bytes| ControlError::Overrun { rank: from, bytes });
                return Err(overrun.unwrap_or(ControlError::Gone(self.first_gone(from))));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            // Who took nothing for the timeout has had its time.
            let left = if self.stalled[from] { Duration::ZERO } else { left };
            match self.incoming.recv_timeout(left) {
                Ok((peer, event)) => {
                    if !self.take(peer, event) {
                        return Err(ControlError::Closed);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Err(ControlError::Silent { rank: from, waited }),
                Err(RecvTimeoutError::Disconnected) => return Err(ControlError::Gone(from)),
            }
        }
    }

    /// Puts back a message that was received: it is the next one again.
    fn unreceive(&mut self, from: usize, message: Vec<u8>) {
        // It was there before.
        let _ = self.held.add(from, &message);
        self.waiting[from].push_front(message);
    }

    /// The rank to name when `from` is gone: once a rank has died, the others end one after the other, and the first is the
    /// cause. Ranks below `from` have made the call, as have those of which a message waits.
    fn first_gone(&self, from: usize) -> usize {
        let is_cause = |rank: &usize| *rank >= from && self.waiting[*rank].is_empty();
        let first = self.went.iter().copied().find(is_cause).filter(|_| !self.skip_gone);
        first.unwrap_or(from)
    }
}

/// Peer messages, from and to all other ranks: they may come at any time.
#[derive(Debug)]
pub(crate) struct PeerMessages {
    outgoing: Outgoing,
    incoming: Receiver<(usize, PeerEvent)>,
}

impl PeerMessages {
    /// Sends a peer message, shorter than a MiB. Never waits; see [`outgoing`](super::outgoing).
    pub fn send(&self, to: usize, message: &[u8]) {
        self.outgoing.send_peer_message(to, message.to_vec());
    }

    /// What came next, and from which peer; `None` if nothing did.
    pub fn try_receive(&self) -> Option<(usize, PeerEvent)> {
        self.incoming.try_recv().ok()
    }
}

impl Drop for ControlChannel {
    /// What was sent goes out, unless a peer does not take it; then the connections end. Takes no longer than a peer needs
    /// that takes nothing: 0.2 s, or 1 s if one is slow.
    fn drop(&mut self) {
        self.outgoing = Outgoing::new(0);
        self.alive = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
