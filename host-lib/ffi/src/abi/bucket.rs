//! Declared buckets: what is reduced again and again.

use std::ptr::null_mut;
use std::sync::Arc;

use optireduce::{BucketOptions, Kind};

use super::comm::{handle, of};
use super::{check_elements, duration, write};
use crate::bucket::Bucket;
use crate::config;
use crate::guard::guard;
use crate::raw::{self, Input, Output, Place, ReportPlace};
use crate::registry;
use crate::status::Failure;
use crate::types::{
    OPTR_NO_TIMEOUT, optr_bucket_options_t, optr_bucket_t, optr_comm_t, optr_report_t, optr_request_t, optr_status_t,
};

/// Declares a bucket of so many elements: settles its length and options among all ranks, and finds the memory for it.
/// options: NULL for the defaults. OPTR_MISMATCH on all ranks if they differ; the communicator can go on then. Collective.
///
/// Threads: any, one at a time per communicator; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_create(
    comm: optr_comm_t,
    elements: usize,
    options: *const optr_bucket_options_t,
    bucket: *mut optr_bucket_t,
) -> optr_status_t {
    guard("optr_bucket_create", || {
        // SAFETY: the caller's: NULL or room for a handle; NULL or options.
        let (mut place, options) = unsafe { (Place::new("bucket", bucket)?, raw::sized("options", options)?) };
        place.set(null_mut());
        let options = options.as_ref().map_or(Ok(BucketOptions::new()), config::bucket_options)?;
        place.set(handle(registry::insert(Arc::new(Bucket::declare(of(comm)?, elements, options)?))));
        Ok(())
    })
}

/// Ends a bucket, on this rank alone: its memory is given back, its requests go on.
///
/// Threads: any, at any time; does not block.
#[unsafe(no_mangle)]
pub extern "C" fn optr_bucket_destroy(bucket: optr_bucket_t) -> optr_status_t {
    guard("optr_bucket_destroy", || registry::remove::<Bucket>("bucket", bucket.addr()).map(drop))
}

fn find(bucket: optr_bucket_t) -> Result<Arc<Bucket>, Failure> {
    registry::find("bucket", bucket.addr())
}

/// Reduces values over all ranks; returns after two stage deadlines at the latest. input and output may be the same, or
/// overlap. elements: those of the bucket; with another number nothing is sent, and all ranks get OPTR_MISMATCH, which ends
/// the job. If report->action is not OPTR_APPLY, and after an error, output is as it was. Copies the values twice, unless they lie in
/// memory from optr_alloc(). Collective.
///
/// Threads: any, one at a time per bucket; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_all_reduce(
    bucket: optr_bucket_t,
    input: *const f32,
    output: *mut f32,
    elements: usize,
    report: *mut optr_report_t,
) -> optr_status_t {
    guard("optr_bucket_all_reduce", || {
        let bucket = find(bucket)?;
        // SAFETY: the caller's: NULL or as many values each; NULL or a report. `input` is not read any more when `output` is written.
        let (values, mut output, mut place) = unsafe {
            let report = ReportPlace::new(report)?;
            (Input::new("input", input, elements)?, Output::new("output", output, elements)?, report)
        };
        write(&mut place, &bucket.all_reduce(&values, &mut output)?);
        Ok(())
    })
}

/// Memory of the bucket's, as many values as it has elements: what is written there travels by
/// optr_bucket_all_reduce_in_place() without a copy. Zeros at first, and after a call that failed. Valid until the next call
/// of this bucket that blocks, or its end.
///
/// Threads: any, one at a time per bucket; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_buffer(
    bucket: optr_bucket_t,
    values: *mut *mut f32,
    elements: *mut usize,
) -> optr_status_t {
    guard("optr_bucket_buffer", || {
        // SAFETY: the caller's: NULL or room for an address; NULL or room for a number.
        let (mut values, elements) = unsafe { (Place::new("values", values)?, Place::optional("elements", elements)?) };
        values.set(null_mut());
        let bucket = find(bucket)?;
        values.set(bucket.values()?);
        if let Some(mut place) = elements {
            place.set(bucket.elements());
        }
        Ok(())
    })
}

/// Reduces the values in the bucket's own memory, see optr_bucket_buffer(), over all ranks, without a copy. They lie
/// elsewhere afterwards: where, is written to values. If report->action is not OPTR_APPLY, they are unchanged. Collective.
///
/// Threads: any, one at a time per bucket; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_all_reduce_in_place(
    bucket: optr_bucket_t,
    values: *mut *mut f32,
    report: *mut optr_report_t,
) -> optr_status_t {
    guard("optr_bucket_all_reduce_in_place", || {
        // SAFETY: the caller's: NULL or room for an address; NULL or a report.
        let (mut values, mut place) = unsafe { (Place::new("values", values)?, ReportPlace::new(report)?) };
        let bucket = find(bucket)?;
        let done = bucket.all_reduce_in_place();
        // After an error there are others, too.
        values.set(bucket.values()?);
        write(&mut place, &done?);
        Ok(())
    })
}

/// As optr_bucket_all_reduce(), for this rank's shard of the result: output_elements is what optr_comm_shard() says. Collective.
///
/// Threads: any, one at a time per bucket; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_reduce_scatter(
    bucket: optr_bucket_t,
    input: *const f32,
    elements: usize,
    output: *mut f32,
    output_elements: usize,
    report: *mut optr_report_t,
) -> optr_status_t {
    guard("optr_bucket_reduce_scatter", || {
        let bucket = find(bucket)?;
        // SAFETY: the caller's: NULL or as many values each; NULL or a report. `input` is not read any more when `output` is written.
        let (values, mut output, mut place) = unsafe {
            let report = ReportPlace::new(report)?;
            (Input::new("input", input, elements)?, Output::new("output", output, output_elements)?, report)
        };
        check_elements("output_elements", output_elements, bucket.shard_elements())?;
        write(&mut place, &bucket.reduce_scatter(&values, &mut output)?);
        Ok(())
    })
}

