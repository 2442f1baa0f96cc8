//! Buckets of a [`Flat`](super::Flat).

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::command::{Collective, Command, Given, Settle};
use super::options::{BucketOptions, ReduceOp};
use super::report::Report;
use super::request::{Outcome, Request, Sender, reply};
use super::settle::Settled;
use super::{Cause, Error, Shared};
use crate::control::{ControlError, Terms};
use crate::memory::{self, NotEnoughMemory};
use optireduce_contract::limits::LANES;
use optireduce_core::protocol::{BUCKETS_MAX, HadamardMode, Kind, Stream, StreamId, plan_windows};
use optireduce_core::{Call, Destination, Values};

/// Ids of buckets; the last one of the wire is for one-off collectives.
const IDS: u16 = BUCKETS_MAX - 1;

/// Gradient, result, encoded gradient, its sums, repair copy.
const BUCKET_BYTES_PER_ELEMENT: u64 = 20;

/// Stream of collectives over the same elements.
#[derive(Debug)]
pub(super) struct FlatBucket {
    shared: Arc<Shared>,
    pub id: u16,
    pub elements: usize,
    pub options: BucketOptions,
    generation: u32,
    /// All-gathers of this bucket [add up](Call::adds_up).
    adds_up: bool,
    /// In a job with cards: the same bucket in [`Shared::beside`].
    beside: Option<Box<FlatBucket>>,
}

fn require_memory(elements: usize) -> Result<(), NotEnoughMemory> {
    let needed = (elements as u64).saturating_mul(BUCKET_BYTES_PER_ELEMENT);
    memory::require(
        format!("a bucket of {elements} elements"),
        needed,
        "declare a smaller one, or raise this rank's memory limit",
    )
}

/// Terms of a new bucket, and whether this rank has memory for it. `number`: number of buckets
/// before it.
pub(super) fn declaration(
    options: &BucketOptions,
    elements: usize,
    number: u32,
) -> (Terms, Result<(), NotEnoughMemory>) {
    let memory = require_memory(elements);
    let enough = if memory.is_ok() { "enough" } else { "too little" };
    (options.terms("bucket", elements).with("buckets before", number).with("memory for it", enough), memory)
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

impl FlatBucket {
    /// Declares a bucket. `number`: number of buckets before it; by default the number that this
    /// communicator has declared.
    pub fn declare<T: From<Self> + Send + 'static>(
        shared: &Arc<Shared>,
        number: Option<u32>,
        elements: usize,
        options: BucketOptions,
    ) -> Request<T> {
        let (sender, reply) = reply();
        let of = shared.clone();
        // Declares the bucket even if the caller drops the reply.
        shared.run(move |channel| {
            let shared = of;
            let declared = number.unwrap_or_else(|| shared.declared.load(Ordering::Relaxed));
            let (terms, memory) = declaration(&options, elements, declared);
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
                Self { shared: shared.clone(), id, elements, options, generation, adds_up: false, beside: None }
            });
            // On this thread, all ranks declare it in the same order.
            let _ = sender.send(bucket.and_then(Self::with_halves).map(T::from));
        });
        reply.into()
    }

    fn with_halves(mut self) -> Result<Self, Error> {
        if let Some(Ok(beside)) = self.shared.beside.get() {
            let declared = Self::declare(beside, None, self.elements, self.options.clone());
            self.beside = Some(Box::<Self>::new(declared.wait()?));
        }
        Ok(self)
    }

    /// Makes all-gathers [add up](Call::adds_up). The bucket then makes no other calls.
    pub fn adding_up(mut self) -> Self {
        self.adds_up = true;
        self
    }

    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub fn shard_range(&self) -> Range<usize> {
        self.shared.shard_range(self.elements)
    }

    pub fn settle(&self, timeout: Option<Duration>) -> Request<Settled> {
        let (sender, settled) = reply();
        let sum = self.options.reduce_op == ReduceOp::Sum;
        let until = Instant::now().checked_add(timeout.unwrap_or(self.shared.timeout));
        // Every declared bucket has a stream. A dropped reply is an error.
        if let Some(stream) = self.stream_id() {
            let beside = self.beside.as_ref().filter(|_| self.shared.falls_back);
            let beside = beside.and_then(|beside| beside.stream_id());
            let settle = Settle { stream, beside, before: None, sum, until, reply: sender };
            let _ = self.shared.command(Command::Settle(settle));
        }
        settled.into()
    }

    /// Starts a step of an all-reduce on two levels. Its wait drives the engine.
    pub fn step(&self, kind: Kind, given: impl Into<Given>) -> Request<(Values, Report)> {
        self.send_then(kind, given.into(), |outcome| Ok(outcome.step()))
    }

    fn stream(&self) -> Stream {
        Stream::Declared { generation: self.generation }
    }

    pub fn stream_id(&self) -> Option<StreamId> {
        let kind = if self.adds_up { Kind::AllGather } else { Kind::AllReduce };
        Some(StreamId { bucket: kind.wire_bucket(self.id)?, generation: self.generation, elements: self.elements })
    }

    /// Starts a collective. Its wait drives the engine.
    pub fn send_then<T>(
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
        let BucketOptions { reduce_op, hadamard, bf16, repair, .. } = self.options;
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

impl Drop for FlatBucket {
    /// Does not cancel collectives in progress.
    fn drop(&mut self) {
        // Its calls may still be on their way to the other engine.
        let with = self.beside.take().map(|beside| beside as Box<dyn Send>);
        let _ = self.shared.command(Command::Release { bucket: self.id, with });
    }
}
