//! Agreements among the ranks of a job: views, repairs, skipped updates, and their messages.

use std::collections::VecDeque;

use super::pipeline::{Held, Running};
use super::spares::Spares;
use super::types::{Call, Finished, MembershipEvent, MessageError};
use crate::protocol::membership::{Output, Settings};
use crate::protocol::{
    Arming, CallCheck, CallInfo, Control, Decided, JobParams, Kind, LOSS_SKIP, Message, Mismatch, Ranks, RepairStatus,
    Report, Safeguard, UpdateAction, View, VoteParams, Votes, is_too_much,
};
use crate::repairs::{Outcome, Repairs};

/// Maximum wait of a declared bucket's collective for its repairs, in bounds.
const REPAIR_BOUNDS: u64 = 4;
const ONE_OFF_WAIT_NS: u64 = 5_000_000_000;

#[derive(Debug)]
pub(super) struct Agreement {
    rank: usize,
    ranks: usize,
    pub control: Option<Control>,
    pub votes: Option<Votes>,
    pub vote_slack_ns: Option<u64>,
    safeguard: Safeguard,
    pub repairs: Option<Repairs>,
    pub calls: Option<CallCheck>,
    pub arming: Option<Arming>,
    pub one_off_wait_ns: u64,
    first: View,
    joining: Option<u64>,
    /// Ranks whose reliable channel has closed.
    gone: Ranks,
    outgoing: VecDeque<(usize, Message)>,
    events: VecDeque<MembershipEvent>,
}

