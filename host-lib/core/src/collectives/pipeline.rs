//! Prepared and running collectives of one rank, armed and contributed in order.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use optireduce_contract::limits::LANES;

use super::spares::Spares;
use super::tuning::Tuning;
use super::types::{Call, CollectivesError, Finished, Repair};
use crate::data_plane::{DataPlane, Incomplete, Memory, RepairData, Role, WindowOutput};
use crate::decode::count_not_finite;
use crate::protocol::{
    Action, AllReduce, ClosedBy, JobParams, Kind, Parts, ProtocolError, Ranks, RefusedStatus, Report, Stage,
    StageReport, View, WindowPlan, op_of_step,
};
use crate::repairs::{Repairs, missing_elements};
use crate::spans::Spans;
use crate::values::{Destination, Values};

const PREPOSTS_MAX: usize = 2;
const UNEXPECTED_MAX: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Pipeline {
    running: VecDeque<Running>,
    pub held: Option<Held>,
    pub next_op: u32,
    entered: u32,
    declared: HashMap<u16, Call>,
    /// Collectives that peers seem to have started before this rank: wire bucket and step.
    unexpected: Vec<(u16, u16)>,
    pub spares: Spares,
    /// Preposted collectives, the youngest in `running`.
    preposted: usize,
}

#[derive(Debug)]
pub(super) struct Running {
    pub call: Call,
    pub machine: AllReduce,
    spans: Spans,
    pub view: View,
    pub heard: Ranks,
    started: bool,
    /// This rank's input in the layout of the windows, while it is not lent.
    pub gradient: Option<Values>,
    /// Likewise, the result.
    pub result: Values,
    /// Result of an all-gather in the caller's layout, with corrections.
    pub corrected: Option<Vec<f32>>,
    destination: Destination,
    not_finite: u64,
    pub incomplete: Vec<(WindowPlan, Incomplete)>,
    /// After a reduce-scatter: elements (wire layout) of this rank's part that lack contributions,
    /// and the contributing ranks as indices in the view.
    pub arrived: Vec<(Range<usize>, Ranks)>,
}

/// Collective whose windows have closed, waiting for repairs or an agreement.
#[derive(Debug)]
pub(super) struct Held {
    pub running: Running,
    pub report: Report,
    pub until_ns: u64,
    pub voted: bool,
    /// Whether a skip counts towards the safeguard's halt.
    pub may_halt: bool,
}

impl Pipeline {
    pub fn len(&self) -> usize {
        self.running.len() + usize::from(self.held.is_some())
    }

    pub fn next_timeout(&self) -> Option<u64> {
        let held = self.held.as_ref().filter(|held| !held.voted).map(|held| held.until_ns);
        self.running.iter().filter_map(|one| one.machine.next_timeout()).chain(held).min()
    }

    pub fn is_preposted(&self) -> bool {
        self.preposted > 0
    }

    pub fn is_idle(&self) -> bool {
        self.held.is_none() && self.running.len() == self.preposted
    }

    pub fn next_op_of_caller(&self) -> u32 {
        self.next_op.wrapping_sub(self.preposted as u32)
    }

    pub fn push<E: std::error::Error>(
        &mut self,
        params: &JobParams,
        view: View,
        call: Call,
    ) -> Result<u32, CollectivesError<E>> {
        let parts = Parts::among(view.live().collect(), call.elements, params.ranks);
        self.push_parts(params, view, call, parts)
    }

    pub fn push_parts<E: std::error::Error>(
        &mut self,
        params: &JobParams,
        view: View,
        call: Call,
        parts: Parts,
    ) -> Result<u32, CollectivesError<E>> {
        let (op, Call { kind, bucket, elements, bf16, .. }) = (self.next_op, call);
        let next_op = op.checked_add(1).ok_or(CollectivesError::OutOfNumbers { op })?;
        let of_view = JobParams { bf16: bf16.unwrap_or(params.bf16), ..params.of_view(&view) };
        let machine = match kind {
            Kind::AllReduce => AllReduce::new(&of_view, op, bucket, elements, call.is_encoded(&view))?,
            _ => AllReduce::partial(&of_view, op, kind, bucket, parts)?,
        };
        self.next_op = next_op;
        let result = self.spares.take(&call, machine.wire_elements()).into();
        let spans = Spans::prepared(&machine, params.rank);
        let (incomplete, arrived, heard) = (Vec::new(), Vec::new(), Ranks::none(params.ranks));
        self.running.push_back(Running {
            call,
            machine,
            spans,
            view,
            heard,
            started: false,
            gradient: None,
            result,
            corrected: None,
            destination: Destination::Bucket,
            not_finite: 0,
            incomplete,
            arrived,
        });
        Ok(op)
    }

