//! Whose thread moves the engine on.
//!
//! Why: a thread of its own costs a small collective more than its packets do: the caller wakes the engine, the engine wakes the
//! caller, and each waits for a core. So a caller that blocks takes the engine and moves it on until its call is done. While no
//! caller does, the engine's own thread goes on, since peers that are ahead must find this rank's windows armed and summed however long
//! its trainer computes. It naps while a caller is inside, and for a moment after that, since the next call may follow at once.
//! Callers that find another one inside, and those that do not block, hand in commands and are answered.
//! Whoever moves the engine polls while something happens, looks on for a moment when nothing does, then sleeps until a datagram, a
//! command, a peer message or a timer wakes it. It does not yield: on a busy machine that costs a whole time slice, a sleeper
//! wakes at once.
//! Limits: a thread that panics inside ends the engine; all others get [`Error::Closed`].

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use std::task::Wake;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};

use super::engine::{Engine, Turn};
use super::error::Error;
use super::request::{Reply, block_on_for};
use crate::plane::PlaneError;
use crate::wait::{Sources, Wait};
use optireduce_core::CollectivesError;

/// How long the engine is looked after before who does it sleeps, while collectives run: a caller has nothing else to do with its core, and the
/// engine's thread shares it with the trainer.
const SPIN_OF_CALLER: Duration = Duration::from_micros(30);
const SPIN_OF_THREAD: Duration = Duration::from_micros(10);
/// And of either, on a host with more ranks than cores, where another rank waits for the core.
const SPIN_CROWDED: Duration = Duration::from_micros(2);
/// How long the engine's thread stays away after a caller has left with nothing to do. A bound is longer.
const AWAY: Duration = Duration::from_millis(2);

/// Wakes whoever moves the engine on, from another thread.
#[derive(Debug)]
pub(super) struct Waker {
    event: OwnedFd,
    /// Somebody was woken, and has not looked yet.
    pending: AtomicBool,
    /// A caller is inside, or comes in.
    taken: AtomicBool,
    /// The engine's thread, and whether it waits for no event.
    thread: OnceLock<Thread>,
    napping: AtomicBool,
}

