//! A pseudorandom generator: SplitMix64 in counter mode.

use optireduce_contract::signs::splitmix64;

use crate::network::unit;

#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Creates a stream of a seed. Streams are independent.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(splitmix64(seed ^ splitmix64(stream)))
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        splitmix64(self.0)
    }

    /// 0 to `n` - 1; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next_u64() % n.max(1)
    }

    /// Both ends included.
    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        unit(self.next_u64()) < probability
    }

    /// `of` must not be empty.
    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}