    pub fn learn(&mut self, wire_bucket: u16, call: Call) {
        if call.is_one_off() {
            self.declared.remove(&wire_bucket);
        } else {
            self.declared.insert(wire_bucket, call);
        }
    }

    pub fn release<P: DataPlane>(
        &mut self,
        bucket: u16,
        plane: &mut P,
        repairs: Option<&mut Repairs>,
    ) -> Result<(), CollectivesError<P::Error>> {
        self.declared.retain(|_, call| call.bucket != bucket);
        let is_preposted = self.running.iter().rev().take(self.preposted).any(|one| one.call.bucket == bucket);
        if is_preposted { self.cancel_preposted(plane, repairs) } else { Ok(()) }
    }

    pub fn forget_declared(&mut self) {
        self.declared.clear();
        self.unexpected.clear();
    }

    pub fn join(&mut self, op: u32) {
        self.next_op = op;
        // The job may have reused these steps since.
        self.unexpected.clear();
    }

    pub fn note_unexpected(&mut self, bucket: u16, step: u16) {
        if self.unexpected.len() < UNEXPECTED_MAX {
            self.unexpected.push((bucket, step));
        }
    }

    /// Returns the next collective that peers seem to have started, if its bucket is declared.
    ///
    /// Packets decide only the time. The settings follow from the last call and the view, so that a
    /// forged packet cannot arm a window that rejects the packets of peers.
    pub fn next_to_prepost(&mut self) -> Option<Call> {
        if self.preposted == PREPOSTS_MAX {
            return None;
        }
        let next_op = self.next_op;
        self.unexpected.retain(|(_, step)| op_of_step(*step, next_op).is_some_and(|op| op >= next_op));
        let mut started = self.unexpected.iter().filter(|(_, step)| *step == next_op as u16);
        started.find_map(|(wire_bucket, _)| self.declared.get(wire_bucket)).copied()
    }

    /// Prepares a collective before the caller does. `None` if it cannot be prepared, because the
    /// packets that caused it may be forged.
    pub fn prepost(&mut self, params: &JobParams, view: View, call: Call) -> Option<u32> {
        let pushed = self.push::<std::convert::Infallible>(params, view, call);
        let step = self.next_op as u16;
        match pushed {
            Ok(op) => {
                self.preposted += 1;
                tracing::debug!(op, "collective preposted");
                Some(op)
            }
            Err(error) => {
                tracing::debug!(%error, %call, "cannot prepost the collective that peers seem to have started");
                self.unexpected.retain(|(_, other)| *other != step);
                None
            }
        }
    }

    pub fn take_preposted(&mut self, found: Call) -> Option<(u32, View)> {
        let first = self.running.len().checked_sub(self.preposted).filter(|_| self.preposted > 0)?;
        let one = self.running.get(first).filter(|one| one.call == found)?;
        self.preposted -= 1;
        Some((one.machine.op(), one.view.clone()))
    }

    pub fn cancel_preposted<P: DataPlane>(
        &mut self,
        plane: &mut P,
        mut repairs: Option<&mut Repairs>,
    ) -> Result<(), CollectivesError<P::Error>> {
        let first = self.running.len() - std::mem::take(&mut self.preposted);
        for mut one in self.running.drain(first..).rev() {
            tracing::debug!(op = one.machine.op(), call = %one.call, "preposted collective cancelled");
            for plan in one.machine.armed() {
                plane.cancel(plan).map_err(CollectivesError::Plane)?;
            }
            repairs.iter_mut().for_each(|repairs| repairs.forget(one.machine.op()));
            self.next_op = one.machine.op();
            one.reclaim(plane);
            self.spares.put(&one.call, one.result);
        }
        Ok(())
    }

