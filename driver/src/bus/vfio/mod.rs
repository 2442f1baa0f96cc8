//! Bus to a card in this machine through VFIO, behind the IOMMU.
//!
//! BAR 0 is mapped. DMA memory is a memory file that the kernel pins and the IOMMU maps for the
//! card. All MSI-X vectors signal one eventfd.
//!
//! Opening: reset, memory space and bus mastering on, PCI numbers, BAR, memory, interrupts.
//! Closing: interrupts and bus mastering off, reset, memory unmapped. The kernel resets the card of
//! a killed process.
//!
//! A card that has left reads as ones. Polling reads no register, so a wait reads one every 10 ms.
//! Closing a card that does not answer blocks for up to a minute, because the kernel resets it.
//! Such a card is not opened, and a card that stops answering is closed on a separate thread.
//!
//! Source: Linux `vfio.rst`; PCIe 6.2, 7.5.1 (command register), 6.6.2 (function-level reset).
//! `pci-driver` makes the system calls. It enables neither memory space nor bus mastering, and
//! allocates no IOVAs.
//!
//! Limits: VFIO groups with an IOMMU; one driver at a time.

mod explain;
mod iova;
mod mapped;

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use optireduce_contract::limits::QUEUES;
use optireduce_contract::registers::{MAGIC, PEER_BYTES, Register};
use pci_driver::backends::vfio::VfioPciDevice;
use pci_driver::device::PciDevice;
use pci_driver::regions::PciRegion;

use self::explain::{Doing, refused, unmet};
use self::mapped::{Lent, map_bar};
use super::Bus;
use super::bell::{Bell, DOZE};
use super::memory::Pages;
use crate::bar::BarMap;
use crate::dma::{DMA_ALIGN, DmaMap};
use crate::error::DriverError;
use crate::machine::{HUGE_BYTES, Machine, full_address};
use crate::pci::{BUS_MASTER, COMMAND, MEMORY_SPACE, PciId};

const ASK: Duration = Duration::from_millis(10);

/// Bus to a card through VFIO.
pub struct VfioBus {
    name: String,
    /// Dropped before `device`, to which it holds a reference.
    bar: BarMap,
    device: Arc<VfioPciDevice>,
    lent: Lent,
    mapped: RefCell<Vec<Lent>>,
    interrupts: Bell,
    id: PciId,
    asked: Cell<Instant>,
    gone: Cell<bool>,
}

impl VfioBus {
    /// Opens and resets the card at this PCI address, with or without a domain. Maps `dma_bytes`
    /// bytes of memory for it, rounded up to pages; from 2 MiB on huge pages, if available.
    ///
    /// # Errors
    /// [`DriverError::Bus`] with the cause and the remedy; [`DriverError::Map`].
    pub fn open(address: &str, dma_bytes: usize) -> Result<Self, DriverError> {
        let machine = Machine::this();
        let name = full_address(address).unwrap_or_else(|| address.to_owned());
        if let Some(missing) = machine.preconditions(&name, dma_bytes).into_iter().find(|one| one.mend.is_some()) {
            return Err(unmet(&name, missing));
        }
        let at = &name;
        let failed = |doing| move |error| refused(at, doing, dma_bytes, &error);
        let device = VfioPciDevice::open(machine.device(&name)).map_err(failed(Doing::Open))?;
        device.reset().map_err(failed(Doing::Reset))?;
        enable(&device).map_err(failed(Doing::Enable))?;
        let id = identify(&device).map_err(failed(Doing::Identify))?;
        let bar = map_bar(&device).map_err(failed(Doing::MapBar))?;
        let lent = lend(&device, &name, dma_bytes)?;
        let interrupts = Bell::new().and_then(|bell| ring(&device, &bell).map(|()| bell));
        let interrupts = interrupts.map_err(failed(Doing::Interrupts))?;
        tracing::info!(device = name, ?id, iova = lent.dma().iova(), "card opened");
        let (asked, gone) = (Cell::new(Instant::now()), Cell::new(false));
        let (device, mapped) = (Arc::new(device), RefCell::default());
        Ok(Self { name, bar, device, lent, mapped, interrupts, id, asked, gone })
    }

    /// Vendor, device and class.
    pub fn id(&self) -> PciId {
        self.id
    }

    /// Resets the card by a function-level reset or, without one, by a reset of its bus if the card
    /// is alone there. Memory space, bus mastering and interrupts are on afterwards.
    ///
    /// # Errors
    /// [`DriverError::Bus`] if the kernel cannot reset the card; [`DriverError::DeviceGone`].
    pub fn reset(&self) -> Result<(), DriverError> {
        if self.is_missing() {
            return Err(DriverError::DeviceGone { device: self.name.clone() });
        }
        let reset = || {
            self.device.interrupts().msi_x().disable()?;
            self.device.reset()?;
            enable(&self.device)?;
            ring(&self.device, &self.interrupts)
        };
        reset().map_err(|error| refused(&self.name, Doing::Reset, self.lent.dma().bytes(), &error))
    }

    /// File descriptor that is readable from an interrupt until [`VfioBus::hear`].
    pub fn interrupts(&self) -> BorrowedFd<'_> {
        self.interrupts.as_fd()
    }

    /// Consumes all interrupts; returns whether any arrived. Poll the rings afterwards, and once
    /// more later, because an interrupt may overtake its completion.
    pub fn hear(&self) -> bool {
        self.interrupts.hear()
    }

    /// Unmaps all memory from the card, even after a failure.
    fn take_all_back(&self) -> io::Result<()> {
        let mapped = self.mapped.borrow();
        let all: Vec<_> = mapped.iter().chain([&self.lent]).map(|lent| lent.take_back(&self.device)).collect();
        all.into_iter().collect()
    }

    /// Reads twice, since a register may read as ones during a reset by another process.
    fn is_missing(&self) -> bool {
        self.asked.set(Instant::now());
        let missing = (0..2).all(|_| self.bar.read(&MAGIC) == u32::MAX);
        if missing && !self.gone.replace(true) {
            tracing::error!(device = self.name, "the card reads as ones: it has left the bus");
        }
        self.gone.get()
    }
}

