//! Bus to a simulated card in this process.
//!
//! Both ends share two anonymous mappings: a page of registers and the DMA memory. The driver holds
//! [`InProcessBus`], the simulator [`CardEnd`] and [`CardHook`]. A server of a card for another
//! process also uses [`CardEnd`].
//!
//! Limits: one process; a forked child would see copies.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use memmap2::{MmapMut, MmapRaw};
use optireduce_contract::limits::{QUEUES, RANKS_MAX};
use optireduce_contract::registers::{
    Access, BAR_BYTES, PEER_BYTES, PEER_TABLE, QUEUE_BASE, QUEUE_BYTES, REGISTERS, Register,
};

use super::Bus;
use crate::bar::BarMap;
use crate::dma::{DmaFault, DmaMap};
use crate::error::DriverError;

/// Simulator of a card. Called on the driver's thread, with no lock held.
pub trait CardHook: Send + Sync {
    /// Delivers register writes to the card and updates its registers.
    fn flush(&self);

    /// Lets the card run between two polls.
    fn relax(&self);
}

/// Driver's end of the bus.
pub struct InProcessBus {
    name: String,
    bar: BarMap,
    dma: DmaMap,
    hook: Arc<dyn CardHook>,
}

/// Host memory as a card accesses it.
pub trait HostMemory: Send + Sync {
    /// Fills `out`, or fails if some of it is not mapped for the card.
    fn read(&self, iova: u64, out: &mut [u8]) -> Result<(), DmaFault>;

    /// Writes in ascending order: a reader that sees the last byte sees all. Fails if some of it is
    /// not mapped for the card.
    fn write(&self, iova: u64, bytes: &[u8]) -> Result<(), DmaFault>;
}

impl HostMemory for DmaMap {
    fn read(&self, iova: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        DmaMap::read(self, iova, out)
    }

    fn write(&self, iova: u64, bytes: &[u8]) -> Result<(), DmaFault> {
        DmaMap::write(self, iova, bytes)
    }
}

/// Card's end of the bus.
#[derive(Clone)]
pub struct CardEnd {
    bar: BarMap,
    memory: Arc<dyn HostMemory>,
}

/// Creates a bus to a simulated card, with `dma_bytes` bytes of DMA memory (rounded up to pages)
/// that the card addresses from `iova_base`, a multiple of 4096. All registers are zero.
///
/// # Errors
/// [`DriverError::Map`].
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
    let dma = anonymous(dma_bytes)
        .and_then(|mapping| DmaMap::from_mapping(mapping, iova_base))
        .map_err(failed("DMA memory", dma_bytes))?;
    let card = CardEnd::new(Arc::new(dma.clone())).map_err(failed("BAR 0", BAR_BYTES))?;
    let bar = card.bar.clone();
    Ok((InProcessBus { name, bar, dma, hook }, card))
}

fn anonymous(bytes: usize) -> Result<MmapRaw, std::io::Error> {
    MmapMut::map_anon(bytes).map(MmapRaw::from)
}

fn is_host_written(offset: usize) -> bool {
    let is_peer = (PEER_TABLE..PEER_TABLE + RANKS_MAX * PEER_BYTES).contains(&offset);
    let first = match offset.checked_sub(QUEUE_BASE) {
        Some(at) if at / QUEUE_BYTES < QUEUES => QUEUE_BASE + at % QUEUE_BYTES,
        _ => offset,
    };
    is_peer || REGISTERS.iter().any(|register| register.offset == first && register.access == Access::ReadWrite)
}

impl InProcessBus {
    /// Splits the DMA memory among drivers that share the registers; see [`DmaMap::split`].
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

    fn read(&self, register: &Register) -> u32 {
        self.bar.read(register)
    }

    fn write(&self, register: &Register, value: u32) {
        self.bar.write(register, value);
    }

    fn write_peer(&self, rank: usize, words: [u32; PEER_BYTES / 4]) {
        self.bar.write_peer(rank, words);
    }
}

impl CardEnd {
    /// Creates the card's end with this host memory. All registers are zero.
    ///
    /// # Errors
    /// If there is no memory for the registers.
    pub fn new(memory: Arc<dyn HostMemory>) -> Result<Self, std::io::Error> {
        Ok(Self { bar: BarMap::from_mapping(anonymous(BAR_BYTES)?)?, memory })
    }

    /// Writes the word at byte `offset` of BAR 0 as the host. Ignored for read-only words.
    pub fn host_write(&self, offset: usize, value: u32) {
        if is_host_written(offset) {
            self.write_register(offset / 4, value);
        }
    }

    /// Zeroes all words that the host may write, as after power-on.
    pub fn clear(&self) {
        (0..BAR_BYTES).step_by(4).for_each(|offset| self.host_write(offset, 0));
    }

    /// Reads 32-bit word `word` of BAR 0, or zero beyond its end, and acquires: earlier accesses of
    /// the host are visible afterwards.
    pub fn read_register(&self, word: usize) -> u32 {
        let value = self.bar.words().get(word).map_or(0, |cell| cell.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        value
    }

    /// Writes 32-bit word `word` of BAR 0, read-only or not.
    pub fn write_register(&self, word: usize, value: u32) {
        fence(Ordering::Release);
        if let Some(cell) = self.bar.words().get(word) {
            cell.store(value, Ordering::Relaxed);
        }
    }

    /// Reads host memory; see [`HostMemory::read`].
    pub fn dma_read(&self, iova: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        self.memory.read(iova, out)
    }

    /// Writes host memory; see [`HostMemory::write`].
    pub fn dma_write(&self, iova: u64, bytes: &[u8]) -> Result<(), DmaFault> {
        self.memory.write(iova, bytes)
    }
}
