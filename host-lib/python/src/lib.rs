//! Native part of the Python package `optireduce`: communicators, buckets and requests of the crate
//! `optireduce`.
//!
//! Why: the protocol is in Rust. Dataclasses, exceptions and the PyTorch integration are in
//! `python/optireduce`.
//!
//! How: a wait releases the GIL and checks for signals ten times a second ([`context`]). Arrays are
//! copied once before and once after a call ([`bucket`]).
//!
//! Limits: one wheel for CPython 3.11 and later.
#![deny(unsafe_code)]

mod arrays;
mod bucket;
mod communicator;
mod context;
mod error;
mod exact;
mod exceptions;
mod partial;
mod report;
mod request;
mod settings;

use std::time::Duration;

use optireduce::binding::Launch;
use pyo3::prelude::*;

/// For the name server.
const RESOLVING: Duration = Duration::from_secs(10);

/// Native part of the package; `_optireduce.pyi` has its types.
#[pymodule]
mod _optireduce {
    #[pymodule_export]
    use super::bucket::Bucket;
    #[pymodule_export]
    use super::communicator::Communicator;
    #[pymodule_export]
    use super::exact::Exact;
    #[pymodule_export]
    use super::partial::PartialReduce;
    #[pymodule_export]
    use super::request::{Bell, Request};
    use super::*;

    /// Returns this host's address for the other ranks, if rank 0 is on it. `near`: a host of the
    /// job, if one is known.
    #[pyfunction]
    #[pyo3(signature = (near = None, interface = None))]
    fn own_address(py: Python<'_>, near: Option<&str>, interface: Option<&str>) -> PyResult<String> {
        let found = py.detach(|| Launch::own_address(near, interface, RESOLVING));
        found
            .map(|address| address.to_string())
            .map_err(|error| exceptions::OptiReduceError::new_err(error.to_string()))
    }

    /// Returns the rows of `optireduce.SETTINGS`.
    #[pyfunction]
    fn settings() -> Vec<(&'static str, String, &'static str, bool, &'static str, String, String)> {
        let row = |row: &optireduce::Setting| {
            let may_differ = row.scope == optireduce::Scope::Rank;
            (row.name, row.values(), row.default, may_differ, row.sample, row.variable(), row.summary())
        };
        optireduce::SETTINGS.iter().map(row).collect()
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("SKIPS_HALT", optireduce::metrics::SKIPS_HALT)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
