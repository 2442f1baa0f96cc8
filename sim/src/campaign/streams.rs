//! Judges the sum of a declared bucket's outputs: each output is the collective's mean plus
//! corrections of earlier outputs.
//!
//! For every rank and stamp, the judge lists the collectives whose means the outputs lack. The
//! surplus of an output over its own mean must be a sum of such means, which then leave the list.
//! At the end only reported drift may remain.

use std::collections::{BTreeMap, HashMap};

use optireduce_core::protocol::StreamId;

use super::plan::JobPlan;
use super::values::{LANES, are_close};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Applied,
    /// Skipped by this rank only; a later output includes it.
    Skipped,
    /// Skipped by all ranks; never applied.
    Cancelled,
}

#[derive(Clone, Debug)]
pub(super) struct Output {
    pub rank: usize,
    pub segment: u32,
    pub stream: StreamId,
    pub op: u32,
    pub members: u64,
    pub act: Act,
    pub values: Vec<f32>,
    /// Indexed by stamp.
    pub missing: Vec<bool>,
}

#[derive(Clone, Debug)]
pub(super) struct Settled {
    pub rank: usize,
    pub segment: u32,
    pub stream: StreamId,
    pub is_repaired: bool,
    pub correction: Option<Vec<f32>>,
    /// Drift of the whole bucket.
    pub drift_bytes: u64,
}

/// Longest list for which all subsets are tried.
const TRIED_MAX: usize = 12;

/// Contributors of a stamp's mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mean {
    /// Bit set of ranks.
    Of(u64),
    /// Empty: the owner reports no contributions.
    Nobody,
}

type Means = HashMap<(u32, u64), Vec<Option<Mean>>>;
/// Collective and members.
type Key = (u32, u64);

/// Lists of missing collectives by stamp; `None` if indeterminable.
struct Lists(Vec<Option<Vec<Key>>>);

/// Checks all outputs. Returns the number of unverifiable stamps.
pub(super) fn check(
    plan: &JobPlan,
    outputs: &[Output],
    settled: &[Settled],
    means: &mut Means,
) -> Result<u64, (usize, String)> {
    let mut lists: HashMap<(usize, u32, StreamId), Lists> = HashMap::new();
    for output in outputs {
        let Output { rank, segment, stream, op, members, act, values, missing } = output;
        // A card reports incomplete shards, without the missing ranges.
        let (stamps, vague) = (missing.len(), plan.has_card(*rank));
        let lists = lists.entry((*rank, *segment, *stream)).or_insert_with(|| Lists(vec![Some(Vec::new()); stamps]));
        for (at, found) in values.chunks(LANES).enumerate() {
            let Some(list) = &mut lists.0[at] else { continue };
            match act {
                Act::Cancelled => {}
                Act::Skipped => list.push((*op, *members)),
                Act::Applied => {
                    let mut is_missing = missing[at];
                    if !list.is_empty() || vague && missing[at] {
                        let key = (*op, *members);
                        let own = (!missing[at] || vague).then_some(key);
                        let mut taken = take(plan, found, at, own, list, means);
                        if vague && missing[at] && matches!(taken, Taken::No) {
                            taken = take(plan, found, at, None, list, means);
                        } else if vague && matches!(taken, Taken::Yes) {
                            is_missing = false;
                        }
                        // Nobody contributed, or no rank has revealed the mean.
                        let is_unknown = !missing[at] && mean_of(means, key, at).is_none();
                        if is_unknown && matches!(taken, Taken::No) {
                            taken = take(plan, found, at, None, list, means);
                            let known = means.get_mut(&key).and_then(|all| all.get_mut(at));
                            if let (Taken::Yes, Some(known)) = (&taken, known) {
                                *known = Some(Mean::Nobody);
                            }
                        }
                        match taken {
                            Taken::Yes => {}
                            Taken::Unknown => {
                                lists.0[at] = None;
                                continue;
                            }
                            Taken::No => {
                                let text = format!(
                                    "collective {op}: elements from {} on are not its mean{} plus a sum of missing means: {list:?}; found {found:?}",
                                    at * LANES,
                                    if missing[at] { " (which is missing)" } else { "" }
                                );
                                return Err((*rank, text));
                            }
                        }
                    }
                    if is_missing {
                        list.push((*op, *members));
                    }
                }
            }
        }
    }
    let mut unverified = 0;
    let mut short: HashMap<(usize, u16), Short> = HashMap::new();
    for one in settled {
        let Some(lists) = lists.get_mut(&(one.rank, one.segment, one.stream)) else { continue };
        let zeros = vec![0.0; one.stream.elements];
        let correction = one.correction.as_ref().unwrap_or(&zeros);
        let (lost, _, which) = short.entry((one.rank, one.stream.bucket)).or_insert((0, one.drift_bytes, Vec::new()));
        for (at, found) in correction.chunks(LANES).enumerate() {
            let Some(list) = &mut lists.0[at] else {
                unverified += 1;
                continue;
            };
            match take(plan, found, at, None, list, means) {
                Taken::Yes => {}
                Taken::Unknown => {
                    unverified += 1;
                    continue;
                }
                Taken::No => {
                    let text = format!(
                        "{:?}: the last correction of elements from {} on is not a sum of missing means: {list:?}; found {found:?}",
                        one.stream,
                        at * LANES
                    );
                    return Err((one.rank, text));
                }
            }
            // A mean without contributors is not missing. Each element that differs counts once.
            let values = |key: &Key| match mean_of(means, *key, at) {
                Some(Mean::Of(set)) => plan.stamp(key.0).mean(set, at * LANES, found.len()),
                _ => vec![0.0; found.len()],
            };
            let lacks: Vec<Vec<f32>> = list.iter().map(values).collect();
            let count = (0..found.len()).filter(|lane| lacks.iter().any(|mean| mean[*lane] != 0.0)).count();
            *lost += 4 * count as u64;
            which.extend(list.iter().filter(|_| count > 0).map(|(op, _)| (*op, at)));
        }
        if !one.is_repaired {
            return Err((
                one.rank,
                format!("{:?}: repairs, or answers about calls, are still outstanding", one.stream),
            ));
        }
    }
    let mut short: Vec<_> = short.into_iter().collect();
    short.sort_unstable();
    match short.iter().find(|(_, (lost, drift, _))| lost > drift) {
        Some(((rank, bucket), (lost, drift, which))) => {
            let mut ops: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            which.iter().for_each(|(op, at)| ops.entry(*op).or_default().push(at * LANES));
            let text = format!(
                "bucket {bucket}: {lost} bytes of means were never added, {drift} are reported as drift; collectives, with the first elements of beats: {ops:?}"
            );
            Err((*rank, text))
        }
        None => Ok(unverified),
    }
}

