//! One rank of a job, over UDP or a card.
//!
//! Threads: "optireduce-engine" drives the data plane and the protocol, unless a blocking caller
//! does ([`driver`]). "optireduce-control" serves the TCP connections, and "optireduce-calls" makes
//! the calls over them, in order. Over UDP, "optireduce-send" is optional. In a
//! job with cards every rank has a second set of threads, for [`Shared::beside`], and
//! two levels have three ([`levels`]).

mod abandoned;
pub mod binding;
mod bucket;
mod builder;
mod close;
mod command;
mod connect;
mod counts;
mod driver;
mod engine;
mod error;
mod exact;
mod fallback;
mod flat_bucket;
mod groups;
mod levels;
mod memory;
mod metrics;
mod options;
mod partial_reduce;
mod report;
mod request;
mod settle;
mod transfer;

use std::fmt;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub use self::bucket::Bucket;
pub use self::builder::{BOUND_MAX_DEFAULT, BOUND_MIN};
pub(crate) use self::error::{Cause, ConnectError};
pub use self::error::{Error, ErrorKind, Mismatch};
pub use self::exact::Exact;
pub use self::memory::Memory;
pub use self::metrics::Metrics;
pub use self::options::{BucketOptions, ReduceOp};
pub use self::partial_reduce::{PartialOptions, PartialReduce, Weights};
pub use self::report::{GroupReport, PeerReport, Report, StageReport};
pub use self::request::Request;
pub use self::settle::Settled;

use self::builder::Builder;
use self::command::Command;
use self::driver::Driver;
use self::flat_bucket::FlatBucket;
use self::levels::{Levels, Table};
use self::request::{Sender, reply};
use crate::buffer::Buffer;
use crate::control::{Closer, ControlChannel, ControlError, Mailbox, Terms};
use crate::settings::{CardFallback, Settings};
use optireduce_core::protocol::{JobParams, Kind, Parts};

/// Remedy of calls that need one level.
const ONE_LEVEL: &str = "connect without groups, and declare single buckets with groups";

/// One rank of a job.
///
/// All ranks must make the calls marked *collective*, in the same order and with equal arguments.
/// If they differ, all ranks get an error that names a rank and both values.
///
/// Calls begin where they are written, and return a [`Request`].
///
/// With the setting [`groups`](Settings::groups) the job is on two levels: a rank is connected only
/// to its group and its equals, the ranks with the same place in the other groups. Buckets,
/// barriers, and of [`exact`](Self::exact) `broadcast` and `all_gather` then combine calls of both
/// levels, and fail once a rank is gone. Other calls are [`ErrorKind::Unsupported`].
///
/// [`close`](Self::close) ends the job and checks that all ranks made the same calls. Dropping a
/// communicator only closes its connections; calls of its buckets then fail with
/// [`ErrorKind::Closed`](crate::ErrorKind::Closed).
#[derive(Debug)]
pub struct Communicator(Of);

#[derive(Debug)]
enum Of {
    /// With the levels of its buckets on two levels, which end after it.
    Flat(Flat, Table),
    Levels(Levels),
}

impl From<Flat> for Communicator {
    fn from(flat: Flat) -> Self {
        Self(Of::Flat(flat, Table::default()))
    }
}

impl Communicator {
    fn builder(&self) -> &Builder {
        match &self.0 {
            Of::Flat(flat, _) => &flat.builder,
            Of::Levels(levels) => &levels.builder,
        }
    }

    /// Makes a call that jobs on two levels do not support.
    fn on_one_level<T>(
        &self,
        call: &'static str,
        instead: &'static str,
        make: impl FnOnce(&Flat) -> Request<T>,
    ) -> Request<T> {
        match &self.0 {
            Of::Flat(flat, _) => make(flat),
            Of::Levels(_) => Err(Cause::Levels { call, instead }.into()).into(),
        }
    }

    /// This rank, from 0.
    pub fn rank(&self) -> usize {
        self.builder().launch.rank
    }

    /// Number of ranks in the job, dropped ranks included.
    pub fn world_size(&self) -> usize {
        self.builder().launch.world_size
    }

