//! The schedule of Transpose AllReduce: who talks to whom in which round.
//!
//! Why: in each round a rank receives from at most `incast` peers, so that no port is overrun, and over the rounds of a
//! stage every pair meets exactly once. In slot k (1 to ranks - 1) rank r sends to (r + k) mod N and receives from
//! (r - k) mod N; a round is `incast` consecutive slots.
//! Limits: the card sends in this order of k, without waiting for rounds; a software data plane paces by round.
//! Source: OptiReduce 3.2.2 (rounds), appendix A (2D). The pairing is ours.

/// Whom a rank sends to and receives from at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// Peer to send to.
    pub send_to: usize,
    /// Peer to receive from.
    pub receive_from: usize,
}

/// Rounds of one stage with `incast` senders per receiver: ceil((ranks - 1) / incast). An incast of 0 counts as 1.
pub fn rounds_per_stage(ranks: usize, incast: usize) -> usize {
    ranks.saturating_sub(1).div_ceil(incast.max(1))
}

/// Rounds of a collective: both stages.
pub fn rounds(ranks: usize, incast: usize) -> usize {
    2 * rounds_per_stage(ranks, incast)
}

/// Rounds of a 2D collective of `groups` groups at incast 1: contribute and broadcast inside a group, and between them
/// the exchange of equal ranks among the groups. `None` unless the groups are of equal size.
pub fn rounds_2d(ranks: usize, groups: usize) -> Option<usize> {
    if groups == 0 || ranks == 0 || !ranks.is_multiple_of(groups) {
        return None;
    }
    Some(2 * (ranks / groups - 1) + (groups - 1))
}

/// The pairings of `rank` in round `round` (0 based) of a stage; empty after the last round.
pub fn peers_in_round(rank: usize, ranks: usize, incast: usize, round: usize) -> impl Iterator<Item = Pairing> {
    let first = round.saturating_mul(incast.max(1)).saturating_add(1);
    let end = first.saturating_add(incast.max(1)).min(ranks);
    (first..end).map(move |k| Pairing { send_to: (rank + k) % ranks, receive_from: (rank + ranks - k) % ranks })
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
}
