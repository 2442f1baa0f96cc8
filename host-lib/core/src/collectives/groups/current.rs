//! The group that this rank is in: the phase of its average, and the repair of losses.

use std::collections::BTreeSet;
use std::ops::Range;

use optireduce_contract::limits::LANES;

use super::super::pipeline::Running;
use super::Averaged;
use super::fetch::{Fetch, pieces};
use crate::protocol::membership::Settings;
use crate::protocol::partial_reduce::GroupPlan;
use crate::protocol::{JobParams, Ranks, Report, View};

#[derive(Debug)]
pub(super) struct Current {
    pub view: View,
    pub phase: Phase,
    pub averaged: Averaged,
    index: usize,
    factors: Vec<f64>,
    model: Vec<f32>,
}

#[derive(Debug)]
pub(super) enum Phase {
    Runs,
    /// Contributions to this rank's part are fetched. `short`: elements that lacked contributions,
    /// and the members whose contributions they include.
    Contributions {
        running: Running,
        fetch: Fetch,
        short: Vec<(Range<usize>, Ranks)>,
    },
    /// Parts of other members are fetched.
    Means {
        running: Running,
        fetch: Fetch,
    },
    Over,
}

impl Current {
    /// `op`: number of the group's first collective. `None` if this rank is not a member.
    pub fn new(params: &JobParams, plan: GroupPlan, op: u32, model: Vec<f32>) -> Option<Self> {
        let index = plan.ranks().position(|member| member == params.rank)?;
        let ranks = Ranks::none(params.ranks).with(plan.ranks());
        let settings = Settings::first(params.bound_ns);
        // Collective numbers skip groups without this rank, so it joins at `op`.
        let joined = Some((params.rank as u16, 1));
        let view =
            View { number: plan.number, first_op: op, joined, epoch: plan.number + 1, ..View::first(ranks, settings) };
        // The data plane multiplies sums by this value, so the factors divide by it.
        let reciprocal = f64::from(1.0 / plan.members.len() as f32);
        let factors = plan.members.iter().map(|member| member.weight / reciprocal).collect();
        let is_alone = plan.members.len() == 1;
        let averaged = Averaged {
            plan,
            model: if is_alone { model.clone() } else { Vec::new() },
            reports: Vec::new(),
            repaired_bytes: 0,
            uncounted_bytes: 0,
            uncounted: Vec::new(),
            missing: Vec::new(),
        };
        let phase = if is_alone { Phase::Over } else { Phase::Runs };
        Some(Self { view, phase, averaged, index, factors, model })
    }

    pub fn number(&self) -> u32 {
        self.averaged.plan.number
    }

    pub fn elements(&self) -> usize {
        self.model.len()
    }

