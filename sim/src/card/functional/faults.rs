//! Faults of a card: what it tells its host wrongly, twice or late. Each lie is told once.

use super::DMA_NS;

/// One wrong thing that a card tells its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// A bit of the next completion is flipped: an index, a length, a count, the phase.
    Completion { bit: usize },
    /// A bit of the next stage report is flipped: beats that came from a rank.
    Report { bit: usize },
    /// The next completion is written twice.
    Twice,
}

/// What is wrong with a card; nothing, at power-on.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    /// Time of one access to host memory, without the data.
    pub dma_ns: u64,
    /// So many of the next accesses to host memory fail.
    pub dma_errors: u32,
    /// Told with the next occasion.
    pub lie: Option<Lie>,
}

impl Default for Faults {
    fn default() -> Self {
        Self { dma_ns: DMA_NS, dma_errors: 0, lie: None }
    }
}

impl Faults {
    /// Whether this access to host memory fails.
    pub fn takes_dma(&mut self) -> bool {
        let fails = self.dma_errors > 0;
        self.dma_errors = self.dma_errors.saturating_sub(1);
        fails
    }

    /// How often a completion is written.
    pub fn copies(&mut self) -> usize {
        1 + usize::from(self.lie.take_if(|lie| *lie == Lie::Twice).is_some())
    }

    /// A completion on its way to host memory.
    pub fn take_completion(&mut self, entry: &mut [u8]) {
        if let Some(Lie::Completion { bit }) = self.lie.take_if(|lie| matches!(lie, Lie::Completion { .. })) {
            flip(entry, bit);
        }
    }

    /// A stage report on its way to host memory.
    pub fn take_report(&mut self, report: &mut [u8]) {
        if let Some(Lie::Report { bit }) = self.lie.take_if(|lie| matches!(lie, Lie::Report { .. })) {
            flip(report, bit);
        }
    }
}

fn flip(bytes: &mut [u8], bit: usize) {
    let bit = bit % (8 * bytes.len());
    bytes[bit / 8] ^= 1 << (bit % 8);
}
