//! One rank of a job over UDP: what trainers without a card use.
//!
//! A thread of its own ("optireduce-engine") moves the datagrams, closes the stages and keeps the protocol's clocks, so a
//! caller that is late costs its peers no more than the bound. Callers hand gradients over and wait, or await, or go on.
//! All ranks must call the same collectives in the same order.

mod engine;
mod groups;

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use thiserror::Error;
use tokio::sync::oneshot;

pub use self::groups::TwoLevel;

use self::engine::{Command, Engine, Links, Waker};
use crate::bootstrap::{BootstrapError, Launch, LaunchError, Member, Mesh, MeshError, local_address};
use crate::reliable;
use crate::udp::{PathError, Udp, UdpError, payload_beats_of};
use optireduce_core::DataPlane;
use optireduce_core::protocol::repair::RepairReport;
use optireduce_core::protocol::{
    self, BUCKETS_MAX, EarlyRule, HadamardMode, JobParams, Kind, MembershipParams, Parts, Report, TooFewSamples,
    VoteParams, bound_from_warmup,
};
use optireduce_core::software::Counters;
use optireduce_core::{Call, Collectives, CollectivesError, Finished};

/// How the bound t_B on a stage is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// As given.
    Fixed(Duration),
    /// The 95th percentile of the stage times of 20 reliable all-reduces of so many elements (OptiReduce 3.2.1), at least
    /// [`BOUND_MIN`]; best those of the largest bucket.
    Measured {
        /// Elements of each warm-up collective.
        elements: usize,
    },
}

/// The shortest bound that is measured: for so long a host may keep the engine's thread off the CPU.
pub const BOUND_MIN: Duration = Duration::from_millis(5);
/// The shortest grace time that follows the stage times, for the same reason.
const GRACE_MIN: Duration = Duration::from_micros(250);

/// How long a rank must be silent that still has its connections: its machine may be busy.
const SILENT: Duration = Duration::from_millis(500);
/// How far a rank may be ahead: small collectives must not wait for messages.
const LEAD_OPS: u32 = 64;
/// How long a rank may take to answer in an agreement, on a busy machine, before others go on without its answer.
const RETRY: Duration = Duration::from_millis(200);

/// How much longer than the bounds ranks wait for the leader's decision: its machine may be busy.
const AGREEING_SLACK: Duration = Duration::from_millis(250);

/// Where the rates begin that follow the round-trip times: 100 Gb/s.
const RATE_MAX_BYTES_PER_US: u32 = 12_500;

/// When a stage may close before its bound: all peers' last packets were seen, and silence followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Early {
    /// Never.
    Off,
    /// After so much silence.
    Grace(Duration),
    /// After x % of t_C, which follow the loss and the stage times of all ranks (OptiReduce 3.2.1).
    Adaptive,
}

/// Settings of a [`Communicator`]. All ranks must have the same, but for interface and launch.
#[derive(Clone, Debug)]
pub struct Builder {
    launch: Option<Launch>,
    interface: Option<String>,
    mtu: Option<usize>,
    timeout: Duration,
    bound: Bound,
    early: Early,
    hadamard: HadamardMode,
    bf16: bool,
    incast: Option<usize>,
    window_bytes: usize,
    rate_control: bool,
    silent_ops: Option<u32>,
    repair: bool,
    agree: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            launch: None,
            interface: None,
            mtu: None,
            timeout: Duration::from_secs(60),
            bound: Bound::Measured { elements: 1 << 20 },
            early: Early::Adaptive,
            hadamard: HadamardMode::Auto,
            bf16: false,
            incast: None,
            window_bytes: 1 << 20,
            rate_control: false,
            silent_ops: Some(3),
            repair: true,
            agree: false,
        }
    }
}

impl Builder {
    /// The rank's place in its job. Default: from the launcher's environment, see [`Launch::from_env`].
    pub fn launch(self, launch: Launch) -> Self {
        Self { launch: Some(launch), ..self }
    }