    pub fn set_destination<P: DataPlane>(
        &mut self,
        op: u32,
        destination: Destination,
        plane: &mut P,
    ) -> Result<(), CollectivesError<P::Error>> {
        let waits = |one: &&mut Running| one.machine.op() == op && !one.started;
        let one = self.running.iter_mut().find(waits).ok_or(CollectivesError::NotPrepared { op })?;
        match destination {
            Destination::Here(values) if values.len() != one.machine.wire_elements() => {
                let (found, expected) = (values.len(), one.machine.wire_elements());
                return Err(CollectivesError::WrongLength { op, found, expected });
            }
            Destination::Here(values) if !one.result.is_empty() => {
                self.spares.put(&one.call, std::mem::replace(&mut one.result, values));
            }
            Destination::Here(values) if !one.machine.is_reported() => {
                match plane.relocate(one.memory(Role::Result), values) {
                    Ok(before) => self.spares.put(&one.call, before),
                    Err(values) => one.destination = Destination::Here(values),
                }
            }
            destination => one.destination = destination,
        }
        Ok(())
    }

    pub fn start<E: std::error::Error>(&mut self, op: u32, gradient: Values) -> Result<(), CollectivesError<E>> {
        let waits = |one: &&mut Running| one.machine.op() == op && !one.started;
        let one = self.running.iter_mut().find(waits).ok_or(CollectivesError::NotPrepared { op })?;
        let (found, expected) = (gradient.len(), one.machine.given_elements());
        if found != expected {
            return Err(CollectivesError::WrongLength { op, found, expected });
        }
        let wire = || self.spares.take(&one.call, one.machine.wire_elements());
        one.gradient = Some(one.machine.pack(gradient, wire));
        one.started = true;
        one.machine.start();
        one.spans.enter(Stage::Contribute);
        Ok(())
    }

    /// Executes pending actions with one doorbell. Returns whether there were any.
    pub fn act<P: DataPlane>(
        &mut self,
        now_ns: u64,
        plane: &mut P,
        params: &JobParams,
        tuning: &Tuning,
    ) -> Result<bool, CollectivesError<P::Error>> {
        let in_use: usize = self.running.iter().map(|one| one.machine.slots_in_use()).sum();
        let mut slots_free = params.slots.saturating_sub(in_use);
        let mut acted = false;
        for one in &mut self.running {
            // A view is entered only to arm windows, so fully armed collectives need none.
            if self.entered != one.view.epoch && !one.machine.is_armed() {
                if slots_free == 0 || !plane.enter(&one.view).map_err(CollectivesError::Plane)? {
                    break;
                }
                self.entered = one.view.epoch;
            }
            while let Some(action) = one.machine.poll(now_ns, slots_free) {
                acted = true;
                match action {
                    Action::Arm(plan) => {
                        slots_free -= 1;
                        if !one.result.is_empty() {
                            plane.lend(one.memory(Role::Result), std::mem::take(&mut one.result));
                        }
                        let peers = one.view.live().filter(|peer| *peer != params.rank);
                        let tuned = tuning.tuned(one.machine.params(), plan.bucket, peers);
                        plane.arm(&plan, &tuned).map_err(CollectivesError::Plane)?;
                    }
                    Action::Contribute(plan) => {
                        if let Some(gradient) = one.gradient.take() {
                            plane.lend(one.memory(Role::Gradient), gradient);
                        }
                        plane.contribute(&plan).map_err(CollectivesError::Plane)?;
                    }
                }
            }
        }
        if acted {
            plane.flush().map_err(CollectivesError::Plane)?;
        }
        Ok(acted)
    }

    pub fn handle_report<P: DataPlane>(
        &mut self,
        now_ns: u64,
        report: StageReport,
        plane: &mut P,
        tuning: &mut Tuning,
        repairs: Option<&mut Repairs>,
    ) -> Result<(), CollectivesError<P::Error>> {
        let (cookie, stage) = (report.cookie, report.stage);
        let next_op = self.next_op;
        let one = self.find(cookie).ok_or(ProtocolError::UnknownWindow { op: next_op, cookie, windows: 0 })?;
        for (index, rank) in one.view.live().enumerate() {
            if report.heard.contains(index) {
                one.heard.insert(rank);
            }
            if let Some(hints) = report.hints.get(index) {
                tuning.hear(rank, *hints);
            }
        }
        one.machine.handle_report(now_ns, report)?;
        one.spans.closed(stage, &one.machine);
        if stage == Stage::Broadcast {
            one.take_result(cookie, plane, repairs)?;
        }
        Ok(())
    }

