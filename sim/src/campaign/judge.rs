//! Independent judges of a job. They check the inputs and outputs of callers, and share types but
//! no algorithms with the protocol.
//!
//! They rely on its contract: ownership of the beats of a window (OptiReduce 3.1, figure 4), a mean
//! as a sum times a reciprocal, and the meaning of reports.

mod inexact;
mod layout;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use optireduce_core::protocol::{HadamardMode, Kind, Report, Stream, StreamId, UpdateAction, View};
use optireduce_core::{Finished, Values};

use super::memory::footprint_max;
use super::plan::JobPlan;
use super::streams::{Act, Mean, Output, Settled};
use super::tally::Tally;
use super::values::{LANES, ranks_of};
use inexact::{Beats, Inexact, Seen};
use layout::Layout;

type Objection = (JudgeKind, String);

const BEAT_BYTES: u64 = 64;

/// Property that a judge checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeKind {
    /// Every call returns within its bound.
    Returns,
    /// Results contain no contribution twice and no foreign data.
    Exact,
    /// Losses are reported to the byte.
    Reported,
    /// Replicas are equal after repair, except for reported drift.
    Replicas,
    /// Ranks agree on the members of each collective.
    Members,
    /// Memory of a rank is bounded.
    Memory,
    /// A job continues while a majority can continue it.
    Continues,
    /// Errors have a cause, and no message is rejected.
    Sound,
    /// The code does not panic.
    Panic,
}

/// Objection of a judge.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Violation {
    /// Property that does not hold.
    pub judge: JudgeKind,
    /// Rank at fault, if any.
    pub rank: Option<usize>,
    /// Virtual time in ns.
    pub at_ns: u64,
    /// Value found and value expected.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {} us", self.judge, self.at_ns / 1000)?;
        if let Some(rank) = self.rank {
            write!(f, ", rank {rank}")?;
        }
        write!(f, ": {}", self.text)
    }
}

pub(super) struct Judge<'a> {
    plan: &'a JobPlan,
    pub violation: Option<Violation>,
    /// Bit set, by collective.
    callers: Vec<u64>,
    /// First collective, members, and encoding of buckets that follow the loss, by view number.
    views: BTreeMap<u32, (u32, u64, bool)>,
    /// Rank, members and encoding of the results of each collective.
    used: Vec<Vec<(usize, u64, bool)>>,
    /// Common mean of each stamp, by collective and members.
    means: HashMap<(u32, u64), Vec<Option<Mean>>>,
    /// True if skipped, by collective and members.
    agreed: HashMap<(u32, u64), bool>,
    /// Crashes and joins, by rank. The outputs of a segment add up.
    segments: Vec<u32>,
    /// Stamps that earlier outputs may lack.
    lacking: HashMap<(usize, u32, StreamId), Vec<bool>>,
    outputs: Vec<Output>,
    inexact: Inexact,
    settled: Vec<Settled>,
    packets_seen: HashSet<(usize, u16, u8)>,
    pub tally: Tally,
}

impl<'a> Judge<'a> {
    pub fn new(plan: &'a JobPlan) -> Self {
        let count = plan.calls.len();
        Self {
            plan,
            violation: None,
            callers: vec![0; count],
            views: BTreeMap::new(),
            used: vec![Vec::new(); count],
            means: HashMap::new(),
            agreed: HashMap::new(),
            segments: vec![0; plan.ranks],
            lacking: HashMap::new(),
            outputs: Vec::new(),
            inexact: Inexact::default(),
            settled: Vec::new(),
            packets_seen: HashSet::new(),
            tally: Tally::default(),
        }
    }

    /// Records the first objection.
    pub fn object(&mut self, judge: JudgeKind, rank: Option<usize>, at_ns: u64, text: String) {
        self.violation.get_or_insert(Violation { judge, rank, at_ns, text });
    }

    pub fn is_first(&mut self, rank: usize, step: u16, stage: u8) -> bool {
        self.packets_seen.insert((rank, step, stage))
    }

    pub fn called(&mut self, rank: usize, op: u32) {
        self.callers[op as usize] |= 1 << rank;
    }

    pub fn crashed(&mut self, rank: usize) {
        self.segments[rank] += 1;
    }

    pub fn joined(&mut self, rank: usize, _first_op: u32) {
        self.segments[rank] += 1;
    }

