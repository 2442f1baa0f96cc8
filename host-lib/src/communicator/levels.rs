//! Two levels: groups of equal size, and equals, the ranks with the same place in all groups.
//!
//! Why: with many ranks, Transpose AllReduce has too many rounds. In 2D (OptiReduce, appendix A)
//! each group reduce-scatters, equal members of the groups average their shards, and each group
//! gathers the means.
//! Differs: in OptiReduce, equal members exchange their whole sums in (groups - 1) rounds. Here
//! they all-reduce in twice as many rounds, with less than two shards of bytes instead of one for
//! each other group.
//!
//! Threads: "optireduce-levels" makes the calls of both levels over TCP, in order.
//! "optireduce-average" and "optireduce-gather" start the later steps of all-reduces. Each of three
//! [`Flat`]s has its own.

mod calls;
mod connect;
mod cut;
mod fault;
mod pipeline;
mod plan;
mod table;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::Duration;

use self::calls::Calls;
use self::fault::Faults;
use self::pipeline::{Pipeline, Reduction, Steps};
use self::plan::{lock, pack_settled};
pub(super) use self::table::Table;
use super::Flat;
use super::builder::Builder;
use super::command::Given;
use super::flat_bucket::{FlatBucket, declaration};
use super::options::BucketOptions;
use super::report::Numbers;
use super::request::{InSteps as _, Outcome, Request, reply};
use super::settle::{Settled, Unsettled};
use super::{Cause, ConnectError, Error};
use crate::control::{ControlChannel, ControlError, Terms};
use crate::settings::Groups;
use optireduce_core::levels::Deferred;
use optireduce_core::protocol::Kind;
use optireduce_core::{Destination, Values};

/// Both levels of a rank, for its buckets and calls.
#[derive(Debug)]
pub(super) struct Core {
    numbers: Arc<Numbers>,
    faults: Arc<Faults>,
    pipeline: Pipeline,
    /// Drift of all buckets in bytes, without the drift that the steps report.
    drift_bytes: AtomicU64,
    calls: Calls,
    declared: AtomicU32,
    /// Error after which all calls fail, since a rank is gone.
    ended: OnceLock<Error>,
    /// Updates that this rank skipped, by id of the bucket.
    deferred: Mutex<Vec<(u16, Arc<Mutex<Deferred>>)>>,
}

/// Owner of both levels. Dropping it ends them.
#[derive(Debug)]
pub(super) struct Levels {
    pub core: Arc<Core>,
    /// Settings of the job.
    pub builder: Builder,
    /// Inside, across, and inside again, so that the last steps of several buckets start in the
    /// same order on all ranks.
    _flats: Box<[Flat; 3]>,
}

impl Levels {
    /// `options`: with the settings filled in.
    pub fn bucket<B: From<LevelsBucket> + Send + 'static>(
        &self,
        elements: usize,
        options: BucketOptions,
    ) -> Request<B> {
        let number = self.core.declared.fetch_add(1, Ordering::Relaxed);
        let (terms, memory) = declaration(&options, elements, number);
        let (of_job, of_bucket) = (self.builder.groups, options.groups);
        self.core.call(terms, move |core| {
            if of_bucket != of_job {
                let text = |groups: Option<Groups>| groups.map(|groups| groups.to_string()).unwrap_or_default();
                let (setting, expected) = ("groups of a bucket", format!("{} as in the job, or unset", text(of_job)));
                return Err(ConnectError::Setting { setting, found: text(of_bucket), expected }.into());
            }
            memory?;
            core.declare(number, elements, options).map(B::from)
        })
    }

    pub fn start_ending(&self) -> Request<Unsettled> {
        self.core.call(Terms::default().with("the call", "close"), |core| core.end())
    }
}

/// Bucket on two levels.
#[derive(Debug)]
pub(super) struct LevelsBucket {
    pub scatter: FlatBucket,
    steps: Steps,
}

