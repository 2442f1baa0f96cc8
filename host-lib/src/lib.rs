//! Bounded, loss-tolerant all-reduce of gradients for data-parallel training.
//!
//! An all-reduce returns the mean of the gradients that arrived in time. Each part of a gradient (a
//! window) passes two stages, each limited to a bound t_B, so a slow rank delays a window by at
//! most two bounds. A call may wait longer: see [`Settings::bound`]. The mean excludes late and
//! lost values. A Hadamard transform spreads losses over many elements, and later updates repair
//! the differences between replicas. Ranks use UDP, or an OptiReduce SmartNIC with the same
//! packets.
//!
//! ```
//! use optireduce::{BucketOptions, Communicator, Settings};
//!
//! fn train(rank: usize, root: &str) -> Result<(), Box<dyn std::error::Error>> {
//!     let settings = Settings::new().rank(rank).world_size(2).root(root); // torchrun, mpirun, Slurm: Settings::new()
//!     let mut communicator = Communicator::connect(settings).wait()?;
//!     let mut bucket = communicator.bucket(10_000, BucketOptions::new()).wait()?; // once for each bucket of gradients
//!     for _step in 0..3 {
//!         let mut gradient = vec![rank as f32; 10_000]; // the backward pass
//!         let report = bucket.all_reduce(&mut gradient)?; // `gradient` is the mean, or zeros if too much was lost
//!         /* the optimizer's step */
//!         println!("rank {rank}: {report}");
//!     }
//!     if let Some(_correction) = bucket.settle(None).wait()?.correction { /* one more step, with repaired values */ }
//!     Ok(communicator.close().wait()?)
//! }
//! # let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
//! # let root = &port.local_addr().unwrap().to_string();
//! # drop(port);
//! std::thread::scope(|ranks| [0, 1].map(|rank| ranks.spawn(move || train(rank, root).unwrap())).map(drop));
//! ```
//!
//! # Overview
//!
//! | Item | Purpose |
//! |---|---|
//! | [`Communicator`] | one rank of a job |
//! | [`Settings`], [`SETTINGS`] | settings, from code, variables and launchers |
//! | [`Bucket`] | bounded `all_reduce`, `reduce_scatter` and `all_gather` of the same elements in every step |
//! | [`Report`] | late ranks, losses, and whether the update was applied |
//! | [`Request`] | a call in progress: `wait`, `wait_timeout`, `is_finished`, `.await` |
//! | [`Memory`], [`Buffer`] | memory of calls in progress |
//! | [`Bucket::settle`], [`Communicator::close`] | end of a job: last repairs, and the check that all ranks made the same calls |
//! | [`Communicator::exact`] | exact reductions of any [`ElementType`], broadcast, gather, scatter and all-to-all |
//! | [`Communicator::send`], [`recv`](Communicator::recv) | exact: tagged messages between two ranks |
//! | [`Communicator::split`] | communicators of some of the ranks |
//! | [`PartialReduce`] | averages of models among the ranks that are ready |
//! | [`Groups`] | all-reduces on two levels, for many ranks |
//! | [`Settings::card`] | a rank that uses a SmartNIC |
//! | [`smartnic`] | the data plane of a card, for `optireduce_core::Collectives` |
//!
//! # Bounded and exact calls
//!
//! *Bounded* calls run over UDP or a card and may lose data: collectives of buckets, and
//! [`PartialReduce`]. The bound applies to each stage of each window (at most 1 MiB of
//! gradient), not to the whole call: see [`Settings::bound`].
//!
//! *Exact* calls run over TCP and lose nothing. They are as slow as the slowest rank, and fail when
//! a rank makes no progress for the [`timeout`](Settings::timeout).
//!
//! # Skips and halts
//!
//! A reduction that lost too much is skipped: its result is zeros, and [`Report::is_applied`] is
//! false. Repairs add the update to a later result, or to the correction of [`Bucket::settle`]. So
//! a loop that applies every result, settles its buckets and ignores the reports keeps its replica
//! equal to the others, up to rounding. At least [`SKIPS_HALT`](metrics::SKIPS_HALT) skips in a
//! row, with at least [`PACKETS_HALT`](metrics::PACKETS_HALT) packets, are [`ErrorKind::Halted`].
//! Each rank judges its own losses, so ranks may differ unless they [agree](Settings::agree).
//!
//! # Blocking and async
//!
//! A call begins where it is written, and returns a [`Request`], which blocks a thread or is a
//! future of any async runtime. The calls of all ranks begin in the same order, whatever the order
//! in which requests are waited for. [`Bucket::all_reduce`] alone takes a slice, and blocks.
//!
//! # Requirements on all ranks
//!
//! All ranks use the same settings of the scope [`Scope::Job`]. They declare the same buckets, and
//! make the same collective calls in the same order. A difference is an error
//! that names a rank and both values.
//!
//! # Features
//!
//! * `smartnic` (default): [`Settings::card`] and the module `smartnic`. Ranks built without it can
//!   share a job with cards.
//! * `secret`: encrypted and authenticated connections and packets, see [`Secret`]. Adds the crates
//!   `snow` and `ring`, with C and assembly code. The command `optireduce` includes it.
//!
//! # Limits
//!
//! * Linux only.
//! * Bounded calls reduce fp32, optionally as bf16 on the wire.
//! * At most 1024 ranks, 64 in jobs with cards, and 65 536 on two levels
//!   ([`Settings::groups`]).
//! * Without a [`Secret`] nothing is encrypted or authenticated: use a trusted network.
//!
//! The protocol, without I/O, is the crate `optireduce-core`.
//!
//! Source: OptiReduce (NSDI'25).
#![deny(unsafe_code)]

#[cfg_attr(not(feature = "smartnic"), allow(dead_code, reason = "some functions are used by cards only"))]
mod buffer;
mod card;
mod communicator;
mod control;
mod exact;
mod local;
mod memory;
mod plane;
mod rarely;
mod secret;
mod settings;
#[cfg(feature = "smartnic")]
pub mod smartnic;
mod udp;
mod wait;

// Integration tests included here name the crate as external tests do.
#[cfg(test)]
extern crate self as optireduce;
#[cfg(test)]
#[path = "../tests/root/mod.rs"]
mod root;

#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::control::fuzz::play as control;
}

/// Parts of [`Metrics`].
pub mod metrics {
    pub use crate::secret::SealDrops;
    pub use crate::udp::Unsent;
    pub use optireduce_core::protocol::{
        Metrics as CollectiveMetrics, PACKETS_HALT, PeerMetrics, SKIPS_HALT, StageMetrics,
    };
    pub use optireduce_core::software::Counters;
}

#[doc(hidden)]
pub mod tuning {
    pub use crate::communicator::{BOUND_MAX_DEFAULT, BOUND_MIN};
    pub use crate::settings::tuned::{SendThread, Tuning};
}

pub use buffer::Buffer;
#[doc(hidden)]
pub use communicator::binding;
pub use communicator::{
    Bucket, BucketOptions, Communicator, Error, ErrorKind, Exact, GroupReport, Memory, Metrics, Mismatch,
    PartialOptions, PartialReduce, PeerReport, ReduceOp, Report, Request, Settled, StageReport, Weights,
};
pub use control::Message;
pub use exact::{Element, ElementType, ExactData, ExactOp, Typed};
pub use optireduce_core::protocol::repair::RepairReport;
pub use optireduce_core::protocol::{ClosedBy, HadamardMode, Kind, Stage};
pub use secret::Secret;
pub use settings::{CardFallback, Early, Groups, Origin, Repair, SETTINGS, Scope, Setting, Settings, SharedMemory};
