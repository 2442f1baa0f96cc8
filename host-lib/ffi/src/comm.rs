//! Communicator behind a handle. Collective calls are made one at a time; an abort ends them all.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::task::Waker;

use optireduce::binding;
use optireduce::{Communicator, Error, PartialReduce, Request, Settings};
use optireduce_core::protocol::Parts;

use crate::callbacks::Callbacks;
use crate::guard::Live;
use crate::memory::Memory;
use crate::registry::Kind;
use crate::status::Failure;
use crate::types::optr_comm_t;
use crate::types::optr_status_t::{OPTR_ABORTED, OPTR_BUSY, OPTR_CLOSED};

const RUNS: u8 = 0;
const CLOSED: u8 = 1;
const ABORTED: u8 = 2;
const DESTROYED: u8 = 3;

/// Locked only to start something. `None` once it or its communicator has ended.
pub type Averages = Mutex<Option<PartialReduce>>;

#[derive(Debug)]
pub struct Comm {
    /// Locked only to start something, never while a thread waits. `None` once it has ended.
    communicator: Mutex<Option<Communicator>>,
    /// Held by the thread that waits in a collective call.
    turn: Mutex<()>,
    state: AtomicU8,
    /// A close has begun, and no call begins after it.
    is_closing: AtomicBool,
    /// Waiters for operations that do not end with the communicator. They check `state` when woken.
    waiting: Mutex<BTreeMap<u64, Waker>>,
    /// These end with the communicator.
    partials: Mutex<Vec<Weak<Averages>>>,
    /// First fatal error.
    failure: Mutex<Option<Failure>>,
    memory: Memory,
    callbacks: Callbacks,
    rank: usize,
    world_size: usize,
    _live: Live,
}

impl Kind for Comm {
    type Handle = optr_comm_t;
    const NAME: &str = "a communicator";
    const MADE_BY: &str = "optr_comm_init or optr_comm_init_rank";
    const TAG: usize = 1;

    fn owner(&self) -> usize {
        0
    }
}

impl Comm {
    pub fn connect(settings: Settings) -> Result<Self, Failure> {
        let live = Live::new();
        Ok(Self::of_communicator(Communicator::connect(settings).wait()?, live))
    }

