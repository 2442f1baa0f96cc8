//! Beats of a shard that have arrived, by rank: one bitmap row per rank, so that a packet touches
//! one or two words.

use std::ops::Range;

use super::bits;

#[derive(Debug)]
pub(super) struct Arrivals {
    beats: usize,
    ranks: usize,
    words: Vec<u64>,
}

impl Arrivals {
    pub const fn words_for(beats: usize, ranks: usize) -> usize {
        (beats * ranks).div_ceil(64)
    }

    /// `zeros`: [`words_for`](Self::words_for) words.
    pub fn none(beats: usize, ranks: usize, zeros: Vec<u64>) -> Self {
        Self { beats, ranks, words: zeros }
    }

    pub fn into_words(self) -> Vec<u64> {
        self.words
    }

    /// Returns whether the first of these beats arrived from a rank, and the end of the run of
    /// beats in the same state. `beats` must not be empty.
    pub fn run(&self, rank: usize, beats: Range<usize>) -> (bool, usize) {
        let row = rank * self.beats;
        let (has_come, end) = bits::run(&self.words, row + beats.start..row + beats.end);
        (has_come, end - row)
    }

    pub fn insert(&mut self, rank: usize, beats: Range<usize>) {
        let row = rank * self.beats;
        bits::set(&mut self.words, row + beats.start..row + beats.end);
    }

    pub fn ranks_of(&self, beat: usize) -> impl Iterator<Item = usize> + '_ {
        let bits = (0..self.ranks).map(move |rank| rank * self.beats + beat);
        bits.enumerate().filter(|(_, bit)| self.words[bit / 64] >> (bit % 64) & 1 == 1).map(|(rank, _)| rank)
    }

    /// All beats, in runs that arrived from the same ranks. A run has at most 64 beats.
    pub fn alike(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut begin = 0;
        std::iter::from_fn(move || {
            let beats = begin..self.end_of_alike(begin);
            begin = beats.end;
            (!beats.is_empty()).then_some(beats)
        })
    }

    fn end_of_alike(&self, begin: usize) -> usize {
        let differences = |rank: usize| {
            let word = bits::word(&self.words, rank * self.beats + begin);
            word ^ (word & 1).wrapping_neg()
        };
        let differences = (0..self.ranks).map(differences).fold(0, |all, one| all | one);
        (begin + differences.trailing_zeros() as usize).min(self.beats)
    }
}

#[cfg(test)]
mod tests {
    use optireduce_contract::ranks::words_for;

    use super::super::bits::tests::draws;
    use super::*;

    fn none(beats: usize, ranks: usize) -> Arrivals {
        Arrivals::none(beats, ranks, vec![0; Arrivals::words_for(beats, ranks)])
    }

    #[test]
    fn beats_of_ranks_are_found_as_one_by_one() {
        for seed in 0..400_u64 {
            let mut below = draws(seed);
            let (beats, ranks) = ([1, 2, 63, 64, 65, 128, 200, 333][below(8)], [1, 2, 3, 8, 64, 65, 130][below(7)]);
            let (mut arrivals, mut model) = (none(beats, ranks), vec![vec![false; beats]; ranks]);
            let packet_beats = 1 + below(90);
            for _ in 0..below(3 * ranks * beats.div_ceil(packet_beats)) {
                let rank = below(ranks);
                let begin = if below(4) > 0 { below(beats) / packet_beats * packet_beats } else { below(beats) };
                let packet = begin..(begin + packet_beats).min(beats);
                let what = format!("seed {seed}: {beats} beats, {ranks} ranks, {packet:?} of rank {rank}");
                let differs = |beat: &usize| model[rank][*beat] != model[rank][begin];
                let expected = (model[rank][begin], packet.clone().find(differs).unwrap_or(packet.end));
                assert_eq!(arrivals.run(rank, packet.clone()), expected, "{what}");
                arrivals.insert(rank, packet.clone());
                model[rank][packet].fill(true);
            }
            let ranks_of = |beat: usize| (0..ranks).filter(|rank| model[*rank][beat]).collect::<Vec<_>>();
            let mut end = 0;
            for run in arrivals.alike() {
                let what = format!("seed {seed}: {beats} beats, {ranks} ranks, {run:?}");
                assert!(run.start == end && run.len() <= 64, "{what}");
                for beat in run.clone() {
                    assert!(arrivals.ranks_of(beat).eq(ranks_of(beat)), "{what}: {beat}");
                    assert_eq!(ranks_of(beat), ranks_of(run.start), "{what}: {beat}");
                }
                let ends = run.end == beats || run.len() == 64 || ranks_of(run.end) != ranks_of(run.start);
                assert!(ends, "{what} is as what follows");
                end = run.end;
            }
            assert_eq!(end, beats, "seed {seed}: {ranks} ranks");
        }
    }

    #[test]
    fn a_shard_without_beats_has_no_runs_and_none_takes_more_than_a_set_of_ranks_for_each_beat() {
        assert_eq!(none(0, 3).alike().next(), None);
        for (beats, ranks) in (0..200).flat_map(|beats| (1..200).map(move |ranks| (beats, ranks))) {
            assert!(Arrivals::words_for(beats, ranks) <= beats * words_for(ranks), "{beats} beats, {ranks} ranks");
        }
    }
}
