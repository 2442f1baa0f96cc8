//! Memory of the library for the caller's values, lent in parts to the engine for a collective.

use std::ops::{Deref, DerefMut, Range};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use optireduce::Buffer;
use optireduce::binding::memory::NotEnoughMemory;

use super::{Input, Output};

/// Alignment of the memory: a cache line and a beat.
pub const MEMORY_ALIGNMENT: usize = 64;

/// Memory from `optr_alloc`.
#[derive(Debug)]
pub struct Region {
    /// The library itself never accesses its contents.
    buffer: Buffer,
    bytes: usize,
    loans: Mutex<Vec<Part>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    addresses: Range<usize>,
    is_written: bool,
}

// SAFETY: its memory is accessed through loans, which do not overlap, and by the caller, who
// guarantees not to touch lent parts.
unsafe impl Send for Region {}
// SAFETY: as above, and a lock protects the list of loans.
unsafe impl Sync for Region {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InUse {
    /// A collective sends from it.
    Read,
    /// A collective writes it.
    Written,
}

impl Region {
    /// Allocates at least `bytes` zero bytes.
    pub fn new(bytes: usize) -> Result<Self, NotEnoughMemory> {
        let buffer = Buffer::new(bytes.div_ceil(size_of::<f32>()))?;
        Ok(Self { buffer, bytes: bytes.next_multiple_of(MEMORY_ALIGNMENT), loans: Mutex::default() })
    }

    pub fn start(&self) -> usize {
        self.pointer().addr()
    }

    pub fn pointer(&self) -> *mut u8 {
        self.buffer.pointer().cast()
    }

    pub fn holds(&self, addresses: &Range<usize>) -> bool {
        self.start() <= addresses.start && addresses.end <= self.start() + self.bytes
    }

    pub fn in_use(&self, addresses: &Range<usize>) -> Option<InUse> {
        in_use(&self.loans(), addresses)
    }

    /// Lends the values that a collective sends.
    pub fn lend_input(self: Arc<Self>, input: &Input<f32>) -> Result<Lent, InUse> {
        self.lend(input.pointer.cast_mut(), input.elements, false)
    }

    /// Lends the values that a collective writes, and may first send.
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

/// Part of a region, lent until this is dropped.
#[derive(Debug)]
pub struct Lent {
    region: Arc<Region>,
    part: Part,
    at: *mut f32,
    elements: usize,
}

// SAFETY: it keeps the region alive, and no other loan overlaps it.
unsafe impl Send for Lent {}
// SAFETY: as above; shared references only read.
unsafe impl Sync for Lent {}

impl Deref for Lent {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: the values are aligned (checked by `Input` and `Output`), initialised (zeros at
        // first), and in the region, which is kept alive. No other loan overlaps them (`lend`), and
        // the header requires that the caller leaves them untouched.
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
        // SAFETY: the region has 32 values.
        let output = |first, elements| unsafe { Output::new("output", values.add(first), elements) }.unwrap();
        // SAFETY: as above.
        let input = |first, elements| unsafe { Input::new("input", values.add(first), elements) }.unwrap();
        let mut low = region.clone().lend_output(&output(0, 16)).unwrap();
        let high = region.clone().lend_input(&input(16, 16)).unwrap();
        assert_eq!(region.clone().lend_output(&output(15, 1)).unwrap_err(), InUse::Written);
        assert_eq!(region.clone().lend_input(&input(16, 1)).unwrap_err(), InUse::Read);
        assert_eq!(region.clone().lend_input(&input(15, 2)).unwrap_err(), InUse::Written);
        assert_eq!(region.in_use(&(values.addr()..values.addr())), None, "an empty range is never lent");
        drop(region);
        low.fill(1.0);
        assert_eq!((low[15], high[0]), (1.0, 0.0));
        let region = high.region.clone();
        drop((low, high));
        assert!(region.lend_output(&output(0, 32)).is_ok());
    }
}
