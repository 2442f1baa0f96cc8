//! The oracle: computes every rank's output from the gradients and the cards' records of accepted
//! beats.
//!
//! Encoding, sums, means, decoding and rescaling are computed here in f32. A card that adds a beat
//! twice, adds a wrong beat, or divides by a wrong count produces other bits.
//!
//! [`predicted_nmse`] and [`predicted_bf16_nmse`] predict the mean error by random loss and bf16.
//!
//! Limit: the transform of a Hadamard block is the model of the hardware's, itself tested against
//! f64.

use std::collections::{BTreeSet, HashMap};

use optireduce_contract::limits::LANES;
use optireduce_contract::packet::{STAGE_BROADCAST, STAGE_CONTRIBUTE};
use optireduce_contract::shard::interleaved;
use optireduce_core::protocol::WindowPlan;
use optireduce_hw::hadamard::model::transform_block;

use crate::card::Accept;

type Beat = [f32; LANES];

/// Computes the outputs of a collective from gradients of equal length and accepted beats, both
/// indexed by rank.
///
/// # Errors
/// A message if a trace is impossible: a beat accepted twice, outside the shard, of an unknown
/// window, or that its sender never had.
pub fn outputs(plans: &[WindowPlan], gradients: &[Vec<f32>], traces: &[Vec<Accept>]) -> Result<Vec<Vec<f32>>, String> {
    let ranks = gradients.len();
    let mut outputs: Vec<Vec<f32>> = gradients.iter().map(|gradient| vec![0.0; gradient.len()]).collect();
    let known: HashMap<u32, usize> = plans.iter().enumerate().map(|(index, plan)| (plan.cookie, index)).collect();
    let mut by_window: Vec<Vec<Vec<Accept>>> = vec![vec![Vec::new(); ranks]; plans.len()];
    for (rank, trace) in traces.iter().enumerate() {
        for accept in trace {
            let window = known.get(&accept.cookie).ok_or_else(|| format!("rank {rank}: {accept:?}: unknown window"))?;
            by_window[*window][rank].push(*accept);
        }
    }
    for (plan, traces) in plans.iter().zip(&by_window) {
        let sent: Vec<Vec<Beat>> = gradients
            .iter()
            .map(|gradient| encode(plan, &gradient[plan.first_element..plan.first_element + plan.elements]))
            .collect();
        let means = (0..ranks).map(|rank| mean(plan, rank, &sent, &traces[rank])).collect::<Result<Vec<_>, _>>()?;
        for rank in 0..ranks {
            let beats = gather(plan, rank, &means, &traces[rank])?;
            let result = decode(plan, &beats);
            outputs[rank][plan.first_element..plan.first_element + plan.elements]
                .copy_from_slice(&result[..plan.elements]);
        }
    }
    Ok(outputs)
}

/// Means of a rank's own shard, by position in the window.
fn mean(plan: &WindowPlan, rank: usize, sent: &[Vec<Beat>], trace: &[Accept]) -> Result<Vec<Option<Beat>>, String> {
    let local = plan.shards.range_of(rank);
    let mut sums = vec![([-0.0f32; LANES], BTreeSet::new()); plan.beats];
    for accept in trace.iter().filter(|accept| accept.stage == STAGE_CONTRIBUTE) {
        let (position, sender) = (usize::from(accept.position), usize::from(accept.sender));
        if !local.contains(&position) || sender >= sent.len() {
            return Err(format!("rank {rank}: {accept:?}: outside its shard {local:?} or of an unknown rank"));
        }
        let (sum, senders) = &mut sums[position];
        if !senders.insert(sender) {
            return Err(format!("rank {rank}: {accept:?}: summed twice"));
        }
        for (lane, x) in sum.iter_mut().zip(&sent[sender][position]) {
            *lane = canonical(*lane + x);
        }
    }
    let divided = |(sum, senders): (Beat, BTreeSet<usize>)| {
        let share = 1.0 / senders.len() as f32;
        (!senders.is_empty()).then(|| sum.map(|lane| on_the_wire(plan, canonical(lane * share))))
    };
    Ok(sums.into_iter().map(divided).collect())
}