    /// Settings in force, from code, the environment, the launcher and defaults.
    pub fn settings(&self) -> &Settings {
        &self.builder().settings
    }

    /// Returns whether this process joined a running job
    /// ([`Settings::rejoin`](crate::Settings::rejoin)) and has not taken part in a collective yet.
    pub fn is_outside(&self) -> bool {
        matches!(&self.0, Of::Flat(flat, _) if flat.outside.load(Ordering::Acquire))
    }

    /// Shard of this rank in a buffer of `elements` values, for reduce-scatter and all-gather.
    ///
    /// Shards have `elements / world_size` elements, rounded up; the last ones may be shorter or
    /// empty, as with `torch.chunk`. They do not change when a rank is dropped. Not the shards of a
    /// window, which are internal and rotate.
    pub fn shard_range(&self, elements: usize) -> Range<usize> {
        Parts::new(elements, self.world_size()).of(self.rank())
    }

    /// Present bound t_B of each stage of each window, see [`Settings::bound`]. On two levels, the
    /// longest of the steps.
    pub fn bound(&self) -> Duration {
        match &self.0 {
            Of::Flat(flat, _) => flat.shared.bound(),
            Of::Levels(levels) => levels.core.all().map(|shared| shared.bound()).max().unwrap_or_default(),
        }
    }

    /// Waits until all ranks have called it. Collective, over TCP.
    ///
    /// # Errors
    /// Names a rank that is gone, does not call it within the [timeout](Settings::timeout), or
    /// makes another call.
    pub fn barrier(&mut self) -> Request<()> {
        let terms = Terms::default().with("the call", "barrier");
        match &self.0 {
            Of::Flat(flat, _) => flat.shared.call(terms, |_, _| Ok(())),
            Of::Levels(levels) => levels.core.call(terms, |_| Ok(())),
        }
    }

    /// Returns the exact calls: over TCP, the same bits on all ranks.
    pub fn exact(&mut self) -> Exact<'_> {
        Exact { communicator: self }
    }

    /// Takes part again after [`ErrorKind::Dropped`], and returns the number of the first
    /// collective that includes this rank. A process that joins a running job
    /// ([`Settings::rejoin`]) first declares its buckets.
    ///
    /// Waits until the others have agreed and reached that collective, at most the
    /// [timeout](Settings::timeout). The trainer must then fetch the model: the others find this
    /// rank in [`Report::joined_rank`].
    ///
    /// # Errors [`ErrorKind::Unsupported`] in a job with cards or on two levels.
    /// [`ErrorKind::Timeout`] after the timeout without an agreement. Also if collectives of this
    /// rank are in progress or the engine failed.
    pub fn rejoin(&mut self) -> Request<u32> {
        self.on_one_level("rejoin", "restart all ranks of the job", |Flat { shared, .. }| {
            if let Some(rank) = shared.cards.first() {
                let (call, instead) = ("rejoin", "restart all ranks of the job");
                return Err(Cause::Cards { call, rank: *rank, instead }.into()).into();
            }
            shared.ask(Command::Rejoin)
        })
    }

    /// Error with which the engine failed, if it has. Never blocks.
    pub fn failure(&self) -> Option<Error> {
        match &self.0 {
            Of::Flat(flat, table) => {
                flat.shared.failure().or_else(|| table.cores().iter().find_map(|core| core.failure()))
            }
            Of::Levels(levels) => levels.core.failure(),
        }
    }

    /// Allocates `elements` zeros that a [card](Settings::card) and other ranks of this host access
    /// in place ([`Report::copied_bytes`]); the latter only without a `ulimit -v`.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use optireduce::{BucketOptions, Communicator, Settings};
    ///
    /// let mut communicator = Communicator::connect(Settings::new().card("0000:5e:00.0")).wait()?;
    /// let mut bucket = communicator.bucket(1 << 20, BucketOptions::default()).wait()?;
    /// let (mut gradient, mean) = (communicator.alloc(1 << 20)?, communicator.alloc(1 << 20)?);
    /// gradient.fill(1.0);
    /// let ((gradient, mean), report) = bucket.start_all_reduce((gradient, mean)).wait()?;
    /// println!("{} {} {}", gradient[0], mean[0], report.copied_bytes);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If this host has too little memory.
    pub fn alloc(&self, elements: usize) -> Result<Buffer, Error> {
        Ok(Buffer::new(elements)?)
    }

    /// Returns counters and state of this rank.
    ///
    /// # Errors
    /// If the engine has ended.
    pub fn metrics(&self) -> Request<Metrics> {
        let (own, levels) = match &self.0 {
            Of::Flat(flat, table) => (Some(flat.shared.metrics()), table.cores()),
            Of::Levels(levels) => (None, vec![levels.core.clone()]),
        };
        match own {
            Some(own) if levels.is_empty() => own,
            own => {
                let parts: Vec<_> = levels.iter().flat_map(|core| core.all()).map(|shared| shared.metrics()).collect();
                Request::on_a_thread("optireduce-metrics", || {
                    let parts = parts.into_iter().map(Request::wait).collect::<Result<_, _>>()?;
                    Ok(match own {
                        Some(own) => Metrics { parts, ..own.wait()? },
                        None => Metrics::of_levels(parts),
                    })
                })
            }
        }
    }

    /// Declares a bucket of `elements` values. Collective, over TCP.
    ///
    /// A restarted process declares the buckets of the job in the same order, without the others.
    ///
    /// # Errors
    /// On every rank if lengths or options differ, or a rank has too little memory. If `elements`
    /// is out of range, or the ranks cannot form the groups. See also [`barrier`](Self::barrier).
    pub fn bucket(&mut self, elements: usize, options: BucketOptions) -> Request<Bucket> {
        let options = options.or(self.builder());
        match &self.0 {
            Of::Flat(flat, table) => match options.groups.filter(|_| flat.shared.params.ranks > 1) {
                Some(groups) => table.bucket(flat, groups, elements, options),
                None => FlatBucket::declare(&flat.shared, None, elements, BucketOptions { groups: None, ..options }),
            },
            Of::Levels(levels) => levels.bucket(elements, options),
        }
    }
}

