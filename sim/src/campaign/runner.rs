//! Runs many jobs, counts outcomes and minimises failing jobs.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::coverage::Coverage;
use super::fault::{FaultKind, Transition};
use super::plan::JobPlan;
use super::{Edits, Outcome, Tally, Violation, run};
use crate::random::Random;

/// Jobs per round; independent of the threads, so that these do not affect the selection.
const ROUND: usize = 32;

/// End of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After this number of collectives.
    Collectives(u64),
    /// After this wall-clock time.
    Elapsed(Duration),
}

/// Results of a campaign. `damaged` counts packets damaged in transit, `pairs` the possible pairs
/// of transition and fault.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)] // described above
pub struct Report {
    pub first_seed: u64,
    /// One job per seed; a search adds modified jobs.
    pub jobs: u64,
    #[serde(flatten)]
    pub tally: Tally,
    pub packets: u64,
    pub messages: u64,
    pub damaged: u64,
    pub faults: Vec<Count>,
    pub transitions: Vec<Count>,
    pub pairs_hit: usize,
    pub pairs: usize,
    pub pairs_missed: Vec<String>,
    pub states: Vec<Count>,
    /// Observed pairs of state and preceding fault.
    pub state_pairs: usize,
    pub failures: Vec<Failure>,
    pub wall_s: f64,
}

/// Number of occurrences of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)] // described above
pub struct Count {
    pub what: String,
    pub count: u64,
}

/// A job with an objection, and its minimised form.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)] // described above
pub struct Failure {
    pub seed: u64,
    pub violation: Violation,
    /// Objection in the minimised job.
    pub smallest: Violation,
    /// Command that runs the minimised job.
    pub replay: String,
}

/// Runs jobs from `first_seed` on. `progress` runs after each round and may end the campaign.
///
/// With `searches`, half of the jobs are variants of jobs that reached new pairs of transition and
/// fault, or of state and fault, with other triggers. The first seed determines the selection.
pub fn campaign(
    first_seed: u64,
    until: Until,
    threads: usize,
    searches: bool,
    mut progress: impl FnMut(&Report) -> ControlFlow<()>,
) -> Report {
    let started = Instant::now();
    let mut report = Report { first_seed, ..Report::default() };
    let mut coverage = Coverage::default();
    let mut corpus = Corpus { random: Random::new(first_seed, 13), next_seed: first_seed, news: Vec::new() };
    let is_enough = |report: &Report| match until {
        Until::Collectives(count) => report.tally.collectives >= count,
        Until::Elapsed(time) => started.elapsed() >= time,
    };
    while !is_enough(&report) {
        let jobs: Vec<_> = (0..ROUND).map(|number| corpus.next(searches && number % 2 == 1)).collect();
        for ((seed, edits), outcome) in jobs.iter().zip(round(&jobs, threads)) {
            if searches && outcome.coverage.has_news_for(&coverage) {
                corpus.news.push((*seed, edits.clone()));
            }
            report.add(&outcome);
            coverage.add(&outcome.coverage);
            if let Some(violation) = outcome.violation {
                report.failures.push(minimised(*seed, edits.clone(), violation));
            }
        }
        report.wall_s = started.elapsed().as_secs_f64();
        report.cover(&coverage);
        if progress(&report).is_break() {
            break;
        }
    }
    report
}

struct Corpus {
    random: Random,
    next_seed: u64,
    news: Vec<(u64, Edits)>,
}

impl Corpus {
    /// Returns the job of the next seed. `moves` selects a variant of a job with new pairs.
    fn next(&mut self, moves: bool) -> (u64, Edits) {
        if moves && !self.news.is_empty() {
            let most = 1 + self.random.below(self.news.len() as u64);
            let back = self.random.below(most) as usize;
            let (seed, mut edits) = self.news[self.news.len() - 1 - back].clone();
            edits.shifts.push(self.random.below(1 << 32));
            return (seed, edits);
        }
        let seed = self.next_seed;
        self.next_seed = seed.wrapping_add(1);
        (seed, Edits::default())
    }
}

fn round(jobs: &[(u64, Edits)], threads: usize) -> Vec<Outcome> {
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((number, (seed, edits))) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            jobs.get(number).map(|job| (number, job))
        } {
            let outcome = run(*seed, edits, false);
            outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((number, outcome));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|(number, _)| *number);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { seed, violation, smallest, replay } = self;
        write!(f, "FAILED seed {seed}: {violation}\n  smallest: {smallest}\n  replay: {replay}")
    }
}

