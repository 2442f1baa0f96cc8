//! Safeguard of the training against heavy loss: skips an update, or halts the job.
//!
//! Limits: each rank judges by its own loss unless the ranks vote ([`Votes`](super::Votes)). Where
//! silent ranks are dropped, a collective with a silent rank does not count: the job continues
//! without that rank, or ends for lack of a quorum.
//!
//! Source: OptiReduce 3.4. The numbers are ours. Differs: missing contributions of late ranks do
//! not count while at most half of the peers are late. The mean over the others is a sound update
//! (as in Partial Reduce), and stragglers must not stop a job.

use super::types::UpdateAction;

/// Loss above which an update is skipped.
pub const LOSS_SKIP: f64 = 0.10;
/// Minimum number of consecutive skips that halt the job.
pub const SKIPS_HALT: u32 = 3;
/// Minimum number of [`Report::packets`](super::Report::packets) of these collectives together. In
/// a bucket of few packets, one loss exceeds [`LOSS_SKIP`], so three skips in a row may be chance.
pub const PACKETS_HALT: u64 = 512;

/// Returns whether an update with this `loss` (0 to 1) is skipped.
pub fn is_too_much(loss: f64) -> bool {
    let is_little = loss <= LOSS_SKIP;
    !is_little
}

/// Judges consecutive collectives.
#[derive(Clone, Debug, Default)]
pub struct Safeguard {
    skips_in_a_row: u32,
    packets_in_a_row: u64,
}

impl Safeguard {
    /// Returns the action for the next update, of `packets` packets.
    pub fn judge(&mut self, loss: f64, packets: u64) -> UpdateAction {
        self.count(is_too_much(loss), packets)
    }

    /// As [`judge`](Self::judge), for a decision made elsewhere.
    pub fn count(&mut self, skip: bool, packets: u64) -> UpdateAction {
        if !skip {
            *self = Self::default();
            return UpdateAction::Apply;
        }
        self.skips_in_a_row = self.skips_in_a_row.saturating_add(1);
        self.packets_in_a_row = self.packets_in_a_row.saturating_add(packets);
        let is_broken = self.skips_in_a_row >= SKIPS_HALT && self.packets_in_a_row >= PACKETS_HALT;
        if is_broken { UpdateAction::Halt } else { UpdateAction::Skip }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use UpdateAction::*;

    fn judge_all<const N: usize>(losses: [f64; N]) -> [UpdateAction; N] {
        let mut safeguard = Safeguard::default();
        losses.map(|loss| safeguard.judge(loss, PACKETS_HALT / 3 + 1))
    }

    #[test]
    fn only_more_than_ten_percent_skips() {
        assert_eq!(judge_all([0.0, 0.10, 0.1001]), [Apply, Apply, Skip]);
    }

    #[test]
    fn three_skips_in_a_row_halt() {
        assert_eq!(judge_all([0.2, 0.2, 0.2, 0.2]), [Skip, Skip, Halt, Halt]);
    }

    #[test]
    fn a_good_collective_starts_the_count_again() {
        assert_eq!(judge_all([0.2, 0.2, 0.05, 0.2, 0.2, 0.2]), [Skip, Skip, Apply, Skip, Skip, Halt]);
    }

    #[test]
    fn small_collectives_halt_once_they_had_enough_packets() {
        let mut safeguard = Safeguard::default();
        let skips = (0..PACKETS_HALT / 6).all(|_| safeguard.judge(0.2, 6) == Skip);
        assert!(skips && safeguard.judge(0.2, 6) == Halt && safeguard.judge(0.0, 6) == Apply);
        assert_eq!([PACKETS_HALT, 1, 1].map(|packets| safeguard.judge(0.2, packets)), [Skip, Skip, Halt]);
    }

    #[test]
    fn no_network_that_loses_five_percent_halts_a_job_whatever_the_buckets() {
        for packets in [2u64, 6, 19, 29, 49, 72, 120] {
            let (mut safeguard, mut state) = (Safeguard::default(), packets);
            for _ in 0..200_000 {
                let mut is_lost = || {
                    state = optireduce_contract::signs::splitmix64(state);
                    state % 20 == 0
                };
                let lost = (0..packets).filter(|_| is_lost()).count();
                assert_ne!(safeguard.judge(lost as f64 / packets as f64, packets), Halt, "{packets} packets");
            }
        }
    }

    #[test]
    fn a_loss_that_is_not_a_number_is_not_applied() {
        assert_eq!(judge_all([f64::NAN]), [Skip]);
    }
}
