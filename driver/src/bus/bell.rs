//! Eventfd that all MSI-X vectors of a card signal, to make the driver poll its rings.
//!
//! Source: eventfd(2).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;

pub(super) const DOZE: Duration = Duration::from_micros(200);

pub(super) struct Bell(OwnedFd);

impl Bell {
    pub fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Consumes all interrupts; returns whether any arrived.
    pub fn hear(&self) -> bool {
        rustix::io::read(&self.0, &mut [0; 8]).is_ok()
    }

    /// Waits for an interrupt, at most `timeout` or until `other` is readable. Consumes it and
    /// returns whether one arrived.
    pub fn wait(&self, timeout: Duration, other: Option<BorrowedFd<'_>>) -> bool {
        let start = Instant::now();
        let mut fds =
            [self.0.as_fd(), other.unwrap_or(self.0.as_fd())].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        loop {
            let left = timeout.saturating_sub(start.elapsed());
            let at_most = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            match poll(&mut fds, Some(&at_most)) {
                // The wait continues after a signal, or if another reader consumed the interrupt.
                Err(Errno::INTR) => {}
                Ok(ready) if ready > 0 && !fds[0].revents().is_empty() => {
                    if self.hear() {
                        return true;
                    }
                    if left.is_zero() {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
