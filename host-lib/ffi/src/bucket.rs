//! A declared bucket behind a handle.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use optireduce::memory::NotEnoughMemory;
use optireduce::{BucketOptions, Error, Kind, Report, Settled, UpdateAction, Values};

use crate::comm::Comm;
use crate::raw::{Input, Output};
use crate::request::Request;
use crate::status::Failure;
use crate::types::optr_status_t::OPTR_BUSY;

#[derive(Debug)]
pub struct Bucket {
    comm: Arc<Comm>,
    inner: Mutex<optireduce::Bucket>,
    elements: usize,
    shard_elements: usize,
    /// Buffers of requests that are done, for the next ones.
    spares: Mutex<Vec<Vec<f32>>>,
}

impl Bucket {
    pub fn declare(comm: Arc<Comm>, elements: usize, options: BucketOptions) -> Result<Self, Failure> {
        let bucket = comm.call(|communicator| communicator.start_bucket(elements, options))?;
        let shard_elements = bucket.shard_range().len();
        Ok(Self { comm, inner: Mutex::new(bucket), elements, shard_elements, spares: Mutex::default() })
    }

    pub fn comm(&self) -> &Arc<Comm> {
        &self.comm
    }

    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Elements that belong to this rank.
    pub fn shard_elements(&self) -> usize {
        self.shard_elements
    }

    /// Reduces `given`; the result goes to `output` if the update counts.
    pub fn all_reduce(&self, given: &Input<f32>, output: &mut Output<f32>) -> Result<Report, Failure> {
        if let Some((values, destination)) = self.comm.memory().lend(given, output)? {
            return self.with(|bucket| bucket.all_reduce_lent(values, destination).map(|(_, report)| report));
        }
        self.with(|bucket| {
            // Its memory lies elsewhere once the values have travelled.
            if output.overlaps(bucket.values_mut()) {
                let expected = "memory of the caller's; optr_bucket_all_reduce_in_place reduces that of the bucket";
                return Ok(Err(Failure::argument("output", "the bucket's own memory", expected)));
            }
            if given.elements() != bucket.elements() {
                // Tells all ranks.
                return bucket.all_reduce_owned(given.to_vec()?).map(|(_, report)| Ok(report));
            }
            given.copy_over(bucket.values_mut());
            let mut report = bucket.all_reduce_in_place()?;
            report.add_copied(bucket.values_mut());
            if report.action() == UpdateAction::Apply {
                output.write(bucket.values_mut());
                report.add_copied(bucket.values_mut());
            }
            Ok(Ok(report))
        })?
    }

    /// As [`all_reduce`](Self::all_reduce), for the shard of this rank.
    pub fn reduce_scatter(&self, given: &Input<f32>, output: &mut Output<f32>) -> Result<Report, Failure> {
        self.with(|bucket| {
            let (shard, report) = bucket.start_reduce_scatter(given.to_vec()?).wait()?;
            if report.action() == UpdateAction::Apply {
                output.write(&shard);
            }
            Ok(report)
        })
    }

    /// Gathers the shards of all ranks in `output`.
    pub fn all_gather(&self, shard: &Input<f32>, output: &mut Output<f32>) -> Result<Report, Failure> {
        self.with(|bucket| {
            let (whole, report) = bucket.start_all_gather(shard.to_vec()?).wait()?;
            output.write(&whole);
            Ok(report)
        })
    }

    /// Reduces the bucket's own values.
    pub fn all_reduce_in_place(&self) -> Result<Report, Failure> {
        self.with(optireduce::Bucket::all_reduce_in_place)
    }

    /// Where the bucket's own values lie.
    pub fn values(&self) -> Result<*mut f32, Failure> {
        self.with(|bucket| Ok(bucket.values_mut().as_mut_ptr()))
    }

    /// Waits until nothing of it is outstanding any more, at most `timeout` (`None`: that of the communicator).
    pub fn settle(&self, timeout: Option<Duration>) -> Result<Settled, Failure> {
        self.with(|bucket| bucket.settle(timeout))
    }

    /// Something with the bucket, by one thread at a time.
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

    /// Begins a collective; the result goes to `output` when somebody waits for the request.
    pub fn start(self: Arc<Self>, kind: Kind, given: &Input<f32>, mut output: Output<f32>) -> Result<Request, Failure> {
        if kind == Kind::AllReduce
            && let Some((values, destination)) = self.comm.memory().lend(given, &output)?
        {
            let begun = self.with(|bucket| Ok(bucket.start_all_reduce_lent(values, destination)))?;
            let comm = self.comm.clone();
            let end = move |done: Result<(Values, Report), Error>| match done {
                Ok((_, report)) => Ok(Some(report)),
                Err(error) => Err(self.comm.failed(error)),
            };
            return Ok(Request::new(comm, begun, end));
        }
        let given = if kind == Kind::AllReduce { self.copy_of(given) } else { given.to_vec() }?;
        let begun = self.with(|bucket| {
            Ok(match kind {
                Kind::ReduceScatter => bucket.start_reduce_scatter(given),
                Kind::AllGather => bucket.start_all_gather(given),
                _ => bucket.start_all_reduce(given),
            })
        })?;
        let comm = self.comm.clone();
        let end = move |done: Result<(Vec<f32>, Report), Error>| {
            let (values, mut report) = done.map_err(|error| self.comm.failed(error))?;
            let applied = report.action() == UpdateAction::Apply;
            if kind == Kind::AllGather || applied {
                output.write(&values);
            }
            if kind == Kind::AllReduce {
                report.add_copied(&values);
                if applied {
                    report.add_copied(&values);
                }
                self.spares().push(values);
            }
            Ok(Some(report))
        };
        Ok(Request::new(comm, begun, end))
    }

    /// A copy of the values, where an earlier one was.
    fn copy_of(&self, values: &Input<f32>) -> Result<Vec<f32>, NotEnoughMemory> {
        let spare = self.spares().pop();
        values.to_vec_in(spare.unwrap_or_default())
    }

    fn spares(&self) -> MutexGuard<'_, Vec<Vec<f32>>> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