    /// Name or address of the interface to use. Default: the one on the way to rank 0.
    pub fn interface(self, interface: impl Into<String>) -> Self {
        Self { interface: Some(interface.into()), ..self }
    }

    /// Bytes of the largest IP packet. Default: what gets through between all ranks.
    pub fn mtu(self, mtu: impl Into<Option<usize>>) -> Self {
        Self { mtu: mtu.into(), ..self }
    }

    /// How long ranks wait for one another outside of stages: at the start, in barriers. Default: 60 s.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The bound on each stage. Default: measured with 4 MiB.
    pub fn bound(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }

    /// When a stage may close before its bound. Default: [`Early::Adaptive`].
    pub fn early(self, early: Early) -> Self {
        Self { early, ..self }
    }

    /// When collectives are Hadamard-encoded. Default: once more than 2 % were lost.
    pub fn hadamard(self, hadamard: HadamardMode) -> Self {
        Self { hadamard, ..self }
    }

    /// Whether gradients travel as bf16. Default: no.
    pub fn bf16(self, bf16: bool) -> Self {
        Self { bf16, ..self }
    }

    /// Peers that are sent to at a time, 1 to 15; `None`: as many as the receivers bear (OptiReduce 3.2.2). Default: `None`.
    pub fn incast(self, incast: Option<usize>) -> Self {
        Self { incast, ..self }
    }

    /// Largest window in bytes of fp32, up to 1 MiB. Default: 1 MiB. Ranks with cards need the cards' window.
    pub fn window_bytes(self, window_bytes: usize) -> Self {
        Self { window_bytes, ..self }
    }

    /// Whether the rate of each peer follows the round-trip times of its answers (OptiReduce 3.2.3). Default: no.
    pub fn rate_control(self, rate_control: bool) -> Self {
        Self { rate_control, ..self }
    }

    /// Collectives in a row without any sign of a rank after which the others agree to go on without it; a rank whose process
    /// still has its connections must be silent for half a second besides. `None`: never; then t_B is not measured again
    /// either. Default: 3.
    pub fn drop_silent_after(self, ops: Option<u32>) -> Self {
        Self { silent_ops: ops, ..self }
    }

    /// Whether what broadcasts lost is fetched over the reliable channel, and the difference added to the bucket's next
    /// output, so that replicas agree again. Default: yes. It costs a copy of this rank's means.
    pub fn repair(self, repair: bool) -> Self {
        Self { repair, ..self }
    }

    /// Whether all ranks take the same [`action`](Report::action): what one would skip, all skip. Costs two messages on the reliable channel
    /// after each collective, and with a rank that is late up to two bounds. Default: no.
    pub fn agree(self, agree: bool) -> Self {
        Self { agree, ..self }
    }

    /// Brings the ranks together, measures the bound if it is to be, and starts the engine.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub fn connect(self) -> Result<Communicator, ConnectError> {
        let builder = self.clone();
        let launch = self.launch.map_or_else(Launch::from_env, Ok)?;
        let payload_beats = match self.mtu.map(|mtu| (mtu, payload_beats_of(mtu))) {
            Some((found, 0)) => return Err(ConnectError::Mtu { found }),
            given => given.map_or(0, |(_, beats)| beats),
        };
        let local = local_address(self.interface.as_deref(), &launch)?;
        let mut socket = Udp::bind(local)?;
        let (udp, receive_buffer_bytes) = (socket.local_addr()?, socket.receive_buffer_bytes());
        let waker = Arc::new(Waker::new().map_err(ConnectError::Thread)?);
        let describe = |control| Member { rank: launch.rank, udp, control, receive_buffer_bytes, payload_beats };
        let wake = waker.clone();
        let mut mesh = Mesh::connect(&launch, local, self.timeout, describe, move || wake.wake())?;
        let payload_beats = socket.payload_beats(&mut mesh, self.timeout)?;
        let plane = socket.join(launch.rank, mesh.job(), payload_beats)?;

