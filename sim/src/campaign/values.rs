//! Gradients that identify their contributors: each mean determines the set of ranks in it.
//!
//! Every 16 elements (a beat on the wire) form a stamp. Its first elements encode the contributors:
//! rank r adds 2^(r mod 16) to element r / 16. Four elements are equal on all ranks and identify
//! collective, bucket, place and job. The others are drawn per rank. All values are integers below
//! 2^16, so sums of 64 ranks are exact in fp32. The expected mean is that sum times the fp32
//! reciprocal of the number of ranks (ARCHITECTURE.md, "Rounding and NaN"). Foreign or duplicate
//! contributions give the mean of no set of ranks.

use optireduce_contract::signs::splitmix64;

pub(super) const LANES: usize = 16;
/// Limit of ranks in a stamp.
pub(super) const RANKS_MAX: usize = 64;
/// Limit of ranks in jobs with encoded or bf16 buckets, where judges try every set.
pub(super) const RANKS_TRIED: usize = 10;
/// Rounding error of corrections in fp32.
const ROUNDING: f64 = 0.06;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub seed: u64,
    pub op: u32,
    pub bucket: u16,
    pub ranks: usize,
}

impl Stamp {
    /// Elements that encode the set of ranks.
    pub fn set_lanes(ranks: usize) -> usize {
        ranks.div_ceil(16)
    }

    pub fn value(&self, rank: usize, element: usize) -> f32 {
        self.whole(rank, element) as f32
    }

    fn whole(&self, rank: usize, element: usize) -> u32 {
        let (group, lane) = (element / LANES, element % LANES);
        let drawn = |of: u64| splitmix64(self.seed ^ splitmix64(u64::from(self.op) << 32 | of)) as u32 % 4095 + 1;
        let set_lanes = Self::set_lanes(self.ranks);
        if lane < set_lanes {
            return u32::from(rank / 16 == lane) << (rank % 16);
        }
        match lane - set_lanes {
            1 => self.op % 4095 + 1,
            2 => u32::from(self.bucket) % 4095 + 1,
            3 => group as u32 % 4095 + 1,
            4 => drawn(u64::from(self.bucket) << 24 ^ group as u64),
            _ => drawn((rank as u64 + 1) << 48 ^ (element as u64) << 16 ^ u64::from(self.bucket)),
        }
    }

    pub fn gradient(&self, rank: usize, first: usize, elements: usize) -> Vec<f32> {
        (first..first + elements).map(|element| self.value(rank, element)).collect()
    }

    /// Returns the mean over `set` (bit r: rank r), as computed by a data plane to the bit.
    pub fn mean(&self, set: u64, first: usize, elements: usize) -> Vec<f32> {
        let reciprocal = 1.0 / set.count_ones() as f32;
        let sum = |element: usize| ranks_of(set).map(|rank| self.whole(rank, element)).sum::<u32>() as f32;
        (first..first + elements).map(|element| sum(element) * reciprocal).collect()
    }

    /// Returns the set of `allowed` ranks whose mean equals `found` bit for bit. `found` is a
    /// stamp, the last one possibly shortened, and begins at element `first`.
    pub fn contributors(&self, found: &[f32], first: usize, allowed: u64) -> Option<u64> {
        let is_it = |set: &u64| {
            let expected = self.mean(*set, first, found.len());
            expected.iter().zip(found).all(|(one, other)| one.to_bits() == other.to_bits())
        };
        self.candidates(found, allowed).find(is_it)
    }

    /// As [`contributors`](Self::contributors), with the tolerance of corrections.
    pub fn contributors_about(&self, found: &[f64], first: usize, allowed: u64) -> Option<u64> {
        let rounded: Vec<f32> = found.iter().map(|value| *value as f32).collect();
        let is_it = |set: &u64| are_close(&self.mean(*set, first, found.len()), found);
        self.candidates(&rounded, allowed).find(is_it)
    }

    /// Returns at most one set per number of ranks, such that all sums are integers.
    fn candidates(&self, found: &[f32], allowed: u64) -> impl Iterator<Item = u64> {
        let sums: Vec<f64> = found.iter().take(Self::set_lanes(self.ranks)).map(|value| f64::from(*value)).collect();
        (1..=allowed.count_ones()).filter_map(move |count| {
            let mut set = 0u64;
            for (lane, mean) in sums.iter().enumerate() {
                let sum = (mean * f64::from(count)).round();
                if !(0.0..65536.0).contains(&sum) || (sum - mean * f64::from(count)).abs() > ROUNDING * f64::from(count)
                {
                    return None;
                }
                set |= (sum as u64) << (16 * lane);
            }
            (set.count_ones() == count && set & !allowed == 0).then_some(set)
        })
    }
}

pub(super) fn are_close(expected: &[f32], found: &[f64]) -> bool {
    expected.len() == found.len()
        && expected.iter().zip(found).all(|(one, other)| (f64::from(*one) - other).abs() <= ROUNDING)
}

pub(super) fn ranks_of(set: u64) -> impl Iterator<Item = usize> {
    (0..RANKS_MAX).filter(move |rank| set >> rank & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp { seed: 7, op: 3, bucket: 5, ranks: 64 };

    #[test]
    fn a_mean_names_its_contributors() {
        for set in [1, 0b1011, 0xff, u64::MAX, 1 << 63 | 1, 0x8000_8000_8000_8000] {
            for first in [0, 64] {
                let mean = STAMP.mean(set, first, LANES);
                assert_eq!(STAMP.contributors(&mean, first, u64::MAX), Some(set));
                assert_eq!(STAMP.contributors(&mean, first, !(1 << set.trailing_zeros())), None);
            }
        }
    }

    #[test]
    fn what_is_no_mean_of_this_collective_is_of_nobody() {
        let sum = |ranks: &[(Stamp, usize)], count: f32| -> Vec<f32> {
            (0..LANES)
                .map(|at| ranks.iter().map(|(of, rank)| of.value(*rank, at)).sum::<f32>() * (1.0 / count))
                .collect()
        };
        let nobody = |found: Vec<f32>| assert_eq!(STAMP.contributors(&found, 0, 0xff), None, "{found:?}");
        // Rank 0 twice, as the mean of two and of three.
        nobody(sum(&[(STAMP, 0), (STAMP, 0), (STAMP, 1)], 2.0));
        nobody(sum(&[(STAMP, 0), (STAMP, 0), (STAMP, 1)], 3.0));
        // Another collective, bucket or job; another place.
        for other in [Stamp { op: 4, ..STAMP }, Stamp { bucket: 6, ..STAMP }, Stamp { seed: 8, ..STAMP }] {
            nobody(sum(&[(STAMP, 0), (other, 1)], 2.0));
        }
        nobody(STAMP.mean(3, LANES, LANES));
        // Wrong count, empty, one bit.
        nobody(sum(&[(STAMP, 0), (STAMP, 1)], 3.0));
        nobody(vec![0.0; LANES]);
        let mut mean = STAMP.mean(3, 0, LANES);
        mean[12] = f32::from_bits(mean[12].to_bits() ^ 1);
        nobody(mean);
    }
}
