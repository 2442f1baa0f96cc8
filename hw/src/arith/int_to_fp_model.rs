//! Model of [`crate::arith::int_to_fp`].

use crate::arith::fp_to_int_model::UNIT_SCALE;

/// Returns the bits of the float nearest to `integer`, ties to even.
pub fn int_to_fp(integer: i32) -> u32 {
    scaled_int_to_fp(integer, UNIT_SCALE)
}

/// Converts from units of 2^(`scale` - 157).
///
/// Results below the smallest normal number become +0, too large ones infinity.
#[inline]
pub fn scaled_int_to_fp(integer: i32, scale: u32) -> u32 {
    let magnitude = integer.unsigned_abs();
    if magnitude == 0 {
        return 0;
    }
    // Only -2^31 reaches bit 31, which then appears as a carry out of the mantissa.
    let zeros = magnitude.leading_zeros().saturating_sub(1);
    let normal = magnitude << zeros;
    let (mantissa, rest) = (normal >> 7, normal & 0x7f);
    let rounded = mantissa + (rest > 64 || rest == 64 && mantissa & 1 == 1) as u32;
    let exponent = scale as i32 - zeros as i32 + (rounded >> 24) as i32;
    let sign = (integer as u32) & 1 << 31;
    match exponent {
        ..1 => 0,
        255.. => sign | 0x7f80_0000,
        _ => sign | (exponent as u32) << 23 | rounded & 0x7f_ffff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn floats_are_those_of_the_host_on_every_scale() {
        let mut random = Random::new(1);
        let edges = [0, 1, -1, i32::MIN, i32::MIN + 1, i32::MAX, 0x00ff_ffff, 0x01ff_ffff, 0x0100_0001, 0x0100_0003];
        let numbers: Vec<i32> = (0..100_000).map(|_| random.next() as i32 >> random.below(32)).collect();
        for integer in edges.into_iter().chain(numbers) {
            assert_eq!(int_to_fp(integer), (integer as f32).to_bits(), "{integer}");
            let scale = random.below(264) as u32;
            let exact = integer as f32 as f64 * 2f64.powi(scale as i32 - UNIT_SCALE as i32);
            let expected = if exact.abs() < f32::MIN_POSITIVE as f64 { 0.0 } else { exact as f32 };
            assert_eq!(scaled_int_to_fp(integer, scale), expected.to_bits(), "{integer} {scale}");
        }
    }
}