        let bound_ns = match self.bound {
            Bound::Fixed(bound) => bound.as_nanos() as u64,
            Bound::Measured { elements } => {
                measure_bound(&mut mesh, elements, || self.timeout)?.unwrap_or(BOUND_MIN.as_nanos() as u64)
            }
        };

        let defaults = JobParams::new(launch.rank, launch.world_size, payload_beats, bound_ns, &plane.limits());
        let grace_ns = |grace: Duration| u32::try_from(grace.as_nanos().min(bound_ns.into())).unwrap_or(u32::MAX);
        let params = JobParams {
            bf16: self.bf16,
            incast: self.incast.unwrap_or(1),
            early: match self.early {
                Early::Grace(grace) => Some(EarlyRule { grace_ns: grace_ns(grace) }),
                Early::Adaptive | Early::Off => None,
            },
            window_beats_max: self.window_bytes / 64,
            job_seed: mesh.job().seed,
            // Only a data plane that hangs is so late; a thread may be off the CPU for long.
            stage_slack_ns: 10_000_000_000,
            ..defaults
        };
        let collectives = Collectives::new(plane, params.clone());
        let mut collectives = collectives.map_err(|error| ConnectError::Params(error.to_string()))?;
        if self.early == Early::Adaptive {
            collectives.follow_stage_times(GRACE_MIN.as_nanos() as u32);
        }
        if self.incast.is_none() {
            collectives.follow_incast();
        }
        if self.rate_control {
            collectives.follow_round_trips(RATE_MAX_BYTES_PER_US);
        }
        if self.repair {
            collectives.repair();
        }
        if let Some(silent_ops) = self.silent_ops {
            let defaults = MembershipParams::new(launch.world_size);
            let silent_ns = SILENT.as_nanos() as u64;
            let retry_ns = RETRY.as_nanos() as u64;
            let members = MembershipParams { silent_ops, silent_ns, retry_ns, lead_ops: LEAD_OPS, ..defaults };
            let followed = collectives.follow_members(members, matches!(self.bound, Bound::Measured { .. }));
            followed.map_err(|error| ConnectError::Params(error.to_string()))?;
        }
        if self.agree {
            // Both stages of one rank may run into their bounds while another has everything at once.
            let (leader_ns, slack_ns) = (2 * bound_ns, AGREEING_SLACK.as_nanos() as u64);
            collectives.agree_on_updates(VoteParams { leader_ns, others_ns: leader_ns + bound_ns + slack_ns });
        }
        let (commands, incoming) = channel();
        let (notices, between) = (mesh.take_notices(), mesh.take_between());
        let links = Links { notices, mesh: between, agreeing: self.timeout };
        let engine = Engine::new(collectives, links, incoming, waker.clone(), self.hadamard);
        let thread = std::thread::Builder::new().name("optireduce-engine".into()).spawn(move || engine.run());
        let thread = Some(thread.map_err(ConnectError::Thread)?);
        Ok(Communicator { builder, mesh, params, commands, waker, thread, timeout: self.timeout })
    }
}

