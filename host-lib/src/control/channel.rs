//! The control channel: one TCP connection for each pair of ranks, served by its own thread.
//!
//! Messages of calls that all ranks make together ([`ControlChannel`]) and peer messages, which may
//! arrive at any time ([`PeerMessages`]), share a connection, in order. Messages to a peer without
//! a connection are dropped. Every call begins with a comparison of its arguments. If they differ,
//! all ranks fail with the same [`Mismatch`](super::Mismatch) and stay in step. If a rank is gone
//! or silent meanwhile, all later calls fail.

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

use super::again::Parting;
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

/// Longer data is sent in messages of this size.
pub(crate) const CHUNK_BYTES: usize = frame::MESSAGE_BYTES_MAX / 2;
#[derive(Debug)]
pub(crate) struct ControlChannel {
    rank: usize,
    job: Job,
    timeout: Duration,
    outgoing: Outgoing,
    /// Ranks that read nothing for the timeout.
    stalled: Vec<bool>,
    incoming: Receiver<(usize, PeerEvent)>,
    closer: Option<Closer>,
    peer_messages: Option<Receiver<(usize, PeerEvent)>>,
    mailbox: Arc<Mailbox>,
    skip_gone: bool,
    closed: bool,
    /// Unprocessed messages, by sender.
    waiting: Vec<VecDeque<Vec<u8>>>,
    held: Held,
    gone: Vec<Option<Parting>>,
    went: Vec<usize>,
    /// Gone ranks whose new process does not take part in calls yet.
    back: Vec<bool>,
    /// Generations of the connections that calls use.
    connections: Vec<u32>,
    status: Status,
    running: Option<Running>,
    outside: Arc<AtomicBool>,
    returned: Arc<Mutex<Vec<usize>>>,
    present: Vec<usize>,
    failed: Option<Arc<ControlError>>,
    alive: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Ends calls from another thread.
#[derive(Clone, Debug)]
pub(crate) struct Closer {
    in_step: Sender<(usize, PeerEvent)>,
    outgoing: Shutter,
}

impl Closer {
    /// Ends the present call and all later ones with [`ControlError::Closed`].
    pub fn close(&self) {
        self.outgoing.shut();
        let _ = self.in_step.send((0, PeerEvent::Closed));
    }
}

impl ControlChannel {
    /// Bootstraps the job and connects its ranks. Blocks, also inside an async runtime.
    ///
    /// * `describe`: describes this rank, given its listener's address.
    /// * `wake`: called on the control thread after peer messages and connection changes.
    pub fn connect(
        meeting: &Meeting,
        settings: Terms,
        describe: impl FnOnce(SocketAddr) -> Member + Send + 'static,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, BootstrapError> {
        files::make_room(meeting.launch.world_size)?;
        let ((in_step, incoming), (peer_message, peer_messages)) = (channel(), channel());
        let closer = in_step.clone();
        let (rank, ranks, mut meeting) = (meeting.launch.rank, meeting.launch.world_size, meeting.clone());
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
            // Closes a second handle of a listener that the door serves.
            meeting.listener = None;
            let door = Door { meeting, settings: mine, listener, status: status.clone(), outgoing: weak };
            if met.send(Ok((job, outgoing, status, running))).is_ok() {
                runtime.block_on(self::serve(links, door, inbox, ending));
            }
        };
        let thread = std::thread::Builder::new().name("optireduce-control".into()).spawn(serve);
        let thread = thread.map_err(io_error("the control thread"))?;
        let ended = |_| Err(io_error("the control thread")(io::Error::other("it has ended without an answer")));
        let (job, outgoing, status, running) = outcome.recv().unwrap_or_else(ended)?;
        let is_absent = |peer| running.as_ref().is_some_and(|running| running.gone.contains(&peer));
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
            gone: (0..ranks).map(|peer| is_absent(peer).then_some(Parting::Ended)).collect(),
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

    pub fn take_closer(&mut self) -> Option<Closer> {
        self.closer.take()
    }

    pub fn take_peer_messages(&mut self) -> Option<PeerMessages> {
        let incoming = self.peer_messages.take()?;
        Some(PeerMessages { outgoing: self.outgoing.clone(), incoming })
    }

    pub fn mailbox(&self) -> Arc<Mailbox> {
        self.mailbox.clone()
    }

    /// Excludes gone ranks from later calls.
    pub fn skip_gone(&mut self) {
        self.skip_gone = true;
        self.mailbox.skip_gone();
        self.status.with(|status| status.skip_gone = true);
    }

    pub fn running(&self) -> Option<&Running> {
        self.running.as_ref()
    }

    /// Set until a rejoined process has taken part in a collective. Calls fail until then.
    pub fn outside(&self) -> Arc<AtomicBool> {
        self.outside.clone()
    }

