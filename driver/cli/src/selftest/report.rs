//! Report of the self-test.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::{Serialize, Serializer};

use super::problem::Problem;
use crate::outcome::table;

/// Counts of a step, by name.
pub type Figures = Vec<(&'static str, u64)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Passed,
    Failed,
    Skipped,
}

#[derive(Debug, Serialize)]
pub struct Step {
    pub name: &'static str,
    pub outcome: Outcome,
    elapsed_us: u64,
    #[serde(serialize_with = "as_map")]
    pub figures: Figures,
    /// Object, found, expected, remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

fn as_map<S: Serializer>(figures: &Figures, serializer: S) -> Result<S::Ok, S::Error> {
    figures.iter().copied().collect::<BTreeMap<_, _>>().serialize(serializer)
}

#[derive(Debug, Serialize)]
pub struct Report {
    card: String,
    seed: u64,
    passed: bool,
    pub steps: Vec<Step>,
}

impl Report {
    pub fn problem(&self) -> Option<String> {
        let failed = self.steps.iter().find(|step| step.outcome == Outcome::Failed)?;
        let problem = failed.problem.as_deref().unwrap_or_default();
        Some(format!("{}: {problem}\nRepeat this test: selftest --seed {}", failed.name, self.seed))
    }

    pub fn describe(&self) -> String {
        let row = |step: &Step| {
            let outcome = match step.outcome {
                Outcome::Passed => "ok",
                Outcome::Failed => "FAILED",
                Outcome::Skipped => "skipped",
            };
            let figures: Vec<String> = step.figures.iter().map(|(name, value)| format!("{name} {value}")).collect();
            [step.name.to_owned(), outcome.to_owned(), format!("{} ms", step.elapsed_us / 1000), figures.join(", ")]
        };
        let rows: Vec<_> = self.steps.iter().map(row).collect();
        let verdict = if self.passed { "passed" } else { "FAILED" };
        format!("{}, seed {}\n{}{verdict}\n", self.card, self.seed, table(&rows))
    }
}

pub struct Steps(Report);

impl Steps {
    pub fn new(card: &str, seed: u64) -> Self {
        Self(Report { card: card.to_owned(), seed, passed: true, steps: Vec::new() })
    }

    /// Runs a step, unless an earlier step failed.
    pub fn run(&mut self, name: &'static str, step: impl FnOnce(&mut Figures) -> Result<(), Problem>) {
        if self.0.passed {
            self.always(name, step);
        } else {
            let (outcome, figures) = (Outcome::Skipped, Figures::new());
            self.0.steps.push(Step { name, outcome, elapsed_us: 0, figures, problem: None });
        }
    }

    pub fn always(&mut self, name: &'static str, step: impl FnOnce(&mut Figures) -> Result<(), Problem>) {
        let begin = Instant::now();
        let mut figures = Figures::new();
        let problem = step(&mut figures).err().map(|problem| problem.to_string());
        let outcome = if problem.is_none() { Outcome::Passed } else { Outcome::Failed };
        self.0.passed &= problem.is_none();
        self.0.steps.push(Step { name, outcome, elapsed_us: begin.elapsed().as_micros() as u64, figures, problem });
    }

    pub fn end(self) -> Report {
        self.0
    }
}
