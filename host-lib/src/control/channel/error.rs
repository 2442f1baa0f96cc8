//! Why a call over the control channel fails.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::super::terms::Mismatch;
use crate::memory::NotEnoughMemory;

/// A call over the control channel failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ControlError {
    /// The connection to a peer has ended.
    #[error("the connection to rank {0} has ended: its process is gone, or the network between them failed")]
    Gone(usize),
    /// A peer took nothing from its connection, which was ended for that.
    #[error(
        "rank {rank} takes nothing from its connection, which was ended when {bytes} bytes waited for it; is its process stopped?"
    )]
    Overrun {
        /// The rank.
        rank: usize,
        /// Bytes that waited.
        bytes: usize,
    },
    /// A peer did not answer in time.
    #[error("rank {rank} did not make the same call within {} s; is it slow, stopped, or in another call?", waited.as_secs_f64())]
    Silent {
        /// The rank.
        rank: usize,
        /// How long was waited.
        waited: Duration,
    },
    /// The ranks call different things. All of them know, and may go on.
    #[error(transparent)]
    Differs(#[from] Mismatch),
    /// A peer sent what does not belong here.
    #[error("rank {rank} sent {found} bytes where {expected} were expected; do all ranks run the same release?")]
    WrongLength {
        /// The rank.
        rank: usize,
        /// Bytes that came.
        found: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// A peer sent a message of another call.
    #[error("rank {rank} sent a message that does not belong to this call; do all ranks run the same release?")]
    WrongMessage {
        /// The rank.
        rank: usize,
    },
    /// Another rank could not go on with the call.
    #[error("rank {rank} gave up this call: {reason}")]
    GivenUp {
        /// That rank.
        rank: usize,
        /// Its error.
        reason: String,
    },
    /// The connection between this rank and another failed, and the others go on without this one.
    #[error("the other ranks left this one out of the call, because its connection to one of them has ended")]
    LeftOut,
    /// There is too little memory on this host for what the ranks hand over.
    #[error(transparent)]
    Memory(#[from] NotEnoughMemory),
    /// Nothing came that a receive could take.
    #[error(
        "nothing with tag {tag} came from {} within {} s; did it send to this rank, with this tag?",
        rank.map_or("any rank".into(), |rank| format!("rank {rank}")), waited.as_secs_f64()
    )]
    NothingCame {
        /// The rank; `None`: any would have done.
        rank: Option<usize>,
        /// The tag.
        tag: u32,
        /// How long was waited.
        waited: Duration,
    },
    /// A rank did not receive what was sent to it.
    #[error(
        "rank {rank} did not receive {bytes} bytes with tag {tag} within {} s; it must ask for what goes beyond the {limit} bytes \
         that it keeps unasked",
        waited.as_secs_f64()
    )]
    NotReceived {
        /// The rank.
        rank: usize,
        /// The tag.
        tag: u32,
        /// Bytes of the message.
        bytes: usize,
        /// How long was waited.
        waited: Duration,
        /// Bytes that a rank keeps of each other before it asks for them.
        limit: usize,
    },
    /// Too many sends or receives are outstanding.
    #[error("too many {what} are outstanding: at most {limit}; wait for some of them first")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// A peer broke the rules of the connection, which was ended for that.
    #[error("the connection to rank {rank} was ended, because it sent {what}; do all ranks run the same release?")]
    Broken {
        /// The rank.
        rank: usize,
        /// What it sent.
        what: String,
    },
    /// There is no such rank.
    #[error("there is no rank {rank} in a job of {ranks} ranks; expected 0 to {}", ranks - 1)]
    NoSuchRank {
        /// The rank.
        rank: usize,
        /// Ranks of the job.
        ranks: usize,
    },
    /// This process was started again, and does not take part yet.
    #[error(
        "this process was started again, and has not taken part in a collective yet; declare the buckets, call `rejoin`, and \
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
