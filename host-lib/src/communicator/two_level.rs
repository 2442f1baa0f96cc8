//! All-reduce on two levels, made of communicators of some of the ranks.
//!
//! Why: with many ranks most rounds of Transpose AllReduce are too many. In 2D (OptiReduce, appendix A) ranks form groups of
//! neighbours: each group reduce-scatters, equal members of the groups average their parts, and each group gathers the means.
//! Differs: the paper's equal members send one another their whole sums, in (groups - 1) rounds; here they all-reduce, in
//! twice as many, with less than twice a part's bytes instead of (groups - 1) times them. 64 ranks in 16 groups: 36 rounds,
//! the paper 21, on one level 126.
//! Limits: under loss it is a mean of the groups' means, so a group that lost contributions counts as much as one that did not.

mod calls;
mod connect;
mod groups;
mod pipeline;
mod report;
mod shards;

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use self::connect::partitions;
pub use self::groups::Groups;
pub use self::pipeline::TwoLevelRequest;
use self::pipeline::{Pipeline, Steps, lock};
use self::report::Numbers;
pub use self::report::TwoLevelReport;
use self::shards::{Plan, Shards};
use super::request::{block_on, reply};
use super::{Bucket, BucketOptions, Builder, Communicator, ConnectError, Error, Pending, Settled};
use crate::control::Partition;

impl Communicator {
    /// All-reduce on two levels, in `groups` groups of neighbouring ranks of equal size: rank r is in group r / (ranks / groups).
    /// Collective.
    ///
    /// # Errors
    /// If the ranks cannot be cut into so many groups of at least two, or they do not connect.
    pub fn two_level(&mut self, groups: usize) -> Result<TwoLevel, ConnectError> {
        block_on(self.two_level_async(groups))
    }

    /// As [`two_level`](Self::two_level), without blocking the thread.
    ///
    /// # Errors
    /// As [`two_level`](Self::two_level).
    pub async fn two_level_async(&mut self, groups: usize) -> Result<TwoLevel, ConnectError> {
        self.levels(Groups::Number(groups)).await
    }

    /// All-reduce on two levels, with a group for each host: ranks of a host reduce and gather among themselves, and each host sends to
    /// the others what one rank would, instead of what all of its ranks do. A host is an address of the control channel.
    /// Collective.
    ///
    /// # Errors
    /// If there are fewer than two hosts, if they have different numbers of ranks, or one each, or if the ranks do not connect.
    pub fn two_level_by_host(&mut self) -> Result<TwoLevel, ConnectError> {
        block_on(self.two_level_by_host_async())
    }

    /// As [`two_level_by_host`](Self::two_level_by_host), without blocking the thread.
    ///
    /// # Errors
    /// As [`two_level_by_host`](Self::two_level_by_host).
    pub async fn two_level_by_host_async(&mut self) -> Result<TwoLevel, ConnectError> {
        self.levels(Groups::Hosts).await
    }

    async fn levels(&mut self, groups: Groups) -> Result<TwoLevel, ConnectError> {
        let addresses: Vec<IpAddr> = self.addresses.iter().map(SocketAddr::ip).collect();
        let (mut communicators, mut ranks) = (Vec::new(), Vec::new());
        for Partition { groups, .. } in partitions(&groups.cut(&addresses)?) {
            let own = groups.iter().position(|ranks| ranks.contains(&self.rank())).expect("each rank once");
            communicators.push(self.level(own).await?);
            ranks.push(groups[own].clone());
        }
        TwoLevel::of(communicators, ranks, addresses.len())
    }
}

impl Builder {
    /// The same, for a step of two levels on a host that has so many ranks of the job, all of which share its cores. It waits for repairs: one
    /// that came after the last step had returned would be of no use. And it does not drop a rank that stands still, since that rank's group would lack its
    /// shard for good; a rank whose connections have ended is dropped.
    pub(super) fn for_a_level(self, ranks_here: usize) -> Self {
        Self { wait_for_repairs: true, ranks_here: Some(ranks_here), silent: self.timeout, ..self }
    }
}

