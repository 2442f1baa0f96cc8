//! What a collective shows to those who trace (crate `tracing`, level debug): a span from its preparation to its end, and
//! in it one for each stage, from this rank's entry until all windows have closed it. Stages of different windows overlap, and
//! so do their spans.

use tracing::field::{Empty, display};
use tracing::{Span, debug_span};

use crate::protocol::{AllReduce, Stage};

#[derive(Debug)]
pub(crate) struct Spans {
    collective: Span,
    stages: [Span; 2],
}

impl Spans {
    /// A collective of `rank` is prepared.
    pub fn prepared(machine: &AllReduce, rank: usize) -> Self {
        let (bucket, elements, hadamard) = machine.bucket();
        let (op, kind) = (machine.op(), machine.kind());
        let collective = debug_span!(parent: None, "collective", %kind, op, bucket, rank, elements, hadamard);
        Self { collective, stages: [Span::none(), Span::none()] }
    }

    /// This rank enters a stage, for the first time in one of the windows.
    pub fn enter(&mut self, stage: Stage) {
        let span = &mut self.stages[stage.index()];
        if span.is_none() && !self.collective.is_disabled() {
            *span =
                debug_span!(parent: &self.collective, "stage", %stage, closed_by = Empty, received_fraction = Empty);
        }
    }

    /// A window has closed a stage. What the stages before have closed with is told once all windows have.
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
