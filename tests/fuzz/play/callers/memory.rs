//! Memory of a caller's: its addresses are given to the library, and afterwards it is known what was written, and where.

use std::ops::Range;

/// Bytes at an address that is a multiple of 8.
pub struct Memory {
    /// From `Box::into_raw`: the library writes by addresses that come of it, also later and from other threads.
    cells: *mut [u64],
    before: Vec<u8>,
}

// SAFETY: an address of memory that this owns; what else has it is the library, until a call or a request is done.
unsafe impl Send for Memory {}

impl Memory {
    /// So many bytes, none of them zero; as floats they are numbers near one and two.
    pub fn new(bytes: usize) -> Self {
        let cell = |cell: u64| 0x3f81_0101_4001_0101 + (cell % 64) * 0x0000_0202_0000_0202;
        let cells: Box<[u64]> = (0..bytes.div_ceil(8) as u64).map(cell).collect();
        Self { cells: Box::into_raw(cells), before: Vec::new() }
    }

    fn bytes(&self) -> usize {
        8 * self.cells.len()
    }

    /// An address in it, or one behind its last byte.
    pub fn at<T>(&self, offset: usize) -> *mut T {
        assert!(offset <= self.bytes(), "{offset} of {} bytes", self.bytes());
        self.cells.cast::<u8>().wrapping_add(offset).cast()
    }

    /// Writes a number.
    pub fn set<T: Number>(&self, offset: usize, value: T) {
        assert!(offset + size_of::<T>() <= self.bytes(), "{offset} of {} bytes", self.bytes());
        // SAFETY: as many bytes are there; this thread alone writes there now.
        unsafe { self.at::<T>(offset).write_unaligned(value) };
    }

    /// Reads a number.
    pub fn get<T: Number>(&self, offset: usize) -> T {
        assert!(offset + size_of::<T>() <= self.bytes(), "{offset} of {} bytes", self.bytes());
        // SAFETY: as many bytes are there, every pattern is a number, and nobody writes there now.
        unsafe { self.at::<T>(offset).read_unaligned() }
    }

    fn now(&self) -> &[u8] {
        // SAFETY: as many bytes are there, and nobody writes there now.
        unsafe { std::slice::from_raw_parts(self.at(0), self.bytes()) }
    }

    /// Remembers what there is.
    pub fn remember(&mut self) {
        let mut before = std::mem::take(&mut self.before);
        before.clear();
        before.extend_from_slice(self.now());
        self.before = before;
    }

    /// That nothing has changed since it was remembered but, perhaps, in these places.
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
        // SAFETY: from `Box::into_raw`; whoever drops it knows that the library does not write there any more.
        drop(unsafe { Box::from_raw(self.cells) });
    }
}

/// Numbers: every pattern of bits is a value.
///
/// # Safety
/// As it says.
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
