//! Layout of a bucket on the wire: windows, owners of beats, and the Hadamard transform in f64 by
//! its definition y = H diag(s) x / sqrt(n).
//!
//! Sources: OptiReduce 3.1 and 3.3, and the documentation of `protocol/plan.rs`.

use optireduce_contract::signs::{signs16, window_key};

use super::super::plan::JobPlan;
use super::super::styles::block_elements;
use super::super::values::{LANES, ranks_of};

pub(super) struct Layout {
    /// First beat and number of beats.
    windows: Vec<(usize, usize)>,
    /// Beats of a Hadamard block; 0 without encoding.
    block_beats: usize,
    op: u32,
    bucket: u16,
    job_seed: u64,
}

impl Layout {
    pub fn new(plan: &JobPlan, op: u32, elements: usize, is_encoded: bool) -> Self {
        let window_beats = plan.settings.window_beats.max(plan.ranks);
        let block_beats = if is_encoded { block_elements(elements, window_beats, plan.cards != 0) / LANES } else { 0 };
        let (beats, unit) = (elements.div_ceil(LANES), block_beats.max(1));
        let (mut windows, mut first) = (Vec::new(), 0);
        while first < beats {
            let units = (beats - first).min(window_beats) / unit;
            let units = if is_encoded { 1 << units.max(1).ilog2() } else { units };
            windows.push((first, units * unit));
            first += units * unit;
        }
        Self { windows, block_beats, op, bucket: plan.calls[op as usize].bucket, job_seed: plan.seed }
    }

    pub fn is_encoded(&self) -> bool {
        self.block_beats > 0
    }

    pub fn owner(&self, members: u64, beat: usize) -> Option<usize> {
        let (first, length) = *self.windows.iter().rfind(|(first, _)| *first <= beat)?;
        let (place, ranks) = (beat - first, members.count_ones() as usize);
        let (short, long) = (length / ranks, length % ranks);
        let shard =
            if place < long * (short + 1) { place / (short + 1) } else { long + (place - long * (short + 1)) / short };
        ranks_of(members).nth((shard + ranks - self.op as usize % ranks) % ranks)
    }

    /// Returns the blocks, as beats of the bucket and places on the wire. Without encoding each
    /// beat is a block.
    pub fn blocks(&self, beats: usize) -> Vec<(std::ops::Range<usize>, Vec<usize>)> {
        if !self.is_encoded() {
            return (0..beats).map(|beat| (beat..beat + 1, vec![beat])).collect();
        }
        let mut all = Vec::new();
        for (first, length) in &self.windows {
            let blocks = length / self.block_beats;
            for block in 0..blocks {
                let start = first + block * self.block_beats;
                let places = (0..self.block_beats).map(|beat| first + beat * blocks + block).collect();
                all.push((start..start + self.block_beats, places));
            }
        }
        all
    }

    /// Encodes `values` as on the wire.
    pub fn to_wire(&self, values: &[f32]) -> Vec<f64> {
        let mut wire: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
        if !self.is_encoded() {
            return wire;
        }
        for (index, (first, length)) in self.windows.iter().enumerate() {
            let key = window_key(self.job_seed, self.op as u16, self.bucket, index as u16);
            let blocks = length / self.block_beats;
            for block in 0..blocks {
                let start = first + block * self.block_beats;
                let of = &values[start * LANES..(start + self.block_beats) * LANES];
                let signs =
                    |at: usize| signs16(key, (block * self.block_beats + at / LANES) as u32) >> (at % LANES) & 1;
                let signed = |(at, value): (usize, &f32)| if signs(at) == 1 { -*value } else { *value };
                let mut of: Vec<f64> = of.iter().enumerate().map(|pair| f64::from(signed(pair))).collect();
                transform(&mut of);
                for (beat, lanes) in of.chunks(LANES).enumerate() {
                    wire[(first + beat * blocks + block) * LANES..][..LANES].copy_from_slice(lanes);
                }
            }
        }
        wire
    }
}

fn transform(values: &mut [f64]) {
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            low.iter_mut().zip(high).for_each(|(low, high)| (*low, *high) = (*low + *high, *low - *high));
        }
        half *= 2;
    }
    let scale = 1.0 / (values.len() as f64).sqrt();
    values.iter_mut().for_each(|value| *value *= scale);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transform_is_its_own_inverse_and_spreads_one_value_evenly() {
        let mut values = vec![0.0; 256];
        values[3] = 16.0;
        transform(&mut values);
        assert!(values.iter().all(|value| value.abs() == 1.0));
        transform(&mut values);
        assert!(values.iter().enumerate().all(|(at, value)| (value - if at == 3 { 16.0 } else { 0.0 }).abs() < 1e-12));
    }
}
