//! Configuration space of a served card: an endpoint with one 64-bit BAR of 64 KiB and MSI-X, as
//! Alveo shells configure Xilinx's bridge, plus function-level reset.
//!
//! Not modelled: power management, extended capabilities. Writable bits without effect are stored.

use optireduce_contract::limits::QUEUES;
use optireduce_contract::pci::{BAR, BAR0_BYTES, CLASS, DEVICE_ID, MSIX_PENDING, MSIX_TABLE, VENDOR_ID};

pub(super) const CONFIG_BYTES: usize = 4096;

const VENDOR_DEVICE: u32 = (DEVICE_ID as u32) << 16 | VENDOR_ID as u32;

const COMMAND: usize = 0x04;
const COMMAND_BUS_MASTER: u8 = 1 << 2;
const BAR0: usize = 0x10;
const MSIX: usize = 0x40;
const PCIE: usize = 0x60;
const DEVICE_CONTROL: usize = PCIE + 8;
/// Bit of the high byte of the device control register.
const INITIATE_FLR: u8 = 1 << 7;

pub(super) struct ConfigSpace {
    bytes: Vec<u8>,
    /// Mask of the host's writable bits.
    writable: Vec<u8>,
}

impl ConfigSpace {
    pub fn new() -> Self {
        let mut space = Self { bytes: vec![0; CONFIG_BYTES], writable: vec![0; CONFIG_BYTES] };
        let capability = |id: u32, next: usize| id | (next as u32) << 8;
        for (at, value, writable) in [
            (0x00, VENDOR_DEVICE, 0),
            // Status: capability list. Command: memory space, bus master, interrupt disable.
            (COMMAND, 1 << 20, 0x0406),
            (0x08, CLASS << 8, 0),
            (0x0c, 0, 0xff),
            // Memory, 64 bits.
            (BAR0, 0b100, !(BAR0_BYTES as u32 - 1)),
            (BAR0 + 4, 0, u32::MAX),
            (0x2c, VENDOR_DEVICE, 0),
            (0x34, MSIX as u32, 0),
            (0x3c, 0, 0xff),
            // Table size minus one; enable and mask-all bits.
            (MSIX, capability(0x11, PCIE) | (QUEUES as u32 - 1) << 16, 0xc000_0000),
            (MSIX + 4, MSIX_TABLE as u32 | BAR, 0),
            (MSIX + 8, MSIX_PENDING as u32 | BAR, 0),
            // An endpoint, version 2.
            (PCIE, capability(0x10, 0) | 2 << 16, 0),
            // Payloads up to 256 bytes, role-based errors, function-level reset.
            (PCIE + 4, 1 | 1 << 15 | 1 << 28, 0),
            (DEVICE_CONTROL, 0, 0x7fff),
            // 8 GT/s, 16 lanes: maximum and current.
            (PCIE + 0x0c, 0x103, 0),
            (PCIE + 0x10, 0x103 << 16, 0xffff),
            (PCIE + 0x28, 0, 0xffff),
        ] {
            space.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            space.writable[at..at + 4].copy_from_slice(&u32::to_le_bytes(writable));
        }
        space
    }

    pub fn read(&self, offset: u64, out: &mut [u8]) {
        for (index, byte) in out.iter_mut().enumerate() {
            *byte = place(offset, index).map_or(0, |at| self.bytes[at]);
        }
    }

    /// Returns whether a function-level reset was requested.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> bool {
        let mut resets = false;
        for (index, byte) in bytes.iter().enumerate() {
            let Some(at) = place(offset, index) else { break };
            self.bytes[at] = self.bytes[at] & !self.writable[at] | byte & self.writable[at];
            resets |= at == DEVICE_CONTROL + 1 && byte & INITIATE_FLR != 0;
        }
        resets
    }

    /// Returns whether DMA and interrupts are enabled.
    pub fn is_bus_master(&self) -> bool {
        self.bytes[COMMAND] & COMMAND_BUS_MASTER != 0
    }
}

fn place(offset: u64, index: usize) -> Option<usize> {
    usize::try_from(offset).ok()?.checked_add(index).filter(|at| *at < CONFIG_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(space: &ConfigSpace, at: u64) -> u32 {
        let mut bytes = [0; 4];
        space.read(at, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    #[test]
    fn a_kernel_finds_the_bar_its_size_and_the_capabilities() {
        let mut space = ConfigSpace::new();
        assert!(!space.write(BAR0 as u64, &[0xff; 8]));
        let bar = u64::from(word(&space, 0x10)) | u64::from(word(&space, 0x14)) << 32;
        assert_eq!((bar & 0xf, !(bar & !0xf) + 1), (0b100, BAR0_BYTES as u64), "64-bit memory of 64 KiB");
        assert_eq!(word(&space, COMMAND as u64) >> 20 & 1, 1, "there is a list of capabilities");
        let mut at = word(&space, 0x34) & 0xff;
        let mut ids = Vec::new();
        while at != 0 {
            ids.push(word(&space, at.into()) & 0xff);
            at = word(&space, at.into()) >> 8 & 0xff;
        }
        assert_eq!(ids, [0x11, 0x10]);
        assert_eq!((word(&space, MSIX as u64) >> 16 & 0x7ff) as usize + 1, QUEUES);
        assert_eq!(word(&space, PCIE as u64 + 4) >> 28 & 1, 1, "function-level reset");
    }

    #[test]
    fn only_what_may_be_written_changes_and_a_reset_is_noticed() {
        let mut space = ConfigSpace::new();
        let before = [0, 8, 0x2c, 0x34].map(|at| word(&space, at));
        assert!(!space.write(0, &[0xff; 0x40]));
        assert_eq!([0, 8, 0x2c, 0x34].map(|at| word(&space, at)), before);
        assert!(space.is_bus_master());
        assert!(!space.write(DEVICE_CONTROL as u64, &[0xff, 0x7f]));
        assert!(space.write(DEVICE_CONTROL as u64, &[0x10, 0x80]));
        assert_eq!(word(&space, DEVICE_CONTROL as u64) & 0x8000, 0, "it reads as zero");
        assert!(!space.write(CONFIG_BYTES as u64 - 1, &[0xff; 8]));
        assert!(!space.write(u64::MAX, &[0xff]));
    }
}
