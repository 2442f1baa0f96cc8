//! Requests: operations in progress, waited for by the call itself or behind a handle.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::task::{Context, Poll};
use std::time::Duration;

use optireduce::{Error, binding};

use crate::callbacks::Delivery;
use crate::comm::{Comm, Ends};
use crate::raw::{Callback, Place};
use crate::registry::{self, Kind};
use crate::status::Failure;
use crate::types::optr_request_t;
use crate::types::optr_status_t::{OPTR_BUSY, OPTR_INVALID_HANDLE};

/// Caller-owned place for the handle of a request; `None`: the call blocks.
pub type RequestPlace = Option<Place<optr_request_t>>;

/// Waits for an operation, or writes the handle of its request. `end` handles the result, on the
/// thread that waits.
pub fn complete<T: Send + 'static>(
    comm: &Arc<Comm>,
    place: RequestPlace,
    operation: impl Into<Operation<T>>,
    end: impl FnOnce(Result<T, Error>) -> Result<(), Failure> + Send + 'static,
) -> Result<(), Failure> {
    let step = Step { operation: operation.into(), end };
    let Some(mut place) = place else { return step.wait() };
    let running = Mutex::new(Some(Box::new(step) as Box<dyn Begun>));
    place.set(registry::insert(Request { comm: comm.clone(), running }));
    Ok(())
}

/// Operation in progress.
pub struct Operation<T> {
    request: optireduce::Request<T>,
    /// End of the communicator; `None` if the end also ends the operation.
    ends: Option<Ends>,
}

impl<T> From<optireduce::Request<T>> for Operation<T> {
    fn from(request: optireduce::Request<T>) -> Self {
        Self { request, ends: None }
    }
}

impl<T> Operation<T> {
    /// Operation that would outlive its communicator.
    pub fn until(ends: Ends, request: optireduce::Request<T>) -> Self {
        Self { request, ends: Some(ends) }
    }

    fn poll_finished(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match &self.ends {
            Some(ends) if ends.have_come(context.waker()) => Poll::Ready(()),
            _ => self.request.poll_finished(context),
        }
    }

    /// Waits at most `timeout`. Returns whether the operation, or its communicator, has ended.
    fn wait_timeout(&mut self, timeout: Option<Duration>) -> bool {
        if self.ends.is_none() {
            // The request drives the engine, and counts the time of a message. Its result waits
            // without a limit.
            return timeout.is_none_or(|timeout| self.request.wait_timeout(timeout));
        }
        binding::block_on_for(&mut poll_fn(|context| self.poll_finished(context)), timeout).is_some()
    }

    /// Returns the result, [closed](binding::closed) if the communicator ended first.
    fn take(mut self) -> Result<T, Error> {
        match self.ends {
            Some(_) if !self.request.is_finished() => Err(binding::closed()),
            _ => self.request.wait(),
        }
    }
}

struct Step<T, E> {
    operation: Operation<T>,
    end: E,
}

trait Begun: Send {
    fn wait_timeout(&mut self, timeout: Option<Duration>) -> bool;
    fn finish(self: Box<Self>) -> Result<(), Failure>;
    fn deliver(self: Box<Self>, callback: Callback) -> Delivery;
}

impl<T, E: FnOnce(Result<T, Error>) -> Result<(), Failure>> Step<T, E> {
    fn wait(mut self) -> Result<(), Failure> {
        self.operation.wait_timeout(None);
        (self.end)(self.operation.take())
    }
}

impl<T: Send + 'static, E: FnOnce(Result<T, Error>) -> Result<(), Failure> + Send + 'static> Begun for Step<T, E> {
    fn wait_timeout(&mut self, timeout: Option<Duration>) -> bool {
        self.operation.wait_timeout(timeout)
    }

    fn finish(self: Box<Self>) -> Result<(), Failure> {
        (self.end)(self.operation.take())
    }

    fn deliver(mut self: Box<Self>, callback: Callback) -> Delivery {
        let callback = callback.arm();
        Box::pin(async move {
            poll_fn(|context| self.operation.poll_finished(context)).await;
            callback.call(self.finish());
        })
    }
}

pub struct Request {
    pub comm: Arc<Comm>,
    /// `None` if it is done, given up, or passed to a callback.
    running: Mutex<Option<Box<dyn Begun>>>,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").finish_non_exhaustive()
    }
}

impl Kind for Request {
    type Handle = optr_request_t;
    const NAME: &str = "a request";
    const MADE_BY: &str = "a call with a request";
    const TAG: usize = 5;

    fn owner(&self) -> usize {
        Arc::as_ptr(&self.comm).addr()
    }
}

impl Request {
    /// Waits for the outcome, at most `timeout`; zero tests only. Returns `None` after the timeout,
    /// and the request continues.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<Option<Result<(), Failure>>, Failure> {
        self.with(|running| running.take_if(|begun| begun.wait_timeout(timeout)).map(Begun::finish))
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