    /// For a stage that reached its bound: its collective, and peers that should have been heard.
    pub fn unheard(&self, report: &StageReport) -> Option<(u32, Vec<usize>)> {
        let one = self.running.iter().find(|one| one.machine.plan_of(report.cookie).is_ok())?;
        let (plan, rank) = (one.machine.plan_of(report.cookie).ok()?, one.machine.params().rank);
        let is_silent = |index: &usize| {
            *index != rank && !report.heard.contains(*index) && plan.expected_beats(report.stage, rank, *index) > 0
        };
        let silent = one.view.live().enumerate().filter(|(index, _)| is_silent(index));
        (report.closed_by == ClosedBy::Deadline).then(|| (one.machine.op(), silent.map(|(_, rank)| rank).collect()))
    }

    pub fn op_of_step(&self, step: u16) -> Option<u32> {
        op_of_step(step, self.next_op).filter(|op| (1..=64).contains(&self.next_op.saturating_sub(*op)))
    }

    /// A stale contribution to a finished collective is merely late.
    pub fn handle_refused(&mut self, cookie: u32, status: RefusedStatus) -> Result<(), ProtocolError> {
        let next_op = self.next_op;
        match self.find(cookie) {
            Some(one) => one.machine.handle_refused(cookie, status)?,
            None if status == RefusedStatus::Stale => tracing::debug!(cookie, "late contribution refused"),
            None => return Err(ProtocolError::UnknownWindow { op: next_op, cookie, windows: 0 }),
        }
        Ok(())
    }

    pub fn check(&self, now_ns: u64) -> Result<(), ProtocolError> {
        self.running.iter().try_for_each(|one| one.machine.handle_timeout(now_ns))
    }

    pub fn pop_done(&mut self, plane: &mut impl DataPlane) -> Option<Running> {
        let mut one = self.running.pop_front_if(|one| one.started && one.machine.is_done())?;
        one.reclaim(plane);
        Some(one)
    }

    /// Newest collective for which it and all before it have their first windows armed.
    pub fn newest_open(&self) -> Option<&Running> {
        self.running.iter().take_while(|one| one.machine.is_open()).last()
    }

    pub fn view_of(&self, op: u32) -> Option<&View> {
        self.running.iter().find(|one| one.machine.op() == op).map(|one| &one.view)
    }

    fn find(&mut self, cookie: u32) -> Option<&mut Running> {
        self.running.iter_mut().find(|one| one.machine.plan_of(cookie).is_ok())
    }
}

impl Held {
    pub fn into_finished(self, spares: &mut Spares) -> Finished {
        let Self { running, mut report, .. } = self;
        let Running { call, machine, gradient, result, corrected, destination, not_finite, .. } = running;
        let result = if call.kind == Kind::AllReduce {
            result
        } else {
            let unpacked = corrected.unwrap_or_else(|| machine.unpacked(&result));
            spares.put(&call, result);
            unpacked.into()
        };
        // Repairs and corrections change values, so the windows' count is no longer valid.
        let is_repaired = report.repair.corrected || report.received_fraction[Stage::Broadcast.index()] < 1.0;
        report.not_finite = if is_repaired { count_not_finite(&result) } else { not_finite };
        let is_update = call.kind == Kind::AllReduce && !call.is_one_off();
        match gradient {
            Some(given) if is_update && report.is_skipped() => {
                report.missing = Vec::new();
                let partial = match destination {
                    Destination::Here(mut place) => {
                        place.copy_from_slice(&result);
                        spares.put(&call, result);
                        place
                    }
                    Destination::Bucket | Destination::Gradient => result,
                };
                Finished { report, result: given, partial: Some(partial), copied_bytes: 0 }
            }
            given => {
                report.missing = machine.missing_of(&report.missing);
                let (mut copied_bytes, mut result) = (0, result);
                let (place, unused) = match destination {
                    Destination::Bucket => (None, given),
                    Destination::Gradient => (given, None),
                    Destination::Here(values) => (Some(values), given),
                };
                if let Some(mut place) = place {
                    copied_bytes = size_of_val(&*result);
                    place.copy_from_slice(&result);
                    spares.put(&call, std::mem::replace(&mut result, place));
                }
                unused.into_iter().for_each(|given| spares.put(&call, given));
                Finished { report, result, partial: None, copied_bytes }
            }
        }
    }
}

