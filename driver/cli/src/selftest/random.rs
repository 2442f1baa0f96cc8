//! Random numbers from a seed (SplitMix64).

use optireduce_contract::limits::NAN_BITS;
use optireduce_contract::signs::{SPLITMIX64_STEP, splitmix64};

#[derive(Clone, Debug)]
pub struct Random(u64);

/// Zeros, infinities, NaNs of both kinds and signs, subnormals, and the limits of normal numbers.
const SPECIAL: [u32; 16] = [
    0x0000_0000,
    0x8000_0000,
    0x7f80_0000,
    0xff80_0000,
    NAN_BITS,
    0xffc0_0000,
    0x7f80_0001,
    0xffbf_ffff,
    0x7fff_ffff,
    0x0000_0001,
    0x8000_0001,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
];

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        let value = splitmix64(self.0);
        self.0 = self.0.wrapping_add(SPLITMIX64_STEP);
        value
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    /// Returns the bits of an fp32 number, one in four of them special.
    pub fn fp32_bits(&mut self) -> u32 {
        let number = self.next();
        if number.is_multiple_of(4) { SPECIAL[(number >> 2) as usize % SPECIAL.len()] } else { (number >> 32) as u32 }
    }
}
