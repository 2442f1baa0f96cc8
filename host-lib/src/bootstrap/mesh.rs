//! The reliable channel: one TCP connection for each pair of ranks, served by a thread of its own.
//!
//! Messages arrive in the order in which a peer sent them. Three kinds share a connection: those that callers exchange in
//! step ([`Mesh`]), those that engines exchange in step, some ranks among themselves, and notices that may come at any time
//! ([`Notices`]). What is sent to a peer whose connection has ended
//! is dropped.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio::io::BufReader;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::frame::{self, BETWEEN, IN_STEP, NOTICE};
use super::{BootstrapError, Job, Launch, Member, io_error, meet};

/// A peer cannot be reached any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MeshError {
    /// Its connection has ended.
    #[error("the connection to rank {0} has ended: the process is gone, or the network between them")]
    Gone(usize),
    /// It did not answer in time.
    #[error("rank {rank} did not send what was expected within {} s", waited.as_secs_f64())]
    Silent {
        /// The rank.
        rank: usize,
        /// How long was waited.
        waited: Duration,
    },
    /// It sent something of another length: the ranks do not call the same.
    #[error("rank {rank} sent {found} bytes, expected {expected}; all ranks must call the same in the same order")]
    WrongLength {
        /// The rank.
        rank: usize,
        /// Bytes that came.
        found: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// It is at another call.
    #[error("rank {0} is at another call; all ranks must call the same in the same order")]
    OutOfStep(usize),
    /// The root of a broadcast has given up.
    #[error("rank {root} has given up its broadcast, since rank {missing} is gone or does not answer")]
    GivenUp {
        /// The root.
        root: usize,
        /// The rank that it waited for.
        missing: usize,
    },
    /// There is no such peer.
    #[error("rank {rank} is no peer of rank {own} among {ranks} ranks")]
    NoPeer {
        /// The rank.
        rank: usize,
        /// This rank.
        own: usize,
        /// Ranks of the job.
        ranks: usize,
    },
}

/// Messages of longer data are so long.
pub(crate) const CHUNK_BYTES: usize = frame::MESSAGE_BYTES_MAX / 2;
/// Bytes of a broadcast that are on their way to a peer at most: they wait in memory.
const BROADCAST_BYTES: usize = 8 * CHUNK_BYTES;
type Outgoing = Vec<Option<UnboundedSender<(u8, Vec<u8>)>>>;

