//! Declared buckets: streams of collectives over the same elements.
//!
//! Why: ranks agree on id, length and options in advance, so losses can be repaired in the next
//! result, and windows can be armed before this rank calls.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::command::{Collective, Command, Given, Settle};
use super::error::{Cause, Error, ErrorKind};
use super::memory::Memory;
use super::report::Report;
use super::request::{Outcome, Request, Sender, reply};
use super::settle::Settled;
use super::{Builder, Communicator, Shared};
use crate::control::{ControlError, Terms};
use crate::memory::{self, NotEnoughMemory};
use optireduce_contract::limits::LANES;
use optireduce_core::protocol::{BUCKETS_MAX, HadamardMode, Kind, Stream, StreamId, plan_windows};
use optireduce_core::{Call, Destination, Values};

/// Ids of buckets; the last one of the wire is for one-off collectives.
const IDS: u16 = BUCKETS_MAX - 1;

/// Gradient, result, encoded gradient, its sums, repair copy.
const BUCKET_BYTES_PER_ELEMENT: u64 = 20;

/// Reduction of an all-reduce or reduce-scatter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReduceOp {
    /// Mean of the values that arrived in time: their sum in fp32, divided. A sum above `f32::MAX`
    /// is infinite, which [`Report::not_finite`](crate::Report::not_finite) counts.
    #[default]
    Avg,
    /// Mean times the number of ranks that take part: the sum, if all values arrived in time.
    Sum,
}

/// Options of a bucket, the same on all ranks. Unset options are the communicator's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // described by the methods of the same names
pub struct BucketOptions {
    pub reduce_op: ReduceOp,
    pub hadamard: Option<HadamardMode>,
    pub bf16: Option<bool>,
    pub repair: Option<bool>,
}

impl BucketOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the reduction. Default: [`ReduceOp::Avg`].
    pub fn reduce_op(self, reduce_op: ReduceOp) -> Self {
        Self { reduce_op, ..self }
    }

    /// Sets when all-reduces are Hadamard-encoded. Default:
    /// [`Settings::hadamard`](crate::Settings::hadamard).
    pub fn hadamard(self, hadamard: impl Into<Option<HadamardMode>>) -> Self {
        Self { hadamard: hadamard.into(), ..self }
    }

    /// Sets whether values travel as bf16. Default: [`Settings::bf16`](crate::Settings::bf16).
    pub fn bf16(self, bf16: impl Into<Option<bool>>) -> Self {
        Self { bf16: bf16.into(), ..self }
    }

    /// Sets whether lost means are repaired in the next result. Default:
    /// [`Settings::repair`](crate::Settings::repair).
    pub fn repair(self, repair: impl Into<Option<bool>>) -> Self {
        Self { repair: repair.into(), ..self }
    }

    fn or(self, builder: &Builder) -> Self {
        let Self { reduce_op, hadamard, bf16, repair } = self;
        Self {
            reduce_op,
            hadamard: hadamard.or(Some(builder.hadamard)),
            bf16: bf16.or(Some(builder.bf16)),
            repair: repair.or(Some(builder.repair)),
        }
    }

    fn terms(&self, call: &str, elements: usize) -> Terms {
        let &Self { reduce_op, hadamard, bf16, repair } = self;
        Terms::default()
            .with("the call", call)
            .with("elements", elements)
            .with("reduce_op", format!("{reduce_op:?}"))
            .with("hadamard", hadamard.unwrap_or_default())
            .with("bf16", bf16.unwrap_or_default())
            .with("repair", repair.unwrap_or_default())
    }
}

/// A declared bucket, from [`Communicator::bucket`].
///
/// All ranks make the same calls on the same buckets in the same order, with as many values as the
/// bucket has, or their shard of an all-gather. If a rank passes another number, nothing is sent,
/// the job ends, and all ranks get the same [`ErrorKind::Mismatch`]. A rank that omits one of
/// several equal calls looks late at first; all ranks get the error with the next call of another
/// bucket or kind, or in [`Communicator::close`].
///
/// Several collectives may be in progress. One rank alone may drop a bucket.
#[derive(Debug)]
pub struct Bucket {
    shared: Arc<Shared>,
    id: u16,
    elements: usize,
    options: BucketOptions,
    generation: u32,
    /// All-gathers of this bucket [add up](Call::adds_up).
    adds_up: bool,
    /// In a job with cards: the same bucket in [`Shared::beside`].
    beside: Option<Box<Bucket>>,
    /// Memory of copies; `None` at first and after an error.
    values: Option<Vec<f32>>,
}

