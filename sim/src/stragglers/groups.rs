//! Partial Reduce: averages of models among the workers that are ready.

use optireduce_core::protocol::partial_reduce::{Params, Worker, WorkerOutput, WorkerParams};
use optireduce_core::protocol::{EarlyRule, JobParams, Message};
use optireduce_core::{DataPlane, GroupAverages, GroupLoss};

use super::digits::PAYLOAD_BEATS;
use super::job::{Counts, Exchange};
use super::trainee::Trainee;
use crate::card::software_rank::SoftwareRank;
use crate::cluster::rank_error;
use crate::error::SimError;

/// Bound and grace time of stages; later data is repaired.
const BOUND_NS: u64 = 20_000_000;
const GRACE_NS: u32 = 1_000_000;
const REPAIR_NS: u64 = 1_000_000_000;
/// Tolerance of a stage's report, as in the host library.
const SLACK_NS: u64 = 10_000_000_000;
/// Limit of packets of unknown groups.
const UNANNOUNCED_BYTES_MAX: usize = 16 << 20;

pub(super) struct Groups {
    rank: usize,
    workers: usize,
    worker: Worker,
    averages: GroupAverages<SoftwareRank>,
    iteration: u64,
    messages: Vec<(usize, Vec<u8>)>,
    since_ns: u64,
    counts: Counts,
}

impl Groups {
    pub fn new(rank: usize, plane: SoftwareRank, params: Params) -> Result<Self, SimError> {
        let workers = params.workers;
        plane.keep_unannounced(UNANNOUNCED_BYTES_MAX);
        let early = Some(EarlyRule { grace_ns: GRACE_NS });
        let defaults = JobParams::new(rank, workers, PAYLOAD_BEATS, BOUND_NS, &plane.limits());
        let job = JobParams { early, stage_slack_ns: SLACK_NS, ..defaults };
        let loss = GroupLoss::Repair { timeout_ns: REPAIR_NS };
        Ok(Self {
            rank,
            workers,
            worker: Worker::new(rank, WorkerParams::new(params)).map_err(rank_error(rank))?,
            averages: GroupAverages::new(plane, job, loss).map_err(rank_error(rank))?,
            iteration: 0,
            messages: Vec::new(),
            since_ns: 0,
            counts: Counts::default(),
        })
    }

    fn take_outputs(&mut self, now_ns: u64, trainee: &Trainee) -> Result<(), SimError> {
        while let Some(output) = self.worker.poll() {
            match output {
                WorkerOutput::Send { to, message } => self.messages.push((to, Message::Partial(message).encode())),
                WorkerOutput::SendMembership { to, message } => {
                    self.messages.push((to, Message::Membership(message).encode()));
                }
                WorkerOutput::Group(plan) => {
                    self.averages.begin(now_ns, plan, trainee.model.clone()).map_err(rank_error(self.rank))?;
                }
                WorkerOutput::Controller(_) => {}
                WorkerOutput::Dropped => {
                    return Err(SimError::Check(format!("worker {} was dropped although it is alive", self.rank)));
                }
            }
        }
        Ok(())
    }
}

impl Exchange for Groups {
    fn trained(&mut self, now_ns: u64, trainee: &mut Trainee) -> Result<(), SimError> {
        let gradient = trainee.gradient();
        trainee.apply(&gradient);
        self.since_ns = now_ns;
        self.worker.ready(now_ns, self.iteration + 1);
        Ok(())
    }

    fn poll(&mut self, now_ns: u64, trainee: &mut Trainee) -> Result<bool, SimError> {
        self.worker.handle_timeout(now_ns);
        self.take_outputs(now_ns, trainee)?;
        let averaged = self.averages.poll(now_ns).map_err(rank_error(self.rank))?;
        while let Some((to, message)) = self.averages.poll_message() {
            self.messages.push((to, Message::Partial(message).encode()));
        }
        let Some(averaged) = averaged else { return Ok(false) };
        self.iteration = averaged.plan.iteration;
        trainee.model = averaged.model;
        let counts = &mut self.counts;
        counts.collectives += 1;
        counts.waited_ns += now_ns - self.since_ns;
        for stage in averaged.reports.iter().flat_map(|report| &report.stages) {
            counts.expected_bytes += stage.expected_bytes;
            counts.lost_bytes += stage.expected_bytes - stage.received_bytes;
        }
        Ok(true)
    }

    fn handle_message(&mut self, now_ns: u64, from: usize, message: &[u8]) -> Result<(), SimError> {
        let failed = rank_error(self.rank);
        match Message::decode(from, self.workers, message).map_err(&failed)? {
            Message::Membership(message) => {
                self.worker.handle_membership(now_ns, from, message).map_err(rank_error(self.rank))?;
            }
            Message::Partial(message) => {
                self.worker.handle_message(now_ns, from, message.clone());
                self.averages.handle_message(now_ns, from, message);
            }
            _ => return Err(SimError::Check(format!("worker {}: unexpected kind of message", self.rank))),
        }
        Ok(())
    }

    fn poll_message(&mut self) -> Option<(usize, Vec<u8>)> {
        if self.messages.is_empty() { None } else { Some(self.messages.remove(0)) }
    }

    fn next_timeout(&self) -> Option<u64> {
        self.worker.next_timeout().into_iter().chain(self.averages.next_timeout()).min()
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
