//! The thread that moves the datagrams of a rank.
//!
//! It polls while something happens, looks on for a moment when nothing does, then sleeps until a datagram, a command, a
//! notice or a timer wakes it. It does not yield: on a busy machine that costs a whole time slice, a sleeper wakes at once.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};
use tokio::sync::oneshot;

use super::{EngineError, Metrics};
use crate::bootstrap::{Notice, Notices};
use crate::collectives::{Collectives, CollectivesError, Finished};
use crate::protocol::{HadamardMode, HadamardSwitch};
use crate::udp::{Udp, UdpError};

/// How long the engine looks on before it sleeps, while collectives run.
const SPIN: Duration = Duration::from_micros(10);
/// It looks around this often even if nothing happens.
const NAP: Duration = Duration::from_millis(500);
/// How long packets may take to leave after the last collective.
const DRAIN: Duration = Duration::from_millis(200);
/// Collectives between a loss and the switch to Hadamard: longer than an announcement takes.
const SWITCH_LEAD_OPS: u32 = 32;

pub(super) type Reply = oneshot::Sender<Result<Finished, EngineError>>;

/// What callers want.
#[derive(Debug)]
pub(super) enum Command {
    AllReduce { bucket: u16, data: Vec<f32>, reply: Reply },
    Metrics(oneshot::Sender<Metrics>),
    End,
}

/// Wakes the engine from another thread.
#[derive(Debug)]
pub(super) struct Waker(OwnedFd);

impl Waker {
    pub fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    pub fn wake(&self) {
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    fn clear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

pub(super) struct Engine {
    collectives: Collectives<Udp>,
    notices: Option<Notices>,
    commands: Receiver<Command>,
    waker: Arc<Waker>,
    switch: HadamardSwitch,
    hadamard_from: Option<u32>,
    replies: VecDeque<Reply>,
    metrics: Metrics,
    ending: Option<Instant>,
}

impl Engine {
    pub fn new(
        collectives: Collectives<Udp>,
        notices: Option<Notices>,
        commands: Receiver<Command>,
        waker: Arc<Waker>,
        hadamard: HadamardMode,
    ) -> Self {
        Self {
            collectives,
            notices,
            commands,
            waker,
            switch: HadamardSwitch::new(hadamard, SWITCH_LEAD_OPS),
            hadamard_from: None,
            replies: VecDeque::new(),
            metrics: Metrics::default(),
            ending: None,
        }
    }

    /// Runs until it is told to end, or a collective fails for good; then every caller gets the error.
    pub fn run(mut self) {
        let Err(error) = self.serve() else { return };
        tracing::error!(%error, "the engine gives up");
        for reply in self.replies.drain(..) {
            let _ = reply.send(Err(error.clone()));
        }
        while let Ok(command) = self.commands.recv() {
            match command {
                Command::AllReduce { reply, .. } => drop(reply.send(Err(error.clone()))),
                Command::Metrics(reply) => drop(reply.send(self.metrics.clone())),
                Command::End => return,
            }
        }
    }

    fn serve(&mut self) -> Result<(), EngineError> {
        let mut busy_until = Instant::now();
        loop {
            let commanded = self.take_commands()?;
            self.take_notices();
            let finished = self.poll()?;
            if self.ending.is_some_and(|since| since.elapsed() > DRAIN || !self.collectives.plane().is_sending()) {
                return Ok(());
            }
            if commanded || finished || self.collectives.plane().was_busy() {
                busy_until = Instant::now() + SPIN;
            } else if !self.replies.is_empty() && Instant::now() < busy_until {
                std::hint::spin_loop();
            } else {
                let fd = self.waker.0.as_fd();
                self.collectives.plane().wait(fd, NAP).map_err(|error| collective(CollectivesError::Plane(error)))?;
                self.waker.clear();
            }
        }
    }

    fn take_commands(&mut self) -> Result<bool, EngineError> {
        let mut any = false;
        loop {
            let command = match self.commands.try_recv() {
                Ok(command) => command,
                Err(TryRecvError::Empty) => return Ok(any),
                Err(TryRecvError::Disconnected) => Command::End,
            };
            any = true;
            match command {
                Command::AllReduce { bucket, data, reply } => {
                    self.replies.push_back(reply);
                    let now_ns = self.collectives.plane().now_ns();
                    let wanted = self.switch.is_on(self.collectives.next_op());
                    let hadamard = self.collectives.foreseen_hadamard().unwrap_or(wanted);
                    let op = self.collectives.prepare(now_ns, bucket, data.len(), hadamard).map_err(collective)?;
                    self.collectives.start(now_ns, op, data).map_err(collective)?;
                }
                Command::Metrics(reply) => {
                    let plane = self.collectives.plane();
                    let ranks = 0..self.collectives.params().ranks;
                    self.metrics.counters = *plane.counters();
                    self.metrics.collectives = self.collectives.metrics().clone();
                    self.metrics.hadamard_from = self.hadamard_from;
                    self.metrics.rtt_us = ranks.map(|peer| plane.rtt_ns(peer).map(|ns| ns as f64 / 1000.0)).collect();
                    let _ = reply.send(self.metrics.clone());
                }
                Command::End => {
                    self.ending.get_or_insert_with(Instant::now);
                    return Ok(any);
                }
            }
        }
    }

    /// The only notice so far: the first collective to be encoded.
    fn take_notices(&mut self) {
        let Some(notices) = &self.notices else { return };
        while let Some((from, notice)) = notices.try_receive() {
            match notice {
                Notice::Message(bytes) => match <[u8; 4]>::try_from(bytes.as_slice()) {
                    Ok(op) => {
                        self.switch.switch_from(u32::from_le_bytes(op));
                        self.hadamard_from = self.switch.on_from();
                    }
                    Err(_) => tracing::warn!(from, bytes = bytes.len(), "a notice that says nothing"),
                },
                Notice::Gone => tracing::info!(from, "the connection to a rank has ended"),
            }
        }
    }

    /// Hands over what is finished.
    fn poll(&mut self) -> Result<bool, EngineError> {
        let mut any = false;
        loop {
            let now_ns = self.collectives.plane().now_ns();
            let Some(finished) = self.collectives.poll(now_ns).map_err(collective)? else { return Ok(any) };
            any = true;
            let report = &finished.report;
            let loss = report.network_loss();
            tracing::debug!(op = report.op, bucket = report.bucket, loss, action = ?report.action, "finished");
            if let (Some(op), Some(notices)) = (self.switch.observe_loss(report.op, loss), &self.notices) {
                tracing::info!(op, loss, "collectives are Hadamard-encoded from this one on");
                notices.send_all(&op.to_le_bytes());
                self.switch.switch_from(op);
                self.hadamard_from = self.switch.on_from();
            }
            if let Some(reply) = self.replies.pop_front() {
                let _ = reply.send(Ok(finished));
            }
        }
    }
}

fn collective(error: CollectivesError<UdpError>) -> EngineError {
    EngineError::Collective(Arc::new(error))
}
