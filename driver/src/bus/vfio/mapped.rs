//! Mappings of a card through VFIO: its BAR in this process, and memory in its address space.
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

/// Maps only the registers of BAR 0, since the page of the MSI-X table need not be mappable.
pub fn map_bar(device: &VfioPciDevice) -> io::Result<BarMap> {
    let bar = device.bar(0).ok_or_else(|| io::Error::other("there is no BAR 0"))?;
    let (found, expected) = (bar.len(), BAR_BYTES.next_multiple_of(DMA_ALIGN) as u64);
    if found < expected || !bar.is_mappable() {
        let mappable = if bar.is_mappable() { "can" } else { "cannot" };
        let what = format!(
            "BAR 0 has {found} bytes and {mappable} be mapped, expected at least {expected} that can be mapped"
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let mapped = bar.map(..expected, Permissions::ReadWrite)?;
    let base = NonNull::new(mapped.as_mut_ptr()).ok_or(io::ErrorKind::InvalidData)?;
    let bytes = mapped.len();
    // SAFETY: `mapped` has mapped `bytes` bytes at `base` for reading and writing, and its address
    // is used nowhere else. As the owner passed along it keeps them mapped, and the device open,
    // until the last clone is dropped. The kernel lets accesses fault while memory space is off. It
    // is on after `enable`, except during a reset, which runs on the thread that owns the bus.
    unsafe { BarMap::from_raw(base, bytes, Arc::new(mapped)) }
}

pub struct Lent {
    dma: DmaMap,
}

impl Lent {
    /// Allocates `bytes` bytes, a multiple of the page size, and maps them for the card.
    pub fn new(device: &VfioPciDevice, bytes: usize, pages: Pages) -> io::Result<Self> {
        let page = if pages == Pages::Huge { HUGE_BYTES } else { DMA_ALIGN };
        let (_file, mapping) = shared_memory(bytes, pages)?;
        Self::of(device, mapping, page, &[])
    }

    /// Maps a caller-owned memory file for the card, outside the IOVAs `taken`.
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
        // SAFETY: the mapping is `bytes` bytes at `base`. The card may write to them afterwards,
        // which `DmaMap` allows for: they are accessed only as atomics here, and other users of the
        // file expect it ([`Bus::map`](crate::Bus::map)). The kernel keeps the pages pinned until
        // they are unmapped or the device is closed, so the card never writes to reused memory,
        // even after `dma` was dropped.
        unsafe { iommu.map(iova, bytes, base, Permissions::ReadWrite)? };
        Ok(Self { dma })
    }

    pub fn dma(&self) -> &DmaMap {
        &self.dma
    }

    pub fn range(&self) -> Range<u64> {
        self.dma.iova()..self.dma.iova() + self.dma.bytes() as u64
    }

    pub fn take_back(&self, device: &VfioPciDevice) -> io::Result<()> {
        device.iommu().unmap(self.dma.iova(), self.dma.bytes())
    }
}