/// Agrees on t_B in ns: every rank times 20 reliable all-reduces, rank 0 pools the times. Rank 0 also says how many elements;
/// nothing is measured without any. `patience`: how long ranks wait for one another, at each step.
fn measure_bound(
    mesh: &mut Mesh,
    elements: usize,
    patience: impl Fn() -> Duration,
) -> Result<Option<u64>, ConnectError> {
    let elements = mesh.broadcast(&(elements as u64).to_le_bytes(), patience())?;
    let elements = u64::from_le_bytes(elements.try_into().unwrap_or_default()).min(1 << 30) as usize;
    if elements == 0 {
        return Ok(None);
    }
    let mut data = vec![0.0f32; elements];
    let mut times_ns = Vec::new();
    for op in 0..optireduce_core::protocol::RUNS_MIN as u32 {
        mesh.barrier(patience())?;
        let stages = reliable::all_reduce(mesh, op, &mut data, patience())?;
        times_ns.extend(stages.map(|stage| stage.as_nanos() as u64));
    }
    let own = serde_json::to_vec(&times_ns).unwrap_or_default();
    let all = mesh.gather(&own, patience())?;
    let bound = if mesh.rank() == 0 {
        let pooled: Vec<Vec<u64>> = all.iter().map(|times| serde_json::from_slice(times).unwrap_or_default()).collect();
        bound_from_warmup(&pooled)?
    } else {
        0
    };
    let bound = mesh.broadcast(&bound.to_le_bytes(), patience())?;
    let bound = u64::from_le_bytes(bound.try_into().unwrap_or_default());
    Ok(Some(bound.clamp(BOUND_MIN.as_nanos() as u64, u32::MAX.into())))
}

/// A job could not be joined.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// Who this rank is is not known.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The ranks did not come together.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    /// A peer was lost while the bound was measured, or groups were formed.
    #[error("before the first collective: {0}")]
    Peer(#[from] MeshError),
    /// A rank measured too little.
    #[error("measuring the bound: {0}")]
    Bound(#[from] TooFewSamples),
    /// The socket failed.
    #[error(transparent)]
    Udp(#[from] UdpError),
    /// No packet gets through between two ranks.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The MTU holds no payload.
    #[error("an MTU of {found} bytes has no room for a payload; expected at least 114")]
    Mtu {
        /// The MTU.
        found: usize,
    },
    /// The ranks cannot be cut into so many groups.
    #[error(
        "{ranks} ranks in {groups} groups: expected at least two groups, of equal size and at least two ranks each"
    )]
    Groups {
        /// Ranks of the job.
        ranks: usize,
        /// Groups wanted.
        groups: usize,
    },
    /// A setting is out of range.
    #[error("{0}")]
    Params(String),
    /// No thread, or nothing to wake it with.
    #[error("starting the engine: {0}")]
    Thread(#[source] io::Error),
}

/// A call has failed. But for [`Call`](Self::Call), nothing more can be done with the communicator.
#[derive(Clone, Debug, Error)]
pub enum EngineError {
    /// A collective failed.
    #[error("{0}")]
    Collective(Arc<CollectivesError<UdpError>>),
    /// A peer was lost outside of a collective.
    #[error(transparent)]
    Peer(#[from] MeshError),
    /// What was called cannot be; nothing was done, and nothing is broken.
    #[error("{name} is {found}, expected {expected}")]
    Call {
        /// What is wrong.
        name: &'static str,
        /// Its value.
        found: usize,
        /// What it must be.
        expected: String,
    },
    /// The others go on without this rank.
    #[error(
        "this rank was dropped, as the others did not hear it for several collectives; rejoin, then take the model from a \
         rank that stayed"
    )]
    Dropped,
    /// No quorum of ranks answers.
    #[error(
        "the ranks could not agree on who takes part within {} s: a quorum is more than half of them, or half with the lowest",
        waited.as_secs_f64()
    )]
    NoAgreement {
        /// How long was waited.
        waited: Duration,
    },
    /// The engine's thread has ended.
    #[error("the engine has ended")]
    Ended,
}

/// What an engine has seen so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Metrics {
    /// Datagrams and drops.
    pub counters: Counters,
    /// Loss and timing, per peer and stage.
    pub collectives: protocol::Metrics,
    /// First Hadamard-encoded collective that was agreed on.
    pub hadamard_from: Option<u32>,
    /// Smoothed round-trip time to each rank in microseconds; `None` for this rank, and before the first answer.
    pub rtt_us: Vec<Option<f64>>,
    /// The bound on each stage in ns.
    pub bound_ns: u64,
    /// Ranks that take part, of the newest view.
    pub live: Vec<usize>,
    /// What broadcasts lost, and what has become of it; nothing without repair.
    pub repair: RepairReport,
    /// Ranks that were found silent, in order.
    pub silent: Vec<usize>,
    /// How fast each rank is sent to in bytes per microsecond; empty without rate control.
    pub rate_bytes_per_us: Vec<f64>,
}

