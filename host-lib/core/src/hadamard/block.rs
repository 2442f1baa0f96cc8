//! Transform of a single block in scratch memory.

use optireduce_contract::limits::LANES;
use optireduce_contract::signs::signs16;

/// One beat: fp32 bits, or fixed-point values.
pub type Bits = [i32; LANES];

/// Result bits of a block with an infinity or a NaN.
const NAN: i32 = 0x7fc0_0000;

/// A block on the stack. Fits L1 up to 4096 values, L2 above.
#[repr(align(64))]
pub struct Scratch<const BEATS: usize>(pub [Bits; BEATS]);

impl<const BEATS: usize> Scratch<BEATS> {
    pub const ZERO: Self = Self([[0; LANES]; BEATS]);
}

/// Lanes of each beat to negate; bit i is lane i.
#[derive(Clone, Copy)]
pub struct Flips<const BEATS: usize>(pub [u16; BEATS]);

impl<const BEATS: usize> Flips<BEATS> {
    pub const NONE: Self = Self([0; BEATS]);

    /// Values that the butterflies leave negated: those with odd parity of their index.
    pub const ODD: Self = {
        let mut flips = [0; BEATS];
        let mut beat = 0;
        while beat < BEATS {
            flips[beat] = if beat.count_ones() % 2 == 1 { 0x9669 } else { 0x6996 };
            beat += 1;
        }
        Self(flips)
    };

    #[inline(always)]
    pub fn signed(mut flips: Self, key: u64, block: usize) -> Self {
        let first = (block * BEATS) as u32;
        for (beat, flip) in flips.0.iter_mut().enumerate() {
            *flip ^= signs16(key, first.wrapping_add(beat as u32));
        }
        flips
    }
}

#[derive(Clone, Copy)]
pub struct Scale {
    /// Exponent field of the float that equals 2^30 units.
    pub exponent: u32,
    /// Units in 1.0.
    pub there: f32,
    /// One unit, times `ratio`.
    pub back: f32,
    /// Factor of the results.
    pub ratio: f32,
}

pub enum Case {
    /// All results have these bits: zero or [`NAN`].
    Constant(i32),
    /// Conversions in floats: no subnormals, or they may be treated as zero.
    Usual(Scale),
    /// Conversions in integers: values, results or a unit may be subnormal.
    Tiny(Scale),
}

impl Case {
    /// Selects the case of a block by `peak`, the bits of its largest magnitude.
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
        // From 32 on, a subnormal is less than half a unit, and the smallest result is normal.
        if exponent < 32 {
            return Self::Tiny(Scale { exponent, there: 0.0, back: 0.0, ratio });
        }
        let power = |field: u32| f32::from_bits(field << 23);
        Self::Usual(Scale { exponent, there: power(284 - exponent), back: power(exponent - 30) * ratio, ratio })
    }
}

/// Destination of a block's results: beat b goes to `at + b * stride`.
pub struct Place<'a> {
    pub out: &'a mut [[f32; LANES]],
    pub at: usize,
    pub stride: usize,
    /// Whether stores bypass the caches, until [`Engine::fence`].
    pub stream: bool,
}

impl Place<'_> {
    #[inline(always)]
    pub fn beat(&mut self, beat: usize) -> &mut [f32; LANES] {
        &mut self.out[beat * self.stride + self.at]
    }
}

pub trait Engine {
    /// Orders streamed stores before all later stores.
    #[inline(always)]
    fn fence() {}

    /// Transforms the floats in `scratch` into `place`. `before` negates inputs, `after` results.
    fn transform<const BEATS: usize>(
        scratch: &mut Scratch<BEATS>,
        scale: &Scale,
        before: &Flips<BEATS>,
        after: &Flips<BEATS>,
        place: Place<'_>,
    );
}
