//! Going on over the kernel's UDP once a card has failed.
//!
//! Why: a card that fails would take its rank out of the job. The ranks of a job with cards have a communicator over UDP beside it anyway, for
//! what cards do not know; so they agree on a collective from which on that one makes all of them, and nobody leaves.
//! How: a rank whose card fails asks for it; the view that says so ([`Settings::fallback`]) begins at the same collective on all
//! ranks. All calls pass the engine of the job with cards, which hands them on in the order in which they were called: that is the same on all
//! ranks, too. The rank whose card has failed waits for the others there, which in what was under way wait for it until the bounds.
//! What results before lacked and was repaired goes with the next call of the bucket.
//! Limits: all ranks go over UDP then, those with cards that work, too; for good.
//!
//! [`Settings::fallback`]: optireduce_core::protocol::membership::Settings

use std::sync::Arc;
use std::time::Duration;

use super::Shared;
use super::command::{Collective, Command, Given, Settle};
use super::request::{Outcome, Sender};
use super::settle::{Settled, add};
use optireduce_core::protocol::{Kind, StreamId};

/// The same ranks over UDP, as the engine of a job with cards sees them.
pub(super) struct Fallback {
    beside: Arc<Shared>,
    /// The collective from which on they make all.
    from_op: Option<u32>,
}

impl Fallback {
    pub fn new(beside: Arc<Shared>) -> Self {
        Self { beside, from_op: None }
    }

    /// The ranks have agreed on it. `behind`: how far the others may be behind this rank, whose card has failed.
    pub fn begin(&mut self, first_op: u32, behind: Duration) {
        self.from_op = Some(first_op);
        let _ = self.beside.command(Command::Follow(behind));
    }

    /// Whether all collectives from `op` on are made over UDP.
    pub fn has(&self, op: u32) -> bool {
        self.from_op.is_some_and(|from_op| op >= from_op)
    }

    /// Whether a call is made over UDP that would be collective `op` here.
    pub fn takes(&self, call: &Collective, op: u32) -> bool {
        call.beside.is_some() && (call.call.kind != Kind::AllReduce || self.has(op))
    }

    /// Hands a call on. `correction`: what results of its bucket so far lack. If the other engine has ended, the reply says so.
    pub fn pass(&self, call: Collective, given: Given, correction: Option<Vec<f32>>, reply: Sender<Outcome>) {
        let Some((bucket, stream)) = call.beside else { return };
        let there = optireduce_core::Call { bucket, stream, ..call.call };
        let call = Collective { call: there, beside: None, ..call };
        let _ = self.beside.command(Command::Collective { call, given, correction, reply });
    }

    /// Asks there for what a bucket lacks, too, after `here` was found.
    pub fn settle(&self, settle: Settle, here: Settled) {
        let Some(stream) = settle.beside else { return };
        let before = Some(here);
        let _ = self.beside.command(Command::Settle(Settle { stream, beside: None, before, ..settle }));
    }
}

/// What results of buckets lack that were made over cards, and the next one that is applied is to make up for.
#[derive(Debug, Default)]
pub(super) struct Owed(Vec<(StreamId, Vec<f32>)>);

impl Owed {
    pub fn add(&mut self, stream: StreamId, correction: Vec<f32>) {
        match self.0.iter_mut().find(|(of, _)| *of == stream) {
            Some((_, owed)) => add(owed, &correction),
            None => self.0.push((stream, correction)),
        }
    }

    pub fn take(&mut self, stream: StreamId) -> Option<Vec<f32>> {
        let at = self.0.iter().position(|(of, _)| *of == stream)?;
        Some(self.0.swap_remove(at).1)
    }

    pub fn forget(&mut self, bucket: u16) {
        self.0.retain(|(of, _)| of.bucket != bucket);
    }
}
