//! Bounded all-reduces of gradients, with the settings of `optireduce.torch`.

use optireduce::tuning::{BOUND_MAX_DEFAULT, BOUND_MIN};
use optireduce_core::protocol::{
    BoundParams, HadamardMode, JobParams, Kind, MembershipParams, StageSummary, UpdateAction,
};
use optireduce_core::{Call, Collectives, CollectivesError, DataPlane, MessageError, Repair};

use super::digits::{PARAMETERS, PAYLOAD_BEATS};
use super::job::{Counts, Exchange};
use super::trainee::Trainee;
use crate::card::software_rank::SoftwareRank;
use crate::cluster::rank_error;
use crate::error::SimError;

/// As in the host library.
const GRACE_MIN_NS: u32 = 250_000;
/// Tolerance of a stage's report, as in the host library.
const SLACK_NS: u64 = 10_000_000_000;

pub(super) struct Bounded {
    rank: usize,
    collectives: Collectives<SoftwareRank>,
    /// Until the workers have agreed on the members.
    gradient: Option<Vec<f32>>,
    since_ns: u64,
    counts: Counts,
}

impl Bounded {
    /// `bound_ns`: bound of a stage; `None` to measure it.
    pub fn new(
        rank: usize,
        workers: usize,
        plane: SoftwareRank,
        seed: u64,
        bound_ns: Option<u64>,
    ) -> Result<Self, SimError> {
        let nanos = |duration: std::time::Duration| duration.as_nanos() as u64;
        let measured = BoundParams { min_ns: nanos(BOUND_MIN), max_ns: nanos(BOUND_MAX_DEFAULT) };
        let first_ns = bound_ns.unwrap_or(measured.max_ns);
        let defaults = JobParams::new(rank, workers, PAYLOAD_BEATS, first_ns, &plane.limits());
        let params = JobParams { job_seed: seed, stage_slack_ns: SLACK_NS, ..defaults };
        let members = MembershipParams {
            silent_ops: None,
            bound: if bound_ns.is_none() { Some(measured) } else { None },
            ..MembershipParams::new(workers)
        };
        let build = || -> Result<_, CollectivesError<_>> {
            let mut collectives = Collectives::new(plane, params)?;
            collectives.follow_stage_times(GRACE_MIN_NS);
            collectives.follow_incast();
            collectives.repair();
            collectives.compare_calls(first_ns);
            collectives.agree_on_views(members, HadamardMode::Auto)?;
            Ok(collectives)
        };
        let collectives = build().map_err(rank_error(rank))?;
        Ok(Self { rank, collectives, gradient: None, since_ns: 0, counts: Counts::default() })
    }
}

impl Exchange for Bounded {
    fn trained(&mut self, now_ns: u64, trainee: &mut Trainee) -> Result<(), SimError> {
        self.gradient = Some(trainee.gradient());
        self.since_ns = now_ns;
        Ok(())
    }

    fn poll(&mut self, now_ns: u64, trainee: &mut Trainee) -> Result<bool, SimError> {
        let failed = rank_error(self.rank);
        self.collectives.handle_timeout(now_ns);
        if self.gradient.is_some()
            && self.collectives.may_prepare(now_ns)
            && let Some(gradient) = self.gradient.take()
        {
            let usual = Call::declared(Kind::AllReduce, 0, PARAMETERS, 0);
            let call = Call { hadamard: HadamardMode::Auto, repair: Repair::ThisUpdate, ..usual };
            let op = self.collectives.prepare_call(now_ns, call).map_err(&failed)?;
            self.collectives.start(now_ns, op, gradient).map_err(&failed)?;
        }
        let Some(finished) = self.collectives.poll(now_ns).map_err(&failed)? else { return Ok(false) };
        let (report, counts) = (finished.report, &mut self.counts);
        counts.collectives += 1;
        counts.waited_ns += now_ns - self.since_ns;
        let bytes = |of: fn(&StageSummary) -> u64| report.stages.iter().map(of).sum::<u64>();
        counts.expected_bytes += bytes(|stage| stage.expected_bytes);
        counts.lost_bytes += bytes(|stage| stage.expected_bytes - stage.received_bytes);
        match report.action {
            UpdateAction::Apply => trainee.apply(&finished.result),
            action => {
                counts.skipped += 1;
                counts.halts += u64::from(action == UpdateAction::Halt);
            }
        }
        Ok(true)
    }

    fn handle_message(&mut self, now_ns: u64, from: usize, message: &[u8]) -> Result<(), SimError> {
        match self.collectives.handle_message(now_ns, from, message) {
            // May answer a repair abandoned in the meantime.
            Ok(()) | Err(MessageError::Unexpected(_)) => Ok(()),
            Err(error) => Err(rank_error(self.rank)(error)),
        }
    }

    fn poll_message(&mut self) -> Option<(usize, Vec<u8>)> {
        self.collectives.poll_message()
    }

    fn next_timeout(&self) -> Option<u64> {
        self.collectives.next_timeout()
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
