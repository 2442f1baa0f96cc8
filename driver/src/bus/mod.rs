//! The seam below the driver: how a card is reached.
//!
//! A bus reaches the registers and maps the DMA memory; everything above works through the methods of [`Bus`], so that
//! a wrapper ([`trace::TraceBus`], [`fault::FaultBus`], [`hostile::HostileBus`]) sees, and may change, every register access and every ring entry.
//! Bulk data goes to [`Bus::dma`] directly.

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

/// A way to one card.
pub trait Bus: Send {
    /// What errors call the card: "0000:5e:00.0", "sim0".
    fn name(&self) -> &str;

    /// The memory that the card may read and write.
    fn dma(&self) -> &DmaMap;

    /// Lets the card reach a memory file of others, beside [`Bus::dma`]: its first `bytes` bytes, a multiple of 4096. Where they begin for the card.
    /// `None`: a card on this bus reaches no other memory. Whoever has it mapped must know that the card may write it, until [`Bus::unmap`].
    ///
    /// # Errors
    /// If the file may shrink or grow, or the kernel or the card refuses it; the bus has lost the card.
    fn map(&self, _file: BorrowedFd<'_>, _bytes: usize) -> Result<Option<u64>, DriverError> {
        Ok(None)
    }

    /// Takes away what was mapped at `iova`. No command with addresses in it may be under way.
    ///
    /// # Errors
    /// If it cannot be: the card may write there still.
    fn unmap(&self, _iova: u64) -> Result<(), DriverError> {
        Ok(())
    }

    /// Makes posted register writes reach the card, and what the card wrote to registers current. On a real bus a
    /// read-back. Its work is bounded.
    ///
    /// # Errors
    /// The bus has lost the card.
    fn flush(&self) -> Result<(), DriverError>;

    /// Called between two polls of a bounded wait: yields the processor; a simulated card runs some cycles.
    fn relax(&self);

    /// The clock that bounds waits: this machine's, unless a test has one of its own.
    fn now(&self) -> Instant {
        Instant::now()
    }

    /// Reads a register: all ones if the card is not there.
    fn read(&self, register: &Register) -> u32;

    /// Writes a register; posted.
    fn write(&self, register: &Register, value: u32);

    /// Writes an entry of the peer table; posted.
    fn write_peer(&self, rank: usize, words: [u32; PEER_BYTES / 4]);

    /// Whether the bus has noticed that the card has left: then its registers read as ones. Asked between two polls for a completion,
    /// which read no register but every 10 ms.
    fn is_gone(&self) -> bool {
        false
    }

    /// Whether a card of this bus tells by interrupts that there is something to look at, so that who waits may sleep.
    fn has_interrupts(&self) -> bool {
        false
    }

    /// Waits for an interrupt, at most `timeout`: whether one came since the last one that was taken note of, here or by [`Bus::relax`].
    /// `None`: this bus has no interrupts.
    fn wait_interrupt(&self, _timeout: Duration) -> Option<bool> {
        None
    }

    /// What becomes readable when there is an interrupt, until [`Bus::wait_interrupt`] takes note of it. `None`: this bus has nothing of the kind.
    fn interrupt_fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Writes a ring entry.
    ///
    /// # Errors
    /// [`DmaFault`].
    fn store_entry(&self, iova: u64, entry: &[u8; ENTRY_BYTES]) -> Result<(), DmaFault> {
        self.dma().write(iova, entry)
    }

    /// The phase bit of the completion at `iova`.
    ///
    /// # Errors
    /// [`DmaFault`].
    fn phase(&self, iova: u64) -> Result<bool, DmaFault> {
        let (word, byte) = (completion::PHASE.offset & !3, completion::PHASE.offset & 3);
        Ok(self.dma().read_word(iova + word as u64)? >> (8 * byte) & 1 == 1)
    }

    /// Reads a ring entry.
    ///
    /// # Errors
    /// [`DmaFault`].
    fn load_entry(&self, iova: u64) -> Result<[u8; ENTRY_BYTES], DmaFault> {
        let mut entry = [0; ENTRY_BYTES];
        self.dma().read(iova, &mut entry)?;
        Ok(entry)
    }
}
