//! Drives collectives over a data plane.
//!
//! Why: windows of the next collective are armed while the present one runs, so that a peer that is ahead is not lost,
//! and a host that is late costs its peers no more than the bound.
//! Collectives are numbered in the order of `prepare`, which must be the same on all ranks.
//! Limits: never waits by itself; the caller polls, with its own clock, which must not run backwards.

mod agreement;
mod groups;
mod pipeline;
mod ranks;
mod spares;
mod tuning;
mod types;

pub use self::groups::{Averaged, GroupAverages, GroupLoss};
pub use self::types::{Call, CollectivesError, Finished, MembershipEvent, MessageError};

use self::agreement::Agreement;
use self::pipeline::{Held, Pipeline, Running};
use self::tuning::Tuning;
use crate::data_plane::{Capability, DataPlane, PlaneEvent};
use crate::protocol::{HadamardMode, JobParams, Kind, Metrics, PlanError, Ranks, Report, View};
use crate::values::{Destination, Values};

/// One rank's collectives. See the crate documentation for the call order.
///
/// After [`CollectivesError::Plane`] or [`CollectivesError::Protocol`] nothing more can be done with it.
#[derive(Debug)]
pub struct Collectives<P: DataPlane> {
    plane: P,
    params: JobParams,
    pipeline: Pipeline,
    tuning: Tuning,
    agreement: Agreement,
    metrics: Metrics,
    misfit: Option<Misfit>,
    /// The caller waits for the others, and calls nothing before they have come.
    waits: bool,
    /// The data plane is late.
    is_late: bool,
}

/// A call with a wrong number of elements: this rank cannot go on, and waits until the others know.
#[derive(Clone, Copy, Debug)]
struct Misfit {
    op: u32,
    found: usize,
    expected: usize,
    until_ns: u64,
}

impl<P: DataPlane> Collectives<P> {
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(plane: P, params: JobParams) -> Result<Self, CollectivesError<P::Error>> {
        params.check(&plane.limits())?;
        Ok(Self {
            plane,
            pipeline: Pipeline::default(),
            tuning: Tuning::default(),
            agreement: Agreement::new(&params),
            metrics: Metrics::default(),
            misfit: None,
            waits: false,
            is_late: false,
            params,
        })
    }

    /// Lets the early rule's grace time follow the stage times of all ranks (OptiReduce 3.2.1) instead of staying what the
    /// parameters say, but never below `grace_min_ns`. Stages share the longer one, since a card has one for both.
    pub fn follow_stage_times(&mut self, grace_min_ns: u32) {
        self.tuning.follow_stage_times(self.params.bound_ns, grace_min_ns);
    }

    /// The grace time of a bucket's next windows in ns, if it follows the stage times.
    pub fn grace_ns(&self, bucket: u16) -> Option<u32> {
        self.tuning.grace_ns(bucket)
    }

    /// Lets the incast follow the loss at its receivers (OptiReduce 3.2.2), from what the parameters say. Peers that do not
    /// say what they bear count as 1.
    pub fn follow_incast(&mut self) {
        self.tuning.follow_incast(&self.params);
    }

    /// Lets the rate of each peer follow the round-trip times of its answers (OptiReduce 3.2.3), from `max_bytes_per_us`
    /// down, but never so far that a bucket's shard would take more than half the bound.
    ///
    /// # Errors
    /// If the data plane does not have [`Capability::RoundTrips`].
    pub fn follow_round_trips(&mut self, max_bytes_per_us: u32) -> Result<(), CollectivesError<P::Error>> {
        self.plane.capabilities().require(Capability::RoundTrips)?;
        self.tuning.follow_round_trips(self.params.ranks, max_bytes_per_us);
        Ok(())
    }

    /// How fast a peer is sent to in bytes per microsecond, if that follows the round-trip times.
    pub fn rate_bytes_per_us(&self, peer: usize) -> Option<f64> {
        self.tuning.rate_bytes_per_us(peer)
    }

    /// Loss and timing so far, per peer and stage.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Announces the next collective and arms as many of its windows as slots are free; returns its number. All ranks
    /// must prepare the same buckets in the same order, with the same `hadamard`. The bucket counts as declared once; see
    /// [`prepare_call`](Self::prepare_call) for others.
    ///
    /// # Errors
    /// See [`CollectivesError`].
    pub fn prepare(
        &mut self,
        now_ns: u64,
        bucket: u16,
        elements: usize,
        hadamard: impl Into<HadamardMode>,
    ) -> Result<u32, CollectivesError<P::Error>> {
        let hadamard = hadamard.into();
        self.prepare_call(now_ns, Call { hadamard, ..Call::declared(Kind::AllReduce, bucket, elements, 0) })
    }

