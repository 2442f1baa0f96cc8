//! How much may be outstanding of messages from point to point, and what a message counts.

use crate::control::{CHUNK_BYTES, ControlError};
use crate::memory;

/// How much may be outstanding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Cost of the messages of a sender that a receiver keeps before somebody asks for them.
    pub unasked_bytes: usize,
    /// What a message costs beside its bytes.
    pub message_cost: usize,
    /// Messages to a rank that are announced and not sent yet.
    pub announced: usize,
    /// Receives that wait.
    pub receives: usize,
    /// Bytes that are asked for and have not come, of one sender.
    pub asked_bytes: usize,
    /// Bytes of a message that go together.
    pub chunk_bytes: usize,
}

/// Of every job.
pub(crate) const LIMITS: Limits = Limits {
    unasked_bytes: 8 << 20,
    message_cost: 256,
    announced: 4096,
    receives: 1 << 16,
    asked_bytes: 8 * CHUNK_BYTES,
    chunk_bytes: CHUNK_BYTES,
};

/// Bytes for which nobody asks how much memory there is.
const SMALL_BYTES: u64 = 16 << 20;

/// What a message of so many bytes costs until it is matched.
pub(super) fn cost(bytes: u64, limits: Limits) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX).saturating_add(limits.message_cost)
}

/// Room for an announced message.
pub(super) fn room(data: &mut Vec<u8>, from: usize, bytes: u64) -> Result<(), ControlError> {
    let (what, remedy) = (format!("a message of rank {from}"), "send it in parts");
    if bytes > SMALL_BYTES {
        memory::require(what.clone(), bytes, remedy)?;
    }
    let length = usize::try_from(bytes).unwrap_or(usize::MAX);
    Ok(data.try_reserve_exact(length).map_err(|_| memory::refused(what, bytes, remedy))?)
}
