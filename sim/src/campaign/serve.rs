//! Actions of a woken rank: calls, packets, messages, and reports to the judges.

use optireduce_contract::packet::{STAGE_BROADCAST, STAGE_CONTRIBUTE, UBT_BYTES, UbtHeader};
use optireduce_core::protocol::membership::MembershipMessage;
use optireduce_core::protocol::repair::RepairMessage;
use optireduce_core::protocol::{CallMessage, Message, VoteMessage};
use optireduce_core::software::{Batch, Transmit};
use optireduce_core::{Call, Collectives, MembershipEvent, Repair};

use super::card::RankCard;
use super::fault::Transition;
use super::frames::framed;
use super::job::{Event, Job};
use super::judge::JudgeKind;
use super::memory::footprint;
use super::rank::{CARD_SLACK_NS, EngineError, Outstanding, Plane, Rank, State, votes};
use super::timeline::What;
use super::wire::Damage;

/// Timeout of an agreement.
const AGREE_NS: u64 = 5_000_000_000;
/// Poll interval while peers declare a bucket.
const DECLARE_NS: u64 = 100_000;
/// Tolerance of a call's time limit.
const CALL_SLACK_NS: u64 = 10_000;
/// Additional time of a card per window, for queued frames.
const WINDOW_SLACK_NS: u64 = 50_000;

