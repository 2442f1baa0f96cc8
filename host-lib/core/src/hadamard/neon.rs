//! The transform on NEON, which every 64-bit Arm processor has.
//!
//! Why intrinsics: as in `x86.rs`. In addition, the compiler does not generate the rounding
//! conversion to integers.
//!
//! Two registers hold eight values, and the register number is one of three index bits. An unzip
//! rotates the index bits, so the two stages inside a register become butterflies of whole
//! registers.
//!
//! Safety of every block: the build target has NEON (checked below), so the instructions exist.
//! Loads and stores access whole arrays of sixteen 32-bit values behind a reference, at any
//! alignment.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]

use std::arch::aarch64::*;

use optireduce_contract::limits::LANES;

use super::Task;
use super::block::Bits;
use super::vector::Beat;

const _: () = assert!(cfg!(target_feature = "neon"), "targets without NEON have the portable kernel only");

pub fn run_neon(task: impl Task) {
    task.run::<Neon>();
}

#[derive(Clone, Copy)]
struct Neon([int32x4_t; 4]);

/// Negates the lanes of `flip`. `lanes` has the bit of each lane.
#[inline(always)]
fn flipped(x: int32x4_t, lanes: int32x4_t, flip: int32x4_t) -> int32x4_t {
    unsafe {
        let mask = vreinterpretq_s32_u32(vtstq_s32(flip, lanes));
        vsubq_s32(veorq_s32(x, mask), mask)
    }
}

#[inline(always)]
fn fixed(x: int32x4_t, scale: float32x4_t) -> int32x4_t {
    unsafe { vcvtnq_s32_f32(vmulq_f32(vreinterpretq_f32_s32(x), scale)) }
}

#[inline(always)]
fn floats(x: int32x4_t, scale: float32x4_t) -> int32x4_t {
    unsafe { vreinterpretq_s32_f32(vmulq_f32(vcvtq_f32_s32(x), scale)) }
}

#[inline(always)]
fn plain(a: int32x4_t, b: int32x4_t) -> (int32x4_t, int32x4_t) {
    unsafe { (vaddq_s32(a, b), vsubq_s32(b, a)) }
}

#[inline(always)]
fn halved(a: int32x4_t, b: int32x4_t) -> (int32x4_t, int32x4_t) {
    unsafe {
        let difference = vsubq_s32(vshrq_n_s32::<1>(b), vshrq_n_s32::<1>(a));
        (vsubq_s32(b, difference), difference)
    }
}

/// Rotates the three index bits of the register and its lanes.
#[inline(always)]
fn rotate((a, b): (int32x4_t, int32x4_t)) -> (int32x4_t, int32x4_t) {
    unsafe { (vuzp1q_s32(a, b), vuzp2q_s32(a, b)) }
}

#[inline(always)]
fn inside(a: int32x4_t, b: int32x4_t) -> (int32x4_t, int32x4_t) {
    let (a, b) = rotate((a, b));
    let (a, b) = rotate(plain(a, b));
    rotate(halved(a, b))
}

impl Neon {
    #[inline(always)]
    fn flipped(self, flip: u16) -> Self {
        const LANE_BITS: [[i32; 4]; 4] = [
            [1 << 0, 1 << 1, 1 << 2, 1 << 3],
            [1 << 4, 1 << 5, 1 << 6, 1 << 7],
            [1 << 8, 1 << 9, 1 << 10, 1 << 11],
            [1 << 12, 1 << 13, 1 << 14, 1 << 15],
        ];
        let Self([a, b, c, d]) = self;
        unsafe {
            let flip = vdupq_n_s32(flip.into());
            Self([
                flipped(a, vld1q_s32(LANE_BITS[0].as_ptr()), flip),
                flipped(b, vld1q_s32(LANE_BITS[1].as_ptr()), flip),
                flipped(c, vld1q_s32(LANE_BITS[2].as_ptr()), flip),
                flipped(d, vld1q_s32(LANE_BITS[3].as_ptr()), flip),
            ])
        }
    }
}

impl Beat for Neon {
    // The 32 registers hold only eight beats.
    const SIXTEEN: bool = false;

    #[inline(always)]
    fn load(from: &Bits) -> Self {
        let at = from.as_ptr();
        unsafe { Self([vld1q_s32(at), vld1q_s32(at.add(4)), vld1q_s32(at.add(8)), vld1q_s32(at.add(12))]) }
    }

    #[inline(always)]
    fn store(self, to: &mut Bits) {
        let (at, Self([a, b, c, d])) = (to.as_mut_ptr(), self);
        unsafe {
            vst1q_s32(at, a);
            vst1q_s32(at.add(4), b);
            vst1q_s32(at.add(8), c);
            vst1q_s32(at.add(12), d);
        }
    }

    #[inline(always)]
    fn store_floats(self, to: &mut [f32; LANES]) {
        let (at, Self([a, b, c, d])) = (to.as_mut_ptr(), self);
        unsafe {
            vst1q_f32(at, vreinterpretq_f32_s32(a));
            vst1q_f32(at.add(4), vreinterpretq_f32_s32(b));
            vst1q_f32(at.add(8), vreinterpretq_f32_s32(c));
            vst1q_f32(at.add(12), vreinterpretq_f32_s32(d));
        }
    }

    /// There is no intrinsic for streamed stores.
    #[inline(always)]
    fn stream(self, to: &mut [f32; LANES]) {
        self.store_floats(to);
    }

    #[inline(always)]
    fn fence() {}

    #[inline(always)]
    fn fixed(self, flip: u16, there: f32) -> Self {
        let Self([a, b, c, d]) = self;
        let scale = unsafe { vdupq_n_f32(there) };
        Self([fixed(a, scale), fixed(b, scale), fixed(c, scale), fixed(d, scale)]).flipped(flip)
    }

    #[inline(always)]
    fn floats(self, flip: u16, back: f32) -> Self {
        let Self([a, b, c, d]) = self.flipped(flip);
        let scale = unsafe { vdupq_n_f32(back) };
        Self([floats(a, scale), floats(b, scale), floats(c, scale), floats(d, scale)])
    }

    #[inline(always)]
    fn plain(Self([a, b, c, d]): Self, Self([e, f, g, h]): Self) -> (Self, Self) {
        let ((a, e), (b, f), (c, g), (d, h)) = (plain(a, e), plain(b, f), plain(c, g), plain(d, h));
        (Self([a, b, c, d]), Self([e, f, g, h]))
    }

    #[inline(always)]
    fn halved(Self([a, b, c, d]): Self, Self([e, f, g, h]): Self) -> (Self, Self) {
        let ((a, e), (b, f), (c, g), (d, h)) = (halved(a, e), halved(b, f), halved(c, g), halved(d, h));
        (Self([a, b, c, d]), Self([e, f, g, h]))
    }

    #[inline(always)]
    fn within(pair: [Self; 2]) -> [Self; 2] {
        #[inline(always)]
        fn one(Neon([a, b, c, d]): Neon) -> Neon {
            let ((a, b), (c, d)) = (inside(a, b), inside(c, d));
            let ((a, b), (c, d)) = (plain(a, b), plain(c, d));
            let ((a, c), (b, d)) = (halved(a, c), halved(b, d));
            Neon([a, b, c, d])
        }
        let [first, second] = pair;
        [one(first), one(second)]
    }
}
