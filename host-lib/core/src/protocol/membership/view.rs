//! Views, and the messages with which ranks agree on them; see [`Membership`](super::Membership).

use optireduce_contract::ranks::words_for;
use optireduce_contract::signs::splitmix64;
use thiserror::Error;

use crate::protocol::params::JobParams;
use crate::protocol::types::Ranks;

/// Settings that all ranks of a view share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whether all-reduces in mode [`HadamardMode::Auto`](crate::protocol::HadamardMode) are
    /// encoded.
    pub hadamard: bool,
    /// t_B, the bound of each stage, in ns: 1 to `u32::MAX`.
    pub bound_ns: u64,
    /// Whether collectives use other data planes. Permanent.
    pub fallback: bool,
}

impl Settings {
    /// Settings of a new job: no encoding, no fallback.
    pub const fn first(bound_ns: u64) -> Self {
        Self { hadamard: false, bound_ns, fallback: false }
    }

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

/// Largest factor by which one request for the transform can raise the bound.
pub const ENCODED_BOUNDS: u64 = 2;

/// Changes of [`Settings`] that a rank requests. `None`: no change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // as in `Settings`
pub struct Request {
    pub hadamard: Option<bool>,
    pub bound_ns: Option<u64>,
    /// Cannot be withdrawn.
    pub fallback: bool,
}

impl Request {
    /// Returns the part that `view` does not satisfy.
    pub(super) fn without(self, view: &View) -> Self {
        Self {
            hadamard: self.hadamard.filter(|hadamard| *hadamard != view.settings.hadamard),
            bound_ns: self.bound_ns.filter(|bound_ns| *bound_ns != view.settings.bound_ns),
            fallback: self.fallback && !view.settings.fallback,
        }
    }
}

/// State that all ranks share, from one collective on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // fields explain themselves
pub struct View {
    pub number: u32,
    pub ranks: Ranks,
    pub first_op: u32,
    /// Rank that joins with this view, and its incarnation.
    pub joined: Option<(u16, u64)>,
    /// Number of the view in which the members last changed.
    pub epoch: u32,
    pub settings: Settings,
}

impl View {
    /// Members in order. Index i of a plan is the i-th member.
    pub fn live(&self) -> impl Iterator<Item = usize> + '_ {
        self.ranks.iter()
    }

    /// Returns whether `rank` is a member.
    pub fn has(&self, rank: usize) -> bool {
        self.ranks.contains(rank)
    }

    /// Returns whether the members in `some` may decide for all.
    pub fn is_quorum(&self, some: &Ranks) -> bool {
        let voters = self.live().filter(|rank| some.contains(*rank)).count();
        self.is_quorum_of(voters, self.live().next().is_some_and(|lowest| some.contains(lowest)))
    }

    /// As [`is_quorum`](Self::is_quorum), by the number of voters.
    pub(super) fn is_quorum_of(&self, voters: usize, has_lowest: bool) -> bool {
        let all = self.ranks.len();
        2 * voters > all || 2 * voters == all && has_lowest
    }

    /// Creates view 0 of a job.
    pub fn first(ranks: Ranks, settings: Settings) -> Self {
        Self { number: 0, ranks, first_op: 0, joined: None, epoch: 0, settings }
    }

    /// Creates the next view. Without a change, it only ends the wait for a decision.
    pub(super) fn followed_by(&self, change: Option<Change>, first_op: u32) -> Self {
        let number = self.number.saturating_add(1);
        let Some(Change { remain, joined, settings }) = change else {
            return Self { number, first_op, joined: None, ..self.clone() };
        };
        let ranks = remain.with(joined.map(|(rank, _)| rank.into()));
        let epoch = if ranks == self.ranks && joined.is_none() { self.epoch } else { number };
        Self { number, ranks, first_op, joined, epoch, settings }
    }

    pub(super) fn change(&self, request: &Request) -> Change {
        let settings = self.settings.with(request);
        Change { remain: self.ranks.clone(), joined: None, settings }
    }

    /// Tag of this view's packets. Ranks with other members drop and count them.
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
    /// Parameters of a collective in `view`, with ranks as indices into its members.
    pub fn of_view(&self, view: &View) -> Self {
        let ranks = view.live().count();
        let rank = view.live().position(|rank| rank == self.rank).unwrap_or(0);
        let start_peers = (self.start_peers * ranks.saturating_sub(1)).div_ceil((self.ranks - 1).max(1));
        Self { rank, ranks, start_peers, bound_ns: view.settings.bound_ns, ..self.clone() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub remain: Ranks,
    pub joined: Option<(u16, u64)>,
    pub settings: Settings,
}

/// An attempt of a rank to decide a view. A higher ballot overrides a lower one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // described above
pub struct Ballot {
    pub attempt: u32,
    pub rank: u16,
}

/// Messages about views. `number` identifies the sender's newest view, `next_op` the first
/// collective that it has not started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // fields described above
pub enum MembershipMessage {
    /// Progress report.
    Progress { number: u32, next_op: u32 },
    /// These ranks were silent for K collectives.
    Suspect { number: u32, suspects: Ranks },
    /// Requested changes for the next view.
    Request { number: u32, request: Request },
    /// Request to join. `incarnation` grows with each attempt.
    Join { incarnation: u64 },
    /// Start of a ballot on the view after `number`.
    Prepare { number: u32, ballot: Ballot },
    /// Promise to reject lower ballots, and to start no collective from `next_op` on.
    Promise { number: u32, ballot: Ballot, next_op: u32, accepted: Option<(Ballot, View)> },
    /// Request to accept this view.
    Accept { ballot: Ballot, view: View },
    /// Acceptance of the ballot's view.
    Accepted { number: u32, ballot: Ballot },
    /// Decided views: consecutive, the newest last, at most 16.
    Views { views: Vec<View> },
    /// The sender is alive and waits for messages about a finished collective.
    Waits { number: u32 },
    /// The sender is alive, and its next collective is `next_op`, which others have finished.
    Behind { number: u32, next_op: u32 },
}

/// A message that no rank of the job can have sent, and that was ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("membership message from rank {from}: {what}; expected one of a job of {ranks} ranks")]
#[allow(missing_docs)] // fields explain themselves
pub struct BadMessage {
    pub from: usize,
    pub what: &'static str,
    pub ranks: usize,
}

pub(super) fn is_of_job(set: &Ranks, ranks: usize) -> bool {
    set.words().len() == words_for(ranks) && set.iter().all(|rank| rank < ranks)
}
