//! `optireduce run --file`: averages the tensors of files among the ranks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Instant;

use optireduce::{Communicator, Launch};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::args::{EngineKind, JobArgs, RunArgs};
use crate::outcome::{Failure, print};
use crate::run::{Engine, Seen, connect_control};
use crate::times::size_text;

/// Elements that are all-reduced at a time: 25 MiB.
const BUCKET_ELEMENTS: usize = 25 << 18;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Tensor {
    name: String,
    shape: Vec<usize>,
}

impl Tensor {
    fn elements(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The tensors of a file, their values one after the other.
struct Content {
    tensors: Vec<Tensor>,
    values: Vec<f32>,
    metadata: Option<HashMap<String, String>>,
}

/// How it went, over all ranks.
#[derive(Debug, Serialize)]
struct Summary {
    tensors: usize,
    size_bytes: usize,
    ms: f64,
    received_fraction: f64,
    late_ranks: BTreeSet<usize>,
    /// Ranks that lost too much.
    skipped_ranks: BTreeSet<usize>,
    bound_ms: f64,
    engine: &'static str,
    ranks: usize,
}

pub fn run(args: &RunArgs, launch: &Launch, path: &str) -> Result<(), Failure> {
    let of_rank = |path: &str| path.replace("{rank}", &launch.rank.to_string());
    let path = of_rank(path);
    let content = read(&path);
    // Before the bound is measured, which takes buffers of one size.
    let mut control = connect_control(args, launch)?;
    agree(&mut control, content.as_ref().map(|content| &content.tensors))?;
    drop(control);
    let mut content = content?;

    let size = content.values.len() * 4;
    let mut engine = Engine::connect(args, launch, size.min(BUCKET_ELEMENTS * 4))?;
    engine.communicator.barrier().map_err(|error| error.to_string())?;
    let (mut seen, begin) = (Seen::default(), Instant::now());
    for bucket in content.values.chunks_mut(BUCKET_ELEMENTS) {
        engine.all_reduce(bucket, &mut seen)?;
    }
    seen.ms.push(begin.elapsed().as_secs_f64() * 1000.0);
    let own = serde_json::to_vec(&seen).map_err(|error| error.to_string())?;
    let all = engine.communicator.all_gather_bytes(&own).map_err(|error| error.to_string())?;
    if launch.rank == 0 {
        let summary = summary(&args.job, &engine, &content, &all)?;
        if args.job.json {
            print(&serde_json::to_string(&summary).map_err(|error| error.to_string())?)?;
        } else {
            print(&summary.text())?;
        }
    }
    if seen.skipped {
        let lost = 1.0 - seen.received_bytes as f64 / seen.expected_bytes.max(1) as f64;
        return Err(Failure::incomplete(format!(
            "{path}: {:.1} % of the peers' bytes did not arrive in time, so the mean was not written; give a longer --bound-ms",
            lost * 100.0
        )));
    }
    match &args.out {
        Some(out) => Ok(write(&of_rank(out), &content)?),
        None => Ok(()),
    }
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
        for (what, which) in [("late", &self.late_ranks), ("lost too much", &self.skipped_ranks)] {
            if !which.is_empty() {
                text +=
                    &format!("\n{what}: rank {}", which.iter().map(usize::to_string).collect::<Vec<_>>().join(", "));
            }
        }
        text
    }
}

fn summary(args: &JobArgs, engine: &Engine, content: &Content, all: &[Vec<u8>]) -> Result<Summary, String> {
    // Of ranks that are gone there is nothing.
    let told = all.iter().enumerate().filter(|(_, seen)| !seen.is_empty());
    let told = told.map(|(rank, seen)| serde_json::from_slice::<Seen>(seen).map(|seen| (rank, seen)));
    let told: Vec<(usize, Seen)> = told.collect::<Result<_, _>>().map_err(text)?;
    let sum = |of: fn(&Seen) -> u64| told.iter().map(|(_, seen)| of(seen)).sum::<u64>() as f64;
    let late_ranks: BTreeSet<usize> = told.iter().flat_map(|(_, seen)| seen.late_ranks.iter().copied()).collect();
    let expected = sum(|seen| seen.expected_bytes);
    Ok(Summary {
        tensors: content.tensors.len(),
        size_bytes: content.values.len() * 4,
        ms: told.iter().flat_map(|(_, seen)| seen.ms.iter().copied()).fold(0.0, f64::max),
        received_fraction: if expected > 0.0 { sum(|seen| seen.received_bytes) / expected } else { 1.0 },
        late_ranks,
        skipped_ranks: told.iter().filter(|(_, seen)| seen.skipped).map(|(rank, _)| *rank).collect(),
        bound_ms: engine.bound_ms(),
        engine: if args.engine == EngineKind::Udp { "udp" } else { "tcp" },
        ranks: told.len(),
    })
}

/// All ranks have the same tensors, or all get the same error.
fn agree(control: &mut Communicator, tensors: Result<&Vec<Tensor>, &String>) -> Result<(), String> {
    let message = serde_json::to_vec(&tensors).map_err(text)?;
    let all = control.all_gather_bytes(&message).map_err(text)?;
    let all = all.iter().map(|tensors| serde_json::from_slice::<Result<Vec<Tensor>, String>>(tensors));
    let all: Vec<_> = all.collect::<Result<_, _>>().map_err(text)?;
    difference(&all).map_or(Ok(()), Err)
}

/// What keeps the ranks from averaging, if anything does.
fn difference(all: &[Result<Vec<Tensor>, String>]) -> Option<String> {
    let mut first: Option<BTreeMap<&str, &[usize]>> = None;
    for (rank, tensors) in all.iter().enumerate() {
        let tensors = match tensors {
            Ok(tensors) => tensors,
            Err(error) => return Some(format!("rank {rank}: {error}")),
        };
        let shapes: BTreeMap<_, _> = tensors.iter().map(|one| (one.name.as_str(), one.shape.as_slice())).collect();
        let first = first.get_or_insert_with(|| shapes.clone());
        for (name, expected) in first.iter() {
            match shapes.get(name) {
                None => return Some(format!("rank {rank} has no tensor {name}, rank 0 has one of shape {expected:?}")),
                Some(shape) if shape != expected => {
                    return Some(format!(
                        "tensor {name} of rank {rank} has shape {shape:?}, that of rank 0 {expected:?}"
                    ));
                }
                Some(_) => {}
            }
        }
        if let Some((name, shape)) = shapes.iter().find(|(name, _)| !first.contains_key(*name)) {
            return Some(format!("rank {rank} has a tensor {name} of shape {shape:?}, rank 0 has none"));
        }
    }
    None
}

fn is_safetensors(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "safetensors")
}

