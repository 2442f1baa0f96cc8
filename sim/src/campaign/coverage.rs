//! What a campaign has tried.

use std::collections::BTreeMap;

use super::fault::{FaultKind, Transition};

/// Counts of one job, or of many.
#[derive(Clone, Debug, Default)]
pub(super) struct Coverage {
    pub datagrams: u64,
    pub damaged: u64,
    pub messages: u64,
    /// Faults that began.
    pub faults: BTreeMap<FaultKind, u64>,
    /// Transitions that happened.
    pub transitions: BTreeMap<Transition, u64>,
    /// Faults that began at a transition.
    pub pairs: BTreeMap<(Transition, FaultKind), u64>,
}

impl Coverage {
    pub fn seen(&mut self, transition: Transition) {
        *self.transitions.entry(transition).or_default() += 1;
    }

    pub fn began(&mut self, kind: FaultKind) {
        *self.faults.entry(kind).or_default() += 1;
    }

    pub fn hit(&mut self, transition: Transition, kind: FaultKind) {
        *self.pairs.entry((transition, kind)).or_default() += 1;
    }

    pub fn add(&mut self, other: &Self) {
        self.datagrams += other.datagrams;
        self.damaged += other.damaged;
        self.messages += other.messages;
        other.faults.iter().for_each(|(of, count)| *self.faults.entry(*of).or_default() += count);
        other.transitions.iter().for_each(|(of, count)| *self.transitions.entry(*of).or_default() += count);
        other.pairs.iter().for_each(|(of, count)| *self.pairs.entry(*of).or_default() += count);
    }

    /// Pairs that were hit, and all that there are.
    pub fn pairs_hit(&self) -> (usize, usize) {
        (self.pairs.len(), FaultKind::ALL.len() * Transition::ALL.len())
    }
}
