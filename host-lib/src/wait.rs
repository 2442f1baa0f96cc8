//! What a rank's engine waits for when it has nothing to do.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Where what is for a data plane comes in: its socket and the bells of ranks of this host, or its card's interrupts and the connection
/// to the card.
#[derive(Debug)]
pub(crate) struct Sources {
    first: OwnedFd,
    second: Option<OwnedFd>,
}

impl Sources {
    /// `first` is the one that may be full, too.
    pub fn new(first: OwnedFd, second: Option<OwnedFd>) -> Self {
        Self { first, second }
    }
}

/// What a data plane with nothing to do waits for. It need not be at hand meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// Datagrams wait for room in the first source.
    to_send: bool,
    /// Nobody takes what comes any more: it must not wake anybody.
    is_deaf: bool,
    at_most: Duration,
}

impl Wait {
    /// Until something comes, for so long at most. `to_send`: or until the first source has room again.
    pub fn new(to_send: bool, at_most: Duration) -> Self {
        Self { to_send, is_deaf: false, at_most }
    }

    /// Whatever comes.
    pub fn deaf(at_most: Duration) -> Self {
        Self { to_send: false, is_deaf: true, at_most }
    }

    /// For so long at most.
    #[must_use]
    pub fn at_most(self, at_most: Duration) -> Self {
        Self { at_most: self.at_most.min(at_most), ..self }
    }

    /// Sleeps until that, or until `event` is readable; whether it is.
    ///
    /// # Errors
    /// If the kernel's poll fails.
    pub fn until_ready(&self, sources: &Sources, event: BorrowedFd<'_>) -> io::Result<bool> {
        let mut flags = PollFlags::IN;
        flags.set(PollFlags::OUT, self.to_send);
        let timeout = Timespec { tv_sec: self.at_most.as_secs() as i64, tv_nsec: self.at_most.subsec_nanos().into() };
        let event = PollFd::from_borrowed_fd(event, PollFlags::IN);
        let second = sources.second.as_ref().map(|second| PollFd::new(second, PollFlags::IN));
        let count = 2 + usize::from(second.is_some());
        let mut fds = [event.clone(), PollFd::new(&sources.first, flags), second.unwrap_or(event)];
        match poll(&mut fds[..if self.is_deaf { 1 } else { count }], Some(&timeout)) {
            Ok(_) => Ok(!fds[0].revents().is_empty()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
