//! Dynamic incast: the number of peers that may send to a rank at the same time.
//!
//! More concurrent senders need fewer rounds, until the receiver's port is overrun. Each receiver
//! finds its limit and advertises it in its headers; a sender uses the minimum over its receivers.
//!
//! Source: OptiReduce 3.2.2. The steps are ours: +1 after ten clean stages, halved on loss or at
//! t_B.

use super::report::StageSummary;
use super::{ClosedBy, INCAST_MAX};

/// Loss above which a stage is not clean.
const LOSS_HIGH: f64 = 0.001;
/// Consecutive clean stages after which the incast grows by one.
const CLEAN_STAGES: u32 = 10;

/// Incast controller of one rank.
#[derive(Clone, Debug)]
pub struct IncastController {
    max: u8,
    own: u8,
    clean_stages: u32,
    /// Last value advertised by each rank.
    heard: Vec<u8>,
}

impl IncastController {
    /// Creates a controller that starts at `start`, within 1 and min(15, ranks - 1).
    pub fn new(ranks: usize, start: usize) -> Self {
        let max = ranks.saturating_sub(1).clamp(1, INCAST_MAX as usize);
        Self { max: max as u8, own: start.clamp(1, max) as u8, clean_stages: 0, heard: vec![1; ranks] }
    }

    /// Number of peers that may send to this rank at a time.
    pub fn advertised(&self) -> u8 {
        self.own
    }

    /// Adds a stage that closed at this rank.
    pub fn observe(&mut self, stage: &StageSummary) {
        let clean = stage.closed_by != ClosedBy::Deadline && 1.0 - stage.received_fraction <= LOSS_HIGH;
        self.clean_stages = if clean { self.clean_stages + 1 } else { 0 };
        if !clean {
            self.own = (self.own / 2).max(1);
        } else if self.clean_stages == CLEAN_STAGES {
            self.clean_stages = 0;
            self.own = (self.own + 1).min(self.max);
        }
    }

    /// Handles the incast field of a header of rank `from`; 0 (unknown) counts as 1.
    pub fn hear(&mut self, from: usize, advertised: u8) {
        if let Some(heard) = self.heard.get_mut(from) {
            *heard = advertised.clamp(1, self.max);
        }
    }

    /// Number of peers to which this rank may send at a time, given its receivers.
    pub fn send_incast(&self, peers: impl IntoIterator<Item = usize>) -> usize {
        let advertised = peers.into_iter().map(|peer| self.heard.get(peer).copied().unwrap_or(1));
        advertised.min().unwrap_or(1).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optireduce_contract::signs::splitmix64;

    fn stage(closed_by: ClosedBy, loss: f64) -> StageSummary {
        StageSummary {
            transfer_ns: None,
            expected_bytes: 0,
            received_bytes: 0,
            received_fraction: 1.0 - loss,
            expected_bytes_per_rank: vec![],
            received_bytes_per_rank: vec![],
            received_fraction_per_rank: vec![],
            closed_by,
            closed_by_window: vec![],
            elapsed_ns_max: 0,
            samples_16us: vec![],
        }
    }

    fn run(incast: &mut IncastController, stages: usize, closed_by: ClosedBy, loss: f64) -> u8 {
        (0..stages).for_each(|_| incast.observe(&stage(closed_by, loss)));
        incast.advertised()
    }

    #[test]
    fn ten_clean_stages_let_one_more_in_and_a_bad_one_halves() {
        let mut incast = IncastController::new(8, 1);
        assert_eq!(run(&mut incast, 9, ClosedBy::Complete, 0.0), 1);
        assert_eq!(run(&mut incast, 1, ClosedBy::Early, 0.0009), 2);
        assert_eq!(run(&mut incast, 50, ClosedBy::Complete, 0.0), 7);
        assert_eq!(run(&mut incast, 50, ClosedBy::Complete, 0.0), 7, "N - 1 is the most");
        assert_eq!(run(&mut incast, 1, ClosedBy::Early, 0.0011), 3);
        assert_eq!(run(&mut incast, 1, ClosedBy::Deadline, 0.0), 1);
        assert_eq!(run(&mut incast, 1, ClosedBy::Deadline, 1.0), 1);
    }

    #[test]
    fn a_bad_stage_starts_the_count_again() {
        let mut incast = IncastController::new(8, 4);
        assert_eq!(run(&mut incast, 9, ClosedBy::Complete, 0.0), 4);
        assert_eq!(run(&mut incast, 1, ClosedBy::Early, 0.01), 2);
        assert_eq!(run(&mut incast, 9, ClosedBy::Complete, 0.0), 2);
        assert_eq!(run(&mut incast, 1, ClosedBy::Complete, 0.0), 3);
    }

    #[test]
    fn the_smallest_advertised_among_the_peers_of_the_round_counts() {
        let mut incast = IncastController::new(20, 1);
        for (peer, advertised) in [(1, 5), (2, 3), (3, 0), (4, 15), (99, 1)] {
            incast.hear(peer, advertised);
        }
        assert_eq!(incast.send_incast([1, 2, 4]), 3);
        assert_eq!(incast.send_incast([1, 4]), 5);
        assert_eq!(incast.send_incast([4]), 15);
        assert_eq!(incast.send_incast([4, 3]), 1, "0 is unknown");
        assert_eq!(incast.send_incast([4, 5]), 1, "never heard");
        assert_eq!(incast.send_incast([]), 1);
        incast.hear(2, 6);
        assert_eq!(incast.send_incast([1, 2, 4]), 5, "the last one counts");
    }

    #[test]
    fn whatever_happens_the_incast_is_one_to_fifteen_and_below_the_ranks() {
        for seed in 0..300u64 {
            let draw = |turn: u64| splitmix64(seed << 32 | turn);
            let (ranks, start) = (draw(0) as usize % 70, draw(1) as usize % 70);
            let mut incast = IncastController::new(ranks, start);
            for turn in 2..500 {
                let bad = draw(turn).is_multiple_of(40);
                incast.observe(&stage(ClosedBy::Complete, if bad { 0.1 } else { 0.0 }));
                incast.hear(draw(turn) as usize % 80, draw(turn) as u8);
                for value in [usize::from(incast.advertised()), incast.send_incast([draw(turn) as usize % 80])] {
                    assert!(value >= 1 && value <= ranks.saturating_sub(1).clamp(1, 15), "seed {seed}, turn {turn}");
                }
            }
        }
    }
}