/// One rank of a job. See the module's documentation.
#[derive(Debug)]
pub struct Communicator {
    /// What it was made with, for communicators of some of its ranks.
    builder: Builder,
    mesh: Mesh,
    params: JobParams,
    commands: Sender<Command>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<()>>,
    timeout: Duration,
}

impl Communicator {
    /// Settings to change before [`connect`](Builder::connect).
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Averages `data` over all ranks; blocks until that is done, no longer than the bounds allow.
    ///
    /// # Errors
    /// If the engine has given up; `data` is then unchanged.
    pub fn all_reduce(&mut self, bucket: u16, data: &mut [f32]) -> Result<Report, EngineError> {
        let Finished { report, result } = self.start(bucket, data.to_vec())?.wait()?;
        data.copy_from_slice(&result);
        Ok(report)
    }

    /// Begins a collective; others may be begun before it is finished.
    ///
    /// # Errors
    /// If the engine has given up.
    pub fn start(&mut self, bucket: u16, data: Vec<f32>) -> Result<Pending, EngineError> {
        self.begin(Kind::AllReduce, bucket, data.len(), data)
    }

    /// The elements of a bucket that belong to this rank, in [`reduce_scatter`](Self::reduce_scatter) and
    /// [`all_gather`](Self::all_gather): all parts are as long as that of rank 0, but that the last ones may be shorter, or
    /// empty (as `torch.chunk` cuts).
    pub fn part(&self, elements: usize) -> Range<usize> {
        Parts::new(elements, self.params.ranks).of(self.params.rank)
    }

    /// Averages `data` over all ranks and gives this rank its [`part`](Self::part) of the mean; blocks until that is done, no
    /// longer than the bound of the contribute stage allows. As in an all-reduce, entries of a peer that did not come are
    /// left out of the mean, and reported. Never Hadamard-encoded.
    ///
    /// # Errors
    /// If the bucket's number is too high, or the engine has given up.
    pub fn reduce_scatter(&mut self, bucket: u16, data: &[f32]) -> Result<Finished, EngineError> {
        self.start_reduce_scatter(bucket, data.to_vec())?.wait()
    }

    /// As [`reduce_scatter`](Self::reduce_scatter), without waiting.
    ///
    /// # Errors
    /// If the bucket's number is too high, or the engine has given up.
    pub fn start_reduce_scatter(&mut self, bucket: u16, data: Vec<f32>) -> Result<Pending, EngineError> {
        self.begin(Kind::ReduceScatter, bucket, data.len(), data)
    }

    /// Hands this rank's `part` of a bucket of `elements` to all ranks and gives the whole; blocks until that is done, no
    /// longer than the bound of the broadcast stage allows. What did not come is zero, and
    /// [`Report::missing_from`](optireduce_core::protocol::Report::missing_from) says whose parts that concerns: what must arrive
    /// whole goes by [`broadcast`](Self::broadcast). Never Hadamard-encoded.
    ///
    /// # Errors
    /// If the part is not as long as [`part`](Self::part) says, the bucket's number is too high, or the engine has given up.
    pub fn all_gather(&mut self, bucket: u16, elements: usize, part: &[f32]) -> Result<Finished, EngineError> {
        self.start_all_gather(bucket, elements, part.to_vec())?.wait()
    }

    /// As [`all_gather`](Self::all_gather), without waiting.
    ///
    /// # Errors
    /// As [`all_gather`](Self::all_gather).
    pub fn start_all_gather(&mut self, bucket: u16, elements: usize, part: Vec<f32>) -> Result<Pending, EngineError> {
        let (found, expected) = (part.len(), self.part(elements).len());
        if found != expected {
            let (name, expected) = ("the number of elements of the part", expected.to_string());
            return Err(EngineError::Call { name, found, expected });
        }
        self.begin(Kind::AllGather, bucket, elements, part)
    }

