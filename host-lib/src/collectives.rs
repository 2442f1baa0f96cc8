//! Drives collectives over a data plane.
//!
//! Why: windows of the next collective are armed while the present one runs, so that a peer that is ahead is not lost,
//! and a host that is late costs its peers no more than the bound.
//! Collectives are numbered in the order of `prepare`, which must be the same on all ranks.
//! Limits: never waits by itself; the caller polls, with its own clock, which must not run backwards.

use std::collections::{HashMap, VecDeque};

use thiserror::Error;

use crate::data_plane::{DataPlane, PlaneEvent};
use crate::protocol::{
    Action, AllReduce, EarlyController, EarlyRule, IncastController, JobParams, Metrics, ParamError, PlanError,
    ProtocolError, RefusedStatus, Report, Safeguard, Stage, StageReport,
};

/// A finished collective.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// How it went.
    pub report: Report,
    /// Mean gradient; entries that nobody delivered are zero.
    pub result: Vec<f32>,
}

/// What ends them, or a call of it.
#[derive(Debug, Error)]
pub enum CollectivesError<E: std::error::Error + 'static> {
    /// A parameter is out of range.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// The bucket cannot be cut into windows.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The data plane said what cannot be, or nothing at all.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The data plane is broken.
    #[error("data plane: {0}")]
    Plane(#[source] E),
    /// No such collective waits for its gradient.
    #[error("collective {op} was not prepared, has started already, or is finished")]
    NotPrepared {
        /// Collective number.
        op: u32,
    },
    /// The gradient is not as long as the bucket.
    #[error("collective {op}: the gradient has {found} elements, the bucket was prepared with {expected}")]
    WrongLength {
        /// Collective number.
        op: u32,
        /// Elements of the gradient.
        found: usize,
        /// Elements of the bucket.
        expected: usize,
    },
    /// The peers are at another collective.
    #[error(
        "collective {op} was prepared as bucket {found_bucket} with {found} elements, hadamard {found_hadamard}; the peers \
         are at bucket {bucket} with {elements} elements, hadamard {hadamard}; all ranks must call the same in the same order"
    )]
    OutOfOrder {
        /// Collective number.
        op: u32,
        /// What the peers call.
        bucket: u16,
        /// Elements of that bucket, the last time.
        elements: usize,
        /// Whether they encode it.
        hadamard: bool,
        /// What this rank calls.
        found_bucket: u16,
        /// Elements of its bucket.
        found: usize,
        /// Whether it wants to encode it.
        found_hadamard: bool,
    },
    /// A blocking call found collectives still running.
    #[error("{running} collectives are still running; poll until they are finished")]
    Busy {
        /// How many.
        running: usize,
    },
}

/// One rank's collectives. See the crate documentation for the call order.
///
/// After [`CollectivesError::Plane`] or [`CollectivesError::Protocol`] nothing more can be done with it.
#[derive(Debug)]
pub struct Collectives<P: DataPlane> {
    plane: P,
    params: JobParams,
    safeguard: Safeguard,
    /// Sets the early rule's grace time, if it is to follow the stage times.
    early: Option<(EarlyController, u32)>,
    /// Sets the incast, if it is to follow the loss.
    incast: Option<IncastController>,
    metrics: Metrics,
    next_op: u32,
    running: VecDeque<Running>,
    /// Elements of each bucket, the last time.
    known: HashMap<u16, usize>,
    /// Collectives of peers that are ahead, not prepared here yet: bucket, step, hadamard.
    ahead: Vec<(u16, u16, bool)>,
    /// How many of the youngest in `running` were prepared because peers are at them.
    foreseen: usize,
}

/// Collectives that are prepared without the caller, at most.
const FORESEEN_MAX: usize = 2;
/// Collectives of peers that are remembered, at most.
const AHEAD_MAX: usize = 64;

#[derive(Debug)]
struct Running {
    machine: AllReduce,
    /// This rank's gradient, once started.
    gradient: Option<Vec<f32>>,
    result: Vec<f32>,
}