enum ControlCall {
    Run(Box<dyn FnOnce(&mut ControlChannel) + Send>),
    End,
}

struct Shared {
    pub params: JobParams,
    pub timeout: Duration,
    pub bound_ns: Arc<AtomicU64>,
    pub commands: mpsc::Sender<Command>,
    pub driver: Arc<Driver>,
    calls: mpsc::Sender<ControlCall>,
    pub mailbox: Arc<Mailbox>,
    pub declared: AtomicU32,
    /// Restarted ranks that calls must include, written by the engine.
    pub returned: Arc<Mutex<Vec<usize>>>,
    pub cards: Vec<usize>,
    /// In a job with cards: the same ranks over the kernel's UDP.
    pub beside: OnceLock<Result<Arc<Shared>, Error>>,
    /// Whether `beside` takes over all collectives [once a card fails](fallback).
    pub falls_back: bool,
    pub fallen_back: Arc<AtomicBool>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("params", &self.params).finish_non_exhaustive()
    }
}

impl Shared {
    pub fn command(&self, command: Command) -> Result<(), Error> {
        self.enqueue(command)?;
        self.driver.wake();
        Ok(())
    }

    pub fn enqueue(&self, command: Command) -> Result<(), Error> {
        self.commands.send(command).map_err(|_| Cause::Closed.into())
    }

