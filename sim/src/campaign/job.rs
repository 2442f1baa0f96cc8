//! One job in virtual time: ranks, network and faults. Single-threaded and deterministic.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use optireduce_core::MessageError;
use optireduce_core::protocol::StreamId;

use super::coverage::Coverage;
use super::fault::{Fault, Transition, Trigger};
#[cfg(test)]
use super::frames::unframed_blindly;
use super::frames::{framed, unframed};
use super::judge::{Judge, JudgeKind};
use super::memory;
use super::plan::JobPlan;
use super::rank::{Arrived, EngineError, Plane, Rank, State};
use super::states::States;
use super::timeline::{Timeline, What};
use super::wire::Wire;
use crate::random::Random;

/// Time limit of repairs after the last call.
const SETTLE_NS: u64 = 5_000_000_000;
/// Time limit of joins after the last call.
const JOIN_NS: u64 = 50_000_000;
const JOB_NS: u64 = 120_000_000_000;
const SOCKET_BYTES: usize = 64 << 10;
/// Limit of wake-ups at one instant.
const SPINS_MAX: u32 = 10_000;

#[derive(Debug)]
pub(super) enum Event {
    Wake(usize),
    Datagram {
        from: Option<usize>,
        to: usize,
        datagram: Vec<u8>,
    },
    Damaged {
        to: usize,
        frame: Vec<u8>,
    },
    /// Carries incarnations, since a closed connection delivers nothing.
    Control {
        from: (usize, u64),
        to: (usize, u64),
        message: Vec<u8>,
    },
    Gone {
        rank: usize,
        incarnation: u64,
        to: usize,
    },
    Fault(usize),
    Thaw(usize),
    Restart(usize),
    FaultEnds,
}

pub(super) struct Scheduled {
    at_ns: u64,
    number: u64,
    event: Event,
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}
impl Eq for Scheduled {}
impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at_ns, self.number).cmp(&(other.at_ns, other.number))
    }
}

pub(super) struct Job<'a> {
    pub(super) plan: &'a JobPlan,
    pub(super) random: Random,
    pub(super) now_ns: u64,
    pub(super) events: BinaryHeap<Reverse<Scheduled>>,
    pub(super) scheduled: u64,
    pub(super) ranks: Vec<Rank>,
    pub(super) wire: Wire,
    pub(super) waiting: Vec<(usize, Fault)>,
    /// Occurrences of each transition at ranks that faults may affect.
    pub(super) happened: [u32; Transition::ALL.len()],
    pub(super) judge: Judge<'a>,
    pub(super) coverage: Coverage,
    pub(super) states: States,
    pub(super) timeline: Timeline,
    pub(super) spins: u32,
    /// Time at which the last working rank was done.
    pub(super) done_ns: Option<u64>,
    pub(super) out: Vec<u8>,
}

impl<'a> Job<'a> {
    pub fn new(plan: &'a JobPlan, states: States, records: bool) -> Result<Self, EngineError> {
        let mut random = Random::new(plan.seed, 5);
        let clocks: Vec<u64> = (0..plan.ranks).map(|_| random.below(1 << 40)).collect();
        let ranks = (0..plan.ranks).map(|rank| Rank::new(plan, rank, clocks[rank])).collect::<Result<_, _>>()?;
        let mut job = Self {
            plan,
            random,
            now_ns: 0,
            events: BinaryHeap::new(),
            scheduled: 0,
            ranks,
            wire: Wire::new(plan),
            waiting: plan.faults.clone(),
            happened: [0; Transition::ALL.len()],
            judge: Judge::new(plan),
            coverage: Coverage::default(),
            states,
            timeline: Timeline::new(records),
            spins: 0,
            done_ns: None,
            out: Vec::new(),
        };
        for rank in 0..plan.ranks {
            job.ranks[rank].next_call_ns = job.random.below(plan.pause_ns);
            job.wake(rank, 0);
        }
        for (at, (_, fault)) in plan.faults.iter().enumerate() {
            if let Trigger::At(at_ns) = fault.trigger {
                job.schedule(at_ns, Event::Fault(at));
            }
        }
        Ok(job)
    }

