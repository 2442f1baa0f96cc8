//! `badnet compare`: runs contenders in turns, and prints rows of JSON and a table.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use optireduce_badnet::{Hosts, print, say};

use crate::contender::{Contender, Measurement, Programs, processes};
use crate::flow::Flow;
use crate::row::{Condition, DEFAULT, Figures, Row};
use crate::{job, table};

/// Port of the first run; later runs use the following ones.
const PORT: u16 = 24_000;
/// Largest MTU that this project uses over loopback.
const LOOPBACK_MTU: u16 = 9000;
const STRAGGLER_MS: f64 = 50.0;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  tests/compare                       # installs, builds, compares: half an hour
  badnet compare --contenders optireduce,optireduce-tcp --conditions clean,loss1
  badnet compare --conditions incast,incast-ecn --hosts 8 --bench 64K,1M
  badnet compare --read compare.json  # tables of an earlier run")]
pub struct CompareArgs {
    /// All-reduces to compare
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Contender::value_variants().to_vec())]
    contenders: Vec<Contender>,
    /// Network conditions
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = DEFAULT.to_vec())]
    conditions: Vec<Condition>,
    /// Buffer sizes in bytes, KiB (K) or MiB (M)
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = size, default_value = "64K,1M,25M")]
    bench: Vec<usize>,
    /// Number of hosts, 2 to 64, with one rank each
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(2..=64))]
    hosts: u8,
    /// Numbers of ranks in the condition loopback; give each rank a core
    #[arg(long, value_delimiter = ',', default_value = "2,4,8")]
    loopback_ranks: Vec<usize>,
    /// Largest IP packets between hosts, in bytes, 576 to 9216
    #[arg(long, value_delimiter = ',', default_value = "1500,9000", value_parser = clap::value_parser!(u16).range(576..=9216))]
    mtu: Vec<u16>,
    /// Measuring time per size, contender and condition, in seconds
    #[arg(long, default_value_t = 3.0, value_parser = seconds)]
    secs: f64,
    /// Number of runs of each contender, in turns; tables show medians
    #[arg(long, default_value_t = 1)]
    turns: usize,
    /// Seed of losses, outages and delays
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Append one line of JSON per row to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Measure nothing; show the rows of this file that the other options select
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    read: Option<PathBuf>,
    /// Also show the project's goals
    #[arg(long)]
    goals: bool,
    #[command(flatten)]
    programs: Programs,
}

struct Place {
    condition: Condition,
    ranks: usize,
    mtu: u16,
}

pub fn compare(args: &CompareArgs) -> crate::Outcome {
    if let Some(path) = &args.read {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let rows: Result<Vec<Row>, _> = text.lines().map(serde_json::from_str).collect();
        let mut rows = rows.map_err(|error| format!("{}: {error}", path.display()))?;
        rows.retain(|row| args.chooses(row));
        args.show(&rows)?;
        return Ok(true);
    }
    let mut file = match &args.json {
        Some(path) => {
            let file = File::options().append(true).create(true).open(path);
            Some(file.map_err(|error| format!("{}: {error}", path.display()))?)
        }
        None => None,
    };
    let (mut rows, mut port, mut all_finished) = (Vec::new(), PORT, true);
    for place in places(args) {
        let hosts = match place.condition {
            Condition::Loopback => None,
            // One more host, the source of the stream.
            condition => Some(Hosts::new(place.ranks + usize::from(condition.has_flow()), place.mtu)?),
        };
        for contender in (0..args.turns).flat_map(|_| &args.contenders).copied() {
            if !contender.takes_part(hosts.is_none()) {
                continue;
            }
            port += 1;
            let begin = Instant::now();
            let (outcome, network) = measure(args, &place, contender, hosts.as_ref(), port)?;
            let Place { condition, ranks, mtu } = place;
            say(&format!(
                "{:9} {ranks} ranks, MTU {mtu}: {:14} {:5.1} s  {network}",
                condition.name(),
                contender.name(),
                begin.elapsed().as_secs_f64()
            ));
            if job::INTERRUPTED.load(Ordering::Relaxed) {
                return Err("interrupted".into());
            }
            match outcome {
                Err(error) => {
                    all_finished = false;
                    say(&format!("    FAILED: {error}"));
                }
                Ok(figures) => {
                    let row =
                        |figures| Row { contender: contender.name(), condition, ranks, mtu, figures, load: load() };
                    let new: Vec<Row> = figures.into_iter().map(row).collect();
                    for row in &new {
                        let line = serde_json::to_string(row).map_err(|error| error.to_string())?;
                        if let Some(file) = &mut file {
                            writeln!(file, "{line}").map_err(|error| format!("writing rows: {error}"))?;
                        }
                    }
                    rows.extend(new);
                }
            }
        }
    }
    args.show(&rows)?;
    Ok(all_finished)
}