    /// As [`prepare`](Self::prepare), for any kind of collective. An all-gather begins only when this rank has given its
    /// part. A declared bucket that was called before may have been armed already, as it was called the last time, because peers
    /// seemed to be at it; if they are not, that is undone. So a declared bucket keeps its settings.
    ///
    /// # Errors
    /// See [`CollectivesError`]. Nothing has changed if the data plane or the bucket's number does not allow the call.
    pub fn prepare_call(&mut self, now_ns: u64, call: Call) -> Result<u32, CollectivesError<P::Error>> {
        self.prepare_call_to(now_ns, call, Destination::Bucket)
    }

    /// As [`prepare_call`](Self::prepare_call), with a place for the result. Other calls than all-reduces of declared buckets leave it
    /// in [`Destination::Bucket`].
    ///
    /// # Errors
    /// As [`prepare_call`](Self::prepare_call), and if the place is not as long as the bucket.
    pub fn prepare_call_to(
        &mut self,
        now_ns: u64,
        call: Call,
        destination: Destination,
    ) -> Result<u32, CollectivesError<P::Error>> {
        if call.kind != Kind::AllReduce {
            self.plane.capabilities().require(Capability::PartialCollectives)?;
        }
        let bucket = call.kind.wire_bucket(call.bucket).ok_or(PlanError::Bucket { found: call.bucket })?;
        // No later output takes what an all-gather lacked: it is repaired if it may wait for that.
        let may_be_repaired = call.kind == Kind::AllReduce || call.is_one_off() || self.agreement.repairs_first;
        let call = Call { repair: call.repair && may_be_repaired, ..call };
        self.waits = false;
        let op = match self.pipeline.take_preposted(call) {
            Some((op, view)) => {
                tracing::debug!(op, "a collective is called that was preposted");
                self.agreement.called(now_ns, op, &call, &self.params, &view);
                op
            }
            None => self.push(now_ns, call)?,
        };
        if call.kind == Kind::AllReduce && !call.is_one_off() {
            self.pipeline.set_destination(op, destination, &mut self.plane)?;
        }
        self.pipeline.learn(bucket, call);
        self.act(now_ns)?;
        self.take_outputs();
        Ok(op)
    }

    /// Adds what the caller calls, instead of what was preposted.
    fn push(&mut self, now_ns: u64, call: Call) -> Result<u32, CollectivesError<P::Error>> {
        self.pipeline.cancel_preposted(&mut self.plane, self.agreement.repairs.as_mut())?;
        let view = self.next_view(now_ns).ok_or(CollectivesError::NoView { op: self.next_op() });
        self.take_outputs();
        let view = view?;
        self.tune(&view, call);
        let op = self.pipeline.push(&self.params, view.clone(), call)?;
        self.agreement.called(now_ns, op, &call, &self.params, &view);
        Ok(op)
    }

    /// Prepares what peers seem to be at, as far as its buckets are declared, so that this rank's data plane sums its shards while
    /// its host is late.
    fn prepost(&mut self, now_ns: u64) {
        while let Some(call) = self.pipeline.next_to_prepost() {
            let Some(view) = self.next_view(now_ns) else { break };
            self.tune(&view, call);
            if self.pipeline.prepost(&self.params, view, call).is_none() {
                break;
            }
        }
        self.take_outputs();
    }

    /// From this call of a collective of `view` on.
    fn tune(&mut self, view: &View, call: Call) {
        let bound_ns = view.settings.bound_ns;
        if bound_ns != self.params.bound_ns {
            self.params.bound_ns = bound_ns;
            self.tuning.set_bound_ns(bound_ns);
            self.agreement.set_bound_ns(bound_ns);
        }
        self.tuning.set_measuring(self.agreement.is_measuring(bound_ns));
        self.tuning.raise_rates(&self.params, call.elements);
    }