    pub fn run(&mut self) {
        let mut touched = Vec::new();
        while self.judge.violation.is_none() && !self.is_over() {
            let Some(Reverse(first)) = self.events.pop() else {
                if self.done_ns.is_some() {
                    break;
                }
                self.judge.object(
                    JudgeKind::Returns,
                    None,
                    self.now_ns,
                    "no event is left, but ranks still wait".into(),
                );
                break;
            };
            self.spins = if first.at_ns > self.now_ns { 0 } else { self.spins + 1 };
            self.now_ns = first.at_ns;
            if self.spins > SPINS_MAX || self.now_ns > JOB_NS {
                self.stuck();
                break;
            }
            touched.clear();
            self.handle(first.event, &mut touched);
            // Handles all events of an instant before the ranks act.
            while self.events.peek().is_some_and(|Reverse(next)| next.at_ns == self.now_ns) {
                if let Some(Reverse(next)) = self.events.pop() {
                    self.handle(next.event, &mut touched);
                }
            }
            touched.sort_unstable();
            touched.dedup();
            for rank in &touched {
                self.serve(*rank);
            }
        }
        self.finish();
    }

    fn stuck(&mut self) {
        let waits = |(rank, one): (usize, &Rank)| {
            let ops: Vec<u32> = one.outstanding.iter().map(|call| call.op).collect();
            format!("rank {rank} {:?} next call {} running {ops:?} waits {:?}", one.state, one.next_op, one.waiting_ns)
        };
        let all: Vec<_> = self.ranks.iter().enumerate().map(waits).collect();
        let what = if self.spins > SPINS_MAX { "a rank wakes endlessly" } else { "the job does not end" };
        self.judge.object(JudgeKind::Returns, None, self.now_ns, format!("{what}: {}", all.join("; ")));
    }

