//! Weights of the models in a group.
//!
//! Source: dynamic partial reduce of P-Reduce (SIGMOD'21), an exponential moving average over
//! iterations. The default decay is ours.

/// Rule for weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weighting {
    /// Equal weights.
    Constant,
    /// Smaller weights for older models.
    Dynamic {
        /// Weight relative to a model one iteration newer, above 0 and below 1.
        decay: f64,
    },
}

impl Default for Weighting {
    fn default() -> Self {
        Self::Dynamic { decay: 0.5 }
    }
}

/// Weights of models by their iterations, which count from 1. Their sum is 1.
///
/// Dynamic: with newest iteration k and decay a, iteration i has weight (1 - a) a^(k - i) / (1 -
/// a^k). Equal iterations share a weight. The oldest model gets the weights of absent iterations.
pub fn weights(weighting: Weighting, iterations: &[u64]) -> Vec<f64> {
    let (Weighting::Dynamic { decay }, Some(newest), Some(oldest)) =
        (weighting, iterations.iter().max(), iterations.iter().min())
    else {
        return vec![1.0 / iterations.len() as f64; iterations.len()];
    };
    let of_iteration = |i: u64| (1.0 - decay) * decay.powf((newest - i) as f64) / (1.0 - decay.powf(*newest as f64));
    let mut newer: Vec<u64> = iterations.iter().copied().filter(|i| i != oldest).collect();
    newer.sort_unstable();
    newer.dedup();
    let of_oldest = 1.0 - newer.iter().map(|i| of_iteration(*i)).sum::<f64>();
    let share = |i: u64| {
        let equals = iterations.iter().filter(|other| **other == i).count() as f64;
        if i == *oldest { of_oldest / equals } else { of_iteration(i) / equals }
    };
    iterations.iter().map(|i| share(*i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: &[f64], expected: &[f64]) {
        let is_close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15);
        assert!(found.len() == expected.len() && is_close, "{found:?}, expected {expected:?}");
    }

    #[test]
    fn the_weights_are_those_of_the_formula() {
        let half = Weighting::Dynamic { decay: 0.5 };
        // k = 3: 4/7, 2/7 and 1/7.
        assert_close(&weights(half, &[3, 2, 1]), &[4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0]);
        assert_close(&weights(half, &[1, 3]), &[3.0 / 7.0, 4.0 / 7.0]);
        assert_close(&weights(half, &[2, 3, 3]), &[3.0 / 7.0, 2.0 / 7.0, 2.0 / 7.0]);
        assert_close(&weights(half, &[3, 3, 3, 3]), &[0.25; 4]);
        assert_close(&weights(half, &[1]), &[1.0]);
        assert_close(&weights(Weighting::Constant, &[1, 9, 3, 3]), &[0.25; 4]);
        assert!(weights(half, &[]).is_empty() && weights(Weighting::Constant, &[]).is_empty());
    }

    #[test]
    fn after_many_iterations_they_are_still_a_mean() {
        for decay in [1e-9, 0.1, 0.5, 0.9, 1.0 - 1e-9] {
            let weights = weights(Weighting::Dynamic { decay }, &[u64::MAX, u64::MAX - 5, 1_000_000, u64::MAX]);
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{decay}: {weights:?}");
            assert!(weights.iter().all(|weight| (0.0..=1.0).contains(weight)), "{decay}: {weights:?}");
        }
    }
}
