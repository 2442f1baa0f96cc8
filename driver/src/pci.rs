//! What PCI says of a card, whatever the way to it. Source: PCIe 6.2, 7.5.1.

/// Offset of the command register in configuration space.
pub(crate) const COMMAND: u64 = 4;
/// Of the command register: BAR 0 answers.
pub(crate) const MEMORY_SPACE: u16 = 1 << 1;
/// Of the command register: DMA and interrupts leave the card.
pub(crate) const BUS_MASTER: u16 = 1 << 2;

/// What a card's configuration space says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PciId {
    /// Vendor.
    pub vendor: u16,
    /// Device.
    pub device: u16,
    /// Base class, subclass and interface.
    pub class: u32,
}
