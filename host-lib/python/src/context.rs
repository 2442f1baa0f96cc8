//! State shared by a communicator, its buckets and its requests: their rank, and how they wait.
//!
//! Why: a wait must release the GIL, end at Ctrl-C, and not outlive the communicator. A forked
//! process has no threads that serve the communicator: every call in it is an error, and nothing is
//! torn down.

use std::any::Any;
use std::ops::Deref;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use optireduce::{Error, Request};
use pyo3::prelude::*;

use crate::error::call_error;
use crate::exceptions::{ClosedError, ForkedError};

/// Interval of signal checks in a wait.
const SLICE: Duration = Duration::from_millis(100);

/// Identity of a communicator, in errors.
#[derive(Debug)]
pub struct Context {
    pub rank: usize,
    pub world_size: usize,
    process: u32,
    aborted: AtomicBool,
}

impl Context {
    pub fn new(rank: usize, world_size: usize) -> Arc<Self> {
        Arc::new(Self { rank, world_size, process: process::id(), aborted: AtomicBool::new(false) })
    }

    pub fn abort(&self) {
        self.aborted.store(true, Ordering::Release);
    }

    pub fn is_here(&self) -> bool {
        self.process == process::id()
    }

    /// Fails in a forked process, and after an abort.
    pub fn check(&self, operation: &str) -> PyResult<()> {
        let rank = self.rank;
        if !self.is_here() {
            let (found, expected) = (process::id(), self.process);
            return Err(ForkedError::new_err(format!(
                "rank {rank}: {operation}: this is process {found}, a fork of process {expected}, which made the communicator; \
                 make calls there, or make a communicator here"
            )));
        }
        if self.aborted.load(Ordering::Acquire) {
            return Err(self.closed(operation));
        }
        Ok(())
    }

    pub fn closed(&self, operation: &str) -> PyErr {
        ClosedError::new_err(format!(
            "rank {}: {operation}: the communicator was closed or aborted; make a new one",
            self.rank
        ))
    }

    /// Calls `step` with the time that it may wait until it returns a value, for at most `timeout`.
    /// The caller must not hold the GIL.
    pub fn wait<T>(
        &self,
        operation: &str,
        timeout: Option<Duration>,
        mut step: impl FnMut(Duration) -> Option<T>,
    ) -> PyResult<Option<T>> {
        let begin = Instant::now();
        loop {
            let left = timeout.map_or(SLICE, |timeout| timeout.saturating_sub(begin.elapsed()).min(SLICE));
            if let Some(done) = step(left) {
                return Ok(Some(done));
            }
            Python::attach(|py| py.check_signals())?;
            self.check(operation)?;
            if left < SLICE {
                return Ok(None);
            }
        }
    }

    /// Makes a call and waits for it.
    pub fn call<I: Send, T: Send>(
        &self,
        py: Python<'_>,
        operation: &str,
        inner: &Mutex<Owned<I>>,
        begin: impl FnOnce(&mut I) -> Request<T> + Send,
    ) -> PyResult<T> {
        self.check(operation)?;
        // Without the GIL, which a thread that holds the lock may need.
        let done = py.detach(|| {
            let request = lock(inner).get(operation).map(begin)?;
            self.finish_within(operation, None, request)
        })?;
        let done = done.ok_or_else(|| self.closed(operation))?;
        done.map_err(|error| call_error(self.rank, operation, &error))
    }

    /// Returns `None` after `timeout`. The caller must not hold the GIL.
    pub fn finish_within<T>(
        &self,
        operation: &str,
        timeout: Option<Duration>,
        mut request: Request<T>,
    ) -> PyResult<Option<Result<T, Error>>> {
        let is_done = self.wait(operation, timeout, |slice| request.wait_timeout(slice).then_some(()))?;
        Ok(is_done.map(|()| request.wait()))
    }
}

/// A communicator's context in its buckets and requests, which keep the communicator connected.
#[derive(Clone)]
pub struct Home {
    context: Arc<Context>,
    _connected: Arc<dyn Any + Send + Sync>,
}

impl Home {
    pub fn new(context: &Arc<Context>, connected: Arc<dyn Any + Send + Sync>) -> Self {
        Self { context: context.clone(), _connected: connected }
    }

    /// The home of objects that need `connected` in addition.
    pub fn with(&self, connected: impl Any + Send + Sync) -> Self {
        Self::new(&self.context, Arc::new((self.clone(), connected)))
    }
}

impl Deref for Home {
    type Target = Arc<Context>;

    fn deref(&self) -> &Arc<Context> {
        &self.context
    }
}

/// Locks a mutex, also if a thread panicked with it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A value that forked processes leak instead of dropping, since its threads are not in them.
#[derive(Debug)]
pub struct Owned<T> {
    value: Option<T>,
    context: Arc<Context>,
}

impl<T> Owned<T> {
    pub fn new(value: T, context: &Arc<Context>) -> Self {
        Self { value: Some(value), context: context.clone() }
    }

    pub fn get(&mut self, operation: &str) -> PyResult<&mut T> {
        self.context.check(operation)?;
        let Self { value, context } = self;
        value.as_mut().ok_or_else(|| context.closed(operation))
    }

    pub fn take(&mut self) -> Option<T> {
        if self.context.is_here() { self.value.take() } else { None }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        if !self.context.is_here() {
            std::mem::forget(self.value.take());
        }
    }
}
