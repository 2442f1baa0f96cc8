//! One collective of one bucket: Transpose AllReduce (OptiReduce 3.1), as a pure state machine.
//!
//! Each window is armed (accepts packets of peers), contributed (this rank's gradient is sent), and
//! then closes its contribute and its broadcast stage. Windows run in parallel. Windows of a late
//! rank close by their clocks with the means of its peers. Once the gradient is available, a
//! watchdog bounds every wait.

use std::ops::Range;

use thiserror::Error;

use super::params::JobParams;
use super::partial::{Parts, plan_partial};
use super::plan::{PlanError, WindowPlan, plan_windows};
use super::report::{RepairStatus, Report, StageReport, StageSummary, fraction};
use super::safeguard::Safeguard;
use super::types::{ClosedBy, Kind, RefusedStatus, Stage, UpdateAction};
use crate::values::Values;
use optireduce_contract::limits::BEAT_BYTES;

/// Limit on the slowest peer's time, relative to the next slowest: in the last of two rounds,
/// packets take twice as long without being late.
const SLOWEST_MAX: u64 = 2;

/// Command to the data plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reserve a slot for the window and open its stages.
    Arm(WindowPlan),
    /// Send this rank's gradient of the window.
    Contribute(WindowPlan),
}

/// Invalid report, refused command or watchdog timeout. The collective cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)] // described above
pub enum ProtocolError {
    #[error("collective {op}: unknown cookie {cookie:#010x} (this collective has {windows} windows)")]
    UnknownWindow { op: u32, cookie: u32, windows: usize },
    #[error(
        "collective {op} window {window}: unexpected report of the {stage} stage; not armed, repeated, or out of order"
    )]
    UnexpectedReport { op: u32, window: u16, stage: Stage },
    #[error("collective {op} window {window}, {stage} stage: {found} bytes from rank {from}, expected {expected}")]
    WrongCount { op: u32, window: u16, stage: Stage, from: usize, found: u64, expected: u64 },
    #[error("collective {op} window {window}, {stage} stage: report of {found} ranks, expected {expected}")]
    WrongRanks { op: u32, window: u16, stage: Stage, found: usize, expected: usize },
    #[error("collective {op} window {window}: the data plane refused a command: {status:?}")]
    Refused { op: u32, window: u16, status: RefusedStatus },
    #[error(
        "collective {op} window {window}: no report of the {stage} stage {late_ns} ns after its bound of {bound_ns} \
         ns and the slack; the card or its host memory does not answer"
    )]
    StageOverdue { op: u32, window: u16, stage: Stage, bound_ns: u64, late_ns: u64 },
}

/// One collective of one bucket on one rank.
///
/// [`poll`](Self::poll) arms windows, and contributes them after [`start`](Self::start). After each
/// event and at [`next_timeout`](Self::next_timeout), pass in all events, poll until `None`, and
/// call [`handle_timeout`](Self::handle_timeout). When [`is_done`](Self::is_done), call
/// [`finish`](Self::finish). After an error the collective is unusable.
#[derive(Clone, Debug)]
pub struct AllReduce {
    params: JobParams,
    kind: Kind,
    op: u32,
    bucket: u16,
    parts: Parts,
    hadamard: bool,
    started: bool,
    armed: usize,
    windows: Vec<Window>,
}

#[derive(Clone, Debug)]
struct Window {
    plan: WindowPlan,
    contributed: bool,
    refused: bool,
    stages: [Option<StageReport>; 2],
    /// Time at which the next stage's report is overdue.
    overdue_ns: Option<u64>,
}

impl Window {
    fn is_done(&self) -> bool {
        self.stages[Stage::Broadcast.index()].is_some()
    }

    fn next_stage(&self) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| self.stages[stage.index()].is_none())
    }
}

