//! Schedule of Transpose AllReduce: the peers of each rank in each round.
//!
//! In each round a rank receives from at most `incast` peers, so that no port is overrun; in a
//! stage every pair meets exactly once. In slot k (1 to N - 1), rank r sends to (r + k) mod N and
//! receives from (r - k) mod N. A round is `incast` consecutive slots. The card sends in the order
//! of k without waiting for rounds.
//!
//! In 2D ([`Rounds2d`], at incast 1) the ranks form groups with one shard per member, which takes
//! fewer rounds. Ranks contribute within their group, equal members of all groups exchange the
//! sums, and the mean is broadcast within each group. No data plane runs the exchange, since
//! replicas would diverge under loss: see ARCHITECTURE.md.
//!
//! Source: OptiReduce 3.2.2 (rounds), appendix A (2D). The pairing is ours.

use optireduce_contract::rules::send;

/// Peers of a rank in one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Pairing {
    pub send_to: usize,
    pub receive_from: usize,
}

/// Number of rounds of one stage: ceil((ranks - 1) / incast). An incast of 0 counts as 1.
pub fn rounds_per_stage(ranks: usize, incast: usize) -> usize {
    send::rounds(ranks, incast)
}

/// Number of rounds of a collective (both stages).
pub fn rounds(ranks: usize, incast: usize) -> usize {
    2 * rounds_per_stage(ranks, incast)
}

/// Number of rounds of a 2D collective at incast 1; `None` unless `groups` divides `ranks`.
pub fn rounds_2d(ranks: usize, groups: usize) -> Option<usize> {
    if groups == 0 || ranks == 0 || !ranks.is_multiple_of(groups) {
        return None;
    }
    Some(2 * (ranks / groups - 1) + (groups - 1))
}

/// Stages of a 2D collective, numbered as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage2d {
    /// Ranks send shards to the owners in their group, which sum them.
    Contribute = 0,
    /// Owners of the same shard exchange the sums of their groups.
    InterGroup = 1,
    /// Owners send the mean of their shard to their group.
    Broadcast = 2,
}

/// Transfers of a rank in one round of a 2D collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // described above
pub struct Exchange2d {
    pub stage: Stage2d,
    pub peers: Pairing,
    /// Shard of this rank's values (contribute), of its group's sum (inter-group), or of the mean.
    pub send_shard: usize,
    pub receive_shard: usize,
}

/// Schedule of a 2D collective. Rank r is member r mod M of group r / M, with M = ranks / groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds2d {
    ranks: usize,
    groups: usize,
}

impl Rounds2d {
    /// `None` unless `groups` divides `ranks`.
    pub fn new(ranks: usize, groups: usize) -> Option<Self> {
        rounds_2d(ranks, groups).map(|_| Self { ranks, groups })
    }

    /// Number of ranks per group, and of shards of a bucket.
    pub fn members(&self) -> usize {
        self.ranks / self.groups
    }

    /// Number of rounds of a collective.
    pub fn count(&self) -> usize {
        2 * (self.members() - 1) + (self.groups - 1)
    }

    /// Shard that `rank` owns in collective `op`, as do its equals in other groups.
    pub fn shard_of(&self, rank: usize, op: u32) -> usize {
        (rank % self.members() + op as usize % self.members()) % self.members()
    }

    /// Transfers of `rank` in `round` (from 0) of collective `op`; `None` after the last round.
    pub fn exchange(&self, rank: usize, round: usize, op: u32) -> Option<Exchange2d> {
        let (ranks, members) = (self.ranks, self.members());
        if rank >= ranks || round >= self.count() {
            return None;
        }
        let (group_start, member) = (rank - rank % members, rank % members);
        let in_group = |k: usize| Pairing {
            send_to: group_start + (member + k) % members,
            receive_from: group_start + (member + members - k) % members,
        };
        let own = self.shard_of(rank, op);
        let (contribute, inter_group) = (members - 1, self.groups - 1);
        Some(if round < contribute {
            let peers = in_group(round + 1);
            let send_shard = self.shard_of(peers.send_to, op);
            Exchange2d { stage: Stage2d::Contribute, peers, send_shard, receive_shard: own }
        } else if round < contribute + inter_group {
            let stride = (round - contribute + 1) * members;
            let peers = Pairing { send_to: (rank + stride) % ranks, receive_from: (rank + ranks - stride) % ranks };
            Exchange2d { stage: Stage2d::InterGroup, peers, send_shard: own, receive_shard: own }
        } else {
            let peers = in_group(round - contribute - inter_group + 1);
            let receive_shard = self.shard_of(peers.receive_from, op);
            Exchange2d { stage: Stage2d::Broadcast, peers, send_shard: own, receive_shard }
        })
    }
}

