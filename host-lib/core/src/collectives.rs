//! Drives collectives over a data plane.
//!
//! Why: windows of the next collective are armed while the present one runs, so that a peer that is ahead is not lost,
//! and a host that is late costs its peers no more than the bound.
//! Collectives are numbered in the order of `prepare`, which must be the same on all ranks.
//! Limits: never waits by itself; the caller polls, with its own clock, which must not run backwards.

mod ranks;
mod types;

use std::collections::{HashMap, VecDeque};

use optireduce_contract::limits::{BEAT_BYTES, LANES, RANKS_MAX};

pub use self::types::{Call, CollectivesError, Finished, MessageError, News};

use crate::data_plane::{DataPlane, PlaneEvent};
use crate::protocol::{
    Action, AllReduce, Control, Decided, EarlyController, EarlyRule, IncastController, JobParams, Kind, Metrics, Parts,
    PlanError, ProtocolError, RateController, RefusedStatus, Report, Safeguard, Stage, StageReport, UpdateAction,
    Verdicts, View, WindowPlan,
};
use crate::repairs::{Remains, Repairs};
use crate::spans::Spans;

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
    /// [`DataPlane::late_bytes`] when the last collective finished.
    late_bytes: u64,
    /// Sets the incast, if it is to follow the loss.
    incast: Option<IncastController>,
    /// Sets the rate of each rank, if it is to follow the round-trip times.
    rates: Option<Vec<RateController>>,
    /// What the ranks agree on, if they do.
    control: Option<Control>,
    /// Agrees on skipped updates, if the ranks do; the collective that waits for it.
    verdicts: Option<Verdicts>,
    held: Option<Held>,
    /// The view of all ranks.
    first: View,
    /// Number of the view that the data plane is in.
    entered: u32,
    /// The incarnation with which this rank wants to join.
    joining: Option<u64>,
    /// Fetches what broadcasts lost, if they are to be repaired.
    repairs: Option<Repairs>,
    outgoing: VecDeque<(usize, Vec<u8>)>,
    news: VecDeque<News>,
    metrics: Metrics,
    next_op: u32,
    running: VecDeque<Running>,
    /// Elements of each bucket on the wire, the last time.
    known: HashMap<u16, usize>,
    /// Collectives of peers that are ahead, not prepared here yet: bucket, step, hadamard.
    ahead: Vec<(u16, u16, bool)>,
    /// How many of the youngest in `running` were prepared because peers are at them.
    foreseen: usize,
}

/// Collectives that are prepared without the caller, at most.
const FORESEEN_MAX: usize = 2;
/// The slowest that a rate becomes, 50 Mb/s, if the bound allows.
const RATE_MIN_BYTES_PER_US: f64 = 6.25;
/// Collectives of peers that are remembered, at most.
const AHEAD_MAX: usize = 64;

#[derive(Debug)]
struct Running {
    machine: AllReduce,
    spans: Spans,
    /// Who takes part, and who was heard so far (bit r: rank r of the job).
    view: View,
    heard: u64,
    /// What this rank gives, as the windows hold it, once started.
    gradient: Option<Vec<f32>>,
    result: Vec<f32>,
    /// Of each window, if it may have to be repaired.
    remains: Vec<(WindowPlan, Remains)>,
}

/// A collective that has ended, and what may have to be repaired of it.
#[derive(Debug)]
struct Held {
    finished: Finished,
    view: View,
    remains: Vec<(WindowPlan, Remains)>,
}

impl<P: DataPlane> Collectives<P> {
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(plane: P, params: JobParams) -> Result<Self, CollectivesError<P::Error>> {
        params.check(&plane.limits())?;
        Ok(Self {
            plane,
            safeguard: Safeguard::default(),
            early: None,
            late_bytes: 0,
            incast: None,
            rates: None,
            control: None,
            verdicts: None,
            held: None,
            first: View { number: 0, ranks: u64::MAX >> (RANKS_MAX - params.ranks), first_op: 0, joined: None },
            entered: 0,
            joining: None,
            repairs: None,
            outgoing: VecDeque::new(),
            news: VecDeque::new(),
            metrics: Metrics::default(),
            next_op: 0,
            running: VecDeque::new(),
            known: HashMap::new(),
            ahead: Vec::new(),
            foreseen: 0,
            params,
        })
    }

    /// Lets the early rule's grace time follow the stage times of all ranks (OptiReduce 3.2.1) instead of staying what the
    /// parameters say, but never below `grace_min_ns`. Stages share the longer one, since a card has one for both.
    pub fn follow_stage_times(&mut self, grace_min_ns: u32) {
        self.early = Some((EarlyController::new(self.params.bound_ns), grace_min_ns));
    }

