//! C library of OptiReduce: `liboptireduce.so`, `liboptireduce.a` and `optireduce.h`.
//!
//! The docs of [`abi`] and [`types`] become the docs of [the header](../include/optireduce.h). The
//! crate `optireduce`, which Rust programs use directly, documents the collectives.
//!
//! # Layout
//!
//! | module | contents |
//! |---|---|
//! | [`abi`] | exported functions |
//! | [`types`] | structs, enums and constants of the header |
//! | `raw` | the caller's pointers, checked |
//! | `guard` | panics, cancellation, forks and error texts, for every exported function |
//! | `registry` | table of handles |
//! | `memory` | memory of a communicator, used without copies |
//! | `comm`, `bucket`, `partial`, `request`, `callbacks` | objects behind handles |
//! | `calls` | calls of a communicator that wait for other ranks |
//! | `config`, `report`, `unique_id`, `status` | conversions between the header and `optireduce` |
//!
//! Except for tests, only `abi` and `raw` have `unsafe` code.

pub mod abi;
mod bucket;
mod callbacks;
mod calls;
mod comm;
mod config;
mod field;
mod guard;
mod memory;
mod partial;
mod raw;
mod registry;
mod report;
mod request;
mod status;
pub mod types;
mod unique_id;

// For the generator in tests/header.rs.
#[doc(hidden)]
pub use config::Words;
