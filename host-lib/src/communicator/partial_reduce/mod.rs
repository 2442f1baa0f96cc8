//! Partial Reduce: workers that are ready average their models among themselves, and nobody waits for the rest.
//!
//! The ranks come together once more when it is declared: sockets, connections and a thread ("optireduce-partial") of its own, so that
//! groups neither wait for the communicator's collectives nor disturb them. After that a group is set up by one message to each of its
//! members. The protocol is `optireduce_core`'s: `protocol::partial_reduce` and `GroupAverages`.

mod engine;
mod report;

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use optireduce_core::protocol::partial_reduce::{Params, Worker, WorkerParams};
use optireduce_core::{GroupAverages, GroupLoss};

use self::engine::{Command, GroupEngine};
use super::connect::Opened;
use super::driver::Waker;
use super::request::{Pending, block_on, reply};
use super::{Bound, Builder, Communicator, ConnectError, Early, Error};
use crate::control::{Launch, Terms};
use crate::memory;

pub use self::report::PartialReport;
pub use optireduce_core::protocol::partial_reduce::Weighting;

/// Memory for each element: the model and its contribution, the sums and the means on the wire, and what is kept for members of earlier
/// groups.
const BYTES_PER_ELEMENT: u64 = 40;
/// Packets of groups that this rank has not heard of yet.
const UNANNOUNCED_BYTES_MAX: usize = 16 << 20;
/// Silence that closes a stage early, unless the communicator says: what comes later is fetched.
const GRACE: Duration = Duration::from_millis(1);

const STARTED_AGAIN: &str = "this process was started again, and takes no part in groups that were declared before; call `rejoin` and take \
                             part in a collective, then close the groups and declare them anew on all ranks";

/// How groups are formed and what they do; the same on all ranks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PartialOptions {
    /// Workers of a group, 2 to all.
    pub group_size: usize,
    /// See [`weights`](Self::weights).
    pub weights: Weighting,
    /// See [`sync_bound`](Self::sync_bound).
    pub sync_bound: Option<u32>,
    /// See [`repair`](Self::repair).
    pub repair: bool,
    /// See [`repair_timeout`](Self::repair_timeout).
    pub repair_timeout: Duration,
    /// See [`patience`](Self::patience).
    pub patience: Duration,
    /// See [`bound`](Self::bound).
    pub bound: Option<Duration>,
}

impl PartialOptions {
    /// Groups of so many workers, and the defaults.
    pub fn new(group_size: usize) -> Self {
        Self {
            group_size,
            weights: Weighting::default(),
            sync_bound: Some(2),
            repair: true,
            repair_timeout: Duration::from_secs(1),
            patience: Duration::from_secs(10),
            bound: None,
        }
    }

    /// How much the models of a group count. Default: dynamic, half as much for each iteration that a model is behind.
    pub fn weights(self, weights: Weighting) -> Self {
        Self { weights, ..self }
    }

    /// All workers must have met, if only by way of others, within this many times as many groups as there are workers; then groups wait
    /// for workers that bridge. `None`: never; workers that are ready at the same times may then stay among themselves, and
    /// their models drift apart from the others'. Default: 2.
    pub fn sync_bound(self, sync_bound: impl Into<Option<u32>>) -> Self {
        Self { sync_bound: sync_bound.into(), ..self }
    }

    /// Whether what the packets of a group lost is fetched before its mean is used, so that all members have the same model. If not, a
    /// mean is one of what came, by its weights, and where nothing came of a part a member keeps its own model: members then differ
    /// where something was lost until they meet again, which costs convergence as more workers' drift does, but no time. Default: yes.
    pub fn repair(self, repair: bool) -> Self {
        Self { repair, ..self }
    }

    /// How long a member waits for an answer to what it lacks, from its question or the last answer, before it goes on without: a
    /// member that died in the middle of a group costs the others no more. Default: 1 s.
    pub fn repair_timeout(self, repair_timeout: Duration) -> Self {
        Self { repair_timeout, ..self }
    }

    /// How long those that are ready wait at most for one that is not: for one worker more, or for one that bridges. Then they go on
    /// without, a last one alone. Default: 10 s; longer than the slowest worker's step.
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The deadline t_B of each of the two stages of a group. Default: the communicator's, when the groups are declared. What comes later
    /// is fetched.
    pub fn bound(self, bound: impl Into<Option<Duration>>) -> Self {
        Self { bound: bound.into(), ..self }
    }