/// Connections to all other ranks.
#[derive(Debug)]
pub struct Mesh {
    rank: usize,
    job: Job,
    outgoing: Outgoing,
    incoming: Receiver<(usize, Notice)>,
    notices: Option<Receiver<(usize, Notice)>>,
    between: Option<Receiver<(usize, Notice)>>,
    kind: u8,
    /// The ranks that it connects; ranks below are places in it.
    group: Vec<usize>,
    /// If there are several groups one after the other: the number of this one, which its messages begin with.
    number: Option<u32>,
    leave_out_gone: bool,
    /// Messages that came while another rank's was waited for, by rank.
    waiting: Vec<VecDeque<Vec<u8>>>,
    gone: Vec<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Mesh {
    /// Brings the ranks of a job together and connects them. `describe`: this rank, from the address where it takes
    /// connections. `wake` is called after a notice has come, from another thread.
    ///
    /// # Errors
    /// See [`BootstrapError`].
    pub fn connect(
        launch: &Launch,
        local: IpAddr,
        timeout: Duration,
        describe: impl FnOnce(SocketAddr) -> Member,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, BootstrapError> {
        let runtime =
            runtime::Builder::new_current_thread().enable_all().build().map_err(io_error("tokio's runtime"))?;
        let (job, streams) = runtime.block_on(async {
            let what = format!("rank {} listens at {local}", launch.rank);
            let listener = TcpListener::bind((local, 0)).await;
            let listener = listener.map_err(io_error(what))?;
            let control = listener.local_addr().map_err(io_error("its own address"))?;
            meet(launch, describe(control), listener, timeout).await
        })?;
        let ((in_step, incoming), (notice, notices), (engines, between)) = (channel(), channel(), channel());
        let inbox = Inbox { in_step, notice, between: engines, wake: Arc::new(wake) };
        let (mut outgoing, mut links) = (Vec::new(), Vec::new());
        for (peer, stream) in streams.into_iter().enumerate() {
            outgoing.push(stream.map(|stream| {
                let (sender, messages) = unbounded_channel();
                links.push((peer, stream, messages));
                sender
            }));
        }
        let serve = move || runtime.block_on(serve(links, inbox));
        let thread = std::thread::Builder::new().name("optireduce-control".into()).spawn(serve);
        let thread = thread.map_err(io_error("the control thread"))?;
        let ranks = launch.world_size;
        Ok(Self {
            rank: launch.rank,
            job,
            outgoing,
            incoming,
            notices: Some(notices),
            between: Some(between),
            kind: IN_STEP,
            group: (0..ranks).collect(),
            number: None,
            leave_out_gone: false,
            waiting: vec![Default::default(); ranks],
            gone: vec![false; ranks],
            thread: Some(thread),
        })
    }

    /// The notices of this rank, for whoever handles them; `None` the second time.
    pub fn take_notices(&mut self) -> Option<Notices> {
        let incoming = self.notices.take()?;
        Some(Notices { rank: self.rank, outgoing: self.outgoing.clone(), incoming })
    }

    /// A second mesh on the same connections, for the engine; its first group is that of all ranks. `None` the second time.
    pub(crate) fn take_between(&mut self) -> Option<Self> {
        let incoming = self.between.take()?;
        let ranks = self.gone.len();
        Some(Self {
            rank: self.rank,
            job: self.job.clone(),
            outgoing: self.outgoing.clone(),
            incoming,
            notices: None,
            between: None,
            kind: BETWEEN,
            group: (0..ranks).collect(),
            number: Some(0),
            leave_out_gone: false,
            waiting: vec![Default::default(); ranks],
            gone: vec![false; ranks],
            thread: None,
        })
    }

    /// From now on it connects these ranks, by their places in `group`, which must have this rank. `number` is higher than
    /// before; what is still there of groups before is forgotten. Only of the engine's mesh.
    pub(crate) fn regroup(&mut self, number: u32, group: Vec<usize>) {
        if self.number.is_some() && group.contains(&self.rank) {
            (self.number, self.group) = (Some(number), group);
        }
    }

    /// From now on [`barrier`](Self::barrier) does not wait for ranks whose connection has ended, and [`gather`](Self::gather)
    /// has nothing of them.
    pub fn leave_out_gone(&mut self) {
        self.leave_out_gone = true;
    }

    /// What all ranks know.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.group.iter().position(|rank| *rank == self.rank).unwrap_or(0)
    }

    /// Ranks that it connects: those of the job.
    pub fn ranks(&self) -> usize {
        self.group.len()
    }

    /// Sends a message, shorter than a MiB. To a peer that is gone: nothing.
    pub fn send(&self, to: usize, message: &[u8]) {
        let Some(to) = self.group.get(to) else { return };
        match self.number {
            None => send(&self.outgoing, *to, self.kind, message.to_vec()),
            Some(number) => send(&self.outgoing, *to, self.kind, [&number.to_le_bytes(), message].concat()),
        }
    }

    /// The next message of one peer; those of others are kept.
    ///
    /// # Errors
    /// If it is gone, or silent for longer than `timeout`, or no peer.
    pub fn receive_from(&mut self, from: usize, timeout: Duration) -> Result<Vec<u8>, MeshError> {
        self.receive_by(from, Instant::now() + timeout, timeout)
    }

    /// As [`receive_from`](Self::receive_from) until `deadline`, which is `waited` after the call began.
    fn receive_by(&mut self, from: usize, deadline: Instant, waited: Duration) -> Result<Vec<u8>, MeshError> {
        let (own, ranks) = (self.rank(), self.ranks());
        let peer = self.group.get(from).copied().filter(|_| from != own);
        let from = peer.ok_or(MeshError::NoPeer { rank: from, own, ranks })?;
        loop {
            while let Some(message) = self.waiting[from].pop_front() {
                let Some(number) = self.number else { return Ok(message) };
                let Some((of, rest)) = message.split_first_chunk::<4>() else { continue };
                match u32::from_le_bytes(*of).cmp(&number) {
                    Ordering::Less => {}
                    Ordering::Equal => return Ok(rest.to_vec()),
                    Ordering::Greater => {
                        // It has given this group up.
                        self.waiting[from].push_front(message);
                        return Err(MeshError::Silent { rank: from, waited: Duration::ZERO });
                    }
                }
            }
            if self.gone[from] {
                return Err(MeshError::Gone(from));
            }
            match self.incoming.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok((peer, Notice::Gone)) => self.gone[peer] = true,
                Ok((peer, Notice::Message(message))) => self.waiting[peer].push_back(message),
                Err(RecvTimeoutError::Timeout) => return Err(MeshError::Silent { rank: from, waited }),
                Err(RecvTimeoutError::Disconnected) => return Err(MeshError::Gone(from)),
            }
        }
    }

