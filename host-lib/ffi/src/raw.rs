//! The caller's pointers: checked, and turned into slices, texts, and places to write to.
//!
//! Why: all that a C caller can get wrong with a pointer, and that can be seen from here, is an error that names the
//! argument: NULL, a wrong alignment, a length that no memory has, a struct of a size that no version of it had, a text
//! without an end. What cannot be seen is the caller's to keep, and stands as `# Safety` at each constructor; whatever is
//! made by one is safe to use from then on.
#![allow(unsafe_code)]

mod callback;
mod memory;
mod structs;
mod values;

use std::ffi::{CStr, c_char, c_void};

use crate::status::Failure;
use crate::types::optr_unique_id_t;

pub use self::callback::{Callback, NotCancelled};
pub use self::memory::{InUse, Region};
pub use self::structs::{ReportPlace, no_report, sized};
pub use self::values::{Input, Output, check_elements};

/// Longest text that a caller may give.
const TEXT_BYTES_MAX: usize = 4096;

fn null(name: &str, expected: &str) -> Failure {
    Failure::argument(name, "NULL", expected)
}

fn check_aligned<T>(name: &str, pointer: *const T) -> Result<(), Failure> {
    if pointer.is_aligned() {
        return Ok(());
    }
    Err(Failure::argument(name, format_args!("at {pointer:p}"), format_args!("a multiple of {}", align_of::<T>())))
}

/// Checks that a pointer is aligned for values of so many bytes.
pub fn check_alignment(name: &str, pointer: *const c_void, bytes: usize) -> Result<(), Failure> {
    if pointer.addr().is_multiple_of(bytes) {
        return Ok(());
    }
    Err(Failure::argument(name, format_args!("at {pointer:p}"), format_args!("a multiple of {bytes}")))
}

/// A text that the caller gives; `None`: NULL.
///
/// # Safety
/// NULL, or a text that ends with a zero byte and stays as it is while it is used; or 4096 bytes can be read.
pub unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<Option<&'a str>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: read up to the zero byte, which the caller says is there, and no further than 4096 bytes.
    let end = (0..TEXT_BYTES_MAX).find(|at| unsafe { pointer.add(*at).read() } == 0);
    let Some(end) = end else {
        return Err(Failure::argument(name, "a text without an end", format_args!("less than {TEXT_BYTES_MAX} bytes")));
    };
    // SAFETY: `end` bytes and the zero byte behind them were just read.
    let bytes = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), end + 1) };
    let text = CStr::from_bytes_until_nul(bytes).unwrap_or_default().to_str();
    text.map(Some).map_err(|error| Failure::argument(name, "no UTF-8", error))
}

/// A place of the caller's for a value.
#[derive(Debug)]
pub struct Place<T>(*mut T);

// SAFETY: an address; the caller has promised that this library may write there until the call, or the request, is done.
unsafe impl<T: Copy + Send> Send for Place<T> {}

impl<T: Copy> Place<T> {
    /// # Safety
    /// NULL, or a `T` can be written there, and, for [`get`](Self::get), is there, until this is dropped.
    pub unsafe fn new(name: &str, pointer: *mut T) -> Result<Self, Failure> {
        if pointer.is_null() {
            return Err(null(name, "where to write the result"));
        }
        check_aligned(name, pointer)?;
        Ok(Self(pointer))
    }

    /// As [`new`](Self::new), for a place that need not be.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    pub unsafe fn optional(name: &str, pointer: *mut T) -> Result<Option<Self>, Failure> {
        // SAFETY: as this function.
        if pointer.is_null() { Ok(None) } else { unsafe { Self::new(name, pointer) }.map(Some) }
    }

    pub fn set(&mut self, value: T) {
        // SAFETY: not NULL, aligned, and a `T` can be written there (`new`).
        unsafe { self.0.write(value) };
    }

    pub fn get(&self) -> T {
        // SAFETY: not NULL, aligned, and a `T` is there (`new`).
        unsafe { self.0.read() }
    }
}

/// A unique id.
///
/// # Safety
/// NULL, or one can be read there.
pub unsafe fn unique_id(pointer: *const optr_unique_id_t) -> Result<optr_unique_id_t, Failure> {
    if pointer.is_null() {
        return Err(null("id", "what optr_get_unique_id wrote"));
    }
    // SAFETY: not NULL; bytes have no alignment; the caller's promise.
    Ok(unsafe { pointer.read() })
}
