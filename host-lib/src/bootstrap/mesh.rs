//! The reliable channel: one TCP connection for each pair of ranks, served by a thread of its own.
//!
//! Messages arrive in the order in which a peer sent them. Two kinds share a connection: those that callers exchange in
//! step ([`Mesh`]), and notices that may come at any time ([`Notices`]). What is sent to a peer whose connection has ended
//! is dropped.

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

use super::frame::{self, IN_STEP, NOTICE};
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
}

/// Messages of longer data are so long.
pub(crate) const CHUNK_BYTES: usize = frame::MESSAGE_BYTES_MAX / 2;
type Outgoing = Vec<Option<UnboundedSender<(u8, Vec<u8>)>>>;

/// Connections to all other ranks.
#[derive(Debug)]
pub struct Mesh {
    rank: usize,
    job: Job,
    outgoing: Outgoing,
    incoming: Receiver<(usize, Notice)>,
    notices: Option<Receiver<(usize, Notice)>>,
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
        let ((in_step, incoming), (notice, notices)) = (channel(), channel());
        let inbox = Inbox { in_step, notice, wake: Arc::new(wake) };
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

    /// What all ranks know.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Ranks of the job.
    pub fn ranks(&self) -> usize {
        self.gone.len()
    }

    /// Sends a message, shorter than a MiB. To a peer that is gone: nothing.
    pub fn send(&self, to: usize, message: &[u8]) {
        send(&self.outgoing, to, IN_STEP, message);
    }

    /// The next message of one peer; those of others are kept.
    ///
    /// # Errors
    /// If it is gone, or silent for longer than `timeout`.
    pub fn receive_from(&mut self, from: usize, timeout: Duration) -> Result<Vec<u8>, MeshError> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(message) = self.waiting[from].pop_front() {
                return Ok(message);
            }
            if self.gone[from] {
                return Err(MeshError::Gone(from));
            }
            match self.incoming.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok((peer, Notice::Gone)) => self.gone[peer] = true,
                Ok((peer, Notice::Message(message))) => self.waiting[peer].push_back(message),
                Err(RecvTimeoutError::Timeout) => return Err(MeshError::Silent { rank: from, waited: timeout }),
                Err(RecvTimeoutError::Disconnected) => return Err(MeshError::Gone(from)),
            }
        }
    }

    /// Waits until all ranks are here: each tells rank 0, which answers.
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from).
    pub fn barrier(&mut self, timeout: Duration) -> Result<(), MeshError> {
        const HERE: &[u8] = b"barrier";
        if self.rank > 0 {
            self.send(0, HERE);
            return self.receive_from(0, timeout).map(drop);
        }
        for peer in 1..self.ranks() {
            self.receive_from(peer, timeout)?;
        }
        (1..self.ranks()).for_each(|peer| self.send(peer, HERE));
        Ok(())
    }

    /// Hands every rank's bytes to rank 0, by rank; the others get nothing.
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from).
    pub fn gather(&mut self, own: &[u8], timeout: Duration) -> Result<Vec<Vec<u8>>, MeshError> {
        if self.rank > 0 {
            own.chunks(CHUNK_BYTES).for_each(|chunk| self.send(0, chunk));
            self.send(0, &[]);
            return Ok(Vec::new());
        }
        let mut all = vec![own.to_vec()];
        for peer in 1..self.ranks() {
            all.push(self.receive_chunks(peer, timeout)?);
        }
        Ok(all)
    }

    /// Hands rank 0's bytes to every rank.
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from).
    pub fn broadcast(&mut self, own: &[u8], timeout: Duration) -> Result<Vec<u8>, MeshError> {
        if self.rank > 0 {
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
        send(&self.outgoing, to, NOTICE, notice);
    }

    /// The next notice, if there is one, and whose it is.
    pub fn try_receive(&self) -> Option<(usize, Notice)> {
        self.incoming.try_recv().ok()
    }
}

fn send(outgoing: &Outgoing, to: usize, kind: u8, message: &[u8]) {
    if let Some(Some(sender)) = outgoing.get(to) {
        let _ = sender.send((kind, message.to_vec()));
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
        self.in_step.send(message).is_ok()
    }

    fn end(&self, peer: usize) {
        let _ = self.in_step.send((peer, Notice::Gone));
        let _ = self.notice.send((peer, Notice::Gone));
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
            while let Some((kind, message)) = messages.recv().await {
                if frame::write(&mut writing, kind, &message).await.is_err() {
                    break;
                }
            }
            drop(writing);
            reader.abort();
        }));
    }
    for writer in writers {
        let _ = writer.await;
    }
}