/// The communicators of an all-reduce on two levels: see [`Builder::connect_two_level`](super::Builder::connect_two_level), and
/// [`Communicator::two_level`] for ranks that are connected already.
///
/// With many ranks most rounds of Transpose AllReduce are too many. In 2D (OptiReduce, appendix A) each group of neighbours
/// reduce-scatters, equal members of the groups average their shards, and each group gathers the means. Under loss the result
/// is a mean of groups' means: a group that lost contributions counts as much as one that did not.
///
/// If a rank ends, its group lacks the shard that was its own from then on, and the reports of that group's ranks say so.
#[derive(Debug)]
pub struct TwoLevel {
    inside: Communicator,
    across: Communicator,
    /// The ranks of `inside` once more, for the last step: in each communicator the calls of several buckets begin in the same order on all
    /// ranks.
    gather: Communicator,
    numbers: Arc<Numbers>,
    pipeline: Arc<Pipeline>,
}

impl TwoLevel {
    /// `ranks`: those of the job in each of the communicators.
    fn of(communicators: Vec<Communicator>, ranks: Vec<Vec<usize>>, world_size: usize) -> Result<Self, ConnectError> {
        let [inside, across, gather] = <[_; 3]>::try_from(communicators).expect("one of each");
        let [ranks_inside, ranks_across, _] = <[_; 3]>::try_from(ranks).expect("one of each");
        let numbers = Numbers { world_size, inside: ranks_inside, across: ranks_across };
        let pipeline = Pipeline::start().map_err(ConnectError::Thread)?.into();
        Ok(Self { inside, across, gather, numbers: numbers.into(), pipeline })
    }

    /// Declares a bucket of `elements` values. Collective.
    ///
    /// # Errors
    /// As [`Communicator::bucket`].
    pub fn bucket(&mut self, elements: usize, options: BucketOptions) -> Result<TwoLevelBucket, Error> {
        block_on(self.bucket_async(elements, options))
    }

    /// As [`bucket`](Self::bucket), without blocking the thread.
    ///
    /// # Errors
    /// As [`bucket`](Self::bucket).
    pub async fn bucket_async(&mut self, elements: usize, options: BucketOptions) -> Result<TwoLevelBucket, Error> {
        let scatter = self.inside.bucket_async(elements, options.clone()).await?;
        let shards = Shards::new(elements, self.inside.world_size(), self.inside.rank());
        // The shards of ranks at the end may be shorter, or empty; equal members of groups have equal ones.
        let average = match scatter.shard_range().len() {
            0 => None,
            shard => Some(self.across.bucket_async(shard, options.clone()).await?),
        };
        let gather = self.gather.bucket_async(shards.gathered_elements(), options).await?;
        let plan = Plan { elements, numbers: self.numbers.clone(), shards }.into();
        let share = |bucket| Arc::new(Mutex::new(bucket));
        let steps = Steps { average: average.map(share), gather: share(gather), plan };
        Ok(TwoLevelBucket { scatter, steps, pipeline: self.pipeline.clone() })
    }

    /// The communicator of this rank's group.
    pub fn inside(&mut self) -> &mut Communicator {
        &mut self.inside
    }

    /// The communicator of this rank's equals in all groups.
    pub fn across(&mut self) -> &mut Communicator {
        &mut self.across
    }

    /// Both, and the third: of this rank's group once more, for the last step.
    pub fn communicators(&mut self) -> [&mut Communicator; 3] {
        [&mut self.inside, &mut self.across, &mut self.gather]
    }

    /// The ranks of the job that are in this rank's group, in the order of their ranks there.
    pub fn ranks_inside(&self) -> &[usize] {
        &self.numbers.inside
    }

