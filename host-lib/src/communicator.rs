//! One rank of a job over UDP: what trainers without a card use.
//!
//! A thread of its own ("optireduce-engine") moves the datagrams, closes the stages and keeps the protocol's clocks, so a
//! caller that is late costs its peers no more than the bound. Callers hand gradients over and wait, or await, or go on.
//! All ranks must call the same collectives in the same order.

mod engine;

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use thiserror::Error;
use tokio::sync::oneshot;

use self::engine::{Command, Engine, Waker};
use crate::bootstrap::{BootstrapError, Launch, LaunchError, Member, Mesh, MeshError, local_address};
use crate::collectives::{Collectives, CollectivesError, Finished};
use crate::data_plane::DataPlane;
use crate::protocol::{self, EarlyRule, HadamardMode, JobParams, Report, TooFewSamples, bound_from_warmup};
use crate::reliable;
use crate::software::Counters;
use crate::udp::{Udp, UdpError, payload_beats_of};

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
    mtu: usize,
    timeout: Duration,
    bound: Bound,
    early: Early,
    hadamard: HadamardMode,
    bf16: bool,
    incast: Option<usize>,
    window_bytes: usize,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            launch: None,
            interface: None,
            mtu: 1500,
            timeout: Duration::from_secs(60),
            bound: Bound::Measured { elements: 1 << 20 },
            early: Early::Adaptive,
            hadamard: HadamardMode::Auto,
            bf16: false,
            incast: None,
            window_bytes: 1 << 20,
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

    /// Bytes of the largest IP packet. Default: 1500.
    pub fn mtu(self, mtu: usize) -> Self {
        Self { mtu, ..self }
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

    /// Brings the ranks together, measures the bound if it is to be, and starts the engine.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub fn connect(self) -> Result<Communicator, ConnectError> {
        let launch = self.launch.map_or_else(Launch::from_env, Ok)?;
        let payload_beats = payload_beats_of(self.mtu);
        if payload_beats == 0 {
            return Err(ConnectError::Mtu { found: self.mtu });
        }
        let local = local_address(self.interface.as_deref(), &launch)?;
        let socket = Udp::bind(local)?;
        let (udp, receive_buffer_bytes) = (socket.local_addr()?, socket.receive_buffer_bytes());
        let waker = Arc::new(Waker::new().map_err(ConnectError::Thread)?);
        let describe = |control| Member { rank: launch.rank, udp, control, receive_buffer_bytes, payload_beats };
        let wake = waker.clone();
        let mut mesh = Mesh::connect(&launch, local, self.timeout, describe, move || wake.wake())?;
        // The narrowest path decides.
        let payload_beats = mesh.job().members.iter().map(|member| member.payload_beats).min().unwrap_or(1);
        let plane = socket.join(launch.rank, mesh.job(), payload_beats)?;

        let bound_ns = match self.bound {
            Bound::Fixed(bound) => bound.as_nanos() as u64,
            Bound::Measured { elements } => measure_bound(&mut mesh, elements, self.timeout)?,
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
        let (commands, incoming) = channel();
        let notices = mesh.take_notices();
        let engine = Engine::new(collectives, notices, incoming, waker.clone(), self.hadamard);
        let thread = std::thread::Builder::new().name("optireduce-engine".into()).spawn(move || engine.run());
        let thread = Some(thread.map_err(ConnectError::Thread)?);
        Ok(Communicator { mesh, params, commands, waker, thread, timeout: self.timeout })
    }
}

/// Agrees on t_B: every rank times 20 reliable all-reduces, rank 0 pools the times.
fn measure_bound(mesh: &mut Mesh, elements: usize, timeout: Duration) -> Result<u64, ConnectError> {
    let mut data = vec![0.0f32; elements];
    let mut times_ns = Vec::new();
    for op in 0..crate::protocol::RUNS_MIN as u32 {
        mesh.barrier(timeout)?;
        let stages = reliable::all_reduce(mesh, op, &mut data, timeout)?;
        times_ns.extend(stages.map(|stage| stage.as_nanos() as u64));
    }
    let own = serde_json::to_vec(&times_ns).unwrap_or_default();
    let all = mesh.gather(&own, timeout)?;
    let bound = if mesh.rank() == 0 {
        let pooled: Vec<Vec<u64>> = all.iter().map(|times| serde_json::from_slice(times).unwrap_or_default()).collect();
        bound_from_warmup(&pooled)?
    } else {
        0
    };
    let bound = mesh.broadcast(&bound.to_le_bytes(), timeout)?;
    Ok(u64::from_le_bytes(bound.try_into().unwrap_or_default()).clamp(BOUND_MIN.as_nanos() as u64, u32::MAX.into()))
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
    /// A peer was lost while the bound was measured.
    #[error("measuring the bound: {0}")]
    Peer(#[from] MeshError),
    /// A rank measured too little.
    #[error("measuring the bound: {0}")]
    Bound(#[from] TooFewSamples),
    /// The socket failed.
    #[error(transparent)]
    Udp(#[from] UdpError),
    /// The MTU holds no payload.
    #[error("an MTU of {found} bytes has no room for a payload; expected at least 114")]
    Mtu {
        /// The MTU.
        found: usize,
    },
    /// A setting is out of range.
    #[error("{0}")]
    Params(String),
    /// No thread, or nothing to wake it with.
    #[error("starting the engine: {0}")]
    Thread(#[source] io::Error),
}

/// The engine has given up; nothing more can be done with its communicator.
#[derive(Clone, Debug, Error)]
pub enum EngineError {
    /// A collective failed.
    #[error("{0}")]
    Collective(Arc<CollectivesError<UdpError>>),
    /// A peer was lost outside of a collective.
    #[error(transparent)]
    Peer(#[from] MeshError),
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
}

/// One rank of a job. See the module's documentation.
#[derive(Debug)]
pub struct Communicator {
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
        let (reply, pending) = oneshot::channel();
        self.command(Command::AllReduce { bucket, data, reply })?;
        Ok(Pending(pending))
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
    /// If a rank is gone, or does not come within the timeout.
    pub fn barrier(&mut self) -> Result<(), EngineError> {
        Ok(self.mesh.barrier(self.timeout)?)
    }

    /// The job's parameters, the bound among them.
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