impl<P: DataPlane> Collectives<P> {
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(plane: P, params: JobParams) -> Result<Self, CollectivesError<P::Error>> {
        params.check(&plane.limits())?;
        Ok(Self {
            plane,
            params,
            safeguard: Safeguard::default(),
            early: None,
            incast: None,
            metrics: Metrics::default(),
            next_op: 0,
            running: VecDeque::new(),
            known: HashMap::new(),
            ahead: Vec::new(),
            foreseen: 0,
        })
    }

    /// Lets the early rule's grace time follow the stage times of all ranks (OptiReduce 3.2.1) instead of staying what the
    /// parameters say, but never below `grace_min_ns`. Stages share the longer one, since a card has one for both.
    pub fn follow_stage_times(&mut self, grace_min_ns: u32) {
        self.early = Some((EarlyController::new(self.params.bound_ns), grace_min_ns));
    }

    /// Lets the incast follow the loss at its receivers (OptiReduce 3.2.2), from what the parameters say. Peers that do not
    /// say what they bear count as 1.
    pub fn follow_incast(&mut self) {
        self.incast = Some(IncastController::new(self.params.ranks, self.params.incast));
    }

    /// Loss and timing so far, per peer and stage.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Announces the next collective and arms as many of its windows as slots are free; returns its number. All ranks
    /// must prepare the same buckets in the same order, with the same `hadamard`. A bucket that was prepared before may
    /// have been armed already, because peers are at it.
    ///
    /// # Errors
    /// See [`CollectivesError`].
    pub fn prepare(
        &mut self,
        now_ns: u64,
        bucket: u16,
        elements: usize,
        hadamard: bool,
    ) -> Result<u32, CollectivesError<P::Error>> {
        if self.foreseen > 0 {
            return self.claim(bucket, elements, hadamard);
        }
        self.known.insert(bucket, elements);
        let op = self.push(bucket, elements, hadamard)?;
        self.act(now_ns)?;
        Ok(op)
    }

    fn push(&mut self, bucket: u16, elements: usize, hadamard: bool) -> Result<u32, CollectivesError<P::Error>> {
        let op = self.next_op;
        let machine = AllReduce::new(&self.params, op, bucket, elements, hadamard)?;
        self.next_op = op.wrapping_add(1);
        self.running.push_back(Running { machine, gradient: None, result: vec![0.0; elements] });
        Ok(op)
    }

    /// The oldest collective that was prepared because peers are at it, if it is the one that the caller means.
    fn claim(&mut self, bucket: u16, elements: usize, hadamard: bool) -> Result<u32, CollectivesError<P::Error>> {
        let machine = &self.running[self.running.len() - self.foreseen].machine;
        let (op, found) = (machine.op(), (bucket, elements, hadamard));
        let expected = machine.bucket();
        if found != expected {
            let (bucket, elements, hadamard) = expected;
            let (found_bucket, found, found_hadamard) = found;
            return Err(CollectivesError::OutOfOrder {
                op,
                bucket,
                elements,
                hadamard,
                found_bucket,
                found,
                found_hadamard,
            });
        }
        self.foreseen -= 1;
        Ok(op)
    }

    /// Prepares what peers are at, as far as its buckets are known, so that this rank's data plane sums its shards while
    /// its host is late.
    fn foresee(&mut self) -> Result<(), CollectivesError<P::Error>> {
        while self.foreseen < FORESEEN_MAX {
            let step = self.next_op as u16;
            self.ahead.retain(|(_, ahead, _)| ahead.wrapping_sub(step).cast_signed() >= 0);
            let Some(&(bucket, _, hadamard)) = self.ahead.iter().find(|(_, ahead, _)| *ahead == step) else { break };
            let Some(&elements) = self.known.get(&bucket) else { break };
            self.push(bucket, elements, hadamard)?;
            self.foreseen += 1;
        }
        Ok(())
    }

