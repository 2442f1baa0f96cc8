//! Commands of callers to the engine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Metrics;
use super::Shared;
use super::counts::CallCounts;
use super::request::{Outcome, Sender};
use super::settle::{Settled, Unsettled};
use optireduce_core::protocol::{JobParams, Kind, Parts, Stream, StreamId};
use optireduce_core::{Call, Destination, Values};

#[derive(Clone, Copy, Debug)]
pub(super) struct Collective {
    pub call: Call,
    pub sum: bool,
    /// Whether the result has separate memory ([`Destination::Here`]).
    pub here: bool,
    /// In a job that [falls back](super::fallback): the bucket over UDP.
    pub beside: Option<(u16, Stream)>,
}

impl Collective {
    pub fn given_elements(&self, params: &JobParams) -> usize {
        let Call { kind, elements, .. } = self.call;
        if kind == Kind::AllGather { Parts::new(elements, params.ranks).of(params.rank).len() } else { elements }
    }

    pub fn is_of(&self, of: StreamId) -> bool {
        let numbers = [Some(self.call.bucket), self.call.kind.wire_bucket(self.call.bucket)];
        numbers.contains(&Some(of.bucket)) && self.call.stream == Stream::Declared { generation: of.generation }
    }
}

#[derive(Debug)]
pub(super) struct Given {
    pub values: Values,
    pub destination: Destination,
    /// Wrong length of the caller's memory, and the expected one.
    pub misfit: Option<(usize, usize)>,
}

impl From<(Values, Destination)> for Given {
    fn from((values, destination): (Values, Destination)) -> Self {
        Self { values, destination, misfit: None }
    }
}

impl From<Values> for Given {
    fn from(values: Values) -> Self {
        (values, Destination::Bucket).into()
    }
}

#[derive(Debug)]
pub(super) struct Settle {
    pub stream: StreamId,
    /// In a job that [falls back](super::fallback): the bucket over UDP.
    pub beside: Option<StreamId>,
    /// Outcome over cards.
    pub before: Option<Settled>,
    pub sum: bool,
    /// End of the wait; `None`: never.
    pub until: Option<Instant>,
    pub reply: Sender<Settled>,
}

pub(super) enum Command {
    Collective {
        call: Collective,
        given: Given,
        /// Repairs of earlier results over cards.
        correction: Option<Vec<f32>>,
        reply: Sender<Outcome>,
    },
    Settle(Settle),
    /// A bucket is dropped, or its id is about to be reused.
    Release {
        bucket: u16,
        /// Dropped with it, once its waiting calls were passed on.
        with: Option<Box<dyn Send>>,
    },
    /// Answered once no collective is running or waiting.
    Close(Sender<(CallCounts, Unsettled)>),
    Rejoin(Sender<u32>),
    Metrics(Sender<Metrics>),
    /// Job over UDP that takes over once a card fails; sent before any call.
    FallBackTo(Arc<Shared>),
    /// Delays the next call until peers have reached it, or for this duration.
    Follow(Duration),
    /// Ends all collectives with this error.
    Fail(super::Error),
    End,
}
