//! Stops training from going astray when too much is lost.
//!
//! Above 10 % loss in a collective its update is skipped; the third skip in a row halts the job.
//! Limits: every rank judges by what it received itself; ranks may disagree on a skip, unless they agree on it ([`Votes`](super::Votes)).
//! A skip with a rank of which nothing was heard counts neither way where silent ranks are dropped: the job goes on without
//! that rank, or ends because no quorum is left.
//! Differs: what late ranks did not contribute does not count, as long as they are at most half of the peers: the mean
//! over the others is a sound update (as in Partial Reduce, SIGMOD'21), and stragglers must not stop a job.
//! Source: OptiReduce 3.4. The numbers are ours.

use super::types::UpdateAction;

/// Loss above which an update is skipped.
pub const LOSS_SKIP: f64 = 0.10;
/// Skips in a row that halt the job.
pub const SKIPS_HALT: u32 = 3;

/// Whether an update is skipped of which the fraction `loss` (0 to 1) was lost.
pub fn is_too_much(loss: f64) -> bool {
    // Not a number: skip.
    let is_little = loss <= LOSS_SKIP;
    !is_little
}

/// Judges one collective after the other; one for each communicator.
#[derive(Clone, Debug, Default)]
pub struct Safeguard {
    skips_in_a_row: u32,
}

impl Safeguard {
    /// What to do with an update of which the fraction `loss` (0 to 1) was lost. To be called once per collective.
    pub fn judge(&mut self, loss: f64) -> UpdateAction {
        self.count(is_too_much(loss))
    }

    /// What to do with an update of which it is known whether it is skipped. To be called once per collective.
    pub fn count(&mut self, skip: bool) -> UpdateAction {
        if !skip {
            self.skips_in_a_row = 0;
            return UpdateAction::Apply;
        }
        self.skips_in_a_row = self.skips_in_a_row.saturating_add(1);
        if self.skips_in_a_row >= SKIPS_HALT { UpdateAction::Halt } else { UpdateAction::Skip }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use UpdateAction::*;

    fn judge_all<const N: usize>(losses: [f64; N]) -> [UpdateAction; N] {
        let mut safeguard = Safeguard::default();
        losses.map(|loss| safeguard.judge(loss))
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
    fn a_loss_that_is_not_a_number_is_not_applied() {
        assert_eq!(judge_all([f64::NAN]), [Skip]);
    }
}