    /// The gradient of collective `op` is there: contributes it.
    ///
    /// # Errors
    /// See [`CollectivesError`].
    pub fn start(&mut self, now_ns: u64, op: u32, gradient: Vec<f32>) -> Result<(), CollectivesError<P::Error>> {
        let waits = |one: &&mut Running| one.machine.op() == op && one.gradient.is_none();
        let one = self.running.iter_mut().find(waits).ok_or(CollectivesError::NotPrepared { op })?;
        let (found, expected) = (gradient.len(), one.result.len());
        if found != expected {
            return Err(CollectivesError::WrongLength { op, found, expected });
        }
        one.gradient = Some(gradient);
        one.machine.start();
        self.act(now_ns)
    }

    /// Handles everything that has happened; returns the oldest collective if it is finished. Call again until `None`.
    /// A collective is finished only after it was started, even if all its windows closed without this rank.
    ///
    /// # Errors
    /// See [`CollectivesError`].
    pub fn poll(&mut self, now_ns: u64) -> Result<Option<Finished>, CollectivesError<P::Error>> {
        while let Some(event) = self.plane.poll().map_err(CollectivesError::Plane)? {
            match event {
                PlaneEvent::Stage(report) => self.handle_report(now_ns, report)?,
                PlaneEvent::Refused { cookie, status } => self.handle_refused(cookie, status)?,
                PlaneEvent::Ahead { bucket, step, hadamard } if self.ahead.len() < AHEAD_MAX => {
                    self.ahead.push((bucket, step, hadamard));
                }
                PlaneEvent::Ahead { .. } => {}
            }
        }
        self.foresee()?;
        self.act(now_ns)?;
        for one in &self.running {
            one.machine.handle_timeout(now_ns)?;
        }
        if !self.running.front().is_some_and(|one| one.gradient.is_some() && one.machine.is_done()) {
            return Ok(None);
        }
        let finished = self.running.pop_front().map(|Running { machine, result, .. }| {
            let report = machine.finish(&mut self.safeguard);
            self.metrics.observe(&report);
            for (stage, summary) in Stage::ALL.into_iter().zip(&report.stages) {
                if let Some((early, _)) = &mut self.early {
                    early.observe(report.bucket, stage, 1.0 - summary.received_fraction, &summary.samples_16us);
                }
                if let Some(incast) = &mut self.incast {
                    incast.observe(summary);
                }
            }
            Finished { report, result }
        });
        Ok(finished)
    }

    /// When [`poll`](Self::poll) is to be called at the latest, should nothing happen before: the watchdog.
    pub fn next_timeout(&self) -> Option<u64> {
        self.running.iter().filter_map(|one| one.machine.next_timeout()).min()
    }

    /// Blocking: prepares, starts and polls one collective; `data` is the gradient and becomes the result. `clock`
    /// gives the time in ns; it is asked before each poll and may wait there. Bounded by the watchdog as long as the
    /// clock runs.
    ///
    /// # Errors
    /// See [`CollectivesError`]; `data` is as it was.
    pub fn all_reduce(
        &mut self,
        bucket: u16,
        data: &mut [f32],
        hadamard: bool,
        mut clock: impl FnMut() -> u64,
    ) -> Result<Report, CollectivesError<P::Error>> {
        if !self.running.is_empty() {
            return Err(CollectivesError::Busy { running: self.running.len() });
        }
        let op = self.prepare(clock(), bucket, data.len(), hadamard)?;
        self.start(clock(), op, data.to_vec())?;
        loop {
            if let Some(finished) = self.poll(clock())? {
                data.copy_from_slice(&finished.result);
                return Ok(finished.report);
            }
        }
    }

    /// Number of the next collective that is prepared, here or by peers that are ahead.
    pub fn next_op(&self) -> u32 {
        self.next_op
    }

    /// If the next collective that is prepared is one that peers are at already: whether they encode it.
    pub fn foreseen_hadamard(&self) -> Option<bool> {
        let first = self.running.len().checked_sub(self.foreseen)?;
        self.running.get(first).map(|one| one.machine.bucket().2)
    }

