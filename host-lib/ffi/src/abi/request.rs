//! Requests: operations in progress.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::time::Duration;

use super::{duration, write};
use crate::guard::guard;
use crate::raw::{Callback, Place, ReportPlace, no_report};
use crate::registry;
use crate::request::{Request, report_of};
use crate::status::Failure;
use crate::types::optr_status_t::OPTR_TIMEOUT;
use crate::types::{OPTR_NO_TIMEOUT, optr_callback_t, optr_report_t, optr_request_t, optr_status_t};

/// Tests whether a request is done, and writes 1 or 0 to done. If it is done, output and report are
/// written, *request is NULL, and the status is the result of the operation. Only a collective of a
/// bucket requires a report.
///
/// Threads: any, one at a time per request; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_request_test(
    request: *mut optr_request_t,
    done: *mut c_int,
    report: *mut optr_report_t,
) -> optr_status_t {
    guard("optr_request_test", || {
        // SAFETY: the pointers are NULL or valid.
        let (request, mut done, report) =
            unsafe { (Place::new("request", request)?, Place::new("done", done)?, ReportPlace::optional(report)?) };
        done.set(0);
        let waited = wait(request, Some(Duration::ZERO), report);
        done.set(!matches!(&waited, Err(NotDone::Pending | NotDone::Invalid(_))) as c_int);
        match waited {
            Ok(()) | Err(NotDone::Pending) => Ok(()),
            Err(NotDone::Invalid(failure) | NotDone::Failed(failure)) => Err(failure),
        }
    })
}

/// Waits until a request is done, at most timeout_us, otherwise as optr_request_test().
/// OPTR_TIMEOUT if it is not done then.
///
/// Threads: any, one at a time per request; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_request_wait(
    request: *mut optr_request_t,
    timeout_us: u64,
    report: *mut optr_report_t,
) -> optr_status_t {
    guard("optr_request_wait", || {
        // SAFETY: the pointers are NULL or valid.
        let (request, report) = unsafe { (Place::new("request", request)?, ReportPlace::optional(report)?) };
        let timeout = (timeout_us != OPTR_NO_TIMEOUT).then(|| duration(timeout_us));
        wait(request, timeout, report).map_err(|not_done| match not_done {
            NotDone::Pending => {
                let text = format!("the request was not done within {timeout_us} us and continues; wait for it again");
                Failure::new(OPTR_TIMEOUT, text)
            }
            NotDone::Invalid(failure) | NotDone::Failed(failure) => failure,
        })
    })
}

enum NotDone {
    Pending,
    Invalid(Failure),
    Failed(Failure),
}

fn wait(
    mut place: Place<optr_request_t>,
    timeout: Option<Duration>,
    report: Option<ReportPlace>,
) -> Result<(), NotDone> {
    let handle = place.get().addr();
    let request = registry::find::<Request>("*request", handle).map_err(NotDone::Invalid)?;
    if report.is_none() && request.has_report().map_err(NotDone::Invalid)? {
        return Err(NotDone::Invalid(no_report::<optr_report_t>()));
    }
    match request.wait(timeout).map_err(NotDone::Invalid)? {
        None => Err(NotDone::Pending),
        Some(done) => {
            // The handle is already gone if the communicator was destroyed meanwhile.
            let _ = registry::remove::<Request>("*request", handle);
            place.set(null_mut());
            if let (Some(mut place), Some(report)) = (report, report_of(&done)) {
                write(&mut place, report);
            }
            done.map(drop).map_err(NotDone::Failed)
        }
    }
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
        // SAFETY: the pointers are NULL or valid, `callback` on any thread with the context.
        let (mut place, callback) = unsafe { (Place::new("request", request)?, Callback::new(callback, context)?) };
        let handle = place.get().addr();
        registry::find::<Request>("*request", handle)?.on_done(callback)?;
        let _ = registry::remove::<Request>("*request", handle);
        place.set(null_mut());
        Ok(())
    })
}

/// Gives up a request, and sets it to NULL. Its operation continues, but its output is not written.
/// A message that is not in transit is withdrawn. A collective keeps memory from optr_alloc() until
/// it is done.
///
/// Threads: any, one at a time per request; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_request_free(request: *mut optr_request_t) -> optr_status_t {
    guard("optr_request_free", || {
        // SAFETY: the pointer is NULL or valid.
        let mut place = unsafe { Place::new("request", request) }?;
        let handle = place.get().addr();
        registry::find::<Request>("*request", handle)?.give_up()?;
        let _ = registry::remove::<Request>("*request", handle);
        place.set(null_mut());
        Ok(())
    })
}
