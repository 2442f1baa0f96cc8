//! Errors of the library as exceptions. Every message starts with the rank and the operation.

use optireduce::{BootstrapError, ConnectError, ControlError, Error, Refusal};
use pyo3::prelude::*;

use crate::exceptions::{
    ArgumentError, ClosedError, ConnectionError, DroppedError, HaltError, MismatchError, OptiReduceError, PeerError,
    TimeoutError, UnsettledError,
};
use crate::report;

pub fn call_error(rank: usize, operation: &str, error: &Error) -> PyErr {
    call_error_with(error, format!("rank {rank}: {operation}: {error}"))
}

fn call_error_with(error: &Error, text: String) -> PyErr {
    match error {
        Error::Mismatch(_) => MismatchError::new_err(text),
        Error::Control(error) => control_error(error, text),
        Error::InGroup { source, .. } => call_error_with(source, text),
        Error::Argument { .. } | Error::Operation { .. } | Error::Cards { .. } => ArgumentError::new_err(text),
        Error::Dropped => DroppedError::new_err(text),
        Error::Halted { report } => Python::attach(|py| {
            report::to_python(py, report).map_or_else(|error| error, |report| HaltError::new_err((text, report)))
        }),
        Error::Unsettled { .. } => UnsettledError::new_err(text),
        Error::NoAgreement { .. } => TimeoutError::new_err(text),
        Error::Closed => ClosedError::new_err(text),
        _ => OptiReduceError::new_err(text),
    }
}

fn control_error(error: &ControlError, text: String) -> PyErr {
    match error {
        ControlError::Differs(_) => MismatchError::new_err(text),
        ControlError::Silent { .. } | ControlError::NothingCame { .. } | ControlError::NotReceived { .. } => {
            TimeoutError::new_err(text)
        }
        ControlError::NoSuchRank { .. } | ControlError::TooMany { .. } => ArgumentError::new_err(text),
        ControlError::OutOfStep(first) => control_error(first, text),
        ControlError::Outside => DroppedError::new_err(text),
        ControlError::Closed => ClosedError::new_err(text),
        _ => PeerError::new_err(text),
    }
}

pub fn connect_error(operation: &str, error: &Error) -> PyErr {
    let text = format!("{operation}: {error}");
    let Error::Connect(error) = error else { return call_error_with(error, text) };
    match &**error {
        ConnectError::Launch(_) | ConnectError::Setting { .. } | ConnectError::Groups { .. } => {
            ArgumentError::new_err(text)
        }
        ConnectError::Bootstrap(BootstrapError::Refused(Refusal::Settings(_))) => MismatchError::new_err(text),
        ConnectError::Control(error) => control_error(error, text),
        ConnectError::Memory(_) => OptiReduceError::new_err(text),
        _ => ConnectionError::new_err(text),
    }
}
