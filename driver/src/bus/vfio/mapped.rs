//! The two mappings of a card by VFIO: its BAR in our address space, our memory in its own.
#![allow(unsafe_code)]

use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;

use memmap2::MmapRaw;
use optireduce_contract::registers::BAR_BYTES;
use pci_driver::backends::vfio::VfioPciDevice;
use pci_driver::device::PciDevice;
use pci_driver::regions::{PciRegion, Permissions};

use super::iova::{place, without};
use crate::bar::BarMap;
use crate::bus::memory::{Pages, others_memory, shared_memory};
use crate::dma::{DMA_ALIGN, DmaMap};
use crate::machine::HUGE_BYTES;

/// Maps the registers of BAR 0, and no more: the page of the MSI-X table need not be mappable.
pub fn map_bar(device: &VfioPciDevice) -> io::Result<BarMap> {
    let bar = device.bar(0).ok_or_else(|| io::Error::other("there is no BAR 0"))?;
    let (found, expected) = (bar.len(), BAR_BYTES.next_multiple_of(DMA_ALIGN) as u64);
    if found < expected || !bar.is_mappable() {
        let mappable = if bar.is_mappable() { "can" } else { "cannot" };
        let what = format!("BAR 0 has {found} bytes and {mappable} be mapped, expected at least {expected} that can");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let mapped = bar.map(..expected, Permissions::ReadWrite)?;
    let base = NonNull::new(mapped.as_mut_ptr()).ok_or(io::ErrorKind::InvalidData)?;
    let bytes = mapped.len();
    // SAFETY: `mapped` has just mapped `bytes` bytes at `base` to be read and written, nothing else knows the address, and as the owner passed
    // along it keeps them mapped, and the device open, until the last clone is dropped. The kernel lets accesses fault while memory space is
    // off: it is on from `enable` on, and off during a reset, when the thread that owns the bus is in that call.
    unsafe { BarMap::from_raw(base, bytes, Arc::new(mapped)) }
}

/// Memory that the card may read and write.
pub struct Lent {
    dma: DmaMap,
}

impl Lent {
    /// Memory of `bytes` bytes, a multiple of the pages' size, in the card's address space.
    ///
    /// # Errors
    /// If there is none, if no range of the IOMMU holds it, or if the kernel does not map it.
    pub fn new(device: &VfioPciDevice, bytes: usize, pages: Pages) -> io::Result<Self> {
        let page = if pages == Pages::Huge { HUGE_BYTES } else { DMA_ALIGN };
        let (_file, mapping) = shared_memory(bytes, pages)?;
        Self::of(device, mapping, page, &[])
    }

    /// The first `bytes` bytes of somebody's memory file. `taken`: where the card has other memory.
    ///
    /// # Errors
    /// As [`Lent::new`], and if the file is not as [`others_memory`] has it.
    pub fn of_others(
        device: &VfioPciDevice,
        file: BorrowedFd<'_>,
        bytes: usize,
        taken: &[Range<u64>],
    ) -> io::Result<Self> {
        Self::of(device, others_memory(file, bytes)?, DMA_ALIGN, taken)
    }

    fn of(device: &VfioPciDevice, mapping: MmapRaw, page: usize, taken: &[Range<u64>]) -> io::Result<Self> {
        let (iommu, bytes) = (device.iommu(), mapping.len());
        let ranges = without(iommu.valid_iova_ranges(), taken);
        let iova = place(&ranges, bytes as u64, iommu.alignment().max(page) as u64).ok_or_else(|| {
            let what = format!("no range of the IOMMU's addresses holds {bytes} bytes: found {ranges:x?}");
            io::Error::new(io::ErrorKind::InvalidInput, what)
        })?;
        let base = mapping.as_mut_ptr().cast_const();
        let dma = DmaMap::from_mapping(mapping, iova)?;
        // SAFETY: the mapping is `bytes` bytes at `base`. The card may write to them from now on, which `DmaMap` allows for: they are accessed as
        // atomics alone here, and who else has the file mapped knows of the card ([`Bus::map`](crate::Bus::map)). The kernel has pinned the pages, and lets go of them when they are taken back or the device is closed, so what the card
        // writes hits no memory of anybody else's, even after `dma` was dropped.
        unsafe { iommu.map(iova, bytes, base, Permissions::ReadWrite)? };
        Ok(Self { dma })
    }

    /// The memory.
    pub fn dma(&self) -> &DmaMap {
        &self.dma
    }

    /// Where the card has it.
    pub fn range(&self) -> Range<u64> {
        self.dma.iova()..self.dma.iova() + self.dma.bytes() as u64
    }

    /// Takes it out of the card's address space.
    pub fn take_back(&self, device: &VfioPciDevice) -> io::Result<()> {
        device.iommu().unmap(self.dma.iova(), self.dma.bytes())
    }
}
