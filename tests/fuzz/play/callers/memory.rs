//! Memory of a caller, compared after each call to find writes.

use std::ops::Range;

pub struct Memory {
    /// From `Box::into_raw`: the library writes through derived addresses, also from other threads.
    cells: *mut [u64],
    before: Vec<u8>,
}

// SAFETY: this type owns the memory, which it shares only with the library, until a call or request
// is done.
unsafe impl Send for Memory {}

impl Memory {
    /// Bytes that are not zero; as floats they are near one and two.
    pub fn new(bytes: usize) -> Self {
        let cell = |cell: u64| 0x3f81_0101_4001_0101 + (cell % 64) * 0x0000_0202_0000_0202;
        let cells: Box<[u64]> = (0..bytes.div_ceil(8) as u64).map(cell).collect();
        Self { cells: Box::into_raw(cells), before: Vec::new() }
    }

    fn bytes(&self) -> usize {
        8 * self.cells.len()
    }

    pub fn at<T>(&self, offset: usize) -> *mut T {
        assert!(offset <= self.bytes(), "{offset} of {} bytes", self.bytes());
        self.cells.cast::<u8>().wrapping_add(offset).cast()
    }

    pub fn set<T: Number>(&self, offset: usize, value: T) {
        assert!(offset + size_of::<T>() <= self.bytes(), "{offset} of {} bytes", self.bytes());
        // SAFETY: the range is inside the memory, and no other thread uses it now.
        unsafe { self.at::<T>(offset).write_unaligned(value) };
    }

    pub fn get<T: Number>(&self, offset: usize) -> T {
        assert!(offset + size_of::<T>() <= self.bytes(), "{offset} of {} bytes", self.bytes());
        // SAFETY: the range is inside the memory, every pattern is a number, and no thread writes
        // it now.
        unsafe { self.at::<T>(offset).read_unaligned() }
    }

    fn now(&self) -> &[u8] {
        // SAFETY: all of the memory is initialised, and no thread writes it now.
        unsafe { std::slice::from_raw_parts(self.at(0), self.bytes()) }
    }

    /// Saves the content for [`check`](Self::check).
    pub fn remember(&mut self) {
        let mut before = std::mem::take(&mut self.before);
        before.clear();
        before.extend_from_slice(self.now());
        self.before = before;
    }

    /// Checks that only bytes in `may_differ` have changed since [`remember`](Self::remember).
    pub fn check(&self, function: &str, may_differ: &[Range<usize>]) {
        let (now, before) = (self.now(), self.before.as_slice());
        let is_new = |at: &usize| now[*at] != before[*at] && !may_differ.iter().any(|range| range.contains(at));
        if now != before
            && let Some(at) = (0..now.len()).find(is_new)
        {
            panic!("{function} has written at byte {at}, but may only at {may_differ:?}");
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: from `Box::into_raw`; the owner drops it only after the library's last write.
        drop(unsafe { Box::from_raw(self.cells) });
    }
}

/// Numbers.
///
/// # Safety
/// Every pattern of bits must be a value of the type.
pub unsafe trait Number: Copy {}

// SAFETY: every pattern of bits is a value.
unsafe impl Number for u8 {}
// SAFETY: as above.
unsafe impl Number for u32 {}
// SAFETY: as above.
unsafe impl Number for i32 {}
// SAFETY: as above.
unsafe impl Number for u64 {}
// SAFETY: as above.
unsafe impl Number for usize {}
// SAFETY: as above.
unsafe impl Number for f64 {}
