//! Benchmark of the transform against a copy of the same bytes and a plain loop.
//!
//! All candidates run in every round, so that other load affects all of them. Ratios are of times
//! within a round. Results are medians over the rounds.

use std::hint::black_box;
use std::time::Instant;

use optireduce_contract::limits::LANES;
use optireduce_contract::shard::interleaved;
use optireduce_contract::signs::{signs16, splitmix64};
use optireduce_core::hadamard::{Code, Kernel, decode_with, encode_with};

/// log2 of the elements of a window (1 MiB).
const WINDOW_LOG2: u32 = 18;
const LOG2_N: [u32; 4] = [8, 10, 12, 14];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Encode,
    Decode,
}

#[derive(Clone, Debug)]
pub struct Speed {
    /// Block size in elements.
    pub n: usize,
    pub kernel: Kernel,
    pub direction: Direction,
    /// Median time of the whole bucket.
    pub time_us: f64,
    /// Bytes of the bucket over `time_us`, in 10^9 per second.
    pub gigabytes_per_s: f64,
    /// Time over the copy's: median, tenth and ninetieth percentile.
    pub over_copy: [f64; 3],
    /// Median of the time over the plain loop's.
    pub over_plain_loop: f64,
}

/// Measures all kernels of this processor on one core. `megabytes`: size of the bucket in MiB,
/// which should exceed the caches.
pub fn measure(megabytes: usize, rounds: usize) -> Vec<Speed> {
    let elements = megabytes.max(1) << 18;
    let gradient: Vec<f32> = (0..elements as u64).map(|i| (splitmix64(i) as i64 >> 40) as f32 * 1e-9).collect();
    let (mut window, mut result) = (vec![0.0; elements + LANES], vec![0.0; elements + LANES]);
    let (window, result) = (aligned(&mut window, elements), aligned(&mut result, elements));
    let cases: Vec<(u32, Direction)> =
        LOG2_N.into_iter().flat_map(|n| [(n, Direction::Encode), (n, Direction::Decode)]).collect();
    let kernels: Vec<Kernel> = Kernel::available().collect();

    // Times in us by round: the copy, then the plain loop and the kernels for each case.
    let mut times: Vec<Vec<f64>> = vec![];
    for _ in 0..rounds.max(1) {
        let mut round = vec![timed(|| black_box(&mut *result).copy_from_slice(black_box(&gradient)))];
        for &(log2_n, direction) in &cases {
            for kernel in std::iter::once(None).chain(kernels.iter().copied().map(Some)) {
                let (from, to) = match direction {
                    Direction::Encode => (&gradient[..], &mut *window),
                    Direction::Decode => (&*window, &mut *result),
                };
                round.push(timed(|| through(kernel, log2_n, direction, black_box(from), black_box(to))));
            }
        }
        times.push(round);
    }

    let mut rows = vec![];
    let column = |at: usize| times.iter().map(|round| round[at]).collect::<Vec<_>>();
    let ratios = |at: usize, to: usize| times.iter().map(|round| round[at] / round[to]).collect::<Vec<_>>();
    for (case, &(log2_n, direction)) in cases.iter().enumerate() {
        let plain = 1 + case * (1 + kernels.len());
        for (at, &kernel) in (plain + 1..).zip(&kernels) {
            let time_us = percentile(column(at), 50);
            rows.push(Speed {
                n: 1 << log2_n,
                kernel,
                direction,
                time_us,
                gigabytes_per_s: 4e-3 * elements as f64 / time_us,
                over_copy: [50, 10, 90].map(|percent| percentile(ratios(at, 0), percent)),
                over_plain_loop: percentile(ratios(at, plain), 50),
            });
        }
    }
    rows
}

/// Skips to a cache line.
fn aligned(values: &mut [f32], elements: usize) -> &mut [f32] {
    let skip = values.as_ptr().align_offset(64);
    &mut values[skip..][..elements]
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}

/// Percentile without interpolation; between two values the lower one.
fn percentile(mut values: Vec<f64>, percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) * percent / 100]
}

