//! Campaign: whole jobs in virtual time under injected faults, each drawn from one seed.
//!
//! All ranks run one program of declared buckets and one-off collectives, over the protocol's own
//! code ([`optireduce_core::Collectives`]) and its data planes. The simulator adds time, packets,
//! control messages, and hosts that freeze, crash and restart.
//!
//! Faults start at random times and at chosen transitions of the protocol. Successive seeds aim at
//! all pairs of transition and fault. Independent judges check what callers pass and receive. A
//! failing job is minimised, and one command replays it.
//!
//! A quarter of the seeds also run a job on [two levels](optireduce_core::levels).
//!
//! Limits: jobs have no secret, so packets forged with a rank's address and tag are not among the
//! faults. Broadcasts over the control channel block threads, so they are not among the calls.

mod befall;
mod card;
pub mod cli;
mod coverage;
mod fault;
mod frames;
mod job;
mod judge;
mod levels;
mod memory;
mod picture;
mod plan;
mod rank;
pub mod runner;
#[cfg(test)]
mod sabotage;
mod serve;
mod settings;
mod states;
mod streams;
mod styles;
mod tally;
mod timeline;
mod values;
mod wire;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use judge::{JudgeKind, Violation};
pub use plan::Edits;
pub use tally::Tally;

use coverage::Coverage;
use job::Job;
use plan::JobPlan;
use states::States;

use crate::random::Random;

/// Fraction of the seeds that also run a job on two levels.
const LEVELS: f64 = 0.25;

/// Outcome of a job.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Counts of the judges.
    pub tally: Tally,
    /// Objection of a judge.
    pub violation: Option<Violation>,
    /// Empty unless recorded.
    pub timeline: String,
    /// SVG; empty unless recorded.
    pub picture: String,
    coverage: Coverage,
}

/// Runs the job of a seed. `records` enables timeline and picture.
pub fn run(seed: u64, edits: &Edits, records: bool) -> Outcome {
    let plan = JobPlan::new(seed, edits);
    // Injected faults log warnings. This subscriber only counts states.
    let states = States::default();
    let run_all = || {
        let mut outcome = run_plan(&plan, &states, records);
        // Beside the job, since its seeds are known.
        if *edits == Edits::default() && outcome.violation.is_none() && Random::new(seed, 19).chance(LEVELS) {
            outcome.violation = levels::run(seed, None, &mut outcome.tally);
        }
        outcome
    };
    let work = || catch_unwind(AssertUnwindSafe(run_all));
    let result = tracing::subscriber::with_default(states.clone(), work);
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default();
        let violation = Violation { judge: JudgeKind::Panic, rank: None, at_ns: 0, text };
        Outcome { violation: Some(violation), ..Outcome::default() }
    })
}

fn run_plan(plan: &JobPlan, states: &States, records: bool) -> Outcome {
    let mut job = match Job::new(plan, states.clone(), records) {
        Ok(job) => job,
        Err(error) => {
            let violation = Violation { judge: JudgeKind::Sound, rank: None, at_ns: 0, text: error.to_string() };
            return Outcome { violation: Some(violation), ..Outcome::default() };
        }
    };
    job.run();
    let judge = &job.judge;
    Outcome {
        tally: judge.tally,
        violation: judge.violation.clone(),
        timeline: job.timeline.text(),
        picture: if records {
            picture::svg(plan, &job.timeline.entries, judge.violation.as_ref())
        } else {
            String::new()
        },
        coverage: Coverage { states: states.take(), ..job.coverage.clone() },
    }
}