    /// The caller has handed in `found` elements for its next call, which takes `expected`: this rank cannot take part, and the
    /// job ends. Nothing is sent, so no mean has wrong values in it. If calls are [compared](Self::compare_calls), the others are
    /// told, and [`poll`](Self::poll) gives the same [`CollectivesError::Mismatch`] on all ranks once they call it, too; without,
    /// or if all do the same, it gives [`CollectivesError::WrongLength`].
    pub fn misfit(&mut self, now_ns: u64, call: Call, found: usize, expected: usize) {
        let op = self.pipeline.next_op_of_caller();
        self.agreement.misfit(now_ns, op, &call, found, &self.params);
        let until_ns = now_ns.saturating_add(self.agreement.one_off_wait_ns);
        self.misfit.get_or_insert(Misfit { op, found, expected, until_ns });
        self.take_outputs();
    }

    /// What this rank gives to collective `op` is there (its gradient, its part): contributes it. In an all-reduce of a declared
    /// bucket the gradient is not copied, and its memory holds a later result of the bucket.
    ///
    /// # Errors
    /// See [`CollectivesError`].
    pub fn start(
        &mut self,
        now_ns: u64,
        op: u32,
        gradient: impl Into<Values>,
    ) -> Result<(), CollectivesError<P::Error>> {
        self.pipeline.start(op, gradient.into())?;
        self.act(now_ns)?;
        Ok(())
    }

    /// Handles everything that has happened; returns the oldest collective if it is finished. Call again until `None`.
    /// A collective is finished only after it was started, even if all its windows closed without this rank.
    ///
    /// # Errors
    /// See [`CollectivesError`].
    pub fn poll(&mut self, now_ns: u64) -> Result<Option<Finished>, CollectivesError<P::Error>> {
        if let Some(mismatch) = self.agreement.mismatch(now_ns) {
            return Err(mismatch.into());
        }
        if let Some(Misfit { op, found, expected, until_ns }) = self.misfit
            && (now_ns >= until_ns || self.agreement.is_confirmed_by_all(op))
        {
            return Err(CollectivesError::WrongLength { op, found, expected });
        }
        loop {
            let is_ahead = self.handle_events(now_ns)?;
            self.handle_timeout(now_ns);
            self.prepost(now_ns);
            // What is contributed late closes at once: the data plane has no timer for what it has to say already.
            if !self.act(now_ns)? && !is_ahead {
                break;
            }
        }
        self.pipeline.check(now_ns)?;
        if self.pipeline.held.is_none() {
            let Some(done) = self.pipeline.pop_done(&mut self.plane) else {
                let waits = self.waits && self.pipeline.is_idle();
                self.agreement.wait_for_others(now_ns, waits || self.is_late);
                return Ok(None);
            };
            let held = self.finish(now_ns, done);
            self.pipeline.held = Some(held);
        }
        let released = self.agreement.release(now_ns, &mut self.pipeline.held, &mut self.pipeline.spares);
        if let Some(finished) = &released {
            self.metrics.observe(&finished.report);
        }
        self.take_outputs();
        Ok(released)
    }

    /// Handles what has happened until a peer is at a collective that is not prepared here, which it tells: once its windows are armed, what
    /// follows need not be kept.
    fn handle_events(&mut self, now_ns: u64) -> Result<bool, CollectivesError<P::Error>> {
        let Self { plane, pipeline, tuning, agreement, .. } = self;
        while let Some(event) = plane.poll().map_err(CollectivesError::Plane)? {
            match event {
                PlaneEvent::Stage(report) => {
                    if let Some((op, ranks)) = pipeline.unheard(&report) {
                        agreement.doubt_unheard(op, ranks);
                    }
                    pipeline.handle_report(now_ns, report, plane, tuning, agreement.repairs.as_mut())?;
                }
                PlaneEvent::Refused { cookie, status } => pipeline.handle_refused(cookie, status)?,
                PlaneEvent::Unexpected { bucket, step } => {
                    if let Some(op) = pipeline.op_of_step(step) {
                        agreement.doubt_bucket(op, bucket);
                    }
                    pipeline.note_unexpected(bucket, step);
                    return Ok(true);
                }
                PlaneEvent::RoundTrip { peer, rtt_ns } => {
                    if let Some(rate_bytes_per_us) = tuning.observe_rtt(peer, rtt_ns) {
                        plane.set_rate(peer, rate_bytes_per_us).map_err(CollectivesError::Plane)?;
                    }
                }
            }
        }
        Ok(false)
    }

