//! Access to a card.
//!
//! The driver calls only the methods of [`Bus`], so that a wrapper sees, and may change, every
//! register access and ring entry. Bulk data bypasses wrappers by [`Bus::dma`].

mod bell;
pub mod card;
pub mod fault;
pub mod hostile;
pub mod in_process;
pub mod memory;
pub mod trace;
pub mod vfio;
pub mod vfio_user;

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use optireduce_contract::queue::{ENTRY_BYTES, completion};
use optireduce_contract::registers::{PEER_BYTES, Register};

use crate::dma::{DmaFault, DmaMap};
use crate::error::DriverError;

/// Access to one card.
pub trait Bus: Send {
    /// Name of the card in errors, such as "0000:5e:00.0" or "sim0".
    fn name(&self) -> &str;

    /// DMA memory, which the card may read and write.
    fn dma(&self) -> &DmaMap;

    /// Maps the first `bytes` bytes, a multiple of 4096, of a caller-owned memory file for the
    /// card. Returns their IOVA, or `None` if this bus maps no caller-owned memory. All users of
    /// the file must expect writes of the card until [`Bus::unmap`].
    ///
    /// # Errors
    /// If the file's size is not sealed, the kernel or the card refuses it, or the card is gone.
    fn map(&self, _file: BorrowedFd<'_>, _bytes: usize) -> Result<Option<u64>, DriverError> {
        Ok(None)
    }

    /// Unmaps the memory at `iova`. No command in progress may use it.
    ///
    /// # Errors
    /// If the card may still write there.
    fn unmap(&self, _iova: u64) -> Result<(), DriverError> {
        Ok(())
    }

    /// Makes posted register writes reach the card and its updates of registers visible. Bounded.
    ///
    /// # Errors
    /// If the card is gone.
    fn flush(&self) -> Result<(), DriverError>;

    /// Yields the processor between two polls of a bounded wait. A simulated card runs some cycles.
    fn relax(&self);

    /// Clock for bounded waits.
    fn now(&self) -> Instant {
        Instant::now()
    }

    /// Reads a register; all ones if the card is gone.
    fn read(&self, register: &Register) -> u32;

    /// Writes a register; posted.
    fn write(&self, register: &Register, value: u32);

    /// Writes an entry of the peer table; posted.
    fn write_peer(&self, rank: usize, words: [u32; PEER_BYTES / 4]);

    /// Returns whether the bus has noticed that the card is gone. Called between polls.
    fn is_gone(&self) -> bool {
        false
    }

    /// Returns whether this bus has interrupts.
    fn has_interrupts(&self) -> bool {
        false
    }

    /// Waits for an interrupt, at most `timeout`. Returns whether one arrived since interrupts were
    /// last consumed; `None` without interrupts.
    fn wait_interrupt(&self, _timeout: Duration) -> Option<bool> {
        None
    }

    /// File descriptor that is readable from an interrupt until [`Bus::wait_interrupt`]; `None`
    /// without one.
    fn interrupt_fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Writes a ring entry.
    fn store_entry(&self, iova: u64, entry: &[u8; ENTRY_BYTES]) -> Result<(), DmaFault> {
        self.dma().write(iova, entry)
    }

    /// Reads the phase bit of the completion at `iova`.
    fn phase(&self, iova: u64) -> Result<bool, DmaFault> {
        let (word, byte) = (completion::PHASE.offset & !3, completion::PHASE.offset & 3);
        Ok(self.dma().read_word(iova + word as u64)? >> (8 * byte) & 1 == 1)
    }

    /// Reads a ring entry.
    fn load_entry(&self, iova: u64) -> Result<[u8; ENTRY_BYTES], DmaFault> {
        let mut entry = [0; ENTRY_BYTES];
        self.dma().read(iova, &mut entry)?;
        Ok(entry)
    }
}
