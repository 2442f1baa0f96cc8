//! Waiting for completions: a wait looks for one, then sleeps until an interrupt tells of one.
//!
//! [`Nic::wait_completion`] puts the thread to sleep, `Nic::completion` the task, so that one thread may wait for several cards and sockets.
//! Which sleep it is is all that differs: what is looked at, and when, is in [`Wait::look`].

#[cfg(feature = "tokio")]
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use optireduce_contract::queue::Completion;
#[cfg(feature = "tokio")]
use tokio::io::{Interest, unix::AsyncFd};

use crate::bus::Bus;
use crate::error::DriverError;
use crate::nic::Nic;

/// How often a card that says nothing is asked whether it works; and how long a lost interrupt goes unnoticed.
const ASK: Duration = Duration::from_millis(10);
/// How soon to look again after an interrupt that came before what it speaks of.
const AGAIN: Duration = Duration::from_micros(200);

/// A wait for one completion. Times are those of the bus's clock.
struct Wait {
    start: Instant,
    timeout: Duration,
    /// When the card was asked last whether it works.
    asked: Instant,
    /// Whether an interrupt ended the last sleep.
    heard: bool,
}

/// What a wait does next.
enum Next {
    Take(Completion),
    /// Looks again at once; others may use the processor before.
    Look,
    /// Sleeps until an interrupt, at most so long.
    Sleep(Duration),
}

impl Wait {
    fn new(bus: &impl Bus, timeout: Duration) -> Self {
        let start = bus.now();
        Self { start, timeout, asked: start, heard: false }
    }

    fn look<B: Bus>(&mut self, nic: &mut Nic<B>) -> Result<Next, DriverError> {
        // The clock is read first: what came before the end of the wait is found by the last poll.
        let now = nic.bus().now();
        let waited = now.duration_since(self.start);
        let over = waited >= self.timeout;
        if let Some(completion) = nic.poll_completion()? {
            return Ok(Next::Take(completion));
        }
        if over || now.duration_since(self.asked) >= ASK {
            nic.check_working()?;
            self.asked = now;
        }
        if over {
            return Err(nic.overdue(self.timeout));
        }
        if !nic.bus().has_interrupts() {
            nic.bus().relax();
        } else if waited >= nic.poll_first {
            // What came before this look is found by it, what comes from then on ends the sleep, and whatever is lost costs this long.
            return Ok(Next::Sleep((self.timeout - waited).min(if self.heard { AGAIN } else { ASK })));
        }
        Ok(Next::Look)
    }
}

impl<B: Bus> Nic<B> {
    /// How long a wait looks for a completion, without sleeping, before it waits for an interrupt. Default: 20 us. Longer
    /// takes processor time and saves that of being woken; where the card is another process on few cores, it takes time from that.
    pub fn set_poll_first(&mut self, poll_first: Duration) {
        self.poll_first = poll_first;
    }

    /// Waits for the next completion, at most `timeout` by the bus's clock: looks for it for a [set time](Nic::set_poll_first), and then sleeps
    /// until an interrupt tells of one. A lost interrupt costs 10 ms at most, and one that overtakes its completion 0.2 ms.
    ///
    /// # Errors
    /// [`DriverError::Timeout`] if the card still works then; what [`Nic::check_working`] says, which is asked every 10 ms; and as
    /// [`Nic::poll_completion`].
    pub fn wait_completion(&mut self, timeout: Duration) -> Result<Completion, DriverError> {
        let mut wait = Wait::new(self.bus(), timeout);
        loop {
            match wait.look(self)? {
                Next::Take(completion) => return Ok(completion),
                Next::Look if self.bus().has_interrupts() => {
                    std::thread::yield_now();
                    continue;
                }
                Next::Look => {}
                Next::Sleep(at_most) => wait.heard = self.bus().wait_interrupt(at_most) == Some(true),
            }
            if self.bus().is_gone() {
                self.check_alive()?;
            }
        }
    }

    /// As [`Nic::wait_completion`], but the task sleeps and not its thread: through tokio's `AsyncFd`, in a runtime with I/O and time enabled.
    /// A future that is dropped takes nothing along: the next wait finds the completion. tokio's timers tick in ms, so an interrupt that
    /// overtakes its completion costs 2 ms. Over a bus that has interrupts and no [file descriptor](Bus::interrupt_fd) for them the thread sleeps.
    ///
    /// # Errors
    /// As [`Nic::wait_completion`]; [`DriverError::Bus`] if the kernel cannot watch one more file descriptor.
    ///
    /// # Panics
    /// As `AsyncFd`: outside a runtime, or in one without I/O or time.
    #[cfg(feature = "tokio")]
    pub async fn completion(&mut self, timeout: Duration) -> Result<Completion, DriverError> {
        let mut wait = Wait::new(self.bus(), timeout);
        let mut interrupts = None;
        loop {
            match wait.look(self)? {
                Next::Take(completion) => return Ok(completion),
                Next::Look => tokio::task::yield_now().await,
                Next::Sleep(at_most) => {
                    if interrupts.is_none() {
                        interrupts = self.watch_interrupts()?;
                    }
                    let at_most = match &interrupts {
                        None => at_most,
                        Some(interrupts) => {
                            let ring = async { interrupts.readable().await.map(|mut ready| ready.clear_ready()) };
                            let _ = tokio::time::timeout(at_most, ring).await;
                            Duration::ZERO
                        }
                    };
                    // The bus takes note of it, and says whether there was one.
                    wait.heard = self.bus().wait_interrupt(at_most) == Some(true);
                }
            }
            if self.bus().is_gone() {
                self.check_alive()?;
            }
        }
    }

    /// The interrupts of a bus that has a file descriptor for them, as tokio watches them.
    #[cfg(feature = "tokio")]
    #[allow(deprecated, reason = "sound for an OwnedFd, and what replaces it is unsafe")]
    fn watch_interrupts(&self) -> Result<Option<AsyncFd<OwnedFd>>, DriverError> {
        let watch = |fd: BorrowedFd<'_>| AsyncFd::with_interest(fd.try_clone_to_owned()?, Interest::READABLE);
        self.bus().interrupt_fd().map(watch).transpose().map_err(|error| DriverError::Bus {
            device: self.bus().name().into(),
            problem: format!("waiting for interrupts: {error}"),
            remedy: "Close files, or raise the limit: ulimit -n.".into(),
        })
    }
}