    /// Objects if the rank is unharmed.
    pub fn dropped(&mut self, rank: usize, at_ns: u64) {
        // Cards discard packets of windows that are not armed, so a late rank may receive nothing.
        let may_lag = self.plan.cards != 0;
        if !may_lag && self.plan.unharmed().is_some_and(|unharmed| unharmed[rank]) {
            self.object(JudgeKind::Continues, Some(rank), at_ns, "it was dropped although no fault affected it".into());
        }
    }

    pub fn gave_up(&mut self, rank: usize, at_ns: u64, why: &str) {
        self.tally.gave_up += 1;
        if self.must_go_on(rank) {
            let text = format!("it gave up although no fault affected it and a majority remains: {why}");
            self.object(JudgeKind::Continues, Some(rank), at_ns, text);
        }
    }

    /// Returns whether a rank is unharmed and in an unharmed majority of the current view.
    fn must_go_on(&self, rank: usize) -> bool {
        let Some(unharmed) = self.plan.unharmed().filter(|unharmed| unharmed[rank]) else { return false };
        let Some((_, (_, members, _))) = self.views.last_key_value() else { return true };
        let left = ranks_of(*members).filter(|rank| unharmed[*rank]).count();
        2 * left > members.count_ones() as usize
    }

    pub fn view(&mut self, rank: usize, at_ns: u64, view: &View) {
        let members: Vec<usize> = view.live().collect();
        let found = (view.first_op, set_of(&members), view.settings.hadamard);
        let known = *self.views.entry(view.number).or_insert(found);
        if known != found {
            let text = format!(
                "view {} is {members:?} from {} on, encoded {}; other ranks have {:?} from {} on, encoded {}",
                view.number,
                found.0,
                found.2,
                ranks_of(known.1).collect::<Vec<_>>(),
                known.0,
                known.2
            );
            self.object(JudgeKind::Members, Some(rank), at_ns, text);
        }
    }

    pub fn holds(&mut self, rank: usize, at_ns: u64, found: usize) {
        let most = footprint_max(self.plan);
        self.tally.footprint_percent_max = self.tally.footprint_percent_max.max((100 * found / most) as u64);
        if found > most {
            let text = format!("its state has {found} characters, expected at most {most} with these settings");
            self.object(JudgeKind::Memory, Some(rank), at_ns, text);
        }
    }

    pub fn finished(&mut self, rank: usize, op: u32, at_ns: u64, finished: Finished) {
        self.tally.results += 1;
        let Finished { report, result, partial, .. } = finished;
        let (result, partial) = (result.into_vec(), partial.map(Values::into_vec));
        let members = set_of(&report.live);
        if self.used[op as usize].is_empty() {
            self.tally.collectives += 1;
        }
        self.used[op as usize].push((rank, members, report.hadamard));
        self.tally.skipped += u64::from(report.action != UpdateAction::Apply);
        self.tally.lossy += u64::from(report.lost_bytes > 0);
        if let Err((judge, text)) = self.check(rank, op, members, &report, result, partial) {
            self.object(judge, Some(rank), at_ns, format!("collective {op}: {text}"));
        }
    }

