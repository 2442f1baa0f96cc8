//! Views, and the messages by which ranks agree on them; see [`Membership`](super::Membership).
//!
//! A view is all that the ranks of a job must use alike from one collective on: who takes part, the bound t_B,
//! whether all-reduces are Hadamard-encoded, and whether the job has fallen back. A rank that joins learns all of it with its view.

use optireduce_contract::ranks::words_for;
use optireduce_contract::signs::splitmix64;
use thiserror::Error;

use crate::protocol::params::JobParams;
use crate::protocol::types::Ranks;

/// What the ranks of a view use alike, besides its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether all-reduces that follow the loss ([`HadamardMode::Auto`](crate::protocol::HadamardMode)) are encoded.
    pub hadamard: bool,
    /// t_B, the bound on each stage, in ns: 1 to `u32::MAX`, as much as a card takes.
    pub bound_ns: u64,
    /// Whether the ranks have fallen back: their collectives are made on other data planes from then on, for good.
    pub fallback: bool,
}

impl Settings {
    /// Those of a job that begins: nothing is encoded, and nobody has fallen back.
    pub const fn first(bound_ns: u64) -> Self {
        Self { hadamard: false, bound_ns, fallback: false }
    }

    /// With what was requested.
    fn with(self, request: &Request) -> Self {
        Self {
            hadamard: request.hadamard.unwrap_or(self.hadamard),
            bound_ns: request.bound_ns.unwrap_or(self.bound_ns),
            fallback: self.fallback || request.fallback,
        }
    }

    pub(super) fn is_possible(&self) -> bool {
        (1..=u64::from(u32::MAX)).contains(&self.bound_ns)
    }
}

/// A view that turns the transform on has at most so many times the bound before, if ranks do not agree on one: what those ask for who ask for the transform.
pub const ENCODED_BOUNDS: u64 = 2;

/// What a rank asks the next view to settle. `None`: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// [`Settings::hadamard`].
    pub hadamard: Option<bool>,
    /// [`Settings::bound_ns`], as this rank alone would have it; see [`Membership`](super::Membership) for what comes of it.
    pub bound_ns: Option<u64>,
    /// [`Settings::fallback`]: one rank that asks for it is enough, and none takes it back.
    pub fallback: bool,
}

impl Request {
    /// What of it `view` has not settled.
    pub(super) fn without(self, view: &View) -> Self {
        Self {
            hadamard: self.hadamard.filter(|hadamard| *hadamard != view.settings.hadamard),
            bound_ns: self.bound_ns.filter(|bound_ns| *bound_ns != view.settings.bound_ns),
            fallback: self.fallback && !view.settings.fallback,
        }
    }
}

/// What all ranks use alike, from which collective on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Number of the view; 0 is the job's first.
    pub number: u32,
    /// The ranks that take part, with room for all of the job.
    pub ranks: Ranks,
    /// First collective that uses it, until the first one of the next view.
    pub first_op: u32,
    /// The rank that joins with this view, and the incarnation it asked with.
    pub joined: Option<(u16, u64)>,
    /// Number of the view with which these members began: views of one epoch differ in their settings only.
    pub epoch: u32,
    /// What else its ranks use alike.
    pub settings: Settings,
}

impl View {
    /// The ranks in order: rank i of a plan is the i-th of them.
    pub fn live(&self) -> impl Iterator<Item = usize> + '_ {
        self.ranks.iter()
    }

    /// Whether `rank` takes part.
    pub fn has(&self, rank: usize) -> bool {
        self.ranks.contains(rank)
    }

    /// Whether those of its ranks that are in `some` may decide for all.
    pub fn is_quorum(&self, some: &Ranks) -> bool {
        let voters = self.live().filter(|rank| some.contains(*rank)).count();
        self.is_quorum_of(voters, self.live().next().is_some_and(|lowest| some.contains(lowest)))
    }

    /// Whether so many of its ranks may decide for all, with or without the lowest.
    pub(super) fn is_quorum_of(&self, voters: usize, has_lowest: bool) -> bool {
        let all = self.ranks.len();
        2 * voters > all || 2 * voters == all && has_lowest
    }

    /// View 0 of a job, in which `ranks` take part.
    pub fn first(ranks: Ranks, settings: Settings) -> Self {
        Self { number: 0, ranks, first_op: 0, joined: None, epoch: 0, settings }
    }

    /// The next view with this change; without one all stays as it is, for ranks that wait for a decision.
    pub(super) fn followed_by(&self, change: Option<Change>, first_op: u32) -> Self {
        let number = self.number.saturating_add(1);
        let Some(Change { remain, joined, settings }) = change else {
            return Self { number, first_op, joined: None, ..self.clone() };
        };
        let ranks = remain.with(joined.map(|(rank, _)| rank.into()));
        let epoch = if ranks == self.ranks && joined.is_none() { self.epoch } else { number };
        Self { number, ranks, first_op, joined, epoch, settings }
    }

    /// The change that leads to what was requested, if it differs from this view.
    pub(super) fn change(&self, request: &Request) -> Change {
        let settings = self.settings.with(request);
        Change { remain: self.ranks.clone(), joined: None, settings }
    }

    /// The tag of this view's packets in a job with tag `job_tag`: ranks with other members drop and count them.
    pub fn job_tag(&self, job_tag: u64) -> u64 {
        if self.epoch == 0 { job_tag } else { splitmix64(job_tag ^ u64::from(self.epoch)) }
    }

    pub(super) fn is_possible(&self, ranks: usize) -> bool {
        !self.ranks.is_empty()
            && is_of_job(&self.ranks, ranks)
            && self.joined.is_none_or(|(rank, _)| self.has(rank.into()))
            && self.epoch <= self.number
            && self.settings.is_possible()
    }
}

