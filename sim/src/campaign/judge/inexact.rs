//! Judges results that are exact except for rounding: Hadamard-encoded and bf16 buckets.
//!
//! A result is encoded again; each beat on the wire must be the mean of some ranks' beats within
//! rounding. bf16 rounds each contribution and the mean by up to 2^-8, relative. A block with
//! missing beats was scaled up by its number of beats over the received ones. The outputs of a
//! repaired bucket add up to the sum of its means.

use std::collections::HashMap;

use optireduce_core::protocol::{Kind, Report, StreamId};

use super::super::plan::JobPlan;
use super::super::streams::{Act, Mean, Settled};
use super::super::values::{LANES, ranks_of};
use super::layout::Layout;
use super::{Judge, JudgeKind, Objection};

/// Absolute rounding error of fp32.
const ROUNDING: f64 = 0.05;
/// Rounding error of the transform, relative to the largest value of its block.
const TRANSFORM_ROUNDING: f64 = 1.0 / 65_536.0;
/// Relative rounding error of bf16.
const BF16: f64 = 1.0 / 256.0;
/// Absolute rounding error of the sum of all outputs.
const SUM_ROUNDING: f64 = 0.5;

pub(super) struct Seen<'a> {
    pub rank: usize,
    pub op: u32,
    pub members: u64,
    pub report: &'a Report,
    pub act: Act,
    pub values: &'a [f32],
    pub first_beat: usize,
    /// Beats that earlier outputs lacked, and that may contain a correction.
    pub lacking: &'a [bool],
}

/// Contributors of each beat on the wire if known, and whether it was received.
pub(super) struct Beats {
    pub sets: Vec<Option<u64>>,
    pub there: Vec<bool>,
}

/// Sum of a rank's outputs of one stream.
#[derive(Default)]
pub(super) struct Total {
    sum: Vec<f64>,
    /// Collectives in the sum, and their members.
    of: Vec<(u32, u64)>,
}

#[derive(Default)]
pub(super) struct Inexact {
    /// Contributions on the wire, by collective and encoding.
    given: HashMap<(u32, bool), Vec<Vec<f64>>>,
    /// Complete means, by collective and members.
    whole: HashMap<(u32, u64), Vec<Option<[f32; LANES]>>>,
    totals: HashMap<(usize, u32, StreamId), Total>,
}

