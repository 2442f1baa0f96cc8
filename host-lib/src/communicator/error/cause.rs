//! Causes of errors, for matching inside the library.

use std::io;
use std::time::Duration;

use thiserror::Error as ThisError;

use super::super::report::Report;
use super::super::settle::Unsettled;
use super::{Error, ErrorKind, Mismatch};
use crate::card::CardError;
use crate::control::{BootstrapError, ControlError, LaunchError, Refusal};
use crate::exact::{ElementType, ExactOp};
use crate::memory::NotEnoughMemory;
use crate::plane::PlaneError;
use crate::secret::SecretError;
use crate::settings::SettingError;
use crate::udp::{PathError, UdpError};
use optireduce_core::CollectivesError;
use optireduce_core::protocol::{Mismatch as CallMismatch, RANKS_MAX, SKIPS_HALT};

/// Error of joining a job.
#[derive(Debug, ThisError)]
pub(crate) enum ConnectError {
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
    Setting { setting: &'static str, found: String, expected: String },
    /// The ranks cannot form the requested number of groups.
    #[error(
        "{ranks} ranks in {groups} groups: expected at least two groups, of equal size and at least two ranks each, and at most \
         {RANKS_MAX} of either"
    )]
    Groups { ranks: usize, groups: usize },
    /// No number of groups fits; `near` lists the nearest numbers of ranks that do: "6 or 8".
    #[error(
        "{ranks} ranks cannot be divided into equal groups of 2 to 64 ranks; start {near} ranks, or use one level, with at \
         most {RANKS_MAX} ranks"
    )]
    NoGroups { ranks: usize, near: String },
    /// A group could not connect. `ranks` are its job ranks; ranks in `source` are ranks inside it.
    #[error("the group {group} of job ranks {ranks} (numbered from 0 inside the group): {source}")]
    InGroup { group: String, ranks: String, source: Error },
    /// The hosts, with the ranks in `found`, cannot be groups.
    #[error(
        "two levels by host: {found}; expected at least two hosts, with the same number of ranks on each, two or more; or name a number of \
         groups"
    )]
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

/// Cause of an [`Error`].
#[derive(Debug, ThisError)]
pub(crate) enum Cause {
    /// The ranks did not connect.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// A collective failed; all later ones return the same error.
    #[error("{0}; make a new communicator")]
    Collective(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The ranks call different collectives, or a rank passes a wrong number of elements. All ranks
    /// get this error, with the same text.
    #[error("{0}; make a new communicator")]
    Mismatch(#[source] CallMismatch),
    /// A call over TCP failed: a peer is gone, does not call in time, or makes another call.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A call failed in the group of these job ranks. Ranks in `source` are ranks inside it.
    #[error("in the group of job ranks {} (numbered from 0 inside the group): {source}", named(ranks))]
    InGroup { ranks: Vec<usize>, source: Error },
    /// An argument is not valid; nothing was changed.
    #[error("invalid argument: {name} is {found}, expected {expected}; nothing was changed")]
    Argument { name: &'static str, found: usize, expected: String },
    /// The type does not support the operation; nothing was changed.
    #[error(
        "invalid argument: there is no {op} of {element} values: avg is for floating-point types, and, or and xor are for integers; nothing was changed"
    )]
    Operation { op: ExactOp, element: ElementType },
    /// Jobs with cards do not support the call; nothing was changed. `rank` is the first with a
    /// card, and `instead` the remedy.
    #[error("{call} is not supported in a job with cards (rank {rank} has one); {instead}. Nothing was changed")]
    Cards { call: &'static str, rank: usize, instead: &'static str },
    /// Two levels do not support the call; nothing was changed. `instead`: the remedy.
    #[error("{call} is not supported on two levels; {instead}. Nothing was changed")]
    Levels { call: &'static str, instead: &'static str },
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
    /// [`PACKETS_HALT`](crate::metrics::PACKETS_HALT) packets together: stop the job.
    ///
    /// This rank skips the update, as [`Report::is_applied`] describes: the memory for the result
    /// of a reduction is zeros. Other ranks may have applied it. The ranks are in step.
    #[error(
        "at least {SKIPS_HALT} collectives in a row lost more than 10 % each on this rank; stop the job, then repair the network or \
         set a longer bound; the last one: {report}"
    )]
    Halted { report: Box<Report> },
    /// The job has ended, but this rank lacks repaired updates, since these buckets were not
    /// [settled](crate::Bucket::settle). Its replica differs from the others.
    #[error(
        "the job has ended, but this replica lacks {bytes} bytes of repairs of buckets {buckets:?}; settle every bucket after its \
         last collective, on all ranks, and apply its correction"
    )]
    Unsettled { bytes: u64, buckets: Vec<u16> },
    /// No quorum of ranks answered in time.
    #[error(
        "the ranks did not agree on who takes part within {} s; a quorum is more than half of the ranks, or half of them with \
         the lowest one",
        waited.as_secs_f64()
    )]
    NoAgreement { waited: Duration },
    /// Too many processes have ended.
    #[error(
        "the processes of ranks {gone:?} have ended, and the others are no quorum (more than half of the ranks, or half of \
         them with the lowest one); restart the job"
    )]
    NoQuorum { gone: Vec<usize> },
    /// The communicator was dropped before the call, or during it.
    #[error("the communicator of this call was dropped, or its engine has ended; make a new communicator")]
    Closed,
}

