//! A served card as a backend of the vfio-user library: regions, memory, interrupts, reset.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use optireduce_contract::limits::QUEUES;
use optireduce_contract::pci::{BAR0_BYTES, MSIX_TABLE, MSIX_VECTOR_BYTES};
use vfio_bindings::bindings::vfio::{
    VFIO_IRQ_INFO_EVENTFD, VFIO_IRQ_SET_ACTION_TRIGGER, VFIO_IRQ_SET_DATA_EVENTFD, VFIO_PCI_BAR0_REGION_INDEX,
    VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_MSIX_IRQ_INDEX, VFIO_PCI_NUM_IRQS, VFIO_PCI_NUM_REGIONS,
    VFIO_REGION_INFO_FLAG_READ, VFIO_REGION_INFO_FLAG_WRITE, vfio_region_info,
};
use vfio_user::{DmaMapFlags, DmaUnmapFlags, IrqInfo, ServerBackend, ServerRegion};

use super::config_space::{CONFIG_BYTES, ConfigSpace};
use super::running::Running;

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

    /// BAR 0 and the configuration space.
    pub fn regions() -> Vec<ServerRegion> {
        let region = |index| {
            let size = match index {
                VFIO_PCI_BAR0_REGION_INDEX => BAR0_BYTES as u64,
                VFIO_PCI_CONFIG_REGION_INDEX => CONFIG_BYTES as u64,
                _ => 0,
            };
            let flags = if size > 0 { VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE } else { 0 };
            let argsz = size_of::<vfio_region_info>() as u32;
            let region_info = vfio_region_info { argsz, index, flags, size, ..vfio_region_info::default() };
            ServerRegion { region_info, sparse_areas: Vec::new(), mmap_fd: None }
        };
        (0..VFIO_PCI_NUM_REGIONS).map(region).collect()
    }

    /// Only MSI-X.
    pub fn interrupts() -> Vec<IrqInfo> {
        let kind = |index| {
            let count = if index == VFIO_PCI_MSIX_IRQ_INDEX { QUEUES as u32 } else { 0 };
            IrqInfo { index, flags: if count > 0 { VFIO_IRQ_INFO_EVENTFD } else { 0 }, count }
        };
        (0..VFIO_PCI_NUM_IRQS).map(kind).collect()
    }

    /// Function-level reset. Mappings stay, since they belong to the host.
    fn reset_function(&mut self) {
        tracing::debug!("function-level reset");
        self.card.reset();
        self.config = ConfigSpace::new();
        self.msix_table = [0; MSIX_TABLE_BYTES];
    }

    fn table(&mut self, offset: u64, bytes: usize) -> Option<&mut [u8]> {
        let at = usize::try_from(offset.checked_sub(MSIX_TABLE as u64)?).ok()?;
        self.msix_table.get_mut(at..at.checked_add(bytes)?)
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

impl ServerBackend for Device {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        if self.card.has_left() {
            data.fill(0xff);
            return Ok(());
        }
        match region {
            VFIO_PCI_CONFIG_REGION_INDEX if data.len() <= CONFIG_BYTES => self.config.read(offset, data),
            VFIO_PCI_BAR0_REGION_INDEX => {
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

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        if self.card.has_left() {
            return Ok(());
        }
        match region {
            VFIO_PCI_CONFIG_REGION_INDEX => {
                if self.config.write(offset, data) {
                    self.reset_function();
                }
                self.card.windows.set_bus_master(self.config.is_bus_master());
            }
            VFIO_PCI_BAR0_REGION_INDEX => {
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

    fn dma_map(
        &mut self,
        flags: DmaMapFlags,
        offset: u64,
        address: u64,
        size: u64,
        fd: Option<File>,
    ) -> io::Result<()> {
        tracing::debug!(?flags, offset, address, size, with_file = fd.is_some(), "memory is mapped");
        // Memory without a file needs DMA messages, which the library lacks. Accesses to it fail.
        let Some(file) = fd else { return Ok(()) };
        let allowed = [DmaMapFlags::READ, DmaMapFlags::WRITE].map(|access| flags.contains(access));
        let mapped = self.card.windows.map(address, size, &file, offset, allowed);
        mapped.inspect_err(|error| tracing::error!(address, size, %error, "memory is not mapped for the card"))
    }

    fn dma_unmap(&mut self, flags: DmaUnmapFlags, address: u64, size: u64) -> io::Result<()> {
        tracing::debug!(?flags, address, size, "memory is unmapped");
        if flags.contains(DmaUnmapFlags::UNMAP_ALL) {
            self.card.windows.clear();
        } else {
            self.card.windows.unmap(address, size);
        }
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.reset_function();
        Ok(())
    }

    fn set_irqs(&mut self, index: u32, flags: u32, start: u32, count: u32, fds: Vec<File>) -> io::Result<()> {
        let is_ours = index == VFIO_PCI_MSIX_IRQ_INDEX && flags & VFIO_IRQ_SET_ACTION_TRIGGER != 0;
        let last = start.checked_add(count).filter(|end| *end as usize <= QUEUES);
        if !is_ours || last.is_none() {
            // Hosts that reset a device also disable kinds of interrupts that it lacks.
            return Ok(());
        }
        let mut files = fds.into_iter();
        // A count of zero disables all vectors.
        let vectors = if count == 0 { 0..QUEUES } else { start as usize..(start + count) as usize };
        for vector in vectors {
            let event = files.next().filter(|_| flags & VFIO_IRQ_SET_DATA_EVENTFD != 0);
            self.card.set_interrupt(vector, event);
        }
        Ok(())
    }
}
