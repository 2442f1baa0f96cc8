//! The trained model: softmax regression on handwritten digits.
//!
//! It is small enough for long simulations. Training is real, since the effect of late or rare
//! averages on learning cannot be predicted. Some digits may be rare outside a worker's shard, so
//! that a lost or late update matters.

use safetensors::tensor::{Dtype, SafeTensors};

use crate::error::SimError;
use crate::random::Random;

/// See `sim/data/README.md`.
const SHIPPED: &[u8] = include_bytes!("../../data/digits.safetensors");
const SHIPPED_NAME: &str = "(built-in digits)";
/// Pixels, and a constant one for the bias.
const INPUTS: usize = 65;
const DIGITS: usize = 10;
const WHITE: f32 = 16.0;
/// Training images; the others are test images.
const TRAINED: usize = 1440;

pub(super) const PARAMETERS: usize = INPUTS * DIGITS;
/// Small, so that every part of the model is several packets. The loss of a peer's only packet
/// would look like a late peer.
pub(super) const PAYLOAD_BEATS: usize = 1;

#[derive(Clone, Debug)]
pub(super) struct Image {
    inputs: [f32; INPUTS],
    digit: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Digits {
    pub shards: Vec<Vec<Image>>,
    pub tests: Vec<Image>,
}

impl Digits {
    /// The seed selects the test images. `own`: fraction of a worker's images that show its own
    /// digits.
    pub fn deal(seed: u64, workers: usize, own: f64) -> Result<Self, SimError> {
        let mut images = shipped()?;
        let mut random = Random::new(seed, 0);
        (1..images.len()).rev().for_each(|at| images.swap(at, random.below(at as u64 + 1) as usize));
        let tests = images.split_off(TRAINED);
        let mut own = images.split_off(TRAINED - (TRAINED as f64 * own) as usize);
        own.sort_by_key(|image| image.digit);
        let end = |worker: usize| worker * own.len() / workers;
        let mut shards: Vec<Vec<Image>> = (0..workers).map(|at| own[end(at)..end(at + 1)].to_vec()).collect();
        images.into_iter().enumerate().for_each(|(at, image)| shards[at % workers].push(image));
        Ok(Self { shards, tests })
    }
}

fn shipped() -> Result<Vec<Image>, SimError> {
    let fail = |problem: String| SimError::Input { file: SHIPPED_NAME.into(), problem };
    let file = SafeTensors::deserialize(SHIPPED).map_err(|error| fail(error.to_string()))?;
    let bytes = |name: &str| {
        let tensor = file.tensor(name).map_err(|error| fail(format!("tensor {name}: {error}")))?;
        let dtype = tensor.dtype();
        let is_bytes = dtype == Dtype::U8;
        if is_bytes { Ok(tensor.data()) } else { Err(fail(format!("tensor {name}: dtype is {dtype:?}, expected U8"))) }
    };
    let image = |(pixels, digit): (&[u8], &u8)| {
        let mut inputs = [1.0; INPUTS];
        inputs.iter_mut().zip(pixels).for_each(|(input, pixel)| *input = f32::from(*pixel) / WHITE);
        Image { inputs, digit: usize::from(*digit) % DIGITS }
    };
    Ok(bytes("images")?.chunks_exact(INPUTS - 1).zip(bytes("labels")?).map(image).collect())
}

fn probabilities(model: &[f32], image: &Image) -> [f32; DIGITS] {
    let mut scores = [0.0_f32; DIGITS];
    for (input, weights) in image.inputs.iter().zip(model.chunks_exact(DIGITS)).filter(|(input, _)| **input > 0.0) {
        scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += input * weight);
    }
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - most).exp());
    let sum: f32 = scores.iter().sum();
    scores.map(|score| score / sum)
}

/// Gradient of the cross entropy.
pub(super) fn gradient(model: &[f32], batch: &[&Image]) -> Vec<f32> {
    let mut gradient = vec![0.0; PARAMETERS];
    for image in batch {
        let mut errors = probabilities(model, image);
        errors[image.digit] -= 1.0;
        for (input, sums) in
            image.inputs.iter().zip(gradient.chunks_exact_mut(DIGITS)).filter(|(input, _)| **input > 0.0)
        {
            sums.iter_mut().zip(&errors).for_each(|(sum, error)| *sum += input * error / batch.len() as f32);
        }
    }
    gradient
}

pub(super) fn accuracy(model: &[f32], images: &[Image]) -> f64 {
    let is_right = |image: &&Image| {
        let found = probabilities(model, image);
        // The first of equal maxima.
        let most = (0..DIGITS).rev().max_by(|one, other| found[*one].total_cmp(&found[*other]));
        most == Some(image.digit)
    };
    images.iter().filter(is_right).count() as f64 / images.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_the_slope_of_the_cross_entropy() {
        let images = shipped().unwrap();
        let batch: Vec<&Image> = images.iter().step_by(90).collect();
        let mut random = Random::new(3, 3);
        let model: Vec<f32> = (0..PARAMETERS).map(|_| random.below(1000) as f32 / 5000.0).collect();
        let loss = |model: &[f32]| {
            let of = |image: &&Image| -f64::from(probabilities(model, image)[image.digit]).ln();
            batch.iter().map(of).sum::<f64>() / batch.len() as f64
        };
        let gradient = gradient(&model, &batch);
        for parameter in (0..PARAMETERS).step_by(37).chain([PARAMETERS - 1]) {
            let at = |step: f32| {
                let mut model = model.clone();
                model[parameter] += step;
                loss(&model)
            };
            let slope = (at(0.01) - at(-0.01)) / 0.02;
            let found = f64::from(gradient[parameter]);
            assert!((found - slope).abs() < 1e-4, "parameter {parameter}: {found}, expected {slope}");
        }
    }

    #[test]
    fn every_image_is_dealt_out_once_and_most_of_a_workers_are_of_its_own_digits() {
        let all = shipped().unwrap();
        assert_eq!(all.len(), 1797);
        for workers in [2, 4, 8, 63, 64] {
            let dealt = Digits::deal(1, workers, 0.8).unwrap();
            assert_eq!((dealt.shards.len(), dealt.tests.len()), (workers, 357));
            let mut found: Vec<_> = dealt.shards.concat().iter().chain(&dealt.tests).map(key).collect();
            let mut expected: Vec<_> = all.iter().map(key).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{workers} workers");
            let common = |shard: &Vec<Image>| {
                let mut counts = [0; DIGITS];
                shard.iter().for_each(|image| counts[image.digit] += 1);
                counts.sort_unstable();
                counts[DIGITS - DIGITS.div_ceil(workers) - 1..].iter().sum::<usize>() as f64 / shard.len() as f64
            };
            assert!(dealt.shards.iter().all(|shard| common(shard) > 0.75), "{workers} workers");
        }
        let tests = |seed| Digits::deal(seed, 4, 0.8).unwrap().tests.iter().map(key).collect::<Vec<_>>();
        assert!(tests(1) == tests(1) && tests(1) != tests(2));
        for own in [0.0, 1.0] {
            let dealt = Digits::deal(1, 64, own).unwrap();
            assert!(dealt.shards.iter().all(|shard| shard.len() >= TRAINED / 64), "{own}");
        }
    }

    fn key(image: &Image) -> (usize, Vec<u32>) {
        (image.digit, image.inputs.iter().map(|input| input.to_bits()).collect())
    }
}