impl CompareArgs {
    fn chooses(&self, row: &Row) -> bool {
        let is_place = match row.condition {
            Condition::Loopback => self.loopback_ranks.contains(&row.ranks),
            _ => row.ranks == usize::from(self.hosts) && self.mtu.contains(&row.mtu),
        };
        is_place
            && self.conditions.contains(&row.condition)
            && self.bench.contains(&row.figures.size_bytes)
            && self.contenders.iter().any(|contender| contender.name() == row.contender)
    }

    fn show(&self, rows: &[Row]) -> Result<(), String> {
        print(&table::tables(rows))?;
        if self.goals { print(&table::goals(rows)) } else { Ok(()) }
    }
}

fn places(args: &CompareArgs) -> Vec<Place> {
    let mut places = Vec::new();
    for condition in &args.conditions {
        match condition {
            Condition::Loopback => {
                places.extend(args.loopback_ranks.iter().map(|ranks| Place {
                    condition: *condition,
                    ranks: *ranks,
                    mtu: LOOPBACK_MTU,
                }));
            }
            _ => {
                let ranks = usize::from(args.hosts);
                places.extend(args.mtu.iter().map(|mtu| Place { condition: *condition, ranks, mtu: *mtu }));
            }
        }
    }
    places
}

/// Runs a contender once. The outer error ends the comparison.
fn measure(
    args: &CompareArgs,
    place: &Place,
    contender: Contender,
    hosts: Option<&Hosts>,
    port: u16,
) -> Result<(Result<Vec<Figures>, String>, String), String> {
    let straggler_ms = if place.condition == Condition::Straggler { STRAGGLER_MS } else { 0.0 };
    let Place { ranks, .. } = *place;
    let run = Measurement { ranks, sizes: &args.bench, secs: args.secs, straggler_ms, port };
    let commands = processes(contender, &args.programs, &run, hosts)?;
    let relay = match hosts {
        Some(hosts) => {
            hosts.tcp(contender.tcp(), 0)?;
            Some(hosts.join(place.condition.network(), args.seed))
        }
        None => None,
    };
    let flow = match hosts {
        Some(hosts) if place.condition.has_flow() => Some(Flow::start(hosts, ranks, 0)?),
        _ => None,
    };
    // Programs measure for at most four times `secs` per size, after a rendezvous.
    let most = Duration::from_secs_f64(60.0 + 8.0 * args.secs * args.bench.len() as f64);
    let outcome = job::run(commands, most, contender.accepted()).and_then(|lines| {
        let rows = lines.iter().filter(|line| line.starts_with('{'));
        let figures = rows.map(|line| serde_json::from_str(line).map_err(|error| format!("{line}: {error}")));
        let figures: Vec<Figures> = figures.collect::<Result<_, _>>()?;
        let all = figures.len() == args.bench.len();
        all.then_some(figures).ok_or_else(|| format!("printed {lines:?}, expected a row for each size"))
    });
    let network = match (&relay, hosts) {
        (Some(relay), Some(hosts)) => format!("{}; all so far: {}", relay.counts.line(), hosts.own_losses()),
        _ => String::new(),
    };
    let network = match flow {
        Some(flow) => format!("{network}; {}", flow.end()?),
        None => network,
    };
    Ok((outcome, network))
}

fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && *seconds <= 3600.0);
    seconds.ok_or_else(|| "expected more than 0 and at most 3600 seconds".into())
}

fn size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.strip_suffix('K').map(|digits| (digits, 1 << 10)) {
        Some(found) => found,
        None => text.strip_suffix('M').map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    bytes
        .filter(|bytes| *bytes > 0 && bytes % 4 == 0)
        .ok_or_else(|| "expected a multiple of 4 bytes, like 64K or 25M".into())
}
