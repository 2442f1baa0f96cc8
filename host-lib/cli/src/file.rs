//! `optireduce run --file`: averages the tensors of files among the ranks, once.
//!
//! A file is written whole or not at all, and only if no rank lacks an element: then every rank writes, or none does. If
//! contributions were lost, elements are means of fewer ranks, the same on all; they are written, and the exit code says so.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Instant;

use optireduce::{Communicator, Launch};
use serde::{Deserialize, Serialize};

use crate::args::{EngineKind, JobArgs, RunArgs};
use crate::engine::{Engine, Seen, connect_control};
use crate::outcome::{Failure, print};
use crate::tensors::{Content, Missing, Staged, Tensor, difference};
use crate::times::size_text;

/// Elements that are all-reduced at a time: 25 MiB.
const BUCKET_ELEMENTS: usize = 25 << 18;
/// Missing ranges that are listed.
const LISTED_MAX: usize = 20;

/// How it went on one rank.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Told {
    seen: Seen,
    /// Elements that its result lacks.
    missing_elements: usize,
}

/// How it went, over all ranks.
#[derive(Debug, Serialize)]
struct Summary {
    tensors: usize,
    size_bytes: usize,
    ms: f64,
    received_fraction: f64,
    late_ranks: BTreeSet<usize>,
    /// Bytes of contributions that are in no mean, over all ranks.
    lost_contribution_bytes: u64,
    /// Ranks whose result is not whole.
    incomplete_ranks: BTreeSet<usize>,
    bound_ms: f64,
    engine: &'static str,
    ranks: usize,
}

pub fn run(args: &RunArgs, launch: &Launch, path: &str) -> Result<(), Failure> {
    let of_rank = |path: &str| path.replace("{rank}", &launch.rank.to_string());
    let path = of_rank(path);
    let content = Content::read(&path);
    // Before the path is tried.
    let mut control = connect_control(args, launch)?;
    compare(&mut control, content.as_ref().map(|content| &content.tensors))?;
    drop(control);
    let mut content = content?;

    let mut engine = Engine::connect(args, launch)?;
    engine.communicator.barrier().map_err(text)?;
    let (mut seen, begin) = (Seen::default(), Instant::now());
    let mut missing: Vec<Range<usize>> = Vec::new();
    for (number, bucket) in content.values.chunks_mut(BUCKET_ELEMENTS).enumerate() {
        let first = number * BUCKET_ELEMENTS;
        let lacks = engine.all_reduce_once(bucket, &mut seen)?;
        missing.extend(lacks.into_iter().map(|range| range.start + first..range.end + first));
    }
    seen.ms.push(begin.elapsed().as_secs_f64() * 1000.0);
    let told = Told { seen, missing_elements: missing.iter().map(Range::len).sum() };
    let told = serde_json::to_vec(&told).map_err(text)?;
    let all = engine.communicator.all_gather_bytes(&told).map_err(text)?;
    let summary = summary(&args.job, &engine, &content, &all)?;
    if launch.rank == 0 {
        print(&if args.job.json { serde_json::to_string(&summary).map_err(text)? } else { summary.text() })?;
    }
    let gone = launch.world_size - summary.ranks;
    let is_whole = missing.is_empty() && summary.incomplete_ranks.is_empty() && gone == 0;
    let out = args.out.as_ref().filter(|_| is_whole);
    let staged = out.map(|out| content.stage(&of_rank(out))).transpose();
    let all_staged = compare_staged(&mut engine.communicator, staged.as_ref().err());
    engine.close()?;
    if !is_whole {
        return Err(Failure::incomplete(incomplete(&path, &content.named(&missing), &summary, gone)));
    }
    all_staged?;
    staged?.map_or(Ok(()), Staged::publish)?;
    match summary.lost_contribution_bytes {
        0 => Ok(()),
        bytes => Err(Failure::incomplete(format!(
            "{path}: {bytes} bytes of contributions did not arrive in time: where they belong, the mean is that of the other \
             ranks, the same on every rank; give a longer --bound-ms, or use --engine tcp"
        ))),
    }
}