impl Job<'_> {
    pub(super) fn serve(&mut self, rank: usize) {
        loop {
            self.run_card(rank);
            if !self.ranks[rank].is_awake() {
                return self.wake_for_card(rank);
            }
            let local_ns = self.now_ns + self.ranks[rank].clock_ns;
            self.exchange(rank, local_ns);
            let began = self.begin_calls(rank, local_ns);
            let ended = self.poll(rank, local_ns);
            self.transmit(rank);
            self.exchange(rank, local_ns);
            if self.judge.violation.is_some() || !began && !ended {
                break;
            }
        }
        self.wake_for_card(rank);
        let one = &mut self.ranks[rank];
        if !one.is_awake() {
            return;
        }
        let Some(engine) = &mut one.engine else { return };
        let plane_ns = if let Plane::Software(software) = engine.plane() { software.next_timeout() } else { None };
        let timers = [plane_ns, engine.next_timeout(), one.waiting_ns.map(|since| since + AGREE_NS + 1)];
        let timer_ns = timers.into_iter().flatten().min().map(|at_ns| at_ns.saturating_sub(one.clock_ns));
        let calls = one.state == State::Working
            && (one.next_op as usize) < self.plan.calls.len()
            && one.next_call_ns > self.now_ns;
        let call_ns = calls.then_some(one.next_call_ns);
        if let Some(at_ns) = timer_ns.into_iter().chain(call_ns).min() {
            self.wake(rank, at_ns);
        }
    }

    /// Runs a rank's card, even while its host is frozen.
    fn run_card(&mut self, rank: usize) {
        let dma_ns = self.wire.dma_ns(self.now_ns, rank);
        let Some(card) = &mut self.ranks[rank].card else { return };
        card.spoil(|faults| faults.dma_ns = dma_ns);
        for (to, datagram) in card.run(self.now_ns) {
            self.send(rank, to, &datagram);
        }
    }

    fn wake_for_card(&mut self, rank: usize) {
        let wake_ns = self.ranks[rank].card.as_ref().and_then(RankCard::next_wake_ns);
        wake_ns.into_iter().for_each(|at_ns| self.wake(rank, at_ns));
    }

    /// Makes due calls. Ranks with cards prepare the next call early, since cards discard packets
    /// of windows that are not armed.
    pub(super) fn begin_calls(&mut self, rank: usize, local_ns: u64) -> bool {
        let mut any = false;
        loop {
            let one = &self.ranks[rank];
            let op = one.next_op;
            let is_prepared = one.prepared == Some(op);
            let is_due = one.outstanding.len() < self.plan.depth && self.now_ns >= one.next_call_ns;
            let is_early = one.card.is_some() && one.outstanding.len() <= self.plan.depth;
            let may = match one.state {
                State::Working => is_due || is_early && !is_prepared,
                // Peers expect prepared collectives.
                State::Dropped => is_prepared,
                _ => false,
            };
            let Some(call) = self.plan.calls.get(op as usize).copied().filter(|_| may) else { return any };
            if !is_prepared {
                if !self.prepare(rank, local_ns, op, call) {
                    return any;
                }
                any = true;
                continue;
            }
            // A fault since the wake-up may have moved the clock.
            let called_ns = self.now_ns + self.ranks[rank].clock_ns;
            let due_ns = called_ns + self.call_bound_ns(rank, op);
            let one = &mut self.ranks[rank];
            one.outstanding.push_back(Outstanding { op, called_ns, due_ns });
            (one.next_op, one.prepared) = (op + 1, None);
            let pause_ns = self.random.below(self.plan.pause_ns) + self.wire.slowed_ns(self.now_ns, rank);
            self.ranks[rank].next_call_ns = self.now_ns + pause_ns;
            self.timeline.add(self.now_ns, Some(rank), What::Calls(op));
            self.judge.called(rank, op);
            self.happens(Transition::Called, rank);
            any = true;
            let given = self.plan.gradient(rank, op);
            let started = self.ranks[rank].engine.as_mut().map(|engine| engine.start(local_ns, op, given));
            if let Some(Err(error)) = started {
                self.fail(rank, &error);
            }
        }
    }

    /// Prepares a call, if its members are agreed.
    fn prepare(&mut self, rank: usize, local_ns: u64, op: u32, call: Call) -> bool {
        if !self.is_declared(rank, op) {
            return false;
        }
        let one = &mut self.ranks[rank];
        let Some(engine) = &mut one.engine else { return false };
        advance(engine, local_ns);
        if !engine.may_prepare(local_ns) {
            self.wait_for_view(rank, local_ns);
            return false;
        }
        one.waiting_ns = None;
        match engine.prepare_call(local_ns, call) {
            Ok(found) if found == op => one.prepared = Some(op),
            Ok(found) => {
                let text = format!("call {op} was given number {found}");
                self.judge.object(JudgeKind::Members, Some(rank), self.now_ns, text);
                return false;
            }
            Err(error) => {
                self.fail(rank, &error);
                return false;
            }
        }
        true
    }

    /// Returns whether the bucket of `op` is declared. As in the host library, a repeated
    /// declaration releases the bucket and waits for all peers.
    fn is_declared(&mut self, rank: usize, op: u32) -> bool {
        let Some(bucket) = self.plan.declared_anew(op) else { return true };
        let one = &mut self.ranks[rank];
        if one.declared_op != op {
            one.declared_op = op;
            let released = one.engine.as_mut().map(|engine| engine.release_bucket(bucket));
            if let Some(Err(error)) = released {
                self.fail(rank, &error);
                return false;
            }
        }
        let waits_for = |other: &Rank| other.is_working() && other.next_op <= op && other.declared_op != op;
        if self.ranks.iter().any(waits_for) {
            let next_ns = self.now_ns + DECLARE_NS;
            self.ranks[rank].next_call_ns = self.ranks[rank].next_call_ns.max(next_ns);
            return false;
        }
        true
    }

    /// Time limit of a call, including earlier collectives, repairs and votes.
    pub(super) fn call_bound_ns(&self, rank: usize, op: u32) -> u64 {
        let set = &self.plan.settings;
        let votes = if set.votes { votes(self.plan).others_ns } else { 0 };
        let one = &self.ranks[rank];
        // Each window adds six accesses to host memory to its stages.
        let dma_ns = one.card.as_ref().map_or(0, |_| WINDOW_SLACK_NS + 6 * self.wire.dma_ns(self.now_ns, rank));
        let of = |op: u32| {
            let wait_ns = match self.plan.repair(op) {
                _ if self.plan.calls[op as usize].is_one_off() => set.one_off_wait_ns,
                Repair::ThisUpdate => 4 * set.bound_ns,
                _ => 0,
            };
            self.plan.windows(op) * (2 * set.bound_ns + dma_ns) + wait_ns + votes
        };
        let suspect_ns = if one.card_suspect { CARD_SLACK_NS } else { 0 };
        one.outstanding.iter().map(|call| of(call.op)).sum::<u64>() + of(op) + CALL_SLACK_NS + suspect_ns
    }

    pub(super) fn wait_for_view(&mut self, rank: usize, local_ns: u64) {
        let one = &mut self.ranks[rank];
        let is_new = one.waiting_ns.is_none();
        let since_ns = *one.waiting_ns.get_or_insert(local_ns);
        if is_new {
            self.timeline.add(self.now_ns, Some(rank), What::WaitsForView);
            self.happens(Transition::Waits, rank);
        }
        if local_ns - since_ns > AGREE_NS {
            self.judge.gave_up(rank, self.now_ns, "the ranks have not agreed on a view in time");
            self.timeline.add(self.now_ns, Some(rank), What::Fails("no agreement".into()));
            self.ranks[rank].state = State::Failed;
        }
    }

    /// Ends the process if a fault affected its card; otherwise a judge objects.
    pub(super) fn fail(&mut self, rank: usize, error: &EngineError) {
        if self.ranks[rank].card_suspect {
            self.judge.tally.card_errors += 1;
            self.timeline.add(self.now_ns, Some(rank), What::Fails(error.to_string()));
            return self.crash(rank, 1_000_000);
        }
        self.judge.object(JudgeKind::Sound, Some(rank), self.now_ns, format!("the engine gave up: {error}"));
        self.ranks[rank].state = State::Failed;
    }

    pub(super) fn poll(&mut self, rank: usize, local_ns: u64) -> bool {
        let mut any = false;
        loop {
            let one = &mut self.ranks[rank];
            let Some(engine) = &mut one.engine else { return any };
            advance(engine, local_ns);
            let finished = match engine.poll(local_ns) {
                Ok(Some(finished)) => finished,
                Ok(None) => break,
                Err(error) => {
                    self.fail(rank, &error);
                    return any;
                }
            };
            any = true;
            let Some(call) = one.outstanding.pop_front() else {
                self.judge.object(
                    JudgeKind::Returns,
                    Some(rank),
                    self.now_ns,
                    "a collective returned without a call".into(),
                );
                return any;
            };
            if local_ns > call.due_ns {
                let took = (local_ns - call.called_ns) / 1000;
                let text = format!(
                    "collective {} took {took} us, {} us more than its bound",
                    call.op,
                    (local_ns - call.due_ns) / 1000
                );
                self.judge.object(JudgeKind::Returns, Some(rank), self.now_ns, text);
            }
            if self.timeline.records {
                self.timeline.add(self.now_ns, Some(rank), What::finished(&finished.report));
            }
            self.states.report(&finished.report);
            #[cfg(test)]
            let finished = self.sabotaged(rank, call, finished);
            self.judge.finished(rank, call.op, self.now_ns, finished);
            // Measuring takes as long as a few collectives.
            if (call.op as usize + rank).is_multiple_of(32)
                && let Some(engine) = &self.ranks[rank].engine
            {
                self.judge.holds(rank, self.now_ns, footprint(engine));
            }
            self.happens(Transition::Finished, rank);
            if !self.ranks[rank].is_awake() {
                return any;
            }
        }
        let one = &mut self.ranks[rank];
        // The rank is awake: even after a freeze it could have returned the call.
        if let Some(call) = one.outstanding.front().filter(|call| local_ns > call.due_ns + CALL_SLACK_NS) {
            let text = format!(
                "collective {} has not returned {} us after its bound",
                call.op,
                (local_ns - call.due_ns) / 1000
            );
            self.judge.object(JudgeKind::Returns, Some(rank), self.now_ns, text);
        }
        let runs_nothing = one.outstanding.is_empty() && one.prepared.is_none();
        match (&one.state, &mut one.engine) {
            (State::Dropped, _) if runs_nothing => self.join(rank, local_ns),
            // As when a rank closes.
            (State::Working, Some(engine)) if runs_nothing && one.next_op as usize == self.plan.calls.len() => {
                engine.wait_for_others();
            }
            _ => {}
        }
        any
    }

    pub(super) fn join(&mut self, rank: usize, local_ns: u64) {
        self.connects(rank);
        let one = &mut self.ranks[rank];
        let Some(engine) = &mut one.engine else { return };
        one.state = State::Joining;
        if let Err(error) = engine.join(local_ns, self.now_ns + 1) {
            self.fail(rank, &error);
        }
        self.timeline.add(self.now_ns, Some(rank), What::AsksToJoin);
    }

    /// Opens connections to all live ranks.
    pub(super) fn connects(&mut self, rank: usize) {
        for to in (0..self.plan.ranks).filter(|to| *to != rank) {
            if self.ranks[to].state == State::Dead {
                continue;
            }
            self.wire.set_broken(rank, to, false);
            for (of, other) in [(rank, to), (to, rank)] {
                self.ranks[of].engine.iter_mut().for_each(|engine| engine.handle_back(other));
            }
        }
    }

    pub(super) fn transmit(&mut self, rank: usize) {
        let mut out = std::mem::take(&mut self.out);
        loop {
            let batch = Batch { segments_max: 1 + self.random.below(4) as usize, bytes_max: 65_000 };
            let Some(engine) = self.ranks[rank].engine.as_mut().filter(|_| self.judge.violation.is_none()) else {
                break;
            };
            let Plane::Software(software) = engine.plane_mut() else { break };
            let Some(transmit) = software.poll_transmit(batch) else { break };
            transmit.copy_to(&mut out);
            let Transmit { to, segment_bytes, .. } = transmit;
            for datagram in out.chunks(segment_bytes) {
                self.send(rank, to, datagram);
            }
            if !self.ranks[rank].is_awake() {
                break;
            }
        }
        self.out = out;
    }

    pub(super) fn send(&mut self, from: usize, to: usize, datagram: &[u8]) {
        let copies = self.wire.send(self.now_ns, from, to, datagram);
        for copy in copies {
            let event = if copy.damage == Damage::None {
                Event::Datagram { from: Some(from), to, datagram: datagram.to_vec() }
            } else {
                self.coverage.damaged += 1;
                let mut frame = framed(Some(from), to, datagram);
                copy.damage.apply(&mut frame);
                Event::Damaged { to, frame }
            };
            self.schedule(copy.at_ns, event);
        }
        self.coverage.datagrams += 1;
        let Some(header) = datagram.first_chunk::<UBT_BYTES>().map(UbtHeader::of_any_job) else { return };
        match header.stage {
            STAGE_CONTRIBUTE if self.judge.is_first(from, header.step, header.stage) => {
                self.happens(Transition::Contributes, from)
            }
            STAGE_BROADCAST if self.judge.is_first(from, header.step, header.stage) => {
                self.timeline.add(self.now_ns, Some(from), What::SendsMean(header.step));
                self.happens(Transition::Broadcasts, from)
            }
            _ => {}
        }
    }

    pub(super) fn exchange(&mut self, rank: usize, local_ns: u64) {
        if let Some(engine) = &mut self.ranks[rank].engine {
            engine.handle_timeout(local_ns);
        }
        while let Some(engine) = self.ranks[rank].engine.as_mut().filter(|_| self.judge.violation.is_none()) {
            let Some((to, message)) = engine.poll_message() else { break };
            let ends = [rank, to].map(|of| (of, self.ranks[of].incarnation));
            let transition = self.transition_of(rank, &message);
            self.coverage.messages += 1;
            if let Some(at_ns) = self.wire.send_control(self.now_ns, rank, to) {
                self.schedule(at_ns, Event::Control { from: ends[0], to: ends[1], message });
            }
            if let Some(transition) = transition {
                self.happens(transition, rank);
                if !self.ranks[rank].is_awake() {
                    return;
                }
            }
        }
        while let Some(event) = self.ranks[rank].engine.as_mut().and_then(|engine| engine.poll_membership_event()) {
            self.take_event(rank, event);
        }
    }

    fn transition_of(&self, from: usize, message: &[u8]) -> Option<Transition> {
        let message = Message::decode(from, self.plan.ranks, message).ok()?;
        self.states.message(&message);
        transition_of(&message)
    }

    pub(super) fn take_event(&mut self, rank: usize, event: MembershipEvent) {
        match event {
            MembershipEvent::Silent { rank: of } => self.timeline.add(self.now_ns, Some(rank), What::Misses(of)),
            MembershipEvent::Dropped => {
                self.timeline.add(self.now_ns, Some(rank), What::IsDropped);
                let one = &mut self.ranks[rank];
                one.state = State::Dropped;
                one.waiting_ns = None;
                self.judge.dropped(rank, self.now_ns);
                self.happens(Transition::Dropped, rank);
                self.wake(rank, self.now_ns);
            }
            MembershipEvent::View(view) => {
                let members: Vec<usize> = view.live().collect();
                self.timeline.add(
                    self.now_ns,
                    Some(rank),
                    What::Knows { view: view.number, first_op: view.first_op, members: members.clone() },
                );
                self.judge.view(rank, self.now_ns, &view);
                let one = &mut self.ranks[rank];
                one.views.push((view.number, view.first_op));
                let joined = view.joined.is_some_and(|(joined, _)| usize::from(joined) == rank);
                if joined && one.state == State::Joining {
                    self.timeline.add(self.now_ns, Some(rank), What::Joined);
                    one.state = State::Working;
                    one.next_op = view.first_op;
                    one.next_call_ns = self.now_ns;
                    self.judge.joined(rank, view.first_op);
                }
                self.happens(Transition::ViewKnown, rank);
            }
        }
    }
}

fn advance(engine: &mut Collectives<Plane>, local_ns: u64) {
    if let Plane::Software(software) = engine.plane_mut() {
        software.advance(local_ns);
    }
}

fn transition_of(message: &Message) -> Option<Transition> {
    Some(match message {
        Message::Repair(RepairMessage::Request { .. }) => Transition::RepairRequest,
        Message::Repair(_) => Transition::RepairAnswer,
        Message::Call(CallMessage::Ask { .. }) => Transition::CallQuestion,
        Message::Vote(VoteMessage::Vote { .. }) => Transition::Vote,
        Message::Vote(VoteMessage::Decision { .. }) => Transition::Decision,
        Message::Membership(message) => match message {
            MembershipMessage::Suspect { .. } => Transition::Suspects,
            MembershipMessage::Prepare { .. } => Transition::Prepares,
            MembershipMessage::Promise { .. } => Transition::Promises,
            MembershipMessage::Accept { .. } => Transition::Accepts,
            MembershipMessage::Accepted { .. } => Transition::Accepted,
            MembershipMessage::Views { .. } => Transition::Decided,
            MembershipMessage::Join { .. } => Transition::Joins,
            _ => return None,
        },
        _ => return None,
    })
}
