//! Drives collectives over a data plane.
//!
//! Why: windows of the next collective are armed while the present one runs, so that a peer that is ahead is not lost,
//! and a host that is late costs its peers no more than the bound.
//! Collectives are numbered in the order of `prepare`, which must be the same on all ranks.
//! Limits: never waits by itself; the caller polls, with its own clock, which must not run backwards.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use optireduce_contract::limits::{BEAT_BYTES, LANES, RANKS_MAX};
use thiserror::Error;

use crate::data_plane::{DataPlane, PlaneEvent};
use crate::protocol::membership::{BadMessage, Output};
use crate::protocol::{
    Action, AllReduce, Control, EarlyController, EarlyRule, IncastController, JobParams, Kind, MembershipParams,
    Metrics, ParamError, Parts, PlanError, ProtocolError, RateController, RefusedStatus, Report, Safeguard, Stage,
    StageReport, View,
};
use crate::spans::Spans;

/// A finished collective.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// How it went.
    pub report: Report,
    /// Mean gradient, or what else the collective gives ([`Kind`]); entries that nobody delivered are zero.
    pub result: Vec<f32>,
}

/// A collective that all ranks are to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// What is done.
    pub kind: Kind,
    /// Bucket id, below [`BUCKETS_MAX`](crate::protocol::BUCKETS_MAX).
    pub bucket: u16,
    /// Elements of the bucket; of an all-gather all parts together.
    pub elements: usize,
    /// Whether it travels Hadamard-encoded; all-reduces only.
    pub hadamard: bool,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, bucket, elements, hadamard } = self;
        write!(f, "{kind} of bucket {bucket} with {elements} elements, hadamard {hadamard}")
    }
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
    /// What is given is not as long as the bucket or, in an all-gather, as this rank's part of it.
    #[error("collective {op}: {found} elements are given, the bucket as it was prepared takes {expected}")]
    WrongLength {
        /// Collective number.
        op: u32,
        /// Elements given.
        found: usize,
        /// Elements expected.
        expected: usize,
    },
    /// The peers are at another collective.
    #[error(
        "collective {op} was prepared as {found}; the peers are at {expected}; all ranks must call the same in the same order"
    )]
    OutOfOrder {
        /// Collective number.
        op: u32,
        /// What this rank calls.
        found: Call,
        /// What the peers call, as long as the last time.
        expected: Call,
    },
    /// It is not decided which ranks take part in the next collective, or this rank does not.
    #[error(
        "collective {op}: the ranks have not agreed on who takes part; handle their messages and ask `may_prepare` again"
    )]
    NoView {
        /// Collective number.
        op: u32,
    },
    /// The ranks of the data plane cannot change.
    #[error("a change of ranks is not supported by this data plane")]
    FixedRanks,
    /// The data plane does not know this kind of collective.
    #[error("{0} is not supported by this data plane; ranks without a card can do it")]
    NotSupported(Kind),
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
    /// [`DataPlane::late_bytes`] when the last collective finished.
    late_bytes: u64,
    /// Sets the incast, if it is to follow the loss.
    incast: Option<IncastController>,
    /// Sets the rate of each rank, if it is to follow the round-trip times.
    rates: Option<Vec<RateController>>,
    /// What the ranks agree on, if they do.
    control: Option<Control>,
    /// The view of all ranks.
    first: View,
    /// Number of the view that the data plane is in.
    entered: u32,
    /// The incarnation with which this rank wants to join.
    joining: Option<u64>,
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

/// What happened among the ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Nothing came from this rank for several collectives.
    Silent {
        /// The rank.
        rank: usize,
    },
    /// The ranks that take part from `first_op` on were decided.
    View(View),
    /// This rank takes no part any more; it may [`join`](Collectives::join) again.
    Dropped,
}

