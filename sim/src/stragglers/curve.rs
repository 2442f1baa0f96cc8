//! Accuracy over time.

use super::digits::{Image, accuracy};
use super::trainee::Trainee;

const POINT_NS: u64 = 50_000_000;

/// Test accuracy of the mean of the workers' models, over time.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    tests: Vec<Image>,
    points: Vec<f64>,
}

impl Curve {
    pub fn new(tests: Vec<Image>) -> Self {
        Self { tests, points: Vec::new() }
    }

    /// Adds points up to `until_ns`, for models that do not change until then.
    pub fn note(&mut self, until_ns: u64, trainees: &[Trainee]) {
        if self.next_ns() > until_ns {
            return;
        }
        let found = accuracy(&mean(trainees), &self.tests);
        while self.next_ns() <= until_ns {
            self.points.push(found);
        }
    }

    fn next_ns(&self) -> u64 {
        (self.points.len() as u64 + 1) * POINT_NS
    }

    pub fn seconds_to(&self, target: f64) -> Option<f64> {
        let at = self.points.iter().position(|found| *found >= target)?;
        Some((at as u64 + 1) as f64 * POINT_NS as f64 / 1e9)
    }

    pub fn last(&self) -> f64 {
        self.points.last().copied().unwrap_or(0.0)
    }

    pub fn least(&self, trainees: &[Trainee]) -> f64 {
        trainees.iter().map(|one| accuracy(&one.model, &self.tests)).fold(1.0, f64::min)
    }
}

fn mean(trainees: &[Trainee]) -> Vec<f32> {
    let count = trainees.len() as f32;
    let mut mean = vec![0.0; trainees.first().map_or(0, |one| one.model.len())];
    for one in trainees {
        mean.iter_mut().zip(&one.model).for_each(|(sum, value)| *sum += value / count);
    }
    mean
}

/// Largest distance of a model from the mean, relative to the norm of the mean.
pub(super) fn distance(trainees: &[Trainee]) -> f64 {
    let mean = mean(trainees);
    let length =
        |values: &mut dyn Iterator<Item = f32>| values.map(|value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    let of = |one: &Trainee| length(&mut one.model.iter().zip(&mean).map(|(value, mean)| value - mean));
    let longest = trainees.iter().map(of).fold(0.0, f64::max);
    longest / length(&mut mean.iter().copied()).max(f64::MIN_POSITIVE)
}
