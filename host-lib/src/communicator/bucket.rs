//! Declared buckets: streams of collectives over the same elements.
//!
//! Why: ranks agree on id, length and options in advance, so losses can be repaired in the next
//! result, and windows can be armed before this rank calls.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use super::command::Given;
use super::error::{Cause, Error, ErrorKind};
use super::flat_bucket::FlatBucket;
use super::levels::LevelsBucket;
use super::memory::Memory;
use super::options::BucketOptions;
use super::report::Report;
use super::request::{Outcome, Request};
use super::settle::Settled;
use optireduce_core::protocol::Kind;
use optireduce_core::{Destination, Values};

/// A declared bucket, from [`Communicator::bucket`](super::Communicator::bucket).
///
/// All ranks make the same calls on the same buckets in the same order, with as many values as the
/// bucket has, or their shard of an all-gather. If a rank passes another number, nothing is sent,
/// the job ends, and all ranks get the same [`ErrorKind::Mismatch`]. A rank that omits one of
/// several equal calls looks late at first; all ranks get the error with the next call of another
/// bucket or kind, or in [`Communicator::close`](super::Communicator::close).
///
/// On two levels ([`groups`](crate::Settings::groups)) it makes all-reduces only. Each group
/// reduce-scatters, equal members of the groups average their shards, and each group gathers the
/// means: see [`Report::parts`]. t_B limits each of the four stages of each window. Lost means are
/// repaired before the next step, in at most 4 t_B each, unless repair is off. Under loss the
/// result is a mean of the groups' means, and all groups count the same. If a rank is gone, its
/// group lacks that rank's shard.
///
/// Several collectives may be in progress. One rank alone may drop a bucket.
#[derive(Debug)]
pub struct Bucket {
    of: Of,
    /// Memory of copies; `None` at first and after an error.
    values: Option<Vec<f32>>,
}

#[derive(Debug)]
enum Of {
    Flat(FlatBucket),
    Levels(LevelsBucket),
}

impl From<FlatBucket> for Bucket {
    fn from(bucket: FlatBucket) -> Self {
        Self { of: Of::Flat(bucket), values: None }
    }
}

impl From<LevelsBucket> for Bucket {
    fn from(bucket: LevelsBucket) -> Self {
        Self { of: Of::Levels(bucket), values: None }
    }
}

