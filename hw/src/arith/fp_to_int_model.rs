//! Model of [`crate::arith::fp_to_int`].

/// Result for values without a nearest 32-bit integer: out of range, infinite or NaN.
pub const INVALID: i32 = i32::MIN;
/// Scale on which one unit is 1: the exponent field of 2^30.
pub const UNIT_SCALE: u32 = 127 + 30;

/// Rounds a float to the nearest integer, ties to even, or returns [`INVALID`].
pub fn fp_to_int(bits: u32) -> i32 {
    fp_to_scaled_int(bits, UNIT_SCALE)
}

/// Converts to units of 2^(`scale` - 157). Infinities and NaNs count as numbers of exponent field
/// 255.
#[inline]
pub fn fp_to_scaled_int(bits: u32, scale: u32) -> i32 {
    let exponent = bits >> 23 & 0xff;
    let hidden = if exponent == 0 { 0 } else { 1 << 23 };
    let mantissa = (bits & 0x7f_ffff | hidden) as u64;
    let Some(right) = scale.checked_sub(exponent.max(1)) else { return INVALID };
    // 2^30 units are bit 62; the bits below bit 32 are rounded away.
    let wide = if right < 63 { mantissa << 39 >> right } else { 0 };
    let (whole, rest) = ((wide >> 32) as i32, wide as u32);
    let up = rest > 1 << 31 || rest == 1 << 31 && whole & 1 == 1;
    let magnitude = whole.wrapping_add(up as i32);
    if bits >> 31 == 1 { magnitude.wrapping_neg() } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, edge_floats};

    #[test]
    fn integers_are_the_nearest_even_ones() {
        let mut random = Random::new(1);
        let near = (0..200_000).map(|_| random.next() as u32 & 0x807f_ffff | (120 + random.below(40) as u32) << 23);
        for bits in edge_floats().chain(near.collect::<Vec<_>>()) {
            let rounded = (f32::from_bits(bits) as f64).round_ties_even();
            let fits = rounded >= i32::MIN as f64 && rounded <= i32::MAX as f64;
            assert_eq!(fp_to_int(bits), if fits { rounded as i32 } else { INVALID }, "{bits:08x}");
        }
    }

    #[test]
    fn a_scale_is_a_power_of_two() {
        let mut random = Random::new(2);
        for _ in 0..100_000 {
            let bits = random.next() as u32 & 0x807f_ffff | (random.below(255) as u32) << 23;
            let scale = 1 + random.below(265) as u32;
            let x = f32::from_bits(bits) as f64 * 2f64.powi(UNIT_SCALE as i32 - scale as i32);
            let rounded = x.round_ties_even();
            // The only integer of exponent 158 is -2^31, which equals INVALID.
            let fits = rounded.abs() < -(i32::MIN as f64);
            assert_eq!(
                fp_to_scaled_int(bits, scale),
                if fits { rounded as i32 } else { INVALID },
                "{bits:08x} {scale}"
            );
        }
    }
}
