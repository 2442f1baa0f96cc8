//! Calls over TCP in progress: exact reductions, bytes, sends and receives.

use std::task::{Context, Poll};
use std::time::Duration;

use optireduce::{ElementType, Error, ExactOp, Pending, Transfer};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::exceptions::ArgumentError;
use crate::request::Work;

/// A collective call, and the conversion of its result to Python.
pub struct Exact<T> {
    pub pending: Pending<T>,
    pub into: fn(Python<'_>, T) -> PyResult<Py<PyAny>>,
}

impl<T: Send> Work for Exact<T> {
    fn wait_timeout(&mut self, timeout: Duration) -> bool {
        self.pending.wait_timeout(timeout)
    }

    fn poll_finished(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.pending.poll_finished(context)
    }

    fn finish(self: Box<Self>, py: Python<'_>) -> PyResult<Result<Py<PyAny>, Error>> {
        let Self { pending, into } = *self;
        match pending.wait() {
            Ok(done) => into(py, done).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }
}

/// Returns the other rank and the bytes.
impl Work for Transfer {
    fn wait_timeout(&mut self, timeout: Duration) -> bool {
        Transfer::wait_timeout(self, timeout)
    }

    fn poll_finished(&mut self, context: &mut Context<'_>) -> Poll<()> {
        Transfer::poll_finished(self, context)
    }

    fn finish(self: Box<Self>, py: Python<'_>) -> PyResult<Result<Py<PyAny>, Error>> {
        match (*self).wait() {
            Ok(message) => {
                Ok(Ok((message.rank, PyBytes::new(py, &message.bytes)).into_pyobject(py)?.into_any().unbind()))
            }
            Err(error) => Ok(Err(error)),
        }
    }
}

pub fn nothing(py: Python<'_>, (): ()) -> PyResult<Py<PyAny>> {
    Ok(py.None())
}

pub fn bytes(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Py<PyAny>> {
    Ok(PyBytes::new(py, &bytes).into_any().unbind())
}

pub fn parts(py: Python<'_>, parts: Vec<Vec<u8>>) -> PyResult<Py<PyAny>> {
    Ok(PyList::new(py, parts.iter().map(|part| PyBytes::new(py, part)))?.into_any().unbind())
}

pub fn element(name: &str) -> PyResult<ElementType> {
    let found = ElementType::ALL.into_iter().find(|element| element.to_string() == name);
    let expected = || ElementType::ALL.map(|element| element.to_string()).join(", ");
    found.ok_or_else(|| ArgumentError::new_err(format!("element is {name}, expected one of {}", expected())))
}

pub fn op(name: &str) -> PyResult<ExactOp> {
    use ExactOp::{And, Avg, Max, Min, Or, Product, Sum, Xor};
    const OPS: [ExactOp; 8] = [Sum, Avg, Product, Min, Max, And, Or, Xor];
    let found = OPS.into_iter().find(|op| op.to_string() == name);
    let expected = || OPS.map(|op| op.to_string()).join(", ");
    found.ok_or_else(|| ArgumentError::new_err(format!("op is {name}, expected one of {}", expected())))
}
