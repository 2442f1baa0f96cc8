//! Signs of the randomised Hadamard transform: a counter-based generator cheap enough for one beat a cycle.
//!
//! Why: signs must be fresh every step, the same on every rank, and computable for any beat without its predecessors
//! (OptiReduce 3.3). A 64-bit key per (job seed, step, bucket, window) is derived in software; the card turns key and
//! beat number into 16 sign bits with shifts, adds and xors only.

/// Sixteen sign bits for one beat: bit i set negates lane i.
///
/// `key`: from [`window_key`]; `beat`: beat of the window in block order (block * beats per block + beat of the block).
pub const fn signs16(key: u64, beat: u32) -> u16 {
    mix((beat ^ (key >> 32) as u32).wrapping_add(key as u32)) as u16
}

/// Key of a window's signs. All ranks of a job derive the same one.
pub const fn window_key(job_seed: u64, step: u16, bucket: u16, window: u16) -> u64 {
    let place = (step as u64) << 32 | (bucket as u64) << 16 | window as u64;
    splitmix64(splitmix64(job_seed).wrapping_add(place))
}

/// Bob Jenkins' 32-bit integer hash: a bijection made of shifts, adds and xors.
const fn mix(mut a: u32) -> u32 {
    a = a.wrapping_add(0x7ed5_5d16).wrapping_add(a << 12);
    a = (a ^ 0xc761_c23c) ^ (a >> 19);
    a = a.wrapping_add(0x1656_67b1).wrapping_add(a << 5);
    a = a.wrapping_add(0xd3a2_646c) ^ (a << 9);
    a = a.wrapping_add(0xfd70_46c5).wrapping_add(a << 3);
    (a ^ 0xb55a_4f09) ^ (a >> 16)
}

/// By how much the state of SplitMix64 moves from one number to the next.
pub const SPLITMIX64_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea and Flood 2014): one step of a 64-bit generator, used as a hash.
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
        // 65 536 fair bits: standard deviation 128; five of them either way.
        for key in [a, b, window_key(8, 1, 0, 0), 0, u64::MAX] {
            assert!(ones(key).abs_diff(32_768) < 640, "key {key:#x} gives {} ones", ones(key));
        }
        let equal: u32 = (0..4096).map(|beat| (!(signs16(a, beat) ^ signs16(b, beat))).count_ones()).sum();
        assert!(equal.abs_diff(32_768) < 640, "two windows agree in {equal} of 65536 signs");
    }
}
