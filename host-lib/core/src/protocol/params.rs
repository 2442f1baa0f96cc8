//! Parameters of a job on one rank.

use thiserror::Error;

use super::types::PlaneLimits;

/// Rule that closes a stage before its bound (OptiReduce 3.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyRule {
    /// Silence in ns, after the marks of all peers, that closes the stage.
    pub grace_ns: u32,
}

const HADAMARD_LOG2_DEFAULT: u32 = 12;
/// Largest incast that a header can advertise.
pub const INCAST_MAX: u64 = 15;

/// Parameters of a job on one rank. The fields used by [`plan_windows`](super::plan_windows),
/// `payload_beats` and `bound_ns` must be equal on all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobParams {
    /// This rank, below `ranks`.
    pub rank: usize,
    /// World size, 1 to [`PlaneLimits::ranks_max`].
    pub ranks: usize,
    /// Payload of a full packet, in beats of 64 bytes.
    pub payload_beats: usize,
    /// Maximum number of armed windows. Default: the slots of the data plane.
    pub slots: usize,
    /// Largest window in beats of 64 bytes. Default: the limit of the data plane.
    pub window_beats_max: usize,
    /// log2 of the largest Hadamard block in elements: 8, 10, 12 or 14. Default: 12, within the
    /// limit of the data plane. Larger blocks spread bursts further, but pad short buckets more.
    pub hadamard_log2_max: u32,
    /// Whether gradients and means travel as bf16, with fp32 sums. Default: no. Relative errors are
    /// at most 2^-8.
    pub bf16: bool,
    /// Number of peers to which this rank sends at a time, 1 to 15. Default: 1.
    pub incast: usize,
    /// Number of peers that may send to this rank at a time, as advertised: 0 (unknown) to 15.
    /// Default: 1.
    pub advertised_incast: usize,
    /// Maximum number of windows contributed and not yet closed, per collective. Default: half the
    /// slots, so that faster peers find the next windows armed.
    pub in_flight: usize,
    /// t_B: bound on each stage, in ns, 1 to 2^32 - 1.
    pub bound_ns: u64,
    /// Rule that closes a stage before its bound. Default: none.
    pub early: Option<EarlyRule>,
    /// Number of peers heard in a stage that start its clock without this rank; with 0, only this
    /// rank's entry starts it. Default: half the peers, rounded up.
    pub start_peers: usize,
    /// Whether packets of this rank may be lost, see [`mark_packets_of`](Self::mark_packets_of).
    /// Default: no. [`Collectives`](crate::Collectives) sets it.
    pub expect_loss: bool,
    /// Seed of the Hadamard signs.
    pub job_seed: u64,
    /// Time in ns after the bound for which the watchdog waits for a stage report. Default: 50 ms.
    pub stage_slack_ns: u64,
}

/// Parameter `name` is `found`, which is not within `min` to `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("job parameter {name} is {found}, expected {min} to {max}")]
#[allow(missing_docs)] // described above
pub struct ParamError {
    pub name: &'static str,
    pub found: u64,
    pub min: u64,
    pub max: u64,
}

impl JobParams {
    /// Default parameters for a data plane with these limits.
    pub fn new(rank: usize, ranks: usize, payload_beats: usize, bound_ns: u64, limits: &PlaneLimits) -> Self {
        Self {
            rank,
            ranks,
            payload_beats,
            slots: limits.slots,
            window_beats_max: limits.window_beats_max,
            hadamard_log2_max: limits.hadamard_log2_max.min(HADAMARD_LOG2_DEFAULT),
            bf16: false,
            incast: 1,
            advertised_incast: 1,
            in_flight: (limits.slots / 2).max(1),
            bound_ns,
            early: None,
            start_peers: ranks.saturating_sub(1).div_ceil(2),
            expect_loss: false,
            job_seed: 0,
            stage_slack_ns: 50_000_000,
        }
    }

