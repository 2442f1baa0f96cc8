//! Decoding of a window from the beats that arrived, also after repairs.

use optireduce_contract::limits::{LANES, NAN_BITS};

use crate::hadamard::{self, Code};
use crate::protocol::WindowPlan;

/// Computes the output of a window from its beats in wire order. Beats that are not `present`
/// count as zeros.
pub(crate) fn decode_window(plan: &WindowPlan, gathered: &[f32], present: &[u64], out: &mut [f32]) {
    if plan.hadamard {
        return hadamard::decode(code(plan), gathered, Some(present), out);
    }
    copy_present(gathered, present, out);
}

fn copy_present(gathered: &[f32], present: &[u64], out: &mut [f32]) {
    let came = |position: usize| present[position / 64] >> (position % 64) & 1 == 1;
    // Beats as arrays: the compiler then checks for NaNs while it copies, at no cost.
    let (beats, rest) = out.as_chunks_mut::<LANES>();
    let (whole, last) = (beats.len(), &gathered[beats.len() * LANES..]);
    for (position, (to, from)) in beats.iter_mut().zip(gathered.as_chunks::<LANES>().0).enumerate() {
        *to = if came(position) { from.map(canonical) } else { [0.0; LANES] };
    }
    let is_last_there = !rest.is_empty() && came(whole);
    for (to, from) in rest.iter_mut().zip(last) {
        *to = if is_last_there { canonical(*from) } else { 0.0 };
    }
}

/// Replaces a NaN by the card's only NaN, since the NaN of a sum depends on the processor. Needed
/// for means and results only.
#[inline(always)]
pub(crate) fn canonical(value: f32) -> f32 {
    if value.is_nan() { f32::from_bits(NAN_BITS) } else { value }
}

/// Multiplies sums by `factor`. Returns the number of infinities and NaNs, made [`canonical`].
pub(crate) fn scale_canonical(sums: &mut [f32], factor: f32) -> u64 {
    let mut not_finite = 0;
    for sum in &mut *sums {
        *sum *= factor;
        not_finite += is_not_finite(*sum);
    }
    make_canonical(sums, not_finite);
    not_finite.into()
}

/// Makes NaNs [`canonical`] if `not_finite` is not 0: a rare second pass over cached memory is
/// faster than a choice for each value written.
#[inline(always)]
pub(crate) fn make_canonical(values: &mut [f32], not_finite: u32) {
    if not_finite > 0 {
        values.iter_mut().for_each(|value| *value = canonical(*value));
    }
}

/// 1 for an infinity or a NaN, else 0, in the width of a value so that counting vectorises.
#[inline(always)]
pub(crate) fn is_not_finite(value: f32) -> u32 {
    const EXPONENT: u32 = 0x7f80_0000;
    u32::from(value.to_bits() & EXPONENT == EXPONENT)
}

pub(crate) fn count_not_finite(values: &[f32]) -> u64 {
    // Short loops, so that their 32-bit counters do not overflow.
    let count = |values: &[f32]| values.iter().map(|value| is_not_finite(*value)).sum::<u32>();
    values.chunks(1 << 16).map(|values| u64::from(count(values))).sum()
}

pub(crate) fn code(plan: &WindowPlan) -> Code {
    Code { log2_n: plan.log2_n, log2_blocks: plan.log2_blocks, sign_key: plan.sign_key }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinities_and_nans_are_counted_and_nothing_else() {
        let finite = [0.0, -0.0, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, 1.0];
        let others = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN, f32::from_bits(0x7f80_0001)];
        assert_eq!((count_not_finite(&finite), count_not_finite(&others), count_not_finite(&[])), (0, 5, 0));
        let mut many = vec![1.0; 200_000];
        many.iter_mut().step_by(1000).for_each(|value| *value = f32::NAN);
        assert_eq!(count_not_finite(&many), 200);
    }

    #[test]
    fn what_came_is_copied_with_the_cards_nan_and_what_did_not_is_zero() {
        let mut gathered: [f32; 4 * LANES] = std::array::from_fn(|at| at as f32 + 0.5);
        for at in [0, LANES + 1, 2 * LANES + 3] {
            gathered[at] = f32::from_bits(0xffc0_0001);
        }
        for elements in [LANES, 2 * LANES + 5, 3 * LANES, 3 * LANES + 2] {
            let mut out = vec![9.0_f32; elements];
            copy_present(&gathered, &[0b101], &mut out);
            for (at, found) in out.iter().enumerate() {
                let expected = match (at / LANES, at) {
                    (1 | 3, _) => 0,
                    (_, 0 | 35) => NAN_BITS,
                    _ => gathered[at].to_bits(),
                };
                assert_eq!(found.to_bits(), expected, "element {at} of {elements}");
            }
        }
    }

    #[test]
    fn a_scaled_beat_holds_no_nan_but_the_cards_and_no_other_bit_changes() {
        let special =
            [0x7f80_0001, 0x7fc0_0000, 0x7fff_ffff, 0xff80_0001, 0xffc0_0000, 0x7f80_0000, 0xff80_0000, 0x7f7f_ffff, 1];
        for (at, bits) in (0..LANES).flat_map(|at| special.map(|bits: u32| (at, bits))) {
            let mut lanes: [f32; LANES] = std::array::from_fn(|lane| lane as f32 - 7.5);
            lanes[at] = f32::from_bits(bits);
            let expected = lanes.map(|lane| canonical(lane * 0.5).to_bits());
            let not_finite = scale_canonical(&mut lanes, 0.5);
            assert_eq!(not_finite, count_not_finite(&lanes), "lane {at}: {bits:08x}");
            assert_eq!(lanes.map(f32::to_bits), expected, "lane {at}: {bits:08x}");
            assert_eq!(lanes[at].is_nan(), bits << 1 > 0xff00_0000);
            assert!(!lanes[at].is_nan() || lanes[at].to_bits() == NAN_BITS);
        }
    }
}
