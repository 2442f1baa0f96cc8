//! A job of two ranks with simulated cards and two software ranks, which send the same packets.
//!
//!     cargo run --release -p optireduce-sim --example mixed_job
//!
//! The network loses 1 % of the packets. Rank 3 is 2 ms late in every step, and the others finish
//! at their deadlines. Time is virtual, so every run prints the same.

use std::error::Error;

use optireduce_core::protocol::{HadamardMode, UpdateAction};
use optireduce_sim::check::oracle;
use optireduce_sim::{Cluster, ClusterConfig, Early, Engine, Impairments, Straggler};

const RANKS: usize = 4;
const ELEMENTS: usize = 20_000;
const STEPS: usize = 3;

/// Runs three steps and prints the result of each rank.
pub fn main() -> Result<(), Box<dyn Error>> {
    // `Engine::Functional` simulates packets. `Engine::Rtl` simulates clock cycles of the hardware
    // description, with the same bits for the same packets, and is far slower.
    let mut config = ClusterConfig::new(Engine::Functional, RANKS);
    config.software_ranks = vec![1, 3];
    config.impairments = Impairments { seed: 7, loss: 0.01, tail_ratio: 3.0, ..Impairments::default() };
    config.stragglers = vec![Straggler { rank: 3, delay_ns: 2_000_000 }];
    config.bound_ns = 300_000; // t_B: no stage takes longer
    config.early = Early::Adaptive;
    config.hadamard = HadamardMode::Auto; // on all ranks, once losses exceed 2 %
    let mut cluster = Cluster::new(config)?;

    for step in 0..STEPS {
        // Gradients of data-parallel ranks are similar but not equal.
        let value = |rank: usize, at: usize| {
            let noise = (at * 31 + rank * 17 + step * 7) % 23;
            (at % 101) as f32 / 101.0 - 0.5 + noise as f32 / 100.0
        };
        let gradients: Vec<Vec<f32>> =
            (0..RANKS).map(|rank| (0..ELEMENTS).map(|at| value(rank, at)).collect()).collect();

        // One all-reduce. The closure serves progress bars.
        let record = cluster.step(&gradients, |_virtual_ns| ())?;

        let exact = oracle::exact_mean(&gradients);
        println!("step {step}{}", if record.hadamard { ", Hadamard-encoded" } else { "" });
        for (rank, one) in record.ranks.iter().enumerate() {
            let kind = if cluster.config().software_ranks.contains(&rank) { "software" } else { "card" };
            println!(
                "  rank {rank} ({kind:<8}) done after {:>4} us, {:>5} bytes lost, late ranks {:?}, NMSE {:.1e}",
                one.done_ns / 1000,
                one.report.lost_bytes,
                one.report.late_peers,
                oracle::nmse(&one.output, &exact),
            );
            // A trainer would act on the report; see `UpdateAction`.
            assert_eq!(one.report.action, UpdateAction::Apply);
            // A punctual rank waits for at most two deadlines, not for the straggler.
            let is_late = rank == 3;
            assert!(is_late || one.done_ns < 2 * cluster.config().bound_ns, "rank {rank}: {} ns", one.done_ns);
        }

        // The result follows, bit for bit, from the accepted beats and their order.
        let accepted: Vec<_> = record.ranks.iter().map(|rank| rank.trace.clone()).collect();
        let expected = oracle::outputs(&record.plans, &gradients, &accepted)?;
        for (rank, (one, expected)) in record.ranks.iter().zip(&expected).enumerate() {
            let same = one.output.iter().zip(expected).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same, "rank {rank} has other bits than the oracle");
        }
    }
    Ok(())
}