    pub fn call<T: Send + 'static>(
        &self,
        terms: Terms,
        call: impl FnOnce(&mut ControlChannel, Duration) -> Result<T, ControlError> + Send + 'static,
    ) -> Request<T> {
        self.call_with(terms, Ok(()), |(), channel, timeout| call(channel, timeout))
    }

    /// Compares terms, then runs `call`. An invalid argument is reported only after the comparison,
    /// so that all ranks stay in step.
    pub fn call_with<G: Send + 'static, T: Send + 'static>(
        &self,
        terms: Terms,
        given: Result<G, Error>,
        call: impl FnOnce(G, &mut ControlChannel, Duration) -> Result<T, ControlError> + Send + 'static,
    ) -> Request<T> {
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
        reply.into()
    }

    /// `call` runs even if its reply was dropped.
    pub fn run(&self, call: impl FnOnce(&mut ControlChannel) + Send + 'static) {
        // Copied now: when a rank makes a call, all ranks have finished the same collectives.
        let returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let call = move |channel: &mut ControlChannel| {
            channel.welcome(&returned);
            call(channel);
        };
        let _ = self.calls.send(ControlCall::Run(Box::new(call)));
    }

    /// Returns the job that makes collectives of this kind instead: cards support all-reduces only.
    pub fn beside(&self, kind: Kind) -> Result<Option<&Arc<Self>>, Error> {
        let beside = self.beside.get().filter(|_| kind != Kind::AllReduce);
        beside.map(|beside| beside.as_ref().map_err(Error::clone)).transpose()
    }

    /// Sends a command that the engine answers. If the engine has ended, the request is
    /// [`ErrorKind::Closed`](crate::ErrorKind::Closed).
    pub fn ask<T>(&self, command: impl FnOnce(Sender<T>) -> Command) -> Request<T> {
        let (sender, reply) = reply();
        let _ = self.command(command(sender));
        reply.into()
    }

    pub fn present(&self) -> &Self {
        match self.beside.get() {
            Some(Ok(beside)) if self.fallen_back.load(Ordering::Acquire) => beside,
            _ => self,
        }
    }

    pub fn metrics(&self) -> Request<Metrics> {
        let own = self.ask(Command::Metrics);
        let Some(Ok(beside)) = self.beside.get() else { return own };
        let over_udp = beside.ask(Command::Metrics);
        Request::on_a_thread("optireduce-metrics", move || {
            Ok(Metrics { over_udp: over_udp.wait().ok().map(Box::new), ..own.wait()? })
        })
    }

    pub fn bound(&self) -> Duration {
        Duration::from_nanos(self.present().bound_ns.load(Ordering::Relaxed))
    }

    pub fn failure(&self) -> Option<Error> {
        self.driver.failure().or_else(|| self.present().driver.failure())
    }

    pub fn shard_range(&self, elements: usize) -> Range<usize> {
        Parts::new(elements, self.params.ranks).of(self.params.rank)
    }
}

/// Owner of the engine and the connections. Dropping it ends both.
#[derive(Debug)]
struct Flat {
    /// Inherited by communicators of some of the ranks.
    pub builder: Builder,
    pub shared: Arc<Shared>,
    pub addresses: Vec<SocketAddr>,
    pub outside: Arc<AtomicBool>,
    closer: Option<Closer>,
    /// Owner of [`Shared::beside`] in a job with cards.
    pub beside: Option<Box<Flat>>,
    engine: Option<JoinHandle<()>>,
    calls: Option<JoinHandle<()>>,
}

impl Flat {
    pub fn start(
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
        let falls_back = !cards.is_empty() && builder.card_fallback == CardFallback::Udp;
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

    /// In a job with cards: connects the ranks over the kernel's UDP as well. A failure matters
    /// only if the job may fall back to UDP.
    pub fn open_beside(&mut self) -> Result<(), Error> {
        if self.shared.cards.is_empty() {
            return Ok(());
        }
        let opened = self.same_ranks();
        let shared = opened.as_ref().map(|beside| beside.shared.clone()).map_err(Error::clone);
        match &shared {
            Ok(beside) if self.shared.falls_back => {
                let _ = self.shared.command(Command::FallBackTo(beside.clone()));
            }
            Ok(_) => {}
            Err(error) if self.shared.falls_back => {
                let expected = format!("off: the ranks cannot connect over the kernel's UDP: {error}");
                return Err(ConnectError::Setting { setting: "card_fallback", found: "udp".into(), expected }.into());
            }
            Err(error) => {
                tracing::warn!(%error, "this job has no reduce-scatter and no all-gather: its ranks cannot connect over UDP");
            }
        }
        let _ = self.shared.beside.set(shared);
        self.beside = opened.ok().map(Box::new);
        Ok(())
    }
}

impl Drop for Flat {
    /// Never waits for another rank. Packets have 0.2 s to leave, and messages 1 s, or 0.2 s to a
    /// rank that reads nothing.
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
