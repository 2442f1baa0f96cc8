//! Numbers that the caller gives, and places for results.

use std::ops::Range;

use optireduce::memory::{self, NotEnoughMemory};

use super::{check_aligned, null};
use crate::status::Failure;

/// Plain numbers: every pattern of bits is a value.
///
/// # Safety
/// As it says.
pub unsafe trait Plain: Copy + Send + 'static {}

// SAFETY: every pattern of bits is a value.
unsafe impl Plain for f32 {}
// SAFETY: as above.
unsafe impl Plain for u8 {}

/// Values that the caller gives. No slice: the caller may have given the same memory, or a part of it, for the result.
#[derive(Debug)]
pub struct Input<T> {
    pub(super) pointer: *const T,
    pub(super) elements: usize,
}

impl<T: Plain> Input<T> {
    /// # Safety
    /// NULL, or `elements` values can be read there, and nobody writes them meanwhile, until this is dropped.
    pub unsafe fn new(name: &str, pointer: *const T, elements: usize) -> Result<Self, Failure> {
        check_values(name, pointer, elements)?;
        Ok(Self { pointer, elements })
    }

    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Where it lies.
    pub fn addresses(&self) -> Range<usize> {
        self.pointer.addr()..self.pointer.addr() + self.elements * size_of::<T>()
    }

    /// A copy, if there is memory for it.
    pub fn to_vec(&self) -> Result<Vec<T>, NotEnoughMemory> {
        self.to_vec_in(Vec::new())
    }

    /// The same where other values were, if there is room for it.
    pub fn to_vec_in(&self, mut values: Vec<T>) -> Result<Vec<T>, NotEnoughMemory> {
        values.clear();
        if values.capacity() < self.elements {
            drop(values);
            values = memory::room("a copy of the values that were given", self.elements, "give fewer at a time")?;
        }
        if self.elements > 0 {
            // SAFETY: as many values can be read (`new`), and there is room for them; `values` is ours. Then all of them are there.
            unsafe {
                values.as_mut_ptr().copy_from(self.pointer, self.elements);
                values.set_len(self.elements);
            }
        }
        Ok(values)
    }

    /// Writes a copy over `values`. Another number of them is a bug of ours.
    pub fn copy_over(&self, values: &mut [T]) {
        assert_eq!(values.len(), self.elements, "as many values as were given");
        if self.elements > 0 {
            // SAFETY: as many values can be read (`new`) and written; the caller may have given memory of a bucket's, so that the two
            // may overlap.
            unsafe { values.as_mut_ptr().copy_from(self.pointer, self.elements) };
        }
    }
}

/// Whether there can be so many values.
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

/// Where a result is to go, now or later, from any thread.
#[derive(Debug)]
pub struct Output<T> {
    pub(super) pointer: *mut T,
    pub(super) elements: usize,
}

// SAFETY: an address and a length; the caller has promised that this library may write there until the call, or the request, is done.
unsafe impl<T: Plain> Send for Output<T> {}

impl<T: Plain> Output<T> {
    /// # Safety
    /// NULL, or `elements` values can be written there, and nobody else reads or writes them, until this is dropped.
    pub unsafe fn new(name: &str, pointer: *mut T, elements: usize) -> Result<Self, Failure> {
        check_values(name, pointer, elements)?;
        Ok(Self { pointer, elements })
    }

    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Where it lies.
    pub fn addresses(&self) -> Range<usize> {
        self.pointer.addr()..self.pointer.addr() + self.elements * size_of::<T>()
    }

    /// Whether it shares memory with these values.
    pub fn overlaps(&self, values: &[T]) -> bool {
        let (of_it, of_them) = (self.pointer.addr(), values.as_ptr().addr());
        of_it < of_them + size_of_val(values) && of_them < of_it + self.elements * size_of::<T>()
    }

    /// Writes all of it. Values of another number are a bug of ours.
    pub fn write(&mut self, values: &[T]) {
        assert_eq!(values.len(), self.elements, "a result has as many values as there is room for");
        self.write_first(values);
    }

    /// Writes its first values; more than there is room for are a bug of ours.
    pub fn write_first(&mut self, values: &[T]) {
        assert!(values.len() <= self.elements, "there is room for a result");
        if !values.is_empty() {
            // SAFETY: there is room for as many values (`new`); the caller may have given memory of a bucket's, so that the
            // two may overlap.
            unsafe { values.as_ptr().copy_to(self.pointer, values.len()) };
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
        // SAFETY: four values are there; of more none is read, since there is no room for them.
        let input = |elements| unsafe { Input::new("input", values.as_ptr(), elements) }.unwrap();
        assert_eq!(input(4).to_vec(), Ok(vec![1.0; 4]));
        assert_eq!(input(3).to_vec_in(vec![2.0; 9]), Ok(vec![1.0; 3]));
        let refused = input(1 << 60).to_vec().unwrap_err();
        assert_eq!(refused.needed, 1 << 62);
        assert!(refused.to_string().starts_with("a copy of the values that were given needs "), "{refused}");
        assert!(input(1 << 60).to_vec_in(vec![2.0; 9]).is_err());
    }
}