    /// The data plane.
    pub fn plane(&self) -> &P {
        &self.plane
    }

    /// The data plane, for what the protocol does not touch (counters, life checks).
    pub fn plane_mut(&mut self) -> &mut P {
        &mut self.plane
    }

    /// The job's parameters.
    pub fn params(&self) -> &JobParams {
        &self.params
    }

    /// Does what the collectives ask for, oldest first, with one doorbell.
    fn act(&mut self, now_ns: u64) -> Result<(), CollectivesError<P::Error>> {
        let in_use: usize = self.running.iter().map(|one| one.machine.slots_in_use()).sum();
        let mut slots_free = self.params.slots.saturating_sub(in_use);
        let mut acted = false;
        for one in &mut self.running {
            while let Some(action) = one.machine.poll(now_ns, slots_free) {
                acted = true;
                match action {
                    Action::Arm(plan) => {
                        slots_free -= 1;
                        if let Some((early, grace_min_ns)) = &self.early {
                            let grace_ns = Stage::ALL.map(|stage| early.grace_ns(plan.bucket, stage));
                            let grace_ns = grace_ns.into_iter().max().and_then(|ns| u32::try_from(ns).ok());
                            let grace_ns = grace_ns.unwrap_or(u32::MAX).max(*grace_min_ns);
                            self.params.early = Some(EarlyRule { grace_ns });
                        }
                        if let Some(incast) = &self.incast {
                            let peers = (0..self.params.ranks).filter(|peer| *peer != self.params.rank);
                            self.params.incast = incast.send_incast(peers);
                            self.params.advertised_incast = incast.advertised().into();
                        }
                        self.plane.arm(&plan, &self.params).map_err(CollectivesError::Plane)?;
                    }
                    Action::Contribute(plan) => {
                        let gradient = one.gradient.as_deref().unwrap_or_default();
                        let elements = &gradient[plan.first_element..plan.first_element + plan.elements];
                        self.plane.contribute(&plan, elements).map_err(CollectivesError::Plane)?;
                    }
                }
            }
        }
        if acted { self.plane.flush().map_err(CollectivesError::Plane) } else { Ok(()) }
    }

    fn handle_report(&mut self, now_ns: u64, report: StageReport) -> Result<(), CollectivesError<P::Error>> {
        let (cookie, stage) = (report.cookie, report.stage);
        let Some(one) = find(&mut self.running, cookie) else {
            return Err(ProtocolError::UnknownWindow { op: self.next_op, cookie, windows: 0 }.into());
        };
        if let Some(incast) = &mut self.incast {
            let said = report.said.iter().enumerate().filter(|(_, said)| said.incast > 0);
            said.for_each(|(from, said)| incast.hear(from, said.incast));
        }
        one.machine.handle_report(now_ns, report)?;
        if stage == Stage::Broadcast {
            let plan = one.machine.plan_of(cookie)?;
            let out = &mut one.result[plan.first_element..plan.first_element + plan.elements];
            self.plane.take_result(plan, out).map_err(CollectivesError::Plane)?;
        }
        Ok(())
    }

    /// A contribution refused after its collective has finished is an ordinary late one.
    fn handle_refused(&mut self, cookie: u32, status: RefusedStatus) -> Result<(), CollectivesError<P::Error>> {
        match find(&mut self.running, cookie) {
            Some(one) => one.machine.handle_refused(cookie, status)?,
            None if status == RefusedStatus::Stale => tracing::debug!(cookie, "contribution came after its collective"),
            None => return Err(ProtocolError::UnknownWindow { op: self.next_op, cookie, windows: 0 }.into()),
        }
        Ok(())
    }
}

/// The collective that a cookie belongs to.
fn find(running: &mut VecDeque<Running>, cookie: u32) -> Option<&mut Running> {
    running.iter_mut().find(|one| one.machine.plan_of(cookie).is_ok())
}
