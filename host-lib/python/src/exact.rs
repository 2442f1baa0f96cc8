//! Calls over TCP in progress: exact reductions, bytes, sends and receives.

use std::task::{Context, Poll};
use std::time::Duration;

use optireduce::{ElementType, Error, ExactOp, Message, Request, Typed};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::exceptions::ArgumentError;
use crate::request::Work;

/// A collective call, and the conversion of its result to Python.
pub struct Exact<T> {
    pub request: Request<T>,
    pub into: fn(Python<'_>, T) -> PyResult<Py<PyAny>>,
}

impl<T: Send> Work for Exact<T> {
    fn wait_timeout(&mut self, timeout: Duration) -> bool {
        self.request.wait_timeout(timeout)
    }

    fn poll_finished(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.request.poll_finished(context)
    }

    fn finish(self: Box<Self>, py: Python<'_>) -> PyResult<Result<Py<PyAny>, Error>> {
        let Self { request, into } = *self;
        match request.wait() {
            Ok(done) => into(py, done).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }
}

pub fn message(py: Python<'_>, message: Message) -> PyResult<Py<PyAny>> {
    Ok((message.rank, PyBytes::new(py, &message.bytes)).into_pyobject(py)?.into_any().unbind())
}

pub fn nothing(py: Python<'_>, (): ()) -> PyResult<Py<PyAny>> {
    Ok(py.None())
}

pub fn bytes(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Py<PyAny>> {
    Ok(PyBytes::new(py, &bytes).into_any().unbind())
}

pub fn typed(py: Python<'_>, typed: Typed) -> PyResult<Py<PyAny>> {
    bytes(py, typed.bytes)
}

/// Ranks that are left out have empty bytes.
pub fn parts(py: Python<'_>, parts: Vec<Option<Vec<u8>>>) -> PyResult<Py<PyAny>> {
    let parts = parts.iter().map(|part| PyBytes::new(py, part.as_deref().unwrap_or_default()));
    Ok(PyList::new(py, parts)?.into_any().unbind())
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