impl Bus for VfioBus {
    fn name(&self) -> &str {
        &self.name
    }

    fn dma(&self) -> &DmaMap {
        self.lent.dma()
    }

    fn map(&self, file: BorrowedFd<'_>, bytes: usize) -> Result<Option<u64>, DriverError> {
        let mut mapped = self.mapped.borrow_mut();
        let taken: Vec<_> = mapped.iter().chain([&self.lent]).map(Lent::range).collect();
        let lent = Lent::of_others(&self.device, file, bytes, &taken).map_err(map_failed(&self.name, bytes))?;
        let iova = lent.dma().iova();
        mapped.push(lent);
        Ok(Some(iova))
    }

    fn unmap(&self, iova: u64) -> Result<(), DriverError> {
        let mut mapped = self.mapped.borrow_mut();
        let Some(index) = mapped.iter().position(|lent| lent.dma().iova() == iova) else { return Ok(()) };
        let lent = mapped.swap_remove(index);
        lent.take_back(&self.device).map_err(map_failed(&self.name, lent.dma().bytes()))
    }

    /// Reads a register: a read does not overtake the writes before it (PCIe 6.2, 2.4.1).
    fn flush(&self) -> Result<(), DriverError> {
        self.bar.read(&MAGIC);
        Ok(())
    }

    fn relax(&self) {
        self.wait_interrupt(DOZE);
    }

    fn has_interrupts(&self) -> bool {
        true
    }

    fn wait_interrupt(&self, timeout: Duration) -> Option<bool> {
        Some(self.interrupts.wait(timeout, None))
    }

    fn interrupt_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.interrupts())
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

    fn is_gone(&self) -> bool {
        self.gone.get() || (self.asked.get().elapsed() >= ASK && self.is_missing())
    }
}

/// Keeps the card from accessing memory after it is unmapped. If a step fails, the kernel does so
/// when the device is closed.
impl Drop for VfioBus {
    fn drop(&mut self) {
        if self.is_missing() {
            if let Err(error) = self.take_all_back() {
                tracing::warn!(device = self.name, %error, "cannot unmap its memory");
            }
            return close_later(self.device.clone());
        }
        let steps = [
            ("switch off interrupts", self.device.interrupts().msi_x().disable()),
            ("switch off bus mastering", disable(&self.device)),
            ("reset the card", self.device.reset()),
            ("unmap its memory", self.take_all_back()),
        ];
        for (what, error) in steps.into_iter().filter_map(|(what, done)| Some((what, done.err()?))) {
            tracing::warn!(device = self.name, %error, "cannot {what}");
        }
    }
}

/// Closes a departed card on a separate thread, since this blocks for up to a minute.
fn close_later(device: Arc<VfioPciDevice>) {
    let close = move || {
        while Arc::strong_count(&device) > 1 {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    // Without a new thread, this thread closes the card.
    drop(std::thread::Builder::new().name("optireduce-close".into()).spawn(close));
}

fn enable(device: &VfioPciDevice) -> io::Result<()> {
    let config = device.config();
    config.write_le_u16(COMMAND, config.read_le_u16(COMMAND)? | MEMORY_SPACE | BUS_MASTER)
}

fn disable(device: &VfioPciDevice) -> io::Result<()> {
    let config = device.config();
    config.write_le_u16(COMMAND, config.read_le_u16(COMMAND)? & !BUS_MASTER)
}

fn ring(device: &VfioPciDevice, bell: &Bell) -> io::Result<()> {
    let interrupts = device.interrupts();
    let (vectors, expected) = (interrupts.msi_x().max(), QUEUES);
    if vectors < expected {
        let what = format!("{vectors} MSI-X vectors, expected one for each of {expected} queue pairs");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    interrupts.msi_x().enable(&[bell.as_fd().as_raw_fd(); QUEUES])
}

fn identify(device: &VfioPciDevice) -> io::Result<PciId> {
    let config = device.config();
    let (vendor, device) = (config.read_le_u16(0)?, config.read_le_u16(2)?);
    Ok(PciId { vendor, device, class: config.read_le_u32(8)? >> 8 })
}

/// Maps memory for the card, in huge pages if it fills one and they are available.
fn lend(device: &VfioPciDevice, name: &str, dma_bytes: usize) -> Result<Lent, DriverError> {
    let unit = |bytes: usize| dma_bytes.max(1).checked_next_multiple_of(bytes).unwrap_or(dma_bytes);
    if dma_bytes >= HUGE_BYTES {
        match Lent::new(device, unit(HUGE_BYTES), Pages::Huge) {
            Ok(lent) => return Ok(lent),
            Err(error) => {
                let mends = Machine::this().huge_page_mends(dma_bytes.div_ceil(HUGE_BYTES));
                tracing::warn!(device = name, %error, "{}", explain::no_huge_pages(dma_bytes, &mends));
            }
        }
    }
    let bytes = unit(DMA_ALIGN);
    Lent::new(device, bytes, Pages::Small).map_err(map_failed(name, bytes))
}

fn map_failed(name: &str, bytes: usize) -> impl Fn(io::Error) -> DriverError {
    move |error| match explain::is_os_error(&error) {
        true => refused(name, Doing::Lend, bytes, &error),
        false => DriverError::Map { device: name.into(), what: "DMA memory", bytes, source: error },
    }
}
