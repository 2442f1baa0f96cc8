//! Calls over TCP of two levels, in this rank's group and among its equals, so that no rank talks
//! to all others.
//!
//! How: one thread makes the calls of both levels in order. Each is first compared, in the groups
//! and then among equals, who learn of a difference in the other groups. So all ranks of the job
//! fail alike, and stay in step.
//! Limits: calls fail once a rank is gone, since no other rank connects its group and its equals.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;

use optireduce_core::levels::{Deferred, Shards};

use super::super::Shared;
use super::super::abandoned::Abandoned;
use super::super::flat_bucket::FlatBucket;
use super::super::options::{BucketOptions, ReduceOp};
use super::super::report::Numbers;
use super::super::request::reply;
use super::super::settle::{Unsettled, add_bytes};
use super::super::{Cause, Error, Request, exact};
use super::fault::Faults;
use super::pipeline::{Pipeline, Steps};
use super::plan::{Plan, lock};
use super::{Core, LevelsBucket};
use crate::control::{ControlError, Terms};
use crate::exact::{ExactData, Typed};
use optireduce_core::Repair;

/// Header of a rank's bytes: job rank and length.
const RANK_BYTES: usize = size_of::<u32>();
const LENGTH_BYTES: usize = size_of::<u64>();

type Task = Box<dyn FnOnce() + Send>;

/// Thread of the calls.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    tasks: mpsc::Sender<Task>,
    /// Job on one level that orders and compares the calls. `None`: the levels do.
    job: Option<Arc<Shared>>,
}

impl Calls {
    pub fn start(job: Option<Arc<Shared>>) -> io::Result<Self> {
        let (tasks, incoming) = mpsc::channel::<Task>();
        let serve = move || incoming.into_iter().for_each(|task| task());
        thread::Builder::new().name("optireduce-levels".into()).spawn(serve)?;
        Ok(Self { tasks, job })
    }

    /// If the thread has ended, the task is dropped.
    pub fn run(&self, task: impl FnOnce() + Send + 'static) {
        let _ = self.tasks.send(Box::new(task));
    }
}

impl Core {
    pub(super) fn new(numbers: Numbers, all: [Arc<Shared>; 3], calls: Calls) -> io::Result<Arc<Self>> {
        let (numbers, pipeline) = (Arc::new(numbers), Pipeline::start()?);
        let faults = Faults::new(numbers.clone(), all);
        let (drift_bytes, declared) = (AtomicU64::default(), AtomicU32::default());
        let (ended, deferred) = (OnceLock::new(), Mutex::default());
        Ok(Arc::new(Self { numbers, faults, pipeline, drift_bytes, calls, declared, ended, deferred }))
    }

