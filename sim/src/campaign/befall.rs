//! Injection of each fault of the catalogue.

use optireduce_contract::packet::UbtHeader;

use super::fault::{Fault, FaultKind, Transition, Trigger};
use super::job::{Event, Job};
use super::rank::{CARD_SLACK_NS, State, engine};
use super::timeline::What;
use super::wire::Active;
use crate::card::functional::faults::Lie;

/// Time until peers detect a host without power.
const TCP_TIMEOUT_NS: u64 = 1_000_000_000;

impl Job<'_> {
    /// Records a transition at a rank, and starts the faults that wait for it.
    pub(super) fn happens(&mut self, transition: Transition, rank: usize) {
        self.coverage.seen(transition);
        if !self.plan.targets.contains(&rank) {
            return;
        }
        let count = self.happened[transition as usize];
        self.happened[transition as usize] += 1;
        while let Some(place) =
            self.waiting.iter().position(|(_, fault)| fault.trigger == Trigger::On { transition, nth: count })
        {
            let (number, fault) = self.waiting.remove(place);
            self.coverage.hit(transition, fault.kind);
            self.begin(number, &fault, rank);
        }
    }

    pub(super) fn begin(&mut self, number: usize, fault: &Fault, rank: usize) {
        let Some(rank) = (if fault.kind.needs_card() { self.plan.rank_with_card(rank) } else { Some(rank) }) else {
            return;
        };
        self.coverage.began(fault.kind);
        self.states.began(fault.kind);
        self.timeline.add(self.now_ns, Some(rank), What::Fault { number, kind: fault.kind, lasts_ns: fault.lasts_ns });
        let until_ns = self.now_ns + fault.lasts_ns;
        let neighbour = self.plan.neighbour(rank);
        match fault.kind {
            FaultKind::Freeze => {
                if self.ranks[rank].engine.is_some() {
                    let one = &mut self.ranks[rank];
                    if one.frozen_until_ns.is_none() {
                        one.frozen_since_ns = self.now_ns;
                    }
                    one.frozen_until_ns = one.frozen_until_ns.max(Some(until_ns));
                    self.schedule(until_ns, Event::Thaw(rank));
                }
            }
            FaultKind::Crash => self.crash(rank, 1_000_000),
            FaultKind::PowerLoss => self.crash(rank, TCP_TIMEOUT_NS),
            FaultKind::Restart => {
                self.crash(rank, 1_000_000);
                self.schedule(until_ns.max(self.now_ns + 1_200_000), Event::Restart(rank));
            }
            FaultKind::ClockJump => {
                self.ranks[rank].clock_ns += fault.lasts_ns;
                self.excuse(rank, fault.lasts_ns);
            }
            FaultKind::Strangers => self.strangers(rank),
            FaultKind::Replay => {
                for _ in 0..20 {
                    let Some((from, datagram)) = self.wire.replay(rank) else { break };
                    let at_ns = self.now_ns + self.random.below(fault.lasts_ns);
                    self.schedule(at_ns, Event::Datagram { from: Some(from), to: rank, datagram });
                }
            }
            // A joining rank reopens all connections before it enters the view, which would undo
            // the break.
            FaultKind::BreakControl if [rank, neighbour].iter().any(|of| !self.ranks[*of].is_working()) => {}
            FaultKind::BreakControl => {
                self.wire.set_broken(rank, neighbour, true);
                for (of, to) in [(rank, neighbour), (neighbour, rank)] {
                    let (incarnation, at_ns) = (self.ranks[of].incarnation, self.now_ns + self.random.below(1_000_000));
                    self.schedule(at_ns, Event::Gone { rank: of, incarnation, to });
                }
            }
            FaultKind::CardRemoval | FaultKind::CardLies | FaultKind::DmaErrors => self.spoil_card(rank, fault.kind),
            FaultKind::SlowDma => {
                // Each window makes six consecutive accesses.
                self.excuse(rank, fault.lasts_ns + 6 * self.plan.settings.bound_ns / 8);
                self.wire.begin(Active { kind: fault.kind, rank, neighbour, until_ns });
                self.schedule(until_ns, Event::FaultEnds);
            }
            kind => {
                self.wire.begin(Active { kind, rank, neighbour, until_ns });
                self.schedule(until_ns, Event::FaultEnds);
            }
        }
        self.wake(rank, self.now_ns);
    }

    fn spoil_card(&mut self, rank: usize, kind: FaultKind) {
        let lie = match self.random.below(4) {
            0 => Lie::Twice,
            1 => Lie::Report { bit: self.random.next_u64() as usize },
            _ => Lie::Completion { bit: self.random.next_u64() as usize },
        };
        let errors = 1 + self.random.below(3) as u32;
        let one = &mut self.ranks[rank];
        let Some(card) = &mut one.card else { return };
        match kind {
            FaultKind::CardRemoval => card.remove(),
            FaultKind::CardLies => card.spoil(|faults| faults.lie = Some(lie)),
            _ => card.spoil(|faults| faults.dma_errors += errors),
        }
        if !one.card_suspect {
            one.card_suspect = true;
            self.excuse(rank, CARD_SLACK_NS + 1_000_000);
        }
    }

    pub(super) fn excuse(&mut self, rank: usize, ns: u64) {
        self.ranks[rank].outstanding.iter_mut().for_each(|call| call.due_ns += ns);
    }

    /// Ends a rank's process. Peers detect it within 1.1 `heard_ns`.
    pub(super) fn crash(&mut self, rank: usize, heard_ns: u64) {
        let one = &mut self.ranks[rank];
        if one.engine.take().is_none() {
            return;
        }
        (one.state, one.frozen_until_ns, one.waiting_ns) = (State::Dead, None, None);
        (one.card, one.card_suspect) = (None, false);
        one.inbox.clear();
        one.inbox_bytes = 0;
        one.outstanding.clear();
        one.incarnation += 1;
        one.heard_ns = self.now_ns + heard_ns / 10 + heard_ns;
        let incarnation = one.incarnation;
        self.timeline.add(self.now_ns, Some(rank), What::Ends);
        self.judge.crashed(rank);
        for to in (0..self.plan.ranks).filter(|to| *to != rank) {
            let at_ns = self.now_ns + heard_ns / 10 + self.random.below(heard_ns);
            self.schedule(at_ns, Event::Gone { rank, incarnation, to });
        }
    }

    pub(super) fn restart(&mut self, rank: usize) {
        let one = &self.ranks[rank];
        if one.engine.is_some() {
            return;
        }
        // The old connections must have ended.
        if self.now_ns < one.heard_ns {
            return self.schedule(one.heard_ns, Event::Restart(rank));
        }
        match engine(self.plan, rank) {
            Ok((engine, card)) => {
                let one = &mut self.ranks[rank];
                (one.engine, one.card, one.prepared) = (Some(engine), card, None);
                one.state = State::Dropped;
                self.timeline.add(self.now_ns, Some(rank), What::Restarts);
                // The new process cannot connect to ended ones.
                let ended: Vec<usize> =
                    (0..self.plan.ranks).filter(|of| self.ranks[*of].state == State::Dead).collect();
                let engine = self.ranks[rank].engine.as_mut();
                engine.into_iter().for_each(|engine| ended.iter().for_each(|of| engine.handle_gone(*of)));
                self.connects(rank);
            }
            Err(error) => self.fail(rank, &error),
        }
    }

    /// Schedules noise, packets of other jobs, and packets with the job's tag from foreign
    /// addresses.
    pub(super) fn strangers(&mut self, to: usize) {
        for _ in 0..20 {
            let next = self.ranks[to].next_op;
            let header = UbtHeader {
                bucket: self.random.below(4) as u16,
                offset: 64 * self.random.below(64) as u32,
                timeout_16us: self.random.below(1 << 16) as u16,
                incast: self.random.below(16) as u8,
                flags: self.random.below(8) as u8,
                stage: self.random.below(5) as u8,
                sender: self.random.below(self.plan.ranks as u64) as u16,
                step: (next + self.random.below(4) as u32).wrapping_sub(2) as u16,
                job_tag: self.plan.job_tag(),
            };
            // A card identifies its job by the tag alone and would accept such packets.
            let has_card = self.plan.has_card(to);
            let (from, job_tag) = match self.random.below(3) {
                0 => (Some(usize::from(header.sender)), self.random.next_u64()),
                _ if has_card => (None, self.random.next_u64()),
                _ => (None, header.job_tag),
            };
            let mut datagram = UbtHeader { job_tag, ..header }.to_bytes().to_vec();
            datagram.resize(datagram.len() + 64 * self.random.below(5) as usize, 0x3f);
            if self.random.chance(0.2) {
                datagram = (0..self.random.below(100)).map(|_| self.random.next_u64() as u8).collect();
            }
            let at_ns = self.now_ns + self.random.below(1_000_000);
            self.schedule(at_ns, Event::Datagram { from, to, datagram });
        }
    }
}
