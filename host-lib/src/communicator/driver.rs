//! Chooses the thread that drives the engine.
//!
//! Why: in a small collective, waking another thread costs more than the packets. So a blocking
//! caller drives the engine until its call is done. Otherwise the engine's own thread does, since
//! peers may be ahead while this rank computes. That thread naps while a caller is inside, and
//! briefly afterwards, since the next call may follow.
//!
//! The driving thread polls while there is work, spins briefly, then sleeps until a datagram, a
//! command, a peer message or a timer wakes it. It does not yield, which costs a whole time slice
//! on a busy host. If it panics, the engine ends and all others get
//! [`ErrorKind::Closed`](crate::ErrorKind::Closed).

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use std::task::Wake;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};

use super::engine::{Engine, Turn};
use super::error::{Cause, Error};
use super::request::{Reply, block_on_for};
use crate::plane::PlaneError;
use crate::wait::{Sources, Wait};
use optireduce_core::CollectivesError;

/// Spin before sleep. A blocked caller does not need its core; the engine's thread shares one with
/// the trainer.
const SPIN_OF_CALLER: Duration = Duration::from_micros(30);
const SPIN_OF_THREAD: Duration = Duration::from_micros(10);
/// With more ranks than cores, another rank needs the core.
const SPIN_CROWDED: Duration = Duration::from_micros(2);
/// Nap after a caller has left; shorter than any measured bound.
const AWAY: Duration = Duration::from_millis(2);

#[derive(Debug)]
pub(super) struct Waker {
    event: OwnedFd,
    /// A wake that the driving thread has not yet cleared.
    pending: AtomicBool,
    /// A caller is inside, or entering.
    taken: AtomicBool,
    /// Engine's thread. `napping`: outside of `wait`, where the event does not wake it.
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

    /// Waits for the sources of the data plane, or until `wake`.
    pub fn wait(&self, wait: &Wait, sources: &Sources) -> io::Result<()> {
        if wait.until_ready(sources, self.event.as_fd())? {
            // A wake may write the event after `clear` has reset its flag. Set the flag again, so
            // that the next `clear` reads the event; left readable, it would end every later sleep.
            self.pending.store(true, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Clears pending wakes; must precede each turn.
    pub fn clear(&self) {
        if self.pending.swap(false, Ordering::SeqCst) {
            let _ = rustix::io::read(&self.event, &mut [0; 8]);
        }
    }

    /// A caller inside handles pending wakes, also when it leaves.
    fn nap(&self, nap: Duration) {
        self.napping.store(true, Ordering::SeqCst);
        if self.taken.load(Ordering::SeqCst) || !self.pending.load(Ordering::SeqCst) {
            thread::park_timeout(nap);
        }
        self.napping.store(false, Ordering::SeqCst);
    }
}

/// Wakes the caller inside when another engine replies.
struct Answered(Arc<Waker>);

impl Wake for Answered {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }
}

pub(super) struct Driver {
    /// `None` once it has ended.
    engine: Mutex<Option<Engine>>,
    /// Waited for without the lock, so that a caller finds the engine free.
    sources: Sources,
    waker: Arc<Waker>,
    epoch: Instant,
    failure: Arc<OnceLock<Error>>,
    /// End of the thread's nap, in ns since `epoch`.
    away_until_ns: AtomicU64,
    spin_max: Duration,
}

impl Driver {
    pub fn new(engine: Engine, waker: Arc<Waker>, ranks_a_core: u32) -> io::Result<Self> {
        let spin_max = if ranks_a_core > 1 { SPIN_CROWDED } else { Duration::MAX };
        let (sources, epoch, failure) = (engine.sources()?, Instant::now(), engine.failure());
        let (engine, away_until_ns) = (Mutex::new(Some(engine)), AtomicU64::new(0));
        Ok(Self { engine, sources, waker, epoch, failure, away_until_ns, spin_max })
    }

    pub fn wake(&self) {
        self.waker.wake();
    }

    pub fn failure(&self) -> Option<Error> {
        self.failure.get().cloned()
    }

    pub fn serve(&self) {
        let _ = self.waker.thread.set(thread::current());
        // After a panic too, no caller may wait for an engine without a driver.
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

    /// Waits for a reply, and drives the engine meanwhile unless another caller does.
    /// `may_be_passed`: another engine may reply, and must wake this one.
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

    fn turn(&self, engine: &mut Option<Engine>) -> Turn {
        self.waker.clear();
        let turn = engine.as_mut().map_or(Turn::Ended, Engine::turn);
        if matches!(turn, Turn::Ended) {
            self.end(engine);
        }
        turn
    }

    /// Sets the failure before replies are dropped with the engine.
    fn end(&self, engine: &mut Option<Engine>) {
        let _ = self.failure.set(Cause::Closed.into());
        *engine = None;
    }

    fn away(&self) -> Option<Duration> {
        if self.waker.taken.load(Ordering::SeqCst) {
            return Some(AWAY);
        }
        let until_ns = self.away_until_ns.load(Ordering::Relaxed);
        let left = Duration::from_nanos(until_ns).saturating_sub(self.epoch.elapsed());
        Some(left).filter(|left| !left.is_zero() && !self.waker.pending.load(Ordering::SeqCst))
    }

    /// The lock holds `None` after a panic.
    fn lock(&self) -> MutexGuard<'_, Option<Engine>> {
        self.engine.lock().unwrap_or_else(|poisoned| {
            let mut engine = poisoned.into_inner();
            self.end(&mut engine);
            engine
        })
    }
}

fn doze(engine: &Option<Engine>, wait: Wait) -> Wait {
    engine.as_ref().map_or(wait, |engine| engine.doze(wait))
}

/// Resumes the engine's thread when a caller leaves; at rest, after a nap.
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

struct End<'a>(&'a Driver);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.end(&mut self.0.lock());
    }
}

