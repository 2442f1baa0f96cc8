//! Limits of outstanding point-to-point messages.

use crate::control::{CHUNK_BYTES, ControlError};
use crate::memory;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Cost of buffered eager messages of a sender.
    pub unasked_bytes: usize,
    /// Cost of a message in addition to its bytes.
    pub message_cost: usize,
    /// Incomplete announced messages to one rank.
    pub announced: usize,
    pub receives: usize,
    /// Bytes requested from one sender.
    pub asked_bytes: usize,
    pub chunk_bytes: usize,
}

pub(crate) const LIMITS: Limits = Limits {
    unasked_bytes: 8 << 20,
    message_cost: 256,
    announced: 4096,
    receives: 1 << 16,
    asked_bytes: 8 * CHUNK_BYTES,
    chunk_bytes: CHUNK_BYTES,
};

/// Size up to which the available memory is not checked.
const SMALL_BYTES: u64 = 16 << 20;

pub(super) fn cost(bytes: u64, limits: Limits) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX).saturating_add(limits.message_cost)
}

pub(super) fn room(data: &mut Vec<u8>, from: usize, bytes: u64) -> Result<(), ControlError> {
    let (what, remedy) = (format!("a message of rank {from}"), "send it in parts");
    if bytes > SMALL_BYTES {
        memory::require(what.clone(), bytes, remedy)?;
    }
    let length = usize::try_from(bytes).unwrap_or(usize::MAX);
    Ok(data.try_reserve_exact(length).map_err(|_| memory::refused(what, bytes, remedy))?)
}
