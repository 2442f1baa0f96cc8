//! What callers of collectives give and get.

use std::fmt;

use thiserror::Error;

use crate::data_plane::Unsupported;
use crate::protocol::membership::BadMessage;
use crate::protocol::repair::UnexpectedAnswer;
use crate::protocol::{
    CallInfo, HadamardMode, JobParams, Kind, MalformedMessage, Mismatch, ParamError, PlanError, ProtocolError, Report,
    Stream, StreamId, View,
};
use crate::values::Values;

/// A finished collective.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finished {
    /// How it went.
    pub report: Report,
    /// Mean gradient, or what else the collective gives ([`Kind`]). Elements in [`Report::missing_ranges`] are zero, or what
    /// is left of their Hadamard block. If an update of a declared bucket is skipped: what this rank gave, unchanged.
    pub result: Values,
    /// If an update of a declared bucket was skipped: what came of it. Not to be applied: it comes whole with a later output.
    pub partial: Option<Values>,
    /// Bytes of the result that were copied to where the caller wants it, see [`Destination`](crate::Destination).
    pub copied_bytes: usize,
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
    /// When it travels Hadamard-encoded; all-reduces only.
    pub hadamard: HadamardMode,
    /// Whether it travels as bf16; `None`: as [`JobParams::bf16`](crate::protocol::JobParams::bf16) says.
    pub bf16: Option<bool>,
    /// Whether what its broadcast stage lost is repaired, if the job repairs ([`Collectives::repair`](super::Collectives::repair)).
    pub repair: bool,
    /// Whether the bucket is declared: where repairs go.
    pub stream: Stream,
}

impl Call {
    /// A collective of its own: see [`Stream::OneOff`]. Not encoded, repaired if the job repairs.
    pub const fn one_off(kind: Kind, bucket: u16, elements: usize) -> Self {
        let (hadamard, stream) = (HadamardMode::Off, Stream::OneOff);
        Self { kind, bucket, elements, hadamard, bf16: None, repair: true, stream }
    }

    /// A collective of a bucket that was declared `generation` times before: see [`Stream::Declared`]. Not encoded, repaired if
    /// the job repairs.
    pub const fn declared(kind: Kind, bucket: u16, elements: usize, generation: u32) -> Self {
        Self { stream: Stream::Declared { generation }, ..Self::one_off(kind, bucket, elements) }
    }

    /// Whether it is encoded among ranks of `view`.
    pub(super) fn is_encoded(&self, view: &View) -> bool {
        self.kind == Kind::AllReduce && self.hadamard.is_on(view.settings.hadamard)
    }

    /// What the ranks compare of it, among ranks of `view`.
    pub(super) fn info(&self, params: &JobParams, view: &View) -> CallInfo {
        let Self { kind, bucket, elements, bf16, stream, .. } = *self;
        let (hadamard, bf16) = (self.is_encoded(view), bf16.unwrap_or(params.bf16));
        CallInfo { kind, bucket, elements: elements as u64, hadamard, bf16, stream, misfit: None }
    }

    /// The stream whose corrections its output takes, if there is one: repaired all-reduces of declared buckets only.
    pub fn stream_id(&self) -> Option<StreamId> {
        let Self { kind, bucket, elements, repair, stream, .. } = *self;
        match stream {
            Stream::Declared { generation } if kind == Kind::AllReduce && repair => {
                Some(StreamId { bucket, generation, elements })
            }
            _ => None,
        }
    }

    /// Whether it belongs to no declared bucket.
    pub fn is_one_off(&self) -> bool {
        self.stream == Stream::OneOff
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, bucket, elements, hadamard, .. } = self;
        write!(f, "{kind} of bucket {bucket} with {elements} elements, Hadamard {hadamard}")
    }
}

/// What ends them, or a call of it.
#[derive(Debug, Error)]
#[non_exhaustive]
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
    #[error("collective {op}: {found} elements were handed in, expected {expected}")]
    WrongLength {
        /// Collective number.
        op: u32,
        /// Elements given.
        found: usize,
        /// Elements expected.
        expected: usize,
    },
    /// Ranks call different collectives, as they have told one another.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// It is not decided which ranks take part in the next collective, or this rank does not.
    #[error(
        "collective {op}: the ranks have not agreed on who takes part; handle their messages and ask `may_prepare` again"
    )]
    NoView {
        /// Collective number.
        op: u32,
    },
    /// The job has no number left for another collective.
    #[error("a job has at most {op} collectives; start it again from a checkpoint")]
    OutOfNumbers {
        /// The number that would have come next.
        op: u32,
    },
    /// The data plane cannot do what the call needs.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
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