impl Judge<'_> {
    /// Returns the contributors of the beats. Clears `missing` where the result has the beat.
    pub(super) fn inexact_beats(
        &mut self,
        seen: &Seen<'_>,
        layout: &Layout,
        missing: &mut [bool],
    ) -> Result<Beats, Objection> {
        let count = seen.values.len() / LANES;
        let wire = layout.to_wire(seen.values);
        let mut beats = Beats { sets: vec![None; count], there: vec![false; count] };
        for (range, places) in layout.blocks(count) {
            if seen.lacking[range.clone()].iter().any(|lacks| *lacks) {
                continue;
            }
            let beat = |at: usize| wire[at * LANES..][..LANES].iter().map(|value| value.abs());
            let largest = places.iter().flat_map(|at| beat(*at)).fold(0.0, f64::max);
            let noise = ROUNDING + if layout.is_encoded() { largest * TRANSFORM_ROUNDING } else { 0.0 };
            let is_zero = |at: &&usize| beat(**at).all(|value| value <= noise);
            let (zeros, others): (Vec<&usize>, Vec<&usize>) = places.iter().partition(is_zero);
            let Some(found) = self.sets_of(seen, layout, &wire, noise, &others, zeros.len()) else {
                let what = if layout.is_encoded() { "a block of means" } else { "a mean" };
                let text = format!(
                    "elements {} to {} are not {what} of any of {:?} within rounding: {:?}",
                    (seen.first_beat + range.start) * LANES,
                    (seen.first_beat + range.end) * LANES,
                    ranks_of(self.callers[seen.op as usize] & seen.members).collect::<Vec<_>>(),
                    &seen.values[range.start * LANES..][..LANES]
                );
                return Err((JudgeKind::Exact, text));
            };
            for (at, set) in others.into_iter().zip(found) {
                (beats.sets[*at], beats.there[*at]) = (Some(set), true);
                self.know(seen.op, seen.members, seen.first_beat + at, Mean::Of(set))?;
            }
            self.check_missing(seen, layout, &zeros, range.clone(), missing, &mut beats)?;
            if zeros.is_empty() && seen.report.kind == Kind::AllReduce {
                self.know_whole(seen, range)?;
            }
        }
        Ok(beats)
    }

    /// Returns the contributors of the beats `at` of a block. Its `zeros` further beats are lost or
    /// have no contributions.
    fn sets_of(
        &mut self,
        seen: &Seen<'_>,
        layout: &Layout,
        wire: &[f64],
        noise: f64,
        at: &[&usize],
        zeros: usize,
    ) -> Option<Vec<u64>> {
        let (plan, allowed) = (self.plan, self.callers[seen.op as usize] & seen.members);
        let given = self.inexact.given.entry((seen.op, layout.is_encoded())).or_insert_with(|| {
            let elements = plan.calls[seen.op as usize].elements;
            (0..plan.ranks).map(|rank| layout.to_wire(&plan.stamp(seen.op).gradient(rank, 0, elements))).collect()
        });
        let rounding = if plan.is_bf16(seen.op) { BF16 } else { 0.0 };
        let beats = at.len() + zeros;
        let lost = if layout.is_encoded() { zeros } else { 0 };
        (0..=lost).rev().filter(|lost| *lost < beats).find_map(|lost| {
            let scale = (beats - lost) as f64 / beats as f64;
            let set = |at: &&usize| {
                let found: Vec<f64> = wire[**at * LANES..][..LANES].iter().map(|value| value * scale).collect();
                set_of(&found, given, (seen.first_beat + **at) * LANES, allowed, (rounding, noise * scale))
            };
            at.iter().map(set).collect()
        })
    }

    /// Checks that zero beats, and only those, are reported missing.
    fn check_missing(
        &mut self,
        seen: &Seen<'_>,
        layout: &Layout,
        zeros: &[&usize],
        range: std::ops::Range<usize>,
        missing: &mut [bool],
        beats: &mut Beats,
    ) -> Result<(), Objection> {
        if seen.act != Act::Applied {
            return Ok(());
        }
        let elements = (seen.first_beat + range.start) * LANES..(seen.first_beat + range.end) * LANES;
        let said = missing[range.start];
        if missing[range.clone()].iter().any(|is| *is != said) {
            return Err((
                JudgeKind::Reported,
                format!("only a part of the block of elements {elements:?} is reported missing"),
            ));
        }
        if zeros.is_empty() && said {
            if !self.plan.has_card(seen.rank) {
                return Err((JudgeKind::Reported, format!("elements {elements:?} are reported missing and are there")));
            }
            // A card reports incomplete shards, without the missing ranges.
            missing[range].fill(false);
        } else if !said {
            for at in zeros {
                // A card sends zeros for a beat without contributions in a packet with others.
                let owner = layout.owner(seen.members, **at).filter(|_| seen.report.kind == Kind::AllReduce);
                if !owner.is_some_and(|owner| self.plan.has_card(owner)) {
                    let text = format!("a beat of elements {elements:?} is zero and not reported missing");
                    return Err((JudgeKind::Reported, text));
                }
                beats.there[**at] = true;
                self.know(seen.op, seen.members, **at, Mean::Nobody)?;
            }
        }
        Ok(())
    }

    /// Checks that complete blocks are equal at all ranks, bit for bit.
    fn know_whole(&mut self, seen: &Seen<'_>, range: std::ops::Range<usize>) -> Result<(), Objection> {
        let count = seen.values.len() / LANES;
        let whole = self.inexact.whole.entry((seen.op, seen.members)).or_insert_with(|| vec![None; count]);
        for (at, found) in range.clone().zip(seen.values[range.start * LANES..].as_chunks::<LANES>().0) {
            let known = whole[at].get_or_insert(*found);
            if known.map(f32::to_bits) != found.map(f32::to_bits) {
                let text = format!("elements from {} on are {found:?}, another rank has {known:?}", at * LANES);
                return Err((JudgeKind::Replicas, text));
            }
        }
        Ok(())
    }

    pub(super) fn add_up(&mut self, seen: &Seen<'_>, segment: u32, stream: StreamId) {
        let total = self.inexact.totals.entry((seen.rank, segment, stream)).or_default();
        total.sum.resize(stream.elements, 0.0);
        match seen.act {
            Act::Cancelled => {}
            Act::Skipped => total.of.push((seen.op, seen.members)),
            Act::Applied => {
                total.of.push((seen.op, seen.members));
                total.sum.iter_mut().zip(seen.values).for_each(|(sum, value)| *sum += f64::from(*value));
            }
        }
    }
}

