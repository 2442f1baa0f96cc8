//! Votes on whether an update is applied, so that replicas do not diverge.
//!
//! Each rank sees different losses, so one rank would skip an update that another applies. All send
//! their votes to the leader, the lowest rank of the view. It decides once it has every vote, or
//! `leader_ns` after the first one, even while its own trainer is late. If any rank votes to skip,
//! all skip. A silent rank counts with its previous vote.
//!
//! Limits: a rank that does not receive the decision in time follows its own vote and reports that.
//! Source: ours; OptiReduce 3.4 leaves it open.

use std::collections::{BTreeMap, VecDeque};

use super::types::Ranks;

/// Number of collectives, from the next one on, about which messages are accepted.
const OPS_MAX: u32 = 256;

/// A message about the update of collective `op`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub enum VoteMessage {
    /// To the leader: the sender's vote.
    Vote {
        op: u32,
        live: Ranks,
        skip: bool,
        /// Remaining time to fetch missing data, in ns.
        left_ns: u64,
    },
    /// From the leader: the outcome.
    Decision { op: u32, skip: bool },
}

/// The outcome for an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    /// Whether the update is skipped.
    pub skip: bool,
    /// False if this rank followed its own vote.
    pub agreed: bool,
}

/// Timeouts of votes. Both start after the time that ranks may take to fetch missing data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VoteParams {
    /// Time that the leader waits for further votes after the first one, in ns.
    pub leader_ns: u64,
    /// Time that another rank waits for the decision after its own vote, in ns, above `leader_ns`.
    pub others_ns: u64,
}

impl VoteParams {
    /// Timeouts for stages with this bound: one rank may spend it in both stages while another
    /// receives everything early. `slack_ns`: margin of `others_ns`.
    pub const fn of_bound(bound_ns: u64, slack_ns: u64) -> Self {
        let leader_ns = bound_ns.saturating_mul(2);
        Self { leader_ns, others_ns: leader_ns.saturating_add(bound_ns).saturating_add(slack_ns) }
    }
}

/// Voting state of one rank. Messages must arrive reliably, in any order.
#[derive(Clone, Debug)]
pub struct Votes {
    rank: usize,
    params: VoteParams,
    /// Next collective to vote on or be decided. `None` while joining.
    next: Option<u32>,
    last_skips: Ranks,
    ballots: BTreeMap<u32, Ballot>,
    /// By collective and leader: a dropped leader may decide as well.
    decisions: BTreeMap<(u32, usize), bool>,
    waiting: Option<Waiting>,
    outgoing: VecDeque<(usize, VoteMessage)>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    op: u32,
    leader: usize,
    own_skip: bool,
    until_ns: u64,
}

#[derive(Clone, Debug)]
struct Ballot {
    live: Ranks,
    heard: Ranks,
    skip: bool,
    deadline_ns: u64,
}

impl Votes {
    /// Creates the voting state of `rank`.
    pub fn new(rank: usize, ranks: usize, params: VoteParams) -> Self {
        Self {
            rank,
            params,
            next: Some(0),
            last_skips: Ranks::none(ranks),
            ballots: BTreeMap::new(),
            decisions: BTreeMap::new(),
            waiting: None,
            outgoing: VecDeque::new(),
        }
    }

    /// Sets the timeouts from the next vote on.
    pub fn set_params(&mut self, params: VoteParams) {
        self.params = params;
    }

    /// Discards all votes and decisions while this rank asks to join. Until it has its view,
    /// messages are kept but nothing is decided: a late vote may concern a decided collective.
    pub fn join(&mut self) {
        (self.next, self.waiting) = (None, None);
        self.last_skips.clear();
        self.ballots.clear();
        self.decisions.clear();
    }

    /// Continues at collective `op`. Discards messages that are too old or too far ahead.
    pub fn forward(&mut self, op: u32) {
        self.next = Some(op);
        let is_near = |of: &u32| of.wrapping_sub(op) < OPS_MAX;
        self.ballots.retain(|of, _| is_near(of));
        self.decisions.retain(|(of, _), _| is_near(of));
    }

