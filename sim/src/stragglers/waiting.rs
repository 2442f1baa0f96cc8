//! The baseline: all-reduces over a reliable transport ([`reliable`]) that wait for all workers.

use super::curve::Curve;
use super::digits::{PARAMETERS, PAYLOAD_BEATS};
use super::trainee::Trainee;
use crate::card::engine::Engine;
use crate::cluster::ClusterConfig;
use crate::error::SimError;
use crate::network::{Impairments, reliable};

pub(super) fn train(
    impairments: Impairments,
    trainees: &mut [Trainee],
    curve: &mut Curve,
    end_ns: u64,
) -> Result<(), SimError> {
    let config = ClusterConfig {
        impairments,
        payload_beats: PAYLOAD_BEATS,
        ..ClusterConfig::new(Engine::Functional, trainees.len())
    };
    for op in 0.. {
        let trained_ns: Vec<u64> = trainees.iter().map(|one| one.trained_ns.unwrap_or(0)).collect();
        let first_ns = trained_ns.iter().copied().min().unwrap_or(end_ns);
        let starts_ns: Vec<u64> = trained_ns.iter().map(|at_ns| at_ns - first_ns).collect();
        let run = reliable::run(&config.plans(op, PARAMETERS, false)?, config.sending(), &impairments, &starts_ns);
        let done_ns: Vec<u64> =
            trained_ns.iter().zip(&run.stage_ns).map(|(at_ns, stages)| at_ns + stages.iter().sum::<u64>()).collect();
        let next_ns = done_ns.iter().copied().min().unwrap_or(end_ns);
        curve.note(next_ns.min(end_ns), trainees);
        if next_ns >= end_ns {
            break;
        }
        let mut mean = vec![0.0; PARAMETERS];
        let count = trainees.len() as f32;
        for gradient in trainees.iter_mut().map(Trainee::gradient) {
            mean.iter_mut().zip(gradient).for_each(|(sum, value)| *sum += value / count);
        }
        for (one, done_ns) in trainees.iter_mut().zip(done_ns) {
            one.apply(&mean);
            one.begin(done_ns);
        }
    }
    Ok(())
}
