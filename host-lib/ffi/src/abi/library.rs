//! Of the library: versions and errors.

use std::ffi::c_char;

use crate::status;
use crate::types::OPTR_VERSION;

/// The version of the library: 10000 * major + 100 * minor + patch. OPTR_VERSION is that of the header.
///
/// Threads: any, at any time.
#[unsafe(no_mangle)]
pub extern "C" fn optr_version() -> u32 {
    OPTR_VERSION
}

/// The text of the last call on this thread that failed: the function, what was found, what was expected, what to do. "" if
/// none has. Valid until the next call on this thread that fails, or the thread's end.
///
/// Threads: any, at any time.
#[unsafe(no_mangle)]
pub extern "C" fn optr_last_error() -> *const c_char {
    status::last_error()
}

/// The name of a status, "OPTR_SUCCESS" for example. Valid for ever.
///
/// Threads: any, at any time.
#[unsafe(no_mangle)]
pub extern "C" fn optr_status_name(status: i32) -> *const c_char {
    status::name(status).as_ptr()
}
