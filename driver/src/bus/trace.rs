//! Bus that reports its accesses.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use optireduce_contract::queue::ENTRY_BYTES;
use optireduce_contract::registers::{PEER_BYTES, Register};

use super::Bus;
use crate::dma::{DmaFault, DmaMap};
use crate::error::DriverError;

/// Access to registers, the peer table or a ring entry, or a flush. Polls of a phase bit and bulk
/// data are not reported.
#[allow(missing_docs)] // described above
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusEvent {
    Read { register: &'static str, value: u32 },
    Write { register: &'static str, value: u32 },
    WritePeer { rank: usize, words: [u32; PEER_BYTES / 4] },
    StoreEntry { iova: u64, entry: [u8; ENTRY_BYTES] },
    LoadEntry { iova: u64, entry: [u8; ENTRY_BYTES] },
    Flush,
}

/// Wraps a bus and passes its accesses to a sink, in order.
pub struct TraceBus<B> {
    inner: B,
    sink: Box<dyn Fn(BusEvent) + Send>,
}

impl<B: Bus> TraceBus<B> {
    /// Wraps `inner` and reports to `sink`.
    pub fn new(inner: B, sink: impl Fn(BusEvent) + Send + 'static) -> Self {
        Self { inner, sink: Box::new(sink) }
    }

    /// Logs accesses at level trace.
    pub fn to_log(inner: B) -> Self {
        let device = inner.name().to_owned();
        Self::new(inner, move |event| tracing::trace!(device, ?event))
    }
}

impl<B: Bus> Bus for TraceBus<B> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dma(&self) -> &DmaMap {
        self.inner.dma()
    }

    fn map(&self, file: BorrowedFd<'_>, bytes: usize) -> Result<Option<u64>, DriverError> {
        self.inner.map(file, bytes)
    }

    fn unmap(&self, iova: u64) -> Result<(), DriverError> {
        self.inner.unmap(iova)
    }

    fn flush(&self) -> Result<(), DriverError> {
        (self.sink)(BusEvent::Flush);
        self.inner.flush()
    }

    fn relax(&self) {
        self.inner.relax();
    }

    fn now(&self) -> Instant {
        self.inner.now()
    }

    fn is_gone(&self) -> bool {
        self.inner.is_gone()
    }

    fn has_interrupts(&self) -> bool {
        self.inner.has_interrupts()
    }

    fn wait_interrupt(&self, timeout: Duration) -> Option<bool> {
        self.inner.wait_interrupt(timeout)
    }

    fn interrupt_fd(&self) -> Option<BorrowedFd<'_>> {
        self.inner.interrupt_fd()
    }

    fn read(&self, register: &Register) -> u32 {
        let value = self.inner.read(register);
        (self.sink)(BusEvent::Read { register: register.name, value });
        value
    }

    fn write(&self, register: &Register, value: u32) {
        (self.sink)(BusEvent::Write { register: register.name, value });
        self.inner.write(register, value);
    }

    fn write_peer(&self, rank: usize, words: [u32; PEER_BYTES / 4]) {
        (self.sink)(BusEvent::WritePeer { rank, words });
        self.inner.write_peer(rank, words);
    }

    fn store_entry(&self, iova: u64, entry: &[u8; ENTRY_BYTES]) -> Result<(), DmaFault> {
        (self.sink)(BusEvent::StoreEntry { iova, entry: *entry });
        self.inner.store_entry(iova, entry)
    }

    fn phase(&self, iova: u64) -> Result<bool, DmaFault> {
        self.inner.phase(iova)
    }

    fn load_entry(&self, iova: u64) -> Result<[u8; ENTRY_BYTES], DmaFault> {
        let entry = self.inner.load_entry(iova)?;
        (self.sink)(BusEvent::LoadEntry { iova, entry });
        Ok(entry)
    }
}
