//! The exported functions. Their docs are the docs of the header.
//!
//! Each function checks its arguments with `raw` and `registry`, makes one call, and writes the
//! results. `unsafe` code relies on the header: every pointer is NULL or valid.
#![allow(unsafe_code)]
// The header states the requirements of every argument.
#![allow(clippy::missing_safety_doc)]

pub mod bucket;
pub mod comm;
pub mod exact;
pub mod library;
pub mod memory;
pub mod message;
pub mod partial;
pub mod request;

use std::time::Duration;

use crate::status::Failure;

// Values travel as their bytes in memory.
const _: () = assert!(cfg!(target_endian = "little"), "little-endian machines only");

/// Converts microseconds; limited to a day, which no wait exceeds.
fn duration(us: u64) -> Duration {
    Duration::from_micros(us).min(Duration::from_secs(24 * 60 * 60))
}

/// Checks a length that other ranks do not depend on.
fn check_elements(name: &str, found: usize, expected: usize) -> Result<(), Failure> {
    if found == expected { Ok(()) } else { Err(Failure::argument(name, found, expected)) }
}