struct Pace {
    spin: Duration,
    busy_until: Instant,
}

impl Pace {
    fn new(spin: Duration) -> Self {
        Self { spin, busy_until: Instant::now() }
    }

    /// Returns the wait after a turn, if any.
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
    use crate::ErrorKind;
    use crate::root::free_root;
    use crate::{BucketOptions, Communicator, Early, Settings};

    fn two_ranks<T: Send>(rank: impl Fn(usize, Communicator) -> T + Sync) -> Vec<T> {
        let root = free_root();
        let connect = |rank| {
            let place = Settings::new().rank(rank).world_size(2).root(root.clone());
            let settings = place.timeout(Duration::from_secs(20)).early(Early::Off);
            Communicator::connect(settings.bound(Duration::from_secs(3)))
        };
        let run = |number| rank(number, connect(number).wait().unwrap());
        thread::scope(|threads| {
            let ranks = [0, 1].map(|number| threads.spawn(move || run(number)));
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        })
    }

    /// A wake that crosses a `clear` may cause one extra turn, no more.
    #[test]
    fn whoever_was_woken_and_has_looked_can_sleep_again() {
        let (waker, quiet) = (Waker::new().unwrap(), Waker::new().unwrap());
        let (at_once, sources) = (Wait::new(false, Duration::ZERO), Sources::new(Arc::new(quiet.event), None));
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
        assert_eq!(awake, 0, "of {rounds} wakes, {crossed} crossed a clear; count that left the event readable");
    }

    #[test]
    fn after_a_panic_inside_all_callers_are_told_and_nobody_waits() {
        let told = two_ranks(|_, mut communicator| {
            let mut bucket = communicator.bucket(100, BucketOptions::new()).wait().unwrap();
            let _ = bucket.all_reduce(&mut [1.0; 100]).unwrap();
            communicator.barrier().wait().unwrap();
            let request = bucket.start_all_reduce(vec![1.0; 100]);
            let super::super::Of::Flat(flat, _) = &communicator.0 else { unreachable!("one level") };
            let driver = &flat.shared.driver;
            let panics = || {
                driver.waker.taken.store(true, Ordering::SeqCst);
                let _inside = Inside { driver, at_rest: false };
                let _engine = driver.lock();
                panic!("a caller panics inside");
            };
            assert!(thread::scope(|threads| threads.spawn(panics).join()).is_err());
            let first = request.wait().map(drop);
            let later = [bucket.all_reduce(&mut [1.0; 100]).map(drop), communicator.metrics().wait().map(drop)];
            assert!(communicator.failure().is_some_and(|error| error.kind() == crate::ErrorKind::Closed));
            drop(communicator);
            (first, later)
        });
        for (first, later) in told {
            // It may have finished before the panic.
            let is_closed = |one: &Result<(), Error>| matches!(one, Err(error) if error.kind() == ErrorKind::Closed);
            assert!(first.is_ok() || is_closed(&first), "{first:?}");
            assert!(later.iter().all(is_closed), "{later:?}");
        }
    }

    #[test]
    fn whoever_moves_the_engine_on_every_call_is_answered() {
        const CALLS: usize = 200;
        two_ranks(|rank, mut communicator| {
            let buckets =
                [1000, 3000].map(|elements| communicator.bucket(elements, BucketOptions::new()).wait().unwrap());
            let turn = &Mutex::new(0);
            thread::scope(|threads| {
                for (index, mut bucket) in buckets.into_iter().enumerate() {
                    threads.spawn(move || {
                        for call in 0..CALLS {
                            // All ranks must call in the same order, but calls overlap.
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
                            assert_eq!((report.lost_bytes, &mean), (0, &vec![0.5; bucket.elements()]), "{report}");
                        }
                    });
                }
            });
            communicator.close().wait().unwrap();
        });
    }
}
