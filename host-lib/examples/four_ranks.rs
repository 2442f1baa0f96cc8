//! Four ranks in one program. Each thread is a rank with its own communicator, like a process in a
//! real job.
//!
//!     cargo run --release -p optireduce --example four_ranks

use std::error::Error;
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use optireduce::{BucketOptions, Communicator, ReduceOp, Settings};

const RANKS: usize = 4;
const STEPS: usize = 5;
/// Elements of the model's layers, one bucket each.
const LAYERS: [usize; 3] = [300_000, 70_000, 1_000];

type Failure = Box<dyn Error + Send + Sync>;

/// Trains a "model" in which every rank's gradient is its rank number. Returns the weights.
fn train(rank: usize, root: &str) -> Result<Vec<Vec<f32>>, Failure> {
    // In a job of processes, `Settings::new()` reads the environment of torchrun, mpirun or Slurm.
    let place = Settings::new().rank(rank).world_size(RANKS).root(root);
    // By default ranks measure a bound. Threads that share a few cores need a long one.
    let mut communicator = Communicator::connect(place.bound(Duration::from_millis(500))).wait()?;
    let mut buckets = Vec::new();
    for elements in LAYERS {
        buckets.push(communicator.bucket(elements, BucketOptions::new().reduce_op(ReduceOp::Avg)).wait()?);
    }
    // All ranks start with the weights of rank 0. The broadcast uses TCP and loses nothing.
    let mut weights = Vec::new();
    for elements in LAYERS {
        weights.push(communicator.exact().broadcast(0, vec![0.0; elements]).wait()?);
    }
    for step in 0..STEPS {
        let begin = Instant::now();
        // Each layer's all-reduce begins when its gradient is ready, while the next is computed.
        let mut requests = Vec::new();
        for (bucket, elements) in buckets.iter_mut().zip(LAYERS) {
            requests.push(bucket.start_all_reduce(vec![rank as f32; elements]));
        }
        for (request, layer) in requests.into_iter().zip(&mut weights) {
            // Zeros if too much was lost. A later mean, or the correction below, then includes it.
            let (mean, report) = request.wait()?;
            layer.iter_mut().zip(mean).for_each(|(weight, mean)| *weight -= 0.1 * mean);
            if rank == 0 {
                println!("{report}");
            }
        }
        if rank == 0 {
            println!("step {step}: {:.3} ms", begin.elapsed().as_secs_f64() * 1e3);
        }
    }
    // Apply late corrections, so that all ranks end with the same weights.
    for (bucket, layer) in buckets.iter_mut().zip(&mut weights) {
        if let Some(correction) = bucket.settle(None).wait()?.correction {
            layer.iter_mut().zip(correction).for_each(|(weight, mean)| *weight -= 0.1 * mean);
        }
    }
    communicator.close().wait()?;
    Ok(weights)
}

/// Runs all ranks. Returns an error if one of them fails or their weights differ.
pub fn main() -> Result<(), Failure> {
    let root = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let weights = thread::scope(|scope| {
        let ranks: Vec<_> = (0..RANKS)
            .map(|rank| {
                let root = &root;
                scope.spawn(move || train(rank, root))
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().map_err(|_| "a rank panicked")?).collect::<Result<Vec<_>, Failure>>()
    })?;
    let first: Vec<f32> = weights.iter().map(|layers| layers[0][0]).collect();
    println!("the first weight, by rank: {first:?}");
    if first.iter().any(|weight| !(-2.0..=0.0).contains(weight)) {
        return Err(format!("weights from -2 to 0 are possible, found {first:?}").into());
    }
    Ok(())
}