macro_rules! from {
    ($($cause:ty)*) => {
        $(impl From<$cause> for Cause {
            fn from(cause: $cause) -> Self {
                ConnectError::from(cause).into()
            }
        })*
    };
}

from! { SettingError SecretError LaunchError BootstrapError CardError UdpError PathError }

impl From<CollectivesError<PlaneError>> for Cause {
    fn from(error: CollectivesError<PlaneError>) -> Self {
        match error {
            CollectivesError::Mismatch(mismatch) => Self::Mismatch(mismatch),
            error => Self::Collective(Box::new(error)),
        }
    }
}

impl ConnectError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Secret(SecretError::NotBuilt) | Self::Card(CardError::NotBuilt { .. }) => ErrorKind::Unsupported,
            Self::Launch(_) | Self::Secret(_) | Self::Setting { .. } | Self::Params(_) => ErrorKind::Argument,
            Self::Groups { .. } | Self::NoGroups { .. } | Self::Hosts { .. } => ErrorKind::Argument,
            Self::Bootstrap(error) => match error {
                BootstrapError::Refused(refusal) => match refusal {
                    Refusal::Settings(_) => ErrorKind::Mismatch,
                    Refusal::Missing { .. } | Refusal::NotConnected { .. } | Refusal::Unable { .. } => ErrorKind::Peer,
                    _ => ErrorKind::Argument,
                },
                BootstrapError::NoAddress { .. } | BootstrapError::NoRoot { .. } => ErrorKind::Peer,
                BootstrapError::Files { .. } | BootstrapError::Io { .. } => ErrorKind::System,
            },
            Self::Control(error) => of_control(error),
            Self::Card(CardError::Driver(_)) | Self::Socket(_) | Self::Thread(_) => ErrorKind::System,
            Self::Card(_) => ErrorKind::Argument,
            Self::InGroup { source, .. } => source.kind(),
            Self::Memory(_) => ErrorKind::Memory,
        }
    }

    fn rank(&self) -> Option<usize> {
        match self {
            Self::Bootstrap(BootstrapError::Refused(refusal)) => match refusal {
                Refusal::Settings(mismatch) => Some(mismatch.rank),
                Refusal::Twice { rank, .. }
                | Refusal::Runs { rank }
                | Refusal::Address { rank, .. }
                | Refusal::NoSuchRank { rank, .. }
                | Refusal::Unable { rank, .. } => Some(*rank),
                Refusal::Missing { missing, .. } => missing.first().copied().filter(|_| missing.len() == 1),
                _ => None,
            },
            Self::Bootstrap(BootstrapError::NoRoot { .. }) => Some(0),
            Self::Control(error) => rank_of_control(error),
            _ => None,
        }
    }
}

