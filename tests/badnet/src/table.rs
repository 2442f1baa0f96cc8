//! Markdown tables of rows, and their ratios to the goals.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::row::{Condition, Figures, Row};

/// Times by size, number of ranks and MTU, then CPU time and memory. Rows are conditions, columns
/// contenders.
pub fn tables(rows: &[Row]) -> String {
    let mut text = String::new();
    let mut kinds: Vec<(bool, usize, u16, usize)> = rows
        .iter()
        .map(|row| (row.condition != Condition::Loopback, row.ranks, row.mtu, row.figures.size_bytes))
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    for (hosts, ranks, mtu, size) in kinds {
        let of: Vec<&Row> = rows
            .iter()
            .filter(|row| (row.condition != Condition::Loopback, row.ranks, row.mtu) == (hosts, ranks, mtu))
            .filter(|row| row.figures.size_bytes == size)
            .collect();
        let place =
            if hosts { format!("{ranks} hosts, MTU {mtu}") } else { format!("{ranks} ranks on one host, loopback") };
        let _ = writeln!(text, "\n{}, {place}: p50 / p99 in ms\n", size_name(size));
        table(
            &mut text,
            &of,
            |rows| {
                let received = median(rows, |figures| figures.received_fraction);
                let lost = if received < 0.99995 {
                    format!(" ({:.2} % lost)", 100.0 * (1.0 - received))
                } else {
                    String::new()
                };
                let [p50, p99] = [median(rows, |figures| figures.p50_ms), median(rows, |figures| figures.p99_ms)];
                format!("{} / {}{lost}", short(p50), short(p99))
            },
            Some(advice),
        );
    }
    let clean: Vec<&Row> = rows.iter().filter(|row| row.condition == Condition::Clean).collect();
    let mut kinds: Vec<(u16, usize)> = clean.iter().map(|row| (row.mtu, row.figures.size_bytes)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for (mtu, size) in kinds {
        let of: Vec<&Row> =
            clean.iter().filter(|row| (row.mtu, row.figures.size_bytes) == (mtu, size)).copied().collect();
        let _ = writeln!(
            text,
            "\n{}, MTU {mtu}: CPU seconds of all ranks a gigabyte, and MB of the largest rank\n",
            size_name(size)
        );
        table(
            &mut text,
            &of,
            |rows| {
                let [cpu, memory] =
                    [median(rows, |figures| figures.cpu_s_per_gb), median(rows, |figures| figures.memory_mb)];
                format!("{} / {memory:.0}", short(cpu))
            },
            None,
        );
    }
    text
}

/// Bounded contenders; all others are exact.
const BOUNDED: [&str; 2] = ["optireduce", "optireduce-shm"];
/// Speedup that is worth a loss.
const WORTH: f64 = 1.1;

/// Content of the column `use`. A bounded contender is named if it is 10 % faster than the best
/// exact one, at the median or at the 99th percentile.
fn advice(rows: &[&Row]) -> String {
    let best = |is_bounded: bool, figure: fn(&Figures) -> f64| {
        let names: BTreeSet<&str> = rows.iter().map(|row| row.contender.as_str()).collect();
        let names = names.into_iter().filter(|name| BOUNDED.contains(name) == is_bounded);
        let figures = names.map(|name| {
            let of: Vec<&Row> = rows.iter().filter(|row| row.contender == name).copied().collect();
            (name, median(&of, figure))
        });
        figures.min_by(|one, other| one.1.total_cmp(&other.1))
    };
    let [p50, p99]: [fn(&Figures) -> f64; 2] = [|figures| figures.p50_ms, |figures| figures.p99_ms];
    let of = |figure| best(true, figure).zip(best(false, figure));
    let Some((((ours, own50), (exact, exact50)), ((tail, own99), (_, exact99)))) = of(p50).zip(of(p99)) else {
        return String::new();
    };
    match (exact50 / own50, exact99 / own99) {
        (ratio, _) if ratio >= WORTH => format!("{ours} {ratio:.2}x"),
        (ratio, gain) if gain >= WORTH => format!("{exact} ({ratio:.2}x); p99: {tail} {gain:.2}x"),
        (ratio, _) => format!("{exact} ({ratio:.2}x)"),
    }
}

/// `advice`: content of a last column, from all rows of a condition.
fn table(text: &mut String, rows: &[&Row], cell: impl Fn(&[&Row]) -> String, advice: Option<fn(&[&Row]) -> String>) {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.contender.as_str()) {
            names.push(&row.contender);
        }
    }
    let mut conditions: Vec<Condition> = rows.iter().map(|row| row.condition).collect();
    conditions.sort_unstable();
    conditions.dedup();
    let mut heads = names.clone();
    heads.extend(advice.map(|_| "use"));
    let _ = writeln!(text, "| | {} |\n|---|{}", heads.join(" | "), "---|".repeat(heads.len()));
    for condition in conditions {
        let _ = write!(text, "| {} |", condition.name());
        for name in &names {
            let here = |row: &&&Row| row.condition == condition && row.contender == *name;
            let here: Vec<&Row> = rows.iter().filter(here).copied().collect();
            let shown = if here.is_empty() { "did not finish".into() } else { cell(&here) };
            let _ = write!(text, " {shown} |");
        }
        if let Some(advice) = advice {
            let here: Vec<&Row> = rows.iter().filter(|row| row.condition == condition).copied().collect();
            let _ = write!(text, " {} |", advice(&here));
        }
        text.push('\n');
    }
}

