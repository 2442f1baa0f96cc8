//! The collectives of one rank that are prepared or running, oldest first: their windows are armed and contributed in order,
//! and their reports come back to them.

use std::collections::{HashMap, VecDeque};

use optireduce_contract::limits::LANES;

use super::tuning::Tuning;
use super::types::{Call, CollectivesError, Finished};
use crate::data_plane::DataPlane;
use crate::data_plane::Remains;
use crate::protocol::{
    Action, AllReduce, JobParams, Kind, Parts, ProtocolError, Ranks, RefusedStatus, Stage, StageReport, View,
    WindowPlan,
};
use crate::spans::Spans;

/// Most collectives that are prepared before the caller asks for them.
const PREPOSTS_MAX: usize = 2;
/// Most unexpected collectives that are remembered.
const UNEXPECTED_MAX: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Pipeline {
    running: VecDeque<Running>,
    /// The collective that has ended and waits for an agreement.
    pub held: Option<Held>,
    /// Number of the next collective that is prepared.
    pub next_op: u32,
    /// Number of the view that the data plane is in.
    entered: u32,
    /// Elements of each bucket on the wire, the last time.
    known: HashMap<u16, usize>,
    /// Collectives that peers have started and that are not prepared here: wire bucket, step, hadamard.
    unexpected: Vec<(u16, u16, bool)>,
    /// How many of the youngest in `running` were preposted.
    preposted: usize,
}

#[derive(Debug)]
pub(super) struct Running {
    pub machine: AllReduce,
    spans: Spans,
    /// Who takes part, and who was heard so far (bit r: rank r of the job).
    pub view: View,
    pub heard: Ranks,
    /// What this rank gives, as the windows hold it, once started.
    gradient: Option<Vec<f32>>,
    pub result: Vec<f32>,
    /// Of each window, if it may have to be repaired.
    pub remains: Vec<(WindowPlan, Remains)>,
}

/// A collective that has ended, and what may have to be repaired of it.
#[derive(Debug)]
pub(super) struct Held {
    pub finished: Finished,
    pub view: View,
    pub remains: Vec<(WindowPlan, Remains)>,
}

impl Pipeline {
    /// Collectives that run, or wait for an agreement.
    pub fn len(&self) -> usize {
        self.running.len() + usize::from(self.held.is_some())
    }

    /// When a running collective is to be looked at, should nothing happen before.
    pub fn next_timeout(&self) -> Option<u64> {
        self.running.iter().filter_map(|one| one.machine.next_timeout()).min()
    }

    /// Elements of the largest bucket so far.
    pub fn elements_max(&self) -> usize {
        self.known.values().copied().max().unwrap_or(0)
    }

    /// Whether the next collective that the caller prepares was preposted: prepared already, because peers have started it.
    pub fn is_preposted(&self) -> bool {
        self.preposted > 0
    }

    /// If the next collective was preposted: whether it is Hadamard-encoded.
    pub fn preposted_hadamard(&self) -> Option<bool> {
        let first = self.running.len().checked_sub(self.preposted)?;
        self.running.get(first).map(|one| one.machine.bucket().2)
    }

    /// Adds the next collective, among the ranks of `view`.
    pub fn push<E: std::error::Error>(
        &mut self,
        params: &JobParams,
        view: View,
        call: Call,
    ) -> Result<u32, CollectivesError<E>> {
        let (op, Call { kind, bucket, elements, hadamard }) = (self.next_op, call);
        let of_view = params.of_view(&view);
        let machine = match kind {
            Kind::AllReduce => AllReduce::new(&of_view, op, bucket, elements, hadamard)?,
            _ => {
                let parts = Parts::among(view.live().collect(), elements, params.ranks);
                AllReduce::partial(&of_view, op, kind, bucket, parts)?
            }
        };
        self.next_op = op.wrapping_add(1);
        let result = vec![0.0; machine.wire_elements()];
        let spans = Spans::prepared(&machine, params.rank);
        let remains = Vec::new();
        let heard = Ranks::none(params.ranks);
        self.running.push_back(Running { machine, spans, view, heard, gradient: None, result, remains });
        Ok(op)
    }