impl AllReduce {
    /// Plans collective `op`. The parameters must have passed [`JobParams::check`].
    ///
    /// # Errors
    /// If the bucket cannot be cut into windows.
    pub fn new(params: &JobParams, op: u32, bucket: u16, elements: usize, hadamard: bool) -> Result<Self, PlanError> {
        let plans = plan_windows(params, op, bucket, elements, hadamard)?;
        Ok(Self::of(plans, params, Kind::AllReduce, op, bucket, Parts::new(elements, params.ranks), hadamard))
    }

    /// Likewise a reduce-scatter or an all-gather, which are never Hadamard-encoded.
    pub fn partial(params: &JobParams, op: u32, kind: Kind, bucket: u16, parts: Parts) -> Result<Self, PlanError> {
        let plans = plan_partial(params, op, kind, bucket, &parts)?;
        Ok(Self::of(plans, params, kind, op, bucket, parts, false))
    }

    fn of(
        plans: Vec<WindowPlan>,
        params: &JobParams,
        kind: Kind,
        op: u32,
        bucket: u16,
        parts: Parts,
        hadamard: bool,
    ) -> Self {
        let window = |plan| Window { plan, contributed: false, refused: false, stages: [None, None], overdue_ns: None };
        let windows = plans.into_iter().map(window).collect();
        Self { params: params.clone(), kind, op, bucket, parts, hadamard, started: false, armed: 0, windows }
    }

    /// Number of elements of this rank's input.
    pub fn given_elements(&self) -> usize {
        if self.kind == Kind::AllGather { self.own_part().len() } else { self.parts.elements() }
    }

    /// Number of elements in all windows, without the padding of the last.
    pub fn wire_elements(&self) -> usize {
        if self.kind == Kind::AllReduce { self.parts.elements() } else { self.parts.wire_elements() }
    }

    /// Orders this rank's input as the windows hold it. `wire` provides a buffer of
    /// [`wire_elements`](Self::wire_elements) with any content; an all-reduce needs none.
    pub fn pack(&self, given: Values, wire: impl FnOnce() -> Vec<f32>) -> Values {
        if self.kind == Kind::AllReduce {
            return given;
        }
        let mut wire = wire();
        if self.kind == Kind::AllGather {
            self.parts.scatter(self.plans(), self.params.rank, &given, &mut wire);
        } else {
            let parts = self.parts.live().enumerate();
            parts.for_each(|(index, part)| self.parts.scatter(self.plans(), index, &given[part], &mut wire));
        }
        wire.into()
    }

    /// Extracts this rank's result.
    pub fn unpack(&self, wire: Values) -> Values {
        if self.kind == Kind::AllReduce { wire } else { self.unpacked(&wire).into() }
    }

    /// As [`unpack`](Self::unpack), but always copies.
    pub fn unpacked(&self, wire: &[f32]) -> Vec<f32> {
        match self.kind {
            Kind::AllReduce => wire.to_vec(),
            Kind::ReduceScatter => {
                let mut part = vec![0.0; self.own_part().len()];
                self.parts.gather(self.plans(), self.params.rank, wire, &mut part);
                part
            }
            Kind::AllGather => {
                let mut whole = vec![0.0; self.parts.elements()];
                let parts = self.parts.live().enumerate();
                parts.for_each(|(index, part)| self.parts.gather(self.plans(), index, wire, &mut whole[part]));
                whole
            }
        }
    }