    /// Checks all fields.
    ///
    /// # Errors
    /// [`ParamError`] names the first field out of range.
    pub fn check(&self, limits: &PlaneLimits) -> Result<(), ParamError> {
        // Queue entries count the beats of a window in 16 bits.
        let window_beats_max = limits.window_beats_max.min(usize::from(u16::MAX));
        let grace_ns = self.early.map_or(0, |rule| u64::from(rule.grace_ns));
        for (name, found, min, max) in [
            ("ranks", self.ranks as u64, 1, limits.ranks_max as u64),
            ("rank", self.rank as u64, 0, (self.ranks as u64).saturating_sub(1)),
            ("payload_beats", self.payload_beats as u64, 1, limits.payload_beats_max as u64),
            ("slots", self.slots as u64, 1, limits.slots as u64),
            ("window_beats_max", self.window_beats_max as u64, 1, window_beats_max as u64),
            ("hadamard_log2_max", self.hadamard_log2_max.into(), 8, limits.hadamard_log2_max.into()),
            ("incast", self.incast as u64, 1, INCAST_MAX),
            ("advertised_incast", self.advertised_incast as u64, 0, INCAST_MAX),
            ("in_flight", self.in_flight as u64, 1, self.slots as u64),
            ("bound_ns", self.bound_ns, 1, u32::MAX.into()),
            ("early.grace_ns", grace_ns, 0, self.bound_ns),
            ("start_peers", self.start_peers as u64, 0, (self.ranks as u64).saturating_sub(1)),
        ] {
            if found < min || found > max {
                return Err(ParamError { name, found, min, max });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::plan_windows;

    pub(crate) const LIMITS: PlaneLimits =
        PlaneLimits { slots: 8, window_beats_max: 1024, hadamard_log2_max: 12, ranks_max: 64, payload_beats_max: 139 };

    fn params(rank: usize, ranks: usize) -> JobParams {
        JobParams::new(rank, ranks, 22, 1_000_000, &LIMITS)
    }

    #[test]
    fn defaults_are_in_range_and_each_field_is_checked() {
        for ranks in 1..=64 {
            params(ranks - 1, ranks).check(&LIMITS).unwrap();
        }
        let name = |change: fn(&mut JobParams)| {
            let mut params = params(1, 4);
            change(&mut params);
            params.check(&LIMITS).map_err(|error| error.name)
        };
        assert_eq!(name(|p| p.ranks = 0), Err("ranks"));
        assert_eq!(name(|p| p.ranks = 65), Err("ranks"));
        assert_eq!(name(|p| p.rank = 4), Err("rank"));
        assert_eq!(name(|p| p.payload_beats = 0), Err("payload_beats"));
        assert_eq!(name(|p| p.payload_beats = 140), Err("payload_beats"));
        assert_eq!(name(|p| p.slots = 9), Err("slots"));
        assert_eq!(name(|p| p.window_beats_max = 1025), Err("window_beats_max"));
        assert_eq!(name(|p| p.hadamard_log2_max = 14), Err("hadamard_log2_max"));
        assert_eq!(name(|p| p.incast = 0), Err("incast"));
        assert_eq!(name(|p| p.incast = 16), Err("incast"));
        assert_eq!(name(|p| p.in_flight = 0), Err("in_flight"));
        assert_eq!(name(|p| p.bound_ns = 0), Err("bound_ns"));
        assert_eq!(name(|p| p.bound_ns = 1 << 32), Err("bound_ns"));
        assert_eq!(name(|p| p.early = Some(EarlyRule { grace_ns: 1_000_001 })), Err("early.grace_ns"));
        assert_eq!(name(|p| p.start_peers = 4), Err("start_peers"));
    }

    #[test]
    fn parameter_errors_say_found_and_expected() {
        let error = JobParams { rank: 9, ..params(0, 4) }.check(&LIMITS).unwrap_err();
        assert_eq!(error.to_string(), "job parameter rank is 9, expected 0 to 3");
    }

    #[test]
    fn a_clock_never_waits_for_peers_that_have_nothing_to_send() {
        let start_peers = |rank, ranks, elements| {
            let params = params(rank, ranks);
            params.start_peers_of(&plan_windows(&params, 0, 0, elements, false).unwrap()[0])
        };
        assert_eq!(start_peers(0, 8, 1024), 4);
        // Ranks 0 and 1 own the 2 beats. In the broadcast stage, rank 0 has one sender, rank 5 two.
        assert_eq!(start_peers(0, 8, 32), 1);
        assert_eq!(start_peers(5, 8, 32), 2);
        // One beat: its owner has no sender in the broadcast stage, which does not count.
        assert_eq!(start_peers(0, 8, 16), 4);
        assert_eq!(start_peers(5, 8, 16), 1);
    }

    #[test]
    fn where_packets_are_lost_one_percent_is_marked_and_at_least_three_and_else_the_last_one() {
        let marks_of = |bf16, ranks, payload_beats, elements| {
            let params = JobParams { payload_beats, bf16, ..params(0, ranks) };
            let plan = plan_windows(&params, 0, 0, elements, false).unwrap().remove(0);
            assert_eq!(params.mark_packets_of(&plan), 1);
            JobParams { expect_loss: true, ..params }.mark_packets_of(&plan)
        };
        let marks = |ranks, payload_beats, elements| marks_of(false, ranks, payload_beats, elements);
        assert_eq!(marks(2, 22, 16), 1); // one packet
        assert_eq!(marks(2, 22, 16 * 88), 2); // 44 beats in 2 packets
        assert_eq!(marks(2, 22, 16 * 1024), 3); // 512 beats in 24 packets
        assert_eq!(marks(2, 1, 16 * 600), 3); // 300 packets
        assert_eq!(marks(2, 1, 16 * 602), 4); // 301 packets
        assert_eq!(marks(2, 1, 16 * 1024), 6); // 512 packets
        assert_eq!(marks_of(true, 2, 1, 16 * 1024), 3); // as bf16 256 packets
        assert_eq!(marks_of(true, 2, 22, 16 * 88), 1); // 44 beats in one packet
    }
}
