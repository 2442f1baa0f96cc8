//! Errors of the library as exceptions. Every message starts with the rank and the operation.

use optireduce::{Error, ErrorKind};
use pyo3::prelude::*;

use crate::exceptions::{
    ArgumentError, ClosedError, DroppedError, HaltError, MismatchError, OptiReduceError, OutOfMemoryError, PeerError,
    TimeoutError, UnsettledError, UnsupportedError,
};
use crate::report;

pub fn call_error(rank: usize, operation: &str, error: &Error) -> PyErr {
    connect_error(&format!("rank {rank}: {operation}"), error)
}

/// Exception of each kind of error.
pub fn connect_error(operation: &str, error: &Error) -> PyErr {
    let text = format!("{operation}: {error}");
    match error.kind() {
        ErrorKind::Argument => ArgumentError::new_err(text),
        ErrorKind::Unsupported => UnsupportedError::new_err(text),
        ErrorKind::Memory => OutOfMemoryError::new_err(text),
        ErrorKind::Mismatch => MismatchError::new_err(text),
        ErrorKind::Peer => PeerError::new_err(text),
        ErrorKind::Timeout => TimeoutError::new_err(text),
        ErrorKind::Dropped => DroppedError::new_err(text),
        ErrorKind::Halted => Python::attach(|py| {
            let report = error.report().map(|report| report::to_python(py, report)).transpose();
            report.map_or_else(|error| error, |report| HaltError::new_err((text, report)))
        }),
        ErrorKind::Unsettled => UnsettledError::new_err(text),
        ErrorKind::Closed => ClosedError::new_err(text),
        _ => OptiReduceError::new_err(text),
    }
}
