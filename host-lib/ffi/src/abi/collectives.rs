//! Calls of a communicator that need no bucket.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use optireduce::{Communicator, UpdateAction, memory};

use super::comm::of;
use super::{begin, check_elements, write};
use crate::comm::Comm;
use crate::guard::guard;
use crate::raw::{Input, Output, Place, ReportPlace};
use crate::status::Failure;
use crate::types::optr_status_t::OPTR_MISMATCH;
use crate::types::{optr_comm_t, optr_report_t, optr_request_t, optr_status_t};

/// Waits until all ranks are here. Collective.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub extern "C" fn optr_barrier(comm: optr_comm_t) -> optr_status_t {
    guard("optr_barrier", || of(comm)?.call(|communicator| communicator.start_barrier()))
}

/// Begins what optr_barrier() does, and returns at once. Calls of a communicator that have begun are made one after the
/// other. Collective.
///
/// Threads: any, one at a time per communicator; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_start_barrier(comm: optr_comm_t, request: *mut optr_request_t) -> optr_status_t {
    guard("optr_start_barrier", || {
        // SAFETY: the caller's: NULL or room for a handle.
        let mut place = unsafe { Place::new("request", request) }?;
        place.set(null_mut());
        begin(of(comm)?, place, |communicator| communicator.start_barrier(), Comm::failed, Ok)
    })
}

/// Hands the root's bytes to all ranks, whole: over TCP, for weights and whatever else must be the same everywhere. All ranks give as
/// many. After an error data is as it was. Collective.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_broadcast(
    comm: optr_comm_t,
    root: c_int,
    data: *mut c_void,
    bytes: usize,
) -> optr_status_t {
    guard("optr_broadcast", || {
        // SAFETY: the caller's: NULL or as many bytes, which are copied before anything is written.
        let (given, mut output) = unsafe { in_place(data, bytes) }?;
        output.write(&of(comm)?.call(|communicator| communicator.start_broadcast_bytes(rank_of(root), given))?);
        Ok(())
    })
}

/// Begins what optr_broadcast() does, and returns at once. data must stay valid, and be left alone, until the request is
/// done. Collective.
///
/// Threads: any, one at a time per communicator; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_start_broadcast(
    comm: optr_comm_t,
    root: c_int,
    data: *mut c_void,
    bytes: usize,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_start_broadcast", || {
        // SAFETY: the caller's: NULL or room for a handle; NULL or as many bytes, until the request is done.
        let (mut place, (given, mut output)) = unsafe { (Place::new("request", request)?, in_place(data, bytes)?) };
        place.set(null_mut());
        let start = |communicator: &mut Communicator| communicator.start_broadcast_bytes(rank_of(root), given);
        begin(of(comm)?, place, start, Comm::failed, move |bytes| {
            output.write(&bytes);
            Ok(())
        })
    })
}

/// # Safety
/// As [`Input::new`] and [`Output::new`].
unsafe fn in_place(data: *mut c_void, bytes: usize) -> Result<(Vec<u8>, Output<u8>), Failure> {
    // SAFETY: as this function.
    unsafe { Ok((Input::<u8>::new("data", data.cast(), bytes)?.to_vec()?, Output::new("data", data.cast(), bytes)?)) }
}

/// What is no rank is told to all, as any other difference.
fn rank_of(root: c_int) -> usize {
    usize::try_from(root).unwrap_or(usize::MAX)
}

/// Hands every rank's bytes to every rank, whole: over TCP. output: room for as many from each rank, in the order of ranks.
/// OPTR_MISMATCH on all ranks if they do not give as many. Collective.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_all_gather_bytes(
    comm: optr_comm_t,
    input: *const c_void,
    bytes: usize,
    output: *mut c_void,
) -> optr_status_t {
    guard("optr_all_gather_bytes", || {
        let comm = of(comm)?;
        let whole = bytes.saturating_mul(comm.world_size());
        // SAFETY: the caller's: NULL or as many bytes; NULL or room for so many of each rank. `input` is copied before
        // anything is written.
        let (given, mut output) = unsafe {
            let input = Input::<u8>::new("input", input.cast(), bytes)?;
            (input.to_vec()?, Output::<u8>::new("output", output.cast(), whole)?)
        };
        let parts = comm.call(|communicator| communicator.start_all_gather_of_present(given))?;
        check_as_many(&parts)?;
        let mut all = memory::room("what all ranks gave", whole, "give fewer bytes at a time")?;
        for part in &parts {
            let end = all.len() + bytes;
            all.extend_from_slice(part.as_deref().unwrap_or_default());
            // Those that are left out have given nothing.
            all.resize(end, 0);
        }
        output.write(&all);
        Ok(())
    })
}

