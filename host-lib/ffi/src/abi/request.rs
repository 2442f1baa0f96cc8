//! Requests: what has begun.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::time::Duration;

use super::{duration, write};
use crate::guard::guard;
use crate::raw::{Callback, Place, ReportPlace, no_report};
use crate::registry;
use crate::request::Request;
use crate::status::Failure;
use crate::types::optr_status_t::OPTR_TIMEOUT;
use crate::types::{OPTR_NO_TIMEOUT, optr_callback_t, optr_report_t, optr_request_t, optr_status_t};

/// Whether something that has begun is done: *done is 1 or 0. If it is, its result was written, the report is filled in (NULL
/// will do if it is no collective of a bucket), and *request becomes NULL; the status is then that of what has begun.
///
/// Threads: any, one at a time per request; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_request_test(
    request: *mut optr_request_t,
    done: *mut c_int,
    report: *mut optr_report_t,
) -> optr_status_t {
    guard("optr_request_test", || {
        // SAFETY: the caller's: NULL or a handle; NULL or room for a number; NULL or a report.
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

/// Waits until something that has begun is done, at most timeout_us (OPTR_NO_TIMEOUT: as long as it takes). Then its result
/// was written, the report is filled in (NULL will do if it is no collective of a bucket), and *request becomes NULL.
/// OPTR_TIMEOUT: it goes on, wait again.
///
/// Threads: any, one at a time per request; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_request_wait(
    request: *mut optr_request_t,
    timeout_us: u64,
    report: *mut optr_report_t,
) -> optr_status_t {
    guard("optr_request_wait", || {
        // SAFETY: the caller's: NULL or a handle; NULL or a report.
        let (request, report) = unsafe { (Place::new("request", request)?, ReportPlace::optional(report)?) };
        let timeout = (timeout_us != OPTR_NO_TIMEOUT).then(|| duration(timeout_us));
        wait(request, timeout, report).map_err(|not_done| match not_done {
            NotDone::Pending => {
                let text = format!("it was not done within {timeout_us} us, and goes on: wait for it again");
                Failure::new(OPTR_TIMEOUT, text)
            }
            NotDone::Invalid(failure) | NotDone::Failed(failure) => failure,
        })
    })
}

enum NotDone {
    Pending,
    /// Nothing was looked at.
    Invalid(Failure),
    /// The collective is done, and has failed.
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
            // Gone already if the communicator was destroyed meanwhile.
            let _ = registry::remove::<Request>("*request", handle);
            place.set(null_mut());
            let done = done.map_err(NotDone::Failed)?;
            if let (Some(mut place), Some(report)) = (report, done) {
                write(&mut place, &report);
            }
            Ok(())
        }
    }
}

/// Has a function called once what has begun is done, also if it fails: see optr_callback_t. *request becomes NULL; the
/// output must stay valid until then. context is handed to the function as it is.
///
/// Threads: any, one at a time per request; does not block. The function is called on a thread of the library's, one after
/// the other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_request_on_done(
    request: *mut optr_request_t,
    callback: optr_callback_t,
    context: *mut c_void,
) -> optr_status_t {
    guard("optr_request_on_done", || {
        // SAFETY: the caller's: NULL or a handle; NULL or a function that may be called with the context from another thread.
        let (mut place, callback) = unsafe { (Place::new("request", request)?, Callback::new(callback, context)?) };
        let handle = place.get().addr();
        registry::find::<Request>("*request", handle)?.on_done(callback)?;
        let _ = registry::remove::<Request>("*request", handle);
        place.set(null_mut());
        Ok(())
    })
}

/// Gives a request up: what has begun goes on, but its result is written nowhere; a message that is not on its way is
/// withdrawn. *request becomes NULL. A collective with memory from optr_alloc() has it until it is done.
///
/// Threads: any, one at a time per request; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_request_free(request: *mut optr_request_t) -> optr_status_t {
    guard("optr_request_free", || {
        // SAFETY: the caller's: NULL or a handle.
        let mut place = unsafe { Place::new("request", request) }?;
        let handle = place.get().addr();
        registry::find::<Request>("*request", handle)?.give_up()?;
        let _ = registry::remove::<Request>("*request", handle);
        place.set(null_mut());
        Ok(())
    })
}
