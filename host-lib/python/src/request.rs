//! Calls in progress.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use optireduce::Error;
use pyo3::prelude::*;

use crate::context::{Context, Owned};
use crate::error::{TimeoutError, call_error};

/// A call in progress, and the conversion of its result to Python.
pub trait Work: Send {
    /// Returns whether it has finished, after waiting at most `timeout`.
    fn wait_timeout(&mut self, timeout: Duration) -> bool;

    fn finish(self: Box<Self>, py: Python<'_>) -> PyResult<Result<Py<PyAny>, Error>>;
}

enum State {
    Running(Owned<Box<dyn Work>>),
    Finished(PyResult<Py<PyAny>>),
}

/// A call in progress: `test`, `wait`, or `await` it. Dropping it does not cancel a collective
/// call, but cancels a send or receive.
#[pyclass(frozen, generic, module = "optireduce")]
pub struct Request {
    context: Arc<Context>,
    operation: String,
    state: Mutex<State>,
}

impl Request {
    pub fn new(context: &Arc<Context>, operation: String, work: impl Work + 'static) -> Self {
        let work: Box<dyn Work> = Box::new(work);
        let state = Mutex::new(State::Running(Owned::new(work, context)));
        Self { context: context.clone(), operation, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll(&self, timeout: Duration) -> bool {
        match &mut *self.state() {
            // `result` raises the error.
            State::Running(work) => work.get(&self.operation).map_or(true, |work| work.wait_timeout(timeout)),
            State::Finished(_) => true,
        }
    }

    fn result(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let mut state = self.state();
        if let State::Running(work) = &mut *state {
            self.context.check(&self.operation)?;
            let Some(work) = work.take() else { return Err(self.context.closed(&self.operation)) };
            let result = work.finish(py);
            let told = |error| call_error(self.context.rank, &self.operation, &error);
            *state = State::Finished(result.and_then(|result| result.map_err(told)));
        }
        match &*state {
            State::Finished(Ok(result)) => Ok(result.clone_ref(py)),
            State::Finished(Err(error)) => Err(error.clone_ref(py)),
            State::Running(_) => Err(self.context.closed(&self.operation)),
        }
    }
}

#[pymethods]
impl Request {
    /// Returns whether the call has finished, without waiting.
    fn test(&self, py: Python<'_>) -> PyResult<bool> {
        self.context.check(&self.operation)?;
        Ok(py.detach(|| self.poll(Duration::ZERO)))
    }

    /// Waits for the call and returns its result.
    ///
    /// Raises `TimeoutError` after `timeout` seconds. The call then continues and can be waited for
    /// again.
    #[pyo3(signature = (timeout = None))]
    pub fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Py<PyAny>> {
        self.context.check(&self.operation)?;
        let limit = timeout.map(Duration::try_from_secs_f64).transpose()?;
        let waited = py.detach(|| self.context.wait(&self.operation, limit, |slice| self.poll(slice).then_some(())));
        match (waited?, timeout) {
            (None, Some(timeout)) => Err(TimeoutError::new_err(format!(
                "rank {}: {}: not finished after {timeout} s; the call continues, wait for it again",
                self.context.rank, self.operation
            ))),
            _ => self.result(py),
        }
    }

    fn __await__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("optireduce._awaiting")?.call_method1("await_request", (slf,))
    }

    fn __repr__(&self) -> String {
        format!("<request: {}>", self.operation)
    }
}
