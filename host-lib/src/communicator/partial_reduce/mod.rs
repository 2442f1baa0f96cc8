//! Partial Reduce: workers that are ready average their models among themselves, without waiting
//! for the others.
//!
//! A declaration connects the ranks again, with separate sockets and a thread, so that groups and
//! collectives do not delay each other. The protocol is in `optireduce_core`.

mod engine;

use std::fmt;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use optireduce_core::protocol::partial_reduce::{Params, Worker, WorkerParams};
use optireduce_core::{GroupAverages, GroupLoss};

use self::engine::{Command, GroupEngine};
use super::Flat;
use super::builder::Builder;
use super::connect::Opened;
use super::driver::Waker;
use super::request::{Request, reply};
use super::{Communicator, ConnectError, Error, ONE_LEVEL, Report};
use crate::control::Terms;
use crate::memory;
use crate::settings::Early;

use optireduce_core::protocol::partial_reduce::Weighting;

/// Model, contribution, sums, means, and copies for members of earlier groups.
const BYTES_PER_ELEMENT: u64 = 40;
/// For packets of groups that are not announced to this rank yet.
const UNANNOUNCED_BYTES_MAX: usize = 16 << 20;
/// If the communicator's grace time is adaptive. Later packets are repaired.
const GRACE: Duration = Duration::from_millis(1);

const STARTED_AGAIN: &str = "this process was restarted, and takes no part in groups that were declared before; call `rejoin` and take \
                             part in a collective, then close the groups and declare them again on all ranks";

/// Weights of the models in a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Weights {
    /// Smaller for each iteration behind the newest, by [`decay`](PartialOptions::decay).
    #[default]
    Dynamic,
    /// Equal.
    Constant,
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dynamic => "dynamic",
            Self::Constant => "constant",
        })
    }
}

/// Options of [`PartialReduce`], the same on all ranks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)] // described by the methods of the same names
pub struct PartialOptions {
    pub group_size: usize,
    pub weights: Weights,
    pub decay: f64,
    pub mix_within: Option<u32>,
    pub repair: bool,
    pub repair_timeout: Duration,
    pub patience: Duration,
    pub bound: Option<Duration>,
}

impl Default for PartialOptions {
    fn default() -> Self {
        Self {
            group_size: 2,
            weights: Weights::default(),
            decay: 0.5,
            mix_within: Some(2),
            repair: true,
            repair_timeout: Duration::from_secs(1),
            patience: Duration::from_secs(10),
            bound: None,
        }
    }
}

impl PartialOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of workers in a group, 2 to all. Default: 2.
    pub fn group_size(self, group_size: usize) -> Self {
        Self { group_size, ..self }
    }

    /// Sets the weights of the models in a group. Default: [`Weights::Dynamic`].
    pub fn weights(self, weights: Weights) -> Self {
        Self { weights, ..self }
    }

    /// Sets the dynamic weight relative to a model one iteration newer, above 0 and below 1.
    /// Default: 0.5.
    pub fn decay(self, decay: f64) -> Self {
        Self { decay, ..self }
    }

    /// Sets the number s of rounds of groups that mix all models: any s × workers successive groups
    /// connect all workers. Groups wait for workers that connect them. Default: 2.
    ///
    /// With `None`, models may diverge if the same workers are always ready together.
    pub fn mix_within(self, mix_within: impl Into<Option<u32>>) -> Self {
        Self { mix_within: mix_within.into(), ..self }
    }

    /// Sets whether lost packets are repaired before the mean is used, so that all members have the
    /// same model. Default: yes.
    ///
    /// Otherwise members differ until they meet again: a mean covers the received values, and a
    /// member without it keeps its own.
    pub fn repair(self, repair: bool) -> Self {
        Self { repair, ..self }
    }

    /// Sets the wait for each answer to a repair request. Default: 1 s.
    pub fn repair_timeout(self, repair_timeout: Duration) -> Self {
        Self { repair_timeout, ..self }
    }

    /// Sets how long ready workers wait for another one, to fill or connect groups, before they
    /// proceed, even alone. Default: 10 s. It should exceed the slowest worker's step.
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Sets the bound t_B of each stage of each window. Default: the communicator's.
    pub fn bound(self, bound: impl Into<Option<Duration>>) -> Self {
        Self { bound: bound.into(), ..self }
    }

    fn terms(&self, elements: usize, has_memory: bool) -> Terms {
        let Self { group_size, weights, decay, mix_within, repair, repair_timeout, patience, bound } = self;
        let or = |value: Option<f64>, word: &str| value.map_or(word.to_owned(), |value| value.to_string());
        Terms::default()
            .with("the call", "partial_reduce")
            .with("elements", elements)
            .with("group_size", group_size)
            .with("weights", weights)
            .with("decay", decay)
            .with("mix_within", or(mix_within.map(f64::from), "never"))
            .with("repair", if *repair { "on" } else { "off" })
            .with("repair_timeout_s", repair_timeout.as_secs_f64())
            .with("patience_s", patience.as_secs_f64())
            .with("bound_ms", or(bound.map(|bound| bound.as_secs_f64() * 1e3), "the communicator's"))
            .with("memory for it", if has_memory { "enough" } else { "too little" })
    }

    fn worker_params(&self, workers: usize) -> WorkerParams {
        let mut groups = Params::new(workers, self.group_size);
        groups.weighting = match self.weights {
            Weights::Dynamic => Weighting::Dynamic { decay: self.decay },
            Weights::Constant => Weighting::Constant,
        };
        groups.sync_bound = self.mix_within;
        WorkerParams { patience_ns: nanos(self.patience), ..WorkerParams::new(groups) }
    }
}

