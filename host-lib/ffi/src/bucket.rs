//! Bucket behind a handle.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use optireduce::binding::memory::NotEnoughMemory;
use optireduce::binding::{self, Destination, Values};
use optireduce::{Error, Kind as Collective, Report};

use crate::comm::{Comm, turn};
use crate::raw::{Input, Output, ReportPlace};
use crate::registry::Kind;
use crate::report;
use crate::request::{self, RequestPlace};
use crate::status::Failure;
use crate::types::optr_bucket_t;
use crate::types::optr_status_t::OPTR_HALTED;

#[derive(Debug)]
pub struct Bucket {
    pub comm: Arc<Comm>,
    inner: Mutex<optireduce::Bucket>,
    elements: usize,
    shard_elements: usize,
    spares: Mutex<Vec<Vec<f32>>>,
}

impl Kind for Bucket {
    type Handle = optr_bucket_t;
    const NAME: &str = "a bucket";
    const MADE_BY: &str = "optr_bucket_create";
    const TAG: usize = 3;

    fn owner(&self) -> usize {
        Arc::as_ptr(&self.comm).addr()
    }
}

impl Bucket {
    pub fn new(comm: Arc<Comm>, bucket: optireduce::Bucket) -> Self {
        let (elements, shard_elements) = (bucket.elements(), bucket.shard_range().len());
        Self { comm, inner: Mutex::new(bucket), elements, shard_elements, spares: Mutex::default() }
    }

    pub fn elements(&self) -> usize {
        self.elements
    }

    pub fn shard_elements(&self) -> usize {
        self.shard_elements
    }

    /// Makes a collective. Writes report and output when it is done.
    pub fn collective(
        self: Arc<Self>,
        kind: Collective,
        input: &Input<f32>,
        mut output: Output<f32>,
        mut report: ReportPlace,
        place: RequestPlace,
    ) -> Result<(), Failure> {
        let mut bucket = self.lock()?;
        let is_all_reduce = kind == Collective::AllReduce;
        let lent = if is_all_reduce { self.comm.memory().lend(input, &output)? } else { None };
        let is_lent = lent.is_some();
        // The engine reports a wrong length to all ranks.
        let (values, destination) = match lent {
            Some(lent) => lent,
            None if is_all_reduce => (self.copy_of(input)?.into(), Destination::Bucket),
            None => (input.to_vec()?.into(), Destination::Bucket),
        };
        let of = self.clone();
        let mut end = move |done: Result<(Values, Report), Error>| {
            let done = done.map_err(|error| of.comm.failed(error)).map(|(values, mut done)| {
                if !is_lent {
                    output.write(&values);
                }
                if is_all_reduce && !is_lent {
                    // In and out.
                    done.copied_bytes += 2 * size_of_val(&*values) as u64;
                    of.spares().push(values.into_vec());
                }
                done
            });
            if kind != Collective::AllGather && done.as_ref().is_err_and(|failure| failure.status == OPTR_HALTED) {
                // As after a skip.
                output.fill(0.0);
            }
            report::write(&mut report, done)
        };
        let begun = match kind {
            // Without a request, this thread drives the engine, which need not be woken.
            Collective::AllReduce if place.is_none() => {
                return end(binding::all_reduce(&mut bucket, values, destination));
            }
            Collective::AllReduce => binding::start_all_reduce(&mut bucket, values, destination),
            Collective::ReduceScatter => binding::start_reduce_scatter(&mut bucket, values),
            Collective::AllGather => binding::start_all_gather(&mut bucket, values),
        };
        request::complete(&self.comm, place, begun, end)
    }

    /// Returns the bucket for a call, during which other calls are [`OPTR_BUSY`].
    ///
    /// [`OPTR_BUSY`]: crate::types::optr_status_t::OPTR_BUSY
    pub fn lock(&self) -> Result<MutexGuard<'_, optireduce::Bucket>, Failure> {
        turn(
            &self.inner,
            "another thread is in a call of this bucket; make calls one after the other, in the same order on all ranks",
        )
    }

    fn copy_of(&self, values: &Input<f32>) -> Result<Vec<f32>, NotEnoughMemory> {
        let spare = self.spares().pop();
        values.to_vec_in(spare.unwrap_or_default())
    }

    fn spares(&self) -> MutexGuard<'_, Vec<Vec<f32>>> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
