//! The exported functions. Their docs are the docs of the header.
//!
//! Each function checks its arguments with `raw` and `registry`, makes one call, and writes the
//! results. `unsafe` code relies on the header: every pointer is NULL or valid.
#![allow(unsafe_code)]
// The header states the requirements of every argument.
#![allow(clippy::missing_safety_doc)]

pub mod bucket;
pub mod collectives;
pub mod comm;
pub mod exact;
pub mod library;
pub mod memory;
pub mod message;
pub mod partial;
pub mod request;

use std::sync::Arc;
use std::time::Duration;

use optireduce::{Communicator, ElementType, Error, Report};

use crate::comm::Comm;
use crate::raw::{self, Place, ReportPlace};
use crate::registry;
use crate::report;
use crate::request::{Request, report_of};
use crate::status::Failure;
use crate::types::optr_request_t;

// Values travel as their bytes in memory.
const _: () = assert!(cfg!(target_endian = "little"), "little-endian machines only");

/// Converts microseconds; limited to a day, which no wait exceeds.
fn duration(us: u64) -> Duration {
    Duration::from_micros(us).min(Duration::from_secs(24 * 60 * 60))
}

/// Starts an operation and writes its request handle. `failed` converts an error of the operation.
fn begin<T: Send + 'static>(
    comm: Arc<Comm>,
    mut place: Place<optr_request_t>,
    start: impl FnOnce(&mut Communicator) -> optireduce::Request<T>,
    failed: fn(&Comm, Error) -> Failure,
    end: impl FnOnce(T) -> Result<(), Failure> + Send + 'static,
) -> Result<(), Failure> {
    let begun = comm.begin(start)?;
    let of = comm.clone();
    let end = move |done: Result<T, Error>| end(done.map_err(|error| failed(&of, error))?).map(|()| None);
    place.set(comm::handle(registry::insert(Arc::new(Request::new(comm, begun, false, end)))));
    Ok(())
}

fn write(place: &mut ReportPlace, done: &Report) {
    let (report, peers) = report::for_c(done);
    place.write(&report, &peers);
}

/// Writes the report of a collective, halted or not.
fn end(place: &mut ReportPlace, done: Result<Report, Failure>) -> Result<(), Failure> {
    let done = done.map(Some);
    report_of(&done).into_iter().for_each(|report| write(place, report));
    done.map(drop)
}

/// Checks a length that other ranks do not depend on.
fn check_elements(name: &str, found: usize, expected: usize) -> Result<(), Failure> {
    if found == expected { Ok(()) } else { Err(Failure::argument(name, found, expected)) }
}

fn bytes_of(elements: usize, element: ElementType) -> Result<usize, Failure> {
    let bytes = elements.saturating_mul(element.bytes());
    raw::check_elements::<u8>(bytes).map(|()| bytes)
}
