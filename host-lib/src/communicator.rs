//! One rank of a job, over UDP or a card.
//!
//! Three threads serve a communicator: the engine's ("optireduce-engine") moves the datagrams, closes the stages and keeps the
//! protocol's clocks, so that a caller that is late costs its peers no more than the bound, unless a caller that blocks does so itself; one ("optireduce-control") serves
//! the TCP connections; one ("optireduce-calls") makes the calls over them, in order. Callers wait, or await, or go on.

mod bucket;
mod builder;
mod bytes;
mod close;
mod command;
mod connect;
mod counts;
mod driver;
mod engine;
mod error;
mod exact;
mod fallback;
mod groups;
mod partial_reduce;
mod report;
mod request;
mod settings;
mod settle;
mod transfer;
mod two_level;

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;

pub use self::bucket::{Bucket, BucketOptions, ReduceOp};
pub use self::builder::{BOUND_MAX_DEFAULT, BOUND_MIN, Bound, Builder, CardFallback, Early, Local, SendThread};
pub use self::error::{ConnectError, Error};
pub use self::partial_reduce::{PartialOptions, PartialReduce, PartialReport, Weighting};
pub use self::report::Report;
pub use self::request::{Pending, Request};
pub use self::settle::Settled;
pub use self::transfer::Transfer;
pub use self::two_level::{Groups, TwoLevel, TwoLevelBucket, TwoLevelReport, TwoLevelRequest};

use self::command::Command;
use self::driver::Driver;
use self::request::{block_on, reply};
use crate::buffer::Buffer;
use crate::control::{Closer, ControlChannel, ControlError, Mailbox, Terms};
use crate::memory::NotEnoughMemory;
use crate::secret::SealDrops;
use crate::udp::Unsent;
use optireduce_contract::limits::BEAT_BYTES;
use optireduce_core::protocol::repair::RepairReport;
use optireduce_core::protocol::{self, JobParams, Kind, Parts};
use optireduce_core::software::Counters;

/// What a rank has seen so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Metrics {
    /// Datagrams and drops.
    pub counters: Counters,
    /// Packets that were dropped because they were forged or replayed; none without a secret.
    pub seal_drops: SealDrops,
    /// Datagrams that this host did not take, by cause.
    pub unsent: Unsent,
    /// Ranks of this host that are sent to through shared memory.
    pub shared: Vec<usize>,
    /// Loss and timing, per peer and stage.
    pub collectives: protocol::Metrics,
    /// First collective from which buckets with [`HadamardMode::Auto`](crate::HadamardMode::Auto) are encoded, if the ranks have
    /// agreed on one because of losses.
    pub hadamard_from: Option<u32>,
    /// Smoothed round-trip time to each rank in microseconds; `None` for this rank, and before the first answer.
    pub rtt_us: Vec<Option<f64>>,
    /// The deadline of each stage (t_B) in ns.
    pub bound_ns: u64,
    /// Ranks that take part, of the newest view.
    pub live: Vec<usize>,
    /// What broadcasts lost in buckets that are repaired, and what has become of it.
    pub repair: RepairReport,
    /// Ranks that were found silent, in order.
    pub silent: Vec<usize>,
    /// How fast each rank is sent to in bytes per microsecond; empty without rate control.
    pub rate_bytes_per_us: Vec<f64>,
    /// Why this rank's card has failed, if it has and the job [goes on without it](Builder::card_fallback).
    pub card_failure: Option<String>,
    /// The collective from which on all are made over UDP because some card has failed, if one has.
    pub fallback_from: Option<u32>,
    /// In a job with cards: of what its ranks make over the kernel's UDP, with numbers of its own.
    pub over_udp: Option<Box<Metrics>>,
}

/// A call over the control channel, on the thread that makes them.
enum ControlCall {
    Run(Box<dyn FnOnce(&mut ControlChannel) + Send>),
    End,
}