const SIZES: [usize; 3] = [64 << 10, 1 << 20, 25 << 20];

/// Name, numerator, denominator, and the largest ratio that meets the goal.
type Goal = (String, Option<f64>, Option<f64>, f64);

/// Ratios of medians under one condition, for each size with a goal.
fn ratios(
    of: &impl Fn(&str, Condition, usize, fn(&Figures) -> f64) -> Option<f64>,
    condition: Condition,
    [own, other]: [&str; 2],
    goals: [f64; 3],
) -> impl Iterator<Item = Goal> {
    let p50 = move |contender: &str, size| of(contender, condition, size, |figures| figures.p50_ms);
    SIZES.into_iter().zip(goals).map(move |(size, goal)| {
        let what = format!("{}, {}: p50 of {own} over that of {other}", condition.name(), size_name(size));
        (what, p50(own, size), p50(other, size), goal)
    })
}

/// Markdown tables of ratios and goals.
pub fn goals(rows: &[Row]) -> String {
    const RANKS: usize = 4;
    let mut text = String::new();
    let mut places: Vec<(bool, u16)> = rows.iter().map(|row| (row.condition == Condition::Loopback, row.mtu)).collect();
    places.sort_unstable();
    places.dedup();
    for (over_loopback, mtu) in places {
        let of = |contender: &str, condition: Condition, size: usize, figure: fn(&Figures) -> f64| {
            let here = |row: &&Row| {
                (row.mtu, row.condition, row.figures.size_bytes) == (mtu, condition, size)
                    && row.contender == contender
                    && (!over_loopback || row.ranks == RANKS)
            };
            let here: Vec<&Row> = rows.iter().filter(here).collect();
            (!here.is_empty()).then(|| median(&here, figure))
        };
        let [p50, p99, bound, cpu, memory] = [
            |figures: &Figures| figures.p50_ms,
            |figures: &Figures| figures.p99_ms,
            |figures: &Figures| figures.bound_ms,
            |figures: &Figures| figures.cpu_s_per_gb,
            |figures: &Figures| figures.memory_mb,
        ];
        let (own, shm) = ("optireduce", "optireduce-shm");
        use Condition::{Clean, Loopback, Loss1, Straggler};
        let goals: Vec<Goal> = if over_loopback {
            let with_cpu = SIZES[1..].iter().flat_map(|size| {
                let theirs = of("openmpi", Loopback, *size, cpu);
                [(own, 1.0), (shm, 0.5)].map(|(own, goal)| {
                    let what = format!("loopback, {}: CPU time of {own} over that of openmpi (TCP)", size_name(*size));
                    (what, of(own, Loopback, *size, cpu), theirs, goal)
                })
            });
            ratios(&of, Loopback, [shm, "openmpi-vader"], [1.0, 0.8, 0.8])
                .chain(ratios(&of, Loopback, [own, "gloo"], [0.15, 0.4, 0.9]))
                .chain(with_cpu)
                .collect()
        } else {
            let clean = if mtu > 1500 { [0.25, 0.7, 1.0] } else { [0.4, 1.0, 1.1] };
            let others = SIZES.into_iter().flat_map(|size| {
                let clean = of(own, Clean, size, p50);
                let late_bound = of(own, Straggler, size, bound);
                let with_bound = clean.zip(late_bound).map(|(clean, bound)| clean + bound);
                let [lossy, lossless] = [Loss1, Clean].map(|condition| of(own, condition, size, p99));
                let tuned = of("gloo-tuned", Loss1, size, p99);
                let stage = clean.map(|clean| clean / 2.0);
                let one = |what: &str, ours, theirs, goal| (what.replace("SIZE", &size_name(size)), ours, theirs, goal);
                [
                    one("1 % loss, SIZE: p99 over its own without loss", lossy, lossless, 1.5),
                    one("1 % loss, SIZE: p99 over tuned Gloo's", lossy, tuned, 0.4),
                    one(
                        "straggler, SIZE: p50 over clean plus the bound",
                        of(own, Straggler, size, p50),
                        with_bound,
                        1.0,
                    ),
                    one("straggler, SIZE: bound over the clean stage, half of p50", late_bound, stage, 3.0),
                ]
            });
            let largest = SIZES[2];
            let buckets = of(own, Clean, largest, memory).map(|mb| mb * 1e6 / largest as f64);
            let what = format!("clean, {}: memory of the largest rank over its bucket", size_name(largest));
            let others = others.chain([(what, buckets, Some(1.0), 3.0)]);
            ratios(&of, Clean, [own, "gloo"], clean).chain(others).collect()
        };
        let found: Vec<_> =
            goals.iter().filter_map(|(what, ours, theirs, most)| Some((what, (*ours)? / (*theirs)?, most))).collect();
        if found.is_empty() {
            continue;
        }
        let place = if over_loopback { format!("{RANKS} ranks over loopback") } else { format!("MTU {mtu}") };
        let _ = writeln!(text, "\n{place}\n\n| | found | goal |\n|---|---|---|");
        for (what, ratio, most) in found {
            let _ = writeln!(text, "| {what} | {ratio:.2} | {most}{} |", if ratio <= *most { "" } else { ", missed" });
        }
    }
    text
}

