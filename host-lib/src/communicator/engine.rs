//! The engine: collectives of a rank over its data plane, in [turns](Engine::turn) that never
//! block. [`Driver`](super::driver::Driver) chooses the thread.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::Metrics;
use super::abandoned::{Abandoned, Update};
use super::command::{Collective, Command, Given, Settle};
use super::counts::CallCounts;
use super::error::{Cause, Error};
use super::fallback::{Fallback, Owed};
use super::report::{BoundStatus, Report};
use super::request::{Outcome, Sender};
use super::settle::{Settled, Unsettled, add, add_bytes, together};
use crate::control::{PeerEvent, PeerMessages};
use crate::plane::{Plane, PlaneError};
use crate::rarely::Rarely;
use crate::wait::{Sources, Wait};
use optireduce_contract::limits::BEAT_BYTES;
use optireduce_core::protocol::membership::Settings;
use optireduce_core::protocol::repair::RepairReport;
use optireduce_core::protocol::{Kind, Ranks, StreamId, UpdateAction};
use optireduce_core::{Collectives, CollectivesError, Destination, Finished, MembershipEvent, Values};

/// Poll interval when idle.
const NAP: Duration = Duration::from_millis(500);
/// Time for packets to leave after the last collective.
const DRAIN: Duration = Duration::from_millis(200);
/// Low bits of an incarnation, which count the attempts of one process. The high bits are its
/// session.
const JOIN_BITS: u32 = 32;

static DROPPED: Rarely = Rarely::new("dropped a message of a peer", "run the same release on all ranks");

#[derive(Debug)]
pub(super) enum Turn {
    /// There may be more to do.
    Worked,
    /// `running`: collectives are running.
    Idle { wait: Wait, running: bool },
    /// The engine was ended, and has nothing left to send.
    Ended,
}

pub(super) struct Engine {
    collectives: Collectives<Plane>,
    links: Links,
    commands: Receiver<Command>,
    hadamard_from: Option<u32>,
    /// Collectives that may not begin yet; `waiting_since`: of the first.
    waiting: VecDeque<(Collective, Given, Sender<Outcome>)>,
    waiting_since: Option<Instant>,
    /// Buckets to release once none of their calls is in `waiting`.
    releasing: Vec<(u16, Option<Box<dyn Send>>)>,
    /// Prepared collectives that wait for cards.
    starting: VecDeque<(u32, Values)>,
    starting_since: Option<Instant>,
    /// Running collectives.
    replies: VecDeque<(Sender<Outcome>, Collective)>,
    settling: Vec<Settle>,
    counts: CallCounts,
    closing: Option<Sender<(CallCounts, Unsettled)>>,
    rejoining: Option<(Sender<u32>, Instant)>,
    /// Attempts to rejoin.
    joins: u64,
    /// Admitted rejoin: its first collective, and the start of the wait for peers.
    awaiting: Option<(Sender<u32>, u32, Instant)>,
    /// Joining ranks, with incarnation and first collective.
    joined: Vec<(usize, u64, u32)>,
    /// Restarted ranks that have not taken part in a collective yet, with their sessions.
    back: Vec<(usize, u64)>,
    live: Ranks,
    fallback: Option<Fallback>,
    /// First unfinished collective when this rank's card failed.
    failed_op: Option<u32>,
    /// See [`Command::Follow`].
    follows_until: Option<Instant>,
    owed: Owed,
    /// Of buckets that were dropped with corrections in `owed`.
    forgotten: Unsettled,
    abandoned: Arc<Abandoned>,
    metrics: Metrics,
    /// t_B of the last finished collective.
    bound_ns: u64,
    ending: Option<Instant>,
    /// See [`Command::Fail`].
    fails: Option<Error>,
    /// Error after which the engine refuses all commands.
    failed: Arc<OnceLock<Error>>,
}

