//! The caller's pointers, checked and converted to slices, texts, and places for results.
//!
//! A detectable misuse is an error that names the argument: NULL, wrong alignment, an impossible
//! length, an unknown struct size, an unterminated text. The `# Safety` sections of the
//! constructors state the rest; the constructed objects are safe to use.
#![allow(unsafe_code)]

mod callback;
mod memory;
mod structs;
mod values;

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

use crate::config;
use crate::field::{Field, Given};
use crate::status::Failure;
use crate::types::{optr_request_t, optr_unique_id_t};

pub use self::callback::{Callback, NotCancelled};
pub use self::memory::{InUse, Region};
pub use self::structs::{ReportPlace, sized};
pub use self::values::{Input, Output, check_elements};

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

pub fn check_alignment(name: &str, pointer: *const c_void, bytes: usize) -> Result<(), Failure> {
    if pointer.addr().is_multiple_of(bytes) {
        return Ok(());
    }
    Err(Failure::argument(name, format_args!("at {pointer:p}"), format_args!("a multiple of {bytes}")))
}

/// Returns `None` for NULL.
///
/// # Safety
/// NULL, or a text that ends with a zero byte and does not change while it is used; or 4096
/// readable bytes.
pub unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<Option<&'a str>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: it reads up to the zero byte that the caller guarantees, and at most 4096 bytes.
    let end = (0..TEXT_BYTES_MAX).find(|at| unsafe { pointer.add(*at).read() } == 0);
    let Some(end) = end else {
        return Err(Failure::argument(name, "an unterminated text", format_args!("less than {TEXT_BYTES_MAX} bytes")));
    };
    // SAFETY: the loop has just read these bytes.
    let bytes = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), end + 1) };
    let text = CStr::from_bytes_until_nul(bytes).unwrap_or_default().to_str();
    text.map(Some).map_err(|error| Failure::argument(name, "not UTF-8", error))
}

/// Returns the fields that are not zero or NULL. `parent`: name of the struct.
///
/// # Safety
/// The texts are as for [`text`].
pub unsafe fn values<'a>(
    parent: &str,
    fields: Vec<(&'static str, Field<'_>)>,
) -> Result<Vec<(&'static str, Given<'a>)>, Failure> {
    let mut values = Vec::new();
    for (name, field) in fields {
        let value = match field {
            Field::Number(number) => Some(Given::Number(*number)).filter(|_| *number != 0.0),
            Field::Whole(number) => Some(Given::Whole(*number)).filter(|_| *number != 0),
            Field::Word(number) => Some(Given::Word(*number)).filter(|_| *number != 0),
            Field::Reserved(number) => {
                config::check_reserved(&format!("{parent}->{name}"), *number)?;
                None
            }
            // SAFETY: as this function.
            Field::Text(pointer) => unsafe { text(&format!("{parent}->{name}"), *pointer)? }.map(Given::Text),
        };
        values.extend(value.map(|value| (name, value)));
    }
    Ok(values)
}

/// Caller-owned place for a value.
#[derive(Debug)]
pub struct Place<T>(*mut T);

// SAFETY: the caller guarantees that this library may write there until the call or request is
// done. The value comes from the thread that writes it.
unsafe impl<T: Copy> Send for Place<T> {}

impl<T: Copy> Place<T> {
    /// # Safety
    /// NULL, or writable for a `T` until this is dropped. For [`get`](Self::get) it contains a `T`.
    pub unsafe fn new(name: &str, pointer: *mut T) -> Result<Self, Failure> {
        if pointer.is_null() {
            return Err(null(name, "an address to write to"));
        }
        check_aligned(name, pointer)?;
        Ok(Self(pointer))
    }

    /// Like [`new`](Self::new), but returns `None` for NULL.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    pub unsafe fn optional(name: &str, pointer: *mut T) -> Result<Option<Self>, Failure> {
        // SAFETY: as this function.
        if pointer.is_null() { Ok(None) } else { unsafe { Self::new(name, pointer) }.map(Some) }
    }

    pub fn set(&mut self, value: T) {
        // SAFETY: not NULL, aligned, and writable (`new`).
        unsafe { self.0.write(value) };
    }

    pub fn get(&self) -> T {
        // SAFETY: not NULL, aligned, and contains a `T` (`new`).
        unsafe { self.0.read() }
    }
}

/// Sets the place for a request to NULL. Returns `None` for NULL: the call blocks.
///
/// # Safety
/// As [`Place::new`].
pub unsafe fn request(pointer: *mut optr_request_t) -> Result<Option<Place<optr_request_t>>, Failure> {
    // SAFETY: as this function.
    let mut place = unsafe { Place::optional("request", pointer) }?;
    if let Some(place) = &mut place {
        place.set(null_mut());
    }
    Ok(place)
}

/// # Safety
/// NULL, or a readable id.
pub unsafe fn unique_id(pointer: *const optr_unique_id_t) -> Result<optr_unique_id_t, Failure> {
    if pointer.is_null() {
        return Err(null("id", "the id from optr_get_unique_id"));
    }
    // SAFETY: not NULL, readable, and bytes need no alignment.
    Ok(unsafe { pointer.read() })
}
