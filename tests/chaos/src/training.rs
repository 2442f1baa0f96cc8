//! Judge of a training job: compares results with sums of the logged gradients.
//!
//! Shares no code with the library. Sums are fp64, over every set of ranks that may be in a mean.

use std::collections::BTreeMap;

use crate::record::{End, Entry, Got};

pub type Entries = Vec<(Entry, Vec<f32>)>;

/// Relative tolerance: the library multiplies by a rounded reciprocal.
const TOLERANCE: f64 = 1e-6;
/// With the Hadamard transform, which rounds to a block's exponent.
const TOLERANCE_HADAMARD: f64 = 1e-3;
/// Between replicas, after hundreds of updates in different orders.
const TOLERANCE_WEIGHTS: f32 = 1e-3;
/// Time of a call beyond its bounds, on a busy machine or during an agreement.
const SLACK_MS: f64 = 15_000.0;

#[derive(Debug, Default)]
pub struct Judgement {
    pub findings: Vec<String>,
    pub compared: usize,
    pub ends: Vec<Option<End>>,
}

type Results<'a> = BTreeMap<u32, Vec<Option<(&'a Got, &'a [f32])>>>;

pub fn judge(logs: &[Entries]) -> Judgement {
    let mut judgement = Judgement { ends: vec![None; logs.len()], ..Default::default() };
    // The last gradient counts: a dropped rank contributes to the same collective again.
    let mut given: BTreeMap<u32, Vec<Option<&[f32]>>> = BTreeMap::new();
    let mut results: Results<'_> = BTreeMap::new();
    let mut weights = Vec::new();
    for (rank, log) in logs.iter().enumerate() {
        for (entry, values) in log {
            match entry {
                Entry::Given(op) => {
                    given.entry(*op).or_insert_with(|| vec![None; logs.len()])[rank] = Some(values.as_slice());
                }
                Entry::Got(got) => {
                    results.entry(got.op).or_insert_with(|| vec![None; logs.len()])[rank] = Some((got, values));
                }
                Entry::End(end) => {
                    judgement.ends[rank] = Some(end.clone());
                    if end.is_whole {
                        weights.push((rank, values));
                    }
                }
            }
        }
    }
    let nobody = vec![None; logs.len()];
    for (op, of_ranks) in &results {
        let given = given.get(op).unwrap_or(&nobody);
        let found = judge_op(*op, given, of_ranks, &mut judgement.compared);
        judgement.findings.extend(found);
    }
    for pair in weights.windows(2) {
        let [(a, of_a), (b, of_b)] = pair else { continue };
        let differs =
            of_a.iter().zip(*of_b).position(|(a, b)| (a - b).abs() > TOLERANCE_WEIGHTS || a.is_nan() != b.is_nan());
        if let Some(at) = differs {
            let (of_a, of_b) = (of_a[at], of_b[at]);
            judgement
                .findings
                .push(format!("replicas differ at the end: weight {at} is {of_a} on rank {a} and {of_b} on rank {b}"));
        }
    }
    judgement
}

fn judge_op(
    op: u32,
    given: &[Option<&[f32]>],
    of_ranks: &[Option<(&Got, &[f32])>],
    compared: &mut usize,
) -> Vec<String> {
    let mut findings = Vec::new();
    let reports: Vec<_> =
        of_ranks.iter().enumerate().filter_map(|(rank, got)| got.map(|(got, values)| (rank, got, values))).collect();
    // The view of most ranks, at a tie the lowest rank's: a dropped rank may not have learnt of it
    // yet.
    let views = reports.iter().map(|(rank, got, _)| (*rank, &got.live));
    let of_how_many = |live: &[usize]| views.clone().filter(|(_, other)| *other == live).count();
    let Some((first, live)) = views.clone().rev().max_by_key(|(_, live)| of_how_many(live)) else { return findings };
    // Without a report of no loss, a rank may have left out any peer.
    let all_arrived = live.iter().all(|rank| of_ranks[*rank].is_some_and(|(got, _)| got.lost[0] == 0));
    for (rank, got, values) in &reports {
        let place = format!("collective {op}, rank {rank}");
        if got.live != *live && live.contains(rank) {
            findings.push(format!("{place}: ranks {:?} took part, but rank {first} reports {live:?}", got.live));
        }
        let most_ms = 2.0 * got.bound_ms + SLACK_MS;
        if got.ms > most_ms {
            findings.push(format!("{place}: took {:.0} ms with a bound of {:.0} ms a stage", got.ms, got.bound_ms));
        }
        if given[*rank].is_none() {
            findings.push(format!("{place}: a result without a gradient"));
            continue;
        }
        if !got.applied {
            if let Some(value) = values.iter().find(|value| **value != 0.0) {
                findings.push(format!("{place}: the update is skipped, but has the value {value}, expected zeros"));
            }
            continue;
        }
        let gradients: Option<Vec<&[f32]>> = live.iter().map(|rank| given.get(*rank).copied().flatten()).collect();
        let Some(gradients) = gradients else { continue };
        if got.corrected || got.hadamard && (got.lost != [0, 0] || !all_arrived) {
            continue;
        }
        *compared += 1;
        let tolerance = if got.hadamard { TOLERANCE_HADAMARD } else { TOLERANCE };
        let is_missing = |at: usize| got.missing.iter().any(|range| range.contains(&at));
        let wrong = (0..values.len()).find(|at| {
            let of_ranks: Vec<f64> = gradients.iter().map(|gradient| f64::from(gradient[*at])).collect();
            !is_missing(*at) && !is_mean(f64::from(values[*at]), &of_ranks, all_arrived, tolerance)
        });
        if let Some(at) = wrong {
            let of_ranks: Vec<f32> = gradients.iter().map(|gradient| gradient[at]).collect();
            let mean_of = if all_arrived { "the mean of" } else { "a mean of any of" };
            findings
                .push(format!("{place}: element {at} is {}, not {mean_of} {of_ranks:?} of ranks {live:?}", values[at]));
        }
    }
    findings
}

