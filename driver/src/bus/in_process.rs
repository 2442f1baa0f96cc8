//! A bus to a simulated card in this process.
//!
//! Both ends share two anonymous mappings: a page of registers and the DMA memory. The driver holds [`InProcessBus`],
//! the simulator [`CardEnd`]. Nothing happens by itself: the simulator decides in [`CardHook`] what a flush and a poll
//! make the card do.
//!
//! Why mappings and not a `Vec`: the driver runs the same code as over a real BAR, down to the volatile access.
//! A card whose host is another process has a [`CardEnd`], too ([`CardEnd::new`]): its registers are then written by whoever
//! carries the accesses ([`CardEnd::host_write`]), and its host memory is what that process has mapped for it.
//! Limits: within one process; a forked child would see copies.

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

/// Host memory as a card reaches it.
pub trait HostMemory: Send + Sync {
    /// Reads.
    ///
    /// # Errors
    /// [`DmaFault`]: some of it is not there for the card.
    fn read(&self, iova: u64, out: &mut [u8]) -> Result<(), DmaFault>;

    /// Writes, in ascending order: who sees the last byte sees all.
    ///
    /// # Errors
    /// [`DmaFault`]: some of it is not there for the card.
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

/// The card's end. Clones are the same end.
#[derive(Clone)]
pub struct CardEnd {
    bar: BarMap,
    memory: Arc<dyn HostMemory>,
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

/// Whether the host writes the word at a byte offset of BAR 0.
fn is_host_written(offset: usize) -> bool {
    let is_peer = (PEER_TABLE..PEER_TABLE + RANKS_MAX * PEER_BYTES).contains(&offset);
    // As of the first queue pair.
    let first = match offset.checked_sub(QUEUE_BASE) {
        Some(at) if at / QUEUE_BYTES < QUEUES => QUEUE_BASE + at % QUEUE_BYTES,
        _ => offset,
    };
    is_peer || REGISTERS.iter().any(|register| register.offset == first && register.access == Access::ReadWrite)
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
    /// The end of a card with this host memory. All registers are zero until the card writes them.
    ///
    /// # Errors
    /// No memory for the registers.
    pub fn new(memory: Arc<dyn HostMemory>) -> Result<Self, std::io::Error> {
        Ok(Self { bar: BarMap::from_mapping(anonymous(BAR_BYTES)?)?, memory })
    }

    /// What the host does on the bus: writes the word at byte `offset` of BAR 0. Without effect where nothing is, and on words that the
    /// card writes.
    pub fn host_write(&self, offset: usize, value: u32) {
        if is_host_written(offset) {
            self.write_register(offset / 4, value);
        }
    }

    /// Sets all words that the host writes to zero, as after power-on.
    pub fn clear(&self) {
        (0..BAR_BYTES).step_by(4).for_each(|offset| self.host_write(offset, 0));
    }

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
    /// [`DmaFault`]; in one piece of memory, nothing was read.
    pub fn dma_read(&self, iova: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        self.memory.read(iova, out)
    }

    /// Writes host memory, in ascending order: who sees the last byte sees all.
    ///
    /// # Errors
    /// [`DmaFault`]; in one piece of memory, nothing was written.
    pub fn dma_write(&self, iova: u64, bytes: &[u8]) -> Result<(), DmaFault> {
        self.memory.write(iova, bytes)
    }
}
