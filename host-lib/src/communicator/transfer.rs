//! Messages between two ranks, independent of the calls of all ranks.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::request::{block_on, block_on_for, keep};
use super::{Communicator, Error};
use crate::control::{ControlError, Message, Space, Tag, Underway};

/// A send or receive in progress, like `MPI_Request`. It returns the message.
///
/// Every wait fails after the communicator's timeout without progress, and immediately if the other
/// rank has ended. Only time spent waiting counts: [`test`](Self::test) does not wait, and several
/// [`wait_timeout`](Self::wait_timeout) add up.
///
/// Dropping it cancels it. A message in transit is then lost, and the transfer on the other rank
/// fails.
#[derive(Debug)]
#[must_use = "dropping it cancels it"]
pub struct Transfer {
    underway: Underway,
    done: Option<Result<Message, Error>>,
}

impl Transfer {
    fn new(underway: Underway) -> Self {
        Self { underway, done: None }
    }

    /// Returns whether the transfer has ended, without blocking.
    #[must_use = "only a finished call has a result"]
    pub fn test(&mut self) -> bool {
        self.wait_timeout(Duration::ZERO)
    }

    /// Blocks until the transfer has ended, at most `timeout`; returns whether it has.
    #[must_use = "the call may not have finished"]
    pub fn wait_timeout(&mut self, timeout: Duration) -> bool {
        let mut left = timeout;
        while self.done.is_none() {
            let slice = left.min(self.underway.patience());
            let mut ended = poll_fn(|context| self.underway.poll_untimed(context));
            self.done = block_on_for(&mut ended, Some(slice)).map(|outcome| outcome.map_err(Error::from));
            if self.done.is_none() {
                self.underway.waited(slice);
                if left.is_zero() {
                    break;
                }
                left -= slice;
            }
        }
        self.done.is_some()
    }

    /// Polls whether the transfer has ended, within the timeout, and keeps its result for
    /// [`wait`](Self::wait).
    #[doc(hidden)]
    pub fn poll_finished(&mut self, context: &mut Context<'_>) -> Poll<()> {
        keep(&mut self.done, || Pin::new(&mut self.underway).poll(context).map(|outcome| outcome.map_err(Error::from)))
    }

    /// Blocks until the transfer has ended. Use `.await` inside an async runtime.
    ///
    /// # Errors
    /// Names the other rank if it is gone or makes no progress for the timeout. If either host has
    /// too little memory. The communicator can still be used.
    pub fn wait(self) -> Result<Message, Error> {
        block_on(self)
    }
}

impl Future for Transfer {
    type Output = Result<Message, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.done.take() {
            Some(done) => Poll::Ready(done),
            None => Pin::new(&mut self.underway).poll(context).map(|outcome| outcome.map_err(Error::from)),
        }
    }
}

impl Communicator {
    /// Sends `bytes` to rank `to`, which receives them with the same `tag`. Exact, over TCP. Not
    /// collective.
    ///
    /// Messages with the same tag arrive in order. A rank may send to itself. A receiver stores up
    /// to 8 MiB from each other rank, counting 256 bytes extra for each message; messages that do
    /// not fit wait at the sender for a receive. Any thread may call it, also during a collective
    /// call.
    ///
    /// # Errors
    /// See [`Transfer::wait`].
    pub fn send_bytes(&self, to: usize, tag: u32, bytes: &[u8]) -> Result<(), Error> {
        block_on(self.send_bytes_async(to, tag, bytes))
    }

    /// Async form of [`send_bytes`](Self::send_bytes).
    pub async fn send_bytes_async(&self, to: usize, tag: u32, bytes: &[u8]) -> Result<(), Error> {
        self.start_send(to, tag, bytes.to_vec()).await.map(drop)
    }

    /// Receives the next message from rank `from` with this `tag`. Exact, over TCP. Not collective.
    /// Any thread may call it.
    ///
    /// # Errors
    /// See [`Transfer::wait`].
    pub fn recv_bytes(&self, from: usize, tag: u32) -> Result<Vec<u8>, Error> {
        block_on(self.recv_bytes_async(from, tag))
    }

    /// Async form of [`recv_bytes`](Self::recv_bytes).
    pub async fn recv_bytes_async(&self, from: usize, tag: u32) -> Result<Vec<u8>, Error> {
        self.start_recv(Some(from), tag).await.map(|message| message.bytes)
    }

    /// Starts [`send_bytes`](Self::send_bytes). At most 4096 unstored messages to a rank may be
    /// outstanding.
    pub fn start_send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Transfer {
        Transfer::new(self.shared.mailbox.send(to, Tag { space: Space::Caller, tag }, bytes))
    }

    /// Starts [`recv_bytes`](Self::recv_bytes). At most 65 536 receives may be outstanding.
    ///
    /// With `None` as `from` it takes the first message of any rank, this one included. It fails if
    /// a rank is gone, or once all are if they are [left out](Self::skip_gone_ranks).
    pub fn start_recv(&self, from: Option<usize>, tag: u32) -> Transfer {
        Transfer::new(self.shared.mailbox.receive(from, Tag { space: Space::Caller, tag }))
    }

    pub(super) async fn send_in_group(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<(), ControlError> {
        self.shared.mailbox.send(to, Tag { space: Space::Group, tag }, bytes).await.map(drop)
    }

    /// `waited`: whole time allowed, for the error.
    pub(super) async fn receive_in_group(
        &self,
        from: usize,
        tag: u32,
        left: Duration,
        waited: Duration,
    ) -> Result<Vec<u8>, ControlError> {
        let receive = self.shared.mailbox.receive(Some(from), Tag { space: Space::Group, tag }).within(left);
        receive.await.map(|message| message.bytes).map_err(|error| match error {
            ControlError::NothingCame { .. } => ControlError::Silent { rank: from, waited },
            error => error,
        })
    }
}
