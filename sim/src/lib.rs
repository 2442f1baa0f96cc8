//! The OptiReduce simulator: cards, a network and a cluster in virtual time.
//!
//! * [`card`]: the seam between the cluster and a simulated card; [`functional`] goes packet by packet, [`rtl`] by clock.
//! * [`network`]: delay, tail, loss, reordering, incast.
//! * [`cluster`]: one host library and one card per rank, driven by one event loop.
//! * [`oracle`], [`reliable`]: what must come out, and what a reliable transport would have taken.
//! * [`scenario`], [`card_rules`]: checks that run against either kind of card.
//! * [`input`], [`report`], [`table`], [`timeline`], [`cli`]: files, JSON, text, a picture, and the command `optireduce-sim`.
//!
//! Everything is a function of arguments and seed: the same run gives the same report to the byte.
//!
//! ```
//! use optireduce_sim::cluster::{Cluster, ClusterConfig};
//! use optireduce_sim::engine::Engine;
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
pub mod card;
pub mod card_bench;
pub mod card_rules;
pub mod cli;
pub mod cluster;
mod control_channel;
pub mod engine;
pub mod error;
pub mod functional;
pub mod input;
pub mod network;
pub mod oracle;
mod port;
mod rank_plane;
pub mod reliable;
pub mod report;
pub mod rtl;
pub mod scenario;
mod software_card;
mod software_rank;
pub mod table;
pub mod timeline;
pub mod vcd_trace;
pub mod waves;