    /// A bucket on the wire has so many elements.
    pub fn learn(&mut self, wire_bucket: u16, elements: usize) {
        self.known.insert(wire_bucket, elements);
    }

    /// A peer has started a collective that is not prepared here.
    pub fn note_unexpected(&mut self, bucket: u16, step: u16, hadamard: bool) {
        if self.unexpected.len() < UNEXPECTED_MAX {
            self.unexpected.push((bucket, step, hadamard));
        }
    }

    /// Forgets the unexpected collectives.
    pub fn forget_unexpected(&mut self) {
        self.unexpected.clear();
    }

    /// The next collective, if peers have started it and its bucket is known: to be preposted.
    pub fn next_to_prepost(&mut self) -> Option<Call> {
        if self.preposted == PREPOSTS_MAX {
            return None;
        }
        let step = self.next_op as u16;
        self.unexpected.retain(|(_, other, _)| other.wrapping_sub(step).cast_signed() >= 0);
        let &(wire_bucket, _, hadamard) = self.unexpected.iter().find(|(_, other, _)| *other == step)?;
        let (&elements, (kind, bucket)) = (self.known.get(&wire_bucket)?, Kind::of_wire(wire_bucket)?);
        Some(Call { kind, bucket, elements, hadamard })
    }

    /// Prepares a collective before the caller does.
    pub fn prepost<E: std::error::Error>(
        &mut self,
        params: &JobParams,
        view: View,
        call: Call,
    ) -> Result<(), CollectivesError<E>> {
        self.push(params, view, call)?;
        self.preposted += 1;
        Ok(())
    }

    /// Hands the oldest preposted collective to the caller, if it is the one that the caller means.
    pub fn take_preposted<E: std::error::Error>(&mut self, found: Call) -> Result<u32, CollectivesError<E>> {
        let machine = &self.running[self.running.len() - self.preposted].machine;
        let (op, (bucket, elements, hadamard)) = (machine.op(), machine.bucket());
        let expected = Call { kind: machine.kind(), bucket, elements, hadamard };
        if found != expected {
            return Err(CollectivesError::OutOfOrder { op, found, expected });
        }
        self.preposted -= 1;
        Ok(op)
    }

    /// What this rank gives to collective `op` is there.
    pub fn start<E: std::error::Error>(&mut self, op: u32, gradient: Vec<f32>) -> Result<(), CollectivesError<E>> {
        let waits = |one: &&mut Running| one.machine.op() == op && one.gradient.is_none();
        let one = self.running.iter_mut().find(waits).ok_or(CollectivesError::NotPrepared { op })?;
        let (found, expected) = (gradient.len(), one.machine.given_elements());
        if found != expected {
            return Err(CollectivesError::WrongLength { op, found, expected });
        }
        one.gradient = Some(one.machine.pack(gradient));
        one.machine.start();
        one.spans.enter(Stage::Contribute);
        Ok(())
    }

    /// Does what the collectives ask for, oldest first, with one doorbell.
    pub fn act<P: DataPlane>(
        &mut self,
        now_ns: u64,
        plane: &mut P,
        params: &JobParams,
        tuning: &Tuning,
    ) -> Result<(), CollectivesError<P::Error>> {
        let in_use: usize = self.running.iter().map(|one| one.machine.slots_in_use()).sum();
        let mut slots_free = params.slots.saturating_sub(in_use);
        let mut acted = false;
        for one in &mut self.running {
            // With slots left, all windows of the view before are armed.
            if self.entered != one.view.number {
                if slots_free == 0 || !plane.enter(&one.view).map_err(CollectivesError::Plane)? {
                    break;
                }
                self.entered = one.view.number;
            }
            while let Some(action) = one.machine.poll(now_ns, slots_free) {
                acted = true;
                match action {
                    Action::Arm(plan) => {
                        slots_free -= 1;
                        let peers = one.view.live().filter(|peer| *peer != params.rank);
                        let tuned = tuning.tuned(one.machine.params(), plan.bucket, peers);
                        plane.arm(&plan, &tuned).map_err(CollectivesError::Plane)?;
                    }
                    Action::Contribute(plan) => {
                        let gradient = one.gradient.as_deref().unwrap_or_default();
                        let elements = &gradient[plan.first_element..plan.first_element + plan.elements];
                        plane.contribute(&plan, elements).map_err(CollectivesError::Plane)?;
                    }
                }
            }
        }
        if acted { plane.flush().map_err(CollectivesError::Plane) } else { Ok(()) }
    }

