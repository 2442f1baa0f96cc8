//! One block between its windows: gathered into scratch memory, transformed there, and put in its place.

use optireduce_contract::limits::LANES;
use optireduce_contract::signs::signs16;

/// The bits of sixteen fp32, or sixteen fixed-point values.
pub type Bits = [i32; LANES];

/// The bits of what every value of a block with an infinity or a NaN becomes.
const NAN: i32 = 0x7fc0_0000;

/// A block on the stack: in L1 up to 4096 values, in L2 above.
#[repr(align(64))]
pub struct Scratch<const BEATS: usize>(pub [Bits; BEATS]);

impl<const BEATS: usize> Scratch<BEATS> {
    /// Zeros.
    pub const ZERO: Self = Self([[0; LANES]; BEATS]);
}

/// Which lanes of each beat are negated on the way, bit i for lane i.
#[derive(Clone, Copy)]
pub struct Flips<const BEATS: usize>(pub [u16; BEATS]);

impl<const BEATS: usize> Flips<BEATS> {
    /// None.
    pub const NONE: Self = Self([0; BEATS]);

    /// Those the butterflies leave negated: the values whose index in the block has an odd number of ones.
    pub const ODD: Self = {
        let mut flips = [0; BEATS];
        let mut beat = 0;
        while beat < BEATS {
            flips[beat] = if beat.count_ones() % 2 == 1 { 0x9669 } else { 0x6996 };
            beat += 1;
        }
        Self(flips)
    };

    /// The random signs of block `block` under `key`, after `flips`.
    #[inline(always)]
    pub fn signed(mut flips: Self, key: u64, block: usize) -> Self {
        let first = (block * BEATS) as u32;
        for (beat, flip) in flips.0.iter_mut().enumerate() {
            *flip ^= signs16(key, first.wrapping_add(beat as u32));
        }
        flips
    }
}

/// The fixed-point scale of a block.
#[derive(Clone, Copy)]
pub struct Scale {
    /// The exponent field of a float that is 2^30 units.
    pub exponent: u32,
    /// Units in 1.0.
    pub there: f32,
    /// One unit, times `ratio`.
    pub back: f32,
    /// What results are multiplied with.
    pub ratio: f32,
}

/// What a block needs.
pub enum Case {
    /// All results are this: zero, or NaN where there is an infinity or a NaN.
    Constant(i32),
    /// The transform, where no number it meets is subnormal, or may be taken for zero if it is.
    Usual(Scale),
    /// The transform in integers: values or results may be subnormal, a unit may be no normal number.
    Tiny(Scale),
}

impl Case {
    /// The case of a block of `BEATS` beats with this largest magnitude, in bits.
    #[inline(always)]
    pub fn of<const BEATS: usize>(peak: i32, ratio: f32) -> Self {
        let field = peak >> 23;
        if peak == 0 {
            return Self::Constant(0);
        }
        if field == 0xff {
            return Self::Constant(NAN);
        }
        let exponent = field.max(1) as u32 + (BEATS * LANES).ilog2() / 2 + 1;
        // From 32 on, a subnormal is less than half a unit, and the least result is a normal number.
        if exponent < 32 {
            return Self::Tiny(Scale { exponent, there: 0.0, back: 0.0, ratio });
        }
        let power = |field: u32| f32::from_bits(field << 23);
        Self::Usual(Scale { exponent, there: power(284 - exponent), back: power(exponent - 30) * ratio, ratio })
    }
}

/// Where the results of a block go: beat b to `at + b * stride`.
pub struct Place<'a> {
    pub out: &'a mut [[f32; LANES]],
    pub at: usize,
    pub stride: usize,
    /// Whether the beats may bypass the caches, until [`Engine::fence`].
    pub stream: bool,
}

impl Place<'_> {
    /// The beat's memory.
    #[inline(always)]
    pub fn beat(&mut self, beat: usize) -> &mut [f32; LANES] {
        &mut self.out[beat * self.stride + self.at]
    }
}

/// A way to transform blocks.
pub trait Engine {
    /// Orders streamed results before all that follows.
    #[inline(always)]
    fn fence() {}

    /// Transforms the floats in `scratch`: `before` is negated as they come, `after` as they go to `place`.
    fn transform<const BEATS: usize>(
        scratch: &mut Scratch<BEATS>,
        scale: &Scale,
        before: &Flips<BEATS>,
        after: &Flips<BEATS>,
        place: Place<'_>,
    );
}