pub(super) struct Links {
    pub peer_messages: Option<PeerMessages>,
    /// Restarted ranks, for calls over TCP.
    pub returned: Arc<Mutex<Vec<usize>>>,
    /// This process was restarted and has not taken part in a collective yet.
    pub outside: Arc<AtomicBool>,
    pub gone: Ranks,
    /// Number of this process, see `Member::session`.
    pub session: u64,
    /// Longest wait of a collective for an agreement.
    pub agreeing: Duration,
    pub bound_ns: Arc<AtomicU64>,
    /// Ranks with a card.
    pub cards: Vec<usize>,
    /// All collectives use UDP because a card has failed.
    pub fallen_back: Arc<AtomicBool>,
}

impl Links {
    fn returned(&self) -> MutexGuard<'_, Vec<usize>> {
        self.returned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    pub fn new(collectives: Collectives<Plane>, links: Links, commands: Receiver<Command>) -> Self {
        Self {
            live: collectives.newest().ranks.clone(),
            bound_ns: collectives.params().bound_ns,
            collectives,
            links,
            commands,
            hadamard_from: None,
            waiting: VecDeque::new(),
            waiting_since: None,
            releasing: Vec::new(),
            rejoining: None,
            joins: 0,
            starting: VecDeque::new(),
            starting_since: None,
            replies: VecDeque::new(),
            settling: Vec::new(),
            counts: CallCounts::default(),
            awaiting: None,
            joined: Vec::new(),
            back: Vec::new(),
            closing: None,
            fallback: None,
            failed_op: None,
            follows_until: None,
            owed: Owed::default(),
            forgotten: Unsettled::new(),
            abandoned: Arc::default(),
            metrics: Metrics::default(),
            ending: None,
            fails: None,
            failed: Arc::default(),
        }
    }

    /// Does all pending work without blocking.
    pub fn turn(&mut self) -> Turn {
        let worked = match self.failed.get() {
            None => self.work(),
            Some(_) => self.refuse(),
        };
        match worked {
            Ok(_) if self.is_over() => Turn::Ended,
            Ok(true) => Turn::Worked,
            Ok(false) => Turn::Idle { wait: self.wait(), running: !self.replies.is_empty() },
            Err(error) => {
                self.fail(error);
                Turn::Worked
            }
        }
    }

    /// Returns whether the next turn is not urgent.
    pub fn is_at_rest(&self) -> bool {
        self.replies.is_empty() && self.waiting.is_empty() && !self.collectives.plane().is_sending()
    }

    pub fn fail(&mut self, error: Error) {
        tracing::error!(%error, "the engine has failed");
        self.give_up(&error);
        let _ = self.failed.set(error);
    }

    pub fn failure(&self) -> Arc<OnceLock<Error>> {
        self.failed.clone()
    }

    pub fn sources(&self) -> io::Result<Sources> {
        self.collectives.plane().sources()
    }

    /// Prepares the data plane for a wait, which is empty if data has arrived meanwhile.
    pub fn doze(&self, wait: Wait) -> Wait {
        if self.collectives.plane().doze() { wait } else { wait.at_most(Duration::ZERO) }
    }

    fn work(&mut self) -> Result<bool, Error> {
        let oldest_op = self.collectives.next_call().saturating_sub(self.replies.len() as u32);
        let commanded = self.take_commands();
        if let Some(error) = self.fails.take() {
            return Err(error);
        }
        self.take_peer_messages();
        self.send_messages();
        let started = self.start()?;
        let begun = self.begin()? || started;
        self.release()?;
        // Late from the failure of the card until the others have agreed on the fallback.
        let asks = self.failed_op.is_some() && !self.links.fallen_back.load(Ordering::Acquire);
        self.collectives.set_late(asks || self.collectives.plane().is_late());
        if !self.collectives.plane().is_card() {
            let preposted = self.collectives.is_preposted() && self.replies.is_empty();
            let (now_ns, is_awaited) = (self.collectives.plane().now_ns(), self.collectives.plane().is_awaited());
            self.collectives.set_behind(now_ns, preposted || is_awaited);
        }
        let finished = self.poll()?;
        self.notice_failure(oldest_op);
        self.send_messages();
        self.settle();
        self.close();
        Ok(commanded || begun || finished || self.collectives.plane().was_busy())
    }

    fn is_over(&self) -> bool {
        let is_sending = || self.failed.get().is_none() && self.collectives.plane().is_sending();
        self.ending.is_some_and(|since| since.elapsed() > DRAIN || !is_sending())
    }

