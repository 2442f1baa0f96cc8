//! Declared buckets: what is reduced again and again.
//!
//! Why: all ranks must agree on what a bucket is before its packets fly. A declaration settles that once, so that what a
//! collective lost can be repaired in the bucket's next output, and windows can be armed before this rank comes.

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
use optireduce_core::protocol::{BUCKETS_MAX, HadamardMode, Kind, Stream, StreamId, UpdateAction, plan_windows};
use optireduce_core::{Call, Destination, Values};

/// The bucket of one-off collectives.
const ONE_OFF: u16 = BUCKETS_MAX - 1;

/// What is taken for each element of a bucket: the gradient, the result, an encoded gradient and its sums, and what is kept for
/// repairs, 4 bytes each.
const BUCKET_BYTES_PER_ELEMENT: u64 = 20;

/// What an all-reduce or reduce-scatter does with the values of all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReduceOp {
    /// The mean of the values that came in time.
    #[default]
    Avg,
    /// That mean times the ranks that take part: the sum, if everything came in time, else an estimate of it.
    Sum,
}

/// How a bucket is reduced; the same on all ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BucketOptions {
    /// See [`reduce_op`](Self::reduce_op).
    pub reduce_op: ReduceOp,
    /// See [`hadamard`](Self::hadamard).
    pub hadamard: Option<HadamardMode>,
    /// See [`bf16`](Self::bf16).
    pub bf16: Option<bool>,
    /// See [`repair`](Self::repair).
    pub repair: Option<bool>,
}

impl BucketOptions {
    /// The defaults: means, everything else as the communicator is set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Mean or sum. Default: mean.
    pub fn reduce_op(self, reduce_op: ReduceOp) -> Self {
        Self { reduce_op, ..self }
    }

    /// When all-reduces of this bucket are Hadamard-encoded. Default: as [`Builder::hadamard`] says.
    pub fn hadamard(self, hadamard: impl Into<Option<HadamardMode>>) -> Self {
        Self { hadamard: hadamard.into(), ..self }
    }

    /// Whether this bucket travels as bf16: half the bytes, relative errors of at most 2^-8; sums stay fp32. Default: as
    /// [`Builder::bf16`] says.
    pub fn bf16(self, bf16: impl Into<Option<bool>>) -> Self {
        Self { bf16: bf16.into(), ..self }
    }

    /// Whether what this rank misses of a result is fetched and added to the bucket's next result. Without it replicas stay
    /// different where something was lost. Default: as [`Builder::repair`] says.
    pub fn repair(self, repair: impl Into<Option<bool>>) -> Self {
        Self { repair: repair.into(), ..self }
    }

    /// These, with everything that is not set as the communicator is.
    fn or(self, builder: &Builder) -> Self {
        let Self { reduce_op, hadamard, bf16, repair } = self;
        Self {
            reduce_op,
            hadamard: hadamard.or(Some(builder.hadamard)),
            bf16: bf16.or(Some(builder.bf16)),
            repair: repair.or(Some(builder.repair)),
        }
    }

    /// What must be the same on all ranks.
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

/// A declared bucket: a stream of collectives over as many elements, from [`Communicator::bucket`].
///
/// All ranks make the same calls on the same buckets in the same order, and hand in as many values as the bucket has (in an
/// all-gather, their shard). A rank that hands in another number ends the job: nothing is sent, and all ranks get the same
/// [`Error::Mismatch`], which names the rank and the number.
///
/// A rank that leaves out one of several equal calls of a bucket looks like a rank that is late, and its later calls pair with
/// earlier ones of its peers; the error comes, on every rank, with the next call that differs (of another bucket or kind) or in
/// [`Communicator::close`], whichever is first.
///
/// Several collectives may run at once, of one bucket or of
/// several. What one of them lost is repaired in the next output of the same bucket, if the communicator repairs. A
/// bucket may be dropped on one rank alone.
#[derive(Debug)]
pub struct Bucket {
    shared: Arc<Shared>,
    id: u16,
    elements: usize,
    options: BucketOptions,
    stream: Stream,
    /// In a job with cards: the same bucket where halves are made, see [`Shared::beside`].
    beside: Option<Box<Bucket>>,
    /// Its values, for calls in place and for slice calls to copy into; `None` before the first, and after an error.
    values: Option<Vec<f32>>,
}

impl Communicator {
    /// Declares a bucket of `elements` values: settles its id, length and options among all ranks. Collective; a process that was
    /// started again declares the buckets that the others have, in the same order, and alone.
    ///
    /// # Errors
    /// On every rank if lengths or options differ, naming rank, field and both values; nothing was changed then. As
    /// [`barrier`](Self::barrier), or if a bucket cannot have so many elements, or a rank has too little memory for it.
    pub fn bucket(&mut self, elements: usize, options: BucketOptions) -> Result<Bucket, Error> {
        self.start_bucket(elements, options).wait()
    }