impl Waker {
    pub fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let [pending, taken, napping] = [const { AtomicBool::new(false) }; 3];
        Ok(Self { event, pending, taken, thread: OnceLock::new(), napping })
    }

    pub fn wake(&self) {
        self.pending.store(true, Ordering::SeqCst);
        let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
        if self.napping.load(Ordering::SeqCst) {
            self.thread.get().inspect(|thread| thread.unpark());
        }
    }

    /// Waits for what the data plane waits for, or until somebody is woken.
    ///
    /// # Errors
    /// If the kernel's poll fails.
    pub fn wait(&self, wait: &Wait, sources: &Sources) -> io::Result<()> {
        if wait.until_ready(sources, self.event.as_fd())? {
            // The event may have been written after a look had cleared its flag. Unless it is read nobody can sleep any more.
            self.pending.store(true, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Before a look at what there is to do.
    pub fn clear(&self) {
        if self.pending.swap(false, Ordering::SeqCst) {
            let _ = rustix::io::read(&self.event, &mut [0; 8]);
        }
    }

    /// The engine's thread stays away for so long, or until it is woken. Who is inside looks after what is pending, also on leaving.
    fn nap(&self, nap: Duration) {
        self.napping.store(true, Ordering::SeqCst);
        if self.taken.load(Ordering::SeqCst) || !self.pending.load(Ordering::SeqCst) {
            thread::park_timeout(nap);
        }
        self.napping.store(false, Ordering::SeqCst);
    }
}

/// Wakes whoever waits inside for an answer that another engine gives.
struct Answered(Arc<Waker>);

impl Wake for Answered {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }
}

/// The engine, and who moves it on.
pub(super) struct Driver {
    /// `None`: it has ended.
    engine: Mutex<Option<Engine>>,
    /// Waited for without the engine, so that a caller finds it free.
    sources: Sources,
    waker: Arc<Waker>,
    epoch: Instant,
    /// Why the engine does nothing any more.
    failure: Arc<OnceLock<Error>>,
    /// Until when the engine's thread stays away, in ns since `epoch`.
    away_until_ns: AtomicU64,
    /// How long the engine is looked after at most.
    spin_max: Duration,
}

impl Driver {
    /// `ranks_a_core`: ranks of this host for each of its cores, rounded up.
    pub fn new(engine: Engine, waker: Arc<Waker>, ranks_a_core: u32) -> io::Result<Self> {
        let spin_max = if ranks_a_core > 1 { SPIN_CROWDED } else { Duration::MAX };
        let (sources, epoch, failure) = (engine.sources()?, Instant::now(), engine.failure());
        let (engine, away_until_ns) = (Mutex::new(Some(engine)), AtomicU64::new(0));
        Ok(Self { engine, sources, waker, epoch, failure, away_until_ns, spin_max })
    }

    pub fn wake(&self) {
        self.waker.wake();
    }

    /// Why the engine does nothing any more, once that is so. Does not wait.
    pub fn failure(&self) -> Option<Error> {
        self.failure.get().cloned()
    }

    /// What the engine's own thread does, until the engine has ended.
    pub fn serve(&self) {
        let _ = self.waker.thread.set(thread::current());
        // Whatever ends this thread, nobody waits for an engine that nobody moves on.
        let _end = End(self);
        let mut pace = Pace::new(SPIN_OF_THREAD.min(self.spin_max));
        loop {
            if let Some(nap) = self.away() {
                self.waker.nap(nap);
                continue;
            }
            let wait = match self.engine.try_lock() {
                Ok(mut engine) => match self.turn(&mut engine) {
                    Turn::Ended => return,
                    turn => pace.rest(turn).map(|wait| doze(&engine, wait)),
                },
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Poisoned(_)) => return,
            };
            if let Some(wait) = wait
                && let Err(error) = self.waker.wait(&wait, &self.sources)
                && let Some(engine) = self.lock().as_mut()
            {
                engine.fail(CollectivesError::Plane(PlaneError::Wait(error)).into());
            }
        }
    }

    /// Waits for the answer to a command, at most `timeout`, and moves the engine on meanwhile, unless another caller does.
    /// `may_be_passed`: another engine may answer, and has to wake this one.
    pub fn complete<T>(
        &self,
        reply: &mut Reply<T>,
        timeout: Option<Duration>,
        may_be_passed: bool,
    ) -> Option<Result<T, Error>> {
        let begin = Instant::now();
        let waker = may_be_passed.then(|| Arc::new(Answered(self.waker.clone())).into());
        let left = || timeout.map(|timeout| timeout.saturating_sub(begin.elapsed()));
        if !self.waker.taken.swap(true, Ordering::SeqCst) {
            let mut inside = Inside { driver: self, at_rest: false };
            let mut engine = self.lock();
            let mut pace = Pace::new(SPIN_OF_CALLER.min(self.spin_max));
            loop {
                let turn = self.turn(&mut engine);
                let answer = match &waker {
                    None => reply.try_take(),
                    Some(waker) => reply.take_or_wake(waker),
                };
                if let Some(answer) = answer {
                    inside.at_rest = engine.as_ref().is_none_or(Engine::is_at_rest);
                    return Some(answer);
                }
                let left = left();
                if left.is_some_and(|left| left.is_zero()) || matches!(turn, Turn::Ended) {
                    break;
                }
                let wait = pace.rest(turn).map(|wait| doze(&engine, wait.at_most(left.unwrap_or(Duration::MAX))));
                let waited = wait.map(|wait| self.waker.wait(&wait, &self.sources));
                if let (Some(Err(error)), Some(engine)) = (waited, engine.as_mut()) {
                    engine.fail(CollectivesError::Plane(PlaneError::Wait(error)).into());
                }
            }
        } else {
            self.wake();
        }
        block_on_for(reply, left())
    }

    /// Moves the engine on, and drops it if that was its end.
    fn turn(&self, engine: &mut Option<Engine>) -> Turn {
        self.waker.clear();
        let turn = engine.as_mut().map_or(Turn::Ended, Engine::turn);
        if matches!(turn, Turn::Ended) {
            self.end(engine);
        }
        turn
    }

    /// Drops the engine; whoever is told so then finds out why.
    fn end(&self, engine: &mut Option<Engine>) {
        let _ = self.failure.set(Error::Closed);
        *engine = None;
    }

    /// How long the engine's thread is to stay away, if it is.
    fn away(&self) -> Option<Duration> {
        if self.waker.taken.load(Ordering::SeqCst) {
            return Some(AWAY);
        }
        let until_ns = self.away_until_ns.load(Ordering::Relaxed);
        let left = Duration::from_nanos(until_ns).saturating_sub(self.epoch.elapsed());
        Some(left).filter(|left| !left.is_zero() && !self.waker.pending.load(Ordering::SeqCst))
    }

    /// The engine; none if a thread has panicked inside.
    fn lock(&self) -> MutexGuard<'_, Option<Engine>> {
        self.engine.lock().unwrap_or_else(|poisoned| {
            let mut engine = poisoned.into_inner();
            self.end(&mut engine);
            engine
        })
    }
}

