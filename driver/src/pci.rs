//! PCI identity and command register of a card. Source: PCIe 6.2, 7.5.1.

/// Offset of the command register in configuration space.
pub(crate) const COMMAND: u64 = 4;
/// Bit of the command register: BAR 0 responds.
pub(crate) const MEMORY_SPACE: u16 = 1 << 1;
/// Bit of the command register: the card may issue DMA and interrupts.
pub(crate) const BUS_MASTER: u16 = 1 << 2;

/// Vendor, device, and class (base class, subclass and interface) in configuration space.
#[allow(missing_docs)] // described above
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PciId {
    pub vendor: u16,
    pub device: u16,
    pub class: u32,
}