fn gather(
    plan: &WindowPlan,
    rank: usize,
    means: &[Vec<Option<Beat>>],
    trace: &[Accept],
) -> Result<Vec<Option<Beat>>, String> {
    let mut beats = means[rank].clone();
    for accept in trace.iter().filter(|accept| accept.stage != STAGE_CONTRIBUTE) {
        let (position, sender) = (usize::from(accept.position), usize::from(accept.sender));
        let shard = if sender < means.len() { plan.shards.range_of(sender) } else { 0..0 };
        if accept.stage != STAGE_BROADCAST || sender == rank || !shard.contains(&position) {
            return Err(format!("rank {rank}: {accept:?}: not a beat that its sender may broadcast"));
        }
        if beats[position].is_some() {
            return Err(format!("rank {rank}: {accept:?}: stored twice"));
        }
        beats[position] = means[sender][position];
        if beats[position].is_none() {
            return Err(format!("rank {rank}: {accept:?}: its sender had no mean to send"));
        }
    }
    Ok(beats)
}

/// Contribution as summed by the rank itself and by its peers.
fn encode(plan: &WindowPlan, elements: &[f32]) -> Vec<Beat> {
    encoded(plan, elements).into_iter().map(|beat| beat.map(|lane| on_the_wire(plan, lane))).collect()
}

fn on_the_wire(plan: &WindowPlan, x: f32) -> f32 {
    if plan.bf16 { nearest_bf16(x) } else { x }
}

/// Rounds to the nearest bf16 value, ties to even, by comparing the distances to both neighbours.
/// A NaN keeps its sign.
fn nearest_bf16(x: f32) -> f32 {
    let below = f32::from_bits(x.to_bits() & 0xffff_0000);
    if x.is_nan() {
        return f32::from_bits(below.to_bits() | 0x40_0000);
    }
    if x.is_infinite() || x == below {
        return below;
    }
    // Away from zero. After the largest bf16 the next value would be 2^128.
    let above = f32::from_bits(below.to_bits() + 0x1_0000);
    let value = |y: f32| if y.is_infinite() { f64::from(y.signum()) * 2f64.powi(128) } else { f64::from(y) };
    let (down, up) = ((f64::from(x) - value(below)).abs(), (value(above) - f64::from(x)).abs());
    let even = if below.to_bits() & 0x1_0000 == 0 { below } else { above };
    if down == up {
        even
    } else if down < up {
        below
    } else {
        above
    }
}

fn encoded(plan: &WindowPlan, elements: &[f32]) -> Vec<Beat> {
    let mut padded = elements.to_vec();
    padded.resize(plan.beats * LANES, 0.0);
    if !plan.hadamard {
        return beats_of(&padded);
    }
    let mut out = vec![[0.0; LANES]; plan.beats];
    for (block, values) in padded.chunks_exact_mut(1 << plan.log2_n).enumerate() {
        let first_beat = (block << plan.log2_n) / LANES;
        transform_block(values, plan.log2_n, false, plan.sign_key, first_beat as u32);
        for (beat, lanes) in beats_of(values).into_iter().enumerate() {
            out[interleaved(block, beat, 1 << plan.log2_blocks)] = lanes;
        }
    }
    out
}

fn decode(plan: &WindowPlan, beats: &[Option<Beat>]) -> Vec<f32> {
    if !plan.hadamard {
        return beats.iter().flat_map(|beat| beat.unwrap_or_default().map(canonical)).collect();
    }
    let block_beats = (1 << plan.log2_n) / LANES;
    let mut out = Vec::new();
    for block in 0..1 << plan.log2_blocks {
        let came = |beat| beats[interleaved(block, beat, 1 << plan.log2_blocks)];
        let received = (0..block_beats).filter(|beat| came(*beat).is_some()).count();
        let mut values: Vec<f32> = (0..block_beats).flat_map(|beat| came(beat).unwrap_or_default()).collect();
        if received > 0 {
            transform_block(&mut values, plan.log2_n, true, plan.sign_key, (block * block_beats) as u32);
            let ratio = block_beats as f32 * (1.0 / received as f32);
            values.iter_mut().for_each(|value| *value = canonical(*value * ratio));
        }
        out.extend(values);
    }
    out
}

fn beats_of(values: &[f32]) -> Vec<Beat> {
    values.chunks_exact(LANES).map(|lanes| std::array::from_fn(|i| lanes[i])).collect()
}

