//! Who averages with whom: ready signals in, groups out.
//!
//! A group closes when as many workers are ready as it takes, or when its wait is over and there are at least two. The wait adapts:
//! twice as long after a group that was too small, 0.9 times after a full one. Where the sync graph wants a bridge, the group stays open
//! until workers of two components are ready.
//! Limits: a worker that is the only ready one waits until another is; one that is dead must be taken out with [`Controller::leave`].
//! Source: P-Reduce (SIGMOD'21); that a group of one is none unless nobody else is left is ours.

use std::collections::VecDeque;

use thiserror::Error;

use super::sync_graph::SyncGraph;
use super::weights::{Weighting, weights};

/// Wait for more workers: at first, and its limits.
const WAIT_NS: u64 = 1_000_000;
const WAIT_MIN_NS: u64 = 10_000;
const WAIT_MAX_NS: u64 = 10_000_000;

/// How groups are formed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Params {
    /// Workers of the job.
    pub workers: usize,
    /// Workers that a group takes, 2 to `workers`.
    pub group_size: usize,
    /// How their models count.
    pub weighting: Weighting,
    /// All workers must be connected by groups within this many times `workers` groups; `None`: groups may stay among
    /// themselves for ever.
    pub sync_bound: Option<u32>,
}

impl Params {
    /// Dynamic weights; connected within 2 x `workers` groups.
    pub fn new(workers: usize, group_size: usize) -> Self {
        Self { workers, group_size, weighting: Weighting::default(), sync_bound: Some(2) }
    }

    fn check(&self) -> Result<(), ParamsError> {
        let Self { workers, group_size, .. } = *self;
        if workers < 2 || !(2..=workers).contains(&group_size) {
            return Err(ParamsError::GroupSize { group_size, workers });
        }
        match self.weighting {
            Weighting::Dynamic { decay } if !(decay > 0.0 && decay < 1.0) => Err(ParamsError::Decay { decay }),
            _ => Ok(()),
        }
    }
}

/// Parameters that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum ParamsError {
    /// Groups would be of one worker, or of more than there are.
    #[error("groups of {group_size} of {workers} workers; expected 2 to {workers}, of at least 2 workers")]
    GroupSize {
        /// Workers of a group.
        group_size: usize,
        /// Workers of the job.
        workers: usize,
    },
    /// Weights would not fade.
    #[error("the decay of weights is {decay}; expected more than 0 and less than 1")]
    Decay {
        /// As given.
        decay: f64,
    },
}

/// A ready signal that is not taken. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RefusedReady {
    /// No such worker.
    #[error("worker {worker} is ready, expected 0 to {max}")]
    Worker {
        /// As given.
        worker: usize,
        /// The last one.
        max: usize,
    },
    /// It was taken out.
    #[error("worker {worker} is ready, but has left; it must join first")]
    Left {
        /// Which.
        worker: usize,
    },
    /// It is ready already.
    #[error("worker {worker} is ready twice, at iteration {iteration} the first time")]
    Twice {
        /// Which.
        worker: usize,
        /// Of the first signal.
        iteration: u64,
    },
    /// It has not trained since its last group.
    #[error("worker {worker} is ready at iteration {found}, expected {least} or more")]
    Iteration {
        /// Which.
        worker: usize,
        /// As given.
        found: u64,
        /// One after that of its last group.
        least: u64,
    },
}

/// Workers that average their models.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Counts from 0.
    pub number: u64,
    /// In ascending order of workers.
    pub members: Vec<Member>,
    /// The newest of the members' iterations, which all of them carry afterwards.
    pub iteration: u64,
    /// Whether it has as many members as a group takes, or as there are.
    pub is_full: bool,
}

/// A worker of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// Which.
    pub worker: usize,
    /// Of its model.
    pub iteration: u64,
    /// How much its model counts; those of a group have a sum of 1.
    pub weight: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It trains, or averages; the iteration of its last group, 0 before the first.
    Busy {
        iteration: u64,
    },
    Ready {
        iteration: u64,
    },
    Left,
}

/// Forms groups.
///
/// Call order: [`ready`](Self::ready), [`leave`](Self::leave), [`join`](Self::join) as they come; after each, and at
/// [`next_wake_ns`](Self::next_wake_ns), [`poll_group`](Self::poll_group) until it gives none.
#[derive(Clone, Debug)]
pub struct Controller {
    params: Params,
    workers: Vec<State>,
    /// Those that are ready, in the order in which they came.
    queue: VecDeque<usize>,
    /// When the group that is open was opened.
    opened_ns: u64,
    wait_ns: u64,
    graph: SyncGraph,
    groups: u64,
}

impl Controller {
    /// All workers take part, and none is ready.
    ///
    /// # Errors
    /// If the parameters cannot be.
    pub fn new(params: Params) -> Result<Self, ParamsError> {
        params.check()?;
        let limit = params.sync_bound.map(|bound| u64::from(bound) * params.workers as u64);
        Ok(Self {
            workers: vec![State::Busy { iteration: 0 }; params.workers],
            queue: VecDeque::new(),
            opened_ns: 0,
            wait_ns: WAIT_NS,
            graph: SyncGraph::new(params.workers, limit),
            groups: 0,
            params,
        })
    }

