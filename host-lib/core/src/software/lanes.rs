//! Conversion between payloads and values, in loops that the compiler can vectorise.

use crate::decode::{is_not_finite, make_canonical};
use crate::hadamard::{from_bf16, to_bf16};

pub fn put(values: &mut [f32], bytes: &[u8], bf16: bool) {
    if bf16 {
        values.iter_mut().zip(bytes.as_chunks().0).for_each(|(value, bytes)| *value = narrow(*bytes));
    } else {
        values.iter_mut().zip(bytes.as_chunks().0).for_each(|(value, bytes)| *value = f32::from_le_bytes(*bytes));
    }
}

/// Like [`put`], with the card's NaN for every NaN. Returns the number of infinities and NaNs.
pub fn put_canonical(values: &mut [f32], bytes: &[u8], bf16: bool) -> u64 {
    let mut not_finite = 0;
    let mut put = |value: &mut f32, came: f32| {
        *value = came;
        not_finite += is_not_finite(came);
    };
    if bf16 {
        values.iter_mut().zip(bytes.as_chunks().0).for_each(|(value, bytes)| put(value, narrow(*bytes)));
    } else {
        values.iter_mut().zip(bytes.as_chunks().0).for_each(|(value, bytes)| put(value, f32::from_le_bytes(*bytes)));
    }
    make_canonical(values, not_finite);
    not_finite.into()
}

pub fn add(sums: &mut [f32], bytes: &[u8], bf16: bool) {
    if bf16 {
        sums.iter_mut().zip(bytes.as_chunks().0).for_each(|(sum, bytes)| *sum += narrow(*bytes));
    } else {
        sums.iter_mut().zip(bytes.as_chunks().0).for_each(|(sum, bytes)| *sum += f32::from_le_bytes(*bytes));
    }
}

pub fn put_own(sums: &mut [f32], own: &[f32], bf16: bool) {
    if bf16 {
        sums.iter_mut().zip(own).for_each(|(sum, own)| *sum = from_bf16(to_bf16(*own)));
    } else {
        sums.iter_mut().zip(own).for_each(|(sum, own)| *sum = *own);
    }
}

pub fn add_own(sums: &mut [f32], own: &[f32], bf16: bool) {
    if bf16 {
        sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += from_bf16(to_bf16(*own)));
    } else {
        sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }
}

#[inline(always)]
fn narrow(bytes: [u8; 2]) -> f32 {
    from_bf16(u16::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use optireduce_contract::limits::LANES;

    use super::*;
    use crate::decode::{canonical, count_not_finite};
    use crate::hadamard::round_to_bf16;

    fn values() -> Vec<f32> {
        let special = [0x7f80_0001, 0xffc0_0000, 0x7fff_ffff, 0x7f80_0000, 0xff80_0000, 1, 0x8000_0000, 0x3f80_8000];
        (0..3 * LANES as u32).map(|at| f32::from_bits(special[at as usize % 8] + ((at / 8) << 16))).collect()
    }

    fn bytes(values: &[f32], bf16: bool) -> Vec<u8> {
        let wide = |value: &f32| value.to_le_bytes().to_vec();
        let short = |value: &f32| to_bf16(*value).to_le_bytes().to_vec();
        values.iter().flat_map(|value| if bf16 { short(value) } else { wide(value) }).collect()
    }

    fn bits(values: impl IntoIterator<Item = f32>) -> Vec<u32> {
        values.into_iter().map(f32::to_bits).collect()
    }

    #[test]
    fn payloads_are_put_and_added_lane_by_lane() {
        for bf16 in [false, true] {
            let (sent, mut came) = (values(), values());
            if bf16 {
                round_to_bf16(&mut came);
            }
            let payload = bytes(&sent, bf16);
            let mut found = vec![7.0; sent.len()];
            put(&mut found, &payload, bf16);
            assert_eq!(bits(found.iter().copied()), bits(came.iter().copied()), "bf16 {bf16}");
            let not_finite = put_canonical(&mut found, &payload, bf16);
            assert_eq!(not_finite, count_not_finite(&came), "bf16 {bf16}");
            assert_eq!(bits(found.iter().copied()), bits(came.iter().map(|value| canonical(*value))), "bf16 {bf16}");
            let mut sums = vec![0.5; sent.len()];
            add(&mut sums, &payload, bf16);
            let expected = came.iter().map(|value| canonical(0.5 + value));
            assert_eq!(bits(sums.iter().map(|sum| canonical(*sum))), bits(expected), "bf16 {bf16}");
        }
    }

    #[test]
    fn own_values_count_as_they_travel() {
        for bf16 in [false, true] {
            let (own, payload) = (values(), bytes(&values(), bf16));
            let (mut found, mut expected) = (vec![0.0; own.len()], vec![0.0; own.len()]);
            put_own(&mut found, &own, bf16);
            put(&mut expected, &payload, bf16);
            assert_eq!(bits(found.iter().copied()), bits(expected.iter().copied()), "bf16 {bf16}");
            let (mut found, mut expected) = (vec![1.5; own.len()], vec![1.5; own.len()]);
            add_own(&mut found, &own, bf16);
            add(&mut expected, &payload, bf16);
            let canonical = |values: Vec<f32>| bits(values.into_iter().map(canonical));
            assert_eq!(canonical(found), canonical(expected), "bf16 {bf16}");
        }
    }
}
