//! Request behind a handle: a collective, a call over TCP, an average of a group, or a message.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use optireduce::{Error, Report};

use crate::callbacks;
use crate::comm::Comm;
use crate::raw::Callback;
use crate::report;
use crate::status::Failure;
use crate::types::optr_status_t::{OPTR_BUSY, OPTR_INVALID_HANDLE};

/// Includes a report if the request is a collective of a bucket.
pub type Outcome = Result<Option<Report>, Failure>;

/// Returns the report of a collective, halted or not.
pub fn report_of(outcome: &Outcome) -> Option<&Report> {
    match outcome {
        Ok(report) => report.as_ref(),
        Err(failure) => failure.report.as_deref(),
    }
}

struct Step<T, E> {
    request: optireduce::Request<T>,
    has_report: bool,
    end: E,
}

trait Begun: Send {
    fn has_report(&self) -> bool;
    fn wait_timeout(&mut self, timeout: Duration) -> bool;
    fn wait(self: Box<Self>) -> Outcome;
    fn deliver(self: Box<Self>, callback: Callback) -> callbacks::Delivery;
}

impl<T: Send + 'static, E: FnOnce(Result<T, Error>) -> Outcome + Send + 'static> Begun for Step<T, E> {
    fn has_report(&self) -> bool {
        self.has_report
    }

    fn wait_timeout(&mut self, timeout: Duration) -> bool {
        self.request.wait_timeout(timeout)
    }

    fn wait(self: Box<Self>) -> Outcome {
        let Self { request, end, .. } = *self;
        end(request.wait())
    }

    fn deliver(self: Box<Self>, callback: Callback) -> callbacks::Delivery {
        let callback = callback.arm();
        Box::pin(async move {
            let Self { request, end, .. } = *self;
            let outcome = end(request.await);
            let report = report_of(&outcome).map(report::for_c);
            callback.call(outcome.map(drop), report);
        })
    }
}

pub struct Request {
    comm: Arc<Comm>,
    /// `None` if it is done, given up, or passed to a callback.
    running: Mutex<Option<Box<dyn Begun>>>,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").finish_non_exhaustive()
    }
}

impl Request {
    /// `end` handles the result, on the thread that waits for it.
    pub fn new<T: Send + 'static>(
        comm: Arc<Comm>,
        request: optireduce::Request<T>,
        has_report: bool,
        end: impl FnOnce(Result<T, Error>) -> Outcome + Send + 'static,
    ) -> Self {
        Self { comm, running: Mutex::new(Some(Box::new(Step { request, has_report, end }))) }
    }

    pub fn comm(&self) -> &Arc<Comm> {
        &self.comm
    }

    pub fn has_report(&self) -> Result<bool, Failure> {
        self.with(|running| running.as_ref().is_some_and(|begun| begun.has_report()))
    }

    /// Waits for the outcome, at most `timeout`; zero tests only. Returns `None` after the timeout,
    /// and the request continues.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<Option<Outcome>, Failure> {
        self.with(|running| {
            let is_done = |begun: &mut Box<dyn Begun>| match timeout {
                Some(timeout) => begun.wait_timeout(timeout),
                None => true,
            };
            running.take_if(is_done).map(Begun::wait)
        })
    }

    pub fn on_done(&self, callback: Callback) -> Result<(), Failure> {
        self.with(|running| {
            let Some(begun) = running.take() else { return Err(finished()) };
            let mut begun = Some((begun, callback));
            let deliver = |(begun, callback): (Box<dyn Begun>, Callback)| begun.deliver(callback);
            let added = self.comm.callbacks().add(|| begun.take().map(deliver));
            // If the thread for callbacks cannot be started, the request remains.
            *running = begun.map(|(begun, _)| begun);
            added
        })?
    }

    pub fn give_up(&self) -> Result<(), Failure> {
        self.with(|running| drop(running.take()))
    }

    fn with<T>(&self, look: impl FnOnce(&mut Option<Box<dyn Begun>>) -> T) -> Result<T, Failure> {
        let mut running = match self.running.try_lock() {
            Ok(running) => running,
            Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
            Err(TryLockError::WouldBlock) => {
                return Err(Failure::new(OPTR_BUSY, "another thread waits for this request"));
            }
        };
        if running.is_none() {
            return Err(finished());
        }
        Ok(look(&mut running))
    }
}

fn finished() -> Failure {
    Failure::new(OPTR_INVALID_HANDLE, "the request was finished before")
}
