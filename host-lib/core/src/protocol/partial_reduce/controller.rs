//! The controller of Partial Reduce: ready signals in, groups out.
//!
//! A group closes when enough workers are ready, or when its wait is over and at least two are. The
//! wait doubles after a group that was not full, and shrinks by a tenth after a full one. A group
//! that must bridge components stays open until workers of two are ready.
//!
//! Limits: a dead worker must be removed with [`Controller::leave`].
//! Source: P-Reduce (SIGMOD'21). Ours: no group of one worker while others take part.

use std::collections::VecDeque;

use thiserror::Error;

use super::sync_graph::SyncGraph;
use super::weights::{Weighting, weights};

/// Wait for more workers: initial value and limits.
const WAIT_NS: u64 = 1_000_000;
const WAIT_MIN_NS: u64 = 10_000;
const WAIT_MAX_NS: u64 = 10_000_000;

/// Rules for groups.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Params {
    /// Number of workers, at least 2.
    pub workers: usize,
    /// Number of workers in a full group, 2 to `workers`.
    pub group_size: usize,
    /// Weights of the models of a group.
    pub weighting: Weighting,
    /// After `sync_bound * workers` groups without connecting all workers, groups must bridge
    /// components of the [`SyncGraph`]. `None`: no limit.
    pub sync_bound: Option<u32>,
}

impl Params {
    /// Dynamic weights, and a `sync_bound` of 2.
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

/// Invalid parameters.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[allow(missing_docs)] // fields explain themselves
pub enum ParamsError {
    #[error("groups of {group_size} of {workers} workers; expected 2 to {workers}, of at least 2 workers")]
    GroupSize { group_size: usize, workers: usize },
    #[error("the decay of weights is {decay}; expected more than 0 and less than 1")]
    Decay { decay: f64 },
}

/// A rejected ready signal. The controller is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs)] // fields explain themselves
pub enum RefusedReady {
    #[error("worker {worker} is ready, expected 0 to {max}")]
    Worker { worker: usize, max: usize },
    #[error("worker {worker} is ready, but has left; it must join first")]
    Left { worker: usize },
    #[error("worker {worker} is ready twice, at iteration {iteration} the first time")]
    Twice { worker: usize, iteration: u64 },
    /// The worker has not trained since its last group.
    #[error("worker {worker} is ready at iteration {found}, expected {least} or more")]
    Iteration { worker: usize, found: u64, least: u64 },
}

/// Workers that average their models.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Number of the group, from 0.
    pub number: u64,
    /// Members, in ascending order.
    pub members: Vec<Member>,
    /// Newest iteration of the members, from which all of them continue.
    pub iteration: u64,
    /// Whether it has `group_size` members, or all workers that take part.
    pub is_full: bool,
}

/// A worker of a group, and the iteration of its model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // described above
pub struct Member {
    pub worker: usize,
    pub iteration: u64,
    /// Weight of the model. The weights of a group sum to 1.
    pub weight: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// `iteration`: the last group's, 0 before the first.
    Busy {
        iteration: u64,
    },
    Ready {
        iteration: u64,
    },
    Left,
}

/// Forms groups of ready workers. After each event, and at [`next_wake_ns`](Self::next_wake_ns),
/// call [`poll_group`](Self::poll_group) until `None`.
#[derive(Clone, Debug)]
pub struct Controller {
    params: Params,
    workers: Vec<State>,
    /// Ready workers, in order of arrival.
    queue: VecDeque<usize>,
    opened_ns: u64,
    wait_ns: u64,
    graph: SyncGraph,
    groups: u64,
}

impl Controller {
    /// Creates a controller with all workers taking part and none ready.
    ///
    /// # Errors
    /// [`ParamsError`] if `params` is invalid.
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

    /// Records that a worker has a model of this iteration, from 1, for a group.
    ///
    /// # Errors
    /// [`RefusedReady`]; the controller is unchanged.
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

    /// Removes a worker, if it has not left already.
    pub fn leave(&mut self, worker: usize) {
        if let Some(state) = self.workers.get_mut(worker) {
            *state = State::Left;
            self.queue.retain(|ready| *ready != worker);
            self.restart_if_connected();
        }
    }

    /// Adds a worker again and discards its earlier ready signal.
    pub fn join(&mut self, worker: usize) {
        self.leave(worker);
        if let Some(state) = self.workers.get_mut(worker) {
            *state = State::Busy { iteration: 0 };
        }
    }

    /// Closes the next group, if possible.
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

    /// Time at which the open group closes without further workers. `None`: it does not.
    pub fn next_wake_ns(&self) -> Option<u64> {
        let is_waiting = self.queue.len() >= 2 && self.queue.len() < self.full();
        let is_bridge = !self.must_bridge() || self.graph.are_several(self.queue.iter().copied());
        (is_waiting && is_bridge).then(|| self.opened_ns.saturating_add(self.wait_ns))
    }

    /// Ready workers, in order of arrival.
    pub fn waiting(&self) -> impl Iterator<Item = usize> + '_ {
        self.queue.iter().copied()
    }

    /// Time at which the open group's wait began. `None`: no worker waits.
    pub fn open_since_ns(&self) -> Option<u64> {
        (!self.queue.is_empty()).then_some(self.opened_ns)
    }

    /// Removes all workers that are not ready. They may join again.
    pub fn leave_behind(&mut self) {
        let others: Vec<usize> = self.live().filter(|worker| !self.queue.contains(worker)).collect();
        others.into_iter().for_each(|worker| self.leave(worker));
    }

    /// Current wait of a group, in ns.
    pub fn wait_ns(&self) -> u64 {
        self.wait_ns
    }

    /// Removes the next group from the queue: in order of arrival, except for a bridge.
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
