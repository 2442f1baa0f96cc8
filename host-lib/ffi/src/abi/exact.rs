//! Exact reductions over TCP.

use std::ffi::c_void;
use std::ptr::null_mut;

use optireduce::{Communicator, ElementType, ExactOp, Typed};

use super::comm::of;
use super::{begin, bytes_of, check_elements};
use crate::comm::Comm;
use crate::config::{element_type, exact_op};
use crate::guard::guard;
use crate::raw::{Input, Output, Place, check_alignment};
use crate::status::Failure;
use crate::types::{optr_comm_t, optr_request_t, optr_status_t};

/// Reduces values of any type exactly over TCP, with the same bits on all ranks. Waits for the
/// slowest rank. Collective.
///
/// type_ is an optr_type_t, and op an optr_op_t. Integers wrap. A NaN of any rank stays in minimum
/// and maximum. Floating-point values are folded in the order of ranks.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_all_reduce_exact(
    comm: optr_comm_t,
    input: *const c_void,
    output: *mut c_void,
    elements: usize,
    type_: u32,
    op: u32,
) -> optr_status_t {
    guard("optr_all_reduce_exact", || {
        let (element, op, [bytes, _]) = check(type_, op, input, output, [elements; 2])?;
        // SAFETY: the pointers are NULL or valid. `input` is copied before any write.
        let (values, mut output) = unsafe {
            let input = Input::<u8>::new("input", input.cast(), bytes)?;
            (input.to_vec()?, Output::<u8>::new("output", output.cast(), bytes)?)
        };
        let values = Typed { element, bytes: values };
        output.write(&of(comm)?.call(|communicator| communicator.exact().all_reduce(values, op))?.bytes);
        Ok(())
    })
}

/// Starts optr_all_reduce_exact(). Collective.
///
/// Threads: any, one at a time per communicator; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_start_all_reduce_exact(
    comm: optr_comm_t,
    input: *const c_void,
    output: *mut c_void,
    elements: usize,
    type_: u32,
    op: u32,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_start_all_reduce_exact", || {
        let (element, op, [bytes, _]) = check(type_, op, input, output, [elements; 2])?;
        // SAFETY: the pointers are NULL or valid, `output` until the request is done.
        let (mut place, values, mut output) = unsafe {
            let place = Place::new("request", request)?;
            let input = Input::<u8>::new("input", input.cast(), bytes)?;
            (place, input.to_vec()?, Output::<u8>::new("output", output.cast(), bytes)?)
        };
        place.set(null_mut());
        let values = Typed { element, bytes: values };
        let start = |communicator: &mut Communicator| communicator.exact().all_reduce(values, op);
        begin(of(comm)?, place, start, Comm::failed, move |reduced| {
            output.write(&reduced.bytes);
            Ok(())
        })
    })
}

/// As optr_all_reduce_exact(), for this rank's shard of the result (optr_comm_shard()). Collective.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_reduce_scatter_exact(
    comm: optr_comm_t,
    input: *const c_void,
    elements: usize,
    output: *mut c_void,
    output_elements: usize,
    type_: u32,
    op: u32,
) -> optr_status_t {
    guard("optr_reduce_scatter_exact", || {
        let (element, op, [bytes, output_bytes]) = check(type_, op, input, output, [elements, output_elements])?;
        // SAFETY: the pointers are NULL or valid. `input` is copied before any write.
        let (values, mut output) = unsafe {
            let input = Input::<u8>::new("input", input.cast(), bytes)?;
            (input.to_vec()?, Output::<u8>::new("output", output.cast(), output_bytes)?)
        };
        let comm = of(comm)?;
        check_elements("output_elements", output_elements, comm.shard_range(elements).len())?;
        let values = Typed { element, bytes: values };
        output.write(&comm.call(|communicator| communicator.exact().reduce_scatter(values, op))?.bytes);
        Ok(())
    })
}

/// Returns the element type, the operation, and the lengths of input and output in bytes.
fn check(
    type_: u32,
    op: u32,
    input: *const c_void,
    output: *mut c_void,
    elements: [usize; 2],
) -> Result<(ElementType, ExactOp, [usize; 2]), Failure> {
    let (element, op) = (element_type(type_)?, exact_op("op", op)?);
    let bytes = [bytes_of(elements[0], element)?, bytes_of(elements[1], element)?];
    check_alignment("input", input, element.bytes())?;
    check_alignment("output", output, element.bytes())?;
    Ok((element, op, bytes))
}
