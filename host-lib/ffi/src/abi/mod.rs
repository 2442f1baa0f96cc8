//! The exported functions. Their documentation is the header's.
//!
//! Each turns its arguments into what `raw` and `registry` have checked, calls one function, and writes what came of it.
//! `unsafe` here means only that: what the header says of a pointer is promised by the caller.
#![allow(unsafe_code)]
// The header says what is to be kept, for every argument.
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
use crate::handle::Handle;
use crate::raw::{self, Place, ReportPlace};
use crate::registry;
use crate::report;
use crate::request::Request;
use crate::status::Failure;
use crate::types::optr_request_t;

// Values of all types travel as they lie in memory.
const _: () = assert!(cfg!(target_endian = "little"), "little-endian machines only");

/// A time; nothing takes a day.
fn duration(us: u64) -> Duration {
    Duration::from_micros(us).min(Duration::from_secs(24 * 60 * 60))
}

/// Begins what goes on behind a handle, and writes the handle to where the caller wants it. `failed`: what an error means for the
/// communicator. `end`: what is done with what comes of it.
fn begin<H: Handle>(
    comm: Arc<Comm>,
    mut place: Place<optr_request_t>,
    start: impl FnOnce(&mut Communicator) -> H,
    failed: fn(&Comm, Error) -> Failure,
    end: impl FnOnce(H::Done) -> Result<(), Failure> + Send + 'static,
) -> Result<(), Failure> {
    let begun = comm.begin(start)?;
    let of = comm.clone();
    let end = move |done: Result<H::Done, Error>| end(done.map_err(|error| failed(&of, error))?).map(|()| None);
    place.set(comm::handle(registry::insert(Arc::new(Request::new(comm, begun, end)))));
    Ok(())
}

/// Writes a report to where the caller wants it.
fn write(place: &mut ReportPlace, done: &Report) {
    let (report, peers) = report::for_c(done);
    place.write(&report, &peers);
}

/// A number of elements that concerns this rank alone.
fn check_elements(name: &str, found: usize, expected: usize) -> Result<(), Failure> {
    if found == expected { Ok(()) } else { Err(Failure::argument(name, found, expected)) }
}

fn bytes_of(elements: usize, element: ElementType) -> Result<usize, Failure> {
    let bytes = elements.saturating_mul(element.bytes());
    raw::check_elements::<u8>(bytes).map(|()| bytes)
}