/// That all ranks have given as many bytes, but those that are left out. All see the same.
fn check_as_many(parts: &[Option<Vec<u8>>]) -> Result<(), Failure> {
    let mut given = parts.iter().enumerate().filter_map(|(rank, part)| Some((rank, part.as_ref()?.len())));
    let Some((first, expected)) = given.next() else { return Ok(()) };
    given.find(|(_, found)| *found != expected).map_or(Ok(()), |(rank, found)| {
        let text = format!(
            "the ranks differ: bytes is {found} on rank {rank}, but {expected} on rank {first}; all ranks must give as many"
        );
        Err(Failure::new(OPTR_MISMATCH, text))
    })
}

/// Averages values over all ranks, once; the ranks compare their calls before. For what is averaged again and again, create a
/// bucket, which costs less. input and output may be the same, or overlap. If report->action is not OPTR_APPLY, and after an
/// error, output is as it was. Collective.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_all_reduce(
    comm: optr_comm_t,
    input: *const f32,
    output: *mut f32,
    elements: usize,
    report: *mut optr_report_t,
) -> optr_status_t {
    guard("optr_all_reduce", || {
        // SAFETY: the caller's: NULL or as many values each; NULL or a report. `input` is copied before anything is written.
        let (values, mut output, mut place) = unsafe {
            let report = ReportPlace::new(report)?;
            (Input::new("input", input, elements)?.to_vec()?, Output::new("output", output, elements)?, report)
        };
        let (mean, done) = of(comm)?.call(|communicator| communicator.start_all_reduce(values))?;
        if done.action() == UpdateAction::Apply {
            output.write(&mean);
        }
        write(&mut place, &done);
        Ok(())
    })
}

/// Averages values over all ranks, once, and writes this rank's shard of the mean: output_elements is what optr_comm_shard()
/// says. input and output may overlap. If report->action is not OPTR_APPLY, and after an error, output is as it was.
/// Collective.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_reduce_scatter(
    comm: optr_comm_t,
    input: *const f32,
    elements: usize,
    output: *mut f32,
    output_elements: usize,
    report: *mut optr_report_t,
) -> optr_status_t {
    guard("optr_reduce_scatter", || {
        // SAFETY: the caller's: NULL or as many values each; NULL or a report. `input` is copied before anything is written.
        let (values, mut output, mut place) = unsafe {
            let report = ReportPlace::new(report)?;
            (Input::new("input", input, elements)?.to_vec()?, Output::new("output", output, output_elements)?, report)
        };
        let comm = of(comm)?;
        check_elements("output_elements", output_elements, comm.shard_range(elements).len())?;
        let (shard, done) = comm.call(|communicator| communicator.start_reduce_scatter(values))?;
        if done.action() == UpdateAction::Apply {
            output.write(&shard);
        }
        write(&mut place, &done);
        Ok(())
    })
}

/// Hands this rank's shard to all ranks, once, and writes the whole, of elements values: input_elements is what
/// optr_comm_shard() says of that. What did not come is zero: report->missing_elements. What must arrive whole goes by
/// optr_broadcast(). input may be a part of output. Collective.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_all_gather(
    comm: optr_comm_t,
    input: *const f32,
    input_elements: usize,
    output: *mut f32,
    elements: usize,
    report: *mut optr_report_t,
) -> optr_status_t {
    guard("optr_all_gather", || {
        // SAFETY: the caller's: NULL or as many values each; NULL or a report. `input` is copied before anything is written.
        let (shard, mut output, mut place) = unsafe {
            let report = ReportPlace::new(report)?;
            (Input::new("input", input, input_elements)?.to_vec()?, Output::new("output", output, elements)?, report)
        };
        let comm = of(comm)?;
        let (whole, done) = comm.call(|communicator| communicator.start_all_gather(elements, shard))?;
        output.write(&whole);
        write(&mut place, &done);
        Ok(())
    })
}