impl Agreement {
    pub fn new(params: &JobParams) -> Self {
        let &JobParams { rank, ranks, bound_ns, .. } = params;
        let first = View::first(Ranks::all(ranks), Settings::first(bound_ns));
        Self {
            rank,
            ranks,
            control: None,
            votes: None,
            vote_slack_ns: None,
            safeguard: Safeguard::default(),
            repairs: None,
            calls: None,
            arming: None,
            one_off_wait_ns: ONE_OFF_WAIT_NS,
            first,
            joining: None,
            gone: Ranks::none(ranks),
            outgoing: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    pub fn newest(&self) -> &View {
        self.control.as_ref().and_then(Control::newest).unwrap_or(&self.first)
    }

    pub fn set_bound_ns(&mut self, bound_ns: u64) {
        if let (Some(votes), Some(slack_ns)) = (&mut self.votes, self.vote_slack_ns) {
            votes.set_params(VoteParams::of_bound(bound_ns, slack_ns));
        }
    }

    pub fn is_measuring(&self, bound_ns: u64) -> bool {
        self.control.as_ref().is_some_and(|control| control.is_measuring(bound_ns))
    }

    pub fn armed(&mut self, op: u32, view: &View) {
        if let Some(arming) = &mut self.arming {
            arming.armed(op, view.live());
        }
    }

    /// First rank of `view` with a card that is not gone and has not armed `op`.
    pub fn not_armed(&self, op: u32, view: &View) -> Option<usize> {
        let arming = self.arming.as_ref()?;
        arming.not_armed(op, view.live().filter(|rank| !self.gone.contains(*rank)))
    }

    pub fn is_member(&self) -> bool {
        self.control.as_ref().is_none_or(|control| control.newest().is_some())
    }

    pub fn view_of(&mut self, now_ns: u64, op: u32) -> Option<View> {
        let Some(control) = &mut self.control else { return Some(self.first.clone()) };
        control.view_of(now_ns, op)
    }

    pub fn join(&mut self, now_ns: u64, incarnation: u64, next_op: u32) {
        self.joining = Some(incarnation);
        // The rank receives a new copy of the model, so earlier repairs are obsolete.
        self.repairs = self.repairs.take().map(|_| Repairs::new(next_op));
        self.calls.iter_mut().for_each(CallCheck::join);
        self.votes.iter_mut().for_each(Votes::join);
        if let Some(control) = &mut self.control {
            control.join(now_ns, incarnation);
        }
        // Joining resets membership, but not the channels.
        self.gone.clone().iter().for_each(|rank| self.handle_gone(rank));
    }

    pub fn leave(&mut self) {
        self.control.iter_mut().for_each(Control::leave);
        self.votes.iter_mut().for_each(Votes::join);
    }

    pub fn called(&mut self, now_ns: u64, op: u32, call: &Call, params: &JobParams, view: &View) {
        let Some(calls) = &mut self.calls else { return };
        calls.called(now_ns, op, call.info(params, view), view.live().collect());
        if call.is_one_off() {
            // One-off calls are not declared, so all ranks compare them with the leader's.
            calls.doubt(op, view.live().next());
        }
    }

    pub fn misfit(&mut self, now_ns: u64, op: u32, call: &Call, found: usize, params: &JobParams) {
        let view = self.newest().clone();
        let Some(calls) = &mut self.calls else { return };
        let info = CallInfo { misfit: Some(found as u64), ..call.info(params, &view) };
        calls.called(now_ns, op, info, view.live().collect());
        calls.announce(op);
    }

    pub fn misfit_of(&self, op: u32) -> Option<Mismatch> {
        self.calls.as_ref()?.misfit(op)
    }

    /// Returns whether the caller has taken all messages, so that the other ranks receive them.
    pub fn has_told(&self) -> bool {
        self.outgoing.is_empty()
    }

    pub fn is_confirmed_by_all(&self, op: u32) -> bool {
        let view = self.newest();
        self.calls.as_ref().is_none_or(|calls| view.live().all(|rank| calls.is_confirmed(op, rank)))
    }

    pub fn doubt_bucket(&mut self, op: u32, wire_bucket: u16) {
        let Some(calls) = &mut self.calls else { return };
        let Some((call, live)) = calls.call_of(op) else { return };
        if call.kind.wire_bucket(call.bucket) != Some(wire_bucket) {
            let live = live.to_vec();
            calls.doubt(op, live);
        }
    }

    pub fn doubt_unheard(&mut self, op: u32, ranks: Vec<usize>) {
        if let Some(calls) = &mut self.calls {
            calls.doubt(op, ranks);
        }
    }

    pub fn mismatch(&self, now_ns: u64) -> Option<Mismatch> {
        self.calls.as_ref().filter(|_| self.has_told()).and_then(|calls| calls.mismatch(now_ns))
    }

    pub fn hold(&mut self, now_ns: u64, running: Running, silent: &Ranks) -> Held {
        // A silent rank is about to be dropped, which ends its losses without a halt.
        let drops = self.control.as_ref().is_some_and(Control::drops_silent);
        let may_halt = !drops || silent.is_empty();
        let call = &running.call;
        let is_repaired_first = self.repairs.is_some() && running.waits_for_repairs();
        // The safeguard counts final verdicts only, and these cases are judged or agreed on later.
        let is_opinion = self.votes.is_some() || call.is_one_off() || is_repaired_first || !may_halt;
        let wait_ns = match call.is_one_off() {
            true => self.one_off_wait_ns,
            false if is_repaired_first => REPAIR_BOUNDS * running.machine.params().bound_ns,
            false => 0,
        };
        let mut opinion = Safeguard::default();
        let report = running.machine.finish(if is_opinion { &mut opinion } else { &mut self.safeguard });
        Held { running, report, until_ns: now_ns.saturating_add(wait_ns), voted: false, may_halt }
    }

    pub fn observe(&mut self, now_ns: u64, report: &Report, heard: &Ranks, silent: &Ranks, came_late: Option<bool>) {
        if let Some(control) = &mut self.control {
            control.observe(now_ns, report, heard, silent, came_late);
        }
    }

    pub fn release(&mut self, now_ns: u64, held: &mut Option<Held>, spares: &mut Spares) -> Option<Finished> {
        let released = self.judged(now_ns, held, spares);
        self.wait_for_others(now_ns, held.is_some());
        released
    }

    pub fn wait_for_others(&mut self, now_ns: u64, waits: bool) {
        if let Some(control) = &mut self.control {
            control.wait_for_others(now_ns, waits);
        }
    }

    fn judged(&mut self, now_ns: u64, held: &mut Option<Held>, spares: &mut Spares) -> Option<Finished> {
        let one = held.as_mut()?;
        let (op, is_one_off) = (one.report.op, one.running.call.is_one_off());
        if !one.voted {
            if is_one_off {
                self.ask_the_others(op, &one.running.view);
                if now_ns < one.until_ns && !self.is_complete(op, &one.running.view) {
                    return None;
                }
                self.repair_one_off(one);
            } else if let Some(repairs) = self.repairs.as_ref().filter(|_| one.running.waits_for_repairs()) {
                if now_ns < one.until_ns && !repairs.is_fetched(op) {
                    return None;
                }
                let missing_bytes = repairs.missing_bytes(op);
                self.judge_repaired(one, missing_bytes);
            }
            one.voted = true;
            if let Some(votes) = &mut self.votes {
                votes.cast(now_ns, op, &one.running.view.ranks, one.report.is_skipped(), one.until_ns);
            }
        }
        let mut outcome = if one.report.is_skipped() { Outcome::Skip } else { Outcome::Apply };
        if let Some(votes) = &mut self.votes {
            let Decided { skip, agreed } = votes.decided(now_ns)?;
            one.report.agreed = agreed;
            one.report.action = match skip {
                _ if !is_one_off && one.may_halt => self.safeguard.count(skip, one.report.packets),
                true => UpdateAction::Skip,
                false => UpdateAction::Apply,
            };
            outcome = match (skip, agreed) {
                (true, true) => Outcome::Cancel,
                (true, false) => Outcome::Skip,
                (false, _) => Outcome::Apply,
            };
        }
        let held = held.take()?;
        // An all-gather returns its result whatever the verdict.
        let outcome = if held.report.kind == Kind::AllGather { Outcome::Apply } else { outcome };
        Some(if is_one_off { held.into_finished(spares) } else { self.apply(held, outcome, spares) })
    }

    /// Stops asking ranks outside a view. A rank that joins can be asked again, unless its new
    /// channel has closed as well.
    fn follow_ranks(&mut self, view: &View) {
        let joined = view.joined.map(|(rank, _)| usize::from(rank)).filter(|rank| !self.gone.contains(*rank));
        for rank in 0..self.ranks {
            if let Some(repairs) = &mut self.repairs {
                if joined == Some(rank) {
                    repairs.add_rank(rank, view.first_op);
                } else if !view.has(rank) {
                    repairs.drop_rank(rank);
                }
            }
            if let Some(calls) = &mut self.calls {
                if joined == Some(rank) {
                    calls.add_rank(rank, view.first_op);
                } else if !view.has(rank) {
                    calls.leave_rank(rank, view.first_op);
                }
            }
        }
    }

    fn ask_the_others(&mut self, op: u32, view: &View) {
        let is_leader = view.live().next() == Some(self.rank);
        if let Some(calls) = self.calls.as_mut().filter(|_| is_leader) {
            calls.doubt(op, view.live());
        }
    }

    fn is_complete(&self, op: u32, view: &View) -> bool {
        let is_fetched = self.repairs.as_ref().is_none_or(|repairs| repairs.is_fetched(op));
        is_fetched
            && self.calls.as_ref().is_none_or(|calls| {
                let leader = view.live().next();
                let mut of = view.live().filter(|rank| leader == Some(self.rank) || leader == Some(*rank));
                of.all(|rank| calls.is_confirmed(op, rank))
            })
    }

    fn finish_alone(&mut self, running: &mut Running, report: &mut Report) {
        let Some(repairs) = &mut self.repairs else {
            report.missing = running.missing_elements();
            return;
        };
        report.missing = match running.is_repaired() {
            true => repairs.finish(report.op, Outcome::Apply, None, &mut running.result),
            false => running.missing_elements(),
        };
        let bucket = report.kind.wire_bucket(report.bucket).unwrap_or(report.bucket);
        report.repair.bytes = repairs.report_of(bucket);
    }

    fn repair_one_off(&mut self, held: &mut Held) {
        let Held { running, report, .. } = held;
        self.finish_alone(running, report);
        let is_bad = !report.missing.is_empty() || report.contribute_loss() > LOSS_SKIP;
        report.action = if is_bad { UpdateAction::Skip } else { UpdateAction::Apply };
    }

    /// Judges a collective that waited for its repairs by its remaining loss.
    ///
    /// Without votes, a complete update is applied whatever its owners missed, since all ranks have
    /// the same means. It still counts towards the halt.
    fn judge_repaired(&mut self, held: &mut Held, missing_bytes: u64) {
        let report = &mut held.report;
        let skip = is_too_much(report.loss_with_means(missing_bytes));
        let is_agreed_on = self.votes.is_some();
        let counted = (!is_agreed_on && held.may_halt).then(|| self.safeguard.count(skip, report.packets));
        report.action = match counted {
            Some(UpdateAction::Halt) => UpdateAction::Halt,
            _ if skip && (is_agreed_on || missing_bytes > 0) => UpdateAction::Skip,
            _ => UpdateAction::Apply,
        };
    }

    fn apply(&mut self, mut held: Held, outcome: Outcome, spares: &mut Spares) -> Finished {
        let Held { running, report, .. } = &mut held;
        let stream = running.call.stream_id();
        let (Some(repairs), Some(stream)) = (&mut self.repairs, stream) else {
            self.finish_alone(running, report);
            return held.into_finished(spares);
        };
        let missing = repairs.finish(report.op, outcome, Some(stream), &mut running.result);
        let mut status = RepairStatus::default();
        if outcome == Outcome::Apply {
            report.missing = missing;
            let folded = if report.kind == Kind::AllGather {
                let whole = running.machine.unpacked(&running.result);
                repairs.fold(stream, running.corrected.insert(whole))
            } else {
                repairs.fold(stream, &mut running.result)
            };
            (status.corrected, status.pending_max) = (folded.corrected, folded.pending_max);
        }
        status.bytes = repairs.report_of(stream.bucket);
        status.pending_max = status.pending_max.max(repairs.held_max(stream));
        report.repair = status;
        held.into_finished(spares)
    }

    pub fn next_timeout(&self) -> Option<u64> {
        let control = self.control.as_ref().and_then(Control::next_timeout);
        let votes = self.votes.as_ref().and_then(Votes::next_timeout);
        let calls = self.calls.as_ref().and_then(CallCheck::next_timeout);
        control.into_iter().chain(votes).chain(calls).min()
    }

    pub fn handle_timeout(&mut self, now_ns: u64) {
        if let Some(control) = &mut self.control {
            control.handle_timeout(now_ns);
        }
        if let Some(votes) = &mut self.votes {
            votes.handle_timeout(now_ns);
        }
    }

    pub fn handle_message(&mut self, now_ns: u64, from: usize, bytes: &[u8]) -> Result<(), MessageError> {
        // Messages of protocols that this rank does not use are ignored.
        match Message::decode(from, self.ranks, bytes)? {
            Message::Membership(message) => {
                if let Some(control) = &mut self.control {
                    control.handle_message(now_ns, from, message)?;
                }
            }
            Message::Vote(message) => {
                if let Some(votes) = &mut self.votes {
                    votes.handle_message(now_ns, from, message);
                }
            }
            Message::Call(message) => {
                if let Some(calls) = &mut self.calls {
                    calls.handle_message(now_ns, from, message);
                }
            }
            Message::Repair(message) => {
                if let Some(repairs) = &mut self.repairs {
                    repairs.handle(from, message)?;
                }
            }
            Message::Arming(message) => {
                if let Some(arming) = &mut self.arming {
                    arming.handle(from, message);
                }
            }
            // Groups have a separate channel.
            Message::Partial(_) => {}
        }
        Ok(())
    }

    pub fn handle_gone(&mut self, rank: usize) {
        self.gone.insert(rank);
        if let Some(control) = &mut self.control {
            control.handle_gone(rank);
        }
        if let Some(calls) = &mut self.calls {
            calls.drop_rank(rank);
        }
        if let Some(repairs) = &mut self.repairs {
            repairs.drop_rank(rank);
        }
    }

    pub fn handle_back(&mut self, rank: usize) {
        self.gone.remove(rank);
        if let Some(control) = &mut self.control {
            control.handle_back(rank);
        }
    }

    pub fn poll_message(&mut self) -> Option<(usize, Vec<u8>)> {
        self.outgoing.pop_front().map(|(to, message)| (to, message.encode()))
    }

    pub fn poll_membership_event(&mut self) -> Option<MembershipEvent> {
        self.events.pop_front()
    }

    /// Collects messages and events. Calls `decided` with each new view, and whether this rank
    /// joins with it.
    pub fn take_outputs(&mut self, mut decided: impl FnMut(&View, bool)) {
        while let Some((to, message)) = self.repairs.as_mut().and_then(Repairs::poll) {
            self.outgoing.push_back((to, Message::Repair(message)));
        }
        while let Some((to, message)) = self.votes.as_mut().and_then(Votes::poll) {
            self.outgoing.push_back((to, Message::Vote(message)));
        }
        while let Some((to, message)) = self.calls.as_mut().and_then(CallCheck::poll) {
            self.outgoing.push_back((to, Message::Call(message)));
        }
        while let Some((to, message)) = self.arming.as_mut().and_then(Arming::poll) {
            self.outgoing.push_back((to, Message::Arming(message)));
        }
        while let Some(output) = self.control.as_mut().and_then(Control::poll) {
            match output {
                Output::Send { to, message } => {
                    self.outgoing.push_back((to, Message::Membership(message)));
                }
                Output::Silent { rank } => self.events.push_back(MembershipEvent::Silent { rank }),
                Output::Dropped => {
                    self.calls.iter_mut().for_each(CallCheck::leave);
                    self.events.push_back(MembershipEvent::Dropped);
                }
                Output::View(view) => {
                    let joined = self.joining.map(|incarnation| (self.rank as u16, incarnation));
                    let joins = joined.is_some() && view.joined == joined;
                    if joins {
                        self.joining = None;
                        self.votes.iter_mut().for_each(|votes| votes.forward(view.first_op));
                        self.repairs.iter_mut().for_each(|repairs| repairs.joined(view.first_op));
                        self.calls.iter_mut().for_each(|calls| calls.joined(view.first_op));
                    }
                    self.follow_ranks(&view);
                    decided(&view, joins);
                    self.events.push_back(MembershipEvent::View(view));
                }
            }
        }
    }
}
