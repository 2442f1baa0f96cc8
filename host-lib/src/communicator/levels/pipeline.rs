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

use super::super::flat_bucket::FlatBucket;
use super::super::request::{InSteps, Outcome, Reply, Sender, block_on_for, reply};
use super::super::{Cause, Error, Report, Request};
use super::plan::{Plan, lock};
use optireduce_core::Values;
use optireduce_core::protocol::Kind;

/// Also locked by a thread of the pipeline.
pub(super) type Shared<T> = Arc<Mutex<T>>;

/// Buckets of the second and third steps.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    /// `None` if this rank's shard is empty.
    pub average: Option<Shared<FlatBucket>>,
    pub gather: Shared<FlatBucket>,
    pub plan: Arc<Plan>,
}

/// A step in progress.
type Step = Request<(Values, Report)>;

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
                        let error = underway.steps.plan.core.faults.inside(error);
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
                    let step = lock(&steps.gather).step(Kind::AllGather, Values::from(given)).wake();
                    Gathering { step, reports }
                });
                passed.fetch_sub(1, Ordering::AcqRel);
                let _ = reply.send(gathering.map_err(|error| steps.plan.core.faults.across(error)));
            }
        };
        thread::Builder::new().name("optireduce-average".into()).spawn(average)?;
        thread::Builder::new().name("optireduce-gather".into()).spawn(gather)?;
        Ok(Self { begun, waiting })
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.load(Ordering::Acquire) == 0
    }

    pub fn begin(&self, scattering: Step, steps: Steps, place: Option<Values>) -> Reduction {
        let (sender, reply) = reply();
        self.waiting.fetch_add(1, Ordering::AcqRel);
        // If the thread has ended, the reply channel closes.
        let plan = steps.plan.clone();
        let underway = Underway { step: Some(scattering), reports: Vec::new(), steps, reply: sender };
        let _ = self.begun.send(Task::Reduce(underway.into()));
        Reduction { state: State::Before(reply), plan, place }
    }

    /// Runs `then` after the all-reduces begun so far have started their last steps.
    pub fn then(&self, then: impl FnOnce() + Send + 'static) {
        let _ = self.begun.send(Task::Then(Box::new(then)));
    }
}

/// An all-reduce in progress on two levels. Dropping it does not cancel the collective: the other
/// ranks apply the update, so later reports of this rank count it as drift.
#[derive(Debug)]
pub(super) struct Reduction {
    state: State,
    plan: Arc<Plan>,
    /// Memory for the result.
    place: Option<Values>,
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

impl Drop for Reduction {
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

impl InSteps for Reduction {
    fn complete(&mut self, timeout: Option<Duration>) -> bool {
        let begin = Instant::now();
        if let State::Before(reply) = &mut self.state {
            match block_on_for(reply, timeout) {
                None => return false,
                Some(begun) => self.go_on(begun),
            }
        }
        match &mut self.state {
            State::Gathering(gathering) => {
                gathering.step.complete(timeout.map(|timeout| timeout.saturating_sub(begin.elapsed())))
            }
            _ => true,
        }
    }

    fn poll_finished(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let State::Before(reply) = &mut self.state {
            let begun = ready!(Pin::new(reply).poll(context));
            self.go_on(begun);
        }
        match &mut self.state {
            State::Gathering(gathering) => gathering.step.poll_finished(context),
            _ => Poll::Ready(()),
        }
    }

    fn take(&mut self) -> Result<Outcome, Error> {
        match std::mem::replace(&mut self.state, State::Taken) {
            State::Gathering(gathering) => {
                let Gathering { step, reports } = *gathering;
                let (gathered, last) = step.wait().map_err(|error| self.plan.core.faults.inside(error))?;
                Ok(self.plan.finish(&gathered, reports, last, self.place.take()))
            }
            State::Failed(error) => Err(error),
            State::Before(_) | State::Taken => Err(Cause::Closed.into()),
        }
    }
}

impl Reduction {
    fn go_on(&mut self, begun: Result<Gathering, Error>) {
        self.state = match begun {
            Ok(gathering) => State::Gathering(gathering.into()),
            Err(error) => State::Failed(error),
        };
    }
}
