//! `optireduce run`: one rank of a job that measures all-reduces.
//!
//! As in nccl-tests, a barrier precedes every call, and each rank times its own call. The straggler
//! sleeps after the barrier. A row's times are the slowest rank's, call by call.

use std::collections::BTreeMap;

use optireduce::binding::Launch;
use optireduce_core::protocol::{LOSS_SKIP, SKIPS_HALT};
use serde::{Deserialize, Serialize};

use crate::args::{JobArgs, RunArgs};
use crate::engine::{Engine, Seen};
use crate::file;
use crate::log::say;
use crate::measure::{Measurement, Progress};
use crate::outcome::{Failure, print};
use crate::partial;
use crate::rejoin::{self, Entered};
use crate::times::{Row, bus_factor, fraction, gb_per_s, percentile, size_text};

/// Host of a rank, and options that must be equal on all ranks.
#[derive(Debug, Serialize, Deserialize)]
struct Host {
    name: String,
    cores: usize,
    bench: Vec<usize>,
    secs: f64,
    /// Index of the next size; `None` in a restarted process, which does not know it.
    next: Option<usize>,
}

impl Host {
    fn this(args: &JobArgs, next: Option<usize>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            name: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            cores,
            bench: args.bench.clone(),
            secs: args.secs,
            next,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Crowd {
    host: String,
    ranks: usize,
    cores: usize,
}

impl Crowd {
    fn of<'a>(hosts: impl Iterator<Item = &'a Host>) -> Self {
        let mut crowds: BTreeMap<&'a str, Self> = BTreeMap::new();
        for Host { name, cores, .. } in hosts {
            let new = || Self { host: name.clone(), ranks: 0, cores: *cores };
            crowds.entry(name).or_insert_with(new).ranks += 1;
        }
        let share = |crowd: &Self| crowd.ranks as f64 / crowd.cores.max(1) as f64;
        crowds.into_values().max_by(|a, b| share(a).total_cmp(&share(b))).unwrap_or_default()
    }

    fn has_more_ranks_than_cores(&self) -> bool {
        self.ranks > self.cores
    }

    fn note(&self) -> Option<String> {
        let Self { host, ranks, cores } = self;
        let text = format!(
            "note: {ranks} ranks share {cores} core(s) of host {host}; ranks that wait for a core are late, so times \
             and losses below are the host's rather than the network's; use at most {cores} rank(s) there"
        );
        self.has_more_ranks_than_cores().then_some(text)
    }
}

pub fn run(args: &RunArgs) -> Result<(), Failure> {
    args.check()?;
    let launch = args.launch()?;
    let straggler = args.job.straggler(launch.world_size)?;
    if let Some(path) = &args.file {
        return file::run(args, &launch, path);
    }
    args.job.require_memory(1)?;
    let is_late = straggler == Some(launch.rank);
    if let Some(group_size) = args.partial {
        return partial::run(args, &launch, group_size, is_late);
    }
    let mut rank = Rank { args, launch, is_late, has_begun: false };
    let mut halted = Vec::new();
    let mut next = (!rank.launch.rejoin).then_some(0);
    while next.is_none_or(|next| next < args.job.bench.len()) {
        let (size, has_halted) = rank.measure(next)?;
        if has_halted {
            halted.push(size_text(args.job.bench[size]));
        }
        next = Some(size + 1);
    }
    if halted.is_empty() {
        return Ok(());
    }
    Err(Failure::halted(format!(
        "rank {}: the safeguard would have halted a training job at {}: {SKIPS_HALT} collectives in a row lost more than {} % each; \
         give a longer --bound-ms, or fewer ranks per core",
        rank.launch.rank,
        halted.join(", "),
        LOSS_SKIP * 100.0
    )))
}

struct Rank<'a> {
    args: &'a RunArgs,
    launch: Launch,
    is_late: bool,
    has_begun: bool,
}