impl Report {
    fn add(&mut self, outcome: &Outcome) {
        self.jobs += 1;
        self.tally += outcome.tally;
    }

    fn cover(&mut self, coverage: &Coverage) {
        (self.packets, self.messages, self.damaged) = (coverage.datagrams, coverage.messages, coverage.damaged);
        let kinds = FaultKind::ALL.iter();
        let count = |kind: &FaultKind| Count {
            what: kind.name().into(),
            count: coverage.faults.get(kind).copied().unwrap_or(0),
        };
        self.faults = kinds.map(count).collect();
        let transitions = Transition::ALL.iter();
        let count = |of: &Transition| Count {
            what: of.name().into(),
            count: coverage.transitions.get(of).copied().unwrap_or(0),
        };
        self.transitions = transitions.map(count).collect();
        (self.pairs_hit, self.pairs) = coverage.pairs_hit();
        let states = coverage.states();
        self.states = states.into_iter().map(|(what, count)| Count { what: what.into(), count }).collect();
        self.state_pairs = coverage.states.len();
        let pairs = Transition::ALL.iter().flat_map(|of| FaultKind::ALL.iter().map(move |kind| (*of, *kind)));
        let missed = pairs.filter(|pair| !coverage.pairs.contains_key(pair));
        self.pairs_missed = missed.map(|(of, kind)| format!("{} upon {}", kind.name(), of.name())).collect();
    }

    /// Collectives per second of wall-clock time.
    pub fn collectives_per_s(&self) -> f64 {
        self.tally.collectives as f64 / self.wall_s.max(1e-9)
    }
}

/// Minimises a failing job (fewer calls, faults and ranks) while the same judge objects.
pub fn minimised(seed: u64, edits: Edits, violation: Violation) -> Failure {
    let fails = |edits: &Edits| run(seed, edits, false).violation.filter(|found| found.judge == violation.judge);
    let (mut edits, mut smallest) = (edits, violation.clone());
    let attempt = |edits: &mut Edits, changed: Edits, smallest: &mut Violation| match fails(&changed) {
        Some(found) => {
            (*edits, *smallest) = (changed, found);
            true
        }
        None => false,
    };
    loop {
        let plan = JobPlan::new(seed, &edits);
        let mut is_smaller = false;
        let calls = plan.calls.len() as u32;
        for fewer in [calls / 4, calls / 2, calls * 3 / 4, calls.saturating_sub(1)] {
            let changed = Edits { calls: Some(fewer), ..edits.clone() };
            if fewer > 0 && fewer < calls && attempt(&mut edits, changed, &mut smallest) {
                is_smaller = true;
                break;
            }
        }
        if !edits.plain {
            let changed = Edits { plain: true, ..edits.clone() };
            is_smaller |= attempt(&mut edits, changed, &mut smallest);
        }
        let numbers: Vec<usize> = plan.faults.iter().map(|(number, _)| *number).collect();
        for without in &numbers {
            let of = edits.only.clone().unwrap_or_else(|| numbers.clone());
            let only = of.into_iter().filter(|number| number != without).collect();
            let changed = Edits { only: Some(only), ..edits.clone() };
            is_smaller |= attempt(&mut edits, changed, &mut smallest);
        }
        for fewer in 2..plan.ranks {
            let changed = Edits { ranks: Some(fewer), ..edits.clone() };
            if attempt(&mut edits, changed, &mut smallest) {
                is_smaller = true;
                break;
            }
        }
        if !is_smaller {
            return Failure { seed, violation, smallest, replay: edits.command(seed) };
        }
    }
}

impl Edits {
    /// Returns the command that replays the job.
    pub fn command(&self, seed: u64) -> String {
        let mut command = format!("optireduce-sim campaign --seed {seed}");
        if let Some(ranks) = self.ranks {
            command += &format!(" --ranks {ranks}");
        }
        if self.plain {
            command += " --plain";
        }
        if !self.shifts.is_empty() {
            let numbers: Vec<String> = self.shifts.iter().map(ToString::to_string).collect();
            command += &format!(" --shift {}", numbers.join(","));
        }
        if let Some(calls) = self.calls {
            command += &format!(" --calls {calls}");
        }
        if let Some(only) = &self.only {
            let numbers: Vec<String> = only.iter().map(ToString::to_string).collect();
            command += &format!(" --only {}", if only.is_empty() { "none".into() } else { numbers.join(",") });
        }
        command + " --explain"
    }
}
