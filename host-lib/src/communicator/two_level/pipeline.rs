//! All-reduces in progress on two levels.
//!
//! Why: all-reduces overlap, yet the collectives of a communicator must start in the same order on
//! all ranks. So each step has its own communicator, and one thread each starts the second and
//! third steps, in order.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::thread;
use std::time::{Duration, Instant};

use super::super::request::{Reply, Sender, block_on, block_on_for, reply};
use super::super::{Bucket, Cause, Error, Report, Request};
use super::plan::{Plan, lock};
use optireduce_core::protocol::Kind;

/// Also locked by a thread of the pipeline.
pub(super) type Shared<T> = Arc<Mutex<T>>;

/// Buckets of the second and third steps.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// `None` if this rank's shard is empty.
    pub average: Option<Shared<Bucket>>,
    pub gather: Shared<Bucket>,
    pub plan: Arc<Plan>,
}

/// A step in progress.
type Step = Request<(Vec<f32>, Report)>;

enum Task {
    Reduce(Box<Underway>),
    /// Runs once the last steps of all earlier all-reduces have started.
    Then(Box<dyn FnOnce() + Send>),
}

/// An all-reduce in its first or second step.
struct Underway {
    /// Present step; `None` if it is omitted.
    step: Option<Step>,
    reports: Vec<Report>,
    steps: Steps,
    reply: Sender<Gathering>,
}

#[derive(Debug)]
struct Gathering {
    step: Step,
    reports: Vec<Report>,
}

#[derive(Debug)]
pub(super) struct Pipeline {
    begun: mpsc::Sender<Task>,
    waiting: Arc<AtomicUsize>,
}

impl Pipeline {
    pub fn start() -> io::Result<Self> {
        let (begun, scattering) = channel::<Task>();
        let (averages, averaging) = channel::<Task>();
        let waiting = Arc::new(AtomicUsize::new(0));
        let (failed, passed) = (waiting.clone(), waiting.clone());
        let average = move || {
            for task in scattering {
                let mut underway = match task {
                    Task::Reduce(underway) => underway,
                    then => {
                        let _ = averages.send(then);
                        continue;
                    }
                };
                match underway.step.take().map(Request::wait).transpose() {
                    Ok(scattered) => {
                        let average = underway.steps.average.clone();
                        underway.step = scattered.and_then(|(shard, report)| {
                            underway.reports.push(report);
                            average.map(|bucket| lock(&bucket).step(Kind::AllReduce, shard).wake())
                        });
                        let _ = averages.send(Task::Reduce(underway));
                    }
                    Err(error) => {
                        failed.fetch_sub(1, Ordering::AcqRel);
                        let error = underway.steps.plan.faults.inside(error);
                        let _ = underway.reply.send(Err(error));
                    }
                }
            }
        };
        let gather = move || {
            for task in averaging {
                let Underway { step, mut reports, steps, reply } = match task {
                    Task::Reduce(underway) => *underway,
                    Task::Then(then) => {
                        then();
                        continue;
                    }
                };
                let gathering = step.map(Request::wait).transpose().map(|averaged| {
                    let given = steps.plan.pack(averaged.as_ref().map(|(shard, report)| (&shard[..], report)));
                    reports.extend(averaged.map(|(_, report)| report));
                    let step = lock(&steps.gather).step(Kind::AllGather, given).wake();
                    Gathering { step, reports }
                });
                passed.fetch_sub(1, Ordering::AcqRel);
                let _ = reply.send(gathering.map_err(|error| steps.plan.faults.across(error)));
            }
        };
        thread::Builder::new().name("optireduce-average".into()).spawn(average)?;
        thread::Builder::new().name("optireduce-gather".into()).spawn(gather)?;
        Ok(Self { begun, waiting })
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.load(Ordering::Acquire) == 0
    }

    pub fn begin(&self, scattering: Step, steps: Steps) -> TwoLevelRequest {
        let (sender, reply) = reply();
        self.waiting.fetch_add(1, Ordering::AcqRel);
        // If the thread has ended, the reply channel closes.
        let plan = steps.plan.clone();
        let underway = Underway { step: Some(scattering), reports: Vec::new(), steps, reply: sender };
        let _ = self.begun.send(Task::Reduce(underway.into()));
        TwoLevelRequest { state: State::Before(reply), plan }
    }

    /// Runs `then` after the all-reduces begun so far have started their last steps.
    pub fn then(&self, then: impl FnOnce() + Send + 'static) {
        let _ = self.begun.send(Task::Then(Box::new(then)));
    }
}

/// An all-reduce in progress on two levels, like [`Request`]. It returns the mean and the
/// [`Report`]. Dropping it does not cancel the collective: the other ranks apply the
/// update, so later reports of this rank count it as drift.
///
/// The mean is zeros if this rank [skips](Report::is_applied) the update.
#[derive(Debug)]
#[must_use = "the update of a request that is not waited for is lost on this rank"]
pub struct TwoLevelRequest {
    state: State,
    plan: Arc<Plan>,
}