    fn begin(&mut self, kind: Kind, bucket: u16, elements: usize, given: Vec<f32>) -> Result<Pending, EngineError> {
        if bucket >= BUCKETS_MAX {
            let (found, expected) = (bucket.into(), format!("0 to {}", BUCKETS_MAX - 1));
            return Err(EngineError::Call { name: "the bucket", found, expected });
        }
        let (reply, pending) = oneshot::channel();
        let call = Call { kind, bucket, elements, hadamard: false };
        self.command(Command::Collective { call, given, reply })?;
        Ok(Pending(pending))
    }

    /// Hands the root's values to all ranks, whole: over the reliable channel, for weights. All ranks must have as many. Returns
    /// once this rank has all of them and, at the root, once every rank has.
    ///
    /// # Errors
    /// Names the rank that is gone, or silent for longer than the timeout, or has another length. `data` is then in between.
    pub fn broadcast(&mut self, root: usize, data: &mut [f32]) -> Result<(), EngineError> {
        let mut bytes: Vec<u8> = data.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.mesh.broadcast_from(root, &mut bytes, self.timeout)?;
        data.iter_mut().zip(bytes.as_chunks().0).for_each(|(value, bytes)| *value = f32::from_le_bytes(*bytes));
        Ok(())
    }

    /// Takes part again after [`EngineError::Dropped`]; blocks until the others agree, and returns the number of the first
    /// collective that this rank is in. The others call collectives meanwhile; the model is the trainer's to fetch.
    ///
    /// # Errors
    /// If collectives still run, or the engine has given up.
    pub fn rejoin(&mut self) -> Result<u32, EngineError> {
        let (reply, pending) = oneshot::channel();
        self.command(Command::Rejoin(reply))?;
        pending.blocking_recv().unwrap_or(Err(EngineError::Ended))
    }

    /// What the engine has seen so far.
    ///
    /// # Errors
    /// If the engine has ended.
    pub fn metrics(&mut self) -> Result<Metrics, EngineError> {
        let (reply, pending) = oneshot::channel();
        self.command(Command::Metrics(reply))?;
        pending.blocking_recv().map_err(|_| EngineError::Ended)
    }

    /// The reliable channel, for barriers and what must not be lost.
    pub fn mesh(&mut self) -> &mut Mesh {
        &mut self.mesh
    }

    /// Waits until all ranks are here.
    ///
    /// # Errors
    /// Names a rank that is gone, or does not come within the timeout.
    pub fn barrier(&mut self) -> Result<(), EngineError> {
        Ok(self.mesh.barrier(self.timeout)?)
    }

    /// The job's parameters, the bound with which it began among them; [`metrics`](Self::metrics) has the present one.
    pub fn params(&self) -> &JobParams {
        &self.params
    }

    fn command(&self, command: Command) -> Result<(), EngineError> {
        self.commands.send(command).map_err(|_| EngineError::Ended)?;
        self.waker.wake();
        Ok(())
    }
}

impl Drop for Communicator {
    /// Ends the engine, once what it has still to send has left.
    fn drop(&mut self) {
        let _ = self.command(Command::End);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A collective that has begun: to be waited for or awaited. Dropping it does not end the collective.
#[derive(Debug)]
pub struct Pending(oneshot::Receiver<Result<Finished, EngineError>>);

impl Pending {
    /// Blocks until the collective is finished. Not inside an async task: await it there.
    ///
    /// # Errors
    /// If the engine has given up.
    pub fn wait(self) -> Result<Finished, EngineError> {
        self.0.blocking_recv().unwrap_or(Err(EngineError::Ended))
    }
}

impl Future for Pending {
    type Output = Result<Finished, EngineError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|received| received.unwrap_or(Err(EngineError::Ended)))
    }
}