/// What a communicator and its buckets share.
struct Shared {
    params: JobParams,
    timeout: Duration,
    /// The present bound; the engine's to set.
    bound_ns: Arc<AtomicU64>,
    commands: mpsc::Sender<Command>,
    driver: Arc<Driver>,
    calls: mpsc::Sender<ControlCall>,
    mailbox: Arc<Mailbox>,
    /// Buckets declared so far.
    declared: AtomicU32,
    /// Ranks with a new process that calls are to include; the engine's to set.
    returned: Arc<Mutex<Vec<usize>>>,
    /// Ranks with a card.
    cards: Vec<usize>,
    /// In a job with cards: the same ranks over the kernel's UDP, for what cards do not know; or why they do not reach one another so.
    beside: OnceLock<Result<Arc<Shared>, Error>>,
    /// Whether those make all collectives [once a card has failed](fallback), and whether they do.
    falls_back: bool,
    fallen_back: Arc<AtomicBool>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("params", &self.params).finish_non_exhaustive()
    }
}

impl Shared {
    /// Hands a command to the engine.
    fn command(&self, command: Command) -> Result<(), Error> {
        self.enqueue(command)?;
        self.driver.wake();
        Ok(())
    }

    /// As [`command`](Self::command), for a caller that moves the engine on itself.
    fn enqueue(&self, command: Command) -> Result<(), Error> {
        self.commands.send(command).map_err(|_| Error::Closed)
    }

    /// A call of all ranks, once all were found to call it with the same terms.
    fn call<T: Send + 'static>(
        &self,
        terms: Terms,
        call: impl FnOnce(&mut ControlChannel, Duration) -> Result<T, ControlError> + Send + 'static,
    ) -> Pending<T> {
        self.call_with(terms, Ok(()), |(), channel, timeout| call(channel, timeout))
    }

    /// The same, with what this rank was given, if that is valid. If not, that is its error once all ranks were found to call the
    /// same; the others must find it, too.
    fn call_with<G: Send + 'static, T: Send + 'static>(
        &self,
        terms: Terms,
        given: Result<G, Error>,
        call: impl FnOnce(G, &mut ControlChannel, Duration) -> Result<T, ControlError> + Send + 'static,
    ) -> Pending<T> {
        let (sender, reply) = reply();
        let timeout = self.timeout;
        self.run(move |channel| {
            let result = match given {
                Ok(given) => {
                    channel.call(&terms, timeout, |channel| call(given, channel, timeout)).map_err(Error::from)
                }
                Err(error) => channel.call(&terms, timeout, |_| Ok(())).map_err(Error::from).and(Err(error)),
            };
            let _ = sender.send(result);
        });
        Pending::new(reply)
    }

    /// Runs something on the thread that makes the calls, whether or not anybody waits for it. If the thread has ended, it is
    /// dropped.
    fn run(&self, call: impl FnOnce(&mut ControlChannel) + Send + 'static) {
        // As of now: all ranks have finished the same collectives when they make a call.
        let returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let call = move |channel: &mut ControlChannel| {
            channel.welcome(&returned);
            call(channel);
        };
        let _ = self.calls.send(ControlCall::Run(Box::new(call)));
    }

    fn skip_gone(&self) -> Pending<()> {
        let terms = Terms::default().with("the call", "skip_gone_ranks");
        let (sender, done) = reply();
        let (timeout, beside) = (self.timeout, self.beside.get().cloned());
        self.run(move |channel| {
            // A process that was started again does as the others.
            let result = match channel.outside().load(Ordering::Acquire) {
                true => Ok(()),
                false => channel.call(&terms, timeout, |channel| {
                    channel.skip_gone();
                    Ok(())
                }),
            };
            let result = result.map_err(Error::from);
            let _ = sender.send(match beside {
                Some(Ok(beside)) => result.and_then(|()| beside.skip_gone().wait()),
                _ => result,
            });
        });
        Pending::new(done)
    }

    /// That no rank has a card, for calls that cards do not know.
    fn require_no_card(&self, call: &'static str, instead: &'static str) -> Result<(), Error> {
        self.cards.first().map_or(Ok(()), |rank| Err(Error::Cards { call, rank: *rank, instead }))
    }

    /// Who makes collectives of this kind: in a job with cards, which know all-reduces only, the same ranks over UDP. `None`: this job itself.
    fn beside(&self, kind: Kind) -> Result<Option<&Arc<Self>>, Error> {
        let beside = self.beside.get().filter(|_| kind != Kind::AllReduce);
        beside.map(|beside| beside.as_ref().map_err(Error::clone)).transpose()
    }

    async fn metrics(&self) -> Result<Metrics, Error> {
        let (sender, reply) = reply();
        self.command(Command::Metrics(sender))?;
        reply.await
    }

    /// Who makes all-reduces now: this job itself, or, once a card has failed, the same ranks over UDP.
    fn present(&self) -> &Self {
        match self.beside.get() {
            Some(Ok(beside)) if self.fallen_back.load(Ordering::Acquire) => beside,
            _ => self,
        }
    }

    /// The elements of a bucket that are one rank's.
    fn shard_range(&self, elements: usize) -> Range<usize> {
        Parts::new(elements, self.params.ranks).of(self.params.rank)
    }
}