    fn wait(&self) -> Wait {
        if self.failed.get().is_some() {
            return Wait::deaf(NAP);
        }
        let plane = self.collectives.plane();
        let waited = self.starting_since.map_or(Duration::ZERO, |since| since.elapsed());
        let start_in = (!self.starting.is_empty()).then(|| self.patience().saturating_sub(waited));
        let timer_ns = self.collectives.next_timeout().map(|at_ns| at_ns.saturating_sub(plane.now_ns()));
        let follows = self.follows_until.filter(|_| !self.waiting.is_empty());
        let until = self.settling.iter().filter_map(|settle| settle.until).chain(follows).min();
        let settle_in = until.map_or(NAP, |until| until.saturating_duration_since(Instant::now()));
        plane.wait(
            timer_ns.map_or(NAP, |ns| NAP.min(Duration::from_nanos(ns))).min(settle_in).min(start_in.unwrap_or(NAP)),
        )
    }

    fn give_up(&mut self, error: &Error) {
        self.starting.clear();
        let waiting = self.waiting.drain(..).map(|(_, _, reply)| reply);
        for reply in self.replies.drain(..).map(|(reply, _)| reply).chain(waiting) {
            let _ = reply.send(Err(error.clone()));
        }
        let joining = self.awaiting.take().map(|(reply, ..)| reply);
        for reply in self.rejoining.take().map(|(reply, _)| reply).into_iter().chain(joining) {
            let _ = reply.send(Err(error.clone()));
        }
        for settle in self.settling.drain(..) {
            let _ = settle.reply.send(Err(error.clone()));
        }
        if let Some(reply) = self.closing.take() {
            let _ = reply.send(Err(error.clone()));
        }
    }

    fn refuse(&mut self) -> Result<bool, Error> {
        let commanded = self.take_commands();
        if let Some(error) = self.failed.get().cloned() {
            self.give_up(&error);
        }
        Ok(commanded)
    }

    fn take_commands(&mut self) -> bool {
        let mut any = false;
        loop {
            let command = match self.commands.try_recv() {
                Ok(command) => command,
                Err(TryRecvError::Empty) => return any,
                Err(TryRecvError::Disconnected) => Command::End,
            };
            any = true;
            match command {
                Command::Collective { call, given, correction, reply } => {
                    if let Some((stream, correction)) = call.call.stream_id().zip(correction) {
                        self.owed.add(stream, correction);
                    }
                    self.waiting.push_back((call, given, reply));
                }
                Command::FallBackTo(beside) => self.fallback = Some(Fallback::new(beside)),
                Command::Follow(at_most) => self.follows_until = Instant::now().checked_add(at_most),
                Command::Settle(settle) => self.settling.push(settle),
                Command::Release { bucket, with } => self.releasing.push((bucket, with)),
                Command::Close(reply) => self.closing = Some(reply),
                Command::Fail(error) => self.fails = Some(error),
                Command::Rejoin(reply) => self.rejoin(reply),
                Command::Metrics(reply) => {
                    let plane = self.collectives.plane();
                    let ranks = 0..self.collectives.params().ranks;
                    self.metrics.counters = plane.counters();
                    self.metrics.unsent = plane.unsent();
                    self.metrics.shared = plane.shared();
                    self.metrics.seal_drops = plane.seal_drops();
                    self.metrics.collectives = self.collectives.metrics().clone();
                    self.metrics.hadamard_from = self.hadamard_from;
                    self.metrics.cards = self.links.cards.clone();
                    self.metrics.payload_bytes = self.collectives.params().payload_beats * BEAT_BYTES;
                    self.metrics.bound_ns = self.collectives.params().bound_ns;
                    self.metrics.repair = self.repaired();
                    self.metrics.live = self.collectives.newest().live().collect();
                    self.metrics.rate_bytes_per_us =
                        ranks.clone().filter_map(|peer| self.collectives.rate_bytes_per_us(peer)).collect();
                    self.metrics.rtt_us = ranks.map(|peer| plane.rtt_ns(peer).map(|ns| ns as f64 / 1000.0)).collect();
                    let _ = reply.send(Ok(self.metrics.clone()));
                }
                Command::End => {
                    self.ending.get_or_insert_with(Instant::now);
                    return any;
                }
            }
        }
    }

