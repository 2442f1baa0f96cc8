//! Thread of a rank's groups.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use optireduce_core::protocol::Message;
use optireduce_core::protocol::partial_reduce::{PartialMessage, Worker, WorkerOutput};
use optireduce_core::{CollectivesError, GroupAverages};

use super::super::driver::Waker;
use super::super::error::{Cause, Error};
use super::super::report::Report;
use super::super::request::Sender;
use crate::control::{ControlChannel, ControlError, PeerEvent, PeerMessages};
use crate::plane::{Plane, PlaneError};
use crate::rarely::Rarely;
use crate::wait::Sources;

const NAP: Duration = Duration::from_millis(500);
/// A longer time between two turns shows that this process was stopped.
const STANDSTILL: Duration = Duration::from_secs(2);
const LAST_NAP: Duration = Duration::from_millis(10);
/// Time for packets to leave at the end.
const DRAIN: Duration = Duration::from_millis(200);

static DROPPED: Rarely = Rarely::new("dropped a message of a worker", "run the same release on all ranks");

#[derive(Debug)]
pub(super) enum Command {
    Average { model: Vec<f32>, iteration: u64, reply: Sender<(Vec<f32>, Report)> },
    Close { reply: Sender<()>, timeout: Duration },
    End,
}

struct Waiting {
    /// `None` once its group has started.
    model: Option<Vec<f32>>,
    reply: Sender<(Vec<f32>, Report)>,
    since: Instant,
    /// Part of the wait in which this process was stopped, and which does not count against others.
    stood_still: Duration,
    grouped: Option<Instant>,
}

pub(super) struct GroupEngine {
    averages: GroupAverages<Plane>,
    worker: Worker,
    _control: ControlChannel,
    peers: PeerMessages,
    commands: Receiver<Command>,
    waker: Arc<Waker>,
    sources: Sources,
    /// Job rank of each worker.
    ranks: Vec<usize>,
    elements: usize,
    limit: Duration,
    waiting: Option<Waiting>,
    turned: Instant,
    iteration: u64,
    closing: Option<(Sender<()>, Instant, Duration)>,
    ending: Option<Instant>,
    failed: Option<Error>,
}

impl GroupEngine {
    pub fn new(
        averages: GroupAverages<Plane>,
        worker: Worker,
        mut control: ControlChannel,
        commands: Receiver<Command>,
        waker: Arc<Waker>,
        ranks: Vec<usize>,
        (elements, limit): (usize, Duration),
    ) -> io::Result<Self> {
        let sources = averages.plane().sources()?;
        let peers = control.take_peer_messages().ok_or_else(|| io::Error::other("peer messages are taken already"))?;
        Ok(Self {
            averages,
            worker,
            _control: control,
            peers,
            commands,
            waker,
            sources,
            ranks,
            elements,
            limit,
            waiting: None,
            turned: Instant::now(),
            iteration: 0,
            closing: None,
            ending: None,
            failed: None,
        })
    }

    pub fn serve(mut self) {
        loop {
            self.waker.clear();
            let turned = self.turn();
            if let Err(error) = turned {
                self.fail(error);
            }
            let is_sending = self.failed.is_none() && self.averages.plane().is_sending();
            if self.ending.is_some_and(|since| !is_sending || since.elapsed() > DRAIN) {
                return;
            }
            if self.failed.is_some() {
                // Not a wait, which unread packets would end immediately.
                std::thread::sleep(LAST_NAP);
                continue;
            }
            if self.averages.plane().was_busy() {
                continue;
            }
            if let Err(error) = self.rest() {
                self.fail(CollectivesError::Plane(error).into());
            }
        }
    }

    fn turn(&mut self) -> Result<(), Error> {
        let since_last = std::mem::replace(&mut self.turned, Instant::now()).elapsed();
        if let Some(waiting) = self.waiting.as_mut().filter(|_| since_last > STANDSTILL) {
            waiting.stood_still += since_last;
        }
        while self.take_command()?.is_continue() {}
        if self.failed.is_some() {
            return Ok(());
        }
        while let Some((from, event)) = self.peers.try_receive() {
            self.take_event(from, event);
        }
        self.worker.handle_timeout(self.averages.plane().now_ns());
        self.take_outputs()?;
        let now_ns = self.averages.plane().now_ns();
        while let Some(averaged) = self.averages.poll(now_ns)? {
            self.iteration = averaged.plan.iteration;
            if let Some(Waiting { reply, since, grouped, .. }) = self.waiting.take() {
                let grouped = grouped.unwrap_or(since);
                let (waited, took) = (grouped.duration_since(since), grouped.elapsed());
                let _ = reply.send(Ok(Report::of_group(averaged, &self.ranks, waited, took)));
            }
        }
        while let Some((to, message)) = self.averages.poll_message() {
            self.peers.send(to, &Message::Partial(message).encode());
        }
        self.close();
        let waits = self.waiting.as_ref().filter(|waiting| waiting.grouped.is_none());
        match waits.map(|waiting| waiting.since.elapsed().saturating_sub(waiting.stood_still)) {
            Some(waited) if waited > self.limit => Err(Cause::NoAgreement { waited }.into()),
            _ => Ok(()),
        }
    }

