//! A communicator behind a handle: calls of all ranks are made one at a time, and all of them end when it is aborted.

use std::ops::Range;
use std::pin::pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use optireduce::{Builder, Communicator, ConnectError, ControlError, Error, PartialOptions, PartialReduce};
use optireduce_core::protocol::Parts;

use crate::guard::Live;
use crate::handle::Handle;
use crate::memory::Memory;
use crate::status::{Failure, is_fatal};
use crate::types::optr_status_t::{OPTR_ABORTED, OPTR_BUSY, OPTR_CLOSED};

/// What has become of a communicator.
const RUNS: u8 = 0;
const FINALIZED: u8 = 1;
const ABORTED: u8 = 2;
const DESTROYED: u8 = 3;

/// Averages of groups of ranks, locked only while something is begun. `None`: closed or destroyed, or their communicator was.
pub type Averages = Mutex<Option<PartialReduce>>;

#[derive(Debug)]
pub struct Comm {
    /// Locked only while something is begun, never while a thread waits. `None`: finalized, aborted or destroyed.
    communicator: Mutex<Option<Communicator>>,
    /// Of the thread that waits in a call of all ranks.
    turn: Mutex<()>,
    state: AtomicU8,
    /// Wakes the threads that wait for what is not the communicator's to end: they look at `state` then.
    waiting: Mutex<Vec<Waker>>,
    /// Of partial reduces: they end with it.
    partials: Mutex<Vec<Weak<Averages>>>,
    /// Why it is of no use any more.
    failure: Mutex<Option<Failure>>,
    memory: Memory,
    rank: usize,
    world_size: usize,
    _live: Live,
}

impl Comm {
    pub fn connect(builder: Builder) -> Result<Self, Failure> {
        let live = Live::new();
        Ok(Self::of_communicator(builder.connect()?, live))
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

    /// Memory that travels without a copy.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The elements of a buffer that belong to this rank.
    pub fn shard_range(&self, elements: usize) -> Range<usize> {
        Parts::new(elements, self.world_size).of(self.rank)
    }

    /// Begins something. Does not wait.
    pub fn begin<T>(&self, begin: impl FnOnce(&mut Communicator) -> T) -> Result<T, Failure> {
        lock(&self.communicator).as_mut().map(begin).ok_or_else(|| self.ended())
    }

    /// Makes a call of all ranks and waits for it. When the communicator is ended, so is the call.
    pub fn call<H: Handle>(&self, begin: impl FnOnce(&mut Communicator) -> H) -> Result<H::Done, Failure> {
        let _turn = self.turn()?;
        self.begin(begin)?.wait().map_err(|error| self.failed(error))
    }

    /// Declares averages of groups of ranks. When the communicator is ended, so are they.
    pub fn partial_reduce(&self, elements: usize, options: PartialOptions) -> Result<Arc<Averages>, Failure> {
        let _turn = self.turn()?;
        let declaring = self.begin(|communicator| communicator.start_partial_reduce(elements, options))?;
        let partial = Arc::new(Mutex::new(Some(self.connected(declaring)?)));
        let mut partials = lock(&self.partials);
        partials.retain(|one| one.strong_count() > 0);
        partials.push(Arc::downgrade(&partial));
        drop(partials);
        // Ended meanwhile: whoever did so may not have seen it.
        if self.has_ended() {
            lock(&partial).take();
            return Err(self.ended());
        }
        Ok(partial)
    }

    /// Makes a communicator of the ranks of a colour; `None`: this one has none. It is not ended with this one.
    pub fn split(&self, colour: Option<usize>) -> Result<Option<Self>, Failure> {
        let (_turn, live) = (self.turn()?, Live::new());
        let splitting = self.begin(|communicator| communicator.start_split(colour))?;
        Ok(self.connected(splitting)?.map(|communicator| Self::of_communicator(communicator, live)))
    }

    /// Waits for new connections, unless the communicator is ended meanwhile.
    fn connected<T>(&self, connecting: impl Future<Output = Result<T, ConnectError>>) -> Result<T, Failure> {
        let connected = self.until_ended(connecting).ok_or_else(|| self.ended())?;
        connected.map_err(|error| match error {
            _ if self.has_ended() => self.ended(),
            ConnectError::Control(error) => self.failed(error.into()),
            error => error.into(),
        })
    }

    /// Waits for something, unless the communicator is ended meanwhile.
    pub fn wait_for<T>(&self, future: impl Future<Output = Result<T, Error>>) -> Result<T, Failure> {
        let done = self.until_ended(future).ok_or_else(|| self.ended())?;
        done.map_err(|error| self.of(error))
    }

    /// Ends the job: all ranks confirm that they have called the same.
    pub fn finalize(&self) -> Result<(), Failure> {
        let _turn = self.turn()?;
        let communicator = lock(&self.communicator).take().ok_or_else(|| self.ended())?;
        let closed = self.until_ended(communicator.close_async());
        let result = closed.ok_or_else(|| self.ended())?.map_err(|error| self.failed(error));
        let _ = self.state.compare_exchange(RUNS, FINALIZED, Ordering::SeqCst, Ordering::SeqCst);
        result
    }

    /// Ends all its calls, and its connections.
    pub fn abort(&self) {
        self.end(ABORTED);
    }

    /// As [`abort`](Self::abort), if it has not ended before.
    pub fn destroy(&self) {
        self.end(DESTROYED);
    }

    fn end(&self, state: u8) {
        let _ = self.state.compare_exchange(RUNS, state, Ordering::SeqCst, Ordering::SeqCst);
        lock(&self.waiting).drain(..).for_each(Waker::wake);
        let communicator = lock(&self.communicator).take();
        let partials: Vec<_> = lock(&self.partials).drain(..).filter_map(|one| lock(&*one.upgrade()?).take()).collect();
        // All that waits ends with them. Without the locks: that may take a moment.
        drop((communicator, partials));
    }

    /// What an error means to the caller of a call of all ranks, of a bucket or a request. The first that is fatal is kept.
    pub fn failed(&self, error: Error) -> Failure {
        let fatal = is_fatal(&error);
        let failure = self.of(error);
        if fatal && !self.has_ended() {
            lock(&self.failure).get_or_insert_with(|| failure.clone());
        }
        failure
    }

    /// What an error means to the caller. Of a message: the communicator can be used whatever it is.
    pub fn of(&self, error: Error) -> Failure {
        match error {
            Error::Closed | Error::Control(ControlError::Closed) if self.has_ended() => self.ended(),
            error => error.into(),
        }
    }

    /// Why it is of no use any more, if it is not; also what has gone wrong since the last call.
    pub fn async_error(&self) -> Option<Failure> {
        if self.state.load(Ordering::SeqCst) == ABORTED {
            return Some(self.ended());
        }
        if let Ok(Some(error)) = self.begin(|communicator| communicator.failure()) {
            self.failed(error);
        }
        lock(&self.failure).clone()
    }

    /// Why nothing of it goes on: it was aborted or destroyed. `None`: it was not.
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

    /// Waits for a future that does not end with the communicator; `None`: it was aborted or destroyed meanwhile.
    fn until_ended<F: Future>(&self, future: F) -> Option<F::Output> {
        struct Unpark(Thread);
        impl Wake for Unpark {
            fn wake(self: Arc<Self>) {
                self.0.unpark();
            }
        }
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        // Before the look at the state, so that either this thread sees the end, or whoever ends it sees this thread.
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

/// Who panicked while it had the lock has left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
