//! A job as drawn from its seed: ranks, settings, calls and faults.

use optireduce_core::protocol::{HadamardMode, Kind, Stream};
use optireduce_core::{Call, Repair};

use super::fault::{self, Fault, FaultKind};
use super::settings::Settings;
use super::styles;
use super::values::{LANES, RANKS_MAX, Stamp, ranks_of};
use crate::random::Random;

/// Changes to the job of a seed, used for minimising.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// Faults to keep, by number; `None` keeps all.
    pub only: Option<Vec<usize>>,
    /// Replaces the drawn number of ranks.
    pub ranks: Option<usize>,
    /// Limits the calls of the program.
    pub calls: Option<u32>,
    /// Restricts the job to exact, repaired all-reduces.
    pub plain: bool,
    /// Seeds of successive moves of the faults' triggers.
    pub shifts: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct JobPlan {
    pub seed: u64,
    pub ranks: usize,
    pub settings: Settings,
    /// Indexed by collective.
    pub calls: Vec<Call>,
    /// With their original numbers.
    pub faults: Vec<(usize, Fault)>,
    /// Ranks that faults may affect. The next one, cyclically, is a rank's neighbour.
    pub targets: Vec<usize>,
    /// Ranks with a card (bit set).
    pub cards: u64,
    pub loss: f64,
    pub delay_ns: (u64, u64),
    pub control_ns: (u64, u64),
    /// Largest pause between two calls.
    pub pause_ns: u64,
    pub depth: usize,
    /// Planted fault that a judge must object to.
    #[cfg(test)]
    pub sabotage: Option<super::sabotage::Sabotage>,
}

impl JobPlan {
    pub fn new(seed: u64, edits: &Edits) -> Self {
        let mut random = Random::new(seed, 1);
        let drawn = match random.below(40) {
            0 => random.between(17, RANKS_MAX as u64),
            1..=4 => random.between(9, 16),
            5..=15 => random.between(5, 8),
            _ => random.between(2, 5),
        };
        let ranks = edits.ranks.unwrap_or(drawn as usize).clamp(2, RANKS_MAX);
        let mut settings = Settings::draw(&mut random);
        let (pause_ns, depth) = (random.one_of(&[20_000, 200_000, 1_000_000]), random.one_of(&[1, 1, 1, 2, 3]));
        let count = if ranks > 16 { 12 } else { random.between(10, 60) as u32 };
        // A separate stream keeps the other properties of existing seeds.
        let anew = if Random::new(seed, 8).chance(0.5) { Anew::SameNumber } else { Anew::OtherNumber };
        let cards = cards(seed, ranks);
        if cards != 0 {
            settings.fit_cards(ranks);
        }
        let mut calls = program(&mut Random::new(seed, 2), count, ranks, anew, cards != 0);
        if !edits.plain {
            styles::draw(&mut Random::new(seed, 11), &mut calls, ranks, &mut settings, cards != 0);
        }
        let calls: Vec<_> = calls.into_iter().take(edits.calls.unwrap_or(u32::MAX) as usize).collect();

        let mut random = Random::new(seed, 3);
        let quiet = random.chance(0.08);
        // Mostly a minority: the others must then continue.
        let victims = if random.chance(0.8) { (ranks - 1) / 2 } else { ranks };
        let first = random.below(ranks as u64) as usize;
        let targets: Vec<_> = (0..victims).map(|of| (first + of) % ranks).collect();
        let span_ns = u64::from(count) * (pause_ns / 2 + settings.bound_ns / 4);
        let faults = if quiet || targets.is_empty() { 0 } else { random.between(1, 6) };
        let (views, bound_ns) = (settings.silent_ops.is_some(), settings.bound_ns);
        let scope = fault::Scope { seed, targets: &targets, span_ns, bound_ns, views, cards: cards != 0 };
        let mut faults = fault::draw(&mut random, faults, &scope);
        if !quiet && !targets.is_empty() {
            faults.extend(fault::draw_later(&mut Random::new(seed, 10), &scope));
        }
        for shift in &edits.shifts {
            fault::shift(&mut Random::new(seed ^ shift, 12), &mut faults, &scope);
        }
        let is_kept = |number: &usize| edits.only.as_ref().is_none_or(|only| only.contains(number));
        let faults = faults.into_iter().enumerate().filter(|(number, _)| is_kept(number)).collect();
        let loss = if quiet { 0.0 } else { random.one_of(&[0.0, 0.0, 0.001, 0.01, 0.03]) };
        let delay_ns = random.one_of(&[(1000, 30_000), (5000, 10_000), (1000, 150_000)]);
        let control_ns = random.one_of(&[(20_000, 200_000), (5000, 50_000), (100_000, 1_000_000)]);
        Self {
            seed,
            ranks,
            settings,
            calls,
            faults,
            targets,
            cards,
            loss,
            delay_ns,
            control_ns,
            pause_ns,
            depth,
            #[cfg(test)]
            sabotage: None,
        }
    }

