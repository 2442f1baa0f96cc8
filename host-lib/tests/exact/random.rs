//! Random numbers from a printed seed. Set `OPTIREDUCE_TEST_SEED` to repeat a run.
#![allow(dead_code)]

use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn seed() -> u64 {
        let given = std::env::var("OPTIREDUCE_TEST_SEED").ok().map(|seed| seed.parse().expect("OPTIREDUCE_TEST_SEED"));
        let seed = given.unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64);
        println!("OPTIREDUCE_TEST_SEED={seed}");
        seed
    }

    /// One of many independent sequences of a seed.
    pub fn new(seed: u64, sequence: u64) -> Self {
        Self(seed ^ sequence.wrapping_mul(0xd134_2543_de82_ef95))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..length.div_ceil(8)).flat_map(|_| self.next().to_le_bytes()).collect();
        bytes.truncate(length);
        bytes
    }
}