/// Missing bytes, drift bytes, and (collective, stamp) pairs.
type Short = (u64, u64, Vec<(u32, usize)>);

enum Taken {
    Yes,
    No,
    Unknown,
}

fn mean_of(means: &Means, key: Key, at: usize) -> Option<Mean> {
    *means.get(&key)?.get(at)?
}

/// Removes those collectives from `list` whose means, added to the mean of `own`, give `found`.
fn take(plan: &JobPlan, found: &[f32], at: usize, own: Option<Key>, list: &mut Vec<Key>, means: &mut Means) -> Taken {
    let values = |key: Key, mean: Mean| match mean {
        Mean::Of(set) => plan.stamp(key.0).mean(set, at * LANES, found.len()),
        Mean::Nobody => vec![0.0; found.len()],
    };
    let known: Option<Vec<Vec<f32>>> =
        list.iter().map(|key| mean_of(means, *key, at).map(|mean| values(*key, mean))).collect();
    let Some(known) = known.filter(|known| known.len() <= TRIED_MAX) else { return Taken::Unknown };
    let base = own.map(|key| mean_of(means, key, at).map(|mean| values(key, mean)));
    // Tries all, then none, then any subset.
    let all = (1u32 << known.len()) - 1;
    for chosen in [all, 0].into_iter().chain(1..all) {
        let mut rest: Vec<f64> = found.iter().map(|value| f64::from(*value)).collect();
        for (_, mean) in known.iter().enumerate().filter(|(of, _)| chosen >> of & 1 == 1) {
            rest.iter_mut().zip(mean).for_each(|(rest, value)| *rest -= f64::from(*value));
        }
        let fits = match (&base, own) {
            (None, _) => are_close(&vec![0.0; found.len()], &rest),
            (Some(Some(base)), _) => are_close(base, &rest),
            (Some(None), Some(key)) => match plan.stamp(key.0).contributors_about(&rest, at * LANES, key.1) {
                Some(set) => {
                    if let Some(known) = means.get_mut(&key).and_then(|all| all.get_mut(at)) {
                        *known = Some(Mean::Of(set));
                    }
                    true
                }
                None => false,
            },
            (Some(None), None) => false,
        };
        if fits {
            let mut of = 0;
            list.retain(|_| {
                of += 1;
                chosen >> (of - 1) & 1 == 0
            });
            return Taken::Yes;
        }
    }
    Taken::No
}
