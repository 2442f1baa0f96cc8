//! `optireduce run`: one rank.
//!
//! Measured as others do: a barrier before every call, then the straggler sleeps, then each rank times its own call. A
//! row's times are over calls, of each call the slowest rank.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use optireduce::Launch;
use optireduce_core::protocol::{LOSS_SKIP, SKIPS_HALT};
use serde::{Deserialize, Serialize};

use crate::args::{EngineKind, JobArgs, RunArgs};
use crate::engine::{Engine, Seen};
use crate::file;
use crate::outcome::{Failure, print, say};
use crate::times::{Row, bus_factor, gb_per_s, percentile, size_text};

/// Most calls before those that are timed: a bound takes 20 or a few more.
const WARM_UP_CALLS_MAX: usize = 100;
/// Calls between two decisions whether to go on.
const CALLS_A_ROUND: usize = 5;
/// Fewest calls of a size.
const CALLS_MIN: usize = 20;
/// Most calls of a size.
const CALLS_MAX: usize = 20_000;

/// Where a rank runs.
#[derive(Debug, Serialize, Deserialize)]
struct Host {
    name: String,
    cores: usize,
    /// What is measured there, which must be the same on all ranks.
    bench: Vec<usize>,
    secs: f64,
}

impl Host {
    fn this(args: &JobArgs) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            name: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            cores,
            bench: args.bench.clone(),
            secs: args.secs,
        }
    }
}

/// The host with most ranks for its cores.
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

    /// What somebody who reads the figures should know.
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
    let launch = args.launch()?;
    let straggler = args.job.straggler(launch.world_size)?;
    if let Some(path) = &args.file {
        return file::run(args, &launch, path);
    }
    args.job.require_memory(1)?;
    let (mut halted, mut crowd) = (Vec::new(), None);
    for bytes in &args.job.bench {
        let mut engine = Engine::connect(args, &launch)?;
        if crowd.is_none() {
            let found = crowd.insert(find_crowd(&mut engine, &args.job)?);
            if launch.rank == 0 {
                if let Some(note) = found.note() {
                    say(&note);
                }
                if !args.job.json {
                    print(Row::HEADER)?;
                }
            }
        }
        let seen = measure(&mut engine, &args.job, straggler == Some(launch.rank), &launch, *bytes)?;
        if seen.halted {
            halted.push(size_text(*bytes));
        }
        let seen = serde_json::to_vec(&seen).map_err(|error| error.to_string())?;
        let all = engine.communicator.all_gather_bytes(&seen).map_err(|error| error.to_string())?;
        if launch.rank == 0 {
            let row = row(&args.job, &engine, *bytes, &all, crowd.as_ref().unwrap_or(&Crowd::default()))?;
            if args.job.json {
                print(&serde_json::to_string(&row).map_err(|error| error.to_string())?)?;
            } else {
                print(&row.line())?;
                row.remark().map_or(Ok(()), |remark| print(&remark))?;
            }
        }
        engine.close()?;
    }
    if halted.is_empty() {
        return Ok(());
    }
    Err(Failure::halted(format!(
        "rank {}: the safeguard would have halted a training job at {}: {SKIPS_HALT} collectives in a row lost more than {} % each; \
         give a longer --bound-ms, or fewer ranks per core",
        launch.rank,
        halted.join(", "),
        LOSS_SKIP * 100.0
    )))
}

/// Where the ranks run, once all were found to measure the same.
fn find_crowd(engine: &mut Engine, args: &JobArgs) -> Result<Crowd, String> {
    let host = serde_json::to_vec(&Host::this(args)).map_err(|error| error.to_string())?;
    let hosts = engine.communicator.all_gather_bytes(&host).map_err(|error| error.to_string())?;
    let hosts = hosts.iter().enumerate().filter(|(_, host)| !host.is_empty());
    let hosts = hosts.map(|(rank, host)| Ok((rank, serde_json::from_slice(host)?)));
    let hosts: Vec<(usize, Host)> =
        hosts.collect::<Result<_, _>>().map_err(|error: serde_json::Error| error.to_string())?;
    difference(&hosts).map_or(Ok(()), Err)?;
    Ok(Crowd::of(hosts.iter().map(|(_, host)| host)))
}

/// The first rank that measures something else than the lowest one.
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