    /// Sums up a collective whose windows are done.
    fn finish(&mut self, now_ns: u64, done: Running) -> Held {
        let mut heard = done.heard.clone();
        if self.plane.capabilities().has(Capability::Views) {
            heard.insert_all(&self.plane.take_heard());
        }
        // In a short bucket many peers have nothing to send: that says nothing about them.
        let live: Vec<usize> = done.view.live().collect();
        let silent = done.machine.senders().map(|index| live[index]).filter(|rank| !heard.contains(*rank));
        let silent = Ranks::none(self.params.ranks).with(silent);
        let mut held = self.agreement.hold(now_ns, done, &silent);
        let late_bytes = self.plane.late_bytes();
        let came_late = late_bytes.map(|late_bytes| late_bytes > self.tuning.late_bytes());
        self.tuning.observe(&held.report, late_bytes);
        held.report = held.report.renumbered(&live, self.params.ranks);
        self.agreement.observe(now_ns, &held.report, &heard, &silent, came_late);
        held
    }

    /// The caller waits for the others, as at the end of a job, and calls nothing before they have come. Once nothing runs here any
    /// more, this rank tells them so: those that are behind hear nothing else from it, and would take it for dead. Until the next
    /// [`prepare_call`](Self::prepare_call).
    pub fn wait_for_others(&mut self) {
        self.waits = true;
    }

    /// Whether the data plane is late with what it owes, and it is not known yet whether it still works: as long as it is, this rank tells the others that it
    /// is alive.
    pub fn set_late(&mut self, is_late: bool) {
        self.is_late = is_late;
    }

    /// When [`poll`](Self::poll) is to be called at the latest, should nothing happen before: the watchdog,
    /// or an agreement that waits.
    pub fn next_timeout(&self) -> Option<u64> {
        let misfit = self.misfit.map(|misfit| misfit.until_ns);
        self.pipeline.next_timeout().into_iter().chain(self.agreement.next_timeout()).chain(misfit).min()
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
        hadamard: impl Into<HadamardMode>,
        mut clock: impl FnMut() -> u64,
    ) -> Result<Report, CollectivesError<P::Error>> {
        if !self.is_idle() {
            return Err(CollectivesError::Busy { running: self.pipeline.len() });
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

    /// A declared bucket will not be called again: gives the memory of its results back, and prepares it without the caller
    /// no more. It may be called all the same.
    ///
    /// Before a bucket's number is used for another declaration, all ranks must have released it, and only then may any of
    /// them call the new one: a rank that is late would prepare its windows as they were, and send means of what they
    /// were not meant for.
    ///
    /// # Errors
    /// If the data plane is broken.
    pub fn release_bucket(&mut self, bucket: u16) -> Result<(), CollectivesError<P::Error>> {
        self.pipeline.spares.forget(bucket);
        self.pipeline.release(bucket, &mut self.plane, self.agreement.repairs.as_mut())
    }

    /// Number of the next collective that is prepared or preposted.
    pub fn next_op(&self) -> u32 {
        self.pipeline.next_op
    }

    /// The data plane.
    pub fn plane(&self) -> &P {
        &self.plane
    }

    /// The data plane, for what the protocol does not touch (counters, life checks).
    pub fn plane_mut(&mut self) -> &mut P {
        &mut self.plane
    }

    /// The job's parameters, with the bound of the last collective that was prepared.
    pub fn params(&self) -> &JobParams {
        &self.params
    }

    /// Whether there was anything to do.
    fn act(&mut self, now_ns: u64) -> Result<bool, CollectivesError<P::Error>> {
        let acted = self.pipeline.act(now_ns, &mut self.plane, &self.params, &self.tuning)?;
        if let Some(open) = self.pipeline.newest_open() {
            self.agreement.armed(open.machine.op(), &open.view);
        }
        Ok(acted)
    }

    /// The view of the next collective, if it is known.
    fn next_view(&mut self, now_ns: u64) -> Option<View> {
        self.agreement.view_of(now_ns, self.pipeline.next_op)
    }

    /// No collective runs, and none waits for an agreement.
    fn is_idle(&self) -> bool {
        self.pipeline.len() == 0
    }

    fn take_outputs(&mut self) {
        let Self { plane, pipeline, agreement, .. } = self;
        agreement.take_outputs(|view, joins| {
            plane.announce(view);
            if joins {
                pipeline.join(view.first_op);
            }
        });
    }
}
