//! One worker's side of forming groups: it reports that it is ready and receives its group. One of
//! the workers also runs the [`Controller`].
//!
//! The controller runs on the lowest rank of the newest agreed view ([`Membership`]). A rank is
//! suspected when its channel closes, the controller also after a silence of
//! [`WorkerParams::silent_ns`]. A quorum drops suspected ranks. All waiting workers then report to
//! the new controller, where the sync graph restarts.
//!
//! * A worker accepts a group only from the controller that it reported to last, and once. It is
//!   thus never in two groups at a time.
//! * If a controller dies while it announces a group, the informed members continue without the
//!   others.
//! * A group held open for more workers closes after [`WorkerParams::patience_ns`]. Workers
//!   that are not ready leave, and take part again with their next ready signal.
//! * A dropped rank and a restarted process ([`Worker::rejoin`]) ask to join.
//!
//! Requires: a reliable channel, ordered per pair of ranks. Without a quorum, no rank receives a
//! group or joins, so the caller sets a deadline.
//! Source: ours; in the paper, the only controller does not fail.

mod office;

use std::collections::VecDeque;

use self::office::Office;
use super::controller::{Controller, Params, ParamsError};
use super::message::{GroupPlan, PartialMessage};
use crate::protocol::membership::{
    BadMessage, Membership, MembershipMessage, MembershipParams, Output, Settings, View,
};
use crate::protocol::types::Ranks;

/// Rules for groups, and timeouts of a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerParams {
    /// Rules of the controller.
    pub groups: Params,
    /// Maximum time for which a group is held open, in ns.
    pub patience_ns: u64,
    /// Silence after which a waiting worker suspects the controller and reports again, in ns.
    pub silent_ns: u64,
    /// Timeout of an agreement, in ns; see [`MembershipParams::retry_ns`].
    pub retry_ns: u64,
}

impl WorkerParams {
    /// Patience of 10 s, silence of 2 s, retry after 200 ms.
    pub fn new(groups: Params) -> Self {
        Self { groups, patience_ns: 10_000_000_000, silent_ns: 2_000_000_000, retry_ns: 200_000_000 }
    }
}

/// Action requested by a [`Worker`].
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // fields explain themselves
pub enum WorkerOutput {
    /// Send a message to rank `to` on the reliable channel.
    Send { to: usize, message: PartialMessage },
    /// Likewise, about the membership.
    SendMembership { to: usize, message: MembershipMessage },
    /// This rank is a member of this group.
    Group(GroupPlan),
    /// Rank on which the controller runs from now on.
    Controller(usize),
    /// This rank was dropped and asks to join.
    Dropped,
}

/// State machine of one worker.
///
/// Call order: [`ready`](Self::ready) with a model, and again only after its group. Handlers on
/// events and at [`next_timeout`](Self::next_timeout). After each, [`poll`](Self::poll) until
/// `None`.
#[derive(Clone, Debug)]
pub struct Worker {
    rank: usize,
    params: WorkerParams,
    membership: Membership,
    office: Option<Office>,
    waiting: Option<Waiting>,
    /// Minimum number of this rank's next group.
    number: u32,
    left: Ranks,
    gone: Ranks,
    host: Option<usize>,
    incarnation: u64,
    outputs: VecDeque<WorkerOutput>,
}

#[derive(Clone, Debug)]
struct Waiting {
    iteration: u64,
    /// Controller that this rank reported to, and the time of its last message.
    told: Option<(usize, u64)>,
}

impl Worker {
    /// Creates a worker of a new job.
    ///
    /// # Errors
    /// [`ParamsError`] if `params.groups` is invalid.
    pub fn new(rank: usize, params: WorkerParams) -> Result<Self, ParamsError> {
        let mut worker = Self::blank(rank, params)?;
        worker.run(0);
        Ok(worker)
    }

    /// Creates a worker of a restarted process, which asks to join the running job.
    ///
    /// `incarnation` must grow with every process of this rank. A clock does not suffice, since it
    /// may go back.
    /// The worker's model is averaged like any other, so it must be a trained one.
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
        // Checked on all ranks, so that each reports the error.
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

    /// Waits for a group. The model's `iteration` must exceed the last group's.
    pub fn ready(&mut self, now_ns: u64, iteration: u64) {
        self.waiting = Some(Waiting { iteration, told: None });
        self.run(now_ns);
    }