impl Communicator {
    /// Declares a bucket of `elements` values. Collective, over TCP.
    ///
    /// A restarted process declares the buckets of the job in the same order, without the others.
    ///
    /// # Errors
    /// On every rank if lengths or options differ, or a rank has too little memory. If `elements`
    /// is out of range. See also [`barrier`](Self::barrier).
    pub fn bucket(&mut self, elements: usize, options: BucketOptions) -> Request<Bucket> {
        Bucket::declare(&self.shared, elements, options.or(&self.builder))
    }
}

fn require_memory(elements: usize) -> Result<(), NotEnoughMemory> {
    let needed = (elements as u64).saturating_mul(BUCKET_BYTES_PER_ELEMENT);
    memory::require(
        format!("a bucket of {elements} elements"),
        needed,
        "declare a smaller one, or raise this rank's memory limit",
    )
}

fn check_elements(shared: &Shared, elements: usize, options: &BucketOptions) -> Result<(), Error> {
    let ranks = shared.params.ranks;
    let padded = elements.div_ceil(ranks).checked_next_multiple_of(LANES).and_then(|shard| shard.checked_mul(ranks));
    let wire = padded.unwrap_or(usize::MAX);
    let encoded = options.hadamard != Some(HadamardMode::Off);
    let plain = plan_windows(&shared.params, 0, 0, wire, false);
    let plan =
        plain.and_then(|plain| if encoded { plan_windows(&shared.params, 0, 0, elements, true) } else { Ok(plain) });
    let expected = match plan {
        Ok(_) if elements > 0 => return Ok(()),
        Ok(_) => "at least 1".into(),
        Err(error) => format!("less: {error}"),
    };
    Err(Cause::Argument { name: "the number of elements of a bucket", found: elements, expected }.into())
}

impl Bucket {
    fn declare(shared: &Arc<Shared>, elements: usize, options: BucketOptions) -> Request<Self> {
        let (sender, reply) = reply();
        let of = shared.clone();
        // Declares the bucket even if the caller drops the reply.
        shared.run(move |channel| {
            let shared = of;
            let declared = shared.declared.load(Ordering::Relaxed);
            let memory = require_memory(elements);
            let enough = if memory.is_ok() { "enough" } else { "too little" };
            let terms =
                options.terms("bucket", elements).with("buckets before", declared).with("memory for it", enough);
            // Ids wrap around; the generation distinguishes buckets with the same id.
            let id = (declared % u32::from(IDS)) as u16;
            let generation = declared / u32::from(IDS);
            if generation > 0 {
                // Before any rank can call the new one.
                let _ = shared.command(Command::Release { bucket: id, with: None });
            }
            let same = match channel.declared_before(declared as usize) {
                Some((by, before)) => before.compare(by, shared.params.rank, &terms).map_err(ControlError::from),
                None => channel.call(&terms, shared.timeout, |_| Ok(())),
            };
            let same = same.map_err(Error::from);
            let fits = same.and_then(|()| check_elements(&shared, elements, &options));
            let bucket = fits.and_then(|()| Ok(memory?)).map(|()| {
                channel.declared(declared as usize, &terms);
                shared.declared.store(declared.wrapping_add(1), Ordering::Relaxed);
                let (adds_up, beside, values) = (false, None, None);
                Self { shared: shared.clone(), id, elements, options, generation, adds_up, beside, values }
            });
            // On this thread, all ranks declare it in the same order.
            let _ = sender.send(bucket.and_then(Self::with_halves));
        });
        reply.into()
    }

    fn with_halves(mut self) -> Result<Self, Error> {
        if let Some(Ok(beside)) = self.shared.beside.get() {
            self.beside = Some(Self::declare(beside, self.elements, self.options.clone()).wait()?.into());
        }
        Ok(self)
    }

