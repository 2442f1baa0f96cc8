//! The controller, with the state of its host rank.

use super::super::controller::{Controller, Member, ParamsError, RefusedReady};
use super::super::message::{GroupMember, GroupPlan, PartialMessage};
use super::WorkerParams;

#[derive(Clone, Debug)]
pub(super) struct Office {
    controller: Controller,
    patience_ns: u64,
    silent_ns: u64,
    number: u32,
    alive_at_ns: u64,
}

impl Office {
    /// `number`: minimum number of the next group.
    pub fn new(params: &WorkerParams, number: u32, now_ns: u64) -> Result<Self, ParamsError> {
        let WorkerParams { groups, patience_ns, silent_ns, .. } = params;
        let controller = Controller::new(groups.clone())?;
        Ok(Self { controller, patience_ns: *patience_ns, silent_ns: *silent_ns, number, alive_at_ns: now_ns })
    }

    /// Handles the ready signal of a live rank. `number`: minimum number of its group.
    pub fn ready(&mut self, now_ns: u64, rank: usize, iteration: u64, number: u32) {
        self.number = self.number.max(number);
        let mut result = self.controller.ready(now_ns, rank, iteration);
        if matches!(result, Err(RefusedReady::Left { .. })) {
            self.controller.join(rank);
            result = self.controller.ready(now_ns, rank, iteration);
        }
        if let Err(error) = result {
            tracing::debug!(%error, "ready signal rejected");
        }
    }

    pub fn leave(&mut self, rank: usize) {
        self.controller.leave(rank);
    }

    pub fn poll(&mut self, now_ns: u64, view: u32) -> Vec<(usize, PartialMessage)> {
        let mut messages = Vec::new();
        if self.controller.open_since_ns().is_some_and(|at_ns| now_ns >= at_ns.saturating_add(self.patience_ns)) {
            self.controller.leave_behind();
        }
        while self.number <= GroupPlan::NUMBER_MAX
            && let Some(group) = self.controller.poll_group(now_ns)
        {
            let of =
                |&Member { worker, iteration, weight }: &Member| GroupMember { rank: worker as u16, iteration, weight };
            let members: Vec<GroupMember> = group.members.iter().map(of).collect();
            let plan = GroupPlan { number: self.number, iteration: group.iteration, is_full: group.is_full, members };
            self.number += 1;
            messages.extend(plan.ranks().map(|rank| (rank, PartialMessage::Group { group: plan.clone() })));
        }
        if now_ns >= self.alive_at_ns {
            self.alive_at_ns = now_ns.saturating_add((self.silent_ns / 4).max(1));
            messages.extend(self.controller.waiting().map(|rank| (rank, PartialMessage::Alive { view })));
        }
        messages
    }

    pub fn next_timeout(&self) -> Option<u64> {
        let patience = self.controller.open_since_ns().map(|at_ns| at_ns.saturating_add(self.patience_ns));
        let waits = self.controller.waiting().next().is_some();
        let alive = waits.then_some(self.alive_at_ns);
        self.controller.next_wake_ns().into_iter().chain(patience).chain(alive).min()
    }
}
