//! Memory of the library's that callers write their values to: lent to the engine for a collective, part by part.

use std::ops::{Deref, DerefMut, Range};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use optireduce::Buffer;
use optireduce::memory::NotEnoughMemory;

use super::{Input, Output};

/// What memory is aligned to: a cache line, which is a beat.
pub const MEMORY_ALIGNMENT: usize = 64;

/// Memory from `optr_alloc`.
#[derive(Debug)]
pub struct Region {
    /// Nothing here reads or writes what is in it.
    buffer: Buffer,
    bytes: usize,
    /// What is lent at present.
    loans: Mutex<Vec<Part>>,
}

/// A part that is lent: its addresses, and whether it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    addresses: Range<usize>,
    is_written: bool,
}

// SAFETY: its memory is reached through loans, which do not overlap, and through the caller's addresses, which the caller has promised
// to leave alone while the collective runs.
unsafe impl Send for Region {}
// SAFETY: as above; the list of loans has a lock.
unsafe impl Sync for Region {}

/// Why a part is not lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InUse {
    /// A collective sends from some of it.
    Read,
    /// A collective writes some of it.
    Written,
}

impl Region {
    /// Zeros, at least so many bytes.
    pub fn new(bytes: usize) -> Result<Self, NotEnoughMemory> {
        let buffer = Buffer::new(bytes.div_ceil(size_of::<f32>()))?;
        Ok(Self { buffer, bytes: bytes.next_multiple_of(MEMORY_ALIGNMENT), loans: Mutex::default() })
    }

    /// Where it begins.
    pub fn start(&self) -> usize {
        self.pointer().addr()
    }

    pub fn pointer(&self) -> *mut u8 {
        self.buffer.pointer().cast()
    }

    /// Whether it has all of these addresses.
    pub fn holds(&self, addresses: &Range<usize>) -> bool {
        self.start() <= addresses.start && addresses.end <= self.start() + self.bytes
    }

    /// Whether some of these addresses is lent.
    pub fn in_use(&self, addresses: &Range<usize>) -> Option<InUse> {
        in_use(&self.loans(), addresses)
    }

    /// Lends the values that a collective reads.
    pub fn lend_input(self: Arc<Self>, input: &Input<f32>) -> Result<Lent, InUse> {
        self.lend(input.pointer.cast_mut(), input.elements, false)
    }

    /// Lends the values that a collective writes, and may read before.
    pub fn lend_output(self: Arc<Self>, output: &Output<f32>) -> Result<Lent, InUse> {
        self.lend(output.pointer, output.elements, true)
    }

    fn lend(self: Arc<Self>, at: *mut f32, elements: usize, is_written: bool) -> Result<Lent, InUse> {
        let addresses = addresses(at, elements);
        assert!(self.holds(&addresses), "the values lie in the memory");
        let mut loans = self.loans();
        if let Some(in_use) = in_use(&loans, &addresses) {
            return Err(in_use);
        }
        let part = Part { addresses, is_written };
        loans.push(part.clone());
        drop(loans);
        Ok(Lent { region: self, part, at, elements })
    }

    fn loans(&self) -> MutexGuard<'_, Vec<Part>> {
        self.loans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn in_use(loans: &[Part], addresses: &Range<usize>) -> Option<InUse> {
    let overlaps = |part: &&Part| part.addresses.start < addresses.end && addresses.start < part.addresses.end;
    let parts = loans.iter().filter(overlaps);
    parts.map(|part| if part.is_written { InUse::Written } else { InUse::Read }).max_by_key(|use_| *use_ as u8)
}

fn addresses(at: *const f32, elements: usize) -> Range<usize> {
    at.addr()..at.addr() + elements * size_of::<f32>()
}

/// A part of a region, lent until this is dropped.
#[derive(Debug)]
pub struct Lent {
    region: Arc<Region>,
    part: Part,
    at: *mut f32,
    elements: usize,
}

// SAFETY: an address in a region, which it keeps; no other loan has any of it.
unsafe impl Send for Lent {}
// SAFETY: as above; shared, it is only read.
unsafe impl Sync for Lent {}

impl Deref for Lent {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: so many values, aligned (checked by `Input` and `Output`) and initialised (zeros at first), lie in the region, which is
        // kept. No other loan overlaps them (`lend`), and the caller leaves them alone: the header says until when.
        unsafe { std::slice::from_raw_parts(self.at, self.elements) }
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as in `deref`.
        unsafe { std::slice::from_raw_parts_mut(self.at, self.elements) }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut loans = self.region.loans();
        if let Some(index) = loans.iter().position(|part| *part == self.part) {
            loans.swap_remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(unsafe_code)]
    fn parts_are_lent_once_at_a_time_and_outlive_their_handle() {
        let region = Arc::new(Region::new(65).unwrap());
        assert!(region.pointer().addr().is_multiple_of(64) && region.bytes == 128);
        let values: *mut f32 = region.pointer().cast();
        // SAFETY: 32 values are there.
        let output = |first, elements| unsafe { Output::new("output", values.add(first), elements) }.unwrap();
        // SAFETY: as above.
        let input = |first, elements| unsafe { Input::new("input", values.add(first), elements) }.unwrap();
        let mut low = region.clone().lend_output(&output(0, 16)).unwrap();
        let high = region.clone().lend_input(&input(16, 16)).unwrap();
        assert_eq!(region.clone().lend_output(&output(15, 1)).unwrap_err(), InUse::Written);
        assert_eq!(region.clone().lend_input(&input(16, 1)).unwrap_err(), InUse::Read);
        assert_eq!(region.clone().lend_input(&input(15, 2)).unwrap_err(), InUse::Written);
        assert_eq!(region.in_use(&(values.addr()..values.addr())), None, "of no values, none is lent");
        drop(region);
        low.fill(1.0);
        assert_eq!((low[15], high[0]), (1.0, 0.0));
        let region = high.region.clone();
        drop((low, high));
        assert!(region.lend_output(&output(0, 32)).is_ok());
    }
}