/// Pairings of `rank` in `round` (from 0) of a stage; empty after the last round.
pub fn peers_in_round(rank: usize, ranks: usize, incast: usize, round: usize) -> impl Iterator<Item = Pairing> {
    send::peers_in_round(rank, ranks, incast, round).map(move |send_to| {
        let slot = (send_to + ranks - rank) % ranks;
        Pairing { send_to, receive_from: (rank + ranks - slot) % ranks }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_eight_ranks_as_in_the_paper() {
        // OptiReduce 3.2.2, N = 8.
        assert_eq!(rounds(8, 1), 14);
        assert_eq!(rounds(8, 2), 8);
        assert_eq!(rounds(8, 4), 4);
    }

    #[test]
    fn rounds_of_64_ranks_in_16_groups_as_in_the_paper() {
        // OptiReduce appendix A, N = 64, G = 16.
        assert_eq!(rounds_2d(64, 16), Some(21));
        assert_eq!(rounds(64, 1), 126);
        assert_eq!(rounds_2d(64, 5), None);
        assert_eq!(rounds_2d(64, 0), None);
    }

    #[test]
    fn pairs_never_repeat_within_a_stage_and_every_pair_meets() {
        for (ranks, incast) in (2..=33).flat_map(|ranks| (1..=8).map(move |incast| (ranks, incast))) {
            let case = format!("{ranks} ranks, incast {incast}");
            let mut met = vec![0; ranks * ranks];
            for round in 0..rounds_per_stage(ranks, incast) {
                let mut senders = vec![0; ranks];
                for rank in 0..ranks {
                    for Pairing { send_to, .. } in peers_in_round(rank, ranks, incast, round) {
                        met[rank * ranks + send_to] += 1;
                        senders[send_to] += 1;
                        let mut mirror = peers_in_round(send_to, ranks, incast, round);
                        assert!(
                            mirror.any(|other| other.receive_from == rank),
                            "{case}: {send_to} does not expect {rank}"
                        );
                    }
                }
                assert!(senders.iter().all(|count| *count <= incast), "{case}, round {round}: {senders:?}");
            }
            let once_each = (0..ranks * ranks).map(|pair| usize::from(pair / ranks != pair % ranks));
            assert!(met.into_iter().eq(once_each), "{case}: a pair met never or twice");
            assert_eq!(peers_in_round(0, ranks, incast, rounds_per_stage(ranks, incast)).count(), 0, "{case}");
        }
    }

    #[test]
    fn the_paper_counts_21_rounds_of_64_ranks_in_16_groups() {
        // OptiReduce appendix A: 3 + 15 + 3.
        let rounds = Rounds2d::new(64, 16).unwrap();
        let stages: Vec<_> = (0..).map_while(|round| rounds.exchange(17, round, 0)).map(|one| one.stage).collect();
        let count = |stage| stages.iter().filter(|one| **one == stage).count();
        assert_eq!((rounds.count(), stages.len()), (21, 21));
        assert_eq!([Stage2d::Contribute, Stage2d::InterGroup, Stage2d::Broadcast].map(count), [3, 15, 3]);
        assert!(stages.is_sorted());
        assert_eq!((Rounds2d::new(64, 5), Rounds2d::new(64, 0), Rounds2d::new(0, 1)), (None, None, None));
        assert_eq!(rounds.exchange(64, 0, 0), None);
    }

    /// Runs the schedule symbolically. Returns how often each rank's value is in each held shard,
    /// as `[rank][shard][contributor]`.
    fn symbolic_run(rounds: &Rounds2d, op: u32) -> Vec<Vec<Vec<u32>>> {
        let (ranks, members) = (rounds.ranks, rounds.members());
        let own = |rank| (0..ranks).map(|of| u32::from(of == rank)).collect::<Vec<_>>();
        let add = |sum: &mut [u32], more: &[u32]| sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        // Ranks send the values that they held at the start of the stage.
        let mut held: Vec<Vec<_>> = (0..ranks).map(|rank| vec![own(rank); members]).collect();
        let mut at_start = held.clone();
        let mut stage = Stage2d::Contribute;
        for round in 0..rounds.count() {
            let exchanges: Vec<_> = (0..ranks).map(|rank| rounds.exchange(rank, round, op).unwrap()).collect();
            if exchanges[0].stage != stage {
                stage = exchanges[0].stage;
                at_start = held.clone();
            }
            for (rank, exchange) in exchanges.iter().enumerate() {
                let from = exchange.peers.receive_from;
                let sender = &exchanges[from];
                assert!(from != rank && sender.peers.send_to == rank, "round {round}: {from} does not send to {rank}");
                assert_eq!((sender.stage, sender.send_shard), (stage, exchange.receive_shard), "round {round}");
                let received = &at_start[from][exchange.receive_shard];
                match stage {
                    Stage2d::Broadcast => held[rank][exchange.receive_shard] = received.clone(),
                    _ => add(&mut held[rank][exchange.receive_shard], received),
                }
            }
        }
        held
    }

    #[test]
    fn after_all_2d_rounds_every_rank_has_every_shard_of_all_ranks_once() {
        for ranks in 1..=24 {
            for groups in (1..=ranks).filter(|groups| ranks % groups == 0) {
                let rounds = Rounds2d::new(ranks, groups).unwrap();
                for op in [0, 1, 7, u32::MAX] {
                    let held = symbolic_run(&rounds, op);
                    let complete = held.iter().flatten().flatten().all(|count| *count == 1);
                    assert!(complete, "{ranks} ranks, {groups} groups, collective {op}: {held:?}");
                }
            }
        }
        assert!(symbolic_run(&Rounds2d::new(64, 16).unwrap(), 5).iter().flatten().flatten().all(|count| *count == 1));
    }

    #[test]
    fn a_2d_rank_meets_a_peer_at_most_once_a_stage_and_ownership_rotates() {
        let rounds = Rounds2d::new(24, 4).unwrap();
        for rank in 0..24 {
            let mut met: Vec<_> = (0..rounds.count())
                .map(|round| rounds.exchange(rank, round, 3).unwrap())
                .map(|one| (one.stage as usize, one.peers.send_to))
                .collect();
            met.sort_unstable();
            met.dedup();
            assert_eq!(met.len(), rounds.count(), "rank {rank}");
            assert_eq!(rounds.shard_of(rank, 8), (rounds.shard_of(rank, 7) + 1) % 6, "rank {rank}");
        }
    }
}
