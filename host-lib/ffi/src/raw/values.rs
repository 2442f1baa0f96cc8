//! Input values and places for results.

use std::ops::Range;

use optireduce::binding::memory::{self, NotEnoughMemory};

use super::{check_aligned, null};
use crate::status::Failure;

/// # Safety
/// Every bit pattern is a valid value.
pub unsafe trait Plain: Copy + Send + 'static {}

// SAFETY: every bit pattern is a valid value.
unsafe impl Plain for f32 {}
// SAFETY: as above.
unsafe impl Plain for u8 {}

/// Input values of the caller. Not a slice, since the memory may overlap the output.
#[derive(Debug)]
pub struct Input<T> {
    pub(super) pointer: *const T,
    pub(super) elements: usize,
}

impl<T: Plain> Input<T> {
    /// # Safety
    /// NULL, or `elements` readable values that no thread writes until this is dropped.
    pub unsafe fn new(name: &str, pointer: *const T, elements: usize) -> Result<Self, Failure> {
        check_values(name, pointer, elements)?;
        Ok(Self { pointer, elements })
    }

    pub fn elements(&self) -> usize {
        self.elements
    }

    pub fn addresses(&self) -> Range<usize> {
        self.pointer.addr()..self.pointer.addr() + self.elements * size_of::<T>()
    }

    pub fn to_vec(&self) -> Result<Vec<T>, NotEnoughMemory> {
        self.to_vec_in(Vec::new())
    }

    /// Like [`to_vec`](Self::to_vec), in the memory of `values` if it is large enough.
    pub fn to_vec_in(&self, mut values: Vec<T>) -> Result<Vec<T>, NotEnoughMemory> {
        values.clear();
        if values.capacity() < self.elements {
            drop(values);
            values = memory::room("a copy of the input values", self.elements, "pass fewer at a time")?;
        }
        if self.elements > 0 {
            // SAFETY: `elements` values are readable (`new`), and `values` has capacity for them.
            unsafe {
                values.as_mut_ptr().copy_from(self.pointer, self.elements);
                values.set_len(self.elements);
            }
        }
        Ok(values)
    }
}

/// Checks that a length in bytes fits into memory.
pub fn check_elements<T>(elements: usize) -> Result<(), Failure> {
    let most = isize::MAX as usize / size_of::<T>();
    if elements <= most { Ok(()) } else { Err(Failure::argument("elements", elements, format_args!("at most {most}"))) }
}

fn check_values<T>(name: &str, pointer: *const T, elements: usize) -> Result<(), Failure> {
    check_elements::<T>(elements)?;
    if pointer.is_null() && elements > 0 {
        let what = if size_of::<T>() == 1 { "bytes" } else { "values" };
        return Err(null(name, &format!("{elements} {what}")));
    }
    check_aligned(name, pointer)
}

/// Place for a result, written now or later, on any thread.
#[derive(Debug)]
pub struct Output<T> {
    pub(super) pointer: *mut T,
    pub(super) elements: usize,
}

// SAFETY: the caller guarantees that this library may write there until the call or request is
// done.
unsafe impl<T: Plain> Send for Output<T> {}

impl<T: Plain> Output<T> {
    /// # Safety
    /// NULL, or `elements` writable values that nothing else accesses until this is dropped.
    pub unsafe fn new(name: &str, pointer: *mut T, elements: usize) -> Result<Self, Failure> {
        check_values(name, pointer, elements)?;
        Ok(Self { pointer, elements })
    }

    pub fn elements(&self) -> usize {
        self.elements
    }

    pub fn addresses(&self) -> Range<usize> {
        self.pointer.addr()..self.pointer.addr() + self.elements * size_of::<T>()
    }

    pub fn fill(&mut self, value: T) {
        for at in 0..self.elements {
            // SAFETY: `elements` values are writable (`new`).
            unsafe { self.pointer.add(at).write(value) };
        }
    }

    /// Panics if the lengths differ.
    pub fn write(&mut self, values: &[T]) {
        assert_eq!(values.len(), self.elements, "as many values as the output has room for");
        self.write_at(0, values);
    }

    /// Writes values from element `first`. Panics if there is no room.
    pub fn write_at(&mut self, first: usize, values: &[T]) {
        let room = self.elements.checked_sub(first).is_some_and(|room| values.len() <= room);
        assert!(room, "the output has room for the result");
        if !values.is_empty() {
            // SAFETY: as many values are writable (`new`). They may overlap, since the output may
            // be memory of the library.
            unsafe { values.as_ptr().copy_to(self.pointer.add(first), values.len()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(unsafe_code)]
    fn a_copy_that_no_memory_has_is_an_error_before_anything_is_read() {
        let values = [1.0_f32; 4];
        // SAFETY: four values are readable. Larger inputs are never read, since the copy has no
        // memory.
        let input = |elements| unsafe { Input::new("input", values.as_ptr(), elements) }.unwrap();
        assert_eq!(input(4).to_vec(), Ok(vec![1.0; 4]));
        assert_eq!(input(3).to_vec_in(vec![2.0; 9]), Ok(vec![1.0; 3]));
        let refused = input(1 << 60).to_vec().unwrap_err();
        assert_eq!(refused.needed, 1 << 62);
        assert!(refused.to_string().starts_with("a copy of the input values needs "), "{refused}");
        assert!(input(1 << 60).to_vec_in(vec![2.0; 9]).is_err());
    }
}
