//! A Tokio service that all-reduces while it serves. Two ranks, each with a training task and a TCP
//! server that reports progress. Nothing blocks the runtime's only thread.
//!
//!     cargo run --release -p optireduce --example tokio_service

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use optireduce::{BucketOptions, Communicator, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const RANKS: usize = 2;
const STEPS: usize = 50;
const ELEMENTS: usize = 100_000;

type Failure = Box<dyn Error + Send + Sync>;

/// One rank: connects, and all-reduces until all steps are done.
async fn train(rank: usize, root: String, steps: Arc<AtomicUsize>) -> Result<(), Failure> {
    let settings = Settings::new().rank(rank).world_size(RANKS).root(root).bound(Duration::from_millis(500));
    let mut communicator = Communicator::connect(settings).await?;
    let mut bucket = communicator.bucket(ELEMENTS, BucketOptions::new()).await?;
    let (mut weights, mut gradient) = (vec![0.0; ELEMENTS], vec![0.0; ELEMENTS]);
    let apply =
        |weights: &mut [f32], mean: &[f32]| weights.iter_mut().zip(mean).for_each(|(weight, mean)| *weight -= mean);
    for _ in 0..STEPS {
        gradient.fill(rank as f32);
        // Passed and returned without a copy.
        (gradient, _) = bucket.start_all_reduce(gradient).await?;
        apply(&mut weights, &gradient);
        steps.fetch_add(1, Ordering::Relaxed);
    }
    if let Some(correction) = bucket.settle(None).await?.correction {
        apply(&mut weights, &correction);
    }
    Ok(communicator.close().await?)
}

/// Answers every connection with the number of completed steps.
async fn serve(listener: TcpListener, steps: Arc<AtomicUsize>) -> Result<(), Failure> {
    loop {
        let (mut client, _) = listener.accept().await?;
        client.write_all(format!("{} of {STEPS} steps\n", steps.load(Ordering::Relaxed)).as_bytes()).await?;
    }
}

async fn run() -> Result<(), Failure> {
    let root = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let (mut addresses, mut ranks) = (Vec::new(), Vec::new());
    for rank in 0..RANKS {
        let steps = Arc::new(AtomicUsize::new(0));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        addresses.push(listener.local_addr()?);
        tokio::spawn(serve(listener, steps.clone()));
        ranks.push(tokio::spawn(train(rank, root.clone(), steps)));
    }
    let mut answers = 0;
    while !ranks.iter().all(|rank| rank.is_finished()) {
        for address in &addresses {
            let mut answer = String::new();
            TcpStream::connect(address).await?.read_to_string(&mut answer).await?;
            answers += 1;
            if answers % 100 == 1 {
                print!("answer {answers}: {answer}");
            }
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    for rank in ranks {
        rank.await??;
    }
    println!("{STEPS} steps on {RANKS} ranks, and {answers} answers meanwhile");
    Ok(())
}

/// Runs both ranks on one thread.
pub fn main() -> Result<(), Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run())
}