/// `kernel`: `None` for the plain loop.
fn through(kernel: Option<Kernel>, log2_n: u32, direction: Direction, from: &[f32], to: &mut [f32]) {
    let code = Code { log2_n, log2_blocks: WINDOW_LOG2 - log2_n, sign_key: 1 };
    for (from, to) in from.chunks_exact(code.elements()).zip(to.chunks_exact_mut(code.elements())) {
        match (kernel, direction) {
            (Some(kernel), Direction::Encode) => encode_with(kernel, code, from, to),
            (Some(kernel), Direction::Decode) => decode_with(kernel, code, from, None, to),
            (None, _) => plain_loop(code, direction, from, to),
        }
    }
}

/// Textbook transform in fp32, stage by stage.
fn plain_loop(code: Code, direction: Direction, from: &[f32], to: &mut [f32]) {
    let (n, blocks) = (1 << code.log2_n, code.blocks());
    let factor = 1.0 / f32::sqrt(n as f32);
    let mut values = [0.0; 1 << 14];
    let values = &mut values[..n];
    for block in 0..blocks {
        for (beat, lanes) in values.chunks_exact_mut(LANES).enumerate() {
            let at = match direction {
                Direction::Encode => block * n / LANES + beat,
                Direction::Decode => interleaved(block, beat, blocks),
            };
            lanes.copy_from_slice(&from[at * LANES..][..LANES]);
            if direction == Direction::Encode {
                plain_signs(code, block, beat, lanes);
            }
        }
        let mut distance = 1;
        while distance < n {
            for pair in values.chunks_exact_mut(2 * distance) {
                let (low, high) = pair.split_at_mut(distance);
                for (a, b) in low.iter_mut().zip(high) {
                    (*a, *b) = (*a + *b, *a - *b);
                }
            }
            distance *= 2;
        }
        for (beat, lanes) in values.chunks_exact_mut(LANES).enumerate() {
            let at = match direction {
                Direction::Encode => interleaved(block, beat, blocks),
                Direction::Decode => block * n / LANES + beat,
            };
            if direction == Direction::Decode {
                plain_signs(code, block, beat, lanes);
            }
            for (to, lane) in to[at * LANES..].iter_mut().zip(lanes) {
                *to = *lane * factor;
            }
        }
    }
}

fn plain_signs(code: Code, block: usize, beat: usize, lanes: &mut [f32]) {
    let signs = signs16(code.sign_key, ((block << code.log2_n) / LANES + beat) as u32);
    for (i, lane) in lanes.iter_mut().enumerate() {
        *lane = f32::from_bits(lane.to_bits() ^ u32::from(signs >> i & 1) << 31);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_loop_computes_what_the_kernels_do() {
        let gradient: Vec<f32> = (0..1 << WINDOW_LOG2).map(|i| (splitmix64(i) as i64 >> 40) as f32).collect();
        for (log2_n, direction) in LOG2_N.into_iter().flat_map(|n| [(n, Direction::Encode), (n, Direction::Decode)]) {
            let (mut plain, mut kernel) = (vec![0.0; gradient.len()], vec![0.0; gradient.len()]);
            through(None, log2_n, direction, &gradient, &mut plain);
            through(Some(Kernel::best()), log2_n, direction, &gradient, &mut kernel);
            let error: f64 = plain.iter().zip(&kernel).map(|(a, b)| f64::from(a - b).powi(2)).sum();
            let energy: f64 = kernel.iter().map(|b| f64::from(*b).powi(2)).sum();
            assert!(error < 1e-11 * energy, "n 2^{log2_n}, {direction:?}: NMSE {:e}", error / energy);
        }
    }

    #[test]
    fn every_kernel_is_measured_in_every_case_and_ratios_belong_together() {
        let rows = measure(1, 2);
        assert_eq!(rows.len(), 8 * Kernel::available().count());
        for row in rows {
            let bytes = row.gigabytes_per_s * row.time_us * 1e3;
            assert!((bytes - f64::from(1 << 20)).abs() < 1.0, "{row:?}");
            assert!(row.over_copy[1] <= row.over_copy[0] && row.over_copy[0] <= row.over_copy[2], "{row:?}");
        }
    }
}