impl Rank<'_> {
    /// Measures the next size, or the other ranks' current one. Returns its index, and whether the
    /// safeguard halted.
    fn measure(&mut self, next: Option<usize>) -> Result<(usize, bool), String> {
        let Self { args: RunArgs { job, .. }, launch, is_late, .. } = self;
        let (mut engine, entered) = rejoin::connect(self.args, launch, *is_late)?;
        let (measurement, progress, crowd) = match entered {
            Some(Entered { measurement, progress }) => (measurement, progress, Crowd::default()),
            None => {
                let (crowd, size) = meet(&mut engine, job, next)?;
                if launch.rank == 0 && !std::mem::replace(&mut self.has_begun, true) {
                    begin(job, &crowd)?;
                }
                (Measurement::new(job, &mut engine, *is_late, job.bench[size])?, Progress::at(size), crowd)
            }
        };
        let seen = measurement.run(&mut engine, progress)?;
        let told = serde_json::to_vec(&seen).map_err(|error| error.to_string())?;
        let all = engine.all_gather_bytes(&told)?;
        if launch.rank == 0 {
            report(job, &row(&mut engine, job.bench[progress.size], &all, &crowd)?)?;
        }
        engine.close()?;
        Ok((progress.size, seen.halted))
    }
}

fn begin(args: &JobArgs, crowd: &Crowd) -> Result<(), String> {
    crowd.note().iter().for_each(|note| say(note));
    if args.json { Ok(()) } else { print(Row::HEADER) }
}

fn report(args: &JobArgs, row: &Row) -> Result<(), String> {
    if args.json {
        return print(&serde_json::to_string(row).map_err(|error| error.to_string())?);
    }
    print(&row.line())?;
    row.remark().map_or(Ok(()), |remark| print(&remark))
}

/// Returns the most crowded host and the next size. Fails if options differ among ranks.
fn meet(engine: &mut Engine, args: &JobArgs, next: Option<usize>) -> Result<(Crowd, usize), String> {
    let host = serde_json::to_vec(&Host::this(args, next)).map_err(|error| error.to_string())?;
    let hosts = engine.all_gather_bytes(&host)?;
    let hosts = hosts.iter().enumerate().filter(|(_, host)| !host.is_empty());
    let hosts = hosts.map(|(rank, host)| Ok((rank, serde_json::from_slice(host)?)));
    let hosts: Vec<(usize, Host)> =
        hosts.collect::<Result<_, _>>().map_err(|error: serde_json::Error| error.to_string())?;
    difference(&hosts).map_or(Ok(()), Err)?;
    let next = hosts.iter().find_map(|(_, host)| host.next).unwrap_or(0);
    let crowd = Crowd::of(hosts.iter().map(|(_, host)| host));
    if next >= args.bench.len() { Err(format!("there is no size {next}")) } else { Ok((crowd, next)) }
}

fn difference(hosts: &[(usize, Host)]) -> Option<String> {
    let (reference, expected) = hosts.first()?;
    let differs = |option: &str, rank: usize, found: String, expected: String| {
        format!(
            "the ranks differ: {option} is {found} on rank {rank}, but {expected} on rank {reference}; give all ranks the same"
        )
    };
    let sizes = |host: &Host| host.bench.iter().map(|bytes| size_text(*bytes)).collect::<Vec<_>>().join(", ");
    hosts.iter().find_map(|(rank, host)| match host {
        _ if host.bench != expected.bench => Some(differs("--bench", *rank, sizes(host), sizes(expected))),
        _ if host.secs != expected.secs => {
            Some(differs("--secs", *rank, host.secs.to_string(), expected.secs.to_string()))
        }
        _ => None,
    })
}

