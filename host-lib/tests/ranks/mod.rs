//! Ranks over real sockets on loopback, as threads of this process.
#![allow(dead_code)]

#[path = "../root/mod.rs"]
mod root;

use std::thread::{self, JoinHandle};
use std::time::Duration;

pub use root::free_root;

use optireduce::{Early, Error, Repair, Report, Settings, SharedMemory};

/// Suffices on a machine that is busy with other tests.
pub const TIMEOUT: Duration = Duration::from_secs(20);

/// Settings that do not depend on the load of the machine. Packets use UDP.
pub fn builder(rank: usize, ranks: usize, root: &str) -> Settings {
    let place = Settings::new().rank(rank).world_size(ranks).root(root);
    let slow = place.timeout(TIMEOUT).bound(Duration::from_secs(3)).early(Early::Off);
    slow.shared_memory(SharedMemory::Off).repair(Repair::NextUpdate)
}

pub fn job<T: Send + 'static>(ranks: usize, rank: impl Fn(usize, String) -> T + Clone + Send + 'static) -> Vec<T> {
    let root = free_root();
    let start = |number| {
        let (rank, root) = (rank.clone(), root.clone());
        thread::spawn(move || rank(number, root))
    };
    let threads: Vec<JoinHandle<T>> = (0..ranks).map(start).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

pub fn gradient(rank: usize, elements: usize) -> Vec<f32> {
    (0..elements).map(|i| ((i * 31 + rank * 17) % 1009) as f32 * 1e-3 - 0.5).collect()
}

/// Report of an all-reduce, halted or not.
pub fn report_of(done: Result<Report, Error>) -> Report {
    done.unwrap_or_else(|error| error.report().unwrap_or_else(|| panic!("{error}")).clone())
}

/// Checks for the same bits on all ranks, and for the mean of [`gradient`].
pub fn check_mean(ranks: usize, results: &[Vec<f32>], tolerance: f64) {
    let gradients: Vec<_> = (0..ranks).map(|rank| gradient(rank, results[0].len())).collect();
    for (rank, result) in results.iter().enumerate() {
        assert!(result.iter().zip(&results[0]).all(|(a, b)| a.to_bits() == b.to_bits()), "rank {rank} has other bits");
    }
    for (i, found) in results[0].iter().enumerate() {
        let mean = gradients.iter().map(|gradient| f64::from(gradient[i])).sum::<f64>() / ranks as f64;
        assert!((f64::from(*found) - mean).abs() <= tolerance, "element {i} is {found}, expected {mean}");
    }
}
