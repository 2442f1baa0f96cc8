//! The transform on AVX2 and AVX-512. Only this file and `neon.rs` have unsafe code in this crate.
//!
//! Why intrinsics: the compiler vectorises the stages between beats, but not those inside a beat.
//! There, two registers hold 2^(k+1) values, and the register number is one index bit. A perfect
//! shuffle rotates the index bits, so that every stage is a butterfly of two whole registers.
//!
//! Safety of every block without its own comment: the instructions exist, because `Zmm` and `Ymm`
//! are private and created only inside `run_avx512` and `run_avx2`, which check the processor.
//! Loads and stores access whole arrays of sixteen 32-bit values behind a reference, at any
//! alignment. Streamed stores check their alignment first.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks)]

use std::arch::x86_64::*;

use optireduce_contract::limits::LANES;

use super::Task;
use super::block::Bits;
use super::vector::Beat;

pub fn has_avx2() -> bool {
    std::is_x86_feature_detected!("avx2")
}

pub fn has_avx512() -> bool {
    std::is_x86_feature_detected!("avx512f") && has_avx2()
}

pub fn run_avx2(task: impl Task) {
    #[target_feature(enable = "avx2")]
    fn run(task: impl Task) {
        task.run::<Ymm>();
    }
    assert!(has_avx2());
    // SAFETY: the processor has AVX2, checked above.
    unsafe { run(task) }
}

pub fn run_avx512(task: impl Task) {
    #[target_feature(enable = "avx512f,avx2")]
    fn run(task: impl Task) {
        task.run::<Zmm>();
    }
    assert!(has_avx512());
    // SAFETY: the processor has AVX-512 F and AVX2, checked above.
    unsafe { run(task) }
}

/// A beat in one AVX-512 register. Created only inside [`run_avx512`].
#[derive(Clone, Copy)]
struct Zmm(__m512i);

/// A beat in two AVX2 registers. Created only inside [`run_avx2`].
#[derive(Clone, Copy)]
struct Ymm(__m256i, __m256i);

impl Beat for Zmm {
    const SIXTEEN: bool = true;

    #[inline(always)]
    fn load(from: &Bits) -> Self {
        unsafe { Self(_mm512_loadu_si512(from.as_ptr().cast())) }
    }

    #[inline(always)]
    fn store(self, to: &mut Bits) {
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn store_floats(self, to: &mut [f32; LANES]) {
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn stream(self, to: &mut [f32; LANES]) {
        if !to.as_ptr().addr().is_multiple_of(64) {
            return self.store_floats(to);
        }
        unsafe { _mm512_stream_si512(to.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn fence() {
        // Streamed stores are weakly ordered; a later signal that the window is ready must follow
        // them.
        unsafe { _mm_sfence() }
    }

    #[inline(always)]
    fn fixed(self, flip: u16, scale: f32) -> Self {
        unsafe {
            let x = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_castsi512_ps(self.0), _mm512_set1_ps(scale)));
            Self(_mm512_mask_sub_epi32(x, flip, _mm512_setzero_si512(), x))
        }
    }

    #[inline(always)]
    fn floats(self, flip: u16, scale: f32) -> Self {
        unsafe {
            let x = _mm512_mask_sub_epi32(self.0, flip, _mm512_setzero_si512(), self.0);
            Self(_mm512_castps_si512(_mm512_mul_ps(_mm512_cvtepi32_ps(x), _mm512_set1_ps(scale))))
        }
    }

    #[inline(always)]
    fn plain(a: Self, b: Self) -> (Self, Self) {
        unsafe { (Self(_mm512_add_epi32(a.0, b.0)), Self(_mm512_sub_epi32(b.0, a.0))) }
    }

    #[inline(always)]
    fn halved(a: Self, b: Self) -> (Self, Self) {
        unsafe {
            let difference = _mm512_sub_epi32(_mm512_srai_epi32::<1>(b.0), _mm512_srai_epi32::<1>(a.0));
            (Self(_mm512_sub_epi32(b.0, difference)), Self(difference))
        }
    }

    #[inline(always)]
    fn within([a, b]: [Self; 2]) -> [Self; 2] {
        // There are five index bits, so five rotations are the identity.
        #[inline(always)]
        fn rotate((a, b): (Zmm, Zmm)) -> (Zmm, Zmm) {
            unsafe {
                let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
                let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
                (Zmm(_mm512_permutex2var_epi32(a.0, even, b.0)), Zmm(_mm512_permutex2var_epi32(a.0, odd, b.0)))
            }
        }
        let (a, b) = rotate((a, b));
        let (a, b) = rotate(Self::plain(a, b));
        let (a, b) = rotate(Self::halved(a, b));
        let (a, b) = rotate(Self::plain(a, b));
        let (a, b) = rotate(Self::halved(a, b));
        [a, b]
    }
}

/// Negates the lanes of `flip`. `lanes` has the bit of each lane.
#[inline(always)]
fn flipped(x: __m256i, lanes: __m256i, flip: u16) -> __m256i {
    unsafe {
        let mask = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(flip.into()), lanes), lanes);
        _mm256_sub_epi32(_mm256_xor_si256(x, mask), mask)
    }
}

impl Ymm {
    #[inline(always)]
    fn flipped(self, flip: u16) -> Self {
        unsafe {
            let low = _mm256_setr_epi32(1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7);
            Self(flipped(self.0, low, flip), flipped(self.1, _mm256_slli_epi32::<8>(low), flip))
        }
    }
}

#[inline(always)]
fn fixed(x: __m256i, scale: f32) -> __m256i {
    unsafe { _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_castsi256_ps(x), _mm256_set1_ps(scale))) }
}

