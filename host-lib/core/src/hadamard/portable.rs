//! The transform in plain loops for any processor, and in integers for tiny blocks.

use optireduce_contract::limits::LANES;

use super::block::{Engine, Flips, Place, Scale, Scratch};

pub struct Portable;

impl Engine for Portable {
    #[inline(always)]
    fn transform<const BEATS: usize>(
        scratch: &mut Scratch<BEATS>,
        scale: &Scale,
        before: &Flips<BEATS>,
        after: &Flips<BEATS>,
        mut place: Place<'_>,
    ) {
        let there = |bits| nearest(f32::from_bits(bits) * scale.there);
        in_fixed_point(scratch, before, after, &mut place, there, |fixed| fixed as f32 * scale.back);
    }
}

/// Transforms a tiny block, with conversions in integers: a unit may not be a normal float, and the
/// processor may flush subnormals.
#[cold]
#[inline(never)]
pub fn transform_tiny<const BEATS: usize>(
    scratch: &mut Scratch<BEATS>,
    scale: &Scale,
    before: &Flips<BEATS>,
    after: &Flips<BEATS>,
    mut place: Place<'_>,
) {
    let there = |bits| tiny_to_fixed(bits, scale.exponent);
    in_fixed_point(scratch, before, after, &mut place, there, |fixed| {
        fixed_to_tiny(fixed, scale.exponent) * scale.ratio
    });
}

/// All stages of a block in fixed point. `there` and `back` convert.
#[inline(always)]
fn in_fixed_point<const BEATS: usize>(
    scratch: &mut Scratch<BEATS>,
    before: &Flips<BEATS>,
    after: &Flips<BEATS>,
    place: &mut Place<'_>,
    there: impl Fn(u32) -> i32,
    back: impl Fn(i32) -> f32,
) {
    for (lanes, flip) in scratch.0.iter_mut().zip(before.0) {
        for lane in lanes.iter_mut() {
            *lane = there(*lane as u32);
        }
        negate(lanes, flip);
    }
    stages(scratch.0.as_flattened_mut());
    for (beat, (lanes, flip)) in scratch.0.iter_mut().zip(after.0).enumerate() {
        negate(lanes, flip);
        for (to, lane) in place.beat(beat).iter_mut().zip(lanes) {
            *to = back(*lane);
        }
    }
}

/// Rounds to the nearest integer, ties to even. The magnitude must be below 2^31.
#[inline(always)]
fn nearest(x: f32) -> i32 {
    // From 2^23 on, every float is an integer. Below, adding 2^23 leaves no bits for a fraction.
    const WHOLE: f32 = 8_388_608.0;
    let whole = WHOLE.copysign(x);
    (if x.abs() < WHOLE { (x + whole) - whole } else { x }) as i32
}

#[inline(always)]
fn negate(lanes: &mut [i32; LANES], flip: u16) {
    for (i, lane) in lanes.iter_mut().enumerate() {
        let mask = -(i32::from(flip >> i & 1));
        *lane = (*lane ^ mask).wrapping_sub(mask);
    }
}

/// All butterfly stages, two per pass: one plain, one halving.
#[inline(always)]
fn stages(values: &mut [i32]) {
    let mut distance = 1;
    while distance < values.len() {
        for group in values.chunks_exact_mut(4 * distance) {
            let (low, high) = group.split_at_mut(2 * distance);
            let ((a, b), (c, d)) = (low.split_at_mut(distance), high.split_at_mut(distance));
            for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
                (*a, *b) = (a.wrapping_add(*b), b.wrapping_sub(*a));
                (*c, *d) = (c.wrapping_add(*d), d.wrapping_sub(*c));
                (*a, *c) = halved(*a, *c);
                (*b, *d) = halved(*b, *d);
            }
        }
        distance *= 4;
    }
}

/// Returns ceil(b/2) + floor(a/2) and floor(b/2) - floor(a/2). The first is b minus the second.
#[inline(always)]
fn halved(a: i32, b: i32) -> (i32, i32) {
    let difference = (b >> 1).wrapping_sub(a >> 1);
    (b.wrapping_sub(difference), difference)
}

/// Converts a float to units, to nearest even. Exponent field `exponent`, below 32, is 2^30 units.
fn tiny_to_fixed(bits: u32, exponent: u32) -> i32 {
    let field = (bits >> 23 & 0xff).max(1);
    let mantissa = bits & 0x7f_ffff | u32::from(bits & 0x7f80_0000 != 0) << 23;
    // Bit 23 of the mantissa is 2^(30 + field - exponent) units, so `down` bits are below a unit.
    let down = exponent as i32 - field as i32 - 7;
    let magnitude = match down {
        ..=0 => mantissa << -down,
        _ => {
            let half = 1 << (down - 1);
            let odd = mantissa >> down & 1;
            (mantissa + half - 1 + odd) >> down
        }
    };
    if bits >> 31 == 1 { -(magnitude as i32) } else { magnitude as i32 }
}

/// Converts such units to a float, to nearest even. Results below the normal numbers are +0.
fn fixed_to_tiny(units: i32, exponent: u32) -> f32 {
    // Rounded as a normal float, then scaled by the exponent field alone.
    let rounded = (units as f32).to_bits();
    let field = (rounded >> 23 & 0xff) as i32 + exponent as i32 - 157;
    if units == 0 || field < 1 {
        return 0.0;
    }
    f32::from_bits(rounded & 0x807f_ffff | (field as u32) << 23)
}
