//! Drives collectives over a data plane.
//!
//! Windows of the next collective are armed while the current one runs. Packets of a peer that is
//! ahead are then not lost, and a late host delays its peers for a bounded time only.
//!
//! Collectives are numbered in the order of `prepare`, the same on all ranks. Only `all_reduce`
//! blocks. The caller polls with its own monotonic clock.

mod agreement;
mod groups;
mod pipeline;
mod ranks;
mod spares;
mod tuning;
mod types;

pub use self::groups::{Averaged, GroupAverages, GroupLoss};
pub use self::types::{Call, CollectivesError, Finished, MembershipEvent, MessageError, Repair};

use self::agreement::Agreement;
use self::pipeline::{Held, Pipeline, Running};
use self::tuning::Tuning;
use crate::data_plane::{Capability, DataPlane, PlaneEvent};
use crate::protocol::{HadamardMode, JobParams, Kind, Metrics, PlanError, Ranks, Report, View};
use crate::values::{Destination, Values};

/// Collectives of one rank. See the crate documentation for the call order. Unusable after
/// [`CollectivesError::Plane`] or [`CollectivesError::Protocol`].
#[derive(Debug)]
pub struct Collectives<P: DataPlane> {
    plane: P,
    params: JobParams,
    pipeline: Pipeline,
    tuning: Tuning,
    agreement: Agreement,
    metrics: Metrics,
    misfit: Option<Misfit>,
    waits: bool,
    is_late: bool,
}

