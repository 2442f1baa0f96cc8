//! Averages of Partial Reduce groups: a bounded reduce-scatter and all-gather among the members.
//!
//! A mean of models must not silently lack data. After the reduce-scatter, the owner of a part
//! fetches missing contributions over the reliable channel before it sends the mean. Losses of the
//! all-gather are fetched from the owners.
//!
//! A group is a view with two collectives, whose numbers and tag follow from the group's number.
//! Members need no setup, and weight their models before they contribute.
//!
//! Data of a member that is gone or does not answer is given up. An owner then averages the
//! contributions it has by their weights, and a member keeps its own model where an owner's part is
//! missing. The result lists both.
//!
//! Limits: requires partial collectives, views and repair data. A rank is in one group at a time.
//! Memory of about seven models.
//!
//! Source: P-Reduce (SIGMOD'21) for the averages; the protocol is ours.

mod answers;
mod current;
mod fetch;

use std::ops::Range;

use self::answers::Answers;
use self::current::{Current, Phase};
use self::fetch::Fetch;
use super::pipeline::{Pipeline, Running};
use super::tuning::Tuning;
use super::types::{Call, CollectivesError, Repair};
use crate::data_plane::{Capability, DataPlane, PlaneEvent};
use crate::protocol::partial_reduce::{GroupPlan, PartialMessage};
use crate::protocol::{JobParams, Kind, Parts, Ranks, Report, Safeguard, View};

/// Handling of data that a group's collectives lose. Timeouts are in ns.
#[allow(missing_docs)] // described above
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupLoss {
    /// Losses are fetched before the model is used, and given up when no answer arrives for the
    /// timeout.
    Repair { timeout_ns: u64 },
    /// The mean is over the received contributions. Where an owner's part is missing, a member
    /// keeps its own model, and members differ until they meet in a later group.
    Average,
}

/// Result of a group. `model` is the mean.
#[allow(missing_docs)] // described above
#[derive(Clone, Debug, PartialEq)]
pub struct Averaged {
    pub plan: GroupPlan,
    pub model: Vec<f32>,
    /// Reports of the two collectives. Empty for a group of one.
    pub reports: Vec<Report>,
    /// Lost bytes that were fetched.
    pub repaired_bytes: u64,
    /// Bytes of contributions missing from this rank's part of the mean.
    pub uncounted_bytes: u64,
    /// Ranks whose contributions are missing from this rank's part.
    pub uncounted: Vec<usize>,
    /// Elements missing from the mean, for which this rank kept its own values. In order.
    pub missing: Vec<Range<usize>>,
}

/// Groups of one rank, one after the other.
///
/// Call order: [`begin`](Self::begin) a group. After each event, and at
/// [`next_timeout`](Self::next_timeout), call [`poll`](Self::poll), and
/// [`poll_message`](Self::poll_message) until `None`.
///
/// The data plane must [keep packets of unannounced
/// views](crate::software::Software::keep_unannounced), or a member that learns of its group late
/// loses them.
#[derive(Debug)]
pub struct GroupAverages<P: DataPlane> {
    plane: P,
    params: JobParams,
    loss: GroupLoss,
    pipeline: Pipeline,
    tuning: Tuning,
    current: Option<Current>,
    answers: Answers,
    gone: Ranks,
    outgoing: Vec<(usize, PartialMessage)>,
}

impl<P: DataPlane> GroupAverages<P> {
    /// # Errors
    /// If a parameter is out of range, or the data plane lacks a required feature.
    pub fn new(plane: P, params: JobParams, loss: GroupLoss) -> Result<Self, CollectivesError<P::Error>> {
        params.check(&plane.limits())?;
        for capability in [Capability::PartialCollectives, Capability::Views, Capability::RepairData] {
            plane.capabilities().require(capability)?;
        }
        Ok(Self {
            gone: Ranks::none(params.ranks),
            plane,
            params,
            loss,
            pipeline: Pipeline::default(),
            tuning: Tuning::default(),
            current: None,
            answers: Answers::default(),
            outgoing: Vec::new(),
        })
    }

