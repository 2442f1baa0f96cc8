//! Errors of calls over the control channel.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::super::again::{AGAIN, Parting};
use super::super::terms::Mismatch;
use crate::memory::NotEnoughMemory;

/// A call over the control channel failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ControlError {
    /// The connection to a peer has ended.
    #[error("the connection to rank {0} has ended: its process is gone, or the network between them failed")]
    Gone(usize),
    /// The network ended the connection between two ranks. Neither is known to have ended.
    #[error(
        "the connection between ranks {} and {} broke, and was not made again within {} s; both may still run, so look for a \
         firewall or an outage between their hosts",
        ranks[0], ranks[1], waited.as_secs_f64()
    )]
    Cut { ranks: [usize; 2], waited: Duration },
    /// A peer does not read, and its connection was closed.
    #[error(
        "rank {rank} does not read from its connection, which was closed with {bytes} bytes queued; is its process stopped?"
    )]
    Overrun { rank: usize, bytes: usize },
    /// A peer did not answer in time.
    #[error("rank {rank} did not make the same call within {} s; is it slow, stopped, or in another call?", waited.as_secs_f64())]
    Silent { rank: usize, waited: Duration },
    /// The ranks make different calls.
    #[error(transparent)]
    Differs(#[from] Mismatch),
    /// A peer sent data of the wrong length.
    #[error("rank {rank} sent {found} bytes where {expected} were expected; do all ranks run the same release?")]
    WrongLength { rank: usize, found: usize, expected: usize },
    /// A peer sent a message of another call.
    #[error("rank {rank} sent a message that does not belong to this call; do all ranks run the same release?")]
    WrongMessage { rank: usize },
    /// Another rank could not continue the call.
    #[error("rank {rank} gave up this call: {reason}")]
    GivenUp { rank: usize, reason: String },
    /// A connection of this rank failed, and the others continue without it.
    #[error("the other ranks left this one out of the call, because its connection to one of them has ended")]
    LeftOut,
    /// This host has too little memory for the received data.
    #[error(transparent)]
    Memory(#[from] NotEnoughMemory),
    /// No message arrived for a receive.
    #[error(
        "no message with tag {tag} arrived from {} within {} s; did it send to this rank, with this tag?",
        rank.map_or("any rank".into(), |rank| format!("rank {rank}")), waited.as_secs_f64()
    )]
    NothingCame {
        /// `None` if the receive accepted any rank.
        rank: Option<usize>,
        tag: u32,
        waited: Duration,
    },
    /// A rank posted no receive for a message.
    #[error(
        "rank {rank} did not receive {bytes} bytes with tag {tag} within {} s; it must post a receive for data beyond the {limit} \
         bytes that it buffers",
        waited.as_secs_f64()
    )]
    NotReceived {
        rank: usize,
        tag: u32,
        bytes: usize,
        waited: Duration,
        /// Bytes that a rank buffers for each sender.
        limit: usize,
    },
    /// Too many sends or receives are outstanding.
    #[error("too many {what} are outstanding, expected at most {limit}; wait for some of them first")]
    TooMany { what: &'static str, limit: usize },
    /// A peer violated the protocol, and its connection was closed.
    #[error("the connection to rank {rank} was closed, because it sent {what}; do all ranks run the same release?")]
    Broken { rank: usize, what: String },
    /// There is no such rank.
    #[error("there is no rank {rank} in a job of {ranks} ranks; expected 0 to {}", ranks - 1)]
    NoSuchRank { rank: usize, ranks: usize },
    /// This process has rejoined, and does not take part yet.
    #[error(
        "this process was restarted, and has not taken part in a collective yet; declare the buckets, call `rejoin`, and \
         then the collective that the other ranks call"
    )]
    Outside,
    /// An earlier call failed on this rank.
    #[error("the ranks are out of step since an earlier call failed ({0}); make a new communicator")]
    OutOfStep(Arc<ControlError>),
    /// The communicator was dropped during the call.
    #[error("the communicator was dropped during the call")]
    Closed,
}

impl Parting {
    /// Returns the error of rank `own` about `peer`.
    pub fn error(self, own: usize, peer: usize) -> ControlError {
        match self {
            Self::Ended => ControlError::Gone(peer),
            Self::Cut => ControlError::Cut { ranks: [own, peer], waited: AGAIN },
        }
    }
}
