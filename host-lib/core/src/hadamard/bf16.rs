//! bf16 on the wire: the upper half of binary32.
//!
//! Rounds to nearest, ties to even, as the card does (`hw/src/arith/bf16.rs`). Overflow is an
//! infinity. A NaN becomes the quiet NaN of its upper half.

/// Rounds every value to bf16, stored as fp32.
pub fn round_to_bf16(values: &mut [f32]) {
    for value in values {
        *value = f32::from_bits(round(value.to_bits()));
    }
}

/// Converts bf16 to fp32, exactly.
///
/// # Panics
/// If the slices differ in length.
pub fn widen_bf16(from: &[u16], to: &mut [f32]) {
    assert_eq!(from.len(), to.len(), "lengths of the bf16 and fp32 slices");
    for (to, from) in to.iter_mut().zip(from) {
        *to = from_bf16(*from);
    }
}

/// Rounds a value to bf16.
#[inline(always)]
pub fn to_bf16(value: f32) -> u16 {
    (round(value.to_bits()) >> 16) as u16
}

/// Converts a bf16 value to fp32, exactly.
#[inline(always)]
pub fn from_bf16(value: u16) -> f32 {
    f32::from_bits(u32::from(value) << 16)
}

#[inline(always)]
fn round(x: u32) -> u32 {
    let nan = x & 0x7fff_ffff > 0x7f80_0000;
    // The carry out of the fraction raises the exponent; past the largest one, to infinity.
    let rounded = x.wrapping_add(0x7fff + (x >> 16 & 1));
    (if nan { x | 0x40_0000 } else { rounded }) & 0xffff_0000
}