/// The wait of an engine that has nothing to do.
fn doze(engine: &Option<Engine>, wait: Wait) -> Wait {
    engine.as_ref().map_or(wait, |engine| engine.doze(wait))
}

/// A caller is inside. When it leaves, the engine's thread goes on: at once, if there is something to do, else after a moment.
struct Inside<'a> {
    driver: &'a Driver,
    at_rest: bool,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let Driver { waker, epoch, away_until_ns, .. } = self.driver;
        let until = if self.at_rest { epoch.elapsed() + AWAY } else { Duration::ZERO };
        away_until_ns.store(until.as_nanos() as u64, Ordering::Relaxed);
        waker.taken.store(false, Ordering::SeqCst);
        if !self.at_rest || waker.pending.load(Ordering::SeqCst) {
            waker.wake();
        }
    }
}

/// The engine's thread ends.
struct End<'a>(&'a Driver);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.end(&mut self.0.lock());
    }
}

/// When a thread that moves the engine on sleeps.
struct Pace {
    /// How long it looks on when nothing happens any more.
    spin: Duration,
    busy_until: Instant,
}

impl Pace {
    fn new(spin: Duration) -> Self {
        Self { spin, busy_until: Instant::now() }
    }

    /// What to wait for after a turn; `None`: not yet.
    fn rest(&mut self, turn: Turn) -> Option<Wait> {
        match turn {
            Turn::Worked => self.busy_until = Instant::now() + self.spin,
            Turn::Idle { wait, running } if !running || Instant::now() >= self.busy_until => return Some(wait),
            Turn::Idle { .. } => std::hint::spin_loop(),
            Turn::Ended => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::free_root;
    use crate::{Bound, BucketOptions, Communicator, Early, Launch};

    /// The two ranks of a job, each on a thread of its own.
    fn two_ranks<T: Send>(rank: impl Fn(usize, Communicator) -> T + Sync) -> Vec<T> {
        let root = free_root();
        let connect = |rank| {
            let launch = Launch::new(rank, 2, root.clone()).unwrap();
            let builder = Communicator::builder().launch(launch).timeout(Duration::from_secs(20));
            builder.bound(Bound::Fixed(Duration::from_secs(3))).early(Early::Off).connect()
        };
        let run = |number| rank(number, connect(number).unwrap());
        thread::scope(|threads| {
            let ranks = [0, 1].map(|number| threads.spawn(move || run(number)));
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        })
    }

    /// A wake may cross a look, and its event stay readable: that keeps nobody awake for more than one more look.
    #[test]
    fn whoever_was_woken_and_has_looked_can_sleep_again() {
        let (waker, quiet) = (Waker::new().unwrap(), Waker::new().unwrap());
        let (at_once, sources) = (Wait::new(false, Duration::ZERO), Sources::new(quiet.event, None));
        let (turn, rounds, mut crossed, mut awake) = (AtomicU64::new(0), 50_000, 0, 0);
        let is_readable = || at_once.until_ready(&sources, waker.event.as_fd()).unwrap();
        thread::scope(|threads| {
            threads.spawn(|| {
                for round in 0..rounds {
                    while turn.load(Ordering::SeqCst) < 2 * round + 1 {
                        thread::yield_now();
                    }
                    waker.wake();
                    turn.store(2 * round + 2, Ordering::SeqCst);
                }
            });
            for round in 0..rounds {
                turn.store(2 * round + 1, Ordering::SeqCst);
                while turn.load(Ordering::SeqCst) < 2 * round + 2 {
                    waker.clear();
                }
                waker.clear();
                crossed += u32::from(is_readable());
                waker.wait(&at_once, &sources).unwrap();
                waker.clear();
                awake += u32::from(is_readable());
            }
        });
        assert_eq!(awake, 0, "of {rounds} wakes {crossed} crossed a look, and so many left the event readable");
    }

    #[test]
    fn after_a_panic_inside_all_callers_are_told_and_nobody_waits() {
        let told = two_ranks(|_, mut communicator| {
            let mut bucket = communicator.bucket(100, BucketOptions::new()).unwrap();
            bucket.all_reduce(&mut [1.0; 100]).unwrap();
            communicator.barrier().unwrap();
            // The peer waits for this rank's call, and has to be told, too.
            let request = bucket.start_all_reduce(vec![1.0; 100]);
            let driver = &communicator.shared.driver;
            let panics = || {
                driver.waker.taken.store(true, Ordering::SeqCst);
                let _inside = Inside { driver, at_rest: false };
                let _engine = driver.lock();
                panic!("a caller panics inside");
            };
            assert!(thread::scope(|threads| threads.spawn(panics).join()).is_err());
            let first = request.wait().map(drop);
            let later = [bucket.all_reduce(&mut [1.0; 100]).map(drop), communicator.metrics().map(drop)];
            assert!(matches!(communicator.failure(), Some(Error::Closed)));
            drop(communicator);
            (first, later)
        });
        for (first, later) in told {
            // It may have been finished before.
            assert!(matches!(first, Ok(()) | Err(Error::Closed)), "{first:?}");
            assert!(later.iter().all(|one| matches!(one, Err(Error::Closed))), "{later:?}");
        }
    }

    /// Callers that block at once, of which one moves the engine on; requests that are waited for later, or for too short a time.
    #[test]
    fn whoever_moves_the_engine_on_every_call_is_answered() {
        const CALLS: usize = 200;
        two_ranks(|rank, mut communicator| {
            let buckets = [1000, 3000].map(|elements| communicator.bucket(elements, BucketOptions::new()).unwrap());
            let turn = &Mutex::new(0);
            thread::scope(|threads| {
                for (index, mut bucket) in buckets.into_iter().enumerate() {
                    threads.spawn(move || {
                        for call in 0..CALLS {
                            // All ranks must call in the same order; their calls overlap all the same.
                            let mut request = loop {
                                let mut next = turn.lock().unwrap();
                                if *next == 2 * call + index {
                                    *next += 1;
                                    break bucket.start_all_reduce(vec![rank as f32; bucket.elements()]);
                                }
                                drop(next);
                                thread::yield_now();
                            };
                            while call % 3 == 0 && !request.wait_timeout(Duration::from_micros(50)) {}
                            let (mean, report) = request.wait().unwrap();
                            assert_eq!((report.lost_bytes(), &mean), (0, &vec![0.5; bucket.elements()]), "{report}");
                        }
                    });
                }
            });
            communicator.close().unwrap();
        });
    }
}