    /// As [`bucket`](Self::bucket), without blocking the thread.
    ///
    /// # Errors
    /// As [`bucket`](Self::bucket).
    pub async fn bucket_async(&mut self, elements: usize, options: BucketOptions) -> Result<Bucket, Error> {
        self.start_bucket(elements, options).await
    }

    /// Begins as [`bucket`](Self::bucket).
    pub fn start_bucket(&mut self, elements: usize, options: BucketOptions) -> Pending<Bucket> {
        Bucket::declare(&self.shared, elements, options.or(&self.builder))
    }

    /// Averages `data` over all ranks, once. Collective. First all ranks compare what they call; at the end this rank fetches
    /// what it missed of the mean, and [`Report::missing_ranges`] says what it could not get within the timeout. For what is
    /// reduced again and again, declare a [`bucket`](Self::bucket), which costs less.
    ///
    /// If the report does not say [`UpdateAction::Apply`], too much was lost, and `data` is unchanged.
    ///
    /// # Errors
    /// See [`Error`]; `data` is then unchanged.
    pub fn all_reduce(&mut self, data: &mut [f32]) -> Result<Report, Error> {
        block_on(self.all_reduce_async(data))
    }

    /// As [`all_reduce`](Self::all_reduce), without blocking the thread.
    ///
    /// # Errors
    /// As [`all_reduce`](Self::all_reduce).
    pub async fn all_reduce_async(&mut self, data: &mut [f32]) -> Result<Report, Error> {
        let (result, report) = self.start_all_reduce(data.to_vec()).await?;
        if report.action() == UpdateAction::Apply {
            data.copy_from_slice(&result);
        }
        Ok(report)
    }

    /// Begins as [`all_reduce`](Self::all_reduce). Values come back also of an update that is to be skipped: what came of it.
    pub fn start_all_reduce(&mut self, data: Vec<f32>) -> Request {
        self.one_off(Kind::AllReduce, data.len(), data)
    }

    /// Averages `data` over all ranks, once, and gives this rank its [`shard`](Self::shard_range) of the mean. Collective.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn reduce_scatter(&mut self, data: &[f32]) -> Result<(Vec<f32>, Report), Error> {
        block_on(self.reduce_scatter_async(data))
    }

    /// As [`reduce_scatter`](Self::reduce_scatter), without blocking the thread.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn reduce_scatter_async(&mut self, data: &[f32]) -> Result<(Vec<f32>, Report), Error> {
        self.start_reduce_scatter(data.to_vec()).await
    }

    /// Begins as [`reduce_scatter`](Self::reduce_scatter).
    pub fn start_reduce_scatter(&mut self, data: Vec<f32>) -> Request {
        self.one_off(Kind::ReduceScatter, data.len(), data)
    }

    /// Hands this rank's [`shard`](Self::shard_range) of `elements` values to all ranks and gives the whole, once. What did not
    /// come is zero, and [`Report::missing_from`] says whose shards that concerns: what must arrive whole goes by
    /// [`broadcast`](Self::broadcast). Collective.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn all_gather(&mut self, elements: usize, shard: &[f32]) -> Result<(Vec<f32>, Report), Error> {
        block_on(self.all_gather_async(elements, shard))
    }

    /// As [`all_gather`](Self::all_gather), without blocking the thread.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn all_gather_async(&mut self, elements: usize, shard: &[f32]) -> Result<(Vec<f32>, Report), Error> {
        self.start_all_gather(elements, shard.to_vec()).await
    }

    /// Begins as [`all_gather`](Self::all_gather).
    pub fn start_all_gather(&mut self, elements: usize, shard: Vec<f32>) -> Request {
        self.one_off(Kind::AllGather, elements, shard)
    }

    /// One collective, once all ranks were found to call it.
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
        let bucket = Bucket { shared: shared_by, id: ONE_OFF, elements, options, stream, beside, values };
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

