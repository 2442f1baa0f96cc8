//! Agreement on whether an update is applied, so that replicas do not drift apart.
//!
//! Why: every rank judges a collective by what came to it; what one skips, another may apply.
//! Each rank tells the leader, the lowest rank that takes part, over a reliable channel. The leader decides once it has heard
//! all, or a while after it has heard the first: if any rank would skip, all do. A rank that is silent counts as the last time.
//! The leader decides also while its own trainer is late.
//! Limits: a rank to which the decision does not come in time judges by itself and says so; then ranks may differ.
//! Source: ours; OptiReduce 3.4 leaves it open.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

/// Messages are heeded of so many collectives, from the next one on.
const OPS_MAX: u32 = 256;

/// What ranks tell one another about the update of collective `op`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VerdictMessage {
    /// To the leader: whether the sender would skip it.
    Verdict {
        /// Collective number.
        op: u32,
        /// Ranks that take part: bit r for rank r.
        live: u64,
        /// Whether too much was lost.
        skip: bool,
    },
    /// From the leader: whether all skip it.
    Decision {
        /// Collective number.
        op: u32,
        /// Whether all skip it.
        skip: bool,
    },
}

/// What becomes of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    /// Whether it is skipped.
    pub skip: bool,
    /// Whether the leader said so. `false`: this rank by itself.
    pub agreed: bool,
}

/// How long ranks wait for one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerdictParams {
    /// How long the leader waits for the others after the first.
    pub leader_ns: u64,
    /// How long the others wait for the leader; longer than `leader_ns`, since it may finish later than they do.
    pub others_ns: u64,
}

/// One rank's part in the agreements. Reliable messages in any order; times on the caller's clock.
#[derive(Clone, Debug)]
pub struct Verdicts {
    rank: usize,
    params: VerdictParams,
    /// The next collective that this rank judges, or waits for.
    next: u32,
    /// Bit r: rank r would have skipped the last time.
    last_skips: u64,
    /// At the leader: what was heard of collectives that are not decided.
    ballots: BTreeMap<u32, Ballot>,
    decisions: BTreeMap<u32, bool>,
    /// The collective that this rank waits for: number, own verdict, until when.
    waiting: Option<(u32, bool, u64)>,
    outgoing: VecDeque<(usize, VerdictMessage)>,
}

#[derive(Clone, Copy, Debug)]
struct Ballot {
    live: u64,
    heard: u64,
    skips: u64,
    deadline_ns: u64,
}

impl Verdicts {
    /// Rank `rank`'s part.
    pub fn new(rank: usize, params: VerdictParams) -> Self {
        Self {
            rank,
            params,
            next: 0,
            last_skips: 0,
            ballots: BTreeMap::new(),
            decisions: BTreeMap::new(),
            waiting: None,
            outgoing: VecDeque::new(),
        }
    }

    /// The next collective that this rank judges is `op`.
    pub fn forward(&mut self, op: u32) {
        self.next = op;
        let is_near = |of: &u32| of.wrapping_sub(op) < OPS_MAX;
        self.ballots.retain(|of, _| is_near(of));
        self.decisions.retain(|of, _| is_near(of));
    }

    /// Collective `op` has finished on this rank, among the ranks in `live` (bit r: rank r): whether too much was lost.
    /// To be called once for each, in order, after the one before was decided.
    pub fn judge(&mut self, now_ns: u64, op: u32, live: u64, skip: bool) {
        self.forward(op);
        self.waiting = Some((op, skip, now_ns.saturating_add(self.params.others_ns)));
        let (leader, message) = (live.trailing_zeros() as usize, VerdictMessage::Verdict { op, live, skip });
        if leader == self.rank {
            self.handle_message(now_ns, leader, message);
        } else {
            self.outgoing.push_back((leader, message));
        }
    }

    /// Takes a message of rank `from`, below 64.
    pub fn handle_message(&mut self, now_ns: u64, from: usize, message: VerdictMessage) {
        let is_near = |op: u32| op.wrapping_sub(self.next) < OPS_MAX;
        match message {
            VerdictMessage::Decision { op, skip } if is_near(op) => drop(self.decisions.insert(op, skip)),
            VerdictMessage::Decision { .. } => {}
            VerdictMessage::Verdict { op, live, skip } => {
                let bit = 1 << (from % 64);
                self.last_skips = if skip { self.last_skips | bit } else { self.last_skips & !bit };
                // A late verdict was counted as the last time, and its sender has the decision.
                let is_mine = live.trailing_zeros() as usize == self.rank && live & bit != 0;
                if is_mine && is_near(op) && !self.decisions.contains_key(&op) {
                    let deadline_ns = now_ns.saturating_add(self.params.leader_ns);
                    let ballot = Ballot { live, heard: 0, skips: 0, deadline_ns };
                    let ballot = self.ballots.entry(op).or_insert(ballot);
                    ballot.heard |= bit;
                    ballot.skips |= u64::from(skip) * bit;
                }
            }
        }
        self.handle_timeout(now_ns);
    }