    fn check(
        &mut self,
        rank: usize,
        op: u32,
        members: u64,
        report: &Report,
        result: Vec<f32>,
        partial: Option<Vec<f32>>,
    ) -> Result<(), Objection> {
        let call = self.plan.calls[op as usize];
        let found = (report.op, report.kind, report.bucket, report.elements);
        let expected = (op, call.kind, call.bucket, call.elements);
        if found != expected {
            return Err((JudgeKind::Exact, format!("the report is of {found:?}, the call was {expected:?}")));
        }
        if members >> rank & 1 == 0 {
            return Err((JudgeKind::Members, format!("the rank is not among those that took part: {:?}", report.live)));
        }
        if self.plan.settings.silent_ops.is_none() && members.count_ones() as usize != self.plan.ranks {
            return Err((JudgeKind::Members, format!("the ranks are fixed, took part: {:?}", report.live)));
        }
        if call.hadamard != HadamardMode::Auto && report.hadamard != (call.hadamard == HadamardMode::On) {
            return Err((JudgeKind::Members, format!("encoded {}, called with {}", report.hadamard, call.hadamard)));
        }
        self.check_counts(rank, report)?;
        let part = match call.kind {
            Kind::ReduceScatter => self.plan.part(rank, call.elements),
            _ => 0..call.elements,
        };
        if result.len() != part.len() {
            return Err((JudgeKind::Exact, format!("{} elements, expected {}", result.len(), part.len())));
        }
        let mut missing = missing_stamps(report, part.len())?;
        if call.kind == Kind::AllGather {
            return self.check_gathered(rank, op, members, report, &result, &missing);
        }
        let is_update = call.kind == Kind::AllReduce && !call.is_one_off();
        let act = match report.action {
            UpdateAction::Apply => Act::Applied,
            _ if !is_update => Act::Applied,
            _ if report.agreed => Act::Cancelled,
            _ => Act::Skipped,
        };
        self.check_agreed(op, members, report)?;
        let values = if act == Act::Applied {
            result
        } else {
            // A skipped update returns the caller's input, and the partial mean separately.
            if result != self.plan.gradient(rank, op) {
                return Err((JudgeKind::Exact, "the update was skipped, but the result differs from the input".into()));
            }
            partial
                .ok_or((JudgeKind::Reported, "the update was skipped, but the partial mean is missing".to_owned()))?
        };
        let (segment, stream) = (self.segments[rank], call.stream_id().filter(|_| self.plan.settings.repair));
        let count = values.len().div_ceil(LANES);
        let lacking = stream.and_then(|stream| self.lacking.get(&(rank, segment, stream)));
        let lacking: Vec<bool> =
            (0..count).map(|at| act == Act::Applied && lacking.is_some_and(|all| all[at])).collect();
        let may_hold_corrections = lacking.iter().any(|is| *is);
        if report.repair.corrected && !may_hold_corrections {
            return Err((JudgeKind::Exact, "corrections are reported, but nothing was missing before".into()));
        }
        let layout = Layout::new(self.plan, op, call.elements, report.hadamard);
        let first_beat = part.start / LANES;
        let seen = Seen { rank, op, members, report, act, values: &values, first_beat, lacking: &lacking };
        let beats = if self.plan.is_inexact(op) {
            self.inexact_beats(&seen, &layout, &mut missing)?
        } else {
            self.exact_beats(&seen, &layout, &mut missing)?
        };
        if !may_hold_corrections {
            self.check_received(&seen, &layout, &beats)?;
            for at in (0..count).filter(|at| call.kind == Kind::AllReduce && !beats.there[*at]) {
                if layout.owner(members, at) == Some(rank) {
                    self.know(op, members, at, Mean::Nobody)?;
                }
            }
        }
        if let Some(stream) = stream {
            let lacking = self.lacking.entry((rank, segment, stream)).or_insert_with(|| vec![false; count]);
            for (at, lacks) in lacking.iter_mut().enumerate() {
                *lacks |= act == Act::Skipped || act == Act::Applied && missing[at];
            }
            if self.plan.is_inexact(op) {
                self.add_up(&seen, segment, stream);
            } else {
                self.outputs.push(Output { rank, segment, stream, op, members, act, values, missing });
            }
        }
        Ok(())
    }

