//! What can go wrong with a communicator.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::card::CardError;
use crate::control::{BootstrapError, ControlError, LaunchError};
use crate::exact::{ElementType, ExactOp};
use crate::memory::NotEnoughMemory;
use crate::plane::PlaneError;
use crate::secret::SecretError;
use crate::udp::{PathError, UdpError};
use optireduce_core::CollectivesError;
use optireduce_core::protocol::{Mismatch as CallMismatch, RANKS_MAX};

/// A job could not be joined.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The environment does not say which rank this process is.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The secret cannot be used.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The ranks did not come together, or their settings differ.
    #[error(transparent)]
    Bootstrap(#[from] BootstrapError),
    /// A peer was lost before the first collective.
    #[error("before the first collective: {0}")]
    Control(#[from] ControlError),
    /// A card cannot be used, or not by this job.
    #[error(transparent)]
    Card(#[from] CardError),
    /// The UDP socket failed.
    #[error("{0}")]
    Socket(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A setting is out of its range.
    #[error("{setting} is {found}, expected {expected}")]
    Setting {
        /// Name of the setting in [`Builder`](crate::Builder).
        setting: &'static str,
        /// Its value.
        found: String,
        /// What it may be.
        expected: String,
    },
    /// The ranks cannot be cut into so many groups.
    #[error(
        "{ranks} ranks in {groups} groups: expected at least two groups, of equal size and at least two ranks each, and at most \
         {RANKS_MAX} of either"
    )]
    Groups {
        /// Ranks of the job.
        ranks: usize,
        /// Groups wanted.
        groups: usize,
    },
    /// No number of groups suits so many ranks.
    #[error(
        "{ranks} ranks cannot be cut into groups of equal size with 2 to 64 ranks each; start {near} ranks, or go without groups, with at \
         most {RANKS_MAX} ranks"
    )]
    NoGroups {
        /// Ranks of the job.
        ranks: usize,
        /// The nearest numbers of ranks that can, for the message: "6 or 8".
        near: String,
    },
    /// The ranks of a group did not come together.
    #[error("the group {group}, where ranks {ranks} of the job count from 0: {source}")]
    InGroup {
        /// Its name.
        group: String,
        /// Its ranks of the job, for the message.
        ranks: String,
        /// Why not; ranks that it names are ranks of the group.
        source: Box<ConnectError>,
    },
    /// The hosts cannot be the groups of two levels.
    #[error(
        "two levels by host: {found}; expected at least two hosts, with the same number of ranks on each, two or more; or name a number of \
         groups"
    )]
    Hosts {
        /// Which ranks are where.
        found: String,
    },
    /// The settings do not fit one another.
    #[error("{0}")]
    Params(String),
    /// There is too little memory on this host, or in its container.
    #[error("{0}")]
    Memory(#[from] NotEnoughMemory),
    /// No thread, or nothing to wake it with.
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

/// A call failed. After [`Argument`](Self::Argument), [`Operation`](Self::Operation), [`Cards`](Self::Cards), [`Memory`](Self::Memory), [`Dropped`](Self::Dropped) and differences between the ranks
/// ([`ControlError::Differs`]) the communicator can still be used; after others, make a new one.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A collective failed; all later ones fail with the same error.
    #[error("{0}; make a new communicator")]
    Collective(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// The ranks call different collectives; they have confirmed it to one another, and all of them get this error.
    #[error("{0}; make a new communicator")]
    Mismatch(#[source] CallMismatch),
    /// A call over the control channel failed: a peer is gone, does not come, or calls something else.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A call of the ranks of a group failed, for a call of all ranks on two levels.
    #[error("in the group where ranks {ranks} of the job count from 0: {source}")]
    InGroup {
        /// Its ranks of the job, for the message.
        ranks: String,
        /// Why; ranks that it names are ranks of the group.
        source: Arc<Error>,
    },
    /// An argument is not valid; nothing was changed.
    #[error("invalid argument: {name} is {found}, expected {expected}; nothing was changed")]
    Argument {
        /// Name of the argument.
        name: &'static str,
        /// Its value.
        found: usize,
        /// What it must be.
        expected: String,
    },
    /// There is no such reduction of this type; nothing was changed.
    #[error(
        "invalid argument: there is no {op} of {element} values: avg is for floating-point types, and, or and xor are for integers; nothing was changed"
    )]
    Operation {
        /// The operation.
        op: ExactOp,
        /// The type.
        element: ElementType,
    },
    /// There is no such call in a job with cards; nothing was changed.
    #[error("{call}: not in a job with cards, and rank {rank} has one; {instead}. Nothing was changed")]
    Cards {
        /// The call.
        call: &'static str,
        /// The first rank with a card.
        rank: usize,
        /// What to do.
        instead: &'static str,
    },
    /// There is too little memory on this host; nothing was changed.
    #[error(transparent)]
    Memory(#[from] NotEnoughMemory),
    /// The others go on without this rank.
    #[error(
        "this rank was dropped because the others had not heard it for several collectives; call `rejoin`, then fetch the \
         model from a rank that stayed"
    )]
    Dropped,
    /// No quorum of ranks answers.
    #[error(
        "the ranks did not agree on who takes part within {} s; a quorum is more than half of the ranks, or half of them with \
         the lowest one",
        waited.as_secs_f64()
    )]
    NoAgreement {
        /// How long was waited.
        waited: Duration,
    },
    /// The communicator was dropped before the call, or during it.
    #[error("the communicator of this call was dropped, or its engine has ended; make a new communicator")]
    Closed,
}

impl From<CollectivesError<PlaneError>> for Error {
    fn from(error: CollectivesError<PlaneError>) -> Self {
        match error {
            CollectivesError::Mismatch(mismatch) => Self::Mismatch(mismatch),
            error => Self::Collective(Arc::new(error)),
        }
    }
}