#[inline(always)]
fn floats(x: __m256i, scale: f32) -> __m256i {
    unsafe { _mm256_castps_si256(_mm256_mul_ps(_mm256_cvtepi32_ps(x), _mm256_set1_ps(scale))) }
}

/// Rotates the index bits of the register and of the lane in its half.
#[inline(always)]
fn rotate((a, b): (__m256i, __m256i)) -> (__m256i, __m256i) {
    unsafe {
        let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
        let even = _mm256_shuffle_ps::<0b10_00_10_00>(a, b);
        let odd = _mm256_shuffle_ps::<0b11_01_11_01>(a, b);
        (_mm256_castps_si256(even), _mm256_castps_si256(odd))
    }
}

/// Swaps the index bits of the register and of its half.
#[inline(always)]
fn exchange((a, b): (__m256i, __m256i)) -> (__m256i, __m256i) {
    unsafe { (_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b)) }
}

#[inline(always)]
fn within(Ymm(a, b): Ymm) -> Ymm {
    let (a, b) = rotate((a, b));
    let (a, b) = rotate(plain(a, b));
    let (a, b) = exchange(rotate(halved(a, b)));
    let (a, b) = exchange(plain(a, b));
    let (a, b) = halved(a, b);
    Ymm(a, b)
}

#[inline(always)]
fn plain(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    unsafe { (_mm256_add_epi32(a, b), _mm256_sub_epi32(b, a)) }
}

#[inline(always)]
fn halved(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    unsafe {
        let difference = _mm256_sub_epi32(_mm256_srai_epi32::<1>(b), _mm256_srai_epi32::<1>(a));
        (_mm256_sub_epi32(b, difference), difference)
    }
}

impl Beat for Ymm {
    const SIXTEEN: bool = false;

    #[inline(always)]
    fn load(from: &Bits) -> Self {
        let at: *const __m256i = from.as_ptr().cast();
        unsafe { Self(_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1))) }
    }

    #[inline(always)]
    fn store(self, to: &mut Bits) {
        let at: *mut __m256i = to.as_mut_ptr().cast();
        unsafe {
            _mm256_storeu_si256(at, self.0);
            _mm256_storeu_si256(at.add(1), self.1);
        }
    }

    #[inline(always)]
    fn store_floats(self, to: &mut [f32; LANES]) {
        let at: *mut __m256i = to.as_mut_ptr().cast();
        unsafe {
            _mm256_storeu_si256(at, self.0);
            _mm256_storeu_si256(at.add(1), self.1);
        }
    }

    #[inline(always)]
    fn stream(self, to: &mut [f32; LANES]) {
        if !to.as_ptr().addr().is_multiple_of(64) {
            return self.store_floats(to);
        }
        let at: *mut __m256i = to.as_mut_ptr().cast();
        unsafe {
            _mm256_stream_si256(at, self.0);
            _mm256_stream_si256(at.add(1), self.1);
        }
    }

    #[inline(always)]
    fn fence() {
        unsafe { _mm_sfence() }
    }

    #[inline(always)]
    fn fixed(self, flip: u16, scale: f32) -> Self {
        Self(fixed(self.0, scale), fixed(self.1, scale)).flipped(flip)
    }

    #[inline(always)]
    fn floats(self, flip: u16, scale: f32) -> Self {
        let Self(a, b) = self.flipped(flip);
        Self(floats(a, scale), floats(b, scale))
    }

    #[inline(always)]
    fn plain(a: Self, b: Self) -> (Self, Self) {
        let (low, high) = (plain(a.0, b.0), plain(a.1, b.1));
        (Self(low.0, high.0), Self(low.1, high.1))
    }

    #[inline(always)]
    fn halved(a: Self, b: Self) -> (Self, Self) {
        let (low, high) = (halved(a.0, b.0), halved(a.1, b.1));
        (Self(low.0, high.0), Self(low.1, high.1))
    }

    #[inline(always)]
    fn within([a, b]: [Self; 2]) -> [Self; 2] {
        [within(a), within(b)]
    }
}
