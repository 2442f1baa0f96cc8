//! Signs of the randomised Hadamard transform: a counter-based generator for one beat a cycle.
//!
//! Signs must be new in every step, equal on all ranks, and computable for any beat alone
//! (OptiReduce 3.3). Software derives a 64-bit key per window. The card turns key and beat number
//! into 16 sign bits with shifts, adds and xors only.

/// Returns sixteen sign bits for one beat: bit i negates lane i.
///
/// `key` is from [`window_key`]. `beat` numbers the window's beats in block order.
pub const fn signs16(key: u64, beat: u32) -> u16 {
    mix((beat ^ (key >> 32) as u32).wrapping_add(key as u32)) as u16
}

/// Returns the key of a window's signs.
pub const fn window_key(job_seed: u64, step: u16, bucket: u16, window: u16) -> u64 {
    let place = (step as u64) << 32 | (bucket as u64) << 16 | window as u64;
    splitmix64(splitmix64(job_seed).wrapping_add(place))
}

/// Bob Jenkins' 32-bit integer hash, a bijection.
const fn mix(mut a: u32) -> u32 {
    a = a.wrapping_add(0x7ed5_5d16).wrapping_add(a << 12);
    a = (a ^ 0xc761_c23c) ^ (a >> 19);
    a = a.wrapping_add(0x1656_67b1).wrapping_add(a << 5);
    a = a.wrapping_add(0xd3a2_646c) ^ (a << 9);
    a = a.wrapping_add(0xfd70_46c5).wrapping_add(a << 3);
    (a ^ 0xb55a_4f09) ^ (a >> 16)
}

/// Increment of the state of SplitMix64.
pub const SPLITMIX64_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea and Flood 2014), one step, used as a hash.
pub const fn splitmix64(x: u64) -> u64 {
    let mut z = x.wrapping_add(SPLITMIX64_STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_balanced_and_differ_between_windows() {
        let (a, b) = (window_key(7, 1, 0, 0), window_key(7, 1, 0, 1));
        assert_ne!(a, b);
        let ones = |key| (0..4096).map(|beat| signs16(key, beat).count_ones()).sum::<u32>();
        // 65 536 fair bits have a standard deviation of 128. The bound is five of them.
        for key in [a, b, window_key(8, 1, 0, 0), 0, u64::MAX] {
            assert!(ones(key).abs_diff(32_768) < 640, "key {key:#x} gives {} ones", ones(key));
        }
        let equal: u32 = (0..4096).map(|beat| (!(signs16(a, beat) ^ signs16(b, beat))).count_ones()).sum();
        assert!(equal.abs_diff(32_768) < 640, "two windows agree in {equal} of 65536 signs");
    }
}