    fn begin(&mut self) -> Result<bool, Error> {
        let mut any = false;
        while !self.waiting.is_empty() {
            if self.pass_on() {
                any = true;
                continue;
            }
            if self.follows() {
                return Ok(any);
            }
            let now_ns = self.collectives.plane().now_ns();
            if !self.collectives.may_prepare(now_ns) {
                if !self.collectives.is_member() {
                    if let Some((_, _, reply)) = self.waiting.pop_front() {
                        let _ = reply.send(Err(Cause::Dropped.into()));
                    }
                    continue;
                }
                if self.collectives.waits_for_behind(now_ns) {
                    self.waiting_since = None;
                    return Ok(any);
                }
                let (newest, gone) = (self.collectives.newest(), &self.links.gone);
                let mut connected = newest.ranks.clone();
                connected.remove_all(gone);
                // Processes that replace the ended ones cannot join without a quorum either.
                if !newest.is_quorum(&connected) {
                    return Err(Cause::NoQuorum { gone: gone.iter().collect() }.into());
                }
                let waited = self.waiting_since.get_or_insert_with(Instant::now).elapsed();
                if waited > self.links.agreeing {
                    return Err(Cause::NoAgreement { waited }.into());
                }
                return Ok(any);
            }
            self.waiting_since = None;
            // A new view may have arrived just now.
            self.take_membership_events();
            any = true;
            if self.pass_on() {
                continue;
            }
            let Some((wanted, given, reply)) = self.waiting.pop_front() else { return Ok(any) };
            let expected = wanted.given_elements(self.collectives.params());
            let Given { values, destination, misfit } = given;
            let place = match &destination {
                Destination::Here(place) => (place.len(), wanted.call.elements),
                _ => (values.len(), expected),
            };
            let found = [(values.len(), expected), place].into_iter().find(|(found, expected)| found != expected);
            let misfit = misfit.or(found);
            if let Some((found, expected)) = misfit {
                tracing::error!(call = %wanted.call, found, expected, "a call with a wrong number of elements");
                self.collectives.misfit(now_ns, wanted.call, found, expected);
                self.replies.push_back((reply, wanted));
                return Ok(any);
            }
            match self.collectives.prepare_call_to(now_ns, wanted.call, destination) {
                Ok(op) => {
                    self.counts.count(op, wanted.call.kind);
                    self.replies.push_back((reply, wanted));
                    self.links.bound_ns.store(self.collectives.params().bound_ns, Ordering::Relaxed);
                    self.starting.push_back((op, values));
                    self.start()?;
                }
                Err(error) => {
                    self.replies.push_back((reply, wanted));
                    return Err(collective(error));
                }
            }
        }
        Ok(any)
    }

    /// Passes the first waiting call to the job over UDP if it belongs there.
    fn pass_on(&mut self) -> bool {
        let Some(fallback) = &self.fallback else { return false };
        let next_call = self.collectives.next_call();
        let Some((call, given, reply)) = self.waiting.pop_front_if(|(call, ..)| fallback.takes(call, next_call)) else {
            return false;
        };
        let correction = call.call.stream_id().and_then(|stream| self.collectives.take_correction(stream));
        fallback.pass(call, given, correction, reply);
        self.waiting_since = None;
        true
    }

    /// `oldest_op`: first unfinished collective.
    fn notice_failure(&mut self, oldest_op: u32) {
        let Some(error) = self.collectives.plane_mut().take_failure() else { return };
        tracing::error!(%error, "the card of this rank has failed; the job continues over UDP");
        self.metrics.card_failure = Some(error.to_string());
        self.failed_op = Some(oldest_op);
        let now_ns = self.collectives.plane().now_ns();
        self.collectives.fall_back(now_ns);
    }

    fn follows(&mut self) -> bool {
        let Some(until) = self.follows_until else { return false };
        let have_come = self.collectives.plane().is_awaited() || self.collectives.is_preposted();
        if have_come || Instant::now() >= until {
            self.follows_until = None;
        }
        self.follows_until.is_some()
    }