    /// Ranks for [`welcome`](Self::welcome). The engine adds them.
    pub fn returned(&self) -> Arc<Mutex<Vec<usize>>> {
        self.returned.clone()
    }

    /// Allows rejoining with packets of `payload_beats`; 0 forbids it.
    pub fn begun(&self, payload_beats: usize) {
        self.status.with(|status| status.payload_beats = payload_beats);
    }

    /// Returns bucket `number` of the running job before this process has rejoined it, and a rank
    /// to name if the declarations differ.
    pub fn declared_before(&self, number: usize) -> Option<(usize, Terms)> {
        let running = self.running.as_ref().filter(|_| self.outside.load(Ordering::Acquire))?;
        Some((0, running.buckets.get(number)?.clone()))
    }

    /// Records bucket `number` for processes that rejoin.
    pub fn declared(&self, number: usize, bucket: &Terms) {
        self.status.with(|status| {
            if number == status.buckets.len() {
                status.buckets.push(bucket.clone());
            }
        });
    }

    /// Includes restarted ranks in calls again. They have taken part in a finished collective, so
    /// all ranks know of them.
    pub fn welcome(&mut self, ranks: &[usize]) {
        while let Ok((peer, event)) = self.incoming.try_recv() {
            self.take(peer, event);
        }
        for rank in ranks.iter().copied() {
            if std::mem::take(&mut self.back[rank]) {
                self.gone[rank] = None;
                self.went.retain(|went| *went != rank);
                self.stalled[rank] = false;
                self.connections[rank] = self.outgoing.connection(rank).0;
            }
        }
    }

    /// Returns `false` if this rank is closed.
    fn take(&mut self, peer: usize, event: PeerEvent) -> bool {
        match event {
            PeerEvent::Message(message) => self.waiting[peer].push_back(message),
            PeerEvent::Gone(parting) => {
                (self.gone[peer], self.back[peer]) = (Some(parting), false);
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

    pub fn job(&self) -> &Job {
        &self.job
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    pub fn ranks(&self) -> usize {
        self.gone.len()
    }

    /// Sends at most 1 MiB. Waits for a peer with more than 8 MiB queued. If the peer makes no
    /// progress for the timeout, the message is dropped, and receiving from the peer fails.
    pub fn send(&mut self, to: usize, message: &[u8]) {
        self.send_message(to, message.to_vec());
    }

    fn send_message(&mut self, to: usize, message: Vec<u8>) {
        // All stopped ranks together cost one timeout.
        let timeout = if self.stalled.contains(&true) { Duration::ZERO } else { self.timeout };
        let connection = self.connections.get(to).copied().unwrap_or(0);
        if self.outgoing.in_step(to, connection, message, timeout).is_err() {
            self.stalled[to] = true;
        }
    }

    /// # Errors
    /// If the peer is gone, sends nothing within `timeout`, or does not exist.
    pub fn receive_from(&mut self, from: usize, timeout: Duration) -> Result<Vec<u8>, ControlError> {
        self.receive_by(from, Instant::now() + timeout, timeout)
    }

    /// `deadline`: `waited` after the call began.
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
            if let Some(parting) = self.gone[from] {
                let overrun = self.outgoing.overrun(from).map(|bytes| ControlError::Overrun { rank: from, bytes });
                let gone = || {
                    let first = self.first_gone(from);
                    self.gone[first].unwrap_or(parting).error(self.rank, first)
                };
                return Err(overrun.unwrap_or_else(gone));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            // Sending to a stalled rank has already cost a timeout.
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

    fn unreceive(&mut self, from: usize, message: Vec<u8>) {
        // Cannot exceed the limit: the message was counted until it was received.
        let _ = self.held.add(from, &message);
        self.waiting[from].push_front(message);
    }

    /// Returns the rank to name when `from` is gone. After a rank has died the others end as well,
    /// so the first is the cause, except ranks that have made the call.
    fn first_gone(&self, from: usize) -> usize {
        let is_cause = |rank: &usize| *rank >= from && self.waiting[*rank].is_empty();
        let first = self.went.iter().copied().find(is_cause).filter(|_| !self.skip_gone);
        first.unwrap_or(from)
    }
}

#[derive(Debug)]
pub(crate) struct PeerMessages {
    outgoing: Outgoing,
    incoming: Receiver<(usize, PeerEvent)>,
}

impl PeerMessages {
    /// Sends at most 1 MiB. Never waits, see [`outgoing`](super::outgoing).
    pub fn send(&self, to: usize, message: &[u8]) {
        self.outgoing.send_peer_message(to, message.to_vec());
    }

    pub fn try_receive(&self) -> Option<(usize, PeerEvent)> {
        self.incoming.try_recv().ok()
    }
}

impl Drop for ControlChannel {
    /// Sends queued messages, but waits at most 0.2 s for a peer that reads nothing and about 1 s
    /// for a slow one.
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
