//! Messages between two ranks, independent of the calls of all ranks.

use super::{Communicator, ONE_LEVEL, Request};
use crate::control::{Message, Space, Tag};

impl Communicator {
    /// Sends `bytes` to rank `to`, which receives them with the same `tag`. Exact, over TCP. Not
    /// collective.
    ///
    /// Messages with the same tag arrive in order. A rank may send to itself. A receiver stores up
    /// to 8 MiB from each other rank, counting 256 bytes extra for each message; messages that do
    /// not fit wait at the sender for a receive. At most 4096 unstored messages to a rank may be
    /// outstanding. Any thread may call it, also during a collective call.
    ///
    /// # Errors
    /// Names the other rank if it is gone or makes no progress for the timeout. If either host has
    /// too little memory. The communicator can still be used.
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) on two levels.
    pub fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Request<()> {
        self.on_one_level("send", ONE_LEVEL, |flat| {
            Request::of_message(flat.shared.mailbox.send(to, Tag { space: Space::Caller, tag }, bytes), drop)
        })
    }

    /// Receives the next message with this `tag` from rank `from`. Exact, over TCP. Not collective.
    /// Any thread may call it. At most 65 536 receives may be outstanding.
    ///
    /// With `None` it takes the first message of any rank, this one included. It fails if a rank is
    /// gone, or once all are if they are [left out](crate::Settings::skip_gone).
    ///
    /// # Errors
    /// See [`send`](Self::send).
    pub fn recv(&self, from: impl Into<Option<usize>>, tag: u32) -> Request<Message> {
        let tag = Tag { space: Space::Caller, tag };
        self.on_one_level("recv", ONE_LEVEL, |flat| {
            Request::of_message(flat.shared.mailbox.receive(from.into(), tag), |message| message)
        })
    }
}
