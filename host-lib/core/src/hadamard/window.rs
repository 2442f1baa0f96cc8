//! Windows: their blocks, gathered, transformed and put in their places.

use optireduce_contract::limits::LANES;
use optireduce_contract::shard::interleaved;

use super::block::{Case, Engine, Flips, Place, Scratch};
use super::portable::transform_tiny;
use super::{Code, Task};

const ZERO: [f32; LANES] = [0.0; LANES];
/// From this size on, encoded windows bypass the caches: 256 KiB. The beats of a block lie a power of two apart, all in a
/// few sets of the caches, from which they would be thrown out one by one.
const STREAM_BEATS: usize = 4096;

/// A window from a gradient.
pub struct Encode<'a> {
    pub code: Code,
    pub gradient: &'a [f32],
    pub out: &'a mut [f32],
}

/// A gradient from a window.
pub struct Decode<'a> {
    pub code: Code,
    pub gathered: &'a [f32],
    pub present: Option<&'a [u64]>,
    pub out: &'a mut [f32],
}

impl Task for Encode<'_> {
    #[inline(always)]
    fn run<E: Engine>(self) {
        match self.code.log2_n {
            8 => self.blocks::<E, 16>(),
            10 => self.blocks::<E, 64>(),
            12 => self.blocks::<E, 256>(),
            _ => self.blocks::<E, 1024>(),
        }
    }
}

impl Task for Decode<'_> {
    #[inline(always)]
    fn run<E: Engine>(self) {
        match self.code.log2_n {
            8 => self.blocks::<E, 16>(),
            10 => self.blocks::<E, 64>(),
            12 => self.blocks::<E, 256>(),
            _ => self.blocks::<E, 1024>(),
        }
    }
}

impl Encode<'_> {
    #[inline(always)]
    fn blocks<E: Engine, const BEATS: usize>(self) {
        let blocks = self.code.blocks();
        let (whole, rest) = self.gradient.as_chunks::<LANES>();
        let (out, _) = self.out.as_chunks_mut::<LANES>();
        let mut partial = ZERO;
        partial[..rest.len()].copy_from_slice(rest);
        let stream = out.len() >= STREAM_BEATS;
        let mut scratch = Scratch::<BEATS>::ZERO;
        for block in 0..blocks {
            let came = &whole[whole.len().min(block * BEATS)..whole.len().min((block + 1) * BEATS)];
            let (full, short) = scratch.0.split_at_mut(came.len());
            for (to, from) in full.iter_mut().zip(came) {
                *to = from.map(|value| value.to_bits() as i32);
            }
            for (beat, to) in (block * BEATS + came.len()..).zip(short) {
                let from = if beat == whole.len() { &partial } else { &ZERO };
                *to = from.map(|value| value.to_bits() as i32);
            }
            let before = Flips::signed(Flips::NONE, self.code.sign_key, block);
            let place = Place { out: &mut *out, at: block, stride: blocks, stream };
            transform::<E, BEATS>(&mut scratch, 1.0, &before, &Flips::ODD, place);
        }
        if stream {
            E::fence();
        }
    }
}

impl Decode<'_> {
    #[inline(always)]
    fn blocks<E: Engine, const BEATS: usize>(self) {
        let blocks = self.code.blocks();
        let (gathered, _) = self.gathered.as_chunks::<LANES>();
        let mut scratch = Scratch::<BEATS>::ZERO;
        for (block, out) in self.out.chunks_mut(BEATS * LANES).enumerate() {
            let mut received = 0;
            for (beat, to) in scratch.0.iter_mut().enumerate() {
                let position = interleaved(block, beat, blocks);
                let came = self.present.is_none_or(|bits| bits[position / 64] >> (position % 64) & 1 == 1);
                let from = if came { &gathered[position] } else { &ZERO };
                *to = from.map(|value| value.to_bits() as i32);
                received += u32::from(came);
            }
            // Nothing received: all values are zeros, and the ratio is not used.
            let ratio = BEATS as f32 * (1.0 / received as f32);
            let after = Flips::signed(Flips::ODD, self.code.sign_key, block);
            let (whole, _) = out.as_chunks_mut::<LANES>();
            if whole.len() == BEATS {
                let place = Place { out: whole, at: 0, stride: 1, stream: false };
                transform::<E, BEATS>(&mut scratch, ratio, &Flips::NONE, &after, place);
            } else {
                let mut spare = [ZERO; BEATS];
                let place = Place { out: &mut spare, at: 0, stride: 1, stream: false };
                transform::<E, BEATS>(&mut scratch, ratio, &Flips::NONE, &after, place);
                out.copy_from_slice(&spare.as_flattened()[..out.len()]);
            }
        }
    }
}

#[inline(always)]
fn transform<E: Engine, const BEATS: usize>(
    scratch: &mut Scratch<BEATS>,
    ratio: f32,
    before: &Flips<BEATS>,
    after: &Flips<BEATS>,
    mut place: Place<'_>,
) {
    let mut peak = 0;
    for value in scratch.0.as_flattened() {
        peak = peak.max(value & 0x7fff_ffff);
    }
    match Case::of::<BEATS>(peak, ratio) {
        Case::Usual(scale) => E::transform(scratch, &scale, before, after, place),
        Case::Tiny(scale) => transform_tiny(scratch, &scale, before, after, place),
        Case::Constant(bits) => {
            for beat in 0..BEATS {
                *place.beat(beat) = [f32::from_bits(bits as u32); LANES];
            }
        }
    }
}
