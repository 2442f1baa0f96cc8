//! Calls in progress, for any async runtime or none.

use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::Shared;
use super::abandoned::Update;
use super::error::Error;
use super::report::Report;
use optireduce_core::Values;
use optireduce_core::protocol::UpdateAction;

#[derive(Debug)]
pub(super) struct Reply<T>(oneshot::Receiver<Result<T, Error>>);

pub(super) type Sender<T> = oneshot::Sender<Result<T, Error>>;

pub(super) fn reply<T>() -> (Sender<T>, Reply<T>) {
    let (sender, receiver) = oneshot::channel();
    (sender, Reply(receiver))
}

impl<T> Reply<T> {
    pub fn try_take(&mut self) -> Option<Result<T, Error>> {
        match self.0.try_recv() {
            Ok(answer) => Some(answer),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Closed) => Some(Err(Error::Closed)),
        }
    }
}

impl<T> Reply<T> {
    /// As [`try_take`](Self::try_take), and registers `waker` otherwise.
    pub fn take_or_wake(&mut self, waker: &Waker) -> Option<Result<T, Error>> {
        match Pin::new(self).poll(&mut Context::from_waker(waker)) {
            Poll::Ready(answer) => Some(answer),
            Poll::Pending => None,
        }
    }
}

impl<T> Future for Reply<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|received| received.unwrap_or(Err(Error::Closed)))
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Works inside an async runtime, since the futures of this crate make progress on other threads.
pub(super) fn block_on_for<F: Future + Unpin>(future: &mut F, timeout: Option<Duration>) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let begin = Instant::now();
    loop {
        if let Poll::Ready(output) = Pin::new(&mut *future).poll(&mut Context::from_waker(&waker)) {
            return Some(output);
        }
        match timeout.map(|timeout| timeout.saturating_sub(begin.elapsed())) {
            None => thread::park(),
            Some(Duration::ZERO) => return None,
            Some(left) => thread::park_timeout(left),
        }
    }
}

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let Some(output) = block_on_for(&mut future, None) else { unreachable!("without a timeout") };
    output
}

/// Polls unless the result is there.
pub(super) fn keep<T>(done: &mut Option<T>, poll: impl FnOnce() -> Poll<T>) -> Poll<()> {
    match done {
        Some(_) => Poll::Ready(()),
        None => poll().map(|result| *done = Some(result)),
    }
}

/// A collective in progress, like `MPI_Request`. It returns the values, as `Vec<f32>` or, for lent
/// memory, [`Values`], and the [`Report`]. Dropping it does not cancel the collective: the other
/// ranks apply the update, so later reports of this rank count it as drift.
///
/// The engine calls wakers while it drives collectives. As in any async runtime, a waker schedules
/// its task and must not wait. The task may make any call and wait for it.
///
/// The values of a [skipped](Report::is_applied) reduction are zeros.
#[derive(Debug)]
#[must_use = "the update of a request that is not waited for is lost on this rank"]
pub struct Request<V = Vec<f32>> {
    reply: Reply<Outcome>,
    shared: Arc<Shared>,
    done: Option<Result<Outcome, Error>>,
    is_step: bool,
    values: PhantomData<fn() -> V>,
}

#[derive(Debug)]
pub(super) struct Outcome {
    pub report: Report,
    pub result: Values,
    /// Factor of an applied result: the number of ranks if it is a sum.
    pub scale: Option<f32>,
    /// Of an all-reduce whose update is to be applied.
    pub update: Option<Update>,
}

impl Outcome {
    /// A skipped reduction is zeros, so that an update that ignores the report changes nothing.
    /// `is_step`: see [`Request::step`].
    fn values<V: From<Values>>(self, is_step: bool) -> Result<(V, Report), Error> {
        let Self { report, mut result, scale, update } = self;
        update.into_iter().for_each(Update::taken);
        match scale {
            Some(scale) if report.is_applied() => result.iter_mut().for_each(|value| *value *= scale),
            _ if report.is_applied() || is_step => {}
            _ => result.fill(0.0),
        }
        // After zeroing, which also covers lent memory.
        if report.action() == UpdateAction::Halt && !is_step {
            return Err(Error::Halted { report: report.into() });
        }
        Ok((result.into(), report))
    }
}

impl<V: From<Values>> Request<V> {
    pub(super) fn new(reply: Reply<Outcome>, shared: Arc<Shared>) -> Self {
        Self { reply, shared, done: None, is_step: false, values: PhantomData }
    }

