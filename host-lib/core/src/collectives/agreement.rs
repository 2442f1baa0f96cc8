//! What the ranks of a job settle among themselves, beside their collectives: who takes part, t_B measured again, repairs,
//! updates that are skipped; and the messages that this takes.

use std::collections::VecDeque;

use optireduce_contract::limits::RANKS_MAX;

use super::pipeline::Held;
use super::types::{Finished, MembershipEvent, MessageError};
use crate::data_plane::Remains;
use crate::protocol::membership::Output;
use crate::protocol::{Control, Decided, Kind, Message, Ranks, Report, Safeguard, UpdateAction, View, Votes};
use crate::repairs::Repairs;

#[derive(Debug)]
pub(super) struct Agreement {
    rank: usize,
    ranks: usize,
    /// Who takes part and the bound, if the ranks agree on them.
    pub control: Option<Control>,
    /// Agrees on skipped updates, if the ranks do.
    pub votes: Option<Votes>,
    safeguard: Safeguard,
    /// Fetches what broadcasts lost, if they are to be repaired.
    pub repairs: Option<Repairs>,
    /// The view of all ranks.
    first: View,
    /// The incarnation with which this rank wants to join.
    joining: Option<u64>,
    outgoing: VecDeque<(usize, Message)>,
    events: VecDeque<MembershipEvent>,
}