    /// Decides what is due.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        let last_skips = self.last_skips;
        let is_due = |ballot: &Ballot| ballot.live & !ballot.heard == 0 || now_ns >= ballot.deadline_ns;
        for (op, ballot) in self.ballots.extract_if(.., |_, ballot| is_due(ballot)) {
            let skip = ballot.skips | last_skips & ballot.live & !ballot.heard != 0;
            self.decisions.insert(op, skip);
            let others = (0..64).filter(|rank| ballot.live >> rank & 1 == 1 && *rank != self.rank);
            self.outgoing.extend(others.map(|to| (to, VerdictMessage::Decision { op, skip })));
        }
    }

    /// What becomes of the update that this rank waits for, once that is known.
    pub fn decided(&mut self, now_ns: u64) -> Option<Decided> {
        self.handle_timeout(now_ns);
        let (op, own, until_ns) = self.waiting?;
        let decided = match self.decisions.get(&op) {
            Some(skip) => Decided { skip: *skip, agreed: true },
            None if now_ns >= until_ns => Decided { skip: own, agreed: false },
            None => return None,
        };
        self.waiting = None;
        self.forward(op.wrapping_add(1));
        Some(decided)
    }

    /// When [`handle_timeout`](Self::handle_timeout) or [`decided`](Self::decided) has something to say at the latest.
    pub fn next_timeout(&self) -> Option<u64> {
        let ballots = self.ballots.values().map(|ballot| ballot.deadline_ns);
        ballots.chain(self.waiting.map(|(.., until_ns)| until_ns)).min()
    }

    /// The next message to send, and to whom.
    pub fn poll(&mut self) -> Option<(usize, VerdictMessage)> {
        self.outgoing.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optireduce_contract::signs::splitmix64;

    const PARAMS: VerdictParams = VerdictParams { leader_ns: 1000, others_ns: 10_000 };

    /// Runs collectives among ranks whose messages take up to `delay_ns`, and which judge at `judge(op, rank)` (`None`:
    /// never) with `skip(op, rank)`; what each decides, by collective and rank, and when.
    fn run(
        ranks: usize,
        ops: u32,
        delay_ns: impl Fn(u64) -> u64,
        judge: impl Fn(u32, usize) -> Option<u64>,
        skip: impl Fn(u32, usize) -> bool,
    ) -> Vec<Vec<Option<(Decided, u64)>>> {
        let live = (1u64 << ranks) - 1;
        let mut machines: Vec<_> = (0..ranks).map(|rank| Verdicts::new(rank, PARAMS)).collect();
        let mut found = vec![vec![None; ranks]; ops as usize];
        let (mut sent, mut now_ns) = (0, 0);
        for op in 0..ops {
            let begin_ns = now_ns + 1;
            let at_ns: Vec<_> = (0..ranks).map(|rank| judge(op, rank).map(|after| begin_ns + after)).collect();
            let mut judged = vec![false; ranks];
            let mut in_flight: BTreeMap<(u64, u64), (usize, usize, VerdictMessage)> = BTreeMap::new();
            while found[op as usize].iter().zip(&at_ns).any(|(found, at)| found.is_none() && at.is_some()) {
                for rank in 0..ranks {
                    let machine = &mut machines[rank];
                    if !judged[rank] && at_ns[rank].is_some_and(|at_ns| now_ns >= at_ns) {
                        judged[rank] = true;
                        machine.judge(now_ns, op, live, skip(op, rank));
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
    fn a_silent_rank_costs_a_wait_and_counts_as_the_last_time() {
        for (silent, leader) in [(2, 0), (0, 1)] {
            // Rank `silent` would skip the first update, and comes to the second one late.
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
        // The leader's messages never arrive.
        let found = run(3, 1, |_| 1_000_000, |_, rank| (rank > 0).then_some(0), |_, rank| rank == 2);
        for rank in [1, 2] {
            let (decided, took_ns) = found[0][rank].unwrap();
            assert_eq!((decided, took_ns), (Decided { skip: rank == 2, agreed: false }, PARAMS.others_ns));
        }
    }

    #[test]
    fn what_makes_no_sense_is_not_counted_and_memory_is_bounded() {
        let mut leader = Verdicts::new(0, PARAMS);
        // Of a rank that takes no part, and for a leader that this rank is not.
        leader.handle_message(0, 5, VerdictMessage::Verdict { op: 1, live: 0b11, skip: true });
        leader.handle_message(0, 5, VerdictMessage::Verdict { op: 1, live: 0b110, skip: true });
        leader.handle_message(0, 99, VerdictMessage::Verdict { op: 1, live: 0, skip: true });
        assert_eq!((leader.next_timeout(), leader.poll()), (None, None));
        for op in 0..10_000 {
            leader.handle_message(0, 1, VerdictMessage::Verdict { op, live: 0b11, skip: true });
            leader.handle_message(0, 1, VerdictMessage::Decision { op: op + 20_000, skip: true });
        }
        assert_eq!((leader.ballots.len(), leader.decisions.len()), (OPS_MAX as usize, 0));
    }
}