    /// Votes on finished collective `op`. Call once per collective, in order, after the previous
    /// decision. `until_ns`: end of the time to fetch missing data, if any.
    pub fn cast(&mut self, now_ns: u64, op: u32, live: &Ranks, skip: bool, until_ns: u64) {
        self.forward(op);
        let left_ns = until_ns.saturating_sub(now_ns);
        let leader = live.iter().next().unwrap_or(self.rank);
        let until_ns = now_ns.saturating_add(left_ns).saturating_add(self.params.others_ns);
        self.waiting = Some(Waiting { op, leader, own_skip: skip, until_ns });
        let message = VoteMessage::Vote { op, live: live.clone(), skip, left_ns };
        if leader == self.rank {
            self.handle_message(now_ns, leader, message);
        } else {
            self.outgoing.push_back((leader, message));
        }
    }

    /// Handles a message from rank `from`.
    pub fn handle_message(&mut self, now_ns: u64, from: usize, message: VoteMessage) {
        let is_decided = |op: u32| self.decisions.range((op, 0)..=(op, usize::MAX)).next().is_some();
        let is_known = |op: &u32| self.ballots.contains_key(op) || is_decided(*op);
        let has_room = self.ballots.len() + self.decisions.len() < OPS_MAX as usize;
        let is_near = |op: u32| self.next.map_or(has_room || is_known(&op), |next| op.wrapping_sub(next) < OPS_MAX);
        match message {
            VoteMessage::Decision { op, skip } if is_near(op) => drop(self.decisions.insert((op, from), skip)),
            VoteMessage::Decision { .. } => {}
            VoteMessage::Vote { op, live, skip, left_ns } => {
                if skip {
                    self.last_skips.insert(from);
                } else {
                    self.last_skips.remove(from);
                }
                let is_mine = live.iter().next() == Some(self.rank) && live.contains(from);
                if is_mine && is_near(op) && !self.decisions.contains_key(&(op, self.rank)) {
                    let deadline_ns = now_ns.saturating_add(left_ns).saturating_add(self.params.leader_ns);
                    let heard = Ranks::of_words(vec![0; live.words().len()]);
                    let ballot = Ballot { live, heard, skip: false, deadline_ns };
                    let ballot = self.ballots.entry(op).or_insert(ballot);
                    ballot.heard.insert(from);
                    ballot.skip |= skip;
                }
            }
        }
        self.handle_timeout(now_ns);
    }