    pub fn job_tag(&self) -> u64 {
        self.seed | 1 << 63
    }

    pub fn has_card(&self, rank: usize) -> bool {
        self.cards >> rank & 1 == 1
    }

    /// Returns `rank` or the next target with a card.
    pub fn rank_with_card(&self, rank: usize) -> Option<usize> {
        let at = self.targets.iter().position(|of| *of == rank).unwrap_or(0);
        let next = self.targets.iter().cycle().skip(at).take(self.targets.len());
        next.copied().find(|rank| self.has_card(*rank))
    }

    pub fn stamp(&self, op: u32) -> Stamp {
        Stamp { seed: self.seed, op, bucket: self.calls[op as usize].bucket, ranks: self.ranks }
    }

    pub fn gradient(&self, rank: usize, op: u32) -> Vec<f32> {
        let call = &self.calls[op as usize];
        let part = if call.kind == Kind::AllGather { self.part(rank, call.elements) } else { 0..call.elements };
        self.stamp(op).gradient(rank, part.start, part.len())
    }

    /// Returns a rank's part of a partial collective. Parts are equal, see [`program`].
    pub fn part(&self, rank: usize, elements: usize) -> std::ops::Range<usize> {
        let length = elements / self.ranks;
        rank * length..(rank + 1) * length
    }

    /// Returns an upper bound of the windows of a collective.
    pub fn windows(&self, op: u32) -> u64 {
        // Equal parts of partial collectives may leave up to half a window unused.
        let beats = self.settings.window_beats.div_ceil(2);
        let call = &self.calls[op as usize];
        // The tail of an encoded bucket needs one window per set bit of its length.
        let tails = if call.hadamard == HadamardMode::Off { 0 } else { 2 };
        (call.elements.div_ceil(LANES).div_ceil(beats).max(1) + tails) as u64
    }

    pub fn is_bf16(&self, op: u32) -> bool {
        self.calls[op as usize].bf16.unwrap_or(self.settings.bf16)
    }

    /// Returns whether results of the bucket may differ from the exact mean.
    pub fn is_inexact(&self, op: u32) -> bool {
        self.is_bf16(op) || self.calls[op as usize].hadamard != HadamardMode::Off
    }

    /// Returns the repair of losses of the broadcast stage.
    pub fn repair(&self, op: u32) -> Repair {
        if self.settings.repair { self.calls[op as usize].repair } else { Repair::Off }
    }

    /// Returns whether losses of the broadcast stage are repaired.
    pub fn is_repaired(&self, op: u32) -> bool {
        self.repair(op) != Repair::Off
    }

    /// Returns the bucket that is declared again under its number before collective `op`.
    pub fn declared_anew(&self, op: u32) -> Option<u16> {
        let call = self.calls[op as usize];
        let before = self.calls[..op as usize].iter().rfind(|before| before.bucket == call.bucket)?;
        (before.stream != call.stream).then_some(call.bucket)
    }

    /// Returns the rank that shares a fault with `rank`.
    pub fn neighbour(&self, rank: usize) -> usize {
        let at = self.targets.iter().position(|of| *of == rank).unwrap_or(0);
        let next = self.targets.get((at + 1) % self.targets.len().max(1)).copied().filter(|of| *of != rank);
        next.unwrap_or((rank + 1) % self.ranks)
    }

    /// Returns the ranks unaffected by faults, if they are a majority; these must continue.
    pub fn unharmed(&self) -> Option<Vec<bool>> {
        let harms = self.faults.iter().any(|(_, fault)| fault.kind.may_cost_a_rank()) || self.may_be_silent();
        // A fault aimed at a target may also affect its neighbour.
        let is_shared = self.faults.iter().any(|(_, fault)| fault.kind.is_shared());
        let shares = |rank: usize| is_shared && self.targets.iter().any(|target| self.neighbour(*target) == rank);
        let is_harmed = |rank: usize| self.targets.contains(&rank) || shares(rank);
        let unharmed: Vec<bool> = (0..self.ranks).map(|rank| !harms || !is_harmed(rank)).collect();
        let many = 2 * unharmed.iter().filter(|is| **is).count() > self.ranks;
        many.then_some(unharmed)
    }