    /// Waits until all ranks are here, at most `timeout`: each tells every other, so each sees itself who is missing.
    ///
    /// # Errors
    /// Names a rank that is gone, missing, or at another call. The ranks are out of step then: start anew.
    pub fn barrier(&mut self, timeout: Duration) -> Result<(), MeshError> {
        const HERE: &[u8] = b"barrier";
        let deadline = Instant::now() + timeout;
        self.peers().for_each(|peer| self.send(peer, HERE));
        for peer in self.peers() {
            match self.receive_by(peer, deadline, timeout) {
                Ok(message) if message == HERE => {}
                Ok(_) => return Err(MeshError::OutOfStep(peer)),
                Err(MeshError::Gone(_)) if self.leave_out_gone => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Hands the root's bytes to all ranks, which must have room for as many. Returns once this rank has all of them and,
    /// at the root, once every rank has. Bounded: `timeout` for each 4 MiB, so long as somebody is silent.
    /// The root sends them to each rank: it takes (ranks - 1) times what its link takes for them once.
    ///
    /// # Errors
    /// Names a rank that is gone or silent, on all ranks; one whose length is another; or a root that is none. `data` is
    /// then in between, and the ranks are out of step: start anew.
    pub fn broadcast_from(&mut self, root: usize, data: &mut [u8], timeout: Duration) -> Result<(), MeshError> {
        let length = data.len();
        if root != self.rank() {
            let found = count(&self.receive_from(root, timeout)?).ok_or(MeshError::OutOfStep(root))?;
            self.send(root, &(length as u64).to_le_bytes());
            if found != length {
                return Err(MeshError::WrongLength { rank: root, found, expected: length });
            }
            let mut received = 0;
            for group in data.chunks_mut(BROADCAST_BYTES) {
                // The root may wait for others before it gives up.
                group.chunks_mut(CHUNK_BYTES).try_for_each(|chunk| self.receive_chunk(root, chunk, 2 * timeout))?;
                received += group.len();
                self.send(root, &(received as u64).to_le_bytes());
            }
            return Ok(());
        }
        self.peers().for_each(|peer| self.send(peer, &(length as u64).to_le_bytes()));
        self.all_have(length, timeout)?;
        let mut sent = 0;
        for group in data.chunks(BROADCAST_BYTES) {
            group.chunks(CHUNK_BYTES).for_each(|chunk| self.peers().for_each(|peer| self.send(peer, chunk)));
            sent += group.len();
            self.all_have(sent, timeout)?;
        }
        Ok(())
    }

    /// At the root of a broadcast: waits until all ranks have answered with `expected` bytes; if one does not, tells the
    /// others.
    fn all_have(&mut self, expected: usize, timeout: Duration) -> Result<(), MeshError> {
        let deadline = Instant::now() + timeout;
        for peer in self.peers() {
            let answer = self.receive_by(peer, deadline, timeout);
            let error = match answer.map(|answer| count(&answer)) {
                Ok(Some(found)) if found == expected => continue,
                Ok(Some(found)) => MeshError::WrongLength { rank: peer, found, expected },
                Ok(None) => MeshError::OutOfStep(peer),
                Err(MeshError::Gone(_)) if self.leave_out_gone => continue,
                Err(error) => error,
            };
            for other in self.peers().filter(|other| *other != peer) {
                self.send(other, &[]);
                self.send(other, &(peer as u64).to_le_bytes());
            }
            return Err(error);
        }
        Ok(())
    }

    /// A chunk of a broadcast, or in its stead an empty message and the rank for which the root gives up.
    fn receive_chunk(&mut self, root: usize, chunk: &mut [u8], timeout: Duration) -> Result<(), MeshError> {
        let bytes = self.receive_from(root, timeout)?;
        if bytes.is_empty() {
            let missing = count(&self.receive_from(root, timeout)?).ok_or(MeshError::OutOfStep(root))?;
            return Err(MeshError::GivenUp { root, missing });
        }
        let (found, expected) = (bytes.len(), chunk.len());
        if found != expected {
            return Err(MeshError::WrongLength { rank: root, found, expected });
        }
        chunk.copy_from_slice(&bytes);
        Ok(())
    }

    /// The other ranks.
    fn peers(&self) -> impl Iterator<Item = usize> + use<> {
        let rank = self.rank();
        (0..self.ranks()).filter(move |peer| *peer != rank)
    }

    /// Hands every rank's bytes to rank 0, by rank; the others get nothing.
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from).
    pub fn gather(&mut self, own: &[u8], timeout: Duration) -> Result<Vec<Vec<u8>>, MeshError> {
        if self.rank() > 0 {
            own.chunks(CHUNK_BYTES).for_each(|chunk| self.send(0, chunk));
            self.send(0, &[]);
            return Ok(Vec::new());
        }
        let mut all = vec![own.to_vec()];
        for peer in 1..self.ranks() {
            all.push(match self.receive_chunks(peer, timeout) {
                Err(MeshError::Gone(_)) if self.leave_out_gone => Vec::new(),
                received => received?,
            });
        }
        Ok(all)
    }

    /// Hands rank 0's bytes to every rank.
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from).
    pub fn broadcast(&mut self, own: &[u8], timeout: Duration) -> Result<Vec<u8>, MeshError> {
        if self.rank() > 0 {
            return self.receive_chunks(0, timeout);
        }
        for peer in 1..self.ranks() {
            own.chunks(CHUNK_BYTES).for_each(|chunk| self.send(peer, chunk));
            self.send(peer, &[]);
        }
        Ok(own.to_vec())
    }

    /// Messages of a peer up to an empty one, joined.
    fn receive_chunks(&mut self, from: usize, timeout: Duration) -> Result<Vec<u8>, MeshError> {
        let mut whole = Vec::new();
        loop {
            let chunk = self.receive_from(from, timeout)?;
            if chunk.is_empty() {
                return Ok(whole);
            }
            whole.extend(chunk);
        }
    }
}

/// The number that a message is.
fn count(message: &[u8]) -> Option<usize> {
    <[u8; 8]>::try_from(message).ok().map(|bytes| u64::from_le_bytes(bytes) as usize)
}

/// What comes from a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A peer's message.
    Message(Vec<u8>),
    /// The peer's connection has ended.
    Gone,
}

