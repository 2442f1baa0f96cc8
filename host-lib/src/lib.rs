//! Bounded, loss-tolerant all-reduce of gradients for data-parallel training.
//!
//! Every rank averages its gradients with those of all others within a deadline that is known beforehand. What does not come in
//! time is left out of the mean and reported, instead of holding up the job; a transform spreads what was lost, and what
//! replicas missed of one another is repaired in later updates. Over UDP without any card, or with an OptiReduce SmartNIC,
//! which speaks the same packets.
//!
//! ```
//! use optireduce::{BucketOptions, Communicator, Launch, UpdateAction};
//!
//! fn train(rank: usize, root: &str) -> Result<(), Box<dyn std::error::Error>> {
//!     let launch = Launch::new(rank, 2, root)?; // under torchrun, mpirun or Slurm: Launch::from_env()?
//!     let mut communicator = Communicator::builder().launch(launch).connect()?;
//!     let mut bucket = communicator.bucket(10_000, BucketOptions::new())?; // once for each bucket of gradients
//!     for _step in 0..3 {
//!         let mut gradient = vec![rank as f32; 10_000]; // the backward pass
//!         let report = bucket.all_reduce(&mut gradient)?;
//!         if report.action() == UpdateAction::Apply { /* the optimizer's step, with the mean in `gradient` */ }
//!         println!("rank {rank}: {report}");
//!     }
//!     if let Some(_correction) = bucket.settle(None)?.correction { /* one more step, with what earlier means lacked */ }
//!     Ok(communicator.close()?)
//! }
//! # let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
//! # let root = &port.local_addr().unwrap().to_string();
//! # drop(port);
//! std::thread::scope(|ranks| [0, 1].map(|rank| ranks.spawn(move || train(rank, root).unwrap())).map(drop));
//! ```
//!
//! # What is where
//!
//! | | |
//! |---|---|
//! | [`Communicator`] | one rank of a job: [`builder`](Communicator::builder) has the settings, [`Launch`] knows the launchers |
//! | [`Bucket`] | what is reduced again and again; `all_reduce`, `reduce_scatter`, `all_gather` |
//! | [`Bucket::settle`], [`Communicator::close`] | the end of a job: the last repairs, and whether all ranks called the same |
//! | [`Request`] | a collective that has begun: `test`, `wait`, `wait_timeout`, `.await` |
//! | [`Report`] | who was late, what was lost, and whether to apply the update |
//! | [`Communicator::all_reduce`] | one collective of its own, for what is reduced once |
//! | [`Communicator::broadcast`], [`barrier`](Communicator::barrier) | over TCP, whole: weights, and waiting for one another |
//! | [`all_reduce_exact`](Communicator::all_reduce_exact), [`reduce_scatter_exact`](Communicator::reduce_scatter_exact) | over TCP, whole, any [`ElementType`] and [`ExactOp`], the same bits on all ranks |
//! | [`broadcast_bytes`](Communicator::broadcast_bytes), [`all_gather_bytes`](Communicator::all_gather_bytes), [`gather_bytes`](Communicator::gather_bytes), [`scatter_bytes`](Communicator::scatter_bytes), [`all_to_all_bytes`](Communicator::all_to_all_bytes) | over TCP, whole: bytes of any length |
//! | [`send_bytes`](Communicator::send_bytes), [`recv_bytes`](Communicator::recv_bytes), [`Transfer`] | over TCP, whole: messages with a tag from rank to rank, beside all collectives |
//! | [`Pending`] | a call over TCP that has begun (`start_..`), as [`Request`] |
//! | [`group`](Communicator::group), [`split`](Communicator::split) | communicators of some of the ranks |
//! | [`PartialReduce`] | averages of models among the ranks that are ready, instead of all-reduces of gradients |
//! | [`TwoLevel`] | all-reduce on two levels, for many ranks |
//! | [`Builder::card`] | a rank whose gradients a SmartNIC moves |
//! | [`SmartNic`] | the data plane of a card, for `optireduce_core::Collectives` |
//!
//! Every call that waits has a twin that ends in `_async` and needs no particular runtime.
//!
//! # What all ranks must do alike
//!
//! All ranks have the same settings, declare the same buckets, and make the same collective calls in the same order. The ranks
//! compare settings when they connect, and calls as described at [`Communicator`]; a difference is an error that names the rank
//! and both values.
//!
//! # Features
//!
//! * `smartnic` (default): ranks with a card ([`Builder::card`]), [`SmartNic`], and with it the driver. Ranks without it share jobs
//!   with cards all the same; one that is given a card gets [`CardError::NotBuilt`].
//! * `secret`: jobs whose connections and packets are encrypted and authenticated, see [`Secret`]. It adds 27 crates (`snow`, `ring` and
//!   what they need, some of it C and assembly). Without it, a program that is given a secret gets [`SecretError::NotBuilt`]; it never
//!   runs without one instead. The command `optireduce` has it.
//!
//! # Limits
//!
//! Linux. fp32 gradients (on the wire also bf16; exact reductions take all usual types); up to 1024 ranks, 64 in jobs with cards, and 65 536 on two
//! levels ([`Builder::connect_two_level`]). Without a [`Secret`]
//! nothing is encrypted or authenticated: use a trusted network. The protocol itself is the crate `optireduce-core`, which has no I/O.
//!
//! Source: OptiReduce (NSDI'25).
#![deny(unsafe_code)]

#[cfg_attr(not(feature = "smartnic"), allow(dead_code, reason = "cards alone ask for more than owners do"))]
mod buffer;
mod card;
mod communicator;
mod control;
mod exact;
mod local;
pub mod memory;
mod plane;
mod secret;
#[cfg(feature = "smartnic")]
mod smartnic;
mod udp;
mod wait;

// As tests outside of the crate call it.
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

pub use buffer::{Buffer, LentBuffer};
pub use card::CardError;
pub use communicator::{
    BOUND_MAX_DEFAULT, BOUND_MIN, Bound, Bucket, BucketOptions, Builder, CardFallback, Communicator, ConnectError,
    Early, Error, Groups, Local, Metrics, PartialOptions, PartialReduce, PartialReport, Pending, ReduceOp, Report,
    Request, SendThread, Settled, Transfer, TwoLevel, TwoLevelBucket, TwoLevelReport, TwoLevelRequest, Weighting,
};
pub use control::{
    BootstrapError, ControlError, Launch, LaunchError, Message, Mismatch, RANKS_MAX_TWO_LEVEL, ROOT_PORT_DEFAULT,
    Refusal,
};
pub use exact::{Element, ElementType, ExactOp};
pub use optireduce_core::protocol::repair::RepairReport;
pub use optireduce_core::protocol::{
    ClosedBy, HadamardMode, Kind, Metrics as CollectiveMetrics, Mismatch as CallMismatch, PACKETS_HALT, PeerMetrics,
    SKIPS_HALT, Stage, StageMetrics, StageSummary, UpdateAction,
};
pub use optireduce_core::software::Counters;
pub use optireduce_core::{Destination, Loan, Values};
pub use secret::{SealDrops, Secret, SecretError};
#[cfg(feature = "smartnic")]
pub use smartnic::{SmartNic, SmartNicError, smartnic_dma_bytes};
pub use udp::Unsent;
