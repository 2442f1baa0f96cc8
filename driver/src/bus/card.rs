//! The way to a card that is named by its address, whichever it has: a PCI address, or the path of a vfio-user socket.

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

/// A card in a slot of this machine, or one that another process serves.
pub enum CardBus {
    /// By VFIO.
    Pci(VfioBus),
    /// By a socket.
    Socket(VfioUserBus),
}

/// Does the same on either bus.
macro_rules! either {
    ($card:expr, $bus:ident => $act:expr) => {
        match $card {
            CardBus::Pci($bus) => $act,
            CardBus::Socket($bus) => $act,
        }
    };
}

impl CardBus {
    /// Takes the card at `address`, resets it, and gives it `dma_bytes` bytes of memory. It has no place on the network afterwards but one that
    /// its server gives it. `address`: of a PCI device, such as "0000:5e:00.0" or
    /// "5e:00.0"; or the path of a vfio-user socket, with or without "vfio-user:" before it. A path that looks like the former: "./5e:00.0".
    ///
    /// # Errors
    /// Those of [`VfioBus::open`] and [`VfioUserBus::open`].
    pub fn open(address: &str, dma_bytes: usize) -> Result<Self, DriverError> {
        let path = address.strip_prefix("vfio-user:").unwrap_or(address);
        let bus = match is_address(address) {
            true => Self::Pci(VfioBus::open(address, dma_bytes)?),
            false => Self::Socket(VfioUserBus::open(path.as_ref(), dma_bytes)?),
        };
        // Whoever serves it gives it its own address again with a reset.
        if forget_address(&bus) {
            bus.reset()?;
        }
        Ok(bus)
    }

    /// Vendor, device and class.
    pub fn id(&self) -> PciId {
        either!(self, bus => bus.id())
    }

    /// Resets the card by its function-level reset, or that of its bus: it is then disabled, its counters, windows and indices are as after power-on, and
    /// memory space, bus mastering and interrupts are switched on again.
    ///
    /// # Errors
    /// [`DriverError::DeviceGone`], or that the kernel could not.
    pub fn reset(&self) -> Result<(), DriverError> {
        either!(self, bus => bus.reset())
    }

    /// What becomes readable when the card has something to say, until [`CardBus::hear`].
    pub fn interrupts(&self) -> BorrowedFd<'_> {
        either!(self, bus => bus.interrupts())
    }

    /// Takes note of all interrupts so far: whether there were any. What they speak of is to be looked at after this, and once more later: on
    /// a PCI bus an interrupt may overtake it.
    pub fn hear(&self) -> bool {
        either!(self, bus => bus.hear())
    }

    /// What becomes readable when the card goes away. `None`: nothing tells; ask [`Bus::is_gone`] from time to time.
    ///
    /// # Errors
    /// If there are no more file descriptors.
    pub fn departure(&self) -> io::Result<Option<OwnedFd>> {
        match self {
            Self::Pci(_) => Ok(None),
            Self::Socket(bus) => bus.connection().map(Some),
        }
    }

    /// Whether a register can be read within this time, now: see [`VfioUserBus::answers`]. On a PCI bus the hardware answers, or nobody.
    pub fn answers(&self, within: Duration) -> bool {
        match self {
            Self::Pci(_) => true,
            Self::Socket(bus) => bus.answers(within),
        }
    }

    /// Waits no more for a card that does not [answer](CardBus::answers): it is gone.
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

/// Takes the IP address away that a driver before has given a card of ours, since a reset does not; whether there was one.
fn forget_address(bus: &impl Bus) -> bool {
    let has_one = bus.read(&regs::MAGIC) == MAGIC && bus.read(&regs::LOCAL_IP) != 0;
    if has_one {
        bus.write(&regs::LOCAL_IP, 0);
    }
    has_one
}
