//! Bucket behind a handle.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use optireduce::binding::{self, Destination, Values};
use optireduce::memory::NotEnoughMemory;
use optireduce::{BucketOptions, Error, Kind, Report, Settled};

use crate::comm::Comm;
use crate::raw::{Input, Output};
use crate::request::Request;
use crate::status::Failure;
use crate::types::optr_status_t::{OPTR_BUSY, OPTR_HALTED};

#[derive(Debug)]
pub struct Bucket {
    comm: Arc<Comm>,
    inner: Mutex<optireduce::Bucket>,
    elements: usize,
    shard_elements: usize,
    spares: Mutex<Vec<Vec<f32>>>,
}

impl Bucket {
    pub fn declare(comm: Arc<Comm>, elements: usize, options: BucketOptions) -> Result<Self, Failure> {
        let bucket = comm.call(|communicator| communicator.bucket(elements, options))?;
        let shard_elements = bucket.shard_range().len();
        Ok(Self { comm, inner: Mutex::new(bucket), elements, shard_elements, spares: Mutex::default() })
    }

    pub fn comm(&self) -> &Arc<Comm> {
        &self.comm
    }

    pub fn elements(&self) -> usize {
        self.elements
    }

    pub fn shard_elements(&self) -> usize {
        self.shard_elements
    }

    pub fn all_reduce(&self, given: &Input<f32>, output: &mut Output<f32>) -> Result<Report, Failure> {
        let done = self.all_reduce_into(given, output);
        zero_after_halt(&done, output);
        done
    }

    fn all_reduce_into(&self, given: &Input<f32>, output: &mut Output<f32>) -> Result<Report, Failure> {
        if let Some((values, destination)) = self.comm.memory().lend(given, output)? {
            return self.with(|bucket| binding::all_reduce(bucket, values, destination).map(|(_, report)| report));
        }
        let given = self.copy_of(given)?;
        // It reports a wrong length to all ranks.
        let (values, mut report) =
            self.with(|bucket| binding::all_reduce(bucket, given.into(), Destination::Bucket))?;
        output.write(&values);
        // In and out.
        report.copied_bytes += 2 * size_of_val(&*values) as u64;
        self.spares().push(values.into_vec());
        Ok(report)
    }

    pub fn reduce_scatter(&self, given: &Input<f32>, output: &mut Output<f32>) -> Result<Report, Failure> {
        let done = self.with(|bucket| {
            let (shard, report) = binding::start_reduce_scatter(bucket, given.to_vec()?.into()).wait()?;
            output.write(&shard);
            Ok(report)
        });
        zero_after_halt(&done, output);
        done
    }

    pub fn all_gather(&self, shard: &Input<f32>, output: &mut Output<f32>) -> Result<Report, Failure> {
        self.with(|bucket| {
            let (whole, report) = binding::start_all_gather(bucket, shard.to_vec()?.into()).wait()?;
            output.write(&whole);
            Ok(report)
        })
    }

    /// `timeout`: `None` for the communicator's.
    pub fn settle(&self, timeout: Option<Duration>) -> Result<Settled, Failure> {
        self.with(|bucket| bucket.settle(timeout).wait())
    }

    pub fn with<T>(&self, call: impl FnOnce(&mut optireduce::Bucket) -> Result<T, Error>) -> Result<T, Failure> {
        let mut guard = match self.inner.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let text = "another thread is in a call of this bucket; make calls one after the other, in the same order on all ranks";
                return Err(Failure::new(OPTR_BUSY, text));
            }
        };
        call(&mut guard).map_err(|error| self.comm.failed(error))
    }

    /// Starts a collective. The thread that waits for the request writes the result to `output`.
    pub fn start(self: Arc<Self>, kind: Kind, given: &Input<f32>, mut output: Output<f32>) -> Result<Request, Failure> {
        if kind == Kind::AllReduce
            && let Some((values, destination)) = self.comm.memory().lend(given, &output)?
        {
            let begun = self.with(|bucket| Ok(binding::start_all_reduce(bucket, values, destination)))?;
            let comm = self.comm.clone();
            let end = move |done: Result<(Values, Report), Error>| match done {
                Ok((_, report)) => Ok(Some(report)),
                Err(error) => Err(self.comm.failed(error)),
            };
            return Ok(Request::new(comm, begun, true, end));
        }
        let given = if kind == Kind::AllReduce { self.copy_of(given) } else { given.to_vec() }?;
        let begun = self.with(|bucket| {
            Ok(match kind {
                Kind::ReduceScatter => binding::start_reduce_scatter(bucket, given.into()),
                Kind::AllGather => binding::start_all_gather(bucket, given.into()),
                _ => binding::start_all_reduce(bucket, given.into(), Destination::Bucket),
            })
        })?;
        let comm = self.comm.clone();
        let end = move |done: Result<(Values, Report), Error>| {
            let done = done.map_err(|error| self.comm.failed(error));
            if kind != Kind::AllGather {
                zero_after_halt(&done, &mut output);
            }
            let (values, mut report) = done?;
            output.write(&values);
            if kind == Kind::AllReduce {
                // In and out.
                report.copied_bytes += 2 * size_of_val(&*values) as u64;
                self.spares().push(values.into_vec());
            }
            Ok(Some(report))
        };
        Ok(Request::new(comm, begun, true, end))
    }

    fn copy_of(&self, values: &Input<f32>) -> Result<Vec<f32>, NotEnoughMemory> {
        let spare = self.spares().pop();
        values.to_vec_in(spare.unwrap_or_default())
    }

    fn spares(&self) -> MutexGuard<'_, Vec<Vec<f32>>> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes zeros to the output of a halted reduction, as after a skip.
fn zero_after_halt<T>(done: &Result<T, Failure>, output: &mut Output<f32>) {
    if done.as_ref().is_err_and(|failure| failure.status == OPTR_HALTED) {
        output.fill(0.0);
    }
}