impl Agreement {
    /// Nothing is agreed on: all `ranks` take part, and each judges by itself.
    pub fn new(rank: usize, ranks: usize) -> Self {
        let first = View { number: 0, ranks: u64::MAX >> (RANKS_MAX - ranks), first_op: 0, joined: None };
        Self {
            rank,
            ranks,
            control: None,
            votes: None,
            safeguard: Safeguard::default(),
            repairs: None,
            first,
            joining: None,
            outgoing: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// The newest view; that of all ranks while this rank takes no part.
    pub fn newest(&self) -> View {
        self.control.as_ref().and_then(Control::newest).copied().unwrap_or(self.first)
    }

    /// Whether this rank takes part.
    pub fn is_member(&self) -> bool {
        self.control.as_ref().is_none_or(|control| control.newest().is_some())
    }

    /// The view of collective `op`, the next one, if it is known and nothing is to be done before.
    pub fn view_of(&mut self, now_ns: u64, op: u32) -> Option<View> {
        let Some(control) = &mut self.control else { return Some(self.first) };
        control.view_of(now_ns, op).filter(|view| !control.must_measure(view))
    }

    /// The view of collective `op`, the next one, if t_B is to be measured before it.
    pub fn view_to_measure(&mut self, now_ns: u64, op: u32) -> Option<View> {
        let control = self.control.as_mut().filter(|control| control.is_measuring())?;
        control.view_of(now_ns, op).filter(|view| control.must_measure(view))
    }

    /// t_B was measured before collective `op`.
    pub fn measured(&mut self, view: &View, op: u32, old_ns: u64, new_ns: u64) {
        if let Some(control) = &mut self.control {
            control.measured(view, op, old_ns, new_ns);
        }
    }

    /// Asks to take part again; the next collective was `next_op`.
    pub fn join(&mut self, now_ns: u64, incarnation: u64, next_op: u32) {
        self.joining = Some(incarnation);
        // The model comes anew.
        self.repairs = self.repairs.take().map(|_| Repairs::new(next_op));
        if let Some(control) = &mut self.control {
            control.join(now_ns, incarnation);
        }
    }

    /// This rank's safeguard judges a finished collective; `finish` makes its report.
    pub fn judge(&mut self, finish: impl FnOnce(&mut Safeguard) -> Report) -> Report {
        // If it is to be agreed on, this is one rank's opinion.
        if self.votes.is_some() { finish(&mut Safeguard::default()) } else { finish(&mut self.safeguard) }
    }

    /// Takes how a collective of `view` went at this rank, and who was heard in it (bit r: rank r).
    pub fn observe(&mut self, now_ns: u64, report: &Report, view: &View, heard: &Ranks) {
        if let Some(control) = &mut self.control {
            control.observe(now_ns, report, heard, self.rank);
        }
        if let Some(votes) = &mut self.votes {
            votes.cast(now_ns, report.op, view.ranks, report.action != UpdateAction::Apply);
        }
    }

    /// The collective in `held`, once it is known what becomes of it, with what was repaired in it.
    pub fn release(&mut self, now_ns: u64, held: &mut Option<Held>) -> Option<Finished> {
        if let Some(votes) = &mut self.votes {
            let Decided { skip, agreed } = votes.decided(now_ns)?;
            let Finished { report, .. } = &mut held.as_mut()?.finished;
            (report.action, report.agreed) = (self.safeguard.count(skip), agreed);
        }
        let Held { mut finished, view, remains } = held.take()?;
        let Finished { report, result } = &mut finished;
        if let Some(repairs) = &mut self.repairs {
            let place = view.live().position(|rank| rank == self.rank).unwrap_or(0);
            let applied = report.action == UpdateAction::Apply;
            for (plan, Remains { own, incomplete }) in remains {
                repairs.keep(report.op, place, &plan, own);
                if let Some((gathered, present)) = incomplete.filter(|_| applied) {
                    repairs.miss(report.op, &view, plan, gathered, present, self.rank);
                }
            }
            repairs.finish(report.op);
            if report.kind == Kind::AllReduce && applied {
                repairs.fold(report.bucket, result);
            }
        }
        Some(finished)
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do at the latest.
    pub fn next_timeout(&self) -> Option<u64> {
        let control = self.control.as_ref().and_then(Control::next_timeout);
        let votes = self.votes.as_ref().and_then(Votes::next_timeout);
        control.into_iter().chain(votes).min()
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
        // What this rank does not take part in, it does not listen to.
        match Message::decode(from, bytes)? {
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
            Message::Repair(message) => {
                if let Some(repairs) = &mut self.repairs {
                    repairs.handle(from, message)?;
                }
            }
        }
        Ok(())
    }

    /// The reliable channel to a rank has ended.
    pub fn handle_gone(&mut self, rank: usize) {
        if let Some(control) = &mut self.control {
            control.handle_gone(rank);
        }
    }

    pub fn poll_message(&mut self) -> Option<(usize, Vec<u8>)> {
        self.outgoing.pop_front().map(|(to, message)| (to, message.encode()))
    }

    pub fn poll_membership_event(&mut self) -> Option<MembershipEvent> {
        self.events.pop_front()
    }

    /// Collects what the parts have to say. `decided` is called with each view that was decided, and whether this rank joins
    /// with it.
    pub fn take_outputs(&mut self, mut decided: impl FnMut(&View, bool)) {
        while let Some((to, message)) = self.repairs.as_mut().and_then(Repairs::poll) {
            self.outgoing.push_back((to, Message::Repair(message)));
        }
        while let Some((to, message)) = self.votes.as_mut().and_then(Votes::poll) {
            self.outgoing.push_back((to, Message::Vote(message)));
        }
        while let Some(output) = self.control.as_mut().and_then(Control::poll) {
            match output {
                Output::Send { to, message } => {
                    self.outgoing.push_back((to, Message::Membership(message)));
                }
                Output::Silent { rank } => self.events.push_back(MembershipEvent::Silent { rank }),
                Output::Dropped => self.events.push_back(MembershipEvent::Dropped),
                Output::View(view) => {
                    let joined = self.joining.map(|incarnation| (self.rank as u16, incarnation));
                    let joins = joined.is_some() && view.joined == joined;
                    if joins {
                        self.joining = None;
                        self.votes.iter_mut().for_each(|votes| votes.forward(view.first_op));
                    }
                    if let Some(repairs) = &mut self.repairs {
                        let dropped = (0..self.ranks).filter(|rank| !view.has(*rank));
                        dropped.for_each(|rank| repairs.drop_rank(rank));
                    }
                    decided(&view, joins);
                    self.events.push_back(MembershipEvent::View(view));
                }
            }
        }
    }
}