impl Running {
    pub fn missing_elements(&self) -> Vec<Range<usize>> {
        let of = |(plan, incomplete): &(WindowPlan, Incomplete)| missing_elements(plan, &incomplete.present);
        self.incomplete.iter().flat_map(of).collect()
    }

    pub fn is_repaired(&self) -> bool {
        self.call.kind.sends(Stage::Broadcast) && self.call.repair != Repair::Off
    }

    /// Returns whether the collective, of a declared bucket, waits for its repairs.
    pub fn waits_for_repairs(&self) -> bool {
        self.is_repaired() && self.call.repair == Repair::ThisUpdate && !self.call.is_one_off()
    }

    fn memory(&self, role: Role) -> Memory {
        Memory { op: self.machine.op(), role, first_element: 0 }
    }

    fn reclaim(&mut self, plane: &mut impl DataPlane) {
        if let Some(gradient) = plane.reclaim(self.memory(Role::Gradient)) {
            self.gradient = Some(gradient);
        }
        if let Some(result) = plane.reclaim(self.memory(Role::Result)) {
            self.result = result;
        }
    }

    fn take_result<P: DataPlane>(
        &mut self,
        cookie: u32,
        plane: &mut P,
        repairs: Option<&mut Repairs>,
    ) -> Result<(), CollectivesError<P::Error>> {
        let mut repairs = repairs.filter(|_| self.is_repaired());
        let (plan, short) = (self.machine.plan_of(cookie)?.clone(), self.machine.short_of(cookie));
        let (op, index) = (self.machine.op(), self.machine.params().rank);
        if let Some(repairs) = repairs.as_mut().filter(|_| self.call.stream_id().is_none()) {
            repairs.expect_without_stream(
                size_of::<f32>() * self.machine.wire_elements().div_ceil(self.view.live().count().max(1)),
            );
        }
        let Self { not_finite, incomplete: all_incomplete, arrived: all_arrived, .. } = self;
        let mut look = |WindowOutput { elements, not_finite: counted, repair }: WindowOutput<'_>| {
            *not_finite += counted.unwrap_or_else(|| count_not_finite(elements));
            let from_output;
            let RepairData { own, incomplete, arrived } = match repair {
                Some(repair) => repair,
                None => {
                    from_output = own_shard(&plan, index, elements);
                    RepairData { own: &from_output, incomplete: shards_missing(&plan, &short), arrived: Vec::new() }
                }
            };
            let on_wire =
                |beats: Range<usize>| plan.first_element + beats.start * LANES..plan.first_element + beats.end * LANES;
            all_arrived.extend(arrived.into_iter().map(|(beats, ranks)| (on_wire(beats), ranks)));
            if let Some(repairs) = &mut repairs {
                repairs.keep(op, index, &plan, own, incomplete.as_ref().map(|incomplete| &incomplete.present[..]));
            }
            if let Some(incomplete) = incomplete.and_then(|incomplete| of_result(&plan, index, incomplete)) {
                all_incomplete.push((plan.clone(), incomplete));
            }
        };
        plane.take_result(&plan, &mut look).map_err(CollectivesError::Plane)?;
        if let Some(repairs) = repairs.filter(|_| self.machine.is_done()) {
            let rank = self.view.live().nth(index).unwrap_or(index);
            repairs.begin(op, &self.view, rank, self.call.stream_id(), std::mem::take(&mut self.incomplete));
            if self.call.kind == Kind::AllGather {
                repairs.lay_out(op, self.machine.parts());
            }
        }
        Ok(())
    }
}

