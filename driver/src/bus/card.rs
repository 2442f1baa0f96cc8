//! Bus to a card by its address: a PCI address, or the path of a vfio-user socket.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use optireduce_contract::limits::MAGIC;
use optireduce_contract::pci::is_address;
use optireduce_contract::registers::{self as regs, PEER_BYTES, Register};

use super::Bus;
use super::vfio::VfioBus;
use super::vfio_user::VfioUserBus;
use crate::dma::DmaMap;
use crate::error::DriverError;
use crate::pci::PciId;

/// Bus to a card through VFIO or through a vfio-user socket.
#[allow(missing_docs)] // described above
pub enum CardBus {
    Pci(VfioBus),
    Socket(VfioUserBus),
}

macro_rules! either {
    ($card:expr, $bus:ident => $act:expr) => {
        match $card {
            CardBus::Pci($bus) => $act,
            CardBus::Socket($bus) => $act,
        }
    };
}

impl CardBus {
    /// Opens and resets the card at `address`, and maps `dma_bytes` bytes of memory for it.
    ///
    /// `address` is a PCI address, such as "0000:5e:00.0" or "5e:00.0", or the path of a vfio-user
    /// socket, optionally after "vfio-user:".
    ///
    /// # Errors
    /// As [`VfioBus::open`] and [`VfioUserBus::open`].
    pub fn open(address: &str, dma_bytes: usize) -> Result<Self, DriverError> {
        let path = address.strip_prefix("vfio-user:").unwrap_or(address);
        let bus = match is_address(address) {
            true => Self::Pci(VfioBus::open(address, dma_bytes)?),
            false => Self::Socket(VfioUserBus::open(path.as_ref(), dma_bytes)?),
        };
        // A server assigns the card's own address again at a reset.
        if forget_address(&bus) {
            bus.reset()?;
        }
        Ok(bus)
    }

    /// Vendor, device and class.
    pub fn id(&self) -> PciId {
        either!(self, bus => bus.id())
    }

    /// Resets the card to its state after power-on. Memory space, bus mastering and interrupts are
    /// on afterwards.
    ///
    /// As [`VfioBus::reset`].
    pub fn reset(&self) -> Result<(), DriverError> {
        either!(self, bus => bus.reset())
    }

    /// File descriptor that is readable from an interrupt until [`CardBus::hear`].
    pub fn interrupts(&self) -> BorrowedFd<'_> {
        either!(self, bus => bus.interrupts())
    }

    /// See [`VfioBus::hear`].
    pub fn hear(&self) -> bool {
        either!(self, bus => bus.hear())
    }

    /// File descriptor that becomes readable when the card goes away; `None` on a PCI bus.
    ///
    /// # Errors
    /// If no file descriptor is available.
    pub fn departure(&self) -> io::Result<Option<OwnedFd>> {
        match self {
            Self::Pci(_) => Ok(None),
            Self::Socket(bus) => bus.connection().map(Some),
        }
    }

    /// See [`VfioUserBus::answers`]. Always true on a PCI bus.
    pub fn answers(&self, within: Duration) -> bool {
        match self {
            Self::Pci(_) => true,
            Self::Socket(bus) => bus.answers(within),
        }
    }

    /// See [`VfioUserBus::abandon`]. No effect on a PCI bus.
    pub fn abandon(&self) {
        if let Self::Socket(bus) = self {
            bus.abandon();
        }
    }
}

impl Bus for CardBus {
    fn name(&self) -> &str {
        either!(self, bus => bus.name())
    }

    fn dma(&self) -> &DmaMap {
        either!(self, bus => bus.dma())
    }

    fn map(&self, file: BorrowedFd<'_>, bytes: usize) -> Result<Option<u64>, DriverError> {
        either!(self, bus => bus.map(file, bytes))
    }

    fn unmap(&self, iova: u64) -> Result<(), DriverError> {
        either!(self, bus => bus.unmap(iova))
    }

    fn flush(&self) -> Result<(), DriverError> {
        either!(self, bus => bus.flush())
    }

    fn relax(&self) {
        either!(self, bus => bus.relax());
    }

    fn interrupt_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.interrupts())
    }

    fn read(&self, register: &Register) -> u32 {
        either!(self, bus => bus.read(register))
    }

    fn write(&self, register: &Register, value: u32) {
        either!(self, bus => bus.write(register, value));
    }

    fn write_peer(&self, rank: usize, words: [u32; PEER_BYTES / 4]) {
        either!(self, bus => bus.write_peer(rank, words));
    }

    fn is_gone(&self) -> bool {
        either!(self, bus => bus.is_gone())
    }

    fn has_interrupts(&self) -> bool {
        true
    }

    fn wait_interrupt(&self, timeout: Duration) -> Option<bool> {
        either!(self, bus => bus.wait_interrupt(timeout))
    }
}

/// Clears an IP address left by an earlier driver, since a reset does not; returns whether there
/// was one.
fn forget_address(bus: &impl Bus) -> bool {
    let has_one = bus.read(&regs::MAGIC) == MAGIC && bus.read(&regs::LOCAL_IP) != 0;
    if has_one {
        bus.write(&regs::LOCAL_IP, 0);
    }
    has_one
}
