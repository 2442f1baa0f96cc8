//! A job that mixes ranks: two with a simulated card, two on which the host library does the card's work. All four send the same
//! packets, so nobody needs to know what a peer has.
//!
//!     cargo run --release -p optireduce-sim --example mixed_job
//!
//! The network loses 1 % of the packets, and rank 3 is 2 ms late in every step: the others finish at their deadline. Time is
//! virtual and everything random comes from one seed, so every run prints the same.

use std::error::Error;

use optireduce_core::protocol::{HadamardMode, UpdateAction};
use optireduce_sim::check::oracle;
use optireduce_sim::{Cluster, ClusterConfig, Early, Engine, Impairments, Straggler};

const RANKS: usize = 4;
const ELEMENTS: usize = 20_000;
const STEPS: usize = 3;

/// Runs three steps and prints what each rank got.
pub fn main() -> Result<(), Box<dyn Error>> {
    // `Engine::Functional` simulates cards packet by packet. `Engine::Rtl` runs the hardware description clock by clock,
    // with the same bits for the same packets, and takes far longer.
    let mut config = ClusterConfig::new(Engine::Functional, RANKS);
    config.software_ranks = vec![1, 3];
    config.impairments = Impairments { seed: 7, loss: 0.01, tail_ratio: 3.0, ..Impairments::default() };
    config.stragglers = vec![Straggler { rank: 3, delay_ns: 2_000_000 }];
    config.bound_ns = 300_000; // t_B: no stage takes longer
    config.early = Early::Adaptive;
    config.hadamard = HadamardMode::Auto; // on all ranks, once the losses call for it
    let mut cluster = Cluster::new(config)?;

    for step in 0..STEPS {
        // Gradients as ranks have them: about the same on all, and a little different.
        let value = |rank: usize, at: usize| {
            let noise = (at * 31 + rank * 17 + step * 7) % 23;
            (at % 101) as f32 / 101.0 - 0.5 + noise as f32 / 100.0
        };
        let gradients: Vec<Vec<f32>> =
            (0..RANKS).map(|rank| (0..ELEMENTS).map(|at| value(rank, at)).collect()).collect();

        // One all-reduce. The closure is called as virtual time passes, for progress bars.
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
            // What a trainer does with the report: see `UpdateAction`.
            assert_eq!(one.report.action, UpdateAction::Apply);
            // A rank that is on time waits for two deadlines at most, and never for the straggler.
            let is_late = rank == 3;
            assert!(is_late || one.done_ns < 2 * cluster.config().bound_ns, "rank {rank}: {} ns", one.done_ns);
        }

        // The result is no accident: it follows, bit for bit, from the beats that each rank accepted, in their order.
        let accepted: Vec<_> = record.ranks.iter().map(|rank| rank.trace.clone()).collect();
        let expected = oracle::outputs(&record.plans, &gradients, &accepted)?;
        for (rank, (one, expected)) in record.ranks.iter().zip(&expected).enumerate() {
            let same = one.output.iter().zip(expected).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same, "rank {rank} has other bits than the oracle");
        }
    }
    Ok(())
}
