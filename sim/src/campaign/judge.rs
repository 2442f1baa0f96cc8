//! Independent judges of a job: they look at what callers give and get, and share no code with the protocol.
//!
//! What they know of it is its contract: who owns which beats of a window (OptiReduce 3.1, figure 4), that a mean is a sum
//! times a reciprocal, and what the documentation says of reports.

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

/// Who objects, and to what.
type Objection = (JudgeKind, String);

/// Bytes of a beat.
const BEAT_BYTES: u64 = 64;

/// What a judge watches over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeKind {
    /// Every call returns by its bound.
    Returns,
    /// Nothing is counted twice, nothing of another bucket, step, job or stranger is in a result.
    Exact,
    /// What is missing is reported, to the byte.
    Reported,
    /// Replicas are equal, at once or after repair; what is not, is reported as drift.
    Replicas,
    /// Ranks agree on the members of each collective.
    Members,
    /// No buffer grows without limit.
    Memory,
    /// A job that a majority can continue continues.
    Continues,
    /// No error without a cause, no message refused.
    Sound,
    /// No panic.
    Panic,
}

/// What a judge objects to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Violation {
    /// Who objects.
    pub judge: JudgeKind,
    /// The rank at which it was seen.
    pub rank: Option<usize>,
    /// When, in virtual ns.
    pub at_ns: u64,
    /// What was found, and what was expected.
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
    /// By collective: the ranks that have called it.
    callers: Vec<u64>,
    /// By number: first collective, members, whether buckets that follow the loss are encoded.
    views: BTreeMap<u32, (u32, u64, bool)>,
    /// By collective: ranks that have it, among whom, and whether it was encoded.
    used: Vec<Vec<(usize, u64, bool)>>,
    /// By collective and members: what all ranks are to have in each stamp.
    means: HashMap<(u32, u64), Vec<Option<Mean>>>,
    /// By collective and members: what was agreed on.
    agreed: HashMap<(u32, u64), bool>,
    /// By rank: how often it began anew with another's model.
    segments: Vec<u32>,
    /// By rank, segment and stream: stamps that outputs so far may lack.
    lacking: HashMap<(usize, u32, StreamId), Vec<bool>>,
    outputs: Vec<Output>,
    /// Results that are exact but for rounding.
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

    /// A judge objects; the first objection counts.
    pub fn object(&mut self, judge: JudgeKind, rank: Option<usize>, at_ns: u64, text: String) {
        self.violation.get_or_insert(Violation { judge, rank, at_ns, text });
    }

    /// Whether this is the first packet of a rank in a stage of a collective.
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

    /// A rank was dropped: only one that was harmed may be. Collectives that it has running go on with what it has.
    pub fn dropped(&mut self, rank: usize, at_ns: u64) {
        // Cards keep no packets of windows that are not armed: a rank that falls behind may hear nothing any more.
        let may_lag = self.plan.cards != 0;
        if !may_lag && self.plan.unharmed().is_some_and(|unharmed| unharmed[rank]) {
            self.object(JudgeKind::Continues, Some(rank), at_ns, "it was dropped although nothing befell it".into());
        }
    }

    /// A rank has given up; only one that was harmed may.
    pub fn gave_up(&mut self, rank: usize, at_ns: u64, why: &str) {
        self.tally.gave_up += 1;
        if self.must_go_on(rank) {
            let text = format!("it gave up although nothing befell it and a majority is there: {why}");
            self.object(JudgeKind::Continues, Some(rank), at_ns, text);
        }
    }

    /// Whether a rank is unharmed, and with others a majority of those that take part by now: with cards, some that were unharmed may have
    /// been dropped.
    fn must_go_on(&self, rank: usize) -> bool {
        let Some(unharmed) = self.plan.unharmed().filter(|unharmed| unharmed[rank]) else { return false };
        let Some((_, (_, members, _))) = self.views.last_key_value() else { return true };
        let left = ranks_of(*members).filter(|rank| unharmed[*rank]).count();
        2 * left > members.count_ones() as usize
    }

    /// A rank learns of a view.
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

    /// A rank's engine holds so much, in characters.
    pub fn holds(&mut self, rank: usize, at_ns: u64, found: usize) {
        let most = footprint_max(self.plan);
        self.tally.footprint_percent_max = self.tally.footprint_percent_max.max((100 * found / most) as u64);
        if found > most {
            let text = format!("it holds {found} characters, a job with these settings at most {most}");
            self.object(JudgeKind::Memory, Some(rank), at_ns, text);
        }
    }

    /// A collective has returned.
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
            // The caller has what it gave; what came is beside it.
            if result != self.plan.gradient(rank, op) {
                return Err((JudgeKind::Exact, "the update was skipped, but the result is not what was given".into()));
            }
            partial
                .ok_or((JudgeKind::Reported, "the update was skipped, and what came of it is not there".to_owned()))?
        };
        let (segment, stream) = (self.segments[rank], call.stream_id().filter(|_| self.plan.settings.repair));
        let count = values.len().div_ceil(LANES);
        let lacking = stream.and_then(|stream| self.lacking.get(&(rank, segment, stream)));
        let lacking: Vec<bool> =
            (0..count).map(|at| act == Act::Applied && lacking.is_some_and(|all| all[at])).collect();
        let may_hold_corrections = lacking.iter().any(|is| *is);
        if report.repair.corrected && !may_hold_corrections {
            return Err((JudgeKind::Exact, "it is said to hold corrections, but nothing was missing before".into()));
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

    /// Who is in the beats of a result that travels as it is: each is a mean bit for bit. Of what is reported missing, `missing`
    /// keeps what is.
    fn exact_beats(&mut self, seen: &Seen<'_>, layout: &Layout, missing: &mut [bool]) -> Result<Beats, Objection> {
        let &Seen { rank, op, members, act, values, first_beat, lacking, .. } = seen;
        let (stamp, allowed) = (self.plan.stamp(op), self.callers[op as usize] & members);
        let has_card = self.plan.has_card(rank);
        // A card sends zeros where nobody contributed to a beat, if the packet has other beats.
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
                    // A card says that a shard is not whole, and not what is missing in it.
                    missing[at] &= act != Act::Applied;
                    there[at] = true;
                    let Some(set) = stamp.contributors(found, first, allowed) else {
                        let may: Vec<_> = ranks_of(allowed).collect();
                        return Err((
                            JudgeKind::Exact,
                            format!("elements from {first} on are no mean of any of {may:?}: {found:?}"),
                        ));
                    };
                    sets[at] = Some(set);
                    self.know(op, members, first_beat + at, Mean::Of(set))?;
                }
            }
        }
        Ok(Beats { sets, there })
    }

    /// What a report says of itself must add up.
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
                format!("{} bytes are reported lost, the stages say {lost}", report.lost_bytes),
            ));
        }
        Ok(())
    }

    /// All that have agreed must have agreed on the same.
    fn check_agreed(&mut self, op: u32, members: u64, report: &Report) -> Result<(), Objection> {
        if !report.agreed || matches!(self.plan.calls[op as usize].stream, Stream::OneOff) {
            return Ok(());
        }
        let skips = report.action != UpdateAction::Apply;
        if *self.agreed.entry((op, members)).or_insert(skips) == skips {
            return Ok(());
        }
        Err((JudgeKind::Replicas, format!("{:?} is said to be agreed on, and another rank does not", report.action)))
    }

    /// What a rank's own shard is the mean of is what it received, and what it has of others is what it received of them.
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
            // Before it is returned, what was lost may have been fetched.
            // Zeros of a card in place of a beat to which nobody contributed look like a loss if it is not said what is missing.
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
            return Err((JudgeKind::Reported, "its own contribution is said to be in, and is not".into()));
        }
        Ok(())
    }

    /// After an all-gather: the part of each rank as it was given, or zeros that are reported.
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
                // As bf16, each value is rounded once.
                let most = if self.plan.is_bf16(op) { 1.0 / 256.0 } else { 0.0 };
                let is_it = found.iter().zip(&given).all(|(found, given)| (found - given).abs() <= most * given);
                if is_there && !(took_part && is_it) {
                    return Err((
                        JudgeKind::Exact,
                        format!("elements from {first} on are not what rank {of} gave: {found:?}"),
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

    /// All ranks have the same mean.
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
                    "elements from {} on are of {}, another rank has those of {}",
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

    /// The job is over; whether this rank has made all calls.
    pub fn ended(&mut self, rank: usize, is_done: bool, at_ns: u64) {
        if !is_done && self.must_go_on(rank) {
            self.object(
                JudgeKind::Continues,
                Some(rank),
                at_ns,
                "nothing befell it, and it has not made all calls".into(),
            );
        }
    }

    /// What a rank has in the end of a stream.
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

    /// What can only be judged when all is known.
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

    /// Ranks of the view that is in force have run a collective in no other, and encoded it if the view says so.
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

/// Which stamps are reported missing: whole ones.
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

    /// Of three ranks with cards one that nothing befell fell behind and was dropped, as it may be, and then a harmed one crashed: the two that
    /// were unharmed are no majority of those that take part.
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
