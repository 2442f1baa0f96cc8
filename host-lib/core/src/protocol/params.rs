//! What a rank must know about its job before the first collective.

use thiserror::Error;

use super::types::PlaneLimits;

/// When a stage may close before its bound: OptiReduce 3.2.1, without the t_C controller that sets the grace time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyRule {
    /// Silence after the marks of all peers that closes a stage, in ns. Too short: late packets are lost although there
    /// was time; too long: the rule gains nothing over the bound.
    pub grace_ns: u32,
}

/// log2 of the default Hadamard block in elements.
const HADAMARD_LOG2_DEFAULT: u32 = 12;
/// The largest incast that a header can advertise.
pub const INCAST_MAX: u64 = 15;
/// The parameters of a job on one rank. All ranks must agree on everything but `rank`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobParams {
    /// This rank, below `ranks`.
    pub rank: usize,
    /// Ranks of the job, 2 to [`PlaneLimits::ranks_max`].
    pub ranks: usize,
    /// Payload of a full packet, in beats of 64 bytes.
    pub payload_beats: usize,
    /// Windows that may be armed at once. Default: the slots of the data plane.
    pub slots: usize,
    /// Largest window in beats of 64 bytes. Default: the data plane's.
    pub window_beats_max: usize,
    /// log2 of the largest Hadamard block in elements, 8, 10, 12 or 14. Default: 12, or the data plane's if that is less.
    /// Larger: a burst of losses is spread over more elements, but short buckets are padded further.
    pub hadamard_log2_max: u32,
    /// Whether gradients and means travel as bf16: half the bytes, sums stay fp32. Each value is rounded when it is sent
    /// and each mean once more: relative errors of at most 2^-8, about 2^-9 in root mean square. Default: no.
    pub bf16: bool,
    /// Peers that this rank sends to at a time, 1 to 15. Default: 1. More: fewer rounds, and a late
    /// sender holds up less; too many: receivers' ports are overrun.
    pub incast: usize,
    /// How many peers may send to this rank at a time, as its headers say, 0 to 15; 0: it does not say. Default: 1.
    pub advertised_incast: usize,
    /// Windows of a collective contributed and not yet closed. Default: half the slots, so that peers that are ahead
    /// find the next windows armed. 1: no overlap of windows.
    pub in_flight: usize,
    /// t_B: bound on each stage, in ns, 1 to 2^32 - 1. Too short: stages close before their packets are there (loss);
    /// too long: every lost packet and every straggler costs its peers that long.
    pub bound_ns: u64,
    /// Closes a stage before its bound. Default: none.
    pub early: Option<EarlyRule>,
    /// A stage's clock starts without this rank once so many peers were heard in it; 0: only by this rank's own entry.
    /// Default: half the peers, rounded up. Limited per window to the peers that have something to send.
    pub start_peers: usize,
    /// Whether peers must be expected to lose packets of this rank, see [`mark_packets_of`](Self::mark_packets_of). Default: no;
    /// [`Collectives`](crate::Collectives) sets it while its own collectives lose packets.
    pub expect_loss: bool,
    /// Seed of the Hadamard signs; the same on all ranks.
    pub job_seed: u64,
    /// How much later than its bound a stage may be reported before the watchdog gives up, in ns. Default: 50 ms, for
    /// queueing on the card and a host that is not always scheduled.
    pub stage_slack_ns: u64,
}

/// A parameter out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("job parameter {name} is {found}, expected {min} to {max}")]
pub struct ParamError {
    /// Name of the field of [`JobParams`].
    pub name: &'static str,
    /// Its value.
    pub found: u64,
    /// Smallest value allowed.
    pub min: u64,
    /// Largest value allowed.
    pub max: u64,
}

impl JobParams {
    /// Default parameters for a data plane with `limits`; see the fields for the defaults.
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

    /// Checks every field against its range and against the data plane.
    ///
    /// # Errors
    /// [`ParamError`] names the first field out of range.
    pub fn check(&self, limits: &PlaneLimits) -> Result<(), ParamError> {
        // A window is counted in 16 bits by the queue entries.
        let window_beats_max = limits.window_beats_max.min(usize::from(u16::MAX));
        let grace_ns = self.early.map_or(0, |rule| u64::from(rule.grace_ns));
        for (name, found, min, max) in [
            ("ranks", self.ranks as u64, 2, limits.ranks_max as u64),
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
        for ranks in 2..=64 {
            params(ranks - 1, ranks).check(&LIMITS).unwrap();
        }
        let name = |change: fn(&mut JobParams)| {
            let mut params = params(1, 4);
            change(&mut params);
            params.check(&LIMITS).map_err(|error| error.name)
        };
        assert_eq!(name(|p| p.ranks = 1), Err("ranks"));
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
        // 64 beats on 8 ranks: every shard has beats; half of 7 peers, rounded up.
        assert_eq!(start_peers(0, 8, 1024), 4);
        // 2 beats on 8 ranks: ranks 0 and 1 own them. Rank 0 hears one peer in the broadcast stage, rank 5 two.
        assert_eq!(start_peers(0, 8, 32), 1);
        assert_eq!(start_peers(5, 8, 32), 2);
        // One beat: its owner hears nobody in the broadcast stage, which must not keep the contribute stage from
        // starting.
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
