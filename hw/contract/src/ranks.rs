//! Sets of ranks.
//!
//! A card uses one word ([`CardRanks`]). Software sizes sets to the job (`RankSet<Vec<u64>>`) or
//! views a row of a larger table as a set (`RankSet<&mut [u64]>`). A set holds ranks below 64 times
//! its number of words. Larger ranks are never in the set, and inserting one has no effect.

use core::fmt;

/// Storage of a [`RankSet`]: rank r is bit r % 64 of word r / 64.
pub trait Words: AsRef<[u64]> + AsMut<[u64]> {}

impl<W: AsRef<[u64]> + AsMut<[u64]>> Words for W {}

/// A set of ranks in storage `W`. Equality ignores capacity.
#[derive(Clone, Copy, Default)]
pub struct RankSet<W>(W);

/// Ranks of a job with cards, at most [`RANKS_MAX`](crate::limits::RANKS_MAX).
pub type CardRanks = RankSet<[u64; 1]>;

/// Returns the number of words of a set of ranks below `ranks`.
pub const fn words_for(ranks: usize) -> usize {
    ranks.div_ceil(64)
}

impl<W> RankSet<W> {
    /// Creates a set from its [`words`](RankSet::words).
    pub const fn of_words(words: W) -> Self {
        Self(words)
    }
}

impl CardRanks {
    /// Creates a set from bits: bit r stands for rank r.
    pub const fn from_bits(bits: u64) -> Self {
        Self([bits])
    }

    /// Returns the set as bits.
    pub const fn bits(&self) -> u64 {
        self.0[0]
    }
}

impl<W: FromIterator<u64>> RankSet<W> {
    /// Creates an empty set with room for ranks below `ranks`.
    pub fn none(ranks: usize) -> Self {
        Self((0..words_for(ranks)).map(|_| 0).collect())
    }

    /// Creates the set of all ranks below `ranks`.
    pub fn all(ranks: usize) -> Self {
        let word = |at: usize| u64::MAX >> (64 - (ranks - 64 * at).min(64));
        Self((0..words_for(ranks)).map(word).collect())
    }
}

impl<W: AsRef<[u64]>> RankSet<W> {
    /// Returns the words of the set: rank r is bit r % 64 of word r / 64.
    pub fn words(&self) -> &[u64] {
        self.0.as_ref()
    }

    /// Returns whether `rank` is in the set.
    pub fn contains(&self, rank: usize) -> bool {
        self.words().get(rank / 64).is_some_and(|word| word >> (rank % 64) & 1 == 1)
    }

    /// Returns the number of ranks in the set.
    pub fn len(&self) -> usize {
        self.words().iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words().iter().all(|word| *word == 0)
    }

    /// Iterates over the ranks in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let ranks_of = |(at, word): (usize, &u64)| {
            let mut left = *word;
            core::iter::from_fn(move || {
                let rank = (left != 0).then(|| 64 * at + left.trailing_zeros() as usize);
                left &= left.wrapping_sub(1);
                rank
            })
        };
        self.words().iter().enumerate().flat_map(ranks_of)
    }

    /// Returns whether this set contains every rank of `other`.
    pub fn is_superset<V: AsRef<[u64]>>(&self, other: &RankSet<V>) -> bool {
        let here = self.words().iter().copied().chain(core::iter::repeat(0));
        other.words().iter().zip(here).all(|(other, here)| other & !here == 0)
    }
}