    /// The grace time of a bucket's next windows in ns, if it follows the stage times.
    pub fn grace_ns(&self, bucket: u16) -> Option<u32> {
        self.early.as_ref().map(|early| grace_ns(early, bucket))
    }

    /// Lets the incast follow the loss at its receivers (OptiReduce 3.2.2), from what the parameters say. Peers that do not
    /// say what they bear count as 1.
    pub fn follow_incast(&mut self) {
        self.incast = Some(IncastController::new(self.params.ranks, self.params.incast));
    }

    /// Lets the rate of each peer follow the round-trip times of its answers (OptiReduce 3.2.3), from `max_bytes_per_us`
    /// down, but never so far that a bucket's shard would take more than half the bound.
    pub fn follow_round_trips(&mut self, max_bytes_per_us: u32) {
        let rate = RateController::new(RATE_MIN_BYTES_PER_US, max_bytes_per_us.into());
        self.rates = Some(vec![rate; self.params.ranks]);
    }

    /// How fast a peer is sent to in bytes per microsecond, if that follows the round-trip times.
    pub fn rate_bytes_per_us(&self, peer: usize) -> Option<f64> {
        self.rates.as_ref()?.get(peer).map(RateController::rate_bytes_per_us)
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
        self.prepare_call(now_ns, Call { kind: Kind::AllReduce, bucket, elements, hadamard })
    }

    /// As [`prepare`](Self::prepare), for any kind of collective. An all-gather begins only when this rank has given its
    /// part.
    ///
    /// # Errors
    /// See [`CollectivesError`]. Nothing has changed if the data plane or the bucket's number does not allow the call.
    pub fn prepare_call(&mut self, now_ns: u64, call: Call) -> Result<u32, CollectivesError<P::Error>> {
        if !self.plane.supports(call.kind) {
            return Err(CollectivesError::NotSupported(call.kind));
        }
        let bucket = call.kind.wire_bucket(call.bucket).ok_or(PlanError::Bucket { found: call.bucket })?;
        if self.foreseen > 0 {
            return self.claim(call);
        }
        let view = self.next_view(now_ns).ok_or(CollectivesError::NoView { op: self.next_op });
        self.take_outputs();
        let op = self.push(view?, call)?;
        self.known.insert(bucket, call.elements);
        self.act(now_ns)?;
        Ok(op)
    }

    fn push(&mut self, view: View, call: Call) -> Result<u32, CollectivesError<P::Error>> {
        let (op, Call { kind, bucket, elements, hadamard }) = (self.next_op, call);
        self.raise_rates(elements);
        let params = self.params.of_view(&view);
        let machine = match kind {
            Kind::AllReduce => AllReduce::new(&params, op, bucket, elements, hadamard)?,
            _ => {
                let parts = Parts::among(view.live().collect(), elements, self.params.ranks);
                AllReduce::half(&params, op, kind, bucket, parts)?
            }
        };
        self.next_op = op.wrapping_add(1);
        let result = vec![0.0; machine.wire_elements()];
        let spans = Spans::prepared(&machine, self.params.rank);
        let remains = Vec::new();
        self.running.push_back(Running { machine, spans, view, heard: 0, gradient: None, result, remains });
        Ok(op)
    }

    /// A bucket of so many elements must get through: the shard of what is in flight at a time in half the bound.
    fn raise_rates(&mut self, elements: usize) {
        let JobParams { ranks, in_flight, window_beats_max, bound_ns, .. } = self.params;
        let beats = elements.div_ceil(LANES).min(in_flight * window_beats_max).div_ceil(ranks);
        let floor = (beats * BEAT_BYTES) as f64 * 2000.0 / bound_ns as f64;
        self.rates.iter_mut().flatten().for_each(|rate| rate.raise_floor(floor));
    }

    /// The oldest collective that was prepared because peers are at it, if it is the one that the caller means.
    fn claim(&mut self, found: Call) -> Result<u32, CollectivesError<P::Error>> {
        let machine = &self.running[self.running.len() - self.foreseen].machine;
        let (op, (bucket, elements, hadamard)) = (machine.op(), machine.bucket());
        let expected = Call { kind: machine.kind(), bucket, elements, hadamard };
        if found != expected {
            return Err(CollectivesError::OutOfOrder { op, found, expected });
        }
        self.foreseen -= 1;
        Ok(op)
    }

