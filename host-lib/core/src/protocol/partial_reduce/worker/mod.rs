//! One worker's part in forming groups: it says when it is ready and hears of its group; one of them runs the [`Controller`] beside.
//!
//! The controller is with the lowest rank of the newest view that the ranks have agreed on ([`Membership`]). A rank whose reliable channel
//! ends is suspected at once, a controller that says nothing to a worker that waits after [`WorkerParams::silent_ns`]; a quorum of such
//! ranks drops it, the lowest of the others takes over, and all that wait tell that one. A new controller knows nothing of the groups
//! before: the sync graph begins anew.
//!
//! * A worker takes a group only from the controller that it told last, and once: so it is never in two groups at a time.
//! * If a controller dies while it tells the members of a group, those that were told go on without the others, whom they find to
//!   know nothing of it.
//! * A group that is held open, for one worker more or for a bridge, closes after [`WorkerParams::patience_ns`] without those that are
//!   not ready. They take part again with their next ready signal.
//! * A rank that was dropped because it stood still asks to join, and so does a process that was started again in place of one that has
//!   ended ([`Worker::rejoin`]). It takes part from the view on in which it joins; the lowest rank takes the controller over again.
//!   Who waits and is told nothing for [`WorkerParams::silent_ns`] says once more that it does: the first time may have been too early.
//!
//! Needs: a reliable channel, in order per pair of ranks. Limits: without a quorum of ranks nobody gets a group, nor joins, and the caller
//! sets a deadline.
//! Source: ours; the paper has one controller that does not die.

mod office;

use std::collections::VecDeque;

use self::office::Office;
use super::controller::{Controller, Params, ParamsError};
use super::message::{GroupPlan, PartialMessage};
use crate::protocol::membership::{
    BadMessage, Membership, MembershipMessage, MembershipParams, Output, Settings, View,
};
use crate::protocol::types::Ranks;

/// How groups are formed, and how long a worker waits for others.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerParams {
    /// What the controller does.
    pub groups: Params,
    /// How long a group may be held open for workers that are not ready, in ns.
    pub patience_ns: u64,
    /// How long a controller may be silent to a worker that waits, in ns; it says something four times as often.
    pub silent_ns: u64,
    /// How long a rank may take to answer in an agreement, in ns.
    pub retry_ns: u64,
}

impl WorkerParams {
    /// Patience of 10 s, silence of 2 s, answers in 200 ms.
    pub fn new(groups: Params) -> Self {
        Self { groups, patience_ns: 10_000_000_000, silent_ns: 2_000_000_000, retry_ns: 200_000_000 }
    }
}

/// What a [`Worker`] wants.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkerOutput {
    /// Send a message about groups on the reliable channel.
    Send {
        /// To this rank.
        to: usize,
        /// The message.
        message: PartialMessage,
    },
    /// Send a message about who takes part on the reliable channel.
    SendMembership {
        /// To this rank.
        to: usize,
        /// The message.
        message: MembershipMessage,
    },
    /// This rank is a member of this group.
    Group(GroupPlan),
    /// The controller is with this rank from now on.
    Controller(usize),
    /// The others go on without this rank, which asks to take part again: until there is a controller for it, it gets no group.
    Dropped,
}

/// A worker. Call order: [`ready`](Self::ready) once it has a model, and again only after its group;
/// [`handle_message`](Self::handle_message), [`handle_membership`](Self::handle_membership), [`handle_gone`](Self::handle_gone) and, at
/// [`next_timeout`](Self::next_timeout), [`handle_timeout`](Self::handle_timeout); after each of them [`poll`](Self::poll) until `None`.
#[derive(Clone, Debug)]
pub struct Worker {
    rank: usize,
    params: WorkerParams,
    membership: Membership,
    /// The controller, if it is with this rank.
    office: Option<Office>,
    /// This rank's model that waits for a group.
    waiting: Option<Waiting>,
    /// The least number that this rank's next group may have.
    number: u32,
    /// Who said that they take part in no group any more.
    left: Ranks,
    /// Whose channel has ended.
    gone: Ranks,
    /// The rank with the controller; `None`: this rank takes no part.
    host: Option<usize>,
    /// With which this rank asked to join the last time.
    incarnation: u64,
    outputs: VecDeque<WorkerOutput>,
}