fn read(path: &str) -> Result<Content, String> {
    let fail = |problem: String| format!("{path}: {problem}");
    let bytes = std::fs::read(path).map_err(|error| fail(error.to_string()))?;
    if !is_safetensors(path) {
        if !bytes.len().is_multiple_of(4) {
            return Err(fail(format!("{} bytes, expected a multiple of 4 for raw fp32", bytes.len())));
        }
        let values: Vec<f32> = floats(&bytes).collect();
        let tensors = vec![Tensor { name: "values".into(), shape: vec![values.len()] }];
        return Ok(Content { tensors, values, metadata: None });
    }
    let invalid = |error: safetensors::SafeTensorError| fail(format!("not a safetensors file: {error}"));
    let (_, header) = SafeTensors::read_metadata(&bytes).map_err(invalid)?;
    let mut views = SafeTensors::deserialize(&bytes).map_err(invalid)?.tensors();
    views.sort_by(|(a, _), (b, _)| a.cmp(b));
    let (mut tensors, mut values) = (Vec::new(), Vec::new());
    for (name, view) in views {
        if view.dtype() != Dtype::F32 {
            return Err(fail(format!("tensor {name}: dtype is {:?}, expected F32; convert it first", view.dtype())));
        }
        values.extend(floats(view.data()));
        tensors.push(Tensor { name, shape: view.shape().to_vec() });
    }
    Ok(Content { tensors, values, metadata: header.metadata().clone() })
}

fn write(path: &str, content: &Content) -> Result<(), String> {
    let fail = |error: &dyn std::error::Error| format!("{path}: {error}");
    let bytes: Vec<u8> = content.values.iter().flat_map(|value| value.to_le_bytes()).collect();
    if !is_safetensors(path) {
        return std::fs::write(path, bytes).map_err(|error| fail(&error));
    }
    let (mut views, mut rest) = (Vec::new(), bytes.as_slice());
    for tensor in &content.tensors {
        let (data, after) = rest.split_at(tensor.elements() * 4);
        let view = TensorView::new(Dtype::F32, tensor.shape.clone(), data).map_err(|error| fail(&error))?;
        views.push((&tensor.name, view));
        rest = after;
    }
    let bytes = safetensors::serialize(views, content.metadata.clone()).map_err(|error| fail(&error))?;
    std::fs::write(path, bytes).map_err(|error| fail(&error))
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes))
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