    /// What must be the same on all ranks.
    fn terms(&self, elements: usize, has_memory: bool) -> Terms {
        let Self { group_size, weights, sync_bound, repair, repair_timeout, patience, bound } = self;
        Terms::default()
            .with("the call", "partial_reduce")
            .with("elements", elements)
            .with("group_size", group_size)
            .with("weights", format!("{weights:?}"))
            .with("sync_bound", format!("{sync_bound:?}"))
            .with("repair", repair)
            .with("repair_timeout", format!("{repair_timeout:?}"))
            .with("patience", format!("{patience:?}"))
            .with("bound", format!("{bound:?}"))
            .with("memory for it", if has_memory { "enough" } else { "too little" })
    }

    /// What the protocol makes of them, for so many workers.
    fn worker_params(&self, workers: usize) -> WorkerParams {
        let mut groups = Params::new(workers, self.group_size);
        (groups.weighting, groups.sync_bound) = (self.weights, self.sync_bound);
        WorkerParams { patience_ns: nanos(self.patience), ..WorkerParams::new(groups) }
    }
}

fn nanos(duration: Duration) -> u64 {
    duration.as_nanos().try_into().unwrap_or(u64::MAX)
}

/// Averages of models among the workers that are ready; from [`Communicator::partial_reduce`].
///
/// Dropping it ends this rank's part: to the others it has died. [`close`](Self::close) it instead.
#[derive(Debug)]
pub struct PartialReduce {
    elements: usize,
    timeout: Duration,
    commands: Sender<Command>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<()>>,
}

impl Communicator {
    /// Declares averages of models of `elements` values among groups of the ranks that are ready first, instead of all-reduces of
    /// gradients. Collective, as [`split`](Self::split): the ranks come together once more, with this communicator's settings. After that
    /// each rank [averages](PartialReduce::average) at its own pace. All ranks begin with the same model:
    /// [`broadcast`](Self::broadcast) it.
    ///
    /// One rank, the lowest that lives, forms the groups; if its process ends or it stands still, the others agree on the next one. One
    /// that only stood still is in groups again once it goes on; a process that was started again is not, see the errors.
    ///
    /// ```no_run
    /// # fn train(mut communicator: optireduce::Communicator, mut model: Vec<f32>, step: fn(&mut [f32])) -> Result<(), Box<dyn std::error::Error>> {
    /// use optireduce::PartialOptions;
    ///
    /// let mut partial = communicator.partial_reduce(model.len(), PartialOptions::new(2))?;
    /// let mut iteration = 0;
    /// while iteration < 1000 {
    ///     step(&mut model);
    ///     let report = partial.average(&mut model, iteration + 1)?;
    ///     iteration = report.iteration();
    /// }
    /// partial.close()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`ConnectError`]. Arguments that differ are an error on all ranks, which names the rank and both values. A process that was started
    /// again ([`Launch::rejoin`]) takes part in a collective first; then all ranks close their groups and declare them anew.
    pub fn partial_reduce(&mut self, elements: usize, options: PartialOptions) -> Result<PartialReduce, ConnectError> {
        block_on(self.partial_reduce_async(elements, options))
    }

    /// As [`partial_reduce`](Self::partial_reduce), without blocking the thread.
    ///
    /// # Errors
    /// As [`partial_reduce`](Self::partial_reduce).
    pub async fn partial_reduce_async(
        &mut self,
        elements: usize,
        options: PartialOptions,
    ) -> Result<PartialReduce, ConnectError> {
        self.start_partial_reduce(elements, options).await
    }

    /// Begins as [`partial_reduce`](Self::partial_reduce); the future borrows nothing, so the communicator can be used, or dropped, while
    /// it waits. It is made in the order of the other calls.
    ///
    /// # Errors
    /// As [`partial_reduce`](Self::partial_reduce), from the future.
    pub fn start_partial_reduce(
        &mut self,
        elements: usize,
        options: PartialOptions,
    ) -> impl Future<Output = Result<PartialReduce, ConnectError>> + Send + 'static + use<> {
        let needed = (elements as u64).saturating_mul(BYTES_PER_ELEMENT);
        let what = format!("partial reduce of {elements} elements");
        let memory = memory::require(what, needed, "average a smaller model, or give this rank more");
        let terms = options.terms(elements, memory.is_ok());
        let free_place =
            if self.is_outside() { Err(ConnectError::Params(STARTED_AGAIN.into())) } else { self.free_place() };
        let begun = free_place.map(|(root, listener)| {
            let place = root.into_bytes();
            let places =
                self.shared.call(terms, move |channel, timeout| channel.hand_over(|_| Some(&place), false, timeout));
            (places, listener)
        });
        let (rank, builder, bound_ns) = (self.rank(), self.builder.clone(), self.shared.bound_ns.clone());
        async move {
            let (places, listener) = begun?;
            let places = places.await.map_err(|error| match error {
                Error::Control(error) => ConnectError::Control(error),
                error => ConnectError::Params(error.to_string()),
            })?;
            memory?;
            if elements == 0 {
                let (setting, expected) = ("the number of elements of a model", "at least 1".into());
                return Err(ConnectError::Setting { setting, found: "0".into(), expected });
            }
            let deadline = Duration::from_nanos(bound_ns.load(Ordering::Relaxed));
            PartialReduce::connect(rank, &places, listener, builder, deadline, elements, &options).await
        }
    }
}