    /// Decides the collectives that are due.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        if self.next.is_none() {
            return;
        }
        let is_due = |ballot: &Ballot| ballot.heard.is_superset(&ballot.live) || now_ns >= ballot.deadline_ns;
        for (op, ballot) in self.ballots.extract_if(.., |_, ballot| is_due(ballot)) {
            let mut silent = ballot.live.iter().filter(|rank| !ballot.heard.contains(*rank));
            let skip = ballot.skip || silent.any(|rank| self.last_skips.contains(rank));
            self.decisions.insert((op, self.rank), skip);
            let others = ballot.live.iter().filter(|rank| *rank != self.rank);
            self.outgoing.extend(others.map(|to| (to, VoteMessage::Decision { op, skip })));
        }
    }

    /// Returns the outcome for the update of the last vote, once it is decided.
    pub fn decided(&mut self, now_ns: u64) -> Option<Decided> {
        self.handle_timeout(now_ns);
        let Waiting { op, leader, own_skip, until_ns } = self.waiting?;
        let decided = match self.decisions.get(&(op, leader)) {
            Some(skip) => Decided { skip: *skip, agreed: true },
            None if now_ns >= until_ns => Decided { skip: own_skip, agreed: false },
            None => return None,
        };
        self.waiting = None;
        self.forward(op.wrapping_add(1));
        Some(decided)
    }

    /// Time at which [`handle_timeout`](Self::handle_timeout) or [`decided`](Self::decided) must be
    /// called.
    pub fn next_timeout(&self) -> Option<u64> {
        let ballots = self.ballots.values().filter(|_| self.next.is_some()).map(|ballot| ballot.deadline_ns);
        ballots.chain(self.waiting.map(|waiting| waiting.until_ns)).min()
    }

    /// Returns the next message to send, with its receiver.
    pub fn poll(&mut self) -> Option<(usize, VoteMessage)> {
        self.outgoing.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optireduce_contract::signs::splitmix64;

    const PARAMS: VoteParams = VoteParams { leader_ns: 1000, others_ns: 10_000 };

    /// Runs collectives with message latencies up to `delay_ns`. A rank votes `judge(op, rank)`
    /// after the start (`None`: never). Returns decisions and their latencies.
    fn run(
        ranks: usize,
        ops: u32,
        delay_ns: impl Fn(u64) -> u64,
        judge: impl Fn(u32, usize) -> Option<u64>,
        skip: impl Fn(u32, usize) -> bool,
    ) -> Vec<Vec<Option<(Decided, u64)>>> {
        let live = Ranks::all(ranks);
        let mut machines: Vec<_> = (0..ranks).map(|rank| Votes::new(rank, ranks, PARAMS)).collect();
        let mut found = vec![vec![None; ranks]; ops as usize];
        let (mut sent, mut now_ns) = (0, 0);
        for op in 0..ops {
            let begin_ns = now_ns + 1;
            let at_ns: Vec<_> = (0..ranks).map(|rank| judge(op, rank).map(|after| begin_ns + after)).collect();
            let mut judged = vec![false; ranks];
            let mut in_flight: BTreeMap<(u64, u64), (usize, usize, VoteMessage)> = BTreeMap::new();
            while found[op as usize].iter().zip(&at_ns).any(|(found, at)| found.is_none() && at.is_some()) {
                for rank in 0..ranks {
                    let machine = &mut machines[rank];
                    if !judged[rank] && at_ns[rank].is_some_and(|at_ns| now_ns >= at_ns) {
                        judged[rank] = true;
                        machine.cast(now_ns, op, &live, skip(op, rank), 0);
                    }
                    if let Some(decided) = machine.decided(now_ns) {
                        found[op as usize][rank] = Some((decided, now_ns - at_ns[rank].unwrap()));
                    }
                    while let Some((to, message)) = machine.poll() {
                        assert_ne!(to, rank);
                        sent += 1;
                        in_flight.insert((now_ns + 1 + delay_ns(sent), sent), (rank, to, message));
                    }
                }
                now_ns += 1;
                while let Some(entry) = in_flight.first_entry().filter(|entry| entry.key().0 <= now_ns) {
                    let (from, to, message) = entry.remove();
                    machines[to].handle_message(now_ns, from, message);
                }
            }
        }
        found
    }

    #[test]
    fn all_ranks_decide_the_same_and_skip_if_any_would() {
        for seed in 0..200 {
            let draw = |of: u64, below: u64| splitmix64(seed << 32 | of) % below;
            let ranks = 2 + draw(0, 6) as usize;
            let skips = |op: u32, rank: usize| draw(1000 + u64::from(op) * 64 + rank as u64, 10) == 0;
            let judge = |op: u32, rank: usize| Some(draw(5000 + u64::from(op) * 64 + rank as u64, 300));
            for (op, found) in run(ranks, 6, |of| draw(9000 + of, 300), judge, skips).iter().enumerate() {
                let skip = (0..ranks).any(|rank| skips(op as u32, rank));
                for (rank, found) in found.iter().enumerate() {
                    let (decided, _) = found.unwrap();
                    assert_eq!(decided, Decided { skip, agreed: true }, "seed {seed}, collective {op}, rank {rank}");
                }
            }
        }
    }

    #[test]
    fn a_hundred_ranks_skip_if_the_last_of_them_would() {
        for rank_that_skips in [0, 63, 64, 99] {
            let found = run(100, 2, |of| of % 300, |_, _| Some(0), |op, rank| op == 1 && rank == rank_that_skips);
            for (op, found) in found.iter().enumerate() {
                let expected = Decided { skip: op == 1, agreed: true };
                assert_eq!(found.len(), 100);
                let all = found.iter().all(|found| found.unwrap().0 == expected);
                assert!(all, "collective {op}, rank {rank_that_skips} would skip: {found:?}");
            }
        }
    }

    #[test]
    fn a_silent_rank_costs_a_wait_and_counts_as_the_last_time() {
        for (silent, leader) in [(2, 0), (0, 1)] {
            let judge = |op, rank| Some(if op == 1 && rank == silent { 50_000 } else { 0 });
            let found = run(3, 3, |_| 5, judge, |op, rank| op == 0 && rank == silent);
            for (op, found) in found.iter().enumerate() {
                for (rank, found) in found.iter().enumerate() {
                    let (decided, took_ns) = found.unwrap();
                    let what = format!("collective {op}, rank {rank}, {silent} is silent");
                    assert_eq!(decided, Decided { skip: op < 2, agreed: true }, "{what}");
                    let late = op == 1 && rank == silent;
                    let expected = if op == 1 && !late { PARAMS.leader_ns } else { 0 };
                    assert!((expected..expected + 30).contains(&took_ns), "{what}: {took_ns} ns, leader {leader}");
                }
            }
        }
    }

    #[test]
    fn without_a_leader_ranks_judge_by_themselves_and_say_so() {
        let found = run(3, 1, |_| 1_000_000, |_, rank| (rank > 0).then_some(0), |_, rank| rank == 2);
        for rank in [1, 2] {
            let (decided, took_ns) = found[0][rank].unwrap();
            assert_eq!((decided, took_ns), (Decided { skip: rank == 2, agreed: false }, PARAMS.others_ns));
        }
    }

    #[test]
    fn a_leader_that_was_dropped_decides_nothing_for_those_that_go_on_without_it() {
        let mut votes = Votes::new(2, 4, PARAMS);
        let decision = |skip| VoteMessage::Decision { op: 0, skip };
        votes.handle_message(0, 0, decision(true));
        let live = Ranks::of_words(vec![0b1110]);
        votes.cast(1, 0, &live, false, 0);
        assert_eq!(votes.decided(2), None);
        votes.handle_message(3, 1, decision(false));
        assert_eq!(votes.decided(4), Some(Decided { skip: false, agreed: true }));
    }

    #[test]
    fn a_vote_waits_for_ranks_that_fetch_what_they_lost_and_has_one_deadline() {
        const FETCH_NS: u64 = 50_000;
        let live = Ranks::all(3);
        for votes in [true, false] {
            let mut ranks: Vec<Votes> = (0..3).map(|rank| Votes::new(rank, 3, PARAMS)).collect();
            let mut decided = [None; 3];
            for now_ns in 0..FETCH_NS + 2 * PARAMS.others_ns {
                let casts = [30_000, 0, if votes { FETCH_NS - 1 } else { u64::MAX }];
                for rank in (0..3).filter(|rank| casts[*rank] == now_ns) {
                    ranks[rank].cast(now_ns, 7, &live, rank == 2, FETCH_NS);
                }
                for from in 0..3 {
                    while let Some((to, message)) = ranks[from].poll() {
                        ranks[to].handle_message(now_ns, from, message);
                    }
                }
                for (one, decided) in ranks.iter_mut().zip(&mut decided) {
                    *decided = decided.or(one.decided(now_ns).map(|decided| (decided, now_ns)));
                }
            }
            let at_ns = if votes { FETCH_NS - 1 } else { FETCH_NS + PARAMS.leader_ns };
            let expected = [0, 1].map(|rank| Some((Decided { skip: votes, agreed: true }, at_ns + rank)));
            assert_eq!(decided[..2], expected, "rank 2 votes: {votes}");
            assert_eq!(decided[2].is_some(), votes);
        }
        // The time to fetch is not added again at this rank's own vote.
        let mut alone = Votes::new(1, 3, PARAMS);
        alone.cast(30_000, 7, &live, true, FETCH_NS);
        assert_eq!(alone.next_timeout(), Some(FETCH_NS + PARAMS.others_ns));
        assert_eq!(alone.decided(FETCH_NS + PARAMS.others_ns - 1), None);
        assert_eq!(alone.decided(FETCH_NS + PARAMS.others_ns), Some(Decided { skip: true, agreed: false }));
    }

    #[test]
    fn what_is_said_before_a_rank_knows_its_view_counts() {
        const OP: u32 = 70_000;
        let live = Ranks::all(3);
        let mut leader = Votes::new(0, 3, PARAMS);
        leader.join();
        for from in [1, 2] {
            let vote = VoteMessage::Vote { op: OP, live: live.clone(), skip: from == 2, left_ns: 0 };
            leader.handle_message(10, from, vote);
        }
        leader.forward(OP);
        leader.cast(20, OP, &live, false, 0);
        assert_eq!(leader.decided(20), Some(Decided { skip: true, agreed: true }));
        let mut other = Votes::new(2, 3, PARAMS);
        other.join();
        other.handle_message(10, 0, VoteMessage::Decision { op: OP, skip: true });
        other.forward(OP);
        other.cast(20, OP, &live, false, 0);
        assert_eq!(other.decided(20), Some(Decided { skip: true, agreed: true }));
        other.join();
        (0..10_000).for_each(|op| other.handle_message(10, 0, VoteMessage::Decision { op, skip: true }));
        assert_eq!(other.decisions.len(), OPS_MAX as usize);
    }

    #[test]
    fn a_leader_that_was_dropped_does_not_decide_again_what_it_has_forgotten() {
        let live = Ranks::all(3);
        let vote = |skip| VoteMessage::Vote { op: 4, live: live.clone(), skip, left_ns: 0 };
        let mut leader = Votes::new(0, 3, PARAMS);
        leader.forward(4);
        leader.cast(0, 4, &live, true, 0);
        [1, 2].into_iter().for_each(|from| leader.handle_message(0, from, vote(false)));
        assert_eq!(leader.decided(0), Some(Decided { skip: true, agreed: true }));
        while leader.poll().is_some() {}
        // The leader is dropped; the vote of rank 2 is repeated, or late.
        leader.join();
        leader.handle_message(10, 2, vote(false));
        assert_eq!(leader.next_timeout(), None);
        leader.handle_timeout(PARAMS.leader_ns + 10);
        leader.forward(21);
        leader.handle_timeout(2 * PARAMS.leader_ns);
        assert_eq!((leader.poll(), leader.ballots.len()), (None, 0));
    }

    #[test]
    fn what_makes_no_sense_is_not_counted_and_memory_is_bounded() {
        let mut leader = Votes::new(0, 6, PARAMS);
        leader.handle_message(0, 5, VoteMessage::Vote { op: 1, live: Ranks::all(2), skip: true, left_ns: 0 });
        leader.handle_message(
            0,
            5,
            VoteMessage::Vote { op: 1, live: Ranks::none(3).with([1, 2]), skip: true, left_ns: 0 },
        );
        leader.handle_message(0, 99, VoteMessage::Vote { op: 1, live: Ranks::none(3), skip: true, left_ns: 0 });
        assert_eq!((leader.next_timeout(), leader.poll()), (None, None));
        for op in 0..10_000 {
            leader.handle_message(0, 1, VoteMessage::Vote { op, live: Ranks::all(2), skip: true, left_ns: 0 });
            leader.handle_message(0, 1, VoteMessage::Decision { op: op + 20_000, skip: true });
        }
        assert_eq!((leader.ballots.len(), leader.decisions.len()), (OPS_MAX as usize, 0));
    }
}
