//! Model of [`crate::arith::fp_mul`].

use crate::arith::fp_add_model::{INFINITY, NAN, unpack};

/// Multiplies two floats as bits.
#[inline]
pub fn fp_mul(a: u32, b: u32) -> u32 {
    let sign = (a ^ b) & 0x8000_0000;
    let (magnitude_a, magnitude_b) = (a & 0x7fff_ffff, b & 0x7fff_ffff);
    let (high, low) = (magnitude_a.max(magnitude_b), magnitude_a.min(magnitude_b));
    if high >= INFINITY {
        return if high > INFINITY || low == 0 { NAN } else { sign | INFINITY };
    }
    if low == 0 {
        return sign;
    }
    let ((exponent_a, mantissa_a), (exponent_b, mantissa_b)) = (unpack(a), unpack(b));
    // The product of two normal numbers has its leading one at bit 47 (exponent one higher) or 46.
    let product = mantissa_a as u64 * mantissa_b as u64;
    let exponent = (exponent_a + exponent_b) as i32 - 127;
    let (exponent, normal, sticky) = if exponent < 0 {
        // Too small: shift right to the lowest exponent. 48 moves everything into the sticky bit.
        let by = (-exponent).min(48);
        (0, product >> by, product & !(u64::MAX << by) != 0)
    } else {
        // The lowest exponent limits the shift.
        let shift = (product.leading_zeros() - 16).min(exponent as u32);
        (exponent as u32 - shift, product << shift, false)
    };
    let (mantissa, half, rest) = ((normal >> 24) as u32, normal >> 23 & 1 == 1, normal & 0x7f_ffff != 0 || sticky);
    let up = half && (rest || mantissa & 1 == 1);
    // A hidden bit and a carry out of the rounding each add one to the exponent.
    sign | ((exponent << 23) + mantissa + up as u32).min(INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_model_is_the_multiplication_of_the_host() {
        let check = |a: u32, b: u32| {
            let product = f32::from_bits(a) * f32::from_bits(b);
            let expected = if product.is_nan() { NAN } else { product.to_bits() };
            assert_eq!(fp_mul(a, b), expected, "{a:08x} * {b:08x}");
        };
        let mut random = Random::new(0x3a1);
        for _ in 0..2_000_000 {
            let [a, b] = random.float_pair();
            check(a, b);
        }
        for a in crate::random::edge_floats() {
            crate::random::edge_floats().for_each(|b| check(a, b));
        }
    }
}
