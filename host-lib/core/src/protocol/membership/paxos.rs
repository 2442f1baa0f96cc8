//! One instance of Paxos, in which the ranks of a view decide the next view.
//!
//! Source: Lamport, "Paxos Made Simple" (2001). Every rank is an acceptor and may be proposer.

use super::super::types::Ranks;
use super::view::{Ballot, View};

#[derive(Clone, Debug, Default)]
pub(super) struct Paxos {
    promised: Option<Ballot>,
    accepted: Option<(Ballot, View)>,
    attempt: u32,
    proposal: Option<Proposal>,
}

#[derive(Clone, Debug)]
struct Proposal {
    ballot: Ballot,
    promises: Ranks,
    /// Greatest of the promises, and the view accepted with the highest ballot.
    next_op: u32,
    accepted: Option<(Ballot, View)>,
    view: Option<View>,
    accepts: Ranks,
}

impl Paxos {
    /// Returns whether this rank has promised to wait for the decision.
    pub(super) fn is_bound(&self) -> bool {
        self.promised.is_some()
    }

    pub(super) fn attempt(&self) -> u32 {
        self.attempt
    }

    pub(super) fn accepted(&self) -> Option<(Ballot, View)> {
        self.accepted.clone()
    }

    pub(super) fn propose(&mut self, rank: usize, ranks: usize) -> Ballot {
        self.attempt = self.attempt.saturating_add(1);
        let ballot = Ballot { attempt: self.attempt, rank: rank as u16 };
        let (promises, accepts) = (Ranks::none(ranks), Ranks::none(ranks));
        self.proposal = Some(Proposal { ballot, promises, next_op: 0, accepted: None, view: None, accepts });
        ballot
    }

    /// Acceptor: returns whether this rank promises.
    pub(super) fn on_prepare(&mut self, ballot: Ballot) -> bool {
        self.attempt = self.attempt.max(ballot.attempt);
        let promises = self.promised.is_none_or(|promised| promised < ballot);
        if promises {
            self.promised = Some(ballot);
        }
        promises
    }

    /// Acceptor: returns whether this rank accepts.
    pub(super) fn on_accept(&mut self, ballot: Ballot, view: View) -> bool {
        let accepts = self.promised.is_none_or(|promised| promised <= ballot);
        if accepts {
            self.promised = Some(ballot);
            self.accepted = Some((ballot, view));
        }
        accepts
    }

    /// Proposer: returns the view to propose once a quorum of `voters` has promised; in the first
    /// attempt, all ranks in `remain`. A view accepted earlier must be proposed again. Otherwise
    /// `fresh` makes one from the greatest `next_op`, and whether all in `remain` have promised.
    #[allow(clippy::too_many_arguments, reason = "the fields of a promise, and the context to judge it")]
    pub(super) fn on_promise(
        &mut self,
        from: usize,
        ballot: Ballot,
        next_op: u32,
        accepted: Option<(Ballot, View)>,
        voters: &View,
        remain: &Ranks,
        fresh: impl FnOnce(u32, bool) -> View,
    ) -> Option<View> {
        let proposal = self.proposal.as_mut().filter(|one| one.ballot == ballot && one.view.is_none())?;
        proposal.promises.insert(from);
        proposal.next_op = proposal.next_op.max(next_op);
        if accepted.as_ref().is_some_and(|(new, _)| proposal.accepted.as_ref().is_none_or(|(old, _)| old < new)) {
            proposal.accepted = accepted;
        }
        let all = proposal.promises.is_superset(remain);
        if voters.is_quorum(&proposal.promises) && (all || ballot.attempt > 1) {
            let next_op = proposal.next_op;
            proposal.view = Some(proposal.accepted.take().map_or_else(|| fresh(next_op, all), |(_, view)| view));
        }
        proposal.view.clone()
    }

    /// Proposer: returns the view once a quorum of `voters` has accepted it.
    pub(super) fn on_accepted(&mut self, from: usize, ballot: Ballot, voters: &View) -> Option<View> {
        let proposal = self.proposal.as_mut().filter(|one| one.ballot == ballot)?;
        proposal.accepts.insert(from);
        proposal.view.clone().filter(|_| voters.is_quorum(&proposal.accepts))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::*;

    fn voters() -> View {
        let settings = Settings::first(1000);
        View { number: 3, first_op: 10, ..View::first(Ranks::all(5), settings) }
    }

    fn view(first_op: u32) -> View {
        View { number: 4, first_op, ..voters() }
    }

    fn ballot(attempt: u32) -> Ballot {
        Ballot { attempt, rank: 0 }
    }

    #[test]
    fn what_was_accepted_with_the_highest_ballot_is_proposed_again() {
        let mut paxos = Paxos::default();
        assert!(paxos.on_prepare(ballot(4)));
        let own = paxos.propose(2, 5);
        assert_eq!(own, Ballot { attempt: 5, rank: 2 });
        let mut promise =
            |from, accepted| paxos.on_promise(from, own, 7, accepted, &voters(), &Ranks::all(5), |_, _| unreachable!());
        assert_eq!(promise(0, Some((ballot(2), view(20)))), None);
        assert_eq!(promise(1, Some((ballot(3), view(30)))), None);
        assert_eq!(promise(1, Some((ballot(3), view(30)))), None, "twice is no quorum");
        assert_eq!(promise(4, Some((ballot(1), view(40)))), Some(view(30)));
        assert_eq!(promise(3, None), None, "only once");
        assert_eq!(
            [0, 1, 0, 4].map(|from| paxos.on_accepted(from, own, &voters())),
            [None, None, None, Some(view(30))]
        );
    }

    #[test]
    fn a_fresh_view_follows_the_furthest_of_a_quorum() {
        let mut paxos = Paxos::default();
        paxos.propose(0, 5);
        let own = paxos.propose(0, 5);
        let fresh = |next_op, all| view(next_op + if all { 0 } else { 1000 });
        let mut promise =
            |from, ballot, next_op| paxos.on_promise(from, ballot, next_op, None, &voters(), &Ranks::all(5), fresh);
        assert_eq!([promise(0, own, 50), promise(1, own, 70), promise(2, ballot(9), 90)], [None, None, None]);
        assert_eq!(promise(3, own, 60), Some(view(1070)));
        assert_eq!(paxos.on_accepted(0, ballot(9), &voters()), None);
    }

    #[test]
    fn the_first_attempt_waits_for_all_that_remain() {
        let mut paxos = Paxos::default();
        let own = paxos.propose(0, 5);
        let fresh = |next_op, all| view(next_op + if all { 0 } else { 1000 });
        let remain = Ranks::none(5).with([0, 1, 2, 4]);
        let mut promise = |from, next_op| paxos.on_promise(from, own, next_op, None, &voters(), &remain, fresh);
        assert_eq!([promise(0, 50), promise(1, 70), promise(3, 90), promise(2, 60)], [None, None, None, None]);
        assert_eq!(promise(4, 55), Some(view(90)), "of all that promised");
    }

    #[test]
    fn promises_bind() {
        let mut paxos = Paxos::default();
        assert!(!paxos.is_bound() && paxos.on_prepare(ballot(2)) && paxos.is_bound());
        assert!(!paxos.on_prepare(ballot(2)) && !paxos.on_prepare(ballot(1)));
        assert!(!paxos.on_accept(ballot(1), view(20)) && paxos.accepted().is_none());
        assert!(paxos.on_accept(ballot(2), view(30)) && paxos.on_prepare(ballot(3)));
        assert_eq!((paxos.accepted(), paxos.attempt()), (Some((ballot(2), view(30))), 3));
    }
}