impl LevelsBucket {
    /// Returns what the first step reads, and memory for the result.
    fn lend(&self, given: Given) -> (Given, Option<Values>) {
        let Given { values, destination, misfit } = given;
        let (values, place) = match destination {
            Destination::Bucket => (values, None),
            Destination::Here(place) => (values, Some(place)),
            Destination::Gradient => (values.to_vec().into(), Some(values)),
        };
        let (found, expected) = (place.as_ref().map(|place| place.len()), self.scatter.elements);
        let misfit = misfit.or(found.filter(|found| *found != expected).map(|found| (found, expected)));
        (Given { values, destination: Destination::Bucket, misfit }, place)
    }

    /// All-reduces on this thread, which drives the engines.
    pub fn reduce(&self, given: Given) -> Result<Outcome, Error> {
        let Self { scatter, steps: Steps { average, gather, plan } } = self;
        if !plan.core.pipeline.is_empty() {
            let mut reduction = self.start(given);
            reduction.complete(None);
            return reduction.take();
        }
        // No earlier all-reduce is in progress.
        let (faults, (given, place)) = (&plan.core.faults, self.lend(given));
        let scattered = scatter.step(Kind::ReduceScatter, given).wait();
        let (shard, scattered) = scattered.map_err(|error| faults.inside(error))?;
        let averaged = average.as_ref().map(|bucket| lock(bucket).step(Kind::AllReduce, shard).wait()).transpose();
        let averaged = averaged.map_err(|error| faults.across(error))?;
        let given = plan.pack(averaged.as_ref().map(|(shard, report)| (&shard[..], report)));
        let gathered = lock(gather).step(Kind::AllGather, Values::from(given)).wait();
        let (gathered, last) = gathered.map_err(|error| faults.inside(error))?;
        let reports = [scattered].into_iter().chain(averaged.map(|(_, report)| report)).collect();
        Ok(plan.finish(&gathered, reports, last, place))
    }

    fn start(&self, given: Given) -> Reduction {
        let (given, place) = self.lend(given);
        let scattering = self.scatter.step(Kind::ReduceScatter, given).wake();
        self.steps.plan.core.pipeline.begin(scattering, self.steps.clone(), place)
    }

    pub fn begin<T>(
        &self,
        kind: Kind,
        given: Given,
        finish: impl FnOnce(Outcome) -> Result<T, Error> + Send + 'static,
    ) -> Request<T> {
        let call = match kind {
            Kind::AllReduce => return Request::of_steps(self.start(given), finish),
            Kind::ReduceScatter => "reduce_scatter",
            Kind::AllGather => "all_gather",
        };
        let instead = "declare a bucket without groups, in a job on one level";
        Err(Cause::Levels { call, instead }.into()).into()
    }

    pub fn settle(&self, timeout: Option<Duration>) -> Request<Settled> {
        let Steps { average, gather, plan } = self.steps.clone();
        let shared = lock(&gather).shared().clone();
        let (begun, settling) = mpsc::channel();
        plan.core.pipeline.then(move || {
            let average = average.map(|average| lock(&average).settle(timeout));
            let _ = begun.send((average, lock(&gather).settle(timeout)));
        });
        let terms = Terms::default().with("the call", "settle").with("bucket", self.scatter.id);
        // Members may wait for the whole of the first timeout before they exchange.
        let timeout = shared.timeout.saturating_add(timeout.unwrap_or(shared.timeout));
        plan.core.clone().call(terms.clone(), move |core| {
            let (average, gathered) = settling.recv().map_err(|_| Cause::Closed)?;
            let empty = || Settled { is_settled: true, ..Settled::default() };
            let average = average.map_or_else(|| Ok(empty()), Request::wait)?;
            let (gathered, given) = (gathered.wait()?, pack_settled(&average));
            let (sender, told) = reply();
            shared.run(move |channel| {
                let exchange = |channel: &mut ControlChannel| channel.hand_over(|_| Some(&given), false, timeout);
                let _ = sender.send(channel.call(&terms, timeout, exchange).map_err(Error::from));
            });
            let averages = Request::from(told).wait().map_err(core.inside())?;
            Ok(plan.settled(&averages, gathered).map_err(|rank| ControlError::WrongMessage { rank })?)
        })
    }
}