impl JobParams {
    /// The parameters of a collective in a view of these ranks, with this rank and its peers as indices into its live ranks.
    pub fn of_view(&self, view: &View) -> Self {
        let ranks = view.live().count();
        let rank = view.live().position(|rank| rank == self.rank).unwrap_or(0);
        let start_peers = (self.start_peers * ranks.saturating_sub(1)).div_ceil((self.ranks - 1).max(1));
        Self { rank, ranks, start_peers, bound_ns: view.settings.bound_ns, ..self.clone() }
    }
}

/// How the next view is to differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// Ranks that are not dropped.
    pub remain: Ranks,
    /// The rank that joins, and its incarnation.
    pub joined: Option<(u16, u64)>,
    /// The settings from then on.
    pub settings: Settings,
}

/// Orders attempts to decide a view: a higher one overrides a lower one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ballot {
    /// Number of the attempt.
    pub attempt: u32,
    /// The rank that makes it.
    pub rank: u16,
}

/// What ranks tell one another about views, on the control channel. `number`: of the sender's newest view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MembershipMessage {
    /// The sender has not started collective `next_op` yet, but all before.
    Progress {
        /// Newest view.
        number: u32,
        /// First collective not started.
        next_op: u32,
    },
    /// The sender has not heard these ranks for K collectives.
    Suspect {
        /// Newest view.
        number: u32,
        /// The ranks.
        suspects: Ranks,
    },
    /// The sender asks the next view to settle this.
    Request {
        /// Newest view.
        number: u32,
        /// What it asks for.
        request: Request,
    },
    /// The sender, not in any view, wants to take part.
    Join {
        /// Greater each time the rank asks anew.
        incarnation: u64,
    },
    /// The sender wants to decide the view after `number`.
    Prepare {
        /// Newest view.
        number: u32,
        /// The attempt.
        ballot: Ballot,
    },
    /// The sender will not take part in lower ballots and starts no collective from `next_op` on.
    Promise {
        /// Newest view.
        number: u32,
        /// The attempt.
        ballot: Ballot,
        /// First collective not started.
        next_op: u32,
        /// What the sender has accepted so far.
        accepted: Option<(Ballot, View)>,
    },
    /// The view to be accepted.
    Accept {
        /// The attempt.
        ballot: Ballot,
        /// The view.
        view: View,
    },
    /// The sender has accepted the view of this ballot.
    Accepted {
        /// Newest view.
        number: u32,
        /// The attempt.
        ballot: Ballot,
    },
    /// Decided views, consecutive, the newest last.
    Views {
        /// At most 16.
        views: Vec<View>,
    },
    /// The sender waits for what others are to say about a collective that has ended, and begins no other: it is alive.
    Waits {
        /// Newest view.
        number: u32,
    },
}

/// A message that no rank of the job can have sent. It was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("membership message from rank {from}: {what}; expected one of a job of {ranks} ranks")]
pub struct BadMessage {
    /// Sender.
    pub from: usize,
    /// What is wrong.
    pub what: &'static str,
    /// Ranks of the job.
    pub ranks: usize,
}

/// Whether `set` has room for all ranks of a job of `ranks`, and holds no other.
pub(super) fn is_of_job(set: &Ranks, ranks: usize) -> bool {
    set.words().len() == words_for(ranks) && set.iter().all(|rank| rank < ranks)
}