    /// Makes this a step of an all-reduce on two levels, which judges the whole. A skipped
    /// reduce-scatter keeps its values, which the second level averages nevertheless, and a halt is
    /// no error.
    pub(super) fn step(self) -> Self {
        Self { is_step: true, ..self }
    }

    /// Wakes the engine, unless the caller is about to drive it.
    pub(super) fn wake(&self) {
        self.shared.driver.wake();
    }

    /// Returns whether the collective has finished, without blocking.
    #[must_use = "only a finished call has a result"]
    pub fn test(&mut self) -> bool {
        self.wait_timeout(Duration::ZERO)
    }

    /// Blocks until the collective has finished, at most `timeout`; returns whether it has.
    #[must_use = "the call may not have finished"]
    pub fn wait_timeout(&mut self, timeout: Duration) -> bool {
        if self.done.is_none() {
            self.done = self.reply.try_take();
        }
        if self.done.is_none() && !timeout.is_zero() {
            self.done = self.shared.driver.complete(&mut self.reply, Some(timeout), self.shared.falls_back);
        }
        self.done.is_some()
    }

    /// Polls whether the collective has finished, and keeps its result for [`wait`](Self::wait).
    #[doc(hidden)]
    pub fn poll_finished(&mut self, context: &mut Context<'_>) -> Poll<()> {
        keep(&mut self.done, || Pin::new(&mut self.reply).poll(context))
    }

    /// Blocks until the collective has finished. Use `.await` inside an async runtime.
    pub fn wait(mut self) -> Result<(V, Report), Error> {
        let Shared { driver, falls_back, .. } = &*self.shared;
        let done = self.done.take().or_else(|| driver.complete(&mut self.reply, None, *falls_back));
        done.unwrap_or(Err(Error::Closed)).and_then(|outcome| outcome.values(self.is_step))
    }
}

impl<V: From<Values>> Future for Request<V> {
    type Output = Result<(V, Report), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let done = match self.done.take() {
            Some(done) => Poll::Ready(done),
            None => Pin::new(&mut self.reply).poll(context),
        };
        done.map(|done| done.and_then(|outcome| outcome.values(self.is_step)))
    }
}

/// A call in progress. Dropping it does not cancel the call. Calls of a communicator over TCP may
/// be outstanding in any number, and run in the order in which they started.
#[derive(Debug)]
#[must_use = "a call may fail"]
pub struct Pending<T> {
    reply: Reply<T>,
    done: Option<Result<T, Error>>,
}

impl<T> Pending<T> {
    pub(super) fn new(reply: Reply<T>) -> Self {
        Self { reply, done: None }
    }

    /// Returns whether the call has ended, without blocking.
    #[must_use = "only a finished call has a result"]
    pub fn test(&mut self) -> bool {
        self.wait_timeout(Duration::ZERO)
    }

    /// Blocks until the call has ended, at most `timeout`; returns whether it has.
    #[must_use = "the call may not have finished"]
    pub fn wait_timeout(&mut self, timeout: Duration) -> bool {
        if self.done.is_none() {
            self.done = block_on_for(&mut self.reply, Some(timeout));
        }
        self.done.is_some()
    }

    /// Polls whether the call has ended, and keeps its result for [`wait`](Self::wait).
    #[doc(hidden)]
    pub fn poll_finished(&mut self, context: &mut Context<'_>) -> Poll<()> {
        keep(&mut self.done, || Pin::new(&mut self.reply).poll(context))
    }

    /// Blocks until the call has ended. Use `.await` inside an async runtime.
    pub fn wait(mut self) -> Result<T, Error> {
        self.done.take().unwrap_or_else(|| block_on(self.reply))
    }
}

impl<T: Unpin> Future for Pending<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.done.take() {
            Some(done) => Poll::Ready(done),
            None => Pin::new(&mut self.reply).poll(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_at_its_timeout_and_finds_what_comes_later() {
        let (sender, mut reply) = reply::<u8>();
        assert!(block_on_for(&mut reply, Some(Duration::from_millis(5))).is_none());
        let later = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            sender.send(Ok(7)).unwrap();
        });
        assert_eq!(block_on_for(&mut reply, None).unwrap().unwrap(), 7);
        later.join().unwrap();
    }

    #[test]
    fn an_answer_that_will_never_come_is_an_error() {
        let (sender, reply) = reply::<u8>();
        drop(sender);
        assert!(matches!(block_on(reply), Err(Error::Closed)));
    }
}
