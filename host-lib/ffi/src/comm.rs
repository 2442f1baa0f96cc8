//! Communicator behind a handle. Collective calls are made one at a time; an abort ends them all.

use std::ops::Range;
use std::pin::pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use optireduce::{Communicator, ControlError, Error, PartialOptions, PartialReduce, Request, Settings};
use optireduce_core::protocol::Parts;

use crate::callbacks::Callbacks;
use crate::guard::Live;
use crate::memory::Memory;
use crate::status::{Failure, is_fatal};
use crate::types::optr_status_t::{OPTR_ABORTED, OPTR_BUSY, OPTR_CLOSED};

const RUNS: u8 = 0;
const FINALIZED: u8 = 1;
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
    /// Threads that wait for a future that does not end with the communicator. They check `state`
    /// when woken.
    waiting: Mutex<Vec<Waker>>,
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

impl Comm {
    pub fn connect(settings: Settings) -> Result<Self, Failure> {
        let live = Live::new();
        Ok(Self::of_communicator(Communicator::connect(settings).wait()?, live))
    }

    fn of_communicator(communicator: Communicator, live: Live) -> Self {
        let (rank, world_size) = (communicator.rank(), communicator.world_size());
        let memory = Memory::default();
        Self {
            communicator: Mutex::new(Some(communicator)),
            turn: Mutex::default(),
            state: AtomicU8::new(RUNS),
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
        lock(&self.communicator).as_mut().map(begin).ok_or_else(|| self.ended())
    }

    /// Makes a collective call and waits for it, or for the end of the communicator.
    pub fn call<T>(&self, begin: impl FnOnce(&mut Communicator) -> Request<T>) -> Result<T, Failure> {
        let _turn = self.turn()?;
        self.begin(begin)?.wait().map_err(|error| self.failed(error))
    }

    pub fn partial_reduce(&self, elements: usize, options: PartialOptions) -> Result<Arc<Averages>, Failure> {
        let _turn = self.turn()?;
        let declaring = self.begin(|communicator| communicator.partial_reduce(elements, options))?;
        let partial = Arc::new(Mutex::new(Some(self.connected(declaring)?)));
        let mut partials = lock(&self.partials);
        partials.retain(|one| one.strong_count() > 0);
        partials.push(Arc::downgrade(&partial));
        drop(partials);
        // `end` may have missed it in the list.
        if self.has_ended() {
            lock(&partial).take();
            return Err(self.ended());
        }
        Ok(partial)
    }

    /// Creates a communicator of the ranks of a color, `None` for a rank without one. It does not
    /// end with this one.
    pub fn split(&self, color: Option<usize>) -> Result<Option<Self>, Failure> {
        let (_turn, live) = (self.turn()?, Live::new());
        let splitting = self.begin(|communicator| communicator.split(color))?;
        Ok(self.connected(splitting)?.map(|communicator| Self::of_communicator(communicator, live)))
    }

    fn connected<T>(&self, connecting: Request<T>) -> Result<T, Failure> {
        let connected = self.until_ended(connecting).ok_or_else(|| self.ended())?;
        connected.map_err(|error| match error {
            _ if self.has_ended() => self.ended(),
            Error::Control(_) => self.failed(error),
            error => error.into(),
        })
    }

    /// Waits for a future, or the end of the communicator.
    pub fn wait_for<T>(&self, future: impl Future<Output = Result<T, Error>>) -> Result<T, Failure> {
        let done = self.until_ended(future).ok_or_else(|| self.ended())?;
        done.map_err(|error| self.of(error))
    }

    pub fn finalize(&self) -> Result<(), Failure> {
        let _turn = self.turn()?;
        let communicator = lock(&self.communicator).take().ok_or_else(|| self.ended())?;
        let closed = self.until_ended(communicator.close());
        let result = closed.ok_or_else(|| self.ended())?.map_err(|error| self.failed(error));
        let _ = self.state.compare_exchange(RUNS, FINALIZED, Ordering::SeqCst, Ordering::SeqCst);
        result
    }

    pub fn abort(&self) {
        self.end(ABORTED);
    }

    /// As [`abort`](Self::abort), unless the communicator has already ended.
    pub fn destroy(&self) {
        self.end(DESTROYED);
    }

    fn end(&self, state: u8) {
        let _ = self.state.compare_exchange(RUNS, state, Ordering::SeqCst, Ordering::SeqCst);
        lock(&self.waiting).drain(..).for_each(Waker::wake);
        let communicator = lock(&self.communicator).take();
        let partials: Vec<_> = lock(&self.partials).drain(..).filter_map(|one| lock(&*one.upgrade()?).take()).collect();
        // This ends all waits. It may take up to a second, so no lock is held.
        drop((communicator, partials));
    }

    /// Converts an error of a collective call, bucket or request. Keeps the first fatal one.
    pub fn failed(&self, error: Error) -> Failure {
        let fatal = is_fatal(&error);
        let failure = self.of(error);
        if fatal && !self.has_ended() {
            lock(&self.failure).get_or_insert_with(|| failure.clone());
        }
        failure
    }

    /// Converts an error of a call that leaves the communicator usable, such as a message.
    pub fn of(&self, error: Error) -> Failure {
        match error {
            Error::Closed | Error::Control(ControlError::Closed) if self.has_ended() => self.ended(),
            error => error.into(),
        }
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

    fn turn(&self) -> Result<MutexGuard<'_, ()>, Failure> {
        match self.turn.try_lock() {
            Ok(turn) => Ok(turn),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if self.has_ended() => Err(self.ended()),
            Err(TryLockError::WouldBlock) => {
                let text = "another thread is in a call of this communicator; make calls one after the other, in the same order \
                            on all ranks";
                Err(Failure::new(OPTR_BUSY, text))
            }
        }
    }

    fn has_ended(&self) -> bool {
        self.state.load(Ordering::SeqCst) != RUNS
    }

    fn ended(&self) -> Failure {
        match self.state.load(Ordering::SeqCst) {
            ABORTED => Failure::new(OPTR_ABORTED, "the communicator was aborted; destroy it, and make a new one"),
            DESTROYED => Failure::new(OPTR_CLOSED, "the communicator was destroyed; make a new one"),
            _ => Failure::new(OPTR_CLOSED, "the communicator was finalized; destroy it, and make a new one"),
        }
    }

    /// Waits for a future that does not end with the communicator. Returns `None` if the
    /// communicator ended first.
    fn until_ended<F: Future>(&self, future: F) -> Option<F::Output> {
        struct Unpark(Thread);
        impl Wake for Unpark {
            fn wake(self: Arc<Self>) {
                self.0.unpark();
            }
        }
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        // Registered before the check of the state: either this thread sees the end, or `end` wakes
        // it.
        lock(&self.waiting).push(waker.clone());
        let mut future = pin!(future);
        let output = loop {
            if self.has_ended() {
                break None;
            }
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                break Some(output);
            }
            thread::park();
        };
        lock(&self.waiting).retain(|one| !one.will_wake(&waker));
        output
    }
}

/// Ignores poisoning, since no panic leaves the data in an invalid state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
