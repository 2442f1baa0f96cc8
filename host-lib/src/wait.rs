//! Wake-up conditions of a rank's idle engine.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// File descriptors that signal input. UDP: the socket, and wake-ups of ranks of this host. Card:
/// interrupts, and its departure. Shared with the data plane, since duplicates would count against
/// the limit of open files.
pub(crate) struct Sources {
    first: Source,
    second: Option<Source>,
}

pub(crate) type Source = Arc<dyn AsFd + Send + Sync>;

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources").finish_non_exhaustive()
    }
}

impl Sources {
    /// `first`: the source that [`Wait::new`] can wait to write to.
    pub fn new(first: Source, second: Option<Source>) -> Self {
        Self { first, second }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// Datagrams are waiting for room in the first source.
    to_send: bool,
    /// Nothing reads the sources any more, so they must not wake the engine.
    is_deaf: bool,
    at_most: Duration,
}

impl Wait {
    /// Waits for input, with `to_send` also for room in the first source.
    pub fn new(to_send: bool, at_most: Duration) -> Self {
        Self { to_send, is_deaf: false, at_most }
    }

    pub fn deaf(at_most: Duration) -> Self {
        Self { to_send: false, is_deaf: true, at_most }
    }

    #[must_use]
    pub fn at_most(self, at_most: Duration) -> Self {
        Self { at_most: self.at_most.min(at_most), ..self }
    }

    /// Sleeps until a condition is met or `event` is readable. Returns whether `event` is.
    pub fn until_ready(&self, sources: &Sources, event: BorrowedFd<'_>) -> io::Result<bool> {
        let mut flags = PollFlags::IN;
        flags.set(PollFlags::OUT, self.to_send);
        let timeout = Timespec { tv_sec: self.at_most.as_secs() as i64, tv_nsec: self.at_most.subsec_nanos().into() };
        let event = PollFd::from_borrowed_fd(event, PollFlags::IN);
        let second = sources.second.as_ref().map(|second| PollFd::from_borrowed_fd(second.as_fd(), PollFlags::IN));
        let count = 2 + usize::from(second.is_some());
        let mut fds = [event.clone(), PollFd::from_borrowed_fd(sources.first.as_fd(), flags), second.unwrap_or(event)];
        match poll(&mut fds[..if self.is_deaf { 1 } else { count }], Some(&timeout)) {
            Ok(_) => Ok(!fds[0].revents().is_empty()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