/// Calls that are not timed, since pages and paths are new, until the bound is measured, if it is to be.
fn warm_up(engine: &mut Engine, data: &mut [f32], gradient: &[f32]) -> Result<(), String> {
    for _ in 0..WARM_UP_CALLS_MAX {
        let mut seen = Seen::default();
        data.copy_from_slice(gradient);
        engine.all_reduce(data, &mut seen)?;
        // The ranks of two levels measure several bounds.
        let measuring = engine.communicator.all_gather_bytes(&[u8::from(seen.measuring_bound)]);
        if !measuring.map_err(|error| error.to_string())?.contains(&vec![1]) {
            return Ok(());
        }
    }
    Ok(())
}

fn measure(engine: &mut Engine, args: &JobArgs, is_late: bool, launch: &Launch, bytes: usize) -> Result<Seen, String> {
    let gradient: Vec<f32> = (0..bytes / 4).map(|i| ((i * 31 + launch.rank * 7) % 1000) as f32 * 1e-3 - 0.5).collect();
    let mut data = gradient.clone();
    warm_up(engine, &mut data, &gradient)?;
    let mut seen = Seen::default();
    let (cpu_s, begin) = (cpu_s(), Instant::now());
    loop {
        for _ in 0..CALLS_A_ROUND {
            data.copy_from_slice(&gradient);
            engine.communicator.barrier().map_err(|error| error.to_string())?;
            if is_late {
                std::thread::sleep(Duration::from_secs_f64(args.straggler_ms / 1000.0));
            }
            let call = Instant::now();
            engine.all_reduce(&mut data, &mut seen)?;
            seen.ms.push(call.elapsed().as_secs_f64() * 1000.0);
        }
        let secs = begin.elapsed().as_secs_f64();
        let enough =
            seen.ms.len() >= CALLS_MIN && secs >= args.secs || seen.ms.len() >= CALLS_MAX || secs >= 4.0 * args.secs;
        let all = engine.communicator.all_gather_bytes(&[u8::from(enough)]).map_err(|error| error.to_string())?;
        // The lowest rank that is still there decides.
        if all.iter().flatten().next() == Some(&1) {
            break;
        }
    }
    seen.cpu_s = self::cpu_s() - cpu_s;
    seen.memory_mb = memory_mb();
    let metrics = engine.communicator.metrics().map_err(|error| error.to_string())?;
    seen.unsent_packets = metrics.unsent.total();
    (seen.forged_packets, seen.replayed_packets) = (metrics.seal_drops.forged, metrics.seal_drops.replayed);
    Ok(seen)
}

fn row(args: &JobArgs, engine: &Engine, size_bytes: usize, all: &[Vec<u8>], crowd: &Crowd) -> Result<Row, String> {
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
        received_fraction: sum(|seen| seen.received_bytes) / sum(|seen| seen.expected_bytes).max(1.0),
        unsent_packets: ranks.iter().map(|seen| seen.unsent_packets).sum(),
        forged_packets: ranks.iter().map(|seen| seen.forged_packets).sum(),
        replayed_packets: ranks.iter().map(|seen| seen.replayed_packets).sum(),
        not_finite: ranks.iter().map(|seen| seen.not_finite).max().unwrap_or(0),
        halted: ranks.iter().any(|seen| seen.halted),
        bound_ms: engine.bound_ms(),
        engine: if args.engine == EngineKind::Udp { "udp" } else { "tcp" },
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

/// CPU time of this process so far, its threads and the kernel's work for them.
fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The most memory that this process has had.
fn memory_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    peak.unwrap_or(0.0) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_crowded_host_is_found_and_named() {
        let host = |name: &str, cores| Host { name: name.into(), cores, bench: vec![4096], secs: 3.0 };
        let hosts = [host("a", 8), host("b", 2), host("a", 8), host("b", 2), host("a", 8), host("b", 2)];
        let crowd = Crowd::of(hosts.iter());
        assert_eq!(crowd, Crowd { host: "b".into(), ranks: 3, cores: 2 });
        assert!(crowd.note().expect("3 ranks, 2 cores").contains("3 ranks share 2 core(s) of host b"));
        let roomy = Crowd::of(hosts[..3].iter());
        assert_eq!((roomy.ranks, roomy.cores, roomy.note()), (1, 2, None));
    }

    #[test]
    fn ranks_that_measure_something_else_are_named_with_both_values() {
        let host = |bench: &[usize], secs| Host { name: String::new(), cores: 1, bench: bench.into(), secs };
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