impl Cause {
    /// `Ok` if no bucket is unsettled.
    pub fn of_unsettled(unsettled: Unsettled) -> Result<(), Error> {
        if unsettled.is_empty() {
            return Ok(());
        }
        Err(Self::Unsettled { bytes: unsettled.values().sum(), buckets: unsettled.into_keys().collect() }.into())
    }

    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Connect(error) => error.kind(),
            Self::Collective(_) => ErrorKind::System,
            Self::Mismatch(_) => ErrorKind::Mismatch,
            Self::Control(error) => of_control(error),
            Self::InGroup { source, .. } => source.kind(),
            Self::Argument { .. } | Self::Operation { .. } => ErrorKind::Argument,
            Self::Cards { .. } | Self::Levels { .. } => ErrorKind::Unsupported,
            Self::Memory(_) => ErrorKind::Memory,
            Self::Dropped => ErrorKind::Dropped,
            Self::Halted { .. } => ErrorKind::Halted,
            Self::Unsettled { .. } => ErrorKind::Unsettled,
            Self::NoAgreement { .. } => ErrorKind::Timeout,
            Self::NoQuorum { .. } => ErrorKind::Peer,
            Self::Closed => ErrorKind::Closed,
        }
    }

    pub fn is_fatal(&self) -> bool {
        match self {
            Self::Connect(ConnectError::Control(error)) | Self::Control(error) => is_fatal(error),
            Self::InGroup { source, .. } => source.is_fatal(),
            Self::Collective(_)
            | Self::Mismatch(_)
            | Self::NoAgreement { .. }
            | Self::NoQuorum { .. }
            | Self::Closed
            | Self::Unsettled { .. } => true,
            Self::Connect(_)
            | Self::Argument { .. }
            | Self::Operation { .. }
            | Self::Cards { .. }
            | Self::Levels { .. }
            | Self::Memory(_)
            | Self::Dropped
            | Self::Halted { .. } => false,
        }
    }

    pub fn rank(&self) -> Option<usize> {
        match self {
            Self::Connect(error) => error.rank(),
            Self::Mismatch(mismatch) => Some(mismatch.rank),
            Self::Control(error) => rank_of_control(error),
            Self::Cards { rank, .. } => Some(*rank),
            Self::NoQuorum { gone } => gone.first().copied(),
            Self::InGroup { ranks, source } => ranks.get(source.rank()?).copied(),
            _ => None,
        }
    }

    pub fn mismatch(&self) -> Option<Mismatch> {
        let of_terms = |differs: &crate::control::Mismatch| Mismatch {
            name: differs.name.clone(),
            rank: differs.rank,
            found: differs.found.clone(),
            expected: differs.expected.clone(),
            by: vec![differs.reference],
        };
        match self {
            Self::Mismatch(CallMismatch { rank, field, found, expected, by, .. }) => Some(Mismatch {
                name: (*field).into(),
                rank: *rank,
                found: found.clone(),
                expected: expected.clone(),
                by: by.clone(),
            }),
            Self::Connect(ConnectError::Bootstrap(BootstrapError::Refused(Refusal::Settings(differs))))
            | Self::Connect(ConnectError::Control(ControlError::Differs(differs)))
            | Self::Control(ControlError::Differs(differs)) => Some(of_terms(differs)),
            Self::InGroup { ranks, source } => source.mismatch().map(|mismatch| {
                let of_job = |rank: usize| ranks.get(rank).copied().unwrap_or(rank);
                let by = mismatch.by.iter().map(|rank| of_job(*rank)).collect();
                Mismatch { rank: of_job(mismatch.rank), by, ..mismatch }
            }),
            _ => None,
        }
    }
}

fn of_control(error: &ControlError) -> ErrorKind {
    match error {
        ControlError::Differs(_) => ErrorKind::Mismatch,
        ControlError::NoSuchRank { .. } | ControlError::TooMany { .. } => ErrorKind::Argument,
        ControlError::Silent { .. } | ControlError::NothingCame { .. } | ControlError::NotReceived { .. } => {
            ErrorKind::Timeout
        }
        ControlError::Memory(_) => ErrorKind::Memory,
        ControlError::Outside => ErrorKind::Dropped,
        ControlError::OutOfStep(first) => of_control(first),
        ControlError::Closed => ErrorKind::Closed,
        ControlError::Gone(_)
        | ControlError::Cut { .. }
        | ControlError::Overrun { .. }
        | ControlError::WrongLength { .. }
        | ControlError::WrongMessage { .. }
        | ControlError::GivenUp { .. }
        | ControlError::LeftOut
        | ControlError::Broken { .. } => ErrorKind::Peer,
    }
}

fn is_fatal(error: &ControlError) -> bool {
    !matches!(
        error,
        ControlError::Differs(_)
            | ControlError::Outside
            | ControlError::GivenUp { .. }
            | ControlError::LeftOut
            | ControlError::Memory(_)
            | ControlError::NoSuchRank { .. }
            | ControlError::NothingCame { .. }
            | ControlError::NotReceived { .. }
            | ControlError::TooMany { .. }
    )
}

fn rank_of_control(error: &ControlError) -> Option<usize> {
    match error {
        ControlError::Differs(mismatch) => Some(mismatch.rank),
        ControlError::NothingCame { rank, .. } => *rank,
        ControlError::Gone(rank)
        | ControlError::Overrun { rank, .. }
        | ControlError::Silent { rank, .. }
        | ControlError::WrongLength { rank, .. }
        | ControlError::WrongMessage { rank }
        | ControlError::GivenUp { rank, .. }
        | ControlError::NotReceived { rank, .. }
        | ControlError::Broken { rank, .. }
        | ControlError::NoSuchRank { rank, .. } => Some(*rank),
        ControlError::OutOfStep(first) => rank_of_control(first),
        _ => None,
    }
}

/// Formats ranks for a message: "4 to 7", "1, 5 to 61" for every fourth, or all of them.
pub(crate) fn named(ranks: &[usize]) -> String {
    let step = |pair: &[usize]| pair[1] - pair[0];
    match ranks {
        [first, second, .., last] if ranks.windows(2).all(|pair| step(pair) == second - first) => {
            match second - first {
                1 => format!("{first} to {last}"),
                _ => format!("{first}, {second} to {last}"),
            }
        }
        ranks => ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    }
}
