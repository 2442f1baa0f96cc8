//! The OptiReduce simulator: cards, a network and a cluster in virtual time.
//!
//! * [`cluster`]: one event loop for all ranks of a job, with cards or in software.
//! * [`card`]: the interface to a simulated card, and its engines.
//! * [`network`]: delay, tail, loss, reordering and incast, plus a model of a reliable transport.
//! * [`check`]: an oracle for results, and rules that every engine obeys.
//! * [`campaign`]: whole jobs under faults, checked by independent judges.
//! * [`stragglers`]: training with slow or stalling workers, by all-reduces and Partial Reduce.
//! * `serve` (a feature): a card as a PCIe device on a vfio-user socket, in wall-clock time.
//! * [`input`], [`report`], [`mod@bench`], [`cli`]: files, output formats, measurements and the
//!   command `optireduce-sim`.
//!
//! Except for `serve` and speed measurements, output depends only on arguments and seed.
//!
//! ```
//! use optireduce_sim::{Cluster, ClusterConfig, Engine};
//!
//! let mut config = ClusterConfig::new(Engine::Rtl, 2); // two ranks with cycle-level cards
//! config.bound_ns = 200_000; // no stage takes longer, whatever happens
//!
//! let mut cluster = Cluster::new(config)?;
//! let gradients = vec![vec![1.0; 1000], vec![3.0; 1000]];
//! let step = cluster.step(&gradients, |_virtual_ns| ())?;
//! for rank in &step.ranks {
//!     println!("{:?}: {} bytes lost, {:?}", rank.report.closed_by, rank.report.lost_bytes, rank.report.action);
//!     assert!(rank.output.iter().all(|mean| *mean == 2.0));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod bench;
pub mod campaign;
pub mod card;
mod card_commands;
pub mod check;
pub mod cli;
pub mod cluster;
pub mod error;
pub mod input;
pub mod network;
mod random;
pub mod report;
#[cfg(feature = "serve")]
pub mod serve;
mod serve_command;
pub mod stragglers;
pub mod wire;

pub use card::engine::Engine;
pub use cluster::{Cluster, ClusterConfig, Early, RankRecord, StepRecord, Straggler};
pub use error::SimError;
pub use network::Impairments;
