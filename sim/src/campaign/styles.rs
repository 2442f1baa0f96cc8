//! Styles of a job's calls: encoded, bf16, repaired, whole or partial.
//!
//! A separate draw lets a job run without styles ([`Edits::plain`](super::Edits::plain)). Encoded
//! buckets have whole Hadamard blocks, bf16 buckets whole beats. Both need at most [`RANKS_TRIED`]
//! ranks, so that judges can identify the contributors of every beat.

use optireduce_core::protocol::{HadamardMode, Kind, Stream};
use optireduce_core::{Call, Repair};

use super::settings::{CARD, Settings};
use super::values::{LANES, RANKS_TRIED};
use crate::random::Random;

/// Hadamard blocks of the software data plane, log2 of smallest and largest.
const BLOCK_LOG2: (u32, u32) = (8, 12);
/// Largest encoded bucket, in elements.
const ENCODED_ELEMENTS_MAX: usize = 4096;

#[derive(Clone, Copy, Debug)]
struct Style {
    hadamard: HadamardMode,
    bf16: Option<bool>,
    repair: Repair,
    encoded_elements: usize,
    /// Beats of each part of a partial collective.
    part_beats: Option<usize>,
}

pub(super) fn draw(random: &mut Random, calls: &mut [Call], ranks: usize, settings: &mut Settings, cards: bool) {
    if random.chance(0.4) {
        return;
    }
    let few = ranks <= RANKS_TRIED;
    settings.bf16 = few && random.chance(0.2);
    settings.hadamard_follows_loss = few && settings.silent_ops.is_some() && random.chance(0.5);
    let mut drawn: Vec<((u16, Stream), Style)> = Vec::new();
    for call in calls {
        let key = (call.bucket, call.stream);
        let known = drawn.iter().find(|(of, _)| *of == key && !call.is_one_off()).map(|(_, style)| *style);
        let style = known.unwrap_or_else(|| Style::draw(random, ranks, settings, cards));
        if known.is_none() {
            drawn.push((key, style));
        }
        style.apply(random, call, ranks, settings.bf16);
    }
}

/// Returns the size of a Hadamard block in elements, for windows of `window_beats`.
pub(super) fn block_elements(elements: usize, window_beats: usize, cards: bool) -> usize {
    let most = if cards { CARD.hadamard_log2 } else { BLOCK_LOG2.1 };
    let sizes = (BLOCK_LOG2.0..=most).step_by(2).map(|log2| 1 << log2).filter(|size| size / LANES <= window_beats);
    let largest = sizes.clone().last().unwrap_or(1 << BLOCK_LOG2.0);
    sizes.into_iter().find(|size| elements <= *size).unwrap_or(largest)
}

impl Style {
    fn draw(random: &mut Random, ranks: usize, settings: &Settings, cards: bool) -> Self {
        use Repair::{NextUpdate, Off, ThisUpdate};

        let few = ranks <= RANKS_TRIED;
        let auto = if settings.hadamard_follows_loss { HadamardMode::Auto } else { HadamardMode::Off };
        let hadamard = random.one_of(&[HadamardMode::Off, HadamardMode::Off, HadamardMode::On, auto]);
        let largest = block_elements(ENCODED_ELEMENTS_MAX, settings.window_beats.max(ranks), cards);
        let encoded_elements = if random.chance(0.5) {
            let sizes: Vec<usize> = (BLOCK_LOG2.0..=BLOCK_LOG2.1)
                .step_by(2)
                .map(|log2| 1 << log2)
                .filter(|size| *size <= largest)
                .collect();
            random.one_of(&sizes)
        } else {
            largest * random.between(1, (ENCODED_ELEMENTS_MAX / largest).min(7) as u64) as usize
        };
        let part_beats = random.between(1, 6) as usize;
        Self {
            hadamard: if few { hadamard } else { HadamardMode::Off },
            bf16: random.one_of(&[None, None, Some(false), Some(true)]).filter(|_| few),
            repair: random.one_of(&[Off, NextUpdate, NextUpdate, ThisUpdate, ThisUpdate]),
            encoded_elements,
            part_beats: (random.chance(0.25) && !cards).then_some(part_beats),
        }
    }

    fn apply(self, random: &mut Random, call: &mut Call, ranks: usize, bf16: bool) {
        (call.bf16, call.repair) = (self.bf16, self.repair);
        if let Some(beats) = self.part_beats.filter(|_| !call.is_one_off()) {
            call.kind = random.one_of(&[Kind::ReduceScatter, Kind::AllGather, Kind::AllReduce]);
            call.elements = beats * LANES * ranks;
        } else if call.kind == Kind::AllReduce && self.hadamard != HadamardMode::Off {
            (call.hadamard, call.elements) = (self.hadamard, self.encoded_elements);
        } else if self.bf16.unwrap_or(bf16) {
            call.elements = call.elements.next_multiple_of(LANES);
        }
    }
}