    pub fn of_communicator(communicator: Communicator, live: Live) -> Self {
        let (rank, world_size) = (communicator.rank(), communicator.world_size());
        let memory = Memory::default();
        Self {
            communicator: Mutex::new(Some(communicator)),
            turn: Mutex::default(),
            state: AtomicU8::new(RUNS),
            is_closing: AtomicBool::new(false),
            waiting: Mutex::default(),
            partials: Mutex::default(),
            failure: Mutex::default(),
            memory,
            callbacks: Callbacks::default(),
            rank,
            world_size,
            _live: live,
        }
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    pub fn world_size(&self) -> usize {
        self.world_size
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    pub fn callbacks(&self) -> &Callbacks {
        &self.callbacks
    }

    pub fn shard_range(&self, elements: usize) -> Range<usize> {
        Parts::new(elements, self.world_size).of(self.rank)
    }

    pub fn begin<T>(&self, begin: impl FnOnce(&mut Communicator) -> T) -> Result<T, Failure> {
        let mut communicator = lock(&self.communicator);
        let usable = communicator.as_mut().filter(|_| !self.is_closing.load(Ordering::SeqCst));
        usable.map(begin).ok_or_else(|| self.ended())
    }

    /// Begins to close the communicator, after which no call begins. It stays here, so that an
    /// abort can end the close.
    pub fn begin_close(&self) -> Result<Request<()>, Failure> {
        self.begin(|communicator| {
            self.is_closing.store(true, Ordering::SeqCst);
            binding::start_close(communicator)
        })
    }

    /// Drops the closed communicator.
    pub fn end_close(&self) {
        let _ = self.state.compare_exchange(RUNS, CLOSED, Ordering::SeqCst, Ordering::SeqCst);
        let communicator = lock(&self.communicator).take();
        // This may take up to a second, so the lock is not held.
        drop(communicator);
    }

    /// Keeps a partial reduce to end it with the communicator.
    pub fn keep(&self, partial: PartialReduce) -> Result<Arc<Averages>, Failure> {
        let partial = Arc::new(Mutex::new(Some(partial)));
        let mut partials = lock(&self.partials);
        partials.retain(|one| one.strong_count() > 0);
        partials.push(Arc::downgrade(&partial));
        drop(partials);
        // `stop` may have missed it in the list.
        if self.has_ended() {
            lock(&partial).take();
            return Err(self.ended());
        }
        Ok(partial)
    }

    /// End of this communicator, for an operation that would outlive it.
    pub fn ends(self: &Arc<Self>) -> Ends {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Ends { comm: self.clone(), key: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    pub fn abort(&self) {
        self.stop(ABORTED);
    }

    /// As [`abort`](Self::abort), unless the communicator has already ended.
    pub fn destroy(&self) {
        self.stop(DESTROYED);
    }

    fn stop(&self, state: u8) {
        let _ = self.state.compare_exchange(RUNS, state, Ordering::SeqCst, Ordering::SeqCst);
        std::mem::take(&mut *lock(&self.waiting)).into_values().for_each(Waker::wake);
        let communicator = lock(&self.communicator).take();
        let partials: Vec<_> = lock(&self.partials).drain(..).filter_map(|one| lock(&*one.upgrade()?).take()).collect();
        // This ends all waits. It may take up to a second, so no lock is held.
        drop((communicator, partials));
    }

    /// Converts an error of a collective call, bucket or request. Keeps the first fatal one.
    pub fn failed(&self, error: Error) -> Failure {
        let fatal = error.is_fatal();
        let failure = self.of(error);
        if fatal && !self.has_ended() {
            lock(&self.failure).get_or_insert_with(|| failure.clone());
        }
        failure
    }

    /// Converts an error of a call that leaves the communicator usable, such as a message.
    pub fn of(&self, error: Error) -> Failure {
        let failure = Failure::from(error);
        if failure.status == OPTR_CLOSED && self.has_ended() { self.ended() } else { failure }
    }

    /// Returns the first fatal error, including one since the last call.
    pub fn async_error(&self) -> Option<Failure> {
        if self.state.load(Ordering::SeqCst) == ABORTED {
            return Some(self.ended());
        }
        if let Ok(Some(error)) = self.begin(|communicator| communicator.failure()) {
            self.failed(error);
        }
        lock(&self.failure).clone()
    }

    /// Returns the failure of all operations after an abort or destruction.
    pub fn end_of_all(&self) -> Option<Failure> {
        matches!(self.state.load(Ordering::SeqCst), ABORTED | DESTROYED).then(|| self.ended())
    }

    /// Returns the guard of a call that blocks; `None` if it does not.
    pub fn turn(&self, blocks: bool) -> Result<Option<MutexGuard<'_, ()>>, Failure> {
        let busy = "another thread is in a call of this communicator; make calls one after the other, in the same order on \
                    all ranks";
        match turn(&self.turn, busy) {
            _ if !blocks => Ok(None),
            Err(_) if self.has_ended() => Err(self.ended()),
            held => held.map(Some),
        }
    }

    pub fn has_ended(&self) -> bool {
        self.state.load(Ordering::SeqCst) != RUNS
    }

    pub fn ended(&self) -> Failure {
        match self.state.load(Ordering::SeqCst) {
            ABORTED => Failure::new(OPTR_ABORTED, "the communicator was aborted; destroy it, and make a new one"),
            DESTROYED => Failure::new(OPTR_CLOSED, "the communicator was destroyed; make a new one"),
            _ => Failure::new(OPTR_CLOSED, "the communicator was closed; destroy it, and make a new one"),
        }
    }
}

/// Returns the guard of a call that must not run on two threads, or [`OPTR_BUSY`].
pub fn turn<'a, T>(mutex: &'a Mutex<T>, busy: &str) -> Result<MutexGuard<'a, T>, Failure> {
    match mutex.try_lock() {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => Err(Failure::new(OPTR_BUSY, busy)),
    }
}

/// End of a communicator, which wakes the waiter of an operation.
#[derive(Debug)]
pub struct Ends {
    comm: Arc<Comm>,
    key: u64,
}

impl Ends {
    /// Returns whether the communicator has ended; its end wakes `waker` otherwise.
    pub fn have_come(&self, waker: &Waker) -> bool {
        // Registered before the check of the state: either this thread sees the end, or `stop`
        // wakes it.
        lock(&self.comm.waiting).insert(self.key, waker.clone());
        self.comm.has_ended()
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        lock(&self.comm.waiting).remove(&self.key);
    }
}

/// Ignores poisoning, since no panic leaves the data in an invalid state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
