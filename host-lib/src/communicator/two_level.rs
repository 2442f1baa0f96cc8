//! All-reduce on two levels: see [`TwoLevel`].
//!
//! Differs: in OptiReduce, appendix A, equal members exchange their whole sums in (groups - 1)
//! rounds. Here they all-reduce in twice as many rounds, with less than two shards of bytes instead
//! of (groups - 1).

mod calls;
mod connect;
mod fault;
mod groups;
mod pipeline;
mod plan;

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use self::calls::in_group;
use self::connect::partitions;
use self::fault::Faults;
pub use self::groups::Groups;
pub use self::pipeline::TwoLevelRequest;
use self::pipeline::{Pipeline, Steps};
use self::plan::{Plan, lock, pack_settled};
use super::abandoned::Abandoned;
use super::report::{Numbers, Report};
use super::request::reply;
use super::{Bucket, BucketOptions, Builder, Cause, Communicator, ConnectError, Error, ReduceOp, Request, Settled};
use crate::control::{ControlChannel, ControlError, Partition, Terms};
use crate::settings::Repair;
use optireduce_core::levels::{Deferred, Shards};
use optireduce_core::protocol::Kind;

impl Communicator {
    /// Prepares all-reduces on two levels, in groups of equal size. Collective.
    ///
    /// # Errors
    /// If the ranks cannot form these groups, with at least two ranks each, or cannot connect.
    pub fn two_level(&mut self, groups: Groups) -> Request<TwoLevel> {
        let addresses: Vec<IpAddr> = self.addresses.iter().map(SocketAddr::ip).collect();
        let cut = match groups.cut(&addresses) {
            Ok(cut) => cut,
            Err(error) => return Err(error).into(),
        };
        let (mut levels, mut ranks) = (Vec::new(), Vec::new());
        for Partition { groups, .. } in partitions(&cut) {
            let own = groups.iter().position(|ranks| ranks.contains(&self.rank())).expect("each rank once");
            levels.push(self.level(own));
            ranks.push(groups[own].clone());
        }
        Request::on_a_thread("optireduce-connect", move || {
            let communicators = levels.into_iter().map(|connect| connect()).collect::<Result<_, _>>()?;
            TwoLevel::of(communicators, ranks, addresses.len())
        })
    }
}

impl Builder {
    /// Adapts the settings to a step. It waits for repairs, since later ones would miss the last
    /// step. It drops only ranks without connections, since a group lacks the shard of a dropped
    /// rank. `ranks_here`: ranks of the job on this host.
    pub(super) fn for_a_level(mut self, ranks_here: usize) -> Self {
        self.settings = self.settings.repair(Repair::ThisUpdate).skip_gone(false);
        self.settings.inherited.ranks_here = Some(ranks_here);
        self.settings.inherited.silent = Some(self.timeout);
        self
    }
}

/// Skipped updates of the bucket with this id.
type OfBucket = (u16, Arc<Mutex<Deferred>>);

/// A job on two levels, from [`Settings::connect_two_level`](crate::Settings::connect_two_level),
/// or from [`Communicator::two_level`] for ranks that are connected already.
///
/// With many ranks, Transpose AllReduce has too many rounds. In 2D (OptiReduce, appendix A) each
/// group reduce-scatters, equal members of the groups average their shards, and each group gathers
/// the means. Under loss the result is a mean of the groups' means, and all groups count the same.
///
/// If a rank is gone, its group lacks that rank's shard, as its reports show.
#[derive(Debug)]
pub struct TwoLevel {
    inside: Communicator,
    across: Communicator,
    /// Ranks of `inside` again, so that the last steps of several buckets start in the same order
    /// on all ranks.
    gather: Communicator,
    numbers: Arc<Numbers>,
    pipeline: Arc<Pipeline>,
    drift_bytes: Arc<AtomicU64>,
    faults: Arc<Faults>,
    /// Updates that this rank skipped, by bucket.
    deferred: Arc<Mutex<Vec<OfBucket>>>,
}

