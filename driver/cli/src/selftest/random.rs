//! Random numbers from a seed (SplitMix64), and from them numbers to compute with.

use optireduce_contract::limits::NAN_BITS;

/// The same numbers from the same seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

/// Numbers in which arithmetic goes wrong first: zeros, infinities, NaNs of both kinds and signs, subnormals, and the edges of normal numbers.
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
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    /// The bits of an fp32 number: one in four is special, the others may be any.
    pub fn fp32_bits(&mut self) -> u32 {
        let number = self.next();
        if number.is_multiple_of(4) { SPECIAL[(number >> 2) as usize % SPECIAL.len()] } else { (number >> 32) as u32 }
    }
}
