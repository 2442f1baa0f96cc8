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
use super::error::Error;
use super::report::Report;
use super::request::{Outcome, Pending, Request, Sender, block_on, reply};
use super::settle::Settled;
use super::{Builder, Communicator, Shared};
use crate::control::{ControlError, Terms};
use crate::memory::{self, NotEnoughMemory};
use optireduce_contract::limits::LANES;
use optireduce_core::protocol::{BUCKETS_MAX, HadamardMode, Kind, Stream, StreamId, plan_windows};
use optireduce_core::{Call, Destination, Values};

/// Id of one-off collectives.
const ONE_OFF: u16 = BUCKETS_MAX - 1;

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
/// the job ends, and all ranks get the same [`Error::Mismatch`]. A rank that omits one of several
/// equal calls looks late at first; all ranks get the error with the next call of another bucket or
/// kind, or in [`Communicator::close`].
///
/// Several collectives may be in progress. One rank alone may drop a bucket.
#[derive(Debug)]
pub struct Bucket {
    shared: Arc<Shared>,
    id: u16,
    elements: usize,
    options: BucketOptions,
    stream: Stream,
    /// All-gathers of this bucket [add up](Call::adds_up).
    adds_up: bool,
    /// In a job with cards: the same bucket in [`Shared::beside`].
    beside: Option<Box<Bucket>>,
    /// Buffer of calls in place and of copies; `None` at first and after an error.
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
    pub fn bucket(&mut self, elements: usize, options: BucketOptions) -> Result<Bucket, Error> {
        self.start_bucket(elements, options).wait()
    }

    /// Async form of [`bucket`](Self::bucket).
    pub async fn bucket_async(&mut self, elements: usize, options: BucketOptions) -> Result<Bucket, Error> {
        self.start_bucket(elements, options).await
    }

    /// Starts [`bucket`](Self::bucket).
    pub fn start_bucket(&mut self, elements: usize, options: BucketOptions) -> Pending<Bucket> {
        Bucket::declare(&self.shared, elements, options.or(&self.builder))
    }

    /// Averages `data` over all ranks once. Collective, [bounded](crate::Settings::bound).
    ///
    /// Slower than a [`bucket`](Self::bucket), since ranks first compare the call and finally
    /// repair losses. `data` is zeros if the update is [skipped](Report::is_applied).
    ///
    /// # Errors
    /// See [`Error`]; `data` is then unchanged.
    pub fn all_reduce(&mut self, data: &mut [f32]) -> Result<Report, Error> {
        block_on(self.all_reduce_async(data))
    }

    /// Async form of [`all_reduce`](Self::all_reduce).
    pub async fn all_reduce_async(&mut self, data: &mut [f32]) -> Result<Report, Error> {
        let (result, report) = self.start_all_reduce(data.to_vec()).await?;
        data.copy_from_slice(&result);
        Ok(report)
    }

    /// Starts [`all_reduce`](Self::all_reduce).
    pub fn start_all_reduce(&mut self, data: Vec<f32>) -> Request {
        self.one_off(Kind::AllReduce, data.len(), data)
    }

    /// Averages `data` over all ranks once, and returns this rank's [`shard`](Self::shard_range) of
    /// the mean. Collective. See [`Bucket::reduce_scatter`].
    pub fn reduce_scatter(&mut self, data: &[f32]) -> Result<(Vec<f32>, Report), Error> {
        block_on(self.reduce_scatter_async(data))
    }

    /// Async form of [`reduce_scatter`](Self::reduce_scatter).
    pub async fn reduce_scatter_async(&mut self, data: &[f32]) -> Result<(Vec<f32>, Report), Error> {
        self.start_reduce_scatter(data.to_vec()).await
    }

    /// Starts [`reduce_scatter`](Self::reduce_scatter).
    pub fn start_reduce_scatter(&mut self, data: Vec<f32>) -> Request {
        self.one_off(Kind::ReduceScatter, data.len(), data)
    }

