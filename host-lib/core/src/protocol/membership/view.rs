//! Views, and the messages by which ranks agree on them; see [`Membership`](super::Membership).

use optireduce_contract::limits::RANKS_MAX;
use optireduce_contract::signs::splitmix64;
use thiserror::Error;

use crate::protocol::params::JobParams;

/// Who takes part, from which collective on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Number of the view; 0 is the job's first.
    pub number: u32,
    /// Bit r: rank r takes part.
    pub ranks: u64,
    /// First collective that uses it, until the first one of the next view.
    pub first_op: u32,
    /// The rank that joins with this view, and the incarnation it asked with.
    pub joined: Option<(u16, u64)>,
}

impl View {
    /// The ranks in order: rank i of a plan is the i-th of them.
    pub fn live(&self) -> impl Iterator<Item = usize> + use<> {
        ranks_of(self.ranks)
    }

    /// Whether `rank` takes part.
    pub fn has(&self, rank: usize) -> bool {
        bit(rank) & self.ranks != 0
    }

    /// Whether `some` (bit r: rank r) of its ranks may decide for all.
    pub fn is_quorum(&self, some: u64) -> bool {
        let (all, some) = (self.ranks.count_ones(), some & self.ranks);
        let lowest = self.ranks & self.ranks.wrapping_neg();
        2 * some.count_ones() > all || 2 * some.count_ones() == all && some & lowest != 0
    }

    /// The next view: without a reason for a change the same ranks, for those who wait for a decision.
    pub(super) fn followed_by(&self, change: Option<Change>, first_op: u32) -> Self {
        let change = change.unwrap_or(Change { remain: self.ranks, joined: None });
        let joining = change.joined.map_or(0, |(rank, _)| bit(rank.into()));
        Self { number: self.number.saturating_add(1), ranks: change.remain | joining, first_op, joined: change.joined }
    }

    /// The tag of this view's packets in a job with tag `job_tag`: ranks in other views drop and count them.
    pub fn job_tag(&self, job_tag: u64) -> u64 {
        if self.number == 0 { job_tag } else { splitmix64(job_tag ^ u64::from(self.number)) }
    }
}

impl JobParams {
    /// The parameters of a collective in a view of these ranks, where this rank and its peers go by their places.
    pub fn of_view(&self, view: &View) -> Self {
        let ranks = view.live().count();
        let rank = view.live().position(|rank| rank == self.rank).unwrap_or(0);
        let start_peers = (self.start_peers * ranks.saturating_sub(1)).div_ceil((self.ranks - 1).max(1));
        Self { rank, ranks, start_peers, ..self.clone() }
    }
}

/// How the next view is to differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// Ranks that are not dropped.
    pub remain: u64,
    /// The rank that joins, and its incarnation.
    pub joined: Option<(u16, u64)>,
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
        /// Bit r: rank r.
        suspects: u64,
    },
    /// The sender wants another view for its own sake, be it of the same ranks.
    Renew {
        /// Newest view.
        number: u32,
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

pub(super) fn bit(rank: usize) -> u64 {
    1u64.checked_shl(rank as u32).unwrap_or(0)
}

pub(super) fn ranks_of(mask: u64) -> impl Iterator<Item = usize> + use<> {
    (0..RANKS_MAX).filter(move |rank| mask & bit(*rank) != 0)
}
