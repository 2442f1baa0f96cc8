//! What a communicator, its buckets and its requests share: which rank they are of, and how they wait.
//!
//! Why: a wait must let other Python threads run, must end at Ctrl-C, and must not outlive the communicator. And a process that
//! was forked has none of the threads that serve the communicator: in it, every call is an error, and nothing is torn down.

use std::pin::Pin;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use optireduce::Pending;
use pyo3::prelude::*;

use crate::error::{ClosedError, ForkedError, call_error};

/// How long a wait goes on before it looks after signals.
const SLICE: Duration = Duration::from_millis(100);

/// Whose calls these are.
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

    /// Ends all waits.
    pub fn abort(&self) {
        self.aborted.store(true, Ordering::Release);
    }

    pub fn is_here(&self) -> bool {
        self.process == process::id()
    }

    /// Whether calls can be made in this process, and still.
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

    /// Waits, without the GIL, until `step` gives something, which it waits for no longer than it is told; at most `timeout`.
    /// Call it detached.
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
        call: impl AsyncFnOnce(&mut I) -> T + Send,
    ) -> PyResult<T> {
        self.check(operation)?;
        // Whoever holds the lock may need the GIL.
        let done = py.detach(|| {
            let mut inner = lock(inner);
            let mut calling = std::pin::pin!(call(inner.get(operation)?));
            self.wait(operation, None, |slice| poll_for(calling.as_mut(), slice))
        })?;
        done.ok_or_else(|| self.closed(operation))
    }

    /// Waits for a call that has begun; its result.
    pub fn finish<T: Send>(&self, py: Python<'_>, operation: &str, mut pending: Pending<T>) -> PyResult<T> {
        py.detach(|| self.wait(operation, None, |slice| pending.wait_timeout(slice).then_some(())))?;
        pending.wait().map_err(|error| call_error(self.rank, operation, &error))
    }
}

/// Locks, also after a panic of whoever had it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thing of the process that made it: in a fork of that process it is left alone.
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

/// Wakes a thread that waits in [`poll_for`].
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future, at most `timeout`.
pub fn poll_for<T>(mut future: Pin<&mut impl Future<Output = T>>, timeout: Duration) -> Option<T> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let until = Instant::now() + timeout;
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut TaskContext::from_waker(&waker)) {
            return Some(done);
        }
        match until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => return None,
            left => thread::park_timeout(left),
        }
    }
}
