//! Error of the library.

mod cause;
mod given;

use std::fmt;
use std::sync::Arc;

use super::report::Report;

pub(crate) use self::cause::{Cause, ConnectError, named};

/// Error of a call, or of joining a job. `Debug` prints the text, for `main() -> Result`.
///
/// Texts name the rank, the setting, both values and the remedy.
#[derive(Clone)]
pub struct Error(Arc<Cause>);

/// Kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument or a setting is not valid. Nothing was changed.
    Argument,
    /// This job does not support the call, or this build the setting. Nothing was changed.
    Unsupported,
    /// This host, or its container, has too little memory. Nothing was changed.
    Memory,
    /// The ranks differ in a setting or a call, or a rank passes a wrong number of elements. All
    /// ranks get the same text. See [`Error::mismatch`].
    Mismatch,
    /// A rank or its process is gone, was not reached, or violated the protocol.
    Peer,
    /// A rank made no progress within a timeout.
    Timeout,
    /// The other ranks dropped this one: call [`rejoin`](crate::Communicator::rejoin), then fetch
    /// the model.
    Dropped,
    /// At least [`SKIPS_HALT`](crate::metrics::SKIPS_HALT) collectives in a row lost more than 10 %
    /// each, with at least [`PACKETS_HALT`](crate::metrics::PACKETS_HALT) packets together: stop
    /// the job. See [`Error::report`].
    ///
    /// This rank skips the update, as [`Report::is_applied`] describes: the memory for the result
    /// of a reduction is zeros. Other ranks may have applied it. The ranks are in step.
    Halted,
    /// The job has ended, but this rank lacks repaired updates, since buckets were not
    /// [settled](crate::Bucket::settle). Its replica differs from the others.
    Unsettled,
    /// The communicator was dropped before the call, or during it.
    Closed,
    /// The operating system or a card failed.
    System,
    /// A defect of this library.
    Internal,
}

/// Difference between ranks that must agree. All ranks get the same one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// Setting, argument or call.
    pub name: String,
    /// Rank with another value.
    pub rank: usize,
    /// Value of that rank.
    pub found: String,
    /// Value of other ranks, or the value that the call takes.
    pub expected: String,
    /// Ranks with the expected value that were compared; none if all ranks passed a wrong number of
    /// elements.
    pub by: Vec<usize>,
}

impl Error {
    /// Kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind()
    }

    /// Returns whether the communicator has ended, so that only a new one helps. An error of a
    /// message, or of a call that a peer gave up, leaves it usable, as does a failed attempt to
    /// connect more ranks.
    pub fn is_fatal(&self) -> bool {
        self.0.is_fatal()
    }

    /// Rank that the text names as the cause, if it is a single one.
    pub fn rank(&self) -> Option<usize> {
        self.0.rank()
    }

    /// Difference between the ranks, for [`ErrorKind::Mismatch`].
    pub fn mismatch(&self) -> Option<Mismatch> {
        self.0.mismatch()
    }

    /// Report of the last collective, for [`ErrorKind::Halted`].
    pub fn report(&self) -> Option<&Report> {
        match &*self.0 {
            Cause::Halted { report } => Some(report),
            _ => None,
        }
    }

    pub(crate) fn cause(&self) -> &Cause {
        &self.0
    }
}

impl<C: Into<Cause>> From<C> for Error {
    fn from(cause: C) -> Self {
        Self(Arc::new(cause.into()))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}