    /// A stage of a window has closed. `repaired`: whether what is missing will be asked for.
    pub fn handle_report<P: DataPlane>(
        &mut self,
        now_ns: u64,
        report: StageReport,
        plane: &mut P,
        tuning: &mut Tuning,
        repaired: bool,
    ) -> Result<(), CollectivesError<P::Error>> {
        let (cookie, stage) = (report.cookie, report.stage);
        let next_op = self.next_op;
        let one = self.find(cookie).ok_or(ProtocolError::UnknownWindow { op: next_op, cookie, windows: 0 })?;
        for (place, rank) in one.view.live().enumerate() {
            if report.heard.contains(place) {
                one.heard.insert(rank);
            }
            if let Some(hints) = report.hints.get(place) {
                tuning.hear(rank, *hints);
            }
        }
        one.machine.handle_report(now_ns, report)?;
        one.spans.closed(stage, &one.machine);
        if stage == Stage::Broadcast {
            let plan = one.machine.plan_of(cookie)?;
            let repaired = repaired && one.machine.kind() == Kind::AllReduce;
            let remains = if repaired { plane.remains(plan) } else { None };
            let out = &mut one.result[plan.first_element..plan.first_element + plan.elements];
            plane.take_result(plan, out).map_err(CollectivesError::Plane)?;
            if repaired {
                let remains = remains.unwrap_or_else(|| own_shard(plan, one.machine.params().rank, out));
                one.remains.push((plan.clone(), remains));
            }
        }
        Ok(())
    }

    /// A contribution refused after its collective has finished is an ordinary late one.
    pub fn handle_refused(&mut self, cookie: u32, status: RefusedStatus) -> Result<(), ProtocolError> {
        let next_op = self.next_op;
        match self.find(cookie) {
            Some(one) => one.machine.handle_refused(cookie, status)?,
            None if status == RefusedStatus::Stale => tracing::debug!(cookie, "contribution came after its collective"),
            None => return Err(ProtocolError::UnknownWindow { op: next_op, cookie, windows: 0 }),
        }
        Ok(())
    }

    /// An error if a window was not reported for far too long.
    pub fn check(&self, now_ns: u64) -> Result<(), ProtocolError> {
        self.running.iter().try_for_each(|one| one.machine.handle_timeout(now_ns))
    }

    /// The oldest collective, if it was started and all its windows are done.
    pub fn pop_done(&mut self) -> Option<Running> {
        self.running.pop_front_if(|one| one.gradient.is_some() && one.machine.is_done())
    }

    /// The collective that a cookie belongs to.
    fn find(&mut self, cookie: u32) -> Option<&mut Running> {
        self.running.iter_mut().find(|one| one.machine.plan_of(cookie).is_ok())
    }
}

/// What the output says of the own shard, as it was sent if the window was not encoded: all that a card's rank has.
fn own_shard(plan: &WindowPlan, place: usize, output: &[f32]) -> Remains {
    let shard = plan.shards.range_of(place);
    let value = |index: usize| output.get(index).copied().unwrap_or(0.0);
    let own = if plan.hadamard { 0..0 } else { shard.start * LANES..shard.end * LANES };
    Remains { own: own.map(value).collect(), incomplete: None }
}
