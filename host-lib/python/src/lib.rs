//! The native half of the Python package `optireduce`: communicators, buckets and requests of the crate `optireduce`, for Python.
//!
//! Why: the protocol lives in Rust; what is a matter of taste in Python (dataclasses, exceptions, PyTorch) is Python, in
//! `python/optireduce`.
//! How: every wait lets other Python threads run, and looks after signals ten times a second ([`context`]). Arrays are copied once
//! on the way in and once on the way out, into and out of memory that ranks of the host read where it lies ([`bucket`]).
//! Limits: one wheel for CPython 3.11 and later.
#![deny(unsafe_code)]

mod arrays;
mod bucket;
mod communicator;
mod context;
mod error;
mod exact;
mod partial;
mod report;
mod request;
mod settings;
mod two_level;

use pyo3::prelude::*;

/// See `_optireduce.pyi`.
#[pymodule]
mod _optireduce {
    #[pymodule_export]
    use super::bucket::Bucket;
    #[pymodule_export]
    use super::communicator::Communicator;
    #[pymodule_export]
    use super::partial::PartialReduce;
    #[pymodule_export]
    use super::request::Request;
    #[pymodule_export]
    use super::two_level::{TwoLevel, TwoLevelBucket};
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("SKIPS_HALT", optireduce::SKIPS_HALT)?;
        module.add("PACKETS_HALT", optireduce::PACKETS_HALT)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
