//! Collectives of a communicator, without a bucket.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use optireduce::{Communicator, memory};

use super::begin;
use super::comm::of;
use crate::comm::Comm;
use crate::guard::guard;
use crate::raw::{Input, Output, Place};
use crate::status::Failure;
use crate::types::optr_status_t::OPTR_MISMATCH;
use crate::types::{optr_comm_t, optr_request_t, optr_status_t};

/// Waits until all ranks have called it. Collective.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub extern "C" fn optr_barrier(comm: optr_comm_t) -> optr_status_t {
    guard("optr_barrier", || of(comm)?.call(|communicator| communicator.barrier()))
}

/// Starts optr_barrier(). Collective.
///
/// Threads: any, one at a time per communicator; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_start_barrier(comm: optr_comm_t, request: *mut optr_request_t) -> optr_status_t {
    guard("optr_start_barrier", || {
        // SAFETY: the pointer is NULL or valid.
        let mut place = unsafe { Place::new("request", request) }?;
        place.set(null_mut());
        begin(of(comm)?, place, |communicator| communicator.barrier(), Comm::failed, Ok)
    })
}

/// Copies the root's bytes to all ranks, over TCP, for weights and other data that must be
/// complete. Collective.
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
        // SAFETY: the pointer is NULL or valid. The bytes are copied before any write.
        let (given, mut output) = unsafe { in_place(data, bytes) }?;
        output.write(&of(comm)?.call(|communicator| communicator.exact().broadcast(rank_of(root), given))?);
        Ok(())
    })
}

/// Starts optr_broadcast(). data is an output on all ranks. Collective.
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
        // SAFETY: the pointers are NULL or valid until the request is done.
        let (mut place, (given, mut output)) = unsafe { (Place::new("request", request)?, in_place(data, bytes)?) };
        place.set(null_mut());
        let start = |communicator: &mut Communicator| communicator.exact().broadcast(rank_of(root), given);
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

/// Converts an invalid root to a rank that all ranks reject, so that they stay in step.
fn rank_of(root: c_int) -> usize {
    usize::try_from(root).unwrap_or(usize::MAX)
}

/// Gathers the bytes of all ranks, in rank order, over TCP. Excluded ranks
/// (optr_config_t.skip_gone) have zeros. Collective.
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
        // SAFETY: the pointers are NULL or valid. `input` is copied before any write.
        let (given, mut output) = unsafe {
            let input = Input::<u8>::new("input", input.cast(), bytes)?;
            (input.to_vec()?, Output::<u8>::new("output", output.cast(), whole)?)
        };
        let parts = comm.call(|communicator| communicator.exact().all_gather(given))?;
        check_as_many(&parts)?;
        let mut all = memory::room("the bytes of all ranks", whole, "pass fewer bytes at a time")?;
        for part in &parts {
            let end = all.len() + bytes;
            all.extend_from_slice(part.as_deref().unwrap_or_default());
            all.resize(end, 0);
        }
        output.write(&all);
        Ok(())
    })
}

/// Checks that all parts have the same length, with the same result on all ranks.
fn check_as_many(parts: &[Option<Vec<u8>>]) -> Result<(), Failure> {
    let mut given = parts.iter().enumerate().filter_map(|(rank, part)| Some((rank, part.as_ref()?.len())));
    let Some((first, expected)) = given.next() else { return Ok(()) };
    given.find(|(_, found)| *found != expected).map_or(Ok(()), |(rank, found)| {
        let text = format!(
            "the ranks differ: bytes is {found} on rank {rank}, but {expected} on rank {first}; all ranks must pass the same number"
        );
        Err(Failure::new(OPTR_MISMATCH, text))
    })
}