    fn has_fallen_back(&self) -> bool {
        self.fallback.as_ref().is_some_and(|fallback| fallback.has(self.collectives.next_call()))
    }

    /// Starts prepared collectives in order. In a job with cards, each waits for earlier ones to
    /// free the slots, and for all cards to be ready, at most [`patience`](Self::patience).
    fn start(&mut self) -> Result<bool, Error> {
        let mut any = false;
        while let Some((op, given)) = self.starting.pop_front() {
            let is_oldest = self.replies.len() == self.starting.len() + 1;
            if !self.links.cards.is_empty() && !is_oldest {
                self.starting.push_front((op, given));
                break;
            }
            if let Some(rank) = self.collectives.not_armed(op) {
                if self.starting_since.get_or_insert_with(Instant::now).elapsed() < self.patience() {
                    self.starting.push_front((op, given));
                    break;
                }
                tracing::debug!(op, rank, "a collective starts before a card is ready");
            }
            self.starting_since = None;
            let now_ns = self.collectives.plane().now_ns();
            self.collectives.start(now_ns, op, given).map_err(collective)?;
            any = true;
        }
        Ok(any)
    }

    fn patience(&self) -> Duration {
        Duration::from_nanos(self.collectives.params().bound_ns)
    }

    fn release(&mut self) -> Result<(), Error> {
        let Self { collectives, waiting, releasing, replies, owed, forgotten, .. } = self;
        let is_called = |bucket: u16| waiting.iter().any(|(wanted, ..)| wanted.call.bucket == bucket);
        for (bucket, _with) in releasing.extract_if(.., |(bucket, _)| !is_called(*bucket)) {
            collectives.release_bucket(bucket).map_err(collective)?;
            // Running collectives may still apply the correction.
            if !replies.iter().any(|(_, call)| call.call.bucket == bucket) {
                add_bytes(forgotten, [(bucket, owed.forget(bucket))]);
            }
        }
        Ok(())
    }

    fn rejoin(&mut self, reply: Sender<u32>) {
        if self.collectives.is_member() {
            let _ = reply.send(Ok(self.collectives.next_op()));
            return;
        }
        // The incarnation must exceed earlier ones, also of earlier processes.
        self.joins += 1;
        let now_ns = self.collectives.plane().now_ns();
        match self.collectives.join(now_ns, self.links.session << JOIN_BITS | self.joins) {
            Ok(()) => self.rejoining = Some((reply, Instant::now())),
            Err(error) => drop(reply.send(Err(collective(error)))),
        }
    }

    fn take_peer_messages(&mut self) {
        let Some(peer_messages) = &self.links.peer_messages else { return };
        while let Some((from, event)) = peer_messages.try_receive() {
            let now_ns = self.collectives.plane().now_ns();
            match event {
                PeerEvent::Message(bytes) => {
                    if let Err(error) = self.collectives.handle_message(now_ns, from, &bytes) {
                        DROPPED.warn(error);
                    }
                }
                // For the channel of calls only.
                PeerEvent::Closed => {}
                PeerEvent::Gone(_) => {
                    tracing::info!(from, "the connection to a rank has ended");
                    self.links.gone.insert(from);
                    self.collectives.handle_gone(from);
                    self.back.retain(|(rank, _)| *rank != from);
                    self.links.returned().retain(|rank| *rank != from);
                }
                PeerEvent::Back(member) => {
                    self.links.gone.remove(from);
                    self.collectives.handle_back(from);
                    self.collectives.plane_mut().replace(from, member.udp, member.session);
                    self.back.push((from, member.session));
                }
            }
        }
    }

