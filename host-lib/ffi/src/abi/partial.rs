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

/// Declares averages of models of so many elements among groups of the ranks that are ready first (Partial Reduce, SIGMOD'21), instead
/// of all-reduces of gradients: each rank trains its model, calls optr_partial_average() at its own pace, and nobody waits for the
/// rest. All ranks begin with the same model: optr_broadcast() it. options: NULL for the defaults. OPTR_MISMATCH on all ranks if they
/// differ; the communicator can go on then. Collective.
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
        // SAFETY: the caller's: NULL or room for a handle; NULL or options.
        let (mut place, options) = unsafe { (Place::new("partial", partial)?, raw::sized("options", options)?) };
        place.set(null_mut());
        let options = config::partial_options(options.as_ref())?;
        place.set(handle(registry::insert(Arc::new(Partial::declare(of(comm)?, elements, options)?))));
        Ok(())
    })
}

/// Averages a model with those of a group of ranks that are ready, too; not all ranks need call it, nor as often. input and output may
/// be the same, or overlap. elements: those of the partial reduce. iteration: of the model, which counts from 1 and must be greater
/// than report->iteration of the last group, usually by one. Waits for one more rank at least, no longer than the patience of the
/// options; the average is bounded by two deadlines, and what it lost by as many repair timeouts. After an error output is as it was.
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
        // SAFETY: the caller's: NULL or as many values each; NULL or a report. `input` is copied before anything is written.
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

/// Begins what optr_partial_average() does, and returns at once. input is copied before this returns. output and report must stay valid,
/// and be left alone, until the request is done. If the request is given up, this rank takes part in its group all the same.
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
        // SAFETY: the caller's: NULL or room for a handle; NULL or as many values each, and NULL or a report, `output` and the report
        // until the request is done.
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

/// Takes part in no group any more, and waits until the others do not, either: until then this rank forms their groups, if it did.
/// OPTR_PEER_FAILED names a rank that has not closed and lives, after the timeout of the config; this rank's part is over all the same.
/// All ranks call it, before optr_comm_finalize(); their models still differ: optr_all_reduce_exact() gives all the mean. Afterwards only
/// optr_partial_destroy() is of use.
///
/// Threads: any, one at a time per partial reduce; blocks.
#[unsafe(no_mangle)]
pub extern "C" fn optr_partial_close(partial: optr_partial_t) -> optr_status_t {
    guard("optr_partial_close", || find(partial)?.close())
}

/// Ends this rank's part, and gives its memory back. Does not wait for other ranks: if it was not closed before, to them it has died.
/// Calls of other threads that run give OPTR_CLOSED.
///
/// Threads: any, at any time; takes at most about a second.
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
