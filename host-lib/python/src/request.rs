//! Calls in progress.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::time::Duration;

use optireduce::Error;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use rustix::event::{EventfdFlags, eventfd};

use crate::context::{Home, Owned, lock};
use crate::error::call_error;
use crate::exceptions::{OptiReduceError, TimeoutError};
use crate::settings::Timeout;

/// Result for Python, an error of Python, or one of the library, which gets rank and operation.
pub type Done = PyResult<Result<Py<PyAny>, Error>>;

/// A call in progress, and the conversion of its result to Python.
pub trait Work: Send {
    /// Returns whether it has finished, after waiting at most `timeout`.
    fn wait_timeout(&mut self, timeout: Duration) -> bool;

    /// Returns whether it has finished, or wakes the context once it has.
    fn poll_finished(&mut self, context: &mut TaskContext<'_>) -> Poll<()>;

    fn finish(self: Box<Self>, py: Python<'_>) -> Done;
}

struct Call<T, F> {
    request: optireduce::Request<T>,
    finish: F,
}

impl<T: Send, F: FnOnce(Python<'_>, Result<T, Error>) -> Done + Send> Work for Call<T, F> {
    fn wait_timeout(&mut self, timeout: Duration) -> bool {
        self.request.wait_timeout(timeout)
    }

    fn poll_finished(&mut self, context: &mut TaskContext<'_>) -> Poll<()> {
        self.request.poll_finished(context)
    }

    fn finish(self: Box<Self>, py: Python<'_>) -> Done {
        let Self { request, finish } = *self;
        finish(py, request.wait())
    }
}

/// Descriptor that becomes readable when an awaited request has finished, for an event loop.
///
/// Why: the engine's thread wakes the loop without the GIL, which the loop may hold for long.
#[pyclass(frozen, module = "optireduce")]
pub struct Bell(Arc<Ring>);

struct Ring(OwnedFd);

impl Wake for Ring {
    fn wake(self: Arc<Self>) {
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

#[pymethods]
impl Bell {
    #[new]
    fn new() -> PyResult<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let bell = bell.map_err(|error| OptiReduceError::new_err(format!("an event for asyncio: {error}")))?;
        Ok(Self(Arc::new(Ring(bell))))
    }

    /// Number of the descriptor.
    fn fileno(&self) -> i32 {
        self.0.0.as_raw_fd()
    }

    /// Makes the descriptor unreadable until a request finishes.
    fn clear(&self) {
        let _ = rustix::io::read(&self.0.0, &mut [0; 8]);
    }
}

/// Makes Python's value of a result, if there is one.
pub fn ok<T>(
    into: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>>,
) -> impl FnOnce(Python<'_>, Result<T, Error>) -> Done {
    |py, result| result.map(|value| into(py, value)).map_or_else(|error| Ok(Err(error)), |value| value.map(Ok))
}

enum State {
    Running(Owned<Box<dyn Work>>),
    Finished(PyResult<Py<PyAny>>),
}

/// A call in progress, from a call with `async_op=True`: `is_finished`, `wait`, or `await` it.
///
/// The call began where it was written, with the values that the array had then. It keeps the array
/// alive. `wait` and `await` write the result to it, so do not change or resize it before.
///
/// Dropping a request does not cancel a collective call, since the other ranks count it. Its result
/// is lost, and a lost update is drift in later reports. Dropping the request of a message
/// withdraws the message.
#[pyclass(frozen, generic, module = "optireduce")]
pub struct Request {
    operation: String,
    state: Mutex<State>,
    /// Last, since fields are dropped in order.
    context: Home,
}

impl Request {
    /// Begins a call of a communicator, bucket or partial reduce. `finish` converts its result.
    pub fn begin<I: Send, T: Send + 'static>(
        py: Python<'_>,
        (context, inner): (&Home, &Mutex<Owned<I>>),
        operation: String,
        begin: impl FnOnce(&mut I) -> optireduce::Request<T> + Send,
        finish: impl FnOnce(Python<'_>, Result<T, Error>) -> Done + Send + 'static,
    ) -> PyResult<Self> {
        // Without the GIL, which a thread that holds the lock may need.
        let request = py.detach(|| lock(inner).get(&operation).map(begin))?;
        Ok(Self::new(context, operation, Call { request, finish }))
    }

    /// Returns the request if the caller asked for it, or else waits for the result.
    pub fn or_result(self, py: Python<'_>, async_op: bool) -> PyResult<Py<PyAny>> {
        if async_op { Ok(Py::new(py, self)?.into_any()) } else { self.wait(py, None) }
    }

    pub fn new(context: &Home, operation: String, work: impl Work + 'static) -> Self {
        let work: Box<dyn Work> = Box::new(work);
        let state = Mutex::new(State::Running(Owned::new(work, context)));
        Self { operation, state, context: context.clone() }
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
        // A waiting thread must not keep the GIL from the one that converts the result.
        let mut state = self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
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
    fn is_finished(&self, py: Python<'_>) -> PyResult<bool> {
        self.context.check(&self.operation)?;
        Ok(py.detach(|| self.poll(Duration::ZERO)))
    }

    /// Waits for the call and returns its result.
    ///
    /// Raises `TimeoutError` after `timeout` seconds. The call then continues and can be waited for
    /// again.
    #[pyo3(signature = (timeout = None))]
    fn wait(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<Py<PyAny>> {
        self.context.check(&self.operation)?;
        let limit = timeout.map(|Timeout(timeout)| timeout);
        let waited = py.detach(|| self.context.wait(&self.operation, limit, |slice| self.poll(slice).then_some(())));
        match (waited?, limit) {
            (None, Some(limit)) => Err(TimeoutError::new_err(format!(
                "rank {}: {}: not finished after {} s; the call continues, wait for it again",
                self.context.rank,
                self.operation,
                limit.as_secs_f64()
            ))),
            _ => self.result(py),
        }
    }

    /// Returns whether the call has finished, and rings the bell once it has.
    fn _ring(&self, py: Python<'_>, bell: &Bell) -> PyResult<bool> {
        self.context.check(&self.operation)?;
        let waker = Waker::from(bell.0.clone());
        Ok(py.detach(|| match &mut *self.state() {
            // `result` raises the error.
            State::Running(work) => work
                .get(&self.operation)
                .map_or(true, |work| work.poll_finished(&mut TaskContext::from_waker(&waker)).is_ready()),
            State::Finished(_) => true,
        }))
    }

    fn __await__<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("optireduce._awaiting")?.call_method1("await_request", (slf,))
    }

    fn __repr__(&self) -> String {
        format!("<request: {}>", self.operation)
    }
}
