//! The early timeout t_C and the grace time: the wait for outstanding packets after the marks of
//! all peers.
//!
//! Without it, each lost packet costs its stage the whole bound t_B. t_C follows the stage times of
//! all ranks. The grace time is x percent of t_C, and x follows the loss.
//!
//! Source: OptiReduce 3.2.1. Ours: the minimum of x, late packets instead of losses where known,
//! t_B as the first t_C, and the handling of silent ranks.

use std::collections::BTreeMap;

use optireduce_contract::packet::TIMEOUT_UNIT_NS;

use super::types::Stage;

/// Start and limits of x, in percent.
const X_START: u32 = 10;
const X_MIN: u32 = 1;
const X_MAX: u32 = 50;
/// Loss above which x doubles.
const LOSS_HIGH: f64 = 0.001;
/// Loss below which x falls by one point.
const LOSS_LOW: f64 = 0.0001;

const T_C_START_MAX_NS: u64 = 50_000_000;

/// t_C controllers of all buckets and stages of one rank.
#[derive(Clone, Debug)]
pub struct EarlyController {
    bound_ns: u64,
    states: BTreeMap<(u16, usize), State>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    x_percent: u32,
    t_c_ns: u64,
}

impl EarlyController {
    /// Creates controllers with x = 10 % and t_C = `bound_ns` (t_B), but at most 50 ms, since an
    /// unmeasured bound is very long.
    pub fn new(bound_ns: u64) -> Self {
        Self { bound_ns, states: BTreeMap::new() }
    }

    /// Grace time of the next stage, in ns.
    pub fn grace_ns(&self, bucket: u16, stage: Stage) -> u64 {
        let state = self.state(bucket, stage);
        let grace = u128::from(state.t_c_ns) * u128::from(state.x_percent) / 100;
        grace.min(self.bound_ns.into()) as u64
    }

    /// x in percent, 1 to 50.
    pub fn x_percent(&self, bucket: u16, stage: Stage) -> u32 {
        self.state(bucket, stage).x_percent
    }

    /// t_C in ns.
    pub fn t_c_ns(&self, bucket: u16, stage: Stage) -> u64 {
        self.state(bucket, stage).t_c_ns
    }

    /// Adds a closed stage. `loss`: loss at this rank, 0 to 1; where known, only of packets that
    /// arrived after the close, since waiting recovers no others. `samples_16us`: stage time of
    /// each rank of the view, 0 if unknown. If fewer than half are known, t_C does not change.
    pub fn observe(&mut self, bucket: u16, stage: Stage, loss: f64, samples_16us: &[u16]) {
        let mut state = self.state(bucket, stage);
        if loss < LOSS_LOW {
            state.x_percent = (state.x_percent - 1).max(X_MIN);
        } else if loss.is_nan() || loss > LOSS_HIGH {
            state.x_percent = (state.x_percent * 2).min(X_MAX);
        }
        if let Some(median_ns) = median_ns(samples_16us) {
            state.t_c_ns = ((u128::from(median_ns) * 95 + u128::from(state.t_c_ns) * 5) / 100) as u64;
        }
        self.states.insert((bucket, stage.index()), state);
    }

    /// Replaces t_B. Keeps t_C and x of known buckets.
    pub fn set_bound_ns(&mut self, bound_ns: u64) {
        self.bound_ns = bound_ns;
    }

    fn state(&self, bucket: u16, stage: Stage) -> State {
        let start = State { x_percent: X_START, t_c_ns: self.bound_ns.min(T_C_START_MAX_NS) };
        self.states.get(&(bucket, stage.index())).copied().unwrap_or(start)
    }
}