impl TwoLevel {
    fn of(communicators: Vec<Communicator>, ranks: Vec<Vec<usize>>, world_size: usize) -> Result<Self, Error> {
        let [inside, across, gather] = <[_; 3]>::try_from(communicators).expect("one of each");
        let [ranks_inside, ranks_across, _] = <[_; 3]>::try_from(ranks).expect("one of each");
        let numbers = Arc::new(Numbers { world_size, inside: ranks_inside, across: ranks_across });
        let all = [&inside, &across, &gather].map(|communicator| communicator.shared.clone());
        let faults = Faults::new(numbers.clone(), all);
        let pipeline = Pipeline::start().map_err(ConnectError::Thread)?.into();
        let drift_bytes = Arc::default();
        Ok(Self { inside, across, gather, numbers, pipeline, drift_bytes, faults, deferred: Arc::default() })
    }

    /// Declares a bucket of `elements` values. Collective, over TCP.
    ///
    /// # Errors
    /// See [`Communicator::bucket`].
    pub fn bucket(&mut self, elements: usize, options: BucketOptions) -> Request<TwoLevelBucket> {
        let shards = Shards::new(elements, self.inside.world_size());
        let scatter = self.inside.bucket(elements, options.clone());
        // The last shards may be shorter or empty; equal members have equal shards.
        let shard = self.inside.shard_range(elements).len();
        let average = (shard > 0).then(|| self.across.bucket(shard, options.clone()));
        // Its values are sums already.
        let gather = self.gather.bucket(shards.gathered_elements(), options.reduce_op(ReduceOp::Avg));
        let (numbers, pipeline, all) = (self.numbers.clone(), self.pipeline.clone(), self.deferred.clone());
        let (drift_bytes, faults, abandoned) = (self.drift_bytes.clone(), self.faults.clone(), Abandoned::default());
        Request::on_a_thread("optireduce-declare", move || {
            let scatter = scatter.wait()?;
            let (average, gather) = (average.map(Request::wait).transpose()?, gather.wait()?.adding_up());
            let repairs = scatter.options().repair == Some(true);
            let deferred = repairs.then(|| Arc::new(Mutex::new(Deferred::new(elements))));
            lock(&all).extend(deferred.iter().map(|deferred| (scatter.id(), deferred.clone())));
            let stream = gather.stream_id();
            let plan = Plan { numbers, shards, deferred, drift_bytes, abandoned, faults, stream }.into();
            let share = |bucket| Arc::new(Mutex::new(bucket));
            let steps = Steps { average: average.map(share), gather: share(gather), plan };
            Ok(TwoLevelBucket { scatter, steps, pipeline })
        })
    }

    /// Returns the communicator of this rank's group.
    pub fn inside(&mut self) -> &mut Communicator {
        &mut self.inside
    }

    /// Returns the communicator of this rank's equals: ranks with the same place in all groups.
    pub fn across(&mut self) -> &mut Communicator {
        &mut self.across
    }

    /// Returns [`inside`](Self::inside), [`across`](Self::across), and a second communicator of the
    /// group, for the last step.
    pub fn communicators(&mut self) -> [&mut Communicator; 3] {
        [&mut self.inside, &mut self.across, &mut self.gather]
    }

    /// Job ranks of this rank's group, by rank inside it.
    pub fn ranks_inside(&self) -> &[usize] {
        &self.numbers.inside
    }

    /// Job ranks of this rank's equals, by rank among them.
    pub fn ranks_across(&self) -> &[usize] {
        &self.numbers.across
    }
}

/// A declared bucket of a two-level job.
#[derive(Debug)]
pub struct TwoLevelBucket {
    scatter: Bucket,
    steps: Steps,
    pipeline: Arc<Pipeline>,
}