    /// Gathers the [`shard`](Self::shard_range) of every rank once, and returns all `elements`
    /// values. Collective.
    ///
    /// Missing values are zero: see [`Report::missing_ranges`].
    pub fn all_gather(&mut self, elements: usize, shard: &[f32]) -> Result<(Vec<f32>, Report), Error> {
        block_on(self.all_gather_async(elements, shard))
    }

    /// Async form of [`all_gather`](Self::all_gather).
    pub async fn all_gather_async(&mut self, elements: usize, shard: &[f32]) -> Result<(Vec<f32>, Report), Error> {
        self.start_all_gather(elements, shard.to_vec()).await
    }

    /// Starts [`all_gather`](Self::all_gather).
    pub fn start_all_gather(&mut self, elements: usize, shard: Vec<f32>) -> Request {
        self.one_off(Kind::AllGather, elements, shard)
    }

    fn one_off(&self, kind: Kind, elements: usize, given: Vec<f32>) -> Request {
        match &self.beside {
            Some(beside) if kind != Kind::AllReduce && !self.shared.falls_back => {
                return beside.one_off(kind, elements, given);
            }
            _ => {}
        }
        let (sender, reply) = reply();
        if let Err(error) = self.shared.beside(kind) {
            let _ = sender.send(Err(error));
            return Request::new(reply, self.shared.clone());
        }
        let options = BucketOptions::new().or(&self.builder);
        let (shared, stream) = (self.shared.clone(), Stream::OneOff);
        let (shared_by, beside, values) = (shared.clone(), None, None);
        let (id, adds_up) = (ONE_OFF, false);
        let bucket = Bucket { shared: shared_by, id, elements, options, stream, adds_up, beside, values };
        self.shared.run(move |channel| {
            let given_elements = match bucket.given_elements(kind) {
                expected if expected == given.len() => "as many as are this rank's".into(),
                expected => format!("{} instead of {expected}", given.len()),
            };
            let terms = bucket.options.terms(&kind.to_string(), elements).with("elements given", given_elements);
            let same = channel.call(&terms, bucket.shared.timeout, |_| Ok(())).map_err(Error::from);
            let checked = same.and_then(|()| check_elements(&bucket.shared, elements, &bucket.options));
            match checked.and_then(|()| bucket.check_given(kind, &given)) {
                Ok(()) => {
                    bucket.answer_to(kind, given.into(), sender);
                    bucket.shared.driver.wake();
                }
                Err(error) => drop(sender.send(Err(error))),
            }
        });
        Request::new(reply, shared)
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
    Err(Error::Argument { name: "the number of elements of a bucket", found: elements, expected })
}

impl Bucket {
    fn declare(shared: &Arc<Shared>, elements: usize, options: BucketOptions) -> Pending<Self> {
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
            let id = (declared % u32::from(ONE_OFF)) as u16;
            let generation = declared / u32::from(ONE_OFF);
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
                let stream = Stream::Declared { generation };
                let (adds_up, beside, values) = (false, None, None);
                Self { shared: shared.clone(), id, elements, options, stream, adds_up, beside, values }
            });
            // On this thread, all ranks declare it in the same order.
            let _ = sender.send(bucket.and_then(Self::with_halves));
        });
        Pending::new(reply)
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

    /// Id of the bucket, the same on all ranks.
    pub fn id(&self) -> u16 {
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
    /// `data` is zeros if the update is [skipped](Report::is_applied). With repair, a later result
    /// includes the lost mean. Copies `data` and the result;
    /// [`all_reduce_in_place`](Self::all_reduce_in_place) and
    /// [`all_reduce_owned`](Self::all_reduce_owned) do not.
    ///
    /// # Errors
    /// See [`Error`]; `data` is then unchanged, or zeros after a [halt](Error::Halted).
    pub fn all_reduce(&mut self, data: &mut [f32]) -> Result<Report, Error> {
        let given = self.copy_of(data);
        let finished = self.call(Kind::AllReduce, given);
        self.copy_back(finished, data)
    }

    /// Async form of [`all_reduce`](Self::all_reduce).
    pub async fn all_reduce_async(&mut self, data: &mut [f32]) -> Result<Report, Error> {
        let given = self.copy_of(data);
        let finished = self.begin(Kind::AllReduce, given).await;
        self.copy_back(finished, data)
    }

    fn copy_of(&mut self, data: &[f32]) -> Vec<f32> {
        let mut given = self.values.take().unwrap_or_default();
        given.clear();
        given.extend_from_slice(data);
        given
    }

    fn copy_back(&mut self, finished: Result<(Vec<f32>, Report), Error>, data: &mut [f32]) -> Result<Report, Error> {
        let (result, mut report) = finished.inspect_err(|error| {
            if matches!(error, Error::Halted { .. }) {
                data.fill(0.0);
            }
        })?;
        data.copy_from_slice(&result);
        // In and out.
        (0..2).for_each(|_| report.add_copied(data));
        self.values = Some(result);
        Ok(report)
    }

    /// Values of the bucket: the gradient before [`all_reduce_in_place`](Self::all_reduce_in_place)
    /// and the result after it. Zeros at first and after a failed call.
    pub fn values_mut(&mut self) -> &mut [f32] {
        let elements = self.elements;
        self.values.get_or_insert_with(|| vec![0.0; elements])
    }

    /// Reduces the [bucket's values](Self::values_mut) over all ranks. Collective,
    /// [bounded](crate::Settings::bound).
    ///
    /// Copies and allocates nothing; the values move to other memory with each call. They are zeros
    /// if the update is [skipped](Report::is_applied).
    ///
    /// ```no_run
    /// # fn train(mut bucket: optireduce::Bucket, backward: fn(&mut [f32]), apply: fn(&[f32])) -> Result<(), optireduce::Error> {
    /// loop {
    ///     backward(bucket.values_mut());
    ///     let _report = bucket.all_reduce_in_place()?;
    ///     apply(bucket.values_mut());
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Error`]; the values are then zero.
    pub fn all_reduce_in_place(&mut self) -> Result<Report, Error> {
        let given = self.values.take().unwrap_or_else(|| self.buffer());
        let (values, report) = self.call(Kind::AllReduce, given)?;
        self.values = Some(values);
        Ok(report)
    }

    /// Async form of [`all_reduce_in_place`](Self::all_reduce_in_place).
    pub async fn all_reduce_in_place_async(&mut self) -> Result<Report, Error> {
        let given = self.values.take().unwrap_or_else(|| self.buffer());
        let (values, report) = self.begin(Kind::AllReduce, given).await?;
        self.values = Some(values);
        Ok(report)
    }

    /// Returns as many zeros as the bucket has elements.
    pub fn buffer(&self) -> Vec<f32> {
        vec![0.0; self.elements]
    }

    /// Reduces `data` over all ranks and returns the result. Collective,
    /// [bounded](crate::Settings::bound). The async form is
    /// [`start_all_reduce`](Self::start_all_reduce).
    ///
    /// Copies nothing, and allocates nothing if each call passes the last returned buffer. Returns
    /// zeros if the update is [skipped](Report::is_applied).
    ///
    /// ```no_run
    /// # fn train(mut bucket: optireduce::Bucket, backward: fn(&mut [f32]), apply: fn(&[f32])) -> Result<(), optireduce::Error> {
    /// let mut gradient = bucket.buffer();
    /// loop {
    ///     backward(&mut gradient);
    ///     let (mean, _report) = bucket.all_reduce_owned(gradient)?;
    ///     apply(&mean);
    ///     gradient = mean;
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Error`]; the buffer is then lost.
    pub fn all_reduce_owned(&mut self, data: Vec<f32>) -> Result<(Vec<f32>, Report), Error> {
        self.call(Kind::AllReduce, data)
    }

    /// Starts [`all_reduce_owned`](Self::all_reduce_owned). Each collective in progress takes one
    /// more buffer.
    pub fn start_all_reduce(&mut self, data: Vec<f32>) -> Request {
        self.begin(Kind::AllReduce, data)
    }

    /// As [`all_reduce_owned`](Self::all_reduce_owned), with caller-owned memory. Collective. The
    /// async form is [`start_all_reduce_lent`](Self::start_all_reduce_lent).
    ///
    /// Sends from `data`, and returns the result in the memory of `destination`.
    /// [`Report::copied_bytes`] counts:
    ///
    /// * [`Destination::Here`]: nothing, or the result once if stages had closed before the call.
    /// * [`Destination::Gradient`]: the result once.
    ///
    /// Lent memory is given back by dropping it, at the latest with the communicator. The
    /// destination is zeros after a [halt](Error::Halted), and if the update is
    /// [skipped](Report::is_applied).
    ///
    /// # Errors
    /// See [`Error`]. If the length of the destination is wrong, nothing was started.
    pub fn all_reduce_lent(&mut self, data: Values, destination: Destination) -> Result<(Values, Report), Error> {
        self.call(Kind::AllReduce, Given { values: data, destination })
    }

    /// Starts [`all_reduce_lent`](Self::all_reduce_lent).
    pub fn start_all_reduce_lent(&mut self, data: Values, destination: Destination) -> Request<Values> {
        self.begin(Kind::AllReduce, Given { values: data, destination })
    }

    /// Reduces `data` over all ranks and returns this rank's [`shard`](Self::shard_range).
    /// Collective, [bounded](crate::Settings::bound), contribute stage only. The async form is
    /// [`start_reduce_scatter`](Self::start_reduce_scatter).
    ///
    /// Never repaired or Hadamard-encoded. The shard is zeros if the update is
    /// [skipped](Report::is_applied).
    pub fn reduce_scatter(&mut self, data: &[f32]) -> Result<(Vec<f32>, Report), Error> {
        self.call(Kind::ReduceScatter, data.to_vec())
    }

    /// Starts [`reduce_scatter`](Self::reduce_scatter). [Lent](Values::lent) memory is returned
    /// once it was read.
    pub fn start_reduce_scatter(&mut self, data: impl Into<Values>) -> Request {
        self.begin(Kind::ReduceScatter, data)
    }

    /// Gathers the [`shard`](Self::shard_range) of every rank and returns all elements. Collective,
    /// [bounded](crate::Settings::bound), broadcast stage only. The async form is
    /// [`start_all_gather`](Self::start_all_gather).
    ///
    /// Lost values are zero, and [`Report::missing_from`] lists the ranks of their shards. They are
    /// repaired only if the communicator [waits for repairs](crate::Repair::ThisUpdate).
    /// Never Hadamard-encoded.
    pub fn all_gather(&mut self, shard: &[f32]) -> Result<(Vec<f32>, Report), Error> {
        self.call(Kind::AllGather, shard.to_vec())
    }

    /// Starts [`all_gather`](Self::all_gather). [Lent](Values::lent) memory is returned once it was
    /// read.
    pub fn start_all_gather(&mut self, shard: impl Into<Values>) -> Request {
        self.begin(Kind::AllGather, shard)
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
    /// let settled = bucket.settle(None)?;
    /// if let Some(correction) = &settled.correction {
    ///     weights.iter_mut().zip(correction).for_each(|(weight, gradient)| *weight -= 0.01 * gradient);
    /// }
    /// communicator.close()
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Error`]. A timeout is not an error: see [`Settled::is_settled`].
    pub fn settle(&mut self, timeout: impl Into<Option<Duration>>) -> Result<Settled, Error> {
        block_on(self.settle_async(timeout))
    }

    /// Async form of [`settle`](Self::settle).
    pub async fn settle_async(&mut self, timeout: impl Into<Option<Duration>>) -> Result<Settled, Error> {
        self.start_settle(timeout).await
    }

    /// Starts [`settle`](Self::settle).
    pub fn start_settle(&mut self, timeout: impl Into<Option<Duration>>) -> Pending<Settled> {
        let (sender, settled) = reply();
        let sum = self.options.reduce_op == ReduceOp::Sum;
        let until = Instant::now().checked_add(timeout.into().unwrap_or(self.shared.timeout));
        // Only declared buckets reach callers. A dropped reply is an error.
        if let Some(stream) = self.stream_id() {
            let beside = self.beside.as_ref().filter(|_| self.shared.falls_back);
            let beside = beside.and_then(|beside| beside.stream_id());
            let settle = Settle { stream, beside, before: None, sum, until, reply: sender };
            let _ = self.shared.command(Command::Settle(settle));
        }
        Pending::new(settled)
    }

    /// The engine checks the length, to report a wrong one to the other ranks.
    fn begin<V: From<Values>>(&self, kind: Kind, given: impl Into<Given>) -> Request<V> {
        let request = self.send(kind, given.into());
        request.wake();
        request
    }

    fn call<V: From<Values>>(&self, kind: Kind, given: impl Into<Given>) -> Result<(V, Report), Error> {
        self.send(kind, given.into()).wait()
    }

    /// Starts a [step](Request::step) of an all-reduce on two levels. Its wait drives the engine.
    pub(super) fn step(&self, kind: Kind, given: Vec<f32>) -> Request {
        self.send(kind, given.into()).step()
    }

    /// As [`step`](Self::step), and wakes the engine.
    pub(super) fn start_step(&self, kind: Kind, given: Vec<f32>) -> Request {
        self.begin(kind, given).step()
    }

    pub(super) fn stream_id(&self) -> Option<StreamId> {
        match self.stream {
            Stream::Declared { generation } => {
                let kind = if self.adds_up { Kind::AllGather } else { Kind::AllReduce };
                Some(StreamId { bucket: kind.wire_bucket(self.id)?, generation, elements: self.elements })
            }
            Stream::OneOff => None,
        }
    }

    fn given_elements(&self, kind: Kind) -> usize {
        if kind == Kind::AllGather { self.shard_range().len() } else { self.elements }
    }

    fn check_given(&self, kind: Kind, given: &[f32]) -> Result<(), Error> {
        let (found, expected) = (given.len(), self.given_elements(kind));
        if found == expected {
            return Ok(());
        }
        let gathers = kind == Kind::AllGather;
        let name = if gathers { "the number of elements of the shard" } else { "the number of elements" };
        Err(Error::Argument { name, found, expected: expected.to_string() })
    }

    fn send<V: From<Values>>(&self, kind: Kind, given: Given) -> Request<V> {
        let passes_engine = kind == Kind::AllReduce || self.shared.falls_back;
        if let Some(beside) = self.beside.as_ref().filter(|_| !passes_engine) {
            return beside.send(kind, given);
        }
        let (sender, reply) = reply();
        self.answer_to(kind, given, sender);
        Request::new(reply, self.shared.clone())
    }

    /// If the engine has ended, the reply channel closes.
    fn answer_to(&self, kind: Kind, given: Given, reply: Sender<Outcome>) {
        if let Err(error) = self.shared.beside(kind) {
            return drop(reply.send(Err(error)));
        }
        let &Self { id: bucket, elements, stream, adds_up, .. } = self;
        if let Destination::Here(values) = &given.destination
            && values.len() != elements
        {
            let (name, found) = ("the number of elements of the destination", values.len());
            return drop(reply.send(Err(Error::Argument { name, found, expected: elements.to_string() })));
        }
        let BucketOptions { reduce_op, hadamard, bf16, repair } = self.options;
        let (hadamard, repair) = (hadamard.unwrap_or_default(), repair.unwrap_or_default());
        let call = Call { kind, bucket, elements, hadamard, bf16, repair, stream, adds_up };
        let sum = reduce_op == ReduceOp::Sum && kind != Kind::AllGather;
        // A one-off collective has the same id and stream in both jobs.
        let there = self.beside.as_deref().unwrap_or(self);
        let beside = self.shared.falls_back.then_some((there.id, there.stream));
        let here = matches!(given.destination, Destination::Here(_));
        let call = Collective { call, sum, here, beside };
        let _ = self.shared.enqueue(Command::Collective { call, given, correction: None, reply });
    }
}

impl Drop for Bucket {
    /// Does not cancel collectives in progress.
    fn drop(&mut self) {
        if self.stream != Stream::OneOff {
            // Its calls may still be on their way to the other engine.
            let with = self.beside.take().map(|beside| beside as Box<dyn Send>);
            let _ = self.shared.command(Command::Release { bucket: self.id, with });
        }
    }
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bucket {} of {} elements", self.id, self.elements)
    }
}