/// One rank of a job.
///
/// Calls marked *collective* must be made by all ranks, in the same order and with the same arguments. Ranks that differ get
/// an error that names the rank and both values. Each has a twin that does not block, with the ending `_async`, for any async
/// runtime; a future that is dropped does not take its call back. Blocking calls may be made inside a runtime, too, where
/// they hold up their thread.
///
/// At the end, [`close`](Self::close) confirms that all ranks have called the same. Dropping a communicator only ends its
/// connections. After either, calls of its buckets fail with [`Error::Closed`].
#[derive(Debug)]
pub struct Communicator {
    /// What it was made with, for communicators of some of its ranks.
    builder: Builder,
    shared: Arc<Shared>,
    /// Addresses of all ranks on the control channel.
    addresses: Vec<std::net::SocketAddr>,
    /// See [`is_outside`](Self::is_outside).
    outside: Arc<AtomicBool>,
    closer: Option<Closer>,
    /// In a job with cards: what [`Shared::beside`] has.
    beside: Option<Box<Communicator>>,
    engine: Option<JoinHandle<()>>,
    calls: Option<JoinHandle<()>>,
}

impl Communicator {
    /// Settings to change before [`connect`](Builder::connect).
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A communicator with default settings, of the rank that the launcher's environment says ([`Launch::from_env`]).
    ///
    /// [`Launch::from_env`]: crate::Launch::from_env
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub fn connect() -> Result<Self, ConnectError> {
        Self::builder().connect()
    }

    /// Starts the thread that makes the calls.
    fn start(
        builder: Builder,
        mut control: ControlChannel,
        (params, cards): (JobParams, Vec<usize>),
        (bound_ns, fallen_back): (Arc<AtomicU64>, Arc<AtomicBool>),
        commands: mpsc::Sender<Command>,
        driver: Arc<Driver>,
        engine: JoinHandle<()>,
    ) -> Result<Self, std::io::Error> {
        let (calls, incoming): (_, Receiver<ControlCall>) = channel();
        let (closer, returned, outside) = (control.take_closer(), control.returned(), control.outside());
        let mailbox = control.mailbox();
        let addresses = control.job().members.iter().map(|member| member.control).collect();
        let serve = move || {
            while let Ok(ControlCall::Run(call)) = incoming.recv() {
                call(&mut control);
            }
        };
        let serving = std::thread::Builder::new().name("optireduce-calls".into()).spawn(serve)?;
        let timeout = builder.timeout;
        let falls_back = !cards.is_empty() && builder.card_fallback == Some(CardFallback::Udp);
        let shared = Arc::new(Shared {
            params,
            timeout,
            bound_ns,
            commands,
            driver,
            calls,
            mailbox,
            returned,
            declared: AtomicU32::new(0),
            cards,
            beside: OnceLock::new(),
            falls_back,
            fallen_back,
        });
        let (engine, calls) = (Some(engine), Some(serving));
        Ok(Self { builder, shared, addresses, outside, closer, beside: None, engine, calls })
    }