fn median(rows: &[&Row], figure: impl Fn(&Figures) -> f64) -> f64 {
    let mut values: Vec<f64> = rows.iter().map(|row| figure(&row.figures)).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn size_name(bytes: usize) -> String {
    match bytes {
        bytes if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        bytes if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        bytes => format!("{bytes} bytes"),
    }
}

fn short(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(contender: &str, condition: Condition, p50_ms: f64, p99_ms: f64, received_fraction: f64) -> Row {
        let figures = Figures {
            size_bytes: 1 << 20,
            iters: 100,
            p50_ms,
            p90_ms: p50_ms,
            p99_ms,
            max_ms: p99_ms,
            received_fraction,
            cpu_s_per_gb: 1.5,
            memory_mb: 20.0,
            bound_ms: 5.0,
        };
        Row { contender: contender.into(), condition, ranks: 4, mtu: 9000, figures, load: 1.0 }
    }

    #[test]
    fn tables_show_losses_failures_and_goals() {
        let rows = [
            row("optireduce", Condition::Clean, 3.0, 4.0, 1.0),
            row("optireduce", Condition::Loss1, 3.5, 8.0, 0.99),
            row("gloo", Condition::Clean, 7.0, 15.0, 1.0),
            row("gloo-tuned", Condition::Loss1, 7.0, 33.0, 1.0),
            row("optireduce", Condition::Straggler, 6.0, 7.0, 1.0),
        ];
        let text = tables(&rows) + &goals(&rows);
        let clean = "| clean | 3.00 / 4.00 | 7.00 / 15.0 | did not finish | optireduce 2.33x |";
        assert!(text.contains(clean), "{text}");
        let lossy = "| loss1 | 3.50 / 8.00 (1.00 % lost) | did not finish | 7.00 / 33.0 | optireduce 2.00x |";
        assert!(text.contains(lossy), "{text}");
        assert!(text.contains("| clean, 1 MiB: p50 of optireduce over that of gloo | 0.43 | 0.7 |"), "{text}");
        assert!(text.contains("| 1 % loss, 1 MiB: p99 over its own without loss | 2.00 | 1.5, missed |"), "{text}");
        assert!(text.contains("| straggler, 1 MiB: p50 over clean plus the bound | 0.75 | 1 |"), "{text}");
        assert!(
            text.contains("| straggler, 1 MiB: bound over the clean stage, half of p50 | 3.33 | 3, missed |"),
            "{text}"
        );
        assert!(!text.contains("25 MiB") && !text.contains("64 KiB"), "only what was measured: {text}");
        assert!(text.contains("| clean | 1.50 / 20 |"), "{text}");
    }

    #[test]
    fn over_loopback_four_ranks_are_held_to_the_goals_each_way_with_its_like() {
        let mut rows =
            [("optireduce", 3.0), ("optireduce-shm", 2.0), ("gloo", 6.0), ("openmpi-vader", 2.5), ("openmpi", 9.0)]
                .map(|(contender, p50)| row(contender, Condition::Loopback, p50, p50, 1.0));
        let text = goals(&rows);
        assert!(
            text.contains("| loopback, 1 MiB: p50 of optireduce-shm over that of openmpi-vader | 0.80 | 0.8 |"),
            "{text}"
        );
        assert!(
            text.contains("| loopback, 1 MiB: p50 of optireduce over that of gloo | 0.50 | 0.4, missed |"),
            "{text}"
        );
        assert!(
            text.contains(
                "| loopback, 1 MiB: CPU time of optireduce-shm over that of openmpi (TCP) | 1.00 | 0.5, missed |"
            ),
            "{text}"
        );
        rows.iter_mut().for_each(|row| row.ranks = 8);
        assert!(!goals(&rows).contains("missed"), "the goals are those of four ranks");
    }

    #[test]
    fn medians_are_over_turns() {
        let turns = [3.0, 9.0, 5.0].map(|p50| row("gloo", Condition::Clean, p50, p50, 1.0));
        assert!(tables(&turns).contains("| clean | 5.00 / 5.00 |"));
    }

    #[test]
    fn the_best_exact_contender_is_named_where_bounded_is_not_faster_by_a_tenth() {
        let advised = |exact: [(&str, f64, f64); 2]| {
            let ours = row("optireduce", Condition::Loss1, 10.0, 20.0, 0.99);
            let theirs = exact.map(|(name, p50, p99)| row(name, Condition::Loss1, p50, p99, 1.0));
            advice(&[&ours, &theirs[0], &theirs[1]])
        };
        assert_eq!(advised([("gloo", 15.0, 90.0), ("optireduce-tcp", 12.0, 90.0)]), "optireduce 1.20x");
        assert_eq!(
            advised([("gloo", 15.0, 90.0), ("optireduce-tcp", 10.5, 30.0)]),
            "optireduce-tcp (1.05x); p99: optireduce 1.50x"
        );
        assert_eq!(advised([("gloo", 8.0, 21.0), ("optireduce-tcp", 12.0, 90.0)]), "gloo (0.80x)");
        let alone = row("optireduce", Condition::Loss1, 10.0, 20.0, 0.99);
        assert_eq!(advice(&[&alone]), "");
    }
}
