//! Exact calls over TCP.

use std::ffi::{c_int, c_void};

use optireduce::{ElementType, Typed};

use super::check_elements;
use super::comm::of;
use crate::config::{element_type, exact_op};
use crate::guard::guard;
use crate::raw::{self, Input, Output, check_alignment};
use crate::status::Failure;
use crate::types::optr_status_t::OPTR_MISMATCH;
use crate::types::{optr_comm_t, optr_request_t, optr_status_t};

/// Waits until all ranks have called it. Collective.
///
/// Threads: any, one at a time per communicator; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_barrier(comm: optr_comm_t, request: *mut optr_request_t) -> optr_status_t {
    guard("optr_barrier", || {
        // SAFETY: the pointer is NULL or valid.
        let request = unsafe { raw::request(request) }?;
        of(comm)?.call(request, |communicator| communicator.barrier(), Ok)
    })
}

/// Reduces values of any type exactly over TCP, with the same bits on all ranks. Waits for the
/// slowest rank. Collective.
///
/// type_ is an optr_type_t, and op an optr_op_t. Integers wrap. A NaN of any rank stays in minimum
/// and maximum. Floating-point values are folded in the order of ranks.
///
/// Threads: any, one at a time per communicator; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_exact_all_reduce(
    comm: optr_comm_t,
    input: *const c_void,
    output: *mut c_void,
    elements: usize,
    type_: u32,
    op: u32,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_exact_all_reduce", || {
        let (element, op) = (element_type(type_)?, exact_op("op", op)?);
        // SAFETY: the pointers are NULL or valid, `output` until the request is done.
        let (request, data, output) = unsafe {
            let (request, output) = (raw::request(request)?, values_to("output", output, elements, element)?);
            (request, values_of("input", input, elements, element)?, output)
        };
        of(comm)?.call(request, |communicator| communicator.exact().all_reduce(data, op), to(output))
    })
}

/// As optr_exact_all_reduce(), for this rank's shard of the result (optr_comm_shard()). Collective.
///
/// Threads: any, one at a time per communicator; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_exact_reduce_scatter(
    comm: optr_comm_t,
    input: *const c_void,
    elements: usize,
    output: *mut c_void,
    output_elements: usize,
    type_: u32,
    op: u32,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_exact_reduce_scatter", || {
        let (element, op) = (element_type(type_)?, exact_op("op", op)?);
        // SAFETY: the pointers are NULL or valid, `output` until the request is done.
        let (request, data, output) = unsafe {
            let (request, output) = (raw::request(request)?, values_to("output", output, output_elements, element)?);
            (request, values_of("input", input, elements, element)?, output)
        };
        let comm = of(comm)?;
        check_elements("output_elements", output_elements, comm.shard_range(elements).len())?;
        comm.call(request, |communicator| communicator.exact().reduce_scatter(data, op), to(output))
    })
}

/// Copies the root's values to all ranks, over TCP. Use it for weights and other data that must be
/// complete. data is an input at the root, and an output on the others. type_ is an optr_type_t.
/// Collective.
///
/// Threads: any, one at a time per communicator; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_exact_broadcast(
    comm: optr_comm_t,
    root: c_int,
    data: *mut c_void,
    elements: usize,
    type_: u32,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_exact_broadcast", || {
        let element = element_type(type_)?;
        // SAFETY: the pointers are NULL or valid until the request is done.
        let (request, given, output) = unsafe {
            let (request, output) = (raw::request(request)?, values_to("data", data, elements, element)?);
            (request, values_of("data", data, elements, element)?, output)
        };
        of(comm)?.call(request, |communicator| communicator.exact().broadcast(rank_of(root), given), to(output))
    })
}

/// Gathers the bytes of all ranks, by rank, over TCP. Excluded ranks (optr_config_t.skip_gone) have
/// zeros. output has room for bytes of each rank. Collective.
///
/// Threads: any, one at a time per communicator; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_exact_all_gather(
    comm: optr_comm_t,
    input: *const c_void,
    bytes: usize,
    output: *mut c_void,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_exact_all_gather", || {
        // SAFETY: the pointers are NULL or valid, `output` until the request is done.
        let (request, given) = unsafe { (raw::request(request)?, bytes_of("input", input, bytes)?) };
        let comm = of(comm)?;
        // SAFETY: as above.
        let output = unsafe { parts_to(output, bytes, comm.world_size()) }?;
        comm.call(
            request,
            |communicator| communicator.exact().all_gather(given),
            move |parts| write(output, bytes, &parts),
        )
    })
}

/// As optr_exact_all_gather(), at the root only. The other ranks ignore output. OPTR_MISMATCH at
/// the root if a rank passes another number of bytes. Collective.
///
/// Threads: any, one at a time per communicator; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_exact_gather(
    comm: optr_comm_t,
    root: c_int,
    input: *const c_void,
    bytes: usize,
    output: *mut c_void,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_exact_gather", || {
        // SAFETY: the pointers are NULL or valid, `output` until the request is done.
        let (request, given) = unsafe { (raw::request(request)?, bytes_of("input", input, bytes)?) };
        let (comm, root) = (of(comm)?, rank_of(root));
        let ranks = if comm.rank() == root { comm.world_size() } else { 0 };
        // SAFETY: as above; other ranks need no room.
        let output = unsafe { parts_to(output, bytes, ranks) }?;
        comm.call(
            request,
            |communicator| communicator.exact().gather(root, given),
            // No parts except at the root.
            move |parts| write(output, bytes, &parts),
        )
    })
}

