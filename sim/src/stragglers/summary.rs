//! Summaries over seeds, and tables of them.

use serde::Serialize;

use super::{Condition, Contender, Run};

/// 97.5 % quantiles of Student's t distribution with 1, 2, ... degrees of freedom.
const STUDENT: [f64; 29] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
];
pub(super) const SEEDS_MAX: usize = STUDENT.len() + 1;

/// Summary of a contender under a condition.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)] // described above
pub struct Summary {
    pub condition: Condition,
    pub contender: Contender,
    /// Median over the runs; `null` if most missed the target.
    pub seconds_to_target: Option<f64>,
    /// Mean over the runs.
    pub accuracy: f64,
    /// Half of the 95 % interval of [`accuracy`](Self::accuracy); `null` with one run.
    pub accuracy_interval: Option<f64>,
    /// Mean over the runs.
    pub accuracy_least: f64,
    /// Mean over the runs of [`Run::distance`].
    pub distance: f64,
    /// All workers together, per second of virtual time.
    pub steps_per_s: f64,
    /// The last worker alone.
    pub steps_per_s_last: f64,
    /// Mean wait after a step; `null` for [`Contender::AllReduce`].
    pub waited_ms: Option<f64>,
    /// Fraction of peers' bytes that were late; `null` for [`Contender::AllReduce`].
    pub lost_fraction: Option<f64>,
    /// Skipped all-reduces per worker and run.
    pub skipped: f64,
    /// Halts per worker and run.
    pub halts: f64,
    pub runs: Vec<Run>,
}

impl Summary {
    /// Summarises at least one run of `seconds` each.
    pub fn new(condition: Condition, contender: Contender, runs: Vec<Run>, seconds: f64) -> Self {
        let accuracies: Vec<f64> = runs.iter().map(|run| run.accuracy).collect();
        let counts = || runs.iter().flat_map(|run| &run.counts);
        let sum = |of: fn(&super::Counts) -> u64| counts().map(of).sum::<u64>() as f64;
        let ratio = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
        let per_worker = |part: f64| ratio(part, counts().count() as f64).unwrap_or(0.0);
        let steps = |of: fn(&[u64]) -> u64| mean(runs.iter().map(|run| of(&run.steps) as f64)) / seconds;
        Self {
            condition,
            contender,
            seconds_to_target: median(runs.iter().map(|run| run.seconds_to_target)),
            accuracy: mean(accuracies.iter().copied()),
            accuracy_interval: interval(&accuracies),
            accuracy_least: mean(runs.iter().map(|run| run.accuracy_least)),
            distance: mean(runs.iter().map(|run| run.distance)),
            steps_per_s: steps(|steps| steps.iter().sum()),
            steps_per_s_last: steps(|steps| steps.last().copied().unwrap_or(0)),
            waited_ms: ratio(sum(|one| one.waited_ns) / 1e6, sum(|one| one.collectives)),
            lost_fraction: ratio(sum(|one| one.lost_bytes), sum(|one| one.expected_bytes)),
            skipped: per_worker(sum(|one| one.skipped)),
            halts: per_worker(sum(|one| one.halts)),
            runs,
        }
    }

    fn reached(&self) -> usize {
        self.runs.iter().filter(|run| run.seconds_to_target.is_some()).count()
    }

    fn line(&self, beside: Option<&Self>) -> String {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        let time = self.seconds_to_target.map(|seconds| format!("{seconds:.2}"));
        let sooner = beside.and_then(|other| Some(other.seconds_to_target? / self.seconds_to_target?));
        format!(
            "{:17} {:>7} {:>6} {:>8} {:>11} {:6.1} {:9.2} {:8.1} {:7.1} {:>8} {:>7} {:>8}",
            name(&self.contender),
            or_none(time),
            or_none(sooner.map(|ratio| format!("{ratio:.2}x"))),
            format!("{} of {}", self.reached(), self.runs.len()),
            format!(
                "{:.1}{}",
                100.0 * self.accuracy,
                self.accuracy_interval.map_or(String::new(), |half| format!(" +-{:.1}", 100.0 * half))
            ),
            100.0 * self.accuracy_least,
            self.distance,
            self.steps_per_s,
            self.steps_per_s_last,
            or_none(self.waited_ms.map(|ms| format!("{ms:.1}"))),
            or_none(self.lost_fraction.map(|part| format!("{:.1}", 100.0 * part))),
            if self.lost_fraction.is_some() { format!("{:.0}", self.skipped) } else { "-".into() },
        )
    }
}

pub(super) fn tables(summaries: &[Summary], target: f64) -> String {
    let mut text = String::new();
    for condition in super::distinct(summaries.iter().map(|one| one.condition)) {
        let own = || summaries.iter().filter(|one| one.condition == condition);
        let beside = own().find(|one| one.contender == Contender::AllReduce);
        let target = format!("to {:.0} %", 100.0 * target);
        text += &format!(
            "\n{:17} {target:>7} {:>6} {:>8} {:>11} {:>6} {:>9} {:>8} {:>7} {:>8} {:>7} {:>8}\n",
            name(&condition),
            "sooner",
            "reached",
            "accuracy",
            "least",
            "distance",
            "steps/s",
            "last's",
            "wait ms",
            "lost %",
            "skipped"
        );
        own().for_each(|one| text += &format!("{}\n", one.line(beside)));
    }
    text + LEGEND
}

const LEGEND: &str = "
Columns: virtual seconds until the mean of the workers' models reaches the test accuracy (median over the seeds); speedup over all-reduces;
runs that reached it; final accuracy in % (mean over the seeds, 95 % interval) and the lowest one of a worker's model; largest distance of a
worker's model from the mean; training steps per second of all workers and of the last one; wait of a worker after a step; bytes that were
late; updates per worker skipped because of losses.
";

/// Name on the command line.
pub(super) fn name(value: &impl clap::ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1);
    values.sum::<f64>() / count as f64
}

/// The later one of two middle values. `None` counts as the longest time.
fn median(times: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let mut times: Vec<Option<f64>> = times.collect();
    times.sort_by(|one, other| one.unwrap_or(f64::INFINITY).total_cmp(&other.unwrap_or(f64::INFINITY)));
    times.get(times.len() / 2).copied().flatten()
}

fn interval(values: &[f64]) -> Option<f64> {
    let quantile = STUDENT.get(values.len().checked_sub(2)?)?;
    let mean = mean(values.iter().copied());
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64;
    Some(quantile * (variance / values.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_intervals_are_those_of_the_textbook() {
        assert_eq!(median([Some(3.0), None, Some(1.0)].into_iter()), Some(3.0));
        assert_eq!(median([None, None, Some(1.0)].into_iter()), None);
        assert_eq!(median([Some(2.0), Some(1.0)].into_iter()), Some(2.0));
        assert_eq!((interval(&[1.0]), interval(&[])), (None, None));
        // The mean of 1, 2 and 3 has a standard error of 1 / sqrt(3).
        let half = interval(&[1.0, 2.0, 3.0]).unwrap();
        assert!((half - 4.303 / 3f64.sqrt()).abs() < 1e-12, "{half}");
        assert!(interval(&[0.5; SEEDS_MAX]).is_some() && interval(&[0.5; SEEDS_MAX + 1]).is_none());
    }
}