/// Hands this rank's shard to all ranks and writes the whole, as many values as the bucket has elements. What did not come is zero:
/// report->missing_elements. Collective.
///
/// Threads: any, one at a time per bucket; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_all_gather(
    bucket: optr_bucket_t,
    input: *const f32,
    input_elements: usize,
    output: *mut f32,
    elements: usize,
    report: *mut optr_report_t,
) -> optr_status_t {
    guard("optr_bucket_all_gather", || {
        let bucket = find(bucket)?;
        // SAFETY: the caller's: NULL or as many values each; NULL or a report. `input` is not read any more when `output` is written.
        let (shard, mut output, mut place) = unsafe {
            let report = ReportPlace::new(report)?;
            (Input::new("input", input, input_elements)?, Output::new("output", output, elements)?, report)
        };
        check_elements("elements", elements, bucket.elements())?;
        write(&mut place, &bucket.all_gather(&shard, &mut output)?);
        Ok(())
    })
}

/// Begins what optr_bucket_all_reduce() does, and returns at once; other collectives may begin before it is done. input is
/// copied before this returns, unless input and output are memory from optr_alloc(): then both are to be left alone until the request
/// is done. output must stay valid, and be left alone, until then. Collective.
///
/// Threads: any, one at a time per bucket; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_start_all_reduce(
    bucket: optr_bucket_t,
    input: *const f32,
    output: *mut f32,
    elements: usize,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_bucket_start_all_reduce", || {
        // SAFETY: the caller's: NULL or as many values each, `output` until the request is done; NULL or room for a handle.
        let (values, output, place) = unsafe {
            let request = Place::new("request", request)?;
            (Input::new("input", input, elements)?, Output::new("output", output, elements)?, request)
        };
        start(find(bucket)?, Kind::AllReduce, &values, output, place)
    })
}

/// Begins what optr_bucket_reduce_scatter() does, and returns at once, as optr_bucket_start_all_reduce(). Collective.
///
/// Threads: any, one at a time per bucket; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_start_reduce_scatter(
    bucket: optr_bucket_t,
    input: *const f32,
    elements: usize,
    output: *mut f32,
    output_elements: usize,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_bucket_start_reduce_scatter", || {
        // SAFETY: the caller's: NULL or as many values each, `output` until the request is done; NULL or room for a handle.
        let (values, output, place) = unsafe {
            let request = Place::new("request", request)?;
            (Input::new("input", input, elements)?, Output::new("output", output, output_elements)?, request)
        };
        let bucket = find(bucket)?;
        check_elements("output_elements", output_elements, bucket.shard_elements())?;
        start(bucket, Kind::ReduceScatter, &values, output, place)
    })
}

/// Begins what optr_bucket_all_gather() does, and returns at once, as optr_bucket_start_all_reduce(). Collective.
///
/// Threads: any, one at a time per bucket; does not block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_start_all_gather(
    bucket: optr_bucket_t,
    input: *const f32,
    input_elements: usize,
    output: *mut f32,
    elements: usize,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_bucket_start_all_gather", || {
        // SAFETY: the caller's: NULL or as many values each, `output` until the request is done; NULL or room for a handle.
        let (shard, output, place) = unsafe {
            let request = Place::new("request", request)?;
            (Input::new("input", input, input_elements)?, Output::new("output", output, elements)?, request)
        };
        let bucket = find(bucket)?;
        check_elements("elements", elements, bucket.elements())?;
        start(bucket, Kind::AllGather, &shard, output, place)
    })
}

fn start(
    bucket: Arc<Bucket>,
    kind: Kind,
    values: &Input<f32>,
    output: Output<f32>,
    mut place: Place<optr_request_t>,
) -> Result<(), Failure> {
    place.set(null_mut());
    place.set(handle(registry::insert(Arc::new(bucket.start(kind, values, output)?))));
    Ok(())
}

/// Waits until nothing of this bucket is outstanding any more, at most timeout_us (OPTR_NO_TIMEOUT: the timeout of the
/// config), and writes what its results so far lack, to be applied as one more update: *has_correction is 1 if there is
/// anything, else correction is as it was. *is_settled is 0 if the time was too short. Call it on every rank after the last
/// collective of the bucket. elements: those of the bucket.
///
/// Threads: any, one at a time per bucket; blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_settle(
    bucket: optr_bucket_t,
    timeout_us: u64,
    correction: *mut f32,
    elements: usize,
    has_correction: *mut i32,
    is_settled: *mut i32,
) -> optr_status_t {
    guard("optr_bucket_settle", || {
        // SAFETY: the caller's: NULL or as many values; NULL or room for a number each.
        let (mut output, mut has_correction, mut is_settled) = unsafe {
            let places = (Place::new("has_correction", has_correction)?, Place::new("is_settled", is_settled)?);
            (Output::new("correction", correction, elements)?, places.0, places.1)
        };
        let bucket = find(bucket)?;
        check_elements("elements", elements, bucket.elements())?;
        let timeout = (timeout_us != OPTR_NO_TIMEOUT).then(|| duration(timeout_us));
        let settled = bucket.settle(timeout)?;
        if let Some(correction) = &settled.correction {
            output.write(correction);
        }
        has_correction.set(settled.correction.is_some().into());
        is_settled.set(settled.is_settled.into());
        Ok(())
    })
}
