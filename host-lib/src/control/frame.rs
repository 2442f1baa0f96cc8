//! Wire format between two ranks: length (4 bytes, little-endian), kind (1 byte), payload.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

use super::spares;

pub(super) const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// Limit for senders that are not identified yet.
pub(super) const GREETING_BYTES_MAX: usize = 1 << 14;
pub(super) const FRAME_BYTES: usize = 5;

/// Bootstrap, and calls.
pub(super) const IN_STEP: u8 = 0;
/// Peer messages, at any time.
pub(super) const PEER_MESSAGE: u8 = 1;
/// Point-to-point messages, independent of calls.
pub(super) const POINT: u8 = 2;
pub(super) const HANDSHAKE: u8 = 3;
/// Empty, for faster loss detection; see [`serve`](super::serve).
pub(super) const FOLLOWER: u8 = 4;
/// Number of received messages (8 bytes); see [`again`](super::again).
pub(super) const RECEIVED: u8 = 5;
/// Empty; the sender closes the connection on purpose.
pub(super) const LEAVE: u8 = 6;

pub(super) fn head(kind: u8, message: &[u8]) -> io::Result<[u8; FRAME_BYTES]> {
    let too_long =
        || io::Error::other(format!("a message of {} bytes, expected at most {MESSAGE_BYTES_MAX}", message.len()));
    let length = u32::try_from(message.len()).ok().filter(|length| *length as usize <= MESSAGE_BYTES_MAX);
    let [a, b, c, d] = length.ok_or_else(too_long)?.to_le_bytes();
    Ok([a, b, c, d, kind])
}

pub(super) fn frame(kind: u8, message: &[u8]) -> io::Result<Vec<u8>> {
    Ok([&head(kind, message)?, message].concat())
}

/// Returns the length of a frame, or [`FRAME_BYTES`] before its length has arrived.
pub(super) fn length(come: &[u8], bytes_max: usize) -> io::Result<usize> {
    let Some((length, _)) = come.split_first_chunk::<4>() else { return Ok(FRAME_BYTES) };
    let length = u32::from_le_bytes(*length) as usize;
    if length > bytes_max.min(MESSAGE_BYTES_MAX) {
        let what = format!("a message of {length} bytes, expected at most {bytes_max}; is the sender OptiReduce?");
        return Err(io::Error::other(what));
    }
    Ok(FRAME_BYTES + length)
}

/// Reads a message of at most `bytes_max` bytes.
pub(super) async fn read(from: &mut (impl AsyncRead + Unpin), bytes_max: usize) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; FRAME_BYTES];
    from.read_exact(&mut head).await?;
    let bytes = length(&head, bytes_max)? - FRAME_BYTES;
    let mut message = spares::take(bytes);
    message.resize(bytes, 0);
    from.read_exact(&mut message).await?;
    Ok((head[FRAME_BYTES - 1], message))
}