fn nanos(duration: Duration) -> u64 {
    duration.as_nanos().try_into().unwrap_or(u64::MAX)
}

/// Averages of models among ready workers, from [`Communicator::partial_reduce`].
///
/// Use [`close`](Self::close): dropping it looks like the end of this rank's process.
#[derive(Debug)]
pub struct PartialReduce {
    elements: usize,
    timeout: Duration,
    commands: Sender<Command>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<()>>,
}

impl Communicator {
    /// Declares averages of models of `elements` values among groups of the ranks that are ready
    /// first, instead of all-reduces of gradients. Collective.
    ///
    /// All ranks must start with the same model: [broadcast](crate::Exact::broadcast) it first. The
    /// lowest live rank forms the groups; if its process ends or is stopped, the next one does. A
    /// stopped process takes part again once it continues; a restarted one does not.
    ///
    /// ```no_run
    /// # fn train(mut communicator: optireduce::Communicator, mut model: Vec<f32>, step: fn(&mut [f32])) -> Result<(), Box<dyn std::error::Error>> {
    /// use optireduce::PartialOptions;
    ///
    /// let mut partial = communicator.partial_reduce(model.len(), PartialOptions::new()).wait()?;
    /// let mut iteration = 0;
    /// while iteration < 1000 {
    ///     step(&mut model);
    ///     let report;
    ///     (model, report) = partial.average(model, iteration + 1).wait()?;
    ///     iteration = report.group.map_or(iteration, |group| group.iteration);
    /// }
    /// partial.close().wait()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Error`]. Different arguments are an error on all ranks. A restarted process
    /// ([`Settings::rejoin`](crate::Settings::rejoin)) must first take part in a collective; then
    /// all ranks close their groups and declare them again.
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) on two levels.
    pub fn partial_reduce(&mut self, elements: usize, options: PartialOptions) -> Request<PartialReduce> {
        self.on_one_level("partial_reduce", ONE_LEVEL, |flat| PartialReduce::declare(flat, elements, options))
    }
}

impl PartialReduce {
    fn declare(flat: &Flat, elements: usize, options: PartialOptions) -> Request<Self> {
        let Flat { builder, shared, outside, .. } = flat;
        let needed = (elements as u64).saturating_mul(BYTES_PER_ELEMENT);
        let what = format!("partial reduce of {elements} elements");
        let memory = memory::require(what, needed, "average a smaller model, or raise this rank's memory limit");
        let terms = options.terms(elements, memory.is_ok());
        let free_place = match outside.load(Ordering::Acquire) {
            true => Err(ConnectError::Params(STARTED_AGAIN.into()).into()),
            false => flat.free_place(),
        };
        let begun = free_place.map(|(root, listener)| {
            let place = root.into_bytes();
            let places =
                shared.call(terms, move |channel, timeout| channel.hand_over(|_| Some(&place), false, timeout));
            (places, listener)
        });
        let (rank, builder, bound_ns) = (builder.launch.rank, builder.clone(), shared.bound_ns.clone());
        Request::on_a_thread("optireduce-connect", move || {
            let (places, listener) = begun?;
            let places = places.wait()?;
            memory?;
            if elements == 0 {
                let (setting, expected) = ("the number of elements of a model", "at least 1".into());
                return Err(ConnectError::Setting { setting, found: "0".into(), expected }.into());
            }
            let deadline = Duration::from_nanos(bound_ns.load(Ordering::Relaxed));
            Self::connect(rank, &places, listener, builder, deadline, elements, &options)
        })
    }

