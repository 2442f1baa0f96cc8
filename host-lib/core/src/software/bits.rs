//! Bitmaps: bit b is bit b % 64 of word b / 64. Only [`word`] accepts bits beyond the last word.

use std::ops::Range;

/// Returns the first of these bits with the value `is_set`, or the end of the range.
pub fn first(words: &[u64], bits: Range<usize>, is_set: bool) -> usize {
    let others = if is_set { 0 } else { u64::MAX };
    let mut at = bits.start;
    while at < bits.end {
        let found = (words[at / 64] ^ others) >> (at % 64);
        if found != 0 {
            return (at + found.trailing_zeros() as usize).min(bits.end);
        }
        at = (at / 64 + 1) * 64;
    }
    bits.end
}

/// Returns the first of these bits, and the end of its run. `bits` must not be empty.
pub fn run(words: &[u64], bits: Range<usize>) -> (bool, usize) {
    let is_set = words[bits.start / 64] >> (bits.start % 64) & 1 == 1;
    (is_set, first(words, bits, !is_set))
}

pub fn set(words: &mut [u64], bits: Range<usize>) {
    if bits.is_empty() {
        return;
    }
    let (first, last) = (bits.start / 64, (bits.end - 1) / 64);
    let (from, to) = (u64::MAX << (bits.start % 64), u64::MAX >> (63 - (bits.end - 1) % 64));
    if first == last {
        words[first] |= from & to;
    } else {
        words[first] |= from;
        words[first + 1..last].fill(u64::MAX);
        words[last] |= to;
    }
}

pub fn word(words: &[u64], at: usize) -> u64 {
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    let (low, shift) = (word(at / 64) >> (at % 64), 63 - at % 64);
    low | word(at / 64 + 1) << 1 << shift
}

#[cfg(test)]
pub mod tests {
    use optireduce_contract::signs::splitmix64;

    use super::*;

    pub fn draws(seed: u64) -> impl FnMut(usize) -> usize {
        let mut drawn = seed << 32;
        move |end| {
            drawn += 1;
            splitmix64(drawn) as usize % end
        }
    }

    #[test]
    fn ranges_of_bits_are_set_and_found_as_one_by_one() {
        for seed in 0..500_u64 {
            let mut below = draws(seed);
            let count: usize = [1, 3, 64, 65, 128, 300][below(6)];
            let (mut words, mut model) = (vec![0; count.div_ceil(64)], vec![false; count]);
            for _ in 0..20 {
                let begin = below(count);
                let end = [begin, (begin / 64 + 1) * 64, begin + below(count), count][below(4)].min(count);
                set(&mut words, begin..end);
                model[begin..end].fill(true);
                let what = format!("seed {seed}: {count} bits, {begin}..{end}");

                let found = (0..64 * words.len()).filter(|bit| words[bit / 64] >> (bit % 64) & 1 == 1);
                assert!(found.eq((0..count).filter(|bit| model[*bit])), "{what}");
                let begin = below(count);
                let end = begin + below(count - begin + 1);
                for is_set in [false, true] {
                    let expected = (begin..end).find(|bit| model[*bit] == is_set).unwrap_or(end);
                    assert_eq!(first(&words, begin..end, is_set), expected, "{what}: {is_set} in {begin}..{end}");
                }
                let expected = (begin..count).find(|bit| model[*bit] != model[begin]).unwrap_or(count);
                assert_eq!(run(&words, begin..count), (model[begin], expected), "{what}: run from {begin}");
                let expected = (0..64).filter(|bit| model.get(begin + bit) == Some(&true));
                let expected = expected.fold(0, |word, bit| word | 1 << bit);
                assert_eq!(word(&words, begin), expected, "{what}: word from {begin}");
            }
        }
    }
}
