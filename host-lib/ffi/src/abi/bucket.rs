//! Declared buckets and their collectives.

use std::ptr::null_mut;
use std::sync::Arc;

use optireduce::{BucketOptions, Kind};

use super::comm::{handle, of};
use super::{check_elements, duration, end};
use crate::bucket::Bucket;
use crate::config;
use crate::guard::guard;
use crate::raw::{self, Input, Output, Place, ReportPlace};
use crate::registry;
use crate::status::Failure;
use crate::types::{
    OPTR_NO_TIMEOUT, optr_bucket_options_t, optr_bucket_t, optr_comm_t, optr_report_t, optr_request_t, optr_status_t,
};

/// Declares a bucket of fp32 elements and allocates its memory. Length and options must be the same
/// on all ranks, which is checked. Collective.
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
        // SAFETY: the pointers are NULL or valid.
        let (mut place, options) = unsafe { (Place::new("bucket", bucket)?, raw::sized("options", options)?) };
        place.set(null_mut());
        let options = options.as_ref().map_or(Ok(BucketOptions::new()), config::bucket_options)?;
        place.set(handle(registry::insert(Arc::new(Bucket::declare(of(comm)?, elements, options)?))));
        Ok(())
    })
}

/// Destroys a bucket on this rank only. Its requests continue.
///
/// Threads: any, at any time; does not block.
#[unsafe(no_mangle)]
pub extern "C" fn optr_bucket_destroy(bucket: optr_bucket_t) -> optr_status_t {
    guard("optr_bucket_destroy", || registry::remove::<Bucket>("bucket", bucket.addr()).map(drop))
}

fn find(bucket: optr_bucket_t) -> Result<Arc<Bucket>, Failure> {
    registry::find("bucket", bucket.addr())
}

/// Reduces values over all ranks, within the deadlines of the stages. Collective.
///
/// If a rank passes another number of elements than the bucket has, nothing is sent, the job ends,
/// and all ranks get OPTR_MISMATCH. Values are copied unless input and output are both in memory
/// from optr_alloc().
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
        // SAFETY: the pointers are NULL or valid. `input` is read before `output` is written.
        let (values, mut output, mut place) = unsafe {
            let report = ReportPlace::new(report)?;
            (Input::new("input", input, elements)?, Output::new("output", output, elements)?, report)
        };
        end(&mut place, bucket.all_reduce(&values, &mut output))
    })
}

/// As optr_bucket_all_reduce(), for this rank's shard of the result (optr_comm_shard()). Lost
/// values are not repaired. Collective.
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
        // SAFETY: the pointers are NULL or valid. `input` is read before `output` is written.
        let (values, mut output, mut place) = unsafe {
            let report = ReportPlace::new(report)?;
            (Input::new("input", input, elements)?, Output::new("output", output, output_elements)?, report)
        };
        check_elements("output_elements", output_elements, bucket.shard_elements())?;
        end(&mut place, bucket.reduce_scatter(&values, &mut output))
    })
}

/// Gathers the shards of all ranks (optr_comm_shard()). Lost values are zero, see
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
        // SAFETY: the pointers are NULL or valid. `input` is read before `output` is written.
        let (shard, mut output, mut place) = unsafe {
            let report = ReportPlace::new(report)?;
            (Input::new("input", input, input_elements)?, Output::new("output", output, elements)?, report)
        };
        check_elements("elements", elements, bucket.elements())?;
        end(&mut place, bucket.all_gather(&shard, &mut output))
    })
}

/// Starts optr_bucket_all_reduce(). Other collectives may start before it is done. Collective.
///
/// Input is not copied if input and output are both in memory from optr_alloc(). Then it must stay
/// untouched until the request is done.
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
        // SAFETY: the pointers are NULL or valid, `output` until the request is done.
        let (values, output, place) = unsafe {
            let request = Place::new("request", request)?;
            (Input::new("input", input, elements)?, Output::new("output", output, elements)?, request)
        };
        start(find(bucket)?, Kind::AllReduce, &values, output, place)
    })
}

/// Starts optr_bucket_reduce_scatter(). Collective.
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
        // SAFETY: the pointers are NULL or valid, `output` until the request is done.
        let (values, output, place) = unsafe {
            let request = Place::new("request", request)?;
            (Input::new("input", input, elements)?, Output::new("output", output, output_elements)?, request)
        };
        let bucket = find(bucket)?;
        check_elements("output_elements", output_elements, bucket.shard_elements())?;
        start(bucket, Kind::ReduceScatter, &values, output, place)
    })
}

/// Starts optr_bucket_all_gather(). Collective.
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
        // SAFETY: the pointers are NULL or valid, `output` until the request is done.
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

/// Waits until no repair of this bucket is outstanding, at most timeout_us. Writes the repaired
/// values that no result includes yet to correction, to apply to the model as one more update. Call
/// it on every rank after the last collective of the bucket.
///
/// Without such values *has_correction is 0, and correction is unchanged. *is_settled is 0 if
/// repairs are still outstanding.
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
        // SAFETY: the pointers are NULL or valid.
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