    /// In a job with cards: brings the same ranks together over the kernel's UDP, too. If that cannot be, collectives of halves say why.
    ///
    /// # Errors
    /// If it cannot be, and they are to go on so once a card has failed.
    fn open_beside(&mut self) -> Result<(), ConnectError> {
        if self.shared.cards.is_empty() {
            return Ok(());
        }
        let opened = block_on(self.same_ranks()).map_err(|error| match error {
            ConnectError::Control(error) => Error::Control(error),
            error => Error::Collective(Arc::new(error)),
        });
        let shared = opened.as_ref().map(|beside| beside.shared.clone()).map_err(Error::clone);
        match &shared {
            Ok(beside) if self.shared.falls_back => {
                // If the engine has ended, the first call says so.
                let _ = self.shared.command(Command::FallBackTo(beside.clone()));
            }
            Ok(_) => {}
            Err(error) if self.shared.falls_back => {
                let expected = format!("off: the ranks do not come together over the kernel's UDP: {error}");
                return Err(ConnectError::Setting { setting: "card_fallback", found: "udp".into(), expected });
            }
            Err(error) => {
                tracing::warn!(%error, "no reduce-scatter and no all-gather in this job: its ranks do not come together over UDP");
            }
        }
        let _ = self.shared.beside.set(shared);
        self.beside = opened.ok().map(Box::new);
        Ok(())
    }

    /// This rank, from 0.
    pub fn rank(&self) -> usize {
        self.shared.params.rank
    }

    /// Ranks of the job, those that were dropped included.
    pub fn world_size(&self) -> usize {
        self.shared.params.ranks
    }

    /// Ranks whose gradients a card moves, see [`Builder::card`].
    pub fn cards(&self) -> &[usize] {
        &self.shared.cards
    }

    /// Whether this process came into a job that ran already ([`Launch::rejoin`](crate::Launch::rejoin)), and has not taken
    /// part in a collective yet: it declares its buckets and calls [`rejoin`](Self::rejoin).
    pub fn is_outside(&self) -> bool {
        self.outside.load(Ordering::Acquire)
    }

    /// The elements of a buffer that belong to this rank, in reduce-scatter and all-gather: all shards are as long as that of
    /// rank 0, but that the last ones may be shorter, or empty (as `torch.chunk` cuts). Shards stay when a rank is dropped.
    pub fn shard_range(&self, elements: usize) -> Range<usize> {
        self.shared.shard_range(elements)
    }

    /// The deadline of each stage (t_B) at present: no collective takes longer than two of them.
    pub fn stage_deadline(&self) -> Duration {
        Duration::from_nanos(self.shared.present().bound_ns.load(Ordering::Relaxed))
    }

    /// Bytes of gradient in a full packet.
    pub fn payload_bytes(&self) -> usize {
        self.shared.params.payload_beats * BEAT_BYTES
    }

    /// Waits until all ranks are here. Collective.
    ///
    /// # Errors
    /// Names a rank that is gone, does not come within the timeout, or calls something else.
    pub fn barrier(&mut self) -> Result<(), Error> {
        block_on(self.barrier_async())
    }

    /// As [`barrier`](Self::barrier), without blocking the thread.
    ///
    /// # Errors
    /// As [`barrier`](Self::barrier).
    pub async fn barrier_async(&mut self) -> Result<(), Error> {
        self.start_barrier().await
    }

    /// Begins as [`barrier`](Self::barrier).
    pub fn start_barrier(&mut self) -> Pending<()> {
        self.shared.call(Terms::default().with("the call", "barrier"), |_, _| Ok(()))
    }

    /// From now on calls over TCP (barriers, broadcasts, declarations of buckets) leave out ranks whose process has ended,
    /// as the collectives over UDP do. Without it they fail with the rank's number. Collective.
    ///
    /// # Errors
    /// As [`barrier`](Self::barrier).
    pub fn skip_gone_ranks(&mut self) -> Result<(), Error> {
        block_on(self.skip_gone_ranks_async())
    }

    /// As [`skip_gone_ranks`](Self::skip_gone_ranks), without blocking the thread.
    ///
    /// # Errors
    /// As [`barrier`](Self::barrier).
    pub async fn skip_gone_ranks_async(&mut self) -> Result<(), Error> {
        self.start_skip_gone_ranks().await
    }

    /// Begins as [`skip_gone_ranks`](Self::skip_gone_ranks).
    pub fn start_skip_gone_ranks(&mut self) -> Pending<()> {
        self.shared.skip_gone()
    }

    /// Takes part again after [`Error::Dropped`]. A process that came into a job that runs
    /// ([`Launch::rejoin`](crate::Launch::rejoin)) gets that error, too, until it calls this, once its buckets are declared. Blocks
    /// until the others agree and have come to the first collective that this rank is in, and returns its number; if they call
    /// none within the timeout, then. The others go on with their collectives meanwhile; the model is the trainer's to fetch, when
    /// [`Report::joined_rank`] says that a rank has joined.
    ///
    /// # Errors
    /// [`Error::Cards`]. If collectives still run, the others do not agree within the timeout, or the engine has given up.
    pub fn rejoin(&mut self) -> Result<u32, Error> {
        block_on(self.rejoin_async())
    }