/// All ranks have written, or all get the same error and leave what was there. `error`: why this rank could not.
fn compare_staged(communicator: &mut Communicator, error: Option<&String>) -> Result<(), String> {
    let message = serde_json::to_vec(&error).map_err(text)?;
    for (rank, error) in communicator.all_gather_bytes(&message).map_err(text)?.iter().enumerate() {
        let error: Option<String> = match error.as_slice() {
            // It is gone.
            [] => Some("it ended before it had written".into()),
            error => serde_json::from_slice(error).map_err(text)?,
        };
        if let Some(error) = error {
            return Err(format!("rank {rank}: {error}; no rank has written its mean"));
        }
    }
    Ok(())
}

/// Why nothing is written. `missing`: what this rank lacks.
fn incomplete(path: &str, missing: &[Missing], summary: &Summary, gone: usize) -> String {
    let mut why = Vec::new();
    if !missing.is_empty() {
        let listed: Vec<String> = missing.iter().take(LISTED_MAX).map(ToString::to_string).collect();
        let more = if missing.len() > LISTED_MAX {
            format!(" and {} more", missing.len() - LISTED_MAX)
        } else {
            String::new()
        };
        why.push(format!("values did not arrive in time in {}{more}", listed.join(", ")));
    } else if !summary.incomplete_ranks.is_empty() {
        why.push(format!("values did not arrive in time on rank {}", list(&summary.incomplete_ranks)));
    }
    if gone > 0 {
        why.push(format!("{gone} of the ranks ended before the others"));
    }
    format!(
        "{path}: the mean is incomplete and was not written on any rank: {}; give a longer --bound-ms, or use --engine tcp",
        why.join("; ")
    )
}

impl Summary {
    fn text(&self) -> String {
        let Self { tensors, size_bytes, ms, received_fraction, bound_ms, engine, ranks, .. } = self;
        let (size, plural) = (size_text(*size_bytes), if *tensors == 1 { "" } else { "s" });
        let mut text = format!(
            "{tensors} tensor{plural}, {size}: averaged over {ranks} ranks in {ms:.3} ms, engine {engine}\n\
             received {:.3} % of what peers sent, bound {bound_ms:.3} ms per stage",
            received_fraction * 100.0
        );
        for (what, which) in [("late", &self.late_ranks), ("incomplete", &self.incomplete_ranks)] {
            if !which.is_empty() {
                text += &format!("\n{what}: rank {}", list(which));
            }
        }
        text
    }
}

fn list(ranks: &BTreeSet<usize>) -> String {
    ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn summary(args: &JobArgs, engine: &Engine, content: &Content, all: &[Vec<u8>]) -> Result<Summary, String> {
    // Of ranks that are gone there is nothing.
    let told = all.iter().enumerate().filter(|(_, told)| !told.is_empty());
    let told = told.map(|(rank, told)| serde_json::from_slice::<Told>(told).map(|told| (rank, told)));
    let told: Vec<(usize, Told)> = told.collect::<Result<_, _>>().map_err(text)?;
    let sum = |of: fn(&Seen) -> u64| told.iter().map(|(_, told)| of(&told.seen)).sum::<u64>() as f64;
    let late_ranks: BTreeSet<usize> = told.iter().flat_map(|(_, told)| told.seen.late_ranks.iter().copied()).collect();
    let expected = sum(|seen| seen.expected_bytes);
    Ok(Summary {
        tensors: content.tensors.len(),
        size_bytes: content.values.len() * 4,
        ms: told.iter().flat_map(|(_, told)| told.seen.ms.iter().copied()).fold(0.0, f64::max),
        received_fraction: if expected > 0.0 { sum(|seen| seen.received_bytes) / expected } else { 1.0 },
        late_ranks,
        lost_contribution_bytes: sum(|seen| seen.lost_contribution_bytes) as u64,
        incomplete_ranks: told.iter().filter(|(_, told)| told.missing_elements > 0).map(|(rank, _)| *rank).collect(),
        bound_ms: engine.bound_ms(),
        engine: if args.engine == EngineKind::Udp { "udp" } else { "tcp" },
        ranks: told.len(),
    })
}

/// All ranks have the same tensors, or all get the same error.
fn compare(control: &mut Communicator, tensors: Result<&Vec<Tensor>, &String>) -> Result<(), String> {
    let message = serde_json::to_vec(&tensors).map_err(text)?;
    let all = control.all_gather_bytes(&message).map_err(text)?;
    let all = all.iter().enumerate().map(|(rank, tensors)| Ok((rank, serde_json::from_slice(tensors)?)));
    let all: Vec<_> = all.collect::<Result<_, serde_json::Error>>().map_err(text)?;
    difference(&all).map_or(Ok(()), Err)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
