//! The OptiReduce simulator: cards, a network and a cluster in virtual time.
//!
//! * [`card`]: the seam between the cluster and a simulated card; [`functional`] goes packet by packet, [`rtl`] by clock.
//! * [`network`]: delay, tail, loss, reordering, incast.
//! * [`cluster`]: one host library and one card per rank, driven by one event loop.
//! * [`oracle`], [`reliable`]: what must come out, and what a reliable transport would have taken.
//! * [`scenario`], [`card_rules`]: checks that run against either kind of card.
//! * [`input`], [`report`], [`table`], [`cli`]: files, JSON, text and the command `optireduce-sim`.
//!
//! Everything is a function of arguments and seed: the same run gives the same report to the byte.
#![forbid(unsafe_code)]

pub mod bench;
pub mod card;
pub mod card_bench;
pub mod card_rules;
pub mod cli;
pub mod cluster;
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
mod software_rank;
pub mod table;
pub mod vcd_trace;
pub mod waves;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct ReadmeExamples;