impl TwoLevelBucket {
    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.steps.plan.shards.elements()
    }

    /// Id of the bucket.
    pub fn id(&self) -> u16 {
        self.scatter.id()
    }

    /// Elements that this rank averages with its equals.
    pub fn shard_range(&self) -> Range<usize> {
        self.scatter.shard_range()
    }

    /// Reduces `data` over all ranks, in place. Collective, [bounded](crate::Settings::bound): t_B
    /// limits each of the four stages of each window. The async form is
    /// [`start_all_reduce`](Self::start_all_reduce).
    ///
    /// Losses of the all-reduce and of the all-gather are repaired before the next step, in at most
    /// 4 t_B each, unless [`repair`](crate::Settings::repair) is off.
    ///
    /// `data` is zeros if this rank [skips](Report::is_applied) the update. With repairs, a
    /// later result then includes it.
    ///
    /// # Errors
    /// See [`Error`]; `data` is then unchanged, or zeros after a
    /// [halt](crate::ErrorKind::Halted).
    pub fn all_reduce(&mut self, data: &mut [f32]) -> Result<Report, Error> {
        if !self.pipeline.is_empty() {
            return self.start_all_reduce(data.to_vec()).wait_into(data);
        }
        // No earlier all-reduce is in progress.
        let Self { scatter, steps: Steps { average, gather, plan }, .. } = self;
        let faults = &plan.faults;
        let scattered = scatter.step(Kind::ReduceScatter, data.to_vec()).wait();
        let (shard, scattered) = scattered.map_err(|error| faults.inside(error))?;
        let averaged = average.as_ref().map(|bucket| lock(bucket).step(Kind::AllReduce, shard).wait()).transpose();
        let averaged = averaged.map_err(|error| faults.across(error))?;
        let given = plan.pack(averaged.as_ref().map(|(shard, report)| (&shard[..], report)));
        let gathered = lock(gather).step(Kind::AllGather, given).wait();
        let (gathered, last) = gathered.map_err(|error| faults.inside(error))?;
        let reports = [scattered].into_iter().chain(averaged.map(|(_, report)| report)).collect();
        plan.finish(&gathered, reports, last, data)
    }

    /// Starts [`all_reduce`](Self::all_reduce). Several may be in progress.
    pub fn start_all_reduce(&mut self, data: Vec<f32>) -> TwoLevelRequest {
        self.pipeline.begin(self.scatter.step(Kind::ReduceScatter, data).wake(), self.steps.clone())
    }

    /// As [`Bucket::settle`], for all steps. [`Settled::correction`] covers the whole bucket, and
    /// [`Settled::repairs`] counts the losses of this rank, and of its group's members among their
    /// equals.
    ///
    /// Collective, partly over TCP: the ranks of a group exchange the corrections of their shards.
    /// Finish the requests of earlier all-reduces first.
    ///
    /// # Errors
    /// See [`Error`]. A timeout is not an error, see [`Settled::is_settled`], unless a rank of the
    /// group does not call it.
    pub fn settle(&mut self, timeout: impl Into<Option<Duration>>) -> Request<Settled> {
        let (begun, settling) = mpsc::channel();
        let (timeout, Steps { average, gather, plan }) = (timeout.into(), self.steps.clone());
        let shared = lock(&gather).shared().clone();
        self.pipeline.then(move || {
            let average = average.map(|average| lock(&average).settle(timeout));
            let _ = begun.send((average, lock(&gather).settle(timeout)));
        });
        let (sender, settled) = reply();
        let terms = Terms::default().with("the call", "settle").with("bucket", self.id());
        // Members may wait for the whole of the first timeout before they exchange.
        let timeout = shared.timeout.saturating_add(timeout.unwrap_or(shared.timeout));
        shared.run(move |channel| {
            let of_steps = settling.recv().map_err(|_| Error::from(Cause::Closed)).and_then(|(average, gathered)| {
                let empty = || Settled { is_settled: true, ..Settled::default() };
                Ok((average.map_or_else(|| Ok(empty()), Request::wait)?, gathered.wait()?))
            });
            let whole = of_steps.and_then(|(average, gathered)| {
                let given = pack_settled(&average);
                let exchange = |channel: &mut ControlChannel| channel.hand_over(|_| Some(&given), false, timeout);
                let averages = channel.call(&terms, timeout, exchange)?;
                let malformed = |rank| ControlError::WrongMessage { rank }.into();
                plan.settled(&averages, gathered).map_err(malformed)
            });
            let _ = sender.send(whole.map_err(in_group(&plan.numbers.inside)));
        });
        settled.into()
    }
}