    fn rest(&self) -> Result<(), PlaneError> {
        let plane = self.averages.plane();
        let timers = [self.worker.next_timeout(), self.averages.next_timeout()];
        let in_ns = timers.into_iter().flatten().min().map(|at_ns| at_ns.saturating_sub(plane.now_ns()));
        let at_most = in_ns.map_or(NAP, |ns| NAP.min(Duration::from_nanos(ns)));
        let wait = plane.wait(at_most);
        let wait = if plane.doze() { wait } else { wait.at_most(Duration::ZERO) };
        self.waker.wait(&wait, &self.sources).map_err(PlaneError::Wait)
    }

    fn take_command(&mut self) -> Result<ControlFlow<()>, Error> {
        let command = match self.commands.try_recv() {
            Ok(command) => command,
            Err(TryRecvError::Empty) => return Ok(ControlFlow::Break(())),
            Err(TryRecvError::Disconnected) => Command::End,
        };
        let now_ns = self.averages.plane().now_ns();
        match (command, self.failed.clone()) {
            (Command::End, _) => {
                self.ending.get_or_insert_with(Instant::now);
                return Ok(ControlFlow::Break(()));
            }
            (Command::Average { reply, .. }, Some(error)) => drop(reply.send(Err(error))),
            (Command::Close { reply, .. }, Some(error)) => drop(reply.send(Err(error))),
            (Command::Average { model, iteration, reply }, None) => match self.check(model.len(), iteration) {
                Err(error) => drop(reply.send(Err(error))),
                Ok(()) => {
                    let (model, since) = (Some(model), Instant::now());
                    let stood_still = Duration::ZERO;
                    self.waiting = Some(Waiting { model, reply, since, stood_still, grouped: None });
                    self.worker.ready(now_ns, iteration);
                }
            },
            (Command::Close { reply, timeout }, None) => {
                self.worker.leave(now_ns);
                self.closing = Some((reply, Instant::now(), timeout));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn check(&self, elements: usize, iteration: u64) -> Result<(), Error> {
        let argument = |name, found, expected| Err(Cause::Argument { name, found, expected }.into());
        if self.waiting.is_some() {
            return argument("the number of averages at a time", 2, "1: wait for the one in progress".into());
        }
        if elements != self.elements {
            return argument("the number of elements", elements, self.elements.to_string());
        }
        if iteration <= self.iteration {
            let expected = format!("more than {}, the iteration of the last group", self.iteration);
            return argument("the iteration", iteration as usize, expected);
        }
        Ok(())
    }

    fn take_event(&mut self, from: usize, event: PeerEvent) {
        let now_ns = self.averages.plane().now_ns();
        let bytes = match event {
            PeerEvent::Message(bytes) => bytes,
            PeerEvent::Gone(_) => {
                tracing::info!(rank = self.ranks[from], "the connection to a worker has ended");
                self.worker.handle_gone(now_ns, from);
                return self.averages.handle_gone(from);
            }
            // No process joins later.
            PeerEvent::Back(_) | PeerEvent::Closed => return,
        };
        match Message::decode(from, self.ranks.len(), &bytes) {
            Ok(Message::Membership(message)) => {
                if let Err(error) = self.worker.handle_membership(now_ns, from, message) {
                    DROPPED.warn(error);
                }
            }
            Ok(Message::Partial(message)) => match message {
                PartialMessage::Ready { .. }
                | PartialMessage::Alive { .. }
                | PartialMessage::Group { .. }
                | PartialMessage::Leave {} => self.worker.handle_message(now_ns, from, message),
                message => self.averages.handle_message(now_ns, from, message),
            },
            Ok(_) => DROPPED.warn(format_args!("one of rank {} that is not about groups", self.ranks[from])),
            Err(error) => DROPPED.warn(error),
        }
    }

    fn take_outputs(&mut self) -> Result<(), Error> {
        while let Some(output) = self.worker.poll() {
            match output {
                WorkerOutput::Send { to, message } => self.peers.send(to, &Message::Partial(message).encode()),
                WorkerOutput::SendMembership { to, message } => {
                    self.peers.send(to, &Message::Membership(message).encode());
                }
                WorkerOutput::Group(plan) => {
                    let now_ns = self.averages.plane().now_ns();
                    if let Some(waiting) = &mut self.waiting
                        && let Some(model) = waiting.model.take()
                    {
                        waiting.grouped = Some(Instant::now());
                        self.averages.begin(now_ns, plan, model)?;
                    }
                }
                WorkerOutput::Controller(worker) => {
                    tracing::info!(rank = self.ranks[worker], "a rank took over group formation");
                }
                WorkerOutput::Dropped => {
                    tracing::warn!("the other ranks have dropped this rank, which asks to rejoin");
                }
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        let Some((_, since, timeout)) = &self.closing else { return };
        let other = self.worker.others().next();
        let result = match other {
            None if !self.averages.is_awaited() => Ok(()),
            Some(worker) if since.elapsed() > *timeout => {
                Err(ControlError::Silent { rank: self.ranks[worker], waited: *timeout }.into())
            }
            None if since.elapsed() > *timeout => Ok(()),
            _ => return,
        };
        if let Some((reply, ..)) = self.closing.take() {
            let _ = reply.send(result);
        }
    }

    fn fail(&mut self, error: Error) {
        tracing::error!(%error, "partial reduce has failed");
        if let Some(waiting) = self.waiting.take() {
            let _ = waiting.reply.send(Err(error.clone()));
        }
        if let Some((reply, ..)) = self.closing.take() {
            let _ = reply.send(Err(error.clone()));
        }
        self.failed.get_or_insert(error);
    }
}