    fn send_messages(&mut self) {
        while let Some((to, message)) = self.collectives.poll_message() {
            if let Some(peer_messages) = &self.links.peer_messages {
                peer_messages.send(to, &message);
            }
        }
        // A rank without peers would wait in vain.
        let is_alone = self.links.gone.len() + 1 >= self.collectives.params().ranks;
        let agreeing = if is_alone { Duration::ZERO } else { self.links.agreeing };
        // The others may be many collectives behind; packets sent before they arrive would be late.
        let has_come = |plane: &Plane, since: Instant| plane.is_awaited() || since.elapsed() > agreeing;
        let plane = self.collectives.plane();
        if let Some((reply, first_op, _)) = self.awaiting.take_if(|(.., since)| has_come(plane, *since)) {
            let _ = reply.send(Ok(first_op));
        }
        if let Some((reply, since)) = self.rejoining.take_if(|(_, since)| since.elapsed() > agreeing) {
            let _ = reply.send(Err(Cause::NoAgreement { waited: since.elapsed() }.into()));
        }
        self.take_membership_events();
    }

    fn take_membership_events(&mut self) {
        while let Some(event) = self.collectives.poll_membership_event() {
            match event {
                MembershipEvent::Silent { rank } => {
                    tracing::warn!(rank, "received nothing from a rank");
                    self.metrics.silent.push(rank);
                }
                MembershipEvent::View(view) => {
                    let ranks: Vec<usize> = view.live().collect();
                    if view.settings.fallback
                        && let Some(fallback) = &mut self.fallback
                        && !self.links.fallen_back.swap(true, Ordering::Release)
                    {
                        let first_op = view.first_op;
                        tracing::warn!(first_op, "a card has failed: all ranks continue over UDP");
                        // The others wait two bounds for this rank in each collective that it has
                        // abandoned, and may have started a bound later.
                        let given_up = self.failed_op.map_or(0, |failed_op| first_op.saturating_sub(failed_op));
                        let bounds = if given_up > 0 { given_up.saturating_mul(2).saturating_add(1) } else { 0 };
                        let bound_ns = self.collectives.params().bound_ns;
                        fallback.begin(first_op, Duration::from_nanos(bound_ns.saturating_mul(bounds.into())));
                        self.metrics.fallback_from = Some(first_op);
                    }
                    if view.ranks == self.live {
                        let Settings { hadamard, bound_ns, .. } = view.settings;
                        let (view, first_op) = (view.number, view.first_op);
                        tracing::info!(view, first_op, hadamard, bound_ns, "a view of the same ranks");
                    } else {
                        tracing::warn!(view = view.number, ?ranks, first_op = view.first_op, "new view");
                    }
                    if let Some((rank, incarnation)) = view.joined {
                        self.counts.restart(view.first_op);
                        self.joined.push((rank.into(), incarnation, view.first_op));
                    }
                    self.live = view.ranks;
                    let joined = view.joined.map(|(rank, _)| usize::from(rank));
                    let from = self.hadamard_from.unwrap_or(view.first_op);
                    self.hadamard_from = view.settings.hadamard.then_some(from);
                    if joined == Some(self.collectives.params().rank)
                        && let Some((reply, _)) = self.rejoining.take()
                    {
                        self.awaiting = Some((reply, view.first_op, Instant::now()));
                    }
                }
                MembershipEvent::Dropped => tracing::warn!("the other ranks have dropped this rank"),
            }
        }
    }

    fn is_settled(&self, stream: StreamId) -> bool {
        let waiting = self.waiting.iter().map(|(call, ..)| call);
        let mut calls = waiting.chain(self.replies.iter().map(|(_, call)| call));
        self.collectives.is_repaired(stream) && !calls.any(|call| call.is_of(stream))
    }

    fn settle(&mut self) {
        for mut settle in std::mem::take(&mut self.settling) {
            let Settle { stream, sum, until, .. } = settle;
            let is_settled = self.is_settled(stream);
            if !self.collectives.is_member() && !self.has_fallen_back() {
                let _ = settle.reply.send(Err(Cause::Dropped.into()));
            } else if is_settled || until.is_some_and(|until| Instant::now() >= until) {
                let mut correction = together(self.collectives.take_correction(stream), self.owed.take(stream));
                self.collectives.forget_rounding(stream);
                if let (Some(correction), true) = (&mut correction, sum) {
                    let ranks = self.collectives.newest().live().count() as f32;
                    correction.iter_mut().for_each(|value| *value *= ranks);
                }
                let repairs = self.collectives.repaired_of(stream.bucket).unwrap_or_default();
                let repairs = self.abandoned.add_of(stream, repairs);
                let (range, missing) = (0..stream.elements, self.collectives.outstanding_elements(stream));
                let found = Settled { correction, range, missing, is_settled, repairs };
                let found = settle.before.take().into_iter().fold(found, Settled::after);
                match &self.fallback {
                    Some(fallback) if self.has_fallen_back() && settle.beside.is_some() => {
                        fallback.settle(settle, found)
                    }
                    _ => drop(settle.reply.send(Ok(found))),
                }
            } else {
                self.settling.push(settle);
            }
        }
    }

