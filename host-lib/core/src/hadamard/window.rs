//! Transform of whole windows.

use optireduce_contract::limits::LANES;
use optireduce_contract::shard::interleaved;

use super::block::{Bits, Case, Engine, Flips, Place, Scratch};
use super::portable::transform_tiny;
use super::{Code, Task};

const ZERO: [f32; LANES] = [0.0; LANES];
/// Window size from which results bypass the caches: 256 KiB. The beats of an encoded block are a
/// power of two apart and would evict each other.
const STREAM_BEATS: usize = 4096;

pub struct Encode<'a> {
    pub code: Code,
    pub gradient: &'a [f32],
    pub out: &'a mut [f32],
}

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
            8 => self.groups::<E, 16, 4>(),
            10 => self.groups::<E, 64, 8>(),
            12 => self.groups::<E, 256, 8>(),
            _ => self.groups::<E, 1024, 2>(),
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
    fn groups<E: Engine, const BEATS: usize, const GROUP: usize>(self) {
        let blocks = self.code.blocks();
        let (gathered, _) = self.gathered.as_chunks::<LANES>();
        let stream = gathered.len() >= STREAM_BEATS;
        let mut group = Group::<BEATS, GROUP>::ZERO;
        for (at, out) in self.out.chunks_mut(GROUP * BEATS * LANES).enumerate() {
            let first = at * GROUP;
            let received = group.gather(gathered, self.present, first, blocks);
            for (index, out) in out.chunks_mut(BEATS * LANES).enumerate() {
                // If nothing was received, all values are zeros and the infinite ratio is not used.
                let ratio = BEATS as f32 * (1.0 / received[index] as f32);
                let after = Flips::signed(Flips::ODD, self.code.sign_key, first + index);
                let scratch = &mut group.0[index].scratch;
                let (whole, _) = out.as_chunks_mut::<LANES>();
                if whole.len() == BEATS {
                    let place = Place { out: whole, at: 0, stride: 1, stream };
                    transform::<E, BEATS>(scratch, ratio, &Flips::NONE, &after, place);
                } else {
                    let mut spare = [ZERO; BEATS];
                    let place = Place { out: &mut spare, at: 0, stride: 1, stream: false };
                    transform::<E, BEATS>(scratch, ratio, &Flips::NONE, &after, place);
                    out.copy_from_slice(&spare.as_flattened()[..out.len()]);
                }
            }
        }
        if stream {
            E::fence();
        }
    }
}

/// Blocks that are gathered together: their beats are adjacent in the window, while the beats of
/// one block are each on its own page.
struct Group<const BEATS: usize, const GROUP: usize>([Member<BEATS>; GROUP]);

/// A block of a group. `room` keeps beats of different blocks out of the same cache set.
#[repr(C, align(64))]
struct Member<const BEATS: usize> {
    scratch: Scratch<BEATS>,
    room: Bits,
}

impl<const BEATS: usize, const GROUP: usize> Group<BEATS, GROUP> {
    const ZERO: Self = Self([const { Member { scratch: Scratch::ZERO, room: [0; LANES] } }; GROUP]);

    #[inline(always)]
    fn gather(
        &mut self,
        gathered: &[[f32; LANES]],
        present: Option<&[u64]>,
        first: usize,
        blocks: usize,
    ) -> [u32; GROUP] {
        let count = GROUP.min(blocks - first);
        let (mut received, mut whole) = ([0; GROUP], 0);
        for beat in 0..BEATS {
            let at = interleaved(first, beat, blocks);
            let row = &gathered[at..at + count];
            // Groups are aligned powers of two, so the bits of a row are in one word.
            let all = u64::MAX >> (64 - count);
            let came = present.map_or(all, |bits| bits[at / 64] >> (at % 64) & all);
            match row.first_chunk::<GROUP>() {
                Some(row) if came == all => {
                    for (member, from) in self.0.iter_mut().zip(row) {
                        member.scratch.0[beat] = from.map(|value| value.to_bits() as i32);
                    }
                    whole += 1;
                }
                _ => {
                    for (index, from) in row.iter().enumerate() {
                        let is_there = came >> index & 1 == 1;
                        let from = if is_there { from } else { &ZERO };
                        self.0[index].scratch.0[beat] = from.map(|value| value.to_bits() as i32);
                        received[index] += u32::from(is_there);
                    }
                }
            }
        }
        received.iter_mut().for_each(|received| *received += whole);
        received
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