fn row(engine: &mut Engine, size_bytes: usize, all: &[Vec<u8>], crowd: &Crowd) -> Result<Row, String> {
    let ranks: Vec<Seen> = all
        .iter()
        .filter(|seen| !seen.is_empty())
        .map(|seen| serde_json::from_slice(seen))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let iters = ranks.iter().map(|seen| seen.ms.len()).min().unwrap_or(0);
    let slowest = |call: usize| ranks.iter().map(|seen| seen.ms[call]).fold(0.0, f64::max);
    let mut ms: Vec<f64> = (0..iters).map(slowest).collect();
    ms.sort_by(f64::total_cmp);
    let sum = |of: fn(&Seen) -> u64| ranks.iter().map(of).sum::<u64>() as f64;
    let p50_ms = percentile(&ms, 0.5);
    let algbw_gb_per_s = gb_per_s(size_bytes, p50_ms);
    Ok(Row {
        size_bytes,
        iters,
        p50_ms,
        p90_ms: percentile(&ms, 0.9),
        p99_ms: percentile(&ms, 0.99),
        max_ms: percentile(&ms, 1.0),
        algbw_gb_per_s,
        busbw_gb_per_s: algbw_gb_per_s * bus_factor(ranks.len()),
        received_fraction: fraction(sum(|seen| seen.received_bytes), sum(|seen| seen.expected_bytes)),
        unsent_packets: ranks.iter().map(|seen| seen.unsent_packets).sum(),
        forged_packets: ranks.iter().map(|seen| seen.forged_packets).sum(),
        replayed_packets: ranks.iter().map(|seen| seen.replayed_packets).sum(),
        not_finite: ranks.iter().map(|seen| seen.not_finite).max().unwrap_or(0),
        stages: ranks.iter().map(|seen| seen.stages).sum(),
        stages_early: ranks.iter().map(|seen| seen.stages_early).sum(),
        stages_at_bound: ranks.iter().map(|seen| seen.stages_at_bound).sum(),
        halted: ranks.iter().any(|seen| seen.halted),
        bound_ms: engine.bound_ms(),
        engine: engine.name(),
        ranks: ranks.len(),
        ranks_on_host: crowd.ranks,
        cores_on_host: crowd.cores,
        more_ranks_than_cores: crowd.has_more_ranks_than_cores(),
        payload_bytes: engine.payload_bytes(),
        hadamard: ranks.iter().any(|seen| seen.hadamard),
        cpu_s_per_gb: ranks.iter().map(|seen| seen.cpu_s).sum::<f64>() / (iters * size_bytes) as f64 * 1e9,
        memory_mb: ranks.iter().map(|seen| seen.memory_mb).fold(0.0, f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_crowded_host_is_found_and_named() {
        let host = |name: &str, cores| Host { name: name.into(), cores, bench: vec![4096], secs: 3.0, next: None };
        let hosts = [host("a", 8), host("b", 2), host("a", 8), host("b", 2), host("a", 8), host("b", 2)];
        let crowd = Crowd::of(hosts.iter());
        assert_eq!(crowd, Crowd { host: "b".into(), ranks: 3, cores: 2 });
        assert!(crowd.note().expect("3 ranks, 2 cores").contains("3 ranks share 2 core(s) of host b"));
        let roomy = Crowd::of(hosts[..3].iter());
        assert_eq!((roomy.ranks, roomy.cores, roomy.note()), (1, 2, None));
    }

    #[test]
    fn ranks_that_measure_something_else_are_named_with_both_values() {
        let host =
            |bench: &[usize], secs| Host { name: String::new(), cores: 1, bench: bench.into(), secs, next: Some(0) };
        let said = |other| difference(&[(0, host(&[4096], 3.0)), (2, other)]);
        assert_eq!(said(host(&[4096], 3.0)), None);
        let bench = said(host(&[4096, 8192], 3.0)).expect("they differ");
        assert_eq!(
            bench,
            "the ranks differ: --bench is 4 KiB, 8 KiB on rank 2, but 4 KiB on rank 0; give all ranks the same"
        );
        assert!(said(host(&[4096], 2.5)).expect("they differ").contains("--secs is 2.5 on rank 2, but 3 on rank 0"));
    }
}
