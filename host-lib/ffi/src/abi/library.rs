//! Version and errors of the library.

use std::ffi::c_char;

use crate::status;
use crate::types::OPTR_VERSION;

/// Returns the version of the library: 10000 * major + 100 * minor + patch. OPTR_VERSION is the
/// version of the header.
///
/// Threads: any, at any time; does not block.
#[unsafe(no_mangle)]
pub extern "C" fn optr_version() -> u32 {
    OPTR_VERSION
}

/// Returns the text of the last failure on this thread, or "": function, value found, value
/// expected, and remedy. Valid until the next failure on this thread, or its end.
///
/// Threads: any, at any time; does not block.
#[unsafe(no_mangle)]
pub extern "C" fn optr_last_error() -> *const c_char {
    status::last_error()
}

/// Returns the name of a status, such as "OPTR_SUCCESS". The string is static.
///
/// Threads: any, at any time; does not block.
#[unsafe(no_mangle)]
pub extern "C" fn optr_status_name(status: i32) -> *const c_char {
    status::name(status).as_ptr()
}
