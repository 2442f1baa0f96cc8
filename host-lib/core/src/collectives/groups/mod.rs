//! The averages of groups of Partial Reduce: each a bounded reduce-scatter and a bounded all-gather among its members.
//!
//! Why two collectives: a mean of models must not lack anything silently. The owner of a part finds out after the reduce-scatter whose
//! contributions did not come, fetches them over the reliable channel, and hands out only then what it has; what the all-gather loses is
//! fetched from the owner. Without loss nothing is added to the packets, and nothing waits for a message.
//! How: a group is a view of its own for two collectives, whose numbers and tag follow from the group's. So packets of other groups never
//! get into it, and nothing is set up: who hears of the group late finds its packets kept. Members multiply their models by their weights
//! before they contribute, so the sum is the data plane's as ever.
//!
//! What cannot be fetched, because a member is dead or has not answered for the timeout: an owner takes the mean of the
//! contributions that it has, by their weights; of an owner's part that is missing a member keeps its own model. The report says so.
//! Limits: data planes with partial collectives, views and repair data. One group of a rank at a time. Memory of about seven models.
//! Source: P-Reduce (SIGMOD'21) for what is averaged; how is ours.

mod answers;
mod current;
mod fetch;

use std::ops::Range;

use self::answers::Answers;
use self::current::{Current, Phase};
use self::fetch::Fetch;
use super::pipeline::{Pipeline, Running};
use super::tuning::Tuning;
use super::types::{Call, CollectivesError};
use crate::data_plane::{Capability, DataPlane, PlaneEvent};
use crate::protocol::partial_reduce::{GroupPlan, PartialMessage};
use crate::protocol::{JobParams, Kind, Parts, Ranks, Report, Safeguard, View};

/// What becomes of what a group's collectives lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupLoss {
    /// It is fetched before the model is used; given up once a member has not answered for so long.
    Repair {
        /// In ns.
        timeout_ns: u64,
    },
    /// The mean is that of what came, by its weights; where an owner's part did not come, a member keeps its own model. Members then
    /// differ where something was lost, until they meet again.
    Average,
}

/// What has come of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Averaged {
    /// The group.
    pub plan: GroupPlan,
    /// The mean.
    pub model: Vec<f32>,
    /// Of the two collectives; none of a group of one.
    pub reports: Vec<Report>,
    /// Bytes that were lost, and fetched.
    pub repaired_bytes: u64,
    /// Bytes of contributions to this rank's part of the mean that it lacks, and the ranks that they are of.
    pub uncounted_bytes: u64,
    /// See [`uncounted_bytes`](Self::uncounted_bytes).
    pub uncounted: Vec<usize>,
    /// Elements that did not come, in order: there the model is this rank's own.
    pub missing: Vec<Range<usize>>,
}

/// The groups of one rank, one after the other.
///
/// Call order: [`begin`](Self::begin) a group; [`handle_message`](Self::handle_message) and [`handle_gone`](Self::handle_gone) as they come;
/// then, and at [`next_timeout`](Self::next_timeout), [`poll`](Self::poll), and [`poll_message`](Self::poll_message) until `None`. The data
/// plane must keep packets of views that were [not announced](crate::software::Software::keep_unannounced), or a member that is told
/// of its group a little later loses them.
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
    /// If a parameter is out of range, or the data plane cannot do that.
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

    /// This rank is a member of a group: averages its model with those of the others.
    ///
    /// # Errors
    /// If a group's average still runs, this rank is not a member, or the model cannot be cut into windows.
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

    /// Whether a group's average runs.
    pub fn is_busy(&self) -> bool {
        self.current.is_some()
    }

    /// Whether a member of a group of this rank may still ask it for something.
    pub fn is_awaited(&self) -> bool {
        self.answers.are_awaited()
    }

    /// Takes a message of rank `from` about repairs; others mean nothing to it.
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

    /// The reliable channel to a rank has ended: nothing more comes from it.
    pub fn handle_gone(&mut self, rank: usize) {
        self.gone.insert(rank);
        self.answers.gone(rank);
        if let Some(fetch) = self.current.as_mut().and_then(Current::fetch) {
            fetch.give_up(rank);
        }
    }

    /// There is a new reliable channel to a rank whose last one had ended: to another process, which knows nothing of groups before.
    pub fn handle_back(&mut self, rank: usize) {
        self.gone.remove(rank);
    }

    /// Does what there is to do; returns what has come of the group, once it is over.
    ///
    /// # Errors
    /// If the data plane is broken; nothing more can be done with it then.
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

    /// When [`poll`](Self::poll) is to be called at the latest, besides the data plane's own times.
    pub fn next_timeout(&self) -> Option<u64> {
        let fetch = self.current.as_ref().and_then(Current::until_ns);
        fetch.into_iter().chain(self.pipeline.next_timeout()).min()
    }

    /// The next message to send on the reliable channel, and to whom.
    pub fn poll_message(&mut self) -> Option<(usize, PartialMessage)> {
        let ask = self.current.as_mut().and_then(Current::fetch).and_then(Fetch::poll);
        ask.or_else(|| self.answers.poll()).or_else(|| self.outgoing.pop())
    }

    /// The data plane.
    pub fn plane(&self) -> &P {
        &self.plane
    }

    /// The data plane, for what the protocol does not touch.
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
        let call = Call { bf16: Some(false), repair: false, ..Call::one_off(kind, 0, elements) };
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

    /// Whether the group has come further.
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

    /// A collective is over: finds out what it lacks.
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

    /// This rank's part is as whole as it will be: hands it to the others.
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
