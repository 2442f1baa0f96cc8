//! What a campaign has tried.

use std::collections::BTreeMap;

use super::fault::{FaultKind, Transition};
use super::states::Counts;

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
    /// States that were seen, after which fault of their job.
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

    /// Whether there is a pair of moment and fault, or of fault and state, that `known` does not have.
    pub fn has_news_for(&self, known: &Self) -> bool {
        self.pairs.keys().any(|of| !known.pairs.contains_key(of))
            || self.states.keys().any(|of| !known.states.contains_key(of))
    }

    /// How often each state was seen.
    pub fn states(&self) -> BTreeMap<&str, u64> {
        let mut all = BTreeMap::new();
        self.states.iter().for_each(|((state, _), count)| *all.entry(state.as_str()).or_default() += count);
        all
    }

    /// Pairs that were hit, and all that there are.
    pub fn pairs_hit(&self) -> (usize, usize) {
        (self.pairs.len(), FaultKind::ALL.len() * Transition::ALL.len())
    }
}
