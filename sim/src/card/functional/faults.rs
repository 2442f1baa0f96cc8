//! Injected faults: wrong or duplicate reports to the host (once each), failing or slow DMA.

use super::DMA_NS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// Flips a bit of the next completion.
    Completion { bit: usize },
    /// Flips a bit of the received beats in the next stage report.
    Report { bit: usize },
    /// Writes the next completion twice.
    Twice,
}

#[derive(Clone, Debug)]
pub(crate) struct Faults {
    /// Latency of DMA, without the transfer.
    pub dma_ns: u64,
    /// Number of DMA accesses that will fail.
    pub dma_errors: u32,
    pub lie: Option<Lie>,
}

impl Default for Faults {
    fn default() -> Self {
        Self { dma_ns: DMA_NS, dma_errors: 0, lie: None }
    }
}

impl Faults {
    /// Returns whether the next DMA access fails, and counts it.
    pub fn takes_dma(&mut self) -> bool {
        let fails = self.dma_errors > 0;
        self.dma_errors = self.dma_errors.saturating_sub(1);
        fails
    }

    pub fn copies(&mut self) -> usize {
        1 + usize::from(self.lie.take_if(|lie| *lie == Lie::Twice).is_some())
    }

    pub fn take_completion(&mut self, entry: &mut [u8]) {
        if let Some(Lie::Completion { bit }) = self.lie.take_if(|lie| matches!(lie, Lie::Completion { .. })) {
            flip(entry, bit);
        }
    }

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