    /// Starts to average this rank's model with the models of the other members.
    ///
    /// # Errors
    /// If another group is active, this rank is not a member, or the model cannot be cut into
    /// windows.
    pub fn begin(&mut self, now_ns: u64, plan: GroupPlan, model: Vec<f32>) -> Result<(), CollectivesError<P::Error>> {
        if self.current.is_some() {
            return Err(CollectivesError::Busy { running: 1 });
        }
        let op = 2 * plan.number.min(GroupPlan::NUMBER_MAX);
        let elements = model.len();
        let current = Current::new(&self.params, plan, op, model).ok_or(CollectivesError::NoView { op })?;
        let Some(contribution) = current.contribution() else {
            self.current = Some(current);
            return Ok(());
        };
        let others = current.others().filter(|member| !self.gone.contains(*member));
        self.answers.begin(current.number(), Ranks::none(self.params.ranks).with(others));
        let view = current.view.clone();
        self.plane.announce(&view);
        self.pipeline.join(op);
        self.current = Some(current);
        self.call(now_ns, Kind::ReduceScatter, view, elements, contribution)
    }

    /// Returns whether a group is active.
    pub fn is_busy(&self) -> bool {
        self.current.is_some()
    }

    /// Returns whether members of past groups may still request data.
    pub fn is_awaited(&self) -> bool {
        self.answers.are_awaited()
    }

    /// Handles a message of rank `from` about repairs. Other messages are ignored.
    pub fn handle_message(&mut self, now_ns: u64, from: usize, message: PartialMessage) {
        match message {
            PartialMessage::Ask { op, ranges } => {
                ranges.into_iter().for_each(|range| self.answers.ask(from, op, range))
            }
            PartialMessage::Done { number } => self.answers.done(number, from),
            PartialMessage::Answer { op, first, values } => {
                if let Some(current) = &mut self.current {
                    current.take_answer(now_ns, from, op, first, &values);
                }
            }
            PartialMessage::Gone { op } => {
                if let Some(fetch) = self.current.as_mut().and_then(|current| current.fetch_of(op)) {
                    fetch.give_up(from);
                }
            }
            _ => {}
        }
    }

    /// Reports that the reliable channel to a rank closed.
    pub fn handle_gone(&mut self, rank: usize) {
        self.gone.insert(rank);
        self.answers.gone(rank);
        if let Some(fetch) = self.current.as_mut().and_then(Current::fetch) {
            fetch.give_up(rank);
        }
    }

    /// Reports a new reliable channel to a rank that was gone. It has no data of past groups.
    pub fn handle_back(&mut self, rank: usize) {
        self.gone.remove(rank);
    }

    /// Handles pending events and returns the result of the group once it is complete.
    ///
    /// # Errors
    /// If the data plane is broken, and with it this group.
    pub fn poll(&mut self, now_ns: u64) -> Result<Option<Averaged>, CollectivesError<P::Error>> {
        loop {
            self.handle_events(now_ns)?;
            let acted = self.pipeline.act(now_ns, &mut self.plane, &self.params, &self.tuning)?;
            if !acted && !self.go_on(now_ns)? {
                break;
            }
        }
        self.pipeline.check(now_ns)?;
        let over = self.current.take_if(|current| matches!(current.phase, Phase::Over));
        Ok(over.map(|current| {
            let number = current.number();
            self.outgoing.extend(current.others().map(|member| (member, PartialMessage::Done { number })));
            current.averaged
        }))
    }

    /// Latest time for the next [`poll`](Self::poll), apart from the timeouts of the data plane.
    pub fn next_timeout(&self) -> Option<u64> {
        let fetch = self.current.as_ref().and_then(Current::until_ns);
        fetch.into_iter().chain(self.pipeline.next_timeout()).min()
    }