/// Missing data of a window's result. After a reduce-scatter, only in this rank's shard.
fn of_result(plan: &WindowPlan, index: usize, mut incomplete: Incomplete) -> Option<Incomplete> {
    if !plan.kind.sends(Stage::Broadcast) {
        let own = plan.shards.range_of(index);
        let others = (0..plan.beats).filter(|beat| !own.contains(beat));
        others.for_each(|beat| incomplete.present[beat / 64] |= 1 << (beat % 64));
        let is_present = |beat: usize| incomplete.present[beat / 64] >> (beat % 64) & 1 == 1;
        if own.clone().all(is_present) {
            return None;
        }
    }
    Some(incomplete)
}

/// This rank's shard as sent, for data planes without repair data (cards); empty if it was encoded.
/// Beats without any contribution are unknown and count as zeros.
fn own_shard(plan: &WindowPlan, index: usize, output: &[f32]) -> Vec<f32> {
    let shard = plan.shards.range_of(index);
    let value = |index: usize| output.get(index).copied().unwrap_or(0.0);
    let own = if plan.hadamard { 0..0 } else { shard.start * LANES..shard.end * LANES };
    own.map(value).collect()
}

/// For data planes without repair data: incomplete shards count as wholly missing.
fn shards_missing(plan: &WindowPlan, short: &[(usize, u64)]) -> Option<Incomplete> {
    let is_short = |beat: &usize| short.iter().any(|(from, _)| plan.shards.range_of(*from).contains(beat));
    let present = || {
        let mut present = vec![0; plan.beats.div_ceil(64)];
        (0..plan.beats).filter(|beat| !is_short(beat)).for_each(|beat| present[beat / 64] |= 1 << (beat % 64));
        present
    };
    (!short.is_empty()).then(|| Incomplete { gathered: Vec::new(), present: present() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::membership::Settings;
    use crate::software::{Batch, Software, SoftwareJob};

    fn pipeline() -> (Pipeline, Software, JobParams, View) {
        let job = SoftwareJob { slots: 4, ..SoftwareJob::new(0, 2, 1, 1) };
        let plane = Software::new(job).unwrap();
        let params = JobParams { window_beats_max: 2, ..JobParams::new(0, 2, 1, 1000, &plane.limits()) };
        let view = View::first(Ranks::all(2), Settings::first(1000));
        let mut pipeline = Pipeline::default();
        pipeline.push::<std::convert::Infallible>(&params, view.clone(), call()).unwrap();
        (pipeline, plane, params, view)
    }

    fn call() -> Call {
        Call::declared(Kind::AllReduce, 0, 4 * LANES, 0)
    }

    #[test]
    fn the_number_after_the_last_is_an_error_and_no_collective() {
        let (mut pipeline, _, params, view) = pipeline();
        pipeline.next_op = u32::MAX - 1;
        let mut push = || pipeline.push::<std::convert::Infallible>(&params, view.clone(), call());
        assert!(push().is_ok());
        assert!(matches!(push(), Err(CollectivesError::OutOfNumbers { op: u32::MAX })));
        assert_eq!((pipeline.len(), pipeline.next_op), (2, u32::MAX));
    }

    /// Together they take all slots.
    #[test]
    fn a_view_that_was_entered_ahead_does_not_stop_the_collective_before() {
        let (mut pipeline, mut plane, params, view) = pipeline();
        let tuning = Tuning::default();
        pipeline.act(0, &mut plane, &params, &tuning).unwrap();
        let next = View { number: 1, epoch: 1, first_op: 1, ..view };
        assert_eq!(pipeline.prepost(&params, next, call()), Some(1));
        pipeline.act(0, &mut plane, &params, &tuning).unwrap();
        assert_eq!(pipeline.running.iter().map(|one| one.machine.slots_in_use()).sum::<usize>(), 4);
        pipeline.start::<std::convert::Infallible>(0, vec![1.0; 4 * LANES].into()).unwrap();
        pipeline.act(0, &mut plane, &params, &tuning).unwrap();
        let sent = plane.poll_transmit(Batch { segments_max: 1, bytes_max: 1500 });
        assert!(sent.is_some(), "collective 0 was started and sends nothing");
    }
}