/// Call with a wrong number of elements. `until_ns`: time limit for informing the other ranks.
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

    /// Adapts the early rule's grace time to the stage times of all ranks (OptiReduce 3.2.1). Both
    /// stages use the longer time, since a card has one for both.
    pub fn follow_stage_times(&mut self, grace_min_ns: u32) {
        self.tuning.follow_stage_times(self.params.bound_ns, grace_min_ns);
    }

    /// Grace time of a bucket's next windows in ns. `None` if it is constant.
    pub fn grace_ns(&self, bucket: u16) -> Option<u32> {
        self.tuning.grace_ns(bucket)
    }

    /// Adapts the incast to the loss at its receivers (OptiReduce 3.2.2).
    pub fn follow_incast(&mut self) {
        self.tuning.follow_incast(&self.params);
    }

    /// Adapts the send rate of each peer to its RTT (OptiReduce 3.2.3), starting at the maximum.
    /// Rates stay high enough to send a bucket's shard in half the bound.
    ///
    /// # Errors
    /// If the data plane lacks [`Capability::RoundTrips`].
    pub fn follow_round_trips(&mut self, max_bytes_per_us: u32) -> Result<(), CollectivesError<P::Error>> {
        self.plane.capabilities().require(Capability::RoundTrips)?;
        self.tuning.follow_round_trips(self.params.ranks, max_bytes_per_us);
        Ok(())
    }

    /// Send rate to a peer in bytes per microsecond. `None` if it is constant.
    pub fn rate_bytes_per_us(&self, peer: usize) -> Option<f64> {
        self.tuning.rate_bytes_per_us(peer)
    }

    /// Loss and timing so far, by peer and stage.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Announces the next all-reduce of a declared bucket and arms windows while slots are free.
    /// Returns its number. All ranks must prepare the same buckets in the same order.
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

    /// Like [`prepare`](Self::prepare), for any kind of collective.
    ///
    /// A declared bucket may already be armed with the settings of its last call, because peers
    /// seem to have started it. A call with other settings cancels those windows.
    ///
    /// # Errors
    /// Nothing changes if the data plane or the bucket's number rejects the call.
    pub fn prepare_call(&mut self, now_ns: u64, call: Call) -> Result<u32, CollectivesError<P::Error>> {
        self.prepare_call_to(now_ns, call, Destination::Bucket)
    }

    /// Like [`prepare_call`](Self::prepare_call), with a destination for the result of an
    /// all-reduce of a declared bucket. Other calls ignore it.
    ///
    /// # Errors
    /// [`CollectivesError::WrongLength`] if the destination is not as long as the bucket.
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
        // No later output can take the losses of most all-gathers: repair them only if the call
        // waits.
        let may_be_repaired = call.is_update() || call.is_one_off() || call.repair == Repair::ThisUpdate;
        let call = Call { repair: if may_be_repaired { call.repair } else { Repair::Off }, ..call };
        self.waits = false;
        let op = match self.pipeline.take_preposted(call) {
            Some((op, view)) => {
                tracing::debug!(op, "preposted collective called");
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

    /// Prepares collectives of declared buckets that peers seem to have started, so that the data
    /// plane sums this rank's shards while its host is late.
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

    /// Ends the job because the caller passed `found` elements for its next call, which takes
    /// `expected`. Nothing is sent, so no mean contains wrong values.
    ///
    /// With [`compare_calls`](Self::compare_calls), all ranks that call this collective get the
    /// same [`CollectivesError::Mismatch`] from [`poll`](Self::poll), also if all pass the same
    /// wrong length. Without it, this rank gets [`CollectivesError::WrongLength`].
    pub fn misfit(&mut self, now_ns: u64, call: Call, found: usize, expected: usize) {
        let op = self.pipeline.next_op_of_caller();
        self.agreement.misfit(now_ns, op, &call, found, &self.params);
        let until_ns = now_ns.saturating_add(self.agreement.one_off_wait_ns);
        self.misfit.get_or_insert(Misfit { op, found, expected, until_ns });
        self.take_outputs();
    }

    /// Contributes this rank's input to collective `op`: its gradient, or its part in an
    /// all-gather. Its memory may be reused for a later result.
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

    /// Handles all pending events and returns the oldest collective if it was started and is
    /// finished. Call until it returns `None`.
    pub fn poll(&mut self, now_ns: u64) -> Result<Option<Finished>, CollectivesError<P::Error>> {
        if let Some(mismatch) = self.agreement.mismatch(now_ns) {
            return Err(mismatch.into());
        }
        if let Some(Misfit { op, found, expected, until_ns }) = self.misfit
            && (now_ns >= until_ns || self.agreement.is_confirmed_by_all(op))
            && self.agreement.has_told()
        {
            let wrong = CollectivesError::WrongLength { op, found, expected };
            return Err(self.agreement.misfit_of(op).map_or(wrong, CollectivesError::Mismatch));
        }
        loop {
            let is_ahead = self.handle_events(now_ns)?;
            self.handle_timeout(now_ns);
            self.prepost(now_ns);
            // A late contribution may close its window, and no timeout announces that event.
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

    /// Handles events, up to the first from a peer at a collective that is not prepared here.
    /// Returns whether there was one, whose windows should be armed before later packets.
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

    fn finish(&mut self, now_ns: u64, done: Running) -> Held {
        let mut heard = done.heard.clone();
        if self.plane.capabilities().has(Capability::Views) {
            heard.insert_all(&self.plane.take_heard());
        }
        // In a short bucket many peers have nothing to send, so their silence proves nothing.
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

    /// Makes this rank report that it is alive while it waits for the others, for example at the
    /// end of a job, until the next [`prepare_call`](Self::prepare_call).
    pub fn wait_for_others(&mut self) {
        self.waits = true;
    }

    /// Sets whether packets of other ranks are seen whose collectives this rank has not begun.
    /// Meanwhile it reports that it is alive, and the others wait for it.
    pub fn set_behind(&mut self, now_ns: u64, sees_others_ahead: bool) {
        if let Some(control) = &mut self.agreement.control {
            control.set_behind(now_ns, sees_others_ahead);
        }
    }

    /// Returns whether this rank starts no collective because it waits for ranks that are alive and
    /// behind: see [`set_behind`](Self::set_behind).
    pub fn waits_for_behind(&mut self, now_ns: u64) -> bool {
        self.agreement.control.as_mut().is_some_and(|control| control.waits_for_behind(now_ns))
    }

    /// Sets whether the data plane is overdue. Meanwhile this rank reports that it is alive.
    pub fn set_late(&mut self, is_late: bool) {
        self.is_late = is_late;
    }

    /// Latest time for the next [`poll`](Self::poll) if no event occurs before.
    pub fn next_timeout(&self) -> Option<u64> {
        let misfit = self.misfit.map(|misfit| misfit.until_ns);
        self.pipeline.next_timeout().into_iter().chain(self.agreement.next_timeout()).chain(misfit).min()
    }

    /// Runs one all-reduce to its end. `data` is the gradient and becomes the result. `clock`
    /// returns the time in ns before each poll and may sleep.
    ///
    /// # Errors
    /// See [`CollectivesError`]; `data` is unchanged.
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

    /// Releases a declared bucket's result memory, and no longer prepares the bucket ahead of the
    /// caller.
    ///
    /// Before a bucket's number is declared again, all ranks must have released it. Otherwise a
    /// late rank would arm windows with the old settings and send wrong means.
    pub fn release_bucket(&mut self, bucket: u16) -> Result<(), CollectivesError<P::Error>> {
        self.pipeline.spares.forget(bucket);
        self.pipeline.release(bucket, &mut self.plane, self.agreement.repairs.as_mut())
    }

    /// Number of the next collective to be prepared or preposted.
    pub fn next_op(&self) -> u32 {
        self.pipeline.next_op
    }

    /// The data plane.
    pub fn plane(&self) -> &P {
        &self.plane
    }

    /// The data plane, for state that the protocol does not use.
    pub fn plane_mut(&mut self) -> &mut P {
        &mut self.plane
    }

    /// Parameters of the job, with the bound of the last prepared collective.
    pub fn params(&self) -> &JobParams {
        &self.params
    }

    /// Returns whether any action was pending.
    fn act(&mut self, now_ns: u64) -> Result<bool, CollectivesError<P::Error>> {
        let acted = self.pipeline.act(now_ns, &mut self.plane, &self.params, &self.tuning)?;
        if let Some(open) = self.pipeline.newest_open() {
            self.agreement.armed(open.machine.op(), &open.view);
        }
        Ok(acted)
    }

    fn next_view(&mut self, now_ns: u64) -> Option<View> {
        self.agreement.view_of(now_ns, self.pipeline.next_op)
    }

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
