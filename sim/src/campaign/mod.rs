//! The campaign: whole jobs in virtual time, each from one seed, under faults, before independent judges.
//!
//! A job is a program that all ranks run (declared buckets and one-off collectives), over the protocol's own code
//! ([`optireduce_core::Collectives`]) and its data planes. The simulator is the rest: time, packets, control messages,
//! hosts that freeze, crash and come back. Faults come at random times, and at chosen moments of the protocol; successive seeds go
//! through all pairs of moment and fault. Judges look at what callers give and get, and share no code with the protocol.
//! A seed that fails is made smaller, and replays with one command.
//!
//! Limits: what is forged with the address and the tag of a rank is not among the faults: jobs here have no secret. Broadcasts over the
//! control channel are not among the calls: their code waits with threads.

mod befall;
mod card;
pub mod cli;
mod coverage;
mod fault;
mod frames;
mod job;
mod judge;
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

/// What came of a job.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What was judged.
    pub tally: Tally,
    /// What a judge objects to.
    pub violation: Option<Violation>,
    /// What happened, if it was recorded.
    pub timeline: String,
    /// The same as a picture (SVG), if it was recorded.
    pub picture: String,
    coverage: Coverage,
}

/// Runs the job of a seed.
pub fn run(seed: u64, edits: &Edits, records: bool) -> Outcome {
    let plan = JobPlan::new(seed, edits);
    // What is logged of a fault is not news here, only a state that was seen.
    let states = States::default();
    let work = || catch_unwind(AssertUnwindSafe(|| run_plan(&plan, &states, records)));
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
