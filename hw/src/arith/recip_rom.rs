//! Reciprocals of contribution counts as binary32, which turn a sum into a mean.
//!
//! Latency: 1 cycle, see [`Rom`]. Limits: counts 1 to 1024.

use crate::hdl::prelude::*;
use crate::mem::ram::Rom;

/// The word at `address` is 1 / (address + 1).
pub type RecipRom = Rom<W<32>, 10>;

pub fn recip_rom() -> RecipRom {
    Rom::new((0..1024).map(|address| bits_w::<32>(recip(address + 1).into())).collect())
}

/// Returns the bits of 1 / `count`, rounded to nearest even; infinity for 0.
///
/// `count` itself is rounded first if above 2^24.
pub fn recip(count: u32) -> u32 {
    (1.0 / count as f32).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::Bench;

    #[test]
    fn every_reciprocal_is_the_nearest_float() {
        for count in 1..=1024u32 {
            let error = |bits: u32| (f32::from_bits(bits) as f64 * count as f64 - 1.0).abs();
            let found = recip(count);
            assert!(error(found) <= error(found - 1) && error(found) <= error(found + 1), "1/{count}");
        }
        assert_eq!((recip(1), recip(2), recip(3)), (0x3f80_0000, 0x3f00_0000, 0x3eaa_aaab));
    }

    #[test]
    fn the_rom_holds_the_reciprocal_of_address_plus_one() {
        let mut bench = Bench::recording(recip_rom());
        for address in 0..1024 {
            bench.block.address.next = bits_w::<10>(address);
            bench.tick();
            assert_eq!(bench.block.data.val().raw() as u32, recip(address as u32 + 1));
        }
        bench.verify_with_verilator("recip_rom");
    }
}