/// The card produces only one NaN.
fn canonical(x: f32) -> f32 {
    if x.is_nan() { f32::from_bits(0x7fc0_0000) } else { x }
}

/// Exact mean of the gradients, in f64.
pub fn exact_mean(gradients: &[Vec<f32>]) -> Vec<f64> {
    let length = gradients.first().map_or(0, Vec::len);
    let mean = |at| gradients.iter().map(|gradient: &Vec<f32>| f64::from(gradient[at])).sum::<f64>();
    (0..length).map(|at| mean(at) / gradients.len() as f64).collect()
}

/// Normalised mean squared error |output - mean|^2 / |mean|^2; 0 if both are 0.
pub fn nmse(output: &[f32], mean: &[f64]) -> f64 {
    let error: f64 = output.iter().zip(mean).map(|(x, m)| (f64::from(*x) - m).powi(2)).sum();
    let energy: f64 = mean.iter().map(|m| m * m).sum();
    if error == 0.0 { 0.0 } else { error / energy }
}

/// Largest absolute error, or NaN if any element is NaN.
pub fn max_abs_error(output: &[f32], mean: &[f64]) -> f64 {
    let worse = |worst: f64, error: f64| if worst.is_nan() || error.is_nan() { f64::NAN } else { worst.max(error) };
    output.iter().zip(mean).map(|(x, m)| (f64::from(*x) - m).abs()).fold(0.0, worse)
}

/// Expected NMSE, averaged over losses and ranks, if packets are lost independently with
/// probability `loss` and none is late. Takes time 2^ranks.
///
/// * Contribute: a rank averages over itself and the received peers. The squared error is summed
///   over all subsets of peers, weighted by probability.
/// * Broadcast: a lost shard is zero, so the error is its energy. With Hadamard, rescaling turns
///   the lost fraction q into q / (1 - q), spread over all elements.
///
/// Assumes that every encoded shard has average energy.
pub fn predicted_nmse(plans: &[WindowPlan], gradients: &[Vec<f32>], loss: f64) -> f64 {
    let (ranks, mean) = (gradients.len(), exact_mean(gradients));
    let energy: f64 = mean.iter().map(|m| m * m).sum();
    let mut contribute = 0.0;
    for plan in plans {
        for at in plan.first_element..plan.first_element + plan.elements {
            let x: Vec<f64> = gradients.iter().map(|gradient| f64::from(gradient[at])).collect();
            let beat = (at - plan.first_element) / LANES;
            let owners = (0..ranks).filter(|rank| plan.hadamard || plan.shards.range_of(*rank).contains(&beat));
            let errors: Vec<f64> = owners.map(|owner| mean_error(&x, owner, mean[at], loss)).collect();
            contribute += errors.iter().sum::<f64>() / errors.len() as f64;
        }
    }
    let lost = loss * (ranks - 1) as f64 / ranks as f64;
    let hadamard = plans.iter().any(|plan| plan.hadamard);
    let broadcast = if hadamard { lost / (1.0 - lost) } else { lost };
    // A contribution's error reaches a rank only if the broadcast arrives.
    contribute / energy * if hadamard { 1.0 } else { 1.0 - lost } + broadcast
}

/// Expected NMSE of a bf16 collective without loss. Each contribution and the mean are rounded
/// once, after encoding.
pub fn predicted_bf16_nmse(plans: &[WindowPlan], gradients: &[Vec<f32>]) -> f64 {
    let (mut errors, mut energy, share) = (0.0, 0.0, 1.0 / gradients.len() as f64);
    for plan in plans {
        let of_rank = |gradient: &Vec<f32>| encoded(plan, &gradient[plan.first_element..][..plan.elements]).concat();
        let sent: Vec<Vec<f32>> = gradients.iter().map(of_rank).collect();
        for (at, mean) in exact_mean(&sent).into_iter().enumerate() {
            let contributions: f64 = sent.iter().map(|values| bf16_variance(f64::from(values[at]))).sum();
            errors += contributions * share * share + bf16_variance(mean);
            energy += mean * mean;
        }
    }
    errors / energy
}

/// Variance of rounding a normal fp32 to bf16: a twelfth of the squared last place.
fn bf16_variance(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { 2f64.powi(2 * (x.abs().log2().floor() as i32 - 7)) / 12.0 }
}

