//! `optireduce run --partial P`: measures averages of models among ready ranks.
//!
//! There are no barriers. For the time of a size, each rank averages repeatedly, after a sleep if
//! it is the delayed one. A row's times exclude the delayed rank, so they show whether others wait
//! for it.
//!
//! Check: each model initially holds its rank everywhere, so no average may leave that range.

use std::time::{Duration, Instant};

use optireduce::PartialOptions;
use optireduce::binding::Launch;
use serde::{Deserialize, Serialize};

use crate::args::RunArgs;
use crate::engine::Engine;
use crate::outcome::{Failure, print};
use crate::times::{percentile, size_text};

#[derive(Debug, Default, Serialize, Deserialize)]
struct Seen {
    is_late: bool,
    /// Durations of averages, waiting included, and the waiting alone.
    ms: Vec<f64>,
    waited_ms: Vec<f64>,
    members: usize,
    lost_bytes: u64,
    repaired_bytes: u64,
    /// Averages that lack data of a member that died or did not answer.
    incomplete: usize,
    /// Values outside the range of the initial models.
    wrong: usize,
}

#[derive(Debug, Serialize)]
struct Row {
    size_bytes: usize,
    group_size: usize,
    ranks: usize,
    /// Of all ranks, and of the ranks with fewest and most.
    averages: usize,
    averages_min: usize,
    averages_max: usize,
    members_mean: f64,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    waited_p50_ms: f64,
    lost_bytes: u64,
    repaired_bytes: u64,
    incomplete: usize,
    wrong: usize,
}

impl Row {
    const HEADER: &'static str = "ranks group       size  averages of a rank    p50 ms    p99 ms    max ms  wait p50 ms  members   lost B  repaired B";

    fn of(size_bytes: usize, group_size: usize, all: &[Seen]) -> Self {
        // If only the delayed rank is left, its times are the result.
        let in_time = || all.iter().filter(|seen| !seen.is_late || all.iter().all(|seen| seen.is_late));
        let sorted = |of: fn(&Seen) -> &Vec<f64>| {
            let mut ms: Vec<f64> = in_time().flat_map(of).copied().collect();
            ms.sort_by(f64::total_cmp);
            ms
        };
        let (ms, waited_ms) = (sorted(|seen| &seen.ms), sorted(|seen| &seen.waited_ms));
        let counts = || all.iter().map(|seen| seen.ms.len());
        let averages = counts().sum();
        Self {
            size_bytes,
            group_size,
            ranks: all.len(),
            averages,
            averages_min: counts().min().unwrap_or(0),
            averages_max: counts().max().unwrap_or(0),
            members_mean: all.iter().map(|seen| seen.members).sum::<usize>() as f64 / (averages as f64).max(1.0),
            p50_ms: percentile(&ms, 0.5),
            p99_ms: percentile(&ms, 0.99),
            max_ms: percentile(&ms, 1.0),
            waited_p50_ms: percentile(&waited_ms, 0.5),
            lost_bytes: all.iter().map(|seen| seen.lost_bytes).sum(),
            repaired_bytes: all.iter().map(|seen| seen.repaired_bytes).sum(),
            incomplete: all.iter().map(|seen| seen.incomplete).sum(),
            wrong: all.iter().map(|seen| seen.wrong).sum(),
        }
    }

    fn line(&self) -> String {
        format!(
            "{:5} {:5} {:>10} {:>19} {:9.3} {:9.3} {:9.3} {:12.3} {:8.2} {:8} {:11}",
            self.ranks,
            self.group_size,
            size_text(self.size_bytes),
            format!("{} to {}", self.averages_min, self.averages_max),
            self.p50_ms,
            self.p99_ms,
            self.max_ms,
            self.waited_p50_ms,
            self.members_mean,
            self.lost_bytes,
            self.repaired_bytes
        )
    }
}

pub fn run(args: &RunArgs, launch: &Launch, group_size: usize, is_late: bool) -> Result<(), Failure> {
    let mut failed = None;
    if launch.rank == 0 && !args.job.json {
        print(Row::HEADER)?;
    }
    for bytes in args.job.bench.iter().copied() {
        let mut engine = Engine::connect(args, launch)?;
        let seen = measure(args, &mut engine, bytes, group_size, is_late)?;
        let told = serde_json::to_vec(&seen).map_err(|error| error.to_string())?;
        let all = engine.all_gather_bytes(&told)?;
        let all = all.iter().filter(|seen| !seen.is_empty()).map(|seen| serde_json::from_slice(seen));
        let all: Vec<Seen> = all.collect::<Result<_, _>>().map_err(|error: serde_json::Error| error.to_string())?;
        let row = Row::of(bytes, group_size, &all);
        if launch.rank == 0 {
            print(&if args.job.json {
                serde_json::to_string(&row).map_err(|error| error.to_string())?
            } else {
                row.line()
            })?;
        }
        if row.incomplete + row.wrong > 0 {
            let text = format!(
                "rank {}: {}: {} averages lack data of a member that died or did not answer in time, and {} values are not \
                 a mean of the ranks' models",
                launch.rank,
                size_text(bytes),
                row.incomplete,
                row.wrong
            );
            failed = Some(Failure::incomplete(text));
        }
        engine.close()?;
    }
    failed.map_or(Ok(()), Err)
}

fn measure(
    args: &RunArgs,
    engine: &mut Engine,
    bytes: usize,
    group_size: usize,
    is_late: bool,
) -> Result<Seen, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let late = Duration::from_secs_f64(args.job.straggler_ms / 1e3);
    let repair = args.settings()?.get("repair").map_err(|error| text(&error))?;
    let options = PartialOptions::new().group_size(group_size).repair(repair != "off");
    // The requested delay alone must not get the rank dropped from its group.
    let options = options.patience(Duration::from_secs(10) + late);
    let communicator = engine.communicator_mut();
    let mut partial = communicator.partial_reduce(bytes / 4, options).wait().map_err(|error| text(&error))?;
    communicator.barrier().wait().map_err(|error| text(&error))?;
    let (own, last) = (communicator.rank() as f32, communicator.world_size() as f32 - 1.0);
    let mut model = vec![own; bytes / 4];
    let mut seen = Seen { is_late, ..Seen::default() };
    let (begin, mut iteration) = (Instant::now(), 0);
    while begin.elapsed().as_secs_f64() < args.job.secs {
        if is_late {
            std::thread::sleep(late);
        }
        let since = Instant::now();
        let (mean, report) = partial.average(model, iteration + 1).wait().map_err(|error| text(&error))?;
        seen.ms.push(since.elapsed().as_secs_f64() * 1e3);
        let Some(group) = &report.group else { return Err(format!("an average without a group: {report}")) };
        seen.waited_ms.push(group.waited.as_secs_f64() * 1e3);
        seen.members += report.ranks.len();
        seen.lost_bytes += report.lost_bytes;
        seen.repaired_bytes += group.repaired_bytes;
        seen.incomplete += usize::from(!group.uncounted_ranks.is_empty() || !report.missing.is_empty());
        seen.wrong += mean.iter().filter(|value| !(-1e-3..=last + 1e-3).contains(*value)).count();
        (model, iteration) = (mean, group.iteration);
    }
    partial.close().wait().map_err(|error| text(&error))?;
    Ok(seen)
}