    /// Maps missing ranges of the windows to sorted ranges of the bucket. An all-gather adds the
    /// parts of dropped ranks.
    pub fn missing_of(&self, wire: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut missing = wire.to_vec();
        if self.kind != Kind::AllReduce && !wire.is_empty() {
            let mut marks = vec![0.0; self.wire_elements()];
            wire.iter().for_each(|range| marks[range.clone()].fill(1.0));
            let marks = self.unpacked(&marks);
            missing = (0..marks.len()).filter(|at| marks[*at] > 0.0).map(|at| at..at + 1).collect();
        }
        if self.kind == Kind::AllGather {
            missing.extend(self.parts.dropped());
        }
        missing.sort_unstable_by_key(|range| range.start);
        let mut merged: Vec<Range<usize>> = Vec::new();
        for range in missing.into_iter().filter(|range| !range.is_empty()) {
            match merged.last_mut() {
                Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        merged
    }

    /// Partition of a partial collective.
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    fn own_part(&self) -> Range<usize> {
        self.parts.live().nth(self.params.rank).unwrap_or_default()
    }

    fn plans(&self) -> impl Iterator<Item = &WindowPlan> {
        self.windows.iter().map(|window| &window.plan)
    }

    /// Allows windows to be contributed.
    pub fn start(&mut self) {
        self.started = true;
    }

    /// Returns the next command, to be executed before the next call. Arming comes first. Windows
    /// that closed without this rank are not contributed.
    pub fn poll(&mut self, now_ns: u64, slots_free: usize) -> Option<Action> {
        if slots_free > 0
            && let Some(window) = self.windows.get(self.armed)
        {
            self.armed += 1;
            return Some(Action::Arm(window.plan.clone()));
        }
        if !self.started || self.in_flight() >= self.params.in_flight {
            return None;
        }
        let overdue_ns = self.overdue_from(now_ns);
        let window = self.windows[..self.armed].iter_mut().find(|window| !window.contributed && !window.is_done())?;
        window.contributed = true;
        // The watchdog already runs if the contribute stage closed without this rank.
        window.overdue_ns.get_or_insert(overdue_ns);
        Some(Action::Contribute(window.plan.clone()))
    }

    /// Handles the report of a stage.
    ///
    /// # Errors
    /// See [`ProtocolError`]; a wrong report has no effect.
    pub fn handle_report(&mut self, now_ns: u64, report: StageReport) -> Result<(), ProtocolError> {
        let (op, rank) = (self.op, self.params.rank);
        // The broadcast stage inherits the unused time of the contribute stage.
        let left_ns = self.params.bound_ns.saturating_sub(report.elapsed_ns);
        let overdue_ns = self.overdue_from(now_ns).saturating_add(left_ns);
        let index = self.window_of(report.cookie)?;
        let is_armed = index < self.armed;
        let window = &mut self.windows[index];
        let (stage, index) = (report.stage, window.plan.index);
        if !is_armed || window.next_stage() != Some(stage) {
            return Err(ProtocolError::UnexpectedReport { op, window: index, stage });
        }
        let (found, expected) = (report.received_bytes_per_rank.len(), self.params.ranks);
        if found != expected {
            return Err(ProtocolError::WrongRanks { op, window: index, stage, found, expected });
        }
        for (from, &found) in report.received_bytes_per_rank.iter().enumerate() {
            let expected = expected_bytes(&window.plan, stage, rank, from);
            if found > expected || report.closed_by == ClosedBy::Complete && found < expected {
                return Err(ProtocolError::WrongCount { op, window: index, stage, from, found, expected });
            }
        }
        window.stages[stage.index()] = Some(report);
        window.overdue_ns = (!window.is_done()).then_some(overdue_ns);
        Ok(())
    }

    /// Handles a refused command. A stale contribution is no error: this rank is late.
    pub fn handle_refused(&mut self, cookie: u32, status: RefusedStatus) -> Result<(), ProtocolError> {
        let op = self.op;
        let index = self.window_of(cookie)?;
        let window = &mut self.windows[index];
        if status != RefusedStatus::Stale || !window.contributed || window.refused {
            return Err(ProtocolError::Refused { op, window: window.plan.index, status });
        }
        window.refused = true;
        Ok(())
    }

    /// Latest time of the next call of [`handle_timeout`](Self::handle_timeout).
    pub fn next_timeout(&self) -> Option<u64> {
        self.windows.iter().filter_map(|window| window.overdue_ns).min()
    }

    /// Watchdog, to be run after all pending reports were handled.
    ///
    /// # Errors
    /// [`ProtocolError::StageOverdue`] if a stage was not reported in time.
    pub fn handle_timeout(&self, now_ns: u64) -> Result<(), ProtocolError> {
        let overdue = |window: &&Window| window.overdue_ns.is_some_and(|at| now_ns >= at);
        let Some(window) = self.windows.iter().find(overdue) else { return Ok(()) };
        Err(ProtocolError::StageOverdue {
            op: self.op,
            window: window.plan.index,
            stage: window.next_stage().unwrap_or(Stage::Broadcast),
            bound_ns: self.params.bound_ns,
            late_ns: now_ns - window.overdue_ns.unwrap_or(now_ns),
        })
    }

    /// Collective number.
    pub fn op(&self) -> u32 {
        self.op
    }

    /// Bucket id, number of elements, and whether it is Hadamard-encoded.
    pub fn bucket(&self) -> (u16, usize, bool) {
        (self.bucket, self.parts.elements(), self.hadamard)
    }

    /// Kind of the collective.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Parameters of this collective.
    pub fn params(&self) -> &JobParams {
        &self.params
    }

    /// Number of windows armed and not yet closed.
    pub fn slots_in_use(&self) -> usize {
        self.windows[..self.armed].iter().filter(|window| !window.is_done()).count()
    }

    /// Returns whether every window has been armed.
    pub fn is_armed(&self) -> bool {
        self.armed == self.windows.len()
    }

    /// Returns whether enough windows are armed to contribute [`JobParams::in_flight`] of them.
    pub fn is_open(&self) -> bool {
        self.armed >= self.windows.len().min(self.params.in_flight)
    }

    /// Plans of these windows.
    pub fn armed(&self) -> impl Iterator<Item = &WindowPlan> {
        self.windows[..self.armed].iter().filter(|window| !window.is_done()).map(|window| &window.plan)
    }

    /// Returns whether a stage of any window has closed.
    pub fn is_reported(&self) -> bool {
        self.windows[..self.armed].iter().any(|window| window.stages.iter().any(Option::is_some))
    }

    /// Ranks with bytes missing in the broadcast stage of a window, and the number of bytes.
    pub fn short_of(&self, cookie: u32) -> Vec<(usize, u64)> {
        let Some(window) = self.window_of(cookie).ok().map(|index| &self.windows[index]) else { return Vec::new() };
        let Some(report) = &window.stages[Stage::Broadcast.index()] else { return Vec::new() };
        let expected = |from| expected_bytes(&window.plan, Stage::Broadcast, self.params.rank, from);
        let received = report.received_bytes_per_rank.iter().enumerate();
        let short = received.map(|(from, received)| (from, expected(from).saturating_sub(*received)));
        short.filter(|(_, bytes)| *bytes > 0).collect()
    }

    /// Returns whether this rank's gradient reached its own shard of a window in time.
    pub fn has_contributed(&self, cookie: u32) -> bool {
        self.window_of(cookie).is_ok_and(|index| self.has_own_contribution(&self.windows[index]))
    }

    /// Returns whether every window has closed.
    pub fn is_done(&self) -> bool {
        self.windows.iter().all(Window::is_done)
    }

    /// Summary of a stage that all windows have closed.
    pub fn finished_stage(&self, stage: Stage) -> Option<StageSummary> {
        let is_finished = self.windows.iter().all(|window| window.stages[stage.index()].is_some());
        is_finished.then(|| self.summarise(stage))
    }

    /// Looks up a window by its cookie.
    pub fn plan_of(&self, cookie: u32) -> Result<&WindowPlan, ProtocolError> {
        self.window_of(cookie).map(|index| &self.windows[index].plan)
    }

    /// Returns the report, judged by `safeguard`. Stages not yet reported count as lost.
    pub fn finish(&self, safeguard: &mut Safeguard) -> Report {
        let stages = Stage::ALL.map(|stage| self.summarise(stage));
        let loss_bytes = |stage: &StageSummary| stage.expected_bytes - stage.received_bytes;
        let mut report = Report {
            kind: self.kind,
            op: self.op,
            bound_ns: self.params.bound_ns,
            bucket: self.bucket,
            elements: self.parts.elements(),
            packets: self.packets(),
            hadamard: self.hadamard,
            live: (0..self.params.ranks).collect(),
            received_fraction: [stages[0].received_fraction, stages[1].received_fraction],
            lost_bytes: stages.iter().map(loss_bytes).sum(),
            closed_by: [stages[0].closed_by, stages[1].closed_by],
            late_peers: self.late_peers(&stages[usize::from(self.kind == Kind::AllGather)]),
            local_contribution: self.windows.iter().all(|window| self.has_own_contribution(window)),
            action: UpdateAction::Apply,
            agreed: false,
            not_finite: 0,
            missing: Vec::new(),
            repair: RepairStatus::default(),
            stages,
        };
        report.action = safeguard.judge(report.network_loss(), report.packets);
        report
    }

    /// Peers with data to send to this rank, as indices into its view.
    pub fn senders(&self) -> impl Iterator<Item = usize> + '_ {
        let rank = self.params.rank;
        let sends = move |from: &usize| {
            let plans = self.windows.iter().map(|window| &window.plan);
            plans
                .into_iter()
                .any(|plan| Stage::ALL.into_iter().any(|stage| plan.expected_beats(stage, rank, *from) > 0))
        };
        (0..self.params.ranks).filter(move |from| *from != rank).filter(sends)
    }

    fn packets(&self) -> u64 {
        let stages = Stage::ALL.into_iter().filter(|stage| self.kind.sends(*stage)).count();
        let of_shard = |plan: &WindowPlan| {
            let beats = plan.shards.quotient + usize::from(plan.shards.remainder > 0);
            beats.div_ceil(plan.shape().packet_beats(self.params.payload_beats))
        };
        let of_peer: usize = self.windows.iter().map(|window| of_shard(&window.plan)).sum();
        (stages * (self.params.ranks - 1) * of_peer) as u64
    }

    fn in_flight(&self) -> usize {
        self.windows.iter().filter(|window| window.contributed && !window.is_done()).count()
    }

    fn overdue_from(&self, now_ns: u64) -> u64 {
        now_ns.saturating_add(self.params.bound_ns).saturating_add(self.params.stage_slack_ns)
    }

    fn window_of(&self, cookie: u32) -> Result<usize, ProtocolError> {
        let index = (cookie & 0xffff) as usize;
        let found = self.windows.get(index).is_some_and(|window| window.plan.cookie == cookie);
        found.then_some(index).ok_or(ProtocolError::UnknownWindow { op: self.op, cookie, windows: self.windows.len() })
    }

    fn summarise(&self, stage: Stage) -> StageSummary {
        let (rank, ranks) = (self.params.rank, self.params.ranks);
        let reports = || self.windows.iter().map(|window| window.stages[stage.index()].as_ref());
        let mut counts = vec![(0u64, 0u64); ranks];
        for (window, report) in self.windows.iter().zip(reports()) {
            for (from, (expected, received)) in counts.iter_mut().enumerate().filter(|(from, _)| *from != rank) {
                *expected += expected_bytes(&window.plan, stage, rank, from);
                *received += report.map_or(0, |report| report.received_bytes_per_rank[from]);
            }
        }
        let (expected_bytes, received_bytes) = counts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let closed_by_window: Vec<_> =
            reports().map(|report| report.map_or(ClosedBy::Deadline, |report| report.closed_by)).collect();
        StageSummary {
            expected_bytes,
            received_bytes,
            received_fraction: fraction(received_bytes, expected_bytes),
            expected_bytes_per_rank: counts.iter().map(|(expected, _)| *expected).collect(),
            received_bytes_per_rank: counts.iter().map(|(_, received)| *received).collect(),
            received_fraction_per_rank: counts
                .iter()
                .map(|(expected, received)| fraction(*received, *expected))
                .collect(),
            closed_by: closed_by_window.iter().copied().max().unwrap_or_default(),
            closed_by_window,
            transfer_ns: self.transfer_ns(stage),
            samples_16us: self.samples_16us(stage),
            elapsed_ns_max: reports().flatten().map(|report| report.elapsed_ns).max().unwrap_or(0),
        }
    }

    /// Computes [`StageSummary::transfer_ns`].
    ///
    /// The slowest peer may be a straggler, or just the last of the rounds: it counts as at most
    /// [`SLOWEST_MAX`] times the next slowest. Left out: the broadcast stage of an all-reduce,
    /// since owners wait for their losses; on a card, the contribute stage instead, since it waits
    /// for the slowest caller.
    fn transfer_ns(&self, stage: Stage) -> Option<u64> {
        let of_window = |window: &Window| {
            let report = window.stages[stage.index()].as_ref()?;
            let grace_ns = self.params.early.map_or(0, |early| u64::from(early.grace_ns));
            if report.last_ns_per_rank.is_empty() {
                return match (stage, report.closed_by) {
                    (Stage::Contribute, _) | (_, ClosedBy::Deadline) => None,
                    (Stage::Broadcast, ClosedBy::Complete) => Some(report.elapsed_ns),
                    (Stage::Broadcast, ClosedBy::Early) => Some(report.elapsed_ns.saturating_sub(grace_ns)),
                };
            }
            if self.kind.waits_for_owners(stage) {
                return None;
            }
            let sends = |from: &usize| window.plan.expected_beats(stage, self.params.rank, *from) > 0;
            let peers = (0..self.params.ranks).filter(|from| *from != self.params.rank).filter(sends);
            let last_ns =
                |from: usize| report.last_ns_per_rank.get(from).filter(|_| report.heard.contains(from)).copied();
            let mut last_ns: Vec<Option<u64>> = peers.map(last_ns).collect();
            last_ns.sort_unstable_by_key(|ns| core::cmp::Reverse(*ns));
            match last_ns[..] {
                [] => None,
                [only] => only,
                [slowest, next, ..] => next.and_then(|ns| slowest.map(|slowest| slowest.min(SLOWEST_MAX * ns))),
            }
        };
        self.windows.iter().filter_map(of_window).max()
    }

    fn samples_16us(&self, stage: Stage) -> Vec<u16> {
        let (rank, bound_ns) = (self.params.rank, self.params.bound_ns);
        let mut samples = vec![0; self.params.ranks];
        for window in &self.windows {
            let Some(report) = &window.stages[stage.index()] else { continue };
            let own = report.timeout_16us(bound_ns, window.plan.expected_bytes(stage, rank));
            samples[rank] = own.max(samples[rank]);
            for (sample, hints) in samples.iter_mut().zip(&report.hints) {
                *sample = hints.timeout_16us.max(*sample);
            }
        }
        samples
    }

    fn late_peers(&self, first: &StageSummary) -> Vec<usize> {
        let is_late = |peer: &usize| *peer != self.params.rank && first.received_fraction_per_rank[*peer] < 0.5;
        (0..self.params.ranks).filter(is_late).collect()
    }

    fn has_own_contribution(&self, window: &Window) -> bool {
        let rank = self.params.rank;
        let own = window.stages[Stage::Contribute.index()].as_ref().map(|report| report.received_bytes_per_rank[rank]);
        window.contributed
            && !window.refused
            && own == Some(expected_bytes(&window.plan, Stage::Contribute, rank, rank))
    }
}

fn expected_bytes(plan: &WindowPlan, stage: Stage, rank: usize, from: usize) -> u64 {
    (plan.expected_beats(stage, rank, from) * BEAT_BYTES) as u64
}
