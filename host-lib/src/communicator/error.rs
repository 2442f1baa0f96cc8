//! Errors of a communicator.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::report::Report;
use super::settle::Unsettled;
use crate::card::CardError;
use crate::control::{BootstrapError, ControlError, LaunchError};
use crate::exact::{ElementType, ExactOp};
use crate::memory::NotEnoughMemory;
use crate::plane::PlaneError;
use crate::secret::SecretError;
use crate::udp::{PathError, UdpError};
use optireduce_core::CollectivesError;
use optireduce_core::protocol::{Mismatch as CallMismatch, RANKS_MAX, SKIPS_HALT};

/// Error of joining a job. `Debug` prints the text, for `main() -> Result`.
#[derive(Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The environment does not define the rank of this process.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The secret cannot be used.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The ranks could not connect, or their settings differ.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    /// A peer was lost before the first collective.
    #[error("before the first collective: {0}")]
    Control(#[from] ControlError),
    /// A card cannot be used, or not in this job.
    #[error(transparent)]
    Card(#[from] CardError),
    /// The UDP socket failed.
    #[error("{0}")]
    Socket(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A setting of [`Settings`](crate::Settings) is out of range.
    #[error("{setting} is {found}, expected {expected}")]
    #[allow(missing_docs)] // described above
    Setting { setting: &'static str, found: String, expected: String },
    /// The ranks cannot form the requested number of groups.
    #[error(
        "{ranks} ranks in {groups} groups: expected at least two groups, of equal size and at least two ranks each, and at most \
         {RANKS_MAX} of either"
    )]
    #[allow(missing_docs)] // described above
    Groups { ranks: usize, groups: usize },
    /// No number of groups fits; `near` lists the nearest numbers of ranks that do: "6 or 8".
    #[error(
        "{ranks} ranks cannot be divided into equal groups of 2 to 64 ranks; start {near} ranks, or use one level, with at \
         most {RANKS_MAX} ranks"
    )]
    #[allow(missing_docs)] // described above
    NoGroups { ranks: usize, near: String },
    /// A group could not connect. `ranks` are its job ranks; ranks in `source` are ranks inside it.
    #[error("the group {group} of job ranks {ranks} (numbered from 0 inside the group): {source}")]
    #[allow(missing_docs)] // described above
    InGroup { group: String, ranks: String, source: Box<ConnectError> },
    /// The hosts, with the ranks in `found`, cannot be groups.
    #[error(
        "two levels by host: {found}; expected at least two hosts, with the same number of ranks on each, two or more; or name a number of \
         groups"
    )]
    #[allow(missing_docs)] // described above
    Hosts { found: String },
    /// The settings contradict one another.
    #[error("{0}")]
    Params(String),
    /// This host, or its container, has too little memory.
    #[error("{0}")]
    Memory(#[from] NotEnoughMemory),
    /// A thread or its event could not be created.
    #[error("starting the engine: {0}")]
    Thread(#[source] io::Error),
}

impl fmt::Debug for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<UdpError> for ConnectError {
    fn from(error: UdpError) -> Self {
        Self::Socket(Box::new(error))
    }
}

impl From<PathError> for ConnectError {
    fn from(error: PathError) -> Self {
        Self::Socket(Box::new(error))
    }
}

/// Error of a call. `Debug` prints the text, for `main() -> Result`.
///
/// The communicator can still be used after:
///
/// * [`Argument`](Self::Argument), [`Operation`](Self::Operation), [`Cards`](Self::Cards) and
///   [`Memory`](Self::Memory). Nothing was changed.
/// * [`Halted`](Self::Halted).
/// * [`ControlError::Differs`], [`GivenUp`](ControlError::GivenUp),
///   [`LeftOut`](ControlError::LeftOut), [`Memory`](ControlError::Memory) and
///   [`NoSuchRank`](ControlError::NoSuchRank). The caller's data is unchanged.
/// * [`Dropped`](Self::Dropped) and [`ControlError::Outside`], once this rank has
///   [rejoined](crate::Communicator::rejoin).
/// * Errors of [messages](crate::Communicator::send), such as [`ControlError::TooMany`], unless the
///   communicator has ended.
///
/// After other errors, make a new communicator.
#[derive(Clone, Error)]
#[non_exhaustive]
pub enum Error {
    /// A collective failed; all later ones return the same error.
    #[error("{0}; make a new communicator")]
    Collective(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// The ranks call different collectives, or a rank passes a wrong number of elements. All ranks
    /// get this error, with the same text.
    #[error("{0}; make a new communicator")]
    Mismatch(#[source] CallMismatch),
    /// A call over TCP failed: a peer is gone, does not call in time, or makes another call.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The ranks could not connect.
    #[error(transparent)]
    Connect(Arc<ConnectError>),
    /// A thread could not be created.
    #[error("starting a thread: {0}")]
    Thread(#[source] Arc<io::Error>),
    /// A call failed in the group of these job ranks. Ranks in `source` are ranks inside it.
    #[error("in the group of job ranks {ranks} (numbered from 0 inside the group): {source}")]
    #[allow(missing_docs)] // described above
    InGroup { ranks: String, source: Arc<Error> },
    /// An argument is not valid; nothing was changed.
    #[error("invalid argument: {name} is {found}, expected {expected}; nothing was changed")]
    #[allow(missing_docs)] // described above
    Argument { name: &'static str, found: usize, expected: String },
    /// The type does not support the operation; nothing was changed.
    #[error(
        "invalid argument: there is no {op} of {element} values: avg is for floating-point types, and, or and xor are for integers; nothing was changed"
    )]
    #[allow(missing_docs)] // described above
    Operation { op: ExactOp, element: ElementType },
    /// Jobs with cards do not support the call; nothing was changed. `rank` is the first with a
    /// card, and `instead` the remedy.
    #[error("{call} is not supported in a job with cards (rank {rank} has one); {instead}. Nothing was changed")]
    #[allow(missing_docs)] // described above
    Cards { call: &'static str, rank: usize, instead: &'static str },
    /// This host has too little memory; nothing was changed.
    #[error(transparent)]
    Memory(#[from] NotEnoughMemory),
    /// The other ranks dropped this rank.
    #[error(
        "this rank was dropped: the others received nothing from it for several collectives; call `rejoin`, then fetch the \
         model from a rank that stayed"
    )]
    Dropped,
    /// At least [`SKIPS_HALT`] collectives in a row lost more than 10 % each, with at least
    /// [`PACKETS_HALT`](crate::PACKETS_HALT) packets together: stop the job.
    ///
    /// This rank skips the update, as [`Report::is_applied`] describes: the memory for the result
    /// of a reduction is zeros. Other ranks may have applied it. The ranks are in step.
    #[error(
        "at least {SKIPS_HALT} collectives in a row lost more than 10 % each on this rank; stop the job, then repair the network or \
         set a longer bound; the last one: {report}"
    )]
    #[allow(missing_docs)] // described above
    Halted { report: Box<Report> },
    /// The job has ended, but this rank lacks repaired updates, since these buckets were not
    /// [settled](crate::Bucket::settle). Its replica differs from the others.
    #[error(
        "the job has ended, but this replica lacks {bytes} bytes of repairs of buckets {buckets:?}; settle every bucket after its \
         last collective, on all ranks, and apply its correction"
    )]
    #[allow(missing_docs)] // described above
    Unsettled { bytes: u64, buckets: Vec<u16> },
    /// No quorum of ranks answered in time.
    #[error(
        "the ranks did not agree on who takes part within {} s; a quorum is more than half of the ranks, or half of them with \
         the lowest one",
        waited.as_secs_f64()
    )]
    #[allow(missing_docs)] // described above
    NoAgreement { waited: Duration },
    /// The communicator was dropped before the call, or during it.
    #[error("the communicator of this call was dropped, or its engine has ended; make a new communicator")]
    Closed,
}

impl Error {
    pub(super) fn of_unsettled(unsettled: Unsettled) -> Result<(), Self> {
        if unsettled.is_empty() {
            return Ok(());
        }
        Err(Self::Unsettled { bytes: unsettled.values().sum(), buckets: unsettled.into_keys().collect() })
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<ConnectError> for Error {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Control(error) => Self::Control(error),
            error => Self::Connect(Arc::new(error)),
        }
    }
}

impl From<CollectivesError<PlaneError>> for Error {
    fn from(error: CollectivesError<PlaneError>) -> Self {
        match error {
            CollectivesError::Mismatch(mismatch) => Self::Mismatch(mismatch),
            error => Self::Collective(Arc::new(error)),
        }
    }
}
