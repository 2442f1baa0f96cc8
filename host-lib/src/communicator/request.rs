//! Calls in progress, for any async runtime or none.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::Shared;
use super::abandoned::Update;
use super::error::{Cause, ConnectError, Error};
use super::report::Report;
use crate::control::{ControlError, Message, Underway};
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
            Err(TryRecvError::Closed) => Some(Err(Cause::Closed.into())),
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
        Pin::new(&mut self.0).poll(context).map(|received| received.unwrap_or(Err(Cause::Closed.into())))
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Works inside an async runtime, since the futures of this crate make progress on other threads.
pub fn block_on_for<F: Future + Unpin>(future: &mut F, timeout: Option<Duration>) -> Option<F::Output> {
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

/// A call in progress, like `MPI_Request`: blocks a thread, or is a future of any async runtime.
///
/// The call began where it was written. It borrows nothing, and may outlive its bucket. Any number
/// of calls may be in progress.
///
/// Dropping a request does not cancel a collective call, since the other ranks count it. If they
/// apply an all-reduce, later reports of this rank count it as drift. Dropping the request of a
/// message withdraws the message; in transit it is lost, and the transfer on the other rank fails.
///
/// No request waits forever: bounds end bounded collectives, and the communicator's
/// [timeout](crate::Settings::timeout) without progress ends all other calls. Only time spent
/// waiting for a message counts: [`is_finished`](Self::is_finished) does not wait, and several
/// [`wait_timeout`](Self::wait_timeout) add up.
///
/// The engine calls wakers while it drives collectives. As in any async runtime, a waker schedules
/// its task and must not wait. The task may make any call and wait for it.
#[must_use = "only waiting for it returns the result, or the error"]
pub struct Request<T>(State<T>);

#[allow(clippy::large_enum_variant)] // a box would be an allocation a call
enum State<T> {
    Ready(Option<Result<T, Error>>),
    /// Other threads make progress.
    Call(Awaited<T>),
    /// A waiting caller drives the engine.
    Collective {
        outcome: Awaited<Outcome>,
        shared: Arc<Shared>,
        finish: Option<Finish<T>>,
    },
    Steps {
        steps: Box<dyn InSteps>,
        finish: Option<Finish<T>>,
    },
    Message {
        underway: Underway,
        done: Option<Result<Message, Error>>,
        finish: fn(Message) -> T,
    },
}

/// An all-reduce in several steps, on two levels.
pub(super) trait InSteps: Send {
    /// Waits until it has finished, at most `timeout`; returns whether it has.
    fn complete(&mut self, timeout: Option<Duration>) -> bool;

    fn poll_finished(&mut self, context: &mut Context<'_>) -> Poll<()>;

    /// Returns the outcome, once it has finished.
    fn take(&mut self) -> Result<Outcome, Error>;
}

/// Makes the caller's result, when the caller takes it.
type Finish<T> = Box<dyn FnOnce(Outcome) -> Result<T, Error> + Send>;

struct Awaited<T> {
    reply: Reply<T>,
    done: Option<Result<T, Error>>,
}

impl<T> Awaited<T> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        keep(&mut self.done, || Pin::new(&mut self.reply).poll(context))
    }

    fn take(&mut self) -> Result<T, Error> {
        self.done.take().unwrap_or(Err(Cause::Closed.into()))
    }
}

/// Polls unless the result is there.
fn keep<T>(done: &mut Option<T>, poll: impl FnOnce() -> Poll<T>) -> Poll<()> {
    match done {
        Some(_) => Poll::Ready(()),
        None => poll().map(|result| *done = Some(result)),
    }
}

/// Waits unless the result is there. Returns whether it is there now.
fn fill<T>(done: &mut Option<T>, wait: impl FnOnce() -> Option<T>) -> bool {
    if done.is_none() {
        *done = wait();
    }
    done.is_some()
}

fn finished<T>(finish: &mut Option<Finish<T>>, outcome: Result<Outcome, Error>) -> Result<T, Error> {
    let finish = finish.take().ok_or(Cause::Closed)?;
    outcome.and_then(finish)
}

impl<T> From<Reply<T>> for Request<T> {
    fn from(reply: Reply<T>) -> Self {
        Self(State::Call(Awaited { reply, done: None }))
    }
}

impl<T> From<Result<T, Error>> for Request<T> {
    fn from(result: Result<T, Error>) -> Self {
        Self(State::Ready(Some(result)))
    }
}

impl<T> Request<T> {
    pub(super) fn of_collective(
        reply: Reply<Outcome>,
        shared: Arc<Shared>,
        finish: impl FnOnce(Outcome) -> Result<T, Error> + Send + 'static,
    ) -> Self {
        let outcome = Awaited { reply, done: None };
        Self(State::Collective { outcome, shared, finish: Some(Box::new(finish)) })
    }

    pub(super) fn of_steps(
        steps: impl InSteps + 'static,
        finish: impl FnOnce(Outcome) -> Result<T, Error> + Send + 'static,
    ) -> Self {
        Self(State::Steps { steps: Box::new(steps), finish: Some(Box::new(finish)) })
    }

    pub(super) fn of_message(underway: Underway, finish: fn(Message) -> T) -> Self {
        Self(State::Message { underway, done: None, finish })
    }

