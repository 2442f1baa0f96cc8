//! The C library of OptiReduce: `liboptireduce.so`, `liboptireduce.a` and `optireduce.h`.
//!
//! For programs in C, C++ and whatever calls C. What each function does says [the header](../include/optireduce.h), which is
//! made of the documentation of [`abi`] and [`types`]; what the collectives mean says the crate `optireduce`. Rust programs
//! use that one.
//!
//! # Layout
//!
//! | module | |
//! |---|---|
//! | [`abi`] | the exported functions: arguments in, a status out; nothing else |
//! | [`types`] | structs, enums and constants of the header |
//! | `raw` | the caller's pointers, checked, as slices, texts and places to write to |
//! | `guard` | no panic gets out, a forked child is told, the text of an error is kept |
//! | `registry` | handles: numbers in a table, so that one which was destroyed is an error |
//! | `memory` | memory of a communicator that travels without a copy |
//! | `comm`, `bucket`, `partial`, `request`, `callbacks` | the objects behind the handles |
//! | `handle` | what `optireduce` has of something that has begun |
//! | `config`, `report`, `unique_id`, `status` | structs of the header from and to those of `optireduce` |
//!
//! `unsafe` is in `abi` (which says what the caller promises) and `raw` (which uses it); all else is safe.

pub mod abi;
mod bucket;
mod callbacks;
mod comm;
mod config;
mod guard;
mod handle;
mod memory;
mod partial;
mod raw;
mod registry;
mod report;
mod request;
mod status;
pub mod types;
mod unique_id;