    /// Takes part in no further group. A controller on this rank stays.
    pub fn leave(&mut self, now_ns: u64) {
        self.waiting = None;
        let rank = self.rank;
        for to in (0..self.params.groups.workers).filter(|to| *to != rank) {
            self.send(to, PartialMessage::Leave {});
        }
        self.take_leave(self.rank);
        self.run(now_ns);
    }

    /// Other members that may still need a group.
    pub fn others(&self) -> impl Iterator<Item = usize> + '_ {
        let is_done = |rank: usize| self.left.contains(rank) || self.gone.contains(rank);
        let live = self.membership.newest().into_iter().flat_map(View::live);
        live.filter(move |rank| *rank != self.rank && !is_done(*rank))
    }

    /// Handles a message about groups.
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

    /// Handles a message about the membership.
    ///
    /// # Errors
    /// [`BadMessage`]; the message is ignored.
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

    /// Records that the reliable channel to a rank has closed.
    pub fn handle_gone(&mut self, now_ns: u64, rank: usize) {
        self.gone.insert(rank);
        self.membership.handle_gone(rank);
        self.suspect(now_ns, rank);
        if let Some(office) = &mut self.office {
            office.leave(rank);
        }
        self.run(now_ns);
    }

    /// Records a reliable channel to a new process of a gone rank.
    pub fn handle_back(&mut self, now_ns: u64, rank: usize) {
        self.gone.remove(rank);
        self.left.remove(rank);
        self.membership.handle_back(rank);
        if let Some(waiting) = &mut self.waiting {
            // The report to the previous process is lost.
            waiting.told = waiting.told.filter(|(host, _)| *host != rank);
        }
        self.run(now_ns);
    }

    /// Performs all actions that are due.
    pub fn handle_timeout(&mut self, now_ns: u64) {
        self.membership.handle_timeout(now_ns);
        self.run(now_ns);
    }

    /// Time at which [`handle_timeout`](Self::handle_timeout) must be called.
    pub fn next_timeout(&self) -> Option<u64> {
        let told = self.waiting.as_ref().and_then(|waiting| waiting.told).filter(|(host, _)| *host != self.rank);
        let silent = told.map(|(_, heard_ns)| heard_ns.saturating_add(self.params.silent_ns));
        let office = self.office.as_ref().and_then(Office::next_timeout);
        silent.into_iter().chain(office).chain(self.membership.next_timeout()).min()
    }

    /// Returns the next action, in order.
    pub fn poll(&mut self) -> Option<WorkerOutput> {
        self.outputs.pop_front()
    }

    fn run(&mut self, now_ns: u64) {
        self.watch_host(now_ns);
        self.settle_membership(now_ns);
        self.tell_host(now_ns);
        self.form_groups(now_ns);
    }

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
        // The next view is decided only once this one is in use.
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

    fn take_ready(&mut self, now_ns: u64, from: usize, iteration: u64, number: u32) {
        // A rank with another view repeats its report.
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

    /// Exchanges views with a rank in another view.
    fn learn_of(&mut self, now_ns: u64, from: usize, view: u32) {
        if self.membership.newest().is_some_and(|newest| newest.number != view) {
            // The membership sends newer views, or asks for them.
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

    /// Suspects a silent controller, and reports to it again in case the first report was early.
    fn watch_host(&mut self, now_ns: u64) {
        let told = self.waiting.as_ref().and_then(|waiting| waiting.told).filter(|(host, _)| *host != self.rank);
        let Some((host, heard_ns)) = told else { return };
        if now_ns >= heard_ns.saturating_add(self.params.silent_ns) {
            self.waiting.iter_mut().for_each(|waiting| waiting.told = None);
            self.suspect(now_ns, host);
        }
    }

    fn suspect(&mut self, now_ns: u64, rank: usize) {
        let ranks = self.params.groups.workers;
        let (heard, silent) = (Ranks::none(ranks), Ranks::none(ranks).with([rank]));
        self.membership.observe(now_ns, u32::MAX, &heard, &silent);
    }

    fn send(&mut self, to: usize, message: PartialMessage) {
        self.outputs.push_back(WorkerOutput::Send { to, message });
    }
}
