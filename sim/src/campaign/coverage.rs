//! Coverage of a campaign.

use std::collections::BTreeMap;

use super::fault::{FaultKind, Transition};
use super::states::Counts;

#[derive(Clone, Debug, Default)]
pub(super) struct Coverage {
    pub datagrams: u64,
    pub damaged: u64,
    pub messages: u64,
    pub faults: BTreeMap<FaultKind, u64>,
    pub transitions: BTreeMap<Transition, u64>,
    /// Faults started at a transition.
    pub pairs: BTreeMap<(Transition, FaultKind), u64>,
    pub states: Counts,
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
        other.states.iter().for_each(|(of, count)| *self.states.entry(of.clone()).or_default() += count);
    }

    /// Returns whether `known` lacks a pair of transition and fault, or of state and fault.
    pub fn has_news_for(&self, known: &Self) -> bool {
        self.pairs.keys().any(|of| !known.pairs.contains_key(of))
            || self.states.keys().any(|of| !known.states.contains_key(of))
    }

    pub fn states(&self) -> BTreeMap<&str, u64> {
        let mut all = BTreeMap::new();
        self.states.iter().for_each(|((state, _), count)| *all.entry(state.as_str()).or_default() += count);
        all
    }

    pub fn pairs_hit(&self) -> (usize, usize) {
        (self.pairs.len(), FaultKind::ALL.len() * Transition::ALL.len())
    }
}