    /// Returns the contributors of the beats of a result that is neither encoded nor bf16. Clears
    /// `missing` where the result has the beat.
    fn exact_beats(&mut self, seen: &Seen<'_>, layout: &Layout, missing: &mut [bool]) -> Result<Beats, Objection> {
        let &Seen { rank, op, members, act, values, first_beat, lacking, .. } = seen;
        let (stamp, allowed) = (self.plan.stamp(op), self.callers[op as usize] & members);
        let has_card = self.plan.has_card(rank);
        // A card sends zeros for a beat without contributions if its packet has other beats.
        let may_be_empty = |at: usize| {
            let owner = layout.owner(members, at).filter(|_| seen.report.kind == Kind::AllReduce);
            owner.is_some_and(|owner| self.plan.has_card(owner))
        };
        let count = values.len().div_ceil(LANES);
        let empty: Vec<bool> = (0..count).map(may_be_empty).collect();
        let (mut sets, mut there) = (vec![None; count], vec![false; count]);
        for (at, found) in values.chunks(LANES).enumerate() {
            let first = (first_beat + at) * LANES;
            if lacking[at] {
                continue;
            }
            let is_zero = found.iter().all(|value| *value == 0.0);
            let is_missing = if act == Act::Applied { missing[at] } else { is_zero };
            match (is_missing, is_zero) {
                (true, true) => {}
                (false, true) if empty[at] => {
                    there[at] = true;
                    self.know(op, members, at, Mean::Nobody)?;
                }
                (true, false) if !has_card => {
                    return Err((
                        JudgeKind::Reported,
                        format!("elements from {first} on are reported missing and are {found:?}"),
                    ));
                }
                (false, true) => {
                    return Err((
                        JudgeKind::Reported,
                        format!("elements from {first} on are zero and not reported missing"),
                    ));
                }
                (_, false) => {
                    // A card reports incomplete shards, without the missing ranges.
                    missing[at] &= act != Act::Applied;
                    there[at] = true;
                    let Some(set) = stamp.contributors(found, first, allowed) else {
                        let may: Vec<_> = ranks_of(allowed).collect();
                        return Err((
                            JudgeKind::Exact,
                            format!("elements from {first} on are not a mean of any of {may:?}: {found:?}"),
                        ));
                    };
                    sets[at] = Some(set);
                    self.know(op, members, first_beat + at, Mean::Of(set))?;
                }
            }
        }
        Ok(Beats { sets, there })
    }

    fn check_counts(&self, rank: usize, report: &Report) -> Result<(), Objection> {
        let mut lost = 0;
        for stage in &report.stages {
            let pairs = stage.expected_bytes_per_rank.iter().zip(&stage.received_bytes_per_rank).enumerate();
            for (of, (expected, received)) in pairs {
                if received > expected || of == rank && *expected > 0 {
                    return Err((JudgeKind::Reported, format!("{received} of {expected} bytes of rank {of}")));
                }
                lost += expected - received;
            }
        }
        if lost != report.lost_bytes {
            return Err((
                JudgeKind::Reported,
                format!("{} bytes are reported lost, but {lost} by the stages", report.lost_bytes),
            ));
        }
        Ok(())
    }

    fn check_agreed(&mut self, op: u32, members: u64, report: &Report) -> Result<(), Objection> {
        if !report.agreed || matches!(self.plan.calls[op as usize].stream, Stream::OneOff) {
            return Ok(());
        }
        let skips = report.action != UpdateAction::Apply;
        if *self.agreed.entry((op, members)).or_insert(skips) == skips {
            return Ok(());
        }
        Err((JudgeKind::Replicas, format!("{:?} is reported as agreed, but not by another rank", report.action)))
    }

    /// Checks the reported bytes: contributions to this rank's shard, and beats of other owners.
    fn check_received(&self, seen: &Seen<'_>, layout: &Layout, beats: &Beats) -> Result<(), Objection> {
        let (&Seen { rank, op, members, report, .. }, Beats { sets, there }) = (seen, beats);
        let kind = report.kind;
        let owners: Vec<_> = (0..sets.len()).map(|at| layout.owner(members, at)).collect();
        let is_own = |at: usize| kind == Kind::ReduceScatter || owners[at] == Some(rank);
        for of in ranks_of(members).filter(|of| *of != rank) {
            let own = sets.iter().enumerate().filter(|(at, _)| is_own(*at));
            let beats = own.clone().count() as u64;
            let from = own.filter(|(_, set)| set.is_some_and(|set| set >> of & 1 == 1)).count() as u64;
            let found = (report.stages[0].received_bytes_per_rank[of], report.stages[0].expected_bytes_per_rank[of]);
            if found != (from * BEAT_BYTES, beats * BEAT_BYTES) {
                let text = format!(
                    "contributions of rank {of} are in {from} of {beats} beats of this rank, reported are {} of {} bytes",
                    found.0, found.1
                );
                return Err((JudgeKind::Reported, text));
            }
            if kind != Kind::AllReduce {
                continue;
            }
            let here = sets.iter().enumerate().filter(|(at, _)| owners[*at] == Some(of));
            let beats = here.clone().count() as u64;
            let there = here.filter(|(at, _)| there[*at]).count() as u64;
            let found = (report.stages[1].received_bytes_per_rank[of], report.stages[1].expected_bytes_per_rank[of]);
            // Repair may have fetched lost beats before the call returned. Without missing ranges,
            // a card's zeros for a beat without contributions look like a loss.
            let is_vague = self.plan.has_card(rank) || report.action != UpdateAction::Apply;
            let zeros = if is_vague && self.plan.has_card(of) { beats - there } else { 0 };
            let most = (there + zeros) * BEAT_BYTES;
            let right = found.0 <= most && (self.plan.is_repaired(op) || found.0 >= there * BEAT_BYTES);
            if !right || found.1 != beats * BEAT_BYTES {
                let text = format!(
                    "{there} of {beats} beats of rank {of} are there, reported are {} of {} bytes",
                    found.0, found.1
                );
                return Err((JudgeKind::Reported, text));
            }
        }
        let lacks_own =
            sets.iter().enumerate().any(|(at, set)| is_own(at) && set.is_none_or(|set| set >> rank & 1 == 0));
        if report.local_contribution && lacks_own {
            return Err((JudgeKind::Reported, "its own contribution is reported as included, but is missing".into()));
        }
        Ok(())
    }

