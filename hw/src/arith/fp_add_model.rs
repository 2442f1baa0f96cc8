//! Model of [`crate::arith::fp_add`].

/// The only NaN that the card produces.
pub const NAN: u32 = 0x7fc0_0000;
pub const INFINITY: u32 = 0x7f80_0000;

/// Adds two floats as bits.
#[inline]
pub fn fp_add(a: u32, b: u32) -> u32 {
    let (magnitude_a, magnitude_b) = (a & 0x7fff_ffff, b & 0x7fff_ffff);
    let (large, small) = if magnitude_a < magnitude_b { (b, a) } else { (a, b) };
    let (magnitude, sign) = (large & 0x7fff_ffff, large & 0x8000_0000);
    let subtract = (a ^ b) >> 31 == 1;
    if magnitude >= INFINITY {
        let both = small & 0x7fff_ffff >= INFINITY;
        return if magnitude > INFINITY || both && subtract { NAN } else { large };
    }
    let (exponent, mantissa) = unpack(large);
    let (exponent_small, mantissa_small) = unpack(small);
    // Guard, round and sticky bit suffice: after an alignment by two or more, normalisation shifts
    // by at most one.
    let distance = (exponent - exponent_small).min(27);
    let aligned = (mantissa_small << 3) >> distance;
    let sticky = ((mantissa_small << 3) & !(u32::MAX << distance) != 0) as u32;
    let sum = match subtract {
        false => (mantissa << 3) + (aligned | sticky),
        true => (mantissa << 3) - (aligned | sticky),
    };
    if sum == 0 {
        return if subtract { 0 } else { sign };
    }
    // Bit 27 is the carry out of the mantissa. The lowest exponent limits the shift.
    let shift = (sum.leading_zeros() - 4).min(exponent);
    let rounded = round(exponent - shift, (sum << shift) >> 4, sum << shift & 0xf);
    sign | rounded.min(INFINITY)
}

/// Returns exponent (1 for subnormals) and 24-bit mantissa of a finite float.
pub(crate) fn unpack(x: u32) -> (u32, u32) {
    match (x >> 23 & 0xff, x & 0x7f_ffff) {
        (0, fraction) => (1, fraction),
        (exponent, fraction) => (exponent, fraction | 0x80_0000),
    }
}

/// Packs a mantissa with four bits below it, rounded to nearest even.
///
/// A hidden bit and a carry out of the rounding each add one to `exponent`.
fn round(exponent: u32, mantissa: u32, below: u32) -> u32 {
    let up = below > 8 || below == 8 && mantissa & 1 == 1;
    (exponent << 23) + mantissa + up as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_model_is_the_addition_of_the_host() {
        let check = |a: u32, b: u32| {
            let sum = f32::from_bits(a) + f32::from_bits(b);
            let expected = if sum.is_nan() { NAN } else { sum.to_bits() };
            assert_eq!(fp_add(a, b), expected, "{a:08x} + {b:08x}");
        };
        let mut random = Random::new(0xadd);
        for _ in 0..2_000_000 {
            let [a, b] = random.float_pair();
            check(a, b);
        }
        for a in crate::random::edge_floats() {
            crate::random::edge_floats().for_each(|b| check(a, b));
        }
    }
}
