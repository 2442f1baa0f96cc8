//! Bus that injects faults, for tests.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use optireduce_contract::queue::ENTRY_BYTES;
use optireduce_contract::registers::{PEER_BYTES, Register};

use super::Bus;
use crate::dma::{DmaFault, DmaMap};
use crate::error::DriverError;

type OnRead = Box<dyn Fn(&Register, u32) -> u32 + Send>;
type OnWrite = Box<dyn Fn(&Register, u32) -> Option<u32> + Send>;
type OnLoad = Box<dyn Fn(&mut [u8; ENTRY_BYTES]) + Send>;

/// Wraps a bus, with functions that change its accesses.
pub struct FaultBus<B> {
    inner: B,
    on_read: OnRead,
    on_write: OnWrite,
    on_load: OnLoad,
}

impl<B: Bus> FaultBus<B> {
    /// Wraps `inner` without faults.
    pub fn new(inner: B) -> Self {
        Self {
            inner,
            on_read: Box::new(|_, value| value),
            on_write: Box::new(|_, value| Some(value)),
            on_load: Box::new(|_| ()),
        }
    }

    /// Sets the function that returns the value to read, given a register and its value.
    pub fn on_read(mut self, fault: impl Fn(&Register, u32) -> u32 + Send + 'static) -> Self {
        self.on_read = Box::new(fault);
        self
    }

    /// Sets the function that returns the value that arrives, or `None` to drop the write, given a
    /// register and the value written.
    pub fn on_write(mut self, fault: impl Fn(&Register, u32) -> Option<u32> + Send + 'static) -> Self {
        self.on_write = Box::new(fault);
        self
    }

    /// Sets the function that changes completions before the driver reads them.
    pub fn on_completion(mut self, fault: impl Fn(&mut [u8; ENTRY_BYTES]) + Send + 'static) -> Self {
        self.on_load = Box::new(fault);
        self
    }
}

impl<B: Bus> Bus for FaultBus<B> {
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
        (self.on_read)(register, self.inner.read(register))
    }

    fn write(&self, register: &Register, value: u32) {
        if let Some(value) = (self.on_write)(register, value) {
            self.inner.write(register, value);
        }
    }

    fn write_peer(&self, rank: usize, words: [u32; PEER_BYTES / 4]) {
        self.inner.write_peer(rank, words);
    }

    fn store_entry(&self, iova: u64, entry: &[u8; ENTRY_BYTES]) -> Result<(), DmaFault> {
        self.inner.store_entry(iova, entry)
    }

    fn phase(&self, iova: u64) -> Result<bool, DmaFault> {
        self.inner.phase(iova)
    }

    fn load_entry(&self, iova: u64) -> Result<[u8; ENTRY_BYTES], DmaFault> {
        let mut entry = self.inner.load_entry(iova)?;
        (self.on_load)(&mut entry);
        Ok(entry)
    }
}
