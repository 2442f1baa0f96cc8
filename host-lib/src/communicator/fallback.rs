//! Fallback to the kernel's UDP after a card has failed.
//!
//! Why: otherwise a failed card drops its rank from the job.
//!
//! How: the rank of the failed card asks for a view with [`Settings::fallback`], which begins at
//! the same collective on all ranks. All calls still pass the engine of the job with cards, which
//! keeps their order. The others wait for the failed rank in collectives in progress, so it waits
//! for them before its first collective over UDP. Corrections move with the next call of a bucket.
//!
//! Limits: ranks with working cards use UDP as well, until the end of the job.
//!
//! [`Settings::fallback`]: optireduce_core::protocol::membership::Settings

use std::sync::Arc;
use std::time::Duration;

use super::Shared;
use super::command::{Collective, Command, Given, Settle};
use super::request::{Outcome, Sender};
use super::settle::{Settled, add};
use optireduce_core::protocol::{Kind, StreamId};

pub(super) struct Fallback {
    beside: Arc<Shared>,
    from_op: Option<u32>,
}

impl Fallback {
    pub fn new(beside: Arc<Shared>) -> Self {
        Self { beside, from_op: None }
    }

    /// `behind`: largest lag of the others, if this rank's card failed.
    pub fn begin(&mut self, first_op: u32, behind: Duration) {
        self.from_op = Some(first_op);
        let _ = self.beside.command(Command::Follow(behind));
    }

    pub fn has(&self, op: u32) -> bool {
        self.from_op.is_some_and(|from_op| op >= from_op)
    }

    /// `op`: number that the call would have in this job.
    pub fn takes(&self, call: &Collective, op: u32) -> bool {
        call.beside.is_some() && (call.call.kind != Kind::AllReduce || self.has(op))
    }

    /// `correction`: pending in this job. If the other engine has ended, the reply channel closes.
    pub fn pass(&self, call: Collective, given: Given, correction: Option<Vec<f32>>, reply: Sender<Outcome>) {
        let Some((bucket, stream)) = call.beside else { return };
        let there = optireduce_core::Call { bucket, stream, ..call.call };
        let call = Collective { call: there, beside: None, ..call };
        let _ = self.beside.command(Command::Collective { call, given, correction, reply });
    }

    /// Settles the bucket over UDP as well.
    pub fn settle(&self, settle: Settle, here: Settled) {
        let Some(stream) = settle.beside else { return };
        let before = Some(here);
        let _ = self.beside.command(Command::Settle(Settle { stream, beside: None, before, ..settle }));
    }
}

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

    /// Returns the forgotten bytes.
    pub fn forget(&mut self, bucket: u16) -> u64 {
        let forgotten = self.0.extract_if(.., |(of, _)| of.bucket == bucket);
        forgotten.map(|(_, owed)| size_of_val(owed.as_slice()) as u64).sum()
    }

    /// Bytes by bucket.
    pub fn bytes(&self) -> impl Iterator<Item = (u16, u64)> {
        self.0.iter().map(|(of, owed)| (of.bucket, size_of_val(owed.as_slice()) as u64))
    }
}