    /// Next message for the reliable channel, with its destination.
    pub fn poll_message(&mut self) -> Option<(usize, PartialMessage)> {
        let ask = self.current.as_mut().and_then(Current::fetch).and_then(Fetch::poll);
        ask.or_else(|| self.answers.poll()).or_else(|| self.outgoing.pop())
    }

    /// The data plane.
    pub fn plane(&self) -> &P {
        &self.plane
    }

    /// The data plane, for state that the protocol does not use.
    pub fn plane_mut(&mut self) -> &mut P {
        &mut self.plane
    }

    fn call(
        &mut self,
        now_ns: u64,
        kind: Kind,
        view: View,
        elements: usize,
        given: Vec<f32>,
    ) -> Result<(), CollectivesError<P::Error>> {
        let call = Call { bf16: Some(false), repair: Repair::Off, ..Call::one_off(kind, 0, elements) };
        let parts = Parts::new(elements, view.ranks.len());
        let op = self.pipeline.push_parts(&self.params, view, call, parts)?;
        self.pipeline.start(op, given.into())?;
        self.pipeline.act(now_ns, &mut self.plane, &self.params, &self.tuning)?;
        Ok(())
    }

    fn handle_events(&mut self, now_ns: u64) -> Result<(), CollectivesError<P::Error>> {
        let Self { plane, pipeline, tuning, .. } = self;
        while let Some(event) = plane.poll().map_err(CollectivesError::Plane)? {
            match event {
                PlaneEvent::Stage(report) => pipeline.handle_report(now_ns, report, plane, tuning, None)?,
                PlaneEvent::Refused { cookie, status } => pipeline.handle_refused(cookie, status)?,
                PlaneEvent::Unexpected { .. } | PlaneEvent::RoundTrip { .. } => {}
            }
        }
        Ok(())
    }

    fn go_on(&mut self, now_ns: u64) -> Result<bool, CollectivesError<P::Error>> {
        let Some(current) = &mut self.current else { return Ok(false) };
        match std::mem::replace(&mut current.phase, Phase::Runs) {
            Phase::Runs => {
                let Some(running) = self.pipeline.pop_done(&mut self.plane) else { return Ok(false) };
                self.finished(now_ns, running);
                Ok(true)
            }
            Phase::Contributions { running, fetch, short } if fetch.is_over(now_ns) => {
                self.gather(now_ns, running, short)?;
                Ok(true)
            }
            Phase::Means { running, fetch } if fetch.is_over(now_ns) => {
                current.finish(running);
                Ok(true)
            }
            phase => {
                current.phase = phase;
                Ok(false)
            }
        }
    }

    fn finished(&mut self, now_ns: u64, mut running: Running) {
        let Some(current) = &mut self.current else { return };
        let report = running.machine.finish(&mut Safeguard::default());
        self.tuning.observe(&report, self.plane.late_bytes());
        current.take_report(report, self.params.ranks);
        let op = running.machine.op();
        if let Some(given) = running.gradient.take() {
            self.answers.give(op, given.into_vec());
        }
        let own = self.answers.given(op).unwrap_or_default();
        let timeout_ns = match self.loss {
            GroupLoss::Repair { timeout_ns } => timeout_ns,
            GroupLoss::Average => 0,
        };
        let fetch = Fetch::new(op, now_ns, timeout_ns);
        let may_ask = |rank: usize| timeout_ns > 0 && !self.gone.contains(rank);
        match running.machine.kind() {
            Kind::ReduceScatter => current.scattered(running, own, fetch, may_ask),
            _ => current.gathered(running, own, fetch, may_ask),
        }
    }

    fn gather(
        &mut self,
        now_ns: u64,
        mut running: Running,
        short: Vec<(Range<usize>, Ranks)>,
    ) -> Result<(), CollectivesError<P::Error>> {
        let Some(current) = &mut self.current else { return Ok(()) };
        current.weigh(&mut running.result, short);
        let (view, elements) = (current.view.clone(), current.elements());
        let part = running.machine.unpack(running.result).into_vec();
        self.call(now_ns, Kind::AllGather, view, elements, part)
    }
}
