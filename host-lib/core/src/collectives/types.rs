//! What callers of collectives give and get.

use std::fmt;

use thiserror::Error;

use crate::protocol::membership::BadMessage;
use crate::protocol::repair::UnexpectedAnswer;
use crate::protocol::{Kind, MalformedMessage, ParamError, PlanError, ProtocolError, Report, View};

/// A finished collective.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// How it went.
    pub report: Report,
    /// Mean gradient, or what else the collective gives ([`Kind`]); entries that nobody delivered are zero.
    pub result: Vec<f32>,
}

/// A collective that all ranks are to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// What is done.
    pub kind: Kind,
    /// Bucket id, below [`BUCKETS_MAX`](crate::protocol::BUCKETS_MAX).
    pub bucket: u16,
    /// Elements of the bucket; of an all-gather all parts together.
    pub elements: usize,
    /// Whether it travels Hadamard-encoded; all-reduces only.
    pub hadamard: bool,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, bucket, elements, hadamard } = self;
        write!(f, "{kind} of bucket {bucket} with {elements} elements, hadamard {hadamard}")
    }
}

/// What ends them, or a call of it.
#[derive(Debug, Error)]
pub enum CollectivesError<E: std::error::Error + 'static> {
    /// A parameter is out of range.
    #[error(transparent)]
    Params(#[from] ParamError),
    /// The bucket cannot be cut into windows.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The data plane said what cannot be, or nothing at all.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The data plane is broken.
    #[error("data plane: {0}")]
    Plane(#[source] E),
    /// No such collective waits for its gradient.
    #[error("collective {op} was not prepared, has started already, or is finished")]
    NotPrepared {
        /// Collective number.
        op: u32,
    },
    /// What is given is not as long as the bucket or, in an all-gather, as this rank's part of it.
    #[error("collective {op}: {found} elements are given, the bucket as it was prepared takes {expected}")]
    WrongLength {
        /// Collective number.
        op: u32,
        /// Elements given.
        found: usize,
        /// Elements expected.
        expected: usize,
    },
    /// The peers are at another collective.
    #[error(
        "collective {op} was prepared as {found}; the peers are at {expected}; all ranks must call the same in the same order"
    )]
    OutOfOrder {
        /// Collective number.
        op: u32,
        /// What this rank calls.
        found: Call,
        /// What the peers call, as long as the last time.
        expected: Call,
    },
    /// It is not decided which ranks take part in the next collective, or this rank does not.
    #[error(
        "collective {op}: the ranks have not agreed on who takes part; handle their messages and ask `may_prepare` again"
    )]
    NoView {
        /// Collective number.
        op: u32,
    },
    /// The ranks of the data plane cannot change.
    #[error("a change of ranks is not supported by this data plane")]
    FixedRanks,
    /// The data plane does not know this kind of collective.
    #[error("{0} is not supported by this data plane; ranks without a card can do it")]
    NotSupported(Kind),
    /// A blocking call found collectives still running.
    #[error("{running} collectives are still running; poll until they are finished")]
    Busy {
        /// How many.
        running: usize,
    },
}

/// A change among the ranks of the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MembershipEvent {
    /// Nothing was received from this rank for several collectives.
    Silent {
        /// The rank.
        rank: usize,
    },
    /// A view was decided: the ranks that take part from its `first_op` on.
    View(View),
    /// This rank was dropped from the view; it may [`join`](super::Collectives::join) again.
    Dropped,
}

/// A message of another rank that was refused. Nothing of it was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MessageError {
    /// It cannot be read.
    #[error(transparent)]
    Malformed(#[from] MalformedMessage),
    /// It cannot come from a rank of this job.
    #[error(transparent)]
    Membership(#[from] BadMessage),
    /// A repair that this rank does not wait for.
    #[error(transparent)]
    Unexpected(#[from] UnexpectedAnswer),
}