    pub fn others(&self) -> impl Iterator<Item = usize> + '_ {
        let members = self.averaged.plan.ranks().enumerate();
        members.filter(|(index, _)| *index != self.index).map(|(_, rank)| rank)
    }

    pub fn contribution(&self) -> Option<Vec<f32>> {
        let factor = self.factors[self.index];
        let weigh = |value: &f32| (f64::from(*value) * factor) as f32;
        matches!(self.phase, Phase::Runs).then(|| self.model.iter().map(weigh).collect())
    }

    pub fn fetch(&mut self) -> Option<&mut Fetch> {
        match &mut self.phase {
            Phase::Contributions { fetch, .. } | Phase::Means { fetch, .. } => Some(fetch),
            Phase::Runs | Phase::Over => None,
        }
    }

    pub fn fetch_of(&mut self, op: u32) -> Option<&mut Fetch> {
        self.fetch().filter(|fetch| fetch.op() == op)
    }

    pub fn until_ns(&self) -> Option<u64> {
        match &self.phase {
            Phase::Contributions { fetch, .. } | Phase::Means { fetch, .. } => Some(fetch.until_ns()),
            Phase::Runs | Phase::Over => None,
        }
    }

    pub fn take_report(&mut self, report: Report, ranks: usize) {
        let live: Vec<usize> = self.view.live().collect();
        self.averaged.reports.push(report.renumbered(&live, ranks));
    }

    /// Ends the reduce-scatter, and fetches missing contributions to this rank's part from ranks
    /// that `may_ask` allows. `own`: this rank's input.
    pub fn scattered(&mut self, mut running: Running, own: &[f32], mut fetch: Fetch, may_ask: impl Fn(usize) -> bool) {
        let live: Vec<usize> = self.view.live().collect();
        let arrived = std::mem::take(&mut running.arrived).into_iter();
        let in_pieces =
            |(elements, ranks): (Range<usize>, Ranks)| pieces(elements).map(move |piece| (piece, ranks.clone()));
        let mut short: Vec<(Range<usize>, Ranks)> = arrived.flat_map(in_pieces).collect();
        for (elements, came) in &mut short {
            // Convert means back to sums, to which fetched contributions can be added.
            let count = came.len() as f32;
            running.result[elements.clone()].iter_mut().for_each(|value| *value *= count);
            // The window may have closed before this rank's own contribution.
            if came.insert(self.index) {
                add(&mut running.result[elements.clone()], &own[elements.clone()]);
            }
            let absent = (0..live.len()).filter(|member| !came.contains(*member)).map(|member| live[member]);
            absent.filter(|rank| may_ask(*rank)).for_each(|rank| fetch.want(rank, elements.clone()));
        }
        self.phase = Phase::Contributions { running, fetch, short };
    }

    /// Ends the all-gather, and fetches missing parts likewise.
    pub fn gathered(&mut self, mut running: Running, own: &[f32], mut fetch: Fetch, may_ask: impl Fn(usize) -> bool) {
        let live: Vec<usize> = self.view.live().collect();
        for (plan, incomplete) in std::mem::take(&mut running.incomplete) {
            for (member, rank) in live.iter().enumerate() {
                let is_missing = |beat: &usize| incomplete.present[beat / 64] >> (beat % 64) & 1 == 0;
                let elements_of = |beats: Range<usize>| {
                    plan.first_element + beats.start * LANES..plan.first_element + beats.end * LANES
                };
                let missing = runs(plan.shards.range_of(member).filter(is_missing)).map(elements_of);
                for elements in missing.flat_map(pieces) {
                    if member == self.index {
                        running.result[elements.clone()].copy_from_slice(&own[elements]);
                        continue;
                    }
                    if may_ask(*rank) {
                        fetch.want(*rank, elements.clone());
                    }
                    running.arrived.push((elements, Ranks::none(live.len()).with([member])));
                }
            }
        }
        self.phase = Phase::Means { running, fetch };
    }

    /// Converts incomplete sums of this rank's part to means. Elements that still lack
    /// contributions get the weighted mean of the rest.
    pub fn weigh(&mut self, sums: &mut [f32], short: Vec<(Range<usize>, Ranks)>) {
        let reciprocal = 1.0 / self.factors.len() as f32;
        let mut uncounted = BTreeSet::new();
        for (elements, came) in short {
            let values = sums[elements.clone()].iter_mut();
            if came.len() == self.factors.len() {
                values.for_each(|value| *value *= reciprocal);
                continue;
            }
            let sum: f64 = came.iter().map(|member| self.factors[member]).sum();
            values.for_each(|value| *value = (f64::from(*value) / sum) as f32);
            let absent = (0..self.factors.len()).filter(|member| !came.contains(*member));
            for rank in absent.filter_map(|member| self.view.live().nth(member)) {
                uncounted.insert(rank);
                self.averaged.uncounted_bytes += (elements.len() * size_of::<f32>()) as u64;
            }
        }
        self.averaged.uncounted = uncounted.into_iter().collect();
    }

    pub fn take_answer(&mut self, now_ns: u64, from: usize, op: u32, first: u64, values: &[f32]) {
        let index = self.view.live().position(|rank| rank == from);
        let Some(elements) = self.fetch_of(op).and_then(|fetch| fetch.take(now_ns, from, first, values.len())) else {
            return;
        };
        match &mut self.phase {
            Phase::Contributions { running, short, .. } => {
                let piece = short.iter_mut().find(|(of, _)| *of == elements);
                if let (Some((_, came)), Some(index)) = (piece, index)
                    && came.insert(index)
                {
                    add(&mut running.result[elements], values);
                }
            }
            Phase::Means { running, .. } => {
                running.result[elements.clone()].copy_from_slice(values);
                running.arrived.retain(|(of, _)| *of != elements);
            }
            Phase::Runs | Phase::Over => return,
        }
        self.averaged.repaired_bytes += size_of_val(values) as u64;
    }

    pub fn finish(&mut self, running: Running) {
        let Running { machine, result, arrived, .. } = running;
        let missing: Vec<Range<usize>> = arrived.into_iter().map(|(elements, _)| elements).collect();
        self.averaged.missing = machine.missing_of(&missing);
        self.averaged.model = machine.unpack(result).into_vec();
        for elements in self.averaged.missing.iter().cloned() {
            self.averaged.model[elements.clone()].copy_from_slice(&self.model[elements]);
        }
        self.phase = Phase::Over;
    }
}

fn add(sums: &mut [f32], values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

fn runs(numbers: impl Iterator<Item = usize>) -> impl Iterator<Item = Range<usize>> {
    let mut numbers = numbers.peekable();
    std::iter::from_fn(move || {
        let first = numbers.next()?;
        let mut end = first + 1;
        while numbers.next_if_eq(&end).is_some() {
            end += 1;
        }
        Some(first..end)
    })
}