    /// Runs `call`, which waits, on a separate thread. It goes on if the request is dropped.
    pub(super) fn on_a_thread(name: &str, call: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Self
    where
        T: Send + 'static,
    {
        let (sender, result) = reply();
        let begun = thread::Builder::new().name(name.into()).spawn(move || drop(sender.send(call())));
        begun.map_or_else(|error| Err(ConnectError::Thread(error).into()).into(), |_| result.into())
    }

    /// Wakes the engine, unless the caller is about to drive it.
    pub(super) fn wake(self) -> Self {
        if let State::Collective { shared, .. } = &self.0 {
            shared.driver.wake();
        }
        self
    }

    /// Returns whether the call has finished, without blocking.
    pub fn is_finished(&mut self) -> bool {
        self.complete(Some(Duration::ZERO))
    }

    /// Blocks until the call has finished, at most `timeout`; returns whether it has. It goes on if
    /// not.
    #[must_use = "the call may not have finished"]
    pub fn wait_timeout(&mut self, timeout: Duration) -> bool {
        self.complete(Some(timeout))
    }

    /// Blocks until the call has finished. Use `.await` inside an async runtime.
    ///
    /// # Errors
    /// See the call that returned this request.
    pub fn wait(mut self) -> Result<T, Error> {
        self.complete(None);
        self.take()
    }

    /// Polls whether the call has finished, and keeps its result for [`wait`](Self::wait).
    #[doc(hidden)]
    pub fn poll_finished(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            State::Ready(_) => Poll::Ready(()),
            State::Call(call) => call.poll(context),
            State::Collective { outcome, .. } => outcome.poll(context),
            State::Steps { steps, .. } => steps.poll_finished(context),
            State::Message { underway, done, .. } => {
                keep(done, || Pin::new(underway).poll(context).map(|outcome| outcome.map_err(Error::from)))
            }
        }
    }

    pub(super) fn complete(&mut self, timeout: Option<Duration>) -> bool {
        match &mut self.0 {
            State::Ready(_) => true,
            State::Call(Awaited { reply, done }) => fill(done, || block_on_for(reply, timeout)),
            State::Collective { outcome: Awaited { reply, done }, shared, .. } => fill(done, || match timeout {
                Some(Duration::ZERO) => reply.try_take(),
                _ => reply.try_take().or_else(|| shared.driver.complete(reply, timeout, shared.falls_back)),
            }),
            State::Steps { steps, .. } => steps.complete(timeout),
            State::Message { underway, done, .. } => {
                fill(done, || block_on_transfer(underway, timeout).map(|outcome| outcome.map_err(Error::from)))
            }
        }
    }

    /// Takes the result of a finished call.
    fn take(&mut self) -> Result<T, Error> {
        match &mut self.0 {
            State::Ready(result) => result.take().unwrap_or(Err(Cause::Closed.into())),
            State::Call(call) => call.take(),
            State::Collective { outcome, finish, .. } => finished(finish, outcome.take()),
            State::Steps { steps, finish } => finished(finish, steps.take()),
            State::Message { done, finish, .. } => done.take().unwrap_or(Err(Cause::Closed.into())).map(*finish),
        }
    }
}

/// Nothing is pinned in place.
impl<T> Unpin for Request<T> {}

impl<T> Future for Request<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_finished(context).map(|()| self.take())
    }
}

impl<T> fmt::Debug for Request<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").finish_non_exhaustive()
    }
}

/// Counts the time spent here against the communicator's timeout, unlike a poll.
fn block_on_transfer(underway: &mut Underway, timeout: Option<Duration>) -> Option<Result<Message, ControlError>> {
    let Some(mut left) = timeout else { return block_on_for(underway, None) };
    loop {
        let slice = left.min(underway.patience());
        let mut ended = poll_fn(|context| underway.poll_untimed(context));
        if let Some(outcome) = block_on_for(&mut ended, Some(slice)) {
            return Some(outcome);
        }
        underway.waited(slice);
        if left.is_zero() {
            return None;
        }
        left -= slice;
    }
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
    /// Returns the result. A skipped reduction is zeros, so that an update that ignores the report
    /// changes nothing; also if it is lent memory.
    pub fn whole(self) -> Result<(Values, Report), Error> {
        let is_applied = self.report.is_applied;
        let (mut result, report) = self.step();
        if !is_applied {
            result.fill(0.0);
        }
        if report.action == UpdateAction::Halt {
            return Err(Cause::Halted { report: report.into() }.into());
        }
        Ok((result, report))
    }

    /// Returns the result of a step of an all-reduce on two levels, which judges the whole. A
    /// skipped reduce-scatter keeps its values, which the second level averages nevertheless, and a
    /// halt is no error.
    pub fn step(self) -> (Values, Report) {
        let Self { report, mut result, scale, update } = self;
        update.into_iter().for_each(Update::taken);
        if let Some(scale) = scale.filter(|_| report.is_applied) {
            result.iter_mut().for_each(|value| *value *= scale);
        }
        (result, report)
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
        assert_eq!(block_on(reply).unwrap_err().kind(), crate::ErrorKind::Closed);
    }
}