/// Sends each rank its part of the root's bytes, over TCP. input has bytes for each rank, by rank;
/// the other ranks ignore it. OPTR_MISMATCH on a rank that passes another number of bytes than the
/// root. Collective.
///
/// Threads: any, one at a time per communicator; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_exact_scatter(
    comm: optr_comm_t,
    root: c_int,
    input: *const c_void,
    output: *mut c_void,
    bytes: usize,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_exact_scatter", || {
        // SAFETY: the pointers are NULL or valid, `output` until the request is done.
        let (request, output) = unsafe { (raw::request(request)?, parts_to(output, bytes, 1)?) };
        let (comm, root) = (of(comm)?, rank_of(root));
        let ranks = if comm.rank() == root { comm.world_size() } else { 0 };
        // SAFETY: as above; other ranks pass nothing.
        let parts = unsafe { parts_of(input, bytes, ranks) }?;
        comm.call(
            request,
            |communicator| communicator.exact().scatter(root, parts),
            move |part| {
                if part.len() != bytes {
                    let found = part.len();
                    let text = format!("the ranks differ: bytes is {found} on rank {root}, but {bytes} on this rank");
                    return Err(Failure::new(OPTR_MISMATCH, text));
                }
                write(output, bytes, &[Some(part)])
            },
        )
    })
}

/// Sends each rank a part, and gathers the parts received, over TCP. input and output have bytes
/// for each rank, by rank. Excluded ranks (optr_config_t.skip_gone) have zeros. Collective.
///
/// Threads: any, one at a time per communicator; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_exact_all_to_all(
    comm: optr_comm_t,
    input: *const c_void,
    bytes: usize,
    output: *mut c_void,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_exact_all_to_all", || {
        // SAFETY: the pointers are NULL or valid, `output` until the request is done.
        let request = unsafe { raw::request(request) }?;
        let comm = of(comm)?;
        // SAFETY: as above.
        let (given, output) =
            unsafe { (parts_of(input, bytes, comm.world_size())?, parts_to(output, bytes, comm.world_size())?) };
        comm.call(
            request,
            |communicator| communicator.exact().all_to_all(given),
            move |parts| write(output, bytes, &parts),
        )
    })
}

/// Converts an invalid root to a rank that all ranks reject, so that they stay in step.
fn rank_of(root: c_int) -> usize {
    usize::try_from(root).unwrap_or(usize::MAX)
}

fn size_of(elements: usize, element: ElementType) -> Result<usize, Failure> {
    let bytes = elements.saturating_mul(element.bytes());
    raw::check_elements::<u8>(bytes).map(|()| bytes)
}

/// # Safety
/// As [`Input::new`].
unsafe fn values_of(name: &str, input: *const c_void, elements: usize, element: ElementType) -> Result<Typed, Failure> {
    check_alignment(name, input, element.bytes())?;
    // SAFETY: as this function.
    Ok(Typed { element, bytes: unsafe { bytes_of(name, input, size_of(elements, element)?) }? })
}

/// # Safety
/// As [`Output::new`].
unsafe fn values_to(
    name: &str,
    output: *mut c_void,
    elements: usize,
    element: ElementType,
) -> Result<Output<u8>, Failure> {
    check_alignment(name, output, element.bytes())?;
    // SAFETY: as this function.
    unsafe { Output::new(name, output.cast(), size_of(elements, element)?) }
}

fn to(mut output: Output<u8>) -> impl FnOnce(Typed) -> Result<(), Failure> + Send {
    move |values| {
        output.write(&values.bytes);
        Ok(())
    }
}

/// # Safety
/// As [`Input::new`].
unsafe fn bytes_of(name: &str, input: *const c_void, bytes: usize) -> Result<Vec<u8>, Failure> {
    // SAFETY: as this function.
    Ok(unsafe { Input::<u8>::new(name, input.cast(), bytes) }?.to_vec()?)
}

/// # Safety
/// As [`Input::new`], for a part of each rank.
unsafe fn parts_of(input: *const c_void, bytes: usize, ranks: usize) -> Result<Vec<Vec<u8>>, Failure> {
    // SAFETY: as this function.
    let all = unsafe { bytes_of("input", input, bytes.saturating_mul(ranks)) }?;
    Ok((0..ranks).map(|rank| all[rank * bytes..][..bytes].to_vec()).collect())
}

/// # Safety
/// As [`Output::new`], for a part of each rank.
unsafe fn parts_to(output: *mut c_void, bytes: usize, ranks: usize) -> Result<Output<u8>, Failure> {
    // SAFETY: as this function.
    unsafe { Output::new("output", output.cast(), bytes.saturating_mul(ranks)) }
}

/// Writes the parts of all ranks, zeros for missing ones. All must have the same length.
fn write(mut output: Output<u8>, bytes: usize, parts: &[Option<Vec<u8>>]) -> Result<(), Failure> {
    let mut given = parts.iter().enumerate().filter_map(|(rank, part)| Some((rank, part.as_ref()?.len())));
    if let Some((first, expected)) = given.next()
        && let Some((rank, found)) = given.find(|(_, found)| *found != expected)
    {
        let text = format!(
            "the ranks differ: bytes is {found} on rank {rank}, but {expected} on rank {first}; all ranks must pass the same number"
        );
        return Err(Failure::new(OPTR_MISMATCH, text));
    }
    if parts.iter().any(Option::is_none) {
        output.fill(0);
    }
    for (rank, part) in parts.iter().enumerate() {
        output.write_at(rank * bytes, part.as_deref().unwrap_or_default());
    }
    Ok(())
}
