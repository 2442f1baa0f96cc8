//! Requests: operations in progress.

use std::ffi::c_void;
use std::ptr::null_mut;

use super::duration;
use crate::guard::guard;
use crate::raw::{Callback, Place};
use crate::registry;
use crate::request::Request;
use crate::status::Failure;
use crate::types::optr_status_t::OPTR_PENDING;
use crate::types::{OPTR_NO_TIMEOUT, optr_callback_t, optr_request_t, optr_status_t};

/// Waits until a request is done, at most timeout_us; 0 only tests. If it is done, outputs and
/// report are written, *request is NULL, and the status is the result of the call. OPTR_PENDING if
/// it is not done.
///
/// Threads: any, one at a time per request; blocks unless timeout_us is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_request_wait(request: *mut optr_request_t, timeout_us: u64) -> optr_status_t {
    guard("optr_request_wait", || {
        let timeout = (timeout_us != OPTR_NO_TIMEOUT).then(|| duration(timeout_us));
        // SAFETY: as `taken` requires.
        unsafe { taken(request, |request| request.wait(timeout)?.ok_or_else(|| pending(timeout_us))) }?
    })
}

fn pending(timeout_us: u64) -> Failure {
    let text = format!("the request was not done within {timeout_us} us and continues; wait for it again");
    Failure::new(OPTR_PENDING, text)
}

/// Registers a function that is called with context once the request is done, also if it fails.
/// *request becomes NULL.
///
/// Threads: any, one at a time per request; does not block. The functions of a communicator are
/// called one after the other, on a thread of their own. See optr_callback_t for permitted calls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_request_on_done(
    request: *mut optr_request_t,
    callback: optr_callback_t,
    context: *mut c_void,
) -> optr_status_t {
    guard("optr_request_on_done", || {
        // SAFETY: NULL or a function, valid on any thread with the context.
        let callback = unsafe { Callback::new(callback, context) };
        // SAFETY: as `taken` requires.
        unsafe { taken(request, |request| request.on_done(callback?)) }
    })
}

/// Gives up a request, and sets it to NULL. Its operation continues, but its outputs are not
/// written. A message that is not in transit is withdrawn. A collective keeps memory from
/// optr_alloc() until it is done.
///
/// Threads: any, one at a time per request; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_request_free(request: *mut optr_request_t) -> optr_status_t {
    guard("optr_request_free", || {
        // SAFETY: as `taken` requires.
        unsafe { taken(request, Request::give_up) }
    })
}

/// Sets a request to NULL if `take` succeeds.
///
/// # Safety
/// NULL, or readable and writable.
unsafe fn taken<T>(
    request: *mut optr_request_t,
    take: impl FnOnce(&Request) -> Result<T, Failure>,
) -> Result<T, Failure> {
    // SAFETY: as this function.
    let mut place = unsafe { Place::new("request", request) }?;
    let handle = place.get();
    let taken = take(&*registry::find::<Request>("*request", handle)?)?;
    // The handle is already gone if the communicator was destroyed meanwhile.
    let _ = registry::remove::<Request>("*request", handle);
    place.set(null_mut());
    Ok(taken)
}