    /// Returns whether a slow host may be silent long enough to be dropped.
    fn may_be_silent(&self) -> bool {
        let slow = self.faults.iter().filter(|(_, fault)| fault.kind == FaultKind::Slow);
        let slow_ns: u64 = slow.map(|(_, fault)| fault.lasts_ns).sum();
        // Collectives in progress still send for up to two bounds.
        let silent_ns = slow_ns + self.pause_ns + 2 * self.settings.bound_ns;
        slow_ns > 0 && self.settings.silent_ops.is_some() && silent_ns >= self.settings.silent_ns()
    }
}

impl std::fmt::Display for JobPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { seed, ranks, calls, .. } = self;
        writeln!(
            f,
            "seed {seed}: {ranks} ranks, {} calls, {} at a time, pauses up to {} us",
            calls.len(),
            self.depth,
            self.pause_ns / 1000
        )?;
        if self.cards != 0 {
            writeln!(f, "ranks with cards: {:?}", ranks_of(self.cards).collect::<Vec<_>>())?;
        }
        let (delay, control) = (self.delay_ns, self.control_ns);
        writeln!(
            f,
            "network: loss {}, delay {} to {} us, control messages {} to {} us",
            self.loss,
            delay.0 / 1000,
            delay.1 / 1000,
            control.0 / 1000,
            control.1 / 1000
        )?;
        writeln!(f, "settings: {:?}", self.settings)?;
        for (op, call) in calls.iter().enumerate() {
            let (bf16, repair) = (self.is_bf16(op as u32), self.repair(op as u32));
            writeln!(f, "call {op}: {call}, bf16 {bf16}, repair {repair}, {:?}", call.stream)?;
        }
        writeln!(f, "faults affect ranks {:?}", self.targets)?;
        self.faults.iter().try_for_each(|(number, fault)| writeln!(f, "fault {number}: {fault}"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anew {
    SameNumber,
    OtherNumber,
}

/// Draws the ranks with cards: all in two of nine jobs, some in two, none in five.
fn cards(seed: u64, ranks: usize) -> u64 {
    let mut random = Random::new(seed, 9);
    let all = u64::MAX >> (RANKS_MAX - ranks);
    match random.below(9) {
        0 | 1 => all,
        2 | 3 => all & random.next_u64(),
        _ => 0,
    }
}

/// Draws the calls: declared buckets, some redeclared with another length, and one-off
/// collectives. Partial collectives have parts of whole beats and need a job without cards.
fn program(random: &mut Random, count: u32, ranks: usize, anew: Anew, cards: bool) -> Vec<Call> {
    let elements_max = if ranks > 16 { 600 } else { 3000 };
    let length = |random: &mut Random| {
        let most = if random.below(8) == 0 { 64 } else { elements_max };
        let elements = random.between(1, most);
        // A shortened last stamp must still identify its contributors.
        let named = Stamp::set_lanes(ranks) as u64 + 1;
        if elements.is_multiple_of(LANES as u64) || elements % LANES as u64 >= named {
            elements
        } else {
            elements + named
        }
    };
    let declared = random.between(1, 3);
    let mut buckets: Vec<_> = (0..declared).map(|bucket| (bucket as u16, length(random) as usize, 0)).collect();
    let one_offs = random.one_of(&[0, 5, 3]);
    let mut calls = Vec::new();
    for _ in 0..count {
        if one_offs > 0 && random.below(one_offs) == 0 {
            let kind = random.one_of(&[Kind::AllReduce, Kind::AllReduce, Kind::ReduceScatter, Kind::AllGather]);
            let kind = if cards { Kind::AllReduce } else { kind };
            let bucket = 100 + random.below(3) as u16;
            let elements = match kind {
                Kind::AllReduce => length(random) as usize,
                _ => random.between(1, 6) as usize * LANES * ranks,
            };
            calls.push(Call::one_off(kind, bucket, elements));
            continue;
        }
        let at = random.below(declared) as usize;
        if random.chance(0.02) {
            let (bucket, _, generation) = buckets[at];
            let bucket = if anew == Anew::SameNumber { bucket } else { bucket + 10 };
            buckets[at] = (bucket, length(random) as usize, generation + 1);
        }
        let (bucket, elements, generation) = buckets[at];
        calls.push(Call {
            stream: Stream::Declared { generation },
            ..Call::declared(Kind::AllReduce, bucket, elements, 0)
        });
    }
    calls
}
