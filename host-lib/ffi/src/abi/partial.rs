//! Partial Reduce: averages of models among the ranks that are ready.

use std::ptr::null_mut;
use std::sync::Arc;

use super::check_elements;
use super::comm::{handle, of};
use crate::config;
use crate::guard::guard;
use crate::partial::Partial;
use crate::raw::{self, Input, Output, Place, ReportPlace};
use crate::registry;
use crate::report;
use crate::status::Failure;
use crate::types::{
    optr_comm_t, optr_partial_options_t, optr_partial_report_t, optr_partial_t, optr_request_t, optr_status_t,
};

/// Declares a partial reduce (SIGMOD'21), which averages models among groups of the ranks that are
/// ready first. Collective.
///
/// All ranks must start with the same model: optr_broadcast() it first. Then each rank trains its
/// own model, and calls optr_partial_average() at its own pace.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_partial_create(
    comm: optr_comm_t,
    elements: usize,
    options: *const optr_partial_options_t,
    partial: *mut optr_partial_t,
) -> optr_status_t {
    guard("optr_partial_create", || {
        // SAFETY: the pointers are NULL or valid.
        let (mut place, options) = unsafe { (Place::new("partial", partial)?, raw::sized("options", options)?) };
        place.set(null_mut());
        let options = config::partial_options(options.as_ref())?;
        place.set(handle(registry::insert(Arc::new(Partial::declare(of(comm)?, elements, options)?))));
        Ok(())
    })
}

/// Averages a model with the models of a group of ready ranks. Not collective.
///
/// iteration counts from 1. It must exceed report->iteration of the previous group, usually by one.
/// The call waits for at least one more rank, at most patience_us. Then bound_us limits each stage
/// of each window, and repair_timeout_us the repairs. OPTR_PEER_FAILED if no group forms.
///
/// Threads: any, one at a time per partial reduce; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_partial_average(
    partial: optr_partial_t,
    input: *const f32,
    output: *mut f32,
    elements: usize,
    iteration: u64,
    report: *mut optr_partial_report_t,
) -> optr_status_t {
    guard("optr_partial_average", || {
        let partial = find(partial)?;
        // SAFETY: the pointers are NULL or valid. `input` is copied before any write.
        let (model, mut output, mut place) = unsafe {
            let report = ReportPlace::new(report)?;
            (Input::new("input", input, elements)?, Output::new("output", output, elements)?, report)
        };
        check_elements("elements", elements, partial.elements())?;
        let (report, members) = report::of_group(&partial.average(&model, iteration, &mut output)?);
        place.write(&report, &members);
        Ok(())
    })
}

/// Starts optr_partial_average(). report is an output as well. If the request is freed, this rank
/// still takes part in its group.
///
/// Threads: any, one average at a time per partial reduce; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_partial_start_average(
    partial: optr_partial_t,
    input: *const f32,
    output: *mut f32,
    elements: usize,
    iteration: u64,
    report: *mut optr_partial_report_t,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_partial_start_average", || {
        // SAFETY: the pointers are NULL or valid, `output` and `report` until the request is done.
        let (mut place, report, model, output) = unsafe {
            let (place, report) = (Place::new("request", request)?, ReportPlace::new(report)?);
            (place, report, Input::new("input", input, elements)?, Output::new("output", output, elements)?)
        };
        place.set(null_mut());
        let partial = find(partial)?;
        check_elements("elements", elements, partial.elements())?;
        let request = partial.start_average(&model, iteration, output, report)?;
        place.set(handle(registry::insert(Arc::new(request))));
        Ok(())
    })
}

/// Leaves the groups, and waits until all ranks have left them. A rank that forms groups continues
/// to form them meanwhile. All ranks call it, before optr_comm_finalize(). Afterwards, destroy the
/// partial reduce.
///
/// The models of the ranks still differ: average them with optr_all_reduce_exact().
/// OPTR_PEER_FAILED if a live rank does not close within optr_config_t.timeout_s; this rank has
/// left in any case.
///
/// Threads: any, one at a time per partial reduce; blocks.
#[unsafe(no_mangle)]
pub extern "C" fn optr_partial_close(partial: optr_partial_t) -> optr_status_t {
    guard("optr_partial_close", || find(partial)?.close())
}

/// Destroys a partial reduce. Calls in progress on other threads return OPTR_CLOSED. Without
/// optr_partial_close() before, other ranks treat this rank as gone.
///
/// Threads: any, at any time, also during other calls; takes at most about a second.
#[unsafe(no_mangle)]
pub extern "C" fn optr_partial_destroy(partial: optr_partial_t) -> optr_status_t {
    guard("optr_partial_destroy", || {
        registry::remove::<Partial>("partial", partial.addr())?.destroy();
        Ok(())
    })
}

fn find(partial: optr_partial_t) -> Result<Arc<Partial>, Failure> {
    registry::find("partial", partial.addr())
}
