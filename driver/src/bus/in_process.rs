//! A bus to a simulated card in this process.
//!
//! Both ends share two anonymous mappings: a page of registers and the DMA memory. The driver holds [`InProcessBus`],
//! the simulator [`CardEnd`]. Nothing happens by itself: the simulator decides in [`CardHook`] what a flush and a poll
//! make the card do.
//!
//! Why mappings and not a `Vec`: the driver runs the same code as over a real BAR, down to the volatile access.
//! Limits: within one process; a forked child would see copies.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use memmap2::{MmapMut, MmapRaw};
use optireduce_contract::registers::BAR_BYTES;

use super::Bus;
use crate::bar::BarMap;
use crate::dma::{DmaFault, DmaMap};
use crate::error::DriverError;

/// What the simulator does when the driver waits for it. Called on the driver's thread, with no lock held.
pub trait CardHook: Send + Sync {
    /// The driver wants its register writes seen and the card's registers current; see [`Bus::flush`].
    fn flush(&self);

    /// The driver polls; see [`Bus::relax`].
    fn relax(&self);
}

/// The driver's end.
pub struct InProcessBus {
    name: String,
    bar: BarMap,
    dma: DmaMap,
    hook: Arc<dyn CardHook>,
}

/// The card's end. Clones are the same end.
#[derive(Clone)]
pub struct CardEnd {
    bar: BarMap,
    dma: DmaMap,
}

/// Makes a bus to a simulated card, with `dma_bytes` bytes of DMA memory (rounded up to pages) that the card knows as
/// `iova_base`, and the card's end of it. All registers are zero until the card writes them.
///
/// # Errors
/// [`DriverError::Map`]: no memory, or `iova_base` is not a multiple of 4096.
pub fn in_process(
    name: impl Into<String>,
    dma_bytes: usize,
    iova_base: u64,
    hook: Arc<dyn CardHook>,
) -> Result<(InProcessBus, CardEnd), DriverError> {
    let name = name.into();
    let failed = |what, bytes| {
        let device = name.clone();
        move |source| DriverError::Map { device, what, bytes, source }
    };
    let dma_bytes = dma_bytes.checked_next_multiple_of(crate::dma::DMA_ALIGN).unwrap_or(dma_bytes);
    let anonymous = |bytes| MmapMut::map_anon(bytes).map(MmapRaw::from);
    let bar = anonymous(BAR_BYTES).and_then(BarMap::from_mapping).map_err(failed("BAR 0", BAR_BYTES))?;
    let dma = anonymous(dma_bytes)
        .and_then(|mapping| DmaMap::from_mapping(mapping, iova_base))
        .map_err(failed("DMA memory", dma_bytes))?;
    let card = CardEnd { bar: bar.clone(), dma: dma.clone() };
    Ok((InProcessBus { name, bar, dma, hook }, card))
}

impl InProcessBus {
    /// The same card for several drivers: each has the registers and its part of DMA memory. None if there is not a page
    /// for each.
    pub fn split(self, drivers: usize) -> Vec<Self> {
        let bus = |(index, dma)| Self {
            name: format!("{}.{index}", self.name),
            bar: self.bar.clone(),
            dma,
            hook: self.hook.clone(),
        };
        self.dma.split(drivers).into_iter().enumerate().map(bus).collect()
    }
}

impl Bus for InProcessBus {
    fn name(&self) -> &str {
        &self.name
    }

    fn registers(&self) -> &BarMap {
        &self.bar
    }

    fn dma(&self) -> &DmaMap {
        &self.dma
    }

    fn flush(&self) -> Result<(), DriverError> {
        self.hook.flush();
        Ok(())
    }

    fn relax(&self) {
        self.hook.relax();
    }
}

impl CardEnd {
    /// Reads 32-bit word `word` of BAR 0; zero beyond it. What the host did before it wrote the word is seen after.
    pub fn read_register(&self, word: usize) -> u32 {
        let value = self.bar.words().get(word).map_or(0, |cell| cell.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        value
    }

    /// Writes 32-bit word `word` of BAR 0, whoever writes it on the bus; without effect beyond it.
    pub fn write_register(&self, word: usize, value: u32) {
        fence(Ordering::Release);
        if let Some(cell) = self.bar.words().get(word) {
            cell.store(value, Ordering::Relaxed);
        }
    }

    /// Reads host memory.
    ///
    /// # Errors
    /// [`DmaFault::OutOfRange`]; nothing was read.
    pub fn dma_read(&self, iova: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        self.dma.read(iova, out)
    }

    /// Writes host memory, in ascending order: who sees the last byte sees all.
    ///
    /// # Errors
    /// [`DmaFault::OutOfRange`]; nothing was written.
    pub fn dma_write(&self, iova: u64, bytes: &[u8]) -> Result<(), DmaFault> {
        self.dma.write(iova, bytes)
    }
}