    /// Returns the communicators: inside, across, and inside again.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Shared>> {
        self.faults.all.iter()
    }

    pub fn failure(&self) -> Option<Error> {
        self.faults.first().or_else(|| self.all().find_map(|shared| shared.failure()))
    }

    /// Begins a call after all earlier ones, unless the ranks differ.
    pub fn call<T: Send + 'static>(
        self: &Arc<Self>,
        terms: Terms,
        call: impl FnOnce(&Arc<Self>) -> Result<T, Error> + Send + 'static,
    ) -> Request<T> {
        let (sender, reply) = reply();
        let core = self.clone();
        let task = move |same: Result<(), Error>| {
            let result = same.and_then(|()| call(&core));
            if let Some(error) = result.as_ref().err().filter(|error| error.is_fatal()) {
                let _ = core.ended.set(error.clone());
            }
            let _ = sender.send(result);
        };
        match &self.calls.job {
            Some(job) => {
                let (calls, timeout) = (self.calls.clone(), job.timeout);
                job.run(move |channel| {
                    let same = channel.call(&terms, timeout, |_| Ok(())).map_err(Error::from);
                    calls.run(move || task(same));
                });
            }
            None => {
                let core = self.clone();
                self.calls.run(move || task(core.compare(terms)));
            }
        }
        reply.into()
    }

    fn compare(&self, terms: Terms) -> Result<(), Error> {
        if let Some(error) = self.ended.get() {
            return Err(error.clone());
        }
        let [inside, across, _] = &self.faults.all;
        let in_group = inside.call(terms.clone(), |_, _| Ok(())).wait().map_err(self.inside());
        if in_group.as_ref().is_err_and(Error::is_fatal) {
            return in_group;
        }
        let outcome = in_group.as_ref().err().map_or("the same".into(), ToString::to_string);
        let terms = terms.with("the calls in its group", outcome);
        let among_equals = across.call(terms, |_, _| Ok(())).wait().map_err(self.across());
        in_group.and(among_equals)
    }

    /// Names the ranks of the group in which a call failed.
    pub fn inside(&self) -> impl FnOnce(Error) -> Error {
        |source| Cause::InGroup { ranks: self.numbers.inside.clone(), source }.into()
    }

    fn across(&self) -> impl FnOnce(Error) -> Error {
        |source| Cause::InGroup { ranks: self.numbers.across.clone(), source }.into()
    }

    /// Declares a bucket on all levels, on the thread of the calls. `number`: of buckets of the job
    /// before.
    pub fn declare(
        self: &Arc<Self>,
        number: u32,
        elements: usize,
        options: BucketOptions,
    ) -> Result<LevelsBucket, Error> {
        let [inside, across, gather] = &self.faults.all;
        // A later repair would miss the last step.
        let repair = options.repair.map(|repair| if repair == Repair::Off { repair } else { Repair::ThisUpdate });
        let options = options.repair(repair);
        let shards = Shards::new(elements, inside.params.ranks);
        let scatter = FlatBucket::declare::<FlatBucket>(inside, Some(number), elements, options.clone());
        // The last shards may be shorter or empty; equal members have equal shards.
        let shard = inside.shard_range(elements).len();
        let average = (shard > 0).then(|| FlatBucket::declare(across, Some(number), shard, options.clone()));
        // Its values are sums already.
        let options = options.reduce_op(ReduceOp::Avg);
        let gather = FlatBucket::declare(gather, Some(number), shards.gathered_elements(), options);
        let (scatter, average) = (scatter.wait()?, average.map(Request::wait).transpose()?);
        let gather: FlatBucket = FlatBucket::adding_up(gather.wait()?);
        let repairs = scatter.options.repair != Some(Repair::Off);
        let deferred = repairs.then(|| Arc::new(Mutex::new(Deferred::new(elements))));
        lock(&self.deferred).extend(deferred.iter().map(|deferred| (scatter.id, deferred.clone())));
        let (core, abandoned, stream) = (self.clone(), Abandoned::default(), gather.stream_id());
        let plan = Plan { core, shards, deferred, abandoned, stream }.into();
        let share = |bucket| Arc::new(Mutex::new(bucket));
        Ok(LevelsBucket { scatter, steps: Steps { average: average.map(share), gather: share(gather), plan } })
    }

    pub fn all_gather(self: &Arc<Self>, bytes: Vec<u8>) -> Request<Vec<Option<Vec<u8>>>> {
        self.call(Terms::default().with("the call", "exact all_gather"), move |core| {
            let ([inside, across, _], numbers) = (&core.faults.all, &core.numbers);
            let group = exact::all_gather(inside, bytes).wait().map_err(core.inside())?;
            let group = pack(&numbers.inside, &group);
            let groups = exact::all_gather(across, group).wait().map_err(core.across())?;
            let mut all = vec![Vec::new(); numbers.world_size];
            for (group, from) in groups.iter().flatten().zip(&numbers.across) {
                unpack(group, &mut all).ok_or(ControlError::WrongMessage { rank: *from })?;
            }
            Ok(all.into_iter().map(Some).collect())
        })
    }

    pub fn broadcast<D: ExactData>(self: &Arc<Self>, root: usize, data: D) -> Request<D> {
        let Typed { element, bytes } = data.into_typed();
        self.call(exact::broadcast_terms(root, element, bytes.len()), move |core| {
            let ([inside, across, _], numbers) = (&core.faults.all, &core.numbers);
            let root = exact::check_rank("the root", root, numbers.world_size)?;
            // With groups of hosts, only the root's equals know their place.
            let place = numbers.across.iter().position(|rank| *rank == root);
            let is_equal = vec![u8::from(place.is_some())];
            let group = exact::all_gather(inside, is_equal).wait().map_err(core.inside())?;
            let equal = group.iter().position(|is_equal| is_equal.as_deref() == Some(&[1]));
            let equal = equal.ok_or(ControlError::Gone(root))?;
            let mut data = Typed { element, bytes };
            if let Some(place) = place {
                data = exact::broadcast(across, place, data).wait().map_err(core.across())?;
            }
            exact::broadcast(inside, equal, data).wait().map_err(core.inside()).map(D::from_typed)
        })
    }

    /// Ends both levels after all earlier all-reduces, on the thread of the calls.
    pub fn end(&self) -> Result<Unsettled, Error> {
        let (begun, ending) = mpsc::channel();
        let all = self.faults.all.clone();
        self.pipeline.then(move || drop(begun.send(all.map(|shared| shared.start_ending()))));
        let [inside, across, gather] = ending.recv().map_err(|_| Cause::Closed)?;
        let mut unsettled = inside.wait().map_err(self.inside())?;
        add_bytes(&mut unsettled, across.wait().map_err(self.across())?);
        add_bytes(&mut unsettled, gather.wait().map_err(self.inside())?);
        let deferred = lock(&self.deferred);
        add_bytes(&mut unsettled, deferred.iter().map(|(bucket, deferred)| (*bucket, lock(deferred).bytes())));
        Ok(unsettled)
    }
}

