//! Waiting for completions: polling first, then sleeping until an interrupt.

#[cfg(feature = "tokio")]
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use optireduce_contract::queue::Completion;
#[cfg(feature = "tokio")]
use tokio::io::{Interest, unix::AsyncFd};

use crate::bus::Bus;
use crate::error::DriverError;
use crate::nic::Nic;

/// Interval of checks of a silent card; also the longest delay by a lost interrupt.
const ASK: Duration = Duration::from_millis(10);
/// Poll interval after an interrupt that arrived before its completion.
const AGAIN: Duration = Duration::from_micros(200);

/// State of a wait for one completion, in the bus's time.
struct Wait {
    start: Instant,
    timeout: Duration,
    /// Time of the last check that the card works.
    asked: Instant,
    /// Set if an interrupt ended the last sleep.
    heard: bool,
}

enum Next {
    Take(Completion),
    Look,
    Sleep(Duration),
}

impl Wait {
    fn new(bus: &impl Bus, timeout: Duration) -> Self {
        let start = bus.now();
        Self { start, timeout, asked: start, heard: false }
    }

    fn look<B: Bus>(&mut self, nic: &mut Nic<B>) -> Result<Next, DriverError> {
        // The clock is read first, so that the last poll finds all that arrived within the timeout.
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
            // A later completion raises an interrupt; this bound covers a lost one.
            return Ok(Next::Sleep((self.timeout - waited).min(if self.heard { AGAIN } else { ASK })));
        }
        Ok(Next::Look)
    }
}

impl<B: Bus> Nic<B> {
    /// Sets how long a wait polls before it sleeps until an interrupt. Default: 20 us.
    pub fn set_poll_first(&mut self, poll_first: Duration) {
        self.poll_first = poll_first;
    }

    /// Waits for the next completion, at most `timeout` by the bus's clock. A lost interrupt costs
    /// at most 10 ms, and an interrupt before its completion 0.2 ms.
    ///
    /// # Errors
    /// [`DriverError::Timeout`] if the card still works; errors of [`Nic::check_working`], called
    /// every 10 ms, and of [`Nic::poll_completion`].
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

    /// As [`Nic::wait_completion`], but suspends the task, with tokio's `AsyncFd`. Cancel safe.
    ///
    /// An interrupt before its completion costs 2 ms, since tokio's timers tick in ms. If the bus
    /// has interrupts but no [file descriptor](Bus::interrupt_fd) for them, the thread sleeps.
    ///
    /// # Errors
    /// As [`Nic::wait_completion`]. [`DriverError::Bus`] if no file descriptor is available.
    ///
    /// # Panics
    /// Outside a runtime, or in a runtime without I/O or time.
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
                    // The bus consumes the interrupt and reports whether there was one.
                    wait.heard = self.bus().wait_interrupt(at_most) == Some(true);
                }
            }
            if self.bus().is_gone() {
                self.check_alive()?;
            }
        }
    }

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