/// Expected squared error of the mean at `owner` if each peer is missing with probability `loss`.
fn mean_error(x: &[f64], owner: usize, exact: f64, loss: f64) -> f64 {
    let peers: Vec<f64> = (0..x.len()).filter(|rank| *rank != owner).map(|rank| x[rank]).collect();
    let of_subset = |subset: u32| {
        let came = peers.iter().enumerate().filter(|(peer, _)| subset >> peer & 1 == 1);
        let (count, sum) = came.fold((1, x[owner]), |(count, sum), (_, value)| (count + 1, sum + value));
        let chance = (1.0 - loss).powi(count - 1) * loss.powi(x.len() as i32 - count);
        chance * (sum / f64::from(count) - exact).powi(2)
    };
    (0..1 << peers.len()).map(of_subset).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_measures_follow_their_definitions() {
        let mean = exact_mean(&[vec![1.0, 2.0], vec![3.0, 2.0]]);
        assert_eq!(mean, [2.0, 2.0]);
        assert_eq!(nmse(&[2.0, 1.0], &mean), 1.0 / 8.0);
        assert_eq!(max_abs_error(&[2.5, 1.0], &mean), 1.0);
        assert_eq!(nmse(&[0.0], &[0.0]), 0.0);
        assert!(nmse(&[f32::NAN, 1.0], &mean).is_nan() && max_abs_error(&[f32::NAN, 1.0], &mean).is_nan());
    }

    #[test]
    fn the_nearest_bf16_is_what_the_card_rounds_to() {
        let half = 1.0 + 2f32.powi(-8); // Between 1 and 1 + 2^-7.
        for (x, expected) in [
            (1.0, 1.0),
            (half, 1.0),
            (half + 2f32.powi(-20), 1.0 + 2f32.powi(-7)),
            (1.0 + 3.0 * 2f32.powi(-8), 1.0 + 2f32.powi(-6)),
            (f32::MAX, f32::INFINITY),
            (-f32::MAX, f32::NEG_INFINITY),
            (f32::from_bits(0x7f7f_7fff), f32::from_bits(0x7f7f_0000)),
            (f32::from_bits(0x8000), 0.0),
            (f32::from_bits(0x8001), f32::from_bits(0x1_0000)),
        ] {
            assert_eq!(nearest_bf16(x), expected, "{x:e}");
        }
        for seed in 0..1_000_000 {
            let bits = optireduce_contract::signs::splitmix64(seed) as u32;
            let found = nearest_bf16(f32::from_bits(bits)).to_bits();
            assert_eq!(found, optireduce_hw::arith::bf16::round(bits), "{bits:#x}");
        }
    }

    #[test]
    fn the_variance_of_bf16_is_that_of_rounding_many_numbers() {
        let values = (0..100_000u32).map(|k| f32::from_bits(0x3f80_0000 + k * 83 + 1)); // Over [1, 2).
        let (mut found, mut predicted) = (0.0, 0.0);
        for x in values {
            let error = f64::from(nearest_bf16(x)) - f64::from(x);
            assert!(error.abs() <= 2f64.powi(-8));
            (found, predicted) = (found + error * error, predicted + bf16_variance(f64::from(x)));
        }
        assert!((found / predicted - 1.0).abs() < 0.02, "{found:e}, expected {predicted:e}");
        assert_eq!((bf16_variance(1.9), bf16_variance(-2.0)), (2f64.powi(-14) / 12.0, 2f64.powi(-12) / 12.0));
    }

    #[test]
    fn the_error_of_a_partial_mean_is_that_of_its_subsets() {
        // Two ranks, values 0 and 2: 1 with the peer, 0 without it.
        assert!((mean_error(&[0.0, 2.0], 0, 1.0, 0.25) - 0.25).abs() < 1e-12);
        // Three ranks, 0, 3, 3, mean 2: error 0 with both peers, (1.5 - 2)^2 with one
        // (2 * 0.1 * 0.9), 4 with none (0.01).
        assert!((mean_error(&[0.0, 3.0, 3.0], 0, 2.0, 0.1) - (0.18 * 0.25 + 0.04)).abs() < 1e-12);
    }
}
