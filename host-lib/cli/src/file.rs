//! `optireduce run --file`: averages the tensors of files, once.
//!
//! All ranks write their files, or none if any rank lacks an element. Elements with lost
//! contributions are means of fewer ranks, equal on all ranks; they are written, with exit code 1.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::{Duration, Instant};

use optireduce::binding::Launch;
use serde::{Deserialize, Serialize};

use crate::args::RunArgs;
use crate::engine::{Engine, Seen, connect_control};
use crate::log::say;
use crate::outcome::{Failure, print};
use crate::tensors::{Content, Missing, Staged, Tensor, difference};
use crate::times::{fraction, size_text};

/// Elements per all-reduce: 25 MiB.
const BUCKET_ELEMENTS: usize = 25 << 18;
const LISTED_MAX: usize = 20;
/// Limit for telling the other ranks about a file that cannot be read.
const TELLING: Duration = Duration::from_secs(5);

#[derive(Debug, Default, Serialize, Deserialize)]
struct Told {
    seen: Seen,
    missing_elements: usize,
}

#[derive(Debug, Serialize)]
struct Summary {
    tensors: usize,
    size_bytes: usize,
    ms: f64,
    received_fraction: f64,
    late_ranks: BTreeSet<usize>,
    lost_contribution_bytes: u64,
    incomplete_ranks: BTreeSet<usize>,
    bound_ms: f64,
    engine: &'static str,
    ranks: usize,
}

pub fn run(args: &RunArgs, launch: &Launch, path: &str) -> Result<(), Failure> {
    let of_rank = |path: &str| path.replace("{rank}", &launch.rank.to_string());
    let path = of_rank(path);
    let content = Content::read(&path);
    // Compare first: probing the network and the bound would be wasted on unequal files.
    let mut control = match &content {
        Ok(_) => connect_control(args, launch, args.job.timeout()?)?,
        Err(error) => {
            say(error);
            // The others learn why, if they are there.
            connect_control(args, launch, args.job.timeout()?.min(TELLING))?
        }
    };
    compare(&mut control, content.as_ref().map(|content| &content.tensors))?;
    drop(control);
    let mut content = content?;

    // With another job id, a rank that connects before rank 0 has closed the first job tries again.
    let mut launch = launch.clone();
    launch.job_id.push_str("/file");
    let launch = &launch;
    let mut engine = Engine::connect(args, launch)?;
    engine.barrier()?;
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
    let all = engine.all_gather_bytes(&told)?;
    let summary = summary(&mut engine, &content, &all)?;
    if launch.rank == 0 {
        print(&if args.job.json { serde_json::to_string(&summary).map_err(text)? } else { summary.text() })?;
    }
    let gone = launch.world_size - summary.ranks;
    let is_whole = missing.is_empty() && summary.incomplete_ranks.is_empty() && gone == 0;
    let out = args.out.as_ref().filter(|_| is_whole);
    let staged = out.map(|out| content.stage(&of_rank(out))).transpose();
    let all_staged = compare_staged(&mut engine, staged.as_ref().err());
    engine.close()?;
    if !is_whole {
        return Err(Failure::incomplete(incomplete(&path, &content.named(&missing), &summary, gone)));
    }
    all_staged?;
    staged?.map_or(Ok(()), Staged::publish)?;
    match summary.lost_contribution_bytes {
        0 => Ok(()),
        bytes => Err(Failure::incomplete(format!(
            "{path}: {bytes} bytes of contributions did not arrive in time; the affected means are of fewer ranks, equal on \
             every rank; give a longer --bound-ms, or use --engine tcp"
        ))),
    }
}

/// Fails on all ranks if one could not write. `error`: of this rank.
fn compare_staged(engine: &mut Engine, error: Option<&String>) -> Result<(), String> {
    let message = serde_json::to_vec(&error).map_err(text)?;
    for (rank, error) in engine.all_gather_bytes(&message)?.iter().enumerate() {
        let error: Option<String> = match error.as_slice() {
            [] => Some("ended before writing its file".into()),
            error => serde_json::from_slice(error).map_err(text)?,
        };
        if let Some(error) = error {
            return Err(format!("rank {rank}: {error}; no rank has written its mean"));
        }
    }
    Ok(())
}

/// `missing`: of this rank.
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
        why.push(format!("{gone} rank(s) ended before the others"));
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