    /// As [`rejoin`](Self::rejoin), without blocking the thread.
    ///
    /// # Errors
    /// As [`rejoin`](Self::rejoin).
    pub async fn rejoin_async(&mut self) -> Result<u32, Error> {
        self.start_rejoin().await
    }

    /// Begins as [`rejoin`](Self::rejoin).
    pub fn start_rejoin(&mut self) -> Pending<u32> {
        let (sender, reply) = reply();
        match self.shared.require_no_card("rejoin", "start all ranks of the job again") {
            Err(error) => drop(sender.send(Err(error))),
            // If the engine has ended, the reply says so.
            Ok(()) => drop(self.shared.command(Command::Rejoin(sender))),
        }
        Pending::new(reply)
    }

    /// Why the engine has given up, if it has: all calls of buckets fail with that. For programs that look while nobody waits in a
    /// call; does not wait.
    pub fn failure(&self) -> Option<Error> {
        self.shared.driver.failure().or_else(|| self.shared.present().driver.failure())
    }

    /// Memory for `elements` values that may be [lent](Buffer::lend) to all-reduces as gradient or result. A [card](Builder::card) reads and writes it itself,
    /// so that nothing is copied ([`Report::copied_bytes`]); other ranks of this host read it where it lies, instead of a copy in a ring (not where
    /// `ulimit -v` limits the address space). UDP takes it as any memory.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use optireduce::{BucketOptions, Communicator, Destination, Values};
    ///
    /// let mut communicator = Communicator::builder().card("0000:5e:00.0").connect()?;
    /// let mut bucket = communicator.bucket(1 << 20, BucketOptions::default())?;
    /// let (mut gradient, mut mean) = (communicator.alloc(1 << 20)?, communicator.alloc(1 << 20)?);
    /// gradient.values().expect("not lent").fill(1.0);
    /// let (from, to) = (gradient.lend().expect("not lent"), mean.lend().expect("not lent"));
    /// let (_, report) = bucket.all_reduce_lent(Values::lent(from), Destination::Here(Values::lent(to)))?;
    /// assert_eq!(report.copied_bytes(), 0);
    /// println!("{:?}", mean.values().expect("given back")[0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If there is not so much memory.
    pub fn alloc(&self, elements: usize) -> Result<Buffer, NotEnoughMemory> {
        Buffer::new(elements)
    }

    /// What this rank has seen so far.
    ///
    /// # Errors
    /// If the engine has ended.
    pub fn metrics(&self) -> Result<Metrics, Error> {
        block_on(self.metrics_async())
    }

    /// As [`metrics`](Self::metrics), without blocking the thread.
    ///
    /// # Errors
    /// As [`metrics`](Self::metrics).
    pub async fn metrics_async(&self) -> Result<Metrics, Error> {
        let mut metrics = self.shared.metrics().await?;
        if let Some(Ok(beside)) = self.shared.beside.get() {
            metrics.over_udp = beside.metrics().await.ok().map(Box::new);
        }
        Ok(metrics)
    }

    /// A rank that a caller names.
    fn check_rank(&self, name: &'static str, rank: usize) -> Result<usize, Error> {
        if rank < self.world_size() {
            return Ok(rank);
        }
        Err(Error::Argument { name, found: rank, expected: format!("a rank from 0 to {}", self.world_size() - 1) })
    }
}

impl Drop for Communicator {
    /// Ends the engine, once what it has still to send has left, and then the connections. Never waits for another rank: packets
    /// have 0.2 s to leave, and messages 1 s, or 0.2 s if a rank takes none.
    fn drop(&mut self) {
        let _ = self.shared.command(Command::End);
        self.shared.mailbox.close();
        if let Some(closer) = self.closer.take() {
            closer.close();
        }
        let _ = self.shared.calls.send(ControlCall::End);
        for thread in [self.engine.take(), self.calls.take()].into_iter().flatten() {
            let _ = thread.join();
        }
    }
}