/// A message of another rank that says nothing. It was not used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MessageError {
    /// Not a message.
    #[error("a message of {bytes} bytes from rank {from} that is none; do all ranks run the same release?")]
    Malformed {
        /// The sender.
        from: usize,
        /// Its length.
        bytes: usize,
    },
    /// Not possible in this job.
    #[error(transparent)]
    Membership(#[from] BadMessage),
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
            first: View { number: 0, ranks: u64::MAX >> (RANKS_MAX - params.ranks), first_op: 0, joined: None },
            entered: 0,
            joining: None,
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

    /// Lets the ranks agree on who takes part: those that are silent are dropped, and may come back. All ranks must do so,
    /// before the first collective, with the same parameters; messages are to be carried from
    /// [`poll_message`](Self::poll_message) to [`handle_message`](Self::handle_message) over a reliable channel.
    /// `remeasure`: whether t_B is measured again, see [`must_measure`](Self::must_measure).
    ///
    /// # Errors
    /// If the data plane's ranks cannot change, or a parameter is out of range.
    pub fn follow_members(
        &mut self,
        params: MembershipParams,
        remeasure: bool,
    ) -> Result<(), CollectivesError<P::Error>> {
        if !self.plane.takes_views() {
            return Err(CollectivesError::FixedRanks);
        }
        self.control = Some(Control::new(self.params.rank, params, remeasure)?);
        Ok(())
    }

    /// Whether the next collective may be prepared: it is known who takes part, and t_B needs not be measured before. Without a
    /// quorum of ranks that never comes true again: the caller sets a deadline.
    pub fn may_prepare(&mut self, now_ns: u64) -> bool {
        let may = self.foreseen > 0 || self.next_view(now_ns).is_some();
        self.take_outputs();
        may
    }

    /// The newest view; that of all ranks while this rank takes no part.
    pub fn newest(&self) -> View {
        self.control.as_ref().and_then(Control::newest).copied().unwrap_or(self.first)
    }

    /// Whether this rank takes part.
    pub fn is_member(&self) -> bool {
        self.control.as_ref().is_none_or(|control| control.newest().is_some())
    }

    /// If all ranks are to measure t_B now, before the next collective: which, and with how many elements. The caller measures and
    /// calls [`measured`](Self::measured).
    pub fn must_measure(&mut self, now_ns: u64) -> Option<(View, usize)> {
        if !self.running.is_empty() || !self.control.as_ref().is_some_and(Control::is_measuring) {
            return None;
        }
        let control = self.control.as_mut()?;
        let view = control.view_of(now_ns, self.next_op).filter(|view| control.must_measure(view));
        self.take_outputs();
        Some((view?, self.known.values().copied().max().unwrap_or(0)))
    }

    /// t_B was measured as [`must_measure`](Self::must_measure) said; `None`: that failed, and t_B stays.
    pub fn measured(&mut self, view: &View, bound_ns: Option<u64>) {
        let old_ns = self.params.bound_ns;
        self.params.bound_ns = bound_ns.unwrap_or(old_ns).clamp(1, u32::MAX.into());
        if let Some((early, _)) = &mut self.early {
            early.set_bound_ns(self.params.bound_ns);
        }
        if let Some(control) = &mut self.control {
            control.measured(view, self.next_op, old_ns, self.params.bound_ns);
        }
    }

    /// Lets agreements go on; [`poll`](Self::poll) does so, too.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        if let Some(control) = &mut self.control {
            control.handle_timeout(now_ns);
        }
        self.take_outputs();
    }

    /// Takes a message of rank `from`.
    ///
    /// # Errors
    /// [`MessageError`]: nothing of it was used.
    pub fn handle_message(&mut self, now_ns: u64, from: usize, bytes: &[u8]) -> Result<(), MessageError> {
        let message =
            serde_json::from_slice(bytes).map_err(|_| MessageError::Malformed { from, bytes: bytes.len() })?;
        if let Some(control) = &mut self.control {
            control.handle_message(now_ns, from, message)?;
        }
        self.take_outputs();
        Ok(())
    }

    /// The reliable channel to a rank has ended.
    pub fn handle_gone(&mut self, rank: usize) {
        if let Some(control) = &mut self.control {
            control.handle_gone(rank);
        }
    }

    /// The next message to send on the reliable channel, and to whom.
    pub fn poll_message(&mut self) -> Option<(usize, Vec<u8>)> {
        self.outgoing.pop_front()
    }

    /// What else has happened among the ranks.
    pub fn poll_news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// Asks the others to let this rank take part again, after it was dropped; there is [`News::View`] of it once they do,
    /// and the next collective is then the view's first. `incarnation`: above 0, and greater than at any time before.
    ///
    /// # Errors
    /// If collectives are still running.
    pub fn join(&mut self, now_ns: u64, incarnation: u64) -> Result<(), CollectivesError<P::Error>> {
        if !self.running.is_empty() {
            return Err(CollectivesError::Busy { running: self.running.len() });
        }
        self.joining = Some(incarnation);
        self.ahead.clear();
        if let Some(control) = &mut self.control {
            control.join(now_ns, incarnation);
        }
        self.take_outputs();
        Ok(())
    }

    /// The view of the next collective, if it is known and nothing is to be done before.
    fn next_view(&mut self, now_ns: u64) -> Option<View> {
        let Some(control) = &mut self.control else { return Some(self.first) };
        control.view_of(now_ns, self.next_op).filter(|view| !control.must_measure(view))
    }

    fn take_outputs(&mut self) {
        while let Some(output) = self.control.as_mut().and_then(Control::poll) {
            match output {
                Output::Send { to, message } => {
                    self.outgoing.push_back((to, serde_json::to_vec(&message).unwrap_or_default()));
                }
                Output::Silent { rank } => self.news.push_back(News::Silent { rank }),
                Output::Dropped => self.news.push_back(News::Dropped),
                Output::View(view) => {
                    let joined = self.joining.map(|incarnation| (self.params.rank as u16, incarnation));
                    if joined.is_some() && view.joined == joined {
                        self.joining = None;
                        self.next_op = view.first_op;
                    }
                    self.plane.announce(&view);
                    self.news.push_back(News::View(view));
                }
            }
        }
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
        self.running.push_back(Running { machine, spans, view, heard: 0, gradient: None, result });
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
        if !self.running.front().is_some_and(|one| one.gradient.is_some() && one.machine.is_done()) {
            return Ok(None);
        }
        let finished = self.running.pop_front().map(|Running { machine, view, heard, result, .. }| {
            let (kind, result) = (machine.kind(), machine.unpack(result));
            let report = machine.finish(&mut self.safeguard);
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
            self.metrics.observe(&report);
            let heard = heard | self.plane.take_heard();
            if let Some(control) = &mut self.control {
                control.observe(now_ns, &report, heard, self.params.rank);
            }
            Finished { report, result }
        });
        self.take_outputs();
        Ok(finished)
    }

    /// When [`poll`](Self::poll) is to be called at the latest, should nothing happen before: the watchdog,
    /// or an agreement that waits.
    pub fn next_timeout(&self) -> Option<u64> {
        let control = self.control.as_ref().and_then(Control::next_timeout);
        self.running.iter().filter_map(|one| one.machine.next_timeout()).chain(control).min()
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
                        if let Some((early, grace_min_ns)) = &self.early {
                            let grace_ns = Stage::ALL.map(|stage| early.grace_ns(plan.bucket, stage));
                            let grace_ns = grace_ns.into_iter().max().and_then(|ns| u32::try_from(ns).ok());
                            let grace_ns = grace_ns.unwrap_or(u32::MAX).max(*grace_min_ns);
                            params.early = Some(EarlyRule { grace_ns });
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