    fn connect(
        rank: usize,
        places: &[Vec<u8>],
        listener: Arc<TcpListener>,
        builder: Builder,
        deadline: Duration,
        elements: usize,
        options: &PartialOptions,
    ) -> Result<Self, Error> {
        // Ranks that are gone and left out have an empty place.
        let ranks: Vec<usize> = (0..places.len()).filter(|rank| !places[*rank].is_empty()).collect();
        let index = ranks.iter().position(|one| *one == rank).unwrap_or(0);
        // Checked before connecting, so that all ranks fail alike.
        let params = options.worker_params(ranks.len());
        Worker::new(index, params.clone()).map_err(|error| ConnectError::Params(error.to_string()))?;
        let root = ranks.first().map(|first| String::from_utf8_lossy(&places[*first]).into_owned()).unwrap_or_default();
        let mut settings = builder.of_some(index, ranks.len(), &root, "partial");
        settings = settings.bound(options.bound.unwrap_or(deadline));
        settings.inherited.listener = Some(listener).filter(|_| index == 0);
        settings.inherited.grace = Some(GRACE).filter(|_| builder.early == Early::Adaptive);
        let builder = Builder::new(&settings)?;
        Self::start(builder.open()?, params, options, elements, ranks)
    }

    fn start(
        opened: Opened,
        params: WorkerParams,
        options: &PartialOptions,
        elements: usize,
        ranks: Vec<usize>,
    ) -> Result<Self, Error> {
        let Opened { builder, launch, mut plane, control, waker, payload_beats, cards } = opened;
        // No process can join later.
        control.begun(0);
        let job = builder.params(&launch, &plane, payload_beats, cards.as_ref());
        plane.keep_unannounced(UNANNOUNCED_BYTES_MAX);
        let loss = match options.repair {
            true => GroupLoss::Repair { timeout_ns: nanos(options.repair_timeout) },
            false => GroupLoss::Average,
        };
        let failed = |error: &dyn std::fmt::Display| ConnectError::Params(error.to_string());
        let averages = GroupAverages::new(plane, job, loss).map_err(|error| failed(&error))?;
        let worker = Worker::new(launch.rank, params).map_err(|error| failed(&error))?;
        let (commands, incoming) = channel();
        let limit = options.patience.saturating_add(builder.timeout);
        let engine = GroupEngine::new(averages, worker, control, incoming, waker.clone(), ranks, (elements, limit));
        let engine = engine.map_err(ConnectError::Thread)?;
        let thread = std::thread::Builder::new().name("optireduce-partial".into()).spawn(move || engine.serve());
        let thread = Some(thread.map_err(ConnectError::Thread)?);
        Ok(Self { elements, timeout: builder.timeout, commands, waker, thread })
    }

    /// Number of values in a model.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Averages `model` with the models of a group of ready workers, and returns the mean. At most
    /// one average may be in progress.
    ///
    /// `iteration` counts from 1 and must exceed the last report's
    /// [iteration](crate::GroupReport::iteration), usually by one.
    ///
    /// Waits for another worker, at most the [patience](PartialOptions::patience). Then the
    /// [bound](PartialOptions::bound) limits each stage, and repairs end after the
    /// [repair timeout](PartialOptions::repair_timeout) without an answer.
    ///
    /// # Errors
    /// See [`Error`]. [`ErrorKind::Timeout`](crate::ErrorKind::Timeout) if no group forms within
    /// the patience plus the communicator's timeout.
    pub fn average(&mut self, model: Vec<f32>, iteration: u64) -> Request<(Vec<f32>, Report)> {
        let (sender, averaged) = reply();
        self.command(Command::Average { model, iteration, reply: sender });
        averaged.into()
    }

    /// Leaves the groups, and waits until the other ranks have left. Meanwhile this rank still
    /// forms groups.
    ///
    /// # Errors
    /// Names a rank that has not closed within the communicator's timeout; this rank has left.
    pub fn close(mut self) -> Request<()> {
        let closed = self.start_close();
        Request::on_a_thread("optireduce-close", move || {
            let closed = closed.wait();
            drop(self);
            closed
        })
    }

    /// As [`close`](Self::close), for a caller that drops this afterwards. Dropping it before ends
    /// the wait.
    pub(super) fn start_close(&mut self) -> Request<()> {
        let (sender, closed) = reply();
        self.command(Command::Close { reply: sender, timeout: self.timeout });
        closed.into()
    }

    /// If the thread has ended, the reply channel closes.
    fn command(&self, command: Command) {
        let _ = self.commands.send(command);
        self.waker.wake();
    }
}

impl Drop for PartialReduce {
    /// Never waits for another rank: packets have 0.2 s to leave, and messages 1 s.
    fn drop(&mut self) {
        self.command(Command::End);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
