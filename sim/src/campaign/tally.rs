//! Counts of the judges, for a job or a campaign.

use std::ops::AddAssign;

use serde::Serialize;

/// Counts of the judges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)] // described above
pub struct Tally {
    /// Collectives that some rank has finished.
    pub collectives: u64,
    pub results: u64,
    /// Results with losses.
    pub lossy: u64,
    pub skipped: u64,
    /// Ranks that gave up without a majority.
    pub gave_up: u64,
    /// Ranks that failed after a fault of their card.
    pub card_errors: u64,
    /// Largest memory use in percent of the limit.
    pub footprint_percent_max: u64,
    /// Beats whose corrections could not be verified.
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