#[derive(Clone, Debug)]
struct Waiting {
    iteration: u64,
    /// Who was told, and when it was heard last.
    told: Option<(usize, u64)>,
}

impl Worker {
    /// A worker of a job that begins. Its ranks are the workers of `params.groups`.
    ///
    /// # Errors
    /// If groups cannot be formed like that.
    pub fn new(rank: usize, params: WorkerParams) -> Result<Self, ParamsError> {
        let mut worker = Self::blank(rank, params)?;
        worker.run(0);
        Ok(worker)
    }

    /// A worker of a process that was started again, in a job that runs: it asks to join. `incarnation`: greater than that of any process
    /// of this rank before; the time of day will do. Its model counts as any other: it must be a trained one.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn rejoin(rank: usize, params: WorkerParams, now_ns: u64, incarnation: u64) -> Result<Self, ParamsError> {
        let mut worker = Self::blank(rank, params)?;
        worker.incarnation = incarnation;
        worker.membership.join(now_ns, incarnation);
        worker.run(now_ns);
        Ok(worker)
    }

    fn blank(rank: usize, params: WorkerParams) -> Result<Self, ParamsError> {
        // So that all ranks hear of it, not only the one with the controller.
        Controller::new(params.groups.clone())?;
        let ranks = params.groups.workers;
        let members = MembershipParams {
            silent_ops: Some(1),
            silent_ns: 0,
            retry_ns: params.retry_ns.max(1),
            ..MembershipParams::new(ranks)
        };
        let outside = ParamsError::GroupSize { group_size: params.groups.group_size, workers: ranks };
        let membership = Membership::new(rank, members, Settings::first(1)).map_err(|_| outside)?;
        let none = || Ranks::none(ranks);
        Ok(Self {
            rank,
            params,
            membership,
            office: None,
            waiting: None,
            number: 0,
            left: none(),
            gone: none(),
            host: None,
            incarnation: 0,
            outputs: VecDeque::new(),
        })
    }

    /// This rank has a model of an iteration, greater than that of its last group, and waits for a group.
    pub fn ready(&mut self, now_ns: u64, iteration: u64) {
        self.waiting = Some(Waiting { iteration, told: None });
        self.run(now_ns);
    }

    /// This rank takes part in no group any more. It is the controller still, if it was.
    pub fn leave(&mut self, now_ns: u64) {
        self.waiting = None;
        let rank = self.rank;
        for to in (0..self.params.groups.workers).filter(|to| *to != rank) {
            self.send(to, PartialMessage::Leave {});
        }
        self.take_leave(self.rank);
        self.run(now_ns);
    }

    /// Ranks that may still want a group.
    pub fn others(&self) -> impl Iterator<Item = usize> + '_ {
        let is_done = |rank: usize| self.left.contains(rank) || self.gone.contains(rank);
        let live = self.membership.newest().into_iter().flat_map(View::live);
        live.filter(move |rank| *rank != self.rank && !is_done(*rank))
    }

    /// Takes a message of rank `from` about groups; those of repairs mean nothing to it.
    pub fn handle_message(&mut self, now_ns: u64, from: usize, message: PartialMessage) {
        match message {
            PartialMessage::Ready { view, iteration, number } => {
                self.learn_of(now_ns, from, view);
                self.take_ready(now_ns, from, iteration, number);
            }
            PartialMessage::Alive { view } => {
                self.learn_of(now_ns, from, view);
                self.hear(now_ns, from);
            }
            PartialMessage::Group { group } => self.take_group(from, group),
            PartialMessage::Leave {} => self.take_leave(from),
            _ => {}
        }
        self.run(now_ns);
    }

    /// Takes a message of rank `from` about who takes part.
    ///
    /// # Errors
    /// If no rank of the job can have sent it; nothing of it was used.
    pub fn handle_membership(
        &mut self,
        now_ns: u64,
        from: usize,
        message: MembershipMessage,
    ) -> Result<(), BadMessage> {
        let result = self.membership.handle_message(now_ns, from, message);
        self.run(now_ns);
        result
    }

    /// The reliable channel to a rank has ended.
    pub fn handle_gone(&mut self, now_ns: u64, rank: usize) {
        self.gone.insert(rank);
        self.membership.handle_gone(rank);
        self.suspect(now_ns, rank);
        if let Some(office) = &mut self.office {
            office.leave(rank);
        }
        self.run(now_ns);
    }

    /// There is a new reliable channel to a rank whose last one had ended: to another process, which asks to join.
    pub fn handle_back(&mut self, now_ns: u64, rank: usize) {
        self.gone.remove(rank);
        self.left.remove(rank);
        self.membership.handle_back(rank);
        if let Some(waiting) = &mut self.waiting {
            // What the process before was told is lost.
            waiting.told = waiting.told.filter(|(host, _)| *host != rank);
        }
        self.run(now_ns);
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        self.membership.handle_timeout(now_ns);
        self.run(now_ns);
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn next_timeout(&self) -> Option<u64> {
        let told = self.waiting.as_ref().and_then(|waiting| waiting.told).filter(|(host, _)| *host != self.rank);
        let silent = told.map(|(_, heard_ns)| heard_ns.saturating_add(self.params.silent_ns));
        let office = self.office.as_ref().and_then(Office::next_timeout);
        silent.into_iter().chain(office).chain(self.membership.next_timeout()).min()
    }

    /// What is to be done next, in order.
    pub fn poll(&mut self) -> Option<WorkerOutput> {
        self.outputs.pop_front()
    }

    /// Lets everything happen that may.
    fn run(&mut self, now_ns: u64) {
        self.watch_host(now_ns);
        self.settle_membership(now_ns);
        self.tell_host(now_ns);
        self.form_groups(now_ns);
    }

    /// What the membership wants, and who has the controller now.
    fn settle_membership(&mut self, now_ns: u64) {
        while let Some(output) = self.membership.poll() {
            match output {
                Output::Send { to, message } => {
                    self.outputs.push_back(WorkerOutput::SendMembership { to, message });
                }
                Output::Dropped => {
                    (self.office, self.host) = (None, None);
                    self.waiting.iter_mut().for_each(|waiting| waiting.told = None);
                    self.outputs.push_back(WorkerOutput::Dropped);
                    self.incarnation += 1;
                    self.membership.join(now_ns, self.incarnation);
                }
                Output::Silent { .. } | Output::View(_) => {}
            }
        }
        let Some(newest) = self.membership.newest().cloned() else { return };
        // Views are settled one after the other: the next one, once this one is in use.
        let _ = self.membership.view_of(now_ns, newest.first_op);
        let host = newest.live().next();
        if host != self.host {
            self.host = host;
            self.outputs.extend(host.map(WorkerOutput::Controller));
            let is_here = host == Some(self.rank);
            self.office = if is_here { Office::new(&self.params, self.number, now_ns).ok() } else { None };
        }
        if let Some(office) = &mut self.office {
            let is_out = |rank: &usize| !newest.has(*rank) || self.left.contains(*rank) || self.gone.contains(*rank);
            (0..self.params.groups.workers).filter(is_out).for_each(|rank| office.leave(rank));
        }
    }

    /// Tells the rank with the controller that this one waits.
    fn tell_host(&mut self, now_ns: u64) {
        let (Some(host), Some(view)) = (self.host, self.membership.newest().map(|view| view.number)) else { return };
        let Some(waiting) = self.waiting.as_mut().filter(|waiting| waiting.told.is_none_or(|(to, _)| to != host))
        else {
            return;
        };
        waiting.told = Some((host, now_ns));
        let (iteration, number) = (waiting.iteration, self.number);
        match host == self.rank {
            true => self.take_ready(now_ns, host, iteration, number),
            false => self.send(host, PartialMessage::Ready { view, iteration, number }),
        }
    }

    fn form_groups(&mut self, now_ns: u64) {
        let view = self.membership.newest().map_or(0, |view| view.number);
        let messages = self.office.as_mut().map(|office| office.poll(now_ns, view));
        for (to, message) in messages.into_iter().flatten() {
            match message {
                PartialMessage::Group { group } if to == self.rank => self.take_group(to, group),
                _ if to == self.rank => {}
                message => self.send(to, message),
            }
        }
    }

    /// A rank waits for a group.
    fn take_ready(&mut self, now_ns: u64, from: usize, iteration: u64, number: u32) {
        // Whoever has not heard that the controller is elsewhere tells that one once it has; whoever has before this rank, once more.
        let Some(office) = &mut self.office else { return };
        let is_live = self.membership.newest().is_some_and(|view| view.has(from));
        if is_live && !self.left.contains(from) && !self.gone.contains(from) {
            office.ready(now_ns, from, iteration, number);
        }
    }

    fn take_group(&mut self, from: usize, group: GroupPlan) {
        let is_told = |waiting: &mut Waiting| {
            let own = group.members.iter().find(|member| usize::from(member.rank) == self.rank);
            waiting.told.is_some_and(|(host, _)| host == from)
                && own.is_some_and(|own| own.iteration == waiting.iteration)
                && group.number >= self.number
        };
        if self.waiting.take_if(is_told).is_some() {
            self.number = group.number + 1;
            self.outputs.push_back(WorkerOutput::Group(group));
        }
    }

    fn take_leave(&mut self, from: usize) {
        self.left.insert(from);
        if let Some(office) = &mut self.office {
            office.leave(from);
        }
    }

    /// One of two ranks is behind in what was agreed on: it hears of it.
    fn learn_of(&mut self, now_ns: u64, from: usize, view: u32) {
        if self.membership.newest().is_some_and(|newest| newest.number != view) {
            // It answers with what it knows, or asks for what it does not.
            let message = MembershipMessage::Progress { number: view, next_op: 0 };
            let _ = self.membership.handle_message(now_ns, from, message);
        }
    }

    fn hear(&mut self, now_ns: u64, from: usize) {
        if let Some((host, heard_ns)) = self.waiting.as_mut().and_then(|waiting| waiting.told.as_mut())
            && *host == from
        {
            *heard_ns = now_ns;
            let ranks = self.params.groups.workers;
            let (heard, silent) = (Ranks::none(ranks).with([from]), Ranks::none(ranks));
            self.membership.observe(now_ns, u32::MAX, &heard, &silent);
        }
    }

    /// Whoever has the controller must say something to a rank that waits, or is told once more, and suspected.
    fn watch_host(&mut self, now_ns: u64) {
        let told = self.waiting.as_ref().and_then(|waiting| waiting.told).filter(|(host, _)| *host != self.rank);
        let Some((host, heard_ns)) = told else { return };
        if now_ns >= heard_ns.saturating_add(self.params.silent_ns) {
            self.waiting.iter_mut().for_each(|waiting| waiting.told = None);
            self.suspect(now_ns, host);
        }
    }

    /// Nothing is to be expected of a rank: if a quorum finds so, it is dropped.
    fn suspect(&mut self, now_ns: u64, rank: usize) {
        let ranks = self.params.groups.workers;
        let (heard, silent) = (Ranks::none(ranks), Ranks::none(ranks).with([rank]));
        self.membership.observe(now_ns, u32::MAX, &heard, &silent);
    }

    fn send(&mut self, to: usize, message: PartialMessage) {
        self.outputs.push_back(WorkerOutput::Send { to, message });
    }
}
