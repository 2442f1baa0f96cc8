//! Deterministic random stimulus for tests: splitmix64 (Steele, Lea and Flood, 2014).

use optireduce_contract::signs::{SPLITMIX64_STEP, splitmix64};

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    #[allow(clippy::should_implement_trait)] // an endless iterator would only add an unwrap
    pub fn next(&mut self) -> u64 {
        let word = splitmix64(self.0);
        self.0 = self.0.wrapping_add(SPLITMIX64_STEP);
        word
    }

    /// Returns a number below `bound`, which is at least 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((self.next() as u128 * bound as u128) >> 64) as u64
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Returns the bits of two floats that are hard to add or multiply: arbitrary bits, edge
    /// values, close exponents, exact opposites, and products close to underflow or overflow.
    pub fn float_pair(&mut self) -> [u32; 2] {
        let [a, b] = [self.next() as u32, self.next() as u32];
        let fraction = |word: u32| word & 0x807f_ffff;
        let exponent_a = a >> 23 & 0xff;
        let near =
            |center: u32, word: u32| fraction(word) | ((center + (word >> 23 & 7)).saturating_sub(4) & 0xff) << 23;
        match self.below(8) {
            0 => [a, near(exponent_a, b)],
            1 => [a, a ^ 0x8000_0000 ^ (1 << self.below(32) >> 1)],
            2 => [a, near(127 + 127 - exponent_a.min(254), b)],
            3 => [a, near(126u32.saturating_sub(exponent_a), b)],
            4 => [a, near(380u32.saturating_sub(exponent_a).min(255), b)],
            5 => [fraction(a), self.edge_float()],
            6 => [self.edge_float(), self.edge_float()],
            _ => [a, b],
        }
    }

    fn edge_float(&mut self) -> u32 {
        let at = self.below(EDGES as u64 * 2);
        edge_floats().nth(at as usize).unwrap_or_default()
    }
}

const EDGE_EXPONENTS: [u32; 16] = [0, 1, 2, 23, 24, 25, 102, 103, 104, 126, 127, 128, 151, 253, 254, 255];
const EDGE_FRACTIONS: [u32; 8] = [0, 1, 2, 0x3f_ffff, 0x40_0000, 0x40_0001, 0x7f_fffe, 0x7f_ffff];
const EDGES: usize = EDGE_EXPONENTS.len() * EDGE_FRACTIONS.len();

/// Bits of floats at the edges of the format, of both signs: zeros, subnormals, powers of two with
/// neighbours, largest finite values, infinities and NaNs.
pub fn edge_floats() -> impl Iterator<Item = u32> {
    (0..2 * EDGES).map(|i| {
        let (sign, exponent, fraction) = (i / EDGES, i % EDGES / 8, i % 8);
        (sign as u32) << 31 | EDGE_EXPONENTS[exponent] << 23 | EDGE_FRACTIONS[fraction]
    })
}
