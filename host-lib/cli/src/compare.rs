//! `bench allreduce --compare`: ratios of this run to an earlier run with `--json`.
//!
//! A ratio is of medians. Its spread goes from the minimum of this run over the baseline's maximum
//! to the maximum of this run over the baseline's minimum.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use serde::Deserialize;

use crate::times::{percentile, size_text};

const FILE_BYTES_MAX: u64 = 64 << 20;

#[derive(Clone, Debug, Deserialize)]
pub struct Figures {
    engine: String,
    ranks: usize,
    size_bytes: usize,
    p50_ms: f64,
    p99_ms: f64,
    cpu_s_per_gb: f64,
    received_fraction: f64,
}

/// Kind of a row: engine, ranks and size in bytes.
type Key = (String, usize, usize);

#[derive(Debug, Default)]
pub struct Rows(BTreeMap<Key, Vec<Figures>>);

impl Rows {
    /// Reads a file of limited length, since it may be a pipe or device without an end.
    pub fn read(path: &str) -> Result<Self, String> {
        let fail = |problem: String| format!("--compare {path}: {problem}");
        let mut text = String::new();
        let file = File::open(path).map_err(|error| fail(error.to_string()))?;
        let read = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(|error| fail(error.to_string()))?;
        if read as u64 > FILE_BYTES_MAX {
            return Err(fail(format!("found more than {} MiB, expected rows of --json", FILE_BYTES_MAX >> 20)));
        }
        Self::parse(path, &text)
    }

    /// Parses the output of `--json`. `name` appears in errors.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let mut rows = Self::default();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let figures: Figures = serde_json::from_str(line).map_err(|error| {
                format!("{name}, line {}: {error}; expected a row of `optireduce bench allreduce --json`", at + 1)
            })?;
            let numbers = [figures.p50_ms, figures.p99_ms, figures.cpu_s_per_gb, figures.received_fraction];
            if numbers.iter().any(|number| !number.is_finite() || *number < 0.0) {
                return Err(format!("{name}, line {}: a figure is negative", at + 1));
            }
            let key = (figures.engine.clone(), figures.ranks, figures.size_bytes);
            rows.0.entry(key).or_default().push(figures);
        }
        if rows.0.is_empty() { Err(format!("{name}: no rows; expected some to compare with")) } else { Ok(rows) }
    }

    pub fn compare(&self, baseline: &Self) -> Vec<String> {
        let mut lines = vec![
            "\nThis run over the baseline, medians [min, max]; p50, p99 and CPU below 1 are better\n\
             engine ranks       size    rows                  p50                  p99            cpu s/GB  received before -> now"
                .to_string(),
        ];
        for (key, now) in &self.0 {
            let (engine, ranks, size) = (&key.0, key.1, size_text(key.2));
            let Some(then) = baseline.0.get(key) else {
                lines.push(format!("{engine:6} {ranks:5} {size:>10}  not in the baseline"));
                continue;
            };
            let ratio =
                |of: fn(&Figures) -> f64| Ratio::new(then.iter().map(of).collect(), now.iter().map(of).collect());
            let received = |rows: &[Figures]| 100.0 * median(rows.iter().map(|row| row.received_fraction).collect());
            lines.push(format!(
                "{engine:6} {ranks:5} {size:>10} {:>7} {} {} {}  {:.3}% -> {:.3}%",
                format!("{}/{}", now.len(), then.len()),
                ratio(|row| row.p50_ms),
                ratio(|row| row.p99_ms),
                ratio(|row| row.cpu_s_per_gb),
                received(then),
                received(now)
            ));
        }
        lines
    }
}

#[derive(Debug, PartialEq)]
struct Ratio {
    of_medians: f64,
    least: f64,
    most: f64,
}

impl Ratio {
    fn new(then: Vec<f64>, now: Vec<f64>) -> Self {
        let ends = |all: &[f64]| all.iter().fold((f64::INFINITY, 0.0), |(low, high), x| (x.min(low), x.max(high)));
        let ((then_low, then_high), (now_low, now_high)) = (ends(&then), ends(&now));
        Self { of_medians: median(now) / median(then), least: now_low / then_high, most: now_high / then_low }
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:5.2} [{:5.2}, {:5.2}]", self.of_medians, self.least, self.most)
    }
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    percentile(&all, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(size: usize, p50_ms: f64) -> String {
        format!(
            r#"{{"engine":"udp","ranks":4,"size_bytes":{size},"p50_ms":{p50_ms},"p99_ms":9.0,"cpu_s_per_gb":2.0,"received_fraction":1.0,"iters":20}}"#
        )
    }

    fn rows(lines: &[String]) -> Rows {
        Rows::parse("rows", &lines.join("\n")).unwrap()
    }

    #[test]
    fn a_ratio_is_of_medians_and_its_spread_of_the_ends() {
        let ratio = Ratio::new(vec![2.0, 1.0, 4.0], vec![3.0, 6.0, 2.0]);
        assert_eq!(ratio, Ratio { of_medians: 1.5, least: 0.5, most: 6.0 });
    }

    #[test]
    fn rows_are_compared_with_those_of_their_kind() {
        let now = rows(&[row(1 << 20, 3.0), row(1 << 16, 1.0)]);
        let lines = now.compare(&rows(&[row(1 << 20, 2.0), row(1 << 20, 4.0), row(4096, 1.0)]));
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[1].contains("64 KiB") && lines[1].ends_with("not in the baseline"), "{}", lines[1]);
        assert!(lines[2].contains("1 MiB     1/2  1.50 [ 0.75,  1.50]  1.00 [ 1.00,  1.00]"), "{}", lines[2]);
    }

    #[test]
    fn what_is_no_row_is_named_by_its_line() {
        let parse = |text: &str| Rows::parse("old.jsonl", text).unwrap_err();
        assert!(parse("").starts_with("old.jsonl: no rows"));
        let broken = parse(&format!("{}\n\n{{}}", row(4096, 1.0)));
        assert!(broken.starts_with("old.jsonl, line 3: missing field") && broken.contains("--json"), "{broken}");
        assert!(parse(&row(4096, -1.0)).contains("line 1: a figure is negative"));
    }
}
