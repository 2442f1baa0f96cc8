//! A served card as a PCIe device: regions, memory, interrupts, reset.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use optireduce_contract::limits::QUEUES;
use optireduce_contract::pci::{BAR0_BYTES, MSIX_TABLE, MSIX_VECTOR_BYTES};

use super::config_space::{CONFIG_BYTES, ConfigSpace};
use super::running::Running;

// From VFIO, `linux/vfio.h`.
pub(super) const BAR0: u32 = 0;
pub(super) const CONFIG: u32 = 7;
pub(super) const MSIX: u32 = 2;
pub(super) const IRQ_ACTION_TRIGGER: u32 = 1 << 5;
pub(super) const IRQ_DATA_EVENTFD: u32 = 1 << 2;

const MSIX_TABLE_BYTES: usize = MSIX_VECTOR_BYTES * QUEUES;

pub(super) struct Device {
    card: Arc<Running>,
    config: ConfigSpace,
    /// Only stored. Clients set up interrupts with eventfds.
    msix_table: [u8; MSIX_TABLE_BYTES],
}

impl Device {
    /// Resets the card.
    pub fn new(card: Arc<Running>) -> Self {
        card.windows.clear();
        card.reset();
        Self { card, config: ConfigSpace::new(), msix_table: [0; MSIX_TABLE_BYTES] }
    }

    /// Function-level reset. Mappings stay, since they belong to the host.
    pub fn reset_function(&mut self) {
        tracing::debug!("function-level reset");
        self.card.reset();
        self.config = ConfigSpace::new();
        self.msix_table = [0; MSIX_TABLE_BYTES];
    }

    fn table(&mut self, offset: u64, bytes: usize) -> Option<&mut [u8]> {
        let at = usize::try_from(offset.checked_sub(MSIX_TABLE as u64)?).ok()?;
        self.msix_table.get_mut(at..at.checked_add(bytes)?)
    }

    /// # Errors
    /// If the region does not exist, or the access is not to whole words within it.
    pub fn read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        if self.card.has_left() {
            data.fill(0xff);
            return Ok(());
        }
        match region {
            CONFIG if data.len() <= CONFIG_BYTES => self.config.read(offset, data),
            BAR0 => {
                check_words(region, offset, data.len())?;
                if let Some(table) = self.table(offset, data.len()) {
                    data.copy_from_slice(table);
                    return Ok(());
                }
                for (at, word) in (offset..).step_by(4).zip(data.chunks_exact_mut(4)) {
                    word.copy_from_slice(&self.card.read_register(at).to_le_bytes());
                }
            }
            _ => return Err(no_such_region(region)),
        }
        Ok(())
    }

    /// # Errors
    /// As [`read`](Self::read).
    pub fn write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        if self.card.has_left() {
            return Ok(());
        }
        match region {
            CONFIG => {
                if self.config.write(offset, data) {
                    self.reset_function();
                }
                self.card.windows.set_bus_master(self.config.is_bus_master());
            }
            BAR0 => {
                check_words(region, offset, data.len())?;
                if let Some(table) = self.table(offset, data.len()) {
                    table.copy_from_slice(data);
                    return Ok(());
                }
                for (at, word) in (offset..).step_by(4).zip(data.as_chunks().0) {
                    self.card.write_register(at, u32::from_le_bytes(*word));
                }
            }
            _ => return Err(no_such_region(region)),
        }
        Ok(())
    }

    /// `allowed`: reads and writes of the card.
    ///
    /// # Errors
    /// See [`Windows::map`](super::windows::Windows::map).
    pub fn map(
        &mut self,
        allowed: [bool; 2],
        offset: u64,
        address: u64,
        size: u64,
        file: Option<File>,
    ) -> io::Result<()> {
        tracing::debug!(?allowed, offset, address, size, with_file = file.is_some(), "memory is mapped");
        // Memory without a file needs DMA messages, which are not supported. Accesses to it fail.
        let Some(file) = file else { return Ok(()) };
        let mapped = self.card.windows.map(address, size, &file, offset, allowed);
        mapped.inspect_err(|error| tracing::error!(address, size, %error, "memory is not mapped for the card"))
    }

    pub fn unmap(&mut self, all: bool, address: u64, size: u64) {
        tracing::debug!(all, address, size, "memory is unmapped");
        if all {
            self.card.windows.clear();
        } else {
            self.card.windows.unmap(address, size);
        }
    }

    pub fn set_interrupts(&mut self, index: u32, flags: u32, start: u32, count: u32, files: Vec<File>) {
        let is_ours = index == MSIX && flags & IRQ_ACTION_TRIGGER != 0;
        let last = start.checked_add(count).filter(|end| *end as usize <= QUEUES);
        if !is_ours || last.is_none() {
            // Hosts that reset a device also disable kinds of interrupts that it lacks.
            return;
        }
        let mut files = files.into_iter();
        // A count of zero disables all vectors.
        let vectors = if count == 0 { 0..QUEUES } else { start as usize..(start + count) as usize };
        for vector in vectors {
            let event = files.next().filter(|_| flags & IRQ_DATA_EVENTFD != 0);
            self.card.set_interrupt(vector, event);
        }
    }
}

fn check_words(region: u32, offset: u64, bytes: usize) -> io::Result<()> {
    let is_within = offset.checked_add(bytes as u64).is_some_and(|end| end <= BAR0_BYTES as u64);
    if offset.is_multiple_of(4) && bytes.is_multiple_of(4) && is_within {
        return Ok(());
    }
    let problem = format!(
        "region {region}: an access to {bytes} bytes at {offset:#x}, expected whole words of 4 bytes within {BAR0_BYTES:#x}"
    );
    tracing::warn!(problem);
    Err(io::Error::new(ErrorKind::InvalidInput, problem))
}

fn no_such_region(region: u32) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, format!("region {region} does not exist"))
}
