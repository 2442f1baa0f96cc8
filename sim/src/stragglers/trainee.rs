//! A worker's training: model, images and pace.

use super::digits::{self, Image, PARAMETERS};
use crate::random::Random;

const BATCH: usize = 32;
const RATE: f32 = 0.5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    pub begin_ns: u64,
    /// A normal worker's step.
    pub step_ns: u64,
    /// Factor of this worker.
    pub slowness: u64,
    /// Largest relative deviation.
    pub jitter: f64,
    /// Fraction and additional duration of stalled steps.
    pub stall_share: f64,
    pub stall_ns: u64,
}

impl Pace {
    fn draw(&self, random: &mut Random) -> u64 {
        let step_ns = (self.step_ns * self.slowness) as f64;
        let part = random.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0;
        let stall_ns = if random.chance(self.stall_share) { self.stall_ns } else { 0 };
        (step_ns * (1.0 + self.jitter * part)) as u64 + stall_ns
    }
}

#[derive(Clone, Debug)]
pub(super) struct Trainee {
    pub model: Vec<f32>,
    /// `None` while waiting for peers.
    pub trained_ns: Option<u64>,
    pub steps: u64,
    images: Vec<Image>,
    pace: Pace,
    chance_of_pace: Random,
    chance_of_images: Random,
}

impl Trainee {
    /// All workers start with the same model.
    pub fn new(seed: u64, worker: usize, pace: Pace, images: Vec<Image>) -> Self {
        let stream = |of: u64| Random::new(seed, 1 + 2 * worker as u64 + of);
        let mut chance_of_pace = stream(0);
        let trained_ns = Some(pace.begin_ns + pace.draw(&mut chance_of_pace));
        let chance_of_images = stream(1);
        Self { model: vec![0.0; PARAMETERS], trained_ns, steps: 0, images, pace, chance_of_pace, chance_of_images }
    }

    pub fn begin(&mut self, now_ns: u64) {
        self.trained_ns = Some(now_ns + self.pace.draw(&mut self.chance_of_pace));
    }

    /// Ends a training step.
    pub fn gradient(&mut self) -> Vec<f32> {
        self.steps += 1;
        let count = self.images.len() as u64;
        let batch: Vec<&Image> =
            (0..BATCH).map(|_| &self.images[self.chance_of_images.below(count) as usize]).collect();
        digits::gradient(&self.model, &batch)
    }

    pub fn apply(&mut self, gradient: &[f32]) {
        self.model.iter_mut().zip(gradient).for_each(|(value, slope)| *value -= RATE * slope);
    }
}