    /// Prepares what peers are at, as far as its buckets are known, so that this rank's data plane sums its shards while
    /// its host is late.
    fn foresee(&mut self, now_ns: u64) -> Result<(), CollectivesError<P::Error>> {
        while self.foreseen < FORESEEN_MAX {
            let step = self.next_op as u16;
            self.ahead.retain(|(_, ahead, _)| ahead.wrapping_sub(step).cast_signed() >= 0);
            let Some(&(bucket, _, hadamard)) = self.ahead.iter().find(|(_, ahead, _)| *ahead == step) else { break };
            let (Some(&elements), Some((kind, bucket))) = (self.known.get(&bucket), Kind::of_wire(bucket)) else {
                break;
            };
            let Some(view) = self.next_view(now_ns) else { break };
            self.push(view, Call { kind, bucket, elements, hadamard })?;
            self.foreseen += 1;
        }
        self.take_outputs();
        Ok(())
    }

    /// What this rank gives to collective `op` is there (its gradient, its part): contributes it.
    ///
    /// # Errors
    /// See [`CollectivesError`].
    pub fn start(&mut self, now_ns: u64, op: u32, gradient: Vec<f32>) -> Result<(), CollectivesError<P::Error>> {
        let waits = |one: &&mut Running| one.machine.op() == op && one.gradient.is_none();
        let one = self.running.iter_mut().find(waits).ok_or(CollectivesError::NotPrepared { op })?;
        let (found, expected) = (gradient.len(), one.machine.given_elements());
        if found != expected {
            return Err(CollectivesError::WrongLength { op, found, expected });
        }
        one.gradient = Some(one.machine.pack(gradient));
        one.machine.start();
        one.spans.enter(Stage::Contribute);
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
                PlaneEvent::RoundTrip { peer, rtt_ns } => {
                    if let Some(rate) = self.rates.as_mut().and_then(|rates| rates.get_mut(peer)) {
                        rate.observe_rtt(rtt_ns);
                        self.plane.set_rate(peer, rate.rate_bytes_per_us().ceil() as u32);
                    }
                }
            }
        }
        self.handle_timeout(now_ns);
        self.foresee(now_ns)?;
        self.act(now_ns)?;
        for one in &self.running {
            one.machine.handle_timeout(now_ns)?;
        }
        if self.held.is_some() {
            let released = self.release(now_ns);
            self.take_outputs();
            return Ok(released);
        }
        if !self.running.front().is_some_and(|one| one.gradient.is_some() && one.machine.is_done()) {
            return Ok(None);
        }
        let mut opinion = Safeguard::default();
        let finished = self.running.pop_front().map(|Running { machine, view, heard, result, remains, .. }| {
            let (kind, result) = (machine.kind(), machine.unpack(result));
            // If it is to be agreed on, this is one rank's opinion.
            let opinion = self.verdicts.is_some().then_some(&mut opinion);
            let report = machine.finish(opinion.unwrap_or(&mut self.safeguard));
            let late_share = self.plane.late_bytes().map_or(1.0, |late_bytes| {
                let expected: u64 = report.stages.iter().map(|summary| summary.expected_bytes).sum();
                (late_bytes - std::mem::replace(&mut self.late_bytes, late_bytes)) as f64 / expected.max(1) as f64
            });
            for (stage, summary) in Stage::ALL.into_iter().zip(&report.stages).filter(|(stage, _)| kind.sends(*stage)) {
                if let Some((early, _)) = &mut self.early {
                    // Longer grace does not bring back what the network lost, only what came a little too late.
                    let loss = (1.0 - summary.received_fraction).min(late_share);
                    let bucket = kind.wire_bucket(report.bucket).unwrap_or(report.bucket);
                    early.observe(bucket, stage, loss, &summary.samples_16us);
                }
                if let Some(incast) = &mut self.incast {
                    incast.observe(summary);
                }
            }
            let live: Vec<usize> = view.live().collect();
            let report = report.renumbered(&live, self.params.ranks);
            let heard = heard | self.plane.take_heard();
            if let Some(control) = &mut self.control {
                control.observe(now_ns, &report, heard, self.params.rank);
            }
            if let Some(verdicts) = &mut self.verdicts {
                verdicts.judge(now_ns, report.op, view.ranks, report.action != UpdateAction::Apply);
            }
            Held { finished: Finished { report, result }, view, remains }
        });
        self.held = finished;
        let released = self.release(now_ns);
        self.take_outputs();
        Ok(released)
    }

    /// What has finished, once it is known what becomes of it.
    fn release(&mut self, now_ns: u64) -> Option<Finished> {
        if let Some(verdicts) = &mut self.verdicts {
            let Decided { skip, agreed } = verdicts.decided(now_ns)?;
            let Finished { report, .. } = &mut self.held.as_mut()?.finished;
            (report.action, report.agreed) = (self.safeguard.count(skip), agreed);
        }
        let Held { mut finished, view, remains } = self.held.take()?;
        let Finished { report, result } = &mut finished;
        self.metrics.observe(report);
        if let Some(repairs) = &mut self.repairs {
            let place = view.live().position(|rank| rank == self.params.rank).unwrap_or(0);
            let applied = report.action == UpdateAction::Apply;
            for (plan, Remains { own, incomplete }) in remains {
                repairs.keep(report.op, place, &plan, own);
                if let Some((gathered, present)) = incomplete.filter(|_| applied) {
                    repairs.miss(report.op, &view, plan, gathered, present, self.params.rank);
                }
            }
            repairs.finish(report.op);
            if report.kind == Kind::AllReduce && applied {
                repairs.fold(report.bucket, result);
            }
        }
        Some(finished)
    }

    /// When [`poll`](Self::poll) is to be called at the latest, should nothing happen before: the watchdog,
    /// or an agreement that waits.
    pub fn next_timeout(&self) -> Option<u64> {
        let control = self.control.as_ref().and_then(Control::next_timeout);
        let verdicts = self.verdicts.as_ref().and_then(Verdicts::next_timeout);
        self.running.iter().filter_map(|one| one.machine.next_timeout()).chain(control).chain(verdicts).min()
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
        if !self.is_idle() {
            return Err(CollectivesError::Busy { running: self.running.len() + usize::from(self.held.is_some()) });
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
            // With slots left, all windows of the view before are armed.
            if self.entered != one.view.number {
                if slots_free == 0 || !self.plane.enter(&one.view).map_err(CollectivesError::Plane)? {
                    break;
                }
                self.entered = one.view.number;
            }
            while let Some(action) = one.machine.poll(now_ns, slots_free) {
                acted = true;
                match action {
                    Action::Arm(plan) => {
                        slots_free -= 1;
                        let mut params = one.machine.params().clone();
                        if let Some(early) = &self.early {
                            params.early = Some(EarlyRule { grace_ns: grace_ns(early, plan.bucket) });
                        }
                        if let Some(incast) = &self.incast {
                            let peers = one.view.live().filter(|peer| *peer != self.params.rank);
                            params.incast = incast.send_incast(peers);
                            params.advertised_incast = incast.advertised().into();
                        }
                        self.plane.arm(&plan, &params).map_err(CollectivesError::Plane)?;
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
        for (place, rank) in one.view.live().enumerate() {
            one.heard |= (report.heard >> place & 1) << rank;
            if let (Some(incast), Some(said)) = (&mut self.incast, report.said.get(place))
                && said.incast > 0
            {
                incast.hear(rank, said.incast);
            }
        }
        one.machine.handle_report(now_ns, report)?;
        one.spans.closed(stage, &one.machine);
        if stage == Stage::Broadcast {
            let plan = one.machine.plan_of(cookie)?;
            let repaired = self.repairs.is_some() && one.machine.kind() == Kind::AllReduce;
            let remains = if repaired { self.plane.remains(plan) } else { None };
            let out = &mut one.result[plan.first_element..plan.first_element + plan.elements];
            self.plane.take_result(plan, out).map_err(CollectivesError::Plane)?;
            if repaired {
                let remains = remains.unwrap_or_else(|| own_shard(plan, one.machine.params().rank, out));
                one.remains.push((plan.clone(), remains));
            }
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

/// What the output says of the own shard, as it was sent if the window was not encoded: all that a card's rank has.
fn own_shard(plan: &WindowPlan, place: usize, output: &[f32]) -> Remains {
    let shard = plan.shards.range_of(place);
    let value = |index: usize| output.get(index).copied().unwrap_or(0.0);
    let own = if plan.hadamard { 0..0 } else { shard.start * LANES..shard.end * LANES };
    Remains { own: own.map(value).collect(), incomplete: None }
}

/// What the stage times say for both stages, and not below the floor beside them.
fn grace_ns((early, grace_min_ns): &(EarlyController, u32), bucket: u16) -> u32 {
    let grace_ns = Stage::ALL.into_iter().map(|stage| early.grace_ns(bucket, stage)).max().unwrap_or(0);
    u32::try_from(grace_ns).unwrap_or(u32::MAX).max(*grace_min_ns)
}

/// The collective that a cookie belongs to.
fn find(running: &mut VecDeque<Running>, cookie: u32) -> Option<&mut Running> {
    running.iter_mut().find(|one| one.machine.plan_of(cookie).is_ok())
}