impl<W: Words> RankSet<W> {
    /// Adds `rank` and returns whether it is new.
    pub fn insert(&mut self, rank: usize) -> bool {
        let Some(word) = self.0.as_mut().get_mut(rank / 64) else { return false };
        let bit = 1 << (rank % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Removes `rank` and returns whether it was in the set.
    pub fn remove(&mut self, rank: usize) -> bool {
        let was_in = self.contains(rank);
        if let Some(word) = self.0.as_mut().get_mut(rank / 64) {
            *word &= !(1 << (rank % 64));
        }
        was_in
    }

    /// Adds the ranks of `other` that this set has room for.
    pub fn insert_all<V: AsRef<[u64]>>(&mut self, other: &RankSet<V>) {
        self.0.as_mut().iter_mut().zip(other.words()).for_each(|(word, other)| *word |= other);
    }

    /// Removes the ranks of `other`.
    pub fn remove_all<V: AsRef<[u64]>>(&mut self, other: &RankSet<V>) {
        self.0.as_mut().iter_mut().zip(other.words()).for_each(|(word, other)| *word &= !other);
    }

    /// Removes all ranks that are not in `other`.
    pub fn retain_all<V: AsRef<[u64]>>(&mut self, other: &RankSet<V>) {
        let others = other.words().iter().copied().chain(core::iter::repeat(0));
        self.0.as_mut().iter_mut().zip(others).for_each(|(word, other)| *word &= other);
    }

    /// Removes all ranks.
    pub fn clear(&mut self) {
        self.0.as_mut().fill(0);
    }

    /// Returns the set with `ranks` added.
    pub fn with(mut self, ranks: impl IntoIterator<Item = usize>) -> Self {
        self.extend(ranks);
        self
    }
}

impl<W: Words> Extend<usize> for RankSet<W> {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, ranks: I) {
        ranks.into_iter().for_each(|rank| {
            self.insert(rank);
        });
    }
}

impl<W: AsRef<[u64]>, V: AsRef<[u64]>> PartialEq<RankSet<V>> for RankSet<W> {
    fn eq(&self, other: &RankSet<V>) -> bool {
        self.is_superset(other) && other.is_superset(self)
    }
}

impl<W: AsRef<[u64]>> Eq for RankSet<W> {}

impl<W: AsRef<[u64]>> fmt::Debug for RankSet<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::{format, vec, vec::Vec};

    type Ranks = RankSet<Vec<u64>>;

    #[test]
    fn a_set_holds_what_was_put_into_it_across_words() {
        let mut set = Ranks::none(130);
        let ranks = [0, 1, 63, 64, 65, 127, 128, 129];
        for rank in ranks {
            assert!(set.insert(rank), "rank {rank} is new");
            assert!(!set.insert(rank), "rank {rank} is in");
        }
        assert!(set.iter().eq(ranks));
        assert_eq!((set.len(), set.contains(2), set.contains(1000)), (8, false, false));
        assert!(set.remove(64) && !set.remove(64) && !set.contains(64));
        assert_eq!(format!("{set:?}"), "{0, 1, 63, 65, 127, 128, 129}");
        set.clear();
        assert!(set.is_empty());
    }

    #[test]
    fn a_rank_beyond_the_room_is_never_in_the_set() {
        let mut set = CardRanks::default();
        assert!(set.insert(63) && !set.insert(64) && !set.contains(64) && !set.remove(64));
        assert_eq!(set.bits(), 1 << 63);
    }

    #[test]
    fn all_ranks_are_those_below_the_size() {
        for ranks in [0, 1, 2, 63, 64, 65, 128, 1000] {
            assert!(Ranks::all(ranks).iter().eq(0..ranks), "{ranks} ranks");
            assert_eq!(Ranks::all(ranks).words().len(), words_for(ranks));
        }
    }

    #[test]
    fn sets_of_different_room_compare_by_their_ranks() {
        let wide = Ranks::none(200).with([3, 5]);
        assert_eq!(CardRanks::from_bits(0b101000), wide);
        assert!(wide.is_superset(&CardRanks::from_bits(0b1000)));
        assert!(!CardRanks::from_bits(0b101000).is_superset(&Ranks::none(200).with([150])));
        assert_ne!(CardRanks::from_bits(0b101000), Ranks::none(200).with([3, 5, 150]));
    }

    #[test]
    fn unions_and_differences_reach_every_word() {
        let mut set = Ranks::none(130).with([1, 70]);
        set.insert_all(&Ranks::none(130).with([70, 129]));
        assert!(set.iter().eq([1, 70, 129]));
        set.retain_all(&CardRanks::from_bits(0b10));
        assert!(set.iter().eq([1]));
        let mut set = Ranks::none(130).with([1, 70, 129]);
        set.remove_all(&Ranks::none(130).with([1, 129]));
        assert!(set.iter().eq([70]));
    }

    #[test]
    fn a_row_of_a_table_is_a_set() {
        let mut table = vec![0u64; 4];
        assert!(RankSet::of_words(&mut table[2..]).insert(65));
        assert_eq!(table, [0, 0, 0, 2]);
    }
}
