//! The end of a job: all ranks confirm that they called the same collectives.
//!
//! Why: a rank that omits a collective looks like a slow rank, until all ranks close.

use super::command::Command;
use super::counts::CallCounts;
use super::error::{Cause, Error};
use super::request::{block_on, reply};
use super::settle::{Unsettled, add_bytes};
use super::{Communicator, Request};
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
    pub fn close(self) -> Request<()> {
        Request::on_a_thread("optireduce-close", self.ending(Cause::of_unsettled))
    }

    /// Ends the job, and returns a function that waits until it has ended.
    pub(super) fn ending<T>(
        mut self,
        then: fn(Unsettled) -> Result<T, Error>,
    ) -> impl FnOnce() -> Result<T, Error> + Send {
        let wait = self.start_ending(then);
        move || {
            let ended = wait();
            drop(self);
            ended
        }
    }

    /// As [`ending`](Self::ending), for a caller that drops the communicator afterwards. Dropping
    /// it before ends the wait.
    pub(super) fn start_ending<T>(
        &mut self,
        then: fn(Unsettled) -> Result<T, Error>,
    ) -> impl FnOnce() -> Result<T, Error> + Send + use<T> {
        let (sender, closed) = reply();
        let (shared, beside) = (self.shared.clone(), self.beside.take());
        // In order with earlier calls over TCP.
        self.shared.run(move |channel| {
            channel.begun(0);
            let (counts_sender, counts) = reply();
            let counted = shared.command(Command::Close(counts_sender)).and_then(|()| block_on(counts));
            let result = counted.and_then(|(counts, unsettled): (CallCounts, Unsettled)| {
                let same: Result<(), ControlError> = channel.call(&counts.terms(), shared.timeout, |_| Ok(()));
                same.map(|()| unsettled).map_err(Error::from)
            });
            let _ = sender.send(result);
        });
        move || {
            let mut unsettled: Unsettled = block_on(closed)?;
            // After an error, the second comparison would only wait again.
            if let Some(beside) = beside {
                add_bytes(&mut unsettled, beside.ending(Ok)()?);
            }
            then(unsettled)
        }
    }
}
