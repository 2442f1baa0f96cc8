//! Calls that have begun: to be waited for, tested or awaited, in any async runtime or none.

use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::Shared;
use super::error::Error;
use super::report::Report;
use optireduce_core::Values;
use optireduce_core::protocol::UpdateAction;

/// What the engine or the control thread answers, once.
#[derive(Debug)]
pub(super) struct Reply<T>(oneshot::Receiver<Result<T, Error>>);

pub(super) type Sender<T> = oneshot::Sender<Result<T, Error>>;

/// A place for an answer, and the answer.
pub(super) fn reply<T>() -> (Sender<T>, Reply<T>) {
    let (sender, receiver) = oneshot::channel();
    (sender, Reply(receiver))
}

impl<T> Reply<T> {
    /// The answer, if it is there.
    pub fn try_take(&mut self) -> Option<Result<T, Error>> {
        match self.0.try_recv() {
            Ok(answer) => Some(answer),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Closed) => Some(Err(Error::Closed)),
        }
    }
}

impl<T> Reply<T> {
    /// As [`try_take`](Self::try_take); if it is not there, `waker` is woken once it is.
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

/// Wakes the thread that waits in [`block_on`].
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks the thread until the future is done, or `timeout` has passed. Needs no async runtime, and may be called inside one:
/// what the futures of this crate wait for happens on threads of their own.
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

/// Blocks the thread until the future is done.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let Some(output) = block_on_for(&mut future, None) else { unreachable!("without a timeout") };
    output
}

/// A collective that has begun, as `MPI_Request`. Wait for it, [`test`](Self::test) it, or `.await` it; dropping it does not
/// end the collective. It gives the values and how the collective went.
///
/// If the report of an all-reduce does not say [`UpdateAction::Apply`], too much was lost for an update, and the values are
/// those that were handed in.
///
/// `V`: what holds the values that come back: `Vec<f32>`, or [`Values`] if memory was lent.
#[derive(Debug)]
#[must_use = "a collective may fail, or ask for its update to be skipped"]
pub struct Request<V = Vec<f32>> {
    reply: Reply<Outcome>,
    shared: Arc<Shared>,
    done: Option<Result<Outcome, Error>>,
    values: PhantomData<fn() -> V>,
}

/// What the engine has of a collective.
#[derive(Debug)]
pub(super) struct Outcome {
    pub report: Report,
    pub result: Values,
    /// The result is to be multiplied by this: a sum is the mean times the ranks.
    pub scale: Option<f32>,
}

impl Outcome {
    /// What the caller gets.
    fn values<V: From<Values>>(self) -> (V, Report) {
        let Self { report, mut result, scale } = self;
        if let Some(scale) = scale.filter(|_| report.action() == UpdateAction::Apply) {
            result.iter_mut().for_each(|value| *value *= scale);
        }
        (result.into(), report)
    }
}

impl<V: From<Values>> Request<V> {
    pub(super) fn new(reply: Reply<Outcome>, shared: Arc<Shared>) -> Self {
        Self { reply, shared, done: None, values: PhantomData }
    }

    /// Lets the engine go on, if nobody is about to wait for it.
    pub(super) fn wake(&self) {
        self.shared.driver.wake();
    }

    /// Whether the collective has finished; does not wait. Once it has, [`wait`](Self::wait) and `.await` return at once.
    pub fn test(&mut self) -> bool {
        self.wait_timeout(Duration::ZERO)
    }

    /// Waits until the collective has finished, at most `timeout`; returns whether it has. Blocks the thread.
    pub fn wait_timeout(&mut self, timeout: Duration) -> bool {
        if self.done.is_none() {
            self.done = self.reply.try_take();
        }
        if self.done.is_none() && !timeout.is_zero() {
            self.done = self.shared.driver.complete(&mut self.reply, Some(timeout), self.shared.falls_back);
        }
        self.done.is_some()
    }

    /// Waits until the collective has finished; its values, and how it went. Blocks the thread; `.await` the request
    /// instead where that would hold up other tasks.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn wait(mut self) -> Result<(V, Report), Error> {
        let Shared { driver, falls_back, .. } = &*self.shared;
        let done = self.done.take().or_else(|| driver.complete(&mut self.reply, None, *falls_back));
        done.unwrap_or(Err(Error::Closed)).map(Outcome::values)
    }
}

impl<V: From<Values>> Future for Request<V> {
    type Output = Result<(V, Report), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let done = match self.done.take() {
            Some(done) => Poll::Ready(done),
            None => Pin::new(&mut self.reply).poll(context),
        };
        done.map(|outcome| outcome.map(Outcome::values))
    }
}

/// A call of all ranks over TCP that has begun. Wait for it, [`test`](Self::test) it, or `.await` it; dropping it does not take it back.
/// Any number may be outstanding: they are made in the order in which they were begun.
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

    /// Whether the call has ended; does not wait. Once it has, [`wait`](Self::wait) and `.await` return at once.
    pub fn test(&mut self) -> bool {
        self.wait_timeout(Duration::ZERO)
    }

    /// Waits until the call has ended, at most `timeout`; returns whether it has. Blocks the thread.
    pub fn wait_timeout(&mut self, timeout: Duration) -> bool {
        if self.done.is_none() {
            self.done = block_on_for(&mut self.reply, Some(timeout));
        }
        self.done.is_some()
    }

    /// Waits until the call has ended; what it gives. Blocks the thread; `.await` the call instead where that would hold up other
    /// tasks.
    ///
    /// # Errors
    /// See [`Error`].
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