    /// Checks that an all-gather returns each rank's input, or zeros reported missing.
    fn check_gathered(
        &self,
        rank: usize,
        op: u32,
        members: u64,
        report: &Report,
        result: &[f32],
        missing: &[bool],
    ) -> Result<(), Objection> {
        let (call, stamp) = (self.plan.calls[op as usize], self.plan.stamp(op));
        for of in 0..self.plan.ranks {
            let part = self.plan.part(of, call.elements);
            let mut there = 0;
            for (at, found) in result[part.clone()].chunks(LANES).enumerate() {
                let first = part.start + at * LANES;
                let is_there = !missing[first / LANES];
                there += u64::from(is_there);
                let took_part = members >> of & 1 == 1 && self.callers[op as usize] >> of & 1 == 1;
                let given = stamp.gradient(of, first, found.len());
                // bf16 rounds each value once.
                let most = if self.plan.is_bf16(op) { 1.0 / 256.0 } else { 0.0 };
                let is_it = found.iter().zip(&given).all(|(found, given)| (found - given).abs() <= most * given);
                if is_there && !(took_part && is_it) {
                    return Err((
                        JudgeKind::Exact,
                        format!("elements from {first} on differ from the input of rank {of}: {found:?}"),
                    ));
                }
                if !is_there && (of == rank || found.iter().any(|value| *value != 0.0)) {
                    return Err((
                        JudgeKind::Reported,
                        format!("elements from {first} on of rank {of} are reported missing and are {found:?}"),
                    ));
                }
            }
            let received = report.stages[1].received_bytes_per_rank[of];
            let right =
                if self.plan.is_repaired(op) { received <= there * BEAT_BYTES } else { received == there * BEAT_BYTES };
            if of != rank && !right {
                return Err((
                    JudgeKind::Reported,
                    format!("{there} beats of rank {of} are there, reported are {received} bytes"),
                ));
            }
        }
        Ok(())
    }

    /// Records a mean, which must be the same at all ranks.
    fn know(&mut self, op: u32, members: u64, at: usize, mean: Mean) -> Result<(), Objection> {
        let stamps = self.plan.calls[op as usize].elements.div_ceil(LANES);
        let known = &mut self.means.entry((op, members)).or_insert_with(|| vec![None; stamps])[at];
        match *known {
            Some(other) if other != mean => {
                let name = |mean| match mean {
                    Mean::Of(set) => format!("{:?}", ranks_of(set).collect::<Vec<_>>()),
                    Mean::Nobody => "nobody".into(),
                };
                let text = format!(
                    "elements from {} on are of {}, those of another rank are of {}",
                    at * LANES,
                    name(mean),
                    name(other)
                );
                Err((JudgeKind::Replicas, text))
            }
            _ => {
                *known = Some(mean);
                Ok(())
            }
        }
    }

    pub fn ended(&mut self, rank: usize, is_done: bool, at_ns: u64) {
        if !is_done && self.must_go_on(rank) {
            self.object(
                JudgeKind::Continues,
                Some(rank),
                at_ns,
                "no fault affected it, but it has not made all calls".into(),
            );
        }
    }

    pub fn settled(
        &mut self,
        rank: usize,
        stream: StreamId,
        is_repaired: bool,
        correction: Option<Vec<f32>>,
        drift_bytes: u64,
    ) {
        let segment = self.segments[rank];
        self.settled.push(Settled { rank, segment, stream, is_repaired, correction, drift_bytes });
    }