    pub(super) fn schedule(&mut self, at_ns: u64, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse(Scheduled { at_ns: at_ns.max(self.now_ns), number: self.scheduled, event }));
    }

    pub(super) fn wake(&mut self, rank: usize, at_ns: u64) {
        let at_ns = at_ns.max(self.now_ns);
        if self.ranks[rank].wake_ns.is_none_or(|wake_ns| at_ns < wake_ns) {
            self.ranks[rank].wake_ns = Some(at_ns);
            self.schedule(at_ns, Event::Wake(rank));
        }
    }

    fn handle(&mut self, event: Event, touched: &mut Vec<usize>) {
        match event {
            Event::Wake(rank) => {
                if self.ranks[rank].wake_ns == Some(self.now_ns) {
                    self.ranks[rank].wake_ns = None;
                    touched.push(rank);
                }
            }
            Event::Datagram { from, to, datagram } => {
                if self.wire.has_room(self.now_ns, to, datagram.len()) {
                    match &mut self.ranks[to].card {
                        Some(card) => card.arrive(self.now_ns, framed(from, to, &datagram)),
                        None => self.arrive(to, Arrived::Datagram(from, datagram)),
                    }
                    touched.push(to);
                }
            }
            Event::Damaged { to, frame } => {
                if let Some(card) = &mut self.ranks[to].card {
                    card.arrive(self.now_ns, frame);
                } else if let Some((from, datagram)) = self.taken_by_kernel(&frame) {
                    self.arrive(to, Arrived::Datagram(from, datagram));
                }
                touched.push(to);
            }
            Event::Control { from, to, message } => {
                let is_up = |(rank, incarnation): (usize, u64)| self.ranks[rank].incarnation == incarnation;
                if is_up(from) && is_up(to) && !self.wire.is_broken(from.0, to.0) {
                    self.arrive(to.0, Arrived::Control(from.0, message));
                    touched.push(to.0);
                }
            }
            Event::Gone { rank, incarnation, to } => {
                // Ignored if the ranks have connected again.
                let is_gone = self.ranks[rank].engine.is_none() || self.wire.is_broken(rank, to);
                if is_gone && self.ranks[rank].incarnation == incarnation {
                    self.arrive(to, Arrived::Gone(rank));
                    touched.push(to);
                }
            }
            Event::Fault(at) => {
                let (number, fault) = self.plan.faults[at].clone();
                if let Some(place) = self.waiting.iter().position(|(of, _)| *of == number) {
                    self.waiting.remove(place);
                    self.begin(number, &fault, fault.rank);
                    touched.push(fault.rank);
                }
            }
            Event::Thaw(rank) => {
                let one = &mut self.ranks[rank];
                if one.frozen_until_ns.is_some_and(|until_ns| until_ns <= self.now_ns) {
                    one.frozen_until_ns = None;
                    one.inbox_bytes = 0;
                    self.excuse(rank, self.now_ns - self.ranks[rank].frozen_since_ns);
                    self.timeline.add(self.now_ns, Some(rank), What::Thaws);
                    for arrived in std::mem::take(&mut self.ranks[rank].inbox) {
                        self.arrive(rank, arrived);
                    }
                    touched.push(rank);
                }
            }
            Event::Restart(rank) => {
                self.restart(rank);
                touched.push(rank);
            }
            Event::FaultEnds => self.wire.end(self.now_ns),
        }
    }

    /// Returns sender and datagram, unless a kernel drops the frame.
    fn taken_by_kernel(&self, frame: &[u8]) -> Option<(Option<usize>, Vec<u8>)> {
        #[cfg(test)]
        if matches!(self.plan.sabotage, Some(super::sabotage::Sabotage::NoChecksums)) {
            return unframed_blindly(frame);
        }
        unframed(frame)
    }

    pub(super) fn arrive(&mut self, to: usize, arrived: Arrived) {
        let now_ns = self.now_ns;
        let one = &mut self.ranks[to];
        if one.frozen_until_ns.is_some() && one.engine.is_some() {
            let bytes = if let Arrived::Datagram(_, datagram) = &arrived { datagram.len() } else { 0 };
            if one.inbox_bytes + bytes <= SOCKET_BYTES {
                one.inbox_bytes += bytes;
                one.inbox.push_back(arrived);
            }
            return;
        }
        let Some(engine) = one.engine.as_mut().filter(|_| one.state != State::Failed) else { return };
        let local_ns = now_ns + one.clock_ns;
        match arrived {
            Arrived::Datagram(from, datagram) => {
                if let Plane::Software(software) = engine.plane_mut() {
                    software.set_now(local_ns);
                    software.handle_datagram(from, &datagram);
                }
            }
            Arrived::Control(from, message) => match engine.handle_message(local_ns, from, &message) {
                // May answer a repair abandoned in the meantime.
                Ok(()) | Err(MessageError::Unexpected(_)) => {}
                Err(error) => {
                    self.judge.object(JudgeKind::Sound, Some(to), now_ns, format!("a message was refused: {error}"))
                }
            },
            Arrived::Gone(rank) => {
                self.timeline.add(now_ns, Some(to), What::HearsGone(rank));
                engine.handle_gone(rank);
            }
        }
    }

    /// Returns whether all working ranks are done, and nothing is outstanding or its time limit has
    /// passed.
    fn is_over(&mut self) -> bool {
        let waits = |one: &Rank| {
            one.frozen_until_ns.is_some()
                || one.is_working() && (!one.outstanding.is_empty() || (one.next_op as usize) < self.plan.calls.len())
        };
        if self.ranks.iter().any(waits) {
            self.done_ns = None;
            return false;
        }
        let since_ns = *self.done_ns.get_or_insert(self.now_ns);
        let is_back = |one: &Rank| matches!(one.state, State::Working | State::Failed | State::Dead);
        let all_back = self.ranks.iter().all(is_back) || self.now_ns > since_ns + JOIN_NS;
        all_back && (self.now_ns > since_ns + SETTLE_NS || self.is_settled())
    }

    fn streams(&self) -> Vec<StreamId> {
        let mut streams: Vec<_> = self.plan.calls.iter().filter_map(|call| call.stream_id()).collect();
        streams.sort_unstable();
        streams.dedup();
        streams
    }

    fn is_settled(&self) -> bool {
        let streams = self.streams();
        let engines = self.ranks.iter().filter(|one| one.is_working()).filter_map(|one| one.engine.as_ref());
        engines.into_iter().all(|engine| streams.iter().all(|stream| engine.is_repaired(*stream)))
    }

    fn finish(&mut self) {
        if self.judge.violation.is_some() {
            return;
        }
        let streams = self.streams();
        for rank in 0..self.plan.ranks {
            let one = &mut self.ranks[rank];
            let is_done = one.next_op as usize >= self.plan.calls.len() && one.is_working();
            let is_done =
                is_done || self.plan.cards != 0 && matches!(one.state, State::Dropped | State::Joining | State::Dead);
            self.judge.ended(rank, is_done, self.now_ns);
            let Some(engine) = one.engine.as_mut().filter(|_| one.state == State::Working) else { continue };
            self.judge.holds(rank, self.now_ns, memory::footprint(engine));
            for stream in &streams {
                let is_repaired = engine.is_repaired(*stream);
                let correction = engine.take_correction(*stream);
                let drift_bytes = engine.repaired_of(stream.bucket).map_or(0, |report| report.drift_bytes);
                self.judge.settled(rank, *stream, is_repaired, correction, drift_bytes);
            }
        }
        self.judge.finish(self.now_ns);
    }
}
