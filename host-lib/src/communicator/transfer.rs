//! Messages from point to point: of one rank to another, beside the calls of all ranks and in no order with them.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::request::{block_on, block_on_for};
use super::{Communicator, Error};
use crate::control::{ControlError, Message, Space, Tag, Underway};

/// A send or receive that has begun, as `MPI_Request`. Wait for it, [`test`](Self::test) it, or `.await` it. It gives the message.
///
/// It may be outstanding for any time. [`wait`](Self::wait) and `.await` fail once it has got no further for the timeout of the
/// communicator, and all ways to ask at once if the other rank has ended. Dropping it cancels it: a receive that
/// has no message yet takes none, and a message that the other rank does not keep yet does not come. One that is on its way is lost, and
/// what waits for it on the other rank fails.
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

    /// Whether it has ended; does not wait. Once it has, [`wait`](Self::wait) and `.await` return at once.
    pub fn test(&mut self) -> bool {
        self.wait_timeout(Duration::ZERO)
    }

    /// Waits until it has ended, at most `timeout`; returns whether it has. Blocks the thread. It stays outstanding if not.
    pub fn wait_timeout(&mut self, timeout: Duration) -> bool {
        if self.done.is_none() {
            let mut ended = poll_fn(|context| self.underway.poll_untimed(context));
            self.done = block_on_for(&mut ended, Some(timeout)).map(|outcome| outcome.map_err(Error::from));
        }
        self.done.is_some()
    }

    /// Waits until it has ended; the message. Blocks the thread; `.await` it instead where that would hold up other tasks.
    ///
    /// # Errors
    /// Names the other rank if it is gone, if nothing of the message came or was taken for the timeout, or if either host has too little
    /// memory for it. The communicator can still be used.
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
    /// Sends `bytes` to one rank, which receives them with the same `tag`. Of each other rank a rank keeps up to 8 MiB until they are
    /// received, 256 bytes a message included: a message that fits into that is sent at once. A longer one waits until it is asked for.
    /// Messages with the same tag are received in the order in which they were sent. A rank may send to itself. Not collective;
    /// may be called on several threads, also while another makes a collective call.
    ///
    /// # Errors
    /// As [`Transfer::wait`].
    pub fn send_bytes(&self, to: usize, tag: u32, bytes: &[u8]) -> Result<(), Error> {
        block_on(self.send_bytes_async(to, tag, bytes))
    }

    /// As [`send_bytes`](Self::send_bytes), without blocking the thread.
    ///
    /// # Errors
    /// As [`Transfer::wait`].
    pub async fn send_bytes_async(&self, to: usize, tag: u32, bytes: &[u8]) -> Result<(), Error> {
        self.start_send(to, tag, bytes.to_vec()).await.map(drop)
    }

    /// Receives what one rank sends with `tag`: the first such message that is not received yet. Not collective; may be called on
    /// several threads, also while another makes a collective call.
    ///
    /// # Errors
    /// As [`Transfer::wait`].
    pub fn recv_bytes(&self, from: usize, tag: u32) -> Result<Vec<u8>, Error> {
        block_on(self.recv_bytes_async(from, tag))
    }

    /// As [`recv_bytes`](Self::recv_bytes), without blocking the thread.
    ///
    /// # Errors
    /// As [`Transfer::wait`].
    pub async fn recv_bytes_async(&self, from: usize, tag: u32) -> Result<Vec<u8>, Error> {
        self.start_recv(Some(from), tag).await.map(|message| message.bytes)
    }

    /// Begins as [`send_bytes`](Self::send_bytes). At most 4096 to a rank may be outstanding that it does not keep.
    pub fn start_send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Transfer {
        Transfer::new(self.shared.mailbox.send(to, Tag { space: Space::Caller, tag }, bytes))
    }

    /// Begins as [`recv_bytes`](Self::recv_bytes); `from`: `None`: from any rank, this one included, what came first. At most
    /// 65 536 may be outstanding. One from any rank fails if a rank is gone, unless ranks that are gone are
    /// [left out](Self::skip_gone_ranks): then once all are.
    pub fn start_recv(&self, from: Option<usize>, tag: u32) -> Transfer {
        Transfer::new(self.shared.mailbox.receive(from, Tag { space: Space::Caller, tag }))
    }

    /// A message among ranks that make a group.
    pub(super) async fn send_in_group(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<(), ControlError> {
        self.shared.mailbox.send(to, Tag { space: Space::Group, tag }, bytes).await.map(drop)
    }

    /// What another of these ranks sends within the time that is `left` of that which it has.
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