impl Bucket {
    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.first().elements
    }

    /// Options, with the communicator's settings filled in.
    pub fn options(&self) -> &BucketOptions {
        &self.first().options
    }

    /// Shard of this rank: see [`Communicator::shard_range`](super::Communicator::shard_range). On
    /// two levels, its shard in its group, which it averages with its equals.
    pub fn shard_range(&self) -> Range<usize> {
        self.first().shard_range()
    }

    /// Reduces `data` over all ranks, in place. Collective, [bounded](crate::Settings::bound).
    ///
    /// The only call that takes a slice, and blocks. It copies `data` and the result, but need not
    /// wake the engine, which small gradients feel.
    ///
    /// `data` is zeros if the update is [skipped](Report::is_applied). With repair, a later result
    /// includes the lost mean.
    ///
    /// # Errors
    /// See [`Error`]; `data` is then unchanged, or zeros after a [halt](crate::ErrorKind::Halted).
    pub fn all_reduce(&mut self, data: &mut [f32]) -> Result<Report, Error> {
        let mut given = self.values.take().unwrap_or_default();
        given.clear();
        given.extend_from_slice(data);
        let finished = self.reduce(Values::from(given).into());
        let (result, mut report) = finished.inspect_err(|error| {
            if error.kind() == ErrorKind::Halted {
                data.fill(0.0);
            }
        })?;
        data.copy_from_slice(&result);
        // In and out.
        report.copied_bytes += 2 * size_of_val(data) as u64;
        self.values = Some(result.into_vec());
        Ok(report)
    }

    /// Starts an all-reduce, which returns the result in the memory of `data`: see [`Memory`].
    /// Collective, [bounded](crate::Settings::bound).
    ///
    /// Each collective in progress takes one more buffer. The result is zeros if the update is
    /// [skipped](Report::is_applied).
    ///
    /// ```no_run
    /// # fn train(mut bucket: optireduce::Bucket, backward: fn(&mut [f32]), apply: fn(&[f32])) -> Result<(), optireduce::Error> {
    /// let mut gradient = bucket.buffer();
    /// loop {
    ///     backward(&mut gradient);
    ///     let (mean, _report) = bucket.start_all_reduce(gradient).wait()?;
    ///     apply(&mean);
    ///     gradient = mean;
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Error`]; the memory is then freed.
    pub fn start_all_reduce<M: Memory>(&mut self, data: M) -> Request<(M, Report)> {
        let (values, destination, back) = data.lend();
        let finish = |outcome: Outcome| {
            let (result, report) = outcome.whole()?;
            Ok((back(result).ok_or(Cause::Closed)?, report))
        };
        self.begin(Kind::AllReduce, (values, destination).into(), finish).wake()
    }

    /// Starts a reduce-scatter: returns this rank's [`shard`](Self::shard_range) of the result at
    /// its place in `data`, whose other elements are unspecified. Collective,
    /// [bounded](crate::Settings::bound), contribute stage only.
    ///
    /// Never repaired or Hadamard-encoded. The shard is zeros if the update is
    /// [skipped](Report::is_applied).
    ///
    /// # Errors
    /// See [`Error`]; the memory is then freed.
    pub fn reduce_scatter<M: Memory>(&mut self, data: M) -> Request<(M, Report)> {
        let (misfit, range) = (self.misfit(&data), self.shard_range());
        let (values, back) = data.lend_to_read();
        let given = Given { values, destination: Destination::Bucket, misfit };
        let finish = |outcome: Outcome| {
            let (shard, report) = outcome.whole()?;
            let mut data = back().ok_or(Cause::Closed)?;
            data.write()[range].copy_from_slice(&shard);
            Ok((data, report))
        };
        self.begin(Kind::ReduceScatter, given, finish).wake()
    }

    /// Starts an all-gather of the [`shard`](Self::shard_range) of every rank: reads this rank's
    /// shard at its place in `data`, and returns all elements. Collective,
    /// [bounded](crate::Settings::bound), broadcast stage only.
    ///
    /// Lost values are zero, and [`Report::missing_from`] lists the ranks of their shards. They are
    /// repaired only with [`Repair::ThisUpdate`](crate::Repair::ThisUpdate).
    /// Never Hadamard-encoded.
    ///
    /// # Errors
    /// See [`Error`]; the memory is then freed.
    pub fn all_gather<M: Memory>(&mut self, data: M) -> Request<(M, Report)> {
        let misfit = self.misfit(&data);
        let shard = data.read().get(self.shard_range()).unwrap_or_default().to_vec();
        let given = Given { values: shard.into(), destination: Destination::Bucket, misfit };
        let finish = |outcome: Outcome| {
            let ((whole, report), mut data) = (outcome.whole()?, data);
            data.put(whole.into_vec());
            Ok((data, report))
        };
        self.begin(Kind::AllGather, given, finish).wake()
    }

    /// Returns as many zeros as the bucket has elements, in memory of earlier calls if possible.
    pub fn buffer(&mut self) -> Vec<f32> {
        let mut values = self.values.take().unwrap_or_default();
        values.clear();
        values.resize(self.elements(), 0.0);
        values
    }

    /// Waits until no repair of this bucket is outstanding, at most `timeout` (`None`: the
    /// communicator's), and returns the repaired values that no result includes yet.
    ///
    /// On two levels it is collective, partly over TCP, and covers all steps. The correction is of
    /// the whole bucket. [`Settled::repairs`] counts the losses of this rank and the losses of its
    /// group's other members among their equals. Finish the requests of earlier all-reduces first.
    ///
    /// Call it on every rank after the last collective of the bucket, or before a checkpoint, and
    /// apply the correction to the model. Ranks must stay connected until all have settled, since
    /// others may fetch from them.
    ///
    /// ```no_run
    /// # fn finish(mut communicator: optireduce::Communicator, mut bucket: optireduce::Bucket, weights: &mut [f32]) -> Result<(), optireduce::Error> {
    /// let settled = bucket.settle(None).wait()?;
    /// if let Some(correction) = &settled.correction {
    ///     weights.iter_mut().zip(correction).for_each(|(weight, gradient)| *weight -= 0.01 * gradient);
    /// }
    /// communicator.close().wait()
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Error`]. A timeout is not an error: see [`Settled::is_settled`].
    pub fn settle(&mut self, timeout: impl Into<Option<Duration>>) -> Request<Settled> {
        match &self.of {
            Of::Flat(bucket) => bucket.settle(timeout.into()),
            Of::Levels(bucket) => bucket.settle(timeout.into()),
        }
    }

    #[cfg(test)]
    pub(super) fn levels(&self) -> Option<&LevelsBucket> {
        match &self.of {
            Of::Levels(bucket) => Some(bucket),
            Of::Flat(_) => None,
        }
    }

    /// The bucket, or its first step on two levels.
    fn first(&self) -> &FlatBucket {
        match &self.of {
            Of::Flat(bucket) => bucket,
            Of::Levels(bucket) => &bucket.scatter,
        }
    }

    pub(super) fn id(&self) -> u16 {
        self.first().id
    }

    /// Reduces on this thread, which drives the engine.
    pub(super) fn reduce(&self, given: Given) -> Result<(Values, Report), Error> {
        match &self.of {
            Of::Flat(bucket) => bucket.send_then(Kind::AllReduce, given, Outcome::whole).wait(),
            Of::Levels(bucket) => bucket.reduce(given)?.whole(),
        }
    }

    /// Starts a collective, whose wait drives the engine.
    pub(super) fn begin<T>(
        &self,
        kind: Kind,
        given: Given,
        finish: impl FnOnce(Outcome) -> Result<T, Error> + Send + 'static,
    ) -> Request<T> {
        match &self.of {
            Of::Flat(bucket) => bucket.send_then(kind, given, finish),
            Of::Levels(bucket) => bucket.begin(kind, given, finish),
        }
    }

    /// Wrong and expected length of memory that the engine does not see whole. The engine reports
    /// the error to the other ranks.
    fn misfit(&self, data: &impl Memory) -> Option<(usize, usize)> {
        data.misfit(self.elements()).map(|found| (found, self.elements()))
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bucket {} of {} elements", self.id(), self.elements())
    }
}
