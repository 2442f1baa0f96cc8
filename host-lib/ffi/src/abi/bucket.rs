//! Declared buckets and their collectives.

use std::ptr::null_mut;
use std::sync::Arc;

use optireduce::{BucketOptions, Kind};

use super::comm::of;
use super::{check_elements, duration};
use crate::bucket::Bucket;
use crate::config;
use crate::guard::guard;
use crate::raw::{self, Input, Output, Place, ReportPlace};
use crate::registry;
use crate::request;
use crate::status::Failure;
use crate::types::{
    OPTR_NO_TIMEOUT, optr_bucket_options_t, optr_bucket_t, optr_comm_t, optr_report_t, optr_request_t, optr_status_t,
};

/// Declares a bucket of fp32 elements and allocates its memory. Length and options must be the same
/// on all ranks, which is checked. Collective.
///
/// Threads: any, one at a time per communicator; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_create(
    comm: optr_comm_t,
    elements: usize,
    options: *const optr_bucket_options_t,
    bucket: *mut optr_bucket_t,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_bucket_create", || {
        // SAFETY: the pointers are NULL or valid, `bucket` until the request is done.
        let (mut place, options, request) =
            unsafe { (Place::new("bucket", bucket)?, raw::sized("options", options)?, raw::request(request)?) };
        place.set(null_mut());
        let options = options.as_ref().map_or(Ok(BucketOptions::new()), |options| {
            // SAFETY: NULL or a text, which nobody changes during this call.
            config::bucket_options(options, unsafe { raw::text("options->groups", options.groups) }?)
        })?;
        let comm = of(comm)?;
        let owner = comm.clone();
        comm.call(
            request,
            |communicator| communicator.bucket(elements, options),
            move |bucket| {
                place.set(registry::insert(Bucket::new(owner, bucket)));
                Ok(())
            },
        )
    })
}

/// Destroys a bucket on this rank only. Its requests continue.
///
/// Threads: any, at any time; does not block.
#[unsafe(no_mangle)]
pub extern "C" fn optr_bucket_destroy(bucket: optr_bucket_t) -> optr_status_t {
    guard("optr_bucket_destroy", || registry::remove::<Bucket>("bucket", bucket).map(drop))
}

fn find(bucket: optr_bucket_t) -> Result<Arc<Bucket>, Failure> {
    registry::find("bucket", bucket)
}

/// Reduces values over all ranks, within the deadlines of the stages. Collective.
///
/// If a rank passes another number of elements than the bucket has, nothing is sent, the job ends,
/// and all ranks get OPTR_MISMATCH. Values are copied unless input and output are both in memory
/// from optr_alloc().
///
/// Threads: any, one at a time per bucket; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_all_reduce(
    bucket: optr_bucket_t,
    input: *const f32,
    output: *mut f32,
    elements: usize,
    report: *mut optr_report_t,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_bucket_all_reduce", || {
        // SAFETY: as `collective` requires.
        unsafe { collective(Kind::AllReduce, bucket, (input, elements), (output, elements), report, request) }
    })
}

/// As optr_bucket_all_reduce(), for this rank's shard of the result (optr_comm_shard()). Lost
/// values are not repaired. Collective.
///
/// Threads: any, one at a time per bucket; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_reduce_scatter(
    bucket: optr_bucket_t,
    input: *const f32,
    elements: usize,
    output: *mut f32,
    output_elements: usize,
    report: *mut optr_report_t,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_bucket_reduce_scatter", || {
        // SAFETY: as `collective` requires.
        unsafe {
            collective(Kind::ReduceScatter, bucket, (input, elements), (output, output_elements), report, request)
        }
    })
}

/// Gathers the shards of all ranks (optr_comm_shard()). Lost values are zero, see
/// report->missing_elements. Collective.
///
/// Threads: any, one at a time per bucket; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_all_gather(
    bucket: optr_bucket_t,
    input: *const f32,
    input_elements: usize,
    output: *mut f32,
    elements: usize,
    report: *mut optr_report_t,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_bucket_all_gather", || {
        // SAFETY: as `collective` requires.
        unsafe { collective(Kind::AllGather, bucket, (input, input_elements), (output, elements), report, request) }
    })
}

/// # Safety
/// The pointers are NULL or valid, output and report until the request is done. `input` is read
/// before `output` is written.
unsafe fn collective(
    kind: Kind,
    bucket: optr_bucket_t,
    input: (*const f32, usize),
    output: (*mut f32, usize),
    report: *mut optr_report_t,
    request: *mut optr_request_t,
) -> Result<(), Failure> {
    // SAFETY: as this function.
    let request = unsafe { raw::request(request) }?;
    let bucket = find(bucket)?;
    // SAFETY: as this function.
    let (report, input, output) = unsafe {
        let report = ReportPlace::new(report)?;
        (report, Input::new("input", input.0, input.1)?, Output::new("output", output.0, output.1)?)
    };
    match kind {
        Kind::AllReduce => {}
        Kind::ReduceScatter => check_elements("output_elements", output.elements(), bucket.shard_elements())?,
        Kind::AllGather => check_elements("elements", output.elements(), bucket.elements())?,
    }
    bucket.collective(kind, &input, output, report, request)
}

/// Waits until no repair of this bucket is outstanding, at most timeout_us. Writes the repaired
/// values that no result includes yet to correction, to apply to the model as one more update. Call
/// it on every rank after the last collective of the bucket.
///
/// Without such values *has_correction is 0, and correction is unchanged. *is_settled is 0 if
/// repairs are still outstanding.
///
/// Threads: any, one at a time per bucket; blocks without request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optr_bucket_settle(
    bucket: optr_bucket_t,
    timeout_us: u64,
    correction: *mut f32,
    elements: usize,
    has_correction: *mut i32,
    is_settled: *mut i32,
    request: *mut optr_request_t,
) -> optr_status_t {
    guard("optr_bucket_settle", || {
        // SAFETY: the pointers are NULL or valid until the request is done.
        let (mut output, mut has_correction, mut is_settled, request) = unsafe {
            let request = raw::request(request)?;
            let places = (Place::new("has_correction", has_correction)?, Place::new("is_settled", is_settled)?);
            (Output::new("correction", correction, elements)?, places.0, places.1, request)
        };
        let bucket = find(bucket)?;
        check_elements("elements", elements, bucket.elements())?;
        let timeout = (timeout_us != OPTR_NO_TIMEOUT).then(|| duration(timeout_us));
        let mut held = bucket.lock()?;
        let (begun, comm) = (held.settle(timeout), bucket.comm.clone());
        request::complete(&bucket.comm, request, begun, move |settled| {
            let settled = settled.map_err(|error| comm.failed(error))?;
            if let Some(correction) = &settled.correction {
                output.write(correction);
            }
            has_correction.set(settled.correction.is_some().into());
            is_settled.set(settled.is_settled.into());
            Ok(())
        })
    })
}