fn summary(engine: &mut Engine, content: &Content, all: &[Vec<u8>]) -> Result<Summary, String> {
    let told = all.iter().enumerate().filter(|(_, told)| !told.is_empty());
    let told = told.map(|(rank, told)| serde_json::from_slice::<Told>(told).map(|told| (rank, told)));
    let told: Vec<(usize, Told)> = told.collect::<Result<_, _>>().map_err(text)?;
    let sum = |of: fn(&Seen) -> u64| told.iter().map(|(_, told)| of(&told.seen)).sum::<u64>() as f64;
    let late_ranks: BTreeSet<usize> = told.iter().flat_map(|(_, told)| told.seen.late_ranks.iter().copied()).collect();
    Ok(Summary {
        tensors: content.tensors.len(),
        size_bytes: content.values.len() * 4,
        ms: told.iter().flat_map(|(_, told)| told.seen.ms.iter().copied()).fold(0.0, f64::max),
        received_fraction: fraction(sum(|seen| seen.received_bytes), sum(|seen| seen.expected_bytes)),
        late_ranks,
        lost_contribution_bytes: sum(|seen| seen.lost_contribution_bytes) as u64,
        incomplete_ranks: told.iter().filter(|(_, told)| told.missing_elements > 0).map(|(rank, _)| *rank).collect(),
        bound_ms: engine.bound_ms(),
        engine: engine.name(),
        ranks: told.len(),
    })
}

fn compare(control: &mut Engine, tensors: Result<&Vec<Tensor>, &String>) -> Result<(), String> {
    let message = serde_json::to_vec(&tensors).map_err(text)?;
    let all = control.all_gather_bytes(&message)?;
    let all = all.iter().enumerate().map(|(rank, tensors)| Ok((rank, serde_json::from_slice(tensors)?)));
    let all: Vec<_> = all.collect::<Result<_, serde_json::Error>>().map_err(text)?;
    difference(&all).map_or(Ok(()), Err)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
#[path = "../../tests/root/mod.rs"]
mod root;

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Condvar, Mutex};
    use std::thread;

    use clap::Parser;
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
    use tracing_subscriber::registry::LookupSpan;

    use super::root::free_root;
    use super::*;
    use crate::args::{Args, Command};

    const HELD: &str = "2";

    /// Holds a rank in its first collective until both others have closed their contribute stage.
    #[derive(Clone, Default)]
    struct Hold(Arc<(Mutex<usize>, Condvar)>);

    #[derive(Default)]
    struct Said {
        rank: String,
        stage: String,
        closed_by: String,
    }

    impl Visit for Said {
        fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
            match field.name() {
                "rank" => self.rank = format!("{value:?}"),
                "stage" => self.stage = format!("{value:?}"),
                "closed_by" => self.closed_by = format!("{value:?}"),
                _ => {}
            }
        }
    }

    impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Hold {
        fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
            let mut said = Said::default();
            attributes.record(&mut said);
            if attributes.metadata().name() == "collective" && said.rank == HELD {
                let (closed, told) = &*self.0;
                drop(told.wait_while(closed.lock().unwrap(), |closed| *closed < 2).unwrap());
            }
            context.span(id).unwrap().extensions_mut().insert(said);
        }

        fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
            let span = context.span(id).unwrap();
            let mut extensions = span.extensions_mut();
            let said = extensions.get_mut::<Said>().unwrap();
            values.record(said);
            if said.stage == "contribute" && std::mem::take(&mut said.closed_by) == "deadline" {
                *self.0.0.lock().unwrap() += 1;
                self.0.1.notify_all();
            }
        }
    }

    fn rank(rank: usize, root: &str, file: &str, out: &str) -> Result<(), Failure> {
        let number = rank.to_string();
        let place = ["optireduce", "run", "--rank", &number, "--world-size", "3", "--root", root];
        let files = ["--file", file, "--out", out, "--bound-ms", "1000", "--early", "off", "--hadamard", "off"];
        let Command::Run(args) = Args::parse_from([&place[..], &files].concat()).command else { panic!("not `run`") };
        crate::run::run(&args)
    }

    #[test]
    fn a_mean_without_contributions_that_came_too_late_is_written_with_exit_code_1() {
        tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Hold::default())).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [file, out] = ["in", "out"].map(|name| format!("{}/{name}.{{rank}}", folder.path().display()));
        let path = |of: &str, rank: usize| of.replace("{rank}", &rank.to_string());
        const SHARD: usize = 1 << 10;
        for (rank, value) in [0.0_f32, 3.0, 6.0].into_iter().enumerate() {
            std::fs::write(path(&file, rank), value.to_le_bytes().repeat(3 * SHARD)).unwrap();
        }
        let root = free_root();
        let ended: Vec<_> = thread::scope(|threads| {
            let ranks = [0, 1, 2].map(|number| {
                let (root, file, out) = (&root, &file, &out);
                threads.spawn(move || rank(number, root, file, out))
            });
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        });
        let lost = format!("{} bytes of contributions did not arrive in time", 2 * 4 * SHARD);
        for (rank, ended) in ended.into_iter().enumerate() {
            let Failure { code, text } = ended.unwrap_err();
            assert!(code == Failure::INCOMPLETE && text.contains(&lost), "rank {rank}: {code}: {text}");
        }
        // The mean of two ranks, except in the held rank's own shard.
        let mean = [1.5_f32, 1.5, 3.0].map(|mean| mean.to_le_bytes().repeat(SHARD)).concat();
        for rank in 0..3 {
            assert!(std::fs::read(path(&out, rank)).unwrap() == mean, "rank {rank} has another mean");
        }
    }
}