impl PartialReduce {
    /// Once all ranks have said where a first one would listen; `deadline`: the communicator's.
    async fn connect(
        rank: usize,
        places: &[Vec<u8>],
        listener: Arc<TcpListener>,
        builder: Builder,
        deadline: Duration,
        elements: usize,
        options: &PartialOptions,
    ) -> Result<Self, ConnectError> {
        // Of ranks that are gone, and left out, there is nothing.
        let ranks: Vec<usize> = (0..places.len()).filter(|rank| !places[*rank].is_empty()).collect();
        let index = ranks.iter().position(|one| *one == rank).unwrap_or(0);
        // As on all others, if it cannot be.
        let params = options.worker_params(ranks.len());
        Worker::new(index, params.clone()).map_err(|error| ConnectError::Params(error.to_string()))?;
        let root = ranks.first().map(|first| String::from_utf8_lossy(&places[*first]).into_owned()).unwrap_or_default();
        let job_id = builder.launch.as_ref().map_or("", |launch| &launch.job_id);
        let launch = Launch::new(index, ranks.len(), root)?.job_id(format!("{job_id}/partial"));
        let builder = Builder {
            launch: Some(launch),
            listener: Some(listener).filter(|_| index == 0),
            bound: Bound::Fixed(options.bound.unwrap_or(deadline)),
            // A card has one job at a time.
            card: Some(String::new()),
            early: if builder.early == Early::Adaptive { Early::Grace(GRACE) } else { builder.early },
            ..builder
        };
        let (sender, opened) = reply();
        let open = move || drop(sender.send(Ok(builder.open())));
        std::thread::Builder::new().name("optireduce-connect".into()).spawn(open).map_err(ConnectError::Thread)?;
        let ended = |_| ConnectError::Thread(std::io::Error::other("the thread that connects has ended"));
        Self::start(opened.await.map_err(ended)??, params, options, elements, ranks)
    }

    fn start(
        opened: Opened,
        params: WorkerParams,
        options: &PartialOptions,
        elements: usize,
        ranks: Vec<usize>,
    ) -> Result<Self, ConnectError> {
        let Opened { builder, launch, mut plane, control, waker, payload_beats, cards } = opened;
        // Nobody comes into these groups later.
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

    /// Values of a model.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Averages `model` with those of a group of workers that are ready, too; blocks the thread until that is done. `iteration`: of the
    /// model, which counts from 1 and must be greater than that of the last [report](PartialReport::iteration), which all members of the
    /// group carry afterwards: usually one greater.
    ///
    /// Waits for one more worker at least, no longer than the [patience](PartialOptions::patience); the average itself is bounded by two
    /// deadlines, and what it lost by as many [repair timeouts](PartialOptions::repair_timeout).
    ///
    /// # Errors
    /// See [`Error`]; `model` is then unchanged.
    pub fn average(&mut self, model: &mut [f32], iteration: u64) -> Result<PartialReport, Error> {
        block_on(self.average_async(model, iteration))
    }

    /// As [`average`](Self::average), without blocking the thread. If the future is dropped, the rank takes part in its group all the
    /// same.
    ///
    /// # Errors
    /// As [`average`](Self::average).
    pub async fn average_async(&mut self, model: &mut [f32], iteration: u64) -> Result<PartialReport, Error> {
        let (mean, report) = self.start_average(model.to_vec(), iteration).await?;
        model.copy_from_slice(&mean);
        Ok(report)
    }

    /// Begins as [`average`](Self::average); gives the mean. One at a time.
    pub fn start_average(&mut self, model: Vec<f32>, iteration: u64) -> Pending<(Vec<f32>, PartialReport)> {
        let (sender, averaged) = reply();
        self.command(Command::Average { model, iteration, reply: sender });
        Pending::new(averaged)
    }

    /// Takes part in no group any more, and waits until the others do not, either: until then this rank forms their groups, if it did.
    ///
    /// # Errors
    /// Names a rank that has not closed and lives, after the timeout of the communicator; this rank's part is then over all the same.
    pub fn close(self) -> Result<(), Error> {
        block_on(self.close_async())
    }

    /// As [`close`](Self::close), without blocking the thread.
    ///
    /// # Errors
    /// As [`close`](Self::close).
    pub async fn close_async(self) -> Result<(), Error> {
        let (sender, closed) = reply();
        self.command(Command::Close { reply: sender, timeout: self.timeout });
        closed.await
    }

    /// If the thread has ended, the reply says so.
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
