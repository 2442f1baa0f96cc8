//! Tracing spans of a collective (crate `tracing`, level debug).
//!
//! A collective's span lasts from preparation to end. Its child spans are the stages, each from
//! this rank's entry until all windows have closed it.

use tracing::field::{Empty, display};
use tracing::{Span, debug_span};

use crate::protocol::{AllReduce, Stage};

#[derive(Debug)]
pub(crate) struct Spans {
    collective: Span,
    stages: [Span; 2],
}

impl Spans {
    pub fn prepared(machine: &AllReduce, rank: usize) -> Self {
        let (bucket, elements, hadamard) = machine.bucket();
        let (op, kind) = (machine.op(), machine.kind());
        let collective = debug_span!(parent: None, "collective", %kind, op, bucket, rank, elements, hadamard);
        Self { collective, stages: [Span::none(), Span::none()] }
    }

    pub fn enter(&mut self, stage: Stage) {
        let span = &mut self.stages[stage.index()];
        if span.is_none() && !self.collective.is_disabled() {
            *span =
                debug_span!(parent: &self.collective, "stage", %stage, closed_by = Empty, received_fraction = Empty);
        }
    }

    /// Records that a window has closed a stage. The last window ends the span.
    pub fn closed(&mut self, stage: Stage, machine: &AllReduce) {
        if self.collective.is_disabled() {
            return;
        }
        if stage == Stage::Contribute {
            self.enter(Stage::Broadcast);
        }
        if let Some(summary) = machine.finished_stage(stage) {
            let span = std::mem::replace(&mut self.stages[stage.index()], Span::none());
            span.record("closed_by", display(summary.closed_by));
            span.record("received_fraction", summary.received_fraction);
        }
    }
}