fn pack(ranks: &[usize], given: &[Option<Vec<u8>>]) -> Vec<u8> {
    let mut packed = Vec::new();
    for (rank, bytes) in ranks.iter().zip(given.iter().map(|bytes| bytes.as_deref().unwrap_or_default())) {
        packed.extend((*rank as u32).to_le_bytes());
        packed.extend((bytes.len() as u64).to_le_bytes());
        packed.extend(bytes);
    }
    packed
}

/// `None` if the bytes are malformed.
fn unpack(mut packed: &[u8], all: &mut [Vec<u8>]) -> Option<()> {
    while !packed.is_empty() {
        let (rank, rest) = packed.split_first_chunk::<RANK_BYTES>()?;
        let (length, rest) = rest.split_first_chunk::<LENGTH_BYTES>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (bytes, rest) = rest.split_at_checked(length)?;
        *all.get_mut(u32::from_le_bytes(*rank) as usize)? = bytes.to_vec();
        packed = rest;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_or_names_no_rank_is_refused() {
        let packed = pack(&[2, 0], &[Some(vec![1, 2, 3]), Some(vec![])]);
        let unpacked = |packed: &[u8]| {
            let mut all = vec![Vec::new(); 3];
            unpack(packed, &mut all).map(|()| all)
        };
        assert_eq!(unpacked(&packed), Some(vec![vec![], vec![], vec![1, 2, 3]]));
        let first = RANK_BYTES + LENGTH_BYTES + 3;
        for length in (1..packed.len()).filter(|length| *length != first) {
            assert_eq!(unpacked(&packed[..length]), None, "{length} of {} bytes", packed.len());
        }
        assert_eq!(unpacked(&pack(&[3], &[None])), None, "there is no rank 3");
        let huge = [&[0; RANK_BYTES][..], &u64::MAX.to_le_bytes()].concat();
        assert_eq!(unpacked(&huge), None);
    }
}