/// Whether there is memory for a bucket of so many elements.
fn require_memory(elements: usize) -> Result<(), NotEnoughMemory> {
    let needed = (elements as u64).saturating_mul(BUCKET_BYTES_PER_ELEMENT);
    memory::require(format!("a bucket of {elements} elements"), needed, "declare a smaller one, or give this rank more")
}

/// Whether a bucket may have so many elements, whatever is done with it.
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
    /// See [`Communicator::start_bucket`]; the options are whole.
    fn declare(shared: &Arc<Shared>, elements: usize, options: BucketOptions) -> Pending<Self> {
        let (sender, reply) = reply();
        let of = shared.clone();
        // On the other thread, so that it counts also if nobody waits for it any more.
        shared.run(move |channel| {
            let shared = of;
            let declared = shared.declared.load(Ordering::Relaxed);
            let memory = require_memory(elements);
            let enough = if memory.is_ok() { "enough" } else { "too little" };
            let terms =
                options.terms("bucket", elements).with("buckets before", declared).with("memory for it", enough);
            // Ids are used again after many; the generation tells what they are now.
            let id = (declared % u32::from(ONE_OFF)) as u16;
            let generation = declared / u32::from(ONE_OFF);
            if generation > 0 {
                // Before any rank can call the new one. If the engine has ended, the first call says so.
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
                Self { shared: shared.clone(), id, elements, options, stream, beside: None, values: None }
            });
            // All ranks come here in the same order.
            let _ = sender.send(bucket.and_then(Self::with_halves));
        });
        Pending::new(reply)
    }

    /// In a job with cards, declared where its halves are made, too.
    fn with_halves(mut self) -> Result<Self, Error> {
        if let Some(Ok(beside)) = self.shared.beside.get() {
            self.beside = Some(Self::declare(beside, self.elements, self.options.clone()).wait()?.into());
        }
        Ok(self)
    }

    /// Its id, the same on all ranks: that of its reports.
    pub fn id(&self) -> u16 {
        self.id
    }

    /// Its elements.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// How it is reduced; what was not set is as the communicator is.
    pub fn options(&self) -> &BucketOptions {
        &self.options
    }

    /// The elements that belong to this rank, see [`Communicator::shard_range`].
    pub fn shard_range(&self) -> Range<usize> {
        self.shared.shard_range(self.elements)
    }

    /// Reduces `data` over all ranks; blocks the thread, no longer than the deadlines of the two stages allow. Collective.
    ///
    /// If the report does not say [`UpdateAction::Apply`], too much was lost, and `data` is unchanged.
    ///
    /// Costs two copies, of `data` before the call and of the result after it, by way of the [bucket's values](Self::values_mut).
    /// [`all_reduce_in_place`](Self::all_reduce_in_place) and [`all_reduce_owned`](Self::all_reduce_owned) cost none.
    ///
    /// # Errors
    /// See [`Error`]; `data` is then unchanged.
    pub fn all_reduce(&mut self, data: &mut [f32]) -> Result<Report, Error> {
        let given = self.copy_of(data);
        let finished = self.call(Kind::AllReduce, given)?;
        Ok(self.copy_back(finished, data))
    }

    /// As [`all_reduce`](Self::all_reduce), without blocking the thread.
    ///
    /// # Errors
    /// See [`Error`]; `data` is then unchanged.
    pub async fn all_reduce_async(&mut self, data: &mut [f32]) -> Result<Report, Error> {
        let given = self.copy_of(data);
        let finished = self.begin(Kind::AllReduce, given).await?;
        Ok(self.copy_back(finished, data))
    }

    fn copy_of(&mut self, data: &[f32]) -> Vec<f32> {
        let mut given = self.values.take().unwrap_or_default();
        given.clear();
        given.extend_from_slice(data);
        given
    }

    fn copy_back(&mut self, (result, mut report): (Vec<f32>, Report), data: &mut [f32]) -> Report {
        report.add_copied(data);
        if report.action() == UpdateAction::Apply {
            data.copy_from_slice(&result);
            report.add_copied(data);
        }
        self.values = Some(result);
        report
    }

    /// The bucket's own values: the gradient before [`all_reduce_in_place`](Self::all_reduce_in_place), and its result after it. Zeros at
    /// first, and after a call that failed.
    pub fn values_mut(&mut self) -> &mut [f32] {
        let elements = self.elements;
        self.values.get_or_insert_with(|| vec![0.0; elements])
    }

    /// Reduces the [bucket's own values](Self::values_mut) over all ranks; blocks the thread, no longer than the deadlines of the two
    /// stages allow. Collective. Copies and allocates nothing, as [`all_reduce_owned`](Self::all_reduce_owned): the values lie in
    /// other memory after each call.
    ///
    /// If the report does not say [`UpdateAction::Apply`], too much was lost, and the values are unchanged.
    ///
    /// ```no_run
    /// # fn train(mut bucket: optireduce::Bucket, backward: fn(&mut [f32]), apply: fn(&[f32])) -> Result<(), optireduce::Error> {
    /// loop {
    ///     backward(bucket.values_mut());
    ///     if bucket.all_reduce_in_place()?.action() == optireduce::UpdateAction::Apply {
    ///         apply(bucket.values_mut());
    ///     }
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Error`].
    pub fn all_reduce_in_place(&mut self) -> Result<Report, Error> {
        let given = self.values.take().unwrap_or_else(|| self.buffer());
        let (values, report) = self.call(Kind::AllReduce, given)?;
        self.values = Some(values);
        Ok(report)
    }

    /// As [`all_reduce_in_place`](Self::all_reduce_in_place), without blocking the thread.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn all_reduce_in_place_async(&mut self) -> Result<Report, Error> {
        let given = self.values.take().unwrap_or_else(|| self.buffer());
        let (values, report) = self.begin(Kind::AllReduce, given).await?;
        self.values = Some(values);
        Ok(report)
    }

    /// A buffer of zeros, as long as the bucket: to write a gradient to and hand it to
    /// [`all_reduce_owned`](Self::all_reduce_owned) or [`start_all_reduce`](Self::start_all_reduce).
    pub fn buffer(&self) -> Vec<f32> {
        vec![0.0; self.elements]
    }

    /// Reduces the values of `data` over all ranks and gives them back; blocks the thread, no longer than the deadlines of the two
    /// stages allow. Collective. Nothing is copied between caller and engine: the gradient is sent from where the caller wrote
    /// it, and the result is read where the engine put it. Each bucket has two buffers, which swap roles from call to call;
    /// hand in the one that came back, and nothing is allocated.
    ///
    /// If the report does not say [`UpdateAction::Apply`], too much was lost, and the values that come back are those that were
    /// handed in.
    ///
    /// ```no_run
    /// # fn train(mut bucket: optireduce::Bucket, backward: fn(&mut [f32]), apply: fn(&[f32])) -> Result<(), optireduce::Error> {
    /// let mut gradient = bucket.buffer();
    /// loop {
    ///     backward(&mut gradient);
    ///     let (mean, report) = bucket.all_reduce_owned(gradient)?;
    ///     if report.action() == optireduce::UpdateAction::Apply {
    ///         apply(&mean);
    ///     }
    ///     gradient = mean;
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Error`]; the buffer is gone then.
    pub fn all_reduce_owned(&mut self, data: Vec<f32>) -> Result<(Vec<f32>, Report), Error> {
        self.call(Kind::AllReduce, data)
    }

    /// Begins to reduce `data` over all ranks; other collectives may begin before it is finished. Collective. As
    /// [`all_reduce_owned`](Self::all_reduce_owned), which waits for it, it copies nothing. With several collectives of the bucket
    /// at once it has a buffer more for each of them.
    pub fn start_all_reduce(&mut self, data: Vec<f32>) -> Request {
        self.begin(Kind::AllReduce, data)
    }

    /// As [`all_reduce_owned`](Self::all_reduce_owned), for memory that is lent and must stay where it lies. The gradient is sent from
    /// there; the result comes to `destination`, whose memory comes back. [`Report::copied_bytes`] says what was copied: nothing to
    /// memory [elsewhere](Destination::Here), or the result once, if stages had closed before this rank came; once
    /// [where the gradient lies](Destination::Gradient). Whatever becomes of the call, lent memory is given back (dropped),
    /// if only when the communicator is.
    ///
    /// If the report does not say [`UpdateAction::Apply`], too much was lost: the values that come back are those that were handed in,
    /// and what the destination holds means nothing.
    ///
    /// # Errors
    /// See [`Error`]. If the destination is not as long as the bucket, nothing was begun.
    pub fn all_reduce_lent(&mut self, data: Values, destination: Destination) -> Result<(Values, Report), Error> {
        self.call(Kind::AllReduce, Given { values: data, destination })
    }

    /// Begins as [`all_reduce_lent`](Self::all_reduce_lent).
    pub fn start_all_reduce_lent(&mut self, data: Values, destination: Destination) -> Request<Values> {
        self.begin(Kind::AllReduce, Given { values: data, destination })
    }

    /// Reduces `data` over all ranks and gives this rank its [`shard`](Self::shard_range) of the result; blocks the thread, no
    /// longer than the deadline of the contribute stage allows. As in an all-reduce, values of a peer that did not come are left
    /// out, and reported. Never Hadamard-encoded. Collective.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn reduce_scatter(&mut self, data: &[f32]) -> Result<(Vec<f32>, Report), Error> {
        self.call(Kind::ReduceScatter, data.to_vec())
    }

    /// As [`reduce_scatter`](Self::reduce_scatter), without waiting. Memory that is [lent](Values::lent) is given back once it was read.
    pub fn start_reduce_scatter(&mut self, data: impl Into<Values>) -> Request {
        self.begin(Kind::ReduceScatter, data)
    }

    /// Hands this rank's [`shard`](Self::shard_range) to all ranks and gives the whole; blocks the thread, no longer than the
    /// deadline of the broadcast stage allows, or four more if the communicator [waits for
    /// repairs](super::Builder::wait_for_repairs). What did not come is zero, and [`Report::missing_from`] says whose shards that
    /// concerns: what must arrive whole goes by [`Communicator::broadcast`]. Never Hadamard-encoded. Collective.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn all_gather(&mut self, shard: &[f32]) -> Result<(Vec<f32>, Report), Error> {
        self.call(Kind::AllGather, shard.to_vec())
    }

    /// As [`all_gather`](Self::all_gather), without waiting. Memory that is [lent](Values::lent) is given back once it was read.
    pub fn start_all_gather(&mut self, shard: impl Into<Values>) -> Request {
        self.begin(Kind::AllGather, shard)
    }

    /// Waits until nothing of this bucket is outstanding any more, at most `timeout` (`None`: the timeout of the
    /// communicator), and hands over what its results so far lack. Call it on every rank after the last collective of the
    /// bucket, or before a checkpoint, and apply the correction to the model; then
    /// [close](super::Communicator::close) the communicator. Until all ranks have settled, each must stay connected, since
    /// others may fetch from it.
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

    /// As [`settle`](Self::settle), without blocking the thread.
    ///
    /// # Errors
    /// As [`settle`](Self::settle).
    pub async fn settle_async(&mut self, timeout: impl Into<Option<Duration>>) -> Result<Settled, Error> {
        self.start_settle(timeout).await
    }

    /// Begins as [`settle`](Self::settle).
    pub fn start_settle(&mut self, timeout: impl Into<Option<Duration>>) -> Pending<Settled> {
        let (sender, settled) = reply();
        let sum = self.options.reduce_op == ReduceOp::Sum;
        let until = Instant::now().checked_add(timeout.into().unwrap_or(self.shared.timeout));
        // Only declared buckets reach callers. If nobody answers, the engine has ended, and so has the wait.
        if let Some(stream) = self.stream_id() {
            let beside = self.beside.as_ref().filter(|_| self.shared.falls_back);
            let beside = beside.and_then(|beside| beside.stream_id());
            let settle = Settle { stream, beside, before: None, sum, until, reply: sender };
            let _ = self.shared.command(Command::Settle(settle));
        }
        Pending::new(settled)
    }

    /// Begins a collective. What is not as long as it must be is the engine's to find: it tells the other ranks.
    fn begin<V: From<Values>>(&self, kind: Kind, given: impl Into<Given>) -> Request<V> {
        let request = self.send(kind, given.into());
        request.wake();
        request
    }

    /// Begins a collective and waits for it. Nobody is woken for it: this thread moves the engine on.
    fn call<V: From<Values>>(&self, kind: Kind, given: impl Into<Given>) -> Result<(V, Report), Error> {
        self.send(kind, given.into()).wait()
    }

    /// What its corrections go to; nothing has if it is not declared.
    fn stream_id(&self) -> Option<StreamId> {
        match self.stream {
            Stream::Declared { generation } => Some(StreamId { bucket: self.id, generation, elements: self.elements }),
            Stream::OneOff => None,
        }
    }

    /// What a rank gives to a collective of this kind.
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

    /// Hands a collective to the engine, which is not woken.
    fn send<V: From<Values>>(&self, kind: Kind, given: Given) -> Request<V> {
        let passes_engine = kind == Kind::AllReduce || self.shared.falls_back;
        if let Some(beside) = self.beside.as_ref().filter(|_| !passes_engine) {
            return beside.send(kind, given);
        }
        let (sender, reply) = reply();
        self.answer_to(kind, given, sender);
        Request::new(reply, self.shared.clone())
    }

    /// Hands a collective to the engine, which is not woken. If that has ended, the reply says so.
    fn answer_to(&self, kind: Kind, given: Given, reply: Sender<Outcome>) {
        if let Err(error) = self.shared.beside(kind) {
            return drop(reply.send(Err(error)));
        }
        let &Self { id: bucket, elements, stream, .. } = self;
        if let Destination::Here(values) = &given.destination
            && values.len() != elements
        {
            let (name, found) = ("the number of elements of the destination", values.len());
            return drop(reply.send(Err(Error::Argument { name, found, expected: elements.to_string() })));
        }
        let BucketOptions { reduce_op, hadamard, bf16, repair } = self.options;
        let (hadamard, repair) = (hadamard.unwrap_or_default(), repair.unwrap_or_default());
        let call = Call { kind, bucket, elements, hadamard, bf16, repair, stream };
        let sum = reduce_op == ReduceOp::Sum && kind != Kind::AllGather;
        // One that was not declared is the same there.
        let there = self.beside.as_deref().unwrap_or(self);
        let beside = self.shared.falls_back.then_some((there.id, there.stream));
        let call = Collective { call, sum, beside };
        let _ = self.shared.enqueue(Command::Collective { call, given, correction: None, reply });
    }
}

impl Drop for Bucket {
    /// Gives its memory back. Its collectives go on.
    fn drop(&mut self) {
        if self.stream != Stream::OneOff {
            // Calls of it may still be on their way to the other engine.
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