/// Median of the nonzero samples, in ns; `None` if most are zero.
fn median_ns(samples_16us: &[u16]) -> Option<u64> {
    let mut heard: Vec<_> =
        samples_16us.iter().filter(|sample| **sample > 0).map(|sample| u64::from(*sample)).collect();
    if heard.is_empty() || 2 * heard.len() < samples_16us.len() {
        return None;
    }
    heard.sort_unstable();
    let (low, high) = (heard[(heard.len() - 1) / 2], heard[heard.len() / 2]);
    Some((low + high) * TIMEOUT_UNIT_NS / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Stage::{Broadcast, Contribute};
    use optireduce_contract::signs::splitmix64;

    const BOUND_NS: u64 = 10_000_000;

    #[test]
    fn x_follows_the_loss_as_in_the_paper() {
        // OptiReduce 3.2.1: start 10 %, doubled above 0.1 %, one point less below 0.01 %, cap 50 %.
        let mut early = EarlyController::new(BOUND_NS);
        let mut after = |loss| {
            early.observe(0, Contribute, loss, &[]);
            early.x_percent(0, Contribute)
        };
        let losses = [0.0, 0.00009, 0.0001, 0.0005, 0.001, 0.0011, 0.5, 0.002, 0.002, 0.0, 0.0, f64::NAN];
        assert_eq!(losses.map(&mut after), [9, 8, 8, 8, 8, 16, 32, 50, 50, 49, 48, 50]);
        assert_eq!((0..60).map(|_| after(0.0)).last(), Some(1), "the floor");
        assert_eq!(after(0.01), 2);
    }

    #[test]
    fn t_c_is_95_percent_median_and_5_percent_old() {
        let mut early = EarlyController::new(BOUND_NS);
        assert_eq!((early.t_c_ns(0, Contribute), early.grace_ns(0, Contribute)), (BOUND_NS, 1_000_000));
        early.observe(0, Contribute, 0.0005, &[12, 5, 625, 6]);
        assert_eq!(early.t_c_ns(0, Contribute), 144_000 * 95 / 100 + BOUND_NS / 20); // 636_800
        assert_eq!(early.grace_ns(0, Contribute), 63_680);
        early.observe(0, Contribute, 0.0005, &[12, 5, 7]);
        assert_eq!(early.t_c_ns(0, Contribute), 112_000 * 95 / 100 + 636_800 / 20); // 138_240
        assert_eq!((early.t_c_ns(0, Broadcast), early.t_c_ns(1, Contribute)), (BOUND_NS, BOUND_NS));
    }

    #[test]
    fn ranks_unheard_of_are_left_out_and_less_than_half_says_nothing() {
        assert_eq!(median_ns(&[0, 10, 0, 30]), Some(320_000));
        assert_eq!(median_ns(&[0, 10, 0]), None);
        assert_eq!(median_ns(&[0, 10]), Some(160_000));
        assert_eq!((median_ns(&[0, 0]), median_ns(&[])), (None, None));
        let mut early = EarlyController::new(BOUND_NS);
        early.observe(3, Broadcast, 0.0, &[0, 0, 10, 0, 0]);
        assert_eq!((early.t_c_ns(3, Broadcast), early.x_percent(3, Broadcast)), (BOUND_NS, 9));
    }

    #[test]
    fn one_straggler_among_many_does_not_move_t_c() {
        let mut early = EarlyController::new(BOUND_NS);
        for _ in 0..20 {
            early.observe(0, Contribute, 0.0005, &[10, 10, 10, u16::MAX]);
        }
        assert_eq!(early.t_c_ns(0, Contribute), 160_000);
    }

    #[test]
    fn whatever_is_observed_x_and_grace_stay_in_range() {
        for seed in 0..500u64 {
            let bound_ns = 1 + splitmix64(seed) % 100_000_000;
            let mut early = EarlyController::new(bound_ns);
            for turn in 0..200 {
                let draw = |what: u64| splitmix64(seed << 32 | turn << 8 | what);
                let samples = (0..draw(0) % 9).map(|rank| draw(2 + rank) as u16 * (draw(20 + rank) % 2) as u16);
                let loss = draw(1) as f64 / u64::MAX as f64 * [0.00005, 0.002, 1.0][turn as usize % 3];
                early.observe(0, Contribute, loss, &samples.collect::<Vec<_>>());
                let (x, grace) = (early.x_percent(0, Contribute), early.grace_ns(0, Contribute));
                assert!((1..=50).contains(&x) && grace <= bound_ns, "seed {seed}, turn {turn}: x {x}, grace {grace}");
            }
        }
    }
}
