//! The end of a job: all ranks confirm that they have called the same collectives.
//!
//! Why: a rank that calls one collective fewer than the others looks, at the last collective, like a rank that is slow: the
//! others finish without it. Only when all of them close is it certain that it will not come.

use super::Communicator;
use super::command::Command;
use super::counts::CallCounts;
use super::error::Error;
use super::request::{block_on, reply};
use crate::control::ControlError;

impl Communicator {
    /// Ends the job: waits for the collectives of this rank that still run, then for all ranks, and confirms that all have
    /// called the same number of collectives of each kind. Collective. [Settle](super::Bucket::settle) the buckets before.
    ///
    /// # Errors
    /// On every rank if the ranks differ, naming the rank and both values: the results of the last collectives are then not
    /// what they were meant to be. [`Error::Dropped`] if the others go on without this rank. As
    /// [`barrier`](Self::barrier), and the error of a collective that failed. The connections are ended in any case.
    pub fn close(self) -> Result<(), Error> {
        block_on(self.close_async())
    }

    /// As [`close`](Self::close), without blocking the thread. A future that is dropped ends the connections.
    ///
    /// # Errors
    /// As [`close`](Self::close).
    pub async fn close_async(self) -> Result<(), Error> {
        let (sender, closed) = reply();
        let (shared, mut this) = (self.shared.clone(), self);
        let beside = this.beside.take();
        // Behind one-off collectives, which reach the engine from the same thread.
        this.shared.run(move |channel| {
            channel.begun(0);
            let (counts_sender, counts) = reply();
            let counted = shared.command(Command::Close(counts_sender)).and_then(|()| block_on(counts));
            let result = counted.and_then(|counts: CallCounts| {
                let same: Result<(), ControlError> = channel.call(&counts.terms(), shared.timeout, |_| Ok(()));
                same.map_err(Error::from)
            });
            let _ = sender.send(result);
        });
        let closed = closed.await;
        match beside {
            // The counts of halves, too. After an error nobody is waited for once more.
            Some(beside) if closed.is_ok() => Box::pin(beside.close_async()).await,
            _ => closed,
        }
    }
}