    /// Makes all-gathers [add up](Call::adds_up). The bucket then makes no other calls.
    pub(super) fn adding_up(mut self) -> Self {
        self.adds_up = true;
        self
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn id(&self) -> u16 {
        self.id
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Options, with the communicator's settings filled in.
    pub fn options(&self) -> &BucketOptions {
        &self.options
    }

    /// Shard of this rank: see [`Communicator::shard_range`].
    pub fn shard_range(&self) -> Range<usize> {
        self.shared.shard_range(self.elements)
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
        let finished = self.send(Kind::AllReduce, Values::from(given).into()).wait();
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
        self.send_then(Kind::AllReduce, (values, destination).into(), finish).wake()
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
        self.send_then(Kind::ReduceScatter, given, finish).wake()
    }

    /// Starts an all-gather of the [`shard`](Self::shard_range) of every rank: reads this rank's
    /// shard at its place in `data`, and returns all elements. Collective,
    /// [bounded](crate::Settings::bound), broadcast stage only.
    ///
    /// Lost values are zero, and [`Report::missing_from`] lists the ranks of their shards. They are
    /// repaired only if the communicator [waits for repairs](crate::Repair::ThisUpdate).
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
        self.send_then(Kind::AllGather, given, finish).wake()
    }

    /// Returns as many zeros as the bucket has elements, in memory of earlier calls if possible.
    pub fn buffer(&mut self) -> Vec<f32> {
        let mut values = self.values.take().unwrap_or_default();
        values.clear();
        values.resize(self.elements, 0.0);
        values
    }

    /// Waits until no repair of this bucket is outstanding, at most `timeout` (`None`: the
    /// communicator's), and returns the repaired values that no result includes yet.
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
        let (sender, settled) = reply();
        let sum = self.options.reduce_op == ReduceOp::Sum;
        let until = Instant::now().checked_add(timeout.into().unwrap_or(self.shared.timeout));
        // Every declared bucket has a stream. A dropped reply is an error.
        if let Some(stream) = self.stream_id() {
            let beside = self.beside.as_ref().filter(|_| self.shared.falls_back);
            let beside = beside.and_then(|beside| beside.stream_id());
            let settle = Settle { stream, beside, before: None, sum, until, reply: sender };
            let _ = self.shared.command(Command::Settle(settle));
        }
        settled.into()
    }

    /// Wrong and expected length of memory that the engine does not see whole. The engine reports
    /// the error to the other ranks.
    fn misfit(&self, data: &impl Memory) -> Option<(usize, usize)> {
        data.misfit(self.elements).map(|found| (found, self.elements))
    }

    /// Starts a step of an all-reduce on two levels. Its wait drives the engine.
    pub(super) fn step(&self, kind: Kind, given: Vec<f32>) -> Request<(Vec<f32>, Report)> {
        self.send_then(kind, Values::from(given).into(), |outcome| {
            let (values, report) = outcome.step();
            Ok((values.into_vec(), report))
        })
    }

    fn stream(&self) -> Stream {
        Stream::Declared { generation: self.generation }
    }

    pub(super) fn stream_id(&self) -> Option<StreamId> {
        let kind = if self.adds_up { Kind::AllGather } else { Kind::AllReduce };
        Some(StreamId { bucket: kind.wire_bucket(self.id)?, generation: self.generation, elements: self.elements })
    }

    /// Starts a collective. Its wait drives the engine.
    pub(super) fn send(&self, kind: Kind, given: Given) -> Request<(Values, Report)> {
        self.send_then(kind, given, Outcome::whole)
    }

    fn send_then<T>(
        &self,
        kind: Kind,
        given: Given,
        finish: impl FnOnce(Outcome) -> Result<T, Error> + Send + 'static,
    ) -> Request<T> {
        let passes_engine = kind == Kind::AllReduce || self.shared.falls_back;
        if let Some(beside) = self.beside.as_ref().filter(|_| !passes_engine) {
            return beside.send_then(kind, given, finish);
        }
        let (sender, reply) = reply();
        self.answer_to(kind, given, sender);
        Request::of_collective(reply, self.shared.clone(), finish)
    }

    /// If the engine has ended, the reply channel closes.
    fn answer_to(&self, kind: Kind, given: Given, reply: Sender<Outcome>) {
        if let Err(error) = self.shared.beside(kind) {
            return drop(reply.send(Err(error)));
        }
        let (&Self { id: bucket, elements, adds_up, .. }, stream) = (self, self.stream());
        let BucketOptions { reduce_op, hadamard, bf16, repair } = self.options;
        let (hadamard, repair) = (hadamard.unwrap_or_default(), repair.unwrap_or_default());
        let call = Call { kind, bucket, elements, hadamard, bf16, repair, stream, adds_up };
        let sum = reduce_op == ReduceOp::Sum && kind != Kind::AllGather;
        let there = self.beside.as_deref().unwrap_or(self);
        let beside = self.shared.falls_back.then_some((there.id, there.stream()));
        let here = matches!(given.destination, Destination::Here(_));
        let call = Collective { call, sum, here, beside };
        let _ = self.shared.enqueue(Command::Collective { call, given, correction: None, reply });
    }
}

impl Drop for Bucket {
    /// Does not cancel collectives in progress.
    fn drop(&mut self) {
        // Its calls may still be on their way to the other engine.
        let with = self.beside.take().map(|beside| beside as Box<dyn Send>);
        let _ = self.shared.command(Command::Release { bucket: self.id, with });
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bucket {} of {} elements", self.id, self.elements)
    }
}