    /// A worker has a model of an iteration, which counts from 1, and may average it.
    ///
    /// # Errors
    /// If it cannot be; nothing was changed.
    pub fn ready(&mut self, now_ns: u64, worker: usize, iteration: u64) -> Result<(), RefusedReady> {
        let max = self.workers.len() - 1;
        let state = self.workers.get_mut(worker).ok_or(RefusedReady::Worker { worker, max })?;
        match *state {
            State::Left => return Err(RefusedReady::Left { worker }),
            State::Ready { iteration } => return Err(RefusedReady::Twice { worker, iteration }),
            State::Busy { iteration: last } if iteration <= last => {
                return Err(RefusedReady::Iteration { worker, found: iteration, least: last + 1 });
            }
            State::Busy { .. } => *state = State::Ready { iteration },
        }
        if self.queue.is_empty() {
            self.opened_ns = now_ns;
        }
        self.queue.push_back(worker);
        Ok(())
    }

    /// A worker takes no part any more. It may have left before.
    pub fn leave(&mut self, worker: usize) {
        if let Some(state) = self.workers.get_mut(worker) {
            *state = State::Left;
            self.queue.retain(|ready| *ready != worker);
            self.restart_if_connected();
        }
    }

    /// A worker takes part, with a model of its own or one that it was given. A ready signal of its former life is forgotten.
    pub fn join(&mut self, worker: usize) {
        self.leave(worker);
        if let Some(state) = self.workers.get_mut(worker) {
            *state = State::Busy { iteration: 0 };
        }
    }

    /// The next group that is closed, if one is.
    pub fn poll_group(&mut self, now_ns: u64) -> Option<Group> {
        let is_over = now_ns >= self.opened_ns.saturating_add(self.wait_ns);
        let is_full = self.queue.len() >= self.full();
        if self.queue.is_empty() || !is_full && (!is_over || self.queue.len() < 2) {
            return None;
        }
        if self.must_bridge() && !self.graph.are_several(self.queue.iter().copied()) {
            return None;
        }
        self.wait_ns = if is_full { self.wait_ns * 9 / 10 } else { self.wait_ns * 2 }.clamp(WAIT_MIN_NS, WAIT_MAX_NS);
        self.opened_ns = now_ns;
        let members = self.take_members();
        let iteration = members.iter().map(|member| member.iteration).max().unwrap_or(0);
        for member in &members {
            self.workers[member.worker] = State::Busy { iteration };
        }
        self.graph.unite(members.iter().map(|member| member.worker));
        self.restart_if_connected();
        self.groups += 1;
        Some(Group { number: self.groups - 1, members, iteration, is_full })
    }

    /// When a group closes that nobody else joins; `None`: not by itself.
    pub fn next_wake_ns(&self) -> Option<u64> {
        let is_waiting = self.queue.len() >= 2 && self.queue.len() < self.full();
        let is_bridge = !self.must_bridge() || self.graph.are_several(self.queue.iter().copied());
        (is_waiting && is_bridge).then(|| self.opened_ns.saturating_add(self.wait_ns))
    }

    /// The workers that are ready, in the order in which they came.
    pub fn waiting(&self) -> impl Iterator<Item = usize> + '_ {
        self.queue.iter().copied()
    }

    /// Since when workers wait for a group; `None`: none does.
    pub fn open_since_ns(&self) -> Option<u64> {
        (!self.queue.is_empty()).then_some(self.opened_ns)
    }

    /// Those that wait have waited long enough for the others, which leave. They may join again.
    pub fn leave_behind(&mut self) {
        let others: Vec<usize> = self.live().filter(|worker| !self.queue.contains(worker)).collect();
        others.into_iter().for_each(|worker| self.leave(worker));
    }

    /// How long a group waits for more workers, in nanoseconds.
    pub fn wait_ns(&self) -> u64 {
        self.wait_ns
    }

    /// Takes the members of a group from the queue: those that came first, one of another component among them if there
    /// must be one.
    fn take_members(&mut self) -> Vec<Member> {
        let count = self.queue.len().min(self.full());
        if self.must_bridge() && !self.graph.are_several(self.queue.iter().copied().take(count)) {
            let component = self.graph.component(self.queue[0]);
            let at = self.queue.iter().position(|worker| self.graph.component(*worker) != component);
            if let Some(bridge) = at.and_then(|at| self.queue.remove(at)) {
                self.queue.insert(count - 1, bridge);
            }
        }
        let mut workers: Vec<usize> = self.queue.drain(..count).collect();
        workers.sort_unstable();
        let iteration = |worker: usize| match self.workers[worker] {
            State::Ready { iteration } | State::Busy { iteration } => iteration,
            State::Left => 0,
        };
        let iterations: Vec<u64> = workers.iter().map(|worker| iteration(*worker)).collect();
        let weights = weights(self.params.weighting, &iterations);
        let members = workers.into_iter().zip(iterations).zip(weights);
        members.map(|((worker, iteration), weight)| Member { worker, iteration, weight }).collect()
    }

    /// Workers of a full group.
    fn full(&self) -> usize {
        self.params.group_size.min(self.live().count())
    }

    fn live(&self) -> impl Iterator<Item = usize> {
        (0..self.workers.len()).filter(|worker| self.workers[*worker] != State::Left)
    }

    fn must_bridge(&self) -> bool {
        self.graph.must_bridge() && self.graph.are_several(self.live())
    }

    fn restart_if_connected(&mut self) {
        let live: Vec<usize> = self.live().collect();
        self.graph.restart_if_one(live);
    }
}