    pub fn finish(&mut self, at_ns: u64) {
        self.check_members(at_ns);
        if self.violation.is_none() && self.plan.settings.repair {
            match super::streams::check(self.plan, &self.outputs, &self.settled, &mut self.means) {
                Ok(unverified) => self.tally.unverified += unverified,
                Err((rank, text)) => return self.object(JudgeKind::Replicas, Some(rank), at_ns, text),
            }
            match self.inexact.check(self.plan, &self.settled) {
                Ok(unverified) => self.tally.unverified += unverified,
                Err((rank, text)) => self.object(JudgeKind::Replicas, Some(rank), at_ns, text),
            }
        }
    }

    /// Checks that members of a view ran its collectives with that view and its encoding.
    fn check_members(&mut self, at_ns: u64) {
        let all = u64::MAX >> (64 - self.plan.ranks);
        for op in 0..self.used.len() {
            let view = self.views.values().rev().find(|(first_op, ..)| *first_op as usize <= op);
            let (members, of_view) = view.map_or((all, false), |(_, members, hadamard)| (*members, *hadamard));
            let encoded = match self.plan.calls[op].hadamard {
                HadamardMode::Off => false,
                HadamardMode::On => true,
                _ => of_view,
            };
            let mut takers = self.used[op].iter().filter(|(rank, ..)| members >> rank & 1 == 1);
            if let Some((rank, used, hadamard)) = takers.find(|(_, used, is)| (*used, *is) != (members, encoded)) {
                let names = |set: u64| ranks_of(set).collect::<Vec<_>>();
                let text = format!(
                    "collective {op} was run among {:?}, encoded {hadamard}; the view says {:?}, encoded {encoded}",
                    names(*used),
                    names(members)
                );
                let rank = *rank;
                self.object(JudgeKind::Members, Some(rank), at_ns, text);
                return;
            }
        }
    }
}

fn set_of(ranks: &[usize]) -> u64 {
    ranks.iter().fold(0, |set, rank| set | 1 << rank)
}

/// Returns whether each stamp is reported missing; it must be as a whole or not at all.
fn missing_stamps(report: &Report, elements: usize) -> Result<Vec<bool>, Objection> {
    let mut missing = vec![false; elements];
    let mut end = 0;
    for range in report.missing_ranges() {
        if range.start < end || range.is_empty() || range.end > elements {
            return Err((
                JudgeKind::Reported,
                format!("missing ranges of {elements} elements: {:?}", report.missing_ranges()),
            ));
        }
        end = range.end;
        missing[range.clone()].fill(true);
    }
    missing
        .chunks(LANES)
        .map(|stamp| {
            let count = stamp.iter().filter(|is| **is).count();
            if count == 0 || count == stamp.len() {
                Ok(count > 0)
            } else {
                Err((
                    JudgeKind::Reported,
                    format!("a part of a beat is reported missing: {:?}", report.missing_ranges()),
                ))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::Edits;
    use optireduce_core::protocol::Ranks;
    use optireduce_core::protocol::membership::Settings;

    /// Three ranks have cards. An unharmed one lags and is dropped, which is allowed. Once a harmed
    /// rank crashes, the unharmed ranks are no majority of the view.
    #[test]
    fn a_majority_is_one_of_those_that_take_part() {
        let edits = Edits { calls: Some(15), only: Some(vec![1, 2, 3]), ..Edits::default() };
        let plan = JobPlan::new(60_014_218, &edits);
        let unharmed = plan.unharmed().expect("a majority");
        let [is, not] =
            [true, false].map(|wanted| (0..plan.ranks).filter(|rank| unharmed[*rank] == wanted).collect::<Vec<_>>());
        assert_eq!((is.len(), not.len(), plan.cards), (2, 1, 7));
        let objects = |members: &[usize]| {
            let mut judge = Judge::new(&plan);
            let settings = Settings::first(plan.settings.bound_ns);
            judge.view(is[0], 0, &View::first(Ranks::none(plan.ranks).with(members.iter().copied()), settings));
            judge.gave_up(is[0], 1, "no agreement");
            judge.violation.is_some()
        };
        assert_eq!([objects(&[is[0], not[0]]), objects(&[is[0], is[1], not[0]]), objects(&is)], [false, true, true]);
    }
}
