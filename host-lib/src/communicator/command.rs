//! What callers want of the engine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::counts::CallCounts;
use super::request::{Outcome, Sender};
use super::settle::Settled;
use super::{Metrics, Shared};
use optireduce_core::protocol::{JobParams, Kind, Parts, Stream, StreamId};
use optireduce_core::{Call, Destination, Values};

/// A collective that a caller wants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Collective {
    pub call: Call,
    /// Whether the result is to be a sum.
    pub sum: bool,
    /// In a job that [falls back](super::fallback): its bucket among the same ranks over UDP.
    pub beside: Option<(u16, Stream)>,
}

impl Collective {
    /// Elements that a rank hands in: its shard in an all-gather, else the bucket.
    pub fn given_elements(&self, params: &JobParams) -> usize {
        let Call { kind, elements, .. } = self.call;
        if kind == Kind::AllGather { Parts::new(elements, params.ranks).of(params.rank).len() } else { elements }
    }

    /// Whether it is of this declared bucket.
    pub fn is_of(&self, of: StreamId) -> bool {
        self.call.bucket == of.bucket && self.call.stream == Stream::Declared { generation: of.generation }
    }
}

/// Memory of a collective.
#[derive(Debug)]
pub(super) struct Given {
    /// What this rank gives.
    pub values: Values,
    /// Where the result is to lie.
    pub destination: Destination,
}

impl<V: Into<Values>> From<V> for Given {
    fn from(values: V) -> Self {
        Self { values: values.into(), destination: Destination::Bucket }
    }
}

/// A bucket of which nothing is to be outstanding.
#[derive(Debug)]
pub(super) struct Settle {
    pub stream: StreamId,
    /// In a job that [falls back](super::fallback): the same one over UDP.
    pub beside: Option<StreamId>,
    /// What was found in the job with cards before.
    pub before: Option<Settled>,
    /// Whether its results are sums.
    pub sum: bool,
    /// When to stop waiting; `None`: never.
    pub until: Option<Instant>,
    pub reply: Sender<Settled>,
}

/// What callers want.
pub(super) enum Command {
    Collective {
        call: Collective,
        given: Given,
        /// What results of its bucket lack that were made elsewhere.
        correction: Option<Vec<f32>>,
        reply: Sender<Outcome>,
    },
    Settle(Settle),
    /// A bucket is dropped, or its number is about to be another's.
    Release {
        bucket: u16,
        /// What is dropped with it, once calls that wait have been handed on.
        with: Option<Box<dyn Send>>,
    },
    /// Answered once no collective runs or waits.
    Close(Sender<CallCounts>),
    Rejoin(Sender<u32>),
    Metrics(Sender<Metrics>),
    /// Who goes on once a card has failed; before any call.
    FallBackTo(Arc<Shared>),
    /// The next call is not to begin before the others have come to it, or before so long.
    Follow(Duration),
    End,
}
