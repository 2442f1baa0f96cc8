//! Inputs, outputs and errors of collectives.

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
    /// Loss, timing and action.
    pub report: Report,
    /// Mean gradient or other result of the [`Kind`]. Elements in [`Report::missing_ranges`] are
    /// zero, or decoded from the rest of their Hadamard block. After a skipped update of a declared
    /// bucket: this rank's gradient, unchanged.
    pub result: Values,
    /// Received mean of a skipped update of a declared bucket, in the memory of
    /// [`Destination::Here`](crate::Destination::Here) if that was given. Do not apply it: if only
    /// this rank skips, a repair adds the whole update to a later output.
    pub partial: Option<Values>,
    /// Bytes of the result copied to the caller's [`Destination`](crate::Destination).
    pub copied_bytes: usize,
}

/// Repair of means that were lost on their way to a rank. Costs a copy of each rank's means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Repair {
    /// No repair: replicas differ after a loss.
    Off,
    /// Lost means are fetched and added to the bucket's next result. Results of all-gathers are not
    /// repaired, since the next one has other values.
    NextUpdate,
    /// A collective of a bucket waits for its lost means, at most 4 t_B. Whether it is applied then
    /// depends on the remaining loss. Replicas have the same bits unless a repair takes longer.
    #[default]
    ThisUpdate,
}

impl Repair {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Off, Self::NextUpdate, Self::ThisUpdate];
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::NextUpdate => "next_update",
            Self::ThisUpdate => "this_update",
        })
    }
}

/// Parameters of a collective, the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // `kind` explains itself
pub struct Call {
    pub kind: Kind,
    /// Bucket id, below [`BUCKETS_MAX`](crate::protocol::BUCKETS_MAX).
    pub bucket: u16,
    /// Elements of the bucket; in an all-gather, of all parts together.
    pub elements: usize,
    /// When to Hadamard-encode the data. All-reduces only.
    pub hadamard: HadamardMode,
    /// Sends values as bf16. `None`: as [`JobParams::bf16`](crate::protocol::JobParams::bf16).
    pub bf16: Option<bool>,
    /// [Repair](super::Collectives::repair) of losses of the broadcast stage. A one-off call waits
    /// for its repairs with either value.
    pub repair: Repair,
    /// Declared bucket or one-off, which decides where repairs go.
    pub stream: Stream,
    /// All-gather of a declared bucket whose results add up, as updates do: late repairs are added
    /// to a later result.
    pub adds_up: bool,
}

impl Call {
    /// One-off collective ([`Stream::OneOff`]), not encoded. Repairs arrive with the next result.
    pub const fn one_off(kind: Kind, bucket: u16, elements: usize) -> Self {
        let (hadamard, stream) = (HadamardMode::Off, Stream::OneOff);
        Self { kind, bucket, elements, hadamard, bf16: None, repair: Repair::NextUpdate, stream, adds_up: false }
    }

    /// Likewise, of a bucket that was declared `generation` times before ([`Stream::Declared`]).
    pub const fn declared(kind: Kind, bucket: u16, elements: usize, generation: u32) -> Self {
        Self { stream: Stream::Declared { generation }, ..Self::one_off(kind, bucket, elements) }
    }

    pub(super) fn is_encoded(&self, view: &View) -> bool {
        self.kind == Kind::AllReduce && self.hadamard.is_on(view.settings.hadamard)
    }

    pub(super) fn info(&self, params: &JobParams, view: &View) -> CallInfo {
        let Self { kind, bucket, elements, bf16, stream, .. } = *self;
        let (hadamard, bf16) = (self.is_encoded(view), bf16.unwrap_or(params.bf16));
        CallInfo { kind, bucket, elements: elements as u64, hadamard, bf16, stream, misfit: None }
    }

    /// Stream whose corrections the output takes, if any.
    pub fn stream_id(&self) -> Option<StreamId> {
        let Self { kind, bucket, elements, repair, stream, .. } = *self;
        match stream {
            Stream::Declared { generation } if self.is_update() && repair != Repair::Off => {
                Some(StreamId { bucket: kind.wire_bucket(bucket)?, generation, elements })
            }
            _ => None,
        }
    }

    /// Returns whether results of the bucket add up, so that a later one can repair an earlier one.
    pub fn is_update(&self) -> bool {
        self.kind == Kind::AllReduce || self.kind == Kind::AllGather && self.adds_up
    }

    /// Returns whether the call belongs to no declared bucket.
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

/// Error of a collective, or of all collectives.
#[allow(missing_docs)] // the messages name the fields
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CollectivesError<E: std::error::Error + 'static> {
    #[error(transparent)]
    Params(#[from] ParamError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The data plane reported an impossible state, or nothing at all.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The data plane is broken.
    #[error("data plane: {0}")]
    Plane(#[source] E),
    /// The collective does not wait for its input.
    #[error("collective {op} was not prepared, has started already, or is finished")]
    NotPrepared { op: u32 },
    /// The input is not as long as the bucket or, in an all-gather, as this rank's part.
    #[error("collective {op}: {found} elements were passed, expected {expected}")]
    WrongLength { op: u32, found: usize, expected: usize },
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// The members of the next collective are undecided, or this rank is not one.
    #[error(
        "collective {op}: the ranks have not agreed on who takes part; handle their messages and ask `may_prepare` again"
    )]
    NoView { op: u32 },
    #[error("a job has at most {op} collectives; restart it from a checkpoint")]
    OutOfNumbers { op: u32 },
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    #[error("{running} collectives are still running; poll until they are finished")]
    Busy { running: usize },
}

/// Change of the job's membership.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // fields explain themselves
pub enum MembershipEvent {
    /// Nothing was received from this rank for several collectives in a row.
    Silent { rank: usize },
    /// A view was decided. Its ranks take part from its `first_op` on.
    View(View),
    /// This rank was dropped. It may [rejoin](super::Collectives::join).
    Dropped,
}

/// Reason for rejecting a message of another rank, which had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)] // described by their types
pub enum MessageError {
    #[error(transparent)]
    Malformed(#[from] MalformedMessage),
    #[error(transparent)]
    Membership(#[from] BadMessage),
    #[error(transparent)]
    Unexpected(#[from] UnexpectedAnswer),
}