    fn close(&mut self) {
        if self.waiting.is_empty()
            && self.replies.is_empty()
            && let Some(reply) = self.closing.take()
        {
            let is_member = self.collectives.is_member();
            let unsettled = self.unsettled();
            self.collectives.wait_for_others();
            let _ = reply.send(if is_member { Ok((self.counts, unsettled)) } else { Err(Cause::Dropped.into()) });
        }
    }

    fn unsettled(&self) -> Unsettled {
        let by_wire = self.collectives.unsettled_bytes().into_iter().chain(self.owed.bytes());
        let mut unsettled = self.forgotten.clone();
        add_bytes(&mut unsettled, by_wire.filter_map(|(bucket, bytes)| Some((Kind::of_wire(bucket)?.1, bytes))));
        unsettled
    }

    fn poll(&mut self) -> Result<bool, Error> {
        let mut any = false;
        loop {
            let now_ns = self.collectives.plane().now_ns();
            let Some(finished) = self.collectives.poll(now_ns).map_err(collective)? else { return Ok(any) };
            any = true;
            let report = &finished.report;
            let loss = report.network_loss();
            tracing::debug!(op = report.op, bucket = report.bucket, loss, action = ?report.action, "collective finished");
            if let Some((reply, call)) = self.replies.pop_front() {
                let _ = reply.send(Ok(self.outcome(finished, &call)));
            }
        }
    }

    fn outcome(&mut self, finished: Finished, call: &Collective) -> Outcome {
        // A skipped update has the caller's values in `result`.
        let Finished { report, mut result, partial, copied_bytes, .. } = finished;
        if report.action == UpdateAction::Apply
            && let Some(stream) = call.call.stream_id()
            && let Some(owed) = self.owed.take(stream)
        {
            add(&mut result, &owed);
        }
        let scale = call.sum.then_some(report.live.len() as f32);
        if call.here
            && let Some(place) = partial
        {
            result = place;
        }
        let repair = self.repaired();
        let update = (report.kind == Kind::AllReduce && report.action == UpdateAction::Apply)
            .then(|| Update::new(self.abandoned.clone(), call.call.stream_id(), result.len()));
        let bound = BoundStatus {
            is_measured: self.collectives.is_measuring(report.bound_ns),
            changed: report.bound_ns != std::mem::replace(&mut self.bound_ns, report.bound_ns),
        };
        let joined = self.joined.iter().find(|(.., first_op)| *first_op == report.op).copied();
        self.joined.retain(|(.., first_op)| *first_op > report.op);
        self.links.outside.store(false, Ordering::Release);
        // Before the caller can make its next call.
        if let Some((joined, incarnation, _)) = joined {
            // A newer process may have followed the one that joined; it has not joined yet.
            let back =
                self.back.extract_if(.., |(rank, session)| *rank == joined && *session <= incarnation >> JOIN_BITS);
            self.links.returned().extend(back.map(|(rank, _)| rank));
        }
        let joined = joined.map(|(rank, ..)| rank);
        // In a job with cards, one collective runs at a time.
        let copied_bytes = copied_bytes as u64 + self.collectives.plane_mut().take_copied_bytes();
        Outcome { report: Report::new(report, repair, bound, joined, copied_bytes), result, scale, update }
    }

    fn repaired(&self) -> RepairReport {
        self.abandoned.add_to(self.collectives.repaired().unwrap_or_default())
    }
}

fn collective(error: CollectivesError<PlaneError>) -> Error {
    error.into()
}
