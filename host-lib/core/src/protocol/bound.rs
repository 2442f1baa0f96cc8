//! The bound t_B on a receive stage.
//!
//! Why: one slow peer must not hold up a whole stage.
//! The job's first collectives run over a reliable transport on the largest bucket; all ranks' times of both stages are
//! pooled, and t_B is their 95th percentile. It is measured again when the ranks change, or when over 5 % of the last 100
//! stages ran into it.
//! Limits: the card takes 32 bits of ns (4.29 s); `JobParams::check` refuses more.
//! Source: OptiReduce 3.2.1. When to measure again is ours.

use thiserror::Error;

use super::types::{ClosedBy, Stage};

/// Warm-up runs that every node must have timed.
pub const RUNS_MIN: usize = 20;

/// A node timed too few warm-up runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("node {node} sent {found} stage times, expected at least {expected}: both stages of {RUNS_MIN} warm-up runs")]
pub struct TooFewSamples {
    /// The node, or how many nodes there are if there is none at all.
    pub node: usize,
    /// Stage times it sent.
    pub found: usize,
    /// Stage times it must send.
    pub expected: usize,
}

/// Picks t_B: the 95th percentile (nearest rank) of the warm-up times, in ns.
///
/// `stage_ns`: for each node the times of both stages of at least [`RUNS_MIN`] warm-up runs (40 times), in any order.
///
/// # Errors
/// [`TooFewSamples`] names the first node that sent fewer.
pub fn bound_from_warmup(stage_ns: &[Vec<u64>]) -> Result<u64, TooFewSamples> {
    let expected = RUNS_MIN * Stage::ALL.len();
    if let Some((node, times)) = stage_ns.iter().enumerate().find(|(_, times)| times.len() < expected) {
        return Err(TooFewSamples { node, found: times.len(), expected });
    }
    let mut pooled = stage_ns.concat();
    pooled.sort_unstable();
    let rank = (pooled.len() * 95).div_ceil(100);
    pooled.get(rank.wrapping_sub(1)).copied().ok_or(TooFewSamples { node: 0, found: 0, expected })
}

/// Stages that [`BoundWatch`] remembers.
const WATCHED_STAGES: u32 = 100;
/// How many of them may run into the bound: 5 %.
const HITS_MAX: u32 = 5;

/// Says when t_B must be measured again, as seen by one rank. All ranks must measure at the same collective: see
/// [`Control`](super::Control).
#[derive(Clone, Debug, Default)]
pub struct BoundWatch {
    /// The last stages, newest in bit 0: whether they ran into the bound.
    hits: u128,
}

impl BoundWatch {
    /// Takes how a stage of a collective closed.
    pub fn observe(&mut self, closed_by: ClosedBy) {
        let hit = u128::from(closed_by == ClosedBy::Deadline);
        self.hits = (self.hits << 1 | hit) & ((1 << WATCHED_STAGES) - 1);
    }

    /// Whether t_B must be measured again.
    pub fn must_measure(&self) -> bool {
        self.hits.count_ones() > HITS_MAX
    }

    /// t_B was measured again: forgets the stages before.
    pub fn measured(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_five_of_the_last_hundred_stages_call_for_a_new_bound() {
        let mut watch = BoundWatch::default();
        let mut run = |stages: u32, closed_by| {
            (0..stages).for_each(|_| watch.observe(closed_by));
            watch.must_measure()
        };
        assert!(!run(5, ClosedBy::Deadline));
        assert!(!run(95, ClosedBy::Early));
        assert!(!run(1, ClosedBy::Deadline), "the first of the five is 100 stages back");
        assert!(!run(3, ClosedBy::Complete));
        assert!(!run(4, ClosedBy::Deadline));
        assert!(run(1, ClosedBy::Deadline), "six of the last hundred");
        assert!(run(91, ClosedBy::Complete));
        assert!(!run(1, ClosedBy::Complete));
    }

    #[test]
    fn once_measured_the_stages_before_are_forgotten() {
        let mut watch = BoundWatch::default();
        (0..6).for_each(|_| watch.observe(ClosedBy::Deadline));
        assert!(watch.must_measure());
        watch.measured();
        assert!(!watch.must_measure());
        (0..5).for_each(|_| watch.observe(ClosedBy::Deadline));
        assert!(!watch.must_measure());
    }

    #[test]
    fn bound_is_the_nearest_rank_of_the_pooled_times() {
        // 80 pooled times 1..=80 in two nodes, shuffled by a stride: ceil(0.95 * 80) = 76th smallest.
        let times: Vec<u64> = (0..80).map(|i| 1 + i * 37 % 80).collect();
        assert_eq!(bound_from_warmup(&[times[..40].to_vec(), times[40..].to_vec()]), Ok(76));
        // 41 and 40 times: ceil(0.95 * 81) = ceil(76.95) = 77th smallest of 1..=81.
        let more: Vec<u64> = (1..=81).rev().collect();
        assert_eq!(bound_from_warmup(&[more[..41].to_vec(), more[41..].to_vec()]), Ok(77));
    }

    #[test]
    fn one_slow_node_of_many_does_not_set_the_bound() {
        let mut nodes = vec![vec![100; 40]; 24];
        nodes.push(vec![1_000_000; 40]); // 4 % of the samples
        assert_eq!(bound_from_warmup(&nodes), Ok(100));
    }

    #[test]
    fn nodes_with_too_few_runs_are_named() {
        let error = bound_from_warmup(&[vec![1; 40], vec![1; 39]]).unwrap_err();
        assert_eq!(error, TooFewSamples { node: 1, found: 39, expected: 40 });
        assert!(bound_from_warmup(&[]).is_err());
        assert!(bound_from_warmup(&[vec![]]).is_err());
    }
}
