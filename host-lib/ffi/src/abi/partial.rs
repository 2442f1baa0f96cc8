//! Partial Reduce: averages of models among the ranks that are ready.

use std::ptr::null_mut;
use std::sync::Arc;

use super::check_elements;
use super::comm::of;
use crate::config;
use crate::guard::guard;
use crate::partial::Partial;
use crate::raw::{self, Input, Output, Place, ReportPlace};
use crate::registry;
use crate::status::Failure;
use crate::types::{
    optr_comm_t, optr_partial_options_t, optr_partial_report_t, optr_partial_t, optr_request_t, optr_status_t,
};

/// Declares a partial reduce (SIGMOD'21), which averages models among groups of the ranks that are
/// ready first. Collective.
///
/// All ranks must start with the same model: optr_exact_broadcast() it first. Then each rank trains
/// its own model, and calls optr_partial_average() at its own pace.
///
/// Threads: any, one at a time per communicator; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_partial_create(
    comm: optr_comm_t,
    elements: usize,
    options: *const optr_partial_options_t,
    partial: *mut optr_partial_t,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_partial_create", || {
        // SAFETY: the pointers are NULL or valid, `partial` until the request is done.
        let (mut place, options, request) =
            unsafe { (Place::new("partial", partial)?, raw::sized("options", options)?, raw::request(request)?) };
        place.set(null_mut());
        let options = config::partial_options(options.as_ref())?;
        let comm = of(comm)?;
        let owner = comm.clone();
        comm.partial_reduce(request, elements, options, move |averages| {
            place.set(registry::insert(Partial::new(owner, elements, averages)));
        })
    })
}

/// Averages a model with the models of a group of ready ranks. Not collective.
///
/// iteration counts from 1. It must exceed report->iteration of the previous group, usually by one.
/// The call waits for at least one more rank, at most patience_s. Then bound_ms limits each stage
/// of each window, and repair_timeout_s the repairs. OPTR_PEER_FAILED if no group forms. If the
/// request is freed, this rank still takes part in its group.
///
/// Threads: any, one average at a time per partial reduce; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_partial_average(
    partial: optr_partial_t,
    input: *const f32,
    output: *mut f32,
    elements: usize,
    iteration: u64,
    report: *mut optr_partial_report_t,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_partial_average", || {
        // SAFETY: the pointers are NULL or valid, output and report until the request is done.
        let request = unsafe { raw::request(request) }?;
        let partial = find(partial)?;
        // SAFETY: as above. `input` is copied before any write.
        let (model, output, report) = unsafe {
            let report = ReportPlace::new(report)?;
            (Input::new("input", input, elements)?, Output::new("output", output, elements)?, report)
        };
        check_elements("elements", elements, partial.elements())?;
        partial.average(&model, iteration, output, report, request)
    })
}

/// Leaves the groups, and waits until all ranks have left them. A rank that forms groups continues
/// to form them meanwhile. All ranks call it, before optr_comm_close(). Afterwards, destroy the
/// partial reduce.
///
/// The models of the ranks still differ: average them with optr_exact_all_reduce().
/// OPTR_PEER_FAILED if a live rank does not close within optr_config_t.timeout_s; this rank has
/// left in any case.
///
/// Threads: any, one at a time per partial reduce; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_partial_close(partial: optr_partial_t, request: *mut optr_request_t) -> optr_status_t {
    guard("optr_partial_close", || {
        // SAFETY: the pointer is NULL or valid.
        let request = unsafe { raw::request(request) }?;
        find(partial)?.close(request)
    })
}

/// Destroys a partial reduce. Calls in progress on other threads return OPTR_CLOSED. Without
/// optr_partial_close() before, other ranks treat this rank as gone.
///
/// Threads: any, at any time, also during other calls; takes at most about a second.
#[unsafe(no_mangle)]
pub extern "C" fn optr_partial_destroy(partial: optr_partial_t) -> optr_status_t {
    guard("optr_partial_destroy", || {
        registry::remove::<Partial>("partial", partial)?.destroy();
        Ok(())
    })
}

fn find(partial: optr_partial_t) -> Result<Arc<Partial>, Failure> {
    registry::find("partial", partial)
}
