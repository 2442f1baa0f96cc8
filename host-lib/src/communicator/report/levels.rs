//! Report of an all-reduce on two levels.

use std::ops::Range;

use optireduce_core::levels;
use optireduce_core::protocol::repair::RepairReport;
use optireduce_core::protocol::{Kind, UpdateAction};

use super::Report;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub world_size: usize,
    /// Job ranks. `across`: this rank's equals.
    pub inside: Vec<usize>,
    pub across: Vec<usize>,
}

impl Numbers {
    fn of(&self, part: &Report) -> &[usize] {
        if part.kind == Kind::AllReduce { &self.across } else { &self.inside }
    }
}

impl Report {
    /// `parts`: with ranks of their communicators; at least one.
    ///
    /// Halts if a part does, unless a rank was late: a stopped rank makes others late on the other
    /// level.
    pub(in super::super) fn of_levels(
        numbers: &Numbers,
        parts: Vec<Self>,
        elements: usize,
        missing: Vec<Range<usize>>,
    ) -> Self {
        let is_gone = |rank: &usize| {
            parts.iter().any(|part| {
                let number = numbers.of(part).iter().position(|of| of == rank);
                number.is_some_and(|number| part.ranks.binary_search(&number).is_err())
            })
        };
        let mut gone: Vec<usize> = numbers.inside.iter().chain(&numbers.across).copied().filter(is_gone).collect();
        gone.sort_unstable();
        let ranks = (0..numbers.world_size).filter(|rank| gone.binary_search(rank).is_err()).collect();
        let parts: Vec<Self> = parts
            .into_iter()
            .map(|part| {
                let of = numbers.of(&part);
                part.renumbered(of)
            })
            .collect();
        let mut late_ranks: Vec<usize> = parts.iter().flat_map(|part| part.late_ranks.iter().copied()).collect();
        late_ranks.sort_unstable();
        late_ranks.dedup();
        let halts = parts.iter().any(|part| part.action == UpdateAction::Halt);
        let action = levels::action(elements, &missing, halts && late_ranks.is_empty());
        let sum = |of: fn(&Self) -> u64| parts.iter().map(of).sum();
        let any = |of: fn(&Self) -> bool| parts.iter().any(of);
        let repairs = parts.iter().map(|part| part.repairs).fold(RepairReport::default(), RepairReport::and);
        let whole = Self {
            ranks,
            late_ranks,
            is_late: any(|part| part.is_late),
            expected_bytes: sum(|part| part.expected_bytes),
            lost_bytes: sum(|part| part.lost_bytes),
            missing,
            not_finite: parts.last().map_or(0, |part| part.not_finite),
            is_hadamard: any(|part| part.is_hadamard),
            is_corrected: any(|part| part.is_corrected),
            copied_bytes: sum(|part| part.copied_bytes),
            packets: sum(|part| part.packets),
            repairs,
            outstanding_bytes: sum(|part| part.outstanding_bytes),
            drift_bytes: sum(|part| part.drift_bytes),
            bound: parts.iter().map(|part| part.bound).max().unwrap_or_default(),
            is_bound_measured: any(|part| part.is_bound_measured),
            bound_changed: any(|part| part.bound_changed),
            ..Self::blank(Kind::AllReduce, parts[0].number, parts[0].bucket, elements, action)
        };
        Self { parts, ..whole }
    }
}