/// Returns whether a value is the mean of all ranks, or of some after a loss.
fn is_mean(value: f64, of_ranks: &[f64], all_arrived: bool, tolerance: f64) -> bool {
    let all = (1u32 << of_ranks.len()) - 1;
    let is_mean_of = |set: u32| {
        let sum: f64 = of_ranks.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, value)| value).sum();
        (value - sum / f64::from(set.count_ones())).abs() <= tolerance * (1.0 + value.abs())
    };
    is_mean_of(all) || !all_arrived && (1..all).any(is_mean_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn got(op: u32, lost: [u64; 2]) -> Got {
        Got { op, live: vec![0, 1], applied: true, lost, bound_ms: 100.0, ..Default::default() }
    }

    fn log(given: [f32; 2], got: Got, result: [f32; 2], weights: [f32; 2]) -> Entries {
        let end = End { is_whole: true, ..Default::default() };
        vec![(Entry::Given(3), given.into()), (Entry::Got(got), result.into()), (Entry::End(end), weights.into())]
    }

    fn findings(change: impl Fn(&mut [Entries; 2])) -> Vec<String> {
        let mut logs = [[1.0, 2.0], [3.0, 6.0]].map(|given| log(given, got(3, [0, 0]), [2.0, 4.0], [7.0, 8.0]));
        change(&mut logs);
        judge(&logs).findings
    }

    fn report(log: &mut Entries) -> &mut Got {
        let (Entry::Got(got), _) = &mut log[1] else { panic!("no report") };
        got
    }

    #[test]
    fn what_is_right_passes_and_every_planted_fault_is_found() {
        assert_eq!(findings(|_| ()), [""; 0]);
        // One rank's value alone is right after a loss, and wrong without one.
        let alone = |logs: &mut [Entries; 2]| logs[0][1].1 = vec![2.0, 6.0];
        let after_a_loss = |logs: &mut [Entries; 2]| {
            alone(logs);
            report(&mut logs[1]).lost = [4, 0];
        };
        assert_eq!(findings(after_a_loss), [""; 0]);
        type Planted<'a> = (&'a str, &'a dyn Fn(&mut [Entries; 2]));
        let planted: [Planted<'_>; 7] = [
            ("element 1 is 6, not the mean of [2.0, 6.0]", &alone),
            ("element 0 is 4, not a mean of any of", &|logs| {
                // A contribution was added twice.
                logs[0][1].1 = vec![4.0, 4.0];
                report(&mut logs[0]).lost = [4, 0];
            }),
            ("element 0 is 0", &|logs| {
                logs[1][1].1 = vec![0.0, 4.0];
                report(&mut logs[1]).missing = std::iter::once(1..2).collect();
            }),
            ("ranks [1] took part, but rank 0 reports [0, 1]", &|logs| report(&mut logs[1]).live = vec![1]),
            ("took 15300 ms", &|logs| report(&mut logs[1]).ms = 15_300.0),
            ("the update is skipped, but has the value", &|logs| report(&mut logs[1]).applied = false),
            ("weight 1 is 8 on rank 0 and 9 on rank 1", &|logs| logs[1][2].1 = vec![7.0, 9.0]),
        ];
        for (expected, plant) in planted {
            let found = findings(plant);
            assert!(found.len() == 1 && found[0].contains(expected), "{expected}: {found:?}");
        }
    }
}