/// Notices from and to all other ranks.
#[derive(Debug)]
pub struct Notices {
    rank: usize,
    outgoing: Outgoing,
    incoming: Receiver<(usize, Notice)>,
}

impl Notices {
    /// Sends a notice, shorter than a MiB, to all other ranks.
    pub fn send_all(&self, notice: &[u8]) {
        (0..self.outgoing.len()).filter(|peer| *peer != self.rank).for_each(|peer| self.send(peer, notice));
    }

    /// Sends a notice, shorter than a MiB.
    pub fn send(&self, to: usize, notice: &[u8]) {
        send(&self.outgoing, to, NOTICE, notice.to_vec());
    }

    /// The next notice, if there is one, and whose it is.
    pub fn try_receive(&self) -> Option<(usize, Notice)> {
        self.incoming.try_recv().ok()
    }
}

fn send(outgoing: &Outgoing, to: usize, kind: u8, message: Vec<u8>) {
    if let Some(Some(sender)) = outgoing.get(to) {
        let _ = sender.send((kind, message));
    }
}

impl Drop for Mesh {
    /// What was sent goes out; then the connections end.
    fn drop(&mut self) {
        self.outgoing.clear();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Where messages of peers go.
#[derive(Clone)]
struct Inbox {
    in_step: Sender<(usize, Notice)>,
    notice: Sender<(usize, Notice)>,
    between: Sender<(usize, Notice)>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl Inbox {
    /// `false`: nobody is there any more.
    fn put(&self, peer: usize, kind: u8, message: Vec<u8>) -> bool {
        let message = (peer, Notice::Message(message));
        if kind == NOTICE {
            let _ = self.notice.send(message);
            (self.wake)();
            return true;
        }
        if kind == BETWEEN {
            let _ = self.between.send(message);
            return true;
        }
        self.in_step.send(message).is_ok()
    }

    fn end(&self, peer: usize) {
        let _ = self.in_step.send((peer, Notice::Gone));
        let _ = self.notice.send((peer, Notice::Gone));
        let _ = self.between.send((peer, Notice::Gone));
        (self.wake)();
    }
}

type Link = (usize, TcpStream, UnboundedReceiver<(u8, Vec<u8>)>);

/// Serves all connections until this rank sends no more, and every peer has ended its side or some time has passed.
async fn serve(links: Vec<Link>, inbox: Inbox) {
    let mut writers = Vec::new();
    for (peer, stream, mut messages) in links {
        let _ = stream.set_nodelay(true);
        let (reading, mut writing) = stream.into_split();
        let inbox = inbox.clone();
        let reader = tokio::spawn(async move {
            let mut reading = BufReader::with_capacity(1 << 17, reading);
            let ended = loop {
                match frame::read(&mut reading).await {
                    Ok((kind, message)) => {
                        if !inbox.put(peer, kind, message) {
                            return;
                        }
                    }
                    Err(error) => break error,
                }
            };
            if ended.kind() != io::ErrorKind::UnexpectedEof {
                tracing::debug!(peer, %ended, "connection");
            }
            inbox.end(peer);
        });
        writers.push(tokio::spawn(async move {
            let mut is_open = true;
            while let Some((kind, message)) = messages.recv().await {
                // To a peer that is gone nothing goes any more. The reader goes on: it has what came before, and then says so.
                is_open = is_open && frame::write(&mut writing, kind, &message).await.is_ok();
            }
            drop(writing);
            reader.abort();
        }));
    }
    for writer in writers {
        let _ = writer.await;
    }
}
