//! The end of a job: all ranks confirm that they called the same collectives.
//!
//! Why: a rank that omits a collective looks like a slow rank, until all ranks close.

use std::sync::Arc;

use super::command::Command;
use super::counts::CallCounts;
use super::error::{Cause, Error};
use super::request::{block_on, reply};
use super::settle::{Unsettled, add_bytes};
use super::{Communicator, Flat, Of, Request, Shared};
use crate::control::ControlError;

impl Communicator {
    /// Ends the job: waits for collectives in progress and for all ranks, and checks that all
    /// called the same number of collectives of each kind. Collective, over TCP. First
    /// [settle](super::Bucket::settle) the buckets.
    ///
    /// # Errors
    /// On every rank if the numbers differ; the last results are then wrong.
    /// [`ErrorKind::Dropped`](crate::ErrorKind::Dropped) if the others dropped this rank.
    /// [`ErrorKind::Unsettled`](crate::ErrorKind::Unsettled) if this rank lacks repairs that only
    /// [`settle`](super::Bucket::settle) would have returned; the job has then ended properly. Also
    /// errors of collectives and of [`barrier`](Self::barrier). The connections are closed in any
    /// case.
    pub fn close(mut self) -> Request<()> {
        let ended = self.start_ending();
        Request::on_a_thread("optireduce-close", move || {
            let ended = ended();
            drop(self);
            ended
        })
    }

    /// As [`close`](Self::close), for a caller that drops the communicator afterwards. Dropping it
    /// before ends the wait.
    pub(super) fn start_ending(&mut self) -> impl FnOnce() -> Result<(), Error> + Send + use<> {
        type Ending = Box<dyn FnOnce() -> Result<Unsettled, Error> + Send>;
        let (own, levels): (Ending, _) = match &mut self.0 {
            Of::Flat(flat, table) => {
                // Before the job, in which their calls are compared.
                let levels = table.start_ending(flat);
                (Box::new(flat.start_ending()), Some(levels))
            }
            Of::Levels(levels) => {
                let ending = levels.start_ending();
                (Box::new(|| ending.wait()), None)
            }
        };
        move || {
            let mut unsettled = own()?;
            // After an error, the others would only wait again.
            for ended in levels.into_iter().flatten() {
                add_bytes(&mut unsettled, ended?);
            }
            Cause::of_unsettled(unsettled)
        }
    }
}

impl Flat {
    /// Ends the job; the function waits until it has ended.
    fn start_ending(&mut self) -> impl FnOnce() -> Result<Unsettled, Error> + Send + use<> {
        let (ended, beside) = (self.shared.start_ending(), self.beside.take());
        move || {
            let mut unsettled = ended.wait()?;
            if let Some(mut beside) = beside {
                let ended = beside.start_ending()();
                drop(beside);
                add_bytes(&mut unsettled, ended?);
            }
            Ok(unsettled)
        }
    }
}

impl Shared {
    pub(super) fn start_ending(self: &Arc<Self>) -> Request<Unsettled> {
        let (sender, ended) = reply();
        let shared = self.clone();
        // In order with earlier calls over TCP.
        self.run(move |channel| {
            channel.begun(0);
            let (counts_sender, counts) = reply();
            let counted = shared.command(Command::Close(counts_sender)).and_then(|()| block_on(counts));
            let result = counted.and_then(|(counts, unsettled): (CallCounts, Unsettled)| {
                let same: Result<(), ControlError> = channel.call(&counts.terms(), shared.timeout, |_| Ok(()));
                same.map(|()| unsettled).map_err(Error::from)
            });
            let _ = sender.send(result);
        });
        ended.into()
    }
}