    /// The ranks of the job that are this rank's equals, in the order of their ranks among them.
    pub fn ranks_across(&self) -> &[usize] {
        &self.numbers.across
    }
}

/// A declared bucket of an all-reduce on two levels.
#[derive(Debug)]
pub struct TwoLevelBucket {
    scatter: Bucket,
    steps: Steps,
    pipeline: Arc<Pipeline>,
}

impl TwoLevelBucket {
    /// Its elements.
    pub fn elements(&self) -> usize {
        self.steps.plan.elements
    }

    /// Its number, the same on all ranks.
    pub fn id(&self) -> u16 {
        self.scatter.id()
    }

    /// The elements of which this rank averages what its group has with what the other groups have.
    pub fn shard_range(&self) -> Range<usize> {
        self.scatter.shard_range()
    }

    /// Reduces `data` over all ranks; blocks the thread, no longer than the deadlines of the four stages allow. If this rank lost
    /// packets of the all-reduce or of the all-gather, it fetches them from their owners before it goes on, in four more deadlines each
    /// at most, unless the setting `repair` is off. Collective.
    ///
    /// If the report does not say [`UpdateAction::Apply`](crate::UpdateAction::Apply), `data` is unchanged on this rank.
    ///
    /// # Errors
    /// See [`Error`]; `data` is then unchanged.
    pub fn all_reduce(&mut self, data: &mut [f32]) -> Result<TwoLevelReport, Error> {
        if !self.pipeline.is_empty() {
            return self.start_all_reduce(data.to_vec()).wait_into(data);
        }
        // Nothing is before it in any step, so that it needs no other thread.
        let Self { scatter, steps: Steps { average, gather, plan }, .. } = self;
        let (shard, scattered) = scatter.reduce_scatter(data)?;
        let averaged = average.as_ref().map(|bucket| lock(bucket).all_reduce_owned(shard)).transpose()?;
        let (shard, averaged) = averaged.unzip();
        let given = plan.shards.pack(&shard.unwrap_or_default(), averaged.as_ref());
        let (gathered, last) = lock(gather).all_gather(&given)?;
        let report = plan.report(&gathered, [scattered].into_iter().chain(averaged).collect(), last);
        plan.apply(&gathered, &report, data)?;
        Ok(report)
    }

    /// Begins to reduce `data` over all ranks. Several may be under way at once, of one bucket or of several: each step begins when the step before
    /// has ended, whatever the caller does meanwhile. Collective.
    pub fn start_all_reduce(&mut self, data: Vec<f32>) -> TwoLevelRequest {
        self.pipeline.begin(self.scatter.start_reduce_scatter(data), self.steps.clone())
    }

    /// Waits until what this rank's [shard](Self::shard_range) of the results so far lacked has come, at most `timeout` (default: the
    /// communicator's), and lets it go: no later result contains it. [`Settled::correction`] is that of the shard, which all ranks of the group
    /// lack.
    ///
    /// # Errors
    /// See [`Error`]. A timeout is not an error: see [`Settled::is_settled`].
    pub fn settle(&mut self, timeout: impl Into<Option<Duration>>) -> Result<Settled, Error> {
        self.start_settle(timeout).wait()
    }

    /// As [`settle`](Self::settle), without blocking the thread.
    ///
    /// # Errors
    /// As [`settle`](Self::settle).
    pub async fn settle_async(&mut self, timeout: impl Into<Option<Duration>>) -> Result<Settled, Error> {
        self.start_settle(timeout).await
    }

    /// Begins as [`settle`](Self::settle).
    pub fn start_settle(&mut self, timeout: impl Into<Option<Duration>>) -> Pending<Settled> {
        let Some(average) = &self.steps.average else {
            let (sender, settled) = reply();
            let _ = sender.send(Ok(Settled { is_settled: true, ..Settled::default() }));
            return Pending::new(settled);
        };
        lock(average).start_settle(timeout)
    }
}
