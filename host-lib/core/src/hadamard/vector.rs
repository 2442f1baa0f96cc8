//! The transform in vector registers: four stages inside the beats, the others between them.

#![allow(clippy::needless_range_loop)] // index loops are what the compiler unrolls into registers

use optireduce_contract::limits::LANES;

use super::block::{Bits, Engine, Flips, Place, Scale, Scratch};

/// One beat in registers: fixed point, or the bits of fp32.
///
/// All functions are `inline(always)`, without closures or iterator combinators between them: a
/// call that is not inlined into the kernel has no vector instructions and is far slower.
pub trait Beat: Copy {
    /// Whether the registers hold sixteen beats, not only four.
    const SIXTEEN: bool;

    fn load(from: &Bits) -> Self;
    fn store(self, to: &mut Bits);
    fn store_floats(self, to: &mut [f32; LANES]);
    /// Stores past the caches if `to` is aligned to 64 bytes.
    fn stream(self, to: &mut [f32; LANES]);
    fn fence();
    /// Multiplies by `there`, rounds to integers, ties to even, and negates the lanes of `flip`.
    fn fixed(self, flip: u16, there: f32) -> Self;
    /// Negates the lanes of `flip`, converts to floats, ties to even, and multiplies by `back`.
    fn floats(self, flip: u16, back: f32) -> Self;
    /// A butterfly: a + b and b - a.
    fn plain(a: Self, b: Self) -> (Self, Self);
    /// A halving butterfly: ceil(b/2) + floor(a/2) and floor(b/2) - floor(a/2).
    fn halved(a: Self, b: Self) -> (Self, Self);
    /// The four stages inside a beat, for two beats.
    fn within(pair: [Self; 2]) -> [Self; 2];
}

impl<B: Beat> Engine for B {
    #[inline(always)]
    fn fence() {
        B::fence();
    }

    #[inline(always)]
    fn transform<const BEATS: usize>(
        scratch: &mut Scratch<BEATS>,
        scale: &Scale,
        before: &Flips<BEATS>,
        after: &Flips<BEATS>,
        place: Place<'_>,
    ) {
        let mut end = End { after, back: scale.back, place };
        if B::SIXTEEN {
            first::<B, 16, BEATS>(scratch, scale.there, before);
            match BEATS {
                16 => last::<B, 1, BEATS>(scratch, &mut end),
                64 => last::<B, 4, BEATS>(scratch, &mut end),
                256 => last::<B, 16, BEATS>(scratch, &mut end),
                _ => {
                    middle::<B, 16, BEATS>(scratch, 16);
                    last::<B, 4, BEATS>(scratch, &mut end);
                }
            }
        } else {
            first::<B, 4, BEATS>(scratch, scale.there, before);
            let mut distance = 4;
            while 4 * distance < BEATS {
                middle::<B, 4, BEATS>(scratch, distance);
                distance *= 4;
            }
            last::<B, 4, BEATS>(scratch, &mut end);
        }
    }
}

struct End<'a, const BEATS: usize> {
    after: &'a Flips<BEATS>,
    back: f32,
    place: Place<'a>,
}

#[inline(always)]
fn first<B: Beat, const R: usize, const BEATS: usize>(scratch: &mut Scratch<BEATS>, there: f32, before: &Flips<BEATS>) {
    for (beats, flips) in scratch.0.as_chunks_mut::<R>().0.iter_mut().zip(before.0.as_chunks::<R>().0) {
        let mut t = [B::load(&beats[0]); R];
        for i in 0..R {
            t[i] = B::load(&beats[i]).fixed(flips[i], there);
        }
        for i in 0..R / 2 {
            [t[2 * i], t[2 * i + 1]] = B::within([t[2 * i], t[2 * i + 1]]);
        }
        between(&mut t);
        for i in 0..R {
            t[i].store(&mut beats[i]);
        }
    }
}

#[inline(always)]
fn middle<B: Beat, const R: usize, const BEATS: usize>(scratch: &mut Scratch<BEATS>, distance: usize) {
    for group in scratch.0.chunks_exact_mut(R * distance) {
        for start in 0..distance {
            let mut t = [B::load(&group[start]); R];
            for i in 1..R {
                t[i] = B::load(&group[start + i * distance]);
            }
            between(&mut t);
            for i in 0..R {
                t[i].store(&mut group[start + i * distance]);
            }
        }
    }
}

#[inline(always)]
fn last<B: Beat, const R: usize, const BEATS: usize>(scratch: &mut Scratch<BEATS>, end: &mut End<'_, BEATS>) {
    let distance = BEATS / R;
    for start in 0..distance {
        let mut t = [B::load(&scratch.0[start]); R];
        for i in 1..R {
            t[i] = B::load(&scratch.0[start + i * distance]);
        }
        between(&mut t);
        for i in 0..R {
            let beat = start + i * distance;
            let floats = t[i].floats(end.after.0[beat], end.back);
            if end.place.stream {
                floats.stream(end.place.beat(beat))
            } else {
                floats.store_floats(end.place.beat(beat))
            }
        }
    }
}

/// Two or four stages, from neighbours on. None for one beat.
#[inline(always)]
fn between<B: Beat, const R: usize>(t: &mut [B; R]) {
    for i in 0..R / 4 {
        four(t, 4 * i, 1);
    }
    if R == 16 {
        for i in 0..4 {
            four(t, i, 4);
        }
    }
}

#[inline(always)]
fn four<B: Beat, const R: usize>(t: &mut [B; R], at: usize, distance: usize) {
    let [a, b, c, d] = [t[at], t[at + distance], t[at + 2 * distance], t[at + 3 * distance]];
    let ((a, b), (c, d)) = (B::plain(a, b), B::plain(c, d));
    let ((a, c), (b, d)) = (B::halved(a, c), B::halved(b, d));
    [t[at], t[at + distance], t[at + 2 * distance], t[at + 3 * distance]] = [a, b, c, d];
}
