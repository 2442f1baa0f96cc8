//! What the judges count: of one job, and of all of a campaign together.

use std::ops::AddAssign;

use serde::Serialize;

/// What was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Collectives that at least one rank has finished.
    pub collectives: u64,
    /// Results of all ranks.
    pub results: u64,
    /// Results in which something was lost.
    pub lossy: u64,
    /// Results that were skipped.
    pub skipped: u64,
    /// Ranks that gave up, where no majority was left to them.
    pub gave_up: u64,
    /// Ranks that ended with an error after something had befallen their card.
    pub card_errors: u64,
    /// The most that a rank's engine held, of what it may hold, in percent.
    pub footprint_percent_max: u64,
    /// Beats of which a correction could not be told from outside.
    pub unverified: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        let Self { collectives, results, lossy, skipped, gave_up, card_errors, footprint_percent_max, unverified } =
            other;
        self.collectives += collectives;
        self.results += results;
        self.lossy += lossy;
        self.skipped += skipped;
        self.gave_up += gave_up;
        self.card_errors += card_errors;
        self.footprint_percent_max = self.footprint_percent_max.max(footprint_percent_max);
        self.unverified += unverified;
    }
}