#[derive(Debug)]
enum State {
    /// The last step has not started.
    Before(Reply<Gathering>),
    Gathering(Box<Gathering>),
    Failed(Error),
    /// The caller has the result.
    Taken,
}

impl Drop for TwoLevelRequest {
    fn drop(&mut self) {
        let is_lost = match &mut self.state {
            // A failed job has no drift.
            State::Before(reply) => !matches!(reply.try_take(), Some(Err(_))),
            State::Gathering(_) => true,
            State::Failed(_) | State::Taken => false,
        };
        if is_lost {
            self.plan.abandon();
        }
    }
}

impl TwoLevelRequest {
    /// Returns whether the all-reduce has finished, without blocking.
    #[must_use = "only a finished call has a result"]
    pub fn is_finished(&mut self) -> bool {
        self.wait_timeout(Duration::ZERO)
    }

    /// Blocks until the all-reduce has finished, at most `timeout`; returns whether it has.
    #[must_use = "the call may not have finished"]
    pub fn wait_timeout(&mut self, timeout: Duration) -> bool {
        let begin = Instant::now();
        if let State::Before(reply) = &mut self.state {
            match block_on_for(reply, Some(timeout)) {
                None => return false,
                Some(begun) => self.go_on(begun),
            }
        }
        match &mut self.state {
            State::Gathering(gathering) => gathering.step.wait_timeout(timeout.saturating_sub(begin.elapsed())),
            _ => true,
        }
    }

    /// Polls whether the all-reduce has finished, and keeps its result for [`wait`](Self::wait).
    #[doc(hidden)]
    pub fn poll_finished(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let State::Before(reply) = &mut self.state {
            let begun = ready!(Pin::new(reply).poll(context));
            self.go_on(begun);
        }
        match &mut self.state {
            State::Gathering(gathering) => gathering.step.poll_finished(context),
            _ => Poll::Ready(()),
        }
    }

    /// Blocks until the all-reduce has finished.
    pub fn wait(self) -> Result<(Vec<f32>, Report), Error> {
        self.finish()?.whole()
    }

    /// As [`wait`](Self::wait), with the mean in `data`.
    ///
    /// # Errors
    /// See [`Error`]; `data` is then unchanged, or zeros after a
    /// [halt](crate::ErrorKind::Halted). Also if `data` is not as long as the bucket; the result is
    /// then deferred to a later one.
    pub fn wait_into(self, data: &mut [f32]) -> Result<Report, Error> {
        self.finish()?.into(data)
    }

    fn finish(mut self) -> Result<Gathered, Error> {
        if let State::Before(reply) = &mut self.state {
            let begun = block_on(reply);
            self.go_on(begun);
        }
        match std::mem::replace(&mut self.state, State::Taken) {
            // `Request::wait` instead of `block_on`, since it drives the engine.
            State::Gathering(gathering) => {
                let Gathering { step, reports } = *gathering;
                let (values, last) = step.wait().map_err(|error| self.plan.faults.inside(error))?;
                Ok(Gathered { plan: self.plan.clone(), values, reports, last })
            }
            State::Failed(error) => Err(error),
            State::Before(_) | State::Taken => Err(Cause::Closed.into()),
        }
    }

    fn go_on(&mut self, begun: Result<Gathering, Error>) {
        self.state = match begun {
            Ok(gathering) => State::Gathering(gathering.into()),
            Err(error) => State::Failed(error),
        };
    }
}

/// Results of the steps.
struct Gathered {
    plan: Arc<Plan>,
    values: Vec<f32>,
    /// Reports of the steps before the last one.
    reports: Vec<Report>,
    last: Report,
}

impl Gathered {
    fn whole(self) -> Result<(Vec<f32>, Report), Error> {
        let mut mean = vec![0.0; self.plan.shards.elements()];
        let report = self.into(&mut mean)?;
        Ok((mean, report))
    }

    fn into(self, data: &mut [f32]) -> Result<Report, Error> {
        self.plan.finish(&self.values, self.reports, self.last, data)
    }
}

impl Future for TwoLevelRequest {
    type Output = Result<(Vec<f32>, Report), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let State::Before(reply) = &mut self.state {
            let begun = ready!(Pin::new(reply).poll(context));
            self.go_on(begun);
        }
        let finished = match &mut self.state {
            State::Gathering(gathering) => Some(ready!(Pin::new(&mut gathering.step).poll(context))),
            _ => None,
        };
        Poll::Ready(match (std::mem::replace(&mut self.state, State::Taken), finished) {
            (State::Gathering(gathering), Some(Ok((values, last)))) => {
                Gathered { plan: self.plan.clone(), values, reports: gathering.reports, last }.whole()
            }
            (_, Some(Err(error))) => Err(self.plan.faults.inside(error)),
            (State::Failed(error), _) => Err(error),
            _ => Err(Cause::Closed.into()),
        })
    }
}