impl Inexact {
    /// Checks the sums of repaired outputs. Returns the number of unverifiable beats.
    pub fn check(&self, plan: &JobPlan, settled: &[Settled]) -> Result<u64, (usize, String)> {
        let mut unverified = 0;
        for one in settled {
            let Some(total) = self.totals.get(&(one.rank, one.segment, one.stream)) else { continue };
            if !one.is_repaired {
                return Err((one.rank, format!("{:?}: repairs are still outstanding", one.stream)));
            }
            let beats = one.stream.elements.div_ceil(LANES);
            if one.drift_bytes > 0 {
                unverified += beats as u64;
                continue;
            }
            for beat in 0..beats {
                let means: Option<Vec<_>> = total.of.iter().map(|of| *self.whole.get(of)?.get(beat)?).collect();
                let Some(means) = means else {
                    unverified += 1;
                    continue;
                };
                for lane in 0..LANES {
                    let at = beat * LANES + lane;
                    let expected: f64 = means.iter().map(|mean| f64::from(mean[lane])).sum();
                    let correction = one.correction.as_ref().map_or(0.0, |all| f64::from(all[at]));
                    let found = total.sum[at] + correction;
                    if (found - expected).abs() > SUM_ROUNDING {
                        let ops: Vec<u32> = total.of.iter().map(|(op, _)| *op).collect();
                        let text = format!(
                            "{:?}: element {at} of all outputs adds up to {found}, of all means to {expected}; collectives {ops:?} of {}",
                            one.stream,
                            plan.calls.len()
                        );
                        return Err((one.rank, text));
                    }
                }
            }
        }
        Ok(unverified)
    }
}

/// Returns a set of `allowed` ranks with mean `found`. `rounding` applies to each contribution and
/// to the mean; `noise` is absolute.
fn set_of(found: &[f64], given: &[Vec<f64>], first: usize, allowed: u64, (rounding, noise): (f64, f64)) -> Option<u64> {
    let is_it = |set: &u64| {
        let of: Vec<&[f64]> = ranks_of(*set).map(|rank| &given[rank][first..]).collect();
        let count = of.len() as f64;
        found.iter().enumerate().all(|(lane, found)| {
            let (sum, sizes) = of.iter().fold((0.0, 0.0), |(sum, sizes), of| (sum + of[lane], sizes + of[lane].abs()));
            let (mean, size) = (sum / count, sizes / count);
            // Rounding of each contribution, then of the mean of the rounded values.
            let most = rounding * (size + (1.0 + rounding) * mean.abs() + rounding * size) + noise;
            (found - mean).abs() <= most
        })
    };
    // All subsets, beginning with all allowed ranks.
    let subsets = std::iter::successors(Some(allowed), |set| (*set > 0).then(|| (set - 1) & allowed));
    subsets.take_while(|set| *set > 0).find(is_it)
}
